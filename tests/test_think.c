/* <think> tags in text (wire-quirks B24): told apart the same for every cut, against a few lines that read the whole text; then in sessions. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

/* ---- the parser alone ---- */
typedef struct parts { host_text thought, text; int swapped; } parts;       /* swapped: a thought came after text        */
static void parts_free(parts *p) { text_free(&p->thought); text_free(&p->text); }
static void put(parts *p, int kind, agent_str s)
{
    CHECK(s.n > 0);
    if (kind == AGENTI_THINK_THOUGHT) { p->swapped |= p->text.n > 0; text_add(&p->thought, s.p, s.n); }
    else { CHECK(kind == AGENTI_THINK_TEXT); text_add(&p->text, s.p, s.n); }
}
/* What must come out, read at leisure.                                                                                 */
static void naive(const char *s, int open, parts *p)
{
    const char *q = s + strspn(s, " \t\r\n"), *end;
    if (!open && (strncmp(q, "<think>", 7) != 0 || q - s > 25)) { text_str(&p->text, s); return; }
    s = open ? s : q + 7;
    end = strstr(s, "</think>");
    text_add(&p->thought, s, end ? (size_t)(end - s) : strlen(s));
    if (end) text_str(&p->text, end + 8 + strspn(end + 8, "\r\n"));
}
static void feed(agenti_think *t, const char *s, size_t n, parts *p)
{
    char *own = (char *)malloc(n + 1);        /* gone after the call: what is held back is the parser's own             */
    agent_str rest, out;
    int kind;
    if (own == NULL) abort();
    memcpy(own, s, n);
    rest.p = own;
    rest.n = n;
    while ((kind = agenti_think_next(t, &rest, &out)) != AGENTI_THINK_NONE) put(p, kind, out);
    CHECK(rest.n == 0);
    free(own);
}
static int same(const host_text *a, const host_text *b) { return a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0); }
static void cut_text(const char *s, int open, size_t a, size_t b, const parts *want)         /* cut at a and b; b 0: in bytes */
{
    size_t n = strlen(s), i;
    agenti_think t;
    agent_str out;
    parts got;
    int kind;
    memset(&got, 0, sizeof got);
    agenti_think_start(&t, open);
    if (b == 0) for (i = 0; i < n; i++) feed(&t, s + i, 1, &got);
    else {
        feed(&t, s, a, &got);
        feed(&t, s + a, b - a, &got);
        feed(&t, s + b, n - b, &got);
    }
    if ((kind = agenti_think_end(&t, &out)) != AGENTI_THINK_NONE) put(&got, kind, out);
    CHECK(agenti_think_end(&t, &out) == AGENTI_THINK_NONE && t.state == AGENTI_THINK_OFF);
    CHECK_CASE(same(&got.thought, &want->thought) && same(&got.text, &want->text) && !got.swapped, s);
    parts_free(&got);
}
static const char *const texts[] = {
    "", " ", "\n", "<", "<think", "<think>", "</think>", "Hi", " \n\tHi", "<think>Hm.</think>Hi", " \r\n<think>Hm.</think>\n\nHi", "<think></think>Hi", "<think>Hm.", "<think>Hm.</", "<think>Hm.</think",
    "<think>Hm.</think>", "<think>Hm.</think>\n\r\n", "<think>\n\n</think> \nHi", "<thinking>Hi", "<think >Hi", "<Think>Hi", "<<think>Hi", "< think>Hi", "<thin<think>Hi", "a<think>Hm.</think>Hi",
    "Hi <think>later</think> so", "<think>a<think>b</think>c</think>d", "<think>a < b << c </ think></thin</think</</think>d", "<think>1 <</think>2", "<think></think></think>x", "<think>a</think><think>b</think>c",
    "                         <think>a</think>b", "                          <think>a</think>b", "                                <think>a</think>b", "                                        <think>",
    "<think>\xF0\x9F\x98\x80</think>\xC3\xA9", "\xC2\xA0<think>a</think>b", "</think>Hi", "Hm.</think>\nHi", "Hm.</thin", "a</think>b</think>c", "<think>x</think>\n\n<b>"
};
static void test_parser(void)
{
    size_t i, a, b, n;
    int open;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) for (open = 0; open < 2; open++) {
        parts want;
        memset(&want, 0, sizeof want);
        naive(texts[i], open, &want);
        n = strlen(texts[i]);
        cut_text(texts[i], open, 0, 0, &want);
        for (a = 0; a <= n; a++) for (b = a ? a : 1; b <= n; b++) cut_text(texts[i], open, a, b, &want);
        parts_free(&want);
    }
}
static void test_by_chance(void)                             /* texts of pieces of tags                                  */
{
    static const char *const bits[] = { "<think>", "</think>", "<", "/", "think>", ">", "</", "\n", " ", "a", "</thi", "nk>" };
    unsigned seed = 1, i, k;
    for (i = 0; i < 20000; i++) {
        char s[80] = "";
        parts want;
        size_t n, a, b;
        for (k = 0; k < 8; k++) { seed = seed * 1103515245u + 12345u; strcat(s, bits[(seed >> 16) % 12]); }
        n = strlen(s);
        a = (seed >> 8) % n;
        b = a + (seed >> 20) % (n - a) + 1;
        memset(&want, 0, sizeof want);
        naive(s, (int)(i & 1), &want);
        cut_text(s, (int)(i & 1), a, b, &want);
        cut_text(s, (int)(i & 1), 0, 0, &want);
        parts_free(&want);
    }
}

