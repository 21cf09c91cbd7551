/* A script of host calls, two bytes each: whatever a host does, and a peer answers, in whatever order.
 * - No call crashes; every call returns a code of the list; a handle that is gone is refused.
 * - What tests/check_events.h says of events, also when an allocation fails, a session is cancelled or closed, a connection breaks.
 * - agent_next gets to its end in bounded calls.
 * - After the last run every table of messages is one that a provider accepts: no call without result, and no empty
 *   message unless memory ran out.
 * - Nothing leaks.
 * seeds: noise */
#include <stdint.h>
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "check_events.h"
#include "engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PEERS = 2, SESSIONS = 3, CONNS = 12, NEEDS = 64, SLOTS = 64, MAX_OPS = 400, TURNS = 300000 };
typedef struct conn { agent_id id; int opened, via, reserved; size_t cap; char *room; } conn;
typedef struct talk { agent_id id; int gone; agent_session_desc desc; } talk;         /* a session; gone: closed by the host   */
typedef struct need { agent_id session, conn; agent_num id, call; int type; agent_event ev; } need;
typedef struct host {
    agent_engine *e;
    agent_id peers[PEERS];
    talk talks[SLOTS]; int talk_n;            /* all that ever were                                                     */
    int at[SESSIONS];                         /* those in use, -1: none                                                 */
    conn conns[CONNS];
    need needs[NEEDS]; int need_n;
    check seen;
    int show;                                 /* FUZZ_EVENTS is set: print them                                         */
    int may_be_empty;                         /* memory ran out between a message and its first part                     */
    const uint8_t *p, *end;
    uint64_t now;
} host;

static const char *const canned[] = {
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 86\r\n\r\n",
    "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"whole answer\"},\"finish_reason\":\"stop\"}]}",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c0\",\"type\":\"function\",\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"c1\",\"function\":{\"name\":\"b\",\"arguments\":\"{\\\"x\\\":\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":\"1}\"}},{\"index\":2,\"id\":\"c2\",\"function\":{\"name\":\"no\",\"arguments\":\"x\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n",
    "data: [DONE]\n\n",
    "data: {\"error\":{\"message\":\"no\",\"code\":\"rate_limit_exceeded\"}}\n\n",
    "HTTP/1.1 429 Too Many\r\nretry-after: 3\r\ncontent-length: 2\r\n\r\n{}",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "0\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":5}}}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Hello\"}}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c0\",\"name\":\"a\",\"input\":{}}}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"server_tool_use\",\"id\":\"s0\",\"name\":\"b\",\"input\":{}}}\n\n",
    "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"x\\\":1}\"}}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"QQ==\"}}\n\n",
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n",
    "data: {\"type\":\"message_stop\"}\n\n",
    "data: {\"type\":\"content_block_stop\",\"index\":2}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":4,\"content_block\":{\"type\":\"b_tool_result\",\"tool_use_id\":\"s0\",\"content\":[{\"url\":\"http:\\/\\/a\",\"title\":\"\\\"t\"}]}}\n\n"
        "data: {\"type\":\"content_block_stop\",\"index\":4}\n\n",
    "data: {\"type\":\"content_block_start\",\"index\":5,\"content_block\":{\"type\":\"redacted_thinking\",\"data\":\"\\u0041\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":5}\n\n",
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"pause_turn\"}}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" <think>hm</th\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ink>\\n\\nso\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"images\":[{\"image_url\":{\"url\":\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA\"}},{\"image_url\":{\"url\":\"http://a/b\"}}]}}]}\n\n",
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: r\xFF\r\nx-ratelimit-remaining: 1\r\ntransfer-encoding: chunked\r\n\r\n"
};
enum { CANNED = sizeof canned / sizeof *canned };
static char big[3000];                        /* what a long text is                                                    */

static unsigned byte(host *h) { return h->p < h->end ? *h->p++ : 0; }
static void code(int rc)                      /* a result of any call                                                   */
{
    CHECK(rc >= AGENT_E_SYNTAX && rc != AGENT_E_SYNTAX);
}

