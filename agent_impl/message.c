/* The message table: what the model is shown. A part holds its text once, as clean UTF-8; events and the host view it there. */
typedef struct agenti_text { char *p; size_t n; int borrowed; } agenti_text;   /* NUL-terminated blob, or a static string */

enum agenti_call_state {                 /* of a RESULT part: how far its call is                                       */
    AGENTI_CALL_NEW, AGENTI_CALL_WAITING, AGENTI_CALL_RUNNING, AGENTI_CALL_DONE, AGENTI_CALL_SETTLED
};
typedef struct agenti_part {
    uint16_t kind, flags;                /* agent_part's                                                                */
    agent_num id, call, need;
    uint32_t key;                        /* RESULT: index of its CALL in the message before. OTHER: next of agenti_msg.waits */
    uint32_t tool, order;                /* RESULT: index of the tool; when it was done                                 */
    uint8_t started, called;             /* INPUT_START, TOOL_CALL was shown                                            */
    uint8_t looked;                      /* TEXT: for marks that do not belong there                                    */
    uint8_t state, status, retitled;     /* RESULT                                                                      */
    size_t shown;                        /* bytes of text that deltas have shown                                        */
    agenti_text text, name, wire_id, title;
    agenti_text data;                    /* what the provider wants back with it, as it came: a signature               */
    agenti_text mime, uri;               /* of IMAGE, AUDIO, FILE                                                       */
    agenti_text more, inner;             /* of an import: JSON members that no field holds, of the block and of the object in it */
    uint64_t until;                      /* RESULT: when its tool is out of time                                        */
    uint8_t stopped;                     /* RESULT: TOOL_CANCEL was shown; AGENTI_STOPPED_                              */
} agenti_part;
enum { AGENTI_PART_RESENT = 0x100,          /* in flags: the host resends arguments from the start                          */
       AGENTI_PART_APART = 0x200,           /* wire_id is the provider's id, `_` and a number: another call had it before   */
       AGENTI_PART_CONTENT = 0x400,         /* more has the content as well, in the import's own form                       */
       AGENTI_MSG_CONTENT = 0x20,           /* in agenti_msg.flags: the same of a message                                   */
       AGENTI_MSG_DEVELOPER = 0x80 };       /* beside AGENT_MSG_SYSTEM: its role was developer                              */
typedef struct agenti_msg {
    const void *wire;                    /* the wire format that `more` and `inner` are of; NULL: no import             */
    agenti_text more;                    /* of an import: JSON members that no field holds                              */
    agenti_text answer_id;               /* of the model: the provider keeps it under this id, all of it                */
    agent_num id, run;
    uint8_t role, flags, ended;
    uint32_t model;                      /* which of the session's models made it                                       */
    uint32_t waits;                      /* 1 + index of the last call that the provider runs and that has no result; 0: none */
    uint32_t n, cap;
    agenti_part *parts;
} agenti_msg;
typedef struct agenti_table { agenti_pool *pool; agenti_msg **msgs; size_t n, cap; } agenti_table;
typedef struct agenti_nums { agent_num run, step, msg, part, call, need; } agenti_nums;  /* the last one given out      */

