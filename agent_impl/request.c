/* Requests as lists of pieces: what was serialised once is pointed to, only the small rest is written anew. */
typedef struct agenti_block { struct agenti_block *next; size_t n, cap; } agenti_block;
typedef struct agenti_log {                   /* the serialised messages of a session, one after the other: a droppable cache */
    agenti_pool *pool;
    agenti_block *first, *last;
    size_t total, msgs;                       /* bytes; messages of the table that are in                               */
    int state;                                /* the wire format's                                                      */
} agenti_log;
typedef struct agenti_piece { const char *p; size_t n; } agenti_piece;
typedef struct agenti_out {                   /* the bytes of one request                                               */
    agenti_pool *pool;
    agenti_buf head, text;                    /* the HTTP head, piece 0; head and tail of the body                      */
    agenti_piece *pieces; size_t piece_n, piece_cap;
    uint64_t body_len;
    char *stage; size_t stage_cap, stage_n;   /* small pieces are put together here                                     */
    size_t text_at;                           /* bytes of text that are in pieces                                       */
    size_t at, off;                           /* the next piece, and the byte in it                                     */
    size_t sent;                              /* of stage, or of the piece that is handed out                           */
    int direct;                               /* pieces[at] + off is handed out, not stage                              */
} agenti_out;
enum { AGENTI_SEND_MIN = 4096, AGENTI_BLOCK_MIN = 512, AGENTI_BLOCK_MAX = 65536 };

AGENTI_FN int  agenti_log_add(agenti_log *, const agenti_buf *);              /* 0: refused, unchanged                  */
AGENTI_FN void agenti_log_free(agenti_log *);
AGENTI_FN void agenti_out_init(agenti_out *, agenti_pool *);
AGENTI_FN void agenti_out_free(agenti_out *);                                 /* wipes the head: it has a key            */
/* Body pieces in order; p NULL: what was added to out->text since the last such call. 0: refused                       */
AGENTI_FN int  agenti_out_piece(agenti_out *, const char *p, size_t n);
AGENTI_FN int  agenti_out_log(agenti_out *, const agenti_log *);
AGENTI_FN int  agenti_out_ready(agenti_out *, int grows);                     /* when text and head are written; grows: the head will. 0: refused */
AGENTI_FN void agenti_out_head(agenti_out *);                                 /* the head has grown                      */
AGENTI_FN void agenti_out_start(agenti_out *, int with_head);                 /* also to start over                     */
AGENTI_FN const char *agenti_out_bytes(const agenti_out *, size_t *n);        /* NULL: all is sent                      */
AGENTI_FN int  agenti_out_sent(agenti_out *, size_t n);                       /* 0: n is too much                       */
AGENTI_FN void agenti_wipe(char *p, size_t n);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_REQUEST
AGENTI_FN void agenti_wipe(char *p, size_t n)
{
    volatile char *v = p;
    while (n--) *v++ = 0;
}
static agenti_block *agenti_block_new(agenti_log *log, size_t n)
{
    size_t cap = log->total, all;
    agenti_block *b;
    if (cap < AGENTI_BLOCK_MIN) cap = AGENTI_BLOCK_MIN;
    if (cap > AGENTI_BLOCK_MAX) cap = AGENTI_BLOCK_MAX;
    if (log->first && cap < AGENTI_SEND_MIN) cap = AGENTI_SEND_MIN;
    if (cap < n) cap = n;
    if (!agenti_add(cap, sizeof *b, &all) || (b = (agenti_block *)agenti_resize(log->pool, NULL, 0, all)) == NULL) return NULL;
    b->next = NULL;
    b->n = 0;
    b->cap = cap;
    return b;
}
static void agenti_block_fill(agenti_log *log, agenti_block *b, const char *p, size_t n)
{
    memcpy((char *)(b + 1) + b->n, p, n);
    AGENTI_TOUCH(n);
    b->n += n;
    log->total += n;
}
AGENTI_FN int agenti_log_add(agenti_log *log, const agenti_buf *b)
{
    size_t room = log->last ? log->last->cap - log->last->n : 0, here = room < b->n ? room : b->n;
    agenti_block *more;
    if (b->bad) return 0;
    if (here < b->n) {                        /* the rest goes into a new block; it is there before anything changes    */
        if ((more = agenti_block_new(log, b->n - here)) == NULL) return 0;
        if (log->last) log->last->next = more; else log->first = more;
        if (here) agenti_block_fill(log, log->last, b->p, here);
        log->last = more;
    }
    if (b->n > 0) agenti_block_fill(log, log->last, b->p + (here < b->n ? here : 0), here < b->n ? b->n - here : here);
    return 1;
}
AGENTI_FN void agenti_log_free(agenti_log *log)
{
    agenti_block *b, *next;
    for (b = log->first; b; b = next) {
        next = b->next;
        agenti_put(log->pool, b, b->cap + sizeof *b);
    }
    log->first = log->last = NULL;
    log->total = log->msgs = 0;
    log->state = 0;
}
AGENTI_FN void agenti_out_init(agenti_out *o, agenti_pool *pool)
{
    memset(o, 0, sizeof *o);
    o->pool = pool;
    agenti_buf_init(&o->head, pool);
    agenti_buf_init(&o->text, pool);
}
AGENTI_FN void agenti_out_free(agenti_out *o)
{
    agenti_pool *pool = o->pool;
    if (pool == NULL) return;
    if (o->head.p) agenti_wipe(o->head.p, o->head.n);
    if (o->stage) agenti_wipe(o->stage, o->stage_cap);
    agenti_buf_free(&o->head);
    agenti_buf_free(&o->text);
    agenti_put(pool, o->pieces, o->piece_cap * sizeof *o->pieces);
    agenti_put(pool, o->stage, o->stage_cap);
    agenti_out_init(o, pool);
}
AGENTI_FN int agenti_out_piece(agenti_out *o, const char *p, size_t n)
{
    agenti_piece *q;
    if (o->piece_cap - o->piece_n < 2) {
        size_t cap = o->piece_cap ? o->piece_cap * 2 : 8;
        q = (agenti_piece *)agenti_resize(o->pool, o->pieces, o->piece_cap * sizeof *q, cap * sizeof *q);
        if (q == NULL) return 0;
        o->pieces = q;
        o->piece_cap = cap;
    }
    if (o->piece_n == 0) { o->pieces[0].p = NULL; o->pieces[0].n = 0; o->piece_n = 1; }       /* the HTTP head's place  */
    if (p == NULL) {
        n = o->text.n - o->text_at;
        o->text_at = o->text.n;
    }
    if (n == 0) return 1;
    o->pieces[o->piece_n].p = p;
    o->pieces[o->piece_n++].n = n;
    o->body_len += n;
    return 1;
}
AGENTI_FN int agenti_out_log(agenti_out *o, const agenti_log *log)
{
    const agenti_block *b;
    for (b = log->first; b; b = b->next) if (!agenti_out_piece(o, (const char *)(b + 1), b->n)) return 0;
    return 1;
}
AGENTI_FN void agenti_out_head(agenti_out *o)
{
    o->pieces[0].p = o->head.p;
    o->pieces[0].n = o->head.n;
}
AGENTI_FN int agenti_out_ready(agenti_out *o, int grows)
{
    size_t i, at = 0;
    uint64_t all = o->body_len + o->head.n;
    if (o->text.bad || o->head.bad) return 0;
    agenti_out_head(o);
    for (i = 1; i < o->piece_n; i++) if (o->pieces[i].p == NULL) { o->pieces[i].p = o->text.p + at; at += o->pieces[i].n; }
    o->stage_cap = !grows && all < 2 * AGENTI_SEND_MIN ? (size_t)all : 2 * AGENTI_SEND_MIN;
    o->stage = (char *)agenti_resize(o->pool, NULL, 0, o->stage_cap);
    if (o->stage == NULL) { o->stage_cap = 0; return 0; }
    return 1;
}
/* Hands out a long piece as it is; short ones are put together, and a long one gives what makes them long enough, or all of itself
 * when a short rest would stay. So a step copies at most 8 KiB of what was serialised before.                           */
