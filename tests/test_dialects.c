/* What hosts differ in beyond the lines of the transcripts: parts that are open side by side, event by event, and what requests must
 * have in them or not. Quirks are named as in the list of tests/README.md. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

/* ---- parts side by side ---- */
/* One line an event: its name, the part by the order of its first START, the text of a delta or end.                     */
typedef struct trace { host_text out; agent_num part[16]; size_t n; } trace;
static int note(host *h, const agent_event *ev)
{
    trace *t = (trace *)h->arg;
    char line[64];
    size_t i;
    int shown = ev->type >= AGENT_EV_TEXT_START && ev->type <= AGENT_EV_INPUT_END;
    if (!shown && ev->type != AGENT_EV_TOOL_CALL) return 0;
    for (i = 0; i < t->n && t->part[i] != ev->part; i++) {}
    if (i == t->n && t->n < 16) t->part[t->n++] = ev->part;
    sprintf(line, "%.40s %c", agent_event_name(ev->type), (char)('a' + (int)i));
    text_str(&t->out, line);
    if (ev->text.n) { text_str(&t->out, " "); text_add(&t->out, ev->text.p, ev->text.n); }
    text_str(&t->out, "\n");
    return 0;
}
/* The same for every cut and both ways to open a connection.                                                          */
static void side_by_side(const char *provider, const char *body, const char *want)
{
    static const int cuts[] = { HOST_CUT_WHOLE, HOST_CUT_BYTES, HOST_CUT_RANDOM };
    host_answer a[2];
    size_t i;
    memset(a, 0, sizeof a);
    a[0].body = a[1].body = body;
    for (i = 0; i < 6; i++) {
        host *h = host_new(NULL, i < 3 ? AGENT_VIA_HTTP : AGENT_VIA_BYTES, cuts[i % 3]);
        agent_peer_desc p;
        agent_session_desc d;
        trace t;
        memset(&p, 0, sizeof p);
        memset(&d, 0, sizeof d);
        memset(&t, 0, sizeof t);
        p.provider = provider;
        p.key = "";
        p.url = "http://model.test/v1";
        d.peer = agent_peer_open(h->e, &p);
        d.max_steps = 1;
        h->arg = &t;
        h->on = note;
        h->name = provider;
        host_answers(h, a, 1);
        agent_say(h->e, host_session(h, &d), "Hi", AGENT_CSTR);
        host_run(h);
        CHECK_CASE(t.out.p && strcmp(t.out.p, want) == 0, t.out.p ? t.out.p : provider);
        host_over_check(h);
        text_free(&t.out);
        host_free(h);
    }
}
#define OC(delta) SSE_("{\"choices\":[{\"index\":0,\"delta\":{" delta "}}]}")
#define OC_NEW(i, name, args) "{\"index\":" i ",\"id\":\"call_" i "\",\"type\":\"function\",\"function\":{\"name\":\"" name "\",\"arguments\":\"" args "\"}}"
#define OC_MORE(i, args) "{\"index\":" i ",\"function\":{\"arguments\":\"" args "\"}}"
static void openai_side_by_side(void)
{
    side_by_side("openai-compatible",
        OC("\"reasoning\":\"Two\"") OC("\"tool_calls\":[" OC_NEW("0", "alpha", "") "]") OC("\"content\":\"I \"")
        OC("\"tool_calls\":[" OC_NEW("1", "beta", "{") "]") OC("\"tool_calls\":[" OC_MORE("0", "{\\\"x\\\"") "]") OC("\"content\":\"look\"")
        OC("\"tool_calls\":[" OC_NEW("2", "alpha", "{\\\"x\\\":") "," OC_MORE("1", "}") "," OC_MORE("0", ":1}") "]")
        OC("\"reasoning\":\"Hm\",\"content\":\".\"") OC("\"tool_calls\":[" OC_MORE("2", "3}") "]") SSE_FINISH("tool_calls") SSE_DONE,
        "REASONING_START a\nREASONING_DELTA a Two\nREASONING_END a Two\nINPUT_START b\n"
        "TEXT_START c\nTEXT_DELTA c I \nTEXT_END c I \nINPUT_START d\nINPUT_DELTA d {\nINPUT_DELTA b {\"x\"\n"
        "TEXT_START e\nTEXT_DELTA e look\nTEXT_END e look\nINPUT_START f\nINPUT_DELTA f {\"x\":\nINPUT_DELTA d }\nINPUT_DELTA b :1}\n"
        "REASONING_START g\nREASONING_DELTA g Hm\nREASONING_END g Hm\nTEXT_START h\nTEXT_DELTA h .\nINPUT_DELTA f 3}\nTEXT_END h .\n"
        "INPUT_END b {\"x\":1}\nINPUT_END d {}\nINPUT_END f {\"x\":3}\n"
        "TOOL_CALL b {\"x\":1}\nTOOL_CALL d {}\nTOOL_CALL f {\"x\":3}\n");
}
static void anthropic_side_by_side(void)
{
    side_by_side("anthropic",
        AN_BEGIN AN_START("0", "\"thinking\",\"thinking\":\"\"") AN_START("1", "\"text\",\"text\":\"\"") AN_THINK("0", "Two") AN_TEXT("1", "I ")
        AN_TOOL("2", "alpha") AN_THINK("0", " piers") AN_START("3", "\"text\",\"text\":\"Beside\"") AN_TOOL("4", "beta") AN_JSON("4", "{")
        AN_JSON("2", "{\\\"x\\\"") AN_TEXT("3", ".") AN_TEXT("1", "look") AN_JSON("4", "}") AN_STOP("4") AN_JSON("2", ":1}") AN_STOP("1")
        AN_STOP("2") AN_THINK("0", "?") AN_STOP("0") AN_STOP("3") AN_END("tool_use"),
        "REASONING_START a\nREASONING_DELTA a Two\nTEXT_START b\nTEXT_DELTA b I \nINPUT_START c\nREASONING_DELTA a  piers\n"
        "TEXT_START d\nTEXT_DELTA d Beside\nINPUT_START e\nINPUT_DELTA e {\nINPUT_DELTA c {\"x\"\nTEXT_DELTA d .\nTEXT_DELTA b look\n"
        "INPUT_DELTA e }\nINPUT_DELTA c :1}\nTEXT_END b I look\nREASONING_DELTA a ?\nREASONING_END a Two piers?\nTEXT_END d Beside.\n"
        "INPUT_END c {\"x\":1}\nINPUT_END e {}\nTOOL_CALL c {\"x\":1}\nTOOL_CALL e {}\n");
}
/* A stream that breaks ends every part that is open, in the order they began, and gives no call (wire-quirks A15).      */
static void broken_side_by_side(void)
{
    side_by_side("anthropic",
        AN_BEGIN AN_START("0", "\"thinking\",\"thinking\":\"Hm\"") AN_TOOL("1", "alpha") AN_JSON("1", "{}") AN_START("2", "\"text\",\"text\":\"So\""),
        "REASONING_START a\nREASONING_DELTA a Hm\nINPUT_START b\nINPUT_DELTA b {}\nTEXT_START c\nTEXT_DELTA c So\n"
        "REASONING_END a Hm\nINPUT_END b {}\nTEXT_END c So\n");
    side_by_side("openai-compatible",
        OC("\"reasoning\":\"Hm\"") OC("\"tool_calls\":[" OC_NEW("0", "alpha", "{}") "," OC_NEW("1", "beta", "{}") "]") OC("\"content\":\"So\""),
        "REASONING_START a\nREASONING_DELTA a Hm\nREASONING_END a Hm\nINPUT_START b\nINPUT_DELTA b {}\nINPUT_START c\nINPUT_DELTA c {}\n"
        "TEXT_START d\nTEXT_DELTA d So\nTEXT_END d So\nINPUT_END b {}\nINPUT_END c {}\n");
}

