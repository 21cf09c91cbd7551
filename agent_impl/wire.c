/* What a wire format is to the rest: a few functions, the request they write and the answer they take apart.
 * A wire format turns payloads into ops; the answer part turns ops into events. It knows no session and no loop. */
enum { AGENTI_RAW_QUIET = 1,                 /* flags of RAW: another op says what the block is                         */
       AGENTI_DATA_CALL = 1,                  /* of DATA                                                                */
       AGENTI_ARGS_WHOLE = 1 };               /* of ARGS: all of them, what came before included                        */
enum agenti_op_kind {
    AGENTI_OP_TEXT, AGENTI_OP_REASONING,      /* a: clean UTF-8 to append to stream `key`                               */
    AGENTI_OP_END,                            /* stream `key` is over                                                   */
    AGENTI_OP_CALL,                           /* a tool call begins: a wire id (may be empty), b name (may come later)  */
    AGENTI_OP_NAME,                           /* b: the name of call `key`                                              */
    AGENTI_OP_ARGS,                           /* a: arguments of call `key`, appended (or resent from the start)        */
    AGENTI_OP_DATA,                           /* a: appended to what goes back with stream `key`, or call with AGENTI_DATA_CALL */
    AGENTI_OP_FILE,                           /* a: base64 to append to the file of stream `key`; flags: an agent_part_kind */
    AGENTI_OP_MIME, AGENTI_OP_URI,            /* a: what its FILE_START says, before any of its OP_FILE                 */
    AGENTI_OP_RAW,                            /* a: a block as JSON that goes back as it is, b: its type                */
    AGENTI_OP_RAN,                            /* the block before is a call that the provider runs: a wire id, b name, c input */
    AGENTI_OP_RESULT,                         /* the block before is the result of one: a wire id, c its content; flags: AGENT_PART_ERROR */
    AGENTI_OP_SOURCE,                         /* a: URL, b: title                                                       */
    AGENTI_OP_NEWS,                           /* a: JSON that is no part of the message, b: what it is                   */
    AGENTI_OP_MODELS,                         /* a: a list of models, JSON                                              */
    AGENTI_OP_WARNING                         /* a: text, static                                                        */
};
typedef struct agenti_op { uint8_t kind, flags; uint32_t key; agent_str a, b, c; } agenti_op;
typedef struct agenti_lane {                  /* what a wire format keeps of one stream of an answer: a call, a block     */
    agenti_text id;                           /* its id; or the block as it came                                        */
    agenti_text more;                         /* JSON that later pieces add to the block                                */
    int64_t index;
    uint32_t key;                             /* of its ops                                                             */
    uint8_t has_index, named, cited, kind;
    uint8_t call;                             /* its text is arguments of a call                                        */
    uint8_t whole;                            /* they came complete with its start                                      */
    uint16_t high;                            /* half of a surrogate pair, waiting for the next piece                   */
    int64_t sub;                              /* which part of it is open                                               */
} agenti_lane;

typedef struct agenti_fault {                 /* how an answer failed; fault NONE: it did not                           */
    int fault, http_status, retryable;
    int64_t retry_after_ms;                   /* -1: not told                                                           */
    uint64_t offset;                          /* in the bytes of the answer's body                                      */
    agenti_text code, text;                   /* the provider's own code; what and why                                  */
} agenti_fault;

struct agenti_wire;
struct agenti_import;
typedef struct agenti_decoder {               /* a wire format's view of an answer                                      */
    agenti_pool *pool;
    agenti_blob **graves;
    const struct agenti_wire *wire;
    agenti_op *ops; uint32_t op_n, op_cap, op_at;
    agenti_lane *lanes; uint32_t lane_n, lane_cap;
    uint32_t stream, streams;                 /* key of the open text stream; keys given out (0: none)                  */
    uint8_t stream_kind;                      /* of the open stream                                                     */
    uint8_t started, done, sourced;           /* the message began; its terminal signal came; sources were given        */
    uint8_t paused;                           /* the provider wants the same history again, to go on with it            */
    uint8_t partial;                          /* what is being read is a piece of a payload, and not its last           */
    uint16_t high_text;                       /* the same of the open text stream                                       */
    int finish;                               /* AGENT_FINISH_NONE: not told                                            */
    uint32_t call_n, last_call;               /* calls in the answer; the lane of the last one                          */
    uint32_t bad;                             /* payloads that are no JSON                                              */
    agenti_arena arena;                       /* what ops point to and is not in the input                              */
    agenti_fault fault;
    uint32_t dialect, depth_limit, call_limit, item_limit;
    uint8_t stream_data; int64_t stream_index;       /* something goes back with it; the index that its host gave it    */
    int64_t past;                             /* parts of the answer with an index below it are over                    */
    agent_usage usage; int has_usage;
    int64_t uncached;                         /* prompt tokens beside the cached ones, where a format tells them apart  */
    agenti_text id, model;                    /* the provider's id of the answer, and the model that gave it            */
    agenti_text request_id;                   /* its id of the request                                                  */
    char finish_raw[32];
} agenti_decoder;