/* ---- what the events say ---- */
static talk *talk_of(host *h, agent_id id)
{
    int i;
    for (i = 0; i < h->talk_n; i++) if (h->talks[i].id == id) return &h->talks[i];
    return NULL;
}
static conn *conn_of(host *h, agent_id id)
{
    int i;
    for (i = 0; i < CONNS; i++) if (h->conns[i].id == id) return &h->conns[i];
    return NULL;
}
static void need_begin(host *h, const agent_event *ev)
{
    need *n = &h->needs[h->need_n];
    int i;
    agent_id whose = ev->session ? ev->session : ev->peer;
    CHECK(ev->need != 0);
    for (i = 0; i < h->need_n; i++) CHECK(h->needs[i].session != whose || h->needs[i].id != ev->need);
    if (h->need_n == NEEDS) { fprintf(stderr, "too many needs\n"); abort(); }
    h->need_n++;
    n->session = whose;
    n->conn = ev->conn;
    n->id = ev->need;
    n->call = ev->call;
    n->type = ev->type;
    n->ev = *ev;                              /* its text may be gone later; decline wants none                         */
    n->ev.text.p = n->ev.name.p = "";
    n->ev.text.n = n->ev.name.n = 0;
}
static void need_end(host *h, agent_id session, agent_num id)
{
    int i;
    for (i = 0; i < h->need_n && (h->needs[i].session != session || h->needs[i].id != id); i++) {}
    if (i == h->need_n) { talk *t = talk_of(h, session); CHECK(t && t->gone); return; }
    h->needs[i] = h->needs[--h->need_n];
}
static void needs_drop(host *h, agent_id session)            /* it is closed: nothing waits for an answer               */
{
    int i = 0;
    while (i < h->need_n) if (h->needs[i].session == session) h->needs[i] = h->needs[--h->need_n]; else i++;
}
static void on_open(host *h, const agent_event *ev)
{
    conn *c = conn_of(h, 0);
    CHECK(ev->u.open.port && ev->u.open.host.n && ev->u.open.url.n && conn_of(h, ev->conn) == NULL);
    if (c == NULL) { code(agent_decline(h->e, ev)); return; }
    memset(c, 0, sizeof *c);
    c->id = ev->conn;
}
static void on_close(host *h, const agent_event *ev)
{
    conn *c = conn_of(h, ev->conn);
    if (c && c->reserved) {                   /* pinned: it must still be there                                         */
        memset(c->room, 'x', c->cap);
        if (c->cap & 1) CHECK(agent_recv_ack(h->e, c->id, c->cap) == AGENT_OK);
    }
    if (c) memset(c, 0, sizeof *c);
    CHECK(agent_eof(h->e, ev->conn) == AGENT_E_STALE && agent_wants(h->e, ev->conn) == 0);
}
static void on_event(host *h, const agent_event *ev)
{
    talk *t = talk_of(h, ev->session);
    if (h->show) { char line[300]; agent_event_json(ev, line, sizeof line); fprintf(stderr, "%s\n", line); }
    check_event(&h->seen, ev);
    fuzz_check(&h->seen);
    CHECK(t == NULL || !t->gone || ev->type == AGENT_EV_CLOSE || ev->type == AGENT_EV_NEED_DONE);
    if (ev->type == AGENT_EV_OPEN) on_open(h, ev);
    if (ev->flags & AGENT_EVF_NEED) need_begin(h, ev);
    if (ev->type == AGENT_EV_NEED_DONE) need_end(h, ev->session ? ev->session : ev->peer, ev->need);
    if (ev->type == AGENT_EV_CLOSE) on_close(h, ev);
}
static int next(host *h)
{
    const agent_event *ev = agent_next(h->e);
    if (ev) on_event(h, ev);
    return ev != NULL;
}
static void pump(host *h)
{
    unsigned turns = 0;
    while (next(h) || agent_deadline(h->e) <= h->now) CHECK(turns++ < TURNS);
}

/* Until nothing is left to wait for.                                                                                    */
static void settle(host *h)
{
    unsigned turns = 0;
    uint64_t at;
    for (pump(h); (at = agent_deadline(h->e)) != UINT64_MAX; pump(h)) {
        CHECK(at >= h->now && turns++ < TURNS);
        h->now = at;
        CHECK(agent_tick(h->e, h->now, 0) == AGENT_OK);
    }
}

