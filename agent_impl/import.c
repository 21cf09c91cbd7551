/* A conversation that is read out of a request body: what the importers of the wire formats put together, outside of any session.
 * Whatever a table, an option or a tool has no field for is kept as it came, and goes back to the same format. */
typedef struct agenti_kept {                  /* a member of the body as it came                                        */
    agenti_text key, value;                   /* key: as written; value: JSON                                           */
    uint32_t options;                         /* AGENTI_BITs of the options that say the same, as far as they can       */
    uint8_t gone, told;                       /* one of them was set anew; a WARNING named it                           */
} agenti_kept;
enum { AGENTI_IM_SEEN = 4, AGENTI_IM_KEYS = 16 };
typedef struct agenti_seen {                  /* an object that was looked at, so that its bytes are passed over once   */
    const char *at;
    int n;                                    /* members; -1: too many, or keys with escapes                            */
    agent_str key[AGENTI_IM_KEYS], value[AGENTI_IM_KEYS];
} agenti_seen;
typedef struct agenti_import {
    agenti_pool *pool;
    const agenti_wire *wire;
    uint32_t dialect, call_limit;
    int foreign;                              /* the session speaks another format: its model is another                */
    size_t item_limit;
    agenti_arena arena;
    agenti_table table;
    agenti_msg *msg;                          /* the last of the table, while parts of the model go into it             */
    agenti_msg *calls, *results;              /* a message with calls, and the one behind it with their results          */
    uint32_t missing, next;                   /* results that did not come; where the next one is likely to be          */
    uint32_t made, call_n;                    /* calls so far, for ids of those without one; in the open message        */
    const char *calls_at;                     /* where these calls are                                                  */
    agenti_text options[AGENTI_OPT_COUNT];
    uint32_t given;                           /* AGENTI_BITs of those                                                   */
    agenti_tool *tools; uint32_t tool_n, tool_cap; int tools_given;
    agenti_kept *kept; uint32_t kept_n, kept_cap;
    agenti_buf system, system_raw;            /* texts of the system messages; they as they came                        */
    uint32_t systems; int system_plain;
    agenti_seen seen[AGENTI_IM_SEEN]; uint32_t seen_n;       /* the last ones, in a ring                                 */
    agenti_text lost;                         /* the key of the first member that goes back nowhere                     */
    int streams;                              /* what the request will say                                              */
    int stream;                               /* -1: not told                                                           */
    const char *at, *why;                     /* what is wrong where; why NULL after a failure: no memory               */
    int limit, starved;                       /* it is a limit; the allocator refused, whatever else seems to be wrong  */
} agenti_import;
enum { AGENTI_IM_MEMBERS = 256 };             /* of a body that may be kept                                             */
#define AGENTI_IM_TAKEN 0x80000000u           /* a member that is no option, and read elsewhere                         */

