/* Loop scripts of cases: a small host that has no sockets. It runs a script once in one way (who speaks HTTP, how bytes come in and
 * are cut, whom it cancels, what fails), and judges the engine by the script, by the invariant checker and by what it sends.
 * Include agent.h first. */
#ifndef SCRIPT_H
#define SCRIPT_H
#include "examples/replay.h"
#include "check_events.h"
#include "match.h"
#include "ways.h"

#define SCRIPT_KEY "sk-SECRET-0123456789"
typedef struct script_out { char *json; size_t n; int used; } script_out;
typedef struct script_call { char *id; agent_num call; int open; } script_call;
typedef struct script_later { agent_str step; size_t out_n; } script_later;  /* judged at the end                        */
typedef struct script {
    agent_str steps;
    /* how */
    int via, recv; size_t step, cut;         /* pieces of `step` bytes, or one cut of each input; 0: whole               */
    unsigned long cancel_at;                 /* after this event; 0: never                                              */
    size_t break_at;                         /* the stream fails after so many bytes of an input; (size_t)-1: never      */
    void *block; size_t block_size;
    uint32_t piece;
    int careless;                            /* the script's own expectations may fail                                  */
    /* state */
    agent_engine *e;
    agent_id peer, session, llm;
    int blocks;                              /* the format is anthropic, not openai-chat                                */
    int answering, busy, llm_closed, stop, broken;
    uint64_t now;
    replay_text *events; size_t event_n, at; /* lines                                                                   */
    script_out *outs; size_t out_n, out_at;  /* out_at: after the last one that matched                                 */
    script_call *calls; size_t call_n;
    script_later *later; size_t later_n;
    captures caps;
    check c;
    uint64_t log;
    unsigned long seen;                      /* events of the whole run                                                 */
    ways_heap heap;
    char why[300];
} script;

static int script_fail(script *s, const char *what, const char *more)
{
    if (s->why[0] == 0) sprintf(s->why, "%.120s%.160s", what, more);
    s->stop = 1;
    return 0;
}
/* What breaks in any way of running, also when the script's expectations do not count.                                 */
static void script_bad(script *s, const char *what, const char *more)
{
    if (!s->broken) { s->why[0] = 0; s->broken = 1; }
    script_fail(s, what, more);
}

/* ---- what the engine sends ---- */
static int script_is(agent_str v, const char *text) { return v.p && agent_json_is(v, text); }
/* What a request must be for a provider to take it: no orphan calls or results, nothing empty, and a last message that can be answered.
 * Both formats as one list of steps: a message's role, its calls, its results.                                         */
