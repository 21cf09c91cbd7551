/* Runs from outside: tools, step limit, queue, errors, needs, limits, several sessions. Everything in both ways to open a connection,
 * with answers whole, byte by byte and cut by chance. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

#define CALL_A SSE_CALL("0", "c1", "alpha", "{\\\"x\\\":") SSE_ARGS("0", "1}")
#define CALL_B SSE_CALL("1", "c2", "beta", "{}")
static const host_answer two_calls[] = {
    { SSE_THINK("hm") SSE_TEXT("I look. ") CALL_A CALL_B SSE_TOOLS, 0, NULL, 0, 0 }, { SSE_TEXT("All ") SSE_TEXT("done.") SSE_STOP, 0, NULL, 0, 0 }
};
typedef struct held { agent_num call[64]; agent_event ev[64]; size_t n, most; int keep; } held;
/* Leaves tool runs to the test.                                                                                         */
static int hold_tools(host *h, const agent_event *ev)
{
    held *k = (held *)h->arg;
    if (ev->type != AGENT_EV_TOOL_RUN) return 0;
    k->call[k->n] = ev->call;
    k->ev[k->n++] = *ev;
    return 1;
}
static host *start(int via, int cut, const host_answer *a, size_t n, agent_id *s, const agent_session_desc *d, held *k)
{
    host *h = host_new(NULL, via, cut);
    *s = host_session(h, d);
    host_answers(h, a, n);
    if (k) { memset(k, 0, sizeof *k); h->arg = k; h->on = hold_tools; }
    CHECK(agent_say(h->e, *s, "Hi", AGENT_CSTR) == 1);
    host_run(h);
    return h;
}
static void finish(host *h)
{
    host_bodies_check(h);
    host_over_check(h);
    host_free(h);
}
static const char *body(const host *h, size_t i) { return i < h->request_n ? h->body[i].p : ""; }
static int before(const host *h, const char *a, const char *b)
{
    const char *p = strstr(host_log(h), a), *q = strstr(host_log(h), b);
    return p && q && p < q;
}

