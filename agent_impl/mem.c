/* Memory: one allocator hook, hard limits per owner, a fixed-block heap, blobs that can be freed later. */
#if !defined AGENT_NO_MALLOC && !defined AGENT_REALLOC
#include <stdlib.h>
#endif
#if defined AGENT_REALLOC != defined AGENT_FREE
#error "define both AGENT_REALLOC and AGENT_FREE, or none"
#endif

typedef struct agenti_heap {             /* fixed-block mode: first fit over address-ordered free chunks, merged on free */
    struct agenti_chunk *free;
    size_t size;
} agenti_heap;
typedef struct agenti_pool {             /* who pays: the engine, or a session whose parent is the engine               */
    struct agenti_pool *up;
    agent_alloc_fn alloc; void *ctx;     /* of the topmost pool                                                         */
    agenti_heap heap;                    /* heap.size > 0: fixed-block mode                                             */
    size_t now, peak, limit;             /* limit 0: none                                                               */
    size_t buried;                       /* its blobs in the graveyard                                                  */
} agenti_pool;
typedef struct agenti_blob {             /* bytes that an event may point to; header in front, data behind it           */
    struct agenti_blob *next;            /* in the graveyard                                                            */
    agenti_pool *pool;
    size_t cap;
} agenti_blob;

AGENTI_FN void  agenti_pool_child(agenti_pool *, agenti_pool *up, size_t limit);
AGENTI_FN int   agenti_heap_init(agenti_heap *, void *block, size_t size);       /* 0: block too small                  */
AGENTI_FN void *agenti_raw(agenti_pool *top, void *p, size_t old_n, size_t n);   /* asks the allocator itself            */
AGENTI_FN void *agenti_get(agenti_pool *, size_t n);                             /* zeroed; NULL: refused               */
AGENTI_FN void *agenti_resize(agenti_pool *, void *p, size_t old_n, size_t n);   /* NULL: refused, p stays              */
AGENTI_FN void  agenti_put(agenti_pool *, void *p, size_t n);
AGENTI_FN char *agenti_blob_get(agenti_pool *, size_t n);                        /* n bytes of data                     */
AGENTI_FN char *agenti_blob_resize(agenti_pool *, char *data, size_t n);         /* NULL: refused, data stays           */
AGENTI_FN void  agenti_blob_put(char *data);                                     /* NULL is fine                        */
AGENTI_FN void  agenti_blob_bury(agenti_blob **graves, char *data);              /* frees at agenti_bury_all            */
AGENTI_FN void  agenti_bury_all(agenti_blob **graves);
AGENTI_FN void  agenti_bury_pool(agenti_blob **graves, const agenti_pool *);    /* only those of a pool that goes: mostly the last buried */
AGENTI_FN size_t agenti_blob_cap(const char *data);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_MEM
typedef struct agenti_chunk { size_t size; struct agenti_chunk *next; } agenti_chunk;   /* free or used; size with header */
#define AGENTI_ALIGN (2 * sizeof(void *) > 16 ? 2 * sizeof(void *) : (size_t)16)
#define AGENTI_HEAD AGENTI_ALIGN         /* room in front of what a used chunk holds                                    */

