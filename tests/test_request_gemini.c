/* Requests in the two formats of Gemini, byte by byte: options, history, what goes back of an answer, schemas. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

static const agent_tool raw_tool = { "search", NULL, "{\"googleSearch\":{}}", AGENT_TF_RAW, 0, NULL };
static const agent_tool look = { "look", "Looks.", "{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"string\"}}}", 0, 0, NULL };
static host *talk(const char *provider, const char *model, const char *body_json, const agent_tool *tools, size_t n, agent_id *s, int flags)
{
    host *h = host_new(NULL, AGENT_VIA_HTTP, HOST_CUT_WHOLE);
    agent_peer_desc p;
    agent_session_desc d;
    memset(&p, 0, sizeof p);
    memset(&d, 0, sizeof d);
    p.provider = provider;
    p.url = "http://model.test/v1beta";
    p.key = "k";
    p.body_json = body_json;
    d.peer = agent_peer_open(h->e, &p);
    d.model = model;
    d.system = "Be brief.";
    d.flags = (uint32_t)flags;
    d.tools = tools;
    d.tool_count = n;
    *s = host_session(h, &d);
    return h;
}
static void set(host *h, agent_id s, const char *key, const char *value)
{
    int rc = agent_session_set(h->e, s, key, value, AGENT_CSTR);
    CHECK_CASE(rc == AGENT_OK, key);
}
static void is(const host *h, size_t i, const char *want)
{
    const char *body = host_body(h, i).p;
    CHECK_CASE(body && strcmp(body, want) == 0, body ? body : want);
}
static void has(const host *h, size_t i, const char *want) { CHECK_CASE(strstr(host_body(h, i).p, want) != NULL, host_body(h, i).p); }
static void lacks(const host *h, size_t i, const char *word) { CHECK_CASE(strstr(host_body(h, i).p, word) == NULL, host_body(h, i).p); }
static void say(host *h, agent_id s, const char *text)
{
    agent_say(h->e, s, text, AGENT_CSTR);
    host_run(h);
}
static agent_str str(const char *text)
{
    agent_str s;
    s.p = text;
    s.n = strlen(text);
    return s;
}
static agent_part part(int kind, const char *text)
{
    agent_part p;
    memset(&p, 0, sizeof p);
    p.kind = (uint16_t)kind;
    p.text = str(text);
    return p;
}

/* ---- generateContent ---- */
#define GM_PARTS(parts) SSE_("{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[" parts "]}}]}")
#define GM_END SSE_("{\"candidates\":[{\"finishReason\":\"STOP\"}]}")
static const host_answer gm_well = { GM_PARTS("{\"text\":\"Well.\"}") GM_END, 0, NULL, 0, 0 };
static void gemini_plain(void)
{
    agent_id s;
    host *h = talk("gemini", "gemini-2.5-pro", NULL, &look, 1, &s, 0);
    agent_tool none[1];
    host_answers(h, &gm_well, 1);
    memset(none, 0, sizeof none);
    CHECK(agent_session_tools(h->e, s, none, 0) == AGENT_OK);
    say(h, s, "Hi\n\"you\"");
    CHECK(strncmp(h->head[0].p, "POST /v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse HTTP/1.1\r\n", 76) == 0 || h->via == AGENT_VIA_HTTP);
    is(h, 0, "{\"systemInstruction\":{\"parts\":[{\"text\":\"Be brief.\"}]},\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"Hi\\n\\\"you\\\"\"}]}]}");
    host_free(h);
}
static void gemini_options(void)
{
    agent_id s;
    agent_tool tools[2];
    host *h;
    tools[0] = raw_tool;
    tools[1] = look;
    h = talk("gemini", "gemini-3-pro-preview", "{\"safetySettings\":[]}", tools, 2, &s, 0);
    host_answers(h, &gm_well, 1);
    set(h, s, "max_tokens", "100");
    set(h, s, "temperature", "0.20");
    set(h, s, "top_p", "1e-1");
    set(h, s, "seed", "12345678901234567890");
    set(h, s, "frequency_penalty", "-1");
    set(h, s, "presence_penalty", "2");
    set(h, s, "stop", "\"END\"");
    set(h, s, "tool_choice", "look");
    set(h, s, "parallel_tool_calls", "false");
    set(h, s, "reasoning_effort", "low");
    set(h, s, "thinking_budget", "2048");
    say(h, s, "Hi");
    is(h, 0, "{\"systemInstruction\":{\"parts\":[{\"text\":\"Be brief.\"}]},\"generationConfig\":{\"maxOutputTokens\":100,\"temperature\":0.20,\"topP\":1e-1,"
        "\"seed\":12345678901234567890,\"frequencyPenalty\":-1,\"presencePenalty\":2,\"stopSequences\":[\"END\"],"
        "\"thinkingConfig\":{\"thinkingLevel\":\"low\",\"includeThoughts\":true}},\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"Hi\"}]}],"
        "\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"ANY\",\"allowedFunctionNames\":[\"look\"]}},"
        "\"tools\":[{\"functionDeclarations\":[{\"name\":\"look\",\"description\":\"Looks.\",\"parameters\":{\"type\":\"object\",\"properties\":"
        "{\"at\":{\"type\":\"string\"}}}}]},{\"googleSearch\":{}}],\"safetySettings\":[]}");
    CHECK(h->count[AGENT_EV_WARNING] == 2);   /* parallel_tool_calls, and the budget beside a level                      */
    set(h, s, "reasoning_effort", "");
    set(h, s, "thinking_budget", "adaptive");
    set(h, s, "tool_choice", "required");
    say(h, s, "And?");
    has(h, 1, "\"thinkingConfig\":{\"thinkingBudget\":-1,\"includeThoughts\":true}");
    has(h, 1, "\"functionCallingConfig\":{\"mode\":\"ANY\"}");
    set(h, s, "thinking_budget", "0");
    set(h, s, "tool_choice", "none");
    CHECK(agent_session_tools(h->e, s, &raw_tool, 1) == AGENT_OK);
    say(h, s, "And?");
    has(h, 2, "\"thinkingConfig\":{\"thinkingBudget\":0}");
    has(h, 2, "\"tools\":[{\"googleSearch\":{}}]");
    lacks(h, 2, "toolConfig");                /* refused where there are no functions                                    */
    host_free(h);
}
/* Gemma takes no systemInstruction: it stands before the user's first words.                                           */
static void gemma(void)
{
    agent_id s;
    host *h = talk("gemini", "gemma-3-27b-it", NULL, &look, 1, &s, 0);
    host_answers(h, &gm_well, 1);
    say(h, s, "Hi");
    has(h, 0, "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"Be brief.\"},{\"text\":\"Hi\"}]}]");
    host_free(h);
}
/* An answer's parts go back as they came, each with its signature (wire-quirks D10, wire-quirks D11), results with the names of their calls and
 * in their order; to another model they go without what is signed, and the first call of a step has a word that stands for a signature. */
