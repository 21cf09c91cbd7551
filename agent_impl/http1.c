/* HTTP/1.1 answers, RFC 9110 and 9112, and header lines out. As strict as clients in wide use: line ends are CRLF, one framing that
 * cannot be read in two ways, no folded headers. Head and trailers are gathered line by line in buf and normalised in place;
 * a body is never copied. */
AGENTI_FN int agenti_http_token(const char *p, size_t n);                    /* RFC 9110 5.6.2; not empty               */
#ifndef AGENT_NO_HTTP1
/* In a chunked body: the commonest way to the next body bytes, if it is short enough to lie in p. Returns what is used up to the end of
 * the body bytes, which are the last *body ones, or 0: nothing changed, agent_http_next knows.                         */
AGENTI_FN size_t agenti_http_run(agent_http *, const char *p, size_t n, size_t *body);
#ifdef AGENT_NO_CODECS
AGENTI_FN void agent_http_init(agent_http *, void *buf, size_t cap);
AGENTI_FN void agent_http_expect(agent_http *, int head_request);
AGENTI_FN int agent_http_next(agent_http *, const char *in, size_t n, size_t *used, agent_http_event *out);
AGENTI_FN int agent_http_eof(agent_http *, agent_http_event *out);
#endif
#else                                     /* connections are the host's HTTP: they have no use of these                 */
AGENTI_FN void agent_http_init(agent_http *, void *buf, size_t cap);
AGENTI_FN void agent_http_expect(agent_http *, int head_request);
AGENTI_FN int agent_http_next(agent_http *, const char *in, size_t n, size_t *used, agent_http_event *out);
#endif
#ifdef AGENT_NO_CODECS
AGENTI_FN int agent_http_header(agent_str headers, const char *name, agent_str *value);
#endif

#if !defined AGENTI_SPLIT || defined AGENTI_PART_HTTP1
/* ---- characters ---- */
static int agenti_h1_is_token(char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return 1;
    return c != 0 && memchr("!#$%&'*+-.^_`|~", c, 15) != NULL;
}
static int agenti_h1_is_space(char c) { return c == ' ' || c == '\t'; }
AGENTI_FN int agenti_http_token(const char *p, size_t n)
{
    size_t i;
    for (i = 0; i < n; i++) if (!agenti_h1_is_token(p[i])) return 0;
    return n > 0;
}
static agent_str agenti_h1_trim(const char *p, size_t n)
{
    while (n && agenti_h1_is_space(p[0])) { p++; n--; }
    while (n && agenti_h1_is_space(p[n - 1])) n--;
    return agenti_str(p, n);
}
AGENTI_CODEC int agent_http_header(agent_str headers, const char *name, agent_str *value)
{
    const char *p = headers.p, *end = p ? p + headers.n : p;
    *value = agenti_str(NULL, 0);
    while (p != end) {
        const char *lf = (const char *)memchr(p, '\n', (size_t)(end - p)), *stop = lf ? lf : end;
        const char *colon = stop > p ? (const char *)memchr(p, ':', (size_t)(stop - p)) : NULL;
        if (colon && agenti_ieq(agenti_str(p, (size_t)(colon - p)), name)) {
            if (stop[-1] == '\r') stop--;                    /* a block that a host wrote                               */
            *value = agenti_h1_trim(colon + 1, (size_t)(stop - colon) - 1);
            return 1;
        }
        p = lf ? lf + 1 : end;
    }
    return 0;
}

