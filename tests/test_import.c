/* Requests in and out: one conversation in four formats, from each into each; what goes back as it came, what is told, what is refused, and
 * what it costs. */
#include <stddef.h>
#include "touch.h"
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "ask.h"

/* ---- one conversation, as programs of four providers have it ---- */
#define PNG "iVBORw0KGgo="
static const char chat[] =
    "{\"model\":\"m-chat\",\"stream\":false,\"max_tokens\":77,\"temperature\":0.25,\"stop\":[\"END\"],\"tool_choice\":\"auto\",\"messages\":["
    "{\"role\":\"system\",\"content\":\"Be brief.\"},"
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"What is \\\"this\\\"?\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64," PNG "\",\"detail\":\"low\"}}]},"
    "{\"role\":\"assistant\",\"content\":\"I look.\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"hm\",\"signature\":\"SIG\",\"index\":0}],"
    "\"tool_calls\":[{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"look\",\"arguments\":\"{\\\"at\\\":1}\"}}]},"
    "{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":\"a dot\"},"
    "{\"role\":\"assistant\",\"content\":\"It is a dot.\"}],"
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"look\",\"description\":\"Looks.\",\"parameters\":{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"integer\"}}},\"strict\":true}}],"
    "\"provider\":{\"only\":[\"x\"]}}";
static const char responses[] =
    "{\"model\":\"m-resp\",\"stream\":false,\"max_output_tokens\":77,\"temperature\":0.25,\"tool_choice\":\"auto\",\"instructions\":\"Be brief.\",\"input\":["
    "{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"What is \\\"this\\\"?\"},{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64," PNG "\",\"detail\":\"low\"}]},"
    "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"hm\"}],\"encrypted_content\":\"SIG\"},"
    "{\"type\":\"message\",\"role\":\"assistant\",\"id\":\"msg_1\",\"status\":\"completed\",\"content\":[{\"type\":\"output_text\",\"text\":\"I look.\",\"annotations\":[]}]},"
    "{\"type\":\"function_call\",\"id\":\"fc_1\",\"call_id\":\"call_1\",\"name\":\"look\",\"arguments\":\"{\\\"at\\\":1}\"},"
    "{\"type\":\"function_call_output\",\"call_id\":\"call_1\",\"output\":\"a dot\"},"
    "{\"role\":\"assistant\",\"content\":\"It is a dot.\"}],"
    "\"tools\":[{\"type\":\"function\",\"name\":\"look\",\"description\":\"Looks.\",\"parameters\":{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"integer\"}}},\"strict\":true},{\"type\":\"web_search\"}],"
    "\"store\":true}";
static const char anthropic[] =
    "{\"model\":\"m-anth\",\"stream\":false,\"max_tokens\":77,\"temperature\":0.25,\"stop_sequences\":[\"END\"],\"tool_choice\":{\"type\":\"auto\"},"
    "\"system\":[{\"type\":\"text\",\"text\":\"Be brief.\",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}}],\"messages\":["
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"What is \\\"this\\\"?\"},{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"" PNG "\"},\"cache_control\":{\"type\":\"ephemeral\"}}]},"
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"SIG\"},{\"type\":\"redacted_thinking\",\"data\":\"RED\\/ACTED\"},"
    "{\"type\":\"text\",\"text\":\"I look.\"},{\"type\":\"tool_use\",\"id\":\"call_1\",\"name\":\"look\",\"input\":{\"at\":1}}]},"
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"call_1\",\"content\":\"a dot\"}]},"
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"It is a dot.\"}]}],"
    "\"tools\":[{\"name\":\"look\",\"description\":\"Looks.\",\"input_schema\":{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"integer\"}}},\"cache_control\":{\"type\":\"ephemeral\"}}],"
    "\"metadata\":{\"user_id\":\"u\"}}";
static const char gemini[] =
    "{\"generationConfig\":{\"maxOutputTokens\":77,\"temperature\":0.25,\"stopSequences\":[\"END\"],\"responseMimeType\":\"text/plain\"},"
    "\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"AUTO\"}},\"systemInstruction\":{\"role\":\"user\",\"parts\":[{\"text\":\"Be brief.\"}]},\"contents\":["
    "{\"role\":\"user\",\"parts\":[{\"text\":\"What is \\\"this\\\"?\"},{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"" PNG "\",\"displayName\":\"dot\"}}]},"
    "{\"role\":\"model\",\"parts\":[{\"text\":\"hm\",\"thought\":true},{\"text\":\"I look.\"},{\"functionCall\":{\"id\":\"call_1\",\"name\":\"look\",\"args\":{\"at\":1}},\"thoughtSignature\":\"SIG\"}]},"
    "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"call_1\",\"name\":\"look\",\"response\":{\"output\":\"a dot\"}}}]},"
    "{\"role\":\"model\",\"parts\":[{\"text\":\"It is a dot.\"}]}],"
    "\"tools\":[{\"functionDeclarations\":[{\"name\":\"look\",\"description\":\"Looks.\",\"parameters\":{\"type\":\"OBJECT\",\"properties\":{\"at\":{\"type\":\"INTEGER\"}}}}]}],"
    "\"safetySettings\":[{\"category\":\"C\",\"threshold\":\"T\"}]}";

