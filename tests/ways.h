/* Runs bytes through examples/replay.h in all the ways that must not make a difference: whole, as given, byte by byte, cut at every
 * single position up to 4 KiB (above: each line end and 256 others), by agent_feed and by agent_recv_buf, in a fixed block; then with
 * each allocation refused in turn, where the events may differ but nothing may leak, crash or stay open. The invariant checker rides
 * along. Include agent.h first. */
#ifndef WAYS_H
#define WAYS_H
#include "examples/replay.h"
#include "check_events.h"

enum { WAYS_EVERY = 4096, WAYS_SOME = 256 };
typedef struct ways_heap { size_t live, calls, fail_from, fail_to; int trap; } ways_heap;   /* the calls that are refused, from 1  */
typedef struct ways {
    replay base;                             /* what the bytes are; how they are cut is set here                        */
    const char *p; size_t n;
    const size_t *given; size_t given_n;     /* cuts of their own                                                       */
    int quick;                               /* fewer cuts                                                              */
    replay_text out;                         /* the lines, after ways_run                                               */
    uint64_t log;                            /* of the events                                                           */
    char why[300];
    unsigned long runs;
    check c; int fresh;
    ways_heap heap;
} ways;

static void *ways_alloc(void *ctx, void *p, size_t old_size, size_t new_size)
{
    ways_heap *h = (ways_heap *)ctx;
    void *q = NULL;
    if (h->trap) { h->trap = 2; return NULL; }
    if (new_size && ++h->calls >= h->fail_from && h->calls <= h->fail_to) return NULL;
    if (new_size) q = malloc(new_size);      /* always another place, so that stale pointers show                       */
    if (new_size && q == NULL) abort();
    if (p && q) memcpy(q, p, old_size < new_size ? old_size : new_size);
    free(p);
    h->live += new_size - (p ? old_size : 0);
    return q;
}
static void ways_see(void *ctx, const agent_event *ev)
{
    ways *w = (ways *)ctx;
    const char *p;
    if (w->fresh) { check_decode(&w->c, ev->conn); w->fresh = 0; }
    check_event(&w->c, ev);
    for (p = w->c.line; p && *p; p++) w->log = (w->log ^ (unsigned char)*p) * 1099511628211u;
}
static int ways_fail(ways *w, const char *how, const char *what)
{
    if (w->why[0] == 0) sprintf(w->why, "%.80s: %.200s", how, what);
    return 0;
}
/* One run of r, whose lines and log stay. 1: nothing is broken.                                                        */
static int ways_once(ways *w, replay *r, const char *how)
{
    size_t fail_from = w->heap.fail_from, fail_to = w->heap.fail_to;
    int rc, trap = w->heap.trap;
    memset(&w->heap, 0, sizeof w->heap);
    w->heap.fail_from = fail_from;
    w->heap.fail_to = fail_to;
    w->heap.trap = trap;
    check_init(&w->c, NULL, r->desc.limits.piece);
    w->fresh = 1;
    w->log = 1469598103934665603u;
    w->runs++;
    r->out.n = 0;
    r->closed = 0;
    r->desc.alloc = ways_alloc;
    r->desc.alloc_ctx = &w->heap;
    r->see = ways_see;
    r->see_ctx = w;
    rc = replay_run(r, w->p, w->n);
    if (rc != AGENT_OK && w->heap.fail_from == 0) ways_fail(w, how, agent_code_text(rc));
    if (w->heap.live) ways_fail(w, how, "memory was not given back");
    if (w->heap.trap == 2) ways_fail(w, how, "memory outside of the block was asked for");
    if (rc == AGENT_OK && r->eof != REPLAY_NONE) check_over(&w->c);
    if (w->c.why[0]) ways_fail(w, how, w->c.why);
    check_free(&w->c);
    return w->why[0] == 0;
}
/* The same lines and the same events as the whole bytes gave.                                                          */
static int ways_same(ways *w, replay *r, const char *how)
{
    uint64_t log = w->log;
    int ok = ways_once(w, r, how);
    if (ok && (r->out.n != w->out.n || (r->out.n && memcmp(r->out.p, w->out.p, r->out.n)))) ok = ways_fail(w, how, "other lines came out");
    if (ok && w->log != log) ok = ways_fail(w, how, "other events came out");
    w->log = log;
    return ok;
}
static int ways_cut(ways *w, replay_text *keep, const size_t *cuts, size_t cut_n, size_t step, uint32_t chance, const char *how)
{
    replay r = w->base;
    char name[100];
    int ok = 1, both = replay_format(r.format) == REPLAY_WIRE ? 2 : 1;
    for (r.recv = 0; ok && r.recv < both; r.recv++) {
        r.out = *keep;
        r.cuts = cuts;
        r.cut_n = cut_n;
        r.step = step;
        r.chance = chance;
        r.by_chance = chance != 0;
        sprintf(name, "%.60s, %s", how, r.recv ? "recv_buf" : "feed");
        ok = ways_same(w, &r, name);
        *keep = r.out;
    }
    return ok;
}
static int ways_cuts(ways *w, replay_text *keep)
{
    char how[60];
    size_t at, stride = w->quick ? w->n / 12 + 1 : 1;
    uint32_t chance = 1;
    int ok = ways_cut(w, keep, w->given, w->given_n, 0, 0, "as given")
        && ways_cut(w, keep, NULL, 0, 1, 0, "byte by byte") && ways_cut(w, keep, NULL, 0, 7, 0, "by seven")
        && ways_cut(w, keep, NULL, 0, 0, 1, "by chance") && ways_cut(w, keep, NULL, 0, 0, 2, "by chance");
    for (at = 1; ok && at < w->n; at += stride) {
        if (w->n > WAYS_EVERY && w->p[at - 1] != '\n') continue;
        sprintf(how, "cut at %lu", (unsigned long)at);
        ok = ways_cut(w, keep, &at, 1, 0, 0, how);
    }
    for (at = 0; ok && w->n > WAYS_EVERY && at < WAYS_SOME / stride; at++) {
        size_t cut;
        chance = chance * 1664525u + 1013904223u;
        cut = 1 + (size_t)(chance >> 4) % (w->n - 1);
        sprintf(how, "cut at %lu", (unsigned long)cut);
        ok = ways_cut(w, keep, &cut, 1, 0, 0, how);
    }
    return ok;
}
static int ways_block(ways *w, replay_text *keep)
{
    size_t size = ((size_t)1 << 20) + 16 * w->n, step;
    char *block = (char *)malloc(size);
    replay r = w->base;
    int ok = 1;
    if (block == NULL) abort();
    w->heap.trap = 1;
    for (step = 0; ok && step < 2; step++) {
        r.step = step;
        r.out = *keep;
        r.desc.block = block;
        r.desc.block_size = size;
        ok = ways_same(w, &r, step ? "in a block, byte by byte" : "in a block");
        *keep = r.out;
    }
    w->heap.trap = 0;
    free(block);
    return ok;
}
static int ways_refuse(ways *w, replay_text *keep)
{
    size_t at, calls = w->heap.calls, stride = w->quick ? 1 + calls / 8 : 1;
    uint64_t log = w->log;
    replay r;
    char how[60];
    int ok = 1, all;
    for (at = 1; ok && at <= calls; at += stride) for (all = 0; ok && all < 2; all++) {
        r = w->base;
        r.out = *keep;
        r.step = 64;
        r.recv = all;
        w->heap.fail_from = at;
        w->heap.fail_to = all ? (size_t)-1 : at;
        sprintf(how, "allocation %lu refused%s", (unsigned long)at, all ? ", and all after it" : "");
        ok = ways_once(w, &r, how);
        *keep = r.out;
    }
    w->heap.fail_from = w->heap.fail_to = 0;
    w->log = log;
    return ok;
}
/* All ways. 1: they agree, w->out holds the lines; 0: w->why says what broke.                                          */
static int ways_run(ways *w)
{
    replay_text keep = { NULL, 0, 0 };
    replay r = w->base;
    size_t calls;
    int ok;
    w->heap.fail_from = w->heap.fail_to = 0;
    w->heap.trap = 0;
    r.out = w->out;
    ok = ways_once(w, &r, "whole");
    w->out = r.out;
    r = w->base;
    r.step = 64;
    r.out = keep;
    ok = ok && ways_same(w, &r, "by 64");
    keep = r.out;
    calls = w->heap.calls;
    if (ok && w->n) ok = ways_cuts(w, &keep);
    if (ok && replay_format(w->base.format) == REPLAY_WIRE) {
        w->heap.calls = calls;
        ok = ways_refuse(w, &keep) && ways_block(w, &keep);
    }
    free(keep.p);
    return ok;
}

