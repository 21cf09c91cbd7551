/* What models a provider has: one GET of its list, one MODELS event. */
enum agenti_listing_state { AGENTI_LISTING_SEND, AGENTI_LISTING_ANSWER, AGENTI_LISTING_END };
typedef struct agenti_listing {
    agenti_waiter waits;                      /* first: at its peer                                                     */
    agenti_peer *peer;
    agenti_conn *conn;
    agenti_answer answer;
    agenti_nums nums;
    int state;
    uint8_t fresh;                            /* not an idle connection                                                 */
} agenti_listing;

AGENTI_FN int  agenti_listing_pump(agenti_listing *);         /* 1: an event was made                                   */
AGENTI_FN void agenti_listings_drop(agenti_peer *);           /* its peer goes, without events                          */

/* What the public calls of the same names do; the calls themselves are in record.c.                                     */
#ifndef AGENT_NO_MODELS
AGENTI_FN int agenti_do_models(agent_engine *e, agent_id peer);
#endif

#if !defined AGENTI_SPLIT || defined AGENTI_PART_MODELS
#ifdef AGENT_NO_MODELS
AGENTI_FN int agenti_listing_pump(agenti_listing *l) { (void)l; return 0; }
AGENTI_FN void agenti_listings_drop(agenti_peer *p) { (void)p; }
#else
AGENTI_FN int agenti_do_models(agent_engine *e, agent_id peer)
{
    agenti_peer *p = agenti_peer_get(e, peer);
    agenti_listing *l;
    if (p == NULL) return agenti_say(e, AGENT_E_STALE, "no such peer");
    if (p->row->models == NULL) return agenti_say(e, AGENT_E_STATE, "this provider has no list of models");
    if ((l = (agenti_listing *)agenti_get(&e->pool, sizeof *l)) == NULL) return agenti_say(e, AGENT_E_NOMEM, "out of memory");
    l->peer = p;
    l->waits.ready.owner = l;
    l->waits.ready.kind = AGENTI_LISTING;
    l->waits.next = p->listings;
    p->listings = &l->waits;
    agenti_answer_start(&l->answer, e, &e->pool, agenti_model_list(), 0);
    l->answer.nums = &l->nums;
    agenti_wake(&e->sessions, &l->waits.ready);
    return AGENT_OK;
}
static void agenti_listing_free(agenti_listing *l)
{
    agent_engine *e = l->peer->e;
    agenti_waiter **at = &l->peer->listings;
    while (*at != &l->waits) at = &(*at)->next;
    *at = l->waits.next;
    agenti_sleep(&l->waits.ready);
    agenti_answer_free(&l->answer);
    agenti_put(&e->pool, l, sizeof *l);
}
AGENTI_FN void agenti_listings_drop(agenti_peer *p)
{
    while (p->listings) {
        agenti_listing *l = (agenti_listing *)p->listings->ready.owner;
        if (l->conn) agenti_conn_abort(l->conn);
        agenti_listing_free(l);
    }
}
static int agenti_listing_write(agenti_listing *l)
{
    agenti_conn *c = l->conn;
    const char *path = l->peer->row->models;
    return agenti_out_piece(&c->out, NULL, 0) && agenti_peer_headers(l->peer, &c->lines, 0) && agenti_conn_head_write(c, "GET", path)
        && agenti_out_ready(&c->out, l->peer->signs);
}
static int agenti_listing_send(agenti_listing *l)
{
    agent_engine *e = l->peer->e;
    agenti_exchange x;
    if (!agenti_peer_key_there(l->peer)) return 0;
    l->state = AGENTI_LISTING_END;
    l->conn = l->fresh ? NULL : agenti_conn_reuse(l->peer);
    if (l->conn == NULL) l->conn = agenti_conn_new(e, l->peer);
    if (l->conn == NULL || !agenti_listing_write(l)) {
        int full = l->conn == NULL && e->slots[AGENTI_CONN].live >= e->lim.conns;
        if (l->conn) agenti_conn_abort(l->conn);
        l->conn = NULL;
        agenti_answer_fault(&l->answer, full ? AGENT_FAULT_LIMIT : AGENT_FAULT_NOMEM, 0, full ? e->last : "out of memory for the request");
        return 2;
    }
    memset(&x, 0, sizeof x);
    x.user = l->peer->user;
    x.nums = &l->nums;
    x.ready = &l->waits.ready;
    x.answer = &l->answer;
    l->state = AGENTI_LISTING_ANSWER;
    agenti_conn_begin(l->conn, &x, 0, 0);
    return 0;
}
static int agenti_listing_wait(agenti_listing *l)
{
    agenti_conn *c = l->conn;
    if (!c->over) return 0;
    l->conn = NULL;
    if (c->stale) {                           /* an idle connection that the peer had closed: once more, on a new one   */
        agenti_conn_abort(c);
        agenti_answer_free(&l->answer);
        agenti_answer_start(&l->answer, l->peer->e, &l->peer->e->pool, agenti_model_list(), 0);
        l->answer.nums = &l->nums;
        l->fresh = 1;
        l->state = AGENTI_LISTING_SEND;
        return 2;
    }
    agenti_peer_hide(l->peer, &c->lines, &l->answer.d.fault.text);
    agenti_peer_hide(l->peer, &c->lines, &l->answer.d.fault.code);
    agenti_peer_hide(l->peer, &c->lines, &l->answer.d.request_id);
    if (l->answer.d.fault.fault && l->answer.d.fault.http_status < 300) agenti_conn_abort(c); else agenti_conn_drain(c);
    l->state = AGENTI_LISTING_END;
    return 2;
}
static int agenti_listing_end(agenti_listing *l)
{
    agent_event *ev;
    agenti_peer *p = l->peer;
    if (l->answer.d.fault.fault == AGENT_FAULT_NONE) { agenti_listing_free(l); return -1; }
    ev = agenti_answer_error(&l->answer, AGENT_SCOPE_PEER);
    ev->peer = p->id;
    ev->user = p->user;
    agenti_listing_free(l);                   /* what the event points to lives until the next agent_next               */
    return 1;
}
AGENTI_FN int agenti_listing_pump(agenti_listing *l)
{
    int rc = 2;
    while (rc == 2) {
        if (l->state == AGENTI_LISTING_SEND) rc = agenti_listing_send(l);
        else rc = l->state == AGENTI_LISTING_ANSWER ? agenti_listing_wait(l) : agenti_listing_end(l);
    }
    return rc;
}
#endif
#endif