typedef struct fact { const char *path, *want; } fact;       /* want NULL: it is not there                              */
enum { FACTS = 15 };
typedef struct format {
    const char *wire, *provider, *body;
    fact facts[FACTS];                        /* of what comes out, wherever it came from                               */
    fact own[5];                              /* of what came from the same format                                      */
    const char *kept;                         /* the WARNINGs where the peer speaks another format                      */
} format;
static const format formats[] = {
    { "openai-chat", "llama.cpp", chat,
      { { "stream", "false" }, { "max_tokens", "77" }, { "temperature", "0.25" }, { "messages[0]", "{\"role\":\"system\",\"content\":\"Be brief.\"}" },
        { "messages[1].role", "\"user\"" }, { "messages[1].content[0].text", "\"What is \\\"this\\\"?\"" },
        { "messages[1].content[1].image_url.url", "\"data:image/png;base64," PNG "\"" }, { "messages[2].role", "\"assistant\"" }, { "messages[2].content", "\"I look.\"" },
        { "messages[2].tool_calls[0].function", "{\"name\":\"look\",\"arguments\":\"{\\\"at\\\":1}\"}" },
        { "messages[3]", "{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":\"a dot\"}" }, { "messages[4]", "{\"role\":\"assistant\",\"content\":\"It is a dot.\"}" },
        { "tools[0].function.name", "\"look\"" }, { "tools[0].function.parameters", "{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"integer\"}}}" },
        { "tool_choice", "\"auto\"" } },
      { { "model", "\"m-chat\"" }, { "messages[1].content[1].image_url.detail", "\"low\"" }, { "messages[2].reasoning_details[0].signature", "\"SIG\"" },
        { "tools[0].function.strict", "true" }, { "provider", "{\"only\":[\"x\"]}" } }, "provider " },
    { "openai-responses", "openai-responses", responses,
      { { "stream", "false" }, { "max_output_tokens", "77" }, { "temperature", "0.25" }, { "instructions", "\"Be brief.\"" },
        { "input[0].role", "\"user\"" }, { "input[0].content[0].text", "\"What is \\\"this\\\"?\"" }, { "input[0].content[1].image_url", "\"data:image/png;base64," PNG "\"" },
        { NULL, "\"role\":\"assistant\"" }, { NULL, "I look." }, { NULL, "\"arguments\":\"{\\\"at\\\":1}\"" },
        { NULL, "{\"type\":\"function_call_output\",\"call_id\":\"call_1\",\"output\":\"a dot\"}" }, { NULL, "{\"role\":\"assistant\",\"content\":\"It is a dot.\"}" },
        { "tools[0].name", "\"look\"" }, { "tools[0].parameters", "{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"integer\"}}}" }, { "tool_choice", "\"auto\"" } },
      { { "model", "\"m-resp\"" }, { "input[0].content[1].detail", "\"low\"" },
        { "input[1]", "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"hm\"}],\"encrypted_content\":\"SIG\"}" },
        { "input[2].id", "\"msg_1\"" }, { "store", "true" } }, "- store " },
    { "anthropic", "anthropic", anthropic,
      { { "stream", "false" }, { "max_tokens", "77" }, { "temperature", "0.25" }, { "system[0].text", "\"Be brief.\"" },
        { "messages[0].role", "\"user\"" }, { "messages[0].content[0]", "{\"type\":\"text\",\"text\":\"What is \\\"this\\\"?\"}" },
        { "messages[0].content[1].source", "{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"" PNG "\"}" }, { "messages[1].role", "\"assistant\"" },
        { NULL, "{\"type\":\"text\",\"text\":\"I look.\"}" }, { NULL, "{\"type\":\"tool_use\",\"id\":\"call_1\",\"name\":\"look\",\"input\":{\"at\":1}}" },
        { "messages[2].content[0]", "{\"type\":\"tool_result\",\"tool_use_id\":\"call_1\",\"content\":\"a dot\"}" },
        { "messages[3].content[0].text", "\"It is a dot.\"" }, { "tools[0].name", "\"look\"" },
        { "tools[0].input_schema", "{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"integer\"}}}" }, { "tool_choice", "{\"type\":\"auto\"}" } },
      { { "system[0].cache_control.ttl", "\"1h\"" }, { "messages[0].content[1].cache_control", "{\"type\":\"ephemeral\"}" },
        { "messages[1].content[0]", "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"SIG\"}" },
        { "messages[1].content[1]", "{\"type\":\"redacted_thinking\",\"data\":\"RED\\/ACTED\"}" }, { "metadata", "{\"user_id\":\"u\"}" } }, "metadata " },
    { "gemini", "gemini", gemini,
      { { "generationConfig.maxOutputTokens", "77" }, { "generationConfig.temperature", "0.25" }, { "systemInstruction.parts[0].text", "\"Be brief.\"" },
        { "contents[0].role", "\"user\"" }, { "contents[0].parts[0]", "{\"text\":\"What is \\\"this\\\"?\"}" }, { "contents[0].parts[1].inlineData.mimeType", "\"image/png\"" },
        { "contents[0].parts[1].inlineData.data", "\"" PNG "\"" }, { "contents[1].role", "\"model\"" }, { NULL, "{\"text\":\"I look.\"}" },
        { NULL, "\"functionCall\":{\"id\":\"call_1\",\"name\":\"look\",\"args\":{\"at\":1}}" },
        { "contents[2].parts[0].functionResponse", "{\"id\":\"call_1\",\"name\":\"look\",\"response\":{\"output\":\"a dot\"}}" },
        { "contents[3].parts[0].text", "\"It is a dot.\"" }, { "tools[0].functionDeclarations[0].name", "\"look\"" },
        { "toolConfig.functionCallingConfig.mode", "\"AUTO\"" }, { "stream", NULL } },
      { { "generationConfig.responseMimeType", "\"text/plain\"" }, { "systemInstruction.role", "\"user\"" }, { "contents[0].parts[1].inlineData.displayName", "\"dot\"" },
        { "contents[1].parts[2].thoughtSignature", "\"SIG\"" }, { "tools[0].functionDeclarations[0].parameters.type", "\"OBJECT\"" } }, "safetySettings " }
};
enum { FORMATS = 4 };

static agent_str view(const char *text) { agent_str s; s.p = text; s.n = strlen(text); return s; }
static int open_ask(ask *a, const char *provider)
{
    int ok = ask_open(a, provider, NULL, 0, 0);
    return ok && agent_session_set(a->e, a->session, "system", "", 0) == AGENT_OK;
}
static int in(ask *a, const char *wire, const char *json)
{
    agent_json_error err;
    int rc = agent_import(a->e, a->session, wire, json, AGENT_CSTR, &err);
    if (rc != AGENT_OK) fprintf(stderr, "import: %d at %u: %s\n", rc, (unsigned)err.offset, err.why);
    return rc;
}
static agent_str out(ask *a, const char *wire)
{
    agent_str s = view("");
    CHECK_CASE(agent_export(a->e, a->session, wire, &s) == AGENT_OK, wire);
    CHECK_CASE(agent_json_check(s.p, s.n, 0, NULL) == AGENT_OK, s.p);
    CHECK(s.p[s.n] == 0);
    return s;
}
static void is(agent_str json, const char *path, const char *want)
{
    agent_str v = path ? agent_json_get(json, path) : view("");
    int ok = path == NULL ? strstr(json.p, want) != NULL : want == NULL ? v.p == NULL : v.p && v.n == strlen(want) && memcmp(v.p, want, v.n) == 0;
    CHECK_CASE(ok, path ? path : want);
    if (!ok) fprintf(stderr, "  in %.*s\n", (int)json.n, json.p);
}
static void warned(ask *a, const char *names)
{
    a->warned[0] = 0;
    ask_pump(a);
    ASK_WARNED(a, names);
}

