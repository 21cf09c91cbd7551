/* Keys that come late, expire or are refused (CREDENTIAL), and requests that the host signs (SIGN). */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

#define UNKNOWN "{\"error\":{\"message\":\"no such key\",\"code\":\"invalid_api_key\"}}"
#define REFUSED "{\"error\":{\"message\":\"wrong key: sk-very-secret-key\",\"code\":\"invalid_api_key\"}}"
typedef struct asked { agent_event ev; int declines, asks, whys[8]; const char *key; uint64_t valid_ms; char text[200], name[40]; } asked;

static agent_id peer_of(host *h, const char *auth, const char *key)
{
    agent_peer_desc p;
    memset(&p, 0, sizeof p);
    p.provider = "openai-compatible";
    p.url = "http://model.test:8080/v1";
    p.auth = auth;
    p.key = key;
    p.user = h;
    return agent_peer_open(h->e, &p);
}
static agent_id session_of(host *h, agent_id peer)
{
    agent_session_desc d;
    memset(&d, 0, sizeof d);
    d.peer = peer;
    return host_session(h, &d);
}
/* Notes the question; answers it if there is a key, declines it if it is told so.                                       */
static int on_credential(host *h, const agent_event *ev)
{
    asked *a = (asked *)h->arg;
    if (ev->type != AGENT_EV_CREDENTIAL) return 0;
    CHECK(ev->session == 0 && ev->peer && ev->need && ev->user == h && (ev->flags & AGENT_EVF_NEED));
    a->ev = *ev;
    sprintf(a->text, "%.150s", ev->text.p);
    sprintf(a->name, "%.30s", ev->name.p);
    if (a->asks < 8) a->whys[a->asks] = ev->u.credential.why;
    a->asks++;
    if (a->declines) CHECK(agent_decline(h->e, ev) == AGENT_OK && agent_decline(h->e, ev) == AGENT_LATE);
    else if (a->key) CHECK(agent_peer_key(h->e, ev->peer, a->key, AGENT_CSTR, a->valid_ms) == AGENT_OK);
    return 1;
}
static host *start(asked *a, int via)
{
    host *h = host_new(NULL, via, HOST_CUT_WHOLE);
    memset(a, 0, sizeof *a);
    h->on = on_credential;
    h->arg = a;
    return h;
}
static int sent(const host *h, size_t i, const char *what) { return i < h->request_n && h->head[i].p && strstr(h->head[i].p, what) != NULL; }

