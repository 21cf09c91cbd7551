/* Requests to Bedrock: Converse, and InvokeModel with Anthropic's messages. Options, history, what goes back of an answer. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"
#include "frames.h"

static char body[1 << 16], url[1 << 10], accepts[1 << 8], warned[1 << 10];
typedef struct ask { agent_engine *e; agent_id session, conn; } ask;
static const agent_tool tools[] = { { "look", "Looks.", "{\"type\":\"object\",\"properties\":{}}", 0, 0, NULL }, { "go", "", NULL, 0, 0, NULL } };
static const agent_tool grounding[] = { { "nova_grounding", NULL, "{\"systemTool\":{\"name\":\"nova_grounding\"}}", AGENT_TF_RAW, 0, NULL } };
static const char claude[] = "us.anthropic.claude-sonnet-4-5-20250929-v1:0", converse[] = "amazon-bedrock", invoke[] = "amazon-bedrock-invoke";

static ask open_ask(const char *provider, const char *model, const char *body_json, const agent_tool *list, size_t n, uint32_t flags)
{
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    ask a;
    if (agent_open(&a.e, &d) != AGENT_OK) exit(2);
    p.provider = provider;
    p.url = "https://bedrock-runtime.us-east-1.amazonaws.com";
    p.key = "k";
    p.body_json = body_json;
    s.peer = agent_peer_open(a.e, &p);
    s.model = model;
    s.system = "Be brief.";
    s.tools = list;
    s.tool_count = n;
    s.flags = flags;
    s.max_steps = 2;
    s.max_retries = AGENT_OFF;
    a.session = agent_session_open(a.e, &s);
    a.conn = 0;
    CHECK(a.session != 0);
    return a;
}
static void set(ask *a, const char *key, const char *value) { CHECK_CASE(agent_session_set(a->e, a->session, key, value, AGENT_CSTR) == AGENT_OK, key); }
/* Until the next request, whose body is taken; calls of tools are answered, those of `go` with an error.                   */
static void pump(ask *a)
{
    const agent_event *ev;
    const void *p;
    size_t n, at = 0, i;
    agent_str name, value;
    a->conn = 0;
    warned[0] = body[0] = 0;
    while ((ev = agent_next(a->e)) != NULL) {
        if (ev->type == AGENT_EV_OPEN) { a->conn = ev->conn; sprintf(url, "%.900s", ev->u.open.url.p); }
        if (ev->type == AGENT_EV_WARNING) sprintf(warned + strlen(warned), "%.40s ", ev->name.n ? ev->name.p : "-");
        if (ev->type != AGENT_EV_TOOL_RUN) continue;
        if (strcmp(ev->name.p, "look") == 0) agent_tool_result(a->e, a->session, ev->call, "out", AGENT_CSTR);
        else { agent_tool_append(a->e, a->session, ev->call, " ", 1); agent_tool_done(a->e, a->session, ev->call, AGENT_DONE_ERROR); }
    }
    if (a->conn == 0) return;
    agent_opened(a->e, a->conn, AGENT_VIA_HTTP, NULL);
    for (i = 0; agent_open_header(a->e, a->conn, i, &name, &value) == AGENT_OK; i++) if (!strcmp(name.p, "accept")) sprintf(accepts, "%.200s", value.p);
    while ((p = agent_send_buf(a->e, a->conn, &n)) != NULL && at + n < sizeof body) {
        memcpy(body + at, p, n);
        at += n;
        agent_send_ack(a->e, a->conn, n);
    }
    body[at] = 0;
    CHECK_CASE(agent_json_check(body, at, 0, NULL) == AGENT_OK, body);
}
static void say(ask *a, const char *text)
{
    if (text) agent_say(a->e, a->session, text, AGENT_CSTR);
    pump(a);
}
static void answer(ask *a, const char *lines, int wrap)       /* lines of frames.h, then what is sent next              */
{
    frames_buf b = { NULL, 0, 0 };
    frames_text(&b, lines, strlen(lines), wrap);
    agent_feed(a->e, a->conn, b.p, b.n, NULL);
    agent_eof(a->e, a->conn);
    free(b.p);
    pump(a);
}
static void broken(ask *a) { agent_failed(a->e, a->conn, AGENT_FAIL_RESET, NULL, 0); pump(a); }
static void is(const char *want)
{
    CHECK_CASE(strcmp(body, want) == 0, want);
    if (strcmp(body, want) != 0) fprintf(stderr, "---- sent\n%s\n", body);
}
static void has(const char *want) { CHECK_CASE(strstr(body, want) != NULL, want); if (!strstr(body, want)) fprintf(stderr, "---- sent\n%s\n", body); }
static void lacks(const char *word) { CHECK_CASE(strstr(body, word) == NULL, word); }

