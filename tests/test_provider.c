/* What the provider runs itself, and what else only it understands: calls and results are told and never run here, blocks go back to
 * their model as they came, an answer that pauses goes on. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

/* Blocks as JSON; what streams as more than a start is given apart. */
#define B_CALL(id, in) "{\"type\":\"server_tool_use\",\"id\":\"" id "\",\"name\":\"web_search\",\"input\":" in "}"
#define B_PAGES(id) "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"" id "\",\"content\":[{\"type\":\"web_search_result\"," \
    "\"url\":\"https:\\/\\/sea.test\\/\\u00e9\",\"title\":\"The \\\"Sea\\\" \\u00e9\\n\",\"encrypted_content\":\"RU5D+/==\"}]}"
#define B_FAILED(id) "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"" id "\",\"content\":{\"type\":\"web_search_tool_result_error\",\"error_code\":\"unavailable\"}}"
#define B_TEXT(t) "{\"type\":\"text\",\"text\":\"" t "\"}"
#define B_HOST(id, name) "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" name "\",\"input\":{}}"
#define S(i, block) SSE_("{\"type\":\"content_block_start\",\"index\":" i ",\"content_block\":" block "}") AN_STOP(i)
#define WHOLE(blocks, why) "{\"type\":\"message\",\"id\":\"msg_1\",\"role\":\"assistant\",\"model\":\"m1\",\"content\":[" blocks "],\"stop_reason\":\"" why \
    "\",\"usage\":{\"input_tokens\":3,\"output_tokens\":9}}"
#define JSON_HEADERS "content-type: application/json\n"

enum { CUTS = 5 };
/* A session of the Anthropic format; cut: whole, byte by byte, by chance with three seeds.                              */
static host *begin(int via, int cut, const host_answer *a, size_t n, agent_id *s, agent_session_desc *d, uint32_t piece, uint32_t calls)
{
    agent_desc e;
    agent_session_desc none;
    host *h;
    memset(&e, 0, sizeof e);
    memset(&none, 0, sizeof none);
    e.limits.piece = piece;
    e.limits.calls_per_step = calls;
    h = host_new(&e, via, cut > HOST_CUT_RANDOM ? HOST_CUT_RANDOM : cut);
    h->seed = (uint64_t)cut * 7919 + 1;
    if (d == NULL) d = &none;
    d->peer = host_peer_of(h, "anthropic");
    *s = host_session(h, d);
    host_answers(h, a, n);
    agent_say(h->e, *s, "Hi", AGENT_CSTR);
    return h;
}
static void end(host *h)
{
    host_bodies_check(h);
    host_over_check(h);
    host_free(h);
}
static const char *body(const host *h, size_t i) { return host_body(h, i).p; }
static int times(const char *text, const char *word)
{
    int n = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word)) n++;
    return n;
}

