/* A session as lines of JSON: what is new since a mark, written straight into the caller's buffer, without memory. The end of the manual's
 * chapter 7 describes the lines. Tables of fields say what is kept of a part, a message, an item, a session: reading goes by the same. */
#ifndef AGENT_NO_SAVE
enum agenti_saved_type { AGENTI_F_TEXT, AGENTI_F_U8, AGENTI_F_U16, AGENTI_F_U32, AGENTI_F_U64, AGENTI_F_SIZE, AGENTI_F_INT, AGENTI_F_I64 };
typedef struct agenti_saved { const char *key; uint8_t type; uint16_t at; } agenti_saved;       /* at: its offset in the struct */
typedef struct agenti_saved_list { const agenti_saved *p; size_t n; } agenti_saved_list;
enum { AGENTI_FIELDS_PART, AGENTI_FIELDS_MSG, AGENTI_FIELDS_ITEM, AGENTI_FIELDS_SESSION, AGENTI_FIELDS_NUMS, AGENTI_FIELDS_USAGE, AGENTI_FIELDS_ANSWER,
       AGENTI_FIELDS_FAULT, AGENTI_FIELDS_KEPT, AGENTI_FIELDS_TOOL };
enum { AGENTI_SAVE_VERSION = 1, AGENTI_PART_KEPT = 15 };
AGENTI_FN agenti_saved_list agenti_saved_of(int which);
AGENTI_FN const char *agenti_state_name(int state);           /* as the saved session has it                            */
#endif