#define STOP "event messageStop {\"stopReason\":\"end_turn\"}\nevent metadata {\"usage\":{}}\n"
#define BEGIN "{\"system\":[{\"text\":\"Be brief.\"}],\"messages\":["
static void test_plain(void)
{
    ask a = open_ask(converse, "amazon.nova-lite-v1:0", NULL, NULL, 0, 0);
    say(&a, "Hi \"you\"");
    is(BEGIN "{\"role\":\"user\",\"content\":[{\"text\":\"Hi \\\"you\\\"\"}]}]}");
    CHECK_CASE(strcmp(url, "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse-stream") == 0, url);
    CHECK_CASE(strcmp(accepts, "application/vnd.amazon.eventstream, application/json") == 0, accepts);
    answer(&a, "event contentBlockDelta {\"contentBlockIndex\":0,\"delta\":{\"text\":\"Ho.\"}}\n" STOP, 0);
    CHECK(a.conn == 0);
    say(&a, " ");                             /* blank texts are refused: it is as if it were not there                 */
    is(BEGIN "{\"role\":\"user\",\"content\":[{\"text\":\"Hi \\\"you\\\"\"}]},{\"role\":\"assistant\",\"content\":[{\"text\":\"Ho.\"}]}]}");
    agent_close(a.e);
    a = open_ask(converse, "a/b c", NULL, NULL, 0, AGENT_S_NO_STREAM);
    say(&a, "Hi");
    CHECK_CASE(strcmp(url, "https://bedrock-runtime.us-east-1.amazonaws.com/model/a%2Fb%20c/converse") == 0, url);
    CHECK_CASE(strcmp(accepts, "application/json") == 0, accepts);
    agent_close(a.e);
}
static void test_options(void)
{
    ask a = open_ask(converse, claude, "{\"guardrailConfig\":{\"guardrailIdentifier\":\"g\"},\"serviceTier\":{\"type\":\"flex\"}}", tools, 2, 0);
    set(&a, "max_tokens", "100");
    set(&a, "temperature", "0.20");
    set(&a, "top_p", "1e-1");
    set(&a, "stop", "[\"a\",\"b\"]");
    set(&a, "tool_choice", "look");
    set(&a, "parallel_tool_calls", "false");
    set(&a, "seed", "1");
    say(&a, "Hi");
    is("{\"inferenceConfig\":{\"maxTokens\":100,\"temperature\":0.20,\"topP\":1e-1,\"stopSequences\":[\"a\",\"b\"]},\"system\":[{\"text\":\"Be brief.\"}],"
       "\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"Hi\"}]}],\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"look\",\"description\":\"Looks.\","
       "\"inputSchema\":{\"json\":{\"type\":\"object\",\"properties\":{}}}}},{\"toolSpec\":{\"name\":\"go\",\"inputSchema\":{\"json\":{\"type\":\"object\"}}}}],"
       "\"toolChoice\":{\"tool\":{\"name\":\"look\"}}},\"guardrailConfig\":{\"guardrailIdentifier\":\"g\"},\"serviceTier\":{\"type\":\"flex\"}}");
    CHECK_CASE(strcmp(warned, "seed parallel_tool_calls ") == 0, warned);
    agent_close(a.e);
}
static void test_thinking(void)
{
    static const struct { const char *model, *budget, *effort, *limit, *want, *warned; } rows[] = {
        { claude, "1024", NULL, NULL, "{\"additionalModelRequestFields\":{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024}},\"system\"", "" },
        { claude, "1024", NULL, "100", "{\"inferenceConfig\":{\"maxTokens\":1124},\"additional", "" },
        { claude, "0", NULL, NULL, "{\"additionalModelRequestFields\":{\"thinking\":{\"type\":\"disabled\"}},\"system\"", "" },
        { claude, "adaptive", "low", NULL, "Fields\":{\"thinking\":{\"type\":\"adaptive\"},\"output_config\":{\"effort\":\"low\"}},\"system\"", "" },
        { "us.amazon.nova-2-lite-v1:0", "1024", "low", NULL, "{\"additionalModelRequestFields\":{\"reasoningConfig\":{\"type\":\"enabled\",\"maxReasoningEffort\":\"low\"}},\"system\"", "thinking_budget " },
        { "us.amazon.nova-2-lite-v1:0", "1024", NULL, NULL, "{\"system\"", "thinking_budget " },
        { "openai.gpt-oss-120b-1:0", NULL, "medium", NULL, "{\"additionalModelRequestFields\":{\"reasoning_effort\":\"medium\"},\"system\"", "" },
        { "qwen.qwen3-32b-v1:0", NULL, "high", NULL, "{\"additionalModelRequestFields\":{\"reasoning_config\":\"high\"},\"system\"", "" }
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        ask a = open_ask(converse, rows[i].model, NULL, NULL, 0, 0);
        if (rows[i].budget) set(&a, "thinking_budget", rows[i].budget);
        if (rows[i].effort) set(&a, "reasoning_effort", rows[i].effort);
        if (rows[i].limit) set(&a, "max_tokens", rows[i].limit);
        say(&a, "Hi");
        has(rows[i].want);
        CHECK_CASE(strcmp(warned, rows[i].warned) == 0, warned);
        agent_close(a.e);
    }
}
/* Beside thinking a temperature and a forced choice are refused; so is a choice of no tool, always.                     */
static void test_left_out(void)
{
    static const struct { const char *fields, *key, *value, *lacks, *has; int warns; } rows[] = {
        { "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024}", "temperature", "0.5", "temperature", "budget_tokens", 1 },
        { "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024}", "tool_choice", "required", "toolChoice", "toolSpec", 1 },
        { "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024}", "tool_choice", "auto", "any", "\"toolChoice\":{\"auto\":{}}", 0 },
        { "\"thinking\":{\"type\":\"disabled\"}", "temperature", "0.5", "budget", "\"temperature\":0.5", 0 },
        { "\"x\":1", "tool_choice", "required", "auto", "\"toolChoice\":{\"any\":{}}", 0 },
        { "\"x\":1", "tool_choice", "none", "toolChoice", "toolSpec", 1 }, { "\"x\":1", "presence_penalty", "1", "presence", "\"x\":1", 1 }
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        char extra[200], want[60];
        ask a;
        sprintf(extra, "{\"additionalModelRequestFields\":{%s}}", rows[i].fields);
        sprintf(want, rows[i].warns ? "%s " : "", rows[i].key);
        a = open_ask(converse, claude, extra, tools, 1, 0);
        set(&a, rows[i].key, rows[i].value);
        say(&a, "Hi");
        lacks(rows[i].lacks);
        has(rows[i].has);
        has("]}]");
        CHECK_CASE(strcmp(warned, want) == 0, warned);
        agent_close(a.e);
    }
}
/* What the host gives replaces what we would write.                                                                    */
static void test_replaced(void)
{
    ask a = open_ask(converse, claude, "{\"inferenceConfig\":{\"maxTokens\":7},\"system\":[],\"toolConfig\":{\"tools\":[]}}", tools, 2, 0);
    set(&a, "max_tokens", "100");
    set(&a, "tool_choice", "look");
    say(&a, "Hi");
    is("{\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"Hi\"}]}],\"inferenceConfig\":{\"maxTokens\":7},\"system\":[],\"toolConfig\":{\"tools\":[]}}");
    agent_close(a.e);
}
#define CALLS "event contentBlockDelta {\"contentBlockIndex\":0,\"delta\":{\"reasoningContent\":{\"text\":\"Hm.\"}}}\n" \
    "event contentBlockDelta {\"contentBlockIndex\":0,\"delta\":{\"reasoningContent\":{\"signature\":\"U0lH\"}}}\nevent contentBlockStop {\"contentBlockIndex\":0}\n" \
    "event contentBlockDelta {\"contentBlockIndex\":1,\"delta\":{\"reasoningContent\":{\"redactedContent\":\"c2U=\"}}}\n" \
    "event contentBlockDelta {\"contentBlockIndex\":1,\"delta\":{\"reasoningContent\":{\"redactedContent\":\"Y3JldA==\"}}}\nevent contentBlockStop {\"contentBlockIndex\":1}\n" \
    "event contentBlockStart {\"contentBlockIndex\":2,\"start\":{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":\"nova_grounding\",\"type\":\"server_tool_use\"}}}\n" \
    "event contentBlockDelta {\"contentBlockIndex\":2,\"delta\":{\"toolUse\":{\"input\":\"{\\\"query\\\":\\\"tide\\\"}\"}}}\nevent contentBlockStop {\"contentBlockIndex\":2}\n" \
    "event contentBlockStart {\"contentBlockIndex\":3,\"start\":{\"toolResult\":{\"toolUseId\":\"t1\",\"type\":\"nova_grounding_result\",\"status\":\"success\"}}}\n" \
    "event contentBlockDelta {\"contentBlockIndex\":3,\"delta\":{\"toolResult\":[{\"text\":\"[HIDDEN]\"}]}}\nevent contentBlockStop {\"contentBlockIndex\":3}\n" \
    "event contentBlockDelta {\"contentBlockIndex\":4,\"delta\":{\"text\":\"I look.\"}}\nevent contentBlockStop {\"contentBlockIndex\":4}\n" \
    "event contentBlockStart {\"contentBlockIndex\":5,\"start\":{\"toolUse\":{\"toolUseId\":\"c:1\",\"name\":\"look\"}}}\n" \
    "event contentBlockDelta {\"contentBlockIndex\":5,\"delta\":{\"toolUse\":{\"input\":\"{\\\"at\\\":1}\"}}}\nevent contentBlockStop {\"contentBlockIndex\":5}\n" \
    "event contentBlockStart {\"contentBlockIndex\":6,\"start\":{\"toolUse\":{\"toolUseId\":\"0123456789012345678901234567890123456789012345678901234567890123456789\",\"name\":\"go\"}}}\n" \
    "event contentBlockStop {\"contentBlockIndex\":6}\n" "event messageStop {\"stopReason\":\"tool_use\"}\nevent metadata {\"usage\":{}}\n"
