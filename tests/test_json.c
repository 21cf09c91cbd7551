/* Units: UTF-8, numbers, and the JSON room. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"

static agent_str S(const char *p) { return agenti_cstr(p); }
static int is(agent_str a, const char *b) { return a.p != NULL && a.n == strlen(b) && memcmp(a.p, b, a.n) == 0; }
static agent_str exact(const char *p, size_t n)                     /* in memory of exactly that size                   */
{
    char *q = (char *)malloc(n ? n : 1);
    if (q) memcpy(q, p, n);
    return agenti_str(q, n);
}
static void drop(agent_str s) { free((char *)(uintptr_t)s.p); }

static void test_utf8(void)
{
    char out[4];
    uint32_t cp;
    size_t k;
    for (cp = 0; cp <= 0x10FFFF; cp += cp < 0x900 ? 1 : 61) {
        k = agenti_utf8_put(out, cp);
        CHECK(agenti_utf8_valid(out, k) == k);
        if (k > 1) {
            CHECK(agenti_utf8_valid(out, k - 1) == 0 && agenti_utf8_bad(out, k - 1) == k - 1);
            CHECK(agenti_utf8_tail(out, k - 1) == k - 1 && agenti_utf8_tail(out, k) == 0);
        }
    }
    CHECK(agenti_utf8_put(out, 0xD800) == 3 && memcmp(out, "\xEF\xBF\xBD", 3) == 0);
    CHECK(agenti_utf8_valid("abcdefgh\xC3\xA9ijklmnop\xED\xA0\x80", 21) == 18);
    CHECK(agenti_utf8_bad("\xED\xA0\x80", 3) == 1 && agenti_utf8_bad("\xF0\x9F\x98", 3) == 3 && agenti_utf8_bad("\xE2\x82" "a", 3) == 2);
    CHECK(agenti_utf8_bad("\xFF", 1) == 1 && agenti_utf8_bad("\xC0\x80", 2) == 1 && agenti_utf8_bad("\xF5\x80\x80\x80", 4) == 1);
    CHECK(agenti_utf8_cut("a\xC3\xA9" "b", 4, 2) == 1 && agenti_utf8_cut("a\xC3\xA9" "b", 4, 3) == 3 && agenti_utf8_cut("ab", 2, 9) == 2);
    CHECK(agenti_utf8_cut("\xF0\x9F\x98\x80x", 5, 4) == 4 && agenti_utf8_cut("\xF0\x9F\x98\x80x", 5, 3) == 0);
    CHECK(agenti_utf8_tail("", 0) == 0 && agenti_utf8_tail("\x80\x80\x80\x80", 4) == 0 && agenti_utf8_tail("\xED\xA0", 2) == 0);
}

