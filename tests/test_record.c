/* The flight recorder: what was recorded of conversations that go well, fail, are stopped, saved and run out of memory is made again by
 * examples/rerun.h and gives the same lines; no key is in it; it may be torn anywhere; what is changed in it is found; and no public call
 * that changes something is forgotten. TEST_QUICK=1 takes fewer. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"
#include "../examples/rerun.h"

#define KEY "sk-very-secret-key"
#define COOKIE "tok-abcdef-123456"
#define BODY(b) { b, 0, NULL, HOST_CHUNKED, HOST_GO }
#define CUT(b) { b, 0, NULL, HOST_CHUNKED, HOST_RESET }
enum { MOST = 4 };
typedef struct script { const char *name; host_answer a[MOST]; int anthropic, stops; } script;
static const script scripts[] = {
    { "text", { BODY(SSE_THINK("Let me see.") SSE_TEXT("Hello ") SSE_TEXT("th\\u00e9re \\ud83d\\ude00 *stars*.") SSE_STOP) }, 0, 0 },
    { "tools", { BODY(SSE_TEXT("I look.") SSE_CALL("0", "c1", "alpha", "{\\\"x\\\":") SSE_CALL("1", "c2", "beta", "{}") SSE_ARGS("0", "1}")
                      SSE_CALL("2", "c3", "solo", "") SSE_CALL("3", "c4", "nobody", "{}") SSE_TOOLS), BODY(SSE_TEXT("All done.") SSE_STOP) }, 0, 0 },
    { "stopped", { BODY(SSE_CALL("0", "c1", "alpha", "{}") SSE_CALL("1", "c2", "beta", "{}") SSE_TOOLS), BODY(SSE_TEXT("Never.") SSE_STOP) }, 0, 1 },
    { "retries", { { "{\"error\":{\"message\":\"slow down, " KEY "\",\"code\":\"rate_limit_exceeded\"}}", 429, "content-type: application/json\nretry-after: 1\n", HOST_LENGTH, HOST_GO },
                   BODY(SSE_("{\"error\":{\"message\":\"overloaded\",\"code\":\"server_error\"}}")), CUT(SSE_THINK("Hm.") SSE_TEXT("Half an ")), BODY(SSE_TEXT("answer.") SSE_STOP) }, 0, 0 },
    { "the key is quoted", { { "{\"error\":{\"message\":\"Incorrect API key: " KEY " and " COOKIE "\",\"code\":\"invalid_api_key\"}}", 401,
                               "content-type: application/json\nx-echo: Bearer " KEY "\nx-request-id: " KEY "\n", HOST_LENGTH, HOST_GO },
                             BODY(SSE_TEXT("Your key is " KEY "!") SSE_TEXT("sk-very nice, sk-v") SSE_TEXT("ery-secret-key too") SSE_STOP) }, 0, 0 },
    { "anthropic", { BODY(AN_BEGIN AN_SAY("I look.") AN_TOOL("1", "alpha") AN_JSON("1", "{\\\"x\\\":1}") AN_STOP("1") AN_END("tool_use")),
                     BODY(AN_BEGIN AN_SAY("So.") AN_END("end_turn")) }, 1, 0 }
};
enum { SCRIPTS = sizeof scripts / sizeof *scripts };
typedef struct play { const script *s; agent_id id; int keys; } play;

static void keep(void *ctx, const void *p, size_t n) { text_add((host_text *)ctx, (const char *)p, n); }
static int act(host *h, const agent_event *ev)
{
    play *p = (play *)h->arg;
    if (ev->type == AGENT_EV_CREDENTIAL && p->keys++ == 0) {
        (void)agent_peer_key(h->e, ev->peer, "another-secret-key", AGENT_CSTR, 60000);
        return 1;
    }
    if (ev->type != AGENT_EV_TOOL_RUN) return 0;
    if (p->s->stops && ev->call == 2) { (void)agent_tool_update(h->e, p->id, ev->call, "works \xFF", AGENT_CSTR); (void)host_stop(h, p->id, AGENT_STOP_TOOLS); return 1; }
    (void)agent_tool_append(h->e, p->id, ev->call, "\xFF\xFE bytes, and " KEY, AGENT_CSTR);
    if (agent_tool_done(h->e, p->id, ev->call, ev->call == 1 ? AGENT_DONE_ERROR : AGENT_DONE_OK) != AGENT_OK) (void)agent_decline(h->e, ev);
    return 1;
}
static agent_id open_peer(agent_engine *e, int anthropic)
{
    agent_peer_desc p;
    memset(&p, 0, sizeof p);
    p.provider = anthropic ? "anthropic" : "openai-compatible";
    p.url = "http://model.test:8080/v1";
    p.key = KEY;
    p.headers = "X-Plain: yes\nCookie:  a=1 " COOKIE " \nX-More: 1";
    p.body_json = "{\"seed\":1}";
    return agent_peer_open(e, &p);
}
/* Plays a script and keeps its record.                                                                                  */
static void record(const script *s, int via, int cut, size_t block, host_heap *heap, host_text *out)
{
    agent_session_desc d;
    agent_desc ed;
    void *mem = block ? malloc(block) : NULL;
    int turns = 0;
    play p;
    host *h;
    memset(&ed, 0, sizeof ed);
    memset(&d, 0, sizeof d);
    memset(&p, 0, sizeof p);
    if (heap) { ed.alloc = host_alloc; ed.alloc_ctx = heap; }
    ed.block = mem;
    ed.block_size = block;
    ed.seed = 0xFEDCBA9876543210u;
    ed.record = keep;
    ed.record_ctx = out;
    ed.limits.piece = 64;
    h = host_new(&ed, via, cut);
    h->name = s->name;
    h->quiet = h->check.light = 1;
    h->check.secret = NULL;                   /* here the model and the tools do tell it                                 */
    h->arg = &p;
    h->on = act;
    h->ack = 100;
    h->anthropic = s->anthropic;
    if (h->e) {
        d.peer = open_peer(h->e, s->anthropic);
        d.max_retries = 4;
        d.retry_ms = 5;
        d.tool_ms = 1000;
        d.flags = AGENT_S_GO_ON | AGENT_S_CHECKPOINTS;
        d.system = "Be brief.";
        p.s = s;
        if (d.peer) p.id = host_session(h, &d);
        host_answers(h, s->a, MOST);
        while (h->answer_n && h->answers[h->answer_n - 1].body == NULL) h->answer_n--;
        if (p.id && agent_say(h->e, p.id, "Hi", AGENT_CSTR) > 0) do host_pump(h); while (turns++ < 50 && host_wait(h));
        if (p.id) (void)agent_session_close(h->e, p.id);
        host_run(h);
    }
    host_free(h);
    free(mem);
}
static int has(const host_text *t, const char *what) { return t->n && strstr(t->p, what) != NULL; }
/* Makes it again: the same.                                                                                             */
static void again(const host_text *t, const char *name)
{
    rerun r;
    if (t->n == 0) return;                    /* no memory for the engine itself                                         */
    (void)rerun_text(&r, t->p, t->n);
    CHECK_CASE(r.result == RERUN_SAME, name);
    if (r.result != RERUN_SAME)
        fprintf(stderr, "line %u: %s\nexpected %.*s\ngot %.*s\n", (unsigned)r.line, r.why ? r.why : "", (int)r.expected_n, r.expected ? r.expected : "", (int)r.got_n, r.got ? r.got : "");
    CHECK_CASE(r.calls > 3 || r.result != RERUN_SAME || r.torn || t->n < 2000, name);
    CHECK_CASE(!has(t, KEY) && !has(t, COOKIE) && !has(t, "another-secret"), name);
    rerun_free(&r);
}
static void conversations(void)
{
    size_t i;
    int via, cut;
    for (i = 0; i < SCRIPTS; i++) for (via = 0; via < 2; via++) for (cut = HOST_CUT_WHOLE; cut <= HOST_CUT_RANDOM; cut++) {
        host_text t = { NULL, 0, 0 };
        record(&scripts[i], via, cut, 0, NULL, &t);
        CHECK_CASE(has(&t, "\"ev\":\"RUN_END\"") && has(&t, "{\"call\":\"close\""), scripts[i].name);
        again(&t, scripts[i].name);
        t.n = 0;
        record(&scripts[i], via, cut, 200000, NULL, &t);
        again(&t, scripts[i].name);
        text_free(&t);
    }
}
static void refusals(void)
{
    size_t i;
    long at, step = getenv("TEST_QUICK") ? 7 : 1;
    int on;
    for (i = 0; i < SCRIPTS; i++) for (on = 0; on < 2; on++) for (at = 1; ; at += step) {
        host_text t = { NULL, 0, 0 };
        host_heap heap;
        char name[64];
        long calls;
        memset(&heap, 0, sizeof heap);
        heap.fail_at = at;
        heap.fail_on = on;
        record(&scripts[i], at % 2, HOST_CUT_WHOLE, 0, &heap, &t);
        calls = heap.calls;
        sprintf(name, "%s, request %ld refused", scripts[i].name, at);
        CHECK_CASE(at == 1 || at > calls || has(&t, "\"refused\":"), name);
        CHECK_CASE(heap.live == 0, name);
        again(&t, name);
        text_free(&t);
        if (at > calls) break;
    }
}
/* Every prefix is a record up to its last whole line.                                                                   */
static void torn(void)
{
    host_text t = { NULL, 0, 0 };
    size_t n, whole = 0, step = getenv("TEST_QUICK") ? 37 : 5;
    rerun r;
    record(&scripts[1], AGENT_VIA_HTTP, HOST_CUT_WHOLE, 0, NULL, &t);
    for (n = 1; n <= t.n; n++) {
        if (t.p[n - 1] == '\n') whole = n;
        if (n % step && whole != n && whole + 1 != n) continue;
        (void)rerun_text(&r, t.p, n);
        CHECK(whole == 0 ? r.result == RERUN_UNREADABLE : r.result == RERUN_SAME && r.torn == n - whole);
        rerun_free(&r);
    }
    text_free(&t);
}
/* A letter of an event, or a return code, becomes another: that line is named.                                          */
static void changed(void)
{
    host_text t = { NULL, 0, 0 };
    size_t at, line = 1, start = 0, hits = 0;
    rerun r;
    record(&scripts[1], AGENT_VIA_HTTP, HOST_CUT_WHOLE, 0, NULL, &t);
    for (at = 0; at < t.n; at++) {
        char was = t.p[at];
        int event = strncmp(t.p + start, "{\"next\":{", 9) == 0, code = at > start + 5 && strncmp(t.p + at - 5, "\"rc\":", 5) == 0;
        if (was == '\n') { line++; start = at + 1; continue; }
        if (!code && !(event && at > start + 15 && ((was >= 'a' && was <= 'z') || (was >= '0' && was <= '9')) && t.p[at - 1] != '\\' && (at - start) % 3 == 0)) continue;
        t.p[at] = was == '-' ? '4' : was >= 'a' ? (was == 'q' ? 'w' : 'q') : was == '7' ? '8' : '7';
        (void)rerun_text(&r, t.p, t.n);
        CHECK(r.result == RERUN_DIFFERS || (r.result == RERUN_UNREADABLE && t.p[at - 1] == 'u'));
        CHECK(r.line == line);
        hits++;
        rerun_free(&r);
        t.p[at] = was;
    }
    CHECK(hits > 100);
    text_free(&t);
}