#if (!defined AGENTI_SPLIT || defined AGENTI_PART_SAVE) && !defined AGENT_NO_SAVE
#define AGENTI_ROW(key, type, what, member) { key, AGENTI_F_##type, (uint16_t)offsetof(what, member) }
AGENTI_FN agenti_saved_list agenti_saved_of(int which)
{
    static const agenti_saved part[] = {
        AGENTI_ROW("kind", U16, agenti_part, kind), AGENTI_ROW("flags", U16, agenti_part, flags), AGENTI_ROW("id", U32, agenti_part, id),
        AGENTI_ROW("call", U32, agenti_part, call), AGENTI_ROW("need", U32, agenti_part, need), AGENTI_ROW("text", TEXT, agenti_part, text),
        AGENTI_ROW("name", TEXT, agenti_part, name), AGENTI_ROW("wire_id", TEXT, agenti_part, wire_id), AGENTI_ROW("title", TEXT, agenti_part, title),
        AGENTI_ROW("data", TEXT, agenti_part, data), AGENTI_ROW("mime", TEXT, agenti_part, mime), AGENTI_ROW("uri", TEXT, agenti_part, uri),
        AGENTI_ROW("more", TEXT, agenti_part, more), AGENTI_ROW("inner", TEXT, agenti_part, inner), AGENTI_ROW("key", U32, agenti_part, key),
        /* from here on of messages that are not complete: AGENTI_PART_KEPT */
        AGENTI_ROW("shown", SIZE, agenti_part, shown), AGENTI_ROW("order", U32, agenti_part, order), AGENTI_ROW("started", U8, agenti_part, started),
        AGENTI_ROW("called", U8, agenti_part, called), AGENTI_ROW("looked", U8, agenti_part, looked), AGENTI_ROW("state", U8, agenti_part, state),
        AGENTI_ROW("status", U8, agenti_part, status), AGENTI_ROW("retitled", U8, agenti_part, retitled), AGENTI_ROW("stopped", U8, agenti_part, stopped)
    };
    static const agenti_saved msg[] = {
        AGENTI_ROW("id", U32, agenti_msg, id), AGENTI_ROW("run", U32, agenti_msg, run), AGENTI_ROW("role", U8, agenti_msg, role),
        AGENTI_ROW("flags", U8, agenti_msg, flags), AGENTI_ROW("model", U32, agenti_msg, model), AGENTI_ROW("waits", U32, agenti_msg, waits),
        AGENTI_ROW("answer_id", TEXT, agenti_msg, answer_id), AGENTI_ROW("more", TEXT, agenti_msg, more)
    };
    static const agenti_saved item[] = {
        AGENTI_ROW("item", U32, agenti_item, num), AGENTI_ROW("lane", U8, agenti_item, lane), AGENTI_ROW("news", U8, agenti_item, news),
        AGENTI_ROW("told", U8, agenti_item, told), AGENTI_ROW("back", U8, agenti_item, back), AGENTI_ROW("on", U8, agenti_item, on)
    };
    static const agenti_saved session[] = {
        AGENTI_ROW("seq", U64, agenti_session, seq), AGENTI_ROW("items", U32, agenti_session, items), AGENTI_ROW("model", U32, agenti_session, model),
        AGENTI_ROW("running", U8, agenti_session, running), AGENTI_ROW("why", INT, agenti_session, why), AGENTI_ROW("finish", INT, agenti_session, finish),
        AGENTI_ROW("steps", U32, agenti_session, steps), AGENTI_ROW("order", U32, agenti_session, order), AGENTI_ROW("attempt", U32, agenti_session, attempt),
        AGENTI_ROW("cancel", U8, agenti_session, cancel), AGENTI_ROW("cancelling", U8, agenti_session, cancelling),
        AGENTI_ROW("stop_step", U8, agenti_session, stop_step), AGENTI_ROW("tools_may_end", U8, agenti_session, tools_may_end),
        AGENTI_ROW("notes", U8, agenti_session, notes), AGENTI_ROW("going_on", U8, agenti_session, going_on),
        AGENTI_ROW("retry_now", U8, agenti_session, retry_now), AGENTI_ROW("retry_stop", U8, agenti_session, retry_stop),
        AGENTI_ROW("end_run", U8, agenti_session, end_run), AGENTI_ROW("checkpoint", U8, agenti_session, checkpoint),
        AGENTI_ROW("quiet", U8, agenti_session, quiet),
        AGENTI_ROW("closing", U8, agenti_session, closing), AGENTI_ROW("failed", U8, agenti_session, failed),
        AGENTI_ROW("choice_spent", U8, agenti_session, choice_spent), AGENTI_ROW("stateful", U8, agenti_session, stateful),
        AGENTI_ROW("went_on", U8, agenti_session, went_on), AGENTI_ROW("key_asked", U8, agenti_session, key_asked),
        AGENTI_ROW("key_spent", U8, agenti_session, key_spent), AGENTI_ROW("left_out", U32, agenti_session, left_out),
        AGENTI_ROW("told_out", U32, agenti_session, told_out), AGENTI_ROW("cut", U32, agenti_session, cut),
        AGENTI_ROW("export_left", U32, agenti_session, export_left), AGENTI_ROW("news", U8, agenti_session, news)
    };
    static const agenti_saved nums[] = {
        AGENTI_ROW("run", U32, agenti_nums, run), AGENTI_ROW("step", U32, agenti_nums, step), AGENTI_ROW("msg", U32, agenti_nums, msg),
        AGENTI_ROW("part", U32, agenti_nums, part), AGENTI_ROW("call", U32, agenti_nums, call), AGENTI_ROW("need", U32, agenti_nums, need)
    };
    static const agenti_saved usage[] = {
        AGENTI_ROW("input", I64, agent_usage, input), AGENTI_ROW("cached", I64, agent_usage, cached), AGENTI_ROW("cache_write", I64, agent_usage, cache_write),
        AGENTI_ROW("output", I64, agent_usage, output), AGENTI_ROW("reasoning", I64, agent_usage, reasoning)
    };
    static const agenti_saved answer[] = {
        AGENTI_ROW("finish", INT, agenti_decoder, finish), AGENTI_ROW("paused", U8, agenti_decoder, paused), AGENTI_ROW("id", TEXT, agenti_decoder, id),
        AGENTI_ROW("model", TEXT, agenti_decoder, model)
    };
    static const agenti_saved fault[] = {
        AGENTI_ROW("fault", INT, agenti_fault, fault), AGENTI_ROW("http_status", INT, agenti_fault, http_status), AGENTI_ROW("retryable", INT, agenti_fault,
        retryable),
        AGENTI_ROW("retry_after_ms", I64, agenti_fault, retry_after_ms), AGENTI_ROW("offset", U64, agenti_fault, offset), AGENTI_ROW("code", TEXT,
        agenti_fault, code),
        AGENTI_ROW("text", TEXT, agenti_fault, text)
    };
    static const agenti_saved kept[] = {
        AGENTI_ROW("key", TEXT, agenti_kept, key), AGENTI_ROW("value", TEXT, agenti_kept, value), AGENTI_ROW("options", U32, agenti_kept, options),
        AGENTI_ROW("gone", U8, agenti_kept, gone), AGENTI_ROW("told", U8, agenti_kept, told)
    };
    static const agenti_saved tool[] = {
        AGENTI_ROW("name", TEXT, agenti_tool, name), AGENTI_ROW("description", TEXT, agenti_tool, description), AGENTI_ROW("schema", TEXT, agenti_tool, schema),
        AGENTI_ROW("raw", TEXT, agenti_tool, raw), AGENTI_ROW("flags", U32, agenti_tool, flags)
    };
#define AGENTI_TABLE(t) { t, sizeof t / sizeof *t }
    static const agenti_saved_list all[] = { AGENTI_TABLE(part), AGENTI_TABLE(msg), AGENTI_TABLE(item), AGENTI_TABLE(session), AGENTI_TABLE(nums),
    AGENTI_TABLE(usage),
                                         AGENTI_TABLE(answer), AGENTI_TABLE(fault), AGENTI_TABLE(kept), AGENTI_TABLE(tool) };
#undef AGENTI_TABLE
    return all[which];
}
#undef AGENTI_ROW
AGENTI_FN const char *agenti_state_name(int state)
{
    static const char *const names[] = {
        "idle", "take", "mend", "mend_add", "mended", "user_add", "user_end", "step", "send", "answer", "judge", "retry_say", "retry", "parts", "model_end",
        "tools",
        "results_add", "results_end", "step_end", "fault", "next", "return", "run_end"
    };
    return state >= 0 && state < (int)(sizeof names / sizeof *names) ? names[state] : NULL;
}

