/* An agent in the terminal: plain sockets, one poll loop, no threads.
 *
 *   chat [--provider P] [--base-url U] [--model M] [--json] [--yes] [--prompt TEXT] [--attach FILE]... [--set KEY=VALUE]... [--session FILE]
 *        [--record FILE] [--no-stream] [--live]
 *
 *   --provider P   a name from the table of providers (--help lists them); the key comes from the variable that the table names
 *   --base-url U   http://HOST[:PORT][/PATH] in place of the provider's; https:// in chat-tls, which is built with mbedTLS
 *   --json         one JSON object a line (vocabulary.h) and nothing else on stdout
 *   --yes          writes and commands go ahead without a question. Without it, and without a terminal on stdin, none does
 *   --prompt TEXT  one run; else each line of stdin is a prompt
 *   --attach FILE  an image, PDF, text or sound (or its URL) that goes with the first prompt
 *   --set K=V      an option of the session: temperature, reasoning_effort, thinking_budget, prompt_cache ... (agent_session_set), or
 *                  think_tags=yes for models that write <think> into their text, thoughts_told=yes for hosts that send all as thoughts,
 *                  go_on=yes: an answer that breaks off is gone on with; and numbers, 0 for none: max_retries retry_ms hint_cap_ms (waits
 *                  between retries), step_ms run_ms tool_ms (times), max_steps max_run_tokens
 *   --session FILE the conversation is in FILE, at every moment: chat goes on with what is there, also with a run that was broken off by kill -9.
 *                  Tools that read run again, of others the model is told that they were interrupted. No key is in it; one chat at a time has it
 *   --record FILE  a flight record for bug reports, which `rerun FILE` makes again: all that was said and done, without keys; mode 0600
 *   --no-stream    answers come in one piece
 *   --live         lines count as soon as they come also where stdin is no terminal
 *
 * A line that is typed while a run is going on waits in the queue, for a run of its own. Lines that begin with a slash are commands: /help
 * lists them. A pipe (without --live) is read a line a run.
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
#include "chat_keep.h"

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
    int json, yes, help, no_stream, live;
    agent_session_desc desc;                  /* flags and numbers of --set                                             */
} options;
typedef struct countdown {                    /* to the next attempt                                                    */
    uint64_t at;                              /* 0: there is none                                                       */
    uint64_t shown;                           /* seconds                                                                */
    unsigned attempt, max;
    int fault, above;                         /* above: its line is the one above the cursor                            */
} countdown;
typedef struct app {
    options opt;
    agent_engine *e;
    agent_id session, peer;
    agent_session_desc desc;                  /* of the session, for another one like it                                */
    keep keep;                                /* --session                                                              */
    host_net net;
    host_model model;
    FILE *record;                             /* --record                                                               */
    replay_text words;                        /* --json                                                                 */
    agent_tool tools[CHAT_TOOLS];
    char always[CHAT_TOOLS];                  /* the user allowed all calls                                             */
    job jobs[MAX_JOBS];
    char *input; size_t input_n;              /* of stdin, not used yet                                                 */
    int input_over, input_tty, output_tty, error_tty;
    int live;                                 /* lines are taken while a run is going on                                */
    int running, listing, cancelled;          /* between RUN_START and RUN_END; a list of models is awaited             */
    int over, code;
    int column;                               /* of what is shown: 0 at the start of a line                             */
    int prompted, thinks;                     /* `> ` stands there; thoughts are shown                                  */
    countdown wait;
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
static const char *why_word(int why)          /* NULL: the outcome says it                                              */
{
    switch (why) {
    case AGENT_WHY_TOOL:   return "tool";
    case AGENT_WHY_FINISH: return "finish";
    case AGENT_WHY_STEPS:  return "steps";
    case AGENT_WHY_TOKENS: return "tokens";
    case AGENT_WHY_TIME:   return "time";
    case AGENT_WHY_HINT:   return "hint";
    default:               return NULL;
    }
}
static void json_count(replay_text *t, const char *name, const char *key, agent_num n)
{
    replay_puts(t, "{\"ev\":\"");
    replay_puts(t, name);
    replay_puts(t, "\"");
    replay_number(t, key, n);
    replay_puts(t, "}\n");
}
static void json_end(replay_text *t, const agent_event *ev)  /* with what the reason leaves open                        */
{
    const char *why = why_word(ev->u.end.why);
    replay_puts(t, "{\"ev\":\"run_end\"");
    replay_member(t, "reason", replay_str(outcome_word(ev->u.end.outcome)));
    replay_number(t, "steps", ev->u.end.steps);
    if (why) replay_member(t, "why", replay_str(why));
    if (ev->u.end.at_ms) replay_number(t, "wait_ms", (int64_t)(ev->u.end.at_ms - ev->at_ms));
    replay_puts(t, "}\n");
}
static void json_event(app *a, const agent_event *ev)        /* an error or a cancel in place of a finish               */
{
    replay_text *t = &a->words;
    t->n = 0;
    switch (ev->type) {
    case AGENT_EV_RUN_START:   json_count(t, "run_start", "run", ev->run); break;
    case AGENT_EV_RUN_END:     json_end(t, ev); break;
    case AGENT_EV_STEP_START:  json_count(t, "step_start", "step", ev->step); break;
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
    if (n) a->wait.above = 0;
}
static void fresh_line(app *a)
{
    if (a->column) putchar('\n');
    a->column = a->wait.above = 0;
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
/* A line beside what the model says.                                                                                   */
static void note_begin(app *a)
{
    fresh_line(a);
    dim(a, 1);
    a->column = 1;
}
static void note_end(app *a)
{
    dim(a, 0);
    a->column = 1;
    fresh_line(a);
    if (a->thinks) dim(a, 1);
}
/* A time of the engine's clock as one on the wall, with the day if it is another one.                                  */
static void show_clock(uint64_t at_ms)
{
    uint64_t now = host_ms(CLOCK_REALTIME), mono = host_ms(CLOCK_MONOTONIC);
    time_t today = (time_t)(now / 1000u), when = (time_t)((now + (at_ms > mono ? at_ms - mono : 0) + 999u) / 1000u);
    struct tm day, then;
    char text[64];
    if (!localtime_r(&today, &day) || !localtime_r(&when, &then)) return;
    strftime(text, sizeof text, day.tm_yday == then.tm_yday && day.tm_year == then.tm_year ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &then);
    fputs(text, stdout);
}
static void show_why(const agent_event *ev)
{
    switch (ev->u.end.why) {
    case AGENT_WHY_TOOL:   fputs(": a tool ended it", stdout); break;
    case AGENT_WHY_FINISH: fputs(": by its finish reason", stdout); break;
    case AGENT_WHY_STEPS:  fputs(": no more steps", stdout); break;
    case AGENT_WHY_TOKENS: fputs(": no more tokens", stdout); break;
    case AGENT_WHY_TIME:   fputs(": the time is up", stdout); break;
    case AGENT_WHY_HINT:
        fputs(": the provider wants no more before ", stdout);
        show_clock(ev->u.end.at_ms);
        break;
    default: break;
    }
}
static void show_end(app *a, const agent_event *ev)
{
    const agent_usage *u = ev->u.end.usage;
    int stuck = ev->u.end.waits == AGENT_WAITS_HOST || ev->u.end.waits == AGENT_WAITS_CLOCK;
    a->thinks = 0;
    note_begin(a);
    printf("[%s", outcome_word(ev->u.end.outcome));
    show_why(ev);
    printf(", %u step%s", (unsigned)ev->u.end.steps, ev->u.end.steps == 1 ? "" : "s");
    if (u && u->input >= 0) printf(", %lld tokens in", (long long)u->input);
    if (u && u->output >= 0) printf(", %lld out", (long long)u->output);
    if (stuck && a->live && !a->opt.prompt) fputs("; /retry asks again, /go goes on", stdout);
    putchar(']');
    note_end(a);
}
static const char *fault_words(int fault)
{
    switch (fault) {
    case AGENT_FAULT_RATE:       return "rate limit";
    case AGENT_FAULT_OVERLOADED: return "overloaded";
    case AGENT_FAULT_SERVER:     return "server error";
    case AGENT_FAULT_TRANSPORT:  return "broken connection";
    case AGENT_FAULT_TIMEOUT:    return "no answer in time";
    default:                     return "bad answer";
    }
}
/* On a terminal over the line above, so that what is being typed stays where it is.                                    */
static void show_wait(app *a, const char *when, int last)
{
    const countdown *w = &a->wait;
    int over = w->above && a->output_tty;
    if (over) fputs("\0337\033[1A\r\033[K", stdout);
    else fresh_line(a);
    dim(a, 1);
    printf("%s (%s, attempt %u of %u)%s", when, fault_words(w->fault), w->attempt, w->max, a->live && !last ? "; /retry now, /stop" : "");
    dim(a, 0);
    fputs(over ? "\0338" : "\n", stdout);
    a->wait.above = 1;
    fflush(stdout);
}
static void show_countdown(app *a, uint64_t seconds)
{
    char when[64];
    a->wait.shown = seconds;
    sprintf(when, "retrying in %lu s", (unsigned long)seconds);
    show_wait(a, when, 0);
}
static void show_retry(app *a, const agent_event *ev)
{
    countdown *w = &a->wait;
    if (ev->type == AGENT_EV_RETRY_GO) {
        if (w->above && a->output_tty) show_wait(a, "retrying", 1);
        return;
    }
    w->at = ev->u.retry.at_ms;
    w->attempt = ev->u.retry.attempt;
    w->max = ev->u.retry.max;
    w->fault = ev->u.retry.fault;
    show_countdown(a, (w->at - ev->at_ms + 999u) / 1000u);
}
/* Draws it anew when it is time. For poll: how long until it is again; -1: there is nothing to draw.                   */
static int count_down(app *a)
{
    uint64_t now = host_ms(CLOCK_MONOTONIC), left, seconds;
    if (a->wait.at <= now || !a->output_tty || a->opt.json) return -1;
    left = a->wait.at - now;
    seconds = (left + 999u) / 1000u;
    if (seconds != a->wait.shown) show_countdown(a, seconds);
    return (int)(left - (seconds - 1u) * 1000u);
}
static void show_queued(app *a, const agent_event *ev)
{
    static const char *const words[] = {" waits: ", " is sent: ", " comes back: ", " is moved: "};
    note_begin(a);
    printf("[%u%s", (unsigned)ev->u.queued.item,
           ev->u.queued.op == AGENT_QUEUED_ADDED && ev->u.queued.lane == AGENT_STEER ? " waits for the next step: " : words[ev->u.queued.op & 3]);
    if (ev->u.queued.op == AGENT_QUEUED_RETURNED) show(a, stdout, ev->text.p, ev->text.n);     /* all of it: it is nowhere else     */
    else show_short(a, ev->text, 200);
    putchar(']');
    note_end(a);
}
/* What is tried again is no failure yet.                                                                               */
static void show_trouble(app *a, const agent_event *ev)
{
    int quiet = ev->type == AGENT_EV_ERROR && (ev->u.error.scope == AGENT_SCOPE_ATTEMPT || ev->u.error.scope == AGENT_SCOPE_STEP);
    fresh_line(a);
    fflush(stdout);
    if (quiet && a->error_tty) fputs("\033[2m", stderr);
    fputs(quiet ? "  " : ev->type == AGENT_EV_ERROR ? "error: " : "warning: ", stderr);
    show(a, stderr, ev->text.p, ev->text.n);
    if (ev->name.n) { fputs(" (", stderr); show(a, stderr, ev->name.p, ev->name.n); putc(')', stderr); }
    if (quiet && a->error_tty) fputs("\033[0m", stderr);
    putc('\n', stderr);
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
        a->column = a->thinks = 1;
        break;
    case AGENT_EV_REASONING_END: dim(a, 0); fresh_line(a); a->thinks = 0; break;
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
    case AGENT_EV_WARNING: case AGENT_EV_ERROR: show_trouble(a, ev); break;
    case AGENT_EV_RETRY_WAIT: case AGENT_EV_RETRY_GO: show_retry(a, ev); break;
    case AGENT_EV_QUEUED: show_queued(a, ev); break;
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
        if (!chat_tools[i].asks) a->tools[i].flags = AGENT_TF_REPLAY_SAFE;       /* they read                           */
    }
}

/* ---- the course of things ---- */
static int busy(const app *a) { return a->listing || agent_busy(a->e, a->session) > 0; }
/* What would be lost if this program were killed now goes into the file of --session, before a tool is started above all. */
static void keep_on(app *a)
{
    const char *why = keep_more(&a->keep, a->e, a->session);
    if (why == NULL) return;
    fresh_line(a);
    fflush(stdout);
    fprintf(stderr, "chat: %s: %s\n", a->keep.path, why);
}
static void keep_event(app *a, const agent_event *ev)
{
    switch (ev->type) {
    case AGENT_EV_RUN_START: case AGENT_EV_RUN_END: case AGENT_EV_STEP_END: case AGENT_EV_MSG_END: case AGENT_EV_MSG_CUT: case AGENT_EV_TOOL_RUN:
    case AGENT_EV_TOOL_RESULT: case AGENT_EV_RETRY_WAIT: case AGENT_EV_QUEUED:
        keep_on(a);
        break;
    default: break;
    }
}
static void run_over(app *a, const agent_event *ev)
{
    a->running = a->cancelled = 0;
    a->wait.at = 0;
    if (ev->u.end.outcome == AGENT_CANCELLED) a->code = 130;
    else if (ev->u.end.outcome != AGENT_COMPLETED) a->code = 1;
    else if (a->live) a->code = 0;
    if (a->opt.prompt || (a->code == 130 && !a->live)) a->over = 1;
}
static void on_event(app *a, const agent_event *ev)
{
    if (a->opt.json) json_event(a, ev);
    else show_event(a, ev);
    keep_event(a, ev);
    switch (ev->type) {
    case AGENT_EV_OPEN:        host_open(&a->net, a->e, ev); break;
    case AGENT_EV_CLOSE:       host_close(&a->net, ev); break;
    case AGENT_EV_TOOL_RUN:    run_tool(a, ev); break;
    case AGENT_EV_MODELS:      a->listing = 0; break;
    case AGENT_EV_ERROR:       if (ev->u.error.scope == AGENT_SCOPE_PEER) a->listing = 0; break;
    case AGENT_EV_TOOL_CANCEL: job_cancel(a, ev->call); break;
    case AGENT_EV_RUN_START:   a->running = 1; a->cancelled = 0; break;
    case AGENT_EV_STEP_END: case AGENT_EV_RETRY_GO: a->wait.at = 0; break;
    case AGENT_EV_RUN_END:     run_over(a, ev); break;
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
    if ((a->opt.attach_n ? say_with(a, text) : agent_say(a->e, a->session, text, AGENT_CSTR)) > 0) return;
    fprintf(stderr, "chat: %s\n", agent_last(a->e));
    a->code = 1;
    if (a->opt.prompt) a->over = 1;
}
static void cancel_run(app *a)
{
    a->cancelled = 1;
    (void)agent_cancel(a->e, a->session);
}
/* ---- commands: a row of the table and a function each ---- */
static void refuse(app *a, const char *why)
{
    fresh_line(a);
    fflush(stdout);
    fprintf(stderr, "chat: %s\n", why);
    if (!a->live) a->code = 1;
}
/* Takes the next word off the line.                                                                                    */
static char *next_word(char **at)
{
    char *word = *at + strspn(*at, " \t");
    *at = word + strcspn(word, " \t");
    if (**at) *(*at)++ = 0;
    return word;
}
static uint32_t item_number(const char *word)                /* 0: it is none                                           */
{
    char *end;
    unsigned long n = strtoul(word, &end, 10);
    return *word >= '0' && *word <= '9' && *end == 0 && n < AGENT_OFF ? (uint32_t)n : 0;
}
static void command_steer(app *a, char *rest)
{
    agent_part p;
    memset(&p, 0, sizeof p);
    p.kind = AGENT_PART_TEXT;
    p.text = replay_str(rest);
    if (*rest == 0) refuse(a, "/steer wants words for the model");
    else if (agent_submit(a->e, a->session, &p, 1, AGENT_STEER) <= 0) refuse(a, agent_last(a->e));
}
static void command_stop(app *a, char *rest)
{
    const char *what = next_word(&rest);
    int tools = strcmp(what, "tools") == 0, now = strcmp(what, "now") == 0;
    if ((*what && !tools && !now) || *next_word(&rest)) { refuse(a, "/stop, /stop tools or /stop now"); return; }
    if (!a->running) { refuse(a, "nothing is going on"); return; }
    if (now) { cancel_run(a); return; }
    (void)agent_stop(a->e, a->session, tools ? AGENT_STOP_TOOLS : AGENT_STOP_STEP);
    if (a->opt.json || a->wait.at) return;
    note_begin(a);
    fputs(tools ? "[stops when the tools that run are done]" : "[stops when this step is over]", stdout);
    note_end(a);
}
static void queue_show(app *a, const agent_item *it)
{
    replay_text text = {NULL, 0, 0};
    agent_part p;
    size_t i;
    replay_put(&text, "", 0);
    for (i = 0; i < it->part_count && agent_queue_part(a->e, a->session, it->item, i, &p) == AGENT_OK; i++)
        if (p.kind == AGENT_PART_TEXT) replay_put(&text, p.text.p, p.text.n);
    if (a->opt.json) {
        a->words.n = 0;
        replay_queued(&a->words, it->item, "waits", it->lane, replay_str(text.p));
        fwrite(a->words.p, 1, a->words.n, stdout);
    } else {
        printf("  %u%s  ", (unsigned)it->item, it->lane == AGENT_STEER ? " (for the next step)" : "");
        show_short(a, replay_str(text.p), 200);
        a->column = 1;
        fresh_line(a);
    }
    free(text.p);
}
static void queue_list(app *a)
{
    agent_item it;
    size_t i;
    fresh_line(a);
    for (i = 0; agent_queue_at(a->e, a->session, i, &it) == AGENT_OK; i++) queue_show(a, &it);
    if (i == 0 && !a->opt.json) puts("  nothing waits");
}
static int lane_of(const app *a, uint32_t item)
{
    agent_item it;
    size_t i;
    for (i = 0; agent_queue_at(a->e, a->session, i, &it) == AGENT_OK; i++) if (it.item == item) return it.lane;
    return AGENT_QUEUE;
}
static void command_queue(app *a, char *rest)
{
    const char *what = next_word(&rest), *which = next_word(&rest), *before = next_word(&rest);
    int drop = strcmp(what, "drop") == 0, rc;
    uint32_t item = item_number(which);
    if (*what == 0) { queue_list(a); return; }
    if ((!drop && strcmp(what, "move")) || item == 0 || (*before && (drop || item_number(before) == 0)) || *next_word(&rest)) {
        refuse(a, "/queue, /queue drop NUMBER or /queue move NUMBER [BEFORE]");
        return;
    }
    rc = drop ? agent_queue_cancel(a->e, a->session, item) : agent_queue_move(a->e, a->session, item, lane_of(a, item), item_number(before));
    if (rc != AGENT_OK) refuse(a, rc == AGENT_LATE ? "it does not wait any more" : agent_last(a->e));
}
static void command_retry(app *a, char *rest)
{
    const char *what = next_word(&rest);
    if ((*what && strcmp(what, "now")) || *next_word(&rest)) refuse(a, "/retry or /retry now");
    else if (agent_retry(a->e, a->session, AGENT_RETRY_NOW) == AGENT_OK) {}
    else if (busy(a)) refuse(a, "nothing waits for a retry");
    else if (agent_regenerate(a->e, a->session) <= 0) refuse(a, agent_last(a->e));
}
static void command_go(app *a, char *rest)
{
    if (*rest) refuse(a, "/go takes no words");
    else if (busy(a)) refuse(a, "it is going on");
    else if (agent_submit(a->e, a->session, NULL, 0, AGENT_QUEUE) <= 0) refuse(a, agent_last(a->e));
}
static void command_model(app *a, char *rest)
{
    const char *name = next_word(&rest);
    if (*name ? agent_session_set(a->e, a->session, "model", name, AGENT_CSTR) != AGENT_OK : agent_models(a->e, a->peer) != AGENT_OK)
        refuse(a, agent_last(a->e));
    else if (*name == 0) a->listing = 1;
}
static int set_options(app *a);
/* A file of its own, once: --session is for one that is kept up.                                                       */
static void command_save(app *a, char *rest)
{
    agent_mark mark;
    int fd;
    if (*rest == 0) { refuse(a, "/save wants a file"); return; }
    fd = keep_whole(a->e, a->session, rest, &mark);
    if (fd < 0) { refuse(a, strerror(errno)); return; }
    close(fd);
    if (a->opt.json) return;
    note_begin(a);
    printf("[%lu messages are in ", (unsigned long)agent_messages(a->e, a->session));
    show(a, stdout, rest, strlen(rest));
    putchar(']');
    note_end(a);
}
static void show_loaded(app *a)
{
    unsigned long n = (unsigned long)agent_messages(a->e, a->session);
    a->running = agent_busy(a->e, a->session) > 0;
    if (a->opt.json) {
        printf("{\"ev\":\"loaded\",\"messages\":%lu,\"busy\":%s}\n", n, a->running ? "true" : "false");
        fflush(stdout);
        return;
    }
    note_begin(a);
    printf("[loaded %lu message%s%s]", n, n == 1 ? "" : "s", a->running ? "; what was going on goes on" : "");
    note_end(a);
    fflush(stdout);
}
static void command_load(app *a, char *rest)
{
    agent_id other;
    const char *why = NULL;
    int fd = -1;
    if (*rest == 0) { refuse(a, "/load wants a file"); return; }
    if (busy(a)) { refuse(a, "something is going on; /stop now ends it"); return; }
    other = agent_session_open(a->e, &a->desc);
    if (other == 0) why = agent_last(a->e);
    else if ((fd = open(rest, O_RDONLY | O_CLOEXEC)) < 0) why = strerror(errno);
    else why = keep_load(a->e, other, fd);
    if (fd >= 0) close(fd);
    if (why == NULL && a->keep.fd >= 0 && (fd = keep_whole(a->e, other, a->keep.path, &a->keep.mark)) < 0) why = strerror(errno);
    if (why) {
        refuse(a, why);
        if (other) (void)agent_session_close(a->e, other);
        return;
    }
    if (a->keep.fd >= 0) { close(a->keep.fd); a->keep.fd = fd; }
    (void)agent_session_close(a->e, a->session);
    a->session = other;
    (void)set_options(a);
    show_loaded(a);
}
static void command_help(app *a, char *rest);
typedef struct command { const char *name, *words, *help; void (*run)(app *, char *rest); } command;
static const command commands[] = {
    {"/help",  "",                       "this list", command_help},
    {"/steer", "TEXT",                   "into the run that is going on, before its next step", command_steer},
    {"/stop",  "[tools | now]",          "stops after this step; when the tools that run are done; at once (Ctrl-C)", command_stop},
    {"/queue", "[drop N | move N [M]]",  "what waits; takes one back; puts one at the end or before another", command_queue},
    {"/retry", "[now]",                  "does not wait for the next attempt; when nothing is going on, asks the last question again", command_retry},
    {"/go",    "",                       "goes on with what is there, as after a failure or a limit", command_go},
    {"/model", "[NAME]",                 "the provider's models; goes on with that one", command_model},
    {"/save",  "FILE",                   "the conversation as it is now, into a file", command_save},
    {"/load",  "FILE",                   "goes on with the conversation of a file in place of this one", command_load}
};
static void command_help(app *a, char *rest)
{
    FILE *f = a->opt.json ? stderr : stdout;
    size_t i;
    (void)rest;
    fresh_line(a);
    for (i = 0; i < sizeof commands / sizeof *commands; i++) fprintf(f, "  %-7s%-22s  %s\n", commands[i].name, commands[i].words, commands[i].help);
    fputs("  Other lines are for the model; while it is at work they wait. A blank before a slash makes a line of it.\n", f);
}
/* 1: it is one, or looks like one: a slash and letters, alone or before a blank.                                       */
static int command_line(app *a, char *line)
{
    size_t n = 1, i;
    char *rest;
    if (line[0] != '/') return 0;
    while (line[n] >= 'a' && line[n] <= 'z') n++;
    if (n == 1 || (line[n] && line[n] != ' ' && line[n] != '\t')) return 0;
    rest = line + n + strspn(line + n, " \t");
    for (i = strlen(rest); i && (rest[i - 1] == ' ' || rest[i - 1] == '\t'); i--) rest[i - 1] = 0;
    for (i = 0; i < sizeof commands / sizeof *commands; i++) if (strlen(commands[i].name) == n && strncmp(commands[i].name, line, n) == 0) {
        commands[i].run(a, rest);
        fflush(stdout);
        return 1;
    }
    refuse(a, "there is no such command; /help lists them");
    return 1;
}
static void on_line(app *a, char *line)
{
    job *j = job_asking(a);
    size_t n = strlen(line);
    if (n && line[n - 1] == '\r') line[n - 1] = 0;
    if (a->input_tty && a->output_tty) a->column = a->wait.above = 0;           /* the terminal shows what is typed      */
    a->prompted = 0;
    if (command_line(a, line)) return;
    if (j) job_answer(a, j, line);
    else if (line[strspn(line, " \t")]) say(a, line);
}
/* Who takes the next line: a question; with --prompt else commands only.                                              */
static int takes_line(app *a)
{
    if (job_asking(a)) return 1;
    return a->opt.prompt ? a->live && a->input_n && a->input[0] == '/' : a->live || !busy(a);
}
/* Uses the next line of stdin, if one is there and somebody waits for it. 1: it did.                                  */
static int next_line(app *a)
{
    char *end, *line;
    size_t n;
    if (!takes_line(a)) return 0;
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
    if (!busy(a) && !a->opt.prompt) a->over = 1;
}
static void on_signals(app *a)
{
    char c;
    while (read(signal_pipe[0], &c, 1) == 1) {
        if (c == 'c') jobs_reap(a);
        else if (busy(a) && !a->cancelled) cancel_run(a);
        else { a->over = 1; a->code = 130; }
    }
}
/* Whether stdin is to be read. A terminal is left to the shell that has it while this program is in the background.    */
static int reads_input(app *a)
{
    if (a->input_over || a->input_n >= MAX_LINE) return 0;
    if (job_asking(a)) return 1;
    return a->live ? !a->input_tty || tcgetpgrp(0) < 0 || tcgetpgrp(0) == getpgrp() : !busy(a) && !a->opt.prompt;
}
static void wait_for_more(app *a)
{
    struct pollfd p[HOST_MAX + MAX_JOBS + 2], *jobs = p + HOST_MAX, *in = jobs + MAX_JOBS, *sig = in + 1;
    int i, ms = count_down(a), most;
    memset(p, 0, sizeof p);
    host_poll(&a->net, a->e, p);
    for (i = 0; i < MAX_JOBS; i++) { jobs[i].fd = a->jobs[i].fd; jobs[i].events = POLLIN; }
    in->fd = reads_input(a) ? 0 : -1;
    in->events = POLLIN;
    sig->fd = signal_pipe[0];
    sig->events = POLLIN;
    most = host_wait(a->e);
    if (in->fd < 0 && a->input_tty && !a->input_over && (ms < 0 || ms > 1000)) ms = 1000;    /* it may come to the foreground */
    if (ms >= 0 && (most < 0 || most > ms)) most = ms;
    if (poll(p, sizeof p / sizeof *p, most) <= 0) return;
    host_ready(&a->net, a->e, p);
    for (i = 0; i < MAX_JOBS; i++)
        if (jobs[i].fd >= 0 && jobs[i].revents && !job_read(a, &a->jobs[i])) { close(a->jobs[i].fd); a->jobs[i].fd = -1; }
    if (in->fd == 0 && in->revents) read_input(a);
    if (sig->revents) on_signals(a);
}
static void loop(app *a)
{
    const agent_event *ev;
    while (!a->over) {
        host_tick(a->e);
        while ((ev = agent_next(a->e)) != NULL) on_event(a, ev);
        if (a->over || job_ask(a) || next_line(a)) continue;
        if (a->input_over) { input_ended(a); if (a->over || agent_deadline(a->e) == 0) continue; }
        if (a->input_tty && !busy(a) && !a->opt.prompt && !a->prompted) { fflush(stdout); fputs("> ", stderr); }
        a->prompted = a->input_tty && !busy(a);
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
           "            [--session FILE] [--record FILE] [--no-stream] [--live]\n"
           "providers, and the variable that has the key:\n");
    for (i = 0; agent_provider_at(i); i++) printf("  %-22s %s\n", agent_provider_at(i)->name, agent_provider_at(i)->key_env ? agent_provider_at(i)->key_env : "");
    return 0;
}
/* What --set says of the session's flags and numbers. 1: it was one of them, 0: it is an option, -1: no number.         */
static int parse_desc(options *o, const char *set)
{
    static const struct { const char *set; uint32_t flag; } flags[] = {
        {"think_tags=yes", AGENT_S_THINK_TAGS}, {"thoughts_told=yes", AGENT_S_THOUGHTS_TOLD}, {"go_on=yes", AGENT_S_GO_ON}
    };
    static const struct { const char *key; size_t at; uint32_t none; } numbers[] = {         /* none: what 0 stands for */
        {"max_retries=", offsetof(agent_session_desc, max_retries), AGENT_OFF}, {"retry_ms=", offsetof(agent_session_desc, retry_ms), 1},
        {"hint_cap_ms=", offsetof(agent_session_desc, hint_cap_ms), 1}, {"step_ms=", offsetof(agent_session_desc, step_ms), AGENT_OFF},
        {"run_ms=", offsetof(agent_session_desc, run_ms), AGENT_OFF}, {"tool_ms=", offsetof(agent_session_desc, tool_ms), AGENT_OFF},
        {"max_steps=", offsetof(agent_session_desc, max_steps), AGENT_OFF},
        {"max_run_tokens=", offsetof(agent_session_desc, max_run_tokens), AGENT_OFF}
    };
    size_t i;
    for (i = 0; i < sizeof flags / sizeof *flags; i++) if (strcmp(set, flags[i].set) == 0) { o->desc.flags |= flags[i].flag; return 1; }
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++) if (strncmp(set, numbers[i].key, strlen(numbers[i].key)) == 0) {
        const char *digits = set + strlen(numbers[i].key);
        uint64_t n = 0;
        if (*digits == 0) return -1;
        for (; *digits; digits++) if (*digits < '0' || *digits > '9' || (n = n * 10u + (uint64_t)(*digits - '0')) >= AGENT_OFF) return -1;
        if (n == 0) n = numbers[i].none;
        *(uint32_t *)(void *)((char *)&o->desc + numbers[i].at) = (uint32_t)n;
        return 1;
    }
    return 0;
}
static int parse(options *o, int argc, char **argv)          /* 0, or the exit code                                     */
{
    enum { ALL = 14 };
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
    all[13].name = "--live";    all[13].flag = &o->live;
    for (i = 1; i < argc; i++) {
        for (k = 0; k < ALL && strcmp(argv[i], all[k].name); k++) {}
        if (k == ALL) return usage("unknown option, see --help", argv[i]);
        if (all[k].flag) *all[k].flag = 1;
        else if (i + 1 == argc) return usage("a value is missing", argv[i]);
        else if (all[k].count && *all[k].count == MAX_GIVEN) return usage("too many", argv[i]);
        else all[k].value[all[k].count ? (*all[k].count)++ : 0] = argv[++i];
    }
    if (o->acp) return usage("--acp is not in this build yet", NULL);
    if (o->prompt && !*o->prompt) return usage("the prompt is empty", NULL);
    for (i = 0; i < o->set_n; i++) {
        if (strchr(o->set[i], '=') == NULL) return usage("--set wants KEY=VALUE", o->set[i]);
        k = parse_desc(o, o->set[i]);
        if (k < 0) return usage("--set wants a whole number there", o->set[i]);
        if (k) { o->set[i] = o->set[--o->set_n]; i--; }
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
/* ---- --record ---- */
static void record_write(void *ctx, const void *p, size_t n) { (void)!fwrite(p, 1, n, (FILE *)ctx); }
static int record_open(app *a, agent_desc *d)                /* a line at a time, so that a crash leaves what was before */
{
    int fd = open(a->opt.record, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0) host_own_fd(fd, 0);
    if (fd < 0 || fchmod(fd, 0600) != 0 || (a->record = fdopen(fd, "w")) == NULL) { if (fd >= 0) close(fd); return 0; }
    setvbuf(a->record, NULL, _IOLBF, 1 << 16);
    d->record = record_write;
    d->record_ctx = a->record;
    return 1;
}
static void record_close(app *a)
{
    int bad;
    if (a->record == NULL) return;
    bad = ferror(a->record);
    if (fclose(a->record) != 0 || bad) fprintf(stderr, "chat: the record is not complete: %s\n", a->opt.record);
}
static int start_session(app *a, const char *argv0)          /* 0, or the exit code                                     */
{
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = a->opt.desc;
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
    if (o->record && !record_open(a, &d)) return usage("the record cannot be written", o->record);
    if (agent_open(&a->e, &d) != AGENT_OK) { fprintf(stderr, "chat: out of memory\n"); return 1; }
    host_tick(a->e);
    s.peer = a->peer = agent_peer_open(a->e, &p);
    if (s.peer == 0) return usage(agent_last(a->e), NULL);
    s.system = "You are an agent in a terminal. Answer briefly, and use the tools to find out what you do not know.";
    if (o->no_stream) s.flags |= AGENT_S_NO_STREAM;
    tools_list(a);
    s.tools = a->tools;
    s.tool_count = CHAT_TOOLS;
    a->desc = s;
    a->session = agent_session_open(a->e, &s);
    if (a->session == 0) return usage(agent_last(a->e), NULL);
    return 0;
}
/* --session: what is in the file, and then the options, which count more than what is saved. 0, or the exit code.      */
static int start_kept(app *a)
{
    const char *why = NULL;
    int loaded = 0, code;
    if (a->opt.session) why = keep_start(&a->keep, a->e, a->session, a->opt.session, &loaded);
    if (why) { fprintf(stderr, "chat: %s: %s\n", a->opt.session, why); return 1; }
    if (loaded && a->opt.model && agent_session_set(a->e, a->session, "model", a->opt.model, AGENT_CSTR) != AGENT_OK) return usage(agent_last(a->e), NULL);
    if ((code = set_options(a)) != 0) return code;
    if (loaded) show_loaded(a);
    return 0;
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
    a.model.leash = a.keep.fd = -1;
    a.input_tty = isatty(0);
    a.output_tty = isatty(1) && !(getenv("TERM") && strcmp(getenv("TERM"), "dumb") == 0);
    a.error_tty = isatty(2) && a.output_tty;
    a.live = a.input_tty || a.opt.live;
    if (!catch_signals()) { perror("chat"); return 1; }
    code = start_session(&a, argv[0]);
    if (code == 0) code = start_kept(&a);
    if (code == 0) {
        if (a.opt.prompt) say(&a, a.opt.prompt);
        loop(&a);
        code = a.code;
    }
    if (a.e && code != 2) keep_on(&a);        /* tools that run count as interrupted                                   */
    for (i = 0; i < MAX_JOBS; i++) job_kill(&a.jobs[i]);
    keep_end(&a.keep);
    if (a.e) agent_close(a.e);
    record_close(&a);
    host_close_all(&a.net);
    host_model_stop(&a.model);
    free(a.input);
    free(a.words.p);
    return code;
}
