/* Streams repeat themselves: an event is often one before it with another text. The bytes of such events are kept as templates, and where the
 * next one is the same but for its holes, its op is made without reading the rest again. Holes are the text itself; the values of
 * members that the wire format never reads (OpenAI pads its events with `obfuscation`); blanks before the last brace (Anthropic's
 * padding). This is exact: the same bytes around a string that is not empty, read in the same state, do the same; the state is known
 * to be the same because an event is learnt only if it made one op and changed nothing else, and an event that is read in full and
 * changes anything of the decoder's state makes all be forgotten. */
enum {
    AGENTI_SHORTCUT_MOST = 2048, AGENTI_SHORTCUT_TYPE = 32, AGENTI_SHORTCUT_LANES = 16, AGENTI_SHORTCUT_TEMPLATES = 4, AGENTI_SHORTCUT_HOLES = 6,
    AGENTI_SHORTCUT_MISSES = 16, AGENTI_SHORTCUT_REST = 256       /* after so many misses in a row so many events are not looked at */
};
enum agenti_hole_kind { AGENTI_HOLE_TEXT, AGENTI_HOLE_UNREAD /* a string or a number */, AGENTI_HOLE_BLANKS };
typedef struct agenti_hole {
    uint64_t word, mask;                      /* the text behind it, if that is of 8 bytes at the most                  */
    uint16_t at; uint8_t kind, brief;         /* brief: it is                                                           */
} agenti_hole;
typedef struct agenti_template {
    agenti_buf text;                          /* an event, without what is in its holes; n 0: nothing is learnt         */
    size_t lead, end;                         /* where its payload begins and ends; lead 0: there is nothing around it  */
    agenti_hole holes[AGENTI_SHORTCUT_HOLES]; /* in the payload, in their order                                         */
    uint32_t hole_n;
    uint8_t cr, cr_after;                     /* SSE's state before and after it                                        */
    uint8_t type_n; char type[AGENTI_SHORTCUT_TYPE];
    agenti_op op;
} agenti_template;
#ifdef AGENT_NO_SHORTCUT
typedef struct agenti_shortcut { int off; } agenti_shortcut;
#else
typedef struct agenti_shortcut {
    agenti_template t[AGENTI_SHORTCUT_TEMPLATES];
    agenti_buf was;                           /* the decoder and its lanes before an event                              */
    uint32_t last, next;                      /* which one fitted; where the next one goes                              */
    uint32_t misses, rest;                    /* events read in full, in a row; how many more will be, unseen           */
    int off;
} agenti_shortcut;
#endif
typedef struct agenti_around { agent_str raw; uint8_t cr, cr_after; } agenti_around;     /* an event with its lines; raw.n 0: not in one piece */

typedef struct agenti_hit { agent_str text; int marks; } agenti_hit;           /* what is in the hole, without quotes   */

AGENTI_FN void agenti_shortcut_init(agenti_shortcut *, agenti_pool *);
AGENTI_FN void agenti_shortcut_free(agenti_shortcut *);
AGENTI_FN void agenti_shortcut_forget(agenti_shortcut *);     /* the decoder's state may be another one                 */
#ifndef AGENT_NO_SHORTCUT
/* The event at p, from its first line to the blank one, if it is like one before and its payload is not longer than `most`: makes its op.
 * cr: SSE's state, before and after. Returns its length, 0: read it otherwise; *ok 0: no memory. *cut: p is the beginning of such an
 * event.                                                                                                               */
AGENTI_FN size_t agenti_shortcut_lines(agenti_shortcut *, agenti_decoder *, const char *p, size_t n, size_t most, uint8_t *cr, int *cut, int *ok);
/* The same of the template that fitted last, without its op: what it would be, and its text as it is written, for agenti_hit_text. `room`
 * bytes from p on may be read, not less than n. 0: it does not fit, or not so simply; nothing changes, unless agenti_shortcut_took is called. */
AGENTI_FN size_t agenti_shortcut_again(const agenti_shortcut *, const char *p, size_t n, size_t room, size_t most, uint8_t cr, const agenti_op **op,
                                       agenti_hit *);
