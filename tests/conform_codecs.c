/* Other people's cases for the codecs, from DIR (argv[1], default ../shared): suites/sse, suites/http. Each runs whole, byte by byte
 * and split at every place (long ones at many), and must give what the suite expects, or stands in `own` below with its reason. */
#include <stdint.h>
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"
#include "codecs.h"

enum { SSE_KNOWN = 52, HTTP_KNOWN = 114, LLHTTP_KNOWN = 84 };

/* Where this reader means to differ from llhttp in its strict mode: it refuses these.                                 */
static const char *const own[][2] = {
    {"llhttp/sample/RTSP response", "RFC 9112 2.3: HTTP-name is \"HTTP\"; RTSP is another protocol"},
    {"llhttp/sample/ICE response", "RFC 9112 2.3: as above; not what was asked for"},
    {"llhttp/sample/HTTP version 0.9", "RFC 9112 2.3, 9110 2.5: an answer to HTTP/1.1 has major version 1; 0.9 has no status line"},
    {"llhttp/transfer-encoding/`chunked` before other transfer-encoding",
     "RFC 9112 6.1, 7: only chunked was offered (no TE header), so the body could not be decoded; not shown as plain"},
    {"llhttp/transfer-encoding/multiple transfer-encoding where chunked is not the last one",
        "RFC 9112 6.1, 7: as above; identity is no coding any more"},
    {"llhttp/transfer-encoding/`chunkedchunked` transfer-encoding does not enable chunked enconding", "RFC 9112 6.1, 7: an unknown coding"}
};
/* http_cases.json leaves these open; what this reader does: refused unless noted.
 *   cl/dup-same, cl/list-same     accepted: RFC 9110 8.6 allows the repeated number
 *   te/many-leading-zeros         accepted: RFC 9112 7.1, 1*HEXDIG; bounded like extensions
 *   te/http10                     accepted, the connection is not kept: RFC 9112 6.1
 *   leading/crlf                  accepted once: RFC 9112 2.2 in the direction of a client
 *   te/ext-ws, te/trailing-space-size        RFC 9112 7.1.1: BWS is not for generating, and llhttp refuses it
 *   te/ext-huge, interim/flood, limits/header-64k: bounded
 *   te/gzip-chunked, te/not-last, te/xchunked, te/identity: RFC 9112 6.1
 *   smuggle/te-and-cl, cl-and-te  RFC 9112 6.3: "ought to be handled as an error"
 *   smuggle/space-before-colon, obs-fold     RFC 9112 5.1, 5.2, as llhttp
 *   lf/bare-lf-everywhere         RFC 9112 2.2 leaves it open; llhttp refuses
 *   sl/http9, sl/ws, sl/empty, interim/101 */

static char *load(const char *dir, const char *name, size_t *n)
{
    char path[1024];
    FILE *f;
    long size;
    char *p;
    if (strlen(dir) + strlen(name) + 2 > sizeof path) return NULL;
    sprintf(path, "%s/%s", dir, name);
    f = fopen(path, "rb");
    if (f == NULL) return NULL;
    fseek(f, 0, SEEK_END);
    size = ftell(f);
    rewind(f);
    p = (char *)malloc((size_t)size + 1);
    *n = p ? fread(p, 1, (size_t)size, f) : 0;
    fclose(f);
    if (p == NULL || agent_json_check(p, *n, 0, NULL) != AGENT_OK) { free(p); return NULL; }
    return p;
}
static codec_log text_of(agent_str value)                    /* a JSON string, unescaped                                */
{
    codec_log l = {NULL, 0, 0};
    size_t n = agent_json_text(value, NULL, 0);
    l.cap = n + 1;
    l.p = (char *)malloc(l.cap);
    if (l.p == NULL) abort();
    l.n = agent_json_text(value, l.p, l.cap);
    l.p[l.n] = 0;
    return l;
}
static void log_json(codec_log *l, agent_str value)
{
    codec_log t = text_of(value);
    log_add(l, t.p, t.n);
    log_free(&t);
}
static codec_log base64(agent_str value)
{
    codec_log l = {NULL, 0, 0};
    unsigned bits = 0, have = 0;
    size_t i;
    log_add(&l, "", 0);
    for (i = 1; value.n && i < value.n - 1; i++) {
        static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const char *at = value.p[i] == '=' ? NULL : strchr(set, value.p[i]);
        if (at == NULL) continue;
        bits = bits << 6 | (unsigned)(at - set);
        have += 6;
        if (have >= 8) {
            char c = (char)(bits >> (have - 8) & 255);
            have -= 8;
            log_add(&l, &c, 1);
        }
    }
    return l;
}
/* The k-th cut of n bytes; 0: no more.                                                                                */
static int next_cut(size_t n, size_t k, cut *c)
{
    size_t step = n > 4096 ? n / 500 : 1;
    c->first = 0;
    c->step = CUT_REST;
    if (k == 0) return 1;
    if (k == 1) { c->step = 1; return 1; }
    if (k == 2) { c->step = 0; return 1; }
    c->first = n > 4096 && k < 300 ? k - 2 : (k - 2) * step;
    return c->first < n;
}

