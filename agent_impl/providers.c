/* Who speaks what: the wire formats by name, and the table of providers. A host's own rows win. */
AGENTI_FN const agenti_wire *agenti_wire_find(agent_str name);                                  /* NULL: unknown        */
AGENTI_FN const agent_provider *agenti_provider_find(const agent_provider *rows, size_t n, agent_str name);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_PROVIDERS
#ifndef AGENT_NO_PROVIDERS
/* What Copilot wants to know of who asks; a host sends its own names.                                                  */
#define AGENTI_COPILOT "Copilot-Integration-Id: vscode-chat\nEditor-Version: agent.h/" AGENT_VERSION "\n"
static const agent_provider agenti_providers[] = {
#ifndef AGENT_NO_OPENAI_CHAT
    { "openai", "https://api.openai.com/v1", "openai-chat", "bearer", "OPENAI_API_KEY", AGENT_DIALECT_MAX_COMPLETION_TOKENS, "/models", NULL },
#endif
#ifndef AGENT_NO_OPENAI_RESPONSES
    { "openai-responses", "https://api.openai.com/v1", "openai-responses", "bearer", "OPENAI_API_KEY", 0, "/models", NULL },
#endif
#ifndef AGENT_NO_OPENAI_COMPLETIONS
    { "openai-completions", "https://api.openai.com/v1", "openai-completions", "bearer", "OPENAI_API_KEY", 0, "/models", NULL },
#endif
#ifndef AGENT_NO_OPENAI_CHAT
    /* .../openai/v1, or .../openai/deployments/NAME?api-version=DATE */
    { "azure", NULL, "openai-chat", "api-key", "AZURE_OPENAI_API_KEY", AGENT_DIALECT_MAX_COMPLETION_TOKENS, "=/openai/v1/models", NULL },
#endif
#ifndef AGENT_NO_OPENAI_RESPONSES
    { "azure-responses", NULL, "openai-responses", "api-key", "AZURE_OPENAI_API_KEY", 0, "=/openai/v1/models", NULL },
#endif
#ifndef AGENT_NO_OPENAI_CHAT
    { "copilot", "https://api.githubcopilot.com", "openai-chat", "bearer", "GITHUB_COPILOT_TOKEN", 0, "/models", AGENTI_COPILOT },
#endif
#ifndef AGENT_NO_OPENAI_RESPONSES
    { "copilot-responses", "https://api.githubcopilot.com", "openai-responses", "bearer", "GITHUB_COPILOT_TOKEN", 0, "/models", AGENTI_COPILOT },
#endif
#ifndef AGENT_NO_OPENAI_CHAT
    { "github-models", "https://models.github.ai/inference", "openai-chat", "bearer", "GITHUB_TOKEN", 0, "=/catalog/models", NULL },
#endif
#ifndef AGENT_NO_ANTHROPIC
    { "anthropic", "https://api.anthropic.com/v1", "anthropic", "x-api-key", "ANTHROPIC_API_KEY", 0, "/models?limit=1000", NULL },
    /* Vertex: https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION/publishers/{anthropic or google} */
    { "vertex-anthropic", NULL, "vertex-anthropic", "bearer", NULL, 0, NULL, NULL },
#endif
#ifndef AGENT_NO_GEMINI
    { "vertex", NULL, "gemini", "bearer", NULL, 0, NULL, NULL },
    { "gemini", "https://generativelanguage.googleapis.com/v1beta", "gemini", "x-goog-api-key", "GEMINI_API_KEY", 0, "/models?pageSize=1000", NULL },
#endif
#ifndef AGENT_NO_GEMINI_INTERACTIONS
    { "gemini-interactions", "https://generativelanguage.googleapis.com/v1beta", "gemini-interactions", "x-goog-api-key", "GEMINI_API_KEY",
      0, "/models?pageSize=1000", NULL },
#endif
#ifndef AGENT_NO_BEDROCK
    /* Bedrock: https://bedrock-runtime.REGION.amazonaws.com; its lists are at another host */
    { "amazon-bedrock", NULL, "bedrock-converse", "bearer", "AWS_BEARER_TOKEN_BEDROCK", 0, NULL, NULL },
#endif
#if !defined AGENT_NO_BEDROCK && !defined AGENT_NO_ANTHROPIC
    { "amazon-bedrock-invoke", NULL, "bedrock-invoke", "bearer", "AWS_BEARER_TOKEN_BEDROCK", 0, NULL, NULL },
#endif
#ifndef AGENT_NO_COHERE
    { "cohere", "https://api.cohere.com/v2", "cohere-v2", "bearer", "COHERE_API_KEY", 0, "=/v1/models?page_size=1000", NULL },
#endif
#ifndef AGENT_NO_OPENAI_CHAT
    { "deepseek", "https://api.deepseek.com/v1", "openai-chat", "bearer", "DEEPSEEK_API_KEY",
      AGENT_DIALECT_REASONING_CONTENT | AGENT_DIALECT_NO_FORCED_CHOICE | AGENT_DIALECT_THINKING_TYPE, "/models", NULL },
    { "kimi", "https://api.moonshot.ai/v1", "openai-chat", "bearer", "MOONSHOT_API_KEY",
      AGENT_DIALECT_REASONING_CONTENT | AGENT_DIALECT_THINKING_TYPE, "/models", NULL },
    { "mistral", "https://api.mistral.ai/v1", "openai-chat", "bearer", "MISTRAL_API_KEY",
      AGENT_DIALECT_MISTRAL | AGENT_DIALECT_NO_STREAM_OPTIONS, "/models", NULL },
    { "xai", "https://api.x.ai/v1", "openai-chat", "bearer", "XAI_API_KEY", 0, "/models", NULL },
    { "openrouter", "https://openrouter.ai/api/v1", "openai-chat", "bearer", "OPENROUTER_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "groq", "https://api.groq.com/openai/v1", "openai-chat", "bearer", "GROQ_API_KEY", AGENT_DIALECT_MAX_COMPLETION_TOKENS, "/models", NULL },
    { "huggingface", "https://router.huggingface.co/v1", "openai-chat", "bearer", "HF_TOKEN", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "novita", "https://api.novita.ai/openai/v1", "openai-chat", "bearer", "NOVITA_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "together", "https://api.together.xyz/v1", "openai-chat", "bearer", "TOGETHER_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "fireworks", "https://api.fireworks.ai/inference/v1", "openai-chat", "bearer", "FIREWORKS_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "deepinfra", "https://api.deepinfra.com/v1/openai", "openai-chat", "bearer", "DEEPINFRA_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "cerebras", "https://api.cerebras.ai/v1", "openai-chat", "bearer", "CEREBRAS_API_KEY", AGENT_DIALECT_MAX_COMPLETION_TOKENS, "/models", NULL },
    { "perplexity", "https://api.perplexity.ai", "openai-chat", "bearer", "PERPLEXITY_API_KEY", 0, NULL, NULL },
    { "alibaba", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "openai-chat", "bearer", "DASHSCOPE_API_KEY",
      AGENT_DIALECT_ENABLE_THINKING | AGENT_DIALECT_TOP_K, "/models", NULL },
    { "zai", "https://api.z.ai/api/paas/v4", "openai-chat", "bearer", "ZAI_API_KEY",
      AGENT_DIALECT_REASONING_CONTENT | AGENT_DIALECT_THINKING_TYPE, "/models", NULL },
#endif
#ifndef AGENT_NO_ANTHROPIC
    /* MiniMax recommends its Anthropic form: in the other one thoughts stand in the text, between <think> tags */
    { "minimax", "https://api.minimax.io/anthropic/v1", "anthropic", "bearer", "MINIMAX_API_KEY", AGENT_DIALECT_UNSIGNED_THINKING, NULL, NULL },
#endif
#ifndef AGENT_NO_OPENAI_CHAT
    { "minimax-chat", "https://api.minimax.io/v1", "openai-chat", "bearer", "MINIMAX_API_KEY", 0, "/models", NULL },
    { "venice", "https://api.venice.ai/api/v1", "openai-chat", "bearer", "VENICE_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "vercel", "https://ai-gateway.vercel.sh/v1", "openai-chat", "bearer", "AI_GATEWAY_API_KEY", 0, "/models", NULL },
    { "orcarouter", "https://api.orcarouter.ai/v1", "openai-chat", "bearer", "ORCAROUTER_API_KEY", 0, "/models", NULL },
    { "requesty", "https://router.requesty.ai/v1", "openai-chat", "bearer", "REQUESTY_API_KEY", 0, "/models", NULL },
    { "trustedrouter", "https://api.trustedrouter.com/v1", "openai-chat", "bearer", "TRUSTEDROUTER_API_KEY", 0, "/models", NULL },
    { "ollama", "http://127.0.0.1:11434/v1", "openai-chat", "none", NULL, AGENT_DIALECT_TOP_K, "/models", NULL },
#endif
#ifndef AGENT_NO_OLLAMA
    { "ollama-native", "http://127.0.0.1:11434/api", "ollama", "none", NULL, 0, "/tags", NULL },
    { "ollama-generate", "http://127.0.0.1:11434/api", "ollama-generate", "none", NULL, 0, "/tags", NULL },
    { "ollama-cloud", "https://ollama.com/api", "ollama", "bearer", "OLLAMA_API_KEY", 0, "/tags", NULL },
#endif
#ifndef AGENT_NO_OPENAI_CHAT
    /* Local servers: a key only if they were started with one */
    { "llama.cpp", "http://127.0.0.1:8080/v1", "openai-chat", "bearer", "LLAMA_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "vllm", "http://127.0.0.1:8000/v1", "openai-chat", "bearer", "VLLM_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "lm-studio", "http://127.0.0.1:1234/v1", "openai-chat", "bearer", "LM_API_TOKEN", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "openai-compatible", NULL, "openai-chat", "bearer", "OPENAI_API_KEY", 0, "/models", NULL },
#endif
#ifndef AGENT_NO_ANTHROPIC
    { "anthropic-compatible", NULL, "anthropic", "x-api-key", "ANTHROPIC_API_KEY", 0, "/models", NULL },
#endif
    { NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL }
};
AGENTDEF const agent_provider *agent_provider_at(size_t i) { return i < sizeof agenti_providers / sizeof *agenti_providers - 1 ? &agenti_providers[i] : NULL; }
#endif
AGENTI_FN const agenti_wire *agenti_wire_find(agent_str name)
{
    static const agenti_wire *(*const wires[])(void) = {
#ifndef AGENT_NO_OPENAI_CHAT
        agenti_openai_chat,
#endif
#ifndef AGENT_NO_ANTHROPIC
        agenti_anthropic, agenti_anthropic_vertex,
#ifndef AGENT_NO_BEDROCK
        agenti_anthropic_invoke,
#endif
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
#ifndef AGENT_NO_PROVIDERS
    for (i = 0; agenti_providers[i].name; i++) if (agenti_eq(name, agenti_providers[i].name)) return &agenti_providers[i];
#endif
    return NULL;
}
#endif
