/* Base64, RFC 4648 section 4: how files stand in JSON. */
AGENTI_FN int  agenti_base64_ok(agent_str);                         /* the standard alphabet, padded, no line breaks   */
AGENTI_FN void agenti_base64_four(const char *p, size_t n, char *to);     /* the four letters of n bytes, at most three    */
AGENTI_FN void agenti_base64_to(agenti_buf *, agent_str bytes);
AGENTI_FN void agenti_base64_from(agenti_buf *, agent_str text);    /* of text that is ok                              */
AGENTI_FN size_t agenti_base64_bytes(agent_str text, char *to);     /* the same; to may be where the text is. Length   */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_BASE64
static int agenti_base64_value(char c)                              /* -1: not of the alphabet                         */
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}
AGENTI_FN int agenti_base64_ok(agent_str s)
{
    size_t i, n = s.n;
    if (n % 4) return 0;
    if (n && s.p[n - 1] == '=') n--;
    if (n && n < s.n && s.p[n - 1] == '=') n--;
    for (i = 0; i < n; i++) if (agenti_base64_value(s.p[i]) < 0) return 0;
    AGENTI_TOUCH(s.n);
    return 1;
}
AGENTI_FN void agenti_base64_four(const char *p, size_t n, char *to)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t v = 0;
    size_t k;
    if (n > 3) n = 3;
    for (k = 0; k < 3; k++) v = v << 8 | (k < n ? (unsigned char)p[k] : 0u);
    for (k = 0; k < 4; k++) to[k] = (char)(k <= n ? letters[v >> (18 - 6 * k) & 63] : '=');
}
AGENTI_FN void agenti_base64_to(agenti_buf *b, agent_str s)
{
    size_t i;
    char *to;
    if (s.n / 3 >= (size_t)-1 / 4 - 1) { b->bad = 1; return; }
    if (!agenti_buf_room(b, (s.n + 2) / 3 * 4)) return;
    to = b->p + b->n;
    for (i = 0; i < s.n; i += 3, to += 4) agenti_base64_four(s.p + i, s.n - i, to);
    AGENTI_TOUCH(s.n);
    b->n = (size_t)(to - b->p);
    b->p[b->n] = 0;
}
AGENTI_FN size_t agenti_base64_bytes(agent_str s, char *to)
{
    size_t i, k, n = 0;
    while (s.n && s.p[s.n - 1] == '=') s.n--;
    for (i = 0; i < s.n; i += 4) {
        uint32_t v = 0;
        size_t left = s.n - i < 4 ? s.n - i : 4;
        for (k = 0; k < 4; k++) v = v << 6 | (k < left ? (uint32_t)agenti_base64_value(s.p[i + k]) : 0u);
        for (k = 0; k + 1 < left; k++) to[n++] = (char)(unsigned char)(v >> (16 - 8 * k) & 255u);
    }
    AGENTI_TOUCH(s.n);
    return n;
}
AGENTI_FN void agenti_base64_from(agenti_buf *b, agent_str s)
{
    if (!agenti_buf_room(b, s.n / 4 * 3)) return;
    b->n += agenti_base64_bytes(s, b->p + b->n);
    b->p[b->n] = 0;
}
#endif