typedef struct script_wait { agent_str id[64]; size_t n; } script_wait;
static const char *script_asks(script_wait *w, agent_str id)
{
    if (w->n == 64) return "too many calls";
    if (match_kind(id) != '"' || id.n <= 2) return "a call without an id";
    w->id[w->n++] = id;
    return NULL;
}
static const char *script_answers(script_wait *w, agent_str id)
{
    size_t i;
    for (i = 0; i < w->n && !match_text_is(w->id[i], id); i++) {}
    if (i == w->n) return "a result without its call";
    w->id[i] = w->id[--w->n];
    return NULL;
}
static const char *script_chat_message(script_wait *w, agent_str m, agent_str role)
{
    agent_str calls = match_get(m, "tool_calls"), content = match_get(m, "content"), call;
    const char *why = NULL;
    size_t pos = 0;
    if (script_is(role, "tool")) return script_answers(w, match_get(m, "tool_call_id"));
    if (w->n) return "a call without its result";
    if (calls.p == NULL && (content.p == NULL || content.n <= 2 || match_kind(content) == 'n')) return "an empty message";
    while (why == NULL && calls.p && agent_json_each(calls, &pos, NULL, &call)) why = script_asks(w, match_get(call, "id"));
    return why;
}
/* Roles take turns, results come first, and all of them are in the message after the calls.                            */
static const char *script_block_message(script_wait *w, agent_str m, agent_str role, agent_str before)
{
    agent_str content = match_get(m, "content"), block, type;
    const char *why = NULL;
    size_t pos = 0, n = 0;
    if (before.p && match_json(role, before, 0, NULL)) return "two messages of one role";
    while (why == NULL && agent_json_each(content, &pos, NULL, &block)) {
        type = match_get(block, "type");
        n++;
        if (script_is(type, "tool_result")) { why = script_answers(w, match_get(block, "tool_use_id")); continue; }
        if (script_is(role, "user") && w->n) return "a call without its result";
        if (script_is(type, "tool_use")) why = script_asks(w, match_get(block, "id"));
        if (script_is(type, "text") && match_get(block, "text").n <= 2) return "an empty text";
    }
    return why == NULL && n == 0 ? "an empty message" : why;
}
static const char *script_sendable(agent_str body, int blocks)
{
    agent_str m, role = match_none(), before;
    script_wait w;
    const char *why = NULL;
    size_t pos = 0;
    agent_str list = match_get(body, "messages");
    w.n = 0;
    while (why == NULL && agent_json_each(list, &pos, NULL, &m)) {
        before = role;
        role = match_get(m, "role");
        why = blocks ? script_block_message(&w, m, role, before) : script_chat_message(&w, m, role);
    }
    if (why) return why;
    if (w.n) return "a call without its result";
    return script_is(role, "user") || script_is(role, "tool") ? NULL : "the last message is neither the user's nor a result";
}
static void script_collect(script *s, agent_id conn)
{
    replay_text t = { NULL, 0, 0 };
    const char *p, *body, *why;
    agent_str v, name, value;
    size_t n, i, bearer = 0;
    while ((p = (const char *)agent_send_buf(s->e, conn, &n)) != NULL) {
        if (s->step && n > s->step * 100) n = s->step * 100;
        replay_put(&t, p, n);
        agent_send_ack(s->e, conn, n);
    }
    for (i = 0; agent_open_header(s->e, conn, i, &name, &value) == AGENT_OK; i++) bearer += check_has(value.p, value.n, SCRIPT_KEY);
    if (bearer != 1) script_bad(s, "the key is not in exactly one header", "");
    body = t.n ? t.p : "";
    if (s->via == AGENT_VIA_BYTES) {
        char line[64];
        const char *head = t.n ? strstr(t.p, "\r\n\r\n") : NULL;
        if (head == NULL) { script_bad(s, "no HTTP request was sent", ""); free(t.p); return; }
        body = head + 4;
        sprintf(line, "\r\ncontent-length: %lu\r\n", (unsigned long)(t.n - (size_t)(body - t.p)));
        if (strncmp(t.p, s->blocks ? "POST /v1/messages HTTP/1.1\r\n" : "POST /v1/chat/completions HTTP/1.1\r\n", s->blocks ? 28 : 36)
            || (s->blocks && strstr(t.p, "\r\nanthropic-version: 2023-06-01\r\n") == NULL) || strstr(t.p, line) == NULL) script_bad(s, "the HTTP request is wrong", "");
    }
    v.p = body;
    v.n = t.n - (t.n ? (size_t)(body - t.p) : 0);
    if (agent_json_check(v.p, v.n, 0, NULL) != AGENT_OK) script_bad(s, "the request's body is no JSON", "");
    else if ((why = script_sendable(v, s->blocks)) != NULL) script_bad(s, "a request that no provider accepts: ", why);
    for (i = 0; i < v.n; i++) s->log = (s->log ^ (unsigned char)v.p[i]) * 1099511628211u;
    s->outs = (script_out *)check_more(s->outs, s->out_n, sizeof *s->outs);
    s->outs[s->out_n].json = (char *)malloc(v.n + 1);
    if (s->outs[s->out_n].json == NULL) abort();
    memcpy(s->outs[s->out_n].json, v.p, v.n);
    s->outs[s->out_n].n = v.n;
    s->outs[s->out_n++].used = 0;
    s->llm = conn;
    s->answering = s->llm_closed = 0;
    free(t.p);
}

