/* Ollama's own API: https://github.com/ollama/ollama/blob/main/docs/api.md. An event is a line of JSON. /api/chat answers with a
 * `message`, /api/generate with the members of one; both are read alike. Calls come whole, their arguments are objects. */
#ifndef AGENT_NO_OLLAMA
AGENTI_FN const agenti_wire *agenti_ollama(void);
AGENTI_FN const agenti_wire *agenti_ollama_generate(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_OLLAMA
/* ---- answers ---- */
enum { AGENTI_OL_ERROR, AGENTI_OL_MODEL, AGENTI_OL_MESSAGE, AGENTI_OL_THINKING, AGENTI_OL_CONTENT, AGENTI_OL_CALLS, AGENTI_OL_THOUGHTS,
       AGENTI_OL_RESPONSE, AGENTI_OL_ROOT_CALLS, AGENTI_OL_DONE, AGENTI_OL_REASON, AGENTI_OL_INPUT, AGENTI_OL_OUTPUT, AGENTI_OL_FIELDS };
static const agenti_field agenti_ol_rows[AGENTI_OL_FIELDS] = {
    { "error", -1 }, { "model", -1 }, { "message", -1 }, { "thinking", AGENTI_OL_MESSAGE }, { "content", AGENTI_OL_MESSAGE },
    { "tool_calls", AGENTI_OL_MESSAGE }, { "thinking", -1 }, { "response", -1 }, { "tool_calls", -1 }, { "done", -1 }, { "done_reason", -1 },
    { "prompt_eval_count", -1 }, { "eval_count", -1 }
};
/* Old versions leave the count of the prompt out, or say 0, when all of it was cached.                                 */
static void agenti_ol_usage(agenti_decoder *d, const agent_str *f)
{
    int64_t n;
    if (agenti_count(f[AGENTI_OL_INPUT], &n) && n > 0) { d->usage.input = n; d->has_usage = 1; }
    if (agenti_count(f[AGENTI_OL_OUTPUT], &n)) { d->usage.output = n; d->has_usage = 1; }
}
/* Without a reason, as old versions end, it is not known why (H2: it is `stop` after calls too).                        */
static int agenti_ol_done(agenti_decoder *d, const agent_str *f)
{
    agent_str raw;
    d->done = 1;
    if (!agenti_nonempty(f[AGENTI_OL_REASON])) return 1;
    if (!agenti_json_string(f[AGENTI_OL_REASON], NULL, &d->arena, &raw)) return 0;
    agenti_finish_set(d, agenti_eq(raw, "stop") ? AGENT_FINISH_STOP : agenti_eq(raw, "length") ? AGENT_FINISH_LENGTH : AGENT_FINISH_OTHER, raw);
    return 1;
}
/* Old versions give no ids, and "" for arguments when there are none (H1).                                             */
static AGENTI_NOINLINE int agenti_ol_call(agenti_decoder *d, agent_str call)
{
    enum { ID, FUNCTION, NAME, ARGUMENTS, FIELDS };
    static const agenti_field rows[FIELDS] = { { "id", -1 }, { "function", -1 }, { "name", FUNCTION }, { "arguments", FUNCTION } };
    agent_str f[FIELDS], args;
    agenti_op *op;
    uint32_t key = d->call_n;
    if (!agenti_is_object(call)) return 1;
    agenti_json_pick(call, rows, FIELDS, f);
    args = f[ARGUMENTS];
    if (!agenti_is_object(f[FUNCTION])) return 1;
    if (key >= d->call_limit) return agenti_too_many(d);
    if (!agenti_stream_end(d) || (op = agenti_op_add(d, AGENTI_OP_CALL, key)) == NULL) return 0;
    if (!agenti_string_of(d, f[ID], &op->a) || !agenti_string_of(d, f[NAME], &op->b)) return 0;
    if (args.n == 0 || agenti_eq(args, "null") || agenti_eq(args, "\"\"")) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, key)) == NULL) return 0;
    return agenti_is_string(args) ? agenti_string_of(d, args, &op->a) : agenti_raw_of(d, args, &op->a);
}
static int agenti_ol_calls(agenti_decoder *d, agent_str list)
{
    agent_str call;
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &call)) if (!agenti_ol_call(d, call)) return 0;
    return 1;
}
/* A line or a whole answer. Thoughts come before the text, though the text may stand before them.                       */
static int agenti_ol_object(agenti_decoder *d, agent_str json, int *known)
{
    agent_str f[AGENTI_OL_FIELDS];
    agenti_json_pick(json, agenti_ol_rows, AGENTI_OL_FIELDS, f);
    *known = agenti_is_object(f[AGENTI_OL_MESSAGE]) || f[AGENTI_OL_RESPONSE].n || f[AGENTI_OL_DONE].n;
    if (f[AGENTI_OL_ERROR].n && !agenti_eq(f[AGENTI_OL_ERROR], "null") && !agenti_eq(f[AGENTI_OL_ERROR], "\"\"")) {
        *known = 1;
        agenti_fault_object(d, json, 0);
        return 1;
    }
    if (!agenti_model_set(d, f[AGENTI_OL_MODEL])) return 0;
    if (!agenti_stream_add(d, AGENTI_OP_REASONING, f[AGENTI_OL_THINKING], 0) || !agenti_stream_add(d, AGENTI_OP_REASONING, f[AGENTI_OL_THOUGHTS], 0)
        || !agenti_stream_add(d, AGENTI_OP_TEXT, f[AGENTI_OL_CONTENT], 0) || !agenti_stream_add(d, AGENTI_OP_TEXT, f[AGENTI_OL_RESPONSE], 0)
        || !agenti_ol_calls(d, f[AGENTI_OL_CALLS]) || !agenti_ol_calls(d, f[AGENTI_OL_ROOT_CALLS])) return 0;
    agenti_ol_usage(d, f);
    return !agenti_eq(f[AGENTI_OL_DONE], "true") || agenti_ol_done(d, f);
}
static int agenti_ol_event(agenti_decoder *d, agent_str event, agent_str data)
{
    int known;
    (void)event;                              /* lines have none; who sends them as server-sent events names none        */
    data = agenti_trim(data);
    if (data.n == 0) return 1;
    if (agenti_eq(data, "[DONE]")) { d->done = d->finish != AGENT_FINISH_NONE; return 1; }
    if (data.p[0] != '{' || agent_json_check(data.p, data.n, d->depth_limit, NULL) != AGENT_OK) return agenti_payload_bad(d);
    return agenti_ol_object(d, data, &known);
}
static int agenti_ol_whole(agenti_decoder *d, agent_str body)
{
    int known = 0;
    if (agenti_is_object(body) && !agenti_ol_object(d, body, &known)) return 0;
    d->done = 1;
    if (!known) agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr(AGENTI_WHY("the answer is none of Ollama's")));
    return 1;
}

