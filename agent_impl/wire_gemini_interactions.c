/* Gemini Interactions: https://ai.google.dev/api/interactions-api as of revision 2026-05-20. An answer is a list of steps, told apart by their
 * index. Nothing is stored at the provider unless the host says so: each request has the whole conversation, thoughts with their signatures. */
#ifndef AGENT_NO_GEMINI_INTERACTIONS
AGENTI_FN const agenti_wire *agenti_gemini_interactions(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_GEMINI_INTERACTIONS
/* ---- answers ---- */
/* agenti_lane.kind. A lane is an open step; named: its part was begun. id: a step of another kind, as it began; more: what came to it. */
enum { AGENTI_IS_NONE, AGENTI_IS_TEXT, AGENTI_IS_THOUGHT, AGENTI_IS_CALL, AGENTI_IS_OTHER };
enum { AGENTI_IE_TYPE, AGENTI_IE_INDEX, AGENTI_IE_STEP, AGENTI_IE_DELTA, AGENTI_IE_INTERACTION, AGENTI_IE_STATUS, AGENTI_IE_ERROR, AGENTI_IE_FIELDS };
static const agenti_field agenti_gi_event_rows[AGENTI_IE_FIELDS] = {
    { "event_type", -1 }, { "index", -1 }, { "step", -1 }, { "delta", -1 }, { "interaction", -1 }, { "status", -1 }, { "error", -1 }
};
enum { AGENTI_IK_TYPE, AGENTI_IK_ID, AGENTI_IK_NAME, AGENTI_IK_ARGS, AGENTI_IK_SIGNATURE, AGENTI_IK_SUMMARY, AGENTI_IK_CONTENT, AGENTI_IK_TEXT,
       AGENTI_IK_FIELDS };
static const agenti_field agenti_gi_step_rows[AGENTI_IK_FIELDS] = {           /* of a step, and of a delta              */
    { "type", -1 }, { "id", -1 }, { "name", -1 }, { "arguments", -1 }, { "signature", -1 }, { "summary", -1 }, { "content", -1 }, { "text", -1 }
};
enum { AGENTI_II_ID, AGENTI_II_MODEL, AGENTI_II_STATUS, AGENTI_II_USAGE, AGENTI_II_STEPS, AGENTI_II_ERROR, AGENTI_II_FIELDS };
static const agenti_field agenti_gi_interaction_rows[AGENTI_II_FIELDS] = {
    { "id", -1 }, { "model", -1 }, { "status", -1 }, { "usage", -1 }, { "steps", -1 }, { "error", -1 }
};

static int64_t agenti_gi_sum(agent_str a, agent_str b)        /* -1: neither is known                                   */
{
    int64_t x = -1, y = -1;
    if (a.n) (void)agenti_count(a, &x);
    if (b.n) (void)agenti_count(b, &y);
    if (x < 0 || y < 0) return x < 0 ? y : x;
    return x > INT64_MAX - y ? INT64_MAX : x + y;
}
/* What tools use of the prompt is input, thoughts are output; both are counted beside.                                 */
static void agenti_gi_usage(agenti_decoder *d, agent_str usage)
{
    enum { INPUT, TOOLS, CACHED, OUTPUT, THOUGHTS, FIELDS };
    static const agenti_field rows[FIELDS] = {
        { "total_input_tokens", -1 }, { "total_tool_use_tokens", -1 }, { "total_cached_tokens", -1 }, { "total_output_tokens", -1 },
        { "total_thought_tokens", -1 }
    };
    agent_str f[FIELDS], none = agenti_str(NULL, 0);
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, rows, FIELDS, f);
    d->usage.input = agenti_gi_sum(f[INPUT], f[TOOLS]);
    d->usage.cached = agenti_gi_sum(f[CACHED], none);
    d->usage.output = agenti_gi_sum(f[OUTPUT], f[THOUGHTS]);
    d->usage.reasoning = agenti_gi_sum(f[THOUGHTS], none);
    d->has_usage = 1;
}
static int agenti_gi_finish(agenti_decoder *d, agent_str status)
{
    static const struct { const char *word; int finish; } rows[] = {
        { "completed", AGENT_FINISH_STOP }, { "requires_action", AGENT_FINISH_TOOLS }, { "incomplete", AGENT_FINISH_LENGTH },
        { "failed", AGENT_FINISH_ERROR }
    };
    agent_str raw;
    size_t i;
    int finish = AGENT_FINISH_OTHER;
    if (!agenti_nonempty(status) || agent_json_is(status, "in_progress")) return 1;
    if (!agenti_string_of(d, status, &raw)) return 0;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (agenti_eq(raw, rows[i].word)) finish = rows[i].finish;
    agenti_finish_set(d, finish, raw);
    return 1;
}

