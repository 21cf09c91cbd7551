/* What a failed answer means: any shape of error body, the HTTP status, hints when to come back.
 * Kinds and phrases: reference tables of the providers' documentation; the provider's own words are kept beside. */
/* error: the `error` member of a streamed payload, or the payload itself. status 0: take it from the object.           */
AGENTI_FN void agenti_fault_object(agenti_decoder *, agent_str error, int status);
/* An error with a name of its own, as exceptions of event streams have; said: JSON with a message, or words.           */
AGENTI_FN void agenti_fault_named(agenti_decoder *, agent_str name, agent_str said);
/* A whole answer with an error status. headers: "name: value\n" lines; wall_ms 0: unknown.                            */
AGENTI_FN void agenti_fault_answer(agenti_decoder *, int status, agent_str headers, agent_str body, uint64_t wall_ms);
/* The dialect bit of a member that a refusal names, which should be there if it is not and the other way round; 0: it names none (B6) */
AGENTI_FN uint32_t agenti_fault_switch(const agenti_fault *);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_ERROR
typedef struct agenti_word { const char *word; int16_t fault, retryable; } agenti_word;

#ifdef AGENT_NO_FAULT_WORDS
static const agenti_word *agenti_fault_code(agent_str code) { (void)code; return NULL; }
static int agenti_says_context(agent_str text) { (void)text; return 0; }
static int agenti_says_quota(agent_str text) { (void)text; return 0; }
#else
/* Codes and types, by part of the word; the first that is found counts.                                               */
static const agenti_word agenti_fault_codes[] = {
    { "context_length", AGENT_FAULT_CONTEXT, 0 }, { "context_window", AGENT_FAULT_CONTEXT, 0 },
    { "too_many_prompt_tokens", AGENT_FAULT_CONTEXT, 0 }, { "exceed_context_size", AGENT_FAULT_CONTEXT, 0 },
    { "insufficient_quota", AGENT_FAULT_QUOTA, 0 }, { "billing", AGENT_FAULT_QUOTA, 0 }, { "usage_not_included", AGENT_FAULT_QUOTA, 0 },
    { "free_tier_limit", AGENT_FAULT_QUOTA, 0 }, { "quota_exceeded", AGENT_FAULT_QUOTA, 0 },
    { "overloaded", AGENT_FAULT_OVERLOADED, 1 },
    { "rate_limit", AGENT_FAULT_RATE, 1 }, { "too_many_requests", AGENT_FAULT_RATE, 1 },
    { "perday", AGENT_FAULT_QUOTA, 0 }, { "perminute", AGENT_FAULT_RATE, 1 }, { "api_key_invalid", AGENT_FAULT_AUTH, 0 },      /* Google */
    { "resource_exhausted", AGENT_FAULT_RATE, 1 }, { "unauthenticated", AGENT_FAULT_AUTH, 0 }, { "unavailable", AGENT_FAULT_SERVER, 1 },
    { "authentication", AGENT_FAULT_AUTH, 0 }, { "invalid_api_key", AGENT_FAULT_AUTH, 0 }, { "permission", AGENT_FAULT_AUTH, 0 },
    { "unauthorized", AGENT_FAULT_AUTH, 0 }, { "content_filter", AGENT_FAULT_FILTER, 0 },
    { "server_error", AGENT_FAULT_SERVER, 1 }, { "internal", AGENT_FAULT_SERVER, 1 },
    { "throttling", AGENT_FAULT_RATE, 1 }, { "accessdenied", AGENT_FAULT_AUTH, 0 }, { "validationexception", AGENT_FAULT_REQUEST, 0 },
    { "invalid_request", AGENT_FAULT_REQUEST, 0 }, { "not_found", AGENT_FAULT_REQUEST, 0 }, { "bad_request", AGENT_FAULT_REQUEST, 0 },
    { "tool_use_failed", AGENT_FAULT_REQUEST, 0 }, { "invalid_prompt", AGENT_FAULT_REQUEST, 0 }, { "invalid_image", AGENT_FAULT_REQUEST, 0 }
};
/* A prompt that is too long has no code with many hosts.                                                               */
static const char *const agenti_context_words[] = {
    "prompt is too long", "input is too long for requested model", "input tokens exceeded", "exceeds the context window",
    "exceeds the maximum number of tokens", "maximum prompt length is", "reduce the length of the messages", "maximum context length",
    "exceeds the available context size", "greater than the context length", "context window exceeds limit",
    "exceeded model token limit", "max context length", "too many tokens", "context length exceeded", "context_length_exceeded", "too_many_prompt_tokens",
    "request entity too large", "longer than the maximum model length"
};
static const char *const agenti_quota_words[] = { "quota exceeded", "exceeded your current quota", "insufficient balance" };