/* ---- there is no key ---- */
static void test_missing(int via)
{
    asked a;
    host *h = start(&a, via);
    agent_id p = peer_of(h, NULL, NULL), s1 = session_of(h, p), s2 = session_of(h, p);
    agent_event again;
    agent_say(h->e, s1, "Hi", AGENT_CSTR);
    agent_say(h->e, s2, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(a.asks == 1 && a.whys[0] == AGENT_KEY_MISSING && strcmp(a.name, "OPENAI_API_KEY") == 0 && a.text[0] == 0);
    CHECK(h->request_n == 0 && h->count[AGENT_EV_OPEN] == 0 && h->count[AGENT_EV_NEED_DONE] == 0);
    CHECK(agent_pending(h->e, p, 0, &again) == AGENT_OK && again.type == AGENT_EV_CREDENTIAL && again.need == a.ev.need && again.peer == p);
    CHECK(agent_pending(h->e, p, 1, &again) == AGENT_E_STALE);
    CHECK(agent_peer_key(h->e, p, "sk-very-secret-key", AGENT_CSTR, 0) == AGENT_OK);
    CHECK(agent_decline(h->e, &a.ev) == AGENT_LATE && agent_pending(h->e, p, 0, &again) == AGENT_E_STALE);
    host_run(h);
    CHECK(a.asks == 1 && h->request_n == 2 && h->count[AGENT_EV_RUN_END] == 2 && h->outcome == AGENT_COMPLETED);
    if (via == AGENT_VIA_BYTES) CHECK(sent(h, 0, "authorization: Bearer sk-very-secret-key") && sent(h, 1, "authorization: Bearer sk-very-secret-key"));
    check_over(&h->check);
    host_free(h);
}
static void test_declined(void)
{
    static const host_answer no = { UNKNOWN, 401, NULL, HOST_LENGTH, HOST_GO };
    asked a;
    host *h = start(&a, AGENT_VIA_BYTES);
    agent_id s = session_of(h, peer_of(h, NULL, NULL));
    a.declines = 1;
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(a.asks == 1 && h->outcome == AGENT_COMPLETED && h->request_n == 1 && !sent(h, 0, "authorization"));
    host_answers(h, &no, 1);                  /* without a key there is nothing to ask for again                        */
    agent_say(h->e, s, "And?", AGENT_CSTR);
    host_run(h);
    CHECK(a.asks == 1 && h->outcome == AGENT_FAILED && h->fault_kind == AGENT_FAULT_AUTH);
    host_free(h);
}
/* No question: none is wanted, it was said that there is none, or a header has it.                                      */
static void test_unasked(void)
{
    static const struct { const char *auth, *key, *headers, *sends; } rows[] = {
        { "none", NULL, NULL, NULL }, { NULL, "", NULL, NULL }, { NULL, NULL, "Authorization: Basic eA==\n", "Authorization: Basic eA==" },
        { "x-key", "sk-1", NULL, "x-key: sk-1" }, { "x-key", NULL, "X-Key: sk-2\n", "X-Key: sk-2" }
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        agent_peer_desc p;
        asked a;
        agent_id s;
        host *h = start(&a, AGENT_VIA_BYTES);
        memset(&p, 0, sizeof p);
        p.provider = "openai-compatible";
        p.url = "http://model.test/v1";
        p.auth = rows[i].auth;
        p.key = rows[i].key;
        p.headers = rows[i].headers;
        s = session_of(h, agent_peer_open(h->e, &p));
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        host_run(h);
        CHECK(a.asks == 0 && h->outcome == AGENT_COMPLETED);
        if (rows[i].sends) CHECK(sent(h, 0, rows[i].sends)); else CHECK(!sent(h, 0, "uthorization"));
        host_free(h);
    }
}
static void test_cancelled(void)
{
    asked a;
    host *h = start(&a, AGENT_VIA_BYTES);
    agent_id p = peer_of(h, NULL, NULL), s = session_of(h, p);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    host_cancel(h, s);
    host_run(h);
    CHECK(a.asks == 1 && h->outcome == AGENT_CANCELLED && h->request_n == 0);
    CHECK(agent_peer_key(h->e, p, "sk-very-secret-key", AGENT_CSTR, 0) == AGENT_OK);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(a.asks == 1 && h->outcome == AGENT_COMPLETED && h->request_n == 1 && h->count[AGENT_EV_NEED_DONE] == 2);
    CHECK(agent_session_close(h->e, s) == AGENT_OK);
    host_run(h);
    p = peer_of(h, NULL, NULL);               /* a peer may go while it asks                                            */
    s = session_of(h, p);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(a.asks == 2 && agent_peer_close(h->e, p) == AGENT_E_STATE && agent_session_close(h->e, s) == AGENT_OK);
    CHECK(agent_next(h->e) == NULL && agent_peer_close(h->e, p) == AGENT_OK && agent_decline(h->e, &a.ev) == AGENT_LATE);
    host_free(h);
}

/* ---- it is refused, or over ---- */
static void test_refused(void)
{
    static const struct { int first, second, declines, same, outcome, asks; size_t requests; } rows[] = {
        { 401, 0, 0, 0, AGENT_COMPLETED, 1, 2 }, { 401, 401, 0, 0, AGENT_FAILED, 1, 2 }, { 401, 0, 1, 0, AGENT_FAILED, 1, 1 },
        { 403, 0, 0, 0, AGENT_FAILED, 0, 1 }, { 401, 0, 0, 1, AGENT_COMPLETED, 1, 2 }
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        host_answer answers[2];
        asked a;
        host *h = start(&a, AGENT_VIA_BYTES);
        agent_id s = session_of(h, peer_of(h, NULL, "sk-very-secret-key"));
        memset(answers, 0, sizeof answers);
        answers[0].body = REFUSED;
        answers[0].status = rows[i].first;
        answers[1].body = rows[i].second ? UNKNOWN : SSE_TEXT("Hi") SSE_STOP;
        answers[1].status = rows[i].second;
        host_answers(h, answers, 2);
        a.declines = rows[i].declines;
        a.key = rows[i].same ? "sk-very-secret-key" : "sk-next";
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        host_run(h);
        CHECK(h->outcome == rows[i].outcome && a.asks == rows[i].asks && h->request_n == rows[i].requests);
        CHECK(h->count[AGENT_EV_STEP_START] == 1 && h->count[AGENT_EV_STEP_END] == 1 && h->count[AGENT_EV_ERROR] == (rows[i].outcome == AGENT_FAILED));
        if (a.asks) CHECK(a.whys[0] == AGENT_KEY_REFUSED && strcmp(a.text, "wrong key: ******************") == 0);
        if (rows[i].requests == 2) CHECK(sent(h, 1, rows[i].same ? "Bearer sk-very-secret-key" : "Bearer sk-next"));
        if (rows[i].outcome == AGENT_FAILED) {                /* the next run is a new one                              */
            a.declines = 0;
            agent_say(h->e, s, "And?", AGENT_CSTR);
            host_run(h);
            CHECK(h->outcome == AGENT_COMPLETED);
        }
        host_bodies_check(h);
        host_free(h);
    }
}
/* Two sessions are refused: one question, and both go on.                                                               */
static void test_refused_together(void)
{
    static const host_answer answers[] = { { REFUSED, 401, NULL, HOST_LENGTH, HOST_GO }, { REFUSED, 401, NULL, HOST_LENGTH, HOST_GO },
        { SSE_TEXT("Hi") SSE_STOP, 0, NULL, 0, 0 }, { SSE_TEXT("Hi") SSE_STOP, 0, NULL, 0, 0 } };
    asked a;
    host *h = start(&a, AGENT_VIA_BYTES);
    agent_id p = peer_of(h, NULL, "sk-very-secret-key"), s1 = session_of(h, p), s2 = session_of(h, p);
    host_answers(h, answers, 4);
    agent_say(h->e, s1, "Hi", AGENT_CSTR);
    agent_say(h->e, s2, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(a.asks == 1 && h->request_n == 2 && h->count[AGENT_EV_RUN_END] == 0);
    CHECK(agent_peer_key(h->e, p, "sk-next", AGENT_CSTR, 0) == AGENT_OK);
    host_run(h);
    CHECK(a.asks == 1 && h->request_n == 4 && h->count[AGENT_EV_RUN_END] == 2 && h->outcome == AGENT_COMPLETED);
    CHECK(sent(h, 2, "Bearer sk-next") && sent(h, 3, "Bearer sk-next"));
    host_free(h);
}
static void test_expires(void)
{
    asked a;
    host *h = start(&a, AGENT_VIA_BYTES);
    agent_id p = peer_of(h, NULL, ""), s = session_of(h, p);
    CHECK(agent_peer_key(h->e, p, "sk-short", AGENT_CSTR, 1000) == AGENT_OK);
    a.key = "sk-next";
    a.valid_ms = UINT64_MAX;
    agent_tick(h->e, 999, 0);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(a.asks == 0 && sent(h, 0, "Bearer sk-short"));
    agent_tick(h->e, 1000, 0);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(a.asks == 1 && a.whys[0] == AGENT_KEY_EXPIRED && sent(h, 1, "Bearer sk-next"));
    agent_tick(h->e, 1000000, 0);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(a.asks == 1 && h->outcome == AGENT_COMPLETED);
    CHECK(agent_peer_key(h->e, p, "sk-short", AGENT_CSTR, 1) == AGENT_OK);
    agent_tick(h->e, 1000001, 0);
    a.declines = 1;                           /* then what there is has to do                                           */
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(a.asks == 2 && h->outcome == AGENT_COMPLETED && sent(h, 4, "Bearer sk-short"));
    host_free(h);
}

/* ---- SIGN ---- */
typedef struct signer { int asks, mode, again; host_text body; agent_num need; agent_id conn; } signer;
enum { SIGN_WELL, SIGN_DECLINES, SIGN_FAILS, SIGN_WAITS };
static int on_sign(host *h, const agent_event *ev)
{
    signer *g = (signer *)h->arg;
    agent_str name, value;
    const char *p;
    size_t n, i;
    int has_type = 0;
    if (ev->type != AGENT_EV_SIGN) return 0;
    CHECK(ev->need && ev->conn && ev->session && strcmp(ev->u.open.method.p, "POST") == 0);
    CHECK(strcmp(ev->u.open.url.p, "http://model.test:8080/v1/chat/completions") == 0 && strcmp(ev->u.open.host.p, "model.test") == 0);
    g->asks++;
    g->need = ev->need;
    g->conn = ev->conn;
    for (i = 0; agent_open_header(h->e, ev->conn, i, &name, &value) == AGENT_OK; i++) has_type |= strcmp(name.p, "content-type") == 0;
    CHECK(has_type && !(agent_wants(h->e, ev->conn) & AGENT_WANT_WRITE));
    g->body.n = 0;
    while ((p = (const char *)agent_send_buf(h->e, ev->conn, &n)) != NULL) {
        if (n > 3000) n = 3000;
        text_add(&g->body, p, n);
        CHECK(agent_send_ack(h->e, ev->conn, n) == AGENT_OK);
    }
    CHECK(g->body.n == ev->u.open.body_len);
    CHECK(agent_opened(h->e, ev->conn, h->via, NULL) == AGENT_E_STATE);
    CHECK(agent_sign(h->e, ev->conn, "no header", AGENT_CSTR) == AGENT_E_ARG && agent_sign(h->e, ev->conn, "Content-Length: 3\n", AGENT_CSTR) == AGENT_E_ARG);
    CHECK(agent_sign(h->e, 0, "A: b\n", AGENT_CSTR) == AGENT_E_STALE);
    if (g->mode == SIGN_WELL) {
        char lines[120];
        int rc;
        sprintf(lines, "X-Amz-Date: 20261201T000000Z\r\nAuthorization: AWS4 sig=%lu\n", (unsigned long)g->body.n);
        rc = agent_sign(h->e, ev->conn, lines, AGENT_CSTR);
        CHECK(rc == AGENT_OK || rc == AGENT_E_NOMEM);
        if (rc == AGENT_E_NOMEM && g->again) rc = agent_sign(h->e, ev->conn, lines, AGENT_CSTR);      /* nothing had changed */
        if (rc == AGENT_OK) CHECK(agent_sign(h->e, ev->conn, lines, AGENT_CSTR) == AGENT_LATE);
        else CHECK(agent_decline(h->e, ev) == AGENT_OK);
    } else if (g->mode == SIGN_DECLINES) CHECK(agent_decline(h->e, ev) == AGENT_OK && agent_decline(h->e, ev) == AGENT_LATE);
    else if (g->mode == SIGN_FAILS) CHECK(agent_failed(h->e, ev->conn, AGENT_FAIL_HOST, "the vault is closed", AGENT_CSTR) == AGENT_OK);
    return 1;
}
static host *start_signed(signer *g, int via, int mode, agent_id *s, const agent_desc *desc)
{
    host *h = host_new(desc, via, HOST_CUT_WHOLE);
    memset(g, 0, sizeof *g);
    g->mode = mode;
    h->on = on_sign;
    h->arg = g;
    *s = session_of(h, peer_of(h, "sign", NULL));
    return h;
}
static void test_signed(int via)
{
    signer g;
    agent_id s;
    char *big = (char *)malloc(20001);
    host *h = start_signed(&g, via, SIGN_WELL, &s, NULL);
    size_t i;
    memset(big, 'x', 20000);
    big[20000] = 0;
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    agent_say(h->e, s, big, AGENT_CSTR);
    agent_say(h->e, s, "And?", AGENT_CSTR);
    host_run(h);
    CHECK(g.asks == 3 && h->outcome == AGENT_COMPLETED && h->request_n == 3 && h->count[AGENT_EV_SIGN] == 3);
    CHECK(h->count[AGENT_EV_OPEN] == (via == AGENT_VIA_BYTES ? 1u : 3u) && h->count[AGENT_EV_SEND] == (via == AGENT_VIA_BYTES ? 2u : 0u));
    for (i = 0; i < 3; i++) {
        char line[64];
        sprintf(line, "Authorization: AWS4 sig=%lu\r\n", (unsigned long)h->body[i].n);
        if (via == AGENT_VIA_BYTES) CHECK(sent(h, i, line) && sent(h, i, "\r\nX-Amz-Date: 20261201T000000Z\r\n") && strstr(h->head[i].p, "\r\n\r\n") == h->head[i].p + h->head[i].n - 4);
    }
    CHECK(g.body.n == h->body[2].n && memcmp(g.body.p, h->body[2].p, g.body.n) == 0);
    CHECK(!host_said(h, "AWS4"));
    host_bodies_check(h);
    text_free(&g.body);
    host_free(h);
    free(big);
}
static void test_unsigned(void)
{
    int mode, via;
    for (mode = SIGN_DECLINES; mode <= SIGN_WAITS; mode++) for (via = 0; via < 2; via++) {
        signer g;
        agent_id s;
        agent_event ev;
        host *h = start_signed(&g, via, mode, &s, NULL);
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        host_run(h);
        if (mode == SIGN_WAITS) {
            CHECK(agent_pending(h->e, s, 0, &ev) == AGENT_OK && ev.type == AGENT_EV_SIGN && ev.need == g.need);
            host_cancel(h, s);
            host_run(h);
            CHECK(h->outcome == AGENT_CANCELLED && agent_sign(h->e, g.conn, "A: b\n", AGENT_CSTR) == AGENT_E_STALE);
        } else {
            CHECK(h->outcome == AGENT_FAILED && h->fault_kind == AGENT_FAULT_AUTH);
            CHECK(strcmp(h->fault, mode == SIGN_FAILS ? "the vault is closed" : "the host declined") == 0);
        }
        CHECK(h->count[AGENT_EV_OPEN] == 0 && h->count[AGENT_EV_CLOSE] == 0 && h->count[AGENT_EV_NEED_DONE] == 1 && h->request_n == 0);
        g.mode = SIGN_WELL;
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        host_run(h);
        CHECK(h->outcome == AGENT_COMPLETED && g.asks == 2);
        g.mode = mode;                        /* on an open connection                                                  */
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        host_run(h);
        if (mode == SIGN_WAITS) { host_cancel(h, s); host_run(h); }
        CHECK(h->outcome == (mode == SIGN_WAITS ? AGENT_CANCELLED : AGENT_FAILED));
        CHECK(h->count[AGENT_EV_OPEN] == 1 && h->count[AGENT_EV_CLOSE] == 1);
        check_over(&h->check);
        text_free(&g.body);
        host_free(h);
    }
}
/* The peer closes the idle connection while the host thinks: signed once more, for a new one.                           */
static void test_stale(void)
{
    signer g;
    agent_id s;
    host *h = start_signed(&g, AGENT_VIA_BYTES, SIGN_WELL, &s, NULL);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    g.mode = SIGN_WAITS;
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(g.asks == 2 && g.conn == h->conns[0].id && agent_eof(h->e, g.conn) == AGENT_OK);
    g.mode = SIGN_WELL;
    host_run(h);
    CHECK(g.asks == 3 && h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_OPEN] == 2 && h->request_n == 2);
    text_free(&g.body);
    host_free(h);
}
/* Each allocation fails in turn: nothing hangs, nothing leaks.                                                          */
static void test_memory(int sign)
{
    long at, calls = 1000000;
    size_t i;
    for (at = 0; at < calls + 2; at++) {
        host_heap heap;
        agent_desc d;
        agent_id s;
        signer g;
        asked a;
        host *h;
        memset(&heap, 0, sizeof heap);
        memset(&d, 0, sizeof d);
        d.alloc = host_alloc;
        d.alloc_ctx = &heap;
        h = start_signed(&g, AGENT_VIA_BYTES, SIGN_WELL, &s, &d);
        if (!sign) {
            memset(&a, 0, sizeof a);
            h->on = on_credential;
            h->arg = &a;
            s = session_of(h, peer_of(h, NULL, NULL));
        }
        h->quiet = h->check.light = 1;
        g.again = 1;
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        agent_say(h->e, s, "And?", AGENT_CSTR);
        heap.calls = 0;
        heap.fail_at = at;
        host_pump(h);
        if (!sign) {
            CHECK(a.asks == 1);
            if (agent_peer_key(h->e, a.ev.peer, "sk-very-secret-key", AGENT_CSTR, 0) != AGENT_OK)
                CHECK(agent_peer_key(h->e, a.ev.peer, "sk-very-secret-key", AGENT_CSTR, 0) == AGENT_OK);
            host_pump(h);
        }
        if (at == 0) calls = heap.calls;
        heap.fail_at = 0;
        CHECK(h->count[AGENT_EV_RUN_END] == 2);
        agent_say(h->e, s, "Well?", AGENT_CSTR);
        host_pump(h);
        CHECK(h->outcome == AGENT_COMPLETED);
        for (i = 0; sign && i < h->request_n; i++) {
            const char *line = h->head[i].p ? strstr(h->head[i].p, "Authorization:") : NULL;
            CHECK(line && strstr(line + 1, "Authorization:") == NULL);
        }
        text_free(&g.body);
        host_free(h);
        CHECK(heap.live == 0 && heap.bytes == 0);
    }
}
int main(void)
{
    int via;
    for (via = 0; via < 2; via++) { test_missing(via); test_signed(via); test_memory(via); }
    test_declined();
    test_unasked();
    test_cancelled();
    test_refused();
    test_refused_together();
    test_expires();
    test_unsigned();
    test_stale();
    return test_end("credential");
}
