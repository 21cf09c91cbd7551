/* Connections from outside: opening, keep-alive and what breaks it, draining, the bytes of a request, headers and the key, limits. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

#define ONE { SSE_TEXT("one") SSE_STOP, 0, NULL, HOST_CHUNKED, HOST_GO }
static host *begin(int via, int cut, const agent_desc *d, const host_answer *a, size_t n, agent_id *s)
{
    host *h = host_new(d, via, cut);
    *s = host_session(h, NULL);
    host_answers(h, a, n);
    agent_say(h->e, *s, "Hi", AGENT_CSTR);
    host_run(h);
    return h;
}
static void again(host *h, agent_id s) { agent_say(h->e, s, "more", AGENT_CSTR); host_run(h); }
static void finish(host *h)
{
    size_t i, n = h->conn_n;
    host_bodies_check(h);
    host_over_check(h);
    for (i = 0; i < n; i++) if (!h->conns[i].gone) agent_eof(h->e, h->conns[i].id);
    host_run(h);
    for (i = 0; i < n; i++) CHECK(h->conns[i].gone);
    CHECK(h->count[AGENT_EV_OPEN] == h->count[AGENT_EV_CLOSE] && h->check.conn_n == 0);
    host_free(h);
}

/* ---- keep-alive ---- */
static void reuse(int cut)
{
    static const host_answer kinds[] = {
        ONE, { SSE_TEXT("one") SSE_STOP, 0, NULL, HOST_LENGTH, HOST_GO }, { SSE_TEXT("one") SSE_STOP, 0, NULL, HOST_CHUNKED, HOST_EOF },
        { SSE_TEXT("one") SSE_STOP, 0, NULL, HOST_CLOSE, HOST_EOF }, { SSE_TEXT("one") SSE_STOP, 0, NULL, HOST_CLOSE, HOST_HANG },
        { SSE_TEXT("one") SSE_STOP, 0, "content-type: text/event-stream\nconnection: close\n", HOST_CHUNKED, HOST_GO },
        { "{\"error\":{\"message\":\"no\"}}", 429, NULL, HOST_LENGTH, HOST_GO },
        { "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 14\r\n\r\ndata: [DONE]\n\n", 0, NULL, HOST_BARE, HOST_GO }
    };
    static const int reused[] = { 1, 1, 0, 0, 0, 0, 1, 0 };
    size_t i;
    for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        agent_id s;
        char name[16];
        host *h = begin(AGENT_VIA_BYTES, cut, NULL, &kinds[i], 1, &s);
        sprintf(name, "reuse %d", (int)i);
        h->name = name;
        HOST_CHECK(h, h->count[AGENT_EV_RUN_END] == 1 && h->count[AGENT_EV_OPEN] == 1);
        HOST_CHECK(h, (h->count[AGENT_EV_CLOSE] == 0) == reused[i]);
        again(h, s);
        HOST_CHECK(h, h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_SEND] == (unsigned)reused[i] && h->count[AGENT_EV_OPEN] == (unsigned)(2 - reused[i]));
        again(h, s);
        HOST_CHECK(h, h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_SEND] == (unsigned)reused[i] + 1);
        finish(h);
    }
}
/* Two steps of one run: no time passes between them.                                                                    */
static void reuse_in_run(int cut, int end)
{
    host_answer a[2] = { { SSE_CALL("0", "c1", "alpha", "{}") SSE_TOOLS, 0, NULL, HOST_CHUNKED, HOST_GO }, ONE };
    agent_desc d;
    agent_id s;
    host *h;
    memset(&d, 0, sizeof d);
    d.limits.conns = 1;                       /* the old one must be gone first                                          */
    a[0].end = end;
    if (end == HOST_EOF) a[0].headers = "content-type: text/event-stream\nconnection: close\n";
    if (end == HOST_HANG) a[0].framing = HOST_CLOSE;
    h = begin(AGENT_VIA_BYTES, cut, &d, a, 2, &s);
    CHECK(h->outcome == AGENT_COMPLETED && h->request_n == 2 && h->count[AGENT_EV_OPEN] + h->count[AGENT_EV_SEND] == 2);
    CHECK(h->count[AGENT_EV_SEND] == (end == HOST_GO));
    finish(h);
}
static void one_conn_two_peers(int via)                      /* idle connections make room                               */
{
    agent_desc d;
    agent_id s[3];
    int i, k;
    host *h;
    memset(&d, 0, sizeof d);
    d.limits.conns = 1;
    h = host_new(&d, via, HOST_CUT_WHOLE);
    for (i = 0; i < 3; i++) s[i] = host_session(h, NULL);
    for (k = 0; k < 3; k++) for (i = 0; i < 3; i++) {
        again(h, s[i]);
        CHECK(h->outcome == AGENT_COMPLETED);
    }
    finish(h);
}
typedef struct stale { int how; agent_id s; } stale;
enum { STALE_EOF, STALE_FAILED, STALE_TWICE, STALE_REFUSED, STALE_AFTER_BYTE };
static int at_send(host *h, const agent_event *ev)           /* the other end had closed it meanwhile                    */
{
    stale *x = (stale *)h->arg;
    if (ev->type == AGENT_EV_OPEN && h->count[AGENT_EV_OPEN] == 2 && x->how == STALE_REFUSED) { agent_failed(h->e, ev->conn, AGENT_FAIL_REFUSED, "gone", 4); return 1; }
    if (ev->type == AGENT_EV_OPEN && h->count[AGENT_EV_OPEN] == 2 && x->how == STALE_TWICE) {
        agent_opened(h->e, ev->conn, AGENT_VIA_BYTES, NULL);
        agent_eof(h->e, ev->conn);
        return 1;
    }
    if (ev->type != AGENT_EV_SEND) return 0;
    if (x->how == STALE_AFTER_BYTE) CHECK(agent_feed(h->e, ev->conn, "HTTP", 4, NULL) == AGENT_OK);
    if (x->how == STALE_FAILED) agent_failed(h->e, ev->conn, AGENT_FAIL_RESET, "reset", 5); else agent_eof(h->e, ev->conn);
    return 0;
}
static void stale_reuse(int cut)
{
    static const host_answer a[] = { ONE, { SSE_TEXT("two") SSE_STOP, 0, NULL, 0, 0 } };
    stale x;
    for (x.how = STALE_EOF; x.how <= STALE_AFTER_BYTE; x.how++) {
        host *h = begin(AGENT_VIA_BYTES, cut, NULL, a, 2, &x.s);
        h->arg = &x;
        h->on = at_send;
        again(h, x.s);
        CHECK(h->count[AGENT_EV_SEND] == 1 && h->count[AGENT_EV_STEP_START] == 2);
        if (x.how <= STALE_FAILED) CHECK(h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_OPEN] == 2 && h->count[AGENT_EV_ERROR] == 0);
        else CHECK(h->outcome == AGENT_FAILED && h->fault_kind == AGENT_FAULT_TRANSPORT && h->count[AGENT_EV_OPEN] == (x.how == STALE_AFTER_BYTE ? 1u : 2u));
        h->on = NULL;
        again(h, x.s);
        CHECK(h->outcome == AGENT_COMPLETED);
        finish(h);
    }
}
/* What happens on an idle connection, told before or after the next submit.                                             */
static void idle(int what, int late)
{
    static const host_answer a[] = { ONE, { SSE_TEXT("two") SSE_STOP, 0, NULL, 0, 0 } };
    static const char poison[] = "HTTP/1.1 200 OK\r\nContent-Length: 62\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"evil\"}}]}\n\ndata: [DONE]\n\n";
    agent_id s;
    host *h = begin(AGENT_VIA_BYTES, HOST_CUT_WHOLE, NULL, a, 2, &s);
    agent_id c = h->conns[0].id;
    CHECK(agent_wants(h->e, c) == AGENT_WANT_READ);
    if (late) agent_say(h->e, s, "more", AGENT_CSTR);
    if (what == 0) CHECK(agent_feed(h->e, c, poison, sizeof poison - 1, NULL) == AGENT_OK);
    if (what == 1) CHECK(agent_eof(h->e, c) == AGENT_OK);
    if (what == 2) CHECK(agent_failed(h->e, c, AGENT_FAIL_RESET, NULL, 0) == AGENT_OK);
    if (what == 3) CHECK(agent_feed(h->e, c, "\r", 1, NULL) == AGENT_OK);
    if (!late) {
        host_run(h);
        CHECK(h->count[AGENT_EV_CLOSE] == 1 && agent_wants(h->e, c) == 0);
        agent_say(h->e, s, "more", AGENT_CSTR);
    }
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_OPEN] == 2 && h->count[AGENT_EV_CLOSE] == 1 && h->count[AGENT_EV_SEND] == 0);
    CHECK(!host_said(h, "evil") && host_said(h, "two"));
    finish(h);
}
static void drain(int cut, int how)
{
    static const host_answer a[] = { { SSE_CALL("0", "c1", "alpha", "{}") SSE_TOOLS, 0, NULL, HOST_CHUNKED, HOST_HOLD }, ONE };
    agent_id s;
    agent_desc d;
    host *h;
    memset(&d, 0, sizeof d);
    d.limits.conns = 1;
    h = host_new(&d, AGENT_VIA_BYTES, cut);
    h->name = how == 0 ? "drain 0" : how == 1 ? "drain 1" : how == 2 ? "drain 2" : how == 3 ? "drain 3" : how == 4 ? "drain 4" : "drain 5";
    agent_tick(h->e, 5000, 0);
    s = host_session(h, NULL);
    host_answers(h, a, 2);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    while (h->count[AGENT_EV_STEP_START] < 2) if (host_next(h) == NULL && !host_io(h)) break;
    while (host_next(h)) {}
    CHECK(h->count[AGENT_EV_STEP_START] == 2 && h->count[AGENT_EV_OPEN] == 1 && h->count[AGENT_EV_SEND] == 0);
    CHECK(agent_deadline(h->e) == 6000);
    if (how == 0) {                           /* its end comes: it is used again                                         */
        h->release = 1;
        host_run(h);
        CHECK(h->count[AGENT_EV_OPEN] == 1 && h->count[AGENT_EV_SEND] == 1);
    } else if (how == 1) {                    /* it does not                                                             */
        agent_tick(h->e, 5999, 0);
        CHECK(host_next(h) == NULL);
        agent_tick(h->e, 6000, 0);
        host_run(h);
        CHECK(h->count[AGENT_EV_OPEN] == 2 && h->count[AGENT_EV_CLOSE] == 1);
    } else if (how == 2) {                    /* it ends badly                                                           */
        agent_failed(h->e, h->conns[0].id, AGENT_FAIL_RESET, NULL, 0);
        host_run(h);
        CHECK(h->count[AGENT_EV_OPEN] == 2 && h->count[AGENT_EV_CLOSE] == 1);
    } else if (how == 3) {                    /* more than the end                                                       */
        CHECK(agent_feed(h->e, h->conns[0].id, "0\r\n\r\nHTTP/1.1 200", 17, NULL) == AGENT_OK);
        h->conns[0].busy = 0;
        host_run(h);
        CHECK(h->count[AGENT_EV_OPEN] == 2 && h->count[AGENT_EV_CLOSE] == 1);
    } else if (how == 4) {                    /* garbage                                                                 */
        CHECK(agent_feed(h->e, h->conns[0].id, "zz\r\n", 4, NULL) == AGENT_OK);
        host_run(h);
        CHECK(h->count[AGENT_EV_OPEN] == 2 && h->count[AGENT_EV_CLOSE] == 1);
    } else {                                  /* a cancel does not wait for it                                           */
        host_cancel(h, s);
        host_run(h);
        CHECK(h->outcome == AGENT_CANCELLED && h->count[AGENT_EV_OPEN] == 1);
        again(h, s);
        h->release = 1;
        host_run(h);
    }
    CHECK(h->outcome == AGENT_COMPLETED && agent_deadline(h->e) == UINT64_MAX);
    finish(h);
}
/* A connection that will not be used again is not waited for.                                                           */
static void no_drain(void)
{
    static const host_answer a[] = {
        { SSE_CALL("0", "c1", "alpha", "{}") SSE_TOOLS, 0, "content-type: text/event-stream\nconnection: close\n", HOST_CHUNKED, HOST_HOLD }, ONE };
    agent_id s;
    host *h = begin(AGENT_VIA_BYTES, HOST_CUT_WHOLE, NULL, a, 2, &s);
    CHECK(h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_OPEN] == 2 && h->count[AGENT_EV_CLOSE] == 1);
    finish(h);
}
/* A host that always keeps a read going (io_uring) still gets keep-alive.                                               */
static void reserved_always(void)
{
    static const char body[] = SSE_TEXT("one") SSE_STOP;
    char answer[2048];
    int run;
    host *h = host_new(NULL, AGENT_VIA_BYTES, HOST_CUT_WHOLE);
    agent_id s = host_session(h, NULL), c = 0;
    h->no_open = 1;
    for (run = 0; run < 3; run++) {
        const agent_event *ev;
        size_t at = 0, n, cap, k;
        char *p;
        sprintf(answer, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", (int)strlen(body), body);
        n = strlen(answer);
        agent_say(h->e, s, "Hi", 2);
        while ((ev = host_next(h)) != NULL) if (ev->type == AGENT_EV_OPEN) {
            c = ev->conn;
            CHECK(agent_opened(h->e, c, AGENT_VIA_BYTES, NULL) == AGENT_OK);
            CHECK((p = (char *)agent_recv_buf(h->e, c, &cap)) != NULL);
        }
        while (agent_send_buf(h->e, c, &k)) agent_send_ack(h->e, c, k);
        while (at < n) {
            p = (char *)agent_recv_buf(h->e, c, &cap);
            k = n - at < 100 ? n - at : 100;
            CHECK(p && cap >= 1);
            if (p == NULL) break;
            if (k > cap) k = cap;
            memcpy(p, answer + at, k);
            at += k;
            CHECK(agent_recv_ack(h->e, c, k) == AGENT_OK);
            CHECK(agent_recv_buf(h->e, c, &cap) != NULL);     /* at once again                                            */
            while ((ev = host_next(h)) != NULL) {}
        }
        CHECK(h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_CLOSE] == 0 && h->count[AGENT_EV_SEND] == (unsigned)run);
        h->outcome = -1;
    }
    CHECK(agent_feed(h->e, c, "x", 1, NULL) == AGENT_E_STATE);
    CHECK(agent_recv_ack(h->e, c, 0) == AGENT_OK && agent_recv_ack(h->e, c, 0) == AGENT_E_STATE);
    host_free(h);
}

