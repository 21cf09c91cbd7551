/* TLS by mbedTLS, where AGENT_MBEDTLS is defined: a filter of bytes between the host's socket and a connection. It does no I/O.
 * Written for mbedTLS 2.28; what differs in 3.x is told apart by its version number, and is not tested. */
#ifdef AGENT_MBEDTLS
#if !defined AGENTI_SPLIT || defined AGENTI_PART_TLS_MBEDTLS
#include <mbedtls/version.h>
#include <mbedtls/ssl.h>
#include <mbedtls/x509_crt.h>
#include <mbedtls/pk.h>
#include <mbedtls/entropy.h>
#include <mbedtls/ctr_drbg.h>
#include <mbedtls/error.h>
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
#include <psa/crypto.h>
#else
#include <mbedtls/net_sockets.h>
#endif

enum { AGENTI_TLS_IN = 16384, AGENTI_TLS_OUT = 32768 };      /* ciphertext held: at most IN, and OUT before more is encrypted   */
struct agent_tls_config {
    agenti_pool pool;
    mbedtls_ssl_config conf;
    mbedtls_x509_crt ca, cert;
    mbedtls_pk_context key;
    mbedtls_entropy_context entropy;
    mbedtls_ctr_drbg_context drbg;
    int (*random)(void *, unsigned char *, size_t);
    void *random_ctx;
    const char *alpn[2];
    uint32_t users;
    uint8_t closed;
};
struct agent_tls {
    agent_tls_config *config;
    mbedtls_ssl_context ssl;
    agenti_buf in, out;
    size_t in_at, out_at;
    unsigned char ip[16]; size_t ip_n;        /* the host is an address: what has to stand in the certificate           */
    int state;
    char why[160];
    uint8_t eof, told;                        /* the socket ended; the engine knows how the connection did              */
};

/* ---- an address as text: RFC 3986 section 3.2.2, RFC 4291 section 2.2 ---- */
static size_t agenti_tls_ipv4(const char *p, unsigned char *out)         /* 4, or 0: it is none                        */
{
    unsigned i, v, digits;
    for (i = 0; i < 4; i++) {
        for (v = digits = 0; *p >= '0' && *p <= '9' && digits < 3; p++, digits++) v = v * 10 + (unsigned)(*p - '0');
        if (digits == 0 || v > 255 || *p++ != (i < 3 ? '.' : 0)) return 0;
        out[i] = (unsigned char)v;
    }
    return 4;
}
static int agenti_tls_hex(char c)
{
    char k = agenti_lower(c);
    return k >= '0' && k <= '9' ? k - '0' : k >= 'a' && k <= 'f' ? k - 'a' + 10 : -1;
}
static size_t agenti_tls_ipv6(const char *p, unsigned char *out)         /* 16, or 0                                   */
{
    size_t n = 0, gap = 16;                   /* where the zeros are that :: stands for                                 */
    unsigned v, digits;
    if (p[0] == ':' && p[1] == ':') { gap = 0; p += 2; }
    while (*p) {
        if (n + 4 <= 16 && agenti_tls_ipv4(p, out + n)) { n += 4; break; }
        for (v = digits = 0; agenti_tls_hex(*p) >= 0 && digits < 4; p++, digits++) v = v * 16 + (unsigned)agenti_tls_hex(*p);
        if (digits == 0 || n == 16) return 0;
        out[n++] = (unsigned char)(v >> 8);
        out[n++] = (unsigned char)(v & 255);
        if (*p == 0) break;
        if (*p++ != ':') return 0;
        if (*p == ':') { if (gap < 16) return 0; gap = n; p++; }
        else if (*p == 0) return 0;
    }
    if (gap == 16) return n == 16 ? 16 : 0;
    if (n > 14) return 0;
    memmove(out + 16 - (n - gap), out + gap, n - gap);
    memset(out + gap, 0, 16 - n);
    return 16;
}