static void gemini_goes_back(int same)
{
    static const host_answer a[] = {
        { GM_PARTS("{\"text\":\"Two \",\"thought\":true}") GM_PARTS("{\"text\":\"piers.\",\"thought\":true}")
          GM_PARTS("{\"text\":\"I \",\"thoughtSignature\":\"dDE=\"}") GM_PARTS("{\"text\":\"look.\"}") GM_PARTS("{\"text\":\"\",\"thoughtSignature\":\"dDI=\"}")
          GM_PARTS("{\"functionCall\":{\"name\":\"alpha\",\"args\":{\"x\": 1}},\"thoughtSignature\":\"YzE=\"},{\"functionCall\":{\"name\":\"beta\",\"id\":\"f2\"}}") GM_END,
          0, NULL, 0, 0 },
        { GM_PARTS("{\"executableCode\":{\"code\":\"1+1\"},\"thoughtSignature\":\"ZTE=\"},{\"codeExecutionResult\":{\"outcome\":\"OUTCOME_OK\"}}")
          GM_PARTS("{\"text\":\"So\"},{\"text\":\"\",\"thoughtSignature\":\"dDM=\"}") GM_PARTS("{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"AAEC\"},\"thoughtSignature\":\"aTE=\"}")
          GM_END, 0, NULL, 0, 0 },
        { GM_PARTS("{\"text\":\"Well.\"}") GM_END, 0, NULL, 0, 0 }
    };
    agent_id s;
    host *h = talk("gemini", "gemini-3-pro-preview", NULL, NULL, 0, &s, 0);
    host_answers(h, a, 3);
    say(h, s, "Hi");
    CHECK(h->request_n == 2);
    has(h, 1, "\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"Hi\"}]},{\"role\":\"model\",\"parts\":[{\"text\":\"Two piers.\",\"thought\":true},"
        "{\"text\":\"I look.\",\"thoughtSignature\":\"dDE=\"},{\"text\":\"\",\"thoughtSignature\":\"dDI=\"},"
        "{\"functionCall\":{\"name\":\"alpha\",\"args\":{\"x\": 1}},\"thoughtSignature\":\"YzE=\"},{\"functionCall\":{\"id\":\"f2\",\"name\":\"beta\",\"args\":{}}}]},"
        "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":\"alpha\",\"response\":{\"output\":\"fine\"}}},"
        "{\"functionResponse\":{\"id\":\"f2\",\"name\":\"beta\",\"response\":{\"output\":\"fine\"}}}]}]");
    if (!same) set(h, s, "model", "gemini-4-flash");
    say(h, s, "And?");
    CHECK(h->request_n == 3 && h->outcome == AGENT_COMPLETED);
    if (same) {
        has(h, 2, "{\"role\":\"model\",\"parts\":[{\"executableCode\":{\"code\":\"1+1\"},\"thoughtSignature\":\"ZTE=\"},{\"codeExecutionResult\":{\"outcome\":\"OUTCOME_OK\"}},"
            "{\"text\":\"So\",\"thoughtSignature\":\"dDM=\"},{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"AAEC\"},\"thoughtSignature\":\"aTE=\"}]}");
    } else {
        has(h, 2, "{\"role\":\"model\",\"parts\":[{\"text\":\"I look.\"},{\"functionCall\":{\"name\":\"alpha\",\"args\":{\"x\": 1}},"
            "\"thoughtSignature\":\"skip_thought_signature_validator\"},{\"functionCall\":{\"id\":\"f2\",\"name\":\"beta\",\"args\":{}}}]}");
        has(h, 2, "{\"role\":\"model\",\"parts\":[{\"text\":\"So\"},{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"AAEC\"}}]}");
        CHECK(h->count[AGENT_EV_WARNING] > 0);
    }
    host_free(h);
}
/* A history that comes from elsewhere, with what a provider takes and what it does not.                                */
static void gemini_history(const char *model, int is_old)
{
    agent_part p[8];
    agent_id s;
    host *h = talk("gemini", model, NULL, &look, 1, &s, 0);
    host_answers(h, &gm_well, 1);
    p[0] = part(AGENT_PART_TEXT, "Look:");
    p[1] = part(AGENT_PART_IMAGE, "AAEC");
    p[1].flags = AGENT_PART_BASE64;
    p[1].mime = str("image/png");
    p[2] = part(AGENT_PART_FILE, "a,b");
    p[2].mime = str("text/csv");
    p[3] = part(AGENT_PART_IMAGE, "AAEC");
    p[3].flags = AGENT_PART_BASE64;
    p[3].mime = str("image/tiff");
    p[4] = part(AGENT_PART_FILE, "");
    p[4].mime = str("video/mp4");
    p[4].uri = str("https://files.test/tide.mp4");
    p[5] = part(AGENT_PART_AUDIO, "AAEC");
    p[5].flags = AGENT_PART_BASE64;
    p[5].mime = str("audio/wav");
    CHECK(agent_message_add(h->e, s, AGENT_USER, p, 6) > 0);
    p[0] = part(AGENT_PART_CALL, "{\"x\":");
    p[0].wire_id = str("toolu_1");
    p[0].name = str("a b");
    p[1] = part(AGENT_PART_CALL, "{\"x\":1}");
    p[1].wire_id = str("toolu_2");
    p[1].name = str("look");
    CHECK(agent_message_add(h->e, s, AGENT_MODEL, p, 2) > 0);
    p[0] = part(AGENT_PART_RESULT, "no such tool");
    p[0].wire_id = str("toolu_1");
    p[0].flags = AGENT_PART_ERROR;
    p[1] = part(AGENT_PART_RESULT, "{\"n\":12345678901234567890}");
    p[1].wire_id = str("toolu_2");
    CHECK(agent_message_add(h->e, s, AGENT_TOOLS, p, 2) > 0);
    say(h, s, "And?");
    has(h, 0, "\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"Look:\"},{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"AAEC\"}},{\"text\":\"a,b\"},"
        "{\"text\":\"[not sent: an image, image/tiff]\"},{\"fileData\":{\"mimeType\":\"video/mp4\",\"fileUri\":\"https://files.test/tide.mp4\"}},"
        "{\"inlineData\":{\"mimeType\":\"audio/wav\",\"data\":\"AAEC\"}}]},{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"id\":\"toolu_1\",\"name\":\"a_b\",\"args\":{}}");
    has(h, 0, is_old ? "\"args\":{}}},{\"functionCall\":" : "\"args\":{}},\"thoughtSignature\":\"skip_thought_signature_validator\"},{\"functionCall\":");
    has(h, 0, "{\"functionCall\":{\"id\":\"toolu_2\",\"name\":\"look\",\"args\":{\"x\":1}}}]},{\"role\":\"user\",\"parts\":["
        "{\"functionResponse\":{\"id\":\"toolu_1\",\"name\":\"a_b\",\"response\":{\"error\":\"no such tool\"}}},"
        "{\"functionResponse\":{\"id\":\"toolu_2\",\"name\":\"look\",\"response\":{\"output\":\"{\\\"n\\\":12345678901234567890}\"}}},{\"text\":\"And?\"}]}]");
    host_free(h);
}
/* The last step of a run takes the tools away and says so; an answer in one piece has a path of its own.               */
static void gemini_last_step(void)
{
    static const host_answer a[] = { { "{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"alpha\"}}]},\"finishReason\":\"STOP\"}]}", 0,
                                       "content-type: application/json\n", 0, 0 } };
    agent_id s;
    host *h = host_new(NULL, AGENT_VIA_BYTES, HOST_CUT_WHOLE);
    agent_peer_desc p;
    agent_session_desc d;
    memset(&p, 0, sizeof p);
    memset(&d, 0, sizeof d);
    p.provider = "gemini";
    p.key = "";
    p.key = "k";
    p.url = "http://model.test/v1beta";
    d.peer = agent_peer_open(h->e, &p);
    d.model = "gemini-2.5-flash";
    d.flags = AGENT_S_NO_STREAM;
    d.max_steps = 2;
    s = host_session(h, &d);
    host_answers(h, a, 1);
    say(h, s, "Hi");
    CHECK(h->request_n == 2);
    CHECK_CASE(strncmp(h->head[0].p, "POST /v1beta/models/gemini-2.5-flash:generateContent HTTP/1.1\r\n", 63) == 0, h->head[0].p);
    CHECK(strstr(h->head[0].p, "\r\nx-goog-api-key: k\r\n") != NULL);
    has(h, 1, "{\"functionResponse\":{\"name\":\"alpha\",\"response\":{\"output\":\"fine\"}}},{\"text\":\"The limit of steps");
    has(h, 1, "\"}]}],\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"NONE\"}},\"tools\":[");
    host_free(h);
}
/* What becomes of a schema.                                                                                            */
static void schema(const char *from, const char *to)
{
    agent_tool t = look;
    agent_id s;
    host *h;
    char want[2000];
    t.schema = from;
    h = talk("gemini", "gemini-2.5-pro", NULL, &t, 1, &s, 0);
    host_answers(h, &gm_well, 1);
    say(h, s, "Hi");
    sprintf(want, "{\"name\":\"look\",\"description\":\"Looks.\"%.1900s}]}]}", to);
    has(h, 0, want);
    host_free(h);
}
#define OBJECT(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"
static void schemas(void)
{
    char deep[64 * 24 + 64] = "", *p = deep;
    int i;
    schema(NULL, "");
    schema("{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}", "");
    schema("{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"type\":\"object\",\"title\":\"T\",\"properties\":{\"a\":{\"type\":\"integer\",\"exclusiveMinimum\":0,"
           "\"minimum\":1,\"format\":\"int32\"},\"not\":{\"type\":\"string\",\"format\":\"uri\",\"pattern\":\"^a\"}},\"required\":[\"a\"],\"additionalProperties\":{\"type\":\"string\"}}",
           ",\"parameters\":{\"type\":\"object\",\"title\":\"T\",\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":1,\"format\":\"int32\"},"
           "\"not\":{\"type\":\"string\",\"pattern\":\"^a\"}},\"required\":[\"a\"]}");
    schema(OBJECT("\"type\":{\"type\":[\"string\",\"null\"]},\"b\":{\"type\":[\"string\",\"array\"]},\"c\":{\"const\":\"x\"},\"d\":{\"const\":1},"
                  "\"e\":{\"enum\":[\"x\",\"\",null,\"y\"]},\"f\":{\"type\":\"integer\",\"enum\":[1,2]},\"g\":true,\"h\":{\"type\":\"null\"}"),
           ",\"parameters\":" OBJECT("\"type\":{\"type\":\"string\",\"nullable\":true},\"b\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":\"string\"}}]},"
                  "\"c\":{\"enum\":[\"x\"]},\"d\":{},\"e\":{\"enum\":[\"x\",\"y\"]},\"f\":{\"type\":\"integer\"},\"g\":{\"type\":\"string\"},\"h\":{\"type\":\"null\"}"));
    schema(OBJECT("\"a\":{\"type\":\"array\"},\"b\":{\"items\":{\"type\":\"array\",\"uniqueItems\":true},\"type\":\"array\"},\"c\":{\"type\":\"array\",\"items\":[{\"type\":\"string\"}]},"
                  "\"d\":{\"oneOf\":[{\"type\":\"string\",\"not\":{}},true,{ \"type\" : \"object\" , \"properties\" : { \"x\" : { \"type\" : \"number\" } } } ]}"),
           ",\"parameters\":" OBJECT("\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"b\":{\"items\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"type\":\"array\"},"
                  "\"c\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
                  "\"d\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"number\"}}}]}"));
    schema("{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/a\"}},\"$defs\":{\"a\":{\"type\":\"string\"}}}",
           ",\"parametersJsonSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/a\"}},\"$defs\":{\"a\":{\"type\":\"string\"}}}");
    p += sprintf(p, "{\"type\":\"object\",\"properties\":{\"a\":");
    for (i = 0; i < 61; i++) p += sprintf(p, "{\"items\":");
    p += sprintf(p, "{\"not\":1}");
    for (i = 0; i < 61 + 2; i++) p += sprintf(p, "}");
    {
        char want[64 * 24 + 128];
        sprintf(want, ",\"parameters\":%s", deep);
        want[strlen(want) - 63 - 8] = 0;      /* without what the innermost holds                                       */
        strcat(want, deep + strlen(deep) - 64);
        schema(deep, want);
    }
}