/* A reservation stays, also after its CLOSE, until it is given back: the host hears of the CLOSE while a read goes on.   */
static void reserved_at_close(int how)
{
    const agent_event *ev;
    agent_id s, c = 0;
    size_t cap = 0, full, now;
    int i;
    char *p = NULL;
    host *h = host_new(NULL, AGENT_VIA_BYTES, HOST_CUT_WHOLE);
    s = host_session(h, NULL);
    h->no_open = 1;
    agent_say(h->e, s, "Hi", 2);
    while ((ev = host_next(h)) != NULL) if (ev->type == AGENT_EV_OPEN) {
        c = ev->conn;
        CHECK(agent_opened(h->e, c, AGENT_VIA_BYTES, NULL) == AGENT_OK);
    }
    CHECK((p = (char *)agent_recv_buf(h->e, c, &cap)) != NULL);
    if (p == NULL) { host_free(h); return; }
    if (how == 0) host_cancel(h, s);
    else if (how == 1) CHECK(agent_eof(h->e, c) == AGENT_OK);
    else if (how == 2) CHECK(agent_failed(h->e, c, AGENT_FAIL_RESET, NULL, 0) == AGENT_OK);
    else CHECK(agent_session_close(h->e, s) == AGENT_OK);
    host_run(h);
    CHECK(h->count[AGENT_EV_CLOSE] == 1 && agent_deadline(h->e) == UINT64_MAX);
    agent_memory(h->e, 0, &full, NULL);
    for (i = 0; i < 3; i++) { CHECK(agent_next(h->e) == NULL); memset(p, 'x', cap); }
    CHECK(agent_feed(h->e, c, "x", 1, NULL) == AGENT_E_STALE && agent_wants(h->e, c) == 0 && agent_recv_buf(h->e, c, &now) == NULL);
    if (how != 3) CHECK(agent_recv_ack(h->e, c, cap + 1) == AGENT_E_ARG && agent_recv_ack(h->e, c, cap) == AGENT_OK && agent_recv_ack(h->e, c, 0) == AGENT_E_STALE);
    CHECK(agent_next(h->e) == NULL);
    agent_memory(h->e, 0, &now, NULL);
    CHECK((now < full - cap) == (how != 3));  /* how 3: agent_close takes it away                                        */
    host_free(h);
}

