/* Sessions that are saved at any moment and go on elsewhere, as if nothing had happened but that what was in flight broke off. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

/* ---- the runs ---- */
typedef struct script { const char *name; const host_answer *answers; size_t n; uint32_t flags, max_retries, max_steps; int what, format; } script;
enum { WHAT_NONE, WHAT_QUEUE, WHAT_STEER, WHAT_STOP_STEP, WHAT_CANCEL, WHAT_HOLD };
#define TWO SSE_CALL("0", "c1", "alpha", "{\\\"x\\\":1}") SSE_CALL("1", "c2", "beta", "{}")
static const host_answer texts[] = { { SSE_THINK("Hm.") SSE_TEXT("Hello ") SSE_TEXT("there.") SSE_STOP, 0, NULL, 0, 0 } };
static const host_answer tools[] = { { SSE_TEXT("I look.") TWO SSE_TOOLS, 0, NULL, 0, 0 }, { SSE_TEXT("Done.") SSE_STOP, 0, NULL, 0, 0 } };
static const host_answer odd[] = { { SSE_CALL("0", "c1", "alpha", "{}") SSE_CALL("1", "c2", "nobody", "{}") SSE_CALL("2", "c3", "beta", "{broken") SSE_TOOLS, 0, NULL, 0, 0 },
                                   { SSE_TEXT("Well.") SSE_STOP, 0, NULL, 0, 0 } };
static const host_answer length[] = { { SSE_TEXT("I look.") SSE_CALL("0", "c1", "alpha", "{\\\"x\\\":") SSE_FINISH("length") SSE_USAGE SSE_DONE, 0, NULL, 0, 0 } };
static const host_answer failing[] = { { "{\"error\":{\"message\":\"slow down\"}}", 429, NULL, 0, 0 }, { SSE_TEXT("Now.") SSE_STOP, 0, NULL, 0, 0 } };
static const host_answer broken[] = { { SSE_TEXT("Half") SSE_USAGE, 0, NULL, 0, HOST_RESET }, { SSE_TEXT(" and half.") SSE_STOP, 0, NULL, 0, 0 } };
static const host_answer claude[] = {
    { AN_BEGIN AN_START("0", "\"thinking\",\"thinking\":\"\"") AN_THINK("0", "Let me see.") AN_ADD("0", "\"signature_delta\",\"signature\":\"QUJD\"") AN_STOP("0")
      AN_START("1", "\"text\",\"text\":\"\"") AN_TEXT("1", "I look.") AN_STOP("1") AN_TOOL("2", "alpha") AN_JSON("2", "{\\\"x\\\":1}") AN_STOP("2") AN_END("tool_use"), 0, NULL, 0, 0 },
    { AN_BEGIN AN_SAY("Done.") AN_END("end_turn"), 0, NULL, 0, 0 } };
static const host_answer paused[] = {
    { AN_BEGIN AN_START("0", "\"server_tool_use\",\"id\":\"srv_1\",\"name\":\"web_search\",\"input\":{}") AN_JSON("0", "{\\\"q\\\":1}") AN_STOP("0") AN_END("pause_turn"), 0, NULL, 0, 0 },
    { AN_BEGIN AN_SAY("Found.") AN_END("end_turn"), 0, NULL, 0, 0 } };
static const script scripts[] = {
    { "texts", texts, 1, 0, 0, 0, WHAT_NONE, 0 }, { "tools", tools, 2, AGENT_S_CHECKPOINTS, 0, 0, WHAT_NONE, 0 }, { "held tools", tools, 2, 0, 0, 0, WHAT_HOLD, 0 },
    { "odd calls", odd, 2, 0, 0, 0, WHAT_NONE, 0 }, { "length", length, 1, 0, 0, 0, WHAT_NONE, 0 }, { "retries", failing, 2, 0, 3, 0, WHAT_NONE, 0 },
    { "goes on", broken, 2, AGENT_S_GO_ON, 3, 0, WHAT_NONE, 0 }, { "breaks", broken, 1, 0, 3, 0, WHAT_NONE, 0 }, { "queue", tools, 2, 0, 0, 0, WHAT_QUEUE, 0 },
    { "steer", tools, 2, 0, 0, 0, WHAT_STEER, 0 }, { "stop", tools, 2, 0, 0, 0, WHAT_STOP_STEP, 0 }, { "cancel", tools, 2, 0, 0, 0, WHAT_CANCEL, 0 },
    { "steps", tools, 1, 0, 0, 2, WHAT_NONE, 0 }, { "thinking", claude, 2, 0, 3, 0, WHAT_NONE, 1 }, { "pause", paused, 2, 0, 0, 0, WHAT_NONE, 1 }
};
enum { SCRIPTS = sizeof scripts / sizeof *scripts };

