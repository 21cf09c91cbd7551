/* JSON Schema, the part of it that tools use: a value against a schema, one error at a time, without memory and without recursion. What is
 * under way stands in frames, one for a schema that is applied to a value. A frame that is silent only wants to know whether the value fits,
 * and ends at the first thing that does not. */
#if (!defined AGENTI_SPLIT || defined AGENTI_PART_SCHEMA) && !defined AGENT_NO_SCHEMA
enum {
    AGENTI_K_NONE, AGENTI_K_TYPE, AGENTI_K_ENUM, AGENTI_K_CONST, AGENTI_K_MULTIPLE, AGENTI_K_MAX, AGENTI_K_OVER_MAX, AGENTI_K_MIN, AGENTI_K_OVER_MIN,
    AGENTI_K_MAX_LENGTH, AGENTI_K_MIN_LENGTH, AGENTI_K_PATTERN, AGENTI_K_MAX_ITEMS, AGENTI_K_MIN_ITEMS, AGENTI_K_MAX_PROPERTIES, AGENTI_K_MIN_PROPERTIES,
    AGENTI_K_REQUIRED,                       /* from here on the ones that apply other schemas                          */
    AGENTI_K_REF, AGENTI_K_ALL, AGENTI_K_ANY, AGENTI_K_ONE, AGENTI_K_NOT, AGENTI_K_IF, AGENTI_K_MEMBERS, AGENTI_K_NAMES, AGENTI_K_ITEMS
};
typedef struct agenti_keyword { const char *name; uint8_t kind; char of; } agenti_keyword;     /* of: what it says something of */
static const agenti_keyword agenti_keywords[] = {
    { "type", AGENTI_K_TYPE, 0 }, { "enum", AGENTI_K_ENUM, 0 }, { "const", AGENTI_K_CONST, 0 }, { "multipleOf", AGENTI_K_MULTIPLE, '0' },
    { "maximum", AGENTI_K_MAX, '0' }, { "exclusiveMaximum", AGENTI_K_OVER_MAX, '0' }, { "minimum", AGENTI_K_MIN, '0' },
    { "exclusiveMinimum", AGENTI_K_OVER_MIN, '0' }, { "maxLength", AGENTI_K_MAX_LENGTH, '"' }, { "minLength", AGENTI_K_MIN_LENGTH, '"' },
    { "pattern", AGENTI_K_PATTERN, '"' }, { "maxItems", AGENTI_K_MAX_ITEMS, '[' }, { "minItems", AGENTI_K_MIN_ITEMS, '[' },
    { "maxProperties", AGENTI_K_MAX_PROPERTIES, '{' }, { "minProperties", AGENTI_K_MIN_PROPERTIES, '{' }, { "required", AGENTI_K_REQUIRED, '{' },
    { "$ref", AGENTI_K_REF, 0 }, { "allOf", AGENTI_K_ALL, 0 }, { "anyOf", AGENTI_K_ANY, 0 }, { "oneOf", AGENTI_K_ONE, 0 }, { "not", AGENTI_K_NOT, 0 },
    { "if", AGENTI_K_IF, 0 }, { "properties", AGENTI_K_MEMBERS, '{' }, { "patternProperties", AGENTI_K_MEMBERS, '{' },
    { "additionalProperties", AGENTI_K_MEMBERS, '{' }, { "propertyNames", AGENTI_K_NAMES, '{' }, { "items", AGENTI_K_ITEMS, '[' },
    { "prefixItems", AGENTI_K_ITEMS, '[' } };

