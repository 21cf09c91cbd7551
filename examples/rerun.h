/* Makes the calls of a flight record again and compares what comes of them. The engine that is driven records as well: its lines must be
 * those of the file, calls, return codes and events. A star in either stands for any byte: that is what a key became.
 * Needs agent.h before it, with its implementation. */
#ifndef RERUN_H
#define RERUN_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef RERUN_MOST
#define RERUN_MOST ((size_t)256 << 20)        /* bytes that a line may ask for                                          */
#endif
enum { RERUN_SAME, RERUN_DIFFERS, RERUN_UNREADABLE };
typedef struct rerun_room { struct rerun_room *next; } rerun_room;             /* what a line needs, given back behind it */
typedef struct rerun_read { agent_id conn; void *p; size_t cap; struct rerun_read *next; } rerun_read;
typedef struct rerun {
    int result;
    size_t line, calls, events;               /* line: the one that is made again, from 1; where it ended               */
    size_t torn;                              /* bytes of a last line without an end                                    */
    const char *why;                          /* UNREADABLE                                                             */
    char version[32];                         /* of the engine that wrote the file, if it is another one                 */
    const char *expected; size_t expected_n;  /* DIFFERS: the line of the file                                          */
    char *got; size_t got_n, got_cap;         /* and what came; rerun_free                                              */
    agent_engine *e;
    const char *at, *p, *end;                 /* up to here it was the same; the line that is made again                */
    rerun_room *room, *header;
    rerun_read *reads;
    void *block;
    uint64_t *refused, asked; size_t refused_n, refused_at;
    int no_room;
} rerun;

/* ---- memory ---- */
static void *rerun_take(rerun *r, size_t n)   /* zeroed; NULL: too much                                                 */
{
    rerun_room *m = n > RERUN_MOST ? NULL : (rerun_room *)calloc(1, sizeof(double) * 2 + n);
    if (m == NULL) { r->no_room = 1; return NULL; }
    m->next = r->room;
    r->room = m;
    return (char *)m + sizeof(double) * 2;
}
static void rerun_give(rerun_room **list)
{
    while (*list) {
        rerun_room *next = (*list)->next;
        free(*list);
        *list = next;
    }
}
/* The engine's allocator: refuses what the host's has refused. The engine itself is request 0.                          */
static void *rerun_alloc(void *ctx, void *p, size_t old_n, size_t n)
{
    rerun *r = (rerun *)ctx;
    uint64_t k;
    (void)old_n;
    if (n == 0) { free(p); return NULL; }
    k = r->asked++;
    while (r->refused_at < r->refused_n && r->refused[r->refused_at] < k) r->refused_at++;
    if (r->refused_at < r->refused_n && r->refused[r->refused_at] == k) return NULL;
    return realloc(p, n);
}
static void rerun_refuse(rerun *r, uint64_t n)
{
    uint64_t *q;
    if (r->refused_n % 64 == 0) {
        if ((q = (uint64_t *)realloc(r->refused, (r->refused_n + 64) * sizeof *q)) == NULL) { r->no_room = 1; return; }
        r->refused = q;
    }
    r->refused[r->refused_n++] = n;
}
static void rerun_sink(void *ctx, const void *p, size_t n)
{
    rerun *r = (rerun *)ctx;
    char *q;
    if (n > r->got_cap - r->got_n) {
        size_t cap = (r->got_n + n) * 2;
        if ((q = (char *)realloc(r->got, cap)) == NULL) { r->no_room = 1; return; }
        r->got = q;
        r->got_cap = cap;
    }
    memcpy(r->got + r->got_n, p, n);
    r->got_n += n;
}