#ifdef AGENT_NO_HTTP1
AGENTI_FN void agent_http_init(agent_http *h, void *buf, size_t cap) { (void)buf; (void)cap; memset(h, 0, sizeof *h); }
AGENTI_FN void agent_http_expect(agent_http *h, int head_request) { (void)h; (void)head_request; }
AGENTI_FN int agent_http_next(agent_http *h, const char *in, size_t n, size_t *used, agent_http_event *out)
{
    (void)h;
    (void)in;
    memset(out, 0, sizeof *out);
    *used = n;
    return AGENT_MORE;
}
#else
enum { /* agent_http.state: what comes next */
    AGENTI_H1_START, AGENTI_H1_START_LF, AGENTI_H1_STATUS, AGENTI_H1_HEADER,
    AGENTI_H1_BODY, AGENTI_H1_END,
    AGENTI_H1_SIZE_FIRST, AGENTI_H1_SIZE, AGENTI_H1_EXT_FIRST, AGENTI_H1_EXT, AGENTI_H1_VALUE_FIRST, AGENTI_H1_VALUE,
    AGENTI_H1_QUOTED, AGENTI_H1_ESCAPED, AGENTI_H1_AFTER_QUOTE, AGENTI_H1_SIZE_LF,
    AGENTI_H1_DATA, AGENTI_H1_DATA_CR, AGENTI_H1_DATA_LF, AGENTI_H1_TRAILER,
    AGENTI_H1_CLOSED, AGENTI_H1_BROKEN
};
enum { /* agent_http.seen: what the head says about framing and the connection */
    AGENTI_H1_HAS_LENGTH = 1, AGENTI_H1_HAS_CODING = 2, AGENTI_H1_IS_CHUNKED = 4, AGENTI_H1_OTHER_CODING = 8,
    AGENTI_H1_SAYS_CLOSE = 16, AGENTI_H1_SAYS_KEEP = 32
};
enum { AGENTI_H1_GO = 99 };              /* a step is done, no event: take the next one                                 */
enum { AGENTI_H1_INTERIM_MAX = 1000, AGENTI_H1_EXTRA_MAX = 16384 };
typedef struct agenti_h1_in { const char *p; size_t n; } agenti_h1_in;

static void agenti_h1_used(agent_http *h, agenti_h1_in *c, size_t k) { c->p += k; c->n -= k; h->offset += k; }
static int agenti_h1_fail(agent_http *h, const char *why, size_t back)       /* back: how far before h->offset          */
{
    h->error = why;
    h->offset -= back;
    h->state = AGENTI_H1_BROKEN;
    return AGENT_E_SYNTAX;
}
AGENTI_CODEC void agent_http_init(agent_http *h, void *buf, size_t cap)
{
    memset(h, 0, sizeof *h);
    h->buf = (char *)buf;
    h->cap = buf ? cap : 0;
}
AGENTI_CODEC void agent_http_expect(agent_http *h, int head_request) { h->head_request = head_request != 0; }

static int agenti_h1_is_field(char c)    /* in a field value or reason: HTAB, SP, visible, obs-text                     */
{
    unsigned char u = (unsigned char)c;
    return u == '\t' || (u >= ' ' && u != 127);
}
static int agenti_h1_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : -1; }
static int agenti_h1_hex(char c)
{
    unsigned digit = (unsigned)(unsigned char)c - '0', letter = ((unsigned)(unsigned char)c | 0x20) - 'a';
    return digit < 10 ? (int)digit : letter < 6 ? (int)letter + 10 : -1;
}
/* The next element of a comma-separated list, trimmed, maybe empty; 0: no more. *pos starts at 0.                     */
static int agenti_h1_list(agent_str v, size_t *pos, agent_str *item)
{
    size_t at = *pos, end = at;
    if (at > v.n) return 0;
    while (end < v.n && v.p[end] != ',') end++;
    *item = agenti_h1_trim(v.p + at, end - at);
    *pos = end + 1;
    return 1;
}

