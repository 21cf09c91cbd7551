/* Tools on threads. The engine lives on the main thread; a worker never sees it, it posts letters into a mailbox. That is the whole
 * story of threads: answers go in by the number of their call, so no pointer is shared, and a late one is AGENT_LATE.
 * Offline: the program plays the network. Two commands run side by side, one is cut off by a cancel in the second run. */
#define _POSIX_C_SOURCE 200809L
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct job { struct job *next; agent_id session; agent_num call; pid_t pid; int out; pthread_t thread; } job;
enum letter_kind { LETTER_OUTPUT, LETTER_DONE };
typedef struct letter { struct letter *next; enum letter_kind kind; agent_id session; agent_num call; int status; size_t n; char text[1024]; } letter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static letter *box, **box_end = &box;
static job *jobs;                             /* the main thread's                                                      */
static int asked;                             /* how many requests the network has answered                             */

static letter *letter_new(const job *j, enum letter_kind kind)
{
    letter *m = (letter *)calloc(1, sizeof *m);
    if (m == NULL) abort();
    m->kind = kind;
    m->session = j->session;
    m->call = j->call;
    return m;
}
static void post(letter *m)
{
    pthread_mutex_lock(&lock);
    *box_end = m;
    box_end = &m->next;
    pthread_cond_signal(&came);
    pthread_mutex_unlock(&lock);
}
static letter *take_all(int wait)
{
    letter *m;
    pthread_mutex_lock(&lock);
    while (wait && box == NULL) pthread_cond_wait(&came, &lock);
    m = box;
    box = NULL;
    box_end = &box;
    pthread_mutex_unlock(&lock);
    return m;
}
static void *worker(void *user)
{
    job *j = (job *)user;
    letter *m;
    ssize_t n;
    for (;;) {
        m = letter_new(j, LETTER_OUTPUT);
        n = read(j->out, m->text, sizeof m->text);
        if (n <= 0) break;
        m->n = (size_t)n;
        post(m);
    }
    m->kind = LETTER_DONE;
    if (waitpid(j->pid, &m->status, 0) < 0) m->status = 1;
    post(m);
    return NULL;
}