/* ---- server-sent events ---- */
static codec_log quoted(const codec_log *l)                  /* invalid UTF-8 repaired: the suite's events are text     */
{
    codec_log q = {NULL, 0, 0};
    q.cap = agent_json_quote(l->p ? l->p : "", l->n, NULL, 0) + 1;
    q.p = (char *)malloc(q.cap);
    if (q.p == NULL) abort();
    q.n = agent_json_quote(l->p ? l->p : "", l->n, q.p, q.cap);
    return q;
}
static void sse_case(agent_str c)
{
    codec_log id = text_of(agent_json_get(c, "id")), in = base64(agent_json_get(c, "input_b64")), expected = {NULL, 0, 0}, l, q, want;
    agent_str events = agent_json_get(c, "events"), key, e;
    size_t pos = 0, k;
    cut by;
    int good = 1;
    while (agent_json_each(events, &pos, &key, &e)) {
        log_json(&expected, agent_json_get(e, "event"));
        log_text(&expected, "|");
        log_json(&expected, agent_json_get(e, "data"));
        log_text(&expected, "|");
        log_json(&expected, agent_json_get(e, "id"));
        log_text(&expected, "\n");
    }
    want = quoted(&expected);
    for (k = 0; next_cut(in.n, k, &by); k++) {
        memset(&l, 0, sizeof l);
        sse_run(in.p, in.n, by, k & 1 ? 0 : 256, 0, SSE_NO_OFFSETS, &l);
        q = quoted(&l);
        if (!log_same(&q, &want)) good = 0;
        log_free(&q);
        log_free(&l);
    }
    CHECK_CASE(good, id.p);
    log_free(&want);
    log_free(&expected);
    log_free(&in);
    log_free(&id);
}

