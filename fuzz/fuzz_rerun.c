/* A flight record as input, which nobody vouches for: whatever it says, examples/rerun.h gives a verdict.
 * - Nothing crashes, hangs or leaks; calls that a host may not make are not made.
 * - The verdict is one of three, names a line of the input, and is the same the second time.
 * - What a record gives when it is the same, a prefix of it gives too.
 * seeds: records */
#include <stdint.h>
#define AGENT_IMPLEMENTATION
#include "agent.h"
#define RERUN_MOST ((size_t)1 << 16)
#include "../examples/rerun.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int good) { if (!good) abort(); }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *p = (const char *)data;
    size_t lines = 0, i;
    rerun one, two;
    for (i = 0; i < size; i++) lines += p[i] == '\n';
    must(rerun_text(&one, p, size) == one.result);
    must(one.line <= lines && (one.result == RERUN_UNREADABLE) == (one.why != NULL));
    must(one.result != RERUN_DIFFERS || (one.line > 0 && one.expected >= p && one.expected + one.expected_n <= p + size));
    (void)rerun_text(&two, p, size);
    must(one.result == two.result && one.line == two.line && one.calls == two.calls && one.events == two.events);
    rerun_free(&two);
    if (one.result == RERUN_SAME && one.line > 1) {
        for (i = size - one.torn - 1; i > 0 && p[i - 1] != '\n'; i--) {}
        must(rerun_text(&two, p, i) == RERUN_SAME && two.torn == 0);
        rerun_free(&two);
    }
    rerun_free(&one);
    return 0;
}
