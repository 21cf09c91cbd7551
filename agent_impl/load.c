/* A saved session read back. Nobody vouches for the bytes: whatever they say, the session is one that could have come about, or empty. */
#ifndef AGENT_NO_SAVE
AGENTI_FN void agenti_interrupt(agenti_session *);            /* what is in flight ends as it would by a load           */
#endif

/* What the public calls of the same names do; the calls themselves are in record.c.                                     */
#ifndef AGENT_NO_SAVE
AGENTI_FN int agenti_do_load(agent_engine *e, agent_id id, const void *bytes, size_t n);
#endif

#if (!defined AGENTI_SPLIT || defined AGENTI_PART_LOAD) && !defined AGENT_NO_SAVE
/* ---- faults ---- */
static int agenti_load_bad(agenti_session *s, const char *why)
{
    agent_engine *e = s->e;
    char *p = e->last_text;
    size_t n = strlen(why), most = sizeof e->last_text - 48;
    if (n > most) n = most;
    memcpy(p, why, n);
    memcpy(p + n, ", in the line at byte ", 22);
    n += 22;
    n += agenti_u64_text(s->load ? s->load->at : 0, p + n);
    p[n] = 0;
    return agenti_say(e, AGENT_E_FORMAT, p);
}
static void agenti_msgs_drop(agenti_session *s, size_t from, size_t to)
{
    size_t i;
    for (i = from; i < to; i++) agenti_msg_free(&s->pool, s->table.msgs[i], &s->e->graves);
    if (to > from) memmove(s->table.msgs + from, s->table.msgs + to, (s->table.n - to) * sizeof *s->table.msgs);
    s->table.n -= to - from;
}
/* As it was before the load, but for its options.                                                                      */
static int agenti_load_undo(agenti_session *s, int rc)
{
    agenti_item *it;
    if (s->answer.results && !s->answer.results->ended) agenti_msg_free(&s->pool, s->answer.results, &s->e->graves);
    s->answer.results = s->answer.msg = NULL;
    agenti_answer_begin(s);
    agenti_msgs_drop(s, 0, s->table.n);
    while ((it = s->first) != NULL) { agenti_item_unlink(s, it); agenti_item_free(s, it); }
    agenti_item_free(s, s->item);
    s->item = s->untold = NULL;
    memset(&s->nums, 0, sizeof s->nums);
    s->state = AGENTI_S_IDLE;
    s->seq = 0;
    s->items = 0;
    s->running = s->cancel = s->cancelling = s->checkpoint = s->news = s->torn = 0;
    s->cut = 0;
    s->export_left = s->left_out = 0;
    agenti_kept_free(s);
    s->imported = NULL;
    s->old_log = 1;
    agenti_loader_free(s);
    return rc;
}

/* ---- values: OK, E_NOMEM, or E_FORMAT ---- */
static int agenti_get_text(agenti_session *s, agenti_text *t, agent_str v)
{
    size_t n;
    char *p;
    if (v.n == 0 || v.p[0] != '"') return agenti_load_bad(s, "a text is no string");
    n = agent_json_text(v, NULL, 0);
    if (n > UINT32_MAX - 3 || (p = agenti_blob_get(&s->pool, n + 3)) == NULL) return agenti_no_memory(s->e);
    agent_json_text(v, p, n + 1);
    AGENTI_TOUCH(v.n);
    agenti_text_free(t, &s->e->graves);
    t->p = p;
    t->n = n;
    return AGENT_OK;
}
static int agenti_get_field(agenti_session *s, const agenti_saved *f, void *of, agent_str v)
{
    static const int64_t most[] = { 0, UINT8_MAX, UINT16_MAX, UINT32_MAX, INT64_MAX - 1, INT32_MAX, INT32_MAX, INT64_MAX - 1 };
    char *p = (char *)of + f->at;
    int64_t n;
    if (f->type == AGENTI_F_TEXT) return agenti_get_text(s, (agenti_text *)(void *)p, v);
    n = agent_json_int(v, INT64_MIN);
    if (n < (f->type == AGENTI_F_I64 ? -1 : 0) || n > most[f->type]) return agenti_load_bad(s, "a number is none, or out of its range");
    switch (f->type) {
    case AGENTI_F_U8: *(uint8_t *)(void *)p = (uint8_t)n; break;
    case AGENTI_F_U16: *(uint16_t *)(void *)p = (uint16_t)n; break;
    case AGENTI_F_U32: *(uint32_t *)(void *)p = (uint32_t)n; break;
    case AGENTI_F_INT: *(int *)(void *)p = (int)n; break;
    case AGENTI_F_SIZE: *(size_t *)(void *)p = (size_t)n; break;
    default: *(int64_t *)(void *)p = n;       /* and a U64 that is as small                                              */
    }
    return AGENT_OK;
}
static int agenti_get_fields(agenti_session *s, int which, void *of, agent_str object)
{
    agenti_saved_list t = agenti_saved_of(which);
    agent_str key, v;
    size_t pos = 0, i, hint = 0;
    int rc = AGENT_OK;
    if (object.n && !agenti_is_object(object)) return agenti_load_bad(s, "an object is none");
    while (rc == AGENT_OK && agent_json_each(object, &pos, &key, &v)) {
        for (i = 0; i < t.n && !agenti_eq(key, t.p[(i + hint) % t.n].key); i++) {}
        if (i == t.n) continue;               /* they come in the order of the table                                    */
        hint = (i + hint) % t.n;
        rc = agenti_get_field(s, &t.p[hint], of, v);
        hint++;
    }
    return rc;
}
/* What is not told is 0.                                                                                               */
static void agenti_fields_clear(int which, void *of)          /* texts stay                                             */
{
    static const uint8_t size[] = { 0, sizeof(uint8_t), sizeof(uint16_t), sizeof(uint32_t), sizeof(uint64_t), sizeof(size_t), sizeof(int), sizeof(int64_t) };
    agenti_saved_list t = agenti_saved_of(which);
    size_t i;
    for (i = 0; i < t.n; i++) memset((char *)of + t.p[i].at, 0, size[t.p[i].type]);
}
static int agenti_is_json(const agenti_session *s, const agenti_text *t)
{
    return t->n == 0 || agent_json_check(t->p, t->n, s->e->lim.depth, NULL) == AGENT_OK;
}

