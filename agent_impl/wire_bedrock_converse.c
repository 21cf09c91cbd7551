/* Bedrock Converse: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html and API_runtime_Converse.
 * Blocks are told apart by their index and by what is in them: only calls are started, texts and thoughts begin with their first delta.
 * Redacted thoughts, and what the provider runs itself, go back as they came. */
#ifndef AGENT_NO_BEDROCK
AGENTI_FN const agenti_wire *agenti_bedrock_converse(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_BEDROCK_CONVERSE
/* What images and documents are called here; images stand first.                                                       */
enum { AGENTI_BC_IMAGES = 4, AGENTI_BC_TXT = 11, AGENTI_BC_FORMATS = 13 };
static const struct { const char *format, *mime; } agenti_bc_formats[AGENTI_BC_FORMATS] = {
    { "png", "image/png" }, { "jpeg", "image/jpeg" }, { "gif", "image/gif" }, { "webp", "image/webp" },
    { "pdf", "application/pdf" }, { "csv", "text/csv" }, { "doc", "application/msword" }, { "xls", "application/vnd.ms-excel" },
    { "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document" },
    { "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" },
    { "html", "text/html" }, { "txt", "text/plain" }, { "md", "text/markdown" }
};

/* ---- answers ---- */
/* agenti_lane.kind: a lane is an open block. id: its start as it came; more: what deltas add to it; whole: the row of an image's format. */
enum { AGENTI_BB_TEXT = 1, AGENTI_BB_REASONING, AGENTI_BB_REDACTED, AGENTI_BB_CALL, AGENTI_BB_RAN, AGENTI_BB_RESULT, AGENTI_BB_IMAGE };
enum { AGENTI_BC_STOPPED = 1, AGENTI_BC_COUNTED = 2 };        /* agenti_decoder.sourced: messageStop, metadata came      */
enum { AGENTI_BE_INDEX, AGENTI_BE_START, AGENTI_BE_DELTA, AGENTI_BE_STOP, AGENTI_BE_MORE, AGENTI_BE_USAGE, AGENTI_BE_TRACE, AGENTI_BE_METRICS,
       AGENTI_BE_FIELDS };
static const agenti_field agenti_bc_event_rows[AGENTI_BE_FIELDS] = {          /* of all events, and of a whole answer   */
    { "contentBlockIndex", -1 }, { "start", -1 }, { "delta", -1 }, { "stopReason", -1 }, { "additionalModelResponseFields", -1 },
    { "usage", -1 }, { "trace", -1 }, { "metrics", -1 }
};
enum { AGENTI_BK_TEXT, AGENTI_BK_CALL, AGENTI_BK_RESULT, AGENTI_BK_REASONING, AGENTI_BK_R_TEXT, AGENTI_BK_R_SIGNATURE, AGENTI_BK_R_REDACTED,
       AGENTI_BK_R_WHOLE, AGENTI_BK_CITATION, AGENTI_BK_CITED, AGENTI_BK_IMAGE, AGENTI_BK_FIELDS };
static const agenti_field agenti_bc_block_rows[AGENTI_BK_FIELDS] = {          /* of a start, a delta and a whole block  */
    { "text", -1 }, { "toolUse", -1 }, { "toolResult", -1 }, { "reasoningContent", -1 }, { "text", AGENTI_BK_REASONING },
    { "signature", AGENTI_BK_REASONING }, { "redactedContent", AGENTI_BK_REASONING }, { "reasoningText", AGENTI_BK_REASONING },
    { "citation", -1 }, { "citationsContent", -1 }, { "image", -1 }
};

static int64_t agenti_bc_sum(int64_t a, int64_t b) { return b <= 0 ? a : a > INT64_MAX - b ? INT64_MAX : a + b; }
/* inputTokens leaves cached tokens out.                                                                                */
static AGENTI_NOINLINE void agenti_bc_usage(agenti_decoder *d, agent_str usage)
{
    enum { INPUT, OUTPUT, READ, WRITTEN, FIELDS };
    static const agenti_field rows[FIELDS] = {
        { "inputTokens", -1 }, { "outputTokens", -1 }, { "cacheReadInputTokens", -1 }, { "cacheWriteInputTokens", -1 }
    };
    agent_str f[FIELDS];
    agent_usage *u = &d->usage;
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, rows, FIELDS, f);
    if (f[READ].n) (void)agenti_count(f[READ], &u->cached);
    if (f[WRITTEN].n) (void)agenti_count(f[WRITTEN], &u->cache_write);
    if (f[OUTPUT].n) (void)agenti_count(f[OUTPUT], &u->output);
    if (f[INPUT].n && agenti_count(f[INPUT], &u->input)) u->input = agenti_bc_sum(agenti_bc_sum(u->input, u->cached), u->cache_write);
    d->has_usage = 1;
}
static int agenti_bc_reason(agenti_decoder *d, agent_str value)
{
    static const struct { const char *word; int finish; } rows[] = {
        { "end_turn", AGENT_FINISH_STOP }, { "stop_sequence", AGENT_FINISH_STOP }, { "tool_use", AGENT_FINISH_TOOLS },
        { "max_tokens", AGENT_FINISH_LENGTH }, { "model_context_window_exceeded", AGENT_FINISH_LENGTH },
        { "guardrail_intervened", AGENT_FINISH_FILTER }, { "content_filtered", AGENT_FINISH_FILTER },
        { "malformed_tool_use", AGENT_FINISH_ERROR }, { "malformed_model_output", AGENT_FINISH_ERROR }
    };
    agent_str raw;
    size_t i;
    int finish = AGENT_FINISH_OTHER;
    if (!agenti_json_string(value, NULL, &d->arena, &raw)) return 0;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (agenti_eq(raw, rows[i].word)) finish = rows[i].finish;
    agenti_finish_set(d, finish, raw);
    return 1;
}