/* ---- requests ---- */
static const char *body_of(const host *h, size_t i) { return host_body(h, i).p; }
static int times(const char *text, const char *word)
{
    int n = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word)) n++;
    return n;
}
static host *talk(const char *provider, uint32_t dialect, agent_id *s, int steps)
{
    host *h = host_new(NULL, AGENT_VIA_HTTP, HOST_CUT_WHOLE);
    agent_peer_desc p;
    agent_session_desc d;
    memset(&p, 0, sizeof p);
    memset(&d, 0, sizeof d);
    p.provider = provider;
    p.key = "";
    p.url = "http://model.test/v1";
    p.dialect_on = dialect;
    d.peer = agent_peer_open(h->e, &p);
    d.system = "Be brief.";
    d.max_steps = (uint32_t)steps;
    *s = host_session(h, &d);
    return h;
}
/* A host that refuses stream_options can be told so (wire-quirks B6).                                                   */
static void no_stream_options(void)
{
    uint32_t with;
    for (with = 0; with < 2; with++) {
        agent_id s;
        host *h = talk("openai-compatible", with ? 0 : AGENT_DIALECT_NO_STREAM_OPTIONS, &s, 0);
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        host_run(h);
        CHECK(times(body_of(h, 0), "\"stream_options\":{\"include_usage\":true}") == (int)with && times(body_of(h, 0), "\"stream\":true") == 1);
        CHECK(h->outcome == AGENT_COMPLETED);
        host_free(h);
    }
}
/* A host that refuses a member is asked once more, the other way, and the peer remembers it (wire-quirks B6); never twice. */
static void refused_members(void)
{
#define REFUSES(word) "{\"error\":{\"message\":\"Unknown parameter: '" word "'.\",\"type\":\"invalid_request_error\"}}"
    static const struct { host_answer a[3]; const char *first, *then; int outcome; size_t requests; } rows[] = {
        { { { REFUSES("stream_options"), 400, NULL, 0, 0 }, { SSE_TEXT("Hi") SSE_STOP, 0, NULL, 0, 0 }, { SSE_TEXT("Yes") SSE_STOP, 0, NULL, 0, 0 } },
          "\"stream_options\"", "\"stream\":true", AGENT_COMPLETED, 3 },
        { { { REFUSES("stream_options"), 422, NULL, 0, 0 }, { REFUSES("stream_options"), 422, NULL, 0, 0 }, { SSE_TEXT("Yes") SSE_STOP, 0, NULL, 0, 0 } },
          "\"stream_options\"", "\"stream\":true", AGENT_FAILED, 3 },
        { { { REFUSES("max_tokens. Use max_completion_tokens"), 400, NULL, 0, 0 }, { SSE_TEXT("Hi") SSE_STOP, 0, NULL, 0, 0 },
            { SSE_TEXT("Yes") SSE_STOP, 0, NULL, 0, 0 } }, "\"max_tokens\":9", "\"max_completion_tokens\":9", AGENT_COMPLETED, 3 },
        { { { REFUSES("tools"), 400, NULL, 0, 0 }, { SSE_TEXT("Yes") SSE_STOP, 0, NULL, 0, 0 }, { NULL, 0, NULL, 0, 0 } },
          "\"stream_options\"", "\"stream_options\"", AGENT_FAILED, 2 },
        { { { REFUSES("stream_options"), 500, NULL, 0, 0 }, { SSE_TEXT("Yes") SSE_STOP, 0, NULL, 0, 0 }, { NULL, 0, NULL, 0, 0 } },
          "\"stream_options\"", "\"stream_options\"", AGENT_FAILED, 2 }
    };
    size_t i, k;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        agent_id s;
        host *h = talk("openai-compatible", 0, &s, 0);
        int again = rows[i].first != rows[i].then && strcmp(rows[i].first, rows[i].then) != 0;
        agent_session_set(h->e, s, "max_tokens", "9", AGENT_CSTR);
        host_answers(h, rows[i].a, 3);
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        host_run(h);
        CHECK(h->outcome == rows[i].outcome && h->count[AGENT_EV_RUN_END] == 1 && h->count[AGENT_EV_STEP_START] == 1);
        CHECK(h->count[AGENT_EV_WARNING] == (unsigned)again && h->request_n == 1 + (size_t)again);
        agent_say(h->e, s, "And?", AGENT_CSTR);
        host_run(h);
        CHECK(h->outcome == AGENT_COMPLETED && h->request_n == rows[i].requests);
        CHECK(strstr(body_of(h, 0), rows[i].first) != NULL);
        for (k = 1; k < h->request_n; k++) CHECK(strstr(body_of(h, k), rows[i].then) && (!again || !strstr(body_of(h, k), rows[i].first)));
        host_bodies_check(h);
        host_free(h);
    }
}
/* MiniMax takes one system message, also in the last step, when the engine has something to say (wire-quirks C25).       */
static void one_system_message(void)
{
    static const host_answer calls[] = { { SSE_CALL("0", "c1", "alpha", "{}") SSE_TOOLS, 0, NULL, 0, 0 }, { SSE_TEXT("Done.") SSE_STOP, 0, NULL, 0, 0 } };
    agent_id s;
    host *h = talk("openai-compatible", 0, &s, 2);
    size_t i;
    host_answers(h, calls, 2);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(h->request_n == 2);
    for (i = 0; i < h->request_n; i++)
        CHECK(times(body_of(h, i), "\"role\":\"system\"") == 1 && strstr(body_of(h, i), "\"messages\":[{\"role\":\"system\"") != NULL);
    host_bodies_check(h);
    host_free(h);
}
static agent_part part(int kind, const char *text)
{
    agent_part p;
    memset(&p, 0, sizeof p);
    p.kind = (uint16_t)kind;
    p.text.p = text;
    p.text.n = strlen(text);
    return p;
}
/* Anthropic refuses empty and blank text, and messages without content (wire-quirks E14).                               */
static void no_blank_text(void)
{
    agent_part p[3];
    agent_id s;
    host *h = talk("anthropic", 0, &s, 0);
    p[0] = part(AGENT_PART_TEXT, " \n");
    p[1] = part(AGENT_PART_TEXT, "Hi");
    CHECK(agent_message_add(h->e, s, AGENT_USER, p, 2) > 0);
    p[1] = part(AGENT_PART_TEXT, "\t");
    CHECK(agent_message_add(h->e, s, AGENT_MODEL, p, 2) > 0);
    CHECK(agent_message_add(h->e, s, AGENT_USER, p, 1) > 0);
    agent_say(h->e, s, "Well?", AGENT_CSTR);
    host_run(h);
    CHECK(strstr(body_of(h, 0), "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"},{\"type\":\"text\",\"text\":\"Well?\"}]}]"));
    host_free(h);
}
/* Signed thoughts go back to the byte and in their place (wire-quirks D5), before the call of their turn (wire-quirks D6), and not to
 * another model (wire-quirks D15).                                                                               */