/* ---- lines of head and trailers ---- */
static void agenti_h1_block(agent_http *h) { h->len = h->line = h->raw = h->reason_len = 0; }    /* begins a new one    */
/* What must not wait for the line's end: bytes of another protocol may never bring one.                               */
static int agenti_h1_early(agent_http *h)
{
    static const char version[] = "HTTP/1.";
    size_t i, n = h->len - h->line;
    const char *p = h->buf + h->line;
    if (h->state == AGENTI_H1_STATUS) {
        for (i = 0; i < n && i < 7; i++)
            if (p[i] != version[i]) return agenti_h1_fail(h, AGENTI_WHY("the answer does not begin with HTTP/1."), n - i);
    } else if (n && agenti_h1_is_space(p[0])) return agenti_h1_fail(h, AGENTI_WHY("a header line begins with a blank"), n);
    return AGENTI_H1_GO;
}
/* Gathers a line. GO: it is complete, from h->line on, with its LF. All bytes of head or trailers count against cap.  */
static int agenti_h1_gather(agent_http *h, agenti_h1_in *c)
{
    const char *lf = (const char *)memchr(c->p, '\n', c->n);
    size_t want = lf ? (size_t)(lf - c->p) + 1 : c->n, room = h->cap - h->raw, k = want < room ? want : room;
    int rc;
    if (k) memcpy(h->buf + h->len, c->p, k);
    AGENTI_TOUCH(want);
    h->len += k;
    h->raw += k;
    agenti_h1_used(h, c, k);
    if (k == 0) return AGENT_E_FULL;
    rc = agenti_h1_early(h);
    if (rc != AGENTI_H1_GO) return rc;
    if (k < want) return AGENT_E_FULL;
    if (lf == NULL) return AGENT_MORE;
    return AGENTI_H1_GO;
}
/* Whether the line's bytes from i on are a field value and CRLF; GO or E_SYNTAX.                                      */
static int agenti_h1_tail(agent_http *h, size_t i)
{
    const char *p = h->buf + h->line;
    size_t n = h->len - h->line;
    while (agenti_h1_is_field(p[i])) i++;                    /* stops at the LF at the latest                           */
    if (p[i] == '\r' && p[i + 1] == '\n') return AGENTI_H1_GO;
    if (p[i] == '\n') return agenti_h1_fail(h, AGENTI_WHY("a line of the head ends in LF without CR"), n - i);
    if (p[i] == '\r') return agenti_h1_fail(h, AGENTI_WHY("a CR without LF in the head"), n - i);
    return agenti_h1_fail(h, AGENTI_WHY("a control character in the head"), n - i);
}
static int agenti_h1_status(agent_http *h)
{
    const char *p = h->buf + h->line;
    size_t n = h->len - h->line, i;
    int rc, v = 0;
    if (p[7] != '0' && p[7] != '1') return agenti_h1_fail(h, AGENTI_WHY("the version is neither HTTP/1.0 nor HTTP/1.1"), n - 7);
    if (p[8] != ' ') return agenti_h1_fail(h, AGENTI_WHY("no space behind the version"), n - 8);
    for (i = 9; i < 12; i++) {
        int d = agenti_h1_digit(p[i]);
        if (d < 0 || (i == 9 && d == 0)) return agenti_h1_fail(h, AGENTI_WHY("the status is no number from 100 to 999"), n - i);
        v = v * 10 + d;
    }
    if (p[12] != ' ' && p[12] != '\r' && p[12] != '\n') return agenti_h1_fail(h, AGENTI_WHY("no space behind the status"), n - 12);
    rc = agenti_h1_tail(h, 12);
    if (rc != AGENTI_H1_GO) return rc;
    h->minor = p[7] == '1';
    h->status = v;
    h->seen = 0;
    h->reason_len = n - 14 - (p[12] == ' ');
    memmove(h->buf, p + n - 2 - h->reason_len, h->reason_len);
    h->len = h->line = h->reason_len;
    h->state = AGENTI_H1_HEADER;
    return AGENTI_H1_GO;
}
/* Content-Length: digits, or the same number several times (RFC 9110 8.6). NULL: fine.                                */
static const char *agenti_h1_length(agent_http *h, agent_str value)
{
    agent_str item;
    size_t pos = 0, i;
    while (agenti_h1_list(value, &pos, &item)) {
        uint64_t v = 0;
        if (item.n == 0) return AGENTI_WHY("a Content-Length without a number");
        for (i = 0; i < item.n; i++) {
            int d = agenti_h1_digit(item.p[i]);
            if (d < 0) return AGENTI_WHY("a Content-Length that is no number");
            if (v > ((uint64_t)-1 - (uint64_t)d) / 10) return AGENTI_WHY("a Content-Length over 64 bits");
            v = v * 10 + (uint64_t)d;
        }
        if (h->seen & AGENTI_H1_HAS_LENGTH && v != h->left) return AGENTI_WHY("two Content-Lengths that differ");
        h->seen |= AGENTI_H1_HAS_LENGTH;
        h->left = v;
    }
    return NULL;
}
static void agenti_h1_coding(agent_http *h, agent_str value)
{
    agent_str item;
    size_t pos = 0;
    while (agenti_h1_list(value, &pos, &item)) {
        if (agenti_ieq(item, "chunked") && !(h->seen & AGENTI_H1_HAS_CODING)) h->seen |= AGENTI_H1_IS_CHUNKED;
        else h->seen |= AGENTI_H1_OTHER_CODING;
        h->seen |= AGENTI_H1_HAS_CODING;
    }
}
static void agenti_h1_connection(agent_http *h, agent_str value)
{
    agent_str item;
    size_t pos = 0;
    while (agenti_h1_list(value, &pos, &item)) {
        if (agenti_ieq(item, "close")) h->seen |= AGENTI_H1_SAYS_CLOSE;
        if (agenti_ieq(item, "keep-alive")) h->seen |= AGENTI_H1_SAYS_KEEP;
    }
}
static const char *agenti_h1_known(agent_http *h, agent_str name, agent_str value)   /* NULL: fine                      */
{
    if (agenti_eq(name, "content-length")) return agenti_h1_length(h, value);
    if (agenti_eq(name, "transfer-encoding")) agenti_h1_coding(h, value);
    else if (agenti_eq(name, "connection")) agenti_h1_connection(h, value);
    return NULL;
}
/* Checks a header line and writes it as "name: value\n" over itself: with CRLF it was at least as long.              */
static int agenti_h1_header(agent_http *h)
{
    char *p = h->buf + h->line;
    size_t n = h->len - h->line, k, i;
    agent_str v;
    const char *why;
    int rc;
    for (k = 0; agenti_h1_is_token(p[k]); k++) p[k] = agenti_lower(p[k]);
    if (p[k] == '\r' || p[k] == '\n') return agenti_h1_fail(h, AGENTI_WHY("a header line without a colon"), n - k);
    if (p[k] != ':') return agenti_h1_fail(h, AGENTI_WHY("a character that no header name has"), n - k);
    if (k == 0) return agenti_h1_fail(h, AGENTI_WHY("a header without a name"), n);
    rc = agenti_h1_tail(h, k + 1);
    if (rc != AGENTI_H1_GO) return rc;
    v = agenti_h1_trim(p + k + 1, n - k - 3);
    why = h->state == AGENTI_H1_HEADER ? agenti_h1_known(h, agenti_str(p, k), v) : NULL;
    if (why) { i = (size_t)(v.p - p); return agenti_h1_fail(h, why, n - i); }
    memmove(p + k + 2, v.p, v.n);
    p[k + 1] = ' ';
    p[k + 2 + v.n] = '\n';
    h->line += k + 3 + v.n;
    h->len = h->line;
    return AGENTI_H1_GO;
}

