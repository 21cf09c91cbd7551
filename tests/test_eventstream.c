/* AWS event stream messages, eventstream.c: checksums, lengths, headers of every type, every cut. The messages are built by frames.h, which
 * shares no code with what reads them. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"
#include "frames.h"

/* In a block of its own, so that reading beyond it is seen. 0: refused, 1: read.                                       */
static int parse(const char *p, size_t n, agenti_frame *f, const char **why, char **block)
{
    *block = (char *)malloc(n ? n : 1);
    if (*block == NULL) abort();
    memcpy(*block, p, n);
    return n >= AGENTI_FRAME_PRELUDE && agenti_frame_size(*block, why) == n && agenti_frame_parse(agenti_str(*block, n), f, why);
}
static void good(const char *name, const frames_buf *b, const char *kind, const char *type, const char *payload)
{
    agenti_frame f;
    const char *why = "";
    char *block;
    int ok = parse(b->p, b->n, &f, &why, &block);
    CHECK_CASE(ok, name);
    if (ok) CHECK_CASE(agenti_eq(f.kind, kind) && agenti_eq(f.type, type) && agenti_eq(f.payload, payload), name);
    free(block);
}
static void refused(const char *name, const char *headers, size_t n)           /* headers that do not fit, rightly summed */
{
    frames_buf b = { NULL, 0, 0 };
    agenti_frame f;
    const char *why = "";
    char *block;
    frames_message(&b, headers, n, "\1\1\1\1\1\1\1\1\1", 9);      /* which would go on well */
    CHECK_CASE(!parse(b.p, b.n, &f, &why, &block) && strstr(why, "header"), name);
    free(block);
    free(b.p);
}
static void test_crc(void)
{
    char bytes[600];
    size_t i;
    CHECK(agenti_crc32("", 0) == 0);
    CHECK(agenti_crc32("123456789", 9) == 0xCBF43926u);
    for (i = 0; i < sizeof bytes; i++) bytes[i] = (char)(unsigned char)(i * 7 + i / 256);
    for (i = 0; i < sizeof bytes; i += 13) CHECK(agenti_crc32(bytes, i) == frames_crc(bytes, i));
}
static void test_kinds(void)
{
    frames_buf b = { NULL, 0, 0 };
    frames_line(&b, "event a {\"x\":1}", 15, 0);
    good("event", &b, "event", "a", "{\"x\":1}");
    b.n = 0;
    frames_line(&b, "event a {\"x\":1}", 15, 1);
    good("wrapped", &b, "event", "a", "{\"bytes\":\"eyJ4IjoxfQ==\",\"p\":\"abcd\"}");
    b.n = 0;
    frames_line(&b, "exception b no", 14, 1);
    good("exception", &b, "exception", "b", "no");
    b.n = 0;
    frames_line(&b, "error c the words", 17, 1);
    good("error", &b, "error", "c", "the words");
    b.n = 0;
    frames_message(&b, "", 0, "", 0);
    CHECK(b.n == AGENTI_FRAME_MIN);
    good("empty", &b, "", "", "");
    free(b.p);
}
/* Headers of all ten types, one behind the other, before and behind the ones that count.                                */
static void test_types(void)
{
    static const size_t sizes[10] = { 0, 0, 1, 2, 4, 8, 5, 5, 8, 16 };
    static const char filler[17] = "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17";
    frames_buf h = { NULL, 0, 0 }, b = { NULL, 0, 0 };
    size_t type, all = 0;
    for (type = 0; type < 10; type++) {
        if (type == 5) frames_header(&h, ":event-type", "tide", 4);
        frames_int(&h, 1, 1);
        frames_add(&h, "x", 1);
        frames_int(&h, (unsigned long)type, 1);
        if (type == 6 || type == 7) frames_int(&h, (unsigned long)sizes[type], 2);
        frames_add(&h, filler, sizes[type]);
        all += 3 + sizes[type];
    }
    frames_header(&h, ":message-type", "event", 5);
    frames_message(&b, h.p, h.n, "{}", 2);
    good("all types", &b, "event", "tide", "{}");
    CHECK(h.n > all);
    for (type = h.n; type-- > 0;) {           /* every cut of the headers, with sums that are right                      */
        agenti_frame f;
        const char *why = "";
        char *block;
        b.n = 0;
        frames_message(&b, h.p, type, "", 0);
        (void)parse(b.p, b.n, &f, &why, &block);
        CHECK(!agenti_eq(f.kind, "event"));
        free(block);
    }
    free(b.p);
    free(h.p);
}
static void test_broken_headers(void)
{
    refused("no name", "\0\7\0\1a", 5);
    refused("a name that is too long", "\5ab", 3);
    refused("a name without a type", "\2ab", 3);
    refused("a type that is not known", "\1a\12", 3);
    refused("a type that is not known, high", "\1a\377", 3);
    refused("a byte that is missing", "\1a\2", 3);
    refused("a number that is cut", "\1a\5\0\0\0\0\0\0\0", 10);
    refused("a uuid that is cut", "\1a\11 5678901234567", 17);
    refused("a length that is cut", "\1a\7\0", 4);
    refused("a string that is cut", "\1a\7\0\3xy", 7);
    refused("a string that is far too long", "\1a\7\377\377xy", 7);
}
/* A bit anywhere is noticed; and no cut and no length is read beyond.                                                   */
static void test_spoiled(void)
{
    frames_buf b = { NULL, 0, 0 };
    agenti_frame f;
    const char *why;
    char *block;
    size_t i;
    frames_line(&b, "event contentBlockDelta {\"delta\":{\"text\":\"Low tide.\"}}", 54, 0);
    for (i = 0; i < 8 * b.n; i++) {
        b.p[i / 8] ^= (char)(1 << i % 8);
        CHECK(!parse(b.p, b.n, &f, &why, &block));
        b.p[i / 8] ^= (char)(1 << i % 8);
        free(block);
    }
    for (i = 0; i < b.n; i++) { CHECK(!parse(b.p, i, &f, &why, &block)); free(block); }
    CHECK(agenti_frame_size(b.p, &why) == b.n);
    free(b.p);
}
static void test_lengths(void)
{
    static const uint32_t rows[][3] = {       /* all, headers, what comes out                                           */
        { 16, 0, 16 }, { 15, 0, 0 }, { 0, 0, 0 }, { 16, 1, 0 }, { 17, 1, 17 }, { 100, 84, 100 }, { 100, 85, 0 },
        { 100, 0xFFFFFFFFu, 0 }, { 0xFFFFFFFFu, 0, 0xFFFFFFFFu }, { 0xFFFFFFFFu, 0xFFFFFFEFu, 0xFFFFFFFFu }, { 0xFFFFFFFFu, 0xFFFFFFF0u, 0 },
        { 0x80000000u, 0x7FFFFFF0u, 0x80000000u }, { 0x80000000u, 0x7FFFFFF1u, 0 }, { 12, 0xFFFFFFFCu, 0 }
    };
    frames_buf b = { NULL, 0, 0 };
    const char *why = "";
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        b.n = 0;
        frames_int(&b, rows[i][0], 4);
        frames_int(&b, rows[i][1], 4);
        frames_int(&b, frames_crc(b.p, 8), 4);
        CHECK(agenti_frame_size(b.p, &why) == rows[i][2]);
        b.p[11] ^= 1;
        CHECK(agenti_frame_size(b.p, &why) == 0 && strstr(why, "checksum"));
    }
    free(b.p);
}
static void test_base64(void)                 /* in place, as frames are unwrapped                                      */
{
    char text[64] = "";
    frames_buf b = { NULL, 0, 0 };
    size_t n, i;
    for (n = 0; n < 32; n++) {
        b.n = 0;
        for (i = 0; i < n; i++) text[i] = (char)(unsigned char)(i * 37 + n);
        frames_wrap(&b, text, n);
        i = b.n - 10 - 13;
        CHECK(agenti_base64_ok(agenti_str(b.p + 10, i)));
        CHECK(agenti_base64_bytes(agenti_str(b.p + 10, i), b.p + 10) == n && memcmp(b.p + 10, text, n) == 0);
    }
    free(b.p);
}
int main(void)
{
    test_crc();
    test_kinds();
    test_types();
    test_broken_headers();
    test_spoiled();
    test_lengths();
    test_base64();
    return test_end("test_eventstream");
}
