/* What is sent to Ollama, to its chat and to generate, byte by byte where it is short. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "ask.h"

#define LINES "application/x-ndjson"
static ask a;

static void test_options(void)
{
    CHECK(ask_open(&a, "ollama-native", NULL, 2, 0));
    ask_set(&a, "max_tokens", "100");
    ask_set(&a, "temperature", "0.20");
    ask_set(&a, "top_p", "1e-1");
    ask_set(&a, "seed", "12345678901234567890");
    ask_set(&a, "frequency_penalty", "-1");
    ask_set(&a, "presence_penalty", "2");
    ask_set(&a, "stop", "\"a\"");
    ask_set(&a, "tool_choice", "look");
    ask_set(&a, "parallel_tool_calls", "false");
    ask_set(&a, "thinking_budget", "2048");
    ask_say(&a, "Hi\n\xFF!");
    CHECK_CASE(strcmp(a.path, "/api/chat") == 0, a.path);
    ASK_WARNED(&a, "tool_choice parallel_tool_calls ");
    CHECK_CASE(strcmp(a.body, "{\"model\":\"m\",\"stream\":true,\"think\":true,\"options\":{\"num_predict\":100,\"temperature\":0.20,\"top_p\":1e-1,"
        "\"seed\":12345678901234567890,\"frequency_penalty\":-1,\"presence_penalty\":2,\"stop\":[\"a\"]},"
        "\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\"Hi\\n\xEF\xBF\xBD!\"}],"
        "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"look\",\"description\":\"Looks.\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}},"
        "{\"type\":\"function\",\"function\":{\"name\":\"go\",\"parameters\":{\"type\":\"object\"}}}]}") == 0, a.body);
    ask_break(&a);
    ask_set(&a, "stop", "[\"a\",\"b\"]");
    ask_set(&a, "thinking_budget", "0");
    ask_set(&a, "tool_choice", "auto");
    ask_say(&a, "And?");
    ASK_WARNED(&a, "");
    ASK_HAS(&a, "options.stop", "[\"a\",\"b\"]");
    ASK_HAS(&a, "think", "false");
    ask_break(&a);
    ask_set(&a, "reasoning_effort", "high");
    ask_say(&a, "And?");
    ASK_HAS(&a, "think", "\"high\"");
    ask_break(&a);
    ask_set(&a, "reasoning_effort", "none");
    ask_say(&a, "And?");
    ASK_HAS(&a, "think", "false");
    agent_close(a.e);
}
/* The host's members replace ours, and bring what only it knows.                                                       */
static void test_members(void)
{
    CHECK(ask_open(&a, "ollama-cloud", "{\"options\":{\"num_ctx\":8192},\"think\":\"max\",\"keep_alive\":-1,\"model\":\"n\"}", 0, 0));
    ask_set(&a, "temperature", "1");
    ask_set(&a, "thinking_budget", "0");
    ask_say(&a, "Hi");
    CHECK_CASE(strcmp(a.body, "{\"stream\":true,\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\"Hi\"}],"
        "\"options\":{\"num_ctx\":8192},\"think\":\"max\",\"keep_alive\":-1,\"model\":\"n\"}") == 0, a.body);
    agent_close(a.e);
}
static void test_files(void)
{
    CHECK(ask_open(&a, "ollama-native", NULL, 0, 0));
    ask_files(&a);
    ASK_HAS(&a, "messages[1]", "{\"role\":\"user\",\"content\":\"What is this?\\n\\n[not sent: an image]\\n\\nlow\\ntide\\n\\n[not sent: a file named a.pdf, application/pdf]\","
        "\"images\":[\"cG5n\"]}");
    ASK_WARNED(&a, "- ");
    agent_close(a.e);
}
/* Thoughts go back to the model that had them, arguments are an object, a result has the name of its tool.              */
static void test_tools(void)
{
    CHECK(ask_open(&a, "ollama-native", NULL, 2, 2));
    ask_say(&a, "Hi");
    ask_answer(&a, LINES,
        "{\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"Look \"}}\n{\"message\":{\"role\":\"assistant\",\"content\":\"So.\",\"thinking\":\"there.\"}}\n"
        "{\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c1\",\"function\":{\"name\":\"look\",\"arguments\":{\"at\": [1]}}},{\"function\":{\"name\":\"go\",\"arguments\":\"\"}}]}}\n"
        "{\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c3\",\"function\":{\"name\":\"f l\\u00fcy\",\"arguments\":\"{broken\"}}]}}\n"
        "{\"done\":true,\"done_reason\":\"stop\"}\n");
    ask_take(&a);
    ASK_HAS(&a, "messages[2]", "{\"role\":\"assistant\",\"content\":\"So.\",\"thinking\":\"Look there.\",\"tool_calls\":["
        "{\"id\":\"c1\",\"function\":{\"name\":\"look\",\"arguments\":{\"at\": [1]}}},{\"id\":\"call_local_2\",\"function\":{\"name\":\"go\",\"arguments\":{}}},"
        "{\"id\":\"c3\",\"function\":{\"name\":\"f_l__y\",\"arguments\":{}}}]}");
    ASK_HAS(&a, "messages[3]", "{\"role\":\"tool\",\"tool_name\":\"look\",\"tool_call_id\":\"c1\",\"content\":\"look\"}");
    ASK_HAS(&a, "messages[4]", "{\"role\":\"tool\",\"tool_name\":\"go\",\"tool_call_id\":\"call_local_2\",\"content\":\"go\"}");
    ASK_HAS(&a, "messages[5].tool_call_id", "\"c3\"");
    ASK_HAS(&a, "messages[6].role", "\"user\"");         /* the limit of steps: only words can say so                   */
    CHECK(strstr(a.body, "Call no more tools.") != NULL);
    ASK_HAS(&a, "tool_choice", NULL);
    ask_answer(&a, LINES, "{\"message\":{\"content\":\"Done.\"}}\n{\"done\":true,\"done_reason\":\"stop\"}\n");
    ask_pump(&a);
    ask_set(&a, "model", "n");
    ask_say(&a, "And?");
    ASK_HAS(&a, "messages[2].thinking", NULL);
    ASK_HAS(&a, "messages[2].content", "\"So.\"");
    ASK_HAS(&a, "messages[7]", "{\"role\":\"user\",\"content\":\"And?\"}");
    ASK_WARNED(&a, "- ");
    agent_close(a.e);
}
/* A conversation that the host brings; a result without output says so.                                                 */
static void test_import(void)
{
    static const char *const ids[] = { "a", "b" }, *const names[] = { "look", "go" };
    agent_part p[2];
    int i;
    CHECK(ask_open(&a, "ollama-native", NULL, 0, 0));
    p[0] = ask_part(AGENT_PART_TEXT, "Well?", NULL, NULL);
    CHECK(agent_message_add(a.e, a.session, AGENT_USER, p, 1) > 0);
    for (i = 0; i < 2; i++) {
        p[i] = ask_part(AGENT_PART_CALL, "{}", NULL, NULL);
        p[i].wire_id.p = ids[i];
        p[i].name.p = names[i];
        p[i].wire_id.n = 1;
        p[i].name.n = strlen(names[i]);
    }
    CHECK(agent_message_add(a.e, a.session, AGENT_MODEL, p, 2) > 0);
    for (i = 0; i < 2; i++) {
        p[i] = ask_part(AGENT_PART_RESULT, i ? "" : "ok", NULL, NULL);
        p[i].wire_id.p = ids[i];
        p[i].wire_id.n = 1;
    }
    CHECK(agent_message_add(a.e, a.session, AGENT_TOOLS, p, 2) > 0);
    ask_say(&a, "And?");
    ASK_HAS(&a, "messages[2].content", "\"\"");
    ASK_HAS(&a, "messages[3]", "{\"role\":\"tool\",\"tool_name\":\"look\",\"tool_call_id\":\"a\",\"content\":\"ok\"}");
    ASK_HAS(&a, "messages[4]", "{\"role\":\"tool\",\"tool_name\":\"go\",\"tool_call_id\":\"b\",\"content\":\"(no output)\"}");
    agent_close(a.e);
}
/* All that was said is one text.                                                                                       */
static void test_generate(void)
{
    CHECK(ask_open(&a, "ollama-generate", NULL, 2, 0));
    ask_set(&a, "max_tokens", "9");
    ask_say(&a, "Once \"upon\"");
    ASK_WARNED(&a, "- ");                     /* there are no tools, told once                                           */
    CHECK_CASE(strcmp(a.path, "/api/generate") == 0, a.path);
    CHECK_CASE(strcmp(a.body, "{\"model\":\"m\",\"stream\":true,\"options\":{\"num_predict\":9},\"system\":\"Be brief.\",\"prompt\":\"Once \\\"upon\\\"\"}") == 0, a.body);
    ask_answer(&a, LINES, "{\"response\":\" a time\",\"thinking\":\"Hm.\"}\n{\"response\":\"\",\"done\":true,\"done_reason\":\"stop\"}\n");
    ask_pump(&a);
    ask_say(&a, ",\nthere");
    ASK_WARNED(&a, "");
    ASK_HAS(&a, "prompt", "\"Once \\\"upon\\\" a time,\\nthere\"");
    ask_break(&a);
    ask_files(&a);
    ASK_HAS(&a, "prompt", "\"Once \\\"upon\\\" a time,\\nthereWhat is this?[not sent: an image, image/png][not sent: an image]low\\ntide[not sent: a file named a.pdf, application/pdf]\"");
    agent_close(a.e);
    CHECK(ask_open(&a, "ollama-generate", "{\"prompt\":\"p\",\"suffix\":\"s\",\"system\":\"t\"}", 0, 0));
    ask_say(&a, "Hi");
    CHECK_CASE(strcmp(a.body, "{\"model\":\"m\",\"stream\":true,\"options\":{},\"prompt\":\"p\",\"suffix\":\"s\",\"system\":\"t\"}") == 0, a.body);
    agent_close(a.e);
}
static void test_memory(void)
{
    static const char *const answers[] = {
        "{\"message\":{\"content\":\"So.\",\"thinking\":\"Hm.\",\"tool_calls\":[{\"id\":\"\\u00e9\",\"function\":{\"name\":\"look\",\"arguments\":{\"at\":1}}},"
        "{\"function\":{\"name\":\"go\",\"arguments\":\"{\\\"a\\\":1}\"}}]}}\n{\"done\":true,\"done_reason\":\"stop\"}\n",
        "{\"message\":{\"content\":\"Done.\"}}\n{\"done\":true,\"done_reason\":\"stop\"}\n", NULL
    }, *const text[] = { "{\"response\":\"So.\",\"done\":true,\"done_reason\":\"stop\"}", NULL };
    ask_refuse("ollama-native", LINES, answers);
    ask_refuse("ollama-generate", LINES, text);
}
int main(void)
{
    test_options();
    test_members();
    test_files();
    test_tools();
    test_import();
    test_generate();
    test_memory();
    return test_end("request_ollama");
}
