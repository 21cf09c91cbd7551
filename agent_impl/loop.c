/* The loop: a run is one or more steps, a step is one model call and its tools. Every state makes at most one event and moves on,
 * so a run can stop between any two of them. What closes brackets needs no memory. */
enum { AGENTI_PUMP_GONE = -1, AGENTI_PUMP_NONE, AGENTI_PUMP_EVENT,       /* GONE: the session is freed               */
       AGENTI_AGAIN };                        /* inside: a state made no event, go on with the next one                 */
AGENTI_FN int agenti_session_pump(agenti_session *);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_LOOP
static agent_event *agenti_sign(agenti_session *s, agent_event *ev)
{
    ev->session = s->id;
    ev->peer = s->peer->id;
    ev->user = s->user;
    ev->run = s->nums.run;
    ev->step = s->steps;
    ev->seq = ++s->seq;
    return ev;
}
static agent_event *agenti_session_event(agenti_session *s, int type) { return agenti_sign(s, agenti_event(s->e, type)); }
static int agenti_msg_event(agenti_session *s, int type, const agenti_msg *m)
{
    agent_event *ev = agenti_session_event(s, type);
    ev->msg = m->id;
    ev->u.msg.role = m->role;
    return AGENTI_PUMP_EVENT;
}
/* All texts as one, for as long as the event; when there is no memory for that, the first one.                         */
static agent_str agenti_msg_text(agenti_session *s, const agenti_msg *m)
{
    size_t n = 1;
    uint32_t i;
    char *p = NULL;
    uint32_t texts = 0, first = 0;
    for (i = m->n; i-- > 0;) if (m->parts[i].kind == AGENT_PART_TEXT) {
        texts++;
        first = i;
        if (!agenti_add(n, m->parts[i].text.n, &n)) return agenti_str(NULL, 0);
    }
    if (texts > 1) p = agenti_blob_get(&s->pool, n);
    if (p == NULL) return texts ? agenti_text_view(&m->parts[first].text) : agenti_str(NULL, 0);
    for (i = 0, n = 0; i < m->n; i++) if (m->parts[i].kind == AGENT_PART_TEXT) {
        memcpy(p + n, m->parts[i].text.p, m->parts[i].text.n);
        n += m->parts[i].text.n;
    }
    AGENTI_TOUCH(n);
    p[n] = 0;
    agenti_blob_bury(&s->e->graves, p);
    return agenti_str(p, n);
}
static int agenti_queued_event(agenti_session *s, const agenti_item *it, int op)
{
    agent_event *ev = agenti_session_event(s, AGENT_EV_QUEUED);
    if (!s->running) ev->run = ev->step = 0;
    ev->u.queued.item = it->num;
    ev->u.queued.op = op;
    if (it->msg) ev->text = agenti_msg_text(s, it->msg);
    return AGENTI_PUMP_EVENT;
}
static void agenti_run_fault(agenti_session *s, int fault, int retryable, const char *why)
{
    agenti_answer_fault(&s->answer, fault, retryable, why);
    s->answer.d.fault.http_status = 0;
}

