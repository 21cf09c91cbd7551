/* A cancel at every point: after each event, between feeds, before the first pump. What was open ends, what was shown stays, and the next
 * request is one that a provider accepts. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

static const host_answer talk[] = {
    { SSE_THINK("let me ") SSE_THINK("see") SSE_TEXT("I look ") SSE_TEXT("around. ") SSE_CALL("0", "c1", "alpha", "{\\\"x\\\":") SSE_CALL("1", "c2", "solo", "{}")
      SSE_ARGS("0", "1}") SSE_CALL("2", "c3", "nobody", "{}") SSE_TOOLS, 0, NULL, HOST_CHUNKED, HOST_GO },
    { SSE_TEXT("All ") SSE_TEXT("done.") SSE_STOP, 0, NULL, HOST_CHUNKED, HOST_GO }, { SSE_TEXT("after") SSE_STOP, 0, NULL, HOST_LENGTH, HOST_GO }
};
typedef struct plan { agent_id s; unsigned at; int twice, done, output; } plan;
static int cancel_at(host *h, const agent_event *ev)
{
    plan *p = (plan *)h->arg;
    int held = 0;
    if (ev->type == AGENT_EV_TOOL_RUN) {      /* answered two turns later, with something printed at once                */
        CHECK(agent_tool_append(h->e, p->s, ev->call, "partial \xC3", 9) == AGENT_OK);
        held = 1;
    }
    if (h->events == p->at && !p->done) {
        p->done = 1;
        if (p->twice == 2) agent_say(h->e, p->s, "queued", AGENT_CSTR);
        CHECK(host_cancel(h, p->s) == AGENT_OK);
        if (p->twice) CHECK(agent_cancel(h->e, p->s) == AGENT_OK);
        if (held) CHECK(agent_tool_done(h->e, p->s, ev->call, AGENT_DONE_OK) == AGENT_LATE);
    }
    return held;
}
/* Ends the tools that run. 1: there was one.                                                                            */
static int tools_end(host *h, agent_id s)
{
    agent_event ev;
    size_t i;
    for (i = 0; agent_pending(h->e, s, i, &ev) == AGENT_OK; i++)
        if (ev.type == AGENT_EV_TOOL_RUN) { CHECK(agent_tool_done(h->e, s, ev.call, AGENT_DONE_OK) == AGENT_OK); return 1; }
    return 0;
}
static void drain_all(host *h, agent_id s) { do host_run(h); while (tools_end(h, s)); }
/* The text that was shown is in the table, under its message.                                                           */
static void table_check(host *h, agent_id s)
{
    agent_msg m;
    agent_part part;
    size_t i, k;
    host_text all = { NULL, 0, 0 };
    for (i = 0; i < agent_messages(h->e, s); i++) {
        CHECK(agent_message(h->e, s, i, &m) == AGENT_OK && (m.part_count > 0 || (m.role == AGENT_MODEL && m.flags == AGENT_PART_CUT)));
        for (k = 0; k < m.part_count; k++) {
            CHECK(agent_message_part(h->e, s, m.id, k, &part) == AGENT_OK && part.id);
            if (m.role == AGENT_MODEL && part.kind == AGENT_PART_TEXT) text_add(&all, part.text.p, part.text.n);
            if (part.kind == AGENT_PART_RESULT) CHECK(part.text.n > 0 && part.call && agenti_utf8_valid(part.text.p, part.text.n) == part.text.n);
        }
    }
    CHECK(all.n == h->text.n && (all.n == 0 || memcmp(all.p, h->text.p, all.n) == 0));
    text_free(&all);
}
/* 0: the conversation has fewer events.                                                                                 */
static int one(int via, int cut, unsigned at, int twice)
{
    host_heap heap;
    agent_desc d;
    plan p;
    host *h;
    char name[64];
    unsigned ends;
    int reached;
    sprintf(name, "via %d cut %d at %u%s", via, cut, at, twice ? " twice" : "");
    memset(&heap, 0, sizeof heap);
    memset(&d, 0, sizeof d);
    memset(&p, 0, sizeof p);
    d.alloc = host_alloc;
    d.alloc_ctx = &heap;
    h = host_new(&d, via, cut);
    h->name = name;
    p.s = host_session(h, NULL);
    p.at = at;
    p.twice = twice;
    h->arg = &p;
    h->on = cancel_at;
    host_answers(h, talk, 3);
    agent_say(h->e, p.s, "Hi", AGENT_CSTR);
    if (at == 0) { p.done = 1; agent_cancel(h->e, p.s); }
    drain_all(h, p.s);
    reached = p.done;
    ends = h->count[AGENT_EV_RUN_END];
    host_over_check(h);
    if (at == 0) HOST_CHECK(h, ends == 0 && host_said(h, "\"item\":1,\"op\":2"));
    else {
        HOST_CHECK(h, ends == 1 && h->count[AGENT_EV_RUN_START] == 1);
        HOST_CHECK(h, h->outcome == AGENT_CANCELLED || !reached || strstr(h->log.p + h->log.n - (h->log.n < 3000 ? h->log.n : 3000), "RUN_END"));
        HOST_CHECK(h, h->count[AGENT_EV_TOOL_CALL] == h->count[AGENT_EV_TOOL_RESULT] && h->count[AGENT_EV_ERROR] == 0);
    }
    if (twice == 2 && reached && at) HOST_CHECK(h, h->count[AGENT_EV_QUEUED] >= 1 || ends == 1);
    table_check(h, p.s);
    h->on = NULL;
    agent_say(h->e, p.s, "next", AGENT_CSTR);
    host_run(h);
    HOST_CHECK(h, h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_RUN_END] == ends + 1);
    if (at == 0) HOST_CHECK(h, strstr(h->body[0].p, "Hi") == NULL);
    table_check(h, p.s);
    host_bodies_check(h);
    host_over_check(h);
    host_free(h);
    CHECK(heap.live == 0 && heap.bytes == 0);
    return reached;
}
/* Cancelled when n feeds of the answer were made, whatever events came.                                                 */
static int between_feeds(int via, unsigned feeds)
{
    plan p;
    host *h = host_new(NULL, via, HOST_CUT_BYTES);
    unsigned n = 0;
    memset(&p, 0, sizeof p);
    p.s = host_session(h, NULL);
    h->arg = &p;
    h->on = cancel_at;
    host_answers(h, talk, 3);
    agent_say(h->e, p.s, "Hi", AGENT_CSTR);
    for (;;) {
        while (host_next(h)) {}
        if (n == feeds) { host_cancel(h, p.s); n++; continue; }
        if (host_io(h)) { n++; continue; }
        if (!tools_end(h, p.s)) break;
    }
    CHECK(h->count[AGENT_EV_RUN_END] == 1);
    host_over_check(h);
    table_check(h, p.s);
    h->on = NULL;
    agent_say(h->e, p.s, "next", AGENT_CSTR);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED);
    host_bodies_check(h);
    host_free(h);
    return n > feeds && h != NULL;
}
/* A tool told to stop may say a last word, until the next turn.                                                         */
static int last_word(host *h, const agent_event *ev)
{
    plan *p = (plan *)h->arg;
    if (ev->type == AGENT_EV_TOOL_RUN) return 1;
    if (ev->type == AGENT_EV_TOOL_CANCEL) {
        int rc = agent_tool_append(h->e, p->s, ev->call, "stopped at line 7", AGENT_CSTR);
        CHECK(rc == AGENT_OK);
    }
    return 0;
}
static void tool_stops(int via)
{
    static const host_answer a[] = { { SSE_CALL("0", "c1", "alpha", "{}") SSE_CALL("1", "c2", "beta", "{}") SSE_TOOLS, 0, NULL, 0, 0 }, { SSE_TEXT("x") SSE_STOP, 0, NULL, 0, 0 } };
    plan p;
    host *h = host_new(NULL, via, HOST_CUT_WHOLE);
    memset(&p, 0, sizeof p);
    p.s = host_session(h, NULL);
    h->arg = &p;
    h->on = last_word;
    host_answers(h, a, 2);
    agent_say(h->e, p.s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(h->count[AGENT_EV_TOOL_RUN] == 2);
    host_cancel(h, p.s);
    CHECK(agent_tool_append(h->e, p.s, 1, "too late", AGENT_CSTR) == AGENT_LATE);
    host_run(h);
    CHECK(h->outcome == AGENT_CANCELLED && h->count[AGENT_EV_TOOL_CANCEL] == 2 && h->count[AGENT_EV_TOOL_RESULT] == 2);
    CHECK(host_said(h, "\"text\":\"stopped at line 7\"") && host_said(h, "\"status\":2"));
    agent_say(h->e, p.s, "next", AGENT_CSTR);
    host_run(h);
    CHECK(strstr(h->body[1].p, "stopped at line 7"));
    host_bodies_check(h);
    host_over_check(h);
    host_free(h);
}
/* Several sessions: a cancel of one is seen by it alone.                                                                */
static void neighbours(int via)
{
    enum { N = 12 };
    agent_id s[N];
    size_t i;
    unsigned turn;
    for (turn = 0; turn < 60; turn += 3) {
        agent_session_desc d;
        host *h = host_new(NULL, via, HOST_CUT_RANDOM);
        memset(&d, 0, sizeof d);
        d.peer = host_peer(h);
        for (i = 0; i < N; i++) { s[i] = host_session(h, &d); agent_say(h->e, s[i], "Hi", 2); }
        host_run(h);
        for (i = 0; i < N; i++) agent_say(h->e, s[i], "more", 4);
        while (h->count[AGENT_EV_RUN_START] < N + N / 2) if (!host_next(h)) host_io(h);
        for (i = 0; i < turn; i++) if (!host_next(h)) host_io(h);
        for (i = 0; i < N; i += 2) host_cancel(h, s[i]);
        host_run(h);
        for (i = 0; i < N; i++) { CHECK(agent_messages(h->e, s[i]) >= (i % 2 ? 4u : 2u)); agent_say(h->e, s[i], "last", 4); }
        host_run(h);
        CHECK(h->count[AGENT_EV_RUN_END] == h->count[AGENT_EV_RUN_START]);
        host_bodies_check(h);
        host_over_check(h);
        host_free(h);
    }
}

int main(void)
{
    int via, cut, twice;
    unsigned k;
    for (via = 0; via < 2; via++) {
        for (cut = 0; cut < 2; cut++) for (twice = 0; twice < 3; twice++) for (k = 0; one(via, cut, k, twice) && k < 1000; k++) {}
        for (k = 0; k < 900; k += 1 + k / 60) between_feeds(via, k);
        tool_stops(via);
        neighbours(via);
    }
    return test_end("test_cancel");
}
