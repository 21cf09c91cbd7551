/* OpenAI chat completions and what speaks it: https://platform.openai.com/docs/api-reference/chat
 * Answers: chunks `chat.completion.chunk`, whole answers `chat.completion`. Requests: POST .../chat/completions. */
#ifndef AGENT_NO_OPENAI_CHAT
AGENTI_FN const agenti_wire *agenti_openai_chat(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_OPENAI_CHAT
/* ---- answers ---- */
enum { AGENTI_OC_ERROR, AGENTI_OC_USAGE, AGENTI_OC_CHOICES, AGENTI_OC_GROQ, AGENTI_OC_GROQ_USAGE, AGENTI_OC_RESULTS, AGENTI_OC_CITATIONS,
       AGENTI_OC_MODEL, AGENTI_OC_FIELDS };
static const agenti_field agenti_oc_chunk[AGENTI_OC_FIELDS] = {
    { "error", -1 }, { "usage", -1 }, { "choices", -1 }, { "x_groq", -1 }, { "usage", AGENTI_OC_GROQ }, { "search_results", -1 },
    { "citations", -1 }, { "model", -1 }
};
enum { AGENTI_OD_CONTENT, AGENTI_OD_REASONING_CONTENT, AGENTI_OD_REASONING, AGENTI_OD_REASONING_TEXT, AGENTI_OD_DETAILS, AGENTI_OD_REFUSAL,
       AGENTI_OD_CALLS, AGENTI_OD_FUNCTION, AGENTI_OD_ANNOTATIONS, AGENTI_OD_IMAGES, AGENTI_OD_OPAQUE, AGENTI_OD_FIELDS };
enum { AGENTI_OI_INDEX = AGENTI_OD_FIELDS + 1, AGENTI_OI_FINISH, AGENTI_OI_USAGE, AGENTI_OI_MESSAGE, AGENTI_OI_FIELDS };
#define AGENTI_OC_DELTA_ROWS(up) { "content", up }, { "reasoning_content", up }, { "reasoning", up }, { "reasoning_text", up }, \
    { "reasoning_details", up }, { "refusal", up }, { "tool_calls", up }, { "function_call", up }, { "annotations", up }, \
    { "images", up }, { "reasoning_opaque", up }
/* Row 0 is the delta itself, so its members are rows 1 to AGENTI_OD_FIELDS.                                            */
static const agenti_field agenti_oc_choice[AGENTI_OI_FIELDS] = {
    { "delta", -1 }, AGENTI_OC_DELTA_ROWS(0), { "index", -1 }, { "finish_reason", -1 }, { "usage", -1 }, { "message", -1 }
};
static const agenti_field agenti_oc_message[AGENTI_OD_FIELDS] = { AGENTI_OC_DELTA_ROWS(-1) };
enum { AGENTI_OT_ID, AGENTI_OT_INDEX, AGENTI_OT_FUNCTION, AGENTI_OT_NAME, AGENTI_OT_ARGUMENTS, AGENTI_OT_EXTRA, AGENTI_OT_FIELDS };
static const agenti_field agenti_oc_call[AGENTI_OT_FIELDS] = {
    { "id", -1 }, { "index", -1 }, { "function", -1 }, { "name", AGENTI_OT_FUNCTION }, { "arguments", AGENTI_OT_FUNCTION },
    { "extra_content", -1 }
};
enum { AGENTI_OC_SOURCED = 1, AGENTI_OC_REFUSED = 2 };        /* agenti_decoder.sourced                                   */
enum { AGENTI_OC_MOVED = 1,                   /* agenti_lane.kind: it took an index that another call had               */
       AGENTI_OC_WRAPPER = 2 };               /* it holds calls, and shows when it is over                              */

static const char agenti_oc_wrapper[] = "multi_tool_use.parallel";

static int64_t agenti_first_count(const agent_str *f, int a, int b, int c, int d)
{
    int64_t n;
    if (agenti_count(f[a], &n) || agenti_count(f[b], &n) || agenti_count(f[c], &n) || agenti_count(f[d], &n)) return n;
    return -1;
}
/* Totals replace, they are never added; what is not told stays -1 (wire-quirks B3-B5, B19-B21).                        */
static AGENTI_NOINLINE void agenti_oc_usage(agenti_decoder *d, agent_str usage)
{
    enum { PROMPT, COMPLETION, TOTAL, IN_DETAILS, CACHED, WRITTEN, OUT_DETAILS, REASONING, HIT, CACHED_TOP, CACHED_NUM, WRITTEN_TOP,
           IN_DETAIL, CACHED_DETAIL, REASONING_TOP, FIELDS };
    static const agenti_field rows[FIELDS] = {
        { "prompt_tokens", -1 }, { "completion_tokens", -1 }, { "total_tokens", -1 },
        { "prompt_tokens_details", -1 }, { "cached_tokens", IN_DETAILS }, { "cache_write_tokens", IN_DETAILS },
        { "completion_tokens_details", -1 }, { "reasoning_tokens", OUT_DETAILS },
        { "prompt_cache_hit_tokens", -1 }, { "cached_tokens", -1 }, { "num_cached_tokens", -1 }, { "cache_creation_input_tokens", -1 },
        { "prompt_token_details", -1 }, { "cached_tokens", IN_DETAIL }, { "reasoning_tokens", -1 }
    };
    agent_str f[FIELDS];
    agent_usage u;
    int64_t total;
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, rows, FIELDS, f);
    u.input = agenti_first_count(f, PROMPT, PROMPT, PROMPT, PROMPT);
    u.output = agenti_first_count(f, COMPLETION, COMPLETION, COMPLETION, COMPLETION);
    u.cached = agenti_first_count(f, CACHED, HIT, CACHED_TOP, CACHED_NUM);
    if (u.cached < 0) u.cached = agenti_first_count(f, CACHED_DETAIL, CACHED_DETAIL, CACHED_DETAIL, CACHED_DETAIL);
    u.cache_write = agenti_first_count(f, WRITTEN, WRITTEN_TOP, WRITTEN_TOP, WRITTEN_TOP);
    u.reasoning = agenti_first_count(f, REASONING, REASONING_TOP, REASONING_TOP, REASONING_TOP);
    total = agenti_first_count(f, TOTAL, TOTAL, TOTAL, TOTAL);
    if (u.input >= 0 && u.output >= 0 && u.reasoning > 0 && total >= u.input && total - u.input >= u.output
        && total - u.input - u.output == u.reasoning)
        u.output += u.reasoning;             /* xAI, Copilot: completion_tokens leaves reasoning out                    */
    if (u.input < 0 && u.output < 0) return;
    d->usage = u;
    d->has_usage = 1;
}
static int agenti_oc_finish_of(agent_str raw)
{
    static const struct { const char *word; int finish; } rows[] = {
        { "stop", AGENT_FINISH_STOP }, { "eos", AGENT_FINISH_STOP }, { "end_turn", AGENT_FINISH_STOP },
        { "length", AGENT_FINISH_LENGTH }, { "model_length", AGENT_FINISH_LENGTH }, { "max_tokens", AGENT_FINISH_LENGTH },
        { "content_filter", AGENT_FINISH_FILTER }, { "refusal", AGENT_FINISH_FILTER },
        { "tool_calls", AGENT_FINISH_TOOLS }, { "function_call", AGENT_FINISH_TOOLS },
        { "error", AGENT_FINISH_ERROR }, { "insufficient_system_resource", AGENT_FINISH_ERROR }
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (agenti_eq(raw, rows[i].word)) return rows[i].finish;
    return AGENT_FINISH_OTHER;
}
/* The first real reason counts; null and "" are none (B10, B11). A refusal ends with "stop" (B18).                     */
static int agenti_oc_finish(agenti_decoder *d, agent_str value)
{
    agent_str raw;
    int finish;
    if (!agenti_nonempty(value) || d->finish != AGENT_FINISH_NONE) return 1;
    if (!agenti_json_string(value, NULL, &d->arena, &raw)) return 0;
    finish = agenti_oc_finish_of(raw);
    if (finish == AGENT_FINISH_STOP && (d->sourced & AGENTI_OC_REFUSED)) finish = AGENT_FINISH_FILTER;
    agenti_finish_set(d, finish, raw);
    return 1;
}

/* Which call a delta belongs to: its id wins over its index, a new id is a new call even at a known index, and without both it is
 * the last one, unless a name begins another (C1-C11). A call that took the index of another may go on at its own. Returns
 * lane_n for a new call.                                                                                               */
static uint32_t agenti_oc_route(const agenti_decoder *d, agent_str id, int has_index, int64_t index, int has_name)
{
    uint32_t i;
    if (id.n) {
        for (i = d->lane_n; i-- > 0;) {
            const agenti_lane *c = &d->lanes[i];
            if (c->id.n != id.n || memcmp(c->id.p, id.p, id.n) != 0) continue;
            if (has_name && has_index && c->has_index && c->index != index) continue;       /* another call with its id (C23) */
            return i;
        }
        for (i = 0; has_index && i < d->lane_n; i++)     /* the id comes late: the call at this index has none yet       */
            if (d->lanes[i].has_index && d->lanes[i].index == index && d->lanes[i].id.n == 0) return i;
        return d->lane_n;
    }
    if (has_index) {
        for (i = d->lane_n; i-- > 0;) if (d->lanes[i].has_index && d->lanes[i].index == index) return i;
        return d->lane_n && !has_name && (d->lanes[d->last_call].kind & AGENTI_OC_MOVED) ? d->last_call : d->lane_n;
    }
    return d->lane_n == 0 || has_name ? d->lane_n : d->last_call;
}
#ifdef AGENT_NO_MENDING
static int agenti_oc_wraps(agent_str name) { (void)name; return 0; }
static int agenti_oc_wrapper_add(agenti_decoder *d, agenti_lane *c, agent_str text) { (void)d; (void)c; (void)text; return 1; }
#else
static int agenti_oc_wraps(agent_str name) { return agenti_eq(name, agenti_oc_wrapper); }
static int agenti_oc_wrapper_add(agenti_decoder *d, agenti_lane *c, agent_str text)
{
    if (text.n <= d->item_limit - c->more.n) return agenti_text_add(&c->more, d->pool, d->graves, text);
    agenti_fault_set(d, AGENT_FAULT_LIMIT, 0, "", agenti_cstr(AGENTI_WHY("a call's arguments are longer than limits.item")));
    return 1;
}
#endif
static int agenti_oc_begin(agenti_decoder *d, uint32_t at, agent_str id, agent_str name)
{
    agenti_op *op;
    if (!agenti_stream_end(d) || agenti_lane_new(d) == NULL) return 0;
    d->lanes[at].named = name.n > 0;
    d->lanes[at].call = !agenti_oc_wraps(name);
    if (!d->lanes[at].call) { d->lanes[at].kind = AGENTI_OC_WRAPPER; return 1; }
    if ((op = agenti_op_add(d, AGENTI_OP_CALL, at)) == NULL) return 0;
    op->a = id;
    op->b = name;
    return 1;
}
#ifdef AGENT_NO_MENDING
static int agenti_oc_wrappers_end(agenti_decoder *d) { (void)d; return 1; }
#else
/* The answer ends: the calls that wrappers hold; one that holds none is a call like any other. 0: no memory             */
static int agenti_oc_wrappers_end(agenti_decoder *d)
{
    uint32_t i;
    for (i = 0; i < d->lane_n; i++) {
        agent_str id = agenti_text_view(&d->lanes[i].id), args = agenti_text_view(&d->lanes[i].more);     /* live as long as the lane */
        agenti_op *op;
        int rc;
        if (!(d->lanes[i].kind & AGENTI_OC_WRAPPER)) continue;
        d->lanes[i].kind = 0;
        if ((rc = agenti_wrapper_calls(d, id, args)) == 0) return 0;
        if (rc > 0) continue;
        if ((op = agenti_op_add(d, AGENTI_OP_CALL, i)) == NULL) return 0;
        op->a = id;
        op->b = agenti_cstr(agenti_oc_wrapper);
        if ((op = agenti_op_add(d, AGENTI_OP_ARGS, i)) == NULL) return 0;
        op->a = args;
    }
    return 1;
}
#endif
static int agenti_oc_args(agenti_decoder *d, uint32_t call, agent_str args)
{
    agenti_lane *c = &d->lanes[call];
    agenti_op *op;
    agent_str text;
    if (args.n == 0 || agenti_eq(args, "null") || agenti_eq(args, "\"\"")) return 1;
    if (agenti_is_string(args) ? !agenti_json_string(args, &c->high, &d->arena, &text) : !agenti_raw_of(d, args, &text)) return 0;
    if (c->kind & AGENTI_OC_WRAPPER) return agenti_oc_wrapper_add(d, c, text);
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, call)) == NULL) return 0;
    op->a = text;
    return 1;
}
static int agenti_oc_call_delta(agenti_decoder *d, agent_str id, int has_index, int64_t index, agent_str name_value, agent_str args)
{
    agent_str name = agenti_str(NULL, 0);
    agenti_lane *c;
    agenti_op *op;
    uint32_t at;
    if (agenti_nonempty(name_value) && !agenti_json_string(name_value, NULL, &d->arena, &name)) return 0;
    at = agenti_oc_route(d, id, has_index, index, name.n > 0);
    if (at == d->lane_n && at >= d->call_limit) return agenti_too_many(d);
    if (at == d->lane_n) {
        if (!agenti_oc_begin(d, at, id, name)) return 0;
    } else if (d->lanes[at].call && ((name.n && !d->lanes[at].named) || (id.n && d->lanes[at].id.n == 0))) {
        if ((op = agenti_op_add(d, AGENTI_OP_NAME, at)) == NULL) return 0;
        op->a = id;
        op->b = name;
        if (name.n) d->lanes[at].named = 1;
    }
    c = &d->lanes[at];
    c->key = at;
    if (id.n && c->id.n == 0 && !agenti_text_set(&c->id, d->pool, d->graves, id)) return 0;
    if (has_index) {                                     /* the newest call owns the index                              */
        uint32_t i;
        for (i = 0; i < d->lane_n; i++) if (i != at && d->lanes[i].has_index && d->lanes[i].index == index) {
            d->lanes[i].has_index = 0;
            c->kind |= AGENTI_OC_MOVED;
        }
        c->has_index = 1;
        c->index = index;
    }
    d->last_call = at;
    return agenti_oc_args(d, at, args);
}
/* A signature of the call: it goes back with it.                                                                       */
static int agenti_oc_extra(agenti_decoder *d, agent_str extra)
{
    agenti_lane *c;
    agenti_op *op;
    if (!agenti_is_object(extra) || d->lane_n == 0) return 1;
    c = &d->lanes[d->last_call];
    if (c->cited) return 1;
    c->cited = 1;
    if ((op = agenti_op_add(d, AGENTI_OP_DATA, d->last_call)) == NULL) return 0;
    op->flags = AGENTI_DATA_CALL;
    return agenti_raw_of(d, extra, &op->a);
}
static AGENTI_NOINLINE int agenti_oc_calls(agenti_decoder *d, agent_str calls)
{
    agent_str f[AGENTI_OT_FIELDS], item, id;
    int64_t index = 0;
    size_t pos = 0;
    while (agent_json_each(calls, &pos, NULL, &item)) {
        int has_index;
        if (!agenti_is_object(item)) continue;
        agenti_json_pick(item, agenti_oc_call, AGENTI_OT_FIELDS, f);
        has_index = f[AGENTI_OT_INDEX].n && agenti_int(f[AGENTI_OT_INDEX], &index);
        id = agenti_str(NULL, 0);
        if (agenti_nonempty(f[AGENTI_OT_ID]) && !agenti_json_string(f[AGENTI_OT_ID], NULL, &d->arena, &id)) return 0;
        if (!agenti_oc_call_delta(d, id, has_index, has_index ? index : 0, f[AGENTI_OT_NAME], f[AGENTI_OT_ARGUMENTS])) return 0;
        if (!agenti_oc_extra(d, f[AGENTI_OT_EXTRA])) return 0;
    }
    return 1;
}
/* The form before tools: one call, neither id nor index.                                                               */
static int agenti_oc_function(agenti_decoder *d, agent_str call)
{
    static const agenti_field rows[2] = { { "name", -1 }, { "arguments", -1 } };
    agent_str f[2];
    agenti_json_pick(call, rows, 2, f);
    if (!agenti_nonempty(f[0]) && !agenti_nonempty(f[1])) return 1;      /* an empty object is no call                   */
    return agenti_oc_call_delta(d, agenti_str(NULL, 0), 1, -1, f[0], f[1]);
}

