/* One answer: its body's framing, and from the wire format's ops to parts and events. Knows no connection and no loop. */
enum agenti_mode {
    AGENTI_MODE_SNIFF,                        /* nothing but blanks so far                                              */
    AGENTI_MODE_SSE,
    AGENTI_MODE_WHOLE,                        /* one JSON text, held until its end                                      */
    AGENTI_MODE_ERROR,                        /* the body of an error status, held                                      */
    AGENTI_MODE_OVER                          /* nothing more is read                                                   */
};
typedef struct agenti_answer {
    agent_engine *e;
    agenti_pool *pool;                        /* the session's, or the engine's                                         */
    agenti_decoder d;
    agenti_table *table;                      /* where messages go; NULL: decode-only, they are the answer's own        */
    agenti_nums *nums;
    agent_num run;
    agenti_msg *msg, *results;                /* of the model; the results of its calls, not in the table yet           */
    agent_sse sse;
    agenti_buf hold;                          /* what framing keeps: a straddling event, or the whole body              */
    agenti_text headers;                      /* of an error status: its hints                                          */
    uint64_t offset;                          /* bytes of the body seen                                                 */
    uint32_t events;                          /* payloads seen                                                          */
    int status;
    uint8_t mode, started, plain;             /* plain: the content type is neither JSON nor an event stream            */
} agenti_answer;

AGENTI_FN void agenti_answer_start(agenti_answer *, agent_engine *, agenti_pool *, const agenti_wire *, uint32_t dialect);
AGENTI_FN void agenti_answer_free(agenti_answer *);           /* not the messages that went into a table                */
/* The head of the answer. 0: no memory.                                                                                */
AGENTI_FN int  agenti_answer_head(agenti_answer *, int status, agent_str headers);
/* Reads body bytes, in place, until ops wait, the answer is over or all is used. 0: no memory.                         */
AGENTI_FN int  agenti_answer_feed(agenti_answer *, char *p, size_t n, size_t *used);
AGENTI_FN int  agenti_answer_end(agenti_answer *);            /* the body is complete. 0: no memory                     */
AGENTI_FN int  agenti_answer_over(const agenti_answer *);     /* no body byte can change it                             */
AGENTI_FN void agenti_answer_verdict(agenti_answer *);        /* after the last op: a finish or a fault is set          */
/* The next event that waiting ops make: 1, 0 none, -1 no memory, -2 over calls_per_step.                               */
AGENTI_FN int  agenti_answer_event(agenti_answer *);
/* Ends open parts, one event a call; cut: they were not finished. Needs no memory. 0: all are closed.                  */
AGENTI_FN int  agenti_answer_close(agenti_answer *, int cut);
AGENTI_FN void agenti_answer_drop(agenti_answer *);           /* forgets ops that wait                                  */
AGENTI_FN int  agenti_answer_cut(const agenti_answer *);      /* it broke off, so its calls must not run                */
AGENTI_FN agent_event *agenti_answer_error(agenti_answer *, int scope);      /* ERROR: the fault                        */
AGENTI_FN agent_event *agenti_answer_step_end(agenti_answer *);              /* STEP_END: finish and usage              */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_ANSWER
AGENTI_FN void agenti_answer_start(agenti_answer *a, agent_engine *e, agenti_pool *pool, const agenti_wire *wire, uint32_t dialect)
{
    memset(a, 0, sizeof *a);
    a->e = e;
    a->pool = pool;
    agenti_decoder_init(&a->d, pool, &e->graves, wire);
    a->d.dialect = dialect;
    a->d.item_limit = e->lim.item;
    a->d.depth_limit = e->lim.depth;
    agenti_buf_init(&a->hold, pool);
    agent_sse_init(&a->sse, NULL, 0, AGENT_SSE_ERROR_FIELD);
    a->status = 200;
}
AGENTI_FN void agenti_answer_free(agenti_answer *a)
{
    if (a->e == NULL) return;
    if (a->table == NULL) {
        agenti_msg_free(a->pool, a->msg, &a->e->graves);
        agenti_msg_free(a->pool, a->results, &a->e->graves);
    }
    agenti_decoder_free(&a->d);
    agenti_buf_free(&a->hold);
    agenti_text_free(&a->headers, &a->e->graves);
    a->e = NULL;
}

