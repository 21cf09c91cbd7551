/* The engine from outside: open, close, time, and the one function that parses and makes events. */
/* What the public calls of the same names do; the calls themselves are in record.c.                                     */
AGENTI_FN int agenti_do_open(agent_engine **out, const agent_desc *d, uint32_t abi, size_t event_size);
AGENTI_FN void agenti_do_close(agent_engine *e);
AGENTI_FN int agenti_do_peer_close(agent_engine *e, agent_id id);
AGENTI_FN int agenti_do_tick(agent_engine *e, uint64_t mono_ms, uint64_t wall_ms);
AGENTI_FN const agent_event *agenti_do_next(agent_engine *e);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_PUMP
static int agenti_limits_fill(agent_limits *l)
{
    l->recv = agenti_limit(l->recv, 65536);
    l->piece = agenti_limit(l->piece, 8192);
    l->item = agenti_limit(l->item, 8u << 20);
    l->head = agenti_limit(l->head, 65536);
    l->depth = agenti_limit(l->depth, 64);
    l->calls_per_step = agenti_limit(l->calls_per_step, 128);
    l->scan_per_next = agenti_limit(l->scan_per_next, 65536);
    if (l->sessions == 0 || l->sessions == AGENT_OFF) l->sessions = 65535;
    if (l->conns == 0 || l->conns == AGENT_OFF) l->conns = 65535;
    if (l->peers == 0 || l->peers == AGENT_OFF) l->peers = 65535;
    if (l->depth == AGENT_OFF) l->depth = 64;
    return l->recv >= 512 && l->piece >= 16 && l->depth <= 64 && l->sessions <= 65535 && l->conns <= 65535 && l->peers <= 65535;
}
AGENTI_FN int agenti_do_open(agent_engine **out, const agent_desc *d, uint32_t abi, size_t event_size)
{
    agenti_pool pool;
    agent_limits lim;
    agent_engine *e;
    if (out) *out = NULL;
    if (out == NULL || d == NULL || abi != AGENT_ABI || event_size != sizeof(agent_event)) return AGENT_E_ARG;
    lim = d->limits;
    if (!agenti_limits_fill(&lim)) return AGENT_E_ARG;
    agenti_pool_child(&pool, NULL, agenti_mem_limit(d->mem_limit));
    pool.alloc = d->alloc;
    pool.ctx = d->alloc_ctx;
    if (d->block && !agenti_heap_init(&pool.heap, d->block, d->block_size)) return AGENT_E_ARG;
#if defined AGENT_NO_MALLOC && !defined AGENT_REALLOC
    if (d->block == NULL && d->alloc == NULL) return AGENT_E_ARG;
#endif
#ifdef AGENT_NO_RECORD
    if (d->record) return AGENT_E_ARG;
#endif
    if ((e = (agent_engine *)agenti_get(&pool, sizeof *e)) == NULL) return AGENT_E_NOMEM;
    e->pool = pool;
    e->lim = lim;
    e->rows = d->providers;
    e->row_count = d->provider_count;
    e->seed = d->seed;
    e->sessions.next = e->sessions.prev = &e->sessions;
    e->conns.next = e->conns.prev = &e->conns;
    *out = e;
    return AGENT_OK;
}
AGENTI_FN void agenti_do_close(agent_engine *e)
{
    agenti_pool pool;
    uint32_t i, kind;
    if (e == NULL) return;
    agenti_bury_all(&e->graves);              /* what the last event points to is nobody's any more                      */
    while (e->sessions.next != &e->sessions) {                /* closed sessions have no handle any more                */
        agenti_ready *r = e->sessions.next;
        agenti_sleep(r);
        if (r->kind == AGENTI_SESSION && ((agenti_session *)r->owner)->closed) agenti_session_free((agenti_session *)r->owner);
    }
    for (i = 0; i < e->slots[AGENTI_SESSION].n; i++)
        if (e->slots[AGENTI_SESSION].p[i].p) agenti_session_free((agenti_session *)e->slots[AGENTI_SESSION].p[i].p);
    for (i = 0; i < e->slots[AGENTI_PEER].n; i++)
        if (e->slots[AGENTI_PEER].p[i].p) agenti_listings_drop((agenti_peer *)e->slots[AGENTI_PEER].p[i].p);
    for (i = 0; i < e->slots[AGENTI_CONN].n; i++)
        if (e->slots[AGENTI_CONN].p[i].p) agenti_conn_free((agenti_conn *)e->slots[AGENTI_CONN].p[i].p);
    while (e->pinned_first) agenti_conn_unpin(e->pinned_first);
    for (i = 0; i < e->slots[AGENTI_PEER].n; i++)
        if (e->slots[AGENTI_PEER].p[i].p) agenti_peer_free((agenti_peer *)e->slots[AGENTI_PEER].p[i].p);
    agenti_bury_all(&e->graves);
    agenti_put(&e->pool, e->timers, e->timer_cap * sizeof *e->timers);
    for (kind = 1; kind < 4; kind++) agenti_put(&e->pool, e->slots[kind].p, e->slots[kind].cap * sizeof *e->slots[kind].p);
    pool = e->pool;
    agenti_put(&pool, e, sizeof *e);
}
/* Its connections lose it: idle and draining ones close.                                                               */
AGENTI_FN int agenti_do_peer_close(agent_engine *e, agent_id id)
{
    agenti_peer *p = agenti_peer_get(e, id);
    uint32_t i;
    if (p == NULL) return agenti_say(e, AGENT_E_STALE, "no such peer");
    if (p->sessions) return agenti_say(e, AGENT_E_STATE, "sessions use this peer");
    agenti_listings_drop(p);
    for (i = 0; i < e->slots[AGENTI_CONN].n; i++) {
        agenti_conn *c = (agenti_conn *)e->slots[AGENTI_CONN].p[i].p;
        if (c && c->peer == p) agenti_conn_orphan(c);
    }
    agenti_peer_free(p);
    return AGENT_OK;
}
AGENTI_FN int agenti_do_tick(agent_engine *e, uint64_t mono_ms, uint64_t wall_ms)
{
    if (mono_ms < e->now) return agenti_say(e, AGENT_E_ARG, "the monotonic clock runs backwards");
    e->now = mono_ms;
    e->wall = wall_ms;
    return AGENT_OK;
}
AGENTDEF uint64_t agent_deadline(const agent_engine *e)
{
    uint64_t at = agenti_timer_next(e);
    if (e->sessions.next != &e->sessions || e->conns.next != &e->conns) return e->now;
    return e->drain_first && e->drain_first->drain_until < at ? e->drain_first->drain_until : at;
}
AGENTDEF int agent_memory(const agent_engine *e, agent_id id, size_t *now, size_t *peak)
{
    const agenti_session *s = id ? agenti_session_get(e, id) : NULL;
    const agenti_pool *pool = s ? &s->pool : &e->pool;
    if (id && s == NULL) return AGENT_E_STALE;
    if (now) *now = pool->now;
    if (peak) *peak = pool->peak;
    return AGENT_OK;
}
/* One turn of whoever has work; it goes to the end of its ring first, so that all get their turn.                      */
static int agenti_pump_session(agent_engine *e)
{
    agenti_ready *r = e->sessions.next;
    int rc;
    agenti_sleep(r);
    agenti_wake(&e->sessions, r);
    if (r->kind == AGENTI_SESSION) rc = agenti_session_pump((agenti_session *)r->owner);
    else if (r->kind == AGENTI_LISTING) rc = agenti_listing_pump((agenti_listing *)r->owner);
    else rc = r->kind == AGENTI_PEER ? agenti_peer_pump((agenti_peer *)r->owner) : agenti_decode_pump((agenti_decode *)r->owner);
    if (rc == AGENTI_PUMP_NONE) agenti_sleep(r);
    return rc == AGENTI_PUMP_EVENT;
}
static int agenti_pump_conn(agent_engine *e)
{
    agenti_ready *r = e->conns.next;
    int rc;
    if (r->next != &e->conns) {               /* not alone                                                              */
        agenti_sleep(r);
        agenti_wake(&e->conns, r);
    }
    if (agenti_conn_repeats((agenti_conn *)r->owner)) return 1;
    if ((rc = agenti_conn_pump((agenti_conn *)r->owner)) != 0) return rc > 0;
    if (e->scanned < e->lim.scan_per_next) agenti_sleep(r);
    return 0;
}
static AGENTI_NOINLINE const agent_event *agenti_pump(agent_engine *e)
{
    for (;;) {
        if (e->sessions.next != &e->sessions) {
            if (agenti_pump_session(e)) return &e->ev;
        } else if (e->conns.next != &e->conns) {
            if (e->scanned >= e->lim.scan_per_next) return NULL;
            if (agenti_pump_conn(e)) return &e->ev;
        } else if (!agenti_timers_ring(e)) return NULL;
    }
}
AGENTI_FN const agent_event *agenti_do_next(agent_engine *e)
{
    const agenti_ready *r = e->conns.next;
    if (e->graves) agenti_bury_all(&e->graves);
    e->scanned = 0;
    if (e->drain_first) agenti_conn_time(e);
    else if (e->sessions.next == &e->sessions && r->owner && r->next == &e->conns && agenti_conn_repeats((agenti_conn *)r->owner)) return &e->ev;
    return agenti_pump(e);
}
#endif
