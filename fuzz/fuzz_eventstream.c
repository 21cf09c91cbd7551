/* AWS event stream messages: one is made of the input, with lengths and checksums that are right, and one whose lengths are the input's.
 * - It is refused, or what is found lies in it, behind its headers, and a plain reading finds the same.
 * - A bit changed anywhere is noticed. Nothing beyond the message is read.
 * seeds: noise text prefix 1 */
#include <stdint.h>
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include <stdio.h>
#include "frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_at(int good, const char *what, int line)
{
    if (good) return;
    fprintf(stderr, "line %d: %s\n", line, what);
    abort();
}
#define CHECK(x) check_at(!!(x), #x, __LINE__)

/* Walks the headers a byte at a time. 0: they do not fit.                                                              */
static int walk(const unsigned char *p, size_t n, const char *want, agent_str *value)
{
    static const size_t sizes[10] = { 0, 0, 1, 2, 4, 8, 0, 0, 8, 16 };
    size_t at = 0, len;
    while (at < n) {
        size_t name = at + 1, name_n = p[at], type;
        at = name + name_n;
        if (name_n == 0 || at >= n) return 0;
        type = p[at++];
        if (type > 9) return 0;
        len = sizes[type];
        if (type == 6 || type == 7) {
            if (at + 2 > n) return 0;
            len = (size_t)p[at] * 256 + p[at + 1];
            at += 2;
        }
        if (at + len > n) return 0;
        if (name_n == strlen(want) && memcmp(p + name, want, name_n) == 0) *value = agenti_str((const char *)p + at, type == 6 || type == 7 ? len : 0);
        at += len;
    }
    return 1;
}
static int inside(agent_str s, const char *p, size_t n) { return s.n == 0 || (s.p >= p && s.p + s.n <= p + n); }
static void read_one(const frames_buf *b, size_t headers)
{
    agenti_frame f;
    agent_str kind = agenti_str(NULL, 0);
    const char *why = NULL;
    char *p = (char *)malloc(b->n);
    int good;
    if (p == NULL) abort();
    memcpy(p, b->p, b->n);
    CHECK(agenti_frame_size(p, &why) == b->n);
    good = agenti_frame_parse(agenti_str(p, b->n), &f, &why);
    CHECK(good == walk((const unsigned char *)p + 12, headers, ":message-type", &kind));
    CHECK(good || *why);
    if (good) {
        CHECK(inside(f.kind, p + 12, headers) && inside(f.type, p + 12, headers) && inside(f.payload, p + 12, b->n - 16));
        CHECK(f.kind.n == kind.n && memcmp(f.kind.p, kind.p, kind.n) == 0);
        if (b->n - 16 > headers) CHECK(f.payload.p == p + 12 + headers && f.payload.n == b->n - 16 - headers);
    }
    free(p);
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    frames_buf b = { NULL, 0, 0 };
    agenti_frame f;
    const char *why = NULL;
    size_t headers;
    uint32_t n;
    if (size < 1 || size > 70000) return 0;
    headers = data[0] < 250 ? data[0] : size - 1;
    if (headers > size - 1) headers = size - 1;
    frames_message(&b, (const char *)data + 1, headers, (const char *)data + 1 + headers, size - 1 - headers);
    read_one(&b, headers);
    b.p[(size_t)data[0] * 37 % b.n] ^= (char)(1 << data[0] % 8);
    n = agenti_frame_size(b.p, &why);
    CHECK(n == 0 || (n == b.n && !agenti_frame_parse(agenti_str(b.p, b.n), &f, &why)));
    if (size > 8) {                           /* lengths of the input's own                                             */
        b.n = 0;
        frames_add(&b, data + 1, 8);
        frames_int(&b, frames_crc(b.p, 8), 4);
        n = agenti_frame_size(b.p, &why);
        CHECK(n == 0 || (n >= 16 && (uint32_t)(((uint32_t)data[5] << 24) | ((uint32_t)data[6] << 16) | ((uint32_t)data[7] << 8) | data[8]) <= n - 16));
    }
    free(b.p);
    return 0;
}
