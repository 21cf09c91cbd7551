/* Regular expressions as JSON Schema has them (ECMA 262), without what needs backtracking: every pattern is matched in time linear in the text.
 * A pattern becomes a program of steps; a bit for each says which could be next. What is not understood (look-around, back references,
 * properties of characters) or too large is said so, and matches nothing and everything: the caller decides. */
#ifndef AGENT_NO_SCHEMA
AGENTI_FN int agenti_pattern_set(agent_pattern *, agent_str raw);             /* 0: not understood, or too large       */
AGENTI_FN int agenti_pattern_in(agent_pattern *, agent_str raw);              /* is it anywhere in this raw JSON string? */
#endif

#if (!defined AGENTI_SPLIT || defined AGENTI_PART_PATTERN) && !defined AGENT_NO_SCHEMA
enum { AGENTI_RE_MATCH, AGENTI_RE_CHAR, AGENTI_RE_ANY, AGENTI_RE_CLASS, AGENTI_RE_JUMP, AGENTI_RE_SPLIT, AGENTI_RE_START, AGENTI_RE_END, AGENTI_RE_WORD };
#define AGENTI_RE_NONE UINT32_MAX

/* ---- from the pattern to steps ---- */
static uint32_t agenti_re_peek(agent_pattern *x, size_t *len)                 /* NONE: the end                         */
{
    uint32_t c;
    if (x->at >= x->n) { *len = 0; return AGENTI_RE_NONE; }
    *len = agenti_json_char(x->p + x->at, x->n - x->at, &c);
    return c;
}
static uint32_t agenti_re_take(agent_pattern *x)
{
    size_t len;
    uint32_t c = agenti_re_peek(x, &len);
    x->at += len;
    return c;
}
static int agenti_re_eat(agent_pattern *x, uint32_t want)
{
    size_t len;
    if (agenti_re_peek(x, &len) != want) return 0;
    x->at += len;
    return 1;
}
static void agenti_re_add(agent_pattern *x, int op, int no, int to, uint32_t a)
{
    agent_pattern_step *s = &x->step[x->steps];
    if (x->steps + 1 >= AGENT_PATTERN_STEPS) { x->ok = 0; return; }
    s->op = (uint8_t)op;
    s->no = (uint8_t)no;
    s->to = (int16_t)to;
    s->a = a;
    x->steps++;
}
/* Room for a step before those from `at` on; what is in them leads nowhere outside, so that their distances stay. */
static void agenti_re_insert(agent_pattern *x, uint32_t at, int op, int to)
{
    agenti_re_add(x, op, 0, to, 0);
    if (!x->ok) return;
    memmove(&x->step[at + 1], &x->step[at], (x->steps - 1 - at) * sizeof x->step[0]);
    x->step[at].op = (uint8_t)op;
    x->step[at].no = 0;
    x->step[at].to = (int16_t)to;
    x->step[at].a = 0;
}
static void agenti_re_range(agent_pattern *x, uint32_t from, uint32_t to)
{
    if (x->ranges >= AGENT_PATTERN_RANGES) { x->ok = 0; return; }
    x->range[x->ranges][0] = from;
    x->range[x->ranges++][1] = to;
}
/* The ranges of \d \w \s, or with `no` all but them.                                                                   */
static int agenti_re_set(agent_pattern *x, uint32_t c)
{
    static const uint32_t digits[] = { '0', '9' }, words[] = { '0', '9', 'A', 'Z', '_', '_', 'a', 'z' };
    static const uint32_t blanks[] = { 9, 13, ' ', ' ', 0xA0, 0xA0, 0x1680, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029, 0x202F, 0x202F, 0x205F, 0x205F,
                                       0x3000, 0x3000, 0xFEFF, 0xFEFF };
    const uint32_t *set = (c | 32) == 'd' ? digits : (c | 32) == 'w' ? words : (c | 32) == 's' ? blanks : NULL;
    size_t n = set == digits ? 2 : set == words ? 8 : 20, i;
    uint32_t from = 0;
    if (set == NULL) return 0;
    for (i = 0; i < n; i += 2) {
        if (c & 32) { agenti_re_range(x, set[i], set[i + 1]); continue; }
        agenti_re_range(x, from, set[i] - 1);
        from = set[i + 1] + 1;
    }
    if (!(c & 32)) agenti_re_range(x, from, 0x10FFFF);
    return 1;
}
static uint32_t agenti_re_hex(agent_pattern *x, int digits)                   /* 0: as many as there are               */
{
    uint32_t v = 0, c;
    size_t len;
    int i;
    for (i = 0; digits == 0 || i < digits; i++) {
        c = agenti_re_peek(x, &len);
        if (c >= '0' && c <= '9') c -= '0';
        else if (c < 128 && (c | 32) >= 'a' && (c | 32) <= 'f') c = (c | 32) - 'a' + 10;
        else break;
        x->at += len;
        v = v > 0x10FFFF ? v : v * 16 + c;
    }
    if (i == 0 || i < digits || v > 0x10FFFF) x->ok = 0;
    return v;
}
/* Behind a backslash: the character that is meant.                                                                     */
static uint32_t agenti_re_escape(agent_pattern *x, int in_class)
{
    static const char from[] = "tnvfr0", to[] = "\t\n\v\f\r";                  /* \0 by the NUL at the end              */
    uint32_t c = agenti_re_take(x), v;
    const char *k;
    if (c == 'b' && in_class) return 8;
    if (c == 'c') { v = agenti_re_take(x); if (v >= 128 || (v | 32) < 'a' || (v | 32) > 'z') x->ok = 0; return v & 31; }
    if (c == 'x') return agenti_re_hex(x, 2);
    if (c == 'u' && agenti_re_eat(x, '{')) { v = agenti_re_hex(x, 0); if (!agenti_re_eat(x, '}')) x->ok = 0; return v; }
    if (c == 'u') {
        size_t at;
        v = agenti_re_hex(x, 4);
        at = x->at;
        if (v >= 0xD800 && v <= 0xDBFF && agenti_re_eat(x, '\\') && agenti_re_eat(x, 'u')) {
            uint32_t low = agenti_re_hex(x, 4);
            if (low >= 0xDC00 && low <= 0xDFFF) return 0x10000 + ((v - 0xD800) << 10) + (low - 0xDC00);
        }
        x->at = at;
        return v;
    }
    if (c < 128 && c > 0 && (k = (const char *)memchr(from, (int)c, 6)) != NULL) return (unsigned char)to[k - from];
    if (c == AGENTI_RE_NONE || (c >= '1' && c <= '9') || c == 'k' || (c | 32) == 'p' || c == 'b' || c == 'B') x->ok = 0;   /* not understood here */
    return c;
}
/* Of a class, behind its bracket: one character; or a set, which is taken: NONE.                                        */
static uint32_t agenti_re_class_char(agent_pattern *x)
{
    uint32_t c = agenti_re_take(x), d;
    size_t len;
    if (c != '\\') { if (c == AGENTI_RE_NONE) x->ok = 0; return c; }
    d = agenti_re_peek(x, &len);
    if (d < 128 && agenti_re_set(x, d)) { x->at += len; return AGENTI_RE_NONE; }
    return agenti_re_escape(x, 1);
}
static void agenti_re_class(agent_pattern *x)
{
    uint32_t first = x->ranges, c, d;
    int no = agenti_re_eat(x, '^');
    while (x->ok && !agenti_re_eat(x, ']')) {
        size_t at;
        c = agenti_re_class_char(x);
        at = x->at;
        if (!x->ok || c == AGENTI_RE_NONE) continue;
        if (agenti_re_eat(x, '-')) {
            size_t len;
            if (agenti_re_peek(x, &len) != ']') {
                d = agenti_re_class_char(x);
                if (d == AGENTI_RE_NONE) { agenti_re_range(x, c, c); agenti_re_range(x, '-', '-'); continue; }   /* [a-\d] */
                if (d < c) x->ok = 0;
                agenti_re_range(x, c, d);
                continue;
            }
            x->at = at;
        }
        agenti_re_range(x, c, c);
    }
    agenti_re_add(x, AGENTI_RE_CLASS, no, (int)(x->ranges - first), first);
}
static void agenti_re_atom_escape(agent_pattern *x)
{
    uint32_t first = x->ranges, c;
    size_t len;
    c = agenti_re_peek(x, &len);
    if (c < 128 && agenti_re_set(x, c)) {
        x->at += len;
        agenti_re_add(x, AGENTI_RE_CLASS, 0, (int)(x->ranges - first), first);
    } else if (c == 'b' || c == 'B') {
        x->at += len;
        agenti_re_add(x, AGENTI_RE_WORD, c == 'B', 0, 0);
    } else agenti_re_add(x, AGENTI_RE_CHAR, 0, 0, agenti_re_escape(x, 0));
}
/* ---- groups and branches ---- */
static void agenti_re_open(agent_pattern *x)
{
    agent_pattern_group *g;
    uint32_t c;
    if (x->groups >= AGENT_PATTERN_GROUPS) { x->ok = 0; return; }
    g = &x->group[x->groups++];
    g->start = g->branch = (uint16_t)x->steps;
    g->jump = 0;
    if (x->groups == 1 || !agenti_re_eat(x, '?')) return;
    if (agenti_re_eat(x, ':')) return;
    if (!agenti_re_eat(x, '<')) { x->ok = 0; return; }                         /* look-ahead                            */
    c = agenti_re_take(x);
    if (c == '=' || c == '!') x->ok = 0;                                       /* look-behind                           */
    while (c != '>' && c != AGENTI_RE_NONE) c = agenti_re_take(x);             /* a name                                */
    if (c != '>') x->ok = 0;
}
static void agenti_re_branch(agent_pattern *x)
{
    agent_pattern_group *g = &x->group[x->groups - 1];
    agenti_re_insert(x, g->branch, AGENTI_RE_SPLIT, (int)(x->steps - g->branch) + 2);
    agenti_re_add(x, AGENTI_RE_JUMP, 0, 0, g->jump);                           /* a: the one before it                  */
    g->jump = g->branch = (uint16_t)x->steps;
}
/* Returns where the group starts.                                                                                      */
static uint32_t agenti_re_close(agent_pattern *x)
{
    agent_pattern_group *g = &x->group[--x->groups];
    uint32_t at = g->jump, before;
    for (; at > 0; at = before) {
        agent_pattern_step *s = &x->step[at - 1];
        before = s->a;
        s->to = (int16_t)(x->steps - (at - 1));
        s->a = 0;
    }
    return g->start;
}
/* ---- how often ---- */
static void agenti_re_copy(agent_pattern *x, uint32_t from, uint32_t n)
{
    if (x->steps + n >= AGENT_PATTERN_STEPS) { x->ok = 0; return; }
    memcpy(&x->step[x->steps], &x->step[from], n * sizeof x->step[0]);
    x->steps += n;
}
/* The steps from `at` on, least to most times; most NONE: any number.                                                  */
static void agenti_re_repeat(agent_pattern *x, uint32_t at, uint32_t least, uint32_t most)
{
    uint32_t n = x->steps - at, i;
    if (most == 0) { x->steps = at; return; }
    if (most == AGENTI_RE_NONE && least == 0) {
        agenti_re_insert(x, at, AGENTI_RE_SPLIT, (int)n + 2);
        agenti_re_add(x, AGENTI_RE_JUMP, 0, -(int)n - 1, 0);
        return;
    }
    for (i = 1; x->ok && i < least; i++) agenti_re_copy(x, at, n);
    if (most == AGENTI_RE_NONE) { agenti_re_add(x, AGENTI_RE_SPLIT, 0, -(int)n, 0); return; }
    for (i = least ? least : 1; x->ok && i < most; i++) {                      /* each leads past all that come after it */
        agenti_re_add(x, AGENTI_RE_SPLIT, 0, (int)((most - i) * (n + 1) < AGENT_PATTERN_STEPS ? (most - i) * (n + 1) : 0), 0);
        agenti_re_copy(x, at, n);
    }
    if (least == 0 && x->ok) agenti_re_insert(x, at, AGENTI_RE_SPLIT, (int)(x->steps - at) + 1);
}
static uint32_t agenti_re_number(agent_pattern *x)                            /* NONE: there is none                   */
{
    uint32_t v = AGENTI_RE_NONE, c;
    size_t len;
    while ((c = agenti_re_peek(x, &len)) >= '0' && c <= '9') {
        v = v == AGENTI_RE_NONE ? 0 : v;
        v = v > AGENT_PATTERN_STEPS ? v : v * 10 + (c - '0');
        x->at += len;
    }
    return v;
}
/* Behind the atom that starts at `at`: a quantifier, if there is one; a `{` that begins none is a character.           */
static void agenti_re_quantify(agent_pattern *x, uint32_t at)
{
    size_t here = x->at;
    uint32_t least = 0, most = AGENTI_RE_NONE;
    if (agenti_re_eat(x, '+')) least = 1;
    else if (agenti_re_eat(x, '?')) most = 1;
    else if (agenti_re_eat(x, '{')) {
        least = most = agenti_re_number(x);
        if (agenti_re_eat(x, ',')) most = agenti_re_number(x);
        if (least == AGENTI_RE_NONE || !agenti_re_eat(x, '}')) { x->at = here; return; }
        if (most < least || (most != AGENTI_RE_NONE && most > AGENT_PATTERN_STEPS) || least > AGENT_PATTERN_STEPS) { x->ok = 0; return; }
    } else if (!agenti_re_eat(x, '*')) return;
    (void)agenti_re_eat(x, '?');                                               /* lazy: the same texts match            */
    agenti_re_repeat(x, at, least, most);
}
AGENTI_FN int agenti_pattern_set(agent_pattern *x, agent_str raw)
{
    uint32_t c, at;
    if (x->ok && x->p == raw.p && x->n == raw.n && x->steps) return 1;         /* the one from before                   */
    x->p = raw.p;
    x->n = raw.n;
    x->at = 0;
    x->steps = x->ranges = x->groups = 0;
    x->ok = 1;
    agenti_re_open(x);
    while (x->ok && (c = agenti_re_take(x)) != AGENTI_RE_NONE) {
        at = x->steps;
        if (c == '(') { agenti_re_open(x); continue; }
        if (c == '|') { agenti_re_branch(x); continue; }
        if (c == ')') { if (x->groups == 1) { x->ok = 0; break; } at = agenti_re_close(x); }
        else if (c == '[') agenti_re_class(x);
        else if (c == '\\') agenti_re_atom_escape(x);
        else if (c == '.') agenti_re_add(x, AGENTI_RE_ANY, 0, 0, 0);
        else if (c == '^' || c == '$') agenti_re_add(x, c == '^' ? AGENTI_RE_START : AGENTI_RE_END, 0, 0, 0);
        else if (c == '*' || c == '+' || c == '?') x->ok = 0;
        else agenti_re_add(x, AGENTI_RE_CHAR, 0, 0, c);
        if (x->ok) agenti_re_quantify(x, at);
    }
    if (x->groups != 1) x->ok = 0;
    if (x->ok) { agenti_re_close(x); agenti_re_add(x, AGENTI_RE_MATCH, 0, 0, 0); }
    return x->ok;
}
/* ---- matching ---- */
static int agenti_re_is_word(uint32_t c) { return c == '_' || (c >= '0' && c <= '9') || (c < 128 && (c | 32) >= 'a' && (c | 32) <= 'z'); }
static int agenti_re_fits(const agent_pattern *x, const agent_pattern_step *s, uint32_t c)
{
    uint32_t i, n = (uint32_t)s->to;
    if (s->op == AGENTI_RE_CHAR) return c == s->a;
    if (s->op == AGENTI_RE_ANY) return c != '\n' && c != '\r' && c != 0x2028 && c != 0x2029;
    for (i = 0; i < n; i++) if (c >= x->range[s->a + i][0] && c <= x->range[s->a + i][1]) return !s->no;
    return s->no;
}
static void agenti_re_mark(agent_pattern *x, uint32_t *set, uint32_t *n, uint32_t at)
{
    if (set[at / 32] >> (at & 31) & 1) return;
    set[at / 32] |= UINT32_C(1) << (at & 31);
    x->list[(*n)++] = (uint16_t)at;
}
/* From the steps in `next` to all that can be reached without a character, into `now`. 1: the match is among them.      */
static int agenti_re_reach(agent_pattern *x, uint32_t before, uint32_t after)
{
    uint32_t n = 0, at, i;
    memset(x->now, 0, sizeof x->now);
    for (i = 0; i < x->steps; i++) if (i == 0 || (x->next[i / 32] >> (i & 31) & 1)) agenti_re_mark(x, x->now, &n, i);
    while (n > 0) {
        const agent_pattern_step *s;
        at = x->list[--n];
        s = &x->step[at];
        switch (s->op) {
        case AGENTI_RE_MATCH: return 1;
        case AGENTI_RE_SPLIT: agenti_re_mark(x, x->now, &n, at + 1); agenti_re_mark(x, x->now, &n, (uint32_t)((int)at + s->to)); break;
        case AGENTI_RE_JUMP: agenti_re_mark(x, x->now, &n, (uint32_t)((int)at + s->to)); break;
        case AGENTI_RE_START: if (before == AGENTI_RE_NONE) agenti_re_mark(x, x->now, &n, at + 1); break;
        case AGENTI_RE_END: if (after == AGENTI_RE_NONE) agenti_re_mark(x, x->now, &n, at + 1); break;
        case AGENTI_RE_WORD: if ((agenti_re_is_word(before) != agenti_re_is_word(after)) != s->no) agenti_re_mark(x, x->now, &n, at + 1); break;
        default: break;
        }
    }
    return 0;
}
AGENTI_FN int agenti_pattern_in(agent_pattern *x, agent_str raw)
{
    uint32_t before = AGENTI_RE_NONE, c = AGENTI_RE_NONE, i;
    size_t at = 0, len;
    if (!x->ok) return 1;
    memset(x->next, 0, sizeof x->next);
    for (;; at += len, before = c) {
        len = at < raw.n ? agenti_json_char(raw.p + at, raw.n - at, &c) : 0;
        if (len == 0) c = AGENTI_RE_NONE;
        if (agenti_re_reach(x, before, c)) return 1;
        AGENTI_TOUCH(len);
        if (len == 0) return 0;
        memset(x->next, 0, sizeof x->next);
        for (i = 0; i < x->steps; i++)
            if ((x->now[i / 32] >> (i & 31) & 1) && x->step[i].op >= AGENTI_RE_CHAR && x->step[i].op <= AGENTI_RE_CLASS && agenti_re_fits(x, &x->step[i], c))
                x->next[(i + 1) / 32] |= UINT32_C(1) << ((i + 1) & 31);
    }
}
#endif
