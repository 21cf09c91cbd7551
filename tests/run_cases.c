/* build/run-cases FILE...: runs case files through the public functions. A case is one fault that somebody met: bytes and the events
 * they must make, a script of a conversation, or files that must compile. Prints `PASS id`, `FAIL id why` or `SKIP id why` a case and
 * ends with `N passed, M failed`; exit 1 if any failed. RUN_CASES_QUICK=1 takes fewer cuts. The format of cases: tests/README.md. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "match.h"
#include "ways.h"
#include "script.h"
#include <locale.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Formats that this build does not have yet: their cases are skipped, no others. */
static const char *const skipped_formats[] = { "bedrock-converse",
    "bedrock-invoke", "acp-client", "acp-agent", "mcp-client" };
enum verdict { FAIL, PASS, SKIP };
typedef struct one_case {
    agent_str json;
    char why[400];
    int quick;
    const char *program;                     /* argv[0], to find agent.h                                                */
} one_case;

static int failed(one_case *c, const char *what, const char *more)
{
    if (c->why[0] == 0) sprintf(c->why, "%.150s%.240s", what, more);
    return FAIL;
}
static int known_keys(one_case *c, agent_str object, const char *allowed)
{
    agent_str k, v;
    char key[64];
    size_t pos = 0;
    while (agent_json_each(object, &pos, &k, &v)) {
        sprintf(key, " %.*s ", (int)(k.n < 60 ? k.n : 60), k.p);
        if (strstr(allowed, key) == NULL) return failed(c, "unknown key", key);
    }
    return PASS;
}

