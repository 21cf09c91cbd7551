/* Which proxy a request goes through, by the variables that programs agree on, and the CONNECT that opens a tunnel (RFC 9110 section 9.3.6).
 * https_proxy, http_proxy, all_proxy, no_proxy; in upper case too, but for HTTP_PROXY, which in CGI is a header of the client's. Requests to
 * this machine never go through one. The password of a proxy's URL is sent to the proxy and shown nowhere. */
#ifndef HOST_PROXY_H
#define HOST_PROXY_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct host_proxy {                   /* host NULL: none                                                        */
    char host[256], port[8], user[512];       /* user: "name:password", percent-decoded                                 */
} host_proxy;

static const char *host_variable(const char *low, const char *high)
{
    const char *v = getenv(low);
    if ((v == NULL || *v == 0) && high) v = getenv(high);
    return v && *v ? v : NULL;
}
static int host_same_word(const char *a, const char *b, size_t n)
{
    size_t i;
    for (i = 0; i < n; i++) if ((a[i] >= 'A' && a[i] <= 'Z' ? a[i] + 32 : a[i]) != (b[i] >= 'A' && b[i] <= 'Z' ? b[i] + 32 : b[i])) return 0;
    return 1;
}
/* Is it in the list: host names with what is below them, addresses, "*", each maybe with a port.                       */
static int host_listed(const char *list, const char *host, unsigned port)
{
    size_t all = strlen(host), n, name;
    for (; list && *list; list += n) {
        const char *colon;
        list += strspn(list, ", \t");
        n = strcspn(list, ", \t");
        if (n == 1 && *list == '*') return 1;
        colon = (const char *)memchr(list, ':', n);
        name = colon && memchr(colon + 1, ':', n - (size_t)(colon + 1 - list)) == NULL ? (size_t)(colon - list) : n;
        if (name < n && (unsigned)strtoul(colon + 1, NULL, 10) != port) continue;
        if (name && *list == '.') { list++; name--; n--; }
        if (name && name <= all && host_same_word(list, host + all - name, name) && (name == all || host[all - name - 1] == '.')) return 1;
    }
    return 0;
}
static void host_percent(char *to, size_t cap, const char *p, size_t n)       /* decoded                               */
{
    size_t k = 0, i;
    char two[3] = "";
    for (i = 0; i < n && k + 1 < cap; i++) {
        if (p[i] == '%' && i + 2 < n) { two[0] = p[i + 1]; two[1] = p[i + 2]; to[k++] = (char)strtoul(two, NULL, 16); i += 2; }
        else to[k++] = p[i];
    }
    to[k] = 0;
}
/* [http://][USER[:PASSWORD]@]HOST[:PORT][/]. 0: it is no such URL.                                                     */
static int host_proxy_parse(host_proxy *p, const char *url)
{
    const char *at, *end, *port;
    size_t n;
    memset(p, 0, sizeof *p);
    if (strncmp(url, "http://", 7) == 0) url += 7;
    else if (strstr(url, "://")) return 0;
    n = strcspn(url, "/");
    for (at = url + n; at > url && *at != '@'; at--) {}
    if (at > url) { host_percent(p->user, sizeof p->user, url, (size_t)(at - url)); n -= (size_t)(at + 1 - url); url = at + 1; }
    end = url + n;
    port = *url == '[' ? (const char *)memchr(url, ']', n) : NULL;
    port = (const char *)memchr(port ? port : url, ':', (size_t)(end - (port ? port : url)));
    sprintf(p->port, "%.5s", "1080");
    if (port) { memset(p->port, 0, sizeof p->port); memcpy(p->port, port + 1, (size_t)(end - port - 1) < 6 ? (size_t)(end - port - 1) : 6); end = port; }
    if (*url == '[') { url++; end--; }
    if (end <= url || (size_t)(end - url) >= sizeof p->host) return 0;
    memcpy(p->host, url, (size_t)(end - url));
    return 1;
}
/* 1: through *p, 0: straight on, -1: the variable holds no URL of a proxy that is known here.                           */
static int host_proxy_of(host_proxy *p, const char *host, unsigned port, int tls)
{
    const char *url = tls ? host_variable("https_proxy", "HTTPS_PROXY") : host_variable("http_proxy", NULL);
    if (url == NULL) url = host_variable("all_proxy", "ALL_PROXY");
    if (url == NULL || strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0) return 0;
    if (host_listed(host_variable("no_proxy", "NO_PROXY"), host, port)) return 0;
    return host_proxy_parse(p, url) ? 1 : -1;
}
/* The CONNECT request. Returns its length; 0: it does not fit.                                                          */
static size_t host_proxy_request(const host_proxy *p, const char *host, unsigned port, char *out, size_t cap)
{
    static const char code[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *open = strchr(host, ':') ? "[" : "", *close = *open ? "]" : "";
    size_t n = strlen(p->user), i, k;
    if (cap < 2 * strlen(host) + n * 2 + 200) return 0;
    k = (size_t)sprintf(out, "CONNECT %s%s%s:%u HTTP/1.1\r\nHost: %s%s%s:%u\r\n", open, host, close, port, open, host, close, port);
    if (n) {
        k += (size_t)sprintf(out + k, "Proxy-Authorization: Basic ");
        for (i = 0; i < n; i += 3) {
            unsigned long v = (unsigned long)(unsigned char)p->user[i] << 16 | (i + 1 < n ? (unsigned long)(unsigned char)p->user[i + 1] << 8 : 0)
                            | (i + 2 < n ? (unsigned long)(unsigned char)p->user[i + 2] : 0);
            out[k++] = code[v >> 18 & 63];
            out[k++] = code[v >> 12 & 63];
            out[k++] = i + 1 < n ? code[v >> 6 & 63] : '=';
            out[k++] = i + 2 < n ? code[v & 63] : '=';
        }
        k += (size_t)sprintf(out + k, "\r\n");
    }
    return k + (size_t)sprintf(out + k, "\r\n");
}
#endif
