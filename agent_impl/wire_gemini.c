/* Gemini generateContent: https://ai.google.dev/api/generate-content, also of Vertex AI. Each payload is a slice of the answer: its parts are
 * increments, its counts are totals. Nothing but the end of the body ends an answer. */
#ifndef AGENT_NO_GEMINI
AGENTI_FN const agenti_wire *agenti_gemini(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_GEMINI
/* ---- answers ---- */
enum { AGENTI_GR_ERROR, AGENTI_GR_CANDIDATES, AGENTI_GR_USAGE, AGENTI_GR_FEEDBACK, AGENTI_GR_BLOCKED, AGENTI_GR_MODEL, AGENTI_GR_ID, AGENTI_GR_FIELDS };
static const agenti_field agenti_gm_response[AGENTI_GR_FIELDS] = {
    { "error", -1 }, { "candidates", -1 }, { "usageMetadata", -1 }, { "promptFeedback", -1 }, { "blockReason", AGENTI_GR_FEEDBACK },
    { "modelVersion", -1 }, { "responseId", -1 }
};
enum { AGENTI_GC_INDEX, AGENTI_GC_CONTENT, AGENTI_GC_PARTS, AGENTI_GC_FINISH, AGENTI_GC_MESSAGE, AGENTI_GC_GROUNDING, AGENTI_GC_CHUNKS,
       AGENTI_GC_FETCHED, AGENTI_GC_PAGES, AGENTI_GC_CITED, AGENTI_GC_CITATIONS, AGENTI_GC_QUOTED, AGENTI_GC_FIELDS };
static const agenti_field agenti_gm_candidate[AGENTI_GC_FIELDS] = {
    { "index", -1 }, { "content", -1 }, { "parts", AGENTI_GC_CONTENT }, { "finishReason", -1 }, { "finishMessage", -1 },
    { "groundingMetadata", -1 }, { "groundingChunks", AGENTI_GC_GROUNDING }, { "urlContextMetadata", -1 }, { "urlMetadata", AGENTI_GC_FETCHED },
    { "citationMetadata", -1 }, { "citations", AGENTI_GC_CITED }, { "citationSources", AGENTI_GC_CITED }
};
enum { AGENTI_GP_TEXT, AGENTI_GP_THOUGHT, AGENTI_GP_SIGNATURE, AGENTI_GP_CALL, AGENTI_GP_DATA, AGENTI_GP_FILE, AGENTI_GP_CODE, AGENTI_GP_OUTCOME,
       AGENTI_GP_RUN, AGENTI_GP_RAN, AGENTI_GP_FIELDS };
static const agenti_field agenti_gm_part[AGENTI_GP_FIELDS] = {
    { "text", -1 }, { "thought", -1 }, { "thoughtSignature", -1 }, { "functionCall", -1 }, { "inlineData", -1 }, { "fileData", -1 },
    { "executableCode", -1 }, { "codeExecutionResult", -1 }, { "toolCall", -1 }, { "toolResponse", -1 }
};
enum { AGENTI_GF_ID, AGENTI_GF_NAME, AGENTI_GF_ARGS, AGENTI_GF_PARTIAL, AGENTI_GF_MORE, AGENTI_GF_FIELDS };
static const agenti_field agenti_gm_call_rows[AGENTI_GF_FIELDS] = {
    { "id", -1 }, { "name", -1 }, { "args", -1 }, { "partialArgs", -1 }, { "willContinue", -1 }
};
enum { AGENTI_GA_PATH, AGENTI_GA_STRING, AGENTI_GA_NUMBER, AGENTI_GA_BOOL, AGENTI_GA_NULL, AGENTI_GA_FIELDS };
static const agenti_field agenti_gm_arg_rows[AGENTI_GA_FIELDS] = {
    { "jsonPath", -1 }, { "stringValue", -1 }, { "numberValue", -1 }, { "boolValue", -1 }, { "nullValue", -1 }
};
enum { AGENTI_GM_SIGNED = 1 };                /* agenti_decoder.sourced: the open stream has its signature              */
/* agenti_lane.kind. CALL: the call whose arguments come in pieces, at most one: id is its id, more the path of the value written last, named: that
 * is a string, not closed yet; cited: its pieces make no JSON. SOURCE: index is a hash of a URL that was given.
 * agenti_decoder.last_call counts the programs that the model wrote: their results have no id.                         */
enum { AGENTI_GL_CALL = 1, AGENTI_GL_SOURCE };

static void agenti_gm_count(agent_str v, int64_t *to) { if (v.n) (void)agenti_count(v, to); }
static int64_t agenti_gm_sum(int64_t a, int64_t b)            /* unknown counts as 0, if one is known                    */
{
    if (a < 0 || b <= 0) return a < 0 ? b : a;
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}
/* Totals, each count on its own: a later one replaces it. Prompts of tools are input, thoughts output; both stand beside the count that
 * they belong to. A heartbeat has no counts (G9).                                                                      */
static AGENTI_NOINLINE void agenti_gm_usage(agenti_decoder *d, agent_str usage)
{
    enum { PROMPT, TOOLS, CACHED, TEXT, THOUGHTS, FIELDS };
    static const agenti_field rows[FIELDS] = {
        { "promptTokenCount", -1 }, { "toolUsePromptTokenCount", -1 }, { "cachedContentTokenCount", -1 }, { "candidatesTokenCount", -1 },
        { "thoughtsTokenCount", -1 }
    };
    agent_str f[FIELDS];
    agent_usage *u = &d->usage;
    int64_t tools = u->input < 0 || d->uncached < 0 ? u->input : u->input - d->uncached;
    int64_t text = u->output < 0 || u->reasoning < 0 ? u->output : u->output - u->reasoning;
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, rows, FIELDS, f);
    agenti_gm_count(f[PROMPT], &d->uncached);
    agenti_gm_count(f[TOOLS], &tools);
    agenti_gm_count(f[CACHED], &u->cached);
    agenti_gm_count(f[TEXT], &text);
    agenti_gm_count(f[THOUGHTS], &u->reasoning);
    u->input = agenti_gm_sum(d->uncached, tools);
    u->output = agenti_gm_sum(text, u->reasoning);
    if (u->input >= 0 || u->output >= 0) d->has_usage = 1;
}
static int agenti_gm_finish_of(agent_str raw)
{
    static const struct { const char *word; int finish; } rows[] = {
        { "STOP", AGENT_FINISH_STOP }, { "MAX_TOKENS", AGENT_FINISH_LENGTH }, { "SAFETY", AGENT_FINISH_FILTER },
        { "RECITATION", AGENT_FINISH_FILTER }, { "BLOCKLIST", AGENT_FINISH_FILTER }, { "PROHIBITED_CONTENT", AGENT_FINISH_FILTER },
        { "SPII", AGENT_FINISH_FILTER }, { "LANGUAGE", AGENT_FINISH_FILTER }, { "MODEL_ARMOR", AGENT_FINISH_FILTER },
        { "IMAGE_SAFETY", AGENT_FINISH_FILTER }, { "IMAGE_PROHIBITED_CONTENT", AGENT_FINISH_FILTER }, { "IMAGE_RECITATION", AGENT_FINISH_FILTER },
        { "MALFORMED_FUNCTION_CALL", AGENT_FINISH_ERROR }, { "UNEXPECTED_TOOL_CALL", AGENT_FINISH_ERROR },
        { "TOO_MANY_TOOL_CALLS", AGENT_FINISH_ERROR }, { "MISSING_THOUGHT_SIGNATURE", AGENT_FINISH_ERROR },
        { "MALFORMED_RESPONSE", AGENT_FINISH_ERROR }
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (agenti_eq(raw, rows[i].word)) return rows[i].finish;
    return AGENT_FINISH_OTHER;
}
/* The last reason counts: proxies send one early, before the text (G4). What went wrong is told beside it (G5).        */
static int agenti_gm_finish(agenti_decoder *d, agent_str value, agent_str message)
{
    agent_str raw;
    int finish;
    if (!agenti_nonempty(value)) return 1;
    if (!agenti_string_of(d, value, &raw)) return 0;
    finish = agenti_gm_finish_of(raw);
    agenti_finish_set(d, finish, raw);
    return finish == AGENT_FINISH_STOP || agenti_news_add(d, message, "finishMessage");
}

/* ---- texts and files ---- */
static int agenti_gm_data(agenti_decoder *d, uint32_t key, int flags, agent_str value)
{
    agenti_op *op;
    if (!agenti_nonempty(value)) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_DATA, key)) == NULL) return 0;
    op->flags = (uint8_t)flags;
    return agenti_string_of(d, value, &op->a);
}
static int agenti_gm_open(agenti_decoder *d, int kind)
{
    if (!agenti_stream_end(d)) return 0;
    d->stream = ++d->streams;
    d->stream_kind = (uint8_t)kind;
    return agenti_op_add(d, kind, d->stream) != NULL;
}
/* A signature goes with the text that it came with: one with an empty text to the text before it (D11), a second one to a part of its own. */
static int agenti_gm_text(agenti_decoder *d, const agent_str *f)
{
    int kind = agenti_eq(f[AGENTI_GP_THOUGHT], "true") ? AGENTI_OP_REASONING : AGENTI_OP_TEXT;
    int has_text = agenti_nonempty(f[AGENTI_GP_TEXT]), is_signed = agenti_nonempty(f[AGENTI_GP_SIGNATURE]);
    if (!has_text && !is_signed) return 1;
    if (d->stream && (d->stream_kind != kind || (is_signed && (d->sourced & AGENTI_GM_SIGNED))) && !agenti_stream_end(d)) return 0;
    if (d->stream == 0) d->sourced &= (uint8_t)~AGENTI_GM_SIGNED;
    if (has_text ? !agenti_stream_add(d, kind, f[AGENTI_GP_TEXT], 0) : d->stream == 0 && !agenti_gm_open(d, kind)) return 0;
    if (is_signed) d->sourced |= AGENTI_GM_SIGNED;
    return agenti_gm_data(d, d->stream, 0, f[AGENTI_GP_SIGNATURE]);
}
static int agenti_gm_kind(agent_str mime)                     /* a part's kind                                          */
{
    if (mime.n > 6 && agenti_ieq(agenti_str(mime.p, 6), "image/")) return AGENT_PART_IMAGE;
    return mime.n > 6 && agenti_ieq(agenti_str(mime.p, 6), "audio/") ? AGENT_PART_AUDIO : AGENT_PART_FILE;
}
/* {mimeType, data} or {mimeType, fileUri}                                                                              */
static int agenti_gm_file(agenti_decoder *d, agent_str file, agent_str signature)
{
    enum { MIME, DATA, URI, FIELDS };
    static const agenti_field rows[FIELDS] = { { "mimeType", -1 }, { "data", -1 }, { "fileUri", -1 } };
    agent_str f[FIELDS], mime;
    uint32_t had = d->op_n, key;
    char *type;                               /* in the arena: the op views it                                          */
    agenti_json_pick(file, rows, FIELDS, f);
    if (!agenti_string_of(d, f[MIME], &mime)) return 0;
    if (mime.n == 0) mime = agenti_cstr("application/octet-stream");
    if ((type = agenti_arena_get(&d->arena, mime.n + 1)) == NULL) return 0;
    memcpy(type, mime.p, mime.n);
    type[mime.n] = 0;
    if (f[DATA].n ? !agenti_file_add(d, agenti_gm_kind(mime), f[DATA], type) : !agenti_file_add(d, agenti_gm_kind(mime), f[URI], NULL)) return 0;
    if (d->op_n == had || !agenti_nonempty(signature)) return 1;
    key = d->ops[--d->op_n].key;              /* its END comes after the signature                                      */
    return agenti_gm_data(d, key, 0, signature) && agenti_op_add(d, AGENTI_OP_END, key) != NULL;
}