/* ---- Interactions ---- */
#define GI_START(i, step) SSE_("{\"event_type\":\"step.start\",\"index\":" i ",\"step\":{\"type\":" step "}}")
#define GI_DELTA(i, delta) SSE_("{\"event_type\":\"step.delta\",\"index\":" i ",\"delta\":{\"type\":" delta "}}")
#define GI_STOP(i) SSE_("{\"event_type\":\"step.stop\",\"index\":" i "}")
#define GI_END(status) SSE_("{\"event_type\":\"interaction.completed\",\"interaction\":{\"status\":\"" status "\"}}") "event: done\ndata: [DONE]\n\n"
static const host_answer gi_well = { GI_START("0", "\"model_output\"") GI_DELTA("0", "\"text\",\"text\":\"Well.\"") GI_STOP("0") GI_END("completed"), 0, NULL, 0, 0 };
static void interactions_options(void)
{
    agent_id s;
    host *h = talk("gemini-interactions", "gemini-3-flash", NULL, &look, 1, &s, 0);
    host_answers(h, &gi_well, 1);
    set(h, s, "max_tokens", "100");
    set(h, s, "temperature", "0.20");
    set(h, s, "top_p", "1e-1");
    set(h, s, "seed", "7");
    set(h, s, "stop", "[\"a\",\"b\"]");
    set(h, s, "tool_choice", "look");
    set(h, s, "reasoning_effort", "low");
    set(h, s, "thinking_budget", "2048");
    say(h, s, "Hi");
    is(h, 0, "{\"model\":\"gemini-3-flash\",\"stream\":true,\"store\":false,\"system_instruction\":\"Be brief.\",\"generation_config\":{\"max_output_tokens\":100,"
        "\"temperature\":0.20,\"top_p\":1e-1,\"seed\":7,\"stop_sequences\":[\"a\",\"b\"],\"thinking_level\":\"low\",\"thinking_summaries\":\"auto\","
        "\"tool_choice\":{\"allowed_tools\":{\"mode\":\"any\",\"tools\":[\"look\"]}}},\"input\":[{\"type\":\"user_input\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}],"
        "\"tools\":[{\"type\":\"function\",\"name\":\"look\",\"description\":\"Looks.\",\"parameters\":{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"string\"}}}}]}");
    CHECK(h->count[AGENT_EV_WARNING] == 1);
    set(h, s, "tool_choice", "required");
    say(h, s, "And?");
    has(h, 1, "\"tool_choice\":\"any\"");
    host_free(h);
    h = talk("gemini-interactions", "m", "{\"store\":true,\"previous_interaction_id\":\"v1_1\"}", &look, 1, &s, AGENT_S_NO_STREAM);
    host_answers(h, &gi_well, 1);
    say(h, s, "Hi");
    has(h, 0, "{\"model\":\"m\",\"stream\":false,\"system_instruction\":\"Be brief.\",\"input\":[");
    has(h, 0, ",\"store\":true,\"previous_interaction_id\":\"v1_1\"}");
    host_free(h);
}
/* Steps go back as they came; to another model without what is signed.                                                 */
static void interactions_go_back(int same)
{
    static const host_answer a[] = {
        { GI_START("0", "\"thought\"") GI_DELTA("0", "\"thought_summary\",\"content\":{\"type\":\"text\",\"text\":\"Two piers.\"}")
          GI_DELTA("0", "\"thought_signature\",\"signature\":\"czE=\"") GI_STOP("0") GI_START("1", "\"thought\"") GI_DELTA("1", "\"thought_signature\",\"signature\":\"czI=\"") GI_STOP("1")
          GI_START("2", "\"model_output\"") GI_DELTA("2", "\"text\",\"text\":\"I look.\"") GI_STOP("2")
          GI_START("3", "\"function_call\",\"id\":\"f1\",\"name\":\"alpha\",\"arguments\":{},\"signature\":\"YzE=\"") GI_DELTA("3", "\"arguments_delta\",\"arguments\":\"{\\\"x\\\":1}\"")
          GI_STOP("3") GI_START("4", "\"function_call\",\"id\":\"f2\",\"name\":\"beta\",\"arguments\":{}") GI_STOP("4") GI_END("requires_action"), 0, NULL, 0, 0 },
        { GI_START("0", "\"google_search_call\",\"id\":\"g1\",\"signature\":\"\"") GI_DELTA("0", "\"google_search_call\",\"arguments\":{\"queries\":[\"tides\"]}") GI_STOP("0")
          GI_START("1", "\"google_search_result\",\"call_id\":\"g1\",\"result\":[]") GI_STOP("1") GI_START("2", "\"model_output\"") GI_DELTA("2", "\"text\",\"text\":\"So.\"")
          GI_DELTA("2", "\"image\",\"mime_type\":\"image/png\",\"data\":\"AAEC\"") GI_STOP("2") GI_END("completed"), 0, NULL, 0, 0 },
        { GI_START("0", "\"model_output\"") GI_DELTA("0", "\"text\",\"text\":\"Well.\"") GI_STOP("0") GI_END("completed"), 0, NULL, 0, 0 }
    };
    agent_id s;
    host *h = talk("gemini-interactions", "gemini-3-flash", NULL, NULL, 0, &s, 0);
    host_answers(h, a, 3);
    say(h, s, "Hi");
    CHECK(h->request_n == 2);
    has(h, 1, "\"input\":[{\"type\":\"user_input\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]},{\"type\":\"thought\",\"signature\":\"czE=\",\"summary\":[{\"type\":\"text\",\"text\":\"Two piers.\"}]},"
        "{\"type\":\"thought\",\"signature\":\"czI=\"},{\"type\":\"model_output\",\"content\":[{\"type\":\"text\",\"text\":\"I look.\"}]},"
        "{\"type\":\"function_call\",\"id\":\"f1\",\"name\":\"alpha\",\"arguments\":{\"x\":1},\"signature\":\"YzE=\"},{\"type\":\"function_call\",\"id\":\"f2\",\"name\":\"beta\",\"arguments\":{}},"
        "{\"type\":\"function_result\",\"call_id\":\"f1\",\"name\":\"alpha\",\"result\":\"fine\"},{\"type\":\"function_result\",\"call_id\":\"f2\",\"name\":\"beta\",\"result\":\"fine\"}]");
    if (!same) set(h, s, "model", "gemini-4-flash");
    say(h, s, "And?");
    CHECK(h->request_n == 3 && h->outcome == AGENT_COMPLETED);
    if (same)
        has(h, 2, "{\"type\":\"google_search_call\",\"id\":\"g1\",\"arguments\":{\"queries\":[\"tides\"]}},{\"type\":\"google_search_result\",\"call_id\":\"g1\",\"result\":[]},"
            "{\"type\":\"model_output\",\"content\":[{\"type\":\"text\",\"text\":\"So.\"},{\"type\":\"image\",\"mime_type\":\"image/png\",\"data\":\"AAEC\"}]},"
            "{\"type\":\"user_input\",\"content\":[{\"type\":\"text\",\"text\":\"And?\"}]}]");
    else {
        lacks(h, 2, "thought");
        lacks(h, 2, "signature");
        lacks(h, 2, "google_search");
        has(h, 2, "{\"type\":\"function_call\",\"id\":\"f1\",\"name\":\"alpha\",\"arguments\":{\"x\":1}}");
        CHECK(h->count[AGENT_EV_WARNING] > 0);
    }
    host_free(h);
}
static void interactions_history(void)
{
    agent_part p[6];
    agent_id s;
    host *h = talk("gemini-interactions", "m", NULL, &look, 1, &s, 0);
    host_answers(h, &gi_well, 1);
    p[0] = part(AGENT_PART_IMAGE, "AAEC");
    p[0].flags = AGENT_PART_BASE64;
    p[0].mime = str("image/png");
    p[1] = part(AGENT_PART_FILE, "AAEC");
    p[1].flags = AGENT_PART_BASE64;
    p[1].mime = str("application/pdf");
    p[2] = part(AGENT_PART_FILE, "AAEC");
    p[2].flags = AGENT_PART_BASE64;
    p[2].mime = str("application/zip");
    p[3] = part(AGENT_PART_AUDIO, "");
    p[3].mime = str("audio/wav");
    p[3].uri = str("https://files.test/a.wav");
    p[4] = part(AGENT_PART_FILE, "a,b");
    p[4].mime = str("text/csv");
    CHECK(agent_message_add(h->e, s, AGENT_USER, p, 5) > 0);
    p[0] = part(AGENT_PART_CALL, "{\"x\":");
    p[0].wire_id = str("c1");
    p[0].name = str("look");
    CHECK(agent_message_add(h->e, s, AGENT_MODEL, p, 1) > 0);
    p[0] = part(AGENT_PART_RESULT, "");
    p[0].wire_id = str("c1");
    p[0].flags = AGENT_PART_ERROR;
    CHECK(agent_message_add(h->e, s, AGENT_TOOLS, p, 1) > 0);
    say(h, s, "And?");
    has(h, 0, "\"input\":[{\"type\":\"user_input\",\"content\":[{\"type\":\"image\",\"mime_type\":\"image/png\",\"data\":\"AAEC\"},{\"type\":\"document\",\"mime_type\":\"application/pdf\",\"data\":\"AAEC\"},"
        "{\"type\":\"text\",\"text\":\"[not sent: a file, application/zip]\"},{\"type\":\"audio\",\"mime_type\":\"audio/wav\",\"uri\":\"https://files.test/a.wav\"},{\"type\":\"text\",\"text\":\"a,b\"}]},"
        "{\"type\":\"function_call\",\"id\":\"c1\",\"name\":\"look\",\"arguments\":{}},{\"type\":\"function_result\",\"call_id\":\"c1\",\"name\":\"look\",\"result\":\"(no output)\",\"is_error\":true},"
        "{\"type\":\"user_input\",\"content\":[{\"type\":\"text\",\"text\":\"And?\"}]}]");
    host_free(h);
}
int main(void)
{
    gemini_plain();
    gemini_options();
    gemma();
    gemini_goes_back(1);
    gemini_goes_back(0);
    gemini_history("gemini-2.5-pro", 1);
    gemini_history("gemini-flash-latest", 0);
    gemini_last_step();
    schemas();
    interactions_options();
    interactions_go_back(1);
    interactions_go_back(0);
    interactions_history();
    return test_end("request_gemini");
}
