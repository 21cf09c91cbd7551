/* What hosts of OpenAI chat want back of an answer, and in which member: OpenRouter `reasoning_details` (wire-quirks D4), Copilot
 * `reasoning_opaque` (D13), Gemini's compatible endpoint `extra_content` of calls (D12), DeepSeek and its like `reasoning_content` (D1).
 * A reasoning part's data is `[` and what came beside its text, as JSON objects with commas between. */
#ifndef AGENT_NO_OPENAI_CHAT
AGENTI_FN int  agenti_details_add(agenti_decoder *, agent_str list);             /* of a delta, with their text. 0: no memory */
AGENTI_FN int  agenti_details_text(agent_str list);                              /* has one of them text?               */
AGENTI_FN int  agenti_opaque_add(agenti_decoder *, agent_str value);             /* a JSON string. 0: no memory         */
AGENTI_FN void agenti_reasoning_out(agenti_buf *, agenti_request *, const agenti_msg *);      /* members of an assistant message */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_OPENAI_REPLAY
static void agenti_reasoning_texts_out(agenti_buf *b, const agenti_msg *m, const char *key)
{
    uint32_t i;
    agenti_json_member_str(b, key, agenti_str(NULL, 0));
    for (i = 0; i < m->n; i++) if (m->parts[i].kind == AGENT_PART_REASONING) agenti_json_quote_more(b, agenti_text_view(&m->parts[i].text));
}
#ifdef AGENT_NO_OPENAI_REPLAY
AGENTI_FN int agenti_details_add(agenti_decoder *d, agent_str list) { (void)d; (void)list; return 1; }
AGENTI_FN int agenti_details_text(agent_str list) { (void)list; return 0; }
AGENTI_FN int agenti_opaque_add(agenti_decoder *d, agent_str value) { (void)d; (void)value; return 1; }
static void agenti_reasoning_data_out(agenti_buf *b, const agenti_msg *m) { (void)b; (void)m; }
#else
/* Keeps a fragment with the reasoning that is open, or with an empty one.                                              */
static int agenti_detail_keep(agenti_decoder *d, const char *open, agent_str members)
{
    agenti_op *op;
    char *p;
    size_t n = strlen(open);
    if (d->stream && d->stream_kind != AGENTI_OP_REASONING && !agenti_stream_end(d)) return 0;
    if (d->stream == 0) {
        d->stream = ++d->streams;
        d->stream_kind = AGENTI_OP_REASONING;
        d->stream_data = 0;
        if (agenti_op_add(d, AGENTI_OP_REASONING, d->stream) == NULL) return 0;
    }
    if ((p = agenti_arena_get(&d->arena, members.n + n + 2)) == NULL || (op = agenti_op_add(d, AGENTI_OP_DATA, d->stream)) == NULL) return 0;
    p[0] = d->stream_data ? ',' : '[';
    memcpy(p + 1, open, n);
    memcpy(p + 1 + n, members.p, members.n);
    p[1 + n + members.n] = '}';
    op->a = agenti_str(p, members.n + n + 2);
    AGENTI_TOUCH(members.n);
    d->stream_data = 1;
    return 1;
}
/* An object's members without the text: what stands in the part already.                                               */
static int agenti_detail_fragment(agenti_decoder *d, agent_str item)
{
    agent_str key, value, out;
    size_t pos = 0, n = 0;
    char *p = agenti_arena_get(&d->arena, item.n);
    if (p == NULL) return 0;
    while (agent_json_each(item, &pos, &key, &value)) {
        if (agenti_eq(key, "text") || agenti_eq(key, "summary") || agenti_eq(value, "null")) continue;
        if (n) p[n++] = ',';
        p[n++] = '"';
        memcpy(p + n, key.p, key.n);
        n += key.n;
        p[n++] = '"';
        p[n++] = ':';
        memcpy(p + n, value.p, value.n);
        n += value.n;
    }
    return agenti_raw_of(d, agenti_str(p, n), &out) && agenti_detail_keep(d, "{", out);
}
static agent_str agenti_detail_words(agent_str item)         /* its text or summary                                     */
{
    agent_str text = agent_json_get(item, "text");
    return agenti_nonempty(text) ? text : agent_json_get(item, "summary");
}
AGENTI_FN int agenti_details_text(agent_str list)
{
    agent_str item;
    size_t pos = 0;
    while (agent_json_each(list, &pos, NULL, &item)) if (agenti_is_object(item) && agenti_nonempty(agenti_detail_words(item))) return 1;
    return 0;
}
/* Fragments of one index are one thought; each but the first brings nothing but text, or the signature at last.        */
AGENTI_FN AGENTI_NOINLINE int agenti_details_add(agenti_decoder *d, agent_str list)
{
    agent_str item, words;
    size_t pos = 0;
    int64_t index;
    while (agent_json_each(list, &pos, NULL, &item)) {
        if (!agenti_is_object(item)) continue;
        words = agenti_detail_words(item);
        index = agent_json_int(agent_json_get(item, "index"), 0);
        if (d->stream && d->stream_kind == AGENTI_OP_REASONING && d->stream_data && index != d->stream_index && !agenti_stream_end(d)) return 0;
        if (d->stream == 0 || d->stream_kind != AGENTI_OP_REASONING || !d->stream_data || agenti_nonempty(agent_json_get(item, "signature"))
            || agenti_nonempty(agent_json_get(item, "data"))) {
            if (!agenti_detail_fragment(d, item)) return 0;
            d->stream_index = index;
        }
        if (!agenti_stream_add(d, AGENTI_OP_REASONING, words, 0)) return 0;
    }
    return 1;
}
AGENTI_FN int agenti_opaque_add(agenti_decoder *d, agent_str value)
{
    agent_str raw;
    return !agenti_nonempty(value) || (agenti_raw_of(d, value, &raw) && agenti_detail_keep(d, "{\"reasoning_opaque\":", raw));
}