/* ---- arguments in pieces ---- */
/* "$.a['b'][0]" as the JSON array ["a","b",0]. 0: it is no such path, or too deep.                                      */
static int agenti_gm_path_name(agenti_buf *b, agent_str path, size_t *at)      /* ["b"] or ['b'], at its quote          */
{
    char quote = path.p[(*at)++];
    size_t from = *at;
    agenti_json_quote_to(b, agenti_str("", 0));
    for (; *at < path.n && path.p[*at] != quote; from = *at) {
        while (*at < path.n && path.p[*at] != quote && path.p[*at] != '\\') ++*at;
        agenti_json_quote_more(b, agenti_str(path.p + from, *at - from));
        if (*at == path.n || path.p[*at] == quote) break;
        if (path.n - *at < 2 || !memchr("'\"\\/", path.p[*at + 1], 4)) return 0;         /* no other escape is known     */
        agenti_json_quote_more(b, agenti_str(path.p + *at + 1, 1));
        *at += 2;
    }
    if (path.n - *at < 2 || path.p[*at + 1] != ']') return 0;
    *at += 2;
    return 1;
}
static int agenti_gm_path_step(agenti_buf *b, agent_str path, size_t *at)
{
    size_t from = *at + 1;
    char c = path.p[(*at)++];
    int64_t index;
    if (c == '.') {
        while (*at < path.n && path.p[*at] != '.' && path.p[*at] != '[') ++*at;
        agenti_json_quote_to(b, agenti_str(path.p + from, *at - from));
        return *at > from;
    }
    if (c != '[' || *at == path.n) return 0;
    if (path.p[*at] == '"' || path.p[*at] == '\'') return agenti_gm_path_name(b, path, at);
    while (*at < path.n && path.p[*at] != ']') ++*at;
    agenti_buf_add(b, path.p + from, *at - from);
    return (*at)++ < path.n && agenti_int(agenti_str(path.p + from, *at - 1 - from), &index) && index >= 0;
}
static AGENTI_NOINLINE int agenti_gm_path(agenti_buf *b, agent_str path, uint32_t most)
{
    size_t at = 1;
    uint32_t depth = 0;
    if (path.n < 2 || path.p[0] != '$') return 0;
    agenti_buf_str(b, "[");
    while (at < path.n) {
        if (depth++ == most) return 0;
        agenti_json_comma(b);
        if (!agenti_gm_path_step(b, path, &at)) return 0;
    }
    agenti_buf_str(b, "]");
    AGENTI_TOUCH(path.n);
    return 1;
}
/* Ends what is open below a place of the path: its containers, the innermost first.                                    */
static void agenti_gm_shut(agenti_buf *b, agent_str path, size_t pos)
{
    uint64_t objects = 0;
    uint32_t n = 0;
    agent_str step;
    while (path.n && agent_json_each(path, &pos, NULL, &step)) objects |= (uint64_t)agenti_is_string(step) << n++;
    while (n-- > 0) agenti_buf_str(b, objects >> n & 1 ? "}" : "]");
}
static int agenti_gm_next_index(agent_str was, agent_str now)
{
    int64_t a, b;
    return agenti_int(was, &a) && agenti_int(now, &b) && a == b - 1;
}
/* From the value at one place on to the one at another: what stands between them in the text. 0: it does not come after it in any. */
static int agenti_gm_move(agenti_buf *b, agent_str was, agent_str now)
{
    size_t at_was = 0, at_now = 0;
    agent_str x = agenti_str(NULL, 0), y = x;
    int same = 1;
    while (same) {
        int more = agent_json_each(was, &at_was, NULL, &x);
        if (!agent_json_each(now, &at_now, NULL, &y) || (was.n && !more)) return 0;        /* one lies in the other       */
        same = was.n && x.n == y.n && memcmp(x.p, y.p, x.n) == 0;
    }
    if (was.n) {
        if (agenti_is_string(x) ? !agenti_is_string(y) : !agenti_gm_next_index(x, y)) return 0;
        agenti_gm_shut(b, was, at_was);
        agenti_buf_str(b, ",");
    } else if (!agenti_is_string(y)) return 0;
    else agenti_buf_str(b, "{");
    for (;;) {
        if (agenti_is_string(y)) {
            agenti_buf_add(b, y.p, y.n);
            agenti_buf_str(b, ":");
        }
        if (!agent_json_each(now, &at_now, NULL, &y)) return 1;
        if (!agenti_is_string(y) && !agenti_eq(y, "0")) return 0;
        agenti_buf_str(b, agenti_is_string(y) ? "{" : "[");
    }
}
static int agenti_gm_args(agenti_decoder *d, uint32_t key, agent_str text)                /* copies it                  */
{
    agenti_op *op;
    char *p;
    if (text.n == 0) return 1;
    if ((p = agenti_arena_get(&d->arena, text.n)) == NULL || (op = agenti_op_add(d, AGENTI_OP_ARGS, key)) == NULL) return 0;
    memcpy(p, text.p, text.n);
    op->a = agenti_str(p, text.n);
    return 1;
}
/* A value at a path, as it continues the text of the arguments; strings stay open for more. 0: it cannot.              */
static AGENTI_NOINLINE int agenti_gm_piece(agenti_decoder *d, agenti_lane *l, const agent_str *f, agent_str path, agenti_buf *b)
{
    agent_str value, was = agenti_text_view(&l->more);
    int same = was.n == path.n && memcmp(was.p, path.p, was.n) == 0, i;
    for (i = AGENTI_GA_STRING; i < AGENTI_GA_NULL && f[i].n == 0; i++) {}
    value = i == AGENTI_GA_NULL ? agenti_cstr("null") : f[i];
    if (!same || !l->named) {
        if (l->named) agenti_buf_str(b, "\"");
        if (!agenti_gm_move(b, was, path)) return 0;
        if (agenti_is_string(value)) agenti_buf_str(b, "\"");
    } else if (!agenti_is_string(value)) return 0;
    l->named = (uint8_t)agenti_is_string(value);
    if (l->named) value = agenti_str(value.p + 1, value.n - 2);
    if (!agenti_raw_of(d, value, &value)) { b->bad = 1; return 0; }
    agenti_buf_add(b, value.p, value.n);
    return 1;
}
/* What makes no JSON spoils the call: its text is left open, so that nobody takes it for arguments.                    */
static AGENTI_NOINLINE int agenti_gm_arg(agenti_decoder *d, agenti_lane *l, agent_str arg)
{
    agent_str f[AGENTI_GA_FIELDS], at;
    agenti_buf path, b;
    int ok, can;
    agenti_json_pick(arg, agenti_gm_arg_rows, AGENTI_GA_FIELDS, f);
    if (f[AGENTI_GA_STRING].n + f[AGENTI_GA_NUMBER].n + f[AGENTI_GA_BOOL].n + f[AGENTI_GA_NULL].n == 0) return 1;
    if (!agenti_string_of(d, f[AGENTI_GA_PATH], &at)) return 0;
    agenti_buf_init(&path, d->pool);
    agenti_buf_init(&b, d->pool);
    can = agenti_gm_path(&path, at, d->depth_limit) && !path.bad && agenti_gm_piece(d, l, f, agenti_str(path.p, path.n), &b);
    ok = !path.bad && !b.bad;
    if (ok && can) ok = agenti_gm_args(d, l->key, agenti_str(b.p, b.n)) && agenti_text_set(&l->more, d->pool, d->graves, agenti_str(path.p, path.n));
    else if (ok) {
        l->cited = 1;
        if (l->more.n == 0) ok = agenti_gm_args(d, l->key, agenti_cstr("{"));
    }
    agenti_buf_free(&path);
    agenti_buf_free(&b);
    return ok;
}
static agenti_lane *agenti_gm_lane(agenti_decoder *d)         /* of the call whose arguments are still coming           */
{
    uint32_t i;
    for (i = 0; i < d->lane_n; i++) if (d->lanes[i].kind == AGENTI_GL_CALL) return &d->lanes[i];
    return NULL;
}
static AGENTI_NOINLINE int agenti_gm_call_end(agenti_decoder *d, agenti_lane *l)
{
    agenti_buf b;
    int ok;
    if (l == NULL) return 1;
    agenti_buf_init(&b, d->pool);
    if (!l->cited) {
        if (l->named) agenti_buf_str(&b, "\"");
        agenti_gm_shut(&b, agenti_text_view(&l->more), 0);
    }
    ok = !b.bad && agenti_gm_args(d, l->key, agenti_str(b.p, b.n));
    agenti_buf_free(&b);
    agenti_lane_free(d, l);
    memmove(l, l + 1, (size_t)(d->lanes + --d->lane_n - l) * sizeof *l);
    return ok;
}

