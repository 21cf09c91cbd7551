/* An agent in the terminal: plain sockets, one poll loop, no threads.
 *
 *   chat [--provider P] [--base-url U] [--model M] [--json] [--yes] [--prompt TEXT] [--attach FILE]... [--set KEY=VALUE]... [--no-stream]
 *
 *   --provider P   a name from the table of providers (--help lists them); the key comes from the variable that the table names
 *   --base-url U   http://HOST[:PORT][/PATH] in place of the provider's; https:// in chat-tls, which is built with mbedTLS
 *   --json         one JSON object a line (vocabulary.h) and nothing else on stdout
 *   --yes          writes and commands go ahead without a question. Without it, and without a terminal on stdin, none does
 *   --prompt TEXT  one run; else each line of stdin is a prompt
 *   --attach FILE  an image, PDF, text or sound (or its URL) that goes with the first prompt
 *   --set K=V      an option of the session: temperature, reasoning_effort, thinking_budget, prompt_cache ... (agent_session_set), or
 *                  think_tags=yes for models that write <think> into their text, thoughts_told=yes for hosts that send all as thoughts,
 *                  max_retries=N (0: none)
 *   --no-stream    answers come in one piece
 *
 * A line that is /model lists the provider's models, /model NAME goes on with that one.
 * Its tools (chat_tools.h) list, read, search, write, edit and run, all below the working directory but what a command does.
 * write, edit and run ask first: y allows this call, a all calls of the tool from now on, anything else none.
 *
 * Proxies: https_proxy, http_proxy, all_proxy and no_proxy are heeded. Authorities for TLS: SSL_CERT_FILE, or the system's.
 * With neither key nor URL it talks to scripted-model, which it starts itself. Ctrl-C cancels the run, another one leaves.
 * Exit code: 0 completed, 1 failed, 130 cancelled, 2 wrong usage. */
#define _XOPEN_SOURCE 700
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host_posix.h"
#include "vocabulary.h"
#include "chat_tools.h"

enum { MAX_JOBS = 64, MAX_LINE = 1 << 20, MAX_GIVEN = 16 };
enum job_state { JOB_FREE, JOB_ASKING, JOB_RUNNING };
typedef struct job {                          /* a call of the model that waits for the user or for a child              */
    enum job_state state;
    agent_num call;
    const chat_tool *tool;
    replay_text args, title;
    pid_t pid;
    int fd;
    size_t shown, cut;                        /* bytes of its output that went to the engine, and that did not          */
    int asked;
} job;
typedef struct options {
    const char *provider, *base_url, *model, *prompt, *acp, *session, *record;
    const char *attach[MAX_GIVEN], *set[MAX_GIVEN];
    int attach_n, set_n;
    int json, yes, help, no_stream, think_tags, thoughts_told;
    uint32_t max_retries;
} options;
typedef struct app {
    options opt;
    agent_engine *e;
    agent_id session, peer;
    host_net net;
    host_model model;
    replay_text words;                        /* --json                                                                 */
    agent_tool tools[CHAT_TOOLS];
    char always[CHAT_TOOLS];                  /* the user allowed all calls                                             */
    job jobs[MAX_JOBS];
    char *input; size_t input_n;              /* of stdin, not used yet                                                 */
    int input_over, input_tty, output_tty;
    int busy, over, code;
    int column;                               /* of what is shown: 0 at the start of a line                             */
} app;

static int signal_pipe[2] = {-1, -1};
static void on_signal(int sig)
{
    int err = errno;
    char c = sig == SIGCHLD ? 'c' : 'i';
    ssize_t n = write(signal_pipe[1], &c, 1);
    (void)n;
    errno = err;
}

/* ---- --json ---- */
static const char *outcome_word(int outcome)
{
    switch (outcome) {
    case AGENT_COMPLETED: return "done";
    case AGENT_CANCELLED: return "cancelled";
    case AGENT_LIMITED:   return "limit";
    default:              return "failed";
    }
}
static void json_result(replay_text *t, const agent_event *ev)
{
    replay_puts(t, "{\"ev\":\"tool_result\"");
    replay_member(t, "id", ev->u.tool.wire_id);
    replay_member(t, "name", ev->name);
    replay_puts(t, ev->u.tool.status == AGENT_DONE_OK ? ",\"is_error\":false" : ",\"is_error\":true");
    replay_member(t, "text", ev->text);
    replay_puts(t, "}\n");
}
static void json_count(replay_text *t, const char *name, const char *key, agent_num n, const char *reason)
{
    replay_puts(t, "{\"ev\":\"");
    replay_puts(t, name);
    replay_puts(t, "\"");
    if (reason) replay_member(t, "reason", replay_str(reason));
    replay_number(t, key, n);
    replay_puts(t, "}\n");
}
static void json_event(app *a, const agent_event *ev)        /* an error or a cancel in place of a finish               */
{
    replay_text *t = &a->words;
    t->n = 0;
    switch (ev->type) {
    case AGENT_EV_RUN_START:   json_count(t, "run_start", "run", ev->run, NULL); break;
    case AGENT_EV_RUN_END:     json_count(t, "run_end", "steps", ev->u.end.steps, outcome_word(ev->u.end.outcome)); break;
    case AGENT_EV_STEP_START:  json_count(t, "step_start", "step", ev->step, NULL); break;
    case AGENT_EV_TOOL_RESULT: if (ev->u.tool.by == AGENT_BY_HOST) json_result(t, ev); else replay_line(t, ev); break;
    case AGENT_EV_STEP_END:    if (ev->u.end.outcome == AGENT_COMPLETED) replay_line(t, ev); break;
    case AGENT_EV_MODELS:
        replay_puts(t, "{\"ev\":\"models\",\"list\":");
        replay_put(t, ev->text.p, ev->text.n);
        replay_puts(t, "}\n");
        break;
    default:                   replay_line(t, ev);
    }
    if (t->n) fwrite(t->p, 1, t->n, stdout);
    fflush(stdout);
}