/* ---- the body ---- */
static void agenti_answer_fault(agenti_answer *a, int fault, int retryable, const char *text)
{
    agenti_fault_set(&a->d, fault, retryable, "", agenti_cstr(text));
    if (a->d.fault.http_status == 0) a->d.fault.http_status = a->status;
    a->d.fault.offset = a->offset;
    a->mode = AGENTI_MODE_OVER;
}
static int agenti_redirect(agenti_answer *a, agent_str headers)
{
    agent_str where = agenti_str(NULL, 0);
    agenti_buf b;
    agenti_buf_init(&b, a->pool);
    agent_http_header(headers, "location", &where);
    agenti_buf_str(&b, "the host is redirected to ");
    agenti_buf_add(&b, where.p, where.n < 1024 ? where.n : 1024);
    agenti_fault_set(&a->d, AGENT_FAULT_PROTOCOL, 0, "redirect", b.bad ? agenti_cstr("the host is redirected") : agenti_str(b.p, b.n));
    a->d.fault.http_status = a->status;
    a->mode = AGENTI_MODE_OVER;
    agenti_buf_free(&b);
    return 1;
}
AGENTI_FN int agenti_answer_head(agenti_answer *a, int status, agent_str headers)
{
    agent_str v;
    a->status = status;
    a->started = 1;
    if (agent_http_header(headers, "content-encoding", &v) && v.n && !agenti_ieq(v, "identity")) {
        agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, "the answer is compressed (Content-Encoding), which was not asked for");
        return 1;
    }
    if (status >= 400) {
        a->mode = AGENTI_MODE_ERROR;
        return agenti_text_set(&a->headers, a->pool, &a->e->graves, headers);
    }
    if (status >= 300) return agenti_redirect(a, headers);
    if (agent_http_header(headers, "content-type", &v) && v.n)
        a->plain = !agenti_find(v, "event-stream") && !agenti_find(v, "json") && !agenti_find(v, "octet-stream");
    return 1;
}
/* The first byte that is no blank tells what the body is: hosts that were asked for a stream may send one JSON text, an error page or
 * something compressed (wire-quirks A16, A19, A20).                                                                    */