/* ---- requests ---- */
/* An effort is a level of thinking, a budget only tells whether to think.                                              */
static void agenti_ol_think_out(agenti_buf *b, const agenti_request *r)
{
    static const char *const words[] = { "none", "low", "low", "medium", "high", "max" };
    agent_str effort = agenti_effort(r, words), budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]);
    if (agenti_replaced(r, "think")) return;
    if (agenti_eq(effort, "none")) agenti_json_member(b, "think", agenti_cstr("false"));
    else if (effort.n) agenti_json_member_str(b, "think", effort);
    else if (budget.n) agenti_json_member(b, "think", agenti_cstr(agenti_eq(budget, "0") ? "false" : "true"));
}
static void agenti_ol_options_out(agenti_buf *b, const agenti_request *r)
{
    static const struct { const char *key; int option; } rows[] = {
        { "num_predict", AGENTI_OPT_MAX_TOKENS }, { "temperature", AGENTI_OPT_TEMPERATURE }, { "top_p", AGENTI_OPT_TOP_P },
        { "seed", AGENTI_OPT_SEED }, { "frequency_penalty", AGENTI_OPT_FREQUENCY }, { "presence_penalty", AGENTI_OPT_PRESENCE },
        { "top_k", AGENTI_OPT_TOP_K }
    };
    size_t i;
    if (agenti_replaced(r, "options")) return;
    agenti_buf_str(b, ",\"options\":{");
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        if (r->options[rows[i].option].n) agenti_json_member(b, rows[i].key, agenti_text_view(&r->options[rows[i].option]));
    agenti_stops_out(b, r, "stop");
    agenti_buf_str(b, "}");
}
static void agenti_ol_settings_out(agenti_buf *b, const agenti_request *r)
{
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "model")) agenti_json_member_str(b, "model", agenti_text_view(&r->options[AGENTI_OPT_MODEL]));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    agenti_ol_think_out(b, r);
    if (r->options[AGENTI_OPT_FORMAT].n && !agenti_replaced(r, "format"))
        agenti_json_member(b, "format", agenti_format_schema(r).n ? agenti_format_schema(r) : agenti_cstr("\"json\""));
    agenti_ol_options_out(b, r);
}
static void agenti_ol_head(agenti_buf *b, agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    if (choice.n && !agenti_eq(choice, "auto")) r->left_out |= AGENTI_BIT(AGENTI_OPT_TOOL_CHOICE);
    agenti_ol_settings_out(b, r);
    agenti_buf_str(b, ",\"messages\":[");
}
static void agenti_ol_open(agenti_buf *b, agenti_request *r, const char *role)
{
    agenti_buf_str(b, r->state ? ",{" : "{");
    r->state = 1;
    agenti_json_member_str(b, "role", agenti_cstr(role));
}
static void agenti_ol_system(agenti_buf *b, agenti_request *r, agent_str text)
{
    agenti_ol_open(b, r, "system");
    agenti_json_member_str(b, "content", text);
    agenti_buf_str(b, "}");
}
static int agenti_ol_is_image(const agenti_part *p) { return p->kind == AGENT_PART_IMAGE && (p->flags & AGENT_PART_BASE64) && p->text.n; }
/* A message has one text, and images beside it, by data only.                                                          */
static void agenti_ol_user_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, texts = 0, images = 0;
    agenti_ol_open(b, r, "user");
    agenti_json_member_str(b, "content", agenti_str(NULL, 0));
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        if (agenti_ol_is_image(p)) { images++; continue; }
        if (texts++) agenti_json_quote_more(b, agenti_cstr("\n\n"));
        if (p->text.n && !(p->flags & AGENT_PART_BASE64)) agenti_json_quote_more(b, agenti_text_view(&p->text));
        else agenti_media_left_more(b, r, p);
    }
    if (images) agenti_buf_str(b, ",\"images\":[");
    for (i = 0; i < m->n; i++) if (agenti_ol_is_image(&m->parts[i])) {
        agenti_json_comma(b);
        agenti_json_quote_to(b, agenti_text_view(&m->parts[i].text));
    }
    agenti_buf_str(b, images ? "]}" : "}");
}
static void agenti_ol_call_out(agenti_buf *b, const agenti_part *p)
{
    int usable = p->text.n && !(p->flags & AGENT_PART_INVALID);
    agenti_json_comma(b);
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "id", agenti_wire_id(p));
    agenti_buf_str(b, ",\"function\":{");
    agenti_tool_name_out(b, agenti_text_view(&p->name));
    agenti_json_member(b, "arguments", usable ? agenti_text_view(&p->text) : agenti_cstr("{}"));
    agenti_buf_str(b, "}}");
}
/* The parts of a kind as one string.                                                                                   */
static void agenti_ol_joined(agenti_buf *b, const char *key, const agenti_msg *m, int kind)
{
    uint32_t i;
    agenti_json_member_str(b, key, agenti_str(NULL, 0));
    for (i = 0; i < m->n; i++) if (m->parts[i].kind == kind) agenti_json_quote_more(b, agenti_text_view(&m->parts[i].text));
}
static void agenti_ol_model_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, texts = 0, calls = 0, thoughts = 0;
    for (i = 0; i < m->n; i++) {
        texts += m->parts[i].kind == AGENT_PART_TEXT && m->parts[i].text.n > 0;
        calls += m->parts[i].kind == AGENT_PART_CALL;
        thoughts += m->parts[i].kind == AGENT_PART_REASONING && m->parts[i].text.n > 0;
    }
    if (thoughts && m->model != r->model) { r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING); thoughts = 0; }
    if (texts + calls == 0) return;
    agenti_ol_open(b, r, "assistant");
    agenti_ol_joined(b, "content", m, AGENT_PART_TEXT);
    if (thoughts) agenti_ol_joined(b, "thinking", m, AGENT_PART_REASONING);
    if (calls) agenti_buf_str(b, ",\"tool_calls\":[");
    for (i = 0; i < m->n; i++) if (m->parts[i].kind == AGENT_PART_CALL) agenti_ol_call_out(b, &m->parts[i]);
    agenti_buf_str(b, calls ? "]}" : "}");
}
/* Old versions match a result by the tool's name, new ones by the id.                                                  */
static void agenti_ol_tools_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, at = 0;
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        agenti_ol_open(b, r, "tool");
        agenti_json_member_str(b, "tool_name", agenti_result_name(r, p, &at));
        agenti_json_member_str(b, "tool_call_id", agenti_wire_id(p));
        agenti_json_member_str(b, "content", p->text.n ? agenti_text_view(&p->text) : agenti_cstr("(no output)"));
        agenti_buf_str(b, "}");
    }
}
static void agenti_ol_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    if (m->role == AGENT_MODEL) agenti_ol_model_msg(b, r, m);
    else if (m->role == AGENT_USER) agenti_ol_user_msg(b, r, m);
    else agenti_ol_tools_msg(b, r, m);
}
/* No choice of tools can be told, so the words alone must do when no more calls are wanted.                             */
static void agenti_ol_tail(agenti_buf *b, const agenti_request *r)
{
    if (r->note) {
        agenti_buf_str(b, ",{\"role\":\"user\"");
        agenti_json_member_str(b, "content", agenti_cstr(r->note));
        agenti_buf_str(b, "}");
    }
    agenti_buf_str(b, "]");
}
/* /api/generate: what was said is one text; templates and images of its own are the host's, by members of its own.      */
static void agenti_og_head(agenti_buf *b, agenti_request *r)
{
    agent_str system = agenti_text_view(&r->options[AGENTI_OPT_SYSTEM]);
    if (r->tool_count) r->left_out |= AGENTI_BIT(AGENTI_LEFT_TOOLS);
    agenti_ol_settings_out(b, r);
    if (system.n && !agenti_replaced(r, "system")) agenti_json_member_str(b, "system", system);
    if (!agenti_replaced(r, "prompt")) agenti_buf_str(b, ",\"prompt\":\"");
}
static void agenti_og_tail(agenti_buf *b, const agenti_request *r)
{
    if (!agenti_replaced(r, "prompt")) agenti_buf_str(b, "\"");
}
static void agenti_og_tools(agenti_buf *b, const agenti_request *r) { (void)b; (void)r; }

