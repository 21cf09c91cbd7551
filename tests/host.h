/* A host in memory: it answers the requests of an engine with canned answers, whole or cut anyhow, keeps the events as lines and the
 * requests as they were sent, and checks on the way what must hold in every run (loop invariants, one CLOSE for each OPEN). */
#ifndef HOST_H
#define HOST_H
#include "test.h"
#include "check_events.h"
#ifdef HOST_RECORD
#include "examples/rerun.h"
#endif

/* ---- an allocator that counts, can refuse, and moves on every resize ---- */
typedef struct host_heap {
    long calls, fail_at, live;                /* fail_at 0: never; calls count from 1                                   */
    int fail_on;                              /* refuses everything from fail_at on                                     */
    size_t bytes, peak;
} host_heap;
static void *host_alloc(void *ctx, void *p, size_t old_n, size_t n)
{
    host_heap *h = (host_heap *)ctx;
    void *q = NULL;
    if (n) {
        h->calls++;
        if (h->fail_at && (h->fail_on ? h->calls >= h->fail_at : h->calls == h->fail_at)) return NULL;
        if ((q = malloc(n)) == NULL) abort();
        memset(q, 0xA5, n);
        if (p) memcpy(q, p, old_n < n ? old_n : n);
        h->live++;
        h->bytes += n;
    }
    if (p) {
        memset(p, 0xDD, old_n);               /* its size must be what was asked for: ASan sees to it                   */
        free(p);
        h->live--;
        h->bytes -= old_n;
    }
    if (h->bytes > h->peak) h->peak = h->bytes;
    return q;
}

/* ---- answers ---- */
enum { HOST_CHUNKED, HOST_LENGTH, HOST_CLOSE, HOST_BARE /* body: the bytes of the whole answer */ };
enum {
    HOST_GO,                                  /* complete; raw: the stream stays open                                   */
    HOST_EOF,                                 /* complete, then the stream ends                                         */
    HOST_HOLD,                                /* its last chunk (via HTTP: its eof) waits for host.release              */
    HOST_HANG,                                /* nothing more comes                                                     */
    HOST_RESET                                /* the stream breaks                                                      */
};
typedef struct host_answer { const char *body; int status; const char *headers; int framing, end; } host_answer;
#define SSE_(json) "data: " json "\n\n"
#define SSE_TEXT(t) SSE_("{\"choices\":[{\"delta\":{\"content\":\"" t "\"}}]}")
#define SSE_THINK(t) SSE_("{\"choices\":[{\"delta\":{\"reasoning_content\":\"" t "\"}}]}")
#define SSE_CALL(i, id, name, args) SSE_("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":" i ",\"id\":\"" id \
    "\",\"type\":\"function\",\"function\":{\"name\":\"" name "\",\"arguments\":\"" args "\"}}]}}]}")
#define SSE_ARGS(i, args) SSE_("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":" i ",\"function\":{\"arguments\":\"" args "\"}}]}}]}")
#define SSE_FINISH(why) SSE_("{\"choices\":[{\"delta\":{},\"finish_reason\":\"" why "\"}]}")
#define SSE_USAGE SSE_("{\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5}}")
#define SSE_DONE "data: [DONE]\n\n"
#define SSE_STOP SSE_FINISH("stop") SSE_USAGE SSE_DONE
#define SSE_TOOLS SSE_FINISH("tool_calls") SSE_USAGE SSE_DONE
/* The same of Anthropic. */
#define AN_START(i, block) SSE_("{\"type\":\"content_block_start\",\"index\":" i ",\"content_block\":{\"type\":" block "}}")
#define AN_ADD(i, delta) SSE_("{\"type\":\"content_block_delta\",\"index\":" i ",\"delta\":{\"type\":" delta "}}")
#define AN_TEXT(i, t) AN_ADD(i, "\"text_delta\",\"text\":\"" t "\"")
#define AN_THINK(i, t) AN_ADD(i, "\"thinking_delta\",\"thinking\":\"" t "\"")
#define AN_JSON(i, t) AN_ADD(i, "\"input_json_delta\",\"partial_json\":\"" t "\"")
#define AN_TOOL(i, name) AN_START(i, "\"tool_use\",\"id\":\"toolu_" i "\",\"name\":\"" name "\",\"input\":{}")
#define AN_STOP(i) SSE_("{\"type\":\"content_block_stop\",\"index\":" i "}")
#define AN_BEGIN SSE_("{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"content\":[],\"usage\":{\"input_tokens\":3}}}")
#define AN_END(why) SSE_("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" why "\"},\"usage\":{\"output_tokens\":9}}") SSE_("{\"type\":\"message_stop\"}")
#define AN_SAY(t) AN_START("0", "\"text\",\"text\":\"\"") AN_TEXT("0", t) AN_STOP("0")

