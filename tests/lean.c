/* A program that leaves out all it can but OpenAI chat (the gate `lean` gives the AGENT_NO_ macros): two steps with a tool, an error, a retry
 * without a hint, and what is not there says so. Nothing of the test host can be used: it needs what is left out. Exit code 0: as it should be. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include <stdio.h>

static const agent_provider row = { "mine", "http://model.test/v1", "openai-chat", "bearer", NULL, 0, NULL, NULL };
static const char *const answers[] = {
    "{\"error\":{\"message\":\"busy\"}}",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"add\",\"arguments\":\"{\\\"a\\\":\"}}]}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
    "data: {\"choices\":[{\"delta\":{\"content\":\"It is \"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"2.\",\"images\":[{\"image_url\":"
    "{\"url\":\"data:image/png;base64,AAAA\"}}]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n" };
static int wrong(const char *what) { printf("lean: %s\n", what); return 1; }
static int has(const char *p, size_t n, const char *what)
{
    size_t i, m = strlen(what);
    for (i = 0; i + m <= n; i++) if (memcmp(p + i, what, m) == 0) return 1;
    return 0;
}
typedef struct run { unsigned asked, waits, tools, warnings; int outcome; uint64_t now; char text[64], body[2048]; size_t text_n, body_n; } run;
/* One connection for each request: the body is kept, the next answer comes.                                            */
static int answer(agent_engine *e, run *r, agent_id conn)
{
    const char *p;
    const char *a = answers[r->asked % 3];
    size_t n;
    if (agent_opened(e, conn, AGENT_VIA_BYTES, NULL) != AGENT_E_ARG) return wrong("HTTP/1.1 is there");
    if (agent_opened(e, conn, AGENT_VIA_HTTP, NULL) != AGENT_OK) return wrong("a connection");
    for (r->body_n = 0; (p = agent_send_buf(e, conn, &n)) != NULL && n; agent_send_ack(e, conn, n)) {
        if (n > sizeof r->body - r->body_n) return wrong("a long request");
        memcpy(r->body + r->body_n, p, n);
        r->body_n += n;
    }
    agent_http_head(e, conn, r->asked == 0 ? 503 : 200, "Content-Type: text/event-stream\n", AGENT_CSTR);
    for (; *a; a++) agent_feed(e, conn, a, 1, NULL);
    agent_eof(e, conn);
    r->asked++;
    return 0;
}
static int step(agent_engine *e, run *r, const agent_event *ev)
{
    switch (ev->type) {
    case AGENT_EV_OPEN: return answer(e, r, ev->conn);
    case AGENT_EV_RETRY_WAIT: r->waits++; break;
    case AGENT_EV_WARNING: r->warnings++; break;
    case AGENT_EV_TOOL_RUN: r->tools++; return agent_tool_result(e, ev->session, ev->call, "2", 1) == AGENT_OK ? 0 : wrong("no result taken");
    case AGENT_EV_TEXT_DELTA:
        if (ev->text.n > sizeof r->text - r->text_n) return wrong("a long text");
        memcpy(r->text + r->text_n, ev->text.p, ev->text.n);
        r->text_n += ev->text.n;
        break;
    case AGENT_EV_RUN_END: r->outcome = ev->u.end.outcome; break;
    default: if (ev->flags & AGENT_EVF_NEED) agent_decline(e, ev);
    }
    return 0;
}
int main(void)
{
    static run r;
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc sd = AGENT_ZERO;
    agent_tool tool = AGENT_ZERO;
    agent_part file = AGENT_ZERO;
    const agent_event *ev;
    agent_engine *e;
    agent_id s;
    d.providers = &row;
    d.provider_count = 1;
    if (agent_open(&e, &d) != AGENT_OK) return wrong("no engine");
    p.provider = "openai";
    p.key = "";
    if (agent_peer_open(e, &p)) return wrong("the table of providers is there");
    p.provider = "mine";
    tool.name = "add";
    if ((sd.peer = agent_peer_open(e, &p)) == 0) return wrong(agent_last(e));
    sd.model = "any";
    sd.tools = &tool;
    sd.tool_count = 1;
    if ((s = agent_session_open(e, &sd)) == 0) return wrong("no session");
    file.kind = AGENT_PART_FILE;
    file.mime.p = "image/png"; file.mime.n = 9;
    file.text.p = "x"; file.text.n = 1;
    if (agent_submit(e, s, &file, 1, AGENT_QUEUE) != AGENT_E_ARG) return wrong("files are there");
    if (agent_say(e, s, "1 + 1?", AGENT_CSTR) <= 0) return wrong("nothing said");
    r.outcome = -1;
    while (r.outcome < 0) {
        while ((ev = agent_next(e)) != NULL) if (step(e, &r, ev)) return 1;
        if (r.outcome >= 0) break;
        if (agent_deadline(e) == UINT64_MAX) return wrong("it stands still");
        agent_tick(e, r.now = agent_deadline(e), 0);
    }
    if (r.outcome != AGENT_COMPLETED || r.asked != 3 || r.waits != 1 || r.tools != 1 || r.warnings != 1) return wrong("another run");
    if (r.text_n != 8 || memcmp(r.text, "It is 2.", 8) != 0) return wrong("another text");
    if (!has(r.body, r.body_n, "\"tool_call_id\":\"c1\"") || !has(r.body, r.body_n, "\"content\":\"2\"")) return wrong("another request");
    agent_close(e);
    return 0;
}