/* ---- from each into each ---- */
static void one_pair(const format *from, const format *to, const format *peer)
{
    ask a;
    agent_str s;
    char *first;
    size_t i;
    int n;
    CHECK(open_ask(&a, peer->provider));
    CHECK_CASE(in(&a, from->wire, from->body) == AGENT_OK, from->wire);
    warned(&a, from == peer ? "" : from->kept);
    CHECK(agent_messages(a.e, a.session) == 4);
    s = out(&a, to->wire);
    for (i = from == formats + 3 && to != from; i < FACTS; i++) is(s, to->facts[i].path, to->facts[i].want);
    for (i = 0; from == to && i < 5; i++) is(s, to->own[i].path, to->own[i].want);
    if (from != to) {
        CHECK_CASE(strstr(s.p, "SIG") == NULL && strstr(s.p, "RED") == NULL && strstr(s.p, "strict\":true") == NULL && strstr(s.p, "low") == NULL, s.p);
        agent_str model = agent_json_get(view(from->body), "model");
        int own = peer == from && model.p != NULL;           /* the model of another format's import is not the session's */
        if (to == formats + 3) is(s, "model", NULL);
        else CHECK_CASE(strncmp(agent_json_get(s, "model").p, own ? model.p : "\"m\"", own ? model.n : 3) == 0, s.p);
    }
    first = (char *)malloc(s.n + 1);
    if (first == NULL) exit(2);
    memcpy(first, s.p, s.n + 1);
    ask_pump(&a);
    s = out(&a, to->wire);
    CHECK_CASE(strcmp(first, s.p) == 0, s.p);                 /* to export changes nothing                               */
    agent_close(a.e);
    for (n = 0; n < 2; n++) {                 /* what came out goes in, and comes out the same, but for the order of members of the first time */
        CHECK(open_ask(&a, to->provider));
        CHECK_CASE(in(&a, to->wire, first) == AGENT_OK, first);
        s = out(&a, to->wire);
        for (i = from == formats + 3 && to != from; i < FACTS; i++) is(s, to->facts[i].path, to->facts[i].want);
        for (i = 0; from == to && i < 5; i++) is(s, to->own[i].path, to->own[i].want);
        CHECK_CASE(n == 0 || strcmp(first, s.p) == 0, s.p);
        CHECK_CASE(strlen(first) == s.n, s.p);
        strcpy(first, s.p);
        agent_close(a.e);
    }
    free(first);
}

static void pairs(void)
{
    size_t i, k, p;
    for (i = 0; i < FORMATS; i++) for (k = 0; k < FORMATS; k++) for (p = 0; p < FORMATS; p++) one_pair(&formats[i], &formats[k], &formats[p]);
}
/* Into the formats that are only written, too: JSON that has the conversation in it.                                    */
static void to_others(void)
{
    static const char *const others[] = { "gemini-interactions", "bedrock-converse", "bedrock-invoke", "ollama", "ollama-generate", "cohere-v2", "openai-completions" };
    size_t i, k;
    for (i = 0; i < FORMATS; i++) for (k = 0; k < sizeof others / sizeof *others; k++) {
        ask a;
        agent_str s;
        CHECK(open_ask(&a, formats[i].provider));
        CHECK(in(&a, formats[i].wire, formats[i].body) == AGENT_OK);
        s = out(&a, others[k]);
        CHECK_CASE(strstr(s.p, "It is a dot.") != NULL && strstr(s.p, "SIG") == NULL, s.p);
        agent_close(a.e);
    }
}