/* ---- events ---- */
static void script_note(script *s, const agent_event *ev)
{
    static const char *const reasons[] = { "done", "cancelled", "failed", "limit" };
    replay_text t = { NULL, 0, 0 };
    switch (ev->type) {
    case AGENT_EV_INPUT_START: case AGENT_EV_INPUT_DELTA: return;
    case AGENT_EV_TOOL_CALL:
        if (ev->u.tool.by == AGENT_BY_HOST) return;
        replay_line(&t, ev);
        break;
    case AGENT_EV_TOOL_RUN:
        replay_call(&t, ev);
        s->calls = (script_call *)check_more(s->calls, s->call_n, sizeof *s->calls);
        s->calls[s->call_n].id = (char *)malloc(ev->u.tool.wire_id.n + 1);
        if (s->calls[s->call_n].id == NULL) abort();
        memcpy(s->calls[s->call_n].id, ev->u.tool.wire_id.p, ev->u.tool.wire_id.n + 1);
        s->calls[s->call_n].call = ev->call;
        s->calls[s->call_n++].open = 1;
        break;
    case AGENT_EV_TOOL_RESULT:
        if (ev->u.tool.by == AGENT_BY_PROVIDER) { replay_line(&t, ev); break; }
        replay_puts(&t, "{\"ev\":\"tool_result\"");
        replay_member(&t, "id", ev->u.tool.wire_id);
        replay_member(&t, "name", ev->name);
        replay_member(&t, "text", ev->text);
        replay_puts(&t, ev->u.tool.status == AGENT_DONE_OK ? ",\"is_error\":false}\n" : ",\"is_error\":true}\n");
        break;
    case AGENT_EV_RUN_END:
        replay_puts(&t, "{\"ev\":\"run_end\"");
        replay_member(&t, "reason", replay_str(reasons[ev->u.end.outcome & 3]));
        replay_puts(&t, "}\n");
        break;
    default: replay_line(&t, ev); break;
    }
    if (t.n == 0) return;
    s->events = (replay_text *)check_more(s->events, s->event_n, sizeof *s->events);
    s->events[s->event_n++] = t;
}
static void script_event(script *s, const agent_event *ev)
{
    const char *p;
    check_event(&s->c, ev);
    for (p = s->c.line; p && *p; p++) s->log = (s->log ^ (unsigned char)*p) * 1099511628211u;
    script_note(s, ev);
    switch (ev->type) {
    case AGENT_EV_OPEN:
        if (agent_opened(s->e, ev->conn, s->via, NULL) != AGENT_OK) script_bad(s, "agent_opened: ", agent_last(s->e));
        else script_collect(s, ev->conn);
        break;
    case AGENT_EV_SEND: script_collect(s, ev->conn); break;
    case AGENT_EV_CLOSE: if (ev->conn == s->llm) { s->llm = 0; s->llm_closed = 1; } break;
    case AGENT_EV_RUN_START: s->busy = 1; break;
    case AGENT_EV_RUN_END: s->busy = 0; break;
    default: break;
    }
    if (s->cancel_at && s->c.events == s->cancel_at) {
        agent_cancel(s->e, s->session);
        if (s->busy) check_cancel(&s->c, s->session);
        s->stop = 1;
    }
}
static void script_pump(script *s)
{
    const agent_event *ev;
    do while ((ev = agent_next(s->e)) != NULL) script_event(s, ev); while (agent_deadline(s->e) <= s->now);
    if (s->c.why[0]) script_bad(s, s->c.why, "");
}

