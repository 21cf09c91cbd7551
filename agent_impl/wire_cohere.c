/* Cohere chat, version 2: https://docs.cohere.com/reference/chat and /chat-stream. An event is told by what is in it: `delta.message`
 * has a piece of a member of the `message` that a whole answer has. Answers of version 1, a line of JSON an event, are understood. */
#ifndef AGENT_NO_COHERE
AGENTI_FN const agenti_wire *agenti_cohere(void);
AGENTI_FN const agenti_wire *agenti_cohere_v1(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_COHERE
/* ---- answers ---- */
enum { AGENTI_CO_PLAN = 1 };                  /* agenti_decoder.sourced: the open stream is a plan for calls            */
static const char agenti_co_plan[] = "tool_plan";             /* agenti_part.data of one: it goes back as such          */

/* Counts of tokens, not of what is billed (H15).                                                                       */
static AGENTI_NOINLINE void agenti_co_usage(agenti_decoder *d, agent_str usage)
{
    enum { TOKENS, INPUT, OUTPUT, REASONING, CACHED, FIELDS };
    static const agenti_field rows[FIELDS] = {
        { "tokens", -1 }, { "input_tokens", TOKENS }, { "output_tokens", TOKENS }, { "reasoning_tokens", TOKENS }, { "cached_tokens", -1 }
    };
    agent_str f[FIELDS];
    int64_t n;
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, rows, FIELDS, f);
    if (agenti_count(f[INPUT], &n)) { d->usage.input = n; d->has_usage = 1; }
    if (agenti_count(f[OUTPUT], &n)) { d->usage.output = n; d->has_usage = 1; }
    if (agenti_count(f[REASONING], &n)) d->usage.reasoning = n;
    if (agenti_count(f[CACHED], &n)) d->usage.cached = n;
}
static int agenti_co_finish(agenti_decoder *d, agent_str value)
{
    static const struct { const char *word; int finish; } rows[] = {
        { "COMPLETE", AGENT_FINISH_STOP }, { "STOP_SEQUENCE", AGENT_FINISH_STOP }, { "MAX_TOKENS", AGENT_FINISH_LENGTH },
        { "ERROR_LIMIT", AGENT_FINISH_LENGTH }, { "TOOL_CALL", AGENT_FINISH_TOOLS }, { "ERROR", AGENT_FINISH_ERROR },
        { "TIMEOUT", AGENT_FINISH_ERROR }, { "ERROR_TOXIC", AGENT_FINISH_FILTER }
    };
    agent_str raw;
    size_t i;
    int finish = AGENT_FINISH_OTHER;
    if (!agenti_nonempty(value) || d->finish != AGENT_FINISH_NONE) return 1;
    if (!agenti_json_string(value, NULL, &d->arena, &raw)) return 0;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (agenti_eq(raw, rows[i].word)) finish = rows[i].finish;
    agenti_finish_set(d, finish, raw);
    return 1;
}
/* A piece of text, of thoughts or of a plan; a plan is a stream of its own, and says so for its way back (H14).          */
static int agenti_co_add(agenti_decoder *d, int kind, agent_str value, int plan)
{
    uint32_t before = d->streams;
    agenti_op *op;
    if (!agenti_nonempty(value)) return 1;
    if (d->sourced != plan && !agenti_stream_end(d)) return 0;
    d->sourced = (uint8_t)plan;
    if (!agenti_stream_add(d, kind, value, 0)) return 0;
    if (!plan || d->streams == before) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_DATA, d->stream)) == NULL) return 0;
    op->a = agenti_cstr(agenti_co_plan);
    return 1;
}
static int agenti_co_block(agenti_decoder *d, agent_str block)
{
    agent_str key, value;
    size_t pos = 0;
    while (agenti_is_object(block) && agent_json_each(block, &pos, &key, &value)) {
        if (agenti_eq(key, "text") && !agenti_co_add(d, AGENTI_OP_TEXT, value, 0)) return 0;
        if (agenti_eq(key, "thinking") && !agenti_co_add(d, AGENTI_OP_REASONING, value, 0)) return 0;
    }
    return 1;
}
/* Which call: the one of this id, or a new one if it has an id or a name, else the one of this index, else the last. lane_n: new. */
static uint32_t agenti_co_route(const agenti_decoder *d, agent_str id, int named, int has_index, int64_t index)
{
    uint32_t i;
    for (i = d->lane_n; id.n && i-- > 0;) if (d->lanes[i].id.n == id.n && memcmp(d->lanes[i].id.p, id.p, id.n) == 0) return i;
    if (id.n || named || d->lane_n == 0) return d->lane_n;
    for (i = d->lane_n; has_index && i-- > 0;) if (d->lanes[i].has_index && d->lanes[i].index == index) return i;
    return d->lane_n - 1;
}
static int agenti_co_call_new(agenti_decoder *d, agent_str id, agent_str name, int has_index, int64_t index)
{
    agenti_lane *l;
    agenti_op *op;
    if (!agenti_stream_end(d) || (l = agenti_lane_new(d)) == NULL) return 0;
    l->call = 1;
    l->key = d->lane_n - 1;
    l->has_index = (uint8_t)has_index;
    l->index = index;
    if (id.n && !agenti_text_set(&l->id, d->pool, d->graves, id)) return 0;
    if ((op = agenti_op_add(d, AGENTI_OP_CALL, l->key)) == NULL) return 0;
    op->a = id;
    return agenti_string_of(d, name, &op->b);
}
/* No arguments are "", or the string "null" (H14).                                                                     */
static int agenti_co_args(agenti_decoder *d, agenti_lane *l, agent_str args)
{
    agenti_op *op;
    agent_str text;
    if (args.n == 0 || agenti_eq(args, "null") || agenti_eq(args, "\"\"") || (!l->whole && agenti_eq(args, "\"null\""))) return 1;
    l->whole = 1;                             /* not the first piece any more                                           */
    if (agenti_is_string(args) ? !agenti_json_string(args, &l->high, &d->arena, &text) : !agenti_raw_of(d, args, &text)) return 0;
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, l->key)) == NULL) return 0;
    op->a = text;
    return 1;
}
static AGENTI_NOINLINE int agenti_co_call(agenti_decoder *d, agent_str call, int has_index, int64_t index)
{
    enum { ID, FUNCTION, NAME, ARGUMENTS, FIELDS };
    static const agenti_field rows[FIELDS] = { { "id", -1 }, { "function", -1 }, { "name", FUNCTION }, { "arguments", FUNCTION } };
    agent_str f[FIELDS], id;
    uint32_t at;
    if (!agenti_is_object(call)) return 1;
    agenti_json_pick(call, rows, FIELDS, f);
    if (!agenti_string_of(d, f[ID], &id)) return 0;
    at = agenti_co_route(d, id, agenti_nonempty(f[NAME]), has_index, index);
    if (at == d->lane_n && at >= d->call_limit) return agenti_too_many(d);
    if (at == d->lane_n && !agenti_co_call_new(d, id, f[NAME], has_index, index)) return 0;
    return agenti_co_args(d, &d->lanes[at], f[ARGUMENTS]);
}
/* Where in the text what is taken from which documents or results; those with a URL are sources.                        */
static int agenti_co_cite(agenti_decoder *d, agent_str citation)
{
    agent_str list = agent_json_get(citation, "sources"), item, from;
    size_t pos = 0;
    if (!agenti_is_object(citation)) return 1;
    if (!agenti_news_add(d, citation, "citation")) return 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &item)) {
        if (!agenti_is_object(item)) continue;
        from = agent_json_get(item, "document");
        if (!agenti_is_object(from)) from = agent_json_get(item, "tool_output");
        if (agenti_is_object(from) && !agenti_source_add(d, agent_json_get(from, "url"), agent_json_get(from, "title"))) return 0;
    }
    return 1;
}
/* One member of a message: an event has one object, a whole answer a list of them.                                     */
static int agenti_co_member(agenti_decoder *d, agent_str key, agent_str value, int has_index, int64_t index)
{
    int list = agenti_is_array(value), kind = agenti_eq(key, "content") ? 1 : agenti_eq(key, "tool_calls") ? 2 : agenti_eq(key, "citations") ? 3 : 0;
    agent_str item = value;
    size_t pos = 0;
    if (agenti_eq(key, "tool_plan")) return agenti_co_add(d, AGENTI_OP_REASONING, value, AGENTI_CO_PLAN);
    if (kind == 1 && agenti_is_string(value)) return agenti_co_add(d, AGENTI_OP_TEXT, value, 0);
    while (kind && (!list || agent_json_each(value, &pos, NULL, &item))) {
        if (kind == 1 && !agenti_co_block(d, item)) return 0;
        if (kind == 2 && !agenti_co_call(d, item, has_index, index)) return 0;
        if (kind == 3 && !agenti_co_cite(d, item)) return 0;
        if (!list) break;
    }
    return 1;
}
enum { AGENTI_CE_TYPE, AGENTI_CE_INDEX, AGENTI_CE_DELTA, AGENTI_CE_DELTA_MESSAGE, AGENTI_CE_DELTA_FINISH, AGENTI_CE_DELTA_USAGE, AGENTI_CE_DELTA_ERROR,
       AGENTI_CE_MESSAGE, AGENTI_CE_FINISH, AGENTI_CE_USAGE, AGENTI_CE_ERROR, AGENTI_CE_FIELDS };
