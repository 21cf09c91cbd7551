/* A saved session as input, whole and cut: an error, or a session that runs to its end.
 * - agent_load gives OK, E_FORMAT or E_NOMEM, the same for every cut; after an error the session is empty and takes a good save.
 * - What was loaded comes to its end: requests are JSON, needs can be declined, nothing hangs.
 * - Saved again and loaded again it is the same save, byte for byte.
 * - Nothing leaks, also when an allocation fails.
 * seeds: saves prefix 1 */
#include <stdint.h>
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "check_events.h"
#include "engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TURNS = 20000 };
typedef struct text { char *p; size_t n, cap; } text;
static void text_add(text *t, const char *p, size_t n)
{
    if (t->n + n > t->cap) {
        t->cap = (t->n + n) * 2 + 64;
        if ((t->p = (char *)realloc(t->p, t->cap)) == NULL) abort();
    }
    if (n) memcpy(t->p + t->n, p, n);
    t->n += n;
}
static agent_id open_session(agent_engine *e, int anthropic)
{
    static const agent_tool tools[] = {{"alpha", NULL, NULL, 0, 0, NULL}, {"beta", NULL, NULL, AGENT_TF_REPLAY_SAFE, 0, NULL}};
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    p.provider = anthropic ? "anthropic" : "openai";
    p.key = "secret-key";
    s.peer = agent_peer_open(e, &p);
    s.model = "m";
    s.tools = tools;
    s.tool_count = 2;
    s.max_retries = 1;
    return s.peer ? agent_session_open(e, &s) : 0;
}
static int load(agent_engine *e, agent_id s, const char *p, size_t n, int cut)
{
    uint32_t seed = 5;
    int rc = AGENT_OK;
    while (n && rc == AGENT_OK) {
        size_t k = fuzz_piece(cut, &seed, n);
        rc = agent_load(e, s, p, k);
        p += k;
        n -= k;
    }
    return rc == AGENT_OK ? agent_load(e, s, NULL, 0) : rc;
}
static void save(agent_engine *e, agent_id s, text *t)
{
    agent_mark m = AGENT_ZERO;
    char buf[300];
    size_t n;
    int rc;
    do {
        rc = agent_save(e, s, &m, buf, sizeof buf, &n);
        CHECK(rc == AGENT_OK || rc == AGENT_MORE);
        text_add(t, buf, n);
    } while (rc == AGENT_MORE);
}
/* Every connection fails, every tool is declined: it comes to its end.                                                  */
static void to_end(agent_engine *e)
{
    const agent_event *ev;
    unsigned turns = 0;
    uint64_t at, now = 1;
    for (;;) {
        while ((ev = agent_next(e)) != NULL) {
            CHECK(turns++ < TURNS);
            if (ev->type == AGENT_EV_OPEN) {
                const void *p;
                size_t n;
                text body = {NULL, 0, 0};
                agent_id conn = ev->conn;
                CHECK(agent_opened(e, conn, AGENT_VIA_HTTP, NULL) == AGENT_OK);
                while ((p = agent_send_buf(e, conn, &n)) != NULL) { text_add(&body, (const char *)p, n); CHECK(agent_send_ack(e, conn, n) == AGENT_OK); }
                CHECK(agent_json_check(body.p ? body.p : "", body.n, 64, NULL) == AGENT_OK);
                free(body.p);
                CHECK(agent_failed(e, conn, AGENT_FAIL_RESET, NULL, 0) == AGENT_OK);
            } else if (ev->flags & AGENT_EVF_NEED) (void)agent_decline(e, ev);
        }
        if ((at = agent_deadline(e)) == UINT64_MAX) return;
        if (at > now) now = at;
        CHECK(turns++ < TURNS && agent_tick(e, now, 0) == AGENT_OK);
    }
}
static int run(const char *p, size_t n, int cut, int anthropic, fuzz_mem *mem, int checks)
{
    static const char good[] = "{\"agent.h\":1}\n{\"state\":{\"at\":\"idle\"}}\n";
    agent_engine *e, *f;
    agent_desc d = AGENT_ZERO;
    agent_id s, again = 0;
    text one = {NULL, 0, 0}, two = {NULL, 0, 0};
    int rc = AGENT_E_NOMEM;
    d.alloc = fuzz_alloc;
    d.alloc_ctx = mem;
    if (agent_open(&e, &d) != AGENT_OK) return rc;
    if ((s = open_session(e, anthropic)) != 0) {
        rc = load(e, s, p, n, cut);
        CHECK(rc == AGENT_OK || rc == AGENT_E_FORMAT || rc == AGENT_E_NOMEM);
        if (rc != AGENT_OK) {
            int good_rc = load(e, s, good, sizeof good - 1, 0);
            CHECK(agent_messages(e, s) == 0 && (good_rc == AGENT_OK || good_rc == AGENT_E_NOMEM));
        } else if (checks) {
            save(e, s, &one);
            CHECK(agent_open(&f, &d) == AGENT_OK && (again = open_session(f, anthropic)) != 0);
            CHECK(load(f, again, one.p, one.n, 2) == AGENT_OK);
            save(f, again, &two);
            CHECK(one.n == two.n && memcmp(one.p, two.p, one.n) == 0);
            agent_close(f);
        }
        to_end(e);
    }
    agent_close(e);
    free(one.p);
    free(two.p);
    return rc;
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_mem mem;
    size_t calls, k, step;
    int cut, rc[3];
    if (size < 1) return 0;
    for (cut = 0; cut < 3; cut++) {
        memset(&mem, 0, sizeof mem);
        rc[cut] = run((const char *)data + 1, size - 1, cut, data[0] & 1, &mem, cut == 0);
        CHECK(mem.live == 0 && mem.blocks == 0 && rc[cut] == rc[0]);
    }
    calls = mem.calls;
    step = calls / 8 + 1;
    for (k = 1 + data[0] % step; k <= calls; k += step) {
        memset(&mem, 0, sizeof mem);
        mem.fail_at = k;
        mem.fail_for = 1;
        (void)run((const char *)data + 1, size - 1, 0, data[0] & 1, &mem, 0);
        CHECK(mem.live == 0 && mem.blocks == 0);
    }
    return 0;
}
