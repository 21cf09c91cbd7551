/* The engine's own state: handles, who has work, the one event that is out. */
enum agenti_kind { AGENTI_PEER = 1, AGENTI_SESSION = 2, AGENTI_CONN = 3, AGENTI_LISTING = 4 /* has no handle */ };
typedef struct agenti_ready {                 /* a link of a FIFO of those that have work                               */
    struct agenti_ready *next, *prev;         /* both NULL: not in it                                                   */
    void *owner;
    int kind;                                 /* of the owner, an agenti_kind; in the sessions' ring a CONN is a decoder, a PEER has a question */
} agenti_ready;
typedef struct agenti_slot { void *p; uint16_t gen; } agenti_slot;
typedef struct agenti_slots { agenti_slot *p; uint32_t n, cap, hint, live; } agenti_slots;

struct agenti_conn;
struct agenti_timer;
struct agent_engine {
    agenti_pool pool;                         /* first: copied in when the engine is made                               */
    agenti_blob *graves;
    const char *last;
    size_t scanned;                           /* by this agent_next                                                     */
    uint64_t now, wall, seed;
    agenti_ready sessions, conns;             /* heads of rings                                                         */
    struct agenti_conn *drain_first, *drain_last;    /* answers that are over but not read to their end, oldest first   */
    int ev_plain;                             /* ev is a delta, and has nothing beside what every delta of its type has  */
    agent_limits lim;                         /* defaults filled in                                                     */
    const agent_provider *rows; size_t row_count;
    agenti_slots slots[4];                    /* by agenti_kind                                                         */
    struct agenti_conn *pinned_first, *pinned_last;  /* closed, but the host still reads into their buffers             */
    struct agenti_timer **timers;             /* a heap, the next one first                                             */
    uint32_t timer_n, timer_cap, timer_owners;        /* owners: those that may set one; there is room for each          */
    uint64_t idle_at;                         /* when an agent_next last found nothing to do                            */
    char last_text[128];                      /* what last points to, when there is a number in it                       */
    agent_event ev;
    agent_usage ev_usage;
    char ev_raw[32];
#ifndef AGENT_NO_RECORD
    agent_sink_fn record; void *record_ctx;
    struct agenti_line *line;                 /* of the call that is being recorded                                     */
    agenti_pool under;                        /* whom the recorder asks for memory                                      */
    uint64_t asked;                           /* how often                                                              */
    agent_id delta_of; agent_num delta_part; size_t delta_run;       /* the end of the last delta was the beginning of a key */
#endif
    int no_shortcut;                          /* for tests: every event is read in full                                 */
};

AGENTI_FN int      agenti_say(agent_engine *, int code, const char *why);        /* sets agent_last, returns code        */
AGENTI_FN agent_id agenti_id_new(agent_engine *, int kind, void *p);             /* 0: no memory or over the limit       */
AGENTI_FN void     agenti_id_free(agent_engine *, agent_id);
AGENTI_FN void    *agenti_id_get(const agent_engine *, agent_id, int kind);      /* NULL: stale                          */
AGENTI_FN void     agenti_wake(agenti_ready *head, agenti_ready *);              /* at the end, unless it is in          */
AGENTI_FN void     agenti_sleep(agenti_ready *);
AGENTI_FN agent_event *agenti_event(agent_engine *, int type);                   /* e->ev, cleared                       */
AGENTI_FN size_t   agenti_len(const char *p, size_t n);                          /* n, or strlen for AGENT_CSTR          */
AGENTI_FN uint32_t agenti_limit(uint32_t given, uint32_t otherwise);             /* 0 resolved; AGENT_OFF is the largest */
AGENTI_FN size_t   agenti_mem_limit(size_t given);                               /* AGENT_OFF is none, as 0 is           */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_ENGINE
AGENTI_FN int agenti_say(agent_engine *e, int code, const char *why)
{
#ifdef AGENT_NO_WORDS                    /* compilers then drop what nobody reads                                       */
    why = "";
#endif
    e->last = why;
    return code;
}
AGENTI_FN size_t agenti_len(const char *p, size_t n) { return p == NULL ? 0 : n == AGENT_CSTR ? strlen(p) : n; }
AGENTI_FN uint32_t agenti_limit(uint32_t given, uint32_t otherwise) { return given ? given : otherwise; }
AGENTI_FN size_t agenti_mem_limit(size_t given) { return given == AGENT_OFF ? 0 : given; }