static const agenti_field agenti_co_rows[AGENTI_CE_FIELDS] = {
    { "type", -1 }, { "index", -1 }, { "delta", -1 }, { "message", AGENTI_CE_DELTA }, { "finish_reason", AGENTI_CE_DELTA },
    { "usage", AGENTI_CE_DELTA }, { "error", AGENTI_CE_DELTA }, { "message", -1 }, { "finish_reason", -1 }, { "usage", -1 }, { "error", -1 }
};
/* What message-end says; `error` has words where the finish reason is ERROR.                                           */
static int agenti_co_end(agenti_decoder *d, const agent_str *f)
{
    agent_str text;
    agenti_co_usage(d, f[AGENTI_CE_DELTA_USAGE]);
    agenti_co_usage(d, f[AGENTI_CE_USAGE]);
    if (!agenti_co_finish(d, f[AGENTI_CE_DELTA_FINISH]) || !agenti_co_finish(d, f[AGENTI_CE_FINISH])) return 0;
    if (!agenti_nonempty(f[AGENTI_CE_DELTA_ERROR])) return 1;
    if (!agenti_json_string(f[AGENTI_CE_DELTA_ERROR], NULL, &d->arena, &text)) return 0;
    agenti_fault_set(d, AGENT_FAULT_SERVER, 1, "", text);
    return 1;
}
/* An event or a whole answer. Members of the message are taken in their order, so it may be cut anywhere.                */
static AGENTI_NOINLINE int agenti_co_object(agenti_decoder *d, agent_str json, int *known)
{
    agent_str f[AGENTI_CE_FIELDS], message, key, value;
    size_t pos = 0;
    int64_t index = 0;
    int has_index;
    agenti_json_pick(json, agenti_co_rows, AGENTI_CE_FIELDS, f);
    message = f[agenti_is_object(f[AGENTI_CE_DELTA]) ? AGENTI_CE_DELTA_MESSAGE : AGENTI_CE_MESSAGE];
    *known = agenti_is_object(message) || agenti_is_string(f[AGENTI_CE_FINISH]) || f[AGENTI_CE_TYPE].n > 0;
    if ((f[AGENTI_CE_ERROR].n && !agenti_eq(f[AGENTI_CE_ERROR], "null")) || (!*known && agenti_is_string(message))) {
        *known = 1;
        agenti_fault_object(d, json, 0);
        return 1;
    }
    has_index = f[AGENTI_CE_INDEX].n && agenti_int(f[AGENTI_CE_INDEX], &index);
    while (agenti_is_object(message) && agent_json_each(message, &pos, &key, &value))
        if (!agenti_co_member(d, key, value, has_index, index)) return 0;
    if (agent_json_is(f[AGENTI_CE_TYPE], "content-end") && !agenti_stream_end(d)) return 0;
    if (!agenti_co_end(d, f)) return 0;
    if (agent_json_is(f[AGENTI_CE_TYPE], "message-end") && message.n == 0) d->done = 1;      /* else it may be cut, and go on */
    return 1;
}
/* 1: it is an object, *data, 0: there is nothing to read in it (any more), -1: no memory                                */
static int agenti_co_payload(agenti_decoder *d, agent_str *data)
{
    *data = agenti_trim(*data);
    if (data->n == 0 || data->p[0] == ':') return 0;
    if (agenti_eq(*data, "[DONE]")) { d->done = d->finish != AGENT_FINISH_NONE; return 0; }
    if (data->p[0] == '{' && agent_json_check(data->p, data->n, d->depth_limit, NULL) == AGENT_OK) return 1;
    return agenti_payload_bad(d) ? 0 : -1;
}
static int agenti_co_event(agenti_decoder *d, agent_str event, agent_str data)
{
    int known, rc = agenti_co_payload(d, &data);
    if (rc <= 0) return rc == 0;
    if (!agenti_eq(event, "error")) return agenti_co_object(d, data, &known);
    agenti_fault_object(d, data, 0);
    return 1;
}
static int agenti_co_whole(agenti_decoder *d, agent_str body)
{
    int known = 0;
    if (agenti_is_object(body) && !agenti_co_object(d, body, &known)) return 0;
    d->done = 1;
    if (!known) agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr(AGENTI_WHY("the answer is none of Cohere's")));
    return 1;
}

