/* Connections: one byte stream each. Bytes in are read in place by HTTP and the answer; bytes out are a request's pieces. */
enum agenti_conn_state {
    AGENTI_CONN_NEW,                          /* OPEN is to come                                                        */
    AGENTI_CONN_OPENING,                      /* the host was asked                                                     */
    AGENTI_CONN_OPEN,                         /* an exchange is going on                                                */
    AGENTI_CONN_DRAIN,                        /* its answer is over; the rest of the message is read and dropped        */
    AGENTI_CONN_IDLE,                         /* may be used again                                                      */
    AGENTI_CONN_CLOSING,                      /* CLOSE is to come                                                       */
    AGENTI_CONN_GONE                          /* CLOSE was made; only the host's reservation is left                    */
};
typedef struct agenti_exchange {              /* whose request this is, as far as events need it                        */
    agent_id session;
    void *user;
    uint64_t *seq;                            /* counts its events                                                      */
    agenti_nums *nums;
    agenti_ready *ready;                      /* woken when the answer is over                                          */
    agenti_answer *answer;
} agenti_exchange;
typedef struct agenti_decode {                /* the owner of a decode-only connection's answers                        */
    agenti_ready ready;
    struct agenti_conn *c;
    agenti_answer answer;
    agenti_nums nums;
    uint64_t seq;
    uint32_t answers;                         /* that are over                                                          */
    uint8_t said;                             /* STEP_END or ERROR of this answer was shown                             */
} agenti_decode;
typedef struct agenti_conn {
    agenti_ready ready;
    agent_engine *e;
    agenti_peer *peer;                        /* NULL: decode-only                                                      */
    char *in; size_t cap, r, w, reserved;
    size_t span, span_n;                      /* body bytes in `in` that HTTP has passed and the answer has not read    */
    int state, via, why;
    uint8_t sign;                             /* AGENTI_SIGN_                                                           */
    uint8_t need_open, need_over, send;       /* the SIGN or OPEN need waits; NEED_DONE, SEND are to come               */
    uint8_t eof, failed;                      /* told by the host                                                       */
    uint8_t more;                             /* HTTP may have something to say without further bytes                   */
    uint8_t got_byte, got_head, message_over, over;   /* of this exchange; over: its owner knows                         */
    uint8_t skip_message;                     /* the rest of the last message comes before this exchange's              */
    uint8_t reused, stale, doubled;
    uint8_t unopened;                         /* closing, and OPEN never came: no CLOSE comes                           */
    agent_id id;
    agent_num need, run, step;
    agenti_exchange x;                        /* x.answer NULL: none                                                    */
    agenti_decode *decode;
    void *user;
#ifndef AGENT_NO_RECORD
    size_t secret_run;                        /* so many bytes of a key's beginning are the last that were recorded      */
#endif
    agenti_text detail;                       /* of agent_failed                                                        */
    agent_http http;
    agenti_buf head;                          /* HTTP's                                                                 */
    agenti_buf lines;                         /* header lines for agent_open_header, "name\0value\0"                    */
    const char *method;                       /* and URL, of the request                                                */
    uint64_t drain_until, began_at;           /* began: when the host was asked, then when it is open                   */
    struct agenti_conn *next, *prev;          /* draining, idle at the peer, or pinned                                  */
    agenti_ready *waiter;                     /* woken when it drains no more, or is gone                               */
    agenti_out out;
    agenti_text url;
} agenti_conn;
enum { AGENTI_DRAIN_MS = 1000 };
enum { AGENTI_SIGN_NONE, AGENTI_SIGN_ASK, AGENTI_SIGN_ASKED };         /* the request is to be signed before it is sent          */

AGENTI_FN agenti_conn *agenti_conn_get(const agent_engine *, agent_id);
AGENTI_FN int  agenti_via_ok(int via);
AGENTI_FN agenti_conn *agenti_conn_new(agent_engine *, agenti_peer *);         /* NULL: no memory, or agent_last         */
AGENTI_FN void agenti_conn_free(agenti_conn *);                                /* pins it while a reservation is out      */
AGENTI_FN void agenti_conn_unpin(agenti_conn *);                               /* the reservation came back              */
AGENTI_FN agenti_conn *agenti_conn_reuse(agenti_peer *);                       /* an idle one, no longer idle            */
AGENTI_FN agenti_conn *agenti_conn_leaving(agent_engine *);                    /* one whose CLOSE will make room, or NULL */
AGENTI_FN int  agenti_conn_head_write(agenti_conn *, const char *method, const char *path);    /* when body and header lines are written. 0: no memory */
AGENTI_FN void agenti_conn_begin(agenti_conn *, const agenti_exchange *, agent_num run, agent_num step);
AGENTI_FN void agenti_conn_again(agenti_conn *, const agenti_exchange *);      /* decode-only: the next answer           */
AGENTI_FN void agenti_conn_abort(agenti_conn *);                               /* its owner wants no more of it          */
AGENTI_FN void agenti_conn_drain(agenti_conn *);                               /* the answer is over, its bytes may not be */
AGENTI_FN void agenti_conn_orphan(agenti_conn *);                              /* its peer goes                          */
AGENTI_FN void agenti_conn_time(agent_engine *);                               /* closes what drained too long           */
AGENTI_FN void agenti_conn_open_fill(const agenti_conn *, agent_event *);      /* what OPEN says                         */
AGENTI_FN agent_event *agenti_conn_sign(agenti_conn *, agent_event *);         /* whose event it is                      */
AGENTI_FN int  agenti_conn_pump(agenti_conn *);                                /* 1: an event was made, -1: it is freed  */
/* Its commonest turn, first of all: the event before once more, with another text. 1: its event was made; 0: agenti_conn_pump */
AGENTI_FN int  agenti_conn_repeats(agenti_conn *);