/* ---- growing text ---- */
typedef struct host_text { char *p; size_t n, cap; } host_text;
static void text_add(host_text *t, const char *p, size_t n)
{
    if (t->n + n + 1 > t->cap) {
        t->cap = (t->n + n + 1) * 2;
        if ((t->p = (char *)realloc(t->p, t->cap)) == NULL) abort();
    }
    if (n) memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = 0;
}
static void text_str(host_text *t, const char *s) { text_add(t, s, strlen(s)); }
static void text_free(host_text *t) { free(t->p); memset(t, 0, sizeof *t); }

/* ---- the host ---- */
enum { HOST_CUT_WHOLE, HOST_CUT_BYTES, HOST_CUT_RANDOM, HOST_CUT_AT /* host.cut_at, each answer once */ };
enum { HOST_CONNS = 2048, HOST_REQUESTS = 1024 };
typedef struct host_conn {
    agent_id id;
    int via, opened, gone, busy;              /* busy: its answer is being played                                       */
    const host_answer *answer;
    host_text in, out;                        /* what is left to feed; what was sent of this request                    */
    size_t at, stop, body_len;                /* stop: held back from here                                              */
    unsigned requests;
} host_conn;
typedef struct host {
    agent_engine *e;
#ifdef HOST_RECORD
    host_text record;
#endif
    int via, cut, quiet;
    size_t cut_at;
    size_t ack;                               /* at most so many bytes are acknowledged at once; 0: all                 */
    uint64_t seed, now;
    const host_answer *answers; size_t answer_n, answer_at;
    int release, refuse, no_open;             /* refuse: so many OPENs fail; no_open: OPEN is left alone                */
    int (*on)(struct host *, const agent_event *);           /* 1: seen to                                               */
    void *arg;
    host_conn *conns; size_t conn_n;
    check check;
    unsigned errors, sessions;
    agent_id peer;                            /* for tests that open another session                                     */
    host_text log, body[HOST_REQUESTS], head[HOST_REQUESTS];
    size_t request_n;
    unsigned events, count[AGENT_EV_COUNT];
    host_text text;                           /* TEXT deltas of all sessions, joined                                    */
    int outcome, finish; unsigned steps;      /* of the last run                                                        */
    char fault[256]; int fault_kind, fault_status;           /* of the last ERROR                                       */
    const char *name;                         /* of the case                                                            */
    int anthropic;                            /* the format of its requests, else openai-chat                            */
} host;
#define HOST_CHECK(h, x) CHECK_CASE(x, (h)->name ? (h)->name : "")

static uint32_t host_random(host *h)
{
    h->seed = h->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(h->seed >> 33);
}
#ifdef HOST_RECORD
/* Each engine is recorded and played again: test_record_*.c are other tests with this defined.                         */
static void host_record(void *text, const void *p, size_t n) { text_add((host_text *)text, (const char *)p, n); }
static void host_rerun(host *h)
{
    rerun r;
    int rc;
    if (h->record.n == 0) return;
    rc = rerun_text(&r, h->record.p, h->record.n);
    HOST_CHECK(h, rc == 0);
    if (rc != 0) printf("line %lu: %s\n  expected %.*s\n  got %.*s\n", (unsigned long)r.line, r.why ? r.why : "", (int)r.expected_n, r.expected, (int)r.got_n, r.got);
    if (rc != 0 && getenv("HOST_RECORD")) {
        FILE *f = fopen(getenv("HOST_RECORD"), "w");
        if (f) { fwrite(h->record.p, 1, h->record.n, f); fclose(f); }
    }
    rerun_free(&r);
    if (h->check.secret) HOST_CHECK(h, !check_has(h->record.p, h->record.n, h->check.secret));
}
#endif
static host *host_new(const agent_desc *desc, int via, int cut)
{
    agent_desc d;
    host *h = (host *)calloc(1, sizeof *h);
    if (h == NULL || (h->conns = (host_conn *)calloc(HOST_CONNS, sizeof *h->conns)) == NULL) abort();
    memset(&d, 0, sizeof d);
    if (desc) d = *desc;
#ifdef HOST_RECORD
    if (d.record == NULL) { d.record = host_record; d.record_ctx = &h->record; }
#endif
    h->via = via;
    h->cut = cut;
    h->seed = 1;
    h->outcome = -1;
    check_init(&h->check, "sk-very-secret-key", d.limits.piece);
    (void)agent_open(&h->e, &d);
    return h;
}
static void host_free(host *h)
{
    size_t i;
    agent_close(h->e);
#ifdef HOST_RECORD
    host_rerun(h);
    text_free(&h->record);
#endif
    for (i = 0; i < h->conn_n; i++) { text_free(&h->conns[i].in); text_free(&h->conns[i].out); }
    for (i = 0; i < HOST_REQUESTS; i++) { text_free(&h->body[i]); text_free(&h->head[i]); }
    text_free(&h->log);
    text_free(&h->text);
    check_free(&h->check);
    free(h->conns);
    free(h);
}
static host_conn *host_conn_of(host *h, agent_id id)
{
    size_t i;
    for (i = h->conn_n; i-- > 0;) if (h->conns[i].id == id && !h->conns[i].gone) return &h->conns[i];
    return NULL;
}