/* ---- tools ---- */
static void out_of_order(int via, int cut)
{
    agent_id s;
    held k;
    host *h = start(via, cut, two_calls, 2, &s, NULL, &k);
    CHECK(k.n == 2 && h->outcome == -1 && agent_messages(h->e, s) == 2);
    CHECK(agent_tool_update(h->e, s, k.call[1], "half \xFF way", AGENT_CSTR) == AGENT_OK);
    host_run(h);
    CHECK(host_said(h, "\"title\":\"half \xEF\xBF\xBD way\""));
    CHECK(agent_tool_result(h->e, s, k.call[1], "two", AGENT_CSTR) == AGENT_OK);
    CHECK(agent_tool_result(h->e, s, k.call[1], "again", AGENT_CSTR) == AGENT_LATE);
    host_run(h);
    CHECK(agent_tool_append(h->e, s, k.call[1], "again", AGENT_CSTR) == AGENT_LATE);
    CHECK(agent_tool_append(h->e, s, 77, "x", AGENT_CSTR) == AGENT_E_STALE);
    CHECK(agent_tool_append(h->e, s, 0, "x", AGENT_CSTR) == AGENT_E_STALE);
    CHECK(agent_tool_append(h->e, s + 1, k.call[0], "x", AGENT_CSTR) == AGENT_E_STALE);
    CHECK(agent_tool_append(h->e, s, k.call[0], "o\xC3", AGENT_CSTR) == AGENT_OK);
    CHECK(agent_tool_append(h->e, s, k.call[0], "\xA9" "ne\xE2\x82", AGENT_CSTR) == AGENT_OK);
    CHECK(agent_tool_done(h->e, s, k.call[0], 7) == AGENT_E_ARG);
    CHECK(agent_tool_done(h->e, s, k.call[0], AGENT_DONE_ERROR) == AGENT_OK);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED && h->steps == 2 && h->finish == AGENT_FINISH_STOP);
    CHECK(before(h, "\"text\":\"two\"", "\"text\":\"o\xC3\xA9ne\xEF\xBF\xBD\""));
    CHECK(strstr(body(h, 1), "\"tool_call_id\":\"c1\",\"content\":\"o\xC3\xA9ne\xEF\xBF\xBD\"},{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"two\"}]"));
    CHECK(agent_tool_done(h->e, s, k.call[0], AGENT_DONE_OK) == AGENT_LATE);
    CHECK(agent_decline(h->e, &k.ev[0]) == AGENT_LATE);
    CHECK(agent_messages(h->e, s) == 4);
    finish(h);
}
static void outputs(int via, int cut)                        /* empty output, declined, unknown, bad arguments           */
{
    static const host_answer a[] = {
        { SSE_CALL("0", "c1", "alpha", "{}") SSE_CALL("1", "c2", "beta", "") SSE_CALL("2", "c3", "nobody", "{}") SSE_CALL("3", "c4", "alpha", "{broken")
          SSE_CALL("4", "c5", "alpha", "[1]") SSE_CALL("5", "c6", "beta", "{}") SSE_TOOLS, 0, NULL, 0, 0 },
        { SSE_TEXT("ok") SSE_STOP, 0, NULL, 0, 0 }
    };
    agent_id s;
    held k;
    agent_part part;
    host *h = start(via, cut, a, 2, &s, NULL, &k);
    CHECK(k.n == 3 && h->count[AGENT_EV_TOOL_CALL] == 6 && h->count[AGENT_EV_TOOL_RESULT] == 3);
    CHECK(agent_tool_result(h->e, s, k.call[0], NULL, 0) == AGENT_OK);
    CHECK(agent_decline(h->e, &k.ev[1]) == AGENT_OK);
    CHECK(agent_decline(h->e, &k.ev[1]) == AGENT_LATE);
    CHECK(agent_tool_result(h->e, s, k.call[2], "z", 1) == AGENT_OK);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED);
    CHECK(strstr(body(h, 1), "\"tool_call_id\":\"c1\",\"content\":\"(no output)\""));
    CHECK(strstr(body(h, 1), "declined") && strstr(body(h, 1), "There is no tool named nobody. The tools are: alpha, beta, solo"));
    CHECK(strstr(body(h, 1), "\"id\":\"c4\",\"type\":\"function\",\"function\":{\"name\":\"alpha\",\"arguments\":\"{}\"}"));
    CHECK(strstr(body(h, 1), "\"tool_call_id\":\"c5\",\"content\":\"Not run: the arguments are not a JSON object.\""));
    CHECK(agent_message_part(h->e, s, 2, 3, &part) == AGENT_OK && (part.flags & AGENT_PART_INVALID) && strcmp(part.text.p, "{broken") == 0);
    CHECK(agent_message_part(h->e, s, 3, 3, &part) == AGENT_OK && (part.flags & AGENT_PART_ERROR) && strcmp(part.wire_id.p, "c4") == 0);
    finish(h);
}
static void no_tools(int via, int cut)                       /* a call where no tools are                                */
{
    static const host_answer a[] = { { CALL_A SSE_TOOLS, 0, NULL, 0, 0 }, { SSE_TEXT("ok") SSE_STOP, 0, NULL, 0, 0 } };
    static const agent_tool none[1] = { { "x", NULL, NULL, 0, 0, NULL } };
    agent_session_desc d;
    agent_id s;
    host *h;
    memset(&d, 0, sizeof d);
    d.tools = none;                           /* tool_count 0 */
    h = start(via, cut, a, 2, &s, &d, NULL);
    CHECK(h->outcome == AGENT_COMPLETED && strstr(body(h, 1), "There are no tools."));
    finish(h);
}
static int tool_user_seen(host *h, const agent_event *ev)
{
    if (ev->type == AGENT_EV_TOOL_RESULT && strstr(ev->name.p, "nobody")) CHECK(ev->u.tool.user == NULL);
    (void)h;
    return 0;
}
static void unknown_user(int via, int cut)                   /* an unknown tool is nobody's                              */
{
    static const host_answer a[] = { { SSE_CALL("0", "c3", "nobody", "{}") SSE_TOOLS, 0, NULL, 0, 0 }, { SSE_TEXT("ok") SSE_STOP, 0, NULL, 0, 0 } };
    static int mine;
    static const agent_tool tools[1] = { { "x", NULL, NULL, 0, 0, &mine } };
    agent_session_desc d;
    agent_id s;
    host *h = host_new(NULL, via, cut);
    memset(&d, 0, sizeof d);
    d.tools = tools;
    d.tool_count = 1;
    s = host_session(h, &d);
    h->on = tool_user_seen;
    host_answers(h, a, 2);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_TOOL_RESULT] == 1);
    finish(h);
}
static void serial_and_parallel(int via, int cut)
{
    static const host_answer a[] = {
        { SSE_CALL("0", "c1", "alpha", "{}") SSE_CALL("1", "c2", "solo", "{}") SSE_CALL("2", "c3", "beta", "{}") SSE_CALL("3", "c4", "alpha", "{}") SSE_TOOLS,
          0, NULL, 0, 0 },
        { SSE_TEXT("ok") SSE_STOP, 0, NULL, 0, 0 }
    };
    agent_session_desc d;
    agent_id s;
    held k;
    host *h = start(via, cut, a, 2, &s, NULL, &k);
    CHECK(k.n == 1);                          /* solo waits for alpha, the others behind it                              */
    CHECK(agent_tool_result(h->e, s, k.call[0] + 1, "x", 1) == AGENT_E_STATE);
    CHECK(agent_tool_update(h->e, s, k.call[0] + 1, "x", 1) == AGENT_E_STATE);
    agent_tool_result(h->e, s, k.call[0], "1", 1);
    host_run(h);
    CHECK(k.n == 2);
    agent_tool_result(h->e, s, k.call[1], "2", 1);
    host_run(h);
    CHECK(k.n == 4);
    agent_tool_result(h->e, s, k.call[3], "4", 1);
    agent_tool_result(h->e, s, k.call[2], "3", 1);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED);
    finish(h);
    memset(&d, 0, sizeof d);
    d.parallel_tools = 2;
    h = start(via, cut, two_calls, 0, &s, &d, &k);
    finish(h);
    {
        static const host_answer b[] = {
            { SSE_CALL("0", "c1", "alpha", "{}") SSE_CALL("1", "c2", "alpha", "{}") SSE_CALL("2", "c3", "beta", "{}") SSE_CALL("3", "c4", "alpha", "{}") SSE_TOOLS,
              0, NULL, 0, 0 },
            { SSE_TEXT("ok") SSE_STOP, 0, NULL, 0, 0 }
        };
        h = start(via, cut, b, 2, &s, &d, &k);
        CHECK(k.n == 2);
        agent_tool_result(h->e, s, k.call[1], "2", 1);
        host_run(h);
        CHECK(k.n == 3);
        agent_tool_result(h->e, s, k.call[0], "1", 1);
        agent_tool_result(h->e, s, k.call[2], "3", 1);
        host_run(h);
        CHECK(k.n == 4);
        agent_tool_result(h->e, s, k.call[3], "4", 1);
        host_run(h);
        CHECK(h->outcome == AGENT_COMPLETED && h->request_n == 2);
        finish(h);
    }
}
static void cut_by_length(int via, int cut)                  /* finish length: none is run, the next request pairs them  */
{
    static const host_answer a[] = {
        { SSE_TEXT("so ") CALL_A SSE_CALL("1", "c2", "beta", "{\\\"pa") SSE_FINISH("length") SSE_USAGE SSE_DONE, 0, NULL, 0, 0 }, { SSE_TEXT("ok") SSE_STOP, 0, NULL, 0, 0 }
    };
    agent_id s;
    held k;
    agent_part part;
    host *h = start(via, cut, a, 2, &s, NULL, &k);
    CHECK(k.n == 0 && h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_TOOL_CALL] == 0 && h->count[AGENT_EV_TOOL_RESULT] == 0);
    CHECK(strstr(body(h, 1), "\"tool_call_id\":\"c2\",\"content\":\"Not run:"));
    CHECK(agent_message_part(h->e, s, 2, 2, &part) == AGENT_OK && (part.flags & AGENT_PART_CUT) && (part.flags & AGENT_PART_INVALID));
    finish(h);
}
static void late_host(int via, int cut)                      /* the tool takes many turns of the pump                    */
{
    agent_id s;
    held k;
    int i;
    host *h = start(via, cut, two_calls, 2, &s, NULL, &k);
    for (i = 0; i < 100; i++) {
        CHECK(host_next(h) == NULL && agent_deadline(h->e) != 0);
        agent_tick(h->e, (uint64_t)i * 100, 0);
        if (i % 10 == 0) CHECK(agent_tool_append(h->e, s, k.call[0], "tick ", 5) == AGENT_OK);
    }
    agent_tool_done(h->e, s, k.call[0], AGENT_DONE_OK);
    host_run(h);
    agent_tool_done(h->e, s, k.call[1], AGENT_DONE_OK);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED && strstr(body(h, 1), "tick tick tick tick tick tick tick tick tick tick \""));
    finish(h);
}