/* ---- members of a line ---- */
static uint64_t rerun_u64(agent_str line, const char *key)
{
    agent_str v = agent_json_get(line, key);
    uint64_t n = 0;
    size_t i;
    for (i = 0; i < v.n && i < 20 && v.p[i] >= '0' && v.p[i] <= '9'; i++) n = n * 10 + (uint64_t)(v.p[i] - '0');     /* wraps when it is no u64 */
    return n;
}
static uint32_t rerun_u32(agent_str line, const char *key) { return (uint32_t)rerun_u64(line, key); }
static size_t rerun_size(agent_str line, const char *key) { return (size_t)rerun_u64(line, key); }
static int rerun_int(agent_str line, const char *key)
{
    int64_t v = agent_json_int(agent_json_get(line, key), 0);
    return v < -2147483647 || v > 2147483647 ? 0 : (int)v;
}
static size_t rerun_base64(agent_str v, char *to)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0, n = 0;
    size_t i, out = 0;
    for (i = 0; i < v.n; i++) {
        const char *at = v.p[i] ? strchr(letters, v.p[i]) : NULL;
        if (at == NULL) continue;
        bits = bits << 6 | (uint32_t)(at - letters);
        if ((n += 6) >= 8) to[out++] = (char)(bits >> (n -= 8) & 255);
    }
    return out;
}
/* One text: a string, {"base64": ...}, or a list of both, joined. p NULL: it is not there.                              */
static agent_str rerun_str(rerun *r, agent_str line, const char *key)
{
    agent_str v = agent_json_get(line, key), one, in, out;
    size_t pos = 0, cap = v.n > RERUN_MOST / 3 ? RERUN_MOST : v.n * 3 + 1;    /* a byte that is no UTF-8 becomes three   */
    char *to;
    int list = v.n && v.p[0] == '[';
    out.p = NULL;
    out.n = 0;
    if (v.p == NULL || (to = (char *)rerun_take(r, cap)) == NULL) return out;
    out.p = to;
    for (one = v; list ? agent_json_each(v, &pos, &in, &one) : pos++ == 0; ) {
        if (one.n && one.p[0] == '{' && (in = agent_json_get(one, "base64")).n) out.n += rerun_base64(in, to + out.n);
        else if (one.n && one.p[0] == '"') out.n += agent_json_text(one, to + out.n, cap - out.n);
    }
    to[out.n] = 0;
    return out;
}
static const char *rerun_cstr(rerun *r, agent_str line, const char *key) { return rerun_str(r, line, key).p; }
static const char *rerun_word(rerun *r, agent_str line, const char *key) { const char *p = rerun_cstr(r, line, key); return p ? p : ""; }
static void *rerun_list(rerun *r, agent_str list, size_t size, size_t *n)     /* room for its elements                  */
{
    agent_str key, value;
    size_t pos = 0;
    for (*n = 0; list.n && agent_json_each(list, &pos, &key, &value); ) ++*n;
    return *n && *n < RERUN_MOST / size ? rerun_take(r, *n * size) : NULL;
}
static const agent_tool *rerun_tools(rerun *r, agent_str line, size_t *n)
{
    agent_str list = agent_json_get(line, "tools"), key, one;
    agent_tool *t = (agent_tool *)rerun_list(r, list, sizeof *t, n);
    size_t pos = 0, i;
    if (t == NULL) *n = rerun_size(line, "n");
    for (i = 0; t && agent_json_each(list, &pos, &key, &one); i++) {
        t[i].name = rerun_cstr(r, one, "name");
        t[i].description = rerun_cstr(r, one, "description");
        t[i].schema = rerun_cstr(r, one, "schema");
        t[i].flags = rerun_u32(one, "flags");
        t[i].timeout_ms = rerun_u32(one, "timeout_ms");
    }
    return t;
}
static const agent_part *rerun_parts(rerun *r, agent_str line, size_t *n)
{
    agent_str list = agent_json_get(line, "parts"), key, one;
    agent_part *p = (agent_part *)rerun_list(r, list, sizeof *p, n);
    size_t pos = 0, i;
    if (p == NULL) *n = 0;
    for (i = 0; p && agent_json_each(list, &pos, &key, &one); i++) {
        p[i].kind = (uint16_t)rerun_u32(one, "kind");
        p[i].flags = (uint16_t)rerun_u32(one, "flags");
        p[i].text = rerun_str(r, one, "text");
        p[i].name = rerun_str(r, one, "name");
        p[i].mime = rerun_str(r, one, "mime");
        p[i].uri = rerun_str(r, one, "uri");
        p[i].wire_id = rerun_str(r, one, "wire_id");
        p[i].data = rerun_str(r, one, "data");
    }
    return p;
}