/* Mistral: content is a list of {type: text}, {type: thinking, thinking: [{text}]} (B8).                               */
static int agenti_oc_content_part(agenti_decoder *d, agent_str part)
{
    agent_str thinking, item;
    size_t pos = 0;
    if (agent_json_is(agent_json_get(part, "type"), "thinking")) {
        thinking = agent_json_get(part, "thinking");
        if (agenti_is_string(thinking)) return agenti_stream_add(d, AGENTI_OP_REASONING, thinking, 0);
        while (agent_json_each(thinking, &pos, NULL, &item))
            if (!agenti_stream_add(d, AGENTI_OP_REASONING, agent_json_get(item, "text"), 0)) return 0;
        return 1;
    }
    return agenti_stream_add(d, AGENTI_OP_TEXT, agent_json_get(part, "text"), 0);
}
static int agenti_oc_content(agenti_decoder *d, agent_str content)
{
    agent_str part;
    size_t pos = 0;
    if (!agenti_is_array(content)) return agenti_stream_add(d, AGENTI_OP_TEXT, content, 0);
    while (agent_json_each(content, &pos, NULL, &part)) if (agenti_is_object(part) && !agenti_oc_content_part(d, part)) return 0;
    return 1;
}
/* The same thoughts may stand in up to four fields: read one that has any (B25), the details first, for they go back.   */
static int agenti_oc_reasoning(agenti_decoder *d, const agent_str *f)
{
    int i, details = agenti_is_array(f[AGENTI_OD_DETAILS]), has = details && agenti_details_text(f[AGENTI_OD_DETAILS]);
    for (i = AGENTI_OD_REASONING_CONTENT; i <= AGENTI_OD_REASONING_TEXT && !has; i++)
        if (agenti_nonempty(f[i])) {
            if (!agenti_stream_add(d, AGENTI_OP_REASONING, f[i], 0)) return 0;
            break;
        }
    if (details && !agenti_details_add(d, f[AGENTI_OD_DETAILS])) return 0;
    return agenti_opaque_add(d, f[AGENTI_OD_OPAQUE]);
}
static int agenti_oc_annotations(agenti_decoder *d, agent_str list)
{
    agent_str item;
    size_t pos = 0;
    while (agent_json_each(list, &pos, NULL, &item))
        if (!agenti_source_add(d, agent_json_get(item, "url_citation.url"), agent_json_get(item, "url_citation.title"))) return 0;
    return 1;
}
/* OpenRouter: images that the model made, as data: URLs.                                                               */
static int agenti_oc_images(agenti_decoder *d, agent_str list)
{
    agent_str item;
    size_t pos = 0;
    while (agent_json_each(list, &pos, NULL, &item))
        if (!agenti_file_add(d, AGENT_PART_IMAGE, agent_json_get(item, "image_url.url"), NULL)) return 0;
    return 1;
}
/* Perplexity repeats its lists on every chunk: once is enough (B15). `search_results` are objects with a title, `citations` URLs. */
static int agenti_oc_sources(agenti_decoder *d, agent_str list)
{
    agent_str item;
    size_t pos = 0;
    if (!agenti_is_array(list) || (d->sourced & AGENTI_OC_SOURCED)) return 1;
    while (agent_json_each(list, &pos, NULL, &item)) {
        agent_str title = agent_json_get(item, "title");
        if (agenti_is_object(item)) item = agent_json_get(item, "url");
        if (!agenti_source_add(d, item, title)) return 0;
    }
    if (pos) d->sourced |= AGENTI_OC_SOURCED;
    return 1;
}
static int agenti_oc_delta(agenti_decoder *d, const agent_str *f)
{
    if (!agenti_oc_reasoning(d, f) || !agenti_oc_content(d, f[AGENTI_OD_CONTENT])) return 0;
    if (agenti_nonempty(f[AGENTI_OD_REFUSAL])) d->sourced |= AGENTI_OC_REFUSED;
    if (!agenti_stream_add(d, AGENTI_OP_TEXT, f[AGENTI_OD_REFUSAL], AGENT_PART_REFUSAL)) return 0;
    if (agenti_is_array(f[AGENTI_OD_ANNOTATIONS]) && !agenti_oc_annotations(d, f[AGENTI_OD_ANNOTATIONS])) return 0;
    if (agenti_is_array(f[AGENTI_OD_IMAGES]) && !agenti_oc_images(d, f[AGENTI_OD_IMAGES])) return 0;
    if (agenti_is_array(f[AGENTI_OD_CALLS])) return agenti_oc_calls(d, f[AGENTI_OD_CALLS]);
    if (agenti_is_object(f[AGENTI_OD_FUNCTION])) return agenti_oc_function(d, f[AGENTI_OD_FUNCTION]);
    return 1;
}
/* Perplexity sends both members: a whole answer is in `message`, a chunk's news in `delta`.                              */
static AGENTI_NOINLINE int agenti_oc_one_choice(agenti_decoder *d, agent_str choice, int whole)
{
    agent_str f[AGENTI_OI_FIELDS];
    int64_t index;
    agenti_json_pick(choice, agenti_oc_choice, AGENTI_OI_FIELDS, f);
    if (f[AGENTI_OI_INDEX].n && agenti_int(f[AGENTI_OI_INDEX], &index) && index != 0) return 1;
    agenti_oc_usage(d, f[AGENTI_OI_USAGE]);
    if (!agenti_is_object(f[0]) || (whole && agenti_is_object(f[AGENTI_OI_MESSAGE])))
        agenti_json_pick(f[AGENTI_OI_MESSAGE], agenti_oc_message, AGENTI_OD_FIELDS, f + 1);
    if (!agenti_oc_delta(d, f + 1)) return 0;
    return agenti_oc_finish(d, f[AGENTI_OI_FINISH]) && (d->finish == AGENT_FINISH_NONE || agenti_oc_wrappers_end(d));
}
/* A checked object: a chunk or a whole answer. *known: it had a member that belongs to one.                            */
static int agenti_oc_object(agenti_decoder *d, agent_str json, int whole, int *known)
{
    agent_str f[AGENTI_OC_FIELDS], choice;
    size_t pos = 0;
    agenti_json_pick(json, agenti_oc_chunk, AGENTI_OC_FIELDS, f);
    agenti_oc_usage(d, f[AGENTI_OC_GROQ_USAGE]);
    agenti_oc_usage(d, f[AGENTI_OC_USAGE]);
    if (!agenti_model_set(d, f[AGENTI_OC_MODEL])) return 0;
    *known = f[AGENTI_OC_CHOICES].n || f[AGENTI_OC_USAGE].n;
    if (f[AGENTI_OC_ERROR].n && !agenti_eq(f[AGENTI_OC_ERROR], "null")) {
        *known = 1;
        agenti_fault_object(d, json, 0);
        return 1;
    }
    if (!agenti_oc_sources(d, f[AGENTI_OC_RESULTS]) || !agenti_oc_sources(d, f[AGENTI_OC_CITATIONS])) return 0;
    if (!agenti_is_array(f[AGENTI_OC_CHOICES])) return 1;
    while (agent_json_each(f[AGENTI_OC_CHOICES], &pos, NULL, &choice))
        if (agenti_is_object(choice) && !agenti_oc_one_choice(d, choice, whole)) return 0;
    return 1;
}
/* A payload that is no JSON: two frames may be glued because a newline was lost; what follows the glue is read (A12).   */
static int agenti_oc_broken(agenti_decoder *d, agent_str data)
{
    size_t i;
    int known;
    if (!agenti_payload_bad(d)) return 0;
    for (i = 1; i + 7 <= data.n; i++) {
        agent_str rest = agenti_str(data.p + i + 6, data.n - i - 6);
        if (data.p[i] != 'd' || memcmp(data.p + i, "data: {", 7) != 0) continue;
        if (agent_json_check(rest.p, rest.n, d->depth_limit, NULL) == AGENT_OK) return agenti_oc_object(d, rest, 0, &known);
        return 1;
    }
    return 1;
}
static int agenti_oc_event(agenti_decoder *d, agent_str event, agent_str data)
{
    int known;
    data = agenti_trim(data);
    if (data.n == 0 || data.p[0] == ':') return 1;       /* a gateway wrapped a comment again (A2)                      */
    if (agenti_eq(data, "[DONE]")) { d->done = 1; return agenti_oc_wrappers_end(d); }
    if (data.p[0] != '{' || agent_json_check(data.p, data.n, d->depth_limit, NULL) != AGENT_OK) {
        if (!agenti_eq(event, "error")) return agenti_oc_broken(d, data);
        agenti_fault_set(d, AGENT_FAULT_SERVER, 1, "", data);
        return 1;
    }
    if (!agenti_eq(event, "error")) return agenti_oc_object(d, data, 0, &known);
    agenti_fault_object(d, data, 0);
    return 1;
}
static int agenti_oc_whole(agenti_decoder *d, agent_str body)
{
    int known = 0;
    if (agenti_is_object(body) && !agenti_oc_object(d, body, 1, &known)) return 0;
    if (known) d->done = 1;
    else if (agent_json_get(body, "message").p || agent_json_get(body, "detail").p || agent_json_get(body, "code").p)
        agenti_fault_object(d, body, 0);
    if (!known && !d->fault.fault) agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr(AGENTI_WHY("the answer is no chat completion")));
    return 1;
}