/* ---- steps ---- */
/* A string as an op, begun by an empty one if `opens`.                                                                 */
static int agenti_gi_add(agenti_decoder *d, agenti_lane *l, int kind, agent_str value, int opens)
{
    agenti_op *op;
    agent_str text = agenti_str(NULL, 0);
    if (agenti_nonempty(value)) {
        if (!agenti_json_string(value, &l->high, &d->arena, &text)) return 0;
    } else if (!opens) return 1;
    if ((op = agenti_op_add(d, kind, l->key)) == NULL) return 0;
    op->a = text;
    l->named = 1;
    return 1;
}
static int agenti_gi_signature(agenti_decoder *d, agenti_lane *l, agent_str value)
{
    agenti_op *op;
    if (!agenti_nonempty(value)) return 1;
    if (!l->named && !agenti_gi_add(d, l, AGENTI_OP_REASONING, agenti_str(NULL, 0), 1)) return 0;
    if ((op = agenti_op_add(d, AGENTI_OP_DATA, l->key)) == NULL) return 0;
    op->flags = l->kind == AGENTI_IS_CALL ? AGENTI_DATA_CALL : 0;
    return agenti_string_of(d, value, &op->a);
}
/* Ends the text of a step; it may go on as another part.                                                               */
static int agenti_gi_text_end(agenti_decoder *d, agenti_lane *l)
{
    agenti_op *op;
    if (l->named && l->high) {                /* the other half of a pair never came                                    */
        l->high = 0;
        if ((op = agenti_op_add(d, l->kind == AGENTI_IS_TEXT ? AGENTI_OP_TEXT : AGENTI_OP_REASONING, l->key)) == NULL) return 0;
        op->a = agenti_cstr("\xEF\xBF\xBD");
    }
    if (l->named && agenti_op_add(d, AGENTI_OP_END, l->key) == NULL) return 0;
    l->key = ++d->streams;
    l->named = 0;
    return 1;
}
enum { AGENTI_IC_TYPE, AGENTI_IC_TEXT, AGENTI_IC_ANNOTATIONS, AGENTI_IC_DATA, AGENTI_IC_MIME, AGENTI_IC_URI, AGENTI_IC_FIELDS };
static const agenti_field agenti_gi_content_rows[AGENTI_IC_FIELDS] = {
    { "type", -1 }, { "text", -1 }, { "annotations", -1 }, { "data", -1 }, { "mime_type", -1 }, { "uri", -1 }
};
static int agenti_gi_file(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    int kind = agent_json_is(f[AGENTI_IC_TYPE], "image") ? AGENT_PART_IMAGE : agent_json_is(f[AGENTI_IC_TYPE], "audio") ? AGENT_PART_AUDIO : AGENT_PART_FILE;
    agent_str mime;
    char *type;                               /* in the arena: the op views it                                          */
    if (!agenti_gi_text_end(d, l)) return 0;
    if (!agenti_nonempty(f[AGENTI_IC_DATA])) return agenti_file_add(d, kind, f[AGENTI_IC_URI], NULL);
    if (!agenti_string_of(d, f[AGENTI_IC_MIME], &mime)) return 0;
    if (mime.n == 0) mime = agenti_cstr(kind == AGENT_PART_IMAGE ? "image/png" : kind == AGENT_PART_AUDIO ? "audio/wav" : "application/octet-stream");
    if ((type = agenti_arena_get(&d->arena, mime.n + 1)) == NULL) return 0;
    memcpy(type, mime.p, mime.n);
    type[mime.n] = 0;
    return agenti_file_add(d, kind, f[AGENTI_IC_DATA], type);
}
static int agenti_gi_pages(agenti_decoder *d, agent_str list)            /* objects with a URL                          */
{
    agent_str item;
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &item))
        if (agenti_is_object(item) && !agenti_source_add(d, agent_json_get(item, "url"), agent_json_get(item, "title"))) return 0;
    return 1;
}
/* A piece of what the model says: text, which has sources, or a file.                                                  */
static AGENTI_NOINLINE int agenti_gi_content(agenti_decoder *d, agenti_lane *l, agent_str content)
{
    agent_str f[AGENTI_IC_FIELDS];
    agenti_json_pick(content, agenti_gi_content_rows, AGENTI_IC_FIELDS, f);
    if (!agenti_gi_add(d, l, AGENTI_OP_TEXT, f[AGENTI_IC_TEXT], 0) || !agenti_gi_pages(d, f[AGENTI_IC_ANNOTATIONS])) return 0;
    return (!agenti_nonempty(f[AGENTI_IC_DATA]) && !agenti_nonempty(f[AGENTI_IC_URI])) || agenti_gi_file(d, l, f);
}
/* A list of contents, or of the summaries of a thought.                                                                */
static int agenti_gi_contents(agenti_decoder *d, agenti_lane *l, agent_str list)
{
    agent_str item;
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &item)) {
        if (!agenti_is_object(item)) continue;
        if (l->kind == AGENTI_IS_TEXT ? !agenti_gi_content(d, l, item) : !agenti_gi_add(d, l, AGENTI_OP_REASONING, agent_json_get(item, "text"), 0)) return 0;
    }
    return 1;
}
/* The object that a stream begins a call with is empty, and deltas bring a string (G15); else arguments come whole.     */
static int agenti_gi_args(agenti_decoder *d, agenti_lane *l, agent_str args)
{
    agenti_op *op;
    if (l->whole) return 1;
    if (!agenti_is_object(args)) return agenti_gi_add(d, l, AGENTI_OP_ARGS, args, 0);
    if (agenti_trim(agenti_str(args.p + 1, args.n - 2)).n == 0) return 1;
    l->whole = 1;
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, l->key)) == NULL) return 0;
    return agenti_raw_of(d, args, &op->a);
}
static int agenti_gi_call_start(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    agenti_op *op;
    agent_str id, name;
    l->kind = AGENTI_IS_CALL;
    l->call = l->named = 1;
    if (!agenti_string_of(d, f[AGENTI_IK_ID], &id) || !agenti_string_of(d, f[AGENTI_IK_NAME], &name)) return 0;
    if ((op = agenti_op_add(d, AGENTI_OP_CALL, l->key)) == NULL) return 0;
    op->a = id;
    op->b = name;
    return agenti_gi_args(d, l, f[AGENTI_IK_ARGS]) && agenti_gi_signature(d, l, f[AGENTI_IK_SIGNATURE]);
}
/* Steps of other kinds are kept as they come: what a delta brings are members of the step.                             */
static int agenti_gi_more(agenti_decoder *d, agenti_lane *l, agent_str delta)
{
    agent_str key, value, raw;
    size_t pos = 0;
    if (!agenti_raw_of(d, delta, &raw)) return 0;
    while (agent_json_each(raw, &pos, &key, &value)) {
        if (agenti_eq(key, "type")) continue;
        if (!agenti_text_add(&l->more, d->pool, d->graves, agenti_cstr(",")) || !agenti_text_add(&l->more, d->pool, d->graves, agenti_str(key.p - 1, key.n + 2))
            || !agenti_text_add(&l->more, d->pool, d->graves, agenti_cstr(":")) || !agenti_text_add(&l->more, d->pool, d->graves, value)) return 0;
    }
    return 1;
}
static int agenti_gi_is_empty(agent_str v) { return agenti_eq(v, "\"\"") || agenti_eq(v, "{}") || agenti_eq(v, "[]") || agenti_eq(v, "null"); }
/* The step with what came to it; members that it began with empty give way.                                            */
static int agenti_gi_joined(agenti_decoder *d, const agenti_lane *l, agent_str *out)
{
    agent_str step = agenti_text_view(&l->id), key, value;
    size_t pos = 0, n = 0;
    char *p = agenti_arena_get(&d->arena, step.n + l->more.n + 1);       /* each member with the comma before it          */
    if (p == NULL) return 0;
    while (agent_json_each(step, &pos, &key, &value)) {
        if (l->more.n && agenti_gi_is_empty(value)) continue;
        p[n++] = ',';
        memcpy(p + n, key.p - 1, key.n + 2);
        n += key.n + 2;
        p[n++] = ':';
        memcpy(p + n, value.p, value.n);
        n += value.n;
    }
    if (l->more.n) memcpy(p + n, l->more.p, l->more.n);
    n += l->more.n;
    AGENTI_TOUCH(n);
    p[0] = '{';                               /* in the place of the first comma: a step has a type                     */
    p[n++] = '}';
    *out = agenti_str(p, n);
    return 1;
}
static int agenti_gi_ends(agent_str *type, const char *with)                     /* and takes it off                    */
{
    size_t n = strlen(with);
    if (type->n <= n || memcmp(type->p + type->n - n, with, n) != 0) return 0;
    type->n -= n;
    return 1;
}
static int agenti_gi_kept(agenti_decoder *d, agenti_lane *l)
{
    agent_str step, type, name;
    agenti_op *op = agenti_op_add(d, AGENTI_OP_RAW, 0);
    int result = 0;
    if (op == NULL || !agenti_gi_joined(d, l, &op->a) || !agenti_string_of(d, agent_json_get(op->a, "type"), &op->b)) return 0;
    step = op->a;
    type = op->b;
    if (!agenti_gi_ends(&type, "_call") && !(result = agenti_gi_ends(&type, "_result"))) return 1;
    op->flags = AGENTI_RAW_QUIET;
    if ((op = agenti_op_add(d, result ? AGENTI_OP_RESULT : AGENTI_OP_RAN, 0)) == NULL) return 0;
    op->b = type;
    name = agent_json_get(step, "name");
    op->c = agent_json_get(step, result ? "result" : "arguments");
    if (op->c.n == 0) op->c = agenti_cstr("{}");
    if (result && agenti_eq(agent_json_get(step, "is_error"), "true")) op->flags = AGENT_PART_ERROR;
    if (!agenti_string_of(d, agent_json_get(step, result ? "call_id" : "id"), &op->a)) return 0;
    if (agenti_nonempty(name) && !agenti_string_of(d, name, &op->b)) return 0;
    return !result || agenti_gi_pages(d, op->c);
}
static int agenti_gi_step_stop(agenti_decoder *d, agenti_lane *l)
{
    agenti_op *op;
    int ok = 1;
    if (l == NULL) return 1;
    if (l->kind == AGENTI_IS_OTHER) ok = agenti_gi_kept(d, l);
    else if (l->kind == AGENTI_IS_TEXT || l->kind == AGENTI_IS_THOUGHT) ok = agenti_gi_text_end(d, l);
    else if (l->kind == AGENTI_IS_CALL && l->high) {
        op = agenti_op_add(d, AGENTI_OP_ARGS, l->key);
        if (op) op->a = agenti_cstr("\xEF\xBF\xBD");
        ok = op != NULL;
    }
    agenti_lane_forget(d, l);
    return ok;
}
static AGENTI_NOINLINE int agenti_gi_step_start(agenti_decoder *d, agent_str step, agent_str index)
{
    agent_str f[AGENTI_IK_FIELDS], raw;
    agenti_lane *l = agenti_lane_at(d, index);
    int64_t n;
    if (l && !agenti_gi_step_stop(d, l)) return 0;           /* its end was lost                                        */
    if (d->lane_n >= d->call_limit) return agenti_too_many(d);
    if ((l = agenti_lane_new(d)) == NULL) return 0;
    l->key = ++d->streams;
    if (index.n && agenti_int(index, &n)) { l->has_index = 1; l->index = n; }
    agenti_json_pick(step, agenti_gi_step_rows, AGENTI_IK_FIELDS, f);
    if (agent_json_is(f[AGENTI_IK_TYPE], "function_call")) return agenti_gi_call_start(d, l, f);
    if (agent_json_is(f[AGENTI_IK_TYPE], "thought")) {
        l->kind = AGENTI_IS_THOUGHT;
        return agenti_gi_contents(d, l, f[AGENTI_IK_SUMMARY]) && agenti_gi_signature(d, l, f[AGENTI_IK_SIGNATURE]);
    }
    if (agent_json_is(f[AGENTI_IK_TYPE], "model_output")) {
        l->kind = AGENTI_IS_TEXT;
        return agenti_gi_contents(d, l, f[AGENTI_IK_CONTENT]);
    }
    if (!agenti_nonempty(f[AGENTI_IK_TYPE]) || agent_json_is(f[AGENTI_IK_TYPE], "user_input")
        || agent_json_is(f[AGENTI_IK_TYPE], "function_result")) return 1;       /* what was sent                         */
    l->kind = AGENTI_IS_OTHER;
    return agenti_raw_of(d, step, &raw) && agenti_text_set(&l->id, d->pool, d->graves, raw);
}
static AGENTI_NOINLINE int agenti_gi_step_delta(agenti_decoder *d, agent_str delta, agent_str index)
{
    agent_str f[AGENTI_IK_FIELDS];
    agenti_lane *l = agenti_lane_at(d, index);
    if (l == NULL || l->kind == AGENTI_IS_NONE || !agenti_is_object(delta)) return 1;
    if (l->kind == AGENTI_IS_TEXT) return agenti_gi_content(d, l, delta);
    if (l->kind == AGENTI_IS_OTHER) return agenti_gi_more(d, l, delta);
    agenti_json_pick(delta, agenti_gi_step_rows, AGENTI_IK_FIELDS, f);
    if (l->kind == AGENTI_IS_CALL) return agenti_gi_args(d, l, f[AGENTI_IK_ARGS]) && agenti_gi_signature(d, l, f[AGENTI_IK_SIGNATURE]);
    if (agenti_is_object(f[AGENTI_IK_CONTENT])) f[AGENTI_IK_TEXT] = agent_json_get(f[AGENTI_IK_CONTENT], "text");
    return agenti_gi_add(d, l, AGENTI_OP_REASONING, f[AGENTI_IK_TEXT], 0) && agenti_gi_signature(d, l, f[AGENTI_IK_SIGNATURE]);
}
static int agenti_gi_steps(agenti_decoder *d, agent_str list)        /* steps that came whole                           */
{
    agent_str step;
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &step)) {
        if (!agenti_is_object(step)) continue;
        if (!agenti_gi_step_start(d, step, agenti_str(NULL, 0))) return 0;
        if (d->fault.fault) return 1;
        if (!agenti_gi_step_stop(d, &d->lanes[d->lane_n - 1])) return 0;
    }
    return 1;
}