/* ---- blocks ---- */
/* The open block of a kind at an index: another kind at the same index is another block (H11). NULL: none.             */
static agenti_lane *agenti_bc_find(agenti_decoder *d, int64_t index, int kind)
{
    uint32_t i;
    for (i = d->lane_n; i-- > 0;) if (d->lanes[i].index == index && d->lanes[i].kind == kind) return &d->lanes[i];
    return NULL;
}
/* That block, or a new one. *l NULL: there are too many. 0: no memory                                                   */
static int agenti_bc_open(agenti_decoder *d, int64_t index, int kind, agenti_lane **l)
{
    if ((*l = agenti_bc_find(d, index, kind)) != NULL) return 1;
    if (d->lane_n >= d->call_limit) return agenti_too_many(d);
    if ((*l = agenti_lane_new(d)) == NULL) return 0;
    (*l)->key = ++d->streams;
    (*l)->index = index;
    (*l)->kind = (uint8_t)kind;
    return 1;
}
/* A piece of text or thoughts, which opens its block unless it is empty (H5); or of the signature of thoughts, which may not be shown. */
static int agenti_bc_add(agenti_decoder *d, int64_t index, int op_kind, agent_str value)
{
    agenti_lane *l;
    agenti_op *op;
    agent_str text;
    if (!agenti_nonempty(value)) return 1;
    if (!agenti_bc_open(d, index, op_kind == AGENTI_OP_TEXT ? AGENTI_BB_TEXT : AGENTI_BB_REASONING, &l)) return 0;
    if (l == NULL) return 1;
    if (op_kind == AGENTI_OP_DATA && !l->named && agenti_op_add(d, AGENTI_OP_REASONING, l->key) == NULL) return 0;
    l->named = 1;                             /* its part was begun                                                     */
    if (!agenti_json_string(value, op_kind == AGENTI_OP_DATA ? NULL : &l->high, &d->arena, &text)) return 0;
    if ((op = agenti_op_add(d, op_kind, l->key)) == NULL) return 0;
    op->a = text;
    return 1;
}
/* Redacted thoughts are bytes in pieces, each in base64 of its own (H9).                                               */
static int agenti_bc_redacted(agenti_decoder *d, int64_t index, agent_str value)
{
    agenti_lane *l;
    agent_str code;
    if (!agenti_nonempty(value)) return 1;
    if (!agenti_json_string(value, NULL, &d->arena, &code)) return 0;
    if (!agenti_base64_ok(code)) return 1;
    if (!agenti_bc_open(d, index, AGENTI_BB_REDACTED, &l)) return 0;
    if (l == NULL) return 1;
    code.n = agenti_base64_bytes(code, (char *)(uintptr_t)code.p);
    return agenti_text_add(&l->more, d->pool, d->graves, code);
}
static int agenti_bc_reasoning(agenti_decoder *d, int64_t index, const agent_str *f)
{
    agent_str whole = f[AGENTI_BK_R_WHOLE], text = f[AGENTI_BK_R_TEXT], signature = f[AGENTI_BK_R_SIGNATURE];
    if (agenti_is_object(whole)) {            /* both before one is decoded, in place                                   */
        text = agent_json_get(whole, "text");
        signature = agent_json_get(whole, "signature");
    }
    return agenti_bc_add(d, index, AGENTI_OP_REASONING, text) && agenti_bc_add(d, index, AGENTI_OP_DATA, signature)
        && agenti_bc_redacted(d, index, f[AGENTI_BK_R_REDACTED]);
}
/* Arguments of a call: a string in pieces, or an object at once. Those of a call that the provider runs are kept.       */
static int agenti_bc_args(agenti_decoder *d, int64_t index, agent_str value)
{
    agenti_lane *ran = agenti_bc_find(d, index, AGENTI_BB_RAN), *l = ran ? ran : agenti_bc_find(d, index, AGENTI_BB_CALL);
    agenti_op *op;
    agent_str text = value;
    if (l == NULL || (!agenti_nonempty(value) && !agenti_is_object(value)) || agenti_eq(value, "{}")) return 1;
    if (agenti_is_object(value) ? !agenti_raw_of(d, value, &text) : !agenti_json_string(value, &l->high, &d->arena, &text)) return 0;
    if (ran) return agenti_text_add(&ran->more, d->pool, d->graves, text);
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, l->key)) == NULL) return 0;
    op->a = text;
    return 1;
}
/* What the provider runs is kept, until it is complete: its start, as it came, and what deltas bring.                  */
static int agenti_bc_keep(agenti_decoder *d, int64_t index, int kind, agent_str start)
{
    agenti_lane *l;
    agent_str raw;
    if (!agenti_bc_open(d, index, kind, &l)) return 0;
    return l == NULL || (agenti_raw_of(d, start, &raw) && agenti_text_set(&l->id, d->pool, d->graves, raw));
}
static int agenti_bc_call(agenti_decoder *d, int64_t index, agent_str use)
{
    agenti_lane *l;
    agenti_op *op;
    if (agent_json_is(agent_json_get(use, "type"), "server_tool_use")) return agenti_bc_keep(d, index, AGENTI_BB_RAN, use);
    if (!agenti_bc_open(d, index, AGENTI_BB_CALL, &l)) return 0;
    if (l == NULL) return 1;
    l->call = 1;
    if ((op = agenti_op_add(d, AGENTI_OP_CALL, l->key)) == NULL) return 0;
    return agenti_string_of(d, agent_json_get(use, "toolUseId"), &op->a) && agenti_string_of(d, agent_json_get(use, "name"), &op->b)
        && agenti_bc_args(d, index, agent_json_get(use, "input"));
}
/* Contents of a result, each an object, gathered as the members of an array.                                           */
static int agenti_bc_contents(agenti_decoder *d, int64_t index, agent_str list)
{
    agenti_lane *l = agenti_bc_find(d, index, AGENTI_BB_RESULT);
    agent_str item, raw;
    size_t pos = 0;
    while (l && agenti_is_array(list) && agent_json_each(list, &pos, NULL, &item))
        if (!agenti_raw_of(d, item, &raw) || !agenti_text_add(&l->more, d->pool, d->graves, agenti_cstr(l->more.n ? "," : "["))
            || !agenti_text_add(&l->more, d->pool, d->graves, raw)) return 0;
    return 1;
}
/* A page is a source; places in documents have no address, and are shown as they came.                                 */
static int agenti_bc_cite(agenti_decoder *d, agent_str citation)
{
    agent_str url, title;
    if (!agenti_is_object(citation)) return 1;
    url = agent_json_get(citation, "location.web.url");
    title = agent_json_get(citation, "title");
    if (!agenti_nonempty(title)) title = agent_json_get(citation, "location.web.domain");
    return agenti_nonempty(url) ? agenti_source_add(d, url, title) : agenti_news_add(d, citation, "citation");
}
static int agenti_bc_cited(agenti_decoder *d, int64_t index, agent_str cited)
{
    agent_str item, texts = agent_json_get(cited, "content"), list = agent_json_get(cited, "citations");
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &item)) if (!agenti_bc_cite(d, item)) return 0;
    pos = 0;
    while (agenti_is_array(texts) && agent_json_each(texts, &pos, NULL, &item))
        if (!agenti_bc_add(d, index, AGENTI_OP_TEXT, agent_json_get(item, "text"))) return 0;
    return 1;
}
static uint8_t agenti_bc_image_row(agent_str image)
{
    uint8_t i = AGENTI_BC_IMAGES;
    while (i > 0 && !agent_json_is(agent_json_get(image, "format"), agenti_bc_formats[i - 1].format)) i--;
    return i > 0 ? (uint8_t)(i - 1) : 0;
}
/* An image: of a stream its format stands in the block's start.                                                        */
static int agenti_bc_image(agenti_decoder *d, int64_t index, agent_str image)
{
    agenti_lane *l = agenti_bc_find(d, index, AGENTI_BB_IMAGE);
    if (!agenti_is_object(image)) return 1;
    return agenti_file_add(d, AGENT_PART_IMAGE, agent_json_get(image, "source.bytes"), agenti_bc_formats[l ? l->whole : agenti_bc_image_row(image)].mime);
}