/* ---- what the session is then ---- */
static void table(void)
{
    static const int kinds[] = { AGENT_PART_REASONING, AGENT_PART_OTHER, AGENT_PART_TEXT, AGENT_PART_CALL };
    ask a;
    agent_msg m;
    agent_part p;
    size_t i;
    CHECK(open_ask(&a, "anthropic"));
    CHECK(in(&a, "anthropic", anthropic) == AGENT_OK);
    CHECK(agent_message(a.e, a.session, 0, &m) == AGENT_OK && m.role == AGENT_USER && m.id == 1 && m.run == 0 && m.part_count == 2);
    CHECK(agent_message_part(a.e, a.session, 1, 1, &p) == AGENT_OK && p.kind == AGENT_PART_IMAGE && strcmp(p.text.p, PNG) == 0 && strcmp(p.mime.p, "image/png") == 0);
    CHECK(p.flags == (AGENT_PART_BASE64 | AGENT_PART_CACHE));
    CHECK(agent_message(a.e, a.session, 1, &m) == AGENT_OK && m.role == AGENT_MODEL && m.part_count == 4);
    for (i = 0; i < 4; i++) CHECK(agent_message_part(a.e, a.session, 2, i, &p) == AGENT_OK && p.kind == kinds[i] && p.id == 3 + i);
    CHECK(strcmp(p.text.p, "{\"at\":1}") == 0 && strcmp(p.wire_id.p, "call_1") == 0 && strcmp(p.name.p, "look") == 0 && p.call == 1);
    CHECK(agent_message_part(a.e, a.session, 2, 1, &p) == AGENT_OK && strcmp(p.name.p, "redacted_thinking") == 0);
    CHECK(agent_message_part(a.e, a.session, 3, 0, &p) == AGENT_OK && p.kind == AGENT_PART_RESULT && p.call == 1 && strcmp(p.text.p, "a dot") == 0);
    agent_close(a.e);
}
/* The conversation goes on: the request is the body with the new message, options and tools are the import's.           */
static void goes_on(void)
{
    ask a;
    agent_str s;
    agent_tool tool = { "other", NULL, NULL, 0, 0, NULL };
    CHECK(ask_open(&a, "openai", "{\"user\":\"peer\"}", 2, 0));
    CHECK(in(&a, "openai-chat", "{\"model\":\"m2\",\"max_completion_tokens\":5,\"logprobs\":true,\"user\":\"mine\",\"reasoning_effort\":\"low\",\"n\":1,"
             "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"look\"}},\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"look\"}}],"
             "\"messages\":[{\"role\":\"developer\",\"content\":\"Be kind.\"},{\"role\":\"user\",\"name\":\"Ann\",\"content\":\"Hi\"},"
             "{\"role\":\"system\",\"content\":\"Now be brief.\"},{\"role\":\"assistant\",\"content\":\"Yes?\"}]}") == AGENT_OK);
    ask_say(&a, "Go.");
    is(view(a.body), NULL, "\"messages\":[{\"role\":\"developer\",\"content\":\"Be kind.\"},{\"role\":\"user\",\"content\":\"Hi\",\"name\":\"Ann\"},"
       "{\"role\":\"system\",\"content\":\"Now be brief.\"},{\"role\":\"assistant\",\"content\":\"Yes?\"},{\"role\":\"user\",\"content\":\"Go.\"}]");
    ASK_HAS(&a, "model", "\"m2\"");
    ASK_HAS(&a, "max_completion_tokens", "5");
    ASK_HAS(&a, "logprobs", "true");
    ASK_HAS(&a, "user", "\"peer\"");                         /* what the host gave to the peer wins                     */
    ASK_HAS(&a, "reasoning_effort", "\"low\"");
    ASK_HAS(&a, "tool_choice.function.name", "\"look\"");
    ASK_HAS(&a, "tools[0]", "{\"type\":\"function\",\"function\":{\"name\":\"look\"}}");
    ASK_WARNED(&a, "");
    CHECK(agent_export(a.e, a.session, "openai-chat", &s) == AGENT_E_STATE);
    ask_break(&a);
    CHECK(agent_session_tools(a.e, a.session, &tool, 1) == AGENT_OK);
    ask_set(&a, "system", "New.");                           /* the host's word takes the import's back                 */
    s = out(&a, "openai-chat");
    is(s, "messages[0]", "{\"role\":\"system\",\"content\":\"New.\"}");
    is(s, "tools[0].function.name", "\"other\"");
    is(s, "logprobs", "true");
    agent_close(a.e);
}
/* A member that says more than an option goes when that is set, and that is told.                                       */
static void taken_back(void)
{
    ask a;
    CHECK(open_ask(&a, "gemini"));
    CHECK(in(&a, "gemini", gemini) == AGENT_OK);
    warned(&a, "");
    ask_set(&a, "temperature", "1");
    warned(&a, "generationConfig ");
    is(out(&a, "gemini"), "generationConfig", "{\"maxOutputTokens\":77,\"temperature\":1,\"stopSequences\":[\"END\"]}");
    warned(&a, "");
    (void)out(&a, "openai-chat");                            /* what has no place there is told again                   */
    warned(&a, "- - safetySettings ");
    agent_close(a.e);
}
/* Calls at the end wait for their results.                                                                              */
static void calls_wait(void)
{
    ask a;
    agent_part p;
    CHECK(open_ask(&a, "anthropic"));
    CHECK(in(&a, "gemini", "[{\"parts\":[{\"text\":\"Hi\"}]},{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\"}},{\"functionCall\":{\"name\":\"f\",\"args\":{\"x\":1}}}]}]") == AGENT_OK);
    CHECK(agent_messages(a.e, a.session) == 2);
    memset(&p, 0, sizeof p);
    {
        agent_part two[2];
        two[0] = two[1] = p;
        two[0].kind = two[1].kind = AGENT_PART_RESULT;
        two[0].text = two[1].text = view("ok");
        two[0].wire_id = view("call_local_1");
        two[1].wire_id = view("call_local_2");
        CHECK(agent_message_add(a.e, a.session, AGENT_TOOLS, two, 2) > 0);
    }
    is(out(&a, "gemini"), "contents[2].parts[1].functionResponse", "{\"name\":\"f\",\"response\":{\"output\":\"ok\"}}");
    is(out(&a, "anthropic"), "messages[2].content[1].tool_use_id", "\"call_local_2\"");
    agent_close(a.e);
}