static void agenti_sniff(agenti_answer *a, const char *p, size_t n, size_t *used)
{
    size_t i = 0;
    while (i < n && (p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t' || p[i] == '\xEF' || p[i] == '\xBB' || p[i] == '\xBF')) i++;
    AGENTI_TOUCH(i);
    *used = i;
    a->offset += i;
    if (i == n) return;
    if (p[i] == '{' || p[i] == '[') a->mode = AGENTI_MODE_WHOLE;
    else if (p[i] == '<') agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, "an HTML page instead of an answer");
    else if (p[i] == '\x1F') agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, "the body is compressed without saying so (it starts with 1F)");
    else a->mode = AGENTI_MODE_SSE;
}
/* Makes room for n more held bytes: 1, 0 no memory, -1 over limits.item.                                               */
static int agenti_hold_room(agenti_answer *a, size_t n)
{
    if (n > a->e->lim.item || a->hold.n > a->e->lim.item - n) return -1;
    return agenti_buf_room(&a->hold, n);
}
static int agenti_sse_grow(agenti_answer *a)
{
    size_t more = a->sse.cap < 256 ? 256 : a->sse.cap;
    int room;
    a->hold.n = a->sse.len;
    if (more > a->e->lim.item - a->hold.n && a->hold.n < a->e->lim.item) more = a->e->lim.item - a->hold.n;
    room = agenti_hold_room(a, more);
    if (room > 0) {
        a->sse.buf = a->hold.p;
        a->sse.cap = a->hold.cap - 1 < a->e->lim.item ? a->hold.cap - 1 : a->e->lim.item;
    }
    if (room < 0) agenti_answer_fault(a, AGENT_FAULT_LIMIT, 0, "an event of the answer is longer than limits.item");
    return room != 0;
}
static int agenti_payload(agenti_answer *a, const agent_sse_event *ev)
{
    uint32_t bad = a->d.bad;
    a->events++;
    if (!a->d.wire->event(&a->d, ev->event, ev->data)) return 0;
    if (a->d.fault.fault || a->d.bad != bad) a->d.fault.offset = a->offset;
    if (a->d.fault.fault && a->d.fault.http_status == 0) a->d.fault.http_status = a->status;
    if (!a->d.fault.fault && !a->d.done) return 1;
    a->mode = AGENTI_MODE_OVER;
    return agenti_decoder_end(&a->d);
}
static int agenti_feed_sse(agenti_answer *a, char *p, size_t n, size_t *used)
{
    agent_sse_event ev;
    size_t k;
    int rc;
    *used = 0;
    while (a->mode == AGENTI_MODE_SSE && a->d.op_n == 0) {
        rc = agent_sse_next(&a->sse, p + *used, n - *used, &k, &ev);
        *used += k;
        a->offset += k;
        if (rc == AGENT_MORE) break;
        if (rc == AGENT_E_FULL && !agenti_sse_grow(a)) return 0;
        if (rc == AGENT_OK && !agenti_payload(a, &ev)) return 0;
    }
    return 1;
}
AGENTI_FN int agenti_answer_feed(agenti_answer *a, char *p, size_t n, size_t *used)
{
    int room = 1;
    *used = 0;
    if (n && a->mode == AGENTI_MODE_SNIFF) agenti_sniff(a, p, n, used);
    p += *used;
    n -= *used;
    if (a->mode == AGENTI_MODE_OVER) *used += n;
    else if (n && a->mode == AGENTI_MODE_SSE) {
        size_t k;
        room = agenti_feed_sse(a, p, n, &k);
        *used += k;
    } else if (n && a->mode == AGENTI_MODE_ERROR) {
        enum { MOST = 65536 };                /* an error body's rest is not worth its memory                           */
        size_t k = a->hold.n >= MOST ? 0 : n < MOST - a->hold.n ? n : MOST - a->hold.n;
        room = agenti_hold_room(a, k);
        if (room > 0) agenti_buf_add(&a->hold, p, k);
        *used += n;
        a->offset += n;
    } else if (n && a->mode == AGENTI_MODE_WHOLE) {
        room = agenti_hold_room(a, n);
        if (room > 0) agenti_buf_add(&a->hold, p, n);
        *used += n;
        a->offset += n;
        if (room < 0) agenti_answer_fault(a, AGENT_FAULT_LIMIT, 0, "the answer is longer than limits.item");
    }
    return room != 0;
}
static int agenti_end_whole(agenti_answer *a)
{
    agent_json_error err;
    if (agent_json_check(a->hold.p, a->hold.n, a->d.depth_limit, &err) != AGENT_OK) {
        agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, err.why);
        a->d.fault.offset = err.offset;
        return 1;
    }
    if (!a->d.wire->whole(&a->d, agenti_str(a->hold.p, a->hold.n))) return 0;
    if (a->d.fault.fault && a->d.fault.http_status == 0) a->d.fault.http_status = a->status;
    a->mode = AGENTI_MODE_OVER;
    return agenti_decoder_end(&a->d);
}
AGENTI_FN int agenti_answer_end(agenti_answer *a)
{
    agent_sse_event ev;
    int rc;
    if (a->mode == AGENTI_MODE_WHOLE) return agenti_end_whole(a);
    if (a->mode == AGENTI_MODE_ERROR) {
        agenti_fault_answer(&a->d, a->status, agenti_text_view(&a->headers), agenti_str(a->hold.p, a->hold.n), a->e->wall);
        a->mode = AGENTI_MODE_OVER;
    }
    while (a->mode == AGENTI_MODE_SSE) {      /* an unfinished last event counts (A13)                                  */
        rc = agent_sse_end(&a->sse, &ev);
        if (rc == AGENT_MORE) a->mode = AGENTI_MODE_OVER;
        else if (rc == AGENT_E_FULL) { if (!agenti_sse_grow(a)) return 0; }
        else if (!agenti_payload(a, &ev)) return 0;
    }
    a->mode = AGENTI_MODE_OVER;
    return agenti_decoder_end(&a->d);
}
AGENTI_FN int agenti_answer_over(const agenti_answer *a) { return a->mode == AGENTI_MODE_OVER; }
AGENTI_FN void agenti_answer_verdict(agenti_answer *a)
{
    agenti_decoder *d = &a->d;
    if (d->fault.fault) return;
    if (!d->done && d->finish == AGENT_FINISH_NONE) {
        uint64_t at = d->fault.offset;
        if (d->bad) {
            agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, "a payload is no JSON, and nothing after it ends the answer");
            d->fault.offset = at;
        } else if (a->events == 0 && a->plain) agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, "the answer is neither JSON nor an event stream");
        else agenti_answer_fault(a, AGENT_FAULT_TRANSPORT, 1, "the answer ended without a finish reason or [DONE]");
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
    a->mode = AGENTI_MODE_OVER;
}

