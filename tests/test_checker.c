/* Who checks the checker: the events of a good run, with one left out, told twice or changed, must be noticed each time. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"
#include "check_events.h"

enum { MOST = 256 };
static agent_event *events[MOST];
static size_t event_n;
static const char *const answers[] = {
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"Ask.\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Let me \"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"look.\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"t\",\"arguments\":\"{\\\"n\\\":1}\"}},"
    "{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"t\",\"arguments\":\"{\\\"n\\\":2}\"}}]}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6}}\n\n"
    "data: [DONE]\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Four.\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n"
    "data: [DONE]\n\n"
};
static void keep(const agent_event *ev)
{
    size_t n = agent_event_copy(ev, NULL, 0);
    void *p = malloc(n);
    if (p == NULL || event_n == MOST) abort();
    agent_event_copy(ev, p, n);
    events[event_n++] = (agent_event *)p;
}
static void react(agent_engine *e, const agent_event *ev, size_t *answer)
{
    const void *p;
    size_t n;
    if (ev->type == AGENT_EV_OPEN) {
        agent_opened(e, ev->conn, AGENT_VIA_HTTP, NULL);
        while ((p = agent_send_buf(e, ev->conn, &n)) != NULL) agent_send_ack(e, ev->conn, n);
        agent_http_head(e, ev->conn, 200, "content-type: text/event-stream\n", AGENT_CSTR);
        agent_feed(e, ev->conn, answers[*answer % 2], strlen(answers[*answer % 2]), NULL);
        agent_eof(e, ev->conn);
        ++*answer;
    } else if (ev->type == AGENT_EV_TOOL_RUN) agent_tool_result(e, ev->session, ev->call, "four", 4);
}
static void record(void)
{
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    agent_tool tool = AGENT_ZERO;
    agent_engine *e;
    agent_id chat;
    const agent_event *ev;
    size_t answer = 0;
    CHECK(agent_open(&e, &d) == AGENT_OK);
    p.provider = "openai-compatible";
    p.key = "";
    p.url = "http://host.test/v1";
    tool.name = "t";
    s.peer = agent_peer_open(e, &p);
    s.model = "m";
    s.tools = &tool;
    s.tool_count = 1;
    chat = agent_session_open(e, &s);
    CHECK(agent_say(e, chat, "How deep?", AGENT_CSTR) > 0);
    while ((ev = agent_next(e)) != NULL) { keep(ev); react(e, ev, &answer); }
    CHECK(answer == 2);
    agent_close(e);
}

/* Shows all events, without number `skip`, with number `twice` again, `changed` in the place of number `at`; seq goes on counting. */
static int noticed(size_t skip, size_t twice, size_t at, const agent_event *changed)
{
    check c;
    uint64_t seq = 0;
    size_t i, k;
    int bad;
    check_init(&c, "sk-SECRET", 0);
    for (i = 0; i < event_n; i++) for (k = 0; k < (i == skip ? 0u : i == twice ? 2u : 1u); k++) {
        agent_event ev = i == at ? *changed : *events[i];
        if (ev.seq && i != at) ev.seq = ++seq;
        else if (ev.seq) { seq++; if (ev.seq == events[i]->seq) ev.seq = seq; }
        check_event(&c, &ev);
    }
    check_over(&c);
    bad = c.why[0] != 0;
    check_free(&c);
    return bad;
}
static void left_out_or_twice(void)
{
    const size_t none = MOST;
    size_t i;
    CHECK(event_n > 30);
    CHECK(!noticed(none, none, none, NULL));
    for (i = 0; i < event_n; i++) {
        CHECK_CASE(noticed(i, none, none, NULL), agent_event_name(events[i]->type));
        CHECK_CASE(noticed(none, i, none, NULL), agent_event_name(events[i]->type));
    }
}
static void changed(void)
{
    static const agent_usage wrong = { 1, 2, 3, 4, 5 };
    const size_t none = MOST;
    size_t i;
    for (i = 0; i < event_n; i++) {
        agent_event ev = *events[i];
        const char *name = agent_event_name(ev.type);
        ev.seq += 1;
        CHECK_CASE(ev.seq == 1 || noticed(none, none, i, &ev), name);
        ev = *events[i];
        ev.text.p = NULL;
        ev.text.n = 0;
        CHECK_CASE(noticed(none, none, i, &ev), name);
        ev = *events[i];
        ev.name.p = "x\xC3";
        ev.name.n = 2;
        CHECK_CASE(noticed(none, none, i, &ev), name);
        ev.name.p = "no end";
        ev.name.n = 2;
        CHECK_CASE(noticed(none, none, i, &ev), name);
        ev.name.p = "it is sk-SECRET";
        ev.name.n = 15;
        CHECK_CASE(noticed(none, none, i, &ev), name);
        ev = *events[i];
        switch (ev.type) {
        case AGENT_EV_TEXT_DELTA: case AGENT_EV_REASONING_DELTA: case AGENT_EV_INPUT_DELTA: case AGENT_EV_TEXT_END: case AGENT_EV_REASONING_END:
        case AGENT_EV_INPUT_END:
            ev.text.n -= 1;
            CHECK_CASE(noticed(none, none, i, &ev), name);
            break;
        case AGENT_EV_RUN_END:
            ev.u.end.usage = &wrong;
            CHECK_CASE(noticed(none, none, i, &ev), name);
            break;
        case AGENT_EV_STEP_END:
            ev.u.end.usage = &wrong;
            CHECK_CASE(noticed(none, none, i, &ev), name);
            ev = *events[i];
            ev.u.end.finish = AGENT_FINISH_LENGTH;           /* of an answer whose calls were run                        */
            if (ev.step == 1) CHECK_CASE(noticed(none, none, i, &ev), name);
            break;
        case AGENT_EV_TOOL_CALL: case AGENT_EV_TOOL_RUN: case AGENT_EV_TOOL_RESULT:
            ev.call += 40;
            CHECK_CASE(noticed(none, none, i, &ev), name);
            break;
        case AGENT_EV_OPEN: case AGENT_EV_NEED_DONE:
            ev.need += 40;
            CHECK_CASE(noticed(none, none, i, &ev), name);
            break;
        default: break;
        }
    }
}
int main(void)
{
    size_t i;
    record();
    left_out_or_twice();
    changed();
    for (i = 0; i < event_n; i++) free(events[i]);
    return test_end("test_checker");
}