/* What the public calls of the same names do; the calls themselves are in record.c.                                     */
AGENTI_FN int agenti_do_feed(agent_engine *e, agent_id id, const void *p, size_t n, size_t *taken);
AGENTI_FN void *agenti_do_recv_buf(agent_engine *e, agent_id id, size_t *cap);
AGENTI_FN int agenti_do_recv_ack(agent_engine *e, agent_id id, size_t n);
AGENTI_FN int agenti_do_eof(agent_engine *e, agent_id id);
AGENTI_FN int agenti_do_failed(agent_engine *e, agent_id id, int why, const char *detail, size_t n);
AGENTI_FN int agenti_do_opened(agent_engine *e, agent_id id, int via, void *user);
AGENTI_FN int agenti_do_http_head(agent_engine *e, agent_id id, int status, const char *lines, size_t n);
AGENTI_FN int agenti_do_send_ack(agent_engine *e, agent_id id, size_t n);
AGENTI_FN int agenti_do_send_rewind(agent_engine *e, agent_id id);
#ifndef AGENT_NO_SIGN
AGENTI_FN int agenti_do_sign(agent_engine *e, agent_id id, const char *lines, size_t n);
#endif

#if !defined AGENTI_SPLIT || defined AGENTI_PART_CONN
AGENTI_FN agenti_conn *agenti_conn_get(const agent_engine *e, agent_id id) { return (agenti_conn *)agenti_id_get(e, id, AGENTI_CONN); }
AGENTI_FN int agenti_via_ok(int via)
{
#ifdef AGENT_NO_HTTP1
    return via == AGENT_VIA_HTTP;
#else
    return via == AGENT_VIA_BYTES || via == AGENT_VIA_HTTP;
#endif
}
AGENTI_FN agenti_conn *agenti_conn_new(agent_engine *e, agenti_peer *peer)
{
    agenti_conn *c = (agenti_conn *)agenti_get(&e->pool, sizeof *c);
    if (c == NULL) { e->last = "out of memory"; return NULL; }
    c->e = e;
    c->peer = peer;
    c->ready.owner = c;
    agenti_buf_init(&c->head, &e->pool);
    agenti_buf_init(&c->lines, &e->pool);
    agenti_out_init(&c->out, &e->pool);
    agent_http_init(&c->http, NULL, 0);
    if ((c->id = agenti_id_new(e, AGENTI_CONN, c)) == 0) { agenti_put(&e->pool, c, sizeof *c); return NULL; }
    return c;
}
static void agenti_conn_unlink(agenti_conn *c)
{
    agent_engine *e = c->e;
    if (c->state == AGENTI_CONN_DRAIN && c->peer) {
        if (c->prev) c->prev->next = c->next; else e->drain_first = c->next;
        if (c->next) c->next->prev = c->prev; else e->drain_last = c->prev;
    } else if (c->state == AGENTI_CONN_IDLE) {
        if (c->prev) c->prev->next = c->next; else c->peer->idle = c->next;
        if (c->next) c->next->prev = c->prev;
    } else if (c->state == AGENTI_CONN_GONE) {
        if (c->prev) c->prev->next = c->next; else e->pinned_first = c->next;
        if (c->next) c->next->prev = c->prev; else e->pinned_last = c->prev;
    }
    c->next = c->prev = NULL;
}
/* A read may still be going on: the buffer, and what finds it by the dead id, wait for agent_recv_ack.                  */
static void agenti_conn_pin(agenti_conn *c)
{
    c->state = AGENTI_CONN_GONE;
    c->prev = c->e->pinned_last;
    if (c->prev) c->prev->next = c; else c->e->pinned_first = c;
    c->e->pinned_last = c;
}
static agenti_conn *agenti_conn_pinned(const agent_engine *e, agent_id id)
{
    agenti_conn *c = e->pinned_first;         /* reads mostly end in the order of the CLOSEs                            */
    while (c && c->id != id) c = c->next;
    return c;
}
AGENTI_FN void agenti_conn_unpin(agenti_conn *c)
{
    agenti_conn_unlink(c);
    agenti_blob_put(c->in);
    agenti_put(&c->e->pool, c, sizeof *c);
}
static void agenti_conn_state_set(agenti_conn *c, int state)
{
    agenti_conn_unlink(c);
    if (c->waiter) { agenti_wake(&c->e->sessions, c->waiter); c->waiter = NULL; }
    c->state = state;
    agenti_wake(&c->e->conns, &c->ready);
}
static void agenti_conn_request_drop(agenti_conn *c)
{
    agenti_out_free(&c->out);
    if (c->lines.p) agenti_wipe(c->lines.p, c->lines.n);
    agenti_buf_free(&c->lines);
}
AGENTI_FN void agenti_conn_free(agenti_conn *c)
{
    agent_engine *e = c->e;
    agenti_conn_unlink(c);
    agenti_sleep(&c->ready);
    if (c->waiter) agenti_wake(&e->sessions, c->waiter);
    agenti_conn_request_drop(c);
    if (c->decode) {
        agenti_sleep(&c->decode->ready);
        agenti_answer_free(&c->decode->answer);
        agenti_put(&e->pool, c->decode, sizeof *c->decode);
    }
    agenti_buf_free(&c->head);
    agenti_text_free(&c->detail, &e->graves);
    agenti_text_free(&c->url, &e->graves);
    agenti_id_free(e, c->id);
    if (c->reserved) { agenti_conn_pin(c); return; }
    agenti_blob_bury(&e->graves, c->in);
    agenti_put(&e->pool, c, sizeof *c);
}
AGENTI_FN agenti_conn *agenti_conn_reuse(agenti_peer *p)
{
    agenti_conn *c = p->idle;
    while (c && (c->eof || c->failed || c->r < c->w)) c = c->next;        /* that one is to close                         */
    if (c) agenti_conn_state_set(c, AGENTI_CONN_OPEN);
    return c;
}
/* Under limits.conns one that closes already is waited for, else one has to go that is of no more use, or idle.         */
AGENTI_FN agenti_conn *agenti_conn_leaving(agent_engine *e)
{
    agenti_conn *idle = NULL, *c;
    uint32_t i;
    for (i = 0; i < e->slots[AGENTI_CONN].n; i++) {
        c = (agenti_conn *)e->slots[AGENTI_CONN].p[i].p;
        if (c == NULL) continue;
        if (c->state == AGENTI_CONN_CLOSING && c->waiter == NULL) return c;
        if (c->state == AGENTI_CONN_IDLE || (c->state == AGENTI_CONN_DRAIN && c->peer && c->via == AGENT_VIA_HTTP)) idle = c;
    }
    if (idle) agenti_conn_state_set(idle, AGENTI_CONN_CLOSING);
    return idle;
}
static void agenti_http_line(agenti_buf *b, agent_str name, agent_str value)
{
    agenti_buf_add(b, name.p, name.n);
    agenti_buf_str(b, ": ");
    agenti_buf_add(b, value.p, value.n);
    agenti_buf_str(b, "\r\n");
}
static int agenti_target(agenti_buf *b, const agenti_url *u, const char *path)         /* "=/path" stands for the host's own    */
{
    agenti_url root = *u;
    if (path[0] != '=') return agenti_url_join(b, u, path);
    root.path.n = 0;
    return agenti_url_join(b, &root, path + 1);
}
/* Request line and headers, RFC 9112 section 3.                                                                        */
static int agenti_conn_head_lines(agenti_conn *c, const char *method, const char *path)
{
#ifdef AGENT_NO_HTTP1
    (void)c;
    (void)method;
    (void)path;
    return 1;
#else
    const agenti_url *u = &c->peer->url;
    agenti_buf *b = &c->out.head;
    agent_str name, value;
    char number[24];
    size_t i;
    int ok;
    agenti_buf_str(b, method);
    agenti_buf_str(b, " ");
    ok = agenti_target(b, u, path);
    agenti_buf_str(b, " HTTP/1.1\r\n");
    if (!agenti_header_given(c->peer, "host")) agenti_http_line(b, agenti_cstr("host"), u->authority);
    for (i = 0; agent_open_header(c->e, c->id, i, &name, &value) == AGENT_OK; i++) agenti_http_line(b, name, value);
    if (c->out.body_len) agenti_http_line(b, agenti_cstr("content-length"), agenti_str(number, agenti_u64_text(c->out.body_len, number)));
    agenti_buf_str(b, "\r\n");
    return ok;
#endif
}
/* And the URL for hosts that speak HTTP.                                                                               */
AGENTI_FN int agenti_conn_head_write(agenti_conn *c, const char *method, const char *path)
{
    const agenti_url *u = &c->peer->url;
    agenti_buf url;
    int ok;
    c->method = method;
    agenti_buf_init(&url, &c->e->pool);
    agenti_buf_str(&url, u->tls ? "https://" : "http://");
    agenti_buf_add(&url, u->authority.p, u->authority.n);
    ok = agenti_target(&url, u, path);
    (void)agenti_buf_room(&c->out.head, 2 * url.n + 2 * c->lines.n + 128);    /* all of it: the key is not left behind by growing */
    ok = ok && agenti_conn_head_lines(c, method, path) && !url.bad && agenti_text_set(&c->url, &c->e->pool, &c->e->graves, agenti_str(url.p, url.n));
    agenti_buf_free(&url);
    return ok;
}
AGENTI_FN void agenti_conn_begin(agenti_conn *c, const agenti_exchange *x, agent_num run, agent_num step)
{
    c->x = *x;
    c->run = run;
    c->step = step;
    c->got_byte = c->got_head = c->message_over = c->over = c->stale = 0;
    c->began_at = c->e->now;
    agent_http_expect(&c->http, 0);
    c->sign = c->peer->signs ? AGENTI_SIGN_ASK : AGENTI_SIGN_NONE;
    if (c->state == AGENTI_CONN_OPEN) {       /* used again                                                             */
        c->reused = 1;
        c->send = !c->sign;
        if (!c->sign) agenti_out_start(&c->out, 1);
    }
    agenti_wake(&c->e->conns, &c->ready);
}
AGENTI_FN void agenti_conn_again(agenti_conn *c, const agenti_exchange *x)
{
    c->x = *x;
    c->skip_message = !c->message_over;
    c->got_byte = c->got_head = c->message_over = c->over = 0;
    c->span_n = 0;
    if (!c->skip_message) agent_http_expect(&c->http, 0);
    agenti_wake(&c->e->conns, &c->ready);
}
/* Its owner may be gone before the CLOSE: only what the event shows of it stays.                                       */
static void agenti_conn_forget(agenti_conn *c)
{
    c->x.answer = NULL;
    c->x.ready = NULL;
    c->x.seq = NULL;
    c->x.nums = NULL;
    c->span_n = 0;
    c->send = c->sign = 0;
    agenti_conn_request_drop(c);
}
AGENTI_FN void agenti_conn_abort(agenti_conn *c)
{
    agenti_conn_forget(c);
    if (c->state == AGENTI_CONN_NEW && !c->need_open && !c->need_over) { agenti_conn_free(c); return; }
    c->unopened = c->state == AGENTI_CONN_NEW;
    if (c->need_open) { c->need_open = 0; c->need_over = 1; }
    agenti_conn_state_set(c, AGENTI_CONN_CLOSING);
}
AGENTI_FN void agenti_conn_drain(agenti_conn *c)
{
    size_t left;
    int all_sent = c->out.pool == NULL || agenti_out_bytes(&c->out, &left) == NULL;
    int last = c->http.framing == AGENT_HTTP_UNTIL_CLOSE || (c->peer && !c->http.keep_alive);         /* nothing follows     */
    agenti_conn_forget(c);
    if (c->eof || c->failed || c->http.error || !all_sent || (c->via == AGENT_VIA_BYTES && !c->message_over && last)) {
        agenti_conn_state_set(c, AGENTI_CONN_CLOSING);
        return;
    }
    agenti_conn_state_set(c, AGENTI_CONN_DRAIN);
    if (c->peer == NULL) return;
    c->drain_until = c->e->now + AGENTI_DRAIN_MS;
    c->prev = c->e->drain_last;
    if (c->prev) c->prev->next = c; else c->e->drain_first = c;
    c->e->drain_last = c;
}
AGENTI_FN void agenti_conn_orphan(agenti_conn *c)
{
    if (c->state != AGENTI_CONN_CLOSING) agenti_conn_state_set(c, AGENTI_CONN_CLOSING);
    if (c->x.session == 0) c->x.user = c->peer->user;
    c->peer = NULL;
}
AGENTI_FN void agenti_conn_time(agent_engine *e)
{
    while (e->drain_first && e->drain_first->drain_until <= e->now) agenti_conn_state_set(e->drain_first, AGENTI_CONN_CLOSING);
}
static void agenti_conn_idle(agenti_conn *c)
{
    agenti_conn_state_set(c, AGENTI_CONN_IDLE);
    memset(&c->x, 0, sizeof c->x);
    c->run = c->step = 0;
    c->next = c->peer->idle;
    if (c->next) c->next->prev = c;
    c->peer->idle = c;
}