AGENTI_FN int agenti_shortcut_begins(const agenti_shortcut *, const char *p, size_t n, uint8_t cr);    /* p is the beginning of one */
AGENTI_FN void agenti_shortcut_took(agenti_shortcut *, uint8_t *cr);
AGENTI_FN agent_str agenti_hit_text(const agenti_hit *);     /* unescaped over itself                                     */
#endif
/* Reads an event by the wire format, or shorter. 0: no memory                                                          */
AGENTI_FN int  agenti_shortcut_event(agenti_shortcut *, agenti_decoder *, agent_str type, agent_str data, const agenti_around *);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_SHORTCUT
#ifdef AGENT_NO_SHORTCUT
AGENTI_FN void agenti_shortcut_init(agenti_shortcut *s, agenti_pool *pool) { (void)s; (void)pool; }
AGENTI_FN void agenti_shortcut_free(agenti_shortcut *s) { (void)s; }
AGENTI_FN void agenti_shortcut_forget(agenti_shortcut *s) { (void)s; }
AGENTI_FN int agenti_shortcut_event(agenti_shortcut *s, agenti_decoder *d, agent_str type, agent_str data, const agenti_around *around)
{
    (void)s;
    (void)around;
    return d->wire->event(d, type, data);
}
#else
AGENTI_FN void agenti_shortcut_init(agenti_shortcut *s, agenti_pool *pool)
{
    uint32_t i;
    memset(s, 0, sizeof *s);
    agenti_buf_init(&s->was, pool);
    for (i = 0; i < AGENTI_SHORTCUT_TEMPLATES; i++) agenti_buf_init(&s->t[i].text, pool);
}
AGENTI_FN void agenti_shortcut_free(agenti_shortcut *s)
{
    uint32_t i;
    agenti_buf_free(&s->was);
    for (i = 0; i < AGENTI_SHORTCUT_TEMPLATES; i++) agenti_buf_free(&s->t[i].text);
}
AGENTI_FN void agenti_shortcut_forget(agenti_shortcut *s)
{
    uint32_t i;
    for (i = 0; i < AGENTI_SHORTCUT_TEMPLATES; i++) s->t[i].text.n = s->t[i].lead = 0;
    s->next = 0;
}

