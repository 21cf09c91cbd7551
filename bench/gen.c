/* Workloads: streams in the shapes that providers send, made from a seed. Event sizes, token lengths, the share of escapes and of
 * text beyond ASCII, padding and the cuts of the HTTP chunks are those of recorded streams; the words are our own. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const words[] = {
    " the", " a", " of", " and", " to", " in", " is", " that", " it", " for", ".", ",", " with", " as", " on", " be", " at",
    " by", " this", " from", " or", " an", " are", " which", " one", " you", " all", " when", " more", " time", " other",
    " can", " byte", " stream", " answer", " engine", " header", " parser", " buffer", " socket", " memory", " limit",
    " event", "s", "ing", "ed", "er", "ly", "tion", "I", "We", "The", "It", "If", "So", " not", " no", " does", " has",
    " have", " will", " would", " should", " must", " may", ":", ";", "?", "!", " (", ")", " -", "1", "2", "10", " 3",
    " 42", "**", "##", "`", "'s", "n't", " simple", " quick", " without", " between", " because", " each", " every",
    " first", " second", " next", " last", " small", " large", " long", " short", " same", " different", " read", " write",
    " open", " close", " send", " wait", " run", " stop", " start", " end", " begin", " call", " tool", " model", " part",
    " whole", " cut"
};
static const char *const code[] = {
    "\n", "    ", "\t", "\"", "\\", "if (", "n ==", " 0)", " {", "\n}", "\n\n", "return", " \"done\\n\";", " //", " path",
    " D:\\", "work\\", "<p class=\"", "\">", "</p>", "puts(\"%s\");\n", "*at++", "'x'", "->size", " /* */"
};
static const char *const foreign[] = {
    "\xC3\xA9", "\xC3\xBC", " h\xC3\xB6her", "\xE6\x97\xA5\xE6\x9C\xAC", "\xE3\x81\xAE", "\xE6\x96\x87\xE5\xAD\x97",
    "\xF0\x9F\x99\x82", "\xF0\x9F\x8C\x8D", " \xD0\xB4\xD0\xBE\xD0\xBC", "\xE2\x80\x94", "\xE2\x80\x9C", "\xE2\x80\x9D",
    "\xE2\x80\xA6", "\xED\x95\x9C", "\xE2\x86\x92"
};
static const char *const escaped[] = { "\\u00e9", "\\u6587\\u5b57", "\\ud83d\\ude42", "\\u2014", "\\u003c", "\\u003e" };
static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

typedef struct gen {
    uint64_t chance;
    char *p; size_t n, cap;        /* the body                                                                             */
    size_t *end, ends, end_cap;    /* where its events end                                                                 */
    int failed;
} gen;

static uint32_t chance(gen *g, uint32_t below)     /* xorshift64*                                                          */
{
    g->chance ^= g->chance >> 12;
    g->chance ^= g->chance << 25;
    g->chance ^= g->chance >> 27;
    return (uint32_t)(((g->chance * 0x2545F4914F6CDD1Du) >> 32) % below);
}
static void put(gen *g, const char *p, size_t n)
{
    if (g->failed) return;
    if (g->cap - g->n < n) {
        size_t cap = (g->cap + n) * 2;
        char *q = (char *)realloc(g->p, cap);
        if (q == NULL) { g->failed = 1; return; }
        g->p = q;
        g->cap = cap;
    }
    memcpy(g->p + g->n, p, n);
    g->n += n;
}
static void puts_(gen *g, const char *s) { put(g, s, strlen(s)); }
static void put_number(gen *g, unsigned v)
{
    char b[16];
    put(g, b, (size_t)snprintf(b, sizeof b, "%u", v));
}
static void event_end(gen *g)
{
    if (g->ends == g->end_cap) {
        size_t cap = g->end_cap * 2 + 1024, *q = (size_t *)realloc(g->end, cap * sizeof *q);
        if (q == NULL) { g->failed = 1; return; }
        g->end = q;
        g->end_cap = cap;
    }
    g->end[g->ends++] = g->n;
}
/* s as the inside of a JSON string; of a JSON string within a JSON string when `twice`. */
static void put_escaped(gen *g, const char *s, int twice)
{
    for (; *s; s++) {
        char e = *s == '\n' ? 'n' : *s == '\t' ? 't' : *s == '"' || *s == '\\' ? *s : 0;
        if (e == 0) { put(g, s, 1); continue; }
        puts_(g, twice ? "\\\\" : "\\");
        if (twice && (e == '"' || e == '\\')) puts_(g, "\\");
        put(g, &e, 1);
    }
}
static void put_token(gen *g)
{
    uint32_t r = chance(g, 1000);
    if (r < 800) put_escaped(g, words[chance(g, COUNT(words))], 0);
    else if (r < 920) put_escaped(g, code[chance(g, COUNT(code))], 0);
    else if (r < 985) puts_(g, foreign[chance(g, COUNT(foreign))]);
    else puts_(g, escaped[chance(g, COUNT(escaped))]);
}
/* A token of a file that a tool is asked to write. */
static void put_argument(gen *g)
{
    const char *s = chance(g, 10) < 4 ? code[chance(g, COUNT(code))] : words[chance(g, COUNT(words))];
    put_escaped(g, s, 1);
}
static void put_random(gen *g, uint32_t n, uint32_t letters)
{
    while (n--) put(g, base64 + chance(g, letters), 1);
}

