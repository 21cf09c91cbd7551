/* Streams repeat themselves: an event is often the one before it with another text. The bytes of the last such event are kept, and where
 * the next one is the same but for that one string, its op is made without reading the rest again. One more string may differ: that of
 * a member behind the text that the wire format never reads (OpenAI pads its events with `obfuscation`). This is exact: the same bytes
 * around a string that is not empty, read in the same state, do the same; the state is known to be the same because an event is learnt
 * only if it made one op and changed nothing else, and every event that is read in full forgets what was learnt before. */
enum { AGENTI_SHORTCUT_MOST = 2048, AGENTI_SHORTCUT_MISSES = 16 };
typedef struct agenti_shortcut {
    agenti_buf text;                          /* the event learnt, without its strings                                  */
    size_t before, noise;                     /* where they were, 0: nothing is learnt; noise: text.n without a second  */
    char type[32]; size_t type_n;
    agenti_op op;
    uint32_t misses;                          /* events learnt in vain, in a row: after some it is given up             */
    int off;
} agenti_shortcut;

AGENTI_FN void agenti_shortcut_init(agenti_shortcut *, agenti_pool *);
AGENTI_FN void agenti_shortcut_free(agenti_shortcut *);
/* Reads an event by the wire format, or shorter. 0: no memory                                                          */
AGENTI_FN int  agenti_shortcut_event(agenti_shortcut *, agenti_decoder *, agent_str type, agent_str data);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_SHORTCUT
typedef struct agenti_seen {                  /* what of a decoder an event may change, beside its ops                  */
    uint32_t lane_n, call_n, last_call, stream, streams, bad;
    int finish, has_usage, fault;
    uint8_t stream_kind, started, done, sourced;
    uint16_t high_text, high_args;
    int64_t uncached;
    agent_usage usage;
} agenti_seen;

AGENTI_FN void agenti_shortcut_init(agenti_shortcut *s, agenti_pool *pool)
{
    memset(s, 0, sizeof *s);
    agenti_buf_init(&s->text, pool);
}
AGENTI_FN void agenti_shortcut_free(agenti_shortcut *s) { agenti_buf_free(&s->text); }
static void agenti_seen_take(agenti_seen *s, const agenti_decoder *d)
{
    memset(s, 0, sizeof *s);
    s->lane_n = d->lane_n;
    s->call_n = d->call_n;
    s->last_call = d->last_call;
    s->stream = d->stream;
    s->streams = d->streams;
    s->bad = d->bad;
    s->finish = d->finish;
    s->has_usage = d->has_usage;
    s->fault = d->fault.fault;
    s->stream_kind = d->stream_kind;
    s->started = d->started;
    s->done = d->done;
    s->sourced = d->sourced;
    s->high_text = d->high_text;
    s->high_args = d->high_args;
    s->uncached = d->uncached;
    s->usage = d->usage;
}
/* A string value that may stand in the place of the learnt one: not empty, plain JSON, and without \u, since halves of surrogate pairs
 * have a memory of their own.                                                                                          */
