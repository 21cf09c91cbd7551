/* A request body in, and out in every format. Option byte 0: the format, and that of the peer; byte 1: an allocation that fails.
 * - agent_import returns a code of its list; after a failure the session is as it was.
 * - What is taken comes out of agent_export as JSON, in each format; to export changes nothing.
 * - What came out in the same format goes in again, and comes out the same from the second time on.
 * - Every call has its result behind it, but for calls of the last message.
 * - Nothing leaks.
 * seeds: json prefix 2 */
#include <stdint.h>
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "check_events.h"
#include "engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const formats[] = { "openai-chat", "openai-responses", "anthropic", "gemini", "bedrock-invoke", "ollama", "cohere-v2", "bedrock-converse", "gemini-interactions" };
static const char *const providers[] = { "openai", "openai-responses", "anthropic", "gemini" };

static agent_id talk(agent_engine *e, const char *provider)
{
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    p.provider = provider;
    s.peer = agent_peer_open(e, &p);
    s.model = "m";
    return s.peer ? agent_session_open(e, &s) : 0;
}
/* The table is one that a provider accepts.                                                                            */
static void table_check(agent_engine *e, agent_id s)
{
    agent_msg m, next;
    agent_part p;
    size_t i, n = agent_messages(e, s);
    uint32_t k, calls;
    for (i = 0; i < n; i++) {
        if (agent_message(e, s, i, &m) != AGENT_OK) abort();
        for (k = calls = 0; k < m.part_count; k++) {
            if (agent_message_part(e, s, m.id, k, &p) != AGENT_OK) abort();
            calls += p.kind == AGENT_PART_CALL;
            if ((p.kind == AGENT_PART_RESULT) != (m.role == AGENT_TOOLS)) abort();
        }
        if (calls == 0 || i + 1 == n) continue;
        if (agent_message(e, s, i + 1, &next) != AGENT_OK || next.role != AGENT_TOOLS || next.part_count != calls) abort();
    }
}
static char *copy_of(agent_str s)
{
    char *p = (char *)malloc(s.n + 1);
    if (p) memcpy(p, s.p, s.n + 1);
    return p;
}
static char *out(agent_engine *e, agent_id s, const char *wire)
{
    agent_str text;
    int rc = agent_export(e, s, wire, &text);
    if (rc == AGENT_E_NOMEM) return NULL;
    if (rc != AGENT_OK || text.p[text.n] != 0) abort();
    rc = agent_json_check(text.p, text.n, 0, NULL);
    if (rc != AGENT_OK && rc != AGENT_E_LIMIT) abort();       /* ours may be some levels deeper                          */
    return copy_of(text);
}
static char *again(const char *provider, const char *wire, const char *body)
{
    agent_engine *e;
    agent_desc d = AGENT_ZERO;
    agent_id s;
    char *text = NULL;
    int rc;
    if (agent_open(&e, &d) != AGENT_OK) abort();
    s = talk(e, provider);
    rc = agent_import(e, s, wire, body, AGENT_CSTR, NULL);
    if (rc == AGENT_OK) text = out(e, s, wire);
    else if (rc != AGENT_E_LIMIT) { fprintf(stderr, "%s\n%s\n", agent_last(e), body); abort(); }
    agent_close(e);
    return text;
}
static void stable(const char *provider, const char *wire, const char *first)
{
    char *second = again(provider, wire, first), *third = second ? again(provider, wire, second) : NULL;
    if (third && strcmp(second, third) != 0) { fprintf(stderr, "%s\n%s\n%s\n", first, second, third); abort(); }
    free(second);
    free(third);
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_mem h;
    agent_desc d = AGENT_ZERO;
    agent_engine *e;
    agent_id s;
    const char *wire, *provider;
    char *text;
    size_t i;
    int rc;
    if (size < 2) return 0;
    wire = formats[data[0] % 5];
    provider = providers[data[0] / 5 % 4];
    memset(&h, 0, sizeof h);
    d.alloc = fuzz_alloc;
    d.alloc_ctx = &h;
    if (agent_open(&e, &d) != AGENT_OK) abort();
    s = talk(e, provider);
    h.fail_at = data[1] ? h.calls + data[1] : 0;
    h.fail_for = data[1] % 3 + 1;
    rc = agent_import(e, s, wire, (const char *)data + 2, size - 2, NULL);
    if (rc != AGENT_OK && rc != AGENT_E_ARG && rc != AGENT_E_SYNTAX && rc != AGENT_E_LIMIT && (rc != AGENT_E_NOMEM || data[1] == 0)) abort();
    if (rc != AGENT_OK && agent_messages(e, s) != 0) abort();
    table_check(e, s);
    for (i = 0; i < sizeof formats / sizeof *formats; i++) {
        if ((text = out(e, s, formats[i])) == NULL && data[1] == 0) abort();
        if (text && rc == AGENT_OK && formats[i] == wire && agent_json_check(text, strlen(text), 0, NULL) == AGENT_OK) stable(provider, wire, text);
        free(text);
    }
    while (agent_next(e) != NULL) {}
    agent_close(e);
    CHECK(h.live == 0 && h.blocks == 0);
    return 0;
}
