/* A host with sockets and poll against the scripted model: keep-alive, a cancel in mid-stream, a cut, a refused connection. */
#define _POSIX_C_SOURCE 200809L
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "examples/host_posix.h"
#include "test.h"

typedef struct client {
    agent_engine *e;
    agent_id chat;
    host_net net;
    int opens, sends, closes, outcome, fault, cancel_at_text;
    char text[4096]; size_t n;                /* what the model said in this run                                        */
} client;

static int on_event(client *c, const agent_event *ev)        /* 1: the run is over                                      */
{
    switch (ev->type) {
    case AGENT_EV_OPEN:  c->opens++; host_open(&c->net, c->e, ev); break;
    case AGENT_EV_SEND:  c->sends++; break;
    case AGENT_EV_CLOSE: c->closes++; host_close(&c->net, ev); break;
    case AGENT_EV_TEXT_DELTA:
        if (c->n + ev->text.n < sizeof c->text) { memcpy(c->text + c->n, ev->text.p, ev->text.n); c->n += ev->text.n; c->text[c->n] = 0; }
        if (c->cancel_at_text) CHECK(agent_cancel(c->e, c->chat) == AGENT_OK);
        break;
    case AGENT_EV_ERROR: c->fault = ev->u.error.fault; break;
    case AGENT_EV_RUN_END: c->outcome = ev->u.end.outcome; return 1;
    default: if (ev->flags & AGENT_EVF_NEED) (void)agent_decline(c->e, ev);
    }
    return 0;
}
static void run(client *c, const char *prompt)
{
    const agent_event *ev;
    struct pollfd p[HOST_MAX];
    int over = 0;
    c->n = 0;
    c->text[0] = 0;
    c->opens = c->sends = c->closes = c->fault = 0;
    CHECK(agent_say(c->e, c->chat, prompt, AGENT_CSTR) > 0);
    for (;;) {
        host_tick(c->e);
        while ((ev = agent_next(c->e)) != NULL) over |= on_event(c, ev);
        if (over) return;
        host_poll(&c->net, c->e, p);
        if (poll(p, HOST_MAX, host_wait(c->e)) > 0) host_ready(&c->net, c->e, p);
    }
}
static void runs(client *c, host_model *m)
{
    run(c, "one");
    CHECK(c->outcome == AGENT_COMPLETED && strcmp(c->text, "First answer.") == 0);
    CHECK(c->opens == 1 && c->sends == 0);
    run(c, "two");
    CHECK(c->outcome == AGENT_COMPLETED && strcmp(c->text, "Second answer.") == 0);
    CHECK(c->opens == 0 && c->sends == 1);    /* the connection is used again                                           */
    c->cancel_at_text = 1;
    run(c, "three");
    c->cancel_at_text = 0;
    CHECK(c->outcome == AGENT_CANCELLED && strncmp("A slow one", c->text, c->n) == 0 && c->n > 0);
    run(c, "four");
    CHECK(c->outcome == AGENT_FAILED && c->fault == AGENT_FAULT_TRANSPORT && strcmp(c->text, "half") == 0);
    run(c, "five");
    CHECK(c->outcome == AGENT_COMPLETED && strcmp(c->text, "All is well.") == 0);
    host_model_stop(m);
    run(c, "six");
    CHECK(c->outcome == AGENT_FAILED && c->fault == AGENT_FAULT_TRANSPORT && c->n == 0);
}
int main(int argc, char **argv)
{
    static const char script[] =
        "turn\ntext First answer.\nturn\nbytes 3\ntext Second answer.\nturn\npiece 1\ndelay 50\ntext A slow one that nobody waits for.\n"
        "turn\ntext half\ncut\nturn\nwhole\nchunked off\ntext All is well.\n";
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    static client c;
    host_model m;
    char program[4096];
    (void)argc;
    signal(SIGPIPE, SIG_IGN);
    CHECK(host_beside(argv[0], "scripted-model", program, sizeof program));
    CHECK(host_model_start(&m, program, "--script", script));
    CHECK(agent_open(&c.e, &d) == AGENT_OK);
    p.provider = "ollama";
    p.key = "";
    p.url = m.url;
    s.peer = agent_peer_open(c.e, &p);
    s.model = "scripted";
    c.chat = agent_session_open(c.e, &s);
    CHECK(c.chat != 0);
    if (c.chat) runs(&c, &m);
    agent_close(c.e);
    host_close_all(&c.net);
    host_model_stop(&m);
    return test_end("client_poll");
}