AGENTI_FN agent_event *agenti_answer_error(agenti_answer *a, int scope)
{
    const agenti_fault *f = &a->d.fault;
    agent_event *ev = agenti_event(a->e, AGENT_EV_ERROR);
    ev->text = agenti_text_view(&f->text);
    ev->name = agenti_text_view(&f->code);
    ev->u.error.fault = f->fault;
    ev->u.error.http_status = f->http_status;
    ev->u.error.scope = scope;
    ev->u.error.retryable = f->retryable;
    ev->u.error.offset = f->offset;
    ev->u.error.retry_after_ms = f->retry_after_ms;
    return ev;
}
AGENTI_FN agent_event *agenti_answer_step_end(agenti_answer *a)
{
    agent_event *ev = agenti_event(a->e, AGENT_EV_STEP_END);
    a->e->ev_usage = a->d.usage;
    memcpy(a->e->ev_raw, a->d.finish_raw, sizeof a->e->ev_raw);
    ev->u.end.finish = a->d.fault.fault ? AGENT_FINISH_ERROR : a->d.finish;
    ev->u.end.raw = agenti_cstr(a->e->ev_raw);
    ev->u.end.usage = &a->e->ev_usage;
    return ev;
}

/* ---- from ops to events ---- */
enum { AGENTI_OP_APPLIED = 0x80 };            /* in op.flags: its text is in the part, deltas may be left to show        */

