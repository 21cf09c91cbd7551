/* The codecs alone: server-sent events, lines, HTTP/1.1, header lines, base URLs. Each byte case runs whole, byte by byte, in pieces by
 * chance and split at every place, with buffers large from the start and grown on E_FULL, and must come out the same. */
#include <stdint.h>
#include "touch.h"
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"
#include "codecs.h"

/* ---- server-sent events ---- */
typedef struct sse_case { const char *in, *out; } sse_case;         /* out: "event|data|id\n" each                     */
static const sse_case sse_cases[] = {
    {"", ""}, {"\n\r\n\r", ""}, {"data: a\n\n", "message|a|\n"}, {"data:a\r\rdata: b\r\n\r\ndata:c\n\n",
        "message|a|\nmessage|b|\nmessage|c|\n"},
    {"event: x\ndata: 1\n\n", "x|1|\n"}, {"data: 1\nevent: x\n\n", "x|1|\n"}, {"event: x\n\ndata: 1\n\n", "message|1|\n"},
    {"event: x\nevent\ndata: 1\n\n", "message|1|\n"}, {"event: x\nevent: yy\nevent: z\ndata: 1\n\n", "z|1|\n"},
    {"data: a\ndata: b\ndata\ndata:\ndata:c\n\n", "message|a\nb\n\n\nc|\n"}, {"data\n\n", "message||\n"}, {"data\ndata\n\n",
        "message|\n|\n"},
    {"id: 1\ndata: a\n\nid: 22\ndata: b\n\nid\ndata: c\n\n", "message|a|1\nmessage|b|22\nmessage|c|\n"},
    {"data: a\nid: 1\ndata: b\nid: 4444\ndata: c\nid: 22\nevent: long name\nid: 7777777777\n\ndata: x\n\n",
     "long name|a\nb\nc|7777777777\nmessage|x|7777777777\n"},
    {"id: 5\n\nevent: q\nid: 123456789\nevent: qqqqqqqqqqqqqqqqqqqqq\nid: 1\ndata: z\n\n", "qqqqqqqqqqqqqqqqqqqqq|z|1\n"},
    {": c\nretry: 5\nevent: e\n: c\ndata: d\n: c\n\n", "e|d|\n"}, {"dat: x\ndatax: y\nDATA: z\n data: w\ndata : v\n\n", ""},
    {"\xEF\xBB\xBF" "data: a\n\n", "message|a|\n"}, {"\xEF\xBB" "data: a\n\ndata: b\n\n", "message|b|\n"},
    {"\xEF\n\ndata: b\n\n", "message|b|\n"}, {"\xEF\xBB\xBF\xEF\xBB\xBF" "data: a\n\ndata: b\n\n", "message|b|\n"},
    {"data: a\n\ndata: unfinished", "message|a|\n"}, {"data: a\n\ndata: unfinished\n", "message|a|\n"},
    {"error: {\"a\":1}\n\n", ""}, {"data:  two\ndata: \xFF\x80\n\n", "message| two\n\xFF\x80|\n"},
    {"data: 0123456789012345678901234567890123456789\ndata: 0123456789012345678901234567890123456789\n\n",
     "message|0123456789012345678901234567890123456789\n0123456789012345678901234567890123456789|\n"}
};
static void sse_one(const char *in, const char *expected, uint32_t flags, int how)
{
    static const cut plain[] = {{0, CUT_REST}, {0, 1}, {0, 0}, {0, 2}, {0, 3}};
    size_t n = strlen(in), caps[3] = {0, 5, 4096}, i, k, count = sizeof plain / sizeof plain[0];
    codec_log first = {NULL, 0, 0}, l;
    for (i = 0; i < 3; i++) for (k = 0; k < count + n; k++) {
        cut c = {0, CUT_REST};
        if (k < count) c = plain[k];
        else c.first = k - count;
        memset(&l, 0, sizeof l);
        sse_run(in, n, c, caps[i], flags, how | SSE_NO_OFFSETS, &l);
        CHECK_CASE(l.n == strlen(expected) && (l.n == 0 || memcmp(l.p, expected, l.n) == 0), in);
        log_free(&l);
        sse_run(in, n, c, caps[i], flags, how, i + k ? &l : &first);
        if (i + k) CHECK_CASE(log_same(&l, &first), in);             /* offsets, too */
        log_free(&l);
    }
    log_free(&first);
}
static void sse_in_place(void)
{
    static const char in[] = ": c\nevent: e\ndata: {\"x\":1}\n: c\n\ndata: y\n\n";
    agent_sse s;
    agent_sse_event e;
    size_t used;
    agent_sse_init(&s, NULL, 0, 0);                                  /* without any buffer */
    CHECK(agent_sse_next(&s, in, sizeof in - 1, &used, &e) == AGENT_OK);
    CHECK(e.data.p == in + 19 && e.data.n == 7 && e.event.p == in + 11 && e.event.n == 1);
    CHECK(used == 32 && e.offset == 32);
    CHECK(agent_sse_next(&s, in + used, sizeof in - 1 - used, &used, &e) == AGENT_OK);
    CHECK(e.data.p == in + 38 && e.data.n == 1);
    CHECK(agent_sse_next(&s, NULL, 0, &used, &e) == AGENT_MORE && used == 0);
}
static void sse_skip(void)
{
    char buf[16];
    agent_sse s;
    agent_sse_event e;
    size_t used;
    agent_sse_init(&s, buf, sizeof buf, 0);
    agent_sse_skip(&s);                                              /* nothing is being read: nothing is dropped */
    CHECK(agent_sse_next(&s, "id: 7\ndata: a\n\n", 15, &used, &e) == AGENT_OK && e.data.n == 1 && used == 15);
    agent_sse_skip(&s);
    CHECK(agent_sse_next(&s, "data: 0123456789", 16, &used, &e) == AGENT_E_FULL && used == 0);
    CHECK(agent_sse_next(&s, "data: 0123456789", 16, &used, &e) == AGENT_E_FULL && used == 0);
    agent_sse_skip(&s);
    CHECK(agent_sse_next(&s, "data: 0123456789", 16, &used, &e) == AGENT_MORE && used == 16);
    CHECK(agent_sse_next(&s, "012\nid: 8\ndata: no\n", 19, &used, &e) == AGENT_MORE && used == 19);
    CHECK(agent_sse_next(&s, "\ndata: b\n\n", 10, &used, &e) == AGENT_OK && used == 10);
    CHECK(agenti_eq(e.data, "b") && agenti_eq(e.id, "7"));
    CHECK(agent_sse_next(&s, "data: 0123", 10, &used, &e) == AGENT_MORE);
    agent_sse_skip(&s);                                              /* also without E_FULL, in the middle of a line */
    CHECK(agent_sse_next(&s, "\ndata: no\n\ndata: c\n\n", 20, &used, &e) == AGENT_OK && agenti_eq(e.data, "c"));
    CHECK(agent_sse_next(&s, "data: x\n", 8, &used, &e) == AGENT_MORE);
    agent_sse_skip(&s);
    CHECK(agent_sse_end(&s, &e) == AGENT_MORE);
}
static void sse_linear(void)                                         /* hostile streams: work stays a multiple of the bytes */
{
    static const char *const patterns[] = {"id: x\n", "id: 12345678901234567890\nid: 1\n", "data: a\nid: %\n", "\r", "a\r",
        "data\n", "data: x\r",
        ": c\n", "event: %\nid: %\n", "id: %\n", "data\r\n", "%", "data: %", "error: {\n", "data:\r\rd\r"};
    size_t i, k, n, size = 1 << 18;
    char *in = (char *)malloc(size + 64);
    if (in == NULL) abort();
    for (i = 0; i < sizeof patterns / sizeof patterns[0]; i++) for (k = 0; k < 4; k++) {
        cut c = {0, k == 0 ? CUT_REST : k == 1 ? 1 : k == 2 ? 1460 : 16384};
        codec_log l = {NULL, 0, 0};
        unsigned run = 1;
        memcpy(in, "data: first\n", 12);
        for (n = 12; n < size;) {                                    /* '%': runs of digits that grow by one */
            const char *p;
            for (p = patterns[i]; *p && n < size; p++) {
                unsigned r;
                if (*p != '%') in[n++] = *p;
                else for (r = 0; r < run && n < size; r++) in[n++] = '5';
            }
            run++;
        }
        in[n - 1] = '\n';                                            /* one LF far away */
        touched = 0;
        sse_run(in, n, c, 16384, AGENT_SSE_ERROR_FIELD, SSE_END, &l);        /* each E_FULL looks at the piece again */
        CHECK_CASE(touched < 16ull * n, patterns[i]);
        log_free(&l);
    }
    free(in);
}

