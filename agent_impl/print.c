/* Events as text and as copies. The JSON of an event is for logs, tests and bug reports: its members are the event's fields. */
#ifndef AGENT_NO_PRINT
/* An event's JSON piece by piece: quotes 1, a text that is still to be quoted; else JSON as it is.                     */
typedef void (*agenti_print_fn)(void *ctx, const char *p, size_t n, int quotes);
AGENTI_FN void agenti_event_print(const agent_event *, agenti_print_fn to, void *ctx);
#endif

#if !defined AGENTI_SPLIT || defined AGENTI_PART_PRINT
#ifndef AGENT_NO_PRINT
typedef struct agenti_print { char *p; size_t n, cap; agenti_print_fn to; void *ctx; } agenti_print;   /* counts on when the room is used up */

AGENTDEF const char *agent_event_name(int type)
{
    switch (type) {
#define AGENTI_X(n, k) case AGENT_EV_##n: return #n;
    AGENT_EVENTS(AGENTI_X)
#undef AGENTI_X
    default: return "?";
    }
}
static void agenti_print_add(agenti_print *o, const char *p, size_t n)
{
    if (o->to) o->to(o->ctx, p, n, 0);
    if (o->n < o->cap) memcpy(o->p + o->n, p, n < o->cap - o->n ? n : o->cap - o->n);
    o->n += n;
}
static void agenti_print_cstr(agenti_print *o, const char *p) { agenti_print_add(o, p, strlen(p)); }
static void agenti_print_key(agenti_print *o, const char *key)
{
    agenti_print_cstr(o, o->n > 1 ? ",\"" : "\"");
    agenti_print_cstr(o, key);
    agenti_print_cstr(o, "\":");
}
static void agenti_print_str(agenti_print *o, const char *key, agent_str s)
{
    size_t room;
    agenti_print_key(o, key);
    if (o->to) { o->to(o->ctx, s.p, s.n, 1); return; }
    room = o->n < o->cap ? o->cap - o->n : 0;
    o->n += agent_json_quote(s.p, s.n, room ? o->p + o->n : NULL, room);
}
static void agenti_print_some(agenti_print *o, const char *key, agent_str s) { if (s.n) agenti_print_str(o, key, s); }
static void agenti_print_i64(agenti_print *o, const char *key, int64_t v)
{
    char number[24];
    agenti_print_key(o, key);
    agenti_print_add(o, number, agenti_i64_text(v, number));
}
static void agenti_print_num(agenti_print *o, const char *key, uint64_t v)    /* 0: left out                            */
{
    char number[24];
    if (v == 0) return;
    agenti_print_key(o, key);
    agenti_print_add(o, number, agenti_u64_text(v, number));
}
static void agenti_print_usage(agenti_print *o, const agent_usage *u)
{
    if (u == NULL) return;
    if (u->input >= 0) agenti_print_i64(o, "input", u->input);
    if (u->cached >= 0) agenti_print_i64(o, "cached", u->cached);
    if (u->cache_write >= 0) agenti_print_i64(o, "cache_write", u->cache_write);
    if (u->output >= 0) agenti_print_i64(o, "output", u->output);
    if (u->reasoning >= 0) agenti_print_i64(o, "reasoning", u->reasoning);
}
static void agenti_print_end(agenti_print *o, const agent_event *ev)
{
    agenti_print_i64(o, "outcome", ev->u.end.outcome);
    agenti_print_i64(o, "finish", ev->u.end.finish);
    agenti_print_num(o, "steps", ev->u.end.steps);
    agenti_print_some(o, "raw", ev->u.end.raw);
    agenti_print_some(o, "model", ev->u.end.model);
    agenti_print_some(o, "request_id", ev->u.end.request_id);
    agenti_print_some(o, "headers", ev->u.end.headers);
    agenti_print_num(o, "why", (uint64_t)ev->u.end.why);
    agenti_print_num(o, "waits", (uint64_t)ev->u.end.waits);
    agenti_print_num(o, "at_ms", ev->u.end.at_ms);
    agenti_print_usage(o, ev->u.end.usage);
}
static void agenti_print_tool(agenti_print *o, const agent_event *ev)
{
    agenti_print_num(o, "by", ev->u.tool.by);
    agenti_print_some(o, "wire_id", ev->u.tool.wire_id);
    agenti_print_some(o, "title", ev->u.tool.title);
    if (ev->type == AGENT_EV_TOOL_RESULT) agenti_print_i64(o, "status", ev->u.tool.status);
    agenti_print_num(o, "timeout_ms", ev->u.tool.timeout_ms);
}
static void agenti_print_open(agenti_print *o, const agent_event *ev)
{
    agenti_print_str(o, "method", ev->u.open.method);
    agenti_print_str(o, "url", ev->u.open.url);
    agenti_print_str(o, "host", ev->u.open.host);
    agenti_print_num(o, "port", ev->u.open.port);
    agenti_print_num(o, "tls", ev->u.open.tls);
    agenti_print_num(o, "body_len", ev->u.open.body_len);
    agenti_print_num(o, "timeout_ms", ev->u.open.timeout_ms);
}
static void agenti_print_error(agenti_print *o, const agent_event *ev)
{
    agenti_print_i64(o, "fault", ev->u.error.fault);
    agenti_print_num(o, "http_status", (uint64_t)(ev->u.error.http_status > 0 ? ev->u.error.http_status : 0));
    agenti_print_num(o, "scope", (uint64_t)ev->u.error.scope);
    agenti_print_i64(o, "retryable", ev->u.error.retryable);
    agenti_print_num(o, "offset", ev->u.error.offset);
    if (ev->u.error.retry_after_ms >= 0) agenti_print_i64(o, "retry_after_ms", ev->u.error.retry_after_ms);
    agenti_print_some(o, "request_id", ev->u.error.request_id);
}
static void agenti_print_more(agenti_print *o, const agent_event *ev)         /* what the type adds                     */
{
    switch (ev->type) {
    case AGENT_EV_OPEN: case AGENT_EV_SIGN: agenti_print_open(o, ev); break;
    case AGENT_EV_CREDENTIAL: agenti_print_i64(o, "why", ev->u.credential.why); break;
    case AGENT_EV_CLOSE: agenti_print_i64(o, "why", ev->u.io.why); break;
    case AGENT_EV_RUN_END: case AGENT_EV_STEP_END: agenti_print_end(o, ev); break;
    case AGENT_EV_FILE_START: case AGENT_EV_FILE_DELTA: case AGENT_EV_FILE_END:
        agenti_print_num(o, "kind", ev->u.file.kind);
        agenti_print_some(o, "mime", ev->u.file.mime);
        agenti_print_some(o, "uri", ev->u.file.uri);
        break;
    case AGENT_EV_MSG_ADD: case AGENT_EV_MSG_END: agenti_print_i64(o, "role", ev->u.msg.role); break;
    case AGENT_EV_INPUT_START: case AGENT_EV_INPUT_DELTA: case AGENT_EV_INPUT_END: case AGENT_EV_TOOL_CALL: case AGENT_EV_TOOL_RUN:
    case AGENT_EV_TOOL_UPDATE: case AGENT_EV_TOOL_CANCEL: case AGENT_EV_TOOL_RESULT: agenti_print_tool(o, ev); break;
    case AGENT_EV_QUEUED:
        agenti_print_num(o, "item", ev->u.queued.item);
        agenti_print_i64(o, "op", ev->u.queued.op);
        agenti_print_num(o, "lane", (uint64_t)ev->u.queued.lane);
        break;
    case AGENT_EV_RETRY_WAIT: case AGENT_EV_RETRY_GO:
        agenti_print_num(o, "attempt", ev->u.retry.attempt);
        agenti_print_num(o, "max", ev->u.retry.max);
        agenti_print_num(o, "at_ms", ev->u.retry.at_ms);
        agenti_print_num(o, "fault", (uint64_t)ev->u.retry.fault);
        agenti_print_num(o, "http_status", (uint64_t)ev->u.retry.http_status);
        break;
    case AGENT_EV_ERROR: agenti_print_error(o, ev); break;
    default: break;
    }
}
static void agenti_print_event(agenti_print *o, const agent_event *ev)
{
    agenti_print_cstr(o, "{");
    agenti_print_str(o, "ev", agenti_cstr(agent_event_name(ev->type)));
    agenti_print_num(o, "seq", ev->seq);
    agenti_print_num(o, "flags", ev->flags);
    agenti_print_num(o, "session", ev->session);
    if (ev->session == 0 && ev->conn == 0) agenti_print_num(o, "peer", ev->peer);
    agenti_print_num(o, "conn", ev->conn);
    agenti_print_num(o, "run", ev->run);
    agenti_print_num(o, "step", ev->step);
    agenti_print_num(o, "msg", ev->msg);
    agenti_print_num(o, "part", ev->part);
    agenti_print_num(o, "call", ev->call);
    agenti_print_num(o, "need", ev->need);
    agenti_print_some(o, "name", ev->name);
    agenti_print_some(o, "text", ev->text);
    agenti_print_more(o, ev);
    agenti_print_cstr(o, "}");
}
AGENTDEF size_t agent_event_json(const agent_event *ev, char *buf, size_t cap)
{
    agenti_print o;
    memset(&o, 0, sizeof o);
    o.p = buf;
    o.cap = cap;
    agenti_print_event(&o, ev);
    if (cap) buf[o.n < cap ? o.n : cap - 1] = 0;
    return o.n;
}
AGENTI_FN void agenti_event_print(const agent_event *ev, agenti_print_fn to, void *ctx)
{
    agenti_print o;
    memset(&o, 0, sizeof o);
    o.to = to;
    o.ctx = ctx;
    agenti_print_event(&o, ev);
}

