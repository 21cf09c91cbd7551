/* rerun FILE: makes the calls of a flight record (agent_desc.record; `chat --record FILE`) again, without a network and at full speed, and
 * says whether the engine does what it did then. Exit 0: it does; 1: the first difference is named; 2: FILE is no flight record. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "rerun.h"

static char *read_all(FILE *f, size_t *n)
{
    char *p = NULL, *q;
    size_t cap = 0, k;
    *n = 0;
    do {
        if (*n == cap) {
            cap = cap ? cap * 2 : 65536;
            if ((q = (char *)realloc(p, cap)) == NULL) { free(p); return NULL; }
            p = q;
        }
        k = fread(p + *n, 1, cap - *n, f);
        *n += k;
    } while (k > 0);
    return p;
}
static void show(const char *what, const char *p, size_t n)
{
    size_t most = 1000;
    if (n == 0) p = "nothing", n = 7;
    printf("%s: %.*s%s\n", what, (int)(n < most ? n : most), p, n > most ? " ..." : "");
}
int main(int argc, char **argv)
{
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
    rerun r;
    size_t n;
    char *p;
    if (argc != 2) { fprintf(stderr, "usage: rerun FILE\n"); return 2; }
    if (f == NULL) { perror(argv[1]); return 2; }
    p = read_all(f, &n);
    fclose(f);
    if (p == NULL) { fprintf(stderr, "rerun: out of memory\n"); return 2; }
    rerun_text(&r, p, n);
    if (r.version[0]) printf("recorded by version %s, made again by " AGENT_VERSION "\n", r.version);
    if (r.result == RERUN_SAME) printf("the same: %lu calls, %lu events\n", (unsigned long)r.calls, (unsigned long)r.events);
    if (r.result == RERUN_SAME && r.torn) printf("the last line has no end: %lu bytes left out\n", (unsigned long)r.torn);
    if (r.result == RERUN_UNREADABLE) printf("%s:%lu: %s\n", argv[1], (unsigned long)r.line, r.why);
    if (r.result == RERUN_DIFFERS) {
        printf("%s:%lu: the first difference, after %lu calls and %lu events\n", argv[1], (unsigned long)r.line, (unsigned long)r.calls,
               (unsigned long)r.events);
        show("expected", r.expected, r.expected_n);
        show("got", r.got, r.got_n);
    }
    rerun_free(&r);
    free(p);
    return r.result;
}
