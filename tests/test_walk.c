/* A random walk: two sessions with two wire formats in one engine, and a host that does anything at any time: bytes cut anywhere, streams that
 * break, tools that answer late, twice or never, stops, messages in all lanes, the queue reordered, the table cut, options and tools changed,
 * sessions closed, sessions saved and gone on with in another one, time that jumps, memory that is refused. check_events.h watches every event. At the end of each walk everything settles,
 * the next message is answered, every request was one that its provider accepts, and nothing is left.
 *
 * WALK_SEED=n    the first walk's seed (each walk has its own, counting up); a failure names it
 * WALK_STEPS=n   steps of all walks together (`make soak`: twenty millions)
 * WALK_TRACE=1   tells every action and event */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

enum { WALK = 1500, SESSIONS = 2, CONNS = 256, CALLS = 64 };
typedef struct walk_conn {
    agent_id id;
    int session, asked, opened, via, busy, ended;            /* asked: its OPEN waits for an answer; ended: eof or failed    */
    host_text in, out;
    size_t at, body_len;
    unsigned requests;
    char *pin; size_t pin_n;                  /* a read that is going on                                                 */
} walk_conn;
typedef struct walk {
    agent_engine *e;
    host_heap heap;
    check check;
    uint64_t seed, now;
    unsigned number;                          /* of this walk                                                            */
    int calm, trace;                          /* calm: everything gets its plain answer                                  */
    agent_id peer[SESSIONS], s[SESSIONS];
    int items[SESSIONS];                      /* the last number that a submit gave                                      */
    agent_session_desc desc[SESSIONS];
    walk_conn *conns; size_t conn_n;
    struct { agent_id s; agent_num call; } calls[CALLS]; size_t call_n;      /* the last ones that were to be run        */
    agent_event need[SESSIONS]; int keyed[SESSIONS];         /* the CREDENTIALs                                         */
    int outcome[SESSIONS];
    unsigned long events, runs;
} walk;
static char walk_name[64];
#define W_CHECK(x) CHECK_CASE(x, walk_name)

static uint32_t rnd(walk *w, uint32_t n)                      /* below n                                                 */
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return n ? (uint32_t)(w->seed >> 33) % n : 0;
}
static int one_in(walk *w, uint32_t n) { return rnd(w, n) == 0; }
static void tell(const walk *w, const char *what, long a, long b)
{
    if (w->trace) fprintf(stderr, "      -- %s %ld %ld\n", what, a, b);
}

