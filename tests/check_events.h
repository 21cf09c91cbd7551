/* An invariant checker: shown every event of one engine, and told the few host calls it must know, it says in `why` what the first
 * broken promise was. Include agent.h first. What it holds the engine to:
 *
 *   order      seq counts up by one in a session (or decode-only connection); one RUN_END for each RUN_START; STEP_START and STEP_END in
 *              pairs; nothing of a run after its RUN_END, but what becomes of its connection
 *   brackets   *_START and *_END of each part, MSG_ADD and MSG_END, each OPEN one CLOSE, each need one NEED_DONE; parts lie in their message
 *   output     deltas are valid UTF-8, at most limits.piece long, and joined they are the END text
 *   tools      INPUT_END before TOOL_CALL before TOOL_RUN before TOOL_RESULT; one result for each call before its STEP_END; nothing
 *              runs that was salvaged, cut, cancelled or the provider's; a status that fits: what ran has run, what was stopped was told so, once
 *   retries    ERROR, RETRY_WAIT, RETRY_GO in this order, only before anything of the step was shown or behind it, never after a cancel
 *   cancel     behind it no step, request, tool, retry or ERROR begins; what waited comes back before RUN_END, which says CANCELLED;
 *              a gentle stop forbids the same but what its step still needs
 *   ends       RUN_END's outcome is that of its why; nothing but RUN_END, or a retry, behind a run's ERROR; a step behind one that was to end
 *              the run has a message or a retry before it
 *   queue      what was told to wait is delivered or given back, once; RUN_END waits for nobody when something waits
 *   numbers    RUN_END's usage is the sum of its STEP_ENDs, its steps are counted, its finish is that of the last
 *   saving     CHECKPOINT only where nothing is open
 *   views      never NULL, names and the like end in NUL, all of it UTF-8, the key nowhere
 *   print      agent_event_json is one line of JSON, also of a copy, whose size is what was announced
 *   asked      check_table: each call in the table has its result, in order, and no message is empty; check_pending: the needs that are open are
 *              those that agent_pending lists */
#ifndef CHECK_EVENTS_H
#define CHECK_EVENTS_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct check_part { agent_num id; int type, open; char *text; size_t n; } check_part;       /* type: its START          */
typedef struct check_call { agent_num call, need; int by, ended, salvaged, called, ran, stopped, done; } check_call;
typedef struct check_need { agent_num need; agent_id conn; } check_need;
typedef struct check_stream {                /* a session, or a decode-only connection                                  */
    agent_id id;
    uint64_t seq;
    agent_num run, step, msg;                /* msg: the one that is open                                               */
    int in_run, in_step, cancelled, ran, decode;
    int retry;                               /* CHECK_: what was the last of ERROR, RETRY_WAIT                          */
    int failed;                              /* ERROR of the run was shown                                              */
    int ends;                                /* the last STEP_END has a why                                             */
    int stop;                                /* an agent_stop_when that was asked for, but NOW                          */
    int cut;                                 /* the cancel came inside a step                                           */
    int finish; uint32_t steps;              /* of this run                                                             */
    agent_num *waits; size_t wait_n;         /* items that were told to wait                                            */
    agent_num *gone; size_t gone_n;          /* those that were delivered or given back                                 */
    agent_num back_to;                       /* those up to here waited at the cancel                                   */
    check_part *parts; size_t part_n;        /* of this step                                                            */
    check_call *calls; size_t call_n;
    check_need *needs; size_t need_n;        /* open                                                                    */
    agent_num last_part, old_part, last_msg, last_need;      /* old_part: the last of the step before; calls may show in another order */
    agent_usage usage;
} check_stream;
enum { CHECK_CALM, CHECK_ERROR, CHECK_WAIT };
typedef struct check {
    const char *secret;                      /* NULL: none                                                              */
    size_t piece;                            /* limits.piece                                                            */
    int light;                               /* leaves out print                                                        */
    char why[200];                           /* empty: all is well                                                      */
    unsigned long events;
    check_stream *streams; size_t stream_n;
    agent_id *conns; size_t conn_n;          /* open                                                                    */
    char *line, *line2, *copy; size_t line_cap, copy_cap;
} check;

