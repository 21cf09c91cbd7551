/* HTTP/1.1 answers.
 * - Events, error text, error offset and body are the same for the bytes whole, byte by byte and in pieces by chance, with a buffer
 *   that is large from the start or grows from nothing, and with one that is too small.
 * - No body byte is invented, lost or moved: a body with a length has that many bytes; a body until close is the input's tail.
 * - The work is linear.
 * - agent_http_header finds what the block holds; agent_http_write_header writes what the reader reads back.
 * seeds: http prefix 1 */
#include <stdint.h>
#include "touch.h"
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "codecs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good) { if (!good) abort(); }
static void compare(const char *in, size_t n, size_t cap, size_t max, int flags)
{
    static const cut cuts[] = {{0, CUT_REST}, {0, 1}, {0, 0}, {3, 7}};
    http_result first, other;
    size_t i;
    unsigned long long budget = 16ull * n + 4096;
    touched = 0;
    http_run(in, n, cuts[0], cap, max, flags, &first);
    check(touched <= budget);
    check(first.body.n <= n);
    for (i = 0; i < 8; i++) {
        touched = 0;
        http_run(in, n, cuts[i % 4], i < 4 || max == cap ? cap : i & 1, max, flags, &other);
        check(touched <= budget);
        check(http_same(&first, &other) && codec_broken == 0);
        http_free(&other);
    }
    http_free(&first);
}
/* Every header that came, once more through find and write.                                                           */
static void headers(agent_str block)
{
    const char *p = block.p, *end = block.p + block.n;
    while (p < end) {
        const char *lf = (const char *)memchr(p, '\n', (size_t)(end - p)), *colon;
        char *name, *value, line[512];
        agent_str found;
        size_t n, k;
        check(lf != NULL);
        colon = (const char *)memchr(p, ':', (size_t)(lf - p));
        check(colon != NULL && colon > p && colon[1] == ' ');
        k = (size_t)(colon - p);
        n = (size_t)(lf - colon) - 2;
        name = (char *)calloc(k + 1, 1);
        value = (char *)calloc(n + 1, 1);
        if (name == NULL || value == NULL) abort();
        memcpy(name, p, k);
        memcpy(value, colon + 2, n);
        check(agent_http_header(block, name, &found) == 1);
        check(agent_http_write_header(name, value, line, sizeof line) == k + n + 4);
        if (k + n + 4 <= sizeof line) check(memcmp(line, p, k + 2) == 0 && memcmp(line + k + 2, value, n) == 0);
        free(name);
        free(value);
        p = lf + 1;
    }
}
/* One pass that looks at each event with its place in the input.                                                      */
static void places(const char *in, size_t n, char *buf, size_t cap)
{
    agent_http h;
    agent_http_event e;
    size_t at = 0, used;
    uint64_t body = 0, length = 0;
    int rc, framing = AGENT_HTTP_NO_BODY;
    agent_str v;
    agent_http_init(&h, buf, cap);
    while ((rc = agent_http_next(&h, in + at, n - at, &used, &e)) == AGENT_OK) {
        at += used;
        if (e.kind == AGENT_HTTP_HEAD) {
            framing = e.framing;
            body = 0;
            length = h.left;
            if (framing == AGENT_HTTP_LENGTH) check(agent_http_header(e.headers, "CONTENT-LENGTH", &v) == 1);
            if (framing == AGENT_HTTP_CHUNKED) check(agent_http_header(e.headers, "Transfer-Encoding", &v) == 1);
        }
        if (e.kind == AGENT_HTTP_BODY) {
            check(e.body.n > 0 && e.body.p + e.body.n <= in + at && e.body.p >= in + at - used);
            if (framing == AGENT_HTTP_UNTIL_CLOSE) check(e.body.p + e.body.n == in + n);
            body += e.body.n;
        } else if (e.kind == AGENT_HTTP_END) {
            if (framing == AGENT_HTTP_LENGTH) check(body == length);
            if (framing == AGENT_HTTP_NO_BODY) check(body == 0);
        }
        headers(e.headers);
    }
    at += used;
    if (rc == AGENT_E_SYNTAX) check(h.error != NULL && h.offset <= n);
    else check(h.offset == at && h.error == NULL);
    if (rc == AGENT_MORE) check(at == n);
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned options = size ? data[0] : 0;
    const char *in = (const char *)data + (size ? 1 : 0);
    size_t n = size ? size - 1 : 0;
    int flags = (options & 1 ? HTTP_ALL_HEAD : 0) | (options & 2 ? HTTP_EOF : 0);
    char *buf = (char *)malloc(n + 1);
    if (buf == NULL) abort();
    compare(in, n, n + 1, n + 1, flags);
    compare(in, n, n + 1, 2 * n + 2, flags);
    compare(in, n, (options >> 2) + 1, (options >> 2) + 1, flags);
    places(in, n, buf, n + 1);
    free(buf);
    return 0;
}