static void thoughts(int same)
{
    static const host_answer a[] = {
        { AN_BEGIN AN_START("0", "\"thinking\",\"thinking\":\"\"") AN_THINK("0", " A\\u00e9\\n ") AN_ADD("0", "\"signature_delta\",\"signature\":\"QUJD/+==\"") AN_STOP("0")
          AN_START("1", "\"redacted_thinking\",\"data\":\"ZZ09\"") AN_STOP("1") AN_TOOL("2", "alpha") AN_STOP("2") AN_END("tool_use"), 0, NULL, 0, 0 },
        { AN_BEGIN AN_START("0", "\"thinking\",\"thinking\":\"\"") AN_ADD("0", "\"signature_delta\",\"signature\":\"REVG\"") AN_STOP("0")
          AN_START("1", "\"text\",\"text\":\"So.\"") AN_STOP("1") AN_END("end_turn"), 0, NULL, 0, 0 },
        { AN_BEGIN AN_START("0", "\"text\",\"text\":\"Well.\"") AN_STOP("0") AN_END("end_turn"), 0, NULL, 0, 0 }
    };
    static const char *const first = "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\" A\xC3\xA9\\n \",\"signature\":\"QUJD/+==\"},"
        "{\"type\":\"redacted_thinking\",\"data\":\"ZZ09\"},{\"type\":\"tool_use\"";
    static const char *const second = "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"REVG\"},{\"type\":\"text\",\"text\":\"So.\"";
    agent_id s;
    host *h = talk("anthropic", 0, &s, 0);
    host_answers(h, a, 3);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(h->request_n == 2 && strstr(body_of(h, 1), first) != NULL);
    if (!same) CHECK(agent_session_set(h->e, s, "model", "another", AGENT_CSTR) == AGENT_OK);
    agent_say(h->e, s, "And?", AGENT_CSTR);
    host_run(h);
    CHECK(h->request_n == 3 && h->outcome == AGENT_COMPLETED);
    CHECK((strstr(body_of(h, 2), first) != NULL) == same && (strstr(body_of(h, 2), second) != NULL) == same);
    CHECK(same || (!strstr(body_of(h, 2), "thinking") && strstr(body_of(h, 2), "So.") && (h->count[AGENT_EV_WARNING] > 0)));
    host_free(h);
}
/* What a host sent beside its thoughts and calls goes back in the member it came in, joined to what it means: wire-quirks D4, wire-quirks D12,
 * wire-quirks D13; to the same model only: wire-quirks D15.                                                             */