static void test_ints(void)
{
    static const char *const bad[] = { "", "-", "01", "-01", "1.0", "1e3", " 1", "1 ", "+1", "9223372036854775808", "-9223372036854775809",
        "18446744073709551616", "100000000000000000000", "0x1", "null", "\"1\"" };
    int64_t v;
    size_t i;
    char out[21];
    for (i = 0; i < sizeof bad / sizeof *bad; i++) CHECK_CASE(!agenti_int(S(bad[i]), &v), bad[i]);
    CHECK(agenti_int(S("0"), &v) && v == 0);
    CHECK(agenti_int(S("-0"), &v) && v == 0);
    CHECK(agenti_int(S("9223372036854775807"), &v) && v == INT64_MAX);
    CHECK(agenti_int(S("-9223372036854775808"), &v) && v == INT64_MIN);
    CHECK(agent_json_int(S("12"), 7) == 12 && agent_json_int(S("1.5"), 7) == 7 && agent_json_int(agent_json_get(S("{}"), "x"), 7) == 7);
    CHECK(agenti_count(S("12.9"), &v) && v == 12);
    CHECK(agenti_count(S("1e3"), &v) && v == 1000);
    CHECK(agenti_count(S("12345e-2"), &v) && v == 123);
    CHECK(agenti_count(S("0.0012345e5"), &v) && v == 123);
    CHECK(agenti_count(S("1.5e1"), &v) && v == 15);
    CHECK(agenti_count(S("-5"), &v) && v == 0);
    CHECK(agenti_count(S("0.999"), &v) && v == 0);
    CHECK(agenti_count(S("0e999999999999999999999"), &v) && v == 0);
    CHECK(agenti_count(S("1e99999999999999999999"), &v) && v == INT64_MAX);
    CHECK(agenti_count(S("9223372036854775807.9"), &v) && v == INT64_MAX);
    CHECK(agenti_count(S("9223372036854775806.9"), &v) && v == INT64_MAX - 1);
    CHECK(agenti_count(S("9223372036854775808"), &v) && v == INT64_MAX);
    CHECK(!agenti_count(S("null"), &v) && !agenti_count(S("\"5\""), &v) && !agenti_count(S("5x"), &v) && !agenti_count(S(""), &v));
    CHECK(agenti_u64_text(0, out) == 1 && out[0] == '0');
    CHECK(agenti_u64_text(UINT64_MAX, out) == 20 && memcmp(out, "18446744073709551615", 20) == 0);
    CHECK(agenti_i64_text(INT64_MIN, out) == 20 && memcmp(out, "-9223372036854775808", 20) == 0);
    CHECK(agenti_num_prefix("12.", 3) == 2 && agenti_num_prefix("2.5e-", 5) == 3 && agenti_num_prefix("-", 1) == 0 && agenti_num_prefix("-01", 3) == 2);
    CHECK(agenti_num_prefix("1e+5x", 5) == 4 && agenti_num_prefix("1E", 2) == 1 && agenti_num_prefix("", 0) == 0 && agenti_num_prefix(".5", 2) == 0);
}

static uint64_t bits_of(double d) { uint64_t b; memcpy(&b, &d, 8); return b; }
static void check_double(const char *text)                          /* against strtod, which glibc rounds exactly       */
{
    double got = 0, want = strtod(text, NULL);
    int ok = agenti_double(S(text), &got);
    if (want > 1.7976931348623157e308 || want < -1.7976931348623157e308) CHECK_CASE(!ok, text);
    else CHECK_CASE(ok && bits_of(got) == bits_of(want), text);
}
static void test_doubles(void)
{
    static const char *const texts[] = { "0", "-0", "0.0e99999", "1", "-1.5", "0.1", "3.141592653589793", "123456789012345678", "9007199254740993",
        "9007199254740992.999999999999999999999999999999", "9007199254740993.0000000000000000000000000001", "4.9406564584124654e-324",
        "2.4703282292062327e-324", "2.4703282292062328e-324", "2.2250738585072014e-308", "2.2250738585072011e-308", "1.7976931348623157e308",
        "1.7976931348623158e308", "1.7976931348623159e308", "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587",
        "1e308", "1e309", "1e310", "1e400", "1e-323", "1e-324", "1e-400", "1e99999999999999999999", "1e-99999999999999999999", "1e22", "1e23", "8.5e22",
        "7205759403792793199999e-5", "6.02214076e23", "5e-324", "3e-324", "7.4e-324", "8.98846567431158e307", "0.000001", "1.00000000000000011102230246251565",
        "1.00000000000000011102230246251566", "1.00000000000000011102230246251564", "100000000000000016777215", "100000000000000016777216" };
    char text[1600];
    uint64_t seed = 88172645463325252u;
    double v;
    size_t i, k;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) check_double(texts[i]);
    for (i = 0; i < 4000; i++) {                                    /* shortest-looking, middles, and one step off them */
        double d, e;
        uint64_t b;
        seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17;
        b = seed & ~((uint64_t)1 << 63);
        if (b >> 52 >= 0x7FE) continue;
        if (i % 4 == 0) b &= ((uint64_t)1 << 53) - 1;
        memcpy(&d, &b, 8);
        snprintf(text, sizeof text, "%.*e", (int)(i % 25), d);
        check_double(text);
        b++;
        memcpy(&e, &b, 8);
        if (sizeof(long double) > 8) {                              /* the exact middle in decimal                      */
            k = (size_t)snprintf(text, sizeof text, "%.1100Le", ((long double)d + (long double)e) / 2);
            check_double(text);
            if (k > 1100 && text[1050] < '9') { text[1050]++; check_double(text); }
        }
    }
    memset(text, '9', sizeof text);                                 /* many digits; sticky at the very end              */
    memcpy(text, "9007199254740993.", 17);
    memset(text + 17, '0', sizeof text - 17);
    text[sizeof text - 1] = 0;
    check_double(text);
    text[sizeof text - 2] = '1';
    check_double(text);
    CHECK(bits_of(agent_json_num(S("2.5"), 1)) == bits_of(2.5));
    CHECK(bits_of(agent_json_num(S("1e999"), 1)) == bits_of(1.0));
    CHECK(!agenti_double(S(""), &v) && !agenti_double(S("nan"), &v) && !agenti_double(S("1."), &v) && !agenti_double(S("0x1p3"), &v) && !agenti_double(S("1,5"), &v));
}

