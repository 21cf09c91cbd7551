/* A prefix of a JSON text, completed. Kept is what is certain: an unfinished string or literal is completed; an unfinished number
 * loses its last, open part; an unfinished escape, UTF-8 sequence or key is dropped, and so is all from the first error on, from
 * the 65th level on, and what follows the value. */
#if !defined AGENTI_SPLIT || defined AGENTI_PART_JSON_PARTIAL
typedef struct agenti_repair {
    agenti_jcheck c;
    const char *safe;                    /* up to here, with `tail` and the closing brackets, it is JSON                */
    const char *tail;
} agenti_repair;

/* A string up to its quote, its first error or the end; *whole: the quote was there. at: after the first quote. */
static const char *agenti_repair_string(const char *at, const char *end, int *whole)
{
    uint32_t unit;
    size_t k;
    *whole = 0;
    for (;;) {
        const char *from = at;
        at += agenti_json_plain(at, (size_t)(end - at));
        if (at == end) return at - agenti_utf8_tail(from, (size_t)(at - from));
        if (*at == '"') { *whole = 1; return at + 1; }
        k = *at == '\\' ? agenti_json_escape(at, (size_t)(end - at), &unit) : 0;
        if (k == 0) return at;
        at += k;
    }
}
static const char *agenti_repair_literal(agenti_repair *r, const char *at, const char *end)     /* NULL: nothing more   */
{
    const char *word = *at == 't' ? "true" : *at == 'f' ? "false" : *at == 'n' ? "null" : "";
    size_t k = 0;
    while (word[k] && at + k < end && at[k] == word[k]) k++;
    if (k == 0 || (word[k] && at + k < end)) return NULL;
    r->safe = at + k;
    r->tail = word + k;
    return word[k] ? NULL : r->safe;
}
static const char *agenti_repair_scalar(agenti_repair *r, const char *at, const char *end)
{
    size_t k;
    int whole;
    r->c.state = AGENTI_J_NEXT;
    if (*at == '"') {
        r->safe = agenti_repair_string(at + 1, end, &whole);
        r->tail = whole ? "" : "\"";
        return whole ? r->safe : NULL;
    }
    k = agenti_num_prefix(at, (size_t)(end - at));
    if (k == 0) return agenti_repair_literal(r, at, end);
    r->safe = at + k;
    r->tail = "";
    return r->safe;
}
static const char *agenti_repair_token(agenti_repair *r, const char *at, const char *end)
{
    int opens = *at == '{' || *at == '[', first = r->c.state == AGENTI_J_FIRST;
    if ((r->c.state == AGENTI_J_VALUE || first) && !opens && !(first && *at == ']')) return agenti_repair_scalar(r, at, end);
    opens = opens && (r->c.state == AGENTI_J_VALUE || first);
    at = agenti_json_token(&r->c, at, end);
    if (r->c.why) return NULL;
    if (opens || r->c.state == AGENTI_J_NEXT) { r->safe = at; r->tail = ""; }
    return at;
}
AGENTI_CODEC size_t agent_json_repair(const char *p, size_t n, char *buf, size_t cap, int *parses)
{
    agent_str t = n == AGENT_CSTR ? agenti_cstr(p) : agenti_str(p, n);
    const char *at = t.p, *end = t.p + t.n;
    agenti_repair r;
    agenti_sink s;
    memset(&r, 0, sizeof r);
    r.c.limit = AGENTI_J_DEPTH;
    r.safe = t.p;
    r.tail = "";
    AGENTI_TOUCH(t.n);
    while (at) {
        at += agenti_json_space(at, (size_t)(end - at));
        if (at == end) break;
        at = agenti_repair_token(&r, at, end);
    }
    agenti_sink_to(&s, buf, cap);
    agenti_sink_add(&s, t.p, (size_t)(r.safe - t.p));
    agenti_sink_add(&s, r.tail, strlen(r.tail));
    for (; r.c.depth > 0; r.c.depth--, r.c.objects >>= 1) agenti_sink_add(&s, r.c.objects & 1 ? "}" : "]", 1);
    if (parses) *parses = s.n > 0;
    return agenti_sink_end(&s);
}
#endif
