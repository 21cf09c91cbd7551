/* Anthropic messages: https://docs.anthropic.com/en/api/messages and /messages-streaming. Blocks are told apart by their index, and
 * several may be open at a time. Thinking with its signature, and kinds of blocks that are not known here, go back as they came. */
#ifndef AGENT_NO_ANTHROPIC
AGENTI_FN const agenti_wire *agenti_anthropic(void);
#ifndef AGENT_NO_BEDROCK
AGENTI_FN const agenti_wire *agenti_anthropic_invoke(void);          /* the same behind Bedrock's InvokeModel           */
#endif
AGENTI_FN const agenti_wire *agenti_anthropic_vertex(void);          /* the same behind Vertex AI                       */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_ANTHROPIC
/* ---- answers ---- */
/* agenti_lane.kind. A lane is an open block; named: its part was begun.                                                */
enum { AGENTI_AB_TEXT = 1, AGENTI_AB_THINKING, AGENTI_AB_CALL, AGENTI_AB_OTHER };
enum { AGENTI_AE_TYPE, AGENTI_AE_INDEX, AGENTI_AE_MESSAGE, AGENTI_AE_BLOCK, AGENTI_AE_DELTA, AGENTI_AE_USAGE, AGENTI_AE_ERROR,
       AGENTI_AE_CONTEXT, AGENTI_AE_FIELDS };
static const agenti_field agenti_an_event_rows[AGENTI_AE_FIELDS] = {
    { "type", -1 }, { "index", -1 }, { "message", -1 }, { "content_block", -1 }, { "delta", -1 }, { "usage", -1 }, { "error", -1 },
    { "context_management", -1 }
};
enum { AGENTI_AK_TYPE, AGENTI_AK_ID, AGENTI_AK_NAME, AGENTI_AK_TEXT, AGENTI_AK_THINKING, AGENTI_AK_SIGNATURE, AGENTI_AK_INPUT,
       AGENTI_AK_JSON, AGENTI_AK_CONTENT, AGENTI_AK_CITATION, AGENTI_AK_CITATIONS, AGENTI_AK_FIELDS };
static const agenti_field agenti_an_block_rows[AGENTI_AK_FIELDS] = {          /* of a block, and of a delta             */
    { "type", -1 }, { "id", -1 }, { "name", -1 }, { "text", -1 }, { "thinking", -1 }, { "signature", -1 }, { "input", -1 },
    { "partial_json", -1 }, { "content", -1 }, { "citation", -1 }, { "citations", -1 }
};
enum { AGENTI_AM_ID, AGENTI_AM_USAGE, AGENTI_AM_CONTENT, AGENTI_AM_MODEL, AGENTI_AM_STOP, AGENTI_AM_DETAILS, AGENTI_AM_CONTAINER,
       AGENTI_AM_CONTEXT, AGENTI_AM_FIELDS };
static const agenti_field agenti_an_message_rows[AGENTI_AM_FIELDS] = {         /* of a message, and of message_delta    */
    { "id", -1 }, { "usage", -1 }, { "content", -1 }, { "model", -1 }, { "stop_reason", -1 }, { "stop_details", -1 }, { "container", -1 },
    { "context_management", -1 }
};

static int64_t agenti_an_sum(int64_t a, int64_t b)           /* unknown counts as 0, if one is known                    */
{
    if (a < 0 || b <= 0) return a < 0 ? b : a;
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}
enum { AGENTI_AU_INPUT, AGENTI_AU_OUTPUT, AGENTI_AU_TYPE, AGENTI_AU_READ, AGENTI_AU_WRITTEN, AGENTI_AU_ITERATIONS, AGENTI_AU_DETAILS,
       AGENTI_AU_THINKING, AGENTI_AU_FIELDS };