static const agenti_keyword *agenti_keyword_of(agent_str raw)
{
    size_t i;
    for (i = 0; i < sizeof agenti_keywords / sizeof *agenti_keywords; i++)
        if (agenti_json_same(raw, agenti_cstr(agenti_keywords[i].name))) return &agenti_keywords[i];
    return NULL;
}
static char agenti_kind_of(agent_str v) { return v.n == 0 ? 0 : agenti_is_number(v) ? '0' : v.p[0]; }
static agent_str agenti_absent(void) { agent_str s; s.p = NULL; s.n = 0; return s; }
static agent_str agenti_member(agent_str object, agent_str key)                /* key: raw; the last of that name       */
{
    agent_str k, v, found = agenti_absent();
    size_t pos = 0;
    if (agenti_kind_of(object) != '{') return found;
    while (agent_json_each(object, &pos, &k, &v)) if (k.p && agenti_chars_equal(k, key)) found = v;
    return found;
}
/* ---- frames ---- */
static agent_schema_frame *agenti_frame_top(agent_schema *x) { return &x->frame[x->depth - 1]; }
static void agenti_schema_stop(agent_schema *x) { x->depth = 0; x->rc = AGENT_E_LIMIT; }
static void agenti_frame_push(agent_schema *x, agent_str schema, agent_str value, int silent)
{
    agent_schema_frame *f;
    int inherits = x->depth > 0 && agenti_frame_top(x)->silent;
    if (x->depth >= AGENT_SCHEMA_DEPTH || x->work == 0) { agenti_schema_stop(x); return; }
    x->work--;
    f = &x->frame[x->depth++];
    memset(f, 0, sizeof *f);
    f->schema = schema;
    f->value = value;
    f->silent = (uint8_t)(silent || inherits);
    f->ok = 1;
    f->path = x->path_n;
}
static size_t agenti_value_at(const agent_schema *x, agent_str v)              /* 0: it is no part of the text          */
{
    return v.p >= x->value.p && v.p <= x->value.p + x->value.n ? (size_t)(v.p - x->value.p) : 0;
}
/* Something does not fit. How far the check came says which branch was meant: what type, enum and const refuse was meant less than all else.
 * 1: it is to be told.                                                                                                 */