/* ---- OpenAI chat ---- */
static const char openai_head[] =
    "data: {\"id\":\"chatcmpl-Bq7m0000000000000000000000example\",\"object\":\"chat.completion.chunk\",\"created\":1770000000,"
    "\"model\":\"gpt-4.1-nano-2025-04-14\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_0a1b2c3d4e\",\"choices\":";
static const char openai_tail[] = ",\"usage\":null,\"obfuscation\":\"";

static void openai_begin(gen *g, const char *delta)
{
    puts_(g, openai_head);
    puts_(g, "[{\"index\":0,\"delta\":");
    puts_(g, delta);
}
static void openai_end(gen *g, const char *finish)
{
    puts_(g, ",\"logprobs\":null,\"finish_reason\":");
    puts_(g, finish);
    puts_(g, "}]");
    puts_(g, openai_tail);
    put_random(g, 1 + chance(g, 10), 62);
    puts_(g, "\"}\n\n");
    event_end(g);
}
static void done(gen *g)
{
    puts_(g, "data: [DONE]\n\n");
    event_end(g);
}
static void openai(gen *g, size_t bytes)
{
    unsigned n = 0;
    openai_begin(g, "{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}");
    openai_end(g, "null");
    for (; g->n < bytes && !g->failed; n++) {
        openai_begin(g, "{\"content\":\"");
        put_token(g);
        puts_(g, "\"}");
        openai_end(g, "null");
    }
    openai_begin(g, "{}");
    openai_end(g, "\"stop\"");
    puts_(g, openai_head);
    puts_(g, "[],\"usage\":{\"prompt_tokens\":16,\"completion_tokens\":");
    put_number(g, n);
    puts_(g, ",\"total_tokens\":");
    put_number(g, n + 16);
    puts_(g, ",\"prompt_tokens_details\":{\"cached_tokens\":0,\"audio_tokens\":0},\"completion_tokens_details\":{"
             "\"reasoning_tokens\":0,\"audio_tokens\":0,\"accepted_prediction_tokens\":0,\"rejected_prediction_tokens\":0}},"
             "\"obfuscation\":\"h9R\"}\n\n");
    event_end(g);
    done(g);
}
/* One call whose arguments stream in small pieces full of escapes: a file being written. */
static void toolargs(gen *g, size_t bytes)
{
    static const char delta[] = "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"";
    openai_begin(g, "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"index\":0,\"id\":\"call_10203040\","
                    "\"type\":\"function\",\"function\":{\"name\":\"write_file\",\"arguments\":\"\"}}],\"refusal\":null}");
    openai_end(g, "null");
    openai_begin(g, delta);
    puts_(g, "{\\\"path\\\":\\\"src/main.c\\\",\\\"content\\\":\\\"\"}}]}");
    openai_end(g, "null");
    while (g->n < bytes && !g->failed) {
        openai_begin(g, delta);
        put_argument(g);
        puts_(g, "\"}}]}");
        openai_end(g, "null");
    }
    openai_begin(g, delta);
    puts_(g, "\\\"}\"}}]}");
    openai_end(g, "null");
    openai_begin(g, "{}");
    openai_end(g, "\"tool_calls\"");
    done(g);
}

