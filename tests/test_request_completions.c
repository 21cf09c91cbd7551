/* What is sent for text completions: one text, and the host's own members. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "ask.h"

static ask a;

static void test_text(void)
{
    CHECK(ask_open(&a, "openai-completions", NULL, 2, 0));
    ask_set(&a, "max_tokens", "9");
    ask_set(&a, "temperature", "0.20");
    ask_set(&a, "top_p", "1");
    ask_set(&a, "seed", "1");
    ask_set(&a, "frequency_penalty", "0.5");
    ask_set(&a, "presence_penalty", "1");
    ask_set(&a, "stop", "\"a\"");
    ask_set(&a, "reasoning_effort", "low");
    ask_set(&a, "tool_choice", "none");
    ask_say(&a, " Once");
    CHECK_CASE(strcmp(a.path, "/v1/completions") == 0, a.path);
    ASK_WARNED(&a, "tool_choice reasoning_effort - ");
    CHECK_CASE(strcmp(a.body, "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"max_tokens\":9,\"temperature\":0.20,\"top_p\":1,\"seed\":1,"
        "\"frequency_penalty\":0.5,\"presence_penalty\":1,\"stop\":\"a\",\"prompt\":\"Be brief. Once\"}") == 0, a.body);
    ask_answer(&a, "text/event-stream", "data: {\"choices\":[{\"text\":\" \\\"upon\\\"\",\"index\":0,\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    ask_pump(&a);
    ask_set(&a, "system", "");
    ask_say(&a, "\na time");
    ASK_HAS(&a, "prompt", "\" Once \\\"upon\\\"\\na time\"");
    ASK_WARNED(&a, "");
    ask_break(&a);
    ask_files(&a);
    CHECK(strstr(a.body, "a timeWhat is this?[not sent: an image, image/png][not sent: an image]low\\ntide[not sent") != NULL);
    agent_close(a.e);
}
static void test_members(void)
{
    CHECK(ask_open(&a, "openai-completions", "{\"prompt\":\"p\",\"suffix\":\"s\",\"stream_options\":null}", 0, 0));
    ask_say(&a, "Hi");
    CHECK_CASE(strcmp(a.body, "{\"model\":\"m\",\"stream\":true,\"prompt\":\"p\",\"suffix\":\"s\",\"stream_options\":null}") == 0, a.body);
    agent_close(a.e);
}
static void test_memory(void)
{
    static const char *const answers[] = { "{\"choices\":[{\"text\":\"So.\",\"index\":0,\"finish_reason\":\"stop\"}]}", NULL };
    ask_refuse("openai-completions", "application/json", answers);
}
int main(void)
{
    test_text();
    test_members();
    test_memory();
    return test_end("request_completions");
}
