/* What events say of a session, and the news that wait to be told. */
enum { AGENTI_PUMP_GONE = -1, AGENTI_PUMP_NONE, AGENTI_PUMP_EVENT,       /* GONE: the session is freed               */
       AGENTI_AGAIN };                        /* inside: a state made no event, go on with the next one                 */

AGENTI_FN agent_event *agenti_sign(agenti_session *, agent_event *);
AGENTI_FN agent_event *agenti_session_event(agenti_session *, int type);
AGENTI_FN int agenti_msg_event(agenti_session *, int type, const agenti_msg *);                /* these make the event  */
AGENTI_FN int agenti_queued_event(agenti_session *, const agenti_item *, int op);
AGENTI_FN int agenti_left_out(agenti_session *);              /* WARNING: the next of s->left_out                       */
AGENTI_FN int agenti_news(agenti_session *);                  /* of queue, table and import; AGENTI_AGAIN: there are none */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_NEWS
AGENTI_FN agent_event *agenti_sign(agenti_session *s, agent_event *ev)
{
    ev->session = s->id;
    ev->peer = s->peer->id;
    ev->user = s->user;
    ev->run = s->running ? s->nums.run : 0;
    ev->step = s->running ? s->steps : 0;
    ev->seq = ++s->seq;
    return ev;
}
AGENTI_FN agent_event *agenti_session_event(agenti_session *s, int type) { return agenti_sign(s, agenti_event(s->e, type)); }
AGENTI_FN int agenti_msg_event(agenti_session *s, int type, const agenti_msg *m)
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
AGENTI_FN int agenti_queued_event(agenti_session *s, const agenti_item *it, int op)
{
    agent_event *ev = agenti_session_event(s, AGENT_EV_QUEUED);
    ev->u.queued.item = it->num;
    ev->u.queued.op = op;
    ev->u.queued.lane = it->lane;
    if (it->msg) ev->text = agenti_msg_text(s, it->msg);
    return AGENTI_PUMP_EVENT;
}
/* One WARNING for each thing that was asked for and is not in the request, or not in what agent_export gave.            */
static int agenti_left_event(agenti_session *s, int bit)
{
    static const char *const why[] = {
        AGENTI_WHY("reasoning of another model was left out of the request"), AGENTI_WHY("a file that the provider does not take was left out of the request"),
        AGENTI_WHY("there are more prompt cache marks than the provider takes"), AGENTI_WHY("tools were left out of the request: this format has none"),
        AGENTI_WHY("a tool is sent without its flag STRICT: this format has none"),
        AGENTI_WHY("what only the format of an import has in messages and their parts was left out of the request")
    };
    agent_event *ev = agenti_session_event(s, AGENT_EV_WARNING);
    if (bit < AGENTI_OPT_COUNT) {
        ev->text = agenti_cstr(AGENTI_WHY("the provider does not take this option, or not beside the others: it was not sent"));
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
AGENTI_FN int agenti_left_out(agenti_session *s)
{
    int bit = agenti_lowest(s->left_out);
    s->left_out &= ~AGENTI_BIT(bit);
    if (bit < AGENTI_OPT_COUNT || bit == AGENTI_LEFT_TOOLS || bit == AGENTI_LEFT_STRICT) s->told_out |= AGENTI_BIT(bit);
    return agenti_left_event(s, bit);
}
static int agenti_queue_news(agenti_session *s)
{
    agenti_item *it = s->untold;
    if (it->news & AGENTI_ITEM_ADDED) {
        it->news = (uint8_t)(it->news - AGENTI_ITEM_ADDED);
        it->told = 1;
        return agenti_queued_event(s, it, AGENT_QUEUED_ADDED);
    }
    if (it->news & AGENTI_ITEM_GONE) {
        agenti_queued_event(s, it, AGENT_QUEUED_RETURNED);
        agenti_item_unlink(s, it);
        agenti_item_free(s, it);
        return AGENTI_PUMP_EVENT;
    }
    s->untold = it->next;
    if (!it->news) return AGENTI_AGAIN;
    it->news = 0;
    return agenti_queued_event(s, it, AGENT_QUEUED_MOVED);
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
        return agenti_left_event(s, bit);
    }
    for (i = 0; i < s->kept_n && s->kept[i].told; i++) {}
    if (i == s->kept_n && s->lost.n == 0) { s->news = 0; return AGENTI_AGAIN; }
    ev = agenti_session_event(s, AGENT_EV_WARNING);
    if (i == s->kept_n) {
        ev->text = agenti_cstr(AGENTI_WHY("a member of the import's messages has no place, and goes back nowhere"));
        ev->name = agenti_text_view(&s->lost);
        agenti_text_free(&s->lost, &s->e->graves);
        return AGENTI_PUMP_EVENT;
    }
    s->kept[i].told = 1;
    ev->name = agenti_text_view(&s->kept[i].key);
    ev->text = agenti_cstr(s->kept[i].gone ? AGENTI_WHY("an option was set anew: this member of the import has gone, with all that was in it")
                         : AGENTI_WHY("a member of the import that only its own format has: it is not in requests of others"));
    return AGENTI_PUMP_EVENT;
}
AGENTI_FN int agenti_news(agenti_session *s)
{
    int rc = AGENTI_AGAIN;
    while (s->untold && rc == AGENTI_AGAIN) rc = agenti_queue_news(s);        /* before any item leaves the queue        */
    if (rc == AGENTI_AGAIN && s->cut) {
        agenti_session_event(s, AGENT_EV_MSG_CUT)->msg = s->cut;
        s->cut = 0;
        rc = AGENTI_PUMP_EVENT;
    }
    if (rc == AGENTI_AGAIN && s->torn) {
        s->torn = 0;
        agenti_session_event(s, AGENT_EV_WARNING)->text = agenti_cstr("the saved session was cut: what is behind its last complete save was left out");
        rc = AGENTI_PUMP_EVENT;
    }
    return rc == AGENTI_AGAIN && (s->news || s->export_left) ? agenti_import_news(s) : rc;
}
#endif