/* ---- steps ---- */
static void step_limit(int via, int cut)
{
    static const host_answer a[] = {
        { CALL_A SSE_TOOLS, 0, NULL, 0, 0 }, { CALL_A SSE_TOOLS, 0, NULL, 0, 0 }, { SSE_TEXT("I stop here.") CALL_B SSE_TOOLS, 0, NULL, 0, 0 },
        { SSE_TEXT("more") SSE_STOP, 0, NULL, 0, 0 }
    };
    agent_session_desc d;
    agent_id s;
    agent_str m;
    host *h;
    memset(&d, 0, sizeof d);
    d.max_steps = 3;
    h = start(via, cut, a, 4, &s, &d, NULL);
    CHECK(h->outcome == AGENT_LIMITED && h->steps == 3 && h->request_n == 3);
    m = host_body(h, 2);
    CHECK(agent_json_is(agent_json_get(m, "tool_choice"), "none") && agent_json_get(m, "tools[2]").p);
    CHECK(agent_json_is(agent_json_get(m, "messages[5].role"), "user") && agent_json_get(m, "messages[6]").p == NULL);
    CHECK(agent_json_get(host_body(h, 1), "tool_choice").p == NULL);
    CHECK(h->count[AGENT_EV_TOOL_RUN] == 2 && h->count[AGENT_EV_TOOL_RESULT] == 3);
    agent_say(h->e, s, "go on", AGENT_CSTR);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED && h->request_n == 4 && agent_json_get(host_body(h, 3), "tool_choice").p == NULL);
    CHECK(strstr(body(h, 3), "The limit of steps") == NULL);
    finish(h);
    d.max_steps = 1;
    h = start(via, cut, a, 1, &s, &d, NULL);
    CHECK(h->outcome == AGENT_LIMITED && h->steps == 1 && h->request_n == 1 && agent_json_get(host_body(h, 0), "tool_choice").p == NULL);
    CHECK(h->count[AGENT_EV_TOOL_RUN] == 1);
    CHECK(agent_submit(h->e, s, NULL, 0, AGENT_NOW) > 0);     /* the results are there: go on                             */
    host_run(h);
    CHECK(h->request_n == 2 && h->outcome == AGENT_COMPLETED);
    finish(h);
}

static void step_limit_body(int via)                         /* body_json's tool_choice yields to the closing step       */
{
    static const host_answer a[] = { { CALL_A SSE_TOOLS, 0, NULL, 0, 0 }, { SSE_TEXT("x") SSE_STOP, 0, NULL, 0, 0 } };
    agent_peer_desc p;
    agent_session_desc d;
    agent_id s;
    host *h = host_new(NULL, via, HOST_CUT_WHOLE);
    memset(&p, 0, sizeof p);
    memset(&d, 0, sizeof d);
    p.provider = "openai-compatible";
    p.key = "";
    p.url = "http://model.test/v1";
    p.body_json = "{\"tool_choice\":\"required\",\"top_k\":4}";
    d.peer = agent_peer_open(h->e, &p);
    d.max_steps = 2;
    s = host_session(h, &d);
    host_answers(h, a, 2);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(h->outcome == AGENT_LIMITED && agent_json_is(agent_json_get(host_body(h, 0), "tool_choice"), "required"));
    CHECK(agent_json_is(agent_json_get(host_body(h, 1), "tool_choice"), "none") && strstr(body(h, 1), "required") == NULL && strstr(body(h, 1), "top_k"));
    finish(h);
}

