/* A model that plays a script: an HTTP/1.1 server on the loopback that speaks OpenAI chat completions.
 *
 *   scripted-model [--port N] [--once] [--until-eof] [--script TEXT] SCRIPT…
 *
 *   --port N      0, the default: any free one. The first line on stdout is `listening on 127.0.0.1:PORT`
 *   --once        ends when all turns were played and sent
 *   --until-eof   ends when standard input does, so that no orphan stays
 *   --script TEXT a script in place of a file
 *
 * A script is lines; `#` begins a comment line. Each POST …/chat/completions is answered by one turn: the first that was not played yet and
 * whose `when` fits. Settings before the first turn hold for all turns. Where TEXT begins with a quote it is a JSON string, so "\n" works;
 * else it goes to the end of the line.
 *
 *   turn [always]               begins a turn; always: it may be played again and again
 *   when "SUBSTRING"            only if it is in the last message of the user or a tool
 *   text TEXT                   what the model says, in the order of the script …
 *   reasoning TEXT              … and thinks
 *   call NAME ID {JSON}         a tool call; several are parallel calls; what follows NAME ID is sent as it is, also when it is no JSON
 *   finish REASON               default tool_calls after a call, else stop; `none`: no reason comes
 *   usage IN OUT [CACHED] [REASONING]
 *   error STATUS "MESSAGE" [CODE]          an error answer in place of all that
 *   error-in-stream "MESSAGE"   an error event; the turn ends there
 *   cut                         the connection is closed there, in the middle of the answer
 *   drop                        it is closed before the first byte of an answer
 *
 * and settings:
 *
 *   piece N                     at most N characters in one delta
 *   args-in-pieces N            a call's arguments come in N deltas
 *   bytes N                     at most N bytes in one HTTP chunk and in one write
 *   delay MS                    a pause after each event
 *   retry-after SECONDS         the header, in every answer of the turn …
 *   retry-after-date SECONDS    … as the date so many seconds from now
 *   chunked on|off              off: the body ends with the connection
 *   close                       the connection ends after the answer
 *   no-done                     without `data: [DONE]`
 *   whole                       one JSON document although a stream was asked for. Who asks for none gets one anyway           */
#define _POSIX_C_SOURCE 200809L
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CONNS = 64, MAX_REQUEST = 64 << 20, MAX_HEAD = 64 << 10 };
typedef struct text { char *p; size_t n, cap; } text;

/* ---- text ---- */
static void *must(void *p)
{
    if (p == NULL) { fprintf(stderr, "scripted-model: out of memory\n"); exit(1); }
    return p;
}
static void text_add(text *t, const char *p, size_t n)
{
    if (t->n + n + 1 > t->cap) {
        t->cap = (t->n + n + 1) * 2;
        t->p = (char *)must(realloc(t->p, t->cap));
    }
    if (n) memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = 0;
}
static void text_put(text *t, const char *s) { text_add(t, s, strlen(s)); }
static void text_number(text *t, long n)
{
    char digits[32];
    sprintf(digits, "%ld", n);
    text_put(t, digits);
}
static void text_quote(text *t, const char *p, size_t n)
{
    size_t need = agent_json_quote(p, n, NULL, 0);
    char *q = (char *)must(malloc(need + 1));
    agent_json_quote(p, n, q, need + 1);
    text_add(t, q, need);
    free(q);
}
static void text_clear(text *t) { t->n = 0; if (t->p) t->p[0] = 0; }
static void text_drop(text *t) { free(t->p); memset(t, 0, sizeof *t); }

/* ---- the script ---- */
enum act_kind { ACT_TEXT, ACT_REASONING, ACT_CALL, ACT_ERROR, ACT_CUT };
typedef struct act { enum act_kind kind; const char *text, *name, *id; } act;
typedef struct settings { long piece, args_pieces, bytes, delay, retry_after, retry_date, unchunked, close, no_done, whole; } settings;
typedef struct turn {
    int always, played, drop;
    const char *when, *finish;
    act *acts; size_t act_n;
    int calls;
    long usage[4]; int usage_n;
    long status; const char *message, *code;  /* status 0: no error answer                                              */
    settings set;
} turn;
static struct { turn *p; size_t n; settings set; } script;
static struct { const char *file; unsigned line; } place;