/* ---- the calls ---- */
#define RERUN_ID rerun_u32(l, "id")
#define RERUN_TEXT agent_str t = rerun_str(r, l, "text")
static void rerun_peer_open(rerun *r, agent_str l)
{
    agent_peer_desc d;
    memset(&d, 0, sizeof d);
    d.provider = rerun_cstr(r, l, "provider");
    d.url = rerun_cstr(r, l, "url");
    d.auth = rerun_cstr(r, l, "auth");
    d.key = rerun_cstr(r, l, "key");
    d.headers = rerun_cstr(r, l, "headers");
    d.body_json = rerun_cstr(r, l, "body_json");
    d.dialect_on = rerun_u32(l, "dialect_on");
    d.dialect_off = rerun_u32(l, "dialect_off");
    d.connect_ms = rerun_u32(l, "connect_ms");
    d.first_ms = rerun_u32(l, "first_ms");
    d.idle_ms = rerun_u32(l, "idle_ms");
    agent_peer_open(r->e, &d);
}
static void rerun_peer_close(rerun *r, agent_str l) { agent_peer_close(r->e, RERUN_ID); }
static void rerun_peer_key(rerun *r, agent_str l)
{
    agent_str key = rerun_str(r, l, "key");
    agent_peer_key(r->e, RERUN_ID, key.p, key.n, rerun_u64(l, "valid_ms"));
}
static void rerun_models(rerun *r, agent_str l) { agent_models(r->e, RERUN_ID); }
static void rerun_session_open(rerun *r, agent_str l)
{
    agent_session_desc d;
    memset(&d, 0, sizeof d);
    d.flags = rerun_u32(l, "flags");
    d.peer = rerun_u32(l, "peer");
    d.model = rerun_cstr(r, l, "model");
    d.system = rerun_cstr(r, l, "system");
    d.tools = rerun_tools(r, l, &d.tool_count);
    d.mem_limit = rerun_size(l, "mem_limit");
    d.max_tokens = rerun_u32(l, "max_tokens");
    d.max_steps = rerun_u32(l, "max_steps");
    d.parallel_tools = rerun_u32(l, "parallel_tools");
    d.max_retries = rerun_u32(l, "max_retries");
    d.retry_ms = rerun_u32(l, "retry_ms");
    d.retry_cap_ms = rerun_u32(l, "retry_cap_ms");
    d.hint_cap_ms = rerun_u32(l, "hint_cap_ms");
    d.tool_ms = rerun_u32(l, "tool_ms");
    d.grace_ms = rerun_u32(l, "grace_ms");
    d.step_ms = rerun_u32(l, "step_ms");
    d.run_ms = rerun_u32(l, "run_ms");
    d.max_run_tokens = rerun_u32(l, "max_run_tokens");
    d.stop_finish = rerun_u32(l, "stop_finish");
    agent_session_open(r->e, &d);
}
static void rerun_session_close(rerun *r, agent_str l) { agent_session_close(r->e, RERUN_ID); }
static void rerun_session_set(rerun *r, agent_str l) { RERUN_TEXT; agent_session_set(r->e, RERUN_ID, rerun_word(r, l, "key"), t.p, t.n); }
static void rerun_session_tools(rerun *r, agent_str l)
{
    size_t n;
    const agent_tool *t = rerun_tools(r, l, &n);
    agent_session_tools(r->e, RERUN_ID, t, n);
}
static void rerun_say(rerun *r, agent_str l) { RERUN_TEXT; agent_say(r->e, RERUN_ID, t.p, t.n); }
static void rerun_submit(rerun *r, agent_str l)
{
    size_t n;
    const agent_part *p = rerun_parts(r, l, &n);
    agent_submit(r->e, RERUN_ID, p, n, rerun_int(l, "lane"));
}
static void rerun_cancel(rerun *r, agent_str l) { agent_cancel(r->e, RERUN_ID); }
static void rerun_stop(rerun *r, agent_str l) { agent_stop(r->e, RERUN_ID, rerun_int(l, "when")); }
static void rerun_retry(rerun *r, agent_str l) { agent_retry(r->e, RERUN_ID, rerun_int(l, "what")); }
static void rerun_queue_cancel(rerun *r, agent_str l) { agent_queue_cancel(r->e, RERUN_ID, rerun_u32(l, "item")); }
static void rerun_queue_move(rerun *r, agent_str l)
{
    agent_queue_move(r->e, RERUN_ID, rerun_u32(l, "item"), rerun_int(l, "lane"), rerun_u32(l, "before"));
}
static void rerun_message_add(rerun *r, agent_str l)
{
    size_t n;
    const agent_part *p = rerun_parts(r, l, &n);
    agent_message_add(r->e, RERUN_ID, rerun_int(l, "role"), p, n);
}
static void rerun_message_cut(rerun *r, agent_str l) { agent_message_cut(r->e, RERUN_ID, rerun_u32(l, "msg")); }
static void rerun_regenerate(rerun *r, agent_str l) { agent_regenerate(r->e, RERUN_ID); }
static void rerun_import(rerun *r, agent_str l) { RERUN_TEXT; agent_import(r->e, RERUN_ID, rerun_word(r, l, "wire"), t.p, t.n, NULL); }
static void rerun_export(rerun *r, agent_str l) { agent_str out; agent_export(r->e, RERUN_ID, rerun_word(r, l, "wire"), &out); }
static void rerun_tick(rerun *r, agent_str l) { agent_tick(r->e, rerun_u64(l, "mono_ms"), rerun_u64(l, "wall_ms")); }
static void rerun_opened(rerun *r, agent_str l) { agent_opened(r->e, RERUN_ID, rerun_int(l, "via"), NULL); }
static void rerun_failed(rerun *r, agent_str l) { RERUN_TEXT; agent_failed(r->e, RERUN_ID, rerun_int(l, "why"), t.p, t.n); }
static void rerun_eof(rerun *r, agent_str l) { agent_eof(r->e, RERUN_ID); }
static void rerun_http_head(rerun *r, agent_str l) { RERUN_TEXT; agent_http_head(r->e, RERUN_ID, rerun_int(l, "status"), t.p, t.n); }
/* What was not taken is not in the record; its length matters all the same.                                            */
static void rerun_feed(rerun *r, agent_str l)
{
    agent_str t = rerun_str(r, l, "text");
    size_t n = rerun_size(l, "n"), taken;
    char *p = (char *)rerun_take(r, n ? n : 1);
    if (p == NULL) return;
    if (t.p) memcpy(p, t.p, t.n < n ? t.n : n);
    agent_feed(r->e, RERUN_ID, p, n, rerun_u64(l, "part") ? &taken : NULL);
}
static void rerun_recv_buf(rerun *r, agent_str l)
{
    rerun_read *b;
    size_t cap;
    void *p = agent_recv_buf(r->e, RERUN_ID, &cap);
    for (b = r->reads; b && b->conn != RERUN_ID; b = b->next) {}
    if (b == NULL) {
        if ((b = (rerun_read *)calloc(1, sizeof *b)) == NULL) { r->no_room = 1; return; }
        b->conn = RERUN_ID;
        b->next = r->reads;
        r->reads = b;
    }
    if (p) { b->p = p; b->cap = cap; }
}
/* The bytes go where the reservation is; given back, it is none any more.                                              */
static void rerun_recv_ack(rerun *r, agent_str l)
{
    RERUN_TEXT;
    size_t n = rerun_size(l, "n");
    rerun_read *b;
    for (b = r->reads; b && b->conn != RERUN_ID; b = b->next) {}
    if (b && b->p && n <= b->cap) {
        if (t.p) memcpy(b->p, t.p, t.n < n ? t.n : n);
        b->p = NULL;
    }
    agent_recv_ack(r->e, RERUN_ID, n);
}
static void rerun_send_ack(rerun *r, agent_str l) { agent_send_ack(r->e, RERUN_ID, rerun_size(l, "n")); }
static void rerun_send_rewind(rerun *r, agent_str l) { agent_send_rewind(r->e, RERUN_ID); }
static void rerun_sign(rerun *r, agent_str l) { agent_str t = rerun_str(r, l, "headers"); agent_sign(r->e, RERUN_ID, t.p, t.n); }
static void rerun_decline(rerun *r, agent_str l)
{
    agent_event ev;
    memset(&ev, 0, sizeof ev);
    ev.type = (uint16_t)rerun_u32(l, "type");
    ev.session = RERUN_ID;
    ev.peer = rerun_u32(l, "peer");
    ev.conn = rerun_u32(l, "conn");
    ev.call = rerun_u32(l, "of");
    ev.need = rerun_u32(l, "need");
    agent_decline(r->e, rerun_u32(l, "none") ? NULL : &ev);
}
static void rerun_tool_update(rerun *r, agent_str l) { RERUN_TEXT; agent_tool_update(r->e, RERUN_ID, rerun_u32(l, "of"), t.p, t.n); }
static void rerun_tool_append(rerun *r, agent_str l) { RERUN_TEXT; agent_tool_append(r->e, RERUN_ID, rerun_u32(l, "of"), t.p, t.n); }
static void rerun_tool_done(rerun *r, agent_str l) { agent_tool_done(r->e, RERUN_ID, rerun_u32(l, "of"), rerun_int(l, "status")); }
static void rerun_tool_result(rerun *r, agent_str l) { RERUN_TEXT; agent_tool_result(r->e, RERUN_ID, rerun_u32(l, "of"), t.p, t.n); }
static void rerun_decode(rerun *r, agent_str l) { agent_decode(r->e, rerun_word(r, l, "wire"), rerun_int(l, "via"), NULL); }
static void rerun_load(rerun *r, agent_str l) { RERUN_TEXT; agent_load(r->e, RERUN_ID, t.p ? t.p : "", t.n); }
static void rerun_close(rerun *r, agent_str l) { (void)l; agent_close(r->e); r->e = NULL; }
static const struct rerun_call { const char *name; void (*make)(rerun *, agent_str line); } rerun_calls[] = {
#define RERUN(name) { #name, rerun_##name }
    RERUN(feed), RERUN(recv_buf), RERUN(recv_ack), RERUN(send_ack), RERUN(tick), RERUN(opened), RERUN(failed), RERUN(eof), RERUN(http_head),
    RERUN(send_rewind), RERUN(sign), RERUN(peer_open), RERUN(peer_close), RERUN(peer_key), RERUN(models), RERUN(session_open), RERUN(session_close),
    RERUN(session_set), RERUN(session_tools), RERUN(say), RERUN(submit), RERUN(cancel), RERUN(stop), RERUN(retry), RERUN(queue_cancel),
    RERUN(queue_move), RERUN(message_add), RERUN(message_cut), RERUN(regenerate), RERUN(import), RERUN(export), RERUN(decline), RERUN(tool_update),
    RERUN(tool_append), RERUN(tool_done), RERUN(tool_result), RERUN(decode), RERUN(load), RERUN(close)
#undef RERUN
};

