/* OpenAI responses and what speaks it: https://platform.openai.com/docs/api-reference/responses and /responses-streaming
 * An answer is a list of items. Open ones are told apart by output_index; the event that ends an item has it whole, and so has the last
 * event all of them. Items that only the provider understands, and thoughts, go back as they came. */
#ifndef AGENT_NO_OPENAI_RESPONSES
AGENTI_FN const agenti_wire *agenti_openai_responses(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_OPENAI_RESPONSES
/* ---- answers ---- */
/* agenti_lane.kind. A lane is an open item. id: its id as JSON. more: a message's phase as JSON, or the arguments that a call began with.
 * key 0: no part of it is open. named: text was shown; of a call, id and name are known. whole: it is being read from an event in pieces.
 * cited: its sources were shown; of a call, arguments were. sub: the open part, 2 * its index, + 1: a refusal, or raw thoughts; of a call,
 * 1: pieces of its arguments are encrypted. */
enum { AGENTI_RL_MESSAGE = 1, AGENTI_RL_REASONING, AGENTI_RL_CALL, AGENTI_RL_CUSTOM,
       AGENTI_RL_WRAPPER,                     /* several calls in one: nothing is shown before its end                  */
       AGENTI_RL_SEARCH,                      /* a call that the provider runs and whose result has no id; id: its own  */
       AGENTI_RL_PIECES };                    /* an item that is cut inside of its member `result`; more: what has come */
enum { AGENTI_RS_STREAMED = 1, AGENTI_RS_REFUSED = 2 };      /* agenti_decoder.sourced: an item ended in an event of its own */
enum { AGENTI_RE_TYPE, AGENTI_RE_INDEX, AGENTI_RE_ITEM_ID, AGENTI_RE_CONTENT, AGENTI_RE_SUMMARY, AGENTI_RE_DELTA, AGENTI_RE_TEXT,
       AGENTI_RE_REFUSAL, AGENTI_RE_ARGUMENTS, AGENTI_RE_INPUT, AGENTI_RE_ITEM, AGENTI_RE_RESPONSE, AGENTI_RE_ANNOTATION, AGENTI_RE_ERROR,
       AGENTI_RE_OBJECT, AGENTI_RE_OUTPUT, AGENTI_RE_CHOICES, AGENTI_RE_FIELDS };
static const agenti_field agenti_rs_event_fields[AGENTI_RE_FIELDS] = {
    { "type", -1 }, { "output_index", -1 }, { "item_id", -1 }, { "content_index", -1 }, { "summary_index", -1 }, { "delta", -1 }, { "text", -1 },
    { "refusal", -1 }, { "arguments", -1 }, { "input", -1 }, { "item", -1 }, { "response", -1 }, { "annotation", -1 }, { "error", -1 },
    { "object", -1 }, { "output", -1 }, { "choices", -1 }
};
enum { AGENTI_RI_TYPE, AGENTI_RI_ID, AGENTI_RI_CALL_ID, AGENTI_RI_NAME, AGENTI_RI_NAMESPACE, AGENTI_RI_CALLER, AGENTI_RI_ARGUMENTS,
       AGENTI_RI_INPUT, AGENTI_RI_CONTENT, AGENTI_RI_SUMMARY, AGENTI_RI_ENCRYPTED, AGENTI_RI_PHASE, AGENTI_RI_FIELDS };
static const agenti_field agenti_rs_item_fields[AGENTI_RI_FIELDS] = {
    { "type", -1 }, { "id", -1 }, { "call_id", -1 }, { "name", -1 }, { "namespace", -1 }, { "caller", -1 }, { "arguments", -1 },
    { "input", -1 }, { "content", -1 }, { "summary", -1 }, { "encrypted_content", -1 }, { "phase", -1 }
};
enum { AGENTI_RR_ID, AGENTI_RR_MODEL, AGENTI_RR_STATUS, AGENTI_RR_ERROR, AGENTI_RR_DETAILS, AGENTI_RR_REASON, AGENTI_RR_USAGE, AGENTI_RR_OUTPUT,
       AGENTI_RR_OBJECT, AGENTI_RR_FIELDS };
static const agenti_field agenti_rs_response_fields[AGENTI_RR_FIELDS] = {
    { "id", -1 }, { "model", -1 }, { "status", -1 }, { "error", -1 }, { "incomplete_details", -1 }, { "reason", AGENTI_RR_DETAILS },
    { "usage", -1 }, { "output", -1 }, { "object", -1 }
};
/* What an event is. PIECE: its member is more of an item; DONE: the member is all of what such pieces gave.             */
enum { AGENTI_RA_PIECE = 1, AGENTI_RA_DONE, AGENTI_RA_ADDED, AGENTI_RA_ITEM, AGENTI_RA_CITE, AGENTI_RA_OVER, AGENTI_RA_ERROR };
typedef struct agenti_rs_event_row { const char *type; uint8_t act, lane, odd, member; } agenti_rs_event_row;
static const agenti_rs_event_row agenti_rs_events[] = {
    { "response.output_text.delta", AGENTI_RA_PIECE, AGENTI_RL_MESSAGE, 0, AGENTI_RE_DELTA },
    { "response.reasoning_summary_text.delta", AGENTI_RA_PIECE, AGENTI_RL_REASONING, 0, AGENTI_RE_DELTA },
    { "response.reasoning_text.delta", AGENTI_RA_PIECE, AGENTI_RL_REASONING, 1, AGENTI_RE_DELTA },
    { "response.function_call_arguments.delta", AGENTI_RA_PIECE, AGENTI_RL_CALL, 0, AGENTI_RE_DELTA },
    { "response.custom_tool_call_input.delta", AGENTI_RA_PIECE, AGENTI_RL_CUSTOM, 0, AGENTI_RE_DELTA },
    { "response.refusal.delta", AGENTI_RA_PIECE, AGENTI_RL_MESSAGE, 1, AGENTI_RE_DELTA },
    { "response.output_text.done", AGENTI_RA_DONE, AGENTI_RL_MESSAGE, 0, AGENTI_RE_TEXT },
    { "response.reasoning_summary_text.done", AGENTI_RA_DONE, AGENTI_RL_REASONING, 0, AGENTI_RE_TEXT },
    { "response.reasoning_text.done", AGENTI_RA_DONE, AGENTI_RL_REASONING, 1, AGENTI_RE_TEXT },
    { "response.function_call_arguments.done", AGENTI_RA_DONE, AGENTI_RL_CALL, 0, AGENTI_RE_ARGUMENTS },
    { "response.custom_tool_call_input.done", AGENTI_RA_DONE, AGENTI_RL_CUSTOM, 0, AGENTI_RE_INPUT },
    { "response.refusal.done", AGENTI_RA_DONE, AGENTI_RL_MESSAGE, 1, AGENTI_RE_REFUSAL },
    { "response.output_item.added", AGENTI_RA_ADDED, 0, 0, 0 },
    { "response.output_item.done", AGENTI_RA_ITEM, 0, 0, 0 },
    { "response.output_text.annotation.added", AGENTI_RA_CITE, AGENTI_RL_MESSAGE, 0, 0 },
    { "response.completed", AGENTI_RA_OVER, 0, 0, 0 },
    { "response.incomplete", AGENTI_RA_OVER, 0, 0, 0 },
    { "response.failed", AGENTI_RA_OVER, 0, 0, 0 },
    { "response.cancelled", AGENTI_RA_OVER, 0, 0, 0 },
    { "response.done", AGENTI_RA_OVER, 0, 0, 0 },
    { "error", AGENTI_RA_ERROR, 0, 0, 0 }
};
/* Items that stand for tools which the provider defines. Who runs a call: the provider, and then call and result stand in one item
 * (BOTH), or apart (RAN, RESULT); or the host (HOST), whose answer is an item of type `answer`.                         */
enum { AGENTI_RT_BOTH = 1, AGENTI_RT_RAN, AGENTI_RT_RESULT, AGENTI_RT_HOST };
enum { AGENTI_RF_TEXT = 1, AGENTI_RF_STATUS, AGENTI_RF_LIST, AGENTI_RF_OBJECT, AGENTI_RF_TOOLS };      /* the form of the host's answer */
typedef struct agenti_rs_tool { const char *type, *name, *input, *result, *answer; uint8_t by, form; } agenti_rs_tool;
static const agenti_rs_tool agenti_rs_tools[] = {
    { "web_search_call", "web_search", "action", "action.sources", NULL, AGENTI_RT_BOTH, 0 },
    { "file_search_call", "file_search", "queries", "results", NULL, AGENTI_RT_BOTH, 0 },
    { "code_interpreter_call", "code_interpreter", "code", "outputs", NULL, AGENTI_RT_BOTH, 0 },
    { "image_generation_call", "image_generation", "revised_prompt", NULL, NULL, AGENTI_RT_BOTH, 0 },
    { "mcp_call", NULL, "arguments", "output", NULL, AGENTI_RT_BOTH, 0 },
    { "mcp_list_tools", "mcp_list_tools", "server_label", "tools", NULL, AGENTI_RT_BOTH, 0 },
    { "program", "program", "code", NULL, NULL, AGENTI_RT_RAN, 0 },
    { "program_output", "program", NULL, "result", NULL, AGENTI_RT_RESULT, 0 },
    { "shell_call_output", "shell", NULL, "output", NULL, AGENTI_RT_RESULT, 0 },
    { "tool_search_output", "tool_search", NULL, "tools", NULL, AGENTI_RT_RESULT, 0 },
    { "shell_call", "shell", "action", NULL, "shell_call_output", AGENTI_RT_HOST, AGENTI_RF_LIST },
    { "tool_search_call", "tool_search", "arguments", NULL, "tool_search_output", AGENTI_RT_HOST, AGENTI_RF_TOOLS },
    { "local_shell_call", "local_shell", "action", NULL, "local_shell_call_output", AGENTI_RT_HOST, AGENTI_RF_TEXT },
    { "apply_patch_call", "apply_patch", "operation", NULL, "apply_patch_call_output", AGENTI_RT_HOST, AGENTI_RF_STATUS },
    { "computer_call", "computer", "action", NULL, "computer_call_output", AGENTI_RT_HOST, AGENTI_RF_OBJECT },
    { "custom_tool_call", NULL, "input", NULL, "custom_tool_call_output", AGENTI_RT_BOTH, AGENTI_RF_TEXT }
};
static const agenti_rs_tool *agenti_rs_tool_of(agent_str type)                 /* a JSON string                          */
{
    size_t i;
    for (i = 0; i < sizeof agenti_rs_tools / sizeof *agenti_rs_tools; i++)
        if (agent_json_is(type, agenti_rs_tools[i].type)) return &agenti_rs_tools[i];
    return NULL;
}

/* A JSON value of an item that also goes back as it came: strings are decoded in place, so it is copied. 0: no memory   */
static int agenti_rs_copy(agenti_decoder *d, agent_str *v)
{
    char *p;
    if (v->n == 0 || memchr(v->p, '\\', v->n) == NULL) return 1;
    if ((p = agenti_arena_get(&d->arena, v->n)) == NULL) return 0;
    memcpy(p, v->p, v->n);
    AGENTI_TOUCH(v->n);
    v->p = p;
    return 1;
}
static int agenti_rs_op(agenti_decoder *d, int kind, uint32_t key, agent_str text, int flags)
{
    agenti_op *op = agenti_op_add(d, kind, key);
    if (op == NULL) return 0;
    op->a = text;
    op->flags = (uint8_t)flags;
    return 1;
}

/* ---- usage and the end ---- */
static int64_t agenti_rs_count(agent_str v)
{
    int64_t n;
    return v.n && agenti_count(v, &n) ? n : -1;
}
/* Totals replace. Some hosts leave reasoning out of the output, which their total shows (wire-quirks B19).              */
static AGENTI_NOINLINE void agenti_rs_usage(agenti_decoder *d, agent_str usage)
{
    enum { INPUT, OUTPUT, TOTAL, IN_DETAILS, CACHED, WRITTEN, OUT_DETAILS, REASONING, FIELDS };
    static const agenti_field rows[FIELDS] = {
        { "input_tokens", -1 }, { "output_tokens", -1 }, { "total_tokens", -1 }, { "input_tokens_details", -1 }, { "cached_tokens", IN_DETAILS },
        { "cache_write_tokens", IN_DETAILS }, { "output_tokens_details", -1 }, { "reasoning_tokens", OUT_DETAILS }
    };
    agent_str f[FIELDS];
    agent_usage u;
    int64_t total;
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, rows, FIELDS, f);
    u.input = agenti_rs_count(f[INPUT]);
    u.output = agenti_rs_count(f[OUTPUT]);
    u.cached = agenti_rs_count(f[CACHED]);
    u.cache_write = agenti_rs_count(f[WRITTEN]);
    u.reasoning = agenti_rs_count(f[REASONING]);
    total = agenti_rs_count(f[TOTAL]);
    if (u.input >= 0 && u.output >= 0 && u.reasoning > 0 && total >= u.input && total - u.input >= u.output
        && total - u.input - u.output == u.reasoning) u.output += u.reasoning;
    if (u.input < 0 && u.output < 0) return;
    d->usage = u;
    d->has_usage = 1;
}
/* status: completed and the like; reason: why it is incomplete (F11). A response that was cancelled runs no calls.      */
static int agenti_rs_finish(agenti_decoder *d, agent_str status, agent_str reason)
{
    agent_str raw;
    int finish = AGENT_FINISH_OTHER;
    if (!agenti_string_of(d, reason, &raw)) return 0;
    if (!agenti_eq(status, "incomplete") || raw.n == 0) raw = status;
    if (agenti_eq(raw, "completed")) finish = d->sourced & AGENTI_RS_REFUSED ? AGENT_FINISH_FILTER : AGENT_FINISH_STOP;
    else if (agenti_eq(raw, "max_output_tokens")) finish = AGENT_FINISH_LENGTH;
    else if (agenti_eq(raw, "content_filter")) finish = AGENT_FINISH_FILTER;
    else if (agenti_eq(status, "cancelled") && d->call_n) finish = AGENT_FINISH_ERROR;
    agenti_finish_set(d, finish, raw);
    return 1;
}