/* ---- what the host does ---- */
static talk *some_talk(host *h, unsigned x) { int i = h->at[x % SESSIONS]; return i < 0 ? NULL : &h->talks[i]; }
static conn *some_conn(host *h, unsigned x)
{
    int i, k;
    for (i = 0; i < CONNS; i++) { k = (int)((x + (unsigned)i) % CONNS); if (h->conns[k].id) return &h->conns[k]; }
    return NULL;
}
static need *some_need(host *h, unsigned x) { return h->need_n ? &h->needs[x % (unsigned)h->need_n] : NULL; }
static void open_peer(host *h, unsigned x)
{
    static const char *const names[] = {"openai", "ollama", "openai-compatible", "llama.cpp", "anthropic", "none"};
    agent_peer_desc p = AGENT_ZERO;
    p.provider = names[x % 6];
    p.url = x & 8 ? "http://[::1]:81/a" : NULL;
    p.key = x & 16 ? "secret-key" : x & 128 ? "" : NULL;
    p.auth = (x & 0xC4) == 0x84 ? "sign" : NULL;
    p.headers = x & 32 ? "x-a: b\n" : NULL;
    p.body_json = x & 64 ? "{\"stop\":[\"z\"]}" : NULL;
    if (h->peers[x & 1] == 0) h->peers[x & 1] = agent_peer_open(h->e, &p);
}
static void close_peer(host *h, unsigned x)
{
    agent_id id = h->peers[x & 1];
    int rc = agent_peer_close(h->e, id);
    CHECK(rc == AGENT_OK || rc == AGENT_E_STATE || rc == AGENT_E_STALE);
    if (rc != AGENT_OK) return;
    h->peers[x & 1] = 0;
    needs_drop(h, id);
    check_session_closed(&h->seen, id);
}
static void open_session(host *h, unsigned x)
{
    static const agent_tool tools[] = {{"a", "A", NULL, 0, 0, NULL}, {"b", NULL, "{\"type\":\"object\"}", AGENT_TF_SERIAL, 0, NULL}, {"d", NULL, NULL, 0, 0, NULL}};
    agent_session_desc s = AGENT_ZERO;
    int *at = &h->at[x % SESSIONS];
    agent_id id;
    if (*at >= 0 || h->talk_n == SLOTS) return;
    s.peer = h->peers[x >> 2 & 1];
    s.model = "m";
    s.system = x & 8 ? "sys" : NULL;
    s.tools = tools;
    s.tool_count = x & 16 ? 3 : x & 32 ? 1 : 0;
    s.flags = (x & 64 ? AGENT_S_NO_STREAM : 0) | ((x & 24) == 24 ? AGENT_S_THINK_TAGS : (x & 40) == 40 ? AGENT_S_THINK_OPEN : 0);
    s.max_steps = x & 128 ? 2 : 4;
    s.parallel_tools = x & 8 ? 1 : 0;
    s.max_retries = x & 16 ? AGENT_OFF : 2;
    s.grace_ms = x & 32 ? AGENT_OFF : 0;
    s.tool_ms = x & 8 ? 1000 : 0;
    s.step_ms = x & 32 ? 5000 : 0;
    s.run_ms = x & 64 ? 9000 : 0;
    s.max_run_tokens = x & 2 ? 20 : 0;
    s.flags |= (x & 16 ? AGENT_S_GO_ON : 0) | (x & 1 ? AGENT_S_CHECKPOINTS : 0);
    s.mem_limit = x & 4 ? 20000 : 0;
    id = agent_session_open(h->e, &s);
    if (id == 0) return;
    CHECK(talk_of(h, id) == NULL);
    *at = h->talk_n;
    memset(&h->talks[h->talk_n], 0, sizeof *h->talks);
    h->talks[h->talk_n].desc = s;
    h->talks[h->talk_n++].id = id;
}
static void close_session(host *h, unsigned x)
{
    talk *t = some_talk(h, x);
    if (t == NULL) return;
    CHECK(agent_session_close(h->e, t->id) == AGENT_OK);
    CHECK(agent_session_close(h->e, t->id) == AGENT_E_STALE);
    CHECK(agent_say(h->e, t->id, "x", 1) == AGENT_E_STALE);
    check_session_closed(&h->seen, t->id);
    needs_drop(h, t->id);
    t->gone = 1;
    h->at[x % SESSIONS] = -1;
}
/* All of a session, as lines; for free.                                                                                */
static char *saved(host *h, agent_id s, unsigned x, size_t *n)
{
    char *p = NULL;
    size_t cap = 0, k;
    agent_mark mark;
    int rc;
    memset(&mark, 0, sizeof mark);
    *n = 0;
    do {
        if (cap - *n < 512 && (p = (char *)realloc(p, cap += 4096)) == NULL) abort();
        rc = agent_save(h->e, s, &mark, p + *n, 64 + x, &k);
        CHECK((rc == AGENT_OK || rc == AGENT_MORE) && k <= 64 + x);
        *n += k;
    } while (rc == AGENT_MORE);
    return p;
}
/* A session goes on in a new one; or, with a byte of what was saved changed, another one takes it or does not, and is closed. */
static void reload(host *h, unsigned x)
{
    talk *t = some_talk(h, x);
    size_t n, at, k, piece = 1 + (x >> 2 & 31) * 9;
    int rc = AGENT_OK, i, change = x & 2;
    agent_id id;
    char *p;
    if (t == NULL || h->talk_n == SLOTS) return;
    p = saved(h, t->id, x, &n);
    if (change && n) p[(byte(h) * 256 + byte(h)) % n] = (char)byte(h);
    id = agent_session_open(h->e, &t->desc);
    for (at = 0; id && rc == AGENT_OK && at < n; at += k) {
        k = n - at < piece ? n - at : piece;
        rc = agent_load(h->e, id, p + at, k);
    }
    if (id && rc == AGENT_OK) rc = agent_load(h->e, id, NULL, 0);
    free(p);
    CHECK(rc == AGENT_OK || rc == AGENT_E_NOMEM || (change && rc == AGENT_E_FORMAT));
    if (id && (change || rc != AGENT_OK)) CHECK(agent_session_close(h->e, id) == AGENT_OK);
    if (id == 0 || change || rc != AGENT_OK) return;
    CHECK(agent_session_close(h->e, t->id) == AGENT_OK);
    check_reloaded(&h->seen, t->id, id);
    for (i = 0; i < h->need_n;) {
        need *d = &h->needs[i];
        if (d->session == t->id && d->conn) { *d = h->needs[--h->need_n]; continue; }
        if (d->session == t->id) d->session = d->ev.session = id;
        i++;
    }
    h->talks[h->talk_n].desc = t->desc;
    h->talks[h->talk_n].gone = 0;
    h->talks[h->talk_n].id = id;
    t->gone = 1;
    h->at[x % SESSIONS] = h->talk_n++;
}
static void submit(host *h, unsigned x)
{
    talk *t = some_talk(h, x);
    agent_part part[2];
    int rc;
    if (t == NULL) return;
    memset(part, 0, sizeof part);
    part[0].text.p = "q\xFFq";
    part[0].text.n = 3;
    part[1].text.p = big;
    part[1].text.n = x & 16 ? sizeof big : 1;
    if (x & 32) {                             /* files                                                                  */
        part[0].kind = AGENT_PART_IMAGE;
        part[0].mime.p = "image/png";
        part[0].mime.n = 9;
        part[1].kind = AGENT_PART_FILE;
        part[1].flags = AGENT_PART_CACHE;
        part[1].mime.p = x & 2 ? "text/plain" : "audio/ogg";
        part[1].mime.n = x & 2 ? 10 : 9;
    }
    rc = x & 4 ? agent_submit(h->e, t->id, part, x >> 3 & 3 ? 1 + (x >> 3 & 1) : 0, x & 128 ? AGENT_NOW : x & 64 ? AGENT_STEER : x & 1 ? AGENT_STORE : AGENT_QUEUE)
               : agent_say(h->e, t->id, x & 8 ? big : "hi", x & 8 ? sizeof big : AGENT_CSTR);
    CHECK(rc > 0 || rc == AGENT_E_STATE || rc == AGENT_E_NOMEM || rc == AGENT_E_LIMIT);
}
static void cancel(host *h, talk *t)
{
    CHECK(agent_cancel(h->e, t->id) == AGENT_OK);
    if (check_stream_of(&h->seen, t->id)->in_run) check_cancel(&h->seen, t->id);       /* in an idle session nothing happens */
}
static void stop(host *h, unsigned x)
{
    talk *t = some_talk(h, x);
    if (t) CHECK(agent_stop(h->e, t->id, x & 8 ? AGENT_STOP_STEP : AGENT_STOP_TOOLS) == AGENT_OK);
}
static void queue(host *h, unsigned x)
{
    talk *t = some_talk(h, x);
    agent_item it;
    agent_part p;
    size_t i, k;
    if (t == NULL) return;
    for (i = 0; agent_queue_at(h->e, t->id, i, &it) == AGENT_OK; i++) {
        for (k = 0; k < it.part_count; k++) CHECK(agent_queue_part(h->e, t->id, it.item, k, &p) == AGENT_OK && p.text.p);
        CHECK(it.item && i < MAX_OPS && agent_queue_part(h->e, t->id, it.item, k, &p) == AGENT_E_ARG);
    }
    if (x & 64) code(agent_queue_cancel(h->e, t->id, x >> 2 & 7));
    else code(agent_queue_move(h->e, t->id, x >> 2 & 7, (int)(x & 3), x >> 4 & 7));
}
static void retry(host *h, unsigned x)
{
    talk *t = some_talk(h, x);
    int rc;
    if (t == NULL) return;
    rc = agent_retry(h->e, t->id, x & 64 ? AGENT_RETRY_STOP : AGENT_RETRY_NOW);
    CHECK(rc == AGENT_OK || rc == AGENT_LATE);
    if (rc == AGENT_OK && !(x & 64)) check_go_on(&h->seen, t->id);
}
static void cut(host *h, unsigned x)
{
    talk *t = some_talk(h, x);
    agent_msg m;
    int rc;
    if (t == NULL) return;
    rc = x & 64 ? agent_regenerate(h->e, t->id)
         : agent_message(h->e, t->id, x >> 2 & 7, &m) == AGENT_OK ? agent_message_cut(h->e, t->id, m.id) : agent_message_cut(h->e, t->id, x);
    CHECK(rc > 0 || rc == AGENT_E_STATE || rc == AGENT_E_ARG || rc == AGENT_E_NOMEM);
}
static void later(host *h)
{
    uint64_t at = agent_deadline(h->e);
    if (at == UINT64_MAX || at < h->now) return;
    h->now = at;
    CHECK(agent_tick(h->e, h->now, 0) == AGENT_OK);
}
static void set_option(host *h, unsigned x)
{
    static const struct { const char *key, *value; } rows[] = {
        {"model", "n"}, {"system", "new"}, {"system", ""}, {"max_tokens", "5"}, {"temperature", "0.5"}, {"stop", "[\"a\"]"},
        {"tool_choice", "required"}, {"tool_choice", "none"}, {"tool_choice", "a"}, {"parallel_tool_calls", "false"}, {"seed", "x"}, {"no", "1"},
        {"thinking_budget", "1024"}, {"thinking_budget", "adaptive"}, {"prompt_cache", "1h"}, {"top_p", "1"}
    };
    talk *t = some_talk(h, x);
    if (t == NULL) return;
    code(agent_session_set(h->e, t->id, rows[(x >> 2) % 16].key, rows[(x >> 2) % 16].value, AGENT_CSTR));
    if (x & 128) code(agent_session_tools(h->e, t->id, NULL, 0));
}
static void add_message(host *h, unsigned x)
{
    talk *t = some_talk(h, x);
    agent_part p[2];
    int role = (int)(x >> 2 & 3), rc;
    if (t == NULL) return;
    memset(p, 0, sizeof p);
    p[0].text.p = p[1].text.p = role == AGENT_MODEL && x & 16 ? "{}" : "old";
    p[0].text.n = p[1].text.n = role == AGENT_MODEL && x & 16 ? 2 : 3;
    p[0].name.p = p[1].name.p = "a";
    p[0].name.n = p[1].name.n = 1;
    p[0].wire_id.p = "i0";
    p[1].wire_id.p = x & 32 ? "i0" : "i1";
    p[0].wire_id.n = p[1].wire_id.n = 2;
    p[0].kind = p[1].kind = role == AGENT_TOOLS ? AGENT_PART_RESULT : role == AGENT_MODEL && x & 16 ? AGENT_PART_CALL : AGENT_PART_TEXT;
    rc = agent_message_add(h->e, t->id, role, p, 1 + (x >> 6 & 1));
    CHECK(rc > 0 || rc == AGENT_E_ARG || rc == AGENT_E_STATE || rc == AGENT_E_NOMEM);
}
static void answer_open(host *h, unsigned x)
{
    conn *c = some_conn(h, x);
    int rc;
    if (c == NULL) return;
    if (x & 64) { rc = agent_failed(h->e, c->id, AGENT_FAIL_REFUSED, "refused", AGENT_CSTR); CHECK(rc == AGENT_OK || rc == AGENT_E_STALE); return; }
    rc = agent_opened(h->e, c->id, x & 32 ? AGENT_VIA_HTTP : AGENT_VIA_BYTES, c);
    CHECK(rc == AGENT_OK || rc == AGENT_E_STATE);
    if (rc == AGENT_OK) { c->opened = 1; c->via = x & 32 ? AGENT_VIA_HTTP : AGENT_VIA_BYTES; }
    if (rc == AGENT_OK && x & 32 && x & 16) code(agent_http_head(h->e, c->id, x & 128 ? 500 : 200, "content-type: text/event-stream", AGENT_CSTR));
}
static void give(host *h, conn *c, const char *p, size_t n, int recv)
{
    size_t cap, took = 0;
    if (recv && !c->reserved) {
        c->room = (char *)agent_recv_buf(h->e, c->id, &cap);
        if (c->room == NULL) return;
        CHECK(cap > 0);
        memset(c->room, 'x', cap);
        c->cap = cap;
        c->reserved = 1;
        if (recv == 2) return;                /* the answer to it comes later                                           */
    }
    if (c->reserved) {
        took = n < c->cap ? n : c->cap;
        memcpy(c->room, p, took);             /* pinned: it must still be there                                         */
        CHECK(agent_recv_ack(h->e, c->id, c->cap + 1) == AGENT_E_ARG);
        CHECK(agent_recv_ack(h->e, c->id, took) == AGENT_OK);
        c->reserved = 0;
        return;
    }
    code(agent_feed(h->e, c->id, p, n, n & 1 ? &took : NULL));
    CHECK(took <= n);
}
/* In a chunk of its own where bytes are HTTP/1.1.                                                                     */
static unsigned canned_put(char *to, unsigned which, int via)
{
    const char *s = canned[which];
    unsigned n = (unsigned)strlen(s);
    if (via == AGENT_VIA_BYTES && strncmp(s, "data", 4) == 0) return (unsigned)sprintf(to, "%x\r\n%s\r\n", n, s);
    memcpy(to, s, n);
    return n;
}
static void give_canned(host *h, unsigned x)
{
    conn *c = some_conn(h, x >> 4);
    char bytes[600];
    if (c) give(h, c, bytes, canned_put(bytes, x % CANNED, c->via), x & 128 ? 1 : 0);
}
/* A good answer, from its head to its end, or nearly.                                                                 */
static void give_answer(host *h, unsigned x)
{
    conn *c = some_conn(h, x >> 6);
    char bytes[8000];
    unsigned n = 0, k;
    size_t left;
    if (c == NULL) return;
    if (!c->opened) { c->via = x & 8 ? AGENT_VIA_HTTP : AGENT_VIA_BYTES; c->opened = agent_opened(h->e, c->id, c->via, NULL) == AGENT_OK; }
    if (x & 16) while (agent_send_buf(h->e, c->id, &left)) CHECK(agent_send_ack(h->e, c->id, left) == AGENT_OK);
    if (c->via == AGENT_VIA_BYTES) n = canned_put(bytes, 0, c->via);
    else (void)agent_http_head(h->e, c->id, 200, "content-type: text/event-stream", AGENT_CSTR);
    if (x & 1) n += canned_put(bytes + n, 3, c->via);
    if (x & 2) n += canned_put(bytes + n, 5, c->via);
    if (x & 4) { n += canned_put(bytes + n, 6, c->via); n += canned_put(bytes + n, 7, c->via); }
    for (k = 16; (x & 7) == 7 && k < 23; k++) n += canned_put(bytes + n, k, c->via);     /* in both formats, the rest is passed over */
    for (k = 24; (x & 7) == 7 && k < 31; k++) if (k != 27 || x & 8) n += canned_put(bytes + n, k, c->via);
    n += canned_put(bytes + n, x & 6 ? 8 : 9, c->via);
    n += canned_put(bytes + n, (x & 7) == 7 ? 23 : 10, c->via);
    if (c->via == AGENT_VIA_BYTES && !(x & 32)) n += canned_put(bytes + n, 14, c->via);
    give(h, c, bytes, n, 0);
    if (c->via == AGENT_VIA_HTTP && !(x & 32)) (void)agent_eof(h->e, c->id);
}
static void give_bytes(host *h, unsigned x)
{
    conn *c = some_conn(h, x >> 6);
    size_t n = x & 31;
    if (n > (size_t)(h->end - h->p)) n = (size_t)(h->end - h->p);
    if (c) give(h, c, (const char *)h->p, n, x & 32 ? 2 : 0);
    h->p += n;
}
static void send_some(host *h, unsigned x)
{
    conn *c = some_conn(h, x);
    const void *b;
    size_t n = 0, m;
    if (c == NULL) return;
    if (x & 64) code(agent_send_rewind(h->e, c->id));
    b = agent_send_buf(h->e, c->id, &n);
    if (b == NULL) return;
    CHECK(n > 0 && agent_send_buf(h->e, c->id, &m) == b && m == n && agent_send_ack(h->e, c->id, n + 1) == AGENT_E_ARG);
    if (x & 32) n = n / 2 + 1;
    CHECK(agent_send_ack(h->e, c->id, n) == AGENT_OK);
    if (x & 16) while ((b = agent_send_buf(h->e, c->id, &n)) != NULL) CHECK(agent_send_ack(h->e, c->id, n) == AGENT_OK);
}
static void end_conn(host *h, unsigned x)
{
    conn *c = some_conn(h, x);
    if (c == NULL) return;
    if (x & 32) { c->reserved = 0; code(agent_failed(h->e, c->id, AGENT_FAIL_RESET, "r\xFF", 2)); }
    else { int rc = agent_eof(h->e, c->id); CHECK(rc == AGENT_OK || rc == AGENT_E_STATE); }
    if (x & 64) { agent_str k, v; size_t i; for (i = 0; agent_open_header(h->e, c->id, i, &k, &v) == AGENT_OK; i++) CHECK(k.p[k.n] == 0 && v.p[v.n] == 0); }
}
static void answer_need(host *h, unsigned x)
{
    need *n = some_need(h, x >> 3);
    int rc;
    if (n == NULL) return;
    switch ((x & 7) == 4 ? 4 : n->type == AGENT_EV_SIGN ? 6 : n->type == AGENT_EV_CREDENTIAL ? 7 : (x & 7) > 5 ? 8 : x & 7) {
    case 0: rc = agent_tool_append(h->e, n->session, n->call, "part \xF0\x9F", 7); break;
    case 1: rc = agent_tool_append(h->e, n->session, n->call, big, sizeof big); break;
    case 2: rc = agent_tool_update(h->e, n->session, n->call, "title\xC3", AGENT_CSTR); break;
    case 3: rc = agent_tool_done(h->e, n->session, n->call, AGENT_DONE_ERROR); break;
    case 4: rc = agent_decline(h->e, &n->ev); CHECK(rc == AGENT_OK || rc == AGENT_LATE); break;
    case 5: rc = agent_tool_done(h->e, n->session, n->call, 99); break;
    case 6: rc = agent_sign(h->e, n->conn, x & 64 ? "Authorization: a\nX-B: c\r\n" : "bad", AGENT_CSTR); break;
    case 7: rc = agent_peer_key(h->e, n->ev.peer, "secret-key", AGENT_CSTR, x & 64 ? 1 : 0); break;
    default: rc = agent_tool_result(h->e, n->session, n->call, "ok", AGENT_CSTR);
    }
    code(rc);
}
static void look(host *h, unsigned x)
{
    talk *t = some_talk(h, x);
    agent_event ev;
    agent_msg m;
    agent_part p;
    size_t i, k, now, peak;
    if (t == NULL) return;
    for (i = 0; agent_pending(h->e, t->id, i, &ev) == AGENT_OK; i++) {
        CHECK(i < NEEDS && ev.session == t->id && ev.need && (ev.flags & AGENT_EVF_NEED));
        if (x & 64) code(agent_decline(h->e, &ev));
        if (x & 64) break;
    }
    for (i = 0; i < agent_messages(h->e, t->id); i++) {
        CHECK(agent_message(h->e, t->id, i, &m) == AGENT_OK && m.id);
        for (k = 0; k < m.part_count; k++) CHECK(agent_message_part(h->e, t->id, m.id, k, &p) == AGENT_OK && p.text.p && p.name.p && p.wire_id.p);
        CHECK(agent_message_part(h->e, t->id, m.id, k, &p) == AGENT_E_ARG);
    }
    CHECK(agent_memory(h->e, t->id, &now, &peak) == AGENT_OK && now <= peak);
}
static void wrong_calls(host *h, unsigned x)
{
    agent_id id = x & 1 ? 0 : x * 2654435761u;
    size_t n;
    if (talk_of(h, id) || conn_of(h, id)) return;
    CHECK(agent_say(h->e, id, "x", 1) < 0 && agent_cancel(h->e, id) < 0 && agent_session_close(h->e, id) < 0);
    CHECK(agent_feed(h->e, id, "x", 1, NULL) < 0 && agent_recv_buf(h->e, id, &n) == NULL && agent_send_buf(h->e, id, &n) == NULL);
    CHECK(agent_tool_done(h->e, id, 1, AGENT_DONE_OK) < 0 && agent_messages(h->e, id) == 0);
    CHECK(agent_last(h->e) != NULL);
}
static void operate(host *h)
{
    unsigned op = byte(h), x = byte(h);
    talk *t;
    switch (op % 31) {
    case 0: case 1: case 2: pump(h); break;
    case 3: (void)next(h); break;
    case 4: h->now += x * 40; (void)agent_tick(h->e, h->now, h->now); break;
    case 5: open_peer(h, x); break;
    case 6: close_peer(h, x); break;
    case 7: open_session(h, x); break;
    case 8: if (x > 200) close_session(h, x); break;
    case 9: case 10: submit(h, x); break;
    case 11: if (x & 16 && (t = some_talk(h, x)) != NULL) cancel(h, t); break;
    case 12: set_option(h, x); break;
    case 13: add_message(h, x); break;
    case 14: answer_open(h, x); break;
    case 15: case 16: give_canned(h, x); break;
    case 17: give_answer(h, x); break;
    case 18: give_bytes(h, x); break;
    case 19: send_some(h, x); break;
    case 20: if (x > 100) end_conn(h, x); break;
    case 21: answer_need(h, x); break;
    case 22: look(h, x); break;
    case 23: if (x & 16) stop(h, x); break;
    case 24: queue(h, x); break;
    case 25: retry(h, x); break;
    case 26: cut(h, x); break;
    case 27: case 28: later(h); break;
    case 29: reload(h, x); break;
    default: wrong_calls(h, x);
    }
}

