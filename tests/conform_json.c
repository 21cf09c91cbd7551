/* JSON, numbers, UTF-8, repair and quoting against suites of other people: argv[1], default ../shared. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"
#include <dirent.h>

static char *slurp(const char *dir, const char *name, size_t *n)
{
    char path[1024];
    FILE *f;
    char *p;
    long len;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "rb");
    *n = 0;
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    len = ftell(f);
    rewind(f);
    p = (char *)malloc((size_t)len + 1);
    if (p) *n = fread(p, 1, (size_t)len, f);
    fclose(f);
    if (p) p[*n] = 0;
    return p;
}
static char *text_of(agent_str v, size_t *n)
{
    char *p;
    *n = agent_json_text(v, NULL, 0);
    p = (char *)malloc(*n + 1);
    if (p) agent_json_text(v, p, *n + 1);
    return p;
}
/* A JSON value as a view that has just the memory it needs, so that a sanitizer sees a step too far. */
static agent_str exact(const char *p, size_t n)
{
    char *q = (char *)malloc(n ? n : 1);
    if (q) memcpy(q, p, n);
    return agenti_str(q, n);
}
static void drop(agent_str s) { free((char *)(uintptr_t)s.p); }

/* What RFC 8259 leaves open. Numbers: the grammar alone decides, a double too large is no error of the text. Strings: a lone surrogate
 * escape and bad UTF-8 pass the check and become U+FFFD when they are decoded. A byte order mark, UTF-16 and more than 64
 * levels are refused. */
static const char *const open_choices_refused[] = {
    "i_string_UTF-16LE_with_BOM.json", "i_string_utf16BE_no_BOM.json", "i_string_utf16LE_no_BOM.json",
    "i_structure_500_nested_arrays.json", "i_structure_UTF-8_BOM_empty_object.json"
};
static int expected(const char *name)                              /* the code: 0, or E_SYNTAX, or E_LIMIT              */
{
    size_t i;
    if (name[0] == 'y') return AGENT_OK;
    if (strcmp(name, "n_structure_100000_opening_arrays.json") == 0 || strcmp(name, "n_structure_open_array_object.json") == 0
        || strcmp(name, "i_structure_500_nested_arrays.json") == 0) return AGENT_E_LIMIT;
    if (name[0] == 'n') return AGENT_E_SYNTAX;
    for (i = 0; i < sizeof open_choices_refused / sizeof *open_choices_refused; i++)
        if (strcmp(name, open_choices_refused[i]) == 0) return AGENT_E_SYNTAX;
    return AGENT_OK;
}
static void walk_all(agent_str v)                                   /* everything that can be asked of a root value     */
{
    agent_str k, e;
    size_t pos = 0, n;
    char *t = text_of(v, &n);
    CHECK(agenti_utf8_valid(t, n) == n);
    free(t);
    while (agent_json_each(v, &pos, &k, &e)) {
        t = text_of(e, &n);
        CHECK(agenti_utf8_valid(t, n) == n);
        free(t);
    }
}
static void parsing(const char *dir)
{
    char path[1024], part[1100], *whole, *fixed;
    struct dirent *d;
    size_t n, len;
    int parses, files = 0;
    agent_json_error err;
    DIR *list;
    snprintf(path, sizeof path, "%s/suites/json/JSONTestSuite/test_parsing", dir);
    list = opendir(path);
    CHECK(list != NULL);
    while (list && (d = readdir(list)) != NULL) {
        agent_str v;
        if (d->d_name[0] == '.') continue;
        snprintf(part, sizeof part, "%.1023s", path);
        whole = slurp(part, d->d_name, &n);
        if (!whole) continue;
        files++;
        v = exact(whole, n);
        CHECK_CASE(agent_json_check(v.p, v.n, 0, &err) == expected(d->d_name), d->d_name);
        CHECK_CASE(err.offset <= n && (err.why[0] == 0) == (expected(d->d_name) == AGENT_OK), d->d_name);
        if (agent_json_check(v.p, v.n, 0, NULL) == AGENT_OK) CHECK_CASE(agent_json_get(v, "").p != NULL, d->d_name);
        walk_all(v);
        len = agent_json_repair(v.p, v.n, NULL, 0, &parses);
        fixed = (char *)malloc(len + 1);
        agent_json_repair(v.p, v.n, fixed, len + 1, NULL);
        CHECK_CASE(parses == (agent_json_check(fixed, len, 0, NULL) == AGENT_OK), d->d_name);
        free(fixed);
        drop(v);
        free(whole);
    }
    if (list) closedir(list);
    CHECK(files >= 318);
}
static void transforms(const char *dir)                             /* whatever one does with them: no crash, clean text */
{
    char path[1024], *whole;
    struct dirent *d;
    size_t n;
    DIR *list;
    snprintf(path, sizeof path, "%s/suites/json/JSONTestSuite/test_transform", dir);
    list = opendir(path);
    while (list && (d = readdir(list)) != NULL) {
        if (d->d_name[0] == '.') continue;
        whole = slurp(path, d->d_name, &n);
        if (!whole) continue;
        CHECK_CASE(agent_json_check(whole, n, 0, NULL) == AGENT_OK, d->d_name);
        walk_all(agenti_str(whole, n));
        free(whole);
    }
    if (list) closedir(list);
}

