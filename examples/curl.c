/* A host on libcurl: curl does HTTP, proxies and TLS, in its own connection pool; one request is one connection of the engine.
 *
 *   curl URL MODEL PROMPT            the key comes from OPENAI_API_KEY                                                    */
#define _POSIX_C_SOURCE 200809L
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct request {
    struct request *next;
    agent_engine *e;
    agent_id conn;
    CURL *curl;
    struct curl_slist *headers;
    char *head; size_t head_n;                /* of the answer                                                          */
    int told, paused;
} request;
static request *all;
static CURLM *multi;

static uint64_t ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

/* ---- what curl calls ---- */
static size_t on_read(char *to, size_t size, size_t count, void *user)
{
    request *r = (request *)user;
    size_t room = size * count, done = 0, n;
    const void *p;
    while (done < room && (p = agent_send_buf(r->e, r->conn, &n)) != NULL) {
        if (n > room - done) n = room - done;
        memcpy(to + done, p, n);
        done += n;
        (void)agent_send_ack(r->e, r->conn, n);
    }
    return done;
}
static int on_seek(void *user, curl_off_t offset, int origin)
{
    request *r = (request *)user;
    (void)origin;
    return offset == 0 && agent_send_rewind(r->e, r->conn) == AGENT_OK ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_CANTSEEK;
}
static size_t on_header(char *p, size_t size, size_t count, void *user)
{
    request *r = (request *)user;
    size_t n = size * count;
    char *more;
    if (n > 5 && memcmp(p, "HTTP/", 5) == 0) r->head_n = 0;    /* after 100 or a redirect the last head counts          */
    more = (char *)realloc(r->head, r->head_n + n);
    if (more == NULL) return 0;
    r->head = more;
    memcpy(r->head + r->head_n, p, n);
    r->head_n += n;
    return n;
}
static void tell_head(request *r)
{
    long status = 0;
    if (r->told) return;
    r->told = 1;
    curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &status);
    (void)agent_http_head(r->e, r->conn, (int)status, r->head, r->head_n);
}
static size_t on_body(char *p, size_t size, size_t count, void *user)
{
    request *r = (request *)user;
    tell_head(r);
    switch (agent_feed(r->e, r->conn, p, size * count, NULL)) {
    case AGENT_OK:     return size * count;
    case AGENT_E_FULL: r->paused = 1; return CURL_WRITEFUNC_PAUSE;     /* the same bytes come again                     */
    default:           return 0;              /* cancelled meanwhile                                                    */
    }
}