/* ---- requests ---- */
static void agenti_oc_limits(agenti_buf *b, const agenti_request *r)
{
    const char *limit = r->dialect & AGENT_DIALECT_MAX_COMPLETION_TOKENS ? "max_completion_tokens" : "max_tokens";
    agenti_option_out(b, r, limit, AGENTI_OPT_MAX_TOKENS);
    agenti_option_out(b, r, "temperature", AGENTI_OPT_TEMPERATURE);
    agenti_option_out(b, r, "top_p", AGENTI_OPT_TOP_P);
    agenti_option_out(b, r, r->dialect & AGENT_DIALECT_MISTRAL ? "random_seed" : "seed", AGENTI_OPT_SEED);
    agenti_option_out(b, r, "frequency_penalty", AGENTI_OPT_FREQUENCY);
    agenti_option_out(b, r, "presence_penalty", AGENTI_OPT_PRESENCE);
    agenti_option_out(b, r, "stop", AGENTI_OPT_STOP);
    if (r->dialect & AGENT_DIALECT_TOP_K) agenti_option_out(b, r, "top_k", AGENTI_OPT_TOP_K);
}
/* How thinking is asked for is each host's own: a word, a switch, a switch and a budget.                                */
static void agenti_oc_thinking_out(agenti_buf *b, const agenti_request *r)
{
    static const char *const words[] = { "none", "minimal", "low", "medium", "high", "xhigh" };
    static const char *const switched[] = { "", "low", "low", "medium", "high", "max" };
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]), given = agenti_text_view(&r->options[AGENTI_OPT_EFFORT]), effort;
    int off = agenti_eq(budget, "0") || agenti_eq(given, "off");
    effort = agenti_effort(r, r->dialect & AGENT_DIALECT_THINKING_TYPE ? switched : words);
    if (budget.n + given.n == 0) return;
    if ((r->dialect & AGENT_DIALECT_THINKING_TYPE) && !agenti_replaced(r, "thinking"))
        agenti_json_member(b, "thinking", agenti_cstr(off ? "{\"type\":\"disabled\"}" : "{\"type\":\"enabled\"}"));
    if (r->dialect & AGENT_DIALECT_ENABLE_THINKING) {
        if (!agenti_replaced(r, "enable_thinking")) agenti_json_member(b, "enable_thinking", agenti_cstr(off ? "false" : "true"));
        if (!off && budget.n && !agenti_eq(budget, "adaptive")) agenti_option_out(b, r, "thinking_budget", AGENTI_OPT_THINKING);
    } else if (effort.n && !agenti_replaced(r, "reasoning_effort")) agenti_json_member_str(b, "reasoning_effort", effort);
}
/* Any JSON, or what fits a schema.                                                                                     */
static void agenti_oc_format_out(agenti_buf *b, const agenti_request *r)
{
    agent_str schema = agenti_format_schema(r);
    if (r->options[AGENTI_OPT_FORMAT].n == 0 || agenti_replaced(r, "response_format")) return;
    if (schema.n == 0) { agenti_json_member(b, "response_format", agenti_cstr("{\"type\":\"json_object\"}")); return; }
    agenti_buf_str(b, ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"answer\",\"strict\":true");
    agenti_json_member(b, "schema", schema);
    agenti_buf_str(b, "}}");
}
static void agenti_oc_words_out(agenti_buf *b, agenti_request *r)
{
    static const struct { const char *key; int option; } rows[] = {
        { "service_tier", AGENTI_OPT_TIER }, { "prompt_cache_key", AGENTI_OPT_CACHE_KEY }, { "user", AGENTI_OPT_USER }
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (r->options[rows[i].option].n == 0 || agenti_replaced(r, rows[i].key)) continue;
        if (r->dialect & AGENT_DIALECT_MISTRAL) r->left_out |= AGENTI_BIT(rows[i].option);       /* it refuses what it does not know */
        else agenti_json_member_str(b, rows[i].key, agenti_text_view(&r->options[rows[i].option]));
    }
}
/* What only some hosts take.                                                                                           */
static void agenti_oc_left(agenti_request *r)
{
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]);
    int switches = (r->dialect & AGENT_DIALECT_THINKING_TYPE) && (agenti_eq(budget, "0") || agenti_eq(budget, "adaptive"));
    if (budget.n && !switches && !(r->dialect & AGENT_DIALECT_ENABLE_THINKING)) r->left_out |= AGENTI_BIT(AGENTI_OPT_THINKING);
    if (r->options[AGENTI_OPT_TOP_K].n && !(r->dialect & AGENT_DIALECT_TOP_K)) r->left_out |= AGENTI_BIT(AGENTI_OPT_TOP_K);
}
static int agenti_oc_forces(const agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    return choice.n && !r->choice_off && !agenti_eq(choice, "auto") && !agenti_eq(choice, "none");
}
static void agenti_oc_head(agenti_buf *b, agenti_request *r)
{
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "model")) agenti_json_member_str(b, "model", agenti_text_view(&r->options[AGENTI_OPT_MODEL]));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    if (r->stream && !(r->dialect & AGENT_DIALECT_NO_STREAM_OPTIONS) && !agenti_replaced(r, "stream_options"))
        agenti_json_member(b, "stream_options", agenti_cstr("{\"include_usage\":true}"));
    agenti_oc_limits(b, r);
    agenti_oc_thinking_out(b, r);
    agenti_oc_format_out(b, r);
    agenti_oc_words_out(b, r);
    agenti_oc_left(r);
    if (agenti_oc_forces(r) && ((r->dialect & AGENT_DIALECT_NO_FORCED_CHOICE)
        || ((r->dialect & AGENT_DIALECT_MISTRAL) && !agenti_eq(agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]), "required"))))
        r->left_out |= AGENTI_BIT(AGENTI_OPT_TOOL_CHOICE);               /* Mistral: any tool instead of that one          */
    agenti_buf_str(b, ",\"messages\":[");
}
enum { AGENTI_OC_BEGUN = 1, AGENTI_OC_AFTER_TOOLS };               /* r->state: messages stand there; the last one has tool results */
static void agenti_oc_comma(agenti_buf *b, agenti_request *r)
{
    if (r->state) agenti_buf_str(b, ",");
    else r->state = AGENTI_OC_BEGUN;
}
static void agenti_oc_system(agenti_buf *b, agenti_request *r, agent_str text)
{
    agenti_oc_comma(b, r);
    if (r->system_raw.n) { agenti_buf_add(b, r->system_raw.p, r->system_raw.n); return; }
    agenti_buf_str(b, "{\"role\":\"system\"");
    agenti_json_member_str(b, "content", text);
    agenti_buf_str(b, "}");
}
static const char *agenti_oc_audio_format(agent_str mime)                       /* NULL: not taken                      */
{
    if (agenti_ieq(mime, "audio/wav") || agenti_ieq(mime, "audio/x-wav") || agenti_ieq(mime, "audio/wave")) return "wav";
    return agenti_ieq(mime, "audio/mpeg") || agenti_ieq(mime, "audio/mp3") ? "mp3" : NULL;
}
static void agenti_oc_audio_out(agenti_buf *b, const agenti_request *r, const agenti_msg *m, const agenti_part *p, const char *format)
{
    agenti_buf_str(b, "\"input_audio\",\"input_audio\":{");
    agenti_json_member_str(b, "data", agenti_text_view(&p->text));
    agenti_json_member_str(b, "format", agenti_cstr(format));
    agenti_more_out(b, r, m, &p->inner);
    agenti_buf_str(b, "}");
}
static void agenti_oc_file_out(agenti_buf *b, const agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    agenti_buf_str(b, "\"file\",\"file\":{");
    if (p->name.n || m->wire != (const void *)r->wire) agenti_json_member_str(b, "filename", p->name.n ? agenti_text_view(&p->name) : agenti_cstr("file"));
    agenti_json_key(b, "file_data");
    agenti_data_url_out(b, p);
    agenti_more_out(b, r, m, &p->inner);
    agenti_buf_str(b, "}");
}
/* Images by data and by URL, PDFs and the like by data, audio of two formats; plain text is text.                      */
static void agenti_oc_user_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int media = agenti_is_media(p->kind);
    const char *format = media && p->kind == AGENT_PART_AUDIO && p->text.n ? agenti_oc_audio_format(agenti_text_view(&p->mime)) : NULL;
    if (p->kind == AGENT_PART_OTHER) { agenti_buf_add(b, p->text.p, p->text.n); return; }
    agenti_buf_str(b, "{\"type\":");
    if (media && p->kind == AGENT_PART_IMAGE) {
        agenti_buf_str(b, "\"image_url\",\"image_url\":{\"url\":");
        agenti_data_url_out(b, p);
        agenti_more_out(b, r, m, &p->inner);
        agenti_buf_str(b, "}");
    } else if (format) agenti_oc_audio_out(b, r, m, p, format);
    else if (media && p->kind == AGENT_PART_FILE && (p->flags & AGENT_PART_BASE64)) agenti_oc_file_out(b, r, m, p);
    else {
        agenti_buf_str(b, "\"text\",\"text\":");
        if (p->text.n && !(p->flags & AGENT_PART_BASE64)) agenti_json_quote_to(b, agenti_text_view(&p->text));
        else if (media) agenti_media_left_out(b, r, p);
        else agenti_buf_str(b, "\"\"");
    }
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static void agenti_oc_user_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    int developer = (m->flags & AGENTI_MSG_DEVELOPER) && m->wire == (const void *)r->wire;
    uint32_t i;
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "role", agenti_cstr(developer ? "developer" : m->flags & AGENT_MSG_SYSTEM ? "system" : "user"));
    if (m->n == 1 && m->parts[0].kind == AGENT_PART_TEXT && m->parts[0].more.n == 0)                        /* many hosts refuse lists             */
        agenti_json_member_str(b, "content", agenti_text_view(&m->parts[0].text));
    else {
        agenti_buf_str(b, ",\"content\":[");
        for (i = 0; i < m->n; i++) {
            if (i) agenti_buf_str(b, ",");
            agenti_oc_user_part(b, r, m, &m->parts[i]);
        }
        agenti_buf_str(b, "]");
    }
    agenti_more_out(b, r, m, &m->more);
    agenti_buf_str(b, "}");
}
/* Mistral takes nine letters and digits: any other id becomes such a one, always the same.                             */
static void agenti_oc_id_out(agenti_buf *b, const agenti_request *r, const char *key, agent_str id)
{
    static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    uint64_t hash = 14695981039346656037u;    /* FNV-1a                                                                 */
    char made[9];
    size_t i, fits = 0;
    for (i = 0; i < id.n; i++) {
        char c = agenti_lower(id.p[i]);
        fits += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        hash = (hash ^ (unsigned char)id.p[i]) * 1099511628211u;
    }
    for (i = 0; i < sizeof made; i++, hash /= 62) made[i] = letters[hash % 62];
    if ((r->dialect & AGENT_DIALECT_MISTRAL) && (id.n != sizeof made || fits != sizeof made)) id = agenti_str(made, sizeof made);
    agenti_json_member_str(b, key, id);
}
static void agenti_oc_model_call(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int usable = p->text.n && !(p->flags & AGENT_PART_INVALID);      /* broken JSON is never sent back (C18)            */
    agent_str extra = agenti_text_view(&p->data);
    agenti_buf_str(b, "{");
    agenti_oc_id_out(b, r, "id", agenti_wire_id(p));
    if (agenti_own_content(r, m, p)) { agenti_more_out(b, r, m, &p->more); agenti_buf_str(b, "}"); return; }
    agenti_buf_str(b, ",\"type\":\"function\",\"function\":{");
    agenti_tool_name_out(b, agenti_text_view(&p->name));
    agenti_json_member_str(b, "arguments", usable ? agenti_text_view(&p->text) : agenti_cstr("{}"));
    agenti_more_out(b, r, m, &p->inner);
    agenti_buf_str(b, "}");
    if (m->model == r->model && agenti_is_object(extra) && agent_json_check(extra.p, extra.n, 0, NULL) == AGENT_OK)
        agenti_json_member(b, "extra_content", extra);
    else if (p->data.n) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING);
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
/* Its content, unless that goes back in the form that an import had.                                                   */
static void agenti_oc_content_out(agenti_buf *b, const agenti_request *r, const agenti_msg *m, uint32_t texts)
{
    uint32_t i;
    if ((m->flags & AGENTI_MSG_CONTENT) && m->wire == (const void *)r->wire) return;
    agenti_json_key(b, "content");
    agenti_buf_str(b, texts ? "\"\"" : "null");
    for (i = 0; texts && i < m->n; i++)
        if (m->parts[i].kind == AGENT_PART_TEXT && !agenti_own_content(r, m, &m->parts[i])) agenti_json_quote_more(b, agenti_text_view(&m->parts[i].text));
}
static AGENTI_NOINLINE void agenti_oc_model_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, texts = 0, calls = 0;
    for (i = 0; i < m->n; i++) {
        texts += m->parts[i].kind == AGENT_PART_TEXT && m->parts[i].text.n > 0 && !agenti_own_content(r, m, &m->parts[i]);
        calls += m->parts[i].kind == AGENT_PART_CALL;
    }
    if (texts + calls == 0 && (m->more.n == 0 || m->wire != (const void *)r->wire)) return;
    agenti_oc_comma(b, r);
    agenti_buf_str(b, "{\"role\":\"assistant\"");
    agenti_oc_content_out(b, r, m, texts);
    agenti_reasoning_out(b, r, m);
    if (calls) agenti_buf_str(b, ",\"tool_calls\":[");
    for (i = 0; i < m->n; i++) if (m->parts[i].kind == AGENT_PART_CALL) {
        if (b->n && b->p[b->n - 1] != '[') agenti_buf_str(b, ",");
        agenti_oc_model_call(b, r, m, &m->parts[i]);
    }
    if (calls) agenti_buf_str(b, "]");
    agenti_more_out(b, r, m, &m->more);
    agenti_buf_str(b, "}");
    r->state = AGENTI_OC_BEGUN;
}
static void agenti_oc_tools_msg(agenti_buf *b, const agenti_request *r, const agenti_msg *m)
{
    uint32_t i;
    for (i = 0; i < m->n; i++) {
        agent_str text = agenti_text_view(&m->parts[i].text);
        agenti_buf_str(b, i ? ",{\"role\":\"tool\"" : "{\"role\":\"tool\"");
        agenti_oc_id_out(b, r, "tool_call_id", agenti_wire_id(&m->parts[i]));
        if (!agenti_own_content(r, m, &m->parts[i])) agenti_json_member_str(b, "content", text.n ? text : agenti_cstr("(no output)"));
        agenti_more_out(b, r, m, &m->parts[i].more);
        agenti_buf_str(b, "}");
    }
}
/* Mistral refuses a user message right after tool results.                                                             */
static void agenti_oc_between(agenti_buf *b, const agenti_request *r)
{
    if ((r->dialect & AGENT_DIALECT_MISTRAL) && r->state == AGENTI_OC_AFTER_TOOLS)
        agenti_buf_str(b, "{\"role\":\"assistant\",\"content\":\"Done.\"},");
}
static void agenti_oc_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    if (m->role == AGENT_MODEL) { agenti_oc_model_msg(b, r, m); return; }
    agenti_oc_comma(b, r);
    if (m->role == AGENT_USER) {
        agenti_oc_between(b, r);
        agenti_oc_user_msg(b, r, m);
    } else agenti_oc_tools_msg(b, r, m);
    r->state = m->role == AGENT_TOOLS ? AGENTI_OC_AFTER_TOOLS : AGENTI_OC_BEGUN;
}
static void agenti_oc_tail(agenti_buf *b, const agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    if (r->note) {
        agenti_buf_str(b, ",");
        agenti_oc_between(b, r);
        agenti_buf_str(b, "{\"role\":\"user\"");
        agenti_json_member_str(b, "content", agenti_cstr(r->note));
        agenti_buf_str(b, "}");
    }
    agenti_buf_str(b, "]");
    if (r->tool_count == 0 && !agenti_replaced(r, "tools")) return;
    if (r->tools_off) agenti_json_member(b, "tool_choice", agenti_cstr("\"none\""));
    else if (choice.n && !r->choice_off && !agenti_replaced(r, "tool_choice")
             && !(agenti_oc_forces(r) && (r->dialect & AGENT_DIALECT_NO_FORCED_CHOICE))) {
        if (agenti_oc_forces(r) && (r->dialect & AGENT_DIALECT_MISTRAL)) agenti_json_member_str(b, "tool_choice", agenti_cstr("any"));
        else if (agenti_eq(choice, "auto") || agenti_eq(choice, "none") || agenti_eq(choice, "required"))
            agenti_json_member_str(b, "tool_choice", choice);
        else {
            agenti_buf_str(b, ",\"tool_choice\":{\"type\":\"function\",\"function\":{");
            agenti_json_member_str(b, "name", choice);
            agenti_buf_str(b, "}}");
        }
    }
    agenti_option_out(b, r, "parallel_tool_calls", AGENTI_OPT_PARALLEL);
}
static const char *const agenti_oc_parts[] = {
    "content", "text", "thinking", "summary", "reasoning_content", "reasoning", "reasoning_text", "refusal", "arguments", NULL
};
static const char *const agenti_oc_routing[] = { "index", "id", "type", NULL };
static const char *const agenti_oc_owner[] = { "index", "id", NULL };
static const char *const agenti_oc_held[] = { "message", NULL };      /* of a stream: a delta beside it may come later  */
static const char *const agenti_oc_none[] = { NULL };
static void agenti_oc_tools_out(agenti_buf *b, const agenti_request *r)
{
    agenti_tools_list(b, r, "{\"type\":\"function\",\"function\":{", "parameters", ",\"strict\":true}}", "}}");
}
static const agenti_wire agenti_openai_chat_wire = {
    "openai-chat", "/chat/completions", NULL, AGENTI_FRAMING_SSE, NULL, NULL, 0,
    agenti_oc_head, agenti_oc_system, agenti_oc_message_out, agenti_oc_tail, agenti_oc_tools_out,
    agenti_extra_out, agenti_oc_event, agenti_oc_whole, "\"obfuscation\":",
    { agenti_oc_parts, agenti_oc_routing, agenti_oc_owner, 0, agenti_oc_held }, { agenti_oc_parts, agenti_oc_routing, agenti_oc_owner, 0, agenti_oc_none },
    AGENTI_IMPORTER(agenti_openai_chat_import), NULL
};
AGENTI_FN const agenti_wire *agenti_openai_chat(void) { return &agenti_openai_chat_wire; }
#endif
#endif