#define THOUGHT "{\"reasoningContent\":{\"reasoningText\":{\"text\":\"Hm.\",\"signature\":\"U0lH\"}}},{\"reasoningContent\":{\"redactedContent\":\"c2VjcmV0\"}}," \
    "{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":\"nova_grounding\",\"type\":\"server_tool_use\",\"input\":{\"query\":\"tide\"}}}," \
    "{\"toolResult\":{\"toolUseId\":\"t1\",\"type\":\"nova_grounding_result\",\"status\":\"success\",\"content\":[{\"text\":\"[HIDDEN]\"}]}},"
#define CALLED "{\"text\":\"I look.\"},{\"toolUse\":{\"toolUseId\":\"c_1\",\"name\":\"look\",\"input\":{\"at\":1}}}," \
    "{\"toolUse\":{\"toolUseId\":\"6789012345678901234567890123456789012345678901234567890123456789\",\"name\":\"go\",\"input\":{}}}]}," \
    "{\"role\":\"user\",\"content\":[{\"toolResult\":{\"toolUseId\":\"c_1\",\"content\":[{\"text\":\"out\"}]}}," \
    "{\"toolResult\":{\"toolUseId\":\"6789012345678901234567890123456789012345678901234567890123456789\",\"content\":[{\"text\":\"(no output)\"}],\"status\":\"error\"}}"
