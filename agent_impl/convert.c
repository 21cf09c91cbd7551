/* Conversations in and out of a session: a request body of any format becomes its table, and its table such a body. */
#ifndef AGENT_NO_IMPORT
/* What the public calls of the same names do; the calls themselves are in record.c.                                     */
AGENTI_FN int agenti_do_import(agent_engine *e, agent_id id, const char *wire, const char *json, size_t n, agent_json_error *err);
AGENTI_FN int agenti_do_export(agent_engine *e, agent_id id, const char *wire, agent_str *out);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_CONVERT
/* ---- in ---- */
/* What is wrong is said where the caller sees it; a failure without a reason is the allocator's.                       */
static int agenti_import_fault(agent_engine *e, const agenti_import *im, agent_str json, agent_json_error *err)
{
    if (im->why == NULL) return agenti_say(e, AGENT_E_NOMEM, "out of memory");
    if (err) {
        err->offset = im->at >= json.p && im->at <= json.p + json.n ? (size_t)(im->at - json.p) : 0;
        err->why = im->why;
    }
    return agenti_say(e, im->limit ? AGENT_E_LIMIT : AGENT_E_ARG, im->why);
}
/* The tools of another format that the peer's requests can have: functions, not as they were declared.                 */
static int agenti_tools_convert(agenti_session *s, const agenti_import *im, agenti_toolset *to)
{
    uint32_t i;
    size_t n = 0;
    agenti_tool *q;
    for (i = 0; i < im->tool_n; i++) n += !(im->tools[i].flags & AGENT_TF_RAW);
    if (n == 0) return 1;
    if ((q = to->p = (agenti_tool *)agenti_get(&s->pool, n * sizeof *q)) == NULL) return 0;
    to->n = n;
    for (i = 0; i < im->tool_n; i++) {
        const agenti_tool *t = &im->tools[i];
        if (t->flags & AGENT_TF_RAW) continue;
        if (!agenti_text_set(&q->name, &s->pool, NULL, agenti_text_view(&t->name))) return 0;
        if (!agenti_text_set(&q->schema, &s->pool, NULL, agenti_text_view(&t->schema))) return 0;
        if (t->description.n && !agenti_text_set(&q->description, &s->pool, NULL, agenti_text_view(&t->description))) return 0;
        q++;
    }
    return 1;
}
/* Lists of an import are as long as they have to be, no memory is needed then.                                         */
static int agenti_import_trim(agenti_import *im)
{
    agenti_tool *t = im->tools;
    agenti_kept *k = im->kept;
    if (im->tool_n < im->tool_cap && im->tool_n) {
        if ((t = (agenti_tool *)agenti_resize(im->pool, t, im->tool_cap * sizeof *t, im->tool_n * sizeof *t)) == NULL) return 0;
        im->tools = t;
        im->tool_cap = im->tool_n;
    }
    if (im->kept_n < im->kept_cap && im->kept_n) {
        if ((k = (agenti_kept *)agenti_resize(im->pool, k, im->kept_cap * sizeof *k, im->kept_n * sizeof *k)) == NULL) return 0;
        im->kept = k;
        im->kept_cap = im->kept_n;
    }
    return 1;
}
static void agenti_import_number(agenti_session *s, uint32_t model)
{
    size_t i;
    uint32_t k;
    for (i = 0; i < s->table.n; i++) {
        agenti_msg *m = s->table.msgs[i];
        m->id = ++s->nums.msg;
        m->model = model;
        for (k = 0; k < m->n; k++) {
            agenti_part *p = &m->parts[k];
            p->id = ++s->nums.part;
            if (p->kind == AGENT_PART_CALL) p->call = ++s->nums.call;
            if (p->kind == AGENT_PART_RESULT && i) p->call = s->table.msgs[i - 1]->parts[p->key].call;
        }
    }
}
/* All that was read becomes the session's; nothing can fail any more.                                                  */
static void agenti_import_commit(agenti_session *s, agenti_import *im, agenti_toolset *converted, agenti_text *system_raw)
{
    agenti_blob **graves = &s->e->graves;
    uint32_t own = !im->foreign, i;
    agenti_kept_free(s);
    for (i = 0; i < AGENTI_OPT_COUNT; i++) {
        if (!(im->given & AGENTI_BIT(i)) || (i == AGENTI_OPT_MODEL && !own)) continue;
        if (i == AGENTI_OPT_MODEL && !agenti_same(agenti_text_view(&s->options[i]), agenti_text_view(&im->options[i]))) s->model++;
        agenti_text_free(&s->options[i], graves);
        s->options[i] = im->options[i];
        memset(&im->options[i], 0, sizeof im->options[i]);
        s->told_out &= ~AGENTI_BIT(i);
        if (i == AGENTI_OPT_TOOL_CHOICE) s->choice_spent = 0;
    }
    for (i = 0; !own && i < im->tool_n; i++) if (im->tools[i].flags & AGENT_TF_RAW) s->export_left |= AGENTI_BIT(AGENTI_LEFT_TOOLS);
    if (im->tools_given) {
        agenti_toolset all;
        all.p = im->tool_n ? im->tools : NULL;
        all.n = im->tool_n;
        if (im->tool_n) { im->tools = NULL; im->tool_n = im->tool_cap = 0; }
        agenti_toolset_free(s, &s->next_tools);
        s->next_tools = own ? all : *converted;
        if (!own) s->foreign = all;
        memset(converted, 0, sizeof *converted);
        s->new_tools = 1;
    }
    agenti_table_free(&s->table, graves);
    s->table = im->table;
    memset(&im->table, 0, sizeof im->table);
    im->table.pool = im->pool;
    agenti_import_number(s, own ? s->model : (uint32_t)AGENTI_MODEL_IMPORT);
    if (im->kept_n) {
        s->kept = im->kept;
        s->kept_n = im->kept_n;
        im->kept = NULL;
        im->kept_n = im->kept_cap = 0;
    }
    s->system_raw = *system_raw;
    s->lost = im->lost;
    memset(&im->lost, 0, sizeof im->lost);
    memset(system_raw, 0, sizeof *system_raw);
    for (i = 0; i < s->kept_n; i++) {
        if (!own && agenti_eq(agenti_text_view(&s->kept[i].key), "model")) s->kept[i].options = AGENTI_IM_TAKEN;      /* no option of this session's */
        s->kept[i].told = own || s->kept[i].options != 0;
    }
    s->imported = im->wire;
    s->old_log = 1;
    s->news = 1;
    if (im->stream >= 0) s->flags = im->stream ? s->flags & ~(uint32_t)AGENT_S_NO_STREAM : s->flags | AGENT_S_NO_STREAM;
    agenti_wake(&s->e->sessions, &s->ready);
}
static int agenti_import_take(agenti_session *s, agenti_import *im, agent_str json)
{
    agenti_toolset converted;
    agenti_text system_raw;
    int ok;
    memset(&converted, 0, sizeof converted);
    memset(&system_raw, 0, sizeof system_raw);
    ok = im->wire->import(im, json) && agenti_import_trim(im) && (!im->foreign || agenti_tools_convert(s, im, &converted));
    if (ok && im->system_raw.n) ok = agenti_text_set(&system_raw, &s->pool, NULL, agenti_str(im->system_raw.p, im->system_raw.n))
        && agenti_text_repair(&system_raw, &s->pool, NULL);
    if (ok) agenti_import_commit(s, im, &converted, &system_raw);
    agenti_text_free(&system_raw, NULL);
    agenti_toolset_free(s, &converted);
    return ok;
}
static AGENTI_NOINLINE int agenti_import_run(agenti_session *s, const agenti_wire *w, agent_str json, agent_json_error *err)
{
    agenti_import *im = (agenti_import *)agenti_get(&s->pool, sizeof *im);
    agent_engine *e = s->e;
    int rc = AGENT_OK;
    if (im == NULL) return agenti_no_memory(e);
    im->pool = im->table.pool = im->arena.pool = &s->pool;
    im->wire = w;
    im->foreign = w != s->peer->wire;
    im->dialect = im->foreign ? 0 : s->peer->dialect;
    im->call_limit = e->lim.calls_per_step;
    im->item_limit = e->lim.item;
    im->stream = -1;
    im->streams = !(s->flags & AGENT_S_NO_STREAM);
    agenti_buf_init(&im->system, &s->pool);
    agenti_buf_init(&im->system_raw, &s->pool);
    if (!agenti_import_take(s, im, json)) rc = agenti_import_fault(e, im, json, err);
    agenti_import_free(im);
    agenti_put(&s->pool, im, sizeof *im);
    return rc;
}
AGENTI_FN int agenti_do_import(agent_engine *e, agent_id id, const char *wire, const char *json, size_t n, agent_json_error *err)
{
    agenti_session *s = agenti_session_get(e, id);
    const agenti_wire *w = agenti_wire_find(agenti_cstr(wire));
    agent_json_error none;
    agent_str body;
    int rc;
    if (err == NULL) err = &none;
    err->offset = 0;
    err->why = "";
    if (s == NULL) return agenti_stale_session(e);
    if (s->state != AGENTI_S_IDLE || s->first || s->load) return agenti_say(e, AGENT_E_STATE, "a run is going on, or a load");
    if (s->table.n) return agenti_say(e, AGENT_E_STATE, "the session has messages");
    if (w == NULL || w->import == NULL) return agenti_say(e, AGENT_E_ARG, err->why = "requests of this wire format are not read");
    body = agenti_str(json, agenti_len(json, n));
    AGENTI_TOUCH(body.n);
    if ((rc = agent_json_check(body.p, body.n, e->lim.depth, err)) != AGENT_OK) return agenti_say(e, rc, err->why);
    body = agenti_trim(body);
    rc = agenti_is_object(body) || agenti_is_array(body) ? agenti_import_run(s, w, body, err)
       : agenti_say(e, AGENT_E_ARG, err->why = "a request is an object, or a list of messages");
    if (rc == AGENT_E_NOMEM) err->why = "out of memory";
    if (rc != AGENT_OK && rc != AGENT_E_NOMEM) err->offset += (size_t)(body.p - json);
    return rc;
}