/* Members of an object, without its braces: text has room for them.                                                    */
static int agenti_is_members(const agenti_session *s, agenti_text *t)
{
    int good;
    if (t->n == 0) return 1;
    memmove(t->p + 1, t->p, t->n);
    t->p[0] = '{';
    t->p[t->n + 1] = '}';
    good = agent_json_check(t->p, t->n + 2, s->e->lim.depth, NULL) == AGENT_OK;
    memmove(t->p, t->p + 1, t->n);
    t->p[t->n] = 0;
    return good;
}

/* ---- messages ---- */
static const char *agenti_part_fault(agenti_session *s, int role, agenti_part *p, int whole)
{
    agent_part view;
    agenti_part_view(p, &view);
    if (p->kind > AGENT_PART_OTHER) return "a part of an unknown kind";
    if (role == AGENT_TOOLS ? p->kind != AGENT_PART_RESULT : p->kind == AGENT_PART_RESULT) return "results, and only they, are in a tools message";
    if (role == AGENT_USER && (p->kind == AGENT_PART_CALL || p->kind == AGENT_PART_REASONING)) return "a part of this kind does not belong there";
    if (agenti_is_media(p->kind) && (view.text.n || view.uri.n) && agenti_media_check(&view)) return "a file that is none";
    if (p->kind == AGENT_PART_CALL && (p->wire_id.n == 0 || (whole && p->name.n == 0))) return "a call needs wire_id and name";
    if (p->kind == AGENT_PART_OTHER && !agenti_is_json(s, &p->text)) return "a provider's own block is no JSON";
    if (!agenti_is_members(s, &p->more) || !agenti_is_members(s, &p->inner)) return "kept members that are no JSON";
    if (p->shown > p->text.n || (p->shown < p->text.n && ((unsigned char)p->text.p[p->shown] & 0xC0) == 0x80)) return "more of a text was shown than there is";
    return NULL;
}
static void agenti_call_check(const agenti_session *s, agenti_part *p)
{
    if (p->kind != AGENT_PART_CALL || (p->flags & AGENT_PART_INVALID)) return;
    if (p->text.n == 0 || p->text.p[0] != '{' || agent_json_check(p->text.p, p->text.n, s->e->lim.depth, NULL) != AGENT_OK) p->flags |= AGENT_PART_INVALID;
}
static int agenti_get_part(agenti_session *s, agenti_msg *m, agent_str v, int whole)
{
    agenti_part *p = agenti_part_new(&s->pool, m, AGENT_PART_TEXT);
    const char *why;
    int rc;
    if (p == NULL) return agenti_no_memory(s->e);
    if ((rc = agenti_get_fields(s, AGENTI_FIELDS_PART, p, v)) != AGENT_OK) return rc;
    if ((why = agenti_part_fault(s, m->role, p, whole)) != NULL) return agenti_load_bad(s, why);
    if (p->kind == AGENT_PART_RESULT && whole) p->state = AGENTI_CALL_SETTLED;
    if (whole) agenti_call_check(s, p);
    if (p->kind == AGENT_PART_RESULT) p->tool = AGENT_OFF;
    return AGENT_OK;
}
/* The chain of a message's calls that the provider runs: each index below the one before.                              */
static int agenti_waits_good(const agenti_msg *m)
{
    uint32_t at = m->waits, k;
    for (; at; at = k) {
        if (at > m->n || m->parts[at - 1].kind != AGENT_PART_OTHER) return 0;
        if ((k = m->parts[at - 1].key) >= at) return 0;
    }
    return 1;
}
static int agenti_get_msg_of(agenti_session *s, agenti_msg *m, agent_str v, int whole)
{
    agent_str parts = agent_json_get(v, "parts"), wire = agent_json_get(v, "wire"), part;
    size_t pos = 0;
    char name[32];
    int rc = agenti_get_fields(s, AGENTI_FIELDS_MSG, m, v);
    if (rc != AGENT_OK) return rc;
    if (m->role > AGENT_TOOLS || !agenti_is_members(s, &m->more)) return agenti_load_bad(s, "a message of no role, or with members that are no JSON");
    if (wire.n && agent_json_text(wire, name, sizeof name) < sizeof name) m->wire = agenti_wire_find(agenti_cstr(name));
    if (parts.n && parts.p[0] != '[') return agenti_load_bad(s, "a message's parts are no list");
    while (agent_json_each(parts, &pos, NULL, &part)) if ((rc = agenti_get_part(s, m, part, whole)) != AGENT_OK) return rc;
    if (whole && m->n == 0 && m->role != AGENT_MODEL) return agenti_load_bad(s, "a message without parts");
    if (!agenti_waits_good(m)) return agenti_load_bad(s, "calls of the provider that are none");
    m->ended = (uint8_t)whole;
    return AGENT_OK;
}
static int agenti_get_msg(agenti_session *s, agent_str v, int whole, agenti_msg **out)
{
    agenti_msg *m = agenti_msg_new(&s->pool, AGENT_USER);
    int rc = m ? agenti_get_msg_of(s, m, v, whole) : agenti_no_memory(s->e);
    if (rc == AGENT_OK) { *out = m; return rc; }
    agenti_msg_free(&s->pool, m, &s->e->graves);
    return rc;
}
static int agenti_calls_match(const agenti_msg *calls, const agenti_msg *results)
{
    uint32_t i, k = 0;
    for (i = 0; i < calls->n; i++) {
        const agenti_part *c = &calls->parts[i], *r;
        if (c->kind != AGENT_PART_CALL) continue;
        if (k == results->n) return 0;
        r = &results->parts[k];
        if (r->call != c->call || r->wire_id.n != c->wire_id.n || memcmp(r->wire_id.p, c->wire_id.p, c->wire_id.n)) return 0;
        k++;
    }
    return k == results->n && k > 0;
}
static int agenti_calls_in(const agenti_msg *m)
{
    uint32_t i;
    for (i = 0; i < m->n; i++) if (m->parts[i].kind == AGENT_PART_CALL) return 1;
    return 0;
}
/* Calls are followed by their results, and only they are; at the end they may wait.                                    */
static int agenti_table_good(const agenti_session *s)
{
    size_t i;
    for (i = 0; i < s->table.n; i++) {
        const agenti_msg *m = s->table.msgs[i], *before = i ? s->table.msgs[i - 1] : NULL;
        if (m->role == AGENT_TOOLS ? before == NULL || before->role != AGENT_MODEL || !agenti_calls_match(before, m)
                                   : before && before->role == AGENT_MODEL && agenti_calls_in(before)) return 0;
    }
    return 1;
}