/* ---- calls ---- */
/* A call with its arguments, which may be missing (G1).                                                                */
static int agenti_gm_call_start(agenti_decoder *d, const agent_str *f, agent_str id)
{
    uint32_t key = d->call_n;
    agenti_op *op;
    agent_str name, args = f[AGENTI_GF_ARGS];
    if (!agenti_string_of(d, f[AGENTI_GF_NAME], &name)) return 0;
    if (!agenti_stream_end(d) || (op = agenti_op_add(d, AGENTI_OP_CALL, key)) == NULL) return 0;
    op->a = id;
    op->b = name;
    if (!agenti_is_object(args) && !agenti_nonempty(args)) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, key)) == NULL) return 0;
    return agenti_is_object(args) ? agenti_raw_of(d, args, &op->a) : agenti_string_of(d, args, &op->a);
}
static int agenti_gm_partial(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    agent_str arg;
    size_t pos = 0;
    while (agenti_is_array(f[AGENTI_GF_PARTIAL]) && agent_json_each(f[AGENTI_GF_PARTIAL], &pos, NULL, &arg))
        if (agenti_is_object(arg) && !l->cited && !agenti_gm_arg(d, l, arg)) return 0;
    return agenti_eq(f[AGENTI_GF_MORE], "true") || agenti_gm_call_end(d, l);
}
/* Vertex may send arguments in pieces: a name begins a call, parts without one go on with it, until one does not say that more comes;
 * that last one may be missing (G8).                                                                                   */