/* ---- answers of version 1 ---- */
enum { AGENTI_C1_TYPE, AGENTI_C1_TEXT, AGENTI_C1_CALLS, AGENTI_C1_CITATIONS, AGENTI_C1_FINISH, AGENTI_C1_META, AGENTI_C1_RESPONSE,
       AGENTI_C1_RESPONSE_META, AGENTI_C1_MESSAGE, AGENTI_C1_ERROR, AGENTI_C1_FIELDS };
static const agenti_field agenti_c1_rows[AGENTI_C1_FIELDS] = {
    { "event_type", -1 }, { "text", -1 }, { "tool_calls", -1 }, { "citations", -1 }, { "finish_reason", -1 }, { "meta", -1 }, { "response", -1 },
    { "meta", AGENTI_C1_RESPONSE }, { "message", -1 }, { "error", -1 }
};
static int agenti_c1_calls(agenti_decoder *d, agent_str list)                  /* they have no ids                      */
{
    agent_str call;
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &call)) {
        if (!agenti_is_object(call)) continue;
        if (d->lane_n >= d->call_limit) return agenti_too_many(d);
        if (!agenti_co_call_new(d, agenti_str(NULL, 0), agent_json_get(call, "name"), 0, 0)) return 0;
        if (!agenti_co_args(d, &d->lanes[d->lane_n - 1], agent_json_get(call, "parameters"))) return 0;
    }
    return 1;
}
/* The text that comes with calls is a plan; once it was streamed, the event with the calls repeats it. The last event repeats all. */
static int agenti_c1_text(agenti_decoder *d, const agent_str *f)
{
    int chunk = agent_json_is(f[AGENTI_C1_TYPE], "tool-calls-chunk"), calls = agenti_is_array(f[AGENTI_C1_CALLS]) && f[AGENTI_C1_CALLS].n > 2;
    if (!chunk && !calls) return agenti_co_add(d, AGENTI_OP_TEXT, f[AGENTI_C1_TEXT], 0);
    if (!chunk && d->sourced == AGENTI_CO_PLAN) return 1;
    return agenti_co_add(d, AGENTI_OP_REASONING, f[AGENTI_C1_TEXT], AGENTI_CO_PLAN);
}
static AGENTI_NOINLINE int agenti_c1_object(agenti_decoder *d, agent_str json, int *known)
{
    agent_str f[AGENTI_C1_FIELDS], item;
    size_t pos = 0;
    agenti_json_pick(json, agenti_c1_rows, AGENTI_C1_FIELDS, f);
    *known = f[AGENTI_C1_TYPE].n || agenti_is_string(f[AGENTI_C1_TEXT]) || agenti_is_string(f[AGENTI_C1_FINISH]);
    if ((f[AGENTI_C1_ERROR].n && !agenti_eq(f[AGENTI_C1_ERROR], "null")) || (!*known && agenti_is_string(f[AGENTI_C1_MESSAGE]))) {
        *known = 1;
        agenti_fault_object(d, json, 0);
        return 1;
    }
    if (!agenti_c1_text(d, f) || !agenti_c1_calls(d, f[AGENTI_C1_CALLS])) return 0;
    while (agenti_is_array(f[AGENTI_C1_CITATIONS]) && agent_json_each(f[AGENTI_C1_CITATIONS], &pos, NULL, &item))
        if (!agenti_co_cite(d, item)) return 0;
    agenti_co_usage(d, f[AGENTI_C1_META]);
    agenti_co_usage(d, f[AGENTI_C1_RESPONSE_META]);
    if (agent_json_is(f[AGENTI_C1_TYPE], "stream-end")) d->done = 1;
    return agenti_co_finish(d, f[AGENTI_C1_FINISH]);
}
static int agenti_c1_event(agenti_decoder *d, agent_str event, agent_str data)
{
    int known, rc = agenti_co_payload(d, &data);
    (void)event;
    return rc <= 0 ? rc == 0 : agenti_c1_object(d, data, &known);
}
static int agenti_c1_whole(agenti_decoder *d, agent_str body)
{
    int known = 0;
    if (agenti_is_object(body) && !agenti_c1_object(d, body, &known)) return 0;
    d->done = 1;
    if (!known) agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr(AGENTI_WHY("the answer is none of Cohere's")));
    return 1;
}

