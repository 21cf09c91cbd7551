/* seeds: json
 * {"schema": any, "value": any}: JSON Schema.
 * - whatever the schema says, the check ends, with places inside the value and words that are UTF-8
 * - the same schema inside allOf and anyOf finds the same, and inside not the opposite, where nothing is too deep
 * - a value is equal to itself, and a schema {"const": value} fits it alone */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
static void must(int ok) { if (!ok) abort(); }
static agent_schema x;
/* 1: fits, 0: does not, -1: not known.                                                                                 */
static int fits(agent_str schema, agent_str value)
{
    agent_schema_error e;
    char text[300];
    size_t n;
    int rc, bad = 0;
    agent_schema_init(&x, schema, value);
    while ((rc = agent_schema_next(&x, &e)) == AGENT_MORE) {
        must(e.offset <= value.n && e.path.n < sizeof x.path && e.keyword.n > 0);
        must(agenti_utf8_valid(e.path.p, e.path.n) == e.path.n);
        n = agent_schema_text(&e, text, sizeof text);
        must(n > 0 && agenti_utf8_valid(text, strlen(text)) == strlen(text));
        bad = 1;
    }
    must(rc == AGENT_OK || rc == AGENT_E_LIMIT);
    return rc == AGENT_OK ? !bad : -1;
}
static int inside(const char *before, agent_str schema, const char *after, agent_str value)
{
    size_t a = strlen(before), b = strlen(after);
    char *p = (char *)malloc(a + schema.n + b);
    agent_str s;
    int rc;
    if (p == NULL) abort();
    memcpy(p, before, a);
    memcpy(p + a, schema.p, schema.n);
    memcpy(p + a + schema.n, after, b);
    s.p = p;
    s.n = a + schema.n + b;
    rc = fits(s, value);
    free(p);
    return rc;
}
static int has(agent_str s, const char *text)
{
    size_t i, n = strlen(text);
    for (i = 0; i + n <= s.n; i++) if (memcmp(s.p + i, text, n) == 0) return 1;
    return 0;
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    agent_str json, schema, value;
    int plain, rc;
    json.p = (const char *)data;
    json.n = size;
    if (agent_json_check(json.p, json.n, 60, NULL) != AGENT_OK) return 0;
    schema = agent_json_get(json, "schema");
    value = agent_json_get(json, "value");
    if (schema.p == NULL || value.p == NULL) return 0;
    plain = fits(schema, value);
    must(agenti_json_equal(x.level, value, value) && inside("{\"const\":", value, "}", value) == 1);
    if (plain < 0 || has(schema, "ref") || has(schema, "\\u")) return 0;       /* a $ref is from the root               */
    if ((rc = inside("{\"allOf\":[", schema, "]}", value)) >= 0) must(rc == plain);
    if ((rc = inside("{\"anyOf\":[", schema, "]}", value)) >= 0) must(rc == plain);
    if ((rc = inside("{\"not\":", schema, "}", value)) >= 0) must(rc == !plain);
    return 0;
}
