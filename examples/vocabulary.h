/* Events in the vocabulary of the tests: one JSON object a line, {"ev":"text","text":"..."}. Neighbouring texts are one text in pieces.
 *   text, reasoning {text}   tool_input {id, name | text}   tool_call {id, name, args | args_raw, args_error}   finish {reason, raw, usage}
 *   error {kind, code, message, retryable, scope, http_status, retry_after_ms, request_id, offset}   source {url, title}   warning {message, code}
 *     scope: attempt or step when it is tried again, else it is not there
 *   retry_wait {attempt, max, wait_ms, kind}   retry_go {attempt, max, kind}
 *   queued {item, op, lane, text}   op: added, delivered, returned, moved, and waits in what /queue of chat lists; lane: queue, steer, store
 *   provider_call {id, name, args}   provider_result {id, name, value, status}   file {mime, uri | data}   custom {type, value}
 * chat --json also has
 *   run_start {run}   step_start {step}   tool_result {id, name, is_error, text}   models {list}
 *   run_end {reason, steps, why, wait_ms}   reason: done, cancelled, limit, failed; why is there when more is to be said: tool or finish that
 *     ended it, steps, tokens or time that are used up, hint: the provider wants no more for wait_ms
 * Include agent.h first. */
#ifndef VOCABULARY_H
#define VOCABULARY_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct replay_text { char *p; size_t n, cap; } replay_text;          /* p is NUL-terminated once something is in it */

/* ---- text ---- */
static void replay_room(replay_text *t, size_t n)
{
    size_t cap = t->cap ? t->cap : 256;
    char *q;
    if (n >= (size_t)-1 / 4 - t->n) abort();
    while (cap < t->n + n + 1) cap *= 2;
    if (cap == t->cap) return;
    q = (char *)realloc(t->p, cap);
    if (q == NULL) { fputs("replay: out of memory\n", stderr); abort(); }
    t->p = q;
    t->cap = cap;
}
static void replay_put(replay_text *t, const char *p, size_t n)
{
    replay_room(t, n);
    if (n) memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = 0;
}
static void replay_puts(replay_text *t, const char *p) { replay_put(t, p, strlen(p)); }
static void replay_quote(replay_text *t, agent_str s)
{
    size_t need = agent_json_quote(s.p, s.n, NULL, 0);
    replay_room(t, need + 1);
    agent_json_quote(s.p, s.n, t->p + t->n, need + 1);
    t->n += need;
    t->p[t->n] = 0;
}
static void replay_int(replay_text *t, int64_t v)
{
    char text[24];
    char *p = text + sizeof text;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    *--p = 0;
    do { *--p = (char)('0' + (int)(u % 10)); u /= 10; } while (u);
    if (v < 0) *--p = '-';
    replay_puts(t, p);
}
/* ,"key":"value" */
static void replay_member(replay_text *t, const char *key, agent_str value)
{
    replay_puts(t, ",\"");
    replay_puts(t, key);
    replay_puts(t, "\":");
    replay_quote(t, value);
}
static void replay_number(replay_text *t, const char *key, int64_t value)
{
    replay_puts(t, ",\"");
    replay_puts(t, key);
    replay_puts(t, "\":");
    replay_int(t, value);
}
/* Checked JSON without blanks: strings are written anew, numbers stay as they were.                                    */
static void replay_compact(replay_text *t, agent_str json)
{
    replay_text s = { NULL, 0, 0 };
    size_t i = 0;
    while (i < json.n) {
        char c = json.p[i];
        if (c == '"') {
            agent_str word;
            size_t end = i + 1;
            while (end < json.n && json.p[end] != '"') end += json.p[end] == '\\' ? 2 : 1;
            word.p = json.p + i;
            word.n = end + 1 - i;
            replay_room(&s, word.n * 3);     /* a bad byte becomes three                                                */
            s.n = agent_json_text(word, s.p, s.cap);
            word.p = s.p;
            word.n = s.n;
            replay_quote(t, word);
            s.n = 0;
            i = end + 1;
            continue;
        }
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r') replay_put(t, &c, 1);
        i++;
    }
    free(s.p);
}