/* ---- pieces: the same in each call, those before mark.piece are passed over ---- */
typedef struct agenti_saver {
    char *p; size_t cap, n;
    uint32_t piece, from; uint64_t off;       /* piece: the next one; from: the first to be written, from its byte off on */
    uint64_t hash;                            /* of all pieces                                                          */
    int hashing, full, open;                  /* open: a member was written, so a comma is next                         */
} agenti_saver;

static void agenti_hash(agenti_saver *o, const char *p, size_t n)                /* FNV-1a                                 */
{
    size_t i;
    for (i = 0; i < n; i++) o->hash = (o->hash ^ (unsigned char)p[i]) * 0x100000001B3u;
    AGENTI_TOUCH(n);
}
/* 1: the piece is to be written, from *at on.                                                                          */
static int agenti_piece_due(agenti_saver *o, const char *p, size_t n, size_t *at)
{
    if (o->hashing) { agenti_hash(o, p, n); return 0; }
    if (o->full || o->piece < o->from) { o->piece += !o->full; return 0; }
    *at = o->piece == o->from ? (size_t)o->off : 0;
    return 1;
}
static void agenti_piece_over(agenti_saver *o, size_t at, size_t n)
{
    o->full = at < n;
    if (o->full) { o->from = o->piece; o->off = at; } else o->piece++;
}
static void agenti_save_raw(agenti_saver *o, const char *p, size_t n)
{
    size_t at, k;
    if (!agenti_piece_due(o, p, n, &at)) return;
    k = n - at < o->cap - o->n ? n - at : o->cap - o->n;
    memcpy(o->p + o->n, p + at, k);
    AGENTI_TOUCH(k);
    o->n += k;
    agenti_piece_over(o, at + k, n);
}
static void agenti_save_str(agenti_saver *o, const char *p) { agenti_save_raw(o, p, strlen(p)); }
/* Some of a string, escaped, at most 48 bytes of it; 0: there is no room.                                              */
static AGENTI_NOINLINE size_t agenti_save_some(agenti_saver *o, const char *p, size_t n)
{
    enum { MOST = 48 };
    char tmp[MOST * 6 + 3];
    size_t k, size;
    if (n > MOST) n = agenti_utf8_cut(p, n, MOST);
    for (;;) {
        size = agent_json_quote(p, n, tmp, sizeof tmp) - 2;
        if (size <= o->cap - o->n) break;
        if (n <= 4 || (k = agenti_utf8_cut(p, n, n / 2)) == 0 || k == n) return 0;
        n = k;
    }
    memcpy(o->p + o->n, tmp + 1, size);
    o->n += size;
    return n;
}
static void agenti_save_text(agenti_saver *o, agent_str s)
{
    size_t at, k = 1;
    agenti_save_str(o, "\"");
    if (agenti_piece_due(o, s.p, s.n, &at)) {
        while (at < s.n && k) { k = agenti_save_some(o, s.p + at, s.n - at); at += k; }
        AGENTI_TOUCH(s.n - at);
        agenti_piece_over(o, at, s.n);
    }
    agenti_save_str(o, "\"");
}
static void agenti_save_i64(agenti_saver *o, int64_t v)
{
    char number[24];
    agenti_save_raw(o, number, agenti_i64_text(v, number));
}
static void agenti_save_u64(agenti_saver *o, uint64_t v)
{
    char number[24];
    agenti_save_raw(o, number, agenti_u64_text(v, number));
}
static void agenti_save_key(agenti_saver *o, const char *key)  /* NULL: an element of an array                            */
{
    if (o->open) agenti_save_str(o, ",");
    o->open = 1;
    if (key == NULL) return;
    agenti_save_str(o, "\"");
    agenti_save_str(o, key);
    agenti_save_str(o, "\":");
}
static void agenti_save_begin(agenti_saver *o, const char *key, const char *bracket)
{
    agenti_save_key(o, key);
    agenti_save_str(o, bracket);
    o->open = 0;
}
static void agenti_save_end(agenti_saver *o, const char *bracket)
{
    agenti_save_str(o, bracket);
    o->open = 1;
}

