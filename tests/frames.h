/* AWS event streams written as text, a message a line:
 *   event TYPE PAYLOAD        exception TYPE PAYLOAD        error CODE WORDS (in a header; no payload)
 *   spoil N                   changes the byte N before the end of what there is so far; 1 is the last one
 *   cut N                     takes the last N bytes away
 * wrap: the payload of an event is {"bytes":"..."} around the base64 of what stands there. Knows nothing of agent.h. */
#ifndef FRAMES_H
#define FRAMES_H
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct frames_buf { char *p; size_t n, cap; } frames_buf;

static void frames_add(frames_buf *b, const void *p, size_t n)
{
    if (b->n + n + 1 > b->cap) {
        b->cap = (b->n + n + 1) * 2;
        b->p = (char *)realloc(b->p, b->cap);
        if (b->p == NULL) abort();
    }
    if (n) memcpy(b->p + b->n, p, n);
    b->n += n;
    b->p[b->n] = 0;
}
static void frames_int(frames_buf *b, unsigned long v, int bytes)
{
    while (bytes-- > 0) {
        char c = (char)(unsigned char)(v >> (8 * bytes) & 255);
        frames_add(b, &c, 1);
    }
}
static unsigned long frames_crc(const char *p, size_t n)     /* a bit at a time                                         */
{
    unsigned long c = 0xFFFFFFFFul;
    int k;
    for (; n > 0; n--) {
        c ^= (unsigned char)*p++;
        for (k = 0; k < 8; k++) c = (c >> 1) ^ (c & 1 ? 0xEDB88320ul : 0);
    }
    return c ^ 0xFFFFFFFFul;
}
static void frames_header(frames_buf *b, const char *name, const char *value, size_t n)         /* of type string       */
{
    frames_int(b, (unsigned long)strlen(name), 1);
    frames_add(b, name, strlen(name));
    frames_int(b, 7, 1);
    frames_int(b, (unsigned long)n, 2);
    frames_add(b, value, n);
}
/* A message around headers that are bytes already.                                                                     */
static void frames_message(frames_buf *b, const char *headers, size_t headers_n, const char *payload, size_t n)
{
    size_t at = b->n;
    frames_int(b, (unsigned long)(16 + headers_n + n), 4);
    frames_int(b, (unsigned long)headers_n, 4);
    frames_int(b, frames_crc(b->p + at, 8), 4);
    frames_add(b, headers, headers_n);
    frames_add(b, payload, n);
    frames_int(b, frames_crc(b->p + at, b->n - at), 4);
}
static void frames_wrap(frames_buf *b, const char *p, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t i, k;
    frames_add(b, "{\"bytes\":\"", 10);
    for (i = 0; i < n; i += 3) {
        unsigned long v = 0;
        char four[4];
        for (k = 0; k < 3; k++) v = v << 8 | (i + k < n ? (unsigned char)p[i + k] : 0u);
        for (k = 0; k < 4; k++) four[k] = i + k > n ? '=' : digits[v >> (18 - 6 * k) & 63];
        frames_add(b, four, 4);
    }
    frames_add(b, "\",\"p\":\"abcd\"}", 13);
}
static void frames_word(const char **p, const char *end, const char **word, size_t *n)
{
    while (*p < end && **p == ' ') (*p)++;
    *word = *p;
    while (*p < end && **p != ' ') (*p)++;
    *n = (size_t)(*p - *word);
    if (*p < end) (*p)++;
}
static int frames_is(const char *word, size_t n, const char *is) { return n == strlen(is) && memcmp(word, is, n) == 0; }
static int frames_line(frames_buf *b, const char *p, size_t n, int wrap)       /* 0: it is not of that form             */
{
    static const char *const kinds[] = { "event", "exception", "error" }, *const types[] = { ":event-type", ":exception-type", ":error-code" };
    const char *end = p + n, *word, *type;
    size_t word_n, type_n, count = 0, i;
    frames_buf h = { NULL, 0, 0 }, body = { NULL, 0, 0 };
    int k;
    frames_word(&p, end, &word, &word_n);
    frames_word(&p, end, &type, &type_n);
    for (i = 0; i < type_n && type[i] >= '0' && type[i] <= '9' && count < 1000000; i++) count = count * 10 + (size_t)(type[i] - '0');
    if (frames_is(word, word_n, "spoil")) { if (count && count <= b->n) b->p[b->n - count] ^= 1; return count > 0; }
    if (frames_is(word, word_n, "cut")) { b->n -= count < b->n ? count : b->n; return count > 0; }
    for (k = 0; k < 3 && !frames_is(word, word_n, kinds[k]); k++) {}
    if (k == 3 || type_n > 200) return 0;
    frames_header(&h, types[k], type, type_n);
    if (k == 2) frames_header(&h, ":error-message", p, (size_t)(end - p) & 0xFFFF);
    else frames_header(&h, ":content-type", "application/json", 16);
    frames_header(&h, ":message-type", kinds[k], strlen(kinds[k]));
    if (k == 0 && wrap) frames_wrap(&body, p, (size_t)(end - p));
    else if (k < 2) frames_add(&body, p, (size_t)(end - p));
    frames_message(b, h.p, h.n, body.p ? body.p : "", body.n);
    free(h.p);
    free(body.p);
    return 1;
}
/* All lines of a text; those of another form are bytes as they are.                                                    */
static void frames_text(frames_buf *b, const char *p, size_t n, int wrap)
{
    while (n > 0) {
        const char *eol = (const char *)memchr(p, '\n', n);
        size_t k = eol ? (size_t)(eol - p) : n;
        if (!frames_line(b, p, k, wrap)) frames_add(b, p, k);
        k += eol != NULL;
        p += k;
        n -= k;
    }
}
#endif