static void test_check(void)
{
    static const struct { const char *text; size_t at; const char *why; } bad[] = {
        { "", 0, "expected a value" }, { "  ", 2, "expected a value" }, { "[", 1, "expected a value or ']'" }, { "[1,]", 3, "expected a value" },
        { "{", 1, "expected a key or '}'" }, { "{1", 1, "expected a key or '}'" }, { "{\"a\"}", 4, "expected ':'" }, { "{\"a\":}", 5, "expected a value" },
        { "{\"a\":1,}", 7, "expected a key" }, { "[1 2]", 3, "expected ',' or ']'" }, { "{\"a\":1]", 6, "expected ',' or '}'" }, { "1 2", 2, "expected the end" },
        { "nul", 0, "expected a value" }, { "nullx", 4, "expected the end" }, { "-", 1, "expected a digit" }, { "01", 1, "expected no leading zero" },
        { "[1.]", 2, "expected a digit after this" }, { "1e", 1, "expected a digit after this" }, { "\"a", 2, "expected '\"' at the end of a string" },
        { "\"\\x\"", 1, "expected an escape of JSON" }, { "\"\\u12g4\"", 1, "expected an escape of JSON" }, { "\"a\nb\"", 2, "expected no control character in a string" },
        { "\xEF\xBB\xBF{}", 0, "expected a value, not a byte order mark" }, { "]", 0, "expected a value" }, { "{}}", 2, "expected the end" } };
    static const char *const good[] = { "0", " null ", "\"\"", "[]", "{}", "[[],{}]", "{\"\":[1,-2.5e+3,true,false,null,\"\\u00e9\\n\"]}\r\n\t ", "\"\x7F\xFF\xC3\"" };
    agent_json_error err;
    char deep[200];
    size_t i;
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        agent_str t = exact(bad[i].text, strlen(bad[i].text));
        CHECK_CASE(agent_json_check(t.p, t.n, 0, &err) == AGENT_E_SYNTAX, bad[i].text);
        CHECK_CASE(err.offset == bad[i].at && strcmp(err.why, bad[i].why) == 0, err.why);
        drop(t);
    }
    for (i = 0; i < sizeof good / sizeof *good; i++) CHECK_CASE(agent_json_check(good[i], AGENT_CSTR, 0, &err) == AGENT_OK, good[i]);
    CHECK(agent_json_check("a\0b", 3, 0, NULL) == AGENT_E_SYNTAX && agent_json_check("1\0", 2, 0, NULL) == AGENT_E_SYNTAX);
    memset(deep, '[', 100);
    memset(deep + 64, ']', 64);
    CHECK(agent_json_check(deep, 128, 0, &err) == AGENT_OK && agent_json_check(deep, 128, 1000, NULL) == AGENT_OK);
    CHECK(agent_json_check(deep, 128, 63, &err) == AGENT_E_LIMIT && err.offset == 63);
    memset(deep, '[', 100);
    CHECK(agent_json_check(deep, 100, 0, &err) == AGENT_E_LIMIT && err.offset == 64);
    CHECK(agent_json_check("[1]", 3, 1, NULL) == AGENT_OK && agent_json_check("[[1]]", 5, 1, NULL) == AGENT_E_LIMIT);
    CHECK(agent_json_check("[{\"a\":[{}]}]", AGENT_CSTR, 0, NULL) == AGENT_OK && agent_json_check("[{\"a\":[{]}]", AGENT_CSTR, 0, NULL) == AGENT_E_SYNTAX);
}

