/* What the host says while a run is going on, how it stops one, what ends one, and how it changes the table. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

static const host_answer text_a = { SSE_TEXT("One.") SSE_STOP, 0, NULL, 0, 0 }, text_b = { SSE_TEXT("Two.") SSE_STOP, 0, NULL, 0, 0 };
static const host_answer call = { SSE_CALL("0", "c1", "alpha", "{}") SSE_CALL("1", "c2", "beta", "{}") SSE_TOOLS, 0, NULL, 0, 0 };
static const host_answer held_text = { SSE_TEXT("One.") SSE_STOP, 0, NULL, HOST_CHUNKED, HOST_HOLD };
typedef struct plan {
    int when; unsigned nth;                   /* at the nth event of this type something is done                         */
    void (*act)(host *, struct plan *, const agent_event *);
    agent_id s; int hold, why, waits, step_why;
    agent_num call[8]; size_t n;
    unsigned seen;
} plan;
static int watch(host *h, const agent_event *ev)
{
    plan *p = (plan *)h->arg;
    if (ev->type == AGENT_EV_RUN_END) { p->why = ev->u.end.why; p->waits = ev->u.end.waits; }
    if (ev->type == AGENT_EV_STEP_END) p->step_why = ev->u.end.why;
    if (p->act && ev->type == p->when && ++p->seen == p->nth) p->act(h, p, ev);
    if (ev->type != AGENT_EV_TOOL_RUN || !p->hold) return 0;
    p->call[p->n++] = ev->call;
    return 1;
}
static host *begin(int cut, const host_answer *a, size_t n, const agent_session_desc *d, plan *p)
{
    host *h = host_new(NULL, AGENT_VIA_BYTES, cut);
    h->on = watch;
    h->arg = p;
    p->s = host_session(h, d);
    p->n = 0;
    p->seen = 0;
    host_answers(h, a, n);
    return h;
}
static void over(host *h)
{
    host_bodies_check(h);
    host_over_check(h);
    host_free(h);
}
static int submit(host *h, plan *p, const char *text, int lane)
{
    agent_part part;
    memset(&part, 0, sizeof part);
    part.text = agenti_cstr(text);
    return agent_submit(h->e, p->s, text ? &part : NULL, text ? 1 : 0, lane);
}
static const char *told(const host *h, size_t i)             /* the last user text of a request                           */
{
    const char *p = h->body[i].p, *last = "", *q;
    for (q = p; (q = strstr(q, "\"role\":\"user\",\"content\":\"")) != NULL; q += 5) last = q + 25;
    return last;
}