/* ---- showing ---- */
/* The model's text may hold control characters, which a terminal would obey: only line ends and tabs pass.             */
static void show(app *a, FILE *f, const char *p, size_t n)
{
    size_t i;
    for (i = 0; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        if ((c < 32 && c != '\n' && c != '\t') || c == 127) c = '?';
        if (c == 0xC2 && i + 1 < n && (unsigned char)p[i + 1] < 0xA0) { c = '?'; i++; }
        putc(c, f);
        if (f == stdout) a->column = c == '\n' ? 0 : a->column + 1;
    }
}
static void fresh_line(app *a)
{
    if (a->column) putchar('\n');
    a->column = 0;
}
static void dim(const app *a, int on) { if (a->output_tty) fputs(on ? "\033[2m" : "\033[0m", stdout); }
/* The beginning of something long, on one line.                                                                       */
static void show_short(app *a, agent_str s, size_t most)
{
    size_t n = 0;
    while (n < s.n && n < most && s.p[n] != '\n') n++;
    while (n && n < s.n && (s.p[n] & 0xC0) == 0x80) n--;       /* whole characters                                      */
    show(a, stdout, s.p, n);
    if (n < s.n && !(n + 1 == s.n && s.p[n] == '\n')) fputs(" ...", stdout);
}
static void show_call(app *a, const agent_event *ev)
{
    const chat_tool *t = ev->flags & AGENT_EVF_SALVAGED ? NULL : chat_tool_find(ev->name);
    replay_text title = {NULL, 0, 0};
    if (t) chat_tool_title(t, ev->text, &title);
    else replay_put(&title, ev->text.p, ev->text.n);
    fresh_line(a);
    putchar('[');
    show(a, stdout, ev->name.p, ev->name.n);
    if (title.n) { putchar(' '); show_short(a, replay_str(title.p), 200); }
    putchar(']');
    a->column = 1;
    fresh_line(a);
    free(title.p);
}
static void show_result(app *a, const agent_event *ev)
{
    static const char *const words[] = {"ok", "error", "cancelled", "not run"};
    fresh_line(a);
    dim(a, 1);
    fputs("  ", stdout);
    show(a, stdout, ev->name.p, ev->name.n);
    printf(": %s, %lu byte%s: ", words[ev->u.tool.status & 3], (unsigned long)ev->text.n, ev->text.n == 1 ? "" : "s");
    show_short(a, ev->text, 100);
    dim(a, 0);
    a->column = 1;
    fresh_line(a);
}
static void show_end(app *a, const agent_event *ev)
{
    const agent_usage *u = ev->u.end.usage;
    fresh_line(a);
    dim(a, 1);
    printf("[%s, %u step%s", outcome_word(ev->u.end.outcome), (unsigned)ev->u.end.steps, ev->u.end.steps == 1 ? "" : "s");
    if (u && u->input >= 0) printf(", %lld tokens in", (long long)u->input);
    if (u && u->output >= 0) printf(", %lld out", (long long)u->output);
    putchar(']');
    dim(a, 0);
    putchar('\n');
}
static void show_models(app *a, agent_str list)
{
    agent_str model, name;
    size_t pos = 0;
    char text[200];
    fresh_line(a);
    while (agent_json_each(list, &pos, NULL, &model)) {
        int64_t tokens = agent_json_int(agent_json_get(model, "context"), 0);
        size_t n = agent_json_text(agent_json_get(model, "id"), text, sizeof text);
        show(a, stdout, text, n < sizeof text ? n : sizeof text - 1);
        name = agent_json_get(model, "name");
        n = name.n ? agent_json_text(name, text, sizeof text) : 0;
        if (n) { fputs("  ", stdout); show(a, stdout, text, n < sizeof text ? n : sizeof text - 1); }
        if (tokens) printf("  %ld tokens", (long)tokens);
        putchar('\n');
    }
    a->column = 0;
}
static void show_event(app *a, const agent_event *ev)
{
    switch (ev->type) {
    case AGENT_EV_TEXT_DELTA: case AGENT_EV_REASONING_DELTA: show(a, stdout, ev->text.p, ev->text.n); break;
    case AGENT_EV_TEXT_START: fresh_line(a); break;
    case AGENT_EV_REASONING_START:
        fresh_line(a);
        dim(a, 1);
        fputs("(thinks) ", stdout);
        a->column = 1;
        break;
    case AGENT_EV_REASONING_END: dim(a, 0); fresh_line(a); break;
    case AGENT_EV_TOOL_CALL: show_call(a, ev); break;
    case AGENT_EV_TOOL_RESULT: show_result(a, ev); break;
    case AGENT_EV_MODELS: show_models(a, ev->text); break;
    case AGENT_EV_SOURCE: case AGENT_EV_FILE_END:
        fresh_line(a);
        dim(a, 1);
        fputs(ev->type == AGENT_EV_SOURCE ? "  source " : "  file ", stdout);
        if (ev->type == AGENT_EV_SOURCE) show_short(a, ev->text, 200);
        else show_short(a, ev->u.file.uri.n ? ev->u.file.uri : ev->u.file.mime, 200);
        dim(a, 0);
        a->column = 1;
        fresh_line(a);
        break;
    case AGENT_EV_WARNING: case AGENT_EV_ERROR:
        fresh_line(a);
        fflush(stdout);
        fputs(ev->type == AGENT_EV_ERROR ? "error: " : "warning: ", stderr);
        show(a, stderr, ev->text.p, ev->text.n);
        if (ev->name.n) { fputs(" (", stderr); show(a, stderr, ev->name.p, ev->name.n); putc(')', stderr); }
        putc('\n', stderr);
        break;
    case AGENT_EV_RUN_END: show_end(a, ev); break;
    default: break;
    }
    fflush(stdout);
}