static void test_scanners(void)                                     /* each against its byte-wise twin, every place and length */
{
    static const char marks[] = { '"', '\\', 0, 1, 0x1F, 0x20, 0x21, '[', ']', '{', '}', 0x5A, 0x5C, 0x7C, 0x7F, (char)0x80, (char)0x9F, (char)0xDB, (char)0xFB, (char)0xFF };
    size_t n, at, m;
    for (n = 0; n < 70; n++) for (at = 0; at < n; at++) for (m = 0; m < sizeof marks; m++) {
        char room[80];
        agent_str t;
        memset(room, 'a', sizeof room);
        room[at] = marks[m];
        if (at + 3 < n) room[at + 3] = '"';
        t = exact(room, n);
        if (agenti_json_plain(t.p, n) != agenti_json_plain_bytes(t.p, n)) CHECK(0);
        if (agenti_json_marks(t.p, n) != agenti_json_marks_bytes(t.p, n)) CHECK(0);
        drop(t);
    }
    CHECK(1);
}

static void test_words(void)                                        /* the inside of a string: as by bytes, with and without bytes before it */
{
    static const char some[] = { '"', '\\', 0x1F, ' ', (char)0x80, (char)0xFF };
    unsigned seed = 1;
    size_t round, n, i, back, bytes, word, blanks;
    int marks, want;
    for (round = 0; round < 60000; round++) {
        char room[96];
        agent_str t;
        n = round % 70;
        back = round & 1 ? 16 : 0;
        for (i = 0; i < n + back; i++) {
            seed = seed * 1103515245u + 12345u;
            room[i] = (seed >> 16) % 12 == 0 ? some[(seed >> 8) % sizeof some] : round % 5 == 0 ? ' ' : 'a';
        }
        t = exact(room, n + back);
        bytes = agenti_json_word_bytes(t.p + back, n, &want);
        word = agenti_json_word(t.p + back, n, back != 0, &marks);
        if (word != bytes || (word <= n && marks != want)) CHECK(0);
        for (blanks = 0; blanks < n && t.p[back + blanks] == ' '; blanks++) {}
        if (agenti_json_blanks(t.p + back, n, back != 0) != blanks) CHECK(0);
        drop(t);
    }
    CHECK(1);
}
static void test_boxes(void)                                        /* also of what is no JSON: as by bytes            */
{
    static const char some[] = "[]{}\"\"\"\\\\,:a1 \n";
    unsigned seed = 7;
    size_t round, n, i;
    for (round = 0; round < 60000; round++) {
        char room[128];
        agent_str t;
        n = 1 + round % 120;
        for (i = 0; i < n; i++) {
            seed = seed * 1103515245u + 12345u;
            room[i] = (seed >> 16) % 100 < (round % 4 ? 20 : 80) ? some[(seed >> 8) % (sizeof some - 1)] : 'a';
        }
        room[0] = round & 1 ? '{' : '[';
        t = exact(room, n);
        if (agenti_json_box(t.p, n) != agenti_json_box_bytes(t.p, n)) CHECK(0);
        drop(t);
    }
    CHECK(1);
}
static void test_unescape(void)
{
    static const struct { const char *in, *out; } rows[] = {
        { "", "" }, { "plain", "plain" }, { "a\\nb", "a\nb" }, { "\\\\\\\"\\/", "\\\"/" }, { "\\u00e9x\\u20ac", "\xC3\xA9x\xE2\x82\xAC" },
        { "\xE2\x82\xAC\\t\\b\\f\\r", "\xE2\x82\xAC\t\b\f\r" }
    };
    size_t i, n;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        agent_str t = exact(rows[i].in, strlen(rows[i].in));
        n = agenti_json_unescape((char *)(uintptr_t)t.p, t.n);
        CHECK(n == strlen(rows[i].out) && memcmp(t.p, rows[i].out, n) == 0);
        drop(t);
    }
}