#ifndef AGENT_NO_IMPORT
AGENTI_FN void agenti_import_free(agenti_import *);
AGENTI_FN int  agenti_im_fail(agenti_import *, const char *at, const char *why);                /* 0                    */
/* A member of an object of the body; {NULL,0}: absent. As agent_json_get, for a name, or a path (which costs a pass).    */
AGENTI_FN agent_str agenti_im_get(agenti_import *, agent_str object, const char *key);
/* A JSON string as text, anything else as written; both are valid UTF-8. 0: no memory                                  */
AGENTI_FN int  agenti_im_text(agenti_import *, agenti_text *to, agent_str value);
AGENTI_FN int  agenti_im_raw(agenti_import *, agenti_text *to, agent_str value);                /* JSON as it is. 0: no memory */
AGENTI_FN int  agenti_im_wrap(agenti_import *, agenti_text *to, const char *open, agent_str members);      /* open members } */
/* Members of an object that are not in `known` (NULL ends it) nor null, behind what is there. 0: no memory             */
AGENTI_FN int  agenti_im_more(agenti_import *, agenti_text *to, agent_str object, const char *const *known);
AGENTI_FN int  agenti_im_strict(agenti_import *, agent_str object, const char *const *known);   /* others are lost, and told. 0: no memory */
/* A new message at the end; NULL: see why. Of the model, it stays open for more parts until another one begins.        */
AGENTI_FN agenti_msg  *agenti_im_msg(agenti_import *, int role, agent_str at);
AGENTI_FN agenti_msg  *agenti_im_model(agenti_import *, agent_str at);                          /* the open one, or a new one */
AGENTI_FN agenti_part *agenti_im_part(agenti_import *, agenti_msg *, int kind);                 /* NULL: no memory      */
/* A part whose text is a JSON string. 0: no memory                                                                     */
AGENTI_FN int  agenti_im_words(agenti_import *, agenti_msg *, int kind, agent_str value);
AGENTI_FN int  agenti_im_other(agenti_import *, agenti_msg *, agent_str block, agent_str type); /* a block that stays as it came */
/* A call; id and name are JSON strings, args JSON or a string of it. NULL: see why                                     */
AGENTI_FN agenti_part *agenti_im_call(agenti_import *, agenti_msg *, agent_str id, agent_str name, agent_str args, agent_str at);
AGENTI_FN int  agenti_im_input(agenti_import *, agenti_part *, agent_str input);     /* of a tool of free text: {"input": it}. 0: no memory */
/* A result's text: a string, or those of a list of blocks, where other blocks are named. 0: no memory                   */
AGENTI_FN int  agenti_im_result_text(agenti_import *, agenti_part *, agent_str content);
/* The place for the result of the call of that id, else of that name, else the next one; JSON strings. NULL: none waits for it, or no memory */
AGENTI_FN agenti_part *agenti_im_result(agenti_import *, agent_str id, agent_str name);
/* A file: a URL or data: URL, both as a JSON string. 0: it is neither, and nothing was added; -1: no memory             */
AGENTI_FN int  agenti_im_url(agenti_import *, agenti_msg *, int kind, agent_str url);
/* A file: base64 and its media type, JSON strings. 0: they are not, and nothing was added; -1: no memory                */
AGENTI_FN int  agenti_im_data(agenti_import *, agenti_msg *, int kind, agent_str data, agent_str mime);
/* Options: what they take of a value; 0: it has another form. A bit otherwise.                                          */
AGENTI_FN uint32_t agenti_im_number(agenti_import *, int option, agent_str value);
AGENTI_FN uint32_t agenti_im_string(agenti_import *, int option, agent_str value);
AGENTI_FN uint32_t agenti_im_word(agenti_import *, int option, const char *word);
AGENTI_FN uint32_t agenti_im_bool(agenti_import *, int option, agent_str value, int reversed);
AGENTI_FN uint32_t agenti_im_stop(agenti_import *, agent_str value);
/* A system message's text, behind a blank line if it is not the first; NULL `raw`: none stands for it in the messages. 0: no memory */
AGENTI_FN int  agenti_im_system(agenti_import *, agent_str text, const agent_str *raw, int plain);
/* A tool: a function with its declaration, or (schema none) one of the provider's own. 0: see why                      */
AGENTI_FN int  agenti_im_tool(agenti_import *, agent_str raw, agent_str name, agent_str description, agent_str schema);
AGENTI_FN int  agenti_im_raw_tool(agenti_import *, agent_str raw, agent_str name);
/* All members of the body but those that are read elsewhere: what `take` makes options of, and what it does not. 0: see why */
AGENTI_FN int  agenti_im_members(agenti_import *, agent_str body, uint32_t (*take)(agenti_import *, agent_str key, agent_str value));
AGENTI_FN int  agenti_im_end(agenti_import *);     /* the body is read: are all calls answered? What need not be kept goes. 0: see why */
AGENTI_FN int  agenti_im_count(agent_str object);  /* its members, up to 64                                             */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_IMPORT
AGENTI_FN int agenti_im_fail(agenti_import *im, const char *at, const char *why)
{
    if (im->why == NULL && !im->starved) {
        im->at = at;
        im->why = why;
    }
    return 0;
}
static void agenti_tool_drop(agenti_tool *t)
{
    agenti_text_free(&t->name, NULL);
    agenti_text_free(&t->description, NULL);
    agenti_text_free(&t->schema, NULL);
    agenti_text_free(&t->raw, NULL);
}
static void agenti_kept_drop(agenti_kept *k)
{
    agenti_text_free(&k->key, NULL);
    agenti_text_free(&k->value, NULL);
}
AGENTI_FN void agenti_import_free(agenti_import *im)
{
    uint32_t i;
    agenti_table_free(&im->table, NULL);
    for (i = 0; i < AGENTI_OPT_COUNT; i++) agenti_text_free(&im->options[i], NULL);
    for (i = 0; i < im->tool_n; i++) agenti_tool_drop(&im->tools[i]);
    agenti_put(im->pool, im->tools, im->tool_cap * sizeof *im->tools);
    for (i = 0; i < im->kept_n; i++) agenti_kept_drop(&im->kept[i]);
    agenti_put(im->pool, im->kept, im->kept_cap * sizeof *im->kept);
    agenti_text_free(&im->lost, NULL);
    agenti_buf_free(&im->system);
    agenti_buf_free(&im->system_raw);
    agenti_arena_free(&im->arena);
}

