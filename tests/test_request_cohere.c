/* What is sent to Cohere, byte by byte where it is short. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "ask.h"

static ask a;

static void test_options(void)
{
    CHECK(ask_open(&a, "cohere", "{\"safety_mode\":\"OFF\",\"seed\":7}", 2, 0));
    ask_set(&a, "max_tokens", "100");
    ask_set(&a, "temperature", "0.20");
    ask_set(&a, "top_p", "1e-1");
    ask_set(&a, "seed", "1");
    ask_set(&a, "frequency_penalty", "0.5");
    ask_set(&a, "presence_penalty", "1");
    ask_set(&a, "stop", "\"a\"");
    ask_set(&a, "tool_choice", "required");
    ask_set(&a, "parallel_tool_calls", "false");
    ask_set(&a, "reasoning_effort", "low");
    ask_set(&a, "thinking_budget", "2048");
    ask_say(&a, "Hi");
    CHECK_CASE(strcmp(a.path, "/v2/chat") == 0, a.path);
    ASK_WARNED(&a, "parallel_tool_calls ");
    CHECK_CASE(strcmp(a.body, "{\"model\":\"m\",\"stream\":true,\"max_tokens\":100,\"temperature\":0.20,\"p\":1e-1,\"frequency_penalty\":0.5,\"presence_penalty\":1,"
        "\"stop_sequences\":[\"a\"],\"thinking\":{\"type\":\"enabled\",\"token_budget\":2048},"
        "\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\"Hi\"}],\"tool_choice\":\"REQUIRED\","
        "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"look\",\"description\":\"Looks.\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}},"
        "{\"type\":\"function\",\"function\":{\"name\":\"go\",\"parameters\":{\"type\":\"object\"}}}],\"safety_mode\":\"OFF\",\"seed\":7}") == 0, a.body);
    agent_close(a.e);
}
/* What a choice becomes: Cohere can force a call, not a certain one.                                                   */
static void test_choice(const char *choice, size_t tool_count, const char *want, const char *warned)
{
    CHECK(ask_open(&a, "cohere", NULL, tool_count, 0));
    ask_set(&a, "tool_choice", choice);
    ask_say(&a, "Hi");
    ASK_HAS(&a, "tool_choice", want);
    ASK_WARNED(&a, warned);
    agent_close(a.e);
}
static void test_thinking(const char *budget, const char *want)
{
    CHECK(ask_open(&a, "cohere", NULL, 0, 0));
    ask_set(&a, "thinking_budget", budget);
    ask_say(&a, "Hi");
    ASK_HAS(&a, "thinking", want);
    agent_close(a.e);
}
static void test_files(void)
{
    CHECK(ask_open(&a, "cohere", NULL, 0, 0));
    ask_files(&a);
    ASK_HAS(&a, "messages[1]", "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"What is this?\"},"
        "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,cG5n\"}},{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://sea.test/a.png\"}},"
        "{\"type\":\"text\",\"text\":\"low\\ntide\"},{\"type\":\"text\",\"text\":\"[not sent: a file named a.pdf, application/pdf]\"}]}");
    ASK_WARNED(&a, "- ");
    agent_close(a.e);
}
/* A plan goes back as a plan, thoughts as a block, both to their own model only.                                        */
static void test_tools(void)
{
    CHECK(ask_open(&a, "cohere", NULL, 2, 2));
    ask_set(&a, "tool_choice", "required");
    ask_say(&a, "Hi");
    ask_answer(&a, "text/event-stream",
        "data: {\"type\":\"content-delta\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"thinking\":\"Hm.\"}}}}\n\ndata: {\"type\":\"content-end\",\"index\":0}\n\n"
        "data: {\"type\":\"tool-plan-delta\",\"delta\":{\"message\":{\"tool_plan\":\"I will \"}}}\n\ndata: {\"type\":\"tool-plan-delta\",\"delta\":{\"message\":{\"tool_plan\":\"look.\"}}}\n\n"
        "data: {\"type\":\"tool-call-start\",\"index\":0,\"delta\":{\"message\":{\"tool_calls\":{\"id\":\"c1\",\"function\":{\"name\":\"look\",\"arguments\":\"{\\\"at\\\": \"}}}}}\n\n"
        "data: {\"type\":\"tool-call-delta\",\"index\":0,\"delta\":{\"message\":{\"tool_calls\":{\"function\":{\"arguments\":\"1}\"}}}}}\n\n"
        "data: {\"type\":\"tool-call-start\",\"index\":1,\"delta\":{\"message\":{\"tool_calls\":{\"id\":\"c2\",\"function\":{\"name\":\"go\",\"arguments\":\"{broken\"}}}}}\n\n"
        "data: {\"type\":\"message-end\",\"delta\":{\"finish_reason\":\"TOOL_CALL\"}}\n\n");
    ask_take(&a);
    ASK_HAS(&a, "messages[2]", "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"Hm.\"}],\"tool_plan\":\"I will look.\",\"tool_calls\":["
        "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"look\",\"arguments\":\"{\\\"at\\\": 1}\"}},"
        "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"go\",\"arguments\":\"{}\"}}]}");
    ASK_HAS(&a, "messages[3]", "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"look\"}");
    ASK_HAS(&a, "messages[4].tool_call_id", "\"c2\"");
    ASK_HAS(&a, "messages[5].role", "\"user\"");
    ASK_HAS(&a, "tool_choice", "\"NONE\"");              /* the limit of steps                                          */
    ask_answer(&a, "application/json", "{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"Do\"},{\"type\":\"text\",\"text\":\"ne.\"}]},\"finish_reason\":\"COMPLETE\"}");
    ask_pump(&a);
    ask_say(&a, "And?");
    ASK_HAS(&a, "messages[5]", "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Done.\"}]}");
    ASK_HAS(&a, "tool_choice", NULL);                    /* it was forced once                                          */
    ASK_WARNED(&a, "");
    ask_break(&a);
    ask_set(&a, "model", "n");
    ask_say(&a, "And?");
    ASK_HAS(&a, "messages[2].content", NULL);
    ASK_HAS(&a, "messages[2].tool_plan", NULL);
    ASK_HAS(&a, "messages[2].tool_calls[0].id", "\"c1\"");
    ASK_WARNED(&a, "- ");
    agent_close(a.e);
}
/* Version 1 is for answers only.                                                                                       */
static void test_version_1(void)
{
    static const agent_provider rows[] = { { "old", "https://old.test/v1", "cohere-v1", "bearer", NULL, 0, NULL, NULL } };
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_engine *e;
    d.providers = rows;
    d.provider_count = 1;
    if (agent_open(&e, &d) != AGENT_OK) exit(2);
    p.provider = "old";
    p.key = "";
    CHECK(agent_peer_open(e, &p) == 0 && strstr(agent_last(e), "answers only") != NULL);
    agent_close(e);
}
static void test_memory(void)
{
    static const char *const answers[] = {
        "{\"message\":{\"tool_plan\":\"I will look.\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"Hm.\"}],\"tool_calls\":[{\"id\":\"\\u00e9\",\"function\":{\"name\":\"look\","
        "\"arguments\":\"{}\"}},{\"id\":\"b\",\"function\":{\"name\":\"go\",\"arguments\":\"null\"}}]},\"finish_reason\":\"TOOL_CALL\"}",
        "{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"Done.\"}],\"citations\":[{\"sources\":[{\"document\":{\"url\":\"u\",\"title\":\"t\"}}]}]},\"finish_reason\":\"COMPLETE\"}", NULL
    };
    ask_refuse("cohere", "application/json", answers);
}
int main(void)
{
    test_options();
    test_choice("auto", 2, NULL, "");
    test_choice("none", 2, "\"NONE\"", "");
    test_choice("look", 2, NULL, "tool_choice ");
    test_choice("look", 1, "\"REQUIRED\"", "");
    test_choice("required", 0, NULL, "");
    test_thinking("0", "{\"type\":\"disabled\"}");
    test_thinking("adaptive", "{\"type\":\"enabled\"}");
    test_files();
    test_tools();
    test_version_1();
    test_memory();
    return test_end("request_cohere");
}