static void test_views(void)
{
    static const char doc[] = " {\"a\": {\"b\": [ 1, \"two\", {\"c\": null} ], \"a.b\": 3}, \"\": true, \"a\\u0062\":\"e\\n\", \"dup\":1, \"dup\":2, \"q\":\"]}\\\"{\"} ";
    agent_str j = S(doc), k, v;
    size_t pos = 0, n = 0;
    char buf[8];
    CHECK(agent_json_check(doc, AGENT_CSTR, 0, NULL) == AGENT_OK);
    CHECK(is(agent_json_get(j, "a.b[0]"), "1") && is(agent_json_get(j, "a.b[1]"), "\"two\"") && is(agent_json_get(j, "a.b[2].c"), "null"));
    CHECK(is(agent_json_get(j, "ab"), "\"e\\n\"") && is(agent_json_get(j, "dup"), "2") && is(agent_json_get(j, "q"), "\"]}\\\"{\""));
    CHECK(agent_json_get(j, "a.b[3]").p == NULL && agent_json_get(j, "a.b[x]").p == NULL && agent_json_get(j, "a.b[").p == NULL && agent_json_get(j, "a.b[]").p == NULL);
    CHECK(agent_json_get(j, "a.b[99999999999999999999999]").p == NULL && agent_json_get(j, "a.b.c").p == NULL && agent_json_get(j, "[0]").p == NULL);
    CHECK(agent_json_get(j, "a.b[2]x").p == NULL && agent_json_get(j, "zz.y").p == NULL && is(agent_json_get(S("{\"\":{\"\":5}}"), "."), "5"));
    CHECK(is(agent_json_get(S("[[1,[2]]]"), "[0][1][0]"), "2") && is(agent_json_get(S(" 5 "), ""), "5") && agent_json_get(S(""), "").p == NULL);
    CHECK(agent_json_get(S("5"), "a").p == NULL && agent_json_get(S("[1]"), "a").p == NULL);
    while (agent_json_each(j, &pos, &k, &v)) { CHECK(k.p != NULL); n++; }
    CHECK(n == 6);
    pos = 0;
    v = S("[\"x\" , {\"y\":1}]");
    CHECK(agent_json_each(v, &pos, &k, &j) && k.p == NULL && is(j, "\"x\""));
    CHECK(agent_json_each(v, &pos, &k, &j) && k.p == NULL && is(j, "{\"y\":1}") && !agent_json_each(v, &pos, NULL, NULL));
    pos = 0;
    CHECK(!agent_json_each(S("[]"), &pos, NULL, NULL) && !agent_json_each(S("\"s\""), &pos, NULL, NULL) && !agent_json_each(S(""), &pos, NULL, NULL));
    CHECK(agent_json_is(S("\"a\\u0062\""), "ab") && agent_json_is(S("\"\""), "") && !agent_json_is(S("ab"), "ab") && !agent_json_is(S("\"ab\""), "abc"));
    CHECK(agent_json_is(S("\"\\ud83d\\ude00\""), "\xF0\x9F\x98\x80") && agent_json_is(S("\"\xFF\""), "\xEF\xBF\xBD") && !agent_json_is(S("\"a\\n\""), "a\\n"));
    CHECK(agent_json_bool(S("true"), 5) == 1 && agent_json_bool(S("false"), 5) == 0 && agent_json_bool(S("null"), 5) == 5);
    CHECK(agent_json_text(S("\"abc\""), buf, sizeof buf) == 3 && strcmp(buf, "abc") == 0);
    CHECK(agent_json_text(S("[1]"), buf, sizeof buf) == 3 && strcmp(buf, "[1]") == 0);
    CHECK(agent_json_text(S("\"12345678\""), buf, sizeof buf) == 8 && memcmp(buf, "12345678", 8) == 0);
    CHECK(agent_json_text(S("\"123456\\u20ac9\""), buf, sizeof buf) == 10 && strcmp(buf, "123456") == 0);
    CHECK(agent_json_text(S("\"123456789\""), buf, sizeof buf) == 9 && strcmp(buf, "1234567") == 0);
    CHECK(agent_json_text(S("\"x\""), NULL, 0) == 1 && agent_json_text(agent_json_get(S("{}"), "k"), buf, sizeof buf) == 0 && buf[0] == 0);
    CHECK(agent_json_text(S("\"\\ud800\\u0041\\udc00\""), buf, sizeof buf) == 7 && memcmp(buf, "\xEF\xBF\xBD" "A\xEF\xBF\xBD", 7) == 0);
}

