/* Server-sent events, WHATWG HTML 9.2.5-9.2.6, over any cut of the bytes.
 * buf holds four regions one behind the other: last id, event type, data, and the line that the input broke off in. The first
 * two have room of their own (cap >= len), so that setting them again moves nothing: hostile input stays linear.
 * Within one call the type and the data line of an event are views into the input; they are copied only when the call ends
 * before the event does, or when more data comes. All or nothing: when buf is too small, the call goes back to the last
 * place in the input that all state before it is safe in buf. */
AGENTI_FN int agenti_sse_fresh(const agent_sse *);           /* nothing of an event was read: all its state is in s->cr, but an id */
#ifdef AGENT_NO_CODECS
AGENTI_FN void agent_sse_init(agent_sse *, void *buf, size_t cap, uint32_t flags);
AGENTI_FN int agent_sse_next(agent_sse *, const char *in, size_t n, size_t *used, agent_sse_event *out);
AGENTI_FN size_t agent_sse_pending(const agent_sse *);
AGENTI_FN size_t agent_sse_take(agent_sse *, char *to);
AGENTI_FN int agent_sse_end(agent_sse *, agent_sse_event *out);
#endif

#if !defined AGENTI_SPLIT || defined AGENTI_PART_SSE
enum { AGENTI_SSE_FIELD_MOST = 8192 };       /* of AGENT_SSE_BOUNDED                                                    */
enum { AGENTI_SSE_DATA = 1, AGENTI_SSE_ERROR = 2 };          /* what the event has so far: in buf (state) or as a view  */
typedef struct agenti_sse_call {         /* one call: the input, and what is not in buf yet                             */
    const char *in;
    size_t safe;                         /* all before this is safe                                                     */
    agent_str type, data;
    uint8_t has_type, has;               /* AGENTI_SSE_ bits                                                            */
} agenti_sse_call;
typedef struct agenti_sse_line { agent_str name, value; int in_buf; } agenti_sse_line;

AGENTI_CODEC void agent_sse_init(agent_sse *s, void *buf, size_t cap, uint32_t flags)
{
    memset(s, 0, sizeof *s);
    s->buf = (char *)buf;
    s->cap = buf ? cap : 0;
    s->flags = flags;
}

/* ---- finding line ends ---- */
static size_t agenti_sse_either(const char *p, size_t n)     /* the first LF or CR, or n                                */
{
    const uint64_t ones = (uint64_t)-1 / 255, high = ones * 128;
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        uint64_t w, lf, cr;
        memcpy(&w, p + i, 8);
        lf = w ^ ones * '\n';
        cr = w ^ ones * '\r';
        if (((lf - ones) & ~lf & high) | ((cr - ones) & ~cr & high)) break;
    }
    while (i < n && p[i] != '\n' && p[i] != '\r') i++;
    return i;
}
/* memchr is the fastest, but twice over the same bytes; a stream with CRs that no LF follows could make it look at the same
 * far LF for each line, so such a stream is read by words.                                                            */
static size_t agenti_sse_line_end(agent_sse *s, const char *p, size_t n)
{
    const char *lf, *cr;
    size_t len;
    if (p[0] == '\n' || p[0] == '\r') return 0;
    if (s->lone_cr) {
        len = agenti_sse_either(p, n);
        AGENTI_TOUCH(len);
        return len;
    }
    lf = (const char *)memchr(p, '\n', n);
    len = lf ? (size_t)(lf - p) : n;
    AGENTI_TOUCH(2 * len);
    cr = (const char *)memchr(p, '\r', len);
    if (cr && (size_t)(cr - p) + 1 < n && cr[1] != '\n') s->lone_cr = 1;
    return cr ? (size_t)(cr - p) : len;
}