static const agenti_field agenti_an_usage_rows[AGENTI_AU_FIELDS] = {
    { "input_tokens", -1 }, { "output_tokens", -1 }, { "type", -1 }, { "cache_read_input_tokens", -1 },
    { "cache_creation_input_tokens", -1 }, { "iterations", -1 }, { "output_tokens_details", -1 }, { "thinking_tokens", AGENTI_AU_DETAILS }
};
static void agenti_an_count(agent_str v, int64_t *to) { if (v.n) (void)agenti_count(v, to); }
/* Compaction is billed, but not in the totals beside the list; what another model did is billed apart (E8).            */
static void agenti_an_iterations(agenti_decoder *d, agent_str list)
{
    agent_str item, f[AGENTI_AU_READ];
    int64_t input = -1, output = -1, n;
    size_t pos = 0;
    while (agent_json_each(list, &pos, NULL, &item)) {
        if (!agenti_is_object(item)) continue;
        agenti_json_pick(item, agenti_an_usage_rows, AGENTI_AU_READ, f);
        if (agent_json_is(f[AGENTI_AU_TYPE], "fallback_message")) return;
        if (!agent_json_is(f[AGENTI_AU_TYPE], "message") && !agent_json_is(f[AGENTI_AU_TYPE], "compaction")) continue;
        n = -1;
        agenti_an_count(f[AGENTI_AU_INPUT], &n);
        input = agenti_an_sum(input, n);
        n = -1;
        agenti_an_count(f[AGENTI_AU_OUTPUT], &n);
        output = agenti_an_sum(output, n);
    }
    if (input >= 0) d->uncached = input;
    if (output >= 0) d->usage.output = output;
}
/* Totals of the whole answer; a later one replaces an earlier one (E8). Their input_tokens leaves cached tokens out.   */
static AGENTI_NOINLINE void agenti_an_usage(agenti_decoder *d, agent_str usage)
{
    agent_str f[AGENTI_AU_FIELDS];
    agent_usage *u = &d->usage;
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, agenti_an_usage_rows, AGENTI_AU_FIELDS, f);
    agenti_an_count(f[AGENTI_AU_INPUT], &d->uncached);
    agenti_an_count(f[AGENTI_AU_OUTPUT], &u->output);
    agenti_an_count(f[AGENTI_AU_READ], &u->cached);
    agenti_an_count(f[AGENTI_AU_WRITTEN], &u->cache_write);
    agenti_an_count(f[AGENTI_AU_THINKING], &u->reasoning);
    if (agenti_is_array(f[AGENTI_AU_ITERATIONS])) agenti_an_iterations(d, f[AGENTI_AU_ITERATIONS]);
    if (d->uncached >= 0) u->input = agenti_an_sum(agenti_an_sum(d->uncached, u->cached), u->cache_write);
    d->has_usage = 1;
}
static int agenti_an_stop(agenti_decoder *d, agent_str value)
{
    static const struct { const char *word; int finish; } rows[] = {
        { "end_turn", AGENT_FINISH_STOP }, { "stop_sequence", AGENT_FINISH_STOP }, { "pause_turn", AGENT_FINISH_STOP },
        { "tool_use", AGENT_FINISH_TOOLS }, { "max_tokens", AGENT_FINISH_LENGTH },
        { "model_context_window_exceeded", AGENT_FINISH_LENGTH }, { "refusal", AGENT_FINISH_FILTER }
    };
    agent_str raw;
    size_t i;
    int finish = AGENT_FINISH_OTHER;
    if (!agenti_nonempty(value)) return 1;
    if (!agenti_json_string(value, NULL, &d->arena, &raw)) return 0;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (agenti_eq(raw, rows[i].word)) finish = rows[i].finish;
    agenti_finish_set(d, finish, raw);
    d->paused = (uint8_t)agenti_eq(raw, "pause_turn");
    return 1;
}
/* How the message ends, and what is told beside it: why it was refused, what was cleared, which container ran code.     */
static int agenti_an_ending(agenti_decoder *d, const agent_str *f)
{
    return agenti_an_stop(d, f[AGENTI_AM_STOP]) && agenti_news_add(d, f[AGENTI_AM_DETAILS], "stop_details")
        && agenti_news_add(d, f[AGENTI_AM_CONTAINER], "container") && agenti_news_add(d, f[AGENTI_AM_CONTEXT], "context_management");
}
/* A piece of a block as an op; an empty one only when it opens the block.                                              */
static int agenti_an_add(agenti_decoder *d, agenti_lane *l, int kind, agent_str value, int opens)
{
    agenti_op *op;
    agent_str text = agenti_str(NULL, 0);
    uint16_t *high = kind == AGENTI_OP_DATA ? NULL : &l->high;
    if (agenti_nonempty(value)) {
        if (!agenti_json_string(value, high, &d->arena, &text)) return 0;
    } else if (!opens) return 1;
    if ((op = agenti_op_add(d, kind, l->key)) == NULL) return 0;
    op->a = text;
    if (kind == AGENTI_OP_TEXT) l->named = 1;
    return 1;
}
/* A citation is a source, and goes back with its text as it came (E6): the part's data is the list without brackets.   */
static int agenti_an_cite(agenti_decoder *d, agenti_lane *l, agent_str citation)
{
    agenti_op *op;
    if (!agenti_is_object(citation)) return 1;
    if (!l->named && !agenti_an_add(d, l, AGENTI_OP_TEXT, agenti_str(NULL, 0), 1)) return 0;
    if (l->cited) {
        if ((op = agenti_op_add(d, AGENTI_OP_DATA, l->key)) == NULL) return 0;
        op->a = agenti_cstr(",");
    }
    l->cited = 1;
    if ((op = agenti_op_add(d, AGENTI_OP_DATA, l->key)) == NULL || !agenti_raw_of(d, citation, &op->a)) return 0;
    return agenti_source_add(d, agent_json_get(citation, "url"), agent_json_get(citation, "title"));
}
static int agenti_an_text_start(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    agent_str item;
    size_t pos = 0;
    l->kind = AGENTI_AB_TEXT;
    if (!agenti_an_add(d, l, AGENTI_OP_TEXT, f[AGENTI_AK_TEXT], 0)) return 0;
    while (agenti_is_array(f[AGENTI_AK_CITATIONS]) && agent_json_each(f[AGENTI_AK_CITATIONS], &pos, NULL, &item))
        if (!agenti_an_cite(d, l, item)) return 0;
    return 1;
}
static int agenti_an_call_start(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    agenti_op *op;
    agent_str id, name, input = f[AGENTI_AK_INPUT];
    if (!agenti_string_of(d, f[AGENTI_AK_ID], &id) || !agenti_string_of(d, f[AGENTI_AK_NAME], &name)) return 0;
    if ((op = agenti_op_add(d, AGENTI_OP_CALL, l->key)) == NULL) return 0;
    op->a = id;
    op->b = name;
    if (!agenti_is_object(input) || agenti_trim(agenti_str(input.p + 1, input.n - 2)).n == 0) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, l->key)) == NULL) return 0;
    l->whole = 1;                             /* complete at once: deltas repeat it (E4)                                */
    return agenti_raw_of(d, input, &op->a);
}
/* Blocks that only the provider understands are kept as they came. Deltas fill their member `input`, as JSON in pieces, or
 * `content`, a string in pieces: lane.more is the text of its value.                                                   */
