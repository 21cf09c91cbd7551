/* How the body of an answer is taken apart, without a wire format: lines, arrays, event streams, cut everywhere. A format that only writes
 * down its payloads stands in.
 *
 *   test_framing [MEGABYTES]      how much is fed byte by byte; default 2 */
#include "touch.h"
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"
#include "frames.h"

static frames_buf seen;                       /* a line a payload: its name, a bar, its bytes                           */
static unsigned long payloads;
static int quiet;                             /* only count them                                                        */
static int note_event(agenti_decoder *d, agent_str event, agent_str data)
{
    payloads++;
    if (!quiet) {
        frames_add(&seen, event.p, event.n);
        frames_add(&seen, "|", 1);
        frames_add(&seen, data.p, data.n);
        frames_add(&seen, "\n", 1);
    }
    if (agenti_find(data, "\"done\"")) d->done = 1;
    if (agenti_find(data, "\"fault\"")) agenti_fault_set(d, AGENT_FAULT_SERVER, 1, "", agenti_cstr("as told"));
    if (agenti_find(data, "\"bad\"")) return agenti_payload_bad(d);
    return 1;
}
static int note_whole(agenti_decoder *d, agent_str body)
{
    d->done = 1;
    return note_event(d, agenti_cstr("whole"), body);
}
static const char *const parts[] = { "text", NULL }, *const owner[] = { "i", NULL }, *const none[] = { NULL };
static const agenti_wire wires[] = {
    { "t", "", NULL, AGENTI_FRAMING_SSE, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, note_event, note_whole, NULL,
      { parts, owner, owner, 0, none }, { parts, owner, owner, 1, none }, NULL, NULL },
    { "t", "", NULL, AGENTI_FRAMING_ARRAY, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, note_event, note_whole, NULL,
      { parts, owner, owner, 0, none }, { parts, owner, owner, 1, none }, NULL, NULL },
    { "t", "", NULL, AGENTI_FRAMING_LINES, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, note_event, note_whole, NULL,
      { parts, owner, owner, 0, none }, { parts, owner, owner, 1, none }, NULL, NULL },
    { "t", "", NULL, AGENTI_FRAMING_FRAMES, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, note_event, note_whole, NULL,
      { parts, owner, owner, 0, none }, { parts, owner, owner, 1, none }, NULL, NULL },
    { "t", "", NULL, AGENTI_FRAMING_BYTES, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, note_event, note_whole, NULL,
      { parts, owner, owner, 0, none }, { parts, owner, owner, 1, none }, NULL, NULL }
};

/* ---- memory that can be refused ---- */
static size_t live, calls, refuse;
static void *mem(void *ctx, void *p, size_t old_size, size_t new_size)
{
    void *q = NULL;
    (void)ctx;
    if (new_size && ++calls == refuse) return NULL;
    if (new_size && (q = malloc(new_size)) == NULL) abort();
    if (p && q) memcpy(q, p, old_size < new_size ? old_size : new_size);
    free(p);
    live += new_size - (p ? old_size : 0);
    return q;
}

