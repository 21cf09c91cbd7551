/* What has to happen at a time: one heap for all owners, so that the next is known at once however many there are. */
typedef struct agenti_timer {
    agenti_ready *ready;                      /* woken when it is due                                                   */
    uint64_t at;
    uint32_t place;                           /* in the heap, from 1; 0: not set                                        */
    uint8_t sure;                             /* nothing that the host has not yet fed can change it                    */
    uint8_t rang;                             /* it was due; who looks puts it back to 0                                */
} agenti_timer;

AGENTI_FN int  agenti_timer_room(agent_engine *);             /* for one owner more; 0: no memory                       */
AGENTI_FN void agenti_timer_leave(agent_engine *, agenti_timer *);                /* the owner goes, and its room       */
AGENTI_FN void agenti_timer_set(agent_engine *, agenti_timer *, uint64_t at, int sure);       /* UINT64_MAX: not at all */
AGENTI_FN uint64_t agenti_timer_next(const agent_engine *);   /* UINT64_MAX: none is set                                */
/* Wakes the owners of those that are due: 1, 0 there are none. One that silence has brought about rings only if an agent_next before found
 * nothing to do at its time already: a host that slept gets to feed what has come meanwhile.                            */
AGENTI_FN int  agenti_timers_ring(agent_engine *);
AGENTI_FN uint64_t agenti_after(uint64_t from, uint32_t ms);  /* AGENT_OFF: never                                       */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_TIMER
AGENTI_FN uint64_t agenti_after(uint64_t from, uint32_t ms)
{
    return ms == AGENT_OFF || from > UINT64_MAX - ms ? UINT64_MAX : from + ms;
}
AGENTI_FN int agenti_timer_room(agent_engine *e)
{
    uint32_t cap = e->timer_cap ? e->timer_cap * 2 : 4;
    agenti_timer **p;
    if (e->timer_owners < e->timer_cap) { e->timer_owners++; return 1; }
    p = (agenti_timer **)agenti_resize(&e->pool, e->timers, e->timer_cap * sizeof *p, cap * sizeof *p);
    if (p == NULL) return 0;
    e->timers = p;
    e->timer_cap = cap;
    e->timer_owners++;
    return 1;
}
static void agenti_timer_put(agent_engine *e, uint32_t place, agenti_timer *t)
{
    e->timers[place - 1] = t;
    t->place = place;
}
static void agenti_timer_up(agent_engine *e, uint32_t place, agenti_timer *t)
{
    while (place > 1 && e->timers[place / 2 - 1]->at > t->at) {
        agenti_timer_put(e, place, e->timers[place / 2 - 1]);
        place /= 2;
    }
    agenti_timer_put(e, place, t);
}
static void agenti_timer_down(agent_engine *e, uint32_t place, agenti_timer *t)
{
    uint32_t next;
    while ((next = place * 2) <= e->timer_n) {
        if (next < e->timer_n && e->timers[next]->at < e->timers[next - 1]->at) next++;
        if (e->timers[next - 1]->at >= t->at) break;
        agenti_timer_put(e, place, e->timers[next - 1]);
        place = next;
    }
    agenti_timer_put(e, place, t);
}
static void agenti_timer_drop(agent_engine *e, agenti_timer *t)
{
    uint32_t place = t->place;
    agenti_timer *last;
    if (place == 0) return;
    t->place = 0;
    last = e->timers[--e->timer_n];
    if (last == t) return;
    if (place > 1 && e->timers[place / 2 - 1]->at > last->at) agenti_timer_up(e, place, last);
    else agenti_timer_down(e, place, last);
}
AGENTI_FN void agenti_timer_leave(agent_engine *e, agenti_timer *t)
{
    agenti_timer_drop(e, t);
    e->timer_owners--;
}
AGENTI_FN void agenti_timer_set(agent_engine *e, agenti_timer *t, uint64_t at, int sure)
{
    t->sure = (uint8_t)sure;
    if (t->place && t->at == at) return;
    agenti_timer_drop(e, t);
    t->at = at;
    if (at != UINT64_MAX) agenti_timer_up(e, ++e->timer_n, t);
}
AGENTI_FN uint64_t agenti_timer_next(const agent_engine *e) { return e->timer_n ? e->timers[0]->at : UINT64_MAX; }
AGENTI_FN int agenti_timers_ring(agent_engine *e)
{
    uint64_t idle = e->idle_at;
    int rang = 0;
    while (e->timer_n && e->timers[0]->at <= e->now && (e->timers[0]->sure || e->timers[0]->at <= idle)) {
        agenti_timer *t = e->timers[0];
        agenti_timer_drop(e, t);
        t->rang = 1;
        agenti_wake(&e->sessions, t->ready);
        rang = 1;
    }
    e->idle_at = e->now;
    return rang;
}
#endif