/* ---- tools ---- */
static void tool_end(app *a, agent_num call, const char *text, int status)
{
    if (text) (void)agent_tool_append(a->e, a->session, call, text, AGENT_CSTR);
    (void)agent_tool_done(a->e, a->session, call, status);
}
static void tool_errno(app *a, agent_num call, int err) { tool_end(a, call, strerror(err), AGENT_DONE_ERROR); }
static void job_free(job *j)
{
    if (j->fd >= 0) close(j->fd);
    free(j->args.p);
    free(j->title.p);
    memset(j, 0, sizeof *j);
    j->fd = -1;
}
static void job_kill(job *j)
{
    if (j->state == JOB_RUNNING) {
        (void)kill(-j->pid, SIGKILL);
        while (waitpid(j->pid, NULL, 0) < 0 && errno == EINTR) {}
    }
    job_free(j);
}
static agent_str job_args(const job *j)
{
    agent_str args;
    args.p = j->args.p;
    args.n = j->args.n;
    return args;
}
static void job_child(const job *j, int out)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGCHLD, SIGPIPE};
    tool_io io = {0, {NULL, 0, 0}};
    int null = open("/dev/null", O_RDONLY), code, i;
    (void)setpgid(0, 0);                      /* so that it can be killed with all it starts                            */
    for (i = 0; i < 4; i++) signal(signals[i], SIG_DFL);
    if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(126);
    code = j->tool->function(job_args(j), &io);
    (void)tool_write_all(1, io.out.p, io.out.n);
    _exit(code);
}
/* Calls the function in this process. preview: for the reason why the call cannot work. 0: the call is over.           */
static int job_here(app *a, job *j, tool_io *io)
{
    int bad = j->tool->function(job_args(j), io);
    if (io->preview && !bad) return 1;
    tool_end(a, j->call, io->out.n ? io->out.p : NULL, bad ? AGENT_DONE_ERROR : AGENT_DONE_OK);
    job_free(j);
    return 0;
}
static void job_start(app *a, job *j)
{
    int out[2], over = 0;
    tool_io io = {0, {NULL, 0, 0}};
    io.preview = j->tool->place == TOOL_SHELL;
    if (j->tool->place != TOOL_APART) over = !job_here(a, j, &io);
    free(io.out.p);
    if (over) return;
    if (pipe(out) != 0) { tool_errno(a, j->call, errno); job_free(j); return; }
    host_own_fd(out[0], 1);
    host_own_fd(out[1], 0);
    fflush(NULL);
    j->pid = fork();
    if (j->pid == 0) job_child(j, out[1]);
    close(out[1]);
    j->fd = out[0];
    if (j->pid < 0) { tool_errno(a, j->call, errno); job_free(j); return; }
    (void)setpgid(j->pid, j->pid);            /* here too: whoever is first                                             */
    j->state = JOB_RUNNING;
}
/* Passes on what the child wrote, in a bounded time. 0: its output has ended.                                         */
static int job_read(app *a, job *j)
{
    char buf[16384];
    ssize_t n = 0;
    int i;
    for (i = 0; i < 64 && (n = read(j->fd, buf, sizeof buf)) > 0; i++) {
        size_t room = TOOL_OUTPUT - j->shown, k = (size_t)n < room ? (size_t)n : room;
        if (k) (void)agent_tool_append(a->e, a->session, j->call, buf, k);
        j->shown += k;
        j->cut += (size_t)n - k;
    }
    return n > 0 || (n < 0 && host_again());
}
static void job_over(app *a, job *j, int status)
{
    char text[128];
    int bad = WIFSIGNALED(status) || WEXITSTATUS(status) != 0, n = 0;
    if (j->fd >= 0) (void)job_read(a, j);
    text[0] = 0;
    if (j->cut) n = sprintf(text, "\n[%lu bytes more are not shown]", (unsigned long)j->cut);
    if (WIFSIGNALED(status)) sprintf(text + n, "\n[killed by signal %d]", WTERMSIG(status));
    else if (bad && j->tool->place == TOOL_SHELL) sprintf(text + n, "\n[exit code %d]", WEXITSTATUS(status));
    tool_end(a, j->call, text[0] ? text : NULL, bad ? AGENT_DONE_ERROR : AGENT_DONE_OK);
    job_free(j);
}
static void jobs_reap(app *a)                 /* a child ended; its own children may hold the pipe open for long          */
{
    int i, status;
    for (i = 0; i < MAX_JOBS; i++)
        if (a->jobs[i].state == JOB_RUNNING && waitpid(a->jobs[i].pid, &status, WNOHANG) == a->jobs[i].pid) job_over(a, &a->jobs[i], status);
}
static int may_go(const app *a, const chat_tool *t) { return !t->asks || a->opt.yes || a->always[t - chat_tools]; }
static void run_tool(app *a, const agent_event *ev)          /* the engine itself answers unknown names                 */
{
    const chat_tool *t = chat_tool_find(ev->name);
    job *j = a->jobs;
    while (j < a->jobs + MAX_JOBS && j->state != JOB_FREE) j++;
    if (t == NULL || j == a->jobs + MAX_JOBS || (!may_go(a, t) && !a->input_tty)) { (void)agent_decline(a->e, ev); return; }
    j->call = ev->call;
    j->tool = t;
    j->state = JOB_ASKING;
    replay_put(&j->args, ev->text.p, ev->text.n);
    chat_tool_title(t, ev->text, &j->title);
    if (j->title.n) (void)agent_tool_update(a->e, ev->session, ev->call, j->title.p, j->title.n);
    if (may_go(a, t)) job_start(a, j);
}
static job *job_asking(app *a)
{
    job *first = NULL;
    int i;
    for (i = 0; i < MAX_JOBS; i++)
        if (a->jobs[i].state == JOB_ASKING && (first == NULL || a->jobs[i].call < first->call)) first = &a->jobs[i];
    return first;
}
static void job_question(app *a, const job *j, const replay_text *preview)
{
    fresh_line(a);
    fflush(stdout);
    if (preview->n) show(a, stderr, preview->p, preview->n);
    fprintf(stderr, "%s `", j->tool->name);
    show(a, stderr, j->title.p, j->title.n);
    fputs("`? [y]es, [n]o, [a]lways: ", stderr);
}
/* Asks for the first call that waits. What cannot work, or is allowed by now, needs no question. 1: a call went on.    */
static int job_ask(app *a)
{
    tool_io io = {1, {NULL, 0, 0}};
    job *j = job_asking(a);
    if (j == NULL || j->asked) return 0;
    if (may_go(a, j->tool)) { job_start(a, j); return 1; }
    if (job_here(a, j, &io)) {
        job_question(a, j, &io.out);
        j->asked = 1;
    }
    free(io.out.p);
    return j->state == JOB_FREE;
}
static void job_answer(app *a, job *j, const char *line)
{
    char c = line[0] >= 'A' && line[0] <= 'Z' ? (char)(line[0] + 'a' - 'A') : line[0];
    if (c == 'a') a->always[j->tool - chat_tools] = 1;
    if (c == 'a' || c == 'y') { job_start(a, j); return; }
    tool_end(a, j->call, "The user does not allow this.", AGENT_DONE_ERROR);
    job_free(j);
}
static void job_cancel(app *a, agent_num call)
{
    int i;
    for (i = 0; i < MAX_JOBS; i++) if (a->jobs[i].state != JOB_FREE && a->jobs[i].call == call) job_kill(&a->jobs[i]);
}
static void tools_list(app *a)
{
    size_t i;
    for (i = 0; i < CHAT_TOOLS; i++) {
        a->tools[i].name = chat_tools[i].name;
        a->tools[i].description = chat_tools[i].description;
        a->tools[i].schema = chat_tools[i].schema;
    }
}