/* ---- what is kept of things ---- */
static int64_t agenti_field_get(const agenti_saved *f, const void *of)           /* not of a U64 or a text                 */
{
    const char *p = (const char *)of + f->at;
    switch (f->type) {
    case AGENTI_F_U8: return *(const uint8_t *)(const void *)p;
    case AGENTI_F_U16: return *(const uint16_t *)(const void *)p;
    case AGENTI_F_U32: return *(const uint32_t *)(const void *)p;
    case AGENTI_F_INT: return *(const int *)(const void *)p;
    case AGENTI_F_SIZE: return (int64_t)*(const size_t *)(const void *)p;
    default: return *(const int64_t *)(const void *)p;
    }
}
static void agenti_save_fields(agenti_saver *o, int which, const void *of, size_t most)
{
    agenti_saved_list t = agenti_saved_of(which);
    size_t i;
    for (i = 0; i < t.n && i < most; i++) {
        const agenti_saved *f = &t.p[i];
        const char *p = (const char *)of + f->at;
        if (f->type == AGENTI_F_TEXT) {
            const agenti_text *text = (const agenti_text *)(const void *)p;
            if (text->n == 0) continue;
            agenti_save_key(o, f->key);
            agenti_save_text(o, agenti_text_view(text));
        } else if (f->type == AGENTI_F_U64) {
            if (*(const uint64_t *)(const void *)p == 0) continue;
            agenti_save_key(o, f->key);
            agenti_save_u64(o, *(const uint64_t *)(const void *)p);
        } else if (agenti_field_get(f, of)) {
            agenti_save_key(o, f->key);
            agenti_save_i64(o, agenti_field_get(f, of));
        }
    }
}
static void agenti_save_object(agenti_saver *o, const char *key, int which, const void *of)
{
    agenti_save_begin(o, key, "{");
    agenti_save_fields(o, which, of, SIZE_MAX);
    agenti_save_end(o, "}");
}
static void agenti_save_msg(agenti_saver *o, const char *key, const agenti_msg *m)
{
    uint32_t i;
    agenti_save_begin(o, key, "{");
    agenti_save_fields(o, AGENTI_FIELDS_MSG, m, SIZE_MAX);
    if (m->wire) {
        agenti_save_key(o, "wire");
        agenti_save_text(o, agenti_cstr(((const agenti_wire *)m->wire)->name));
    }
    agenti_save_begin(o, "parts", "[");
    for (i = 0; i < m->n; i++) {
        agenti_save_begin(o, NULL, "{");
        agenti_save_fields(o, AGENTI_FIELDS_PART, &m->parts[i], m->ended ? (size_t)AGENTI_PART_KEPT : SIZE_MAX);
        agenti_save_end(o, "}");
    }
    agenti_save_end(o, "]");
    agenti_save_end(o, "}");
}
static void agenti_save_item(agenti_saver *o, const char *key, const agenti_item *it)
{
    agenti_save_begin(o, key, "{");
    agenti_save_fields(o, AGENTI_FIELDS_ITEM, it, SIZE_MAX);
    if (it->msg) agenti_save_msg(o, "msg", it->msg);
    agenti_save_end(o, "}");
}
static void agenti_save_left(agenti_saver *o, const char *key, const agenti_session *s, uint64_t at)       /* ms from now; 0: it is over */
{
    if (at == UINT64_MAX || at == 0) return;
    agenti_save_key(o, key);
    agenti_save_u64(o, at > s->e->now ? at - s->e->now : 0);
}
/* Of what came so far. What a peer's head and errors say is told when the answer is over: before, the key may stand in it. */
static void agenti_save_answer(agenti_saver *o, const agenti_session *s)
{
    const agenti_answer *a = &s->answer;
    uint32_t i;
    agenti_save_begin(o, "answer", "{");
    agenti_save_fields(o, AGENTI_FIELDS_ANSWER, &a->d, SIZE_MAX);
    agenti_save_key(o, "finish_raw");
    agenti_save_text(o, agenti_cstr(a->d.finish_raw));
    if (s->state != AGENTI_S_ANSWER) {
        agenti_save_key(o, "request_id");
        agenti_save_text(o, agenti_text_view(&a->d.request_id));
        agenti_save_key(o, "limits");
        agenti_save_text(o, agenti_text_view(&a->limits));
        agenti_save_object(o, "fault", AGENTI_FIELDS_FAULT, &a->d.fault);
    }
    agenti_save_object(o, "usage", AGENTI_FIELDS_USAGE, &a->d.usage);
    if (a->msg) { agenti_save_key(o, "of"); agenti_save_u64(o, a->msg->id); }
    if (a->msg && !a->msg->ended) agenti_save_msg(o, "msg", a->msg);
    if (a->results && !a->results->ended) agenti_save_msg(o, "results", a->results);
    else if (a->results) { agenti_save_key(o, "done"); agenti_save_u64(o, a->results->id); }
    agenti_save_begin(o, "open", "[");
    for (i = 0; i < a->open_n; i++) {
        agenti_save_key(o, NULL);
        agenti_save_u64(o, a->open[i].part);
        agenti_save_key(o, NULL);
        agenti_save_u64(o, (uint64_t)a->open[i].kind);
    }
    agenti_save_end(o, "]");
    agenti_save_end(o, "}");
}