/* ---- forms ---- */
typedef struct form { const char *wire, *provider, *body, *want; const char *to, *there; } form;
static const form forms[] = {                 /* want: in what comes out in the same format; there: of format `to`       */
    { "openai-chat", "openai", "[{\"role\":\"user\",\"content\":[{\"type\":\"file\",\"file\":{\"file_id\":\"file-1\"}}]}]",
      "[{\"role\":\"user\",\"content\":[{\"type\":\"file\",\"file\":{\"file_id\":\"file-1\"}}]}]", "anthropic", "[not sent: a block of another provider]" },
    { "openai-chat", "openai", "[{\"role\":\"user\",\"content\":[{\"type\":\"file\",\"file\":{\"filename\":\"a.pdf\",\"file_data\":\"data:application/pdf;base64,QQ==\"}}]}]",
      "{\"filename\":\"a.pdf\",\"file_data\":\"data:application/pdf;base64,QQ==\"}", "anthropic",
      "\"source\":{\"type\":\"base64\",\"media_type\":\"application/pdf\",\"data\":\"QQ==\"},\"title\":\"a.pdf\"" },
    { "openai-chat", "openai", "[{\"role\":\"user\",\"content\":[{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"QQ==\",\"format\":\"wav\"}}]}]",
      "{\"data\":\"QQ==\",\"format\":\"wav\"}", "gemini", "\"inlineData\":{\"mimeType\":\"audio/wav\",\"data\":\"QQ==\"}" },
    { "openai-chat", "openai", "[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://a/b.png\"}}]}]",
      "{\"url\":\"https://a/b.png\"}", "anthropic", "{\"type\":\"url\",\"url\":\"https://a/b.png\"}" },
    { "openai-chat", "openai", "[{\"role\":\"user\",\"content\":\"\"},{\"role\":\"assistant\",\"content\":null,\"refusal\":\"No.\"}]",
      "{\"role\":\"assistant\",\"content\":null,\"refusal\":\"No.\"}", "anthropic", "\"text\":\"No.\"" },
    { "openai-chat", "openai", "[{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"a\",\"cache_control\":{\"type\":\"ephemeral\"}},{\"type\":\"text\",\"text\":\"b\"}]}]",
      "\"content\":[{\"type\":\"text\",\"text\":\"a\",\"cache_control\":{\"type\":\"ephemeral\"}},{\"type\":\"text\",\"text\":\"b\"}]", "gemini", "[{\"text\":\"a\"},{\"text\":\"b\"}]" },
    { "openai-chat", "openai", "[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"type\":\"custom\",\"custom\":{\"name\":\"c\",\"input\":\"x\\\"y\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"\"}]",
      "{\"id\":\"a\",\"type\":\"custom\",\"custom\":{\"name\":\"c\",\"input\":\"x\\\"y\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"\"}", "anthropic", "\"input\":{\"input\":\"x\\\"y\"}" },
    { "openai-chat", "openai", "[{\"role\":\"assistant\",\"content\":null,\"function_call\":{\"name\":\"f\",\"arguments\":\"\"}},{\"role\":\"function\",\"name\":\"f\",\"content\":\"r\"}]",
      "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"call_local_1\",\"content\":\"r\"", "gemini", "\"response\":{\"output\":\"r\"}" },
    /* two calls of one id, results the other way round */
    { "openai-chat", "openai", "[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\"}},{\"id\":\"a\",\"function\":{\"name\":\"g\"}},{\"id\":\"b\",\"function\":{\"name\":\"h\"}}]},"
      "{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"3\"},{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"1\"},{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"2\"}]",
      "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"1\"},{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"2\"},{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"3\"}",
      "anthropic", "{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"1\"},{\"type\":\"tool_result\",\"tool_use_id\":\"a_1\",\"content\":\"2\"}" },
    { "openai-chat", "openai", "[{\"role\":\"user\",\"content\":\"\\ud83d\\ude00 \\ud800 \\u0000\"}]", "\"\xF0\x9F\x98\x80 \xEF\xBF\xBD \\u0000\"", "gemini", "\"\xF0\x9F\x98\x80 \xEF\xBF\xBD \\u0000\"" },
    { "openai-responses", "openai-responses", "{\"input\":\"Hi\",\"model\":\"x\"}", "\"input\":[{\"role\":\"user\",\"content\":\"Hi\"}]", "openai-chat", "{\"role\":\"user\",\"content\":\"Hi\"}" },
    { "openai-responses", "openai-responses", "[{\"role\":\"developer\",\"content\":\"S\"},{\"role\":\"user\",\"content\":\"Hi\"}]",
      "\"input\":[{\"role\":\"developer\",\"content\":\"S\"},{\"role\":\"user\",\"content\":\"Hi\"}]", "anthropic", "\"system\":[{\"type\":\"text\",\"text\":\"S\"}]" },
    { "openai-responses", "openai-responses", "[{\"type\":\"web_search_call\",\"id\":\"ws_1\",\"status\":\"completed\"},{\"role\":\"assistant\",\"phase\":\"commentary\",\"content\":\"a\"}]",
      "[{\"type\":\"web_search_call\",\"id\":\"ws_1\",\"status\":\"completed\"},{\"role\":\"assistant\",\"phase\":\"commentary\",\"content\":\"a\"}]", "openai-chat", "\"content\":\"a\"" },
    { "openai-responses", "openai-responses", "[{\"type\":\"custom_tool_call\",\"call_id\":\"c\",\"name\":\"n\",\"input\":\"raw\"},{\"type\":\"custom_tool_call_output\",\"call_id\":\"c\",\"output\":\"o\"}]",
      "[{\"type\":\"custom_tool_call\",\"call_id\":\"c\",\"name\":\"n\",\"input\":\"raw\"},{\"type\":\"custom_tool_call_output\",\"call_id\":\"c\",\"output\":\"o\"}]", "gemini", "\"args\":{\"input\":\"raw\"}" },
    { "openai-responses", "openai-responses", "[{\"type\":\"local_shell_call\",\"call_id\":\"c\",\"action\":{\"type\":\"exec\"},\"status\":\"completed\"},{\"type\":\"local_shell_call_output\",\"call_id\":\"c\",\"output\":\"o\"}]",
      "[{\"type\":\"local_shell_call\",\"call_id\":\"c\",\"action\":{\"type\":\"exec\"},\"status\":\"completed\"},{\"type\":\"local_shell_call_output\",\"call_id\":\"c\",\"output\":\"o\"}]", "anthropic", "\"name\":\"local_shell\",\"input\":{\"type\":\"exec\"}" },
    { "openai-responses", "openai-responses", "{\"previous_response_id\":\"r\",\"input\":[{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"o\"}]}",
      "[{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"o\"}]", NULL, NULL },
    { "anthropic", "anthropic", "[{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\",\"content\":\"you\"}]",
      "{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":\"S\"}]},{\"role\":\"user\"", "openai-chat", "{\"role\":\"system\",\"content\":\"S\"}" },
    { "anthropic", "anthropic", "[{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"and\"},"
      "{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"is_error\":true,\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"QQ==\"}}]}]}]",
      "{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"is_error\":true,\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"QQ==\"}}]},{\"type\":\"text\",\"text\":\"and\"}",
      "gemini", "\"response\":{\"error\":\"a[a block that is no text]\"}" },
    { "anthropic", "anthropic", "[{\"role\":\"user\",\"content\":[{\"type\":\"document\",\"source\":{\"type\":\"text\",\"media_type\":\"text/plain\",\"data\":\"words\"},\"title\":\"t\",\"citations\":{\"enabled\":true}}]}]",
      "{\"type\":\"document\",\"source\":{\"type\":\"text\",\"media_type\":\"text/plain\",\"data\":\"words\"},\"title\":\"t\",\"citations\":{\"enabled\":true}}", "openai-chat", "{\"type\":\"text\",\"text\":\"words\"}" },
    { "anthropic", "anthropic", "{\"max_tokens\":100,\"temperature\":1,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2000,\"display\":\"omitted\"},\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":\"assistant\",\"content\":\"{\"}]}",
      "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2000,\"display\":\"omitted\"}", "gemini", "\"thinkingConfig\":{\"thinkingBudget\":2000,\"includeThoughts\":true}" },
    { "anthropic", "anthropic", "[{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"a\",\"citations\":[{\"type\":\"x\"}]},{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"web_search\",\"input\":{}}]}]",
      "[{\"type\":\"text\",\"text\":\"a\",\"citations\":[{\"type\":\"x\"}]},{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"web_search\",\"input\":{}}]", "openai-chat", "{\"role\":\"assistant\",\"content\":\"a\"}" },
    { "gemini", "gemini", "{\"contents\":[{\"role\":\"model\",\"parts\":[{\"function_call\":{\"name\":\"f\",\"args\":{}},\"thought_signature\":\"S\"},{\"executableCode\":{\"code\":\"1\"}}]},{\"role\":\"function\",\"parts\":[{\"function_response\":{\"name\":\"f\",\"response\":{\"r\":[1]}}}]}]}",
      "[{\"functionCall\":{\"name\":\"f\",\"args\":{}},\"thoughtSignature\":\"S\"},{\"executableCode\":{\"code\":\"1\"}}]},{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":\"f\",\"response\":{\"r\":[1]}}}]}",
      "anthropic", "\"content\":\"{\\\"r\\\":[1]}\"" },
    { "gemini", "gemini", "[{\"role\":\"user\",\"parts\":[{\"fileData\":{\"mimeType\":\"video/mp4\",\"fileUri\":\"https://v\"},\"videoMetadata\":{\"fps\":1}},{\"inline_data\":{\"mime_type\":\"image/png\",\"data\":\"!\"}}]}]",
      "[{\"fileData\":{\"mimeType\":\"video/mp4\",\"fileUri\":\"https://v\"},\"videoMetadata\":{\"fps\":1}},{\"inline_data\":{\"mime_type\":\"image/png\",\"data\":\"!\"}}]", "anthropic", "{\"type\":\"url\",\"url\":\"https://v\"}" },
    { "gemini", "gemini", "{\"tools\":{\"function_declarations\":{\"name\":\"f\",\"parameters\":{\"type\":\"OBJECT\",\"properties\":{\"type\":{\"type\":\"STRING\"}}}},\"googleSearch\":{}},\"contents\":[{\"parts\":{\"text\":\"Hi\"}}]}",
      "\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\",\"parameters\":{\"type\":\"OBJECT\",\"properties\":{\"type\":{\"type\":\"STRING\"}}}}]},{\"googleSearch\":{}}]", "anthropic",
      "\"input_schema\":{\"type\":\"object\",\"properties\":{\"type\":{\"type\":\"string\"}}}" }
};
static void all_forms(void)
{
    size_t i;
    for (i = 0; i < sizeof forms / sizeof *forms; i++) {
        const form *f = &forms[i];
        ask a;
        CHECK(open_ask(&a, f->provider));
        if (in(&a, f->wire, f->body) != AGENT_OK) CHECK_CASE(0, f->body);
        else {
            is(out(&a, f->wire), NULL, f->want);
            if (f->to) is(out(&a, f->to), NULL, f->there);
        }
        agent_close(a.e);
    }
}