/* ---- expected events against lines ---- */
typedef struct item { agent_str json; char *text; size_t n; } item;          /* text: of joined text or reasoning, else NULL */
typedef struct items { item *p; size_t n; } items;
static int joins(agent_str kind) { return agent_json_is(kind, "text") || agent_json_is(kind, "reasoning"); }
static void items_add(items *l, agent_str ev)
{
    agent_str kind = match_get(ev, "ev");
    size_t n = 0;
    char *text = joins(kind) ? match_text(match_get(ev, "text"), &n) : NULL;
    item *last = l->n ? &l->p[l->n - 1] : NULL;
    if (text && n == 0) { free(text); return; }
    if (text && last && last->text && match_text_is(match_get(last->json, "ev"), kind)) {
        last->text = (char *)realloc(last->text, last->n + n + 1);
        if (last->text == NULL) abort();
        memcpy(last->text + last->n, text, n + 1);
        last->n += n;
        free(text);
        return;
    }
    l->p = (item *)check_more(l->p, l->n, sizeof *l->p);
    l->p[l->n].json = ev;
    l->p[l->n].text = text;
    l->p[l->n++].n = n;
}
static void items_free(items *l)
{
    size_t i;
    for (i = 0; i < l->n; i++) free(l->p[i].text);
    free(l->p);
}
static int in_vocabulary(agent_str kind)
{
    static const char *const kinds[] = { "text", "reasoning", "tool_call", "finish", "error", "sse", "json", "json_error", "http", "http_error" };
    size_t i;
    for (i = 0; i < sizeof kinds / sizeof *kinds; i++) if (agent_json_is(kind, kinds[i])) return 1;
    return 0;
}
static void items_of_lines(items *l, const replay_text *t)
{
    size_t at = 0;
    while (at < t->n) {
        agent_str line;
        line.p = t->p + at;
        line.n = (size_t)((const char *)memchr(line.p, '\n', t->n - at) - line.p);
        if (in_vocabulary(match_get(line, "ev"))) items_add(l, line);
        at += line.n + 1;
    }
}
static int differs(one_case *c, const char *what, agent_str want, agent_str got)
{
    char more[240];
    sprintf(more, ": want %.*s got %.*s", (int)(want.n < 100 ? want.n : 100), want.p ? want.p : "", (int)(got.n < 100 ? got.n : 100), got.p ? got.p : "nothing");
    return failed(c, what, more);
}
static int same_id(one_case *c, const items *got, size_t at, agent_str want, agent_str id)
{
    size_t i;
    if (!agent_json_is(want, "*")) return match_json(want, id, 0, NULL) ? PASS : differs(c, "id", want, id);
    if (match_kind(id) != '"' || id.n <= 2) return failed(c, "an empty id", "");
    for (i = 0; i < got->n; i++)
        if (i != at && match_get(got->p[i].json, "id").p && match_text_is(match_get(got->p[i].json, "id"), id)) return failed(c, "an id twice", "");
    return PASS;
}
/* The members that a case may ask for, by kind; each is compared as JSON, some as a subset. */
static int one_event(one_case *c, const item *want, const items *all, size_t at)
{
    static const struct { const char *kind, *keys; } rows[] = {
        { "text", " ev text " }, { "reasoning", " ev text " }, { "tool_call", " ev id name args args_raw args_error exact_numbers " },
        { "finish", " ev reason raw usage " }, { "error", " ev kind code message retryable http_status retry_after_ms " },
        { "sse", " ev event data id " }, { "json", " ev value exact_numbers " }, { "json_error", " ev offset message " },
        { "http", " ev status headers body " }, { "http_error", " ev message offset " }
    };
    const item *got = &all->p[at];
    agent_str k, v, x, kind = match_get(want->json, "ev");
    size_t pos = 0, i;
    int digits = match_kind(match_get(want->json, "exact_numbers")) == 't' ? MATCH_DIGITS : 0;
    for (i = 0; i < sizeof rows / sizeof *rows && !agent_json_is(kind, rows[i].kind); i++) {}
    if (i == sizeof rows / sizeof *rows) return differs(c, "unknown event", kind, match_none());
    if (known_keys(c, want->json, rows[i].keys) != PASS) return FAIL;
    if (!match_json(kind, match_get(got->json, "ev"), 0, NULL)) return differs(c, "event", want->json, got->json);
    if (want->text) return want->n == got->n && memcmp(want->text, got->text, want->n) == 0 ? PASS : differs(c, "text", match_str(want->text), match_str(got->text));
    while (agent_json_each(want->json, &pos, &k, &v)) {
        char key[20];
        if (k.n >= sizeof key) return failed(c, "unknown key", "");
        memcpy(key, k.p, k.n);
        key[k.n] = 0;
        x = match_get(got->json, key);
        if (strcmp(key, "ev") == 0 || strcmp(key, "exact_numbers") == 0) continue;
        if (strcmp(key, "id") == 0 && i == 2) { if (same_id(c, all, at, v, x) != PASS) return FAIL; }
        else if (strcmp(key, "retry_after_ms") == 0) {
            int64_t off = agent_json_int(v, 0) - agent_json_int(x, -1000000);
            if (off < -1 || off > 1) return differs(c, key, v, x);
        } else if (x.p == NULL || !match_json(v, x, digits | (strcmp(key, "usage") && strcmp(key, "headers") ? MATCH_EXACT : 0), NULL)) return differs(c, key, v, x);
    }
    return PASS;
}
static int same_events(one_case *c, agent_str expect, const replay_text *lines)
{
    items want = { NULL, 0 }, got = { NULL, 0 };
    agent_str ev;
    size_t pos = 0, i;
    int ok = PASS;
    while (agent_json_each(expect, &pos, NULL, &ev)) items_add(&want, ev);
    items_of_lines(&got, lines);
    for (i = 0; ok == PASS && i < want.n && i < got.n; i++) ok = one_event(c, &want.p[i], &got, i);
    if (ok == PASS && want.n != got.n)
        ok = differs(c, "events", i < want.n ? want.p[i].json : match_str("no more"), i < got.n ? got.p[i].json : match_str("no more"));
    items_free(&want);
    items_free(&got);
    return ok;
}
static int fits(one_case *c, const replay_text *lines)
{
    agent_str any = match_get(c->json, "expect_any"), one;
    size_t pos = 0;
    if (any.p == NULL) return same_events(c, match_get(c->json, "expect"), lines);
    while (agent_json_each(any, &pos, NULL, &one)) {
        c->why[0] = 0;
        if (same_events(c, one, lines) == PASS) return PASS;
    }
    return FAIL;
}