typedef struct run { const script *k; agent_id s; host_text rest; int silent; unsigned at; agent_num call[8]; size_t n; } run;
static const agent_tool list[] = { { "alpha", NULL, NULL, 0, 0, NULL }, { "beta", NULL, NULL, AGENT_TF_REPLAY_SAFE, 0, NULL } };
static int acts(host *h, const agent_event *ev)
{
    run *r = (run *)h->arg;
    int what = r->k->what;
    if (ev->type == AGENT_EV_TOOL_RUN && what == WHAT_QUEUE) CHECK(agent_say(h->e, r->s, "And then?", AGENT_CSTR) > 0);
    if (ev->type == AGENT_EV_TEXT_START && ev->step == 1 && what == WHAT_STEER) {
        agent_part p;
        memset(&p, 0, sizeof p);
        p.text = agenti_cstr("Shorter.");
        CHECK(agent_submit(h->e, r->s, &p, 1, AGENT_STEER) > 0 && agent_submit(h->e, r->s, &p, 1, AGENT_STORE) > 0);
    }
    if (ev->type == AGENT_EV_TOOL_CALL && what == WHAT_STOP_STEP) CHECK(agent_stop(h->e, r->s, AGENT_STOP_STEP) == AGENT_OK);
    if (ev->type == AGENT_EV_TOOL_RUN && what == WHAT_CANCEL) { CHECK(agent_say(h->e, r->s, "Wait", AGENT_CSTR) > 0); host_cancel(h, r->s); return 1; }
    if (ev->type == AGENT_EV_TOOL_RUN && what == WHAT_HOLD) {
        CHECK(agent_tool_append(h->e, r->s, ev->call, "line 1\n", AGENT_CSTR) == AGENT_OK && agent_tool_update(h->e, r->s, ev->call, "at work", AGENT_CSTR) == AGENT_OK);
        r->call[r->n++] = ev->call;
        return 1;
    }
    return 0;
}
static host *fresh(run *r, int via, int cut)
{
    agent_session_desc d;
    host *h = host_new(NULL, via, cut);
    memset(&d, 0, sizeof d);
    d.flags = r->k->flags;
    d.max_retries = r->k->max_retries;
    d.max_steps = r->k->max_steps;
    d.tools = list;
    d.tool_count = 2;
    d.peer = host_peer_of(h, r->k->format ? "anthropic" : "openai-compatible");
    r->s = host_session(h, &d);
    r->n = 0;
    h->on = acts;
    h->arg = r;
    host_answers(h, r->k->answers, r->k->n);
    return h;
}
/* Events that are not the connection's, as lines; a need's number tells nothing of the session.                          */
static void note(host_text *t, const agent_event *ev)
{
    char line[4096];
    if (ev->conn || ev->type == AGENT_EV_OPEN || ev->type == AGENT_EV_CLOSE || ev->type == AGENT_EV_SEND) return;
    if (agent_event_json(ev, line, sizeof line) >= sizeof line) abort();
    text_str(t, line);
    text_str(t, "\n");
}
/* seq counts the connection's events as well: it is left out where one was under way.                                   */
static void strip(host_text *t, const char *key)
{
    char *p = t->p, *q = t->p, *end;
    size_t k = strlen(key);
    if (t->p == NULL) return;
    end = t->p + t->n;
    while (p < end) {
        if ((size_t)(end - p) > k && memcmp(p, key, k) == 0) for (p += k; p < end && *p >= '0' && *p <= '9'; p++) {}
        else *q++ = *p++;
    }
    t->n = (size_t)(q - t->p);
    *q = 0;
}
static void finish_tools(host *h, run *r)
{
    size_t i;
    for (i = 0; i < r->n; i++) (void)agent_tool_result(h->e, r->s, r->call[i], "fine", AGENT_CSTR);
    r->n = 0;
}
/* Until all is over; retries and tools that were held included.                                                          */
static void to_end(host *h, run *r, host_text *out, unsigned limit)
{
    const agent_event *ev;
    unsigned turns = 0;
    while (r->at < limit && turns++ < 100000) {
        uint64_t due;
        if ((ev = host_next(h)) != NULL) {
            /* h->e's event is still the one that was shown: nothing else was called for */
            r->at++;
            if (out) note(out, &h->e->ev);
            continue;
        }
        if (host_io(h) || agent_deadline(h->e) <= h->now) continue;
        if (r->n) { finish_tools(h, r); continue; }
        if ((due = agent_deadline(h->e)) == UINT64_MAX) return;
        h->now = due;
        agent_tick(h->e, h->now, 0);
    }
}
static void save_to(host *h, agent_id s, agent_mark *m, host_text *t, size_t cap)
{
    char buf[4096];
    size_t n;
    int rc;
    do {
        rc = agent_save(h->e, s, m, buf, cap, &n);
        CHECK(rc == AGENT_OK || rc == AGENT_MORE);
        text_add(t, buf, n);
    } while (rc == AGENT_MORE);
}
static int load_from(host *h, agent_id s, const char *p, size_t n, size_t piece)
{
    int rc = AGENT_OK;
    while (n && rc == AGENT_OK) {
        size_t k = n < piece ? n : piece;
        rc = agent_load(h->e, s, p, k);
        p += k;
        n -= k;
    }
    if (rc == AGENT_OK) rc = agent_load(h->e, s, NULL, 0);
    if (rc == AGENT_OK) check_loaded(&h->check, s, agenti_session_get(h->e, s)->seq);
    return rc;
}
static int in_flight(host *h, agent_id id)
{
    const agenti_session *s = agenti_session_get(h->e, id);
    const agenti_msg *m = s->answer.results;
    uint32_t i;
    if (s->conn) return 1;
    for (i = 0; m && !m->ended && i < m->n; i++) if (m->parts[i].state == AGENTI_CALL_RUNNING) return 1;
    return 0;
}
static void tell_checker(host *to, const host *from)
{
    /* what the checker has seen before the save: a run and a step may be open, parts and calls of it as well */
    check c;
    size_t i, k;
    check_free(&to->check);
    check_init(&c, "sk-very-secret-key", 0);
    c.light = 1;
    for (i = 0; i < from->check.stream_n; i++) {
        const check_stream *f = &from->check.streams[i];
        check_stream *t = check_stream_of(&c, f->id);
        *t = *f;
        t->parts = NULL;
        t->calls = NULL;
        t->needs = NULL;
        t->waits = t->gone = NULL;
        t->part_n = t->call_n = t->need_n = t->wait_n = t->gone_n = 0;
        for (k = 0; k < f->part_n; k++) {
            t->parts = (check_part *)check_more(t->parts, t->part_n, sizeof *t->parts);
            t->parts[t->part_n] = f->parts[k];
            t->parts[t->part_n].text = (char *)malloc(f->parts[k].n + 1);
            if (f->parts[k].n) memcpy(t->parts[t->part_n].text, f->parts[k].text, f->parts[k].n);
            t->part_n++;
        }
        for (k = 0; k < f->call_n; k++) { t->calls = (check_call *)check_more(t->calls, t->call_n, sizeof *t->calls); t->calls[t->call_n++] = f->calls[k]; }
        for (k = 0; k < f->need_n; k++) if (f->needs[k].conn == 0) { t->needs = (check_need *)check_more(t->needs, t->need_n, sizeof *t->needs); t->needs[t->need_n++] = f->needs[k]; }
        for (k = 0; k < f->gone_n; k++) { t->gone = (agent_num *)check_more(t->gone, t->gone_n, sizeof *t->gone); t->gone[t->gone_n++] = f->gone[k]; }
        for (k = 0; k < f->wait_n; k++) { t->waits = (agent_num *)check_more(t->waits, t->wait_n, sizeof *t->waits); t->waits[t->wait_n++] = f->waits[k]; }
    }
    to->check = c;
    to->errors = from->errors;
}
static void at_every_event(const script *k, int cut)
{
    host_text whole = { NULL, 0, 0 };
    unsigned n, total;
    run r;
    host *h;
    memset(&r, 0, sizeof r);
    r.k = k;
    h = fresh(&r, AGENT_VIA_BYTES, cut);
    agent_say(h->e, r.s, "Hi", AGENT_CSTR);
    to_end(h, &r, &whole, UINT32_MAX);
    total = r.at;
    host_free(h);
    for (n = 0; n <= total; n++) {
        run a, b;
        host *x, *y;
        host_text saved = { NULL, 0, 0 }, rest_a = { NULL, 0, 0 }, rest_b = { NULL, 0, 0 };
        agent_mark m;
        size_t i, asked;
        int flying, rc;
        memset(&a, 0, sizeof a);
        memset(&b, 0, sizeof b);
        memset(&m, 0, sizeof m);
        a.k = b.k = k;
        x = fresh(&a, AGENT_VIA_BYTES, cut);
        x->name = k->name;
        agent_say(x->e, a.s, "Hi", AGENT_CSTR);
        to_end(x, &a, NULL, n);
        flying = in_flight(x, a.s);
        save_to(x, a.s, &m, &saved, 64 + n % 200);
        CHECK(strstr(saved.p, "sk-very-secret-key") == NULL);
        y = fresh(&b, AGENT_VIA_BYTES, cut);
        y->name = k->name;
        y->now = x->now;
        agent_tick(y->e, y->now, 0);
        y->answer_at = x->answer_at;
        rc = load_from(y, b.s, saved.p, saved.n, 1 + n % 97);
        CHECK_CASE(rc == AGENT_OK, agent_last(y->e));
        host_may_run_again(&x->check, x->e, a.s);
        tell_checker(y, x);
        x->check.light = 1;
        agenti_interrupt(agenti_session_get(x->e, a.s));
        a.n = 0;                              /* what ran is nobody's any more                                          */
        asked = x->request_n;
        to_end(x, &a, &rest_a, UINT32_MAX);
        to_end(y, &b, &rest_b, UINT32_MAX);
        strip(&rest_a, ",\"seq\":");
        strip(&rest_b, ",\"seq\":");
        CHECK_CASE(rest_a.n == rest_b.n && (rest_a.n == 0 || memcmp(rest_a.p, rest_b.p, rest_a.n) == 0), k->name);
        if (rest_a.n != rest_b.n || (rest_a.n && memcmp(rest_a.p, rest_b.p, rest_a.n)))
            fprintf(stderr, "%s after event %u:\n%s---- loaded\n%s---- saved\n%s", k->name, n, rest_a.p ? rest_a.p : "", rest_b.p ? rest_b.p : "", saved.p);
        CHECK(x->request_n - asked == y->request_n);
        for (i = 0; i < y->request_n; i++) CHECK(x->body[asked + i].n == y->body[i].n && memcmp(x->body[asked + i].p, y->body[i].p, y->body[i].n) == 0);
        if (!flying && rest_b.n) {            /* nothing was under way: the rest is that of the whole run               */
            strip(&whole, ",\"seq\":");
            CHECK_CASE(whole.n >= rest_b.n && memcmp(whole.p + whole.n - rest_b.n, rest_b.p, rest_b.n) == 0, k->name);
        }
        host_bodies_check(y);
        host_over_check(x);
        host_over_check(y);
        text_free(&saved);
        text_free(&rest_a);
        text_free(&rest_b);
        host_free(x);
        host_free(y);
    }
    text_free(&whole);
}