/* ---- keeping in buf ---- */
enum { AGENTI_SSE_ID, AGENTI_SSE_TYPE };
static size_t agenti_sse_data_at(const agent_sse *s) { return s->id_cap + s->type_cap; }
/* How much a region has to grow to hold n bytes: in steps that double when something would have to move.              */
static size_t agenti_sse_growth(const agent_sse *s, int which, size_t n)
{
    size_t cap = which == AGENTI_SSE_ID ? s->id_cap : s->type_cap;
    size_t behind = s->data_len + (which == AGENTI_SSE_ID ? s->type_cap : 0);
    if (n <= cap) return 0;
    return behind && n < 2 * cap ? cap : n - cap;
}
static int agenti_sse_keep(agent_sse *s, int which, agent_str v, int in_buf)   /* 0: no room, nothing changed           */
{
    size_t at = which == AGENTI_SSE_ID ? 0 : s->id_cap, grow = agenti_sse_growth(s, which, v.n);
    size_t *cap = which == AGENTI_SSE_ID ? &s->id_cap : &s->type_cap;
    if (grow > s->cap - s->len) return 0;
    if (grow) {
        char *from = s->buf + at + *cap;
        memmove(from + grow, from, s->len - at - *cap);
        AGENTI_TOUCH(s->len - at - *cap);
        if (in_buf) v.p += grow;
        s->len += grow;
        *cap += grow;
    }
    if (v.n) memcpy(s->buf + at, v.p, v.n);
    AGENTI_TOUCH(v.n);
    if (which == AGENTI_SSE_ID) s->id_len = v.n;
    else s->type_len = v.n;
    return 1;
}
static void agenti_sse_add(agent_sse *s, agent_str v)        /* one more line of data; there is room, v is not in buf   */
{
    char *to = s->buf + s->len;
    size_t sep = s->state & AGENTI_SSE_DATA ? 1 : 0;
    if (sep) *to = '\n';
    if (v.n) memcpy(to + sep, v.p, v.n);
    AGENTI_TOUCH(v.n);
    s->data_len += sep + v.n;
    s->len += sep + v.n;
    s->state |= AGENTI_SSE_DATA;
}
/* Moves the views into buf and leaves room for `more`. 0: no room, nothing changed.                                   */
static int agenti_sse_spill(agent_sse *s, agenti_sse_call *c, size_t more)
{
    size_t need = more + (c->has & AGENTI_SSE_DATA ? c->data.n + 1 : 0);     /* all lie in the input: no overflow       */
    size_t grow = c->has_type ? agenti_sse_growth(s, AGENTI_SSE_TYPE, c->type.n) : 0, room = s->cap - s->len;
    if (grow > room || need > room - grow) return 0;
    if (c->has_type) (void)agenti_sse_keep(s, AGENTI_SSE_TYPE, c->type, 0);
    if (c->has & AGENTI_SSE_DATA) agenti_sse_add(s, c->data);
    s->state |= c->has;
    c->has_type = c->has = 0;
    return 1;
}
/* The line in buf is data: it closes up with the data before it. Its name was longer than the separator.              */
static void agenti_sse_close_up(agent_sse *s, agent_str v)
{
    char *to = s->buf + agenti_sse_data_at(s) + s->data_len;
    size_t sep = s->state & AGENTI_SSE_DATA ? 1 : 0;
    memmove(to + sep, v.p, v.n);
    AGENTI_TOUCH(v.n);
    if (sep) *to = '\n';
    s->data_len += sep + v.n;
    s->state |= AGENTI_SSE_DATA;
}