/* ---- the interaction ---- */
/* Without storage it has the id "" (G15). *known: it is one.                                                           */
static AGENTI_NOINLINE int agenti_gi_interaction(agenti_decoder *d, agent_str json, int whole, int *known)
{
    agent_str f[AGENTI_II_FIELDS], id;
    agenti_json_pick(json, agenti_gi_interaction_rows, AGENTI_II_FIELDS, f);
    *known = f[AGENTI_II_STATUS].n || f[AGENTI_II_STEPS].n;
    if (!agenti_model_set(d, f[AGENTI_II_MODEL]) || !agenti_string_of(d, f[AGENTI_II_ID], &id)) return 0;
    if (id.n && d->id.n == 0 && !agenti_text_set(&d->id, d->pool, d->graves, id)) return 0;
    agenti_gi_usage(d, f[AGENTI_II_USAGE]);
    if (whole && !agenti_gi_steps(d, f[AGENTI_II_STEPS])) return 0;
    if (agenti_is_object(f[AGENTI_II_ERROR])) { *known = 1; agenti_fault_object(d, json, 0); return 1; }
    return agenti_gi_finish(d, f[AGENTI_II_STATUS]);
}
static AGENTI_NOINLINE int agenti_gi_object(agenti_decoder *d, agent_str json)
{
    agent_str f[AGENTI_IE_FIELDS], type;
    int known;
    agenti_json_pick(json, agenti_gi_event_rows, AGENTI_IE_FIELDS, f);
    type = f[AGENTI_IE_TYPE];
    if (agent_json_is(type, "step.delta") || (type.n == 0 && f[AGENTI_IE_DELTA].n))      /* its type may come after a cut */
        return agenti_gi_step_delta(d, f[AGENTI_IE_DELTA], f[AGENTI_IE_INDEX]);
    if (agent_json_is(type, "step.start")) return !agenti_is_object(f[AGENTI_IE_STEP]) || agenti_gi_step_start(d, f[AGENTI_IE_STEP], f[AGENTI_IE_INDEX]);
    if (agent_json_is(type, "step.stop")) return agenti_gi_step_stop(d, agenti_lane_at(d, f[AGENTI_IE_INDEX]));
    if (agent_json_is(type, "error") || agenti_is_object(f[AGENTI_IE_ERROR])) { agenti_fault_object(d, json, 0); return 1; }
    if (agenti_is_object(f[AGENTI_IE_INTERACTION])) {
        if (!agenti_gi_interaction(d, f[AGENTI_IE_INTERACTION], 0, &known)) return 0;
        if (d->finish != AGENT_FINISH_NONE && !agent_json_is(type, "interaction.created")) d->done = 1;
        return 1;
    }
    return agenti_gi_finish(d, f[AGENTI_IE_STATUS]);          /* interaction.status_update                              */
}
static int agenti_gi_event(agenti_decoder *d, agent_str event, agent_str data)
{
    data = agenti_trim(data);
    if (data.n == 0 || data.p[0] == ':') return 1;
    if (agenti_eq(data, "[DONE]")) { d->done = 1; return 1; }
    if (agenti_is_object(data) && agent_json_check(data.p, data.n, d->depth_limit, NULL) == AGENT_OK) {
        if (!agenti_eq(event, "error")) return agenti_gi_object(d, data);
        agenti_fault_object(d, data, 0);
    } else if (agenti_eq(event, "error")) agenti_fault_set(d, AGENT_FAULT_SERVER, 1, "", data);
    else return agenti_payload_bad(d);
    return 1;
}
static int agenti_gi_whole(agenti_decoder *d, agent_str body)
{
    int known = 0;
    if (agenti_is_object(body) && !agenti_gi_interaction(d, body, 1, &known)) return 0;
    if (!known) agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr(AGENTI_WHY("the answer is no interaction")));
    d->done = 1;
    return 1;
}