#define SSE_DETAIL(d) SSE_("{\"choices\":[{\"delta\":{\"reasoning_details\":[" d "]}}]}")
static void goes_back(const char *answer, const char *want)
{
    static const host_answer end = { SSE_TEXT("Well.") SSE_STOP, 0, NULL, 0, 0 };
    int same;
    for (same = 0; same < 2; same++) {
        host_answer a[3];
        agent_id s;
        host *h = talk("openai-compatible", 0, &s, 0);
        memset(a, 0, sizeof a);
        a[0].body = answer;
        a[1] = a[2] = end;
        h->name = want;
        host_answers(h, a, 3);
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        host_run(h);
        if (!same) CHECK(agent_session_set(h->e, s, "model", "another", AGENT_CSTR) == AGENT_OK);
        agent_say(h->e, s, "And?", AGENT_CSTR);
        host_run(h);
        HOST_CHECK(h, h->outcome == AGENT_COMPLETED && (strstr(body_of(h, h->request_n - 1), want) != NULL) == same);
        HOST_CHECK(h, (h->count[AGENT_EV_WARNING] > 0) == !same);
        host_free(h);
    }
}
static void replay(void)
{
    goes_back(SSE_DETAIL("{\"type\":\"reasoning.text\",\"text\":\"A\",\"format\":\"f1\",\"index\":0}")
        SSE_DETAIL("{\"type\":\"reasoning.text\",\"text\":\"\\u00e9!\",\"format\":\"f1\",\"index\":0}")
        SSE_DETAIL("{\"type\":\"reasoning.text\",\"signature\":\"QUJD\",\"format\":\"f1\",\"index\":0}") SSE_TEXT("So.") SSE_STOP,
        "\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"A\xC3\xA9!\",\"signature\":\"QUJD\",\"format\":\"f1\",\"index\":0}]");
    goes_back(SSE_DETAIL("{\"type\":\"reasoning.summary\",\"summary\":\"One\",\"index\":0}")
        SSE_DETAIL("{\"type\":\"reasoning.summary\",\"summary\":\"Two\",\"index\":1}")
        SSE_DETAIL("{\"type\":\"reasoning.encrypted\",\"data\":\"ZZ==\",\"id\":\"rs_1\",\"index\":1}") SSE_CALL("0", "c1", "alpha", "{}") SSE_TOOLS,
        "\"reasoning_details\":[{\"type\":\"reasoning.summary\",\"summary\":\"One\",\"index\":0},{\"type\":\"reasoning.summary\",\"summary\":\"Two\",\"index\":1},"
        "{\"type\":\"reasoning.encrypted\",\"data\":\"ZZ==\",\"id\":\"rs_1\",\"index\":1}]");
    goes_back(SSE_("{\"choices\":[{\"delta\":{\"reasoning_text\":\"Hm\"}}]}") SSE_CALL("0", "c1", "alpha", "{}")
        SSE_("{\"choices\":[{\"delta\":{\"reasoning_opaque\":\"op/aq+ue\"},\"finish_reason\":\"tool_calls\"}]}") SSE_DONE,
        "\"reasoning_opaque\":\"op/aq+ue\",\"reasoning_text\":\"Hm\"");
    goes_back(SSE_("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"extra_content\":{\"google\":{\"thought_signature\":\"sig\"}},"
        "\"function\":{\"name\":\"alpha\",\"arguments\":\"{}\"}}]}}]}") SSE_TOOLS,
        "\"arguments\":\"{}\"},\"extra_content\":{\"google\":{\"thought_signature\":\"sig\"}}}");
}
/* Hosts that refuse an assistant message without the thoughts of its turn (wire-quirks D1); others get none (wire-quirks D2, wire-quirks D14). */
static void reasoning_content(int dialect)
{
    static const host_answer a[] = { { SSE_THINK("Hm") SSE_THINK("!") SSE_TEXT("So.") SSE_STOP, 0, NULL, 0, 0 }, { SSE_TEXT("Well.") SSE_STOP, 0, NULL, 0, 0 },
        { SSE_TEXT("Bye.") SSE_STOP, 0, NULL, 0, 0 } };
    agent_id s;
    int i;
    host *h = talk("openai-compatible", dialect ? AGENT_DIALECT_REASONING_CONTENT : 0, &s, 0);
    host_answers(h, a, 3);
    for (i = 0; i < 3; i++) {
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        host_run(h);
    }
    CHECK(times(body_of(h, 2), "{\"role\":\"assistant\",\"content\":\"So.\",\"reasoning_content\":\"Hm!\"}") == dialect);
    CHECK(times(body_of(h, 2), "{\"role\":\"assistant\",\"content\":\"Well.\",\"reasoning_content\":\"\"}") == dialect);
    CHECK(times(body_of(h, 2), "Hm!") == dialect);
    host_free(h);
}
/* DeepSeek refuses a forced choice (wire-quirks C26). Mistral takes ids of nine letters and digits only, the same for call and result
 * (wire-quirks C20), says `any` and `random_seed`, and wants an assistant between results and the user.                    */
