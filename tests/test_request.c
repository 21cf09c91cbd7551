/* What is sent, member by member: every option of a session in both wire formats, and what the host adds or replaces. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"

static char body[1 << 16], warned[1 << 10];    /* what was sent; the names of its WARNINGs, each with a blank behind it  */
struct ask { agent_engine *e; agent_id session; };
static struct ask open_ask(const char *provider, const char *body_json, const agent_tool *tools, size_t tool_count)
{
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    struct ask a;
    if (agent_open(&a.e, &d) != AGENT_OK) exit(2);
    p.provider = provider;
    p.url = "http://host.test/v1/";
    p.key = "sk-1";
    p.body_json = body_json;
    s.peer = agent_peer_open(a.e, &p);
    s.model = "m\"1";
    s.max_retries = AGENT_OFF;
    s.system = "Be brief.";
    s.tools = tools;
    s.tool_count = tool_count;
    a.session = agent_session_open(a.e, &s);
    CHECK(a.session != 0);
    return a;
}
static void set(struct ask *a, const char *key, const char *value) { CHECK_CASE(agent_session_set(a->e, a->session, key, value, AGENT_CSTR) == AGENT_OK, key); }
static void pump(struct ask *a, agent_id *conn)
{
    const agent_event *ev;
    while ((ev = agent_next(a->e)) != NULL) {
        if (ev->type == AGENT_EV_OPEN) *conn = ev->conn;
        if (ev->type == AGENT_EV_WARNING) sprintf(warned + strlen(warned), "%.40s ", ev->name.n ? ev->name.p : "-");
    }
}
/* Submits, takes the body that would be sent, and checks that it is JSON.                                              */
static agent_id take(struct ask *a, const char *say)
{
    const void *p;
    agent_id conn = 0;
    size_t n, at = 0;
    warned[0] = 0;
    if (say) agent_say(a->e, a->session, say, AGENT_CSTR);
    pump(a, &conn);
    agent_opened(a->e, conn, AGENT_VIA_HTTP, NULL);
    while ((p = agent_send_buf(a->e, conn, &n)) != NULL && at + n < sizeof body) {
        memcpy(body + at, p, n);
        at += n;
        agent_send_ack(a->e, conn, n);
    }
    body[at] = 0;
    CHECK_CASE(agent_json_check(body, at, 0, NULL) == AGENT_OK, body);
    return conn;
}
/* The same, and the run is over: the next one may come.                                                                */
static void ask(struct ask *a, const char *say)
{
    agent_id conn = take(a, say);
    agent_failed(a->e, conn, AGENT_FAIL_RESET, NULL, 0);
    pump(a, &conn);
}
static int member(const char *path, const char *want)
{
    agent_str json, v;
    json.p = body;
    json.n = strlen(body);
    v = agent_json_get(json, path);
    if (v.p == NULL) return want == NULL;
    return want && v.n == strlen(want) && memcmp(v.p, want, v.n) == 0;
}
#define MEMBER(path, want) CHECK_CASE(member(path, want), path)
static const agent_tool tools[] = { { "look", "Looks.", "{\"type\":\"object\",\"properties\":{}}", 0, 0, NULL }, { "go", NULL, NULL, 0, 0, NULL } };

