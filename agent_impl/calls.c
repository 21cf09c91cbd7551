/* The calls of a step: which of them run, side by side or not, how each ends, and their results in the table. */
AGENTI_FN int agenti_model_end(agenti_session *);             /* of state MODEL_END: decides about each call            */
AGENTI_FN int agenti_tools(agenti_session *);                 /* of state TOOLS                                         */
AGENTI_FN int agenti_results_add(agenti_session *);           /* of state RESULTS_ADD                                   */
AGENTI_FN int agenti_tool_find(const agenti_session *, const agenti_part *call);              /* -1: there is none     */
AGENTI_FN void agenti_tool_unknown(agenti_session *, const agenti_part *call, agenti_part *r);  /* what the model is told then */
AGENTI_FN uint64_t agenti_tools_due(const agenti_session *);  /* when the first of those that run is out of time        */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_CALLS
AGENTI_FN int agenti_tool_find(const agenti_session *s, const agenti_part *call)
{
    size_t i;
    for (i = 0; i < s->tools.n; i++)
        if (s->tools.p[i].name.n == call->name.n && memcmp(s->tools.p[i].name.p, call->name.p, call->name.n) == 0) return (int)i;
    return -1;
}
AGENTI_FN void agenti_tool_unknown(agenti_session *s, const agenti_part *call, agenti_part *r)
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
AGENTI_FN int agenti_model_end(agenti_session *s)
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
    ev->u.tool.timeout_ms = 0;
    return ev;
}
static int agenti_need_over(agenti_session *s, agenti_part *r)
{
    agent_event *ev = agenti_result_event(s, AGENT_EV_NEED_DONE, r);
    ev->need = r->need;
    memset(&ev->u, 0, sizeof ev->u);          /* what the union holds does not apply                                    */
    r->need = 0;
    return AGENTI_PUMP_EVENT;
}
static int agenti_tool_report(agenti_session *s, agenti_part *r)
{
    agent_event *ev;
    if (r->need) return agenti_need_over(s, r);
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
    r->until = agenti_after(s->e->now, ev->u.tool.timeout_ms);
    return AGENTI_PUMP_EVENT;
}
/* The host is told to stop what runs; what does not end by itself then, ends with what it has printed so far.          */
static int agenti_tool_stop(agenti_session *s, agenti_part *r, int why)
{
    r->stopped = (uint8_t)why;
    r->until = agenti_after(s->e->now, s->grace_ms);
    agenti_result_event(s, AGENT_EV_TOOL_CANCEL, r)->u.tool.timeout_ms = s->grace_ms;
    return AGENTI_PUMP_EVENT;
}
static int agenti_tool_break(agenti_session *s, agenti_part *r, int why)
{
    static const char late[] = "\n[The tool ran out of time.]";
    agenti_text_scrub(&r->text);
    if (r->text.n == 0) agenti_text_static(&r->text, &s->e->graves, why == AGENTI_STOPPED_LATE ? "The tool ran out of time."
                                           : why == AGENTI_STOPPED_TIME ? "Stopped: the run is out of time." : "Cancelled by the user.");
    else if (why == AGENTI_STOPPED_LATE) (void)agenti_text_add(&r->text, &s->pool, &s->e->graves, agenti_str(late, sizeof late - 1));
    agenti_result_done(s, r, why == AGENTI_STOPPED_LATE ? AGENT_DONE_ERROR : AGENT_DONE_CANCELLED);
    return AGENTI_AGAIN;
}
/* What a cancel and the clock do to a call. NONE: nothing.                                                             */
static int agenti_tool_ends(agenti_session *s, agenti_part *r)
{
    int due = r->state == AGENTI_CALL_RUNNING && s->timer.rang && s->e->now >= r->until;
    if (r->state == AGENTI_CALL_WAITING && s->cancelling) return agenti_tool_break(s, r, s->cancelling);
    if (r->state != AGENTI_CALL_RUNNING) return AGENTI_PUMP_NONE;
    if (r->stopped) return due || s->grace_ms == 0 ? agenti_tool_break(s, r, r->stopped) : AGENTI_PUMP_NONE;
    if (s->cancelling && !s->tools_may_end) return agenti_tool_stop(s, r, s->cancelling);
    return due ? agenti_tool_stop(s, r, AGENTI_STOPPED_LATE) : AGENTI_PUMP_NONE;
}
AGENTI_FN int agenti_tools(agenti_session *s)
{
    agenti_msg *m = s->answer.results;
    agenti_part *first = NULL, *waiting = NULL;
    uint32_t i, open = 0, running = 0, serial = 0;
    for (i = 0; i < m->n; i++) {
        agenti_part *r = &m->parts[i];
        int rc = agenti_tool_ends(s, r);
        if (rc == AGENTI_PUMP_EVENT) return rc;
        if (r->state == AGENTI_CALL_WAITING && r->need) return agenti_need_over(s, r);       /* it ran when the session was saved */
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
AGENTI_FN int agenti_results_add(agenti_session *s)
{
    agenti_msg *m = s->answer.results;
    s->state = AGENTI_S_RESULTS_END;
    m->id = ++s->nums.msg;
    m->run = s->nums.run;
    m->ended = 1;
    agenti_table_add(&s->table, m);           /* the room was made with the model's message                             */
    return agenti_msg_event(s, AGENT_EV_MSG_ADD, m);
}
AGENTI_FN uint64_t agenti_tools_due(const agenti_session *s)
{
    const agenti_msg *m = s->answer.results;
    uint64_t at = UINT64_MAX;
    uint32_t i;
    for (i = 0; i < m->n; i++) if (m->parts[i].state == AGENTI_CALL_RUNNING && m->parts[i].until < at) at = m->parts[i].until;
    return at;
}
#endif