/* ---- bytes in ---- */
static size_t agenti_conn_base(const agenti_conn *c) { return c->span_n ? c->span : c->r; }
/* Moves what is unread to the front. Ops that wait may point into the buffer, and the host into its reservation.        */
static void agenti_conn_pack(agenti_conn *c)
{
    size_t base = agenti_conn_base(c);
    if (c->reserved || base == 0 || (c->x.answer && c->x.answer->d.op_n)) return;
    if (c->w > base) { memmove(c->in, c->in + base, c->w - base); AGENTI_TOUCH(c->w - base); }
    c->w -= base;
    c->r -= base;
    c->span -= c->span_n ? base : c->span;
}
/* Makes the room behind w at least n if the limit allows it. 0: no memory.                                              */
static int agenti_conn_room(agenti_conn *c, size_t n)
{
    size_t cap = c->cap, most = c->e->lim.recv;
    char *p;
    if (c->cap - c->w < n) agenti_conn_pack(c);
    if (c->cap - c->w >= n || c->cap >= most || c->reserved || (c->x.answer && c->x.answer->d.op_n)) return 1;
    if (cap < 1024) cap = most < 1024 ? most : 1024;
    while (cap < most && cap - c->w < n) cap = cap > most / 2 ? most : cap * 2;
    p = agenti_blob_resize(&c->e->pool, c->in, cap);
    if (p == NULL) return 0;
    c->in = p;
    c->cap = cap;
    return 1;
}
static const char *agenti_conn_may_read(const agenti_conn *c)
{
    if (c->state != AGENTI_CONN_OPEN && c->state != AGENTI_CONN_DRAIN && c->state != AGENTI_CONN_IDLE) return "the connection is not open";
    if (c->eof || c->failed) return "the stream has ended";
    return NULL;
}
AGENTI_FN int agenti_do_feed(agent_engine *e, agent_id id, const void *p, size_t n, size_t *taken)
{
    agenti_conn *c = agenti_conn_get(e, id);
    const char *why;
    size_t room;
    if (taken) *taken = 0;
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if ((why = agenti_conn_may_read(c)) != NULL) return agenti_say(e, AGENT_E_STATE, why);
    if (c->reserved) return agenti_say(e, AGENT_E_STATE, "a reservation is open");
    if (n == 0) return AGENT_OK;
    if (!agenti_conn_room(c, n)) return agenti_say(e, AGENT_E_NOMEM, "out of memory");
    room = c->cap - c->w;
    if (n > room) {
        if (taken == NULL || room == 0) return agenti_say(e, AGENT_E_FULL, "the connection's buffer is full: drain agent_next");
        n = room;
    }
    memcpy(c->in + c->w, p, n);
    AGENTI_TOUCH(n);
    c->w += n;
    if (taken) *taken = n;
    agenti_wake(&e->conns, &c->ready);
    return AGENT_OK;
}
AGENTI_FN void *agenti_do_recv_buf(agent_engine *e, agent_id id, size_t *cap)
{
    agenti_conn *c = agenti_conn_get(e, id);
    size_t want;
    *cap = 0;
    if (c == NULL) { e->last = "no such connection"; return NULL; }
    if ((e->last = agenti_conn_may_read(c)) != NULL) return NULL;
    if (c->reserved) { *cap = c->reserved; return c->in + c->w; }
    want = c->w - agenti_conn_base(c);        /* mostly the beginning of an event that waits for its end                */
    want = c->doubled ? c->cap * 2 - c->w : want < 2048 ? 4096 - want : 4096;
    if (!agenti_conn_room(c, want) && c->cap == c->w) { e->last = "out of memory"; return NULL; }
    if (c->cap == c->w) { e->last = "the connection's buffer is full: drain agent_next"; return NULL; }
    c->reserved = *cap = c->cap - c->w;
    return c->in + c->w;
}
AGENTI_FN int agenti_do_recv_ack(agent_engine *e, agent_id id, size_t n)
{
    agenti_conn *c = agenti_conn_get(e, id);
    if (c == NULL) c = agenti_conn_pinned(e, id);
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (c->reserved == 0) return agenti_say(e, AGENT_E_STATE, "nothing is reserved");
    if (n > c->reserved) return agenti_say(e, AGENT_E_ARG, "more than was reserved");
    if (c->state == AGENTI_CONN_GONE) { agenti_conn_unpin(c); return AGENT_OK; }
    c->doubled = n == c->reserved && c->cap < c->e->lim.recv;
    c->reserved = 0;
    c->w += n;
    if (n) agenti_wake(&e->conns, &c->ready);
    return AGENT_OK;
}
AGENTI_FN int agenti_do_eof(agent_engine *e, agent_id id)
{
    agenti_conn *c = agenti_conn_get(e, id);
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (c->state < AGENTI_CONN_OPEN) return agenti_say(e, AGENT_E_STATE, "the connection is not open");
    c->eof = 1;
    agenti_wake(&e->conns, &c->ready);
    return AGENT_OK;
}
AGENTI_FN int agenti_do_failed(agent_engine *e, agent_id id, int why, const char *detail, size_t n)
{
    agenti_conn *c = agenti_conn_get(e, id);
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (c->state == AGENTI_CONN_CLOSING || c->eof || c->failed) return AGENT_OK;
    n = agenti_len(detail, n);
    if (n > 512) n = 512;
    if (n && agenti_text_set(&c->detail, &e->pool, &e->graves, agenti_str(detail, n))) agenti_text_scrub(&c->detail);
    c->failed = 1;
    c->why = why;
    if (c->need_open) { c->need_open = 0; c->need_over = 1; }
    agenti_wake(&e->conns, &c->ready);
    return AGENT_OK;
}
AGENTI_FN int agenti_do_opened(agent_engine *e, agent_id id, int via, void *user)
{
    agenti_conn *c = agenti_conn_get(e, id);
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (c->state != AGENTI_CONN_OPENING || c->failed) return agenti_say(e, AGENT_E_STATE, "the connection is not waiting to be opened");
    if (!agenti_via_ok(via)) return agenti_say(e, AGENT_E_ARG, "via is neither bytes nor HTTP");
    c->via = via;
    c->user = user;
    c->began_at = e->now;
    if (c->x.ready) agenti_wake(&e->sessions, c->x.ready);   /* another time counts now                                 */
    c->need_open = 0;
    c->need_over = 1;
    agenti_conn_state_set(c, AGENTI_CONN_OPEN);
    agenti_out_start(&c->out, via == AGENT_VIA_BYTES);
    return AGENT_OK;
}
AGENTI_FN int agenti_do_http_head(agent_engine *e, agent_id id, int status, const char *lines, size_t n)
{
    agenti_conn *c = agenti_conn_get(e, id);
    agent_str rest, name, value;
    agenti_buf *b;
    int rc;
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (c->via != AGENT_VIA_HTTP || c->state < AGENTI_CONN_OPEN || c->got_head) return agenti_say(e, AGENT_E_STATE, "no answer's head is awaited");
    if (c->got_byte || c->r < c->w) return agenti_say(e, AGENT_E_STATE, "the body has begun");
    if (status < 200 || status > 999) return agenti_say(e, AGENT_E_ARG, "no final HTTP status");
    n = agenti_len(lines, n);
    if (n > e->lim.head) return agenti_say(e, AGENT_E_LIMIT, "the head is longer than limits.head");
    b = &c->head;
    b->n = 0;
    rest = agenti_str(lines, n);
    while ((rc = agenti_header_line(&rest, &name, &value)) != 0) {
        size_t i;
        if (rc < 0) continue;                 /* a status line                                                          */
        for (i = 0; i < name.n; i++) { char k = agenti_lower(name.p[i]); agenti_buf_add(b, &k, 1); }
        agenti_buf_add(b, ": ", 2);
        agenti_buf_add(b, value.p, value.n);
        agenti_buf_add(b, "\n", 1);
    }
    if (b->bad) { agenti_buf_free(b); return agenti_say(e, AGENT_E_NOMEM, "out of memory"); }
    c->got_head = 1;
    c->http.status = status;
    agenti_wake(&e->conns, &c->ready);
    return AGENT_OK;
}