static agent_event *agenti_part_event(agenti_answer *a, int type, const agenti_part *p)
{
    agent_event *ev = agenti_event(a->e, type);
    ev->msg = a->msg->id;
    ev->part = p->id;
    ev->call = p->call;
    if (p->kind == AGENT_PART_CALL) {
        ev->name = agenti_text_view(&p->name);
        ev->u.tool.wire_id = agenti_text_view(&p->wire_id);
        ev->u.tool.title = agenti_str(NULL, 0);
    }
    return ev;
}
/* The next delta of a part, at most limits.piece long and never inside a UTF-8 sequence. 0: all is shown.              */
static int agenti_part_delta(agenti_answer *a, agenti_part *p, int type)
{
    size_t n = p->text.n - p->shown;
    if (n == 0) return 0;
    if (n > a->e->lim.piece) n = agenti_utf8_cut(p->text.p + p->shown, n, a->e->lim.piece);
    agenti_part_event(a, type, p)->text = agenti_str(p->text.p + p->shown, n);
    p->shown += n;
    return 1;
}
/* 1: MSG_ADD was made, 0: the message is there, -1: no memory.                                                         */
static int agenti_need_msg(agenti_answer *a)
{
    agent_event *ev;
    if (a->msg) return 0;
    if (a->table && !agenti_table_room(a->table, 2)) return -1;      /* and room for the results                        */
    a->msg = agenti_msg_new(a->pool, AGENT_MODEL);
    if (a->msg == NULL) return -1;
    a->msg->id = ++a->nums->msg;
    a->msg->run = a->run;
    if (a->table == NULL) return 0;
    agenti_table_add(a->table, a->msg);
    ev = agenti_event(a->e, AGENT_EV_MSG_ADD);
    ev->msg = a->msg->id;
    ev->u.msg.role = AGENT_MODEL;
    return 1;
}
static agenti_part *agenti_part_find(const agenti_answer *a, int call, uint32_t key)
{
    uint32_t i;
    for (i = a->msg ? a->msg->n : 0; i-- > 0;) {
        agenti_part *p = &a->msg->parts[i];
        if (p->key == key && (p->kind == AGENT_PART_CALL) == call && p->open) return p;
    }
    return NULL;
}
static int agenti_apply_text(agenti_answer *a, agenti_op *op)
{
    int kind = op->kind == AGENTI_OP_TEXT ? AGENT_PART_TEXT : AGENT_PART_REASONING, rc;
    agenti_part *p = agenti_part_find(a, 0, op->key);
    if (p == NULL) {
        if ((rc = agenti_need_msg(a)) != 0) return rc;
        if ((p = agenti_part_new(a->pool, a->msg, kind)) == NULL) return -1;
        p->id = ++a->nums->part;
        p->key = op->key;
        p->open = 1;
        p->flags = op->flags;
        agenti_part_event(a, kind == AGENT_PART_TEXT ? AGENT_EV_TEXT_START : AGENT_EV_REASONING_START, p);
        return 1;
    }
    if (!(op->flags & AGENTI_OP_APPLIED)) {
        if (!agenti_text_add(&p->text, a->pool, &a->e->graves, op->a)) return -1;
        op->flags |= AGENTI_OP_APPLIED;
    }
    return agenti_part_delta(a, p, kind == AGENT_PART_TEXT ? AGENT_EV_TEXT_DELTA : AGENT_EV_REASONING_DELTA);
}
static int agenti_close_text(agenti_answer *a, agenti_part *p, int cut)
{
    agent_event *ev;
    p->open = 0;
    if (cut) p->flags |= AGENT_PART_CUT;
    ev = agenti_part_event(a, p->kind == AGENT_PART_TEXT ? AGENT_EV_TEXT_END : AGENT_EV_REASONING_END, p);
    ev->text = agenti_text_view(&p->text);
    if (cut) ev->flags = AGENT_EVF_CUT;
    return 1;
}
static int agenti_call_ids(agenti_answer *a, agenti_part *p, agenti_part *r, agent_str id, agent_str name)
{
    agenti_blob **graves = &a->e->graves;
    if (id.n && (!agenti_text_set(&p->wire_id, a->pool, graves, id) || !agenti_text_set(&r->wire_id, a->pool, graves, id))) return 0;
    return name.n == 0 || agenti_text_set(&p->name, a->pool, graves, name);
}
/* A call and the place of its result come to be together, so that closing never needs memory.                          */
static int agenti_apply_call(agenti_answer *a, const agenti_op *op)
{
    char made[32] = "call_";
    agenti_part *p, *r;
    agent_str id = op->a;
    int rc;
    if ((rc = agenti_need_msg(a)) != 0) return rc;
    if (a->results == NULL && (a->results = agenti_msg_new(a->pool, AGENT_TOOLS)) == NULL) return -1;
    if (a->results->n >= a->e->lim.calls_per_step) return -2;
    if ((r = agenti_part_new(a->pool, a->results, AGENT_PART_RESULT)) == NULL) return -1;
    r->call = a->nums->call + 1;
    if ((p = agenti_part_new(a->pool, a->msg, AGENT_PART_CALL)) == NULL) { a->results->n--; return -1; }
    p->call = r->call;
    if (id.n == 0) id = agenti_str(made, 5 + agenti_u64_text(p->call, made + 5));
    if (!agenti_call_ids(a, p, r, id, op->b)) {
        agenti_text_free(&p->wire_id, &a->e->graves);
        agenti_text_free(&r->wire_id, &a->e->graves);
        a->msg->n--;
        a->results->n--;
        return -1;
    }
    a->nums->call++;
    p->id = ++a->nums->part;
    r->id = ++a->nums->part;
    p->key = op->key;
    p->open = 1;
    return 0;
}
static agenti_part *agenti_result_of(const agenti_answer *a, const agenti_part *call)
{
    uint32_t i;
    for (i = 0; a->results && i < a->results->n; i++) if (a->results->parts[i].call == call->call) return &a->results->parts[i];
    return NULL;
}
/* INPUT_START once the name is known, then what has come of the arguments.                                             */
static int agenti_show_call(agenti_answer *a, agenti_part *p)
{
    if (p->name.n == 0) return 0;
    if (!p->started) {
        p->started = 1;
        agenti_part_event(a, AGENT_EV_INPUT_START, p);
        return 1;
    }
    return agenti_part_delta(a, p, AGENT_EV_INPUT_DELTA);
}
/* Arguments are appended, unless a host resends what it sent, from the start: all of it and more, or the same complete object
 * again (wire-quirks C12-C14).                                                                                         */