static uint64_t bits_of(double d) { uint64_t b; memcpy(&b, &d, 8); return b; }
static void numbers(const char *dir)
{
    size_t n;
    char *whole = slurp(dir, "suites/json/numbers/json_numbers_f64.txt", &n), *at = whole, *line;
    int lines = 0;
    CHECK(whole != NULL);
    while (at && *at) {
        uint64_t want;
        double got = 0;
        int ok;
        line = at;
        at = strchr(at, '\n');
        if (at) *at++ = 0;
        if (*line == '#' || strlen(line) < 18) continue;
        want = strtoull(line, NULL, 16);
        lines++;
        ok = agenti_double(agenti_cstr(line + 17), &got);
        if ((want & (uint64_t)0x7FF << 52) == (uint64_t)0x7FF << 52) CHECK_CASE(!ok, line);          /* overflow       */
        else CHECK_CASE(ok && bits_of(got) == want, line);
        CHECK_CASE(agent_json_check(line + 17, strlen(line + 17), 0, NULL) == AGENT_OK, line);
    }
    CHECK(lines == 16787);
    free(whole);
}

static size_t unhex(const char *hex, size_t n, char *out)
{
    size_t i;
    for (i = 0; i + 1 < n; i += 2) {
        char two[3];
        two[0] = hex[i];
        two[1] = hex[i + 1];
        two[2] = 0;
        out[i / 2] = (char)strtoul(two, NULL, 16);
    }
    return n / 2;
}
static void utf8(const char *dir)
{
    static const agenti_field fields[] = { { "id", -1 }, { "hex", -1 }, { "valid", -1 }, { "first_error", -1 }, { "replaced_hex", -1 } };
    size_t n, pos = 0, want_n, in_n, valid;
    char *whole = slurp(dir, "suites/utf8/utf8_vectors.json", &n), *raw, *want;
    agent_str list, one, f[5], in;
    agenti_pool pool;
    agenti_buf buf;
    int cases = 0;
    CHECK(whole && agent_json_check(whole, n, 0, NULL) == AGENT_OK);
    if (!whole) return;
    agenti_pool_child(&pool, NULL, 0);
    list = agent_json_get(agenti_str(whole, n), "cases");
    while (agent_json_each(list, &pos, NULL, &one)) {
        cases++;
        agenti_json_pick(one, fields, 5, f);
        raw = (char *)malloc(f[1].n);
        want = (char *)malloc(f[4].n);
        in_n = unhex(f[1].p + 1, f[1].n - 2, raw);
        want_n = unhex(f[4].p + 1, f[4].n - 2, want);
        in = exact(raw, in_n);
        valid = agenti_utf8_valid(in.p, in.n);
        CHECK_CASE(agent_json_bool(f[2], -1) == (valid == in.n), f[0].p);
        CHECK_CASE(agent_json_int(f[3], (int64_t)in.n) == (int64_t)valid, f[0].p);
        agenti_buf_init(&buf, &pool);
        CHECK(agenti_utf8_repair(&buf, in.p, in.n));
        CHECK_CASE(buf.n == want_n && (want_n == 0 || memcmp(buf.p, want, want_n) == 0), f[0].p);
        agenti_buf_free(&buf);
        drop(in);
        free(raw);
        free(want);
    }
    CHECK(cases == 381);
    CHECK(pool.now == 0);
    free(whole);
}