/* ---- the end of a block ---- */
static int agenti_bc_raw(agenti_decoder *d, const agenti_buf *b, int flags, const char *name)        /* 0: no memory     */
{
    agenti_op *op;
    char *p = b->bad ? NULL : agenti_arena_get(&d->arena, b->n);
    if (p == NULL || (op = agenti_op_add(d, AGENTI_OP_RAW, 0)) == NULL) return 0;
    memcpy(p, b->p, b->n);
    AGENTI_TOUCH(b->n);
    op->a = agenti_str(p, b->n);
    op->b = agenti_cstr(name);
    op->flags = (uint8_t)flags;
    return 1;
}
static int agenti_bc_redacted_end(agenti_decoder *d, const agenti_lane *l)
{
    agenti_buf b;
    int ok;
    agenti_buf_init(&b, d->pool);
    agenti_buf_str(&b, "{\"reasoningContent\":{\"redactedContent\":\"");
    agenti_base64_to(&b, agenti_text_view(&l->more));
    agenti_buf_str(&b, "\"}}");
    ok = agenti_bc_raw(d, &b, 0, "reasoningContent");
    agenti_buf_free(&b);
    return ok;
}
/* The start of a kept block with the member that deltas brought.                                                       */
static void agenti_bc_fill(agenti_buf *b, const agenti_lane *l, const char *member, uint32_t depth)
{
    agent_str start = agenti_text_view(&l->id), more = agenti_text_view(&l->more), old = agent_json_get(start, member), key, value;
    size_t pos = 0;
    if (more.n == 0 || agent_json_check(more.p, more.n, depth, NULL) != AGENT_OK) more = old;
    if (more.n == 0) more = agenti_cstr(l->kind == AGENTI_BB_RAN ? "{}" : "[]");
    agenti_buf_str(b, l->kind == AGENTI_BB_RAN ? "{\"toolUse\":{" : "{\"toolResult\":{");
    while (agent_json_each(start, &pos, &key, &value)) {
        if (value.p == old.p) continue;
        agenti_json_comma(b);
        agenti_buf_add(b, key.p - 1, key.n + 2);
        agenti_buf_str(b, ":");
        agenti_buf_add(b, value.p, value.n);
    }
    agenti_json_member(b, member, more);
    agenti_buf_str(b, "}}");
}
/* A call that the provider runs, or its result: the block as it goes back, and what it is to the host (H10).            */
static int agenti_bc_kept(agenti_decoder *d, agenti_lane *l)
{
    int ran = l->kind == AGENTI_BB_RAN, ok;
    const char *name = ran ? "toolUse" : "toolResult", *member = ran ? "input" : "content";
    agent_str block;
    agenti_op *op;
    agenti_buf b;
    if (!ran && l->more.n && !agenti_text_add(&l->more, d->pool, d->graves, agenti_cstr("]"))) return 0;
    agenti_buf_init(&b, d->pool);
    agenti_bc_fill(&b, l, member, d->depth_limit);
    ok = agenti_bc_raw(d, &b, AGENTI_RAW_QUIET, name);
    agenti_buf_free(&b);
    if (!ok) return 0;
    block = agent_json_get(d->ops[d->op_n - 1].a, name);
    if ((op = agenti_op_add(d, ran ? AGENTI_OP_RAN : AGENTI_OP_RESULT, 0)) == NULL) return 0;
    op->c = agent_json_get(block, member);
    if (agent_json_is(agent_json_get(block, "status"), "error")) op->flags = AGENT_PART_ERROR;
    return agenti_string_of(d, agent_json_get(block, "toolUseId"), &op->a) && (!ran || agenti_string_of(d, agent_json_get(block, "name"), &op->b));
}
static int agenti_bc_end_lane(agenti_decoder *d, agenti_lane *l)
{
    agenti_op *op;
    if (l->kind == AGENTI_BB_REDACTED) return agenti_bc_redacted_end(d, l);
    if (l->kind == AGENTI_BB_RAN || l->kind == AGENTI_BB_RESULT) return agenti_bc_kept(d, l);
    if (l->high) {                            /* the other half of a pair never came                                    */
        int kind = l->kind == AGENTI_BB_CALL ? AGENTI_OP_ARGS : l->kind == AGENTI_BB_TEXT ? AGENTI_OP_TEXT : AGENTI_OP_REASONING;
        if ((op = agenti_op_add(d, kind, l->key)) == NULL) return 0;
        op->a = agenti_cstr("\xEF\xBF\xBD");
    }
    return l->kind > AGENTI_BB_REASONING || agenti_op_add(d, AGENTI_OP_END, l->key) != NULL;
}
/* Ends what is open at an index, or everything.                                                                        */
static int agenti_bc_end(agenti_decoder *d, int64_t index, int all)
{
    uint32_t i = 0;
    while (i < d->lane_n) {
        agenti_lane *l = &d->lanes[i];
        if (!all && l->index != index) { i++; continue; }
        if (!agenti_bc_end_lane(d, l)) return 0;
        agenti_lane_free(d, l);
        memmove(l, l + 1, (--d->lane_n - i) * sizeof *l);
    }
    return 1;
}