/* ---- lanes ---- */
static void agenti_rs_forget(agenti_decoder *d, agenti_lane *l)
{
    agenti_lane_free(d, l);
    memmove(l, l + 1, (size_t)(d->lanes + --d->lane_n - l) * sizeof *l);
}
/* The open item that an event is about: by output_index, since ids change within an item (F1), else by id, else the last one. NULL: none */
static agenti_lane *agenti_rs_lane(agenti_decoder *d, agent_str index, agent_str id)
{
    int64_t n;
    uint32_t i;
    if (index.n && agenti_int(index, &n)) {
        for (i = d->lane_n; i-- > 0;) if (d->lanes[i].has_index && d->lanes[i].index == n) return &d->lanes[i];
        return NULL;
    }
    for (i = d->lane_n; i-- > 0;) {
        agenti_lane *l = &d->lanes[i];
        if (l->kind > AGENTI_RL_WRAPPER) continue;
        if (!agenti_nonempty(id) || (l->id.n == id.n && memcmp(l->id.p, id.p, id.n) == 0)) return l;
    }
    return NULL;
}
/* *out NULL: too many are open, which is a fault. 0: no memory                                                          */
static int agenti_rs_begin(agenti_decoder *d, int kind, agent_str index, agent_str id, agenti_lane **out)
{
    agenti_lane *l;
    int64_t n;
    *out = NULL;
    if (d->lane_n >= d->call_limit) return agenti_too_many(d);
    if ((l = agenti_lane_new(d)) == NULL) return 0;
    l->kind = (uint8_t)kind;
    if (index.n && agenti_int(index, &n)) { l->has_index = 1; l->index = n; }
    if (agenti_nonempty(id) && !agenti_text_set(&l->id, d->pool, d->graves, id)) return 0;
    *out = l;
    return 1;
}
static int agenti_rs_half(agenti_decoder *d, agenti_lane *l, int kind)         /* the other half of a pair never came    */
{
    if (l->high == 0) return 1;
    l->high = 0;
    return agenti_rs_op(d, kind, l->key, agenti_cstr("\xEF\xBF\xBD"), 0);
}
/* A part of a message is over; its phase goes back with it (F9).                                                        */
static int agenti_rs_part_end(agenti_decoder *d, agenti_lane *l)
{
    agent_str data;
    agenti_buf b;
    uint32_t key = l->key;
    if (key == 0) return 1;
    if (!agenti_rs_half(d, l, l->kind == AGENTI_RL_REASONING ? AGENTI_OP_REASONING : AGENTI_OP_TEXT)) return 0;
    if (l->kind == AGENTI_RL_MESSAGE && l->more.n) {
        agenti_buf_init(&b, d->pool);
        agenti_buf_str(&b, "{");
        agenti_json_member(&b, "phase", agenti_text_view(&l->more));
        agenti_buf_str(&b, "}");
        if (!agenti_made(d, &b, &data) || !agenti_rs_op(d, AGENTI_OP_DATA, key, data, 0)) return 0;
    }
    l->key = 0;
    return agenti_rs_op(d, AGENTI_OP_END, key, agenti_str(NULL, 0), 0);
}
static int agenti_rs_text(agenti_decoder *d, agenti_lane *l, int64_t sub, agent_str value)
{
    agent_str text;
    int refuses = l->kind == AGENTI_RL_MESSAGE && (sub & 1);
    if (!agenti_nonempty(value)) return 1;
    if (l->key && l->sub != sub && !agenti_rs_part_end(d, l)) return 0;
    if (!agenti_json_string(value, &l->high, &d->arena, &text)) return 0;
    if (l->key == 0) l->key = ++d->streams;
    l->sub = sub;
    l->named = 1;
    if (refuses) d->sourced |= AGENTI_RS_REFUSED;
    return agenti_rs_op(d, l->kind == AGENTI_RL_REASONING ? AGENTI_OP_REASONING : AGENTI_OP_TEXT, l->key, text, refuses ? AGENT_PART_REFUSAL : 0);
}
/* Pages have a URL; of files the provider's id stands for it.                                                           */
static int agenti_rs_cite(agenti_decoder *d, agent_str annotation)
{
    agent_str url = agent_json_get(annotation, "url"), title = agent_json_get(annotation, "title");
    if (!agenti_nonempty(url)) url = agent_json_get(annotation, "file_id");
    if (!agenti_nonempty(title)) title = agent_json_get(annotation, "filename");
    return !agenti_is_object(annotation) || agenti_source_add(d, url, title);
}