static void test_skip(void)
{
    static const struct { const char *text; size_t n; } t[] = { { "1,2", 1 }, { "\"a\\\"b\" ", 6 }, { "[1,[2],{}]x", 10 }, { "{\"]\":\"}\"},", 9 }, { "true}", 4 },
        { "", 0 }, { "\"abc", 0 }, { "\"abc\\", 0 }, { "[[]", 0 }, { ",", 0 }, { "[\"]", 0 }, { "-1.5e3]", 6 } };
    size_t i;
    for (i = 0; i < sizeof t / sizeof *t; i++) {
        agent_str e = exact(t[i].text, strlen(t[i].text));
        CHECK_CASE(agenti_json_skip(e.p, e.n) == t[i].n, t[i].text);
        drop(e);
    }
}

static void test_pick(void)
{
    static const agenti_field f[] = { { "id", -1 }, { "delta", -1 }, { "content", 1 }, { "deep", 1 }, { "x", 3 }, { "", -1 }, { "usage", -1 } };
    agent_str o[7];
    agenti_json_pick(S(" {\"id\":\"a\",\"zz\":{\"content\":9},\"delta\":{\"content\":\"hi\",\"deep\":{\"x\":[1]},\"id\":3} , \"\":0,\"usage\":null}"), f, 7, o);
    CHECK(is(o[0], "\"a\"") && is(o[1], "{\"content\":\"hi\",\"deep\":{\"x\":[1]},\"id\":3}") && is(o[2], "\"hi\"") && is(o[3], "{\"x\":[1]}") && is(o[4], "[1]"));
    CHECK(is(o[5], "0") && is(o[6], "null"));
    agenti_json_pick(S("{\"delta\":{\"content\":1,\"deep\":{\"x\":2}},\"id\":1,\"id\":2,\"delta\":{\"content\":3}}"), f, 7, o);
    CHECK(is(o[0], "2") && is(o[1], "{\"content\":3}") && is(o[2], "3") && o[3].p == NULL && o[4].p == NULL);
    agenti_json_pick(S("{\"delta\":{\"content\":1},\"delta\":null}"), f, 7, o);
    CHECK(is(o[1], "null") && o[2].p == NULL && o[0].p == NULL);
    agenti_json_pick(S("{\"d\\u0065lta\":{\"\\u0063ontent\":1,\"con\\u0074\":2},\"del\":1,\"deltaa\":2,\"i\\\\d\":5}"), f, 7, o);
    CHECK(is(o[2], "1") && o[0].p == NULL);
    agenti_json_pick(S("[]"), f, 7, o);
    CHECK(o[0].p == NULL && o[1].p == NULL);
    agenti_json_pick(S("{\"delta\":{\"content\":1"), f, 7, o);      /* not checked: an open object is no result         */
    CHECK(o[1].p == NULL);
    agenti_json_pick(agenti_str("{\"id\0\":1}", 10), f, 7, o);
    CHECK(o[0].p == NULL);
}

