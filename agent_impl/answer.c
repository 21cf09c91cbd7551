/* One answer: what its body is, its framing, how it ended. Knows no connection and no loop. */
enum agenti_mode {
    AGENTI_MODE_SNIFF,                        /* nothing but blanks so far                                              */
    AGENTI_MODE_SSE,
    AGENTI_MODE_ARRAY,                        /* the values of a JSON array                                             */
    AGENTI_MODE_LINES,
    AGENTI_MODE_FRAMES,
    AGENTI_MODE_WHOLE,                        /* one JSON text, held until its end                                      */
    AGENTI_MODE_ERROR,                        /* the body of an error status, held                                      */
    AGENTI_MODE_OVER                          /* nothing more is read                                                   */
};
enum { AGENTI_OPEN_STREAM, AGENTI_OPEN_CALL, AGENTI_OPEN_RAN };               /* RAN: a call that the provider runs      */
typedef struct agenti_open { uint32_t key, part; int kind; } agenti_open;     /* part: its index in the message         */
typedef struct agenti_answer {
    agent_engine *e;
    agenti_pool *pool;                        /* the session's, or the engine's                                         */
    agenti_msg *msg, *results;                /* of the model; the results of its calls, not in the table yet           */
    agenti_open *open; uint32_t open_n, open_cap;    /* parts that are open, in their order                             */
    agenti_nums *nums;
    agenti_table *table;                      /* where messages go; NULL: decode-only, they are the answer's own        */
    agenti_split *split;                      /* a payload longer than limits.piece is being read; NULL: none           */
    uint64_t offset;                          /* bytes of the body seen                                                 */
    uint64_t mark;                            /* where the event that is being read began                               */
    size_t waits;                             /* bytes that the last feed left, to see the whole of an event in one piece */
    int status;
    uint32_t events;                          /* payloads seen                                                          */
    uint8_t mode, started, ending;            /* ending: the body is complete                                           */
    uint8_t plain;                            /* the content type is neither JSON nor an event stream                   */
    uint8_t json;                             /* it is JSON: one text                                                   */
    uint8_t held;                             /* the event in hold was read: its ops may point there                    */
    uint8_t waited;                           /* this event was held back before                                        */
    uint8_t think_shows;                      /* think_op is not done                                                   */
    uint8_t split_last, split_shown, split_bad;      /* todo ends the payload; text is being read; it is no JSON        */
    agent_num run;
    uint32_t model;
    agenti_decoder d;
    agent_sse sse;
    agenti_buf hold;                          /* what framing keeps: a straddling event, or the whole body              */
    agenti_values values;
    agenti_buf todo; size_t todo_at;          /* its bytes that split has not seen                                      */
    agenti_text split_type;                   /* the event's type                                                       */
    agenti_text headers;                      /* of an error status: its hints                                          */
    agenti_text limits;                       /* rate-limit lines of the head                                           */
    agenti_think think;
    agenti_op think_op; uint32_t think_key;   /* the piece that is being shown; the stream whose text may begin with tags */
    uint64_t shown_at;                        /* when something of it was shown last                                    */
    uint8_t shown;                            /* something of it was                                                    */
    agenti_shortcut shortcut;
} agenti_answer;

AGENTI_FN void agenti_answer_start(agenti_answer *, agent_engine *, agenti_pool *, const agenti_wire *, uint32_t dialect);
AGENTI_FN void agenti_answer_free(agenti_answer *);           /* not the messages that went into a table                */
/* The head of the answer. 0: no memory.                                                                                */
AGENTI_FN int  agenti_answer_head(agenti_answer *, int status, agent_str headers);
/* Reads body bytes, in place, until ops wait, the answer is over or all is used. 0: no memory. The beginning of an event that is like
 * one before is left, once, and a->waits says so: it comes again with what follows, or without if nothing follows.      */
