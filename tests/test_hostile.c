/* What peers send to break things: each case once did, or would break a careless reader. Decoded whole and byte by byte: no crash, the same
 * events, and what is said here. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"

struct log { char *p; size_t n, cap; int ends, errors, calls, fault; char text[64], id[2][32]; int64_t input, output; };
static char input[1 << 18];
static size_t input_n;

static void put(const char *s) { size_t n = strlen(s); memcpy(input + input_n, s, n); input_n += n; }
static void many(char c, size_t n) { memset(input + input_n, c, n); input_n += n; }
static void note(struct log *l, const agent_event *ev)
{
    size_t need = agent_event_json(ev, NULL, 0) + 1;
    if (l->n + need > l->cap) {
        l->cap = 2 * (l->n + need);
        l->p = (char *)realloc(l->p, l->cap);
        if (l->p == NULL) exit(2);
    }
    agent_event_json(ev, l->p + l->n, need);
    l->n += need;
    if (ev->type == AGENT_EV_STEP_END) { l->ends++; l->input = ev->u.end.usage->input; l->output = ev->u.end.usage->output; }
    if (ev->type == AGENT_EV_ERROR) { l->errors++; l->fault = ev->u.error.fault; }
    if (ev->type == AGENT_EV_TEXT_END) sprintf(l->text, "%.60s", ev->text.p);
    if (ev->type == AGENT_EV_TOOL_CALL && !(ev->flags & AGENT_EVF_SALVAGED) && l->calls < 2) sprintf(l->id[l->calls], "%.30s", ev->u.tool.wire_id.p);
    if (ev->type == AGENT_EV_TOOL_CALL && !(ev->flags & AGENT_EVF_SALVAGED)) l->calls++;
}
static struct log decode(size_t cut, uint32_t item, uint32_t calls)
{
    agent_desc d = AGENT_ZERO;
    struct log l;
    agent_engine *e;
    const agent_event *ev;
    agent_id conn;
    size_t at = 0, taken, n;
    memset(&l, 0, sizeof l);
    d.limits.item = item;
    d.limits.calls_per_step = calls;
    if (agent_open(&e, &d) != AGENT_OK) return l;
    conn = agent_decode(e, "openai-chat", AGENT_VIA_HTTP, NULL);
    while (conn) {
        if (at == input_n) agent_eof(e, conn);
        n = input_n - at < cut ? input_n - at : cut;
        agent_feed(e, conn, input + at, n, &taken);
        at += taken;
        while ((ev = agent_next(e)) != NULL || agent_deadline(e) == 0) {
            if (ev == NULL) continue;
            if (ev->type == AGENT_EV_CLOSE) conn = 0;
            else note(&l, ev);
        }
    }
    agent_close(e);
    return l;
}
/* Decodes the input whole and in pieces; the logs must be the same.                                                    */
static struct log both(uint32_t item, uint32_t calls, const char *name)
{
    static const size_t cuts[] = { 1, 1000, 8192, 70000 };
    struct log whole = decode((size_t)-1, item, calls), cut;
    size_t i;
    for (i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        cut = decode(cuts[i], item, calls);
        CHECK_CASE(cut.n == whole.n && memcmp(cut.p, whole.p, cut.n) == 0, name);
        free(cut.p);
    }
    CHECK_CASE(whole.ends + whole.errors == 1, name);
    free(whole.p);
    whole.p = NULL;
    return whole;
}
static void begin(const char *s) { input_n = 0; put(s); }

