/* The public calls that change something, and the flight recorder: what they were given and returned, and every event, as lines of JSON.
 * What a call does is agenti_do_... of an earlier part, so none of them is recorded inside another. */
#if !defined AGENTI_SPLIT || defined AGENTI_PART_RECORD
#ifndef AGENT_NO_RECORD
/* ---- secrets: stars stand for them ---- */
enum { AGENTI_SECRET_LEAST = 4 };             /* shorter ones are words; the same as for errors (agenti_peer_hide)       */
/* All that is to be kept out, one after the other: keys, secret headers, and those of requests, which may be older ones. */
typedef struct agenti_secrets {
    const agent_engine *e;
    const agenti_peer *p;
    uint32_t kind, i;
    agent_str lines, rest;                    /* headers; what stands behind the blank of the last value, as in "Bearer key" */
} agenti_secrets;
static int agenti_secret_owner(agenti_secrets *it, agent_str *out)           /* the next peer, then the next connection  */
{
    for (; it->kind != 0; it->kind = it->kind == AGENTI_PEER ? AGENTI_CONN : 0, it->i = 0) {
        const agenti_slots *s = &it->e->slots[it->kind];
        while (it->i < s->n) {
            const void *p = s->p[it->i++].p;
            if (p == NULL) continue;
            if (it->kind == AGENTI_PEER) {
                it->p = (const agenti_peer *)p;
                it->lines = agenti_text_view(&it->p->headers);
                it->rest = agenti_str(it->p->former, it->p->former_n);
                *out = agenti_str(it->p->key, it->p->key_n);
            } else {
                it->p = ((const agenti_conn *)p)->peer;
                it->lines = agenti_str(((const agenti_conn *)p)->lines.p, ((const agenti_conn *)p)->lines.n);
                *out = agenti_str(NULL, 0);
            }
            return 1;
        }
    }
    return 0;
}
static int agenti_secret_header(agenti_secrets *it, agent_str *out)
{
    agent_str name;
    const char *blank;
    for (;;) {
        if (it->kind == AGENTI_PEER) { if (agenti_header_line(&it->lines, &name, out) <= 0) return 0; }
        else {
            if (it->lines.n == 0) return 0;
            name = agenti_cstr(it->lines.p);
            *out = agenti_cstr(it->lines.p + name.n + 1);
            it->lines.p += name.n + out->n + 2;
            it->lines.n -= name.n + out->n + 2;
        }
        if (it->p && agenti_header_secret(agenti_text_view(&it->p->auth), name)) break;
    }
    blank = (const char *)memchr(out->p, ' ', out->n);
    it->rest = blank ? agenti_str(blank + 1, out->n - (size_t)(blank + 1 - out->p)) : agenti_str(NULL, 0);
    return 1;
}
static void agenti_secrets_of(agenti_secrets *it, const agent_engine *e)
{
    memset(it, 0, sizeof *it);
    it->e = e;
    it->kind = AGENTI_PEER;
}
static int agenti_secret_next(agenti_secrets *it, agent_str *out)
{
    do {
        if (it->rest.n) {
            *out = it->rest;
            it->rest.n = 0;
        } else if (!(it->p && agenti_secret_header(it, out)) && !agenti_secret_owner(it, out)) return 0;
    } while (out->n < AGENTI_SECRET_LEAST);
    return 1;
}
/* The one that a stream is watched for also where pieces of it cut it: the key, or what stands for it in the headers.   */
static agent_str agenti_secret_main(const agent_engine *e, const agenti_peer *p)
{
    agenti_secrets it;
    agent_str s = agenti_str(NULL, 0);
    if (p == NULL) return s;
    if (p->key_n >= AGENTI_SECRET_LEAST) return agenti_str(p->key, p->key_n);
    agenti_secrets_of(&it, e);
    it.p = p;
    it.lines = agenti_text_view(&p->headers);
    if (!agenti_secret_header(&it, &s)) return agenti_str(NULL, 0);
    return it.rest.n ? it.rest : s;
}
/* A text that is read with stars.                                                                                       */
typedef struct agenti_mask {
    const agent_engine *e;
    agent_str s;
    size_t i, left;                           /* so many more are stars                                                 */
    agent_str own;                            /* a secret that no peer has yet                                          */
    unsigned char first[32];                  /* bytes with which secrets begin                                         */
} agenti_mask;
static void agenti_mask_begin(agenti_mask *m, const agent_engine *e, agent_str s, agent_str own)
{
    agenti_secrets it;
    agent_str secret;
    memset(m, 0, sizeof *m);
    m->e = e;
    m->s = s;
    m->own = own;
    agenti_secrets_of(&it, e);
    if (own.n >= AGENTI_SECRET_LEAST) m->first[(unsigned char)own.p[0] >> 3] |= (unsigned char)(1 << (own.p[0] & 7));
    while (agenti_secret_next(&it, &secret)) m->first[(unsigned char)secret.p[0] >> 3] |= (unsigned char)(1 << (secret.p[0] & 7));
}
/* How many bytes at i are one of them, or its beginning where the text ends.                                           */
static size_t agenti_secret_here(agent_str secret, agent_str s, size_t i)
{
    size_t n = s.n - i < secret.n ? s.n - i : secret.n;
    return n >= AGENTI_SECRET_LEAST && memcmp(s.p + i, secret.p, n) == 0 ? n : 0;
}
static AGENTI_NOINLINE size_t agenti_mask_at(const agenti_mask *m)
{
    agenti_secrets it;
    agent_str secret;
    size_t most = agenti_secret_here(m->own, m->s, m->i), n;
    agenti_secrets_of(&it, m->e);
    while (agenti_secret_next(&it, &secret)) if ((n = agenti_secret_here(secret, m->s, m->i)) > most) most = n;
    return most;
}
static char agenti_starred(char c) { return (unsigned char)c < ' ' ? c : '*'; }     /* what is refused for a control stays refused */
static void agenti_mask_read(agenti_mask *m, char *to, size_t n)
{
    for (; n; n--, m->i++) {
        unsigned char c = (unsigned char)m->s.p[m->i];
        if (m->first[c >> 3] >> (c & 7) & 1) {
            size_t k = agenti_mask_at(m);
            if (k > m->left) m->left = k;
        }
        *to++ = m->left ? agenti_starred((char)c) : (char)c;
        if (m->left) m->left--;
    }
}
/* How much of a secret's beginning stands at the end, when run bytes of it stood before s.                             */
static size_t agenti_run_after(agent_str secret, size_t run, agent_str s)
{
    size_t i, k;
    for (i = s.n > secret.n ? s.n - secret.n : 0; i < s.n; i++) {
        while (run && secret.p[run] != s.p[i]) {              /* the longest shorter beginning that stands there as well */
            for (k = run - 1; k && memcmp(secret.p, secret.p + run - k, k) != 0; k--) {}
            run = k;
        }
        if (secret.p[run] == s.p[i]) run++;
        if (run == secret.n) run = 0;
    }
    return run;
}
/* So many bytes of s go on with it.                                                                                    */
static size_t agenti_run_on(agent_str secret, size_t run, agent_str s)
{
    size_t n = 0;
    if (run == 0 || run >= secret.n) return 0;
    while (n < s.n && run + n < secret.n && s.p[n] == secret.p[run + n]) n++;
    return run + n >= AGENTI_SECRET_LEAST && (n == s.n || run + n == secret.n) ? n : 0;
}