/* ---- byte cases ---- */
static int case_bytes(one_case *c, const char *layer, const char *format)
{
    agent_str input = match_get(c->json, "input"), piece, v;
    replay_text bytes = { NULL, 0, 0 };
    size_t *cuts = NULL, cut_n = 0, pos = 0;
    ways w;
    int ok = PASS, body = strcmp(layer, "sse-body") == 0 || strcmp(layer, "ndjson-body") == 0;
    memset(&w, 0, sizeof w);
    while (ok == PASS && agent_json_each(input, &pos, NULL, &piece)) {
        if (!script_piece(piece, &bytes)) ok = failed(c, "an input piece cannot be read", "");
        cuts = (size_t *)check_more(cuts, cut_n, sizeof *cuts);
        cuts[cut_n++] = bytes.n;
    }
    v = match_get(c->json, "eof");
    w.base.eof = agent_json_is(v, "clean") ? REPLAY_CLEAN : agent_json_is(v, "close") ? REPLAY_CLOSE : REPLAY_NONE;
    if (w.base.eof == REPLAY_NONE && !agent_json_is(v, "none")) ok = failed(c, "unknown eof", "");
    if ((match_get(c->json, "expect").p == NULL) == (match_get(c->json, "expect_any").p == NULL)) ok = failed(c, "neither or both of expect and expect_any", "");
    if (bytes.p == NULL) replay_put(&bytes, "", 0);
    w.base.format = format;
    w.base.http = strcmp(layer, "http") == 0;
    w.base.headers = strcmp(layer, "ndjson-body") == 0 ? "content-type: application/x-ndjson\n" : body ? "content-type: text/event-stream\n" : NULL;
    w.base.clock = (uint64_t)agent_json_int(match_get(c->json, "clock_unix_ms"), 0);
    w.p = bytes.p;
    w.n = bytes.n;
    w.given = cuts;
    w.given_n = cut_n;
    w.quick = c->quick;
    if (ok == PASS && (!ways_run(&w) || (body && fits(c, &w.out) == PASS && !ways_run_wrapped(&w)))) ok = failed(c, w.why, "");
    if (ok == PASS) ok = fits(c, &w.out);
    free(w.out.p);
    free(bytes.p);
    free(cuts);
    return ok;
}
static int case_of_bytes(one_case *c, const char *layer, const char *format)
{
    agent_str env = match_get(c->json, "env"), want;
    char *place, *name;
    int ok;
    if (known_keys(c, c->json, " id layer area format source doc why notes input eof clock_unix_ms expect expect_any env ") != PASS) return FAIL;
    if (env.p == NULL) return case_bytes(c, layer, format);
    want = match_get(env, "setlocale");
    if (known_keys(c, env, " setlocale ") != PASS || want.p == NULL) return FAIL;
    place = match_text(want, NULL);
    name = strchr(place, '=');
    if (strncmp(place, "LC_NUMERIC=", 11) && strncmp(place, "LC_ALL=", 7)) ok = failed(c, "unknown locale category", "");
    else if (setlocale(place[3] == 'N' ? LC_NUMERIC : LC_ALL, name + 1) == NULL) {
        sprintf(c->why, "the locale %.60s is not installed", name + 1);
        ok = SKIP;
    } else ok = case_bytes(c, layer, format);
    setlocale(LC_ALL, "C");
    free(place);
    return ok;
}