/* ---- lines ---- */
static int agenti_load_msg(agenti_session *s, agent_str v)
{
    agenti_loader *l = s->load;
    size_t n = s->table.n > l->sealed ? s->table.n : l->drops ? l->drop : s->table.n;
    agenti_msg *m;
    int rc;
    if (!agenti_table_room(&s->table, 1)) return agenti_no_memory(s->e);
    if ((rc = agenti_get_msg(s, v, 1, &m)) != AGENT_OK) return rc;
    if (m->id == 0 || (n && m->id <= s->table.msgs[n - 1]->id)) {
        agenti_msg_free(&s->pool, m, &s->e->graves);
        return agenti_load_bad(s, "the messages' numbers do not rise");
    }
    agenti_table_add(&s->table, m);
    l->torn = 1;
    return AGENT_OK;
}
static int agenti_load_keep(agenti_session *s, int64_t last)
{
    agenti_loader *l = s->load;
    size_t i;
    if (s->table.n > l->sealed || last < 0) return agenti_load_bad(s, "a save cuts before it adds");
    for (i = l->drops ? l->drop : s->table.n; i > 0 && s->table.msgs[i - 1]->id > last; i--) {}
    l->drop = i;
    l->drops = l->torn = 1;
    return AGENT_OK;
}
/* What a save has added counts from its state line on.                                                                 */
static int agenti_load_seal(agenti_session *s, agent_str state)
{
    agenti_loader *l = s->load;
    if (!agenti_is_object(state)) return agenti_load_bad(s, "the state is no object");
    if (!agenti_text_set(&l->state, &s->pool, &s->e->graves, state)) return agenti_no_memory(s->e);
    if (l->drops) agenti_msgs_drop(s, l->drop, l->sealed);
    l->sealed = s->table.n;
    if (l->new_options.n) {
        agenti_text_free(&l->options, &s->e->graves);
        l->options = l->new_options;
        memset(&l->new_options, 0, sizeof l->new_options);
    }
    l->drops = l->torn = 0;
    return AGENT_OK;
}
static AGENTI_NOINLINE int agenti_load_line(agenti_session *s, const char *p, size_t n)
{
    agenti_loader *l = s->load;
    agent_str line = agenti_trim(agenti_str(p, n)), key, v;
    size_t pos = 0;
    int64_t version;
    if (line.n == 0) return AGENT_OK;
    if (agent_json_check(line.p, line.n, 16, NULL) != AGENT_OK || !agenti_is_object(line)) return agenti_load_bad(s, "a line is no JSON object");
    if (!agent_json_each(line, &pos, &key, &v)) return AGENT_OK;
    if (agenti_eq(key, "agent.h")) {
        version = agent_json_int(v, 0);
        if (version < 1) return agenti_load_bad(s, "this is no saved session");
        if (version > AGENTI_SAVE_VERSION) return agenti_load_bad(s, "this session was saved by a newer version");
        l->head = 1;
        agenti_msgs_drop(s, l->sealed, s->table.n);
        agenti_text_free(&l->new_options, &s->e->graves);
        l->drops = 0;
        return agenti_load_keep(s, 0);        /* it begins anew                                                          */
    }
    if (!l->head) return agenti_load_bad(s, "this is no saved session");
    if (agenti_eq(key, "keep")) return agenti_load_keep(s, agent_json_int(v, -1));
    if (agenti_eq(key, "msg")) return agenti_load_msg(s, v);
    if (agenti_eq(key, "state")) return agenti_load_seal(s, v);
    l->torn = 1;
    if (!agenti_eq(key, "options")) return AGENT_OK;
    return agenti_text_set(&l->new_options, &s->pool, &s->e->graves, line) ? AGENT_OK : agenti_no_memory(s->e);
}