/* ---- lines ---- */
typedef struct agenti_line { agent_engine *e; size_t n; char p[256]; } agenti_line;
static void agenti_line_flush(agenti_line *l)
{
    if (l->n) l->e->record(l->e->record_ctx, l->p, l->n);
    l->n = 0;
}
static void agenti_line_add(agenti_line *l, const char *p, size_t n)
{
    while (n) {
        size_t k = sizeof l->p - l->n < n ? sizeof l->p - l->n : n;
        memcpy(l->p + l->n, p, k);
        l->n += k;
        p += k;
        n -= k;
        if (l->n == sizeof l->p) agenti_line_flush(l);
    }
}
static void agenti_line_cstr(agenti_line *l, const char *p) { agenti_line_add(l, p, strlen(p)); }
static void agenti_line_key(agenti_line *l, const char *key)
{
    agenti_line_cstr(l, ",\"");
    agenti_line_cstr(l, key);
    agenti_line_cstr(l, "\":");
}
static void agenti_line_i64(agenti_line *l, const char *key, int64_t v)
{
    char number[24];
    agenti_line_key(l, key);
    agenti_line_add(l, number, agenti_i64_text(v, number));
}
static void agenti_line_num(agenti_line *l, const char *key, uint64_t v)      /* 0: left out                            */
{
    char number[24];
    if (v == 0) return;
    agenti_line_key(l, key);
    agenti_line_add(l, number, agenti_u64_text(v, number));
}
static AGENTI_NOINLINE void agenti_line_quote(agenti_line *l, agenti_mask *m)
{
    char raw[40], out[40 * 6 + 3];
    while (m->i < m->s.n) {
        size_t n = agenti_utf8_cut(m->s.p + m->i, m->s.n - m->i, sizeof raw);
        agenti_mask_read(m, raw, n);
        n = agent_json_quote(raw, n, out, sizeof out);
        agenti_line_add(l, out + 1, n - 2);
    }
}
static AGENTI_NOINLINE void agenti_line_base64(agenti_line *l, agenti_mask *m)
{
    char raw[3], out[4];
    while (m->i < m->s.n) {
        size_t n = m->s.n - m->i < 3 ? m->s.n - m->i : 3;
        agenti_mask_read(m, raw, n);
        agenti_base64_four(raw, n, out);
        agenti_line_add(l, out, 4);
    }
}
/* A JSON string, or {"base64": ...} of what is no text. The first stars bytes are part of a secret.                     */
static AGENTI_NOINLINE void agenti_line_bytes(agenti_line *l, agent_str s, agent_str own, size_t stars)
{
    agenti_mask m;
    int text = agenti_utf8_valid(s.p, s.n) == s.n;
    agenti_mask_begin(&m, l->e, s, own);
    m.left = stars;
    agenti_line_cstr(l, text ? "\"" : "{\"base64\":\"");
    if (text) agenti_line_quote(l, &m); else agenti_line_base64(l, &m);
    agenti_line_cstr(l, text ? "\"" : "\"}");
}
static void agenti_line_str(agenti_line *l, const char *key, agent_str s)     /* empty: left out                        */
{
    if (s.n == 0 || s.p == NULL) return;
    agenti_line_key(l, key);
    agenti_line_bytes(l, s, agenti_str(NULL, 0), 0);
}
static void agenti_line_text(agenti_line *l, const char *key, const char *p)  /* NULL: left out                          */
{
    if (p == NULL) return;
    agenti_line_key(l, key);
    agenti_line_bytes(l, agenti_cstr(p), agenti_str(NULL, 0), 0);
}
static void agenti_line_secret(agenti_line *l, const char *key, agent_str s)
{
    agenti_line_key(l, key);
    agenti_line_bytes(l, s, agenti_str(NULL, 0), s.n);
}
/* What comes in pieces: a key that is cut between them is starred as well, but for its first three bytes.               */
static void agenti_line_piece(agenti_line *l, agent_str s, const agenti_peer *p, size_t *run)
{
    agent_str secret = agenti_secret_main(l->e, p);
    size_t on = agenti_run_on(secret, *run, s);
    *run = secret.n ? agenti_run_after(secret, *run < secret.n && s.n < secret.n ? *run : 0, s) : 0;
    agenti_line_bytes(l, s, agenti_str(NULL, 0), on);
}
/* Header lines that the host gives: the names stay.                                                                     */
static AGENTI_NOINLINE void agenti_line_headers(agenti_line *l, const char *key, agent_str s, agent_str auth, agent_str own)
{
    agent_str rest = s, name, value;
    const char *at = s.p;
    if (s.n == 0) return;
    agenti_line_key(l, key);
    agenti_line_cstr(l, "[");
    while (agenti_header_line(&rest, &name, &value) > 0) {
        if (!agenti_header_secret(auth, name)) continue;
        if (value.p > at) { agenti_line_bytes(l, agenti_str(at, (size_t)(value.p - at)), own, 0); agenti_line_cstr(l, ","); }
        if (value.n) { agenti_line_bytes(l, value, own, value.n); agenti_line_cstr(l, ","); }
        at = value.p + value.n;
    }
    agenti_line_bytes(l, agenti_str(at, (size_t)(s.p + s.n - at)), own, 0);
    agenti_line_cstr(l, "]");
}
static void agenti_line_begin(agenti_line *l, agent_engine *e) { l->e = e; l->n = 0; }
static void agenti_line_call(agenti_line *l, agent_engine *e, const char *name, agent_id id)
{
    agenti_line_begin(l, e);
    agenti_line_cstr(l, "{\"call\":\"");
    agenti_line_cstr(l, name);
    agenti_line_cstr(l, "\"");
    agenti_line_num(l, "id", id);
}
/* Before the call is made: should it crash, the line shows with what.                                                   */
static void agenti_line_go(agenti_line *l) { agenti_line_flush(l); l->e->line = l; }
static void agenti_line_end(agenti_line *l, int64_t rc)
{
    l->e->line = NULL;
    agenti_line_i64(l, "rc", rc);
    agenti_line_cstr(l, "}\n");
    agenti_line_flush(l);
}
static int agenti_line_rc(agenti_line *l, int rc) { agenti_line_end(l, rc); return rc; }
static agent_id agenti_line_id(agenti_line *l, agent_id id) { agenti_line_end(l, id); return id; }