/* ---- host steps ---- */
static int script_keys(script *s, agent_str object, const char *allowed)     /* " a b c "                               */
{
    agent_str k, v;
    char key[64];
    size_t pos = 0;
    while (agent_json_each(object, &pos, &k, &v)) {
        sprintf(key, " %.50s ", "");
        if (k.n < 50) sprintf(key, " %.*s ", (int)k.n, k.p);
        if (k.n >= 50 || strstr(allowed, key) == NULL) return script_fail(s, "unknown key", key);
    }
    return 1;
}
static int script_tools(script *s, agent_str list, agent_tool *tools, char (*names)[65], size_t *n)
{
    agent_str t;
    size_t pos = 0;
    for (*n = 0; agent_json_each(list, &pos, NULL, &t); ++*n) {
        if (*n == 16) return script_fail(s, "too many tools", "");
        if (!script_keys(s, t, " name permission ")) return 0;
        if (!script_is(match_get(t, "permission"), "allow")) return script_fail(s, "a permission other than allow is not in this build", "");
        agent_json_text(match_get(t, "name"), names[*n], 65);
        memset(&tools[*n], 0, sizeof tools[*n]);
        tools[*n].name = names[*n];
    }
    return 1;
}
static int script_open(script *s, agent_str host)
{
    agent_session_desc d;
    agent_peer_desc p;
    agent_tool tools[16];
    char names[16][65];
    memset(&d, 0, sizeof d);
    memset(&p, 0, sizeof p);
    s->blocks = script_is(match_get(host, "provider"), "anthropic");
    if (!s->blocks && !script_is(match_get(host, "provider"), "openai-chat")) return script_fail(s, "unknown provider", "");
    if (!script_tools(s, match_get(host, "tools"), tools, names, &d.tool_count)) return 0;
    p.provider = s->blocks ? "anthropic" : "openai-compatible";
    p.url = "http://host.test/v1";
    p.key = SCRIPT_KEY;
    d.tools = tools;
    d.model = "m";
    d.max_retries = d.grace_ms = AGENT_OFF;
    if ((s->peer = agent_peer_open(s->e, &p)) == 0) return script_fail(s, "agent_peer_open: ", agent_last(s->e));
    d.peer = s->peer;
    if ((s->session = agent_session_open(s->e, &d)) == 0) return script_fail(s, "agent_session_open: ", agent_last(s->e));
    return 1;
}
static int script_say(script *s, agent_str prompt)
{
    size_t n;
    char *text = match_text(prompt, &n);
    int rc = agent_say(s->e, s->session, text, n);
    free(text);
    return rc > 0 ? 1 : script_fail(s, "agent_say: ", agent_last(s->e));
}
static int script_result(script *s, agent_str host)
{
    size_t n, i;
    char *id = match_text(match_get(host, "id"), NULL), *text = match_text(match_get(host, "text"), &n);
    int rc = AGENT_E_ARG, error = script_is(match_get(host, "is_error"), "true") || match_kind(match_get(host, "is_error")) == 't';
    for (i = s->call_n; i-- > 0;) if (s->calls[i].open && strcmp(s->calls[i].id, id) == 0) {
        s->calls[i].open = 0;
        rc = agent_tool_append(s->e, s->session, s->calls[i].call, text, n);
        agent_tool_done(s->e, s->session, s->calls[i].call, error ? AGENT_DONE_ERROR : AGENT_DONE_OK);
        break;
    }
    free(id);
    free(text);
    return rc == AGENT_OK ? 1 : script_fail(s, "no tool run has this id, or its result was refused", "");
}
static int script_host(script *s, agent_str host)
{
    agent_str what = match_get(host, "do");
    if (script_is(what, "run")) {
        if (!script_keys(s, host, " do provider tools prompt ")) return 0;
        if ((s->session == 0 || match_get(host, "provider").p) && !script_open(s, host)) return 0;
        return script_say(s, match_get(host, "prompt"));
    }
    if (script_is(what, "tool_result")) return script_keys(s, host, " do id text is_error ") && script_result(s, host);
    if (script_is(what, "cancel")) {
        if (!script_keys(s, host, " do session ")) return 0;
        if (s->busy) check_cancel(&s->c, s->session);
        return agent_cancel(s->e, s->session) == AGENT_OK ? 1 : script_fail(s, "agent_cancel: ", agent_last(s->e));
    }
    return script_fail(s, "unknown action", "");
}