enum { AGENTI_OPT_MODEL, AGENTI_OPT_SYSTEM, AGENTI_OPT_MAX_TOKENS, AGENTI_OPT_TEMPERATURE, AGENTI_OPT_TOP_P, AGENTI_OPT_SEED,
       AGENTI_OPT_FREQUENCY, AGENTI_OPT_PRESENCE, AGENTI_OPT_STOP, AGENTI_OPT_TOOL_CHOICE, AGENTI_OPT_PARALLEL,
       AGENTI_OPT_EFFORT, AGENTI_OPT_THINKING, AGENTI_OPT_CACHE, AGENTI_OPT_STATEFUL,
       AGENTI_OPT_FORMAT, AGENTI_OPT_TIER, AGENTI_OPT_CACHE_KEY, AGENTI_OPT_TOP_K, AGENTI_OPT_USER, AGENTI_OPT_COUNT,
       /* beside options */
       AGENTI_LEFT_REASONING = AGENTI_OPT_COUNT, AGENTI_LEFT_MEDIA, AGENTI_LEFT_MARK, AGENTI_LEFT_TOOLS, AGENTI_LEFT_STRICT, AGENTI_LEFT_MORE,
       AGENTI_LEFT_COUNT };
#define AGENTI_BIT(n) (1u << (n))
typedef struct agenti_tool {
    agenti_text name, description, schema;
    agenti_text raw;                          /* of an import: the declaration as it came, in the format of the request; or none */
    uint32_t flags, timeout_ms; void *user;
} agenti_tool;
typedef struct agenti_request {               /* what a request is made of, beside the messages                         */
    const agenti_text *options;               /* AGENTI_OPT_COUNT of them                                               */
    const agenti_tool *tools; size_t tool_count;
    agent_str extra;                          /* an object whose members go in, and replace ours                        */
    agent_str system_raw;                     /* the system messages of an import, as they came; they stand for the option */
    const struct agenti_wire *wire;           /* the format that is written                                             */
    uint32_t dialect;
    int stream, tools_off, choice_off;        /* choice_off: a forced tool_choice was used                              */
    int stateful;                             /* the provider is to keep its answers                                    */
    agent_str previous;                       /* its id of the one that it goes on from; only what came after is sent   */
    uint32_t model;                           /* whose reasoning may go back                                            */
    int state;                                /* the wire format's own, from one message to the next; 0 before the first */
    uint32_t left_out;                        /* AGENTI_BITs of AGENTI_OPT_ and AGENTI_LEFT_: what was asked for and is not sent */
    const char *note;                         /* the engine's words to the model, as the last user message; or NULL     */
    const agenti_msg *before;                 /* the message before the one that is written, or NULL                    */
} agenti_request;
enum agenti_framing {                         /* how the events of a streamed answer are framed                         */
    AGENTI_FRAMING_SSE,
    AGENTI_FRAMING_ARRAY,                     /* SSE, or the values of one JSON array                                   */
    AGENTI_FRAMING_LINES,                     /* a JSON text a line                                                     */
    AGENTI_FRAMING_FRAMES,                    /* AWS event stream; an event's name is its type                          */
    AGENTI_FRAMING_BYTES                      /* the same, and the event is base64 in the member `bytes`                */
};
typedef struct agenti_wire {
    const char *name;                         /* "openai-chat"                                                          */
    const char *path, *whole_path;            /* behind the base URL; {model} is replaced. whole: of answers that are not streamed, NULL: path */
    int framing;
    const char *header, *header_value;        /* one more header line, or NULL                                          */
    uint32_t lacks;                           /* AGENTI_BITs of the AGENTI_OPT_ and AGENTI_LEFT_ that have no place in its requests */
    /* The body is head, system (NULL: in the head), messages, tail, tools, end. Messages write what separates them. head NULL: answers
     * are understood, requests not made.                                                                               */
    void (*head)(agenti_buf *, agenti_request *);
    void (*system)(agenti_buf *, agenti_request *, agent_str text);
    void (*message)(agenti_buf *, agenti_request *, const agenti_msg *);         /* nothing: not sent                   */
    void (*tail)(agenti_buf *, const agenti_request *);
    void (*tools)(agenti_buf *, const agenti_request *);
    void (*end)(agenti_buf *, const agenti_request *);
    /* answers; 0: no memory                                                                                            */
    int (*event)(agenti_decoder *, agent_str event, agent_str data);             /* one streamed payload                */
    int (*whole)(agenti_decoder *, agent_str body);                              /* an answer in one piece, checked JSON */
    const char *noise;                                                           /* "key": of values that are never read, a blank between; or NULL */
    agenti_split_rule stream_rule, whole_rule;                                   /* how a long payload is read in pieces */
    /* A request body, or the list of its messages, checked JSON, into messages, tools and options. 0: see agenti_import. NULL: not understood */
    int (*import)(struct agenti_import *, agent_str body);
    const char *previous;                     /* the member that names the answer to go on from, where the provider keeps answers; or NULL */
} agenti_wire;

#if !defined AGENT_NO_ANTHROPIC || !defined AGENT_NO_BEDROCK || !defined AGENT_NO_GEMINI || !defined AGENT_NO_GEMINI_INTERACTIONS \
    || !defined AGENT_NO_OPENAI_RESPONSES
