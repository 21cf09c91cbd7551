/* Deadlines: of the connection, the answer, a tool, a step, a run. Time is what the host says it is. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

static const host_answer call = { SSE_CALL("0", "c1", "alpha", "{}") SSE_CALL("1", "c2", "beta", "{}") SSE_TOOLS, 0, NULL, 0, 0 };
typedef struct held { agent_num call[16]; uint32_t timeout[16], grace[16]; size_t n, cancels; int hold, why, outcome, status[16]; unsigned results; const char *word; } held;
static int hold(host *h, const agent_event *ev)
{
    held *k = (held *)h->arg;
    if (ev->type == AGENT_EV_RUN_END) { k->why = ev->u.end.why; k->outcome = ev->u.end.outcome; }
    if (ev->type == AGENT_EV_TOOL_CANCEL) {
        k->grace[k->cancels++] = ev->u.tool.timeout_ms;
        if (k->word) CHECK(agent_tool_result(h->e, ev->session, ev->call, k->word, AGENT_CSTR) == AGENT_OK);
    }
    if (ev->type == AGENT_EV_TOOL_RESULT) k->status[k->results++] = ev->u.tool.status;
    if (ev->type != AGENT_EV_TOOL_RUN || !k->hold) return 0;
    k->timeout[k->n] = ev->u.tool.timeout_ms;
    k->call[k->n++] = ev->call;
    return 1;
}
static host *begin(int via, const host_answer *a, size_t n, const agent_session_desc *d, const agent_peer_desc *pd, agent_id *s, held *k)
{
    agent_session_desc sd;
    agent_peer_desc p;
    host *h = host_new(NULL, via, HOST_CUT_WHOLE);
    memset(&sd, 0, sizeof sd);
    memset(&p, 0, sizeof p);
    if (d) sd = *d;
    if (pd) p = *pd;
    p.provider = "openai-compatible";
    p.url = "http://model.test:8080/v1";
    p.key = "k";
    sd.peer = agent_peer_open(h->e, &p);
    h->on = hold;
    h->arg = k;
    *s = host_session(h, &sd);
    host_answers(h, a, n);
    CHECK(agent_say(h->e, *s, "Hi", AGENT_CSTR) > 0);
    return h;
}
static void over(host *h)
{
    host_bodies_check(h);
    host_over_check(h);
    host_free(h);
}
/* Nobody opens it.                                                                                                      */
static void connect_in_time(void)
{
    static const struct { uint32_t given; uint64_t ms; } rows[] = { { 0, 30000 }, { 5, 5 }, { AGENT_OFF, UINT64_MAX } };
    agent_peer_desc p;
    agent_id s;
    held k;
    size_t i;
    memset(&p, 0, sizeof p);
    for (i = 0; i < 3; i++) {
        host *h;
        memset(&k, 0, sizeof k);
        p.connect_ms = rows[i].given;
        h = begin(AGENT_VIA_BYTES, NULL, 0, NULL, &p, &s, &k);
        h->no_open = 1;
        host_run(h);
        CHECK(agent_deadline(h->e) == rows[i].ms);
        if (rows[i].ms == UINT64_MAX) { host_free(h); continue; }
        host_later(h, rows[i].ms - 1);
        CHECK(h->outcome == -1);
        host_later(h, 1);
        CHECK(h->outcome == AGENT_FAILED && h->fault_kind == AGENT_FAULT_TIMEOUT && strstr(h->fault, "not opened in time") && agent_deadline(h->e) == UINT64_MAX);
        host_over_check(h);
        host_free(h);
    }
}
/* The answer's first content, and what comes between; comments are no content.                                          */
static void content_in_time(int via)
{
    static const host_answer nothing = { ": wait\n\n", 0, NULL, HOST_CHUNKED, HOST_HANG };
    static const host_answer some = { SSE_TEXT("Well"), 0, NULL, HOST_CHUNKED, HOST_HANG };
    static const host_answer whole = { "{\"choices\":", 0, "content-type: application/json\n", HOST_CHUNKED, HOST_HANG };
    agent_peer_desc p;
    agent_session_desc d;
    agent_id s;
    held k;
    host *h;
    memset(&p, 0, sizeof p);
    memset(&d, 0, sizeof d);
    memset(&k, 0, sizeof k);
    h = begin(via, &nothing, 1, NULL, &p, &s, &k);
    host_run(h);
    CHECK(agent_deadline(h->e) == 120000);
    host_later(h, 119999);
    CHECK(h->outcome == -1);
    if (via == AGENT_VIA_BYTES) CHECK(agent_feed(h->e, h->conns[0].id, "a\r\n: ping...\n\r\n", 15, NULL) == AGENT_OK);
    host_later(h, 1);
    CHECK(h->outcome == AGENT_FAILED && h->fault_kind == AGENT_FAULT_TIMEOUT && strstr(h->fault, "did not begin in time"));
    host_free(h);
    p.first_ms = 1000;
    p.idle_ms = 200;
    h = begin(via, &some, 1, NULL, &p, &s, &k);
    host_run(h);
    CHECK(agent_deadline(h->e) == 200);
    host_later(h, 199);
    CHECK(h->outcome == -1);
    host_later(h, 1);
    CHECK(h->outcome == AGENT_FAILED && h->fault_kind == AGENT_FAULT_TIMEOUT && strstr(h->fault, "nothing more of it came in time") && strcmp(h->text.p, "Well") == 0);
    host_free(h);
    d.flags = AGENT_S_NO_STREAM;
    h = begin(via, &whole, 1, &d, &p, &s, &k);
    host_run(h);
    CHECK(agent_deadline(h->e) == 5000);
    host_later(h, 5000);
    CHECK(h->outcome == AGENT_FAILED && h->fault_kind == AGENT_FAULT_TIMEOUT);
    host_free(h);
    d.max_retries = 1;                        /* it is asked for again                                                   */
    h = begin(via, &nothing, 1, &d, &p, &s, &k);
    host_run(h);
    while (h->outcome == -1 && host_wait(h)) {}
    CHECK(h->outcome == AGENT_COMPLETED && h->request_n == 2);
    over(h);
}
/* A host that slept feeds what has come meanwhile before silence counts.                                                */
static void paused_host(int via)
{
    static const host_answer some = { SSE_TEXT("Well"), 0, NULL, HOST_CHUNKED, HOST_HANG };
    static const char more[] = SSE_TEXT(", yes.");
    char line[sizeof more + 40];
    agent_id s;
    held k;
    host *h;
    memset(&k, 0, sizeof k);
    h = begin(via, &some, 1, NULL, NULL, &s, &k);
    host_run(h);
    h->now = 10000000;
    agent_tick(h->e, h->now, 0);
    CHECK(agent_next(h->e) == NULL && agent_deadline(h->e) <= h->now);           /* a turn to feed in                    */
    if (via == AGENT_VIA_BYTES) sprintf(line, "%x\r\n%s\r\n", (unsigned)sizeof more - 1, more); else sprintf(line, "%s", more);
    CHECK(agent_feed(h->e, h->conns[0].id, line, strlen(line), NULL) == AGENT_OK);
    while (host_next(h)) {}
    CHECK(h->outcome == -1 && strcmp(h->text.p, "Well, yes.") == 0 && agent_deadline(h->e) == h->now + 90000);
    host_later(h, 90000);
    CHECK(h->outcome == AGENT_FAILED);
    host_free(h);
}
/* A tool that takes too long is told to stop, may say a last word, and its neighbour is not harmed.                      */
static void tool_in_time(int via)
{
    static const agent_tool tools[] = { { "alpha", NULL, NULL, 0, 500, NULL }, { "beta", NULL, NULL, 0, AGENT_OFF, NULL } };
    agent_session_desc d;
    agent_id s;
    held k;
    host *h;
    int how;
    memset(&d, 0, sizeof d);
    d.tools = tools;
    d.tool_count = 2;
    d.grace_ms = 100;
    for (how = 0; how < 3; how++) {
        memset(&k, 0, sizeof k);
        k.hold = 1;
        k.word = how == 2 ? "I stopped at line 9." : NULL;
        h = begin(via, &call, 1, &d, NULL, &s, &k);
        host_run(h);
        CHECK(k.n == 2 && k.timeout[0] == 500 && k.timeout[1] == AGENT_OFF && agent_deadline(h->e) == 500);
        if (how == 1) CHECK(agent_tool_append(h->e, s, k.call[0], "line 1", AGENT_CSTR) == AGENT_OK);
        host_later(h, 500);
        CHECK(k.cancels == 1 && k.grace[0] == 100);
        if (how < 2) {
            CHECK(k.results == 0 && agent_deadline(h->e) == 600);
            host_later(h, 100);
        }
        CHECK(k.results == 1 && k.status[0] == (how == 2 ? AGENT_DONE_OK : AGENT_DONE_ERROR) && agent_deadline(h->e) == UINT64_MAX);
        CHECK(agent_tool_result(h->e, s, k.call[0], "late", AGENT_CSTR) == AGENT_LATE);
        CHECK(agent_tool_result(h->e, s, k.call[1], "fine", AGENT_CSTR) == AGENT_OK);
        host_run(h);
        CHECK(h->outcome == AGENT_COMPLETED && k.results == 2);
        CHECK(strstr(h->body[1].p, how == 2 ? "I stopped at line 9." : how == 1 ? "line 1\\n[The tool ran out of time.]" : "The tool ran out of time."));
        over(h);
    }
    memset(&d, 0, sizeof d);                  /* defaults of the session: 120 s and 250 ms                               */
    memset(&k, 0, sizeof k);
    k.hold = 1;
    d.grace_ms = 250;
    h = begin(via, &call, 1, &d, NULL, &s, &k);
    host_run(h);
    CHECK(k.timeout[0] == 120000 && agent_deadline(h->e) == 120000);
    host_cancel(h, s);
    host_run(h);
    CHECK(k.cancels == 2 && k.grace[0] == 250 && agent_deadline(h->e) == 250 && h->outcome == -1);
    CHECK(agent_tool_result(h->e, s, k.call[1], "done after all", AGENT_CSTR) == AGENT_OK);
    host_run(h);
    CHECK(k.results == 1 && k.status[0] == AGENT_DONE_OK);
    host_later(h, 250);
    CHECK(h->outcome == AGENT_CANCELLED && k.results == 2 && k.status[1] == AGENT_DONE_CANCELLED && k.why == AGENT_WHY_CANCEL);
    agent_say(h->e, s, "And?", AGENT_CSTR);
    host_run(h);
    CHECK(strstr(h->body[1].p, "done after all") && strstr(h->body[1].p, "Cancelled by the user."));
    over(h);
}
/* A step and a run that take too long are cut as by a cancel, but the run is LIMITED and what waits is not given back.    */
static void run_in_time(int via)
{
    static const host_answer slow = { SSE_TEXT("Well"), 0, NULL, HOST_CHUNKED, HOST_HANG };
    host_answer a[2];
    agent_session_desc d;
    agent_id s;
    held k;
    host *h;
    int what;
    for (what = 0; what < 4; what++) {
        memset(&d, 0, sizeof d);
        memset(&k, 0, sizeof k);
        k.hold = 1;
        d.grace_ms = 40;
        if (what % 2) d.run_ms = 1000; else d.step_ms = 1000;
        h = begin(via, what < 2 ? &slow : &call, 1, &d, NULL, &s, &k);
        host_run(h);
        CHECK(agent_deadline(h->e) == 1000 && agent_say(h->e, s, "Next", AGENT_CSTR) == 2);
        host_run(h);
        host_later(h, 1000);
        if (what > 1) { CHECK(h->outcome == -1 && k.cancels == 2); host_later(h, 40); }
        CHECK(k.why == AGENT_WHY_ANSWERED && h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_RUN_END] == 2 && h->request_n == 2);
        CHECK(host_said(h, "\"outcome\":3") && (what < 2 || strstr(h->body[1].p, "Stopped: the run is out of time.")));
        over(h);
    }
    a[0] = call;                              /* each step has its own time, the run has one                             */
    a[1] = slow;
    memset(&d, 0, sizeof d);
    memset(&k, 0, sizeof k);
    d.step_ms = 1000;
    d.run_ms = 1500;
    k.hold = 1;
    h = begin(via, a, 2, &d, NULL, &s, &k);
    host_run(h);
    host_later(h, 900);
    CHECK(agent_tool_result(h->e, s, k.call[0], "1", 1) == AGENT_OK && agent_tool_result(h->e, s, k.call[1], "2", 1) == AGENT_OK);
    host_run(h);
    CHECK(agent_deadline(h->e) == 1500);
    host_later(h, 600);
    CHECK(h->outcome == AGENT_LIMITED && k.why == AGENT_WHY_TIME && h->steps == 2);
    over(h);
    {                                         /* also in the wait before a retry                                         */
        host_answer r;
        memset(&r, 0, sizeof r);
        r.status = 503;
        r.body = "{}";
        memset(&d, 0, sizeof d);
        d.run_ms = 100;
        d.max_retries = 3;
        h = begin(via, &r, 1, &d, NULL, &s, &k);
        host_run(h);
        CHECK(agent_deadline(h->e) == 100);
        host_later(h, 100);
        CHECK(h->outcome == AGENT_LIMITED && h->request_n == 1 && agent_deadline(h->e) == UINT64_MAX);
        over(h);
    }
}
/* Ten thousand sessions that wait: the next deadline is known at once, and each rings at its own time.                   */
static void many(void)
{
    enum { N = 2000 };
    static agent_id s[N];
    agent_desc d;
    agent_session_desc sd;
    agent_peer_desc p;
    host *h;
    size_t i, seen;
    memset(&d, 0, sizeof d);
    memset(&sd, 0, sizeof sd);
    memset(&p, 0, sizeof p);
    d.limits.sessions = d.limits.conns = N + 1;
    h = host_new(&d, AGENT_VIA_HTTP, HOST_CUT_WHOLE);
    h->no_open = 1;
    h->quiet = 1;
    p.provider = "openai-compatible";
    p.url = "http://model.test:8080/v1";
    p.key = "";
    p.connect_ms = AGENT_OFF;
    sd.peer = agent_peer_open(h->e, &p);
    for (i = 0; i < N; i++) {
        sd.run_ms = (uint32_t)(1 + (i * 7919) % N);
        s[i] = host_session(h, &sd);
        CHECK(agent_say(h->e, s[i], "Hi", AGENT_CSTR) > 0);
    }
    host_run(h);
    for (i = 0; i < N; i += 2) CHECK(agent_session_close(h->e, s[i]) == AGENT_OK);
    host_run(h);
    seen = h->check.stream_n;
    h->check.stream_n = 0;                    /* the checker is not told of closed sessions one by one                  */
    for (i = 1; i <= N; i++) {
        unsigned before = h->count[AGENT_EV_RUN_END];
        const agent_event *ev;
        unsigned turn;
        agent_tick(h->e, i, 0);
        for (turn = 0; turn < 2; turn++) while ((ev = agent_next(h->e)) != NULL) if (ev->type == AGENT_EV_RUN_END) { before++; h->count[AGENT_EV_RUN_END]++; CHECK(ev->u.end.why == AGENT_WHY_TIME); }
        CHECK(agent_deadline(h->e) > i);
    }
    CHECK(h->count[AGENT_EV_RUN_END] == N / 2 && agent_deadline(h->e) == UINT64_MAX);
    h->check.stream_n = seen;                 /* its memory is given back                                               */
    host_free(h);
}
/* Tools that may end after agent_stop end with the run's time all the same.                                            */
static void stopped_run_in_time(int via)
{
    agent_session_desc d;
    agent_id s;
    held k;
    host *h;
    memset(&d, 0, sizeof d);
    memset(&k, 0, sizeof k);
    d.tool_ms = AGENT_OFF;
    d.run_ms = 1000;
    d.grace_ms = 100;
    k.hold = 1;
    h = begin(via, &call, 1, &d, NULL, &s, &k);
    host_run(h);
    CHECK(k.n == 2 && host_stop(h, s, AGENT_STOP_TOOLS) == AGENT_OK);
    host_run(h);
    CHECK(k.cancels == 0 && agent_deadline(h->e) == 1000);
    host_later(h, 1000);
    CHECK(k.cancels == 2 && k.grace[0] == 100 && agent_deadline(h->e) == 1100);
    host_later(h, 100);
    CHECK(h->outcome == AGENT_CANCELLED && k.why == AGENT_WHY_CANCEL && agent_deadline(h->e) == UINT64_MAX);
    host_free(h);
}
int main(void)
{
    static const int vias[] = { AGENT_VIA_BYTES, AGENT_VIA_HTTP };
    int v;
    connect_in_time();
    for (v = 0; v < 2; v++) {
        content_in_time(vias[v]);
        paused_host(vias[v]);
        tool_in_time(vias[v]);
        run_in_time(vias[v]);
        stopped_run_in_time(vias[v]);
    }
    many();
    return test_end("clock");
}
