/* The same conversations in both wire formats, side by side: every cut gives the same events and requests, each allocation may fail, a
 * cancel may come at each event; and what STEP_END tells of an answer. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

#define WHOLE_OC(message, why) "{\"id\":\"c\",\"model\":\"m1\",\"choices\":[{\"message\":{" message "},\"finish_reason\":\"" why "\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":9}}"
#define WHOLE_AN(blocks, why) "{\"type\":\"message\",\"id\":\"m\",\"model\":\"m1\",\"content\":[" blocks "],\"stop_reason\":\"" why "\",\"usage\":{\"input_tokens\":3,\"output_tokens\":9}}"
#define B_RAN(id) "{\"type\":\"server_tool_use\",\"id\":\"" id "\",\"name\":\"web_search\",\"input\":{\"q\":\"\\u00e9\"}}"
#define B_GOT(id) "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"" id "\",\"content\":[{\"type\":\"web_search_result\",\"url\":\"https:\\/\\/sea.test\",\"title\":\"\\\"Sea\\\"\"}]}"
#define S(i, block) SSE_("{\"type\":\"content_block_start\",\"index\":" i ",\"content_block\":" block "}") AN_STOP(i)
#define PNG "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
#define JSON_TYPE "content-type: application/json\n"

enum { FILES = 1 };                           /* scene.with: the user's message has an image and a text file             */
typedef struct scene { const char *name; uint32_t flags; int with; host_answer a[2][3]; int outcome; } scene;       /* a: openai, anthropic */
static const scene scenes[] = {
    { "text", 0, FILES, { { { SSE_TEXT("A \\ud83d\\ude00 ") SSE_TEXT("b\xC3\xB6\xFF" "at.") SSE_STOP, 0, NULL, 0, 0 }, { 0 }, { 0 } },
      { { AN_BEGIN AN_START("0", "\"text\",\"text\":\"\"") AN_TEXT("0", "A \\ud83d") AN_TEXT("0", "\\ude00 ") AN_TEXT("0", "b\xC3\xB6\xFF" "at.") AN_STOP("0") AN_END("end_turn"), 0, NULL, 0, 0 }, { 0 }, { 0 } } }, AGENT_COMPLETED },
    { "whole", AGENT_S_NO_STREAM, 0, { { { WHOLE_OC("\"reasoning\":\"Hm\",\"content\":\"A boat.\"", "stop"), 0, JSON_TYPE, HOST_LENGTH, 0 }, { 0 }, { 0 } },
      { { WHOLE_AN("{\"type\":\"thinking\",\"thinking\":\"Hm\",\"signature\":\"QQ==\"},{\"type\":\"text\",\"text\":\"A boat.\"}", "end_turn"), 0, JSON_TYPE, HOST_LENGTH, 0 }, { 0 }, { 0 } } }, AGENT_COMPLETED },
    { "thinking", 0, 0, { { { SSE_THINK("Two ") SSE_THINK("piers.") SSE_TEXT("So.") SSE_STOP, 0, NULL, 0, 0 }, { 0 }, { 0 } },
      { { AN_BEGIN AN_START("0", "\"thinking\",\"thinking\":\"\"") AN_THINK("0", "Two ") AN_THINK("0", "piers.") AN_ADD("0", "\"signature_delta\",\"signature\":\"QUJ\"") AN_ADD("0", "\"signature_delta\",\"signature\":\"D\"")
          AN_STOP("0") S("1", "{\"type\":\"redacted_thinking\",\"data\":\"Zg==\"}") AN_START("2", "\"text\",\"text\":\"So.\"") AN_STOP("2") AN_END("end_turn"), 0, NULL, 0, 0 }, { 0 }, { 0 } } }, AGENT_COMPLETED },
    { "parallel tools", 0, 0, { { { SSE_TEXT("I look. ") SSE_CALL("0", "c1", "alpha", "{\\\"x\\\":") SSE_CALL("1", "c2", "beta", "") SSE_ARGS("0", "\\\"\\\\u00e9\\\"}") SSE_CALL("2", "c3", "nobody", "{}") SSE_CALL("3", "c4", "alpha", "{broken") SSE_TOOLS, 0, NULL, 0, 0 },
        { SSE_TEXT("Done.") SSE_STOP, 0, NULL, 0, 0 }, { 0 } },
      { { AN_BEGIN AN_SAY("I look. ") AN_TOOL("1", "alpha") AN_TOOL("2", "beta") AN_JSON("1", "{\\\"x\\\":") AN_JSON("2", "") AN_JSON("1", "\\\"\\\\u00e9\\\"}") AN_STOP("1") AN_STOP("2") AN_TOOL("3", "nobody") AN_STOP("3")
          AN_TOOL("4", "alpha") AN_JSON("4", "{broken") AN_STOP("4") AN_END("tool_use"), 0, NULL, 0, 0 },
        { AN_BEGIN AN_SAY("Done.") AN_END("end_turn"), 0, NULL, 0, 0 }, { 0 } } }, AGENT_COMPLETED },
    { "the provider's", 0, FILES, { { { SSE_("{\"choices\":[{\"delta\":{\"content\":\"So.\",\"annotations\":[{\"url_citation\":{\"url\":\"https://sea.test\",\"title\":\"\\u00e9\"}}]}}]}") SSE_CALL("0", "c1", "alpha", "{}") SSE_TOOLS, 0, NULL, 0, 0 },
        { SSE_("{\"choices\":[{\"delta\":{\"images\":[{\"image_url\":{\"url\":\"" PNG "\"}},{\"image_url\":{\"url\":\"https:\\/\\/sea.test\\/a.png\"}}]}}]}") SSE_STOP, 0, NULL, 0, 0 }, { 0 } },
      { { AN_BEGIN AN_START("0", "\"server_tool_use\",\"id\":\"s1\",\"name\":\"web_search\",\"input\":{}") AN_JSON("0", "{\\\"q\\\":") AN_JSON("0", "1}") AN_STOP("0") AN_TOOL("1", "alpha") S("2", B_GOT("s1")) AN_STOP("1") S("3", B_RAN("s2")) AN_END("tool_use"), 0, NULL, 0, 0 },
        { AN_BEGIN S("0", B_GOT("s2")) S("1", "{\"type\":\"hologram\",\"x\":[1]}") AN_START("2", "\"text\",\"text\":\"So.\"") AN_STOP("2") AN_END("end_turn"), 0, NULL, 0, 0 }, { 0 } } }, AGENT_COMPLETED },
    { "pause", 0, 0, { { { SSE_TEXT("half") SSE_FINISH("length") SSE_USAGE SSE_DONE, 0, NULL, 0, 0 }, { 0 }, { 0 } },
      { { AN_BEGIN AN_SAY("I look.") S("1", B_RAN("s1")) AN_END("pause_turn"), 0, NULL, 0, 0 }, { AN_BEGIN S("0", B_GOT("s1")) S("1", B_RAN("s2")) AN_END("pause_turn"), 0, NULL, 0, 0 },
        { WHOLE_AN(B_GOT("s2") ",{\"type\":\"text\",\"text\":\"So.\"}", "end_turn"), 0, JSON_TYPE, 0, 0 } } }, AGENT_COMPLETED },
    { "tags", AGENT_S_THINK_TAGS, 0, { { { SSE_TEXT(" <thi") SSE_TEXT("nk>Two < piers.</th") SSE_TEXT("ink>\\n\\nSo.") SSE_STOP, 0, NULL, 0, 0 }, { 0 }, { 0 } },
      { { AN_BEGIN AN_START("0", "\"text\",\"text\":\" <thi\"") AN_TEXT("0", "nk>Two < piers.</th") AN_TEXT("0", "ink>\\n\\nSo.") AN_STOP("0") AN_END("end_turn"), 0, NULL, 0, 0 }, { 0 }, { 0 } } }, AGENT_COMPLETED },
    { "an error", 0, 0, { { { SSE_TEXT("half") SSE_CALL("0", "c1", "alpha", "{}") SSE_("{\"error\":{\"message\":\"overheated\",\"code\":500}}"), 0, NULL, 0, 0 }, { 0 }, { 0 } },
      { { AN_BEGIN AN_SAY("half") S("1", B_RAN("s1")) AN_TOOL("2", "alpha") AN_STOP("2") SSE_("{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}"), 0, NULL, 0, 0 }, { 0 }, { 0 } } }, AGENT_FAILED },
    { "refused", 0, FILES, { { { "{\"error\":{\"message\":\"slow down\"}}", 429, JSON_TYPE "x-ratelimit-remaining: 0\nretry-after: 2\n", HOST_LENGTH, 0 }, { 0 }, { 0 } },
      { { "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}", 429, JSON_TYPE "request-id: r1\nanthropic-ratelimit-requests-remaining: 0\n", HOST_LENGTH, 0 }, { 0 }, { 0 } } }, AGENT_FAILED }
};
enum { SCENES = sizeof scenes / sizeof *scenes };
typedef struct play { const scene *sc; int anthropic, via, cut; size_t cut_at; unsigned seed; host_heap heap; long fail_at; int fail_on; unsigned cancel_at; agent_id s; char name[80]; } play;
static int cancel_at(host *h, const agent_event *ev)
{
    const play *p = (const play *)h->arg;
    if (h->events != p->cancel_at) return 0;
    host_cancel(h, ev->session ? ev->session : p->s);
    return ev->type == AGENT_EV_TOOL_RUN;     /* too late for its result                                                 */
}
static int submit(host *h, const play *p)
{
    agent_part parts[3];
    memset(parts, 0, sizeof parts);
    parts[0].text = agenti_cstr("Look:");
    parts[1].kind = AGENT_PART_IMAGE;
    parts[1].uri = agenti_cstr(PNG);
    parts[2].kind = AGENT_PART_FILE;
    parts[2].flags = AGENT_PART_CACHE;
    parts[2].text = agenti_cstr("tides \xFF");
    parts[2].mime = agenti_cstr("text/plain");
    parts[2].name = agenti_cstr("t.txt");
    return agent_submit(h->e, p->s, parts, p->sc->with & FILES ? 3 : 1, AGENT_QUEUE);
}
/* One conversation, then another message that finds the session in order.                                               */
static host *go(play *p, size_t *main_requests)
{
    agent_desc d;
    agent_session_desc sd;
    host *h;
    unsigned runs;
    int rc;
    memset(&d, 0, sizeof d);
    memset(&sd, 0, sizeof sd);
    memset(&p->heap, 0, sizeof p->heap);
    sprintf(p->name, "%.20s, %s, via %d, cut %d at %lu, fail %ld%s, cancel %u", p->sc->name, p->anthropic ? "anthropic" : "openai", p->via, p->cut, (unsigned long)p->cut_at,
            p->fail_at, p->fail_on ? " on" : "", p->cancel_at);
    d.alloc = host_alloc;
    d.alloc_ctx = &p->heap;
    d.limits.piece = 16;
    h = host_new(&d, p->via, p->cut);
    h->name = p->name;
    h->cut_at = p->cut_at;
    h->seed = p->seed * 7919u + 1;
    sd.peer = host_peer_of(h, p->anthropic ? "anthropic" : "openai-compatible");
    sd.flags = p->sc->flags;
    sd.system = "Be brief.";
    p->s = host_session(h, &sd);
    h->arg = p;
    h->on = p->cancel_at ? cancel_at : NULL;
    h->quiet = h->check.light = p->fail_at != 0;
    for (h->answer_n = 0; h->answer_n < 3 && p->sc->a[p->anthropic][h->answer_n].body; h->answer_n++) {}
    h->answers = p->sc->a[p->anthropic];
    p->heap.calls = 0;
    p->heap.fail_at = p->fail_at;
    p->heap.fail_on = p->fail_on;
    rc = submit(h, p);
    HOST_CHECK(h, rc > 0 || rc == AGENT_E_NOMEM);
    host_pump(h);
    p->fail_at = p->heap.calls;               /* how many there were                                                     */
    p->heap.fail_at = 0;
    runs = h->count[AGENT_EV_RUN_END];
    *main_requests = h->request_n;
    HOST_CHECK(h, h->count[AGENT_EV_RUN_START] == runs && h->count[AGENT_EV_TOOL_CALL] == h->count[AGENT_EV_TOOL_RESULT]);
    host_over_check(h);
    h->on = NULL;
    h->answer_n = 0;
    HOST_CHECK(h, agent_say(h->e, p->s, "And?", AGENT_CSTR) > 0);
    return h;
}
static int table_is_good(host *h, agent_id s)
{
    agent_msg m;
    agent_part part;
    size_t i, k;
    for (i = 0; i < agent_messages(h->e, s); i++) {
        if (agent_message(h->e, s, i, &m) != AGENT_OK || (m.part_count == 0 && (m.role != AGENT_MODEL || m.flags != AGENT_PART_CUT))) return 0;
        for (k = 0; k < m.part_count; k++) if (agent_message_part(h->e, s, m.id, k, &part) != AGENT_OK || part.id == 0) return 0;
    }
    return 1;
}
static void over(host *h, play *p)
{
    HOST_CHECK(h, table_is_good(h, p->s));
    host_pump(h);
    HOST_CHECK(h, h->outcome == AGENT_COMPLETED && table_is_good(h, p->s));
    host_bodies_check(h);
    host_over_check(h);
    host_free(h);
    CHECK_CASE(p->heap.live == 0 && p->heap.bytes == 0, p->name);
}
static play play_of(const scene *sc, int anthropic, int via)
{
    play p;
    memset(&p, 0, sizeof p);
    p.sc = sc;
    p.anthropic = anthropic;
    p.via = via;
    return p;
}
/* Whole, byte by byte, by chance, and cut once at each place (of which some are left out).                              */
static void test_cuts(const scene *sc, int anthropic, int via)
{
    play first = play_of(sc, anthropic, via), p;
    size_t i, k, n, longest = 0, requests, stride;
    host *whole = go(&first, &n), *h;
    HOST_CHECK(whole, whole->outcome == sc->outcome);
    for (i = 0; i < whole->conn_n; i++) if (whole->conns[i].in.n > longest) longest = whole->conns[i].in.n;
    stride = longest / 400 + 1;
    for (i = 0; i < longest / stride + 5; i++) {
        p = play_of(sc, anthropic, via);
        p.cut = i == 0 ? HOST_CUT_BYTES : i < 5 ? HOST_CUT_RANDOM : HOST_CUT_AT;
        p.seed = (unsigned)i;
        p.cut_at = i < 5 ? 0 : 1 + (i - 5) * stride;
        h = go(&p, &requests);
        HOST_CHECK(h, h->log.n == whole->log.n && memcmp(h->log.p, whole->log.p, h->log.n) == 0 && requests == n);
        for (k = 0; k < requests && k < n; k++) HOST_CHECK(h, h->body[k].n == whole->body[k].n && memcmp(h->body[k].p, whole->body[k].p, h->body[k].n) == 0);
        over(h, &p);
    }
    over(whole, &first);
}
static void test_memory(const scene *sc, int anthropic, int via)
{
    long at, calls = 1000000;
    size_t n;
    int on;
    for (on = 0; on < 2; on++) for (at = on; at < calls + 2; at++) {
        play p = play_of(sc, anthropic, via);
        host *h;
        p.fail_at = at;
        p.fail_on = on;
        p.cut = at % 2 ? HOST_CUT_RANDOM : HOST_CUT_WHOLE;
        p.seed = (unsigned)at;
        h = go(&p, &n);
        if (at == 0) calls = p.fail_at;
        over(h, &p);
    }
    CHECK_CASE(calls > 20, sc->name);
}
static void test_cancel(const scene *sc, int anthropic, int via)
{
    unsigned at, last = 0;
    size_t n;
    for (at = 1; at == 1 || at <= last; at++) {
        play p = play_of(sc, anthropic, via);
        host *h;
        p.cancel_at = at;
        h = go(&p, &n);
        last = h->events;
        HOST_CHECK(h, h->count[AGENT_EV_RUN_END] == 1);
        over(h, &p);
    }
    CHECK_CASE(at > 6, sc->name);
}