/* ---- the course of things ---- */
static void on_event(app *a, const agent_event *ev)
{
    if (a->opt.json) json_event(a, ev);
    else show_event(a, ev);
    switch (ev->type) {
    case AGENT_EV_OPEN:        host_open(&a->net, a->e, ev); break;
    case AGENT_EV_CLOSE:       host_close(&a->net, ev); break;
    case AGENT_EV_TOOL_RUN:    run_tool(a, ev); break;
    case AGENT_EV_MODELS:      a->busy = 0; break;
    case AGENT_EV_ERROR:       if (ev->u.error.scope == AGENT_SCOPE_PEER) a->busy = 0; break;
    case AGENT_EV_TOOL_CANCEL: job_cancel(a, ev->call); break;
    case AGENT_EV_RUN_END:
        a->busy = 0;
        if (ev->u.end.outcome == AGENT_CANCELLED) a->code = 130;
        else if (ev->u.end.outcome != AGENT_COMPLETED) a->code = 1;
        else if (a->input_tty) a->code = 0;
        if (a->opt.prompt || (a->code == 130 && !a->input_tty)) a->over = 1;
        break;
    default: if (ev->flags & AGENT_EVF_NEED) (void)agent_decline(a->e, ev);
    }
}
/* ---- attachments ---- */
static const char *attach_type(const char *file)             /* "" when it is not known                                 */
{
    static const char *const types[][2] = {
        {".png", "image/png"}, {".jpg", "image/jpeg"}, {".jpeg", "image/jpeg"}, {".gif", "image/gif"}, {".webp", "image/webp"},
        {".pdf", "application/pdf"}, {".wav", "audio/wav"}, {".mp3", "audio/mpeg"}, {".txt", "text/plain"}, {".md", "text/markdown"},
        {".c", "text/plain"}, {".h", "text/plain"}, {".csv", "text/csv"}, {".html", "text/html"}, {".json", "application/json"}
    };
    size_t i, k, n = strcspn(file, "?#");     /* a URL's path                                                           */
    for (i = 0; i < sizeof types / sizeof *types; i++) {
        k = strlen(types[i][0]);
        if (n > k && memcmp(file + n - k, types[i][0], k) == 0) return types[i][1];
    }
    return "";
}
/* A file's bytes, or its URL. 0: it cannot be read, or it is not known what it is.                                     */
static int attach_part(const char *file, agent_part *p, replay_text *bytes)
{
    const char *slash = strrchr(file, '/');
    FILE *f;
    size_t n;
    p->kind = AGENT_PART_FILE;
    p->mime = replay_str(attach_type(file));
    if (strncmp(file, "http://", 7) == 0 || strncmp(file, "https://", 8) == 0 || strncmp(file, "data:", 5) == 0) {
        p->uri = replay_str(file);
        return 1;
    }
    p->name = replay_str(slash ? slash + 1 : file);
    if ((f = fopen(file, "rb")) == NULL) return 0;
    do {
        replay_room(bytes, 65536);
        n = fread(bytes->p + bytes->n, 1, 65536, f);
        bytes->n += n;
    } while (n);
    n = (size_t)ferror(f);
    fclose(f);
    p->text.p = bytes->p;
    p->text.n = bytes->n;
    return n == 0 && bytes->n && p->mime.n;
}
/* The first prompt, with what was attached. Like agent_say.                                                            */
static int say_with(app *a, const char *text)
{
    agent_part parts[MAX_GIVEN + 1];
    replay_text bytes[MAX_GIVEN];
    int i, n = a->opt.attach_n, rc = 0;
    memset(parts, 0, sizeof parts);
    memset(bytes, 0, sizeof bytes);
    a->opt.attach_n = 0;
    for (i = 0; i < n && rc == 0; i++) if (!attach_part(a->opt.attach[i], &parts[i], &bytes[i])) {
        fprintf(stderr, "chat: cannot read %s, or its kind is not known\n", a->opt.attach[i]);
        rc = AGENT_E_ARG;
    }
    parts[n].kind = AGENT_PART_TEXT;
    parts[n].text = replay_str(text);
    if (rc == 0) rc = agent_submit(a->e, a->session, parts, (size_t)n + 1, AGENT_QUEUE);
    for (i = 0; i < n; i++) free(bytes[i].p);
    return rc;
}
static void say(app *a, const char *text)
{
    if ((a->opt.attach_n ? say_with(a, text) : agent_say(a->e, a->session, text, AGENT_CSTR)) > 0) { a->busy = 1; return; }
    fprintf(stderr, "chat: %s\n", agent_last(a->e));
    a->code = 1;
    if (a->opt.prompt) a->over = 1;
}
/* `/model` lists what the provider has, `/model NAME` takes one of them. 1: it was a command.                          */
static int command(app *a, const char *line)
{
    static const char word[] = "/model";
    const char *name = line + sizeof word - 1;
    if (strncmp(line, word, sizeof word - 1) != 0 || (*name && *name != ' ')) return 0;
    name += strspn(name, " ");
    if (*name ? agent_session_set(a->e, a->session, "model", name, AGENT_CSTR) != AGENT_OK : agent_models(a->e, a->peer) != AGENT_OK)
        fprintf(stderr, "chat: %s\n", agent_last(a->e));
    else a->busy = *name == 0;
    return 1;
}
static void on_line(app *a, char *line)
{
    job *j = job_asking(a);
    size_t n = strlen(line);
    if (n && line[n - 1] == '\r') line[n - 1] = 0;
    if (j) job_answer(a, j, line);
    else if (line[strspn(line, " \t")] && !command(a, line)) say(a, line);
}
/* Uses the next line of stdin, if one is there and somebody waits for it. 1: it did.                                  */
static int next_line(app *a)
{
    char *end, *line;
    size_t n;
    if (a->opt.prompt ? job_asking(a) == NULL : a->busy && job_asking(a) == NULL) return 0;
    end = a->input_n ? (char *)memchr(a->input, '\n', a->input_n) : NULL;
    if (end == NULL && !(a->input_n && (a->input_over || a->input_n >= MAX_LINE))) return 0;
    n = end ? (size_t)(end - a->input) : a->input_n;
    line = (char *)malloc(n + 1);
    if (line == NULL) abort();
    memcpy(line, a->input, n);
    line[n] = 0;
    if (end) n++;
    a->input_n -= n;
    memmove(a->input, a->input + n, a->input_n);
    on_line(a, line);
    free(line);
    return 1;
}
static void read_input(app *a)
{
    ssize_t n;
    a->input = (char *)realloc(a->input, a->input_n + 4096);
    if (a->input == NULL) abort();
    n = read(0, a->input + a->input_n, 4096);
    if (n > 0) a->input_n += (size_t)n;
    else if (n == 0 || !host_again()) a->input_over = 1;
}
static void input_ended(app *a)               /* nobody can say yes any more                                             */
{
    job *j;
    if (a->input_n) return;
    while ((j = job_asking(a)) != NULL) job_answer(a, j, "");
    if (!a->busy && !a->opt.prompt) a->over = 1;
}
static void on_signals(app *a)
{
    char c;
    while (read(signal_pipe[0], &c, 1) == 1) {
        if (c == 'c') jobs_reap(a);
        else if (a->busy == 1) { a->busy = 2; (void)agent_cancel(a->e, a->session); }
        else { a->over = 1; a->code = 130; }
    }
}
static void wait_for_more(app *a)
{
    struct pollfd p[HOST_MAX + MAX_JOBS + 2], *jobs = p + HOST_MAX, *in = jobs + MAX_JOBS, *sig = in + 1;
    int i;
    memset(p, 0, sizeof p);
    host_poll(&a->net, a->e, p);
    for (i = 0; i < MAX_JOBS; i++) { jobs[i].fd = a->jobs[i].fd; jobs[i].events = POLLIN; }
    in->fd = !a->input_over && a->input_n < MAX_LINE && (job_asking(a) || (!a->busy && !a->opt.prompt)) ? 0 : -1;
    in->events = POLLIN;
    sig->fd = signal_pipe[0];
    sig->events = POLLIN;
    if (poll(p, sizeof p / sizeof *p, host_wait(a->e)) <= 0) return;
    host_ready(&a->net, a->e, p);
    for (i = 0; i < MAX_JOBS; i++)
        if (jobs[i].fd >= 0 && jobs[i].revents && !job_read(a, &a->jobs[i])) { close(a->jobs[i].fd); a->jobs[i].fd = -1; }
    if (in->fd == 0 && in->revents) read_input(a);
    if (sig->revents) on_signals(a);
}
static void loop(app *a)
{
    const agent_event *ev;
    int prompted = 0;
    while (!a->over) {
        host_tick(a->e);
        while ((ev = agent_next(a->e)) != NULL) on_event(a, ev);
        if (a->over || job_ask(a) || next_line(a)) continue;
        if (a->input_over) { input_ended(a); if (a->over || agent_deadline(a->e) == 0) continue; }
        if (a->input_tty && !a->busy && !a->opt.prompt && !prompted) { fflush(stdout); fputs("> ", stderr); }
        prompted = a->input_tty && !a->busy;
        wait_for_more(a);
    }
}

