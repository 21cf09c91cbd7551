/* Who speaks what: the wire formats by name, and the table of providers. A host's own rows win. */
AGENTI_FN const agenti_wire *agenti_wire_find(agent_str name);                                  /* NULL: unknown        */
AGENTI_FN const agent_provider *agenti_provider_find(const agent_provider *rows, size_t n, agent_str name);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_PROVIDERS
static const agent_provider agenti_providers[] = {
    { "openai", "https://api.openai.com/v1", "openai-chat", "bearer", "OPENAI_API_KEY", AGENT_DIALECT_MAX_COMPLETION_TOKENS, "/models" },
    { "openai-responses", "https://api.openai.com/v1", "openai-responses", "bearer", "OPENAI_API_KEY", 0, "/models" },
    { "anthropic", "https://api.anthropic.com/v1", "anthropic", "x-api-key", "ANTHROPIC_API_KEY", 0, "/models?limit=1000" },
    { "gemini", "https://generativelanguage.googleapis.com/v1beta", "gemini", "x-goog-api-key", "GEMINI_API_KEY", 0, "/models?pageSize=1000" },
    { "gemini-interactions", "https://generativelanguage.googleapis.com/v1beta",
      "gemini-interactions", "x-goog-api-key", "GEMINI_API_KEY", 0, "/models?pageSize=1000" },
    { "ollama", "http://127.0.0.1:11434/v1", "openai-chat", "none", NULL, 0, "/models" },
    { "ollama-native", "http://127.0.0.1:11434/api", "ollama", "none", NULL, 0, "/tags" },
    { "ollama-cloud", "https://ollama.com/api", "ollama", "bearer", "OLLAMA_API_KEY", 0, "/tags" },
    { "ollama-generate", "http://127.0.0.1:11434/api", "ollama-generate", "none", NULL, 0, "/tags" },
    { "cohere", "https://api.cohere.com/v2", "cohere-v2", "bearer", "COHERE_API_KEY", 0, "=/v1/models?page_size=1000" },
    { "openai-completions", "https://api.openai.com/v1", "openai-completions", "bearer", "OPENAI_API_KEY", 0, "/models" },
    { "llama.cpp", "http://127.0.0.1:8080/v1", "openai-chat", "bearer", "LLAMA_API_KEY", 0, "/models" },
    { "amazon-bedrock", NULL, "bedrock-converse", "bearer", "AWS_BEARER_TOKEN_BEDROCK", 0, NULL },
    { "amazon-bedrock-invoke", NULL, "bedrock-invoke", "bearer", "AWS_BEARER_TOKEN_BEDROCK", 0, NULL },
    { "openai-compatible", NULL, "openai-chat", "bearer", "OPENAI_API_KEY", 0, "/models" }
};
AGENTI_FN const agenti_wire *agenti_wire_find(agent_str name)
{
    static const agenti_wire *(*const wires[])(void) = {
#ifndef AGENT_NO_OPENAI_CHAT
        agenti_openai_chat,
#endif
#ifndef AGENT_NO_ANTHROPIC
        agenti_anthropic, agenti_anthropic_invoke,
#endif
#ifndef AGENT_NO_GEMINI
        agenti_gemini,
#endif
#ifndef AGENT_NO_GEMINI_INTERACTIONS
        agenti_gemini_interactions,
#endif
#ifndef AGENT_NO_BEDROCK
        agenti_bedrock_converse,
#endif
#ifndef AGENT_NO_OLLAMA
        agenti_ollama, agenti_ollama_generate,
#endif
#ifndef AGENT_NO_COHERE
        agenti_cohere, agenti_cohere_v1,
#endif
#ifndef AGENT_NO_OPENAI_COMPLETIONS
        agenti_openai_completions,
#endif
#ifndef AGENT_NO_OPENAI_RESPONSES
        agenti_openai_responses,
#endif
        NULL
    };
    size_t i;
    for (i = 0; wires[i]; i++) if (agenti_eq(name, wires[i]()->name)) return wires[i]();
    return NULL;
}
AGENTI_FN const agent_provider *agenti_provider_find(const agent_provider *rows, size_t n, agent_str name)
{
    size_t i;
    for (i = 0; i < n; i++) if (rows[i].name && agenti_eq(name, rows[i].name)) return &rows[i];
    for (i = 0; i < sizeof agenti_providers / sizeof *agenti_providers; i++)
        if (agenti_eq(name, agenti_providers[i].name)) return &agenti_providers[i];
    return NULL;
}
#endif
