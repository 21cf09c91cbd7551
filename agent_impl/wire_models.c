/* Lists of models, in any of the shapes that providers have, told in one. As an answer it is a wire format like the others, but nobody asks
 * for it by name. */
#ifndef AGENT_NO_MODELS
AGENTI_FN const agenti_wire *agenti_model_list(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_MODELS
enum { AGENTI_ML_ID, AGENTI_ML_MODEL, AGENTI_ML_NAME, AGENTI_ML_DISPLAY, AGENTI_ML_SHOWN, AGENTI_ML_CONTEXT, AGENTI_ML_WINDOW, AGENTI_ML_MOST, AGENTI_ML_LEN,
       AGENTI_ML_INPUT, AGENTI_ML_OUTPUT, AGENTI_ML_COMPLETION, AGENTI_ML_OUT_LIMIT, AGENTI_ML_TOP, AGENTI_ML_TOP_OUT, AGENTI_ML_LIMITS, AGENTI_ML_LIMITS_IN,
       AGENTI_ML_LIMITS_OUT, AGENTI_ML_CAN, AGENTI_ML_CAN_LIMITS, AGENTI_ML_CAN_IN, AGENTI_ML_CAN_OUT, AGENTI_ML_FIELDS };
static const agenti_field agenti_models_fields[AGENTI_ML_FIELDS] = {
    { "id", -1 }, { "model", -1 }, { "name", -1 }, { "display_name", -1 }, { "displayName", -1 },
    { "context_length", -1 }, { "context_window", -1 }, { "max_context_length", -1 }, { "max_model_len", -1 }, { "inputTokenLimit", -1 },
    { "max_output_tokens", -1 }, { "max_completion_tokens", -1 }, { "outputTokenLimit", -1 },
    { "top_provider", -1 }, { "max_completion_tokens", AGENTI_ML_TOP },                               /* OpenRouter     */
    { "limits", -1 }, { "max_input_tokens", AGENTI_ML_LIMITS }, { "max_output_tokens", AGENTI_ML_LIMITS },               /* GitHub Models */
    { "capabilities", -1 }, { "limits", AGENTI_ML_CAN }, { "max_context_window_tokens", AGENTI_ML_CAN_LIMITS },           /* Copilot       */
    { "max_output_tokens", AGENTI_ML_CAN_LIMITS }
};
static agent_str agenti_models_first(const agent_str *f, const uint8_t *which, size_t n)      /* a string that is not empty      */
{
    size_t i;
    for (i = 0; i < n; i++) if (agenti_nonempty(f[which[i]])) return f[which[i]];
    return agenti_str(NULL, 0);
}
static void agenti_models_count(agenti_buf *b, const char *key, const agent_str *f, const uint8_t *which, size_t n)
{
    int64_t v;
    size_t i;
    for (i = 0; i < n; i++) if (f[which[i]].n && agenti_count(f[which[i]], &v) && v > 0) { agenti_json_member_int(b, key, v); return; }
}
/* JSON strings go over as they are written.                                                                            */
static AGENTI_NOINLINE void agenti_models_one(agenti_buf *b, agent_str model)
{
    static const uint8_t ids[] = { AGENTI_ML_ID, AGENTI_ML_MODEL, AGENTI_ML_NAME }, names[] = { AGENTI_ML_DISPLAY, AGENTI_ML_SHOWN, AGENTI_ML_NAME };
    static const uint8_t context[] = { AGENTI_ML_CONTEXT, AGENTI_ML_WINDOW, AGENTI_ML_MOST, AGENTI_ML_LEN, AGENTI_ML_INPUT, AGENTI_ML_LIMITS_IN,
                                       AGENTI_ML_CAN_IN };
    static const uint8_t output[] = { AGENTI_ML_OUTPUT, AGENTI_ML_COMPLETION, AGENTI_ML_OUT_LIMIT, AGENTI_ML_TOP_OUT, AGENTI_ML_LIMITS_OUT, AGENTI_ML_CAN_OUT };
    static const char kind[] = "\"models/";
    enum { KIND = sizeof kind - 1 };
    agent_str f[AGENTI_ML_FIELDS], id, name;
    agenti_json_pick(model, agenti_models_fields, AGENTI_ML_FIELDS, f);
    id = agenti_models_first(f, ids, sizeof ids);
    name = agenti_models_first(f, names, sizeof names);
    if (id.n == 0) return;
    agenti_buf_str(b, b->n > 1 ? ",{\"id\":" : "{\"id\":");
    if (id.n > KIND && memcmp(id.p, kind, KIND) == 0) {                              /* Gemini: a resource's name         */
        agenti_buf_str(b, "\"");
        agenti_buf_add(b, id.p + KIND, id.n - KIND);
    } else agenti_buf_add(b, id.p, id.n);
    if (name.n && name.p != id.p) agenti_json_member(b, "name", name);
    agenti_models_count(b, "context", f, context, sizeof context);
    agenti_models_count(b, "output", f, output, sizeof output);
    agenti_buf_str(b, "}");
}
static agent_str agenti_models_list(agent_str body)
{
    agent_str list = body;
    if (agenti_is_object(body)) list = agent_json_get(body, "data");
    if (!agenti_is_array(list)) list = agent_json_get(body, "models");
    return list;
}
static int agenti_models_goes_on(agent_str body)
{
    return agenti_is_object(body) && (agenti_eq(agent_json_get(body, "has_more"), "true") || agenti_nonempty(agent_json_get(body, "nextPageToken"))
        || agenti_nonempty(agent_json_get(body, "next_page_token")));
}
static int agenti_models_whole(agenti_decoder *d, agent_str body)
{
    agent_str list, item;
    agenti_buf b;
    agenti_op *op;
    size_t pos = 0;
    if (!agenti_raw_of(d, agenti_trim(body), &body)) return 0;
    list = agenti_models_list(body);
    if (!agenti_is_array(list)) {
        agenti_fault_object(d, body, 0);      /* an error at status 200, or not what was asked for                      */
        return 1;
    }
    agenti_buf_init(&b, d->pool);
    agenti_buf_str(&b, "[");
    while (agent_json_each(list, &pos, NULL, &item)) if (agenti_is_object(item)) agenti_models_one(&b, item);
    agenti_buf_str(&b, "]");
    if (agenti_models_goes_on(body)) {
        if ((op = agenti_op_add(d, AGENTI_OP_WARNING, 0)) == NULL) { agenti_buf_free(&b); return 0; }
        op->a = agenti_cstr("the list of models goes on: only its beginning is told");
    }
    if ((op = agenti_op_add(d, AGENTI_OP_MODELS, 0)) == NULL) { agenti_buf_free(&b); return 0; }
    d->done = 1;
    d->finish = AGENT_FINISH_STOP;
    return agenti_made(d, &b, &op->a);
}
static int agenti_models_event(agenti_decoder *d, agent_str event, agent_str data)
{
    (void)event;
    if (agent_json_check(data.p, data.n, d->depth_limit, NULL) == AGENT_OK) return agenti_models_whole(d, data);
    return agenti_payload_bad(d);
}
static const char *const agenti_models_none[] = { NULL };
static const agenti_wire agenti_models_wire = {
    "models", "", NULL, AGENTI_FRAMING_SSE, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, agenti_models_event, agenti_models_whole, NULL,
    { agenti_models_none, agenti_models_none, agenti_models_none, 0, agenti_models_none },
    { agenti_models_none, agenti_models_none, agenti_models_none, 0, agenti_models_none }, NULL, NULL
};
AGENTI_FN const agenti_wire *agenti_model_list(void) { return &agenti_models_wire; }
#endif
#endif