static const agenti_word *agenti_fault_code(agent_str code)
{
    size_t i;
    for (i = 0; i < sizeof agenti_fault_codes / sizeof *agenti_fault_codes; i++)
        if (agenti_find(code, agenti_fault_codes[i].word)) return &agenti_fault_codes[i];
    return NULL;
}
static int agenti_any_word(agent_str text, const char *const *words, size_t n)
{
    size_t i;
    for (i = 0; i < n; i++) if (agenti_find(text, words[i])) return 1;
    return 0;
}
static int agenti_says_context(agent_str text)
{
    return agenti_any_word(text, agenti_context_words, sizeof agenti_context_words / sizeof *agenti_context_words);
}
static int agenti_says_quota(agent_str text) { return agenti_any_word(text, agenti_quota_words, sizeof agenti_quota_words / sizeof *agenti_quota_words); }
#endif
static agenti_word agenti_fault_status(int status)
{
    agenti_word w = { "", AGENT_FAULT_SERVER, 1 };
    if (status == 401 || status == 403) { w.fault = AGENT_FAULT_AUTH; w.retryable = 0; }
    else if (status == 429) w.fault = AGENT_FAULT_RATE;
    else if (status == 529) w.fault = AGENT_FAULT_OVERLOADED;
    else if (status == 413) { w.fault = AGENT_FAULT_CONTEXT; w.retryable = 0; }
    else if (status >= 400 && status < 500) { w.fault = AGENT_FAULT_REQUEST; w.retryable = status == 408 || status == 409; }
    return w;
}
static void agenti_fault_code_set(agenti_decoder *d, agent_str code)
{
    if (code.n > 200) code.n = 200;
    if (code.n && agenti_text_set(&d->fault.code, d->pool, d->graves, code)) agenti_text_scrub(&d->fault.code);
}
/* code and type: what the provider calls it; text: its message, at most a few KiB.                                    */
static AGENTI_NOINLINE void agenti_fault_classify(agenti_decoder *d, int status, agent_str code, agent_str type, agent_str text)
{
    const agenti_word *by_code = agenti_fault_code(code);
    agenti_word w = agenti_fault_status(status);
    if (by_code == NULL) by_code = agenti_fault_code(type);
    if (text.n > 4096) text.n = 4096;
    if (by_code && (by_code->fault == AGENT_FAULT_CONTEXT || by_code->fault == AGENT_FAULT_QUOTA)) w = *by_code;
    else if (w.fault != AGENT_FAULT_RATE && !(by_code && by_code->fault == AGENT_FAULT_RATE)     /* "too many tokens" a minute */
             && agenti_says_context(text)) {
        w.fault = AGENT_FAULT_CONTEXT;
        w.retryable = 0;
    } else if (status < 500 && !(by_code && by_code->fault == AGENT_FAULT_RATE)
               && agenti_says_quota(text)) {
        w.fault = AGENT_FAULT_QUOTA;
        w.retryable = 0;
    } else if (by_code && (status == 0 || (by_code->fault == AGENT_FAULT_OVERLOADED && status >= 500)
                          || (by_code->fault == AGENT_FAULT_AUTH && status == 400))) w = *by_code;
    d->fault.http_status = status;
    agenti_fault_set(d, w.fault, w.retryable, "", text);
    agenti_fault_code_set(d, code.n ? code : type);
}
/* A member as text: a string decoded, a number as written; null, objects and lists: empty.                            */
static agent_str agenti_member_text(agenti_decoder *d, agent_str v)
{
    agent_str s = agenti_str(NULL, 0);
    if (v.n == 0 || v.p[0] == '{' || v.p[0] == '[' || agenti_eq(v, "null")) return s;
    if (!agenti_json_string(v, NULL, &d->arena, &s)) return agenti_str(NULL, 0);
    return s;
}
enum { AGENTI_ERR_MESSAGE, AGENTI_ERR_CODE, AGENTI_ERR_TYPE, AGENTI_ERR_STATUS, AGENTI_ERR_ERROR, AGENTI_ERR_DETAIL, AGENTI_ERR_RAW_STATUS,
       AGENTI_ERR_STATUS_CODE, AGENTI_ERR_REQUEST_ID, AGENTI_ERR_FAILED, AGENTI_ERR_DETAILS, AGENTI_ERR_FIELDS };