static int agenti_args_add(agenti_answer *a, agenti_part *p, agent_str s)
{
    size_t have = p->text.n;
    AGENTI_TOUCH(s.n);
    if (have >= 2 && s.n >= have && memcmp(s.p, p->text.p, have) == 0) {
        if (s.n == have) {
            if ((p->flags & AGENTI_PART_RESENT) || agent_json_check(s.p, s.n, a->e->lim.depth, NULL) == AGENT_OK) return 1;
        } else {
            p->flags |= AGENTI_PART_RESENT;
            s.p += have;
            s.n -= have;
        }
    }
    if (s.n > a->e->lim.item - have) { p->flags |= AGENT_PART_CUT | AGENT_PART_INVALID; return 1; }
    return agenti_text_add(&p->text, a->pool, &a->e->graves, s);
}
static int agenti_apply_input(agenti_answer *a, agenti_op *op)
{
    agenti_part *p = agenti_part_find(a, 1, op->key);
    int rc;
    if (op->kind == AGENTI_OP_CALL && p == NULL) {
        if ((rc = agenti_apply_call(a, op)) != 0) return rc;
        p = agenti_part_find(a, 1, op->key);
    }
    if (p == NULL) return 0;
    if (!(op->flags & AGENTI_OP_APPLIED)) {
        op->flags |= AGENTI_OP_APPLIED;
        if (op->kind == AGENTI_OP_NAME && !agenti_call_ids(a, p, agenti_result_of(a, p), op->a, op->b)) return -1;
        if (op->kind == AGENTI_OP_ARGS && !agenti_args_add(a, p, op->a)) return -1;
    }
    return agenti_show_call(a, p);
}
static int agenti_apply(agenti_answer *a, agenti_op *op)
{
    agenti_part *p;
    agent_event *ev;
    switch (op->kind) {
    case AGENTI_OP_TEXT: case AGENTI_OP_REASONING: return agenti_apply_text(a, op);
    case AGENTI_OP_CALL: case AGENTI_OP_NAME: case AGENTI_OP_ARGS: return agenti_apply_input(a, op);
    case AGENTI_OP_END: return (p = agenti_part_find(a, 0, op->key)) != NULL ? agenti_close_text(a, p, 0) : 0;
    default:
        if (op->flags & AGENTI_OP_APPLIED) return 0;
        op->flags |= AGENTI_OP_APPLIED;
        ev = agenti_event(a->e, op->kind == AGENTI_OP_SOURCE ? AGENT_EV_SOURCE : AGENT_EV_WARNING);
        ev->text = op->a;
        ev->name = op->b;
        return 1;
    }
}
AGENTI_FN int agenti_answer_event(agenti_answer *a)
{
    agenti_decoder *d = &a->d;
    while (d->op_at < d->op_n) {
        int rc = agenti_apply(a, &d->ops[d->op_at]);
        if (rc) return rc;
        d->op_at++;
    }
    if (d->op_n) {
        d->op_n = d->op_at = 0;
        agenti_arena_reset(&d->arena);
    }
    return 0;
}
static int agenti_close_call(agenti_answer *a, agenti_part *p, int cut)
{
    agent_event *ev;
    if (p->name.n == 0) agenti_text_static(&p->name, &a->e->graves, "unknown");
    if (agenti_show_call(a, p)) return 1;
    p->open = 0;
    if (p->text.n == 0) agenti_text_static(&p->text, &a->e->graves, "{}");
    agenti_text_scrub(&p->text);              /* an object that a host sent raw may hold bad bytes                      */
    if (p->text.p[0] != '{' || agent_json_check(p->text.p, p->text.n, a->e->lim.depth, NULL) != AGENT_OK) p->flags |= AGENT_PART_INVALID;
    if (cut) p->flags |= AGENT_PART_CUT;
    ev = agenti_part_event(a, AGENT_EV_INPUT_END, p);
    ev->text = agenti_text_view(&p->text);
    ev->flags = (uint16_t)((p->flags & AGENT_PART_INVALID ? AGENT_EVF_SALVAGED : 0) | (p->flags & AGENT_PART_CUT ? AGENT_EVF_CUT : 0));
    return 1;
}
AGENTI_FN int agenti_answer_close(agenti_answer *a, int cut)
{
    agent_event *ev;
    uint32_t i;
    for (i = 0; a->msg && i < a->msg->n; i++) {
        agenti_part *p = &a->msg->parts[i];
        if (p->open) return p->kind == AGENT_PART_CALL ? agenti_close_call(a, p, cut) : agenti_close_text(a, p, cut);
    }
    for (i = 0; a->msg && !cut && i < a->msg->n; i++) {
        agenti_part *p = &a->msg->parts[i];
        if (p->kind != AGENT_PART_CALL || p->called) continue;
        p->called = 1;
        ev = agenti_part_event(a, AGENT_EV_TOOL_CALL, p);
        ev->text = agenti_text_view(&p->text);
        if (p->flags & AGENT_PART_INVALID) ev->flags = AGENT_EVF_SALVAGED;
        return 1;
    }
    return 0;
}
#endif