/* ---- opening ---- */
static void not_opened(int via)
{
    static const agent_event zero_event = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, { NULL, 0 }, { NULL, 0 }, { { { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, 0, 0, 0, 0, 0 } } };
    agent_event open = zero_event;
    const agent_event *ev;
    agent_id s;
    size_t n;
    host *h = host_new(NULL, via, HOST_CUT_WHOLE);
    s = host_session(h, NULL);
    h->refuse = 1;
    agent_say(h->e, s, "Hi", 2);
    host_run(h);
    CHECK(h->outcome == AGENT_FAILED && h->fault_kind == AGENT_FAULT_TRANSPORT && strcmp(h->fault, "refused") == 0 && h->count[AGENT_EV_CLOSE] == 1);
    CHECK(host_said(h, "\"why\":1"));
    h->no_open = 1;
    agent_say(h->e, s, "Hi", 2);
    while ((ev = host_next(h)) != NULL) if (ev->type == AGENT_EV_OPEN) open = *ev;
    CHECK(agent_eof(h->e, open.conn) == AGENT_E_STATE && agent_feed(h->e, open.conn, "x", 1, NULL) == AGENT_E_STATE);
    CHECK(agent_send_buf(h->e, open.conn, &n) == NULL && n == 0 && agent_recv_buf(h->e, open.conn, &n) == NULL && n == 0);
    CHECK(agent_send_ack(h->e, open.conn, 1) == AGENT_E_ARG && agent_send_rewind(h->e, open.conn) == AGENT_E_STATE);
    CHECK(agent_http_head(h->e, open.conn, 200, "", 0) == AGENT_E_STATE && agent_wants(h->e, open.conn) == 0);
    CHECK(agent_opened(h->e, open.conn, 7, NULL) == AGENT_E_ARG && agent_opened(h->e, open.conn + 1, via, NULL) == AGENT_E_STALE);
    host_cancel(h, s);                        /* cancelled while it opens: the answer comes late                         */
    CHECK(agent_opened(h->e, open.conn, via, NULL) == AGENT_OK || agent_opened(h->e, open.conn, via, NULL) == AGENT_E_STALE);
    host_run(h);
    CHECK(h->outcome == AGENT_CANCELLED && h->count[AGENT_EV_CLOSE] == 2);
    CHECK(agent_opened(h->e, open.conn, via, NULL) == AGENT_E_STALE && agent_failed(h->e, open.conn, 1, NULL, 0) == AGENT_E_STALE);
    CHECK(agent_decline(h->e, &open) == AGENT_LATE && agent_eof(h->e, open.conn) == AGENT_E_STALE);
    agent_say(h->e, s, "Hi", 2);
    while ((ev = host_next(h)) != NULL) if (ev->type == AGENT_EV_OPEN) open = *ev;
    CHECK(agent_decline(h->e, &open) == AGENT_OK && agent_decline(h->e, &open) == AGENT_LATE);
    host_run(h);
    CHECK(h->outcome == AGENT_FAILED);
    h->no_open = 0;
    agent_say(h->e, s, "Hi", 2);
    while (h->count[AGENT_EV_OPEN] < 4) { ev = host_next(h); if (ev && ev->type == AGENT_EV_OPEN) open = *ev; }
    CHECK(agent_decline(h->e, &open) == AGENT_LATE);          /* opened already: a no changes nothing                     */
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED);
    finish(h);
}

