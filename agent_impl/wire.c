/* What a wire format is to the rest: a few functions, the request they write and the answer they take apart.
 * A wire format turns payloads into ops; the answer part turns ops into events. It knows no session and no loop. */
enum agenti_op_kind {
    AGENTI_OP_TEXT, AGENTI_OP_REASONING,      /* a: clean UTF-8 to append to stream `key`                               */
    AGENTI_OP_END,                            /* stream `key` is over                                                   */
    AGENTI_OP_CALL,                           /* a tool call begins: a wire id (may be empty), b name (may come later)  */
    AGENTI_OP_NAME,                           /* b: the name of call `key`                                              */
    AGENTI_OP_ARGS,                           /* a: arguments of call `key`, appended (or resent from the start)        */
    AGENTI_OP_SOURCE,                         /* a: URL, b: title                                                       */
    AGENTI_OP_WARNING                         /* a: text, static                                                        */
};
typedef struct agenti_op { uint8_t kind, flags; uint32_t key; agent_str a, b; } agenti_op;
typedef struct agenti_wire_call { agenti_text id; int64_t index; uint8_t has_index, named; } agenti_wire_call;

typedef struct agenti_fault {                 /* how an answer failed; fault NONE: it did not                           */
    int fault, http_status, retryable;
    int64_t retry_after_ms;                   /* -1: not told                                                           */
    uint64_t offset;                          /* in the bytes of the answer's body                                      */
    agenti_text code, text;                   /* the provider's own code; what and why                                  */
} agenti_fault;

struct agenti_wire;
typedef struct agenti_decoder {               /* a wire format's view of an answer                                      */
    agenti_pool *pool;
    agenti_blob **graves;
    const struct agenti_wire *wire;
    uint32_t dialect, item_limit, depth_limit;
    agenti_op *ops; uint32_t op_n, op_cap, op_at;
    agenti_arena arena;                       /* what ops point to and is not in the input                              */
    agenti_wire_call *calls; uint32_t call_n, call_cap;
    uint32_t last_call;
    uint32_t stream, streams;                 /* key of the open text stream; keys given out (0: none)                  */
    uint8_t stream_kind;                      /* of the open stream                                                     */
    uint8_t done, sourced;                    /* the terminal signal came; sources were given                           */
    uint32_t bad;                             /* payloads that are no JSON                                              */
    uint16_t high_text, high_args;            /* half of a surrogate pair, waiting for the next piece of the stream     */
    uint32_t high_call;                       /* whose arguments high_args belongs to                                   */
    int finish;                               /* AGENT_FINISH_NONE: not told                                            */
    char finish_raw[32];
    agent_usage usage; int has_usage;
    agenti_fault fault;
} agenti_decoder;

typedef struct agenti_option { const char *key; agenti_text value; } agenti_option;
enum { AGENTI_OPT_MODEL, AGENTI_OPT_SYSTEM, AGENTI_OPT_MAX_TOKENS, AGENTI_OPT_TEMPERATURE, AGENTI_OPT_TOP_P, AGENTI_OPT_SEED,
       AGENTI_OPT_FREQUENCY, AGENTI_OPT_PRESENCE, AGENTI_OPT_STOP, AGENTI_OPT_TOOL_CHOICE, AGENTI_OPT_PARALLEL, AGENTI_OPT_COUNT };
typedef struct agenti_tool { agenti_text name, description, schema; uint32_t flags; void *user; } agenti_tool;
typedef struct agenti_request {               /* what a request is made of, beside the messages                         */
    const agenti_text *options;               /* AGENTI_OPT_COUNT of them                                               */
    const agenti_tool *tools; size_t tool_count;
    agent_str extra;                          /* an object whose members go in, and replace ours                        */
    uint32_t dialect;
    int stream, tools_off, choice_off;        /* choice_off: a forced tool_choice was used                              */
    const char *note;                         /* the engine's words to the model, as the last user message; or NULL     */
} agenti_request;
typedef struct agenti_wire {
    const char *name, *path;                  /* "openai-chat", "/chat/completions"                                     */
    /* the body is head, [system,] messages (comma between), tail, tools, end                                           */
    void (*head)(agenti_buf *, const agenti_request *);
    void (*system)(agenti_buf *, const agenti_request *, agent_str text);
    void (*message)(agenti_buf *, const agenti_request *, const agenti_msg *);   /* nothing: not sent                   */
    void (*tail)(agenti_buf *, const agenti_request *);
    void (*tools)(agenti_buf *, const agenti_request *);
    void (*end)(agenti_buf *, const agenti_request *);
    /* answers; 0: no memory                                                                                            */
    int (*event)(agenti_decoder *, agent_str event, agent_str data);             /* one streamed payload                */
    int (*whole)(agenti_decoder *, agent_str body);                              /* an answer in one piece, checked JSON */
    const char *const *parts, *const *route;                                     /* how a long payload is split: json_split.c */
} agenti_wire;

AGENTI_FN void agenti_decoder_init(agenti_decoder *, agenti_pool *, agenti_blob **graves, const agenti_wire *);
AGENTI_FN void agenti_decoder_free(agenti_decoder *);
AGENTI_FN agenti_op *agenti_op_add(agenti_decoder *, int kind, uint32_t key);    /* NULL: no memory                     */
/* Appends a JSON string to the open stream of that kind, closing one of another kind first. Others than strings: nothing.
 * 0: no memory                                                                                                         */