/* ---- the state ---- */
static int agenti_key_good(agent_str key)                     /* a string as JSON has it, without its quotes              */
{
    char tmp[256 + 3];
    if (key.n > 256) return 0;
    tmp[0] = '"';
    memcpy(tmp + 1, key.p, key.n);
    tmp[key.n + 1] = '"';
    return agent_json_check(tmp, key.n + 2, 1, NULL) == AGENT_OK;
}
static int agenti_load_kept(agenti_session *s, agent_str list)
{
    size_t pos = 0, n = 0, i = 0;
    agent_str v;
    int rc = AGENT_OK;
    while (agent_json_each(list, &pos, NULL, &v)) n++;
    if (n == 0) return AGENT_OK;
    if (n > 65536 || (s->kept = (agenti_kept *)agenti_get(&s->pool, n * sizeof *s->kept)) == NULL) return agenti_no_memory(s->e);
    s->kept_n = (uint32_t)n;
    for (pos = 0; rc == AGENT_OK && agent_json_each(list, &pos, NULL, &v); i++) {
        rc = agenti_get_fields(s, AGENTI_FIELDS_KEPT, &s->kept[i], v);
        if (rc == AGENT_OK && (!agenti_is_json(s, &s->kept[i].value) || (s->kept[i].value.n == 0 && !s->kept[i].gone)))
            rc = agenti_load_bad(s, "a kept member is no JSON");
        if (rc == AGENT_OK && !agenti_key_good(agenti_text_view(&s->kept[i].key))) rc = agenti_load_bad(s, "a kept member's key is none");
    }
    return rc;
}
static int agenti_load_tools(agenti_session *s, agenti_toolset *to, agent_str list)
{
    size_t pos = 0, n = 0, i = 0;
    agent_str v;
    int rc = AGENT_OK;
    while (agent_json_each(list, &pos, NULL, &v)) n++;
    if (n == 0) return AGENT_OK;
    if (n > 65536 || (to->p = (agenti_tool *)agenti_get(&s->pool, n * sizeof *to->p)) == NULL) return agenti_no_memory(s->e);
    to->n = n;
    for (pos = 0; rc == AGENT_OK && agent_json_each(list, &pos, NULL, &v); i++) {
        agenti_tool *t = &to->p[i];
        rc = agenti_get_fields(s, AGENTI_FIELDS_TOOL, t, v);
        if (rc == AGENT_OK && (t->name.n == 0 || !agenti_is_json(s, &t->schema) || !agenti_is_json(s, &t->raw)))
            rc = agenti_load_bad(s, "a tool's declaration is no JSON");
    }
    return rc;
}
/* An import's tools stand for the session's; of one with the same name the host's flags and pointer stay.               */
static int agenti_load_own_tools(agenti_session *s, agent_str list)
{
    agenti_toolset t;
    size_t i, k;
    int rc;
    memset(&t, 0, sizeof t);
    if ((rc = agenti_load_tools(s, &t, list)) != AGENT_OK || t.n == 0) { agenti_toolset_free(s, &t); return rc; }
    for (i = 0; i < t.n; i++) for (k = 0; k < s->tools.n; k++) {
        if (!agenti_same(agenti_text_view(&t.p[i].name), agenti_text_view(&s->tools.p[k].name))) continue;
        t.p[i].flags = s->tools.p[k].flags;
        t.p[i].user = s->tools.p[k].user;
        t.p[i].timeout_ms = s->tools.p[k].timeout_ms;
    }
    agenti_toolset_free(s, &s->tools);
    s->tools = t;
    agenti_text_free(&s->tools_json, &s->e->graves);
    return AGENT_OK;
}
static int agenti_load_import(agenti_session *s, agent_str line)
{
    agent_str name = agent_json_get(line, "imported"), raw = agent_json_get(line, "system_raw"), lost = agent_json_get(line, "lost");
    char text[32];
    int rc = AGENT_OK;
    agenti_kept_free(s);
    s->imported = NULL;
    if (name.n == 0 || agent_json_text(name, text, sizeof text) >= sizeof text || (s->imported = agenti_wire_find(agenti_cstr(text))) == NULL) return AGENT_OK;
    if (raw.n) rc = agenti_get_text(s, &s->system_raw, raw);
    if (rc == AGENT_OK && lost.n) rc = agenti_get_text(s, &s->lost, lost);
    if (rc == AGENT_OK && !agenti_is_json(s, &s->system_raw)) rc = agenti_load_bad(s, "system messages that are no JSON");
    if (rc == AGENT_OK) rc = agenti_load_kept(s, agent_json_get(line, "kept"));
    if (rc == AGENT_OK) rc = agenti_load_tools(s, &s->foreign, agent_json_get(line, "foreign"));
    return rc == AGENT_OK ? agenti_load_own_tools(s, agent_json_get(line, "tools")) : rc;
}
static AGENTI_NOINLINE int agenti_load_options(agenti_session *s)
{
    agent_str line = agenti_text_view(&s->load->options), set = agent_json_get(line, "options"), key, v;
    agenti_text value;
    size_t pos = 0;
    int i, rc = AGENT_OK;
    memset(&value, 0, sizeof value);
    for (i = 0; set.n && i < AGENTI_OPT_COUNT; i++) if (i != AGENTI_OPT_MODEL) agenti_text_free(&s->options[i], &s->e->graves);
    while (rc == AGENT_OK && agenti_is_object(set) && agent_json_each(set, &pos, &key, &v)) {
        char name[32];
        if (key.n >= sizeof name || (rc = agenti_get_text(s, &value, v)) != AGENT_OK) continue;
        memcpy(name, key.p, key.n);
        name[key.n] = 0;
        rc = agenti_session_set(s, name, agenti_text_view(&value));
        if (rc == AGENT_E_ARG) rc = agenti_load_bad(s, "an option's value has the wrong form");
    }
    agenti_text_free(&value, &s->e->graves);
    return rc == AGENT_OK ? agenti_load_import(s, line) : rc;
}
static int agenti_load_item(agenti_session *s, agent_str v, agenti_item **out)
{
    agenti_item *it = (agenti_item *)agenti_get(&s->pool, sizeof *it);
    agent_str msg = agent_json_get(v, "msg");
    int rc;
    if (it == NULL) return agenti_no_memory(s->e);
    rc = agenti_get_fields(s, AGENTI_FIELDS_ITEM, it, v);
    if (rc == AGENT_OK && (!agenti_lane_good(it->lane) || it->num == 0 || it->num > s->items || (it->lane == AGENT_STORE && msg.n == 0)))
        rc = agenti_load_bad(s, "an item that never was");
    if (rc == AGENT_OK && msg.n) rc = agenti_get_msg(s, msg, 1, &it->msg);
    if (rc == AGENT_OK && it->msg && it->msg->role != AGENT_USER) rc = agenti_load_bad(s, "an item is the user's");
    if (rc != AGENT_OK) { agenti_item_free(s, it); return rc; }
    it->news &= AGENTI_ITEM_ADDED | AGENTI_ITEM_MOVED | AGENTI_ITEM_GONE;
    *out = it;
    return AGENT_OK;
}
static int agenti_load_queue(agenti_session *s, agent_str state)
{
    agent_str list = agent_json_get(state, "queue"), one = agent_json_get(state, "item"), v;
    agenti_item *it;
    size_t pos = 0;
    int rc;
    while (agent_json_each(list, &pos, NULL, &v)) {
        if ((rc = agenti_load_item(s, v, &it)) != AGENT_OK) return rc;
        it->prev = s->last;
        if (s->last) s->last->next = it; else s->first = it;
        s->last = it;
        if (it->news && s->untold == NULL) s->untold = it;
    }
    return one.n ? agenti_load_item(s, one, &s->item) : AGENT_OK;
}
static int agenti_load_open(agenti_session *s, agent_str list)
{
    enum { MOST = 1024 };
    agenti_answer *a = &s->answer;
    size_t pos = 0, n = 0, i;
    agent_str v;
    while (agent_json_each(list, &pos, NULL, &v)) n++;
    n /= 2;
    if (n == 0) return AGENT_OK;
    if (a->msg == NULL || n > a->msg->n || n > MOST) return agenti_load_bad(s, "more parts are open than there are");
    if ((a->open = (agenti_open *)agenti_get(&s->pool, n * sizeof *a->open)) == NULL) return agenti_no_memory(s->e);
    a->open_cap = (uint32_t)n;
    for (pos = 0; a->open_n < n && agent_json_each(list, &pos, NULL, &v); a->open_n++) {
        int64_t part = agent_json_int(v, -1), kind;
        if (!agent_json_each(list, &pos, NULL, &v)) break;
        kind = agent_json_int(v, -1);
        if (part < 0 || part >= (int64_t)a->msg->n || kind < AGENTI_OPEN_STREAM || kind > AGENTI_OPEN_RAN)
            return agenti_load_bad(s, "a part is open that is none");
        if ((a->msg->parts[part].kind == AGENT_PART_CALL) != (kind == AGENTI_OPEN_CALL)) return agenti_load_bad(s, "a part is open as what it is not");
        if ((a->msg->parts[part].kind == AGENT_PART_OTHER) != (kind == AGENTI_OPEN_RAN)) return agenti_load_bad(s, "a part is open as what it is not");
        for (i = 0; i < a->open_n; i++) if (a->open[i].part == (uint32_t)part) return agenti_load_bad(s, "a part is open twice");
        a->open[a->open_n].part = (uint32_t)part;
        a->open[a->open_n].kind = (int)kind;
        a->open[a->open_n].key = 0x40000000u + (uint32_t)part;
    }
    return AGENT_OK;
}
static agenti_msg *agenti_msg_at(const agenti_session *s, agent_str id)
{
    int64_t n = agent_json_int(id, 0);
    size_t at = n > 0 && n <= INT32_MAX ? agenti_msg_find(s, (agent_num)n) : s->table.n;
    return at < s->table.n ? s->table.msgs[at] : NULL;
}
static int agenti_load_results(agenti_session *s, agent_str v)
{
    agenti_answer *a = &s->answer;
    uint32_t i;
    int rc = agenti_get_msg(s, v, 0, &a->results);
    if (rc != AGENT_OK) return rc;
    if (a->msg == NULL || a->results->role != AGENT_TOOLS || !agenti_calls_match(a->msg, a->results))
        return agenti_load_bad(s, "results that are not those of the calls");
    for (i = 0; i < a->results->n; i++) {
        agenti_part *r = &a->results->parts[i];
        if (r->key >= a->msg->n || a->msg->parts[r->key].kind != AGENT_PART_CALL || a->msg->parts[r->key].call != r->call)
            return agenti_load_bad(s, "a result of no call");
        if (r->state > AGENTI_CALL_SETTLED || (r->state == AGENTI_CALL_NEW && s->state > AGENTI_S_MODEL_END))
            return agenti_load_bad(s, "a call is in no state");
    }
    return AGENT_OK;
}
static int agenti_load_answer(agenti_session *s, agent_str v)
{
    agenti_answer *a = &s->answer;
    agent_str msg = agent_json_get(v, "msg"), results = agent_json_get(v, "results"), raw = agent_json_get(v, "finish_raw"), fault = agent_json_get(v, "fault");
    agent_str limits = agent_json_get(v, "limits"), request = agent_json_get(v, "request_id");
    uint32_t i, k;
    int rc;
    agenti_fields_clear(AGENTI_FIELDS_USAGE, &a->d.usage);
    a->d.fault.retry_after_ms = fault.n ? 0 : -1;
    rc = agenti_get_fields(s, AGENTI_FIELDS_ANSWER, &a->d, v);
    if (rc == AGENT_OK) rc = agenti_get_fields(s, AGENTI_FIELDS_USAGE, &a->d.usage, agent_json_get(v, "usage"));
    if (rc == AGENT_OK && fault.n) rc = agenti_get_fields(s, AGENTI_FIELDS_FAULT, &a->d.fault, fault);
    if (rc == AGENT_OK && request.n) rc = agenti_get_text(s, &a->d.request_id, request);
    if (rc == AGENT_OK && limits.n) rc = agenti_get_text(s, &a->limits, limits);
    if (rc != AGENT_OK) return rc;
    if (raw.n) agent_json_text(raw, a->d.finish_raw, sizeof a->d.finish_raw);
    if (a->d.finish > AGENT_FINISH_OTHER || a->d.fault.fault > AGENT_FAULT_NOMEM) return agenti_load_bad(s, "an answer ended in no known way");
    a->msg = agenti_msg_at(s, agent_json_get(v, "of"));
    if (msg.n) {
        if (a->msg) return agenti_load_bad(s, "an answer is complete, and is not");
        if ((rc = agenti_get_msg(s, msg, 0, &a->msg)) != AGENT_OK) return rc;
        if (a->msg->role != AGENT_MODEL || (s->table.n && s->table.msgs[s->table.n - 1]->id >= a->msg->id)) {
            agenti_msg_free(&s->pool, a->msg, &s->e->graves);
            a->msg = NULL;
            return agenti_load_bad(s, "an answer is the model's, and the last message");
        }
        agenti_table_add(&s->table, a->msg);
    }
    if (a->msg && a->msg->role != AGENT_MODEL) return agenti_load_bad(s, "an answer is the model's");
    if (results.n && (rc = agenti_load_results(s, results)) != AGENT_OK) return rc;
    if (results.n == 0 && (a->results = agenti_msg_at(s, agent_json_get(v, "done"))) != NULL && a->results->role != AGENT_TOOLS) {
        a->results = NULL;
        return agenti_load_bad(s, "results are the tools'");
    }
    if ((rc = agenti_load_open(s, agent_json_get(v, "open"))) != AGENT_OK) return rc;
    for (i = 0; a->msg && !a->msg->ended && i < a->msg->n; i++) {
        for (k = 0; k < a->open_n && a->open[k].part != i; k++) {}
        if (k == a->open_n) agenti_call_check(s, &a->msg->parts[i]);             /* those that are open are checked at their end */
    }
    return AGENT_OK;
}
/* What a state stands on.                                                                                               */
static int agenti_state_good(const agenti_session *s)
{
    const agenti_answer *a = &s->answer;
    int last = s->table.n ? s->table.msgs[s->table.n - 1]->role : -1, at = s->state;
    int inside = at >= AGENTI_S_STEP && at <= AGENTI_S_NEXT;
    if (s->why > AGENT_WHY_HINT || s->finish > AGENT_FINISH_OTHER || s->cancel > AGENT_STOP_NOW || s->cancelling > AGENTI_STOPPED_TIME) return 0;
    if (at == AGENTI_S_IDLE) return !s->running && s->item == NULL;
    if (s->item && (at < AGENTI_S_TAKE || at > AGENTI_S_USER_ADD) && at != AGENTI_S_FAULT) return 0;
    if (at >= AGENTI_S_TAKE && at <= AGENTI_S_USER_ADD && s->item == NULL) return 0;
    if (at == AGENTI_S_MEND || at == AGENTI_S_MEND_ADD) return last == AGENT_MODEL && agenti_calls_open(s);
    if (at == AGENTI_S_MENDED) return last == AGENT_TOOLS;
    if (at == AGENTI_S_USER_END) return last == AGENT_USER;
    if (inside && !s->running && (s->going_on || (at != AGENTI_S_NEXT && (at != AGENTI_S_FAULT || s->item == NULL)))) return 0;      /* no memory to store it */
    if (inside && at != AGENTI_S_FAULT && at != AGENTI_S_NEXT && s->table.n == 0) return 0;
    if (at == AGENTI_S_RUN_END && !s->running) return 0;
    if (at >= AGENTI_S_SEND && at <= AGENTI_S_RETRY && !s->going_on && a->results && a->results->ended) return 0;
    if (at == AGENTI_S_TOOLS || at == AGENTI_S_RESULTS_ADD) return a->msg && a->msg->ended && a->results && !a->results->ended && last == AGENT_MODEL;
    if (at == AGENTI_S_RESULTS_END) return a->results && a->results->ended && last == AGENT_TOOLS;
    return a->results == NULL || a->results->ended || (at >= AGENTI_S_ANSWER && at <= AGENTI_S_MODEL_END);
}
static void agenti_nums_in(const agenti_msg *m, agenti_nums *n)
{
    uint32_t i;
    for (i = 0; m && i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        if (p->id > n->part) n->part = p->id;
        if (p->call > n->call) n->call = p->call;
        if (p->need > n->need) n->need = p->need;
    }
    if (m && m->id > n->msg) n->msg = m->id;
}
static void agenti_nums_given(const agenti_session *s, agenti_nums *n)          /* the highest there are                   */
{
    size_t i;
    memset(n, 0, sizeof *n);
    for (i = 0; i < s->table.n; i++) agenti_nums_in(s->table.msgs[i], n);
    agenti_nums_in(s->answer.results, n);
}
static uint64_t agenti_load_time(const agenti_session *s, agent_str v)          /* the clock is another one                */
{
    int64_t ms = agent_json_int(v, -1);
    return ms < 0 || (uint64_t)ms > UINT64_MAX - s->e->now ? UINT64_MAX : s->e->now + (uint64_t)ms;
}
static AGENTI_NOINLINE int agenti_load_state(agenti_session *s)
{
    agent_str state = agenti_text_view(&s->load->state), at = agent_json_get(state, "at"), answer = agent_json_get(state, "answer");
    enum { MOST = 0x7FFFFFFF };
    agenti_nums given;
    int rc, i;
    agenti_fields_clear(AGENTI_FIELDS_SESSION, s);
    agenti_fields_clear(AGENTI_FIELDS_USAGE, &s->usage);
    agenti_fields_clear(AGENTI_FIELDS_USAGE, &s->spent);
    rc = agenti_get_fields(s, AGENTI_FIELDS_SESSION, s, state);
    if (rc == AGENT_OK) rc = agenti_get_fields(s, AGENTI_FIELDS_NUMS, &s->nums, agent_json_get(state, "nums"));
    if (rc == AGENT_OK) rc = agenti_get_fields(s, AGENTI_FIELDS_USAGE, &s->usage, agent_json_get(state, "usage"));
    if (rc == AGENT_OK) rc = agenti_get_fields(s, AGENTI_FIELDS_USAGE, &s->spent, agent_json_get(state, "spent"));
    if (rc != AGENT_OK) return rc;
    if (!agenti_table_room(&s->table, 3)) return agenti_no_memory(s->e);         /* an answer, and its results             */
    for (i = 0; agenti_state_name(i) && !agent_json_is(at, agenti_state_name(i)); i++) {}
    if (agenti_state_name(i) == NULL) return agenti_load_bad(s, "the session is in no state");
    s->state = i;
    s->run_until = agenti_load_time(s, agent_json_get(state, "run_left_ms"));
    s->step_until = agenti_load_time(s, agent_json_get(state, "step_left_ms"));
    at = agent_json_get(state, "retry_left_ms");
    s->retry_at = at.n ? agenti_load_time(s, at) : 0;
    s->running = s->running != 0;
    if ((rc = agenti_load_queue(s, state)) != AGENT_OK) return rc;
    agenti_answer_begin(s);
    if (answer.n && (rc = agenti_load_answer(s, answer)) != AGENT_OK) return rc;
    agenti_nums_given(s, &given);
    if (s->nums.run > MOST || s->nums.step > MOST || s->nums.msg > MOST || s->nums.part > MOST || s->nums.call > MOST || s->nums.need > MOST || s->items > MOST)
        return agenti_load_bad(s, "a number is out of its range");
    if (given.part > s->nums.part || given.call > s->nums.call || given.msg > s->nums.msg || given.need > s->nums.need)
        return agenti_load_bad(s, "a number was given out that is higher than the last one");
    if (!agenti_table_good(s)) return agenti_load_bad(s, "calls are followed by their results, and only they are");
    if (!agenti_state_good(s)) return agenti_load_bad(s, "the session's state does not fit what is there");
    for (; agent_json_get(state, "waits").n == 0 && s->table.n && s->table.msgs[s->table.n - 1]->waits; agenti_waits_end(s)) {}
    return AGENT_OK;
}