static AGENTI_NOINLINE int agenti_gm_call(agenti_decoder *d, agent_str call, agent_str signature)
{
    agent_str f[AGENTI_GF_FIELDS], id;
    agenti_lane *l = agenti_gm_lane(d);
    uint32_t key = d->call_n;
    int pieces;
    agenti_json_pick(call, agenti_gm_call_rows, AGENTI_GF_FIELDS, f);
    pieces = agenti_eq(f[AGENTI_GF_MORE], "true") || agenti_is_array(f[AGENTI_GF_PARTIAL]);
    if (!agenti_string_of(d, f[AGENTI_GF_ID], &id)) return 0;
    if (l && (!agenti_nonempty(f[AGENTI_GF_NAME]) || (id.n && id.n == l->id.n && memcmp(id.p, l->id.p, id.n) == 0)))
        return agenti_gm_data(d, l->key, AGENTI_DATA_CALL, signature) && agenti_gm_partial(d, l, f);
    if (!agenti_nonempty(f[AGENTI_GF_NAME]) && f[AGENTI_GF_ARGS].n == 0 && !pieces) return 1;      /* the end of none        */
    if (!agenti_gm_call_end(d, l)) return 0;
    if (d->call_n >= d->call_limit) return agenti_too_many(d);
    if (!agenti_gm_call_start(d, f, id) || !agenti_gm_data(d, key, AGENTI_DATA_CALL, signature)) return 0;
    if (!pieces) return 1;
    if ((l = agenti_lane_new(d)) == NULL) return 0;
    l->kind = AGENTI_GL_CALL;
    l->key = key;
    l->cited = (uint8_t)agenti_is_object(f[AGENTI_GF_ARGS]);           /* they are there already                                 */
    return (id.n == 0 || agenti_text_set(&l->id, d->pool, d->graves, id)) && agenti_gm_partial(d, l, f);
}
/* What the provider runs goes back as it came, with its signature. Calls and results have an id, or follow each other (G12). */
static int agenti_gm_raw(agenti_decoder *d, agent_str part, agent_str type, int flags)
{
    agenti_op *op;
    if (!agenti_stream_end(d) || (op = agenti_op_add(d, AGENTI_OP_RAW, 0)) == NULL) return 0;
    op->flags = (uint8_t)flags;
    return agenti_raw_of(d, part, &op->a) && agenti_raw_of(d, type, &op->b);
}
static int agenti_gm_run_id(agenti_decoder *d, agent_str id, agent_str *out)
{
    static const char made[] = "code_";
    char *p;
    if (!agenti_string_of(d, id, out) || out->n) return out->n > 0;
    if ((p = agenti_arena_get(&d->arena, 32)) == NULL) return 0;
    memcpy(p, made, sizeof made - 1);
    *out = agenti_str(p, sizeof made - 1 + agenti_u64_text(d->last_call, p + sizeof made - 1));
    return 1;
}
static int agenti_gm_run(agenti_decoder *d, agent_str call, agent_str args)
{
    agenti_op *op = agenti_op_add(d, AGENTI_OP_RAN, 0);
    agent_str name = agent_json_get(call, "toolType");
    if (op == NULL) return 0;
    d->last_call++;
    op->b = agenti_cstr("code_execution");
    op->c = agenti_is_object(args) ? args : agenti_cstr("{}");
    return agenti_gm_run_id(d, agent_json_get(call, "id"), &op->a) && (!agenti_nonempty(name) || agenti_string_of(d, name, &op->b));
}
static int agenti_gm_ran(agenti_decoder *d, agent_str result, agent_str content)
{
    agenti_op *op = agenti_op_add(d, AGENTI_OP_RESULT, 0);
    agent_str outcome = agent_json_get(result, "outcome");
    if (op == NULL) return 0;
    op->c = content.n ? content : agenti_cstr("{}");
    if (agenti_nonempty(outcome) && !agent_json_is(outcome, "OUTCOME_OK")) op->flags = AGENT_PART_ERROR;
    return agenti_gm_run_id(d, agent_json_get(result, "id"), &op->a);
}
static int agenti_gm_kept(agenti_decoder *d, agent_str part, int row)
{
    const char *type = agenti_gm_part[row].key;
    agent_str of;
    if (!agenti_gm_raw(d, part, agenti_cstr(type), AGENTI_RAW_QUIET)) return 0;
    of = agent_json_get(d->ops[d->op_n - 1].a, type);
    if (row == AGENTI_GP_CODE) return agenti_gm_run(d, of, of);
    if (row == AGENTI_GP_RUN) return agenti_gm_run(d, of, agent_json_get(of, "args"));
    return agenti_gm_ran(d, of, row == AGENTI_GP_OUTCOME ? of : agent_json_get(of, "response"));
}
/* Text; or a kind of part that is not known here, a picture of a thought among them.                                   */
static int agenti_gm_other(agenti_decoder *d, agent_str part, const agent_str *f)
{
    agent_str key, value;
    size_t pos = 0;
    while (!agenti_is_string(f[AGENTI_GP_TEXT]) && agent_json_each(part, &pos, &key, &value))
        if (!agenti_eq(value, "null") && !agenti_eq(key, "text") && !agenti_eq(key, "thought") && !agenti_eq(key, "thoughtSignature"))
            return agenti_gm_raw(d, part, key, 0);
    return agenti_gm_text(d, f);
}
static AGENTI_NOINLINE int agenti_gm_one_part(agenti_decoder *d, agent_str part)
{
    agent_str f[AGENTI_GP_FIELDS], file;
    int row;
    agenti_json_pick(part, agenti_gm_part, AGENTI_GP_FIELDS, f);
    if (agenti_is_object(f[AGENTI_GP_CALL])) return agenti_gm_call(d, f[AGENTI_GP_CALL], f[AGENTI_GP_SIGNATURE]);
    file = f[agenti_is_object(f[AGENTI_GP_DATA]) ? AGENTI_GP_DATA : AGENTI_GP_FILE];
    if (agenti_is_object(file) && !agenti_eq(f[AGENTI_GP_THOUGHT], "true")) return agenti_gm_file(d, file, f[AGENTI_GP_SIGNATURE]);
    for (row = AGENTI_GP_CODE; row <= AGENTI_GP_RAN; row++) if (agenti_is_object(f[row])) return agenti_gm_kept(d, part, row);
    return agenti_gm_other(d, part, f);
}

