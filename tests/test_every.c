/* Ten conversations in two wire formats. Each is stopped, in each of the three ways, after every event, and each of its answers breaks off and
 * ends early at every byte. Whatever happens: the promises of check_events.h hold, each run has one RUN_END, every request is one that the
 * provider accepts, the next message is answered, every stream is closed and nothing is left in memory.
 * TEST_QUICK=1 takes every seventh event and every 29th byte. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

/* ---- answers: OpenAI chat, then Anthropic ---- */
#define AN_TALK(i, t) AN_START(i, "\"text\",\"text\":\"\"") AN_TEXT(i, t) AN_STOP(i)
#define AN_THOUGHT(t) AN_START("0", "\"thinking\",\"thinking\":\"\"") AN_THINK("0", t) AN_ADD("0", "\"signature_delta\",\"signature\":\"c2ln\"") AN_STOP("0")
#define AN_CALL(i, name, args) AN_TOOL(i, name) AN_JSON(i, args) AN_STOP(i)
#define BODY(b) { b, 0, NULL, HOST_CHUNKED, HOST_GO }
#define RATE(b) { b, 429, "content-type: application/json\nretry-after: 1\n", HOST_LENGTH, HOST_GO }
#define CUT(b) { b, 0, NULL, HOST_CHUNKED, HOST_RESET }
enum { MOST = 4 };
typedef struct script {
    const char *name;
    host_answer a[2][MOST];
    int held, talks, fails, goes_on;          /* tools are answered late and backwards; the host says more meanwhile; tools fail or hang */
} script;
static const script scripts[] = {
    { "text", { { BODY(SSE_TEXT("Hello ") SSE_TEXT("th\\u00e9re \\ud83d\\ude00.") SSE_STOP) }, { BODY(AN_BEGIN AN_SAY("Hello th\xC3\xA9re.") AN_END("end_turn")) } }, 0, 0, 0, 0 },
    { "thoughts", { { BODY(SSE_THINK("Let me ") SSE_THINK("see.") SSE_TEXT("It is so.") SSE_STOP) },
                    { BODY(AN_BEGIN AN_THOUGHT("Let me see.") AN_TALK("1", "It is so.") AN_END("end_turn")) } }, 0, 0, 0, 0 },
    { "side by side", { { BODY(SSE_TEXT("I look.") SSE_CALL("0", "c1", "alpha", "{\\\"x\\\":") SSE_CALL("1", "c2", "beta", "{}") SSE_ARGS("0", "1}")
                               SSE_CALL("2", "c3", "solo", "") SSE_CALL("3", "c4", "alpha", "{\\\"x\\\":2}") SSE_TOOLS), BODY(SSE_TEXT("All done.") SSE_STOP) },
                        { BODY(AN_BEGIN AN_SAY("I look.") AN_CALL("1", "alpha", "{\\\"x\\\":1}") AN_TOOL("2", "beta") AN_STOP("2") AN_CALL("3", "solo", "{}")
                               AN_CALL("4", "alpha", "{\\\"x\\\":2}") AN_END("tool_use")), BODY(AN_BEGIN AN_SAY("All done.") AN_END("end_turn")) } }, 1, 0, 0, 0 },
    { "invalid calls", { { BODY(SSE_CALL("0", "c1", "nobody", "{}") SSE_CALL("1", "c2", "beta", "[1]") SSE_CALL("2", "c3", "alpha", "{\\\"x\\\":") SSE_CALL("3", "", "beta", "{}")
                                SSE_TOOLS), BODY(SSE_TEXT("Sorry.") SSE_STOP) },
                         { BODY(AN_BEGIN AN_CALL("0", "nobody", "{}") AN_CALL("1", "beta", "[1]") AN_CALL("2", "alpha", "{\\\"x\\\":") AN_CALL("3", "beta", "{}")
                                AN_END("tool_use")), BODY(AN_BEGIN AN_SAY("Sorry.") AN_END("end_turn")) } }, 0, 0, 0, 0 },
    { "length", { { BODY(SSE_TEXT("I write.") SSE_CALL("0", "c1", "beta", "{}") SSE_CALL("1", "c2", "alpha", "{\\\"x\\\":12") SSE_FINISH("length") SSE_USAGE SSE_DONE),
                    BODY(SSE_CALL("0", "c3", "alpha", "{\\\"x\\\":1}") SSE_TOOLS), BODY(SSE_TEXT("Half") SSE_FINISH("length") SSE_DONE) },
                  { BODY(AN_BEGIN AN_SAY("I write.") AN_CALL("1", "beta", "{}") AN_TOOL("2", "alpha") AN_JSON("2", "{\\\"x\\\":12") AN_END("max_tokens")),
                    BODY(AN_BEGIN AN_CALL("0", "alpha", "{\\\"x\\\":1}") AN_END("tool_use")), BODY(AN_BEGIN AN_SAY("Half") AN_END("max_tokens")) } }, 0, 0, 0, 0 },
    { "pause", { { BODY(SSE_TEXT("A word") SSE_FINISH("pause") SSE_DONE), BODY(SSE_TEXT("More.") SSE_STOP) },   /* OpenAI has none: an unknown reason */
                 { BODY(AN_BEGIN AN_SAY("I search.") AN_START("1", "\"server_tool_use\",\"id\":\"srvtoolu_1\",\"name\":\"web_search\",\"input\":{}")
                        AN_JSON("1", "{\\\"query\\\":\\\"x\\\"}") AN_STOP("1") AN_END("pause_turn")),
                   BODY(AN_BEGIN AN_START("0", "\"web_search_tool_result\",\"tool_use_id\":\"srvtoolu_1\",\"content\":[]") AN_STOP("0") AN_TALK("1", "Found.")
                        AN_CALL("2", "beta", "{}") AN_END("tool_use")), BODY(AN_BEGIN AN_SAY("So.") AN_END("end_turn")) } }, 0, 0, 0, 0 },
    { "retries", { { RATE("{\"error\":{\"message\":\"slow down\",\"code\":\"rate_limit_exceeded\"}}"),
                     BODY(SSE_("{\"error\":{\"message\":\"overloaded\",\"code\":\"server_error\"}}")), BODY(SSE_USAGE SSE_FINISH("stop") SSE_DONE), BODY(SSE_TEXT("At last.") SSE_STOP) },
                   { RATE("{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}"),
                     BODY(SSE_("{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}")), BODY(AN_BEGIN AN_END("end_turn")),
                     BODY(AN_BEGIN AN_SAY("At last.") AN_END("end_turn")) } }, 0, 0, 0, 0 },
    { "more is said", { { BODY(SSE_TEXT("I look.") SSE_CALL("0", "c1", "alpha", "{\\\"x\\\":1}") SSE_TOOLS), BODY(SSE_TEXT("One.") SSE_STOP), BODY(SSE_TEXT("Two.") SSE_STOP) },
                        { BODY(AN_BEGIN AN_SAY("I look.") AN_CALL("1", "alpha", "{\\\"x\\\":1}") AN_END("tool_use")), BODY(AN_BEGIN AN_SAY("One.") AN_END("end_turn")),
                          BODY(AN_BEGIN AN_SAY("Two.") AN_END("end_turn")) } }, 1, 1, 0, 0 },
    { "goes on", { { CUT(SSE_THINK("Hm.") SSE_TEXT("Half an ")), CUT(SSE_TEXT("I look.") SSE_CALL("0", "c1", "beta", "{}") SSE_CALL("1", "c2", "alpha", "{\\\"x\\\":1")),
                     CUT(SSE_THINK("Hm.")), BODY(SSE_TEXT("answer.") SSE_STOP) },
                   { CUT(AN_BEGIN AN_THOUGHT("Hm.") AN_START("1", "\"text\",\"text\":\"\"") AN_TEXT("1", "Half an ")),
                     CUT(AN_BEGIN AN_SAY("I look.") AN_CALL("1", "beta", "{}") AN_TOOL("2", "alpha") AN_JSON("2", "{\\\"x\\\":1")),
                     CUT(AN_BEGIN AN_START("0", "\"thinking\",\"thinking\":\"\"") AN_THINK("0", "Hm.")), BODY(AN_BEGIN AN_SAY("answer.") AN_END("end_turn")) } }, 0, 0, 0, 1 },
    { "tools fail", { { BODY(SSE_CALL("0", "c1", "alpha", "{}") SSE_CALL("1", "c2", "beta", "{}") SSE_CALL("2", "c3", "beta", "{}") SSE_TOOLS), BODY(SSE_TEXT("So what.") SSE_STOP) },
                      { BODY(AN_BEGIN AN_CALL("0", "alpha", "{}") AN_CALL("1", "beta", "{}") AN_CALL("2", "beta", "{}") AN_END("tool_use")),
                        BODY(AN_BEGIN AN_SAY("So what.") AN_END("end_turn")) } }, 0, 0, 1, 0 }
};
enum { SCRIPTS = sizeof scripts / sizeof *scripts };

