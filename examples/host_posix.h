/* Plain sockets and poll for an engine: connects, sends, receives, closes, and starts the scripted model as a child. Include it after
 * agent.h; _POSIX_C_SOURCE is 200809L. One host_net an engine; nothing here blocks but the look-up of a host's name. */
#ifndef HOST_POSIX_H
#define HOST_POSIX_H
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0                        /* then the program ignores SIGPIPE                                       */
#endif

enum { HOST_MAX = 16 };
typedef struct host_io {
    agent_id conn;                            /* 0: free                                                                */
    int fd, connecting, over;                 /* over: the peer ended it; CLOSE is still to come                        */
    struct addrinfo *found, *next;            /* a name's addresses, and the one to try next                            */
} host_io;
typedef struct host_net { host_io io[HOST_MAX]; } host_net;

static uint64_t host_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}
static void host_tick(agent_engine *e) { (void)agent_tick(e, host_ms(CLOCK_MONOTONIC), host_ms(CLOCK_REALTIME)); }
/* For poll: how long the engine can wait; -1: for ever.                                                               */
static int host_wait(const agent_engine *e)
{
    uint64_t at = agent_deadline(e), now = host_ms(CLOCK_MONOTONIC);
    if (at == UINT64_MAX) return -1;
    return at <= now ? 0 : at - now > 60000 ? 60000 : (int)(at - now);
}
static void host_own_fd(int fd, int nonblocking)             /* no child inherits it                                    */
{
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (nonblocking) (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* ---- connections ---- */
static void host_broken(agent_engine *e, host_io *io, int why, const char *detail)
{
    io->over = 1;
    (void)agent_failed(e, io->conn, why, detail, AGENT_CSTR);
}
/* Tries the next address. Whether it answers is seen when the socket gets writable.                                   */
static void host_dial(agent_engine *e, host_io *io, int err)
{
    if (io->fd >= 0) close(io->fd);
    io->fd = -1;
    while (io->next) {
        struct addrinfo *a = io->next;
        io->next = a->ai_next;
        io->fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
        if (io->fd < 0) { err = errno; continue; }
        host_own_fd(io->fd, 1);
        io->connecting = 1;
        if (connect(io->fd, a->ai_addr, a->ai_addrlen) == 0 || errno == EINPROGRESS) return;
        err = errno;
        close(io->fd);
        io->fd = -1;
    }
    io->connecting = 0;
    host_broken(e, io, AGENT_FAIL_REFUSED, strerror(err));
}
static void host_open(host_net *net, agent_engine *e, const agent_event *ev)
{
    struct addrinfo hints;
    char service[8];
    host_io *io = net->io;
    int i, err;
    for (i = 0; i < HOST_MAX && net->io[i].conn; i++) io++;
    if (i == HOST_MAX || ev->u.open.kind != AGENT_CONN_HTTP) { (void)agent_decline(e, ev); return; }
    if (ev->u.open.tls) {
        (void)agent_failed(e, ev->conn, AGENT_FAIL_TLS, "https:// needs TLS, which comes with the mbedTLS build; here the URL has to be http://", AGENT_CSTR);
        return;
    }
    memset(io, 0, sizeof *io);
    io->conn = ev->conn;
    io->fd = -1;
    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    sprintf(service, "%u", (unsigned)ev->u.open.port);
    err = getaddrinfo(ev->u.open.host.p, service, &hints, &io->found);
    if (err) { host_broken(e, io, AGENT_FAIL_NAME, gai_strerror(err)); return; }
    io->next = io->found;
    host_dial(e, io, 0);
}
static void host_close(host_net *net, const agent_event *ev)
{
    int i;
    for (i = 0; i < HOST_MAX; i++) if (net->io[i].conn == ev->conn) {
        if (net->io[i].fd >= 0) close(net->io[i].fd);
        if (net->io[i].found) freeaddrinfo(net->io[i].found);
        net->io[i].conn = 0;
    }
}
static void host_close_all(host_net *net)     /* after agent_close                                                      */
{
    agent_event ev;
    int i;
    for (i = 0; i < HOST_MAX; i++) if (net->io[i].conn) { ev.conn = net->io[i].conn; host_close(net, &ev); }
}
/* Fills HOST_MAX entries.                                                                                             */
static void host_poll(const host_net *net, const agent_engine *e, struct pollfd *p)
{
    int i;
    for (i = 0; i < HOST_MAX; i++) {
        const host_io *io = &net->io[i];
        int wants = io->conn ? agent_wants(e, io->conn) : 0;
        p[i].events = (short)(io->connecting ? POLLOUT : (wants & AGENT_WANT_READ ? POLLIN : 0) | (wants & AGENT_WANT_WRITE ? POLLOUT : 0));
        p[i].fd = io->conn && !io->over && p[i].events ? io->fd : -1;
        p[i].revents = 0;
    }
}
static void host_connected(agent_engine *e, host_io *io)
{
    int err = 0;
    socklen_t n = sizeof err;
    (void)getsockopt(io->fd, SOL_SOCKET, SO_ERROR, &err, &n);
    if (err) { host_dial(e, io, err); return; }
    io->connecting = 0;
    (void)agent_opened(e, io->conn, AGENT_VIA_BYTES, NULL);
}
static int host_again(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }
static void host_send(agent_engine *e, host_io *io)
{
    size_t n;
    const void *b;
    while ((b = agent_send_buf(e, io->conn, &n)) != NULL) {
        ssize_t sent = send(io->fd, b, n, MSG_NOSIGNAL);
        if (sent < 0) return;                 /* a broken stream may still hold an answer: the next read tells          */
        (void)agent_send_ack(e, io->conn, (size_t)sent);
    }
}
static void host_receive(agent_engine *e, host_io *io)
{
    size_t room;
    void *b = agent_recv_buf(e, io->conn, &room);
    ssize_t got;
    int err;
    if (b == NULL) return;
    got = recv(io->fd, b, room, 0);
    err = got < 0 && !host_again() ? errno : 0;
    (void)agent_recv_ack(e, io->conn, got > 0 ? (size_t)got : 0);
    if (got == 0) { io->over = 1; (void)agent_eof(e, io->conn); }
    if (err) host_broken(e, io, AGENT_FAIL_RESET, strerror(err));
}
static void host_ready(host_net *net, agent_engine *e, const struct pollfd *p)
{
    int i;
    for (i = 0; i < HOST_MAX; i++) {
        host_io *io = &net->io[i];
        if (p[i].fd < 0 || p[i].revents == 0 || io->conn == 0 || io->over) continue;
        if (io->connecting) { host_connected(e, io); continue; }
        if (p[i].revents & POLLOUT) host_send(e, io);
        if (p[i].revents & ~POLLOUT) host_receive(e, io);
    }
}

/* ---- the scripted model as a child ---- */
typedef struct host_model { pid_t pid; int leash; char url[64]; } host_model;  /* it ends when the leash closes, or by its id */

/* The path of `name` in the folder of this program, which was started as argv0. 0: too long.                          */
static int host_beside(const char *argv0, const char *name, char *out, size_t cap)
{
    const char *slash = strrchr(argv0, '/');
    size_t n = slash ? (size_t)(slash - argv0) + 1 : 0;
    if (n + strlen(name) + 1 > cap) return 0;
    memcpy(out, argv0, n);
    strcpy(out + n, name);
    return 1;
}
/* Reads `listening on ADDRESS` from the child.                                                                        */
static int host_model_address(int fd, char *url, size_t cap)
{
    static const char said[] = "listening on ";
    char line[64];
    size_t n = 0;
    ssize_t got;
    while (n < sizeof line - 1 && (got = read(fd, line + n, 1)) != 0) {
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 || line[n] == '\n') break;
        n++;
    }
    line[n] = 0;
    if (strncmp(line, said, sizeof said - 1) != 0 || n + 16 > cap) return 0;
    sprintf(url, "http://%s/v1", line + sizeof said - 1);
    return 1;
}
static void host_model_run(const char *program, const char *option, const char *script, int in, int out)
{
    (void)setpgid(0, 0);                      /* Ctrl-C is for the program that started it                              */
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0) _exit(126);
    if (option) execl(program, program, "--until-eof", option, script, (char *)NULL);
    else execl(program, program, "--until-eof", script, (char *)NULL);
    _exit(127);
}
/* option NULL: script is a file; "--script": it is the text. 1: m->url is where it listens.                           */
static int host_model_start(host_model *m, const char *program, const char *option, const char *script)
{
    int in[2], out[2], good;
    memset(m, 0, sizeof *m);
    m->leash = -1;
    if (pipe(in) != 0) return 0;
    if (pipe(out) != 0) { close(in[0]); close(in[1]); return 0; }
    host_own_fd(in[0], 0); host_own_fd(in[1], 0); host_own_fd(out[0], 0); host_own_fd(out[1], 0);
    m->pid = fork();
    if (m->pid == 0) host_model_run(program, option, script, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    m->leash = in[1];
    good = m->pid > 0 && host_model_address(out[0], m->url, sizeof m->url);
    close(out[0]);
    return good;
}
static void host_model_stop(host_model *m)
{
    if (m->leash >= 0) close(m->leash);
    m->leash = -1;
    if (m->pid <= 0) return;
    (void)kill(m->pid, SIGTERM);
    while (waitpid(m->pid, NULL, 0) < 0 && errno == EINTR) {}
    m->pid = 0;
}
#endif