/* ---- what is refused ---- */
typedef struct refusal { const char *wire, *body; int rc; size_t offset; const char *why; } refusal;
static const refusal refusals[] = {
    { "cohere-v2", "[]", AGENT_E_ARG, 0, "not read" }, { "no such", "[]", AGENT_E_ARG, 0, "not read" },
    { "openai-chat", "", AGENT_E_SYNTAX, 0, "" }, { "openai-chat", "{\"messages\":[}", AGENT_E_SYNTAX, 13, "" }, { "openai-chat", " 7", AGENT_E_ARG, 1, "object" },
    { "openai-chat", " {\"a\":1}", AGENT_E_ARG, 1, "messages" }, { "openai-chat", " {\"messages\":7}", AGENT_E_ARG, 13, "messages" },
    { "openai-chat", "[7]", AGENT_E_ARG, 1, "no object" }, { "openai-chat", "[{\"role\":\"bot\"}]", AGENT_E_ARG, 9, "role" }, { "openai-chat", "[{}]", AGENT_E_ARG, 1, "role" },
    { "openai-chat", "[{\"role\":\"user\",\"content\":7}]", AGENT_E_ARG, 26, "content" }, { "openai-chat", "[{\"role\":\"user\"}]", AGENT_E_ARG, 1, "content" },
    { "openai-chat", "[{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"r\"}]", AGENT_E_ARG, 1, "without its call" },
    { "openai-chat", "[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"function\":{}}]}]", AGENT_E_ARG, 35, "without a name" },
    { "openai-chat", "[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\"}}]},{\"role\":\"user\",\"content\":\"x\"}]", AGENT_E_ARG, 35, "without its result" },
    { "openai-chat", "[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\"}},{\"id\":\"b\",\"function\":{\"name\":\"f\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"x\"}]", AGENT_E_ARG, 35, "without its result" },
    { "openai-chat", "{\"messages\":[],\"tools\":7}", AGENT_E_ARG, 23, "tools" }, { "openai-chat", "{\"messages\":[],\"tools\":[7]}", AGENT_E_ARG, 24, "tools" },
    { "openai-chat", "{\"messages\":[],\"tools\":[{\"function\":{\"name\":\"a b\"}}]}", AGENT_E_ARG, 44, "name" },
    { "openai-responses", "{}", AGENT_E_ARG, 0, "input" }, { "openai-responses", "[{\"role\":\"bot\"}]", AGENT_E_ARG, 9, "role" }, { "openai-responses", "[7]", AGENT_E_ARG, 1, "no object" },
    { "anthropic", "[{\"role\":\"user\",\"content\":[{}]}]", AGENT_E_ARG, 27, "type" }, { "anthropic", "[{\"role\":\"tool\",\"content\":\"\"}]", AGENT_E_ARG, 9, "role" },
    { "anthropic", "[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"x\"}]}]", AGENT_E_ARG, 27, "tool_use" },
    { "gemini", "[{\"role\":\"x\"}]", AGENT_E_ARG, 9, "role" }, { "gemini", "[{\"parts\":7}]", AGENT_E_ARG, 10, "parts" },
    { "gemini", "[{\"parts\":[{\"functionResponse\":{}}]}]", AGENT_E_ARG, 11, "functionCall" }, { "gemini", "{\"contents\":[],\"tools\":[{\"functionDeclarations\":[7]}]}", AGENT_E_ARG, 49, "declaration" }
};
static void refused(void)
{
    size_t i;
    ask a;
    agent_json_error err;
    agent_str before;
    char *was;
    CHECK(ask_open(&a, "openai", NULL, 2, 0));
    before = out(&a, "openai-chat");
    was = (char *)malloc(before.n + 1);
    if (was == NULL) exit(2);
    memcpy(was, before.p, before.n + 1);
    for (i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *f = &refusals[i];
        int rc = agent_import(a.e, a.session, f->wire, f->body, AGENT_CSTR, &err);
        CHECK_CASE(rc == f->rc && err.offset == f->offset && strstr(err.why, f->why), f->body);
        if (err.offset != f->offset) fprintf(stderr, "  at %u: %s\n", (unsigned)err.offset, err.why);
        CHECK_CASE(strcmp(agent_last(a.e), err.why) == 0, f->body);
    }
    CHECK(strcmp(out(&a, "openai-chat").p, was) == 0 && agent_messages(a.e, a.session) == 0);       /* nothing has changed */
    free(was);
    CHECK(agent_import(a.e, a.session, "openai-chat", "[]", AGENT_CSTR, NULL) == AGENT_OK);
    CHECK(agent_import(a.e, a.session, "openai-chat", "[{\"role\":\"user\",\"content\":\"a\"}]", AGENT_CSTR, NULL) == AGENT_OK);
    CHECK(agent_import(a.e, a.session, "openai-chat", "[]", AGENT_CSTR, NULL) == AGENT_E_STATE);        /* it has messages  */
    CHECK(agent_import(a.e, 0, "openai-chat", "[]", AGENT_CSTR, NULL) == AGENT_E_STALE && agent_export(a.e, 0, "openai-chat", &before) == AGENT_E_STALE);
    CHECK(agent_export(a.e, a.session, "cohere-v1", &before) == AGENT_E_ARG && agent_export(a.e, a.session, "openai-chat", NULL) == AGENT_E_ARG);
    CHECK(agent_say(a.e, a.session, "b", AGENT_CSTR) > 0);
    CHECK(agent_import(a.e, a.session, "openai-chat", "[]", AGENT_CSTR, NULL) == AGENT_E_STATE && agent_export(a.e, a.session, "openai-chat", &before) == AGENT_E_STATE);
    agent_close(a.e);
}
static void limits(void)
{
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    agent_engine *e;
    agent_json_error err;
    agent_id id;
    char deep[400] = "", wide[8000];
    size_t n = 0, i;
    d.limits.item = 100;
    d.limits.calls_per_step = 2;
    d.limits.depth = 8;
    CHECK(agent_open(&e, &d) == AGENT_OK);
    p.provider = "openai";
    s.peer = agent_peer_open(e, &p);
    s.model = "m";
    id = agent_session_open(e, &s);
    memset(deep, '[', 20);
    memset(deep + 20, ']', 20);
    CHECK(agent_import(e, id, "openai-chat", deep, AGENT_CSTR, &err) == AGENT_E_LIMIT);
    sprintf(wide, "[{\"role\":\"user\",\"content\":\"%0100d\"}]", 1);
    CHECK(agent_import(e, id, "openai-chat", wide, AGENT_CSTR, &err) == AGENT_E_LIMIT && err.offset == 1);
    CHECK(agent_import(e, id, "gemini", "[{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"a\"}},{\"functionCall\":{\"name\":\"a\"}},"
                       "{\"functionCall\":{\"name\":\"a\"}}]}]", AGENT_CSTR, &err) == AGENT_E_LIMIT);
    n = (size_t)sprintf(wide, "{\"messages\":[]");
    for (i = 0; i < 300; i++) n += (size_t)sprintf(wide + n, ",\"k%u\":1", (unsigned)i);
    strcpy(wide + n, "}");
    CHECK(agent_import(e, id, "openai-chat", wide, AGENT_CSTR, &err) == AGENT_E_LIMIT && strstr(err.why, "members"));
    agent_close(e);
}