/* ---- the request ---- */
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
static int agenti_step_send(agenti_session *s)
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
/* One WARNING for each thing that was asked for and is not in the request, or not in what agent_export gave.            */
static int agenti_left_event(agenti_session *s, int bit)
{
    static const char *const why[] = {
        "reasoning of another model was left out of the request", "a file that the provider does not take was left out of the request",
        "there are more prompt cache marks than the provider takes", "tools were left out of the request: this format has none",
        "a tool is sent without its flag STRICT: this format has none",
        "what only the format of an import has in messages and their parts was left out of the request"
    };
    agent_event *ev = agenti_session_event(s, AGENT_EV_WARNING);
    if (bit < AGENTI_OPT_COUNT) {
        ev->text = agenti_cstr("the provider does not take this option, or not beside the others: it was not sent");
        ev->name = agenti_cstr(agenti_option_key(bit));
    } else ev->text = agenti_cstr(why[bit - AGENTI_OPT_COUNT]);
    if (bit == AGENTI_LEFT_STRICT) ev->name = agenti_cstr("strict");
    return AGENTI_PUMP_EVENT;
}
static int agenti_lowest(uint32_t bits)
{
    int bit = 0;
    while (!(bits & AGENTI_BIT(bit))) bit++;
    return bit;
}
static int agenti_left_out(agenti_session *s)
{
    int bit = agenti_lowest(s->left_out);
    s->left_out &= ~AGENTI_BIT(bit);
    if (bit < AGENTI_OPT_COUNT || bit == AGENTI_LEFT_TOOLS || bit == AGENTI_LEFT_STRICT) s->told_out |= AGENTI_BIT(bit);
    return agenti_left_event(s, bit);
}
/* What of an import goes nowhere, or not into the peer's requests, and what of an export was left out.                   */
static int agenti_import_news(agenti_session *s)
{
    agent_event *ev;
    uint32_t i;
    int bit;
    if (s->export_left) {
        bit = agenti_lowest(s->export_left);
        s->export_left &= ~AGENTI_BIT(bit);
        (void)agenti_left_event(s, bit);
        s->e->ev.run = s->running ? s->nums.run : 0;
        s->e->ev.step = s->running ? s->steps : 0;
        return AGENTI_PUMP_EVENT;
    }
    for (i = 0; i < s->kept_n && s->kept[i].told; i++) {}
    if (i == s->kept_n && s->lost.n == 0) { s->news = 0; return AGENTI_AGAIN; }
    ev = agenti_session_event(s, AGENT_EV_WARNING);
    if (!s->running) ev->run = ev->step = 0;
    if (i == s->kept_n) {
        ev->text = agenti_cstr("a member of the import's messages has no place, and goes back nowhere");
        ev->name = agenti_text_view(&s->lost);
        agenti_text_free(&s->lost, &s->e->graves);
        return AGENTI_PUMP_EVENT;
    }
    s->kept[i].told = 1;
    ev->name = agenti_text_view(&s->kept[i].key);
    ev->text = agenti_cstr(s->kept[i].gone ? "an option was set anew: this member of the import has gone, with all that was in it"
                         : "a member of the import that only its own format has: it is not in requests of others");
    return AGENTI_PUMP_EVENT;
}
static void agenti_answer_begin(agenti_session *s)
{
    agenti_answer_free(&s->answer);
    agenti_answer_start(&s->answer, s->e, &s->pool, s->peer->wire, s->peer->dialect);
    s->answer.table = &s->table;
    s->answer.nums = &s->nums;
    s->answer.run = s->nums.run;
    s->answer.model = s->model;
    if (s->flags & (AGENT_S_THINK_TAGS | AGENT_S_THINK_OPEN)) agenti_think_start(&s->answer.think, (s->flags & AGENT_S_THINK_OPEN) != 0);
}
static int agenti_answer_wait(agenti_session *s)
{
    agenti_conn *c = s->conn;
    agent_str choice = agenti_text_view(&s->options[AGENTI_OPT_TOOL_CHOICE]);
    if (s->left_out) return agenti_left_out(s);
    if (!c->over) return AGENTI_PUMP_NONE;
    s->conn = NULL;
    if (c->stale) {                           /* an idle connection that the peer had closed: once more, on a new one   */
        agenti_conn_abort(c);
        agenti_answer_begin(s);
        s->fresh = 1;
        s->state = AGENTI_S_SEND;
        return AGENTI_AGAIN;
    }
    agenti_peer_hide(s->peer, &c->lines, &s->answer.d.fault.text);
    agenti_peer_hide(s->peer, &c->lines, &s->answer.d.fault.code);
    agenti_peer_hide(s->peer, &c->lines, &s->answer.d.request_id);
    agenti_peer_hide(s->peer, &c->lines, &s->answer.limits);
    if (choice.n && !agenti_eq(choice, "auto") && !agenti_eq(choice, "none")) s->choice_spent = 1;
    if (c->state == AGENTI_CONN_NEW || s->answer.d.fault.fault == AGENT_FAULT_PROTOCOL || s->answer.d.fault.fault == AGENT_FAULT_LIMIT
        || s->answer.d.fault.fault == AGENT_FAULT_NOMEM) agenti_conn_abort(c);
    else { s->drain = c->id; agenti_conn_drain(c); }
    s->state = AGENTI_S_JUDGE;
    return AGENTI_AGAIN;
}

