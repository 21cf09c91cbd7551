/* Messages that a host hands in: checked and copied, files brought into the one form that wire formats know:
 * base64 of a media type or a URI; plain text stays text. */
/* before: the message that will stand before it, or NULL. NULL: *rc and agent_last say why.                            */
AGENTI_FN agenti_msg *agenti_msg_from(agent_engine *, agenti_pool *, const agenti_msg *before, int role, const agent_part *, size_t n, int *rc);
AGENTI_FN const char *agenti_media_check(agent_part *);       /* of a file: why it is none, or NULL; brings its views into order */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_INTAKE
#ifdef AGENT_NO_FILES
static const char *agenti_media_check(agent_part *p) { (void)p; return NULL; }
static int agenti_is_plain(const agent_part *p) { (void)p; return 0; }
static int agenti_media_copy(agent_engine *e, agenti_pool *pool, agenti_part *q, const agent_part *p) { (void)e; (void)pool; (void)q; (void)p; return 1; }

#else
/* ---- files ---- */
static int agenti_begins(agent_str s, const char *with)                         /* ASCII case folded                    */
{
    size_t n = strlen(with);
    return s.n >= n && agenti_ieq(agenti_str(s.p, n), with);
}
static int agenti_ends(agent_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && agenti_ieq(agenti_str(s.p + s.n - n, n), with);
}
static int agenti_is_text_type(agent_str mime)
{
    return agenti_begins(mime, "text/") || agenti_ieq(mime, "application/json") || agenti_ieq(mime, "application/xml")
        || agenti_ends(mime, "+json") || agenti_ends(mime, "+xml");
}
static int agenti_is_type(agent_str mime)
{
    size_t i, slash = 0;
    for (i = 0; i < mime.n; i++) {
        unsigned char c = (unsigned char)mime.p[i];
        if (c <= ' ' || c >= 0x7F || c == '"' || c == ',' || c == '\\') return 0;
        slash += c == '/';
    }
    return slash == 1 && mime.n < 128;
}
/* data:[type][;name=value]...;base64,DATA (RFC 2397). 0: it is not of that form.                                       */
static int agenti_data_url(agent_part *p)
{
    const char *comma = (const char *)memchr(p->uri.p, ',', p->uri.n);
    agent_str head;
    if (comma == NULL) return 0;
    head = agenti_str(p->uri.p + 5, (size_t)(comma - p->uri.p) - 5);
    if (!agenti_ends(head, ";base64")) return 0;
    if (head.n > 7) p->mime = agenti_str(head.p, head.n - 7);
    p->text = agenti_str(comma + 1, p->uri.n - (size_t)(comma + 1 - p->uri.p));
    p->uri = agenti_str(NULL, 0);
    p->flags |= AGENT_PART_BASE64;
    return 1;
}
AGENTI_FN const char *agenti_media_check(agent_part *p)
{
    const char *end;
    if (agenti_begins(p->uri, "data:") && (p->text.n || !agenti_data_url(p))) return AGENTI_WHY("a data: URL is base64, and alone");
    end = (const char *)memchr(p->mime.p, ';', p->mime.n);  /* its parameters                                            */
    if (end) p->mime = agenti_trim(agenti_str(p->mime.p, (size_t)(end - p->mime.p)));
    if (p->uri.n ? p->text.n != 0 : p->text.n == 0) return AGENTI_WHY("a file has contents or a URI");
    if ((p->mime.n || p->text.n) && !agenti_is_type(p->mime)) return AGENTI_WHY("a file's contents need a MIME type");
    if ((p->flags & AGENT_PART_BASE64) && !agenti_base64_ok(p->text)) return AGENTI_WHY("that is no base64");
    if (agenti_begins(p->mime, "image/")) p->kind = AGENT_PART_IMAGE;
    else if (agenti_begins(p->mime, "audio/")) p->kind = AGENT_PART_AUDIO;
    return NULL;
}
static int agenti_is_plain(const agent_part *p) { return p->kind == AGENT_PART_FILE && agenti_is_text_type(p->mime); }
static int agenti_media_copy(agent_engine *e, agenti_pool *pool, agenti_part *q, const agent_part *p)
{
    int coded = (p->flags & AGENT_PART_BASE64) != 0, plain = agenti_is_plain(p), ok;
    agenti_buf b;
    q->flags = (uint16_t)(plain || p->text.n == 0 ? q->flags & ~AGENT_PART_BASE64 : q->flags | AGENT_PART_BASE64);
    if (p->uri.n && (!agenti_text_set(&q->uri, pool, &e->graves, p->uri) || !agenti_text_repair(&q->uri, pool, &e->graves))) return 0;
    if (p->mime.n && !agenti_text_set(&q->mime, pool, &e->graves, p->mime)) return 0;
    if (coded == !plain) return agenti_text_set(&q->text, pool, &e->graves, p->text);
    agenti_buf_init(&b, pool);
    if (plain) agenti_base64_from(&b, p->text); else agenti_base64_to(&b, p->text);
    ok = !b.bad && agenti_text_set(&q->text, pool, &e->graves, agenti_str(b.p, b.n));
    agenti_buf_free(&b);
    return ok;
}