static void *check_more(void *p, size_t n, size_t size)      /* room for one more than n                                  */
{
    if (n & (n - 1)) return p;
    p = realloc(p, (n ? n * 2 : 1) * size);
    if (p == NULL) abort();
    return p;
}
static void check_init(check *c, const char *secret, size_t piece)
{
    memset(c, 0, sizeof *c);
    c->secret = secret;
    c->piece = piece ? piece : 8192;
}
static void check_fail(check *c, const agent_event *ev, const char *what)
{
    if (c->why[0]) return;
    sprintf(c->why, "%.40s (event %lu, seq %lu): %.120s", ev ? agent_event_name(ev->type) : "end", c->events, ev ? (unsigned long)ev->seq : 0, what);
}
static void check_parts_free(check_stream *s)
{
    size_t i;
    for (i = 0; i < s->part_n; i++) free(s->parts[i].text);
    free(s->parts);
    free(s->calls);
    s->parts = NULL;
    s->calls = NULL;
    s->part_n = s->call_n = 0;
    s->old_part = s->last_part;
}
static void check_stream_free(check_stream *s) { check_parts_free(s); free(s->needs); free(s->waits); free(s->gone); }
static void check_free(check *c)
{
    size_t i;
    for (i = 0; i < c->stream_n; i++) check_stream_free(&c->streams[i]);
    free(c->streams);
    free(c->conns);
    free(c->line);
    free(c->line2);
    free(c->copy);
    memset(c, 0, sizeof *c);
}
static check_stream *check_stream_of(check *c, agent_id id)
{
    size_t i;
    for (i = 0; i < c->stream_n; i++) if (c->streams[i].id == id) return &c->streams[i];
    c->streams = (check_stream *)check_more(c->streams, c->stream_n, sizeof *c->streams);
    memset(&c->streams[c->stream_n], 0, sizeof *c->streams);
    c->streams[c->stream_n].id = id;
    return &c->streams[c->stream_n++];
}
static int check_conn_find(const check *c, agent_id conn, size_t *at)
{
    for (*at = 0; *at < c->conn_n; ++*at) if (c->conns[*at] == conn) return 1;
    return 0;
}
static void check_conn_add(check *c, agent_id conn)
{
    c->conns = (agent_id *)check_more(c->conns, c->conn_n, sizeof *c->conns);
    c->conns[c->conn_n++] = conn;
}

/* ---- what the host did ---- */
static void check_decode(check *c, agent_id conn)            /* agent_decode gave this                                   */
{
    check_conn_add(c, conn);
    check_stream_of(c, conn)->decode = 1;
}
static void check_cancel(check *c, agent_id session)
{
    check_stream *s = check_stream_of(c, session);
    size_t i;
    s->cancelled = 1;
    s->cut = s->in_step;
    for (i = 0; i < s->wait_n; i++) if (s->waits[i] > s->back_to) s->back_to = s->waits[i];
}
static void check_stop(check *c, agent_id session, int when)
{
    check_stream *s = check_stream_of(c, session);
    if (!s->in_run) return;
    if (when == AGENT_STOP_NOW) check_cancel(c, session);
    else if (s->stop < when) s->stop = when;
}
static void check_go_on(check *c, agent_id session)           /* agent_retry, behind the run's ERROR                     */
{
    check_stream *s = check_stream_of(c, session);
    if (s->failed) s->failed = s->ends = 0;
}
static void check_loaded(check *c, agent_id session, uint64_t seq) { check_stream_of(c, session)->seq = seq; }       /* agent_load, of an idle one */
/* A session was saved, loaded into another one, and closed: what was under way in it goes on in that one. Its connections do not. */
static void check_reloaded(check *c, agent_id from, agent_id to)
{
    check_stream *s = check_stream_of(c, from);
    size_t i, k = 0;
    for (i = 0; i < s->need_n; i++) if (s->needs[i].conn == 0) s->needs[k++] = s->needs[i];
    s->need_n = k;
    s->id = to;
}
static void check_session_closed(check *c, agent_id session)
{
    check_stream *s = check_stream_of(c, session);
    check_stream_free(s);
    *s = c->streams[--c->stream_n];
}