static AGENTI_NOINLINE agenti_seen *agenti_im_look(agenti_import *im, agent_str object)
{
    agenti_seen *o = im->seen;
    agent_str key, value;
    size_t pos = 0;
    uint32_t i;
    for (i = 0; i < AGENTI_IM_SEEN; i++) if (im->seen[i].at == object.p) return &im->seen[i];
    o = &im->seen[im->seen_n++ % AGENTI_IM_SEEN];
    o->at = object.p;
    o->n = 0;
    while (o->n >= 0 && agent_json_each(object, &pos, &key, &value)) {
        if (o->n == AGENTI_IM_KEYS || memchr(key.p, '\\', key.n)) { o->n = -1; break; }
        o->key[o->n] = key;
        o->value[o->n++] = value;
    }
    return o;
}
AGENTI_FN agent_str agenti_im_get(agenti_import *im, agent_str object, const char *key)
{
    agent_str none = { NULL, 0 };
    const agenti_seen *o;
    int i;
    if (!agenti_is_object(object) || memchr(key, '.', strlen(key))) return agent_json_get(object, key);
    if ((o = agenti_im_look(im, object))->n < 0) return agent_json_get(object, key);
    for (i = o->n; i-- > 0;) if (agenti_eq(o->key[i], key)) return o->value[i];
    return none;
}

/* ---- texts ---- */
AGENTI_FN int agenti_im_raw(agenti_import *im, agenti_text *to, agent_str value)
{
    return agenti_text_set(to, im->pool, NULL, agenti_str(value.p, value.n)) && agenti_text_repair(to, im->pool, NULL);
}
AGENTI_FN int agenti_im_text(agenti_import *im, agenti_text *to, agent_str value)
{
    agent_str text;
    int ok;
    if (!agenti_is_string(value)) return agenti_im_raw(im, to, value);
    if (!agenti_text_set(to, im->pool, NULL, value)) return 0;
    if (!agenti_json_string(agenti_text_view(to), NULL, &im->arena, &text)) return 0;     /* in place, mostly           */
    if (text.p >= to->p && text.p <= to->p + to->n) {
        memmove(to->p, text.p, text.n);
        AGENTI_TOUCH(text.n);
        to->n = text.n;
        to->p[to->n] = 0;
        return 1;
    }
    ok = agenti_text_set(to, im->pool, NULL, text);
    agenti_arena_reset(&im->arena);
    return ok;
}
static int agenti_im_known(agent_str key, const char *const *known)
{
    for (; *known; known++) if (agenti_eq(key, *known)) return 1;
    return 0;
}
AGENTI_FN int agenti_im_more(agenti_import *im, agenti_text *to, agent_str object, const char *const *known)
{
    const agenti_seen *o = agenti_is_object(object) ? agenti_im_look(im, object) : NULL;
    agenti_buf b;
    agent_str key = agenti_str(NULL, 0), value = key;
    size_t pos = 0;
    int ok = 1, i = 0;
    agenti_buf_init(&b, im->pool);
    agenti_buf_add(&b, to->p, to->n);
    while (o && o->n >= 0 ? i < o->n : agent_json_each(object, &pos, &key, &value)) {
        if (o && o->n >= 0) { key = o->key[i]; value = o->value[i++]; }
        if (agenti_im_known(key, known) || agenti_eq(value, "null")) continue;
        agenti_buf_str(&b, b.n ? ",\"" : "\"");
        agenti_buf_add(&b, key.p, key.n);
        agenti_buf_str(&b, "\":");
        agenti_buf_add(&b, value.p, value.n);
    }
    if (b.n > to->n) ok = !b.bad && agenti_im_raw(im, to, agenti_str(b.p, b.n));
    ok = ok && !b.bad;
    agenti_buf_free(&b);
    return ok;
}
AGENTI_FN int agenti_im_strict(agenti_import *im, agent_str object, const char *const *known)
{
    agent_str key, value;
    size_t pos = 0;
    while (im->lost.n == 0 && agent_json_each(object, &pos, &key, &value))
        if (!agenti_im_known(key, known) && !agenti_eq(value, "null")) return agenti_im_raw(im, &im->lost, key);
    return 1;
}
AGENTI_FN int agenti_im_wrap(agenti_import *im, agenti_text *to, const char *open, agent_str members)
{
    return agenti_text_set(to, im->pool, NULL, agenti_cstr(open)) && agenti_text_add(to, im->pool, NULL, members)
        && agenti_text_add(to, im->pool, NULL, agenti_cstr("}"));
}
AGENTI_FN int agenti_im_count(agent_str object)
{
    agent_str key, value;
    size_t pos = 0;
    int n = 0;
    while (n < 64 && agenti_is_object(object) && agent_json_each(object, &pos, &key, &value)) n++;
    return n;
}