/* ---- calls ---- */
static int agenti_rs_wraps(const agent_str *f)
{
    return agent_json_is(f[AGENTI_RI_NAME], "multi_tool_use.parallel") || agent_json_is(f[AGENTI_RI_NAME], "parallel");
}
static int agenti_rs_kind(const agent_str *f)                 /* of an item; 0: one without a lane                       */
{
    agent_str type = f[AGENTI_RI_TYPE];
    if (agent_json_is(type, "message")) return AGENTI_RL_MESSAGE;
    if (agent_json_is(type, "reasoning")) return AGENTI_RL_REASONING;
    if (agent_json_is(type, "function_call")) return agenti_rs_wraps(f) ? AGENTI_RL_WRAPPER : AGENTI_RL_CALL;
    if (!agent_json_is(type, "custom_tool_call")) return 0;
    /* xAI's search is a custom tool in its answers, and it runs it itself                                               */
    return f[AGENTI_RI_CALL_ID].n > 9 && memcmp(f[AGENTI_RI_CALL_ID].p, "\"xs_call_", 9) == 0 ? 0 : AGENTI_RL_CUSTOM;
}
/* CALL, or NAME of one whose arguments came before. call_id links it to its result, the item's own id does not (D9).    */
static int agenti_rs_call_named(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    agenti_op *op;
    agent_str id, name;
    if (l->named) return 1;
    if (!agenti_string_of(d, f[agenti_nonempty(f[AGENTI_RI_CALL_ID]) ? AGENTI_RI_CALL_ID : AGENTI_RI_ID], &id)) return 0;
    if (!agenti_string_of(d, f[AGENTI_RI_NAME], &name)) return 0;
    l->named = name.n > 0;
    if ((op = agenti_op_add(d, l->key ? AGENTI_OP_NAME : AGENTI_OP_CALL, l->key ? l->key : d->streams + 1)) == NULL) return 0;
    if (l->key == 0) l->key = ++d->streams;
    l->call = 1;
    op->a = id;
    op->b = name;
    return 1;
}
/* A custom tool's input is text; for the host it is {"input": text}. Its pieces stay escaped, as they are in JSON.      */
static int agenti_rs_custom_piece(agenti_decoder *d, agenti_lane *l, agent_str value)
{
    agenti_buf b;
    agent_str text;
    if (!agenti_nonempty(value)) return 1;
    if (!agenti_raw_of(d, value, &value)) return 0;
    agenti_buf_init(&b, d->pool);
    if (!l->cited) agenti_buf_str(&b, "{\"input\":\"");
    agenti_buf_add(&b, value.p + 1, value.n - 2);
    l->cited = 1;
    return agenti_made(d, &b, &text) && agenti_rs_op(d, AGENTI_OP_ARGS, l->key, text, 0);
}
static int agenti_rs_args_piece(agenti_decoder *d, agenti_lane *l, agent_str value)
{
    agent_str text;
    if (value.n == 0 || agenti_eq(value, "null") || agenti_eq(value, "\"\"")) return 1;
    if (agenti_is_string(value) ? !agenti_json_string(value, &l->high, &d->arena, &text) : !agenti_raw_of(d, value, &text)) return 0;
    l->cited = 1;
    return agenti_rs_op(d, AGENTI_OP_ARGS, l->key, text, 0);
}
/* What a call began with counts if nothing else comes; what comes may go on from it, but not from what is complete (F4). */
static int agenti_rs_seed(agenti_decoder *d, agenti_lane *l, int all)
{
    agent_str seed = agenti_text_view(&l->more), text;
    char *p;
    if (seed.n == 0) return 1;
    if ((p = agenti_arena_get(&d->arena, seed.n)) == NULL) return 0;
    memcpy(p, seed.p, seed.n);
    seed.p = p;
    agenti_text_free(&l->more, d->graves);
    if (!agenti_string_of(d, seed, &text)) return 0;
    if (!all && agent_json_check(text.p, text.n, d->depth_limit, NULL) == AGENT_OK) return 1;
    return l->kind == AGENTI_RL_CUSTOM ? agenti_rs_custom_piece(d, l, seed) : agenti_rs_args_piece(d, l, seed);
}
/* Copilot encrypts the pieces of arguments, not their end (F2).                                                         */
static int agenti_rs_encrypted(agenti_lane *l, agent_str value)
{
    agent_str inner = agenti_trim(agenti_str(value.p + 1, value.n - 2));
    if (!l->cited && l->more.n == 0 && l->kind == AGENTI_RL_CALL && inner.n && inner.p[0] != '{' && inner.p[0] != '\\') l->sub = 1;
    return l->sub == 1;
}
static int agenti_rs_call_piece(agenti_decoder *d, agenti_lane *l, agent_str value)
{
    if (!agenti_nonempty(value)) return 1;
    if (agenti_rs_encrypted(l, value)) return l->more.n || agenti_text_set(&l->more, d->pool, d->graves, value);
    if (!agenti_rs_seed(d, l, 0)) return 0;
    return l->kind == AGENTI_RL_CUSTOM ? agenti_rs_custom_piece(d, l, value) : agenti_rs_args_piece(d, l, value);
}
/* All of the arguments: what pieces have not given of them is new.                                                      */
static int agenti_rs_call_all(agenti_decoder *d, agenti_lane *l, agent_str value)
{
    agent_str text = value;
    agenti_buf b;
    if (value.n == 0 || agenti_eq(value, "null") || agenti_eq(value, "\"\"")) return 1;
    if (l->kind == AGENTI_RL_CUSTOM && l->cited) return 1;   /* escaped in another way it would be another text         */
    if (l->kind == AGENTI_RL_CUSTOM) {
        if (!agenti_raw_of(d, value, &value)) return 0;
        agenti_buf_init(&b, d->pool);
        agenti_buf_str(&b, "{");
        agenti_json_member(&b, "input", value);
        agenti_buf_str(&b, "}");
        if (!agenti_made(d, &b, &text)) return 0;
    } else if (agenti_is_string(value) ? !agenti_string_of(d, value, &text) : !agenti_raw_of(d, value, &text)) return 0;
    l->high = 0;
    l->whole = 1;
    l->cited = 1;
    agenti_text_free(&l->more, d->graves);
    return agenti_rs_op(d, AGENTI_OP_ARGS, l->key, text, AGENTI_ARGS_WHOLE);
}
/* What of a call has no other place, as an object: the item's id, and who called it.                                    */
static int agenti_rs_call_data(agenti_decoder *d, const agenti_lane *l, const agent_str *f)
{
    static const uint8_t kept[] = { AGENTI_RI_ID, AGENTI_RI_NAMESPACE, AGENTI_RI_CALLER };
    agenti_buf b;
    agent_str data;
    size_t i;
    agenti_buf_init(&b, d->pool);
    agenti_buf_str(&b, l->kind == AGENTI_RL_CUSTOM ? "{\"type\":\"custom_tool_call\"" : "{");
    for (i = 0; i < sizeof kept; i++)
        if (f[kept[i]].n && !agenti_eq(f[kept[i]], "null")) agenti_json_member(&b, agenti_rs_item_fields[kept[i]].key, f[kept[i]]);
    agenti_buf_str(&b, "}");
    return agenti_made(d, &b, &data) && (data.n == 2 || agenti_rs_op(d, AGENTI_OP_DATA, l->key, data, AGENTI_DATA_CALL));
}
static int agenti_rs_wrapper_end(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    agent_str text, id;
    int rc;
    if (!agenti_string_of(d, f[AGENTI_RI_CALL_ID], &id) || !agenti_string_of(d, f[AGENTI_RI_ARGUMENTS], &text)) return 0;
    rc = id.n ? agenti_wrapper_calls(d, id, text) : -1;
    if (rc >= 0) return rc;
    l->kind = AGENTI_RL_CALL;                                /* a call like any other                                   */
    return agenti_rs_call_named(d, l, f) && agenti_rs_call_all(d, l, f[AGENTI_RI_ARGUMENTS]) && agenti_rs_call_data(d, l, f);
}
static int agenti_rs_call_end(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    if (l->kind == AGENTI_RL_WRAPPER) return agenti_rs_wrapper_end(d, l, f);
    return agenti_rs_call_named(d, l, f) && agenti_rs_call_all(d, l, f[l->kind == AGENTI_RL_CUSTOM ? AGENTI_RI_INPUT : AGENTI_RI_ARGUMENTS])
        && agenti_rs_call_data(d, l, f);
}
/* An item is over, with an event of its own or without.                                                                 */
static int agenti_rs_close(agenti_decoder *d, agenti_lane *l)
{
    int ok = 1;
    if (l->kind == AGENTI_RL_MESSAGE || l->kind == AGENTI_RL_REASONING) ok = agenti_rs_part_end(d, l);
    else if (l->call && !l->cited) ok = agenti_rs_seed(d, l, 1);
    if (ok && l->call) ok = agenti_rs_half(d, l, AGENTI_OP_ARGS);
    if (ok && l->kind == AGENTI_RL_CUSTOM && l->cited && !l->whole) ok = agenti_rs_op(d, AGENTI_OP_ARGS, l->key, agenti_cstr("\"}"), 0);
    agenti_rs_forget(d, l);
    return ok;
}