/* ---- views ---- */
static int check_utf8(const char *p, size_t n)
{
    size_t i = 0, k;
    while (i < n) {
        unsigned char a = (unsigned char)p[i], b;
        unsigned lo = 0x80, hi = 0xBF;
        if (a < 0x80) { i++; continue; }
        if (a < 0xC2 || a > 0xF4) return 0;
        k = a < 0xE0 ? 1 : a < 0xF0 ? 2 : 3;
        if (k >= n - i) return 0;
        if (a == 0xE0) lo = 0xA0;
        if (a == 0xED) hi = 0x9F;
        if (a == 0xF0) lo = 0x90;
        if (a == 0xF4) hi = 0x8F;
        for (i++; k; k--, i++, lo = 0x80, hi = 0xBF) {
            b = (unsigned char)p[i];
            if (b < lo || b > hi) return 0;
        }
    }
    return 1;
}
static int check_has(const char *p, size_t n, const char *word)
{
    size_t k = strlen(word), i;
    for (i = 0; k && i + k <= n; i++) if (p[i] == word[0] && memcmp(p + i, word, k) == 0) return 1;
    return 0;
}
static void check_view(check *c, const agent_event *ev, agent_str s, int terminated)
{
    if (s.p == NULL) { check_fail(c, ev, "a view is NULL"); return; }
    if (terminated && s.p[s.n] != 0) check_fail(c, ev, "a view does not end in NUL");
    if (!check_utf8(s.p, s.n)) check_fail(c, ev, "a view is no UTF-8");
    if (c->secret && check_has(s.p, s.n, c->secret)) check_fail(c, ev, "the key is in an event");
}
static void check_views(check *c, const agent_event *ev)
{
    check_view(c, ev, ev->text, 0);
    check_view(c, ev, ev->name, 1);
    switch (ev->type) {
    case AGENT_EV_OPEN:
        check_view(c, ev, ev->u.open.host, 1);
        check_view(c, ev, ev->u.open.method, 1);
        check_view(c, ev, ev->u.open.url, 1);
        break;
    case AGENT_EV_STEP_END: case AGENT_EV_RUN_END:
        check_view(c, ev, ev->u.end.raw, 1);
        check_view(c, ev, ev->u.end.model, 1);
        check_view(c, ev, ev->u.end.request_id, 1);
        check_view(c, ev, ev->u.end.headers, 1);
        break;
    case AGENT_EV_ERROR: check_view(c, ev, ev->u.error.request_id, 1); break;
    case AGENT_EV_FILE_START: case AGENT_EV_FILE_DELTA: case AGENT_EV_FILE_END:
        check_view(c, ev, ev->u.file.mime, 1);
        check_view(c, ev, ev->u.file.uri, 1);
        break;
    case AGENT_EV_INPUT_START: case AGENT_EV_INPUT_DELTA: case AGENT_EV_INPUT_END: case AGENT_EV_TOOL_CALL: case AGENT_EV_TOOL_RUN:
    case AGENT_EV_TOOL_UPDATE: case AGENT_EV_TOOL_CANCEL: case AGENT_EV_TOOL_RESULT:
        check_view(c, ev, ev->u.tool.wire_id, 1);
        check_view(c, ev, ev->u.tool.title, 1);
        break;
    default: break;
    }
}
static void check_print(check *c, const agent_event *ev)
{
    char small[8];
    agent_event *copy;
    size_t n = agent_event_json(ev, NULL, 0), k = agent_event_copy(ev, NULL, 0);
    if (n + 1 > c->line_cap) {
        c->line_cap = (n + 1) * 2;
        c->line = (char *)realloc(c->line, c->line_cap);
        c->line2 = (char *)realloc(c->line2, c->line_cap);
    }
    if (k > c->copy_cap) c->copy = (char *)realloc(c->copy, c->copy_cap = k * 2);
    if (c->line == NULL || c->line2 == NULL || c->copy == NULL) abort();
    if (agent_event_json(ev, c->line, c->line_cap) != n || c->line[n] || strlen(c->line) != n) check_fail(c, ev, "the JSON's length is wrong");
    if (agent_event_json(ev, small, sizeof small) != n || memcmp(small, c->line, sizeof small - 1) || small[sizeof small - 1])
        check_fail(c, ev, "JSON in too small a buffer");
    if (agent_json_check(c->line, n, 0, NULL) != AGENT_OK || memchr(c->line, '\n', n)) check_fail(c, ev, "no line of JSON");
    if (c->secret && check_has(c->line, n, c->secret)) check_fail(c, ev, "the key is in the JSON of an event");
    if (agent_event_copy(ev, c->copy, k) != k) check_fail(c, ev, "the copy's size is wrong");
    copy = (agent_event *)(void *)c->copy;
    if (agent_event_json(copy, c->line2, c->line_cap) != n || memcmp(c->line, c->line2, n)) check_fail(c, ev, "the copy is not the same");
}

/* ---- needs and connections ---- */
static void check_need_open(check *c, check_stream *s, const agent_event *ev)
{
    if (!(ev->flags & AGENT_EVF_NEED)) { check_fail(c, ev, "a need without its flag"); return; }
    if (ev->need <= s->last_need) check_fail(c, ev, "a need's number was used before");
    s->last_need = ev->need;
    s->needs = (check_need *)check_more(s->needs, s->need_n, sizeof *s->needs);
    s->needs[s->need_n].need = ev->need;
    s->needs[s->need_n++].conn = ev->type == AGENT_EV_OPEN || ev->type == AGENT_EV_SIGN ? ev->conn : 0;
}
static void check_need_done(check *c, check_stream *s, const agent_event *ev)
{
    size_t i;
    for (i = 0; i < s->need_n && s->needs[i].need != ev->need; i++) {}
    if (i == s->need_n) { check_fail(c, ev, "a need ends that is not open"); return; }
    s->needs[i] = s->needs[--s->need_n];
    for (i = 0; i < s->call_n; i++) if (s->calls[i].need == ev->need) s->calls[i].need = 0;
}
static void check_io(check *c, check_stream *s, const agent_event *ev)
{
    size_t at;
    int open = check_conn_find(c, ev->conn, &at);
    if (ev->type == AGENT_EV_OPEN) {
        if (open) check_fail(c, ev, "a connection opens twice");
        check_conn_add(c, ev->conn);
        check_need_open(c, s, ev);
        if (s->cancelled || s->stop == AGENT_STOP_TOOLS) check_fail(c, ev, "after a cancel");
        return;
    }
    if (!open) check_fail(c, ev, "of a connection that is not open");
    else if (ev->type == AGENT_EV_CLOSE) c->conns[at] = c->conns[--c->conn_n];
    else if (s->cancelled || s->stop == AGENT_STOP_TOOLS) check_fail(c, ev, "after a cancel");
}