/* ---- a body as an HTTP answer ---- */
enum ways_wrap { WAYS_UNTIL_CLOSE, WAYS_CHUNKED, WAYS_LENGTH };
static void ways_wrap(const ways *w, int how, replay_text *t, size_t *cuts)  /* cuts: given_n + 1 of them, may be NULL */
{
    char line[80];
    const char *h, *eol;
    size_t i, at = 0, end;
    sprintf(line, "HTTP/1.1 %d Wrapped\r\n", w->base.status ? w->base.status : 200);
    replay_puts(t, line);
    for (h = w->base.headers; h && *h; h = eol + 1) {
        eol = strchr(h, '\n');
        replay_put(t, h, (size_t)(eol - h));
        replay_puts(t, "\r\n");
    }
    if (how == WAYS_CHUNKED) replay_puts(t, "Transfer-Encoding: chunked\r\n");
    if (how == WAYS_LENGTH) { sprintf(line, "Content-Length: %lu\r\n", (unsigned long)w->n); replay_puts(t, line); }
    replay_puts(t, "\r\n");
    for (i = 0; i <= w->given_n; i++, at = end) {
        end = i < w->given_n ? w->given[i] : w->n;
        if (cuts) cuts[i] = t->n;
        if (end == at) continue;
        if (how == WAYS_CHUNKED) { sprintf(line, "%lx\r\n", (unsigned long)(end - at)); replay_puts(t, line); }
        replay_put(t, w->p + at, end - at);
        if (how == WAYS_CHUNKED) replay_puts(t, "\r\n");
    }
    if (how == WAYS_CHUNKED && w->base.eof == REPLAY_CLEAN) replay_puts(t, "0\r\n\r\n");
}
/* The same lines, but for the words and the place of an error.                                                         */
static int ways_alike(const replay_text *a, const replay_text *b)
{
    size_t i = 0, k = 0;
    while (i < a->n && k < b->n) {
        static const char error[] = "{\"ev\":\"error\"";
        const char *ea = (const char *)memchr(a->p + i, '\n', a->n - i), *eb = (const char *)memchr(b->p + k, '\n', b->n - k);
        size_t na = (size_t)(ea - (a->p + i)), nb = (size_t)(eb - (b->p + k)), m = 0;
        if (na > sizeof error && memcmp(a->p + i, error, sizeof error - 1) == 0) {
            while (m < na && m < nb && a->p[i + m] == b->p[k + m] && memcmp(a->p + i + m, ",\"message\"", 10)) m++;
            if (m < 10 || m >= na || memcmp(a->p + i + m, ",\"message\"", 10)) return 0;
        } else if (na != nb || memcmp(a->p + i, b->p + k, na)) return 0;
        i += na + 1;
        k += nb + 1;
    }
    return i == a->n && k == b->n;
}
/* A body also as raw HTTP, in every framing, in all ways.                                                              */
static int ways_run_wrapped(ways *w)
{
    static const char *const names[] = { "raw, until close: ", "raw, chunked: ", "raw, with a length: " };
    ways in;
    replay_text t;
    int how, ok = 1;
    for (how = w->quick ? WAYS_CHUNKED : 0; ok && how < (w->quick ? WAYS_LENGTH : 3); how++) {
        size_t *cuts = (size_t *)malloc((w->given_n + 1) * sizeof *cuts);
        if (cuts == NULL) abort();
        memset(&t, 0, sizeof t);
        memset(&in, 0, sizeof in);
        if (w->base.eof == REPLAY_CLOSE && how == WAYS_UNTIL_CLOSE) { free(cuts); continue; }    /* a close would be the end  */
        ways_wrap(w, how, &t, cuts);
        if (w->base.eof != REPLAY_CLEAN && how == WAYS_LENGTH) { free(cuts); free(t.p); continue; }
        in.base = w->base;
        in.base.http = 1;
        in.base.status = 0;
        in.base.headers = NULL;
        in.quick = w->quick;
        in.p = t.p;
        in.n = t.n;
        in.given = cuts;
        in.given_n = w->given_n + 1;
        ok = ways_run(&in);
        if (ok && !ways_alike(&in.out, &w->out)) ok = ways_fail(&in, "", "other lines came out than for a host that speaks HTTP");
        if (!ok) sprintf(w->why, "%s%.250s", names[how], in.why);
        w->runs += in.runs;
        free(in.out.p);
        free(t.p);
        free(cuts);
    }
    return ok;
}
#endif