/* ---- the queue ---- */
static void queue(int via, int cut)
{
    static const host_answer a[] = { { SSE_TEXT("one") SSE_STOP, 0, NULL, 0, 0 }, { SSE_TEXT("two") SSE_STOP, 0, NULL, 0, 0 }, { SSE_TEXT("three") SSE_STOP, 0, NULL, 0, 0 } };
    agent_part parts[2];
    agent_id s;
    host *h = host_new(NULL, via, cut);
    s = host_session(h, NULL);
    host_answers(h, a, 3);
    CHECK(agent_say(h->e, s, "", 0) == AGENT_E_ARG && agent_say(h->e, s, NULL, 3) == AGENT_E_ARG);
    CHECK(agent_submit(h->e, s, NULL, 0, AGENT_QUEUE) == AGENT_E_STATE);
    CHECK(agent_say(h->e, s, "first", AGENT_CSTR) == 1);
    CHECK(agent_say(h->e, s, "second", AGENT_CSTR) == 2);
    memset(parts, 0, sizeof parts);
    parts[0].text = agenti_cstr("third");
    parts[1].text = agenti_cstr("in two parts");
    CHECK(agent_submit(h->e, s, parts, 2, AGENT_NOW) == AGENT_E_STATE);
    CHECK(agent_submit(h->e, s, parts, 2, 9) == AGENT_E_ARG);
    CHECK(agent_submit(h->e, s, parts, 2, AGENT_QUEUE) == 3);
    CHECK(agent_message_add(h->e, s, AGENT_USER, parts, 1) == AGENT_E_STATE);
    parts[1].kind = AGENT_PART_CALL;
    CHECK(agent_submit(h->e, s, parts, 2, AGENT_QUEUE) == AGENT_E_ARG);
    host_run(h);
    CHECK(h->count[AGENT_EV_RUN_END] == 3 && h->count[AGENT_EV_QUEUED] == 4 && h->request_n == 3);
    CHECK(before(h, "\"text\":\"second\",\"item\":2,\"op\":0", "\"text\":\"second\",\"item\":2,\"op\":1"));
    CHECK(before(h, "\"RUN_END\"", "\"text\":\"second\",\"item\":2,\"op\":1"));
    CHECK(strstr(body(h, 2), "{\"role\":\"assistant\",\"content\":\"two\"},{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"third\"},"));
    parts[0].text = agenti_cstr("now");
    CHECK(agent_submit(h->e, s, parts, 1, AGENT_NOW) == 4);
    host_run(h);
    CHECK(h->count[AGENT_EV_RUN_END] == 4);
    CHECK(agent_submit(h->e, s, NULL, 0, AGENT_QUEUE) == AGENT_E_STATE);
    finish(h);
}
static int queued_texts(host *h, const agent_event *ev)      /* an event's text is the whole message                     */
{
    unsigned *seen = (unsigned *)h->arg;
    if (ev->type == AGENT_EV_RUN_START) CHECK(host_cancel(h, ev->session) == AGENT_OK);
    if (ev->type == AGENT_EV_QUEUED) *seen += agenti_eq(ev->text, "third in two parts");
    return 0;
}
static void queue_parts(int via)
{
    agent_part parts[3];
    unsigned seen = 0;
    agent_id s;
    host *h = host_new(NULL, via, HOST_CUT_WHOLE);
    s = host_session(h, NULL);
    memset(parts, 0, sizeof parts);
    parts[0].text = agenti_cstr("third ");
    parts[1].text = agenti_cstr("in two ");
    parts[2].text = agenti_cstr("parts");
    CHECK(agent_say(h->e, s, "first", AGENT_CSTR) == 1 && agent_submit(h->e, s, parts, 3, AGENT_QUEUE) == 2);
    h->on = queued_texts;
    h->arg = &seen;
    host_run(h);
    CHECK(seen == 2 && h->count[AGENT_EV_QUEUED] == 2);      /* ADDED and RETURNED                                       */
    finish(h);
}
static int added_in_order(host *h, const agent_event *ev)
{
    unsigned *next = (unsigned *)h->arg;
    if (ev->type != AGENT_EV_QUEUED || ev->u.queued.op != AGENT_QUEUED_ADDED) return 0;
    CHECK(ev->u.queued.item == ++*next);
    if (ev->u.queued.item % 7 == 0 && ev->u.queued.item < 300) CHECK(agent_say(h->e, ev->session, "more", AGENT_CSTR) > 0);
    return 0;
}
static void long_queue(int via)                              /* each item is told once, in order, also when more come meanwhile */
{
    unsigned next = 1, i;
    agent_id s;
    host *h = host_new(NULL, via, HOST_CUT_WHOLE);
    s = host_session(h, NULL);
    h->on = added_in_order;
    h->arg = &next;
    for (i = 0; i < 200; i++) CHECK(agent_say(h->e, s, "x", 1) > 0);
    while (h->count[AGENT_EV_RUN_START] < 1) if (!host_next(h)) break;
    CHECK(next >= 228 && next == 200 + (next - 1) / 7);
    host_cancel(h, s);
    host_run(h);
    CHECK(h->count[AGENT_EV_RUN_END] == 1 && h->count[AGENT_EV_QUEUED] == 2 * (next - 1));
    CHECK(agent_say(h->e, s, "x", 1) == (int)++next && agent_say(h->e, s, "x", 1) > 0);      /* the first one does not wait */
    host_run(h);
    CHECK(h->count[AGENT_EV_RUN_END] == 3);
    finish(h);
}
static void limits_off(int via)                              /* AGENT_OFF: no limit, not that number                     */
{
    agent_session_desc d;
    agent_id s;
    host *h;
    memset(&d, 0, sizeof d);
    d.max_tokens = d.max_steps = d.parallel_tools = AGENT_OFF;
    d.mem_limit = AGENT_OFF;
    h = start(via, HOST_CUT_WHOLE, two_calls, 2, &s, &d, NULL);
    CHECK(h->outcome == AGENT_COMPLETED && h->request_n == 2 && strstr(body(h, 0), "max_tokens") == NULL && strstr(body(h, 0), "4294967295") == NULL);
    finish(h);
}
static int at_run_end(host *h, const agent_event *ev)
{
    agent_part p;
    agent_id *s = (agent_id *)h->arg;
    if (ev->type != AGENT_EV_RUN_END || ev->run != 1) return 0;
    memset(&p, 0, sizeof p);
    p.text = agenti_cstr("at once");
    CHECK(agent_submit(h->e, *s, &p, 1, AGENT_NOW) > 0);
    return 0;
}
static void submit_at_run_end(int via, int cut)              /* the session is idle when RUN_END is out                  */
{
    agent_id s;
    host *h = host_new(NULL, via, cut);
    s = host_session(h, NULL);
    h->arg = &s;
    h->on = at_run_end;
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(h->count[AGENT_EV_RUN_END] == 2 && h->request_n == 2 && h->count[AGENT_EV_QUEUED] == 0);
    finish(h);
}
static int cancel_then_say(host *h, const agent_event *ev)
{
    agent_id *s = (agent_id *)h->arg;
    if (ev->type == AGENT_EV_TEXT_DELTA && ev->run == 1) {
        agent_say(h->e, *s, "was waiting", AGENT_CSTR);
        host_cancel(h, *s);
        CHECK(agent_say(h->e, *s, "do this instead", AGENT_CSTR) > 0);
    }
    return 0;
}
static void say_after_cancel(int via, int cut)               /* what is said after a cancel is no part of what it stops  */
{
    static const host_answer a[] = { { SSE_TEXT("one") SSE_TEXT("more") SSE_STOP, 0, NULL, 0, 0 }, { SSE_TEXT("two") SSE_STOP, 0, NULL, 0, 0 } };
    agent_id s;
    host *h = host_new(NULL, via, cut);
    s = host_session(h, NULL);
    h->arg = &s;
    h->on = cancel_then_say;
    host_answers(h, a, 2);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(h->count[AGENT_EV_RUN_END] == 2 && h->outcome == AGENT_COMPLETED && h->request_n == 2);
    CHECK(host_said(h, "\"text\":\"was waiting\",\"item\":2,\"op\":2") && host_said(h, "\"text\":\"do this instead\",\"item\":3,\"op\":1"));
    CHECK(!host_said(h, "\"text\":\"do this instead\",\"item\":3,\"op\":2"));
    CHECK(strstr(body(h, 1), "\"content\":\"one\"},{\"role\":\"user\",\"content\":\"do this instead\"}"));
    finish(h);
}
static void cancel_idle(int via, int cut)
{
    agent_id s;
    host *h = host_new(NULL, via, cut);
    s = host_session(h, NULL);
    CHECK(agent_cancel(h->e, s) == AGENT_OK && host_next(h) == NULL);
    agent_say(h->e, s, "a", 1);
    agent_say(h->e, s, "b", 1);
    CHECK(agent_cancel(h->e, s) == AGENT_OK && agent_cancel(h->e, s) == AGENT_OK);
    host_run(h);
    CHECK(h->count[AGENT_EV_RUN_START] == 0 && h->count[AGENT_EV_QUEUED] >= 2);
    CHECK(host_said(h, "\"text\":\"a\",\"item\":1,\"op\":2") && host_said(h, "\"text\":\"b\",\"item\":2,\"op\":2"));
    agent_say(h->e, s, "c", 1);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED);
    agent_cancel(h->e, s);                    /* twice over: nothing                                                      */
    agent_cancel(h->e, s);
    CHECK(host_next(h) == NULL);
    finish(h);
}