/* OpenAI chat without two events that are alike: ids and fingerprints of their own, members in another order, unknown ones between. */
static void hostile_member(gen *g, uint32_t which)
{
    if (which == 0) { puts_(g, "\"id\":\"chatcmpl-"); put_random(g, 29, 62); puts_(g, "\""); }
    else if (which == 1) puts_(g, "\"object\":\"chat.completion.chunk\"");
    else if (which == 2) { puts_(g, "\"created\":1770"); put_number(g, 100000 + chance(g, 900000)); }
    else if (which == 3) puts_(g, "\"model\":\"gpt-4.1-nano-2025-04-14\",\"service_tier\":\"default\"");
    else if (which == 4) { puts_(g, "\"system_fingerprint\":\"fp_"); put_random(g, 10, 62); puts_(g, "\""); }
    else {
        puts_(g, "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"");
        put_token(g);
        puts_(g, "\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null");
    }
}
static void hostile(gen *g, size_t bytes)
{
    while (g->n < bytes && !g->failed) {
        uint32_t first = chance(g, 6), i;
        puts_(g, "data: {\"");
        put_random(g, 3, 62);
        puts_(g, "_\":{\"x\":[");
        put_number(g, chance(g, 1000));
        puts_(g, ",true]}");
        for (i = 0; i < 6; i++) { puts_(g, ","); hostile_member(g, (first + i) % 6); }
        puts_(g, "}\n\n");
        event_end(g);
    }
    openai_begin(g, "{}");
    openai_end(g, "\"stop\"");
    done(g);
}

/* ---- Anthropic ---- */
static void anthropic_begin(gen *g, const char *type, int index)
{
    puts_(g, "event: ");
    puts_(g, type);
    puts_(g, "\ndata: {\"type\":\"");
    puts_(g, type);
    puts_(g, "\"");
    if (index < 0) return;
    puts_(g, ",\"index\":");
    put_number(g, (unsigned)index);
}
static void anthropic_end(gen *g, int padded)
{
    if (padded && chance(g, 10) < 7) put(g, "            ", chance(g, 13));
    puts_(g, "}\n\n");
    event_end(g);
}
static void anthropic_delta(gen *g, int index, const char *type, const char *field)
{
    anthropic_begin(g, "content_block_delta", index);
    puts_(g, ",\"delta\":{\"type\":\"");
    puts_(g, type);
    puts_(g, "\",\"");
    puts_(g, field);
    puts_(g, "\":\"");
}
static void anthropic_delta_end(gen *g)
{
    puts_(g, "\"}");
    anthropic_end(g, 1);
}
static void anthropic_block(gen *g, int index, uint32_t m)
{
    uint32_t kind = chance(g, 5);
    anthropic_begin(g, "content_block_start", index);
    if (kind == 0) puts_(g, ",\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}");
    else if (kind < 3) puts_(g, ",\"content_block\":{\"type\":\"text\",\"text\":\"\"}");
    else {
        puts_(g, ",\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_01Example0000000000");
        put_number(g, (unsigned)index);
        puts_(g, "\",\"name\":\"edit_file\",\"input\":{}}");
    }
    anthropic_end(g, 0);
    if (kind >= 3) {
        anthropic_delta(g, index, "input_json_delta", "partial_json");
        anthropic_delta_end(g);
        anthropic_delta(g, index, "input_json_delta", "partial_json");
        puts_(g, "{\\\"path\\\": \\\"a.c\\\", \\\"text\\\": \\\"");
        anthropic_delta_end(g);
    }
    while (m--) {
        if (kind == 0) anthropic_delta(g, index, "thinking_delta", "thinking");
        else if (kind < 3) anthropic_delta(g, index, "text_delta", "text");
        else anthropic_delta(g, index, "input_json_delta", "partial_json");
        if (kind < 3) put_token(g); else put_argument(g);
        anthropic_delta_end(g);
    }
    if (kind == 0) {
        anthropic_delta(g, index, "signature_delta", "signature");
        put_random(g, 400, 64);
        anthropic_delta_end(g);
    } else if (kind >= 3) {
        anthropic_delta(g, index, "input_json_delta", "partial_json");
        puts_(g, "\\\"}");
        anthropic_delta_end(g);
    }
    anthropic_begin(g, "content_block_stop", index);
    anthropic_end(g, 1);
}
static void anthropic(gen *g, size_t bytes)
{
    uint32_t made = 0, m;
    int index;
    anthropic_begin(g, "message_start", -1);
    puts_(g, ",\"message\":{\"model\":\"claude-sonnet-4-5-20250929\",\"id\":\"msg_01Example000000000000000\",\"type\":\"message\","
             "\"role\":\"assistant\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":69,"
             "\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"cache_creation\":{\"ephemeral_5m_input_tokens\":0,"
             "\"ephemeral_1h_input_tokens\":0},\"output_tokens\":2,\"service_tier\":\"standard\"}}");
    anthropic_end(g, 0);
    for (index = 0; g->n < bytes && !g->failed; index++, made += m) {
        m = 40 + chance(g, 361);
        anthropic_block(g, index, m);
        if (chance(g, 5) == 0) { puts_(g, "event: ping\ndata: {\"type\": \"ping\"}\n\n"); event_end(g); }
    }
    anthropic_begin(g, "message_delta", -1);
    puts_(g, ",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"input_tokens\":69,"
             "\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":");
    put_number(g, made);
    puts_(g, "}");
    anthropic_end(g, 0);
    anthropic_begin(g, "message_stop", -1);
    anthropic_end(g, 0);
}

/* ---- HTTP around it ---- */
static const char http_head[] =
    "HTTP/1.1 200 OK\r\nDate: Mon, 30 Nov 2026 10:00:00 GMT\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    "Transfer-Encoding: chunked\r\nConnection: keep-alive\r\nx-request-id: req_0123456789abcdef\r\nprocessing-ms: 210\r\n"
    "x-ratelimit-limit-requests: 10000\r\nx-ratelimit-remaining-requests: 9999\r\n"
    "strict-transport-security: max-age=31536000; includeSubDomains; preload\r\nX-Content-Type-Options: nosniff\r\n"
    "Server: bench\r\n\r\n";

/* Mostly a chunk is an event, sometimes several, sometimes an event is cut. The ends of events become offsets in the answer. */
static int wrap(gen *g, bench_work *w)
{
    gen out;
    size_t at = 0, i = 0, end, marked = 0;
    memset(&out, 0, sizeof out);
    out.chance = 7;
    puts_(&out, http_head);
    while (at < g->n && !out.failed) {
        uint32_t r = chance(&out, 100);
        size_t ahead = r < 80 ? 1 : r < 95 ? 2 + chance(&out, 5) : 1;
        char line[24];
        if (i + ahead > g->ends) ahead = g->ends - i;
        end = g->end[i + ahead - 1];
        if (r >= 95 && end - at > 1) end = at + 1 + chance(&out, (uint32_t)(end - at - 1)); else i += ahead;
        put(&out, line, (size_t)snprintf(line, sizeof line, "%lx\r\n", (unsigned long)(end - at)));
        for (; marked < g->ends && g->end[marked] <= end; marked++)
            g->end[marked] = out.n + (g->end[marked] - at) + (g->end[marked] == end ? 2 : 0);
        put(&out, g->p + at, end - at);
        put(&out, "\r\n", 2);
        at = end;
    }
    puts_(&out, "0\r\n\r\n");
    free(g->p);
    w->p = out.p;
    w->n = out.n;
    w->cut = g->end;
    w->cuts = w->events = g->ends;
    return !g->failed && !out.failed;
}
int bench_gen(bench_work *w, const char *name, size_t bytes)
{
    gen g;
    memset(&g, 0, sizeof g);
    memset(w, 0, sizeof *w);
    g.chance = 20261130;
    w->wire = "openai-chat";
    if (strcmp(name, "openai") == 0) { w->name = "openai"; openai(&g, bytes); }
    else if (strcmp(name, "toolargs") == 0) { w->name = "toolargs"; toolargs(&g, bytes); }
    else if (strcmp(name, "hostile") == 0) { w->name = "hostile"; hostile(&g, bytes); }
    else if (strcmp(name, "anthropic") == 0) { w->name = w->wire = "anthropic"; w->anthropic = 1; anthropic(&g, bytes); }
    else return 0;
    return wrap(&g, w);
}
void bench_gen_free(bench_work *w)
{
    free(w->p);
    free(w->cut);
    memset(w, 0, sizeof *w);
}
