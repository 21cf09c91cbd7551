/* What the host changes in a session's queue and table. The loop takes it from there. */
/* What the public calls of the same names do; the calls themselves are in record.c.                                     */
AGENTI_FN int agenti_do_queue_cancel(agent_engine *e, agent_id id, uint32_t item);
AGENTI_FN int agenti_do_queue_move(agent_engine *e, agent_id id, uint32_t item, int lane, uint32_t before);
AGENTI_FN int agenti_do_message_cut(agent_engine *e, agent_id id, agent_num msg);
AGENTI_FN int agenti_do_regenerate(agent_engine *e, agent_id id);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_QUEUE
/* ---- the queue ---- */
static agenti_item *agenti_item_find(const agenti_session *s, uint32_t num)
{
    agenti_item *it = s->first;
    while (it && (it->num != num || (it->news & AGENTI_ITEM_GONE))) it = it->next;
    return it;
}
static int agenti_item_get(agent_engine *e, agenti_session *s, uint32_t num, agenti_item **it)
{
    if (num == 0 || num > s->items) return agenti_say(e, AGENT_E_ARG, "no such item");
    *it = agenti_item_find(s, num);
    return *it ? AGENT_OK : AGENT_LATE;
}
AGENTDEF int agent_queue_at(const agent_engine *e, agent_id id, size_t i, agent_item *out)
{
    const agenti_session *s = agenti_session_get(e, id);
    const agenti_item *it;
    if (s == NULL) return AGENT_E_STALE;
    for (it = s->first; it; it = it->next) if (!(it->news & AGENTI_ITEM_GONE) && i-- == 0) break;
    if (it == NULL) return AGENT_E_ARG;
    out->item = it->num;
    out->lane = it->lane;
    out->part_count = it->msg ? it->msg->n : 0;
    return AGENT_OK;
}
AGENTDEF int agent_queue_part(const agent_engine *e, agent_id id, uint32_t item, size_t i, agent_part *out)
{
    const agenti_session *s = agenti_session_get(e, id);
    const agenti_item *it = s ? agenti_item_find(s, item) : NULL;
    if (s == NULL) return AGENT_E_STALE;
    if (it == NULL || it->msg == NULL || i >= it->msg->n) return AGENT_E_ARG;
    agenti_part_view(&it->msg->parts[i], out);
    return AGENT_OK;
}
static void agenti_item_news(agenti_session *s, agenti_item *it, int news)
{
    it->news |= (uint8_t)news;
    s->untold = s->first;
    agenti_wake(&s->e->sessions, &s->ready);
}
AGENTI_FN int agenti_do_queue_cancel(agent_engine *e, agent_id id, uint32_t item)
{
    agenti_session *s = agenti_session_get(e, id);
    agenti_item *it;
    int rc;
    if (s == NULL) return agenti_stale_session(e);
    if ((rc = agenti_item_get(e, s, item, &it)) != AGENT_OK) return rc;
    agenti_item_news(s, it, AGENTI_ITEM_GONE);
    return AGENT_OK;
}
AGENTI_FN int agenti_do_queue_move(agent_engine *e, agent_id id, uint32_t item, int lane, uint32_t before)
{
    agenti_session *s = agenti_session_get(e, id);
    agenti_item *it, *next = NULL;
    int rc;
    if (s == NULL) return agenti_stale_session(e);
    if (!agenti_lane_good(lane)) return agenti_say(e, AGENT_E_ARG, "no such lane");
    if ((rc = agenti_item_get(e, s, item, &it)) != AGENT_OK) return rc;
    if (lane == AGENT_STORE && it->msg == NULL) return agenti_say(e, AGENT_E_ARG, "there is nothing to store");
    if (before && (rc = agenti_item_get(e, s, before, &next)) != AGENT_OK) return rc;
    it->lane = (uint8_t)lane;
    if (next != it) {
        agenti_item_unlink(s, it);
        it->next = next;
        it->prev = next ? next->prev : s->last;
        if (it->prev) it->prev->next = it; else s->first = it;
        if (next) next->prev = it; else s->last = it;
    }
    agenti_item_news(s, it, AGENTI_ITEM_MOVED);
    return AGENT_OK;
}

/* ---- the table ---- */
static int agenti_cut_from(agenti_session *s, size_t from)
{
    size_t n = s->table.n - from;
    if (n == 0) return 0;
    if (s->cut == 0 || s->table.msgs[from]->id < s->cut) s->cut = s->table.msgs[from]->id;
    while (s->table.n > from) agenti_msg_free(&s->pool, s->table.msgs[--s->table.n], &s->e->graves);
    s->old_log = 1;
    agenti_wake(&s->e->sessions, &s->ready);
    return n > INT32_MAX ? INT32_MAX : (int)n;
}
static int agenti_may_cut(agent_engine *e, const agenti_session *s)
{
    if (s == NULL) return agenti_stale_session(e);
    return s->state == AGENTI_S_IDLE && s->first == NULL && s->load == NULL ? AGENT_OK : agenti_say(e, AGENT_E_STATE, "a run is going on, or something waits");
}
AGENTI_FN int agenti_do_message_cut(agent_engine *e, agent_id id, agent_num msg)
{
    agenti_session *s = agenti_session_get(e, id);
    size_t i;
    int rc = agenti_may_cut(e, s);
    if (rc != AGENT_OK) return rc;
    i = agenti_msg_find(s, msg);
    return i < s->table.n ? agenti_cut_from(s, i) : agenti_say(e, AGENT_E_ARG, "no such message");
}
AGENTI_FN int agenti_do_regenerate(agent_engine *e, agent_id id)
{
    agenti_session *s = agenti_session_get(e, id);
    size_t n;
    int rc = agenti_may_cut(e, s);
    if (rc != AGENT_OK) return rc;
    for (n = s->table.n; n > 0 && (s->table.msgs[n - 1]->role != AGENT_USER || (s->table.msgs[n - 1]->flags & AGENT_MSG_NOTE)); n--) {}
    if (n == 0) return agenti_say(e, AGENT_E_STATE, "the user has said nothing yet");
    if ((rc = agenti_enqueue(s, NULL, AGENT_QUEUE)) > 0) (void)agenti_cut_from(s, n);
    return rc;
}
#endif