/* ---- one answer ---- */
typedef struct result { frames_buf log; int fault, done, ok; uint64_t offset; } result;
typedef struct setup { int framing; const char *type; uint32_t piece, item; } setup;
static int work(agenti_answer *a)             /* 0: no memory                                                           */
{
    int rc;
    a->d.op_n = a->d.op_at = 0;               /* nobody looks at ops here                                               */
    while ((rc = agenti_answer_work(a)) == 1) a->d.op_n = a->d.op_at = 0;
    return rc != 0;
}
/* cut 0: whole; else the first piece is `cut` long and, with step, all are `step` long. The bytes lie in their own block each time. */
static result run(const setup *s, const char *p, size_t n, size_t cut, size_t step)
{
    agent_desc d = AGENT_ZERO;
    agent_engine *e;
    agenti_answer a;
    result r;
    size_t at = 0, k, used, end;
    memset(&r, 0, sizeof r);
    seen.n = 0;
    payloads = 0;
    r.ok = 1;
    d.alloc = mem;
    d.limits.piece = s->piece;
    d.limits.item = s->item;
    if (agent_open(&e, &d) != AGENT_OK) { r.ok = 0; return r; }
    agenti_answer_start(&a, e, &e->pool, &wires[s->framing], 0);
    r.ok = agenti_answer_head(&a, 200, agenti_cstr(s->type));
    while (r.ok && at < n && !agenti_answer_over(&a)) {
        char *block;
        end = step ? at + step : cut && at < cut ? cut : n;
        if (end > n) end = n;
        block = (char *)malloc(end - at);
        if (block == NULL) abort();
        memcpy(block, p + at, end - at);
        for (k = 0; r.ok && k < end - at && !agenti_answer_over(&a); k += used) {
            r.ok = agenti_answer_feed(&a, block + k, end - at - k, &used);
            if (r.ok) r.ok = work(&a);
            if (used == 0 && a.waits) break;
        }
        at = end;
        free(block);
    }
    agenti_answer_end(&a);
    if (r.ok) r.ok = work(&a);
    if (r.ok) agenti_answer_verdict(&a);
    r.fault = a.d.fault.fault;
    r.offset = a.d.fault.offset;
    r.done = a.d.done;
    agenti_answer_free(&a);
    agent_close(e);
    frames_add(&r.log, seen.n ? seen.p : "", seen.n);
    return r;
}
static int alike(const result *a, const result *b)
{
    return a->ok == b->ok && a->fault == b->fault && a->offset == b->offset && a->done == b->done && a->log.n == b->log.n && memcmp(a->log.p, b->log.p, a->log.n) == 0;
}
/* Whole, byte by byte, by 7, cut everywhere, allocations refused; all the same. log NULL: whatever it is.               */
static void expect(const char *name, const setup *s, const char *p, size_t n, const char *log, int fault)
{
    result whole = run(s, p, n, 0, 0), other;
    size_t i, all = calls, bad = 0;
    if (log) CHECK_CASE(strcmp(whole.log.p, log) == 0, name);
    if (log && strcmp(whole.log.p, log) != 0) fprintf(stderr, "---- %s\n%s", name, whole.log.p);
    CHECK_CASE(whole.fault == fault && whole.ok, name);
    if (whole.fault != fault) fprintf(stderr, "---- %s: fault %d at %lu\n", name, whole.fault, (unsigned long)whole.offset);
    for (i = 0; i < n + 2; i++) {
        other = i < 2 ? run(s, p, n, 0, i ? 7 : 1) : run(s, p, n, i - 1, 0);
        if (!alike(&whole, &other)) {
            if (bad++ == 0) fprintf(stderr, "---- %s, way %lu: fault %d at %lu, not %d at %lu\n%s", name, (unsigned long)i, other.fault,
                                    (unsigned long)other.offset, whole.fault, (unsigned long)whole.offset, other.log.p);
        }
        free(other.log.p);
    }
    CHECK_CASE(bad == 0, name);
    calls = 0;
    other = run(s, p, n, 0, 3);
    all = calls;
    free(other.log.p);
    for (i = 1; i <= all; i++) {
        calls = 0;
        refuse = i;
        other = run(s, p, n, 0, i & 1 ? 3 : 0);
        free(other.log.p);
        refuse = 0;
        CHECK_CASE(live == 0, name);
    }
    free(whole.log.p);
}
static void text(const char *name, int framing, const char *type, uint32_t piece, uint32_t item, const char *p, const char *log, int fault)
{
    setup s;
    s.framing = framing;
    s.type = type;
    s.piece = piece;
    s.item = item;
    expect(name, &s, p, strlen(p), log, fault);
}

