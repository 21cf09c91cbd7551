/* UTF-8 and numbers, any bytes.
 * - agenti_utf8_valid and _bad agree with a byte-by-byte automaton; repaired text is valid, repairing it again changes nothing
 * - agenti_utf8_cut of valid text gives valid text, and goes on when 4 bytes fit; _tail is 0 exactly when the text's end is no cut sequence
 * - agenti_double agrees with strtod bit for bit; agenti_int with strtoll; agenti_count is the number cut toward 0;
 *   all three refuse what is no JSON number; _i64_text and _int are inverse */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
static void must(int ok) { if (!ok) abort(); }

/* One step of Unicode's table 3-7. state 0: between sequences; else bytes to come and the range of the next. */
typedef struct automaton { unsigned more, lo, hi; } automaton;
static int step(automaton *a, unsigned c)                           /* 0: c may not stand here                          */
{
    if (a->more) {
        if (c < a->lo || c > a->hi) return 0;
        a->more--;
        a->lo = 0x80;
        a->hi = 0xBF;
        return 1;
    }
    a->lo = 0x80;
    a->hi = 0xBF;
    if (c < 0x80) return 1;
    if (c >= 0xC2 && c <= 0xDF) { a->more = 1; return 1; }
    if (c == 0xE0) { a->more = 2; a->lo = 0xA0; return 1; }
    if (c == 0xED) { a->more = 2; a->hi = 0x9F; return 1; }
    if (c >= 0xE1 && c <= 0xEF) { a->more = 2; return 1; }
    if (c == 0xF0) { a->more = 3; a->lo = 0x90; return 1; }
    if (c == 0xF4) { a->more = 3; a->hi = 0x8F; return 1; }
    if (c >= 0xF1 && c <= 0xF3) { a->more = 3; return 1; }
    return 0;
}
static void check_valid(const char *p, size_t n)
{
    automaton a = { 0, 0, 0 };
    size_t i, good = 0, bad;
    for (i = 0; i < n && step(&a, (unsigned char)p[i]); i++) if (a.more == 0) good = i + 1;
    must(agenti_utf8_valid(p, n) == good);
    if (good == n) { must(agenti_utf8_tail(p, n) == 0); return; }
    bad = i > good ? i - good : 1;
    must(agenti_utf8_bad(p + good, n - good) == bad);
    if (i == n && a.more) must(agenti_utf8_tail(p, n) == n - good);
}
static void check_utf8(const char *p, size_t n)
{
    agenti_pool pool;
    agenti_buf once, twice;
    size_t at = 0, max, k;
    agenti_pool_child(&pool, NULL, 0);
    agenti_buf_init(&once, &pool);
    agenti_buf_init(&twice, &pool);
    for (at = 0; at < n && at < 64; at++) check_valid(p + at, n - at);
    must(agenti_utf8_repair(&once, p, n) && agenti_utf8_repair(&twice, once.p, once.n));
    must(once.n == twice.n && (once.n == 0 || memcmp(once.p, twice.p, once.n) == 0));
    for (at = 0, max = n ? 4 + (unsigned char)p[0] % 16 : 4; at < once.n; at += k) {
        k = agenti_utf8_cut(once.p + at, once.n - at, max);
        must(k > 0 && k <= max && agenti_utf8_valid(once.p + at, k) == k);
    }
    agenti_buf_free(&once);
    agenti_buf_free(&twice);
    must(pool.now == 0);
}
static void check_number(agent_str t)                               /* t.p ends in a NUL                                */
{
    double d = 0, want;
    int64_t v, count;
    uint64_t a, b;
    char text[21];
    int is = t.n > 0 && agenti_num_prefix(t.p, t.n) == t.n, ok = agenti_double(t, &d);
    must(agenti_num_prefix(t.p, t.n) <= t.n);
    must(agenti_count(t, &count) == is && (is || !ok));
    if (!is) { must(!agenti_int(t, &v)); return; }
    must(count >= 0);
    want = strtod(t.p, NULL);
    if (want > 1.7976931348623157e308 || want < -1.7976931348623157e308) must(!ok);
    else {
        must(ok);
        memcpy(&a, &d, 8);
        memcpy(&b, &want, 8);
        must(a == b);
        if (want < 1) must(count == 0);
        else if (want < 4503599627370496.0) must(count == (int64_t)want || (double)count - want < 1.0);
        else must((double)count > want * 0.9999 || count == INT64_MAX);
    }
    errno = 0;
    if (agenti_int(t, &v)) {
        must(strtoll(t.p, NULL, 10) == v && errno == 0 && count == (v < 0 ? 0 : v));
        must(agenti_int(agenti_str(text, agenti_i64_text(v, text)), &count) && count == v);
    } else if (strspn(t.p, "-0123456789") == t.n) {
        (void)strtoll(t.p, NULL, 10);
        must(errno == ERANGE);
    }
}
/* The bytes as they are, and mapped to the letters of numbers. */
static void check_numbers(const uint8_t *data, size_t n)
{
    static const char letters[] = "0123456789-.eE+01";
    char *p = (char *)malloc(n + 1);
    size_t i, k;
    must(p != NULL);
    if (n) memcpy(p, data, n);
    p[n] = 0;
    if (strlen(p) == n) check_number(agenti_str(p, n));
    for (i = 0; i < n; i++) if (!strchr(letters, p[i]) || p[i] == 0) p[i] = letters[data[i] % 17];
    check_number(agenti_str(p, n));
    k = agenti_num_prefix(p, n);
    p[k] = 0;
    check_number(agenti_str(p, k));
    free(p);
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_utf8((const char *)data, size);
    check_numbers(data, size);
    return 0;
}