/* ---- bytes out ---- */
static int agenti_conn_sends(const agenti_conn *c)           /* to the peer, or to the host that signs it               */
{
    return c && !c->failed && c->out.stage && (c->sign ? c->sign == AGENTI_SIGN_ASKED : c->state == AGENTI_CONN_OPEN);
}
AGENTDEF const void *agent_send_buf(const agent_engine *e, agent_id id, size_t *n)
{
    const agenti_conn *c = agenti_conn_get(e, id);
    *n = 0;
    return agenti_conn_sends(c) ? agenti_out_bytes(&c->out, n) : NULL;
}
AGENTI_FN int agenti_do_send_ack(agent_engine *e, agent_id id, size_t n)
{
    agenti_conn *c = agenti_conn_get(e, id);
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (n == 0) return AGENT_OK;
    if (!agenti_conn_sends(c) || !agenti_out_sent(&c->out, n)) return agenti_say(e, AGENT_E_ARG, "more than agent_send_buf gave");
    return AGENT_OK;
}
AGENTI_FN int agenti_do_send_rewind(agent_engine *e, agent_id id)
{
    agenti_conn *c = agenti_conn_get(e, id);
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (!agenti_conn_sends(c) || c->got_head || c->got_byte) return agenti_say(e, AGENT_E_STATE, "the answer has begun");
    agenti_out_start(&c->out, !c->sign && c->via == AGENT_VIA_BYTES);
    return AGENT_OK;
}
AGENTDEF int agent_wants(const agent_engine *e, agent_id id)
{
    const agenti_conn *c = agenti_conn_get(e, id);
    size_t n;
    int wants = 0;
    if (c == NULL) return 0;
    if (agenti_conn_may_read(c) == NULL && (c->reserved || c->w - agenti_conn_base(c) < e->lim.recv)) wants |= AGENT_WANT_READ;
    if (!c->sign && agenti_conn_sends(c) && agenti_out_bytes(&c->out, &n)) wants |= AGENT_WANT_WRITE;
    return wants;
}
AGENTDEF int agent_open_header(const agent_engine *e, agent_id id, size_t i, agent_str *name, agent_str *value)
{
    const agenti_conn *c = agenti_conn_get(e, id);
    const char *p, *end;
    if (c == NULL) return AGENT_E_STALE;
    p = c->lines.p;
    end = p ? p + c->lines.n : p;
    while (p < end) {
        *name = agenti_cstr(p);
        *value = agenti_cstr(p + name->n + 1);
        if (i-- == 0) return AGENT_OK;
        p += name->n + value->n + 2;
    }
    return AGENT_E_ARG;
}