/* ---- http_cases.json ---- */
static int same_for_every_cut(const codec_log *in, int flags, size_t cap, size_t max, const http_result *first)
{
    http_result r;
    size_t k;
    cut by;
    int good = 1;
    for (k = 1; next_cut(in->n, k, &by); k++) {
        http_run(in->p, in->n, by, k & 1 && cap != max ? k % 64 : cap, max, flags, &r);
        if (!http_same(first, &r) || (r.code == AGENT_OK && r.used != first->used)) good = 0;
        http_free(&r);
    }
    return good;
}
static const char *outcome(const http_result *r)
{
    if (r->code == AGENT_E_FULL || (r->code == AGENT_E_SYNTAX && strncmp(r->error, "the connection ended", 20) != 0)) return "error";
    if (r->code != AGENT_OK) return "incomplete";
    return r->framing == AGENT_HTTP_UNTIL_CLOSE ? "eof" : "complete";
}
/* Whether the outcome is one of "x_or_y". "complete_at_eof" and "eof" are the same.                                   */
static int allowed(const char *expect, const char *is)
{
    const char *p = expect;
    for (;;) {
        const char *end = strstr(p, "_or_");
        size_t n = end ? (size_t)(end - p) : strlen(p);
        if (n == strlen(is) && memcmp(p, is, n) == 0) return 1;
        if (strcmp(is, "eof") == 0 && n == 15 && memcmp(p, "complete_at_eof", 15) == 0) return 1;
        if (end == NULL) return 0;
        p = end + 4;
    }
}
static int http_details(agent_str c, const codec_log *in, const http_result *r)      /* of a complete answer            */
{
    static const char *const names[] = {"", "length", "chunked", "eof"};
    codec_log body = base64(agent_json_get(c, "body_b64")), rest = text_of(agent_json_get(c, "leftover")), head = {NULL, 0, 0};
    agent_str framing = agent_json_get(c, "framing"), list, key, v;
    size_t pos = 0;
    int good = r->status == (int)agent_json_int(agent_json_get(c, "status"), -1) && log_same(&body, &r->body) && r->ends == 1;
    if (framing.p && !agent_json_is(framing, names[r->framing])) good = 0;
    if (in->n - r->used != rest.n) good = 0;
    list = agent_json_get(c, "interim");
    while (list.p && agent_json_each(list, &pos, &key, &v)) {
        log_num(&head, "INTERIM ", (unsigned long long)agent_json_int(v, 0));
        if (r->head.n < head.n || strstr(r->head.p, head.p) == NULL) good = 0;
        head.n = 0;
    }
    list = agent_json_get(c, "trailers");
    for (pos = 0; list.p && agent_json_each(list, &pos, &key, &v);) {
        codec_log name = text_of(agent_json_get(v, "[0]"));
        size_t i;
        for (i = 0; i < name.n; i++) name.p[i] = agenti_lower(name.p[i]);
        head.n = 0;
        log_add(&head, name.p, name.n);
        log_text(&head, ": ");
        log_json(&head, agent_json_get(v, "[1]"));
        log_text(&head, "\n");
        if (strstr(r->head.p, head.p) == NULL) good = 0;
        log_free(&name);
    }
    log_free(&body);
    log_free(&rest);
    log_free(&head);
    return good;
}
static void http_case(agent_str c)
{
    codec_log id = text_of(agent_json_get(c, "id")), in = base64(agent_json_get(c, "input_b64")),
        expect = text_of(agent_json_get(c, "expect"));
    int flags = HTTP_FIRST_ONLY | HTTP_EOF | (agent_json_is(agent_json_get(c, "method"), "HEAD") ? HTTP_ALL_HEAD : 0);
    http_result r;
    cut whole = {0, CUT_REST};
    const char *is;
    http_run(in.p, in.n, whole, 65536, 65536, flags, &r);
    is = outcome(&r);
    CHECK_CASE(allowed(expect.p, is), id.p);
    if (strcmp(is, "complete") == 0 || strcmp(is, "eof") == 0) CHECK_CASE(http_details(c, &in, &r), id.p);
    CHECK_CASE(same_for_every_cut(&in, flags, 65536, 65536, &r), id.p);
    http_free(&r);
    log_free(&id);
    log_free(&in);
    log_free(&expect);
}