/* ---- output ---- */
static check_part *check_part_of(check_stream *s, agent_num id)
{
    size_t i;
    for (i = 0; i < s->part_n; i++) if (s->parts[i].id == id) return &s->parts[i];
    return NULL;
}
static check_call *check_call_of(check_stream *s, agent_num call)
{
    size_t i;
    for (i = 0; i < s->call_n; i++) if (s->calls[i].call == call) return &s->calls[i];
    return NULL;
}
static check_call *check_call_new(check *c, check_stream *s, const agent_event *ev)
{
    check_call *k;
    if (ev->call == 0 || check_call_of(s, ev->call)) check_fail(c, ev, "a call's number was used before");
    s->calls = (check_call *)check_more(s->calls, s->call_n, sizeof *s->calls);
    k = &s->calls[s->call_n++];
    memset(k, 0, sizeof *k);
    k->call = ev->call;
    k->by = ev->u.tool.by;
    return k;
}
static void check_start(check *c, check_stream *s, const agent_event *ev)
{
    check_part *p;
    if (ev->part <= s->old_part || check_part_of(s, ev->part)) { check_fail(c, ev, "a part's number was used before"); return; }
    if (!s->decode && (ev->msg == 0 || ev->msg != s->msg)) check_fail(c, ev, "a part of a message that is not open");
    if (s->retry != CHECK_CALM) check_fail(c, ev, "before RETRY_GO");
    if (ev->part > s->last_part) s->last_part = ev->part;
    s->parts = (check_part *)check_more(s->parts, s->part_n, sizeof *s->parts);
    p = &s->parts[s->part_n++];
    memset(p, 0, sizeof *p);
    p->id = ev->part;
    p->type = ev->type;
    p->open = 1;
    if (ev->type == AGENT_EV_FILE_START && (ev->u.file.mime.n == 0) == (ev->u.file.uri.n == 0)) check_fail(c, ev, "a file has a type or a URI");
    if (ev->type != AGENT_EV_INPUT_START) return;
    (void)check_call_new(c, s, ev);
    if (ev->name.n == 0 || ev->u.tool.wire_id.n == 0) check_fail(c, ev, "a call without name or wire id");
}
static void check_delta(check *c, check_stream *s, const agent_event *ev, int start)
{
    check_part *p = check_part_of(s, ev->part);
    if (p == NULL || !p->open || p->type != start) { check_fail(c, ev, "a delta of a part that is not open"); return; }
    if (ev->text.n == 0 || ev->text.n > c->piece) check_fail(c, ev, "a delta that is empty or longer than limits.piece");
    p->text = (char *)realloc(p->text, p->n + ev->text.n);
    if (p->text == NULL) abort();
    memcpy(p->text + p->n, ev->text.p, ev->text.n);
    p->n += ev->text.n;
}
static void check_end(check *c, check_stream *s, const agent_event *ev, int start)
{
    check_part *p = check_part_of(s, ev->part);
    check_call *k = check_call_of(s, ev->call);
    if (p == NULL || !p->open || p->type != start) { check_fail(c, ev, "an end of a part that is not open"); return; }
    p->open = 0;
    if (start == AGENT_EV_INPUT_START) {
        if (k) { k->ended = 1; k->salvaged = (ev->flags & AGENT_EVF_SALVAGED) != 0; }
        if (p->n == 0 && ev->text.n == 2 && memcmp(ev->text.p, "{}", 2) == 0) return;      /* no arguments              */
    }
    if (p->n != ev->text.n || (p->n && memcmp(p->text, ev->text.p, p->n))) check_fail(c, ev, "the deltas joined are not the text");
}