/* ---- errors ---- */
typedef struct trouble { const char *name; host_answer a; int fault, status; const char *says; } trouble;
static const trouble troubles[] = {
    { "401", { "{\"error\":{\"message\":\"bad key sk-very-secret-key here\",\"code\":\"invalid_api_key\"}}", 401, NULL, HOST_LENGTH, 0 }, AGENT_FAULT_AUTH, 401, "bad key ****" },
    { "key in code", { "{\"error\":{\"message\":\"bad\",\"code\":\"no sk-very-secret-key\"}}", 401, NULL, HOST_LENGTH, 0 }, AGENT_FAULT_AUTH, 401, "bad" },
    { "429", { "{\"error\":{\"message\":\"slow down\"}}", 429, "content-type: application/json\nretry-after: 3\n", HOST_CHUNKED, 0 }, AGENT_FAULT_RATE, 429, "slow down" },
    { "500", { "oops", 500, "content-type: text/plain\n", HOST_LENGTH, 0 }, AGENT_FAULT_SERVER, 500, "oops" },
    { "503", { "", 503, NULL, HOST_LENGTH, 0 }, AGENT_FAULT_SERVER, 503, "no body" },
    { "404", { "<html>nope</html>", 404, "content-type: text/html\n", HOST_CLOSE, 0 }, AGENT_FAULT_REQUEST, 404, "HTML" },
    { "301", { "moved", 301, "location: https://other.test/v1\n", HOST_LENGTH, 0 }, AGENT_FAULT_PROTOCOL, 301, "https://other.test/v1" },
    { "gzip", { "\x1F\x8B\x08", 0, "content-type: text/event-stream\ncontent-encoding: gzip\n", HOST_LENGTH, 0 }, AGENT_FAULT_PROTOCOL, 200, "compressed" },
    { "gzip unsaid", { "\x1F\x8B\x08", 0, NULL, HOST_LENGTH, 0 }, AGENT_FAULT_PROTOCOL, 200, "compressed" },
    { "html", { "<!doctype html><p>Login", 0, "content-type: text/html\n", HOST_LENGTH, 0 }, AGENT_FAULT_PROTOCOL, 200, "HTML" },
    { "cut stream", { SSE_TEXT("half"), 0, NULL, HOST_CHUNKED, HOST_EOF }, AGENT_FAULT_TRANSPORT, 200, "without a terminal signal" },
    { "closed stream", { SSE_TEXT("half"), 0, NULL, HOST_CLOSE, HOST_EOF }, AGENT_FAULT_TRANSPORT, 200, "without a terminal signal" },
    { "reset", { SSE_TEXT("half"), 0, NULL, HOST_CHUNKED, HOST_RESET }, AGENT_FAULT_TRANSPORT, 200, "reset by peer" },
    { "error in stream", { SSE_TEXT("half") SSE_("{\"error\":{\"message\":\"overheated\",\"code\":500}}"), 0, NULL, HOST_CHUNKED, 0 }, AGENT_FAULT_SERVER, 500, "overheated" },
    { "filter", { SSE_TEXT("half") SSE_FINISH("content_filter") SSE_DONE, 0, NULL, HOST_CHUNKED, 0 }, AGENT_FAULT_FILTER, 0, "filter" },
    { "empty", { SSE_FINISH("stop") SSE_DONE, 0, NULL, HOST_CHUNKED, 0 }, AGENT_FAULT_PROTOCOL, 0, "without text" },
    { "no json", { "{\"choices\":[", 0, "content-type: application/json\n", HOST_LENGTH, 0 }, AGENT_FAULT_PROTOCOL, 200, "" },
    { "no body", { "", 0, NULL, HOST_LENGTH, 0 }, AGENT_FAULT_TRANSPORT, 200, "" },
    { "calls and error", { SSE_TEXT("half") CALL_A SSE_("{\"error\":{\"message\":\"overheated\",\"code\":500}}"), 0, NULL, HOST_CHUNKED, 0 }, AGENT_FAULT_SERVER, 500, "overheated" },
    { "calls and filter", { CALL_A CALL_B SSE_FINISH("content_filter") SSE_DONE, 0, NULL, HOST_CHUNKED, 0 }, AGENT_FAULT_FILTER, 0, "filter" }
};
static void errors(int via, int cut)
{
    size_t i;
    for (i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        const trouble *t = &troubles[i];
        agent_id s;
        host *h = host_new(NULL, via, cut);
        h->name = t->name;
        s = host_session(h, NULL);
        host_answers(h, &t->a, 1);
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        host_run(h);
        HOST_CHECK(h, h->outcome == AGENT_FAILED && h->count[AGENT_EV_ERROR] == 1 && h->fault_kind == t->fault && h->fault_status == t->status);
        HOST_CHECK(h, strstr(h->fault, t->says) != NULL);
        HOST_CHECK(h, !host_said(h, "very-secret"));
        agent_say(h->e, s, "again", AGENT_CSTR);
        host_run(h);
        HOST_CHECK(h, h->outcome == AGENT_COMPLETED && h->request_n == 2);
        finish(h);
    }
}
static void cut_chunk(int cut)                               /* raw only: the stream ends inside a chunk                 */
{
    static const host_answer a[] = {
        { "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n20\r\ndata: {\"choices\"", 0, NULL, HOST_BARE, HOST_EOF },
        { "HTTP/1.1 200 OK\r\nContent-Type: text/event-st", 0, NULL, HOST_BARE, HOST_EOF }, { "", 0, NULL, HOST_BARE, HOST_EOF },
        { "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabc", 0, NULL, HOST_BARE, HOST_GO }, { "SSH-2.0-x\r\n", 0, NULL, HOST_BARE, HOST_GO }
    };
    size_t i;
    for (i = 0; i < 5; i++) {
        agent_id s;
        host *h = start(AGENT_VIA_BYTES, cut, a + i, 1, &s, NULL, NULL);
        CHECK(h->outcome == AGENT_FAILED && h->fault_kind == (i < 3 ? AGENT_FAULT_TRANSPORT : AGENT_FAULT_PROTOCOL));
        agent_say(h->e, s, "again", AGENT_CSTR);
        host_run(h);
        CHECK(h->outcome == AGENT_COMPLETED && h->request_n == 2 && h->count[AGENT_EV_OPEN] == 2);
        finish(h);
    }
}
static void empty_after_results(int via, int cut)
{
    static const host_answer a[] = { { CALL_A SSE_TOOLS, 0, NULL, 0, 0 }, { SSE_FINISH("stop") SSE_DONE, 0, NULL, 0, 0 }, { SSE_TEXT("x") SSE_STOP, 0, NULL, 0, 0 } };
    agent_id s;
    host *h = start(via, cut, a, 3, &s, NULL, NULL);
    CHECK(h->outcome == AGENT_COMPLETED && h->request_n == 2);
    agent_say(h->e, s, "again", AGENT_CSTR);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED);
    finish(h);
}