/* ---- fields ---- */
static agenti_sse_line agenti_sse_split(const char *p, size_t n, int in_buf)
{
    agenti_sse_line l;
    const char *colon = (const char *)memchr(p, ':', n);     /* names are short: this stops early or at the line's end  */
    size_t k = colon ? (size_t)(colon - p) : n;
    l.name = agenti_str(p, k);
    if (colon) k++;
    if (colon && k < n && p[k] == ' ') k++;
    l.value = agenti_str(p + k, n - k);
    l.in_buf = in_buf;
    return l;
}
static int agenti_sse_too_long(const agent_sse *s, size_t value_n) { return (s->flags & AGENT_SSE_BOUNDED) && value_n > AGENTI_SSE_FIELD_MOST; }
static int agenti_sse_is_data(const agent_sse *s, const agenti_sse_line *l, int *error)
{
    *error = 0;
    if (agenti_eq(l->name, "data")) return 1;
    *error = (s->flags & AGENT_SSE_ERROR_FIELD) && l->value.n && l->value.p[0] == '{' && agenti_eq(l->name, "error")
        && !agenti_sse_too_long(s, l->value.n);
    return *error;
}
/* Whether the beginning of a line can become a field that matters: else its rest needs no room.                       */
static int agenti_sse_matters(const agent_sse *s, const char *p, size_t n)
{
    static const char *const names[] = { "data:", "event:", "id:", "error:" };
    size_t i, k, len, count = s->flags & AGENT_SSE_ERROR_FIELD ? 4 : 3;
    for (i = 0; i < count; i++) {
        if (i == 2 && (s->flags & AGENT_SSE_BOUNDED)) continue;
        len = strlen(names[i]);
        k = n < len ? n : len;
        if (memcmp(p, names[i], k) == 0) return 1;
    }
    return 0;
}
static int agenti_sse_data(agent_sse *s, agenti_sse_call *c, const agenti_sse_line *l, int error)
{
    if (l->in_buf) agenti_sse_close_up(s, l->value);
    else if ((s->state | c->has) & AGENTI_SSE_DATA) {
        if (!agenti_sse_spill(s, c, l->value.n + 1)) return 0;
        agenti_sse_add(s, l->value);
    } else {
        c->data = l->value;
        c->has |= AGENTI_SSE_DATA;
        if (error) c->has |= AGENTI_SSE_ERROR;
        return 1;
    }
    if (error) s->state |= AGENTI_SSE_ERROR;
    return 1;
}
static int agenti_sse_field(agent_sse *s, agenti_sse_call *c, const agenti_sse_line *l)      /* 0: no room              */
{
    int error;
    if (agenti_sse_is_data(s, l, &error)) return agenti_sse_data(s, c, l, error);
    if (agenti_sse_too_long(s, l->value.n)) return 1;
    if (agenti_eq(l->name, "event")) {
        if (l->in_buf) return agenti_sse_keep(s, AGENTI_SSE_TYPE, l->value, 1);
        c->type = l->value;
        c->has_type = 1;
    } else if (!(s->flags & AGENT_SSE_BOUNDED) && agenti_eq(l->name, "id") && (l->value.n == 0 || memchr(l->value.p, 0, l->value.n) == NULL))
        return agenti_sse_keep(s, AGENTI_SSE_ID, l->value, l->in_buf);
    return 1;
}
/* The line in buf is complete. 0: no room.                                                                            */
static int agenti_sse_buffered(agent_sse *s, agenti_sse_call *c)
{
    agenti_sse_line l = agenti_sse_split(s->buf + s->len - s->line_len, s->line_len, 1);
    if (!agenti_sse_field(s, c, &l)) return 0;
    s->line_len = 0;
    s->len = agenti_sse_data_at(s) + s->data_len;
    return 1;
}
/* A line of n > 0 bytes, or the last n bytes of the line in buf. 0: no room.                                          */
static int agenti_sse_take(agent_sse *s, agenti_sse_call *c, size_t at, size_t n)
{
    agenti_sse_line l;
    if (s->line_len) {
        if (n > s->cap - s->len) return 0;
        if (n) memcpy(s->buf + s->len, c->in + at, n);
        AGENTI_TOUCH(n);
        s->len += n;
        s->line_len += n;
        c->safe = at + n;                                    /* a line end, or all of it again after E_FULL             */
        return agenti_sse_buffered(s, c);
    }
    l = agenti_sse_split(c->in + at, n, 0);
    return agenti_sse_field(s, c, &l);
}

/* ---- events ---- */
static void agenti_sse_forget(agent_sse *s)                  /* the event; the line in buf, too; not the id             */
{
    s->type_len = s->type_cap = s->data_len = s->line_len = 0;
    s->id_cap = s->len = s->id_len;
    s->state = 0;
    s->open = 0;
}
static int agenti_sse_blank(agent_sse *s, agenti_sse_call *c, agent_sse_event *out)  /* 1: an event                     */
{
    uint32_t all = s->state | c->has;
    int event = (all & AGENTI_SSE_DATA) != 0 && !s->skip;
    const char *buf = s->buf ? s->buf : "";
    if (event) {
        out->data = c->has & AGENTI_SSE_DATA ? c->data : agenti_str(buf + agenti_sse_data_at(s), s->data_len);
        out->event = c->has_type ? c->type : agenti_str(buf + s->id_cap, s->type_len);
        if (all & AGENTI_SSE_ERROR) out->event = agenti_cstr("error");
        else if (out->event.n == 0) out->event = agenti_cstr("message");
        out->id = agenti_str(buf, s->id_len);
    }
    agenti_sse_forget(s);
    c->has_type = c->has = 0;
    s->skip = 0;
    return event;
}