/* ---- items that are whole ---- */
/* The parts of a message. Where a long one comes in pieces, the first part goes on in the open one.                     */
static int agenti_rs_content(agenti_decoder *d, agenti_lane *l, agent_str list, int shows)
{
    int64_t sub = l->whole ? l->sub & ~(int64_t)1 : 0;
    int cites = !l->cited;
    agent_str part, item;
    size_t pos = 0, at;
    for (; agenti_is_array(list) && agent_json_each(list, &pos, NULL, &part); sub += 2) {
        agent_str notes = agent_json_get(part, "annotations");
        int refuses = agent_json_is(agent_json_get(part, "type"), "refusal");
        if (!agenti_is_object(part)) continue;
        for (at = 0; cites && agenti_is_array(notes) && agent_json_each(notes, &at, NULL, &item);) if (!agenti_rs_cite(d, item)) return 0;
        if (shows && !agenti_rs_text(d, l, sub + refuses, agent_json_get(part, refuses ? "refusal" : "text"))) return 0;
    }
    return 1;
}
static int agenti_rs_message(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    if (agenti_nonempty(f[AGENTI_RI_PHASE]) && !agenti_text_set(&l->more, d->pool, d->graves, f[AGENTI_RI_PHASE])) return 0;
    return agenti_rs_content(d, l, f[AGENTI_RI_CONTENT], !l->named || l->whole);
}
static int agenti_rs_thoughts(agenti_decoder *d, agenti_lane *l, agent_str list, int odd)
{
    agent_str part, text;
    int64_t sub = odd;
    size_t pos = 0;
    for (; agenti_is_array(list) && agent_json_each(list, &pos, NULL, &part); sub += 2) {
        text = agent_json_get(part, "text");
        if (!agenti_rs_copy(d, &text) || !agenti_rs_text(d, l, sub, text)) return 0;
    }
    return 1;
}
/* The item goes back as it came, if the provider can read it without having stored it: it needs its encrypted contents, or, of open
 * models, the thoughts themselves (D7).                                                                                */
static int agenti_rs_reasoning(agenti_decoder *d, agenti_lane *l, agent_str item, const agent_str *f)
{
    size_t pos = 0;
    agent_str part;
    int stays = agenti_nonempty(f[AGENTI_RI_ENCRYPTED]);
    if (!stays) stays = agenti_is_array(f[AGENTI_RI_CONTENT]) && agent_json_each(f[AGENTI_RI_CONTENT], &pos, NULL, &part);
    if (!l->named && (!agenti_rs_thoughts(d, l, f[AGENTI_RI_SUMMARY], 0) || !agenti_rs_thoughts(d, l, f[AGENTI_RI_CONTENT], 1))) return 0;
    if (!stays) return 1;
    if (l->key == 0) {                        /* there are none to show (F6)                                            */
        l->key = ++d->streams;
        if (!agenti_rs_op(d, AGENTI_OP_REASONING, l->key, agenti_str(NULL, 0), 0)) return 0;
    }
    return agenti_rs_half(d, l, AGENTI_OP_REASONING) && agenti_rs_op(d, AGENTI_OP_DATA, l->key, item, 0);
}
/* The input of a provider's tool as a JSON object. 0: no memory                                                         */
static int agenti_rs_input(agenti_decoder *d, agent_str item, const char *key, agent_str *out)
{
    agent_str v = agent_json_get(item, key);
    agenti_buf b;
    *out = agenti_cstr("{}");
    if (v.n == 0 || agenti_eq(v, "null")) return 1;
    if (agenti_is_object(v)) { *out = v; return 1; }
    if (agenti_is_string(v)) {                               /* it may hold JSON                                        */
        if (!agenti_string_of(d, v, out)) return 0;
        if (agenti_is_object(*out) && agent_json_check(out->p, out->n, d->depth_limit, NULL) == AGENT_OK) return 1;
    }
    agenti_buf_init(&b, d->pool);
    agenti_buf_str(&b, "{");
    agenti_json_member(&b, key, v);
    agenti_buf_str(&b, "}");
    return agenti_made(d, &b, out);
}
/* A tool that the provider defines and the host runs: its input is the call's, and the item goes back as it came.       */
static int agenti_rs_host_call(agenti_decoder *d, const agenti_rs_tool *t, agent_str item, const agent_str *f)
{
    uint32_t key = ++d->streams;
    agent_str input;
    agenti_op *op = agenti_op_add(d, AGENTI_OP_CALL, key);
    if (op == NULL || !agenti_string_of(d, f[agenti_nonempty(f[AGENTI_RI_CALL_ID]) ? AGENTI_RI_CALL_ID : AGENTI_RI_ID], &op->a)) return 0;
    op->b = agenti_cstr(t->name);
    return agenti_rs_input(d, item, t->input, &input) && agenti_rs_op(d, AGENTI_OP_ARGS, key, input, 0)
        && agenti_rs_op(d, AGENTI_OP_DATA, key, item, AGENTI_DATA_CALL);
}
static int agenti_rs_image(agenti_decoder *d, agent_str item)
{
    agent_str v, format = agent_json_get(item, "output_format");
    uint32_t key = ++d->streams;
    agenti_op *op;
    if (!agenti_string_of(d, agent_json_get(item, "result"), &v)) return 0;
    if (v.n == 0 || !agenti_base64_ok(v)) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_MIME, key)) == NULL) return 0;
    op->a = agenti_cstr(agent_json_is(format, "webp") ? "image/webp" : agent_json_is(format, "jpeg") ? "image/jpeg" : "image/png");
    op->flags = AGENT_PART_IMAGE;
    return agenti_rs_op(d, AGENTI_OP_FILE, key, v, 0) && agenti_rs_op(d, AGENTI_OP_END, key, agenti_str(NULL, 0), 0);
}
/* The id that a result names, or that of the search before it.                                                          */
static int agenti_rs_result_id(agenti_decoder *d, const agent_str *f, agent_str *out)
{
    agent_str id = f[AGENTI_RI_CALL_ID];
    uint32_t i;
    if (!agenti_nonempty(id)) id = f[AGENTI_RI_ID];
    if (agenti_nonempty(f[AGENTI_RI_CALL_ID]) || !agent_json_is(f[AGENTI_RI_TYPE], "tool_search_output")) return agenti_string_of(d, id, out);
    for (i = 0; i < d->lane_n && d->lanes[i].kind != AGENTI_RL_SEARCH; i++) {}
    if (i < d->lane_n) {
        char *p = agenti_arena_get(&d->arena, d->lanes[i].id.n);
        if (p == NULL) return 0;
        id = agenti_str(p, d->lanes[i].id.n);
        memcpy(p, d->lanes[i].id.p, id.n);
        agenti_rs_forget(d, &d->lanes[i]);
    }
    return agenti_string_of(d, id, out);
}
static int agenti_rs_result(agenti_decoder *d, const agenti_rs_tool *t, agent_str item, agent_str id)
{
    agent_str error = agent_json_get(item, "error"), c = t->result ? agent_json_get(item, t->result) : agenti_str(NULL, 0);
    int failed = agent_json_is(agent_json_get(item, "status"), "failed") || (error.n && !agenti_eq(error, "null"));
    agenti_op *op = agenti_op_add(d, AGENTI_OP_RESULT, 0);
    if (op == NULL) return 0;
    op->a = id;
    if (error.n && !agenti_eq(error, "null")) c = error;
    op->c = agenti_str(c.p, agenti_eq(c, "null") ? 0 : c.n);
    op->flags = failed ? AGENT_PART_ERROR : 0;
    return 1;
}
static int agenti_rs_ran(agenti_decoder *d, const agenti_rs_tool *t, int by, agent_str item, const agent_str *f, agent_str *id)
{
    agenti_op *op = agenti_op_add(d, AGENTI_OP_RAN, 0);
    int named = agenti_nonempty(f[AGENTI_RI_CALL_ID]);
    agenti_lane *l;
    if (op == NULL || !agenti_string_of(d, f[named ? AGENTI_RI_CALL_ID : AGENTI_RI_ID], id)) return 0;
    op->a = *id;
    op->b = agenti_cstr(t->name);
    if (t->name == NULL && !agenti_string_of(d, f[AGENTI_RI_NAME], &op->b)) return 0;
    if (!agenti_rs_input(d, item, t->input, &op->c)) return 0;
    return named || by == AGENTI_RT_BOTH || agenti_rs_begin(d, AGENTI_RL_SEARCH, agenti_str(NULL, 0), f[AGENTI_RI_ID], &l);
}

