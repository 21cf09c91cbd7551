/* Joins the parts of agent.h. No dependency but a C99 compiler; the same parts give the same bytes; nothing is rewritten.
 *
 *   amalgamate DIR                    agent.h on standard output
 *   amalgamate --list DIR             the names of the implementation parts, in order
 *   amalgamate --upto PART DIR        a unit that holds the parts up to PART only, its code always on: for `make check`
 *   amalgamate --missing-ok ...         skip parts that are not there yet, with a message
 *
 * DIR/MANIFEST has one line a part: NAME file purpose. '#' starts a comment. MANUAL, CONFIG, API and LICENSE have places of
 * their own; all others are the implementation, in the order of the list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 100, MAX_LINE = 500 };

struct part {
    char name[40], file[80], purpose[300];
    char *text;                          /* NULL: not there                                                             */
    size_t size;
};

static struct part parts[MAX_PARTS];
static int part_count;

static void die(const char *what, const char *which)
{
    fprintf(stderr, "amalgamate: %s: %s\n", what, which);
    exit(1);
}

static char *read_file(const char *dir, const char *name, size_t *size)
{
    char path[1000], *text = NULL;
    size_t cap = 0, n = 0, got;
    FILE *f;
    if (strlen(dir) + strlen(name) + 2 > sizeof path) die("path too long", name);
    sprintf(path, "%s/%s", dir, name);
    f = fopen(path, "rb");
    if (f == NULL) return NULL;
    do {
        if (n == cap) {
            cap = cap ? 2 * cap : 65536;
            text = (char *)realloc(text, cap + 1);
            if (text == NULL) die("out of memory", path);
        }
        got = fread(text + n, 1, cap - n, f);
        n += got;
    } while (got > 0);
    if (ferror(f)) die("cannot read", path);
    fclose(f);
    text[n] = 0;
    *size = n;
    return text;
}

/* A part must be plain text that ends in a newline, so that concatenation means what it says. */
static void check_text(const struct part *p)
{
    if (p->size == 0 || p->text[p->size - 1] != '\n') die("does not end in a newline", p->file);
    if (memchr(p->text, '\r', p->size)) die("has a carriage return", p->file);
    if (memchr(p->text, 0, p->size)) die("has a NUL byte", p->file);
}

static void read_parts(const char *dir, int missing_ok)
{
    size_t size, at = 0;
    char *m = read_file(dir, "MANIFEST", &size), line[MAX_LINE];
    if (m == NULL) die("cannot read MANIFEST in", dir);
    while (at < size) {
        size_t n = strcspn(m + at, "\n"), len = n;
        struct part *p = &parts[part_count];
        int i, used = 0;
        if (len >= sizeof line) die("a line of MANIFEST is too long", dir);
        memcpy(line, m + at, len);
        at += n + 1;
        while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\r' || line[len - 1] == '\t')) len--;
        line[len] = 0;
        if (line[0] == '#' || line[0] == 0) continue;
        if (part_count == MAX_PARTS) die("too many parts", dir);
        if (sscanf(line, "%39s %79s %n", p->name, p->file, &used) < 2 || used == 0) die("bad line in MANIFEST", line);
        if (strlen(line + used) >= sizeof p->purpose) die("purpose too long", p->name);
        strcpy(p->purpose, line + used);
        for (i = 0; i < part_count; i++) if (strcmp(parts[i].name, p->name) == 0) die("twice in MANIFEST", p->name);
        p->text = read_file(dir, p->file, &p->size);
        if (p->text) check_text(p);
        else if (missing_ok) fprintf(stderr, "amalgamate: %s is missing, skipped\n", p->file);
        else die("cannot read part", p->file);
        part_count++;
    }
    free(m);
}

static struct part *find(const char *name)
{
    int i;
    for (i = 0; i < part_count; i++) if (strcmp(parts[i].name, name) == 0) return &parts[i];
    return NULL;
}

static int is_public(const struct part *p)
{
    return !strcmp(p->name, "MANUAL") || !strcmp(p->name, "CONFIG") || !strcmp(p->name, "API") || !strcmp(p->name, "LICENSE");
}

static void put(const char *text) { fputs(text, stdout); }

static void put_part(const char *name)
{
    const struct part *p = find(name);
    if (p && p->text) fwrite(p->text, 1, p->size, stdout);
}

/* The version is written once, in config.h. */
static void put_version(void)
{
    const char *key = "#define AGENT_VERSION \"", *at = NULL;
    struct part *p = find("CONFIG");
    if (p && p->text) at = strstr(p->text, key);
    if (at == NULL) die("no AGENT_VERSION in", "CONFIG");
    at += strlen(key);
    fwrite(at, 1, strcspn(at, "\"\n"), stdout);
}