/* ---- one conversation ---- */
enum { STOP_NOTHING, STOP_STEP = AGENT_STOP_STEP, STOP_TOOLS = AGENT_STOP_TOOLS, STOP_NOW = AGENT_STOP_NOW };
typedef struct play { const script *s; agent_id id; int stop, done, said; unsigned at, tools; } play;

static int submit(host *h, const play *p, const char *text, int lane)
{
    agent_part part;
    memset(&part, 0, sizeof part);
    part.text = agenti_cstr(text);
    return agent_submit(h->e, p->id, &part, 1, lane);
}
static void tool(host *h, play *p, const agent_event *ev)
{
    if (p->s->held) CHECK(agent_tool_append(h->e, p->id, ev->call, "so far \xC3", 8) == AGENT_OK);
    else if (!p->s->fails) CHECK(agent_tool_result(h->e, p->id, ev->call, "fine", AGENT_CSTR) == AGENT_OK);
    else if (p->tools % 3 == 0) {
        CHECK(agent_tool_append(h->e, p->id, ev->call, "no such file", AGENT_CSTR) == AGENT_OK);
        CHECK(agent_tool_done(h->e, p->id, ev->call, AGENT_DONE_ERROR) == AGENT_OK);
    } else if (p->tools % 3 == 1) CHECK(agent_decline(h->e, ev) == AGENT_OK);
    p->tools++;                               /* the third one hangs                                                     */
}
static int act(host *h, const agent_event *ev)
{
    play *p = (play *)h->arg;
    if (ev->type == AGENT_EV_TOOL_RUN) tool(h, p, ev);
    if (p->s->talks && ev->type == AGENT_EV_TEXT_DELTA && p->said == 0 && ++p->said)
        CHECK(submit(h, p, "And then?", AGENT_QUEUE) > 0 && submit(h, p, "Keep this.", AGENT_STORE) > 0);
    if (p->s->talks && ev->type == AGENT_EV_TOOL_RUN && p->said == 1 && ++p->said) CHECK(submit(h, p, "Shorter.", AGENT_STEER) > 0);
    if (p->stop && h->events == p->at && !p->done) {
        p->done = 1;
        CHECK(host_stop(h, p->id, p->stop) == AGENT_OK);
    }
    return ev->type == AGENT_EV_TOOL_RUN;
}
/* The last of the tools that run is done, if the script answers it at all. 1: there was one.                            */
static int answer_last(host *h, const play *p)
{
    agent_event ev;
    agent_num call = 0;
    size_t i;
    if (!p->s->held) return 0;
    for (i = 0; agent_pending(h->e, p->id, i, &ev) == AGENT_OK; i++) if (ev.type == AGENT_EV_TOOL_RUN) call = ev.call;
    if (call == 0) return 0;
    CHECK(agent_tool_done(h->e, p->id, call, AGENT_DONE_OK) == AGENT_OK && agent_tool_done(h->e, p->id, call, AGENT_DONE_OK) == AGENT_LATE);
    return 1;
}
static void look(host *h, const play *p)
{
    check_table(&h->check, h->e, p->id);
    check_pending(&h->check, h->e, p->id);
    HOST_CHECK(h, h->check.why[0] == 0);
    if (h->check.why[0]) fprintf(stderr, "%s: %s\n", h->name, h->check.why);
    h->check.why[0] = 0;
}
static void settle(host *h, const play *p)
{
    unsigned turns = 0;
    do { host_run(h); look(h, p); } while (turns++ < 100 && (answer_last(h, p) || host_wait(h)));
    HOST_CHECK(h, turns < 100);
}
static void over(host *h, play *p, agent_id peer, host_heap *heap)
{
    settle(h, p);
    HOST_CHECK(h, h->count[AGENT_EV_RUN_START] == h->count[AGENT_EV_RUN_END] && h->count[AGENT_EV_STEP_START] == h->count[AGENT_EV_STEP_END]);
    HOST_CHECK(h, h->count[AGENT_EV_TOOL_RUN] <= h->count[AGENT_EV_TOOL_RESULT]);
    host_over_check(h);
    check_idle(&h->check);
    p->stop = 0;
    host_answers(h, NULL, 0);
    h->outcome = -1;
    CHECK(submit(h, p, "next", AGENT_NOW) > 0);
    settle(h, p);
    HOST_CHECK(h, h->outcome == AGENT_COMPLETED);
    host_bodies_check(h);
    HOST_CHECK(h, agent_session_close(h->e, p->id) == AGENT_OK);
    host_run(h);
    HOST_CHECK(h, agent_peer_close(h->e, peer) == AGENT_OK);
    check_session_closed(&h->check, p->id);
    host_run(h);
    check_over(&h->check);
    HOST_CHECK(h, h->check.why[0] == 0);
    if (h->check.why[0]) fprintf(stderr, "%s: %s\n", h->name, h->check.why);
    host_free(h);
    CHECK(heap->live == 0 && heap->bytes == 0);
}
/* Plays a script. answers: changed ones, or NULL. The number of events before the last message.                         */
static unsigned one(const script *s, int format, int via, const host_answer *answers, int stop, unsigned at, const char *name)
{
    agent_session_desc d;
    host_heap heap;
    agent_desc ed;
    agent_id peer;
    play p;
    host *h;
    unsigned events;
    memset(&heap, 0, sizeof heap);
    memset(&ed, 0, sizeof ed);
    memset(&d, 0, sizeof d);
    memset(&p, 0, sizeof p);
    ed.alloc = host_alloc;
    ed.alloc_ctx = &heap;
    h = host_new(&ed, via, HOST_CUT_WHOLE);
    h->name = name;
    h->quiet = h->check.light = 1;
    h->arg = &p;
    h->on = act;
    d.peer = peer = host_peer_of(h, format ? "anthropic" : "openai-compatible");
    d.max_retries = 4;
    d.retry_ms = 1;
    d.tool_ms = 1000;
    d.grace_ms = stop == STOP_NOW && at % 2 ? AGENT_OFF : 50;
    d.flags = (s->goes_on ? AGENT_S_GO_ON : 0u) | AGENT_S_CHECKPOINTS;
    p.s = s;
    p.stop = stop;
    p.at = at;
    p.id = host_session(h, &d);
    host_answers(h, answers ? answers : s->a[format], MOST);
    while (h->answer_n && h->answers[h->answer_n - 1].body == NULL) h->answer_n--;
    CHECK(agent_say(h->e, p.id, "Hi", AGENT_CSTR) > 0);
    settle(h, &p);
    events = h->events;
    over(h, &p, peer, &heap);
    return events;
}
static unsigned step_of(unsigned quick) { return getenv("TEST_QUICK") ? quick : 1; }
static void stops(const script *s, int format, int via)
{
    char name[96];
    unsigned k, n = one(s, format, via, NULL, STOP_NOTHING, 0, s->name);
    int stop;
    for (stop = STOP_STEP; stop <= STOP_NOW; stop++) for (k = 1; k <= n; k += step_of(7)) {
        sprintf(name, "%s, format %d via %d, stop %d at event %u", s->name, format, via, stop, k);
        (void)one(s, format, via, NULL, stop, k, name);
    }
}