static int agenti_rs_by(const agenti_rs_tool *t, agent_str item)                /* who runs the call of an item          */
{
    if (t->by != AGENTI_RT_HOST) return t->by;
    if (agent_json_is(agent_json_get(item, "execution"), "server")) return AGENTI_RT_RAN;
    return agent_json_is(agent_json_get(item, "environment.type"), "container_reference") ? AGENTI_RT_RAN : AGENTI_RT_HOST;
}
/* An item that goes back as it came, and what it is to the host.                                                        */
static int agenti_rs_other(agenti_decoder *d, agent_str item, const agent_str *f)
{
    const agenti_rs_tool *t = agenti_rs_tool_of(f[AGENTI_RI_TYPE]);
    int by = t ? agenti_rs_by(t, item) : 0;
    agent_str id;
    agenti_op *op;
    if (by == AGENTI_RT_HOST) return agenti_rs_host_call(d, t, item, f);
    if ((op = agenti_op_add(d, AGENTI_OP_RAW, 0)) == NULL || !agenti_string_of(d, f[AGENTI_RI_TYPE], &op->b)) return 0;
    op->a = item;
    if (t == NULL) return 1;
    op->flags = AGENTI_RAW_QUIET;
    if (by == AGENTI_RT_RESULT) return agenti_rs_result_id(d, f, &id) && agenti_rs_result(d, t, item, id);
    if (!agenti_rs_ran(d, t, by, item, f, &id)) return 0;
    if (by == AGENTI_RT_BOTH && !agenti_rs_result(d, t, item, id)) return 0;
    return !agent_json_is(f[AGENTI_RI_TYPE], "image_generation_call") || agenti_rs_image(d, item);
}
/* An item that is whole: what is new in it beside what events before showed. goes_on: a piece of it is still to come.   */
static AGENTI_NOINLINE int agenti_rs_item(agenti_decoder *d, agenti_lane *l, agent_str item, const agent_str *f, int goes_on)
{
    int kind = agenti_rs_kind(f), ok, shows;
    if (kind == 0) return agenti_rs_other(d, item, f);
    if (l == NULL && !agenti_rs_begin(d, kind, agenti_str(NULL, 0), f[AGENTI_RI_ID], &l)) return 0;
    if (l == NULL) return 1;
    shows = !l->named || l->whole;
    ok = kind == AGENTI_RL_MESSAGE ? agenti_rs_message(d, l, f) : kind == AGENTI_RL_REASONING ? agenti_rs_reasoning(d, l, item, f)
       : agenti_rs_call_end(d, l, f);
    if (kind == AGENTI_RL_MESSAGE) l->whole = (uint8_t)(goes_on && shows);
    return ok && (goes_on || agenti_rs_close(d, l));
}
/* Clean bytes, so that all that is kept of an item is clean.                                                            */
static int agenti_rs_item_of(agenti_decoder *d, agent_str *item, agent_str *f)
{
    if (!agenti_raw_of(d, *item, item)) return 0;
    agenti_json_pick(*item, agenti_rs_item_fields, AGENTI_RI_FIELDS, f);
    return 1;
}
static AGENTI_NOINLINE int agenti_rs_item_added(agenti_decoder *d, agent_str item, agent_str index)
{
    agent_str f[AGENTI_RI_FIELDS], seed;
    agenti_lane *l;
    int kind;
    if (!agenti_is_object(item)) return 1;
    if (!agenti_rs_item_of(d, &item, f)) return 0;
    l = index.n ? agenti_rs_lane(d, index, f[AGENTI_RI_ID]) : NULL;
    if (l && l->id.n && l->id.n == f[AGENTI_RI_ID].n && memcmp(l->id.p, f[AGENTI_RI_ID].p, l->id.n) == 0) return 1;      /* resent */
    if (l && !agenti_rs_close(d, l)) return 0;               /* one that never ended loses its index                    */
    if ((kind = agenti_rs_kind(f)) == 0) return 1;
    if (!agenti_rs_begin(d, kind, index, f[AGENTI_RI_ID], &l)) return 0;
    if (l == NULL || kind == AGENTI_RL_REASONING || kind == AGENTI_RL_WRAPPER) return 1;
    if (kind != AGENTI_RL_MESSAGE && !agenti_rs_call_named(d, l, f)) return 0;
    seed = f[kind == AGENTI_RL_MESSAGE ? AGENTI_RI_PHASE : kind == AGENTI_RL_CUSTOM ? AGENTI_RI_INPUT : AGENTI_RI_ARGUMENTS];
    return !agenti_nonempty(seed) || agenti_text_set(&l->more, d->pool, d->graves, seed);
}
/* The end of an item counts also when nothing of it came before, and once (F3).                                         */
static AGENTI_NOINLINE int agenti_rs_item_done(agenti_decoder *d, agent_str item, agent_str index)
{
    agent_str f[AGENTI_RI_FIELDS];
    agenti_lane *l;
    int64_t n = -1;
    if (!agenti_is_object(item)) return 1;
    if (!agenti_rs_item_of(d, &item, f)) return 0;
    if (index.n && !agenti_int(index, &n)) n = -1;
    l = agenti_rs_lane(d, index, f[AGENTI_RI_ID]);
    if (l == NULL && n >= 0 && n < d->past) return 1;
    if (n >= d->past && n < INT64_MAX) d->past = n + 1;
    d->sourced |= AGENTI_RS_STREAMED;
    if (l && l->kind != agenti_rs_kind(f)) {
        if (n < 0) l = NULL;
        else if (!agenti_rs_close(d, l)) return 0;
        else l = NULL;
    }
    return agenti_rs_item(d, l, item, f, 0);
}
/* An item out of pieces, each of which has the path to the cut again and goes on there. *item: all of it, or empty.     */
static int agenti_rs_joined(agenti_decoder *d, agenti_lane *l, agent_str *item, int goes_on)
{
    agent_str v = agent_json_get(*item, "result"), more;
    const char *from = item->p, *to = item->p + item->n;
    char *p;
    if (!agenti_is_string(v)) l->cited = 1;   /* it is another `result` that is cut: the item is lost                   */
    else {
        if (l->more.n) from = v.p + 1;
        if (goes_on) to = v.p + v.n - 1;
        if (!l->cited && !agenti_text_add(&l->more, d->pool, d->graves, agenti_str(from, (size_t)(to - from)))) return 0;
    }
    *item = agenti_str(NULL, 0);
    if (goes_on) return 1;
    if (!l->cited) {
        more = agenti_text_view(&l->more);
        if ((p = agenti_arena_get(&d->arena, more.n)) == NULL) return 0;
        memcpy(p, more.p, more.n);
        AGENTI_TOUCH(more.n);
        *item = agenti_str(p, more.n);
    }
    agenti_rs_forget(d, l);
    return 1;
}
/* A response's list of items, if no item had an event of its own. Pieces of a long list: the first item goes on where the last ended. */
static AGENTI_NOINLINE int agenti_rs_listed(agenti_decoder *d, agent_str item, int first, int goes_on)
{
    agent_str f[AGENTI_RI_FIELDS], none = agenti_str(NULL, 0);
    agenti_lane *l = NULL;
    uint32_t i;
    int kind;
    if (!agenti_is_object(item)) return 1;
    for (i = 0; first && i < d->lane_n && l == NULL; i++) if (d->lanes[i].whole) l = &d->lanes[i];
    if (l == NULL && goes_on && !agent_json_is(agent_json_get(item, "type"), "message")) {
        if (!agenti_rs_begin(d, AGENTI_RL_PIECES, none, none, &l)) return 0;
        if (l) l->whole = 1;
    }
    if (l && l->kind == AGENTI_RL_PIECES) {
        if (!agenti_rs_joined(d, l, &item, goes_on)) return 0;
        if (item.n == 0) return 1;
        l = NULL;
    }
    if (!agenti_rs_item_of(d, &item, f)) return 0;
    kind = agenti_rs_kind(f);
    for (i = 0; kind && i < d->lane_n && l == NULL; i++) if (d->lanes[i].kind == kind) l = &d->lanes[i];
    return agenti_rs_item(d, l, item, f, goes_on);
}
static int agenti_rs_output(agenti_decoder *d, agent_str list)
{
    agent_str item = agenti_str(NULL, 0), next = item;
    size_t pos = 0;
    int first = 1, more = agenti_is_array(list) && agent_json_each(list, &pos, NULL, &item);
    while (more) {
        more = agent_json_each(list, &pos, NULL, &next);
        if (!agenti_rs_listed(d, item, first, !more && d->partial)) return 0;
        item = next;
        first = 0;
    }
    return 1;
}