/* ---- answers ---- */
#define AN_TALK(i, t) AN_START(i, "\"text\",\"text\":\"\"") AN_TEXT(i, t) AN_STOP(i)
#define AN_CALL(i, name, args) AN_TOOL(i, name) AN_JSON(i, args) AN_STOP(i)
#define AN_THOUGHT AN_START("0", "\"thinking\",\"thinking\":\"\"") AN_THINK("0", "Hm, ") AN_THINK("0", "so.") AN_ADD("0", "\"signature_delta\",\"signature\":\"c2ln\"") AN_STOP("0")
enum { ANSWERS = 17 };
typedef struct answer { int status; const char *headers, *body; } answer;
static const answer answers[2][ANSWERS] = {
    {
        { 200, NULL, SSE_TEXT("W\\u00f6rds ") SSE_TEXT("and words.") SSE_STOP },
        { 200, NULL, SSE_THINK("Hm.") SSE_TEXT("So it is.") SSE_STOP },
        { 200, NULL, SSE_TEXT("I look.") SSE_CALL("0", "c1", "alpha", "{\\\"x\\\":") SSE_CALL("1", "c2", "beta", "{}") SSE_ARGS("0", "1}") SSE_TOOLS },
        { 200, NULL, SSE_CALL("0", "c1", "solo", "{}") SSE_CALL("1", "c2", "nobody", "{}") SSE_CALL("2", "c3", "beta", "[1") SSE_CALL("3", "c1", "alpha", "{}") SSE_TOOLS },
        { 200, NULL, SSE_CALL("0", "c1", "final", "{}") SSE_TOOLS },
        { 200, NULL, SSE_TEXT("Half a") SSE_CALL("0", "c1", "beta", "{}") SSE_CALL("1", "c2", "alpha", "{\\\"x") SSE_FINISH("length") SSE_USAGE SSE_DONE },
        { 200, NULL, SSE_TEXT("Ha") SSE_FINISH("content_filter") SSE_DONE },
        { 200, NULL, SSE_TEXT("Odd.") SSE_FINISH("whatever") SSE_DONE },
        { 200, NULL, SSE_USAGE SSE_FINISH("stop") SSE_DONE },
        { 200, NULL, SSE_THINK("Only thoughts.") SSE_STOP },
        { 200, NULL, SSE_TEXT("<think>tags</think>Then.") SSE_("{\"error\":{\"message\":\"overloaded\",\"code\":\"server_error\"}}") },
        { 200, NULL, SSE_("{\"error\":{\"message\":\"overloaded\",\"code\":\"server_error\"}}") },
        { 200, "content-type: application/json\n", "{\"choices\":[{\"message\":{\"content\":\"whole\"},\"finish_reason\":\"stop\"}]}" },
        { 429, "content-type: application/json\nretry-after: 2\n", "{\"error\":{\"message\":\"slow down\",\"code\":\"rate_limit_exceeded\"}}" },
        { 500, "content-type: text/html\n", "<html>no</html>" },
        { 401, "content-type: application/json\n", "{\"error\":{\"message\":\"no such key\"}}" },
        { 400, "content-type: application/json\n", "{\"error\":{\"message\":\"Unrecognized request argument supplied: stream_options\"}}" }
    },
    {
        { 200, NULL, AN_BEGIN AN_SAY("W\xC3\xB6rds and words.") AN_END("end_turn") },
        { 200, NULL, AN_BEGIN AN_THOUGHT AN_TALK("1", "So it is.") AN_END("end_turn") },
        { 200, NULL, AN_BEGIN AN_SAY("I look.") AN_CALL("1", "alpha", "{\\\"x\\\":1}") AN_CALL("2", "beta", "{}") AN_END("tool_use") },
        { 200, NULL, AN_BEGIN AN_THOUGHT AN_CALL("1", "solo", "{}") AN_CALL("2", "nobody", "{}") AN_CALL("3", "beta", "[1") AN_CALL("4", "alpha", "{}") AN_END("tool_use") },
        { 200, NULL, AN_BEGIN AN_CALL("0", "final", "{}") AN_END("tool_use") },
        { 200, NULL, AN_BEGIN AN_SAY("Half a") AN_CALL("1", "beta", "{}") AN_TOOL("2", "alpha") AN_JSON("2", "{\\\"x") AN_END("max_tokens") },
        { 200, NULL, AN_BEGIN AN_SAY("Ha") AN_END("refusal") },
        { 200, NULL, AN_BEGIN AN_SAY("Odd.") AN_END("whatever") },
        { 200, NULL, AN_BEGIN AN_END("end_turn") },
        { 200, NULL, AN_BEGIN AN_SAY("I search.") AN_START("1", "\"server_tool_use\",\"id\":\"srvtoolu_1\",\"name\":\"web_search\",\"input\":{}")
          AN_JSON("1", "{\\\"query\\\":\\\"x\\\"}") AN_STOP("1") AN_END("pause_turn") },
        { 200, NULL, AN_BEGIN AN_START("0", "\"server_tool_use\",\"id\":\"srvtoolu_2\",\"name\":\"web_search\",\"input\":{}") AN_STOP("0")
          AN_START("1", "\"web_search_tool_result\",\"tool_use_id\":\"srvtoolu_2\",\"content\":[]") AN_STOP("1") AN_TALK("2", "Found.") AN_CALL("3", "beta", "{}") AN_END("tool_use") },
        { 200, NULL, AN_BEGIN AN_SAY("Wait") SSE_("{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}") },
        { 200, NULL, SSE_("{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}") },
        { 429, "content-type: application/json\nretry-after: 2\n", "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}" },
        { 529, "content-type: application/json\n", "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}" },
        { 401, "content-type: application/json\n", "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"no\"}}" },
        { 413, "content-type: application/json\n", "{\"type\":\"error\",\"error\":{\"type\":\"request_too_large\",\"message\":\"too long\"}}" }
    }
};

