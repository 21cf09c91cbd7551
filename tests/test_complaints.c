/* What users of other agent loops complain about (the table in tests/README.md), one function each: the very situation, and that here it ends
 * well. Every request of every test is one that the provider accepts (over: host_bodies_check). */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

typedef struct plan {
    agent_id s;
    int hold, why, say;                       /* hold: tools are not answered; say: so many messages at the first text  */
    agent_num call[8]; size_t n;
    unsigned cancels, ends, returned;
    int64_t output;                           /* tokens of the run                                                      */
    int when; void (*act)(host *, struct plan *, const agent_event *);      /* at the first event of that type          */
} plan;
static int watch(host *h, const agent_event *ev)
{
    plan *p = (plan *)h->arg;
    if (ev->type == AGENT_EV_RUN_END) { p->why = ev->u.end.why; p->ends++; p->output = ev->u.end.usage->output; }
    if (ev->type == AGENT_EV_TOOL_CANCEL) p->cancels++;
    if (ev->type == AGENT_EV_QUEUED && ev->u.queued.op == AGENT_QUEUED_RETURNED) p->returned++;
    if (p->act && ev->type == p->when) { void (*act)(host *, plan *, const agent_event *) = p->act; p->act = NULL; act(h, p, ev); }
    if (ev->type != AGENT_EV_TOOL_RUN || !p->hold) return 0;
    p->call[p->n++ & 7] = ev->call;
    return 1;
}
static host *begin_at(const char *provider, const host_answer *a, size_t n, const agent_session_desc *d, plan *p)
{
    agent_session_desc sd;
    host *h = host_new(NULL, AGENT_VIA_BYTES, HOST_CUT_BYTES);
    memset(&sd, 0, sizeof sd);
    if (d) sd = *d;
    h->on = watch;
    h->arg = p;
    sd.peer = h->peer = host_peer_of(h, provider);
    p->s = host_session(h, &sd);
    host_answers(h, a, n);
    CHECK(agent_say(h->e, p->s, "Hi", AGENT_CSTR) > 0);
    host_run(h);
    return h;
}
static host *begin(const host_answer *a, size_t n, const agent_session_desc *d, plan *p) { return begin_at("openai-compatible", a, n, d, p); }
static void over(host *h)
{
    host_bodies_check(h);
    host_over_check(h);
    host_free(h);
}
static void more(host *h, plan *p, const char *text)
{
    CHECK(agent_say(h->e, p->s, text, AGENT_CSTR) > 0);
    host_run(h);
}
static size_t times(const host *h, size_t request, const char *what)
{
    const char *q = host_body(h, request).p;
    size_t n = 0;
    for (; (q = strstr(q, what)) != NULL; q += strlen(what)) n++;
    return n;
}
/* The program ends at this moment, and another one goes on with what it has saved.                                     */
static void crash(host *h, plan *p, const agent_session_desc *d)
{
    agent_session_desc sd;
    agent_id other;
    int rc;
    memset(&sd, 0, sizeof sd);
    if (d) sd = *d;
    sd.peer = h->peer;
    sd.model = "m1";
    sd.tools = host_tools;
    sd.tool_count = 3;
    if (sd.grace_ms == 0) sd.grace_ms = AGENT_OFF;
    sd.max_retries = AGENT_OFF;
    other = host_reload(&h->check, h->e, p->s, &sd, 100, &rc);
    CHECK(other && rc == AGENT_OK);
    p->s = other;
    p->n = 0;
    host_run(h);
}
#define TEXT(t) { SSE_TEXT(t) SSE_STOP, 0, NULL, 0, 0 }
static const host_answer two_calls[] = { { SSE_CALL("0", "c1", "alpha", "{\\\"x\\\":1}") SSE_CALL("1", "c2", "beta", "{}") SSE_TOOLS, 0, NULL, 0, 0 }, TEXT("Done.") };
static const host_answer cut_text[] = { { SSE_TEXT("Half an") SSE_USAGE, 0, NULL, 0, HOST_RESET }, TEXT(" answer.") };

