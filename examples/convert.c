/* convert FROM TO [FILE]: a request body of one wire format as that of another, without a network.
 *   convert openai-chat anthropic <request.json
 * FROM: openai-chat, openai-responses, anthropic, gemini; TO: these and the other formats of requests. What has no place there is named on
 * stderr. Exit code 1: the request was refused, 2: wrong usage. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include <stdio.h>
#include <stdlib.h>

static char *all_of(FILE *f, size_t *n)
{
    size_t cap = 1 << 16, got;
    char *p = (char *)malloc(cap), *q;
    *n = 0;
    while (p && (got = fread(p + *n, 1, cap - *n, f)) > 0) {
        *n += got;
        if (*n < cap) continue;
        q = (char *)realloc(p, cap *= 2);
        if (q == NULL) free(p);
        p = q;
    }
    return p;
}
/* A session speaks a peer's format, and what an import has of its own stays with that one: so the peer is of the first format. */
static const char *provider_of(const char *wire)
{
    static const char *const rows[][2] = {
        { "openai-chat", "openai" }, { "openai-responses", "openai-responses" }, { "anthropic", "anthropic" }, { "gemini", "gemini" }
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (strcmp(wire, rows[i][0]) == 0) return rows[i][1];
    return "openai";
}
int main(int argc, char **argv)
{
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    agent_json_error error;
    agent_engine *e;
    agent_id id;
    agent_str body;
    const agent_event *ev;
    FILE *f = argc == 4 ? fopen(argv[3], "rb") : stdin;
    size_t n;
    char *json;
    int rc = 1;
    if (argc < 3 || argc > 4 || f == NULL) { fprintf(stderr, "usage: convert FROM TO [FILE]\n"); return 2; }
    json = all_of(f, &n);
    if (json == NULL || agent_open(&e, &d) != AGENT_OK) return 2;
    p.provider = provider_of(argv[1]);
    s.peer = agent_peer_open(e, &p);
    s.model = "model";
    id = agent_session_open(e, &s);
    if (agent_import(e, id, argv[1], json, n, &error) != AGENT_OK) fprintf(stderr, "convert: byte %lu: %s\n", (unsigned long)error.offset, error.why);
    else if (agent_export(e, id, argv[2], &body) != AGENT_OK) fprintf(stderr, "convert: %s\n", agent_last(e));
    else {
        fwrite(body.p, 1, body.n, stdout);
        putchar('\n');
        rc = 0;
    }
    while ((ev = agent_next(e)) != NULL) if (ev->type == AGENT_EV_WARNING) fprintf(stderr, "convert: %s%s%s\n", ev->name.p, ev->name.n ? ": " : "", ev->text.p);
    agent_close(e);
    free(json);
    if (f != stdin) fclose(f);
    return rc;
}
