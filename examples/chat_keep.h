/* A session in a file: saved whole, and appended to as it goes on. What is in the file is a saved session after each append, so a program that
 * is killed at any moment loses at most what came since the last one. Include agent.h, host_posix.h and vocabulary.h first. */
#ifndef CHAT_KEEP_H
#define CHAT_KEEP_H
#include <sys/stat.h>

typedef struct keep {
    const char *path;
    int fd;                                   /* of the file that is appended to; -1: none                              */
    agent_mark mark;                          /* up to where the session is in it                                       */
    int failed;                               /* the last append; it is said once                                       */
} keep;

static int keep_write(int fd, const char *p, size_t n)       /* 0: errno says why                                       */
{
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return 0;
        p += k;
        n -= (size_t)k;
    }
    return 1;
}
/* What is new since the mark; the mark moves only if all of it is in the file, which else is as it was. 0: errno says why.  */
static int keep_append(agent_engine *e, agent_id session, int fd, agent_mark *mark)
{
    char buf[16384];
    agent_mark at = *mark;
    off_t end = lseek(fd, 0, SEEK_END);
    size_t n;
    int rc = AGENT_MORE, err;
    while (rc == AGENT_MORE) {
        rc = agent_save(e, session, &at, buf, sizeof buf, &n);
        if (rc < 0) { errno = EINVAL; return 0; }
        if (keep_write(fd, buf, n)) continue;
        err = errno;
        if (ftruncate(fd, end) != 0) err = errno;
        errno = err;
        return 0;
    }
    *mark = at;
    return 1;
}
/* One program at a time: two that appended to one file would spoil it. The lock goes when the program does, however it ends. */
static int keep_lock(int fd)
{
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return fcntl(fd, F_SETLK, &lock) == 0;
}
/* The whole session in a new file that takes the place of the old one in one step: at each moment there is one of the two. Returns it open,
 * locked, or -1: errno says why. */
static int keep_whole(agent_engine *e, agent_id session, const char *path, agent_mark *mark)
{
    size_t n = strlen(path);
    char *fresh = (char *)malloc(n + 5);
    int fd, err;
    if (fresh == NULL) { errno = ENOMEM; return -1; }
    memcpy(fresh, path, n);
    memcpy(fresh + n, ".tmp", 5);
    memset(mark, 0, sizeof *mark);
    fd = open(fresh, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0 && keep_lock(fd) && ftruncate(fd, 0) == 0 && keep_append(e, session, fd, mark) && fsync(fd) == 0 && rename(fresh, path) == 0) {
        free(fresh);
        return fd;
    }
    err = errno;
    if (fd >= 0) close(fd);
    free(fresh);
    errno = err;
    return -1;
}
/* Loads a file into a session that was just opened. NULL, or why not. */
static const char *keep_load(agent_engine *e, agent_id session, int fd)
{
    static char why[256];                     /* of this program, not of the engine                                     */
    char buf[16384];
    ssize_t n;
    int rc = AGENT_OK;
    while (rc == AGENT_OK && (n = read(fd, buf, sizeof buf)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return strerror(errno);
        rc = agent_load(e, session, buf, (size_t)n);
    }
    if (rc == AGENT_OK) rc = agent_load(e, session, NULL, 0);
    if (rc == AGENT_OK) return NULL;
    why[0] = 0;
    strncat(why, agent_last(e), sizeof why - 1);
    return why;
}
/* The file that holds the session from now on: loaded if it is there and not empty, and then written anew. NULL, or why not: the file is as it
 * was. *loaded: there was something in it. */
static const char *keep_start(keep *k, agent_engine *e, agent_id session, const char *path, int *loaded)
{
    struct stat st, named;
    const char *why = NULL;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    *loaded = 0;
    if (fd < 0) return strerror(errno);
    if (!keep_lock(fd) || fstat(fd, &st) != 0 || stat(path, &named) != 0 || st.st_ino != named.st_ino) why = "another program has it";
    else if (!S_ISREG(st.st_mode)) why = "it is no file";
    else if (st.st_size) why = keep_load(e, session, fd);
    *loaded = why == NULL && st.st_size;
    if (why == NULL) {
        k->path = path;
        k->fd = keep_whole(e, session, path, &k->mark);
        if (k->fd < 0) why = errno == EACCES || errno == EAGAIN ? "another program has it" : strerror(errno);
    }
    close(fd);                                /* the old file's, behind which the new one stands locked                 */
    return why;
}
/* NULL, or why it is not in the file; said once. What is missing comes with the next append that works.                */
static const char *keep_more(keep *k, agent_engine *e, agent_id session)
{
    int was = k->failed;
    if (k->fd < 0) return NULL;
    k->failed = !keep_append(e, session, k->fd, &k->mark);
    return k->failed && !was ? strerror(errno) : NULL;
}
static void keep_end(keep *k)
{
    if (k->fd >= 0) close(k->fd);
    k->fd = -1;
}
#endif