/* ---- events ---- */
static const char *replay_kind(int fault)
{
    switch (fault) {
    case AGENT_FAULT_AUTH: return "auth";
    case AGENT_FAULT_RATE: case AGENT_FAULT_QUOTA: return "rate_limit";
    case AGENT_FAULT_OVERLOADED: return "overloaded";
    case AGENT_FAULT_CONTEXT: return "context_overflow";
    case AGENT_FAULT_REQUEST: return "invalid_request";
    case AGENT_FAULT_SERVER: return "server";
    case AGENT_FAULT_TRANSPORT: return "transport";
    case AGENT_FAULT_TIMEOUT: return "timeout";
    case AGENT_FAULT_FILTER: return "content_filter";
    default: return "protocol";
    }
}
static const char *replay_reason(int finish)
{
    switch (finish) {
    case AGENT_FINISH_STOP: return "stop";
    case AGENT_FINISH_LENGTH: return "length";
    case AGENT_FINISH_TOOLS: return "tool-calls";
    case AGENT_FINISH_FILTER: return "content-filter";
    case AGENT_FINISH_ERROR: return "error";
    default: return "other";
    }
}
static agent_str replay_str(const char *p)
{
    agent_str s;
    s.p = p;
    s.n = strlen(p);
    return s;
}
static void replay_call(replay_text *t, const agent_event *ev)
{
    replay_puts(t, ev->u.tool.by == AGENT_BY_PROVIDER ? "{\"ev\":\"provider_call\"" : "{\"ev\":\"tool_call\"");
    replay_member(t, "id", ev->u.tool.wire_id);
    replay_member(t, "name", ev->name);
    if (ev->flags & AGENT_EVF_SALVAGED) {
        replay_member(t, "args_raw", ev->text);
        replay_puts(t, ",\"args_error\":true");
    } else {
        replay_puts(t, ",\"args\":");
        replay_compact(t, ev->text);
    }
    replay_puts(t, "}\n");
}
static void replay_finish(replay_text *t, const agent_event *ev)
{
    const agent_usage *u = ev->u.end.usage;
    replay_puts(t, "{\"ev\":\"finish\"");
    replay_member(t, "reason", replay_str(replay_reason(ev->u.end.finish)));
    if (ev->u.end.raw.n) replay_member(t, "raw", ev->u.end.raw);
    if (u && (u->input >= 0 || u->output >= 0 || u->cached >= 0 || u->reasoning >= 0 || u->cache_write >= 0)) {
        size_t open;
        replay_puts(t, ",\"usage\":{");
        open = t->n;
        if (u->input >= 0) replay_number(t, "input", u->input);
        if (u->output >= 0) replay_number(t, "output", u->output);
        if (u->cached >= 0) replay_number(t, "cached", u->cached);
        if (u->reasoning >= 0) replay_number(t, "reasoning", u->reasoning);
        if (u->cache_write >= 0) replay_number(t, "cache_write", u->cache_write);
        memmove(t->p + open, t->p + open + 1, t->n - open);      /* the first comma, and the NUL                         */
        t->n--;
        replay_puts(t, "}");
    }
    replay_puts(t, "}\n");
}
static void replay_error(replay_text *t, const agent_event *ev)
{
    int fault = ev->u.error.fault;
    replay_puts(t, "{\"ev\":\"error\"");
    replay_member(t, "kind", replay_str(replay_kind(fault)));
    if (fault == AGENT_FAULT_QUOTA) replay_member(t, "code", replay_str("quota"));
    else if (fault == AGENT_FAULT_LIMIT) replay_member(t, "code", replay_str("limit"));
    else if (fault == AGENT_FAULT_NOMEM) replay_member(t, "code", replay_str("memory"));
    else if (ev->name.n) replay_member(t, "code", ev->name);
    replay_member(t, "message", ev->text);
    replay_puts(t, ev->u.error.retryable ? ",\"retryable\":true" : ",\"retryable\":false");
    if (ev->u.error.scope == AGENT_SCOPE_ATTEMPT) replay_member(t, "scope", replay_str("attempt"));
    if (ev->u.error.scope == AGENT_SCOPE_STEP) replay_member(t, "scope", replay_str("step"));
    if (ev->u.error.http_status) replay_number(t, "http_status", ev->u.error.http_status);
    if (ev->u.error.retry_after_ms >= 0) replay_number(t, "retry_after_ms", ev->u.error.retry_after_ms);
    if (ev->u.error.request_id.n) replay_member(t, "request_id", ev->u.error.request_id);
    replay_number(t, "offset", (int64_t)ev->u.error.offset);
    replay_puts(t, "}\n");
}
static void replay_words(replay_text *t, const char *kind, const char *key, agent_str text, const char *key2, agent_str name)
{
    replay_puts(t, "{\"ev\":\"");
    replay_puts(t, kind);
    replay_puts(t, "\"");
    replay_member(t, key, text);
    if (name.n) replay_member(t, key2, name);
    replay_puts(t, "}\n");
}
/* Of a call that the provider ran; results of the host's tools are its own.                                            */
static void replay_result(replay_text *t, const agent_event *ev)
{
    static const char *const words[] = { "ok", "error", "cancelled", "not-run" };
    replay_puts(t, "{\"ev\":\"provider_result\"");
    replay_member(t, "id", ev->u.tool.wire_id);
    replay_member(t, "name", ev->name);
    if (ev->text.n) {
        replay_puts(t, ",\"value\":");
        replay_compact(t, ev->text);
    }
    replay_member(t, "status", replay_str(words[ev->u.tool.status]));
    replay_puts(t, "}\n");
}
static void replay_file(replay_text *t, const agent_event *ev)
{
    replay_puts(t, "{\"ev\":\"file\"");
    if (ev->u.file.mime.n) replay_member(t, "mime", ev->u.file.mime);
    if (ev->u.file.uri.n) replay_member(t, "uri", ev->u.file.uri);
    else replay_member(t, "data", ev->text);
    replay_puts(t, "}\n");
}
static void replay_custom(replay_text *t, const agent_event *ev)
{
    replay_puts(t, "{\"ev\":\"custom\"");
    replay_member(t, "type", ev->name);
    replay_puts(t, ",\"value\":");
    replay_compact(t, ev->text);
    replay_puts(t, "}\n");
}
static void replay_queued(replay_text *t, uint32_t item, const char *op, int lane, agent_str text)
{
    replay_puts(t, "{\"ev\":\"queued\"");
    replay_number(t, "item", item);
    replay_member(t, "op", replay_str(op));
    replay_member(t, "lane", replay_str(lane == AGENT_STEER ? "steer" : lane == AGENT_STORE ? "store" : "queue"));
    replay_member(t, "text", text);
    replay_puts(t, "}\n");
}
/* An event as a line of the vocabulary; events that are not in it make no line.                                        */
static void replay_line(replay_text *t, const agent_event *ev)
{
    static const char *const ops[] = { "added", "delivered", "returned", "moved" };
    agent_str none = { "", 0 };
    switch (ev->type) {
    case AGENT_EV_TEXT_DELTA: replay_words(t, "text", "text", ev->text, "", none); break;
    case AGENT_EV_REASONING_DELTA: replay_words(t, "reasoning", "text", ev->text, "", none); break;
    case AGENT_EV_INPUT_START: replay_words(t, "tool_input", "id", ev->u.tool.wire_id, "name", ev->name); break;
    case AGENT_EV_INPUT_DELTA: replay_words(t, "tool_input", "id", ev->u.tool.wire_id, "text", ev->text); break;
    case AGENT_EV_TOOL_CALL: replay_call(t, ev); break;
    case AGENT_EV_TOOL_RESULT: if (ev->u.tool.by == AGENT_BY_PROVIDER) replay_result(t, ev); break;
    case AGENT_EV_FILE_END: replay_file(t, ev); break;
    case AGENT_EV_SOURCE: replay_words(t, "source", "url", ev->text, "title", ev->name); break;
    case AGENT_EV_CUSTOM: replay_custom(t, ev); break;
    case AGENT_EV_WARNING: replay_words(t, "warning", "message", ev->text, "code", ev->name); break;
    case AGENT_EV_STEP_END: replay_finish(t, ev); break;
    case AGENT_EV_ERROR: replay_error(t, ev); break;
    case AGENT_EV_RETRY_WAIT: case AGENT_EV_RETRY_GO:
        replay_puts(t, ev->type == AGENT_EV_RETRY_GO ? "{\"ev\":\"retry_go\"" : "{\"ev\":\"retry_wait\"");
        replay_number(t, "attempt", ev->u.retry.attempt);
        replay_number(t, "max", ev->u.retry.max);
        if (ev->type == AGENT_EV_RETRY_WAIT) replay_number(t, "wait_ms", (int64_t)(ev->u.retry.at_ms - ev->at_ms));
        replay_member(t, "kind", replay_str(replay_kind(ev->u.retry.fault)));
        replay_puts(t, "}\n");
        break;
    case AGENT_EV_QUEUED: replay_queued(t, ev->u.queued.item, ops[ev->u.queued.op & 3], ev->u.queued.lane, ev->text); break;
    default: break;
    }
}
#endif