/* ---- what many connections share ---- */
static int agenti_tls_random(void *ctx, unsigned char *out, size_t n)
{
    agent_tls_config *c = (agent_tls_config *)ctx;
    return c->random ? c->random(c->random_ctx, out, n) : mbedtls_ctr_drbg_random(&c->drbg, out, n);
}
/* PEM has to end in NUL for mbedTLS, which the host's bytes need not. data: NULL, or no memory when it is PEM.          */
static int agenti_tls_is_pem(const void *p, size_t n) { return n > 10 && agenti_find(agenti_str((const char *)p, n), "-----begin "); }
static const char *agenti_tls_parse(agent_tls_config *c, mbedtls_x509_crt *to, mbedtls_pk_context *key, const void *p, size_t n)
{
    agenti_buf b;
    int rc, pem = agenti_tls_is_pem(p, n);
    agenti_buf_init(&b, &c->pool);
    if (pem) { agenti_buf_add(&b, (const char *)p, n); agenti_buf_add(&b, "", 1); }
    if (b.bad) return "out of memory";
    if (pem) { p = b.p; n = b.n; }
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
    if (key) rc = mbedtls_pk_parse_key(key, (const unsigned char *)p, n, NULL, 0, agenti_tls_random, c);
#else
    if (key) rc = mbedtls_pk_parse_key(key, (const unsigned char *)p, n, NULL, 0);
#endif
    else rc = mbedtls_x509_crt_parse(to, (const unsigned char *)p, n);
    if (b.p && key) agenti_wipe(b.p, b.n);
    agenti_buf_free(&b);
    if (key) return rc == 0 ? NULL : "the private key cannot be read";
    return rc >= 0 && to->raw.len ? NULL : "no certificate can be read";         /* of a bundle some may be of a strange kind */
}
static const char *agenti_tls_setup(agent_tls_config *c, const agent_tls_desc *d)
{
    const char *why;
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
    if (psa_crypto_init() != PSA_SUCCESS) return "the source of chance does not work";
#endif
    if (d->random == NULL && mbedtls_ctr_drbg_seed(&c->drbg, mbedtls_entropy_func, &c->entropy, NULL, 0) != 0) return "the source of chance does not work";
    if (d->ca == NULL || d->ca_n == 0) return "certificates of authorities are needed";
    if ((why = agenti_tls_parse(c, &c->ca, NULL, d->ca, d->ca_n)) != NULL) return why;
    if (mbedtls_ssl_config_defaults(&c->conf, MBEDTLS_SSL_IS_CLIENT, MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT) != 0) return "out of memory";
    mbedtls_ssl_conf_rng(&c->conf, agenti_tls_random, c);
    mbedtls_ssl_conf_authmode(&c->conf, MBEDTLS_SSL_VERIFY_REQUIRED);
    mbedtls_ssl_conf_ca_chain(&c->conf, &c->ca, NULL);
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
    mbedtls_ssl_conf_min_tls_version(&c->conf, MBEDTLS_SSL_VERSION_TLS1_2);
#else
    mbedtls_ssl_conf_min_version(&c->conf, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
#endif
    c->alpn[0] = "http/1.1";
    if (mbedtls_ssl_conf_alpn_protocols(&c->conf, c->alpn) != 0) return "ALPN cannot be set";
    if (d->cert == NULL || d->cert_n == 0) return NULL;
    if ((why = agenti_tls_parse(c, &c->cert, NULL, d->cert, d->cert_n)) != NULL) return why;
    if (d->key == NULL || (why = agenti_tls_parse(c, NULL, &c->key, d->key, d->key_n)) != NULL) return why ? why : "the certificate has no private key";
    return mbedtls_ssl_conf_own_cert(&c->conf, &c->cert, &c->key) == 0 ? NULL : "out of memory";
}
static void agenti_tls_config_free(agent_tls_config *c)
{
    agenti_pool pool = c->pool;
    mbedtls_ssl_config_free(&c->conf);
    mbedtls_x509_crt_free(&c->ca);
    mbedtls_x509_crt_free(&c->cert);
    mbedtls_pk_free(&c->key);
    mbedtls_ctr_drbg_free(&c->drbg);
    mbedtls_entropy_free(&c->entropy);
    agenti_put(&pool, c, sizeof *c);
}
AGENTDEF int agent_tls_config_open(agent_tls_config **out, const agent_tls_desc *d, const char **why)
{
    agenti_pool pool;
    agent_tls_config *c;
    const char *wrong;
    if (why) *why = "";
    if (out) *out = NULL;
    if (out == NULL || d == NULL) return AGENT_E_ARG;
    agenti_pool_child(&pool, NULL, 0);
    pool.alloc = d->alloc;
    pool.ctx = d->alloc_ctx;
    if ((c = (agent_tls_config *)agenti_get(&pool, sizeof *c)) == NULL) return AGENT_E_NOMEM;
    c->pool = pool;
    c->random = d->random;
    c->random_ctx = d->random_ctx;
    mbedtls_ssl_config_init(&c->conf);
    mbedtls_x509_crt_init(&c->ca);
    mbedtls_x509_crt_init(&c->cert);
    mbedtls_pk_init(&c->key);
    mbedtls_entropy_init(&c->entropy);
    mbedtls_ctr_drbg_init(&c->drbg);
    wrong = agenti_tls_setup(c, d);
    if (wrong == NULL) { *out = c; return AGENT_OK; }
    if (why) *why = wrong;
    agenti_tls_config_free(c);
    return agenti_eq(agenti_cstr(wrong), "out of memory") ? AGENT_E_NOMEM : AGENT_E_ARG;
}
AGENTDEF void agent_tls_config_close(agent_tls_config *c)
{
    if (c == NULL) return;
    c->closed = 1;
    if (c->users == 0) agenti_tls_config_free(c);
}

/* ---- one connection ---- */
static int agenti_tls_send(void *ctx, const unsigned char *p, size_t n)
{
    agent_tls *t = (agent_tls *)ctx;
    if (t->out_at) {                          /* what was sent makes room                                               */
        memmove(t->out.p, t->out.p + t->out_at, t->out.n - t->out_at);
        t->out.n -= t->out_at;
        t->out_at = 0;
    }
    if (n > AGENTI_TLS_OUT) n = AGENTI_TLS_OUT;
    agenti_buf_add(&t->out, (const char *)p, n);
    if (!t->out.bad) return (int)n;
    return MBEDTLS_ERR_SSL_ALLOC_FAILED;
}
static int agenti_tls_recv(void *ctx, unsigned char *p, size_t n)
{
    agent_tls *t = (agent_tls *)ctx;
    size_t have = t->in.n - t->in_at;
    if (have == 0) return t->eof ? 0 : MBEDTLS_ERR_SSL_WANT_READ;
    if (n > have) n = have;
    memcpy(p, t->in.p + t->in_at, n);
    t->in_at += n;
    if (t->in_at == t->in.n) t->in_at = t->in.n = 0;
    return (int)n;
}
AGENTDEF int agent_tls_open(agent_tls **out, agent_tls_config *c, const char *host)
{
    agent_tls *t;
    int rc;
    if (out) *out = NULL;
    if (out == NULL || c == NULL || c->closed || host == NULL || *host == 0 || strlen(host) > 255) return AGENT_E_ARG;
    if ((t = (agent_tls *)agenti_get(&c->pool, sizeof *t)) == NULL) return AGENT_E_NOMEM;
    t->config = c;
    c->users++;
    agenti_buf_init(&t->in, &c->pool);
    agenti_buf_init(&t->out, &c->pool);
    mbedtls_ssl_init(&t->ssl);
    t->ip_n = agenti_tls_ipv4(host, t->ip);
    if (t->ip_n == 0) t->ip_n = agenti_tls_ipv6(host, t->ip);
    rc = mbedtls_ssl_setup(&t->ssl, &c->conf);
    if (rc == 0) rc = mbedtls_ssl_set_hostname(&t->ssl, t->ip_n ? NULL : host);   /* an address is no name: RFC 6066 section 3 */
    if (rc == 0 && !agenti_buf_room(&t->in, AGENTI_TLS_IN)) rc = -1;
    if (rc != 0) { agent_tls_close(t); return AGENT_E_NOMEM; }
    mbedtls_ssl_set_bio(&t->ssl, t, agenti_tls_send, agenti_tls_recv, NULL);
    *out = t;
    return AGENT_OK;
}
AGENTDEF void agent_tls_close(agent_tls *t)
{
    agent_tls_config *c;
    if (t == NULL) return;
    c = t->config;
    mbedtls_ssl_free(&t->ssl);
    agenti_buf_free(&t->in);
    agenti_buf_free(&t->out);
    agenti_put(&c->pool, t, sizeof *t);
    if (--c->users == 0 && c->closed) agenti_tls_config_free(c);
}
static const char *agenti_tls_verdict(uint32_t flags)        /* the worst of it                                         */
{
    if (flags & MBEDTLS_X509_BADCERT_NOT_TRUSTED) return "the certificate is not signed by an authority that is trusted";
    if (flags & MBEDTLS_X509_BADCERT_CN_MISMATCH) return "the certificate is for another host";
    if (flags & MBEDTLS_X509_BADCERT_EXPIRED) return "the certificate has expired";
    if (flags & MBEDTLS_X509_BADCERT_FUTURE) return "the certificate is not valid yet";
    if (flags & MBEDTLS_X509_BADCERT_REVOKED) return "the certificate was revoked";
    if (flags & (MBEDTLS_X509_BADCERT_BAD_MD | MBEDTLS_X509_BADCERT_BAD_PK | MBEDTLS_X509_BADCERT_BAD_KEY))
        return "the certificate's key or signature is too weak";
    return "the certificate is not good for this";
}
static const char *agenti_tls_word(int rc)
{
    switch (rc) {
    case MBEDTLS_ERR_SSL_CONN_EOF: return "the connection was cut: it ended without TLS's close_notify";
    case MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE: return "the peer refused by a TLS alert";
    case MBEDTLS_ERR_SSL_ALLOC_FAILED: return "out of memory in TLS";
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
    case MBEDTLS_ERR_SSL_BAD_PROTOCOL_VERSION: return "the peer speaks no TLS 1.2 or later";
#else
    case MBEDTLS_ERR_SSL_BAD_HS_PROTOCOL_VERSION: return "the peer speaks no TLS 1.2 or later";
#endif
    case MBEDTLS_ERR_SSL_INVALID_RECORD: return "what the peer sends is no TLS";
    case MBEDTLS_ERR_SSL_INVALID_MAC: return "a TLS record was changed on its way";
    default: return NULL;
    }
}
static int agenti_tls_fail(agent_tls *t, int rc)
{
    static const char plain[] = "TLS failed: mbedTLS error -0x", hex[] = "0123456789ABCDEF";
    const char *word = rc == MBEDTLS_ERR_X509_CERT_VERIFY_FAILED ? agenti_tls_verdict(mbedtls_ssl_get_verify_result(&t->ssl)) : agenti_tls_word(rc);
    size_t n, i;
    t->state = AGENT_TLS_FAILED;
    if (word) { memcpy(t->why, word, strlen(word) + 1); return AGENT_OK; }
    n = sizeof plain - 1;
    memcpy(t->why, plain, n);
    for (i = 0; i < 4; i++) t->why[n++] = hex[((unsigned)-rc >> (12 - 4 * i)) & 15];
    t->why[n] = 0;
    return AGENT_OK;
}
/* The address has to stand in the certificate, RFC 5280 section 4.2.1.6: iPAddress, tag 7.                              */
static int agenti_tls_ip_ok(const agent_tls *t)
{
    const mbedtls_x509_crt *crt = mbedtls_ssl_get_peer_cert(&t->ssl);
    const mbedtls_x509_sequence *s;
    if (t->ip_n == 0) return 1;
    for (s = crt ? &crt->subject_alt_names : NULL; s; s = s->next)
        if ((s->buf.tag & 31) == 7 && s->buf.len == t->ip_n && memcmp(s->buf.p, t->ip, t->ip_n) == 0) return 1;
    return 0;
}
static int agenti_tls_waits(int rc)
{
#ifdef MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET
    if (rc == MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET) return 1;
#endif
    return rc == MBEDTLS_ERR_SSL_WANT_READ || rc == MBEDTLS_ERR_SSL_WANT_WRITE;
}
static void agenti_tls_shake(agent_tls *t)
{
    int rc;
    if (t->state != AGENT_TLS_HANDSHAKE) return;
    rc = mbedtls_ssl_handshake(&t->ssl);
    if (rc == 0) {
        t->state = AGENT_TLS_OPEN;
        if (!agenti_tls_ip_ok(t)) {
            t->state = AGENT_TLS_FAILED;
            memcpy(t->why, agenti_tls_verdict(MBEDTLS_X509_BADCERT_CN_MISMATCH), strlen(agenti_tls_verdict(MBEDTLS_X509_BADCERT_CN_MISMATCH)) + 1);
        }
    } else if (!agenti_tls_waits(rc)) agenti_tls_fail(t, rc);
}
AGENTDEF int agent_tls_state(const agent_tls *t) { return t->state; }
AGENTDEF const char *agent_tls_why(const agent_tls *t) { return t->why; }

/* ---- ciphertext: the socket's side ---- */
AGENTDEF int agent_tls_feed(agent_tls *t, const void *p, size_t n, size_t *taken)
{
    size_t room;
    if (taken) *taken = 0;
    if (t->eof) return AGENT_E_STATE;
    if (n == 0) return AGENT_OK;
    if (t->in_at) {
        memmove(t->in.p, t->in.p + t->in_at, t->in.n - t->in_at);
        t->in.n -= t->in_at;
        t->in_at = 0;
    }
    room = AGENTI_TLS_IN - t->in.n;
    if (room == 0 || (taken == NULL && n > room)) return AGENT_E_FULL;
    if (n > room) n = room;
    agenti_buf_add(&t->in, (const char *)p, n);
    if (taken) *taken = n;
    return AGENT_OK;
}
AGENTDEF void agent_tls_eof(agent_tls *t) { t->eof = 1; }
AGENTDEF const void *agent_tls_send_buf(const agent_tls *t, size_t *n)
{
    *n = t->out.n - t->out_at;
    return *n ? t->out.p + t->out_at : NULL;
}
AGENTDEF int agent_tls_send_ack(agent_tls *t, size_t n)
{
    if (n > t->out.n - t->out_at) return AGENT_E_ARG;
    t->out_at += n;
    if (t->out_at == t->out.n) t->out_at = t->out.n = 0;
    return AGENT_OK;
}
AGENTDEF int agent_tls_wants(const agent_tls *t)
{
    int wants = 0;
    if (!t->eof && t->state != AGENT_TLS_FAILED && t->state != AGENT_TLS_CLOSED && t->in.n - t->in_at < AGENTI_TLS_IN) wants |= AGENT_WANT_READ;
    return t->out.n > t->out_at ? wants | AGENT_WANT_WRITE : wants;
}
AGENTDEF void agent_tls_shutdown(agent_tls *t)
{
    if (t->state == AGENT_TLS_OPEN) (void)mbedtls_ssl_close_notify(&t->ssl);
}

/* ---- plaintext ---- */
AGENTDEF int agent_tls_read(agent_tls *t, void *buf, size_t cap, size_t *n)
{
    int rc;
    *n = 0;
    agenti_tls_shake(t);
    if (t->state != AGENT_TLS_OPEN) return t->state == AGENT_TLS_HANDSHAKE ? AGENT_MORE : t->state == AGENT_TLS_CLOSED ? AGENT_OK : AGENT_E_STATE;
    if (cap == 0) return AGENT_E_ARG;
    rc = mbedtls_ssl_read(&t->ssl, (unsigned char *)buf, cap);
    if (rc > 0) { *n = (size_t)rc; return AGENT_OK; }
    if (agenti_tls_waits(rc)) return AGENT_MORE;
    if (rc == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY) { t->state = AGENT_TLS_CLOSED; return AGENT_OK; }
    agenti_tls_fail(t, rc == 0 ? MBEDTLS_ERR_SSL_CONN_EOF : rc);
    return AGENT_E_STATE;
}
AGENTDEF int agent_tls_write(agent_tls *t, const void *p, size_t n, size_t *taken)
{
    int rc;
    *taken = 0;
    agenti_tls_shake(t);
    if (t->state != AGENT_TLS_OPEN) return t->state == AGENT_TLS_HANDSHAKE ? AGENT_MORE : AGENT_E_STATE;
    if (t->out.n - t->out_at >= AGENTI_TLS_OUT) return AGENT_E_FULL;
    if (n == 0) return AGENT_OK;
    rc = mbedtls_ssl_write(&t->ssl, (const unsigned char *)p, n);
    if (rc > 0) { *taken = (size_t)rc; return AGENT_OK; }
    if (agenti_tls_waits(rc)) return AGENT_MORE;
    agenti_tls_fail(t, rc);
    return AGENT_E_STATE;
}
/* 1: there is more, when what was encrypted is sent.                                                                   */
static int agenti_tls_out(agent_tls *t, agent_engine *e, agent_id conn)
{
    const void *p;
    size_t n, taken;
    int rc = AGENT_OK;
    while (rc == AGENT_OK && (p = agent_send_buf(e, conn, &n)) != NULL) {
        rc = agent_tls_write(t, p, n, &taken);
        (void)agent_send_ack(e, conn, taken);
    }
    return rc == AGENT_E_FULL;
}
/* 1: the engine's buffer is full, or it takes no more.                                                                 */
static int agenti_tls_in(agent_tls *t, agent_engine *e, agent_id conn)
{
    size_t cap, n;
    void *p;
    int rc = AGENT_OK;
    while (rc == AGENT_OK && t->state == AGENT_TLS_OPEN) {
        if ((p = agent_recv_buf(e, conn, &cap)) == NULL) return 1;
        rc = agent_tls_read(t, p, cap, &n);
        (void)agent_recv_ack(e, conn, n);
    }
    return 0;
}
AGENTDEF int agent_tls_pump(agent_tls *t, agent_engine *e, agent_id conn)
{
    int full, more = 0;
    if (t->told) return AGENT_OK;
    agenti_tls_shake(t);
    if (t->state == AGENT_TLS_OPEN) more = agenti_tls_out(t, e, conn);
    full = t->state == AGENT_TLS_OPEN && agenti_tls_in(t, e, conn);
    if (t->state == AGENT_TLS_CLOSED) { t->told = 1; return agent_eof(e, conn); }
    if (t->state == AGENT_TLS_FAILED) { t->told = 1; return agent_failed(e, conn, AGENT_FAIL_TLS, t->why, AGENT_CSTR); }
    return full ? AGENT_E_FULL : more ? AGENT_MORE : AGENT_OK;
}
#endif
#endif