/* ---- what must hold ---- */
static void host_watch(host *h, const agent_event *ev)
{
    check_event(&h->check, ev);
    if (h->check.why[0]) {
        fprintf(stderr, "%s: %s\n", h->name ? h->name : "?", h->check.why);
        HOST_CHECK(h, !"a promise was broken");
        h->check.why[0] = 0;
    } else test_passed++;
    if (ev->type == AGENT_EV_RUN_END) {
        h->outcome = ev->u.end.outcome;
        h->finish = ev->u.end.finish;
        h->steps = ev->u.end.steps;
        HOST_CHECK(h, (h->errors > 0) == (h->outcome == AGENT_FAILED) || h->sessions > 1);
        h->errors = 0;
    }
    if (ev->type == AGENT_EV_ERROR && ev->u.error.scope == AGENT_SCOPE_RUN) h->errors++;
}
/* Everything that was opened is closed, once the host has let go of what idles.                                         */
static void host_over_check(host *h)
{
    size_t i, k;
    for (i = 0; i < h->check.stream_n; i++) {
        const check_stream *s = &h->check.streams[i];
        HOST_CHECK(h, !s->in_run && !s->in_step && !s->msg && s->need_n == 0);
        for (k = 0; k < s->part_n; k++) HOST_CHECK(h, !s->parts[k].open);
    }
}