AGENTI_FN int  agenti_stream_add(agenti_decoder *, int kind, agent_str value, int flags);
AGENTI_FN int  agenti_stream_end(agenti_decoder *);
AGENTI_FN int  agenti_decoder_end(agenti_decoder *);             /* the answer is over: ends what is open. 0: no memory  */
AGENTI_FN void agenti_finish_set(agenti_decoder *, int finish, agent_str raw);
/* Sets the fault, once: a second one changes nothing. text is copied; without memory a static word stands for it.      */
AGENTI_FN void agenti_fault_set(agenti_decoder *, int fault, int retryable, const char *code, agent_str text);
AGENTI_FN void agenti_fault_free(agenti_fault *, agenti_blob **graves);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE
AGENTI_FN void agenti_decoder_init(agenti_decoder *d, agenti_pool *pool, agenti_blob **graves, const agenti_wire *wire)
{
    memset(d, 0, sizeof *d);
    d->pool = pool;
    d->graves = graves;
    d->wire = wire;
    d->arena.pool = pool;
    d->usage.input = d->usage.cached = d->usage.cache_write = d->usage.output = d->usage.reasoning = -1;
    d->fault.retry_after_ms = -1;
}
AGENTI_FN void agenti_decoder_free(agenti_decoder *d)
{
    uint32_t i;
    for (i = 0; i < d->call_n; i++) agenti_text_free(&d->calls[i].id, d->graves);
    agenti_put(d->pool, d->calls, d->call_cap * sizeof *d->calls);
    agenti_put(d->pool, d->ops, d->op_cap * sizeof *d->ops);
    agenti_arena_free(&d->arena);
    agenti_fault_free(&d->fault, d->graves);
    memset(d, 0, sizeof *d);
}
AGENTI_FN agenti_op *agenti_op_add(agenti_decoder *d, int kind, uint32_t key)
{
    agenti_op *op;
    if (d->op_n == d->op_cap) {
        uint32_t cap = d->op_cap ? d->op_cap * 2 : 8;
        op = (agenti_op *)agenti_resize(d->pool, d->ops, d->op_cap * sizeof *op, cap * sizeof *op);
        if (op == NULL) return NULL;
        d->ops = op;
        d->op_cap = cap;
    }
    op = &d->ops[d->op_n++];
    memset(op, 0, sizeof *op);
    op->kind = (uint8_t)kind;
    op->key = key;
    op->a = op->b = agenti_str(NULL, 0);
    return op;
}
AGENTI_FN int agenti_stream_end(agenti_decoder *d)
{
    agenti_op *op;
    if (d->stream == 0) return 1;
    if (d->high_text) {                      /* the other half of the pair never came                                  */
        d->high_text = 0;
        if ((op = agenti_op_add(d, d->stream_kind, d->stream)) == NULL) return 0;
        op->a = agenti_cstr("\xEF\xBF\xBD");
    }
    if (agenti_op_add(d, AGENTI_OP_END, d->stream) == NULL) return 0;
    d->stream = 0;
    return 1;
}
AGENTI_FN int agenti_decoder_end(agenti_decoder *d)
{
    agenti_op *op;
    if (d->high_args) {
        d->high_args = 0;
        if ((op = agenti_op_add(d, AGENTI_OP_ARGS, d->high_call)) == NULL) return 0;
        op->a = agenti_cstr("\xEF\xBF\xBD");
    }
    return agenti_stream_end(d);
}
AGENTI_FN int agenti_stream_add(agenti_decoder *d, int kind, agent_str value, int flags)
{
    agenti_op *op;
    agent_str text;
    if (value.n < 2 || value.p[0] != '"' || value.p[1] == '"') return 1;
    if (d->stream && d->stream_kind != kind && !agenti_stream_end(d)) return 0;
    if (!agenti_json_string(value, &d->high_text, &d->arena, &text)) return 0;
    if (d->stream == 0) {
        d->stream = ++d->streams;
        d->stream_kind = (uint8_t)kind;
    }
    if ((op = agenti_op_add(d, kind, d->stream)) == NULL) return 0;
    op->a = text;
    op->flags = (uint8_t)flags;
    return 1;
}
AGENTI_FN void agenti_finish_set(agenti_decoder *d, int finish, agent_str raw)
{
    size_t n = raw.n < sizeof d->finish_raw - 1 ? raw.n : sizeof d->finish_raw - 1;
    n = agenti_utf8_valid(raw.p, n);
    memcpy(d->finish_raw, raw.p, n);
    d->finish_raw[n] = 0;
    d->finish = finish;
}
AGENTI_FN void agenti_fault_set(agenti_decoder *d, int fault, int retryable, const char *code, agent_str text)
{
    enum { MOST = 2048 };
    if (d->fault.fault) return;
    d->fault.fault = fault;
    d->fault.retryable = retryable;
    agenti_text_static(&d->fault.code, d->graves, code);
    if (agenti_trim(text).n == 0) text = agenti_cstr("the provider tells no more");
    if (text.n > MOST) text.n = MOST;
    if (agenti_text_set(&d->fault.text, d->pool, d->graves, text)) {
        if (!agenti_text_repair(&d->fault.text, d->pool, d->graves)) agenti_text_scrub(&d->fault.text);
    } else agenti_text_static(&d->fault.text, d->graves, "no memory for the message");
}
AGENTI_FN void agenti_fault_free(agenti_fault *f, agenti_blob **graves)
{
    agenti_text_free(&f->code, graves);
    agenti_text_free(&f->text, graves);
    memset(f, 0, sizeof *f);
    f->retry_after_ms = -1;
}
#endif