static void closed_while_opening(int via, int cancel)        /* nothing of a closed session comes but CLOSE              */
{
    const agent_event *ev;
    agent_id s;
    host *h = host_new(NULL, via, HOST_CUT_WHOLE);
    s = host_session(h, NULL);
    h->no_open = 1;
    agent_say(h->e, s, "Hi", 2);
    while (host_next(h)) {}
    if (cancel) {
        host_cancel(h, s);
        while (h->count[AGENT_EV_RUN_END] == 0) (void)host_next(h);
    }
    CHECK(agent_session_close(h->e, s) == AGENT_OK);
    check_session_closed(&h->check, s);
    while ((ev = host_next(h)) != NULL) CHECK(ev->type == AGENT_EV_CLOSE);
    CHECK(h->count[AGENT_EV_CLOSE] == 1);
    host_free(h);
}

/* ---- the request ---- */
static void pieces(int via, size_t ack)
{
    host_text longer = { NULL, 0, 0 }, sent = { NULL, 0, 0 }, whole = { NULL, 0, 0 };
    agent_part part;
    int i, rewinds = 0, bad = 0;
    size_t n, left;
    const char *p;
    const agent_event *ev;
    agent_id s, c = 0;
    uint64_t body_len = 0;
    host *h = host_new(NULL, via, HOST_CUT_WHOLE);
    s = host_session(h, NULL);
    memset(&part, 0, sizeof part);
    for (i = 0; i < 3000; i++) text_str(&longer, "\\ \"word\" ");
    for (i = 0; i < 300; i++) {
        part.text.p = longer.p;
        part.text.n = (size_t)(i * 37) % 900 + (i % 50 == 0 ? 20000 : 1);
        agent_message_add(h->e, s, i % 2 ? AGENT_MODEL : AGENT_USER, &part, 1);
    }
    agent_say(h->e, s, "Hi", 2);
    h->no_open = 1;
    while ((ev = host_next(h)) != NULL) if (ev->type == AGENT_EV_OPEN) { c = ev->conn; body_len = ev->u.open.body_len; }
    agent_opened(h->e, c, via, NULL);
    while ((p = (const char *)agent_send_buf(h->e, c, &n)) != NULL) {         /* whole pieces first                       */
        text_add(&whole, p, n);
        CHECK(agent_send_ack(h->e, c, n) == AGENT_OK);
    }
    CHECK(agent_send_rewind(h->e, c) == AGENT_OK);
    left = whole.n;
    while ((p = (const char *)agent_send_buf(h->e, c, &n)) != NULL) {
        size_t k = ack && ack < n ? ack : n, m;
        bad += !(n >= 4096 || n == left || ack);              /* after a part of a piece was taken, its rest may be short */
        bad += agent_send_buf(h->e, c, &m) != p || m != n || agent_send_ack(h->e, c, n + 1) != AGENT_E_ARG;
        text_add(&sent, p, k);
        bad += agent_send_ack(h->e, c, k) != AGENT_OK;
        left -= k;
        if (rewinds < 3 && sent.n > whole.n / 2) {
            rewinds++;
            CHECK(agent_send_rewind(h->e, c) == AGENT_OK);
            sent.n = 0;
            left = whole.n;
        }
    }
    CHECK(bad == 0 && sent.n == whole.n && memcmp(sent.p, whole.p, whole.n) == 0);
    p = via == AGENT_VIA_BYTES ? strstr(whole.p, "\r\n\r\n") + 4 : whole.p;
    CHECK((size_t)(whole.p + whole.n - p) == body_len && host_body_fault(agenti_str(p, (size_t)body_len)) == NULL);
    if (via == AGENT_VIA_BYTES) CHECK(agent_feed(h->e, c, "HTTP/1.1 200 OK\r\n", 17, NULL) == AGENT_OK);
    else CHECK(agent_http_head(h->e, c, 200, "", 0) == AGENT_OK && agent_http_head(h->e, c, 200, "", 0) == AGENT_E_STATE);
    while (host_next(h)) {}
    CHECK(agent_send_rewind(h->e, c) == AGENT_E_STATE);
    text_free(&longer);
    text_free(&sent);
    text_free(&whole);
    host_free(h);
}
static int has_header(host *h, agent_id c, const char *name, agent_str *value)
{
    agent_str n;
    size_t i;
    int found = 0;
    for (i = 0; agent_open_header(h->e, c, i, &n, value) == AGENT_OK; i++) if (agenti_ieq(n, name)) { found++; break; }
    return found;
}
static void headers(int via)
{
    static const char *const bad[] = { "X: a\rb\n", "no colon\n", ": x\n", "X y: z\n", "X: a\x01z\n", "Content-Length: 3\n", "Transfer-Encoding: chunked\n", "content-length:9" };
    agent_peer_desc p;
    agent_session_desc d;
    agent_id s, c = 0;
    agent_str v;
    const agent_event *ev;
    size_t i;
    host *h = host_new(NULL, via, HOST_CUT_WHOLE);
    memset(&p, 0, sizeof p);
    memset(&d, 0, sizeof d);
    p.provider = "openai-compatible";
    p.url = "https://gate.test/v1/";
    p.key = "sk-very-secret-key";
    for (i = 0; i < sizeof bad / sizeof *bad; i++) { p.headers = bad[i]; CHECK_CASE(agent_peer_open(h->e, &p) == 0 && agent_last(h->e)[0], bad[i]); }
    p.headers = "X-Extra: 1\nUser-Agent: mine\n\nHost: virtual.test\r\n";
    d.peer = agent_peer_open(h->e, &p);
    s = host_session(h, &d);
    CHECK(agent_peer_key(h->e, d.peer, "a\nb", 3, 0) == AGENT_E_ARG && agent_peer_key(h->e, s, "a", 1, 0) == AGENT_E_STALE);
    h->no_open = 1;
    agent_say(h->e, s, "Hi", 2);
    while ((ev = host_next(h)) != NULL) if (ev->type == AGENT_EV_OPEN) {
        c = ev->conn;
        CHECK(strcmp(ev->u.open.url.p, "https://gate.test/v1/chat/completions") == 0 && ev->u.open.tls && ev->u.open.port == 443);
    }
    CHECK(has_header(h, c, "authorization", &v) && strcmp(v.p, "Bearer sk-very-secret-key") == 0);
    CHECK(has_header(h, c, "x-extra", &v) && strcmp(v.p, "1") == 0 && has_header(h, c, "user-agent", &v) && strcmp(v.p, "mine") == 0);
    CHECK(!has_header(h, c, "content-length", &v));
    CHECK(agent_open_header(h->e, c, 999, &v, &v) == AGENT_E_ARG && agent_open_header(h->e, c + 1, 0, &v, &v) == AGENT_E_STALE);
    CHECK(agent_opened(h->e, c, via, NULL) == AGENT_OK);
    if (via == AGENT_VIA_BYTES) {
        size_t n;
        const char *q = (const char *)agent_send_buf(h->e, c, &n);
        host_text t = { NULL, 0, 0 };
        text_add(&t, q, n);
        CHECK(strncmp(t.p, "POST /v1/chat/completions HTTP/1.1\r\n", 36) == 0);
        CHECK(strstr(t.p, "virtual.test") && strstr(t.p, "gate.test") == NULL);       /* one Host, the host's own          */
        text_free(&t);
    }
    CHECK(agent_peer_key(h->e, d.peer, "", 0, 0) == AGENT_OK);
    CHECK(has_header(h, c, "authorization", &v));             /* of the request that is out                               */
    host_cancel(h, s);
    host_run(h);
    CHECK(!has_header(h, c, "authorization", &v));
    agent_say(h->e, s, "Hi", 2);
    while ((ev = host_next(h)) != NULL) if (ev->type == AGENT_EV_OPEN) c = ev->conn;
    CHECK(!has_header(h, c, "authorization", &v));
    agent_say(h->e, s, "x", 1);
    host_free(h);
}
static void key_at_cut(void)                                 /* a plain error body is shown up to 200 bytes              */
{
    static const char fill[] = "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789";
    char body[512];
    size_t k;
    for (k = 160; k < 200; k++) {
        host_answer a = { NULL, 500, "content-type: text/plain\n", HOST_LENGTH, HOST_GO };
        agent_id s;
        host *h;
        sprintf(body, "%.100s%.*s sk-very-secret-key and so on", fill, (int)(k - 100), fill);
        a.body = body;
        h = begin(AGENT_VIA_HTTP, HOST_CUT_WHOLE, NULL, &a, 1, &s);
        CHECK(h->outcome == AGENT_FAILED && strstr(h->fault, "sk-very") == NULL);
        finish(h);
    }
}

