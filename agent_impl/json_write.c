/* JSON out. A comma is written where the last byte shows that a value stands before. */
AGENTI_FN void agenti_json_comma(agenti_buf *);                     /* unless first in the text, the object or the array */
AGENTI_FN void agenti_json_quote_to(agenti_buf *, agent_str);       /* a string, always valid UTF-8                    */
AGENTI_FN void agenti_json_quote_more(agenti_buf *, agent_str);     /* goes on in the string that was quoted last      */
AGENTI_FN void agenti_json_key(agenti_buf *, const char *key);      /* [,]"key":                                       */
AGENTI_FN void agenti_json_member(agenti_buf *, const char *key, agent_str raw);   /* the key and JSON as it is; empty: null */
AGENTI_FN void agenti_json_member_str(agenti_buf *, const char *key, agent_str text);
AGENTI_FN void agenti_json_member_int(agenti_buf *, const char *key, int64_t);
#ifdef AGENT_NO_CODECS
AGENTI_FN size_t agent_json_quote(const char *p, size_t n, char *buf, size_t cap);
#endif

#if !defined AGENTI_SPLIT || defined AGENTI_PART_JSON_WRITE
static void agenti_json_quote_char(agenti_stage *s, unsigned char c)
{
    static const char hex[] = "0123456789abcdef", low[] = "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu";
    char out[6];
    out[0] = '\\';
    out[1] = c < 0x20 ? low[c] : (char)c;
    out[2] = out[3] = '0';
    out[4] = hex[c >> 4];
    out[5] = hex[c & 15];
    agenti_stage_add(s, out, out[1] == 'u' ? 6 : 2);
}
static void agenti_json_quote_sink(agenti_sink *to, const char *p, size_t n, int opens)
{
    agenti_stage s;
    size_t k;
    agenti_stage_to(&s, to);
    if (opens) agenti_stage_add(&s, "\"", 1);
    while (n > 0) {
        k = agenti_json_plain(p, n);
        if (k > 0) agenti_stage_text(&s, p, k);
        p += k;
        n -= k;
        if (n == 0) break;
        agenti_json_quote_char(&s, (unsigned char)*p++);
        n--;
    }
    agenti_stage_add(&s, "\"", 1);
    agenti_stage_flush(&s);
}
AGENTI_CODEC size_t agent_json_quote(const char *p, size_t n, char *buf, size_t cap)
{
    agent_str t = n == AGENT_CSTR ? agenti_cstr(p) : agenti_str(p, n);
    agenti_sink s;
    agenti_sink_to(&s, buf, cap);
    agenti_json_quote_sink(&s, t.p, t.n, 1);
    return agenti_sink_end(&s);
}
AGENTI_FN void agenti_json_quote_to(agenti_buf *b, agent_str t)
{
    agenti_sink s;
    agenti_sink_grow(&s, b);
    agenti_json_quote_sink(&s, t.p, t.n, 1);
}
AGENTI_FN void agenti_json_quote_more(agenti_buf *b, agent_str t)
{
    agenti_sink s;
    if (b->n == 0) return;
    b->n--;
    agenti_sink_grow(&s, b);
    agenti_json_quote_sink(&s, t.p, t.n, 0);
}
AGENTI_FN void agenti_json_comma(agenti_buf *b)
{
    char last = b->n ? b->p[b->n - 1] : ',';
    if (last != ',' && last != ':' && last != '[' && last != '{') agenti_buf_add(b, ",", 1);
}
AGENTI_FN void agenti_json_key(agenti_buf *b, const char *key)
{
    agenti_json_comma(b);
    agenti_json_quote_to(b, agenti_cstr(key));
    agenti_buf_add(b, ":", 1);
}
AGENTI_FN void agenti_json_member(agenti_buf *b, const char *key, agent_str raw)
{
    agenti_json_key(b, key);
    if (raw.n > 0) agenti_buf_add(b, raw.p, raw.n);
    else agenti_buf_add(b, "null", 4);
}
AGENTI_FN void agenti_json_member_str(agenti_buf *b, const char *key, agent_str text)
{
    agenti_json_key(b, key);
    agenti_json_quote_to(b, text);
}
AGENTI_FN void agenti_json_member_int(agenti_buf *b, const char *key, int64_t v)
{
    char text[21];
    agenti_json_member(b, key, agenti_str(text, agenti_i64_text(v, text)));
}
#endif
