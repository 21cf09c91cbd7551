/* From a wire format's ops to parts of messages and to events. Several parts may be open at the same time. */
/* The next event that waiting ops make: 1, 0 none, -1 no memory, -2 over calls_per_step.                               */
AGENTI_FN int  agenti_answer_event(agenti_answer *);
/* Ends open parts, one event a call; cut: they were not finished. Needs no memory. 0: all are closed.                  */
AGENTI_FN int  agenti_answer_close(agenti_answer *, int cut);
AGENTI_FN agent_event *agenti_answer_error(agenti_answer *, int scope);      /* ERROR: the fault                        */
AGENTI_FN agent_event *agenti_answer_step_end(agenti_answer *);              /* STEP_END: finish and usage              */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_OUTPUT
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
    a->msg->model = a->model;
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
    for (i = a->open_n; i-- > 0;) if (a->open[i].key == key && a->open[i].call == call) return &a->msg->parts[a->open[i].part];
    return NULL;
}
/* A new part of the message, open; the room in the list of open ones is made first.                                    */
static agenti_part *agenti_part_open(agenti_answer *a, int kind, uint32_t key)
{
    agenti_part *p;
    if (a->open_n == a->open_cap) {
        uint32_t cap = a->open_cap ? a->open_cap * 2 : 2;
        agenti_open *o = (agenti_open *)agenti_resize(a->pool, a->open, a->open_cap * sizeof *o, cap * sizeof *o);
        if (o == NULL) return NULL;
        a->open = o;
        a->open_cap = cap;
    }
    if ((p = agenti_part_new(a->pool, a->msg, kind)) == NULL) return NULL;
    a->open[a->open_n].key = key;
    a->open[a->open_n].call = kind == AGENT_PART_CALL;
    a->open[a->open_n++].part = a->msg->n - 1;
    return p;
}
static void agenti_part_close(agenti_answer *a, const agenti_part *p)
{
    uint32_t i, at = (uint32_t)(p - a->msg->parts);
    for (i = 0; i < a->open_n && a->open[i].part != at; i++) {}
    if (i == a->open_n) return;
    a->open_n--;
    memmove(a->open + i, a->open + i + 1, (a->open_n - i) * sizeof *a->open);
}
static int agenti_apply_text(agenti_answer *a, agenti_op *op)
{
    int kind = op->kind == AGENTI_OP_TEXT ? AGENT_PART_TEXT : AGENT_PART_REASONING, rc;
    agenti_part *p = agenti_part_find(a, 0, op->key);
    if (p == NULL) {
        if ((rc = agenti_need_msg(a)) != 0) return rc;
        if ((p = agenti_part_open(a, kind, op->key)) == NULL) return -1;
        p->id = ++a->nums->part;
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
    int text = p->kind == AGENT_PART_TEXT;
    agent_event *ev;
    if (agenti_part_delta(a, p, text ? AGENT_EV_TEXT_DELTA : AGENT_EV_REASONING_DELTA)) return 1;      /* what a cancel left unshown */
    agenti_part_close(a, p);
    if (cut) p->flags |= AGENT_PART_CUT;
    ev = agenti_part_event(a, text ? AGENT_EV_TEXT_END : AGENT_EV_REASONING_END, p);
    ev->text = agenti_text_view(&p->text);
    if (cut) ev->flags = AGENT_EVF_CUT;
    return 1;
}
/* A call and its result change their id together or not at all: a pair that does not match spoils every later request. */
static int agenti_call_id(agenti_answer *a, agenti_part *p, agenti_part *r, agent_str id)
{
    agenti_blob **graves = &a->e->graves;
    agenti_text of_call, of_result;
    memset(&of_call, 0, sizeof of_call);
    memset(&of_result, 0, sizeof of_result);
    if (!agenti_text_set(&of_call, a->pool, graves, id)) return 0;
    if (!agenti_text_set(&of_result, a->pool, graves, id)) { agenti_text_free(&of_call, NULL); return 0; }
    agenti_text_free(&p->wire_id, graves);
    agenti_text_free(&r->wire_id, graves);
    p->wire_id = of_call;
    r->wire_id = of_result;
    return 1;
}
static int agenti_call_ids(agenti_answer *a, agenti_part *p, agenti_part *r, agent_str id, agent_str name)
{
    if (id.n && !agenti_call_id(a, p, r, id)) return 0;
    return name.n == 0 || agenti_text_set(&p->name, a->pool, &a->e->graves, name);
}
/* A call and the place of its result come to be together, so that closing never needs memory.                          */
static int agenti_call_add(agenti_answer *a, const agenti_op *op)
{
    char made[40] = "call_local_";            /* an id that no provider makes                                           */
    agenti_part *p, *r;
    agent_str id = op->a;
    int rc;
    if ((rc = agenti_need_msg(a)) != 0) return rc;
    if (a->results == NULL && (a->results = agenti_msg_new(a->pool, AGENT_TOOLS)) == NULL) return -1;
    if (a->results->n >= a->e->lim.calls_per_step) return -2;
    if ((r = agenti_part_new(a->pool, a->results, AGENT_PART_RESULT)) == NULL) return -1;
    r->call = a->nums->call + 1;
    if ((p = agenti_part_open(a, AGENT_PART_CALL, op->key)) == NULL) { a->results->n--; return -1; }
    p->call = r->call;
    r->key = a->msg->n - 1;
    if (id.n == 0) id = agenti_str(made, 11 + agenti_u64_text(p->call, made + 11));
    if (!agenti_call_ids(a, p, r, id, op->b)) {
        agenti_text_free(&p->wire_id, &a->e->graves);
        agenti_text_free(&r->wire_id, &a->e->graves);
        a->msg->n--;
        a->open_n--;
        a->results->n--;
        return -1;
    }
    a->nums->call++;
    p->id = ++a->nums->part;
    r->id = ++a->nums->part;
    return 0;
}
static int agenti_apply_call(agenti_answer *a, const agenti_op *op)
{
    int rc = agenti_call_add(a, op);
    if (rc < 0 && a->results && a->results->n == 0) {        /* no message without parts                                */
        agenti_msg_free(a->pool, a->results, &a->e->graves);
        a->results = NULL;
    }
    return rc;
}
static agenti_part *agenti_result_of(const agenti_answer *a, const agenti_part *call)
{
    return &a->results->parts[call->call - a->results->parts[0].call];       /* they are numbered in a row              */
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
static int agenti_apply_data(agenti_answer *a, const agenti_op *op)
{
    agenti_part *p = agenti_part_find(a, 0, op->key);
    return p == NULL || agenti_text_add(&p->data, a->pool, &a->e->graves, op->a) ? 0 : -1;
}
/* A block that only the provider understands: kept as it came, shown as CUSTOM.                                        */
static int agenti_apply_raw(agenti_answer *a, agenti_op *op)
{
    agenti_part *p;
    agent_event *ev;
    int rc;
    if (op->flags & AGENTI_OP_APPLIED) return 0;
    if ((rc = agenti_need_msg(a)) != 0) return rc;
    if ((p = agenti_part_new(a->pool, a->msg, AGENT_PART_OTHER)) == NULL) return -1;
    if (!agenti_text_set(&p->text, a->pool, &a->e->graves, op->a) || !agenti_text_set(&p->name, a->pool, &a->e->graves, op->b)) {
        agenti_text_free(&p->text, &a->e->graves);
        a->msg->n--;
        return -1;
    }
    op->flags |= AGENTI_OP_APPLIED;
    p->id = ++a->nums->part;
    ev = agenti_part_event(a, AGENT_EV_CUSTOM, p);
    ev->text = agenti_text_view(&p->text);
    ev->name = agenti_text_view(&p->name);
    return 1;
}
static int agenti_apply(agenti_answer *a, agenti_op *op)
{
    agenti_part *p;
    agent_event *ev;
    switch (op->kind) {
    case AGENTI_OP_TEXT: case AGENTI_OP_REASONING: return agenti_apply_text(a, op);
    case AGENTI_OP_CALL: case AGENTI_OP_NAME: case AGENTI_OP_ARGS: return agenti_apply_input(a, op);
    case AGENTI_OP_DATA: return agenti_apply_data(a, op);
    case AGENTI_OP_RAW: return agenti_apply_raw(a, op);
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
    agenti_part_close(a, p);
    if (p->text.n == 0) agenti_text_static(&p->text, &a->e->graves, "{}");
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
    if (a->open_n) {
        agenti_part *p = &a->msg->parts[a->open[0].part];
        return p->kind == AGENT_PART_CALL ? agenti_close_call(a, p, cut) : agenti_close_text(a, p, cut);
    }
    for (i = 0; a->results && !cut && i < a->results->n; i++) {
        agenti_part *p = &a->msg->parts[a->results->parts[i].key];
        if (p->called) continue;
        p->called = 1;
        ev = agenti_part_event(a, AGENT_EV_TOOL_CALL, p);
        ev->text = agenti_text_view(&p->text);
        if (p->flags & AGENT_PART_INVALID) ev->flags = AGENT_EVF_SALVAGED;
        return 1;
    }
    return 0;
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
#endif