/* ---- requests ---- */
/* Splits what was sent into head and body. 0: it is not complete yet.                                                   */
static int host_request_take(host *h, host_conn *c)
{
    size_t head = 0, n;
    if (c->via == AGENT_VIA_BYTES) {
        char *end = c->out.n ? strstr(c->out.p, "\r\n\r\n") : NULL, *len;
        if (end == NULL) return 0;
        head = (size_t)(end - c->out.p) + 4;
        len = strstr(c->out.p, "\r\ncontent-length: ");
        HOST_CHECK(h, (len && len < end) != (strncmp(c->out.p, "GET ", 4) == 0));
        n = len ? (size_t)strtoul(len + 18, NULL, 10) : 0;
    } else n = c->body_len;
    if (c->out.n < head + n) return 0;
    HOST_CHECK(h, c->out.n == head + n);
    if (h->request_n == HOST_REQUESTS) abort();
    text_add(&h->head[h->request_n], c->out.p ? c->out.p : "", head);
    text_add(&h->body[h->request_n++], c->out.p ? c->out.p + head : "", n);
    c->out.n = 0;
    c->requests++;
    return 1;
}
static void host_send(host *h, host_conn *c)
{
    const char *p;
    size_t n;
    while ((p = (const char *)agent_send_buf(h->e, c->id, &n)) != NULL) {
        size_t k = h->ack && n > h->ack ? h->ack : n;
        HOST_CHECK(h, (agent_wants(h->e, c->id) & AGENT_WANT_WRITE) != 0);
        text_add(&c->out, p, k);
        HOST_CHECK(h, agent_send_ack(h->e, c->id, n + 1) == AGENT_E_ARG);
        HOST_CHECK(h, agent_send_ack(h->e, c->id, k) == AGENT_OK);
        if (k == 0) break;
    }
    HOST_CHECK(h, (agent_wants(h->e, c->id) & AGENT_WANT_WRITE) == 0);
}
static void host_chunks(host_text *t, const char *p, size_t n)
{
    char line[32];
    while (n) {
        size_t k = n < 61 ? n : 61;
        sprintf(line, "%x\r\n", (unsigned)k);
        text_str(t, line);
        text_add(t, p, k);
        text_str(t, "\r\n");
        p += k;
        n -= k;
    }
}
static void host_lines(host_text *t, const char *headers)
{
    for (; headers && *headers; headers++) text_add(t, *headers == '\n' ? "\r\n" : headers, *headers == '\n' ? 2 : 1);
}
static const char *host_headers(const host_answer *a)
{
    return a->headers ? a->headers : a->status >= 400 ? "content-type: application/json\n" : "content-type: text/event-stream\n";
}
static void host_play(host *h, host_conn *c)
{
    static const host_answer spare[] = {
        { SSE_TEXT("spare") SSE_STOP, 200, NULL, HOST_CHUNKED, HOST_GO }, { AN_BEGIN AN_SAY("spare") AN_END("end_turn"), 200, NULL, HOST_CHUNKED, HOST_GO }
    };
    const host_answer *a = h->answer_at < h->answer_n ? &h->answers[h->answer_at] : &spare[h->anthropic];
    int status = a->status ? a->status : 200;
    char line[64];
    h->answer_at++;
    c->answer = a;
    c->busy = 1;
    c->in.n = c->at = 0;
    if (c->via == AGENT_VIA_HTTP) {
        int rc = a->framing == HOST_BARE && status == 200 ? AGENT_OK : agent_http_head(h->e, c->id, status, host_headers(a), AGENT_CSTR);
        HOST_CHECK(h, rc == AGENT_OK || rc == AGENT_E_NOMEM);
        if (rc == AGENT_OK) text_str(&c->in, a->body);
        else { (void)agent_failed(h->e, c->id, AGENT_FAIL_HOST, "out of memory", AGENT_CSTR); c->busy = 0; }
        c->stop = c->in.n;
        return;
    }
    if (a->framing != HOST_BARE) {
        sprintf(line, "HTTP/1.1 %d X\r\n", status);
        text_str(&c->in, line);
        host_lines(&c->in, host_headers(a));
        if (a->framing == HOST_CHUNKED) text_str(&c->in, "Transfer-Encoding: chunked\r\n\r\n");
        else if (a->framing == HOST_LENGTH) {
            sprintf(line, "Content-Length: %lu\r\n\r\n", (unsigned long)strlen(a->body));
            text_str(&c->in, line);
        } else text_str(&c->in, "Connection: close\r\n\r\n");
    }
    if (a->framing == HOST_CHUNKED) host_chunks(&c->in, a->body, strlen(a->body)); else text_str(&c->in, a->body);
    c->stop = c->in.n;
    if (a->framing != HOST_CHUNKED || a->end == HOST_RESET || a->end == HOST_HANG) return;
    text_str(&c->in, "0\r\n\r\n");
    if (a->end != HOST_HOLD) c->stop = c->in.n;
}
static void host_over(host *h, host_conn *c)
{
    int end = c->answer->end;
    if (end == HOST_HANG) return;
    c->busy = 0;
    if (end == HOST_RESET) (void)agent_failed(h->e, c->id, AGENT_FAIL_RESET, "reset by peer", AGENT_CSTR);
    else if (end == HOST_EOF || c->via == AGENT_VIA_HTTP || c->answer->framing == HOST_CLOSE) (void)agent_eof(h->e, c->id);
}
/* Feeds the next piece. 1: something was done.                                                                          */
static int host_feed(host *h, host_conn *c)
{
    size_t stop = h->release ? c->in.n : c->stop, n = stop - c->at, taken = 0;
    if (c->at >= c->in.n && (c->answer->end != HOST_HOLD || h->release)) { host_over(h, c); return !c->busy; }
    if (n == 0) return 0;
    if (h->cut == HOST_CUT_BYTES) n = 1;
    else if (h->cut == HOST_CUT_AT && c->at < h->cut_at && c->at + n > h->cut_at) n = h->cut_at - c->at;
    else if (h->cut == HOST_CUT_RANDOM && n > 1) n = 1 + host_random(h) % (n < 90 ? n : 90);
    if (h->cut == HOST_CUT_RANDOM && host_random(h) % 2) {
        size_t cap;
        char *p = (char *)agent_recv_buf(h->e, c->id, &cap);
        if (p == NULL) { c->busy = agenti_eq(agenti_cstr(agent_last(h->e)), "out of memory") ? 0 : c->busy; return 0; }
        if (n > cap) n = cap;
        memcpy(p, c->in.p + c->at, n);
        HOST_CHECK(h, agent_recv_ack(h->e, c->id, cap + 1) == AGENT_E_ARG);
        HOST_CHECK(h, agent_recv_ack(h->e, c->id, n) == AGENT_OK);
        taken = n;
    } else {
        int rc = agent_feed(h->e, c->id, c->in.p + c->at, n, &taken);
        if (rc == AGENT_E_STATE || rc == AGENT_E_STALE || rc == AGENT_E_NOMEM) { c->busy = 0; return rc != AGENT_E_NOMEM; }
        HOST_CHECK(h, (taken > 0) == (rc == AGENT_OK));
    }
    c->at += taken;
    return 1;
}
/* One turn of input and output. 1: something moved.                                                                     */
static int host_io(host *h)
{
    size_t i;
    int moved = 0;
    for (i = 0; i < h->conn_n; i++) {
        host_conn *c = &h->conns[i];
        if (c->gone || !c->opened) continue;
        if (!c->busy) host_send(h, c);
        if (!c->busy && (c->out.n || c->via == AGENT_VIA_HTTP) && (c->via == AGENT_VIA_BYTES || c->requests == 0) && host_request_take(h, c)) {
            host_play(h, c);
            moved = 1;
        }
        if (c->busy && host_feed(h, c)) moved = 1;
    }
    return moved;
}
static void host_event(host *h, const agent_event *ev)
{
    host_conn *c;
    if (ev->type == AGENT_EV_OPEN) {
        if (h->no_open) return;
        if (h->refuse > 0) { h->refuse--; HOST_CHECK(h, agent_failed(h->e, ev->conn, AGENT_FAIL_REFUSED, "refused", AGENT_CSTR) == AGENT_OK); return; }
        if (h->conn_n == HOST_CONNS) abort();
        c = &h->conns[h->conn_n++];
        c->id = ev->conn;
        c->via = h->via;
        c->body_len = (size_t)ev->u.open.body_len;
        c->opened = 1;
        HOST_CHECK(h, agent_opened(h->e, ev->conn, h->via, c) == AGENT_OK);
        HOST_CHECK(h, agent_opened(h->e, ev->conn, h->via, c) == AGENT_E_STATE);
    } else if (ev->type == AGENT_EV_CLOSE) {
        if ((c = host_conn_of(h, ev->conn)) == NULL) return;
        HOST_CHECK(h, ev->u.io.user == c && agent_eof(h->e, ev->conn) == AGENT_E_STALE);
        c->gone = 1;
    } else if (ev->type == AGENT_EV_SEND) {
        c = host_conn_of(h, ev->conn);
        HOST_CHECK(h, h->no_open || (c && ev->u.io.user == c));
    } else if (ev->type == AGENT_EV_TOOL_RUN) {
        int rc = agent_tool_result(h->e, ev->session, ev->call, "fine", AGENT_CSTR);
        HOST_CHECK(h, rc == AGENT_OK || (rc == AGENT_E_NOMEM && agent_decline(h->e, ev) == AGENT_OK));
    }
    else if (ev->flags & AGENT_EVF_NEED) (void)agent_decline(h->e, ev);
}
/* The next event, kept, checked and seen to; NULL: none now.                                                            */
static const agent_event *host_next(host *h)
{
    const agent_event *ev = agent_next(h->e);
    char small[512];
    size_t n;
    if (ev == NULL) return NULL;
    h->events++;
    h->count[ev->type]++;
    if (!h->quiet) {
        n = agent_event_json(ev, small, sizeof small);
        if (n >= sizeof small) {
            char *big = (char *)malloc(n + 1);
            if (big == NULL) abort();
            agent_event_json(ev, big, n + 1);
            text_add(&h->log, big, n);
            free(big);
        } else text_add(&h->log, small, n);
        text_str(&h->log, "\n");
    }
    host_watch(h, ev);
    if (ev->type == AGENT_EV_RUN_START || ev->type == AGENT_EV_STEP_END) HOST_CHECK(h, agent_busy(h->e, ev->session) == 1 || ev->session == 0);
    if (ev->type == AGENT_EV_RUN_END) {
        agent_item it;
        HOST_CHECK(h, agent_busy(h->e, ev->session) == (agent_queue_at(h->e, ev->session, 0, &it) == AGENT_OK));
    }
    if (ev->type == AGENT_EV_TEXT_DELTA) text_add(&h->text, ev->text.p, ev->text.n);
    if (ev->type == AGENT_EV_ERROR) {
        n = ev->text.n < sizeof h->fault - 1 ? ev->text.n : sizeof h->fault - 1;
        memcpy(h->fault, ev->text.p, n);
        h->fault[n] = 0;
        h->fault_kind = ev->u.error.fault;
        h->fault_status = ev->u.error.http_status;
    }
    if (h->on == NULL || !h->on(h, ev)) host_event(h, ev);
    return ev;
}
/* Until nothing moves any more.                                                                                         */
static void host_run(host *h)
{
    unsigned long turns = 0;
    for (;;) {
        while (host_next(h)) if (++turns > 4000000) { HOST_CHECK(h, !"the engine does not stop"); return; }
        if (host_io(h) || agent_deadline(h->e) <= h->now) { if (++turns > 4000000) { HOST_CHECK(h, !"the engine does not stop"); return; } continue; }
        return;
    }
}