/* ---- out ---- */
/* Tools for another format than the peer's: what the provider defines stays out, functions are not as an import declared them. */
static int agenti_export_tools(agenti_session *s, agenti_request *r, agenti_tool **made, size_t *cap)
{
    const agenti_toolset *set = s->new_tools ? &s->next_tools : &s->tools;
    size_t i;
    *made = NULL;
    *cap = 0;
    if (r->wire == s->imported && s->foreign.n) set = &s->foreign;
    r->tools = set->p;
    r->tool_count = set->n;
    if (r->wire == s->peer->wire || set == &s->foreign || set->n == 0) return 1;
    if ((*made = (agenti_tool *)agenti_get(&s->pool, set->n * sizeof **made)) == NULL) return 0;
    *cap = set->n;
    for (i = 0, r->tool_count = 0; i < set->n; i++) {
        if (set->p[i].flags & AGENT_TF_RAW) { r->left_out |= AGENTI_BIT(AGENTI_LEFT_TOOLS); continue; }
        (*made)[r->tool_count] = set->p[i];
        memset(&(*made)[r->tool_count++].raw, 0, sizeof (*made)->raw);
    }
    r->tools = *made;
    return 1;
}
static void agenti_export_request(agenti_session *s, const agenti_wire *w, agenti_request *r)
{
    int option, own = w == s->peer->wire;
    memset(r, 0, sizeof *r);
    r->wire = w;
    r->options = s->options;
    r->dialect = own ? s->peer->dialect : 0;
    r->model = own ? s->model : w == s->imported ? (uint32_t)AGENTI_MODEL_IMPORT : (uint32_t)AGENTI_MODEL_IMPORT + 1;
    r->stream = !(s->flags & AGENT_S_NO_STREAM);
    r->choice_off = s->choice_spent;
    r->system_raw = w == s->imported ? agenti_text_view(&s->system_raw) : agenti_str(NULL, 0);
    for (option = 0; option < AGENTI_OPT_COUNT; option++)
        if (s->options[option].n && (w->lacks & AGENTI_BIT(option))) r->left_out |= AGENTI_BIT(option);
}
static int agenti_export_body(agenti_session *s, agenti_request *r, agenti_buf *b)
{
    const agenti_wire *w = r->wire;
    size_t i;
    w->head(b, r);
    if (w->system && (s->options[AGENTI_OPT_SYSTEM].n || r->system_raw.n)) w->system(b, r, agenti_text_view(&s->options[AGENTI_OPT_SYSTEM]));
    for (i = 0; i < s->table.n; i++) {
        r->before = i ? s->table.msgs[i - 1] : NULL;
        agenti_message_out(b, r, s->table.msgs[i]);
    }
    w->tail(b, r);
    if (r->tool_count) w->tools(b, r);
    w->end(b, r);
    return !b->bad;
}
/* What an export of that format leaves out of what another format's import kept is told again.                          */
static void agenti_export_told(agenti_session *s, const agenti_request *r)
{
    uint32_t i;
    s->export_left |= r->left_out;
    for (i = 0; s->imported && s->imported != r->wire && i < s->kept_n; i++) if (!s->kept[i].gone && s->kept[i].options == 0) {
        s->kept[i].told = 0;
        s->news = 1;
    }
    if (s->export_left || s->news) agenti_wake(&s->e->sessions, &s->ready);
}
static AGENTI_NOINLINE int agenti_export_run(agenti_session *s, const agenti_wire *w, agent_str *out)
{
    agenti_request r;
    agenti_buf extra, b;
    agenti_tool *made;
    agenti_text text;
    size_t cap;
    int ok;
    agenti_export_request(s, w, &r);
    agenti_buf_init(&extra, &s->pool);
    agenti_buf_init(&b, &s->pool);
    memset(&text, 0, sizeof text);
    agenti_kept_out(s, w, &extra);
    ok = agenti_export_tools(s, &r, &made, &cap) && !extra.bad;
    r.extra = agenti_str(extra.p, extra.n);
    ok = ok && agenti_export_body(s, &r, &b) && agenti_text_set(&text, &s->pool, &s->e->graves, agenti_str(b.p, b.n));
    agenti_buf_free(&extra);
    agenti_buf_free(&b);
    agenti_put(&s->pool, made, cap * sizeof *made);
    if (!ok) return agenti_no_memory(s->e);
    agenti_export_told(s, &r);
    *out = agenti_text_view(&text);
    agenti_text_free(&text, &s->e->graves);   /* at the next agent_next                                                  */
    return AGENT_OK;
}
AGENTI_FN int agenti_do_export(agent_engine *e, agent_id id, const char *wire, agent_str *out)
{
    agenti_session *s = agenti_session_get(e, id);
    const agenti_wire *w = agenti_wire_find(agenti_cstr(wire));
    if (s == NULL) return agenti_stale_session(e);
    if (out == NULL || w == NULL || w->head == NULL) return agenti_say(e, AGENT_E_ARG, "no requests are made in this wire format");
    if (s->state != AGENTI_S_IDLE || s->first) return agenti_say(e, AGENT_E_STATE, "a run is going on");
    return agenti_export_run(s, w, out);
}
#endif
#endif
