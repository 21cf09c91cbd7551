/* bench: the same bytes through agent.h and through the peers that are installed, one after the other, again and again.
 *
 *   bench [--csv] [--only WORKLOAD] [--feed 16384|1460|event] [--impl NAME] [--mb N] [--rounds N]
 *
 * A workload is one HTTP/1.1 answer of about N MB (default 20) with a stream of small events in it. Each decoder gets it in feeds of
 * a given size, as read() would give them, and puts all text, reasoning and arguments into checksums, which must be the same for
 * all. Times are medians of CPU time over the rounds. Allocations are counted in a pass of its own; what agent.h still holds when the
 * answer has ended is the history, which peers do not keep, and does not count. Exit 1: a decoder failed, or sums differ. */
#define _POSIX_C_SOURCE 200809L
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS_MAX = 99, IMPLS = 5, WORKLOADS = 4, FEEDS = 3 };

typedef struct impl { const char *name, *package; bench_run *run; } impl;
typedef struct result { double time[ROUNDS_MAX], median, allocs; uint64_t sum; } result;
typedef struct options { const char *only, *feed, *impl; unsigned mb, rounds; int csv; } options;

static const char *const workloads[WORKLOADS] = { "openai", "toolargs", "anthropic", "hostile" };
static const struct { const char *name; size_t n; } feeds[FEEDS] = { { "16384", 16384 }, { "1460", 1460 }, { "event", 0 } };

uint64_t bench_allocs;
static int counting;

/* ---- agent.h ---- */
/* Counts what is given back before the answer ends, but for texts of the history that were replaced by a copy of twice the room.
 * The last of such a chain is either kept, and then it is history, or counted. */
typedef struct counter {
    uint64_t made, counted;
    uint64_t twice[64];                  /* [k]: when the last block of 2^k was made; 0: it has excused one of half of that        */
} counter;
typedef union block { struct { uint64_t made, times; } h; long double align; void *p[2]; } block;

static unsigned log2_of(size_t size)     /* of a blob's room; 0: no power of two                                           */
{
    size_t room = size - sizeof(agenti_blob);
    unsigned k = 0;
    if (size <= sizeof(agenti_blob) || (room & (room - 1)) != 0) return 0;
    while (room >> k > 1) k++;
    return k;
}
static void count_free(counter *c, const block *b, size_t size)
{
    unsigned k = log2_of(size);
    if (k && k < 62 && c->twice[k + 1] > b->h.made) c->twice[k + 1] = 0; else c->counted += b->h.times;
}
static void *count_alloc(void *ctx, void *p, size_t old_size, size_t new_size)
{
    counter *c = (counter *)ctx;
    block *b = p ? (block *)p - 1 : NULL;
    if (new_size == 0) {
        if (b) count_free(c, b, old_size);
        free(b);
        return NULL;
    }
    if ((b = (block *)realloc(b, sizeof *b + new_size)) == NULL) return NULL;
    b->h.times = p ? b->h.times + 1 : 1;
    if (!p) c->twice[log2_of(new_size)] = b->h.made = ++c->made;
    return b + 1;
}
static int take(const agent_event *ev, bench_sink *s, const counter *c)
{
    switch (ev->type) {
    case AGENT_EV_TEXT_DELTA: bench_put(&s->text, ev->text.p, ev->text.n); break;
    case AGENT_EV_REASONING_DELTA: bench_put(&s->reasoning, ev->text.p, ev->text.n); break;
    case AGENT_EV_INPUT_DELTA: bench_put(&s->args, ev->text.p, ev->text.n); break;
    case AGENT_EV_ERROR: s->failed = "an ERROR event"; break;
    case AGENT_EV_STEP_END:
        if (ev->u.end.usage) s->output = ev->u.end.usage->output;
        bench_allocs = c->counted;
        return 1;
    default: break;
    }
    return 0;
}
static void run_agent(const bench_work *w, size_t feed, bench_sink *s)
{
    agent_desc d = AGENT_ZERO;
    agent_engine *e;
    const agent_event *ev;
    agent_id conn;
    counter c;
    size_t at = 0, i = 0, n, end, cap;
    int ended = 0;
    void *to;
    memset(&c, 0, sizeof c);
    if (counting) { d.alloc = count_alloc; d.alloc_ctx = &c; }
    d.limits.item = d.limits.calls_per_step = AGENT_OFF;
    if (agent_open(&e, &d) != AGENT_OK) { s->failed = "agent_open"; return; }
    if ((conn = agent_decode(e, w->wire, AGENT_VIA_BYTES, NULL)) == 0) s->failed = "agent_decode";
    while (at < w->n && !s->failed) {
        for (end = bench_feed_end(w, feed, at, &i); at < end && !s->failed; at += n) {
            if ((to = agent_recv_buf(e, conn, &cap)) == NULL) { s->failed = "agent_recv_buf"; break; }
            n = end - at < cap ? end - at : cap;
            memcpy(to, w->p + at, n);    /* what read() would do */
            agent_recv_ack(e, conn, n);
            do while ((ev = agent_next(e)) != NULL) ended |= take(ev, s, &c);
            while (agent_deadline(e) == 0);
        }
    }
    if (!s->failed && !ended) s->failed = "the answer did not end";
    agent_close(e);
}

