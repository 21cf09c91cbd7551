/* Base URLs: taken apart into views, and joined with an endpoint's path to a request target. RFC 3986, only what a base URL
 * of an API needs: http and https, no user, no fragment; a query is kept and joined behind the path. */
typedef struct agenti_url {              /* views into the URL                                                          */
    agent_str host;                      /* without the brackets of an IPv6 address                                     */
    agent_str authority;                 /* what the Host header says: with the port unless it is the scheme's own      */
    agent_str path;                      /* as written; may be empty                                                    */
    agent_str query;                     /* without the question mark; n 0: none                                        */
    uint16_t port; uint8_t tls;
} agenti_url;

AGENTI_FN int agenti_url_parse(agent_str url, agenti_url *out, const char **why);   /* 0: refused, *why is static text  */
/* Appends prefix + path + queries; path begins with '/' and may have a query. A base that ends in the path already does not get
 * it twice. 0: no memory, or a path that agenti_http_path_ok refuses.                                                  */
AGENTI_FN int agenti_url_join(agenti_buf *, const agenti_url *, const char *path);
/* The path with {model} replaced, percent-encoded but for RFC 3986's unreserved characters.                             */
AGENTI_FN void agenti_url_expand(agenti_buf *, const char *path, agent_str model);
AGENTI_FN int agenti_http_path_ok(const char *target);   /* begins with '/', nothing that could break a request line    */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_URL
static int agenti_url_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_' || c == '~';
}
static int agenti_url_hex(char c) { return (c >= '0' && c <= '9') || (agenti_lower(c) >= 'a' && agenti_lower(c) <= 'f'); }
static const char *agenti_url_chars(agent_str u)             /* what no URL may have anywhere; NULL: fine               */
{
    size_t i;
    for (i = 0; i < u.n; i++) {
        unsigned char c = (unsigned char)u.p[i];
        if (c <= ' ' || c == 127) return AGENTI_WHY("the URL has a space or control character");
        if (c > 127) return AGENTI_WHY("the URL has a character that is not ASCII");
        if (c == '#') return AGENTI_WHY("the URL has a fragment");
        if (memchr("\"<>\\^`{|}", c, 9)) return AGENTI_WHY("the URL has a character that must be percent-encoded");
    }
    return NULL;
}
static const char *agenti_url_name(agent_str host)           /* a name or an IPv4 address                               */
{
    size_t i;
    if (host.n == 0) return AGENTI_WHY("the URL has no host");
    if (host.n > 255) return AGENTI_WHY("the URL's host is too long");
    for (i = 0; i < host.n; i++) {
        if (!agenti_url_name_char(host.p[i])) return AGENTI_WHY("the URL's host has a character that no host has");
        if (host.p[i] == '.' && (i == 0 || host.p[i - 1] == '.')) return AGENTI_WHY("the URL's host has an empty label");
    }
    return NULL;
}
static const char *agenti_url_ipv6(agent_str host)           /* its characters only: who connects reads the address     */
{
    size_t i, colons = 0;
    for (i = 0; i < host.n; i++) {
        if (host.p[i] == ':') colons++;
        else if (host.p[i] != '.' && !agenti_url_hex(host.p[i])) return AGENTI_WHY("the URL's IPv6 address has a strange character");
    }
    return colons < 2 || colons > 8 || host.n > 45 ? AGENTI_WHY("the URL's IPv6 address is none") : NULL;
}
static const char *agenti_url_port(agent_str digits, uint16_t *port)
{
    uint32_t v = 0;
    size_t i;
    if (digits.n == 0 || digits.n > 5 || digits.p[0] == '0') return AGENTI_WHY("the URL's port is not 1 to 65535");
    for (i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9') return AGENTI_WHY("the URL's port is no number");
        v = v * 10 + (uint32_t)(digits.p[i] - '0');
    }
    if (v > 65535) return AGENTI_WHY("the URL's port is not 1 to 65535");
    *port = (uint16_t)v;
    return NULL;
}
static const char *agenti_url_authority(agent_str a, agenti_url *out)
{
    uint16_t own = out->tls ? 443 : 80;
    size_t host_n;                                           /* with brackets                                           */
    const char *why, *end;
    out->port = own;
    if (a.n && memchr(a.p, '@', a.n)) return AGENTI_WHY("the URL has a user or password in it");
    if (a.n && a.p[0] == '[') {
        end = (const char *)memchr(a.p, ']', a.n);
        if (end == NULL) return AGENTI_WHY("the URL's IPv6 address has no closing bracket");
        host_n = (size_t)(end - a.p) + 1;
        out->host = agenti_str(a.p + 1, host_n - 2);
        why = agenti_url_ipv6(out->host);
    } else {
        end = a.n ? (const char *)memchr(a.p, ':', a.n) : NULL;
        host_n = end ? (size_t)(end - a.p) : a.n;
        out->host = agenti_str(a.p, host_n);
        why = agenti_url_name(out->host);
    }
    if (why == NULL && host_n < a.n) {
        if (a.p[host_n] != ':') return AGENTI_WHY("the URL goes on behind its IPv6 address");
        why = agenti_url_port(agenti_str(a.p + host_n + 1, a.n - host_n - 1), &out->port);
    }
    out->authority = agenti_str(a.p, out->port == own ? host_n : a.n);
    return why;
}
AGENTI_FN int agenti_url_parse(agent_str url, agenti_url *out, const char **why)
{
    size_t at, end, query;
    memset(out, 0, sizeof *out);
    *why = agenti_url_chars(url);
    if (*why) return 0;
    if (url.n >= 7 && agenti_ieq(agenti_str(url.p, 7), "http://")) at = 7;
    else if (url.n >= 8 && agenti_ieq(agenti_str(url.p, 8), "https://")) { at = 8; out->tls = 1; }
    else { *why = AGENTI_WHY("the URL begins with neither http:// nor https://"); return 0; }
    for (end = at; end < url.n && url.p[end] != '/' && url.p[end] != '?'; end++) {}
    for (query = end; query < url.n && url.p[query] != '?'; query++) {}
    out->path = agenti_str(url.p + end, query - end);
    out->query = agenti_str(url.p + query, 0);
    if (query < url.n) out->query = agenti_str(url.p + query + 1, url.n - query - 1);
    *why = agenti_url_authority(agenti_str(url.p + at, end - at), out);
    return *why == NULL;
}
AGENTI_FN void agenti_url_expand(agenti_buf *b, const char *path, agent_str model)
{
    static const char hole[] = "{model}", hex[] = "0123456789ABCDEF";
    size_t i, n = strlen(path), at = 0;
    char c[3];
    while (at + sizeof hole - 1 <= n && memcmp(path + at, hole, sizeof hole - 1) != 0) at++;
    if (at + sizeof hole - 1 > n) { agenti_buf_add(b, path, n); return; }
    agenti_buf_add(b, path, at);
    for (i = 0; i < model.n; i++) {
        unsigned char u = (unsigned char)model.p[i];
        c[0] = '%';
        c[1] = hex[u >> 4];
        c[2] = hex[u & 15];
        if (agenti_url_name_char(model.p[i])) agenti_buf_add(b, model.p + i, 1); else agenti_buf_add(b, c, 3);
    }
    agenti_buf_str(b, path + at + sizeof hole - 1);
}
AGENTI_FN int agenti_http_path_ok(const char *target)
{
    const char *p;
    for (p = target; *p; p++) if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 127 || *p == '#') return 0;
    return target[0] == '/';
}
AGENTI_FN int agenti_url_join(agenti_buf *b, const agenti_url *u, const char *path)
{
    size_t n, prefix = u->path.n, all;
    if (!agenti_http_path_ok(path)) return 0;
    all = strlen(path);
    for (n = 0; n < all && path[n] != '?'; n++) {}           /* the path without its query                              */
    while (prefix && u->path.p[prefix - 1] == '/') prefix--;
    agenti_buf_add(b, u->path.p, prefix);
    if (prefix < n || memcmp(u->path.p + prefix - n, path, n) != 0) agenti_buf_add(b, path, n);
    agenti_buf_add(b, path + n, all - n);
    if (u->query.n) {
        agenti_buf_str(b, n < all ? "&" : "?");
        agenti_buf_add(b, u->query.p, u->query.n);
    }
    return !b->bad;
}
#endif
