/* drive: what `make interop` needs beside chat and replay. One JSON object a line, see vocabulary.h.
 *
 *   drive fetch [--header 'Name: value']... [--read N] [--wait MS] http://127.0.0.1:PORT/PATH
 *       one GET, kept alive, through the HTTP codec alone, at most N bytes a read: the lines of replay --format http, then
 *       {"ev":"end", trailers, keep_alive}; or
 *       {"ev":"http_error", message, body}, body: what came before. A peer that is silent for MS ends it, too.
 *   drive run [--provider P] [--model M] [--set OPTION=VALUE]... URL PROMPT
 *       one run of a session that asks for whole answers (AGENT_S_NO_STREAM): the lines of chat --json. Its tools, list and
 *       read_file, say their arguments.
 *
 * Exit code: 0 a whole answer or a completed run, 1 none, 2 wrong usage. */
#define _POSIX_C_SOURCE 200809L
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "../../examples/host_posix.h"
#include "../../examples/replay.h"
#include <arpa/inet.h>
#include <netinet/in.h>

enum { HEAD_MOST = 64 << 10, READ_MOST = 16 << 10, SETTINGS_MOST = 8 };
typedef struct options {
    const char *provider, *model, *settings[SETTINGS_MOST];
    replay_text headers;                      /* as they are sent                                                       */
    size_t setting_n, read;
    int wait;
    const char *url, *prompt;
} options;

/* ---- fetch ---- */
typedef struct fetch { agent_http http; replay r; replay_message m; int over, whole; } fetch;

