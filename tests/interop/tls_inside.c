/* The TLS part against mbedTLS's own server in the same process: any cut, a cut of the wire at each byte, a changed byte, client certificates,
 * addresses, memory that fails. Built where mbedTLS 2.28 is, for its test certificates; run by tls.mjs. */
#define AGENT_MBEDTLS
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"
#include <arpa/inet.h>
#include <mbedtls/certs.h>

typedef struct wire { unsigned char p[65536]; size_t n, at; } wire;
typedef struct server {
    mbedtls_ssl_context ssl; mbedtls_ssl_config conf; mbedtls_x509_crt cert, ca; mbedtls_pk_context key;
    mbedtls_entropy_context entropy; mbedtls_ctr_drbg_context drbg;
    wire in, out;                             /* from the client; to it                                                 */
    char got[4096]; size_t got_n;
    int shaken, closed, failed;
} server;
static int wire_send(void *ctx, const unsigned char *p, size_t n)
{
    server *s = (server *)ctx;
    if (n > sizeof s->out.p - s->out.n) abort();
    memcpy(s->out.p + s->out.n, p, n);
    s->out.n += n;
    return (int)n;
}
static int wire_recv(void *ctx, unsigned char *p, size_t n)
{
    server *s = (server *)ctx;
    size_t have = s->in.n - s->in.at;
    if (have == 0) return MBEDTLS_ERR_SSL_WANT_READ;
    if (n > have) n = have;
    memcpy(p, s->in.p + s->in.at, n);
    s->in.at += n;
    return (int)n;
}
static server *server_new(int wants_cert)
{
    server *s = (server *)calloc(1, sizeof *s);
    if (s == NULL) abort();
    mbedtls_ssl_init(&s->ssl);
    mbedtls_ssl_config_init(&s->conf);
    mbedtls_x509_crt_init(&s->cert);
    mbedtls_x509_crt_init(&s->ca);
    mbedtls_pk_init(&s->key);
    mbedtls_entropy_init(&s->entropy);
    mbedtls_ctr_drbg_init(&s->drbg);
    CHECK(mbedtls_ctr_drbg_seed(&s->drbg, mbedtls_entropy_func, &s->entropy, NULL, 0) == 0);
    CHECK(mbedtls_x509_crt_parse(&s->cert, (const unsigned char *)mbedtls_test_srv_crt, mbedtls_test_srv_crt_len) == 0);
    CHECK(mbedtls_x509_crt_parse(&s->ca, (const unsigned char *)mbedtls_test_cas_pem, mbedtls_test_cas_pem_len) == 0);
    CHECK(mbedtls_pk_parse_key(&s->key, (const unsigned char *)mbedtls_test_srv_key, mbedtls_test_srv_key_len, NULL, 0) == 0);
    CHECK(mbedtls_ssl_config_defaults(&s->conf, MBEDTLS_SSL_IS_SERVER, MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT) == 0);
    mbedtls_ssl_conf_rng(&s->conf, mbedtls_ctr_drbg_random, &s->drbg);
    mbedtls_ssl_conf_ca_chain(&s->conf, &s->ca, NULL);
    if (wants_cert) mbedtls_ssl_conf_authmode(&s->conf, MBEDTLS_SSL_VERIFY_REQUIRED);
    CHECK(mbedtls_ssl_conf_own_cert(&s->conf, &s->cert, &s->key) == 0 && mbedtls_ssl_setup(&s->ssl, &s->conf) == 0);
    mbedtls_ssl_set_bio(&s->ssl, s, wire_send, wire_recv, NULL);
    return s;
}
static void server_free(server *s)
{
    mbedtls_ssl_free(&s->ssl);
    mbedtls_ssl_config_free(&s->conf);
    mbedtls_x509_crt_free(&s->cert);
    mbedtls_x509_crt_free(&s->ca);
    mbedtls_pk_free(&s->key);
    mbedtls_ctr_drbg_free(&s->drbg);
    mbedtls_entropy_free(&s->entropy);
    free(s);
}
/* Shakes hands, reads a line, answers it, says that it closes.                                                         */
static void server_turn(server *s)
{
    static const char answer[] = "and hello to you\n";
    int rc;
    if (s->failed || s->closed) return;
    if (!s->shaken) {
        rc = mbedtls_ssl_handshake(&s->ssl);
        if (rc == MBEDTLS_ERR_SSL_WANT_READ) return;
        if (rc != 0) { s->failed = 1; return; }
        s->shaken = 1;
    }
    while ((rc = mbedtls_ssl_read(&s->ssl, (unsigned char *)s->got + s->got_n, sizeof s->got - s->got_n)) > 0) s->got_n += (size_t)rc;
    if (rc != MBEDTLS_ERR_SSL_WANT_READ && rc != 0 && rc != MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY) { s->failed = 1; return; }
    if (s->got_n && s->got[s->got_n - 1] == '\n') {
        CHECK(mbedtls_ssl_write(&s->ssl, (const unsigned char *)answer, sizeof answer - 1) == (int)sizeof answer - 1);
        (void)mbedtls_ssl_close_notify(&s->ssl);
        s->closed = 1;
    }
}
typedef struct heap { size_t live; long calls, fail_at; } heap;
static void *heap_alloc(void *ctx, void *p, size_t old_n, size_t n)
{
    heap *h = (heap *)ctx;
    void *q;
    if (n && ++h->calls == h->fail_at) return NULL;
    if (n == 0) { free(p); h->live -= old_n; return NULL; }
    q = realloc(p, n);
    if (q) h->live += n - (p ? old_n : 0);
    return q;
}
static int config_open(agent_tls_config **c, heap *h, int cert)
{
    agent_tls_desc d;
    const char *why;
    memset(&d, 0, sizeof d);
    d.ca = mbedtls_test_cas_pem;
    d.ca_n = strlen(mbedtls_test_cas_pem);    /* without its NUL                                                        */
    if (cert) {
        d.cert = mbedtls_test_cli_crt;
        d.cert_n = strlen(mbedtls_test_cli_crt);
        d.key = mbedtls_test_cli_key;
        d.key_n = strlen(mbedtls_test_cli_key);
    }
    if (h) { d.alloc = heap_alloc; d.alloc_ctx = h; }
    return agent_tls_config_open(c, &d, &why);
}
typedef struct talk { char got[256]; size_t got_n, fed; int wrote, rc; } talk;
/* Both sides take turns until nothing moves; of the server's bytes at most `step` at once, and only the first `most`, one of them changed. */
static void talk_on(talk *t, agent_tls *c, server *s, size_t step, size_t most, size_t changed)
{
    static const char question[] = "hello\n";
    const void *p;
    size_t n, k;
    int moved = 1;
    while (moved) {
        moved = 0;
        if (!t->wrote) {
            t->rc = agent_tls_write(c, question, sizeof question - 1, &n);
            t->wrote = t->rc == AGENT_OK;
            moved |= t->wrote;
        }
        while ((p = agent_tls_send_buf(c, &n)) != NULL) {
            if (n > step) n = step;
            if (n > sizeof s->in.p - s->in.n) abort();
            memcpy(s->in.p + s->in.n, p, n);
            s->in.n += n;
            CHECK(agent_tls_send_ack(c, n + 70000) == AGENT_E_ARG && agent_tls_send_ack(c, n) == AGENT_OK);
            moved = 1;
        }
        server_turn(s);
        n = s->out.n - s->out.at;
        if (n > step) n = step;
        if (n > most - t->fed) n = most - t->fed;
        if (n) {
            unsigned char piece[65536];
            memcpy(piece, s->out.p + s->out.at, n);
            if (changed >= t->fed && changed < t->fed + n) piece[changed - t->fed] ^= 0x15;
            if (agent_tls_feed(c, piece, n, &k) == AGENT_OK && k) { s->out.at += k; t->fed += k; moved = 1; }
        }
        while (t->got_n < sizeof t->got && (t->rc = agent_tls_read(c, t->got + t->got_n, sizeof t->got - t->got_n, &n)) == AGENT_OK && n) { t->got_n += n; moved = 1; }
    }
}
static size_t whole(size_t step, int wants, int cert, const char *host, int good)
{
    agent_tls_config *config;
    agent_tls *c;
    server *s = server_new(wants);
    talk t;
    size_t all;
    memset(&t, 0, sizeof t);
    CHECK(config_open(&config, NULL, cert) == AGENT_OK && agent_tls_open(&c, config, host) == AGENT_OK);
    talk_on(&t, c, s, step, (size_t)-1, (size_t)-1);
    CHECK((t.got_n == 17 && memcmp(t.got, "and hello to you\n", 17) == 0 && agent_tls_state(c) == AGENT_TLS_CLOSED) == good);
    CHECK(good ? s->got_n == 6 && agent_tls_why(c)[0] == 0 : s->got_n == 0);
    if (!good && !wants) CHECK_CASE(agent_tls_state(c) == AGENT_TLS_FAILED && strcmp(agent_tls_why(c), "the certificate is for another host") == 0, agent_tls_why(c));
    agent_tls_config_close(config);           /* goes with its last connection                                          */
    agent_tls_close(c);
    all = s->out.n;
    server_free(s);
    return all;
}
static void cut_or_changed(size_t at, int change)
{
    agent_tls_config *config;
    agent_tls *c;
    server *s = server_new(0);
    talk t;
    memset(&t, 0, sizeof t);
    CHECK(config_open(&config, NULL, 0) == AGENT_OK && agent_tls_open(&c, config, "localhost") == AGENT_OK);
    talk_on(&t, c, s, 70000, change ? (size_t)-1 : at, change ? at : (size_t)-1);
    CHECK(t.got_n == 0 || memcmp(t.got, "and hello to you\n", t.got_n) == 0);
    agent_tls_eof(c);
    CHECK(agent_tls_feed(c, "x", 1, NULL) == AGENT_E_STATE);
    talk_on(&t, c, s, 70000, 0, (size_t)-1);
    CHECK(agent_tls_state(c) == AGENT_TLS_FAILED || (change && agent_tls_state(c) == AGENT_TLS_CLOSED));       /* a changed last alert may still be one */
    CHECK(agent_tls_state(c) != AGENT_TLS_FAILED || agent_tls_why(c)[0]);
    CHECK(!(agent_tls_wants(c) & AGENT_WANT_READ));
    agent_tls_close(c);
    agent_tls_config_close(config);
    server_free(s);
}
static void memory(void)
{
    long at;
    for (at = 1; at < 40; at++) {
        agent_tls_config *config = NULL;
        agent_tls *c = NULL;
        server *s = server_new(0);
        heap h;
        talk t;
        memset(&h, 0, sizeof h);
        memset(&t, 0, sizeof t);
        h.fail_at = at;
        if (config_open(&config, &h, 1) == AGENT_OK && agent_tls_open(&c, config, "localhost") == AGENT_OK) {
            talk_on(&t, c, s, 70000, (size_t)-1, (size_t)-1);
            CHECK(agent_tls_state(c) == AGENT_TLS_CLOSED || agent_tls_state(c) == AGENT_TLS_FAILED);
            CHECK(h.calls >= at || t.got_n == 17);
        }
        agent_tls_close(c);
        agent_tls_config_close(config);
        CHECK(h.live == 0);
        server_free(s);
    }
}
static void misuse(void)
{
    agent_tls_config *config;
    agent_tls *c;
    agent_tls_desc d;
    const char *why;
    memset(&d, 0, sizeof d);
    CHECK(agent_tls_config_open(NULL, &d, NULL) == AGENT_E_ARG && agent_tls_config_open(&config, NULL, &why) == AGENT_E_ARG);
    CHECK(agent_tls_config_open(&config, &d, &why) == AGENT_E_ARG && strcmp(why, "certificates of authorities are needed") == 0);
    d.ca = "rubbish";
    d.ca_n = 7;
    CHECK(agent_tls_config_open(&config, &d, &why) == AGENT_E_ARG && strcmp(why, "no certificate can be read") == 0 && config == NULL);
    d.ca = mbedtls_test_cas_pem;
    d.ca_n = mbedtls_test_cas_pem_len;
    d.cert = mbedtls_test_cli_crt;
    d.cert_n = mbedtls_test_cli_crt_len;
    CHECK(agent_tls_config_open(&config, &d, &why) == AGENT_E_ARG && strcmp(why, "the certificate has no private key") == 0);
    d.key = "rubbish";
    d.key_n = 7;
    CHECK(agent_tls_config_open(&config, &d, &why) == AGENT_E_ARG && strcmp(why, "the private key cannot be read") == 0);
    CHECK(config_open(&config, NULL, 0) == AGENT_OK);
    CHECK(agent_tls_open(&c, config, NULL) == AGENT_E_ARG && agent_tls_open(&c, config, "") == AGENT_E_ARG && agent_tls_open(&c, NULL, "a") == AGENT_E_ARG);
    agent_tls_config_close(config);
    agent_tls_config_close(NULL);
    agent_tls_close(NULL);
}
static void addresses(void)
{
    static const char *const texts[] = { "127.0.0.1", "0.0.0.0", "255.255.255.255", "256.0.0.1", "1.2.3", "1.2.3.4.5", "1.2.3.4 ", "01.2.3.4", "1..3.4", "::", "::1", "1::",
        "2001:db8::8a2e:370:7334", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", ":1:2", "1:2:", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4",
        "::1.2.3.256", "g::1", "12345::", "localhost", "", "::ffff:1.2.3.4.5", "a.b", "fe80::1%eth0" };
    size_t i;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        unsigned char mine[16], theirs[16];
        int four = inet_pton(AF_INET, texts[i], theirs) == 1;
        size_t n = agenti_tls_ipv4(texts[i], mine);
        if (strcmp(texts[i], "01.2.3.4")) CHECK_CASE((n == 4) == four && (!four || memcmp(mine, theirs, 4) == 0), texts[i]);
        four = inet_pton(AF_INET6, texts[i], theirs) == 1;
        n = agenti_tls_ipv6(texts[i], mine);
        CHECK_CASE((n == 16) == four && (!four || memcmp(mine, theirs, 16) == 0), texts[i]);
    }
}
int main(void)
{
    size_t all = whole(70000, 0, 0, "localhost", 1), at;
    (void)whole(1, 0, 0, "localhost", 1);
    (void)whole(17, 0, 0, "localhost", 1);
    (void)whole(70000, 1, 1, "localhost", 1);
    (void)whole(1, 1, 1, "localhost", 1);
    (void)whole(70000, 1, 0, "localhost", 0);
    (void)whole(70000, 0, 0, "example.test", 0);
    (void)whole(70000, 0, 0, "127.0.0.1", 0);
    (void)whole(70000, 0, 0, "::1", 0);
    for (at = 0; at + 1 < all; at += at < 100 || at + 120 > all ? 1 : 29) { cut_or_changed(at, 0); cut_or_changed(at, 1); }
    memory();
    misuse();
    addresses();
    return test_end("tls_inside");
}