/* ---- the head is complete ---- */
static int agenti_h1_keep_alive(const agent_http *h)
{
    if (h->framing == AGENT_HTTP_UNTIL_CLOSE || h->seen & AGENTI_H1_SAYS_CLOSE) return 0;
    if (h->minor == 0 && h->seen & AGENTI_H1_HAS_CODING) return 0;           /* RFC 9112 6.1: its framing is faulty     */
    return h->minor == 1 || h->seen & AGENTI_H1_SAYS_KEEP;
}
static int agenti_h1_framing(agent_http *h)
{
    int bodiless = h->head_request || h->status == 204 || h->status == 304;
    h->framing = AGENT_HTTP_UNTIL_CLOSE;
    h->state = AGENTI_H1_BODY;
    if (bodiless) {
        h->framing = AGENT_HTTP_NO_BODY;
        h->state = AGENTI_H1_END;
    } else if (h->seen & AGENTI_H1_HAS_CODING) {
        if (h->seen & AGENTI_H1_OTHER_CODING) return agenti_h1_fail(h, AGENTI_WHY("a Transfer-Encoding other than chunked"), 0);
        if (h->seen & AGENTI_H1_HAS_LENGTH) return agenti_h1_fail(h, AGENTI_WHY("both Transfer-Encoding and Content-Length"), 0);
        h->framing = AGENT_HTTP_CHUNKED;
        h->state = AGENTI_H1_SIZE_FIRST;
    } else if (h->seen & AGENTI_H1_HAS_LENGTH) {
        h->framing = AGENT_HTTP_LENGTH;
        if (h->left == 0) h->state = AGENTI_H1_END;
    }
    h->keep_alive = agenti_h1_keep_alive(h) ? 1 : 0;
    h->head_request = 0;
    h->interim = 0;
    h->extra = 0;
    return AGENTI_H1_GO;
}
static int agenti_h1_interim(agent_http *h)
{
    if (h->status == 101) return agenti_h1_fail(h, AGENTI_WHY("status 101, but no other protocol was asked for"), 0);
    if (++h->interim > AGENTI_H1_INTERIM_MAX) return agenti_h1_fail(h, AGENTI_WHY("too many interim answers"), 0);
    h->framing = AGENT_HTTP_NO_BODY;
    h->keep_alive = 1;
    h->state = AGENTI_H1_START;
    return AGENTI_H1_GO;
}
static void agenti_h1_event(const agent_http *h, int kind, agent_http_event *out)
{
    out->kind = kind;
    out->status = h->status;
    out->framing = h->framing;
    out->keep_alive = h->keep_alive;
    out->reason = agenti_str(h->buf, h->reason_len);
    out->headers = agenti_str(h->buf ? h->buf + h->reason_len : NULL, h->line - h->reason_len);
    out->body = agenti_str(NULL, 0);
}
static int agenti_h1_head_done(agent_http *h, agent_http_event *out)
{
    int interim = h->status < 200, rc = interim ? agenti_h1_interim(h) : agenti_h1_framing(h);
    if (rc != AGENTI_H1_GO) return rc;
    agenti_h1_event(h, interim ? AGENT_HTTP_INTERIM : AGENT_HTTP_HEAD, out);
    agenti_h1_block(h);
    return AGENT_OK;
}
static int agenti_h1_start(agent_http *h, agenti_h1_in *c)   /* one empty line before the status line is forgiven       */
{
    if (h->state == AGENTI_H1_START) h->state = *c->p == '\r' ? AGENTI_H1_START_LF : AGENTI_H1_STATUS;
    else if (*c->p != '\n') return agenti_h1_fail(h, AGENTI_WHY("a CR without LF before the answer"), 0);
    else h->state = AGENTI_H1_STATUS;
    if (*c->p == '\r' || *c->p == '\n') agenti_h1_used(h, c, 1);
    return AGENTI_H1_GO;
}
static int agenti_h1_line(agent_http *h, agenti_h1_in *c, agent_http_event *out)     /* of head or trailers             */
{
    int rc = agenti_h1_gather(h, c);
    if (rc != AGENTI_H1_GO) return rc;
    if (h->state == AGENTI_H1_STATUS) return agenti_h1_status(h);
    if (h->len - h->line != 2 || h->buf[h->line] != '\r') return agenti_h1_header(h);
    h->len = h->line;
    if (h->state == AGENTI_H1_HEADER) return agenti_h1_head_done(h, out);
    h->state = AGENTI_H1_END;
    return AGENTI_H1_GO;
}