/* ---- an event that is like a template ---- */
/* A string's inside: valid escapes; for a text also valid UTF-8, and no \u of surrogates, whose halves have a memory of their own. */
static AGENTI_NOINLINE int agenti_hole_inside(const char *p, size_t n, int text, int marks)
{
    const char *q;
    size_t i, k;
    uint32_t unit;
    if (text && (marks & AGENTI_JSON_HIGH) && agenti_utf8_valid(p, n) != n) return 0;
    if (!(marks & AGENTI_JSON_ESCAPED)) return 1;
    for (i = 0; i < n; i += k) {
        if (p[i] != '\\') {
            q = n - i > 32 ? (const char *)memchr(p + i, '\\', n - i) : NULL;
            k = q ? (size_t)(q - p) - i : n - i > 32 ? n - i : 1;
            continue;
        }
        k = agenti_json_escape(p + i, n - i, &unit);
        if (k == 0 || (text && unit >= 0xD800 && unit <= 0xDFFF)) return 0;
    }
    return 1;
}
/* A string that may stand in a hole, at its quote: its length, 0, or CUT: it goes on behind p. A text is not empty.     */
static size_t agenti_hole_string(const char *p, size_t n, int back, int text, int *marks)
{
    size_t len;
    if (n == 0) return AGENTI_JSON_CUT;
    if (p[0] != '"') return 0;
    len = agenti_json_word(p + 1, n - 1, back, marks);
    if (len >= AGENTI_JSON_CUT) return len == AGENTI_JSON_CUT ? len : 0;
    if (text && len == 0) return 0;
    return *marks == 0 || agenti_hole_inside(p + 1, len, text, *marks) ? len + 2 : 0;
}
static size_t agenti_hole_unread(const char *p, size_t n, int back)      /* a number may go on: what follows the hole ends it     */
{
    int marks;
    return n == 0 || p[0] == '"' ? agenti_hole_string(p, n, back, 0, &marks) : agenti_num_prefix(p, n);
}
static int agenti_template_same(const char *p, const char *q, size_t n)        /* short pieces are the commonest        */
{
    uint32_t a, b, c, d;
    if (n > 8) return memcmp(p, q, n) == 0;
    if (n < 4) return n == 0 || (p[0] == q[0] && p[n / 2] == q[n / 2] && p[n - 1] == q[n - 1]);
    memcpy(&a, p, 4);
    memcpy(&b, q, 4);
    memcpy(&c, p + n - 4, 4);
    memcpy(&d, q + n - 4, 4);
    return ((a ^ b) | (c ^ d)) == 0;
}
/* p as the template between two places of its text: the length read, 0, or CUT: it is the beginning of such a one.      */
static size_t agenti_template_read(const agenti_template *t, agent_str p, size_t from, size_t to, agenti_hit *hit)
{
    size_t at = 0, k, noted;
    uint32_t i;
    for (i = 0;; i++) {
        k = (i < t->hole_n ? t->holes[i].at : to) - from;
        if (k > p.n - at) return agenti_template_same(p.p + at, t->text.p + from, p.n - at) ? AGENTI_JSON_CUT : 0;
        if (!agenti_template_same(p.p + at, t->text.p + from, k)) return 0;
        at += k;
        from += k;
        if (i == t->hole_n) break;
        noted = at;
        if (t->holes[i].kind == AGENTI_HOLE_BLANKS) {
            at += agenti_json_blanks(p.p + at, p.n - at, at >= 16);
            continue;
        }
        if (t->holes[i].kind == AGENTI_HOLE_UNREAD) k = agenti_hole_unread(p.p + at, p.n - at, at >= 16);
        else k = agenti_hole_string(p.p + at, p.n - at, at >= 16, 1, &hit->marks);
        if (k == 0 || k == AGENTI_JSON_CUT) return k;
        at += k;
        if (t->holes[i].kind == AGENTI_HOLE_TEXT) { hit->text.p = p.p + noted + 1; hit->text.n = k - 2; }
    }
    return at;
}
AGENTI_FN agent_str agenti_hit_text(const agenti_hit *hit)
{
    size_t n = hit->text.n;                   /* one by one: copying a view just written waits for the writes           */
    if (hit->marks & AGENTI_JSON_ESCAPED) n = agenti_json_unescape((char *)(uintptr_t)hit->text.p, n);
    return agenti_str(hit->text.p, n);
}
static int agenti_template_op(const agenti_template *t, agenti_decoder *d, const agenti_hit *hit)
{
    agenti_op *op = agenti_op_add(d, t->op.kind, t->op.key);
    if (op == NULL) return 0;
    op->flags = t->op.flags;
    op->a = agenti_hit_text(hit);
    return 1;
}
/* What is in a hole, in n bytes, of which room may be read; 16 before p, too, if `back`: its length, or 0: none, or its end is not here.              */
static size_t agenti_hole_length(int kind, const char *p, size_t n, size_t room, int back, agenti_hit *hit)
{
    int text = kind == AGENTI_HOLE_TEXT, marks = 0;
    size_t k = room > 16 && p[0] == '"' ? agenti_json_brief(p + 1, &marks) + 2 : 1;
    if (k < 2 || (text && k == 2)) k = text ? agenti_hole_string(p, n, back, 1, &marks) : agenti_hole_unread(p, n, back);
    else if (text && marks && !agenti_hole_inside(p + 1, k - 2, 1, marks)) return 0;
    if (text) { hit->text.p = p + 1; hit->text.n = k - 2; hit->marks = marks; }
    return k == AGENTI_JSON_CUT ? 0 : k;
}
/* As agenti_template_read, of all of an event that is not cut. 0: it may be cut, or it is not like the template.         */
static size_t agenti_template_whole(const agenti_template *t, const char *p, size_t n, size_t room, agenti_hit *hit)
{
    size_t at = t->holes[0].at, from = at, k;
    const agenti_hole *h = t->holes, *end = h + t->hole_n;
    if (n < t->text.n || !(at >= 16 ? agenti_bytes_same(p, t->text.p, at) : memcmp(p, t->text.p, at) == 0)) return 0;
    for (; h < end; h++) {
        if (h->kind == AGENTI_HOLE_BLANKS) {
            k = room - at < 16 ? 16 : agenti_json_few_blanks(p + at);
            if (k == 16) k = agenti_json_blanks(p + at, n - at, at >= 16);
            at += k;
            if (at > n) return 0;
        } else if ((k = n > at ? agenti_hole_length(h->kind, p + at, n - at, room - at, at >= 16, hit) : 0) == 0) return 0;
        else at += k;
        k = (h + 1 < end ? h[1].at : t->text.n) - from;
        from += k;
        if (h->brief && room - at >= 8) {
            uint64_t w;
            memcpy(&w, p + at, 8);
            if ((w ^ h->word) & h->mask) return 0;
        } else if (k > n - at || !agenti_template_same(p + at, t->text.p + from - k, k)) return 0;
        if ((at += k) > n) return 0;
    }
    return at;
}
AGENTI_FN size_t agenti_shortcut_again(const agenti_shortcut *s, const char *p, size_t n, size_t room, size_t most, uint8_t cr, const agenti_op **op,
                                       agenti_hit *hit)
{
    const agenti_template *t = &s->t[s->last];
    size_t len;
    if (t->lead == 0 || t->cr != cr) return 0;
    len = agenti_template_whole(t, p, n, room, hit);
    if (len == 0 || len - (t->lead + t->text.n - t->end) > most) return 0;
    AGENTI_TOUCH(len);
    *op = &t->op;
    return len;
}
AGENTI_FN int agenti_shortcut_begins(const agenti_shortcut *s, const char *p, size_t n, uint8_t cr)
{
    const agenti_template *t = &s->t[s->last];
    agenti_hit hit;
    if (t->lead == 0 || t->cr != cr || agenti_template_read(t, agenti_str(p, n), 0, t->text.n, &hit) != AGENTI_JSON_CUT) return 0;
    AGENTI_TOUCH(n);
    return 1;
}
AGENTI_FN void agenti_shortcut_took(agenti_shortcut *s, uint8_t *cr)
{
    s->misses = 0;
    *cr = s->t[s->last].cr_after;
}
AGENTI_FN size_t agenti_shortcut_lines(agenti_shortcut *s, agenti_decoder *d, const char *p, size_t n, size_t most, uint8_t *cr, int *cut, int *ok)
{
    agent_str all = agenti_str(p, n);
    agenti_hit hit;
    uint32_t k, i;
    size_t len;
    if (s->off || d->op_n) return 0;
    for (k = 0; k < AGENTI_SHORTCUT_TEMPLATES; k++) {
        const agenti_template *t = &s->t[i = (s->last + k) % AGENTI_SHORTCUT_TEMPLATES];
        if (t->lead == 0 || t->cr != *cr) continue;
        len = agenti_template_read(t, all, 0, t->text.n, &hit);
        if (len == AGENTI_JSON_CUT) {
            AGENTI_TOUCH(n);
            *cut = 1;
            return 0;
        }
        if (len == 0 || len - (t->lead + t->text.n - t->end) > most) continue;
        AGENTI_TOUCH(len);
        s->last = i;
        s->misses = 0;
        *ok = agenti_template_op(t, d, &hit);
        *cr = t->cr_after;
        return len;
    }
    return 0;
}
/* The payload alone. 1: it was like one before, and its op is made; 0: it was not; -1: no memory                       */
static int agenti_shortcut_data(agenti_shortcut *s, agenti_decoder *d, agent_str type, agent_str data)
{
    agenti_hit hit;
    uint32_t i;
    for (i = 0; i < AGENTI_SHORTCUT_TEMPLATES; i++) {
        const agenti_template *t = &s->t[i];
        if (t->text.n == 0 || t->type_n != type.n || memcmp(t->type, type.p, type.n) != 0) continue;
        if (agenti_template_read(t, data, t->lead, t->end, &hit) != data.n) continue;
        AGENTI_TOUCH(data.n);
        s->misses = 0;
        return agenti_template_op(t, d, &hit) ? 1 : -1;
    }
    return 0;
}

