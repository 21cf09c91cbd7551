/* Makes the seed corpora of the fuzz targets out of what the tests have anyway: nothing of it is committed.
 *
 *   find … | seeds OUT_DIR fuzz/fuzz_a.c fuzz/fuzz_b.c …
 *
 * Reads paths on standard input, one a line. Of a .json file it takes the file itself, if it is small, and the bytes in its
 * "utf8", "hex", "input", "input_text" and "input_b64" members; of a .md file the fenced blocks; of anything else the bytes. What a seed
 * is good for is told from its beginning. A target names what it wants in a comment: seeds: KIND... [prefix N]
 * with the kinds json, sse, http, chat, text (default: all), noise, frames, saves, records, and N option bytes in front (default 0). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

enum { JSON = 1, SSE = 2, HTTP = 4, CHAT = 8, TEXT = 16, NOISE = 32, FRAMES = 64, SAVES = 128, RECORDS = 256, ALL = 31 };      /* NOISE only for who asks for it */
enum { MAX_TARGETS = 64, MAX_SEED = 16384, MAX_FILE = 1 << 22, MAX_OUT = 4000 };
static const char *const kind_names[] = {"json", "sse", "http", "chat", "text", "noise", "frames", "saves", "records"};

struct target { char dir[600]; unsigned kinds, prefix, written; };
static struct target targets[MAX_TARGETS];
static int target_count;
static unsigned char piece[MAX_FILE];   /* the seed that is being put together                                         */
static size_t piece_size;
static char text[MAX_FILE + 1];
static size_t text_size;

static int load(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) return 0;
    text_size = fread(text, 1, MAX_FILE, f);
    fclose(f);
    text[text_size] = 0;
    return 1;
}

static void add_target(const char *out, const char *source)
{
    struct target *t = &targets[target_count];
    const char *base = strrchr(source, '/'), *want;
    size_t i, n;
    base = base ? base + 1 : source;
    n = strcspn(base, ".");
    if (target_count == MAX_TARGETS || n + strlen(out) + 2 > 500 || !load(source)) return;
    sprintf(t->dir, "%s/%.*s", out, (int)n, base);
    mkdir(out, 0777);
    mkdir(t->dir, 0777);
    want = strstr(text, "seeds:");
    if (want) {
        char line[200];
        const char *p;
        n = strcspn(want, "\n*");
        if (n >= sizeof line) n = sizeof line - 1;
        memcpy(line, want, n);
        line[n] = 0;
        for (i = 0; i < 9; i++) if (strstr(line + 6, kind_names[i])) t->kinds |= 1u << i;
        p = strstr(line, "prefix ");
        if (p) t->prefix = (unsigned)strtoul(p + 7, NULL, 10) & 63;
    }
    if (t->kinds == 0) t->kinds = ALL;
    target_count++;
}