/* ---- memory: what the host refuses is told, by the number of the request ---- */
static AGENTI_NOINLINE void agenti_record_refused(agent_engine *e)
{
    agenti_line own, *l = e->line;
    char number[24];
    if (l) { agenti_line_num(l, "refused", e->asked); return; }
    agenti_line_begin(&own, e);
    agenti_line_cstr(&own, "{\"refused\":");
    agenti_line_add(&own, number, agenti_u64_text(e->asked, number));
    agenti_line_cstr(&own, "}\n");
    agenti_line_flush(&own);
}
static void *agenti_record_alloc(void *ctx, void *p, size_t old_n, size_t n)
{
    agent_engine *e = (agent_engine *)ctx;
    void *q;
    if (n == 0) return agenti_raw(&e->under, p, old_n, 0);    /* may be the engine itself                                */
    e->asked++;
    q = agenti_raw(&e->under, p, old_n, n);
    if (q == NULL) agenti_record_refused(e);
    return q;
}

/* ---- events ---- */
static void agenti_line_part(void *ctx, const char *p, size_t n, int quotes)
{
    agenti_line *l = (agenti_line *)ctx;
    const agent_event *ev = &l->e->ev;
    const agenti_session *s;
    const agenti_conn *c;
    if (!quotes) { agenti_line_add(l, p, n); return; }
    if (p != ev->text.p || l->e->delta_of == 0) { agenti_line_bytes(l, agenti_str(p, n), agenti_str(NULL, 0), 0); return; }
    s = agenti_session_get(l->e, ev->session);
    c = agenti_conn_get(l->e, ev->conn);
    agenti_line_piece(l, agenti_str(p, n), s ? s->peer : c ? c->peer : NULL, &l->e->delta_run);
}
static AGENTI_NOINLINE void agenti_record_event(agent_engine *e, const agent_event *ev)
{
    agenti_line l;
    agenti_line_begin(&l, e);
    if (ev == NULL) agenti_line_cstr(&l, "{\"next\":0");
    else {
        int delta = ev->type == AGENT_EV_TEXT_DELTA || ev->type == AGENT_EV_REASONING_DELTA || ev->type == AGENT_EV_INPUT_DELTA;
        agent_id of = !delta ? 0 : ev->session ? ev->session : ev->conn;
        if (of != e->delta_of || ev->part != e->delta_part) e->delta_run = 0;
        e->delta_of = of;
        e->delta_part = ev->part;
        agenti_line_cstr(&l, "{\"next\":");
        agenti_event_print(ev, agenti_line_part, &l);
    }
    agenti_line_cstr(&l, "}\n");
    agenti_line_flush(&l);
}