/* Bytes that are no UTF-8 where a record has text: three are made of each, in room that is there.                       */
static void spoiled(void)
{
    host_text t = { NULL, 0, 0 };
    rerun r;
    size_t i;
    text_str(&t, "{\"agent_record\":1,\"version\":\"" AGENT_VERSION "\"}\n{\"call\":\"peer_open\",\"headers\":[\"");
    for (i = 0; i < 300; i++) text_str(&t, i == 150 ? "\",\"" : "\xBE");
    text_str(&t, "\"],\"rc\":0}\n");
    (void)rerun_text(&r, t.p, t.n);
    CHECK(r.result == RERUN_DIFFERS && r.line == 2 && r.calls == 1);
    rerun_free(&r);
    text_free(&t);
}

/* ---- every call ---- */
static void every_call(host_text *t)
{
    static const agent_provider rows[] = {
        { "mine", "http://mine.test/v1", "openai-chat", "bearer", "MINE", 0, "/models", "X-Api-Key: " COOKIE "\n" },
        { "signed", "http://signed.test/v1", "openai-chat", "sign", NULL, 0, NULL, NULL }
    };
    agent_engine *e;
    agent_desc d;
    agent_peer_desc pd;
    agent_session_desc sd;
    agent_part part;
    agent_event ev;
    const agent_event *got;
    agent_str out;
    agent_mark mark;
    agent_id peer, signs, s, s2, conn;
    char buf[4096];
    void *room;
    size_t n, cap;
    memset(&d, 0, sizeof d);
    memset(&pd, 0, sizeof pd);
    memset(&sd, 0, sizeof sd);
    memset(&part, 0, sizeof part);
    memset(&ev, 0, sizeof ev);
    memset(&mark, 0, sizeof mark);
    d.record = keep;
    d.record_ctx = t;
    d.providers = rows;
    d.provider_count = 2;
    CHECK(agent_open(&e, &d) == AGENT_OK);
    CHECK(agent_peer_open(e, NULL) == 0 && agent_session_open(e, NULL) == 0 && agent_decline(e, NULL) == AGENT_E_ARG);
    pd.provider = "mine";
    peer = agent_peer_open(e, &pd);
    CHECK(agent_peer_key(e, peer, "bad\nkey-key", AGENT_CSTR, 0) == AGENT_E_ARG && agent_peer_key(e, peer, KEY, AGENT_CSTR, 0) == AGENT_OK);
    pd.provider = "signed";
    signs = agent_peer_open(e, &pd);
    CHECK(peer && signs && agent_models(e, peer) == AGENT_OK && agent_tick(e, 5, 1700000000000u) == AGENT_OK);
    sd.peer = signs;
    sd.model = "m";
    s = agent_session_open(e, &sd);
    sd.peer = peer;
    s2 = agent_session_open(e, &sd);
    CHECK(agent_session_set(e, s, "temperature", "0.5", AGENT_CSTR) == AGENT_OK && agent_session_tools(e, s, NULL, 0) == AGENT_OK);
    CHECK(agent_import(e, s, "openai-chat", "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"b\"}]}", AGENT_CSTR, NULL) == AGENT_OK);
    CHECK(agent_export(e, s, "anthropic", &out) == AGENT_OK && agent_message_cut(e, s, 2) == 1);
    part.text = agenti_cstr("b");
    CHECK(agent_message_add(e, s, AGENT_MODEL, &part, 1) > 0 && agent_save(e, s, &mark, buf, sizeof buf, &n) == AGENT_OK);
    CHECK(agent_load(e, s2, buf, n / 2) == AGENT_OK && agent_load(e, s2, buf + n / 2, n - n / 2) == AGENT_OK && agent_load(e, s2, NULL, 0) == AGENT_OK);
    CHECK(agent_regenerate(e, s) > 0 && agent_submit(e, s, &part, 1, AGENT_QUEUE) > 0 && agent_say(e, s, "\xFF" "c", 2) > 0);
    CHECK(agent_queue_move(e, s, 3, AGENT_STEER, 2) == AGENT_OK && agent_queue_cancel(e, s, 3) == AGENT_OK && agent_retry(e, s, AGENT_RETRY_NOW) == AGENT_LATE);
    for (conn = 0; (got = agent_next(e)) != NULL;) if (got->type == AGENT_EV_SIGN) {
        conn = got->conn;
        CHECK(agent_send_ack(e, conn, 5) == AGENT_OK && agent_send_rewind(e, conn) == AGENT_OK);
        CHECK(agent_sign(e, conn, "Authorization: AWS4 Signature=" COOKIE "\nX-Date: today", AGENT_CSTR) == AGENT_OK);
    } else if (got->type == AGENT_EV_OPEN && got->conn == conn) CHECK(agent_opened(e, conn, AGENT_VIA_HTTP, &n) == AGENT_OK);
    CHECK(agent_http_head(e, conn, 200, "content-type: text/event-stream\nx: " COOKIE, AGENT_CSTR) == AGENT_OK);
    room = agent_recv_buf(e, conn, &cap);
    CHECK(room != NULL && cap > 40);
    memcpy(room, SSE_TEXT("A") "\xFE", sizeof SSE_TEXT("A"));
    CHECK(agent_recv_ack(e, conn, sizeof SSE_TEXT("A")) == AGENT_OK && agent_feed(e, conn, "\n\n" SSE_STOP, sizeof "\n\n" SSE_STOP - 1, &n) == AGENT_OK);
    while (agent_next(e)) {}
    CHECK(agent_eof(e, conn) <= 0 && agent_failed(e, conn, AGENT_FAIL_RESET, "gone", AGENT_CSTR) <= 0);
    ev.type = AGENT_EV_OPEN;
    CHECK(agent_decline(e, &ev) == AGENT_LATE && agent_tool_update(e, s, 9, "x", 1) < 0 && agent_tool_append(e, s, 9, "x", 1) < 0);
    CHECK(agent_tool_done(e, s, 9, 0) < 0 && agent_tool_result(e, s, 9, "x", 1) < 0 && agent_stop(e, s, AGENT_STOP_STEP) == AGENT_OK && agent_cancel(e, s) == AGENT_OK);
    CHECK((conn = agent_decode(e, "openai-chat", AGENT_VIA_HTTP, NULL)) != 0 && agent_feed(e, conn, SSE_TEXT("B") SSE_STOP, sizeof SSE_TEXT("B") SSE_STOP - 1, NULL) == AGENT_OK);
    CHECK(agent_eof(e, conn) == AGENT_OK);
    while (agent_next(e)) {}
    CHECK(agent_session_close(e, s) == AGENT_OK && agent_session_close(e, s2) == AGENT_OK);
    while (agent_next(e)) {}
    (void)agent_peer_close(e, peer);
    agent_close(e);
}
/* What changes nothing that can be seen in events, and needs no line.                                                   */
static int changes_nothing(const char *name)
{
    static const char *const names[] = { "code_text", "last", "memory", "provider_at", "busy", "queue_at", "queue_part", "messages", "message", "message_part", "deadline",
        "send_buf", "wants", "open_header", "pending", "save", "event_json", "event_copy", "event_name", "open_abi", "next" /* both have lines of their own */ };
    static const char *const families[] = { "json_", "schema_", "sse_", "lines_", "http_header", "http_init", "http_expect", "http_next", "http_eof", "http_write_header", "tls_" };
    size_t i;
    for (i = 0; i < sizeof names / sizeof *names; i++) if (strcmp(names[i], name) == 0) return 1;
    for (i = 0; i < sizeof families / sizeof *families; i++) if (strncmp(families[i], name, strlen(families[i])) == 0) return 1;
    return 0;
}
static void none_forgotten(const host_text *t)
{
    FILE *f = fopen("agent_impl/api.h", "r");
    char line[512], name[64], call[96], *at;
    size_t i, n = 0, made = 0, calls = sizeof rerun_calls / sizeof *rerun_calls;
    CHECK(f != NULL);
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "AGENTDEF", 8) != 0 || (at = strchr(line, '(')) == NULL) continue;
        while (at > line && at[-1] == ' ') at--;
        *at = 0;
        while (at > line && ((at[-1] >= 'a' && at[-1] <= 'z') || at[-1] == '_' || (at[-1] >= '0' && at[-1] <= '9'))) at--;
        CHECK_CASE(strncmp(at, "agent_", 6) == 0, line);
        sprintf(name, "%.60s", at + 6);
        n++;
        for (i = 0; i < calls && strcmp(rerun_calls[i].name, name) != 0; i++) {}
        CHECK_CASE((i < calls) != changes_nothing(name), name);
        sprintf(call, "{\"call\":\"%s\"", name);
        CHECK_CASE((i < calls) == has(t, call), name);
        made += i < calls;
    }
    CHECK(n > 70 && made == calls);
    if (f) fclose(f);
}
/* RECORDS=DIR: writes tests/records anew, the seeds of fuzz_rerun.                                                      */
static void seed(const char *name, const host_text *t)
{
    const char *dir = getenv("RECORDS");
    char path[600];
    FILE *f;
    if (dir == NULL) return;
    sprintf(path, "%.500s/%.40s.jsonl", dir, name);
    while (strchr(path, ' ')) *strchr(path, ' ') = '-';
    f = fopen(path, "wb");
    CHECK(f != NULL && fwrite(t->p, 1, t->n, f) == t->n);
    if (f) fclose(f);
}
static void seeds(void)
{
    size_t i;
    for (i = 0; i < SCRIPTS && getenv("RECORDS"); i++) {
        host_text t = { NULL, 0, 0 };
        host_heap heap;
        memset(&heap, 0, sizeof heap);
        heap.fail_at = 60;
        record(&scripts[i], AGENT_VIA_HTTP, HOST_CUT_WHOLE, 0, i % 2 ? &heap : NULL, &t);
        seed(scripts[i].name, &t);
        text_free(&t);
    }
}
int main(void)
{
    host_text t = { NULL, 0, 0 };
    seeds();
    every_call(&t);
    seed("every call", &t);
    again(&t, "every call");
    none_forgotten(&t);
    text_free(&t);
    conversations();
    spoiled();
    torn();
    changed();
    refusals();
    return test_end("test_record");
}
