/* What is sent, member by member: every option of a session in both wire formats, and what the host adds or replaces. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"

static char body[1 << 16];
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
    s.system = "Be brief.";
    s.tools = tools;
    s.tool_count = tool_count;
    a.session = agent_session_open(a.e, &s);
    CHECK(a.session != 0);
    return a;
}
static void set(struct ask *a, const char *key, const char *value) { CHECK_CASE(agent_session_set(a->e, a->session, key, value, AGENT_CSTR) == AGENT_OK, key); }
/* Submits, takes the body that would be sent, and checks that it is JSON.                                              */
static agent_id take(struct ask *a, const char *say)
{
    const agent_event *ev;
    const void *p;
    agent_id conn = 0;
    size_t n, at = 0;
    agent_say(a->e, a->session, say, AGENT_CSTR);
    while (conn == 0 && (ev = agent_next(a->e)) != NULL) if (ev->type == AGENT_EV_OPEN) conn = ev->conn;
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
static const agent_tool tools[] = { { "look", "Looks.", "{\"type\":\"object\",\"properties\":{}}", 0, NULL }, { "go", NULL, NULL, 0, NULL } };

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
    MEMBER("max_tokens", "2148");           /* more than the budget                                                    */
    MEMBER("stream", "true");
    MEMBER("temperature", NULL);              /* refused beside thinking, as top_p and a forced choice                    */
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
        { "stop", "{}" }, { "stop", "[1]" }, { "parallel_tool_calls", "yes" }, { "model", "" } };
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
    return test_end("request");
}
