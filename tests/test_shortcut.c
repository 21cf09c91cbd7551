/* Events that repeat themselves are read shorter (shortcut.c). Streams that are made to be alike, and then not quite, must give the same events
 * with the shortcut and without it, for both wire formats. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"

static char input[1 << 18], logs[2][1 << 20];
static size_t input_n, log_n[2];
static unsigned seed, learnt;
static unsigned rnd(unsigned n) { seed = seed * 1103515245u + 12345u; return (seed >> 8) % n; }
static void put(const char *s) { size_t n = strlen(s); if (input_n + n < sizeof input) { memcpy(input + input_n, s, n); input_n += n; } }

/* What stands between the quotes of a text: mostly plain, sometimes what a shortcut must not take.                      */
static void put_text(void)
{
    static const char *const pieces[] = { "word", " and", "x", "\\n", "\\\"", "\\\\", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\\u00e9", "\\ud83d", "\\ude00", "\xFF",
        "\\u0000", "\"", "\\q", "\\", "\"}}]}", "{\\\"a\\\":", "1}" };
    unsigned n = rnd(10) == 0 ? 0 : 1 + rnd(3);
    while (n--) put(pieces[rnd(40) ? rnd(8) : rnd(sizeof pieces / sizeof *pieces)]);
}
static void put_chat(unsigned kind)
{
    static const char *const keys[] = { "content", "reasoning_content", "reasoning", "refusal", "content", "content" };
    put("data: {\"id\":\"c\",\"choices\":[{\"index\":");
    put(rnd(30) ? "0" : "1");
    put(",\"delta\":{");
    if (kind == 6) {
        put("\"tool_calls\":[{\"index\":");
        put(rnd(8) ? "0" : "1");
        put(rnd(6) ? ",\"function\":{\"arguments\":\"" : ",\"id\":\"i1\",\"function\":{\"name\":\"f\",\"arguments\":\"");
        put_text();
        put("\"}}]");
    } else {
        put("\"");
        put(keys[kind]);
        put("\":\"");
        put_text();
        put("\"");
        if (rnd(20) == 0) put(",\"reasoning\":\"other\"");
    }
    put("},\"finish_reason\":");
    put(rnd(60) ? "null" : "\"stop\"");
    put("}]");
    if (rnd(40) == 0) put(",\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}");
    if (rnd(3)) { put(",\"obfuscation\":\""); put_text(); put("\""); }
    if (rnd(50) == 0) put(",\"error\":null");
    put(rnd(60) ? "}\n\n" : " }\n\n");
}
static void put_anthropic(unsigned kind)
{
    static const char *const types[] = { "text_delta\",\"text", "thinking_delta\",\"thinking", "input_json_delta\",\"partial_json", "signature_delta\",\"signature" };
    static const char *const blocks[] = { NULL, "{\"type\":\"thinking\",\"thinking\":\"\"}", "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}" };
    char index[2] = { (char)('0' + kind % 3), 0 };
    if (rnd(6) == 0) {
        put("event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":");
        put(index);
        put(",\"content_block\":");
        if (kind % 3 == 0) {                  /* one op, as a delta makes one, but it opens another block               */
            put("{\"type\":\"text\",\"text\":\"");
            put_text();
            put("\"}");
        } else put(blocks[kind % 3]);
        put("}\n\n");
        return;
    }
    if (rnd(25) == 0) { put("data: {\"type\":\"content_block_stop\",\"index\":"); put(index); put("}\n\n"); return; }
    put(rnd(20) ? "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":" : "data: {\"type\":\"content_block_delta\",\"index\":");
    put(index);
    put(",\"delta\":{\"type\":\"");
    put(types[rnd(10) ? kind % 3 : 3]);
    put("\":\"");
    put_text();
    put("\"}}\n\n");
}
static void make(int chat)
{
    unsigned n = 5 + rnd(60), kind = rnd(7);
    input_n = 0;
    while (n--) {
        if (rnd(6) == 0) kind = rnd(7);
        if (chat) put_chat(kind); else put_anthropic(kind);
        if (rnd(40) == 0) put(": comment\n\n");
        if (rnd(80) == 0) put("data: nonsense\n\n");
    }
    if (rnd(2)) put(chat ? "data: [DONE]\n\n" : "data: {\"type\":\"message_stop\"}\n\n");
}
static void decode(const char *wire, int off, size_t cut)
{
    agent_desc d = AGENT_ZERO;
    agent_engine *e;
    const agent_event *ev;
    agent_id conn;
    size_t at = 0, taken, n;
    log_n[off] = 0;
    if (agent_open(&e, &d) != AGENT_OK) exit(2);
    e->no_shortcut = off;
    conn = agent_decode(e, wire, AGENT_VIA_HTTP, NULL);
    while (conn) {
        agenti_conn *c = agenti_conn_get(e, conn);
        if (off == 0 && c->decode->answer.shortcut.before) learnt++;
        if (at == input_n) agent_eof(e, conn);
        n = input_n - at < cut ? input_n - at : cut;
        agent_feed(e, conn, input + at, n, &taken);
        at += taken;
        while ((ev = agent_next(e)) != NULL || agent_deadline(e) == 0) {
            if (ev == NULL) continue;
            if (ev->type == AGENT_EV_CLOSE) { conn = 0; continue; }
            n = agent_event_json(ev, logs[off] + log_n[off], sizeof logs[off] - log_n[off]);
            if (log_n[off] + n < sizeof logs[off]) log_n[off] += n;
        }
    }
    agent_close(e);
}
int main(void)
{
    unsigned i;
    for (i = 0; i < 3000; i++) {
        const char *wire = i & 1 ? "openai-chat" : "anthropic";
        seed = i;
        make((int)(i & 1));
        decode(wire, 0, i & 2 ? (size_t)-1 : 37);
        decode(wire, 1, (size_t)-1);
        CHECK(log_n[0] == log_n[1] && memcmp(logs[0], logs[1], log_n[0]) == 0);
    }
    CHECK(learnt > 1000);              /* something was learnt at all                                             */
    return test_end("shortcut");
}