/* ---- hostile ---- */
/* Every cut is no JSON; every value in turn of every other type is taken or refused, and what is taken comes out as JSON.   */
static void try_one(const format *f, const char *body, size_t n)
{
    ask a;
    agent_str s;
    size_t k;
    int rc;
    CHECK(open_ask(&a, f->provider));
    rc = agent_import(a.e, a.session, f->wire, body, n, NULL);
    CHECK(rc == AGENT_OK || rc == AGENT_E_ARG);
    if (rc != AGENT_OK) CHECK(agent_messages(a.e, a.session) == 0);
    else for (k = 0; k < FORMATS; k++) {
        if (agent_export(a.e, a.session, formats[k].wire, &s) != AGENT_OK || agent_json_check(s.p, s.n, 0, NULL) != AGENT_OK) {
            CHECK_CASE(0, body);
            fprintf(stderr, "  %s\n", s.p);
        } else test_passed++;
    }
    ask_pump(&a);
    agent_close(a.e);
}
static void hostile(void)
{
    static const char *const values[] = { "null", "1", "\"\"", "\"x\"", "[]", "{}", "[{}]", "[null]", "{\"type\":1}", "true" };
    size_t f, i, k, n;
    for (f = 0; f < FORMATS; f++) {
        const char *body = formats[f].body;
        ask a;
        char *copy;
        n = strlen(body);
        copy = (char *)malloc(n + 32);
        if (copy == NULL) exit(2);
        CHECK(open_ask(&a, formats[f].provider));
        for (i = 0; i < n; i++) CHECK(agent_import(a.e, a.session, formats[f].wire, body, i, NULL) == AGENT_E_SYNTAX);
        agent_close(a.e);
        for (i = 1; i < n; i++) {
            size_t skip;
            if (strchr("[,:", body[i - 1]) == NULL || (skip = agenti_json_skip(body + i, n - i)) == 0) continue;
            for (k = 0; k < sizeof values / sizeof *values; k++) {
                size_t at = i, v = strlen(values[k]);
                memcpy(copy, body, i);
                memcpy(copy + at, values[k], v);
                memcpy(copy + at + v, body + i + skip, n - i - skip);
                copy[n - skip + v] = 0;
                if (agent_json_check(copy, n - skip + v, 0, NULL) == AGENT_OK) try_one(&formats[f], copy, n - skip + v);
            }
        }
        free(copy);
    }
    try_one(formats, "{\"messages\":7,\"messages\":[],\"n\":1,\"n\":2,\"model\":\"a\",\"model\":\"b\"}", strlen("{\"messages\":7,\"messages\":[],\"n\":1,\"n\":2,\"model\":\"a\",\"model\":\"b\"}"));
}
static void duplicates(void)                  /* of two members with one name the last one counts                       */
{
    ask a;
    agent_str s;
    CHECK(open_ask(&a, "openai"));
    CHECK(in(&a, "openai-chat", "{\"messages\":7,\"messages\":[],\"n\":1,\"n\":2,\"model\":\"a\",\"model\":\"b\"}") == AGENT_OK);
    s = out(&a, "openai-chat");
    is(s, "n", "2");
    is(s, "model", "\"b\"");
    CHECK(strstr(s.p, "\"n\":1") == NULL);
    agent_close(a.e);
}