static void bad_script(const char *why, const char *what)
{
    fprintf(stderr, "%s:%u: %s%s%s\n", place.file, place.line, why, *what ? ": " : "", what);
    exit(2);
}
static char *blanks(char *p) { while (*p == ' ' || *p == '\t') p++; return p; }
/* A JSON string at *at, decoded where it stands.                                                                      */
static const char *quoted(char **at)
{
    char *p = *at, *end = p + 1;
    size_t n;
    while (*end && *end != '"') end += end[0] == '\\' && end[1] ? 2 : 1;
    if (*end == 0) bad_script("a string without its end", p);
    n = (size_t)(end + 1 - p);
    if (agent_json_check(p, n, 1, NULL) != AGENT_OK) bad_script("no JSON string", p);
    {
        agent_str view;
        char *out = (char *)must(malloc(n + 1));
        view.p = p;
        view.n = n;
        agent_json_text(view, out, n + 1);
        *at = blanks(end + 1);
        return out;                           /* belongs to the script, which lives as long as the program              */
    }
}
static const char *word(char **at)            /* NULL: the line is over                                                 */
{
    char *p = blanks(*at);
    *at = p;
    if (*p == 0) return NULL;
    if (*p == '"') return quoted(at);
    while (**at && **at != ' ' && **at != '\t') ++*at;
    if (**at) *(*at)++ = 0;
    return p;
}
static const char *need_word(char **at, const char *what)
{
    const char *w = word(at);
    if (w == NULL) bad_script("missing here", what);
    return w;
}
static const char *rest(char **at)            /* TEXT                                                                   */
{
    char *p = blanks(*at);
    const char *s = p;
    *at = p;
    if (*p == '"') return quoted(at);
    *at += strlen(p);
    return s;
}
static long number(char **at, const char *what, long least, long most)
{
    const char *w = need_word(at, what);
    char *end;
    long n = strtol(w, &end, 10);
    if (*end || end == w || n < least || n > most) bad_script("no number that fits", w);
    return n;
}
static int setting(settings *s, const char *name, char **at)
{
    const char *w;
    if (!strcmp(name, "piece")) s->piece = number(at, "N", 1, 1 << 20);
    else if (!strcmp(name, "args-in-pieces")) s->args_pieces = number(at, "N", 1, 1 << 20);
    else if (!strcmp(name, "bytes")) s->bytes = number(at, "N", 1, 1 << 20);
    else if (!strcmp(name, "delay")) s->delay = number(at, "MS", 0, 3600000);
    else if (!strcmp(name, "retry-after")) s->retry_after = number(at, "SECONDS", 0, 1000000);
    else if (!strcmp(name, "retry-after-date")) s->retry_date = number(at, "SECONDS", 1, 1000000);
    else if (!strcmp(name, "close")) s->close = 1;
    else if (!strcmp(name, "no-done")) s->no_done = 1;
    else if (!strcmp(name, "whole")) s->whole = 1;
    else if (!strcmp(name, "chunked")) {
        w = need_word(at, "on or off");
        if (strcmp(w, "on") && strcmp(w, "off")) bad_script("neither on nor off", w);
        s->unchunked = !strcmp(w, "off");
    } else return 0;
    return 1;
}
static turn *turn_begin(char **at)
{
    const char *w = word(at);
    turn *t;
    if (w && strcmp(w, "always")) bad_script("unknown word after turn", w);
    script.p = (turn *)must(realloc(script.p, (script.n + 1) * sizeof *script.p));
    t = &script.p[script.n++];
    memset(t, 0, sizeof *t);
    t->always = w != NULL;
    t->set = script.set;
    return t;
}
static act *act_add(turn *t, enum act_kind kind)
{
    act *a;
    t->acts = (act *)must(realloc(t->acts, (t->act_n + 1) * sizeof *t->acts));
    a = &t->acts[t->act_n++];
    memset(a, 0, sizeof *a);
    a->kind = kind;
    return a;
}
static void directive(turn *t, const char *name, char **at)
{
    act *a;
    if (!strcmp(name, "when")) t->when = need_word(at, "SUBSTRING");
    else if (!strcmp(name, "text")) act_add(t, ACT_TEXT)->text = rest(at);
    else if (!strcmp(name, "reasoning")) act_add(t, ACT_REASONING)->text = rest(at);
    else if (!strcmp(name, "finish")) t->finish = need_word(at, "REASON");
    else if (!strcmp(name, "error-in-stream")) act_add(t, ACT_ERROR)->text = need_word(at, "MESSAGE");
    else if (!strcmp(name, "cut")) act_add(t, ACT_CUT);
    else if (!strcmp(name, "drop")) t->drop = 1;
    else if (!strcmp(name, "call")) {
        a = act_add(t, ACT_CALL);
        a->name = need_word(at, "NAME");
        a->id = need_word(at, "ID");
        *at = blanks(*at);
        a->text = *at;
        *at += strlen(*at);
        t->calls++;
    } else if (!strcmp(name, "usage")) {
        for (t->usage_n = 0; t->usage_n < 2 || (t->usage_n < 4 && *blanks(*at)); t->usage_n++)
            t->usage[t->usage_n] = number(at, "IN OUT", 0, 1000000000);
    } else if (!strcmp(name, "error")) {
        t->status = number(at, "STATUS", 100, 999);
        t->message = need_word(at, "MESSAGE");
        t->code = word(at);
    } else bad_script("unknown directive", name);
}
static void script_line(char *line)
{
    char *at = line;
    const char *name;
    if (*blanks(line) == '#' || (name = word(&at)) == NULL) return;
    if (!strcmp(name, "turn")) turn_begin(&at);
    else if (setting(script.n ? &script.p[script.n - 1].set : &script.set, name, &at)) {}
    else if (script.n == 0) bad_script("before the first turn", name);
    else directive(&script.p[script.n - 1], name, &at);
    if (*blanks(at)) bad_script("too much on this line", at);
}
static void script_text(const char *file, char *p)           /* p stays: the script points into it                      */
{
    place.file = file;
    place.line = 0;
    while (*p) {
        size_t n = strcspn(p, "\n");
        char *next = p + n + (p[n] == '\n');
        p[n] = 0;
        if (n && p[n - 1] == '\r') p[n - 1] = 0;
        place.line++;
        script_line(p);
        p = next;
    }
}
static void script_file(const char *file)
{
    FILE *f = fopen(file, "rb");
    text t = {NULL, 0, 0};
    char buf[4096];
    size_t n;
    if (f == NULL) { fprintf(stderr, "scripted-model: %s: %s\n", file, strerror(errno)); exit(2); }
    text_add(&t, "", 0);
    while ((n = fread(buf, 1, sizeof buf, f)) > 0) text_add(&t, buf, n);
    fclose(f);
    script_text(file, t.p);
}

