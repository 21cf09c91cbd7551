/* Lines: in place where a line lies whole in the input, through the buffer where it straddles calls. */
#if !defined AGENTI_SPLIT || defined AGENTI_PART_LINES
enum { AGENTI_LINES_READING = 1, AGENTI_LINES_DROPPING = 2 };            /* agent_lines.skip                            */

AGENTI_CODEC void agent_lines_init(agent_lines *l, void *buf, size_t cap)
{
    memset(l, 0, sizeof *l);
    l->buf = (char *)buf;
    l->cap = buf ? cap : 0;
    l->fresh = 1;
}
/* What is left of a line without CR and, at the very start of the stream, without BOM. */
static agent_str agenti_lines_trim(agent_lines *l, const char *p, size_t n)
{
    if (l->fresh && n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) { p += 3; n -= 3; }
    l->fresh = 0;
    if (n && p[n - 1] == '\r') n--;
    return agenti_str(p, n);
}
static int agenti_lines_keep(agent_lines *l, const char *p, size_t n)    /* 0: buf is too small, nothing changed        */
{
    l->skip = AGENTI_LINES_READING;
    if (n > l->cap - l->len) return 0;
    if (n) memcpy(l->buf + l->len, p, n);
    AGENTI_TOUCH(n);
    l->len += n;
    return 1;
}
static int agenti_lines_rest(agent_lines *l, const char *in, size_t n, size_t *used)    /* the input ends in a line     */
{
    if (n && l->skip != AGENTI_LINES_DROPPING && !agenti_lines_keep(l, in, n)) return AGENT_E_FULL;
    *used += n;
    l->offset += n;
    return AGENT_MORE;
}
AGENTI_CODEC int agent_lines_next(agent_lines *l, const char *in, size_t n, size_t *used, agent_str *line)
{
    const char *lf;
    size_t len;
    *used = 0;
    *line = agenti_str(NULL, 0);
    while (*used < n) {
        const char *p = in + *used;
        lf = (const char *)memchr(p, '\n', n - *used);
        len = lf ? (size_t)(lf - p) : n - *used;
        AGENTI_TOUCH(len);
        if (lf == NULL) return agenti_lines_rest(l, p, len, used);
        if (l->skip == AGENTI_LINES_DROPPING) l->fresh = 0;
        else if (l->len == 0) *line = agenti_lines_trim(l, p, len);
        else if (!agenti_lines_keep(l, p, len)) return AGENT_E_FULL;
        else *line = agenti_lines_trim(l, l->buf, l->len);
        l->len = 0;
        l->skip = 0;
        *used += len + 1;
        l->offset += len + 1;
        if (line->n) return AGENT_OK;
    }
    return AGENT_MORE;
}
AGENTI_CODEC void agent_lines_skip(agent_lines *l)
{
    l->len = 0;
    if (l->skip) l->skip = AGENTI_LINES_DROPPING;
}
AGENTI_CODEC int agent_lines_end(agent_lines *l, agent_str *line)
{
    *line = agenti_str(NULL, 0);
    if (l->len) *line = agenti_lines_trim(l, l->buf, l->len);
    l->len = 0;
    l->skip = 0;
    return line->n ? AGENT_OK : AGENT_MORE;
}
#endif