/* It is ms later, in two turns: what silence has brought about is believed when there was a turn to feed what came meanwhile. */
static uint64_t host_later(host *h, uint64_t ms)
{
    h->now += ms;
    CHECK(agent_tick(h->e, h->now, 0) == AGENT_OK);
    host_run(h);
    return h->now;
}
/* The clock goes to the next deadline; 0: there is none.                                                                */
static int host_wait(host *h)
{
    uint64_t at = agent_deadline(h->e);
    if (at == UINT64_MAX) return 0;
    (void)host_later(h, at > h->now ? at - h->now : 0);
    return 1;
}

/* host_feed gives up when there is no memory: it tries again, and when nothing helps the stream breaks.        */
static void host_pump(host *h)
{
    int tries;
    for (tries = 0; tries < 4; tries++) {
        size_t i;
        int stuck = 0;
        host_run(h);
        for (i = 0; i < h->conn_n; i++) {
            host_conn *c = &h->conns[i];
            if (c->gone || !c->answer || c->busy || c->at >= c->in.n) continue;
            stuck = 1;
            if (tries < 2) c->busy = 1;
            else { (void)agent_failed(h->e, c->id, AGENT_FAIL_HOST, "out of memory", AGENT_CSTR); c->at = c->in.n; }
        }
        if (!stuck) return;
    }
    host_run(h);
}