static unsigned kinds_of(const unsigned char *p, size_t n)
{
    static const char *const sse[] = {"data:", "event:", "id:", ":", "retry:"};
    size_t i = 0;
    unsigned k = n <= 2048 ? TEXT : 0;
    if (n >= 5 && memcmp(p, "HTTP/", 5) == 0) return k | HTTP;
    if (n >= 12 && memcmp(p, "{\"agent.h\":", 11) == 0) return SAVES;
    if (n >= 16 && memcmp(p, "{\"agent_record\"", 15) == 0) return RECORDS;
    if (n >= 6 && (memcmp(p, "event ", 6) == 0 || memcmp(p, "except", 6) == 0)) return FRAMES;
    while (i < n && (p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t')) i++;
    if (i < n && strchr("{[\"", p[i])) return k | JSON | CHAT;
    for (i = 0; i < 5; i++)
        if (n >= strlen(sse[i]) && memcmp(p, sse[i], strlen(sse[i])) == 0) return k | SSE | CHAT;
    return n <= 64 ? k | JSON | SSE | HTTP : TEXT;
}

/* Option bytes: all zero, and some that depend on the seed, so that options vary. */
static void write_seed(struct target *t, const unsigned char *p, size_t n, unsigned long hash, int vary)
{
    char path[700];
    unsigned i;
    FILE *f;
    sprintf(path, "%s/%08lx%s", t->dir, hash & 0xFFFFFFFFul, vary ? "v" : "");
    f = fopen(path, "wb");
    if (f == NULL) return;
    for (i = 0; i < t->prefix; i++) fputc(vary ? (int)(hash >> (i % 4 * 8) & 255) : 0, f);
    fwrite(p, 1, n, f);
    fclose(f);
    t->written++;
}

static void flush_seed(void)
{
    unsigned long hash = 2166136261ul;
    unsigned kinds = kinds_of(piece, piece_size);
    size_t i, n = piece_size;
    int k;
    piece_size = 0;
    if (n == 0 || n > MAX_SEED) return;
    for (i = 0; i < n; i++) hash = ((hash ^ piece[i]) * 16777619ul) & 0xFFFFFFFFul;
    for (k = 0; k < target_count; k++) {
        struct target *t = &targets[k];
        if (!(t->kinds & kinds) || t->written >= MAX_OUT) continue;
        write_seed(t, piece, n, hash, 0);
        if (t->prefix) write_seed(t, piece, n, hash, 1);
    }
}

static void put(unsigned c) { if (piece_size < MAX_FILE) piece[piece_size++] = (unsigned char)c; }
static void put_code(unsigned c)
{
    if (c < 0x80) put(c);
    else if (c < 0x800) { put(0xC0 | c >> 6); put(0x80 | (c & 63)); }
    else if (c < 0x10000) { put(0xE0 | c >> 12); put(0x80 | (c >> 6 & 63)); put(0x80 | (c & 63)); }
    else { put(0xF0 | c >> 18); put(0x80 | (c >> 12 & 63)); put(0x80 | (c >> 6 & 63)); put(0x80 | (c & 63)); }
}
static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
static unsigned four(const char *p)
{
    unsigned v = 0, i;
    for (i = 0; i < 4 && hex_digit(p[i]) >= 0; i++) v = v * 16 + (unsigned)hex_digit(p[i]);
    return v;
}

/* The string at p (behind its quote) with escapes undone; returns what follows its end. out 0: only skips. */
static const char *string(const char *p, int out)
{
    while (*p && *p != '"') {
        unsigned c = (unsigned char)*p++;
        if (c == '\\' && *p) {
            static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
            const char *e = strchr(from, *p);
            if (*p == 'u') {
                c = four(p + 1);
                p += strlen(p) >= 5 ? 4 : 0;
                if (c >= 0xD800 && c < 0xDC00 && p[1] == '\\' && p[2] == 'u') { c = 0x10000 + ((c & 1023) << 10) + (four(p + 3) & 1023); p += 6; }
                if (out) put_code(c);
            } else if (out) put(e ? (unsigned char)to[e - from] : (unsigned char)*p);
            p++;
        } else if (out) put(c);
    }
    return *p ? p + 1 : p;
}
static const char *hex(const char *p)
{
    for (; hex_digit(p[0]) >= 0 && hex_digit(p[1]) >= 0; p += 2) put((unsigned)(hex_digit(p[0]) * 16 + hex_digit(p[1])));
    return string(p, 0);
}
static const char *base64(const char *p)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned long v = 0;
    int bits = 0;
    const char *d;
    for (; *p && *p != '=' && (d = strchr(digits, *p)) != NULL; p++) {
        v = (v << 6 | (unsigned long)(d - digits)) & 0xFFFFFFul;
        bits += 6;
        if (bits >= 8) { bits -= 8; put((unsigned)(v >> bits & 255)); }
    }
    return string(p, 0);
}

/* Members of interest, wherever they are; pieces in one array belong together. */
static void take_json(void)
{
    const char *p = text;
    while (*p) {
        if (*p == ']') flush_seed();
        if (*p++ != '"') continue;
        {
            const char *name = p, *end = string(p, 0), *v = end + strspn(end, " \t\r\n:");
            size_t n = (size_t)(end - name);
            p = end;
            if (v == end || *v != '"') continue;
            if (n == 5 && !memcmp(name, "utf8\"", 5)) p = string(v + 1, 1);
            else if (n == 4 && !memcmp(name, "hex\"", 4)) p = hex(v + 1);
            else if ((n == 6 && !memcmp(name, "input\"", 6)) || (n == 11 && !memcmp(name, "input_text\"", 11))) {
                flush_seed();
                p = string(v + 1, 1);
                flush_seed();
            } else if (n == 10 && !memcmp(name, "input_b64\"", 10)) { flush_seed(); p = base64(v + 1); flush_seed(); }
            else p = string(v + 1, 0);
        }
    }
    flush_seed();
}

static void take_markdown(void)
{
    const char *p = text;
    int inside = 0;
    while (*p) {
        size_t n = strcspn(p, "\n"), i;
        if (n >= 3 && memcmp(p, "```", 3) == 0) { inside = !inside; flush_seed(); }
        else if (inside) for (i = 0; i <= n && p[i]; i++) put((unsigned char)p[i]);
        p += n + (p[n] == '\n');
    }
    flush_seed();
}

static int ends(const char *s, const char *end) { size_t n = strlen(s), k = strlen(end); return n >= k && strcmp(s + n - k, end) == 0; }

static void take_raw(void)
{
    memcpy(piece, text, text_size);
    piece_size = text_size;
    flush_seed();
}

/* Bytes by chance, for targets whose input is a program rather than a text.                                            */
static void make_noise(void)
{
    unsigned long chance = 1, hash;
    int seed, k;
    size_t i;
    for (seed = 0; seed < 200; seed++) {
        piece_size = (size_t)20 << seed % 5;
        for (i = 0; i < piece_size; i++) {
            chance = (chance * 1664525ul + 1013904223ul) & 0xFFFFFFFFul;
            piece[i] = (unsigned char)(chance >> 24);
        }
        hash = chance;
        for (k = 0; k < target_count; k++)
            if (targets[k].kinds & NOISE && targets[k].written < MAX_OUT) write_seed(&targets[k], piece, piece_size, hash, 0);
    }
    piece_size = 0;
}

int main(int argc, char **argv)
{
    char path[2000];
    int i;
    unsigned total = 0;
    if (argc < 3) { fprintf(stderr, "usage: seeds OUT_DIR fuzz/fuzz_x.c... < paths\n"); return 2; }
    for (i = 2; i < argc; i++) add_target(argv[1], argv[i]);
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\r\n")] = 0;
        if (!load(path)) continue;
        take_raw();
        if (ends(path, ".json")) take_json();
        if (ends(path, ".md")) take_markdown();
    }
    make_noise();
    for (i = 0; i < target_count; i++) total += targets[i].written;
    printf("seeds: %u for %d targets\n", total, target_count);
    return 0;
}