static agenti_pool pool;                                            /* of the test, not of the engine                   */
static agenti_arena arena;
static int string_is(const char *value, uint16_t *high, const char *want)
{
    agent_str raw = exact(value, strlen(value)), out;
    int ok = agenti_json_string(raw, high, &arena, &out) && is(out, want) && agenti_utf8_valid(out.p, out.n) == out.n;
    drop(raw);
    return ok;
}
static void test_string(void)
{
    uint16_t high = 0;
    CHECK(string_is("\"abc\"", &high, "abc") && string_is("\"\"", &high, "") && string_is("null", &high, "null") && string_is("\"a\\n\\u00e9b\"", NULL, "a\n\xC3\xA9" "b"));
    CHECK(string_is("\"\\ud83d\\ude00\"", &high, "\xF0\x9F\x98\x80") && high == 0);
    CHECK(string_is("\"x\\ud83d\"", &high, "x") && high == 0xD83D);
    CHECK(string_is("\"\"", &high, "") && high == 0xD83D && string_is("null", &high, "null") && high == 0xD83D);
    CHECK(string_is("\"\\ude00y\"", &high, "\xF0\x9F\x98\x80y") && high == 0);
    high = 0xD83D;                           /* half a pair, then text that looks like an escape without its backslash */
    CHECK(string_is("\".uDDDDx\"", &high, "\xEF\xBF\xBD.uDDDDx") && high == 0);
    CHECK(string_is("\"\\ud83d\"", &high, "") && string_is("\"z\"", &high, "\xEF\xBF\xBDz") && high == 0);
    CHECK(string_is("\"\\ud83d\"", &high, "") && string_is("\"\\n\"", &high, "\xEF\xBF\xBD\n") && high == 0);
    CHECK(string_is("\"\\ud83d\"", &high, "") && string_is("\"\\ud83d\"", &high, "\xEF\xBF\xBD") && high == 0xD83D);
    CHECK(string_is("\"\\u20ac\"", &high, "\xEF\xBF\xBD\xE2\x82\xAC") && high == 0);
    CHECK(string_is("\"\\ud83d\"", NULL, "\xEF\xBF\xBD") && string_is("\"\\ude00\\ud83d!\"", NULL, "\xEF\xBF\xBD\xEF\xBF\xBD!"));
    CHECK(string_is("\"a\xFF\xE2\x82\\t\xED\xA0\x80\"", NULL, "a\xEF\xBF\xBD\xEF\xBF\xBD\t\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"));
    pool.limit = pool.now + 100;                                    /* no memory: nothing changes                       */
    high = 0xD83D;
    arena.top->n = arena.top->cap;
    {
        agent_str out;
        CHECK(!agenti_json_string(S("\"zzz\""), &high, &arena, &out) && high == 0xD83D);
    }
    pool.limit = 0;
}