/* ---- requests that a provider accepts ---- */
static int host_str_same(agent_str a, agent_str b) { return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0); }
static const char *host_body_fault(agent_str json)
{
    agent_str messages = agent_json_get(json, "messages"), m, calls = { NULL, 0 }, call, content;
    size_t pos = 0, cpos = 0;
    const char *last = "";
    if (agent_json_check(json.p, json.n, 64, NULL) != AGENT_OK) return "no JSON";
    if (messages.n == 0 || messages.p[0] != '[') return "no messages";
    while (agent_json_each(messages, &pos, NULL, &m)) {
        agent_str role = agent_json_get(m, "role"), id = agent_json_get(m, "tool_call_id");
        content = agent_json_get(m, "content");
        if (agent_json_is(role, "tool")) {
            if (calls.p == NULL || !agent_json_each(calls, &cpos, NULL, &call)) return "an orphan result";
            if (!host_str_same(agent_json_get(call, "id"), id)) return "results are not in call order";
            if (content.n <= 2) return "an empty result";
            last = "tool";
            continue;
        }
        if (calls.p && agent_json_each(calls, &cpos, NULL, &call)) return "a call without its result";
        calls = agent_json_get(m, "tool_calls");
        cpos = 0;
        last = agent_json_is(role, "user") ? "user" : agent_json_is(role, "assistant") ? "assistant" : agent_json_is(role, "system") ? "system" : "?";
        if (*last == '?') return "a strange role";
        if (calls.p == NULL && (content.n <= 2 || content.p[0] == 'n')) return "an empty message";
        if (calls.p && agent_json_get(calls, "[0]").p == NULL) return "an empty list of calls";
        for (; calls.p && agent_json_each(calls, &cpos, NULL, &call);) {
            char args[4096];
            size_t n = agent_json_text(agent_json_get(call, "function.arguments"), args, sizeof args);
            if (agent_json_get(call, "id").n <= 2 || agent_json_get(call, "function.name").n <= 2) return "a call without id or name";
            if (n < sizeof args && (agent_json_check(args, n, 64, NULL) != AGENT_OK || args[0] != '{')) return "arguments are no object";
        }
        cpos = 0;
    }
    if (calls.p && agent_json_each(calls, &cpos, NULL, &call)) return "a call without its result";
    return strcmp(last, "user") && strcmp(last, "tool") ? "the last message is not the user's or a result" : NULL;
}
/* The same of Anthropic: roles take turns, each call has its result in the next message, each call that the provider runs in its own
 * unless the message is the last one or results follow it, each result its call before it.                            */