static int agenti_schema_bad(agent_schema *x, agent_schema_frame *f, agent_str keyword)
{
    size_t reach = agenti_value_at(x, f->value);
    f->ok = 0;
    if (!agenti_eq(keyword, "type") && !agenti_eq(keyword, "enum") && !agenti_eq(keyword, "const")) reach |= ~(~(size_t)0 >> 1);
    if (reach > x->reach) x->reach = reach;
    return !f->silent;
}
static int agenti_schema_tell(agent_schema *x, agent_schema_frame *f, agent_str keyword, agent_str want, agent_schema_error *out)
{
    if (!agenti_schema_bad(x, f, keyword)) return 0;
    x->path[x->path_n] = 0;
    out->path = agenti_str(x->path, x->path_n);
    out->offset = agenti_value_at(x, f->value);
    out->keyword = keyword;
    out->want = want;
    out->got = f->value;
    return 1;
}
/* ---- the path ---- */
static void agenti_path_key(agent_schema *x, agent_str raw)
{
    size_t n = x->path_n, room;
    if (n && n + 1 < sizeof x->path) x->path[n++] = '.';
    room = sizeof x->path - 1 - n;            /* what fills it to the last byte is without a NUL                        */
    x->path[sizeof x->path - 1] = 0;
    agent_json_text(agenti_str(raw.p - 1, raw.n + 2), x->path + n, room);
    x->path_n = (uint16_t)(room ? n + strlen(x->path + n) : n);
}
static void agenti_path_index(agent_schema *x, size_t i)
{
    char text[24];
    size_t n = agenti_u64_text(i, text + 1) + 1;
    text[0] = '[';
    text[n++] = ']';
    if (n >= sizeof x->path - x->path_n) return;
    memcpy(x->path + x->path_n, text, n);
    x->path_n = (uint16_t)(x->path_n + n);
    x->path[x->path_n] = 0;
}
/* ---- what says something of a value by itself ---- */
static int agenti_is_type_of(agent_str name, agent_str value)
{
    static const char *const names[] = { "string", "object", "array", "null", "boolean", "number", "integer" };
    static const char kinds[] = "\"{[nt0i";
    char kind = agenti_kind_of(value);
    size_t i;
    if (kind == 'f') kind = 't';
    for (i = 0; i < 7; i++) {
        if (!agent_json_is(name, names[i])) continue;
        return kinds[i] == 'i' ? kind == '0' && agenti_num_whole(value) : kinds[i] == kind;
    }
    return 1;                                 /* a type that nobody knows                                              */
}
static int agenti_type_fits(agent_str types, agent_str value)
{
    agent_str t;
    size_t pos = 0;
    if (agenti_kind_of(types) != '[') return agenti_is_type_of(types, value);
    while (agent_json_each(types, &pos, NULL, &t)) if (agenti_is_type_of(t, value)) return 1;
    return pos == 0;
}
static int agenti_enum_fits(agent_schema *x, agent_str list, agent_str value)
{
    agent_str v;
    size_t pos = 0;
    if (agenti_kind_of(list) != '[') return 1;
    while (agent_json_each(list, &pos, NULL, &v)) if (agenti_json_equal(x->level, v, value)) return 1;
    return 0;
}
static agent_str agenti_count_of(agent_str value, char text[21])               /* characters, items or members, as a number */
{
    size_t pos = 0, n = 0;
    if (agenti_kind_of(value) == '"') n = agenti_json_chars(agenti_unquoted(value));
    else while (agent_json_each(value, &pos, NULL, NULL)) n++;
    return agenti_str(text, agenti_u64_text(n, text));
}
static int agenti_range_fits(int kind, agent_str want, agent_str value, agent_str schema)
{
    agent_str over;
    int c = agenti_num_compare(value, want);
    if (!agenti_is_number(want)) return 1;
    if (kind == AGENTI_K_OVER_MAX) return c < 0;
    if (kind == AGENTI_K_OVER_MIN) return c > 0;
    over = agenti_member(schema, agenti_cstr(kind == AGENTI_K_MAX ? "exclusiveMaximum" : "exclusiveMinimum"));      /* draft 4: a boolean */
    if (c == 0) return agenti_kind_of(over) != 't';
    return kind == AGENTI_K_MAX ? c < 0 : c > 0;
}
static int agenti_assert_fits(agent_schema *x, agent_schema_frame *f, const agenti_keyword *k, agent_str want)
{
    char text[21];
    agent_str v = f->value;
    switch (k->kind) {
    case AGENTI_K_TYPE: return agenti_type_fits(want, v);
    case AGENTI_K_ENUM: return agenti_enum_fits(x, want, v);
    case AGENTI_K_CONST: return agenti_json_equal(x->level, want, v);
    case AGENTI_K_MULTIPLE: return !agenti_is_number(want) || agenti_num_divides(want, v);
    case AGENTI_K_PATTERN:                                                     /* one that is not understood fits all   */
        return agenti_kind_of(want) != '"' || !agenti_pattern_set(&x->pattern, agenti_unquoted(want)) || agenti_pattern_in(&x->pattern, agenti_unquoted(v));
    case AGENTI_K_MAX: case AGENTI_K_MIN: case AGENTI_K_OVER_MAX: case AGENTI_K_OVER_MIN: return agenti_range_fits(k->kind, want, v, f->schema);
    case AGENTI_K_MAX_LENGTH: case AGENTI_K_MAX_ITEMS: case AGENTI_K_MAX_PROPERTIES:
        return !agenti_is_number(want) || agenti_num_compare(agenti_count_of(v, text), want) <= 0;
    default: return !agenti_is_number(want) || agenti_num_compare(agenti_count_of(v, text), want) >= 0;
    }
}
/* ---- $ref ---- */
static int agenti_pointer_hex(char c) { return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1; }
/* A step of a JSON Pointer in a URI fragment, up to the next slash, as plain text. Returns its length, or NO: too long.  */
static size_t agenti_pointer_step(const char *p, size_t n, size_t *used, char *out, size_t cap)
{
    size_t i = 0, k = 0;
    while (i < n && p[i] != '/') {
        int c = (unsigned char)p[i++];
        if (c == '%' && i + 1 < n && agenti_pointer_hex(p[i]) >= 0 && agenti_pointer_hex(p[i + 1]) >= 0) {
            c = agenti_pointer_hex(p[i]) * 16 + agenti_pointer_hex(p[i + 1]);
            i += 2;
        }
        if (c == '~' && i < n && (p[i] == '0' || p[i] == '1')) c = p[i++] == '0' ? '~' : '/';
        if (k >= cap) return AGENTI_JSON_NO;
        out[k++] = (char)c;
    }
    *used = i;
    return k;
}
static agent_str agenti_pointer_child(agent_str at, const char *p, size_t n)
{
    agent_str k, v, found = agenti_absent();
    size_t pos = 0, i;
    int64_t index = 0;
    if (agenti_kind_of(at) == '{') {
        while (agent_json_each(at, &pos, &k, &v)) if (k.p && agenti_json_same(k, agenti_str(p, n))) found = v;
    } else if (agenti_kind_of(at) == '[' && agenti_int(agenti_str(p, n), &index) && index >= 0)
        for (i = 0; agent_json_each(at, &pos, NULL, &v); i++) if (i == (uint64_t)index) return v;
    return found;
}
/* Inside the document; what is elsewhere cannot be checked: absent.                                                    */
static AGENTI_NOINLINE agent_str agenti_ref_of(agent_schema *x, agent_str ref)
{
    char text[200], step[100];
    agent_str at = x->schema;
    size_t n = agent_json_text(ref, text, sizeof text), i = 1, used, k;
    if (agenti_kind_of(ref) != '"' || n >= sizeof text || text[0] != '#' || (n > 1 && text[1] != '/')) return agenti_absent();
    while (i < n && at.p) {
        k = agenti_pointer_step(text + i + 1, n - i - 1, &used, step, sizeof step);
        if (k == AGENTI_JSON_NO) return agenti_absent();
        at = agenti_pointer_child(at, step, k);
        i += used + 1;
    }
    return at;
}
/* ---- what applies other schemas: each step pushes one, or ends ---- */
enum { AGENTI_S_ENDS, AGENTI_S_PUSHED };
static agent_str agenti_nth(agent_str list, size_t want)
{
    agent_str v;
    size_t pos = 0, i;
    for (i = 0; agent_json_each(list, &pos, NULL, &v); i++) if (i == want) return v;
    return agenti_absent();
}
/* allOf, anyOf, oneOf. When nothing of an anyOf fits, the branch that came furthest is gone through once more, aloud. */
static int agenti_list_next(agent_schema *x, agent_schema_frame *f)
{
    agent_str v;
    int silent = f->doing != AGENTI_K_ALL;
    if (silent && f->count > 0 && x->reach > f->reach) { f->reach = x->reach; f->best = f->count; }
    if (f->doing == AGENTI_K_ANY && f->fits > 0) return AGENTI_S_ENDS;
    if (f->doing == AGENTI_K_ONE && f->fits > 1) return AGENTI_S_ENDS;
    if (!agent_json_each(f->list, &f->at_list, NULL, &v)) return AGENTI_S_ENDS;
    f->count++;
    x->reach = 0;
    agenti_frame_push(x, v, f->value, silent);
    return AGENTI_S_PUSHED;
}
/* properties, patternProperties, additionalProperties: a member of the value has the schemas of its name and of the patterns that fit, and
 * where there are none the one for all others. count: how many of these were looked at; fits: how many it had. */