/* ---- messages ---- */
/* The model's message is over: if it has calls, a place for the results comes behind it.                               */
static int agenti_im_close(agenti_import *im)
{
    agenti_msg *m = im->msg, *results;
    uint32_t i, calls = 0;
    im->msg = NULL;
    for (i = 0; m && i < m->n; i++) calls += m->parts[i].kind == AGENT_PART_CALL;
    if (calls == 0) return 1;
    if (!agenti_table_room(&im->table, 1) || (results = agenti_msg_new(im->pool, AGENT_TOOLS)) == NULL) return 0;
    results->ended = 1;
    results->wire = im->wire;
    agenti_table_add(&im->table, results);
    for (i = 0; i < m->n; i++) {
        agenti_part *r;
        if (m->parts[i].kind != AGENT_PART_CALL) continue;
        if ((r = agenti_part_new(im->pool, results, AGENT_PART_RESULT)) == NULL) return 0;
        r->key = i;
        r->flags = m->parts[i].flags & AGENTI_PART_APART;
        if (!agenti_text_set(&r->wire_id, im->pool, NULL, agenti_text_view(&m->parts[i].wire_id))) return 0;
    }
    im->calls = m;
    im->results = results;
    im->missing = calls;
    im->next = 0;
    return 1;
}
AGENTI_FN agenti_msg *agenti_im_msg(agenti_import *im, int role, agent_str at)
{
    agenti_msg *m;
    if (at.n > im->item_limit) {
        im->limit = 1;
        (void)agenti_im_fail(im, at.p, "a message is longer than limits.item");
        return NULL;
    }
    if (!agenti_im_close(im)) return NULL;
    if (role == AGENT_MODEL && im->missing) { (void)agenti_im_fail(im, im->calls_at, "a call without its result"); return NULL; }
    if (!agenti_table_room(&im->table, 1) || (m = agenti_msg_new(im->pool, role)) == NULL) return NULL;
    m->ended = 1;
    m->wire = im->wire;
    agenti_table_add(&im->table, m);
    if (role == AGENT_MODEL) im->msg = m;
    im->call_n = 0;
    return m;
}
AGENTI_FN agenti_msg *agenti_im_model(agenti_import *im, agent_str at) { return im->msg ? im->msg : agenti_im_msg(im, AGENT_MODEL, at); }
AGENTI_FN agenti_part *agenti_im_part(agenti_import *im, agenti_msg *m, int kind) { return agenti_part_new(im->pool, m, kind); }
AGENTI_FN int agenti_im_words(agenti_import *im, agenti_msg *m, int kind, agent_str value)
{
    agenti_part *p = agenti_im_part(im, m, kind);
    return p && agenti_im_text(im, &p->text, value);
}
AGENTI_FN int agenti_im_other(agenti_import *im, agenti_msg *m, agent_str block, agent_str type)
{
    agenti_part *p = agenti_im_part(im, m, AGENT_PART_OTHER);
    return p && agenti_im_raw(im, &p->text, block) && (type.n == 0 || agenti_im_text(im, &p->name, type));
}
static int agenti_im_has_id(const agenti_msg *m, uint32_t n, agent_str id)       /* one of the first n parts             */
{
    uint32_t i;
    for (i = 0; i < n; i++) if (m->parts[i].kind == AGENT_PART_CALL && agenti_same(agenti_text_view(&m->parts[i].wire_id), id)) return 1;
    return 0;
}
/* Two calls of one message may have one id: the later one gets a number, which agenti_wire_id takes off again.         */
static int agenti_im_id(agenti_import *im, const agenti_msg *m, agenti_part *p)
{
    uint32_t at = (uint32_t)(p - m->parts), n = at;
    char number[24] = "_";
    agent_str id = agenti_text_view(&p->wire_id);
    agenti_buf b;
    int ok;
    if (!agenti_im_has_id(m, at, id)) return 1;
    agenti_buf_init(&b, im->pool);
    agenti_buf_add(&b, id.p, id.n);
    do {
        b.n = id.n;
        agenti_buf_add(&b, number, 1 + agenti_u64_text(n++, number + 1));
    } while (!b.bad && agenti_im_has_id(m, at, agenti_str(b.p, b.n)));
    ok = !b.bad && agenti_text_set(&p->wire_id, im->pool, NULL, agenti_str(b.p, b.n));
    agenti_buf_free(&b);
    p->flags |= AGENTI_PART_APART;
    return ok;
}
static int agenti_im_call_fill(agenti_import *im, agenti_msg *m, agenti_part *p, agent_str id, agent_str name, agent_str args)
{
    char made[40] = "call_local_";            /* as for an answer: an id that no provider makes                          */
    agent_str text;
    if (!agenti_im_text(im, &p->name, name)) return 0;
    if (agenti_nonempty(id) ? !agenti_im_text(im, &p->wire_id, id) || !agenti_im_id(im, m, p)
        : !agenti_text_set(&p->wire_id, im->pool, NULL, agenti_str(made, 11 + agenti_u64_text(im->made, made + 11)))) return 0;
    if (args.n && !agenti_eq(args, "null") && !agenti_im_text(im, &p->text, args)) return 0;
    text = agenti_trim(agenti_text_view(&p->text));
    if (text.n == 0) return agenti_text_set(&p->text, im->pool, NULL, agenti_cstr("{}"));
    if (text.p[0] != '{' || agent_json_check(p->text.p, p->text.n, 64, NULL) != AGENT_OK) p->flags |= AGENT_PART_INVALID;
    return 1;
}
AGENTI_FN agenti_part *agenti_im_call(agenti_import *im, agenti_msg *m, agent_str id, agent_str name, agent_str args, agent_str at)
{
    agenti_part *p;
    if (!agenti_nonempty(name)) { (void)agenti_im_fail(im, at.p, "a call without a name"); return NULL; }
    if (im->call_n >= im->call_limit) {
        im->limit = 1;
        (void)agenti_im_fail(im, at.p, "more calls in one message than limits.calls_per_step");
        return NULL;
    }
    if (im->call_n++ == 0) im->calls_at = at.p;
    im->made++;
    p = agenti_im_part(im, m, AGENT_PART_CALL);
    return p && agenti_im_call_fill(im, m, p, id, name, args) ? p : NULL;
}
AGENTI_FN int agenti_im_input(agenti_import *im, agenti_part *p, agent_str input)
{
    agenti_text raw;
    int ok;
    memset(&raw, 0, sizeof raw);
    ok = agenti_im_raw(im, &raw, agenti_is_string(input) ? input : agenti_cstr("\"\"")) && agenti_im_wrap(im, &p->text, "{\"input\":", agenti_text_view(&raw));
    agenti_text_free(&raw, NULL);
    return ok;
}
AGENTI_FN int agenti_im_result_text(agenti_import *im, agenti_part *p, agent_str content)
{
    agent_str part, text;
    agenti_text words;
    size_t pos = 0;
    int ok = 1;
    if (agenti_is_string(content)) return agenti_im_text(im, &p->text, content);
    if (!agenti_is_array(content)) return content.n == 0 || agenti_eq(content, "null") || agenti_im_raw(im, &p->text, content);
    while (ok && agent_json_each(content, &pos, NULL, &part)) {
        text = agenti_im_get(im, part, "text");
        memset(&words, 0, sizeof words);
        if (agenti_is_string(part)) text = part;
        else if (!agenti_is_string(text)) text = agenti_cstr("\"[a block that is no text]\"");
        ok = agenti_im_text(im, &words, text) && agenti_text_add(&p->text, im->pool, NULL, agenti_text_view(&words));
        agenti_text_free(&words, NULL);
    }
    return ok;
}
static int agenti_im_fits(const agenti_import *im, const agenti_part *r, agent_str id, agent_str name)
{
    if (r->state == AGENTI_CALL_SETTLED) return 0;
    if (id.n) return agenti_same(agenti_wire_id(r), id);
    return name.n == 0 || agenti_same(agenti_text_view(&im->calls->parts[r->key].name), name);
}
AGENTI_FN agenti_part *agenti_im_result(agenti_import *im, agent_str id, agent_str name)
{
    agenti_text text;
    agent_str key = agenti_str(NULL, 0), none = key;
    agenti_part *r = NULL;
    uint32_t i, n;
    im->starved |= !agenti_im_close(im);
    if (im->starved || im->missing == 0) return NULL;
    memset(&text, 0, sizeof text);
    im->starved = !agenti_im_text(im, &text, agenti_nonempty(id) ? id : name);
    if (im->starved) { agenti_text_free(&text, NULL); return NULL; }
    key = agenti_text_view(&text);
    n = im->results->n;
    for (i = 0; i < n; i++) {
        r = &im->results->parts[(im->next + i) % n];
        if (agenti_nonempty(id) ? key.n && agenti_im_fits(im, r, key, none) : agenti_im_fits(im, r, none, key)) break;
    }
    agenti_text_free(&text, NULL);
    if (i == n) return NULL;
    im->next = (im->next + i + 1) % n;
    im->missing--;
    r->state = AGENTI_CALL_SETTLED;
    return r;
}