AGENTI_FN int agenti_heap_init(agenti_heap *h, void *block, size_t size)
{
    size_t pad = (AGENTI_ALIGN - (size_t)((uintptr_t)block % AGENTI_ALIGN)) % AGENTI_ALIGN;
    memset(h, 0, sizeof *h);
    if (block == NULL || size < pad + 4 * AGENTI_ALIGN) return 0;
    size = (size - pad) / AGENTI_ALIGN * AGENTI_ALIGN;
    h->free = (agenti_chunk *)(void *)((char *)block + pad);
    h->free->size = size;
    h->free->next = NULL;
    h->size = size;
    return 1;
}
static void *agenti_heap_get(agenti_heap *h, size_t n)
{
    agenti_chunk **at, *c, *rest;
    if (n > h->size) return NULL;
    n = (n + AGENTI_HEAD + AGENTI_ALIGN - 1) / AGENTI_ALIGN * AGENTI_ALIGN;
    for (at = &h->free; (c = *at) != NULL && c->size < n; at = &c->next) {}
    if (c == NULL) return NULL;
    if (c->size - n >= 2 * AGENTI_ALIGN) {
        rest = (agenti_chunk *)(void *)((char *)c + n);
        rest->size = c->size - n;
        rest->next = c->next;
        c->size = n;
        *at = rest;
    } else *at = c->next;
    return (char *)c + AGENTI_HEAD;
}
static void agenti_heap_put(agenti_heap *h, void *p)
{
    agenti_chunk *c = (agenti_chunk *)(void *)((char *)p - AGENTI_HEAD), *before = NULL, **at;
    for (at = &h->free; *at != NULL && *at < c; at = &(*at)->next) before = *at;
    c->next = *at;
    *at = c;
    if (c->next && (char *)c + c->size == (char *)c->next) { c->size += c->next->size; c->next = c->next->next; }
    if (before && (char *)before + before->size == (char *)c) { before->size += c->size; before->next = c->next; }
}
static void *agenti_heap_fn(agenti_heap *h, void *p, size_t old_n, size_t n)
{
    void *q;
    if (n == 0) { if (p) agenti_heap_put(h, p); return NULL; }
    q = agenti_heap_get(h, n);
    if (q && p) { memcpy(q, p, old_n < n ? old_n : n); agenti_heap_put(h, p); }
    return q;
}
AGENTI_FN void *agenti_raw(agenti_pool *top, void *p, size_t old_n, size_t n)
{
    if (top->heap.size) return agenti_heap_fn(&top->heap, p, old_n, n);
    if (top->alloc) return top->alloc(top->ctx, p, old_n, n);
#ifdef AGENT_REALLOC
    if (n == 0) { AGENT_FREE(top->ctx, p, old_n); return NULL; }
    return AGENT_REALLOC(top->ctx, p, old_n, n);
#elif !defined AGENT_NO_MALLOC
    if (n == 0) { free(p); return NULL; }
    return realloc(p, n);
#else
    return NULL;
#endif
}
AGENTI_FN void agenti_pool_child(agenti_pool *pool, agenti_pool *up, size_t limit)
{
    memset(pool, 0, sizeof *pool);
    pool->up = up;
    pool->limit = limit;
}
AGENTI_FN void *agenti_resize(agenti_pool *pool, void *p, size_t old_n, size_t n)
{
    agenti_pool *o, *top = pool;
    void *q;
    for (o = pool; o; o = o->up) {
        top = o;
        if (n > old_n && o->limit && (n - old_n > o->limit || o->now > o->limit - (n - old_n))) return NULL;
    }
    q = agenti_raw(top, p, old_n, n);
    if (q == NULL && n > 0) return NULL;
    for (o = pool; o; o = o->up) {
        o->now = o->now - old_n + n;
        if (o->now > o->peak) o->peak = o->now;
    }
    return q;
}
AGENTI_FN void *agenti_get(agenti_pool *pool, size_t n)
{
    void *p = agenti_resize(pool, NULL, 0, n);
    if (p) memset(p, 0, n);
    return p;
}
AGENTI_FN void agenti_put(agenti_pool *pool, void *p, size_t n) { if (p) (void)agenti_resize(pool, p, n, 0); }

static agenti_blob *agenti_blob_of(const char *data) { return (agenti_blob *)(uintptr_t)data - 1; }
AGENTI_FN char *agenti_blob_resize(agenti_pool *pool, char *data, size_t n)
{
    size_t all;
    agenti_blob *b = data ? agenti_blob_of(data) : NULL;
    if (!agenti_add(n, sizeof *b, &all)) return NULL;
    b = (agenti_blob *)agenti_resize(pool, b, b ? b->cap + sizeof *b : 0, all);
    if (b == NULL) return NULL;
    b->next = NULL;
    b->pool = pool;
    b->cap = n;
    return (char *)(b + 1);
}
AGENTI_FN char *agenti_blob_get(agenti_pool *pool, size_t n) { return agenti_blob_resize(pool, NULL, n); }
AGENTI_FN size_t agenti_blob_cap(const char *data) { return data ? agenti_blob_of(data)->cap : 0; }
AGENTI_FN void agenti_blob_put(char *data)
{
    agenti_blob *b = data ? agenti_blob_of(data) : NULL;
    if (b) agenti_put(b->pool, b, b->cap + sizeof *b);
}
AGENTI_FN void agenti_blob_bury(agenti_blob **graves, char *data)
{
    if (data == NULL) return;
    agenti_blob_of(data)->pool->buried++;
    agenti_blob_of(data)->next = *graves;
    *graves = agenti_blob_of(data);
}
static void agenti_bury_first(agenti_blob **graves)
{
    agenti_blob *b = *graves;
    *graves = b->next;
    b->pool->buried--;
    agenti_put(b->pool, b, b->cap + sizeof *b);
}
AGENTI_FN void agenti_bury_all(agenti_blob **graves) { while (*graves) agenti_bury_first(graves); }
AGENTI_FN void agenti_bury_pool(agenti_blob **graves, const agenti_pool *pool)
{
    while (pool->buried) {
        AGENTI_TOUCH(sizeof **graves);
        if ((*graves)->pool == pool) agenti_bury_first(graves);
        else graves = &(*graves)->next;
    }
}
#endif