/* ---- learning ---- */
static void agenti_state_keep(agenti_buf *b, const agenti_decoder *d)
{
    b->n = 0;
    agenti_buf_add(b, (const char *)d, sizeof *d);
    agenti_buf_add(b, (const char *)d->lanes, d->lane_n * sizeof *d->lanes);
}
/* Whether an event changed nothing but the ops. What is compared byte by byte was cleared when it was made.            */
static int agenti_state_same(const agenti_buf *b, const agenti_decoder *d)
{
    agenti_decoder *was = (agenti_decoder *)(void *)b->p;
    was->ops = d->ops;
    was->op_n = d->op_n;
    was->op_cap = d->op_cap;
    was->op_at = d->op_at;
    was->arena = d->arena;
    return memcmp(was, d, sizeof *d) == 0 && (d->lane_n == 0 || memcmp(b->p + sizeof *d, d->lanes, d->lane_n * sizeof *d->lanes) == 0);
}
/* The length of the value at p of a member that is never read. `to` bytes of the template are written, and end in its key, which with both
 * quotes and colon stands nowhere else in JSON than where it is a key.                                                 */
static size_t agenti_template_unread(const agenti_template *t, const char *key, size_t to, const char *p, size_t n)
{
    size_t len;
    if (t->hole_n > AGENTI_SHORTCUT_HOLES - 3) return 0;     /* one is for the text, one for blanks                     */
    if (key == NULL || to == t->lead || t->text.p[to - 1] != ':') return 0;
    for (; *key; key += len + (key[len] == ' ')) {
        for (len = 0; key[len] && key[len] != ' '; len++) {}
        if (to - t->lead >= len && memcmp(t->text.p + to - len, key, len) == 0) return agenti_hole_unread(p, n, 0);
    }
    return 0;
}
/* Takes out of an event what belongs in holes; `at`: the quote of its text. 0: it is no template.                      */
static int agenti_template_cut(agenti_template *t, const char *key, size_t at)
{
    size_t end = t->end, from = t->lead, to = from, last = end, blanks, stop, k;
    char *p = t->text.p;
    const char *colon;
    int marks, kind;
    while (last > at && p[last - 1] == ' ') last--;
    for (blanks = --last; blanks > at && p[blanks - 1] == ' '; blanks--) {}
    for (t->hole_n = 0; from < end; from += k) {
        stop = from < at ? at : from < blanks ? blanks : end;
        colon = key ? (const char *)memchr(p + from, ':', stop - from) : NULL;
        if (colon) stop = (size_t)(colon - p) + 1;
        memmove(p + to, p + from, stop - from);
        to += stop - from;
        from = stop;
        k = last - blanks;
        kind = from == at ? AGENTI_HOLE_TEXT : from == blanks ? AGENTI_HOLE_BLANKS : AGENTI_HOLE_UNREAD;
        if (kind == AGENTI_HOLE_TEXT && (k = agenti_hole_string(p + from, end - from, 0, 1, &marks)) == 0) return 0;
        if (kind == AGENTI_HOLE_UNREAD && (from == end || (k = agenti_template_unread(t, key, to, p + from, end - from)) == 0)) { k = 0; continue; }
        t->holes[t->hole_n].at = (uint16_t)to;
        t->holes[t->hole_n++].kind = (uint8_t)kind;
    }
    memmove(p + to, p + end, t->text.n - end);
    t->text.n -= end - to;
    t->end = to;
    return 1;
}
/* What stands behind each hole, for comparing it in a word. The bytes of the mask are set as those of the text are, in any byte order. */
static void agenti_template_words(agenti_template *t)
{
    uint32_t i;
    for (i = 0; i < t->hole_n; i++) {
        agenti_hole *h = &t->holes[i];
        size_t n = (i + 1 < t->hole_n ? t->holes[i + 1].at : t->text.n) - h->at;
        h->word = h->mask = 0;
        h->brief = n <= 8;
        if (!h->brief) continue;
        memcpy(&h->word, t->text.p + h->at, n);
        memset(&h->mask, 0xFF, n);
    }
}
/* An event was read and changed nothing: it is a template if its one op is a text that was decoded in place.           */
static int agenti_template_learn(agenti_template *t, const agenti_decoder *d, agent_str type, agent_str data)
{
    const agenti_op *op = d->ops;
    size_t at;
    if (d->op_n != 1 || (op->kind != AGENTI_OP_TEXT && op->kind != AGENTI_OP_REASONING && op->kind != AGENTI_OP_ARGS)) return 0;
    if (op->a.p <= data.p || op->a.p >= data.p + data.n) return 0;
    at = t->lead + (size_t)(op->a.p - data.p) - 1;
    if (t->text.p[at] != '"' || !agenti_template_cut(t, d->wire->noise, at)) return 0;
    agenti_template_words(t);
    memcpy(t->type, type.p, type.n);
    t->type_n = (uint8_t)type.n;
    t->op = *op;
    return 1;
}
/* A copy of the event, made before it is read, for that is done in place.                                              */
static int agenti_template_copy(agenti_template *t, agent_str data, const agenti_around *around)
{
    agent_str all = around->raw.n ? around->raw : data;
    t->text.n = 0;
    agenti_buf_add(&t->text, all.p, all.n);
    t->lead = (size_t)(data.p - all.p);
    t->end = t->lead + data.n;
    t->cr = around->cr;
    t->cr_after = around->cr_after;
    return !t->text.bad;
}
/* Whether this event is to be learnt.                                                                                  */
static int agenti_shortcut_eager(agenti_shortcut *s, const agenti_decoder *d, agent_str type, agent_str data, const agenti_around *around)
{
    if (++s->misses >= AGENTI_SHORTCUT_MISSES) {             /* try some later                                          */
        s->rest = AGENTI_SHORTCUT_REST;
        s->misses -= 4;
    }
    if (s->rest || data.n > AGENTI_SHORTCUT_MOST || around->raw.n > AGENTI_SHORTCUT_MOST) return 0;
    return type.n <= AGENTI_SHORTCUT_TYPE && d->lane_n <= AGENTI_SHORTCUT_LANES;
}
static int agenti_shortcut_read(agenti_shortcut *s, agenti_decoder *d, agent_str type, agent_str data)     /* and learn   */
{
    agenti_template *t = &s->t[s->next];
    int ok = d->wire->event(d, type, data);
    if (!ok) { agenti_shortcut_forget(s); return 0; }
    if (!agenti_state_same(&s->was, d)) { agenti_shortcut_forget(s); return 1; }
    if (!agenti_template_learn(t, d, type, data)) { t->text.n = t->lead = 0; return 1; }
    s->next = (s->next + 1) % AGENTI_SHORTCUT_TEMPLATES;
    return 1;
}
AGENTI_FN int agenti_shortcut_event(agenti_shortcut *s, agenti_decoder *d, agent_str type, agent_str data, const agenti_around *around)
{
    int rc;
    if (s->off || s->rest) {
        s->rest -= s->rest > 0;
        return d->wire->event(d, type, data);
    }
    rc = d->op_n || around->raw.n ? 0 : agenti_shortcut_data(s, d, type, data);         /* agenti_shortcut_lines saw the others */
    if (rc != 0) return rc > 0;
    if (d->op_n == 0 && agenti_shortcut_eager(s, d, type, data, around)) {
        agenti_state_keep(&s->was, d);
        if (!s->was.bad && agenti_template_copy(&s->t[s->next], data, around)) return agenti_shortcut_read(s, d, type, data);
        agenti_shortcut_free(s);                             /* no memory for it                                        */
        s->off = 1;
    }
    agenti_shortcut_forget(s);
    return d->wire->event(d, type, data);
}
#endif
#endif