static void test_broken_json_that_is_long(void)
{
    begin("data: {\"p\":{\"q\":{\"z\":\"");
    many('z', 150000);
    put("\",\"content\":1}},\"content\":\"");
    many('c', 9000);
    put("\",\"p\":{\"q\":{:\"");
    many('y', 20000);
    put("\"}}}\n\n");
    both(0, 0, "a value without a key");
    begin("data: {\"a\":[]\"");
    many('y', 30000);
    put("\n\ndata: [DONE]\n\n");
    both(0, 0, "a string where none may stand");
    begin("data: ]]]]{\"content\":\"");
    many('y', 30000);
    put("\n\n");
    both(0, 0, "brackets that were never opened");
    begin("data: ");
    many('[', 70000);
    put("\n\n");
    both(0, 0, "deep nesting");
    begin("data: {\"");
    many('k', 100000);
    put("\":{\"content\":\"");
    many('y', 30000);
    put("\"}}\n\n");
    both(0, 0, "a path that is too long to repeat");
}
static void test_owner_after_long_arguments(void)
{
    struct log l;
    begin("{\"choices\":[{\"message\":{\"tool_calls\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":\\\"");
    many('y', 30000);
    put("\\\"}\"},\"id\":\"c1\"},{\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"},\"id\":\"c2\"}]},\"finish_reason\":\"tool_calls\"}]}");
    l = both(0, 0, "id behind the function");
    CHECK(l.calls == 2 && strcmp(l.id[0], "c1") == 0 && strcmp(l.id[1], "c2") == 0);
}
static void test_message_beside_delta(void)
{
    struct log l;
    begin("data: {\"choices\":[{\"index\":0,\"message\":{\"content\":\"");
    many('o', 30000);
    put("\"},\"delta\":{\"content\":\"new\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    l = both(0, 0, "a long message beside the delta");
    CHECK(strcmp(l.text, "new") == 0);
}
static void test_long_error_event(void)
{
    begin("event: error\ndata: {\"message\":\"boom\",\"content\":\"");
    many('m', 20000);
    put("\"}\n\n");
    both(0, 0, "type first");
    begin("data: {\"message\":\"boom\",\"content\":\"");
    many('m', 20000);
    put("\"}\nevent: error\n\n");
    both(0, 0, "type last");
}
/* Fields that are no data may be as long as they like: they are passed over, and nothing grows.                        */
static void test_long_fields(void)
{
    static const char *const fields[] = { "event: ", "id: ", "error: {", ": ", "x", "event:" };
    static const size_t lengths[] = { 8191, 8192, 8193, 8194, 100000 };
    size_t i, k;
    for (i = 0; i < sizeof fields / sizeof *fields; i++) for (k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        begin(fields[i]);
        many('f', lengths[k]);
        put("\ndata: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
        both(4096, 0, fields[i]);
    }
}
static void test_numbers(void)
{
    struct log l;
    begin("data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9223372036854775807,"
          "\"completion_tokens\":9223372036854775807,\"total_tokens\":1e30,\"completion_tokens_details\":{\"reasoning_tokens\":1}}}\n\n");
    l = both(0, 0, "usage at the end of the range");
    CHECK(l.input == INT64_MAX && l.output == INT64_MAX);
}
static void test_ids_made_here(void)
{
    struct log l;
    begin("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_2\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},"
          "{\"index\":1,\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n");
    l = both(0, 0, "one id given, one made");
    CHECK(l.calls == 2 && strcmp(l.id[0], l.id[1]) != 0);
}
static void test_limits(void)
{
    struct log l;
    char number[64];
    unsigned i;
    begin("data: {\"choices\":[{\"delta\":{\"content\":\"");
    many('x', 6000);
    put("\"}}]}\n\n");
    l = both(1000, 0, "an event over limits.item");
    CHECK(l.fault == AGENT_FAULT_LIMIT);
    begin("{\"choices\":[{\"message\":{\"content\":\"");
    many('x', 6000);
    put("\"}}]}");
    l = both(1000, 0, "an answer over limits.item");
    CHECK(l.fault == AGENT_FAULT_LIMIT);
    begin("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0}");
    for (i = 1; i < 9000; i++) { sprintf(number, ",{\"index\":%u}", i); put(number); }
    put("]}}]}\n\n");
    l = both(0, 0, "thousands of calls");
    CHECK(l.fault == AGENT_FAULT_LIMIT);
    l = both(0, 5, "more than five calls");
    CHECK(l.fault == AGENT_FAULT_LIMIT);
}

/* ---- with a session ---- */
static agent_engine *open_session(agent_id *session)
{
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    agent_engine *e;
    if (agent_open(&e, &d) != AGENT_OK) exit(2);
    p.provider = "openai-compatible";
    p.key = "";
    p.url = "http://host.test/v1";
    s.peer = agent_peer_open(e, &p);
    s.model = "m";
    *session = agent_session_open(e, &s);
    return e;
}
static agent_id until_open(agent_engine *e)
{
    const agent_event *ev;
    agent_id conn = 0;
    while (conn == 0 && (ev = agent_next(e)) != NULL) if (ev->type == AGENT_EV_OPEN) conn = ev->conn;
    agent_opened(e, conn, AGENT_VIA_HTTP, NULL);
    return conn;
}
/* A name that the model made up goes back in a form that providers take.                                               */
static void test_tool_name_sent_back(void)
{
    agent_id session;
    agent_engine *e = open_session(&session);
    agent_part p;
    const char *body;
    size_t n;
    memset(&p, 0, sizeof p);
    p.kind = AGENT_PART_CALL;
    p.name.p = "functions.f g\xC3\xA9";
    p.name.n = strlen(p.name.p);
    p.wire_id.p = "c1";
    p.wire_id.n = 2;
    p.text.p = "{}";
    p.text.n = 2;
    CHECK(agent_message_add(e, session, AGENT_MODEL, &p, 1) > 0);
    p.kind = AGENT_PART_RESULT;
    CHECK(agent_message_add(e, session, AGENT_TOOLS, &p, 1) > 0);
    agent_say(e, session, "go on", AGENT_CSTR);
    body = (const char *)agent_send_buf(e, until_open(e), &n);
    CHECK(body != NULL && n < sizeof input);
    if (body) { memcpy(input, body, n); input[n] = 0; }
    CHECK(strstr(input, "\"name\":\"functions_f_g__\"") != NULL);
    agent_close(e);
}
/* A cancel between the deltas of one long text: they still join to what TEXT_END has.                                  */
static void test_cancel_between_deltas(void)
{
    agent_id session, conn;
    agent_engine *e = open_session(&session);
    const agent_event *ev;
    size_t shown = 0, whole = 0;
    agent_say(e, session, "hi", AGENT_CSTR);
    conn = until_open(e);
    begin("data: {\"choices\":[{\"delta\":{\"content\":\"");
    many('\xFF', 7000);                     /* each becomes three bytes                                                 */
    put("\"}}]}\n\n");
    agent_feed(e, conn, input, input_n, NULL);
    while ((ev = agent_next(e)) != NULL) {
        if (ev->type == AGENT_EV_TEXT_DELTA) shown += ev->text.n;
        if (ev->type == AGENT_EV_TEXT_DELTA && whole == 0) agent_cancel(e, session);
        if (ev->type == AGENT_EV_TEXT_END) whole = ev->text.n;
    }
    CHECK(whole == 21000 && shown == whole);
    agent_close(e);
}
int main(void)
{
    test_broken_json_that_is_long();
    test_owner_after_long_arguments();
    test_message_beside_delta();
    test_long_error_event();
    test_long_fields();
    test_numbers();
    test_ids_made_here();
    test_limits();
    test_tool_name_sent_back();
    test_cancel_between_deltas();
    return test_end("hostile");
}