/* ---- events ---- */
/* over: how the event says that the response ended; empty: it goes on.                                                  */
static AGENTI_NOINLINE int agenti_rs_response(agenti_decoder *d, agent_str response, agent_str over)
{
    agent_str f[AGENTI_RR_FIELDS], status, id;
    if (!agenti_is_object(response)) response = agenti_cstr("{}");
    agenti_json_pick(response, agenti_rs_response_fields, AGENTI_RR_FIELDS, f);
    agenti_rs_usage(d, f[AGENTI_RR_USAGE]);
    if (!agenti_model_set(d, f[AGENTI_RR_MODEL]) || !agenti_string_of(d, f[AGENTI_RR_STATUS], &status)) return 0;
    if (d->id.n == 0 && (!agenti_string_of(d, f[AGENTI_RR_ID], &id) || (id.n && !agenti_text_set(&d->id, d->pool, d->graves, id)))) return 0;
    if (!(d->sourced & AGENTI_RS_STREAMED) && !agenti_rs_output(d, f[AGENTI_RR_OUTPUT])) return 0;
    if (over.n == 0 || d->partial) return 1;
    if ((agenti_eq(over, "completed") || agenti_eq(over, "done")) && status.n && !agenti_eq(status, "in_progress")) over = status;
    if (agenti_eq(over, "failed")) {
        if (agenti_is_object(f[AGENTI_RR_ERROR])) agenti_fault_object(d, f[AGENTI_RR_ERROR], 0);
        else agenti_fault_set(d, AGENT_FAULT_SERVER, 1, "", agenti_cstr(AGENTI_WHY("the response failed")));
        return 1;
    }
    while (d->lane_n) if (!agenti_rs_close(d, &d->lanes[0])) return 0;
    d->done = 1;
    return agenti_rs_finish(d, over, f[AGENTI_RR_REASON]);
}
/* More of an item, or all of a part of it, which counts if nothing of it came before.                                   */
static int agenti_rs_piece(agenti_decoder *d, const agent_str *f, const agenti_rs_event_row *row)
{
    agenti_lane *l = agenti_rs_lane(d, f[AGENTI_RE_INDEX], f[AGENTI_RE_ITEM_ID]);
    agent_str index = f[AGENTI_RE_CONTENT].n ? f[AGENTI_RE_CONTENT] : f[AGENTI_RE_SUMMARY];
    int64_t sub;
    int all = row->act == AGENTI_RA_DONE;
    if (row->lane >= AGENTI_RL_CALL && (l == NULL || l->kind != row->lane)) return 1;        /* nobody knows whose they are; its end has them */
    if (l && l->kind != row->lane) {          /* a host that counts all as one                                          */
        if (!agenti_rs_close(d, l)) return 0;
        l = NULL;
    }
    if (l == NULL && !agenti_rs_begin(d, row->lane, f[AGENTI_RE_INDEX], f[AGENTI_RE_ITEM_ID], &l)) return 0;
    if (l == NULL) return 1;
    if (row->lane >= AGENTI_RL_CALL) return all ? agenti_rs_call_all(d, l, f[row->member]) : agenti_rs_call_piece(d, l, f[row->member]);
    sub = index.n && agenti_int(index, &sub) && sub >= 0 && sub < INT64_MAX / 2 ? 2 * sub : l->sub & ~(int64_t)1;
    sub += row->odd;
    if (all && l->key && l->sub == sub && !l->whole) return 1;
    l->whole = (uint8_t)(all && d->partial);
    return agenti_rs_text(d, l, sub, f[row->member]);
}
static int agenti_rs_annotation(agenti_decoder *d, const agent_str *f)
{
    agenti_lane *l = agenti_rs_lane(d, f[AGENTI_RE_INDEX], f[AGENTI_RE_ITEM_ID]);
    if (l && l->kind == AGENTI_RL_MESSAGE) l->cited = 1;
    return agenti_rs_cite(d, f[AGENTI_RE_ANNOTATION]);
}
static int agenti_rs_mismatch(agenti_decoder *d)                                /* F10                                   */
{
    agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "",
                     agenti_cstr(AGENTI_WHY("the answer is a chat completion and no response: the URL may be of another wire format")));
    return 1;
}
static AGENTI_NOINLINE int agenti_rs_object(agenti_decoder *d, agent_str json)
{
    agent_str f[AGENTI_RE_FIELDS], type;
    const agenti_rs_event_row *row = agenti_rs_events;
    size_t i, n = sizeof agenti_rs_events / sizeof *agenti_rs_events;
    agenti_json_pick(json, agenti_rs_event_fields, AGENTI_RE_FIELDS, f);
    type = f[AGENTI_RE_TYPE];
    for (i = 0; i < n && !agent_json_is(type, row->type); i++) row++;
    if (i < n) {
        switch (row->act) {
        case AGENTI_RA_PIECE: case AGENTI_RA_DONE: return agenti_rs_piece(d, f, row);
        case AGENTI_RA_ADDED: return agenti_rs_item_added(d, f[AGENTI_RE_ITEM], f[AGENTI_RE_INDEX]);
        case AGENTI_RA_ITEM: return agenti_rs_item_done(d, f[AGENTI_RE_ITEM], f[AGENTI_RE_INDEX]);
        case AGENTI_RA_CITE: return agenti_rs_annotation(d, f);
        case AGENTI_RA_OVER: return agenti_rs_response(d, f[AGENTI_RE_RESPONSE], agenti_cstr(row->type + sizeof "response." - 1));
        default: break;
        }
    }
    if (i < n || (f[AGENTI_RE_ERROR].n && !agenti_eq(f[AGENTI_RE_ERROR], "null"))) {
        agenti_fault_object(d, json, 0);
        return 1;
    }
    if (agenti_is_object(f[AGENTI_RE_RESPONSE])) return agenti_rs_response(d, f[AGENTI_RE_RESPONSE], agenti_str(NULL, 0));
    if (d->partial && agenti_is_array(f[AGENTI_RE_OUTPUT])) return agenti_rs_response(d, json, agenti_str(NULL, 0));    /* of a whole answer */
    return f[AGENTI_RE_CHOICES].n == 0 || type.n || agenti_rs_mismatch(d);
}
static int agenti_rs_event(agenti_decoder *d, agent_str event, agent_str data)
{
    data = agenti_trim(data);
    if (data.n == 0 || data.p[0] == ':') return 1;
    if (agenti_eq(data, "[DONE]")) {                         /* some hosts send it, then also without the event before   */
        while (d->lane_n) if (!agenti_rs_close(d, &d->lanes[0])) return 0;
        d->done = (uint8_t)(d->streams > 0);
        return 1;
    }
    if (data.p[0] != '{' || agent_json_check(data.p, data.n, d->depth_limit, NULL) != AGENT_OK) {
        if (!agenti_eq(event, "error")) return agenti_payload_bad(d);
        agenti_fault_set(d, AGENT_FAULT_SERVER, 1, "", data);
        return 1;
    }
    return agenti_rs_object(d, data);
}
static int agenti_rs_whole(agenti_decoder *d, agent_str body)
{
    agent_str error, status = agent_json_get(body, "status");
    if (!agenti_is_object(body)) body = agenti_cstr("{}");
    error = agent_json_get(body, "error");
    if (agenti_is_array(agent_json_get(body, "output"))) {
        if (!agenti_string_of(d, status, &status)) return 0;
        return agenti_rs_response(d, body, status.n ? status : agenti_cstr("completed"));
    }
    if (agenti_is_array(agent_json_get(body, "choices"))) return agenti_rs_mismatch(d);
    if ((error.n && !agenti_eq(error, "null")) || agent_json_get(body, "detail").p || agent_json_get(body, "message").p) agenti_fault_object(d, body, 0);
    else agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr(AGENTI_WHY("the answer is no response")));
    return 1;
}