static const agenti_field agenti_error_fields[AGENTI_ERR_FIELDS] = {
    { "message", -1 }, { "code", -1 }, { "type", -1 }, { "status", -1 }, { "error", -1 }, { "detail", -1 }, { "raw_status_code", -1 },
    { "status_code", -1 }, { "request_id", -1 }, { "failed_generation", -1 }, { "details", -1 }
};
static int agenti_status_of(agent_str v)
{
    int64_t n = agent_json_int(v, 0);
    return n >= 400 && n <= 599 ? (int)n : 0;
}
/* {"detail": "..."} or {"detail": [{"msg": "..."}]} (FastAPI)                                                             */
static AGENTI_NOINLINE agent_str agenti_detail_text(agenti_decoder *d, agent_str detail)
{
    agent_str s;
    if (detail.n && detail.p[0] == '[') return agenti_member_text(d, agent_json_get(detail, "[0].msg"));
    s = agenti_member_text(d, detail);
    return s.n || detail.n == 0 || detail.p[0] != '{' ? s : agenti_member_text(d, agent_json_get(detail, "message"));
}
/* A copy, since strings are decoded in place.                                                                          */
static agent_str agenti_first_bytes(agenti_decoder *d, agent_str error)
{
    size_t n = error.n < 200 ? error.n : 200;
    char *p = agenti_arena_get(&d->arena, n);
    if (p == NULL) return agenti_str(NULL, 0);
    memcpy(p, error.p, n);
    return agenti_str(p, n);
}
/* Groq tells beside the message what the model wrote instead of a call (A10): both are the text.                       */
static AGENTI_NOINLINE agent_str agenti_failed_text(agenti_decoder *d, agent_str text, agent_str wrote)
{
    static const char between[] = "\nfailed_generation: ";
    size_t n = text.n + sizeof between - 1;
    char *p;
    if (wrote.n == 0 || (p = agenti_arena_get(&d->arena, n + wrote.n)) == NULL) return text;
    memcpy(p, text.p, text.n);
    memcpy(p + text.n, between, sizeof between - 1);
    memcpy(p + n, wrote.p, wrote.n);
    AGENTI_TOUCH(n + wrote.n);
    return agenti_str(p, n + wrote.n);
}
#ifdef AGENT_NO_FAULT_WORDS
static agent_str agenti_details_word(agent_str list) { (void)list; return agenti_str(NULL, 0); }
#else
/* Google tells in a list what the status leaves open (G13, G14): why, as in API_KEY_INVALID, and which quota it was, that of a day or one
 * that a little waiting helps with. As a JSON string.                                                                  */