AGENTI_FN int  agenti_answer_feed(agenti_answer *, const char *p, size_t n, size_t *used);
#ifndef AGENT_NO_SHORTCUT
AGENTI_FN int  agenti_answer_hold(agenti_answer *, size_t n);  /* the beginning of such an event; 0: it is not to be left */
#endif
AGENTI_FN void agenti_answer_end(agenti_answer *);            /* the body is complete: agenti_answer_work goes on       */
/* What is to be done without further bytes, when no ops wait: 1 something was done, -1 nothing is to do, 0 no memory   */
AGENTI_FN int  agenti_answer_work(agenti_answer *);
AGENTI_FN int  agenti_answer_over(const agenti_answer *);     /* no body byte can change it                             */
AGENTI_FN void agenti_answer_verdict(agenti_answer *);        /* after the last op: a finish or a fault is set          */
AGENTI_FN void agenti_answer_drop(agenti_answer *);           /* forgets ops that wait                                  */
AGENTI_FN int  agenti_answer_cut(const agenti_answer *);      /* it broke off, so its calls must not run                */
AGENTI_FN void agenti_answer_fault(agenti_answer *, int fault, int retryable, const char *text);     /* ends it, unless it has failed */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_ANSWER
AGENTI_FN void agenti_answer_start(agenti_answer *a, agent_engine *e, agenti_pool *pool, const agenti_wire *wire, uint32_t dialect)
{
    memset(a, 0, sizeof *a);
    a->e = e;
    a->pool = pool;
    agenti_decoder_init(&a->d, pool, &e->graves, wire);
    a->d.dialect = dialect;
    a->d.depth_limit = e->lim.depth;
    a->d.call_limit = e->lim.calls_per_step;
    a->d.item_limit = e->lim.item;
    agenti_buf_init(&a->hold, pool);
    agenti_buf_init(&a->todo, pool);
    agenti_shortcut_init(&a->shortcut, pool);
    a->shortcut.off = e->no_shortcut;
    agent_sse_init(&a->sse, NULL, 0, AGENT_SSE_ERROR_FIELD | AGENT_SSE_BOUNDED);
    a->status = 200;
}
#ifdef AGENT_NO_SPLIT
static void agenti_split_drop(agenti_answer *a) { (void)a; }
#else
static void agenti_split_drop(agenti_answer *a)
{
    if (a->split == NULL) return;
    agenti_split_free(a->split);
    agenti_put(a->pool, a->split, sizeof *a->split);
    a->split = NULL;
    agenti_buf_free(&a->todo);
    agenti_text_free(&a->split_type, &a->e->graves);
    a->todo_at = 0;
    a->split_last = a->split_shown = a->split_bad = 0;
}
#endif
AGENTI_FN void agenti_answer_free(agenti_answer *a)
{
    if (a->e == NULL) return;
    agenti_split_drop(a);
    if (a->table == NULL) {
        agenti_msg_free(a->pool, a->msg, &a->e->graves);
        agenti_msg_free(a->pool, a->results, &a->e->graves);
    }
    agenti_shortcut_free(&a->shortcut);
    agenti_decoder_free(&a->d);
    agenti_put(a->pool, a->open, a->open_cap * sizeof *a->open);
    agenti_buf_free(&a->hold);
    agenti_text_free(&a->headers, &a->e->graves);
    agenti_text_free(&a->limits, &a->e->graves);
    a->e = NULL;
}