/* ---- requests ---- */
/* Models before reasoning, whose requests may not ask for encrypted thoughts.                                           */
static int agenti_rs_thinks(const agenti_request *r)
{
    static const char *const words[] = { "gpt-3", "gpt-4", "chatgpt-", "gpt-5-chat" };
    agent_str model = agenti_text_view(&r->options[AGENTI_OPT_MODEL]);
    size_t i;
    for (i = 0; i < sizeof words / sizeof *words; i++) if (agenti_find(model, words[i])) return 0;
    return 1;
}
/* Unless the host wants it, nothing is stored at the provider: the history is sent as it is, thoughts with it in encrypted form (D7). */
static void agenti_rs_words_out(agenti_buf *b, const agenti_request *r)
{
    static const struct { const char *key; int option; } rows[] = {
        { "service_tier", AGENTI_OPT_TIER }, { "prompt_cache_key", AGENTI_OPT_CACHE_KEY }, { "safety_identifier", AGENTI_OPT_USER }
    };
    agent_str schema = agenti_format_schema(r);
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        agent_str word = agenti_text_view(&r->options[rows[i].option]);
        if (word.n && !agenti_replaced(r, rows[i].key)) agenti_json_member_str(b, rows[i].key, word);
    }
    if (r->options[AGENTI_OPT_FORMAT].n == 0 || agenti_replaced(r, "text")) return;
    if (schema.n == 0) { agenti_json_member(b, "text", agenti_cstr("{\"format\":{\"type\":\"json_object\"}}")); return; }
    agenti_buf_str(b, ",\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"answer\",\"strict\":true");
    agenti_json_member(b, "schema", schema);
    agenti_buf_str(b, "}}");
}
static void agenti_rs_head(agenti_buf *b, agenti_request *r)
{
    static const char *const words[] = { "none", "minimal", "low", "medium", "high", "xhigh" };
    agent_str system = agenti_text_view(&r->options[AGENTI_OPT_SYSTEM]), effort = agenti_effort(r, words);
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "model")) agenti_json_member_str(b, "model", agenti_text_view(&r->options[AGENTI_OPT_MODEL]));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    if (!agenti_replaced(r, "store")) agenti_json_member(b, "store", agenti_cstr(r->stateful ? "true" : "false"));
    if (r->previous.n) agenti_json_member_str(b, "previous_response_id", r->previous);
    if (!r->stateful && agenti_rs_thinks(r) && !agenti_replaced(r, "include"))
        agenti_json_member(b, "include", agenti_cstr("[\"reasoning.encrypted_content\"]"));
    agenti_option_out(b, r, "max_output_tokens", AGENTI_OPT_MAX_TOKENS);
    agenti_option_out(b, r, "temperature", AGENTI_OPT_TEMPERATURE);
    agenti_option_out(b, r, "top_p", AGENTI_OPT_TOP_P);
    if (effort.n && !agenti_replaced(r, "reasoning")) {
        agenti_buf_str(b, ",\"reasoning\":{");
        agenti_json_member_str(b, "effort", effort);
        agenti_buf_str(b, "}");
    }
    agenti_rs_words_out(b, r);
    if (system.n && r->system_raw.n == 0 && !agenti_replaced(r, "instructions")) agenti_json_member_str(b, "instructions", system);
    agenti_buf_str(b, ",\"input\":[");
}
static void agenti_rs_comma(agenti_buf *b, agenti_request *r)
{
    if (r->state) agenti_buf_str(b, ",");
    r->state = 1;
}
/* The system prompt stands in the head, unless an import had it among the messages.                                     */
static void agenti_rs_system(agenti_buf *b, agenti_request *r, agent_str text)
{
    (void)text;
    if (r->system_raw.n == 0) return;
    agenti_rs_comma(b, r);
    agenti_buf_add(b, r->system_raw.p, r->system_raw.n);
}
/* Images by data and by URL, PDFs and the like the same; plain text is text.                                            */
static void agenti_rs_user_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int plain = p->kind == AGENT_PART_TEXT || (p->text.n && !(p->flags & AGENT_PART_BASE64));
    if (p->kind == AGENT_PART_OTHER) { agenti_buf_add(b, p->text.p, p->text.n); return; }
    agenti_buf_str(b, "{\"type\":");
    if (p->kind == AGENT_PART_IMAGE) {
        agenti_buf_str(b, "\"input_image\",\"image_url\":");
        agenti_data_url_out(b, p);
    } else if (p->kind == AGENT_PART_FILE && !plain) {
        agenti_buf_str(b, "\"input_file\"");
        if (p->name.n || (p->uri.n == 0 && m->wire != (const void *)r->wire))
            agenti_json_member_str(b, "filename", p->name.n ? agenti_text_view(&p->name) : agenti_cstr("file"));
        agenti_buf_str(b, p->uri.n ? ",\"file_url\":" : ",\"file_data\":");
        agenti_data_url_out(b, p);
    } else {
        agenti_buf_str(b, "\"input_text\",\"text\":");
        if (plain) agenti_json_quote_to(b, agenti_text_view(&p->text)); else agenti_media_left_out(b, r, p);
    }
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static void agenti_rs_user_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    int developer = (m->flags & AGENTI_MSG_DEVELOPER) && m->wire == (const void *)r->wire;
    uint32_t i;
    agenti_rs_comma(b, r);
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "role", agenti_cstr(developer ? "developer" : m->flags & AGENT_MSG_SYSTEM ? "system" : "user"));
    if (m->n == 1 && m->parts[0].kind == AGENT_PART_TEXT && m->parts[0].more.n == 0) agenti_json_member_str(b, "content", agenti_text_view(&m->parts[0].text));
    else {
        agenti_buf_str(b, ",\"content\":[");
        for (i = 0; i < m->n; i++) {
            if (i) agenti_buf_str(b, ",");
            agenti_rs_user_part(b, r, m, &m->parts[i]);
        }
        agenti_buf_str(b, "]");
    }
    agenti_more_out(b, r, m, &m->more);
    agenti_buf_str(b, "}");
}
/* What the same model gave with a part, if it is an object; else empty.                                                 */
static agent_str agenti_rs_data(const agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    agent_str data = agenti_text_view(&p->data);
    if (m == NULL || m->model != r->model || !agenti_is_object(data)) return agenti_str(NULL, 0);
    return agent_json_check(data.p, data.n, 64, NULL) == AGENT_OK ? data : agenti_str(NULL, 0);
}
static void agenti_rs_text_out(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    agent_str phase = agent_json_get(agenti_rs_data(r, m, p), "phase");
    agenti_rs_comma(b, r);
    agenti_buf_str(b, "{\"role\":\"assistant\"");
    if (agenti_is_string(phase)) agenti_json_member(b, "phase", phase);
    if (!agenti_own_content(r, m, p)) agenti_json_member_str(b, "content", agenti_text_view(&p->text));
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
/* Members of an item that go back. Some hosts give ids that are longer than what they take.                             */
static void agenti_rs_members(agenti_buf *b, agent_str data, const char *const *keys, size_t n)
{
    enum { LONGEST = 64 };
    size_t i;
    for (i = 0; i < n; i++) {
        agent_str v = agent_json_get(data, keys[i]);
        if (v.n == 0 || agenti_eq(v, "null") || agenti_eq(v, "\"\"") || (agenti_eq(agenti_cstr(keys[i]), "id") && v.n > LONGEST + 2)) continue;
        agenti_json_member(b, keys[i], v);
    }
}
static void agenti_rs_reasoning_out(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    static const char *const keys[] = { "id", "summary", "content", "encrypted_content" };
    agent_str data = agenti_rs_data(r, m, p);
    if (data.n == 0) return;
    agenti_rs_comma(b, r);
    if (agenti_own_content(r, m, p)) { agenti_buf_add(b, data.p, data.n); return; }
    agenti_buf_str(b, "{\"type\":\"reasoning\"");
    agenti_rs_members(b, data, keys, 4);
    if (!agenti_is_array(agent_json_get(data, "summary"))) agenti_json_member(b, "summary", agenti_cstr("[]"));
    agenti_buf_str(b, "}");
}
/* Broken JSON is never sent back. The item's own id is left out: nothing is stored under it.                            */
static void agenti_rs_call_out(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    static const char *const keys[] = { "namespace", "caller" };
    agent_str data = agenti_rs_data(r, m, p);
    const agenti_rs_tool *t = agenti_rs_tool_of(agent_json_get(data, "type"));
    agent_str args = p->text.n && !(p->flags & AGENT_PART_INVALID) ? agenti_text_view(&p->text) : agenti_cstr("{}"), input;
    agenti_rs_comma(b, r);
    if (t && t->by == AGENTI_RT_HOST) { agenti_buf_add(b, data.p, data.n); return; }
    agenti_buf_str(b, t ? "{\"type\":\"custom_tool_call\"" : "{\"type\":\"function_call\"");
    agenti_json_member_str(b, "call_id", agenti_wire_id(p));
    agenti_tool_name_out(b, agenti_text_view(&p->name));
    input = agent_json_get(args, "input");
    if (t) agenti_json_member(b, "input", agenti_is_string(input) ? input : agenti_cstr("\"\""));
    else agenti_json_member_str(b, "arguments", args);
    agenti_rs_members(b, data, keys, 2);
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static int agenti_rs_sent(const agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    if (p->kind == AGENT_PART_OTHER) return m->model == r->model && !(p->flags & AGENT_PART_CUT);
    return p->kind == AGENT_PART_CALL || (p->kind == AGENT_PART_TEXT && (p->text.n || agenti_own_content(r, m, p)));
}
/* Thoughts stand before what they led to, and go with it or not at all (D8).                                            */
static void agenti_rs_model_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, n = m->n;
    while (n && !agenti_rs_sent(r, m, &m->parts[n - 1])) n--;
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        int keeps = p->kind == AGENT_PART_REASONING || p->kind == AGENT_PART_OTHER;
        if (keeps && m->model != r->model) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING);
        else if (p->kind == AGENT_PART_REASONING && i < n && !(p->flags & AGENT_PART_CUT)) agenti_rs_reasoning_out(b, r, m, p);
        else if (p->kind == AGENT_PART_REASONING || !agenti_rs_sent(r, m, p)) continue;
        else if (p->kind == AGENT_PART_TEXT) agenti_rs_text_out(b, r, m, p);
        else if (p->kind == AGENT_PART_CALL) agenti_rs_call_out(b, r, m, p);
        else {
            agenti_rs_comma(b, r);
            agenti_buf_add(b, p->text.p, p->text.n);
        }
    }
}
/* What the host answers to a tool of the provider's: its JSON if it is of the right form, else text in that form.        */
static void agenti_rs_answer_out(agenti_buf *b, const agenti_rs_tool *t, agent_str text, int failed)
{
    int json = text.n && agent_json_check(text.p, text.n, 64, NULL) == AGENT_OK;
    if (t->form == AGENTI_RF_STATUS) agenti_json_member(b, "status", agenti_cstr(failed ? "\"failed\"" : "\"completed\""));
    if (t->form == AGENTI_RF_TOOLS) {
        agenti_buf_str(b, ",\"execution\":\"client\",\"status\":\"completed\"");
        agenti_json_member(b, "tools", json && agenti_is_array(text) ? text : agenti_cstr("[]"));
    } else if (t->form == AGENTI_RF_LIST && !(json && agenti_is_array(text))) {
        agenti_buf_str(b, ",\"output\":[{");
        agenti_json_member_str(b, "stdout", text);
        agenti_buf_str(b, ",\"stderr\":\"\",\"outcome\":{\"type\":\"exit\",\"exit_code\":");
        agenti_buf_str(b, failed ? "1}}]" : "0}}]");
    } else if (t->form == AGENTI_RF_OBJECT && !(json && agenti_is_object(text))) {
        agenti_buf_str(b, ",\"output\":{\"type\":\"computer_screenshot\"");
        agenti_json_member_str(b, "image_url", text);
        agenti_buf_str(b, "}");
    } else if (t->form == AGENTI_RF_LIST || t->form == AGENTI_RF_OBJECT) agenti_json_member(b, "output", text);
    else agenti_json_member_str(b, "output", text);
}
static void agenti_rs_tools_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, at = 0;
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i], *call = agenti_result_call(r, p, &at);
        agent_str text = agenti_text_view(&p->text);
        const agenti_rs_tool *t = call ? agenti_rs_tool_of(agent_json_get(agenti_rs_data(r, r->before, call), "type")) : NULL;
        agenti_rs_comma(b, r);
        agenti_buf_str(b, "{");
        agenti_json_member_str(b, "type", agenti_cstr(t ? t->answer : "function_call_output"));
        agenti_json_member_str(b, "call_id", agenti_wire_id(p));
        if (agenti_own_content(r, m, p)) {}
        else if (t) agenti_rs_answer_out(b, t, text, (p->flags & AGENT_PART_ERROR) != 0);
        else agenti_json_member_str(b, "output", text.n ? text : agenti_cstr("(no output)"));
        agenti_more_out(b, r, m, &p->more);
        agenti_buf_str(b, "}");
    }
}
static void agenti_rs_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    if (m->role == AGENT_USER) agenti_rs_user_msg(b, r, m);
    else if (m->role == AGENT_TOOLS) agenti_rs_tools_msg(b, r, m);
    else agenti_rs_model_msg(b, r, m);
}
/* A tool that the provider defines is chosen by its type, and by its name if its declaration has one.                   */
static void agenti_rs_choice_out(agenti_buf *b, const agenti_request *r, agent_str choice)
{
    agent_str raw = agenti_str(NULL, 0), type, name;
    size_t i;
    for (i = 0; i < r->tool_count; i++) {
        const agenti_tool *t = &r->tools[i];
        if ((t->flags & AGENT_TF_RAW) && t->name.n == choice.n && memcmp(t->name.p, choice.p, choice.n) == 0) raw = agenti_text_view(&t->schema);
    }
    type = agent_json_get(raw, "type");
    name = agent_json_get(raw, "name");
    agenti_buf_str(b, ",\"tool_choice\":{");
    agenti_json_member(b, "type", type.n ? type : agenti_cstr("\"function\""));
    if (raw.n == 0) agenti_json_member_str(b, "name", choice);
    else if (name.n) agenti_json_member(b, "name", name);
    agenti_buf_str(b, "}");
}
static void agenti_rs_tail(agenti_buf *b, const agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    if (r->note) {
        agenti_buf_str(b, r->state ? ",{\"role\":\"user\"" : "{\"role\":\"user\"");
        agenti_json_member_str(b, "content", agenti_cstr(r->note));
        agenti_buf_str(b, "}");
    }
    agenti_buf_str(b, "]");
    if (r->tool_count == 0 && !agenti_replaced(r, "tools")) return;
    if (r->tools_off) agenti_json_member(b, "tool_choice", agenti_cstr("\"none\""));
    else if (choice.n && !r->choice_off && !agenti_replaced(r, "tool_choice")) {
        if (agenti_eq(choice, "auto") || agenti_eq(choice, "none") || agenti_eq(choice, "required"))
            agenti_json_member_str(b, "tool_choice", choice);
        else agenti_rs_choice_out(b, r, choice);
    }
    agenti_option_out(b, r, "parallel_tool_calls", AGENTI_OPT_PARALLEL);
}
/* strict: else a schema has to be of OpenAI's strict kind.                                                             */
static void agenti_rs_tools_out(agenti_buf *b, const agenti_request *r)
{
    agenti_tools_list(b, r, "{\"type\":\"function\"", "parameters", ",\"strict\":true}", ",\"strict\":false}");
}
/* Texts of messages are read in pieces: their parts have annotations before the text, and what goes back as it came has not. Images are put
 * together again; in a stream the list of all items at its end mostly repeats them, and then they need not be held.     */