/* ---- steer, queue, store ---- */
static void steer_now(host *h, plan *p, const agent_event *ev) { (void)ev; CHECK(submit(h, p, "Shorter.", AGENT_STEER) > 0); }
static void steering(int cut)
{
    host_answer a[4];
    plan p;
    host *h;
    memset(&p, 0, sizeof p);
    a[0] = call;
    a[1] = text_a;
    a[2] = text_b;
    p.act = steer_now;
    p.nth = 1;
    p.when = AGENT_EV_TOOL_RUN;               /* into the run, before its next request                                   */
    h = begin(cut, a, 3, NULL, &p);
    submit(h, &p, "Hi", AGENT_QUEUE);
    host_run(h);
    CHECK(h->request_n == 2 && strncmp(told(h, 1), "Shorter.", 8) == 0 && h->count[AGENT_EV_RUN_END] == 1 && h->steps == 2 && p.why == AGENT_WHY_ANSWERED);
    CHECK(host_said(h, "\"item\":2,\"op\":0,\"lane\":1") && host_said(h, "\"item\":2,\"op\":1,\"lane\":1"));
    over(h);
    p.when = AGENT_EV_TEXT_END;               /* a run that would end goes on                                            */
    a[0] = text_a;
    h = begin(cut, a, 1, NULL, &p);
    submit(h, &p, "Hi", AGENT_STEER);         /* idle: as QUEUE                                                          */
    host_run(h);
    CHECK(h->request_n == 2 && strncmp(told(h, 1), "Shorter.", 8) == 0 && h->count[AGENT_EV_RUN_END] == 1 && h->steps == 2);
    over(h);
    p.when = AGENT_EV_STEP_END;               /* at the last moment                                                      */
    h = begin(cut, a, 1, NULL, &p);
    submit(h, &p, "Hi", AGENT_QUEUE);
    host_run(h);
    CHECK(p.step_why == AGENT_WHY_ANSWERED && h->request_n == 2 && h->count[AGENT_EV_RUN_END] == 1 && h->steps == 2);
    over(h);
    p.when = AGENT_EV_RUN_END;                /* too late for this run                                                   */
    h = begin(cut, a, 1, NULL, &p);
    submit(h, &p, "Hi", AGENT_QUEUE);
    host_run(h);
    CHECK(h->request_n == 2 && h->count[AGENT_EV_RUN_END] == 2 && h->steps == 1);
    over(h);
}
static void order(void)                                       /* numbers, lanes, moves, and what is taken back           */
{
    plan p;
    host *h;
    agent_item it;
    agent_part part;
    memset(&p, 0, sizeof p);
    h = begin(HOST_CUT_WHOLE, &held_text, 1, NULL, &p);
    CHECK(agent_queue_at(h->e, p.s, 0, &it) == AGENT_E_ARG && agent_queue_at(h->e, p.s + 1, 0, &it) == AGENT_E_STALE);
    CHECK(submit(h, &p, "a", AGENT_QUEUE) == 1);
    host_run(h);
    CHECK(submit(h, &p, "b", AGENT_QUEUE) == 2 && submit(h, &p, "c", AGENT_QUEUE) == 3 && submit(h, &p, "d", AGENT_STORE) == 4 && submit(h, &p, "e", AGENT_QUEUE) == 5);
    CHECK(submit(h, &p, "x", 7) == AGENT_E_ARG && submit(h, &p, NULL, AGENT_STORE) == AGENT_E_STATE);
    CHECK(agent_queue_cancel(h->e, p.s, 1) == AGENT_LATE && agent_queue_cancel(h->e, p.s, 6) == AGENT_E_ARG && agent_queue_cancel(h->e, p.s, 0) == AGENT_E_ARG);
    CHECK(agent_queue_at(h->e, p.s, 1, &it) == AGENT_OK && it.item == 3 && it.part_count == 1 && it.lane == AGENT_QUEUE);
    CHECK(agent_queue_part(h->e, p.s, 4, 0, &part) == AGENT_OK && part.text.n == 1 && part.text.p[0] == 'd');
    CHECK(agent_queue_part(h->e, p.s, 4, 1, &part) == AGENT_E_ARG && agent_queue_part(h->e, p.s, 1, 0, &part) == AGENT_E_ARG);
    CHECK(agent_queue_cancel(h->e, p.s, 3) == AGENT_OK && agent_queue_cancel(h->e, p.s, 3) == AGENT_LATE);
    CHECK(agent_queue_at(h->e, p.s, 1, &it) == AGENT_OK && it.item == 4);
    CHECK(agent_queue_move(h->e, p.s, 5, AGENT_QUEUE, 2) == AGENT_OK && agent_queue_move(h->e, p.s, 5, 9, 2) == AGENT_E_ARG);
    CHECK(agent_queue_move(h->e, p.s, 3, AGENT_QUEUE, 0) == AGENT_LATE && agent_queue_move(h->e, p.s, 2, AGENT_QUEUE, 3) == AGENT_LATE);
    CHECK(agent_queue_move(h->e, p.s, 2, AGENT_QUEUE, 2) == AGENT_OK);
    CHECK(agent_queue_at(h->e, p.s, 0, &it) == AGENT_OK && it.item == 5);
    host_run(h);
    CHECK(h->count[AGENT_EV_QUEUED] == 8 && host_said(h, "\"item\":3,\"op\":2") && host_said(h, "\"item\":5,\"op\":3"));
    h->release = 1;
    host_run(h);
    CHECK(h->request_n == 3 && told(h, 1)[0] == 'e' && told(h, 2)[0] == 'b' && agent_messages(h->e, p.s) == 7);
    CHECK(agent_message_part(h->e, p.s, 7, 0, &part) == AGENT_OK && part.text.p[0] == 'd');
    over(h);
}
static void stored(void)                                      /* a message without a run                                 */
{
    agent_msg m;
    plan p;
    host *h;
    memset(&p, 0, sizeof p);
    h = begin(HOST_CUT_WHOLE, &text_a, 1, NULL, &p);
    CHECK(submit(h, &p, "First this.", AGENT_STORE) == 1);
    host_run(h);
    CHECK(h->request_n == 0 && h->count[AGENT_EV_MSG_END] == 1 && h->count[AGENT_EV_RUN_START] == 0 && agent_messages(h->e, p.s) == 1);
    CHECK(agent_message(h->e, p.s, 0, &m) == AGENT_OK && m.run == 0 && agent_deadline(h->e) == UINT64_MAX);
    CHECK(submit(h, &p, NULL, AGENT_QUEUE) == 2);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED && h->request_n == 1);
    over(h);
}

