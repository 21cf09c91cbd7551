/* Compares JSON texts: as values, and as patterns with captures. The texts were checked before. Include agent.h first. */
#ifndef MATCH_H
#define MATCH_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MATCH_EXACT = 1 /* objects have no other members */, MATCH_DIGITS = 2 /* numbers as written */, MATCH_VALUES = 4 /* "$x" is a string */ };
typedef struct capture { char name[40]; char *json; size_t n; } capture;
typedef struct captures { capture v[32]; size_t n; } captures;

static agent_str match_none(void) { agent_str s; s.p = NULL; s.n = 0; return s; }
static agent_str match_str(const char *p) { agent_str s; s.p = p; s.n = strlen(p); return s; }
static int match_kind(agent_str v)           /* { [ " t f n or 0 for a number                                           */
{
    return v.n && (v.p[0] == '-' || (v.p[0] >= '0' && v.p[0] <= '9')) ? '0' : v.n ? v.p[0] : 0;
}
/* A string decoded, anything else as written: allocated, with a NUL.                                                   */
static char *match_text(agent_str v, size_t *n)
{
    size_t need = agent_json_text(v, NULL, 0);
    char *p = (char *)malloc(need + 1);
    if (p == NULL) abort();
    agent_json_text(v, p, need + 1);
    p[need] = 0;
    if (n) *n = need;
    return p;
}
static int match_text_is(agent_str a, agent_str b)           /* two strings, by what they mean                           */
{
    size_t n, k;
    char *p = match_text(a, &n), *q = match_text(b, &k);
    int same = n == k && memcmp(p, q, n) == 0;
    free(p);
    free(q);
    return same;
}
/* key: as written in JSON, without its quotes. The last one wins.                                                      */
static agent_str match_member(agent_str object, agent_str key)
{
    agent_str k, v, found = match_none();
    size_t pos = 0;
    if (match_kind(object) != '{') return found;
    while (agent_json_each(object, &pos, &k, &v)) {
        agent_str a = k, b = key;
        if (k.n == key.n && memcmp(k.p, key.p, k.n) == 0) { found = v; continue; }
        if (memchr(k.p, '\\', k.n) == NULL && memchr(key.p, '\\', key.n) == NULL) continue;
        a.p--; a.n += 2;                     /* with its quotes, to decode it                                           */
        b.p--; b.n += 2;
        if (match_text_is(a, b)) found = v;
    }
    return found;
}
static agent_str match_get(agent_str object, const char *key)
{
    char quoted[64];
    agent_str k;
    sprintf(quoted, "\"%.60s\"", key);
    k.p = quoted + 1;
    k.n = strlen(key);
    return match_member(object, k);
}
static size_t match_members(agent_str v)     /* different keys, or elements                                             */
{
    agent_str k, x;
    size_t pos = 0, n = 0;
    while (agent_json_each(v, &pos, &k, &x)) n += match_kind(v) != '{' || match_member(v, k).p == x.p;
    return n;
}
static int match_json(agent_str want, agent_str got, int flags, captures *c);
static int match_capture(agent_str want, agent_str got, int flags, captures *c)
{
    char *name = match_text(want, NULL);
    size_t i;
    int ok = 1;
    for (i = 0; i < c->n && strcmp(c->v[i].name, name); i++) {}
    if (i < c->n) {
        agent_str v;
        v.p = c->v[i].json;
        v.n = c->v[i].n;
        ok = match_json(v, got, flags | MATCH_VALUES | MATCH_EXACT, c);
    } else if (c->n == sizeof c->v / sizeof *c->v || strlen(name) >= sizeof c->v[0].name) ok = 0;
    else {
        strcpy(c->v[c->n].name, name);
        c->v[c->n].json = (char *)malloc(got.n + 1);
        if (c->v[c->n].json == NULL) abort();
        memcpy(c->v[c->n].json, got.p, got.n);
        c->v[c->n++].n = got.n;
    }
    free(name);
    return ok;
}
static void match_forget(captures *c, size_t n) { while (c && c->n > n) free(c->v[--c->n].json); }
static int match_object(agent_str want, agent_str got, int flags, captures *c)
{
    agent_str k, v, x;
    size_t pos = 0;
    if (match_kind(got) != '{') return 0;
    while (agent_json_each(want, &pos, &k, &v)) {
        if (match_member(want, k).p != v.p) continue;        /* not the last of its name                                 */
        x = match_member(got, k);
        if (x.p == NULL || !match_json(v, x, flags, c)) return 0;
    }
    return !(flags & MATCH_EXACT) || match_members(want) == match_members(got);
}
static int match_array(agent_str want, agent_str got, int flags, captures *c)
{
    agent_str a, b;
    size_t i = 0, k = 0;
    if (match_kind(got) != '[') return 0;
    for (;;) {
        int more = agent_json_each(want, &i, NULL, &a), other = agent_json_each(got, &k, NULL, &b);
        if (!more || !other) return more == other;
        if (!match_json(a, b, flags, c)) return 0;
    }
}
/* {"$has": […]}: these elements in this order, others between.                                                         */
static int match_has(agent_str want, agent_str got, int flags, captures *c)
{
    agent_str a, b;
    size_t i = 0, k = 0;
    if (match_kind(got) != '[') return 0;
    while (agent_json_each(want, &i, NULL, &a)) {
        size_t mark = c ? c->n : 0;
        int found = 0;
        while (!found && agent_json_each(got, &k, NULL, &b)) {
            found = match_json(a, b, flags, c);
            if (!found) match_forget(c, mark);
        }
        if (!found) return 0;
    }
    return 1;
}
/* c NULL: "$x" is a string like any other.                                                                             */
static int match_json(agent_str want, agent_str got, int flags, captures *c)
{
    double a, b;
    agent_str has;
    int kind = match_kind(want);
    if (kind == '"' && c && !(flags & MATCH_VALUES) && want.n > 3 && want.p[1] == '$') return match_capture(want, got, flags, c);
    if (kind == '{' && c && !(flags & MATCH_VALUES) && (has = match_get(want, "$has")).p) return match_has(has, got, flags, c);
    if (kind == '{') return match_object(want, got, flags, c);
    if (kind == '[') return match_array(want, got, flags, c);
    if (kind != match_kind(got)) return 0;
    if (kind == '"') return match_text_is(want, got);
    if (kind != '0' || flags & MATCH_DIGITS) return want.n == got.n && memcmp(want.p, got.p, want.n) == 0;
    if (want.n == got.n && memcmp(want.p, got.p, want.n) == 0) return 1;
    a = agent_json_num(want, 0);
    b = agent_json_num(got, 1);
    return !(a < b) && !(a > b);
}
#endif