static const char *const agenti_rs_stream_parts[] = { "delta", "text", "result", "partial_image_b64", NULL };
static const char *const agenti_rs_whole_parts[] = { "text", "result", NULL };
static const char *const agenti_rs_routing[] = { "type", "id", "status", "model", "error", "incomplete_details", "output_index", "content_index",
    "summary_index", "item_id", "call_id", "name", "object", NULL };
static const char *const agenti_rs_owner[] = { "id", "annotations", "output_index", "sequence_number", NULL };
static const char *const agenti_rs_held[] = { "item", "part", NULL };
static const char *const agenti_rs_none[] = { NULL };
static const agenti_wire agenti_openai_responses_wire = {
    "openai-responses", "/responses", NULL, AGENTI_FRAMING_SSE, NULL, NULL,
    AGENTI_BIT(AGENTI_OPT_SEED) | AGENTI_BIT(AGENTI_OPT_FREQUENCY) | AGENTI_BIT(AGENTI_OPT_PRESENCE) | AGENTI_BIT(AGENTI_OPT_STOP)
        | AGENTI_BIT(AGENTI_OPT_THINKING) | AGENTI_BIT(AGENTI_OPT_TOP_K),
    agenti_rs_head, agenti_rs_system, agenti_rs_message_out, agenti_rs_tail, agenti_rs_tools_out, agenti_extra_out, agenti_rs_event, agenti_rs_whole,
    "\"obfuscation\": \"sequence_number\":", { agenti_rs_stream_parts, agenti_rs_routing, agenti_rs_owner, 1, agenti_rs_held },
    { agenti_rs_whole_parts, agenti_rs_routing, agenti_rs_owner, 0, agenti_rs_none },
    AGENTI_IMPORTER(agenti_openai_responses_import), "previous_response_id"
};
AGENTI_FN const agenti_wire *agenti_openai_responses(void) { return &agenti_openai_responses_wire; }
#endif
#endif
