/* Answers in OpenAI chat format, or that of FUZZ_WIRE, through the decode-only door.
 * - The event log is the same, byte for byte, for the bytes whole, one by one, and in pieces by chance, by agent_feed and by
 *   agent_recv_buf, as a body (VIA_HTTP) and as HTTP/1.1 (VIA_BYTES).
 * - What tests/check_events.h says of events; the connection ends in one CLOSE.
 * - The work is linear. Each allocation failing in turn breaks none of that. Nothing leaks.
 * seeds: chat sse http prefix 3 */
#include <stdint.h>
#include "touch.h"
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "check_events.h"
#include "engine.h"
#ifdef FUZZ_FRAMES
#include "frames.h"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifndef FUZZ_WIRE
#define FUZZ_WIRE "openai-chat"
#endif
enum { OPTIONS = 3 };
static size_t feed(agent_engine *e, agent_id conn, const char *p, size_t n, int recv)     /* bytes taken                 */
{
    size_t took = 0, room = 0;
    if (!recv) { if (agent_feed(e, conn, p, n, &took) != AGENT_OK) took = 0; return took; }
    {
        void *b = agent_recv_buf(e, conn, &room);
        took = room < n ? room : n;
        if (b == NULL) return 0;
        memcpy(b, p, took);
        CHECK(agent_recv_ack(e, conn, took) == AGENT_OK);
        return took;
    }
}
static void pump(agent_engine *e, check *w, fuzz_log *log)
{
    const agent_event *ev;
    unsigned turns = 0;
    while ((ev = agent_next(e)) != NULL || agent_deadline(e) == 0) {
        CHECK(turns++ < 200000);
        if (ev == NULL) continue;
        check_event(w, ev);
        fuzz_check(w);
        fuzz_log_event(log, ev);
    }
}
static void run(const uint8_t *opt, const char *in, size_t n, int cut, int recv, fuzz_mem *mem, fuzz_log *log)
{
    static const char *const types[] = {"", "content-type: text/event-stream\n", "content-type: application/json\n", "content-type: text/html\n"};
    static const int statuses[] = {200, 200, 200, 200, 400, 401, 429, 500};
    agent_desc d = AGENT_ZERO;
    agent_engine *e;
    check w;
    uint32_t seed = 7;
    size_t at = 0, k;
    agent_id conn;
    int via = opt[0] & 1 ? AGENT_VIA_BYTES : AGENT_VIA_HTTP;
    d.alloc = fuzz_alloc;
    d.alloc_ctx = mem;
    d.limits.recv = 512u << (opt[0] >> 6);
    d.limits.piece = opt[0] & 2 ? 16 : opt[0] & 4 ? 64 : 8192;
    d.limits.item = opt[0] & 8 ? 300 : 0;
    d.limits.calls_per_step = opt[0] & 16 ? 3 : 0;
    d.limits.head = opt[0] & 32 ? 200 : 0;
    check_init(&w, NULL, d.limits.piece);
    if (agent_open(&e, &d) == AGENT_OK) {
        conn = agent_decode(e, FUZZ_WIRE, via, NULL);
        if (conn) {
            check_decode(&w, conn);
            if (via == AGENT_VIA_HTTP && (opt[1] & 64) == 0) (void)agent_http_head(e, conn, statuses[opt[1] & 7], types[opt[1] >> 3 & 3], AGENT_CSTR);
            while (at < n) {
                k = feed(e, conn, in + at, fuzz_piece(cut, &seed, n - at), recv);
                at += k;
                pump(e, &w, log);
                if (k == 0 && !(agent_wants(e, conn) & AGENT_WANT_READ)) break;
                if (k == 0 && mem->fail_at && mem->calls >= mem->fail_at + mem->fail_for) mem->fail_at = 0;
            }
            if (opt[1] & 128) (void)agent_failed(e, conn, AGENT_FAIL_RESET, "reset", AGENT_CSTR);
            else (void)agent_eof(e, conn);
            pump(e, &w, log);
            check_over(&w);
            fuzz_check(&w);
            CHECK(agent_eof(e, conn) == AGENT_E_STALE);
        }
        agent_close(e);
    }
    CHECK(mem->live == 0 && mem->blocks == 0);
    check_free(&w);
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_log first = {NULL, 0, 0}, other = {NULL, 0, 0};
    fuzz_mem mem;
    size_t calls = 0, k;
    int i;
    const char *in = (const char *)data + OPTIONS;
#ifdef FUZZ_FRAMES
    frames_buf frames = {NULL, 0, 0};
#endif
    if (size < OPTIONS) return 0;
    size -= OPTIONS;
#ifdef FUZZ_FRAMES                            /* checksums are nothing that a fuzzer finds                              */
    if (data[2] < 192) {
        frames_text(&frames, in, size, FUZZ_FRAMES);
        in = frames.n ? frames.p : "";
        size = frames.n;
    }
#endif
    for (i = 0; i < 5; i++) {
        memset(&mem, 0, sizeof mem);
        other.n = 0;
        touched = 0;
        run(data, in, size, i % 3, i > 2, &mem, i ? &other : &first);
        CHECK(touched <= 200ull * size + 100000);
        if (i) fuzz_log_same(&first, &other, "event logs");
        if (i == 0) calls = mem.calls;
    }
    for (k = 1; k <= calls && k <= 40; k++) {
        memset(&mem, 0, sizeof mem);
        mem.fail_at = k;
        mem.fail_for = 1 + data[2] % 3;
        other.n = 0;
        run(data, in, size, 0, k & 1, &mem, &other);
    }
    fuzz_log_free(&first);
    fuzz_log_free(&other);
#ifdef FUZZ_FRAMES
    free(frames.p);
#endif
    return 0;
}