/* ---- connections ---- */
static walk_conn *conn_of(walk *w, agent_id id)
{
    size_t i;
    for (i = 0; i < w->conn_n; i++) if (w->conns[i].id == id) return &w->conns[i];
    return NULL;
}
static void conn_gone(walk *w, walk_conn *c)
{
    if (c->pin) W_CHECK(agent_recv_ack(w->e, c->id, rnd(w, 2) ? c->pin_n : 0) == AGENT_OK);      /* the room goes back on the dead id */
    text_free(&c->in);
    text_free(&c->out);
    *c = w->conns[--w->conn_n];
}
static int conn_end(walk *w, walk_conn *c, int clean);
static void conn_play(walk *w, walk_conn *c)                  /* its request is there: it gets an answer                  */
{
    const answer *a = &answers[c->session][w->calm ? 0 : rnd(w, 3) ? rnd(w, 6) : rnd(w, ANSWERS)];
    const char *headers = a->headers ? a->headers : "content-type: text/event-stream\n";
    char line[64];
    c->busy = 1;
    c->in.n = c->at = 0;
    if (c->via == AGENT_VIA_HTTP) {
        int rc = agent_http_head(w->e, c->id, a->status, headers, AGENT_CSTR);
        W_CHECK(rc == AGENT_OK || rc == AGENT_E_NOMEM || rc == AGENT_E_STALE || rc == AGENT_E_STATE);
        text_str(&c->in, a->body);
        return;
    }
    sprintf(line, "HTTP/1.1 %d X\r\n", a->status);
    text_str(&c->in, line);
    host_lines(&c->in, headers);
    if (one_in(w, 4)) {
        sprintf(line, "Content-Length: %lu\r\n\r\n", (unsigned long)strlen(a->body));
        text_str(&c->in, line);
        text_str(&c->in, a->body);
        return;
    }
    text_str(&c->in, "Transfer-Encoding: chunked\r\n\r\n");
    host_chunks(&c->in, a->body, strlen(a->body));
    text_str(&c->in, "0\r\n\r\n");
}
static void body_check(int session, const char *p, size_t n)
{
    const char *why;
    agent_str s;
    s.p = p;
    s.n = n;
    why = session ? host_anthropic_fault(s) : host_body_fault(s);
    if (why) fprintf(stderr, "%s: %s: %.*s\n", walk_name, why, (int)n, p);
    W_CHECK(why == NULL);
}
static void conn_request(walk *w, walk_conn *c)               /* is it whole?                                             */
{
    size_t head = 0, n = c->body_len;
    if (c->via == AGENT_VIA_BYTES) {
        char *end = c->out.n ? strstr(c->out.p, "\r\n\r\n") : NULL, *len;
        if (end == NULL) return;
        head = (size_t)(end - c->out.p) + 4;
        len = strstr(c->out.p, "\r\ncontent-length: ");
        W_CHECK(len && len < end);
        n = len ? (size_t)strtoul(len + 18, NULL, 10) : 0;
    } else if (c->requests) return;
    if (c->out.n < head + n) return;
    W_CHECK(c->out.n == head + n);
    body_check(c->session, c->out.p ? c->out.p + head : "", n);
    c->out.n = 0;
    c->requests++;
    if (!w->calm && c->requests > 1 && one_in(w, 5)) (void)conn_end(w, c, 1);         /* it had idled too long           */
    else conn_play(w, c);
}
static void conn_open(walk *w, walk_conn *c)
{
    int rc;
    c->asked = 0;
    if (!w->calm && one_in(w, 12)) {
        rc = agent_failed(w->e, c->id, AGENT_FAIL_REFUSED, "refused", AGENT_CSTR);
        W_CHECK(rc == AGENT_OK);
        c->ended = 1;
        return;
    }
    c->via = one_in(w, 2) ? AGENT_VIA_HTTP : AGENT_VIA_BYTES;
    rc = agent_opened(w->e, c->id, c->via, NULL);
    W_CHECK(rc == AGENT_OK || rc == AGENT_E_STATE);           /* withdrawn: its CLOSE comes                              */
    if (rc == AGENT_OK) c->opened = 1; else c->ended = 1;
}
static int conn_send(walk *w, walk_conn *c)
{
    size_t n;
    const char *p = (const char *)agent_send_buf(w->e, c->id, &n);
    if (p == NULL) return 0;
    if (!w->calm && one_in(w, 3)) n = 1 + rnd(w, (uint32_t)n);
    if (!w->calm && !c->busy && one_in(w, 20) && agent_send_rewind(w->e, c->id) == AGENT_OK) { c->out.n = 0; return 1; }
    text_add(&c->out, p, n);
    W_CHECK(agent_send_ack(w->e, c->id, n) == AGENT_OK);
    return 1;
}
static int conn_end(walk *w, walk_conn *c, int clean)
{
    int rc;
    if (c->ended || !c->opened) return 0;
    if (c->pin) { W_CHECK(agent_recv_ack(w->e, c->id, 0) == AGENT_OK); c->pin = NULL; }
    rc = clean ? agent_eof(w->e, c->id) : agent_failed(w->e, c->id, AGENT_FAIL_RESET, "reset", AGENT_CSTR);
    W_CHECK(rc == AGENT_OK || rc == AGENT_E_STALE);
    c->ended = 1;
    c->busy = 0;
    return 1;
}
static int conn_feed(walk *w, walk_conn *c)
{
    size_t n = c->in.n - c->at, taken = 0, cap;
    int rc;
    if (!c->busy || c->ended || !c->opened) return 0;
    if (n == 0) {
        c->busy = 0;
        if (c->via == AGENT_VIA_HTTP || (!w->calm && one_in(w, 3))) return conn_end(w, c, 1);
        return 1;
    }
    if (!w->calm && n > 1) n = 1 + rnd(w, (uint32_t)(n < 200 ? n : 200));
    if (c->pin == NULL && one_in(w, 3)) {
        c->pin = (char *)agent_recv_buf(w->e, c->id, &cap);
        if (c->pin == NULL) return 0;
        c->pin_n = n < cap ? n : cap;
        memcpy(c->pin, c->in.p + c->at, c->pin_n);
        if (!w->calm && one_in(w, 2)) return 1;              /* it goes on for a while                                   */
    }
    if (c->pin) {
        rc = agent_recv_ack(w->e, c->id, c->pin_n);
        W_CHECK(rc == AGENT_OK);
        c->at += c->pin_n;
        c->pin = NULL;
        return 1;
    }
    rc = agent_feed(w->e, c->id, c->in.p + c->at, n, &taken);
    W_CHECK(rc == AGENT_OK || rc == AGENT_E_FULL || rc == AGENT_E_STALE || rc == AGENT_E_STATE || rc == AGENT_E_NOMEM);
    c->at += taken;
    if (rc == AGENT_E_STATE || rc == AGENT_E_STALE) c->busy = 0;
    return taken > 0;
}