/* ---- what is more than a number or a text ---- */
static AGENTI_NOINLINE void agenti_line_limits(agenti_line *l, const agent_limits *m)
{
    agenti_line_num(l, "recv", m->recv);
    agenti_line_num(l, "piece", m->piece);
    agenti_line_num(l, "item", m->item);
    agenti_line_num(l, "head", m->head);
    agenti_line_num(l, "depth", m->depth);
    agenti_line_num(l, "sessions", m->sessions);
    agenti_line_num(l, "conns", m->conns);
    agenti_line_num(l, "peers", m->peers);
    agenti_line_num(l, "calls_per_step", m->calls_per_step);
    agenti_line_num(l, "scan_per_next", m->scan_per_next);
}
/* Objects of a list begin with a member that is always there: all others have a comma before them.                     */
static void agenti_line_object(agenti_line *l, size_t i)
{
    char number[24];
    agenti_line_cstr(l, i ? ",{\"i\":" : "{\"i\":");
    agenti_line_add(l, number, agenti_u64_text(i, number));
}
static AGENTI_NOINLINE void agenti_line_rows(agenti_line *l, const agent_provider *rows, size_t n)
{
    size_t i;
    if (n == 0) return;
    agenti_line_key(l, "providers");
    agenti_line_cstr(l, "[");
    for (i = 0; i < n; i++) {
        agenti_line_object(l, i);
        agenti_line_text(l, "name", rows[i].name);
        agenti_line_text(l, "url", rows[i].url);
        agenti_line_text(l, "wire", rows[i].wire);
        agenti_line_text(l, "auth", rows[i].auth);
        agenti_line_text(l, "key_env", rows[i].key_env);
        agenti_line_num(l, "dialect", rows[i].dialect);
        agenti_line_text(l, "models", rows[i].models);
        agenti_line_headers(l, "headers", agenti_cstr(rows[i].headers), agenti_cstr(rows[i].auth), agenti_str(NULL, 0));
        agenti_line_cstr(l, "}");
    }
    agenti_line_cstr(l, "]");
}
static AGENTI_NOINLINE void agenti_record_header(agent_engine *e, const agent_desc *d)
{
    agenti_line l;
    agenti_line_begin(&l, e);
    agenti_line_cstr(&l, "{\"agent_record\":1");
    agenti_line_text(&l, "version", AGENT_VERSION);
    agenti_line_num(&l, "flags", d->flags);
    agenti_line_num(&l, "mem_limit", d->mem_limit);
    agenti_line_num(&l, "block_size", d->block ? d->block_size : 0);
    agenti_line_num(&l, "seed", d->seed);
    agenti_line_limits(&l, &d->limits);
    agenti_line_rows(&l, d->providers, d->provider_count);
    agenti_line_cstr(&l, "}\n");
    agenti_line_flush(&l);
}
static AGENTI_NOINLINE void agenti_line_tools(agenti_line *l, const agent_tool *t, size_t n)
{
    size_t i;
    agenti_line_num(l, "n", n);
    if (n == 0 || n > 65536 || t == NULL) return;
    agenti_line_key(l, "tools");
    agenti_line_cstr(l, "[");
    for (i = 0; i < n; i++) {
        agenti_line_object(l, i);
        agenti_line_text(l, "name", t[i].name);
        agenti_line_text(l, "description", t[i].description);
        agenti_line_text(l, "schema", t[i].schema);
        agenti_line_num(l, "flags", t[i].flags);
        agenti_line_num(l, "timeout_ms", t[i].timeout_ms);
        agenti_line_cstr(l, "}");
    }
    agenti_line_cstr(l, "]");
}
static AGENTI_NOINLINE void agenti_line_parts(agenti_line *l, const agent_part *p, size_t n)
{
    size_t i;
    if (n == 0) return;
    agenti_line_key(l, "parts");
    agenti_line_cstr(l, "[");
    for (i = 0; i < n; i++) {
        agenti_line_object(l, i);
        agenti_line_num(l, "kind", p[i].kind);
        agenti_line_num(l, "flags", p[i].flags);
        agenti_line_str(l, "text", p[i].text);
        agenti_line_str(l, "name", p[i].name);
        agenti_line_str(l, "mime", p[i].mime);
        agenti_line_str(l, "uri", p[i].uri);
        agenti_line_str(l, "wire_id", p[i].wire_id);
        agenti_line_str(l, "data", p[i].data);
        agenti_line_cstr(l, "}");
    }
    agenti_line_cstr(l, "]");
}
static AGENTI_NOINLINE void agenti_line_peer(agenti_line *l, const agent_peer_desc *d)
{
    agent_str key = agenti_cstr(d->key);
    agenti_line_text(l, "provider", d->provider);
    agenti_line_text(l, "url", d->url);
    agenti_line_text(l, "auth", d->auth);
    if (d->key) agenti_line_secret(l, "key", key);
    agenti_line_headers(l, "headers", agenti_cstr(d->headers), agenti_cstr(d->auth), key);
    if (d->body_json) {
        agenti_line_key(l, "body_json");
        agenti_line_bytes(l, agenti_cstr(d->body_json), key, 0);
    }
    agenti_line_num(l, "dialect_on", d->dialect_on);
    agenti_line_num(l, "dialect_off", d->dialect_off);
    agenti_line_num(l, "connect_ms", d->connect_ms);
    agenti_line_num(l, "first_ms", d->first_ms);
    agenti_line_num(l, "idle_ms", d->idle_ms);
}
static AGENTI_NOINLINE void agenti_line_session(agenti_line *l, const agent_session_desc *d)
{
    agenti_line_num(l, "flags", d->flags);
    agenti_line_num(l, "peer", d->peer);
    agenti_line_text(l, "model", d->model);
    agenti_line_text(l, "system", d->system);
    agenti_line_tools(l, d->tools, d->tool_count);
    agenti_line_num(l, "mem_limit", d->mem_limit);
    agenti_line_num(l, "max_tokens", d->max_tokens);
    agenti_line_num(l, "max_steps", d->max_steps);
    agenti_line_num(l, "parallel_tools", d->parallel_tools);
    agenti_line_num(l, "max_retries", d->max_retries);
    agenti_line_num(l, "retry_ms", d->retry_ms);
    agenti_line_num(l, "retry_cap_ms", d->retry_cap_ms);
    agenti_line_num(l, "hint_cap_ms", d->hint_cap_ms);
    agenti_line_num(l, "tool_ms", d->tool_ms);
    agenti_line_num(l, "grace_ms", d->grace_ms);
    agenti_line_num(l, "step_ms", d->step_ms);
    agenti_line_num(l, "run_ms", d->run_ms);
    agenti_line_num(l, "max_run_tokens", d->max_run_tokens);
    agenti_line_num(l, "stop_finish", d->stop_finish);
}
static agent_str agenti_given(const char *p, size_t n) { return agenti_str(p, agenti_len(p, n)); }
#endif