/* ---- what STEP_END tells ---- */
static agent_str told[3], run_told[3];
static char told_text[3][400];
static int note(host *h, const agent_event *ev)
{
    int i;
    (void)h;
    if (ev->type == AGENT_EV_RUN_END) { run_told[0] = ev->u.end.model; run_told[1] = ev->u.end.request_id; run_told[2] = ev->u.end.headers; }
    if (ev->type != AGENT_EV_STEP_END) return 0;
    told[0] = ev->u.end.model;
    told[1] = ev->u.end.request_id;
    told[2] = ev->u.end.headers;
    for (i = 0; i < 3; i++) { sprintf(told_text[i], "%.399s", told[i].p); CHECK(strlen(told_text[i]) == told[i].n && run_told[i].n == 0); }
    return 0;
}
static void test_step_end(int anthropic, int via)
{
    static const struct { const char *headers, *id, *limits; } rows[] = {
        { "content-type: text/event-stream\n", "", "" },
        { "X-Request-ID: req_1\ncontent-type: text/event-stream\nX-RateLimit-Remaining-Tokens: 7\nx-other: 1\nanthropic-ratelimit-requests-reset: 2027-01-01T00:00:00Z\n", "req_1",
          "x-ratelimit-remaining-tokens: 7\nanthropic-ratelimit-requests-reset: 2027-01-01T00:00:00Z\n" },
        { "content-type: text/event-stream\nrequest-id: req_\xFF\nratelimit: \"a\";r=5\n", "req_\xEF\xBF\xBD", "ratelimit: \"a\";r=5\n" },
        { "content-type: text/event-stream\ncf-ray: 1\nx-ratelimit-key: sk-very-secret-key\n", "1", "x-ratelimit-key: ******************\n" }
    };
    static const host_answer body[2] = {
        { SSE_("{\"model\":\"m1-2027\\u002d01\",\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}") SSE_("{\"model\":\"other\",\"choices\":[]}") SSE_STOP, 0, NULL, HOST_LENGTH, HOST_GO },
        { SSE_("{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"model\":\"m1-2027\\u002d01\",\"content\":[]}}") AN_SAY("Hi") AN_END("end_turn"), 0, NULL, HOST_LENGTH, HOST_GO }
    };
    size_t i;
    int cut;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) for (cut = 0; cut < 3; cut++) {
        host_answer a[2];
        agent_session_desc sd;
        agent_id s;
        host *h = host_new(NULL, via, cut);
        memset(&sd, 0, sizeof sd);
        a[0] = a[1] = body[anthropic];
        a[0].headers = rows[i].headers;
        a[1].headers = "content-type: text/event-stream\n";
        sd.peer = host_peer_of(h, anthropic ? "anthropic" : "openai-compatible");
        s = host_session(h, &sd);
        h->on = note;
        host_answers(h, a, 2);
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        host_run(h);
        CHECK_CASE(strcmp(told_text[0], "m1-2027-01") == 0, told_text[0]);
        CHECK_CASE(strcmp(told_text[1], rows[i].id) == 0, told_text[1]);
        CHECK_CASE(strcmp(told_text[2], rows[i].limits) == 0, told_text[2]);
        CHECK(host_said(h, "\"model\":\"m1-2027-01\"") && (*rows[i].id == 0) == !host_said(h, "\"request_id\":") && (*rows[i].limits == 0) == !host_said(h, "\"headers\":"));
        agent_say(h->e, s, "And?", AGENT_CSTR);              /* of this answer, not the one before                       */
        host_run(h);
        CHECK(told[1].n == 0 && told[2].n == 0 && h->outcome == AGENT_COMPLETED);
        host_over_check(h);
        host_free(h);
    }
}
int main(void)
{
    int i, anthropic, via;
    for (i = 0; i < SCENES; i++) for (anthropic = 0; anthropic < 2; anthropic++) for (via = 0; via < 2; via++) {
        test_cuts(&scenes[i], anthropic, via);
        test_cancel(&scenes[i], anthropic, via);
        if (via == i % 2) test_memory(&scenes[i], anthropic, via);
    }
    for (anthropic = 0; anthropic < 2; anthropic++) for (via = 0; via < 2; via++) test_step_end(anthropic, via);
    return test_end("formats");
}