/* ---- in sessions ---- */
typedef struct seen { host_text thought, text; unsigned parts; } seen;
static int note(host *h, const agent_event *ev)
{
    seen *s = (seen *)h->arg;
    s->parts += ev->type == AGENT_EV_TEXT_START || ev->type == AGENT_EV_REASONING_START;
    if (ev->type == AGENT_EV_TEXT_DELTA) text_add(&s->text, ev->text.p, ev->text.n);
    if (ev->type == AGENT_EV_REASONING_DELTA) text_add(&s->thought, ev->text.p, ev->text.n);
    return 0;
}
static void quoted(host_text *t, const char *s, size_t n)    /* without quotes                                           */
{
    char out[512];
    size_t k = agent_json_quote(s, n, out, sizeof out);
    text_add(t, out + 1, k - 2);
}
/* An answer with this text: whole, in one delta, or in one delta a byte.                                                */
static void answer_of(host_text *t, const char *s, int anthropic, int how)
{
    size_t i, n = strlen(s), step = how == 2 ? 1 : n ? n : 1;
    if (how == 0) {
        text_str(t, anthropic ? "{\"type\":\"message\",\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"" : "{\"choices\":[{\"message\":{\"content\":\"");
        quoted(t, s, n);
        text_str(t, anthropic ? "\"}],\"stop_reason\":\"end_turn\"}" : "\"},\"finish_reason\":\"stop\"}]}");
        return;
    }
    if (anthropic) text_str(t, AN_BEGIN AN_START("0", "\"text\",\"text\":\"\""));
    for (i = 0; i < n; i += step) {
        text_str(t, anthropic ? "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"" : "data: {\"choices\":[{\"delta\":{\"content\":\"");
        quoted(t, s + i, step);
        text_str(t, anthropic ? "\"}}\n\n" : "\"}}]}\n\n");
    }
    text_str(t, anthropic ? AN_STOP("0") AN_END("end_turn") : SSE_STOP);
}
static host *talk(const agent_desc *d, int via, int cut, int anthropic, uint32_t flags, const host_answer *a, size_t n, agent_id *s, seen *k)
{
    agent_session_desc sd;
    host *h = host_new(d, via, cut);
    memset(&sd, 0, sizeof sd);
    memset(k, 0, sizeof *k);
    sd.flags = flags;
    *s = 0;
    if (h->e && (sd.peer = host_peer_of(h, anthropic ? "anthropic" : "openai-compatible")) != 0) *s = host_session(h, &sd);
    h->arg = k;
    h->on = note;
    host_answers(h, a, n);
    if (*s) agent_say(h->e, *s, "Hi", AGENT_CSTR);
    return h;
}
static void talk_end(host *h, seen *k)
{
    host_over_check(h);
    host_free(h);
    text_free(&k->text);
    text_free(&k->thought);
}
static const char *const said[] = {
    "Hi", "<think>Hm.</think>\n\nHi", " <thinking>Hi", "<think>Hm.</think>", "<think>Hm.</thi", " \n<thi", "Hm.</think>Hi", "<think>a < b</think><think>c", "<think></think>Hi",
    "<think>0123456789 0123456789 0123456789 \xC3\xA9</think>0123456789 0123456789 0123456789"
};
static void test_sessions(int anthropic)
{
    size_t i;
    int how, flags, run;
    for (i = 0; i < sizeof said / sizeof *said; i++) for (how = 0; how < 3; how++) for (flags = 0; flags < 3; flags++) {
        host_text t = { NULL, 0, 0 };
        host_answer a;
        parts want;
        if (how == 2 && strchr(said[i], '\xC3')) continue;        /* a byte is no JSON string                             */
        memset(&a, 0, sizeof a);
        memset(&want, 0, sizeof want);
        answer_of(&t, said[i], anthropic, how);
        a.body = t.p;
        if (how == 0) a.headers = "content-type: application/json\n";
        if (flags) naive(said[i], flags == 2, &want); else text_str(&want.text, said[i]);
        for (run = 0; run < 6; run++) {
            agent_desc d;
            agent_part part;
            agent_id s;
            seen k;
            host *h;
            memset(&d, 0, sizeof d);
            d.limits.piece = run & 1 ? 16 : 0;
            h = talk(&d, run & 1, run / 2, anthropic, (flags == 1 ? AGENT_S_THINK_TAGS : flags == 2 ? AGENT_S_THINK_OPEN : 0) | (how == 0 ? AGENT_S_NO_STREAM : 0), &a, 1, &s, &k);
            h->name = said[i];
            host_run(h);
            HOST_CHECK(h, same(&k.thought, &want.thought) && same(&k.text, &want.text) && k.parts == (want.thought.n ? 1u : 0u) + (want.text.n ? 1u : 0u));
            HOST_CHECK(h, h->outcome == (want.text.n ? AGENT_COMPLETED : AGENT_FAILED));       /* thoughts alone are no answer */
            if (want.thought.n) HOST_CHECK(h, agent_message_part(h->e, s, 2, 0, &part) == AGENT_OK && part.kind == AGENT_PART_REASONING && part.text.n == want.thought.n && part.flags == 0);
            if (want.text.n) HOST_CHECK(h, agent_message_part(h->e, s, 2, want.thought.n > 0, &part) == AGENT_OK && part.kind == AGENT_PART_TEXT && part.text.n == want.text.n);
            talk_end(h, &k);
        }
        parts_free(&want);
        text_free(&t);
    }
}
/* Thoughts by tags, then a call, then text in the next step, which may think again.                                     */
static void test_beside_calls(void)
{
    static const host_answer a[] = {
        { SSE_TEXT("<think>Two piers.</th") SSE_TEXT("ink>I look.") SSE_CALL("0", "c1", "alpha", "{}") SSE_TEXT("<think>no tag here</think>") SSE_TOOLS, 0, NULL, 0, 0 },
        { SSE_TEXT("<think>So") SSE_TEXT("</think>") SSE_TEXT("\\n\\nDone.") SSE_STOP, 0, NULL, 0, 0 }
    };
    int via, cut;
    for (via = 0; via < 2; via++) for (cut = 0; cut < 3; cut++) {
        agent_id s;
        seen k;
        host *h = talk(NULL, via, cut, 0, AGENT_S_THINK_TAGS, a, 2, &s, &k);
        host_run(h);
        CHECK(h->outcome == AGENT_COMPLETED && h->request_n == 2 && k.thought.n && strcmp(k.thought.p, "Two piers.So") == 0);
        CHECK(strcmp(k.text.p, "I look.<think>no tag here</think>Done.") == 0 && strstr(host_body(h, 1).p, "\"content\":\"I look.<think>no tag here</think>\""));
        host_bodies_check(h);
        talk_end(h, &k);
    }
}
/* A refusal and thoughts in their own member are what they are.                                                        */
static void test_other_streams(void)
{
    static const host_answer a = { SSE_THINK("<think>a</think>b") SSE_("{\"choices\":[{\"delta\":{\"refusal\":\"<think>No.\"}}]}") SSE_FINISH("length") SSE_DONE, 0, NULL, 0, 0 };
    agent_id s;
    seen k;
    host *h = talk(NULL, 0, HOST_CUT_WHOLE, 0, AGENT_S_THINK_TAGS, &a, 1, &s, &k);
    host_run(h);
    CHECK(k.thought.n && strcmp(k.thought.p, "<think>a</think>b") == 0 && strcmp(k.text.p, "<think>No.") == 0);
    talk_end(h, &k);
}
static unsigned cancel_event;
static int cancel_at(host *h, const agent_event *ev)
{
    (void)note(h, ev);
    if (h->events == cancel_event) host_cancel(h, ev->session);
    return 0;
}
/* Cancelled at each event, broken off at each byte: what was shown stays, what was held back is no more than a tag.      */
static void test_cancelled(int anthropic)
{
    static const char *const words[] = { "  <thi", "<think>Hm.</thi", "<think>Hm.</think>Hi", " <x>Hi there" };
    size_t i, at;
    for (i = 0; i < 4; i++) {
        host_text t = { NULL, 0, 0 };
        host_answer a;
        unsigned more = 1;
        memset(&a, 0, sizeof a);
        answer_of(&t, words[i], anthropic, 2);
        a.body = t.p;
        for (cancel_event = 1; more; cancel_event++) {
            agent_part part;
            agent_id s;
            seen k;
            host *h = talk(NULL, 1, HOST_CUT_WHOLE, anthropic, AGENT_S_THINK_TAGS, &a, 1, &s, &k);
            h->on = cancel_at;
            host_run(h);
            more = h->outcome == AGENT_CANCELLED;
            CHECK(h->count[AGENT_EV_RUN_END] == 1);
            if (k.thought.n) CHECK(agent_message_part(h->e, s, 2, 0, &part) == AGENT_OK && part.text.n == k.thought.n && memcmp(part.text.p, k.thought.p, part.text.n) == 0);
            talk_end(h, &k);
        }
        CHECK(cancel_event > 8);
        for (at = 0; at <= t.n; at++) {
            host_text cut = { NULL, 0, 0 };
            agent_id s;
            seen k;
            host *h;
            text_add(&cut, t.p, at);
            a.body = cut.p;
            a.end = at % 2 ? HOST_RESET : HOST_HANG;
            h = talk(NULL, 0, HOST_CUT_WHOLE, anthropic, AGENT_S_THINK_TAGS, &a, 1, &s, &k);
            host_run(h);
            if (at % 2 == 0) { host_cancel(h, s); host_run(h); }
            CHECK(h->count[AGENT_EV_RUN_END] == 1);
            if (at == t.n && i == 0) CHECK(k.text.n && strcmp(k.text.p, words[0]) == 0);
            talk_end(h, &k);
            text_free(&cut);
        }
        a.end = 0;
        text_free(&t);
    }
}
/* The bytes hang while half a tag is held back: a cancel shows it.                                                      */
static void test_held_back(void)
{
    static const struct { host_answer a; const char *thought, *text; } rows[] = {
        { { SSE_TEXT(" <thi"), 0, NULL, 0, HOST_HANG }, "", " <thi" }, { { SSE_TEXT("<think>Hm.</thi"), 0, NULL, 0, HOST_HANG }, "Hm.</thi", "" },
        { { SSE_TEXT("<think>"), 0, NULL, 0, HOST_HANG }, "", "" }, { { SSE_TEXT("<think>Hm.</think>\\n"), 0, NULL, 0, HOST_HANG }, "Hm.", "" }
    };
    static const host_answer next = { SSE_TEXT("Hi") SSE_STOP, 0, NULL, 0, 0 };
    size_t i;
    for (i = 0; i < 4; i++) {
        agent_id s;
        seen k;
        host *h = talk(NULL, 0, HOST_CUT_RANDOM, 0, AGENT_S_THINK_TAGS, &rows[i].a, 1, &s, &k);
        host_run(h);
        host_cancel(h, s);
        host_run(h);
        CHECK(h->outcome == AGENT_CANCELLED && strcmp(k.thought.p ? k.thought.p : "", rows[i].thought) == 0 && strcmp(k.text.p ? k.text.p : "", rows[i].text) == 0);
        host_answers(h, &next, 1);
        agent_say(h->e, s, "And?", AGENT_CSTR);
        host_run(h);
        CHECK(h->outcome == AGENT_COMPLETED && !strstr(host_body(h, 1).p, "Hm."));         /* thoughts do not go back        */
        host_bodies_check(h);
        talk_end(h, &k);
    }
}
/* A piece that was decoded elsewhere is gone with its op when the answer is dropped.                                    */
#define BAD "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
#define BADS BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD
static void test_dropped(void)
{
    static const host_answer a = { SSE_TEXT("<think>" BADS "</think>" BADS) SSE_STOP, 0, NULL, HOST_LENGTH, 0 };
    unsigned more = 1;
    for (cancel_event = 1; more; cancel_event++) {
        agent_id s;
        seen k;
        host *h = talk(NULL, 0, HOST_CUT_WHOLE, 0, AGENT_S_THINK_TAGS, &a, 1, &s, &k);
        h->on = cancel_at;
        host_run(h);
        more = h->outcome == AGENT_CANCELLED;
        CHECK(h->count[AGENT_EV_RUN_END] == 1);
        talk_end(h, &k);
    }
}
static void test_memory(int anthropic)
{
    static const char *const words[] = { "<think>Hm. 0123456789 0123456789 0123456789</think>\nHi 0123456789 0123456789 0123456789", " <thi", "<think>Hm.</thi" };
    host_text good = { NULL, 0, 0 };
    host_answer next;
    size_t i;
    long at, calls;
    int on;
    memset(&next, 0, sizeof next);
    answer_of(&good, "Hi", anthropic, 1);
    next.body = good.p;
    for (i = 0; i < 3; i++) for (on = 0; on < 2; on++) for (at = 0, calls = 1000000; at < calls + 2; at++) {
        host_text t = { NULL, 0, 0 };
        host_answer a;
        host_heap heap;
        agent_desc d;
        agent_id s;
        seen k;
        host *h;
        memset(&heap, 0, sizeof heap);
        memset(&d, 0, sizeof d);
        memset(&a, 0, sizeof a);
        answer_of(&t, words[i], anthropic, 2);
        a.body = t.p;
        d.alloc = host_alloc;
        d.alloc_ctx = &heap;
        h = talk(&d, 1, HOST_CUT_WHOLE, anthropic, AGENT_S_THINK_TAGS, &a, 1, &s, &k);
        h->quiet = h->check.light = 1;
        heap.calls = 0;
        heap.fail_at = at;
        heap.fail_on = on;
        host_pump(h);
        if (at == 0) calls = heap.calls;
        heap.fail_at = 0;
        CHECK(h->count[AGENT_EV_RUN_END] == 1);
        host_answers(h, &next, 1);
        agent_say(h->e, s, "And?", AGENT_CSTR);
        host_pump(h);
        CHECK(h->outcome == AGENT_COMPLETED);
        host_bodies_check(h);
        talk_end(h, &k);
        CHECK(heap.live == 0 && heap.bytes == 0);
        text_free(&t);
    }
    text_free(&good);
}
/* All of an answer came as thoughts: with the flag it is told as its text as well (wire-quirks B22, wire-quirks B23), unless there is a text or a call,
 * or it broke off.                                                                                                     */
static void test_thoughts_told(void)
{
    static const struct { host_answer a; int flag, outcome; const char *thought, *text; } rows[] = {
        { { SSE_THINK("Hm. ") SSE_THINK("{}") SSE_STOP, 0, NULL, 0, 0 }, 1, AGENT_COMPLETED, "Hm. {}", "Hm. {}" },
        { { SSE_THINK("Hm. ") SSE_THINK("{}") SSE_STOP, 0, NULL, 0, 0 }, 0, AGENT_FAILED, "Hm. {}", "" },
        { { SSE_THINK("Hm.") SSE_TEXT("Hi") SSE_STOP, 0, NULL, 0, 0 }, 1, AGENT_COMPLETED, "Hm.", "Hi" },
        { { SSE_THINK("Hm.") SSE_FINISH("length") SSE_DONE, 0, NULL, 0, 0 }, 1, AGENT_FAILED, "Hm.", "" },
        { { SSE_THINK("Hm."), 0, NULL, 0, 0 }, 1, AGENT_FAILED, "Hm.", "" },
        { { SSE_STOP, 0, NULL, 0, 0 }, 1, AGENT_FAILED, "", "" }
    };
    size_t i;
    int cut;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) for (cut = HOST_CUT_WHOLE; cut <= HOST_CUT_RANDOM; cut++) {
        agent_id s;
        seen k;
        host *h = talk(NULL, 0, cut, 0, rows[i].flag ? AGENT_S_THOUGHTS_TOLD : 0, &rows[i].a, 1, &s, &k);
        host_run(h);
        CHECK(h->outcome == rows[i].outcome && h->count[AGENT_EV_TEXT_START] == h->count[AGENT_EV_TEXT_END]);
        CHECK(strcmp(k.thought.p ? k.thought.p : "", rows[i].thought) == 0 && strcmp(k.text.p ? k.text.p : "", rows[i].text) == 0);
        talk_end(h, &k);
    }
}
static void test_told_memory(void)
{
    static const host_answer a = { SSE_THINK("Hm. 0123456789 0123456789") SSE_STOP, 0, NULL, 0, 0 }, next = { SSE_TEXT("Hi") SSE_STOP, 0, NULL, 0, 0 };
    long at, calls = 1000000;
    for (at = 0; at < calls + 2; at++) {
        host_heap heap;
        agent_desc d;
        agent_id s;
        seen k;
        host *h;
        memset(&heap, 0, sizeof heap);
        memset(&d, 0, sizeof d);
        d.alloc = host_alloc;
        d.alloc_ctx = &heap;
        h = talk(&d, 1, HOST_CUT_WHOLE, 0, AGENT_S_THOUGHTS_TOLD, &a, 1, &s, &k);
        h->quiet = h->check.light = 1;
        heap.calls = 0;
        heap.fail_at = at;
        host_pump(h);
        if (at == 0) calls = heap.calls;
        heap.fail_at = 0;
        CHECK(h->count[AGENT_EV_RUN_END] == 1);
        host_answers(h, &next, 1);
        agent_say(h->e, s, "And?", AGENT_CSTR);
        host_pump(h);
        CHECK(h->outcome == AGENT_COMPLETED);
        talk_end(h, &k);
        CHECK(heap.live == 0 && heap.bytes == 0);
    }
}
int main(void)
{
    int anthropic;
    test_parser();
    test_by_chance();
    for (anthropic = 0; anthropic < 2; anthropic++) { test_sessions(anthropic); test_cancelled(anthropic); test_memory(anthropic); }
    test_beside_calls();
    test_other_streams();
    test_held_back();
    test_dropped();
    test_thoughts_told();
    test_told_memory();
    return test_end("think");
}