/* ---- files ---- */
static int agenti_im_kind(int kind, agent_str mime)
{
    if (mime.n > 6 && agenti_ieq(agenti_str(mime.p, 6), "image/")) return AGENT_PART_IMAGE;
    return mime.n > 6 && agenti_ieq(agenti_str(mime.p, 6), "audio/") ? (int)AGENT_PART_AUDIO : kind;
}
static int agenti_im_type(agent_str mime)                                       /* a media type that may go into a URL  */
{
    size_t i, slash = 0;
    for (i = 0; i < mime.n; i++) {
        unsigned char c = (unsigned char)mime.p[i];
        if (c <= ' ' || c >= 0x7F || c == '"' || c == ',' || c == ';' || c == '\\') return 0;
        slash += c == '/';
    }
    return slash == 1 && mime.n < 128;
}
/* -1: no memory; 0: that is no file, and the part is taken back.                                                       */
static int agenti_im_file(agenti_import *im, agenti_msg *m, int kind, agent_str data, agent_str mime)
{
    agenti_part *p;
    if (!agenti_im_type(mime) || data.n == 0 || !agenti_base64_ok(data)) return 0;
    if ((p = agenti_im_part(im, m, agenti_im_kind(kind, mime))) == NULL) return -1;
    p->flags = AGENT_PART_BASE64;
    return agenti_text_set(&p->text, im->pool, NULL, data) && agenti_text_set(&p->mime, im->pool, NULL, mime) ? 1 : -1;
}
AGENTI_FN int agenti_im_url(agenti_import *im, agenti_msg *m, int kind, agent_str url)
{
    agenti_text text;
    agent_str type, data;
    agenti_part *p;
    int rc = 0;
#ifdef AGENT_NO_FILES
    url.n = 0;                                /* the block stays as it came                                             */
#endif
    if (!agenti_nonempty(url)) return 0;
    memset(&text, 0, sizeof text);
    if (!agenti_im_text(im, &text, url)) { agenti_text_free(&text, NULL); return -1; }
    if (text.n > 5 && agenti_ieq(agenti_str(text.p, 5), "data:")) {
        if (agenti_data_split(agenti_text_view(&text), &type, &data) && type.n + data.n + 13 == text.n) rc = agenti_im_file(im, m, kind, data, type);
        agenti_text_free(&text, NULL);
        return rc;
    }
    if (text.n == 0 || (p = agenti_im_part(im, m, kind)) == NULL) {
        rc = text.n ? -1 : 0;
        agenti_text_free(&text, NULL);
        return rc;
    }
    p->uri = text;
    return 1;
}
AGENTI_FN int agenti_im_data(agenti_import *im, agenti_msg *m, int kind, agent_str data, agent_str mime)
{
    agenti_text type, text;
    int rc = -1;
#ifdef AGENT_NO_FILES
    data.n = 0;                               /* the block stays as it came                                             */
#endif
    if (!agenti_nonempty(data) || !agenti_nonempty(mime)) return 0;
    memset(&type, 0, sizeof type);
    memset(&text, 0, sizeof text);
    if (agenti_im_text(im, &type, mime) && agenti_im_text(im, &text, data))
        rc = agenti_im_file(im, m, kind, agenti_text_view(&text), agenti_text_view(&type));
    agenti_text_free(&type, NULL);
    agenti_text_free(&text, NULL);
    return rc;
}