/* ---- to the byte: calls and results (wire-quirks E5), thoughts (wire-quirks D5), compaction (wire-quirks E10), another model (wire-quirks E12) ---- */
typedef struct kept { const char *name, *stream, *content, *back; int calls, results, customs, sources; } kept;
static const kept blocks[] = {
    { "a search", AN_START("0", "\"server_tool_use\",\"id\":\"s1\",\"name\":\"web_search\",\"input\":{}") AN_JSON("0", "") AN_JSON("0", "{\\\"query\\\":\\\"ti\\\\u00")
      AN_JSON("0", "e9de\\\"}") AN_STOP("0") S("1", B_PAGES("s1")), B_CALL("s1", "{\"query\":\"ti\\u00e9de\"}") "," B_PAGES("s1"),
      B_CALL("s1", "{\"query\":\"ti\\u00e9de\"}") "," B_PAGES("s1"), 1, 1, 0, 1 },
    { "input at once", S("0", B_CALL("s1", "{ \"b\": [1, 2.50, \"\\/\"] }")) S("1", B_FAILED("s1")), B_CALL("s1", "{ \"b\": [1, 2.50, \"\\/\"] }") "," B_FAILED("s1"),
      B_CALL("s1", "{ \"b\": [1, 2.50, \"\\/\"] }") "," B_FAILED("s1"), 1, 1, 0, 0 },
    { "ids with escapes", S("0", B_CALL("s\\u0031\\/", "{}")) S("1", B_PAGES("s\\u0031\\/")), B_CALL("s\\u0031\\/", "{}") "," B_PAGES("s\\u0031\\/"),
      B_CALL("s\\u0031\\/", "{}") "," B_PAGES("s\\u0031\\/"), 1, 1, 0, 1 },
    { "a server's tool", S("0", "{\"type\":\"mcp_tool_use\",\"id\":\"m1\",\"name\":\"t\",\"server_name\":\"s\",\"input\":{\"x\":1}}")
      S("1", "{\"type\":\"mcp_tool_result\",\"tool_use_id\":\"m1\",\"is_error\":true,\"content\":[{\"type\":\"text\",\"text\":\"no\"}]}"),
      "{\"type\":\"mcp_tool_use\",\"id\":\"m1\",\"name\":\"t\",\"server_name\":\"s\",\"input\":{\"x\":1}},"
      "{\"type\":\"mcp_tool_result\",\"tool_use_id\":\"m1\",\"is_error\":true,\"content\":[{\"type\":\"text\",\"text\":\"no\"}]}",
      "{\"type\":\"mcp_tool_use\",\"id\":\"m1\",\"name\":\"t\",\"server_name\":\"s\",\"input\":{\"x\":1}},"
      "{\"type\":\"mcp_tool_result\",\"tool_use_id\":\"m1\",\"is_error\":true,\"content\":[{\"type\":\"text\",\"text\":\"no\"}]}", 1, 1, 0, 0 },
    { "signed thoughts", AN_START("0", "\"thinking\",\"thinking\":\"\"") AN_THINK("0", " A\\u00e9") AN_THINK("0", "\\n") AN_ADD("0", "\"signature_delta\",\"signature\":\"QUJ\"")
      AN_ADD("0", "\"signature_delta\",\"signature\":\"D/+=\"") AN_ADD("0", "\"signature_delta\",\"signature\":\"=\"") AN_STOP("0"),
      "{\"type\":\"thinking\",\"thinking\":\" A\\u00e9\\n\",\"signature\":\"QUJD/+==\"}",
      "{\"type\":\"thinking\",\"thinking\":\" A\xC3\xA9\\n\",\"signature\":\"QUJD/+==\"}", 0, 0, 0, 0 },
    { "hidden thoughts", S("0", "{\"type\":\"redacted_thinking\",\"data\":\"Z\\/09==\"}"), "{\"type\":\"redacted_thinking\",\"data\":\"Z\\/09==\"}",
      "{\"type\":\"redacted_thinking\",\"data\":\"Z\\/09==\"}", 0, 0, 1, 0 },
    { "of a later year", S("0", "{\"type\":\"hologram\",\"n\":1e400, \"deep\":[{\"input\":{\"a\":null}}],\"text\":\"\\ud83d\\ude00\"}"),
      "{\"type\":\"hologram\",\"n\":1e400, \"deep\":[{\"input\":{\"a\":null}}],\"text\":\"\\ud83d\\ude00\"}",
      "{\"type\":\"hologram\",\"n\":1e400, \"deep\":[{\"input\":{\"a\":null}}],\"text\":\"\\ud83d\\ude00\"}", 0, 0, 1, 0 },
    { "a string in pieces", AN_START("0", "\"compaction\",\"content\":null") AN_ADD("0", "\"compaction_delta\",\"content\":\"So \\u00e9\"")
      AN_ADD("0", "\"compaction_delta\",\"content\":\" far\\n\"") AN_STOP("0"), "{\"type\":\"compaction\",\"content\":\"So \\u00e9 far\\n\"}",
      "{\"type\":\"compaction\",\"content\":\"So \\u00e9 far\\n\"}", 0, 0, 1, 0 },
    { "a model that goes on", S("0", "{\"type\":\"fallback\",\"from\":{\"model\":\"m1\"},\"to\":{\"model\":\"m\\u0032\"}}"),
      "{\"type\":\"fallback\",\"from\":{\"model\":\"m1\"},\"to\":{\"model\":\"m\\u0032\"}}", "{\"type\":\"fallback\",\"from\":{\"model\":\"m1\"},\"to\":{\"model\":\"m\\u0032\"}}", 0, 0, 1, 0 },
    { "a cited text", AN_START("0", "\"text\",\"text\":\"\",\"citations\":[]") AN_ADD("0", "\"citations_delta\",\"citation\":{\"type\":\"web_search_result_location\","
      "\"url\":\"https:\\/\\/sea.test\",\"title\":\"\\u00e9 \\\"x\\\"\",\"encrypted_index\":\"SQ==\"}") AN_TEXT("0", "Low.") AN_STOP("0"),
      "{\"type\":\"text\",\"text\":\"Low.\",\"citations\":[{\"type\":\"web_search_result_location\",\"url\":\"https:\\/\\/sea.test\",\"title\":\"\\u00e9 \\\"x\\\"\",\"encrypted_index\":\"SQ==\"}]}",
      "{\"type\":\"text\",\"text\":\"Low.\",\"citations\":[{\"type\":\"web_search_result_location\",\"url\":\"https:\\/\\/sea.test\",\"title\":\"\\u00e9 \\\"x\\\"\",\"encrypted_index\":\"SQ==\"}]}",
      0, 0, 0, 1 }
};
static void back_one(const kept *k, int via, int cut, int whole, uint32_t piece, int same)
{
    host_text t = { NULL, 0, 0 }, want = { NULL, 0, 0 };
    agent_session_desc d;
    host_answer a[1];
    agent_id s;
    host *h;
    memset(a, 0, sizeof a);
    memset(&d, 0, sizeof d);
    if (whole) {
        text_str(&t, "{\"type\":\"message\",\"id\":\"msg_1\",\"content\":[");
        text_str(&t, k->content);
        text_str(&t, "," B_TEXT("So.") "],\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":3,\"output_tokens\":9}}");
        a[0].headers = JSON_HEADERS;
        d.flags = AGENT_S_NO_STREAM;
    } else {
        text_str(&t, AN_BEGIN);
        text_str(&t, k->stream);
        text_str(&t, AN_START("9", "\"text\",\"text\":\"So.\"") AN_STOP("9") AN_END("end_turn"));
    }
    a[0].body = t.p;
    h = begin(via, cut, a, 1, &s, &d, piece, 0);
    h->name = k->name;
    host_run(h);
    HOST_CHECK(h, h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_TOOL_RUN] == 0 && (int)h->count[AGENT_EV_TOOL_CALL] == k->calls);
    HOST_CHECK(h, (int)h->count[AGENT_EV_TOOL_RESULT] == k->results && (int)h->count[AGENT_EV_CUSTOM] == k->customs && (int)h->count[AGENT_EV_SOURCE] == k->sources);
    HOST_CHECK(h, times(host_log(h), "\"by\":1") == k->calls + k->results);
    if (!same) HOST_CHECK(h, agent_session_set(h->e, s, "model", "other", AGENT_CSTR) == AGENT_OK);
    h->count[AGENT_EV_WARNING] = 0;
    host_answers(h, a, 1);
    agent_say(h->e, s, "And?", AGENT_CSTR);
    host_run(h);
    text_str(&want, "{\"role\":\"assistant\",\"content\":[");
    if (same) { text_str(&want, k->back); text_str(&want, ","); }
    else if (k->sources && !k->calls) text_str(&want, B_TEXT("Low.") ",");               /* its text stays               */
    text_str(&want, B_TEXT("So.") "]}");
    HOST_CHECK(h, h->request_n == 2 && strstr(body(h, 1), want.p) != NULL);
    if (h->request_n == 2 && !strstr(body(h, 1), want.p)) fprintf(stderr, "%d %d %d %u\n%s\n%s\n", via, cut, whole, piece, body(h, 1), want.p);
    HOST_CHECK(h, h->count[AGENT_EV_WARNING] == (same || (k->sources && !k->calls) ? 0u : 1u));
    end(h);
    text_free(&t);
    text_free(&want);
}
static void back(void)
{
    size_t i;
    int via, cut, whole, small;
    for (i = 0; i < sizeof blocks / sizeof *blocks; i++)
        for (via = 0; via < 2; via++) for (cut = 0; cut < CUTS; cut++) for (whole = 0; whole < 2; whole++) for (small = 0; small < 2; small++) {
            back_one(&blocks[i], via, cut, whole, small ? 16 : 0, 1);
            back_one(&blocks[i], via, cut, whole, small ? 16 : 0, 0);
        }
}
/* Blocks longer than limits.piece, of which parts are read before the rest is there.                                   */
static void long_block(int whole, int cut)
{
    host_text t = { NULL, 0, 0 }, block = { NULL, 0, 0 };
    agent_session_desc d;
    host_answer a[1];
    agent_id s;
    host *h;
    int i;
    memset(a, 0, sizeof a);
    memset(&d, 0, sizeof d);
    text_str(&block, "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"s1\",\"content\":[");
    for (i = 0; i < 60; i++) {
        if (i) text_str(&block, ",");
        text_str(&block, "{\"type\":\"web_search_result\",\"title\":\"T\\u00e9\",\"text\":\"long text that could be cut, \\\"here\\\" or there\",\"url\":\"https://sea.test/\",\"encrypted_content\":\"RU5DRU5D\"}");
    }
    text_str(&block, "]}");
    text_str(&t, whole ? "{\"type\":\"message\",\"id\":\"msg_1\",\"content\":[" B_CALL("s1", "{}") "," : AN_BEGIN S("0", B_CALL("s1", "{}")));
    if (!whole) text_str(&t, "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":");
    text_str(&t, block.p);
    text_str(&t, whole ? "," B_TEXT("So.") "],\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":3,\"output_tokens\":9}}" : "}\n\n" AN_STOP("1") AN_START("2", "\"text\",\"text\":\"So.\"") AN_STOP("2") AN_END("end_turn"));
    if (whole) { a[0].headers = JSON_HEADERS; d.flags = AGENT_S_NO_STREAM; }
    a[0].body = t.p;
    h = begin(AGENT_VIA_BYTES, cut, a, 1, &s, &d, 256, 0);
    host_run(h);
    agent_say(h->e, s, "And?", AGENT_CSTR);
    host_run(h);
    CHECK(h->count[AGENT_EV_SOURCE] == 60 && h->count[AGENT_EV_TOOL_RESULT] == 1 && h->request_n == 2 && strstr(body(h, 1), block.p) != NULL);
    end(h);
    text_free(&t);
    text_free(&block);
}

/* ---- told ---- */
/* One line an event: who runs it, the number of the call, how it went.                                                 */
static int note(host *h, const agent_event *ev)
{
    char line[100];
    if (ev->type < AGENT_EV_TOOL_CALL || ev->type > AGENT_EV_TOOL_RESULT) return 0;
    sprintf(line, "%.20s %s %u %.20s", agent_event_name(ev->type), ev->u.tool.by == AGENT_BY_PROVIDER ? "provider" : "host", (unsigned)ev->call, ev->u.tool.wire_id.p);
    text_str((host_text *)h->arg, line);
    if (ev->type == AGENT_EV_TOOL_RESULT) { sprintf(line, " %d", ev->u.tool.status); text_str((host_text *)h->arg, line); }
    text_str((host_text *)h->arg, "\n");
    return 0;
}
typedef struct told { const char *name, *content, *why, *lines; int outcome; size_t requests; } told;
static const told tales[] = {
    { "beside the host's", B_CALL("s1", "{\"q\":1}") "," B_HOST("h1", "alpha") "," B_CALL("s2", "{}") "," B_PAGES("s1") "," B_HOST("h2", "beta") "," B_FAILED("s2"), "tool_use",
      "TOOL_CALL provider 1 s1\nTOOL_CALL provider 3 s2\nTOOL_RESULT provider 1 s1 0\nTOOL_RESULT provider 3 s2 1\nTOOL_CALL host 2 h1\nTOOL_CALL host 4 h2\n"
      "TOOL_RUN host 2 h1\nTOOL_RESULT host 2 h1 0\nTOOL_RUN host 4 h2\nTOOL_RESULT host 4 h2 0\n", AGENT_COMPLETED, 2 },
    { "waits for the host's", B_CALL("s1", "{}") "," B_HOST("h1", "alpha"), "tool_use",
      "TOOL_CALL provider 1 s1\nTOOL_RESULT provider 1 s1 3\nTOOL_CALL host 2 h1\nTOOL_RUN host 2 h1\nTOOL_RESULT host 2 h1 0\n", AGENT_COMPLETED, 2 },
    { "no result", B_TEXT("So.") "," B_CALL("s1", "{}"), "end_turn", "TOOL_CALL provider 1 s1\nTOOL_RESULT provider 1 s1 3\n", AGENT_COMPLETED, 1 },
    { "cut by length", B_CALL("s1", "{}") "," B_PAGES("s1") "," B_CALL("s2", "{}") "," B_TEXT("So"), "max_tokens",
      "TOOL_CALL provider 1 s1\nTOOL_RESULT provider 1 s1 0\nTOOL_CALL provider 2 s2\nTOOL_RESULT provider 2 s2 3\n", AGENT_COMPLETED, 1 },
    { "a result alone", B_PAGES("s7") "," B_TEXT("So."), "end_turn", "", AGENT_COMPLETED, 1 },
    { "one id twice", B_CALL("s1", "{}") "," B_CALL("s1", "{}") "," B_PAGES("s1") "," B_PAGES("s1") "," B_TEXT("So."), "end_turn",
      "TOOL_CALL provider 1 s1\nTOOL_CALL provider 2 s1\nTOOL_RESULT provider 1 s1 0\nTOOL_RESULT provider 2 s1 0\n", AGENT_COMPLETED, 1 }
};
static void test_told(void)
{
    static const host_answer done = { AN_BEGIN AN_SAY("Done.") AN_END("end_turn"), 0, NULL, 0, 0 };
    size_t i;
    int via, cut;
    for (i = 0; i < sizeof tales / sizeof *tales; i++) for (via = 0; via < 2; via++) for (cut = 0; cut < 3; cut++) {
        const told *t = &tales[i];
        host_text whole = { NULL, 0, 0 }, lines = { NULL, 0, 0 };
        host_answer a[3];
        agent_id s;
        host *h;
        memset(a, 0, sizeof a);
        text_str(&whole, "{\"type\":\"message\",\"id\":\"msg_1\",\"content\":[");
        text_str(&whole, t->content);
        text_str(&whole, "],\"stop_reason\":\"");
        text_str(&whole, t->why);
        text_str(&whole, "\"}");
        text_str(&lines, "");
        a[0].body = whole.p;
        a[0].headers = JSON_HEADERS;
        a[1] = a[2] = done;
        h = begin(via, cut, a, 3, &s, NULL, 0, 0);
        h->name = t->name;
        h->arg = &lines;
        h->on = note;
        host_run(h);
        CHECK_CASE(strcmp(lines.p, t->lines) == 0, lines.p);
        HOST_CHECK(h, h->outcome == t->outcome && h->request_n == t->requests);
        agent_say(h->e, s, "And?", AGENT_CSTR);
        host_run(h);
        HOST_CHECK(h, h->outcome == AGENT_COMPLETED);
        if (strcmp(t->name, "a result alone")) host_bodies_check(h);      /* what the provider broke it gets back         */
        host_over_check(h);
        host_free(h);
        text_free(&whole);
        text_free(&lines);
    }
}
/* A call without its result would be refused: it goes back while the provider may still come to it, and no more when the user speaks. */
static void test_waiting_call(void)
{
    static const host_answer a[] = {
        { WHOLE(B_CALL("s1", "{}") "," B_HOST("h1", "alpha"), "tool_use"), 0, JSON_HEADERS, 0, 0 }, { WHOLE(B_HOST("h2", "beta"), "tool_use"), 0, JSON_HEADERS, 0, 0 },
        { WHOLE(B_PAGES("s1") "," B_TEXT("So."), "end_turn"), 0, JSON_HEADERS, 0, 0 }, { WHOLE(B_CALL("s3", "{}") "," B_TEXT("So."), "end_turn"), 0, JSON_HEADERS, 0, 0 },
        { WHOLE(B_TEXT("Done."), "end_turn"), 0, JSON_HEADERS, 0, 0 }
    };
    agent_id s;
    host *h = begin(AGENT_VIA_HTTP, HOST_CUT_WHOLE, a, 5, &s, NULL, 0, 0);
    host_run(h);
    CHECK(h->request_n == 3 && times(body(h, 1), B_CALL("s1", "{}")) == 1 && times(body(h, 2), B_CALL("s1", "{}")) == 1 && h->count[AGENT_EV_CUSTOM] == 1);
    agent_say(h->e, s, "More", AGENT_CSTR);
    host_run(h);
    CHECK(times(body(h, 3), B_CALL("s1", "{}")) == 1 && times(body(h, 3), B_PAGES("s1")) == 1);
    agent_say(h->e, s, "And?", AGENT_CSTR);
    host_run(h);
    CHECK(times(body(h, 4), B_CALL("s1", "{}")) == 1 && times(body(h, 4), "s3") == 0 && h->outcome == AGENT_COMPLETED);
    end(h);
}
/* Over limits.calls_per_step is a fault; those that have their result do not count.                                    */
static void test_too_many(void)
{
    static const char *const content[] = {
        B_CALL("s1", "{}") "," B_CALL("s2", "{}") "," B_CALL("s3", "{}") "," B_TEXT("So."),
        B_CALL("s1", "{}") "," B_PAGES("s1") "," B_CALL("s2", "{}") "," B_PAGES("s2") "," B_CALL("s3", "{}") "," B_TEXT("So.")
    };
    size_t i;
    int cut;
    for (i = 0; i < 2; i++) for (cut = 0; cut < 3; cut++) {
        host_text t = { NULL, 0, 0 };
        host_answer a[1];
        agent_id s;
        host *h;
        memset(a, 0, sizeof a);
        text_str(&t, "{\"type\":\"message\",\"id\":\"msg_1\",\"content\":[");
        text_str(&t, content[i]);
        text_str(&t, "],\"stop_reason\":\"end_turn\"}");
        a[0].body = t.p;
        a[0].headers = JSON_HEADERS;
        h = begin(AGENT_VIA_BYTES, cut, a, 1, &s, NULL, 0, 2);
        host_run(h);
        CHECK(h->outcome == (i ? AGENT_COMPLETED : AGENT_FAILED) && (i || (h->fault_kind == AGENT_FAULT_LIMIT && h->count[AGENT_EV_TOOL_CALL] == 2)));
        CHECK(h->count[AGENT_EV_TOOL_CALL] == h->count[AGENT_EV_TOOL_RESULT]);
        h->answers = NULL;
        h->answer_n = 0;
        {
            static const host_answer done = { AN_BEGIN AN_SAY("Done.") AN_END("end_turn"), 0, NULL, 0, 0 };
            host_answers(h, &done, 1);
            agent_say(h->e, s, "And?", AGENT_CSTR);
            host_run(h);
        }
        CHECK(h->outcome == AGENT_COMPLETED);
        end(h);
        text_free(&t);
    }
}

/* ---- pauses (wire-quirks E13) ---- */
#define PAUSE WHOLE(B_TEXT("I look. ") "," B_CALL("s1", "{}"), "pause_turn")
#define GOES_ON WHOLE(B_PAGES("s1") "," B_TEXT("So."), "end_turn")
static const host_answer pause_whole[] = { { PAUSE, 0, JSON_HEADERS, 0, 0 }, { GOES_ON, 0, JSON_HEADERS, 0, 0 } };
static const host_answer pause_stream[] = {
    { AN_BEGIN AN_SAY("I look. ") S("1", B_CALL("s1", "{}")) AN_END("pause_turn"), 0, NULL, 0, 0 },
    { AN_BEGIN S("0", B_PAGES("s1")) AN_START("1", "\"text\",\"text\":\"So.\"") AN_STOP("1") AN_END("end_turn"), 0, NULL, 0, 0 }
};
static void pause_goes_on(int via, int cut, int whole)       /* the same history again, and nothing of the user's        */
{
    agent_session_desc d;
    agent_id s;
    host *h;
    memset(&d, 0, sizeof d);
    d.flags = whole ? AGENT_S_NO_STREAM : 0;
    h = begin(via, cut, whole ? pause_whole : pause_stream, 2, &s, &d, 0, 0);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED && h->steps == 2 && h->request_n == 2 && agent_messages(h->e, s) == 3);
    CHECK(strstr(body(h, 1), "{\"role\":\"assistant\",\"content\":[" B_TEXT("I look. ") "," B_CALL("s1", "{}") "]}]"));
    agent_say(h->e, s, "And?", AGENT_CSTR);
    host_run(h);
    CHECK(strstr(body(h, 2), "{\"role\":\"assistant\",\"content\":[" B_TEXT("I look. ") "," B_CALL("s1", "{}") "," B_PAGES("s1") "," B_TEXT("So.") "]},{\"role\":\"user\""));
    end(h);
}
static void pause_for_ever(int via)                          /* bounded by max_steps; the last step has the engine's words */
{
    static const host_answer a[] = {
        { PAUSE, 0, JSON_HEADERS, 0, 0 }, { WHOLE(B_CALL("s2", "{}"), "pause_turn"), 0, JSON_HEADERS, 0, 0 }, { WHOLE(B_CALL("s3", "{}"), "pause_turn"), 0, JSON_HEADERS, 0, 0 }
    };
    agent_session_desc d;
    agent_id s;
    uint32_t most;
    for (most = 1; most <= 3; most++) {
        host *h;
        memset(&d, 0, sizeof d);
        d.max_steps = most;
        h = begin(via, HOST_CUT_WHOLE, a, 3, &s, &d, 0, 0);
        host_run(h);
        CHECK(h->outcome == AGENT_LIMITED && h->steps == most && h->request_n == most);
        CHECK((strstr(body(h, most - 1), "The limit of steps is reached.") != NULL) == (most > 1));
        CHECK(most == 1 || agent_json_is(agent_json_get(host_body(h, most - 1), "tool_choice.type"), "none"));
        CHECK(agent_submit(h->e, s, NULL, 0, AGENT_QUEUE) == AGENT_E_STATE);
        agent_say(h->e, s, "And?", AGENT_CSTR);
        host_answers(h, pause_whole + 1, 1);
        host_run(h);
        CHECK(h->request_n == most + 1 && strstr(body(h, most), "server_tool_use") == NULL && strstr(body(h, most), "The limit of steps") == NULL);
        CHECK(h->outcome == AGENT_COMPLETED);
        host_bodies_check(h);
        host_over_check(h);
        host_free(h);
    }
}
static void pause_then_nothing(int via)                      /* the provider has nothing to add, or fails                */
{
    static const host_answer a[][2] = {
        { { PAUSE, 0, JSON_HEADERS, 0, 0 }, { WHOLE("", "end_turn"), 0, JSON_HEADERS, 0, 0 } },
        { { PAUSE, 0, JSON_HEADERS, 0, 0 }, { WHOLE(B_PAGES("s1"), "end_turn"), 0, JSON_HEADERS, 0, 0 } },
        { { PAUSE, 0, JSON_HEADERS, 0, 0 }, { "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}", 529, JSON_HEADERS, 0, 0 } }
    };
    size_t i;
    for (i = 0; i < 3; i++) {
        agent_id s;
        host *h = begin(via, HOST_CUT_RANDOM, a[i], 2, &s, NULL, 0, 0);
        host_run(h);
        CHECK(h->outcome == (i < 2 ? AGENT_COMPLETED : AGENT_FAILED) && h->request_n == 2);
        host_answers(h, pause_whole + 1, 1);
        agent_say(h->e, s, "And?", AGENT_CSTR);
        host_run(h);
        CHECK(h->outcome == AGENT_COMPLETED && times(body(h, 2), "server_tool_use") == (i == 1));
        end(h);
    }
}
static int cancel_at(host *h, const agent_event *ev)
{
    if (h->events == *(unsigned *)h->arg) host_cancel(h, ev->session);
    return 0;
}
static void pause_cancelled(int via)                         /* at each event                                            */
{
    static const host_answer done = { AN_BEGIN AN_SAY("Done.") AN_END("end_turn"), 0, NULL, 0, 0 };
    unsigned at, more = 1;
    for (at = 1; more; at++) {
        agent_id s;
        host *h = begin(via, HOST_CUT_WHOLE, pause_stream, 2, &s, NULL, 0, 0);
        h->arg = &at;
        h->on = cancel_at;
        host_run(h);
        more = h->outcome == AGENT_CANCELLED;
        CHECK(h->count[AGENT_EV_RUN_END] == 1 && h->count[AGENT_EV_TOOL_CALL] == h->count[AGENT_EV_TOOL_RESULT]);
        h->on = NULL;
        host_answers(h, &done, 1);
        agent_say(h->e, s, "And?", AGENT_CSTR);
        host_run(h);
        CHECK(h->outcome == AGENT_COMPLETED);
        end(h);
    }
    CHECK(at > 25);
}
int main(void)
{
    int via, cut;
    back();
    for (cut = 0; cut < CUTS; cut++) { long_block(0, cut); long_block(1, cut); }
    test_told();
    test_waiting_call();
    test_too_many();
    for (via = 0; via < 2; via++) {
        for (cut = 0; cut < CUTS; cut++) { pause_goes_on(via, cut, 0); pause_goes_on(via, cut, 1); }
        pause_for_ever(via);
        pause_then_nothing(via);
        pause_cancelled(via);
    }
    return test_end("provider");
}
