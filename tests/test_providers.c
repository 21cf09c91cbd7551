/* The table of providers, row by row and option by option: what is sent, what is dropped with a WARNING, and that the manual says the same.
 * test_providers --print writes the manual's table. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "ask.h"

enum { OPTIONS = 18, SETS = 40 };
static const struct { const char *key, *value; int tool; } options[OPTIONS] = {
    { "max_tokens", "100", 0 }, { "temperature", "0.5", 0 }, { "top_p", "0.9", 0 }, { "top_k", "40", 0 }, { "seed", "7", 0 },
    { "frequency_penalty", "0.5", 0 }, { "presence_penalty", "0.5", 0 }, { "stop", "\"END\"", 0 }, { "tool_choice", "required", 1 },
    { "parallel_tool_calls", "false", 1 }, { "reasoning_effort", "low", 0 }, { "thinking_budget", "2048", 0 },
    { "response_format", "{\"type\":\"object\",\"properties\":{}}", 0 }, { "service_tier", "flex", 0 }, { "prompt_cache_key", "k-1", 0 },
    { "user", "u-1", 0 }, { "stateful", "true", 0 }, { "strict", NULL, 1 }
};
static char sets[SETS][400];
static size_t set_n;
static ask a;

static int ask_row(const agent_provider *row, const char *model, uint32_t tool_flags, int stream)
{
    static const char *const hosts[] = { "https://host.test", "https://host.test/v1/publishers/anthropic", "https://host.test/v1/publishers/google" };
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    agent_tool tool = { "look", "Looks.", "{\"type\":\"object\",\"properties\":{}}", 0, 0, NULL };
    memset(&a, 0, sizeof a);
    if (agent_open(&a.e, &d) != AGENT_OK) exit(2);
    p.provider = row->name;
    p.key = "sk-1";
    if (row->url == NULL) p.url = hosts[strstr(row->name, "vertex") == NULL ? 0 : strstr(row->name, "anthropic") ? 1 : 2];
    s.peer = agent_peer_open(a.e, &p);
    s.model = model;
    s.flags = stream ? 0 : AGENT_S_NO_STREAM;
    tool.flags = tool_flags;
    s.tools = &tool;
    s.tool_count = 1;
    a.session = agent_session_open(a.e, &s);
    return a.session != 0;
}
/* Text completions have no tools, and say so: that is not the option's matter.                                         */
static const char *warned(void) { return strncmp(a.warned, "- ", 2) == 0 ? a.warned + 2 : a.warned; }
static const char *model_of(const agent_provider *row) { return strstr(row->wire, "bedrock") ? "anthropic.claude-x" : "m-1"; }

