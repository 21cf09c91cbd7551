/* Who speaks what: the wire formats by name, and the table of providers. A host's own rows win. */
AGENTI_FN const agenti_wire *agenti_wire_find(agent_str name);                                  /* NULL: unknown        */
AGENTI_FN const agent_provider *agenti_provider_find(const agent_provider *rows, size_t n, agent_str name);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_PROVIDERS
static const agent_provider agenti_providers[] = {
    { "openai", "https://api.openai.com/v1", "openai-chat", "bearer", "OPENAI_API_KEY", AGENT_DIALECT_MAX_COMPLETION_TOKENS },
    { "anthropic", "https://api.anthropic.com/v1", "anthropic", "x-api-key", "ANTHROPIC_API_KEY", 0 },
    { "ollama", "http://127.0.0.1:11434/v1", "openai-chat", "none", NULL, 0 },
    { "llama.cpp", "http://127.0.0.1:8080/v1", "openai-chat", "bearer", "LLAMA_API_KEY", 0 },
    { "openai-compatible", NULL, "openai-chat", "bearer", "OPENAI_API_KEY", 0 }
};
AGENTI_FN const agenti_wire *agenti_wire_find(agent_str name)
{
    if (agenti_eq(name, agenti_openai_chat()->name)) return agenti_openai_chat();
    if (agenti_eq(name, agenti_anthropic()->name)) return agenti_anthropic();
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
