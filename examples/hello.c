/* A first run, offline: the program plays the network with canned bytes. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include <stdio.h>
int main(void)
{
    static const char answer[] =
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hello there.\"},\"finish_reason\":\"stop\"}]}\n\n";
    agent_desc d = AGENT_ZERO; agent_peer_desc p = AGENT_ZERO; agent_session_desc s = AGENT_ZERO;
    agent_engine *e; const agent_event *ev;
    if (agent_open(&e, &d) != AGENT_OK) return 1;
    p.provider = "openai";
    s.peer = agent_peer_open(e, &p); s.model = "any";
    agent_say(e, agent_session_open(e, &s), "Hi!", AGENT_CSTR);
    while ((ev = agent_next(e)) != NULL) {
        if (ev->type == AGENT_EV_OPEN) {
            agent_opened(e, ev->conn, AGENT_VIA_HTTP, NULL);
            agent_feed(e, ev->conn, answer, sizeof answer - 1, NULL);
            agent_eof(e, ev->conn);
        } else if (ev->type == AGENT_EV_TEXT_DELTA) fwrite(ev->text.p, 1, ev->text.n, stdout);
        else if (ev->type == AGENT_EV_RUN_END) puts("");
        else if (ev->flags & AGENT_EVF_NEED) agent_decline(e, ev);
    }
    agent_close(e);
    return 0;
}