/* ---- requests ---- */
static void agenti_co_thinking_out(agenti_buf *b, const agenti_request *r)
{
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]), effort = agenti_text_view(&r->options[AGENTI_OPT_EFFORT]);
    if (budget.n == 0 && effort.n) budget = agenti_cstr(agenti_eq(effort, "off") || agenti_eq(effort, "none") ? "0" : "adaptive");     /* on or off */
    if (budget.n == 0 || agenti_replaced(r, "thinking")) return;
    agenti_buf_str(b, ",\"thinking\":{\"type\":");
    agenti_buf_str(b, agenti_eq(budget, "0") ? "\"disabled\"" : "\"enabled\"");
    if (!agenti_eq(budget, "0") && !agenti_eq(budget, "adaptive")) agenti_json_member(b, "token_budget", budget);
    agenti_buf_str(b, "}");
}
static void agenti_co_format_out(agenti_buf *b, const agenti_request *r)
{
    size_t i;
    uint32_t strict = 0;
    for (i = 0; i < r->tool_count; i++) strict |= r->tools[i].flags & AGENT_TF_STRICT;
    if (strict && !agenti_replaced(r, "strict_tools")) agenti_json_member(b, "strict_tools", agenti_cstr("true"));       /* one for all */
    if (r->options[AGENTI_OPT_FORMAT].n == 0 || agenti_replaced(r, "response_format")) return;
    agenti_buf_str(b, ",\"response_format\":{\"type\":\"json_object\"");
    if (agenti_format_schema(r).n) agenti_json_member(b, "json_schema", agenti_format_schema(r));
    agenti_buf_str(b, "}");
}
/* A call can be forced or forbidden. A certain tool can only be forced if it is the only one.                           */
static const char *agenti_co_choice(const agenti_request *r)                   /* "": none was made; NULL: it cannot be told */
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    if (r->tools_off || agenti_eq(choice, "none")) return "NONE";
    if (choice.n == 0 || agenti_eq(choice, "auto")) return "";
    return agenti_eq(choice, "required") || r->tool_count == 1 ? "REQUIRED" : NULL;
}
static void agenti_co_head(agenti_buf *b, agenti_request *r)
{
    if (agenti_co_choice(r) == NULL) r->left_out |= AGENTI_BIT(AGENTI_OPT_TOOL_CHOICE);
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "model")) agenti_json_member_str(b, "model", agenti_text_view(&r->options[AGENTI_OPT_MODEL]));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    agenti_option_out(b, r, "max_tokens", AGENTI_OPT_MAX_TOKENS);
    agenti_option_out(b, r, "temperature", AGENTI_OPT_TEMPERATURE);
    agenti_option_out(b, r, "p", AGENTI_OPT_TOP_P);
    agenti_option_out(b, r, "k", AGENTI_OPT_TOP_K);
    agenti_option_out(b, r, "seed", AGENTI_OPT_SEED);
    agenti_option_out(b, r, "frequency_penalty", AGENTI_OPT_FREQUENCY);
    agenti_option_out(b, r, "presence_penalty", AGENTI_OPT_PRESENCE);
    agenti_stops_out(b, r, "stop_sequences");
    agenti_co_thinking_out(b, r);
    agenti_co_format_out(b, r);
    agenti_buf_str(b, ",\"messages\":[");
}
static void agenti_co_open(agenti_buf *b, agenti_request *r, const char *role)
{
    agenti_buf_str(b, r->state ? ",{" : "{");
    r->state = 1;
    agenti_json_member_str(b, "role", agenti_cstr(role));
}
static void agenti_co_system(agenti_buf *b, agenti_request *r, agent_str text)
{
    agenti_co_open(b, r, "system");
    agenti_json_member_str(b, "content", text);
    agenti_buf_str(b, "}");
}
/* Texts, plain text, and images by data or by URL.                                                                     */
static void agenti_co_user_part(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    agenti_json_comma(b);
    agenti_buf_str(b, "{\"type\":");
    if (p->kind == AGENT_PART_IMAGE) {
        agenti_buf_str(b, "\"image_url\",\"image_url\":{\"url\":");
        agenti_data_url_out(b, p);
        agenti_buf_str(b, "}");
    } else {
        agenti_buf_str(b, "\"text\",\"text\":");
        if (p->text.n && !(p->flags & AGENT_PART_BASE64)) agenti_json_quote_to(b, agenti_text_view(&p->text));
        else agenti_media_left_out(b, r, p);
    }
    agenti_buf_str(b, "}");
}
static void agenti_co_user_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i;
    agenti_co_open(b, r, "user");
    if (m->n == 1 && m->parts[0].kind == AGENT_PART_TEXT) agenti_json_member_str(b, "content", agenti_text_view(&m->parts[0].text));
    else {
        agenti_buf_str(b, ",\"content\":[");
        for (i = 0; i < m->n; i++) agenti_co_user_part(b, r, &m->parts[i]);
        agenti_buf_str(b, "]");
    }
    agenti_buf_str(b, "}");
}
/* What a part of the model is in a request: a block of `content`, a plan, a call, or nothing.                           */
enum { AGENTI_CM_NONE, AGENTI_CM_BLOCK, AGENTI_CM_PLAN, AGENTI_CM_CALL, AGENTI_CM_COUNT };
static int agenti_co_part_is(const agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    if (p->kind == AGENT_PART_CALL) return AGENTI_CM_CALL;
    if (p->text.n == 0) return AGENTI_CM_NONE;
    if (p->kind == AGENT_PART_TEXT) return AGENTI_CM_BLOCK;
    if (p->kind != AGENT_PART_REASONING || m->model != r->model) return AGENTI_CM_NONE;
    return agenti_eq(agenti_text_view(&p->data), agenti_co_plan) ? AGENTI_CM_PLAN : AGENTI_CM_BLOCK;
}
static void agenti_co_model_part(agenti_buf *b, const agenti_part *p)
{
    int usable = p->text.n && !(p->flags & AGENT_PART_INVALID), thought = p->kind == AGENT_PART_REASONING;
    agenti_json_comma(b);
    if (p->kind != AGENT_PART_CALL) {
        agenti_buf_str(b, thought ? "{\"type\":\"thinking\"" : "{\"type\":\"text\"");
        agenti_json_member_str(b, thought ? "thinking" : "text", agenti_text_view(&p->text));
        agenti_buf_str(b, "}");
        return;
    }
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "id", agenti_wire_id(p));
    agenti_buf_str(b, ",\"type\":\"function\",\"function\":{");
    agenti_tool_name_out(b, agenti_text_view(&p->name));
    agenti_json_member_str(b, "arguments", usable ? agenti_text_view(&p->text) : agenti_cstr("{}"));
    agenti_buf_str(b, "}}");
}
/* The parts of one kind, as a list, a plan as a string.                                                                */
static void agenti_co_parts_out(agenti_buf *b, const agenti_request *r, const agenti_msg *m, const char *key, int kind)
{
    uint32_t i;
    agenti_json_key(b, key);
    agenti_buf_str(b, kind == AGENTI_CM_PLAN ? "\"\"" : "[");
    for (i = 0; i < m->n; i++) {
        if (agenti_co_part_is(r, m, &m->parts[i]) != kind) continue;
        if (kind == AGENTI_CM_PLAN) agenti_json_quote_more(b, agenti_text_view(&m->parts[i].text));
        else agenti_co_model_part(b, &m->parts[i]);
    }
    if (kind != AGENTI_CM_PLAN) agenti_buf_str(b, "]");
}
static void agenti_co_model_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, has[AGENTI_CM_COUNT] = { 0, 0, 0, 0 };
    for (i = 0; i < m->n; i++) {
        has[agenti_co_part_is(r, m, &m->parts[i])]++;
        if (m->parts[i].kind == AGENT_PART_REASONING && m->model != r->model) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING);
    }
    if (has[AGENTI_CM_BLOCK] + has[AGENTI_CM_CALL] == 0) return;
    agenti_co_open(b, r, "assistant");
    if (has[AGENTI_CM_BLOCK]) agenti_co_parts_out(b, r, m, "content", AGENTI_CM_BLOCK);
    if (has[AGENTI_CM_PLAN] && has[AGENTI_CM_CALL]) agenti_co_parts_out(b, r, m, "tool_plan", AGENTI_CM_PLAN);
    if (has[AGENTI_CM_CALL]) agenti_co_parts_out(b, r, m, "tool_calls", AGENTI_CM_CALL);
    agenti_buf_str(b, "}");
}
static void agenti_co_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i;
    if (m->role == AGENT_MODEL) agenti_co_model_msg(b, r, m);
    else if (m->role == AGENT_USER) agenti_co_user_msg(b, r, m);
    else for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        agenti_co_open(b, r, "tool");
        agenti_json_member_str(b, "tool_call_id", agenti_wire_id(p));
        agenti_json_member_str(b, "content", p->text.n ? agenti_text_view(&p->text) : agenti_cstr("(no output)"));
        agenti_buf_str(b, "}");
    }
}
static void agenti_co_tail(agenti_buf *b, const agenti_request *r)
{
    const char *choice = agenti_co_choice(r);
    if (r->note) {
        agenti_buf_str(b, ",{\"role\":\"user\"");
        agenti_json_member_str(b, "content", agenti_cstr(r->note));
        agenti_buf_str(b, "}");
    }
    agenti_buf_str(b, "]");
    if ((r->tool_count == 0 && !agenti_replaced(r, "tools")) || choice == NULL || *choice == 0) return;
    if (r->tools_off || (!agenti_replaced(r, "tool_choice") && (!r->choice_off || *choice == 'N')))
        agenti_json_member_str(b, "tool_choice", agenti_cstr(choice));
}
/* Only texts are cut: a block, a plan. Arguments are not, since "null" is none; nor what citations quote.               */
static const char *const agenti_co_parts[] = { "text", "thinking", "tool_plan", NULL };
static const char *const agenti_co_routing[] = { "type", "index", NULL };
static const char *const agenti_co_owner[] = { "type", NULL };
static const char *const agenti_co_held[] = { "tool_calls", "citations", NULL };
static const char *const agenti_co_none[] = { NULL };
static const agenti_wire agenti_cohere_wire = {
    "cohere-v2", "/chat", NULL, AGENTI_FRAMING_SSE, NULL, NULL, AGENTI_BIT(AGENTI_OPT_PARALLEL) | AGENTI_BIT(AGENTI_OPT_TIER)
        | AGENTI_BIT(AGENTI_OPT_CACHE_KEY) | AGENTI_BIT(AGENTI_OPT_USER),
    agenti_co_head, agenti_co_system, agenti_co_message_out, agenti_co_tail, agenti_functions_out, agenti_extra_out,
    agenti_co_event, agenti_co_whole, NULL,
    { agenti_co_parts, agenti_co_routing, agenti_co_owner, 0, agenti_co_held }, { agenti_co_parts, agenti_co_routing, agenti_co_owner, 0, agenti_co_held },
    NULL, NULL
};
static const agenti_wire agenti_cohere_v1_wire = {
    "cohere-v1", "/chat", NULL, AGENTI_FRAMING_LINES, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, agenti_c1_event, agenti_c1_whole, NULL,
    { agenti_co_none, agenti_co_none, agenti_co_none, 0, agenti_co_none }, { agenti_co_none, agenti_co_none, agenti_co_none, 0, agenti_co_none },
    NULL, NULL
};
AGENTI_FN const agenti_wire *agenti_cohere(void) { return &agenti_cohere_wire; }
AGENTI_FN const agenti_wire *agenti_cohere_v1(void) { return &agenti_cohere_v1_wire; }
#endif
#endif