/* ---- the end: cancel, drain, and all must be closed ---- */
static void table_is_good(host *h, talk *t)
{
    agent_msg m;
    agent_part p;
    size_t i, k;
    uint32_t calls = 0;
    for (i = 0; i < agent_messages(h->e, t->id); i++) {
        CHECK(agent_message(h->e, t->id, i, &m) == AGENT_OK);
        CHECK(m.part_count > 0 || (m.role == AGENT_MODEL && (h->may_be_empty || m.flags == AGENT_PART_CUT)));
        CHECK(calls == 0 || (m.role == AGENT_TOOLS && m.part_count == calls));
        CHECK(m.role != AGENT_TOOLS || calls == m.part_count);
        calls = 0;
        for (k = 0; k < m.part_count; k++) {
            CHECK(agent_message_part(h->e, t->id, m.id, k, &p) == AGENT_OK);
            calls += p.kind == AGENT_PART_CALL;
        }
    }
}
static void finish(host *h)
{
    int i;
    for (i = 0; i < h->talk_n; i++) if (!h->talks[i].gone) cancel(h, &h->talks[i]);
    settle(h);
    for (i = 0; i < h->need_n; i++) if (h->needs[i].type == AGENT_EV_CREDENTIAL) CHECK(agent_decline(h->e, &h->needs[i].ev) != AGENT_LATE);
    pump(h);
    check_idle(&h->seen);
    fuzz_check(&h->seen);
    for (i = 0; i < h->talk_n; i++) if (!h->talks[i].gone) {
        table_is_good(h, &h->talks[i]);
        CHECK(agent_session_close(h->e, h->talks[i].id) == AGENT_OK);
        check_session_closed(&h->seen, h->talks[i].id);
        h->talks[i].gone = 1;
    }
    pump(h);
    for (i = 0; i < PEERS; i++) if (h->peers[i]) CHECK(agent_peer_close(h->e, h->peers[i]) == AGENT_OK);
    pump(h);
    for (i = 0; i < CONNS; i++) if (h->conns[i].id) (void)agent_failed(h->e, h->conns[i].id, AGENT_FAIL_HOST, NULL, 0);
    pump(h);
    check_over(&h->seen);
    fuzz_check(&h->seen);
    CHECK(h->need_n == 0);
    for (i = 0; i < CONNS; i++) CHECK(h->conns[i].id == 0);
}
static void run(const uint8_t *data, size_t size, fuzz_mem *mem)
{
    host h;
    agent_desc d = AGENT_ZERO;
    unsigned ops = 0, i;
    memset(&h, 0, sizeof h);
    for (i = 0; i < SESSIONS; i++) h.at[i] = -1;
    h.p = data + 4;
    h.end = data + size;
    h.now = 1;
    h.show = getenv("FUZZ_EVENTS") != NULL;
    h.may_be_empty = mem->fail_at != 0 || data[0] >= 128 || data[2] & 4;
    d.alloc = fuzz_alloc;
    d.alloc_ctx = mem;
    d.seed = 3;
    d.limits.recv = 512u << (data[0] & 3);
    d.limits.piece = data[0] & 4 ? 16 : 0;
    d.limits.item = data[0] & 8 ? 500 : 0;
    d.limits.calls_per_step = data[0] & 16 ? 2 : 0;
    d.limits.conns = data[0] & 32 ? 2 : 0;
    d.limits.scan_per_next = data[0] & 64 ? 30 : 0;
    d.mem_limit = data[0] & 128 ? 40000 : 0;
    check_init(&h.seen, "secret-key", d.limits.piece);
    if (agent_open(&h.e, &d) == AGENT_OK) {
        (void)agent_tick(h.e, h.now, 0);
        open_peer(&h, data[1]);
        open_session(&h, data[2]);
        submit(&h, data[2] & 0x18);
        while (h.p < h.end && ops++ < MAX_OPS) operate(&h);
        finish(&h);
        agent_close(h.e);
    }
    check_free(&h.seen);
    CHECK(mem->live == 0 && mem->blocks == 0);
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_mem mem;
    size_t calls, k, step;
    if (size < 4) return 0;
    memset(big, 'b', sizeof big);
    big[7] = (char)0xE2;
    memset(&mem, 0, sizeof mem);
    run(data, size, &mem);
    calls = mem.calls;
    step = calls / 24 + 1;
    for (k = 1 + data[3] % step; k <= calls; k += step) {
        memset(&mem, 0, sizeof mem);
        mem.fail_at = k;
        mem.fail_for = 1 + (data[3] >> 6);
        run(data, size, &mem);
    }
    return 0;
}