/* ---- rounds ---- */
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static uint64_t sum_of(const bench_sink *s)
{
    uint64_t h = s->text;
    h = h * 0x9E3779B97F4A7C15u + s->reasoning;
    h = h * 0x9E3779B97F4A7C15u + s->args;
    return h * 0x9E3779B97F4A7C15u + (uint64_t)s->output;
}
/* 0: it failed. */
static int once(const impl *m, const bench_work *w, size_t feed, double *seconds, uint64_t *sum)
{
    bench_sink s = { 0xCBF29CE484222325u, 0xCBF29CE484222325u, 0xCBF29CE484222325u, -1, NULL };
    double t = cpu();
    m->run(w, feed, &s);
    *seconds = cpu() - t;
    *sum = sum_of(&s);
    if (s.failed) fprintf(stderr, "bench: %s fails in %s: %s\n", m->name, w->name, s.failed);
    return s.failed == NULL;
}
static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
/* One workload with one feed through all. 0: one failed, or they do not agree. */
static int race(const impl *impls, const bench_work *w, size_t feed, const options *o, result *r)
{
    unsigned round, i;
    uint64_t sum, first = 0;
    int good = 1, any = 0;
    for (i = 0; i < IMPLS; i++) {
        if (impls[i].run == NULL) continue;
        bench_allocs = 0;
        counting = 1;
        good &= once(&impls[i], w, feed, &r[i].time[0], &r[i].sum);
        counting = 0;
        r[i].allocs = (double)bench_allocs / (double)w->events;
        if (!any) first = r[i].sum;
        any = 1;
        if (r[i].sum != first) { fprintf(stderr, "bench: %s delivers something else in %s\n", impls[i].name, w->name); good = 0; }
    }
    for (round = 0; round < o->rounds && good; round++)
        for (i = 0; i < IMPLS && good; i++)
            if (impls[i].run) good = once(&impls[i], w, feed, &r[i].time[round], &sum) && sum == r[i].sum;
    for (i = 0; i < IMPLS && good; i++) {
        if (impls[i].run == NULL) continue;
        qsort(r[i].time, o->rounds, sizeof r[i].time[0], by_value);
        r[i].median = r[i].time[o->rounds / 2];
    }
    return good;
}
static void print_csv(const impl *impls, const bench_work *w, const char *feed, const result *r)
{
    unsigned i;
    for (i = 0; i < IMPLS; i++)
        if (impls[i].run)
            printf("%s,%s,%s,%.1f,%.1f,%.4f,%016llx\n", w->name, feed, impls[i].name, (double)w->n / r[i].median / 1e6,
                   r[i].median * 1e9 / (double)w->events, r[i].allocs, (unsigned long long)r[i].sum);
}
static void print_table(const impl *impls, const bench_work *w, const char *feed, const result *r)
{
    unsigned i;
    for (i = 0; i < IMPLS; i++) {
        if (impls[i].run == NULL) continue;
        printf("%-10s %-6s %-9s %9.1f %9.1f %9.4f", w->name, feed, impls[i].name, (double)w->n / r[i].median / 1e6,
               r[i].median * 1e9 / (double)w->events, r[i].allocs);
        if (i > 0 && impls[0].run) printf("   agent.h: %5.2f x", r[i].median / r[0].median);
        puts("");
    }
}
static int run_all(const impl *impls, const options *o)
{
    static result r[IMPLS];
    unsigned i, f;
    int good = 1, any = 0;
    for (i = 0; i < WORKLOADS; i++) {
        bench_work w;
        if (o->only && strcmp(o->only, workloads[i]) != 0) continue;
        if (!bench_gen(&w, workloads[i], (size_t)o->mb * 1000000)) { fprintf(stderr, "bench: out of memory\n"); return 0; }
        for (f = 0; f < FEEDS; f++) {
            if (o->feed && strcmp(o->feed, feeds[f].name) != 0) continue;
            any = 1;
            if (!race(impls, &w, feeds[f].n, o, r)) good = 0;
            else if (o->csv) print_csv(impls, &w, feeds[f].name, r);
            else print_table(impls, &w, feeds[f].name, r);
            fflush(stdout);
        }
        bench_gen_free(&w);
    }
    if (!any) fprintf(stderr, "bench: no such workload or feed\n");
    return good && any;
}

