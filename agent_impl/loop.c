/* The loop: a run is one or more steps, a step is one model call and its tools. Every state makes at most one event and moves on,
 * so a run can stop between any two of them. What closes brackets needs no memory. */
AGENTI_FN int agenti_session_pump(agenti_session *);          /* an AGENTI_PUMP_                                        */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_LOOP
/* What waits comes in turn, but what is for a run that has ended before the next run.                                   */
static agenti_item *agenti_next_item(const agenti_session *s)
{
    agenti_item *it = s->first;
    while (it && it->lane == AGENT_QUEUE) it = it->next;
    return it && (it->lane == AGENT_STEER || it == s->first) ? it : s->first;
}
/* Another item goes before the one whose run was to begin at once: that one waits now.                                  */
static void agenti_quiet_waits(agenti_session *s)
{
    agenti_item *it = s->quiet ? s->first : NULL;
    s->quiet = 0;
    while (it && (it->told || (it->news & AGENTI_ITEM_ADDED))) it = it->next;
    if (it == NULL) return;
    it->news |= AGENTI_ITEM_ADDED;
    s->untold = s->first;
}
static int agenti_idle(agenti_session *s)
{
    agenti_item *it = agenti_next_item(s);
    if (s->checkpoint) {
        s->checkpoint = 0;
        (void)agenti_session_event(s, AGENT_EV_CHECKPOINT);
        return AGENTI_PUMP_EVENT;
    }
    if (it == NULL) return AGENTI_PUMP_NONE;
    agenti_item_unlink(s, it);
    agenti_quiet_waits(s);
    s->item = it;
    s->state = AGENTI_S_TAKE;
    agenti_answer_begin(s);
    if (it->lane == AGENT_STORE) return AGENTI_AGAIN;
    s->running = 1;
    s->nums.run++;
    s->steps = s->order = s->attempt = 0;
    s->why = AGENT_WHY_NONE;
    s->finish = AGENT_FINISH_NONE;
    s->closing = s->failed = s->cancelling = s->stop_step = s->tools_may_end = s->notes = s->retry_stop = s->retry_now = s->end_run = 0;
    s->step_until = UINT64_MAX;
    s->run_until = agenti_after(s->e->now, s->run_ms);
    agenti_usage_none(&s->usage);
    s->answer.run = s->nums.run;
    agenti_session_event(s, AGENT_EV_RUN_START);
    return AGENTI_PUMP_EVENT;
}