/* ---- needs, copies ---- */
static int pend(host *h, const agent_event *ev)
{
    agent_event p;
    agent_id s = *(agent_id *)h->arg;
    if (ev->type == AGENT_EV_OPEN) {
        CHECK(agent_pending(h->e, s, 0, &p) == AGENT_OK && p.type == AGENT_EV_OPEN && p.need == ev->need && p.conn == ev->conn && (p.flags & AGENT_EVF_NEED));
        CHECK(host_str_same(p.u.open.url, ev->u.open.url) && p.u.open.body_len == ev->u.open.body_len && p.run == ev->run && p.step == ev->step);
        CHECK(agent_pending(h->e, s, 1, &p) == AGENT_E_STALE);
    }
    if (ev->type == AGENT_EV_TOOL_RUN && ev->call == 2) {
        CHECK(agent_pending(h->e, s, 0, &p) == AGENT_OK && p.type == AGENT_EV_TOOL_RUN && p.call == 1);
        CHECK(agent_pending(h->e, s, 1, &p) == AGENT_OK && p.call == 2 && p.need == ev->need && host_str_same(p.text, ev->text) && host_str_same(p.name, ev->name));
        CHECK(agent_pending(h->e, s, 2, &p) == AGENT_E_STALE);
        CHECK(agent_decline(h->e, &p) <= AGENT_LATE);         /* an empty event: no need                                  */
        CHECK(agent_tool_result(h->e, s, 1, "x", 1) == AGENT_OK);
        CHECK(agent_pending(h->e, s, 0, &p) == AGENT_OK && p.call == 2);
        CHECK(agent_decline(h->e, &p) == AGENT_OK);
        CHECK(agent_pending(h->e, s, 0, &p) == AGENT_E_STALE);
    }
    return ev->type == AGENT_EV_TOOL_RUN;
}
static void pending(int via, int cut)
{
    agent_event p;
    agent_id s;
    host *h = host_new(NULL, via, cut);
    s = host_session(h, NULL);
    h->arg = &s;
    h->on = pend;
    host_answers(h, two_calls, 2);
    CHECK(agent_pending(h->e, s, 0, &p) == AGENT_E_STALE && agent_pending(h->e, s + 1, 0, &p) == AGENT_E_STALE);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    CHECK(agent_pending(h->e, s, 0, &p) == AGENT_E_STALE);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED && agent_pending(h->e, s, 0, &p) == AGENT_E_STALE);
    finish(h);
}
static void copies(int via, int cut)                         /* deep: alive when the engine is gone                      */
{
    enum { MOST = 200 };
    static agent_event *copy[MOST];
    static char *line[MOST];
    size_t n = 0, i;
    const agent_event *ev;
    agent_id s;
    host *h = host_new(NULL, via, cut);
    s = host_session(h, NULL);
    host_answers(h, two_calls, 2);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    agent_say(h->e, s, "And", AGENT_CSTR);
    do {
        while ((ev = host_next(h)) != NULL && n < MOST) {
            size_t k = agent_event_copy(ev, NULL, 0), m = agent_event_json(ev, NULL, 0);
            CHECK(agent_event_copy(ev, NULL, k) == k && agent_event_copy(ev, &k, sizeof k) == k);
            copy[n] = (agent_event *)malloc(k);
            line[n] = (char *)malloc(m + 1);
            CHECK(agent_event_copy(ev, copy[n], k) == k && agent_event_json(ev, line[n], m + 1) == m);
            if (ev->type == AGENT_EV_NEED_DONE) CHECK(copy[n]->u.tool.wire_id.n == 0);         /* nothing that points back  */
            n++;
        }
    } while (host_io(h));
    CHECK(h->count[AGENT_EV_RUN_END] == 2 && n < MOST);
    finish(h);
    for (i = 0; i < n; i++) {
        size_t m = agent_event_json(copy[i], NULL, 0);
        char *again = (char *)malloc(m + 1);
        agent_event_json(copy[i], again, m + 1);
        CHECK(strcmp(again, line[i]) == 0);
        free(again);
        free(line[i]);
        free(copy[i]);
    }
    CHECK(agent_event_copy(NULL, NULL, 0) == 0);
}

/* ---- the same bytes, the same events ---- */
static void splits(int via)
{
    static const host_answer a[] = {
        { SSE_THINK("h\xC3\xA4m") SSE_TEXT("\\u00e9\\ud83d\\ude00 I look. ") CALL_A CALL_B SSE_TOOLS, 0, NULL, HOST_CHUNKED, HOST_GO },
        { SSE_TEXT("once ") SSE_CALL("0", "c9", "beta", "{\\\"long\\\":\\\"0123456789012345678901234567890123456789\\\"}") SSE_TOOLS, 0, NULL, HOST_LENGTH, HOST_GO },
        { "{\"choices\":[{\"message\":{\"content\":\"whole\"},\"finish_reason\":\"stop\"}]}", 0, "content-type: application/json\n", HOST_LENGTH, HOST_GO },
        { SSE_TEXT("half"), 0, NULL, HOST_CHUNKED, HOST_EOF }
    };
    host *first = NULL;
    int i;
    for (i = 0; i < 40; i++) {
        size_t k;
        agent_id s;
        agent_desc d;
        host *h;
        memset(&d, 0, sizeof d);
        d.limits.piece = 16;
        h = host_new(&d, via, i == 0 ? HOST_CUT_WHOLE : i == 1 ? HOST_CUT_BYTES : HOST_CUT_RANDOM);
        h->seed = (uint64_t)i * 77 + 5;
        h->ack = (size_t)(i * i);
        s = host_session(h, NULL);
        host_answers(h, a, 4);
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        agent_say(h->e, s, "More", AGENT_CSTR);
        host_run(h);
        CHECK(h->count[AGENT_EV_RUN_END] == 2 && h->request_n == 4);
        if (first == NULL) { first = h; continue; }
        CHECK(h->log.n == first->log.n && memcmp(h->log.p, first->log.p, h->log.n) == 0);
        CHECK(h->request_n == first->request_n);
        for (k = 0; k < h->request_n; k++) {
            CHECK(h->body[k].n == first->body[k].n && memcmp(h->body[k].p, first->body[k].p, h->body[k].n) == 0);
            CHECK(h->head[k].n == first->head[k].n && (h->head[k].n == 0 || memcmp(h->head[k].p, first->head[k].p, h->head[k].n) == 0));
        }
        finish(h);
    }
    finish(first);
}

