/* What is sent in OpenAI's responses format, byte by byte where it is short; and what of an answer goes back. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "ask.h"

#define SSE "text/event-stream"
#define EV(json) "data: " json "\n\n"
#define DONE(index, item) EV("{\"type\":\"response.output_item.done\",\"output_index\":" index ",\"item\":{" item "}}")
#define END EV("{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}")
#define THOUGHT "\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"\\u00c9h\\n\"}],\"encrypted_content\":\"RU\\/5D\""
#define CALL(id, name, args) "\"type\":\"function_call\",\"id\":\"fc_" id "\",\"call_id\":\"" id "\",\"name\":\"" name "\",\"arguments\":\"" args "\""
#define TEXT(text) "\"type\":\"message\",\"id\":\"msg_1\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"" text "\"}]"
static ask a;

static void test_options(void)
{
    CHECK(ask_open(&a, "openai-responses", NULL, 2, 0));
    ask_set(&a, "max_tokens", "100");
    ask_set(&a, "temperature", "0.20");
    ask_set(&a, "top_p", "1e-1");
    ask_set(&a, "seed", "1");
    ask_set(&a, "frequency_penalty", "-1");
    ask_set(&a, "presence_penalty", "2");
    ask_set(&a, "stop", "\"a\"");
    ask_set(&a, "tool_choice", "look");
    ask_set(&a, "parallel_tool_calls", "false");
    ask_set(&a, "reasoning_effort", "low");
    ask_set(&a, "thinking_budget", "2048");
    ask_say(&a, "Hi\n\xFF!");
    CHECK_CASE(strcmp(a.path, "/v1/responses") == 0, a.path);
    ASK_WARNED(&a, "seed frequency_penalty presence_penalty stop thinking_budget ");
    CHECK_CASE(strcmp(a.body, "{\"model\":\"m\",\"stream\":true,\"store\":false,\"include\":[\"reasoning.encrypted_content\"],\"max_output_tokens\":100,"
        "\"temperature\":0.20,\"top_p\":1e-1,\"reasoning\":{\"effort\":\"low\"},\"instructions\":\"Be brief.\","
        "\"input\":[{\"role\":\"user\",\"content\":\"Hi\\n\xEF\xBF\xBD!\"}],\"tool_choice\":{\"type\":\"function\",\"name\":\"look\"},\"parallel_tool_calls\":false,"
        "\"tools\":[{\"type\":\"function\",\"name\":\"look\",\"description\":\"Looks.\",\"parameters\":{\"type\":\"object\",\"properties\":{}},\"strict\":false},"
        "{\"type\":\"function\",\"name\":\"go\",\"parameters\":{\"type\":\"object\"},\"strict\":false}]}") == 0, a.body);
    ask_break(&a);
    ask_set(&a, "tool_choice", "required");
    ask_set(&a, "model", "gpt-4o-mini");     /* which thinks not, and refuses to be asked for it                        */
    ask_say(&a, "And?");
    ASK_HAS(&a, "tool_choice", "\"required\"");
    ASK_HAS(&a, "include", NULL);
    agent_close(a.e);
}
/* The host's members replace ours, and bring what only it knows.                                                       */
static void test_members(void)
{
    CHECK(ask_open(&a, "openai-responses", "{\"store\":true,\"include\":[],\"reasoning\":{\"summary\":\"auto\"},\"instructions\":\"I\",\"max_output_tokens\":9,\"model\":\"n\"}", 0, 0));
    ask_set(&a, "max_tokens", "1");
    ask_set(&a, "reasoning_effort", "low");
    ask_say(&a, "Hi");
    CHECK_CASE(strcmp(a.body, "{\"stream\":true,\"input\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"store\":true,\"include\":[],\"reasoning\":{\"summary\":\"auto\"},"
        "\"instructions\":\"I\",\"max_output_tokens\":9,\"model\":\"n\"}") == 0, a.body);
    agent_close(a.e);
}
static void test_files(void)
{
    agent_part p[2];
    CHECK(ask_open(&a, "openai-responses", NULL, 0, 0));
    ask_files(&a);
    ASK_HAS(&a, "input[0]", "{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"What is this?\"},"
        "{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64,cG5n\"},{\"type\":\"input_image\",\"image_url\":\"https://sea.test/a.png\"},"
        "{\"type\":\"input_text\",\"text\":\"low\\ntide\"},{\"type\":\"input_file\",\"filename\":\"a.pdf\",\"file_data\":\"data:application/pdf;base64,JVBERg==\"}]}");
    ASK_WARNED(&a, "");
    ask_break(&a);
    p[0] = ask_part(AGENT_PART_FILE, NULL, "application/pdf", "https://sea.test/a.pdf");
    p[1] = ask_part(AGENT_PART_AUDIO, "wav", "audio/wav", NULL);
    CHECK(agent_submit(a.e, a.session, p, 2, AGENT_NOW) > 0);
    ask_take(&a);
    ASK_HAS(&a, "input[1].content", "[{\"type\":\"input_file\",\"file_url\":\"https://sea.test/a.pdf\"},{\"type\":\"input_text\",\"text\":\"[not sent: audio, audio/wav]\"}]");
    ASK_WARNED(&a, "- ");
    agent_close(a.e);
}
/* Thoughts go back as they came, before what they led to (wire-quirks D8), with what is encrypted of them; without it they are not known at the
 * provider, since it stores nothing (wire-quirks D7). A call is told in full, by its call_id (wire-quirks D9). A message keeps its phase
 * (wire-quirks F9), a call who called it; a provider's item is as it came.                                              */
