/* What the engine makes of the bytes of an answer: one JSON object a line, the same for every cut of the bytes.
 * replay.c is the program; tests/ drive the same functions in many more ways. Include agent.h first. */
#ifndef REPLAY_H
#define REPLAY_H
#include "vocabulary.h"

enum replay_eof { REPLAY_CLEAN /* the body is complete */, REPLAY_CLOSE /* the peer closed the stream */, REPLAY_NONE };
typedef struct replay {
    const char *format;                      /* sse, http, json, or a wire format of agent_decode                       */
    int http;                                /* the bytes are HTTP/1.1, else a body                                     */
    int status;                              /* of a body; 0: 200                                                       */
    const char *headers;                     /* of a body: "Name: value\n" lines, or NULL                               */
    uint64_t clock;                          /* Unix time in ms; 0: unknown                                             */
    int eof;
    /* how the bytes are cut: at `cuts` (rising), or by chance from a seed, or every `step` bytes, or not at all        */
    const size_t *cuts; size_t cut_n;
    int by_chance; uint32_t chance;
    size_t step;
    int recv;                                /* by agent_recv_buf instead of agent_feed                                 */
    agent_desc desc;
    void (*see)(void *ctx, const agent_event *); void *see_ctx;              /* shown every event, may be NULL           */
    replay_text out;                         /* the lines                                                               */
    int closed;                              /* CLOSE came                                                              */
} replay;

/* ---- cutting ---- */
static size_t replay_piece(replay *r, size_t at, size_t n)
{
    size_t k = n - at, i;
    if (r->cuts) {
        for (i = 0; i < r->cut_n && r->cuts[i] <= at; i++) {}
        if (i < r->cut_n) k = r->cuts[i] - at;
        if (i) { r->cuts += i; r->cut_n -= i; }
    } else if (r->by_chance) {
        r->chance = r->chance * 1664525u + 1013904223u;
        k = (r->chance >> 24) % 32 + 1;
        if (k > 24) k *= 40;
    } else if (r->step) k = r->step;
    return k < n - at ? k : n - at;
}

/* ---- wire formats: the decode-only door ---- */
static void replay_pump(replay *r, agent_engine *e)
{
    const agent_event *ev;
    do while ((ev = agent_next(e)) != NULL) {
        if (ev->type == AGENT_EV_CLOSE) r->closed = 1;
        if (r->see) r->see(r->see_ctx, ev);
        replay_line(&r->out, ev);
    } while (agent_deadline(e) <= 1);
}
/* Gives the engine up to n bytes; 0: it takes no more.                                                                 */
static size_t replay_give(replay *r, agent_engine *e, agent_id conn, const char *p, size_t n)
{
    size_t taken = 0;
    if (!r->recv) agent_feed(e, conn, p, n, &taken);
    else {
        void *q = agent_recv_buf(e, conn, &taken);
        if (q == NULL) return 0;
        if (taken > n) taken = n;
        memcpy(q, p, taken);
        agent_recv_ack(e, conn, taken);
    }
    return taken;
}
static void replay_bytes(replay *r, agent_engine *e, agent_id conn, const char *p, size_t n)
{
    size_t at = 0, end, k;
    int refused = 0;
    while (at < n && !r->closed) {
        for (end = at + replay_piece(r, at, n); at < end && !r->closed; at += k) {
            k = replay_give(r, e, conn, p + at, end - at);
            replay_pump(r, e);
            refused = k ? 0 : refused + 1;
            if (refused == 2) { agent_failed(e, conn, AGENT_FAIL_HOST, agent_last(e), AGENT_CSTR); return; }
        }
    }
}
static int replay_decode(replay *r, const char *p, size_t n)
{
    agent_engine *e;
    agent_id conn;
    int rc = agent_open(&e, &r->desc);
    if (rc != AGENT_OK) return rc;
    agent_tick(e, 1, r->clock);
    conn = agent_decode(e, r->format, r->http ? AGENT_VIA_BYTES : AGENT_VIA_HTTP, NULL);
    if (conn == 0) rc = AGENT_E_NOMEM;
    else if (!r->http && (r->status || r->headers)) rc = agent_http_head(e, conn, r->status ? r->status : 200, r->headers, AGENT_CSTR);
    if (rc == AGENT_OK) {
        replay_pump(r, e);
        replay_bytes(r, e, conn, p, n);
        if (!r->closed && r->eof == REPLAY_CLOSE && !r->http) agent_failed(e, conn, AGENT_FAIL_RESET, NULL, 0);
        else if (!r->closed && r->eof != REPLAY_NONE) agent_eof(e, conn);
        replay_pump(r, e);
    }
    agent_close(e);
    return rc;
}