/* ---- the answer's worth ---- */
static int agenti_goes_on(const agenti_session *s)            /* after results or a pause: there may be nothing to add  */
{
    size_t n = s->table.n - (s->answer.msg ? 1 : 0);
    return n > 0 && s->table.msgs[n - 1]->role != AGENT_USER;
}
static void agenti_count_add(int64_t *to, int64_t n)
{
    if (n >= 0) *to = *to < 0 ? n : *to > INT64_MAX - n ? INT64_MAX : *to + n;
}
static void agenti_usage_take(agenti_session *s)
{
    const agent_usage *u = &s->answer.d.usage;
    agenti_count_add(&s->usage.input, u->input);
    agenti_count_add(&s->usage.cached, u->cached);
    agenti_count_add(&s->usage.cache_write, u->cache_write);
    agenti_count_add(&s->usage.output, u->output);
    agenti_count_add(&s->usage.reasoning, u->reasoning);
}
/* A provider refuses how the request was written, and says which member it is: once more, the other way. 1: a WARNING says so */
static int agenti_switch(agenti_session *s)
{
    agenti_peer *p = s->peer;
    uint32_t bit = s->answer.msg ? 0 : agenti_fault_switch(&s->answer.d.fault);
    if (bit == 0) return 0;
    if (!((p->dialect ^ s->dialect) & bit)) { /* else another session has done it meanwhile                             */
        if (p->switched & bit) return 0;
        p->switched |= bit;
        p->dialect ^= bit;
    }
    agenti_answer_begin(s);
    s->state = AGENTI_S_SEND;
    agenti_session_event(s, AGENT_EV_WARNING)->text = agenti_cstr("the provider refuses a member of the request; it is asked again in its other dialect");
    s->e->ev.name = agenti_cstr(bit == AGENT_DIALECT_NO_STREAM_OPTIONS ? "stream_options" : "max_tokens");
    return 1;
}
/* Status 401: the key is asked for, once a step, and the request is made again with another one. 0: the fault stands.   */
static int agenti_key_again(agenti_session *s, int *rc)
{
    const agenti_fault *f = &s->answer.d.fault;
    agenti_peer *p = s->peer;
    if (f->fault != AGENT_FAULT_AUTH || f->http_status != 401 || s->answer.msg || !p->wants_key || s->key_spent) return 0;
    *rc = AGENTI_PUMP_NONE;
    if (p->key_state != AGENTI_KEY_THERE) { s->key_asked = 1; return 1; }          /* also by another session             */
    if (p->key_count != s->key_count) {
        s->key_spent = 1;
        agenti_answer_begin(s);
        s->state = AGENTI_S_SEND;
        *rc = AGENTI_AGAIN;
        return 1;
    }
    if (s->key_asked || p->key_n == 0) return 0;             /* the host declined, or has none                          */
    s->key_asked = 1;
    agenti_peer_key_ask(p, AGENT_KEY_REFUSED, agenti_text_view(&f->text));
    return 1;
}
/* The provider does not know the answer any more that it was to go on from: all of the conversation, then.              */
static int agenti_forgotten(agenti_session *s)
{
    const agenti_fault *f = &s->answer.d.fault;
    size_t i;
    if (!s->went_on || s->answer.msg || f->fault != AGENT_FAULT_REQUEST) return 0;
    if (f->http_status != 404 && !agenti_find(agenti_text_view(&f->code), "previous") && !agenti_find(agenti_text_view(&f->text), "previous")) return 0;
    for (i = 0; i < s->table.n; i++) agenti_text_free(&s->table.msgs[i]->answer_id, &s->e->graves);
    agenti_answer_begin(s);
    s->state = AGENTI_S_SEND;
    agenti_session_event(s, AGENT_EV_WARNING)->text = agenti_cstr("the provider has forgotten its last answer: all of the conversation is sent again");
    return 1;
}
static int agenti_has_content(const agenti_msg *m)
{
    uint32_t i;
    for (i = 0; m && i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        if (p->kind == AGENT_PART_CALL || agenti_is_media(p->kind) || (p->kind == AGENT_PART_TEXT && p->text.n)) return 1;
    }
    return 0;
}
static int agenti_judge(agenti_session *s)
{
    agenti_decoder *d = &s->answer.d;
    int content = agenti_has_content(s->answer.msg), told = 0, rc;
    if (agenti_switch(s) || agenti_forgotten(s)) return AGENTI_PUMP_EVENT;
    if (agenti_key_again(s, &rc)) return rc;
    if (!content && (s->flags & AGENT_S_THOUGHTS_TOLD) && !d->fault.fault && (d->finish == AGENT_FINISH_STOP || d->finish == AGENT_FINISH_OTHER)) {
        if ((told = agenti_answer_thoughts_told(&s->answer)) > 0) { agenti_sign(s, &s->e->ev); return AGENTI_PUMP_EVENT; }
        if (told < 0) agenti_run_fault(s, AGENT_FAULT_NOMEM, 0, "out of memory for the answer");
    }
    s->state = AGENTI_S_PARTS;
    s->finish = d->fault.fault ? AGENT_FINISH_ERROR : d->finish;
    agenti_usage_take(s);
    if (d->fault.fault) return AGENTI_AGAIN;
    if (d->finish == AGENT_FINISH_FILTER) agenti_run_fault(s, AGENT_FAULT_FILTER, 0, "the provider's content filter stopped the answer");
    else if (d->finish == AGENT_FINISH_ERROR) agenti_run_fault(s, AGENT_FAULT_SERVER, 1, "the provider ended the answer with an error");
    else if (!content && !d->paused && !agenti_goes_on(s)) agenti_run_fault(s, AGENT_FAULT_PROTOCOL, 1, "an answer without text and without tool calls");
    else if (d->finish == AGENT_FINISH_OTHER && content) {
        agent_event *ev = agenti_session_event(s, AGENT_EV_WARNING);
        memcpy(s->e->ev_raw, d->finish_raw, sizeof s->e->ev_raw);
        ev->text = agenti_cstr("the finish reason is unknown or does not fit; the answer is taken as complete");
        ev->name = agenti_cstr(s->e->ev_raw);
        return AGENTI_PUMP_EVENT;
    }
    return AGENTI_AGAIN;
}
static int agenti_close_parts(agenti_session *s)
{
    if (agenti_answer_close(&s->answer, s->cancelling || agenti_answer_cut(&s->answer))) {
        agenti_sign(s, &s->e->ev);
        return AGENTI_PUMP_EVENT;
    }
    s->state = AGENTI_S_MODEL_END;
    return AGENTI_AGAIN;
}

