/* Runs a codec over bytes cut in some way and writes down what came out: the same log for every cut is what the tests ask for.
 * Every piece and every buffer is a block of its own size, so that a sanitizer sees each byte that is read too far. */
#ifndef CODECS_H
#define CODECS_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned codec_broken;            /* how often a reader did not keep its calling rules                           */
#define CUT_REST ((size_t)-1)
typedef struct cut { size_t first, step; } cut;             /* the first piece, all others; step 0: sizes by chance    */
typedef struct codec_log { char *p; size_t n, cap; } codec_log;

static void log_add(codec_log *l, const char *p, size_t n)
{
    if (l->n + n + 1 > l->cap) {
        l->cap = (l->n + n + 1) * 2;
        l->p = (char *)realloc(l->p, l->cap);
        if (l->p == NULL) abort();
    }
    if (n) memcpy(l->p + l->n, p, n);
    l->n += n;
    l->p[l->n] = 0;
}
static void log_text(codec_log *l, const char *text) { log_add(l, text, strlen(text)); }
static void log_str(codec_log *l, agent_str s) { log_add(l, s.p, s.n); }
static void log_num(codec_log *l, const char *before, unsigned long long v)
{
    char text[64];
    sprintf(text, "%.30s%llu", before, v);
    log_text(l, text);
}
static void log_free(codec_log *l) { free(l->p); memset(l, 0, sizeof *l); }
static int log_same(const codec_log *a, const codec_log *b) { return a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0); }

static char *codec_block(const char *p, size_t n)            /* never NULL, even for nothing                            */
{
    char *q = (char *)malloc(n ? n : 1);
    if (q == NULL) abort();
    if (n) memcpy(q, p, n);
    return q;
}
/* A larger buffer with the same len bytes.                                                                            */
static void codec_enlarge(char **buf, size_t *cap, size_t len)
{
    size_t more = *cap * 2 + 1;
    char *q = (char *)malloc(more);
    if (q == NULL) abort();
    if (len) memcpy(q, *buf, len);
    free(*buf);
    *buf = q;
    *cap = more;
}
static size_t cut_piece(const cut *c, size_t at, size_t n, unsigned *chance)
{
    size_t k = at == 0 && c->first ? c->first : c->step;
    if (k == 0) {
        *chance = *chance * 1664525u + 1013904223u;
        k = 1 + (*chance >> 24) % 32;
        if (k > 24) k *= 40;
    }
    return k < n - at ? k : n - at;
}

/* ---- server-sent events: "event|data|id|offset\n" each ---- */
enum { SSE_END = 1 /* also take an unfinished last event */, SSE_NO_OFFSETS = 2 };
static void sse_log(codec_log *l, const agent_sse_event *e, int how)
{
    log_str(l, e->event);
    log_text(l, "|");
    log_str(l, e->data);
    log_text(l, "|");
    log_str(l, e->id);
    if (!(how & SSE_NO_OFFSETS)) log_num(l, "|", e->offset);
    log_text(l, "\n");
}
/* Returns the buffer's size in the end.                                                                               */
static size_t sse_run(const char *in, size_t n, cut c, size_t cap, uint32_t flags, int how, codec_log *l)
{
    agent_sse s;
    agent_sse_event e;
    size_t at = 0, piece, done, used;
    unsigned chance = 7;
    char *block = codec_block("", 0), *q;
    int rc;
    if (cap) { free(block); block = (char *)malloc(cap); }
    agent_sse_init(&s, cap ? block : NULL, cap, flags);
    while (at < n) {
        piece = cut_piece(&c, at, n, &chance);
        q = codec_block(in + at, piece);
        for (done = 0;; done += used) {
            rc = agent_sse_next(&s, q + done, piece - done, &used, &e);
            if (rc == AGENT_OK) sse_log(l, &e, how);
            else if (rc == AGENT_E_FULL) { codec_enlarge(&block, &cap, s.len); s.buf = block; s.cap = cap; }
            else break;
        }
        if (rc != AGENT_MORE || done + used != piece) codec_broken++;
        free(q);
        at += piece;
    }
    if (s.offset != n) codec_broken++;
    if (how & SSE_END) {
        while ((rc = agent_sse_end(&s, &e)) == AGENT_E_FULL) { codec_enlarge(&block, &cap, s.len); s.buf = block; s.cap = cap; }
        if (rc == AGENT_OK) sse_log(l, &e, how);
    }
    free(block);
    return cap;
}

/* ---- lines: "<line>\n" ---- */
static void lines_run(const char *in, size_t n, cut c, size_t cap, codec_log *l)
{
    agent_lines s;
    agent_str line;
    size_t at = 0, piece, done, used;
    unsigned chance = 7;
    char *block = (char *)malloc(cap ? cap : 1), *q;
    int rc;
    agent_lines_init(&s, block, cap);
    while (at < n) {
        piece = cut_piece(&c, at, n, &chance);
        q = codec_block(in + at, piece);
        for (done = 0;; done += used) {
            rc = agent_lines_next(&s, q + done, piece - done, &used, &line);
            if (rc == AGENT_OK) { log_text(l, "<"); log_str(l, line); log_text(l, ">\n"); }
            else if (rc == AGENT_E_FULL) { codec_enlarge(&block, &cap, s.len); s.buf = block; s.cap = cap; }
            else break;
        }
        if (rc != AGENT_MORE || done + used != piece) codec_broken++;
        free(q);
        at += piece;
    }
    if (s.offset != n) codec_broken++;
    if (agent_lines_end(&s, &line) == AGENT_OK) { log_text(l, "<"); log_str(l, line); log_text(l, ">\n"); }
    free(block);
}

