/* Server-sent events and lines.
 * - The events are the same, with their offsets, for the bytes whole, byte by byte, and in pieces by chance, with a buffer that is
 *   large from the start or grows from nothing.
 * - Every byte is used; no event's data is longer than the input.
 * - The work is linear: no input makes the reader touch more than a fixed multiple of its bytes.
 * - After E_FULL and a skip the reader goes on and loses no later event.
 * seeds: sse text prefix 1 */
#include <stdint.h>
#include "touch.h"
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "codecs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good) { if (!good) abort(); }
static void compare(const char *in, size_t n, uint32_t flags, int how)
{
    static const cut cuts[] = {{0, CUT_REST}, {0, 1}, {0, 0}, {3, 7}};
    codec_log first = {NULL, 0, 0}, other;
    size_t i, cap;
    unsigned long long budget = 64ull * n + 4096;
    for (i = 0; i < 8; i++) {
        memset(&other, 0, sizeof other);
        cap = i < 4 ? 2 * n + 16 : i & 1;
        touched = 0;
        sse_run(in, n, cuts[i % 4], cap, flags, how, i ? &other : &first);
        check(touched <= budget);
        if (i) check(log_same(&first, &other));
        log_free(&other);
    }
    log_free(&first);
    for (i = 0; i < 8; i++) {
        memset(&other, 0, sizeof other);
        lines_run(in, n, cuts[i % 4], i < 4 ? n + 16 : i & 1, i ? &other : &first);
        if (i) check(log_same(&first, &other));
        log_free(&other);
    }
    log_free(&first);
    check(codec_broken == 0);
}
/* A buffer that stays small: what does not fit is dropped, and a known event behind it still comes.                   */
static int small(agent_sse *s, const char *in, size_t n, size_t piece)       /* 1: the last event was the known one     */
{
    agent_sse_event e;
    size_t at = 0, used, k;
    int rc, known = 0;
    while (at < n) {
        k = n - at < piece ? n - at : piece;
        rc = agent_sse_next(s, in + at, k, &used, &e);
        check(used <= k && s->len <= s->cap);
        at += used;
        if (rc == AGENT_OK) known = e.data.n == 4 && memcmp(e.data.p, "last", 4) == 0;
        else if (rc == AGENT_E_FULL) agent_sse_skip(s);
        else check(rc == AGENT_MORE && used == k);
    }
    return known;
}
static void drop(const char *in, size_t n, size_t cap)
{
    static const char tail[] = "\n\n\n\ndata: last\n\n";
    char buf[80];
    agent_sse s;
    agent_sse_init(&s, buf, cap, 0);
    (void)small(&s, in, n, 9);
    check(small(&s, tail, sizeof tail - 1, CUT_REST) == 1);
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned options = size ? data[0] : 0;
    const char *in = (const char *)data + (size ? 1 : 0);
    size_t n = size ? size - 1 : 0;
    compare(in, n, options & 1 ? (uint32_t)AGENT_SSE_ERROR_FIELD : 0, options & 2 ? SSE_END : 0);
    drop(in, n, 16 + (options >> 2));
    return 0;
}
