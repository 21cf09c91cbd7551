/* The event stream cases of DIR (argv[1], default ../shared), suites/eventstream: each message as the suite describes it, or refused. How
 * streams of them are cut is for test_framing.c. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"
#include "frames.h"

enum { KNOWN = 19, MOST = 16 << 20 };

static frames_buf load(const char *path)
{
    frames_buf b = { NULL, 0, 0 };
    char block[4096];
    size_t n;
    FILE *f = fopen(path, "rb");
    while (f && (n = fread(block, 1, sizeof block, f)) > 0) frames_add(&b, block, n);
    if (f) fclose(f);
    return b;
}
static int digit(char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }
static frames_buf hex(agent_str v)            /* a JSON string of hexadecimal digits                                    */
{
    frames_buf b = { NULL, 0, 0 };
    size_t i;
    frames_add(&b, "", 0);
    for (i = 1; i + 2 < v.n; i += 2) frames_int(&b, (unsigned long)(digit(v.p[i]) * 16 + digit(v.p[i + 1])), 1);
    return b;
}
static frames_buf text(agent_str v)
{
    frames_buf b = { NULL, 0, 0 };
    size_t n = agent_json_text(v, NULL, 0);
    b.cap = n + 1;
    b.p = (char *)malloc(b.cap);
    if (b.p == NULL) abort();
    b.n = agent_json_text(v, b.p, b.cap);
    return b;
}
/* The frame at the beginning of s: its length; 0: there is none, *why says why, or that it is not complete.             */
static size_t first(const frames_buf *in, size_t at, agenti_frame *f, const char **why)
{
    size_t left = in->n - at, size;
    *why = "incomplete";
    if (left < AGENTI_FRAME_PRELUDE) return 0;
    if ((size = agenti_frame_size(in->p + at, why)) == 0) return 0;
    if (size > MOST) { *why = "limit"; return 0; }
    *why = "incomplete";
    return size <= left && agenti_frame_parse(agenti_str(in->p + at, size), f, why) ? size : 0;
}
static int is(agent_str got, agent_str want)
{
    frames_buf t = text(want);
    int same = got.n == t.n && memcmp(got.p, t.p, t.n) == 0;
    free(t.p);
    return same;
}
/* What we keep of the headers: of the kinds that count, if they are strings.                                           */
static int headers_fit(const agenti_frame *f, agent_str headers)
{
    agent_str item, value, message = agenti_str(NULL, 0), kind = message, type = message;
    size_t pos = 0;
    while (agent_json_each(headers, &pos, NULL, &item)) {
        agent_str name = agent_json_get(item, "[0]");
        value = agent_json_get(item, "[2]");
        if (agent_json_is(name, ":message-type")) kind = value;
        if (agent_json_is(name, ":event-type") || agent_json_is(name, ":exception-type") || agent_json_is(name, ":error-code")) type = value;
        if (agent_json_is(name, ":error-message")) message = value;
    }
    return (kind.n ? is(f->kind, kind) : f->kind.n == 0) && (type.n ? is(f->type, type) : f->type.n == 0)
        && (message.n == 0 || is(f->payload, message));
}
static void one(agent_str c)
{
    frames_buf id = text(agent_json_get(c, "id")), in = hex(agent_json_get(c, "hex")), want;
    agent_str error = agent_json_get(c, "error"), messages = agent_json_get(c, "messages"), item;
    agenti_frame f;
    const char *why;
    size_t at = 0, pos = 0, n;
    if (agenti_is_string(error)) CHECK_CASE(first(&in, 0, &f, &why) == 0 && *why, id.p);
    else if (agenti_is_array(messages)) {
        while (agent_json_each(messages, &pos, NULL, &item)) {
            want = hex(item);
            CHECK_CASE((n = first(&in, at, &f, &why)) != 0, id.p);
            if (n) CHECK_CASE(f.payload.n == want.n && memcmp(f.payload.p, want.p, want.n) == 0, id.p);
            at += n;
            free(want.p);
        }
        CHECK_CASE(at == in.n, id.p);
    } else {
        want = hex(agent_json_get(c, "payload_hex"));
        CHECK_CASE((n = first(&in, 0, &f, &why)) == in.n, id.p);
        if (n && want.n) CHECK_CASE(f.payload.n == want.n && memcmp(f.payload.p, want.p, want.n) == 0, id.p);
        if (n) CHECK_CASE(headers_fit(&f, agent_json_get(c, "headers")), id.p);
        free(want.p);
    }
    free(id.p);
    free(in.p);
}
int main(int argc, char **argv)
{
    char path[1024];
    const char *dir = argc > 1 ? argv[1] : "../shared";
    frames_buf all;
    agent_str cases, c;
    size_t pos = 0;
    unsigned count = 0;
    if (strlen(dir) > 900) return 2;
    sprintf(path, "%s/suites/eventstream/eventstream_cases.json", dir);
    all = load(path);
    if (all.n == 0 || agent_json_check(all.p, all.n, 0, NULL) != AGENT_OK) {
        test_skipped = KNOWN;
        printf("skipped: %s (%d cases)\n", path, KNOWN);
    } else {
        cases = agent_json_get(agenti_str(all.p, all.n), "cases");
        while (agent_json_each(cases, &pos, NULL, &c)) { one(c); count++; }
        CHECK(count >= KNOWN);
    }
    free(all.p);
    return test_end("conform_eventstream");
}