/* ---- starting ---- */
/* A model to begin with, where the provider does not choose one: --model names another.                                */
static const char *default_model(const char *provider)
{
    static const struct { const char *provider, *model; } rows[] = {
        {"openai", "gpt-5-mini"}, {"openai-responses", "gpt-5-mini"}, {"anthropic", "claude-sonnet-4-6"}, {"gemini", "gemini-2.5-flash"},
        {"gemini-interactions", "gemini-2.5-flash"}, {"cohere", "command-a-03-2025"}, {"ollama", "qwen3"}, {"ollama-native", "qwen3"}
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (strcmp(provider, rows[i].provider) == 0) return rows[i].model;
    return "default";
}
static const agent_provider *provider_of(const char *name)
{
    const agent_provider *row;
    size_t i;
    for (i = 0; (row = agent_provider_at(i)) != NULL && strcmp(row->name, name); i++) {}
    return row;
}
static int usage(const char *why, const char *what)
{
    fprintf(stderr, "chat: %s%s%s\n", why, what ? ": " : "", what ? what : "");
    return 2;
}
static int help(void)
{
    size_t i;
    printf("usage: chat [--provider P] [--base-url U] [--model M] [--json] [--yes] [--prompt TEXT] [--attach FILE]... [--set KEY=VALUE]...\n"
           "            [--no-stream]\n"
           "providers, and the variable that has the key:\n");
    for (i = 0; agent_provider_at(i); i++) printf("  %-22s %s\n", agent_provider_at(i)->name, agent_provider_at(i)->key_env ? agent_provider_at(i)->key_env : "");
    return 0;
}
static int parse(options *o, int argc, char **argv)          /* 0, or the exit code                                     */
{
    enum { ALL = 13 };
    struct { const char *name; const char **value; int *flag, *count; } all[ALL];
    int i, k;
    memset(all, 0, sizeof all);
    all[0].name = "--provider"; all[0].value = &o->provider;
    all[1].name = "--base-url"; all[1].value = &o->base_url;
    all[2].name = "--model";    all[2].value = &o->model;
    all[3].name = "--prompt";   all[3].value = &o->prompt;
    all[4].name = "--acp";      all[4].value = &o->acp;
    all[5].name = "--session";  all[5].value = &o->session;
    all[6].name = "--record";   all[6].value = &o->record;
    all[7].name = "--json";     all[7].flag = &o->json;
    all[8].name = "--yes";      all[8].flag = &o->yes;
    all[9].name = "--help";     all[9].flag = &o->help;
    all[10].name = "--no-stream"; all[10].flag = &o->no_stream;
    all[11].name = "--attach";  all[11].value = o->attach; all[11].count = &o->attach_n;
    all[12].name = "--set";     all[12].value = o->set;    all[12].count = &o->set_n;
    for (i = 1; i < argc; i++) {
        for (k = 0; k < ALL && strcmp(argv[i], all[k].name); k++) {}
        if (k == ALL) return usage("unknown option, see --help", argv[i]);
        if (all[k].flag) *all[k].flag = 1;
        else if (i + 1 == argc) return usage("a value is missing", argv[i]);
        else if (all[k].count && *all[k].count == MAX_GIVEN) return usage("too many", argv[i]);
        else all[k].value[all[k].count ? (*all[k].count)++ : 0] = argv[++i];
    }
    if (o->acp) return usage("--acp is not in this build yet", NULL);
    if (o->session) return usage("--session is not in this build yet", NULL);
    if (o->record) return usage("--record is not in this build yet", NULL);
    if (o->prompt && !*o->prompt) return usage("the prompt is empty", NULL);
    for (i = 0; i < o->set_n; i++) {
        if (strchr(o->set[i], '=') == NULL) return usage("--set wants KEY=VALUE", o->set[i]);
        if (strcmp(o->set[i], "think_tags=yes") == 0) { o->think_tags = 1; o->set[i] = o->set[--o->set_n]; i--; }
        else if (strcmp(o->set[i], "thoughts_told=yes") == 0) { o->thoughts_told = 1; o->set[i] = o->set[--o->set_n]; i--; }
        else if (strncmp(o->set[i], "max_retries=", 12) == 0) {
            o->max_retries = (uint32_t)strtoul(o->set[i] + 12, NULL, 10);
            if (o->max_retries == 0) o->max_retries = AGENT_OFF;
            o->set[i] = o->set[--o->set_n];
            i--;
        }
    }
    return 0;
}
static int is_https(const char *url)
{
    static const char https[] = "https:";
    size_t i;
    for (i = 0; https[i]; i++) if ((url[i] | 32) != (https[i] | 32)) return 0;
    return 1;
}
static int start_demo(app *a, const char *argv0)
{
    static const char short_script[] =        /* for when only the programs were copied                                  */
        "piece 5\ndelay 15\n"
        "turn\ntext \"I will look.\"\ncall run call_1 {\"command\":\"ls\"}\n"
        "turn\ntext \"That is what is here, and this was the scripted model.\"\n"
        "turn always\ntext \"That was all of the script.\"\n";
    char program[4096], script[4096];
    int there = host_beside(argv0, "../examples/demo.script", script, sizeof script) && access(script, R_OK) == 0;
    char copy[sizeof short_script];
    memcpy(copy, short_script, sizeof copy);
    if (!host_beside(argv0, "scripted-model", program, sizeof program)
        || !host_model_start(&a->model, program, there ? NULL : "--script", there ? script : copy)) return 0;
    fprintf(stderr, "chat: no key and no --base-url, so this is the demo: %s plays %s\n", program, there ? script : "a short script");
    return 1;
}
static int set_options(app *a)                               /* 0, or the exit code                                     */
{
    char key[64];
    int i;
    for (i = 0; i < a->opt.set_n; i++) {
        const char *value = strchr(a->opt.set[i], '=');
        size_t n = (size_t)(value - a->opt.set[i]);
        if (n >= sizeof key) return usage("no such option", a->opt.set[i]);
        memcpy(key, a->opt.set[i], n);
        key[n] = 0;
        if (agent_session_set(a->e, a->session, key, value + 1, AGENT_CSTR) != AGENT_OK) return usage(agent_last(a->e), a->opt.set[i]);
    }
    return 0;
}
static int start_session(app *a, const char *argv0)          /* 0, or the exit code                                     */
{
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    const options *o = &a->opt;
    const char *name = o->provider ? o->provider : o->base_url ? "openai-compatible" : "openai";
    const agent_provider *row = provider_of(name);
    if (row == NULL) return usage("unknown provider, see --help", name);
    p.provider = name;
    p.url = o->base_url;
    p.key = row->key_env ? getenv(row->key_env) : "";
    s.model = o->model ? o->model : default_model(name);
#ifndef AGENT_MBEDTLS
    if (p.url && is_https(p.url)) return usage("https:// needs TLS, which comes with the mbedTLS build; give a --base-url with http://", NULL);
#endif
    if (p.url == NULL && row->url == NULL) return usage("this provider needs a --base-url", name);
    if (p.url == NULL && is_https(row->url) && (p.key == NULL || !*p.key)) {
        if (!start_demo(a, argv0)) { fprintf(stderr, "chat: scripted-model does not start; is it built?\n"); return 1; }
        p.provider = "openai-compatible";
        p.url = a->model.url;
    }
    d.seed = host_ms(CLOCK_REALTIME);
    if (agent_open(&a->e, &d) != AGENT_OK) { fprintf(stderr, "chat: out of memory\n"); return 1; }
    host_tick(a->e);
    s.peer = a->peer = agent_peer_open(a->e, &p);
    if (s.peer == 0) return usage(agent_last(a->e), NULL);
    s.system = "You are an agent in a terminal. Answer briefly, and use the tools to find out what you do not know.";
    if (o->no_stream) s.flags |= AGENT_S_NO_STREAM;
    if (o->think_tags) s.flags |= AGENT_S_THINK_TAGS;
    if (o->thoughts_told) s.flags |= AGENT_S_THOUGHTS_TOLD;
    s.max_retries = o->max_retries;
    tools_list(a);
    s.tools = a->tools;
    s.tool_count = CHAT_TOOLS;
    a->session = agent_session_open(a->e, &s);
    if (a->session == 0) return usage(agent_last(a->e), NULL);
    return set_options(a);
}
static int catch_signals(void)
{
    struct sigaction sa;
    if (pipe(signal_pipe) != 0) return 0;
    host_own_fd(signal_pipe[0], 1);
    host_own_fd(signal_pipe[1], 1);
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_signal;
    sigemptyset(&sa.sa_mask);
    signal(SIGPIPE, SIG_IGN);
    return sigaction(SIGINT, &sa, NULL) == 0 && sigaction(SIGTERM, &sa, NULL) == 0 && sigaction(SIGCHLD, &sa, NULL) == 0;
}
int main(int argc, char **argv)
{
    static app a;
    int i, code = parse(&a.opt, argc, argv);
    if (code) return code;
    if (a.opt.help) return help();
    for (i = 0; i < MAX_JOBS; i++) a.jobs[i].fd = -1;
    a.model.leash = -1;
    a.input_tty = isatty(0);
    a.output_tty = isatty(1);
    if (!catch_signals()) { perror("chat"); return 1; }
    code = start_session(&a, argv[0]);
    if (code == 0) {
        if (a.opt.prompt) say(&a, a.opt.prompt);
        loop(&a);
        code = a.code;
    }
    for (i = 0; i < MAX_JOBS; i++) job_kill(&a.jobs[i]);
    if (a.e) agent_close(a.e);
    host_close_all(&a.net);
    host_model_stop(&a.model);
    free(a.input);
    free(a.words.p);
    return code;
}