/* ---- stop ---- */
static void stop_idle(void)
{
    plan p;
    host *h;
    memset(&p, 0, sizeof p);
    h = begin(HOST_CUT_WHOLE, &text_a, 1, NULL, &p);
    CHECK(agent_stop(h->e, p.s, 0) == AGENT_E_ARG && agent_stop(h->e, p.s, 4) == AGENT_E_ARG && agent_stop(h->e, p.s + 1, 1) == AGENT_E_STALE);
    CHECK(agent_stop(h->e, p.s, AGENT_STOP_STEP) == AGENT_OK && agent_next(h->e) == NULL);
    CHECK(submit(h, &p, "Hi", AGENT_QUEUE) == 1 && agent_stop(h->e, p.s, AGENT_STOP_STEP) == AGENT_OK);
    host_run(h);
    CHECK(h->count[AGENT_EV_RUN_START] == 0 && host_said(h, "\"item\":1,\"op\":2"));
    over(h);
}
static void stop_step(int cut)
{
    host_answer a[2];
    plan p;
    host *h;
    int mode;
    a[0] = call;
    a[1] = text_a;
    for (mode = AGENT_STOP_STEP; mode <= AGENT_STOP_NOW; mode++) {
        agent_session_desc d;
        memset(&d, 0, sizeof d);
        memset(&p, 0, sizeof p);
        d.parallel_tools = 1;
        p.hold = 1;
        h = begin(cut, a, 2, &d, &p);
        submit(h, &p, "Hi", AGENT_QUEUE);
        host_run(h);
        CHECK(p.n == 1 && submit(h, &p, "Later", AGENT_QUEUE) == 2 && agent_stop(h->e, p.s, mode) == AGENT_OK);
        if (mode == AGENT_STOP_NOW) check_cancel(&h->check, p.s);
        host_run(h);
        CHECK((h->outcome == -1) == (mode != AGENT_STOP_NOW) && h->count[AGENT_EV_TOOL_CANCEL] == (mode == AGENT_STOP_NOW));
        CHECK(agent_tool_result(h->e, p.s, p.call[0], "1", 1) == (mode == AGENT_STOP_NOW ? AGENT_LATE : AGENT_OK));
        host_run(h);
        CHECK(p.n == (mode == AGENT_STOP_STEP ? 2u : 1u));   /* TOOLS: no other starts                                  */
        if (p.n == 2) CHECK(agent_tool_result(h->e, p.s, p.call[1], "2", 1) == AGENT_OK);
        host_run(h);
        CHECK(h->outcome == AGENT_CANCELLED && p.why == AGENT_WHY_CANCEL && p.waits == AGENT_WAITS_USER && h->request_n == 1);
        CHECK(host_said(h, "\"item\":2,\"op\":2") && h->count[AGENT_EV_RUN_END] == 1 && h->count[AGENT_EV_TOOL_RESULT] == 2);
        CHECK(submit(h, &p, "Go on", AGENT_QUEUE) == 3);
        host_run(h);
        CHECK(h->outcome == AGENT_COMPLETED);
        over(h);
    }
    memset(&p, 0, sizeof p);                  /* a step that ends the run by itself is no cancel                         */
    h = begin(cut, &held_text, 1, NULL, &p);
    submit(h, &p, "Hi", AGENT_QUEUE);
    host_run(h);
    CHECK(agent_stop(h->e, p.s, AGENT_STOP_STEP) == AGENT_OK);
    h->release = 1;
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED && p.why == AGENT_WHY_ANSWERED);
    over(h);
}