/* ---- a message of the user, or in his name ---- */
/* The message goes back to the host.                                                                                   */
static int agenti_item_refused(agenti_session *s)
{
    agenti_run_fault(s, AGENT_FAULT_NOMEM, 0, "out of memory for the message");
    s->state = AGENTI_S_FAULT;
    return agenti_queued_event(s, s->item, AGENT_QUEUED_RETURNED);
}
static int agenti_take(agenti_session *s)                     /* once it is said to be delivered nothing can go wrong    */
{
    if (agenti_calls_open(s)) { s->state = AGENTI_S_MEND; return AGENTI_AGAIN; }
    if (s->item->msg && !agenti_table_room(&s->table, 1)) return agenti_item_refused(s);
    s->state = AGENTI_S_USER_ADD;
    return s->item->told ? agenti_queued_event(s, s->item, AGENT_QUEUED_DELIVERED) : AGENTI_AGAIN;
}
/* Calls that have no results, as in a table that was cut: without results no provider takes them.                       */
static int agenti_mend(agenti_session *s)
{
    s->state = AGENTI_S_MEND_ADD;
    agenti_session_event(s, AGENT_EV_WARNING)->text = agenti_cstr("the last message has calls without results; they count as not run");
    return AGENTI_PUMP_EVENT;
}
static agenti_msg *agenti_mend_results(agenti_session *s)
{
    const agenti_msg *calls = s->table.msgs[s->table.n - 1];
    agenti_msg *m = agenti_msg_new(&s->pool, AGENT_TOOLS);
    agenti_part *r;
    uint32_t i;
    for (i = 0; m && i < calls->n; i++) {
        const agenti_part *c = &calls->parts[i];
        if (c->kind != AGENT_PART_CALL) continue;
        r = agenti_part_new(&s->pool, m, AGENT_PART_RESULT);
        if (r == NULL || !agenti_text_set(&r->wire_id, &s->pool, &s->e->graves, agenti_text_view(&c->wire_id))
            || !agenti_text_set(&r->name, &s->pool, &s->e->graves, agenti_text_view(&c->name))) {
            agenti_msg_free(&s->pool, m, &s->e->graves);
            return NULL;
        }
        agenti_text_static(&r->text, &s->e->graves, "Not run.");
        r->call = c->call;
        r->key = i;
        r->flags = AGENT_PART_ERROR | (c->flags & AGENTI_PART_APART);
        r->state = AGENTI_CALL_SETTLED;
        r->status = AGENT_DONE_NOT_RUN;
    }
    return m;
}
static int agenti_enter(agenti_session *s, agenti_msg *m)     /* there is room                                          */
{
    uint32_t i;
    m->id = ++s->nums.msg;
    m->run = s->running ? s->nums.run : 0;
    m->model = s->model;
    m->ended = 1;
    for (i = 0; i < m->n; i++) m->parts[i].id = ++s->nums.part;
    if (m->role == AGENT_USER) agenti_waits_end(s);
    agenti_table_add(&s->table, m);
    return agenti_msg_event(s, AGENT_EV_MSG_ADD, m);
}
static int agenti_mend_add(agenti_session *s)
{
    agenti_msg *m = agenti_table_room(&s->table, 1) ? agenti_mend_results(s) : NULL;
    if (m == NULL) return agenti_item_refused(s);
    s->state = AGENTI_S_MENDED;
    return agenti_enter(s, m);
}
static int agenti_user_add(agenti_session *s)
{
    agenti_msg *m = s->item->msg;
    s->state = m ? AGENTI_S_USER_END : AGENTI_S_STEP;
    s->item->msg = NULL;
    agenti_item_free(s, s->item);
    s->item = NULL;
    return m ? agenti_enter(s, m) : AGENTI_AGAIN;
}
static int agenti_user_end(agenti_session *s, int next)
{
    s->state = next;
    return agenti_msg_event(s, AGENT_EV_MSG_END, s->table.msgs[s->table.n - 1]);
}
/* The engine's own words, where an answer that broke off is to be gone on with: no provider takes it as the last word.  */
static int agenti_note_add(agenti_session *s)
{
    static const char words[] = "Your answer broke off. Go on from where it ends, without saying again what is there.";
    agenti_msg *m;
    agenti_part *p;
    if (!s->notes) {
        s->notes = 1;
        agenti_session_event(s, AGENT_EV_WARNING)->text = agenti_cstr("the last answer is unfinished; a note asks the model to go on");
        return AGENTI_PUMP_EVENT;
    }
    m = agenti_table_room(&s->table, 1) ? agenti_msg_new(&s->pool, AGENT_USER) : NULL;
    p = m ? agenti_part_new(&s->pool, m, AGENT_PART_TEXT) : NULL;
    if (p == NULL) {
        agenti_msg_free(&s->pool, m, &s->e->graves);
        agenti_answer_begin(s);
        agenti_run_fault(s, AGENT_FAULT_NOMEM, 0, "out of memory for a note");
        s->state = AGENTI_S_FAULT;
        return AGENTI_AGAIN;
    }
    agenti_text_static(&p->text, &s->e->graves, words);
    m->flags = AGENT_MSG_NOTE;
    s->notes = 0;
    s->state = AGENTI_S_USER_END;
    return agenti_enter(s, m);
}