#define AGENTI_BLOCKS                     /* some format makes OP_RAW, OP_RAN, OP_RESULT                                */
#endif
#ifdef AGENT_NO_IMPORT
#define AGENTI_IMPORTER(fn) NULL
#else
#define AGENTI_IMPORTER(fn) fn
#endif
/* A mark of a model's own way to call tools, which its host should have read (wire-quirks B26). NULL: the text has none. */
AGENTI_FN const char *agenti_call_mark(agent_str text);
AGENTI_FN void agenti_decoder_init(agenti_decoder *, agenti_pool *, agenti_blob **graves, const agenti_wire *);
AGENTI_FN void agenti_decoder_free(agenti_decoder *);
AGENTI_FN agenti_op *agenti_op_add(agenti_decoder *, int kind, uint32_t key);    /* NULL: no memory                     */
AGENTI_FN agenti_lane *agenti_lane_new(agenti_decoder *);                        /* NULL: no memory                     */
AGENTI_FN void agenti_lane_free(agenti_decoder *, agenti_lane *);                /* its texts; it stays in the list     */
AGENTI_FN agenti_lane *agenti_lane_at(agenti_decoder *, agent_str index);        /* the newest of that index, a JSON number; NULL: none */
AGENTI_FN void agenti_lane_forget(agenti_decoder *, agenti_lane *);              /* takes it out of the list            */
AGENTI_FN int  agenti_is_object(agent_str);                      /* of checked JSON                                     */
AGENTI_FN int  agenti_is_string(agent_str);
AGENTI_FN int  agenti_is_array(agent_str);
AGENTI_FN int  agenti_is_objects(agent_str);                     /* JSON objects with commas between; checks them       */
AGENTI_FN int  agenti_nonempty(agent_str);                       /* a string, and not ""                                */
/* Appends a JSON string to the open stream of that kind, closing one of another kind first. Others than strings: nothing.
 * 0: no memory                                                                                                         */
AGENTI_FN int  agenti_stream_add(agenti_decoder *, int kind, agent_str value, int flags);
/* data:TYPE[;name=value]...;base64,DATA. 0: it is not of that form, and stays a URL.                                   */
AGENTI_FN int  agenti_data_split(agent_str url, agent_str *type, agent_str *data);
/* A file: a JSON string that is a URL or a data: URL, or base64 of a known type (mime not NULL). Other values: nothing. 0: no memory */
AGENTI_FN int  agenti_file_add(agenti_decoder *, int kind, agent_str value, const char *mime);
AGENTI_FN int  agenti_stream_end(agenti_decoder *);
AGENTI_FN int  agenti_decoder_end(agenti_decoder *);             /* the answer is over: ends what is open. 0: no memory  */
AGENTI_FN void agenti_finish_set(agenti_decoder *, int finish, agent_str raw);
AGENTI_FN int  agenti_raw_of(agenti_decoder *, agent_str value, agent_str *out);         /* as written, but clean UTF-8 */
/* "" for what is no string; value stays as it is, so it may be of JSON that is kept as it came. 0: no memory             */
AGENTI_FN int  agenti_string_of(agenti_decoder *, agent_str value, agent_str *out);
/* What was put together, moved to where ops may point; frees the buffer. 0: no memory                                   */
AGENTI_FN int  agenti_made(agenti_decoder *, agenti_buf *, agent_str *out);
/* OpenAI's own wrapper for calls side by side may leak as a call of that name; what is meant are the calls in its arguments (wire-quirks
 * C22). 1: there were some, and they are ops; -1: there are none, 0: no memory. args live as long as ops.               */
AGENTI_FN int  agenti_wrapper_calls(agenti_decoder *, agent_str id, agent_str args);
AGENTI_FN int  agenti_source_add(agenti_decoder *, agent_str url, agent_str title);      /* JSON strings. 0: no memory   */
AGENTI_FN int  agenti_news_add(agenti_decoder *, agent_str value, const char *name);     /* null and nothing: no news. 0: no memory */
AGENTI_FN int  agenti_payload_bad(agenti_decoder *);             /* it is no JSON: a warning. 0: no memory               */
AGENTI_FN int  agenti_too_many(agenti_decoder *);                /* calls: a fault. 1                                    */
/* The model that the answer names, the first time that it does. 0: no memory                                           */
AGENTI_FN int  agenti_model_set(agenti_decoder *, agent_str value);
/* A message, by the format's own function. Blocks in a user's message that another format's import left are named, not sent. */
AGENTI_FN void agenti_message_out(agenti_buf *, agenti_request *, const agenti_msg *);
/* Members that an import of the same format had beside ours: `,` and them.                  */
AGENTI_FN void agenti_more_out(agenti_buf *, const agenti_request *, const agenti_msg *, const agenti_text *more);
AGENTI_FN int  agenti_own_content(const agenti_request *, const agenti_msg *, const agenti_part *);   /* does `more` have the part's content?  */
/* What stands for a file that a provider does not take, as a JSON string; and the WARNING that goes with it.            */
AGENTI_FN void agenti_media_left_out(agenti_buf *, agenti_request *, const agenti_part *);
AGENTI_FN void agenti_media_left_more(agenti_buf *, agenti_request *, const agenti_part *);     /* the same, in the string that was quoted last */
AGENTI_FN void agenti_data_url_out(agenti_buf *, const agenti_part *);           /* its URI, or data:...;base64,..., as a JSON string */
/* A tool's name as providers take it: A-Z a-z 0-9 _ -, at most 64; a model may have made up another.                   */
AGENTI_FN void agenti_tool_name_out(agenti_buf *, agent_str name);
/* What all formats' requests share: members that the host gave replace ours and stand at the end.                      */
AGENTI_FN int  agenti_replaced(const agenti_request *, const char *key);
AGENTI_FN void agenti_option_out(agenti_buf *, const agenti_request *, const char *key, int option);
AGENTI_FN void agenti_extra_out(agenti_buf *, const agenti_request *);
AGENTI_FN void agenti_stops_out(agenti_buf *, const agenti_request *, const char *key);        /* the option `stop`, always a list */
/* The member `tools`: raw ones as they are; others are `open`, name, description, the schema in a member of that name, and `strict` where the
 * tool is, else `loose`.                                                                                               */