/* ---- lines ---- */
static const sse_case line_cases[] = {
    {"", ""}, {"\n\r\n\n", ""}, {"a\nb\r\nc", "<a>\n<b>\n<c>\n"}, {"\xEF\xBB\xBF{}\n\xEF\xBB\xBF{}\n", "<{}>\n<\xEF\xBB\xBF{}>\n"},
    {"\xEF\xBB\xBF\n\xEF\xBB\xBF\nx\ry\n", "<\xEF\xBB\xBF>\n<x\ry>\n"}, {"\xEF\xBBx\r\n\r\r\n z \r\n", "<\xEF\xBBx>\n<\r>\n< z >\n"},
    {"0123456789012345678901234567890123456789\nx\r", "<0123456789012345678901234567890123456789>\n<x>\n"}
};
static void lines_one(const char *in, const char *expected)
{
    size_t n = strlen(in), k, cap;
    codec_log l = {NULL, 0, 0};
    for (cap = 0; cap <= 64; cap += 32) for (k = 0; k < n + 3; k++) {
        cut c = {0, CUT_REST};
        if (k == n + 2) c.step = 1;
        else if (k == n + 1) c.step = 0;
        else c.first = k;
        lines_run(in, n, c, cap, &l);
        CHECK_CASE(l.n == strlen(expected) && (l.n == 0 || memcmp(l.p, expected, l.n) == 0), in);
        log_free(&l);
    }
}
static void lines_skip(void)
{
    char buf[4];
    agent_lines l;
    agent_str line;
    size_t used;
    agent_lines_init(&l, buf, sizeof buf);
    agent_lines_skip(&l);
    CHECK(agent_lines_next(&l, "abcdef\n", 7, &used, &line) == AGENT_OK && line.n == 6);
    CHECK(agent_lines_next(&l, "abc", 3, &used, &line) == AGENT_MORE && used == 3);
    CHECK(agent_lines_next(&l, "def\nx\n", 6, &used, &line) == AGENT_E_FULL && used == 0);
    agent_lines_skip(&l);
    CHECK(agent_lines_next(&l, "d", 1, &used, &line) == AGENT_MORE);
    CHECK(agent_lines_next(&l, "ef\nx\n", 5, &used, &line) == AGENT_OK && agenti_eq(line, "x") && used == 5);
    CHECK(agent_lines_next(&l, "abcdef", 6, &used, &line) == AGENT_E_FULL);
    agent_lines_skip(&l);
    CHECK(agent_lines_next(&l, "abcdef", 6, &used, &line) == AGENT_MORE && agent_lines_end(&l, &line) == AGENT_MORE);
}