/* ---- the command ---- */
static void missing(const impl *impls)
{
    unsigned i, n = 0;
    for (i = 1; i < IMPLS; i++) n += impls[i].run == NULL;
    if (n == 0) return;
    fprintf(stderr, "bench: not in this build:");
    for (i = 1; i < IMPLS; i++) if (impls[i].run == NULL) fprintf(stderr, " %s", impls[i].name);
    fprintf(stderr, ". On Debian: apt-get install g++ libhttp-parser-dev");
    for (i = 1; i < IMPLS; i++) if (impls[i].run == NULL) fprintf(stderr, " %s", impls[i].package);
    fprintf(stderr, "\n");
}
static int number(const char *text, unsigned most, unsigned *to)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    *to = (unsigned)v;
    return *text >= '0' && *text <= '9' && *end == 0 && v >= 1 && v <= most;
}
static int option(options *o, const char *name, const char *value)
{
    if (strcmp(name, "--only") == 0) o->only = value;
    else if (strcmp(name, "--feed") == 0) o->feed = value;
    else if (strcmp(name, "--impl") == 0) o->impl = value;
    else if (strcmp(name, "--mb") == 0) return number(value, 1000, &o->mb);
    else if (strcmp(name, "--rounds") == 0) return number(value, ROUNDS_MAX, &o->rounds);
    else return 0;
    return 1;
}
int main(int argc, char **argv)
{
    static impl impls[IMPLS] = { { "agent", "", run_agent }, { "simdjson", "libsimdjson-dev", NULL },
        { "yajl", "libyajl-dev", NULL }, { "jansson", "libjansson-dev", NULL }, { "cjson", "libcjson-dev", NULL } };
    options o = { NULL, NULL, NULL, 20, 7, 0 };
    int i;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--csv") == 0) o.csv = 1;
        else if (i + 1 < argc && option(&o, argv[i], argv[i + 1])) i++;
        else {
            fprintf(stderr, "usage: bench [--csv] [--only openai|toolargs|anthropic|hostile] [--feed 16384|1460|event] [--impl NAME]"
                            " [--mb 1..1000] [--rounds 1..%d]\n", ROUNDS_MAX);
            return 2;
        }
    }
#ifdef BENCH_PEERS
    for (i = 1; i < IMPLS; i++) impls[i].run = bench_peer(impls[i].name);
#endif
    missing(impls);
    if (o.impl) for (i = 0; i < IMPLS; i++) if (strcmp(o.impl, impls[i].name) != 0) impls[i].run = NULL;
    if (o.csv) puts("workload,feed,impl,mb_per_s,ns_per_event,allocs_per_event,checksum");
    else printf("%-10s %-6s %-9s %9s %9s %9s   peers: http_parser, a line splitter, and the library named\n",
                "workload", "feed", "impl", "MB/s", "ns/event", "allocs/ev");
    return run_all(impls, &o) ? 0 : 1;
}