/* 1: a stop, or a crash, between call and result, and every later request is refused. */
static void complaint_1_call_without_result(void)
{
    plan p = { 0 };
    host *h;
    p.hold = 1;
    h = begin(two_calls, 2, NULL, &p);
    CHECK(p.n == 2 && host_cancel(h, p.s) == AGENT_OK);
    host_run(h);
    CHECK(p.ends == 1 && h->outcome == AGENT_CANCELLED);
    more(h, &p, "Again");
    CHECK(h->request_n == 2 && times(h, 1, "\"tool_call_id\"") == 2 && h->outcome == AGENT_COMPLETED);
    over(h);
    memset(&p, 0, sizeof p);
    p.hold = 1;
    h = begin(two_calls, 2, NULL, &p);
    crash(h, &p, NULL);
    CHECK(h->request_n == 2 && times(h, 1, "\"tool_call_id\"") == 2 && times(h, 1, "Interrupted") == 2 && p.why == AGENT_WHY_ANSWERED);
    over(h);
}
/* 2: what mends the stop sends a result whose call is not sent. */
static void complaint_2_result_without_call(void)
{
    static const host_answer a[] = { { SSE_TEXT("I look.") SSE_CALL("0", "c1", "alpha", "{}") SSE_CALL("1", "c2", "beta", "{\\\"a"), 0, NULL, 0, HOST_RESET }, TEXT("Well.") };
    plan p = { 0 };
    host *h = begin(a, 2, NULL, &p);
    CHECK(h->outcome == AGENT_FAILED && h->count[AGENT_EV_TOOL_RUN] == 0);
    more(h, &p, "And?");
    CHECK(h->request_n == 2 && times(h, 1, "\"tool_call_id\"") == times(h, 1, "\"type\":\"function\",\"function\":{\"name\":\"alpha\",\"arguments\"") + times(h, 1, "\"type\":\"function\",\"function\":{\"name\":\"beta\",\"arguments\""));
    over(h);
}
/* 3: one call whose arguments are no JSON throws the others away. */
static void complaint_3_siblings_of_a_bad_call(void)
{
    static const host_answer a[] = { { SSE_CALL("0", "c1", "alpha", "{}") SSE_CALL("1", "c2", "beta", "{broken") SSE_CALL("2", "c3", "beta", "{}") SSE_TOOLS, 0, NULL, 0, 0 }, TEXT("Well.") };
    plan p = { 0 };
    host *h = begin(a, 2, NULL, &p);
    CHECK(h->count[AGENT_EV_TOOL_RUN] == 2 && h->count[AGENT_EV_TOOL_RESULT] == 3 && h->outcome == AGENT_COMPLETED);
    CHECK(times(h, 1, "\"tool_call_id\"") == 3 && times(h, 1, "\"tool_call_id\":\"c2\"") == 1);
    over(h);
}
/* 4, 5: hours of the same call, of calls that are wrong. What ends them without a detector: the limits, the last step without tools. */
static void complaint_4_the_same_call_for_ever(void)
{
    static host_answer a[60];
    agent_session_desc d = AGENT_ZERO;
    plan p = { 0 };
    host *h;
    size_t i;
    for (i = 0; i < 60; i++) a[i].body = SSE_CALL("0", "c1", "alpha", "{\\\"x\\\":1}") SSE_TOOLS;
    h = begin(a, 60, NULL, &p);
    CHECK(h->request_n == 50 && h->outcome == AGENT_LIMITED && p.why == AGENT_WHY_STEPS && times(h, 49, "\"tool_choice\":\"none\"") == 1);
    over(h);
    d.max_run_tokens = 40;                    /* 15 a step                                                              */
    h = begin(a, 60, &d, &p);
    CHECK(h->request_n == 3 && h->outcome == AGENT_LIMITED && p.why == AGENT_WHY_TOKENS);
    over(h);
}
static void complaint_5_wrong_calls_for_ever(void)
{
    static host_answer a[9];
    agent_session_desc d = AGENT_ZERO;
    plan p = { 0 };
    host *h;
    size_t i;
    for (i = 0; i < 9; i++) a[i].body = SSE_CALL("0", "c1", "nobody", "{") SSE_TOOLS;
    d.max_steps = 4;
    h = begin(a, 9, &d, &p);
    CHECK(h->request_n == 4 && h->outcome == AGENT_LIMITED && p.why == AGENT_WHY_STEPS && h->count[AGENT_EV_TOOL_RUN] == 0 && h->count[AGENT_EV_TOOL_RESULT] == h->count[AGENT_EV_TOOL_CALL]);
    over(h);
}
/* 6: retries without an end; a wait of a day that nobody sees; an empty account asked again and again. */
static void complaint_6_retries_for_ever(void)
{
    static host_answer a[20];
    static const host_answer day = { "{\"error\":{\"message\":\"slow down\"}}", 429, "retry-after: 86400\n", 0, 0 };
    static const host_answer empty = { "{\"error\":{\"message\":\"You exceeded your current quota\",\"code\":\"insufficient_quota\"}}", 429, NULL, 0, 0 };
    agent_session_desc d = AGENT_ZERO;
    plan p = { 0 };
    host *h;
    size_t i;
    d.max_retries = 4;
    for (i = 0; i < 20; i++) { a[i].body = "{\"error\":{\"message\":\"busy\"}}"; a[i].status = 503; }
    h = begin(a, 20, &d, &p);
    while (host_wait(h)) {}
    CHECK(h->request_n == 5 && h->outcome == AGENT_FAILED && p.ends == 1);
    over(h);
    h = begin(&day, 1, &d, &p);
    CHECK(h->request_n == 1 && h->outcome == AGENT_FAILED && p.why == AGENT_WHY_HINT && agent_deadline(h->e) == UINT64_MAX);
    over(h);
    h = begin(&empty, 1, &d, &p);
    CHECK(h->request_n == 1 && h->fault_kind == AGENT_FAULT_QUOTA && agent_deadline(h->e) == UINT64_MAX);
    over(h);
}
/* 7: what was cancelled while it waited for a retry comes back to life. */
static void complaint_7_cancel_in_a_retry(void)
{
    static const host_answer busy = { "{\"error\":{\"message\":\"busy\"}}", 503, NULL, 0, 0 };
    agent_session_desc d = AGENT_ZERO;
    plan p = { 0 };
    host *h;
    d.max_retries = 4;
    h = begin(&busy, 1, &d, &p);
    CHECK(h->count[AGENT_EV_RETRY_WAIT] == 1 && p.ends == 0 && agent_deadline(h->e) != UINT64_MAX);
    CHECK(host_cancel(h, p.s) == AGENT_OK);
    host_run(h);
    CHECK(p.ends == 1 && h->outcome == AGENT_CANCELLED && agent_deadline(h->e) == UINT64_MAX);
    host_later(h, 10000000);
    CHECK(h->request_n == 1 && p.ends == 1);
    over(h);
}
/* 10: thoughts are lost between the steps of a tool, and the provider misses them. */
static void complaint_10_thoughts_between_steps(void)
{
    static const host_answer a[] = { { AN_BEGIN AN_START("0", "\"thinking\",\"thinking\":\"\"") AN_THINK("0", "Let me see.") AN_ADD("0", "\"signature_delta\",\"signature\":\"c2ln\"") AN_STOP("0")
        AN_TOOL("1", "alpha") AN_JSON("1", "{}") AN_STOP("1") AN_END("tool_use"), 0, NULL, 0, 0 }, { AN_BEGIN AN_SAY("Done.") AN_END("end_turn"), 0, NULL, 0, 0 } };
    plan p = { 0 };
    host *h = begin_at("anthropic", a, 2, NULL, &p);
    CHECK(h->request_n == 2 && times(h, 1, "\"thinking\":\"Let me see.\"") == 1 && times(h, 1, "\"signature\":\"c2ln\"") == 1);
    over(h);
}
/* 11: a question that nobody sees holds everything up for ever. It is listed, and it has an end. */
static void complaint_11_a_question_nobody_answers(void)
{
    agent_session_desc d = AGENT_ZERO;
    agent_event ev;
    plan p = { 0 };
    host *h;
    p.hold = 1;
    d.tool_ms = 60000;
    h = begin(two_calls, 2, &d, &p);
    CHECK(agent_pending(h->e, p.s, 0, &ev) == AGENT_OK && ev.type == AGENT_EV_TOOL_RUN && ev.call == p.call[0]);
    CHECK(agent_pending(h->e, p.s, 1, &ev) == AGENT_OK && ev.call == p.call[1] && agent_pending(h->e, p.s, 2, &ev) == AGENT_E_STALE);
    while (p.ends == 0 && host_wait(h)) {}
    CHECK(p.ends == 1 && h->outcome == AGENT_COMPLETED && p.cancels == 2 && h->now >= 60000 && times(h, 1, "\"tool_call_id\"") == 2);
    over(h);
}
/* 12: a tool that waits for somebody holds up the result of one that is done. */
static void complaint_12_done_beside_one_that_waits(void)
{
    plan p = { 0 };
    host *h;
    p.hold = 1;
    h = begin(two_calls, 2, NULL, &p);
    CHECK(agent_tool_result(h->e, p.s, p.call[1], "two", 3) == AGENT_OK);
    host_run(h);
    CHECK(h->count[AGENT_EV_TOOL_RESULT] == 1 && p.ends == 0);
    CHECK(agent_tool_result(h->e, p.s, p.call[0], "one", 3) == AGENT_OK);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED && strstr(host_body(h, 1).p, "\"one\"") < strstr(host_body(h, 1).p, "\"two\""));      /* in call order */
    over(h);
}
/* 13: messages that waited are gone after a stop. */
static void complaint_13_queue_after_a_stop(void)
{
    plan p = { 0 };
    agent_item it;
    host *h;
    p.hold = 1;
    h = begin(two_calls, 2, NULL, &p);
    more(h, &p, "And then this.");
    CHECK(agent_queue_at(h->e, p.s, 0, &it) == AGENT_OK);
    CHECK(host_cancel(h, p.s) == AGENT_OK);
    host_run(h);
    CHECK(p.returned == 1 && host_said(h, "And then this."));
    CHECK(agent_queue_at(h->e, p.s, 0, &it) < 0);
    over(h);
}
/* 14: a stream that says nothing any more is waited for without an end; comments keep it alive. */
static void complaint_14_a_silent_stream(void)
{
    static const host_answer silent = { SSE_TEXT("One") ": ping\n\n", 0, NULL, HOST_CHUNKED, HOST_HANG };
    static const host_answer nothing = { ": ping\n\n", 0, NULL, HOST_CHUNKED, HOST_HANG };
    plan p = { 0 };
    host *h = begin(&silent, 1, NULL, &p);
    CHECK(p.ends == 0 && agent_deadline(h->e) <= 90000);
    while (p.ends == 0 && host_wait(h)) {}
    CHECK(p.ends == 1 && h->outcome == AGENT_FAILED && h->fault_kind == AGENT_FAULT_TIMEOUT && h->now <= 91000);
    over(h);
    h = begin(&nothing, 1, NULL, &p);
    while (h->outcome < 0 && host_wait(h)) {}
    CHECK(h->fault_kind == AGENT_FAULT_TIMEOUT && h->now >= 120000 && h->now <= 121000);
    over(h);
}
/* 15: an answer without anything counts as a success. */
static void complaint_15_an_empty_answer(void)
{
    static const host_answer a[] = { { SSE_FINISH("stop") SSE_DONE, 0, NULL, 0, 0 }, { SSE_FINISH("stop") SSE_DONE, 0, NULL, 0, 0 }, TEXT("There.") };
    agent_session_desc d = AGENT_ZERO;
    plan p = { 0 };
    host *h = begin(a, 1, NULL, &p);
    CHECK(h->outcome == AGENT_FAILED && p.why == AGENT_WHY_ERROR && h->count[AGENT_EV_ERROR] == 1);
    over(h);
    d.max_retries = 2;
    h = begin(a, 3, &d, &p);
    while (host_wait(h)) {}
    CHECK(h->outcome == AGENT_COMPLETED && h->request_n == 3);
    over(h);
}
/* 17: after an abort the text that was shown is nowhere, or there are two ends or none. */
static void cancel_now(host *h, plan *p, const agent_event *ev) { (void)ev; CHECK(host_cancel(h, p->s) == AGENT_OK && host_cancel(h, p->s) == AGENT_OK); }
static void complaint_17_abort_keeps_the_text(void)
{
    static const host_answer a[] = { { AN_BEGIN AN_START("0", "\"text\",\"text\":\"\"") AN_TEXT("0", "Half an") AN_TEXT("0", " answer"), 0, NULL, HOST_CHUNKED, HOST_HANG },
                                     { AN_BEGIN AN_SAY("More.") AN_END("end_turn"), 0, NULL, 0, 0 } };
    agent_msg m;
    agent_part part;
    plan p = { 0 };
    host *h;
    p.when = AGENT_EV_TEXT_DELTA;
    p.act = cancel_now;
    h = begin_at("anthropic", a, 2, NULL, &p);
    CHECK(p.ends == 1 && h->outcome == AGENT_CANCELLED && h->count[AGENT_EV_TEXT_START] == 1 && h->count[AGENT_EV_TEXT_END] == 1);
    CHECK(agent_message(h->e, p.s, 1, &m) == AGENT_OK && agent_message_part(h->e, p.s, m.id, 0, &part) == AGENT_OK && part.text.n >= 7 && memcmp(part.text.p, "Half an", 7) == 0);
    more(h, &p, "Go on");
    CHECK(times(h, 1, "Half an") == 1 && h->outcome == AGENT_COMPLETED);
    over(h);
}
/* 18: a retry in mid-answer shows its beginning twice. */
static void complaint_18_nothing_is_shown_twice(void)
{
    agent_session_desc d = AGENT_ZERO;
    plan p = { 0 };
    host *h;
    d.max_retries = 4;
    h = begin(cut_text, 2, &d, &p);
    CHECK(h->request_n == 1 && h->outcome == AGENT_FAILED && h->text.n == 7 && memcmp(h->text.p, "Half an", 7) == 0 && agent_deadline(h->e) == UINT64_MAX);
    over(h);
    d.flags = AGENT_S_GO_ON;
    h = begin(cut_text, 2, &d, &p);
    while (host_wait(h)) {}
    CHECK(h->request_n == 2 && h->outcome == AGENT_COMPLETED && h->text.n == 15 && memcmp(h->text.p, "Half an answer.", 15) == 0);
    over(h);
}
/* 20: empty messages, empty results, a request that ends with the model's words. */
static void complaint_20_what_providers_refuse(void)
{
    agent_session_desc d = AGENT_ZERO;
    plan p = { 0 };
    host *h;
    p.hold = 1;
    d.max_steps = 2;
    h = begin(two_calls, 2, &d, &p);
    CHECK(agent_say(h->e, p.s, "", 0) == AGENT_E_ARG);
    CHECK(agent_tool_result(h->e, p.s, p.call[0], "", 0) == AGENT_OK && agent_tool_done(h->e, p.s, p.call[1], AGENT_DONE_ERROR) == AGENT_OK);
    host_run(h);
    CHECK(h->request_n == 2 && times(h, 1, "\"content\":\"\"") == 0);          /* and the last message is not the model's: over */
    over(h);
}
/* 21: a tool starts after the cancel; a process goes on; a command runs again after a crash. */
static void complaint_21_tools_after_a_cancel(void)
{
    agent_session_desc d = AGENT_ZERO;
    plan p = { 0 };
    agent_num ran;
    host *h;
    p.hold = 1;
    d.parallel_tools = 1;
    d.grace_ms = 250;
    h = begin(two_calls, 2, &d, &p);
    CHECK(p.n == 1 && host_cancel(h, p.s) == AGENT_OK);
    host_run(h);
    CHECK(p.cancels == 1 && p.n == 1 && p.ends == 0);                          /* it may still end by itself             */
    host_later(h, 250);
    CHECK(p.ends == 1 && p.n == 1 && h->outcome == AGENT_CANCELLED && agent_tool_result(h->e, p.s, p.call[0], "late", 4) == AGENT_LATE);
    over(h);
    memset(&p, 0, sizeof p);
    p.hold = 1;
    h = begin(two_calls, 2, &d, &p);
    ran = p.call[0];
    crash(h, &p, &d);
    CHECK(p.n == 1 && p.call[0] != ran && host_said(h, "Interrupted"));        /* the one that had not run               */
    CHECK(agent_tool_result(h->e, p.s, p.call[0], "two", 3) == AGENT_OK);
    host_run(h);
    CHECK(p.ends == 1 && h->outcome == AGENT_COMPLETED && times(h, 1, "Interrupted") == 1 && times(h, 1, "\"two\"") == 1);
    over(h);
}
/* 22: an answer to a question is lost behind another message, or counts twice. */
static void complaint_22_answered_once(void)
{
    agent_event ev;
    plan p = { 0 };
    host *h;
    p.hold = 1;
    h = begin(two_calls, 2, NULL, &p);
    more(h, &p, "Something else.");
    CHECK(agent_pending(h->e, p.s, 0, &ev) == AGENT_OK && agent_tool_result(h->e, p.s, ev.call, "one", 3) == AGENT_OK);
    CHECK(agent_tool_result(h->e, p.s, ev.call, "again", 5) == AGENT_LATE && agent_tool_done(h->e, p.s, ev.call, AGENT_DONE_ERROR) == AGENT_LATE && agent_decline(h->e, &ev) == AGENT_LATE);
    CHECK(agent_tool_result(h->e, p.s, p.call[1], "two", 3) == AGENT_OK);
    host_run(h);
    CHECK(times(h, 1, "\"one\"") == 1 && times(h, 1, "again") == 0);
    over(h);
}
/* 25: the loop cannot end on a tool, and cannot go on without a call. */
static void go_on(host *h, plan *p, const agent_event *ev)
{
    agent_part part;
    (void)ev;
    memset(&part, 0, sizeof part);
    part.text = agenti_cstr("Check it once more.");
    CHECK(agent_submit(h->e, p->s, &part, 1, AGENT_STEER) > 0);
}
static void complaint_25_who_ends_the_run(void)
{
    static const agent_tool ends[] = { { "alpha", NULL, NULL, AGENT_TF_ENDS_RUN, 0, NULL }, { "beta", NULL, NULL, AGENT_TF_ENDS_RUN, 0, NULL } };
    static const host_answer a[] = { TEXT("One."), TEXT("Two.") };
    agent_session_desc d = AGENT_ZERO;
    plan p = { 0 };
    host *h;
    d.tools = ends;
    d.tool_count = 2;
    h = begin(two_calls, 1, &d, &p);
    CHECK(h->request_n == 1 && h->outcome == AGENT_COMPLETED && p.why == AGENT_WHY_TOOL);
    over(h);
    memset(&p, 0, sizeof p);
    p.when = AGENT_EV_STEP_END;
    p.act = go_on;
    h = begin(a, 2, NULL, &p);
    CHECK(h->request_n == 2 && p.ends == 1 && h->outcome == AGENT_COMPLETED && times(h, 1, "Check it once more.") == 1);
    over(h);
}
/* 26: the provider's ids come twice, and two things become one. */
static void complaint_26_ids_that_come_twice(void)
{
    static const host_answer a[] = { { SSE_CALL("0", "same", "alpha", "{\\\"x\\\":1}") SSE_CALL("1", "same", "beta", "{}") SSE_TOOLS, 0, NULL, 0, 0 },
                                     { SSE_CALL("0", "same", "alpha", "{\\\"x\\\":2}") SSE_TOOLS, 0, NULL, 0, 0 }, TEXT("Done.") };
    plan p = { 0 };
    host *h = begin(a, 3, NULL, &p);
    CHECK(h->count[AGENT_EV_TOOL_RUN] == 3 && h->count[AGENT_EV_TOOL_RESULT] == 3 && h->outcome == AGENT_COMPLETED && times(h, 2, "\"tool_call_id\"") == 3);
    over(h);
}
/* 27: a second message that waits takes the place of the first. */
static void three_more(host *h, plan *p, const agent_event *ev)
{
    (void)ev;
    CHECK(agent_say(h->e, p->s, "first", AGENT_CSTR) > 0 && agent_say(h->e, p->s, "second", AGENT_CSTR) > 0 && agent_say(h->e, p->s, "third", AGENT_CSTR) > 0);
}
static void complaint_27_a_queue_of_one(void)
{
    static const host_answer a[] = { TEXT("0."), TEXT("1."), TEXT("2."), TEXT("3.") };
    plan p = { 0 };
    host *h;
    p.when = AGENT_EV_TEXT_START;
    p.act = three_more;
    h = begin(a, 4, NULL, &p);
    CHECK(h->request_n == 4 && p.ends == 4 && times(h, 1, "\"content\":\"first\"") == 1 && times(h, 1, "second") == 0
        && times(h, 2, "second") == 1 && times(h, 2, "third") == 0 && times(h, 3, "third") == 1);
    over(h);
}
int main(void)
{
    complaint_1_call_without_result();
    complaint_2_result_without_call();
    complaint_3_siblings_of_a_bad_call();
    complaint_4_the_same_call_for_ever();
    complaint_5_wrong_calls_for_ever();
    complaint_6_retries_for_ever();
    complaint_7_cancel_in_a_retry();
    complaint_10_thoughts_between_steps();
    complaint_11_a_question_nobody_answers();
    complaint_12_done_beside_one_that_waits();
    complaint_13_queue_after_a_stop();
    complaint_14_a_silent_stream();
    complaint_15_an_empty_answer();
    complaint_17_abort_keeps_the_text();
    complaint_18_nothing_is_shown_twice();
    complaint_20_what_providers_refuse();
    complaint_21_tools_after_a_cancel();
    complaint_22_answered_once();
    complaint_25_who_ends_the_run();
    complaint_26_ids_that_come_twice();
    complaint_27_a_queue_of_one();
    return test_end("complaints");
}