/* ---- the body ---- */
/* For faults: how much is read of an event depends on how the bytes were cut, so a long one is named by its beginning.  */
static uint64_t agenti_where(const agenti_answer *a) { return a->split ? a->mark : a->offset; }
AGENTI_FN void agenti_answer_fault(agenti_answer *a, int fault, int retryable, const char *text)
{
    agenti_fault_set(&a->d, fault, retryable, "", agenti_cstr(text));
    if (a->d.fault.http_status == 0 && a->started) a->d.fault.http_status = a->status;
    a->d.fault.offset = agenti_where(a);
    a->mode = AGENTI_MODE_OVER;
}
static int agenti_redirect(agenti_answer *a, agent_str headers)
{
    agent_str where = agenti_str(NULL, 0);
    agenti_buf b;
    agenti_buf_init(&b, a->pool);
    agent_http_header(headers, "location", &where);
    agenti_buf_str(&b, AGENTI_WHY("the host is redirected to "));
    agenti_buf_add(&b, where.p, where.n < 1024 ? where.n : 1024);
    agenti_fault_set(&a->d, AGENT_FAULT_PROTOCOL, 0, "redirect", b.bad ? agenti_cstr(AGENTI_WHY("the host is redirected")) : agenti_str(b.p, b.n));
    a->d.fault.http_status = a->status;
    a->mode = AGENTI_MODE_OVER;
    agenti_buf_free(&b);
    return 1;
}
/* What STEP_END tells of the head. 0: no memory.                                                                       */
static int agenti_head_keep(agenti_answer *a, agent_str headers)
{
    static const char *const ids[] = { "x-request-id", "request-id", "x-amzn-requestid", "apim-request-id", "cf-ray" };
    agent_str v = agenti_str(NULL, 0);
    size_t i, n;
    int ok = 1;
    for (i = 0; i < sizeof ids / sizeof *ids && !agent_http_header(headers, ids[i], &v); i++) {}
    if (v.n && !agenti_text_set(&a->d.request_id, a->pool, &a->e->graves, v)) return 0;
    while (ok && headers.n) {
        const char *end = (const char *)memchr(headers.p, '\n', headers.n), *colon;
        n = end ? (size_t)(end - headers.p) + 1 : headers.n;
        colon = (const char *)memchr(headers.p, ':', n);
        if (colon && agenti_find(agenti_str(headers.p, (size_t)(colon - headers.p)), "ratelimit"))
            ok = agenti_text_add(&a->limits, a->pool, &a->e->graves, agenti_str(headers.p, n));
        headers = agenti_str(headers.p + n, headers.n - n);
    }
    if (!agenti_text_repair(&a->limits, a->pool, &a->e->graves)) agenti_text_scrub(&a->limits);
    if (!agenti_text_repair(&a->d.request_id, a->pool, &a->e->graves)) agenti_text_scrub(&a->d.request_id);
    return ok;
}
AGENTI_FN int agenti_answer_head(agenti_answer *a, int status, agent_str headers)
{
    agent_str v;
    a->status = status;
    a->started = 1;
    if (!agenti_head_keep(a, headers)) return 0;
    if (status >= 400) {
        a->mode = AGENTI_MODE_ERROR;
        return agenti_text_set(&a->headers, a->pool, &a->e->graves, headers);
    }
    if (agent_http_header(headers, "content-encoding", &v) && v.n && !agenti_ieq(v, "identity")) {
        agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, AGENTI_WHY("the answer is compressed (Content-Encoding), which was not asked for"));
        return 1;
    }
    if (status >= 300) return agenti_redirect(a, headers);
    if (agent_http_header(headers, "content-type", &v) && v.n)
        a->plain = !agenti_find(v, "event-stream") && !agenti_find(v, "json") && !agenti_find(v, "octet-stream") && !agenti_find(v, "eventstream");
    a->json = v.n && agenti_find(v, "json") && !agenti_find(v, "ndjson") && !agenti_find(v, "stream+json");
    return 1;
}
/* The first byte that is no blank tells what the body is: hosts that were asked for a stream may send one JSON text, an error page or
 * something compressed (wire-quirks A16, A19, A20).                                                                    */
static void agenti_sniff(agenti_answer *a, const char *p, size_t n, size_t *used)
{
    int framing = a->d.wire->framing;
    size_t i = 0;
    while (i < n && (p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t' || p[i] == '\xEF' || p[i] == '\xBB' || p[i] == '\xBF')) i++;
    AGENTI_TOUCH(i);
    *used = i;
    a->offset += i;
    if (i == n) return;
    if (framing == AGENTI_FRAMING_LINES && !a->json && p[i] == '{') a->mode = AGENTI_MODE_LINES;
    else if (framing == AGENTI_FRAMING_ARRAY && p[i] == '[') a->mode = AGENTI_MODE_ARRAY;
    else if (p[i] == '{' || p[i] == '[') a->mode = AGENTI_MODE_WHOLE;
    else if (p[i] == '<') agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, AGENTI_WHY("an HTML page instead of an answer"));
    else if (p[i] == '\x1F') agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, AGENTI_WHY("the body is compressed without saying so (it starts with 1F)"));
    else a->mode = framing >= AGENTI_FRAMING_FRAMES ? AGENTI_MODE_FRAMES : AGENTI_MODE_SSE;       /* a frame begins with 0 or 1 */
}
/* More room for what straddles. It stays small: long data is taken out of it, and nothing else may be long.             */
static int agenti_sse_grow(agenti_answer *a)
{
    size_t more = (a->sse.cap < 256 ? 256 : 2 * a->sse.cap) - a->sse.len;
    a->hold.n = a->sse.len;
    if (!agenti_buf_room(&a->hold, a->sse.cap - a->sse.len + more)) return 0;
    a->sse.buf = a->hold.p;
    a->sse.cap = a->hold.cap - 1;
    return 1;
}
/* One payload, or one of the documents that a long one is split into: then `around` is NULL.                            */
static int agenti_payload(agenti_answer *a, agent_str type, agent_str data, const agenti_around *around)
{
    uint32_t bad = a->d.bad;
    a->events++;
    if (around == NULL) agenti_shortcut_forget(&a->shortcut);
    if (around ? !agenti_shortcut_event(&a->shortcut, &a->d, type, data, around) : !a->d.wire->event(&a->d, type, data)) return 0;
    a->split_bad |= a->d.bad != bad;
    if (a->d.fault.fault || a->d.bad != bad) a->d.fault.offset = agenti_where(a);
    if (a->d.fault.fault && a->d.fault.http_status == 0) a->d.fault.http_status = a->status;
    if (!a->d.fault.fault && !a->d.done) return 1;
    a->mode = AGENTI_MODE_OVER;
    return agenti_decoder_end(&a->d);
}
static int agenti_whole(agenti_answer *a, agent_str body)
{
    agent_json_error err;
    if (agent_json_check(body.p, body.n, a->d.depth_limit, &err) != AGENT_OK) {
        agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, err.why);
        a->d.fault.offset = err.offset;
        return 1;
    }
    if (!a->d.wire->whole(&a->d, body)) return 0;
    if (a->d.fault.fault && a->d.fault.http_status == 0) a->d.fault.http_status = a->status;
    a->mode = AGENTI_MODE_OVER;
    return agenti_decoder_end(&a->d);
}