static int agenti_an_keep(agenti_decoder *d, agenti_lane *l, agent_str block)
{
    agent_str raw;
    l->kind = AGENTI_AB_OTHER;
    return agenti_raw_of(d, block, &raw) && agenti_text_set(&l->id, d->pool, d->graves, raw);
}
static int agenti_an_keep_more(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    agent_str json = f[AGENTI_AK_JSON], content = f[AGENTI_AK_CONTENT], text;
    size_t later = l->more.n != 0;            /* the first piece brings the opening quote, no piece the closing one     */
    if (l->more.n + json.n + content.n > d->item_limit) {
        agenti_fault_set(d, AGENT_FAULT_LIMIT, 0, "", agenti_cstr(AGENTI_WHY("a block of the answer is longer than limits.item")));
        return 1;
    }
    if (agenti_nonempty(json))
        return agenti_json_string(json, &l->high, &d->arena, &text) && agenti_text_add(&l->more, d->pool, d->graves, text);
    if (!agenti_is_string(content)) return 1;
    l->named = 1;
    return agenti_raw_of(d, content, &text)
        && agenti_text_add(&l->more, d->pool, d->graves, agenti_str(text.p + later, text.n - 1 - later));
}
static int agenti_type_ends(agent_str type, const char *with)                    /* clean text                          */
{
    size_t n = strlen(with);
    return type.n > n && memcmp(type.p + type.n - n, with, n) == 0;
}
/* Pages that a search or fetch found are sources.                                                                      */
static int agenti_an_pages(agenti_decoder *d, agent_str content)
{
    agent_str item;
    size_t pos = 0;
    if (agenti_is_object(content)) return agenti_source_add(d, agent_json_get(content, "url"), agent_json_get(content, "content.title"));
    while (agenti_is_array(content) && agent_json_each(content, &pos, NULL, &item))
        if (agenti_is_object(item) && !agenti_source_add(d, agent_json_get(item, "url"), agent_json_get(item, "title"))) return 0;
    return 1;
}
/* What a kept block is to the host: a call that the provider runs, the result of one, or nothing but itself (E5).       */
static int agenti_an_meaning(agenti_decoder *d, agent_str block, agent_str type)
{
    agenti_op *raw = &d->ops[d->op_n - 1], *op;
    agent_str content = agent_json_get(block, "content"), of;
    if (agenti_eq(type, "fallback")) {         /* another model goes on (E12)                                           */
        of = agent_json_get(block, "to.model");
        if (agenti_nonempty(of)) agenti_text_free(&d->model, d->graves);
        return agenti_model_set(d, of);
    }
    if (!agenti_type_ends(type, "_tool_use") && !agenti_type_ends(type, "_tool_result")) return 1;
    raw->flags = AGENTI_RAW_QUIET;
    if (agenti_type_ends(type, "_tool_use")) {
        if ((op = agenti_op_add(d, AGENTI_OP_RAN, 0)) == NULL) return 0;
        op->c = agent_json_get(block, "input");
        if (op->c.n == 0) op->c = agenti_cstr("{}");
        return agenti_string_of(d, agent_json_get(block, "id"), &op->a) && agenti_string_of(d, agent_json_get(block, "name"), &op->b);
    }
    if ((op = agenti_op_add(d, AGENTI_OP_RESULT, 0)) == NULL) return 0;
    op->c = content;
    if (!agenti_string_of(d, agent_json_get(block, "tool_use_id"), &op->a) || !agenti_string_of(d, agent_json_get(content, "type"), &of)) return 0;
    if (agenti_type_ends(of, "_error") || agenti_eq(agent_json_get(block, "is_error"), "true")) op->flags = AGENT_PART_ERROR;
    return agenti_an_pages(d, content);
}
static int agenti_an_kept(agenti_decoder *d, agenti_lane *l)
{
    agent_str block = agenti_text_view(&l->id), more, old;
    agenti_op *op;
    char *p;
    size_t at;
    if (l->named && !agenti_text_add(&l->more, d->pool, d->graves, agenti_cstr("\""))) return 0;
    more = agenti_text_view(&l->more);
    old = agent_json_get(block, l->named ? "content" : "input");
    if (old.p == NULL || more.n == 0 || agent_json_check(more.p, more.n, d->depth_limit, NULL) != AGENT_OK) more = old;
    if ((p = agenti_arena_get(&d->arena, block.n - old.n + more.n)) == NULL) return 0;
    if ((op = agenti_op_add(d, AGENTI_OP_RAW, 0)) == NULL) return 0;
    op->a = agenti_str(p, block.n - old.n + more.n);
    at = old.p ? (size_t)(old.p - block.p) : block.n;
    memcpy(p, block.p, at);
    if (more.n) memcpy(p + at, more.p, more.n);
    memcpy(p + at + more.n, block.p + at + old.n, block.n - at - old.n);
    AGENTI_TOUCH(op->a.n);
    block = op->a;
    return agenti_string_of(d, agent_json_get(block, "type"), &op->b) && agenti_an_meaning(d, block, op->b);
}
static AGENTI_NOINLINE int agenti_an_block_start(agenti_decoder *d, agent_str block, agent_str index)
{
    agent_str f[AGENTI_AK_FIELDS];
    agenti_lane *l = agenti_lane_at(d, index);
    int64_t n;
    if (l) agenti_lane_forget(d, l);            /* a block that was never stopped loses its index                         */
    if (d->lane_n >= d->call_limit) return agenti_too_many(d);
    if ((l = agenti_lane_new(d)) == NULL) return 0;
    l->key = ++d->streams;
    if (index.n && agenti_int(index, &n)) { l->has_index = 1; l->index = n; }
    agenti_json_pick(block, agenti_an_block_rows, AGENTI_AK_FIELDS, f);
    if (agent_json_is(f[AGENTI_AK_TYPE], "text")) return agenti_an_text_start(d, l, f);
    if (agent_json_is(f[AGENTI_AK_TYPE], "thinking")) {
        l->kind = AGENTI_AB_THINKING;         /* also without text: it may have a signature only                        */
        return agenti_an_add(d, l, AGENTI_OP_REASONING, f[AGENTI_AK_THINKING], 1)
            && agenti_an_add(d, l, AGENTI_OP_DATA, f[AGENTI_AK_SIGNATURE], 0);
    }
    if (agent_json_is(f[AGENTI_AK_TYPE], "tool_use")) {
        l->kind = AGENTI_AB_CALL;
        return agenti_an_call_start(d, l, f);
    }
    return agenti_an_keep(d, l, block);
}
static AGENTI_NOINLINE int agenti_an_block_delta(agenti_decoder *d, agent_str delta, agent_str index)
{
    agent_str f[AGENTI_AK_FIELDS];
    agenti_lane *l = agenti_lane_at(d, index);
    if (l == NULL) return 1;
    agenti_json_pick(delta, agenti_an_block_rows, AGENTI_AK_FIELDS, f);
    if (l->kind == AGENTI_AB_TEXT)
        return agenti_an_add(d, l, AGENTI_OP_TEXT, f[AGENTI_AK_TEXT], 0) && agenti_an_cite(d, l, f[AGENTI_AK_CITATION]);
    if (l->kind == AGENTI_AB_CALL) return l->whole || agenti_an_add(d, l, AGENTI_OP_ARGS, f[AGENTI_AK_JSON], 0);
    if (l->kind == AGENTI_AB_OTHER) return agenti_an_keep_more(d, l, f);
    return agenti_an_add(d, l, AGENTI_OP_REASONING, f[AGENTI_AK_THINKING], 0)
        && agenti_an_add(d, l, AGENTI_OP_DATA, f[AGENTI_AK_SIGNATURE], 0);
}
static int agenti_an_block_stop(agenti_decoder *d, agenti_lane *l)
{
    int kind, ok = 1;
    uint32_t key;
    if (l == NULL) return 1;
    kind = l->kind == AGENTI_AB_CALL ? AGENTI_OP_ARGS : l->kind == AGENTI_AB_TEXT ? AGENTI_OP_TEXT : AGENTI_OP_REASONING;
    key = l->key;
    if (l->kind == AGENTI_AB_OTHER) ok = agenti_an_kept(d, l);
    else if (l->high) {                       /* the other half of a pair never came                                    */
        agenti_op *op = agenti_op_add(d, kind, key);
        if (op) op->a = agenti_cstr("\xEF\xBF\xBD");
        ok = op != NULL;
    }
    if (l->kind == AGENTI_AB_TEXT || l->kind == AGENTI_AB_THINKING) ok = ok && agenti_op_add(d, AGENTI_OP_END, key) != NULL;
    agenti_lane_forget(d, l);
    return ok;
}
static int agenti_an_blocks(agenti_decoder *d, agent_str list)        /* blocks that came whole                         */
{
    agent_str block;
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &block)) {
        if (!agenti_is_object(block)) continue;
        if (!agenti_an_block_start(d, block, agenti_str(NULL, 0)) || !agenti_an_block_stop(d, &d->lanes[d->lane_n - 1])) return 0;
    }
    return 1;
}
/* A second message_start with the same id is a resend; with another id two streams were spliced (E7).                  */
static AGENTI_NOINLINE int agenti_an_message(agenti_decoder *d, agent_str message)
{
    agent_str f[AGENTI_AM_FIELDS], id;
    if (!agenti_is_object(message)) return 1;
    agenti_json_pick(message, agenti_an_message_rows, AGENTI_AM_FIELDS, f);
    if (!agenti_string_of(d, f[AGENTI_AM_ID], &id)) return 0;
    if (d->started) {
        if (id.n != d->id.n || (id.n && memcmp(id.p, d->id.p, id.n) != 0))
            agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr(AGENTI_WHY("a second message begins inside the first")));
        return 1;
    }
    d->started = 1;
    if (id.n && !agenti_text_set(&d->id, d->pool, d->graves, id)) return 0;
    agenti_an_usage(d, f[AGENTI_AM_USAGE]);
    return agenti_model_set(d, f[AGENTI_AM_MODEL]) && agenti_an_blocks(d, f[AGENTI_AM_CONTENT]) && agenti_an_ending(d, f);
}
/* context_management stands beside the delta (E9).                                                                     */
static AGENTI_NOINLINE int agenti_an_message_delta(agenti_decoder *d, agent_str delta, agent_str usage, agent_str context)
{
    agent_str f[AGENTI_AM_FIELDS];
    agenti_an_usage(d, usage);
    memset(f, 0, sizeof f);
    if (agenti_is_object(delta)) agenti_json_pick(delta, agenti_an_message_rows, AGENTI_AM_FIELDS, f);
    if (context.n) f[AGENTI_AM_CONTEXT] = context;
    return agenti_an_ending(d, f);
}
static AGENTI_NOINLINE int agenti_an_object(agenti_decoder *d, agent_str json)
{
    agent_str f[AGENTI_AE_FIELDS], type;
    agenti_json_pick(json, agenti_an_event_rows, AGENTI_AE_FIELDS, f);
    type = f[AGENTI_AE_TYPE];
    if (agent_json_is(type, "content_block_delta") || (type.n == 0 && f[AGENTI_AE_DELTA].n))     /* its type may come after a cut */
        return agenti_an_block_delta(d, f[AGENTI_AE_DELTA], f[AGENTI_AE_INDEX]);
    if (agent_json_is(type, "content_block_start"))
        return !agenti_is_object(f[AGENTI_AE_BLOCK]) || agenti_an_block_start(d, f[AGENTI_AE_BLOCK], f[AGENTI_AE_INDEX]);
    if (agent_json_is(type, "content_block_stop")) return agenti_an_block_stop(d, agenti_lane_at(d, f[AGENTI_AE_INDEX]));
    if (agent_json_is(type, "message_start")) return agenti_an_message(d, f[AGENTI_AE_MESSAGE]);
    if (agent_json_is(type, "message_delta")) return agenti_an_message_delta(d, f[AGENTI_AE_DELTA], f[AGENTI_AE_USAGE], f[AGENTI_AE_CONTEXT]);
    if (agent_json_is(type, "message_stop")) {
        d->done = 1;
        while (d->lane_n) if (!agenti_an_block_stop(d, &d->lanes[0])) return 0;
    } else if (agent_json_is(type, "error") || (f[AGENTI_AE_ERROR].n && !agenti_eq(f[AGENTI_AE_ERROR], "null")))
        agenti_fault_object(d, json, 0);
    return 1;
}
static int agenti_an_event(agenti_decoder *d, agent_str event, agent_str data)
{
    data = agenti_trim(data);
    if (data.n == 0 || data.p[0] == ':') return 1;
    if (agenti_eq(data, "[DONE]")) { d->done = d->finish != AGENT_FINISH_NONE; return 1; }
    if (data.p[0] != '{' || agent_json_check(data.p, data.n, d->depth_limit, NULL) != AGENT_OK) {
        if (!agenti_eq(event, "error")) return agenti_payload_bad(d);
        agenti_fault_set(d, AGENT_FAULT_SERVER, 1, "", data);
        return 1;
    }
    return agenti_an_object(d, data);
}
static int agenti_an_whole(agenti_decoder *d, agent_str body)
{
    if (!agenti_is_object(body) || !agent_json_is(agent_json_get(body, "type"), "message")) {
        if (agenti_is_object(body) && agenti_is_object(agent_json_get(body, "error"))) agenti_fault_object(d, body, 0);
        else agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr(AGENTI_WHY("the answer is no message")));
        return 1;
    }
    d->started = 0;
    d->done = 1;
    return agenti_an_message(d, body);
}