#ifndef AGENT_NO_SIGN
/* What holds secrets leaves nothing behind in freed memory.                                                            */
static void agenti_secret_free(agenti_buf *b)
{
    if (b->p) agenti_wipe(b->p, b->n);
    agenti_buf_free(b);
}
/* Two blocks as one. 0: no memory                                                                                      */
static int agenti_secret_join(agenti_buf *to, const agenti_buf *first, size_t cut, const agenti_buf *more, const char *end)
{
    size_t n;
    agenti_buf_init(to, first->pool);
    if (!agenti_add(first->n, more->n + 8, &n) || !agenti_buf_room(to, n)) return 0;
    agenti_buf_add(to, first->p, first->n - cut);
    agenti_buf_add(to, more->p, more->n);
    agenti_buf_str(to, end);
    return 1;
}
static void agenti_secret_swap(agenti_buf *a, agenti_buf *b)
{
    agenti_buf was = *a;
    *a = *b;
    *b = was;
}
/* The lines as agent_open_header and as HTTP have them. 0: no memory                                                    */
static int agenti_sign_lines(agenti_conn *c, agent_str lines)
{
    agenti_buf pairs, http, all, head;
    agent_str name, value;
    int ok;
    agenti_buf_init(&all, &c->e->pool);
    agenti_buf_init(&head, &c->e->pool);
    agenti_buf_init(&pairs, &c->e->pool);
    agenti_buf_init(&http, &c->e->pool);
    ok = agenti_buf_room(&pairs, lines.n + 2) && agenti_buf_room(&http, lines.n * 2 + 4);
    while (ok && agenti_header_line(&lines, &name, &value) > 0) {
        agenti_buf_add(&pairs, name.p, name.n);
        agenti_buf_add(&pairs, "", 1);
        agenti_buf_add(&pairs, value.p, value.n);
        agenti_buf_add(&pairs, "", 1);
        agenti_buf_add(&http, name.p, name.n);
        agenti_buf_str(&http, ": ");
        agenti_buf_add(&http, value.p, value.n);
        agenti_buf_str(&http, "\r\n");
    }
    ok = ok && !pairs.bad && !http.bad && agenti_secret_join(&head, &c->out.head, 2, &http, "\r\n") && agenti_secret_join(&all, &c->lines, 0, &pairs, "");
    if (ok) {
        agenti_secret_swap(&head, &c->out.head);
        agenti_secret_swap(&all, &c->lines);
    }
    agenti_secret_free(&head);
    agenti_secret_free(&all);
    agenti_secret_free(&pairs);
    agenti_secret_free(&http);
    return ok;
}
AGENTI_FN int agenti_do_sign(agent_engine *e, agent_id id, const char *lines, size_t n)
{
    agenti_conn *c = agenti_conn_get(e, id);
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (c->sign != AGENTI_SIGN_ASKED || !c->need_open) return AGENT_LATE;
    n = agenti_len(lines, n);
    if (n > e->lim.head || !agenti_headers_good(agenti_str(lines, n))) return agenti_say(e, AGENT_E_ARG, "no lines of Name: value");
    if (!agenti_sign_lines(c, agenti_str(lines, n))) return agenti_say(e, AGENT_E_NOMEM, "out of memory");
    c->sign = AGENTI_SIGN_NONE;
    c->need_open = 0;
    c->need_over = 1;
    c->send = c->reused;
    agenti_out_head(&c->out);
    agenti_out_start(&c->out, c->via == AGENT_VIA_BYTES);
    agenti_wake(&e->conns, &c->ready);
    return AGENT_OK;
}