/* ---- scripts ---- */
static int script_way(one_case *c, script *s, const char *how, uint64_t *log)
{
    char name[120];
    int ok = script_run(s);
    sprintf(name, "%.40s, %s, %s, cut %lu, step %lu: ", how, s->via == AGENT_VIA_HTTP ? "host HTTP" : "raw", s->recv ? "recv_buf" : "feed",
            (unsigned long)s->cut, (unsigned long)s->step);
    if (!ok) {
        failed(c, name, s->why);
        return FAIL;
    }
    if (log && *log == 0) *log = s->log;
    return log && *log != s->log ? failed(c, name, "other events or other bytes out") : PASS;
}
static size_t longest_input(agent_str steps)
{
    agent_str step;
    size_t pos = 0, most = 0;
    while (agent_json_each(steps, &pos, NULL, &step)) {
        replay_text t = { NULL, 0, 0 };
        if (match_get(step, "in").p && script_piece(match_get(step, "in"), &t) && t.n + 128 > most) most = t.n + 128;
        free(t.p);
    }
    return most;
}
static int script_cuts(one_case *c, const script *base, size_t most)
{
    script s;
    int ok = PASS;
    size_t cut, stride = c->quick ? most / 8 + 1 : most > WAYS_EVERY ? most / 1024 : 1;
    uint64_t log = 0;
    s = *base;
    ok = script_way(c, &s, "whole", &log);
    for (cut = 1; ok == PASS && cut <= 7; cut += 6) {
        s = *base;
        s.step = cut;
        ok = script_way(c, &s, "in steps", &log);
    }
    for (cut = 1; ok == PASS && cut < most; cut += stride) {
        s = *base;
        s.cut = cut;
        ok = script_way(c, &s, "in two", &log);
    }
    return ok;
}
static int script_block(one_case *c, const script *base)
{
    script s = *base;
    int ok;
    s.block_size = (size_t)4 << 20;
    s.block = malloc(s.block_size);
    if (s.block == NULL) abort();
    ok = script_way(c, &s, "in a block", NULL);
    free(s.block);
    return ok;
}
/* Cancelled after each event, broken at many bytes, each allocation refused: nothing may stay open. */
static int script_trouble(one_case *c, const script *base, size_t most)
{
    script s = *base;
    size_t calls, i, all;
    unsigned long events;
    int ok = script_way(c, &s, "whole", NULL);
    calls = s.heap.calls;
    events = s.seen;
    for (i = 1; ok == PASS && i <= events; i += c->quick ? 3 : 1) for (all = 0; ok == PASS && all < 2; all++) {
        s = *base;
        s.careless = 1;
        s.cancel_at = (unsigned long)i;
        s.piece = all ? 16 : 0;
        ok = script_way(c, &s, "cancelled", NULL);
    }
    for (i = 1; ok == PASS && i < most; i += c->quick ? most / 6 + 1 : 7) {
        s = *base;
        s.careless = 1;
        s.break_at = i;
        ok = script_way(c, &s, "broken off", NULL);
    }
    for (i = 1; ok == PASS && i <= calls; i += c->quick ? calls / 12 + 1 : 1) for (all = 0; ok == PASS && all < 2; all++) {
        char how[60];
        s = *base;
        s.careless = 1;
        s.heap.fail_from = i;
        s.heap.fail_to = all ? (size_t)-1 : i;
        sprintf(how, "allocation %lu refused%s", (unsigned long)i, all ? " and all later" : "");
        ok = script_way(c, &s, how, NULL);
    }
    return ok;
}
static int case_script(one_case *c)
{
    script base;
    int ok = PASS, way;
    size_t most;
    if (known_keys(c, c->json, " id layer area format source doc why notes script ") != PASS) return FAIL;
    memset(&base, 0, sizeof base);
    base.steps = match_get(c->json, "script");
    base.break_at = (size_t)-1;
    if (match_kind(base.steps) != '[') return failed(c, "no script", "");
    most = longest_input(base.steps);
    for (way = 0; ok == PASS && way < 4; way += c->quick ? 3 : 1) {
        base.via = way & 1 ? AGENT_VIA_BYTES : AGENT_VIA_HTTP;
        base.recv = way >> 1;
        ok = script_cuts(c, &base, most);
        if (ok == PASS) ok = script_block(c, &base);
        if (ok == PASS && (way == 3 || !c->quick)) ok = script_trouble(c, &base, most);
    }
    return ok;
}

