/* JSON in, any bytes.
 * - agent_json_check agrees with the plain checker below, offset and all, and says where inside the text it fails
 * - both scanners agree with their byte-wise twins
 * - each, get, text, skip, pick stay inside the text, checked or not, and their text is valid UTF-8
 * - of checked text: skip takes exactly the value; pick finds what get finds; a member's value is checked JSON itself
 * - agent_json_repair's result parses exactly when it says so; of checked text it is that text without the blanks at its end;
 *   of a prefix of a checked object or array it parses */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
static void must(int ok) { if (!ok) abort(); }
static int inside(agent_str part, agent_str whole) { return part.p == NULL ? part.n == 0 : part.p >= whole.p && part.p + part.n <= whole.p + whole.n; }

/* The plain checker: one function per rule, recursion bounded by the depth. NULL: not JSON. */
static const char *blanks(const char *p, const char *e) { while (p < e && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) p++; return p; }
static int digit(const char *p, const char *e) { return p < e && *p >= '0' && *p <= '9'; }
static int hex(const char *p, const char *e) { return digit(p, e) || (p < e && ((*p >= 'a' && *p <= 'f') || (*p >= 'A' && *p <= 'F'))); }
static const char *plain_number(const char *p, const char *e)
{
    if (p < e && *p == '-') p++;
    if (!digit(p, e)) return NULL;
    if (*p == '0') p++;
    else while (digit(p, e)) p++;
    if (p < e && *p == '.') { p++; if (!digit(p, e)) return NULL; while (digit(p, e)) p++; }
    if (p < e && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < e && (*p == '+' || *p == '-')) p++;
        if (!digit(p, e)) return NULL;
        while (digit(p, e)) p++;
    }
    return p;
}
static const char *plain_string(const char *p, const char *e)
{
    int i;
    if (p >= e || *p++ != '"') return NULL;
    for (; p < e && *p != '"'; p++) {
        if ((unsigned char)*p < 0x20) return NULL;
        if (*p != '\\') continue;
        if (++p >= e) return NULL;
        if (*p == 'u') { for (i = 0; i < 4; i++) if (!hex(++p, e)) return NULL; }
        else if (*p == 0 || !strchr("\"\\/bfnrt", *p)) return NULL;
    }
    return p < e ? p + 1 : NULL;
}
static const char *plain_value(const char *p, const char *e, int depth)
{
    char shut;
    if (p >= e) return NULL;
    if (*p == '"') return plain_string(p, e);
    if (e - p >= 4 && (memcmp(p, "true", 4) == 0 || memcmp(p, "null", 4) == 0)) return p + 4;
    if (e - p >= 5 && memcmp(p, "false", 5) == 0) return p + 5;
    if (*p != '{' && *p != '[') return plain_number(p, e);
    if (depth == 0) return NULL;
    shut = *p == '{' ? '}' : ']';
    p = blanks(p + 1, e);
    if (p < e && *p == shut) return p + 1;
    for (;;) {
        if (shut == '}') {
            p = plain_string(p, e);
            if (!p) return NULL;
            p = blanks(p, e);
            if (p >= e || *p != ':') return NULL;
            p = blanks(p + 1, e);
        }
        p = plain_value(p, e, depth - 1);
        if (!p) return NULL;
        p = blanks(p, e);
        if (p < e && *p == shut) return p + 1;
        if (p >= e || *p != ',') return NULL;
        p = blanks(p + 1, e);
    }
}
static int plain_check(agent_str t)
{
    const char *e = t.p + t.n, *p = plain_value(blanks(t.p, e), e, 64);
    return p && blanks(p, e) == e;
}

