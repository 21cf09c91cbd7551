/* replay: what does the engine make of these bytes? A recorded answer in, one JSON object a line out.
 *
 *   replay --format F [--layer body|http] [--status N] [--header 'Name: value']... [--split N|random:SEED]
 *          [--eof clean|close|none] [--clock UNIX_MS] [FILE|-]
 *
 * F: a wire format as agent_decode knows it (openai-chat, ollama, ...), or sse, http, json. It uses the decode-only door and the codecs:
 * no session, no tools, no policy.
 * Exit 0 when the bytes were decoded, also to an error event; 2 on wrong usage. The output is the same for every --split. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "replay.h"

static int usage(const char *what, const char *word)
{
    fprintf(stderr, "replay: %s%s\n"
        "usage: replay --format WIRE|sse|http|json [--layer body|http] [--status N] [--header 'Name: value']...\n"
        "              [--split N|random:SEED] [--eof clean|close|none] [--clock UNIX_MS] [FILE|-]\n", what, word);
    return 2;
}
static int read_all(FILE *f, replay_text *t)
{
    size_t n;
    do {
        replay_room(t, 65536);
        n = fread(t->p + t->n, 1, 65536, f);
        t->n += n;
    } while (n);
    return !ferror(f);
}
/* Decimal digits, at most `most`. */
static int number(const char *text, uint64_t most, uint64_t *v)
{
    *v = 0;
    if (*text == 0) return 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || *v > (most - (uint64_t)(*text - '0')) / 10) return 0;
        *v = *v * 10 + (uint64_t)(*text - '0');
    }
    return 1;
}
static int split_of(replay *r, const char *text)
{
    uint64_t v;
    r->by_chance = strncmp(text, "random:", 7) == 0;
    if (!number(r->by_chance ? text + 7 : text, 0x7FFFFFFF, &v)) return 0;
    if (r->by_chance) r->chance = (uint32_t)v; else r->step = (size_t)v;
    return r->by_chance || v > 0;
}
static int header_of(replay_text *headers, const char *text)
{
    const char *colon = strchr(text, ':');
    if (colon == NULL || colon == text || strchr(text, '\n') || strchr(text, '\r')) return 0;
    replay_puts(headers, text);
    replay_puts(headers, "\n");
    return 1;
}
/* One option and its value. 0: it is wrong. */
static int option(replay *r, const char *name, const char *value, replay_text *headers)
{
    uint64_t v;
    if (strcmp(name, "--format") == 0) r->format = strcmp(value, "anthropic-messages") == 0 ? "anthropic" : value;
    else if (strcmp(name, "--layer") == 0) {
        r->http = strcmp(value, "http") == 0;
        return r->http || strcmp(value, "body") == 0;
    } else if (strcmp(name, "--status") == 0) {
        if (!number(value, 999, &v) || v < 200) return 0;
        r->status = (int)v;
    } else if (strcmp(name, "--header") == 0) return header_of(headers, value);
    else if (strcmp(name, "--split") == 0) return split_of(r, value);
    else if (strcmp(name, "--clock") == 0) return number(value, UINT64_MAX / 2, &r->clock);
    else if (strcmp(name, "--eof") == 0) {
        r->eof = strcmp(value, "close") == 0 ? REPLAY_CLOSE : strcmp(value, "none") == 0 ? REPLAY_NONE : REPLAY_CLEAN;
        return r->eof != REPLAY_CLEAN || strcmp(value, "clean") == 0;
    } else return 0;
    return 1;
}
int main(int argc, char **argv)
{
    static replay r;
    replay_text headers = { NULL, 0, 0 }, in = { NULL, 0, 0 };
    const char *file = NULL;
    FILE *f;
    int i, rc;
    for (i = 1; i < argc; i++) {
        if (argv[i][0] != '-' || argv[i][1] == 0) {
            if (file) return usage("more than one file: ", argv[i]);
            file = argv[i];
        } else if (i + 1 == argc) return usage("an option without its value, or unknown: ", argv[i]);
        else if (!option(&r, argv[i], argv[i + 1], &headers)) return usage("not understood: ", argv[i]);
        else i++;
    }
    if (r.format == NULL) return usage("--format is missing", "");
    switch (replay_format(r.format)) {
    case REPLAY_LATER: fprintf(stderr, "replay: format %s is not in this build\n", r.format); return 2;
    case REPLAY_UNKNOWN: return usage("unknown format ", r.format);
    default: break;
    }
    r.headers = headers.n ? headers.p : NULL;
    f = file == NULL || strcmp(file, "-") == 0 ? stdin : fopen(file, "rb");
    if (f == NULL || !read_all(f, &in)) { fprintf(stderr, "replay: cannot read %s\n", file ? file : "the standard input"); return 2; }
    if (f != stdin) fclose(f);
    rc = replay_run(&r, in.p, in.n);
    if (rc != AGENT_OK) { fprintf(stderr, "replay: %s\n", agent_code_text(rc)); return 2; }
    if (r.out.n) fwrite(r.out.p, 1, r.out.n, stdout);
    free(r.out.p);
    free(in.p);
    free(headers.p);
    return fflush(stdout) ? 2 : 0;
}