/* ---- what was in flight ---- */
static void agenti_tool_interrupt(agenti_session *s, agenti_part *r)
{
    static const char note[] = "\n[Interrupted: the program that ran the tool ended.]";
    int tool = agenti_tool_find(s, agenti_call_of(s, r));
    r->tool = tool < 0 ? AGENT_OFF : (uint32_t)tool;
    if (r->state == AGENTI_CALL_WAITING && tool < 0) { agenti_tool_unknown(s, agenti_call_of(s, r), r); agenti_result_done(s, r, AGENT_DONE_ERROR); return; }
    if (r->state != AGENTI_CALL_RUNNING) return;
    r->retitled = 0;
    if (tool >= 0 && (s->tools.p[tool].flags & AGENT_TF_REPLAY_SAFE) && !r->stopped && !s->cancelling) {
        r->state = AGENTI_CALL_WAITING;
        r->flags = 0;
        agenti_text_free(&r->text, &s->e->graves);
        agenti_text_free(&r->title, &s->e->graves);
        return;
    }
    if (!agenti_text_repair(&r->text, &s->pool, &s->e->graves)) agenti_text_scrub(&r->text);
    if (r->text.n == 0) agenti_text_static(&r->text, &s->e->graves, note + 1);
    else (void)agenti_text_add(&r->text, &s->pool, &s->e->graves, agenti_str(note, sizeof note - 1));
    agenti_result_done(s, r, AGENT_DONE_INTERRUPTED);
}
AGENTI_FN void agenti_interrupt(agenti_session *s)
{
    agenti_msg *m = s->answer.results;
    uint32_t i;
    s->answer.think_key = 0;                  /* tags that had come in part                                              */
    if (s->state == AGENTI_S_ANSWER) {
        agenti_answer_break(s);
        agenti_fault_free(&s->answer.d.fault, &s->e->graves);
        agenti_text_free(&s->answer.d.request_id, &s->e->graves);
        agenti_text_free(&s->answer.limits, &s->e->graves);
        s->state = s->answer.msg ? AGENTI_S_JUDGE : AGENTI_S_SEND;
        if (s->answer.msg) agenti_run_fault(s, AGENT_FAULT_TRANSPORT, 1, "the session was saved while the answer came");
        else agenti_answer_begin(s);
        s->answer.d.fault.offset = 0;
    } else if (s->state == AGENTI_S_JUDGE && s->answer.msg == NULL && s->answer.d.fault.fault == AGENT_FAULT_AUTH) {
        agenti_answer_begin(s);               /* another key was asked for                                              */
        s->state = AGENTI_S_SEND;
    }
    for (i = 0; m && !m->ended && i < m->n; i++) agenti_tool_interrupt(s, &m->parts[i]);
    agenti_wake(&s->e->sessions, &s->ready);
}

