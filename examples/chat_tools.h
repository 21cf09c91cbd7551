/* The tools of a terminal agent: one table of names, schemas and functions. A function gets the call's arguments and puts into io->out what
 * the model is to see; it returns 0, or 1 when that is an error. No path leads out of the working directory, links followed.
 * Include agent.h, host_posix.h and vocabulary.h first; _XOPEN_SOURCE is 700. */
#ifndef CHAT_TOOLS_H
#define CHAT_TOOLS_H
#include <dirent.h>
#include <limits.h>
#include <regex.h>
#include <sys/stat.h>

enum {
    TOOL_OUTPUT = 64 << 10,                   /* bytes of one result                                                    */
    TOOL_FILE = 16 << 20,                     /* bytes of a file that is read                                           */
    TOOL_TEXT = 4 << 20,                      /* bytes of one argument                                                  */
    TOOL_LINES = 2000, TOOL_ENTRIES = 1000, TOOL_MATCHES = 200, TOOL_FILES = 20000, TOOL_SECONDS = 20,
    TOOL_PREVIEW = 16, TOOL_WIDTH = 240       /* lines of each side of a change that are shown, and bytes of a line     */
};
typedef struct tool_io {
    int preview;                              /* 1: only say in `out`, to the user, what would change                   */
    replay_text out;
} tool_io;
enum tool_place { TOOL_HERE, TOOL_APART, TOOL_SHELL };       /* apart: in a child process, since it can take long       */
typedef struct chat_tool {
    const char *name, *description, *schema;
    const char *shown[2];                     /* the arguments that tell a person what it does                          */
    int asks;                                 /* the user first                                                         */
    enum tool_place place;
    int (*function)(agent_str args, tool_io *io);
} chat_tool;

/* ---- results ---- */
static int tool_fail(tool_io *io, const char *why)
{
    io->out.n = 0;
    replay_puts(&io->out, why);
    return 1;
}
static int tool_fail_at(tool_io *io, const char *what, const char *why)
{
    io->out.n = 0;
    replay_puts(&io->out, what);
    replay_puts(&io->out, why);
    return 1;
}
static void tool_count(replay_text *t, const char *before, size_t n, const char *after)
{
    replay_puts(t, before);
    replay_int(t, (int64_t)n);
    replay_puts(t, after);
}
static void tool_lines_word(replay_text *t, size_t n) { tool_count(t, "", n, n == 1 ? " line" : " lines"); }

/* ---- arguments ---- */
/* A string of the arguments, allocated; NULL: the reason is in io. `otherwise`: what an absent one is, or NULL.        */
static char *tool_string(agent_str args, const char *name, const char *otherwise, tool_io *io)
{
    agent_str v = agent_json_get(args, name);
    size_t n;
    char *text;
    if (v.p == NULL && otherwise) {
        text = (char *)malloc(strlen(otherwise) + 1);
        if (text) strcpy(text, otherwise);
        else (void)tool_fail(io, "out of memory");
        return text;
    }
    if (v.p == NULL || v.p[0] != '"') { (void)tool_fail_at(io, name, " has to be a string"); return NULL; }
    n = agent_json_text(v, NULL, 0);
    text = n > TOOL_TEXT ? NULL : (char *)malloc(n + 1);
    if (text == NULL) { (void)tool_fail_at(io, name, " is too long"); return NULL; }
    agent_json_text(v, text, n + 1);
    if (strlen(text) == n) return text;
    free(text);
    (void)tool_fail_at(io, name, " must not hold a NUL");
    return NULL;
}
static char *tool_filled(agent_str args, const char *name, tool_io *io)      /* one that is not empty                   */
{
    char *text = tool_string(args, name, NULL, io);
    if (text == NULL || *text) return text;
    free(text);
    (void)tool_fail_at(io, name, " must not be empty");
    return NULL;
}
static int tool_number(agent_str args, const char *name, size_t *n, tool_io *io)             /* 1: good, or absent      */
{
    agent_str v = agent_json_get(args, name);
    int64_t i = v.p ? agent_json_int(v, 0) : 1;
    if (i < 1 || i > INT_MAX) { (void)tool_fail_at(io, name, " has to be a whole number from 1"); return 0; }
    if (v.p) *n = (size_t)i;
    return 1;
}
/* What a person wants to know of a call, on one line if the arguments are.                                             */
static void chat_tool_title(const chat_tool *t, agent_str args, replay_text *title)
{
    int i;
    for (i = 0; i < 2 && t->shown[i]; i++) {
        agent_str v = agent_json_get(args, t->shown[i]);
        size_t n = v.p ? agent_json_text(v, NULL, 0) : 0;
        if (n == 0) continue;
        if (title->n) replay_puts(title, " in ");
        replay_room(title, n + 1);
        agent_json_text(v, title->p + title->n, n + 1);
        title->n += n;
    }
}