#endif
/* ---- events ---- */
AGENTI_FN agent_event *agenti_conn_sign(agenti_conn *c, agent_event *ev)
{
    ev->conn = c->id;
    ev->session = c->x.session;
    ev->peer = c->peer ? c->peer->id : 0;
    ev->user = c->x.session ? c->x.user : c->peer ? c->peer->user : c->x.user;
    ev->run = c->run;
    ev->step = c->step;
    if (c->x.seq) ev->seq = ++*c->x.seq;
    return ev;
}
AGENTI_FN void agenti_conn_open_fill(const agenti_conn *c, agent_event *ev)
{
    ev->flags = AGENT_EVF_NEED;
    ev->need = c->need;
    ev->u.open.host = agenti_text_view(&c->peer->host);
    ev->u.open.method = agenti_cstr(c->method);
    ev->u.open.url = agenti_text_view(&c->url);
    ev->u.open.port = c->peer->url.port;
    ev->u.open.kind = AGENT_CONN_HTTP;
    ev->u.open.tls = c->peer->url.tls;
    ev->u.open.body_len = c->out.body_len;
    ev->u.open.timeout_ms = c->peer->connect_ms;
}
static void agenti_conn_shown(agenti_conn *c)
{
    agenti_answer *a = c->x.answer;
    if (!a->shown && c->x.ready) agenti_wake(&c->e->sessions, c->x.ready);       /* another time counts now             */
    a->shown = 1;
    a->shown_at = c->e->now;
    agenti_conn_sign(c, &c->e->ev);
}
static int agenti_conn_open_event(agenti_conn *c)
{
    c->need = ++c->x.nums->need;
    c->need_open = 1;
    agenti_conn_open_fill(c, agenti_conn_sign(c, agenti_event(c->e, c->sign ? AGENT_EV_SIGN : AGENT_EV_OPEN)));
    if (c->sign) {
        c->sign = AGENTI_SIGN_ASKED;
        agenti_out_start(&c->out, 0);
    } else c->state = AGENTI_CONN_OPENING;
    return 1;
}
static int agenti_conn_close_event(agenti_conn *c)
{
    agent_event *ev = agenti_conn_sign(c, agenti_event(c->e, AGENT_EV_CLOSE));
    ev->u.io.user = c->user;
    ev->u.io.why = c->why;
    agenti_conn_free(c);
    return 1;
}
static int agenti_conn_small_event(agenti_conn *c, int type)
{
    agent_event *ev = agenti_conn_sign(c, agenti_event(c->e, type));
    ev->need = type == AGENT_EV_NEED_DONE ? c->need : 0;
    if (type == AGENT_EV_SEND) ev->u.io.user = c->user;
    return 1;
}