static void all_options(struct ask *a)
{
    set(a, "max_tokens", "100");
    set(a, "temperature", "0.20");
    set(a, "top_p", "1e-1");
    set(a, "stop", "[\"a\",\"b\"]");
    set(a, "tool_choice", "look");
    set(a, "parallel_tool_calls", "false");
    set(a, "reasoning_effort", "low");
    set(a, "thinking_budget", "2048");
}
static void test_openai(void)
{
    struct ask a = open_ask("openai-compatible", "{\"user\":\"u\",\"top_p\":0.5,\"x\":{\"y\":[1]}}", tools, 2);
    all_options(&a);
    set(&a, "seed", "12345678901234567890");
    set(&a, "frequency_penalty", "-1");
    set(&a, "presence_penalty", "2");
    take(&a, "Hi\n\xFF!");
    MEMBER("model", "\"m\\\"1\"");
    MEMBER("stream", "true");
    MEMBER("stream_options.include_usage", "true");
    MEMBER("max_tokens", "100");
    MEMBER("temperature", "0.20");           /* numbers pass as they were written                                       */
    MEMBER("top_p", "0.5");                  /* the host's member replaces ours                                         */
    MEMBER("seed", "12345678901234567890");
    MEMBER("frequency_penalty", "-1");
    MEMBER("presence_penalty", "2");
    MEMBER("stop", "[\"a\",\"b\"]");
    MEMBER("tool_choice", "{\"type\":\"function\",\"function\":{\"name\":\"look\"}}");
    MEMBER("parallel_tool_calls", "false");
    MEMBER("reasoning_effort", "\"low\"");
    MEMBER("thinking_budget", NULL);
    CHECK_CASE(strcmp(warned, "thinking_budget ") == 0, warned);
    MEMBER("user", "\"u\"");
    MEMBER("x.y[0]", "1");
    MEMBER("messages[0]", "{\"role\":\"system\",\"content\":\"Be brief.\"}");
    MEMBER("messages[1]", "{\"role\":\"user\",\"content\":\"Hi\\n\xEF\xBF\xBD!\"}");
    MEMBER("messages[2]", NULL);
    MEMBER("tools[0]", "{\"type\":\"function\",\"function\":{\"name\":\"look\",\"description\":\"Looks.\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}}");
    MEMBER("tools[1].function", "{\"name\":\"go\",\"parameters\":{\"type\":\"object\"}}");
    CHECK(strstr(body, "top_p") == strstr(body, "\"top_p\":0.5") + 1);
    agent_close(a.e);
}
static void test_anthropic(void)
{
    struct ask a = open_ask("anthropic", "{\"metadata\":{\"user_id\":\"u\"}}", tools, 2);
    agent_str name, value;
    agent_id conn;
    size_t i;
    int version = 0, key = 0;
    all_options(&a);
    conn = take(&a, "Hi");
    MEMBER("model", "\"m\\\"1\"");
    CHECK_CASE(strcmp(warned, "temperature top_p tool_choice ") == 0, warned);         /* not beside thinking             */
    MEMBER("max_tokens", "2148");            /* thoughts and answer share it: it is above the budget                    */
    MEMBER("stream", "true");
    MEMBER("temperature", NULL);
    MEMBER("top_p", NULL);
    MEMBER("stop_sequences", "[\"a\",\"b\"]");
    MEMBER("system", "[{\"type\":\"text\",\"text\":\"Be brief.\"}]");
    MEMBER("thinking", "{\"type\":\"enabled\",\"budget_tokens\":2048}");
    MEMBER("output_config", "{\"effort\":\"low\"}");
    MEMBER("tool_choice", "{\"type\":\"auto\",\"disable_parallel_tool_use\":true}");
    MEMBER("metadata.user_id", "\"u\"");
    MEMBER("messages", "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}]");
    MEMBER("tools[1]", "{\"name\":\"go\",\"input_schema\":{\"type\":\"object\"}}");
    for (i = 0; agent_open_header(a.e, conn, i, &name, &value) == AGENT_OK; i++) {
        version += !strcmp(name.p, "anthropic-version") && !strcmp(value.p, "2023-06-01");
        key += !strcmp(name.p, "x-api-key") && !strcmp(value.p, "sk-1");
    }
    CHECK(version == 1 && key == 1);
    agent_close(a.e);
}
/* An option that has no place in the request is named in one WARNING, until it is set again; the request has no such member. */
static void test_left_out(void)
{
    static const struct { const char *provider, *key, *value, *thinking, *body_json; int warns; const char *member, *want; } rows[] = {
        { "openai-compatible", "thinking_budget", "1024", NULL, NULL, 1, "thinking", NULL }, { "openai-compatible", "thinking_budget", "adaptive", NULL, NULL, 1, "thinking", NULL },
        { "openai-compatible", "prompt_cache", "1h", NULL, NULL, 0, "cache_control", NULL }, { "openai-compatible", "seed", "1", NULL, NULL, 0, "seed", "1" },
        { "anthropic", "seed", "1", NULL, NULL, 1, "seed", NULL }, { "anthropic", "frequency_penalty", "1", NULL, NULL, 1, "frequency_penalty", NULL },
        { "anthropic", "presence_penalty", "1", NULL, NULL, 1, "presence_penalty", NULL }, { "anthropic", "temperature", "0.5", NULL, NULL, 0, "temperature", "0.5" },
        { "anthropic", "temperature", "0.5", "1024", NULL, 1, "temperature", NULL }, { "anthropic", "temperature", "0.5", "adaptive", NULL, 1, "temperature", NULL },
        { "anthropic", "temperature", "0.5", "0", NULL, 0, "temperature", "0.5" }, { "anthropic", "top_p", "0.5", "1024", NULL, 1, "top_p", NULL },
        { "anthropic", "temperature", "0.5", "1024", "{\"temperature\":1}", 0, "temperature", "1" },
        { "anthropic", "temperature", "0.5", "1024", "{\"thinking\":{\"type\":\"disabled\"}}", 0, "temperature", "0.5" },
        { "anthropic", "temperature", "0.5", NULL, "{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024}}", 1, "temperature", NULL },
        { "anthropic", "tool_choice", "required", "1024", NULL, 1, "tool_choice", NULL }, { "anthropic", "tool_choice", "look", "adaptive", NULL, 1, "tool_choice", NULL },
        { "anthropic", "tool_choice", "none", "1024", NULL, 0, "tool_choice", "{\"type\":\"none\"}" }, { "anthropic", "tool_choice", "auto", "1024", NULL, 0, "tool_choice", "{\"type\":\"auto\"}" },
        { "anthropic", "tool_choice", "required", NULL, NULL, 0, "tool_choice", "{\"type\":\"any\"}" }
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ask a = open_ask(rows[i].provider, rows[i].body_json, tools, 2);
        char want[64];
        sprintf(want, "%.40s ", rows[i].key);
        if (!rows[i].warns) want[0] = 0;
        if (rows[i].thinking) set(&a, "thinking_budget", rows[i].thinking);
        set(&a, rows[i].key, rows[i].value);
        ask(&a, "Hi");
        CHECK_CASE(strcmp(warned, want) == 0, rows[i].key);
        MEMBER(rows[i].member, rows[i].want);
        ask(&a, "And?");
        CHECK_CASE(warned[0] == 0, rows[i].key);
        set(&a, rows[i].key, rows[i].value);
        ask(&a, "And?");
        CHECK_CASE(strcmp(warned, want) == 0, rows[i].key);
        set(&a, rows[i].key, "");
        ask(&a, "And?");
        CHECK_CASE(warned[0] == 0, rows[i].key);
        agent_close(a.e);
    }
}
static void test_warned_after_cancel(void)                   /* a WARNING that a cancel came before is told later        */
{
    struct ask a = open_ask("anthropic", NULL, tools, 2);
    const agent_event *ev;
    agent_id conn = 0;
    set(&a, "seed", "1");
    set(&a, "presence_penalty", "1");
    agent_say(a.e, a.session, "Hi", AGENT_CSTR);
    warned[0] = 0;
    while ((ev = agent_next(a.e)) != NULL && ev->type != AGENT_EV_WARNING) {}          /* that of seed                    */
    agent_cancel(a.e, a.session);
    pump(&a, &conn);
    CHECK(warned[0] == 0);
    ask(&a, "And?");
    CHECK_CASE(strcmp(warned, "presence_penalty ") == 0, warned);
    agent_close(a.e);
}
static void test_thinking_budget(void)
{
    static const struct { const char *budget, *limit, *thinking, *max_tokens; } rows[] = {
        { "1024", NULL, "{\"type\":\"enabled\",\"budget_tokens\":1024}", "8192" }, { "9000", NULL, "{\"type\":\"enabled\",\"budget_tokens\":9000}", "17192" },
        { "8192", NULL, "{\"type\":\"enabled\",\"budget_tokens\":8192}", "16384" }, { "2048", "100", "{\"type\":\"enabled\",\"budget_tokens\":2048}", "2148" },
        { "adaptive", "100", "{\"type\":\"adaptive\"}", "100" }, { "0", "100", "{\"type\":\"disabled\"}", "100" }, { "", "100", NULL, "100" },
        { "9223372036854775807", "100", "{\"type\":\"enabled\",\"budget_tokens\":9223372036854775807}", "100" }
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ask a = open_ask("anthropic", NULL, NULL, 0);
        set(&a, "thinking_budget", rows[i].budget);
        if (rows[i].limit) set(&a, "max_tokens", rows[i].limit);
        ask(&a, "Hi");
        CHECK(warned[0] == 0);
        MEMBER("thinking", rows[i].thinking);
        MEMBER("max_tokens", rows[i].max_tokens);
        MEMBER("thinking_budget", NULL);
        agent_close(a.e);
    }
}
#define MARK "\"cache_control\":{\"type\":\"ephemeral\"}"
#define HOUR "\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}"
static int times(const char *word)
{
    const char *p = body;
    int n = 0;
    for (; (p = strstr(p, word)) != NULL; p += strlen(word)) n++;
    return n;
}
static int say_marked(struct ask *a, const char *text, int marked)
{
    agent_part p[2];
    memset(p, 0, sizeof p);
    p[0].text.p = p[1].text.p = text;
    p[0].text.n = p[1].text.n = strlen(text);
    p[1].flags = marked ? AGENT_PART_CACHE : 0;
    return agent_submit(a->e, a->session, p, 2, AGENT_QUEUE);
}
/* What stays the same is marked: by the option at the end of all and behind the system text, by the host where it likes; four in all. */
static void test_prompt_cache(void)
{
    struct ask a = open_ask("anthropic", NULL, tools, 2);
    int i;
    for (i = 1; i <= 6; i++) {
        CHECK(say_marked(&a, "Hi", 1) > 0);
        ask(&a, NULL);
        CHECK(times("cache_control") == (i < 4 ? i : 4) && times("{\"type\":\"text\",\"text\":\"Hi\"," MARK "}") == (i < 4 ? i : 4));
        CHECK_CASE(strcmp(warned, i > 4 ? "- " : "") == 0, warned);
        CHECK(i > 4 || say_marked(&a, "Ho", 0) > 0);
        if (i <= 4) ask(&a, NULL);
    }
    set(&a, "prompt_cache", "1h");
    ask(&a, "And?");
    MEMBER("cache_control", "{\"type\":\"ephemeral\",\"ttl\":\"1h\"}");
    MEMBER("system", "[{\"type\":\"text\",\"text\":\"Be brief.\"," HOUR "}]");
    CHECK(times("cache_control") == 4 && times(HOUR) == 4 && strcmp(warned, "- ") == 0);
    set(&a, "prompt_cache", "5m");
    ask(&a, "And?");
    MEMBER("cache_control", "{\"type\":\"ephemeral\"}");
    CHECK(times("cache_control") == 4 && times(MARK) == 4);
    set(&a, "prompt_cache", "");
    ask(&a, "And?");
    CHECK(times("cache_control") == 4);
    MEMBER("cache_control", NULL);
    CHECK(agent_session_set(a.e, a.session, "prompt_cache", "10m", AGENT_CSTR) == AGENT_E_ARG);
    agent_close(a.e);
    a = open_ask("openai-compatible", NULL, tools, 2);
    set(&a, "prompt_cache", "1h");
    CHECK(say_marked(&a, "Hi", 1) > 0);
    ask(&a, NULL);
    CHECK(times("cache_control") == 0 && warned[0] == 0);
    agent_close(a.e);
}
/* Tools as the provider declares them, between those of the host.                                                      */
static void test_raw_tools(void)
{
    static const char *const providers[] = { "anthropic", "openai-compatible" };
    static const agent_tool raw[] = {
        { "look", "Looks.", NULL, 0, 0, NULL }, { "web_search", "not sent", " {\"type\": \"web_search_20250305\", \"name\":\"web_search\",\"max_uses\":5}\n", AGENT_TF_RAW, 0, NULL },
        { "bash", NULL, "{\"type\":\"bash_20250124\",\"name\":\"bash\"}", AGENT_TF_RAW | AGENT_TF_SERIAL, 0, NULL }
    };
    agent_tool bad = { "x", NULL, NULL, AGENT_TF_RAW, 0, NULL };
    size_t i;
    for (i = 0; i < 2; i++) {
        struct ask a = open_ask(providers[i], NULL, raw, 3);
        CHECK(agent_session_tools(a.e, a.session, &bad, 1) == AGENT_E_ARG);
        bad.schema = "[]";
        CHECK(agent_session_tools(a.e, a.session, &bad, 1) == AGENT_E_ARG);
        ask(&a, "Hi");
        MEMBER("tools[0]", i ? "{\"type\":\"function\",\"function\":{\"name\":\"look\",\"description\":\"Looks.\",\"parameters\":{\"type\":\"object\"}}}"
                             : "{\"name\":\"look\",\"description\":\"Looks.\",\"input_schema\":{\"type\":\"object\"}}");
        MEMBER("tools[1]", "{\"type\": \"web_search_20250305\", \"name\":\"web_search\",\"max_uses\":5}");
        MEMBER("tools[2]", raw[2].schema);
        MEMBER("tools[3]", NULL);
        agent_close(a.e);
    }
}
/* A raw tool that the provider leaves to the host runs like any other.                                                 */
static void test_raw_tool_runs(int anthropic)
{
    static const agent_tool raw[] = { { "bash", NULL, "{\"type\":\"bash_20250124\",\"name\":\"bash\"}", AGENT_TF_RAW, 0, NULL } };
    static const char *const calls[] = {
        "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"bash\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}",
        "{\"type\":\"message\",\"id\":\"m\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"bash\",\"input\":{}}],\"stop_reason\":\"tool_use\"}"
    };
    struct ask a = open_ask(anthropic ? "anthropic" : "openai-compatible", NULL, raw, 1);
    agent_id conn = take(&a, "Hi");
    const agent_event *ev;
    int runs = 0;
    agent_feed(a.e, conn, calls[anthropic], strlen(calls[anthropic]), NULL);
    agent_eof(a.e, conn);
    while ((ev = agent_next(a.e)) != NULL && ev->type != AGENT_EV_OPEN) {
        if (ev->type != AGENT_EV_TOOL_RUN) continue;
        runs++;
        CHECK(strcmp(ev->name.p, "bash") == 0 && ev->u.tool.by == AGENT_BY_HOST);
        agent_tool_result(a.e, a.session, ev->call, "out", 3);
    }
    CHECK(runs == 1 && ev != NULL);
    agent_close(a.e);
}
/* Signed thinking goes back to its model, also when the host names that model again, and not to another one.            */
static void test_thinking_goes_back(int same)
{
    struct ask a = open_ask("anthropic", NULL, NULL, 0);
    agent_part p;
    memset(&p, 0, sizeof p);
    p.text.p = "Hm.";
    p.text.n = 3;
    CHECK(agent_message_add(a.e, a.session, AGENT_USER, &p, 1) > 0);
    p.kind = AGENT_PART_REASONING;
    p.data.p = "QUJD";
    p.data.n = 4;
    CHECK(agent_message_add(a.e, a.session, AGENT_MODEL, &p, 1) > 0);
    set(&a, "model", same ? "m\"1" : "other");
    take(&a, "Hi");
    MEMBER("messages[1].content[0].signature", same ? "\"QUJD\"" : NULL);
    MEMBER("messages[1].content[0].thinking", same ? "\"Hm.\"" : NULL);
    agent_close(a.e);
}
static void test_wrong_options(void)
{
    static const char *const wrong[][2] = { { "nothing", "1" }, { "temperature", "warm" }, { "temperature", "1," }, { "max_tokens", "\"1\"" },
        { "stop", "{}" }, { "stop", "[1]" }, { "parallel_tool_calls", "yes" }, { "model", "" }, { "thinking_budget", "much" },
        { "prompt_cache", "2h" } };
    struct ask a = open_ask("openai-compatible", NULL, NULL, 0);
    size_t i;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_CASE(agent_session_set(a.e, a.session, wrong[i][0], wrong[i][1], AGENT_CSTR) == AGENT_E_ARG && *agent_last(a.e), wrong[i][0]);
    set(&a, "temperature", "1");
    set(&a, "temperature", "");              /* takes it back                                                           */
    take(&a, "Hi");
    MEMBER("temperature", NULL);
    MEMBER("tools", NULL);
    MEMBER("tool_choice", NULL);
    agent_close(a.e);
}
int main(void)
{
    test_openai();
    test_anthropic();
    test_thinking_goes_back(1);
    test_thinking_goes_back(0);
    test_wrong_options();
    test_left_out();
    test_warned_after_cancel();
    test_thinking_budget();
    test_prompt_cache();
    test_raw_tools();
    test_raw_tool_runs(0);
    test_raw_tool_runs(1);
    return test_end("request");
}