AGENTI_FN int  agenti_text_set(agenti_text *, agenti_pool *, agenti_blob **graves, agent_str);    /* 0: refused, unchanged */
AGENTI_FN void agenti_text_static(agenti_text *, agenti_blob **graves, const char *);
AGENTI_FN int  agenti_text_add(agenti_text *, agenti_pool *, agenti_blob **graves, agent_str);    /* 0: refused, unchanged */
AGENTI_FN void agenti_text_free(agenti_text *, agenti_blob **graves);     /* graves NULL: at once                       */
AGENTI_FN agent_str agenti_text_view(const agenti_text *);
AGENTI_FN int  agenti_text_repair(agenti_text *, agenti_pool *, agenti_blob **graves);            /* valid UTF-8; 0: refused */
AGENTI_FN void agenti_text_scrub(agenti_text *);                          /* the same without memory: '?' for bad bytes   */
AGENTI_FN agenti_msg *agenti_msg_new(agenti_pool *, int role);
AGENTI_FN void agenti_msg_free(agenti_pool *, agenti_msg *, agenti_blob **graves);
AGENTI_FN agenti_part *agenti_part_new(agenti_pool *, agenti_msg *, int kind);                   /* moves the other parts */
AGENTI_FN int  agenti_table_room(agenti_table *, size_t more);            /* 0: refused                                 */
AGENTI_FN void agenti_table_add(agenti_table *, agenti_msg *);            /* after agenti_table_room                    */
AGENTI_FN void agenti_table_free(agenti_table *, agenti_blob **graves);
AGENTI_FN void agenti_part_view(const agenti_part *, agent_part *out);
AGENTI_FN agent_str agenti_wire_id(const agenti_part *);                 /* of a call or result, as the provider gave it   */
AGENTI_FN int  agenti_is_media(int kind);                                /* IMAGE, AUDIO, FILE                          */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_MESSAGE
AGENTI_FN void agenti_text_free(agenti_text *t, agenti_blob **graves)
{
    if (!t->borrowed) { if (graves) agenti_blob_bury(graves, t->p); else agenti_blob_put(t->p); }
    memset(t, 0, sizeof *t);
}
AGENTI_FN int agenti_text_set(agenti_text *t, agenti_pool *pool, agenti_blob **graves, agent_str s)
{
    size_t n;
    char *p;
    if (!agenti_add(s.n, 1, &n) || (p = agenti_blob_get(pool, n)) == NULL) return 0;
    memcpy(p, s.p, s.n);
    AGENTI_TOUCH(s.n);
    p[s.n] = 0;
    agenti_text_free(t, graves);
    t->p = p;
    t->n = s.n;
    return 1;
}
AGENTI_FN void agenti_text_static(agenti_text *t, agenti_blob **graves, const char *s)
{
    agenti_text_free(t, graves);
    t->p = (char *)(uintptr_t)s;
    t->n = strlen(s);
    t->borrowed = 1;
}
AGENTI_FN int agenti_text_add(agenti_text *t, agenti_pool *pool, agenti_blob **graves, agent_str s)
{
    size_t need, cap = t->borrowed ? 0 : agenti_blob_cap(t->p);
    char *p;
    if (!agenti_add(t->n, s.n, &need) || !agenti_add(need, 1, &need)) return 0;
    if (need > cap) {
        if (cap < 32) cap = 32;
        while (cap < need) cap = cap > (size_t)-1 / 2 ? need : cap * 2;
        p = agenti_blob_get(pool, cap);
        if (p == NULL && cap > need) p = agenti_blob_get(pool, need);
        if (p == NULL) return 0;
        if (t->n) memcpy(p, t->p, t->n);
        AGENTI_TOUCH(t->n);
        if (!t->borrowed) { if (graves) agenti_blob_bury(graves, t->p); else agenti_blob_put(t->p); }
        t->p = p;
        t->borrowed = 0;
    }
    memcpy(t->p + t->n, s.p, s.n);
    AGENTI_TOUCH(s.n);
    t->n += s.n;
    t->p[t->n] = 0;
    return 1;
}
AGENTI_FN agent_str agenti_text_view(const agenti_text *t) { return agenti_str(t->p, t->n); }
AGENTI_FN int agenti_text_repair(agenti_text *t, agenti_pool *pool, agenti_blob **graves)
{
    agenti_buf b;
    int ok;
    if (t->borrowed || agenti_utf8_valid(t->p ? t->p : "", t->n) == t->n) return 1;
    agenti_buf_init(&b, pool);
    ok = agenti_utf8_repair(&b, t->p, t->n) && agenti_text_set(t, pool, graves, agenti_str(b.p, b.n));
    agenti_buf_free(&b);
    return ok;
}
AGENTI_FN void agenti_text_scrub(agenti_text *t)
{
    size_t at = 0, k;
    if (t->borrowed || t->n == 0) return;
    while ((at += agenti_utf8_valid(t->p + at, t->n - at)) < t->n)
        for (k = agenti_utf8_bad(t->p + at, t->n - at); k > 0; k--) t->p[at++] = '?';
}
AGENTI_FN agenti_msg *agenti_msg_new(agenti_pool *pool, int role)
{
    agenti_msg *m = (agenti_msg *)agenti_get(pool, sizeof *m);
    if (m) m->role = (uint8_t)role;
    return m;
}
AGENTI_FN void agenti_msg_free(agenti_pool *pool, agenti_msg *m, agenti_blob **graves)
{
    uint32_t i;
    if (m == NULL) return;
    for (i = 0; i < m->n; i++) {
        agenti_part *p = &m->parts[i];
        agenti_text_free(&p->text, graves);
        agenti_text_free(&p->name, graves);
        agenti_text_free(&p->wire_id, graves);
        agenti_text_free(&p->title, graves);
        agenti_text_free(&p->data, graves);
        agenti_text_free(&p->mime, graves);
        agenti_text_free(&p->uri, graves);
        agenti_text_free(&p->more, graves);
        agenti_text_free(&p->inner, graves);
    }
    agenti_text_free(&m->more, graves);
    agenti_text_free(&m->answer_id, graves);
    agenti_put(pool, m->parts, m->cap * sizeof *m->parts);
    agenti_put(pool, m, sizeof *m);
}
AGENTI_FN agenti_part *agenti_part_new(agenti_pool *pool, agenti_msg *m, int kind)
{
    agenti_part *p;
    if (m->n == m->cap) {
        uint32_t cap = m->cap ? m->cap * 2 : 1;
        if (cap > 0x1000000u) return NULL;
        p = (agenti_part *)agenti_resize(pool, m->parts, m->cap * sizeof *p, cap * sizeof *p);
        if (p == NULL) return NULL;
        m->parts = p;
        m->cap = cap;
    }
    p = &m->parts[m->n++];
    memset(p, 0, sizeof *p);
    p->kind = (uint16_t)kind;
    return p;
}
AGENTI_FN int agenti_table_room(agenti_table *t, size_t more)
{
    size_t cap = t->cap ? t->cap : 4;
    agenti_msg **p;
    if (t->cap - t->n >= more) return 1;
    while (cap - t->n < more) cap *= 2;
    if (cap > (size_t)-1 / sizeof *p / 2) return 0;
    p = (agenti_msg **)agenti_resize(t->pool, t->msgs, t->cap * sizeof *p, cap * sizeof *p);
    if (p == NULL) return 0;
    t->msgs = p;
    t->cap = cap;
    return 1;
}
AGENTI_FN void agenti_table_add(agenti_table *t, agenti_msg *m) { t->msgs[t->n++] = m; }
AGENTI_FN void agenti_table_free(agenti_table *t, agenti_blob **graves)
{
    size_t i;
    for (i = 0; i < t->n; i++) agenti_msg_free(t->pool, t->msgs[i], graves);
    agenti_put(t->pool, t->msgs, t->cap * sizeof *t->msgs);
    t->msgs = NULL;
    t->n = t->cap = 0;
}
AGENTI_FN agent_str agenti_wire_id(const agenti_part *p)
{
    agent_str id = agenti_text_view(&p->wire_id);
    while ((p->flags & AGENTI_PART_APART) && id.n && id.p[id.n - 1] != '_') id.n--;
    if ((p->flags & AGENTI_PART_APART) && id.n) id.n--;
    return id;
}
#ifdef AGENT_NO_FILES
AGENTI_FN int agenti_is_media(int kind) { (void)kind; return 0; }
#else
AGENTI_FN int agenti_is_media(int kind) { return kind == AGENT_PART_IMAGE || kind == AGENT_PART_AUDIO || kind == AGENT_PART_FILE; }
#endif
AGENTI_FN void agenti_part_view(const agenti_part *p, agent_part *out)
{
    out->kind = p->kind;
    out->flags = (uint16_t)(p->flags & 0xFF);
    out->id = p->id;
    out->call = p->call;
    out->text = agenti_text_view(&p->text);
    out->name = agenti_text_view(&p->name);
    out->wire_id = agenti_text_view(&p->wire_id);
    out->data = agenti_text_view(&p->data);
    out->mime = agenti_text_view(&p->mime);
    out->uri = agenti_text_view(&p->uri);
}
#endif