/* ---- what the engine asks for ---- */
static int add_headers(request *r)
{
    agent_str name, value;
    size_t i;
    for (i = 0; agent_open_header(r->e, r->conn, i, &name, &value) == AGENT_OK; i++) {
        struct curl_slist *more;
        char *line = (char *)malloc(name.n + value.n + 3);
        if (line == NULL) return 0;
        sprintf(line, "%s: %s", name.p, value.p);
        more = curl_slist_append(r->headers, line);
        free(line);
        if (more == NULL) return 0;
        r->headers = more;
    }
    return 1;
}
static void drop(request *r)
{
    request **at = &all;
    while (*at && *at != r) at = &(*at)->next;
    if (*at) *at = r->next;
    if (r->curl) { curl_multi_remove_handle(multi, r->curl); curl_easy_cleanup(r->curl); }
    curl_slist_free_all(r->headers);
    free(r->head);
    free(r);
}
static void start(agent_engine *e, const agent_event *ev)
{
    request *r = (request *)calloc(1, sizeof *r);
    if (r == NULL) { (void)agent_decline(e, ev); return; }
    r->e = e;
    r->conn = ev->conn;
    r->curl = curl_easy_init();
    if (r->curl == NULL || !add_headers(r)) { drop(r); (void)agent_decline(e, ev); return; }
    curl_easy_setopt(r->curl, CURLOPT_URL, ev->u.open.url.p);
    curl_easy_setopt(r->curl, CURLOPT_HTTPHEADER, r->headers);
    curl_easy_setopt(r->curl, CURLOPT_POST, 1L);
    curl_easy_setopt(r->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)ev->u.open.body_len);
    curl_easy_setopt(r->curl, CURLOPT_READFUNCTION, on_read);
    curl_easy_setopt(r->curl, CURLOPT_READDATA, r);
    curl_easy_setopt(r->curl, CURLOPT_SEEKFUNCTION, on_seek);
    curl_easy_setopt(r->curl, CURLOPT_SEEKDATA, r);
    curl_easy_setopt(r->curl, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(r->curl, CURLOPT_HEADERDATA, r);
    curl_easy_setopt(r->curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(r->curl, CURLOPT_WRITEDATA, r);
    curl_easy_setopt(r->curl, CURLOPT_PRIVATE, r);
    r->next = all;
    all = r;
    (void)agent_opened(e, r->conn, AGENT_VIA_HTTP, r);
    curl_multi_add_handle(multi, r->curl);
}
static void finished(const CURLMsg *m)
{
    request *r = NULL;
    curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&r);
    if (m->data.result == CURLE_OK) { tell_head(r); (void)agent_eof(r->e, r->conn); return; }
    (void)agent_failed(r->e, r->conn, m->data.result == CURLE_COULDNT_RESOLVE_HOST ? AGENT_FAIL_NAME : m->data.result == CURLE_COULDNT_CONNECT
        ? AGENT_FAIL_REFUSED : m->data.result == CURLE_SSL_CONNECT_ERROR ? AGENT_FAIL_TLS : AGENT_FAIL_RESET, curl_easy_strerror(m->data.result), AGENT_CSTR);
}
static int run(agent_engine *e)               /* exit code                                                              */
{
    const agent_event *ev;
    int code = -1, running, left;
    CURLMsg *m;
    request *r;
    for (;;) {
        (void)agent_tick(e, ms(CLOCK_MONOTONIC), ms(CLOCK_REALTIME));
        while ((ev = agent_next(e)) != NULL) switch (ev->type) {
            case AGENT_EV_OPEN:       start(e, ev); break;
            case AGENT_EV_CLOSE:      if (ev->u.io.user) drop((request *)ev->u.io.user); break;     /* the one place that frees */
            case AGENT_EV_TEXT_DELTA: fwrite(ev->text.p, 1, ev->text.n, stdout); fflush(stdout); break;
            case AGENT_EV_ERROR:      fprintf(stderr, "%s\n", ev->text.p); break;
            case AGENT_EV_RUN_END:    puts(""); code = ev->u.end.outcome == AGENT_COMPLETED ? 0 : 1; break;
            default:                  if (ev->flags & AGENT_EVF_NEED) (void)agent_decline(e, ev);
        }
        if (code >= 0) return code;
        for (r = all; r; r = r->next) if (r->paused && (agent_wants(e, r->conn) & AGENT_WANT_READ)) { r->paused = 0; curl_easy_pause(r->curl, CURLPAUSE_CONT); }
        curl_multi_perform(multi, &running);
        while ((m = curl_multi_info_read(multi, &left)) != NULL) if (m->msg == CURLMSG_DONE) finished(m);
        if (agent_deadline(e) > ms(CLOCK_MONOTONIC)) curl_multi_poll(multi, NULL, 0, 100, NULL);
    }
}
int main(int argc, char **argv)
{
    agent_desc d = AGENT_ZERO;
    agent_peer_desc p = AGENT_ZERO;
    agent_session_desc s = AGENT_ZERO;
    agent_engine *e;
    agent_id chat;
    int code = 1;
    if (argc != 4) { fprintf(stderr, "usage: curl URL MODEL PROMPT\n"); return 2; }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    if (multi == NULL || agent_open(&e, &d) != AGENT_OK) return 1;
    p.provider = "openai-compatible";
    p.url = argv[1];
    p.key = getenv("OPENAI_API_KEY");
    s.peer = agent_peer_open(e, &p);
    s.model = argv[2];
    s.max_retries = 2;                        /* for a command that one waits for                                       */
    s.retry_ms = 500;
    chat = s.peer ? agent_session_open(e, &s) : 0;
    if (chat && agent_say(e, chat, argv[3], AGENT_CSTR) > 0) code = run(e);
    else fprintf(stderr, "%s\n", agent_last(e));
    agent_close(e);
    while (all) drop(all);
    curl_multi_cleanup(multi);
    curl_global_cleanup();
    return code;
}