/* ---- the answer ---- */
static void agenti_conn_nomem(agenti_conn *c)
{
    agenti_answer_drop(c->x.answer);
    agenti_answer_fault(c->x.answer, AGENT_FAULT_NOMEM, 0, "out of memory");
}
static void agenti_conn_syntax(agenti_conn *c)
{
    agenti_answer *a = c->x.answer;
    agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, c->http.error ? c->http.error : "no HTTP/1.1 answer");
    a->d.fault.offset = c->http.offset;
}
static int agenti_conn_head_grow(agenti_conn *c)
{
    size_t most = c->e->lim.head, more = c->http.cap < 512 ? 512 : c->http.cap;
    c->head.n = c->http.len;
    if (c->http.cap >= most) {
        agenti_answer_fault(c->x.answer, AGENT_FAULT_LIMIT, 0, "the head of the answer is longer than limits.head");
        return 1;
    }
    if (!agenti_buf_room(&c->head, c->http.cap - c->http.len + more)) return 0;
    c->http.buf = c->head.p;
    c->http.cap = c->head.cap - 1 < most ? c->head.cap - 1 : most;
    return 1;
}
/* Unread bytes that this agent_next may still look at.                                                                 */
static size_t agenti_conn_share(const agenti_conn *c)
{
    size_t n = c->w - c->r, scanned = c->e->scanned, most = c->e->lim.scan_per_next;
    return scanned >= most ? 0 : n < most - scanned ? n : most - scanned;
}
#ifndef AGENT_NO_HTTP1
/* The commonest step of HTTP/1.1: a run of body bytes. 0: it is none, nothing has changed.                              */
static int agenti_conn_run(agenti_conn *c)
{
    size_t used = agenti_http_run(&c->http, c->in + c->r, agenti_conn_share(c), &c->span_n);
    if (used == 0) return 0;
    c->more = 0;
    c->e->scanned += used;
    c->r += used;
    c->span = c->r - c->span_n;
    return 1;
}
/* One step of HTTP/1.1: a head, a run of body bytes, an end. 0: no memory.                                              */
static int agenti_conn_http(agenti_conn *c)
{
    agent_http_event ev;
    size_t used;
    int rc;
    if (!c->skip_message && agenti_conn_run(c)) return 1;
    rc = agent_http_next(&c->http, c->in + c->r, agenti_conn_share(c), &used, &ev);
    if (used) c->got_byte = 1;
    c->more = rc == AGENT_OK;
    c->e->scanned += used;
    c->r += used;
    if (rc == AGENT_E_SYNTAX) { agenti_conn_syntax(c); return 1; }
    if (rc == AGENT_E_FULL) return agenti_conn_head_grow(c);
    if (rc != AGENT_OK) return 1;
    if (c->skip_message) {                    /* what the last answer left unread                                       */
        if (ev.kind != AGENT_HTTP_END) return 1;
        c->skip_message = c->got_byte = 0;
        agent_http_expect(&c->http, 0);
        return 1;
    }
    if (ev.kind == AGENT_HTTP_HEAD) { c->got_head = 1; return agenti_answer_head(c->x.answer, ev.status, ev.headers); }
    if (ev.kind == AGENT_HTTP_BODY) {
        c->span = (size_t)(ev.body.p - c->in);
        c->span_n = ev.body.n;
    } else if (ev.kind == AGENT_HTTP_END) {
        c->message_over = 1;
        agenti_answer_end(c->x.answer);
    }
    return 1;
}
/* The same, with body bytes that wait: those that come are joined to them, over the framing between. `run`: that step alone. */
static int agenti_conn_http_join(agenti_conn *c, int run)
{
    size_t at = c->span, n = c->span_n;
    int ok;
    c->span_n = 0;
    ok = run ? agenti_conn_run(c) : agenti_conn_http(c);
    if (n == 0) return ok;
    if (c->span_n) {
        memmove(c->in + c->span - n, c->in + at, n);
        AGENTI_TOUCH(n);
        at = c->span - n;
    }
    c->span = at;
    c->span_n += n;
    return ok;
}
#endif
/* Reads more of the answer: 1 something was done, 0 no memory, -1 nothing is there.                                     */
static int agenti_conn_bytes(agenti_conn *c)
{
    agenti_answer *a = c->x.answer;
    size_t used;
    int ok;
    if (c->via == AGENT_VIA_HTTP) {
        if (c->got_head && !a->started) return agenti_answer_head(a, c->http.status, agenti_str(c->head.p, c->head.n));
        if (c->r == c->w || (c->w - c->r == a->waits && !c->eof && !c->failed)) return -1;
        c->got_byte = 1;
        ok = agenti_answer_feed(a, c->in + c->r, agenti_conn_share(c), &used);
        c->e->scanned += used;
        c->r += used;
        return ok;
    }
#ifdef AGENT_NO_HTTP1
    return -1;
#else
    if (c->span_n == a->waits) {               /* none, or it waits for what follows                                     */
        if (c->r < c->w || c->more) {
            ok = agenti_conn_http_join(c, 0);
            if (!ok || c->span_n == 0 || (c->span_n == a->waits && !a->ending)) return ok;
        } else if (c->span_n == 0 || (!c->eof && !c->failed)) return -1;
    }
    ok = agenti_answer_feed(a, c->in + c->span, c->span_n, &used);
    c->span += used;
    c->span_n -= used;
    return ok;
#endif
}
static int agenti_conn_eof(agenti_conn *c)
{
#ifdef AGENT_NO_HTTP1
    (void)c;
    return AGENT_OK;
#else
    agent_http_event ev;
    return c->via == AGENT_VIA_HTTP ? AGENT_OK : agent_http_eof(&c->http, &ev);
#endif
}
/* The stream ended while the answer was not over.                                                                      */
static void agenti_conn_ended(agenti_conn *c)
{
    agenti_answer *a = c->x.answer;
    int rc;
    if (c->failed && c->sign) {
        agenti_answer_fault(a, AGENT_FAULT_AUTH, 0, c->detail.n ? c->detail.p : "the host did not sign the request");
        return;
    }
    if (c->reused && !c->got_byte && !c->got_head) {          /* it was stale: its owner sends again, on a new one      */
        c->stale = 1;
        agenti_answer_drop(a);
        return;
    }
    if (c->failed) {
        agenti_answer_fault(a, AGENT_FAULT_TRANSPORT, 1, c->detail.n ? c->detail.p : "the connection failed");
        return;
    }
    rc = agenti_conn_eof(c);
    if (rc == AGENT_OK) {
        c->message_over = 1;
        agenti_answer_end(a);
        return;
    }
    agenti_answer_fault(a, AGENT_FAULT_TRANSPORT, 1, rc == AGENT_MORE ? "the connection was closed before an answer" : c->http.error);
    a->d.fault.offset = c->http.offset;
}
static void agenti_conn_over(agenti_conn *c)
{
    agenti_answer_verdict(c->x.answer);
    c->over = 1;
    agenti_wake(&c->e->sessions, c->x.ready);
}
/* One turn of an open exchange: 1 an event was made, 0 nothing more can be done now, 2 go on.                           */
static int agenti_conn_exchange(agenti_conn *c)
{
    agenti_answer *a = c->x.answer;
    int rc;
    do {
        rc = a->d.op_n ? agenti_answer_event(a) : 0;
        if (rc == 1) { agenti_conn_shown(c); return 1; }
        if (rc == -1) { agenti_conn_nomem(c); return 2; }
        if (rc == -2) {
            agenti_answer_drop(a);
            agenti_answer_fault(a, AGENT_FAULT_LIMIT, 0, "more tool calls in one answer than limits.calls_per_step");
            return 2;
        }
        if (agenti_answer_over(a)) { agenti_conn_over(c); return 0; }
        if (c->e->scanned >= c->e->lim.scan_per_next) { agenti_wake(&c->e->conns, &c->ready); return 0; }
        rc = agenti_answer_work(a);
        if (rc < 0 && c->state == AGENTI_CONN_OPEN) rc = agenti_conn_bytes(c);
        if (rc == 0) agenti_conn_nomem(c);
    } while (rc >= 0);
    agenti_conn_pack(c);
    if (!c->eof && !c->failed) return 0;
    if (c->decode && c->decode->answers && (c->skip_message || !c->got_byte)) {                /* no further answer came             */
        agenti_conn_drain(c);
        return 2;
    }
    agenti_conn_ended(c);
    return 2;
}
/* Reads what is left of a message and drops it. 0: nothing more can be done now, 2 go on.                               */
static int agenti_conn_draining(agenti_conn *c)
{
    agent_http_event ev;
    size_t used = 0;
    int rc = AGENT_MORE;
    if (c->e->scanned >= c->e->lim.scan_per_next) { agenti_wake(&c->e->conns, &c->ready); return 0; }
    if (c->via == AGENT_VIA_HTTP || c->peer == NULL) c->r = c->w;       /* nothing that follows is of use               */
    else if (!c->message_over && (c->r < c->w || c->more)) {
        rc = agent_http_next(&c->http, c->in + c->r, agenti_conn_share(c), &used, &ev);
        c->r += used;
        c->e->scanned += used;
        c->more = rc == AGENT_OK;
        if (rc == AGENT_OK && ev.kind == AGENT_HTTP_END) c->message_over = 1;
    }
    if (c->r == c->w) agenti_conn_pack(c);
    if (c->message_over && c->peer && c->via == AGENT_VIA_BYTES && c->http.keep_alive) agenti_conn_idle(c);       /* closes if more is there */
    else if ((rc != AGENT_OK && rc != AGENT_MORE) || ((c->eof || c->failed) && c->r == c->w)
        || (c->message_over && c->peer && c->via == AGENT_VIA_BYTES)) agenti_conn_state_set(c, AGENTI_CONN_CLOSING);
    else return rc == AGENT_OK || c->r < c->w ? 2 : 0;
    return 2;
}
AGENTI_FN int agenti_conn_pump(agenti_conn *c)
{
    int rc = 2;
    while (rc == 2) {
        if (c->need_over) {
            c->need_over = 0;                 /* of a closed session nothing comes but CLOSE                             */
            if (c->x.session == 0 || agenti_id_get(c->e, c->x.session, AGENTI_SESSION)) return agenti_conn_small_event(c, AGENT_EV_NEED_DONE);
        }
        if (c->sign == AGENTI_SIGN_ASK || (c->state == AGENTI_CONN_NEW && !c->sign)) return agenti_conn_open_event(c);
        if (c->send) { c->send = 0; return agenti_conn_small_event(c, AGENT_EV_SEND); }
        switch (c->state) {
        case AGENTI_CONN_NEW: case AGENTI_CONN_OPENING: case AGENTI_CONN_OPEN: rc = c->x.answer && !c->over ? agenti_conn_exchange(c) : 0; break;
        case AGENTI_CONN_DRAIN: rc = agenti_conn_draining(c); break;
        case AGENTI_CONN_IDLE:
            rc = 0;
            if (c->eof || c->failed || c->r < c->w) agenti_conn_state_set(c, AGENTI_CONN_CLOSING);
            if (c->state == AGENTI_CONN_CLOSING) rc = 2;
            break;
        default:
            if (!c->unopened) return agenti_conn_close_event(c);
            agenti_conn_free(c);
            return -1;
        }
    }
    return rc;
}
#if defined AGENT_NO_SHORTCUT || defined AGENT_NO_HTTP1
AGENTI_FN int agenti_conn_repeats(agenti_conn *c) { (void)c; return 0; }
#else
AGENTI_FN AGENTI_NOINLINE int agenti_conn_repeats(agenti_conn *c)
{
    agenti_answer *a = c->x.answer;
    size_t used = 0;
    int rc;
    if (a == NULL || c->over | c->need_over | c->sign | c->send | c->skip_message || c->state != AGENTI_CONN_OPEN || c->via != AGENT_VIA_BYTES) return 0;
    if (c->in == NULL || a->d.op_n || a->shortcut.misses) return 0;
    do {
        if (c->span_n == a->waits && (!agenti_conn_http_join(c, 1) || c->span_n == a->waits)) return 0;
        rc = agenti_answer_again(a, c->in + c->span, c->span_n, c->w - c->span, &used);
    } while (rc == 2);
    if (rc == 0) return 0;
    c->span += used;
    c->span_n -= used;
    if (rc > 0) agenti_conn_shown(c); else agenti_conn_nomem(c);
    return rc > 0;
}
#endif
#endif