/* ---- copies ---- */
static void agenti_copy_str(char *base, size_t *at, size_t cap, agent_str *s, agent_str from)
{
    if (base && *at + from.n + 1 <= cap) {
        memcpy(base + *at, from.p, from.n);
        base[*at + from.n] = 0;
        s->p = base + *at;
    }
    *at += from.n + 1;
}
/* The views of an event by type, in one place. to NULL: only counts.                                                   */
static size_t agenti_copy_strs(const agent_event *ev, agent_event *to, size_t cap)
{
    agent_event none;
    char *base = (char *)to;
    size_t at = sizeof *ev;
    if (to == NULL) to = &none;
    agenti_copy_str(base, &at, cap, &to->text, ev->text);
    agenti_copy_str(base, &at, cap, &to->name, ev->name);
    switch (ev->type) {
    case AGENT_EV_OPEN: case AGENT_EV_SIGN:
        agenti_copy_str(base, &at, cap, &to->u.open.host, ev->u.open.host);
        agenti_copy_str(base, &at, cap, &to->u.open.method, ev->u.open.method);
        agenti_copy_str(base, &at, cap, &to->u.open.url, ev->u.open.url);
        break;
    case AGENT_EV_RUN_END: case AGENT_EV_STEP_END:
        agenti_copy_str(base, &at, cap, &to->u.end.raw, ev->u.end.raw);
        agenti_copy_str(base, &at, cap, &to->u.end.model, ev->u.end.model);
        agenti_copy_str(base, &at, cap, &to->u.end.request_id, ev->u.end.request_id);
        agenti_copy_str(base, &at, cap, &to->u.end.headers, ev->u.end.headers);
        break;
    case AGENT_EV_ERROR: agenti_copy_str(base, &at, cap, &to->u.error.request_id, ev->u.error.request_id); break;
    case AGENT_EV_FILE_START: case AGENT_EV_FILE_DELTA: case AGENT_EV_FILE_END:
        agenti_copy_str(base, &at, cap, &to->u.file.mime, ev->u.file.mime);
        agenti_copy_str(base, &at, cap, &to->u.file.uri, ev->u.file.uri);
        break;
    case AGENT_EV_INPUT_START: case AGENT_EV_INPUT_DELTA: case AGENT_EV_INPUT_END: case AGENT_EV_TOOL_CALL: case AGENT_EV_TOOL_RUN:
    case AGENT_EV_TOOL_UPDATE: case AGENT_EV_TOOL_CANCEL: case AGENT_EV_TOOL_RESULT:
        agenti_copy_str(base, &at, cap, &to->u.tool.wire_id, ev->u.tool.wire_id);
        agenti_copy_str(base, &at, cap, &to->u.tool.title, ev->u.tool.title);
        break;
    default: break;
    }
    return at;
}
AGENTDEF size_t agent_event_copy(const agent_event *ev, void *buf, size_t cap)
{
    agent_event *to = (agent_event *)buf;
    size_t need, usage;
    int ends;
    if (ev == NULL) return 0;
    ends = (ev->type == AGENT_EV_RUN_END || ev->type == AGENT_EV_STEP_END) && ev->u.end.usage;
    usage = (agenti_copy_strs(ev, NULL, 0) + 7) / 8 * 8;
    need = usage + (ends ? sizeof(agent_usage) : 0);
    if (buf == NULL || cap < need) return need;
    *to = *ev;
    agenti_copy_strs(ev, to, cap);
    if (ends) {
        void *u = (char *)buf + usage;
        memcpy(u, ev->u.end.usage, sizeof(agent_usage));
        to->u.end.usage = (const agent_usage *)u;
    }
    return need;
}
#endif
#endif