/* ---- on the main thread ---- */
static int spawn(job *j, const char *command)
{
    int out[2];
    if (pipe(out) != 0) return 0;
    (void)fcntl(out[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(out[1], F_SETFD, FD_CLOEXEC);
    j->pid = fork();
    if (j->pid == 0) {
        (void)setpgid(0, 0);
        if (dup2(out[1], 1) < 0) _exit(126);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    j->out = out[0];
    if (j->pid > 0) (void)setpgid(j->pid, j->pid);
    return j->pid > 0 && pthread_create(&j->thread, NULL, worker, j) == 0;
}
static void start(agent_engine *e, const agent_event *ev)
{
    char command[256];
    job *j = (job *)calloc(1, sizeof *j);
    if (j == NULL) abort();
    j->session = ev->session;
    j->call = ev->call;
    if (agent_json_text(agent_json_get(ev->text, "command"), command, sizeof command) >= sizeof command || !spawn(j, command)) {
        free(j);
        (void)agent_decline(e, ev);
        return;
    }
    (void)agent_tool_update(e, ev->session, ev->call, command, AGENT_CSTR);
    j->next = jobs;
    jobs = j;
}
static void stop(const agent_event *ev)       /* what it printed so far is kept                                         */
{
    job *j;
    for (j = jobs; j; j = j->next) if (j->session == ev->session && j->call == ev->call) (void)kill(-j->pid, SIGKILL);
}
static void join(agent_id session, agent_num call)
{
    job **at = &jobs, *j;
    while ((j = *at) != NULL && (j->session != session || j->call != call)) at = &j->next;
    if (j == NULL) return;
    *at = j->next;
    pthread_join(j->thread, NULL);
    close(j->out);
    free(j);
}
static void deliver(agent_engine *e, int wait)
{
    letter *m, *next;
    for (m = take_all(wait); m; m = next) {
        next = m->next;
        if (m->kind == LETTER_OUTPUT) (void)agent_tool_append(e, m->session, m->call, m->text, m->n);
        else {
            (void)agent_tool_done(e, m->session, m->call, m->status == 0 ? AGENT_DONE_OK : AGENT_DONE_ERROR);
            join(m->session, m->call);
        }
        free(m);
    }
}
static void play(agent_engine *e, const agent_event *ev)     /* the network                                             */
{
    static const char *const answers[] = {
        "{\"choices\":[{\"index\":0,\"message\":{\"tool_calls\":["
        "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"sh\",\"arguments\":\"{\\\"command\\\":\\\"echo one; echo two\\\"}\"}},"
        "{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":\"sh\",\"arguments\":\"{\\\"command\\\":\\\"echo three; exit 3\\\"}\"}}]},"
        "\"finish_reason\":\"tool_calls\"}]}",
        "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"Both ran.\"},\"finish_reason\":\"stop\"}]}",
        "{\"choices\":[{\"index\":0,\"message\":{\"tool_calls\":["
        "{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"sh\",\"arguments\":\"{\\\"command\\\":\\\"echo started; sleep 1000\\\"}\"}}]},"
        "\"finish_reason\":\"tool_calls\"}]}"
    };
    (void)agent_opened(e, ev->conn, AGENT_VIA_HTTP, NULL);
    (void)agent_http_head(e, ev->conn, 200, "content-type: application/json\n", AGENT_CSTR);
    (void)agent_feed(e, ev->conn, answers[asked], strlen(answers[asked]), NULL);
    (void)agent_eof(e, ev->conn);
    asked++;
}
static int on_event(agent_engine *e, const agent_event *ev)  /* 1: the run is over                                      */
{
    static const char *const words[] = {"ok", "error", "cancelled", "not run"};
    switch (ev->type) {
    case AGENT_EV_OPEN:        play(e, ev); break;
    case AGENT_EV_TEXT_DELTA:  printf("%.*s\n", (int)ev->text.n, ev->text.p); break;
    case AGENT_EV_TOOL_CALL:   printf("call %u: %s %s\n", (unsigned)ev->call, ev->name.p, ev->text.p); break;
    case AGENT_EV_TOOL_RUN:    start(e, ev); break;
    case AGENT_EV_TOOL_UPDATE: if (asked == 3) (void)agent_cancel(e, ev->session); break;   /* somebody thinks better of it */
    case AGENT_EV_TOOL_CANCEL: stop(ev); break;
    case AGENT_EV_TOOL_RESULT: printf("result %u: %s\n", (unsigned)ev->call, words[ev->u.tool.status & 3]); break;
    case AGENT_EV_ERROR:       printf("error: %s\n", ev->text.p); break;
    case AGENT_EV_RUN_END:     return 1;
    default:                   if (ev->flags & AGENT_EVF_NEED) (void)agent_decline(e, ev);
    }
    return 0;
}
static void run(agent_engine *e, agent_id chat, const char *prompt)
{
    const agent_event *ev;
    int over = 0;
    if (agent_say(e, chat, prompt, AGENT_CSTR) <= 0) return;
    for (;;) {
        while ((ev = agent_next(e)) != NULL) over |= on_event(e, ev);
        if (over && jobs == NULL) return;     /* also those that were cancelled are joined                              */
        deliver(e, 1);
    }
}
int main(void)
{
    static const agent_tool sh = {"sh", "Runs a command.", "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\"}}}", 0, 0, NULL};
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    agent_engine *e;
    agent_id chat;
    if (agent_open(&e, &d) != AGENT_OK) return 1;
    p.provider = "openai";
    s.peer = agent_peer_open(e, &p);
    s.model = "any";
    s.tools = &sh;
    s.tool_count = 1;
    chat = agent_session_open(e, &s);
    run(e, chat, "Run two commands.");
    run(e, chat, "Run a long one.");
    agent_close(e);
    return 0;
}