#endif
/* ---- parts ---- */
static int agenti_calls(const agenti_msg *m, agent_str id)                      /* has it a call of this id?            */
{
    uint32_t i;
    for (i = 0; m && i < m->n; i++)
        if (m->parts[i].kind == AGENT_PART_CALL && m->parts[i].wire_id.n == id.n && memcmp(m->parts[i].wire_id.p, id.p, id.n) == 0) return 1;
    return 0;
}
/* Why the part cannot stand there, or NULL. A file's views are brought into order.                                     */
static const char *agenti_part_check(const agenti_msg *before, int role, agent_part *p)
{
    if (role == AGENT_USER && agenti_is_media(p->kind)) return agenti_media_check(p);
    if (role == AGENT_USER && p->kind != AGENT_PART_TEXT) return AGENTI_WHY("a user message has texts and files");
    if (role == AGENT_USER) return p->text.n ? NULL : AGENTI_WHY("an empty part");
    if (role == AGENT_TOOLS) {
        if (p->kind != AGENT_PART_RESULT) return AGENTI_WHY("a tools message has results");
        return agenti_calls(before, p->wire_id) ? NULL : AGENTI_WHY("a result without its call in the message before");
    }
    if (p->kind == AGENT_PART_CALL) return p->wire_id.n && p->name.n ? NULL : AGENTI_WHY("a call needs wire_id and name");
    return p->kind == AGENT_PART_TEXT || p->kind == AGENT_PART_REASONING ? NULL : AGENTI_WHY("a part of this kind does not belong there");
}
static int agenti_view_copy(agent_engine *e, agenti_pool *pool, agenti_text *to, agent_str from)
{
    return from.n == 0 || (agenti_text_set(to, pool, &e->graves, from) && agenti_text_repair(to, pool, &e->graves));
}
static int agenti_part_copy(agent_engine *e, agenti_pool *pool, agenti_msg *m, const agent_part *p)
{
    agenti_part *q = agenti_part_new(pool, m, p->kind);
    if (q == NULL) return 0;
    q->flags = (uint16_t)(p->flags & (agenti_is_media(q->kind) ? 0xFF : 0xFF & ~AGENT_PART_BASE64));
    if (agenti_is_media(q->kind) && !agenti_media_copy(e, pool, q, p)) return 0;
    if (!agenti_is_media(q->kind) && !agenti_text_set(&q->text, pool, &e->graves, p->text)) return 0;
    if (!agenti_text_repair(&q->text, pool, &e->graves) || !agenti_view_copy(e, pool, &q->name, p->name)) return 0;
    if (!agenti_view_copy(e, pool, &q->wire_id, p->wire_id) || !agenti_view_copy(e, pool, &q->data, p->data)) return 0;
    if (q->kind == AGENT_PART_CALL && (q->text.n == 0 || q->text.p[0] != '{' || agent_json_check(q->text.p, q->text.n, e->lim.depth, NULL) != AGENT_OK))
        q->flags |= AGENT_PART_INVALID;
    return 1;
}
/* A host's part whose views may be those of a zeroed one.                                                              */
static agent_part agenti_part_given(const agent_part *p)
{
    agent_part q = *p;
    q.text = agenti_str(p->text.p, p->text.n);
    q.name = agenti_str(p->name.p, p->name.n);
    q.mime = agenti_str(p->mime.p, p->mime.n);
    q.uri = agenti_str(p->uri.p, p->uri.n);
    q.wire_id = agenti_str(p->wire_id.p, p->wire_id.n);
    q.data = agenti_str(p->data.p, p->data.n);
    return q;
}
/* The room that a part takes: bytes become base64.                                                                     */
static size_t agenti_part_size(const agent_part *p)
{
    int grows = agenti_is_media(p->kind) && !(p->flags & AGENT_PART_BASE64) && !agenti_is_plain(p);
    return grows && p->text.n < (size_t)-1 / 2 ? (p->text.n + 2) / 3 * 4 : p->text.n;
}
AGENTI_FN agenti_msg *agenti_msg_from(agent_engine *e, agenti_pool *pool, const agenti_msg *before, int role, const agent_part *parts, size_t n, int *rc)
{
    agenti_msg *m;
    agent_part part;
    const char *why;
    size_t i, left = e->lim.item, size;
    *rc = AGENT_E_ARG;
    for (i = 0; i < n; i++) {
        part = agenti_part_given(&parts[i]);
        if ((why = agenti_part_check(before, role, &part)) != NULL) { e->last = why; return NULL; }
        if ((size = agenti_part_size(&part)) > left || part.uri.n > left - size) {
            *rc = agenti_say(e, AGENT_E_LIMIT, "the message is longer than limits.item");
            return NULL;
        }
        left -= size + part.uri.n;
    }
    *rc = agenti_say(e, AGENT_E_NOMEM, "out of memory");
    if ((m = agenti_msg_new(pool, role)) == NULL) return NULL;
    for (i = 0; i < n; i++) {
        part = agenti_part_given(&parts[i]);
        (void)agenti_part_check(before, role, &part);
        if (!agenti_part_copy(e, pool, m, &part)) { agenti_msg_free(pool, m, &e->graves); return NULL; }
    }
    m->ended = 1;
    return m;
}
#endif
