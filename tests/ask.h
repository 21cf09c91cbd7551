/* Conversations whose requests are looked at: what is sent, exactly, and which WARNINGs come. Include agent.h first. */
#ifndef ASK_H
#define ASK_H
#include "test.h"

typedef struct ask {
    agent_engine *e;
    agent_id session, conn;
    char body[1 << 14], warned[1 << 10];     /* the last request's; the names of the WARNINGs since, each with a blank behind it */
    char path[256];                          /* what its URL ends in, behind the host                                    */
} ask;
static const agent_tool ask_tools[] = {
    { "look", "Looks.", "{\"type\":\"object\",\"properties\":{}}", 0, 0, NULL }, { "go", NULL, NULL, 0, 0, NULL }
};

static int ask_open(ask *a, const char *provider, const char *body_json, size_t tool_count, uint32_t max_steps)
{
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    memset(a, 0, sizeof *a);
    if (agent_open(&a->e, &d) != AGENT_OK) exit(2);
    p.provider = provider;
    p.key = "sk-1";
    p.body_json = body_json;
    s.peer = agent_peer_open(a->e, &p);
    s.model = "m";
    s.max_retries = s.grace_ms = AGENT_OFF;
    s.system = "Be brief.";
    s.tools = ask_tools;
    s.tool_count = tool_count;
    s.max_steps = max_steps;
    a->session = agent_session_open(a->e, &s);
    return a->session != 0;
}
static void ask_set(ask *a, const char *key, const char *value) { CHECK_CASE(agent_session_set(a->e, a->session, key, value, AGENT_CSTR) == AGENT_OK, key); }
/* Goes on until nothing comes; each tool that is to run says what it is called.                                         */
static void ask_pump(ask *a)
{
    const agent_event *ev;
    while ((ev = agent_next(a->e)) != NULL) {
        if (ev->type == AGENT_EV_OPEN) {
            const char *url = strstr(ev->u.open.url.p, "://");
            a->conn = ev->conn;
            sprintf(a->path, "%.200s", url ? strchr(url + 3, '/') : "");
        } else if (ev->type == AGENT_EV_WARNING && strlen(a->warned) < 900) sprintf(a->warned + strlen(a->warned), "%.40s ", ev->name.n ? ev->name.p : "-");
        else if (ev->type == AGENT_EV_TOOL_RUN) {
            agent_str name = ev->name;
            CHECK(agent_tool_result(a->e, a->session, ev->call, name.p, name.n) == AGENT_OK);
        }
    }
}
/* The request that waits, in a->body.                                                                                  */
static void ask_take(ask *a)
{
    const void *p;
    size_t n, at = 0;
    a->warned[0] = 0;
    ask_pump(a);
    CHECK(agent_opened(a->e, a->conn, AGENT_VIA_HTTP, NULL) == AGENT_OK);
    while ((p = agent_send_buf(a->e, a->conn, &n)) != NULL && at + n < sizeof a->body) {
        memcpy(a->body + at, p, n);
        at += n;
        agent_send_ack(a->e, a->conn, n);
    }
    a->body[at] = 0;
    CHECK_CASE(agent_json_check(a->body, at, 0, NULL) == AGENT_OK, a->body);
    ask_pump(a);
}
static void ask_say(ask *a, const char *text)
{
    CHECK(agent_say(a->e, a->session, text, AGENT_CSTR) > 0);
    ask_take(a);
}
static void ask_answer(ask *a, const char *type, const char *bytes)
{
    char head[100];
    sprintf(head, "content-type: %.80s\n", type);
    CHECK(agent_http_head(a->e, a->conn, 200, head, AGENT_CSTR) == AGENT_OK);
    CHECK(agent_feed(a->e, a->conn, bytes, strlen(bytes), NULL) == AGENT_OK);
    CHECK(agent_eof(a->e, a->conn) == AGENT_OK);
}
/* The connection breaks, so the next request is the host's.                                                            */
static void ask_break(ask *a)
{
    agent_failed(a->e, a->conn, AGENT_FAIL_RESET, NULL, 0);
    ask_pump(a);
}
static int ask_has(const ask *a, const char *path, const char *want)           /* want NULL: it is not there            */
{
    agent_str json, v;
    json.p = a->body;
    json.n = strlen(a->body);
    v = agent_json_get(json, path);
    if (v.p == NULL) return want == NULL;
    if (want && v.n == strlen(want) && memcmp(v.p, want, v.n) == 0) return 1;
    fprintf(stderr, "%s is %.*s\n", path, (int)v.n, v.p);
    return 0;
}
#define ASK_HAS(a, path, want) CHECK_CASE(ask_has(a, path, want), path)
#define ASK_WARNED(a, names) CHECK_CASE(strcmp((a)->warned, names) == 0, (a)->warned)
static agent_part ask_part(int kind, const char *text, const char *mime, const char *uri)
{
    agent_part p;
    memset(&p, 0, sizeof p);
    p.kind = (uint16_t)kind;
    p.text.p = text;
    p.text.n = text ? strlen(text) : 0;
    p.mime.p = mime;
    p.mime.n = mime ? strlen(mime) : 0;
    p.uri.p = uri;
    p.uri.n = uri ? strlen(uri) : 0;
    return p;
}
static void ask_files(ask *a)                /* text, an image by data and by URL, plain text, a PDF                      */
{
    agent_part p[5];
    p[0] = ask_part(AGENT_PART_TEXT, "What is this?", NULL, NULL);
    p[1] = ask_part(AGENT_PART_IMAGE, "png", "image/png", NULL);
    p[2] = ask_part(AGENT_PART_IMAGE, NULL, NULL, "https://sea.test/a.png");
    p[3] = ask_part(AGENT_PART_FILE, "low\ntide", "text/plain", NULL);
    p[4] = ask_part(AGENT_PART_FILE, "%PDF", "application/pdf", NULL);
    p[4].name.p = "a.pdf";
    p[4].name.n = 5;
    CHECK(agent_submit(a->e, a->session, p, 5, AGENT_NOW) > 0);
    ask_take(a);
}
/* A conversation with files and tools while each allocation is refused in turn: it may fail, but nothing breaks, and nothing is left. */
typedef struct ask_heap { size_t live, calls, fail_at; } ask_heap;
static void *ask_alloc(void *ctx, void *p, size_t old_size, size_t new_size)
{
    ask_heap *h = (ask_heap *)ctx;
    void *q;
    if (new_size && ++h->calls == h->fail_at) return NULL;
    q = new_size ? realloc(p, new_size) : NULL;
    if (new_size && q == NULL) abort();
    if (new_size == 0) free(p);
    h->live += new_size - (p ? old_size : 0);
    return q;
}
static void ask_poor(agent_engine *e, const char *provider, const char *type, const char *const *answers)
{
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    agent_part part[2];
    const agent_event *ev;
    agent_id session;
    char head[100];
    size_t n, at = 0;
    sprintf(head, "content-type: %.80s\n", type);
    p.provider = provider;
    p.key = "";
    s.peer = agent_peer_open(e, &p);
    s.model = "m";
    s.max_retries = s.grace_ms = AGENT_OFF;
    s.system = "Be brief.";
    s.tools = ask_tools;
    s.tool_count = 2;
    session = s.peer ? agent_session_open(e, &s) : 0;
    part[0] = ask_part(AGENT_PART_TEXT, "What is this?", NULL, NULL);
    part[1] = ask_part(AGENT_PART_IMAGE, "png", "image/png", NULL);
    if (session == 0 || agent_submit(e, session, part, 2, AGENT_QUEUE) <= 0) return;
    while ((ev = agent_next(e)) != NULL) {
        agent_event was = *ev;
        if (was.type == AGENT_EV_TOOL_RUN) {
            if (agent_tool_result(e, session, was.call, "ok", 2) != AGENT_OK) (void)agent_tool_done(e, session, was.call, AGENT_DONE_ERROR);
            continue;
        }
        if (was.type != AGENT_EV_OPEN) continue;
        if (answers[at] == NULL || agent_opened(e, was.conn, AGENT_VIA_HTTP, NULL) != AGENT_OK) { (void)agent_failed(e, was.conn, AGENT_FAIL_HOST, NULL, 0); continue; }
        while (agent_send_buf(e, was.conn, &n) != NULL) (void)agent_send_ack(e, was.conn, n);
        if (agent_http_head(e, was.conn, 200, head, AGENT_CSTR) != AGENT_OK || agent_feed(e, was.conn, answers[at], strlen(answers[at]), NULL) != AGENT_OK)
            (void)agent_failed(e, was.conn, AGENT_FAIL_HOST, NULL, 0);
        else (void)agent_eof(e, was.conn);
        at++;
    }
}
static void ask_refuse(const char *provider, const char *type, const char *const *answers)
{
    agent_desc d = AGENT_ZERO;
    agent_engine *e;
    ask_heap h;
    size_t i;
    for (i = 1; i < 4000; i++) {
        memset(&h, 0, sizeof h);
        h.fail_at = i;
        d.alloc = ask_alloc;
        d.alloc_ctx = &h;
        if (agent_open(&e, &d) == AGENT_OK) {
            ask_poor(e, provider, type, answers);
            agent_close(e);
        }
        CHECK_CASE(h.live == 0, provider);
        if (h.calls < i) break;
    }
    CHECK_CASE(i > 20 && i < 4000, provider);
}
#endif