/* ---- lines ---- */
static void agenti_line_head(agenti_saver *o)
{
    agenti_save_begin(o, NULL, "{");
    agenti_save_key(o, "agent.h");
    agenti_save_u64(o, AGENTI_SAVE_VERSION);
    agenti_save_end(o, "}\n");
}
static void agenti_line_keep(agenti_saver *o, agent_num last)
{
    agenti_save_begin(o, NULL, "{");
    agenti_save_key(o, "keep");
    agenti_save_u64(o, last);
    agenti_save_end(o, "}\n");
}
static void agenti_line_msg(agenti_saver *o, const agenti_msg *m)
{
    agenti_save_begin(o, NULL, "{");
    agenti_save_msg(o, "msg", m);
    agenti_save_end(o, "}\n");
}
/* Of an imported conversation alone: else they are the host's, in its code.                                         */
static void agenti_save_tools(agenti_saver *o, const char *key, const agenti_toolset *t)
{
    size_t i;
    agenti_save_begin(o, key, "[");
    for (i = 0; i < t->n; i++) agenti_save_object(o, NULL, AGENTI_FIELDS_TOOL, &t->p[i]);
    agenti_save_end(o, "]");
}
static void agenti_line_options(agenti_saver *o, const agenti_session *s)
{
    const agenti_toolset *t = s->new_tools ? &s->next_tools : &s->tools;
    uint32_t i;
    agenti_save_begin(o, NULL, "{");
    agenti_save_begin(o, "options", "{");
    for (i = 0; i < AGENTI_OPT_COUNT; i++) if (s->options[i].n) {
        agenti_save_key(o, agenti_option_key((int)i));
        agenti_save_text(o, agenti_text_view(&s->options[i]));
    }
    agenti_save_end(o, "}");
    if (s->imported) {
        agenti_save_key(o, "imported");
        agenti_save_text(o, agenti_cstr(s->imported->name));
        agenti_save_key(o, "system_raw");
        agenti_save_text(o, agenti_text_view(&s->system_raw));
        agenti_save_key(o, "lost");
        agenti_save_text(o, agenti_text_view(&s->lost));
        agenti_save_begin(o, "kept", "[");
        for (i = 0; i < s->kept_n; i++) agenti_save_object(o, NULL, AGENTI_FIELDS_KEPT, &s->kept[i]);
        agenti_save_end(o, "]");
        agenti_save_tools(o, "foreign", &s->foreign);
        agenti_save_tools(o, "tools", t);
    }
    agenti_save_end(o, "}\n");
}
static void agenti_line_state(agenti_saver *o, const agenti_session *s)
{
    const agenti_item *it;
    agenti_save_begin(o, NULL, "{");
    agenti_save_begin(o, "state", "{");
    agenti_save_key(o, "at");
    agenti_save_text(o, agenti_cstr(agenti_state_name(s->state)));
    agenti_save_fields(o, AGENTI_FIELDS_SESSION, s, SIZE_MAX);
    agenti_save_object(o, "nums", AGENTI_FIELDS_NUMS, &s->nums);
    agenti_save_object(o, "usage", AGENTI_FIELDS_USAGE, &s->usage);
    agenti_save_object(o, "spent", AGENTI_FIELDS_USAGE, &s->spent);
    if (s->running) {
        agenti_save_left(o, "run_left_ms", s, s->run_until);
        agenti_save_left(o, "step_left_ms", s, s->step_until);
        agenti_save_left(o, "retry_left_ms", s, s->retry_at);
    }
    if (s->table.n && s->table.msgs[s->table.n - 1]->waits) { agenti_save_key(o, "waits"); agenti_save_u64(o, 1); }
    agenti_save_begin(o, "queue", "[");
    for (it = s->first; it; it = it->next) agenti_save_item(o, NULL, it);
    agenti_save_end(o, "]");
    if (s->item) agenti_save_item(o, "item", s->item);
    if (s->state != AGENTI_S_IDLE) agenti_save_answer(o, s);
    agenti_save_end(o, "}");
    agenti_save_end(o, "}\n");
}