static int agenti_shortcut_fits(agent_str value, uint32_t depth)
{
    const char *p = value.p, *end = value.p + value.n;
    if (value.n < 3 || value.p[value.n - 1] != '"') return 0;
    while ((p = (const char *)memchr(p, '\\', (size_t)(end - p))) != NULL) {
        if (p + 1 < end && p[1] == 'u') return 0;
        p += p + 1 < end ? 2 : 1;
    }
    return agent_json_check(value.p, value.n, depth, NULL) == AGENT_OK;
}
/* Whether `rest` begins with the learnt bytes from .. to, and what is behind them.                                     */
static int agenti_shortcut_same(const agenti_shortcut *s, agent_str *rest, size_t from, size_t to)
{
    size_t n = to - from;
    if (rest->n < n || memcmp(rest->p, s->text.p + from, n) != 0) return 0;
    *rest = agenti_str(rest->p + n, rest->n - n);
    return 1;
}
/* 1: the event was one like the learnt one, and its op is made; 0: it was not; -1: no memory                           */
static int agenti_shortcut_hit(agenti_shortcut *s, agenti_decoder *d, agent_str type, agent_str data)
{
    agent_str rest = data, value, text;
    agenti_op *op;
    size_t n;
    if (s->before == 0 || type.n != s->type_n || memcmp(type.p, s->type, type.n) != 0) return 0;
    if (!agenti_shortcut_same(s, &rest, 0, s->before) || rest.n == 0 || rest.p[0] != '"') return 0;
    AGENTI_TOUCH(data.n);
    value = agenti_str(rest.p, agenti_json_skip(rest.p, rest.n));
    rest = agenti_str(rest.p + value.n, rest.n - value.n);
    if (!agenti_shortcut_fits(value, d->depth_limit) || !agenti_shortcut_same(s, &rest, s->before, s->noise)) return 0;
    if (s->noise < s->text.n) {
        n = rest.n && rest.p[0] == '"' ? agenti_json_skip(rest.p, rest.n) : 0;
        if (n < 2 || agent_json_check(rest.p, n, d->depth_limit, NULL) != AGENT_OK) return 0;
        rest = agenti_str(rest.p + n, rest.n - n);
        if (!agenti_shortcut_same(s, &rest, s->noise, s->text.n)) return 0;
    }
    if (rest.n) return 0;
    if (!agenti_json_string(value, NULL, &d->arena, &text) || (op = agenti_op_add(d, s->op.kind, s->op.key)) == NULL) return -1;
    op->flags = s->op.flags;
    op->a = text;
    return 1;
}
/* Takes out the string of the member that is never read, if there is one. Its key with both quotes and colon stands nowhere else
 * in JSON than where it is a key.                                                                                      */
static void agenti_shortcut_noise(agenti_shortcut *s, const agenti_decoder *d)
{
    const char *key = d->wire->noise;
    size_t len = key ? strlen(key) : 0, i, n;
    s->noise = s->text.n;
    for (i = s->before; len && i + len < s->text.n; i++) {
        if (s->text.p[i] != '"' || memcmp(s->text.p + i, key, len) != 0 || s->text.p[i + len] != '"') continue;
        i += len;
        n = agenti_json_skip(s->text.p + i, s->text.n - i);
        memmove(s->text.p + i, s->text.p + i + n, s->text.n - i - n);
        s->text.n -= n;
        s->noise = i;
        return;
    }
}
/* data is the event as it came, before its string was decoded in place at op->a.                                       */
static void agenti_shortcut_learn(agenti_shortcut *s, const agenti_decoder *d, agent_str type, agent_str data, size_t at)
{
    size_t n = agenti_json_skip(data.p + at, data.n - at);
    if (!agenti_shortcut_fits(agenti_str(data.p + at, n), d->depth_limit)) return;
    memcpy(s->type, type.p, type.n);
    s->type_n = type.n;
    s->op = d->ops[0];
    s->before = at;
    memmove(s->text.p + at, s->text.p + at + n, data.n - at - n);             /* data is s->text                        */
    s->text.n = data.n - n;
    agenti_shortcut_noise(s, d);
}
AGENTI_FN int agenti_shortcut_event(agenti_shortcut *s, agenti_decoder *d, agent_str type, agent_str data)
{
    agenti_seen was, is;
    size_t at;
    int rc;
    if (s->off || d->op_n) return d->wire->event(d, type, data);
    rc = agenti_shortcut_hit(s, d, type, data);
    if (rc > 0) s->misses = 0;
    if (rc != 0) return rc > 0;
    if (s->before && ++s->misses == AGENTI_SHORTCUT_MISSES) s->off = 1;
    s->before = 0;
    s->text.n = 0;
    if (data.n > AGENTI_SHORTCUT_MOST || type.n > sizeof s->type) return d->wire->event(d, type, data);
    agenti_buf_add(&s->text, data.p, data.n);
    agenti_seen_take(&was, d);
    if (s->text.bad || !d->wire->event(d, type, data)) return 0;
    agenti_seen_take(&is, d);
    if (d->op_n != 1 || memcmp(&was, &is, sizeof is) != 0) return 1;
    if (d->ops[0].kind != AGENTI_OP_TEXT && d->ops[0].kind != AGENTI_OP_REASONING && d->ops[0].kind != AGENTI_OP_ARGS) return 1;
    if (d->ops[0].a.p <= data.p || d->ops[0].a.p >= data.p + data.n) return 1;        /* not decoded in place          */
    at = (size_t)(d->ops[0].a.p - data.p) - 1;
    if (s->text.p[at] == '"') agenti_shortcut_learn(s, d, type, agenti_str(s->text.p, s->text.n), at);
    return 1;
}
#endif