/* ---- sources ---- */
/* Lists come again and again: a URL is given once (G11), as far as a short memory of them goes.                        */
static int agenti_gm_source(agenti_decoder *d, agent_str url, agent_str title)
{
    enum { MOST = 64 };
    uint64_t hash = UINT64_C(14695981039346656037);
    agenti_lane *l;
    uint32_t i;
    size_t k;
    if (!agenti_nonempty(url)) return 1;
    for (k = 0; k < url.n; k++) hash = (hash ^ (unsigned char)url.p[k]) * UINT64_C(1099511628211);
    AGENTI_TOUCH(url.n);
    for (i = 0; i < d->lane_n; i++) if (d->lanes[i].kind == AGENTI_GL_SOURCE && d->lanes[i].index == (int64_t)(hash >> 1)) return 1;
    if (d->lane_n < MOST) {
        if ((l = agenti_lane_new(d)) == NULL) return 0;
        l->kind = AGENTI_GL_SOURCE;
        l->index = (int64_t)(hash >> 1);
    }
    return agenti_source_add(d, url, title);
}
static AGENTI_NOINLINE int agenti_gm_sources(agenti_decoder *d, agent_str list)
{
    enum { URL, TITLE, FETCHED, WEB, WEB_URL, WEB_TITLE, FOUND, FOUND_URL, FOUND_TITLE, PLACE, PLACE_URL, PLACE_TITLE, FIELDS };
    static const agenti_field rows[FIELDS] = {
        { "uri", -1 }, { "title", -1 }, { "retrievedUrl", -1 }, { "web", -1 }, { "uri", WEB }, { "title", WEB },
        { "retrievedContext", -1 }, { "uri", FOUND }, { "title", FOUND }, { "maps", -1 }, { "uri", PLACE }, { "title", PLACE }
    };
    agent_str f[FIELDS], item;
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &item)) {
        if (!agenti_is_object(item)) continue;
        agenti_json_pick(item, rows, FIELDS, f);
        if (!agenti_gm_source(d, f[URL], f[TITLE]) || !agenti_gm_source(d, f[FETCHED], f[TITLE]) || !agenti_gm_source(d, f[WEB_URL], f[WEB_TITLE])
            || !agenti_gm_source(d, f[FOUND_URL], f[FOUND_TITLE]) || !agenti_gm_source(d, f[PLACE_URL], f[PLACE_TITLE])) return 0;
    }
    return 1;
}

/* ---- slices ---- */
static AGENTI_NOINLINE int agenti_gm_one_candidate(agenti_decoder *d, agent_str candidate)
{
    agent_str f[AGENTI_GC_FIELDS], part;
    int64_t index;
    size_t pos = 0;
    agenti_json_pick(candidate, agenti_gm_candidate, AGENTI_GC_FIELDS, f);
    if (f[AGENTI_GC_INDEX].n && agenti_int(f[AGENTI_GC_INDEX], &index) && index != 0) return 1;
    while (agenti_is_array(f[AGENTI_GC_PARTS]) && agent_json_each(f[AGENTI_GC_PARTS], &pos, NULL, &part))
        if (agenti_is_object(part) && !agenti_gm_one_part(d, part)) return 0;
    if (agenti_is_object(f[AGENTI_GC_GROUNDING]) && f[AGENTI_GC_GROUNDING].n > 2
        && !agenti_news_add(d, f[AGENTI_GC_GROUNDING], "groundingMetadata")) return 0;
    if (!agenti_gm_sources(d, f[AGENTI_GC_CHUNKS]) || !agenti_gm_sources(d, f[AGENTI_GC_PAGES]) || !agenti_gm_sources(d, f[AGENTI_GC_CITATIONS])
        || !agenti_gm_sources(d, f[AGENTI_GC_QUOTED])) return 0;
    if (agenti_nonempty(f[AGENTI_GC_FINISH]) && !agenti_gm_call_end(d, agenti_gm_lane(d))) return 0;
    return agenti_gm_finish(d, f[AGENTI_GC_FINISH], f[AGENTI_GC_MESSAGE]);
}
/* A blocked prompt has no candidates (G6).                                                                             */
static int agenti_gm_blocked(agenti_decoder *d, agent_str feedback, agent_str reason)
{
    agent_str raw;
    if (!agenti_nonempty(reason) || d->finish != AGENT_FINISH_NONE) return 1;
    if (!agenti_news_add(d, feedback, "promptFeedback") || !agenti_string_of(d, reason, &raw)) return 0;
    agenti_finish_set(d, AGENT_FINISH_FILTER, raw);
    return 1;
}
/* A checked object. *known: it had a member that belongs to an answer.                                                 */
static int agenti_gm_object(agenti_decoder *d, agent_str json, int *known)
{
    agent_str f[AGENTI_GR_FIELDS], item;
    size_t pos = 0;
    agenti_json_pick(json, agenti_gm_response, AGENTI_GR_FIELDS, f);
    *known = 1;
    if (f[AGENTI_GR_ERROR].n && !agenti_eq(f[AGENTI_GR_ERROR], "null")) { agenti_fault_object(d, json, 0); return 1; }
    *known = f[AGENTI_GR_CANDIDATES].n || f[AGENTI_GR_USAGE].n || f[AGENTI_GR_FEEDBACK].n;
    agenti_gm_usage(d, f[AGENTI_GR_USAGE]);
    if (!agenti_model_set(d, f[AGENTI_GR_MODEL])) return 0;
    if (d->id.n == 0 && agenti_nonempty(f[AGENTI_GR_ID])
        && (!agenti_string_of(d, f[AGENTI_GR_ID], &item) || !agenti_text_set(&d->id, d->pool, d->graves, item))) return 0;
    while (agenti_is_array(f[AGENTI_GR_CANDIDATES]) && agent_json_each(f[AGENTI_GR_CANDIDATES], &pos, NULL, &item))
        if (agenti_is_object(item) && !agenti_gm_one_candidate(d, item)) return 0;
    return agenti_gm_blocked(d, f[AGENTI_GR_FEEDBACK], f[AGENTI_GR_BLOCKED]);
}
static int agenti_gm_event(agenti_decoder *d, agent_str event, agent_str data)
{
    agent_str item;
    size_t pos = 0;
    int known;
    (void)event;
    data = agenti_trim(data);
    if (data.n == 0 || data.p[0] == ':') return 1;
    if (agenti_eq(data, "[DONE]")) { d->done = 1; return 1; }            /* of proxies                                   */
    if ((data.p[0] != '{' && data.p[0] != '[') || agent_json_check(data.p, data.n, d->depth_limit, NULL) != AGENT_OK) return agenti_payload_bad(d);
    if (agenti_is_object(data)) return agenti_gm_object(d, data, &known);
    while (!d->fault.fault && agent_json_each(data, &pos, NULL, &item)) if (agenti_is_object(item) && !agenti_gm_object(d, item, &known)) return 0;
    return 1;
}
static int agenti_gm_whole(agenti_decoder *d, agent_str body)
{
    int known = 0;
    if (agenti_is_object(body) && !agenti_gm_object(d, body, &known)) return 0;
    if (!known) agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr(AGENTI_WHY("the answer is none of generateContent")));
    d->done = 1;
    return agenti_gm_call_end(d, agenti_gm_lane(d));
}