/* ---- options ---- */
static uint32_t agenti_im_set(agenti_import *im, int option, agent_str value)
{
    if (!agenti_im_text(im, &im->options[option], value)) { im->system.bad = 1; return 0; }
    im->given |= AGENTI_BIT(option);
    return AGENTI_BIT(option);
}
AGENTI_FN uint32_t agenti_im_number(agenti_import *im, int option, agent_str v)
{
    return v.n && (v.p[0] == '-' || (v.p[0] >= '0' && v.p[0] <= '9')) ? agenti_im_set(im, option, v) : 0;
}
AGENTI_FN uint32_t agenti_im_string(agenti_import *im, int option, agent_str v) { return agenti_nonempty(v) ? agenti_im_set(im, option, v) : 0; }
AGENTI_FN uint32_t agenti_im_word(agenti_import *im, int option, const char *word) { return agenti_im_set(im, option, agenti_cstr(word)); }
AGENTI_FN uint32_t agenti_im_bool(agenti_import *im, int option, agent_str v, int reversed)
{
    int yes = agenti_eq(v, "true");
    return yes || agenti_eq(v, "false") ? agenti_im_word(im, option, yes != reversed ? "true" : "false") : 0;
}
AGENTI_FN uint32_t agenti_im_stop(agenti_import *im, agent_str v)
{
    agent_str item;
    size_t pos = 0;
    if (!agenti_is_array(v) && !agenti_is_string(v)) return 0;
    while (agenti_is_array(v) && agent_json_each(v, &pos, NULL, &item)) if (!agenti_is_string(item)) return 0;
    if (!agenti_im_raw(im, &im->options[AGENTI_OPT_STOP], v)) { im->system.bad = 1; return 0; }
    im->given |= AGENTI_BIT(AGENTI_OPT_STOP);
    return AGENTI_BIT(AGENTI_OPT_STOP);
}
AGENTI_FN int agenti_im_system(agenti_import *im, agent_str text, const agent_str *raw, int plain)
{
    agenti_text words;
    memset(&words, 0, sizeof words);
    if (agenti_nonempty(text)) {
        if (!agenti_im_text(im, &words, text)) im->system.bad = 1;
        if (im->system.n && words.n) agenti_buf_str(&im->system, "\n\n");
        agenti_buf_add(&im->system, words.p, words.n);
        agenti_text_free(&words, NULL);
    }
    if (raw) {
        im->system_plain = plain && im->systems++ == 0;
        if (im->system_raw.n) agenti_buf_str(&im->system_raw, ",");
        agenti_buf_add(&im->system_raw, raw->p, raw->n);
    }
    return !im->system.bad && !im->system_raw.bad;
}