/* ---- tools ---- */
static int agenti_tool_find(const agenti_session *s, const agenti_part *call)
{
    size_t i;
    for (i = 0; i < s->tools.n; i++)
        if (s->tools.p[i].name.n == call->name.n && memcmp(s->tools.p[i].name.p, call->name.p, call->name.n) == 0) return (int)i;
    return -1;
}
static void agenti_tool_unknown(agenti_session *s, const agenti_part *call, agenti_part *r)
{
    agenti_buf b;
    size_t i;
    agenti_buf_init(&b, &s->pool);
    agenti_buf_str(&b, "There is no tool named ");
    agenti_buf_add(&b, call->name.p, call->name.n);
    agenti_buf_str(&b, s->tools.n ? ". The tools are: " : ". There are no tools.");
    for (i = 0; i < s->tools.n; i++) {
        if (i) agenti_buf_str(&b, ", ");
        agenti_buf_add(&b, s->tools.p[i].name.p, s->tools.p[i].name.n);
    }
    if (b.bad || !agenti_text_set(&r->text, &s->pool, &s->e->graves, agenti_str(b.p, b.n)))
        agenti_text_static(&r->text, &s->e->graves, "There is no tool of this name.");
    agenti_buf_free(&b);
}
/* Decides about each call on its own: a bad one never takes its neighbours along.                                      */
static void agenti_tool_sort(agenti_session *s, agenti_part *r)
{
    const agenti_part *call = agenti_call_of(s, r);
    const char *why = NULL;
    int tool = agenti_tool_find(s, call), status = AGENT_DONE_ERROR;
    r->tool = tool < 0 ? AGENT_OFF : (uint32_t)tool;
    if (!call->called) {
        status = s->cancelling ? AGENT_DONE_CANCELLED : AGENT_DONE_NOT_RUN;
        why = s->cancelling ? "Cancelled before the call was complete."
            : s->finish != AGENT_FINISH_LENGTH ? "Not run: the answer broke off."
            : "Not run: the answer was cut off by its length limit. Send the call again, complete, in smaller pieces if it is long.";
    } else if (s->closing) {
        status = AGENT_DONE_NOT_RUN;
        why = "Not run: the limit of steps is reached.";
    } else if (call->flags & AGENT_PART_INVALID) why = "Not run: the arguments are not a JSON object.";
    else if (tool < 0) agenti_tool_unknown(s, call, r);
    else {
        r->state = AGENTI_CALL_WAITING;
        return;
    }
    if (why) agenti_text_static(&r->text, &s->e->graves, why);
    agenti_result_done(s, r, status);
    if (!call->called) r->state = AGENTI_CALL_SETTLED;       /* no TOOL_CALL was shown, so no TOOL_RESULT is            */
}
/* Whole and kept by the provider: the next request may go on from it. Without memory for the id more is sent, no more. */
static void agenti_answer_keep(agenti_session *s)
{
    agent_str id = agenti_text_view(&s->answer.d.id);
    if (!s->stateful || s->cancelling || s->answer.d.paused || agenti_answer_cut(&s->answer)) return;
    (void)agenti_text_set(&s->answer.msg->answer_id, &s->pool, &s->e->graves, id);
}
static int agenti_model_end(agenti_session *s)
{
    agenti_msg *results = s->answer.results;
    uint32_t i;
    for (i = 0; results && i < results->n; i++) agenti_tool_sort(s, &results->parts[i]);
    s->state = results ? AGENTI_S_TOOLS : AGENTI_S_STEP_END;
    if (s->answer.msg == NULL) return AGENTI_AGAIN;
    s->answer.msg->ended = 1;
    agenti_answer_keep(s);
    if (s->cancelling || agenti_answer_cut(&s->answer)) s->answer.msg->flags = AGENT_PART_CUT;
    return agenti_msg_event(s, AGENT_EV_MSG_END, s->answer.msg);
}
static agent_event *agenti_result_event(agenti_session *s, int type, const agenti_part *r)
{
    agent_event *ev = agenti_session_event(s, type);
    agenti_run_fill(s, r, ev);
    ev->flags = 0;
    ev->need = 0;
    ev->text = agenti_str(NULL, 0);
    ev->u.tool.title = agenti_text_view(&r->title);
    ev->u.tool.status = r->status;
    return ev;
}
static int agenti_tool_report(agenti_session *s, agenti_part *r)
{
    agent_event *ev;
    if (r->need) {
        ev = agenti_result_event(s, AGENT_EV_NEED_DONE, r);
        ev->need = r->need;
        memset(&ev->u, 0, sizeof ev->u);      /* what the union holds does not apply                                    */
        r->need = 0;
        return AGENTI_PUMP_EVENT;
    }
    r->state = AGENTI_CALL_SETTLED;
    ev = agenti_result_event(s, AGENT_EV_TOOL_RESULT, r);
    ev->text = agenti_text_view(&r->text);
    if (r->flags & AGENT_PART_CUT) ev->flags = AGENT_EVF_CUT;
    return AGENTI_PUMP_EVENT;
}
static int agenti_tool_start(agenti_session *s, agenti_part *r)
{
    agent_event *ev = agenti_session_event(s, AGENT_EV_TOOL_RUN);
    r->state = AGENTI_CALL_RUNNING;
    r->need = ++s->nums.need;
    agenti_run_fill(s, r, ev);
    return AGENTI_PUMP_EVENT;
}
/* A cancel: the host is told to stop what runs, then every call ends with what it has printed so far.                  */
static int agenti_tool_cancel(agenti_session *s, agenti_part *r)
{
    if (r->state == AGENTI_CALL_RUNNING && !r->cancelled) {
        r->cancelled = 1;
        agenti_result_event(s, AGENT_EV_TOOL_CANCEL, r);
        return AGENTI_PUMP_EVENT;
    }
    if (r->state == AGENTI_CALL_WAITING || r->state == AGENTI_CALL_RUNNING) {
        agenti_text_scrub(&r->text);
        if (r->text.n == 0) agenti_text_static(&r->text, &s->e->graves, "Cancelled by the user.");
        agenti_result_done(s, r, AGENT_DONE_CANCELLED);
        return AGENTI_AGAIN;
    }
    return AGENTI_PUMP_NONE;
}
static int agenti_tools(agenti_session *s)
{
    agenti_msg *m = s->answer.results;
    agenti_part *first = NULL, *waiting = NULL;
    uint32_t i, open = 0, running = 0, serial = 0;
    for (i = 0; i < m->n; i++) {
        agenti_part *r = &m->parts[i];
        int rc = s->cancelling ? agenti_tool_cancel(s, r) : AGENTI_PUMP_NONE;
        if (rc == AGENTI_PUMP_EVENT) return rc;
        if (r->retitled && r->state == AGENTI_CALL_RUNNING) {
            r->retitled = 0;
            agenti_result_event(s, AGENT_EV_TOOL_UPDATE, r);
            return AGENTI_PUMP_EVENT;
        }
        open += r->state != AGENTI_CALL_SETTLED;
        if (r->state == AGENTI_CALL_DONE && (first == NULL || r->order < first->order)) first = r;
        if (r->state == AGENTI_CALL_WAITING && waiting == NULL) waiting = r;
        if (r->state == AGENTI_CALL_RUNNING) {
            running++;
            serial |= s->tools.p[r->tool].flags & AGENT_TF_SERIAL;
        }
    }
    if (first) return agenti_tool_report(s, first);
    if (open == 0) { s->state = AGENTI_S_RESULTS_ADD; return AGENTI_AGAIN; }
    if (waiting == NULL || running >= s->parallel || serial) return AGENTI_PUMP_NONE;
    if (running && (s->tools.p[waiting->tool].flags & AGENT_TF_SERIAL)) return AGENTI_PUMP_NONE;
    return agenti_tool_start(s, waiting);
}
static int agenti_results_add(agenti_session *s)
{
    agenti_msg *m = s->answer.results;
    s->state = AGENTI_S_RESULTS_END;
    m->id = ++s->nums.msg;
    m->run = s->nums.run;
    m->ended = 1;
    agenti_table_add(&s->table, m);           /* the room was made with the model's message                             */
    return agenti_msg_event(s, AGENT_EV_MSG_ADD, m);
}