AGENTI_FN agent_id agenti_id_new(agent_engine *e, int kind, void *p)
{
    agenti_slots *s = &e->slots[kind];
    uint32_t most = kind == AGENTI_PEER ? e->lim.peers : kind == AGENTI_SESSION ? e->lim.sessions : e->lim.conns, i;
    if (s->live >= most) { e->last = "over the limit of peers, sessions or connections"; return 0; }
    for (i = s->hint; i < s->n && s->p[i].p; i++) {}
    if (i == s->cap) {
        uint32_t cap = s->cap ? s->cap * 2 : 4;
        agenti_slot *q;
        if (cap > 65536) cap = 65536;
        q = i == 65536 ? NULL : (agenti_slot *)agenti_resize(&e->pool, s->p, s->cap * sizeof *q, cap * sizeof *q);
        if (q == NULL) { e->last = "out of memory"; return 0; }
        memset(q + s->cap, 0, (cap - s->cap) * sizeof *q);
        s->p = q;
        s->cap = cap;
    }
    if (i == s->n) s->n++;
    s->p[i].p = p;
    s->p[i].gen = (uint16_t)((s->p[i].gen + 1) & 0x1FFF);
    if (s->p[i].gen == 0) s->p[i].gen = 1;
    s->hint = i + 1;
    s->live++;
    return ((uint32_t)kind << 29) | ((uint32_t)s->p[i].gen << 16) | i;
}
AGENTI_FN void *agenti_id_get(const agent_engine *e, agent_id id, int kind)
{
    const agenti_slots *s = &e->slots[kind];
    uint32_t i = id & 0xFFFFu;
    if (id >> 29 != (uint32_t)kind || i >= s->n || s->p[i].gen != ((id >> 16) & 0x1FFFu)) return NULL;
    return s->p[i].p;
}
AGENTI_FN void agenti_id_free(agent_engine *e, agent_id id)
{
    agenti_slots *s = &e->slots[id >> 29];
    uint32_t i = id & 0xFFFFu;
    s->p[i].p = NULL;
    s->live--;
    if (i < s->hint) s->hint = i;
}
AGENTI_FN void agenti_wake(agenti_ready *head, agenti_ready *r)
{
    if (r->next) return;
    r->next = head;
    r->prev = head->prev;
    head->prev->next = r;
    head->prev = r;
}
AGENTI_FN void agenti_sleep(agenti_ready *r)
{
    if (r->next == NULL) return;
    r->prev->next = r->next;
    r->next->prev = r->prev;
    r->next = r->prev = NULL;
}
AGENTI_FN agent_event *agenti_event(agent_engine *e, int type)
{
    agent_event *ev = &e->ev;
    memset(ev, 0, sizeof *ev);
    e->ev_plain = 0;
    ev->type = (uint16_t)type;
    ev->at_ms = e->now;
    ev->text.p = ev->name.p = "";
    return ev;
}
AGENTDEF const char *agent_code_text(int code)
{
#ifdef AGENT_NO_WORDS
    (void)code;
    return "";
#else
    switch (code) {
#define AGENTI_X(n, v, t) case v: return t;
    AGENT_CODES(AGENTI_X)
#undef AGENTI_X
    default: return "unknown code";
    }
#endif
}
AGENTDEF const char *agent_last(const agent_engine *e) { return e && e->last ? e->last : ""; }
#endif
