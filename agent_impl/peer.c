/* Whoever is at the other end: its address, key, headers and dialect, and its connections that wait to be used again. */
struct agenti_conn;
typedef struct agenti_waiter {                /* who waits for the key beside sessions                                  */
    agenti_ready ready;
    struct agenti_waiter *next;
} agenti_waiter;
typedef struct agenti_peer {
    agent_id id;
    agent_engine *e;
    const agent_provider *row;
    const agenti_wire *wire;
    agenti_ready ready;                       /* in the sessions' ring: it has to say something of its key              */
    agenti_text base, host, headers, extra;   /* base: what url points into                                             */
    agenti_text auth;
    agenti_url url;
    char *key; size_t key_n;
#ifndef AGENT_NO_RECORD
    char *former; size_t former_n;            /* the key before, while a record is written                               */
#endif
    uint64_t key_until;                       /* it is good so long; 0: not known                                       */
    uint32_t key_count;                       /* keys so far: an answer may be to an older one                          */
    int key_state, key_why;
    agenti_text key_text;                     /* what the provider said of it                                           */
    agent_num need;                           /* of CREDENTIAL, the last one                                            */
    uint8_t wants_key, keyless, signs;        /* keyless: the host has none to give                                     */
    uint8_t need_over;                        /* NEED_DONE is to come                                                   */
    uint32_t dialect, sessions;
    uint32_t connect_ms, first_ms, idle_ms;
    uint32_t switched;                        /* bits of dialect that a refusal has changed, which it does once         */
    void *user;
    agenti_waiter *listings;
    struct agenti_conn *idle;                 /* the one used last comes first                                          */
} agenti_peer;

enum { AGENTI_KEY_THERE, AGENTI_KEY_ASK, AGENTI_KEY_ASKED };

AGENTI_FN agenti_peer *agenti_peer_get(const agent_engine *, agent_id);
AGENTI_FN int  agenti_peer_key_there(agenti_peer *);          /* 0: the host is asked for it, and all sessions are woken then */
AGENTI_FN void agenti_peer_key_ask(agenti_peer *, int why, agent_str text);
AGENTI_FN void agenti_peer_key_fill(const agenti_peer *, agent_event *);         /* what CREDENTIAL says                 */
AGENTI_FN int  agenti_peer_key_declined(agenti_peer *, agent_num need);          /* OK or LATE                           */
AGENTI_FN int  agenti_peer_pump(agenti_peer *);               /* 1: an event was made                                   */
AGENTI_FN int  agenti_headers_good(agent_str lines);          /* lines of Name: value that may go into a request        */
AGENTI_FN void agenti_peer_free(agenti_peer *);
/* The request's header lines, "name\0value\0" each, without Host and Content-Length. 0: no memory                      */
AGENTI_FN int  agenti_peer_headers(const agenti_peer *, agenti_buf *, int stream);
AGENTI_FN int  agenti_header_line(agent_str *lines, agent_str *name, agent_str *value);     /* 1, 0 at the end, -1 a line that is none */
AGENTI_FN int  agenti_header_secret(agent_str auth, agent_str name);            /* values of that name are starred out   */
AGENTI_FN int  agenti_header_given(const agenti_peer *, const char *name);      /* by the host, for all requests        */
/* Stars over the key and the like, should they stand there; lines: the headers that were sent, which may be older than the peer's */
AGENTI_FN void agenti_peer_hide(const agenti_peer *, const agenti_buf *lines, agenti_text *);