/* ---- the course of a run ---- */
static int agenti_run_start(agenti_session *s)
{
    agenti_item *it = s->first;
    if (it == NULL) return AGENTI_PUMP_NONE;
    s->first = it->next;
    if (s->first == NULL) s->last = NULL;
    s->item = it;
    s->running = 1;
    s->nums.run++;
    s->steps = s->order = 0;
    s->outcome = AGENT_COMPLETED;
    s->finish = AGENT_FINISH_NONE;
    s->closing = s->failed = s->cancelling = 0;
    s->usage.input = s->usage.cached = s->usage.cache_write = s->usage.output = s->usage.reasoning = -1;
    agenti_answer_begin(s);
    s->state = AGENTI_S_TAKE;
    agenti_session_event(s, AGENT_EV_RUN_START);
    return AGENTI_PUMP_EVENT;
}
static int agenti_take(agenti_session *s)
{
    s->state = AGENTI_S_USER_ADD;
    return s->item->told ? agenti_queued_event(s, s->item, AGENT_QUEUED_DELIVERED) : AGENTI_AGAIN;
}
static int agenti_user_add(agenti_session *s)
{
    agenti_msg *m = s->item->msg;
    uint32_t i;
    if (m && !agenti_table_room(&s->table, 1)) {              /* the message goes back to the host                      */
        agenti_run_fault(s, AGENT_FAULT_NOMEM, 0, "out of memory for the message");
        s->state = AGENTI_S_FAULT;
        return agenti_queued_event(s, s->item, AGENT_QUEUED_RETURNED);
    }
    s->state = m ? AGENTI_S_USER_END : AGENTI_S_STEP;
    s->item->msg = NULL;
    agenti_item_free(s, s->item);
    s->item = NULL;
    if (m == NULL) return AGENTI_AGAIN;
    m->id = ++s->nums.msg;
    m->run = s->nums.run;
    for (i = 0; i < m->n; i++) m->parts[i].id = ++s->nums.part;
    agenti_waits_end(s);
    agenti_table_add(&s->table, m);
    return agenti_msg_event(s, AGENT_EV_MSG_ADD, m);
}
static int agenti_step_start(agenti_session *s)
{
    if (s->cancelling) { s->state = AGENTI_S_RETURN; return AGENTI_AGAIN; }
    s->steps++;
    s->nums.step++;
    s->key_asked = s->key_spent = 0;
    s->closing = s->max_steps > 1 && s->steps == s->max_steps;
    if (s->closing && s->table.msgs[s->table.n - 1]->role == AGENT_MODEL) agenti_waits_end(s);     /* the note is the user's */
    agenti_tools_swap(s);
    agenti_answer_begin(s);
    s->state = AGENTI_S_SEND;
    agenti_session_event(s, AGENT_EV_STEP_START)->name = agenti_text_view(&s->options[AGENTI_OPT_MODEL]);
    return AGENTI_PUMP_EVENT;
}
static int agenti_step_end(agenti_session *s)
{
    agent_event *ev = agenti_sign(s, agenti_answer_step_end(&s->answer));
    s->state = AGENTI_S_FAULT;
    if (s->cancelling) ev->u.end.outcome = AGENT_CANCELLED;
    else if (s->answer.d.fault.fault) ev->u.end.outcome = AGENT_FAILED;
    if (s->cancelling && !s->answer.d.finish) ev->u.end.finish = AGENT_FINISH_NONE;
    ev->u.end.steps = s->steps;
    return AGENTI_PUMP_EVENT;
}
static int agenti_fault_state(agenti_session *s)
{
    s->state = AGENTI_S_NEXT;
    agenti_item_free(s, s->item);
    s->item = NULL;
    if (s->answer.d.fault.fault == AGENT_FAULT_NONE || s->cancelling) return AGENTI_AGAIN;
    s->failed = 1;
    agenti_sign(s, agenti_answer_error(&s->answer, AGENT_SCOPE_RUN));
    return AGENTI_PUMP_EVENT;
}
static int agenti_next_step(agenti_session *s)
{
    s->state = AGENTI_S_RETURN;
    if (s->failed) s->outcome = AGENT_FAILED;                /* ERROR was shown: no cancel changes that                 */
    else if (s->cancelling) s->outcome = AGENT_CANCELLED;
    else if (s->closing) s->outcome = AGENT_LIMITED;
    else if (s->answer.results == NULL && !s->answer.d.paused) s->outcome = AGENT_COMPLETED;
    else if (s->steps >= s->max_steps) s->outcome = AGENT_LIMITED;
    else s->state = AGENTI_S_STEP;
    return AGENTI_AGAIN;
}
/* After a cancel what waited then goes back to the host.                                                               */
static int agenti_return(agenti_session *s)
{
    agenti_item *it = s->first;
    if (it == NULL || !it->back) {
        s->state = s->running ? AGENTI_S_RUN_END : AGENTI_S_IDLE;
        s->cancelling = s->cancelling && s->running;
        return AGENTI_AGAIN;
    }
    s->first = it->next;
    if (s->first == NULL) s->last = NULL;
    agenti_queued_event(s, it, AGENT_QUEUED_RETURNED);
    agenti_item_free(s, it);
    return AGENTI_PUMP_EVENT;
}
static int agenti_run_end(agenti_session *s)
{
    agent_event *ev = agenti_session_event(s, AGENT_EV_RUN_END);
    s->state = AGENTI_S_IDLE;
    s->running = s->cancelling = 0;
    s->e->ev_usage = s->usage;
    memcpy(s->e->ev_raw, s->answer.d.finish_raw, sizeof s->e->ev_raw);
    ev->u.end.outcome = s->outcome;
    ev->u.end.finish = s->finish;
    ev->u.end.steps = s->steps;
    ev->u.end.raw = agenti_cstr(s->e->ev_raw);
    ev->u.end.usage = &s->e->ev_usage;
    ev->u.end.model = ev->u.end.request_id = ev->u.end.headers = agenti_str(NULL, 0);
    agenti_answer_begin(s);                   /* lets go of what the answer held                                        */
    return AGENTI_PUMP_EVENT;
}
static void agenti_cancel_take(agenti_session *s)
{
    s->cancel = 0;
    s->cancelling = 1;
    if (s->state == AGENTI_S_IDLE) { s->state = AGENTI_S_RETURN; return; }
    if (!s->failed) s->outcome = AGENT_CANCELLED;
    if (s->state != AGENTI_S_ANSWER && s->state != AGENTI_S_JUDGE) return;
    if (s->conn) agenti_conn_abort(s->conn);
    s->conn = NULL;
    agenti_answer_drop(&s->answer);
    agenti_usage_take(s);
    s->finish = s->answer.d.finish;
    s->state = AGENTI_S_PARTS;
}
static int agenti_turn(agenti_session *s)
{
    switch (s->state) {
    case AGENTI_S_IDLE: return agenti_run_start(s);
    case AGENTI_S_TAKE: return agenti_take(s);
    case AGENTI_S_USER_ADD: return agenti_user_add(s);
    case AGENTI_S_USER_END:
        s->state = AGENTI_S_STEP;
        return agenti_msg_event(s, AGENT_EV_MSG_END, s->table.msgs[s->table.n - 1]);
    case AGENTI_S_STEP: return agenti_step_start(s);
    case AGENTI_S_SEND: return agenti_step_send(s);
    case AGENTI_S_ANSWER: return agenti_answer_wait(s);
    case AGENTI_S_JUDGE: return agenti_judge(s);
    case AGENTI_S_PARTS: return agenti_close_parts(s);
    case AGENTI_S_MODEL_END: return agenti_model_end(s);
    case AGENTI_S_TOOLS: return agenti_tools(s);
    case AGENTI_S_RESULTS_ADD: return agenti_results_add(s);
    case AGENTI_S_RESULTS_END:
        s->state = AGENTI_S_STEP_END;
        return agenti_msg_event(s, AGENT_EV_MSG_END, s->answer.results);
    case AGENTI_S_STEP_END: return agenti_step_end(s);
    case AGENTI_S_FAULT: return agenti_fault_state(s);
    case AGENTI_S_NEXT: return agenti_next_step(s);
    case AGENTI_S_RETURN: return agenti_return(s);
    default: return agenti_run_end(s);
    }
}
static int agenti_queue_news(agenti_session *s)
{
    agenti_item *it = s->untold;
    s->untold = it->next;                     /* whatever came behind it waits as well                                  */
    it->told = 1;
    return agenti_queued_event(s, it, AGENT_QUEUED_ADDED);
}
AGENTI_FN int agenti_session_pump(agenti_session *s)
{
    int rc = AGENTI_AGAIN;
    if (s->closed) { agenti_session_free(s); return AGENTI_PUMP_GONE; }
    if (s->untold) return agenti_queue_news(s);              /* before any item leaves the queue                        */
    if (s->news || s->export_left) {
        rc = agenti_import_news(s);
        if (rc != AGENTI_AGAIN) return rc;
    }
    if (s->cancel) agenti_cancel_take(s);
    while (rc == AGENTI_AGAIN) rc = agenti_turn(s);
    return rc;
}
#endif