/* ---- paths and files ---- */
static int tool_is_below(const char *there)   /* the working directory; `there` is free of links                        */
{
    char *here = realpath(".", NULL);
    size_t n = here ? strlen(here) : 0;
    int good = here && (n == 1 || (strncmp(here, there, n) == 0 && (there[n] == '/' || there[n] == 0)));
    free(here);
    return good;
}
/* The path without links, allocated; NULL: it is not there or not below, the reason is in io.                          */
static char *tool_path(const char *path, tool_io *io)
{
    char *there = realpath(path, NULL);
    if (there == NULL) { (void)tool_fail(io, strerror(errno)); return NULL; }
    if (tool_is_below(there)) return there;
    free(there);
    (void)tool_fail(io, "only files below the working directory can be used");
    return NULL;
}
/* As tool_path, for what may not be there yet: the part that is there has to be below, and the rest must not climb.     */
static char *tool_new_path(const char *path, tool_io *io)
{
    size_t n = strlen(path) + 2, k = n;
    char *all = (char *)malloc(2 * n + 2), *head = all + n + 1, *there, *whole;
    struct stat st;
    if (all == NULL) abort();
    sprintf(all, "%s%s", path[0] == '/' ? "" : "./", path);
    k = n = strlen(all);
    memcpy(head, all, n + 1);
    while (lstat(head, &st) != 0 && errno == ENOENT && k > 1) {             /* a link to nowhere is there, and realpath refuses it */
        while (k && head[k - 1] != '/') k--;
        if (strcmp(head + k, "..") == 0) break;
        while (k > 1 && head[k - 1] == '/') k--;
        head[k] = 0;
    }
    there = all[n - 1] == '/' ? NULL : tool_path(head, io);
    if (all[n - 1] == '/') (void)tool_fail(io, "path has to name a file");
    whole = there ? (char *)malloc(strlen(there) + n - k + 2) : NULL;
    while (k < n && all[k] == '/') k++;
    if (whole) sprintf(whole, k < n ? "%s/%s" : "%s%s", there, all + k);
    free(there);
    free(all);
    return whole;
}
/* A whole text file. 0: the reason is in io.                                                                           */
static int tool_load(const char *path, replay_text *t, tool_io *io)
{
    struct stat st;
    ssize_t n = 1;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), err;
    if (fd < 0 || fstat(fd, &st) != 0) {
        err = errno;
        if (fd >= 0) close(fd);
        (void)tool_fail(io, strerror(err));
        return 0;
    }
    err = S_ISREG(st.st_mode) ? 0 : S_ISDIR(st.st_mode) ? -1 : -2;
    while (err == 0 && n > 0) {
        replay_room(t, 16384);
        n = read(fd, t->p + t->n, 16384);
        if (n < 0) err = errno;
        else if (memchr(t->p + t->n, 0, (size_t)n)) err = -3;
        else if ((t->n += (size_t)n) > TOOL_FILE) err = -4;
    }
    close(fd);
    if (err == 0) { t->p[t->n] = 0; return 1; }
    (void)tool_fail(io, err > 0 ? strerror(err) : err == -1 ? "this is a directory" : err == -2 ? "this is no file"
        : err == -3 ? "this is no text file" : "this file is too big, use a command");
    return 0;
}
static int tool_make_folders(const char *path)
{
    char *p = (char *)malloc(strlen(path) + 1), *slash;
    int good = p != NULL;
    if (p == NULL) return 0;
    strcpy(p, path);
    for (slash = strchr(p + 1, '/'); good && slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        good = mkdir(p, 0777) == 0 || errno == EEXIST;
        *slash = '/';
    }
    free(p);
    return good;
}
static int tool_write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return 0;
        p += k;
        n -= (size_t)k;
    }
    return 1;
}
/* The file is the old one or the new one, never half of it. 0: the reason is in io.                                    */
static int tool_save(const char *path, const char *p, size_t n, tool_io *io)
{
    struct stat st;
    mode_t mask = umask(0);
    char *beside = (char *)malloc(strlen(path) + 16);
    int fd = -1, good = 0, err;
    (void)umask(mask);
    errno = ENOMEM;
    if (beside && tool_make_folders(path)) {
        sprintf(beside, "%s.new-XXXXXX", path);
        fd = mkstemp(beside);
    }
    if (fd >= 0) {
        mode_t mode = stat(path, &st) == 0 ? st.st_mode & 07777 : (mode_t)(0666 & ~mask);
        good = tool_write_all(fd, p, n) && fchmod(fd, mode) == 0;
        good = close(fd) == 0 && good;
        good = good && rename(beside, path) == 0;
    }
    err = errno;
    if (fd >= 0 && !good) unlink(beside);
    free(beside);
    if (!good) (void)tool_fail(io, strerror(err));
    return good;
}