/* ---- events ---- */
static void on_open(walk *w, const agent_event *ev)
{
    walk_conn *c;
    if (w->conn_n == CONNS) abort();
    c = &w->conns[w->conn_n++];
    memset(c, 0, sizeof *c);
    c->id = ev->conn;
    c->session = ev->peer == w->peer[1];
    c->asked = 1;
    c->body_len = (size_t)ev->u.open.body_len;
}
static void on_event(walk *w, const agent_event *ev)
{
    walk_conn *c = ev->conn ? conn_of(w, ev->conn) : NULL;
    size_t i;
    switch (ev->type) {
    case AGENT_EV_OPEN: on_open(w, ev); break;
    case AGENT_EV_CLOSE:
        W_CHECK(c != NULL);
        if (c) conn_gone(w, c);
        break;
    case AGENT_EV_NEED_DONE: if (c) c->asked = 0; break;
    case AGENT_EV_SEND: W_CHECK(c != NULL); break;            /* its bytes may have been taken before                    */
    case AGENT_EV_TOOL_RUN:
        i = w->call_n < CALLS ? w->call_n++ : rnd(w, CALLS);
        w->calls[i].s = ev->session;
        w->calls[i].call = ev->call;
        break;
    case AGENT_EV_CREDENTIAL:
        i = ev->peer == w->peer[1];
        memset(&w->need[i], 0, sizeof w->need[i]);
        w->need[i].type = ev->type;
        w->need[i].peer = ev->peer;
        w->need[i].need = ev->need;
        w->keyed[i] = 1;
        break;
    case AGENT_EV_RUN_END:
        w->runs++;
        for (i = 0; i < SESSIONS; i++) if (w->s[i] == ev->session) w->outcome[i] = ev->u.end.outcome;
        break;
    default: break;
    }
}
static void broken(walk *w)
{
    if (w->check.why[0] == 0) { test_passed++; return; }
    fprintf(stderr, "%s: %s\n", walk_name, w->check.why);
    W_CHECK(!"a promise was broken");
    w->check.why[0] = 0;
}
static const agent_event *next(walk *w)
{
    const agent_event *ev = agent_next(w->e);
    char line[400];
    if (ev == NULL) return NULL;
    w->events++;
    w->check.light = w->events % 16 != 0;
    if (w->trace) { agent_event_json(ev, line, sizeof line); fprintf(stderr, "%s\n", line); }
    check_event(&w->check, ev);
    broken(w);
    on_event(w, ev);
    return ev;
}
static void look(walk *w)                                     /* agent_next had nothing                                   */
{
    int i;
    if (agent_deadline(w->e) <= w->now) return;               /* it has not been to the end                               */
    for (i = 0; i < SESSIONS; i++) if (w->s[i]) {
        check_table(&w->check, w->e, w->s[i]);
        check_pending(&w->check, w->e, w->s[i]);
    }
    broken(w);
}