/* ---- what ends a run ---- */
static void go_on(host *h, plan *p, const agent_event *ev)
{
    CHECK(ev->u.end.why != AGENT_WHY_NONE && ev->u.end.why != AGENT_WHY_ANSWERED);
    CHECK(submit(h, p, NULL, AGENT_STEER) > 0);
}
static void policies(int cut)
{
    static const agent_tool tools[] = { { "alpha", NULL, NULL, AGENT_TF_ENDS_RUN, 0, NULL }, { "beta", NULL, NULL, 0, 0, NULL } };
    static const struct { int why, outcome; } rows[] = {
        { AGENT_WHY_TOOL, AGENT_COMPLETED }, { AGENT_WHY_FINISH, AGENT_COMPLETED }, { AGENT_WHY_STEPS, AGENT_LIMITED }, { AGENT_WHY_TOKENS, AGENT_LIMITED }
    };
    host_answer a[2];
    agent_session_desc d;
    plan p;
    host *h;
    size_t i;
    int on;
    a[0] = call;
    a[1] = text_a;
    for (i = 0; i < 4; i++) for (on = 0; on < 2; on++) {
        memset(&d, 0, sizeof d);
        memset(&p, 0, sizeof p);
        if (i == 0) { d.tools = tools; d.tool_count = 2; }
        if (i == 1) d.stop_finish = 1u << AGENT_FINISH_TOOLS;
        if (i == 2) d.max_steps = 1;
        if (i == 3) d.max_run_tokens = 15;
        p.act = on ? go_on : NULL;
        p.when = AGENT_EV_STEP_END;
        p.nth = 1;
        h = begin(cut, a, 2, &d, &p);
        submit(h, &p, "Hi", AGENT_QUEUE);
        host_run(h);
        CHECK(h->count[AGENT_EV_RUN_END] == 1 && h->request_n == (on ? 2u : 1u));
        if (!on) {
            CHECK(h->outcome == rows[i].outcome && p.why == rows[i].why && p.step_why == rows[i].why);
            CHECK(p.waits == (i < 2 ? AGENT_WAITS_USER : AGENT_WAITS_HOST));
            CHECK(submit(h, &p, NULL, AGENT_QUEUE) == 2);     /* lifted from outside                                     */
            host_run(h);
            CHECK(h->request_n == 2);
        }
        CHECK(strstr(h->body[1].p, "\"role\":\"tool\"") != NULL);
        over(h);
    }
}
static int ends(host *h, const agent_event *ev)
{
    (void)watch(h, ev);
    if (ev->type != AGENT_EV_TOOL_RUN) return 0;
    CHECK(agent_tool_done(h->e, ev->session, ev->call, AGENT_DONE_OK | (ev->call == 2 ? AGENT_DONE_END_RUN : 0)) == AGENT_OK);
    return 1;
}
static void tool_ends(void)
{
    plan p;
    host *h;
    memset(&p, 0, sizeof p);
    h = begin(HOST_CUT_WHOLE, &call, 1, NULL, &p);
    h->on = ends;
    submit(h, &p, "Hi", AGENT_QUEUE);
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED && p.why == AGENT_WHY_TOOL && h->request_n == 1);
    over(h);
}
static void checkpoints(void)
{
    agent_session_desc d;
    host_answer a[2];
    plan p;
    host *h;
    a[0] = call;
    a[1] = text_a;
    memset(&d, 0, sizeof d);
    memset(&p, 0, sizeof p);
    d.flags = AGENT_S_CHECKPOINTS;
    h = begin(HOST_CUT_WHOLE, a, 2, &d, &p);
    submit(h, &p, "Hi", AGENT_QUEUE);
    host_run(h);
    CHECK(h->count[AGENT_EV_CHECKPOINT] == 3 && h->outcome == AGENT_COMPLETED && agent_deadline(h->e) == UINT64_MAX);
    over(h);
}

/* ---- the table ---- */
static void cutting(void)
{
    host_answer a[3];
    agent_part part;
    plan p;
    host *h;
    a[0] = text_a;
    a[1] = call;
    a[2] = text_b;
    memset(&p, 0, sizeof p);
    h = begin(HOST_CUT_WHOLE, a, 3, NULL, &p);
    CHECK(agent_regenerate(h->e, p.s) == AGENT_E_STATE && agent_message_cut(h->e, p.s, 1) == AGENT_E_ARG);
    submit(h, &p, "Hi", AGENT_QUEUE);
    CHECK(agent_regenerate(h->e, p.s) == AGENT_E_STATE && agent_message_cut(h->e, p.s, 1) == AGENT_E_STATE);
    host_run(h);
    CHECK(agent_regenerate(h->e, p.s) == 2 && agent_messages(h->e, p.s) == 1);
    host_run(h);                              /* the call, its results, then "Two."                                      */
    CHECK(host_said(h, "MSG_CUT") && agent_messages(h->e, p.s) == 4 && strcmp(h->body[0].p, h->body[1].p) == 0);
    CHECK(agent_message_part(h->e, p.s, 2, 0, &part) == AGENT_E_ARG && agent_message_part(h->e, p.s, 3, 0, &part) == AGENT_OK);
    CHECK(agent_message_cut(h->e, p.s, 4) == 2 && agent_messages(h->e, p.s) == 2);
    CHECK(submit(h, &p, "Go on", AGENT_QUEUE) == 3);         /* calls without results: they get them                    */
    host_run(h);
    CHECK(h->outcome == AGENT_COMPLETED && strstr(h->body[3].p, "Not run.") && host_said(h, "calls without results"));
    CHECK(agent_message_cut(h->e, p.s, 1) == 5 && agent_messages(h->e, p.s) == 0 && agent_regenerate(h->e, p.s) == AGENT_E_STATE);
    CHECK(submit(h, &p, "Anew", AGENT_QUEUE) == 4);
    host_run(h);
    CHECK(h->count[AGENT_EV_MSG_CUT] == 3 && strstr(h->body[4].p, "Go on") == NULL);
    over(h);
}
int main(void)
{
    static const int cuts[] = { HOST_CUT_WHOLE, HOST_CUT_BYTES, HOST_CUT_RANDOM };
    int c;
    for (c = 0; c < 3; c++) {
        steering(cuts[c]);
        stop_step(cuts[c]);
        policies(cuts[c]);
    }
    stop_idle();
    order();
    stored();
    tool_ends();
    checkpoints();
    cutting();
    return test_end("queue");
}