/* ---- the codecs alone ---- */
static void replay_enlarge(replay_text *t, char **buf, size_t *cap)
{
    replay_room(t, *cap + 256);
    *buf = t->p;
    *cap = t->cap;
}
static void replay_json(replay *r, const char *p, size_t n)
{
    agent_json_error err;
    agent_str value;
    value.p = p;
    value.n = n;
    if (agent_json_check(p, n, 0, &err) == AGENT_OK) {
        replay_puts(&r->out, "{\"ev\":\"json\",\"value\":");
        replay_compact(&r->out, value);
        replay_puts(&r->out, "}\n");
        return;
    }
    replay_puts(&r->out, "{\"ev\":\"json_error\"");
    replay_number(&r->out, "offset", (int64_t)err.offset);
    replay_member(&r->out, "message", replay_str(err.why));
    replay_puts(&r->out, "}\n");
}
static void replay_sse_line(replay_text *t, const agent_sse_event *ev)
{
    replay_puts(t, "{\"ev\":\"sse\"");
    replay_member(t, "event", ev->event);
    replay_member(t, "data", ev->data);
    if (ev->id.n) replay_member(t, "id", ev->id);
    replay_puts(t, "}\n");
}
static void replay_sse(replay *r, const char *p, size_t n)
{
    replay_text keep = { NULL, 0, 0 };
    agent_sse s;
    agent_sse_event ev;
    size_t at = 0, end, used;
    int rc;
    agent_sse_init(&s, NULL, 0, 0);
    while (at < n) {
        end = at + replay_piece(r, at, n);
        do {
            rc = agent_sse_next(&s, p + at, end - at, &used, &ev);
            at += used;
            if (rc == AGENT_OK) replay_sse_line(&r->out, &ev);
            else if (rc == AGENT_E_FULL) { keep.n = s.len; replay_enlarge(&keep, &s.buf, &s.cap); }
        } while (rc != AGENT_MORE);
    }
    free(keep.p);
}
/* The header lines as an object; values of one name are joined by a comma.                                             */
static void replay_headers(replay_text *t, agent_str lines)
{
    const char *p = lines.p, *end = lines.p + lines.n, *q, *eol, *colon;
    int first = 1;
    for (; p < end; p = eol + 1) {
        agent_str name, value;
        eol = (const char *)memchr(p, '\n', (size_t)(end - p));
        colon = (const char *)memchr(p, ':', (size_t)(eol - p));
        name.p = p;
        name.n = (size_t)(colon - p);
        for (q = lines.p; q < p; q = (const char *)memchr(q, '\n', (size_t)(end - q)) + 1)
            if (memcmp(q, p, name.n + 1) == 0) break;            /* was there before                                      */
        if (q < p) continue;
        if (!first) replay_puts(t, ",");
        first = 0;
        replay_quote(t, name);
        replay_puts(t, ":\"");
        t->n--;
        for (q = p; q < end; q = (const char *)memchr(q, '\n', (size_t)(end - q)) + 1) {
            size_t quote;
            if ((size_t)(end - q) <= name.n || memcmp(q, p, name.n + 1) != 0) continue;
            value.p = q + name.n + 2;
            value.n = (size_t)((const char *)memchr(q, '\n', (size_t)(end - q)) - value.p);
            if (q != p) { t->n--; replay_puts(t, ", "); }
            quote = t->n;
            replay_quote(t, value);
            if (q != p) { memmove(t->p + quote, t->p + quote + 1, t->n - quote); t->n--; }
        }
    }
}
typedef struct replay_message { replay_text head, body; int status; } replay_message;
static void replay_http_line(replay_text *t, const replay_message *m)
{
    agent_str body;
    replay_puts(t, "{\"ev\":\"http\"");
    replay_number(t, "status", m->status);
    replay_puts(t, ",\"headers\":{");
    replay_put(t, m->head.p, m->head.n);
    replay_puts(t, "}");
    body.p = m->body.n ? m->body.p : "";
    body.n = m->body.n;
    replay_member(t, "body", body);
    replay_puts(t, "}\n");
}
static void replay_http_event(replay *r, replay_message *m, const agent_http_event *ev, replay_text *bodies)
{
    if (ev->kind == AGENT_HTTP_INTERIM && bodies == NULL) {
        replay_puts(&r->out, "{\"ev\":\"http_interim\"");
        replay_number(&r->out, "status", ev->status);
        replay_puts(&r->out, "}\n");
    } else if (ev->kind == AGENT_HTTP_HEAD) {
        m->status = ev->status;
        m->head.n = m->body.n = 0;
        replay_headers(&m->head, ev->headers);
    } else if (ev->kind == AGENT_HTTP_BODY) replay_put(bodies ? bodies : &m->body, ev->body.p, ev->body.n);
    else if (ev->kind == AGENT_HTTP_END && bodies == NULL) replay_http_line(&r->out, m);
}
/* HTTP/1.1 messages as lines, or only the bytes of their bodies.                                                       */
static void replay_http(replay *r, const char *p, size_t n, replay_text *bodies)
{
    enum { MOST = 1 << 20 };                 /* for one head                                                            */
    replay_text keep = { NULL, 0, 0 };
    replay_message m;
    agent_http h;
    agent_http_event ev;
    const char *error = NULL;
    size_t at = 0, end, used;
    int rc = AGENT_MORE;
    memset(&m, 0, sizeof m);
    agent_http_init(&h, NULL, 0);
    while (at < n && error == NULL) {
        end = at + replay_piece(r, at, n);
        do {
            rc = agent_http_next(&h, p + at, end - at, &used, &ev);
            at += used;
            if (rc == AGENT_OK) replay_http_event(r, &m, &ev, bodies);
            else if (rc == AGENT_E_FULL && h.cap < MOST) { keep.n = h.len; replay_enlarge(&keep, &h.buf, &h.cap); }
            else if (rc != AGENT_MORE) error = h.error ? h.error : "the head is too long";
        } while (rc != AGENT_MORE && error == NULL);
    }
    if (error == NULL && r->eof != REPLAY_NONE) {
        rc = agent_http_eof(&h, &ev);
        if (rc == AGENT_OK) replay_http_event(r, &m, &ev, bodies);
        else if (rc == AGENT_E_SYNTAX) error = h.error;
    }
    if (error) {
        replay_puts(&r->out, "{\"ev\":\"http_error\"");
        replay_member(&r->out, "message", replay_str(error));
        replay_number(&r->out, "offset", (int64_t)h.offset);
        replay_puts(&r->out, "}\n");
    }
    free(keep.p);
    free(m.head.p);
    free(m.body.p);
}