static int agenti_members_next(agent_schema *x, agent_schema_frame *f)
{
    agent_str key, v, sub, patterns = agenti_member(f->schema, agenti_cstr("patternProperties")), p;
    size_t next, pos, i;
    for (;;) {
        next = f->at_value;
        if (!agent_json_each(f->value, &next, &key, &v)) return AGENTI_S_ENDS;
        x->path_n = f->path;
        if (f->count == 0) {
            f->count = 1;
            sub = agenti_member(agenti_member(f->schema, agenti_cstr("properties")), key);
            if (sub.p) { f->fits++; agenti_path_key(x, key); agenti_frame_push(x, sub, v, 0); return AGENTI_S_PUSHED; }
        }
        for (pos = 0, i = 1; agent_json_each(patterns, &pos, &p, &sub); i++) {
            if (i < f->count || !p.p) continue;
            f->count = (uint32_t)i + 1;
            if (!agenti_pattern_set(&x->pattern, p) || !agenti_pattern_in(&x->pattern, key)) continue;
            f->fits++;
            agenti_path_key(x, key);
            agenti_frame_push(x, sub, v, 0);
            return AGENTI_S_PUSHED;
        }
        f->at_value = next;
        f->count = 0;
        i = f->fits;
        f->fits = 0;
        sub = agenti_member(f->schema, agenti_cstr("additionalProperties"));
        if (i || !sub.p) continue;
        agenti_path_key(x, key);
        agenti_frame_push(x, sub, v, 0);
        if (x->depth && agenti_kind_of(sub) == 'f') agenti_frame_top(x)->member = 1;
        return AGENTI_S_PUSHED;
    }
}
static int agenti_names_next(agent_schema *x, agent_schema_frame *f)
{
    agent_str key, v;
    if (!agent_json_each(f->value, &f->at_value, &key, &v)) return AGENTI_S_ENDS;
    x->path_n = f->path;
    agenti_path_key(x, key);
    agenti_frame_push(x, f->list, agenti_str(key.p - 1, key.n + 2), 0);
    return AGENTI_S_PUSHED;
}
static int agenti_items_next(agent_schema *x, agent_schema_frame *f)
{
    agent_str v, sub, all = agenti_member(f->schema, agenti_cstr("items")), first = agenti_member(f->schema, agenti_cstr("prefixItems"));
    if (agenti_kind_of(all) == '[') {                                          /* up to 2019-09                         */
        first = all;
        all = agenti_member(f->schema, agenti_cstr("additionalItems"));
    }
    for (;;) {
        if (!agent_json_each(f->value, &f->at_value, NULL, &v)) return AGENTI_S_ENDS;
        f->count++;
        sub = f->best ? agenti_absent() : agenti_nth(first, f->count - 1);     /* best: past the first ones             */
        if (sub.p == NULL) { f->best = 1; sub = all; }
        if (sub.p == NULL) return AGENTI_S_ENDS;
        x->path_n = f->path;
        agenti_path_index(x, f->count - 1);
        agenti_frame_push(x, sub, v, 0);
        return AGENTI_S_PUSHED;
    }
}
static int agenti_if_next(agent_schema *x, agent_schema_frame *f)
{
    agent_str sub;
    if (f->count++ == 0) { agenti_frame_push(x, f->list, f->value, 1); return AGENTI_S_PUSHED; }
    if (f->count > 2) return AGENTI_S_ENDS;
    sub = agenti_member(f->schema, agenti_cstr(f->fits ? "then" : "else"));
    if (sub.p == NULL) return AGENTI_S_ENDS;
    agenti_frame_push(x, sub, f->value, 0);
    return AGENTI_S_PUSHED;
}
static int agenti_once_next(agent_schema *x, agent_schema_frame *f)                  /* $ref, not                             */
{
    if (f->count++ || f->list.p == NULL) return AGENTI_S_ENDS;
    agenti_frame_push(x, f->list, f->value, f->doing == AGENTI_K_NOT);
    return AGENTI_S_PUSHED;
}
static int agenti_schema_apply(agent_schema *x, agent_schema_frame *f)
{
    switch (f->doing) {
    case AGENTI_K_ALL: case AGENTI_K_ANY: case AGENTI_K_ONE: return agenti_list_next(x, f);
    case AGENTI_K_MEMBERS: return agenti_members_next(x, f);
    case AGENTI_K_NAMES: return agenti_names_next(x, f);
    case AGENTI_K_ITEMS: return agenti_items_next(x, f);
    case AGENTI_K_IF: return agenti_if_next(x, f);
    default: return agenti_once_next(x, f);
    }
}
/* All schemas of a keyword were applied. 1: *out says what does not fit.                                               */
static int agenti_schema_applied(agent_schema *x, agent_schema_frame *f, agent_schema_error *out)
{
    int doing = f->doing, any = doing == AGENTI_K_ANY || doing == AGENTI_K_ONE;
    size_t own = agenti_value_at(x, f->value);
    x->path_n = f->path;
    f->doing = AGENTI_K_NONE;
    if (doing == AGENTI_K_NOT && f->fits) return agenti_schema_tell(x, f, agenti_cstr("not"), f->list, out);
    if (!any || f->fits == 1 || (doing == AGENTI_K_ANY && f->fits) || f->count == 0) return 0;
    if (f->fits == 0 && !f->silent && f->best && f->reach > own) {
        f->ok = 0;
        agenti_frame_push(x, agenti_nth(f->list, f->best - 1), f->value, 0);
        return 0;
    }
    return agenti_schema_tell(x, f, agenti_cstr(doing == AGENTI_K_ANY ? "anyOf" : "oneOf"), f->list, out);
}
static void agenti_schema_begin(agent_schema *x, agent_schema_frame *f, const agenti_keyword *k, agent_str want)
{
    if (k->kind == AGENTI_K_MEMBERS && f->members) return;                     /* the three go together                 */
    if (k->kind == AGENTI_K_ITEMS && f->items) return;
    if ((k->kind == AGENTI_K_ALL || k->kind == AGENTI_K_ANY || k->kind == AGENTI_K_ONE) && agenti_kind_of(want) != '[') return;
    f->members = (uint8_t)(f->members | (k->kind == AGENTI_K_MEMBERS));
    f->items = (uint8_t)(f->items | (k->kind == AGENTI_K_ITEMS));
    f->doing = k->kind;
    f->list = k->kind == AGENTI_K_REF ? agenti_ref_of(x, want) : want;
    f->at_list = f->at_value = 0;
    f->count = f->fits = f->best = 0;
    f->reach = 0;
}
/* ---- required: each name that is missing is an error of its own ---- */
static int agenti_required_next(agent_schema *x, agent_schema_frame *f, agent_schema_error *out)
{
    agent_str name;
    while (agent_json_each(f->list, &f->at_list, NULL, &name)) {
        if (agenti_kind_of(name) != '"' || agenti_member(f->value, agenti_unquoted(name)).p) continue;
        if (agenti_schema_tell(x, f, agenti_cstr("required"), name, out)) return 1;
        break;
    }
    f->doing = AGENTI_K_NONE;
    return 0;
}
/* ---- a step ---- */
static void agenti_frame_pop(agent_schema *x)
{
    int ok = agenti_frame_top(x)->ok;
    agent_schema_frame *f;
    if (--x->depth == 0) return;
    f = agenti_frame_top(x);
    x->path_n = f->path;
    switch (f->doing) {
    case AGENTI_K_ANY: case AGENTI_K_ONE: case AGENTI_K_NOT: f->fits = f->fits + (uint32_t)ok; break;
    case AGENTI_K_IF: if (f->count == 1) f->fits = (uint32_t)ok; else f->ok = (uint8_t)(f->ok && ok); break;
    default: f->ok = (uint8_t)(f->ok && ok); break;
    }
}
static int agenti_schema_step(agent_schema *x, agent_schema_error *out)        /* 1: *out is an error                   */
{
    agent_schema_frame *f = agenti_frame_top(x);
    agent_str key, want;
    const agenti_keyword *k;
    if (f->silent && !f->ok) { agenti_frame_pop(x); return 0; }
    if (f->doing == AGENTI_K_REQUIRED) return agenti_required_next(x, f, out);
    if (f->doing) return agenti_schema_apply(x, f) == AGENTI_S_ENDS && x->depth ? agenti_schema_applied(x, f, out) : 0;
    if (f->at == 0 && agenti_kind_of(f->schema) == 'f') {
        f->at = f->schema.n;
        return agenti_schema_tell(x, f, agenti_cstr(f->member ? "additionalProperties" : "false"), f->schema, out);
    }
    if (agenti_kind_of(f->schema) != '{' || !agent_json_each(f->schema, &f->at, &key, &want)) { agenti_frame_pop(x); return 0; }
    if (!key.p || (k = agenti_keyword_of(key)) == NULL || (k->of && k->of != agenti_kind_of(f->value))) return 0;
    if (k->kind > AGENTI_K_REQUIRED) { agenti_schema_begin(x, f, k, want); return 0; }
    if (k->kind == AGENTI_K_REQUIRED) {
        f->doing = AGENTI_K_REQUIRED;
        f->list = want;
        f->at_list = 0;
        return 0;
    }
    return !agenti_assert_fits(x, f, k, want) && agenti_schema_tell(x, f, agenti_cstr(k->name), want, out);
}
AGENTDEF void agent_schema_init(agent_schema *x, agent_str schema, agent_str value)
{
    x->depth = 0;
    x->path_n = 0;
    x->path[0] = 0;
    x->pattern.ok = 0;
    x->pattern.steps = 0;
    x->reach = 0;
    x->rc = AGENT_OK;
    x->schema = agent_json_get(schema, "");
    x->value = agent_json_get(value, "");
    x->work = x->schema.n + x->value.n < UINT32_MAX / 16 ? (uint32_t)(x->schema.n + x->value.n) * 16 + 1000 : UINT32_MAX;
    agenti_frame_push(x, x->schema, x->value, 0);
}
AGENTDEF int agent_schema_next(agent_schema *x, agent_schema_error *out)
{
    while (x->depth > 0) if (agenti_schema_step(x, out)) return AGENT_MORE;
    return x->rc;
}
/* ---- words for the model ---- */
static void agenti_words_short(agenti_sink *s, agent_str json)                 /* long values are cut                   */
{
    size_t n = agenti_utf8_cut(json.p, json.n, 200);
    agenti_sink_text(s, json.p, n);
    if (n < json.n) agenti_sink_add(s, "...", 3);
}
static void agenti_words(agenti_sink *s, const char *text) { agenti_sink_add(s, text, strlen(text)); }
static size_t agenti_schema_words(const agent_schema_error *err, char *buf, size_t cap)
{
    static const char *const words[][2] = {
        { "type", "has to be of type " }, { "enum", "has to be one of " }, { "const", "has to be " }, { "multipleOf", "has to be a multiple of " },
        { "maximum", "has to be at most " }, { "exclusiveMaximum", "has to be below " }, { "minimum", "has to be at least " },
        { "exclusiveMinimum", "has to be above " }, { "maxLength", "has more characters than " }, { "minLength", "has fewer characters than " },
        { "pattern", "does not match the pattern " }, { "maxItems", "has more items than " }, { "minItems", "has fewer items than " },
        { "maxProperties", "has more members than " }, { "minProperties", "has fewer members than " }, { "anyOf", "fits none of " },
        { "oneOf", "does not fit exactly one of " }, { "not", "must not fit " } };
    agenti_sink s;
    size_t i;
    agenti_sink_to(&s, buf, cap);
    if (err->path.n) agenti_sink_text(&s, err->path.p, err->path.n);
    else agenti_words(&s, "the value");
    agenti_words(&s, ": ");
    if (agenti_eq(err->keyword, "required")) {
        agenti_words_short(&s, err->want);
        agenti_words(&s, " is missing");
        return agenti_sink_end(&s);
    }
    if (agenti_eq(err->keyword, "additionalProperties") || agenti_eq(err->keyword, "false")) {
        agenti_words(&s, "is not allowed");
        return agenti_sink_end(&s);
    }
    for (i = 0; i < sizeof words / sizeof *words; i++) if (agenti_eq(err->keyword, words[i][0])) agenti_words(&s, words[i][1]);
    agenti_words_short(&s, err->want);
    agenti_words(&s, ", and is ");
    agenti_words_short(&s, err->got);
    return agenti_sink_end(&s);
}
AGENTDEF size_t agent_schema_text(const agent_schema_error *err, char *buf, size_t cap)
{
    if (cap == 0) return agenti_schema_words(err, NULL, 0);
    buf[cap - 1] = 0;                         /* what fills the room to the last byte is without a NUL                 */
    return agenti_schema_words(err, buf, cap - 1);
}
#endif
