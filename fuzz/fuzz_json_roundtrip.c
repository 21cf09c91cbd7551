/* Any bytes as text, out and in again.
 * - agent_json_quote gives checked JSON that is valid UTF-8, the same as agenti_json_quote_to, whatever the room
 * - decoding it, by agent_json_text and by agenti_json_string, gives the text with bad UTF-8 repaired, and agent_json_is agrees
 * - any prefix of it repairs to a string that parses
 * - a stream of strings cut anywhere between UTF-16 units decodes to the same text as one string, surrogates and all */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
static void must(int ok) { if (!ok) abort(); }
static int same(agent_str a, agent_str b) { return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0); }

static void check_quote(agent_str in, agenti_pool *pool)
{
    agenti_buf q, want;
    agenti_arena arena;
    agent_str out;
    size_t n = agent_json_quote(in.p, in.n, NULL, 0), k = in.n ? n * ((unsigned char)in.p[0]) / 256 : 0;
    char *p = (char *)malloc(n + 1);
    int parses;
    must(p != NULL);
    must(agent_json_quote(in.p, in.n, p, n + 1) == n && p[n] == 0 && agenti_utf8_valid(p, n) == n);
    must(agent_json_check(p, n, 0, NULL) == AGENT_OK);
    agenti_buf_init(&q, pool);
    agenti_buf_init(&want, pool);
    agenti_json_quote_to(&q, in);
    must(same(agenti_str(q.p, q.n), agenti_str(p, n)));
    must(agenti_utf8_repair(&want, in.p, in.n));
    must(agenti_json_same(agenti_str(p + 1, n - 2), agenti_str(want.p, want.n)));
    agent_json_repair(p, k, NULL, 0, &parses);
    must(parses == (k > 0));
    q.n = 0;
    must(agenti_buf_room(&q, n));
    k = agent_json_text(agenti_str(p, n), q.p, n);
    must(same(agenti_str(q.p, k), agenti_str(want.p, want.n)));
    arena.pool = pool;
    arena.top = NULL;
    must(agenti_json_string(agenti_str(p, n), NULL, &arena, &out) && same(out, agenti_str(want.p, want.n)));
    agenti_arena_free(&arena);
    agenti_buf_free(&q);
    agenti_buf_free(&want);
    free(p);
}
/* The bytes as UTF-16 units, written as escapes or plainly, in one string and in many. */
static void check_stream(const uint8_t *data, size_t size, agenti_pool *pool)
{
    static const char hex[] = "0123456789abcdef";
    agenti_buf whole, part, got;
    agenti_arena arena;
    agent_str out, all;
    uint16_t high = 0;
    size_t i;
    agenti_buf_init(&whole, pool);
    agenti_buf_init(&part, pool);
    agenti_buf_init(&got, pool);
    arena.pool = pool;
    arena.top = NULL;
    agenti_buf_str(&whole, "\"");
    agenti_buf_str(&part, "\"");
    for (i = 0; i + 1 < size; i += 2) {
        char e[6];
        unsigned unit = data[i] >= 0xC0 ? 0xD800u + (data[i + 1] & 7u) + (data[i] & 4u ? 0x400u : 0) : (unsigned)data[i + 1];
        size_t n = data[i] >= 0xC0 || data[i] & 1 ? 6 : 1;
        memcpy(e, "\\u", 2);
        e[2] = hex[unit >> 12]; e[3] = hex[unit >> 8 & 15]; e[4] = hex[unit >> 4 & 15]; e[5] = hex[unit & 15];
        if (n == 1) e[0] = unit < 0x20 || unit > 0x7E || unit == '"' || unit == '\\' ? '.' : (char)unit;
        agenti_buf_add(&whole, e, n);
        agenti_buf_add(&part, e, n);
        if (data[i] & 2) {
            agenti_buf_str(&part, "\"");
            must(agenti_json_string(agenti_str(part.p, part.n), &high, &arena, &out));
            agenti_buf_add(&got, out.p, out.n);
            part.n = 0;
            agenti_buf_str(&part, "\"");
        }
    }
    agenti_buf_str(&part, "\"");
    agenti_buf_str(&whole, "\"");
    must(agenti_json_string(agenti_str(part.p, part.n), &high, &arena, &out));
    agenti_buf_add(&got, out.p, out.n);
    if (high) agenti_buf_str(&got, "\xEF\xBF\xBD");
    must(agent_json_check(whole.p, whole.n, 0, NULL) == AGENT_OK);
    must(agenti_json_string(agenti_str(whole.p, whole.n), NULL, &arena, &all));
    must(same(all, agenti_str(got.p, got.n)) && agenti_utf8_valid(all.p, all.n) == all.n);
    agenti_arena_free(&arena);
    agenti_buf_free(&whole);
    agenti_buf_free(&part);
    agenti_buf_free(&got);
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    agenti_pool pool;
    agenti_pool_child(&pool, NULL, 0);
    check_quote(agenti_str((const char *)data, size), &pool);
    check_stream(data, size, &pool);
    must(pool.now == 0);
    return 0;
}