static void test_replay(void)
{
    CHECK(ask_open(&a, "openai-responses", NULL, 2, 0));
    ask_say(&a, "Hi");
    ask_answer(&a, SSE, DONE("0", "\"type\":\"reasoning\",\"id\":\"rs_0\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"Lost.\"}]") DONE("1", THOUGHT)
        DONE("2", TEXT("I look.") ",\"phase\":\"commentary\"") DONE("3", CALL("a", "look", "{\\\"at\\\": [1]}"))
        DONE("4", CALL("b", "go", "") ",\"namespace\":null,\"caller\":{\"type\":\"program\",\"caller_id\":\"p\"}")
        DONE("5", CALL("c", "f l\\u00fcy", "{broken")) DONE("6", "\"type\":\"web_search_call\",\"id\":\"ws_1\",\"action\":{\"query\": \"a\\/b\"}") END);
    ask_take(&a);
    ASK_HAS(&a, "input[1]", "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"\\u00c9h\\n\"}],\"encrypted_content\":\"RU\\/5D\"}");
    ASK_HAS(&a, "input[2]", "{\"role\":\"assistant\",\"phase\":\"commentary\",\"content\":\"I look.\"}");
    ASK_HAS(&a, "input[3]", "{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"look\",\"arguments\":\"{\\\"at\\\": [1]}\"}");
    ASK_HAS(&a, "input[4]", "{\"type\":\"function_call\",\"call_id\":\"b\",\"name\":\"go\",\"arguments\":\"{}\",\"caller\":{\"type\":\"program\",\"caller_id\":\"p\"}}");
    ASK_HAS(&a, "input[5]", "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f_l__y\",\"arguments\":\"{}\"}");
    ASK_HAS(&a, "input[6]", "{\"type\":\"web_search_call\",\"id\":\"ws_1\",\"action\":{\"query\": \"a\\/b\"}}");
    ASK_HAS(&a, "input[7]", "{\"type\":\"function_call_output\",\"call_id\":\"a\",\"output\":\"look\"}");
    ASK_HAS(&a, "input[8]", "{\"type\":\"function_call_output\",\"call_id\":\"b\",\"output\":\"go\"}");
    ASK_HAS(&a, "input[9].call_id", "\"c\"");
    ask_answer(&a, SSE, DONE("0", THOUGHT) END);             /* thoughts that led to nothing                            */
    ask_pump(&a);
    ask_say(&a, "And?");
    ASK_HAS(&a, "input[10]", "{\"role\":\"user\",\"content\":\"And?\"}");
    ASK_WARNED(&a, "");
    ask_break(&a);
    ask_set(&a, "model", "n");
    ask_say(&a, "So?");
    ASK_HAS(&a, "input[1]", "{\"role\":\"assistant\",\"content\":\"I look.\"}");
    ASK_HAS(&a, "input[3]", "{\"type\":\"function_call\",\"call_id\":\"b\",\"name\":\"go\",\"arguments\":\"{}\"}");
    ASK_HAS(&a, "input[5].type", "\"function_call_output\"");
    ASK_WARNED(&a, "- ");
    agent_close(a.e);
}
/* Open models want their thoughts back as text; a host may give ids that are longer than what it takes.                 */
static void test_open_thoughts(void)
{
    CHECK(ask_open(&a, "openai-responses", NULL, 0, 0));
    ask_say(&a, "Hi");
    ask_answer(&a, SSE, DONE("0", "\"type\":\"reasoning\",\"id\":\"rs_0123456789012345678901234567890123456789012345678901234567890123456789\","
        "\"content\":[{\"type\":\"reasoning_text\",\"text\":\"Hm.\"}],\"status\":null") DONE("1", TEXT("Six.")) END);
    ask_pump(&a);
    ask_say(&a, "And?");
    ASK_HAS(&a, "input[1]", "{\"type\":\"reasoning\",\"content\":[{\"type\":\"reasoning_text\",\"text\":\"Hm.\"}],\"summary\":[]}");
    ASK_HAS(&a, "input[2]", "{\"role\":\"assistant\",\"content\":\"Six.\"}");
    agent_close(a.e);
}
/* Tools that the provider defines: the call goes back as it came, the answer in the form that belongs to it.            */
static void test_raw_tools(void)
{
    static const agent_tool tools[] = {
        { "sql", NULL, "{\"type\":\"custom\",\"name\":\"sql\"}", AGENT_TF_RAW, 0, NULL }, { "shell", NULL, "{\"type\":\"shell\"}", AGENT_TF_RAW, 0, NULL },
        { "local_shell", NULL, "{\"type\":\"local_shell\"}", AGENT_TF_RAW, 0, NULL }, { "apply_patch", NULL, "{\"type\":\"apply_patch\"}", AGENT_TF_RAW, 0, NULL },
        { "computer", NULL, "{\"type\":\"computer\"}", AGENT_TF_RAW, 0, NULL }
    };
    CHECK(ask_open(&a, "openai-responses", NULL, 0, 0));
    CHECK(agent_session_tools(a.e, a.session, tools, 5) == AGENT_OK);
    ask_set(&a, "tool_choice", "shell");
    ask_say(&a, "Hi");
    ASK_HAS(&a, "tools", "[{\"type\":\"custom\",\"name\":\"sql\"},{\"type\":\"shell\"},{\"type\":\"local_shell\"},{\"type\":\"apply_patch\"},{\"type\":\"computer\"}]");
    ASK_HAS(&a, "tool_choice", "{\"type\":\"shell\"}");
    ask_answer(&a, SSE, DONE("0", "\"type\":\"custom_tool_call\",\"id\":\"ctc_1\",\"call_id\":\"a\",\"name\":\"sql\",\"input\":\"say \\\"x\\\"\"")
        DONE("1", "\"type\":\"shell_call\",\"id\":\"sh_1\",\"call_id\":\"b\",\"action\":{\"commands\":[\"ls\"]}")
        DONE("2", "\"type\":\"local_shell_call\",\"id\":\"lsh_1\",\"call_id\":\"c\",\"action\":{\"command\":[\"ls\"]}")
        DONE("3", "\"type\":\"apply_patch_call\",\"id\":\"apc_1\",\"call_id\":\"d\",\"operation\":{\"type\":\"delete_file\"}")
        DONE("4", "\"type\":\"tool_search_call\",\"id\":\"tsc_1\",\"call_id\":\"e\",\"execution\":\"client\",\"arguments\":{}")
        DONE("5", "\"type\":\"computer_call\",\"id\":\"cu_1\",\"call_id\":\"f\",\"action\":{\"type\":\"wait\"}") END);
    ask_take(&a);
    ASK_HAS(&a, "input[1]", "{\"type\":\"custom_tool_call\",\"call_id\":\"a\",\"name\":\"sql\",\"input\":\"say \\\"x\\\"\"}");
    ASK_HAS(&a, "input[2]", "{\"type\":\"shell_call\",\"id\":\"sh_1\",\"call_id\":\"b\",\"action\":{\"commands\":[\"ls\"]}}");
    ASK_HAS(&a, "input[7]", "{\"type\":\"custom_tool_call_output\",\"call_id\":\"a\",\"output\":\"sql\"}");
    ASK_HAS(&a, "input[8]", "{\"type\":\"shell_call_output\",\"call_id\":\"b\",\"output\":[{\"stdout\":\"shell\",\"stderr\":\"\",\"outcome\":{\"type\":\"exit\",\"exit_code\":0}}]}");
    ASK_HAS(&a, "input[9]", "{\"type\":\"local_shell_call_output\",\"call_id\":\"c\",\"output\":\"local_shell\"}");
    ASK_HAS(&a, "input[10]", "{\"type\":\"apply_patch_call_output\",\"call_id\":\"d\",\"status\":\"completed\",\"output\":\"apply_patch\"}");
    ASK_HAS(&a, "input[11].tools", "[]");     /* no such tool here                                                      */
    ASK_HAS(&a, "input[11].type", "\"tool_search_output\"");
    ASK_HAS(&a, "input[12]", "{\"type\":\"computer_call_output\",\"call_id\":\"f\",\"output\":{\"type\":\"computer_screenshot\",\"image_url\":\"computer\"}}");
    ask_break(&a);
    ask_set(&a, "model", "n");                /* another model is told of them as of any call                            */
    ask_set(&a, "tool_choice", "sql");
    ask_say(&a, "And?");
    ASK_HAS(&a, "tool_choice", "{\"type\":\"custom\",\"name\":\"sql\"}");
    ASK_HAS(&a, "input[1]", "{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"sql\",\"arguments\":\"{\\\"input\\\":\\\"say \\\\\\\"x\\\\\\\"\\\"}\"}");
    ASK_HAS(&a, "input[2].type", "\"function_call\"");
    ASK_HAS(&a, "input[8]", "{\"type\":\"function_call_output\",\"call_id\":\"b\",\"output\":\"shell\"}");
    agent_close(a.e);
}
/* What the host brings, and data that is none; the words of the engine at the limit of steps.                           */
static void test_import(void)
{
    agent_part p[2];
    CHECK(ask_open(&a, "openai-responses", NULL, 2, 2));
    p[0] = ask_part(AGENT_PART_TEXT, "Well?", NULL, NULL);
    CHECK(agent_message_add(a.e, a.session, AGENT_USER, p, 1) > 0);
    p[0] = ask_part(AGENT_PART_REASONING, "Hm.", NULL, NULL);
    p[0].data.p = "{\"type\":";
    p[0].data.n = 8;
    p[1] = ask_part(AGENT_PART_TEXT, "Six.", NULL, NULL);
    p[1].data = p[0].data;
    CHECK(agent_message_add(a.e, a.session, AGENT_MODEL, p, 2) > 0);
    ask_say(&a, "And?");
    ASK_HAS(&a, "input", "[{\"role\":\"user\",\"content\":\"Well?\"},{\"role\":\"assistant\",\"content\":\"Six.\"},{\"role\":\"user\",\"content\":\"And?\"}]");
    ask_answer(&a, SSE, DONE("0", CALL("a", "go", "{}")) END);
    ask_take(&a);
    ASK_HAS(&a, "tool_choice", "\"none\"");
    CHECK(strstr(a.body, "Call no more tools.") != NULL);
    agent_close(a.e);
}
#define KEPT(id, ...) __VA_ARGS__ EV("{\"type\":\"response.completed\",\"response\":{\"id\":\"" id "\",\"status\":\"completed\",\"output\":[]}}")
/* An error body for the request that waits.                                                                             */
static void refuse(int status, const char *body)
{
    CHECK(agent_http_head(a.e, a.conn, status, "content-type: application/json\n", AGENT_CSTR) == AGENT_OK);
    CHECK(agent_feed(a.e, a.conn, body, strlen(body), NULL) == AGENT_OK && agent_eof(a.e, a.conn) == AGENT_OK);
}
/* The provider keeps its answers: what it has is not sent again; what broke off, and what it has forgotten, is.          */
static void test_stateful(void)
{
    CHECK(ask_open(&a, "openai-responses", NULL, 2, 0));
    ask_set(&a, "stateful", "true");
    ask_say(&a, "Hi");
    ASK_HAS(&a, "store", "true");
    ASK_HAS(&a, "include", NULL);
    ASK_HAS(&a, "previous_response_id", NULL);
    ask_answer(&a, SSE, KEPT("resp_1", DONE("0", THOUGHT) DONE("1", CALL("a", "go", "{}"))));
    ask_take(&a);
    ASK_HAS(&a, "previous_response_id", "\"resp_1\"");
    ASK_HAS(&a, "instructions", "\"Be brief.\"");
    ASK_HAS(&a, "input", "[{\"type\":\"function_call_output\",\"call_id\":\"a\",\"output\":\"go\"}]");
    ask_answer(&a, SSE, KEPT("resp_2", DONE("0", TEXT("Six."))));
    ask_say(&a, "And?");
    ASK_HAS(&a, "previous_response_id", "\"resp_2\"");
    ASK_HAS(&a, "input", "[{\"role\":\"user\",\"content\":\"And?\"}]");
    ask_answer(&a, SSE, EV("{\"type\":\"response.created\",\"response\":{\"id\":\"resp_3\"}}") EV("{\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"It\"}"));
    ask_say(&a, "Go on.");                   /* resp_3 broke off                                                        */
    ASK_HAS(&a, "previous_response_id", "\"resp_2\"");
    CHECK_CASE(strstr(a.body, "And?") && strstr(a.body, "Go on.") && !strstr(a.body, "Six."), a.body);
    CHECK(agent_cancel(a.e, a.session) == AGENT_OK);
    ask_say(&a, "Once more.");
    ASK_HAS(&a, "previous_response_id", "\"resp_2\"");
    CHECK(strstr(a.body, "And?") && strstr(a.body, "Go on.") && strstr(a.body, "Once more."));
    refuse(404, "{\"error\":{\"message\":\"Previous response with id 'resp_2' not found.\",\"code\":\"previous_response_not_found\"}}");
    ask_take(&a);
    ASK_HAS(&a, "previous_response_id", NULL);
    CHECK(strstr(a.body, "\"Hi\"") && strstr(a.body, "Six.") && strstr(a.body, "Once more."));
    refuse(404, "{\"error\":{\"message\":\"Previous response with id 'resp_2' not found.\"}}");       /* it was not sent: not again */
    ask_say(&a, "Well?");
    ask_answer(&a, SSE, KEPT("resp_4", DONE("0", TEXT("Yes."))));
    ask_set(&a, "model", "n");               /* another model has not said it                                           */
    ask_say(&a, "Sure?");
    ASK_HAS(&a, "previous_response_id", NULL);
    ask_answer(&a, SSE, KEPT("resp_5", DONE("0", TEXT("Yes."))));
    ask_set(&a, "stateful", "false");
    ask_say(&a, "Bye");
    ASK_HAS(&a, "previous_response_id", NULL);
    ASK_HAS(&a, "store", "false");
    CHECK(strstr(a.body, "Sure?") != NULL);
    agent_close(a.e);
    CHECK(ask_open(&a, "openai", NULL, 0, 0));
    ask_set(&a, "stateful", "true");
    ask_say(&a, "Hi");
    ASK_WARNED(&a, "stateful ");
    agent_close(a.e);
}
static void test_stateful_interactions(void)
{
    CHECK(ask_open(&a, "gemini-interactions", NULL, 0, 0));
    ask_set(&a, "stateful", "true");
    ask_say(&a, "Hi");
    ASK_HAS(&a, "store", "true");
    ask_answer(&a, "application/json", "{\"id\":\"int_1\",\"status\":\"completed\",\"steps\":[{\"type\":\"model_output\",\"content\":[{\"type\":\"text\",\"text\":\"Six.\"}]}]}");
    ask_say(&a, "And?");
    ASK_HAS(&a, "previous_interaction_id", "\"int_1\"");
    CHECK_CASE(strstr(a.body, "And?") && !strstr(a.body, "Six."), a.body);
    agent_close(a.e);
}
int main(void)
{
    test_options();
    test_members();
    test_files();
    test_replay();
    test_open_thoughts();
    test_raw_tools();
    test_import();
    test_stateful();
    test_stateful_interactions();
    return test_end("request_responses");
}