static void check_text(agent_str v)
{
    size_t n = agent_json_text(v, NULL, 0), small = n / 2;
    char *p = (char *)malloc(n + 1), *cut = (char *)malloc(small + 1);
    must(p && cut);
    must(agent_json_text(v, p, n + 1) == n && p[n] == 0 && agenti_utf8_valid(p, n) == n);
    must(agent_json_text(v, p, n) == n && agenti_utf8_valid(p, n) == n);
    must(agent_json_text(v, cut, small) == n);
    must(small == 0 || n == 0 || memchr(cut, 0, small) != NULL);
    free(p);
    free(cut);
}
static void check_string(agent_str v, int ok)                       /* agenti_json_string against agent_json_text       */
{
    size_t n = agent_json_text(v, NULL, 0);
    char *want = (char *)malloc(n + 1), *raw = (char *)malloc(v.n + 1);
    agenti_pool pool;
    agenti_arena arena;
    agent_str out;
    must(want && raw);
    agent_json_text(v, want, n + 1);
    if (v.n) memcpy(raw, v.p, v.n);
    agenti_pool_child(&pool, NULL, 0);
    arena.pool = &pool;
    arena.top = NULL;
    must(agenti_json_string(agenti_str(raw, v.n), NULL, &arena, &out));
    if (ok) must(v.n > 0 && v.p[0] == '"' ? out.n == n && (n == 0 || memcmp(out.p, want, n) == 0) : out.n == v.n);
    agenti_arena_free(&arena);
    must(pool.now == 0);
    free(want);
    free(raw);
}
static void check_members(agent_str t, int ok)
{
    size_t pos = 0, before = 0, left = 40;
    agent_str root = agent_json_get(t, ""), k, v;
    must(inside(root, t));
    if (ok) must(root.p != NULL && blanks(root.p + root.n, t.p + t.n) == t.p + t.n);
    while (agent_json_each(root, &pos, &k, &v)) {
        must(pos > before && pos <= root.n && inside(k, root) && inside(v, root));
        before = pos;
        if (ok) must((k.p != NULL) == (root.p[0] == '{'));
        if (left == 0) continue;
        left--;
        if (ok) must(agent_json_check(v.p, v.n, 64, NULL) == AGENT_OK && agenti_json_skip(v.p, v.n) == v.n);
        check_text(v);
        check_string(v, ok);
    }
    check_text(root);
}
static void check_pick(agent_str t, int ok)
{
    static const agenti_field f[] = { { "a", -1 }, { "b", 0 }, { "c", 1 }, { "choices", -1 }, { "id", -1 }, { "", -1 }, { "b", -1 }, { "a", 6 } };
    static const char *const paths[] = { "a", "a.b", "a.b.c", "choices", "id", NULL, "b", "b.a" };
    agent_str o[8], v;
    int i;
    agenti_json_pick(t, f, 8, o);
    for (i = 0; i < 8; i++) {
        must(inside(o[i], t));
        if (!paths[i]) continue;
        v = agent_json_get(t, paths[i]);
        must(inside(v, t));
        if (ok) must(v.p == o[i].p && v.n == o[i].n);
    }
    agent_json_get(t, "[3].x[0]");
}
static void check_repair(agent_str t, int complete)
{
    int parses;
    size_t n = agent_json_repair(t.p, t.n, NULL, 0, &parses), end = t.n;
    char *p = (char *)malloc(n + 1);
    must(p != NULL);
    must(agent_json_repair(t.p, t.n, p, n + 1, NULL) == n && p[n] == 0);
    must(parses == (agent_json_check(p, n, 0, NULL) == AGENT_OK));
    if (complete) {
        while (end > 0 && (unsigned char)t.p[end - 1] <= ' ') end--;
        must(n == end && memcmp(p, t.p, n) == 0);
    }
    free(p);
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    agent_json_error err;
    agent_str t = agenti_str((const char *)data, size), part;
    int code = agent_json_check(t.p, t.n, 0, &err), ok = code == AGENT_OK, parses;
    size_t at = size ? data[size / 2] % size : 0;
    must(ok == plain_check(t));
    must(ok ? err.why[0] == 0 : err.why[0] != 0 && err.offset <= size);
    if (code == AGENT_E_SYNTAX) must(agent_json_check(t.p, err.offset, 0, NULL) != AGENT_E_LIMIT);
    for (part = agenti_str(t.p + at, size - at); ; part = t) {
        must(agenti_json_plain(part.p, part.n) == agenti_json_plain_bytes(part.p, part.n));
        must(agenti_json_marks(part.p, part.n) == agenti_json_marks_bytes(part.p, part.n));
        must(agenti_json_skip(part.p, part.n) <= part.n);
        if (part.p == t.p) break;
    }
    check_members(t, ok);
    check_pick(t, ok);
    check_repair(t, ok);
    if (!ok || blanks(t.p, t.p + t.n)[0] == '-') return 0;
    agent_json_repair(t.p, at, NULL, 0, &parses);
    must(parses == (blanks(t.p, t.p + at) < t.p + at));
    return 0;
}
