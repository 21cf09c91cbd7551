/* agent_models: lists of every shape, errors, keys, and memory that fails. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

static char got[600];
static int models, errors;
static int on_list(host *h, const agent_event *ev)
{
    (void)h;
    if (ev->type == AGENT_EV_MODELS) { models++; CHECK(ev->peer && ev->session == 0); sprintf(got, "%.*s", (int)(ev->text.n < 590 ? ev->text.n : 590), ev->text.p); }
    if (ev->type == AGENT_EV_ERROR) { errors++; CHECK(ev->peer && ev->session == 0 && ev->u.error.scope == AGENT_SCOPE_PEER); }
    if (ev->type == AGENT_EV_CREDENTIAL) { CHECK(agent_peer_key(h->e, ev->peer, "sk-very-secret-key", AGENT_CSTR, 0) == AGENT_OK); return 1; }
    return 0;
}
static host *start(const agent_desc *d, const char *provider, const char *url, const char *key, int via, int cut, agent_id *peer)
{
    agent_peer_desc p;
    host *h = host_new(d, via, cut);
    memset(&p, 0, sizeof p);
    p.provider = provider;
    p.url = url;
    p.key = key;
    *peer = agent_peer_open(h->e, &p);
    h->on = on_list;
    models = errors = 0;
    got[0] = 0;
    return h;
}
#define JSON_TYPE "content-type: application/json\n"
static void test_shapes(void)
{
    static const struct { const char *provider, *url, *target, *body, *list; int warns; } rows[] = {
        { "openai", NULL, "GET /v1/models HTTP/1.1\r\n", "{\"object\":\"list\",\"data\":[{\"id\":\"m-1\",\"object\":\"model\",\"created\":1,\"owned_by\":\"o\"},{\"id\":\"m\\u00fc\"}]}",
          "[{\"id\":\"m-1\"},{\"id\":\"m\\u00fc\"}]", 0 },
        { "openai-compatible", "http://gate.test/api/v1", "GET /api/v1/models HTTP/1.1\r\n",
          "{\"data\":[{\"id\":\"a/m\",\"name\":\"A: M\",\"context_length\":131072,\"top_provider\":{\"max_completion_tokens\":4096,\"context_length\":1}}]}",
          "[{\"id\":\"a/m\",\"name\":\"A: M\",\"context\":131072,\"output\":4096}]", 0 },
        { "openai-compatible", "http://gate.test", "GET /models HTTP/1.1\r\n", "[{\"id\":\"a\",\"display_name\":\"\",\"max_model_len\":9},{\"name\":\"b\"},{},7,null]",
          "[{\"id\":\"a\",\"context\":9},{\"id\":\"b\"}]", 0 },
        { "openai-compatible", "http://gate.test?v=1", "GET /models?v=1 HTTP/1.1\r\n",
          "{\"data\":[{\"id\":\"c\",\"capabilities\":{\"limits\":{\"max_context_window_tokens\":8,\"max_output_tokens\":4}}},{\"id\":\"g\",\"limits\":{\"max_input_tokens\":7,\"max_output_tokens\":3}}]}",
          "[{\"id\":\"c\",\"context\":8,\"output\":4},{\"id\":\"g\",\"context\":7,\"output\":3}]", 0 },
        { "anthropic", NULL, "GET /v1/models?limit=1000 HTTP/1.1\r\n", "{\"data\":[{\"type\":\"model\",\"id\":\"c-1\",\"display_name\":\"C One\"}],\"has_more\":true}",
          "[{\"id\":\"c-1\",\"name\":\"C One\"}]", 1 },
        { "gemini", NULL, "GET /v1beta/models?pageSize=1000 HTTP/1.1\r\n",
          "{\"models\":[{\"name\":\"models/g-1\",\"displayName\":\"G\",\"inputTokenLimit\":1048576,\"outputTokenLimit\":65536}]}",
          "[{\"id\":\"g-1\",\"name\":\"G\",\"context\":1048576,\"output\":65536}]", 0 },
        { "ollama-native", NULL, "GET /api/tags HTTP/1.1\r\n", "{\"models\":[{\"name\":\"l:1b\",\"model\":\"l:1b\",\"size\":1}]}", "[{\"id\":\"l:1b\",\"name\":\"l:1b\"}]", 0 },
        { "cohere", NULL, "GET /v1/models?page_size=1000 HTTP/1.1\r\n", "{\"models\":[{\"name\":\"command\",\"context_length\":4096.0}]}", "[{\"id\":\"command\",\"context\":4096}]", 0 },
        { "openai", NULL, "GET /v1/models HTTP/1.1\r\n", "{\"data\":[]}", "[]", 0 }
    };
    size_t i;
    int cut, via;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) for (cut = HOST_CUT_WHOLE; cut <= HOST_CUT_RANDOM; cut++) for (via = 0; via < 2; via++) {
        host_answer a;
        agent_id p;
        host *h = start(NULL, rows[i].provider, rows[i].url, "sk-very-secret-key", via, cut, &p);
        memset(&a, 0, sizeof a);
        a.body = rows[i].body;
        a.headers = JSON_TYPE;
        a.framing = HOST_LENGTH;
        host_answers(h, &a, 1);
        CHECK(agent_models(h->e, p) == AGENT_OK);
        host_run(h);
        CHECK_CASE(models == 1 && errors == 0 && strcmp(got, rows[i].list) == 0, got);
        CHECK(h->count[AGENT_EV_NEED_DONE] == h->count[AGENT_EV_OPEN]);
        check_idle(&h->check);
        CHECK_CASE(h->check.why[0] == 0, h->check.why);
        CHECK(h->count[AGENT_EV_WARNING] == (unsigned)rows[i].warns && h->request_n == 1 && h->body[0].n == 0);
        if (via == AGENT_VIA_BYTES) CHECK_CASE(strncmp(h->head[0].p, rows[i].target, strlen(rows[i].target)) == 0, h->head[0].p);
        host_free(h);
    }
}
static void test_errors(void)
{
    static const struct { host_answer a; int fault; } rows[] = {
        { { "{\"error\":{\"message\":\"no: sk-very-secret-key\"}}", 401, NULL, HOST_LENGTH, 0 }, AGENT_FAULT_AUTH },
        { { "{\"error\":\"slow down\"}", 429, NULL, HOST_LENGTH, 0 }, AGENT_FAULT_RATE },
        { { "{\"object\":\"error\",\"message\":\"no list\"}", 200, JSON_TYPE, HOST_LENGTH, 0 }, AGENT_FAULT_SERVER },
        { { "{\"data\":[{\"id\":", 200, JSON_TYPE, HOST_LENGTH, 0 }, AGENT_FAULT_PROTOCOL },
        { { "{\"data\":[{\"id\":", 200, JSON_TYPE, HOST_CHUNKED, HOST_RESET }, AGENT_FAULT_TRANSPORT },
        { { "<html>", 200, "content-type: text/html\n", HOST_LENGTH, 0 }, AGENT_FAULT_PROTOCOL },
        { { "", 404, NULL, HOST_LENGTH, 0 }, AGENT_FAULT_REQUEST }
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        agent_id p, s;
        agent_session_desc d;
        host *h = start(NULL, "openai-compatible", "http://model.test/v1", "sk-very-secret-key", AGENT_VIA_BYTES, HOST_CUT_WHOLE, &p);
        host_answers(h, &rows[i].a, 1);
        CHECK(agent_models(h->e, p) == AGENT_OK);
        host_run(h);
        h->errors = 0;
        CHECK_CASE(models == 0 && errors == 1 && (h->fault_kind == rows[i].fault || rows[i].fault == AGENT_FAULT_SERVER), h->fault);
        CHECK(strstr(h->fault, "sk-very") == NULL);
        memset(&d, 0, sizeof d);              /* the peer goes on                                                       */
        d.peer = p;
        s = host_session(h, &d);
        agent_say(h->e, s, "Hi", AGENT_CSTR);
        host_run(h);
        CHECK(h->outcome == AGENT_COMPLETED);
        host_free(h);
    }
}
/* A list of any length is told whole; the key is asked for first; beside a conversation; on a connection that has gone stale.     */
static void test_beside(void)
{
    static const host_answer talk = { SSE_TEXT("Hi") SSE_STOP, 0, NULL, 0, 0 };
    host_text big = { NULL, 0, 0 };
    host_answer a[3];
    agent_session_desc d;
    agent_id p, s;
    host *h = start(NULL, "openai-compatible", "http://model.test/v1", NULL, AGENT_VIA_BYTES, HOST_CUT_RANDOM, &p);
    unsigned i;
    text_str(&big, "{\"data\":[");
    for (i = 0; i < 3000; i++) text_str(&big, i ? ",{\"id\":\"m\",\"description\":\"a long text that is not told\"}" : "{\"id\":\"m\"}");
    text_str(&big, "]}");
    memset(&d, 0, sizeof d);
    memset(a, 0, sizeof a);
    a[0] = talk;
    a[1].body = big.p;
    a[1].headers = JSON_TYPE;
    a[1].framing = HOST_LENGTH;
    a[2] = a[1];
    d.peer = p;
    s = host_session(h, &d);
    host_answers(h, a, 3);
    agent_say(h->e, s, "Hi", AGENT_CSTR);
    host_run(h);
    CHECK(h->count[AGENT_EV_CREDENTIAL] == 1 && h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_OPEN] == 1);
    CHECK(agent_models(h->e, p) == AGENT_OK);
    host_run(h);
    CHECK(models == 1 && strncmp(got, "[{\"id\":\"m\"},{\"id\":\"m\"},", 22) == 0 && h->count[AGENT_EV_SEND] == 1 && h->count[AGENT_EV_OPEN] == 1);
    CHECK(agent_models(h->e, p) == AGENT_OK && agent_next(h->e)->type == AGENT_EV_SEND && agent_eof(h->e, h->conns[0].id) == AGENT_OK);
    host_run(h);
    CHECK(models == 2 && errors == 0 && h->count[AGENT_EV_OPEN] == 2);
    CHECK(agent_models(h->e, s) == AGENT_E_STALE && agent_session_close(h->e, s) == AGENT_OK);
    CHECK(agent_models(h->e, p) == AGENT_OK && agent_models(h->e, p) == AGENT_OK && agent_next(h->e) != NULL);
    CHECK(agent_peer_close(h->e, p) == AGENT_OK);      /* while it is asked                                             */
    host_run(h);
    CHECK(models == 2 && errors == 0);
    text_free(&big);
    host_free(h);
    h = start(NULL, "amazon-bedrock", "http://model.test", "", AGENT_VIA_BYTES, HOST_CUT_WHOLE, &p);
    CHECK(agent_models(h->e, p) == AGENT_E_STATE);
    host_free(h);
}
static void test_memory(void)
{
    static const host_answer a = { "{\"data\":[{\"id\":\"m-1\"},{\"id\":\"m-2 01234567890123456789012345678901234567890123456789\"}],\"has_more\":true}", 0, JSON_TYPE, HOST_LENGTH, 0 };
    long at, calls = 1000000;
    for (at = 0; at < calls + 2; at++) {
        host_heap heap;
        agent_desc d;
        agent_id p;
        host *h;
        memset(&heap, 0, sizeof heap);
        memset(&d, 0, sizeof d);
        d.alloc = host_alloc;
        d.alloc_ctx = &heap;
        h = start(&d, "openai-compatible", "http://model.test/v1", "", AGENT_VIA_BYTES, HOST_CUT_WHOLE, &p);
        h->quiet = h->check.light = 1;
        host_answers(h, &a, 1);
        heap.calls = 0;
        heap.fail_at = at;
        if (agent_models(h->e, p) == AGENT_OK) { host_pump(h); CHECK(models + errors == 1); } else CHECK(at == 1);
        if (at == 0) calls = heap.calls;
        heap.fail_at = 0;
        host_answers(h, &a, 1);
        models = errors = 0;
        CHECK(agent_models(h->e, p) == AGENT_OK);
        host_pump(h);
        CHECK(models == 1 && errors == 0);
        host_free(h);
        CHECK(heap.live == 0 && heap.bytes == 0);
    }
}
int main(void)
{
    test_shapes();
    test_errors();
    test_beside();
    test_memory();
    return test_end("models");
}