/* ---- bodies ---- */
static int agenti_h1_body(agent_http *h, agenti_h1_in *c, agent_http_event *out)
{
    size_t n = c->n;
    int bounded = h->framing != AGENT_HTTP_UNTIL_CLOSE;
    if (bounded && n > h->left) n = (size_t)h->left;
    agenti_h1_event(h, AGENT_HTTP_BODY, out);
    out->body = agenti_str(c->p, n);
    agenti_h1_used(h, c, n);
    if (bounded) h->left -= n;
    if (bounded && h->left == 0) h->state = h->framing == AGENT_HTTP_CHUNKED ? AGENTI_H1_DATA_CR : AGENTI_H1_END;
    return AGENT_OK;
}
static int agenti_h1_size(agent_http *h, char b)             /* a byte in a chunk's size: the next state, or BROKEN     */
{
    int d = agenti_h1_hex(b), first = h->state == AGENTI_H1_SIZE_FIRST;
    if (d >= 0) {
        if (first) h->left = 0;
        if (h->left > (uint64_t)-1 / 16) { h->error = AGENTI_WHY("a chunk size over 64 bits"); return AGENTI_H1_BROKEN; }
        h->left = h->left * 16 + (uint64_t)d;
        return AGENTI_H1_SIZE;
    }
    if (!first && b == '\r') return AGENTI_H1_SIZE_LF;
    if (!first && b == ';') return AGENTI_H1_EXT_FIRST;
    h->error = AGENTI_WHY("a chunk size that is no hexadecimal number");
    return AGENTI_H1_BROKEN;
}
/* A byte in a chunk extension: name, or name=token, or name="quoted"; several behind each other.                      */
static int agenti_h1_extension(agent_http *h, char b)
{
    int s = h->state, token = agenti_h1_is_token(b);
    if (s == AGENTI_H1_QUOTED && b == '"') return AGENTI_H1_AFTER_QUOTE;
    if (s == AGENTI_H1_QUOTED && b == '\\') return AGENTI_H1_ESCAPED;
    if ((s == AGENTI_H1_QUOTED || s == AGENTI_H1_ESCAPED) && agenti_h1_is_field(b)) return AGENTI_H1_QUOTED;
    if ((s == AGENTI_H1_EXT_FIRST || s == AGENTI_H1_EXT) && token) return AGENTI_H1_EXT;
    if ((s == AGENTI_H1_VALUE_FIRST || s == AGENTI_H1_VALUE) && token) return AGENTI_H1_VALUE;
    if (s == AGENTI_H1_EXT && b == '=') return AGENTI_H1_VALUE_FIRST;
    if (s == AGENTI_H1_VALUE_FIRST && b == '"') return AGENTI_H1_QUOTED;
    if (s == AGENTI_H1_EXT || s == AGENTI_H1_VALUE || s == AGENTI_H1_AFTER_QUOTE) {
        if (b == ';') return AGENTI_H1_EXT_FIRST;
        if (b == '\r') return AGENTI_H1_SIZE_LF;
    }
    h->error = AGENTI_WHY("a chunk extension that is not well-formed");
    return AGENTI_H1_BROKEN;
}
/* Framing may not outweigh the body for long: each chunk allows some bytes around it.                                 */
static int agenti_h1_sized(agent_http *h)
{
    uint32_t allowed = h->left > AGENTI_H1_EXTRA_MAX ? (uint32_t)AGENTI_H1_EXTRA_MAX : 16 + 2 * (uint32_t)h->left;
    h->extra = h->extra > allowed ? h->extra - allowed : 0;
    return h->left ? AGENTI_H1_DATA : AGENTI_H1_TRAILER;
}
static int agenti_h1_chunk_byte(agent_http *h, char b)
{
    int s = h->state;
    if (s == AGENTI_H1_DATA_CR && b == '\r') return AGENTI_H1_DATA_LF;
    if (s == AGENTI_H1_DATA_LF && b == '\n') return AGENTI_H1_SIZE_FIRST;
    h->error = AGENTI_WHY("a chunk's data does not end in CRLF");
    if (s == AGENTI_H1_DATA_CR || s == AGENTI_H1_DATA_LF) return AGENTI_H1_BROKEN;
    h->error = AGENTI_WHY("a chunk size line does not end in CRLF");
    if (s == AGENTI_H1_SIZE_LF) return b == '\n' ? agenti_h1_sized(h) : AGENTI_H1_BROKEN;
    h->error = AGENTI_WHY("chunk sizes and extensions too long for the data");
    if (++h->extra > AGENTI_H1_EXTRA_MAX) return AGENTI_H1_BROKEN;
    return s == AGENTI_H1_SIZE_FIRST || s == AGENTI_H1_SIZE ? agenti_h1_size(h, b) : agenti_h1_extension(h, b);
}
/* The commonest bytes between the data of two chunks, whole in the input: a size without extensions. Their length, or 0: not such,
 * nothing changed.                                                                                                    */