/* The names of the options that the row drops, with blanks between; each other one has to change the body.             */
static void dropped(const agent_provider *row, char *out)
{
    char plain[sizeof a.body], what[100];
    size_t i;
    out[0] = 0;
    CHECK_CASE(ask_row(row, model_of(row), 0, 1), row->name);
    ask_say(&a, "Hi");
    strcpy(plain, a.body);
    agent_close(a.e);
    for (i = 0; i < OPTIONS; i++) {
        CHECK_CASE(ask_row(row, model_of(row), options[i].value ? 0 : AGENT_TF_STRICT, 1), row->name);
        if (options[i].value) ask_set(&a, options[i].key, options[i].value);
        ask_say(&a, "Hi");
        sprintf(what, "%.40s: %.40s", row->name, options[i].key);
        if (warned()[0]) {
            CHECK_CASE(strncmp(warned(), options[i].key, strlen(options[i].key)) == 0, what);
            CHECK_CASE(strcmp(a.body, plain) == 0 || strcmp(options[i].key, "thinking_budget") == 0, what);      /* on, but how much is left out */
            sprintf(out + strlen(out), "%s%s", out[0] ? " " : "", options[i].key);
        } else CHECK_CASE(strcmp(a.body, plain) != 0 || (options[i].tool && strcmp(row->wire, "openai-completions") == 0)
                          || strcmp(row->wire, "ollama-generate") == 0, what);
        agent_close(a.e);
    }
}
static char set_letter(const char *names)
{
    size_t i;
    for (i = 0; i < set_n && strcmp(sets[i], names); i++) {}
    if (i == set_n) { if (set_n == 26) exit(2); strcpy(sets[set_n++], names); }
    return (char)('A' + i);
}
static char *manual;
static void line_is_there(const char *line, int print)
{
    if (print) { printf(" * %s\n", line); return; }
    CHECK_CASE(manual && strstr(manual, line) != NULL, line);
}
static void table(int print)
{
    const agent_provider *row;
    char names[400], line[600];
    size_t i;
    for (i = 0; (row = agent_provider_at(i)) != NULL; i++) {
        dropped(row, names);
        sprintf(line, "  %-22s %-19s %-54s %-25s %c", row->name, row->wire, row->url ? row->url : "agent_peer_desc.url", row->key_env ? row->key_env
                : strcmp(row->auth, "none") == 0 ? "none" : "the host knows", set_letter(names));
        line_is_there(line, print);
    }
    for (i = 0; i < set_n; i++) {
        sprintf(line, "  %c: %.380s", (int)('A' + i), sets[i]);
        line_is_there(line, print);
    }
}
/* Rows that are rows: names once, URLs that parse, known formats; headers go out unless the host gives its own.         */
static void rows(void)
{
    const agent_provider *row, *other;
    agent_str name, value;
    size_t i, k, copilot = 0;
    for (i = 0; (row = agent_provider_at(i)) != NULL; i++) {
        for (k = 0; k < i; k++) { other = agent_provider_at(k); CHECK_CASE(strcmp(row->name, other->name) != 0, row->name); }
        CHECK_CASE(agenti_wire_find(agenti_cstr(row->wire)) != NULL && row->auth != NULL, row->name);
        CHECK_CASE(row->models == NULL || row->models[row->models[0] == '='] == '/', row->name);
        if (!ask_row(row, "m", 0, 0)) { CHECK_CASE(!"it opens", row->name); continue; }
        CHECK(agent_say(a.e, a.session, "Hi", AGENT_CSTR) > 0);
        ask_pump(&a);
        for (k = 0; agent_open_header(a.e, a.conn, k, &name, &value) == AGENT_OK; k++) copilot += strcmp(name.p, "Copilot-Integration-Id") == 0;
        agent_close(a.e);
    }
    CHECK(copilot == 2 && agent_provider_at(i + 1000) == NULL);
}
static void headers_of_row(void)
{
    static const agent_provider own[] = { { "mine", "http://mine.test/v9", "openai-chat", "none", NULL, 0, NULL, "X-A: row\nX-B: row\n" },
        { "bad", "http://mine.test/v9", "openai-chat", "none", NULL, 0, NULL, "X-A" },
        { "openai", "http://mine.test/v9", "openai-chat", "none", NULL, 0, NULL, NULL } };
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    agent_str name, value;
    char seen[200] = "";
    size_t k;
    memset(&a, 0, sizeof a);
    d.providers = own;
    d.provider_count = 3;
    CHECK(agent_open(&a.e, &d) == AGENT_OK);
    p.provider = "bad";
    CHECK(agent_peer_open(a.e, &p) == 0);
    p.provider = "mine";
    p.headers = "x-a: host\n";
    s.peer = agent_peer_open(a.e, &p);
    s.model = "m";
    a.session = agent_session_open(a.e, &s);
    CHECK(agent_say(a.e, a.session, "Hi", AGENT_CSTR) > 0);
    ask_pump(&a);
    for (k = 0; agent_open_header(a.e, a.conn, k, &name, &value) == AGENT_OK; k++)
        if (name.p[0] == 'X' || name.p[0] == 'x') sprintf(seen + strlen(seen), "%.20s=%.20s ", name.p, value.p);
    CHECK_CASE(strcmp(seen, "X-B=row x-a=host ") == 0, seen);
    CHECK_CASE(strcmp(a.path, "/v9/chat/completions") == 0, a.path);
    p.provider = "openai";                   /* the host's row goes before the one that is built in                     */
    s.peer = agent_peer_open(a.e, &p);
    a.session = agent_session_open(a.e, &s);
    CHECK(agent_say(a.e, a.session, "Hi", AGENT_CSTR) > 0);
    ask_pump(&a);
    CHECK_CASE(strcmp(a.path, "/v9/chat/completions") == 0, a.path);
    agent_close(a.e);
}
/* Where requests go, for the forms of URL that are not as others.                                                      */
static void urls(void)
{
    static const struct { const char *provider, *url, *path; int stream; } forms[] = {
        { "azure", "https://r.openai.azure.com/openai/v1", "/openai/v1/chat/completions", 1 },
        { "azure", "https://r.openai.azure.com/openai/deployments/d?api-version=2024-10-21", "/openai/deployments/d/chat/completions?api-version=2024-10-21", 1 },
        { "azure-responses", "https://r.openai.azure.com/openai/v1", "/openai/v1/responses", 1 },
        { "vertex", "https://l-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google",
          "/v1/projects/p/locations/l/publishers/google/models/m%401:streamGenerateContent?alt=sse", 1 },
        { "vertex-anthropic", "https://l-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic",
          "/v1/projects/p/locations/l/publishers/anthropic/models/m%401:streamRawPredict", 1 },
        { "vertex-anthropic", "https://l-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic",
          "/v1/projects/p/locations/l/publishers/anthropic/models/m%401:rawPredict", 0 },
        { "perplexity", NULL, "/chat/completions", 1 }, { "minimax", NULL, "/anthropic/v1/messages", 1 }, { "copilot", NULL, "/chat/completions", 1 }
    };
    size_t i;
    for (i = 0; i < sizeof forms / sizeof *forms; i++) {
        agent_desc d = AGENT_ZERO;
        agent_peer_desc p = AGENT_ZERO;
        agent_session_desc s = AGENT_ZERO;
        memset(&a, 0, sizeof a);
        CHECK(agent_open(&a.e, &d) == AGENT_OK);
        p.provider = forms[i].provider;
        p.url = forms[i].url;
        p.key = "k";
        s.peer = agent_peer_open(a.e, &p);
        s.model = "m@1";
        s.flags = forms[i].stream ? 0 : AGENT_S_NO_STREAM;
        a.session = agent_session_open(a.e, &s);
        ask_say(&a, "Hi");
        CHECK_CASE(strcmp(a.path, forms[i].path) == 0, a.path);
        if (strcmp(forms[i].provider, "vertex-anthropic") == 0) {
            ASK_HAS(&a, "model", NULL);
            ASK_HAS(&a, "anthropic_version", "\"vertex-2023-10-16\"");
            ASK_HAS(&a, "stream", forms[i].stream ? "true" : "false");
        }
        agent_close(a.e);
    }
}
/* The scale of efforts, and the other new options, in each format's words.                                             */
static void words(void)
{
    static const struct { const char *provider, *key, *value, *path, *want; } w[] = {
        { "openai", "reasoning_effort", "off", "reasoning_effort", "\"none\"" }, { "openai", "reasoning_effort", "max", "reasoning_effort", "\"xhigh\"" },
        { "openai", "reasoning_effort", "minimal", "reasoning_effort", "\"minimal\"" }, { "openai", "reasoning_effort", "odd", "reasoning_effort", "\"odd\"" },
        { "openai", "response_format", "json", "response_format", "{\"type\":\"json_object\"}" },
        { "openai", "response_format", "{\"type\":\"object\"}", "response_format.json_schema", "{\"name\":\"answer\",\"strict\":true,\"schema\":{\"type\":\"object\"}}" },
        { "openai", "service_tier", "flex", "service_tier", "\"flex\"" }, { "openai", "prompt_cache_key", "a\"b", "prompt_cache_key", "\"a\\\"b\"" },
        { "openai", "user", "u", "user", "\"u\"" }, { "openrouter", "top_k", "5", "top_k", "5" },
        { "deepseek", "reasoning_effort", "off", "thinking", "{\"type\":\"disabled\"}" }, { "deepseek", "reasoning_effort", "off", "reasoning_effort", NULL },
        { "deepseek", "reasoning_effort", "max", "reasoning_effort", "\"max\"" }, { "deepseek", "reasoning_effort", "high", "thinking", "{\"type\":\"enabled\"}" },
        { "zai", "thinking_budget", "0", "thinking", "{\"type\":\"disabled\"}" }, { "kimi", "thinking_budget", "adaptive", "thinking", "{\"type\":\"enabled\"}" },
        { "alibaba", "reasoning_effort", "off", "enable_thinking", "false" }, { "alibaba", "thinking_budget", "2048", "thinking_budget", "2048" },
        { "alibaba", "thinking_budget", "2048", "enable_thinking", "true" },
        { "openai-responses", "reasoning_effort", "max", "reasoning", "{\"effort\":\"xhigh\"}" },
        { "openai-responses", "response_format", "json", "text", "{\"format\":{\"type\":\"json_object\"}}" },
        { "openai-responses", "response_format", "{\"type\":\"object\"}", "text.format",
          "{\"type\":\"json_schema\",\"name\":\"answer\",\"strict\":true,\"schema\":{\"type\":\"object\"}}" },
        { "openai-responses", "user", "u", "safety_identifier", "\"u\"" }, { "openai-responses", "service_tier", "flex", "service_tier", "\"flex\"" },
        { "anthropic", "reasoning_effort", "off", "thinking", "{\"type\":\"disabled\"}" }, { "anthropic", "reasoning_effort", "off", "output_config", NULL },
        { "anthropic", "reasoning_effort", "minimal", "output_config", "{\"effort\":\"low\"}" },
        { "anthropic", "response_format", "{\"type\":\"object\"}", "output_config", "{\"format\":{\"type\":\"json_schema\",\"schema\":{\"type\":\"object\"}}}" },
        { "anthropic", "user", "u", "metadata", "{\"user_id\":\"u\"}" }, { "anthropic", "top_k", "5", "top_k", "5" },
        { "anthropic", "service_tier", "standard_only", "service_tier", "\"standard_only\"" },
        { "gemini", "reasoning_effort", "off", "generationConfig.thinkingConfig", "{\"thinkingBudget\":0}" },
        { "gemini", "reasoning_effort", "max", "generationConfig.thinkingConfig.thinkingLevel", "\"high\"" },
        { "gemini", "response_format", "json", "generationConfig.responseMimeType", "\"application/json\"" },
        { "gemini", "response_format", "{\"type\":\"object\"}", "generationConfig.responseJsonSchema", "{\"type\":\"object\"}" },
        { "gemini", "top_k", "5", "generationConfig.topK", "5" },
        { "gemini-interactions", "reasoning_effort", "off", "generation_config.thinking_level", "\"minimal\"" },
        { "gemini-interactions", "response_format", "{\"type\":\"object\"}", "response_format", "{\"type\":\"text\",\"mime_type\":\"application/json\",\"schema\":{\"type\":\"object\"}}" },
        { "ollama-native", "reasoning_effort", "off", "think", "false" }, { "ollama-native", "reasoning_effort", "high", "think", "\"high\"" },
        { "ollama-native", "response_format", "json", "format", "\"json\"" }, { "ollama-native", "response_format", "{\"type\":\"object\"}", "format", "{\"type\":\"object\"}" },
        { "ollama-native", "top_k", "5", "options.top_k", "5" },
        { "cohere", "reasoning_effort", "off", "thinking", "{\"type\":\"disabled\"}" }, { "cohere", "reasoning_effort", "high", "thinking", "{\"type\":\"enabled\"}" },
        { "cohere", "response_format", "{\"type\":\"object\"}", "response_format", "{\"type\":\"json_object\",\"json_schema\":{\"type\":\"object\"}}" },
        { "cohere", "top_k", "5", "k", "5" },
        { "amazon-bedrock", "service_tier", "priority", "serviceTier", "{\"type\":\"priority\"}" },
        { "amazon-bedrock", "reasoning_effort", "off", "additionalModelRequestFields", "{\"thinking\":{\"type\":\"disabled\"}}" },
        { "amazon-bedrock", "top_k", "5", "additionalModelRequestFields", "{\"top_k\":5}" },
        { "amazon-bedrock", "response_format", "{\"a\":1}", "outputConfig.textFormat.structure.jsonSchema.schema", "\"{\\\"a\\\":1}\"" }
    };
    static const struct { const char *provider, *path, *want; } strict[] = {
        { "openai", "tools[0].function.strict", "true" }, { "openai-responses", "tools[0].strict", "true" }, { "anthropic", "tools[0].strict", "true" },
        { "cohere", "strict_tools", "true" }, { "amazon-bedrock", "toolConfig.tools[0].toolSpec.strict", "true" }, { "gemini", "tools[0].strict", NULL }
    };
    size_t i, k;
    for (i = 0; i < sizeof w / sizeof *w; i++) {
        const agent_provider *row;
        for (k = 0; (row = agent_provider_at(k)) != NULL && strcmp(row->name, w[i].provider); k++) {}
        CHECK(row && ask_row(row, model_of(row), 0, 1));
        ask_set(&a, w[i].key, w[i].value);
        ask_say(&a, "Hi");
        CHECK_CASE(ask_has(&a, w[i].path, w[i].want), w[i].provider);
        agent_close(a.e);
    }
    for (i = 0; i < sizeof strict / sizeof *strict; i++) {
        const agent_provider *row;
        for (k = 0; (row = agent_provider_at(k)) != NULL && strcmp(row->name, strict[i].provider); k++) {}
        CHECK(row && ask_row(row, model_of(row), AGENT_TF_STRICT, 1));
        ask_say(&a, "Hi");
        CHECK_CASE(ask_has(&a, strict[i].path, strict[i].want), strict[i].provider);
        agent_close(a.e);
    }
    CHECK(ask_open(&a, "openai", NULL, 0, 0));
    CHECK(agent_session_set(a.e, a.session, "response_format", "xml", AGENT_CSTR) == AGENT_E_ARG);
    CHECK(agent_session_set(a.e, a.session, "response_format", "{\"a\":", AGENT_CSTR) == AGENT_E_ARG);
    CHECK(agent_session_set(a.e, a.session, "top_k", "many", AGENT_CSTR) == AGENT_E_ARG);
    agent_close(a.e);
}
int main(int argc, char **argv)
{
    FILE *f = fopen("agent.h", "rb");
    size_t n;
    if (argc > 1 && strcmp(argv[1], "--print") == 0) { table(1); return 0; }
    manual = (char *)calloc(1, 1 << 17);
    CHECK(f != NULL && manual != NULL);
    n = f && manual ? fread(manual, 1, (1 << 17) - 1, f) : 0;
    CHECK(n > 0);
    if (f) fclose(f);
    rows();
    headers_of_row();
    urls();
    words();
    table(0);
    free(manual);
    return test_end("providers");
}