/* ---- HTTP ---- */
enum { HTTP_ALL_HEAD = 1 /* every request was a HEAD */, HTTP_FIRST_ONLY = 2 /* stop at the first END */, HTTP_EOF = 4 };
typedef struct http_result {
    codec_log head, body;                /* all events but BODY; the bytes of all bodies                               */
    codec_log plain;                     /* "status reason\nheaders", the body, trailers and "END\n"                   */
    int code;                            /* MORE, E_SYNTAX, E_FULL; OK: stopped at an END                              */
    int heads, ends;                     /* how many                                                                   */
    int status, framing, keep_alive;     /* of the last HEAD                                                           */
    size_t used;
    unsigned long long offset;
    const char *error;
} http_result;

static void http_log_plain(codec_log *l, const agent_http_event *e)
{
    if (e->kind == AGENT_HTTP_HEAD || e->kind == AGENT_HTTP_INTERIM) {
        log_num(l, "", (unsigned)e->status);
        log_text(l, " ");
        log_str(l, e->reason);
        log_text(l, "\n");
    }
    log_str(l, e->kind == AGENT_HTTP_BODY ? e->body : e->headers);
    if (e->kind == AGENT_HTTP_END || e->kind == AGENT_HTTP_INTERIM) log_text(l, "END\n");
}
static void http_log(http_result *r, const agent_http_event *e)
{
    static const char *const kinds[] = {"NONE", "INTERIM", "HEAD", "BODY", "END"};
    http_log_plain(&r->plain, e);
    if (e->kind == AGENT_HTTP_BODY) {
        log_str(&r->body, e->body);
        if (e->body.n == 0) codec_broken++;
        return;
    }
    if (e->kind == AGENT_HTTP_HEAD) { r->heads++; r->status = e->status; r->framing = e->framing; r->keep_alive = e->keep_alive; }
    if (e->kind == AGENT_HTTP_END) r->ends++;
    log_text(&r->head, kinds[e->kind]);
    log_num(&r->head, " ", (unsigned)e->status);
    log_num(&r->head, " framing ", (unsigned)e->framing);
    log_num(&r->head, " keep ", (unsigned)e->keep_alive);
    log_text(&r->head, " ");
    log_str(&r->head, e->reason);
    log_text(&r->head, "\n");
    log_str(&r->head, e->headers);
}
/* Feeds one piece until MORE or an error; *used counts. Returns 0 when the run is over.                               */
static int http_piece(agent_http *h, const char *q, size_t n, size_t max, int flags, size_t *done, http_result *r)
{
    agent_http_event e;
    size_t used;
    for (;;) {
        r->code = agent_http_next(h, q + *done, n - *done, &used, &e);
        *done += used;
        if (r->code == AGENT_OK) {
            http_log(r, &e);
            if (e.kind == AGENT_HTTP_END && flags & HTTP_ALL_HEAD) agent_http_expect(h, 1);
            if (e.kind == AGENT_HTTP_END && flags & HTTP_FIRST_ONLY) return 0;
        } else if (r->code == AGENT_E_FULL && h->cap < max) codec_enlarge(&h->buf, &h->cap, h->len);
        else return r->code == AGENT_MORE;
    }
}
static void http_run(const char *in, size_t n, cut c, size_t cap, size_t max, int flags, http_result *r)
{
    agent_http h;
    agent_http_event e;
    size_t at = 0, piece, done, again = 0;
    unsigned chance = 7;
    int on = 1;
    char *q;
    memset(r, 0, sizeof *r);
    agent_http_init(&h, malloc(cap ? cap : 1), cap);
    if (flags & HTTP_ALL_HEAD) agent_http_expect(&h, 1);
    r->code = AGENT_MORE;
    while (on && at < n) {
        piece = cut_piece(&c, at, n, &chance);
        q = codec_block(in + at, piece);
        done = 0;
        on = http_piece(&h, q, piece, max, flags, &done, r);
        if (on && done != piece) codec_broken++;
        free(q);
        r->used += done;
        at += piece;
    }
    if (flags & HTTP_EOF && r->code == AGENT_MORE) {
        r->code = agent_http_eof(&h, &e);
        if (r->code == AGENT_OK) http_log(r, &e);
    }
    if (r->code == AGENT_E_SYNTAX) {
        q = codec_block("x", 1);
        if (agent_http_next(&h, q, 1, &again, &e) != AGENT_E_SYNTAX || again) codec_broken++;
        free(q);
    }
    r->error = h.error;
    r->offset = h.offset;
    free(h.buf);
}
static void http_free(http_result *r) { log_free(&r->head); log_free(&r->body); log_free(&r->plain); }
static int http_same(const http_result *a, const http_result *b)     /* used is not compared: an error's is where it was seen */
{
    return a->code == b->code && a->offset == b->offset && a->error == b->error && log_same(&a->head, &b->head) && log_same(&a->body, &b->body);
}
#endif