/* ---- build cases ---- */
static int copy_file(const char *from, const char *to)
{
    char buf[8192];
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    size_t n;
    if (out == NULL) { if (in) fclose(in); return 0; }
    while ((n = fread(buf, 1, sizeof buf, in)) > 0) if (fwrite(buf, 1, n, out) != n) break;
    n = (size_t)(ferror(in) || ferror(out));
    fclose(in);
    return fclose(out) == 0 && n == 0;
}
/* agent.h: of the variable AGENT_H, here, or above the program. */
static int copy_header(const one_case *c, const char *dir)
{
    char to[200], from[600];
    const char *env = getenv("AGENT_H"), *slash = strrchr(c->program, '/');
    int up, n = slash ? (int)(slash - c->program) : 0;
    sprintf(to, "%.150s/agent.h", dir);
    if (env && copy_file(env, to)) return 1;
    if (copy_file("agent.h", to)) return 1;
    for (up = 1; n < 400 && up < 4; up++) {
        sprintf(from, "%.*s/%sagent.h", n ? n : 1, n ? c->program : ".", &"../../../"[9 - 3 * up]);
        if (copy_file(from, to)) return 1;
    }
    return 0;
}
/* The words between @s that a file may use. */
static int write_file(one_case *c, const char *dir, agent_str key, agent_str value)
{
    static const char hooks[] = "#include <stdlib.h>\n"
        "#define AGENT_REALLOC(ctx, p, old_size, new_size) ((void)(ctx), (void)(old_size), realloc((p), (new_size)))\n"
        "#define AGENT_FREE(ctx, p, old_size) ((void)(ctx), (void)(old_size), free(p))\n";
    char path[300], *text, *p, *at;
    FILE *f;
    size_t i;
    if (key.n == 0 || key.n > 60 || key.p[0] == '/' || key.p[0] == '.') return failed(c, "a file's name", "");
    for (i = 0; i < key.n; i++) if (strchr("/\\'\"$`", key.p[i])) return failed(c, "a file's name", "");
    sprintf(path, "%.150s/%.*s", dir, (int)key.n, key.p);
    if ((f = fopen(path, "wb")) == NULL) return failed(c, "cannot write ", path);
    text = p = match_text(value, NULL);
    for (; (at = strchr(p, '@')) != NULL; p = at + 1) {
        fwrite(p, 1, (size_t)(at - p), f);
        if (strncmp(at, "@IMPL@", 6) == 0) { fputs("AGENT_IMPLEMENTATION", f); at += 5; }
        else if (strncmp(at, "@ALLOC_HOOKS@", 13) == 0) { fputs(hooks, f); at += 12; }
        else fputc('@', f);
    }
    fputs(p, f);
    free(text);
    return fclose(f) == 0 ? PASS : failed(c, "cannot write ", path);
}
static int shell(const char *dir, const char *command)
{
    char *line = (char *)malloc(strlen(dir) * 2 + strlen(command) + 100);
    int rc;
    if (line == NULL) abort();
    sprintf(line, "cd '%s' && { %s\n} >>'%s/log' 2>&1", dir, command, dir);
    rc = system(line);
    free(line);
    return rc == -1 || !WIFEXITED(rc) ? 255 : WEXITSTATUS(rc);
}
static int compiler_missing(const char *dir, const char *command, char *why)
{
    static const char *const names[] = { "cc ", "c++ ", "gcc ", "g++ ", "clang ", "clang++ " };
    char line[60];
    size_t i;
    for (i = 0; i < sizeof names / sizeof *names; i++) if (strncmp(command, names[i], strlen(names[i])) == 0) {
        sprintf(line, "command -v %s", names[i]);
        if (shell(dir, line) == 0) return 0;
        sprintf(why, "%sis not installed", names[i]);
        return 1;
    }
    return 0;
}
static int build_commands(one_case *c, agent_str build, const char *dir)
{
    agent_str v, list = match_get(build, "commands");
    char log[200], said[160], *command = NULL;
    size_t pos = 0, n;
    FILE *f;
    int rc = 0, want = (int)agent_json_int(match_get(build, "expect_rc"), -1);
    while (rc == 0 && agent_json_each(list, &pos, NULL, &v)) {
        free(command);
        command = match_text(v, NULL);
        if (compiler_missing(dir, command, c->why)) { free(command); return SKIP; }
        rc = shell(dir, command);
    }
    if (rc == want) { free(command); return PASS; }
    sprintf(log, "%.150s/log", dir);
    f = fopen(log, "rb");
    n = f ? fread(said, 1, sizeof said - 1, f) : 0;
    said[n] = 0;
    if (f) fclose(f);
    for (n = 0; said[n]; n++) if (said[n] == '\n') said[n] = ' ';
    sprintf(log, "exit code %d of `%.80s`: ", rc, command ? command : "");
    free(command);
    return failed(c, log, said);
}
static int case_build(one_case *c)
{
    agent_str build = match_get(c->json, "build"), files, k, v;
    const char *tmp = getenv("TMPDIR");
    char dir[200];
    size_t pos = 0;
    int ok = PASS;
    if (known_keys(c, c->json, " id layer area format source doc why notes build ") != PASS) return FAIL;
    if (known_keys(c, build, " files commands expect_rc ") != PASS) return FAIL;
    files = match_get(build, "files");
    if (files.p == NULL || match_get(build, "commands").p == NULL || match_get(build, "expect_rc").p == NULL) return failed(c, "no files, commands or expect_rc", "");
    sprintf(dir, "%.100s/agent_case_XXXXXX", tmp && strlen(tmp) < 100 && strchr(tmp, '\'') == NULL ? tmp : "/tmp");
    if (mkdtemp(dir) == NULL) return failed(c, "cannot make ", dir);
    if (!copy_header(c, dir)) ok = failed(c, "agent.h was not found; the variable AGENT_H may name it", "");
    while (ok == PASS && agent_json_each(files, &pos, &k, &v)) ok = write_file(c, dir, k, v);
    if (ok == PASS) ok = build_commands(c, build, dir);
    shell("/", (sprintf(c->why + 300, "rm -rf '%.80s'", dir), c->why + 300));
    return ok;
}