#ifdef AGENT_NO_RECORD
AGENTDEF int agent_open_abi(agent_engine **out, const agent_desc *d, uint32_t abi, size_t event_size) { return agenti_do_open(out, d, abi, event_size); }
AGENTDEF void agent_close(agent_engine *e) { agenti_do_close(e); }
AGENTDEF const agent_event *agent_next(agent_engine *e) { return agenti_do_next(e); }
AGENTDEF int agent_feed(agent_engine *e, agent_id id, const void *p, size_t n, size_t *taken) { return agenti_do_feed(e, id, p, n, taken); }
AGENTDEF void *agent_recv_buf(agent_engine *e, agent_id id, size_t *cap) { return agenti_do_recv_buf(e, id, cap); }
AGENTDEF int agent_recv_ack(agent_engine *e, agent_id id, size_t n) { return agenti_do_recv_ack(e, id, n); }
AGENTDEF agent_id agent_peer_open(agent_engine *e, const agent_peer_desc *d) { return agenti_do_peer_open(e, d); }
AGENTDEF int agent_peer_close(agent_engine *e, agent_id id) { return agenti_do_peer_close(e, id); }
AGENTDEF int agent_peer_key(agent_engine *e, agent_id id, const char *key, size_t n, uint64_t valid_ms) { return agenti_do_peer_key(e, id, key, n, valid_ms); }
#ifndef AGENT_NO_MODELS
AGENTDEF int agent_models(agent_engine *e, agent_id id) { return agenti_do_models(e, id); }
#endif
AGENTDEF agent_id agent_session_open(agent_engine *e, const agent_session_desc *d) { return agenti_do_session_open(e, d); }
AGENTDEF int agent_session_close(agent_engine *e, agent_id id) { return agenti_do_session_close(e, id); }
AGENTDEF int agent_session_set(agent_engine *e, agent_id id, const char *key, const char *value, size_t n)
{
    return agenti_do_session_set(e, id, key, value, n);
}
AGENTDEF int agent_session_tools(agent_engine *e, agent_id id, const agent_tool *tools, size_t n) { return agenti_do_session_tools(e, id, tools, n); }
AGENTDEF int agent_say(agent_engine *e, agent_id id, const char *text, size_t n) { return agenti_do_say(e, id, text, n); }
AGENTDEF int agent_submit(agent_engine *e, agent_id id, const agent_part *parts, size_t n, int lane) { return agenti_do_submit(e, id, parts, n, lane); }
AGENTDEF int agent_cancel(agent_engine *e, agent_id id) { return agenti_do_cancel(e, id); }
AGENTDEF int agent_stop(agent_engine *e, agent_id id, int when) { return agenti_do_stop(e, id, when); }
AGENTDEF int agent_retry(agent_engine *e, agent_id id, int what) { return agenti_do_retry(e, id, what); }
AGENTDEF int agent_queue_cancel(agent_engine *e, agent_id id, uint32_t item) { return agenti_do_queue_cancel(e, id, item); }
AGENTDEF int agent_queue_move(agent_engine *e, agent_id id, uint32_t item, int lane, uint32_t before)
{
    return agenti_do_queue_move(e, id, item, lane, before);
}
AGENTDEF int agent_message_add(agent_engine *e, agent_id id, int role, const agent_part *parts, size_t n)
{
    return agenti_do_message_add(e, id, role, parts, n);
}
AGENTDEF int agent_message_cut(agent_engine *e, agent_id id, agent_num msg) { return agenti_do_message_cut(e, id, msg); }
AGENTDEF int agent_regenerate(agent_engine *e, agent_id id) { return agenti_do_regenerate(e, id); }
#ifndef AGENT_NO_IMPORT
AGENTDEF int agent_import(agent_engine *e, agent_id id, const char *wire, const char *json, size_t n, agent_json_error *err)
{
    return agenti_do_import(e, id, wire, json, n, err);
}
AGENTDEF int agent_export(agent_engine *e, agent_id id, const char *wire, agent_str *out) { return agenti_do_export(e, id, wire, out); }
#endif
AGENTDEF int agent_tick(agent_engine *e, uint64_t mono_ms, uint64_t wall_ms) { return agenti_do_tick(e, mono_ms, wall_ms); }
AGENTDEF int agent_opened(agent_engine *e, agent_id id, int via, void *user) { return agenti_do_opened(e, id, via, user); }
AGENTDEF int agent_failed(agent_engine *e, agent_id id, int why, const char *detail, size_t n) { return agenti_do_failed(e, id, why, detail, n); }
AGENTDEF int agent_eof(agent_engine *e, agent_id id) { return agenti_do_eof(e, id); }
AGENTDEF int agent_http_head(agent_engine *e, agent_id id, int status, const char *lines, size_t n) { return agenti_do_http_head(e, id, status, lines, n); }
AGENTDEF int agent_send_ack(agent_engine *e, agent_id id, size_t n) { return agenti_do_send_ack(e, id, n); }
AGENTDEF int agent_send_rewind(agent_engine *e, agent_id id) { return agenti_do_send_rewind(e, id); }
#ifndef AGENT_NO_SIGN
AGENTDEF int agent_sign(agent_engine *e, agent_id id, const char *lines, size_t n) { return agenti_do_sign(e, id, lines, n); }
#endif
AGENTDEF int agent_decline(agent_engine *e, const agent_event *need) { return agenti_do_decline(e, need); }
AGENTDEF int agent_tool_update(agent_engine *e, agent_id id, agent_num call, const char *title, size_t n)
{
    return agenti_do_tool_update(e, id, call, title, n);
}
AGENTDEF int agent_tool_append(agent_engine *e, agent_id id, agent_num call, const char *out, size_t n) { return agenti_do_tool_append(e, id, call, out, n); }
AGENTDEF int agent_tool_done(agent_engine *e, agent_id id, agent_num call, int status) { return agenti_do_tool_done(e, id, call, status); }
AGENTDEF int agent_tool_result(agent_engine *e, agent_id id, agent_num call, const char *out, size_t n) { return agenti_do_tool_result(e, id, call, out, n); }
#ifndef AGENT_NO_DECODE
AGENTDEF agent_id agent_decode(agent_engine *e, const char *wire, int via, void *user) { return agenti_do_decode(e, wire, via, user); }
#endif
#ifndef AGENT_NO_SAVE
AGENTDEF int agent_load(agent_engine *e, agent_id id, const void *bytes, size_t n) { return agenti_do_load(e, id, bytes, n); }
#endif
#else
/* ---- the calls: unless the host records, one branch is all that is added ---- */
AGENTDEF int agent_open_abi(agent_engine **out, const agent_desc *d, uint32_t abi, size_t event_size)
{
    int rc = agenti_do_open(out, d, abi, event_size);
    if (rc == AGENT_OK && d->record) {
        agent_engine *e = *out;
        e->record = d->record;
        e->record_ctx = d->record_ctx;
        e->under = e->pool;
        e->pool.alloc = agenti_record_alloc;
        e->pool.ctx = e;
        agenti_record_header(e, d);
    }
    return rc;
}
AGENTDEF void agent_close(agent_engine *e)
{
    agenti_line l;
    if (e && e->record) {
        agenti_line_call(&l, e, "close", 0);
        agenti_line_end(&l, 0);
    }
    agenti_do_close(e);
}
AGENTDEF const agent_event *agent_next(agent_engine *e)
{
    const agent_event *ev = agenti_do_next(e);
    if (e->record) agenti_record_event(e, ev);
    return ev;
}
/* Of what is fed only what was taken: the rest comes again.                                                            */
AGENTDEF int agent_feed(agent_engine *e, agent_id id, const void *p, size_t n, size_t *taken)
{
    agenti_line l;
    agenti_conn *c;
    size_t k = 0;
    int rc;
    if (e->record == NULL) return agenti_do_feed(e, id, p, n, taken);
    agenti_line_call(&l, e, "feed", id);
    agenti_line_num(&l, "n", n);
    agenti_line_num(&l, "part", taken != NULL);
    agenti_line_go(&l);
    rc = agenti_do_feed(e, id, p, n, taken);
    if (rc == AGENT_OK) k = taken ? *taken : n;
    c = k ? agenti_conn_get(e, id) : NULL;
    if (c) {
        agenti_line_key(&l, "text");
        agenti_line_piece(&l, agenti_str((const char *)p, k), c->peer, &c->secret_run);
    }
    return agenti_line_rc(&l, rc);
}
AGENTDEF void *agent_recv_buf(agent_engine *e, agent_id id, size_t *cap)
{
    agenti_line l;
    void *p;
    if (e->record == NULL) return agenti_do_recv_buf(e, id, cap);
    agenti_line_call(&l, e, "recv_buf", id);
    agenti_line_go(&l);
    p = agenti_do_recv_buf(e, id, cap);
    agenti_line_end(&l, (int64_t)*cap);
    return p;
}
AGENTDEF int agent_recv_ack(agent_engine *e, agent_id id, size_t n)
{
    agenti_line l;
    agenti_conn *c;
    if (e->record == NULL) return agenti_do_recv_ack(e, id, n);
    c = agenti_conn_get(e, id);
    agenti_line_call(&l, e, "recv_ack", id);
    agenti_line_num(&l, "n", n);
    if (c && n && n <= c->reserved) {
        agenti_line_key(&l, "text");
        agenti_line_piece(&l, agenti_str(c->in + c->w, n), c->peer, &c->secret_run);
    }
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_recv_ack(e, id, n));
}
AGENTDEF agent_id agent_peer_open(agent_engine *e, const agent_peer_desc *d)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_peer_open(e, d);
    agenti_line_call(&l, e, "peer_open", 0);
    if (d) agenti_line_peer(&l, d);
    agenti_line_go(&l);
    return agenti_line_id(&l, agenti_do_peer_open(e, d));
}
AGENTDEF int agent_peer_close(agent_engine *e, agent_id id)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_peer_close(e, id);
    agenti_line_call(&l, e, "peer_close", id);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_peer_close(e, id));
}
AGENTDEF int agent_peer_key(agent_engine *e, agent_id id, const char *key, size_t n, uint64_t valid_ms)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_peer_key(e, id, key, n, valid_ms);
    agenti_line_call(&l, e, "peer_key", id);
    agenti_line_secret(&l, "key", agenti_given(key, n));
    agenti_line_num(&l, "valid_ms", valid_ms);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_peer_key(e, id, key, n, valid_ms));
}
#ifndef AGENT_NO_MODELS
AGENTDEF int agent_models(agent_engine *e, agent_id id)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_models(e, id);
    agenti_line_call(&l, e, "models", id);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_models(e, id));
}
#endif
AGENTDEF agent_id agent_session_open(agent_engine *e, const agent_session_desc *d)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_session_open(e, d);
    agenti_line_call(&l, e, "session_open", 0);
    if (d) agenti_line_session(&l, d);
    agenti_line_go(&l);
    return agenti_line_id(&l, agenti_do_session_open(e, d));
}
AGENTDEF int agent_session_close(agent_engine *e, agent_id id)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_session_close(e, id);
    agenti_line_call(&l, e, "session_close", id);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_session_close(e, id));
}
AGENTDEF int agent_session_set(agent_engine *e, agent_id id, const char *key, const char *value, size_t n)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_session_set(e, id, key, value, n);
    agenti_line_call(&l, e, "session_set", id);
    agenti_line_text(&l, "key", key);
    agenti_line_str(&l, "text", agenti_given(value, n));
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_session_set(e, id, key, value, n));
}
AGENTDEF int agent_session_tools(agent_engine *e, agent_id id, const agent_tool *tools, size_t n)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_session_tools(e, id, tools, n);
    agenti_line_call(&l, e, "session_tools", id);
    agenti_line_tools(&l, tools, n);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_session_tools(e, id, tools, n));
}
AGENTDEF int agent_say(agent_engine *e, agent_id id, const char *text, size_t n)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_say(e, id, text, n);
    agenti_line_call(&l, e, "say", id);
    agenti_line_str(&l, "text", agenti_given(text, n));
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_say(e, id, text, n));
}
AGENTDEF int agent_submit(agent_engine *e, agent_id id, const agent_part *parts, size_t n, int lane)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_submit(e, id, parts, n, lane);
    agenti_line_call(&l, e, "submit", id);
    agenti_line_i64(&l, "lane", lane);
    agenti_line_parts(&l, parts, n);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_submit(e, id, parts, n, lane));
}
AGENTDEF int agent_cancel(agent_engine *e, agent_id id)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_cancel(e, id);
    agenti_line_call(&l, e, "cancel", id);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_cancel(e, id));
}
AGENTDEF int agent_stop(agent_engine *e, agent_id id, int when)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_stop(e, id, when);
    agenti_line_call(&l, e, "stop", id);
    agenti_line_i64(&l, "when", when);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_stop(e, id, when));
}
AGENTDEF int agent_retry(agent_engine *e, agent_id id, int what)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_retry(e, id, what);
    agenti_line_call(&l, e, "retry", id);
    agenti_line_i64(&l, "what", what);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_retry(e, id, what));
}
AGENTDEF int agent_queue_cancel(agent_engine *e, agent_id id, uint32_t item)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_queue_cancel(e, id, item);
    agenti_line_call(&l, e, "queue_cancel", id);
    agenti_line_num(&l, "item", item);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_queue_cancel(e, id, item));
}
AGENTDEF int agent_queue_move(agent_engine *e, agent_id id, uint32_t item, int lane, uint32_t before)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_queue_move(e, id, item, lane, before);
    agenti_line_call(&l, e, "queue_move", id);
    agenti_line_num(&l, "item", item);
    agenti_line_i64(&l, "lane", lane);
    agenti_line_num(&l, "before", before);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_queue_move(e, id, item, lane, before));
}
AGENTDEF int agent_message_add(agent_engine *e, agent_id id, int role, const agent_part *parts, size_t n)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_message_add(e, id, role, parts, n);
    agenti_line_call(&l, e, "message_add", id);
    agenti_line_i64(&l, "role", role);
    agenti_line_parts(&l, parts, n);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_message_add(e, id, role, parts, n));
}
AGENTDEF int agent_message_cut(agent_engine *e, agent_id id, agent_num msg)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_message_cut(e, id, msg);
    agenti_line_call(&l, e, "message_cut", id);
    agenti_line_num(&l, "msg", msg);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_message_cut(e, id, msg));
}
AGENTDEF int agent_regenerate(agent_engine *e, agent_id id)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_regenerate(e, id);
    agenti_line_call(&l, e, "regenerate", id);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_regenerate(e, id));
}
#ifndef AGENT_NO_IMPORT
AGENTDEF int agent_import(agent_engine *e, agent_id id, const char *wire, const char *json, size_t n, agent_json_error *err)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_import(e, id, wire, json, n, err);
    agenti_line_call(&l, e, "import", id);
    agenti_line_text(&l, "wire", wire);
    agenti_line_str(&l, "text", agenti_given(json, n));
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_import(e, id, wire, json, n, err));
}
AGENTDEF int agent_export(agent_engine *e, agent_id id, const char *wire, agent_str *out)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_export(e, id, wire, out);
    agenti_line_call(&l, e, "export", id);
    agenti_line_text(&l, "wire", wire);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_export(e, id, wire, out));
}
#endif
AGENTDEF int agent_tick(agent_engine *e, uint64_t mono_ms, uint64_t wall_ms)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_tick(e, mono_ms, wall_ms);
    agenti_line_call(&l, e, "tick", 0);
    agenti_line_num(&l, "mono_ms", mono_ms);
    agenti_line_num(&l, "wall_ms", wall_ms);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_tick(e, mono_ms, wall_ms));
}
AGENTDEF int agent_opened(agent_engine *e, agent_id id, int via, void *user)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_opened(e, id, via, user);
    agenti_line_call(&l, e, "opened", id);
    agenti_line_i64(&l, "via", via);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_opened(e, id, via, user));
}
AGENTDEF int agent_failed(agent_engine *e, agent_id id, int why, const char *detail, size_t n)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_failed(e, id, why, detail, n);
    agenti_line_call(&l, e, "failed", id);
    agenti_line_i64(&l, "why", why);
    agenti_line_str(&l, "text", agenti_given(detail, n));
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_failed(e, id, why, detail, n));
}
AGENTDEF int agent_eof(agent_engine *e, agent_id id)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_eof(e, id);
    agenti_line_call(&l, e, "eof", id);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_eof(e, id));
}
AGENTDEF int agent_http_head(agent_engine *e, agent_id id, int status, const char *lines, size_t n)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_http_head(e, id, status, lines, n);
    agenti_line_call(&l, e, "http_head", id);
    agenti_line_i64(&l, "status", status);
    agenti_line_str(&l, "text", agenti_given(lines, n));
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_http_head(e, id, status, lines, n));
}
AGENTDEF int agent_send_ack(agent_engine *e, agent_id id, size_t n)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_send_ack(e, id, n);
    agenti_line_call(&l, e, "send_ack", id);
    agenti_line_num(&l, "n", n);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_send_ack(e, id, n));
}
AGENTDEF int agent_send_rewind(agent_engine *e, agent_id id)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_send_rewind(e, id);
    agenti_line_call(&l, e, "send_rewind", id);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_send_rewind(e, id));
}
#ifndef AGENT_NO_SIGN
AGENTDEF int agent_sign(agent_engine *e, agent_id id, const char *lines, size_t n)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_sign(e, id, lines, n);
    agenti_line_call(&l, e, "sign", id);
    agenti_line_headers(&l, "headers", agenti_given(lines, n), agenti_str(NULL, 0), agenti_str(NULL, 0));
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_sign(e, id, lines, n));
}
#endif
AGENTDEF int agent_decline(agent_engine *e, const agent_event *need)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_decline(e, need);
    agenti_line_call(&l, e, "decline", need ? need->session : 0);
    if (need) {
        agenti_line_num(&l, "type", need->type);
        agenti_line_num(&l, "peer", need->peer);
        agenti_line_num(&l, "conn", need->conn);
        agenti_line_num(&l, "of", need->call);
        agenti_line_num(&l, "need", need->need);
    } else agenti_line_num(&l, "none", 1);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_decline(e, need));
}
AGENTDEF int agent_tool_update(agent_engine *e, agent_id id, agent_num call, const char *title, size_t n)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_tool_update(e, id, call, title, n);
    agenti_line_call(&l, e, "tool_update", id);
    agenti_line_num(&l, "of", call);
    agenti_line_str(&l, "text", agenti_given(title, n));
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_tool_update(e, id, call, title, n));
}
AGENTDEF int agent_tool_append(agent_engine *e, agent_id id, agent_num call, const char *out, size_t n)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_tool_append(e, id, call, out, n);
    agenti_line_call(&l, e, "tool_append", id);
    agenti_line_num(&l, "of", call);
    agenti_line_str(&l, "text", agenti_given(out, n));
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_tool_append(e, id, call, out, n));
}
AGENTDEF int agent_tool_done(agent_engine *e, agent_id id, agent_num call, int status)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_tool_done(e, id, call, status);
    agenti_line_call(&l, e, "tool_done", id);
    agenti_line_num(&l, "of", call);
    agenti_line_i64(&l, "status", status);
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_tool_done(e, id, call, status));
}
AGENTDEF int agent_tool_result(agent_engine *e, agent_id id, agent_num call, const char *out, size_t n)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_tool_result(e, id, call, out, n);
    agenti_line_call(&l, e, "tool_result", id);
    agenti_line_num(&l, "of", call);
    agenti_line_str(&l, "text", agenti_given(out, n));
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_tool_result(e, id, call, out, n));
}
#ifndef AGENT_NO_DECODE
AGENTDEF agent_id agent_decode(agent_engine *e, const char *wire, int via, void *user)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_decode(e, wire, via, user);
    agenti_line_call(&l, e, "decode", 0);
    agenti_line_text(&l, "wire", wire);
    agenti_line_i64(&l, "via", via);
    agenti_line_go(&l);
    return agenti_line_id(&l, agenti_do_decode(e, wire, via, user));
}
#endif
#ifndef AGENT_NO_SAVE
AGENTDEF int agent_load(agent_engine *e, agent_id id, const void *bytes, size_t n)
{
    agenti_line l;
    if (e->record == NULL) return agenti_do_load(e, id, bytes, n);
    agenti_line_call(&l, e, "load", id);
    agenti_line_str(&l, "text", agenti_str((const char *)bytes, n));
    agenti_line_go(&l);
    return agenti_line_rc(&l, agenti_do_load(e, id, bytes, n));
}
#endif
#endif
#endif
#if defined AGENTI_LEAN && defined __clang__
#pragma clang diagnostic pop
#endif
