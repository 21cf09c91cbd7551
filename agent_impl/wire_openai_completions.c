/* OpenAI completions, the form before chat: https://platform.openai.com/docs/api-reference/completions. A text goes on: no messages, no
 * tools. Answers: `text_completion`, streamed or whole. */
#ifndef AGENT_NO_OPENAI_COMPLETIONS
AGENTI_FN const agenti_wire *agenti_openai_completions(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_OPENAI_COMPLETIONS
/* ---- answers ---- */
static AGENTI_NOINLINE void agenti_ot_usage(agenti_decoder *d, agent_str usage)
{
    enum { AT_INPUT, AT_OUTPUT, AT_IN_DETAILS, AT_CACHED, AT_OUT_DETAILS, AT_REASONING, AT_FIELDS };
    static const agenti_field rows[AT_FIELDS] = {
        { "prompt_tokens", -1 }, { "completion_tokens", -1 }, { "prompt_tokens_details", -1 }, { "cached_tokens", AT_IN_DETAILS },
        { "completion_tokens_details", -1 }, { "reasoning_tokens", AT_OUT_DETAILS }
    };
    agent_str f[AT_FIELDS];
    int64_t n;
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, rows, AT_FIELDS, f);
    if (agenti_count(f[AT_INPUT], &n)) { d->usage.input = n; d->has_usage = 1; }
    if (agenti_count(f[AT_OUTPUT], &n)) { d->usage.output = n; d->has_usage = 1; }
    if (agenti_count(f[AT_CACHED], &n)) d->usage.cached = n;
    if (agenti_count(f[AT_REASONING], &n)) d->usage.reasoning = n;
}
/* The first real reason counts; null and "" are none.                                                                  */
static int agenti_ot_finish(agenti_decoder *d, agent_str value)
{
    agent_str raw;
    int finish;
    if (!agenti_nonempty(value) || d->finish != AGENT_FINISH_NONE) return 1;
    if (!agenti_json_string(value, NULL, &d->arena, &raw)) return 0;
    finish = agenti_eq(raw, "stop") ? AGENT_FINISH_STOP : agenti_eq(raw, "length") ? AGENT_FINISH_LENGTH :
        agenti_eq(raw, "content_filter") ? AGENT_FINISH_FILTER : AGENT_FINISH_OTHER;
    agenti_finish_set(d, finish, raw);
    return 1;
}
/* Of several choices the first one counts.                                                                             */
static AGENTI_NOINLINE int agenti_ot_choice(agenti_decoder *d, agent_str choice)
{
    enum { AT_TEXT, AT_INDEX, AT_FINISH, AT_FIELDS };
    static const agenti_field rows[AT_FIELDS] = { { "text", -1 }, { "index", -1 }, { "finish_reason", -1 } };
    agent_str f[AT_FIELDS];
    int64_t index;
    if (!agenti_is_object(choice)) return 1;
    agenti_json_pick(choice, rows, AT_FIELDS, f);
    if (f[AT_INDEX].n && agenti_int(f[AT_INDEX], &index) && index != 0) return 1;
    return agenti_stream_add(d, AGENTI_OP_TEXT, f[AT_TEXT], 0) && agenti_ot_finish(d, f[AT_FINISH]);
}
static int agenti_ot_object(agenti_decoder *d, agent_str json, int *known)
{
    enum { AT_ERROR, AT_USAGE, AT_CHOICES, AT_MODEL, AT_FIELDS };
    static const agenti_field rows[AT_FIELDS] = { { "error", -1 }, { "usage", -1 }, { "choices", -1 }, { "model", -1 } };
    agent_str f[AT_FIELDS], choice;
    size_t pos = 0;
    agenti_json_pick(json, rows, AT_FIELDS, f);
    *known = f[AT_CHOICES].n || f[AT_USAGE].n;
    if (f[AT_ERROR].n && !agenti_eq(f[AT_ERROR], "null")) {
        *known = 1;
        agenti_fault_object(d, json, 0);
        return 1;
    }
    agenti_ot_usage(d, f[AT_USAGE]);
    if (!agenti_model_set(d, f[AT_MODEL])) return 0;
    while (agenti_is_array(f[AT_CHOICES]) && agent_json_each(f[AT_CHOICES], &pos, NULL, &choice)) if (!agenti_ot_choice(d, choice)) return 0;
    return 1;
}
static int agenti_ot_event(agenti_decoder *d, agent_str event, agent_str data)
{
    int known;
    data = agenti_trim(data);
    if (data.n == 0 || data.p[0] == ':') return 1;
    if (agenti_eq(data, "[DONE]")) { d->done = 1; return 1; }
    if (data.p[0] != '{' || agent_json_check(data.p, data.n, d->depth_limit, NULL) != AGENT_OK) {
        if (!agenti_eq(event, "error")) return agenti_payload_bad(d);
        agenti_fault_set(d, AGENT_FAULT_SERVER, 1, "", data);
        return 1;
    }
    if (!agenti_eq(event, "error")) return agenti_ot_object(d, data, &known);
    agenti_fault_object(d, data, 0);
    return 1;
}
static int agenti_ot_whole(agenti_decoder *d, agent_str body)
{
    int known = 0;
    if (agenti_is_object(body) && !agenti_ot_object(d, body, &known)) return 0;
    d->done = 1;
    if (!known) agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr(AGENTI_WHY("the answer is no text completion")));
    return 1;
}