/* ---- requests ---- */
static agent_str agenti_gm_model(const agenti_request *r) { return agenti_text_view(&r->options[AGENTI_OPT_MODEL]); }
static int agenti_gm_is_gemma(const agenti_request *r) { return agenti_find(agenti_gm_model(r), "gemma"); }    /* takes no systemInstruction */
/* A level and a budget exclude each other.                                                                             */
static void agenti_gm_thinking_out(agenti_buf *b, agenti_request *r)
{
    static const char *const words[] = { "", "minimal", "low", "medium", "high", "high" };
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]), level = agenti_effort(r, words);
    if (budget.n == 0 && agenti_eq(agenti_text_view(&r->options[AGENTI_OPT_EFFORT]), "off")) budget = agenti_cstr("0");
    if (budget.n == 0 && level.n == 0) return;
    if (budget.n && level.n) r->left_out |= AGENTI_BIT(AGENTI_OPT_THINKING);
    agenti_json_key(b, "thinkingConfig");
    agenti_buf_str(b, "{");
    if (level.n) agenti_json_member_str(b, "thinkingLevel", level);
    else agenti_json_member(b, "thinkingBudget", agenti_eq(budget, "adaptive") ? agenti_cstr("-1") : budget);
    if (level.n || !agenti_eq(budget, "0")) agenti_buf_str(b, ",\"includeThoughts\":true");
    agenti_buf_str(b, "}");
}
static void agenti_gm_config_out(agenti_buf *b, agenti_request *r)
{
    static const struct { const char *key; int option; } rows[] = {
        { "maxOutputTokens", AGENTI_OPT_MAX_TOKENS }, { "temperature", AGENTI_OPT_TEMPERATURE }, { "topP", AGENTI_OPT_TOP_P },
        { "seed", AGENTI_OPT_SEED }, { "frequencyPenalty", AGENTI_OPT_FREQUENCY }, { "presencePenalty", AGENTI_OPT_PRESENCE },
        { "topK", AGENTI_OPT_TOP_K }
    };
    agent_str stop = agenti_text_view(&r->options[AGENTI_OPT_STOP]);
    size_t start = b->n, empty, i;
    if (agenti_replaced(r, "generationConfig") || agenti_replaced(r, "generation_config")) return;
    agenti_json_key(b, "generationConfig");
    agenti_buf_str(b, "{");
    empty = b->n;
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        if (r->options[rows[i].option].n) agenti_json_member(b, rows[i].key, agenti_text_view(&r->options[rows[i].option]));
    if (stop.n) {
        agenti_json_key(b, "stopSequences");
        if (stop.p[0] != '[') agenti_buf_str(b, "[");
        agenti_buf_add(b, stop.p, stop.n);
        if (stop.p[0] != '[') agenti_buf_str(b, "]");
    }
    agenti_gm_thinking_out(b, r);
    if (r->options[AGENTI_OPT_FORMAT].n) agenti_json_member_str(b, "responseMimeType", agenti_cstr("application/json"));
    if (agenti_format_schema(r).n) agenti_json_member(b, "responseJsonSchema", agenti_format_schema(r));
    if (b->n == empty) b->n = start; else agenti_buf_str(b, "}");
}
static void agenti_gm_head(agenti_buf *b, agenti_request *r)
{
    agent_str system = agenti_text_view(&r->options[AGENTI_OPT_SYSTEM]);
    agenti_buf_str(b, "{");
    if (system.n && !agenti_gm_is_gemma(r) && !agenti_replaced(r, "systemInstruction") && !agenti_replaced(r, "system_instruction")) {
        agenti_buf_str(b, "\"systemInstruction\":{\"parts\":[{\"text\":");
        agenti_json_quote_to(b, system);
        agenti_buf_str(b, "}]}");
    }
    agenti_gm_config_out(b, r);
    agenti_json_key(b, "contents");
    agenti_buf_str(b, "[");
}
/* Roles alternate: parts of one side go into one content. r->state: 0 none, else 1 + the side whose content is open.    */
static void agenti_gm_side(agenti_buf *b, agenti_request *r, int model)
{
    if (r->state == 1 + model) { agenti_buf_str(b, ","); return; }
    if (r->state) agenti_buf_str(b, "]},");
    agenti_buf_str(b, model ? "{\"role\":\"model\",\"parts\":[" : "{\"role\":\"user\",\"parts\":[");
    r->state = 1 + model;
}
static void agenti_gm_text_out(agenti_buf *b, agenti_request *r, agent_str text)
{
    agenti_gm_side(b, r, 0);
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "text", text);
    agenti_buf_str(b, "}");
}
static void agenti_gm_system(agenti_buf *b, agenti_request *r, agent_str text)
{
    if (agenti_gm_is_gemma(r) && !agenti_replaced(r, "systemInstruction") && !agenti_replaced(r, "system_instruction")) agenti_gm_text_out(b, r, text);
}
/* Five types of images, sound, video and PDFs; by URI whatever it is.                                                  */
static int agenti_gm_takes(const agenti_part *p)
{
    static const char *const types[] = { "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf" };
    agent_str mime = agenti_text_view(&p->mime);
    size_t i;
    if (p->uri.n || p->kind == AGENT_PART_AUDIO) return 1;
    for (i = 0; i < sizeof types / sizeof *types; i++) if (agenti_ieq(mime, types[i])) return 1;
    return mime.n > 6 && agenti_ieq(agenti_str(mime.p, 6), "video/");
}
static void agenti_gm_media_out(agenti_buf *b, const agenti_request *r, const agenti_msg *m, const agenti_part *p)      /* a member */
{
    agenti_json_key(b, p->uri.n ? "fileData" : "inlineData");
    agenti_buf_str(b, "{");
    if (p->mime.n) agenti_json_member_str(b, "mimeType", agenti_text_view(&p->mime));
    agenti_json_member_str(b, p->uri.n ? "fileUri" : "data", agenti_text_view(p->uri.n ? &p->uri : &p->text));
    agenti_more_out(b, r, m, &p->inner);
    agenti_buf_str(b, "}");
}
static void agenti_gm_user_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int plain = p->kind == AGENT_PART_TEXT || (p->kind == AGENT_PART_FILE && p->text.n && !(p->flags & AGENT_PART_BASE64));
    agenti_gm_side(b, r, 0);
    if (p->kind == AGENT_PART_OTHER) { agenti_buf_add(b, p->text.p, p->text.n); return; }
    agenti_buf_str(b, "{");
    if (plain) agenti_json_member_str(b, "text", agenti_text_view(&p->text));
    else if (m->wire == (const void *)r->wire || agenti_gm_takes(p)) agenti_gm_media_out(b, r, m, p);
    else {
        agenti_json_key(b, "text");
        agenti_media_left_out(b, r, p);
    }
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
/* The id of a call, unless the provider gave none.                                                                     */
static void agenti_gm_id_out(agenti_buf *b, agent_str id)
{
    static const char made[] = "call_local_";
    if (id.n < sizeof made || memcmp(id.p, made, sizeof made - 1) != 0) agenti_json_member_str(b, "id", id);
}
/* Newer models refuse a step whose first call has no signature, as those of another model or of an import; this word stands for one (D10). */
static const char *agenti_gm_no_signature(const agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    static const char *const old[] = { "gemini-1", "gemini-2", "gemma" };
    const agenti_part *q = m->parts;
    size_t i;
    while (q->kind != AGENT_PART_CALL) q++;
    for (i = 0; i < sizeof old / sizeof *old; i++) if (agenti_find(agenti_gm_model(r), old[i])) return "";
    return q == p ? "skip_thought_signature_validator" : "";
}
static void agenti_gm_model_call(agenti_buf *b, const agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int usable = p->text.n && !(p->flags & AGENT_PART_INVALID);
    agenti_buf_str(b, "\"functionCall\":{");
    agenti_gm_id_out(b, agenti_wire_id(p));
    agenti_tool_name_out(b, agenti_text_view(&p->name));
    agenti_json_member(b, "args", usable ? agenti_text_view(&p->text) : agenti_cstr("{}"));
    agenti_more_out(b, r, m, &p->inner);
    agenti_buf_str(b, "}");
}
static void agenti_gm_model_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int same = m->model == r->model, good = same && !(p->flags & AGENT_PART_CUT);
    agent_str signature = good ? agenti_text_view(&p->data) : agenti_str(NULL, 0);
    if ((p->kind == AGENT_PART_REASONING || p->kind == AGENT_PART_OTHER) && !good) {
        if (!same) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING);
        return;
    }
    if (p->text.n == 0 && signature.n == 0 && p->kind != AGENT_PART_CALL && p->uri.n == 0) return;
    if (agenti_is_media(p->kind) && m->wire != (const void *)r->wire && !agenti_gm_takes(p)) return;
    agenti_gm_side(b, r, 1);
    if (p->kind == AGENT_PART_OTHER) { agenti_buf_add(b, p->text.p, p->text.n); return; }
    agenti_buf_str(b, "{");
    if (p->kind == AGENT_PART_CALL) {
        agenti_gm_model_call(b, r, m, p);
        if (signature.n == 0) signature = agenti_cstr(agenti_gm_no_signature(r, m, p));
    } else if (agenti_is_media(p->kind)) agenti_gm_media_out(b, r, m, p);
    else agenti_json_member_str(b, "text", agenti_text_view(&p->text));
    if (p->kind == AGENT_PART_REASONING) agenti_buf_str(b, ",\"thought\":true");
    if (signature.n) agenti_json_member_str(b, "thoughtSignature", signature);
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static agent_str agenti_gm_name_of(const agenti_msg *before, const agenti_part *result)
{
    agent_str id = agenti_text_view(&result->wire_id);
    uint32_t n = before ? before->n : 0, i, k;
    for (k = 0; k < n; k++) {                 /* mostly at its place                                                    */
        const agenti_part *p = &before->parts[i = (result->key + k) % n];
        if (p->kind == AGENT_PART_CALL && p->wire_id.n == id.n && memcmp(p->wire_id.p, id.p, id.n) == 0) return agenti_text_view(&before->parts[i].name);
    }
    return agenti_cstr("unknown");
}
/* The response is an object of the provider's, whose numbers are doubles: the tool's output is a text in it, so digits survive. */
static void agenti_gm_result_out(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    agent_str text = agenti_text_view(&p->text);
    agenti_gm_side(b, r, 0);
    agenti_buf_str(b, "{\"functionResponse\":{");
    agenti_gm_id_out(b, agenti_wire_id(p));
    agenti_tool_name_out(b, agenti_gm_name_of(r->before, p));
    if (!agenti_own_content(r, m, p)) {
        agenti_buf_str(b, ",\"response\":{");
        agenti_json_member_str(b, p->flags & AGENT_PART_ERROR ? "error" : "output", text.n ? text : agenti_cstr("(no output)"));
        agenti_buf_str(b, "}");
    }
    agenti_more_out(b, r, m, &p->inner);
    agenti_buf_str(b, "}");
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static void agenti_gm_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i;
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        if (m->role == AGENT_USER) agenti_gm_user_part(b, r, m, p);
        else if (m->role == AGENT_TOOLS) agenti_gm_result_out(b, r, m, p);
        else agenti_gm_model_part(b, r, m, p);
    }
}