static size_t agenti_h1_plain_size(agent_http *h, const char *p, size_t n)
{
    enum { MOST = 7 };                       /* digits                                                                  */
    size_t first = h->state == AGENTI_H1_DATA_CR ? 2 : 0, i;
    uint32_t v = 0, d;
    if (n < MOST + 4 || (first && (p[0] != '\r' || p[1] != '\n'))) return 0;
    for (i = first; i < first + MOST; i++) {
        d = (uint32_t)(unsigned char)p[i] - '0';
        if (d > 9 && (d = ((uint32_t)(unsigned char)p[i] | 0x20) - 'a' + 10) - 10 > 5) break;
        v = v * 16 + d;
    }
    if (i == first || p[i] != '\r' || p[i + 1] != '\n' || h->extra > AGENTI_H1_EXTRA_MAX - (MOST + 1)) return 0;
    h->extra += (uint32_t)(i - first) + 1;
    h->left = v;
    h->state = (uint8_t)agenti_h1_sized(h);
    AGENTI_TOUCH(i + 2);
    return i + 2;
}
static int agenti_h1_chunk(agent_http *h, agenti_h1_in *c)   /* all between the data of two chunks                      */
{
    int s = h->state;
    size_t i = s == AGENTI_H1_DATA_CR || s == AGENTI_H1_SIZE_FIRST ? agenti_h1_plain_size(h, c->p, c->n) : 0;
    if (i) { agenti_h1_used(h, c, i); return AGENTI_H1_GO; }
    for (i = 0; i < c->n && s != AGENTI_H1_DATA && s != AGENTI_H1_TRAILER; i++) {
        s = agenti_h1_chunk_byte(h, c->p[i]);
        if (s == AGENTI_H1_BROKEN) break;
        h->state = (uint8_t)s;
    }
    AGENTI_TOUCH(i);
    agenti_h1_used(h, c, i);
    if (s == AGENTI_H1_BROKEN) return agenti_h1_fail(h, h->error, 0);
    h->error = NULL;
    return AGENTI_H1_GO;
}