static int fetch_dial(const options *o)       /* a socket on which the request was sent, or -1                          */
{
    static const char local[] = "http://127.0.0.1:";
    struct sockaddr_in to;
    replay_text request = {NULL, 0, 0};
    char *path = NULL;
    int fd = -1, sent;
    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (strncmp(o->url, local, sizeof local - 1) == 0) to.sin_port = htons((uint16_t)strtoul(o->url + sizeof local - 1, &path, 10));
    if (path == NULL || *path != '/' || (fd = socket(AF_INET, SOCK_STREAM, 0)) < 0) return -1;
    replay_puts(&request, "GET ");
    replay_puts(&request, path);
    replay_puts(&request, " HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    if (o->headers.n) replay_put(&request, o->headers.p, o->headers.n);
    replay_puts(&request, "\r\n");
    sent = connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 && send(fd, request.p, request.n, MSG_NOSIGNAL) == (ssize_t)request.n;
    free(request.p);
    if (sent) return fd;
    close(fd);
    return -1;
}
static void fetch_end(fetch *f, const agent_http_event *ev)
{
    replay_text *t = &f->r.out, trailers = {NULL, 0, 0};
    f->over = f->whole = 1;
    replay_headers(&trailers, ev->headers);
    replay_puts(t, "{\"ev\":\"end\",\"trailers\":{");
    if (trailers.n) replay_put(t, trailers.p, trailers.n);
    replay_puts(t, ev->keep_alive ? "},\"keep_alive\":true}\n" : "},\"keep_alive\":false}\n");
    free(trailers.p);
}
static void fetch_failed(fetch *f, const char *why)
{
    agent_str body;
    body.p = f->m.body.n ? f->m.body.p : "";
    body.n = f->m.body.n;
    f->over = 1;
    replay_puts(&f->r.out, "{\"ev\":\"http_error\"");
    replay_member(&f->r.out, "message", replay_str(why));
    replay_member(&f->r.out, "body", body);
    replay_puts(&f->r.out, "}\n");
}
static void fetch_event(fetch *f, const agent_http_event *ev)
{
    replay_http_event(&f->r, &f->m, ev, NULL);
    if (ev->kind == AGENT_HTTP_END) fetch_end(f, ev);
}
static void fetch_bytes(fetch *f, const char *p, size_t n)
{
    agent_http_event ev;
    size_t used;
    int rc;
    do {
        rc = agent_http_next(&f->http, p, n, &used, &ev);
        p += used;
        n -= used;
        if (rc == AGENT_OK) fetch_event(f, &ev);
        else if (rc != AGENT_MORE) fetch_failed(f, f->http.error ? f->http.error : "the head is too long");
    } while (rc == AGENT_OK && !f->over);
}
static void fetch_eof(fetch *f)
{
    agent_http_event ev;
    int rc = agent_http_eof(&f->http, &ev);
    if (rc == AGENT_OK) fetch_event(f, &ev);
    else fetch_failed(f, rc == AGENT_MORE ? "no answer" : f->http.error);
}
static int fetch_main(const options *o)
{
    static char head[HEAD_MOST], in[READ_MOST];
    static fetch f;
    struct pollfd p;
    ssize_t got;
    memset(&p, 0, sizeof p);
    p.fd = fetch_dial(o);
    p.events = POLLIN;
    agent_http_init(&f.http, head, sizeof head);
    if (p.fd < 0) fetch_failed(&f, "no connection");
    while (!f.over) {
        if (poll(&p, 1, o->wait) <= 0) { fetch_failed(&f, "silence"); break; }
        got = recv(p.fd, in, o->read, 0);
        if (got > 0) fetch_bytes(&f, in, (size_t)got);
        else if (got == 0) fetch_eof(&f);
        else fetch_failed(&f, strerror(errno));
    }
    fwrite(f.r.out.p, 1, f.r.out.n, stdout);
    if (p.fd >= 0) close(p.fd);
    free(f.r.out.p);
    free(f.m.head.p);
    free(f.m.body.p);
    return !f.whole;
}

/* ---- run ---- */
typedef struct run { agent_engine *e; host_net net; replay_text out; int over, code; } run;

static void run_result(replay_text *t, const agent_event *ev)
{
    replay_puts(t, "{\"ev\":\"tool_result\"");
    replay_member(t, "id", ev->u.tool.wire_id);
    replay_member(t, "name", ev->name);
    replay_puts(t, ev->u.tool.status == AGENT_DONE_OK ? ",\"is_error\":false" : ",\"is_error\":true");
    replay_member(t, "text", ev->text);
    replay_puts(t, "}\n");
}
static void run_count(replay_text *t, const char *name, const char *key, int64_t n, const char *reason)
{
    replay_puts(t, "{\"ev\":\"");
    replay_puts(t, name);
    replay_puts(t, "\"");
    if (reason) replay_member(t, "reason", replay_str(reason));
    replay_number(t, key, n);
    replay_puts(t, "}\n");
}
static void run_event(run *r, const agent_event *ev)
{
    switch (ev->type) {
    case AGENT_EV_OPEN:        host_open(&r->net, r->e, ev); break;
    case AGENT_EV_CLOSE:       host_close(&r->net, ev); break;
    case AGENT_EV_RUN_START:   run_count(&r->out, "run_start", "run", ev->run, NULL); break;
    case AGENT_EV_STEP_START:  run_count(&r->out, "step_start", "step", ev->step, NULL); break;
    case AGENT_EV_STEP_END:    if (ev->u.end.outcome == AGENT_COMPLETED) replay_line(&r->out, ev); break;
    case AGENT_EV_TOOL_RUN:    (void)agent_tool_result(r->e, ev->session, ev->call, ev->text.p, ev->text.n); break;
    case AGENT_EV_TOOL_RESULT: run_result(&r->out, ev); break;
    case AGENT_EV_RUN_END:
        r->over = 1;
        r->code = ev->u.end.outcome != AGENT_COMPLETED;
        run_count(&r->out, "run_end", "steps", ev->u.end.steps, r->code ? "failed" : "done");
        break;
    default: replay_line(&r->out, ev);
    }
}
static void run_loop(run *r)
{
    struct pollfd p[HOST_MAX];
    const agent_event *ev;
    while (!r->over) {
        host_tick(r->e);
        while ((ev = agent_next(r->e)) != NULL) run_event(r, ev);
        host_poll(&r->net, r->e, p);
        if (!r->over && poll(p, HOST_MAX, host_wait(r->e)) > 0) host_ready(&r->net, r->e, p);
    }
}
static int run_set(run *r, agent_id session, const char *setting)
{
    char key[32];
    const char *is = strchr(setting, '=');
    if (is == NULL || (size_t)(is - setting) >= sizeof key) return 0;
    memcpy(key, setting, (size_t)(is - setting));
    key[is - setting] = 0;
    return agent_session_set(r->e, session, key, is + 1, AGENT_CSTR) == AGENT_OK;
}
static int run_main(const options *o)
{
    static run r;
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    agent_tool tools[2];
    agent_id session;
    size_t i;
    memset(tools, 0, sizeof tools);
    tools[0].name = "list";
    tools[1].name = "read_file";
    p.provider = o->provider;
    p.url = o->url;
    p.key = "no-secret";
    if (agent_open(&r.e, &d) != AGENT_OK) return 1;
    host_tick(r.e);
    s.flags = AGENT_S_NO_STREAM;
    s.peer = agent_peer_open(r.e, &p);
    s.model = o->model;
    s.tools = tools;
    s.tool_count = 2;
    session = agent_session_open(r.e, &s);
    for (i = 0; i < o->setting_n && session; i++) if (!run_set(&r, session, o->settings[i])) session = 0;
    if (session && agent_say(r.e, session, o->prompt, AGENT_CSTR) > 0) run_loop(&r);
    else { fprintf(stderr, "drive: %s\n", agent_last(r.e)); r.code = 2; }
    agent_close(r.e);
    host_close_all(&r.net);
    if (r.out.n) fwrite(r.out.p, 1, r.out.n, stdout);
    free(r.out.p);
    return r.code;
}

/* ---- the command ---- */
static int option(options *o, const char *name, const char *value)           /* 0: it is none                           */
{
    if (strcmp(name, "--provider") == 0) o->provider = value;
    else if (strcmp(name, "--model") == 0) o->model = value;
    else if (strcmp(name, "--set") == 0 && o->setting_n < SETTINGS_MOST) o->settings[o->setting_n++] = value;
    else if (strcmp(name, "--header") == 0) { replay_puts(&o->headers, value); replay_puts(&o->headers, "\r\n"); }
    else if (strcmp(name, "--read") == 0) o->read = strtoul(value, NULL, 10);
    else if (strcmp(name, "--wait") == 0) o->wait = (int)strtoul(value, NULL, 10);
    else return 0;
    return o->read > 0 && o->read <= READ_MOST;
}
int main(int argc, char **argv)
{
    static options o;
    int i = 2, fetches = argc > 1 && strcmp(argv[1], "fetch") == 0, code;
    o.provider = "openai-compatible";
    o.model = "any";
    o.read = READ_MOST;
    o.wait = 10000;
    while (i + 1 < argc && argv[i][0] == '-' && option(&o, argv[i], argv[i + 1])) i += 2;
    if (argc < 3 || argc - i != (fetches ? 1 : 2) || (!fetches && strcmp(argv[1], "run") != 0)) {
        fprintf(stderr, "usage: drive fetch [--header 'Name: value']... [--read N] [--wait MS] http://127.0.0.1:PORT/PATH\n"
                        "       drive run [--provider P] [--model M] [--set OPTION=VALUE]... URL PROMPT\n");
        return 2;
    }
    o.url = argv[i];
    o.prompt = argv[argc - 1];
    code = fetches ? fetch_main(&o) : run_main(&o);
    free(o.headers.p);
    return code;
}