/* ---- files ---- */
typedef struct kept { host *h; agent_id s; run r; agent_mark m; host_text file; } kept;
static void kept_open(kept *k, const script *sc)
{
    memset(k, 0, sizeof *k);
    k->r.k = sc;
    k->h = fresh(&k->r, AGENT_VIA_HTTP, HOST_CUT_WHOLE);
    k->s = k->r.s;
}
static void kept_save(kept *k) { save_to(k->h, k->s, &k->m, &k->file, 4096); }
static void kept_free(kept *k) { host_free(k->h); text_free(&k->file); }
static int same_tables(host *x, agent_id a, host *y, agent_id b)
{
    size_t i, k;
    agent_msg m, n;
    agent_part p, q;
    if (agent_messages(x->e, a) != agent_messages(y->e, b)) return 0;
    for (i = 0; i < agent_messages(x->e, a); i++) {
        if (agent_message(x->e, a, i, &m) != AGENT_OK || agent_message(y->e, b, i, &n) != AGENT_OK) return 0;
        if (m.id != n.id || m.run != n.run || m.role != n.role || m.flags != n.flags || m.part_count != n.part_count) return 0;
        for (k = 0; k < m.part_count; k++) {
            if (agent_message_part(x->e, a, m.id, k, &p) != AGENT_OK || agent_message_part(y->e, b, n.id, k, &q) != AGENT_OK) return 0;
            if (p.kind != q.kind || p.flags != q.flags || p.id != q.id || p.call != q.call || !host_str_same(p.text, q.text) || !host_str_same(p.name, q.name)
                || !host_str_same(p.wire_id, q.wire_id) || !host_str_same(p.data, q.data) || !host_str_same(p.mime, q.mime) || !host_str_same(p.uri, q.uri)) return 0;
        }
    }
    return 1;
}
/* Appended after every event, the file is at each moment the same session as one that is saved at once.                 */
static void appended(const script *sc)
{
    kept k;
    size_t before;
    unsigned n;
    kept_open(&k, sc);
    agent_say(k.h->e, k.s, "Hi", AGENT_CSTR);
    for (n = 0; n < 400; n++) {
        kept other;
        unsigned at = k.r.at;
        to_end(k.h, &k.r, NULL, k.r.at + 1);
        kept_save(&k);
        before = k.file.n;
        kept_save(&k);
        CHECK(k.file.n == before);            /* nothing is new                                                          */
        kept_open(&other, sc);
        CHECK(load_from(other.h, other.s, k.file.p, k.file.n, 4096) == AGENT_OK);
        if (!in_flight(k.h, k.s)) CHECK(same_tables(k.h, k.s, other.h, other.s));
        kept_save(&other);
        CHECK(other.file.n < 8192);
        kept_free(&other);
        if (k.r.at == at) break;
    }
    CHECK(n < 400);
    kept_free(&k);
}
static void conversation(kept *k)                             /* two runs with tools, a file, an option, and a cut       */
{
    agent_part p[2];
    kept_open(k, &scripts[1]);
    agent_say(k->h->e, k->s, "Hi \xE2\x82\xAC \"\\\x01", AGENT_CSTR);
    to_end(k->h, &k->r, NULL, UINT32_MAX);
    kept_save(k);
    memset(p, 0, sizeof p);
    p[0].text = agenti_cstr("Look");
    p[1].kind = AGENT_PART_IMAGE;
    p[1].mime = agenti_cstr("image/png");
    p[1].text = agenti_cstr("\x89PNG");
    CHECK(agent_session_set(k->h->e, k->s, "temperature", "0.5", AGENT_CSTR) == AGENT_OK && agent_session_set(k->h->e, k->s, "model", "m2", AGENT_CSTR) == AGENT_OK);
    CHECK(agent_submit(k->h->e, k->s, p, 2, AGENT_QUEUE) > 0);
    to_end(k->h, &k->r, NULL, UINT32_MAX);
    kept_save(k);
    CHECK(agent_message_cut(k->h->e, k->s, 4) > 0);
    to_end(k->h, &k->r, NULL, UINT32_MAX);
    kept_save(k);
    CHECK(agent_say(k->h->e, k->s, "Once more", AGENT_CSTR) > 0);
    to_end(k->h, &k->r, NULL, UINT32_MAX);
    kept_save(k);
}
static void goes_on(kept *k)
{
    size_t n = k->h->request_n;
    CHECK(agent_say(k->h->e, k->s, "So?", AGENT_CSTR) > 0);
    to_end(k->h, &k->r, NULL, UINT32_MAX);
    CHECK(k->h->request_n > n && k->h->outcome == AGENT_COMPLETED);
    host_bodies_check(k->h);
    host_over_check(k->h);
}
static void files(void)
{
    kept k, other;
    host_text small = { NULL, 0, 0 };
    agent_mark m;
    agent_str first, second;
    size_t cut, n;
    char buf[64];
    conversation(&k);
    CHECK(strstr(k.file.p, "{\"keep\":3}\n") != NULL);
    memset(&m, 0, sizeof m);
    save_to(k.h, k.s, &m, &small, 64);        /* in small pieces, at once                                                */
    kept_open(&other, &scripts[1]);
    CHECK(load_from(other.h, other.s, small.p, small.n, 1) == AGENT_OK && same_tables(k.h, k.s, other.h, other.s));
    CHECK(load_from(other.h, other.s, small.p, small.n, 1) == AGENT_E_STATE);
    goes_on(&other);
    first = host_body(other.h, 0);
    CHECK(strstr(first.p, "\"model\":\"m2\"") && strstr(first.p, "\"temperature\":0.5") && strstr(first.p, "iVBORw==") == NULL);
    goes_on(&k);
    second = host_body(k.h, k.h->request_n - 1);
    CHECK(host_str_same(first, second));      /* byte for byte                                                           */
    kept_free(&other);
    for (cut = 0; cut <= k.file.n; cut++) {   /* torn anywhere: what the last complete save had                          */
        int rc;
        kept_open(&other, &scripts[1]);
        rc = load_from(other.h, other.s, k.file.p, cut, 10000);
        CHECK((rc == AGENT_OK) == (cut >= 14));
        if (rc != AGENT_OK) CHECK(rc == AGENT_E_FORMAT && strstr(agent_last(other.h->e), "no saved session, in the line at byte 0"));
        for (n = cut; n > 0 && k.file.p[n - 1] != '\n'; n--) {}
        while (host_next(other.h)) {}
        if (rc == AGENT_OK && n != cut) CHECK(other.h->count[AGENT_EV_WARNING] == 1);
        if (cut % 7 == 0 || cut == k.file.n) goes_on(&other);
        kept_free(&other);
    }
    kept_open(&other, &scripts[1]);           /* a whole save behind a torn one begins anew                              */
    text_add(&other.file, k.file.p, k.file.n / 2);
    while (other.file.p[other.file.n - 1] != '\n') other.file.n--;
    text_add(&other.file, small.p, small.n);
    CHECK(load_from(other.h, other.s, other.file.p, other.file.n, 33) == AGENT_OK && agent_messages(other.h->e, other.s) == 5);
    goes_on(&other);
    kept_free(&other);
    kept_open(&other, &scripts[1]);
    CHECK(agent_load(other.h->e, other.s, "{\"agent.h\":2}\n", 14) == AGENT_E_FORMAT && strstr(agent_last(other.h->e), "newer version"));
    CHECK(agent_load(other.h->e, other.s, "hello\n", 6) == AGENT_E_FORMAT && agent_load(other.h->e, other.s, "{\"msg\":{}}\n", 11) == AGENT_E_FORMAT);
    CHECK(agent_load(other.h->e, other.s, "\n{\"agent.h\":1}\n", 15) == AGENT_OK && agent_say(other.h->e, other.s, "x", 1) == AGENT_E_STATE);
    CHECK(agent_regenerate(other.h->e, other.s) == AGENT_E_STATE && agent_load(other.h->e, other.s, NULL, 0) == AGENT_OK);
    check_loaded(&other.h->check, other.s, 0);
    goes_on(&other);
    memset(&m, 0, sizeof m);
    CHECK(agent_save(other.h->e, other.s, &m, buf, 63, &n) == AGENT_E_ARG && agent_save(other.h->e, other.s, NULL, buf, 64, &n) == AGENT_E_ARG);
    CHECK(agent_save(other.h->e, other.s + 1, &m, buf, 64, &n) == AGENT_E_STALE && agent_load(other.h->e, other.s + 1, "x", 1) == AGENT_E_STALE);
    CHECK(agent_save(other.h->e, other.s, &m, buf, 64, &n) == AGENT_MORE && n > 0);
    goes_on(&other);
    CHECK(agent_save(other.h->e, other.s, &m, buf, 64, &n) == AGENT_E_STATE);
    kept_free(&other);
    kept_free(&k);
    text_free(&small);
}
/* Bytes changed at random, and lines left out, doubled, exchanged: an error, or a session that can go on.               */
static void hostile(void)
{
    static const char *const words[] = { "0", "-1", "9999999999", "\"\"", "[]", "{}", "null", "true", "255", "4294967295", "\"tools\"", "\"retry\"", "7", "1", "2", "\"x\"" };
    static const int which[] = { 1, 2, 6, 8, 13, 14 };
    unsigned long seed = 1, n, loaded = 0;
    size_t w;
    for (w = 0; w < sizeof which / sizeof *which; w++) for (n = 0; n < 1500; n++) {
        kept k, other;
        host_text t = { NULL, 0, 0 };
        unsigned limit, changes;
        int rc;
        seed = seed * 1103515245u + 12345;
        limit = (unsigned)(seed >> 16) % 40;
        kept_open(&k, &scripts[which[w]]);
        k.h->quiet = 1;
        agent_say(k.h->e, k.s, "Hi", AGENT_CSTR);
        to_end(k.h, &k.r, NULL, limit);
        kept_save(&k);
        for (changes = 1 + n % 3; changes; changes--) {       /* a value is replaced                                     */
            size_t at, end;
            const char *word;
            seed = seed * 1103515245u + 12345;
            at = (seed >> 8) % k.file.n;
            while (at < k.file.n && k.file.p[at] != ':') at++;
            if (at >= k.file.n) continue;
            for (end = ++at; end < k.file.n && !strchr(",}]\n", k.file.p[end]); end++) {}
            word = words[(seed >> 20) % 16];
            t.n = 0;
            text_add(&t, k.file.p, at);
            text_str(&t, word);
            text_add(&t, k.file.p + end, k.file.n - end);
            k.file.n = 0;
            text_add(&k.file, t.p, t.n);
        }
        kept_open(&other, &scripts[which[w]]);
        other.h->check.light = other.h->quiet = 1;
        rc = load_from(other.h, other.s, k.file.p, k.file.n, 50);
        CHECK(rc == AGENT_OK || rc == AGENT_E_FORMAT);
        if (rc == AGENT_OK) {                 /* the checker does not know what went before                              */
            const agent_event *ev;
            unsigned turns = 0;
            uint64_t due;
            loaded++;
            other.r.n = 0;
            for (;;) {
                while ((ev = agent_next(other.h->e)) != NULL) { CHECK(turns++ < 5000); if (!acts(other.h, ev)) host_event(other.h, ev); }
                if (host_io(other.h) || agent_deadline(other.h->e) <= other.h->now) continue;
                if (other.r.n) { finish_tools(other.h, &other.r); continue; }
                if ((due = agent_deadline(other.h->e)) == UINT64_MAX) break;
                agent_tick(other.h->e, other.h->now = due, 0);
            }
            CHECK(agent_pending(other.h->e, other.s, 0, &k.h->e->ev) == AGENT_E_STALE);
            for (turns = 0; turns < other.h->request_n; turns++) CHECK(agent_json_check(other.h->body[turns].p, other.h->body[turns].n, 0, NULL) == AGENT_OK);
        } else CHECK(agent_messages(other.h->e, other.s) == 0 && load_from(other.h, other.s, "{\"agent.h\":1}\n", 14, 99) == AGENT_OK);
        text_free(&t);
        kept_free(&other);
        kept_free(&k);
    }
    printf("of 9000 spoiled saves %lu still were sessions\n", loaded);
    CHECK(loaded > 500);
}
static void poor(void)                                        /* each allocation of a load fails in turn                 */
{
    kept k, other;
    long i, calls = 1;
    conversation(&k);
    for (i = 0; i <= calls; i++) {
        host_heap heap;
        agent_desc d;
        agent_session_desc sd;
        agent_id s;
        int rc;
        memset(&heap, 0, sizeof heap);
        memset(&d, 0, sizeof d);
        memset(&sd, 0, sizeof sd);
        memset(&other, 0, sizeof other);
        d.alloc = host_alloc;
        d.alloc_ctx = &heap;
        other.h = host_new(&d, AGENT_VIA_HTTP, HOST_CUT_WHOLE);
        sd.tools = list;
        sd.tool_count = 2;
        s = host_session(other.h, &sd);
        heap.calls = 0;
        heap.fail_at = i;
        rc = load_from(other.h, s, k.file.p, k.file.n, 100);
        if (i == 0) { calls = heap.calls; CHECK(rc == AGENT_OK && calls > 20); }
        heap.fail_at = 0;
        if (rc != AGENT_OK) {
            CHECK(rc == AGENT_E_NOMEM && agent_messages(other.h->e, s) == 0);
            rc = load_from(other.h, s, k.file.p, k.file.n, 100);
        }
        CHECK(rc == AGENT_OK && agent_messages(other.h->e, s) == agent_messages(k.h->e, k.s));
        host_free(other.h);
        CHECK(heap.live == 0);
    }
    kept_free(&k);
}
static void imported(void)
{
    static const char body[] = "{\"model\":\"m9\",\"x\":{\"y\":1},\"logit_bias\":{\"1\":2},\"messages\":[{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":\"Be.\"}]},"
        "{\"role\":\"user\",\"name\":\"me\",\"content\":\"Hi\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\","
        "\"function\":{\"name\":\"alpha\",\"arguments\":\"{}\"},\"odd\":true}]},{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"ok\"}],"
        "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"alpha\",\"parameters\":{\"type\":\"object\"}},\"odd\":1}]}";
    int format;
    for (format = 0; format < 2; format++) {
        kept k, other;
        agent_str a, b;
        char *copy;
        size_t n;
        kept_open(&k, &scripts[format ? 13 : 1]);
        CHECK(agent_import(k.h->e, k.s, "openai-chat", body, AGENT_CSTR, NULL) == AGENT_OK);
        kept_save(&k);
        kept_open(&other, &scripts[format ? 13 : 1]);
        CHECK_CASE(load_from(other.h, other.s, k.file.p, k.file.n, 11) == AGENT_OK, agent_last(other.h->e));
        CHECK(agent_export(k.h->e, k.s, "openai-chat", &a) == AGENT_OK);
        n = a.n;
        copy = (char *)malloc(n);
        memcpy(copy, a.p, n);
        CHECK(agent_export(other.h->e, other.s, "openai-chat", &b) == AGENT_OK && b.n == n && memcmp(copy, b.p, n) == 0);
        free(copy);
        to_end(k.h, &k.r, NULL, UINT32_MAX);
        to_end(other.h, &other.r, NULL, UINT32_MAX);
        CHECK(k.h->count[AGENT_EV_WARNING] == other.h->count[AGENT_EV_WARNING]);
        goes_on(&k);
        goes_on(&other);
        CHECK(host_str_same(host_body(k.h, 0), host_body(other.h, 0)));
        kept_free(&k);
        kept_free(&other);
    }
}
/* Saves that were written by earlier versions of the engine still load: tests/saves. SAVES=DIR writes them anew.           */
static void of_old(void)
{
    static const unsigned events[] = { 9, 17, 1000 };
    const char *dir = getenv("SAVES");
    char path[600];
    size_t i, k;
    for (i = 0; i < SCRIPTS; i++) for (k = 0; k < sizeof events / sizeof *events; k++) {
        kept one;
        FILE *f;
        host_text t = { NULL, 0, 0 };
        char buf[4096];
        size_t n;
        sprintf(path, "%.500s/%.20s-%u.jsonl", dir ? dir : "tests/saves", scripts[i].name, events[k]);
        for (n = strlen(path); n > 0; n--) if (path[n] == ' ') path[n] = '_';
        kept_open(&one, &scripts[i]);
        if (dir) {
            agent_say(one.h->e, one.s, "Hi", AGENT_CSTR);
            to_end(one.h, &one.r, NULL, events[k]);
            kept_save(&one);
            if ((f = fopen(path, "wb")) == NULL) { perror(path); exit(1); }
            fwrite(one.file.p, 1, one.file.n, f);
            fclose(f);
        } else if ((f = fopen(path, "rb")) != NULL) {
            while ((n = fread(buf, 1, sizeof buf, f)) > 0) text_add(&t, buf, n);
            fclose(f);
            CHECK_CASE(load_from(one.h, one.s, t.p, t.n, 1000) == AGENT_OK, path);
        } else CHECK_CASE(!"it is there", path);
        text_free(&t);
        kept_free(&one);
    }
}
/* A message that is to be stored, and no memory for it: saved and gone on with after each event, at each request that is refused. */
static void stored_without_memory(void)
{
    long fail;
    int told = 0;
    for (fail = 1; fail < 12; fail++) {
        host_heap heap;
        agent_desc d;
        agent_session_desc sd;
        agent_part p;
        agent_id s;
        host *h;
        int rc = AGENT_OK;
        memset(&heap, 0, sizeof heap);
        memset(&d, 0, sizeof d);
        memset(&sd, 0, sizeof sd);
        memset(&p, 0, sizeof p);
        d.alloc = host_alloc;
        d.alloc_ctx = &heap;
        h = host_new(&d, AGENT_VIA_BYTES, HOST_CUT_WHOLE);
        sd.peer = host_peer(h);
        sd.model = "m1";
        s = agent_session_open(h->e, &sd);
        p.text = agenti_cstr("Hi");
        CHECK(agent_message_add(h->e, s, AGENT_USER, &p, 1) > 0);
        p.kind = AGENT_PART_CALL;
        p.text = agenti_cstr("{}");
        p.wire_id = agenti_cstr("c1");
        p.name = agenti_cstr("alpha");
        CHECK(agent_message_add(h->e, s, AGENT_MODEL, &p, 1) > 0);
        memset(&p, 0, sizeof p);
        p.text = agenti_cstr("Keep this.");
        CHECK(agent_submit(h->e, s, &p, 1, AGENT_STORE) > 0);
        heap.fail_at = heap.calls + fail;
        heap.fail_on = 1;
        while (host_next(h)) {
            heap.fail_at = 0;
            s = host_reload(&h->check, h->e, s, &sd, 100, &rc);
            CHECK_CASE(s && rc == AGENT_OK, agent_last(h->e));
            if (s == 0) break;
            heap.fail_at = heap.calls + fail;
        }
        heap.fail_at = 0;
        told += h->count[AGENT_EV_ERROR] > 0;
        host_run(h);
        CHECK(s == 0 || (agent_busy(h->e, s) == 0 && h->count[AGENT_EV_RUN_START] == 0));
        host_free(h);
        CHECK(heap.live == 0);
    }
    CHECK(told > 0);
}
int main(void)
{
    size_t i;
    stored_without_memory();
    of_old();
    for (i = 0; i < SCRIPTS; i++) {
        at_every_event(&scripts[i], HOST_CUT_WHOLE);
        at_every_event(&scripts[i], HOST_CUT_BYTES);
    }
    for (i = 0; i < SCRIPTS; i++) appended(&scripts[i]);
    files();
    hostile();
    poor();
    imported();
    return test_end("save");
}
