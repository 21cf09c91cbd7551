/* What is made of an answer: how long it may take, whether it is one, and whether it is asked for again. */
AGENTI_FN int  agenti_answer_wait(agenti_session *);          /* of state ANSWER                                        */
AGENTI_FN void agenti_answer_stop(agenti_session *);          /* a cancel, while it comes or is judged                  */
AGENTI_FN void agenti_answer_break(agenti_session *);         /* no more of it comes                                    */
AGENTI_FN int  agenti_answer_error_event(agenti_session *, int scope);
AGENTI_FN int  agenti_goes_on(const agenti_session *);        /* after results or a pause: the model may have nothing to add */
AGENTI_FN void agenti_usage_none(agent_usage *);
AGENTI_FN void agenti_usage_add(agent_usage *to, const agent_usage *);
AGENTI_FN int  agenti_judge(agenti_session *);                /* of state JUDGE                                         */
AGENTI_FN int  agenti_retry_say(agenti_session *);            /* of states RETRY_SAY and RETRY                          */
AGENTI_FN int  agenti_retry_wait(agenti_session *);
AGENTI_FN uint64_t agenti_answer_due(const agenti_session *, const char **why);  /* until when it has to show something, and what it means if not */

/* What the public calls of the same names do; the calls themselves are in record.c.                                     */
AGENTI_FN int agenti_do_retry(agent_engine *e, agent_id id, int what);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_JUDGE
/* ---- waiting for it ---- */
/* The answer is over whatever else would have come of it.                                                              */
AGENTI_FN void agenti_answer_break(agenti_session *s)
{
    if (s->conn) agenti_conn_abort(s->conn);
    s->conn = NULL;
    agenti_answer_drop(&s->answer);
}
/* The time in which the answer has to show something, and what it is to be told if it does not.                        */
AGENTI_FN uint64_t agenti_answer_due(const agenti_session *s, const char **why)
{
    const agenti_conn *c = s->conn;
    const agenti_peer *p = s->peer;
    uint32_t first = p->first_ms;
    if (c->need_open || c->state == AGENTI_CONN_NEW) { *why = "the connection was not opened in time"; return agenti_after(c->began_at, p->connect_ms); }
    if (s->answer.shown) { *why = "the answer has stopped: nothing more of it came in time"; return agenti_after(s->answer.shown_at, p->idle_ms); }
    if (s->flags & AGENT_S_NO_STREAM) first = first > AGENT_OFF / 5 ? AGENT_OFF : first * 5;
    *why = "the answer did not begin in time";
    return agenti_after(c->began_at, first);
}
static int agenti_answer_late(agenti_session *s)
{
    const char *why;
    if (!s->timer.rang || s->e->now < agenti_answer_due(s, &why)) return AGENTI_PUMP_NONE;
    agenti_answer_break(s);
    agenti_answer_fault(&s->answer, AGENT_FAULT_TIMEOUT, 1, why);
    s->state = AGENTI_S_JUDGE;
    return AGENTI_AGAIN;
}
AGENTI_FN int agenti_answer_wait(agenti_session *s)
{
    agenti_conn *c = s->conn;
    agent_str choice = agenti_text_view(&s->options[AGENTI_OPT_TOOL_CHOICE]);
    if (s->left_out) return agenti_left_out(s);
    if (!c->over) return agenti_answer_late(s);
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
AGENTI_FN int agenti_goes_on(const agenti_session *s)
{
    size_t n = s->table.n - (s->answer.msg ? 1 : 0);
    return n > 0 && s->table.msgs[n - 1]->role != AGENT_USER;
}
static void agenti_count_add(int64_t *to, int64_t n)
{
    if (n >= 0) *to = *to < 0 ? n : *to > INT64_MAX - n ? INT64_MAX : *to + n;
}
AGENTI_FN void agenti_usage_none(agent_usage *u) { u->input = u->cached = u->cache_write = u->output = u->reasoning = -1; }
AGENTI_FN void agenti_usage_add(agent_usage *to, const agent_usage *u)
{
    agenti_count_add(&to->input, u->input);
    agenti_count_add(&to->cached, u->cached);
    agenti_count_add(&to->cache_write, u->cache_write);
    agenti_count_add(&to->output, u->output);
    agenti_count_add(&to->reasoning, u->reasoning);
}
static void agenti_usage_take(agenti_session *s) { agenti_usage_add(&s->usage, &s->answer.d.usage); }
AGENTI_FN void agenti_answer_stop(agenti_session *s)
{
    agenti_answer_break(s);
    agenti_usage_take(s);
    s->finish = s->answer.d.finish;
    s->state = AGENTI_S_PARTS;
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
/* ---- once more ---- */
static int agenti_may_retry(const agenti_fault *f)            /* these never, whatever a header says                    */
{
    return f->fault && f->retryable && f->fault != AGENT_FAULT_AUTH && f->fault != AGENT_FAULT_QUOTA && f->fault != AGENT_FAULT_CONTEXT
        && f->fault != AGENT_FAULT_FILTER && f->http_status != 400;
}
/* As good as chance, and the same for the same seed, run, step and attempt: SplitMix64 (Steele, Lea, Flood 2014).       */
static uint64_t agenti_chance(const agenti_session *s)
{
    uint64_t z = s->e->seed + 0x9E3779B97F4A7C15u * ((((uint64_t)s->nums.run << 32) ^ ((uint64_t)s->steps << 8) ^ s->attempt) + s->id);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static uint64_t agenti_retry_delay(const agenti_session *s)
{
    uint64_t ms = s->retry_ms;
    uint32_t i;
    if (s->answer.d.fault.retry_after_ms >= 0) return (uint64_t)s->answer.d.fault.retry_after_ms;
    for (i = 1; i < s->attempt && ms < s->retry_cap_ms; i++) ms *= 2;
    if (ms > s->retry_cap_ms) ms = s->retry_cap_ms;
    return ms + ms * (agenti_chance(s) % 257) / 1024;
}
/* An answer that has failed: is it asked for again, or, when something of it was shown, gone on with behind what is there? */
static int agenti_retry_plan(agenti_session *s)
{
    const agenti_fault *f = &s->answer.d.fault;
    uint64_t ms;
    s->retry_at = 0;
    if (s->retry_stop || s->stop_step || !agenti_may_retry(f) || s->attempt >= s->max_retries || (s->answer.msg && !(s->flags & AGENT_S_GO_ON))) return 0;
    if (f->retry_after_ms > (int64_t)s->hint_cap_ms && s->hint_cap_ms != AGENT_OFF) {
        s->retry_at = s->e->now + (uint64_t)f->retry_after_ms;
        return 0;
    }
    s->attempt++;
    ms = agenti_retry_delay(s);
    s->retry_at = s->e->now > UINT64_MAX - ms ? UINT64_MAX : s->e->now + ms;
    s->going_on = s->answer.msg != NULL;
    if (s->going_on) return 0;
    agenti_usage_add(&s->spent, &s->answer.d.usage);
    agenti_usage_none(&s->answer.d.usage);
    s->state = AGENTI_S_RETRY_SAY;
    return 1;
}
static int agenti_retry_event(agenti_session *s, int type)
{
    agent_event *ev = agenti_session_event(s, type);
    ev->u.retry.attempt = s->attempt;
    ev->u.retry.max = s->max_retries;
    ev->u.retry.at_ms = s->retry_at;
    ev->u.retry.fault = s->answer.d.fault.fault;
    ev->u.retry.http_status = s->answer.d.fault.http_status;
    return AGENTI_PUMP_EVENT;
}
/* No more of it: the fault stands.                                                                                     */
static int agenti_retry_over(agenti_session *s)
{
    s->state = s->going_on ? AGENTI_S_FAULT : AGENTI_S_PARTS;
    s->going_on = s->retry_stop = s->retry_now = 0;
    s->why = AGENT_WHY_ERROR;
    s->retry_at = 0;
    return AGENTI_AGAIN;
}
AGENTI_FN int agenti_retry_say(agenti_session *s)
{
    if (s->retry_stop) return agenti_retry_over(s);
    s->state = AGENTI_S_RETRY;
    return agenti_retry_event(s, AGENT_EV_RETRY_WAIT);
}
AGENTI_FN int agenti_retry_wait(agenti_session *s)
{
    if (s->retry_stop) return agenti_retry_over(s);
    if (!s->retry_now && s->e->now < s->retry_at) return AGENTI_PUMP_NONE;
    (void)agenti_retry_event(s, AGENT_EV_RETRY_GO);
    s->retry_now = 0;
    s->retry_at = 0;
    s->state = s->going_on ? AGENTI_S_NEXT : AGENTI_S_SEND;
    if (!s->going_on) agenti_answer_begin(s);
    else s->notes = 1;
    s->going_on = 0;
    return AGENTI_PUMP_EVENT;
}
AGENTI_FN int agenti_do_retry(agent_engine *e, agent_id id, int what)
{
    agenti_session *s = agenti_session_get(e, id);
    int failed, waits;
    if (s == NULL) return agenti_stale_session(e);
    if (what != AGENT_RETRY_NOW && what != AGENT_RETRY_STOP) return agenti_say(e, AGENT_E_ARG, "no such thing to do with a retry");
    failed = s->state == AGENTI_S_NEXT && s->failed && s->running && s->steps && what == AGENT_RETRY_NOW;
    waits = s->state == AGENTI_S_RETRY_SAY || s->state == AGENTI_S_RETRY;
    if (s->cancel || s->cancelling || s->stop_step || (!failed && !waits)) return AGENT_LATE;
    s->retry_now = what == AGENT_RETRY_NOW;                  /* the last word counts                                    */
    s->retry_stop = what == AGENT_RETRY_STOP;
    agenti_wake(&e->sessions, &s->ready);
    return AGENT_OK;
}

/* ---- the verdict ---- */
/* What makes an answer a failure though the provider does not say so.                                                  */
static void agenti_verdict(agenti_session *s, int content)
{
    const agenti_decoder *d = &s->answer.d;
    s->finish = d->fault.fault ? AGENT_FINISH_ERROR : d->finish;
    if (d->fault.fault) return;
    if (d->finish == AGENT_FINISH_FILTER) agenti_run_fault(s, AGENT_FAULT_FILTER, 0, "the provider's content filter stopped the answer");
    else if (d->finish == AGENT_FINISH_ERROR) agenti_run_fault(s, AGENT_FAULT_SERVER, 1, "the provider ended the answer with an error");
    else if (!content && !d->paused && !agenti_goes_on(s))
        agenti_run_fault(s, AGENT_FAULT_PROTOCOL, 1, "an answer without text and without tool calls");
}
AGENTI_FN int agenti_answer_error_event(agenti_session *s, int scope)
{
    agenti_sign(s, agenti_answer_error(&s->answer, scope));
    return AGENTI_PUMP_EVENT;
}
AGENTI_FN int agenti_judge(agenti_session *s)
{
    agenti_decoder *d = &s->answer.d;
    int content = agenti_has_content(s->answer.msg), told = 0, rc;
    if (agenti_switch(s) || agenti_forgotten(s)) return AGENTI_PUMP_EVENT;
    if (agenti_key_again(s, &rc)) return rc;
    if (!content && (s->flags & AGENT_S_THOUGHTS_TOLD) && !d->fault.fault && (d->finish == AGENT_FINISH_STOP || d->finish == AGENT_FINISH_OTHER)) {
        if ((told = agenti_answer_thoughts_told(&s->answer)) > 0) { agenti_sign(s, &s->e->ev); return AGENTI_PUMP_EVENT; }
        if (told < 0) agenti_run_fault(s, AGENT_FAULT_NOMEM, 0, "out of memory for the answer");
    }
    agenti_verdict(s, content);
    s->state = AGENTI_S_PARTS;
    agenti_usage_take(s);
    if (d->fault.fault) return agenti_retry_plan(s) ? agenti_answer_error_event(s, AGENT_SCOPE_ATTEMPT) : AGENTI_AGAIN;
    s->attempt = 0;
    if (d->finish == AGENT_FINISH_OTHER && content) {
        agent_event *ev = agenti_session_event(s, AGENT_EV_WARNING);
        memcpy(s->e->ev_raw, d->finish_raw, sizeof s->e->ev_raw);
        ev->text = agenti_cstr("the finish reason is unknown or does not fit; the answer is taken as complete");
        ev->name = agenti_cstr(s->e->ev_raw);
        return AGENTI_PUMP_EVENT;
    }
    return AGENTI_AGAIN;
}
#endif
