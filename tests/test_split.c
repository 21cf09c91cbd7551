/* Payloads longer than limits.piece are read in pieces: the same text comes out for every piece size and every cut, nothing is lost, and
 * little is held. The payloads are made from a seed: text full of escapes, multi-byte characters and surrogate pairs. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"

struct text { char p[1 << 16]; size_t n; };
static struct text body, text, thought, args, got_text, got_thought, got_args, log_whole, log_cut;
static unsigned seed;
static unsigned rnd(unsigned n) { seed = seed * 1103515245u + 12345u; return (seed >> 8) % n; }
static void add(struct text *t, const char *s) { size_t n = strlen(s); memcpy(t->p + t->n, s, n); t->n += n; t->p[t->n] = 0; }

/* The same character as text and as JSON.                                                                              */
static void add_char(struct text *plain, struct text *json)
{
    static const char *const as_text[] = { "a", "word ", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\"", "\\", "\n", "\xF0\x9F\x98\x80", "/" };
    static const char *const as_json[] = { "a", "word ", "\xC3\xA9", "\\u20ac", "\\ud83d\\ude00", "\\\"", "\\\\", "\\n", "\xF0\x9F\x98\x80", "\\/" };
    unsigned i = rnd(10);
    add(plain, as_text[i]);
    add(json, as_json[i]);
}
static void add_string(struct text *plain, unsigned chars)
{
    plain->n = 0;
    add(plain, "");
    add(&body, "\"");
    while (chars--) add_char(plain, &body);
    add(&body, "\"");
}
/* Arguments: a JSON text inside a JSON string. Only plain characters, so that both forms are easy.                     */
static void add_args(unsigned chars)
{
    args.n = 0;
    add(&args, "{\"p\":\"");
    add(&body, "\"{\\\"p\\\":\\\"");
    while (chars--) {
        const char *c = rnd(2) ? "x" : "\xE2\x82\xAC";
        add(&args, c);
        add(&body, c);
    }
    add(&args, "\"}");
    add(&body, "\\\"}\"");
}
static void make_body(int whole)
{
    body.n = 0;
    if (!whole) add(&body, "data: ");
    add(&body, "{\"id\":\"x\",\"choices\":[{\"index\":0,\"");
    add(&body, whole ? "message" : "delta");
    add(&body, "\":{\"role\":\"assistant\",\"reasoning_content\":");
    add_string(&thought, rnd(300));
    add(&body, ",\"content\":");
    add_string(&text, rnd(900));
    add(&body, ",\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":");
    add_args(rnd(400));
    add(&body, "}}]},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}");
    if (!whole) add(&body, rnd(2) ? "\n\ndata: [DONE]\n\n" : "\n\n");
}
struct seen { int ends, calls; int64_t input; size_t longest; };
static void take(const agent_event *ev, struct text *log, struct seen *s)
{
    static char line[1 << 17];
    struct text *to = ev->type == AGENT_EV_TEXT_DELTA ? &got_text : ev->type == AGENT_EV_REASONING_DELTA ? &got_thought : NULL;
    if (agent_event_json(ev, line, sizeof line) < sizeof line && log->n + strlen(line) < sizeof log->p) add(log, line);
    if (to) { memcpy(to->p + to->n, ev->text.p, ev->text.n); to->n += ev->text.n; }
    if (to && ev->text.n > s->longest) s->longest = ev->text.n;
    if (ev->type == AGENT_EV_TOOL_CALL) { s->calls++; got_args.n = ev->text.n; memcpy(got_args.p, ev->text.p, ev->text.n); }
    if (ev->type == AGENT_EV_STEP_END) { s->ends++; s->input = ev->u.end.usage->input; }
}
static struct seen decode(uint32_t piece, unsigned cut, struct text *log, size_t *peak)
{
    agent_desc d = AGENT_ZERO;
    agent_engine *e;
    const agent_event *ev;
    struct seen s;
    agent_id conn;
    size_t at = 0, taken, n;
    memset(&s, 0, sizeof s);
    log->n = got_text.n = got_thought.n = got_args.n = 0;
    d.limits.piece = piece;
    d.limits.recv = 1024;
    CHECK(agent_open(&e, &d) == AGENT_OK);
    conn = agent_decode(e, "openai-chat", AGENT_VIA_HTTP, NULL);
    while (conn) {
        if (at == body.n) agent_eof(e, conn);
        n = cut == 0 ? body.n : cut == 1 ? 1 : 1 + (cut = cut * 1103515245u + 12345u) % 97u;
        if (n > body.n - at) n = body.n - at;
        agent_feed(e, conn, body.p + at, n, &taken);
        at += taken;
        while ((ev = agent_next(e)) != NULL || agent_deadline(e) == 0) {
            if (ev == NULL) continue;
            if (ev->type == AGENT_EV_CLOSE) conn = 0;
            else take(ev, log, &s);
        }
    }
    agent_memory(e, 0, NULL, peak);
    agent_close(e);
    return s;
}
static int same(const struct text *a, const struct text *b) { return a->n == b->n && memcmp(a->p, b->p, a->n) == 0; }
static void test_same_text(void)
{
    static const uint32_t pieces[] = { 16, 33, 100, 8192 };
    unsigned i, k, cut;
    size_t peak;
    for (i = 0; i < 120; i++) {
        seed = i;
        make_body((int)(i & 1));
        for (k = 0; k < 4; k++) {
            struct seen s = decode(pieces[k], 0, &log_whole, &peak);
            CHECK(same(&got_text, &text) && same(&got_thought, &thought) && same(&got_args, &args));
            CHECK(s.ends == 1 && s.calls == 1 && s.input == 3 && s.longest <= pieces[k]);
            for (cut = 1; cut < 4; cut++) {
                decode(pieces[k], cut, &log_cut, &peak);
                CHECK(same(&log_whole, &log_cut));
            }
        }
    }
}
/* A text that is much longer than limits.item: it is shown, and held once, in its part.                                */
static void test_longer_than_item(void)
{
    agent_desc d = AGENT_ZERO;
    agent_engine *e;
    const agent_event *ev;
    static char block[4096];
    agent_id conn;
    size_t i, shown = 0, peak = 0;
    int ends = 0;
    memset(block, 'y', sizeof block);
    d.limits.item = 16384;
    CHECK(agent_open(&e, &d) == AGENT_OK);
    conn = agent_decode(e, "openai-chat", AGENT_VIA_HTTP, NULL);
    agent_feed(e, conn, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"", 49, NULL);
    for (i = 0; i <= 256; i++) {
        if (i < 256) agent_feed(e, conn, block, sizeof block, NULL);
        else { agent_feed(e, conn, "\"},\"finish_reason\":\"stop\"}]}\n\n", 30, NULL); agent_eof(e, conn); }
        while ((ev = agent_next(e)) != NULL) {
            if (ev->type == AGENT_EV_TEXT_DELTA) shown += ev->text.n;
            if (ev->type == AGENT_EV_STEP_END) ends++;
        }
    }
    CHECK(shown == 256 * sizeof block && ends == 1);
    agent_memory(e, 0, NULL, &peak);
    CHECK(peak < 2 * 1048576 + 1048576 + 131072);    /* the part's own text while it doubles, and little else           */
    agent_close(e);
}
/* A string whose owner is told only after it is held whole: it is one call, not two.                                   */
static void test_owner_comes_late(void)
{
    unsigned cut;
    size_t peak, i;
    for (cut = 0; cut < 3; cut++) {
        struct seen s;
        body.n = 0;
        add(&body, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"{\\\"x\\\":\\\"");
        for (i = 0; i < 20000; i++) body.p[body.n++] = 'y';
        add(&body, "\\\"}\",\"name\":\"f\"},\"id\":\"c1\",\"index\":0}]},\"index\":0,\"finish_reason\":\"tool_calls\"}],");
        add(&body, "\"usage\":{\"prompt_tokens\":3}}\n\n");
        s = decode(8192, cut, &log_whole, &peak);
        CHECK(s.calls == 1 && s.ends == 1 && got_args.n == 20008);
    }
}
/* What may not come in parts is held, and over limits.item it is an error that says so.                                */
static void test_held_too_long(void)
{
    agent_desc d = AGENT_ZERO;
    agent_engine *e;
    const agent_event *ev;
    static char block[4096];
    agent_id conn;
    int i, faults = 0;
    memset(block, 'y', sizeof block);
    d.limits.item = 16384;
    CHECK(agent_open(&e, &d) == AGENT_OK);
    conn = agent_decode(e, "openai-chat", AGENT_VIA_HTTP, NULL);
    agent_feed(e, conn, "data: {\"choices\":[{\"delta\":{\"unknown\":\"", 39, NULL);
    for (i = 0; i < 16; i++) {
        agent_feed(e, conn, block, sizeof block, NULL);
        while ((ev = agent_next(e)) != NULL) if (ev->type == AGENT_EV_ERROR) {
            faults++;
            CHECK(ev->u.error.fault == AGENT_FAULT_LIMIT && strstr(ev->text.p, "limits.item") != NULL);
        }
    }
    CHECK(faults == 1);
    agent_close(e);
}
int main(void)
{
    test_same_text();
    test_longer_than_item();
    test_held_too_long();
    test_owner_comes_late();
    return test_end("split");
}