typedef struct host_ids { agent_str id[512]; size_t n; } host_ids;
static int host_ids_take(host_ids *l, agent_str id)
{
    size_t i;
    for (i = 0; i < l->n && !host_str_same(l->id[i], id); i++) {}
    if (i == l->n) return 0;
    l->id[i] = l->id[--l->n];
    return 1;
}
static void host_ids_add(host_ids *l, agent_str id) { if (l->n < 512) l->id[l->n++] = id; }
static int host_type_ends(agent_str type, const char *end)                       /* with its quotes                      */
{
    size_t n = strlen(end);
    return type.n > n + 2 && memcmp(type.p + type.n - 1 - n, end, n) == 0;
}
static const char *host_anthropic_fault(agent_str json)
{
    agent_str messages = agent_json_get(json, "messages"), m, block, content, type, text;
    host_ids calls, ran;
    size_t pos = 0, bpos, blocks;
    int user, was = 0, texts, results;
    calls.n = ran.n = 0;
    if (agent_json_check(json.p, json.n, 64, NULL) != AGENT_OK) return "no JSON";
    if (messages.n == 0 || agent_json_get(json, "max_tokens").n == 0) return "no messages or max_tokens";
    while (agent_json_each(messages, &pos, NULL, &m)) {
        user = agent_json_is(agent_json_get(m, "role"), "user");
        content = agent_json_get(m, "content");
        if (user == was) return "roles do not take turns";
        was = user;
        for (bpos = blocks = 0, texts = results = 0; agent_json_each(content, &bpos, NULL, &block); blocks++) {
            type = agent_json_get(block, "type");
            text = agent_json_get(block, "text");
            if (agent_json_is(type, "text") && (texts = 1) != 0 && text.n <= 2) return "an empty text";
            if (agent_json_is(type, "tool_result") && (texts || ++results < 0 || !host_ids_take(&calls, agent_json_get(block, "tool_use_id"))))
                return "an orphan result, or one behind text";
            else if (host_type_ends(type, "_tool_result") && !host_ids_take(&ran, agent_json_get(block, "tool_use_id"))) return "a provider's result without its call";
            if (agent_json_is(type, "tool_use")) host_ids_add(&calls, agent_json_get(block, "id"));
            if (host_type_ends(type, "_tool_use")) host_ids_add(&ran, agent_json_get(block, "id"));
            if (agent_json_is(type, "tool_use") && agent_json_get(block, "input").p[0] != '{') return "arguments are no object";
            if (agent_json_is(type, "thinking") && agent_json_get(block, "signature").n <= 2) return "thinking without signature";
        }
        if (blocks == 0) return "a message without content";
        if (user && calls.n) return "a call without its result";
        if (user && ran.n && !results) return "a provider's call without its result";
    }
    return calls.n ? "a call without its result" : NULL;
}
static agent_str host_body(const host *h, size_t i)
{
    agent_str s;
    s.p = i < h->request_n && h->body[i].p ? h->body[i].p : "";
    s.n = i < h->request_n ? h->body[i].n : 0;
    return s;
}
static void host_bodies_check(host *h)
{
    size_t i;
    for (i = 0; i < h->request_n; i++) {
        const char *why = h->anthropic ? host_anthropic_fault(host_body(h, i)) : host_body_fault(host_body(h, i));
        if (why) { fprintf(stderr, "request %u: %s: %s\n", (unsigned)i, why, h->body[i].p); HOST_CHECK(h, !"a request that no provider accepts"); }
        else test_passed++;
    }
}