/* What the public calls of the same names do; the calls themselves are in record.c.                                     */
AGENTI_FN int agenti_do_peer_key(agent_engine *e, agent_id id, const char *key, size_t n, uint64_t valid_ms);
AGENTI_FN agent_id agenti_do_peer_open(agent_engine *e, const agent_peer_desc *d);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_PEER
AGENTI_FN agenti_peer *agenti_peer_get(const agent_engine *e, agent_id id) { return (agenti_peer *)agenti_id_get(e, id, AGENTI_PEER); }
static void agenti_key_wipe(agenti_peer *p, char *key, size_t n)
{
    if (key == NULL) return;
    agenti_wipe(key, n);
    agenti_put(&p->e->pool, key, n + 1);
}
static void agenti_keys_drop(agenti_peer *p)
{
    agenti_key_wipe(p, p->key, p->key_n);
    p->key = NULL;
    p->key_n = 0;
#ifndef AGENT_NO_RECORD
    agenti_key_wipe(p, p->former, p->former_n);
    p->former = NULL;
    p->former_n = 0;
#endif
}
/* While a record is written the one before is still known: peers may quote it.                                          */
static void agenti_key_replace(agenti_peer *p, char *key, size_t n)
{
#ifndef AGENT_NO_RECORD
    if (p->e->record && p->key_n) {
        agenti_key_wipe(p, p->former, p->former_n);
        p->former = p->key;
        p->former_n = p->key_n;
    } else
#endif
    agenti_key_wipe(p, p->key, p->key_n);
    p->key = key;
    p->key_n = n;
}
/* ---- asking for a key: one question for all sessions ---- */
AGENTI_FN void agenti_peer_key_ask(agenti_peer *p, int why, agent_str text)
{
    agenti_text_free(&p->key_text, &p->e->graves);
    (void)agenti_text_set(&p->key_text, &p->e->pool, &p->e->graves, text);      /* without memory it says less           */
    p->key_why = why;
    p->key_state = AGENTI_KEY_ASK;
    agenti_wake(&p->e->sessions, &p->ready);
}
AGENTI_FN int agenti_peer_key_there(agenti_peer *p)
{
    if (p->key_state == AGENTI_KEY_THERE && p->wants_key) {
        if (p->key == NULL && !p->keyless) agenti_peer_key_ask(p, AGENT_KEY_MISSING, agenti_str(NULL, 0));
        else if (p->key_until && p->e->now >= p->key_until) agenti_peer_key_ask(p, AGENT_KEY_EXPIRED, agenti_str(NULL, 0));
    }
    return p->key_state == AGENTI_KEY_THERE;
}
static void agenti_peer_key_answered(agenti_peer *p)
{
    agent_engine *e = p->e;
    agenti_waiter *w;
    uint32_t i;
    if (p->key_state == AGENTI_KEY_THERE) return;
    p->need_over = p->key_state == AGENTI_KEY_ASKED;
    p->key_state = AGENTI_KEY_THERE;
    agenti_text_free(&p->key_text, &e->graves);
    if (p->need_over) agenti_wake(&e->sessions, &p->ready);
    for (i = 0; i < e->slots[AGENTI_SESSION].n; i++)          /* a session begins with its link                          */
        if (e->slots[AGENTI_SESSION].p[i].p) agenti_wake(&e->sessions, (agenti_ready *)e->slots[AGENTI_SESSION].p[i].p);
    for (w = p->listings; w; w = w->next) agenti_wake(&e->sessions, &w->ready);
}
AGENTI_FN int agenti_peer_key_declined(agenti_peer *p, agent_num need)
{
    if (p->key_state != AGENTI_KEY_ASKED || p->need != need) return AGENT_LATE;
    p->keyless = p->key == NULL;
    p->key_until = 0;                         /* what there is has to do                                                */
    agenti_peer_key_answered(p);
    return AGENT_OK;
}
AGENTI_FN void agenti_peer_key_fill(const agenti_peer *p, agent_event *ev)
{
    ev->flags = AGENT_EVF_NEED;
    ev->peer = p->id;
    ev->user = p->user;
    ev->need = p->need;
    ev->text = agenti_text_view(&p->key_text);
    ev->name = agenti_cstr(p->row->key_env);
    ev->u.credential.why = p->key_why;
}
AGENTI_FN int agenti_peer_pump(agenti_peer *p)
{
    agent_event *ev;
    if (p->need_over) {
        p->need_over = 0;
        ev = agenti_event(p->e, AGENT_EV_NEED_DONE);
        ev->peer = p->id;
        ev->user = p->user;
        ev->need = p->need;
        return 1;
    }
    if (p->key_state != AGENTI_KEY_ASK) return 0;
    p->key_state = AGENTI_KEY_ASKED;
    p->need++;
    agenti_peer_key_fill(p, agenti_event(p->e, AGENT_EV_CREDENTIAL));
    return 1;
}
AGENTI_FN void agenti_peer_free(agenti_peer *p)
{
    agenti_blob **graves = &p->e->graves;
    agenti_keys_drop(p);
    agenti_sleep(&p->ready);
    agenti_text_free(&p->auth, graves);
    agenti_text_free(&p->key_text, graves);
    agenti_text_free(&p->base, graves);
    agenti_text_free(&p->host, graves);
    if (p->headers.p) agenti_wipe(p->headers.p, p->headers.n);
    agenti_text_free(&p->headers, graves);
    agenti_text_free(&p->extra, graves);
    if (p->id) agenti_id_free(p->e, p->id);
    agenti_put(&p->e->pool, p, sizeof *p);
}
/* The next "Name: value" of host-given lines; 0 at the end, -1 when a line is none.                                    */
AGENTI_FN int agenti_header_line(agent_str *lines, agent_str *name, agent_str *value)
{
    const char *end, *colon;
    size_t n;
    while (lines->n && (lines->p[0] == '\n' || lines->p[0] == '\r')) { lines->p++; lines->n--; }
    if (lines->n == 0) return 0;
    end = (const char *)memchr(lines->p, '\n', lines->n);
    n = end ? (size_t)(end - lines->p) : lines->n;
    *value = agenti_str(lines->p, n);
    lines->p += n;
    lines->n -= n;
    colon = (const char *)memchr(value->p, ':', value->n);
    if (colon == NULL || colon == value->p) return -1;
    *name = agenti_str(value->p, (size_t)(colon - value->p));
    *value = agenti_trim(agenti_str(colon + 1, value->n - name->n - 1));
    return 1;
}
static int agenti_header_named(const agenti_peer *p, agent_str name)
{
    agent_str lines = agenti_text_view(&p->headers), n, v;
    size_t i;
    while (agenti_header_line(&lines, &n, &v) > 0) {
        for (i = 0; i < n.n && i < name.n && agenti_lower(n.p[i]) == agenti_lower(name.p[i]); i++) {}
        if (i == n.n && i == name.n) return 1;
    }
    return 0;
}
AGENTI_FN int agenti_header_given(const agenti_peer *p, const char *name) { return agenti_header_named(p, agenti_cstr(name)); }
static void agenti_header_put(agenti_buf *b, agent_str name, const char *prefix, agent_str value)
{
    agenti_buf_add(b, name.p, name.n);
    agenti_buf_add(b, "", 1);
    agenti_buf_str(b, prefix);
    agenti_buf_add(b, value.p, value.n);
    agenti_buf_add(b, "", 1);
}
/* Room for all lines at once: a buffer that grows would leave the key behind in freed memory.                          */
static int agenti_headers_room(const agenti_peer *p, agenti_buf *b, const char *auth)
{
    agent_str row[4];
    size_t n = 512, i;
    row[0] = agenti_cstr(auth);
    row[1] = agenti_cstr(p->wire->header);
    row[2] = agenti_cstr(p->wire->header_value);
    row[3] = agenti_cstr(p->row->headers);
    for (i = 0; i < 4; i++) if (!agenti_add(n, row[i].n, &n)) return 0;
    return agenti_add(n, p->key_n, &n) && agenti_add(n, p->headers.n, &n) && agenti_buf_room(b, n);
}
AGENTI_FN int agenti_peer_headers(const agenti_peer *p, agenti_buf *b, int stream)
{
    agent_str lines = agenti_text_view(&p->headers), own = agenti_cstr(p->row->headers), n, v;
    int bearer = agenti_eq(agenti_text_view(&p->auth), "bearer");
    const char *auth = bearer ? "authorization" : p->auth.p;
    if (!agenti_headers_room(p, b, auth)) return 0;
    if (!agenti_header_given(p, "content-type")) agenti_header_put(b, agenti_cstr("content-type"), "", agenti_cstr("application/json"));
    if (!agenti_header_given(p, "accept"))
        agenti_header_put(b, agenti_cstr("accept"), "", agenti_cstr(!stream ? "application/json"
                          : p->wire->framing >= AGENTI_FRAMING_FRAMES ? "application/vnd.amazon.eventstream, application/json"
                                                                      : "text/event-stream, application/json"));
    if (!agenti_header_given(p, "accept-encoding")) agenti_header_put(b, agenti_cstr("accept-encoding"), "", agenti_cstr("identity"));
    if (!agenti_header_given(p, "user-agent")) agenti_header_put(b, agenti_cstr("user-agent"), "", agenti_cstr("agent.h/" AGENT_VERSION));
    if (p->key_n && p->wants_key)
        agenti_header_put(b, agenti_cstr(auth), bearer ? "Bearer " : "", agenti_str(p->key, p->key_n));
    if (p->wire->header && !agenti_header_given(p, p->wire->header))
        agenti_header_put(b, agenti_cstr(p->wire->header), "", agenti_cstr(p->wire->header_value));
    while (agenti_header_line(&own, &n, &v) > 0) if (!agenti_header_named(p, n)) agenti_header_put(b, n, "", v);
    while (agenti_header_line(&lines, &n, &v) > 0) agenti_header_put(b, n, "", v);
    return !b->bad;
}
static void agenti_star(agenti_text *t, agent_str secret)
{
    size_t i;
    if (secret.n < 4 || t->borrowed) return;
    for (i = 0; t->n >= secret.n && i <= t->n - secret.n; i++)
        if (memcmp(t->p + i, secret.p, secret.n) == 0) memset(t->p + i, '*', secret.n);
    for (i = t->n < secret.n ? t->n : secret.n - 1; i >= 4; i--)        /* the text was cut in the middle of it          */
        if (memcmp(t->p + t->n - i, secret.p, i) == 0) { memset(t->p + t->n - i, '*', i); return; }
}
AGENTI_FN int agenti_header_secret(agent_str auth, agent_str name)
{
    static const char *const words[] = { "auth", "key", "token", "secret", "cookie" };
    size_t i;
    if (auth.n && agenti_ieq(name, auth.p)) return 1;
    for (i = 0; i < sizeof words / sizeof *words; i++) if (agenti_find(name, words[i])) return 1;
    return 0;
}
/* Providers quote a wrong key back to us: it must not reach an event.                                                  */
AGENTI_FN void agenti_peer_hide(const agenti_peer *p, const agenti_buf *lines, agenti_text *t)
{
    const char *at = lines->p, *end = at ? at + lines->n : at;
    while (at < end) {
        agent_str name = agenti_cstr(at), value = agenti_cstr(at + name.n + 1);
        const char *space = (const char *)memchr(value.p, ' ', value.n);       /* as in "Bearer key"                    */
        at += name.n + value.n + 2;
        if (!agenti_header_secret(agenti_text_view(&p->auth), name)) continue;
        agenti_star(t, value);
        if (space) agenti_star(t, agenti_cstr(space + 1));
    }
}
static int agenti_bad_value(const char *p, size_t n) { return memchr(p, '\r', n) || memchr(p, '\n', n) || memchr(p, 0, n); }
AGENTI_FN int agenti_do_peer_key(agent_engine *e, agent_id id, const char *key, size_t n, uint64_t valid_ms)
{
    agenti_peer *p = agenti_peer_get(e, id);
    char *copy;
    if (p == NULL) return agenti_say(e, AGENT_E_STALE, "no such peer");
    n = agenti_len(key, n);
    if (n && agenti_bad_value(key, n)) return agenti_say(e, AGENT_E_ARG, "the key has CR, LF or NUL in it");
    if ((copy = (char *)agenti_get(&e->pool, n + 1)) == NULL) return agenti_say(e, AGENT_E_NOMEM, "out of memory");
    if (n) memcpy(copy, key, n);
    agenti_key_replace(p, copy, n);
    p->key_count++;
    p->key_until = valid_ms == 0 ? 0 : valid_ms > UINT64_MAX - e->now ? UINT64_MAX : e->now + valid_ms;
    agenti_peer_key_answered(p);
    return AGENT_OK;
}
AGENTI_FN int agenti_headers_good(agent_str lines)
{
    agent_str n, v;
    int rc;
    while ((rc = agenti_header_line(&lines, &n, &v)) > 0) {
        size_t i;
        for (i = 0; i < v.n; i++) if ((unsigned char)v.p[i] < ' ' && v.p[i] != '\t') return 0;
        if (!agenti_http_token(n.p, n.n) || agenti_ieq(n, "content-length") || agenti_ieq(n, "transfer-encoding")) return 0;
    }
    return rc == 0;
}
/* NULL, or why it cannot be. Everything that needs memory comes later.                                                 */
static const char *agenti_peer_check(const agent_engine *e, const agent_peer_desc *d, agenti_peer *p)
{
    const char *why = NULL;
    agent_str extra = agenti_cstr(d->body_json), base;
    p->row = agenti_provider_find(e->rows, e->row_count, agenti_cstr(d->provider));
    if (p->row == NULL) return "unknown provider";
    if (!agenti_headers_good(agenti_cstr(p->row->headers))) return "headers of the provider must be lines of Name: value";
    if (d->auth && !agenti_http_token(d->auth, strlen(d->auth))) return "auth is no header's name";
    if ((p->wire = agenti_wire_find(agenti_cstr(p->row->wire))) == NULL) return "the provider's wire format is unknown, or left out of this build";
    if (p->wire->head == NULL) return "this wire format is for answers only";
    base = agenti_cstr(d->url ? d->url : p->row->url);
    if (base.n == 0) return "this provider needs a url";
    if (!agenti_url_parse(base, &p->url, &why)) return why;
    if (!agenti_headers_good(agenti_cstr(d->headers))) return "headers must be lines of Name: value, and the length is the engine's to tell";
    if (extra.n) {
        if (agent_json_check(extra.p, extra.n, e->lim.depth, NULL) != AGENT_OK || agenti_trim(extra).p[0] != '{') return "body_json is no JSON object";
        if (agent_json_get(extra, "messages").p || agent_json_get(extra, "stream").p) return "body_json cannot replace messages or stream";
    }
    return NULL;
}
static int agenti_peer_fill(agenti_peer *p, const agent_peer_desc *d)
{
    agenti_pool *pool = &p->e->pool;
    agenti_blob **graves = &p->e->graves;
    const char *why;
    return agenti_text_set(&p->base, pool, graves, agenti_cstr(d->url ? d->url : p->row->url))
        && agenti_url_parse(agenti_text_view(&p->base), &p->url, &why)
        && agenti_text_set(&p->host, pool, graves, p->url.host)
        && agenti_text_set(&p->headers, pool, graves, agenti_cstr(d->headers))
        && agenti_text_set(&p->auth, pool, graves, agenti_cstr(d->auth ? d->auth : p->row->auth))
        && agenti_text_set(&p->extra, pool, graves, agenti_trim(agenti_cstr(d->body_json)));
}
static int agenti_peer_wants_key(const agenti_peer *p)
{
    agent_str auth = agenti_text_view(&p->auth);
    if (auth.n == 0 || p->signs || agenti_eq(auth, "none")) return 0;
    return !agenti_header_given(p, agenti_eq(auth, "bearer") ? "authorization" : auth.p);
}
AGENTI_FN agent_id agenti_do_peer_open(agent_engine *e, const agent_peer_desc *d)
{
    agenti_peer *p;
    const char *why;
    agent_id id;
    if (d == NULL) { e->last = "no description"; return 0; }
    if ((p = (agenti_peer *)agenti_get(&e->pool, sizeof *p)) == NULL) { e->last = "out of memory"; return 0; }
    p->e = e;
    p->user = d->user;
    if ((why = agenti_peer_check(e, d, p)) != NULL) { e->last = why; agenti_peer_free(p); return 0; }
    p->dialect = (p->row->dialect | d->dialect_on) & ~d->dialect_off;
    p->connect_ms = agenti_limit(d->connect_ms, 30000);
    p->first_ms = agenti_limit(d->first_ms, 120000);
    p->idle_ms = agenti_limit(d->idle_ms, 90000);
    e->last = "out of memory";
    if (!agenti_peer_fill(p, d) || (p->id = agenti_id_new(e, AGENTI_PEER, p)) == 0) { agenti_peer_free(p); return 0; }
    id = p->id;
    p->ready.owner = p;
    p->ready.kind = AGENTI_PEER;
    p->signs = (uint8_t)agenti_eq(agenti_text_view(&p->auth), "sign");
    p->wants_key = (uint8_t)agenti_peer_wants_key(p);
    if (d->key && agenti_do_peer_key(e, id, d->key, AGENT_CSTR, 0) != AGENT_OK) { agenti_peer_free(p); return 0; }
    return id;
}
#endif