/* ---- llhttp_response.json ---- */
static const char *own_reason(const char *id)
{
    size_t i;
    for (i = 0; i < sizeof own / sizeof own[0]; i++) if (strcmp(own[i][0], id) == 0) return own[i][1];
    return NULL;
}
/* The suite shows bytes over 127 as the characters of that number, and blanks behind a value.                         */
static void log_bytes(codec_log *l, agent_str value)
{
    codec_log t = text_of(value);
    size_t i, start = l->n;
    for (i = 0; i < t.n; i++) {
        char c = t.p[i];
        if ((unsigned char)c >= 0xC2 && (unsigned char)c <= 0xC3 && i + 1 < t.n) c = (char)((unsigned char)c << 6 | ((unsigned char)t.p[++i] & 63));
        log_add(l, &c, 1);
    }
    while (l->n > start && (l->p[l->n - 1] == ' ' || l->p[l->n - 1] == '\t')) l->n--;
    log_free(&t);
}
/* The messages as http_run's plain log has them, up to the first without a status: that one is not read to its end.   */
static void messages(agent_str list, codec_log *l)
{
    size_t pos = 0, hpos, k;
    agent_str key, m, h, status;
    while (agent_json_each(list, &pos, &key, &m)) {
        codec_log body = base64(agent_json_get(m, "body_b64"));
        status = agent_json_get(m, "status");
        if (status.n != 3) { log_free(&body); return; }
        log_str(l, status);
        log_text(l, " ");
        log_bytes(l, agent_json_get(m, "reason"));
        log_text(l, "\n");
        hpos = 0;
        while (agent_json_each(agent_json_get(m, "headers"), &hpos, &key, &h)) {
            size_t start = l->n;
            log_bytes(l, agent_json_get(h, "[0]"));
            for (k = start; k < l->n; k++) l->p[k] = agenti_lower(l->p[k]);
            log_text(l, ": ");
            log_bytes(l, agent_json_get(h, "[1]"));
            log_text(l, "\n");
        }
        log_add(l, body.p, body.n);
        if (agent_json_bool(agent_json_get(m, "complete"), 0)) log_text(l, "END\n");
        log_free(&body);
    }
}
/* The suite lost line ends at the end of its inputs where its messages show that they were there; so an input is tried as given,
 * then with them.                                                                                                     */
static int llhttp_as_given(codec_log *in, int flags, const codec_log *expected, http_result *r)
{
    static const cut whole = {0, CUT_REST};
    int tries;
    for (tries = 0;; tries++) {
        http_run(in->p, in->n, whole, 65536, 65536, flags, r);
        if (r->code != AGENT_MORE || log_same(&r->plain, expected) || tries == 2) break;
        http_free(r);
        log_text(in, "\r\n");
    }
    return r->code == AGENT_MORE && log_same(&r->plain, expected);
}
static void llhttp_case(agent_str c)
{
    codec_log id = text_of(agent_json_get(c, "id")), in = base64(agent_json_get(c, "input_b64")), expected = {NULL, 0, 0}, type;
    int flags = agent_json_bool(agent_json_get(c, "meta.skipBody"), 0) ? HTTP_ALL_HEAD : 0, good;
    http_result r;
    log_text(&expected, "");
    type = text_of(agent_json_get(c, "meta.type"));
    messages(agent_json_get(c, "messages"), &expected);
    good = llhttp_as_given(&in, flags, &expected, &r);
    if (agent_json_get(c, "error").p[0] == '{' || strstr(type.p, "lenient") || own_reason(id.p)) CHECK_CASE(r.code == AGENT_E_SYNTAX, id.p);
    else CHECK_CASE(good, id.p);
    CHECK_CASE(same_for_every_cut(&in, flags, 65536, 65536, &r), id.p);
    http_free(&r);
    log_free(&id);
    log_free(&in);
    log_free(&type);
    log_free(&expected);
}

static void suite(const char *dir, const char *name, unsigned known, void (*one)(agent_str))
{
    size_t n, pos = 0;
    unsigned count = 0;
    char *text = load(dir, name, &n);
    agent_str cases, key, c;
    if (text == NULL) { test_skipped += known; printf("skipped: %s (%u cases)\n", name, known); return; }
    cases = agent_json_get(agenti_str(text, n), "cases");
    while (agent_json_each(cases, &pos, &key, &c)) { one(c); count++; }
    CHECK_CASE(count >= known, name);
    free(text);
}
int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : "../shared";
    suite(dir, "suites/sse/sse_cases.json", SSE_KNOWN, sse_case);
    suite(dir, "suites/http/http_cases.json", HTTP_KNOWN, http_case);
    suite(dir, "suites/http/llhttp_response.json", LLHTTP_KNOWN, llhttp_case);
    CHECK(codec_broken == 0);
    return test_end("conform_codecs");
}