AGENTI_FN void agenti_tools_list(agenti_buf *, const agenti_request *, const char *open, const char *schema, const char *strict, const char *loose);
/* The option reasoning_effort: off, minimal, low, medium, high, max in a format's own words; other words as they are.    */
AGENTI_FN agent_str agenti_effort(const agenti_request *, const char *const *words);
AGENTI_FN agent_str agenti_format_schema(const agenti_request *);        /* of the option response_format; "": any JSON, or not asked for */
/* Tools as many formats want them: {type: function, function: {name, description, parameters}}.                        */
AGENTI_FN void agenti_functions_out(agenti_buf *, const agenti_request *);
/* The name of the call that a result answers; "": there is none. *at 0 before the first result of a message.            */
AGENTI_FN agent_str agenti_result_name(const agenti_request *, const agenti_part *result, uint32_t *at);
AGENTI_FN const agenti_part *agenti_result_call(const agenti_request *, const agenti_part *result, uint32_t *at);      /* the call; or NULL */
/* Formats without messages: the texts of the conversation one behind the other, in the open string of the member `prompt`. */
AGENTI_FN void agenti_prompt_text(agenti_buf *, agent_str);
AGENTI_FN void agenti_prompt_message(agenti_buf *, agenti_request *, const agenti_msg *);
/* Sets the fault, once: a second one changes nothing. text is copied; without memory a static word stands for it.      */
AGENTI_FN void agenti_fault_set(agenti_decoder *, int fault, int retryable, const char *code, agent_str text);
AGENTI_FN void agenti_fault_free(agenti_fault *, agenti_blob **graves);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE
#ifdef AGENT_NO_MENDING
AGENTI_FN const char *agenti_call_mark(agent_str text) { (void)text; return NULL; }
#else
AGENTI_FN const char *agenti_call_mark(agent_str text)
{
    static const char *const marks[] = { "</tool_call>", "<|tool_call", "]<]minimax[>[", "<|python_tag|>", "[TOOL_CALLS]" };
    const char *p, *end = text.p + text.n;
    size_t i, n;
    for (p = text.p; p < end; p++) {
        if (*p != '<' && *p != ']' && *p != '[') continue;
        for (i = 0; i < sizeof marks / sizeof *marks; i++) {
            n = strlen(marks[i]);
            if ((size_t)(end - p) >= n && memcmp(p, marks[i], n) == 0) return marks[i];
        }
    }
    AGENTI_TOUCH(text.n);
    return NULL;
}
#endif
AGENTI_FN void agenti_decoder_init(agenti_decoder *d, agenti_pool *pool, agenti_blob **graves, const agenti_wire *wire)
{
    memset(d, 0, sizeof *d);
    d->pool = pool;
    d->graves = graves;
    d->wire = wire;
    d->arena.pool = pool;
    d->usage.input = d->usage.cached = d->usage.cache_write = d->usage.output = d->usage.reasoning = -1;
    d->fault.retry_after_ms = -1;
    d->uncached = -1;
}
AGENTI_FN void agenti_lane_free(agenti_decoder *d, agenti_lane *l)
{
    agenti_text_free(&l->id, d->graves);
    agenti_text_free(&l->more, d->graves);
}
AGENTI_FN agenti_lane *agenti_lane_at(agenti_decoder *d, agent_str index)
{
    int64_t n;
    uint32_t i;
    if (index.n == 0 || !agenti_int(index, &n)) return NULL;
    for (i = d->lane_n; i-- > 0;) if (d->lanes[i].has_index && d->lanes[i].index == n) return &d->lanes[i];
    return NULL;
}
AGENTI_FN void agenti_lane_forget(agenti_decoder *d, agenti_lane *l)
{
    agenti_lane_free(d, l);
    memmove(l, l + 1, (size_t)(d->lanes + --d->lane_n - l) * sizeof *l);
}
AGENTI_FN void agenti_decoder_free(agenti_decoder *d)
{
    uint32_t i;
    for (i = 0; i < d->lane_n; i++) agenti_lane_free(d, &d->lanes[i]);
    agenti_put(d->pool, d->lanes, d->lane_cap * sizeof *d->lanes);
    agenti_put(d->pool, d->ops, d->op_cap * sizeof *d->ops);
    agenti_arena_free(&d->arena);
    agenti_text_free(&d->id, d->graves);
    agenti_text_free(&d->model, d->graves);
    agenti_text_free(&d->request_id, d->graves);
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
    op->a.p = op->b.p = op->c.p = "";        /* the pointers alone: copying a view just written waits for the writes    */
    if (kind == AGENTI_OP_CALL) d->call_n++;
    return op;
}
AGENTI_FN int agenti_is_object(agent_str v) { return v.n && v.p[0] == '{'; }
AGENTI_FN int agenti_is_string(agent_str v) { return v.n && v.p[0] == '"'; }
AGENTI_FN int agenti_is_array(agent_str v) { return v.n && v.p[0] == '['; }
AGENTI_FN int agenti_is_objects(agent_str s)
{
    size_t n;
    for (s = agenti_trim(s); s.n; s = agenti_trim(agenti_str(s.p + 1, s.n - 1))) {
        n = agenti_json_skip(s.p, s.n);
        if (s.p[0] != '{' || n < 2 || agent_json_check(s.p, n, 0, NULL) != AGENT_OK) return 0;
        s = agenti_trim(agenti_str(s.p + n, s.n - n));
        if (s.n == 0) return 1;
        if (s.p[0] != ',') return 0;
    }
    return 0;
}
AGENTI_FN int agenti_nonempty(agent_str v) { return agenti_is_string(v) && v.n > 2; }
AGENTI_FN agenti_lane *agenti_lane_new(agenti_decoder *d)
{
    agenti_lane *l;
    if (d->lane_n == d->lane_cap) {
        uint32_t cap = d->lane_cap ? d->lane_cap * 2 : 4;
        l = (agenti_lane *)agenti_resize(d->pool, d->lanes, d->lane_cap * sizeof *l, cap * sizeof *l);
        if (l == NULL) return NULL;
        d->lanes = l;
        d->lane_cap = cap;
    }
    l = &d->lanes[d->lane_n++];
    memset(l, 0, sizeof *l);
    return l;
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
    uint32_t i;
    for (i = 0; i < d->lane_n; i++) {         /* arguments that end in half a pair                                      */
        if (d->lanes[i].high == 0 || !d->lanes[i].call) continue;
        d->lanes[i].high = 0;
        if ((op = agenti_op_add(d, AGENTI_OP_ARGS, d->lanes[i].key)) == NULL) return 0;
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
        d->stream_data = 0;
    }
    if ((op = agenti_op_add(d, kind, d->stream)) == NULL) return 0;
    op->a = text;
    op->flags = (uint8_t)flags;
    return 1;
}
AGENTI_FN int agenti_raw_of(agenti_decoder *d, agent_str v, agent_str *out)
{
    agenti_buf b;
    char *p = NULL;
    *out = v;
    if (agenti_utf8_valid(v.p, v.n) == v.n) return 1;
    agenti_buf_init(&b, d->pool);
    if (agenti_utf8_repair(&b, v.p, v.n) && (p = agenti_arena_get(&d->arena, b.n)) != NULL) {
        memcpy(p, b.p, b.n);
        *out = agenti_str(p, b.n);
    }
    agenti_buf_free(&b);
    return p != NULL;
}
AGENTI_FN int agenti_string_of(agenti_decoder *d, agent_str v, agent_str *out)
{
    char *p;
    *out = agenti_str(NULL, 0);
    if (!agenti_nonempty(v)) return 1;
    AGENTI_TOUCH(v.n);
    if (memchr(v.p, '\\', v.n)) {            /* strings are decoded in place                                           */
        if ((p = agenti_arena_get(&d->arena, v.n)) == NULL) return 0;
        memcpy(p, v.p, v.n);
        v = agenti_str(p, v.n);
    }
    return agenti_json_string(v, NULL, &d->arena, out);
}
AGENTI_FN int agenti_made(agenti_decoder *d, agenti_buf *b, agent_str *out)
{
    char *p = b->bad ? NULL : agenti_arena_get(&d->arena, b->n + 1);
    if (p && b->n) memcpy(p, b->p, b->n);
    *out = agenti_str(p, b->n);
    agenti_buf_free(b);
    return p != NULL;
}
/* One of the calls that a wrapper holds: {"recipient_name": "functions.NAME", "parameters": {}}.                        */
static int agenti_unwrap(agenti_decoder *d, agent_str id, uint32_t n, agent_str use)
{
    static const char before[] = "functions.";
    enum { BEFORE = sizeof before - 1, KEYS = 0x10000000 };           /* no key of a wire format's                      */
    char number[24] = ":";
    agent_str name, args = agent_json_get(use, "parameters");
    agenti_buf b;
    agenti_op *op;
    uint32_t key = KEYS | ++d->streams;
    if (!agenti_string_of(d, agent_json_get(use, "recipient_name"), &name)) return 0;
    if (name.n > BEFORE && memcmp(name.p, before, BEFORE) == 0) name = agenti_str(name.p + BEFORE, name.n - BEFORE);
    agenti_buf_init(&b, d->pool);
    agenti_buf_add(&b, id.p, id.n);
    if (id.n) agenti_buf_add(&b, number, 1 + agenti_u64_text(n, number + 1));
    if (!agenti_made(d, &b, &id) || (op = agenti_op_add(d, AGENTI_OP_CALL, key)) == NULL) return 0;
    op->a = id;
    op->b = name;
    if (args.n == 0) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, key)) == NULL) return 0;
    op->a = args;
    return 1;
}
#ifdef AGENT_NO_MENDING
AGENTI_FN int agenti_wrapper_calls(agenti_decoder *d, agent_str id, agent_str args) { (void)d; (void)id; (void)args; return -1; }
#else
AGENTI_FN int agenti_wrapper_calls(agenti_decoder *d, agent_str id, agent_str args)
{
    agent_str uses = agenti_str(NULL, 0), use;
    size_t pos = 0;
    uint32_t n = 0;
    if (agent_json_check(args.p, args.n, d->depth_limit, NULL) == AGENT_OK) uses = agent_json_get(args, "tool_uses");
    if (!agenti_nonempty(agent_json_get(uses, "[0].recipient_name"))) return -1;
    while (agent_json_each(uses, &pos, NULL, &use)) {
        if (d->call_n >= d->call_limit) return agenti_too_many(d);
        if (!agenti_unwrap(d, id, n++, use)) return 0;
    }
    return 1;
}
#endif
AGENTI_FN int agenti_source_add(agenti_decoder *d, agent_str url, agent_str title)
{
    agenti_op *op;
    agent_str u, t;
    char *name;
    if (!agenti_nonempty(url)) return 1;
    if (!agenti_string_of(d, url, &u) || !agenti_string_of(d, title, &t)) return 0;
    if (t.n) {                                           /* an event's name ends in NUL                                 */
        if ((name = agenti_arena_get(&d->arena, t.n + 1)) == NULL) return 0;
        memcpy(name, t.p, t.n);
        name[t.n] = 0;
        t.p = name;
    }
    if ((op = agenti_op_add(d, AGENTI_OP_SOURCE, 0)) == NULL) return 0;
    op->a = u;
    op->b = t;
    return 1;
}
AGENTI_FN int agenti_news_add(agenti_decoder *d, agent_str value, const char *name)
{
    agenti_op *op;
    if (value.n == 0 || agenti_eq(value, "null")) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_NEWS, 0)) == NULL || !agenti_raw_of(d, value, &op->a)) return 0;
    op->b = agenti_cstr(name);
    return 1;
}
AGENTI_FN int agenti_too_many(agenti_decoder *d)
{
    agenti_fault_set(d, AGENT_FAULT_LIMIT, 0, "", agenti_cstr(AGENTI_WHY("more tool calls in one answer than limits.calls_per_step")));
    return 1;
}
static int agenti_op_warning(agenti_decoder *d, const char *text)            /* text: static                          */
{
    agenti_op *op = agenti_op_add(d, AGENTI_OP_WARNING, 0);
    if (op) op->a = agenti_cstr(text);
    return op != NULL;
}
AGENTI_FN int agenti_payload_bad(agenti_decoder *d)
{
    d->bad++;
    return agenti_op_warning(d, AGENTI_WHY("a payload that is no JSON was passed over"));
}
AGENTI_FN int agenti_model_set(agenti_decoder *d, agent_str value)
{
    agent_str name;
    if (d->model.n || !agenti_nonempty(value)) return 1;
    return agenti_string_of(d, value, &name) && agenti_text_set(&d->model, d->pool, d->graves, name);
}
AGENTI_FN int agenti_data_split(agent_str url, agent_str *type, agent_str *data)
{
    static const char coded[] = ";base64";
    enum { CODED = sizeof coded - 1 };
    const char *comma = (const char *)memchr(url.p, ',', url.n), *end;
    size_t n = comma ? (size_t)(comma - url.p) - 5 : 0;
    if (n <= CODED || !agenti_ieq(agenti_str(comma - CODED, CODED), coded)) return 0;
    *type = agenti_str(url.p + 5, n - CODED);
    *data = agenti_str(comma + 1, url.n - n - 6);
    if ((end = (const char *)memchr(type->p, ';', type->n)) != NULL) type->n = (size_t)(end - type->p);
    return type->n && agenti_base64_ok(*data);
}
#ifdef AGENT_NO_FILES
AGENTI_FN int agenti_file_add(agenti_decoder *d, int kind, agent_str value, const char *mime)
{
    (void)kind;
    (void)mime;
    return !agenti_nonempty(value) || agenti_op_warning(d, AGENTI_WHY("a file of the answer is left out"));
}
#else
AGENTI_FN int agenti_file_add(agenti_decoder *d, int kind, agent_str value, const char *mime)
{
    static const char scheme[] = "data:";
    agent_str text, data, type = agenti_cstr(mime);
    agenti_op *op;
    uint32_t key;
    if (!agenti_nonempty(value)) return 1;
    if (!agenti_json_string(value, NULL, &d->arena, &text)) return 0;
    if (mime == NULL && text.n > 5 && agenti_ieq(agenti_str(text.p, 5), scheme) && agenti_data_split(text, &type, &data)) {
        text = data;
        mime = scheme;                        /* it has contents                                                        */
    }
    key = ++d->streams;
    if (!agenti_stream_end(d) || (op = agenti_op_add(d, mime ? AGENTI_OP_MIME : AGENTI_OP_URI, key)) == NULL) return 0;
    op->a = mime ? type : text;
    op->flags = (uint8_t)kind;
    if (mime) {
        if ((op = agenti_op_add(d, AGENTI_OP_FILE, key)) == NULL) return 0;
        op->a = text;
    }
    return agenti_op_add(d, AGENTI_OP_END, key) != NULL;
}
#endif
#ifdef AGENT_NO_IMPORT
AGENTI_FN void agenti_more_out(agenti_buf *b, const agenti_request *r, const agenti_msg *m, const agenti_text *more) { (void)b; (void)r; (void)m; (void)more; }
AGENTI_FN int agenti_own_content(const agenti_request *r, const agenti_msg *m, const agenti_part *p) { (void)r; (void)m; (void)p; return 0; }
#else
AGENTI_FN void agenti_more_out(agenti_buf *b, const agenti_request *r, const agenti_msg *m, const agenti_text *more)
{
    if (more->n == 0 || m->wire != (const void *)r->wire) return;
    agenti_json_comma(b);
    agenti_buf_add(b, more->p, more->n);
}
AGENTI_FN int agenti_own_content(const agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    return (p->flags & AGENTI_PART_CONTENT) && m->wire == (const void *)r->wire;
}
#endif
static int agenti_has_more(const agenti_msg *m)
{
    uint32_t i = 0;
    while (i < m->n && m->parts[i].more.n + m->parts[i].inner.n == 0) i++;
    return m->more.n || i < m->n;
}
AGENTI_FN void agenti_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    static const char word[] = "[not sent: a block of another provider]";
    agenti_msg with = *m;
    uint32_t i = 0;
    if (m->wire && m->wire != (const void *)r->wire && agenti_has_more(m)) r->left_out |= AGENTI_BIT(AGENTI_LEFT_MORE);
    while (i < m->n && m->parts[i].kind != AGENT_PART_OTHER) i++;
    if (m->role != AGENT_USER || i == m->n || m->wire == (const void *)r->wire) { r->wire->message(b, r, m); return; }
    with.parts = (agenti_part *)agenti_get(b->pool, m->n * sizeof *with.parts);
    if (with.parts == NULL) { b->bad = 1; return; }
    memcpy(with.parts, m->parts, m->n * sizeof *with.parts);
    for (; i < m->n; i++) if (m->parts[i].kind == AGENT_PART_OTHER) {
        agenti_part *p = &with.parts[i];
        memset(p, 0, sizeof *p);
        p->kind = AGENT_PART_TEXT;
        p->text.p = (char *)(uintptr_t)word;
        p->text.n = sizeof word - 1;
    }
    r->left_out |= AGENTI_BIT(AGENTI_LEFT_MEDIA);
    r->wire->message(b, r, &with);
    agenti_put(b->pool, with.parts, m->n * sizeof *with.parts);
}
AGENTI_FN void agenti_media_left_out(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    agenti_buf_str(b, "\"\"");
    agenti_media_left_more(b, r, p);
}
AGENTI_FN void agenti_media_left_more(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    const char *what = p->kind == AGENT_PART_IMAGE ? "[not sent: an image" : p->kind == AGENT_PART_AUDIO ? "[not sent: audio" : "[not sent: a file";
    r->left_out |= AGENTI_BIT(AGENTI_LEFT_MEDIA);
    agenti_json_quote_more(b, agenti_cstr(what));
    if (p->name.n) {
        agenti_json_quote_more(b, agenti_cstr(" named "));
        agenti_json_quote_more(b, agenti_text_view(&p->name));
    }
    if (p->mime.n) {
        agenti_json_quote_more(b, agenti_cstr(", "));
        agenti_json_quote_more(b, agenti_text_view(&p->mime));
    }
    agenti_json_quote_more(b, agenti_cstr("]"));
}
AGENTI_FN void agenti_data_url_out(agenti_buf *b, const agenti_part *p)
{
    if (p->uri.n) { agenti_json_quote_to(b, agenti_text_view(&p->uri)); return; }
    agenti_buf_str(b, "\"data:");
    agenti_buf_add(b, p->mime.p, p->mime.n);
    agenti_buf_str(b, ";base64,");
    agenti_buf_add(b, p->text.p, p->text.n);
    agenti_buf_str(b, "\"");
}
AGENTI_FN void agenti_tool_name_out(agenti_buf *b, agent_str name)
{
    char out[64];
    size_t i, n = name.n < sizeof out ? name.n : sizeof out;
    for (i = 0; i < n; i++) {
        char c = agenti_lower(name.p[i]);
        out[i] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ? name.p[i] : '_';
    }
    agenti_json_member_str(b, "name", agenti_str(out, n));
}
AGENTI_FN int agenti_replaced(const agenti_request *r, const char *key) { return r->extra.n && agent_json_get(r->extra, key).p != NULL; }
AGENTI_FN void agenti_option_out(agenti_buf *b, const agenti_request *r, const char *key, int option)
{
    if (r->options[option].n && !agenti_replaced(r, key)) agenti_json_member(b, key, agenti_text_view(&r->options[option]));
}
AGENTI_FN void agenti_extra_out(agenti_buf *b, const agenti_request *r)
{
    agent_str key, value;
    size_t pos = 0;
    while (r->extra.n && agent_json_each(r->extra, &pos, &key, &value)) {
        if (r->tools_off && agenti_eq(key, "tool_choice")) continue;      /* it is "none" now                           */
        agenti_buf_str(b, ",\"");
        agenti_buf_add(b, key.p, key.n);
        agenti_buf_str(b, "\":");
        agenti_buf_add(b, value.p, value.n);
    }
    agenti_buf_str(b, "}");
}
AGENTI_FN void agenti_stops_out(agenti_buf *b, const agenti_request *r, const char *key)
{
    agent_str stop = agenti_text_view(&r->options[AGENTI_OPT_STOP]);
    if (stop.n == 0 || agenti_replaced(r, key)) return;
    agenti_json_key(b, key);
    if (stop.p[0] != '[') agenti_buf_str(b, "[");
    agenti_buf_add(b, stop.p, stop.n);
    if (stop.p[0] != '[') agenti_buf_str(b, "]");
}
AGENTI_FN agent_str agenti_effort(const agenti_request *r, const char *const *words)
{
    static const char *const scale[] = { "off", "minimal", "low", "medium", "high", "max" };
    agent_str effort = agenti_text_view(&r->options[AGENTI_OPT_EFFORT]);
    size_t i;
    for (i = 0; i < sizeof scale / sizeof *scale; i++) if (agenti_eq(effort, scale[i])) return agenti_cstr(words[i]);
    return effort;
}
AGENTI_FN agent_str agenti_format_schema(const agenti_request *r)
{
    agent_str format = agenti_text_view(&r->options[AGENTI_OPT_FORMAT]);
    return agenti_is_object(format) ? format : agenti_str(NULL, 0);
}
AGENTI_FN void agenti_tools_list(agenti_buf *b, const agenti_request *r, const char *open, const char *schema, const char *strict, const char *loose)
{
    size_t i;
    if (r->tool_count == 0 || agenti_replaced(r, "tools")) return;
    agenti_buf_str(b, ",\"tools\":[");
    for (i = 0; i < r->tool_count; i++) {
        const agenti_tool *t = &r->tools[i];
        if (i) agenti_buf_str(b, ",");
        const agenti_text *raw = t->flags & AGENT_TF_RAW ? &t->schema : &t->raw;
        if (raw->n) { agenti_buf_add(b, raw->p, raw->n); continue; }
        agenti_buf_str(b, open);
        agenti_json_member_str(b, "name", agenti_text_view(&t->name));
        if (t->description.n) agenti_json_member_str(b, "description", agenti_text_view(&t->description));
        agenti_json_member(b, schema, agenti_text_view(&t->schema));
        agenti_buf_str(b, t->flags & AGENT_TF_STRICT ? strict : loose);
    }
    agenti_buf_str(b, "]");
}
AGENTI_FN void agenti_functions_out(agenti_buf *b, const agenti_request *r)
{
    agenti_tools_list(b, r, "{\"type\":\"function\",\"function\":{", "parameters", "}}", "}}");
}
AGENTI_FN const agenti_part *agenti_result_call(const agenti_request *r, const agenti_part *result, uint32_t *at)
{
    while (r->before && *at < r->before->n) {  /* results stand in the order of their calls                              */
        const agenti_part *p = &r->before->parts[(*at)++];
        if (p->kind == AGENT_PART_CALL && p->wire_id.n == result->wire_id.n && memcmp(p->wire_id.p, result->wire_id.p, p->wire_id.n) == 0) return p;
    }
    return NULL;
}
AGENTI_FN agent_str agenti_result_name(const agenti_request *r, const agenti_part *result, uint32_t *at)
{
    const agenti_part *p = agenti_result_call(r, result, at);
    return p ? agenti_text_view(&p->name) : agenti_str(NULL, 0);
}
AGENTI_FN void agenti_prompt_text(agenti_buf *b, agent_str text)
{
    agenti_buf_str(b, "\"");
    agenti_json_quote_more(b, text);          /* takes that quote away, and adds one                                    */
    if (!b->bad) b->n--;
}
AGENTI_FN void agenti_prompt_message(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i;
    if (agenti_replaced(r, "prompt")) return;
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        if (p->kind == AGENT_PART_TEXT || (agenti_is_media(p->kind) && p->text.n && !(p->flags & AGENT_PART_BASE64)))
            agenti_prompt_text(b, agenti_text_view(&p->text));
        else if (agenti_is_media(p->kind) && m->role == AGENT_USER) {
            agenti_buf_str(b, "\"");
            agenti_media_left_more(b, r, p);
            if (!b->bad) b->n--;
        }
    }
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
    if (agenti_trim(text).n == 0) text = agenti_cstr(AGENTI_WHY("the provider tells no more"));
    if (text.n > MOST) text.n = MOST;
    if (agenti_text_set(&d->fault.text, d->pool, d->graves, text)) {
        if (!agenti_text_repair(&d->fault.text, d->pool, d->graves)) agenti_text_scrub(&d->fault.text);
    } else agenti_text_static(&d->fault.text, d->graves, AGENTI_WHY("no memory for the message"));
}
AGENTI_FN void agenti_fault_free(agenti_fault *f, agenti_blob **graves)
{
    agenti_text_free(&f->code, graves);
    agenti_text_free(&f->text, graves);
    memset(f, 0, sizeof *f);
    f->retry_after_ms = -1;
}
#endif