/* ---- tools ---- */
static void check_status(check *c, const agent_event *ev, const check_call *k)
{
    int status = ev->u.tool.status;
    if (status == AGENT_DONE_OK && !k->ran) check_fail(c, ev, "OK, and never ran");
    if (status == AGENT_DONE_NOT_RUN && k->ran) check_fail(c, ev, "NOT_RUN, and it ran");
    if (status == AGENT_DONE_CANCELLED && k->ran && !k->stopped) check_fail(c, ev, "CANCELLED without TOOL_CANCEL");
}
static void check_tool(check *c, check_stream *s, const agent_event *ev)
{
    check_call *k = check_call_of(s, ev->call);
    if (ev->u.tool.by == AGENT_BY_PROVIDER && ev->type == AGENT_EV_TOOL_CALL && k == NULL) {
        k = check_call_new(c, s, ev);
        k->ended = k->called = 1;
        return;
    }
    if (k && k->by != ev->u.tool.by) check_fail(c, ev, "the host's call or the provider's");
    if (k && k->by == AGENT_BY_PROVIDER && ev->type != AGENT_EV_TOOL_RESULT) check_fail(c, ev, "a call that is none of the host's");
    if (k == NULL || !k->ended) { check_fail(c, ev, "of a call whose input has not ended"); return; }
    switch (ev->type) {
    case AGENT_EV_TOOL_CALL:
        if (k->called++) check_fail(c, ev, "a call is told twice");
        if (k->salvaged != ((ev->flags & AGENT_EVF_SALVAGED) != 0)) check_fail(c, ev, "salvaged or not");
        if (!k->salvaged && (ev->text.n == 0 || ev->text.p[0] != '{' || agent_json_check(ev->text.p, ev->text.n, 0, NULL) != AGENT_OK))
            check_fail(c, ev, "arguments that are no object");
        break;
    case AGENT_EV_TOOL_RUN:
        if (!k->called || k->salvaged || k->ran || k->done) check_fail(c, ev, "a call that must not run now");
        if (s->cancelled || s->stop == AGENT_STOP_TOOLS) check_fail(c, ev, "after a cancel");
        k->ran = s->ran = 1;
        k->need = ev->need;
        check_need_open(c, s, ev);
        break;
    case AGENT_EV_TOOL_UPDATE: case AGENT_EV_TOOL_CANCEL:
        if (!k->ran || k->done) check_fail(c, ev, "of a call that does not run");
        if (ev->type == AGENT_EV_TOOL_CANCEL && k->stopped++) check_fail(c, ev, "a call is stopped twice");
        break;
    default:                                 /* TOOL_RESULT                                                             */
        if (!k->called || k->done++) check_fail(c, ev, "a result without its call, or a second one");
        if (k->need) check_fail(c, ev, "a result before NEED_DONE");
        if (k->by == AGENT_BY_HOST) check_status(c, ev, k);
    }
}

/* ---- runs and steps ---- */
static void check_sum(int64_t *to, int64_t n) { if (n >= 0) *to = *to < 0 ? n : *to > INT64_MAX - n ? INT64_MAX : *to + n; }
static void check_step_end(check *c, check_stream *s, const agent_event *ev)
{
    size_t i;
    int f = ev->u.end.finish;
    const agent_usage *u = ev->u.end.usage;
    if (!s->decode && !s->in_step) check_fail(c, ev, "no step is open");
    if (u == NULL) { check_fail(c, ev, "no usage"); return; }
    for (i = 0; i < s->part_n; i++) if (s->parts[i].open) check_fail(c, ev, "a part is still open");
    for (i = 0; i < s->call_n && !s->decode; i++) if (s->calls[i].called && !s->calls[i].done) check_fail(c, ev, "a call has no result");
    if (!s->decode && ev->u.end.steps != s->steps) check_fail(c, ev, "the steps are not counted");
    s->finish = f;
    s->ends = ev->u.end.why != AGENT_WHY_NONE;
    if (s->ran && (f == AGENT_FINISH_LENGTH || f == AGENT_FINISH_FILTER || f == AGENT_FINISH_ERROR)) check_fail(c, ev, "a tool of a cut answer was run");
    check_sum(&s->usage.input, u->input);
    check_sum(&s->usage.cached, u->cached);
    check_sum(&s->usage.cache_write, u->cache_write);
    check_sum(&s->usage.output, u->output);
    check_sum(&s->usage.reasoning, u->reasoning);
    check_parts_free(s);
    s->in_step = 0;
}
static void check_decode_end(check *c, check_stream *s, const agent_event *ev)
{
    size_t i;
    for (i = 0; i < s->part_n; i++) if (s->parts[i].open) check_fail(c, ev, "a part is still open");
    check_parts_free(s);
}
static const int check_outcome[] = { -1, AGENT_COMPLETED, AGENT_COMPLETED, AGENT_COMPLETED, AGENT_LIMITED, AGENT_LIMITED, AGENT_LIMITED, AGENT_CANCELLED,
    AGENT_FAILED, AGENT_FAILED };             /* by why                                                                  */