/* ---- answers that break off ---- */
static void raw_answer(host_text *t, const host_answer *a)    /* as it comes over a raw stream                            */
{
    char line[64];
    sprintf(line, "HTTP/1.1 %d X\r\n", a->status ? a->status : 200);
    text_str(t, line);
    host_lines(t, host_headers(a));
    if (a->framing == HOST_LENGTH) {
        sprintf(line, "Content-Length: %lu\r\n\r\n", (unsigned long)strlen(a->body));
        text_str(t, line);
        text_str(t, a->body);
        return;
    }
    text_str(t, "Transfer-Encoding: chunked\r\n\r\n");
    host_chunks(t, a->body, strlen(a->body));
    text_str(t, "0\r\n\r\n");
}
/* Answer i ends at every stride-th byte, from the first.                                                                */
static void breaks(const script *s, int format, int via, size_t i, int end, unsigned stride)
{
    host_answer a[MOST];
    host_text t = { NULL, 0, 0 };
    char name[96], keep;
    size_t n;
    memcpy(a, s->a[format], sizeof a);
    if (via == AGENT_VIA_BYTES) { raw_answer(&t, &a[i]); a[i].framing = HOST_BARE; a[i].status = 0; }
    else text_str(&t, a[i].body);
    a[i].body = t.p;
    a[i].end = end;
    for (n = 0; n < t.n; n += stride) {
        keep = t.p[n];
        t.p[n] = 0;
        sprintf(name, "%s, format %d via %d, answer %u %s at byte %u", s->name, format, via, (unsigned)i, end == HOST_EOF ? "ends" : "breaks", (unsigned)n);
        (void)one(s, format, via, a, STOP_NOTHING, 0, name);
        t.p[n] = keep;
    }
    text_free(&t);
}
int main(void)
{
    size_t i, k;
    int format;
    for (i = 0; i < SCRIPTS; i++) for (format = 0; format < 2; format++) {
        stops(&scripts[i], format, AGENT_VIA_BYTES);
        stops(&scripts[i], format, AGENT_VIA_HTTP);
        for (k = 0; k < MOST && scripts[i].a[format][k].body; k++) {
            breaks(&scripts[i], format, AGENT_VIA_BYTES, k, HOST_RESET, step_of(29));
            breaks(&scripts[i], format, AGENT_VIA_HTTP, k, HOST_EOF, step_of(29));
            breaks(&scripts[i], format, AGENT_VIA_BYTES, k, HOST_EOF, 5 * step_of(6));
            breaks(&scripts[i], format, AGENT_VIA_HTTP, k, HOST_RESET, 5 * step_of(6));
        }
    }
    return test_end("test_every");
}
