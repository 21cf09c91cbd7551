/* Sockets and poll for an engine: connects, straight or through a proxy, sends, receives, closes, and starts the scripted model as a child;
 * with AGENT_MBEDTLS also over TLS. Include it after agent.h; _POSIX_C_SOURCE is 200809L. One host_net an engine; nothing here blocks but
 * the look-up of a host's name. */
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
#include "host_proxy.h"
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0                        /* then the program ignores SIGPIPE                                       */
#endif

enum { HOST_MAX = 16 };
typedef struct host_io {
    agent_id conn;                            /* 0: free                                                                */
    int fd, connecting, over;                 /* over: the peer ended it; CLOSE is still to come                        */
    struct addrinfo *found, *next;            /* a name's addresses, and the one to try next                            */
    char *hello, *answer;                     /* CONNECT for a proxy, and the head of its answer; NULL: no proxy, or past it */
    size_t hello_n, hello_at, answer_n;
#ifdef AGENT_MBEDTLS
    agent_tls *tls;                           /* NULL: plain                                                            */
#endif
} host_io;
typedef struct host_net {
    host_io io[HOST_MAX];
#ifdef AGENT_MBEDTLS
    agent_tls_config *tls;                    /* made for the first connection that needs it                            */
#endif
} host_net;
enum { HOST_ANSWER = 8192 };

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
/* What a proxy is told first. 0: no memory.                                                                             */
static int host_hello(host_io *io, const host_proxy *proxy, const agent_event *ev)
{
    enum { ROOM = 2048 };
    io->hello = (char *)malloc(ROOM);
    io->answer = (char *)malloc(HOST_ANSWER);
    if (io->hello && io->answer) io->hello_n = host_proxy_request(proxy, ev->u.open.host.p, ev->u.open.port, io->hello, ROOM);
    return io->hello_n > 0;
}
#ifdef AGENT_MBEDTLS
/* The file with the system's authorities, or the one that SSL_CERT_FILE names.                                         */
static char *host_authorities(size_t *n)
{
    static const char *const places[] = { "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem" };
    const char *name = getenv("SSL_CERT_FILE");
    FILE *f = name && *name ? fopen(name, "rb") : NULL;
    size_t i, cap = 1 << 16;
    char *p = NULL, *more;
    for (i = 0; f == NULL && !(name && *name) && i < sizeof places / sizeof *places; i++) f = fopen(places[i], "rb");
    *n = 0;
    while (f && !feof(f) && !ferror(f) && *n < cap / 2 * 2) {
        if ((more = (char *)realloc(p, cap)) == NULL) break;
        p = more;
        *n += fread(p + *n, 1, cap - *n, f);
        if (*n == cap) cap *= 2;
    }
    if (f) fclose(f);
    return p;
}
static int host_tls_open(host_net *net, agent_engine *e, host_io *io, const char *host)      /* 0: it failed, and the engine knows */
{
    const char *why = "out of memory for TLS";
    if (net->tls == NULL) {
        agent_tls_desc d;
        char *ca;
        memset(&d, 0, sizeof d);
        d.ca = ca = host_authorities(&d.ca_n);
        (void)agent_tls_config_open(&net->tls, &d, &why);
        free(ca);
    }
    if (net->tls && agent_tls_open(&io->tls, net->tls, host) == AGENT_OK) return 1;
    host_broken(e, io, AGENT_FAIL_TLS, why);
    return 0;
}
static void host_tls_flush(host_io *io)
{
    size_t n;
    const void *b;
    while ((b = agent_tls_send_buf(io->tls, &n)) != NULL) {
        ssize_t sent = send(io->fd, b, n, MSG_NOSIGNAL);
        if (sent < 0) return;
        (void)agent_tls_send_ack(io->tls, (size_t)sent);
    }
}
static void host_tls_ready(agent_engine *e, host_io *io)     /* bytes came; or there may be something to send            */
{
    char b[16384];
    ssize_t got = 0;
    size_t taken, left;
    int rc;
    do {
        taken = 0;
        if (agent_tls_wants(io->tls) & AGENT_WANT_READ) {
            got = recv(io->fd, b, sizeof b / 2, MSG_PEEK);   /* as much is taken as fits                                 */
            if (got == 0) agent_tls_eof(io->tls);
            if (got > 0 && agent_tls_feed(io->tls, b, (size_t)got, &taken) == AGENT_OK) (void)recv(io->fd, b, taken, 0);
            if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) agent_tls_eof(io->tls);
        }
        rc = agent_tls_pump(io->tls, e, io->conn);
        host_tls_flush(io);
        (void)agent_tls_send_buf(io->tls, &left);
    } while (rc != AGENT_E_FULL && (taken || (rc == AGENT_MORE && left == 0)));
    if (agent_tls_state(io->tls) == AGENT_TLS_FAILED || agent_tls_state(io->tls) == AGENT_TLS_CLOSED) io->over = 1;
}
#else
static int host_tls_open(host_net *net, agent_engine *e, host_io *io, const char *host)
{
    (void)net;
    (void)host;
    host_broken(e, io, AGENT_FAIL_TLS, "https:// needs TLS, which comes with the mbedTLS build; here the URL has to be http://");
    return 0;
}
#endif
static void host_open(host_net *net, agent_engine *e, const agent_event *ev)
{
    struct addrinfo hints;
    char service[8];
    host_io *io = net->io;
    host_proxy proxy;
    int i, err, through;
    for (i = 0; i < HOST_MAX && net->io[i].conn; i++) io++;
    if (i == HOST_MAX || ev->u.open.kind != AGENT_CONN_HTTP) { (void)agent_decline(e, ev); return; }
    memset(io, 0, sizeof *io);
    io->conn = ev->conn;
    io->fd = -1;
    if (ev->u.open.tls && !host_tls_open(net, e, io, ev->u.open.host.p)) return;
    through = host_proxy_of(&proxy, ev->u.open.host.p, ev->u.open.port, ev->u.open.tls);
    if (through < 0) { host_broken(e, io, AGENT_FAIL_NAME, "the proxy's URL is none of http://[USER:PASSWORD@]HOST[:PORT]"); return; }
    if (through && !host_hello(io, &proxy, ev)) { host_broken(e, io, AGENT_FAIL_HOST, "out of memory"); return; }
    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    sprintf(service, "%u", (unsigned)ev->u.open.port);
    err = getaddrinfo(through ? proxy.host : ev->u.open.host.p, through ? proxy.port : service, &hints, &io->found);
    if (err) { host_broken(e, io, AGENT_FAIL_NAME, gai_strerror(err)); return; }
    io->next = io->found;
    host_dial(e, io, 0);
}
static void host_close(host_net *net, const agent_event *ev)
{
    int i;
    for (i = 0; i < HOST_MAX; i++) if (net->io[i].conn == ev->conn) {
#ifdef AGENT_MBEDTLS
        if (net->io[i].tls) {
            agent_tls_shutdown(net->io[i].tls);
            if (net->io[i].fd >= 0 && !net->io[i].connecting) host_tls_flush(&net->io[i]);
            agent_tls_close(net->io[i].tls);
        }
#endif
        if (net->io[i].fd >= 0) close(net->io[i].fd);
        free(net->io[i].hello);
        free(net->io[i].answer);
        if (net->io[i].found) freeaddrinfo(net->io[i].found);
        net->io[i].conn = 0;
    }
}
static void host_close_all(host_net *net)     /* after agent_close                                                      */
{
    agent_event ev;
    int i;
    for (i = 0; i < HOST_MAX; i++) if (net->io[i].conn) { ev.conn = net->io[i].conn; host_close(net, &ev); }
#ifdef AGENT_MBEDTLS
    agent_tls_config_close(net->tls);
    net->tls = NULL;
#endif
}
/* Fills HOST_MAX entries; then the engine may have more to say: host_wait comes after it.                              */
static void host_poll(host_net *net, agent_engine *e, struct pollfd *p)
{
    int i;
    for (i = 0; i < HOST_MAX; i++) {
        host_io *io = &net->io[i];
        int wants = io->conn ? agent_wants(e, io->conn) : 0;
#ifdef AGENT_MBEDTLS
        if (io->conn && io->tls && !io->connecting && !io->hello && !io->over) {
            host_tls_ready(e, io);
            wants = agent_tls_wants(io->tls);
        }
#endif
        if (io->hello) wants = io->hello_at < io->hello_n ? AGENT_WANT_WRITE : AGENT_WANT_READ;
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
    if (io->hello == NULL) (void)agent_opened(e, io->conn, AGENT_VIA_BYTES, NULL);
}
static int host_again(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }
/* What the proxy says to CONNECT: a head that is not looked beyond, since what follows is the tunnel's.                 */
static void host_tunnel(agent_engine *e, host_io *io)
{
    char word[80], *end = NULL;
    ssize_t got;
    if (io->hello_at < io->hello_n) {
        got = send(io->fd, io->hello + io->hello_at, io->hello_n - io->hello_at, MSG_NOSIGNAL);
        if (got > 0) io->hello_at += (size_t)got;
        return;
    }
    do {
        got = recv(io->fd, io->answer + io->answer_n, 1, 0);
        if (got > 0) io->answer_n++;
        if (io->answer_n >= 4 && memcmp(io->answer + io->answer_n - 4, "\r\n\r\n", 4) == 0) end = io->answer + io->answer_n;
    } while (got > 0 && end == NULL && io->answer_n < HOST_ANSWER - 1);
    if (end == NULL && got < 0 && host_again()) return;
    io->answer[io->answer_n] = 0;
    if (end && strncmp(io->answer, "HTTP/1.", 7) == 0 && io->answer[8] == ' ' && io->answer[9] == '2') {
        free(io->hello);
        io->hello = NULL;
        (void)agent_opened(e, io->conn, AGENT_VIA_BYTES, NULL);
        return;
    }
    sprintf(word, "the proxy refused: %.40s", io->answer_n > 9 && strncmp(io->answer, "HTTP/1.", 7) == 0 ? io->answer + 9 : "no HTTP answer");
    word[strcspn(word, "\r\n")] = 0;
    host_broken(e, io, AGENT_FAIL_REFUSED, word);
}
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
        if (io->hello) { host_tunnel(e, io); continue; }
#ifdef AGENT_MBEDTLS
        if (io->tls) { host_tls_ready(e, io); continue; }
#endif
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
