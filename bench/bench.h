/* What the parts of build/bench share: a workload, where decoders put what they found, and the peers. C99 and C++17. */
#ifndef BENCH_H
#define BENCH_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* One HTTP/1.1 answer, chunked, with a stream of server-sent events in it. */
typedef struct bench_work {
    const char *name;
    const char *wire;              /* as agent_decode calls it                                                             */
    int anthropic;                 /* else OpenAI chat                                                                     */
    char *p; size_t n;
    size_t *cut, cuts;             /* offsets in p: where the feed `event` ends, one for each event                        */
    size_t events;
} bench_work;
/* Makes the named workload with about `bytes` bytes, the same ones each time. 0: unknown name, or no memory.              */
int  bench_gen(bench_work *, const char *name, size_t bytes);
void bench_gen_free(bench_work *);

/* What a decoder delivers. Only the order of the bytes counts, not how they were cut into deltas.                         */
typedef struct bench_sink {
    uint64_t text, reasoning, args;
    int64_t output;                /* tokens, as the usage says; -1: it does not                                           */
    const char *failed;            /* why, or NULL                                                                         */
} bench_sink;
static inline void bench_put(uint64_t *sum, const char *p, size_t n)      /* FNV-1a                                        */
{
    uint64_t h = *sum;
    size_t i;
    for (i = 0; i < n; i++) h = (h ^ (uint8_t)p[i]) * 0x100000001B3u;
    *sum = h;
}
/* Where the feed that begins at `at` ends; feed 0: after the next event. *i starts at 0 and is the caller's to keep.      */
static inline size_t bench_feed_end(const bench_work *w, size_t feed, size_t at, size_t *i)
{
    if (feed == 0) return *i < w->cuts ? w->cut[(*i)++] : w->n;
    return w->n - at < feed ? w->n : at + feed;
}

/* Decodes the whole workload into the sink, in feeds of that size.                                                        */
typedef void bench_run(const bench_work *, size_t feed, bench_sink *);
bench_run *bench_peer(const char *name);       /* NULL: not in this build                                                  */
extern uint64_t bench_allocs;                  /* peers count their allocations here                                       */

#ifdef __cplusplus
}
#endif
#endif