/* ---- requests ---- */
static size_t agenti_gi_functions(const agenti_request *r)
{
    size_t i, n = 0;
    for (i = 0; i < r->tool_count; i++) n += !(r->tools[i].flags & AGENT_TF_RAW);
    return n;
}
/* A choice is refused where there are no functions.                                                                    */
static void agenti_gi_choice(agenti_buf *b, const agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    if (agenti_gi_functions(r) == 0 && !agenti_replaced(r, "tools")) return;
    if (r->tools_off) agenti_json_member_str(b, "tool_choice", agenti_cstr("none"));
    else if (choice.n == 0 || r->choice_off) return;
    else if (agenti_eq(choice, "required")) agenti_json_member_str(b, "tool_choice", agenti_cstr("any"));
    else if (agenti_eq(choice, "auto") || agenti_eq(choice, "none")) agenti_json_member_str(b, "tool_choice", choice);
    else {
        agenti_json_key(b, "tool_choice");
        agenti_buf_str(b, "{\"allowed_tools\":{\"mode\":\"any\",\"tools\":[");
        agenti_json_quote_to(b, choice);
        agenti_buf_str(b, "]}}");
    }
}
static void agenti_gi_config_out(agenti_buf *b, const agenti_request *r)
{
    static const char *const words[] = { "minimal", "minimal", "low", "medium", "high", "high" };        /* it cannot be off */
    static const struct { const char *key; int option; } rows[] = {
        { "max_output_tokens", AGENTI_OPT_MAX_TOKENS }, { "temperature", AGENTI_OPT_TEMPERATURE }, { "top_p", AGENTI_OPT_TOP_P },
        { "seed", AGENTI_OPT_SEED }
    };
    size_t start = b->n, empty, i;
    if (agenti_replaced(r, "generation_config")) return;
    agenti_json_key(b, "generation_config");
    agenti_buf_str(b, "{");
    empty = b->n;
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        if (r->options[rows[i].option].n) agenti_json_member(b, rows[i].key, agenti_text_view(&r->options[rows[i].option]));
    agenti_stops_out(b, r, "stop_sequences");
    if (r->options[AGENTI_OPT_EFFORT].n) {
        agenti_json_member_str(b, "thinking_level", agenti_effort(r, words));
        agenti_json_member_str(b, "thinking_summaries", agenti_cstr("auto"));
    }
    agenti_gi_choice(b, r);
    if (b->n == empty) b->n = start; else agenti_buf_str(b, "}");
}
static void agenti_gi_head(agenti_buf *b, agenti_request *r)
{
    agent_str system = agenti_text_view(&r->options[AGENTI_OPT_SYSTEM]);
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "model") && !agenti_replaced(r, "agent"))
        agenti_json_member_str(b, "model", agenti_text_view(&r->options[AGENTI_OPT_MODEL]));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    if (!agenti_replaced(r, "store")) agenti_json_member(b, "store", agenti_cstr(r->stateful ? "true" : "false"));
    if (r->previous.n) agenti_json_member_str(b, "previous_interaction_id", r->previous);
    if (system.n && !agenti_replaced(r, "system_instruction")) agenti_json_member_str(b, "system_instruction", system);
    agenti_gi_config_out(b, r);
    if (agenti_format_schema(r).n && !agenti_replaced(r, "response_format")) {
        agenti_buf_str(b, ",\"response_format\":{\"type\":\"text\",\"mime_type\":\"application/json\"");
        agenti_json_member(b, "schema", agenti_format_schema(r));
        agenti_buf_str(b, "}");
    } else if (r->options[AGENTI_OPT_FORMAT].n) agenti_json_member(b, "response_format", agenti_cstr("{\"type\":\"text\",\"mime_type\":\"application/json\"}"));
    agenti_json_key(b, "input");
    agenti_buf_str(b, "[");
}
/* Contents of one side go into one step. r->state: 0 none, 1 and 2 a step of the user's or the model's contents is open, 3 none is open. */
enum { AGENTI_GI_USER = 1, AGENTI_GI_MODEL, AGENTI_GI_STEP };
static void agenti_gi_open(agenti_buf *b, agenti_request *r, int what)
{
    int same = r->state == what && what != AGENTI_GI_STEP;
    if (!same && (r->state == AGENTI_GI_USER || r->state == AGENTI_GI_MODEL)) agenti_buf_str(b, "]}");
    if (r->state) agenti_buf_str(b, ",");
    if (!same && what == AGENTI_GI_USER) agenti_buf_str(b, "{\"type\":\"user_input\",\"content\":[");
    if (!same && what == AGENTI_GI_MODEL) agenti_buf_str(b, "{\"type\":\"model_output\",\"content\":[");
    r->state = what;
}
static void agenti_gi_text_out(agenti_buf *b, agenti_request *r, int what, agent_str text)
{
    if (text.n == 0) return;
    agenti_gi_open(b, r, what);
    agenti_buf_str(b, "{\"type\":\"text\"");
    agenti_json_member_str(b, "text", text);
    agenti_buf_str(b, "}");
}
/* The type of a file's content; NULL: it is not taken. Five types of images, sound, video and PDFs; by URI whatever it is. */
static const char *agenti_gi_media(const agenti_part *p)
{
    static const char *const images[] = { "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif" };
    agent_str mime = agenti_text_view(&p->mime);
    size_t i;
    if (p->kind == AGENT_PART_AUDIO) return "audio";
    if (mime.n > 6 && agenti_ieq(agenti_str(mime.p, 6), "video/")) return "video";
    if (p->kind == AGENT_PART_FILE) return p->uri.n || agenti_ieq(mime, "application/pdf") ? "document" : NULL;
    for (i = 0; i < sizeof images / sizeof *images; i++) if (agenti_ieq(mime, images[i])) return "image";
    return p->uri.n ? "image" : NULL;
}
static void agenti_gi_media_out(agenti_buf *b, agenti_request *r, int what, const agenti_part *p)
{
    const char *type = agenti_gi_media(p);
    agenti_gi_open(b, r, what);
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "type", agenti_cstr(type ? type : "text"));
    if (type == NULL) {
        agenti_json_key(b, "text");
        agenti_media_left_out(b, r, p);
    } else {
        if (p->mime.n) agenti_json_member_str(b, "mime_type", agenti_text_view(&p->mime));
        agenti_json_member_str(b, p->uri.n ? "uri" : "data", agenti_text_view(p->uri.n ? &p->uri : &p->text));
    }
    agenti_buf_str(b, "}");
}
static void agenti_gi_user_part(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    int plain = p->kind == AGENT_PART_TEXT || (p->kind == AGENT_PART_FILE && p->text.n && !(p->flags & AGENT_PART_BASE64));
    if (plain) agenti_gi_text_out(b, r, AGENTI_GI_USER, agenti_text_view(&p->text));
    else agenti_gi_media_out(b, r, AGENTI_GI_USER, p);
}
static void agenti_gi_thought_out(agenti_buf *b, const agenti_part *p)
{
    agenti_buf_str(b, "{\"type\":\"thought\"");
    agenti_json_member_str(b, "signature", agenti_text_view(&p->data));
    if (p->text.n) {
        agenti_buf_str(b, ",\"summary\":[{\"type\":\"text\"");
        agenti_json_member_str(b, "text", agenti_text_view(&p->text));
        agenti_buf_str(b, "}]");
    }
    agenti_buf_str(b, "}");
}
static void agenti_gi_call_out(agenti_buf *b, const agenti_part *p, int same)
{
    int usable = p->text.n && !(p->flags & AGENT_PART_INVALID);
    agenti_buf_str(b, "{\"type\":\"function_call\"");
    agenti_json_member_str(b, "id", agenti_wire_id(p));
    agenti_tool_name_out(b, agenti_text_view(&p->name));
    agenti_json_member(b, "arguments", usable ? agenti_text_view(&p->text) : agenti_cstr("{}"));
    if (same && p->data.n) agenti_json_member_str(b, "signature", agenti_text_view(&p->data));
    agenti_buf_str(b, "}");
}
static void agenti_gi_model_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int same = m->model == r->model, keeps = p->kind == AGENT_PART_REASONING || p->kind == AGENT_PART_OTHER;
    if (keeps && (!same || (p->flags & AGENT_PART_CUT))) {
        if (!same) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING);
        return;
    }
    if (p->kind == AGENT_PART_TEXT) { agenti_gi_text_out(b, r, AGENTI_GI_MODEL, agenti_text_view(&p->text)); return; }
    if (agenti_is_media(p->kind)) {
        if (agenti_gi_media(p)) agenti_gi_media_out(b, r, AGENTI_GI_MODEL, p);
        return;
    }
    if (p->kind == AGENT_PART_REASONING && p->data.n == 0) return;         /* unsigned thoughts are nothing to the model  */
    agenti_gi_open(b, r, AGENTI_GI_STEP);
    if (p->kind == AGENT_PART_OTHER) agenti_buf_add(b, p->text.p, p->text.n);
    else if (p->kind == AGENT_PART_REASONING) agenti_gi_thought_out(b, p);
    else agenti_gi_call_out(b, p, same);
}
static void agenti_gi_result_out(agenti_buf *b, agenti_request *r, const agenti_part *p, uint32_t *at)
{
    agent_str text = agenti_text_view(&p->text), name = agenti_result_name(r, p, at);
    agenti_gi_open(b, r, AGENTI_GI_STEP);
    agenti_buf_str(b, "{\"type\":\"function_result\"");
    agenti_json_member_str(b, "call_id", agenti_wire_id(p));
    if (name.n) agenti_tool_name_out(b, name);
    agenti_json_member_str(b, "result", text.n ? text : agenti_cstr("(no output)"));
    if (p->flags & AGENT_PART_ERROR) agenti_buf_str(b, ",\"is_error\":true");
    agenti_buf_str(b, "}");
}
static void agenti_gi_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, at = 0;
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        if (m->role == AGENT_USER) agenti_gi_user_part(b, r, p);
        else if (m->role == AGENT_TOOLS) agenti_gi_result_out(b, r, p, &at);
        else agenti_gi_model_part(b, r, m, p);
    }
}
static void agenti_gi_tail(agenti_buf *b, const agenti_request *r)
{
    agenti_request with = *r;
    if (r->note) agenti_gi_text_out(b, &with, AGENTI_GI_USER, agenti_cstr(r->note));
    agenti_buf_str(b, with.state == AGENTI_GI_USER || with.state == AGENTI_GI_MODEL ? "]}]" : "]");
}
static void agenti_gi_tools_out(agenti_buf *b, const agenti_request *r)
{
    agenti_tools_list(b, r, "{\"type\":\"function\"", "parameters", "}", "}");
}
static const char *const agenti_gi_parts[] = { "text", NULL };
static const char *const agenti_gi_routing[] = { "event_type", "type", "index", NULL };
static const char *const agenti_gi_owner[] = { "index", NULL };
static const char *const agenti_gi_held[] = { "step", "interaction", "arguments", "result", "annotations", NULL };       /* read as they are  */
static const char *const agenti_gi_none[] = { NULL };
static const agenti_wire agenti_gemini_interactions_wire = {
    "gemini-interactions", "/interactions", NULL, AGENTI_FRAMING_SSE, "api-revision", "2026-05-20",
    AGENTI_BIT(AGENTI_OPT_FREQUENCY) | AGENTI_BIT(AGENTI_OPT_PRESENCE) | AGENTI_BIT(AGENTI_OPT_PARALLEL) | AGENTI_BIT(AGENTI_OPT_THINKING)
        | AGENTI_BIT(AGENTI_OPT_TIER) | AGENTI_BIT(AGENTI_OPT_CACHE_KEY) | AGENTI_BIT(AGENTI_OPT_TOP_K) | AGENTI_BIT(AGENTI_OPT_USER)
        | AGENTI_BIT(AGENTI_LEFT_STRICT),
    agenti_gi_head, NULL, agenti_gi_message_out, agenti_gi_tail, agenti_gi_tools_out, agenti_extra_out, agenti_gi_event, agenti_gi_whole, NULL,
    { agenti_gi_parts, agenti_gi_routing, agenti_gi_owner, 1, agenti_gi_held },
    { agenti_gi_none, agenti_gi_none, agenti_gi_none, 0, agenti_gi_none },
    NULL, "previous_interaction_id"
};
AGENTI_FN const agenti_wire *agenti_gemini_interactions(void) { return &agenti_gemini_interactions_wire; }
#endif
#endif
