/* A long JSON text as several short ones. Where a piece ends inside the string of a member that may come in parts, the text so far
 * is closed up to a document of its own, and the next one begins with the same path and the members that tell whose string it
 * is; in an element of an array, and where the rule says so in the document, one of those must have come before, else the text is
 * held. So a wire format reads an answer of any length with the code that reads a short one, and little of it is held. Bytes are
 * only looked at once; whether the text is JSON is for its reader to check. */
enum { AGENTI_SPLIT_DEPTH = 64 };
typedef struct agenti_split_rule {            /* keys, NULL-terminated                                                  */
    const char *const *parts;                 /* of strings that may come in parts                                      */
    const char *const *route;                 /* of members that are repeated                                           */
    const char *const *owner;                 /* of members one of which an array's element needs                       */
    int owned;                                /* the document needs one as well                                         */
    const char *const *held;                  /* below these nothing is cut                                             */
} agenti_split_rule;
typedef struct agenti_split {
    agenti_buf text, next;                    /* the document being gathered; the beginning of the one after it         */
    const agenti_split_rule *rule;
    size_t most;                              /* a longer path is not repeated: no cuts then                            */
    uint64_t total;                           /* bytes added                                                            */
    size_t at;                                /* bytes of text looked at                                                */
    size_t string_at, escape_at;              /* the open string's quote; the open escape's backslash                   */
    uint32_t depth;
    uint64_t owned;                           /* a bit a level: a member that tells whose it is has come                */
    uint8_t in_string, is_key, escape, wants_key;    /* escape: bytes of it still to come                               */
    uint8_t lost;                             /* too deep, or the path too long: no more cuts                           */
    uint8_t kind[AGENTI_SPLIT_DEPTH];         /* '{' or '['                                                             */
    size_t open_at[AGENTI_SPLIT_DEPTH], key_at[AGENTI_SPLIT_DEPTH];       /* key_at 0: no key yet                       */
} agenti_split;

#ifndef AGENT_NO_SPLIT
AGENTI_FN void agenti_split_init(agenti_split *, agenti_pool *, const agenti_split_rule *, size_t most);
AGENTI_FN void agenti_split_free(agenti_split *);
AGENTI_FN int  agenti_split_add(agenti_split *, const char *p, size_t n);      /* 0: no memory                          */
/* 1: text is a document now, and once it was read agenti_split_swap goes on; 0: it cannot be cut here; -1: no memory   */
AGENTI_FN int  agenti_split_cut(agenti_split *);
AGENTI_FN void agenti_split_swap(agenti_split *);
#endif