/* ---- bytes from the peer ---- */
static int script_hex(int c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }
/* One piece {"utf8"|"hex", "times"}: appended to t. 0: it is none.                                                     */
static int script_piece(agent_str piece, replay_text *t)
{
    agent_str utf8 = match_get(piece, "utf8"), hex = match_get(piece, "hex"), times = match_get(piece, "times");
    int64_t n = times.p ? agent_json_int(times, -1) : 1;
    size_t size, i;
    char *p;
    if ((utf8.p == NULL) == (hex.p == NULL) || match_kind(utf8.p ? utf8 : hex) != '"' || n < 0 || n > 100000000
        || match_members(piece) != (times.p ? 2u : 1u)) return 0;
    p = match_text(utf8.p ? utf8 : hex, &size);
    for (i = 0; hex.p && i + 1 < size; i += 2) {
        int a = script_hex(p[i]), b = script_hex(p[i + 1]);
        if (a < 0 || b < 0) { free(p); return 0; }
        p[i / 2] = (char)(a * 16 + b);
    }
    if (hex.p && size % 2) { free(p); return 0; }
    if (hex.p) size /= 2;
    for (; n > 0; n--) replay_put(t, p, size);
    free(p);
    return 1;
}
/* "${x}" becomes the JSON of what was captured.                                                                        */
static int script_fill(script *s, replay_text *t)
{
    replay_text out = { NULL, 0, 0 };
    size_t i = 0, k, end;
    while (i < t->n) {
        if (t->p[i] != '$' || i + 1 == t->n || t->p[i + 1] != '{') { replay_put(&out, t->p + i++, 1); continue; }
        for (end = i; end < t->n && t->p[end] != '}'; end++) {}
        for (k = 0; k < s->caps.n; k++)
            if (strlen(s->caps.v[k].name) == end - i - 1 && memcmp(s->caps.v[k].name + 1, t->p + i + 2, end - i - 2) == 0) break;
        if (k == s->caps.n) { free(out.p); return 0; }
        replay_put(&out, s->caps.v[k].json, s->caps.v[k].n);
        i = end + 1;
    }
    free(t->p);
    *t = out;
    return 1;
}
static size_t script_give(script *s, const char *p, size_t n)
{
    size_t taken = 0;
    void *q;
    if (!s->recv) { agent_feed(s->e, s->llm, p, n, &taken); return taken; }
    q = agent_recv_buf(s->e, s->llm, &taken);
    if (q == NULL) return 0;
    if (taken > n) taken = n;
    memcpy(q, p, taken);
    agent_recv_ack(s->e, s->llm, taken);
    return taken;
}
static void script_feed(script *s, const char *p, size_t n)
{
    size_t at = 0, end, k;
    agent_id conn = s->llm;
    int refused = 0;
    while (at < n && s->llm == conn && conn) {
        end = s->step ? at + s->step : at < s->cut ? s->cut : n;
        if (at < s->break_at && end > s->break_at) end = s->break_at;
        if (end > n) end = n;
        for (; at < end && s->llm == conn; at += k) {
            k = script_give(s, p + at, end - at);
            script_pump(s);
            refused = k ? 0 : refused + 1;
            if (refused == 2 && s->llm == conn) { agent_failed(s->e, conn, AGENT_FAIL_HOST, agent_last(s->e), AGENT_CSTR); return; }
        }
        if (at == s->break_at && s->llm == conn) {
            agent_failed(s->e, conn, AGENT_FAIL_RESET, "broken by the test", AGENT_CSTR);
            s->stop = 1;
            return;
        }
    }
}
static int script_in(script *s, agent_str step)
{
    replay_text data = { NULL, 0, 0 }, all = { NULL, 0, 0 };
    agent_str in = match_get(step, "in"), type = match_get(step, "content_type"), close = match_get(step, "close"), piece;
    int end = match_kind(match_get(step, "end")) == 't', ok = 1;
    char *mime = type.p ? match_text(type, NULL) : NULL;
    char line[40];
    size_t pos = 0;
    if (!script_is(match_get(step, "on"), "llm")) ok = script_fail(s, "bytes on a channel that this layer does not have", "");
    else if (close.p && !script_is(close, "reset")) ok = script_fail(s, "unknown close", "");
    else if (s->llm == 0) ok = script_fail(s, "no request is open", "");
    if (ok && match_kind(in) == '[') while (agent_json_each(in, &pos, NULL, &piece)) ok = ok && script_piece(piece, &data);
    else if (ok) ok = script_piece(in, &data);
    if (ok && !script_fill(s, &data)) ok = 0;
    if (!ok) script_fail(s, "bytes that cannot be read", "");
    if (ok && s->via == AGENT_VIA_HTTP) {
        replay_puts(&all, "content-type: ");
        replay_puts(&all, mime ? mime : "text/event-stream");
        if (!s->answering) agent_http_head(s->e, s->llm, 200, all.p, all.n);
        all.n = 0;
        replay_put(&all, data.p, data.n);
    } else if (ok) {
        if (!s->answering) {
            replay_puts(&all, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: ");
            replay_puts(&all, mime ? mime : "text/event-stream");
            replay_puts(&all, "\r\n\r\n");
        }
        sprintf(line, "%lx\r\n", (unsigned long)data.n);
        if (data.n) { replay_puts(&all, line); replay_put(&all, data.p, data.n); replay_puts(&all, "\r\n"); }
        if (end) replay_puts(&all, "0\r\n\r\n");
    }
    if (ok) {
        agent_id conn = s->llm;
        s->answering = 1;
        if (all.n) script_feed(s, all.p, all.n);
        if (s->llm == conn && close.p) agent_failed(s->e, conn, AGENT_FAIL_RESET, NULL, 0);
        else if (s->llm == conn && end && s->via == AGENT_VIA_HTTP && !s->stop) agent_eof(s->e, conn);
    }
    free(mime);
    free(data.p);
    free(all.p);
    return ok;
}

/* ---- expectations ---- */
static int script_event_is(const replay_text *t, agent_str kind)
{
    agent_str v;
    v.p = t->p;
    v.n = t->n - 1;
    return match_text_is(match_get(v, "ev"), kind);
}
static int script_fits(script *s, agent_str want, agent_str got)             /* all members but ev                       */
{
    agent_str k, v, x;
    size_t pos = 0;
    while (agent_json_each(want, &pos, &k, &v)) {
        if ((k.n == 2 && memcmp(k.p, "ev", 2) == 0) || (k.n == 13 && memcmp(k.p, "exact_numbers", 13) == 0)) continue;
        x = match_member(got, k);
        if (k.n == 2 && memcmp(k.p, "id", 2) == 0 && script_is(v, "*") && x.n > 2) continue;
        if (x.p == NULL || !match_json(v, x, match_get(want, "exact_numbers").p ? MATCH_DIGITS | MATCH_EXACT : MATCH_EXACT, &s->caps)) return 0;
    }
    return 1;
}
/* Text and reasoning come in pieces: all up to another kind of event, as one line.                                     */
static void script_join(script *s, size_t from, size_t *to, agent_str kind, replay_text *line)
{
    replay_text all = { NULL, 0, 0 };
    agent_str v;
    size_t n;
    char *p;
    for (*to = from; *to < s->event_n; ++*to) {
        v.p = s->events[*to].p;
        v.n = s->events[*to].n - 1;
        if (script_is(match_get(v, "ev"), "warning") || script_is(match_get(v, "ev"), "source")) continue;
        if (!script_event_is(&s->events[*to], kind)) break;
        p = match_text(match_get(v, "text"), &n);
        replay_put(&all, p, n);
        free(p);
    }
    v.p = all.p;
    v.n = all.n;
    replay_puts(line, "{\"ev\":\"joined\"");
    replay_member(line, "text", v);
    replay_puts(line, "}\n");
    free(all.p);
}
/* Does event number `at` fit `want`? Then *next is the event after what it took.                                       */
static int script_one(script *s, agent_str want, size_t at, size_t *next)
{
    agent_str kind = match_get(want, "ev"), got;
    replay_text joined = { NULL, 0, 0 };
    int ok;
    *next = at + 1;
    if (!script_event_is(&s->events[at], kind)) return 0;
    got.p = s->events[at].p;
    got.n = s->events[at].n - 1;
    if (script_is(kind, "text") || script_is(kind, "reasoning")) {
        script_join(s, at, next, kind, &joined);
        got.p = joined.p;
        got.n = joined.n - 1;
    }
    ok = script_fits(s, want, got);
    free(joined.p);
    return ok;
}
static int script_known_kind(script *s, agent_str want)
{
    static const char *const kinds[] = { "text", "reasoning", "tool_call", "tool_result", "finish", "error", "run_end", "warning", "source" };
    agent_str kind = match_get(want, "ev");
    size_t i;
    for (i = 0; i < sizeof kinds / sizeof *kinds; i++) if (script_is(kind, kinds[i])) return 1;
    return script_fail(s, "an event kind that this layer does not have", "");
}
static int script_ev(script *s, agent_str step, int any)
{
    agent_str list = any ? match_get(step, "ev_any") : step, want;
    size_t pos, next;
    char got[160];
    for (; s->at < s->event_n; s->at++) {
        agent_str v;
        int kind = 0;
        pos = 0;
        for (want = step; any ? agent_json_each(list, &pos, NULL, &want) : pos++ == 0;) {
            size_t mark = s->caps.n;
            if (!script_known_kind(s, want)) return 0;
            if (script_one(s, want, s->at, &next)) { s->at = next; return 1; }
            match_forget(&s->caps, mark);
            kind |= script_event_is(&s->events[s->at], match_get(want, "ev"));
        }
        v.p = s->events[s->at].p;
        v.n = s->events[s->at].n - 1;
        if (!kind && !script_is(match_get(v, "ev"), "error") && !script_is(match_get(v, "ev"), "run_end")) continue;
        sprintf(got, "%.150s", v.p);
        return script_fail(s, "another event came: ", got);
    }
    sprintf(got, "%.*s", (int)(step.n < 150 ? step.n : 150), step.p);
    return script_fail(s, "the event did not come: ", got);
}
static int script_out_fits(script *s, size_t i, agent_str want, int flags)
{
    agent_str got;
    size_t mark = s->caps.n;
    got.p = s->outs[i].json;
    got.n = s->outs[i].n;
    if (match_json(want, got, flags, &s->caps)) return 1;
    match_forget(&s->caps, mark);
    return 0;
}
static int script_channel(script *s, agent_str step)
{
    agent_str on = match_get(step, "on");
    return on.p == NULL || script_is(on, "llm") ? 1 : script_fail(s, "a channel that this layer does not have", "");
}
static int script_sent(script *s, agent_str step)
{
    agent_str want = match_get(step, "out_contains");
    int flags = want.p ? 0 : MATCH_EXACT, early = match_kind(match_get(step, "any_order")) == 't';
    size_t i;
    if (!script_channel(s, step)) return 0;
    if (want.p == NULL) want = match_get(step, "out_exact");
    for (i = early ? 0 : s->out_at; i < s->out_n; i++) {
        if ((i < s->out_at && s->outs[i].used) || !script_out_fits(s, i, want, flags)) continue;
        s->outs[i].used = 1;
        if (i >= s->out_at) s->out_at = i + 1;
        return 1;
    }
    return script_fail(s, "no such message was sent", s->out_at < s->out_n ? "" : " (none at all)");
}
static int script_at_end(script *s, const script_later *l)
{
    agent_str after = match_get(l->step, "out_after_none"), max = match_get(l->step, "out_max"), none = match_get(l->step, "ev_none");
    size_t i, n = 0;
    if (none.p) {
        for (i = 0; i < s->event_n; i++) if (script_event_is(&s->events[i], none)) return script_fail(s, "an event came that must not", "");
        return 1;
    }
    if (after.p) {
        for (i = l->out_n; i < s->out_n; i++) if (script_out_fits(s, i, after, 0)) return script_fail(s, "a message was sent that must not", "");
        return 1;
    }
    for (i = 0; i < s->out_n; i++) n += (size_t)script_out_fits(s, i, match_get(max, "match"), 0);
    return (int64_t)n <= agent_json_int(match_get(max, "n"), -1) ? 1 : script_fail(s, "more such messages were sent than allowed", "");
}
static int script_step(script *s, agent_str step)
{
    agent_str v;
    size_t i;
    if (match_get(step, "host").p) {
        int ok = script_keys(s, step, " host ") && script_host(s, match_get(step, "host"));
        script_pump(s);
        return ok;
    }
    if (match_get(step, "in").p) {
        int ok = script_keys(s, step, " in on end close content_type ") && script_in(s, step);
        script_pump(s);
        return ok;
    }
    if (match_get(step, "ev").p) return script_ev(s, step, 0);
    if (match_get(step, "ev_any").p) return script_keys(s, step, " ev_any ") && script_ev(s, step, 1);
    if (match_get(step, "out_contains").p) return script_keys(s, step, " out_contains on any_order ") && script_sent(s, step);
    if (match_get(step, "out_exact").p) return script_keys(s, step, " out_exact on any_order ") && script_sent(s, step);
    if ((v = match_get(step, "out_none")).p) {
        if (!script_keys(s, step, " out_none on ") || !script_channel(s, step)) return 0;
        for (i = 0; i < s->out_n; i++) if (script_out_fits(s, i, v, 0)) return script_fail(s, "a message was sent that must not", "");
        return 1;
    }
    if ((v = match_get(step, "out_close")).p) {
        if (!script_keys(s, step, " out_close ") || !script_is(v, "llm")) return script_fail(s, "a channel that this layer does not have", "");
        return s->llm_closed ? 1 : script_fail(s, "the engine has not ended the request", "");
    }
    if (match_get(step, "out_after_none").p || match_get(step, "out_max").p || match_get(step, "ev_none").p) {
        if (!script_keys(s, step, " out_after_none out_max ev_none on ")) return 0;
        if ((v = match_get(step, "out_max")).p && (!script_keys(s, v, " on match n ") || !script_channel(s, v))) return 0;
        s->later = (script_later *)check_more(s->later, s->later_n, sizeof *s->later);
        s->later[s->later_n].step = step;
        s->later[s->later_n++].out_n = s->out_n;
        return 1;
    }
    return script_fail(s, "unknown step", "");
}

/* ---- all of it ---- */
/* The host goes: what runs is cancelled, then one more message must find the session in order.                         */
static void script_leave(script *s)
{
    size_t i, outs;
    if (s->session) {
        if (s->busy) check_cancel(&s->c, s->session);
        agent_cancel(s->e, s->session);
        script_pump(s);
        if (s->busy) script_bad(s, "the cancelled run has not ended", "");
        outs = s->out_n;
        if (agent_say(s->e, s->session, "Go on.", AGENT_CSTR) > 0) {
            script_pump(s);
            if (s->busy && s->out_n == outs) {           /* it waits for the last answer's rest                         */
                s->now += 2000;
                agent_tick(s->e, s->now, 1800000000000u + s->now);
                script_pump(s);
            }
            if (s->busy && s->out_n == outs) script_bad(s, "no request after a cancel", "");
        }
        if (s->busy) check_cancel(&s->c, s->session);
        agent_cancel(s->e, s->session);
        script_pump(s);
        check_idle(&s->c);
        agent_session_close(s->e, s->session);
        script_pump(s);
        check_session_closed(&s->c, s->session);
    }
    if (s->peer) agent_peer_close(s->e, s->peer);
    script_pump(s);
    for (i = 0; i < s->c.conn_n; i++) agent_failed(s->e, s->c.conns[i], AGENT_FAIL_HOST, NULL, 0);
    script_pump(s);
    check_over(&s->c);
    if (s->c.why[0]) script_bad(s, s->c.why, "");
}
static void script_run_steps(script *s)
{
    agent_str step;
    size_t pos = 0, i;
    while (!s->stop && agent_json_each(s->steps, &pos, NULL, &step)) script_step(s, step);
    for (i = 0; !s->stop && i < s->later_n; i++) script_at_end(s, &s->later[i]);
}
static void script_free(script *s)
{
    size_t i;
    for (i = 0; i < s->event_n; i++) free(s->events[i].p);
    for (i = 0; i < s->out_n; i++) free(s->outs[i].json);
    for (i = 0; i < s->call_n; i++) free(s->calls[i].id);
    free(s->events);
    free(s->outs);
    free(s->calls);
    free(s->later);
    match_forget(&s->caps, 0);
    check_free(&s->c);
}
/* `how` says steps and ways; the state is made and freed here. 1: all is as the script wants it (or only not broken, if careless). */
static int script_run(script *how)
{
    script *s = how;
    agent_desc d;
    int rc;
    memset(&d, 0, sizeof d);
    s->e = NULL;
    s->peer = s->session = s->llm = 0;
    s->answering = s->busy = s->llm_closed = s->stop = s->broken = 0;
    s->event_n = s->at = s->out_n = s->out_at = s->call_n = s->later_n = 0;
    s->events = NULL; s->outs = NULL; s->calls = NULL; s->later = NULL;
    s->now = 1;
    s->caps.n = 0;
    s->log = 1469598103934665603u;
    s->why[0] = 0;
    s->heap.live = s->heap.calls = 0;
    check_init(&s->c, SCRIPT_KEY, s->piece);
    d.seed = 7;
    d.alloc = ways_alloc;
    d.alloc_ctx = &s->heap;
    d.block = s->block;
    d.block_size = s->block_size;
    d.limits.piece = s->piece;
    s->heap.trap = s->block != NULL;
    rc = agent_open(&s->e, &d);
    if (rc == AGENT_OK) {
        agent_tick(s->e, s->now, 1800000000000u);
        script_run_steps(s);
        script_leave(s);
        agent_close(s->e);
    } else script_fail(s, "agent_open: ", agent_code_text(rc));
    if (s->heap.live) script_bad(s, "memory was not given back", "");
    if (s->heap.trap == 2) script_bad(s, "memory outside of the block was asked for", "");
    s->seen = s->c.events;
    script_free(s);
    return s->careless ? !s->broken : s->why[0] == 0;
}
#endif