/* ---- the reader ---- */
static size_t agenti_sse_lead(agent_sse *s, const char *in, size_t n)        /* a BOM first of all, the LF of a CRLF    */
{
    static const char bom[] = "\xEF\xBB\xBF";
    size_t at = 0;
    for (; s->bom < 3 && at < n; at++) {
        if (in[at] == bom[s->bom]) { s->bom++; continue; }
        s->ignore = s->bom > 0;                              /* a line with half a BOM is no field                      */
        s->bom = 3;
        break;
    }
    if (s->cr && at < n) {
        if (in[at] == '\n') at++;
        s->cr = 0;
    }
    return at;
}
static int agenti_sse_stop(agent_sse *s, size_t at, size_t *used, int code)
{
    *used = at;
    s->offset += at;
    if (code == AGENT_E_FULL) s->open = 1;
    return code;
}
/* The input ends inside an event, in a line of which n bytes came. 0: no room.                                        */
static int agenti_sse_rest(agent_sse *s, agenti_sse_call *c, size_t at, size_t n)
{
    size_t len = s->line_len + n, i, k = 0;
    char head[8];                                            /* the line's beginning                                    */
    for (i = 0; i < 6 && i < len; i++)
        head[k++] = i < s->line_len ? s->buf[s->len - s->line_len + i] : c->in[at + i - s->line_len];
    if (len > 7 && memcmp(head, "data:", 5) != 0 && agenti_sse_too_long(s, len - 7)) k = 0;      /* it has no use any more */
    if (n && (s->ignore || s->skip || k == 0 || !agenti_sse_matters(s, head, k))) {
        if (!agenti_sse_spill(s, c, 0)) return 0;
        s->len -= s->line_len;
        s->line_len = 0;
        s->ignore = 1;
        return 1;
    }
    if (!agenti_sse_spill(s, c, n)) return 0;
    if (n) memcpy(s->buf + s->len, c->in + at, n);
    AGENTI_TOUCH(n);
    s->len += n;
    s->line_len += n;
    return 1;
}
/* The line from `at` on, n bytes without its end. OK: an event; MORE: go on; E_FULL.                                  */
static int agenti_sse_line_done(agent_sse *s, agenti_sse_call *c, size_t at, size_t n, agent_sse_event *out)
{
    if (n == 0 && s->line_len == 0 && !s->ignore) return agenti_sse_blank(s, c, out) ? AGENT_OK : AGENT_MORE;
    if (!s->ignore && !s->skip && !agenti_sse_take(s, c, at, n)) return AGENT_E_FULL;
    s->ignore = 0;
    s->open = 1;
    return AGENT_MORE;
}
AGENTI_FN int agenti_sse_fresh(const agent_sse *s) { return !(s->skip | s->ignore | s->open) && s->bom == 3 && s->len == s->id_cap; }
/* The commonest event, whole in the input: one data line, maybe a type before it, LFs. Its length, or 0: not such a one, nothing
 * changed; a stream with CRs is not tried again.                                                                      */