AGENTI_FN size_t agenti_http_run(agent_http *h, const char *p, size_t n, size_t *body)
{
    size_t at = 0, k = 0;
    int s = h->state;
    if (s == AGENTI_H1_DATA_CR || s == AGENTI_H1_SIZE_FIRST) {
        at = agenti_h1_plain_size(h, p, n);
        if (at == 0 && s == AGENTI_H1_DATA_CR && n >= 2 && p[0] == '\r' && p[1] == '\n') {     /* the next size is not here yet         */
            h->state = AGENTI_H1_SIZE_FIRST;
            at = 2;
        }
        s = h->state;
    }
    if (s == AGENTI_H1_DATA && at < n) {
        k = n - at < h->left ? n - at : (size_t)h->left;
        h->left -= k;
        if (h->left == 0) h->state = AGENTI_H1_DATA_CR;
    }
    *body = k;
    h->offset += at + k;
    return at + k;
}

/* ---- the reader ---- */
static int agenti_h1_end(agent_http *h, agent_http_event *out)
{
    h->reason_len = 0;
    agenti_h1_event(h, AGENT_HTTP_END, out);
    h->state = h->keep_alive ? AGENTI_H1_START : AGENTI_H1_CLOSED;
    agenti_h1_block(h);
    return AGENT_OK;
}
static int agenti_h1_step(agent_http *h, agenti_h1_in *c, agent_http_event *out)
{
    int s = h->state;
    if (s == AGENTI_H1_BROKEN) return AGENT_E_SYNTAX;
    if (s == AGENTI_H1_END) return agenti_h1_end(h, out);
    if (c->n == 0) return AGENT_MORE;
    if (s == AGENTI_H1_START || s == AGENTI_H1_START_LF) return agenti_h1_start(h, c);
    if (s == AGENTI_H1_STATUS || s == AGENTI_H1_HEADER || s == AGENTI_H1_TRAILER) return agenti_h1_line(h, c, out);
    if (s == AGENTI_H1_BODY || s == AGENTI_H1_DATA) return agenti_h1_body(h, c, out);
    if (s == AGENTI_H1_CLOSED) return agenti_h1_fail(h, AGENTI_WHY("bytes behind an answer that ends the connection"), 0);
    return agenti_h1_chunk(h, c);
}
AGENTI_CODEC int agent_http_next(agent_http *h, const char *in, size_t n, size_t *used, agent_http_event *out)
{
    agenti_h1_in c;
    int rc;
    c.p = in;
    c.n = n;
    memset(out, 0, sizeof *out);
    do rc = agenti_h1_step(h, &c, out); while (rc == AGENTI_H1_GO);
    *used = n - c.n;
    return rc;
}
AGENTI_CODEC int agent_http_eof(agent_http *h, agent_http_event *out)
{
    int s = h->state;
    memset(out, 0, sizeof *out);
    if (s == AGENTI_H1_BROKEN) return AGENT_E_SYNTAX;
    if (s == AGENTI_H1_END || (s == AGENTI_H1_BODY && h->framing == AGENT_HTTP_UNTIL_CLOSE)) {
        h->keep_alive = 0;
        return agenti_h1_end(h, out);
    }
    if (s == AGENTI_H1_CLOSED || (s <= AGENTI_H1_STATUS && h->len == 0 && h->interim == 0)) return AGENT_MORE;
    if (s <= AGENTI_H1_HEADER) return agenti_h1_fail(h, AGENTI_WHY("the connection ended in the head"), 0);
    return agenti_h1_fail(h, AGENTI_WHY("the connection ended in the body"), 0);
}

AGENTI_CODEC size_t agent_http_write_header(const char *name, const char *value, char *buf, size_t cap)
{
    size_t n = strlen(name), v = strlen(value), all = n + v + 4, i;
    if (!agenti_http_token(name, n)) return 0;
    for (i = 0; i < v; i++) if (!agenti_h1_is_field(value[i])) return 0;
    if (all > cap) return all;
    memcpy(buf, name, n);
    memcpy(buf + n, ": ", 2);
    memcpy(buf + n + 2, value, v);
    memcpy(buf + n + 2 + v, "\r\n", 2);
    if (all < cap) buf[all] = 0;
    return all;
}
#endif
#endif