/* ---- tools ---- */
static int agenti_im_name_ok(agent_str name)
{
    size_t i;
    for (i = 0; i < name.n; i++) {
        char c = agenti_lower(name.p[i]);
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-')) return 0;
    }
    return name.n > 0 && name.n <= 64;
}
static agenti_tool *agenti_im_tool_new(agenti_import *im, agent_str name)
{
    agenti_tool *t;
    if (im->tool_n == im->tool_cap) {
        uint32_t cap = im->tool_cap ? im->tool_cap * 2 : 4;
        if (cap > 65536) { im->limit = 1; (void)agenti_im_fail(im, name.p, "too many tools"); return NULL; }
        t = (agenti_tool *)agenti_resize(im->pool, im->tools, im->tool_cap * sizeof *t, cap * sizeof *t);
        if (t == NULL) return NULL;
        im->tools = t;
        im->tool_cap = cap;
    }
    t = &im->tools[im->tool_n++];
    memset(t, 0, sizeof *t);
    return agenti_im_text(im, &t->name, name) ? t : NULL;
}
AGENTI_FN int agenti_im_tool(agenti_import *im, agent_str raw, agent_str name, agent_str description, agent_str schema)
{
    agenti_tool *t = agenti_im_tool_new(im, name);
    if (t == NULL) return 0;
    if (!agenti_is_string(name) || !agenti_im_name_ok(agenti_text_view(&t->name)))
        return agenti_im_fail(im, name.n ? name.p : raw.p, "tools: a name has 1 to 64 of A-Z a-z 0-9 _ -");
    if (agenti_nonempty(description) && !agenti_im_text(im, &t->description, description)) return 0;
    return agenti_im_raw(im, &t->schema, agenti_is_object(schema) ? schema : agenti_cstr("{\"type\":\"object\"}")) && agenti_im_raw(im, &t->raw, raw);
}
AGENTI_FN int agenti_im_raw_tool(agenti_import *im, agent_str raw, agent_str name)
{
    agenti_tool *t = agenti_im_tool_new(im, name);
    size_t i;
    if (t == NULL || !agenti_im_raw(im, &t->schema, raw)) return 0;
    t->flags = AGENT_TF_RAW;
    if (t->name.n > 64) t->name.n = 64;
    for (i = 0; i < t->name.n; i++) if (!agenti_im_name_ok(agenti_str(t->name.p + i, 1))) t->name.p[i] = '_';
    if (t->name.n) t->name.p[t->name.n] = 0;
    return t->name.n || agenti_text_set(&t->name, im->pool, NULL, agenti_cstr("tool"));
}