/* ---- tools ---- */
/* A schema as the provider takes it, a part of OpenAPI's: it refuses a request with a word that is not on its list. Dropped: all words but these
 * and `items`, `properties`, `anyOf`; formats but a few; enums of other things than strings. Rewritten: `oneOf` to anyOf, `const` to an
 * enum, a list of types to anyOf and nullable, a schema true or false to that of a string; an array without items gets them. */
static int agenti_gm_listed(agent_str word, const char *const *list)
{
    for (; *list; list++) if (agenti_eq(word, *list)) return 1;
    return 0;
}
static void agenti_gm_enum_out(agenti_buf *b, agent_str list)
{
    agent_str item;
    size_t pos = 0, n = 0;
    while (agent_json_each(list, &pos, NULL, &item)) {
        if (!agenti_is_string(item) && !agenti_eq(item, "null")) return;
        n += (size_t)agenti_nonempty(item);
    }
    if (n == 0) return;
    agenti_json_key(b, "enum");
    agenti_buf_str(b, "[");
    for (pos = 0; agent_json_each(list, &pos, NULL, &item);) {
        if (!agenti_nonempty(item)) continue;             /* "" is refused                                              */
        agenti_json_comma(b);
        agenti_buf_add(b, item.p, item.n);
    }
    agenti_buf_str(b, "]");
}
static void agenti_gm_types_out(agenti_buf *b, agent_str list)
{
    agent_str item, last = agenti_cstr("\"null\"");
    size_t pos = 0, n = 0, null = 0;
    while (agent_json_each(list, &pos, NULL, &item)) {
        if (agent_json_is(item, "null")) null = 1;
        else if (agenti_is_string(item)) { n++; last = item; }
    }
    if (n < 2) agenti_json_member(b, "type", last);
    else {
        agenti_json_key(b, "anyOf");
        agenti_buf_str(b, "[");
        for (pos = 0; agent_json_each(list, &pos, NULL, &item);) {
            if (!agenti_is_string(item) || agent_json_is(item, "null")) continue;
            agenti_json_comma(b);
            agenti_buf_str(b, "{");
            agenti_json_member(b, "type", item);
            if (agent_json_is(item, "array")) agenti_buf_str(b, ",\"items\":{\"type\":\"string\"}");
            agenti_buf_str(b, "}");
        }
        agenti_buf_str(b, "]");
    }
    if (null && n) agenti_json_member(b, "nullable", agenti_cstr("true"));
}
static void agenti_gm_word_out(agenti_buf *b, agent_str key, agent_str value)
{
    static const char *const kept[] = {
        "title", "description", "nullable", "maxItems", "minItems", "required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern",
        "example", "propertyOrdering", "default", "minimum", "maximum", NULL
    };
    static const char *const formats[] = { "\"enum\"", "\"date-time\"", "\"float\"", "\"double\"", "\"int32\"", "\"int64\"", NULL };
    int is_type = agenti_eq(key, "type");
    if (is_type && agenti_is_array(value)) agenti_gm_types_out(b, value);
    else if (agenti_eq(key, "enum")) agenti_gm_enum_out(b, value);
    else if (agenti_eq(key, "const") && agenti_nonempty(value)) {
        agenti_json_key(b, "enum");
        agenti_buf_str(b, "[");
        agenti_buf_add(b, value.p, value.n);
        agenti_buf_str(b, "]");
    } else if (is_type || agenti_gm_listed(key, kept) || (agenti_eq(key, "format") && agenti_gm_listed(value, formats))) {
        agenti_json_comma(b);
        agenti_buf_add(b, key.p - 1, key.n + 2);
        agenti_buf_str(b, ":");
        agenti_buf_add(b, value.p, value.n);
    }
}
enum { AGENTI_GS_SCHEMA, AGENTI_GS_NAMES, AGENTI_GS_LIST, AGENTI_GS_KIND = 3, AGENTI_GS_ARRAY = 4, AGENTI_GS_ITEMS = 8 };   /* of a level */
/* A member at s.p[*at]. Returns the level that it opens, or -1: it is written or dropped.                               */
static int agenti_gm_member_out(agenti_buf *b, agent_str s, size_t *at, uint8_t *level, int deeper)
{
    agent_str key, value;
    key.n = agenti_json_skip(s.p + *at, s.n - *at) - 2;
    key.p = s.p + *at + 1;
    *at += key.n + 2;
    *at += agenti_json_space(s.p + *at, s.n - *at) + 1;
    *at += agenti_json_space(s.p + *at, s.n - *at);
    value.p = s.p + *at;
    if (*level == AGENTI_GS_NAMES) {
        agenti_json_comma(b);
        agenti_buf_add(b, key.p - 1, key.n + 2);
        agenti_buf_str(b, ":");
        if (deeper && *value.p == '{') return AGENTI_GS_SCHEMA;
        agenti_buf_str(b, "{\"type\":\"string\"}");
    } else if (deeper && *value.p == '{' && (agenti_eq(key, "properties") || agenti_eq(key, "items"))) {
        agenti_json_key(b, agenti_eq(key, "items") ? "items" : "properties");
        if (agenti_eq(key, "properties")) return AGENTI_GS_NAMES;
        *level |= AGENTI_GS_ITEMS;
        return AGENTI_GS_SCHEMA;
    } else if (deeper && *value.p == '[' && (agenti_eq(key, "anyOf") || agenti_eq(key, "oneOf"))) {
        agenti_json_key(b, "anyOf");
        return AGENTI_GS_LIST;
    }
    value.n = agenti_json_skip(value.p, s.n - *at);
    *at += value.n;
    if (*level == AGENTI_GS_NAMES) return -1;
    if (agenti_eq(key, "type") && agent_json_is(value, "array")) *level |= AGENTI_GS_ARRAY;
    agenti_gm_word_out(b, key, value);
    return -1;
}
static void agenti_gm_schema_out(agenti_buf *b, agent_str s)                   /* a checked object                      */
{
    enum { MOST = 64 };
    uint8_t level[MOST];
    size_t at = 0;
    uint32_t depth = 0;
    int opens = AGENTI_GS_SCHEMA;
    AGENTI_TOUCH(s.n);
    at = agenti_json_space(s.p, s.n);
    do {
        char c = s.p[at];
        if (opens >= 0) {
            level[depth++] = (uint8_t)opens;
            agenti_buf_add(b, s.p + at++, 1);
            opens = -1;
        } else if (c == '}' || c == ']') {
            if ((level[--depth] & (AGENTI_GS_ARRAY | AGENTI_GS_ITEMS)) == AGENTI_GS_ARRAY) agenti_buf_str(b, ",\"items\":{\"type\":\"string\"}");
            agenti_buf_add(b, s.p + at++, 1);
        } else if (c == ',') at++;
        else if (level[depth - 1] == AGENTI_GS_LIST) {
            if (c == '{' && depth < MOST) {
                agenti_json_comma(b);
                opens = AGENTI_GS_SCHEMA;
            } else at += agenti_json_skip(s.p + at, s.n - at);
        } else opens = agenti_gm_member_out(b, s, &at, &level[depth - 1], depth < MOST);
        at += agenti_json_space(s.p + at, s.n - at);
    } while (depth && at < s.n);
}
/* Without parameters there is no schema; one that refers to others goes into the member that takes all of JSON Schema.  */
static void agenti_gm_function_out(agenti_buf *b, const agenti_tool *t)
{
    agent_str schema = agenti_text_view(&t->schema), properties = agent_json_get(schema, "properties");
    agenti_json_comma(b);
    if (t->raw.n) { agenti_buf_add(b, t->raw.p, t->raw.n); return; }
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "name", agenti_text_view(&t->name));
    if (t->description.n) agenti_json_member_str(b, "description", agenti_text_view(&t->description));
    if (agenti_find(schema, "\"$ref\"")) agenti_json_member(b, "parametersJsonSchema", schema);
    else if (agenti_is_object(properties) && agenti_trim(agenti_str(properties.p + 1, properties.n - 2)).n) {
        agenti_json_key(b, "parameters");
        agenti_gm_schema_out(b, schema);
    }
    agenti_buf_str(b, "}");
}
static size_t agenti_gm_functions(const agenti_request *r)
{
    size_t i, n = 0;
    for (i = 0; i < r->tool_count; i++) n += !(r->tools[i].flags & AGENT_TF_RAW);
    return n;
}
static void agenti_gm_choice(agenti_buf *b, const agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    int forced = choice.n && !agenti_eq(choice, "auto") && !agenti_eq(choice, "none");
    if (agenti_replaced(r, "toolConfig") || agenti_replaced(r, "tool_config") || (!r->tools_off && (choice.n == 0 || r->choice_off))) return;
    agenti_buf_str(b, ",\"toolConfig\":{\"functionCallingConfig\":{\"mode\":");
    agenti_buf_str(b, r->tools_off || agenti_eq(choice, "none") ? "\"NONE\"" : forced ? "\"ANY\"" : "\"AUTO\"");
    if (!r->tools_off && forced && !agenti_eq(choice, "required")) {
        agenti_buf_str(b, ",\"allowedFunctionNames\":[");
        agenti_json_quote_to(b, choice);
        agenti_buf_str(b, "]");
    }
    agenti_buf_str(b, "}}");
}
/* A choice is refused where there are no functions.                                                                    */
static void agenti_gm_tail(agenti_buf *b, const agenti_request *r)
{
    agenti_request with = *r;
    if (r->note) agenti_gm_text_out(b, &with, agenti_cstr(r->note));
    agenti_buf_str(b, with.state ? "]}]" : "]");
    if (agenti_gm_functions(r) || agenti_replaced(r, "tools")) agenti_gm_choice(b, r);
}
static void agenti_gm_tools_out(agenti_buf *b, const agenti_request *r)
{
    size_t i;
    if (r->tool_count == 0 || agenti_replaced(r, "tools")) return;
    agenti_buf_str(b, ",\"tools\":[");
    if (agenti_gm_functions(r)) {
        agenti_buf_str(b, "{\"functionDeclarations\":[");
        for (i = 0; i < r->tool_count; i++) if (!(r->tools[i].flags & AGENT_TF_RAW)) agenti_gm_function_out(b, &r->tools[i]);
        agenti_buf_str(b, "]}");
    }
    for (i = 0; i < r->tool_count; i++) {
        if (!(r->tools[i].flags & AGENT_TF_RAW)) continue;
        agenti_json_comma(b);
        agenti_buf_add(b, r->tools[i].schema.p, r->tools[i].schema.n);
    }
    agenti_buf_str(b, "]");
}
static const char *const agenti_gm_none[] = { NULL };        /* whose thought a text is may stand behind it: no cuts     */
static const agenti_wire agenti_gemini_wire = {
    "gemini", "/models/{model}:streamGenerateContent?alt=sse", "/models/{model}:generateContent", AGENTI_FRAMING_ARRAY, NULL, NULL,
    AGENTI_BIT(AGENTI_OPT_PARALLEL) | AGENTI_BIT(AGENTI_OPT_TIER) | AGENTI_BIT(AGENTI_OPT_CACHE_KEY) | AGENTI_BIT(AGENTI_OPT_USER)
        | AGENTI_BIT(AGENTI_LEFT_STRICT),
    agenti_gm_head, agenti_gm_system, agenti_gm_message_out, agenti_gm_tail, agenti_gm_tools_out, agenti_extra_out, agenti_gm_event,
    agenti_gm_whole, NULL,
    { agenti_gm_none, agenti_gm_none, agenti_gm_none, 0, agenti_gm_none }, { agenti_gm_none, agenti_gm_none, agenti_gm_none, 0, agenti_gm_none },
    AGENTI_IMPORTER(agenti_gemini_import), NULL
};
AGENTI_FN const agenti_wire *agenti_gemini(void) { return &agenti_gemini_wire; }
#endif
#endif