static void partial_case(agent_str one)
{
    size_t in_n, want_n, len;
    char *in = text_of(agent_json_get(one, "input"), &in_n), *want, *got;
    int parses;
    agent_str v = agent_json_get(one, "repaired"), t = exact(in, in_n);
    want = text_of(v, &want_n);
    len = agent_json_repair(t.p, t.n, NULL, 0, &parses);
    got = (char *)malloc(len + 1);
    CHECK(agent_json_repair(t.p, t.n, got, len + 1, NULL) == len);
    CHECK_CASE(len == want_n && memcmp(got, want, len) == 0, in);
    CHECK_CASE(parses == agent_json_bool(agent_json_get(one, "parses"), -1), in);
    CHECK_CASE(parses == (agent_json_check(got, len, 0, NULL) == AGENT_OK), in);
    free(got);
    free(in);
    free(want);
    drop(t);
}
static void partial(const char *dir)
{
    static const char *const lists[] = { "cases", "prefix_ladder" };
    size_t n, pos, i, cases = 0;
    char *whole = slurp(dir, "suites/partial/partial_json_cases.json", &n);
    agent_str one, list;
    CHECK(whole && agent_json_check(whole, n, 0, NULL) == AGENT_OK);
    for (i = 0; whole && i < 2; i++) {
        list = agent_json_get(agenti_str(whole, n), lists[i]);
        for (pos = 0; agent_json_each(list, &pos, NULL, &one); cases++) partial_case(one);
    }
    CHECK(cases > 71);
    free(whole);
}

static void blns(const char *dir)                                   /* text, quote, text: the same                      */
{
    size_t n, pos = 0, a_n, q_n, b_n, cases = 0;
    char *whole = slurp(dir, "suites/json/blns.json", &n), *a, *q, *b;
    agent_str one;
    CHECK(whole && agent_json_check(whole, n, 0, NULL) == AGENT_OK);
    while (whole && agent_json_each(agenti_str(whole, n), &pos, NULL, &one)) {
        a = text_of(one, &a_n);
        q_n = agent_json_quote(a, a_n, NULL, 0);
        q = (char *)malloc(q_n + 1);
        CHECK(agent_json_quote(a, a_n, q, q_n + 1) == q_n && strlen(q) == q_n);
        CHECK_CASE(agent_json_check(q, q_n, 0, NULL) == AGENT_OK, q);
        b = text_of(agenti_str(q, q_n), &b_n);
        CHECK_CASE(a_n == b_n && memcmp(a, b, a_n) == 0, q);
        CHECK_CASE(agenti_json_same(agenti_str(q + 1, q_n - 2), agenti_str(a, a_n)), q);
        free(a);
        free(q);
        free(b);
        cases++;
    }
    CHECK(cases > 400);
    free(whole);
}

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : "../shared";
    size_t n;
    char *there = slurp(dir, "suites/README.md", &n);
    if (!there) {
        puts("conform json: no suites here, skipped: 340 JSON files, 16787 numbers, 381 UTF-8 vectors, repair cases");
        test_skipped = 340 + 16787 + 381;
        return test_end("conform json");
    }
    free(there);
    parsing(dir);
    transforms(dir);
    numbers(dir);
    utf8(dir);
    partial(dir);
    blns(dir);
    return test_end("conform json");
}