#if !defined AGENTI_SPLIT || defined AGENTI_PART_JSON_SPLIT
#ifndef AGENT_NO_SPLIT
AGENTI_FN void agenti_split_init(agenti_split *s, agenti_pool *pool, const agenti_split_rule *rule, size_t most)
{
    memset(s, 0, sizeof *s);
    agenti_buf_init(&s->text, pool);
    agenti_buf_init(&s->next, pool);
    s->rule = rule;
    s->most = most;
}
AGENTI_FN void agenti_split_free(agenti_split *s)
{
    agenti_buf_free(&s->text);
    agenti_buf_free(&s->next);
}
static int agenti_split_listed(agent_str key, const char *const *list)         /* key without quotes                    */
{
    for (; *list; list++) if (agenti_eq(key, *list)) return 1;
    return 0;
}
static void agenti_split_string_ends(agenti_split *s)
{
    agent_str key = agenti_str(s->text.p + s->string_at + 1, s->at - s->string_at - 1);
    s->in_string = 0;
    if (s->is_key && s->depth && agenti_split_listed(key, s->rule->owner)) s->owned |= (uint64_t)1 << (s->depth - 1);
}
static size_t agenti_split_string(agenti_split *s, const char *p, size_t n)    /* inside a string: bytes looked at      */
{
    size_t k;
    if (s->escape) {
        if (s->escape == 1 && s->escape_at + 1 == s->at && *p == 'u') s->escape = 5;
        s->escape--;
        return 1;
    }
    k = agenti_json_plain(p, n);
    if (k) return k;
    if (*p == '"') agenti_split_string_ends(s);
    else if (*p == '\\') {
        s->escape = 1;
        s->escape_at = s->at;
    }
    return 1;
}
static void agenti_split_mark(agenti_split *s, char c)       /* outside of strings                                      */
{
    if (c == '"') {
        s->in_string = 1;
        s->string_at = s->at;
        s->is_key = s->wants_key;
        if (s->is_key && s->depth) s->key_at[s->depth - 1] = s->at;
    } else if (c == '{' || c == '[') {
        if (s->depth == AGENTI_SPLIT_DEPTH) { s->lost = 1; return; }
        s->kind[s->depth] = (uint8_t)c;
        s->owned &= ~((uint64_t)1 << s->depth);
        s->key_at[s->depth] = 0;
        s->open_at[s->depth++] = s->at;
        s->wants_key = c == '{';
    } else if (c == '}' || c == ']') {
        if (s->depth) s->depth--;
        s->wants_key = 0;
    } else if (c == ',') s->wants_key = s->depth && s->kind[s->depth - 1] == '{';
    else if (c == ':') s->wants_key = 0;
}
AGENTI_FN int agenti_split_add(agenti_split *s, const char *p, size_t n)
{
    agenti_buf_add(&s->text, p, n);
    if (s->text.bad) return 0;
    s->total += n;
    AGENTI_TOUCH(s->lost ? 0 : s->text.n - s->at);
    while (s->at < s->text.n && !s->lost) {
        const char *q = s->text.p + s->at;
        if (s->in_string) s->at += agenti_split_string(s, q, s->text.n - s->at);
        else { agenti_split_mark(s, *q); s->at++; }
    }
    return 1;
}
static agent_str agenti_split_key(const agenti_split *s, uint32_t level)       /* with its quotes                       */
{
    const char *p = s->text.p + s->key_at[level];
    return agenti_str(p, agenti_json_skip(p, s->text.n - s->key_at[level]));
}
/* One level of the path: an array opens; an object opens, repeats its members that route, and comes to its open key.   */
static void agenti_split_level(agenti_split *s, uint32_t level)
{
    size_t from = s->open_at[level], to = s->key_at[level], pos = 0;
    agent_str open, key, value;
    s->open_at[level] = s->next.n;
    agenti_buf_add(&s->next, s->kind[level] == '{' ? "{" : "[", 1);
    if (s->kind[level] != '{') return;
    key = agenti_split_key(s, level);
    open = agenti_str(s->text.p + from, to - from);
    while (agent_json_each(open, &pos, &key, &value)) {
        if (!agenti_split_listed(key, s->rule->route)) continue;
        agenti_buf_add(&s->next, key.p - 1, key.n + 2);
        agenti_buf_add(&s->next, ":", 1);
        agenti_buf_add(&s->next, value.p, value.n);
        agenti_buf_add(&s->next, ",", 1);
    }
    key = agenti_split_key(s, level);
    s->key_at[level] = s->next.n;
    agenti_buf_add(&s->next, key.p, key.n);
    agenti_buf_add(&s->next, ":", 1);
}
/* Whether the open string is one that may come in parts, and the path says whose it is.                                */
static int agenti_split_may(const agenti_split *s)
{
    agent_str key = agenti_str(NULL, 0);
    uint32_t i;
    if (s->lost || !s->in_string || s->is_key || s->depth == 0 || s->kind[s->depth - 1] != '{') return 0;
    for (i = 0; i < s->depth; i++) {
        int needs = i ? s->kind[i - 1] == '[' : s->rule->owned;
        if (needs && !(s->owned & (uint64_t)1 << i)) return 0;
        if (s->kind[i] != '{') continue;
        if (s->key_at[i] == 0) return 0;      /* broken JSON: a value without a key                                     */
        key = agenti_split_key(s, i);
        if (key.n < 2) return 0;
        key = agenti_str(key.p + 1, key.n - 2);
        if (agenti_split_listed(key, s->rule->held)) return 0;
    }
    return agenti_split_listed(key, s->rule->parts);
}
AGENTI_FN int agenti_split_cut(agenti_split *s)
{
    size_t end = s->escape ? s->escape_at : s->text.n, inner = s->string_at + 1;
    uint32_t i;
    if (!agenti_split_may(s) || end <= inner) return 0;
    end -= agenti_utf8_tail(s->text.p + inner, end - inner);
    if (end <= inner) return 0;
    s->next.n = 0;
    for (i = 0; i < s->depth; i++) agenti_split_level(s, i);
    if (s->next.n > s->most) { s->lost = 1; return 0; }
    s->string_at = s->next.n;
    agenti_buf_add(&s->next, "\"", 1);
    if (s->escape) s->escape_at = s->next.n;
    agenti_buf_add(&s->next, s->text.p + end, s->text.n - end);
    s->text.n = end;
    agenti_buf_add(&s->text, "\"", 1);
    for (i = s->depth; i-- > 0;) agenti_buf_add(&s->text, s->kind[i] == '{' ? "}" : "]", 1);
    return s->text.bad || s->next.bad ? -1 : 1;
}
AGENTI_FN void agenti_split_swap(agenti_split *s)
{
    agenti_buf was = s->text;
    s->text = s->next;
    s->next = was;
    s->next.n = 0;
    s->at = s->text.n;
}
#endif
#endif