static int rotate(host *h, const agent_event *ev)            /* a new key while the request is out                       */
{
    if (ev->type == AGENT_EV_OPEN) CHECK(agent_peer_key(h->e, ev->peer, "sk-new-secret-key", AGENT_CSTR, 0) == AGENT_OK);
    return 0;
}
static void secrets_hidden(int via)                          /* what the provider quotes of the headers that it was sent */
{
    static const host_answer a = { "{\"error\":{\"message\":\"no: sk-very-secret-key, Basic dXNlcjpwYXNz, dXNlcjpwYXNz, tok-1234, plainly\",\"code\":\"tok-1234\"}}",
        403, NULL, HOST_LENGTH, HOST_GO };
    agent_peer_desc p;
    agent_session_desc d;
    agent_id s;
    host *h = host_new(NULL, via, HOST_CUT_WHOLE);
    memset(&p, 0, sizeof p);
    memset(&d, 0, sizeof d);
    p.provider = "openai-compatible";
    p.url = "http://gate.test/v1";
    p.key = "sk-very-secret-key";
    p.headers = "Proxy-Authorization: Basic dXNlcjpwYXNz\nX-Gate-Token: tok-1234\nX-Plain: plainly\n";
    d.peer = agent_peer_open(h->e, &p);
    s = host_session(h, &d);
    host_answers(h, &a, 1);
    h->on = rotate;
    agent_say(h->e, s, "Hi", 2);
    host_run(h);
    CHECK(h->fault_kind == AGENT_FAULT_AUTH && strcmp(h->fault, "no: ******************, ******************, ************, ********, plainly") == 0);
    CHECK(!host_said(h, "tok-1234"));
    finish(h);
}
/* Freed memory holds no key: an allocator that looks at what it gets back.                                              */
typedef struct watch { host_heap heap; unsigned seen; } watch;
static void *watch_alloc(void *ctx, void *p, size_t old_n, size_t n)
{
    watch *w = (watch *)ctx;
    if (p && (check_has((const char *)p, old_n, "sk-very-secret-key") || check_has((const char *)p, old_n, "tok-1234"))) w->seen++;
    return host_alloc(&w->heap, p, old_n, n);
}
static void secrets_wiped(int via)
{
    watch w;
    agent_desc d;
    agent_peer_desc p;
    agent_session_desc sd;
    char headers[4096];
    agent_id s;
    int i;
    host *h;
    memset(&w, 0, sizeof w);
    memset(&d, 0, sizeof d);
    memset(&p, 0, sizeof p);
    memset(&sd, 0, sizeof sd);
    d.alloc = watch_alloc;
    d.alloc_ctx = &w;
    h = host_new(&d, via, HOST_CUT_WHOLE);
    strcpy(headers, "X-Gate-Token: tok-1234\n");
    for (i = 0; i < 60; i++) sprintf(headers + strlen(headers), "X-Header-%d: %d and more and more and more\n", i, i);
    p.provider = "openai-compatible";
    p.url = "http://gate.test/v1";
    p.key = "sk-very-secret-key";
    p.headers = headers;
    sd.peer = agent_peer_open(h->e, &p);
    s = host_session(h, &sd);
    for (i = 0; i < 2; i++) again(h, s);
    CHECK(h->outcome == AGENT_COMPLETED && agent_peer_key(h->e, sd.peer, "sk-very-secret-key, the second", AGENT_CSTR, 0) == AGENT_OK);
    again(h, s);
    finish(h);
    CHECK(w.seen == 0 && w.heap.live == 0);
}
/* A host that reads no clock: what follows an exchange of its own library is of no use, so no step waits for it.        */
static void http_never_waits(uint32_t conns)
{
    static const char *const body[2] = { SSE_CALL("0", "c1", "alpha", "{}") SSE_TOOLS, SSE_TEXT("two") SSE_STOP };
    agent_desc d;
    const agent_event *ev;
    agent_id s;
    int opens = 0, turns = 0;
    host *h;
    memset(&d, 0, sizeof d);
    d.limits.conns = conns;
    h = host_new(&d, AGENT_VIA_HTTP, HOST_CUT_WHOLE);
    s = host_session(h, NULL);
    h->no_open = 1;
    agent_say(h->e, s, "Hi", 2);
    while ((ev = host_next(h)) != NULL && turns++ < 100) if (ev->type == AGENT_EV_OPEN && opens < 2) {
        agent_id c = ev->conn;
        size_t n;
        CHECK(agent_opened(h->e, c, AGENT_VIA_HTTP, NULL) == AGENT_OK);
        while (agent_send_buf(h->e, c, &n)) agent_send_ack(h->e, c, n);
        CHECK(agent_feed(h->e, c, body[opens], strlen(body[opens]), NULL) == AGENT_OK);     /* and no agent_eof           */
        opens++;
    }
    CHECK(opens == 2 && h->outcome == AGENT_COMPLETED);
    host_free(h);
}
static void late_head(void)                                  /* a head does not come after the body                      */
{
    const agent_event *ev;
    agent_id s, c = 0;
    host *h = host_new(NULL, AGENT_VIA_HTTP, HOST_CUT_WHOLE);
    s = host_session(h, NULL);
    h->no_open = 1;
    agent_say(h->e, s, "Hi", 2);
    while ((ev = host_next(h)) != NULL) if (ev->type == AGENT_EV_OPEN) c = ev->conn;
    CHECK(agent_opened(h->e, c, AGENT_VIA_HTTP, NULL) == AGENT_OK && agent_feed(h->e, c, "data", 4, NULL) == AGENT_OK);
    CHECK(agent_http_head(h->e, c, 500, "", 0) == AGENT_E_STATE);
    while (host_next(h)) {}
    CHECK(agent_http_head(h->e, c, 500, "", 0) == AGENT_E_STATE);
    CHECK(agent_feed(h->e, c, &(SSE_TEXT("x") SSE_STOP)[4], sizeof(SSE_TEXT("x") SSE_STOP) - 5, NULL) == AGENT_OK && agent_eof(h->e, c) == AGENT_OK);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED);
    finish(h);
}