/* ---- back again ---- */
typedef struct agenti_detail { agent_str type, id, format, index, signature; } agenti_detail;       /* the last of each that came */
static void agenti_detail_take(agenti_detail *t, agent_str item)
{
    static const char *const keys[] = { "type", "id", "format", "index", "signature" };
    agent_str *to[5], v;
    int i;
    to[0] = &t->type; to[1] = &t->id; to[2] = &t->format; to[3] = &t->index; to[4] = &t->signature;
    for (i = 0; i < 5; i++) if ((v = agent_json_get(item, keys[i])).n) *to[i] = v;
}
static void agenti_detail_out(agenti_buf *b, const agenti_detail *t, agent_str text)
{
    agenti_buf_str(b, "{");
    if (t->type.n) agenti_json_member(b, "type", t->type);
    agenti_json_member_str(b, agent_json_is(t->type, "reasoning.summary") ? "summary" : "text", text);
    if (t->signature.n) agenti_json_member(b, "signature", t->signature);
    if (t->id.n) agenti_json_member(b, "id", t->id);
    if (t->format.n) agenti_json_member(b, "format", t->format);
    if (t->index.n) agenti_json_member(b, "index", t->index);
    agenti_buf_str(b, "}");
}
/* The details of one part. list: its fragments.                                                                        */
static AGENTI_NOINLINE void agenti_details_out(agenti_buf *b, agent_str list, agent_str text)
{
    agenti_detail t;
    agent_str item;
    size_t pos = 0;
    memset(&t, 0, sizeof t);
    while (agent_json_each(list, &pos, NULL, &item)) if (agent_json_get(item, "data").n == 0) agenti_detail_take(&t, item);
    if (text.n || t.signature.n) {
        agenti_json_comma(b);
        agenti_detail_out(b, &t, text);
    }
    pos = 0;
    while (agent_json_each(list, &pos, NULL, &item)) if (agent_json_get(item, "data").n) {
        agenti_json_comma(b);
        agenti_buf_add(b, item.p, item.n);
    }
}
/* reasoning_details of all parts are one list; an opaque one has its text beside.                                      */
static void agenti_reasoning_data_out(agenti_buf *b, const agenti_msg *m)
{
    agenti_buf list;
    agent_str opaque = agenti_str(NULL, 0), v;
    uint32_t i;
    int open = 0;
    agenti_buf_init(&list, b->pool);
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        if (p->kind != AGENT_PART_REASONING || p->data.n == 0) continue;
        list.n = 0;
        agenti_buf_add(&list, p->data.p, p->data.n);
        agenti_buf_str(&list, "]");
        if (list.bad || agent_json_check(list.p, list.n, 0, NULL) != AGENT_OK) continue;       /* a host's own data      */
        v = agent_json_get(agenti_str(list.p, list.n), "[0].reasoning_opaque");
        if (v.n) {
            opaque = agenti_str(p->data.p + (v.p - list.p), v.n);
            continue;
        }
        agenti_buf_str(b, open ? "" : ",\"reasoning_details\":[");
        open = 1;
        agenti_details_out(b, agenti_str(list.p, list.n), agenti_text_view(&p->text));
    }
    b->bad |= list.bad;
    agenti_buf_free(&list);
    if (open) agenti_buf_str(b, "]");
    if (opaque.n == 0) return;
    agenti_json_member(b, "reasoning_opaque", opaque);
    agenti_reasoning_texts_out(b, m, "reasoning_text");
}
#endif
AGENTI_FN AGENTI_NOINLINE void agenti_reasoning_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    int own = m->model == r->model, has = 0, data = 0;
    uint32_t i;
    for (i = 0; i < m->n; i++) if (m->parts[i].kind == AGENT_PART_REASONING) {
        has = 1;
        data |= m->parts[i].data.n > 0;
    }
    if (!own && (data || (has && (r->dialect & AGENT_DIALECT_REASONING_CONTENT)))) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING);
    if (own && data) agenti_reasoning_data_out(b, m);
    if (!(r->dialect & AGENT_DIALECT_REASONING_CONTENT)) return;
    if (own) agenti_reasoning_texts_out(b, m, "reasoning_content");
    else agenti_json_member_str(b, "reasoning_content", agenti_str(NULL, 0));
}
#endif
#endif
