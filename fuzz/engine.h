/* What the targets that drive an engine share: an allocator that can fail and checks its sizes, a log of events, chance.
 * Include check_events.h first. */
#ifndef FUZZ_ENGINE_H
#define FUZZ_ENGINE_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_at(int good, const char *what, int line)
{
    if (good) return;
    fprintf(stderr, "line %d: %s\n", line, what);
    abort();
}
#define CHECK(x) check_at(!!(x), #x, __LINE__)

static void fuzz_check(const check *c)        /* of check_events.h                                                      */
{
    if (c->why[0] == 0) return;
    fprintf(stderr, "%s\n", c->why);
    abort();
}

/* ---- memory: every block remembers its size ---- */
typedef struct fuzz_mem { size_t live, blocks, calls, fail_at, fail_for; } fuzz_mem;  /* fail_at 0: never; from then on fail_for times */
enum { FUZZ_FRONT = 16 };

static void *fuzz_alloc(void *ctx, void *p, size_t old_n, size_t n)
{
    fuzz_mem *m = (fuzz_mem *)ctx;
    char *old = p ? (char *)p - FUZZ_FRONT : NULL, *q;
    size_t was = 0;
    if (old) memcpy(&was, old, sizeof was);
    CHECK(was == old_n);
    if (n) {
        m->calls++;
        if (m->fail_at && m->calls >= m->fail_at && m->calls - m->fail_at < m->fail_for) return NULL;
        q = (char *)malloc(n + FUZZ_FRONT);   /* always elsewhere, so that a stale pointer is seen                      */
        if (q == NULL) abort();
        memcpy(q, &n, sizeof n);
        if (old) memcpy(q + FUZZ_FRONT, p, old_n < n ? old_n : n);
        m->live += n;
        m->blocks++;
    } else q = NULL;
    if (old) { free(old); m->live -= old_n; m->blocks--; }
    return q ? q + FUZZ_FRONT : NULL;
}

/* ---- logs ---- */
typedef struct fuzz_log { char *p; size_t n, cap; } fuzz_log;

static void fuzz_log_add(fuzz_log *l, const void *p, size_t n)
{
    if (l->n + n > l->cap) {
        l->cap = (l->n + n) * 2;
        l->p = (char *)realloc(l->p, l->cap);
        if (l->p == NULL) abort();
    }
    if (n) memcpy(l->p + l->n, p, n);
    l->n += n;
}
static void fuzz_log_event(fuzz_log *l, const agent_event *ev)
{
    char small[512];
    size_t n = agent_event_json(ev, small, sizeof small);
    char *big;
    if (n < sizeof small) { fuzz_log_add(l, small, n); fuzz_log_add(l, "\n", 1); return; }
    big = (char *)malloc(n + 1);
    if (big == NULL) abort();
    CHECK(agent_event_json(ev, big, n + 1) == n);
    fuzz_log_add(l, big, n);
    fuzz_log_add(l, "\n", 1);
    free(big);
}
static size_t fuzz_log_diff(const fuzz_log *a, const fuzz_log *b)           /* where they differ; (size_t)-1: nowhere   */
{
    size_t i = 0;
    while (i < a->n && i < b->n && a->p[i] == b->p[i]) i++;
    return i == a->n && i == b->n ? (size_t)-1 : i;
}
static void fuzz_log_same(const fuzz_log *a, const fuzz_log *b, const char *what)
{
    size_t at = fuzz_log_diff(a, b), from;
    if (at == (size_t)-1) return;
    from = at > 300 ? at - 300 : 0;
    fprintf(stderr, "%s differ at %lu\n---- one\n%.*s\n---- other\n%.*s\n", what, (unsigned long)at,
            (int)(a->n - from < 900 ? a->n - from : 900), a->n ? a->p + from : "", (int)(b->n - from < 900 ? b->n - from : 900), b->n ? b->p + from : "");
    abort();
}
static void fuzz_log_free(fuzz_log *l) { free(l->p); memset(l, 0, sizeof *l); }

static uint32_t fuzz_chance(uint32_t *seed) { *seed = *seed * 1664525u + 1013904223u; return *seed >> 8; }
/* How long the next piece is: 0 all, 1 a byte, else by chance.                                                        */
static size_t fuzz_piece(int cut, uint32_t *seed, size_t left)
{
    size_t n = cut == 0 ? left : cut == 1 ? 1 : 1 + fuzz_chance(seed) % (fuzz_chance(seed) % 4 ? 13 : 900);
    return n < left ? n : left;
}
#endif