/* ---- what changes ---- */
static size_t tool_lines(const char *p, size_t n)            /* one without its end counts too                          */
{
    size_t i, lines = 0;
    for (i = 0; i < n; i++) lines += p[i] == '\n' || i + 1 == n;
    return lines;
}
static void tool_side(replay_text *out, const char *sign, const char *p, size_t n)
{
    size_t i = 0, shown = 0;
    while (i < n && shown++ < TOOL_PREVIEW) {
        const char *end = (const char *)memchr(p + i, '\n', n - i);
        size_t k = end ? (size_t)(end - (p + i)) : n - i;
        replay_puts(out, sign);
        replay_put(out, p + i, k < TOOL_WIDTH ? k : TOOL_WIDTH);
        replay_puts(out, k > TOOL_WIDTH ? " ...\n" : "\n");
        if (end == NULL) replay_puts(out, "\\ no line end\n");
        i += end ? k + 1 : k;
    }
    if (i < n) {
        replay_puts(out, sign);
        replay_puts(out, "... ");
        tool_lines_word(out, tool_lines(p + i, n - i));
        replay_puts(out, " more\n");
    }
}
/* The lines that differ, as one piece. At the end of `out`: for preview, lines; else only how many.                     */
static void tool_change(tool_io *io, const char *was, size_t wn, const char *is, size_t in)
{
    size_t a = 0, i = wn, j = in, line, gone, come;
    while (a < wn && a < in && was[a] == is[a]) a++;
    if (a < wn || a < in) while (a && was[a - 1] != '\n') a--;
    while (i > a && j > a && was[i - 1] == is[j - 1]) { i--; j--; }
    while (i < wn && !((i == a || was[i - 1] == '\n') && (j == a || is[j - 1] == '\n'))) { i++; j++; }
    if (i == a && j == a) { replay_puts(&io->out, io->preview ? "nothing changes\n" : "as it was"); return; }
    line = tool_lines(was, a) + 1;
    gone = tool_lines(was + a, i - a);
    come = tool_lines(is + a, j - a);
    if (io->preview) {
        tool_count(&io->out, "@@ -", line, ",");
        tool_count(&io->out, "", gone, " +");
        tool_count(&io->out, "", line, ",");
        tool_count(&io->out, "", come, " @@\n");
        tool_side(&io->out, "-", was + a, i - a);
        tool_side(&io->out, "+", is + a, j - a);
        return;
    }
    tool_count(&io->out, "at line ", line, ": ");
    tool_lines_word(&io->out, gone);
    replay_puts(&io->out, " out, ");
    tool_lines_word(&io->out, come);
    replay_puts(&io->out, " in");
}