static agent_str agenti_details_word(agent_str list)
{
    agent_str item, one, v, word = agenti_str(NULL, 0);
    size_t pos = 0, at;
    while (list.n && list.p[0] == '[' && agent_json_each(list, &pos, NULL, &item)) {
        v = agent_json_get(item, "violations");
        for (at = 0; v.n && v.p[0] == '[' && agent_json_each(v, &at, NULL, &one);) {
            agent_str id = agent_json_get(one, "quotaId");
            if (agenti_nonempty(id)) word = id;
            if (agenti_find(id, "perday")) return id;
        }
        v = agent_json_get(item, "reason");
        if (word.n == 0 && agenti_nonempty(v)) word = v;
        if (word.n == 0 && agenti_nonempty(agent_json_get(item, "retryDelay"))) word = agenti_cstr("\"rate_limit\"");
    }
    return word;
}
#endif
/* The members of an error object; those of `error` in it go before.                                                    */
static AGENTI_NOINLINE void agenti_error_pick(agent_str error, agent_str *in)
{
    agent_str out[AGENTI_ERR_FIELDS];
    int i;
    memset(out, 0, sizeof out);
    agenti_json_pick(error, agenti_error_fields, AGENTI_ERR_FIELDS, in);
    if (in[AGENTI_ERR_ERROR].n && in[AGENTI_ERR_ERROR].p[0] == '{') {                /* the object stands one level down */
        memcpy(out, in, sizeof out);
        agenti_json_pick(out[AGENTI_ERR_ERROR], agenti_error_fields, AGENTI_ERR_FIELDS, in);
    }
    for (i = 0; i < AGENTI_ERR_FIELDS; i++) if (in[i].p == NULL) in[i] = agenti_str(out[i].p, out[i].n);
}
AGENTI_FN void agenti_fault_object(agenti_decoder *d, agent_str error, int status)
{
    static const uint8_t statuses[] = { AGENTI_ERR_CODE, AGENTI_ERR_STATUS_CODE, AGENTI_ERR_STATUS, AGENTI_ERR_RAW_STATUS };
    agent_str in[AGENTI_ERR_FIELDS], text, code, type, id;
    size_t i;
    if (error.n && error.p[0] == '[') error = agent_json_get(error, "[0]");          /* Vertex wraps it               */
    if (error.n == 0 || error.p[0] != '{') {
        agenti_fault_classify(d, status, agenti_str(NULL, 0), agenti_str(NULL, 0), agenti_member_text(d, error));
        return;
    }
    agenti_error_pick(error, in);
    for (i = 0; i < sizeof statuses && status == 0; i++) status = agenti_status_of(in[statuses[i]]);
    text = in[AGENTI_ERR_ERROR].n && in[AGENTI_ERR_ERROR].p[0] == '"' ? agenti_member_text(d, in[AGENTI_ERR_ERROR])
                                                                      : agenti_member_text(d, in[AGENTI_ERR_MESSAGE]);
    if (text.n == 0) text = agenti_member_text(d, in[AGENTI_ERR_MESSAGE]);
    if (text.n == 0) text = agenti_detail_text(d, in[AGENTI_ERR_DETAIL]);
    if (text.n == 0) text = agenti_member_text(d, agent_json_get(error, "Message"));          /* AWS                    */
    if (text.n == 0) text = agenti_first_bytes(d, error);
    text = agenti_failed_text(d, text, agenti_member_text(d, in[AGENTI_ERR_FAILED]));
    code = agenti_member_text(d, in[AGENTI_ERR_CODE]);
    type = agenti_member_text(d, in[AGENTI_ERR_TYPE]);
    if (type.n == 0) type = agenti_member_text(d, in[AGENTI_ERR_STATUS]);
    id = agenti_details_word(in[AGENTI_ERR_DETAILS]);
    if (id.n) type = agenti_member_text(d, id);
    if (id.n && !agenti_eq(id, "\"rate_limit\"")) code = type;
    id = agenti_member_text(d, in[AGENTI_ERR_REQUEST_ID]);
    if (d->request_id.n == 0 && id.n && id.n < 200 && agenti_text_set(&d->request_id, d->pool, d->graves, id)) agenti_text_scrub(&d->request_id);
    agenti_fault_classify(d, status, code, type, text);
}
AGENTI_FN void agenti_fault_named(agenti_decoder *d, agent_str name, agent_str said)
{
    agent_str text = agenti_str(NULL, 0);
    if (agenti_is_object(said) && agent_json_check(said.p, said.n, d->depth_limit, NULL) == AGENT_OK)
        text = agenti_member_text(d, agent_json_get(said, "message"));
    agenti_fault_classify(d, 0, name, name, text.n ? text : said);
}
/* A body that says nothing readable.                                                                                   */
static const char *agenti_body_word(agent_str headers, agent_str body)
{
    agent_str v;
    if (body.n == 0) return AGENTI_WHY("the answer has an error status and no body");
    if (body.p[0] == '\x1F' || (agent_http_header(headers, "content-encoding", &v) && v.n && !agenti_ieq(v, "identity")))
        return AGENTI_WHY("the answer has an error status and a compressed body");
    return body.p[0] == '<' ? AGENTI_WHY("the answer has an error status and an HTML page") : NULL;
}
AGENTI_FN uint32_t agenti_fault_switch(const agenti_fault *f)
{
    static const struct { const char *word; uint32_t bit; } rows[] = {
        { "stream_options", AGENT_DIALECT_NO_STREAM_OPTIONS }, { "max_completion_tokens", AGENT_DIALECT_MAX_COMPLETION_TOKENS }
    };
    size_t i;
    if (f->http_status != 400 && f->http_status != 422) return 0;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (agenti_find(agenti_text_view(&f->text), rows[i].word)) return rows[i].bit;
    return 0;
}
AGENTI_FN void agenti_fault_answer(agenti_decoder *d, int status, agent_str headers, agent_str body, uint64_t wall_ms)
{
    agent_str v, none = agenti_str(NULL, 0);
    int64_t told = -1;
    const char *word;
    body = agenti_trim(body);
    word = agenti_body_word(headers, body);
    if (body.n == 0 && status == 400)
        agenti_fault_set(d, AGENT_FAULT_CONTEXT, 0, "", agenti_cstr(AGENTI_WHY("status 400 without a body: the request is too long")));
    else if (word) agenti_fault_classify(d, status, none, none, agenti_cstr(word));
    else if ((body.p[0] == '{' || body.p[0] == '[' || body.p[0] == '"') && agent_json_check(body.p, body.n, d->depth_limit, NULL) == AGENT_OK) {
        told = agenti_retry_body(body);       /* before its strings are decoded in place                                */
        agenti_fault_object(d, body, status);
    } else agenti_fault_classify(d, status, none, none, agenti_str(body.p, body.n < 200 ? body.n : 200));
    d->fault.http_status = status;
    d->fault.retry_after_ms = agenti_retry_headers(headers, wall_ms);
    if (d->fault.retry_after_ms < 0) d->fault.retry_after_ms = told;
    if (d->fault.code.n == 0 && agent_http_header(headers, "x-amzn-errortype", &v)) {        /* NAME[:where it is told] */
        const char *colon = (const char *)memchr(v.p, ':', v.n);
        agenti_fault_code_set(d, agenti_str(v.p, colon ? (size_t)(colon - v.p) : v.n));
    }
    if (d->fault.retry_after_ms < 0 && d->fault.fault == AGENT_FAULT_RATE) d->fault.retry_after_ms = agenti_retry_words(agenti_text_view(&d->fault.text));
    if (agent_http_header(headers, "x-should-retry", &v)) {
        if (agenti_eq(v, "true")) d->fault.retryable = 1;
        if (agenti_eq(v, "false")) d->fault.retryable = 0;
    }
}
#endif