/* ---- HTTP ---- */
typedef struct http_case { const char *in, *plain, *error; unsigned offset; int keep_alive, flags; } http_case;
#define OK11 "HTTP/1.1 200 OK\r\n"
static const http_case http_cases[] = {
    {"", "", NULL, 0, 0, 0},
    {OK11 "Content-Length: 2\r\n\r\nok", "200 OK\ncontent-length: 2\nokEND\n", NULL, 0, 1, 0},
    {"\r\nHTTP/1.0 404 Not Found \r\nA:\t b c \t\r\nB:\r\nContent-Length:0\r\n\r\n",
        "404 Not Found \na: b c\nb: \ncontent-length: 0\nEND\n", NULL, 0, 0, 0},
    {"\r\n\r\n" OK11, "", "the answer does not begin with HTTP/1.", 2, 0, 0},
    {"\rHTTP", "", "a CR without LF before the answer", 1, 0, 0},
    {OK11 "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n00a;x;y=z;q=\"\\\"\t;\"\r\n0123456789\r\n0\r\nT-1:  x \r\n\r\n" OK11 "Content-Length: 1\r\n\r\nz",
     "200 OK\ntransfer-encoding: chunked\nabc0123456789t-1: x\nEND\n200 OK\ncontent-length: 1\nzEND\n", NULL, 0, 1, 0},
    {OK11 "Transfer-Encoding: chunked\r\nConnection: x, Close ,y\r\n\r\n0\r\n\r\n",
        "200 OK\ntransfer-encoding: chunked\nconnection: x, Close ,y\nEND\n", NULL, 0, 0, 0},
    {OK11 "Connection: close\r\nContent-Length: 0\r\n\r\nH", "200 OK\nconnection: close\ncontent-length: 0\nEND\n",
     "bytes behind an answer that ends the connection", 57, 0, 0},
    {"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx",
        "200 OK\nconnection: Keep-Alive\ncontent-length: 1\nxEND\n", NULL, 0, 1, 0},
    {"HTTP/1.0 200 OK\r\nConnection: Keep-Alive, close\r\nContent-Length: 1\r\n\r\nx",
     "200 OK\nconnection: Keep-Alive, close\ncontent-length: 1\nxEND\n", NULL, 0, 0, 0},
    {"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     "200 OK\nconnection: Keep-Alive\ntransfer-encoding: chunked\nEND\n", NULL, 0, 0, 0},
    {OK11 "\r\nall of\r\n\r\nthis", "200 OK\nall of\r\n\r\nthisEND\n", NULL, 0, 0, HTTP_EOF},
    {OK11 "\r\n", "200 OK\nEND\n", NULL, 0, 0, HTTP_EOF},
    {OK11, "", "the connection ended in the head", 17, 0, HTTP_EOF},
    {"HTTP/1.1 103 Early\r\n\r\n", "103 Early\nEND\n", "the connection ended in the head", 22, 0, HTTP_EOF},
    {OK11 "Content-Length: 3\r\n\r\nab", "200 OK\ncontent-length: 3\nab", "the connection ended in the body", 40, 1, HTTP_EOF},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Wait\r\nA: b\r\n\r\nHTTP/1.1 204 None\r\nContent-Length: 5\r\n\r\n",
     "100 Continue\nEND\n102 Wait\na: b\nEND\n204 None\ncontent-length: 5\nEND\n", NULL, 0, 1, 0},
    {"HTTP/1.1 101 Switching\r\n\r\n", "", "status 101, but no other protocol was asked for", 26, 0, 0},
    {"HTTP/1.1 304 X\r\nTransfer-Encoding: gzip\r\n\r\n", "304 X\ntransfer-encoding: gzip\nEND\n", NULL, 0, 1, 0},
    {OK11 "Transfer-Encoding: gzip\r\nContent-Length: 4\r\n\r\n" OK11 "Content-Length: 9\r\n\r\n",
     "200 OK\ntransfer-encoding: gzip\ncontent-length: 4\nEND\n200 OK\ncontent-length: 9\nEND\n", NULL, 0, 1, HTTP_ALL_HEAD},
    {OK11 "Content-Length: 4, 4\r\nContent-length: 04\r\n\r\nabcd", "200 OK\ncontent-length: 4, 4\ncontent-length: 04\nabcdEND\n",
        NULL, 0, 1, 0},
    {OK11 "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd", "", "two Content-Lengths that differ", 52, 0, 0},
    {OK11 "Content-Length: 4,\r\n\r\nabcd", "", "a Content-Length without a number", 33, 0, 0},
    {OK11 "Content-Length: 18446744073709551616\r\n\r\n", "", "a Content-Length over 64 bits", 33, 0, 0},
    {OK11 "Content-Length: 18446744073709551615\r\n\r\nx", "200 OK\ncontent-length: 18446744073709551615\nx", NULL, 0, 1, 0},
    {OK11 "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "", "both Transfer-Encoding and Content-Length", 66, 0, 0},
    {OK11 "Transfer-Encoding: chunked, chunked\r\n\r\n", "", "a Transfer-Encoding other than chunked", 56, 0, 0},
    {OK11 "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", "", "a Transfer-Encoding other than chunked", 76, 0, 0},
    {OK11 "Transfer-Encoding:\r\n\r\n", "", "a Transfer-Encoding other than chunked", 39, 0, 0},
    {OK11 " a: b\r\n\r\n", "", "a header line begins with a blank", 17, 0, 0},
    {OK11 "a: b\r\n c\r\n\r\n", "", "a header line begins with a blank", 23, 0, 0},
    {OK11 "a : b\r\n\r\n", "", "a character that no header name has", 18, 0, 0},
    {OK11 "ab\r\n\r\n", "", "a header line without a colon", 19, 0, 0},
    {OK11 ": b\r\n\r\n", "", "a header without a name", 17, 0, 0},
    {OK11 "a: b\n\r\n", "", "a line of the head ends in LF without CR", 21, 0, 0},
    {OK11 "a: b\rc\r\n\r\n", "", "a CR without LF in the head", 21, 0, 0},
    {OK11 "a: b\x7f\r\n\r\n", "", "a control character in the head", 21, 0, 0},
    {OK11 "a: \xC3\xA4\r\n\r\n", "200 OK\na: \xC3\xA4\n", NULL, 0, 0, 0},
    {"HTTP/1.1 999 \r\n\r\n", "999 \n", NULL, 0, 0, 0},
    {"HTTP/1.1 999\r\n\r\n", "999 \n", NULL, 0, 0, 0},
    {"HTTP/1.2 200 OK\r\n", "", "the version is neither HTTP/1.0 nor HTTP/1.1", 7, 0, 0},
    {"HTTP/1.1\r\n", "", "no space behind the version", 8, 0, 0},
    {"HTTP/1.1 2\r\n", "", "the status is no number from 100 to 999", 10, 0, 0},
    {"HTTP/1.1 2000\r\n", "", "no space behind the status", 12, 0, 0},
    {"HTTP\r\n", "", "the answer does not begin with HTTP/1.", 4, 0, 0},
    {"<html>", "", "the answer does not begin with HTTP/1.", 0, 0, 0},
    {OK11 "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", "200 OK\ntransfer-encoding: chunked\n",
        "a chunk size over 64 bits", 63, 1, 0},
    {OK11 "Transfer-Encoding: chunked\r\n\r\n1 \r\n", "200 OK\ntransfer-encoding: chunked\n",
        "a chunk size that is no hexadecimal number", 48, 1, 0},
    {OK11 "Transfer-Encoding: chunked\r\n\r\n1;\r\n", "200 OK\ntransfer-encoding: chunked\n",
        "a chunk extension that is not well-formed", 49, 1, 0},
    {OK11 "Transfer-Encoding: chunked\r\n\r\n1;a=\"\r\n", "200 OK\ntransfer-encoding: chunked\n",
        "a chunk extension that is not well-formed", 52, 1, 0},
    {OK11 "Transfer-Encoding: chunked\r\n\r\n1\nx", "200 OK\ntransfer-encoding: chunked\n",
        "a chunk size that is no hexadecimal number", 48, 1, 0},
    {OK11 "Transfer-Encoding: chunked\r\n\r\n1\rx", "200 OK\ntransfer-encoding: chunked\n",
        "a chunk size line does not end in CRLF", 49, 1, 0},
    {OK11 "Transfer-Encoding: chunked\r\n\r\n1\r\nxy", "200 OK\ntransfer-encoding: chunked\nx",
        "a chunk's data does not end in CRLF", 51, 1, 0},
    {OK11 "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: x\r\na\r\n", "200 OK\ntransfer-encoding: chunked\n",
        "a header line without a colon", 70, 1, 0}
};
static void http_one(const http_case *c)
{
    size_t n = strlen(c->in), k, caps[2] = {4096, 0}, i;
    http_result first, r;
    for (i = 0; i < 2; i++) for (k = 0; k < n + 3; k++) {
        cut by = {0, CUT_REST};
        if (k == n + 2) by.step = 1;
        else if (k == n + 1) by.step = 0;
        else by.first = k;
        http_run(c->in, n, by, caps[i], 4096, c->flags, i + k ? &r : &first);
        if (i + k == 0) {
            CHECK_CASE(first.plain.n == strlen(c->plain) && (first.plain.n == 0 || memcmp(first.plain.p, c->plain,
                first.plain.n) == 0), c->in);
            CHECK_CASE((first.code == AGENT_E_SYNTAX) == (c->error != NULL) && (first.error == NULL) == (c->error == NULL), c->in);
            CHECK_CASE(c->error == NULL || first.error == NULL || strcmp(c->error, first.error) == 0, c->in);
            CHECK_CASE(first.offset == (c->error ? c->offset : n), c->in);
            CHECK_CASE(first.keep_alive == c->keep_alive, c->in);
        } else {
            CHECK_CASE(http_same(&first, &r), c->in);
            http_free(&r);
        }
    }
    http_free(&first);
}
static void http_limits(void)
{
    static const char head[] = OK11 "A: b\r\n\r\n";                      /* 25 bytes, and each counts */
    size_t n = sizeof head - 1, k;
    http_result r;
    codec_log big = {NULL, 0, 0};
    cut whole = {0, CUT_REST};
    for (k = 0; k < 2; k++) {
        cut by = {0, k ? 1 : CUT_REST};
        http_run(head, n, by, n, n, 0, &r);
        CHECK(r.heads == 1 && r.code == AGENT_MORE);
        http_free(&r);
        http_run(head, n, by, n - 1, n - 1, 0, &r);
        CHECK(r.heads == 0 && r.code == AGENT_E_FULL && r.offset == n - 1);
        http_free(&r);
    }
    for (k = 0; k < 1000; k++) log_text(&big, "HTTP/1.1 100 Continue\r\n\r\n");
    http_run(big.p, big.n, whole, 100, 100, 0, &r);
    CHECK(r.code == AGENT_MORE);
    http_free(&r);
    log_text(&big, "HTTP/1.1 100 Continue\r\n\r\n");
    http_run(big.p, big.n, whole, 100, 100, 0, &r);
    CHECK(r.code == AGENT_E_SYNTAX && strcmp(r.error, "too many interim answers") == 0);
    http_free(&r);
    log_free(&big);
}
static void http_extra(void)                                         /* bytes around chunks: some for each chunk, not without end */
{
    codec_log in = {NULL, 0, 0};
    http_result r;
    size_t k;
    cut by = {0, 1000};
    log_text(&in, OK11 "Transfer-Encoding: chunked\r\n\r\n");
    for (k = 0; k < 20000; k++) log_text(&in, "1;sign=no\r\nx\r\n");
    http_run(in.p, in.n, by, 100, 100, 0, &r);
    CHECK(r.code == AGENT_MORE && r.body.n == 20000);
    http_free(&r);
    log_text(&in, "1;");
    for (k = 0; k < 16390; k++) log_text(&in, "a");
    http_run(in.p, in.n, by, 100, 100, 0, &r);
    CHECK(r.code == AGENT_E_SYNTAX && strcmp(r.error, "chunk sizes and extensions too long for the data") == 0);
    http_free(&r);
    log_free(&in);
}
static void http_headers(void)
{
    agent_str v, block = agenti_cstr("a: 1\nbb: 2\na: 3\nempty: \n"), raw = agenti_cstr("Content-Type:  text/plain \r\nX: y");
    char buf[32];
    CHECK(agent_http_header(block, "A", &v) == 1 && agenti_eq(v, "1"));
    CHECK(agent_http_header(block, "bB", &v) == 1 && agenti_eq(v, "2"));
    CHECK(agent_http_header(block, "empty", &v) == 1 && v.n == 0);
    CHECK(agent_http_header(block, "b", &v) == 0 && v.n == 0 && v.p != NULL);
    CHECK(agent_http_header(raw, "content-type", &v) == 1 && agenti_eq(v, "text/plain"));
    CHECK(agent_http_header(raw, "x", &v) == 1 && agenti_eq(v, "y"));
    CHECK(agent_http_header(agenti_str(NULL, 0), "x", &v) == 0);
    CHECK(agent_http_write_header("Name", "a b", buf, sizeof buf) == 11 && strcmp(buf, "Name: a b\r\n") == 0);
    memset(buf, 'x', sizeof buf);
    CHECK(agent_http_write_header("Name", "a b", buf, 11) == 11 && memcmp(buf, "Name: a b\r\nx", 12) == 0);
    memset(buf, 'x', sizeof buf);
    CHECK(agent_http_write_header("Name", "a b", buf, 10) == 11 && buf[0] == 'x');
    CHECK(agent_http_write_header("Name", "", NULL, 0) == 8);
    CHECK(agent_http_write_header("", "a", buf, sizeof buf) == 0 && agent_http_write_header("a b", "a", buf, sizeof buf) == 0);
    CHECK(agent_http_write_header("a:", "a", buf, sizeof buf) == 0 && agent_http_write_header("a\xC3", "a", buf, sizeof buf) == 0);
    CHECK(agent_http_write_header("a", "x\r\nb: c", buf, sizeof buf) == 0 && agent_http_write_header("a", "x\n", buf, sizeof buf) == 0);
    CHECK(agent_http_write_header("a", "\r", buf, sizeof buf) == 0 && agent_http_write_header("a", "\x01", buf, sizeof buf) == 0);
    CHECK(agent_http_write_header("a", "\xC3\xA4\t.", buf, sizeof buf) == 9);
}

/* ---- base URLs ---- */
typedef struct url_case { const char *url, *host, *authority, *path, *query; unsigned port, tls; } url_case;
static const url_case urls[] = {
    {"https://api.openai.com/v1", "api.openai.com", "api.openai.com", "/v1", "", 443, 1},
    {"HTTP://Localhost:11434", "Localhost", "Localhost:11434", "", "", 11434, 0},
    {"http://a:80/", "a", "a", "/", "", 80, 0}, {"https://a:443?x=1", "a", "a", "", "x=1", 443, 1}, {"https://a:80", "a", "a:80",
        "", "", 80, 1},
    {"http://127.0.0.1:65535/a/b/?api-version=1&c=?", "127.0.0.1", "127.0.0.1:65535", "/a/b/", "api-version=1&c=?", 65535, 0},
    {"http://[::1]:8080/v1", "::1", "[::1]:8080", "/v1", "", 8080, 0}, {"https://[2001:db8::1.2.3.4]", "2001:db8::1.2.3.4",
        "[2001:db8::1.2.3.4]", "", "", 443, 1},
    {"http://my_host-1.x.", "my_host-1.x.", "my_host-1.x.", "", "", 80, 0}, {"http://h/%7Eme/a@b:c;d=e,f", "h", "h",
        "/%7Eme/a@b:c;d=e,f", "", 80, 0}
};
static const char *const bad_urls[] = {"", "api.openai.com", "ftp://a", "http:/a", "http://", "https:///x", "http://?x",
    "http://:80", "http://a:", "http://a:0",
    "http://a:65536", "http://a:08", "http://a:1x", "http://a:-1", "http://a b", "http://a\n", "http://a/\x7f", "http://a/\t",
    "http://a#x", "http://a/x#y",
    "http://u@a", "http://u:p@a/", "http://[::1", "http://[]", "http://[:]", "http://[::1]x", "http://[::g]",
    "http://[fe80::1%25eth0]", "http://a..b", "http://.a",
    "http://\xC3\xA4/", "http://a/\xC3\xA4", "http://a\\b", "http://a/{x}", "http://a%41/", "http://a/\"", "http://[1.2.3.4]", " http://a"};
typedef struct join_case { const char *url, *path, *target; } join_case;
static const join_case joins[] = {
    {"https://a/v1", "/chat/completions", "/v1/chat/completions"}, {"https://a/v1/", "/chat/completions", "/v1/chat/completions"},
    {"https://a", "/x", "/x"}, {"https://a///", "/x", "/x"}, {"https://a/v1/chat/completions", "/chat/completions", "/v1/chat/completions"},
    {"https://a/v1/chat/completions/?q=1", "/chat/completions", "/v1/chat/completions?q=1"}, {"https://a/xchat", "/chat", "/xchat/chat"},
    {"https://a/v?k=1", "/m:stream?alt=sse", "/v/m:stream?alt=sse&k=1"}, {"https://a/v", "/m?alt=sse", "/v/m?alt=sse"},
        {"https://a/x", "/", "/x/"},
    {"https://a?", "/y", "/y"}
};
static void url_tests(void)
{
    size_t i, k;
    agenti_url u;
    agenti_buf b;
    agenti_pool pool;
    const char *why;
    agenti_pool_child(&pool, NULL, 0);
    for (i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        const url_case *c = &urls[i];
        CHECK_CASE(agenti_url_parse(agenti_cstr(c->url), &u, &why) == 1 && why == NULL, c->url);
        CHECK_CASE(agenti_eq(u.host, c->host) && agenti_eq(u.authority, c->authority), c->url);
        CHECK_CASE(agenti_eq(u.path, c->path) && agenti_eq(u.query, c->query) && u.port == c->port && u.tls == c->tls, c->url);
        for (k = 0; k < strlen(c->url); k++) {                       /* no prefix makes it read too far */
            char *q = codec_block(c->url, k);
            (void)agenti_url_parse(agenti_str(q, k), &u, &why);
            free(q);
        }
    }
    for (i = 0; i < sizeof bad_urls / sizeof bad_urls[0]; i++)
        CHECK_CASE(agenti_url_parse(agenti_cstr(bad_urls[i]), &u, &why) == 0 && why != NULL, bad_urls[i]);
    CHECK(agenti_url_parse(agenti_str("http://a\0b", 10), &u, &why) == 0);
    for (i = 0; i < sizeof joins / sizeof joins[0]; i++) {
        const join_case *c = &joins[i];
        agenti_buf_init(&b, &pool);
        CHECK_CASE(agenti_url_parse(agenti_cstr(c->url), &u, &why) == 1 && agenti_url_join(&b, &u, c->path) == 1, c->url);
        CHECK_CASE(agenti_eq(agenti_str(b.p, b.n), c->target), c->url);
        CHECK_CASE(agenti_url_join(&b, &u, "x") == 0 && agenti_url_join(&b, &u, "/a b") == 0 && agenti_url_join(&b, &u,
            "/a\r\nb") == 0, c->url);
        agenti_buf_free(&b);
    }
    CHECK(agenti_http_path_ok("/a?b=c") == 1 && agenti_http_path_ok("") == 0 && agenti_http_path_ok("a") == 0);
    CHECK(agenti_http_path_ok("/a\nb") == 0 && agenti_http_path_ok("/\x7f") == 0 && agenti_http_path_ok("/#") == 0);
    CHECK(pool.now == 0);
}

int main(void)
{
    size_t i;
    for (i = 0; i < sizeof sse_cases / sizeof sse_cases[0]; i++) sse_one(sse_cases[i].in, sse_cases[i].out, 0, 0);
    sse_one("error: {\"a\":1}\n\n", "error|{\"a\":1}|\n", AGENT_SSE_ERROR_FIELD, 0);
    sse_one("event: x\nerror:{}\ndata: y\n\ndata: z\n\n", "error|{}\ny|\nmessage|z|\n", AGENT_SSE_ERROR_FIELD, 0);
    sse_one("error: text\nerror\n\ndata: z\n\n", "message|z|\n", AGENT_SSE_ERROR_FIELD, 0);
    sse_one("data: a\n\ndata: unfinished", "message|a|\nmessage|unfinished|\n", 0, SSE_END);
    sse_one("event: e\ndata: 1\ndata", "e|1\n|\n", 0, SSE_END);
    sse_one("event: e\nid: 1\ndata: 1\nid: 1234567", "e|1|1234567\n", 0, SSE_END);
    sse_one("event: e\nid: 1\n: comment", "", 0, SSE_END);
    sse_one("error: {", "error|{|\n", AGENT_SSE_ERROR_FIELD, SSE_END);
    sse_one("data: 1\r", "message|1|\n", 0, SSE_END);
    sse_in_place();
    sse_skip();
    sse_linear();
    for (i = 0; i < sizeof line_cases / sizeof line_cases[0]; i++) lines_one(line_cases[i].in, line_cases[i].out);
    lines_skip();
    for (i = 0; i < sizeof http_cases / sizeof http_cases[0]; i++) http_one(&http_cases[i]);
    http_limits();
    http_extra();
    http_headers();
    url_tests();
    CHECK(codec_broken == 0);
    return test_end("test_codecs");
}