/* ---- several sessions ---- */
static void many(int via, int cut)
{
    enum { N = 200 };
    static agent_id s[N];
    agent_session_desc d;
    agent_part part;
    host *h = host_new(NULL, via, cut);
    size_t i;
    unsigned opens;
    memset(&d, 0, sizeof d);
    for (i = 0; i < N; i++) {
        if (i % 50 == 0) d.peer = host_peer(h);
        s[i] = host_session(h, &d);
        agent_say(h->e, s[i], "Hi", AGENT_CSTR);
    }
    host_run(h);
    CHECK(h->count[AGENT_EV_RUN_END] == N && h->count[AGENT_EV_OPEN] == N);
    for (i = 0; i < N; i++) {
        CHECK(agent_messages(h->e, s[i]) == 2 && agent_message_part(h->e, s[i], 2, 0, &part) == AGENT_OK && strcmp(part.text.p, "spare") == 0);
        if (i % 2) { CHECK(agent_session_close(h->e, s[i]) == AGENT_OK && agent_session_close(h->e, s[i]) == AGENT_E_STALE); }
    }
    for (i = 0; i < N; i++) if (i % 2 == 0) agent_say(h->e, s[i], "more", AGENT_CSTR);
    opens = h->count[AGENT_EV_OPEN];
    host_run(h);
    CHECK(h->count[AGENT_EV_RUN_END] == N + N / 2 && (via == AGENT_VIA_HTTP || h->count[AGENT_EV_OPEN] == opens));
    for (i = 1; i < N; i += 2) {
        CHECK(agent_say(h->e, s[i], "x", 1) == AGENT_E_STALE && agent_cancel(h->e, s[i]) == AGENT_E_STALE && agent_messages(h->e, s[i]) == 0);
        CHECK(agent_session_set(h->e, s[i], "model", "x", 1) == AGENT_E_STALE && agent_session_tools(h->e, s[i], NULL, 0) == AGENT_E_STALE);
    }
    CHECK(agent_peer_close(h->e, d.peer) == AGENT_E_STATE && agent_peer_close(h->e, s[0]) == AGENT_E_STALE);
    for (i = 0; i < N; i += 2) agent_session_close(h->e, s[i]);
    while (host_next(h)) {}
    opens = h->count[AGENT_EV_CLOSE];
    CHECK(agent_peer_close(h->e, d.peer) == AGENT_OK && agent_peer_close(h->e, d.peer) == AGENT_E_STALE);
    host_run(h);
    CHECK(via == AGENT_VIA_HTTP || h->count[AGENT_EV_CLOSE] == opens + 50);
    finish(h);
}
static void round_robin(int via)                             /* nobody starves beside a talker                           */
{
    host_text longer = { NULL, 0, 0 };
    host_answer a[2];
    agent_id s[2];
    size_t i, from[2] = { 0, 0 }, apart = 0, run = 0, last = 9;
    const agent_event *ev;
    host *h = host_new(NULL, via, HOST_CUT_WHOLE);
    memset(a, 0, sizeof a);
    for (i = 0; i < 200; i++) text_str(&longer, SSE_TEXT("word "));
    text_str(&longer, SSE_STOP);
    a[0].body = a[1].body = longer.p;
    host_answers(h, a, 2);
    for (i = 0; i < 2; i++) { s[i] = host_session(h, NULL); agent_say(h->e, s[i], "Hi", AGENT_CSTR); }
    do while ((ev = host_next(h)) != NULL) {
        size_t who = ev->session == s[1];
        from[who]++;
        if (ev->type != AGENT_EV_TEXT_DELTA) continue;
        run = who == last ? run + 1 : 1;
        last = who;
        if (run > apart) apart = run;
    } while (host_io(h));
    CHECK(h->count[AGENT_EV_TEXT_DELTA] == 400 && from[0] == from[1] && apart <= 4);
    finish(h);
    text_free(&longer);
}
static int close_at(host *h, const agent_event *ev)          /* closes the session at its n-th event                     */
{
    agent_id *s = (agent_id *)h->arg;
    (void)ev;
    if (h->events == s[1] && s[0]) {
        CHECK(agent_session_close(h->e, s[0]) == AGENT_OK);
        check_session_closed(&h->check, s[0]);
        s[0] = 0;
    }
    return 0;
}
static void closed_anywhere(int via, int cut)
{
    unsigned k, total = 1000;
    for (k = 1; k < total; k++) {
        agent_id arg[2];
        host_heap heap;
        agent_desc d;
        host *h;
        memset(&heap, 0, sizeof heap);
        memset(&d, 0, sizeof d);
        d.alloc = host_alloc;
        d.alloc_ctx = &heap;
        h = host_new(&d, via, cut);
        arg[0] = host_session(h, NULL);
        arg[1] = k;
        h->arg = arg;
        h->on = close_at;
        host_answers(h, two_calls, 2);
        agent_say(h->e, arg[0], "Hi", AGENT_CSTR);
        if (k % 3 == 0) agent_say(h->e, arg[0], "And", AGENT_CSTR);
        host_run(h);
        if (arg[0] == 0) {
            size_t i;
            unsigned idle = 0;
            for (i = 0; i < h->conn_n; i++) idle += !h->conns[i].gone;
            CHECK(h->count[AGENT_EV_OPEN] == h->count[AGENT_EV_CLOSE] + idle && h->count[AGENT_EV_RUN_END] <= 1);
        } else total = k;
        host_free(h);
        CHECK(heap.live == 0 && heap.bytes == 0);
    }
    CHECK(total > 40);
}
static void stopped_anywhere(int via)                        /* agent_close at any event leaks nothing                   */
{
    unsigned k, total = 1000;
    for (k = 0; k < total; k++) {
        host_heap heap;
        agent_desc d;
        agent_id s;
        host *h;
        memset(&heap, 0, sizeof heap);
        memset(&d, 0, sizeof d);
        d.alloc = host_alloc;
        d.alloc_ctx = &heap;
        h = host_new(&d, via, HOST_CUT_RANDOM);
        s = host_session(h, NULL);
        host_answers(h, two_calls, 2);
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        while (h->events < k) if (host_next(h) == NULL && !host_io(h)) { total = 0; break; }
        if (k % 2) { agent_say(h->e, s, "And", AGENT_CSTR); agent_cancel(h->e, s); }
        if (k % 3 == 0) agent_session_close(h->e, s);
        host_free(h);
        CHECK(heap.live == 0 && heap.bytes == 0);
    }
}