/* ---- a record ---- */
static void rerun_open(rerun *r, agent_str l)
{
    agent_str list = agent_json_get(l, "providers"), key, one;
    agent_provider *rows;
    agent_desc d;
    size_t pos = 0, i;
    memset(&d, 0, sizeof d);
    if (!agent_json_is(agent_json_get(l, "version"), AGENT_VERSION)) agent_json_text(agent_json_get(l, "version"), r->version, sizeof r->version);
    d.flags = rerun_u32(l, "flags");
    d.mem_limit = rerun_size(l, "mem_limit");
    d.seed = rerun_u64(l, "seed");
    d.limits.recv = rerun_u32(l, "recv");
    d.limits.piece = rerun_u32(l, "piece");
    d.limits.item = rerun_u32(l, "item");
    d.limits.head = rerun_u32(l, "head");
    d.limits.depth = rerun_u32(l, "depth");
    d.limits.sessions = rerun_u32(l, "sessions");
    d.limits.conns = rerun_u32(l, "conns");
    d.limits.peers = rerun_u32(l, "peers");
    d.limits.calls_per_step = rerun_u32(l, "calls_per_step");
    d.limits.scan_per_next = rerun_u32(l, "scan_per_next");
    rows = (agent_provider *)rerun_list(r, list, sizeof *rows, &i);
    for (i = 0; rows && agent_json_each(list, &pos, &key, &one); i++) {
        rows[i].name = rerun_word(r, one, "name");
        rows[i].url = rerun_cstr(r, one, "url");
        rows[i].wire = rerun_cstr(r, one, "wire");
        rows[i].auth = rerun_cstr(r, one, "auth");
        rows[i].key_env = rerun_cstr(r, one, "key_env");
        rows[i].dialect = rerun_u32(one, "dialect");
        rows[i].models = rerun_cstr(r, one, "models");
        rows[i].headers = rerun_cstr(r, one, "headers");
        d.provider_count = i + 1;
    }
    d.providers = rows;
    d.alloc = rerun_alloc;
    d.alloc_ctx = r;
    d.record = rerun_sink;
    d.record_ctx = r;
    d.block_size = rerun_size(l, "block_size");
    if (d.block_size) d.block = r->block = d.block_size > RERUN_MOST ? NULL : malloc(d.block_size);
    if (d.block_size && d.block == NULL) r->why = "the fixed block is too large";
    else if (agent_open(&r->e, &d) != AGENT_OK) r->why = "no engine opens with what the first line says";
    r->header = r->room;                      /* providers are borrowed                                                 */
    r->room = NULL;
}
static int rerun_like(const char *a, const char *b, size_t n)
{
    while (n && (*a == *b || *a == '*' || *b == '*')) { a++; b++; n--; }
    return n == 0;
}
/* What was recorded up to the end of this line, against what has come. Lines: a refusal in agent_next has one of its own. */
static void rerun_compare(rerun *r)
{
    size_t n = (size_t)(r->end - r->at), k;
    const char *end;
    if (r->got_n == n && rerun_like(r->got, r->at, n)) { r->at = r->end; r->got_n = 0; return; }
    r->result = RERUN_DIFFERS;
    for (; r->at < r->p; r->at = end) {            /* lines before this one                                  */
        end = (const char *)memchr(r->at, '\n', (size_t)(r->p - r->at)) + 1;
        k = (size_t)(end - r->at);
        if (r->got_n < k || !rerun_like(r->got, r->at, k)) break;
        memmove(r->got, r->got + k, r->got_n -= k);
    }
    for (end = r->at; end < r->p; end++) if (*end == '\n') r->line--;
    end = (const char *)memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->expected = r->at;
    r->expected_n = (size_t)(end - r->at);
    end = r->got_n ? (const char *)memchr(r->got, '\n', r->got_n) : NULL;
    if (end) r->got_n = (size_t)(end - r->got);
}
static void rerun_line(rerun *r, agent_str l)
{
    agent_str name, key, value;
    size_t i, pos = 0, n = sizeof rerun_calls / sizeof *rerun_calls;
    if (agent_json_check(l.p, l.n, 0, NULL) != AGENT_OK || l.n < 2 || l.p[0] != '{') { r->why = "no JSON object"; return; }
    if (r->line == 1) {
        if (agent_json_int(agent_json_get(l, "agent_record"), 0) != 1) { r->why = "no flight record"; return; }
        rerun_open(r, l);
        if (r->e && r->version[0]) { r->at = r->end; r->got_n = 0; }
        else if (r->e) rerun_compare(r);
        return;
    }
    if (r->e == NULL) { r->why = "the engine is closed"; return; }
    while (agent_json_each(l, &pos, &key, &value))             /* more than once: each counts                           */
        if (key.n == 7 && memcmp(key.p, "refused", 7) == 0) rerun_refuse(r, (uint64_t)agent_json_int(value, 0));
    name = agent_json_get(l, "call");
    if (name.p) {
        for (i = 0; i < n && !agent_json_is(name, rerun_calls[i].name); i++) {}
        if (i == n) { r->why = "an unknown call"; return; }
        rerun_calls[i].make(r, l);
        r->calls++;
    } else if ((value = agent_json_get(l, "next")).p) {
        agent_next(r->e);
        if (value.p[0] == '{') r->events++;
    } else if (agent_json_get(l, "refused").p) return;        /* by the agent_next that follows                         */
    else { r->why = "neither a call nor an event"; return; }
    if (r->no_room) r->why = "out of memory"; else rerun_compare(r);
}
static int rerun_text(rerun *r, const char *p, size_t n)
{
    const char *end = p + n;
    agent_str l;
    memset(r, 0, sizeof *r);
    r->at = p;
    while (r->result == RERUN_SAME && p < end && (r->end = (const char *)memchr(p, '\n', (size_t)(end - p))) != NULL) {
        r->p = l.p = p;
        l.n = (size_t)(r->end - p);
        p = ++r->end;
        r->line++;
        rerun_line(r, l);
        rerun_give(&r->room);
        if (r->why) r->result = RERUN_UNREADABLE;
    }
    if (r->result == RERUN_SAME) r->torn = (size_t)(end - p);
    if (r->result == RERUN_SAME && r->line == 0) { r->result = RERUN_UNREADABLE; r->why = "no flight record"; }
    n = r->got_n;
    agent_close(r->e);                        /* a record that breaks off                                               */
    r->e = NULL;
    r->got_n = n;
    while (r->reads) {
        rerun_read *b = r->reads;
        r->reads = b->next;
        free(b);
    }
    rerun_give(&r->header);
    free(r->refused);
    free(r->block);
    r->refused = NULL;
    r->block = NULL;
    return r->result;
}
static void rerun_free(rerun *r) { free(r->got); r->got = NULL; }
#endif