static int agenti_event_long(agenti_answer *a)
{
    agenti_answer_fault(a, AGENT_FAULT_LIMIT, 0, AGENTI_WHY("an event of the answer is longer than limits.item"));
#ifdef AGENT_NO_SPLIT
    a->d.fault.offset = a->mark;              /* how much of it was seen depends on how the bytes were cut              */
#endif
    return 1;
}
#ifdef AGENT_NO_SPLIT
/* Without pieces a long payload is held until its end.                                                                 */
static int agenti_split_open(const agenti_answer *a) { (void)a; return 0; }
static int agenti_split_waits(const agenti_answer *a) { (void)a; return 0; }
static int agenti_split_work(agenti_answer *a) { (void)a; return 1; }
static int agenti_todo(agenti_answer *a, const char *p, size_t n) { (void)a; (void)p; (void)n; return 1; }
static int agenti_held_long(agenti_answer *a, size_t n)     /* n bytes have come of an event                            */
{
    return n <= a->e->lim.item || agenti_event_long(a);
}
#else
/* ---- payloads longer than limits.piece ---- */
static int agenti_split_begin(agenti_answer *a)
{
    enum { MOST = 1024 };                     /* a path up to a piece, or this, is repeated before each piece           */
    if (a->split) return 1;
    a->split = (agenti_split *)agenti_get(a->pool, sizeof *a->split);
    if (a->split == NULL) return 0;
    agenti_split_init(a->split, a->pool, a->mode == AGENTI_MODE_WHOLE ? &a->d.wire->whole_rule : &a->d.wire->stream_rule,
                      a->e->lim.piece > MOST ? a->e->lim.piece : (uint32_t)MOST);
    return 1;
}
static int agenti_todo(agenti_answer *a, const char *p, size_t n)
{
    if (!agenti_split_begin(a)) return 0;
    agenti_buf_add(&a->todo, p, n);
    return !a->todo.bad;
}
static int agenti_split_last_read(agenti_answer *a)
{
    agent_str text = agenti_str(a->split->text.p, a->split->text.n);
    a->split_shown = 1;
    if (a->split_bad) return 1;
    return a->mode == AGENTI_MODE_WHOLE ? agenti_whole(a, text) : agenti_payload(a, agenti_text_view(&a->split_type), text, NULL);
}
/* Looks for a place to cut at each multiple of limits.piece, so cuts depend on the payload alone.                      */
static int agenti_split_work(agenti_answer *a)
{
    agenti_split *s = a->split;
    size_t piece = a->e->lim.piece, n;
    int rc;
    if (a->split_shown) {                     /* the document was read: on to the next                                  */
        a->split_shown = 0;
        if (a->split_last && a->todo_at == a->todo.n) { agenti_split_drop(a); a->mark = a->offset; return 1; }
        agenti_split_swap(s);
    }
    while (a->todo_at < a->todo.n) {
        n = piece - (size_t)(s->total % piece);
        if (n > a->todo.n - a->todo_at) n = a->todo.n - a->todo_at;
        if (s->text.n > a->e->lim.item && s->total % piece == 0) {
            agenti_answer_fault(a, AGENT_FAULT_LIMIT, 0, AGENTI_WHY("a part of the answer that must be held whole is longer than limits.item"));
            return 1;
        }
        if (!agenti_split_add(s, a->todo.p + a->todo_at, n)) return 0;
        a->todo_at += n;
        if (s->total % piece || (a->split_last && a->todo_at == a->todo.n) || a->split_bad) continue;
        if ((rc = agenti_split_cut(s)) < 0) return 0;
        if (rc == 0) continue;
        a->split_shown = a->d.partial = 1;
        rc = agenti_payload(a, agenti_str(NULL, 0), agenti_str(s->text.p, s->text.n), NULL);         /* the type may come last */
        a->d.partial = 0;
        return rc;
    }
    if (a->split_last) return agenti_split_last_read(a);
    a->todo.n = a->todo_at = 0;
    return 1;
}
static int agenti_split_open(const agenti_answer *a) { return a->split != NULL; }
static int agenti_split_waits(const agenti_answer *a) { return a->split && (a->split_shown || a->split_last || a->todo_at < a->todo.n); }
/* What is in hold of an event so far, n bytes: a long one is read in pieces from now on. 0: no memory                   */
static int agenti_held_long(agenti_answer *a, size_t n)
{
    if (n <= a->e->lim.piece) return 1;
    if (!agenti_todo(a, a->hold.p, n)) return 0;
    a->hold.n = 0;
    return 1;
}