/* ---- requests ---- */
static void agenti_ot_head(agenti_buf *b, agenti_request *r)
{
    agent_str system = agenti_text_view(&r->options[AGENTI_OPT_SYSTEM]);
    if (r->tool_count) r->left_out |= AGENTI_BIT(AGENTI_LEFT_TOOLS);
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "model")) agenti_json_member_str(b, "model", agenti_text_view(&r->options[AGENTI_OPT_MODEL]));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    if (r->stream && !(r->dialect & AGENT_DIALECT_NO_STREAM_OPTIONS) && !agenti_replaced(r, "stream_options"))
        agenti_json_member(b, "stream_options", agenti_cstr("{\"include_usage\":true}"));
    agenti_option_out(b, r, "max_tokens", AGENTI_OPT_MAX_TOKENS);
    agenti_option_out(b, r, "temperature", AGENTI_OPT_TEMPERATURE);
    agenti_option_out(b, r, "top_p", AGENTI_OPT_TOP_P);
    agenti_option_out(b, r, "seed", AGENTI_OPT_SEED);
    agenti_option_out(b, r, "frequency_penalty", AGENTI_OPT_FREQUENCY);
    agenti_option_out(b, r, "presence_penalty", AGENTI_OPT_PRESENCE);
    agenti_option_out(b, r, "stop", AGENTI_OPT_STOP);
    if (r->options[AGENTI_OPT_USER].n && !agenti_replaced(r, "user")) agenti_json_member_str(b, "user", agenti_text_view(&r->options[AGENTI_OPT_USER]));
    if (agenti_replaced(r, "prompt")) return;
    agenti_buf_str(b, ",\"prompt\":\"");
    agenti_prompt_text(b, system);
}
static void agenti_ot_tail(agenti_buf *b, const agenti_request *r)
{
    if (!agenti_replaced(r, "prompt")) agenti_buf_str(b, "\"");
}
static void agenti_ot_tools(agenti_buf *b, const agenti_request *r) { (void)b; (void)r; }
static const char *const agenti_ot_parts[] = { "text", NULL };
static const char *const agenti_ot_owner[] = { "index", NULL };
static const char *const agenti_ot_held[] = { "logprobs", NULL };
static const agenti_wire agenti_openai_completions_wire = {
    "openai-completions", "/completions", NULL, AGENTI_FRAMING_SSE, NULL, NULL,
    AGENTI_BIT(AGENTI_OPT_TOOL_CHOICE) | AGENTI_BIT(AGENTI_OPT_PARALLEL) | AGENTI_BIT(AGENTI_OPT_EFFORT) | AGENTI_BIT(AGENTI_OPT_THINKING)
        | AGENTI_BIT(AGENTI_OPT_FORMAT) | AGENTI_BIT(AGENTI_OPT_TIER) | AGENTI_BIT(AGENTI_OPT_CACHE_KEY) | AGENTI_BIT(AGENTI_OPT_TOP_K),
    agenti_ot_head, NULL, agenti_prompt_message, agenti_ot_tail, agenti_ot_tools, agenti_extra_out, agenti_ot_event, agenti_ot_whole, NULL,
    { agenti_ot_parts, agenti_ot_owner, agenti_ot_owner, 0, agenti_ot_held }, { agenti_ot_parts, agenti_ot_owner, agenti_ot_owner, 0, agenti_ot_held },
    NULL, NULL
};
AGENTI_FN const agenti_wire *agenti_openai_completions(void) { return &agenti_openai_completions_wire; }
#endif
#endif