/* ---- requests ---- */
static int agenti_an_thinks(const agenti_request *r)
{
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]);
    if (agenti_replaced(r, "thinking")) return !agent_json_is(agent_json_get(r->extra, "thinking.type"), "disabled");
    return budget.n && !agenti_eq(budget, "0");
}
/* A budget of 0 switches thinking off; effort goes its own way.                                                        */
static void agenti_an_thinking_out(agenti_buf *b, agenti_request *r)
{
    static const char *const words[] = { "", "low", "low", "medium", "high", "max" };
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]), effort = agenti_effort(r, words), schema = agenti_format_schema(r);
    if (r->options[AGENTI_OPT_FORMAT].n && schema.n == 0) r->left_out |= AGENTI_BIT(AGENTI_OPT_FORMAT);
    if (budget.n == 0 && agenti_eq(agenti_text_view(&r->options[AGENTI_OPT_EFFORT]), "off") && !agenti_replaced(r, "thinking"))
        agenti_json_member(b, "thinking", agenti_cstr("{\"type\":\"disabled\"}"));
    if (budget.n && !agenti_replaced(r, "thinking")) {
        int adaptive = agenti_eq(budget, "adaptive");
        agenti_buf_str(b, ",\"thinking\":{\"type\":");
        agenti_buf_str(b, adaptive ? "\"adaptive\"" : agenti_an_thinks(r) ? "\"enabled\"" : "\"disabled\"");
        if (!adaptive && agenti_an_thinks(r)) agenti_json_member(b, "budget_tokens", budget);
        agenti_buf_str(b, "}");
    }
    if ((effort.n == 0 && schema.n == 0) || agenti_replaced(r, "output_config")) return;
    agenti_buf_str(b, ",\"output_config\":{");
    if (effort.n) agenti_json_member_str(b, "effort", effort);
    if (schema.n) {
        agenti_json_key(b, "format");
        agenti_buf_str(b, "{\"type\":\"json_schema\"");
        agenti_json_member(b, "schema", schema);
        agenti_buf_str(b, "}");
    }
    agenti_buf_str(b, "}");
}
/* A choice that forces a call is refused beside thinking.                                                              */
static int agenti_an_forces(agent_str choice) { return choice.n && !agenti_eq(choice, "auto") && !agenti_eq(choice, "none"); }
static agent_str agenti_an_wanted(const agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    return agenti_an_forces(choice) && agenti_an_thinks(r) ? agenti_str(NULL, 0) : choice;
}
/* What is answered and what is thought share max_tokens, so it has to be above the budget.                             */
static void agenti_an_limit_out(agenti_buf *b, const agenti_request *r)
{
    agent_str limit = agenti_text_view(&r->options[AGENTI_OPT_MAX_TOKENS]);
    int64_t most = 0, budget = 0;
    char number[24];
    if (agenti_replaced(r, "max_tokens")) return;
    if (limit.n == 0) limit = agenti_cstr("8192");
    if (agenti_an_thinks(r) && agenti_int(limit, &most) && agenti_int(agenti_text_view(&r->options[AGENTI_OPT_THINKING]), &budget)
        && most > 0 && budget >= most && budget <= INT64_MAX - most) limit = agenti_str(number, agenti_i64_text(most + budget, number));
    agenti_json_member(b, "max_tokens", limit);
}
/* Thinking is refused beside a temperature and the like.                                                               */
static void agenti_an_sampling_out(agenti_buf *b, agenti_request *r)
{
    static const int options[] = { AGENTI_OPT_TEMPERATURE, AGENTI_OPT_TOP_P, AGENTI_OPT_TOP_K };
    static const char *const keys[] = { "temperature", "top_p", "top_k" };
    int i;
    for (i = 0; i < 3; i++) {
        if (agenti_an_thinks(r) && r->options[options[i]].n && !agenti_replaced(r, keys[i])) r->left_out |= AGENTI_BIT(options[i]);
        else agenti_option_out(b, r, keys[i], options[i]);
    }
}
static void agenti_an_mark_out(agenti_buf *b, const agenti_request *r)
{
    int hour = agenti_eq(agenti_text_view(&r->options[AGENTI_OPT_CACHE]), "1h");
    agenti_buf_str(b, hour ? ",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}" : ",\"cache_control\":{\"type\":\"ephemeral\"}");
}
/* Four marks are taken: with the option prompt_cache one stands behind the system text, and the provider sets one at the end. */
enum { AGENTI_AN_MARKS = 4, AGENTI_AN_MARK = 4 };         /* r->state: its two lower bits, then the marks in messages   */
static void agenti_an_part_mark(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    int most = r->options[AGENTI_OPT_CACHE].n ? AGENTI_AN_MARKS - 2 : (int)AGENTI_AN_MARKS;
    if (!(p->flags & AGENT_PART_CACHE)) return;
    if (r->state / AGENTI_AN_MARK >= most) { r->left_out |= AGENTI_BIT(AGENTI_LEFT_MARK); return; }
    r->state += AGENTI_AN_MARK;
    agenti_an_mark_out(b, r);
}
static void agenti_an_head_rest(agenti_buf *b, agenti_request *r)
{
    agent_str system = agenti_text_view(&r->options[AGENTI_OPT_SYSTEM]);
    agenti_an_limit_out(b, r);
    agenti_an_sampling_out(b, r);
    if (r->options[AGENTI_OPT_TOOL_CHOICE].n && agenti_an_wanted(r).n == 0) r->left_out |= AGENTI_BIT(AGENTI_OPT_TOOL_CHOICE);
    agenti_stops_out(b, r, "stop_sequences");
    agenti_an_thinking_out(b, r);
    if (r->options[AGENTI_OPT_TIER].n && !agenti_replaced(r, "service_tier") && !(r->wire->lacks & AGENTI_BIT(AGENTI_OPT_TIER)))
        agenti_json_member_str(b, "service_tier", agenti_text_view(&r->options[AGENTI_OPT_TIER]));
    if (r->options[AGENTI_OPT_USER].n && !agenti_replaced(r, "metadata")) {
        agenti_buf_str(b, ",\"metadata\":{");
        agenti_json_member_str(b, "user_id", agenti_text_view(&r->options[AGENTI_OPT_USER]));
        agenti_buf_str(b, "}");
    }
    if (system.n && !agenti_replaced(r, "system")) {
        agenti_buf_str(b, ",\"system\":[{\"type\":\"text\"");
        agenti_json_member_str(b, "text", system);
        if (r->options[AGENTI_OPT_CACHE].n) agenti_an_mark_out(b, r);
        agenti_buf_str(b, "}]");
    }
    agenti_buf_str(b, ",\"messages\":[");
}
static void agenti_an_head(agenti_buf *b, agenti_request *r)
{
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "model")) agenti_json_member_str(b, "model", agenti_text_view(&r->options[AGENTI_OPT_MODEL]));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    if (r->options[AGENTI_OPT_CACHE].n && !agenti_replaced(r, "cache_control")) agenti_an_mark_out(b, r);
    agenti_an_head_rest(b, r);
}
/* Behind Bedrock the path says which model, and whether it streams; and no mark stands beside the messages.             */
static void agenti_an_invoke_head(agenti_buf *b, agenti_request *r)
{
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "anthropic_version")) agenti_json_member_str(b, "anthropic_version", agenti_cstr("bedrock-2023-05-31"));
    agenti_an_head_rest(b, r);
}
/* Behind Vertex the path says which model; whether it streams, body and path both.                                     */
static void agenti_an_vertex_head(agenti_buf *b, agenti_request *r)
{
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "anthropic_version")) agenti_json_member_str(b, "anthropic_version", agenti_cstr("vertex-2023-10-16"));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    if (r->options[AGENTI_OPT_CACHE].n && !agenti_replaced(r, "cache_control")) agenti_an_mark_out(b, r);
    agenti_an_head_rest(b, r);
}
/* Roles alternate: blocks of the same side go into one message. r->state: 0 none, else 1 + the side whose message is open: user, model,
 * or system as an import has it among the others.                                                                      */