/* Lines are short, and what stands last in one may come first, so nothing is cut.                                      */
#define AGENTI_OL_LACKS (AGENTI_BIT(AGENTI_OPT_PARALLEL) | AGENTI_BIT(AGENTI_OPT_TIER) | AGENTI_BIT(AGENTI_OPT_CACHE_KEY) | AGENTI_BIT(AGENTI_OPT_USER) \
    | AGENTI_BIT(AGENTI_LEFT_STRICT))
static const char *const agenti_ol_none[] = { NULL };
static const agenti_wire agenti_ollama_wire = {
    "ollama", "/chat", NULL, AGENTI_FRAMING_LINES, NULL, NULL, AGENTI_OL_LACKS,
    agenti_ol_head, agenti_ol_system, agenti_ol_message_out, agenti_ol_tail, agenti_functions_out, agenti_extra_out,
    agenti_ol_event, agenti_ol_whole, NULL,
    { agenti_ol_none, agenti_ol_none, agenti_ol_none, 0, agenti_ol_none }, { agenti_ol_none, agenti_ol_none, agenti_ol_none, 0, agenti_ol_none },
    NULL, NULL
};
static const agenti_wire agenti_ollama_generate_wire = {
    "ollama-generate", "/generate", NULL, AGENTI_FRAMING_LINES, NULL, NULL, AGENTI_OL_LACKS | AGENTI_BIT(AGENTI_OPT_TOOL_CHOICE),
    agenti_og_head, NULL, agenti_prompt_message, agenti_og_tail, agenti_og_tools, agenti_extra_out,
    agenti_ol_event, agenti_ol_whole, NULL,
    { agenti_ol_none, agenti_ol_none, agenti_ol_none, 0, agenti_ol_none }, { agenti_ol_none, agenti_ol_none, agenti_ol_none, 0, agenti_ol_none },
    NULL, NULL
};
AGENTI_FN const agenti_wire *agenti_ollama(void) { return &agenti_ollama_wire; }
AGENTI_FN const agenti_wire *agenti_ollama_generate(void) { return &agenti_ollama_generate_wire; }
#endif
#endif