/* ---- list, read_file ---- */
static int tool_entries(const char *path, struct dirent ***all, tool_io *io)
{
    int n = scandir(path, all, NULL, alphasort);
    if (n < 0) (void)tool_fail(io, strerror(errno));
    return n;
}
static int tool_no_entry(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }
static char *tool_join(const char *folder, const char *name)
{
    char *p = (char *)malloc(strlen(folder) + strlen(name) + 2);
    if (p == NULL) abort();
    if (strcmp(folder, ".") == 0) strcpy(p, name);
    else sprintf(p, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    return p;
}
static void tool_entry(tool_io *io, const char *folder, const char *name)
{
    char *path = tool_join(folder, name);
    struct stat st;
    int there = lstat(path, &st) == 0;
    replay_puts(&io->out, name);
    if (there && S_ISDIR(st.st_mode)) replay_puts(&io->out, "/");
    else if (there && S_ISLNK(st.st_mode)) replay_puts(&io->out, " (link)");
    else if (there && S_ISREG(st.st_mode)) tool_count(&io->out, " (", (size_t)st.st_size, ")");
    replay_puts(&io->out, "\n");
    free(path);
}
static int tool_list(agent_str args, tool_io *io)
{
    char *path = tool_string(args, "path", ".", io), *there = path ? tool_path(path, io) : NULL;
    struct dirent **all = NULL;
    int i, n = there ? tool_entries(there, &all, io) : -1, shown = 0, more = 0;
    for (i = 0; i < n; i++) {
        if (!tool_no_entry(all[i]->d_name)) {
            if (shown < TOOL_ENTRIES && io->out.n < TOOL_OUTPUT) { tool_entry(io, there, all[i]->d_name); shown++; }
            else more++;
        }
        free(all[i]);
    }
    free(all);
    free(path);
    free(there);
    if (n < 0) return 1;
    if (more) tool_count(&io->out, "[", (size_t)more, " more entries are not shown]\n");
    if (io->out.n == 0) replay_puts(&io->out, "[nothing is in this directory]");
    return 0;
}
static size_t tool_line_at(const char *p, size_t n, size_t i, size_t lines)  /* where the line behind `lines` more begins */
{
    while (lines && i < n) lines -= p[i++] == '\n';
    return i;
}
static int tool_show_lines(const replay_text *t, size_t first, size_t limit, tool_io *io)
{
    size_t from = tool_line_at(t->p, t->n, 0, first - 1), to = tool_line_at(t->p, t->n, from, limit);
    if (from == t->n && first > 1) {
        io->out.n = 0;
        replay_puts(&io->out, "the file has only ");
        tool_lines_word(&io->out, tool_lines(t->p, t->n));
        return 1;
    }
    if (to - from > TOOL_OUTPUT) {
        to = from + TOOL_OUTPUT;
        while (to > from && t->p[to - 1] != '\n') to--;
        if (to == from) to = from + TOOL_OUTPUT;              /* a single line that long                                */
    }
    replay_put(&io->out, t->p + from, to - from);
    if (to == t->n) return 0;
    if (to > from && t->p[to - 1] != '\n') replay_puts(&io->out, "\n");
    tool_count(&io->out, "[", t->n - to, " bytes more; the next line is offset ");
    tool_count(&io->out, "", first + tool_lines(t->p + from, to - from), "]");
    return 0;
}
static int tool_read(agent_str args, tool_io *io)
{
    char *path = tool_string(args, "path", NULL, io), *there = path ? tool_path(path, io) : NULL;
    replay_text t = {NULL, 0, 0};
    size_t first = 1, limit = TOOL_LINES;
    int bad = there == NULL || !tool_number(args, "offset", &first, io) || !tool_number(args, "limit", &limit, io)
        || !tool_load(there, &t, io) || tool_show_lines(&t, first, limit, io);
    free(path);
    free(there);
    free(t.p);
    return bad;
}

/* ---- search ---- */
typedef struct tool_finder {
    const char *plain;
    int has_regex, over;                      /* over: a bound was met                                                  */
    regex_t regex;
    size_t files, matches;
    char **todo;                              /* files and directories, the next one last                               */
    size_t todo_n, todo_cap;
    tool_io *io;
} tool_finder;
/* {1000}{1000} and the like would fill the memory.                                                                     */
static int tool_regex_is_small(const char *p)
{
    unsigned long product = 1, n = 0, most = 0;
    int inside = 0;
    for (; *p; p++) {
        if (*p == '{') { inside = 1; n = most = 0; continue; }
        if (!inside) continue;
        n = *p >= '0' && *p <= '9' && n < 10000 ? n * 10 + (unsigned long)(*p - '0') : n < 10000 ? 0 : n;
        if (n > most) most = n;
        if (*p != '}') continue;
        inside = 0;
        if (most) product *= most;
        if (product > 1000) return 0;
    }
    return 1;
}
static void tool_later(tool_finder *f, char *path)
{
    if (f->todo_n == f->todo_cap) {
        f->todo_cap = f->todo_cap ? f->todo_cap * 2 : 64;
        f->todo = (char **)realloc(f->todo, f->todo_cap * sizeof *f->todo);
        if (f->todo == NULL) abort();
    }
    f->todo[f->todo_n++] = path;
}
static void tool_match(tool_finder *f, const char *path, size_t line, const char *text)
{
    replay_text *out = &f->io->out;
    size_t n = strlen(text);
    if (++f->matches > TOOL_MATCHES || out->n > TOOL_OUTPUT) return;
    replay_puts(out, path);
    tool_count(out, ":", line, ": ");
    replay_put(out, text, n < TOOL_WIDTH ? n : TOOL_WIDTH);
    replay_puts(out, n > TOOL_WIDTH ? " ...\n" : "\n");
}
static void tool_search_file(tool_finder *f, const char *path)
{
    tool_io ignored = {0, {NULL, 0, 0}};
    replay_text t = {NULL, 0, 0};
    size_t i = 0, line = 0;
    if (tool_load(path, &t, &ignored)) while (i < t.n) {
        char *end = (char *)memchr(t.p + i, '\n', t.n - i);
        if (end) *end = 0;
        line++;
        if (strstr(t.p + i, f->plain) || (f->has_regex && regexec(&f->regex, t.p + i, 0, NULL, 0) == 0)) tool_match(f, path, line, t.p + i);
        i = end ? (size_t)(end - t.p) + 1 : t.n;
    }
    free(t.p);
    free(ignored.out.p);
}
static void tool_search_next(tool_finder *f)
{
    char *path = f->todo[--f->todo_n];
    struct dirent **all = NULL;
    struct stat st;
    int good = lstat(path, &st) == 0, n = 0;
    if (good && S_ISREG(st.st_mode)) { f->files++; tool_search_file(f, path); }
    if (good && S_ISDIR(st.st_mode)) n = scandir(path, &all, NULL, alphasort);
    while (n-- > 0) {                         /* in order, as the last one is taken first                               */
        if (!tool_no_entry(all[n]->d_name) && strcmp(all[n]->d_name, ".git") != 0) tool_later(f, tool_join(path, all[n]->d_name));
        free(all[n]);
    }
    free(all);
    free(path);
}
static int tool_search_below(tool_finder *f)
{
    alarm(TOOL_SECONDS);                      /* ends this process, which is a child                                    */
    while (f->todo_n && f->files < TOOL_FILES) tool_search_next(f);
    if (f->matches == 0) replay_puts(&f->io->out, "no line matches\n");
    if (f->matches > TOOL_MATCHES) tool_count(&f->io->out, "[only the first of ", f->matches, " lines are shown]\n");
    if (f->todo_n) tool_count(&f->io->out, "[only the first ", f->files, " files were searched]\n");
    while (f->todo_n) free(f->todo[--f->todo_n]);
    free(f->todo);
    return 0;
}
static int tool_search(agent_str args, tool_io *io)
{
    char *pattern = tool_filled(args, "pattern", io), *path = pattern ? tool_string(args, "path", ".", io) : NULL;
    char *there = path ? tool_path(path, io) : NULL;
    tool_finder f;
    int bad = there == NULL;
    memset(&f, 0, sizeof f);
    f.plain = pattern;
    f.io = io;
    if (!bad && strpbrk(pattern, ".[]()*+?{}|^$\\") && strlen(pattern) <= 1000 && tool_regex_is_small(pattern))
        f.has_regex = regcomp(&f.regex, pattern, REG_EXTENDED | REG_NOSUB) == 0;
    if (!bad) {
        char *here = realpath(".", NULL);     /* below, links followed; shown as seen from the working directory        */
        size_t n = here ? strlen(here) : 0;
        tool_later(&f, tool_join(".", there[n] == 0 || n == 0 ? "." : there + n + (n > 1)));
        free(here);
        bad = tool_search_below(&f);
    }
    if (f.has_regex) regfree(&f.regex);
    free(pattern);
    free(path);
    free(there);
    return bad;
}

/* ---- write, edit, run ---- */
static int tool_replace(const char *there, const char *was, size_t wn, const char *is, size_t in, tool_io *io)
{
    if (!io->preview && !tool_save(there, is, in, io)) return 1;
    tool_change(io, was, wn, is, in);
    return 0;
}
static int tool_create(const char *there, const char *content, tool_io *io)
{
    size_t n = strlen(content);
    if (!io->preview && !tool_save(there, content, n, io)) return 1;
    replay_puts(&io->out, io->preview ? "a new file, " : "created, ");
    tool_lines_word(&io->out, tool_lines(content, n));
    if (io->preview) replay_puts(&io->out, "\n");
    if (io->preview) tool_side(&io->out, "+", content, n);
    return 0;
}
static int tool_write_to(const char *there, const char *content, tool_io *io)
{
    replay_text was = {NULL, 0, 0};
    struct stat st;
    int bad;
    if (stat(there, &st) != 0) return tool_create(there, content, io);
    if (!S_ISREG(st.st_mode)) return tool_fail(io, S_ISDIR(st.st_mode) ? "this is a directory" : "this is no file");
    if (!tool_load(there, &was, io)) was.n = 0;               /* no text: it may be written over all the same           */
    io->out.n = 0;
    replay_puts(&io->out, io->preview ? "" : "written ");
    bad = tool_replace(there, was.n ? was.p : "", was.n, content, strlen(content), io);
    free(was.p);
    return bad;
}
static int tool_write(agent_str args, tool_io *io)
{
    char *path = tool_filled(args, "path", io), *content = path ? tool_string(args, "content", NULL, io) : NULL;
    char *there = content ? tool_new_path(path, io) : NULL;
    int bad = there == NULL || tool_write_to(there, content, io);
    free(path);
    free(content);
    free(there);
    return bad;
}
/* The only place of `old`, or NULL and the reason.                                                                     */
static const char *tool_place_of(const replay_text *t, const char *old, tool_io *io)
{
    const char *first = t->n ? strstr(t->p, old) : NULL, *p;
    int n;
    if (first == NULL) {
        (void)tool_fail(io, "old is not in the file; it has to be there exactly, with all blanks and line ends");
        return NULL;
    }
    if (strstr(first + 1, old) == NULL) return first;
    (void)tool_fail(io, "old is in the file more than once, so add text around it; it begins in lines");
    for (n = 0, p = first; p && n < 5; n++, p = strstr(p + 1, old))
        tool_count(&io->out, n ? ", " : " ", tool_lines(t->p, (size_t)(p - t->p) + 1), "");
    if (p) replay_puts(&io->out, " and more");
    return NULL;
}
static int tool_edit_text(const char *there, const replay_text *t, const char *old, const char *is, tool_io *io)
{
    const char *p = tool_place_of(t, old, io);
    replay_text all = {NULL, 0, 0};
    int bad;
    if (p == NULL) return 1;
    if (strcmp(old, is) == 0) return tool_fail(io, "old and new are the same");
    replay_put(&all, t->p, (size_t)(p - t->p));
    replay_puts(&all, is);
    replay_puts(&all, p + strlen(old));
    io->out.n = 0;
    replay_puts(&io->out, io->preview ? "" : "edited ");
    bad = tool_replace(there, t->p, t->n, all.p, all.n, io);
    free(all.p);
    return bad;
}
static int tool_edit(agent_str args, tool_io *io)
{
    char *path = tool_filled(args, "path", io), *old = path ? tool_filled(args, "old", io) : NULL;
    char *is = old ? tool_string(args, "new", NULL, io) : NULL, *there = is ? tool_path(path, io) : NULL;
    replay_text t = {NULL, 0, 0};
    int bad = there == NULL || !tool_load(there, &t, io) || tool_edit_text(there, &t, old, is, io);
    free(path);
    free(old);
    free(is);
    free(there);
    free(t.p);
    return bad;
}
static int tool_run(agent_str args, tool_io *io)
{
    char *command = tool_filled(args, "command", io);
    if (command && !io->preview) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        (void)tool_fail(io, strerror(errno));
        free(command);
        return 127;
    }
    free(command);
    return command == NULL;
}