static void agenti_an_open(agenti_buf *b, agenti_request *r, int model)
{
    static const char *const roles[] = { "user", "assistant", "system" };
    int side = r->state % AGENTI_AN_MARK;
    if (side == 1 + model) { agenti_buf_str(b, ","); return; }
    if (side) agenti_buf_str(b, "]},");
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "role", agenti_cstr(roles[model]));
    agenti_buf_str(b, ",\"content\":[");
    r->state += 1 + model - side;
}
static int agenti_an_text_open(agenti_buf *b, agenti_request *r, agent_str text, int model)           /* 0: not sent    */
{
    if (agenti_trim(text).n == 0) return 0;   /* empty and blank blocks are refused (E14)                               */
    agenti_an_open(b, r, model);
    agenti_buf_str(b, "{\"type\":\"text\"");
    agenti_json_member_str(b, "text", text);
    return 1;
}
static void agenti_an_model_text(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p, agent_str citations)
{
    if (!agenti_an_text_open(b, r, agenti_text_view(&p->text), 1)) return;
    if (agenti_is_objects(citations)) {
        agenti_buf_str(b, ",\"citations\":[");
        agenti_buf_add(b, citations.p, citations.n);
        agenti_buf_str(b, "]");
    }
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static void agenti_an_source_out(agenti_buf *b, const agenti_part *p, const char *type)
{
    agenti_buf_str(b, ",\"source\":{");
    agenti_json_member_str(b, "type", agenti_cstr(p->uri.n ? "url" : type));
    if (p->uri.n) agenti_json_member_str(b, "url", agenti_text_view(&p->uri));
    else {
        agenti_json_member_str(b, "media_type", agenti_eq(agenti_cstr(type), "text") ? agenti_cstr("text/plain") : agenti_text_view(&p->mime));
        agenti_json_member_str(b, "data", agenti_text_view(&p->text));
    }
    agenti_buf_str(b, "}");
    if (p->name.n && p->kind == AGENT_PART_FILE) agenti_json_member_str(b, "title", agenti_text_view(&p->name));
}
/* Images of four types, PDFs and plain text; by URL whatever it is.                                                    */
static const char *agenti_an_source(const agenti_part *p)                       /* the kind of its source; NULL: not taken */
{
    static const char *const images[] = { "image/jpeg", "image/png", "image/gif", "image/webp" };
    agent_str mime = agenti_text_view(&p->mime);
    size_t i;
    if (p->kind == AGENT_PART_AUDIO) return NULL;
    if (p->uri.n) return "url";
    if (p->kind == AGENT_PART_FILE) return !(p->flags & AGENT_PART_BASE64) ? "text" : agenti_ieq(mime, "application/pdf") ? "base64" : NULL;
    for (i = 0; i < 4; i++) if (agenti_ieq(mime, images[i])) return "base64";
    return NULL;
}
static void agenti_an_user_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    const char *source = agenti_is_media(p->kind) ? agenti_an_source(p) : NULL;
    int side = (m->flags & AGENT_MSG_SYSTEM) && m->wire == (const void *)r->wire ? 2 : 0;
    if (p->kind == AGENT_PART_OTHER) {
        agenti_an_open(b, r, side);
        agenti_buf_add(b, p->text.p, p->text.n);
        return;
    }
    if (!agenti_is_media(p->kind)) {
        if (!agenti_an_text_open(b, r, agenti_text_view(&p->text), side)) return;
    } else {
        agenti_an_open(b, r, side);
        agenti_buf_str(b, source == NULL ? "{\"type\":\"text\",\"text\":" : p->kind == AGENT_PART_IMAGE ? "{\"type\":\"image\"" : "{\"type\":\"document\"");
        if (source) agenti_an_source_out(b, p, source); else agenti_media_left_out(b, r, p);
    }
    agenti_an_part_mark(b, r, p);
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
/* Ids of calls are A-Z a-z 0-9 _ -; those of other providers may hold more (C21).                                      */
static void agenti_an_id_out(agenti_buf *b, const char *key, agent_str id)
{
    static const char hex[] = "0123456789abcdef";
    uint32_t hash = 2166136261u;              /* FNV-1a: ids that differ stay apart                                     */
    size_t i, start;
    int changed = 0;
    agenti_json_key(b, key);
    agenti_buf_str(b, "\"");
    start = b->n;
    agenti_buf_add(b, id.p, id.n);
    for (i = start; i < b->n; i++) {
        char c = agenti_lower(b->p[i]);
        hash = (hash ^ (unsigned char)b->p[i]) * 16777619u;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-') continue;
        b->p[i] = '_';
        changed = 1;
    }
    for (i = 0; changed && i < 8; i++) agenti_buf_add(b, hex + (hash >> (28 - 4 * i) & 15), 1);
    agenti_buf_str(b, "\"");
}
static void agenti_an_model_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int keeps = p->kind == AGENT_PART_REASONING || p->kind == AGENT_PART_OTHER;
    int good = m->model == r->model && !(p->flags & AGENT_PART_CUT);
    if (p->kind == AGENT_PART_TEXT) {
        agenti_an_model_text(b, r, m, p, good ? agenti_text_view(&p->data) : agenti_str(NULL, 0));
        return;
    }
    if (agenti_is_media(p->kind)) return;     /* no model of this format makes files                                    */
    if (keeps && !good) { if (m->model != r->model) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING); return; }
    if (p->kind == AGENT_PART_REASONING && p->data.n == 0 && !(r->dialect & AGENT_DIALECT_UNSIGNED_THINKING)) return;
    agenti_an_open(b, r, 1);
    if (p->kind == AGENT_PART_OTHER) { agenti_buf_add(b, p->text.p, p->text.n); return; }
    if (p->kind == AGENT_PART_REASONING) {
        agenti_buf_str(b, "{\"type\":\"thinking\"");
        agenti_json_member_str(b, "thinking", agenti_text_view(&p->text));
        if (p->data.n) agenti_json_member_str(b, "signature", agenti_text_view(&p->data));
    } else {
        int usable = p->text.n && !(p->flags & AGENT_PART_INVALID);
        agenti_buf_str(b, "{\"type\":\"tool_use\"");
        agenti_an_id_out(b, "id", agenti_text_view(&p->wire_id));
        agenti_tool_name_out(b, agenti_text_view(&p->name));
        agenti_json_member(b, "input", usable ? agenti_text_view(&p->text) : agenti_cstr("{}"));
    }
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static void agenti_an_result_out(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    agent_str text = agenti_text_view(&p->text);
    agenti_an_open(b, r, 0);
    agenti_buf_str(b, "{\"type\":\"tool_result\"");
    agenti_an_id_out(b, "tool_use_id", agenti_text_view(&p->wire_id));
    if (!agenti_own_content(r, m, p)) agenti_json_member_str(b, "content", agenti_trim(text).n ? text : agenti_cstr("(no output)"));
    if (p->flags & AGENT_PART_ERROR) agenti_buf_str(b, ",\"is_error\":true");
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static void agenti_an_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i;
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        if (m->role == AGENT_USER) agenti_an_user_part(b, r, m, p);
        else if (m->role == AGENT_TOOLS) agenti_an_result_out(b, r, m, p);
        else agenti_an_model_part(b, r, m, p);
    }
}
static void agenti_an_choice(agenti_buf *b, const agenti_request *r)
{
    agent_str choice = agenti_an_wanted(r), parallel = agenti_text_view(&r->options[AGENTI_OPT_PARALLEL]);
    if (r->tools_off) { agenti_json_member(b, "tool_choice", agenti_cstr("{\"type\":\"none\"}")); return; }
    if (agenti_replaced(r, "tool_choice") || (!agenti_eq(parallel, "false") && (choice.n == 0 || r->choice_off))) return;
    agenti_buf_str(b, ",\"tool_choice\":{\"type\":");
    if (choice.n == 0 || r->choice_off || agenti_eq(choice, "auto")) agenti_buf_str(b, "\"auto\"");
    else if (agenti_eq(choice, "none")) agenti_buf_str(b, "\"none\"");
    else if (agenti_eq(choice, "required")) agenti_buf_str(b, "\"any\"");
    else {
        agenti_buf_str(b, "\"tool\"");
        agenti_json_member_str(b, "name", choice);
    }
    if (agenti_eq(parallel, "false")) agenti_buf_str(b, ",\"disable_parallel_tool_use\":true");
    agenti_buf_str(b, "}");
}
static void agenti_an_tail(agenti_buf *b, const agenti_request *r)
{
    agenti_request with = *r;
    if (r->note && agenti_an_text_open(b, &with, agenti_cstr(r->note), 0)) agenti_buf_str(b, "}");
    agenti_buf_str(b, with.state % AGENTI_AN_MARK ? "]}]" : "]");
    if (r->tool_count || agenti_replaced(r, "tools")) agenti_an_choice(b, r);
}
static void agenti_an_tools_out(agenti_buf *b, const agenti_request *r)
{
    agenti_tools_list(b, r, "{", "input_schema", ",\"strict\":true}", "}");
}
static const char *const agenti_an_parts[] = { "text", "thinking", "partial_json", NULL };
static const char *const agenti_an_routing[] = { "type", "index", NULL };
static const char *const agenti_an_owner[] = { "index", NULL };
static const char *const agenti_an_held[] = { "content_block", "message", NULL };       /* each begins something         */
static const char *const agenti_an_none[] = { NULL };
#define AGENTI_AN_ROW(name, path, whole_path, framing, header, value, lacks, head) { name, path, whole_path, framing, header, value, \
    lacks | AGENTI_BIT(AGENTI_OPT_SEED) | AGENTI_BIT(AGENTI_OPT_FREQUENCY) | AGENTI_BIT(AGENTI_OPT_PRESENCE) | AGENTI_BIT(AGENTI_OPT_CACHE_KEY), \
    head, NULL, agenti_an_message_out, agenti_an_tail, agenti_an_tools_out, agenti_extra_out, agenti_an_event, agenti_an_whole, NULL, \
    { agenti_an_parts, agenti_an_routing, agenti_an_owner, 1, agenti_an_held }, \
    { agenti_an_parts, agenti_an_routing, agenti_an_owner, 1, agenti_an_none }, AGENTI_IMPORTER(agenti_anthropic_import), NULL }