static void choice_and_ids(void)
{
    static const host_answer a[] = { { SSE_CALL("0", "call_77", "alpha", "{}") SSE_CALL("1", "abcDEF123", "beta", "{}") SSE_TOOLS, 0, NULL, 0, 0 },
        { SSE_TEXT("Well.") SSE_STOP, 0, NULL, 0, 0 } };
    agent_id s;
    const char *id;
    char pair[64];
    host *h = talk("openai-compatible", AGENT_DIALECT_NO_FORCED_CHOICE, &s, 0);
    agent_session_set(h->e, s, "tool_choice", "required", AGENT_CSTR);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(!strstr(body_of(h, 0), "tool_choice") && h->count[AGENT_EV_WARNING] == 1);
    host_free(h);

    h = talk("openai-compatible", AGENT_DIALECT_MISTRAL, &s, 0);         /* any tool instead of one, and not silently        */
    agent_session_set(h->e, s, "tool_choice", "alpha", AGENT_CSTR);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(strstr(body_of(h, 0), "\"tool_choice\":\"any\"") && h->count[AGENT_EV_WARNING] == 1);
    host_free(h);

    h = talk("openai-compatible", AGENT_DIALECT_MISTRAL, &s, 2);
    agent_session_set(h->e, s, "tool_choice", "required", AGENT_CSTR);
    agent_session_set(h->e, s, "seed", "7", AGENT_CSTR);
    host_answers(h, a, 2);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(strstr(body_of(h, 0), "\"tool_choice\":\"any\"") && strstr(body_of(h, 0), "\"random_seed\":7"));
    id = strstr(body_of(h, 1), "\"tool_calls\":[{\"id\":\"");
    CHECK(id != NULL && strlen(id) > 40 && id[30] == '"' && !strstr(body_of(h, 1), "call_77"));
    if (id) {
        sprintf(pair, "\"tool_call_id\":\"%.9s\"", id + 21);
        CHECK(times(body_of(h, 1), pair) == 1 && times(body_of(h, 1), "\"abcDEF123\"") == 2);
    }
    CHECK(strstr(body_of(h, 1), "{\"role\":\"assistant\",\"content\":\"Done.\"},{\"role\":\"user\"") != NULL);    /* the note of the last step */
    host_free(h);
}
/* Ids of another provider are made fit for Anthropic, the same in call and result (wire-quirks C21). Hosts that give no signature want
 * the thoughts back all the same (wire-quirks D3).                                                                      */
