/* build/run-transcripts FILE.md...: wire bytes and the exact events that they make, written as documentation. Each file holds pairs of
 * fenced blocks, ```bytes FORMAT [option...] and ```events; the form is told in tests/README.md. Every pair is run whole, byte by byte,
 * cut at every position, by both ways in, in a fixed block, with allocations refused, and, for a body, also as raw HTTP.
 * TEST_QUICK in the environment: fewer cuts. Prints `FAIL file:line why` and what came instead; ends with `run-transcripts: N passed, M failed`. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "ways.h"
#include "frames.h"

typedef struct transcript {
    const char *file;
    unsigned long line, at;                  /* the current line; where the bytes began                                 */
    ways w;
    replay_text headers, bytes, want;
    char format[40];
    int quick, have, crlf, escapes, no_newline, frames;
    unsigned long passed, failed;
} transcript;

static void bad(transcript *t, const char *why)
{
    t->failed++;
    printf("FAIL %s:%lu %s\n", t->file, t->at ? t->at : t->line, why);
}
static int value_of(const char *word, const char *key, const char **value)
{
    size_t n = strlen(key);
    if (strncmp(word, key, n) || word[n] != '=') return 0;
    *value = word + n + 1;
    return 1;
}
static int option(transcript *t, const char *word)
{
    const char *v;
    if (strcmp(word, "http") == 0) t->w.base.http = 1;
    else if (strcmp(word, "crlf") == 0) t->crlf = 1;
    else if (strcmp(word, "escapes") == 0) t->escapes = 1;
    else if (strcmp(word, "frames") == 0) t->frames = 1;
    else if (strcmp(word, "frames-of-bytes") == 0) t->frames = 2;
    else if (strcmp(word, "no-newline") == 0) t->no_newline = 1;
    else if (value_of(word, "status", &v)) t->w.base.status = atoi(v);
    else if (value_of(word, "clock", &v)) t->w.base.clock = (uint64_t)agent_json_int(replay_str(v), 0);
    else if (value_of(word, "piece", &v)) t->w.base.desc.limits.piece = (uint32_t)atoi(v);
    else if (value_of(word, "item", &v)) t->w.base.desc.limits.item = (uint32_t)atoi(v);
    else if (value_of(word, "eof", &v))
        t->w.base.eof = strcmp(v, "close") == 0 ? REPLAY_CLOSE : strcmp(v, "none") == 0 ? REPLAY_NONE : REPLAY_CLEAN;
    else if (value_of(word, "header", &v)) {             /* an underscore is a blank                                     */
        size_t i = t->headers.n;
        replay_puts(&t->headers, v);
        for (; i < t->headers.n; i++) if (t->headers.p[i] == '_') t->headers.p[i] = ' ';
        replay_puts(&t->headers, "\n");
    }
    else return 0;
    return 1;
}
/* ```bytes FORMAT option... */
static int begin_bytes(transcript *t, char *info)
{
    char *word = strtok(info, " ");
    if (t->have) bad(t, "these bytes have no events");
    memset(&t->w, 0, sizeof t->w);
    t->w.quick = t->quick;
    t->at = t->line;
    t->have = 1;
    t->crlf = t->escapes = t->no_newline = t->frames = 0;
    t->headers.n = t->bytes.n = t->want.n = 0;
    if (word == NULL || strlen(word) >= sizeof t->format) return 0;
    strcpy(t->format, word);
    while ((word = strtok(NULL, " ")) != NULL) if (!option(t, word)) return 0;
    return replay_format(t->format) == REPLAY_WIRE || replay_format(t->format) == REPLAY_CODEC;
}
static int hex(int c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }
/* \r \n \t \\ \xHH; a \ at the end joins the next line. 0: another escape. */
static int unescape(transcript *t, const char *p)
{
    for (; *p; p++) {
        char c = *p;
        if (c == '\\') {
            p++;
            if (*p == 0) return 2;
            if (*p == 'x') {
                int a = hex(p[1]), b = a < 0 ? -1 : hex(p[2]);
                if (b < 0) return 0;
                c = (char)(a * 16 + b);
                p += 2;
            } else if (*p == 'r') c = '\r';
            else if (*p == 'n') c = '\n';
            else if (*p == 't') c = '\t';
            else if (*p != '\\') return 0;
        }
        replay_put(&t->bytes, &c, 1);
    }
    return 1;
}
static void add_bytes(transcript *t, const char *line)
{
    int how = 1;
    if (t->escapes) how = unescape(t, line); else replay_puts(&t->bytes, line);
    if (how == 0) bad(t, "an unknown escape");
    if (how == 1) replay_puts(&t->bytes, t->crlf ? "\r\n" : "\n");
}
static void frame_bytes(transcript *t)        /* lines of frames.h                                                      */
{
    frames_buf b = { NULL, 0, 0 };
    frames_text(&b, t->bytes.p, t->bytes.n, t->frames == 2);
    t->bytes.n = 0;
    replay_put(&t->bytes, b.n ? b.p : "", b.n);
    free(b.p);
}
static void judge(transcript *t)
{
    ways *w = &t->w;
    if (t->frames) { t->no_newline = 0; frame_bytes(t); }
    if (t->no_newline) t->bytes.n -= t->bytes.n == 0 ? 0 : t->crlf ? 2 : 1;
    if (t->headers.n) w->base.headers = t->headers.p;
    w->base.format = t->format;
    replay_put(&t->bytes, "", 0);
    w->p = t->bytes.p;
    w->n = t->bytes.n;
    if (!ways_run(w) || (!w->base.http && replay_format(t->format) == REPLAY_WIRE && !ways_run_wrapped(w))) bad(t, w->why);
    else if (w->out.n != t->want.n || (w->out.n && memcmp(w->out.p, t->want.p, w->out.n))) {
        bad(t, "other events came:");
        if (w->out.n) fwrite(w->out.p, 1, w->out.n, stdout);
    } else t->passed++;
    free(w->out.p);
    t->have = 0;
    t->at = 0;
}
static int read_line(FILE *f, replay_text *line)
{
    int c;
    line->n = 0;
    replay_put(line, "", 0);
    while ((c = getc(f)) != EOF && c != '\n') {
        char byte = (char)c;
        replay_put(line, &byte, 1);
    }
    if (line->n && line->p[line->n - 1] == '\r') line->p[--line->n] = 0;
    return c != EOF || line->n;
}
static void run_file(transcript *t, const char *path)
{
    enum { PROSE, BYTES, EVENTS, OTHER } in = PROSE;
    replay_text line = { NULL, 0, 0 };
    FILE *f = fopen(path, "rb");
    unsigned long before = t->passed + t->failed;
    t->file = path;
    t->line = t->at = 0;
    t->have = 0;
    if (f == NULL) { bad(t, "cannot be opened"); return; }
    while (t->line++, read_line(f, &line)) {
        int fence = strncmp(line.p, "```", 3) == 0;
        if (in == PROSE && fence && strncmp(line.p, "```bytes ", 9) == 0) {
            in = BYTES;
            if (!begin_bytes(t, line.p + 9)) { bad(t, "an unknown format or option"); t->have = 0; in = OTHER; }
        } else if (in == PROSE && fence && strcmp(line.p, "```events") == 0) {
            in = EVENTS;
            if (!t->have) { bad(t, "events without bytes"); in = OTHER; }
        } else if (in == PROSE && fence) in = OTHER;
        else if (in != PROSE && strcmp(line.p, "```") == 0) {
            if (in == EVENTS) judge(t);
            in = PROSE;
        } else if (in == BYTES) add_bytes(t, line.p);
        else if (in == EVENTS) { replay_puts(&t->want, line.p); replay_puts(&t->want, "\n"); }
    }
    if (in != PROSE || t->have) bad(t, "the file ends inside of a pair");
    if (t->passed + t->failed == before) bad(t, "there are no transcripts in it");
    fclose(f);
    free(line.p);
}
int main(int argc, char **argv)
{
    static transcript t;
    int i;
    if (argc < 2) { fputs("usage: run-transcripts FILE.md...\n", stderr); return 2; }
    t.quick = getenv("TEST_QUICK") != NULL;
    for (i = 1; i < argc; i++) run_file(&t, argv[i]);
    free(t.headers.p);
    free(t.bytes.p);
    free(t.want.p);
    printf("run-transcripts: %lu passed, %lu failed\n", t.passed, t.failed);
    return t.failed != 0;
}
