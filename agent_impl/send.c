/* The request of a step: from the table, the options and the tools to the bytes of a connection. */
AGENTI_FN void agenti_answer_begin(agenti_session *);         /* forgets the last answer, for another one               */
AGENTI_FN int  agenti_step_send(agenti_session *);            /* of state SEND                                          */
AGENTI_FN void agenti_run_fault(agenti_session *, int fault, int retryable, const char *why);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_SEND
AGENTI_FN void agenti_run_fault(agenti_session *s, int fault, int retryable, const char *why)
{
    agenti_answer_fault(&s->answer, fault, retryable, why);
    s->answer.d.fault.http_status = 0;
}

AGENTI_FN void agenti_answer_begin(agenti_session *s)
{
    agenti_answer_free(&s->answer);
    agenti_answer_start(&s->answer, s->e, &s->pool, s->peer->wire, s->peer->dialect);
    s->answer.table = &s->table;
    s->answer.nums = &s->nums;
    s->answer.run = s->nums.run;
    s->answer.model = s->model;
#ifndef AGENT_NO_THINK
    if (s->flags & (AGENT_S_THINK_TAGS | AGENT_S_THINK_OPEN)) agenti_think_start(&s->answer.think, (s->flags & AGENT_S_THINK_OPEN) != 0);
#endif
}
static void agenti_request_of(agenti_session *s, agenti_request *r)
{
    size_t i;
    int option;
    memset(r, 0, sizeof *r);
    r->options = s->options;
    r->tools = s->tools.p;
    r->tool_count = s->tools.n;
    r->extra = agenti_text_view(&s->peer->extra);
    r->dialect = s->dialect = s->peer->dialect;
    s->key_count = s->peer->key_count;
    r->system_raw = s->imported == s->peer->wire ? agenti_text_view(&s->system_raw) : agenti_str(NULL, 0);
    r->wire = s->peer->wire;
    r->model = s->model;
    r->stream = !(s->flags & AGENT_S_NO_STREAM);
    for (option = 0; option < AGENTI_OPT_COUNT; option++)
        if (s->options[option].n && (s->peer->wire->lacks & AGENTI_BIT(option))) r->left_out |= AGENTI_BIT(option);
    for (i = 0; i < s->tools.n; i++)
        if (s->tools.p[i].flags & AGENT_TF_STRICT) r->left_out |= s->peer->wire->lacks & AGENTI_BIT(AGENTI_LEFT_STRICT);
    r->stateful = agenti_eq(agenti_text_view(&s->options[AGENTI_OPT_STATEFUL]), "true");
    if (r->stateful && s->peer->wire->previous == NULL) { r->stateful = 0; r->left_out |= AGENTI_BIT(AGENTI_OPT_STATEFUL); }
    r->tools_off = s->closing;
    r->choice_off = s->choice_spent;
    if (s->closing) r->note = "The limit of steps is reached. Call no more tools. Say in text what is done, what remains and what should come next.";
}
/* Where the provider keeps its answers: the messages behind the last one that it has whole. 1: it goes on from that one. */
static size_t agenti_kept_answer(const agenti_session *s)    /* its place in the table, from 1; 0: there is none        */
{
    size_t i = s->table.n;
    while (i > 0) {
        const agenti_msg *m = s->table.msgs[i - 1];
        if (m->answer_id.n && m->model == s->model) return i;
        i--;
    }
    return 0;
}
static void agenti_news_out(agenti_session *s, agenti_request *r, agenti_buf *b, size_t from)
{
    size_t i;
    r->state = 0;
    for (i = from; i < s->table.n; i++) {
        r->before = s->table.msgs[i - 1];
        agenti_message_out(b, r, s->table.msgs[i]);
    }
}
/* Serialises what is new in the table. 0: no memory; what was there stays good.                                        */
static int agenti_log_sync(agenti_session *s, agenti_request *r)
{
    const agenti_wire *w = s->peer->wire;
    agenti_buf b;
    int ok = 1;
    if (s->old_log) { agenti_log_free(&s->log); s->old_log = 0; }
    r->state = s->log.state;
    agenti_buf_init(&b, &s->pool);
    if (w->system && s->log.total == 0 && s->log.msgs == 0 && (s->options[AGENTI_OPT_SYSTEM].n || r->system_raw.n)) {
        w->system(&b, r, agenti_text_view(&s->options[AGENTI_OPT_SYSTEM]));
        ok = agenti_log_add(&s->log, &b);
        if (ok) s->log.state = r->state;
    }
    while (ok && s->log.msgs < s->table.n) {
        b.n = 0;
        r->before = s->log.msgs ? s->table.msgs[s->log.msgs - 1] : NULL;
        agenti_message_out(&b, r, s->table.msgs[s->log.msgs]);
        ok = agenti_log_add(&s->log, &b);
        if (!ok) break;
        s->log.msgs++;
        s->log.state = r->state;
    }
    agenti_buf_free(&b);
    return ok;
}
static int agenti_tools_sync(agenti_session *s, const agenti_request *r)
{
    agenti_buf b;
    int ok;
    if (s->tools_json.p || s->tools.n == 0) return 1;
    agenti_buf_init(&b, &s->pool);
    s->peer->wire->tools(&b, r);
    ok = !b.bad && agenti_text_set(&s->tools_json, &s->pool, &s->e->graves, agenti_str(b.p, b.n));
    agenti_buf_free(&b);
    return ok;
}
static int agenti_head_write(agenti_session *s, agenti_conn *c, int whole)
{
    const agenti_wire *w = s->peer->wire;
    agenti_buf path;
    int ok;
    agenti_buf_init(&path, &s->e->pool);
    agenti_url_expand(&path, whole && w->whole_path ? w->whole_path : w->path, agenti_text_view(&s->options[AGENTI_OPT_MODEL]));
    ok = !path.bad && agenti_conn_head_write(c, "POST", path.p);
    agenti_buf_free(&path);
    return ok;
}
static AGENTI_NOINLINE int agenti_request_body(agenti_session *s, agenti_conn *c, agent_str extra)
{
    const agenti_wire *w = s->peer->wire;
    agenti_out *o = &c->out;
    agenti_request r;
    size_t from;
    agenti_request_of(s, &r);
    if (extra.n) r.extra = extra;
    from = r.stateful && !agenti_replaced(&r, w->previous) ? agenti_kept_answer(s) : 0;
    if (from) r.previous = agenti_text_view(&s->table.msgs[from - 1]->answer_id);
    s->went_on = from > 0;
    s->stateful = (uint8_t)r.stateful;
    if ((!from && !agenti_log_sync(s, &r)) || !agenti_tools_sync(s, &r)) return 0;
    w->head(&o->text, &r);
    if (from) agenti_news_out(s, &r, &o->text, from);
    s->left_out = (s->left_out & ~(AGENTI_BIT(AGENTI_OPT_COUNT) - 1)) | (r.left_out & ~s->told_out);
    if (!agenti_out_piece(o, NULL, 0) || (!from && !agenti_out_log(o, &s->log))) return 0;
    w->tail(&o->text, &r);
    if (!agenti_out_piece(o, NULL, 0)) return 0;
    if (s->tools_json.n && !agenti_out_piece(o, s->tools_json.p, s->tools_json.n)) return 0;
    w->end(&o->text, &r);
    if (!agenti_out_piece(o, NULL, 0)) return 0;
    return agenti_peer_headers(s->peer, &c->lines, r.stream) && agenti_head_write(s, c, !r.stream) && agenti_out_ready(o, s->peer->signs);
}
static int agenti_request_write(agenti_session *s, agenti_conn *c)
{
    agenti_buf extra;
    int ok;
    agenti_buf_init(&extra, &s->pool);
    if (s->imported == s->peer->wire && s->kept_n) agenti_kept_out(s, s->peer->wire, &extra);
    ok = !extra.bad && agenti_request_body(s, c, agenti_str(extra.p, extra.n));
    agenti_buf_free(&extra);
    return ok;
}
AGENTI_FN int agenti_step_send(agenti_session *s)
{
    agenti_conn *c = agenti_conn_get(s->e, s->drain);
    agenti_exchange x;
    if (s->cancelling) { s->state = AGENTI_S_PARTS; return AGENTI_AGAIN; }
    if (!agenti_peer_key_there(s->peer)) return AGENTI_PUMP_NONE;
    if (c && c->state == AGENTI_CONN_DRAIN && c->via == AGENT_VIA_BYTES && !s->fresh) c->waiter = &s->ready;
    if (c && c->waiter == &s->ready) return AGENTI_PUMP_NONE;
    s->drain = 0;
    c = s->fresh ? NULL : agenti_conn_reuse(s->peer);
    if (c == NULL && (c = agenti_conn_new(s->e, s->peer)) == NULL) {
        int full = s->e->slots[AGENTI_CONN].live >= s->e->lim.conns;
        if (full && (c = agenti_conn_leaving(s->e)) != NULL) {
            c->waiter = &s->ready;
            s->drain = c->id;
            return AGENTI_PUMP_NONE;
        }
        agenti_run_fault(s, full ? AGENT_FAULT_LIMIT : AGENT_FAULT_NOMEM, 0, s->e->last);
        s->state = AGENTI_S_PARTS;
        return AGENTI_AGAIN;
    }
    s->fresh = 0;
    if (!agenti_request_write(s, c)) {
        agenti_conn_abort(c);
        agenti_run_fault(s, AGENT_FAULT_NOMEM, 0, "out of memory for the request");
        s->state = AGENTI_S_PARTS;
        return AGENTI_AGAIN;
    }
    memset(&x, 0, sizeof x);
    x.session = s->id;
    x.user = s->user;
    x.seq = &s->seq;
    x.nums = &s->nums;
    x.ready = &s->ready;
    x.answer = &s->answer;
    s->conn = c;
    s->state = AGENTI_S_ANSWER;
    agenti_conn_begin(c, &x, s->nums.run, s->steps);
    return AGENTI_AGAIN;
}
#endif