/* ---- lines ---- */
static const char ndjson[] = "content-type: application/x-ndjson\n";
static void test_lines(void)
{
    int f = AGENTI_FRAMING_LINES;
    text("lines", f, ndjson, 0, 0, "{\"a\":1}\n\n{\"b\":2}\r\n{\"done\":1}\n{\"never\":1}\n", "|{\"a\":1}\n|\n|{\"b\":2}\r\n|{\"done\":1}\n", 0);
    text("no type", f, "", 0, 0, " \n{\"a\":1}\n{\"done\":1}", "|{\"a\":1}\n|{\"done\":1}\n", 0);
    text("broken off", f, ndjson, 0, 0, "{\"a\":1}\n", "|{\"a\":1}\n", AGENT_FAULT_TRANSPORT);
    text("a fault", f, ndjson, 0, 0, "{\"a\":1}\n{\"fault\":1}\n{\"b\":1}\n", "|{\"a\":1}\n|{\"fault\":1}\n", AGENT_FAULT_SERVER);
    text("bad", f, ndjson, 0, 0, "{\"a\":1}\n{\"bad\":1\n", "|{\"a\":1}\n|{\"bad\":1\n", AGENT_FAULT_PROTOCOL);
    text("one text", f, "content-type: application/json\n", 0, 0, "{\"a\":1}\n", "whole|{\"a\":1}\n\n", 0);
    text("one text, no type", f, "", 0, 0, "[1]", "whole|[1]\n", 0);
    text("long", f, ndjson, 16, 0, "{\"i\":1,\"text\":\"abcdefghijklmnopqrstuvwxyz0123456789\"}\n{\"done\":1}\n",
         "|{\"i\":1,\"text\":\"a\"}\n|{\"i\":1,\"text\":\"bcdefghijklmnopq\"}\n|{\"i\":1,\"text\":\"rstuvwxyz0123456\"}\n|{\"i\":1,\"text\":\"789\"}\n|{\"done\":1}\n", 0);
    text("long, CRLF", f, ndjson, 16, 0, "{\"i\":1,\"text\":\"abcdefghijklmnopqrs\"}\r\n{\"done\":1}\r\n",
         "|{\"i\":1,\"text\":\"a\"}\n|{\"i\":1,\"text\":\"bcdefghijklmnopq\"}\n|{\"i\":1,\"text\":\"rs\"}\r\n|{\"done\":1}\r\n", 0);
    text("long, the last one", f, ndjson, 16, 0, "{\"i\":1,\"text\":\"abcdefghijklmnopqrstuvwxyz\",\"done\":1}",
         "|{\"i\":1,\"text\":\"a\"}\n|{\"i\":1,\"text\":\"bcdefghijklmnopq\"}\n|{\"i\":1,\"text\":\"rstuvwxyz\",\"done\":1}\n", 0);
    text("long, broken", f, ndjson, 16, 0, "{\"i\":1,\"text\":\"abcdefghijklmnopqrstuvwxyz",
         "|{\"i\":1,\"text\":\"a\"}\n|{\"i\":1,\"text\":\"bcdefghijklmnopq\"}\n|{\"i\":1,\"text\":\"rstuvwxyz\n", AGENT_FAULT_TRANSPORT);
    text("long, held, a fault", f, ndjson, 16, 0, "{\"a\":\"abcdefghijklmnopqrstuvwxyz\"}\n{\"fault\":\"abcdefghijklmnopqrstuvwxyz\"}\n",
         "|{\"a\":\"abcdefghijklmnopqrstuvwxyz\"}\n|{\"fault\":\"abcdefghijklmnopqrstuvwxyz\"}\n", AGENT_FAULT_SERVER);
    text("too long", f, ndjson, 16, 40, "{\"done\":0,\"a\":\"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\"}\n", "", AGENT_FAULT_LIMIT);
    text("too long for both", f, ndjson, 64, 20, "{\"a\":\"abcdefghijklmnopqrstuvwxyz\"}\n", "", AGENT_FAULT_LIMIT);
    text("a page", f, "content-type: text/html\n", 0, 0, "<html>", "", AGENT_FAULT_PROTOCOL);
    text("nothing", f, ndjson, 0, 0, "", "", AGENT_FAULT_TRANSPORT);
}
/* ---- arrays ---- */
static void test_arrays(void)
{
    int f = AGENTI_FRAMING_ARRAY;
    const char *json = "content-type: application/json\n";
    text("array", f, json, 0, 0, "[{\"a\":1}\n,\r\n{\"b\":[{}]} , {\"done\":1}]", "|{\"a\":1}\n|{\"b\":[{}]}\n|{\"done\":1}\n", 0);
    text("brackets in strings", f, json, 0, 0, "\n [{\"a\":\"]}\\\"[{\\\\\"},{\"done\":\"\\\\\\\"\"}]", "|{\"a\":\"]}\\\"[{\\\\\"}\n|{\"done\":\"\\\\\\\"\"}\n", 0);
    text("arrays in it", f, json, 0, 0, "[[1,[2]],{\"done\":1}]", "|[1,[2]]\n|{\"done\":1}\n", 0);
    text("broken off", f, json, 0, 0, "[{\"a\":1},{\"b\":", "|{\"a\":1}\n", AGENT_FAULT_TRANSPORT);
    text("empty", f, json, 0, 0, "[]", "", AGENT_FAULT_TRANSPORT);
    text("half", f, json, 0, 0, "[", "", AGENT_FAULT_TRANSPORT);
    text("scalars and strays", f, json, 0, 0, "[1,\"x\", null ,{\"bad\":1}}]]}{\"done\":1}", "|1\n|\"x\"\n|null\n|{\"bad\":1}\n|}\n|}{\"done\":1}\n", 0);
    text("one object", f, json, 0, 0, "{\"a\":[1]}", "whole|{\"a\":[1]}\n", 0);
    text("lines of SSE", f, "content-type: text/event-stream\n", 0, 0, "data: [{\"a\":1}]\n\ndata: {\"done\":1}\n\n", "message|[{\"a\":1}]\nmessage|{\"done\":1}\n", 0);
    text("long", f, json, 16, 0, "[{\"i\":1,\"text\":\"abcdefghijklmnopqrstuvwxyz0123456789\"},{\"done\":1}]",
         "|{\"i\":1,\"text\":\"a\"}\n|{\"i\":1,\"text\":\"bcdefghijklmnopq\"}\n|{\"i\":1,\"text\":\"rstuvwxyz0123456\"}\n|{\"i\":1,\"text\":\"789\"}\n|{\"done\":1}\n", 0);
    text("long, broken off", f, json, 16, 0, "[{\"i\":1,\"text\":\"abcdefghijklmnopqrstuvwxyz012345",
         "|{\"i\":1,\"text\":\"a\"}\n|{\"i\":1,\"text\":\"bcdefghijklmnopq\"}\n", AGENT_FAULT_TRANSPORT);
    text("too long", f, json, 16, 40, "[{\"a\":\"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\"}]", "", AGENT_FAULT_LIMIT);
}
static void test_nesting(void)                /* hostile depth: brackets are counted, not remembered                    */
{
    enum { DEPTH = 3000 };
    setup s;
    frames_buf b = { NULL, 0, 0 };
    result whole, other;
    int i;
    memset(&s, 0, sizeof s);
    s.framing = AGENTI_FRAMING_ARRAY;
    s.type = "";
    frames_add(&b, "[", 1);
    for (i = 0; i < DEPTH; i++) frames_add(&b, i % 2 ? "[" : "{\"a\":", i % 2 ? 1 : 5);
    for (i = DEPTH; i-- > 0;) frames_add(&b, i % 2 ? "]" : "}", 1);
    frames_add(&b, ",{\"done\":1}]", 12);
    for (i = 0; i < 2; i++) {
        s.piece = i ? 16 : 0;
        whole = run(&s, b.p, b.n, 0, 0);
        other = run(&s, b.p, b.n, 0, 1);
        CHECK(whole.done && whole.fault == 0 && payloads == 2 && alike(&whole, &other));
        free(whole.log.p);
        free(other.log.p);
    }
    free(b.p);
}
/* ---- event streams: what the transcripts of their formats do not reach ---- */
static void stream(const char *name, int framing, uint32_t piece, uint32_t item, const char *lines, const char *log, int fault)
{
    frames_buf b = { NULL, 0, 0 };
    setup s;
    s.framing = framing;
    s.type = "content-type: application/vnd.amazon.eventstream\n";
    s.piece = piece;
    s.item = item;
    frames_text(&b, lines, strlen(lines), framing == AGENTI_FRAMING_BYTES);
    expect(name, &s, b.n ? b.p : "", b.n, log, fault);
    free(b.p);
}
static void test_streams(void)
{
    int f = AGENTI_FRAMING_FRAMES, w = AGENTI_FRAMING_BYTES;
    stream("frames", f, 0, 0, "event a {\"x\":1}\nevent b \nevent c {\"done\":1}\nevent d {}\n", "a|{\"x\":1}\nb|\nc|{\"done\":1}\n", 0);
    stream("wrapped", w, 0, 0, "event chunk {\"x\":1}\nevent chunk \nevent chunk {\"done\":1}\n", "chunk|{\"x\":1}\nchunk|\nchunk|{\"done\":1}\n", 0);
    stream("long", f, 16, 0, "event a {\"i\":1,\"text\":\"abcdefghijklmnopqrstuvwxyz\"}\nevent b {\"done\":1}\n",
           "|{\"i\":1,\"text\":\"a\"}\n|{\"i\":1,\"text\":\"bcdefghijklmnopq\"}\na|{\"i\":1,\"text\":\"rstuvwxyz\"}\nb|{\"done\":1}\n", 0);
    stream("wrapped and long", w, 16, 0, "event a {\"i\":1,\"text\":\"abcdefghijklmnopqrstuvwxyz\"}\nevent b {\"done\":1}\n",
           "|{\"i\":1,\"text\":\"a\"}\n|{\"i\":1,\"text\":\"bcdefghijklmnopq\"}\na|{\"i\":1,\"text\":\"rstuvwxyz\"}\nb|{\"done\":1}\n", 0);
    stream("exception", w, 16, 0, "event a {\"x\":1}\nexception b {\"message\":\"no, this is a long text\"}\nevent c {}\n", "a|{\"x\":1}\n", AGENT_FAULT_SERVER);
    stream("a fault", f, 0, 0, "event a {\"x\":1}\nevent b {\"fault\":1}\nevent c {}\n", "a|{\"x\":1}\nb|{\"fault\":1}\n", AGENT_FAULT_SERVER);
    stream("a fault in a long one", f, 16, 0, "event a {\"i\":1,\"text\":\"abcdefghijklmnopqrstuvwxyz\",\"fault\":1}\nevent c {}\n",
           "|{\"i\":1,\"text\":\"a\"}\n|{\"i\":1,\"text\":\"bcdefghijklmnopq\"}\na|{\"i\":1,\"text\":\"rstuvwxyz\",\"fault\":1}\n", AGENT_FAULT_SERVER);
    stream("too long", f, 0, 100, "event a {\"x\":1}\nevent b {\"text\":\"abcdefghijklmnopqrstuvwxyz\"}\n", "a|{\"x\":1}\n", AGENT_FAULT_LIMIT);
    stream("checksum", f, 0, 0, "event a {\"x\":1}\nevent b {\"y\":1}\nspoil 1\nevent c {}\n", "a|{\"x\":1}\n", AGENT_FAULT_PROTOCOL);
    stream("cut by one", f, 0, 0, "event a {\"x\":1}\nevent b {\"done\":1}\ncut 1\n", "a|{\"x\":1}\n", AGENT_FAULT_TRANSPORT);
    stream("twelve bytes that are wrong", f, 0, 0, "123456789012\n", "", AGENT_FAULT_PROTOCOL);
    stream("eleven", f, 0, 0, "12345678901\n", "", AGENT_FAULT_TRANSPORT);
    stream("twelve bytes behind a frame", f, 0, 0, "event a {\"x\":1}\n123456789012\n", "a|{\"x\":1}\n", AGENT_FAULT_PROTOCOL);
    stream("no bytes", f, 0, 0, "", "", AGENT_FAULT_TRANSPORT);
}
/* ---- the work is linear: a long body, a byte at a time ---- */
static void linear(const char *name, int framing, const char *head, const char *unit, const char *tail, size_t size, int repeats)
{
    frames_buf b = { NULL, 0, 0 };
    setup s;
    result r;
    unsigned long long cost[2];
    int i;
    s.framing = framing;
    s.type = "";
    s.piece = 0;
    s.item = 0xFFFFFFFFu;
    quiet = 1;
    for (i = 0; i < 2; i++) {
        size_t want = i ? size : size / 4, inner = strlen(unit);
        b.n = 0;
        if (framing >= AGENTI_FRAMING_FRAMES && !repeats) {
            frames_buf one = { NULL, 0, 0 };
            frames_add(&one, head, strlen(head));
            while (one.n < want) frames_add(&one, unit, inner);
            frames_add(&one, tail, strlen(tail));
            frames_line(&b, one.p, one.n, framing == AGENTI_FRAMING_BYTES);
            free(one.p);
        } else {
            if (framing < AGENTI_FRAMING_FRAMES) frames_add(&b, head, strlen(head));
            while (b.n < want) {
                if (framing < AGENTI_FRAMING_FRAMES) frames_add(&b, unit, inner);
                else frames_line(&b, unit, inner, framing == AGENTI_FRAMING_BYTES);
            }
            if (framing < AGENTI_FRAMING_FRAMES) frames_add(&b, tail, strlen(tail));
        }
        touched = 0;
        r = run(&s, b.p, b.n, 0, 1);
        cost[i] = touched;
        CHECK_CASE(r.ok && r.fault == AGENT_FAULT_TRANSPORT && payloads > 0, name);
        CHECK_CASE(touched < 40ull * b.n + 100000, name);
        free(r.log.p);
    }
    CHECK_CASE(cost[1] < 5 * cost[0], name);
    quiet = 0;
    free(b.p);
}
static void test_linear(size_t size)
{
    linear("one long line", AGENTI_FRAMING_LINES, "{\"i\":1,\"text\":\"", "abcdefgh\\n", "\"}\n", size, 0);
    linear("one long line that is held", AGENTI_FRAMING_LINES, "{\"i\":1,\"x\":\"", "abcdefgh\\n", "\"}\n", size, 0);
    linear("many lines", AGENTI_FRAMING_LINES, "{}\n", "{\"i\":1,\"text\":\"abcdefgh\"}\n", "", size, 1);
    linear("empty lines", AGENTI_FRAMING_LINES, "{}\n", "\n", "", size, 1);
    linear("one long value", AGENTI_FRAMING_ARRAY, "[{\"i\":1,\"text\":\"", "abcdefgh\\n", "\"}]", size, 0);
    linear("many values", AGENTI_FRAMING_ARRAY, "[{}", ",{\"i\":1,\"text\":\"abcdefgh\"}", "]", size, 1);
    linear("brackets", AGENTI_FRAMING_ARRAY, "[{},", "[", "]", size, 1);
    linear("one long frame", AGENTI_FRAMING_FRAMES, "event a {\"i\":1,\"text\":\"", "abcdefgh\\n", "\"}", size, 0);
    linear("one long wrapped frame", AGENTI_FRAMING_BYTES, "event a {\"i\":1,\"text\":\"", "abcdefgh\\n", "\"}", size, 0);
    linear("many frames", AGENTI_FRAMING_FRAMES, "", "event a {\"i\":1,\"text\":\"abcdefgh\"}", "", size, 1);
    linear("many wrapped frames", AGENTI_FRAMING_BYTES, "", "event a {\"i\":1,\"text\":\"abcdefgh\"}", "", size, 1);
}
int main(int argc, char **argv)
{
    test_lines();
    test_arrays();
    test_nesting();
    test_streams();
    test_linear((argc > 1 ? (size_t)atoi(argv[1]) : 2) << 20);
    free(seen.p);
    return test_end("test_framing");
}