/* ---- all of them ---- */
static int run_case(one_case *c, char *id)
{
    agent_str v;
    char *format, *layer;
    size_t i;
    int ok;
    v = match_get(c->json, "id");
    if (match_kind(v) != '"') return failed(c, "no id", "");
    agent_json_text(v, id, 40);
    format = match_text(match_get(c->json, "format"), NULL);
    layer = match_text(match_get(c->json, "layer"), NULL);
    for (i = 0; i < sizeof skipped_formats / sizeof *skipped_formats && strcmp(format, skipped_formats[i]); i++) {}
    if (i < sizeof skipped_formats / sizeof *skipped_formats) { sprintf(c->why, "format %.40s", format); ok = SKIP; }
    else if (strcmp(layer, "embed") == 0 && strcmp(format, "build") == 0) ok = case_build(c);
    else if (strcmp(layer, "loop") == 0 && replay_format(format) == REPLAY_WIRE) ok = case_script(c);
    else if ((strcmp(layer, "sse") == 0 || strcmp(layer, "json") == 0) && strcmp(layer, format) == 0) ok = case_of_bytes(c, layer, format);
    else if (strcmp(layer, "http") == 0 && (strcmp(format, "http") == 0 || replay_format(format) == REPLAY_WIRE)) ok = case_of_bytes(c, layer, format);
    else if ((strcmp(layer, "sse-body") == 0 || strcmp(layer, "ndjson-body") == 0) && replay_format(format) == REPLAY_WIRE) ok = case_of_bytes(c, layer, format);
    else ok = failed(c, "unknown layer or format: ", layer);
    free(format);
    free(layer);
    return ok;
}
static int run_file(const char *path, const char *program, int quick)
{
    static const char *const words[] = { "FAIL", "PASS", "SKIP" };
    one_case c;
    replay_text t = { NULL, 0, 0 };
    const char *name = strrchr(path, '/');
    char id[64];
    FILE *f = fopen(path, "rb");
    size_t n;
    int ok = FAIL;
    memset(&c, 0, sizeof c);
    c.quick = quick;
    c.program = program;
    sprintf(id, "%.40s", name ? name + 1 : path);
    if (f == NULL) failed(&c, "cannot open ", path);
    else {
        do {
            replay_room(&t, 65536);
            n = fread(t.p + t.n, 1, 65536, f);
            t.n += n;
        } while (n);
        fclose(f);
        c.json.p = t.p;
        c.json.n = t.n;
        if (agent_json_check(t.p, t.n, 0, NULL) != AGENT_OK) failed(&c, "the case is no JSON", "");
        else { c.json = agent_json_get(c.json, ""); ok = run_case(&c, id); }
    }
    for (n = 0; c.why[n]; n++) if ((unsigned char)c.why[n] < ' ') c.why[n] = ' ';
    if (ok == PASS) printf("PASS %s\n", id); else printf("%s %s %s\n", words[ok], id, c.why);
    fflush(stdout);
    free(t.p);
    return ok;
}
int main(int argc, char **argv)
{
    const char *quick = getenv("RUN_CASES_QUICK");
    unsigned long counts[3] = { 0, 0, 0 };
    size_t k;
    int i;
    if (argc < 2) { fputs("usage: run-cases FILE...\n", stderr); return 2; }
    printf("formats not in this build, skipped:");
    for (k = 0; k < sizeof skipped_formats / sizeof *skipped_formats; k++) printf(" %s", skipped_formats[k]);
    printf("\n");
    for (i = 1; i < argc; i++) counts[run_file(argv[i], argv[0], quick && *quick && *quick != '0')]++;
    if (counts[SKIP]) printf("%lu skipped\n", counts[SKIP]);
    printf("%lu passed, %lu failed\n", counts[PASS], counts[FAIL]);
    return counts[FAIL] != 0;
}