/* ---- all of it ---- */
enum { REPLAY_UNKNOWN, REPLAY_CODEC, REPLAY_WIRE, REPLAY_LATER };
static int replay_format(const char *name)
{
    static const char *const wires[] = { "openai-chat", "anthropic", "openai-responses", "gemini", "gemini-interactions", "ollama", "ollama-generate", "cohere-v2", "cohere-v1",
        "openai-completions", "bedrock-converse", "bedrock-invoke" };
    static const char *const later[] = { "acp", "mcp", "jsonrpc" };
    size_t i;
    if (strcmp(name, "sse") == 0 || strcmp(name, "http") == 0 || strcmp(name, "json") == 0) return REPLAY_CODEC;
    for (i = 0; i < sizeof wires / sizeof *wires; i++) if (strcmp(name, wires[i]) == 0) return REPLAY_WIRE;
    for (i = 0; i < sizeof later / sizeof *later; i++) if (strcmp(name, later[i]) == 0) return REPLAY_LATER;
    return REPLAY_UNKNOWN;
}
/* Appends lines to r->out. OK, or why the engine could not even begin.                                                 */
static int replay_run(replay *r, const char *p, size_t n)
{
    replay_text body = { NULL, 0, 0 };
    int whole_http = r->http || strcmp(r->format, "http") == 0;
    if (replay_format(r->format) == REPLAY_WIRE) return replay_decode(r, p, n);
    if (replay_format(r->format) != REPLAY_CODEC) return AGENT_E_ARG;
    if (strcmp(r->format, "http") == 0) { replay_http(r, p, n, NULL); return AGENT_OK; }
    if (whole_http) {
        replay_http(r, p, n, &body);
        r->cuts = NULL;
        p = body.n ? body.p : "";
        n = body.n;
    }
    if (strcmp(r->format, "json") == 0) replay_json(r, p, n); else replay_sse(r, p, n);
    free(body.p);
    return AGENT_OK;
}
#endif
