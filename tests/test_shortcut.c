/* Events that repeat themselves are read shorter (shortcut.c). Streams that are made to be alike, and then not quite, must give the same events
 * with the shortcut and without it, for both wire formats, all line ends, every cut, and HTTP chunks of any size. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"

static char input[1 << 18], wire_bytes[1 << 20], logs[2][1 << 20];
static size_t input_n, log_n[2];
static unsigned seed, learnt, repeated;
static const char *line_end = "\n";           /* what "\n" becomes                                                     */
static unsigned rnd(unsigned n) { seed = seed * 1103515245u + 12345u; return (seed >> 8) % n; }
static void put(const char *s)
{
    size_t n;
    for (; *s; s++) {
        const char *p = *s == '\n' ? line_end : s;
        n = *s == '\n' ? strlen(line_end) : 1;
        if (input_n + n < sizeof input) { memcpy(input + input_n, p, n); input_n += n; }
    }
}
/* In calm streams hardly ever, so that most events are like the one before.                                             */
static unsigned calm;
static int seldom(unsigned n) { return rnd(calm ? n * 40 : n) == 0; }
static void put_blanks(void) { unsigned n = rnd(3) ? 0 : rnd(40); while (n--) put(rnd(200) ? " " : "\t"); }

/* What stands between the quotes of a text: mostly plain, sometimes what a shortcut must not take.                      */
static void put_text(void)
{
    static const char *const pieces[] = { "word", " and", "x", "\\n", "\\\"", "\\\\", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\\u00e9", "\\ud83d", "\\ude00", "\xFF",
        "\\u0000", "\"", "\\q", "\\", "\"}}]}", "{\\\"a\\\":", "1}" };
    unsigned n = seldom(10) ? 0 : 1 + rnd(3);
    while (n--) put(pieces[!seldom(40) ? rnd(8) : rnd(sizeof pieces / sizeof *pieces)]);
}
static void put_chat(unsigned kind)
{
    static const char *const keys[] = { "content", "reasoning_content", "reasoning", "refusal", "content", "content" };
    put("data: {\"id\":\"c\",\"choices\":[{\"index\":");
    put(!seldom(30) ? "0" : "1");
    put(",\"delta\":{");
    if (kind == 6) {
        put("\"tool_calls\":[{\"index\":");
        put(!seldom(8) ? "0" : "1");
        put(!seldom(6) ? ",\"function\":{\"arguments\":\"" : ",\"id\":\"i1\",\"function\":{\"name\":\"f\",\"arguments\":\"");
        put_text();
        put("\"}}]");
    } else {
        put("\"");
        put(keys[kind]);
        put("\":\"");
        put_text();
        put("\"");
        if (seldom(20)) put(",\"reasoning\":\"other\"");
    }
    put("},\"finish_reason\":");
    put(!seldom(60) ? "null" : "\"stop\"");
    put("}]");
    if (seldom(40)) put(",\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}");
    if (calm || rnd(3)) { put(",\"obfuscation\":\""); put_text(); put("\""); }
    if (seldom(12)) put(rnd(2) ? ",\"obfuscation\":17" : ",\"obfuscation\":-1.5e3");
    if (seldom(50)) put(",\"error\":null");
    if (seldom(50)) put(",\"x\":\"  \"");
    put_blanks();
    put("}");
    if (seldom(30)) put_blanks();
    put("\n\n");
}
static void put_anthropic(unsigned kind)
{
    static const char *const types[] = { "text_delta\",\"text", "thinking_delta\",\"thinking", "input_json_delta\",\"partial_json", "signature_delta\",\"signature" };
    static const char *const blocks[] = { NULL, "{\"type\":\"thinking\",\"thinking\":\"\"}", "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}" };
    char index[2] = { (char)('0' + kind % 3), 0 };
    if (seldom(6)) {
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
    if (seldom(25)) { put("data: {\"type\":\"content_block_stop\",\"index\":"); put(index); put("}\n\n"); return; }
    put(!seldom(20) ? "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":" : "data: {\"type\":\"content_block_delta\",\"index\":");
    put(index);
    put(",\"delta\":{\"type\":\"");
    put(types[!seldom(10) ? kind % 3 : 3]);
    put("\":\"");
    put_text();
    put("\"");
    if (seldom(20)) put_blanks();
    put("}");
    put_blanks();
    put("}\n\n");
}
static void make(int chat, unsigned n)
{
    static const char *const ends[] = { "\n", "\n", "\r\n", "\r" };
    unsigned kind = rnd(7);
    calm = rnd(2);
    input_n = 0;
    line_end = ends[rnd(4)];
    while (n--) {
        if (seldom(6)) kind = rnd(7);
        if (chat) put_chat(kind); else put_anthropic(kind);
        if (seldom(40)) put(": comment\n\n");
        if (seldom(80)) put("data: nonsense\n\n");
    }
    if (rnd(2)) put(chat ? "data: [DONE]\n\n" : "data: {\"type\":\"message_stop\"}\n\n");
}
/* The input as an HTTP/1.1 answer in chunks of random sizes.                                                           */
static size_t make_chunks(void)
{
    size_t at = 0, n, to;
    unsigned most = rnd(2) ? 400 : 8000;
    to = (size_t)sprintf(wire_bytes, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (; at < input_n; at += n) {
        n = 1 + (rnd(4) ? rnd(most) : rnd(4));
        if (n > input_n - at) n = input_n - at;
        to += (size_t)sprintf(wire_bytes + to, rnd(9) ? "%x\r\n" : rnd(2) ? "%08X\r\n" : "%x;a=b\r\n", (unsigned)n);
        memcpy(wire_bytes + to, input + at, n);
        to += n;
        wire_bytes[to++] = '\r';
        wire_bytes[to++] = '\n';
    }
    return to + (size_t)sprintf(wire_bytes + to, "0\r\n\r\n");
}
/* cut: the size of the pieces, but for the first one.                                                                  */
static void decode(const char *wire, int off, int chunked, size_t first, size_t cut)
{
    agent_desc d = AGENT_ZERO;
    agent_engine *e;
    const agent_event *ev;
    agent_id conn;
    const char *bytes = chunked ? wire_bytes : input;
    size_t at = 0, taken, n, all = chunked ? make_chunks() : input_n;
    log_n[off] = 0;
    if (agent_open(&e, &d) != AGENT_OK) exit(2);
    e->no_shortcut = off;
    conn = agent_decode(e, wire, chunked ? AGENT_VIA_BYTES : AGENT_VIA_HTTP, NULL);
    while (conn) {
        agenti_conn *c = agenti_conn_get(e, conn);
        if (off == 0 && c->decode->answer.shortcut.t[0].text.n) learnt++;
        if (at == all) agent_eof(e, conn);
        n = at == 0 && first ? first : cut;
        if (n > all - at) n = all - at;
        agent_feed(e, conn, bytes + at, n, &taken);
        at += taken;
        while ((ev = agent_next(e)) != NULL || agent_deadline(e) == 0) {
            if (ev == NULL) continue;
            if (off == 0 && e->ev_plain) repeated++;
            CHECK(!off || !e->ev_plain);
            if (ev->type == AGENT_EV_CLOSE) { conn = 0; continue; }
            n = agent_event_json(ev, logs[off] + log_n[off], sizeof logs[off] - log_n[off]);
            if (log_n[off] + n < sizeof logs[off]) log_n[off] += n;
        }
    }
    agent_close(e);
}
static void check_same(void) { CHECK(log_n[0] == log_n[1] && memcmp(logs[0], logs[1], log_n[0]) == 0); }
int main(void)
{
    static const char *const wires[] = { "anthropic", "openai-chat" };
    unsigned i;
    size_t at;
    for (i = 0; i < 3000; i++) {
        const char *wire = wires[i & 1];
        seed = i;
        make((int)(i & 1), 5 + rnd(60));
        decode(wire, 1, 0, 0, (size_t)-1);
        decode(wire, 0, 0, 0, i & 2 ? (size_t)-1 : 1 + rnd(300));
        check_same();
        decode(wire, 1, 1, 0, (size_t)-1);
        decode(wire, 0, 1, 0, i & 4 ? (size_t)-1 : 1 + rnd(300));
        check_same();
    }
    for (i = 0; i < 40; i++) {
        seed = i;
        make((int)(i & 1), 8);
        decode(wires[i & 1], 1, 0, 0, (size_t)-1);
        for (at = 1; at < input_n; at++) {
            decode(wires[i & 1], 0, 0, at, (size_t)-1);
            if (log_n[0] != log_n[1] || memcmp(logs[0], logs[1], log_n[0]) != 0) break;
        }
        CHECK(at == input_n);
    }
    printf("learnt: %u, deltas in one step: %u\n", learnt, repeated);
    CHECK(learnt > 1000);              /* something was learnt at all                                             */
    CHECK(repeated > 5000);            /* and used without an op                                                  */
    return test_end("shortcut");
}
