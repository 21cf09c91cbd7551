/* Growing bytes: a buffer that may move, an arena whose pieces stay where they are.
 * A buffer: after the allocator refused once, `bad` stays set and appends do nothing: check at the end. */
typedef struct agenti_buf { agenti_pool *pool; char *p; size_t n, cap; int bad; } agenti_buf;

AGENTI_FN void agenti_buf_init(agenti_buf *, agenti_pool *);
AGENTI_FN int  agenti_buf_room(agenti_buf *, size_t n);             /* n more bytes, and one for a NUL; 0: refused      */
AGENTI_FN void agenti_buf_add(agenti_buf *, const char *p, size_t n);
AGENTI_FN void agenti_buf_str(agenti_buf *, const char *cstr);
AGENTI_FN void agenti_buf_free(agenti_buf *);                       /* may be used again                                */

typedef struct agenti_arena_block { struct agenti_arena_block *next; size_t n, cap; } agenti_arena_block;
typedef struct agenti_arena { agenti_pool *pool; agenti_arena_block *top; } agenti_arena;
AGENTI_FN char *agenti_arena_get(agenti_arena *, size_t n);         /* stays until reset; NULL: refused                */
AGENTI_FN void  agenti_arena_reset(agenti_arena *);                 /* keeps one small block: no allocation in steady state */
AGENTI_FN void  agenti_arena_free(agenti_arena *);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_BUF
AGENTI_FN void agenti_buf_init(agenti_buf *b, agenti_pool *pool) { memset(b, 0, sizeof *b); b->pool = pool; }
AGENTI_FN int agenti_buf_room(agenti_buf *b, size_t n)
{
    size_t need, cap;
    char *p;
    if (b->bad || !agenti_add(b->n, n, &need) || !agenti_add(need, 1, &need)) { b->bad = 1; return 0; }
    if (need <= b->cap) return 1;
    cap = b->cap < 32 ? 32 : b->cap;
    while (cap < need) cap = cap > (size_t)-1 / 2 ? need : cap * 2;
    p = (char *)agenti_resize(b->pool, b->p, b->cap, cap);
    if (p == NULL && cap > need) { cap = need; p = (char *)agenti_resize(b->pool, b->p, b->cap, cap); }
    if (p == NULL) { b->bad = 1; return 0; }
    b->p = p;
    b->cap = cap;
    return 1;
}
AGENTI_FN void agenti_buf_add(agenti_buf *b, const char *p, size_t n)
{
    if (n == 0 || !agenti_buf_room(b, n)) return;
    memcpy(b->p + b->n, p, n);
    AGENTI_TOUCH(n);
    b->n += n;
    b->p[b->n] = 0;
}
AGENTI_FN void agenti_buf_str(agenti_buf *b, const char *cstr) { agenti_buf_add(b, cstr, strlen(cstr)); }
AGENTI_FN void agenti_buf_free(agenti_buf *b)
{
    agenti_pool *pool = b->pool;
    agenti_put(pool, b->p, b->cap);
    agenti_buf_init(b, pool);
}

enum { AGENTI_ARENA_BLOCK = 1024 };
AGENTI_FN char *agenti_arena_get(agenti_arena *a, size_t n)
{
    agenti_arena_block *b = a->top;
    char *p;
    if (b == NULL || n > b->cap - b->n) {
        size_t cap = n > AGENTI_ARENA_BLOCK ? n : (size_t)AGENTI_ARENA_BLOCK, all;
        if (!agenti_add(cap, sizeof *b, &all)) return NULL;
        b = (agenti_arena_block *)agenti_resize(a->pool, NULL, 0, all);
        if (b == NULL) return NULL;
        b->next = a->top;
        b->n = 0;
        b->cap = cap;
        a->top = b;
    }
    p = (char *)(b + 1) + b->n;
    b->n += n;
    return p;
}
static void agenti_arena_drop(agenti_arena *a, size_t keep_cap)
{
    agenti_arena_block *b, *next, *keep = NULL;
    for (b = a->top; b; b = next) {
        next = b->next;
        if (keep == NULL && b->cap <= keep_cap) { keep = b; b->n = 0; b->next = NULL; }
        else agenti_put(a->pool, b, b->cap + sizeof *b);
    }
    a->top = keep;
}
AGENTI_FN void agenti_arena_reset(agenti_arena *a) { agenti_arena_drop(a, AGENTI_ARENA_BLOCK); }
AGENTI_FN void agenti_arena_free(agenti_arena *a) { agenti_arena_drop(a, 0); }
#endif