/* ---- events ---- */
/* A start, of a stream; or a whole block. Another block at the index is over.                                          */
static AGENTI_NOINLINE int agenti_bc_start(agenti_decoder *d, int64_t index, agent_str start)
{
    agent_str f[AGENTI_BK_FIELDS], image;
    agenti_lane *l;
    agenti_json_pick(start, agenti_bc_block_rows, AGENTI_BK_FIELDS, f);
    if (!agenti_bc_end(d, index, 0)) return 0;
    if (agenti_is_object(f[AGENTI_BK_CALL])) return agenti_bc_call(d, index, f[AGENTI_BK_CALL]);
    if (agenti_is_object(f[AGENTI_BK_RESULT])) return agenti_bc_keep(d, index, AGENTI_BB_RESULT, f[AGENTI_BK_RESULT]);
    image = f[AGENTI_BK_IMAGE];
    if (!agenti_is_object(image)) return 1;
    if (!agenti_bc_open(d, index, AGENTI_BB_IMAGE, &l)) return 0;
    if (l) l->whole = agenti_bc_image_row(image);
    return 1;
}
static AGENTI_NOINLINE int agenti_bc_delta(agenti_decoder *d, int64_t index, agent_str delta)
{
    agent_str f[AGENTI_BK_FIELDS];
    agenti_json_pick(delta, agenti_bc_block_rows, AGENTI_BK_FIELDS, f);
    if (agenti_is_object(f[AGENTI_BK_REASONING])) return agenti_bc_reasoning(d, index, f);
    if (agenti_is_object(f[AGENTI_BK_CALL])) return agenti_bc_args(d, index, agent_json_get(f[AGENTI_BK_CALL], "input"));
    return agenti_bc_add(d, index, AGENTI_OP_TEXT, f[AGENTI_BK_TEXT]) && agenti_bc_contents(d, index, f[AGENTI_BK_RESULT])
        && agenti_bc_cite(d, f[AGENTI_BK_CITATION]) && agenti_bc_image(d, index, f[AGENTI_BK_IMAGE]);
}
/* What ends the stream, in either order (H6), or stands beside a whole message.                                        */
static int agenti_bc_ending(agenti_decoder *d, const agent_str *f)
{
    if (agenti_is_string(f[AGENTI_BE_STOP])) {
        d->sourced |= AGENTI_BC_STOPPED;
        if (!agenti_bc_end(d, 0, 1) || !agenti_bc_reason(d, f[AGENTI_BE_STOP])) return 0;
    }
    if (f[AGENTI_BE_USAGE].n || f[AGENTI_BE_METRICS].n) d->sourced |= AGENTI_BC_COUNTED;
    agenti_bc_usage(d, f[AGENTI_BE_USAGE]);
    d->done = d->sourced == (AGENTI_BC_STOPPED | AGENTI_BC_COUNTED);
    return agenti_news_add(d, f[AGENTI_BE_MORE], "additionalModelResponseFields") && agenti_news_add(d, f[AGENTI_BE_TRACE], "trace");
}
static int agenti_bc_event(agenti_decoder *d, agent_str event, agent_str data)
{
    agent_str f[AGENTI_BE_FIELDS];
    int64_t index = -1;
    data = agenti_trim(data);
    if (data.n == 0) return 1;
    if (data.p[0] != '{' || agent_json_check(data.p, data.n, d->depth_limit, NULL) != AGENT_OK) return agenti_payload_bad(d);
    agenti_json_pick(data, agenti_bc_event_rows, AGENTI_BE_FIELDS, f);
    if (f[AGENTI_BE_INDEX].n) (void)agenti_int(f[AGENTI_BE_INDEX], &index);
    if (agenti_is_object(f[AGENTI_BE_DELTA])) return agenti_bc_delta(d, index, f[AGENTI_BE_DELTA]);
    if (agenti_is_object(f[AGENTI_BE_START])) return agenti_bc_start(d, index, f[AGENTI_BE_START]);
    return agenti_eq(event, "contentBlockStop") ? agenti_bc_end(d, index, 0) : agenti_bc_ending(d, f);
}
static AGENTI_NOINLINE int agenti_bc_block(agenti_decoder *d, agent_str block)
{
    agent_str f[AGENTI_BK_FIELDS], key, value;
    agenti_op *op;
    size_t pos = 0;
    agenti_json_pick(block, agenti_bc_block_rows, AGENTI_BK_FIELDS, f);
    if (agenti_is_object(f[AGENTI_BK_CALL]) || agenti_is_object(f[AGENTI_BK_RESULT])) return agenti_bc_start(d, 0, block);
    if (agenti_is_object(f[AGENTI_BK_REASONING])) return agenti_bc_reasoning(d, 0, f);
    if (agenti_is_object(f[AGENTI_BK_CITED])) return agenti_bc_cited(d, 0, f[AGENTI_BK_CITED]);
    if (agenti_is_object(f[AGENTI_BK_IMAGE])) return agenti_bc_image(d, 0, f[AGENTI_BK_IMAGE]);
    if (agenti_is_string(f[AGENTI_BK_TEXT])) return agenti_bc_add(d, 0, AGENTI_OP_TEXT, f[AGENTI_BK_TEXT]);
    if (!agent_json_each(block, &pos, &key, &value)) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_RAW, 0)) == NULL || !agenti_raw_of(d, block, &op->a)) return 0;
    return agenti_string_of(d, agenti_str(key.p - 1, key.n + 2), &op->b);                /* a kind that is not known here */
}
static int agenti_bc_whole(agenti_decoder *d, agent_str body)
{
    agent_str f[AGENTI_BE_FIELDS], list, block;
    size_t pos = 0;
    list = agenti_is_object(body) ? agent_json_get(body, "output.message.content") : body;
    if (!agenti_is_object(body) || !agenti_is_array(list)) {
        if (agenti_is_object(body) && agenti_is_string(agent_json_get(body, "message"))) agenti_fault_object(d, body, 0);
        else agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr(AGENTI_WHY("the answer is no message")));
        return 1;
    }
    agenti_json_pick(body, agenti_bc_event_rows, AGENTI_BE_FIELDS, f);                   /* before strings are decoded in place */
    while (agent_json_each(list, &pos, NULL, &block))
        if (agenti_is_object(block) && (!agenti_bc_block(d, block) || !agenti_bc_end(d, 0, 1))) return 0;
    if (!agenti_bc_ending(d, f)) return 0;
    d->done = 1;
    return 1;
}

