/* Memory that runs out: each allocation of a tool conversation refused once, and all from each on; limits of engine and session; fixed
 * blocks. Whatever happens: brackets close, nothing leaks, and with memory back the engine goes on. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

static const host_answer talk[] = {
    { SSE_THINK("hm") SSE_TEXT("I look. \\ud83d\\ude00") SSE_CALL("0", "c1", "alpha", "{\\\"x\\\":") SSE_CALL("1", "c2", "beta", "{\\\"long\\\":\\\"0123456789012345678901234567890123456789\\\"}")
      SSE_ARGS("0", "1}") SSE_CALL("2", "c3", "nobody", "{}") SSE_CALL("3", "", "alpha", "{}")
      SSE_CALL("3", "late", "", "") SSE_TOOLS, 0, NULL, HOST_CHUNKED, HOST_GO },
    { SSE_TEXT("All ") SSE_TEXT("done.") SSE_STOP, 0, NULL, HOST_CHUNKED, HOST_GO },
    { "{\"error\":{\"message\":\"slow down\",\"code\":\"rate_limit\"}}", 429, NULL, HOST_LENGTH, HOST_GO }
};
static const char *const words = "out of memory";
static int answer_tools(host *h, const agent_event *ev)      /* until it is taken                                        */
{
    int i;
    if (ev->type == AGENT_EV_TOOL_RUN) {
        (void)agent_tool_update(h->e, ev->session, ev->call, "at w\xFFrk", AGENT_CSTR);
        for (i = 0; i < 3; i++) {
            int rc = agent_tool_append(h->e, ev->session, ev->call, "out\xFF", 4);
            CHECK(rc == AGENT_OK || rc == AGENT_E_NOMEM);
        }
        for (i = 0; i < 3; i++) {
            int rc = agent_tool_done(h->e, ev->session, ev->call, AGENT_DONE_OK);
            CHECK(rc == AGENT_OK || rc == AGENT_E_NOMEM);
            if (rc == AGENT_OK) return 1;
        }
        CHECK(agent_decline(h->e, ev) == AGENT_OK);           /* the safe no needs no memory                              */
        return 1;
    }
    return 0;
}
static void table_check(host *h, agent_id s)
{
    agent_msg m;
    agent_part part;
    size_t i, k;
    for (i = 0; i < agent_messages(h->e, s); i++) {
        CHECK(agent_message(h->e, s, i, &m) == AGENT_OK && (m.part_count > 0 || (m.role == AGENT_MODEL && m.flags == AGENT_PART_CUT)));
        for (k = 0; k < m.part_count; k++) CHECK(agent_message_part(h->e, s, m.id, k, &part) == AGENT_OK && part.id);
    }
}
static agent_id open_session(host *h)
{
    agent_session_desc d;
    memset(&d, 0, sizeof d);
    d.peer = host_peer(h);
    d.system = "be br\xFF" "ief";
    d.max_tokens = 100;
    return d.peer ? host_session(h, &d) : 0;
}
static long conversation(int via, int cut, long fail_at, int fail_on, long *made)
{
    host_heap heap;
    agent_desc d;
    agent_part part;
    host *h;
    agent_id s;
    unsigned runs;
    int i;
    char name[64];
    sprintf(name, "via %d cut %d fail %ld%s", via, cut, fail_at, fail_on ? " on" : "");
    memset(&heap, 0, sizeof heap);
    memset(&d, 0, sizeof d);
    memset(&part, 0, sizeof part);
    d.alloc = host_alloc;
    d.alloc_ctx = &heap;
    heap.fail_at = fail_at;
    heap.fail_on = fail_on;
    h = host_new(&d, via, cut);
    h->name = name;
    h->quiet = h->check.light = 1;
    if (h->e == NULL) { *made = heap.calls; host_free(h); CHECK(heap.live == 0); return heap.calls; }
    h->on = answer_tools;
    host_answers(h, talk, 3);
    s = open_session(h);
    if (s == 0) CHECK(agent_last(h->e)[0]);
    if (s) {
        int rc = agent_session_set(h->e, s, "temperature", "0.5", AGENT_CSTR);
        CHECK(rc == AGENT_OK || rc == AGENT_E_NOMEM);
        part.text = agenti_cstr("imp\xFFrt");
        rc = agent_message_add(h->e, s, AGENT_USER, &part, 1);
        CHECK(rc > 0 || rc == AGENT_E_NOMEM);
        for (i = 0; i < 2; i++) {
            rc = agent_say(h->e, s, i ? "Hi" : "\xFFHi", AGENT_CSTR);
            CHECK(rc > 0 || rc == AGENT_E_NOMEM);
        }
        host_pump(h);
        rc = agent_peer_key(h->e, 0, "x", 1, 0);
        CHECK(rc == AGENT_E_STALE);
    }
    *made = heap.calls;
    HOST_CHECK(h, h->count[AGENT_EV_RUN_START] == h->count[AGENT_EV_RUN_END]);
    host_over_check(h);
    heap.fail_at = 0;                         /* memory is back                                                          */
    h->on = NULL;
    h->answers = NULL;
    h->answer_n = 0;
    if (s == 0) s = open_session(h);
    HOST_CHECK(h, s != 0);
    table_check(h, s);
    runs = h->count[AGENT_EV_RUN_END];
    HOST_CHECK(h, agent_say(h->e, s, "again", AGENT_CSTR) > 0);
    host_pump(h);
    HOST_CHECK(h, h->outcome == AGENT_COMPLETED && h->count[AGENT_EV_RUN_END] == runs + 1);
    host_bodies_check(h);
    host_over_check(h);
    table_check(h, s);
    host_free(h);
    CHECK_CASE(heap.live == 0 && heap.bytes == 0, name);
    return heap.calls;
}
static void refused(int via, int cut, long stride)
{
    long n, made, all;
    int on;
    conversation(via, cut, 0, 0, &all);
    CHECK(all > 50);
    for (on = 0; on < 2; on++) for (n = 1; n <= all + 2; n += stride) conversation(via, cut, n, on, &made);
}

