/* UTF-8: checking, cutting, repairing; and a sink, so that a text is written once for a growing buffer and a caller's.
 * Repair follows Unicode and WHATWG: one U+FFFD per maximal bad subpart. */
typedef struct agenti_sink {
    agenti_buf *grow;                    /* either appends here,                                                        */
    const char *want;                    /* or compares with `cap` bytes here,                                          */
    char *p;                             /* or writes what fits here                                                    */
    size_t cap, n;                       /* n: length needed, (size_t)-1 when that is more than memory can hold         */
    size_t cut;                          /* how much of p stays, with a NUL, when not all fits                          */
    int differs;
} agenti_sink;

AGENTI_FN size_t agenti_utf8_valid(const char *p, size_t n);        /* length of the valid prefix                      */
AGENTI_FN size_t agenti_utf8_bad(const char *p, size_t n);          /* at an invalid place: the maximal bad subpart, 1 to 3 */
AGENTI_FN size_t agenti_utf8_put(char *out4, uint32_t cp);          /* a surrogate or > 10FFFF becomes U+FFFD          */
AGENTI_FN int    agenti_utf8_repair(agenti_buf *, const char *p, size_t n);     /* appends; 0: no memory               */
AGENTI_FN size_t agenti_utf8_cut(const char *p, size_t n, size_t max);          /* of valid text: longest whole prefix <= max */
AGENTI_FN size_t agenti_utf8_tail(const char *p, size_t n);         /* length of a sequence that the end cut, or 0     */
AGENTI_FN void   agenti_sink_to(agenti_sink *, char *p, size_t cap);
AGENTI_FN void   agenti_sink_grow(agenti_sink *, agenti_buf *);
AGENTI_FN void   agenti_sink_want(agenti_sink *, agent_str);
AGENTI_FN void   agenti_sink_add(agenti_sink *, const char *p, size_t n);       /* a valid piece; may overlap what p holds */
AGENTI_FN void   agenti_sink_text(agenti_sink *, const char *p, size_t n);      /* any bytes, repaired                 */
AGENTI_FN size_t agenti_sink_end(agenti_sink *);                    /* adds the NUL; length needed                     */
/* Short pieces gathered before they go to a sink: JSON is full of quotes and line ends. Flush at the end. */
typedef struct agenti_stage { agenti_sink *to; size_t n; char p[256]; } agenti_stage;
AGENTI_FN void   agenti_stage_to(agenti_stage *, agenti_sink *);
AGENTI_FN void   agenti_stage_add(agenti_stage *, const char *p, size_t n);     /* a valid piece of at most 8 bytes    */
AGENTI_FN void   agenti_stage_text(agenti_stage *, const char *p, size_t n);    /* any bytes, repaired                 */
AGENTI_FN void   agenti_stage_flush(agenti_stage *);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_UTF8
/* What follows the lead byte c: how many bytes (0: c is no lead), and the range of the first of them. That range is what keeps
 * overlong forms, surrogates and everything over 10FFFF out. */
static size_t agenti_utf8_lead(unsigned c, unsigned *lo, unsigned *hi)
{
    *lo = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
    *hi = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    return c < 0xC2 || c > 0xF4 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
}
/* How many bytes of p form a sequence or the beginning of one, at least 1; *whole: it is a whole one. n > 0. */
static size_t agenti_utf8_look(const char *p, size_t n, int *whole)
{
    const unsigned char *u = (const unsigned char *)p;
    unsigned lo, hi;
    size_t more, k;
    *whole = u[0] < 0x80;
    if (u[0] < 0x80) return 1;
    more = agenti_utf8_lead(u[0], &lo, &hi);
    for (k = 1; k <= more && k < n && u[k] >= lo && u[k] <= hi; k++) { lo = 0x80; hi = 0xBF; }
    *whole = more > 0 && k == more + 1;
    return k;
}
AGENTI_FN size_t agenti_utf8_valid(const char *p, size_t n)
{
    size_t i = 0, k;
    uint64_t w;
    int whole;
    while (i < n) {
        for (; n - i >= 8; i += 8) {
            memcpy(&w, p + i, 8);
            if (w & UINT64_C(0x8080808080808080)) break;
        }
        while (i < n && (unsigned char)p[i] < 0x80) i++;
        while (i < n && (unsigned char)p[i] >= 0x80) {
            k = agenti_utf8_look(p + i, n - i, &whole);
            if (!whole) return i;
            i += k;
        }
    }
    return n;
}
AGENTI_FN size_t agenti_utf8_bad(const char *p, size_t n)
{
    int whole;
    size_t k = n ? agenti_utf8_look(p, n, &whole) : 0;
    return k < 3 ? k : 3;
}
AGENTI_FN size_t agenti_utf8_tail(const char *p, size_t n)
{
    size_t k;
    int whole;
    for (k = 1; k <= 3 && k <= n; k++) {
        if (((unsigned char)p[n - k] & 0xC0) == 0x80) continue;
        return (unsigned char)p[n - k] >= 0xC2 && agenti_utf8_look(p + n - k, k, &whole) == k && !whole ? k : 0;
    }
    return 0;
}
AGENTI_FN size_t agenti_utf8_put(char *out, uint32_t cp)
{
    if (cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF)) cp = 0xFFFD;
    if (cp < 0x80) { out[0] = (char)cp; return 1; }
    if (cp < 0x800) { out[0] = (char)(0xC0 | cp >> 6); out[1] = (char)(0x80 | (cp & 63)); return 2; }
    if (cp < 0x10000) {
        out[0] = (char)(0xE0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 63));
        out[2] = (char)(0x80 | (cp & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 63));
    out[2] = (char)(0x80 | (cp >> 6 & 63));
    out[3] = (char)(0x80 | (cp & 63));
    return 4;
}
AGENTI_FN size_t agenti_utf8_cut(const char *p, size_t n, size_t max)
{
    size_t k = max, back;
    if (n <= max) return n;
    for (back = 0; back < 3 && k > 0 && ((unsigned char)p[k] & 0xC0) == 0x80; back++) k--;
    return k;
}
AGENTI_FN int agenti_utf8_repair(agenti_buf *b, const char *p, size_t n)
{
    agenti_sink s;
    agenti_sink_grow(&s, b);
    agenti_sink_text(&s, p, n);
    return !b->bad;
}