static void test_write(void)
{
    agenti_buf b;
    char buf[64];
    agenti_buf_init(&b, &pool);
    agenti_buf_str(&b, "{");
    agenti_json_member_str(&b, "model", S("a\"\\/\b\f\n\r\t\x01\x7F\xFF"));
    agenti_json_member_int(&b, "n", -5);
    agenti_json_member(&b, "t", S("1.50"));
    agenti_json_member(&b, "none", agenti_str(NULL, 0));
    agenti_json_key(&b, "list");
    agenti_buf_str(&b, "[");
    agenti_json_comma(&b);
    agenti_json_quote_to(&b, S("x"));
    agenti_json_comma(&b);
    agenti_json_quote_to(&b, S(""));
    agenti_buf_str(&b, "]}");
    CHECK(!b.bad && strcmp(b.p, "{\"model\":\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7F\xEF\xBF\xBD\",\"n\":-5,\"t\":1.50,\"none\":null,\"list\":[\"x\",\"\"]}") == 0);
    CHECK(agent_json_check(b.p, b.n, 0, NULL) == AGENT_OK);
    agenti_buf_free(&b);
    agenti_json_quote_to(&b, S(""));
    agenti_json_quote_more(&b, S("a\"b"));
    agenti_json_quote_more(&b, S("\xFF"));
    CHECK(b.n == 9 && memcmp(b.p, "\"a\\\"b\xEF\xBF\xBD\"", 9) == 0);
    agenti_buf_free(&b);
    CHECK(agent_json_quote("ab", AGENT_CSTR, buf, sizeof buf) == 4 && strcmp(buf, "\"ab\"") == 0);
    CHECK(agent_json_quote("a\0b", 3, buf, sizeof buf) == 10 && strcmp(buf, "\"a\\u0000b\"") == 0);
    CHECK(agent_json_quote("abcdef", 6, buf, 4) == 8 && strcmp(buf, "\"ab") == 0 && agent_json_quote("", 0, NULL, 0) == 2);
}

static void test_repair(void)
{
    static const struct { const char *in, *out; } t[] = { { "", "" }, { " \n", "" }, { "[1,2", "[1,2]" }, { "{\"a\":[1,{\"b\":\"x", "{\"a\":[1,{\"b\":\"x\"}]}" },
        { "nulx", "" }, { "[trux", "[]" }, { "[true!", "[true]" }, { "12.x", "12" }, { "\"a\\q", "\"a\"" }, { "\"a\nb", "\"a\"" }, { "\"caf\xC3", "\"caf\"" },
        { "\"\xF0\x9F\x98", "\"\"" }, { "\"a\\n\xE2\x82", "\"a\\n\"" }, { "[1,]", "[1]" }, { "{\"a\":1,}", "{\"a\":1}" }, { "[1 2]", "[1]" }, { "{} x", "{}" }, { "]", "" },
        { "[}", "[]" }, { " [", " []" }, { "{\"a\\u12", "{}" }, { "{\"a\":nul", "{\"a\":null}" }, { "-0.", "-0" }, { "\xEF\xBB\xBF{}", "" } };
    char out[256], in[256];
    size_t i, n;
    int parses;
    for (i = 0; i < sizeof t / sizeof *t; i++) {
        agent_str e = exact(t[i].in, strlen(t[i].in));
        n = agent_json_repair(e.p, e.n, out, sizeof out, &parses);
        CHECK_CASE(n == strlen(t[i].out) && strcmp(out, t[i].out) == 0 && parses == (n > 0), t[i].in);
        if (parses) CHECK_CASE(agent_json_check(out, n, 0, NULL) == AGENT_OK, t[i].in);
        drop(e);
    }
    memset(in, '[', 100);
    n = agent_json_repair(in, 100, out, sizeof out, &parses);
    CHECK(n == 128 && parses && agent_json_check(out, n, 0, NULL) == AGENT_OK);
}

int main(void)
{
    agenti_pool_child(&pool, NULL, 0);
    arena.pool = &pool;
    test_utf8();
    test_ints();
    test_doubles();
    test_check();
    test_scanners();
    test_words();
    test_boxes();
    test_unescape();
    test_views();
    test_skip();
    test_pick();
    test_string();
    test_write();
    test_repair();
    agenti_arena_free(&arena);
    CHECK(pool.now == 0);
    return test_end("test_json");
}