/* ---- what a host does ---- */
static int random_call(walk *w, agent_id *s, agent_num *call)
{
    size_t i;
    if (w->call_n == 0) return 0;
    i = rnd(w, (uint32_t)w->call_n);
    *s = w->calls[i].s;
    *call = w->calls[i].call;
    return 1;
}
static void do_tool(walk *w)
{
    agent_id s;
    agent_num call;
    int rc, what = (int)rnd(w, 7);
    agent_event ev;
    if (!random_call(w, &s, &call)) return;
    memset(&ev, 0, sizeof ev);
    ev.type = AGENT_EV_TOOL_RUN;
    ev.session = s;
    ev.call = call;
    tell(w, "tool", (long)call, what);
    if (what == 0) rc = agent_tool_append(w->e, s, call, "some \xF0\x9F output", 14);
    else if (what == 1) rc = agent_tool_update(w->e, s, call, "at w\xFFrk", AGENT_CSTR);
    else if (what == 2) rc = agent_tool_done(w->e, s, call, AGENT_DONE_ERROR);
    else if (what == 3 && one_in(w, 4)) rc = agent_tool_done(w->e, s, call, AGENT_DONE_OK | AGENT_DONE_END_RUN);
    else if (what == 4) rc = agent_decline(w->e, &ev);
    else rc = agent_tool_result(w->e, s, call, "fine", AGENT_CSTR);
    W_CHECK(rc == AGENT_OK || rc == AGENT_LATE || rc == AGENT_E_NOMEM || rc == AGENT_E_STALE || rc == AGENT_E_STATE);
}
static void do_say(walk *w, int i)
{
    static const int lanes[] = { AGENT_QUEUE, AGENT_QUEUE, AGENT_STEER, AGENT_STORE, AGENT_NOW };
    int lane = lanes[rnd(w, 5)], n = !one_in(w, 6), rc;
    agent_part part[2];
    memset(part, 0, sizeof part);
    part[0].text = agenti_cstr("Say \xE2\x82 something");
    part[1].text = agenti_cstr("and more");
    rc = agent_submit(w->e, w->s[i], n ? part : NULL, n ? 1 + rnd(w, 2) : 0, lane);
    tell(w, "submit", lane, rc);
    if (rc > 0) { W_CHECK(rc == w->items[i] + 1); w->items[i] = rc; }
    else W_CHECK(rc == AGENT_E_NOMEM || (rc == AGENT_E_STATE && (n == 0 || lane == AGENT_NOW)));
}
static void do_stop(walk *w, int i)
{
    int when = 1 + (int)rnd(w, 3);
    tell(w, "stop", i, when);
    check_stop(&w->check, w->s[i], when);
    W_CHECK(agent_stop(w->e, w->s[i], when) == AGENT_OK);
    if (one_in(w, 4)) W_CHECK(agent_stop(w->e, w->s[i], when) == AGENT_OK);
}
static void do_queue(walk *w, int i)
{
    uint32_t item = rnd(w, (uint32_t)w->items[i] + 3), before = one_in(w, 2) ? 0 : rnd(w, (uint32_t)w->items[i] + 2);
    agent_item at;
    int rc, lane = (int)(one_in(w, 3) ? rnd(w, 4) : rnd(w, 2));
    size_t k;
    if (one_in(w, 2) && agent_queue_at(w->e, w->s[i], rnd(w, 3), &at) == AGENT_OK) item = at.item;
    if (one_in(w, 2)) rc = agent_queue_cancel(w->e, w->s[i], item); else rc = agent_queue_move(w->e, w->s[i], item, lane, before);
    tell(w, "queue", (long)item, rc);
    W_CHECK(rc == AGENT_OK || rc == AGENT_LATE || rc == AGENT_E_ARG);
    for (k = 0; agent_queue_at(w->e, w->s[i], k, &at) == AGENT_OK; k++) {
        agent_part p;
        W_CHECK(at.item > 0 && at.item <= (uint32_t)w->items[i] && k < 10000);
        W_CHECK(agent_queue_part(w->e, w->s[i], at.item, 0, &p) == (at.part_count ? AGENT_OK : AGENT_E_ARG));
    }
}
static void do_retry(walk *w, int i)
{
    int what = one_in(w, 3) ? AGENT_RETRY_STOP : AGENT_RETRY_NOW, rc = agent_retry(w->e, w->s[i], what);
    tell(w, "retry", what, rc);
    if (rc == AGENT_OK && what == AGENT_RETRY_NOW) check_go_on(&w->check, w->s[i]);
    W_CHECK(rc == AGENT_OK || rc == AGENT_LATE);
}
static void do_table(walk *w, int i)
{
    size_t had = agent_messages(w->e, w->s[i]), k = rnd(w, (uint32_t)had + 1);
    agent_msg m;
    int rc;
    if (one_in(w, 2)) rc = agent_regenerate(w->e, w->s[i]);
    else if (had && k < had && agent_message(w->e, w->s[i], k, &m) == AGENT_OK) {
        rc = agent_message_cut(w->e, w->s[i], m.id);
        tell(w, "cut", (long)m.id, rc);
        W_CHECK((rc > 0 && agent_messages(w->e, w->s[i]) == k) || (rc == AGENT_E_STATE && agent_messages(w->e, w->s[i]) == had));
        return;
    } else return;
    tell(w, "regenerate", i, rc);
    if (rc > 0) { W_CHECK(rc == w->items[i] + 1); w->items[i] = rc; }
    else W_CHECK((rc == AGENT_E_STATE || rc == AGENT_E_NOMEM) && agent_messages(w->e, w->s[i]) == had);
}
static void do_add(walk *w, int i)
{
    size_t had = agent_messages(w->e, w->s[i]);
    int role = had ? (int)rnd(w, 3) : AGENT_USER, rc;         /* a conversation begins with the user                     */
    agent_part p[2];
    memset(p, 0, sizeof p);
    p[0].text = agenti_cstr("{\"added\":1}");
    if (role == AGENT_TOOLS || (role == AGENT_MODEL && one_in(w, 2))) {
        p[0].kind = role == AGENT_TOOLS ? AGENT_PART_RESULT : AGENT_PART_CALL;
        p[0].wire_id = agenti_cstr("added_1");
        p[0].name = agenti_cstr("alpha");
    }
    rc = agent_message_add(w->e, w->s[i], role, p, 1);
    tell(w, "add", role, rc);
    W_CHECK(rc > 0 || rc == AGENT_E_ARG || rc == AGENT_E_STATE || rc == AGENT_E_NOMEM);
    W_CHECK(agent_messages(w->e, w->s[i]) == had + (rc > 0));
}
static const agent_tool tools[] = {
    { "alpha", "the first", "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"integer\"}}}", 0, 0, NULL }, { "beta", NULL, NULL, AGENT_TF_REPLAY_SAFE, 700, NULL },
    { "solo", NULL, NULL, AGENT_TF_SERIAL, AGENT_OFF, NULL }, { "final", NULL, NULL, AGENT_TF_ENDS_RUN, 0, NULL }
};
static void do_option(walk *w, int i)
{
    static const char *const rows[][2] = { { "model", "m2" }, { "model", "m1" }, { "temperature", "0.5" }, { "tool_choice", "required" }, { "tool_choice", "alpha" },
        { "tool_choice", "" }, { "system", "Be brief." }, { "system", "" }, { "stop", "[\"x\"]" }, { "reasoning_effort", "low" }, { "max_tokens", "100" }, { "seed", "7" } };
    uint32_t k = rnd(w, sizeof rows / sizeof *rows);
    int rc = one_in(w, 4) ? agent_session_tools(w->e, w->s[i], tools, rnd(w, 5)) : agent_session_set(w->e, w->s[i], rows[k][0], rows[k][1], AGENT_CSTR);
    tell(w, "option", (long)k, rc);
    W_CHECK(rc == AGENT_OK || rc == AGENT_E_NOMEM);
}
static void do_export(walk *w, int i)
{
    agent_str out;
    int rc = agent_export(w->e, w->s[i], one_in(w, 2) ? "anthropic" : "openai-chat", &out);
    W_CHECK(rc == AGENT_OK || rc == AGENT_E_STATE || rc == AGENT_E_NOMEM);
    if (rc == AGENT_OK) W_CHECK(agent_json_check(out.p, out.n, 64, NULL) == AGENT_OK);
}
static void open_session(walk *w, int i)
{
    agent_session_desc d;
    memset(&d, 0, sizeof d);
    d.peer = w->peer[i];
    d.model = "m1";
    d.tools = tools;
    d.tool_count = 4;
    d.flags = rnd(w, 4) ? (rnd(w, 2) ? AGENT_S_GO_ON : 0u) | (rnd(w, 2) ? AGENT_S_CHECKPOINTS : 0u) : rnd(w, 64) & ~(uint32_t)AGENT_S_THINK_OPEN;        /* models that write the tags themselves */
    d.max_steps = one_in(w, 3) ? 1 + rnd(w, 4) : 0;
    d.parallel_tools = one_in(w, 3) ? 1 + rnd(w, 2) : 0;
    d.max_retries = one_in(w, 4) ? AGENT_OFF : rnd(w, 4);
    d.retry_ms = 1 + rnd(w, 100);
    d.hint_cap_ms = one_in(w, 3) ? 1000 : 0;
    d.tool_ms = one_in(w, 3) ? AGENT_OFF : 1 + rnd(w, 2000);
    d.grace_ms = one_in(w, 3) ? AGENT_OFF : rnd(w, 300);
    d.step_ms = one_in(w, 4) ? 1 + rnd(w, 3000) : 0;
    d.run_ms = one_in(w, 4) ? 1 + rnd(w, 6000) : 0;
    d.max_run_tokens = one_in(w, 6) ? 30 : 0;
    d.stop_finish = one_in(w, 8) ? 1u << AGENT_FINISH_TOOLS : 0;
    w->desc[i] = d;
    w->s[i] = agent_session_open(w->e, &d);
    w->items[i] = 0;
    tell(w, "open session", i, (long)w->s[i]);
    W_CHECK(w->s[i] || strcmp(agent_last(w->e), "out of memory") == 0);
}
static void close_session(walk *w, int i)
{
    tell(w, "close session", i, 0);
    W_CHECK(agent_session_close(w->e, w->s[i]) == AGENT_OK && agent_session_close(w->e, w->s[i]) == AGENT_E_STALE);
    check_session_closed(&w->check, w->s[i]);
    w->s[i] = 0;
}
/* Saved at this moment and loaded into another one, which goes on in its place.                                        */
static void do_reload(walk *w, int i)
{
    static const size_t pieces[] = { 1, 7, 100, 4096 };
    int rc;
    size_t k;
    agent_id s = host_reload(&w->check, w->e, w->s[i], &w->desc[i], pieces[rnd(w, 4)], &rc);
    tell(w, "reload", i, rc);
    if (rc && w->trace) fprintf(stderr, "%s\n", agent_last(w->e));
    W_CHECK(s ? rc == AGENT_OK : rc == AGENT_E_NOMEM);
    if (s == 0) return;
    for (k = 0; k < w->call_n; k++) if (w->calls[k].s == w->s[i]) w->calls[k].s = s;
    w->s[i] = s;
}
static void do_time(walk *w)
{
    uint64_t at = agent_deadline(w->e), ms = rnd(w, 30);
    if (one_in(w, 3) && at != UINT64_MAX && at > w->now) ms = at - w->now;
    else if (one_in(w, 20)) ms = rnd(w, 200000);
    w->now += ms;
    tell(w, "later", (long)ms, (long)w->now);
    W_CHECK(agent_tick(w->e, w->now, 0) == AGENT_OK);
}
static void do_key(walk *w, int i)
{
    int rc;
    if (!w->keyed[i]) return;
    rc = one_in(w, 2) ? agent_decline(w->e, &w->need[i]) : agent_peer_key(w->e, w->peer[i], "sk-very-secret-key", AGENT_CSTR, 0);
    tell(w, "key", rc, 0);
    if (rc != AGENT_E_NOMEM) w->keyed[i] = 0;
    W_CHECK(rc == AGENT_OK || rc == AGENT_LATE || rc == AGENT_E_NOMEM);
}
static void do_memory(walk *w)
{
    w->heap.fail_on = one_in(w, 4);
    w->heap.fail_at = one_in(w, 3) ? 0 : w->heap.calls + 1 + (long)rnd(w, 30);
    tell(w, "memory", w->heap.fail_at, w->heap.fail_on);
}
static void do_conn(walk *w, uint32_t what)
{
    walk_conn *c;
    if (w->conn_n == 0) return;
    c = &w->conns[rnd(w, (uint32_t)w->conn_n)];
    if (c->asked) { if (what < 30) conn_open(w, c); return; }
    if (c->ended || !c->opened) return;
    tell(w, "conn", (long)c->id, (long)what);
    if (what == 59) (void)conn_end(w, c, (int)rnd(w, 2));
    else if (conn_send(w, c)) conn_request(w, c);
    else (void)conn_feed(w, c);
}
static void step(walk *w)
{
    uint32_t what = rnd(w, 100), k;
    int i = (int)rnd(w, SESSIONS);
    if (w->s[i] == 0) { open_session(w, i); return; }
    if (what < 60) { do_conn(w, what); for (k = rnd(w, 4); k && next(w); k--) {} }
    else if (what < 66) { for (k = rnd(w, 100); k; k--) if (!next(w)) { look(w); break; } }
    else if (what < 76) do_tool(w);
    else if (what < 80) do_time(w);
    else if (what < 84) do_say(w, i);
    else if (what < 86) do_stop(w, i);
    else if (what < 88) do_queue(w, i);
    else if (what < 91) do_retry(w, i);
    else if (what < 93) do_table(w, i);
    else if (what < 94) do_add(w, i);
    else if (what < 95) do_option(w, i);
    else if (what < 96) do_export(w, i);
    else if (what < 97) do_key(w, i);
    else if (what < 98) do_memory(w);
    else if (what < 99) do_reload(w, i);
    else if (one_in(w, 20)) close_session(w, i);
}