static void check_run_end(check *c, check_stream *s, const agent_event *ev)
{
    const agent_usage *u = ev->u.end.usage;
    size_t i;
    if (!s->in_run || s->in_step || s->msg) check_fail(c, ev, "no run is open, or a step or message of it");
    for (i = 0; i < s->need_n; i++) if (s->needs[i].conn == 0) check_fail(c, ev, "a need is still open");
    if (u == NULL || memcmp(u, &s->usage, sizeof *u)) check_fail(c, ev, "usage is not the sum of the steps");
    if (ev->u.end.why <= AGENT_WHY_NONE || ev->u.end.why > AGENT_WHY_HINT || check_outcome[ev->u.end.why] != ev->u.end.outcome)
        check_fail(c, ev, "the outcome is not that of why");
    if (s->failed != (ev->u.end.outcome == AGENT_FAILED)) check_fail(c, ev, "FAILED goes with an ERROR of the run");
    if ((ev->u.end.why == AGENT_WHY_HINT) != (ev->u.end.at_ms != 0) || (ev->u.end.waits == AGENT_WAITS_CLOCK && ev->u.end.at_ms == 0))
        check_fail(c, ev, "a time to wait for");
    if ((ev->u.end.waits == AGENT_WAITS_NOBODY) != (s->wait_n > 0)) check_fail(c, ev, "who is waited for does not fit the queue");
    if (ev->u.end.steps != s->steps) check_fail(c, ev, "the steps are not counted");
    if (ev->u.end.finish != s->finish) check_fail(c, ev, "the finish is not that of the last step");
    if (s->cut && ev->u.end.outcome != AGENT_CANCELLED && ev->u.end.why != AGENT_WHY_TIME) check_fail(c, ev, "a cancelled step, and the run says otherwise");
    for (i = 0; s->cancelled && i < s->wait_n; i++) if (s->waits[i] <= s->back_to) check_fail(c, ev, "what waited at the cancel was not given back");
    s->in_run = s->cancelled = s->stop = s->failed = s->cut = s->ends = 0;
    s->back_to = 0;
    s->retry = CHECK_CALM;
}
static void check_retry(check *c, check_stream *s, const agent_event *ev)
{
    if (s->retry != (ev->type == AGENT_EV_RETRY_WAIT ? CHECK_ERROR : CHECK_WAIT)) check_fail(c, ev, "not in its turn");
    if (s->cancelled || s->stop) check_fail(c, ev, "after a cancel");
    if (s->failed) check_fail(c, ev, "after the run's ERROR");
    if (ev->u.retry.attempt == 0 || ev->u.retry.attempt > ev->u.retry.max || ev->u.retry.fault == AGENT_FAULT_NONE) check_fail(c, ev, "an attempt too many");
    s->retry = ev->type == AGENT_EV_RETRY_WAIT ? CHECK_WAIT : CHECK_CALM;
}
static void check_error(check *c, check_stream *s, const agent_event *ev)
{
    int scope = ev->u.error.scope;
    if (ev->u.error.fault == AGENT_FAULT_NONE || ev->text.n == 0) check_fail(c, ev, "an error that does not say what it is");
    if (s->decode) { check_decode_end(c, s, ev); return; }
    if (s->in_run && (s->cancelled || s->failed)) check_fail(c, ev, "after a cancel, or a second one of the run");
    if (scope != AGENT_SCOPE_RUN && s->retry != CHECK_CALM) check_fail(c, ev, "a second one before RETRY_GO");      /* else the host forbids the retry */
    if (scope == AGENT_SCOPE_ATTEMPT && (!s->in_step || s->part_n || s->msg)) check_fail(c, ev, "once more, though something was shown");
    if (scope == AGENT_SCOPE_STEP && s->in_step) check_fail(c, ev, "the step is not over");
    if (scope == AGENT_SCOPE_ATTEMPT || scope == AGENT_SCOPE_STEP) s->retry = CHECK_ERROR;
    if (scope != AGENT_SCOPE_RUN || !s->in_run) return;
    s->failed = 1;
    s->retry = CHECK_CALM;
}
static void check_queued(check *c, check_stream *s, const agent_event *ev)
{
    size_t i, k;
    for (i = 0; i < s->wait_n && s->waits[i] != ev->u.queued.item; i++) {}
    if (i == s->wait_n && ev->u.queued.op != AGENT_QUEUED_MOVED)
        for (k = 0; k < s->gone_n; k++) if (s->gone[k] == ev->u.queued.item) check_fail(c, ev, "an item that was delivered or given back before");
    switch (ev->u.queued.op) {
    case AGENT_QUEUED_ADDED:
        if (i < s->wait_n) check_fail(c, ev, "an item waits twice");
        s->waits = (agent_num *)check_more(s->waits, s->wait_n, sizeof *s->waits);
        s->waits[s->wait_n++] = ev->u.queued.item;
        break;
    case AGENT_QUEUED_MOVED: break;
    default:                                 /* what was submitted to an idle session is given back without having waited */
        if (i < s->wait_n) s->waits[i] = s->waits[--s->wait_n];
        else if (ev->u.queued.op == AGENT_QUEUED_DELIVERED) check_fail(c, ev, "an item that does not wait");
        s->gone = (agent_num *)check_more(s->gone, s->gone_n, sizeof *s->gone);
        s->gone[s->gone_n++] = ev->u.queued.item;
        if (ev->u.queued.op == AGENT_QUEUED_DELIVERED) s->ends = 0;
    }
}
static void check_course(check *c, check_stream *s, const agent_event *ev)
{
    switch (ev->type) {
    case AGENT_EV_RUN_START:
        if (s->in_run || ev->run <= s->run) check_fail(c, ev, "a run is open, or its number was used before");
        s->in_run = 1;
        s->run = ev->run;
        s->steps = 0;
        s->finish = AGENT_FINISH_NONE;
        s->usage.input = s->usage.cached = s->usage.cache_write = s->usage.output = s->usage.reasoning = -1;
        break;
    case AGENT_EV_RUN_END: check_run_end(c, s, ev); break;
    case AGENT_EV_STEP_START:
        if (!s->in_run || s->in_step) check_fail(c, ev, "no run is open, or a step is");
        if (s->failed || s->retry != CHECK_CALM) check_fail(c, ev, "a step after the run's ERROR, or before a retry");
        if (s->cancelled || s->stop) check_fail(c, ev, "after a cancel");
        if (s->ends) check_fail(c, ev, "the run was to end");
        s->in_step = 1;
        s->ran = 0;
        if (ev->step != ++s->steps) check_fail(c, ev, "the steps are not counted");
        break;
    case AGENT_EV_STEP_END: check_step_end(c, s, ev); break;
    case AGENT_EV_MSG_ADD:
        if (s->msg || ev->msg <= s->last_msg) check_fail(c, ev, "a message is open, or its number was used before");
        if (s->in_run && s->failed) check_fail(c, ev, "after the run's ERROR");
        if (s->in_step && s->retry != CHECK_CALM && ev->u.msg.role == AGENT_MODEL && !s->cancelled) check_fail(c, ev, "before RETRY_GO");
        s->msg = s->last_msg = ev->msg;
        break;
    default:                                 /* MSG_END                                                                 */
        if (s->msg != ev->msg) check_fail(c, ev, "this message is not open");
        s->msg = 0;
    }
}
static void check_whose(check *c, check_stream *s, const agent_event *ev)
{
    int io = ev->type == AGENT_EV_OPEN || ev->type == AGENT_EV_SIGN || ev->type == AGENT_EV_SEND || ev->type == AGENT_EV_CLOSE || (ev->type == AGENT_EV_NEED_DONE && ev->conn);
    int asks = ev->type == AGENT_EV_OPEN || ev->type == AGENT_EV_SIGN;
    if (ev->session == 0 && !s->decode && (ev->conn == 0 || ev->seq == 0)) {
        if (ev->conn == 0 && (ev->seq || ev->run || ev->peer == 0)) check_fail(c, ev, "a peer's event that is not only its own");
        return;
    }
    if (ev->seq == 0 && io && !asks) {}
    else if (ev->seq != s->seq + 1) check_fail(c, ev, "seq does not count up by one");
    else s->seq = ev->seq;
    if (ev->run && s->run == ev->run && !s->in_run && !(io && !asks && ev->type != AGENT_EV_SEND)) check_fail(c, ev, "after its RUN_END");
    if (ev->run && !io && ev->type != AGENT_EV_RUN_START && s->run != ev->run) check_fail(c, ev, "of a run that is not on");
    if (ev->type >= AGENT_EV_TEXT_START && ev->type <= AGENT_EV_TOOL_RESULT && !s->decode && !s->in_step) check_fail(c, ev, "outside of a step");
}

