/* JSON Schema: what fits and what is said of what does not, patterns, exact numbers, hashes, and that the time is linear. */
#include "touch.h"
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"

static agent_schema x;
static char said[4096];
/* All errors of a value, a line each; the code at the end.                                                             */
static int errors(const char *schema, const char *value)
{
    agent_schema_error e;
    size_t n = 0, k;
    int rc;
    said[0] = 0;
    CHECK(agent_json_check(schema, strlen(schema), 64, NULL) == AGENT_OK && agent_json_check(value, strlen(value), 64, NULL) == AGENT_OK);
    agent_schema_init(&x, agenti_cstr(schema), agenti_cstr(value));
    while ((rc = agent_schema_next(&x, &e)) == AGENT_MORE) {
        k = agent_schema_text(&e, said + n, sizeof said - n - 1);
        CHECK(k < sizeof said - n - 1 && agent_schema_text(&e, NULL, 0) == k);
        n += k;
        said[n++] = '\n';
        said[n] = 0;
    }
    return rc;
}
static void says(const char *schema, const char *value, const char *want)
{
    CHECK_CASE(errors(schema, value) == AGENT_OK && strcmp(said, want) == 0, value);
    if (strcmp(said, want) != 0) printf("%s\n  is told:\n%s", value, said);
}
static void sentences(void)
{
    static const char edit[] = "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"minLength\":1},\"edits\":{\"type\":\"array\",\"minItems\":1,"
        "\"items\":{\"type\":\"object\",\"properties\":{\"line\":{\"type\":\"integer\",\"minimum\":1},\"kind\":{\"enum\":[\"add\",\"drop\"]}},"
        "\"required\":[\"line\",\"kind\"],\"additionalProperties\":false}}},\"required\":[\"path\",\"edits\"]}";
    says(edit, "{\"path\":\"a.c\",\"edits\":[{\"line\":1,\"kind\":\"add\"}]}", "");
    says(edit, "{\"path\":\"\",\"edits\":[{\"line\":0,\"kind\":\"cut\",\"z\":1},{\"line\":1.5},{\"line\":3e0,\"kind\":\"add\"}]}",
        "path: has fewer characters than 1, and is \"\"\nedits[0].line: has to be at least 1, and is 0\n"
        "edits[0].kind: has to be one of [\"add\",\"drop\"], and is \"cut\"\nedits[0].z: is not allowed\n"
        "edits[1].line: has to be of type \"integer\", and is 1.5\nedits[1]: \"kind\" is missing\n");
    says(edit, "{}", "the value: \"path\" is missing\nthe value: \"edits\" is missing\n");
    says(edit, "[]", "the value: has to be of type \"object\", and is []\n");
    says("{\"type\":[\"string\",\"null\"]}", "7", "the value: has to be of type [\"string\",\"null\"], and is 7\n");
    says("{\"properties\":{\"a b\":false,\"q\\u0022\":{\"const\":1}}}", "{\"a\\u0020b\":1,\"q\\\"\":2}", "a b: is not allowed\nq\": has to be 1, and is 2\n");
    says("{\"exclusiveMinimum\":3,\"exclusiveMaximum\":5,\"multipleOf\":0.5}", "3.2", "the value: has to be a multiple of 0.5, and is 3.2\n");
    says("{\"minimum\":3,\"exclusiveMinimum\":true}", "3", "the value: has to be at least 3, and is 3\n");
    says("{\"not\":{\"type\":\"null\"}}", "null", "the value: must not fit {\"type\":\"null\"}, and is null\n");
    says("{\"maxProperties\":1,\"propertyNames\":{\"maxLength\":2}}", "{\"abc\":1,\"d\":2}", "the value: has more members than 1, and is {\"abc\":1,\"d\":2}\nabc: has more characters than 2, and is \"abc\"\n");
    says("{\"maxLength\":2}", "\"\\ud83d\\ude00\xC3\xA9\"", "");
    says("{\"format\":\"date\",\"x-own\":1,\"uniqueItems\":true}", "[1,1]", "");
}
/* Of several branches the one that was meant speaks.                                                                   */
static void branches(void)
{
    static const char shapes[] = "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"properties\":{\"r\":{\"type\":\"number\"}},\"required\":[\"r\"]}]}";
    says(shapes, "\"x\"", "");
    says(shapes, "{}", "the value: \"r\" is missing\n");
    says(shapes, "{\"r\":\"1\"}", "r: has to be of type \"number\", and is \"1\"\n");
    says("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "1", "the value: fits none of [{\"type\":\"string\"},{\"type\":\"null\"}], and is 1\n");
    says("{\"oneOf\":[{\"minimum\":1},{\"minimum\":2}]}", "3", "the value: does not fit exactly one of [{\"minimum\":1},{\"minimum\":2}], and is 3\n");
    says("{\"oneOf\":[{\"minimum\":1},{\"minimum\":2}]}", "1", "");
    says("{\"allOf\":[{\"minimum\":2},{\"maximum\":0}]}", "1", "the value: has to be at least 2, and is 1\nthe value: has to be at most 0, and is 1\n");
    says("{\"if\":{\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]},\"else\":{\"required\":[\"c\"]}}", "{\"a\":1}", "the value: \"b\" is missing\n");
    says("{\"if\":{\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]},\"else\":{\"required\":[\"c\"]}}", "{}", "the value: \"c\" is missing\n");
    says("{\"$defs\":{\"node\":{\"type\":\"object\",\"properties\":{\"next\":{\"$ref\":\"#/$defs/node\"},\"a/b%\":{\"const\":1}}}},\"$ref\":\"#/$defs/node\"}",
        "{\"next\":{\"next\":{\"next\":5}}}", "next.next.next: has to be of type \"object\", and is 5\n");
    says("{\"properties\":{\"a/b%\":{\"const\":1},\"x\":{\"$ref\":\"#/properties/a~1b%25\"}}}", "{\"x\":2}", "x: has to be 1, and is 2\n");
    says("{\"$ref\":\"https://elsewhere.test/s\"}", "1", "");
    says("{\"$ref\":\"#/not/there\"}", "1", "");
    CHECK(errors("{\"$ref\":\"#\"}", "1") == AGENT_E_LIMIT && said[0] == 0);
    CHECK(errors("{\"allOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}", "1") == AGENT_E_LIMIT);
}
static void lists(void)
{
    says("{\"items\":{\"type\":\"integer\"}}", "[1,2.0,\"3\",4.5]", "[2]: has to be of type \"integer\", and is \"3\"\n[3]: has to be of type \"integer\", and is 4.5\n");
    says("{\"prefixItems\":[{\"const\":1},true],\"items\":false}", "[1,2,3]", "[2]: is not allowed\n");
    says("{\"items\":[{\"const\":1}],\"additionalItems\":{\"const\":2}}", "[1,2,3]", "[2]: has to be 2, and is 3\n");
    says("{\"patternProperties\":{\"^x-\":true,\"n$\":{\"type\":\"number\"}},\"additionalProperties\":{\"type\":\"string\"}}", "{\"x-a\":1,\"x-n\":\"1\",\"b\":2}",
        "x-n: has to be of type \"number\", and is \"1\"\nb: has to be of type \"string\", and is 2\n");
    says("{\"enum\":[{\"a\":[1,{\"b\":2.0}],\"c\":\"\\u0041\"}]}", "{\"c\":\"A\",\"a\":[1e0,{\"b\":2}]}", "");
    says("{\"const\":[1,2]}", "[2,1]", "the value: has to be [1,2], and is [2,1]\n");
}
/* ---- patterns: is it in the text? 2: not understood ---- */
static int found(const char *pattern, const char *text)
{
    static agent_pattern p;
    p.ok = 0;
    if (!agenti_pattern_set(&p, agenti_cstr(pattern))) return 2;
    return agenti_pattern_in(&p, agenti_cstr(text));
}
static void patterns(void)
{
    static const struct { const char *pattern, *yes, *no; } t[] = {
        { "abc", "xabcx", "ab" }, { "^abc$", "abc", "xabc" }, { "a|bc|d", "xd", "bx" }, { "^(a|b)c", "bc", "abd" }, { "^a*$", "", "b" }, { "^a+$", "aaa", "" },
        { "^ab?c$", "ac", "abbc" }, { "^a{3}$", "aaa", "aa" }, { "^a{2,}$", "aaaa", "a" }, { "^a{1,3}$", "aa", "aaaa" }, { "^a{0,2}$", "", "aaa" }, { "^a{0}b$", "b", "ab" },
        { "^(ab){2}$", "abab", "ab" }, { "^(a|b){1,3}?$", "bab", "abab" }, { "^[a-c]+$", "abc", "abd" }, { "^[^a-c]$", "d", "b" }, { "^[]$", NULL, "a" }, { "^[^]$", "]", "" },
        { "^[a-]$", "-", "b" }, { "^[\\\\d-x]$", "-", "a" }, { "^\\\\d+$", "12", "1a" }, { "^\\\\D$", "a", "1" }, { "^\\\\w+$", "a_1", "a-" }, { "\\\\W", "a b", "ab" },
        { "^\\\\s$", "\\u00a0", "a" }, { "^\\\\S$", "a", "\\t" }, { "^.$", "\\u2603", "\\n" }, { "^.{2}$", "\\ud83d\\ude00x", "\\ud83d\\ude00" }, { "\\\\bcat\\\\b", "a cat.", "cats" },
        { "\\\\Bcat", "xcat", "cat" }, { "^\\\\u0041\\\\x42\\\\u{43}$", "ABC", "ABD" }, { "^\\\\t\\\\n\\\\\\\\\\\\.$", "\\t\\n\\\\.", "x" }, { "^(?:a|(?<n>b))$", "b", "c" }, { "a{x", "a{x", "a" },
        { "^(a*)*$", "aaa", "b" }, { "^(a|a)*b$", "aaab", "aaa" }, { "^$", "", "x" }, { "^[\\\\u0430-\\\\u044f]+$", "\\u0436", "z" }, { "^\\\\/x$", "/x", "x" }, { "(|a)b", "b", "a" },
        { "^[\\\\]]$", "]", "x" }, { "^[\\\\w.-]+@[\\\\w-]+\\\\.\\\\w{2,63}$", "a.b@c-d.org", "a@b" }, { "^(\\\\d{4})-(\\\\d{2})-(\\\\d{2})$", "2026-12-01", "2026-1-1" } };
    static const char *const not_understood[] = { "(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", "(a)\\\\1", "\\\\p{L}", "a(", "a)", "[a", "*a", "a{600}", "(a{30}){30}", "[z-a]", "\\\\k<n>", "\\\\" };
    size_t i;
    for (i = 0; i < sizeof t / sizeof *t; i++) {
        if (t[i].yes) CHECK_CASE(found(t[i].pattern, t[i].yes) == 1, t[i].pattern);
        CHECK_CASE(found(t[i].pattern, t[i].no) == 0, t[i].pattern);
    }
    for (i = 0; i < sizeof not_understood / sizeof *not_understood; i++) CHECK_CASE(found(not_understood[i], "a") == 2, not_understood[i]);
    says("{\"pattern\":\"(?=a)\"}", "\"b\"", "");
}
static void numbers(void)
{
    static const char *const sorted[] = { "-1e400", "-12.5", "-12.49", "-1", "-0.001", "0", "1e-400", "0.1", "0.10000000000000000000000000000000001", "1", "1.5", "9007199254740992",
        "9007199254740993", "1e30", "1e400" };
    size_t i, j, n = sizeof sorted / sizeof *sorted;
    for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
        int c = agenti_num_compare(agenti_cstr(sorted[i]), agenti_cstr(sorted[j]));
        CHECK_CASE(i < j ? c < 0 : i > j ? c > 0 : c == 0, sorted[i]);
    }
    CHECK(agenti_num_compare(agenti_cstr("1.50e1"), agenti_cstr("15")) == 0 && agenti_num_compare(agenti_cstr("-0"), agenti_cstr("0.0e5")) == 0);
    CHECK(agenti_num_whole(agenti_cstr("1.50e1")) && agenti_num_whole(agenti_cstr("1e400")) && agenti_num_whole(agenti_cstr("0.0")) && !agenti_num_whole(agenti_cstr("1.5")) && !agenti_num_whole(agenti_cstr("1e-1")));
    CHECK(agenti_num_divides(agenti_cstr("0.01"), agenti_cstr("1.25")) && !agenti_num_divides(agenti_cstr("0.01"), agenti_cstr("1.255")) && agenti_num_divides(agenti_cstr("7"), agenti_cstr("-49")));
    CHECK(agenti_num_divides(agenti_cstr("0.0001"), agenti_cstr("0.0075")) && agenti_num_divides(agenti_cstr("3"), agenti_cstr("0")) && !agenti_num_divides(agenti_cstr("0"), agenti_cstr("3")));
    CHECK(agenti_num_divides(agenti_cstr("1024"), agenti_cstr("1e999999999")) && !agenti_num_divides(agenti_cstr("3"), agenti_cstr("1e999999999")) && agenti_num_divides(agenti_cstr("3"), agenti_cstr("3e999999999")));
    CHECK(agenti_num_divides(agenti_cstr("12"), agenti_cstr("144e70")) && !agenti_num_divides(agenti_cstr("7"), agenti_cstr("144e70")));
}
/* ---- hashes: what is equal has equal ones, what is not has others ---- */
static void hashes(void)
{
    static agent_json_level levels[AGENTI_JSON_LEVELS];
    static const char *const different[] = { "null", "true", "false", "0", "1", "-1", "\"\"", "\"0\"", "\"null\"", "[]", "{}", "[[]]", "[{}]", "[null]", "[0,1]", "[1,0]", "[[0],1]", "[0,[1]]", "{\"a\":0}",
        "{\"a\":1}", "{\"b\":0}", "{\"a\":0,\"b\":1}", "{\"a\":1,\"b\":0}", "{\"a\":{\"b\":0}}", "{\"a\":[\"b\",0]}", "[\"a\",0]", "{\"a\":0,\"b\":{\"a\":0}}", "\"\\ud83d\\ude00\"", "1.5", "15", "0.15", "[1,1]", "[1]" };
    static const char *const same[][2] = { { "{\"a\":1,\"b\":[2,{\"c\":3,\"d\":4}]}", " { \"b\" : [ 2.0, {\"d\":4,\"c\":30e-1} ] , \"\\u0061\":1 } " }, { "\"\\ud83d\\ude00\"", "\"\xF0\x9F\x98\x80\"" },
        { "[\"\\/\"]", "[\"/\"]" }, { "100", "1E2" }, { "-0", "0" } };
    uint64_t h[2], g[2];
    size_t i, j, n = sizeof different / sizeof *different;
    char deep[200];
    for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
        CHECK(agenti_json_hash(levels, agenti_cstr(different[i]), 7, h) && agenti_json_hash(levels, agenti_cstr(different[j]), 7, g));
        CHECK_CASE((h[0] == g[0] && h[1] == g[1]) == (i == j), different[i]);
        CHECK_CASE(agenti_json_equal(levels, agenti_cstr(different[i]), agenti_cstr(different[j])) == (i == j), different[i]);
    }
    for (i = 0; i < sizeof same / sizeof *same; i++) {
        agent_str a = agent_json_get(agenti_cstr(same[i][0]), ""), b = agent_json_get(agenti_cstr(same[i][1]), "");
        CHECK(agenti_json_hash(levels, a, 7, h) && agenti_json_hash(levels, b, 7, g));
        CHECK_CASE(h[0] == g[0] && h[1] == g[1] && agenti_json_equal(levels, a, b), same[i][0]);
        CHECK(agenti_json_hash(levels, a, 8, g) && h[0] != g[0]);
    }
    for (i = 60; i < 70; i++) {
        memset(deep, '[', i);
        memset(deep + i, ']', i);
        CHECK(agenti_json_hash(levels, agenti_str(deep, 2 * i), 0, h) == (i <= AGENTI_JSON_LEVELS));
    }
}
/* What is touched grows with the value, not faster: long lists, many members, branches, patterns, deep values.          */
static unsigned long long cost(const char *schema, const char *open, const char *item, const char *shut, size_t n)
{
    size_t m = strlen(item), i;
    char *p = (char *)malloc(n * (m + 1) + 200), *q = p;
    agent_schema_error e;
    unsigned long long before;
    q += sprintf(q, "%s", open);
    for (i = 0; i < n; i++) q += sprintf(q, "%s%s", i ? "," : "", item);
    q += sprintf(q, "%s", shut);
    before = touched;
    agent_schema_init(&x, agenti_cstr(schema), agenti_str(p, (size_t)(q - p)));
    while (agent_schema_next(&x, &e) == AGENT_MORE) CHECK(e.offset < (size_t)(q - p));
    free(p);
    return touched - before;
}
static void linear(void)
{
    static const struct { const char *schema, *open, *item, *shut; } t[] = {
        { "{\"items\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"properties\":{\"a\":{\"minimum\":3}}}]}}", "[", "{\"a\":4}", "]" },
        { "{\"properties\":{\"a\":{\"type\":\"integer\"}},\"patternProperties\":{\"^b+$\":{}},\"additionalProperties\":false}", "{", "\"abc\":1", "}" },
        { "{\"items\":{\"pattern\":\"^(a|b|ab)*c$\"}}", "[", "\"abababababababab\"", "]" },
        { "{\"pattern\":\"(x+x+)+y\"}", "\"", "xxxxxxxxxxxxxxxx", "\"" },
        { "{\"enum\":[[1],[2]]}", "[", "12345", "]" } };
    size_t i;
    for (i = 0; i < sizeof t / sizeof *t; i++) {
        unsigned long long small = cost(t[i].schema, t[i].open, t[i].item, t[i].shut, 1000), large = cost(t[i].schema, t[i].open, t[i].item, t[i].shut, 8000);
        CHECK_CASE(large < small * 9, t[i].schema);
    }
}
int main(void)
{
    sentences();
    branches();
    lists();
    patterns();
    numbers();
    hashes();
    linear();
    return test_end("schema");
}