/* The map shows what the parts are for, in the order in which they stand below. */
static void put_map(void)
{
    int i;
    put("\n/* ---- map of the implementation --------------------------------------------------------------------------------\n"
        " * Each part uses only those above it. Search for \"==== file\" to get there.\n *\n");
    for (i = 0; i < part_count; i++)
        if (!is_public(&parts[i]) && parts[i].text) printf(" *   %-18s %s\n", parts[i].file, parts[i].purpose);
    put(" */\n");
}

/* With AGENT_STATIC, and in a part of the whole, not every function is called: no reason to warn. An attribute would not do, for
 * gcc ignores it where there is no body, and clang warns of the calls. */
static void put_declarations(void)
{
    put("#ifndef AGENT_SINGLE_HEADER_INCLUDED\n#define AGENT_SINGLE_HEADER_INCLUDED\n#include <stddef.h>\n#include <stdint.h>\n\n");
    put_part("CONFIG");
    put("\n#if defined AGENT_STATIC && defined __GNUC__\n#pragma GCC diagnostic push\n"
        "#pragma GCC diagnostic ignored \"-Wunused-function\"\n#endif\n");
    put_part("API");
    put("#if defined AGENT_STATIC && defined __GNUC__\n#pragma GCC diagnostic pop\n#endif\n"
        "#ifdef __cplusplus\n}\n#endif\n#endif /* AGENT_SINGLE_HEADER_INCLUDED */\n");
}

/* System headers come before extern "C", which they do not all like; the parts' own includes find them read. */
static void open_implementation(void)
{
    put("#include <string.h>\n"
        "#if !defined AGENT_NO_MALLOC && !defined AGENT_REALLOC\n#include <stdlib.h>\n#endif\n"
        "#ifdef __GNUC__\n#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wunused-function\"\n#endif\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
}
static void close_implementation(void)
{
    put("\n#ifdef __cplusplus\n}\n#endif\n#ifdef __GNUC__\n#pragma GCC diagnostic pop\n#endif\n");
}

static void put_banner(const struct part *p)
{
    size_t n = strlen(p->file) + strlen(p->purpose) + 14;
    printf("\n/* ==== %s: %s ====", p->file, p->purpose);
    for (; n < 116; n++) putchar('=');
    put(" */\n");
}

/* All parts, or those up to and with `last`. */
static void put_implementation(const struct part *last)
{
    int i;
    open_implementation();
    for (i = 0; i < part_count && (last == NULL || &parts[i] <= last); i++) {
        if (is_public(&parts[i]) || parts[i].text == NULL) continue;
        put_banner(&parts[i]);
        fwrite(parts[i].text, 1, parts[i].size, stdout);
    }
    close_implementation();
}

static void put_header(void)
{
    put("/* agent.h ");
    put_version();
    put(" - generated from agent_impl/: edit there, then run `make agent.h` */\n\n");
    put_part("MANUAL");
    put_map();
    put("\n");
    put_declarations();
    put("\n/* ---- implementation, once per program ------------------------------------------------------------------------- */\n"
        "#if defined AGENT_IMPLEMENTATION && !defined AGENT_IMPLEMENTED\n#define AGENT_IMPLEMENTED\n");
    put_implementation(NULL);
    put("#endif /* AGENT_IMPLEMENTATION */\n");
    if (find("LICENSE")) put("\n");
    put_part("LICENSE");
}

static void put_prefix(const char *name)
{
    const struct part *last = find(name);
    if (last == NULL) die("no such part", name);
    put_declarations();
    if (!is_public(last)) put_implementation(last);
}

int main(int argc, char **argv)
{
    const char *dir = NULL, *upto = NULL;
    int i, list = 0, missing_ok = 0;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) list = 1;
        else if (strcmp(argv[i], "--missing-ok") == 0) missing_ok = 1;
        else if (strcmp(argv[i], "--upto") == 0 && i + 1 < argc) upto = argv[++i];
        else if (argv[i][0] != '-' && dir == NULL) dir = argv[i];
        else die("unknown argument", argv[i]);
    }
    if (dir == NULL) die("usage", "amalgamate [--missing-ok] [--list | --upto PART] DIR");
    read_parts(dir, missing_ok);
    if (list) {
        for (i = 0; i < part_count; i++) if (!is_public(&parts[i]) && parts[i].text) puts(parts[i].name);
    } else if (upto) put_prefix(upto);
    else put_header();
    if (fflush(stdout) || ferror(stdout)) die("cannot write", "standard output");
    return 0;
}