/* ---- shortcuts ---- */
static agent_id host_peer_of(host *h, const char *provider)
{
    agent_peer_desc p;
    memset(&p, 0, sizeof p);
    h->anthropic = strcmp(provider, "anthropic") == 0;
    p.provider = provider;
    p.url = "http://model.test:8080/v1";
    p.key = "sk-very-secret-key";
    return agent_peer_open(h->e, &p);
}
static agent_id host_peer(host *h) { return host_peer_of(h, "openai-compatible"); }
static const agent_tool host_tools[] = {
    { "alpha", "the first", "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"integer\"}}}", 0, 0, NULL }, { "beta", NULL, NULL, 0, 0, NULL },
    { "solo", NULL, NULL, AGENT_TF_SERIAL, 0, NULL }
};
static agent_id host_session(host *h, const agent_session_desc *desc)
{
    agent_session_desc d;
    memset(&d, 0, sizeof d);
    if (desc) d = *desc;
    if (d.peer == 0) d.peer = host_peer(h);
    if (d.model == NULL) d.model = "m1";
    if (d.tools == NULL) { d.tools = host_tools; d.tool_count = 3; }
    if (d.max_retries == 0) d.max_retries = AGENT_OFF;       /* who tests them says so                                   */
    if (d.grace_ms == 0) d.grace_ms = AGENT_OFF;
    h->sessions++;
    return agent_session_open(h->e, &d);
}
static int host_cancel(host *h, agent_id s)
{
    size_t i;
    for (i = 0; i < h->check.stream_n; i++) if (h->check.streams[i].id == s && h->check.streams[i].in_run) h->check.streams[i].cancelled = 1;
    return agent_cancel(h->e, s);
}
static int host_stop(host *h, agent_id s, int when)
{
    check_stop(&h->check, s, when);
    return agent_stop(h->e, s, when);
}
/* What runs now may run again, if its tool is one that may.                                                            */
static void host_may_run_again(check *c, agent_engine *e, agent_id id)
{
    const agenti_msg *m = agenti_session_get(e, id)->answer.results;
    uint32_t i;
    for (i = 0; m && !m->ended && i < m->n; i++) {
        check_call *k = check_call_of(check_stream_of(c, id), m->parts[i].call);
        if (k && m->parts[i].state == AGENTI_CALL_RUNNING) k->ran = k->stopped = 0;
    }
}
/* A session that is saved, in pieces of `piece`, loaded into a new one in such pieces, and closed: the new one. 0: *rc says why not, and all is as
 * it was. */
static agent_id host_reload(check *c, agent_engine *e, agent_id s, const agent_session_desc *d, size_t piece, int *rc)
{
    host_text saved = { NULL, 0, 0 };
    char buf[4096];
    agent_mark mark;
    agent_id other;
    size_t n, at;
    memset(&mark, 0, sizeof mark);
    do {
        *rc = agent_save(e, s, &mark, buf, piece < 64 ? 64 : piece < sizeof buf ? piece : sizeof buf, &n);
        text_add(&saved, buf, n);
    } while (*rc == AGENT_MORE);
    other = *rc == AGENT_OK ? agent_session_open(e, d) : 0;
    if (other == 0 && *rc == AGENT_OK) *rc = AGENT_E_NOMEM;
    for (at = 0; *rc == AGENT_OK && at < saved.n; at += n) {
        n = saved.n - at < piece ? saved.n - at : piece;
        *rc = agent_load(e, other, saved.p + at, n);
    }
    if (*rc == AGENT_OK) *rc = agent_load(e, other, NULL, 0);
    text_free(&saved);
    if (*rc == AGENT_OK) {
        host_may_run_again(c, e, s);
        CHECK(agent_session_close(e, s) == AGENT_OK);
        check_reloaded(c, s, other);
        return other;
    }
    if (other) CHECK(agent_session_close(e, other) == AGENT_OK);
    return 0;
}
static void host_answers(host *h, const host_answer *a, size_t n) { h->answers = a; h->answer_n = n; h->answer_at = 0; }
static const char *host_log(const host *h) { return h->log.p ? h->log.p : ""; }
static int host_said(const host *h, const char *what) { return strstr(host_log(h), what) != NULL; }
#endif
