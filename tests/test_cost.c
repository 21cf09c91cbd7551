/* What things cost, counted and not timed: bytes looked at or copied (AGENTI_TOUCH) and calls of the allocator. */
#include <stddef.h>
#include "touch.h"
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"

#ifndef COST_MB                          /* a slow build (sanitizers, valgrind) may ask for less                        */
#if defined __has_feature                /* clang's way to say it                                                       */
#if __has_feature(address_sanitizer)
#define COST_QUICK
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined COST_QUICK
#define COST_MB 2
#else
#define COST_MB 50
#endif
#endif

static size_t allocs, live;
static void *counting(void *ctx, void *p, size_t old_size, size_t new_size)
{
    (void)ctx;
    live = live - old_size + new_size;
    if (new_size == 0) { free(p); return NULL; }
    allocs++;
    return realloc(p, new_size);
}
struct rig { agent_engine *e; agent_id session, conn; unsigned events, runs; };
static void rig_open(struct rig *r, size_t max_events)
{
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    (void)max_events;
    memset(r, 0, sizeof *r);
    d.alloc = counting;
    CHECK(agent_open(&r->e, &d) == AGENT_OK);
    p.provider = "openai-compatible";
    p.key = "";
    p.url = "http://127.0.0.1:1/v1";
    s.peer = agent_peer_open(r->e, &p);
    s.model = "m";
    r->session = agent_session_open(r->e, &s);
    CHECK(r->session != 0);
}
static void pump(struct rig *r, int via)
{
    const agent_event *ev;
    while ((ev = agent_next(r->e)) != NULL || agent_deadline(r->e) == 0) {
        if (ev == NULL) continue;
        r->events++;
        if (ev->type == AGENT_EV_OPEN) { r->conn = ev->conn; agent_opened(r->e, ev->conn, via, NULL); }
        else if (ev->type == AGENT_EV_CLOSE && ev->conn == r->conn) r->conn = 0;
        else if (ev->type == AGENT_EV_RUN_END) r->runs++;
        else if (ev->flags & AGENT_EVF_NEED) agent_decline(r->e, ev);
    }
}
static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
static const char event[] =
    "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1800000000,\"model\":\"m\",\"choices\":[{\"index\":0,"
    "\"delta\":{\"content\":\"word \"},\"finish_reason\":null}]}\n\n";
static const char last[] = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