static void foreign_history(int dialect)
{
    agent_part p[2];
    agent_id s;
    host *h = talk("anthropic", dialect ? AGENT_DIALECT_UNSIGNED_THINKING : 0, &s, 0);
    p[0] = part(AGENT_PART_TEXT, "Hi");
    CHECK(agent_message_add(h->e, s, AGENT_USER, p, 1) > 0);
    p[0] = part(AGENT_PART_REASONING, "Hm");
    p[1] = part(AGENT_PART_CALL, "{}");
    p[1].name = part(0, "alpha").text;
    p[1].wire_id = part(0, "functions.alpha:0").text;
    CHECK(agent_message_add(h->e, s, AGENT_MODEL, p, 2) > 0);
    p[0] = part(AGENT_PART_RESULT, "done");
    p[0].wire_id = p[1].wire_id;
    CHECK(agent_message_add(h->e, s, AGENT_TOOLS, p, 1) > 0);
    CHECK(agent_submit(h->e, s, NULL, 0, AGENT_QUEUE) > 0);
    host_run(h);
    CHECK(times(body_of(h, 0), "\"id\":\"functions_alpha_0bde519ce\"") == 1 && times(body_of(h, 0), "\"tool_use_id\":\"functions_alpha_0bde519ce\"") == 1);
    CHECK(times(body_of(h, 0), "{\"type\":\"thinking\",\"thinking\":\"Hm\"}") == dialect);
    host_free(h);
}
/* What a host hands in as data is not believed: a Gemini signature, say, must not spoil the JSON of another format.      */
static void foreign_data(const char *provider, const char *data)
{
    agent_part p[2];
    agent_id s;
    host *h = talk(provider, 0, &s, 0);
    h->name = data;
    p[0] = part(AGENT_PART_TEXT, "Hi");
    CHECK(agent_message_add(h->e, s, AGENT_USER, p, 1) > 0);
    p[0].data = part(0, data).text;
    p[1] = part(AGENT_PART_CALL, "{}");
    p[1].name = part(0, "alpha").text;
    p[1].wire_id = part(0, "c1").text;
    p[1].data = p[0].data;
    CHECK(agent_message_add(h->e, s, AGENT_MODEL, p, 2) > 0);
    p[0] = part(AGENT_PART_RESULT, "done");
    p[0].wire_id = p[1].wire_id;
    CHECK(agent_message_add(h->e, s, AGENT_TOOLS, p, 1) > 0);
    CHECK(agent_submit(h->e, s, NULL, 0, AGENT_QUEUE) > 0);
    host_run(h);
    HOST_CHECK(h, agent_json_check(body_of(h, 0), strlen(body_of(h, 0)), 0, NULL) == AGENT_OK && !strstr(body_of(h, 0), "QUJD"));
    host_free(h);
}
/* A result of the provider's whose call nobody knows is shown, and stays here: it would be refused for ever.            */
static void orphan_result(void)
{
    static const host_answer a[] = {
        { AN_BEGIN AN_START("0", "\"web_search_tool_result\",\"tool_use_id\":\"srvtoolu_zz\",\"content\":[]") AN_STOP("0")
          AN_START("1", "\"text\",\"text\":\"So.\"") AN_STOP("1") AN_END("end_turn"), 0, NULL, 0, 0 },
        { AN_BEGIN AN_START("0", "\"text\",\"text\":\"Well.\"") AN_STOP("0") AN_END("end_turn"), 0, NULL, 0, 0 }
    };
    agent_id s;
    host *h = talk("anthropic", 0, &s, 0);
    host_answers(h, a, 2);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(h->count[AGENT_EV_CUSTOM] == 1);
    agent_say(h->e, s, "And?", AGENT_CSTR);
    host_run(h);
    CHECK(strstr(body_of(h, 1), "So.") && !strstr(body_of(h, 1), "srvtoolu_zz"));
    host_free(h);
}
/* Objects that are as many calls (wire-quirks C17): without memory it is all of them, or one call that is not run.       */
static const char *split_want;
static int split_note(host *h, const agent_event *ev)
{
    agent_str t = ev->text;
    if (ev->type != AGENT_EV_TOOL_CALL) return 0;
    HOST_CHECK(h, ev->flags & AGENT_EVF_SALVAGED ? t.n == strlen(split_want) : t.n == 7 && t.p[0] == '{' && strstr(split_want, t.p));
    return 0;
}
static void split_without_memory(void)
{
    static const host_answer a[] = { { SSE_CALL("0", "c1", "alpha", "{\\\"x\\\":1}{\\\"x\\\":2}{\\\"x\\\":3}") SSE_TOOLS, 0, NULL, 0, 0 } };
    host_heap heap;
    long at, calls = 1;
    unsigned whole = 0;
    split_want = "{\"x\":1}{\"x\":2}{\"x\":3}";
    for (at = 0; at <= calls; at++) {
        agent_desc d;
        agent_id conn;
        host *h;
        const agent_event *ev;
        unsigned told = 0, salvaged = 0;
        memset(&heap, 0, sizeof heap);
        memset(&d, 0, sizeof d);
        d.alloc = host_alloc;
        d.alloc_ctx = &heap;
        heap.fail_at = at;
        h = host_new(&d, AGENT_VIA_HTTP, HOST_CUT_WHOLE);
        conn = h->e ? agent_decode(h->e, "openai-chat", AGENT_VIA_HTTP, NULL) : 0;
        if (conn && agent_feed(h->e, conn, a[0].body, strlen(a[0].body), NULL) == AGENT_OK && agent_eof(h->e, conn) == AGENT_OK)
            while ((ev = agent_next(h->e)) != NULL) {
                split_note(h, ev);
                told += ev->type == AGENT_EV_TOOL_CALL;
                salvaged += ev->type == AGENT_EV_TOOL_CALL && (ev->flags & AGENT_EVF_SALVAGED);
            }
        CHECK(told == 0 || told == 3 || (told == 1 && salvaged == 1));
        whole += told == 3;
        if (at == 0) calls = heap.calls;
        host_free(h);
    }
    CHECK(whole > 0);
}
int main(void)
{
    openai_side_by_side();
    anthropic_side_by_side();
    broken_side_by_side();
    no_stream_options();
    refused_members();
    one_system_message();
    no_blank_text();
    thoughts(1);
    thoughts(0);
    replay();
    reasoning_content(0);
    reasoning_content(1);
    choice_and_ids();
    foreign_history(0);
    foreign_history(1);
    foreign_data("anthropic", "QUJD=");
    foreign_data("openai-compatible", "QUJD=");
    foreign_data("openai-compatible", "{\"a\":\"QUJD\"},{}");
    orphan_result();
    split_without_memory();
    return test_end("dialects");
}