static void agenti_out_next(agenti_out *o)
{
    o->sent = o->stage_n = 0;
    o->direct = 0;
    while (o->at < o->piece_n && o->stage_n < AGENTI_SEND_MIN) {
        const agenti_piece *p = &o->pieces[o->at];
        size_t left = p->n - o->off, take = left;
        if (left >= AGENTI_SEND_MIN) {
            if (o->stage_n == 0) { o->direct = 1; return; }
            take = AGENTI_SEND_MIN - o->stage_n;
            if (left - take < AGENTI_SEND_MIN && left <= o->stage_cap - o->stage_n) take = left;
        }
        memcpy(o->stage + o->stage_n, p->p + o->off, take);
        AGENTI_TOUCH(take);
        o->stage_n += take;
        o->off += take;
        if (o->off == p->n) { o->at++; o->off = 0; }
    }
}
AGENTI_FN void agenti_out_start(agenti_out *o, int with_head)
{
    o->at = with_head ? 0 : 1;
    o->off = 0;
    agenti_out_next(o);
}
AGENTI_FN const char *agenti_out_bytes(const agenti_out *o, size_t *n)
{
    if (o->direct) {
        *n = o->pieces[o->at].n - o->off - o->sent;
        return o->pieces[o->at].p + o->off + o->sent;
    }
    *n = o->stage_n - o->sent;
    return *n ? o->stage + o->sent : NULL;
}
AGENTI_FN int agenti_out_sent(agenti_out *o, size_t n)
{
    size_t had;
    if (agenti_out_bytes(o, &had) == NULL || n > had) return n == 0;
    o->sent += n;
    if (n < had) return 1;
    if (o->direct) { o->at++; o->off = 0; }
    agenti_out_next(o);
    return 1;
}
#endif
