/* From a wire format's ops to parts of messages and to events. Several parts may be open at the same time. */
/* The next event that waiting ops make: 1, 0 none, -1 no memory, -2 over calls_per_step.                               */
AGENTI_FN int  agenti_answer_event(agenti_answer *);
#ifndef AGENT_NO_SHORTCUT
/* The same in one step, without an op, for what comes most: n > 0 bytes of an answer's body begin with an event like the one before, that
 * adds to the part it added to; `room` bytes may be read. 1: its delta was made, -1: no memory; *used says of how many bytes. 2: it is
 * cut, and left, as a->waits says. 0: it is none, and nothing has changed.                                             */
AGENTI_FN int  agenti_answer_again(agenti_answer *, const char *p, size_t n, size_t room, size_t *used);
#endif
/* Ends open parts, one event a call; cut: they were not finished. Needs no memory. 0: all are closed.                  */
AGENTI_FN int  agenti_answer_close(agenti_answer *, int cut);
/* An answer without text: its thoughts become its text as well. 1: TEXT_START was made, 0: there are none, -1: no memory */
AGENTI_FN int  agenti_answer_thoughts_told(agenti_answer *);
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
    } else if (agenti_is_media(p->kind)) {
        ev->u.file.kind = p->kind;
        ev->u.file.mime = agenti_text_view(&p->mime);
        ev->u.file.uri = agenti_text_view(&p->uri);
    }
    return ev;
}
/* The START of a part's kind; DELTA and END follow it in the list of events.                                           */
static int agenti_part_start(const agenti_part *p)
{
    return p->kind == AGENT_PART_TEXT ? AGENT_EV_TEXT_START : p->kind == AGENT_PART_REASONING ? AGENT_EV_REASONING_START : AGENT_EV_FILE_START;
}
/* The next delta of a part, at most limits.piece long and never inside a UTF-8 sequence. 0: all is shown, 2: it was the last one. */
static int agenti_part_delta(agenti_answer *a, agenti_part *p, int type)
{
    size_t n = p->text.n - p->shown;
    if (n == 0) return 0;
    if (n > a->e->lim.piece) n = agenti_utf8_cut(p->text.p + p->shown, n, a->e->lim.piece);
    agenti_part_event(a, type, p)->text = agenti_str(p->text.p + p->shown, n);
    p->shown += n;
    return p->shown == p->text.n ? 2 : 1;
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
static agenti_part *agenti_part_find(const agenti_answer *a, int kind, uint32_t key)
{
    uint32_t i;
    for (i = a->open_n; i-- > 0;) if (a->open[i].key == key && a->open[i].kind == kind) return &a->msg->parts[a->open[i].part];
    return NULL;
}
static int agenti_open_room(agenti_answer *a)
{
    uint32_t cap = a->open_cap ? a->open_cap * 2 : 2;
    agenti_open *o;
    if (a->open_n < a->open_cap) return 1;
    o = (agenti_open *)agenti_resize(a->pool, a->open, a->open_cap * sizeof *o, cap * sizeof *o);
    if (o == NULL) return 0;
    a->open = o;
    a->open_cap = cap;
    return 1;
}
static void agenti_open_add(agenti_answer *a, int kind, uint32_t key, uint32_t part)
{
    agenti_open *o = &a->open[a->open_n++];
    o->key = key;
    o->kind = kind == AGENT_PART_CALL ? AGENTI_OPEN_CALL : kind == AGENT_PART_OTHER ? AGENTI_OPEN_RAN : AGENTI_OPEN_STREAM;
    o->part = part;
}
/* A new part of the message, open; the room in the list of open ones is made first.                                    */
static agenti_part *agenti_part_open(agenti_answer *a, int kind, uint32_t key)
{
    agenti_part *p = agenti_open_room(a) ? agenti_part_new(a->pool, a->msg, kind) : NULL;
    if (p) agenti_open_add(a, kind, key, a->msg->n - 1);
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
    agenti_part *p = agenti_part_find(a, AGENTI_OPEN_STREAM, op->key);
    int rc;
    if (p == NULL) {
        if ((rc = agenti_need_msg(a)) != 0) return rc;
        if ((p = agenti_part_open(a, op->kind == AGENTI_OP_TEXT ? AGENT_PART_TEXT : AGENT_PART_REASONING, op->key)) == NULL) return -1;
        p->id = ++a->nums->part;
        p->flags = op->flags;
        agenti_part_event(a, agenti_part_start(p), p);
        return 1;
    }
    if (!(op->flags & AGENTI_OP_APPLIED)) {
        if (!agenti_text_add(&p->text, a->pool, &a->e->graves, op->a)) return -1;
        op->flags |= AGENTI_OP_APPLIED;
    }
    return agenti_part_delta(a, p, agenti_part_start(p) + 1);
}
#ifdef AGENT_NO_FILES
static int agenti_apply_file(agenti_answer *a, agenti_op *op) { (void)a; (void)op; return 0; }
#else
/* MIME or URI begin a file, FILE adds to it.                                                                           */
static int agenti_apply_file(agenti_answer *a, agenti_op *op)
{
    agenti_part *p = agenti_part_find(a, AGENTI_OPEN_STREAM, op->key);
    int rc;
    if (op->kind == AGENTI_OP_FILE) return p ? agenti_apply_text(a, op) : 0;
    if (p) return 0;
    if ((rc = agenti_need_msg(a)) != 0) return rc;
    if ((p = agenti_part_open(a, op->flags, op->key)) == NULL) return -1;
    if (!agenti_text_set(op->kind == AGENTI_OP_MIME ? &p->mime : &p->uri, a->pool, &a->e->graves, op->a)) {
        a->msg->n--;
        a->open_n--;
        return -1;
    }
    if (op->kind == AGENTI_OP_MIME) p->flags = AGENT_PART_BASE64;
    p->id = ++a->nums->part;
    agenti_part_event(a, AGENT_EV_FILE_START, p);
    return 1;
}
#endif
static int agenti_mark_event(agenti_answer *a, agenti_part *p)
{
    const char *mark = agenti_call_mark(agenti_text_view(&p->text));
    agent_event *ev;
    p->looked = 1;
    if (mark == NULL) return 0;
    ev = agenti_part_event(a, AGENT_EV_WARNING, p);
    ev->text = agenti_cstr(AGENTI_WHY("the text holds a mark of the model's own tool calls; nothing of it is run"));
    ev->name = agenti_cstr(mark);
    return 1;
}
static int agenti_close_text(agenti_answer *a, agenti_part *p, int cut)
{
    agent_event *ev;
    if (agenti_part_delta(a, p, agenti_part_start(p) + 1)) return 1;          /* what a cancel left unshown              */
    if (p->kind == AGENT_PART_TEXT && !p->looked && agenti_mark_event(a, p)) return 1;
    agenti_part_close(a, p);
    if (cut) p->flags |= AGENT_PART_CUT;
    ev = agenti_part_event(a, agenti_part_start(p) + 2, p);
    ev->text = agenti_text_view(&p->text);
    if (cut) ev->flags = AGENT_EVF_CUT;
    return 1;
}
#ifdef AGENT_NO_THINK
static int agenti_has_tags(const agenti_answer *a, const agenti_op *op) { (void)a; (void)op; return 0; }
static int agenti_apply_think(agenti_answer *a, agenti_op *op) { (void)a; (void)op; return 0; }
static int agenti_think_close(agenti_answer *a, int cut) { (void)a; (void)cut; return 0; }
#else
/* ---- text that may begin with <think> ---- */
enum { AGENTI_THOUGHT_KEY = 0x40000000 };     /* the stream of thoughts beside the stream of their text                  */
static void agenti_think_set(agenti_answer *a, int kind, agent_str text)
{
    memset(&a->think_op, 0, sizeof a->think_op);
    a->think_op.kind = (uint8_t)(kind == AGENTI_THINK_THOUGHT ? AGENTI_OP_REASONING : AGENTI_OP_TEXT);
    a->think_op.key = kind == AGENTI_THINK_THOUGHT ? a->think_key | AGENTI_THOUGHT_KEY : a->think_key;
    a->think_op.a = text;
    a->think_shows = 1;
}
/* Shows the piece in think_op; before text the thoughts end. 0: it is shown.                                           */
static int agenti_think_show(agenti_answer *a)
{
    agenti_part *p = a->think_op.kind == AGENTI_OP_TEXT ? agenti_part_find(a, AGENTI_OPEN_STREAM, a->think_key | AGENTI_THOUGHT_KEY) : NULL;
    int rc = p ? agenti_close_text(a, p, 0) : agenti_apply_text(a, &a->think_op);
    if (rc == 0) a->think_shows = 0;
    return rc == 2 ? 1 : rc;                  /* think_op is done, not the decoder's                                    */
}
static int agenti_has_tags(const agenti_answer *a, const agenti_op *op)
{
    if (a->think_key ? a->think_key != op->key : (op->flags & AGENT_PART_REFUSAL) != 0) return 0;
    return a->think_shows || a->think.state != AGENTI_THINK_OFF;
}
static int agenti_apply_think(agenti_answer *a, agenti_op *op)
{
    agent_str out;
    int kind, rc;
    a->think_key = op->key;
    for (;;) {
        if (a->think_shows && (rc = agenti_think_show(a)) != 0) return rc;
        if ((kind = agenti_think_next(&a->think, &op->a, &out)) == AGENTI_THINK_NONE) return 0;
        agenti_think_set(a, kind, out);
    }
}
/* The text is over: what was held back, then the end of its thoughts. 0: all is shown.                                 */
static int agenti_think_close(agenti_answer *a, int cut)
{
    agenti_part *p;
    agent_str out;
    int kind, rc;
    if (a->think_key == 0) return 0;
    if (!a->think_shows && (kind = agenti_think_end(&a->think, &out)) != AGENTI_THINK_NONE) agenti_think_set(a, kind, out);
    if (a->think_shows && (rc = agenti_think_show(a)) != 0) return rc;
    if ((p = agenti_part_find(a, AGENTI_OPEN_STREAM, a->think_key | AGENTI_THOUGHT_KEY)) != NULL) return agenti_close_text(a, p, cut);
    a->think_key = 0;
    return 0;
}
#endif
static int agenti_apply_end(agenti_answer *a, const agenti_op *op)
{
    agenti_part *p;
    int rc = a->think_key == op->key ? agenti_think_close(a, 0) : 0;
    if (rc) return rc;
    return (p = agenti_part_find(a, AGENTI_OPEN_STREAM, op->key)) != NULL ? agenti_close_text(a, p, 0) : 0;
}

/* ---- calls ---- */
static int agenti_id_taken(const agenti_answer *a, const agenti_part *r, agent_str id)
{
    uint32_t i;
    for (i = 0; i < a->results->n; i++) {
        const agenti_part *q = &a->results->parts[i];
        if (q != r && q->wire_id.n == id.n && memcmp(q->wire_id.p, id.p, id.n) == 0) return 1;
    }
    return 0;
}
/* A call and its result change their id together or not at all: a pair that does not match spoils every later request. An id that
 * another call of the answer has gets a number (wire-quirks C23); agenti_wire_id takes it off again.                   */
static int agenti_call_id(agenti_answer *a, agenti_part *p, agenti_part *r, agent_str id)
{
    agenti_blob **graves = &a->e->graves;
    agenti_text of_call, of_result;
    agenti_buf b;
    char number[24];
    uint32_t n = a->results->n;
    int apart = 0, ok;
    memset(&of_call, 0, sizeof of_call);
    memset(&of_result, 0, sizeof of_result);
    agenti_buf_init(&b, a->pool);
    agenti_buf_add(&b, id.p, id.n);
    while (!b.bad && agenti_id_taken(a, r, agenti_str(b.p, b.n))) {
        apart = 1;
        b.n = id.n;
        agenti_buf_str(&b, "_");
        agenti_buf_add(&b, number, agenti_u64_text(n++, number));
    }
    ok = !b.bad && agenti_text_set(&of_call, a->pool, graves, agenti_str(b.p, b.n)) && agenti_text_set(&of_result, a->pool, graves, agenti_str(b.p, b.n));
    agenti_buf_free(&b);
    if (!ok) { agenti_text_free(&of_call, NULL); return 0; }
    agenti_text_free(&p->wire_id, graves);
    agenti_text_free(&r->wire_id, graves);
    p->wire_id = of_call;
    r->wire_id = of_result;
    p->flags = (uint16_t)(apart ? p->flags | AGENTI_PART_APART : p->flags & ~AGENTI_PART_APART);
    r->flags = (uint16_t)(apart ? r->flags | AGENTI_PART_APART : r->flags & ~AGENTI_PART_APART);
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
    if (op->a.n == 0) {                       /* our own id is sent as it is                                            */
        p->flags &= (uint16_t)~AGENTI_PART_APART;
        r->flags &= (uint16_t)~AGENTI_PART_APART;
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
    uint32_t lo = 0, hi = a->results->n;      /* their numbers rise                                                     */
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (a->results->parts[mid].call <= call->call) lo = mid; else hi = mid;
    }
    return &a->results->parts[lo];
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
/* All of the arguments: what was not shown yet is new. Where they are told otherwise than they came, what came counts.  */
static int agenti_args_set(agenti_answer *a, agenti_part *p, agent_str s)
{
    size_t have = p->text.n;
    AGENTI_TOUCH(s.n);
    if (s.n > a->e->lim.item) { p->flags |= AGENT_PART_CUT | AGENT_PART_INVALID; return 1; }
    if (have >= s.n || (have && memcmp(s.p, p->text.p, have) != 0)) return 1;
    return agenti_text_add(&p->text, a->pool, &a->e->graves, agenti_str(s.p + have, s.n - have));
}
static int agenti_apply_input(agenti_answer *a, agenti_op *op)
{
    agenti_part *p = agenti_part_find(a, AGENTI_OPEN_CALL, op->key);
    int rc;
    if (op->kind == AGENTI_OP_CALL && p == NULL) {
        if ((rc = agenti_apply_call(a, op)) != 0) return rc;
        p = agenti_part_find(a, AGENTI_OPEN_CALL, op->key);
    }
    if (p == NULL) return 0;
    if (!(op->flags & AGENTI_OP_APPLIED)) {
        op->flags |= AGENTI_OP_APPLIED;
        if (op->kind == AGENTI_OP_NAME && !agenti_call_ids(a, p, agenti_result_of(a, p), op->a, op->b)) return -1;
        if (op->kind == AGENTI_OP_ARGS && !(op->flags & AGENTI_ARGS_WHOLE ? agenti_args_set(a, p, op->a) : agenti_args_add(a, p, op->a))) return -1;
    }
    return agenti_show_call(a, p);
}
static int agenti_apply_data(agenti_answer *a, const agenti_op *op)
{
    agenti_part *p = agenti_part_find(a, op->flags & AGENTI_DATA_CALL ? AGENTI_OPEN_CALL : AGENTI_OPEN_STREAM, op->key);
    if (p && op->a.n > a->e->lim.item - p->data.n) {
        agenti_answer_fault(a, AGENT_FAULT_LIMIT, 0, AGENTI_WHY("what goes back with a part is longer than limits.item"));
        return 0;
    }
    return p == NULL || agenti_text_add(&p->data, a->pool, &a->e->graves, op->a) ? 0 : -1;
}
#ifndef AGENTI_BLOCKS
static int agenti_apply_raw(agenti_answer *a, agenti_op *op) { (void)a; (void)op; return 0; }
static int agenti_apply_ran(agenti_answer *a, agenti_op *op) { (void)a; (void)op; return 0; }
static int agenti_apply_result(agenti_answer *a, agenti_op *op) { (void)a; (void)op; return 0; }
static int agenti_close_ran(agenti_answer *a, agenti_part *p) { (void)a; (void)p; return 0; }
#else
static int agenti_custom_event(agenti_answer *a, const agenti_part *p)
{
    agent_event *ev = agenti_part_event(a, AGENT_EV_CUSTOM, p);
    ev->text = agenti_text_view(&p->text);
    ev->name = agenti_text_view(&p->name);
    return 1;
}
/* A block that only the provider understands: kept as it came, shown as CUSTOM.                                        */
static int agenti_apply_raw(agenti_answer *a, agenti_op *op)
{
    agenti_part *p;
    int rc;
    if (op->flags & AGENTI_OP_APPLIED) return 0;
    if ((rc = agenti_need_msg(a)) != 0) return rc;
    if ((p = agenti_part_new(a->pool, a->msg, AGENT_PART_OTHER)) == NULL) return -1;
    if (!agenti_text_set(&p->text, a->pool, &a->e->graves, op->a) || !agenti_text_set(&p->name, a->pool, &a->e->graves, op->b)) {
        agenti_text_free(&p->text, &a->e->graves);
        a->msg->n--;
        return -1;
    }
    p->id = ++a->nums->part;
    if (op->flags & AGENTI_RAW_QUIET) { op->flags |= AGENTI_OP_APPLIED; return 0; }
    op->flags |= AGENTI_OP_APPLIED;
    return agenti_custom_event(a, p);
}
/* Calls that the provider runs are parts of kind OTHER, open until their result comes: `title` is the tool.            */
static agent_event *agenti_ran_event(agenti_answer *a, int type, const agenti_part *call, const agenti_part *p)
{
    agent_event *ev = agenti_part_event(a, type, p);
    ev->call = call->call;
    ev->name = agenti_text_view(&call->title);
    ev->u.tool.wire_id = agenti_text_view(&call->wire_id);
    ev->u.tool.title = agenti_str(NULL, 0);
    ev->u.tool.by = AGENT_BY_PROVIDER;
    return ev;
}
/* The calls since the user spoke that wait for a result, as they may beyond a pause and the results of the host's calls. With an id
 * that it has, the first such call has got it: 1. Else how many there are.                                             */
static uint32_t agenti_waiting(const agenti_answer *a, const agent_str *id)
{
    size_t i = a->table ? a->table->n : 0;
    uint32_t n = 0, *at;
    while (i-- > 0 && a->table->msgs[i]->role != AGENT_USER) {
        agenti_msg *m = a->table->msgs[i];
        for (at = &m->waits; *at; at = &m->parts[*at - 1].key, n++) {
            const agenti_part *p = &m->parts[*at - 1];
            if (id == NULL || p->wire_id.n != id->n || memcmp(p->wire_id.p, id->p, id->n) != 0) continue;
            *at = p->key;
            return 1;
        }
    }
    return id ? 0 : n;
}
static uint32_t agenti_ran_open(const agenti_answer *a)
{
    uint32_t i, n = 0;
    for (i = 0; i < a->open_n; i++) n += a->open[i].kind == AGENTI_OPEN_RAN;
    return n;
}
static int agenti_apply_ran(agenti_answer *a, agenti_op *op)
{
    agenti_part *p = &a->msg->parts[a->msg->n - 1];
    if (op->flags & AGENTI_OP_APPLIED) return 0;
    p->flags = AGENT_PART_CUT;                /* nobody waits for its result yet: it would not be sent                   */
    if (agenti_ran_open(a) + agenti_waiting(a, NULL) >= a->e->lim.calls_per_step) return -2;
    if (!agenti_open_room(a)) return -1;
    if (!agenti_text_set(&p->wire_id, a->pool, &a->e->graves, op->a) || !agenti_text_set(&p->title, a->pool, &a->e->graves, op->b)) return -1;
    op->flags |= AGENTI_OP_APPLIED;
    p->flags = 0;
    p->call = ++a->nums->call;
    agenti_open_add(a, AGENT_PART_OTHER, 0, a->msg->n - 1);
    agenti_ran_event(a, AGENT_EV_TOOL_CALL, p, p)->text = op->c;
    return 1;
}
/* The result of a call of this answer; of one before a pause it was said that none came.                               */
static int agenti_apply_result(agenti_answer *a, agenti_op *op)
{
    agenti_part *p = &a->msg->parts[a->msg->n - 1], *call;
    uint32_t i;
    agent_event *ev;
    if (op->flags & AGENTI_OP_APPLIED) return 0;
    op->flags |= AGENTI_OP_APPLIED;
    for (i = 0; i < a->open_n; i++) {
        call = &a->msg->parts[a->open[i].part];
        if (a->open[i].kind != AGENTI_OPEN_RAN || call->wire_id.n != op->a.n || memcmp(call->wire_id.p, op->a.p, op->a.n) != 0) continue;
        agenti_part_close(a, call);
        ev = agenti_ran_event(a, AGENT_EV_TOOL_RESULT, call, p);
        ev->text = op->c;
        ev->u.tool.status = op->flags & AGENT_PART_ERROR ? AGENT_DONE_ERROR : AGENT_DONE_OK;
        return 1;
    }
    if (!agenti_waiting(a, &op->a)) p->flags |= AGENT_PART_CUT;      /* without its call it would be refused           */
    return agenti_custom_event(a, p);
}
#endif
static int agenti_apply_news(agenti_answer *a, agenti_op *op)
{
    agent_event *ev;
    if (op->flags & AGENTI_OP_APPLIED) return 0;
    op->flags |= AGENTI_OP_APPLIED;
    ev = agenti_event(a->e, op->kind == AGENTI_OP_SOURCE ? AGENT_EV_SOURCE : op->kind == AGENTI_OP_NEWS ? AGENT_EV_CUSTOM
                          : op->kind == AGENTI_OP_MODELS ? AGENT_EV_MODELS : AGENT_EV_WARNING);
    ev->text = op->a;
    ev->name = op->b;
    return 1;
}
static int agenti_apply(agenti_answer *a, agenti_op *op)      /* as agenti_answer_event, or 2: an event, and the op is done */
{
    switch (op->kind) {
    case AGENTI_OP_TEXT:
        return agenti_has_tags(a, op) ? agenti_apply_think(a, op) : agenti_apply_text(a, op);
    case AGENTI_OP_REASONING: return agenti_apply_text(a, op);
    case AGENTI_OP_MIME: case AGENTI_OP_URI: case AGENTI_OP_FILE: return agenti_apply_file(a, op);
    case AGENTI_OP_CALL: case AGENTI_OP_NAME: case AGENTI_OP_ARGS: return agenti_apply_input(a, op);
    case AGENTI_OP_DATA: return agenti_apply_data(a, op);
    case AGENTI_OP_RAW: return agenti_apply_raw(a, op);
    case AGENTI_OP_RAN: return agenti_apply_ran(a, op);
    case AGENTI_OP_RESULT: return agenti_apply_result(a, op);
    case AGENTI_OP_END: return agenti_apply_end(a, op);
    default: return agenti_apply_news(a, op);
    }
}
AGENTI_FN int agenti_answer_event(agenti_answer *a)
{
    agenti_decoder *d = &a->d;
    int rc = 0;
    while (d->op_at < d->op_n && (rc = agenti_apply(a, &d->ops[d->op_at])) == 0) d->op_at++;
    if (rc == 2) { d->op_at++; rc = 1; }      /* events view the part, not the op                                       */
    if (d->op_n && d->op_at == d->op_n) {
        d->op_n = d->op_at = 0;
        if (d->arena.top) agenti_arena_reset(&d->arena);
    }
    return rc;
}
#ifndef AGENT_NO_SHORTCUT
/* Whether such an op does no more than to append its text, at most n bytes, to the part, and to show it.                */
static int agenti_part_grows(const agenti_answer *a, const agenti_part *p, const agenti_op *op, size_t n)
{
    if (p == NULL || p->shown != p->text.n) return 0;
    if (op->kind == AGENTI_OP_TEXT) return !agenti_has_tags(a, op);
    if (op->kind == AGENTI_OP_REASONING) return 1;
    return op->flags == 0 && p->started && n < p->text.n && n <= a->e->lim.item - p->text.n;
}
/* Appends n bytes at p, of which there are `room`, and makes the delta of just these. 0: no memory                      */
static int agenti_part_more(agenti_answer *a, agenti_part *p, int type, agent_str s, size_t room)
{
    agenti_text *t = &p->text;
    agent_event *ev = &a->e->ev;
    if (!t->borrowed && s.n <= 16 && room >= 16 && agenti_blob_cap(t->p) - t->n > 16) {
        memcpy(t->p + t->n, s.p, 16);
        AGENTI_TOUCH(16);
        t->p[t->n += s.n] = 0;
    } else if (!agenti_text_add(t, a->pool, &a->e->graves, s)) return 0;
    p->shown = t->n;
    if (!a->e->ev_plain || ev->type != type) ev = agenti_part_event(a, type, p);
    else if (type == AGENT_EV_INPUT_DELTA) {
        ev->name.p = p->name.p;
        ev->name.n = p->name.n;
        ev->u.tool.wire_id.p = p->wire_id.p;
        ev->u.tool.wire_id.n = p->wire_id.n;
    }
    a->e->ev_plain = 1;
    ev->at_ms = a->e->now;
    ev->msg = a->msg->id;
    ev->part = p->id;
    ev->call = p->call;
    ev->text.p = t->p + t->n - s.n;
    ev->text.n = s.n;
    return 1;
}
AGENTI_FN int agenti_answer_again(agenti_answer *a, const char *p, size_t n, size_t room, size_t *used)
{
    agent_limits *lim = &a->e->lim;
    const agenti_op *op;
    agenti_part *part;
    agenti_hit hit;
    size_t k;
    if (a->mode != AGENTI_MODE_SSE || a->d.op_n || a->ending || a->split || a->shortcut.off || !agenti_sse_fresh(&a->sse)) return 0;
    memset(&hit, 0, sizeof hit);
    k = agenti_shortcut_again(&a->shortcut, p, n, room, lim->piece < lim->item ? lim->piece : lim->item, a->sse.cr, &op, &hit);
    if (k == 0) return agenti_shortcut_begins(&a->shortcut, p, n, a->sse.cr) && agenti_answer_hold(a, n) ? 2 : 0;
    part = agenti_part_find(a, op->kind == AGENTI_OP_ARGS ? AGENTI_OPEN_CALL : AGENTI_OPEN_STREAM, op->key);
    if (!agenti_part_grows(a, part, op, hit.text.n)) return 0;
    agenti_shortcut_took(&a->shortcut, &a->sse.cr);
    a->waits = a->waited = 0;
    a->sse.offset += k;
    a->offset += k;
    a->mark = a->offset;
    a->events++;
    *used = k;
    room -= (size_t)(hit.text.p - p);
    return agenti_part_more(a, part, op->kind == AGENTI_OP_ARGS ? AGENT_EV_INPUT_DELTA : agenti_part_start(part) + 1, agenti_hit_text(&hit), room) ? 1 : -1;
}
#endif
#ifdef AGENT_NO_MENDING
static size_t agenti_objects(const agenti_answer *a, agent_str s, uint32_t *count) { (void)a; (void)s; (void)count; return 0; }
static int agenti_call_split(agenti_answer *a, uint32_t at, size_t first) { (void)a; (void)at; (void)first; return 0; }
#else
/* Objects one behind the other in the arguments are as many calls (wire-quirks C17). The length of the first one; 0: they are none. */
static size_t agenti_objects(const agenti_answer *a, agent_str s, uint32_t *count)
{
    enum { MOST = 1024 };
    size_t first = 0, n;
    for (*count = 0; s.n; ++*count) {
        if (s.p[0] != '{' || (n = agenti_json_skip(s.p, s.n)) < 2 || agent_json_check(s.p, n, a->e->lim.depth, NULL) != AGENT_OK) return 0;
        if (*count == 0) first = n;
        s = agenti_trim(agenti_str(s.p + n, s.n - n));
    }
    return *count > 1 && *count <= MOST && *count <= a->e->lim.calls_per_step - a->results->n + 1 ? first : 0;
}
/* Takes back the last call that was added: nothing of it was shown.                                                     */
static void agenti_call_undo(agenti_answer *a)
{
    agenti_part *p = &a->msg->parts[--a->msg->n], *r = &a->results->parts[--a->results->n];
    agenti_text_free(&p->wire_id, &a->e->graves);
    agenti_text_free(&p->name, &a->e->graves);
    agenti_text_free(&p->text, &a->e->graves);
    agenti_text_free(&r->wire_id, &a->e->graves);
    a->open_n--;
    a->nums->call--;
    a->nums->part -= 2;
}
/* The first object stays with the call at `at`, the others become calls of the same name that close after it. 0: no memory, and the
 * call stays as it was.                                                                                                */
static int agenti_call_split(agenti_answer *a, uint32_t at, size_t first)
{
    agent_str all = agenti_text_view(&a->msg->parts[at].text), rest = agenti_trim(agenti_str(all.p + first, all.n - first));
    agenti_op op;
    uint32_t added = 0;
    size_t n;
    int ok = 1;
    memset(&op, 0, sizeof op);
    while (ok && rest.n) {
        n = agenti_json_skip(rest.p, rest.n);
        op.a = agenti_text_view(&a->msg->parts[at].wire_id);
        op.b = agenti_text_view(&a->msg->parts[at].name);
        op.key = 0x20000000u + a->results->n;        /* no key of a wire format's                                       */
        if ((ok = agenti_call_add(a, &op) == 0) == 0) break;
        added++;
        a->msg->parts[a->msg->n - 1].flags = 0;      /* the id's number stays: the call is our own                      */
        a->results->parts[a->results->n - 1].flags = 0;
        ok = agenti_text_set(&a->msg->parts[a->msg->n - 1].text, a->pool, &a->e->graves, agenti_str(rest.p, n));
        rest = agenti_trim(agenti_str(rest.p + n, rest.n - n));
    }
    ok = ok && agenti_text_set(&a->msg->parts[at].text, a->pool, &a->e->graves, agenti_str(all.p, first));
    while (!ok && added-- > 0) agenti_call_undo(a);
    return ok;
}
#endif
static int agenti_close_call(agenti_answer *a, agenti_part *p, int cut)
{
    uint32_t at, count;
    size_t first;
    agent_event *ev;
    if (p->name.n == 0) agenti_text_static(&p->name, &a->e->graves, "unknown");
    if (agenti_show_call(a, p)) return 1;
    agenti_part_close(a, p);
    if (p->text.n == 0) agenti_text_static(&p->text, &a->e->graves, "{}");
    if (p->text.p[0] != '{' || agent_json_check(p->text.p, p->text.n, a->e->lim.depth, NULL) != AGENT_OK) p->flags |= AGENT_PART_INVALID;
    if (cut) p->flags |= AGENT_PART_CUT;
    ev = agenti_part_event(a, AGENT_EV_INPUT_END, p);
    ev->text = agenti_text_view(&p->text);
    at = (uint32_t)(p - a->msg->parts);
    first = p->flags == AGENT_PART_INVALID ? agenti_objects(a, ev->text, &count) : 0;
    if (first && agenti_call_split(a, at, first)) a->msg->parts[at].flags = 0;
    p = &a->msg->parts[at];
    ev->flags = (uint16_t)((p->flags & AGENT_PART_INVALID ? AGENT_EVF_SALVAGED : 0) | (p->flags & AGENT_PART_CUT ? AGENT_EVF_CUT : 0));
    return 1;
}
#ifdef AGENTI_BLOCKS
static int agenti_close_ran(agenti_answer *a, agenti_part *p)                  /* its result comes after a pause, or never */
{
    agenti_part_close(a, p);
    p->key = a->msg->waits;
    a->msg->waits = (uint32_t)(p - a->msg->parts) + 1;
    agenti_ran_event(a, AGENT_EV_TOOL_RESULT, p, p)->u.tool.status = AGENT_DONE_NOT_RUN;
    return 1;
}
#endif
AGENTI_FN int agenti_answer_close(agenti_answer *a, int cut)
{
    agent_event *ev;
    uint32_t i;
    int rc = a->think_key ? agenti_think_close(a, cut) : 0;
    if (rc > 0) return 1;
    if (rc < 0) a->think_shows = 0;           /* no memory: what was held back is lost                                  */
    if (a->open_n) {
        agenti_part *p = &a->msg->parts[a->open[0].part];
        if (p->kind == AGENT_PART_CALL) return agenti_close_call(a, p, cut);
        return a->open[0].kind == AGENTI_OPEN_RAN ? agenti_close_ran(a, p) : agenti_close_text(a, p, cut);
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
AGENTI_FN int agenti_answer_thoughts_told(agenti_answer *a)
{
    enum { KEY = 0x08000000 };                /* of no other stream                                                     */
    uint32_t i, n = a->msg ? a->msg->n : 0;
    agenti_part *p;
    int any = 0;
    for (i = 0; i < n; i++) any |= a->msg->parts[i].kind == AGENT_PART_REASONING && a->msg->parts[i].text.n;
    if (!any) return 0;
    if ((p = agenti_part_open(a, AGENT_PART_TEXT, KEY)) == NULL) return -1;
    for (i = 0; i < n; i++) {
        const agenti_part *thought = &a->msg->parts[i];
        if (thought->kind != AGENT_PART_REASONING || agenti_text_add(&p->text, a->pool, &a->e->graves, agenti_text_view(&thought->text))) continue;
        agenti_text_free(&p->text, &a->e->graves);
        a->msg->n--;
        a->open_n--;
        return -1;
    }
    p->id = ++a->nums->part;
    agenti_part_event(a, AGENT_EV_TEXT_START, p);
    return 1;
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
    ev->u.error.request_id = agenti_text_view(&a->d.request_id);
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
    ev->u.end.model = agenti_text_view(&a->d.model);
    ev->u.end.request_id = agenti_text_view(&a->d.request_id);
    ev->u.end.headers = agenti_text_view(&a->limits);
    return ev;
}
#endif