/* ---- the end of a walk ---- */
static int answer_tools(walk *w)
{
    agent_event ev;
    size_t i;
    int k, done = 0;
    for (k = 0; k < SESSIONS; k++) for (i = 0; w->s[k] && agent_pending(w->e, w->s[k], i, &ev) == AGENT_OK; i++)
        if (ev.type == AGENT_EV_TOOL_RUN) { W_CHECK(agent_tool_result(w->e, w->s[k], ev.call, "fine", AGENT_CSTR) == AGENT_OK); done = 1; break; }
    return done;
}
static void settle(walk *w)
{
    unsigned turns;
    uint64_t at;
    for (turns = 0; turns < 20000; turns++) {
        size_t i;
        int moved = 0;
        while (next(w)) moved = 1;
        for (i = 0; i < w->conn_n; i++) {
            walk_conn *c = &w->conns[i];
            if (c->asked) { conn_open(w, c); moved = 1; }
            if (!c->opened || c->ended) continue;
            while (conn_send(w, c)) { moved = 1; conn_request(w, c); }
            moved |= conn_feed(w, c);
        }
        moved |= answer_tools(w);
        for (i = 0; i < SESSIONS; i++) if (w->keyed[i]) { do_key(w, (int)i); moved = 1; }
        if (moved || agent_deadline(w->e) <= w->now) continue;
        look(w);
        if ((at = agent_deadline(w->e)) == UINT64_MAX) return;
        w->now = at;
        W_CHECK(agent_tick(w->e, w->now, 0) == AGENT_OK);
    }
    W_CHECK(!"it does not settle");
}
static void walk_over(walk *w)
{
    int i;
    tell(w, "settle", 0, 0);
    w->heap.fail_at = 0;
    w->calm = 1;
    for (i = 0; i < SESSIONS; i++) if (w->s[i] == 0) open_session(w, i);
    settle(w);
    check_idle(&w->check);
    broken(w);
    for (i = 0; i < SESSIONS; i++) {
        w->outcome[i] = -1;
        tell(w, "last message", i, 0);
        W_CHECK(agent_say(w->e, w->s[i], "next", AGENT_CSTR) > 0);
        settle(w);
        W_CHECK(w->outcome[i] == AGENT_COMPLETED);
        close_session(w, i);
        settle(w);
        W_CHECK(agent_peer_close(w->e, w->peer[i]) == AGENT_OK);
    }
    settle(w);
    check_over(&w->check);
    broken(w);
    W_CHECK(w->conn_n == 0);
    agent_close(w->e);
    W_CHECK(w->heap.live == 0 && w->heap.bytes == 0);
    check_free(&w->check);
}
static void walk_begin(walk *w, unsigned seed)
{
    static const char *const providers[] = { "openai-compatible", "anthropic" };
    agent_peer_desc p;
    agent_desc d;
    int i;
    memset(w, 0, sizeof *w);
    w->number = seed;
    w->seed = seed * 0x9E3779B97F4A7C15u + 1;
    w->trace = getenv("WALK_TRACE") != NULL;
    sprintf(walk_name, "WALK_SEED=%u WALK_STEPS=%d", seed, WALK);
    memset(&d, 0, sizeof d);
    memset(&p, 0, sizeof p);
    d.alloc = host_alloc;
    d.alloc_ctx = &w->heap;
    d.seed = seed;
    d.limits.piece = one_in(w, 2) ? 16 : 0;
    d.limits.recv = one_in(w, 2) ? 512 : 0;
    d.limits.scan_per_next = one_in(w, 2) ? 64 : 0;
    d.limits.conns = one_in(w, 4) ? 2 : 0;
    check_init(&w->check, "sk-very-secret-key", d.limits.piece);
    W_CHECK(agent_open(&w->e, &d) == AGENT_OK);
    for (i = 0; i < SESSIONS; i++) {
        p.provider = providers[i];
        p.url = "http://model.test:8080/v1";
        p.key = "sk-very-secret-key";
        p.first_ms = one_in(w, 2) ? 500 : 0;
        p.idle_ms = one_in(w, 2) ? 300 : 0;
        w->peer[i] = agent_peer_open(w->e, &p);
        W_CHECK(w->peer[i] != 0);
        open_session(w, i);
    }
}
static unsigned long env_number(const char *name, unsigned long otherwise)
{
    const char *v = getenv(name);
    return v && *v ? strtoul(v, NULL, 10) : otherwise;
}
int main(void)
{
    unsigned long steps = env_number("WALK_STEPS", 400000), n, k;
    unsigned seed = (unsigned)env_number("WALK_SEED", 1), bad = 0;
    walk *w = (walk *)malloc(sizeof *w);
    walk_conn *conns = (walk_conn *)malloc(CONNS * sizeof *conns);
    unsigned long events = 0, runs = 0;
    if (w == NULL || conns == NULL) return 1;
    for (n = 0; n < steps && bad < 10; seed++) {
        unsigned failed = test_failed;
        walk_begin(w, seed);
        w->conns = conns;
        for (k = 0; k < WALK && n < steps; k++, n++) step(w);
        walk_over(w);
        events += w->events;
        runs += w->runs;
        bad += test_failed != failed;
    }
    free(conns);
    free(w);
    CHECK(runs > 0);
    printf("%lu steps, %lu events, %lu runs\n", n, events, runs);
    return test_end("test_walk");
}