static void check_event(check *c, const agent_event *ev)
{
    check_stream *s = check_stream_of(c, ev->session ? ev->session : ev->conn ? ev->conn : ev->peer);
    c->events++;
    check_whose(c, s, ev);
    check_views(c, ev);
    if (c->why[0]) return;                   /* the first one counts, and what is broken may break more               */
    if (!c->light) check_print(c, ev);
    switch (ev->type) {
    case AGENT_EV_OPEN: case AGENT_EV_SEND: case AGENT_EV_CLOSE: check_io(c, s, ev); break;
    case AGENT_EV_RUN_START: case AGENT_EV_RUN_END: case AGENT_EV_STEP_START: case AGENT_EV_STEP_END: case AGENT_EV_MSG_ADD: case AGENT_EV_MSG_END:
        check_course(c, s, ev);
        break;
    case AGENT_EV_TEXT_START: case AGENT_EV_REASONING_START: case AGENT_EV_INPUT_START: case AGENT_EV_FILE_START: check_start(c, s, ev); break;
    case AGENT_EV_TEXT_DELTA: check_delta(c, s, ev, AGENT_EV_TEXT_START); break;
    case AGENT_EV_REASONING_DELTA: check_delta(c, s, ev, AGENT_EV_REASONING_START); break;
    case AGENT_EV_INPUT_DELTA: check_delta(c, s, ev, AGENT_EV_INPUT_START); break;
    case AGENT_EV_FILE_DELTA: check_delta(c, s, ev, AGENT_EV_FILE_START); break;
    case AGENT_EV_FILE_END: check_end(c, s, ev, AGENT_EV_FILE_START); break;
    case AGENT_EV_TEXT_END: check_end(c, s, ev, AGENT_EV_TEXT_START); break;
    case AGENT_EV_REASONING_END: check_end(c, s, ev, AGENT_EV_REASONING_START); break;
    case AGENT_EV_INPUT_END: check_end(c, s, ev, AGENT_EV_INPUT_START); break;
    case AGENT_EV_TOOL_CALL: case AGENT_EV_TOOL_RUN: case AGENT_EV_TOOL_UPDATE: case AGENT_EV_TOOL_CANCEL: case AGENT_EV_TOOL_RESULT:
        check_tool(c, s, ev);
        break;
    case AGENT_EV_NEED_DONE: check_need_done(c, s, ev); break;
    case AGENT_EV_CREDENTIAL: case AGENT_EV_SIGN:
        check_need_open(c, s, ev);
        if (s->cancelled) check_fail(c, ev, "after a cancel");
        break;
    case AGENT_EV_ERROR: check_error(c, s, ev); break;
    case AGENT_EV_RETRY_WAIT: case AGENT_EV_RETRY_GO: check_retry(c, s, ev); break;
    case AGENT_EV_QUEUED: check_queued(c, s, ev); break;
    case AGENT_EV_CHECKPOINT:
        if (s->in_step || s->msg || s->failed || s->retry != CHECK_CALM) check_fail(c, ev, "something is under way");
        break;
    default: break;
    }
    if (ev->flags & AGENT_EVF_NEED && ev->type != AGENT_EV_OPEN && ev->type != AGENT_EV_SIGN && ev->type != AGENT_EV_CREDENTIAL && ev->type != AGENT_EV_TOOL_RUN)
        check_fail(c, ev, "an unknown need");
}
/* ---- asked of the engine ---- */
/* The table as it is, between any two events: calls have their results behind them, in order, but for those of a step that is open. */
static void check_table(check *c, const agent_engine *e, agent_id session)
{
    const check_stream *s = check_stream_of(c, session);
    size_t n = agent_messages(e, session), i;
    uint32_t k, r;
    agent_msg m, next;
    agent_part p, q;
    for (i = 0; i < n; i++) {
        uint32_t calls = 0;
        if (agent_message(e, session, i, &m) != AGENT_OK) { check_fail(c, NULL, "a message of the table cannot be read"); return; }
        if (m.part_count == 0 && (m.role != AGENT_MODEL || (!(m.flags & AGENT_PART_CUT) && s->msg != m.id))) check_fail(c, NULL, "an empty message");
        next.role = AGENT_USER;
        next.id = next.part_count = 0;
        if (i + 1 < n) (void)agent_message(e, session, i + 1, &next);
        for (k = r = 0; k < m.part_count; k++) {
            if (agent_message_part(e, session, m.id, k, &p) != AGENT_OK) { check_fail(c, NULL, "a part of the table cannot be read"); return; }
            if (p.kind != AGENT_PART_CALL || m.role != AGENT_MODEL) continue;
            calls++;
            if (i + 1 == n) continue;        /* its step is open, or the host has cut the table                         */
            if (next.role != AGENT_TOOLS || agent_message_part(e, session, next.id, r++, &q) != AGENT_OK || q.kind != AGENT_PART_RESULT || q.call != p.call)
                check_fail(c, NULL, "a call in the table without its result");
        }
        if (i + 1 < n && (next.role == AGENT_TOOLS) != (calls > 0)) check_fail(c, NULL, "results without their calls");
        if (i + 1 < n && next.role == AGENT_TOOLS && next.part_count != calls) check_fail(c, NULL, "more results than calls");
    }
}
/* When agent_next has nothing: the session's open needs are those that it lists.                                       */
static void check_pending(check *c, const agent_engine *e, agent_id session)
{
    const check_stream *s = check_stream_of(c, session);
    agent_event ev;
    size_t i, k;
    for (i = 0; agent_pending(e, session, i, &ev) == AGENT_OK; i++) {
        for (k = 0; k < s->need_n && s->needs[k].need != ev.need; k++) {}
        if (k == s->need_n || !(ev.flags & AGENT_EVF_NEED)) check_fail(c, NULL, "agent_pending lists what is no open need");
    }
    if (i != s->need_n) check_fail(c, NULL, "agent_pending does not list all open needs");
}

/* All sessions are idle; connections may wait to be used again.                                                        */
static void check_idle(check *c)
{
    size_t i, k;
    for (i = 0; i < c->stream_n; i++) {
        const check_stream *s = &c->streams[i];
        if (s->in_run || s->in_step) check_fail(c, NULL, "a run has no RUN_END");
        if (s->need_n) check_fail(c, NULL, "a need has no NEED_DONE");
        if (s->msg) check_fail(c, NULL, "a message has no MSG_END");
        if (s->wait_n) check_fail(c, NULL, "an item waits, and no run goes on");
        for (k = 0; k < s->part_n; k++) if (s->parts[k].open) check_fail(c, NULL, "a part has no end");
    }
}
/* Nothing more will come: all must be closed.                                                                          */
static void check_over(check *c)
{
    check_idle(c);
    if (c->conn_n) check_fail(c, NULL, "a connection has no CLOSE");
}
#endif