/* ---- memory ---- */
typedef struct heap { long count, fail_at; int on; size_t live; } heap;
static void *refusing(void *ctx, void *p, size_t old_size, size_t new_size)
{
    enum { FRONT = 16 };                      /* each block remembers its size                                           */
    heap *h = (heap *)ctx;
    char *was = p ? (char *)p - FRONT : NULL;
    size_t size = 0;
    if (was) memcpy(&size, was, sizeof size);
    CHECK(size == old_size);
    if (new_size == 0) { h->live -= old_size; free(was); return NULL; }
    if (h->on && ++h->count == h->fail_at) return NULL;
    h->live += new_size - old_size;
    if ((was = (char *)realloc(was, new_size + FRONT)) == NULL) exit(2);
    memcpy(was, &new_size, sizeof new_size);
    return was + FRONT;
}
static int memory_once(const format *f, const format *peer, long fail_at)
{
    heap h;
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    agent_engine *e;
    agent_id id;
    agent_str text;
    int rc;
    memset(&h, 0, sizeof h);
    d.alloc = refusing;
    d.alloc_ctx = &h;
    if (agent_open(&e, &d) != AGENT_OK) exit(2);
    p.provider = peer->provider;
    p.url = "http://model.test/v1";
    s.peer = agent_peer_open(e, &p);
    s.model = "m";
    id = agent_session_open(e, &s);
    h.fail_at = fail_at;
    h.on = 1;
    rc = agent_import(e, id, f->wire, f->body, AGENT_CSTR, NULL);
    if (rc != AGENT_OK) {
        CHECK(rc == AGENT_E_NOMEM && agent_messages(e, id) == 0);
        CHECK(agent_import(e, id, f->wire, f->body, AGENT_CSTR, NULL) == AGENT_OK);
    }
    rc = agent_export(e, id, f->wire, &text);
    if (rc != AGENT_OK) {
        CHECK(rc == AGENT_E_NOMEM);
        CHECK(agent_export(e, id, f->wire, &text) == AGENT_OK);
    }
    CHECK(strstr(text.p, "It is a dot.") && strstr(text.p, "SIG"));
    rc = agent_export(e, id, "anthropic", &text);
    if (rc != AGENT_OK) {
        CHECK(rc == AGENT_E_NOMEM && agent_export(e, id, "anthropic", &text) == AGENT_OK);
    }
    h.on = 0;
    while (agent_next(e) != NULL) {}
    agent_close(e);
    CHECK(h.live == 0);
    return h.count >= fail_at;                /* was there one more to refuse?                                           */
}
static void memory(void)
{
    size_t f, k;
    long at;
    for (f = 0; f < FORMATS; f++) for (k = 0; k < FORMATS; k++) {
        for (at = 1; memory_once(&formats[f], &formats[k], at); at++) {}
        CHECK(at > 60);
    }
}

/* ---- cost: twice the conversation is twice the bytes that are looked at ---- */
static size_t cost_of(const format *f, size_t times, size_t length, size_t *size)
{
    static const char *const begins[] = { "{\"messages\":[", "{\"input\":[", "{\"messages\":[", "{\"contents\":[" };
    static const char *const items[] = {
        "{\"role\":\"user\",\"content\":\"%s\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"%s\"}",
        "{\"role\":\"user\",\"content\":\"%s\"},{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"f\",\"arguments\":\"{}\"},{\"type\":\"function_call_output\",\"call_id\":\"a\",\"output\":\"%s\"}",
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]},{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"%s\"}]}",
        "{\"role\":\"user\",\"parts\":[{\"text\":\"%s\"}]},{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{}}}]},{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":\"f\",\"response\":{\"output\":\"%s\"}}}]}"
    };
    size_t which = (size_t)(f - formats), n, i;
    char *text = (char *)malloc(length + 1), *body = (char *)malloc(times * (2 * length + 400) + 100);
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    agent_engine *e;
    agent_id id;
    agent_str o;
    if (text == NULL || body == NULL) exit(2);
    for (i = 0; i + 1 < length; i += 2) { text[i] = i % 8 ? 'a' : '\\'; text[i + 1] = i % 8 ? 'b' : 'n'; }
    text[length & ~(size_t)1] = 0;
    n = (size_t)sprintf(body, "%s", begins[which]);
    for (i = 0; i < times; i++) {
        if (i) body[n++] = ',';
        n += (size_t)sprintf(body + n, items[which], text, text);
    }
    n += (size_t)sprintf(body + n, "]}");
    d.limits.item = AGENT_OFF;
    if (agent_open(&e, &d) != AGENT_OK) exit(2);
    p.provider = f->provider;
    p.url = "http://model.test/v1";
    s.peer = agent_peer_open(e, &p);
    s.model = "m";
    id = agent_session_open(e, &s);
    touched = 0;
    CHECK_CASE(agent_import(e, id, f->wire, body, n, NULL) == AGENT_OK, f->wire);
    CHECK(agent_export(e, id, f->wire, &o) == AGENT_OK && o.n > n / 2);
    *size = n;
    agent_close(e);
    free(text);
    free(body);
    return touched;
}
static void cost(void)
{
    size_t f, small, large, a, b;
    for (f = 0; f < FORMATS; f++) {
        a = cost_of(&formats[f], 200, 40, &small);
        b = cost_of(&formats[f], 2000, 40, &large);
        CHECK_CASE(b < a * 11, formats[f].wire);
        CHECK_CASE(b < large * 20, formats[f].wire);
        a = cost_of(&formats[f], 1, 100 * 1000, &small);
        b = cost_of(&formats[f], 1, 10 * 1000 * 1000, &large);                    /* texts of 10 MB                       */
        CHECK_CASE(b < a * 105, formats[f].wire);
        CHECK_CASE(b < large * 20, formats[f].wire);
    }
}

int main(void)
{
    pairs();
    to_others();
    table();
    goes_on();
    taken_back();
    calls_wait();
    all_forms();
    refused();
    limits();
    duplicates();
    hostile();
    memory();
    cost();
    return test_end("test_import");
}