static const agenti_wire agenti_anthropic_wires[] = {
    AGENTI_AN_ROW("anthropic", "/messages", NULL, AGENTI_FRAMING_SSE, "anthropic-version", "2023-06-01", 0, agenti_an_head),
    AGENTI_AN_ROW("vertex-anthropic", "/models/{model}:streamRawPredict", "/models/{model}:rawPredict", AGENTI_FRAMING_SSE, NULL, NULL,
                  AGENTI_BIT(AGENTI_OPT_TIER), agenti_an_vertex_head)
#ifndef AGENT_NO_BEDROCK
    , AGENTI_AN_ROW("bedrock-invoke", "/model/{model}/invoke-with-response-stream", "/model/{model}/invoke", AGENTI_FRAMING_BYTES, NULL, NULL,
                    AGENTI_BIT(AGENTI_OPT_TIER), agenti_an_invoke_head)
#endif
};
AGENTI_FN const agenti_wire *agenti_anthropic(void) { return &agenti_anthropic_wires[0]; }
AGENTI_FN const agenti_wire *agenti_anthropic_vertex(void) { return &agenti_anthropic_wires[1]; }
#ifndef AGENT_NO_BEDROCK
AGENTI_FN const agenti_wire *agenti_anthropic_invoke(void) { return &agenti_anthropic_wires[2]; }
#endif
#endif
#endif