/* ---- the body ---- */
static agenti_kept *agenti_im_kept(agenti_import *im, agent_str key)
{
    agenti_kept *k;
    uint32_t i;
    for (i = 0; i < im->kept_n; i++) if (agenti_same(agenti_text_view(&im->kept[i].key), key)) return &im->kept[i];     /* the last one counts */
    if (im->kept_n == im->kept_cap) {
        uint32_t cap = im->kept_cap ? im->kept_cap * 2 : 8;
        if (cap > AGENTI_IM_MEMBERS) { im->limit = 1; (void)agenti_im_fail(im, key.p, "more members than an import takes"); return NULL; }
        k = (agenti_kept *)agenti_resize(im->pool, im->kept, im->kept_cap * sizeof *k, cap * sizeof *k);
        if (k == NULL) return NULL;
        im->kept = k;
        im->kept_cap = cap;
    }
    k = &im->kept[im->kept_n++];
    memset(k, 0, sizeof *k);
    return agenti_im_raw(im, &k->key, key) ? k : NULL;
}
AGENTI_FN int agenti_im_members(agenti_import *im, agent_str body, uint32_t (*take)(agenti_import *, agent_str key, agent_str value))
{
    agent_str key, value;
    size_t pos = 0;
    agenti_kept *k;
    while (agent_json_each(body, &pos, &key, &value)) {
        uint32_t options;
        if (agenti_eq(value, "null")) continue;
        options = take(im, key, value);
        if (im->system.bad) return 0;
        if (options == AGENTI_IM_TAKEN) continue;
        if ((k = agenti_im_kept(im, key)) == NULL || !agenti_im_raw(im, &k->value, value)) return 0;
        k->options = options;
    }
    return 1;
}
/* Are two JSON texts the same but for blanks?                                                                          */
static int agenti_im_alike(agent_str a, agent_str b)
{
    size_t i = 0, k = 0, n;
    AGENTI_TOUCH(a.n);
    for (;;) {
        i += agenti_json_space(a.p + i, a.n - i);
        k += agenti_json_space(b.p + k, b.n - k);
        if (i == a.n || k == b.n) return i == a.n && k == b.n;
        n = a.p[i] == '"' ? agenti_json_skip(a.p + i, a.n - i) : 1;
        if (n == 0 || n > b.n - k || memcmp(a.p + i, b.p + k, n) != 0) return 0;
        i += n;
        k += n;
    }
}
/* A request without messages, as it would be made of what was read: what it says just as the body did need not be kept. */
static int agenti_im_settle(agenti_import *im)
{
    agenti_request r;
    agenti_buf b;
    agent_str key, value;
    size_t pos = 0;
    uint32_t i;
    int ok;
    memset(&r, 0, sizeof r);
    r.options = im->options;
    r.tools = im->tools;
    r.tool_count = im->tool_n;
    r.wire = im->wire;
    r.dialect = im->dialect;
    r.stream = im->streams;
    r.system_raw = agenti_str(im->system_raw.p, im->system_raw.n);
    agenti_buf_init(&b, im->pool);
    im->wire->head(&b, &r);
    im->wire->tail(&b, &r);
    im->wire->tools(&b, &r);
    im->wire->end(&b, &r);
    ok = !b.bad;
    while (ok && agent_json_each(agenti_str(b.p, b.n), &pos, &key, &value)) {
        for (i = 0; i < im->kept_n && !agenti_same(agenti_text_view(&im->kept[i].key), key); i++) {}
        if (i == im->kept_n || (im->foreign && agenti_eq(key, "model")) || !agenti_im_alike(agenti_text_view(&im->kept[i].value), value)) continue;
        agenti_kept_drop(&im->kept[i]);
        memmove(&im->kept[i], &im->kept[i + 1], (--im->kept_n - i) * sizeof *im->kept);
    }
    agenti_buf_free(&b);
    return ok;
}
/* The last message may have calls whose results are still to come; any other call has its result.                      */
AGENTI_FN int agenti_im_end(agenti_import *im)
{
    agent_str system = agenti_str(im->system.p, im->system.n);
    if (im->starved || !agenti_im_close(im)) return 0;
    if (im->stream >= 0) im->streams = im->stream;
    if (im->missing) {
        if (im->missing < im->results->n || im->table.msgs[im->table.n - 1] != im->results)
            return agenti_im_fail(im, im->calls_at, "a call without its result");
        agenti_msg_free(im->pool, im->results, NULL);
        im->table.n--;
        im->missing = 0;
    }
    if (im->system.bad || im->system_raw.bad) return 0;
    if (im->systems == 1 && im->system_plain) im->system_raw.n = 0;
    if (system.n && agenti_im_set(im, AGENTI_OPT_SYSTEM, system) == 0) return 0;
    return agenti_im_settle(im);
}
#endif
#endif