/* ---- requests ---- */
enum { AGENTI_BC_SIDE = 3, AGENTI_BC_TOOLS = 4, AGENTI_BC_MARK = 8, AGENTI_BC_MARKS = 4 };      /* r->state: the side whose message is open,
                                                                     whether there were calls, the cache points of messages */
static const char *const agenti_bc_fields_key = "additionalModelRequestFields";

/* Thinking has no place of its own: each maker's models read another member of additionalModelRequestFields.           */
enum { AGENTI_BC_CLAUDE, AGENTI_BC_NOVA, AGENTI_BC_GPT, AGENTI_BC_QWEN };
static int agenti_bc_maker(const agenti_request *r)
{
    agent_str model = agenti_text_view(&r->options[AGENTI_OPT_MODEL]);
    return agenti_find(model, "amazon.nova") ? AGENTI_BC_NOVA : agenti_find(model, "openai.") ? AGENTI_BC_GPT
         : agenti_find(model, "qwen.") ? AGENTI_BC_QWEN : AGENTI_BC_CLAUDE;
}
static int agenti_bc_thinks(const agenti_request *r)
{
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]), type;
    if (agenti_replaced(r, agenti_bc_fields_key)) {
        type = agent_json_get(r->extra, "additionalModelRequestFields.thinking.type");
        return type.n && !agent_json_is(type, "disabled");
    }
    return budget.n && !agenti_eq(budget, "0") && agenti_bc_maker(r) == AGENTI_BC_CLAUDE;
}
static void agenti_bc_budget_out(agenti_buf *b, const agenti_request *r)
{
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]);
    int adaptive = agenti_eq(budget, "adaptive");
    agenti_json_key(b, "thinking");
    agenti_buf_str(b, adaptive ? "{\"type\":\"adaptive\"" : agenti_bc_thinks(r) ? "{\"type\":\"enabled\"" : "{\"type\":\"disabled\"");
    if (!adaptive && agenti_bc_thinks(r)) agenti_json_member(b, "budget_tokens", budget);
    agenti_buf_str(b, "}");
}
static void agenti_bc_effort_out(agenti_buf *b, int maker, agent_str effort)
{
    static const char *const before[] = { "{", "{\"type\":\"enabled\"" }, *const keys[] = { "output_config", "reasoningConfig" },
        *const words[] = { "effort", "maxReasoningEffort" };
    if (maker == AGENTI_BC_GPT) agenti_json_member_str(b, "reasoning_effort", effort);
    else if (maker == AGENTI_BC_QWEN) agenti_json_member_str(b, "reasoning_config", effort);
    else {
        agenti_json_key(b, keys[maker]);
        agenti_buf_str(b, before[maker]);
        agenti_json_member_str(b, words[maker], effort);
        agenti_buf_str(b, "}");
    }
}
/* An object that is left out when nothing is in it: where it begins, then its end.                                     */
static size_t agenti_bc_object(agenti_buf *b, const char *key)
{
    size_t at = b->n;
    agenti_json_key(b, key);
    agenti_buf_str(b, "{");
    return at;
}
static void agenti_bc_object_end(agenti_buf *b, size_t at)
{
    if (!b->bad && b->p[b->n - 1] == '{') b->n = at; else agenti_buf_str(b, "}");
}
static void agenti_bc_fields_out(agenti_buf *b, agenti_request *r)
{
    static const char *const claude[] = { "", "low", "low", "medium", "high", "max" }, *const others[] = { "", "low", "low", "medium", "high", "high" };
    int maker = agenti_bc_maker(r), budget = r->options[AGENTI_OPT_THINKING].n != 0;
    agent_str effort = agenti_effort(r, maker == AGENTI_BC_CLAUDE ? claude : others);
    size_t at;
    if (agenti_replaced(r, agenti_bc_fields_key)) return;
    at = agenti_bc_object(b, agenti_bc_fields_key);
    if (budget && maker == AGENTI_BC_CLAUDE) agenti_bc_budget_out(b, r);
    if (budget && maker != AGENTI_BC_CLAUDE) r->left_out |= AGENTI_BIT(AGENTI_OPT_THINKING);
    if (!budget && maker == AGENTI_BC_CLAUDE && agenti_eq(agenti_text_view(&r->options[AGENTI_OPT_EFFORT]), "off"))
        agenti_json_member(b, "thinking", agenti_cstr("{\"type\":\"disabled\"}"));
    if (effort.n) agenti_bc_effort_out(b, maker, effort);
    if (r->options[AGENTI_OPT_TOP_K].n) {
        if (maker == AGENTI_BC_CLAUDE && !agenti_bc_thinks(r)) agenti_json_member(b, "top_k", agenti_text_view(&r->options[AGENTI_OPT_TOP_K]));
        else r->left_out |= AGENTI_BIT(AGENTI_OPT_TOP_K);
    }
    agenti_bc_object_end(b, at);
}
/* What is answered and what is thought share maxTokens, so it has to be above the budget; without it the model's most is taken. */
static void agenti_bc_limit_out(agenti_buf *b, const agenti_request *r)
{
    agent_str limit = agenti_text_view(&r->options[AGENTI_OPT_MAX_TOKENS]);
    int64_t most = 0, budget = 0;
    char number[24];
    if (limit.n == 0) return;
    if (agenti_bc_thinks(r) && agenti_int(limit, &most) && agenti_int(agenti_text_view(&r->options[AGENTI_OPT_THINKING]), &budget)
        && most > 0 && budget >= most && budget <= INT64_MAX - most) limit = agenti_str(number, agenti_i64_text(most + budget, number));
    agenti_json_member(b, "maxTokens", limit);
}
static void agenti_bc_config_out(agenti_buf *b, agenti_request *r)
{
    static const int options[] = { AGENTI_OPT_TEMPERATURE, AGENTI_OPT_TOP_P };
    static const char *const keys[] = { "temperature", "topP" };
    size_t at;
    int i;
    if (agenti_replaced(r, "inferenceConfig")) return;
    at = agenti_bc_object(b, "inferenceConfig");
    agenti_bc_limit_out(b, r);
    for (i = 0; i < 2; i++) {
        if (r->options[options[i]].n == 0) continue;
        if (agenti_bc_thinks(r)) r->left_out |= AGENTI_BIT(options[i]);         /* thinking is refused beside them       */
        else agenti_json_member(b, keys[i], agenti_text_view(&r->options[options[i]]));
    }
    agenti_stops_out(b, r, "stopSequences");
    agenti_bc_object_end(b, at);
}
/* "none" has no word here, and a choice that forces a call is refused beside thinking.                                 */
static agent_str agenti_bc_wanted(const agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    return agenti_eq(choice, "none") || (agenti_bc_thinks(r) && !agenti_eq(choice, "auto")) ? agenti_str(NULL, 0) : choice;
}
static void agenti_bc_point_out(agenti_buf *b, const agenti_request *r)
{
    int hour = agenti_eq(agenti_text_view(&r->options[AGENTI_OPT_CACHE]), "1h");
    agenti_buf_str(b, hour ? ",{\"cachePoint\":{\"type\":\"default\",\"ttl\":\"1h\"}}" : ",{\"cachePoint\":{\"type\":\"default\"}}");
}
/* A schema goes as the text of its JSON.                                                                               */
static void agenti_bc_words_out(agenti_buf *b, agenti_request *r)
{
    agent_str schema = agenti_format_schema(r);
    if (r->options[AGENTI_OPT_TIER].n && !agenti_replaced(r, "serviceTier")) {
        agenti_json_key(b, "serviceTier");
        agenti_buf_str(b, "{");
        agenti_json_member_str(b, "type", agenti_text_view(&r->options[AGENTI_OPT_TIER]));
        agenti_buf_str(b, "}");
    }
    if (r->options[AGENTI_OPT_FORMAT].n && schema.n == 0) r->left_out |= AGENTI_BIT(AGENTI_OPT_FORMAT);
    if (schema.n == 0 || agenti_replaced(r, "outputConfig")) return;
    agenti_json_key(b, "outputConfig");
    agenti_buf_str(b, "{\"textFormat\":{\"type\":\"json_schema\",\"structure\":{\"jsonSchema\":{\"name\":\"answer\"");
    agenti_json_member_str(b, "schema", schema);
    agenti_buf_str(b, "}}}}");
}
static void agenti_bc_head(agenti_buf *b, agenti_request *r)
{
    agent_str system = agenti_text_view(&r->options[AGENTI_OPT_SYSTEM]);
    agenti_buf_str(b, "{");
    agenti_bc_config_out(b, r);
    agenti_bc_fields_out(b, r);
    agenti_bc_words_out(b, r);
    if (r->options[AGENTI_OPT_TOOL_CHOICE].n && agenti_bc_wanted(r).n == 0) r->left_out |= AGENTI_BIT(AGENTI_OPT_TOOL_CHOICE);
    if (system.n && !agenti_replaced(r, "system")) {
        agenti_json_key(b, "system");
        agenti_buf_str(b, "[{");
        agenti_json_member_str(b, "text", system);
        agenti_buf_str(b, "}");
        if (r->options[AGENTI_OPT_CACHE].n) agenti_bc_point_out(b, r);
        agenti_buf_str(b, "]");
    }
    agenti_json_key(b, "messages");
    agenti_buf_str(b, "[");
}
/* Roles alternate: blocks of the same side go into one message.                                                        */
static void agenti_bc_side(agenti_buf *b, agenti_request *r, int model)
{
    int side = r->state & AGENTI_BC_SIDE;
    if (side == 1 + model) { agenti_buf_str(b, ","); return; }
    if (side) agenti_buf_str(b, "]},");
    agenti_buf_str(b, model ? "{\"role\":\"assistant\",\"content\":[" : "{\"role\":\"user\",\"content\":[");
    r->state += 1 + model - side;
}
static int agenti_bc_text_out(agenti_buf *b, agenti_request *r, agent_str text, int model)           /* 0: not sent    */
{
    if (agenti_trim(text).n == 0) return 0;   /* blank texts are refused                                                */
    agenti_bc_side(b, r, model);
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "text", text);
    agenti_buf_str(b, "}");
    return 1;
}
/* Names of documents: letters, digits, single blanks, -()[]; no two alike, so the part's number is in it.               */
static void agenti_bc_name_out(agenti_buf *b, const agenti_part *p)
{
    agent_str name = p->name.n ? agenti_text_view(&p->name) : agenti_cstr("document");
    char out[128], c;
    size_t i, n = name.n < 96 ? name.n : 96;
    for (i = 0; i < n; i++) {
        c = agenti_lower(name.p[i]);
        out[i] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '(' || c == ')' || c == '[' || c == ']' ? name.p[i] : '-';
    }
    out[n++] = ' ';
    out[n++] = '(';
    n += agenti_u64_text(p->id, out + n);
    out[n++] = ')';
    agenti_json_member_str(b, "name", agenti_str(out, n));
}
static int agenti_bc_format(const agenti_part *p)             /* its row in the table; -1: not taken                    */
{
    int i = p->kind == AGENT_PART_FILE ? AGENTI_BC_IMAGES : 0, end = p->kind == AGENT_PART_FILE ? AGENTI_BC_FORMATS : AGENTI_BC_IMAGES;
    if (p->kind == AGENT_PART_AUDIO || (p->uri.n && !agenti_find(agenti_str(p->uri.p, p->uri.n < 5 ? p->uri.n : 5), "s3://"))) return -1;
    while (i < end && !agenti_ieq(agenti_text_view(&p->mime), agenti_bc_formats[i].mime)) i++;
    if (i < end) return i;
    return p->kind == AGENT_PART_FILE && !p->uri.n && !(p->flags & AGENT_PART_BASE64) ? AGENTI_BC_TXT : -1;
}
static void agenti_bc_media_out(agenti_buf *b, const agenti_part *p, int format)
{
    agenti_json_key(b, p->kind == AGENT_PART_IMAGE ? "image" : "document");
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "format", agenti_cstr(agenti_bc_formats[format].format));
    if (p->kind == AGENT_PART_FILE) agenti_bc_name_out(b, p);
    agenti_json_key(b, "source");
    agenti_buf_str(b, p->uri.n ? "{\"s3Location\":{\"uri\":" : "{\"bytes\":\"");
    if (p->uri.n) agenti_json_quote_to(b, agenti_text_view(&p->uri));
    else if (p->flags & AGENT_PART_BASE64) agenti_buf_add(b, p->text.p, p->text.n);
    else agenti_base64_to(b, agenti_text_view(&p->text));
    agenti_buf_str(b, p->uri.n ? "}}}" : "\"}}");
}
static void agenti_bc_mark(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    int most = r->options[AGENTI_OPT_CACHE].n ? AGENTI_BC_MARKS - 2 : (int)AGENTI_BC_MARKS;
    if (!(p->flags & AGENT_PART_CACHE)) return;
    if (r->state / AGENTI_BC_MARK >= most) { r->left_out |= AGENTI_BIT(AGENTI_LEFT_MARK); return; }
    r->state += AGENTI_BC_MARK;
    agenti_bc_point_out(b, r);
}
static void agenti_bc_user_part(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    int format = agenti_is_media(p->kind) ? agenti_bc_format(p) : -1;
    if (!agenti_is_media(p->kind)) {
        if (!agenti_bc_text_out(b, r, agenti_text_view(&p->text), 0)) return;
    } else {
        agenti_bc_side(b, r, 0);
        agenti_buf_str(b, format < 0 ? "{\"text\":" : "{");
        if (format < 0) agenti_media_left_out(b, r, p); else agenti_bc_media_out(b, p, format);
        agenti_buf_str(b, "}");
    }
    agenti_bc_mark(b, r, p);
}
/* A message with a document needs a text.                                                                              */
static void agenti_bc_user_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, texts = 0, files = 0;
    for (i = 0; i < m->n; i++) {
        texts += m->parts[i].kind == AGENT_PART_TEXT && agenti_trim(agenti_text_view(&m->parts[i].text)).n;
        files += m->parts[i].kind == AGENT_PART_FILE;
    }
    if (files && !texts) (void)agenti_bc_text_out(b, r, agenti_cstr("See the document."), 0);
    for (i = 0; i < m->n; i++) agenti_bc_user_part(b, r, &m->parts[i]);
}
/* Ids of calls are at most 64 of A-Z a-z 0-9 _ -; those of other providers may hold more, and differ at their end.     */
static void agenti_bc_id_out(agenti_buf *b, agent_str id)
{
    char out[64];
    size_t i, skip = id.n > sizeof out ? id.n - sizeof out : 0;
    for (i = 0; i < id.n - skip; i++) {
        char c = agenti_lower(id.p[skip + i]);
        out[i] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ? id.p[skip + i] : '_';
    }
    agenti_json_member_str(b, "toolUseId", agenti_str(out, i));
}
static void agenti_bc_call_out(agenti_buf *b, const agenti_part *p)
{
    int usable = p->text.n && !(p->flags & AGENT_PART_INVALID);
    agenti_buf_str(b, "{\"toolUse\":{");
    agenti_bc_id_out(b, agenti_text_view(&p->wire_id));
    agenti_tool_name_out(b, agenti_text_view(&p->name));
    agenti_json_member(b, "input", usable ? agenti_text_view(&p->text) : agenti_cstr("{}"));
    agenti_buf_str(b, "}}");
}
static void agenti_bc_model_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int good = m->model == r->model && !(p->flags & AGENT_PART_CUT);
    if (p->kind == AGENT_PART_TEXT) { (void)agenti_bc_text_out(b, r, agenti_text_view(&p->text), 1); return; }
    if (agenti_is_media(p->kind)) return;     /* files that a model made are not taken back                             */
    if (p->kind != AGENT_PART_CALL && !good) { if (m->model != r->model) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING); return; }
    if (p->kind == AGENT_PART_REASONING && p->data.n == 0) return;             /* unsigned thoughts are not taken back  */
    agenti_bc_side(b, r, 1);
    if (p->kind == AGENT_PART_CALL || agenti_find(agenti_text_view(&p->name), "tool")) r->state |= AGENTI_BC_TOOLS;
    if (p->kind == AGENT_PART_OTHER) agenti_buf_add(b, p->text.p, p->text.n);
    else if (p->kind == AGENT_PART_CALL) agenti_bc_call_out(b, p);
    else {
        agenti_buf_str(b, "{\"reasoningContent\":{\"reasoningText\":{");
        agenti_json_member_str(b, "text", agenti_text_view(&p->text));
        agenti_json_member_str(b, "signature", agenti_text_view(&p->data));
        agenti_buf_str(b, "}}}");
    }
}
static void agenti_bc_result_out(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    agent_str text = agenti_text_view(&p->text);
    agenti_bc_side(b, r, 0);
    r->state |= AGENTI_BC_TOOLS;
    agenti_buf_str(b, "{\"toolResult\":{");
    agenti_bc_id_out(b, agenti_text_view(&p->wire_id));
    agenti_buf_str(b, ",\"content\":[{");
    agenti_json_member_str(b, "text", agenti_trim(text).n ? text : agenti_cstr("(no output)"));
    agenti_buf_str(b, p->flags & AGENT_PART_ERROR ? "}],\"status\":\"error\"}}" : "}]}}");
}
static void agenti_bc_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i;
    if (m->role == AGENT_USER) { agenti_bc_user_msg(b, r, m); return; }
    for (i = 0; i < m->n; i++) {
        if (m->role == AGENT_TOOLS) agenti_bc_result_out(b, r, &m->parts[i]);
        else agenti_bc_model_part(b, r, m, &m->parts[i]);
    }
}
static int agenti_bc_has_tools(const agenti_request *r) { return r->tool_count && !agenti_replaced(r, "toolConfig"); }
static void agenti_bc_tail(agenti_buf *b, const agenti_request *r)
{
    agenti_request with = *r;
    if (r->note) (void)agenti_bc_text_out(b, &with, agenti_cstr(r->note), 0);
    if (r->options[AGENTI_OPT_CACHE].n && (with.state & AGENTI_BC_SIDE) == 1) agenti_bc_point_out(b, r);
    agenti_buf_str(b, with.state & AGENTI_BC_SIDE ? "]}]" : "]");
    if (agenti_bc_has_tools(r)) agenti_buf_str(b, ",\"toolConfig\":{");
}
static void agenti_bc_tools_out(agenti_buf *b, const agenti_request *r)
{
    size_t i;
    if (!agenti_bc_has_tools(r)) return;
    agenti_buf_str(b, "\"tools\":[");
    for (i = 0; i < r->tool_count; i++) {
        const agenti_tool *t = &r->tools[i];
        if (i) agenti_buf_str(b, ",");
        if (t->flags & AGENT_TF_RAW) { agenti_buf_add(b, t->schema.p, t->schema.n); continue; }
        agenti_buf_str(b, "{\"toolSpec\":{");
        agenti_json_member_str(b, "name", agenti_text_view(&t->name));
        if (t->description.n) agenti_json_member_str(b, "description", agenti_text_view(&t->description));
        agenti_json_key(b, "inputSchema");
        agenti_buf_str(b, "{");
        agenti_json_member(b, "json", agenti_text_view(&t->schema));
        agenti_buf_str(b, t->flags & AGENT_TF_STRICT ? "},\"strict\":true}}" : "}}}");
    }
    agenti_buf_str(b, "]");
}
/* A history with calls is refused without tools (H12), so there is one when there is none.                              */
static void agenti_bc_end_out(agenti_buf *b, const agenti_request *r)
{
    agent_str choice = agenti_bc_wanted(r);
    if (agenti_bc_has_tools(r)) {
        if (choice.n && !r->choice_off && !r->tools_off) {
            agenti_buf_str(b, ",\"toolChoice\":");
            if (agenti_eq(choice, "auto")) agenti_buf_str(b, "{\"auto\":{}}");
            else if (agenti_eq(choice, "required")) agenti_buf_str(b, "{\"any\":{}}");
            else {
                agenti_buf_str(b, "{\"tool\":{");
                agenti_json_member_str(b, "name", choice);
                agenti_buf_str(b, "}}");
            }
        }
        agenti_buf_str(b, "}");
    } else if ((r->state & AGENTI_BC_TOOLS) && !agenti_replaced(r, "toolConfig"))
        agenti_buf_str(b, ",\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"none\",\"description\":\"There are no tools.\","
                          "\"inputSchema\":{\"json\":{\"type\":\"object\"}}}}]}");
    agenti_extra_out(b, r);
}
static const char *const agenti_bc_parts[] = { "text", "signature", "input", NULL };
static const char *const agenti_bc_routing[] = { "contentBlockIndex", NULL };
static const char *const agenti_bc_held[] = { "start", "toolResult", "citation", "output", NULL };
static const agenti_wire agenti_bedrock_converse_wire = {
    "bedrock-converse", "/model/{model}/converse-stream", "/model/{model}/converse", AGENTI_FRAMING_FRAMES, NULL, NULL,
    AGENTI_BIT(AGENTI_OPT_SEED) | AGENTI_BIT(AGENTI_OPT_FREQUENCY) | AGENTI_BIT(AGENTI_OPT_PRESENCE) | AGENTI_BIT(AGENTI_OPT_PARALLEL)
        | AGENTI_BIT(AGENTI_OPT_CACHE_KEY) | AGENTI_BIT(AGENTI_OPT_USER),
    agenti_bc_head, NULL, agenti_bc_message_out, agenti_bc_tail, agenti_bc_tools_out, agenti_bc_end_out, agenti_bc_event, agenti_bc_whole, NULL,
    { agenti_bc_parts, agenti_bc_routing, agenti_bc_routing, 1, agenti_bc_held },
    { agenti_bc_parts, agenti_bc_routing, agenti_bc_routing, 1, agenti_bc_held },             /* nothing of a whole answer is owned */
    NULL, NULL
};
AGENTI_FN const agenti_wire *agenti_bedrock_converse(void) { return &agenti_bedrock_converse_wire; }
#endif
#endif