/* ---- messages by hand ---- */
static void import(void)
{
    agent_part p[3];
    agent_msg m;
    host *h = host_new(NULL, AGENT_VIA_HTTP, HOST_CUT_WHOLE);
    agent_id s = host_session(h, NULL);
    memset(p, 0, sizeof p);
    p[0].text.n = 3;                          /* a view of nothing                                                        */
    CHECK(agent_message_add(h->e, s, AGENT_USER, p, 1) == AGENT_E_ARG && agent_submit(h->e, s, p, 1, AGENT_QUEUE) == AGENT_E_ARG);
    p[0].text = agenti_cstr("q");
    CHECK(agent_message_add(h->e, s, AGENT_USER, p, 0) == AGENT_E_ARG && agent_message_add(h->e, s, 3, p, 1) == AGENT_E_ARG);
    CHECK(agent_message_add(h->e, s, AGENT_TOOLS, p, 1) == AGENT_E_ARG);
    CHECK(agent_message_add(h->e, s, AGENT_USER, p, 1) == 1);
    p[0].kind = AGENT_PART_TEXT;
    p[1].kind = p[2].kind = AGENT_PART_CALL;
    p[1].name = p[2].name = agenti_cstr("alpha");
    p[1].text = p[2].text = agenti_cstr("{}");
    p[1].wire_id = agenti_cstr("w1");
    CHECK(agent_message_add(h->e, s, AGENT_MODEL, p, 3) == AGENT_E_ARG);
    p[2].wire_id = agenti_cstr("w2");
    CHECK(agent_message_add(h->e, s, AGENT_MODEL, p, 3) == 2);
    p[0].kind = AGENT_PART_RESULT;
    p[1].kind = AGENT_PART_RESULT;
    p[0].wire_id = agenti_cstr("w2");
    p[1].wire_id = agenti_cstr("w1");
    CHECK(agent_message_add(h->e, s, AGENT_TOOLS, p, 1) == AGENT_E_ARG && agent_message_add(h->e, s, AGENT_TOOLS, p, 2) == AGENT_E_ARG);
    p[0].wire_id = agenti_cstr("w1");
    p[1].wire_id = agenti_cstr("w2");
    p[1].text.p = NULL;                       /* as in a zeroed part                                                      */
    p[1].text.n = 0;
    CHECK(agent_message_add(h->e, s, AGENT_TOOLS, p, 2) == 3);
    CHECK(agent_message(h->e, s, 2, &m) == AGENT_OK && m.role == AGENT_TOOLS && m.part_count == 2 && m.run == 0);
    CHECK(agent_message(h->e, s, 3, &m) == AGENT_E_ARG && agent_message_part(h->e, s, 3, 2, p) == AGENT_E_ARG && agent_message_part(h->e, s, 9, 0, p) == AGENT_E_ARG);
    CHECK(agent_submit(h->e, s, NULL, 0, AGENT_QUEUE) == 1);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED && h->request_n == 1);
    finish(h);
}
/* A failing call must leave the last event alone.                                                                       */
static int break_in(host *h, const agent_event *ev)
{
    char was[64];
    agent_tool twins[2] = { { "a", NULL, NULL, 0, 0, NULL }, { "a", NULL, NULL, 0, 0, NULL } };
    agent_session_desc d;
    agent_peer_desc p;
    size_t n = ev->text.n < sizeof was ? ev->text.n : sizeof was;
    memcpy(was, ev->text.p, n);
    memset(&d, 0, sizeof d);
    memset(&p, 0, sizeof p);
    d.peer = ev->peer;
    d.model = "m";
    d.tools = twins;
    d.tool_count = 2;
    CHECK(agent_session_open(h->e, &d) == 0);
    CHECK(agent_peer_open(h->e, &p) == 0);
    CHECK(memcmp(was, ev->text.p, n) == 0);
    return 0;
}
static void views_live(int via)
{
    agent_id s;
    host *h = host_new(NULL, via, HOST_CUT_WHOLE);
    s = host_session(h, NULL);
    host_answers(h, two_calls, 2);
    h->on = break_in;
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    agent_say(h->e, s, "And", AGENT_CSTR);
    agent_say(h->e, s, "then", AGENT_CSTR);
    while (h->count[AGENT_EV_TEXT_DELTA] == 0) if (host_next(h) == NULL) host_io(h);
    host_cancel(h, s);
    host_run(h);
    CHECK(h->outcome == AGENT_CANCELLED && h->count[AGENT_EV_QUEUED] == 4);
    finish(h);
}

int main(void)
{
    int via, cut;
    for (via = 0; via < 2; via++) {
        for (cut = 0; cut < 3; cut++) {
            out_of_order(via, cut);
            outputs(via, cut);
            no_tools(via, cut);
            unknown_user(via, cut);
            serial_and_parallel(via, cut);
            cut_by_length(via, cut);
            late_host(via, cut);
            step_limit(via, cut);
            queue(via, cut);
            submit_at_run_end(via, cut);
            say_after_cancel(via, cut);
            cancel_idle(via, cut);
            errors(via, cut);
            empty_after_results(via, cut);
            pending(via, cut);
            copies(via, cut);
            many(via, cut);
            closed_anywhere(via, cut);
            if (via == AGENT_VIA_BYTES) cut_chunk(cut);
        }
        step_limit_body(via);
        splits(via);
        round_robin(via);
        queue_parts(via);
        long_queue(via);
        limits_off(via);
        stopped_anywhere(via);
        views_live(via);
    }
    import();
    return test_end("test_session");
}