#endif
/* ---- framing ---- */
/* An event, or what was left of one that is being read in pieces. around NULL: what stands around it is not known.      */
static int agenti_framed(agenti_answer *a, agent_str type, agent_str data, const agenti_around *around)
{
#ifndef AGENT_NO_SPLIT
    if (a->split || data.n > a->e->lim.piece) {
        a->split_last = 1;
        return agenti_todo(a, data.p, data.n) && agenti_text_set(&a->split_type, a->pool, &a->e->graves, type);
    }
#endif
    return data.n <= a->e->lim.item ? agenti_payload(a, type, data, around) : agenti_event_long(a);
}
#ifdef AGENT_NO_SPLIT
static int agenti_sse_long(agenti_answer *a) { return agenti_held_long(a, agent_sse_pending(&a->sse)); }
#else
/* What has come of an event that is longer than a piece already.                                                       */
static int agenti_sse_long(agenti_answer *a)
{
    size_t n = agent_sse_pending(&a->sse);
    if (n <= a->e->lim.piece && (a->split == NULL || n == 0)) return 1;
    if (!agenti_split_begin(a) || !agenti_buf_room(&a->todo, n)) return 0;
    a->todo.n += agent_sse_take(&a->sse, a->todo.p + a->todo.n);
    return 1;
}
#endif
#ifndef AGENT_NO_SHORTCUT
AGENTI_FN int agenti_answer_hold(agenti_answer *a, size_t n)
{
    enum { LEAST = 16, MOST = 2048 };
    if (a->waited || n < LEAST || n > MOST || n > a->e->lim.recv / 4) return 0;
    a->waits = n;
    a->waited = 1;
    return 1;
}
#endif
#ifdef AGENT_NO_SHORTCUT
static size_t agenti_feed_like(agenti_answer *a, const char *p, size_t n, int *ok) { (void)a; (void)p; (void)n; (void)ok; return 0; }
#else
/* An event that is like one before: its length, 0: it is not, or held back.                                             */
static size_t agenti_feed_like(agenti_answer *a, const char *p, size_t n, int *ok)
{
    size_t most = a->e->lim.piece < a->e->lim.item ? a->e->lim.piece : a->e->lim.item, k;
    int cut = 0;
    if (a->split || !agenti_sse_fresh(&a->sse)) return 0;
    k = agenti_shortcut_lines(&a->shortcut, &a->d, p, n, most, &a->sse.cr, &cut, ok);
    if (k == 0) {
        if (cut) (void)agenti_answer_hold(a, n);
        return 0;
    }
    a->waited = 0;
    a->sse.offset += k;
    a->offset += k;
    a->mark = a->offset;
    a->events++;
    return k;
}
#endif
static int agenti_feed_event(agenti_answer *a, const char *p, size_t n, size_t *used, int *ok)
{
    agent_sse_event ev;
    agenti_around around;
    int fresh = agenti_sse_fresh(&a->sse), rc;
    around.cr = a->sse.cr;
    rc = agent_sse_next(&a->sse, p, n, used, &ev);
    a->offset += *used;
    around.cr_after = a->sse.cr;
    around.raw = agenti_str(p, fresh && rc == AGENT_OK && ev.data.p >= p && ev.data.p < p + *used ? *used : 0);
    if (rc == AGENT_E_FULL) *ok = agenti_sse_grow(a);
    if (rc == AGENT_OK) { a->waited = 0; *ok = agenti_framed(a, ev.event, ev.data, &around); }
    if (rc == AGENT_OK && *ok && !agenti_split_open(a)) a->mark = a->offset;
    return rc;
}
static int agenti_feed_sse(agenti_answer *a, const char *p, size_t n, size_t *used)
{
    size_t k;
    int rc = AGENT_OK, ok = 1;
    *used = a->waits = 0;
    while (rc != AGENT_MORE && a->mode == AGENTI_MODE_SSE && a->d.op_n == 0 && !agenti_split_waits(a)) {
        if ((k = agenti_feed_like(a, p + *used, n - *used, &ok)) != 0 || a->waits) { *used += k; return ok; }
        rc = agenti_feed_event(a, p + *used, n - *used, &k, &ok);
        *used += k;
        if (!ok) return 0;
    }
    return rc != AGENT_MORE || agenti_sse_long(a);
}
/* ---- lines, arrays, frames: an event lies whole in the input, or is put together in hold ---- */
/* More of an event, its end or not. A long one is read in pieces.                                                      */
static int agenti_more(agenti_answer *a, const char *p, size_t n, int ends)
{
    agent_str type = agenti_str(NULL, 0);
    int ok = 1;
    a->offset += n;
    if (a->held) { a->held = 0; a->hold.n = 0; }
    if (!agenti_split_open(a) && a->hold.n == 0 && ends) ok = agenti_framed(a, type, agenti_str(p, n), NULL);
    else if (agenti_split_open(a)) {
        a->split_last = (uint8_t)ends;
        ok = agenti_todo(a, p, n);
    } else {
        agenti_buf_add(&a->hold, p, n);
        if (a->hold.bad) return 0;
        if (ends) { a->held = 1; ok = agenti_framed(a, type, agenti_str(a->hold.p, a->hold.n), NULL); }
        else ok = agenti_held_long(a, a->hold.n);
    }
    if (ends && !agenti_split_open(a)) a->mark = a->offset;
    return ok;
}
static int agenti_may_feed(const agenti_answer *a, int mode) { return a->mode == mode && a->d.op_n == 0 && !agenti_split_waits(a); }
#if defined AGENT_NO_OLLAMA && defined AGENT_NO_COHERE
static int agenti_feed_lines(agenti_answer *a, const char *p, size_t n, size_t *used) { (void)a; (void)p; (void)n; (void)used; return 1; }
#else
static int agenti_feed_lines(agenti_answer *a, const char *p, size_t n, size_t *used)
{
    int ok = 1;
    *used = 0;
    while (ok && *used < n && agenti_may_feed(a, AGENTI_MODE_LINES)) {
        const char *from = p + *used, *end = (const char *)memchr(from, '\n', n - *used);
        size_t k = end ? (size_t)(end - from) : n - *used;
        AGENTI_TOUCH(k);
        ok = agenti_more(a, from, k, end != NULL);
        a->offset += end != NULL;
        if (end && !agenti_split_open(a)) a->mark = a->offset;
        *used += k + (end != NULL);
    }
    return ok;
}
#endif
#ifdef AGENT_NO_GEMINI
static int agenti_feed_array(agenti_answer *a, const char *p, size_t n, size_t *used) { (void)a; (void)p; (void)n; (void)used; return 1; }
#else
static int agenti_feed_array(agenti_answer *a, const char *p, size_t n, size_t *used)
{
    int ok = 1, ends;
    *used = 0;
    while (ok && *used < n && agenti_may_feed(a, AGENTI_MODE_ARRAY)) {
        size_t k, from;
        ends = agenti_values_next(&a->values, p + *used, n - *used, &k, &from);
        a->offset += from;
        if (from < k || ends) ok = agenti_more(a, p + *used + from, k - from, ends);
        *used += k;
    }
    return ok;
}
#endif
#ifdef AGENT_NO_BEDROCK
static int agenti_feed_frames(agenti_answer *a, const char *p, size_t n, size_t *used) { (void)a; (void)p; (void)n; (void)used; return 1; }
#else
static int agenti_frame_wrong(agenti_answer *a, int fault, const char *why)
{
    agenti_answer_fault(a, fault, 0, why);
    a->d.fault.offset = a->mark;
    return 1;
}
/* An exception ends the answer, whatever the wire format.                                                              */
static int agenti_frame_failed(agenti_answer *a, const agenti_frame *f)
{
    a->events++;
    agenti_fault_named(&a->d, f->type, f->payload);
    a->d.fault.http_status = a->status;
    a->d.fault.offset = a->offset;
    a->mode = AGENTI_MODE_OVER;
    return agenti_decoder_end(&a->d);
}
/* The event inside of a frame that wraps it as {"bytes":"base64"}, decoded in place; without that member the payload stays. 0: no memory */
static int agenti_frame_unwrap(agenti_answer *a, agent_str *data)
{
    agent_str code = agenti_str(NULL, 0);
    if (agent_json_check(data->p, data->n, a->d.depth_limit, NULL) == AGENT_OK) code = agent_json_get(*data, "bytes");
    if (!agenti_is_string(code)) return 1;
    if (!agenti_json_string(code, NULL, &a->d.arena, data)) return 0;
    if (agenti_base64_ok(*data)) data->n = agenti_base64_bytes(*data, (char *)(uintptr_t)data->p);
    return 1;
}
static int agenti_frame_event(agenti_answer *a, agent_str bytes)
{
    agenti_frame f;
    const char *why;
    if (!agenti_frame_parse(bytes, &f, &why)) return agenti_frame_wrong(a, AGENT_FAULT_PROTOCOL, why);
    if (agenti_eq(f.kind, "exception") || agenti_eq(f.kind, "error")) return agenti_frame_failed(a, &f);
    if (a->d.wire->framing == AGENTI_FRAMING_BYTES && !agenti_frame_unwrap(a, &f.payload)) return 0;
    if (!agenti_framed(a, f.type, f.payload, NULL)) return 0;
    if (!agenti_split_open(a)) a->mark = a->offset;
    return 1;
}
/* Bytes of a frame into hold until `size` are there.                                                                   */
static int agenti_frame_hold(agenti_answer *a, size_t size, const char *p, size_t n, size_t *used)
{
    size_t k = size - a->hold.n < n - *used ? size - a->hold.n : n - *used;
    agenti_buf_add(&a->hold, p + *used, k);
    a->offset += k;
    *used += k;
    return !a->hold.bad;
}
/* A frame is taken in place, else put together in hold: first what tells its length.                                    */
static int agenti_feed_frames(agenti_answer *a, const char *p, size_t n, size_t *used)
{
    const char *why = "";
    size_t size;
    int ok = 1;
    *used = 0;
    while (ok && *used < n && agenti_may_feed(a, AGENTI_MODE_FRAMES)) {
        if (a->held) { a->held = 0; a->hold.n = 0; }
        if (a->hold.n < AGENTI_FRAME_PRELUDE && (a->hold.n || n - *used < AGENTI_FRAME_PRELUDE)) {
            if (!agenti_frame_hold(a, AGENTI_FRAME_PRELUDE, p, n, used)) return 0;
            if (a->hold.n < AGENTI_FRAME_PRELUDE) break;
        }
        size = agenti_frame_size(a->hold.n ? a->hold.p : p + *used, &why);
        if (size == 0) return agenti_frame_wrong(a, AGENT_FAULT_PROTOCOL, why);
        if (size > a->e->lim.item) return agenti_frame_wrong(a, AGENT_FAULT_LIMIT, AGENTI_WHY("an event stream frame is longer than limits.item"));
        if (a->hold.n == 0 && n - *used >= size) {
            a->offset += size;
            *used += size;
            ok = agenti_frame_event(a, agenti_str(p + *used - size, size));
        } else {
            if (!agenti_frame_hold(a, size, p, n, used)) return 0;
            a->held = a->hold.n == size;
            if (a->held) ok = agenti_frame_event(a, agenti_str(a->hold.p, size));
        }
    }
    return ok;
}
#endif
static int agenti_whole_held(const agenti_answer *a)           /* a whole answer is not read in pieces, however long it is */
{
#ifdef AGENT_NO_SPLIT
    (void)a;
    return 1;
#else
    return a->e->lim.item < a->e->lim.piece;  /* as long as limits.item lets it be                                      */
#endif
}
static int agenti_feed_whole(agenti_answer *a, const char *p, size_t n)
{
    int ok;
    a->offset += n;
    if (agenti_split_open(a)) return agenti_todo(a, p, n);
    agenti_buf_add(&a->hold, p, n);
    if (agenti_whole_held(a) && a->hold.n > a->e->lim.item) {
        agenti_answer_fault(a, AGENT_FAULT_LIMIT, 0, AGENTI_WHY("the answer is longer than limits.item"));
        a->d.fault.offset = a->e->lim.item;
        return !a->hold.bad;
    }
    if (agenti_whole_held(a) || a->hold.n <= a->e->lim.piece) return !a->hold.bad;
    ok = !a->hold.bad && agenti_todo(a, a->hold.p, a->hold.n);
    agenti_buf_free(&a->hold);
    return ok;
}
static int agenti_feed_error(agenti_answer *a, const char *p, size_t n)
{
    enum { MOST = 65536 };                    /* an error body's rest is not worth its memory                           */
    size_t k = MOST - a->hold.n < n ? MOST - a->hold.n : n;
    a->offset += n;
    agenti_buf_add(&a->hold, p, k);
    return !a->hold.bad;
}
static int agenti_feed_any(agenti_answer *a, const char *p, size_t n, size_t *used)
{
    size_t k = 0;
    int ok = 1;
    *used = 0;
    if (n && a->mode == AGENTI_MODE_SNIFF) agenti_sniff(a, p, n, used);
    p += *used;
    n -= *used;
    if (n == 0) return 1;
    if (a->mode == AGENTI_MODE_SSE) ok = agenti_feed_sse(a, p, n, &k);
    else {
        k = n;
        if (a->mode == AGENTI_MODE_LINES) ok = agenti_feed_lines(a, p, n, &k);
        else if (a->mode == AGENTI_MODE_ARRAY) ok = agenti_feed_array(a, p, n, &k);
        else if (a->mode == AGENTI_MODE_FRAMES) ok = agenti_feed_frames(a, p, n, &k);
        else if (a->mode == AGENTI_MODE_WHOLE) ok = agenti_feed_whole(a, p, n);
        else if (a->mode == AGENTI_MODE_ERROR) ok = agenti_feed_error(a, p, n);
    }
    *used += k;
    return ok;
}
AGENTI_FN int agenti_answer_feed(agenti_answer *a, const char *p, size_t n, size_t *used)
{
    return n && a->mode == AGENTI_MODE_SSE ? agenti_feed_sse(a, p, n, used) : agenti_feed_any(a, p, n, used);
}
AGENTI_FN void agenti_answer_end(agenti_answer *a) { a->ending = 1; }
static int agenti_end_work(agenti_answer *a)
{
    agent_sse_event ev;
    int rc;
    if (a->mode == AGENTI_MODE_WHOLE && agenti_split_open(a)) { a->split_last = 1; return 1; }
    if (a->mode == AGENTI_MODE_WHOLE) return agenti_whole(a, agenti_str(a->hold.p, a->hold.n));
    if (a->mode == AGENTI_MODE_ERROR)
        agenti_fault_answer(&a->d, a->status, agenti_text_view(&a->headers), agenti_str(a->hold.p, a->hold.n), a->e->wall);
    if (a->mode == AGENTI_MODE_SSE) {         /* an unfinished last event counts (wire-quirks A13)                      */
        rc = agent_sse_end(&a->sse, &ev);
        if (rc == AGENT_E_FULL) return agenti_sse_grow(a);
        if (rc == AGENT_OK) return agenti_framed(a, ev.event, ev.data, NULL);
    }
    if (a->mode == AGENTI_MODE_LINES && (agenti_split_open(a) || (a->hold.n && !a->held))) return agenti_more(a, "", 0, 1);
    a->mode = AGENTI_MODE_OVER;
    return agenti_decoder_end(&a->d);
}
AGENTI_FN int agenti_answer_work(agenti_answer *a)
{
    if (a->mode == AGENTI_MODE_OVER) return -1;
    if (agenti_split_waits(a)) return agenti_split_work(a);
    return a->ending ? agenti_end_work(a) : -1;
}
AGENTI_FN int agenti_answer_over(const agenti_answer *a) { return a->mode == AGENTI_MODE_OVER; }
AGENTI_FN void agenti_answer_verdict(agenti_answer *a)
{
    agenti_decoder *d = &a->d;
    agenti_split_drop(a);
    agenti_shortcut_free(&a->shortcut);
    agenti_buf_free(&a->hold);
    if (d->fault.fault) return;
    if (!d->done && d->finish == AGENT_FINISH_NONE) {
        uint64_t at = d->fault.offset;
        if (d->bad) {
            agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, AGENTI_WHY("a payload is no JSON, and nothing after it ends the answer"));
            d->fault.offset = at;
        } else if (a->events == 0 && a->plain) agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, AGENTI_WHY("the answer is neither JSON nor an event stream"));
        else agenti_answer_fault(a, AGENT_FAULT_TRANSPORT, 1, AGENTI_WHY("the answer ended without a terminal signal"));
        return;
    }
    if (d->call_n && d->finish != AGENT_FINISH_LENGTH && d->finish != AGENT_FINISH_FILTER && d->finish != AGENT_FINISH_ERROR)
        d->finish = AGENT_FINISH_TOOLS;
    else if (d->finish == AGENT_FINISH_NONE || (d->finish == AGENT_FINISH_TOOLS && d->call_n == 0)) d->finish = AGENT_FINISH_OTHER;
}
AGENTI_FN int agenti_answer_cut(const agenti_answer *a)
{
    int f = a->d.finish;
    return a->d.fault.fault || f == AGENT_FINISH_LENGTH || f == AGENT_FINISH_FILTER || f == AGENT_FINISH_ERROR;
}
AGENTI_FN void agenti_answer_drop(agenti_answer *a)
{
    a->d.op_n = a->d.op_at = 0;
    agenti_arena_reset(&a->d.arena);
    a->think_shows = 0;                       /* its text was an op's                                                   */
    a->mode = AGENTI_MODE_OVER;
}
#endif