/* ---- connections ---- */
typedef struct conn {
    int fd;                                   /* -1: free                                                               */
    text in, out;
    size_t sent;
    size_t *stops, stop_n, stop_at;           /* where the answer pauses                                                */
    uint64_t wake;                            /* 0: it does not                                                         */
    long bytes, delay;
    int close_after, busy, gone, drop;        /* gone: the client sends no more; drop: it gets no answer                */
} conn;
static conn conns[MAX_CONNS];
static unsigned answers;

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}
static void conn_drop(conn *c)
{
    close(c->fd);
    text_drop(&c->in);
    text_drop(&c->out);
    free(c->stops);
    memset(c, 0, sizeof *c);
    c->fd = -1;
}
static void conn_stop(conn *c)                /* a pause here                                                           */
{
    c->stops = (size_t *)must(realloc(c->stops, (c->stop_n + 1) * sizeof *c->stops));
    c->stops[c->stop_n++] = c->out.n;
}

/* ---- answers ---- */
typedef struct body { text t; size_t *ends, end_n; int cut; agent_str model; } body;     /* ends: of its events         */

static void body_end(body *b)
{
    b->ends = (size_t *)must(realloc(b->ends, (b->end_n + 1) * sizeof *b->ends));
    b->ends[b->end_n++] = b->t.n;
}
static void about(body *b, const char *object)               /* what every object begins with                           */
{
    text_put(&b->t, "{\"id\":\"chatcmpl-");
    text_number(&b->t, (long)answers);
    text_put(&b->t, "\",\"object\":\"");
    text_put(&b->t, object);
    text_put(&b->t, "\",\"created\":1800000000,\"model\":");
    if (b->model.n) text_add(&b->t, b->model.p, b->model.n);
    else text_put(&b->t, "\"scripted\"");
}
static void delta_begin(body *b)
{
    text_put(&b->t, "data: ");
    about(b, "chat.completion.chunk");
    text_put(&b->t, ",\"choices\":[{\"index\":0,\"delta\":{");
}
static void delta_end(body *b, const char *finish)
{
    text_put(&b->t, "},\"finish_reason\":");
    if (finish) text_quote(&b->t, finish, strlen(finish));
    else text_put(&b->t, "null");
    text_put(&b->t, "}]}\n\n");
    body_end(b);
}
static size_t characters(const char *p, long n)              /* bytes of the first n characters                         */
{
    size_t i = 0;
    if (n == 0) return strlen(p);
    for (; n && p[i]; n--) do i++; while ((p[i] & 0xC0) == 0x80);
    return i;
}
static void stream_text(body *b, const char *field, const char *p, long piece)
{
    size_t n;
    for (; *p; p += n) {
        n = characters(p, piece);
        delta_begin(b);
        text_quote(&b->t, field, strlen(field));
        text_put(&b->t, ":");
        text_quote(&b->t, p, n);
        delta_end(b, NULL);
    }
}
static void call_begin(body *b, int index)
{
    delta_begin(b);
    text_put(&b->t, "\"tool_calls\":[{\"index\":");
    text_number(&b->t, index);
    text_put(&b->t, ",");
}
static void stream_call(body *b, const act *a, int index, long pieces)
{
    size_t n = strlen(a->text), step, at, k;
    call_begin(b, index);
    text_put(&b->t, "\"id\":");
    text_quote(&b->t, a->id, strlen(a->id));
    text_put(&b->t, ",\"type\":\"function\",\"function\":{\"name\":");
    text_quote(&b->t, a->name, strlen(a->name));
    text_put(&b->t, ",\"arguments\":\"\"}}]");
    delta_end(b, NULL);
    step = pieces ? (n + (size_t)pieces - 1) / (size_t)pieces : n;
    for (at = 0; at < n; at += k) {
        k = n - at < step ? n - at : step;
        while (at + k < n && (a->text[at + k] & 0xC0) == 0x80) k++;      /* whole characters                            */
        call_begin(b, index);
        text_put(&b->t, "\"function\":{\"arguments\":");
        text_quote(&b->t, a->text + at, k);
        text_put(&b->t, "}}]");
        delta_end(b, NULL);
    }
}
static void put_usage(body *b, const turn *t)
{
    text_put(&b->t, "{\"prompt_tokens\":");
    text_number(&b->t, t->usage[0]);
    text_put(&b->t, ",\"completion_tokens\":");
    text_number(&b->t, t->usage[1]);
    text_put(&b->t, ",\"total_tokens\":");
    text_number(&b->t, t->usage[0] + t->usage[1]);
    if (t->usage_n > 2) { text_put(&b->t, ",\"prompt_tokens_details\":{\"cached_tokens\":"); text_number(&b->t, t->usage[2]); text_put(&b->t, "}"); }
    if (t->usage_n > 3) { text_put(&b->t, ",\"completion_tokens_details\":{\"reasoning_tokens\":"); text_number(&b->t, t->usage[3]); text_put(&b->t, "}"); }
    text_put(&b->t, "}");
}
static void put_error(body *b, const char *message, const char *code)
{
    text_put(&b->t, "{\"error\":{\"message\":");
    text_quote(&b->t, message, strlen(message));
    text_put(&b->t, ",\"type\":\"scripted_error\",\"param\":null,\"code\":");
    if (code) text_quote(&b->t, code, strlen(code));
    else text_put(&b->t, "null");
    text_put(&b->t, "}}");
}
static const char *finish_of(const turn *t)   /* NULL: none                                                             */
{
    if (t->finish == NULL) return t->calls ? "tool_calls" : "stop";
    return strcmp(t->finish, "none") ? t->finish : NULL;
}
static void body_stream(body *b, const turn *t, int with_usage)
{
    size_t i;
    int index = 0;
    delta_begin(b);
    text_put(&b->t, "\"role\":\"assistant\",\"content\":\"\"");
    delta_end(b, NULL);
    for (i = 0; i < t->act_n; i++) switch (t->acts[i].kind) {
        case ACT_TEXT:      stream_text(b, "content", t->acts[i].text, t->set.piece); break;
        case ACT_REASONING: stream_text(b, "reasoning_content", t->acts[i].text, t->set.piece); break;
        case ACT_CALL:      stream_call(b, &t->acts[i], index++, t->set.args_pieces); break;
        case ACT_CUT:       b->cut = 1; return;
        case ACT_ERROR:
            text_put(&b->t, "data: ");
            put_error(b, t->acts[i].text, NULL);
            text_put(&b->t, "\n\n");
            body_end(b);
            return;
    }
    if (finish_of(t)) { delta_begin(b); delta_end(b, finish_of(t)); }
    if (t->usage_n && with_usage) {
        text_put(&b->t, "data: ");
        about(b, "chat.completion.chunk");
        text_put(&b->t, ",\"choices\":[],\"usage\":");
        put_usage(b, t);
        text_put(&b->t, "}\n\n");
        body_end(b);
    }
    if (!t->set.no_done) { text_put(&b->t, "data: [DONE]\n\n"); body_end(b); }
}
static void whole_text(body *b, const turn *t, enum act_kind kind, const char *field, int always)
{
    text all = {NULL, 0, 0};
    size_t i;
    int any = 0;
    for (i = 0; i < t->act_n; i++) if (t->acts[i].kind == kind) { text_put(&all, t->acts[i].text); any = 1; }
    if (any || always) {
        text_put(&b->t, ",");
        text_quote(&b->t, field, strlen(field));
        text_put(&b->t, ":");
        if (any) text_quote(&b->t, all.p, all.n);
        else text_put(&b->t, "null");
    }
    text_drop(&all);
}
static void whole_calls(body *b, const turn *t)
{
    size_t i;
    const char *comma = "";
    if (t->calls == 0) return;
    text_put(&b->t, ",\"tool_calls\":[");
    for (i = 0; i < t->act_n; i++) {
        const act *a = &t->acts[i];
        if (a->kind != ACT_CALL) continue;
        text_put(&b->t, comma);
        text_put(&b->t, "{\"id\":");
        text_quote(&b->t, a->id, strlen(a->id));
        text_put(&b->t, ",\"type\":\"function\",\"function\":{\"name\":");
        text_quote(&b->t, a->name, strlen(a->name));
        text_put(&b->t, ",\"arguments\":");
        text_quote(&b->t, a->text, strlen(a->text));
        text_put(&b->t, "}}");
        comma = ",";
    }
    text_put(&b->t, "]");
}
static void body_whole(body *b, const turn *t)
{
    size_t i;
    about(b, "chat.completion");
    text_put(&b->t, ",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\"");
    whole_text(b, t, ACT_REASONING, "reasoning_content", 0);
    whole_text(b, t, ACT_TEXT, "content", 1);
    whole_calls(b, t);
    text_put(&b->t, "},\"finish_reason\":");
    if (finish_of(t)) text_quote(&b->t, finish_of(t), strlen(finish_of(t)));
    else text_put(&b->t, "null");
    text_put(&b->t, "}]");
    if (t->usage_n) { text_put(&b->t, ",\"usage\":"); put_usage(b, t); }
    text_put(&b->t, "}");
    for (i = 0; i < t->act_n; i++) if (t->acts[i].kind == ACT_CUT) {      /* its second half never comes                */
        b->cut = 1;
        b->t.n /= 2;
        return;
    } else if (t->acts[i].kind == ACT_ERROR) { text_clear(&b->t); put_error(b, t->acts[i].text, NULL); return; }
}