AGENTI_FN void agenti_sink_to(agenti_sink *s, char *p, size_t cap)
{
    memset(s, 0, sizeof *s);
    s->p = p;
    s->cap = p ? cap : 0;
}
AGENTI_FN void agenti_sink_grow(agenti_sink *s, agenti_buf *b) { agenti_sink_to(s, NULL, 0); s->grow = b; }
AGENTI_FN void agenti_sink_want(agenti_sink *s, agent_str t) { agenti_sink_to(s, NULL, 0); s->want = t.p; s->cap = t.n; }
AGENTI_FN void agenti_sink_add(agenti_sink *s, const char *p, size_t n)
{
    size_t room = s->n < s->cap ? s->cap - s->n : 0;
    if (n == 0) return;
    if (s->grow) agenti_buf_add(s->grow, p, n);
    else if (s->want) s->differs |= n > room || memcmp(s->want + s->n, p, n) != 0;
    else if (n < room) {
        memmove(s->p + s->n, p, n);
        s->cut = s->n + n;
    } else if (room > 0) {
        s->cut = s->n + agenti_utf8_cut(p, n, room - 1);
        memmove(s->p + s->n, p, agenti_utf8_cut(p, n, room));
    }
    if (!agenti_add(s->n, n, &s->n)) s->n = (size_t)-1;
}
AGENTI_FN void agenti_sink_text(agenti_sink *s, const char *p, size_t n)
{
    size_t k;
    AGENTI_TOUCH(n);
    while (n > 0) {
        k = agenti_utf8_valid(p, n);
        agenti_sink_add(s, p, k);
        p += k;
        n -= k;
        if (n == 0) break;
        agenti_sink_add(s, "\xEF\xBF\xBD", 3);
        k = agenti_utf8_bad(p, n);
        p += k;
        n -= k;
    }
}
AGENTI_FN size_t agenti_sink_end(agenti_sink *s)
{
    if (s->n < s->cap) s->p[s->n] = 0;
    else if (s->n > s->cap && s->cap > 0) s->p[s->cut] = 0;
    return s->n;
}

AGENTI_FN void agenti_stage_to(agenti_stage *s, agenti_sink *to) { s->to = to; s->n = 0; }
AGENTI_FN void agenti_stage_flush(agenti_stage *s)
{
    agenti_sink_add(s->to, s->p, s->n);
    s->n = 0;
}
AGENTI_FN void agenti_stage_add(agenti_stage *s, const char *p, size_t n)
{
    if (n > sizeof s->p - s->n) agenti_stage_flush(s);
    memcpy(s->p + s->n, p, n);
    s->n += n;
}
AGENTI_FN void agenti_stage_text(agenti_stage *s, const char *p, size_t n)
{
    if (n > sizeof s->p - s->n) agenti_stage_flush(s);
    if (n <= sizeof s->p && agenti_utf8_valid(p, n) == n) {
        memcpy(s->p + s->n, p, n);
        s->n += n;
        AGENTI_TOUCH(n);
        return;
    }
    agenti_stage_flush(s);
    agenti_sink_text(s->to, p, n);
}
#endif