/* ---- pieces ---- */
static int agenti_load_end(agenti_session *s)
{
    agenti_loader *l = s->load;
    int rc = AGENT_OK, torn = l->torn || l->line.n;
    if (!l->head) return agenti_load_bad(s, "this is no saved session");
    agenti_msgs_drop(s, l->sealed, s->table.n);
    if (l->options.n) rc = agenti_load_options(s);
    if (rc == AGENT_OK && l->state.n) rc = agenti_load_state(s);
    if (rc != AGENT_OK) return rc;
    agenti_loader_free(s);
    s->torn = (uint8_t)torn;
    s->old_log = 1;
    agenti_interrupt(s);
    return AGENT_OK;
}
static int agenti_load_new(agenti_session *s)
{
    if (s->state != AGENTI_S_IDLE || s->first || s->table.n || s->seq || s->nums.msg)
        return agenti_say(s->e, AGENT_E_STATE, "a load wants a session that was just opened");
    s->load = (agenti_loader *)agenti_get(&s->pool, sizeof *s->load);
    if (s->load == NULL) return agenti_no_memory(s->e);
    agenti_buf_init(&s->load->line, &s->pool);
    agenti_tools_swap(s);
    return AGENT_OK;
}
AGENTI_FN int agenti_do_load(agent_engine *e, agent_id id, const void *bytes, size_t n)
{
    agenti_session *s = agenti_session_get(e, id);
    const char *p = (const char *)bytes, *end;
    int rc;
    if (s == NULL) return agenti_stale_session(e);
    if (s->load == NULL && (rc = agenti_load_new(s)) != AGENT_OK) return rc;
    if (n == 0) {
        rc = agenti_load_end(s);
        return rc == AGENT_OK ? rc : agenti_load_undo(s, rc);
    }
    while (n) {
        agenti_loader *l = s->load;
        size_t k;
        end = (const char *)memchr(p, '\n', n);
        k = end ? (size_t)(end - p) + 1 : n;
        AGENTI_TOUCH(k);
        if (l->line.n || !end) {
            agenti_buf_add(&l->line, p, k);
            if (l->line.bad) return agenti_load_undo(s, agenti_no_memory(e));
            rc = end ? agenti_load_line(s, l->line.p, l->line.n) : AGENT_OK;
            k = end ? l->line.n : 0;
        } else rc = agenti_load_line(s, p, k);
        if (rc != AGENT_OK) return agenti_load_undo(s, rc);
        if (end) { l->line.n = 0; l->at += k; }
        k = end ? (size_t)(end - p) + 1 : n;
        p += k;
        n -= k;
    }
    return AGENT_OK;
}
#endif