/* ---- the table ---- */
#define TOOL_STRING(name) "\"" name "\":{\"type\":\"string\"}"
#define TOOL_NUMBER(name) "\"" name "\":{\"type\":\"integer\",\"minimum\":1}"
#define TOOL_OBJECT(properties, required) "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "]}"
static const chat_tool chat_tools[] = {
    {"list", "Lists a directory below the working directory: directories end in a slash, files have their size in bytes.",
     TOOL_OBJECT(TOOL_STRING("path"), ""), {"path", NULL}, 0, TOOL_HERE, tool_list},
    {"read_file", "Reads a text file below the working directory. offset: the first line, from 1; limit: how many lines.",
     TOOL_OBJECT(TOOL_STRING("path") "," TOOL_NUMBER("offset") "," TOOL_NUMBER("limit"), "\"path\""),
     {"path", NULL}, 0, TOOL_HERE, tool_read},
    {"search", "Finds the lines of text files that hold the pattern as it is or match it as a POSIX extended regular expression. "
     "path: a file or directory, else the working directory.",
     TOOL_OBJECT(TOOL_STRING("pattern") "," TOOL_STRING("path"), "\"pattern\""), {"pattern", "path"}, 0, TOOL_APART, tool_search},
    {"write", "Writes a whole file below the working directory, after the user agreed. "
     "Creates it and its directories where they are missing.",
     TOOL_OBJECT(TOOL_STRING("path") "," TOOL_STRING("content"), "\"path\",\"content\""),
     {"path", NULL}, 1, TOOL_HERE, tool_write},
    {"edit", "Replaces old by new in a text file, after the user agreed. "
     "old has to be in the file exactly once, with its blanks and line ends.",
     TOOL_OBJECT(TOOL_STRING("path") "," TOOL_STRING("old") "," TOOL_STRING("new"), "\"path\",\"old\",\"new\""),
     {"path", NULL}, 1, TOOL_HERE, tool_edit},
    {"run", "Runs a shell command in the working directory, after the user agreed. Gives what it writes to stdout and stderr.",
     TOOL_OBJECT(TOOL_STRING("command"), "\"command\""), {"command", NULL}, 1, TOOL_SHELL, tool_run}
};
enum { CHAT_TOOLS = sizeof chat_tools / sizeof *chat_tools };
static const chat_tool *chat_tool_find(agent_str name)
{
    size_t i;
    for (i = 0; i < CHAT_TOOLS; i++)
        if (strlen(chat_tools[i].name) == name.n && memcmp(chat_tools[i].name, name.p, name.n) == 0) return &chat_tools[i];
    return NULL;
}
#endif