/* ---- HTTP ---- */
enum framing { FRAME_LENGTH, FRAME_CHUNKED, FRAME_CLOSE };
static void put_date(text *o, long seconds)   /* RFC 9110 5.6.7; no locale is set                                      */
{
    time_t at = time(NULL) + (time_t)seconds;
    struct tm tm;
    char date[64];
    if (gmtime_r(&at, &tm) && strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &tm)) text_put(o, date);
}
static void put_head(conn *c, long status, const char *type, const settings *s, enum framing framing, size_t length)
{
    text *o = &c->out;
    text_put(o, "HTTP/1.1 ");
    text_number(o, status);
    text_put(o, status == 200 ? " OK\r\n" : " Scripted\r\n");
    text_put(o, "content-type: ");
    text_put(o, type);
    text_put(o, "\r\n");
    if (s->retry_after) { text_put(o, "retry-after: "); text_number(o, s->retry_after); text_put(o, "\r\n"); }
    if (s->retry_date) { text_put(o, "retry-after: "); put_date(o, s->retry_date); text_put(o, "\r\n"); }
    if (framing == FRAME_CHUNKED) text_put(o, "transfer-encoding: chunked\r\n");
    if (framing == FRAME_LENGTH) { text_put(o, "content-length: "); text_number(o, (long)length); text_put(o, "\r\n"); }
    if (s->close || framing == FRAME_CLOSE) { text_put(o, "connection: close\r\n"); c->close_after = 1; }
    text_put(o, "\r\n");
}
/* The body in slices that end at its events where there is a delay, and are at most `bytes` long.                     */
static void put_body(conn *c, const body *b, const settings *s, int chunked)
{
    size_t at = 0, event = 0, n, end;
    char size[32];
    while (at < b->t.n) {
        while (event < b->end_n && b->ends[event] <= at) event++;
        end = event < b->end_n && (s->delay || !s->bytes) ? b->ends[event] : b->t.n;
        n = end - at;
        if (s->bytes && n > (size_t)s->bytes) n = (size_t)s->bytes;
        sprintf(size, "%lx\r\n", (unsigned long)n);
        if (chunked) text_put(&c->out, size);
        text_add(&c->out, b->t.p + at, n);
        if (chunked) text_put(&c->out, "\r\n");
        at += n;
        if (s->delay && event < b->end_n && at == b->ends[event]) conn_stop(c);
    }
    if (chunked && !b->cut) text_put(&c->out, "0\r\n\r\n");
}
static void answer_error(conn *c, long status, const char *message, const char *code, const settings *s)
{
    body b;
    memset(&b, 0, sizeof b);
    put_error(&b, message, code);
    put_head(c, status, "application/json", s, FRAME_LENGTH, b.t.n);
    put_body(c, &b, s, 0);
    text_drop(&b.t);
}
static void answer_turn(conn *c, turn *t, agent_str request)
{
    body b;
    const settings *s = &t->set;
    int stream = agent_json_bool(agent_json_get(request, "stream"), 0) && !s->whole;
    enum framing framing = s->unchunked ? FRAME_CLOSE : stream ? FRAME_CHUNKED : FRAME_LENGTH;
    memset(&b, 0, sizeof b);
    b.model = agent_json_get(request, "model");
    if (stream) body_stream(&b, t, agent_json_bool(agent_json_get(request, "stream_options.include_usage"), 0));
    else body_whole(&b, t);
    put_head(c, 200, stream ? "text/event-stream" : "application/json", s, framing, b.cut ? b.t.n * 2 : b.t.n);
    put_body(c, &b, s, framing == FRAME_CHUNKED);
    if (b.cut) c->close_after = 1;
    text_drop(&b.t);
    free(b.ends);
}
/* The content of the last message of the user or a tool, decoded.                                                     */
static void last_content(agent_str request, text *out)
{
    agent_str messages = agent_json_get(request, "messages"), item, content, found = {NULL, 0};
    size_t pos = 0, n;
    while (messages.p && agent_json_each(messages, &pos, NULL, &item) == 1) {
        agent_str role = agent_json_get(item, "role");
        content = agent_json_get(item, "content");
        if (content.p && (agent_json_is(role, "user") || agent_json_is(role, "tool"))) found = content;
    }
    text_add(out, "", 0);
    if (found.p == NULL) return;
    n = agent_json_text(found, NULL, 0);      /* a list of parts is searched as it is written                           */
    out->p = (char *)must(realloc(out->p, n + 1));
    out->cap = n + 1;
    out->n = agent_json_text(found, out->p, n + 1);
}
static turn *turn_for(agent_str request)
{
    text content = {NULL, 0, 0};
    turn *found = NULL;
    size_t i;
    last_content(request, &content);
    for (i = 0; i < script.n && found == NULL; i++) {
        turn *t = &script.p[i];
        if ((t->always || !t->played) && (t->when == NULL || strstr(content.p, t->when))) found = t;
    }
    text_drop(&content);
    return found;
}
static void answer(conn *c, const char *method, const char *path, agent_str request)
{
    static const char tail[] = "/chat/completions";
    size_t n = strcspn(path, "? ");
    turn *t;
    c->busy = 1;
    c->bytes = c->delay = 0;
    if (n < sizeof tail - 1 || strncmp(path + n - (sizeof tail - 1), tail, sizeof tail - 1) != 0) { answer_error(c, 404, "no such path", "not_found", &script.set); return; }
    if (strncmp(method, "POST ", 5) != 0) { answer_error(c, 405, "POST it", NULL, &script.set); return; }
    if (agent_json_check(request.p, request.n, 0, NULL) != AGENT_OK || request.p[0] != '{') { answer_error(c, 400, "the body is no JSON object", NULL, &script.set); return; }
    t = turn_for(request);
    if (t == NULL) { answer_error(c, 500, "the script has no turn for this", "script_over", &script.set); return; }
    t->played = 1;
    answers++;
    c->bytes = t->set.bytes;
    c->delay = t->set.delay;
    if (t->drop) c->drop = 1;
    else if (t->status) answer_error(c, t->status, t->message, t->code, &t->set);
    else answer_turn(c, t, request);
}
static int same_name(const char *p, const char *name)        /* p begins with name in any case                          */
{
    for (; *name; p++, name++) if ((*p | 32) != (*name | 32)) return 0;
    return 1;
}
/* The value of a header of a request's head, or NULL; the head ends with an empty line.                               */
static const char *header(const char *head, const char *name)
{
    const char *p = head;
    while ((p = strstr(p, "\r\n")) != NULL && p[2] != '\r') {
        p += 2;
        if (same_name(p, name) && p[strlen(name)] == ':') return p + strlen(name) + 1 + strspn(p + strlen(name) + 1, " \t");
    }
    return NULL;
}
static void refuse(conn *c, long status, const char *why)    /* what follows on this connection is not understood       */
{
    settings s = script.set;
    s.close = 1;
    c->busy = 1;
    answer_error(c, status, why, NULL, &s);
    text_clear(&c->in);
}
static void conn_parse(conn *c)               /* a request, if all of it is there                                       */
{
    char *end = c->in.n ? strstr(c->in.p, "\r\n\r\n") : NULL, *path;
    const char *length, *value;
    size_t head, n;
    agent_str request;
    if (end == NULL) { if (c->in.n > MAX_HEAD) refuse(c, 431, "the head is too long"); return; }
    head = (size_t)(end - c->in.p) + 4;
    end[3] = 0;                               /* so that no search leaves the head                                      */
    length = header(c->in.p, "content-length");
    value = header(c->in.p, "expect");
    if (header(c->in.p, "transfer-encoding") || (length && (*length < '0' || *length > '9'))) { refuse(c, 411, "a request needs a content-length"); return; }
    n = length ? (size_t)strtoul(length, NULL, 10) : 0;
    if (n > MAX_REQUEST) { refuse(c, 413, "the request is too long"); return; }
    if (c->in.n - head < n) {
        if (value && same_name(value, "100-continue") && c->in.n == head && c->out.n == 0) text_put(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
        end[3] = '\n';
        return;
    }
    value = header(c->in.p, "connection");
    if (value && same_name(value, "close")) c->close_after = 1;
    path = strchr(c->in.p, ' ');
    request.p = c->in.p + head;
    request.n = n;
    answer(c, c->in.p, path ? path + 1 : "", request);
    if (c->drop) { conn_drop(c); return; }
    memmove(c->in.p, c->in.p + head + n, c->in.n - head - n + 1);
    c->in.n -= head + n;
}

/* ---- the loop ---- */
static int again(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }
static void conn_sent_all(conn *c)
{
    text_clear(&c->out);
    c->sent = c->stop_n = c->stop_at = 0;
    if (!c->busy) return;                     /* that was a 100                                                         */
    c->busy = 0;
    if (c->close_after || c->gone) { conn_drop(c); return; }
    conn_parse(c);                            /* the next request may be there                                          */
}
static void conn_write(conn *c)
{
    while (c->fd >= 0 && c->sent < c->out.n && c->wake == 0) {
        size_t end = c->stop_at < c->stop_n ? c->stops[c->stop_at] : c->out.n, n = end - c->sent;
        ssize_t sent;
        if (c->bytes && n > (size_t)c->bytes) n = (size_t)c->bytes;
        sent = send(c->fd, c->out.p + c->sent, n, 0);
        if (sent < 0 && again()) return;
        if (sent < 0) { conn_drop(c); return; }
        c->sent += (size_t)sent;
        if (c->stop_at < c->stop_n && c->sent == end) { c->stop_at++; c->wake = now_ms() + (uint64_t)c->delay; }
        if (c->sent == c->out.n) { c->wake = 0; conn_sent_all(c); }
    }
}
static void conn_read(conn *c)
{
    char buf[16384];
    ssize_t got = recv(c->fd, buf, sizeof buf, 0);
    if (got < 0 && again()) return;
    if (got < 0 || (got == 0 && !c->busy)) { conn_drop(c); return; }
    if (got == 0) { c->gone = 1; return; }
    text_add(&c->in, buf, (size_t)got);
    if (!c->busy) conn_parse(c);
}
static void conn_accept(int listener)
{
    int fd = accept(listener, NULL, NULL), on = 1;
    size_t i;
    if (fd < 0) return;
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (i = 0; i < MAX_CONNS; i++) if (conns[i].fd < 0) { conns[i].fd = fd; return; }
    close(fd);
}
static int all_played(void)
{
    size_t i;
    for (i = 0; i < script.n; i++) if (!script.p[i].always && !script.p[i].played) return 0;
    for (i = 0; i < MAX_CONNS; i++) if (conns[i].fd >= 0 && conns[i].busy) return 0;
    return 1;
}
static int listen_on(long port)
{
    struct sockaddr_in a;
    socklen_t n = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_port = htons((uint16_t)port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0) (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)(void *)&a, sizeof a) != 0 || listen(fd, 64) != 0 || getsockname(fd, (struct sockaddr *)(void *)&a, &n) != 0) {
        fprintf(stderr, "scripted-model: port %ld: %s\n", port, strerror(errno));
        exit(1);
    }
    printf("listening on 127.0.0.1:%u\n", (unsigned)ntohs(a.sin_port));
    fflush(stdout);
    return fd;
}
static int soonest(uint64_t now)              /* for poll                                                               */
{
    uint64_t at = UINT64_MAX;
    size_t i;
    for (i = 0; i < MAX_CONNS; i++) if (conns[i].fd >= 0 && conns[i].wake && conns[i].wake < at) at = conns[i].wake;
    return at == UINT64_MAX ? -1 : at <= now ? 0 : (int)(at - now);
}
static int serve(int listener, int once, int leash)
{
    struct pollfd p[MAX_CONNS + 2];
    size_t i;
    uint64_t now;
    while (!once || !all_played()) {
        now = now_ms();
        p[MAX_CONNS].fd = listener;
        p[MAX_CONNS + 1].fd = leash ? 0 : -1;
        p[MAX_CONNS].events = p[MAX_CONNS + 1].events = POLLIN;
        for (i = 0; i < MAX_CONNS; i++) {
            conn *c = &conns[i];
            if (c->fd >= 0 && c->wake && c->wake <= now) c->wake = 0;
            p[i].fd = c->fd;
            p[i].events = (short)((c->gone ? 0 : POLLIN) | (c->sent < c->out.n && c->wake == 0 ? POLLOUT : 0));
            if (p[i].events == 0) p[i].fd = -1;
        }
        if (poll(p, MAX_CONNS + 2, soonest(now)) < 0) { if (errno == EINTR) continue; return 1; }
        if (leash && p[MAX_CONNS + 1].revents) {
            char c[64];
            if (read(0, c, sizeof c) <= 0) return 0;
        }
        for (i = 0; i < MAX_CONNS; i++) {
            if (p[i].fd < 0 || p[i].revents == 0) continue;
            if (p[i].revents & ~POLLOUT) conn_read(&conns[i]);
            if (conns[i].fd >= 0 && (p[i].revents & POLLOUT)) conn_write(&conns[i]);
        }
        if (p[MAX_CONNS].revents) conn_accept(listener);
    }
    return 0;
}
static void usage(void)
{
    fprintf(stderr, "usage: scripted-model [--port N] [--once] [--until-eof] [--script TEXT] SCRIPT...\n");
    exit(2);
}
int main(int argc, char **argv)
{
    long port = 0;
    int i, once = 0, leash = 0, scripts = 0;
    char *end;
    for (i = 0; i < MAX_CONNS; i++) conns[i].fd = -1;
    for (i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--once")) once = 1;
        else if (!strcmp(argv[i], "--until-eof")) leash = 1;
        else if (!strcmp(argv[i], "--port") && i + 1 < argc) {
            port = strtol(argv[++i], &end, 10);
            if (*end || end == argv[i] || port < 0 || port > 65535) usage();
        } else if (!strcmp(argv[i], "--script") && i + 1 < argc) { script_text("--script", argv[++i]); scripts++; }
        else if (!strncmp(argv[i], "--", 2)) usage();
        else { script_file(argv[i]); scripts++; }
    }
    if (scripts == 0) usage();
    signal(SIGPIPE, SIG_IGN);
    return serve(listen_on(port), once, leash);
}