static void put(struct rig *r, const char *p, size_t n, size_t piece)
{
    size_t k, taken;
    while (n > 0 && r->conn) {
        k = n < piece ? n : piece;
        agent_feed(r->e, r->conn, p, k, &taken);
        p += taken;
        n -= taken;
        pump(r, AGENT_VIA_BYTES);
    }
}
static void chunk(struct rig *r, const char *p, size_t n, size_t piece)
{
    char size[32];
    int k = sprintf(size, "%x\r\n", (unsigned)n);
    put(r, size, (size_t)k, piece);
    put(r, p, n, piece);
    put(r, "\r\n", 2, piece);
}
/* Bytes touched for each byte of a stream of about `want` bytes in pieces.                                             */
static double stream(size_t want, size_t piece, double *allocs_per_event)
{
    struct rig r;
    size_t sent = 0, before, allocs_before;
    unsigned events;
    double per_byte;
    rig_open(&r, 0);
    agent_say(r.e, r.session, "Hi", AGENT_CSTR);
    pump(&r, AGENT_VIA_BYTES);
    put(&r, head, sizeof head - 1, piece);
    chunk(&r, event, sizeof event - 1, piece);
    before = touched;
    allocs_before = allocs;
    events = r.events;
    for (; sent < want; sent += sizeof event - 1 + 6) chunk(&r, event, sizeof event - 1, piece);
    per_byte = (double)(touched - before) / (double)sent;
    *allocs_per_event = (double)(allocs - allocs_before) / (double)(r.events - events);
    chunk(&r, last, sizeof last - 1, piece);
    put(&r, "0\r\n\r\n", 5, piece);
    CHECK(r.runs == 1);
    agent_close(r.e);
    CHECK(live == 0);
    return per_byte;
}
static void test_stream_is_linear(void)
{
    static const size_t pieces[] = { 1, 7, 1460, 16384 };
    double small, large, a;
    size_t i;
    for (i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        small = stream(200000, pieces[i], &a);
        large = stream(i == 0 ? (size_t)COST_MB << 20 : 2u << 20, pieces[i], &a);
        printf("pieces of %lu: %.2f bytes touched a byte in a short stream, %.2f in a long one; %.6f allocations an event\n",
               (unsigned long)pieces[i], small, large, a);
        CHECK(large < small * 1.1);      /* linear                                                                      */
        CHECK(large < 16.0);             /* framing, checking, picking and the copy into the table                      */
        CHECK(a < 0.01);                 /* only the message itself grows, by doubling                                  */
    }
}
/* One event as long as a whole stream, in small pieces: its bytes are not looked at again and again.                    */
static void test_long_event(void)
{
    static const char begin[] = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"";
    static char big[65536];
    struct rig r;
    size_t i, before, n = 64;
    rig_open(&r, 0);
    agent_say(r.e, r.session, "Hi", AGENT_CSTR);
    pump(&r, AGENT_VIA_BYTES);
    put(&r, head, sizeof head - 1, 4096);
    memset(big, 'a', sizeof big);
    before = touched;
    chunk(&r, begin, sizeof begin - 1, 1);
    for (i = 0; i < n; i++) chunk(&r, big, sizeof big, 100);
    chunk(&r, "\"}}]}\n\n", 7, 1);
    printf("one event of 4 MB: %.2f bytes touched a byte\n", (double)(touched - before) / (double)(n * sizeof big));
    CHECK((double)(touched - before) < 20.0 * (double)(n * sizeof big));
    chunk(&r, last, sizeof last - 1, 100);
    CHECK(r.runs == 1);
    agent_close(r.e);
    CHECK(live == 0);
}
/* A step over a long history writes and reads only what is new: the request's pieces are what was serialised before.    */
static size_t one_run(struct rig *r, size_t *sent)
{
    size_t before = touched, n;
    const void *p;
    char answer[256];
    *sent = 0;
    agent_say(r->e, r->session, "And then?", AGENT_CSTR);
    pump(r, AGENT_VIA_HTTP);
    while ((p = agent_send_buf(r->e, r->conn, &n)) != NULL) { *sent += n; agent_send_ack(r->e, r->conn, n); }
    sprintf(answer, "%s", last);
    agent_feed(r->e, r->conn, "data: {\"choices\":[{\"delta\":{\"content\":\"So.\"}}]}\n\n", 50, NULL);
    agent_feed(r->e, r->conn, answer, strlen(answer), NULL);
    agent_eof(r->e, r->conn);
    pump(r, AGENT_VIA_HTTP);
    return touched - before;
}
static void test_step_touches_what_is_new(void)
{
    static char text[2000];
    struct rig r;
    agent_part part;
    size_t i, first, later, sent_first, sent_later;
    rig_open(&r, 0);
    memset(text, 'x', sizeof text);
    memset(&part, 0, sizeof part);
    part.kind = AGENT_PART_TEXT;
    part.text.p = text;
    part.text.n = sizeof text;
    first = one_run(&r, &sent_first);
    for (i = 0; i < 2000; i++) CHECK(agent_message_add(r.e, r.session, i % 2 ? AGENT_MODEL : AGENT_USER, &part, 1) > 0);
    one_run(&r, &sent_later);            /* serialises the 4 MB once                                                    */
    later = one_run(&r, &sent_later);
    printf("a step after 0 KB of history touches %lu bytes, after %lu KB %lu bytes\n", (unsigned long)first,
           (unsigned long)(sent_later >> 10), (unsigned long)later);
    CHECK(sent_later > 4000000);
    CHECK(later < first + 4 * AGENTI_SEND_MIN);
    agent_close(r.e);
    CHECK(live == 0);
}
/* Whatever comes, one agent_next looks at about limits.scan_per_next bytes: of a body, of HTTP/1.1, of what drains.     */
static void test_bounded(int how)
{
    enum { N = 1 << 20, SCAN = 4096 };
    static const char chunked[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\ndata: [DONE]\n\n\n\n\r\n";
    static char noise[N];
    struct rig r;
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    const agent_event *ev;
    size_t i, most = 0, before, taken, turns = 0;
    memset(&r, 0, sizeof r);
    d.limits.recv = 2 * N;
    d.limits.scan_per_next = SCAN;
    CHECK(agent_open(&r.e, &d) == AGENT_OK);
    p.provider = "openai-compatible";
    p.key = "";
    p.url = "http://127.0.0.1:1/v1";
    s.peer = agent_peer_open(r.e, &p);
    s.model = "m";
    r.session = agent_session_open(r.e, &s);
    agent_tick(r.e, 1, 0);
    agent_say(r.e, r.session, "Hi", AGENT_CSTR);
    pump(&r, how == 0 ? AGENT_VIA_HTTP : AGENT_VIA_BYTES);
    for (i = 0; i < N; i++) noise[i] = how == 2 ? "1\r\nx\r\n1\r\ny\r\n"[i % 12] : i % 100 == 99 ? '\n' : ':';
    while (agent_send_buf(r.e, r.conn, &i)) agent_send_ack(r.e, r.conn, i);
    if (how == 1) agent_feed(r.e, r.conn, "HTTP/1.1 200 OK\r\n\r\n", 19, NULL);
    if (how == 2) agent_feed(r.e, r.conn, chunked, sizeof chunked - 1, NULL);
    CHECK(agent_feed(r.e, r.conn, noise, N, &taken) == AGENT_OK && taken == N);
    do {
        before = touched;
        ev = agent_next(r.e);
        if (touched - before > most) most = touched - before;
        turns++;
    } while (ev || (agent_deadline(r.e) <= 1 && turns < N));
    printf("1 MB of noise, kind %d: %lu turns, at most %lu bytes touched in one\n", how, (unsigned long)turns, (unsigned long)most);
    CHECK(turns > N / SCAN / 2 && turns < N && most < 8 * SCAN);
    agent_close(r.e);
}
/* The end of many sessions, each with a request that waits: what is to be freed is looked for once.                     */
static size_t close_all(size_t n, int by_one)
{
    struct rig r;
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    const agent_event *ev;
    agent_id *ids = (agent_id *)malloc(n * sizeof *ids);
    size_t i, before;
    if (ids == NULL) abort();
    memset(&r, 0, sizeof r);
    d.alloc = counting;
    CHECK(agent_open(&r.e, &d) == AGENT_OK);
    p.provider = "openai-compatible";
    p.key = "";
    p.url = "http://127.0.0.1:1/v1";
    s.peer = agent_peer_open(r.e, &p);
    s.model = "m";
    for (i = 0; i < n; i++) {
        ids[i] = agent_session_open(r.e, &s);
        agent_say(r.e, ids[i], "x", 1);
    }
    while ((ev = agent_next(r.e)) != NULL && ev->type != AGENT_EV_OPEN) {}
    for (i = 0; i < n; i++) agent_session_set(r.e, ids[i], "system", "old", AGENT_CSTR);
    for (i = 0; i < n; i++) agent_session_set(r.e, ids[i], "system", "new", AGENT_CSTR);        /* the old ones are buried  */
    before = touched;
    for (i = 0; by_one && i < n; i++) agent_session_close(r.e, ids[i]);
    if (by_one) (void)agent_next(r.e);
    agent_close(r.e);
    free(ids);
    CHECK(live == 0);
    return touched - before;
}
static void test_close_is_linear(void)
{
    int by_one;
    for (by_one = 0; by_one < 2; by_one++) {
        size_t few = close_all(100, by_one), many = close_all(1000, by_one);
        printf("closing 100 sessions touches %lu bytes, 1,000 sessions %lu\n", (unsigned long)few, (unsigned long)many);
        CHECK(few > 0 && many < 12 * few);
    }
}
/* What a provider runs itself: calls and results by the thousand, and results whose calls nobody knows, while others wait for theirs. */
static double provider_calls(size_t calls, int known)
{
    struct rig r;
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    static const char end[] = "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n";
    char line[600];
    size_t i, before, sent = 0;
    memset(&r, 0, sizeof r);
    d.alloc = counting;
    CHECK(agent_open(&r.e, &d) == AGENT_OK);
    p.provider = "anthropic";
    p.key = "";
    p.url = "http://127.0.0.1:1/v1";
    s.peer = agent_peer_open(r.e, &p);
    s.model = "m";
    r.session = agent_session_open(r.e, &s);
    agent_say(r.e, r.session, "Hi", AGENT_CSTR);
    pump(&r, AGENT_VIA_BYTES);
    put(&r, head, sizeof head - 1, 4096);
    before = touched;
    for (i = 0; i < calls + 100; i++) {
        int n = 0, waits = i < 100;           /* the first hundred get no result                                         */
        if (waits || known)
            n = sprintf(line, "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_%06lu\",\"name\":\"web_search\",\"input\":{}}}\n\n"
                "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n", (unsigned long)i);
        if (!waits)
            n += sprintf(line + n, "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"srvtoolu_%06lu\",\"content\":[]}}\n\n"
                "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n", (unsigned long)i);
        chunk(&r, line, (size_t)n, 4096);
        sent += (size_t)n;
    }
    chunk(&r, end, sizeof end - 1, 4096);
    put(&r, "0\r\n\r\n", 5, 4096);
    CHECK(r.runs == 1 && r.events > calls);
    agent_close(r.e);
    CHECK(live == 0);
    return (double)(touched - before) / (double)sent;
}
static void test_provider_calls(void)
{
    int known;
    for (known = 0; known < 2; known++) {
        double few = provider_calls(500, known), many = provider_calls(20000, known);
        printf("calls that the provider runs, %s: %.2f bytes touched a byte for 500, %.2f for 20,000\n", known ? "with results" : "results without calls", few, many);
        CHECK(many < few * 1.3 && many < 40);
    }
}
int main(void)
{
    int how;
    test_stream_is_linear();
    test_long_event();
    test_step_touches_what_is_new();
    for (how = 0; how < 3; how++) test_bounded(how);
    test_close_is_linear();
    test_provider_calls();
    return test_end("cost");
}