/* ---- the mark ---- */
enum { AGENTI_SAVE_HEAD, AGENTI_SAVE_KEEP, AGENTI_SAVE_OPTIONS, AGENTI_SAVE_MSG, AGENTI_SAVE_STATE };
static size_t agenti_first_after(const agenti_session *s, agent_num id)         /* the place of the first message behind   */
{
    size_t lo = 0, hi = s->table.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->table.msgs[mid]->id <= id) lo = mid + 1; else hi = mid;
    }
    return lo;
}
static agent_num agenti_last_kept(const agenti_session *s, agent_num id)
{
    size_t at = agenti_first_after(s, id);
    return at ? s->table.msgs[at - 1]->id : 0;
}
static size_t agenti_next_due(const agenti_session *s, agent_num id)            /* an answer that comes is none yet        */
{
    size_t at = agenti_first_after(s, id);
    return at < s->table.n && s->table.msgs[at] == s->answer.msg && !s->answer.msg->ended ? s->table.n : at;
}
static uint64_t agenti_line_hash(const agenti_session *s, void (*line)(agenti_saver *, const agenti_session *))
{
    agenti_saver o;
    memset(&o, 0, sizeof o);
    o.hashing = 1;
    o.hash = 0xCBF29CE484222325u;
    line(&o, s);
    return o.hash | 1;                        /* 0: no such line was written yet                                         */
}
/* The next line that is due: writes of it what fits. 0: there is none any more.                                        */
static int agenti_save_line(const agenti_session *s, agent_mark *m, agenti_saver *o)
{
    size_t at;
    uint64_t hash;
    agent_num last;
    switch (m->line) {
    case AGENTI_SAVE_HEAD:
        agenti_line_head(o);
        break;
    case AGENTI_SAVE_KEEP:
        last = agenti_last_kept(s, m->msg);
        if (last != m->msg) agenti_line_keep(o, last);
        if (!o->full) m->msg = last;
        break;
    case AGENTI_SAVE_OPTIONS:
        if ((hash = agenti_line_hash(s, agenti_line_options)) == m->options) break;
        agenti_line_options(o, s);
        if (!o->full) m->options = hash;
        break;
    case AGENTI_SAVE_MSG:
        if ((at = agenti_next_due(s, m->msg)) == s->table.n) break;
        agenti_line_msg(o, s->table.msgs[at]);
        if (!o->full) m->msg = s->table.msgs[at]->id;
        return 1;
    default:
        hash = agenti_line_hash(s, agenti_line_state);
        if (hash != m->state) agenti_line_state(o, s);
        if (!o->full) { m->state = hash; m->line = AGENTI_SAVE_KEEP; }
        return o->full;
    }
    if (!o->full) m->line++;
    return 1;
}
AGENTDEF int agent_save(agent_engine *e, agent_id id, agent_mark *m, void *buf, size_t cap, size_t *n)
{
    const agenti_session *s = agenti_session_get(e, id);
    agenti_saver o;
    int more = 1;
    if (n) *n = 0;
    if (s == NULL) return agenti_stale_session(e);
    if (m == NULL || buf == NULL || n == NULL || cap < 64) return agenti_say(e, AGENT_E_ARG, "a save needs a mark and 64 bytes at least");
    if (m->line > AGENTI_SAVE_STATE || (m->seq && m->seq != s->seq + 1)) return agenti_say(e, AGENT_E_STATE, "the session went on in the middle of a save");
    if (m->seq == 0 && m->line == AGENTI_SAVE_KEEP && agenti_line_hash(s, agenti_line_state) == m->state
        && agenti_line_hash(s, agenti_line_options) == m->options && agenti_next_due(s, m->msg) == s->table.n) return AGENT_OK;
    memset(&o, 0, sizeof o);
    o.p = (char *)buf;
    o.cap = cap;
    o.from = m->piece;
    o.off = m->off;
    if (m->seq == 0) m->state = 0;            /* what is written is sealed by a state line                              */
    m->seq = s->seq + 1;
    while (more && !o.full) {
        o.piece = 0;
        o.open = 0;
        more = agenti_save_line(s, m, &o);
        if (!o.full) { o.from = 0; o.off = 0; }
    }
    m->piece = o.from;
    m->off = o.off;
    *n = o.n;
    if (o.full) return AGENT_MORE;
    m->seq = 0;
    return AGENT_OK;
}
#endif