/* ---- a step ---- */
static agenti_item *agenti_steer(const agenti_session *s)     /* what is for this run                                   */
{
    agenti_item *it = s->first;
    while (it && (it->lane != AGENT_STEER || it->back)) it = it->next;
    return it;
}
static int agenti_stopped(const agenti_session *s) { return s->cancelling ? s->cancelling : s->stop_step ? AGENTI_STOPPED_CANCEL : 0; }
static int agenti_why_stopped(const agenti_session *s) { return agenti_stopped(s) == AGENTI_STOPPED_TIME ? AGENT_WHY_TIME : AGENT_WHY_CANCEL; }
static int agenti_step_begin(agenti_session *s)
{
    agenti_item *it = agenti_steer(s);
    int model = s->table.n && s->table.msgs[s->table.n - 1]->role == AGENT_MODEL;
    if (agenti_stopped(s)) {
        s->why = agenti_why_stopped(s);
        s->state = AGENTI_S_RETURN;
        return AGENTI_AGAIN;
    }
    if (it) {
        agenti_item_unlink(s, it);
        s->item = it;
        s->state = AGENTI_S_TAKE;
        return AGENTI_AGAIN;
    }
    if (model && !s->answer.d.paused) return agenti_note_add(s);
    s->notes = 0;
    if ((s->flags & AGENT_S_CHECKPOINTS) && !s->checkpoint) {
        s->checkpoint = 1;
        (void)agenti_session_event(s, AGENT_EV_CHECKPOINT);
        return AGENTI_PUMP_EVENT;
    }
    s->checkpoint = 0;
    s->steps++;
    s->nums.step++;
    s->key_asked = s->key_spent = s->end_run = 0;
    s->retry_at = 0;
    s->step_until = agenti_after(s->e->now, s->step_ms);
    s->closing = s->max_steps > 1 && s->steps == s->max_steps;
    if (s->closing && model) agenti_waits_end(s);             /* the note is the user's                                 */
    agenti_usage_none(&s->spent);
    agenti_tools_swap(s);
    agenti_answer_begin(s);
    s->state = AGENTI_S_SEND;
    agenti_session_event(s, AGENT_EV_STEP_START)->name = agenti_text_view(&s->options[AGENTI_OPT_MODEL]);
    return AGENTI_PUMP_EVENT;
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
static int agenti_tokens_spent(const agenti_session *s)
{
    int64_t n = s->usage.input > 0 ? s->usage.input : 0;
    if (s->usage.output > 0) n = n > INT64_MAX - s->usage.output ? INT64_MAX : n + s->usage.output;
    return s->run_tokens != AGENT_OFF && n >= (int64_t)s->run_tokens;
}
/* Whether the run ends behind this step, and why.                                                                      */
static int agenti_why(const agenti_session *s)
{
    const agenti_answer *a = &s->answer;
    if (s->cancelling) return agenti_why_stopped(s);
    if (a->d.fault.fault) return s->going_on ? AGENT_WHY_NONE : s->retry_at ? AGENT_WHY_HINT : AGENT_WHY_ERROR;
    if (s->closing) return AGENT_WHY_STEPS;
    if (a->results == NULL && !a->d.paused) return AGENT_WHY_ANSWERED;
    if (s->end_run) return AGENT_WHY_TOOL;
    if (s->stop_finish & (1u << s->finish)) return AGENT_WHY_FINISH;
    if (s->steps >= s->max_steps) return AGENT_WHY_STEPS;
    if (agenti_tokens_spent(s)) return AGENT_WHY_TOKENS;
    return s->stop_step ? AGENT_WHY_CANCEL : AGENT_WHY_NONE;
}
static int agenti_outcome(int why)
{
    switch (why) {
    case AGENT_WHY_CANCEL: return AGENT_CANCELLED;
    case AGENT_WHY_ERROR: case AGENT_WHY_HINT: return AGENT_FAILED;
    case AGENT_WHY_STEPS: case AGENT_WHY_TOKENS: case AGENT_WHY_TIME: return AGENT_LIMITED;
    default: return AGENT_COMPLETED;
    }
}
static int agenti_step_end(agenti_session *s)
{
    agent_event *ev = agenti_sign(s, agenti_answer_step_end(&s->answer));
    s->state = AGENTI_S_FAULT;
    s->step_until = UINT64_MAX;
    s->why = agenti_why(s);
    agenti_usage_add(&s->e->ev_usage, &s->spent);
    if (s->cancelling) ev->u.end.outcome = agenti_outcome(s->why);
    else if (s->answer.d.fault.fault) ev->u.end.outcome = AGENT_FAILED;
    if (s->cancelling && !s->answer.d.finish) ev->u.end.finish = AGENT_FINISH_NONE;
    s->finish = ev->u.end.finish;
    ev->u.end.steps = s->steps;
    ev->u.end.why = s->why;
    return AGENTI_PUMP_EVENT;
}

/* ---- the course of a run ---- */
static int agenti_fault_state(agenti_session *s)
{
    s->state = AGENTI_S_NEXT;
    agenti_item_free(s, s->item);
    s->item = NULL;
    if (s->answer.d.fault.fault == AGENT_FAULT_NONE || s->cancelling) return AGENTI_AGAIN;
    if (s->going_on) {
        s->state = AGENTI_S_RETRY_SAY;
        return agenti_answer_error_event(s, AGENT_SCOPE_STEP);
    }
    s->failed = 1;
    if (s->why != AGENT_WHY_HINT) s->why = AGENT_WHY_ERROR;
    return agenti_answer_error_event(s, AGENT_SCOPE_RUN);
}
static int agenti_next_step(agenti_session *s)
{
    const agenti_item *it = agenti_steer(s);
    s->state = AGENTI_S_RETURN;
    if (!s->running) return AGENTI_AGAIN;                    /* a message that was to be stored has failed              */
    if (s->failed && s->retry_now) {
        s->failed = s->retry_now = 0;
        s->attempt = 0;
        s->notes = 1;
        s->why = AGENT_WHY_NONE;
    } else if (!s->failed && s->cancelling) s->why = agenti_why_stopped(s);
    else if (it && !s->stop_step) {
        if (s->why == AGENT_WHY_ANSWERED || s->why == AGENT_WHY_TOOL || s->why == AGENT_WHY_FINISH) s->why = AGENT_WHY_NONE;
        if (it->on && (s->why == AGENT_WHY_STEPS || s->why == AGENT_WHY_TOKENS)) s->why = AGENT_WHY_NONE;
    }
    if (s->why == AGENT_WHY_NONE) s->state = AGENTI_S_STEP;
    return AGENTI_AGAIN;
}
/* After a cancel what waited then goes back to the host.                                                               */
static int agenti_return(agenti_session *s)
{
    agenti_item *it = s->first;
    while (it && !it->back) it = it->next;
    if (it == NULL) {
        s->state = s->running ? AGENTI_S_RUN_END : AGENTI_S_IDLE;
        s->cancelling = s->cancelling && s->running;
        return AGENTI_AGAIN;
    }
    agenti_queued_event(s, it, AGENT_QUEUED_RETURNED);
    agenti_item_unlink(s, it);
    agenti_item_free(s, it);
    return AGENTI_PUMP_EVENT;
}
static int agenti_waits_for(const agenti_session *s)
{
    if (s->first) return AGENT_WAITS_NOBODY;
    switch (s->why) {
    case AGENT_WHY_HINT: return AGENT_WAITS_CLOCK;
    case AGENT_WHY_ERROR: case AGENT_WHY_STEPS: case AGENT_WHY_TOKENS: case AGENT_WHY_TIME: return AGENT_WAITS_HOST;
    default: return AGENT_WAITS_USER;
    }
}
static int agenti_run_end(agenti_session *s)
{
    agent_event *ev = agenti_session_event(s, AGENT_EV_RUN_END);
    s->state = AGENTI_S_IDLE;
    s->running = s->cancelling = 0;
    s->checkpoint = (s->flags & AGENT_S_CHECKPOINTS) != 0;
    s->e->ev_usage = s->usage;
    memcpy(s->e->ev_raw, s->answer.d.finish_raw, sizeof s->e->ev_raw);
    ev->u.end.outcome = agenti_outcome(s->why);
    ev->u.end.why = s->why;
    ev->u.end.waits = agenti_waits_for(s);
    ev->u.end.at_ms = s->why == AGENT_WHY_HINT ? s->retry_at : 0;
    ev->u.end.finish = s->finish;
    ev->u.end.steps = s->steps;
    ev->u.end.raw = agenti_cstr(s->e->ev_raw);
    ev->u.end.usage = &s->e->ev_usage;
    ev->u.end.model = ev->u.end.request_id = ev->u.end.headers = agenti_str(NULL, 0);
    agenti_answer_begin(s);                   /* lets go of what the answer held                                        */
    return AGENTI_PUMP_EVENT;
}

/* ---- cancel and clock ---- */
static void agenti_break(agenti_session *s, int why)          /* all ends but what has to be closed                     */
{
    if (!s->cancelling) s->cancelling = (uint8_t)why;
    if (s->state == AGENTI_S_IDLE) s->state = AGENTI_S_RETURN;
    else if (s->state == AGENTI_S_ANSWER || s->state == AGENTI_S_JUDGE) agenti_answer_stop(s);
    else if (s->state == AGENTI_S_RETRY_SAY || s->state == AGENTI_S_RETRY) s->state = s->going_on ? AGENTI_S_NEXT : AGENTI_S_PARTS;
    s->going_on = 0;
}
static void agenti_cancel_take(agenti_session *s)
{
    int when = s->cancel, waits = s->state == AGENTI_S_IDLE || s->state == AGENTI_S_RETRY_SAY || s->state == AGENTI_S_RETRY;
    s->cancel = 0;
    if (when == AGENT_STOP_STEP && !waits) {
        s->stop_step = 1;
        if (s->going_on) s->retry_at = 0;     /* no other step comes: the fault stands                                  */
        s->going_on = 0;
        return;
    }
    if (when == AGENT_STOP_NOW) s->tools_may_end = 0;
    else if (!s->cancelling) s->tools_may_end = 1;
    agenti_break(s, AGENTI_STOPPED_CANCEL);
}
static int agenti_time_counts(const agenti_session *s) { return s->running && (!s->cancelling || s->tools_may_end); }
/* When something has to happen though nobody calls. *sure: nothing that the host may still feed can change it.         */
static uint64_t agenti_due(const agenti_session *s, int *sure)
{
    uint64_t at = UINT64_MAX, most = agenti_time_counts(s) ? (s->run_until < s->step_until ? s->run_until : s->step_until) : UINT64_MAX;
    const char *why;
    if (s->state == AGENTI_S_RETRY) at = s->retry_at;
    else if (s->state == AGENTI_S_ANSWER && s->conn) at = agenti_answer_due(s, &why);
    else if (s->state == AGENTI_S_TOOLS) at = agenti_tools_due(s);
    *sure = s->state == AGENTI_S_RETRY && at <= most;
    return at < most ? at : most;
}
static void agenti_clock(agenti_session *s)
{
    if (!agenti_time_counts(s) || (s->e->now < s->run_until && s->e->now < s->step_until)) return;
    s->tools_may_end = 0;
    agenti_break(s, AGENTI_STOPPED_TIME);
}
static int agenti_turn(agenti_session *s)
{
    switch (s->state) {
    case AGENTI_S_IDLE: return agenti_idle(s);
    case AGENTI_S_TAKE: return agenti_take(s);
    case AGENTI_S_MEND: return agenti_mend(s);
    case AGENTI_S_MEND_ADD: return agenti_mend_add(s);
    case AGENTI_S_MENDED: return agenti_user_end(s, AGENTI_S_TAKE);
    case AGENTI_S_USER_ADD: return agenti_user_add(s);
    case AGENTI_S_USER_END: return agenti_user_end(s, s->running ? AGENTI_S_STEP : AGENTI_S_RETURN);
    case AGENTI_S_STEP: return agenti_step_begin(s);
    case AGENTI_S_SEND: return agenti_step_send(s);
    case AGENTI_S_ANSWER: return agenti_answer_wait(s);
    case AGENTI_S_JUDGE: return agenti_judge(s);
    case AGENTI_S_RETRY_SAY: return agenti_retry_say(s);
    case AGENTI_S_RETRY: return agenti_retry_wait(s);
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
AGENTI_FN int agenti_session_pump(agenti_session *s)
{
    int rc, sure;
    uint64_t due;
    if (s->closed) { agenti_session_free(s); return AGENTI_PUMP_GONE; }
    if ((rc = agenti_news(s)) != AGENTI_AGAIN) return rc;
    if (s->cancel) agenti_cancel_take(s);
    if (s->timer.rang) agenti_clock(s);
    while (rc == AGENTI_AGAIN) rc = agenti_turn(s);
    if (rc != AGENTI_PUMP_NONE) return rc;
    s->timer.rang = 0;
    due = agenti_due(s, &sure);
    agenti_timer_set(s->e, &s->timer, due, sure);
    return rc;
}
#endif