/* ---- calls of the host alone: they say no and change nothing ---- */
static void calls(void)
{
    long n;
    for (n = 1; n < 60; n++) {
        host_heap heap;
        agent_desc d;
        agent_id p, s, c;
        agent_part part;
        agent_tool tool = { "t\0", "d\xFF", NULL, 0, 0, NULL };
        long base;
        int rc;
        host *h;
        memset(&heap, 0, sizeof heap);
        memset(&d, 0, sizeof d);
        memset(&part, 0, sizeof part);
        d.alloc = host_alloc;
        d.alloc_ctx = &heap;
        h = host_new(&d, AGENT_VIA_HTTP, HOST_CUT_WHOLE);
        p = host_peer(h);
        s = host_session(h, NULL);
        heap.fail_at = heap.calls + n;
        base = heap.live;
        switch (n % 6) {
        case 0: c = agent_decode(h->e, "openai-chat", AGENT_VIA_BYTES, NULL); CHECK(c || heap.live == base); break;
        case 1: c = host_peer(h); CHECK(c || agent_last(h->e)[0]); break;
        case 2: c = host_session(h, NULL); CHECK(c || agent_last(h->e)[0]); break;
        case 3: rc = agent_session_tools(h->e, s, &tool, 1); CHECK(rc == AGENT_OK || rc == AGENT_E_NOMEM); break;
        case 4: rc = agent_session_set(h->e, s, "system", "sys\xFF", AGENT_CSTR); CHECK(rc == AGENT_OK || rc == AGENT_E_NOMEM); break;
        default: rc = agent_peer_key(h->e, p, "new", 3, 0); CHECK(rc == AGENT_OK || rc == AGENT_E_NOMEM); break;
        }
        heap.fail_at = 0;
        agent_say(h->e, s, "Hi", 2);
        host_run(h);
        CHECK(h->outcome == AGENT_COMPLETED);
        host_bodies_check(h);
        host_free(h);
        CHECK(heap.live == 0 && heap.bytes == 0);
    }
    for (n = 1; n < 30; n++) {                /* each step of each call                                                  */
        static const int kinds = 6;
        int k;
        for (k = 0; k < kinds; k++) {
            host_heap heap;
            agent_desc d;
            agent_tool tool = { "t", "d\xFF", "{}", 0, 0, NULL };
            agent_id p, s;
            host *h;
            memset(&heap, 0, sizeof heap);
            memset(&d, 0, sizeof d);
            d.alloc = host_alloc;
            d.alloc_ctx = &heap;
            h = host_new(&d, AGENT_VIA_BYTES, HOST_CUT_WHOLE);
            p = host_peer(h);
            s = host_session(h, NULL);
            heap.fail_at = heap.calls + n;
            if (k == 0) (void)agent_decode(h->e, "openai-chat", AGENT_VIA_BYTES, NULL);
            else if (k == 1) (void)host_peer(h);
            else if (k == 2) (void)host_session(h, NULL);
            else if (k == 3) (void)agent_session_tools(h->e, s, &tool, 1);
            else if (k == 4) (void)agent_say(h->e, s, "\xFF\xFF", 2);
            else (void)agent_peer_key(h->e, p, "new", 3, 0);
            heap.fail_at = 0;
            (void)agent_cancel(h->e, s);
            while (host_next(h)) {}
            host_free(h);
            CHECK(heap.live == 0 && heap.bytes == 0);
        }
    }
}
static void decoding(int via)                                /* the decode-only door                                     */
{
    static const char plain[] = SSE_TEXT("\\u00e9 long enough to be held 0123456789012345678901234567890123") SSE_CALL("0", "a", "b", "{}") SSE_STOP;
    host_text t = { NULL, 0, 0 };
    const char *bytes;
    size_t len;
    long n;
    int on;
    if (via == AGENT_VIA_BYTES) {
        text_str(&t, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        host_chunks(&t, plain, sizeof plain - 1);
        text_str(&t, "0\r\n\r\n");
    } else text_str(&t, plain);
    bytes = t.p;
    len = t.n;
    for (on = 0; on < 2; on++) for (n = 0; n < 60; n++) {
        host_heap heap;
        agent_desc d;
        agent_engine *e;
        const agent_event *ev;
        agent_id c;
        check ck;
        size_t at;
        unsigned ends = 0, closes = 0;
        memset(&heap, 0, sizeof heap);
        memset(&d, 0, sizeof d);
        d.alloc = host_alloc;
        d.alloc_ctx = &heap;
        CHECK(agent_open(&e, &d) == AGENT_OK);
        c = agent_decode(e, "openai-chat", via, NULL);
        check_init(&ck, NULL, 0);
        check_decode(&ck, c);
        if (n) heap.fail_at = heap.calls + n;
        heap.fail_on = on;
        for (at = 0; at < len;) {
            size_t k = len - at < 13 ? len - at : 13, taken;
            int rc = agent_feed(e, c, bytes + at, k, &taken);
            if (rc == AGENT_E_STALE || rc == AGENT_E_STATE) break;
            CHECK(rc == AGENT_OK || rc == AGENT_E_NOMEM);
            if (rc == AGENT_E_NOMEM && on) { agent_failed(e, c, AGENT_FAIL_HOST, words, AGENT_CSTR); break; }
            at += taken;
            while ((ev = agent_next(e)) != NULL) {
                check_event(&ck, ev);
                ends += ev->type == AGENT_EV_STEP_END || ev->type == AGENT_EV_ERROR;
                closes += ev->type == AGENT_EV_CLOSE;
            }
        }
        heap.fail_at = 0;
        agent_eof(e, c);
        while ((ev = agent_next(e)) != NULL) {
            check_event(&ck, ev);
            ends += ev->type == AGENT_EV_STEP_END || ev->type == AGENT_EV_ERROR;
            closes += ev->type == AGENT_EV_CLOSE;
        }
        check_over(&ck);
        CHECK_CASE(ck.why[0] == 0, ck.why);
        CHECK(ends >= 1 && closes == 1);
        check_free(&ck);
        agent_close(e);
        CHECK(heap.live == 0 && heap.bytes == 0);
    }
    text_free(&t);
}

/* ---- limits and blocks ---- */
static void limited(int via)
{
    size_t limit, fine = 0, now, peak;
    for (limit = 512; limit < 60000; limit += limit < 12000 ? 97 : 1531) {
        host_heap heap;
        agent_desc d;
        agent_session_desc sd;
        agent_id s;
        host *h;
        memset(&heap, 0, sizeof heap);
        memset(&d, 0, sizeof d);
        memset(&sd, 0, sizeof sd);
        d.alloc = host_alloc;
        d.alloc_ctx = &heap;
        d.mem_limit = limit;
        h = host_new(&d, via, HOST_CUT_RANDOM);
        if (h->e) {
            h->on = answer_tools;
            host_answers(h, talk, 3);
            if ((s = open_session(h)) != 0 && agent_say(h->e, s, "Hi", 2) > 0) {
                host_pump(h);
                fine += h->outcome == AGENT_COMPLETED;
                CHECK(h->outcome == AGENT_COMPLETED || h->outcome == AGENT_FAILED);
            }
            host_over_check(h);
            CHECK(agent_memory(h->e, 0, &now, &peak) == AGENT_OK && now == heap.bytes && peak <= limit && now <= peak);
        }
        CHECK(heap.peak <= limit + (limit + 1) / 2 + 4096);   /* a move holds both for a moment                           */
        host_free(h);
        CHECK(heap.live == 0);
        memset(&heap, 0, sizeof heap);
        d.mem_limit = 0;                      /* the same for a session: the engine and others go on                      */
        h = host_new(&d, via, HOST_CUT_RANDOM);
        h->on = answer_tools;
        sd.mem_limit = limit;
        sd.peer = host_peer(h);
        if ((s = host_session(h, &sd)) != 0) {
            agent_id other;
            host_answers(h, talk, 3);
            if (agent_say(h->e, s, "Hi", 2) > 0) host_pump(h);
            CHECK(agent_memory(h->e, s, &now, &peak) == AGENT_OK && peak <= limit);
            sd.mem_limit = 0;
            other = host_session(h, &sd);
            h->answers = NULL;
            h->answer_n = 0;
            agent_say(h->e, other, "Hi", 2);
            host_pump(h);
            CHECK(h->outcome == AGENT_COMPLETED && agent_memory(h->e, other + 1, &now, &peak) == AGENT_E_STALE);
        }
        host_over_check(h);
        host_bodies_check(h);
        host_free(h);
        CHECK(heap.live == 0);
    }
    CHECK(fine > 10);
}
static void blocks(int via)
{
    size_t size, fine = 0;
    char *block = (char *)malloc(65536 + 64);
    for (size = 0; size <= 65536; size += size < 12000 ? 111 : 4099) {
        agent_desc d;
        agent_engine *e;
        agent_id s;
        host *h;
        memset(&d, 0, sizeof d);
        memset(block, 0x77, size + 64);
        d.block = block + size % 7;           /* not aligned                                                             */
        d.block_size = size;
        h = host_new(&d, via, HOST_CUT_RANDOM);
        e = h->e;
        if (e) {
            h->on = answer_tools;
            host_answers(h, talk, 3);
            if ((s = open_session(h)) != 0) {
                int i;
                for (i = 0; i < 3; i++) if (agent_say(h->e, s, "Hi", 2) > 0) host_pump(h);
                fine += h->count[AGENT_EV_RUN_END] >= 2 && h->outcome == AGENT_COMPLETED;
            }
            host_over_check(h);
            host_bodies_check(h);
        }
        host_free(h);
        {
            size_t i, changed = 0;
            for (i = size % 7 + size; i < size + 64; i++) changed += block[i] != 0x77;
            CHECK(changed == 0);
        }
    }
    CHECK(fine > 5);
    free(block);
}
/* A block is as good as new when all was freed: run after run must fit.                                                 */
static void block_again(void)
{
    char *block = (char *)malloc(60000);
    agent_desc d;
    size_t now, first = 0;
    int i;
    host *h;
    memset(&d, 0, sizeof d);
    d.block = block;
    d.block_size = 60000;
    h = host_new(&d, AGENT_VIA_BYTES, HOST_CUT_RANDOM);
    h->quiet = 1;
    for (i = 0; i < 300; i++) {
        agent_id p = host_peer(h), s;
        agent_session_desc sd;
        memset(&sd, 0, sizeof sd);
        sd.peer = p;
        s = host_session(h, &sd);
        CHECK(s && agent_say(h->e, s, "Hi", 2) > 0);
        host_run(h);
        CHECK(h->outcome == AGENT_COMPLETED);
        agent_session_close(h->e, s);
        while (host_next(h)) {}
        CHECK(agent_peer_close(h->e, p) == AGENT_OK);
        while (host_next(h)) {}
        agent_memory(h->e, 0, &now, NULL);
        if (i == 0) first = now;
        CHECK(now == first);
    }
    host_free(h);
    free(block);
}

int main(int argc, char **argv)
{
    int via;
    if (argc > 1 && strcmp(argv[1], "-v") == 0) puts("memory that runs out");
    for (via = 0; via < 2; via++) {
        refused(via, HOST_CUT_WHOLE, 1);
        refused(via, HOST_CUT_RANDOM, 1);
        refused(via, HOST_CUT_BYTES, 3);
        decoding(via);
        limited(via);
        blocks(via);
    }
    calls();
    block_again();
    return test_end("test_oom");
}
