/* A whole conversation, from agent_say to the last RUN_END: steps, tools that answer at once, a queued second run.
 * - The same bytes cut three ways give the same event log and the same requests, byte for byte; so do agent_recv_buf and agent_feed.
 * - What tests/check_events.h says of events; at the end all is closed.
 * - Each allocation failing in turn breaks none of that. Nothing leaks.
 * The first run, byte by byte, is the measure of how much each exchange takes; the others offer each exchange no more than that, as a
 * server would: it answers a request after it came.
 * seeds: chat http prefix 2 */
#include <stdint.h>
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "check_events.h"
#include "engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OPTIONS = 2, MAX_EXCHANGES = 64 };
typedef struct plan { size_t used[MAX_EXCHANGES]; int n; } plan;              /* bytes of each exchange, told by the first run */
typedef struct host {
    agent_engine *e;
    agent_id session, conn;                   /* conn: the one that is fed; 0: none                                     */
    const uint8_t *opt;
    const char *in; size_t n, at;             /* the answers                                                            */
    size_t begun;                             /* where this exchange began                                              */
    int exchange, cut, recv, measuring;
    uint32_t seed;
    check seen;
    plan *p;
    fuzz_log *log, *out;
} host;

/* The exchange is over: what it took, and the next begins behind it.                                                  */
static void exchange_end(host *h)
{
    if (h->exchange < MAX_EXCHANGES) {
        if (h->measuring) h->p->used[h->p->n++] = h->at - h->begun;
        else if (h->exchange < h->p->n) h->at = h->begun + h->p->used[h->exchange];
    }
    h->exchange++;
    h->begun = h->at;
}
static void on_open(host *h, const agent_event *ev)
{
    int via = h->opt[0] & 1 ? AGENT_VIA_BYTES : AGENT_VIA_HTTP;
    if (h->conn) {                            /* the last one is being drained                                          */
        exchange_end(h);
        (void)agent_eof(h->e, h->conn);
    }
    h->conn = ev->conn;
    if (h->exchange >= MAX_EXCHANGES) { (void)agent_decline(h->e, ev); h->conn = 0; return; }
    (void)agent_opened(h->e, h->conn, via, NULL);
    if (via == AGENT_VIA_HTTP) (void)agent_http_head(h->e, h->conn, h->opt[1] & 32 ? 429 : 200, "", 0);
}
static void on_tool(host *h, const agent_event *ev)
{
    if (ev->call % 5 == 4) CHECK(agent_decline(h->e, ev) == AGENT_OK);
    else if (agent_tool_result(h->e, h->session, ev->call, "fine \xE2\x82", AGENT_CSTR) != AGENT_OK) (void)agent_decline(h->e, ev);
    CHECK(agent_tool_done(h->e, h->session, ev->call, AGENT_DONE_OK) == AGENT_LATE);
}
static void on_event(host *h, const agent_event *ev)
{
    check_event(&h->seen, ev);
    fuzz_check(&h->seen);
    fuzz_log_event(h->log, ev);
    switch (ev->type) {
    case AGENT_EV_OPEN:        on_open(h, ev); break;
    case AGENT_EV_SEND:        CHECK(ev->conn == h->conn); exchange_end(h); break;
    case AGENT_EV_CLOSE:       if (ev->conn == h->conn) { exchange_end(h); h->conn = 0; } break;
    case AGENT_EV_TOOL_RUN:    on_tool(h, ev); break;
    default:                   CHECK(!(ev->flags & AGENT_EVF_NEED));
    }
}
static void pump(host *h)
{
    const agent_event *ev;
    unsigned turns = 0;
    while ((ev = agent_next(h->e)) != NULL || agent_deadline(h->e) <= 1) {
        CHECK(turns++ < 200000);
        if (ev) on_event(h, ev);
    }
}
static void send_all(host *h)
{
    size_t n, k;
    const void *b;
    while (h->conn && (b = agent_send_buf(h->e, h->conn, &n)) != NULL) {
        CHECK(n > 0);
        k = fuzz_piece(h->cut, &h->seed, n);
        fuzz_log_add(h->out, b, k);
        CHECK(agent_send_ack(h->e, h->conn, k) == AGENT_OK);
    }
}
static size_t offer(host *h, const char *p, size_t n)        /* bytes taken                                             */
{
    size_t took = 0;
    void *b;
    if (!h->recv) return agent_feed(h->e, h->conn, p, n, &took) == AGENT_OK ? took : 0;
    b = agent_recv_buf(h->e, h->conn, &took);
    if (b == NULL) return 0;
    if (took > n) took = n;
    memcpy(b, p, took);
    CHECK(agent_recv_ack(h->e, h->conn, took) == AGENT_OK);
    return took;
}
static size_t there(const host *h)            /* bytes of this exchange that are left                                    */
{
    size_t end = h->n;
    if (!h->measuring && h->exchange < h->p->n && h->p->used[h->exchange] <= h->n - h->begun) end = h->begun + h->p->used[h->exchange];
    return end > h->at ? end - h->at : 0;
}
static void converse(host *h)
{
    size_t k;
    for (;;) {
        pump(h);
        if (h->conn == 0) return;
        send_all(h);
        pump(h);
        if (h->conn == 0) continue;
        k = there(h);
        k = k ? offer(h, h->in + h->at, fuzz_piece(h->cut, &h->seed, k)) : 0;
        h->at += k;
        if (k == 0) {                         /* no bytes are left, or no room: the engine has no use for more          */
            agent_id was = h->conn;
            (void)agent_eof(h->e, was);
            pump(h);
            if (h->conn == was) { (void)agent_failed(h->e, was, AGENT_FAIL_RESET, NULL, 0); pump(h); CHECK(h->conn != was); }
        }
    }
}
static void set_up(host *h)
{
    static const agent_tool tools[] = {
        {"weather", "w", NULL, 0, 0, NULL}, {"read_file", NULL, "{\"type\":\"object\",\"properties\":{}}", AGENT_TF_SERIAL, 0, NULL},
        {"get_weather", NULL, NULL, 0, 0, NULL}
    };
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    p.provider = h->opt[1] & 64 ? "anthropic" : h->opt[1] & 8 ? "openai" : "ollama";
    p.key = "";
    p.key = "secret-key";
    s.peer = agent_peer_open(h->e, &p);
    s.model = "m";
    s.tools = tools;
    s.tool_count = 3;
    s.max_steps = 1 + (h->opt[1] & 3);
    s.parallel_tools = h->opt[1] & 4 ? 1 : 0;
    s.flags = h->opt[1] & 16 ? AGENT_S_NO_STREAM : 0;
    s.max_retries = s.grace_ms = AGENT_OFF;                   /* here no time goes by                                    */
    h->session = s.peer ? agent_session_open(h->e, &s) : 0;
    if (h->session == 0) return;
    (void)agent_say(h->e, h->session, "x", AGENT_CSTR);
    (void)agent_say(h->e, h->session, "y", AGENT_CSTR);
}
static void run(const uint8_t *opt, const char *in, size_t n, int cut, int recv, plan *p, fuzz_mem *mem, fuzz_log *log, fuzz_log *out)
{
    agent_desc d = AGENT_ZERO;
    host h;
    memset(&h, 0, sizeof h);
    h.opt = opt;
    h.in = in;
    h.n = n;
    h.cut = cut;
    h.recv = recv;
    h.p = p;
    h.measuring = p->n == 0;
    h.seed = 11;
    h.log = log;
    h.out = out;
    d.alloc = fuzz_alloc;
    d.alloc_ctx = mem;
    d.seed = 7;
    d.limits.recv = 512u << (opt[0] >> 6);
    d.limits.piece = opt[0] & 2 ? 16 : opt[0] & 4 ? 64 : 0;
    d.limits.item = opt[0] & 8 ? 600 : 0;
    d.limits.calls_per_step = opt[0] & 16 ? 3 : 0;
    check_init(&h.seen, "secret-key", d.limits.piece);
    if (agent_open(&h.e, &d) == AGENT_OK) {
        (void)agent_tick(h.e, 1, 1800000000000u);
        set_up(&h);
        if (h.session) converse(&h);
        check_over(&h.seen);
        fuzz_check(&h.seen);
        agent_close(h.e);
    }
    check_free(&h.seen);
    CHECK(mem->live == 0 && mem->blocks == 0);
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_log log = {NULL, 0, 0}, out = {NULL, 0, 0}, log2 = {NULL, 0, 0}, out2 = {NULL, 0, 0};
    static const struct { int cut, recv; } ways[] = {{1, 0}, {0, 0}, {2, 0}, {0, 1}, {2, 1}};
    const char *in = (const char *)data + OPTIONS;
    fuzz_mem mem;
    plan p, none;
    size_t calls = 0, k, step;
    int i;
    if (size < OPTIONS) return 0;
    size -= OPTIONS;
    memset(&p, 0, sizeof p);
    for (i = 0; i < 5; i++) {
        memset(&mem, 0, sizeof mem);
        log2.n = out2.n = 0;
        run(data, in, size, ways[i].cut, ways[i].recv, &p, &mem, i ? &log2 : &log, i ? &out2 : &out);
        if (i) { fuzz_log_same(&log, &log2, "event logs"); fuzz_log_same(&out, &out2, "requests"); }
        calls = mem.calls;
    }
    step = calls / 30 + 1;
    for (k = 1 + data[1] % step; k <= calls; k += step) {
        memset(&mem, 0, sizeof mem);
        memset(&none, 0, sizeof none);
        mem.fail_at = k;
        mem.fail_for = k % 3 ? 1 : 3;
        log2.n = out2.n = 0;
        run(data, in, size, 0, k & 1, &none, &mem, &log2, &out2);
    }
    fuzz_log_free(&log);
    fuzz_log_free(&out);
    fuzz_log_free(&log2);
    fuzz_log_free(&out2);
    return 0;
}