static size_t agenti_sse_quick(agent_sse *s, const char *in, size_t n, agent_sse_event *out)
{
    const char *p = in, *end, *lf;
    if (n < 8 || s->slow | s->cr || !agenti_sse_fresh(s)) return 0;
    end = in + n;
    out->event = agenti_str("message", 7);
    if (n > 16 && memcmp(p, "event: ", 7) == 0) {
        lf = (const char *)memchr(p, '\n', n);
        if (lf == NULL || lf == p + 7 || agenti_sse_too_long(s, (size_t)(lf - p) - 7)) return 0;
        out->event = agenti_str(p + 7, (size_t)(lf - p) - 7);
        p = lf + 1;
    }
    if (end - p < 8 || memcmp(p, "data: ", 6) != 0) return 0;
    lf = (const char *)memchr(p, '\n', (size_t)(end - p));
    AGENTI_TOUCH((size_t)((lf ? lf : end) - in));
    if (lf == NULL || end - lf < 2 || lf[1] != '\n') return 0;
    AGENTI_TOUCH((size_t)(lf - in));
    if (memchr(in, '\r', (size_t)(lf - in))) { s->slow = 1; return 0; }
    out->data = agenti_str(p + 6, (size_t)(lf - p) - 6);
    out->id = agenti_str(s->buf, s->id_len);
    return (size_t)(lf - in) + 2;
}
AGENTI_CODEC int agent_sse_next(agent_sse *s, const char *in, size_t n, size_t *used, agent_sse_event *out)
{
    agenti_sse_call c;
    size_t at, len;
    int rc;
    at = agenti_sse_quick(s, in, n, out);
    if (at) {
        out->offset = s->offset + at;
        return agenti_sse_stop(s, at, used, AGENT_OK);
    }
    memset(&c, 0, sizeof c);
    memset(out, 0, sizeof *out);
    c.in = in;
    at = c.safe = agenti_sse_lead(s, in, n);
    while (at < n) {
        len = agenti_sse_line_end(s, in + at, n - at);
        if (len == n - at) break;
        rc = agenti_sse_line_done(s, &c, at, len, out);
        if (rc == AGENT_E_FULL) return agenti_sse_stop(s, c.safe, used, rc);
        at += len + 1;
        s->cr = in[at - 1] == '\r';
        if (rc == AGENT_OK) {
            out->offset = s->offset + at;
            return agenti_sse_stop(s, at, used, rc);
        }
        if (s->cr && at < n) {
            if (in[at] == '\n') at++;
            s->cr = 0;
        }
        if (!(c.has_type | c.has)) c.safe = at;
    }
    if (!agenti_sse_rest(s, &c, at, n - at)) return agenti_sse_stop(s, c.safe, used, AGENT_E_FULL);
    return agenti_sse_stop(s, n, used, AGENT_MORE);
}
/* The open line's value, if it is data and has any yet: its length.                                                    */
static size_t agenti_sse_open_value(const agent_sse *s)
{
    const char *line;
    if (s->line_len <= 6) return 0;
    line = s->buf + s->len - s->line_len;
    return memcmp(line, "data:", 5) == 0 ? s->line_len - (line[5] == ' ' ? 6 : 5) : 0;
}
AGENTI_CODEC size_t agent_sse_pending(const agent_sse *s) { return s->skip ? 0 : s->data_len + agenti_sse_open_value(s); }
AGENTI_CODEC size_t agent_sse_take(agent_sse *s, char *to)
{
    size_t value = agenti_sse_open_value(s), n;
    if (s->skip) return 0;
    if (value) {                             /* what comes goes on in this line, without a line feed before it         */
        agenti_sse_close_up(s, agenti_str(s->buf + s->len - value, value));
        s->state &= (uint8_t)~AGENTI_SSE_DATA;
    }
    n = s->data_len;
    if (n) memcpy(to, s->buf + agenti_sse_data_at(s), n);
    AGENTI_TOUCH(n);
    if (value) memcpy(s->buf + agenti_sse_data_at(s), "data: ", 6);
    else memmove(s->buf + agenti_sse_data_at(s), s->buf + s->len - s->line_len, s->line_len);
    s->line_len = value ? 6 : s->line_len;
    s->data_len = 0;
    s->len = agenti_sse_data_at(s) + s->line_len;
    s->open = 1;
    return n;
}
AGENTI_CODEC void agent_sse_skip(agent_sse *s)
{
    if (!s->open && s->len == s->id_cap && !s->ignore) return;
    if (s->line_len) s->ignore = 1;
    agenti_sse_forget(s);
    s->skip = 1;
}
AGENTI_CODEC int agent_sse_end(agent_sse *s, agent_sse_event *out)
{
    agenti_sse_call c;
    memset(&c, 0, sizeof c);
    memset(out, 0, sizeof *out);
    if (s->line_len && !s->skip && !agenti_sse_buffered(s, &c)) return AGENT_E_FULL;
    s->ignore = 0;
    if (!agenti_sse_blank(s, &c, out)) return AGENT_MORE;
    out->offset = s->offset;
    return AGENT_OK;
}
#endif
