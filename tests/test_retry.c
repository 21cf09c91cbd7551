/* Answers that fail: which are asked for again, when, how often, and what is made of those that broke off. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

static const char rate[] = "{\"error\":{\"message\":\"slow down\",\"code\":\"rate_limit_exceeded\"}}";
static const host_answer good = { SSE_TEXT("Fine.") SSE_STOP, 0, NULL, 0, 0 };
typedef struct seen { uint64_t at[64]; unsigned attempt[64], waits, goes, max; int scopes[8]; int why, waits_for; uint64_t end_at; agent_usage usage; } seen;
static int watch(host *h, const agent_event *ev)
{
    seen *k = (seen *)h->arg;
    if (ev->type == AGENT_EV_RETRY_WAIT && k->waits < 64) {
        k->at[k->waits] = ev->u.retry.at_ms;
        k->attempt[k->waits++] = ev->u.retry.attempt;
        k->max = ev->u.retry.max;
    }
    if (ev->type == AGENT_EV_RETRY_GO) k->goes++;
    if (ev->type == AGENT_EV_ERROR) k->scopes[ev->u.error.scope]++;
    if (ev->type == AGENT_EV_RUN_END) {
        k->why = ev->u.end.why;
        k->waits_for = ev->u.end.waits;
        k->end_at = ev->u.end.at_ms;
        k->usage = *ev->u.end.usage;
    }
    return 0;
}
static host *begin(int via, int cut, const host_answer *a, size_t n, const agent_session_desc *d, agent_id *s, seen *k)
{
    agent_session_desc sd;
    host *h = host_new(NULL, via, cut);
    memset(k, 0, sizeof *k);
    memset(&sd, 0, sizeof sd);
    if (d) sd = *d;
    if (sd.max_retries == 0) sd.max_retries = 4;
    h->on = watch;
    h->arg = k;
    *s = host_session(h, &sd);
    host_answers(h, a, n);
    CHECK(agent_say(h->e, *s, "Hi", AGENT_CSTR) > 0);
    host_run(h);
    return h;
}
static void over(host *h)
{
    host_bodies_check(h);
    host_over_check(h);
    host_free(h);
}
static host_answer refusal(int status, const char *headers, const char *body)
{
    host_answer a;
    memset(&a, 0, sizeof a);
    a.body = body;
    a.status = status;
    a.headers = headers;
    return a;
}
/* Five times 429: waits of 2, 4, 8, 16 s and up to a quarter more, then the fault stands.                                */
static void backoff(int via, int cut)
{
    host_answer a[6];
    agent_id s;
    seen k;
    uint64_t base = 2000;
    unsigned i;
    host *h;
    for (i = 0; i < 6; i++) a[i] = refusal(429, NULL, rate);
    h = begin(via, cut, a, 6, NULL, &s, &k);
    for (i = 0; i < 4; i++, base *= 2) {
        CHECK(k.waits == i + 1 && k.goes == i && k.attempt[i] == i + 1 && k.max == 4 && h->request_n == i + 1);
        CHECK(k.at[i] >= h->now + base && k.at[i] <= h->now + base + base / 4 + 1);
        CHECK(agent_deadline(h->e) == k.at[i]);
        host_later(h, k.at[i] - h->now - 1);
        CHECK(k.goes == i);
        host_later(h, 1);
        CHECK(k.goes == i + 1);
    }
    CHECK(h->outcome == AGENT_FAILED && k.why == AGENT_WHY_ERROR && k.waits_for == AGENT_WAITS_HOST && h->request_n == 5);
    CHECK(k.scopes[AGENT_SCOPE_ATTEMPT] == 4 && k.scopes[AGENT_SCOPE_RUN] == 1 && h->fault_kind == AGENT_FAULT_RATE && agent_messages(h->e, s) == 1);
    CHECK(h->count[AGENT_EV_STEP_START] == 1 && h->count[AGENT_EV_MSG_ADD] == 1);
    over(h);
    h = begin(via, cut, a, 1, NULL, &s, &k);                 /* the second attempt is answered                          */
    CHECK(host_wait(h) && h->outcome == AGENT_COMPLETED && k.why == AGENT_WHY_ANSWERED && k.goes == 1 && h->steps == 1 && h->request_n == 2);
    CHECK(strcmp(h->body[0].p, h->body[1].p) == 0);
    over(h);
}
static void jitter(void)
{
    host_answer a = refusal(503, NULL, "{}");
    uint64_t first = 0, last = 0;
    agent_desc d;
    agent_session_desc sd;
    unsigned i, differs = 0;
    seen k;
    memset(&d, 0, sizeof d);
    memset(&sd, 0, sizeof sd);
    memset(&k, 0, sizeof k);
    sd.max_retries = 1;
    sd.retry_ms = 1000;
    for (i = 0; i < 40; i++) {
        host *h;
        agent_id s;
        d.seed = i / 2;
        h = host_new(&d, AGENT_VIA_HTTP, HOST_CUT_WHOLE);
        k.waits = 0;
        h->on = watch;
        h->arg = &k;
        s = host_session(h, &sd);
        host_answers(h, &a, 1);
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        host_run(h);
        CHECK(k.waits == 1 && k.at[0] >= 1000 && k.at[0] <= 1251);
        if (i % 2) CHECK(k.at[0] == last);                   /* the same seed, the same time                            */
        else if (i && k.at[0] != first) differs++;
        if (i == 0) first = k.at[0];
        last = k.at[0];
        host_free(h);
    }
    CHECK(differs > 10);
}
/* What a provider says of time, in all its places; beyond the cap the run ends and says until when.                     */
static void hints(int via)
{
    static const struct { const char *headers; uint64_t ms; } rows[] = {
        { "retry-after-ms: 1500\n", 1500 }, { "retry-after: 7\n", 7000 }, { "retry-after: 60\n", 60000 }, { "retry-after: 61\n", 0 },
        { "date: Tue, 01 Dec 2026 10:00:00 GMT\nretry-after: Tue, 01 Dec 2026 10:00:09 GMT\n", 9000 }, { "retry-after: 86400\n", 0 },
        { "x-ratelimit-remaining-requests: 0\nx-ratelimit-reset-requests: 3s\n", 3000 }
    };
    size_t i;
    agent_id s;
    seen k;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        host_answer a = refusal(429, rows[i].headers, rate);
        host *h = begin(via, HOST_CUT_WHOLE, &a, 1, NULL, &s, &k);
        if (rows[i].ms) CHECK_CASE(k.waits == 1 && k.at[0] == rows[i].ms && host_wait(h) && h->outcome == AGENT_COMPLETED, rows[i].headers);
        else CHECK_CASE(h->outcome == AGENT_FAILED && k.waits == 0 && k.why == AGENT_WHY_HINT && k.waits_for == AGENT_WAITS_CLOCK
                        && k.end_at == (i == 3 ? 61000u : 86400000u) && k.scopes[AGENT_SCOPE_RUN] == 1, rows[i].headers);
        over(h);
    }
    {
        agent_session_desc d;
        host_answer a = refusal(429, "retry-after: 86400\n", rate);
        host *h;
        memset(&d, 0, sizeof d);
        d.hint_cap_ms = AGENT_OFF;
        h = begin(via, HOST_CUT_WHOLE, &a, 1, &d, &s, &k);
        CHECK(k.waits == 1 && k.at[0] == 86400000 && host_wait(h) && h->outcome == AGENT_COMPLETED);
        over(h);
    }
}
static void never(int via)
{
    static const struct { int status; const char *headers, *body; } rows[] = {
        { 400, NULL, "{\"error\":{\"message\":\"bad\"}}" }, { 400, "x-should-retry: true\n", "{\"error\":{\"message\":\"bad\"}}" }, { 401, NULL, "{}" },
        { 403, "x-should-retry: true\n", "{}" }, { 404, NULL, "{}" }, { 413, NULL, "{}" }, { 422, NULL, "{}" },
        { 429, NULL, "{\"error\":{\"message\":\"You exceeded your current quota\",\"code\":\"insufficient_quota\"}}" },
        { 400, NULL, "{\"error\":{\"message\":\"too long\",\"code\":\"context_length_exceeded\"}}" },
        { 503, "x-should-retry: false\n", "{}" }
    };
    size_t i;
    agent_id s;
    seen k;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        host_answer a = refusal(rows[i].status, rows[i].headers, rows[i].body);
        host *h = begin(via, HOST_CUT_WHOLE, &a, 1, NULL, &s, &k);
        CHECK_CASE(h->outcome == AGENT_FAILED && k.waits == 0 && h->request_n == 1 && k.why == AGENT_WHY_ERROR, rows[i].body);
        over(h);
    }
}
static void always(int via)
{
    static const int status[] = { 408, 409, 429, 500, 502, 503, 504, 529 };
    size_t i;
    agent_id s;
    seen k;
    for (i = 0; i < sizeof status / sizeof *status; i++) {
        host_answer a = refusal(status[i], NULL, "<html>no</html>");
        host *h = begin(via, HOST_CUT_BYTES, &a, 1, NULL, &s, &k);
        CHECK_CASE(k.waits == 1 && host_wait(h) && h->outcome == AGENT_COMPLETED && h->request_n == 2, h->fault);
        over(h);
    }
}
/* A stream that ends, breaks, or says nothing before anything was shown.                                                */
static void broken_early(int via, int cut)
{
    static const host_answer rows[] = {
        { "", 0, NULL, HOST_CHUNKED, HOST_RESET }, { ": ping\n\n", 0, NULL, HOST_CLOSE, HOST_EOF }, { SSE_DONE, 0, NULL, HOST_CHUNKED, 0 },
        { SSE_("{\"error\":{\"message\":\"overloaded\",\"code\":\"server_error\"}}"), 0, NULL, HOST_CHUNKED, 0 }, { SSE_FINISH("stop") SSE_DONE, 0, NULL, HOST_CHUNKED, 0 }
    };
    size_t i;
    agent_id s;
    seen k;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        host *h = begin(via, cut, &rows[i], 1, NULL, &s, &k);
        CHECK_CASE(k.waits == 1 && host_wait(h) && h->outcome == AGENT_COMPLETED && h->steps == 1, rows[i].body);
        CHECK(h->count[AGENT_EV_MSG_ADD] == 2 && strcmp(h->text.p, "spare") == 0);
        over(h);
    }
    {
        host *h = host_new(NULL, via, cut);
        agent_session_desc d;
        memset(&d, 0, sizeof d);
        memset(&k, 0, sizeof k);
        d.max_retries = 4;
        h->on = watch;
        h->arg = &k;
        h->refuse = 2;                        /* nobody listens                                                          */
        agent_say(h->e, host_session(h, &d), "Hi", AGENT_CSTR);
        host_run(h);
        CHECK(k.waits == 1 && host_wait(h) && k.waits == 2 && host_wait(h) && h->outcome == AGENT_COMPLETED);
        over(h);
    }
}
static const host_answer cut_text = { SSE_TEXT("Half an") SSE_USAGE, 0, NULL, HOST_CHUNKED, HOST_RESET };
static const host_answer cut_call = { SSE_TEXT("I look.") SSE_CALL("0", "c1", "alpha", "{\\\"x\\\":1"), 0, NULL, HOST_CHUNKED, HOST_RESET };
static void shown(int via, int cut)                          /* never once more after something was shown               */
{
    agent_id s;
    seen k;
    host *h = begin(via, cut, &cut_text, 1, NULL, &s, &k);
    CHECK(h->outcome == AGENT_FAILED && k.waits == 0 && h->request_n == 1 && strcmp(h->text.p, "Half an") == 0 && agent_messages(h->e, s) == 2);
    CHECK(agent_retry(h->e, s, AGENT_RETRY_NOW) == AGENT_LATE);
    agent_say(h->e, s, "Again", AGENT_CSTR);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED && strstr(h->body[1].p, "Half an"));
    over(h);
}
static void go_on(int via, int cut)
{
    static const host_answer *const first[] = { &cut_text, &cut_call };
    agent_session_desc d;
    agent_id s;
    agent_msg m;
    seen k;
    size_t i;
    memset(&d, 0, sizeof d);
    d.flags = AGENT_S_GO_ON;
    for (i = 0; i < 2; i++) {
        host *h = begin(via, cut, first[i], 1, &d, &s, &k);
        CHECK(k.waits == 1 && k.scopes[AGENT_SCOPE_STEP] == 1 && h->count[AGENT_EV_STEP_END] == 1 && host_wait(h));
        CHECK(h->outcome == AGENT_COMPLETED && k.goes == 1 && h->steps == 2 && h->request_n == 2 && k.scopes[AGENT_SCOPE_RUN] == 0);
        CHECK(agent_messages(h->e, s) == 4 && agent_message(h->e, s, 2, &m) == AGENT_OK);
        if (i == 0) CHECK(m.role == AGENT_USER && (m.flags & AGENT_MSG_NOTE) && strstr(h->body[1].p, "broke off") && k.usage.input == 20);
        else CHECK(m.role == AGENT_TOOLS && strstr(h->body[1].p, "Not run: the answer broke off."));
        over(h);
    }
    {                                         /* the budget is shared: five times cut is a failure                       */
        host_answer a[8];
        host *h;
        for (i = 0; i < 8; i++) a[i] = cut_text;
        h = begin(via, cut, a, 8, &d, &s, &k);
        while (host_wait(h)) {}
        CHECK(h->outcome == AGENT_FAILED && k.waits == 4 && k.scopes[AGENT_SCOPE_STEP] == 4 && k.scopes[AGENT_SCOPE_RUN] == 1 && h->steps == 5);
        over(h);
    }
}
/* A cancel, a veto and an order of the host, in the wait and behind the fault.                                          */
static int force(host *h, const agent_event *ev)
{
    (void)watch(h, ev);
    if (ev->type == AGENT_EV_ERROR && ev->u.error.scope == AGENT_SCOPE_RUN && h->request_n == 1) {
        CHECK(agent_retry(h->e, ev->session, 7) == AGENT_E_ARG);
        CHECK(agent_retry(h->e, ev->session, AGENT_RETRY_STOP) == AGENT_LATE);
        CHECK(agent_retry(h->e, ev->session, AGENT_RETRY_NOW) == AGENT_OK);
        h->errors = 0;
        check_go_on(&h->check, ev->session);
    }
    return 0;
}
static void host_says(int via)
{
    host_answer a[3];
    agent_id s;
    seen k;
    int what;
    host *h;
    a[0] = a[1] = refusal(429, NULL, rate);
    a[2] = good;
    for (what = 0; what < 4; what++) {
        h = begin(via, HOST_CUT_WHOLE, a, 1, NULL, &s, &k);
        CHECK(k.waits == 1);
        if (what == 0) CHECK(agent_retry(h->e, s, AGENT_RETRY_NOW) == AGENT_OK);
        if (what == 1) CHECK(agent_retry(h->e, s, AGENT_RETRY_STOP) == AGENT_OK);
        if (what == 2) CHECK(host_cancel(h, s) == AGENT_OK);
        if (what == 3) CHECK(agent_stop(h->e, s, AGENT_STOP_STEP) == AGENT_OK);
        CHECK(what < 2 || agent_retry(h->e, s, AGENT_RETRY_NOW) == AGENT_LATE);
        host_run(h);
        CHECK(h->outcome == (what == 0 ? AGENT_COMPLETED : what == 1 ? AGENT_FAILED : AGENT_CANCELLED));
        CHECK(k.goes == (what == 0) && h->request_n == (what == 0 ? 2u : 1u) && agent_deadline(h->e) == UINT64_MAX);
        CHECK(agent_retry(h->e, s, AGENT_RETRY_NOW) == AGENT_LATE && agent_retry(h->e, s + 1, AGENT_RETRY_NOW) == AGENT_E_STALE);
        host_later(h, 100000);
        CHECK(h->request_n == (what == 0 ? 2u : 1u));        /* no timer outlives its run                               */
        over(h);
    }
    a[0] = refusal(401, NULL, "{}");
    h = host_new(NULL, via, HOST_CUT_WHOLE);
    memset(&k, 0, sizeof k);
    h->arg = &k;
    h->on = force;
    host_answers(h, a, 1);
    s = host_session(h, NULL);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED && h->steps == 2 && h->request_n == 2);
    over(h);
    for (what = 0; what < 2; what++) {        /* behind what was shown a note asks for the rest                          */
        h = host_new(NULL, via, HOST_CUT_WHOLE);
        h->arg = &k;
        h->on = force;
        host_answers(h, what ? &cut_call : &cut_text, 1);
        s = host_session(h, NULL);
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        host_run(h);
        CHECK(h->outcome == AGENT_COMPLETED && h->request_n == 2 && (strstr(h->body[1].p, "broke off. Go on") != NULL) == !what);
        over(h);
    }
}
/* After agent_stop an answer that fails is not asked for again: its fault stands.                                       */
static void stopped(int via)
{
    static const host_answer rows[] = { { rate, 429, NULL, 0, 0 }, { SSE_TEXT("Half an") SSE_USAGE, 0, NULL, HOST_CHUNKED, HOST_RESET } };
    agent_session_desc d;
    agent_id s;
    seen k;
    int i;
    memset(&d, 0, sizeof d);
    d.max_retries = 4;
    for (i = 0; i < 4; i++) {
        host *h = host_new(NULL, via, HOST_CUT_WHOLE);
        memset(&k, 0, sizeof k);
        d.flags = i % 2 ? AGENT_S_GO_ON : 0;
        h->on = watch;
        h->arg = &k;
        s = host_session(h, &d);
        host_answers(h, &rows[i % 2], 1);
        CHECK(agent_say(h->e, s, "Hi", AGENT_CSTR) > 0);
        while (h->count[AGENT_EV_OPEN] == 0) CHECK(host_next(h) != NULL);
        CHECK(host_stop(h, s, AGENT_STOP_STEP) == AGENT_OK);
        if (i < 2) host_run(h);
        else {                                /* forced all the same: late                                               */
            while (h->count[AGENT_EV_ERROR] == 0) if (!host_next(h)) host_io(h);
            CHECK(agent_retry(h->e, s, AGENT_RETRY_NOW) == AGENT_LATE);
            host_run(h);
        }
        CHECK(h->outcome == AGENT_FAILED && k.waits == 0 && k.scopes[AGENT_SCOPE_RUN] == 1 && h->request_n == 1 && agent_deadline(h->e) == UINT64_MAX);
        over(h);
    }
}
/* Until when a provider wanted to wait is forgotten with its run.                                                       */
static void old_hint(int via)
{
    static const host_answer a[] = { { rate, 429, "retry-after: 86400\n", 0, 0 }, { "", 0, NULL, HOST_CHUNKED, HOST_HANG } };
    agent_session_desc d;
    agent_desc e;
    agent_id s;
    seen k;
    host *h;
    memset(&e, 0, sizeof e);
    memset(&d, 0, sizeof d);
    memset(&k, 0, sizeof k);
    e.limits.conns = 1;
    d.max_retries = 4;
    h = host_new(&e, via, HOST_CUT_WHOLE);
    h->on = watch;
    h->arg = &k;
    d.peer = host_peer(h);
    s = host_session(h, &d);
    host_answers(h, a, 2);
    CHECK(agent_say(h->e, s, "Hi", AGENT_CSTR) > 0);
    host_run(h);
    CHECK(k.why == AGENT_WHY_HINT && k.end_at == 86400000);
    CHECK(agent_say(h->e, host_session(h, &d), "Hang", AGENT_CSTR) > 0);
    host_run(h);
    CHECK(agent_say(h->e, s, "Again", AGENT_CSTR) > 0);       /* the only connection is in use                           */
    host_run(h);
    CHECK(k.why == AGENT_WHY_ERROR && k.waits_for == AGENT_WAITS_HOST && k.end_at == 0 && h->fault_kind == AGENT_FAULT_LIMIT);
    host_free(h);
}
/* Tokens of an attempt that failed before anything was shown are paid for.                                              */
static void paid(void)
{
    static const host_answer a[] = {
        { SSE_USAGE SSE_("{\"error\":{\"message\":\"overloaded\",\"code\":\"server_error\"}}"), 0, NULL, 0, 0 }, { SSE_TEXT("ok") SSE_STOP, 0, NULL, 0, 0 }
    };
    agent_id s;
    seen k;
    host *h = begin(AGENT_VIA_BYTES, HOST_CUT_WHOLE, a, 2, NULL, &s, &k);
    CHECK(host_wait(h) && h->outcome == AGENT_COMPLETED && k.usage.input == 20 && k.usage.output == 10);
    over(h);
}
int main(void)
{
    static const int vias[] = { AGENT_VIA_BYTES, AGENT_VIA_HTTP };
    static const int cuts[] = { HOST_CUT_WHOLE, HOST_CUT_BYTES, HOST_CUT_RANDOM };
    int v, c;
    for (v = 0; v < 2; v++) {
        for (c = 0; c < 3; c++) {
            backoff(vias[v], cuts[c]);
            broken_early(vias[v], cuts[c]);
            shown(vias[v], cuts[c]);
            go_on(vias[v], cuts[c]);
        }
        hints(vias[v]);
        never(vias[v]);
        always(vias[v]);
        host_says(vias[v]);
        stopped(vias[v]);
        old_hint(vias[v]);
    }
    jitter();
    paid();
    return test_end("retry");
}
