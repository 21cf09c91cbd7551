/* A line {"schema": …, "value": …} after the other from standard input: prints 1 for each that fits, 0 for one that does not, and ? where it is
 * not known. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include <stdio.h>
#include <stdlib.h>

static agent_schema x;
static char fits(agent_str line)
{
    agent_schema_error e;
    int rc, bad = 0;
    if (agent_json_check(line.p, line.n, 64, NULL) != AGENT_OK) return '?';
    agent_schema_init(&x, agent_json_get(line, "schema"), agent_json_get(line, "value"));
    while ((rc = agent_schema_next(&x, &e)) == AGENT_MORE) bad = 1;
    return rc != AGENT_OK ? '?' : bad ? '0' : '1';
}
int main(void)
{
    size_t n = 0, cap = 1 << 20;
    char *p = (char *)malloc(cap);
    int c;
    while (p && (c = getchar()) != EOF) {
        if (n + 1 == cap) { char *more = (char *)realloc(p, cap *= 2); if (more == NULL) { free(p); return 1; } p = more; }
        p[n++] = (char)c;
        if (c == '\n') { agent_str line; line.p = p; line.n = n; putchar(fits(line)); n = 0; }
    }
    free(p);
    return 0;
}