#define TOOLS ",\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"look\",\"description\":\"Looks.\",\"inputSchema\":{\"json\":{\"type\":\"object\",\"properties\":{}}}}}," \
    "{\"toolSpec\":{\"name\":\"go\",\"inputSchema\":{\"json\":{\"type\":\"object\"}}}}]}}"
/* What the model thought goes back to it, with its calls and their results; not to another model. Without tools a history that has
 * calls is refused (wire-quirks H12), and so is an empty description, and content that is an empty list.                */
static void test_history(void)
{
    ask a = open_ask(converse, claude, NULL, tools, 2, 0);
    set(&a, "tool_choice", "required");       /* only the first step is forced                                          */
    say(&a, "Hi");
    has("\"toolChoice\":{\"any\":{}}}}");
    answer(&a, CALLS, 0);
    is(BEGIN "{\"role\":\"user\",\"content\":[{\"text\":\"Hi\"}]},{\"role\":\"assistant\",\"content\":[" THOUGHT CALLED
       ",{\"text\":\"The limit of steps is reached. Call no more tools. Say in text what is done, what remains and what should come next.\"}]}]" TOOLS);
    broken(&a);
    agent_session_tools(a.e, a.session, NULL, 0);
    say(&a, "And?");
    has("]}},{\"toolResult\":{\"toolUseId\":\"6789");
    has("\"status\":\"error\"}},{\"text\":\"And?\"}]}],\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"none\",\"description\":\"There are no tools.\","
        "\"inputSchema\":{\"json\":{\"type\":\"object\"}}}}]}}");
    broken(&a);
    set(&a, "model", "amazon.nova-lite-v1:0");
    say(&a, "So?");
    lacks("reasoningContent");
    lacks("nova_grounding");
    has("{\"role\":\"assistant\",\"content\":[" CALLED ",{\"text\":\"And?\"},{\"text\":\"So?\"}]}]");
    CHECK_CASE(strcmp(warned, "- ") == 0, warned);
    agent_close(a.e);
}
static void test_raw_tools(void)
{
    ask a = open_ask(converse, "us.amazon.nova-2-lite-v1:0", NULL, grounding, 1, 0);
    say(&a, "Hi");
    is(BEGIN "{\"role\":\"user\",\"content\":[{\"text\":\"Hi\"}]}],\"toolConfig\":{\"tools\":[{\"systemTool\":{\"name\":\"nova_grounding\"}}]}}");
    agent_close(a.e);
}
static agent_str str(const char *p) { agent_str s; s.p = p; s.n = p ? strlen(p) : 0; return s; }
static void test_files(void)
{
    static const struct { int kind, flags; const char *text, *name, *mime, *uri, *want; } rows[] = {
        { AGENT_PART_IMAGE, AGENT_PART_BASE64, "iVBORw==", NULL, "image/png", NULL, "{\"image\":{\"format\":\"png\",\"source\":{\"bytes\":\"iVBORw==\"}}}" },
        { AGENT_PART_IMAGE, 0, NULL, NULL, "image/jpeg", "s3://b/k.jpg", "{\"image\":{\"format\":\"jpeg\",\"source\":{\"s3Location\":{\"uri\":\"s3://b/k.jpg\"}}}}" },
        { AGENT_PART_IMAGE, 0, NULL, NULL, "image/png", "https://a.test/x.png", "{\"text\":\"[not sent: an image, image/png]\"}" },
        { AGENT_PART_IMAGE, AGENT_PART_BASE64, "Qk0=", NULL, "image/bmp", NULL, "{\"text\":\"[not sent: an image, image/bmp]\"}" },
        { AGENT_PART_AUDIO, AGENT_PART_BASE64, "SUQz", NULL, "audio/mpeg", NULL, "{\"text\":\"[not sent: audio, audio/mpeg]\"}" },
        { AGENT_PART_FILE, AGENT_PART_BASE64, "JVBE", "the \"tides\".pdf", "application/pdf", NULL,
          "{\"document\":{\"format\":\"pdf\",\"name\":\"the--tides--pdf (2)\",\"source\":{\"bytes\":\"JVBE\"}}}" },
        { AGENT_PART_FILE, 0, "a,b", "[t] (1).csv", "text/csv", NULL, "{\"document\":{\"format\":\"csv\",\"name\":\"[t]-(1)-csv (2)\",\"source\":{\"bytes\":\"YSxi\"}}}" },
        { AGENT_PART_FILE, 0, "int", NULL, "text/x-c", NULL, "{\"document\":{\"format\":\"txt\",\"name\":\"document (2)\",\"source\":{\"bytes\":\"aW50\"}}}" },
        { AGENT_PART_FILE, AGENT_PART_BASE64, "AQI=", "x.bin", "application/octet-stream", NULL, "{\"text\":\"[not sent: a file named x.bin, application/octet-stream]\"}" }
    };
    agent_part p[2];
    size_t i;
    ask a;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        char want[400];
        memset(p, 0, sizeof p);
        p[0].text = str("Look:");
        p[1].kind = (uint16_t)rows[i].kind;
        p[1].flags = (uint16_t)rows[i].flags;
        p[1].text = str(rows[i].text);
        p[1].name = str(rows[i].name);
        p[1].mime = str(rows[i].mime);
        p[1].uri = str(rows[i].uri);
        a = open_ask(converse, claude, NULL, NULL, 0, 0);
        CHECK(agent_submit(a.e, a.session, p, 2, AGENT_QUEUE) > 0);
        say(&a, NULL);
        sprintf(want, BEGIN "{\"role\":\"user\",\"content\":[{\"text\":\"Look:\"},%s]}]}", rows[i].want);
        is(want);
        CHECK_CASE(strcmp(warned, strstr(rows[i].want, "not sent") ? "- " : "") == 0, rows[i].want);
        broken(&a);
        CHECK(agent_submit(a.e, a.session, p + 1, 1, AGENT_QUEUE) > 0);             /* a document needs a text beside it  */
        say(&a, NULL);
        if (rows[i].kind == AGENT_PART_FILE) has(",{\"text\":\"See the document.\"},{");
        else lacks("See the document.");
        agent_close(a.e);
    }
}
#define POINT "{\"cachePoint\":{\"type\":\"default\"}}"
#define HOUR "{\"cachePoint\":{\"type\":\"default\",\"ttl\":\"1h\"}}"
static void test_cache(void)
{
    ask a = open_ask(converse, claude, NULL, NULL, 0, 0);
    agent_part p;
    int i;
    memset(&p, 0, sizeof p);
    p.text = str("Hi");
    p.flags = AGENT_PART_CACHE;
    for (i = 1; i <= 5; i++) {
        CHECK(agent_submit(a.e, a.session, &p, 1, AGENT_QUEUE) > 0);
        say(&a, NULL);
        CHECK_CASE(strcmp(warned, i > 4 ? "- " : "") == 0, warned);
        broken(&a);
    }
    set(&a, "prompt_cache", "1h");
    say(&a, "And?");
    is("{\"system\":[{\"text\":\"Be brief.\"}," HOUR "],\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"Hi\"}," HOUR ",{\"text\":\"Hi\"}," HOUR
       ",{\"text\":\"Hi\"},{\"text\":\"Hi\"},{\"text\":\"Hi\"},{\"text\":\"And?\"}," HOUR "]}]}");
    broken(&a);
    set(&a, "prompt_cache", "5m");
    say(&a, "So?");
    has("{\"text\":\"So?\"}," POINT "]}]}");
    agent_close(a.e);
}
static void test_invoke(void)
{
    ask a = open_ask(invoke, claude, NULL, tools, 1, 0);
    set(&a, "prompt_cache", "5m");
    say(&a, "Hi");
    is("{\"anthropic_version\":\"bedrock-2023-05-31\",\"max_tokens\":8192,\"system\":[{\"type\":\"text\",\"text\":\"Be brief.\",\"cache_control\":{\"type\":\"ephemeral\"}}],"
       "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}],"
       "\"tools\":[{\"name\":\"look\",\"description\":\"Looks.\",\"input_schema\":{\"type\":\"object\",\"properties\":{}}}]}");
    CHECK_CASE(strcmp(url, "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream") == 0, url);
    answer(&a, "event chunk {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[]}}\n"
               "event chunk {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"look\",\"input\":{}}}\n"
               "event chunk {\"type\":\"content_block_stop\",\"index\":0}\nevent chunk {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n"
               "event chunk {\"type\":\"message_stop\"}\n", 1);
    has("{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"look\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"out\"}");
    agent_close(a.e);
    a = open_ask(invoke, claude, "{\"anthropic_version\":\"x\"}", NULL, 0, AGENT_S_NO_STREAM);
    say(&a, "Hi");
    is("{\"max_tokens\":8192,\"system\":[{\"type\":\"text\",\"text\":\"Be brief.\"}],\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}],\"anthropic_version\":\"x\"}");
    CHECK_CASE(strstr(url, "-v1%3A0/invoke") && !strstr(url, "stream"), url);
    agent_close(a.e);
}
int main(void)
{
    test_plain();
    test_options();
    test_thinking();
    test_left_out();
    test_replaced();
    test_history();
    test_raw_tools();
    test_files();
    test_cache();
    test_invoke();
    return test_end("test_request_bedrock");
}