/* ---- limits ---- */
static agent_desc small(void) { agent_desc d; memset(&d, 0, sizeof d); return d; }
static void limits(int via, int cut)
{
    static const host_answer deep[] = { { "{\"choices\":[{\"message\":{\"content\":\"x\",\"deep\":[[[[[[[[1]]]]]]]]},\"finish_reason\":\"stop\"}]}", 0, "content-type: application/json\n", HOST_LENGTH, 0 } };
    static const host_answer three[] = { { SSE_CALL("0", "c1", "alpha", "{}") SSE_CALL("1", "c2", "alpha", "{}") SSE_CALL("2", "c3", "alpha", "{}") SSE_TOOLS, 0, NULL, 0, 0 }, ONE, ONE };
    static const host_answer multi[] = { { SSE_THINK("\xE2\x82\xAC\xF0\x9F\x98\x80\xC3\xA9\\ud83d\\ude00\xE2\x82\xAC\xE2\x82\xAC\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80")
        SSE_TEXT("abc\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9")
        SSE_CALL("0", "c1", "alpha", "{\\\"k\\\":\\\"\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\\\"}") SSE_TOOLS, 0, NULL, 0, 0 }, ONE };
    static const host_answer head[] = { { SSE_TEXT("x") SSE_STOP, 0, "content-type: text/event-stream\nx-long: 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\n", 0, 0 }, ONE };
    host_text t = { NULL, 0, 0 };
    host_answer big = { NULL, 0, NULL, HOST_CHUNKED, HOST_GO };
    agent_desc d = small();
    agent_id s;
    host *h;
    int i;
    d.limits.recv = 512;
    for (i = 0; i < 300; i++) text_str(&t, SSE_TEXT("a longer piece of text 0123456789 0123456789 0123456789 0123456789 0123456789"));
    text_str(&t, SSE_STOP);
    big.body = t.p;
    h = begin(via, cut, &d, &big, 1, &s);
    CHECK(h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_TEXT_DELTA] == 300);
    CHECK(agent_feed(h->e, h->conns[0].id, t.p, 513, NULL) != AGENT_OK);
    finish(h);
    d = small();
    d.limits.piece = 16;
    h = begin(via, cut, &d, multi, 2, &s);
    CHECK(h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_TEXT_DELTA] > 3);
    finish(h);
    d = small();
    d.limits.item = 300;
    big.body = SSE_TEXT("this event is longer than the limit 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
        "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789") SSE_STOP;
    h = begin(via, cut, &d, &big, 1, &s);
    CHECK(h->outcome == AGENT_COMPLETED || (h->fault_kind == AGENT_FAULT_LIMIT && strstr(h->fault, "limits.item")));
    again(h, s);
    CHECK(h->outcome == AGENT_COMPLETED);
    CHECK(agent_say(h->e, s, t.p, 301) == AGENT_E_LIMIT && agent_say(h->e, s, t.p, 300) > 0);
    host_run(h);
    finish(h);
    d = small();
    d.limits.head = 100;
    if (via == AGENT_VIA_BYTES) {
        h = begin(via, cut, &d, head, 2, &s);
        CHECK(h->outcome == AGENT_FAILED && h->fault_kind == AGENT_FAULT_LIMIT && strstr(h->fault, "limits.head"));
        again(h, s);
        CHECK(h->outcome == AGENT_COMPLETED);
        finish(h);
    }
    d = small();
    d.limits.depth = 6;
    h = begin(via, cut, &d, deep, 1, &s);
    CHECK(h->outcome == AGENT_FAILED && h->fault_kind == AGENT_FAULT_PROTOCOL);
    finish(h);
    d = small();
    d.limits.calls_per_step = 2;
    h = begin(via, cut, &d, three, 2, &s);
    CHECK(h->outcome == AGENT_FAILED && h->fault_kind == AGENT_FAULT_LIMIT && strstr(h->fault, "limits.calls_per_step") && h->count[AGENT_EV_TOOL_RUN] == 0);
    again(h, s);
    CHECK(h->outcome == AGENT_COMPLETED);
    finish(h);
    d = small();
    d.limits.scan_per_next = 1;
    h = begin(via, cut, &d, three, 2, &s);
    CHECK(h->outcome == AGENT_COMPLETED);
    finish(h);
    text_free(&t);
}
static void head_limit_http(void)
{
    agent_desc d = small();
    agent_id s, c = 0;
    const agent_event *ev;
    host *h;
    d.limits.head = 100;
    h = host_new(&d, AGENT_VIA_HTTP, HOST_CUT_WHOLE);
    s = host_session(h, NULL);
    h->no_open = 1;
    agent_say(h->e, s, "Hi", 2);
    while ((ev = host_next(h)) != NULL) if (ev->type == AGENT_EV_OPEN) c = ev->conn;
    agent_opened(h->e, c, AGENT_VIA_HTTP, NULL);
    CHECK(agent_http_head(h->e, c, 199, "", 0) == AGENT_E_ARG && agent_http_head(h->e, c, 1000, "", 0) == AGENT_E_ARG);
    CHECK(agent_http_head(h->e, c, 200, "x: 01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890", AGENT_CSTR) == AGENT_E_LIMIT);
    CHECK(agent_http_head(h->e, c, 200, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", AGENT_CSTR) == AGENT_OK);
    CHECK(agent_feed(h->e, c, SSE_TEXT("x") SSE_STOP, sizeof(SSE_TEXT("x") SSE_STOP) - 1, NULL) == AGENT_OK);
    agent_eof(h->e, c);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED);
    finish(h);
}
static void counts(void)
{
    agent_desc d = small();
    agent_session_desc sd;
    agent_engine *e;
    agent_id p, s[3];
    host *h;
    d.limits.recv = 511;
    CHECK(agent_open(&e, &d) == AGENT_E_ARG);
    d = small(); d.limits.piece = 15; CHECK(agent_open(&e, &d) == AGENT_E_ARG);
    d = small(); d.limits.depth = 65; CHECK(agent_open(&e, &d) == AGENT_E_ARG);
    d = small(); d.limits.conns = 65536; CHECK(agent_open(&e, &d) == AGENT_E_ARG && e == NULL);
    CHECK(agent_open(&e, NULL) == AGENT_E_ARG && agent_open_abi(&e, &d, 99, sizeof(agent_event)) == AGENT_E_ARG && agent_open_abi(&e, &d, AGENT_ABI, 8) == AGENT_E_ARG);
    d = small();
    d.limits.recv = d.limits.piece = d.limits.item = d.limits.head = d.limits.depth = d.limits.calls_per_step = d.limits.scan_per_next = AGENT_OFF;
    d.limits.sessions = d.limits.conns = d.limits.peers = AGENT_OFF;
    h = host_new(&d, AGENT_VIA_BYTES, HOST_CUT_RANDOM);
    again(h, host_session(h, NULL));
    CHECK(h->outcome == AGENT_COMPLETED);
    finish(h);
    d = small();
    d.limits.sessions = 2;
    d.limits.peers = 1;
    d.limits.conns = 1;
    h = host_new(&d, AGENT_VIA_HTTP, HOST_CUT_WHOLE);
    memset(&sd, 0, sizeof sd);
    p = sd.peer = host_peer(h);
    CHECK(p && host_peer(h) == 0 && strstr(agent_last(h->e), "limit"));
    s[0] = host_session(h, &sd);
    s[1] = host_session(h, &sd);
    CHECK(s[0] && s[1] && host_session(h, &sd) == 0 && strstr(agent_last(h->e), "limit"));
    agent_session_close(h->e, s[1]);
    s[2] = host_session(h, &sd);
    CHECK(s[2] && s[2] != s[1] && agent_session_open(h->e, NULL) == 0 && agent_peer_open(h->e, NULL) == 0);
    h->no_open = 1;                           /* the first one keeps the only connection                                 */
    agent_say(h->e, s[0], "Hi", 2);
    host_run(h);
    agent_say(h->e, s[2], "Hi", 2);
    host_run(h);
    CHECK(h->outcome == AGENT_FAILED && h->fault_kind == AGENT_FAULT_LIMIT && strstr(h->fault, "limit"));
    host_free(h);
}
static void bounded(void)                                    /* scan_per_next: NULL, and again at once                   */
{
    enum { N = 200000 };
    char *noise = (char *)malloc(N);
    agent_desc d = small();
    agent_id s, c = 0;
    const agent_event *ev;
    unsigned nulls = 0;
    host *h;
    memset(noise, ':', N);
    d.limits.recv = 1u << 20;
    d.limits.scan_per_next = 1000;
    h = host_new(&d, AGENT_VIA_HTTP, HOST_CUT_WHOLE);
    s = host_session(h, NULL);
    h->no_open = 1;
    agent_tick(h->e, 77, 0);
    agent_say(h->e, s, "Hi", 2);
    while ((ev = host_next(h)) != NULL) if (ev->type == AGENT_EV_OPEN) c = ev->conn;
    agent_opened(h->e, c, AGENT_VIA_HTTP, NULL);
    { size_t i; for (i = 99; i < N; i += 100) noise[i] = '\n'; }
    CHECK(agent_feed(h->e, c, noise, N, NULL) == AGENT_OK);
    CHECK(agent_feed(h->e, c, SSE_TEXT("x") SSE_STOP, sizeof(SSE_TEXT("x") SSE_STOP) - 1, NULL) == AGENT_OK);
    while (h->outcome < 0 && nulls < 100000) if (host_next(h) == NULL) { nulls++; CHECK(h->outcome >= 0 || agent_deadline(h->e) <= 77); }
    CHECK(h->outcome == AGENT_COMPLETED);
    free(noise);
    host_free(h);
}
static void clock_runs(void)
{
    host *h = host_new(NULL, AGENT_VIA_BYTES, HOST_CUT_WHOLE);
    CHECK(agent_deadline(h->e) == UINT64_MAX && agent_tick(h->e, 10, 0) == AGENT_OK && agent_tick(h->e, 9, 0) == AGENT_E_ARG);
    CHECK(agent_tick(h->e, 10, 5000) == AGENT_OK && agent_tick(h->e, 9, 7000) == AGENT_E_ARG && h->e->wall == 5000);
    again(h, host_session(h, NULL));
    CHECK(strstr(host_log(h), "RUN_END"));
    finish(h);
}

int main(void)
{
    static const size_t acks[] = { 0, 1, 7, 100, 4095, 4096, 5000, 100000 };
    int via, cut, how;
    size_t i;
    for (cut = 0; cut < 3; cut++) {
        reuse(cut);
        reuse_in_run(cut, HOST_GO);
        reuse_in_run(cut, HOST_EOF);
        reuse_in_run(cut, HOST_HANG);
        stale_reuse(cut);
        for (how = 0; how < 6; how++) drain(cut, how);
        for (via = 0; via < 2; via++) limits(via, cut);
    }
    for (how = 0; how < 4; how++) { idle(how, 0); idle(how, 1); }
    no_drain();
    reserved_always();
    for (how = 0; how < 4; how++) reserved_at_close(how);
    http_never_waits(0);
    http_never_waits(1);
    late_head();
    key_at_cut();
    head_limit_http();
    counts();
    bounded();
    clock_runs();
    for (via = 0; via < 2; via++) {
        one_conn_two_peers(via);
        not_opened(via);
        closed_while_opening(via, 0);
        closed_while_opening(via, 1);
        headers(via);
        secrets_hidden(via);
        secrets_wiped(via);
        for (i = 0; i < sizeof acks / sizeof *acks; i++) pieces(via, acks[i]);
    }
    return test_end("test_conn");
}
