/* What JSON values mean, whatever they are spelled like: numbers by their value, strings by their characters, objects in any order. The text
 * has passed agent_json_check. */
enum { AGENTI_JSON_LEVELS = AGENTI_J_DEPTH + 1 };      /* rooms to work in, of any contents */

/* The character at the start of a raw string that is not empty; returns its length there. Half a surrogate pair stays half.           */
AGENTI_FN size_t agenti_json_char(const char *p, size_t n, uint32_t *cp);
AGENTI_FN size_t agenti_json_chars(agent_str raw);                              /* how many characters                  */
AGENTI_FN int agenti_chars_equal(agent_str raw, agent_str other);               /* both raw                             */
AGENTI_FN int agenti_is_number(agent_str value);                                /* by its first byte                    */
AGENTI_FN agent_str agenti_unquoted(agent_str string);                          /* without its quotes, raw              */
/* 128 bits of the value: equal values have equal ones, others by chance do not; who knows the seed can make them. Of numbers over 64 digits
 * the first 64 count. Returns 0 if it is nested more than AGENTI_J_DEPTH levels.                                       */
AGENTI_FN int agenti_json_hash(agent_json_level *, agent_str value, uint64_t seed, uint64_t out[2]);
AGENTI_FN int agenti_json_equal(agent_json_level *, agent_str, agent_str);    /* exact, but for two arrays or objects: by their hashes */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_JSON_COMPARE
/* ---- characters ---- */
AGENTI_FN size_t agenti_json_char(const char *p, size_t n, uint32_t *cp)
{
    const unsigned char *u = (const unsigned char *)p;
    uint32_t low;
    size_t k, more, i;
    if (p[0] == '\\') {
        if ((k = agenti_json_escape(p, n, cp)) == 0) { *cp = '\\'; return 1; }
        if (*cp < 0xD800 || *cp > 0xDBFF || k >= n || p[k] != '\\' || (more = agenti_json_escape(p + k, n - k, &low)) == 0) return k;
        if (low < 0xDC00 || low > 0xDFFF) return k;
        *cp = 0x10000 + ((*cp - 0xD800) << 10) + (low - 0xDC00);
        return k + more;
    }
    more = u[0] < 0xC0 ? 0 : u[0] < 0xE0 ? 1 : u[0] < 0xF0 ? 2 : 3;
    if (more >= n) more = n - 1;
    *cp = more == 0 ? u[0] : u[0] & (0x3Fu >> more);
    for (i = 1; i <= more; i++) *cp = *cp << 6 | (u[i] & 0x3F);
    return more + 1;
}
AGENTI_FN size_t agenti_json_chars(agent_str raw)
{
    size_t i, n = 0;
    uint32_t cp;
    for (i = 0; i < raw.n; n++) i += agenti_json_char(raw.p + i, raw.n - i, &cp);
    AGENTI_TOUCH(raw.n);
    return n;
}
/* ---- hashes ---- */
static void agenti_hash_add(uint64_t h[2], uint64_t v)
{
    h[0] = (h[0] ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    h[0] ^= h[0] >> 29;
    h[1] = (h[1] + v + 1) * UINT64_C(0xC2B2AE3D27D4EB4F);
    h[1] ^= h[1] >> 32;
}
static void agenti_hash_start(uint64_t h[2], uint64_t seed, unsigned kind)
{
    h[0] = seed;
    h[1] = ~seed;
    agenti_hash_add(h, kind);
}
static void agenti_hash_chars(uint64_t h[2], agent_str raw)
{
    size_t i;
    uint32_t cp;
    for (i = 0; i < raw.n; agenti_hash_add(h, cp)) i += agenti_json_char(raw.p + i, raw.n - i, &cp);
    AGENTI_TOUCH(raw.n);
}
static void agenti_hash_number(uint64_t h[2], agent_str t)
{
    char digits[64];
    int neg;
    int64_t point;
    size_t n = agenti_num_normal(t, &neg, &point, digits, sizeof digits), i;
    agenti_hash_add(h, (uint64_t)neg);
    agenti_hash_add(h, (uint64_t)point);
    agenti_hash_add(h, n);
    for (i = 0; i < n && i < sizeof digits; i++) agenti_hash_add(h, (unsigned char)digits[i]);
}
AGENTI_FN int agenti_is_number(agent_str v) { return v.n > 0 && (v.p[0] == '-' || (v.p[0] >= '0' && v.p[0] <= '9')); }
AGENTI_FN agent_str agenti_unquoted(agent_str v) { return agenti_str(v.p + 1, v.n < 2 ? 0 : v.n - 2); }
static void agenti_hash_scalar(uint64_t h[2], agent_str v, uint64_t seed)
{
    agenti_hash_start(h, seed, v.n ? (unsigned char)v.p[0] == '"' ? '"' : agenti_is_number(v) ? '0' : (unsigned char)v.p[0] : 0);
    if (v.n && v.p[0] == '"') agenti_hash_chars(h, agenti_unquoted(v));
    else if (agenti_is_number(v)) agenti_hash_number(h, v);
}
/* A value inside is known: it counts in what it stands in, in an array at its place, in an object with its key alone. */
static void agenti_hash_member(agent_json_level *l, const uint64_t v[2])
{
    uint64_t m[2];
    if (!l->object) {
        agenti_hash_add(l->h, v[0]);
        agenti_hash_add(l->h, v[1]);
        return;
    }
    m[0] = l->key[0];
    m[1] = l->key[1];
    agenti_hash_add(m, v[0]);
    agenti_hash_add(m, v[1]);
    l->h[0] += m[0];
    l->h[1] += m[1];
}
static void agenti_hash_open(agent_json_level *l, char bracket, uint64_t seed)
{
    l->object = bracket == '{';
    agenti_hash_start(l->h, seed, (unsigned char)bracket);
}
/* One token of an array or object at p; behind it. A string before a colon is a key. */
static const char *agenti_hash_token(agent_json_level *l, const char *p, const char *end, uint64_t seed)
{
    size_t k = agenti_json_skip(p, (size_t)(end - p));
    const char *after = p + (k ? k : 1);
    agent_str v = agenti_str(p, k);
    uint64_t h[2];
    if (k == 0) return after;                 /* a comma or colon                                                      */
    if (*p == '"' && l->object) {
        const char *colon = after + agenti_json_space(after, (size_t)(end - after));
        if (colon < end && *colon == ':') {
            agenti_hash_start(l->key, seed, 'k');
            agenti_hash_chars(l->key, agenti_unquoted(v));
            return colon + 1;
        }
    }
    agenti_hash_scalar(h, v, seed);
    agenti_hash_member(l, h);
    return after;
}
AGENTI_FN int agenti_json_hash(agent_json_level *x, agent_str value, uint64_t seed, uint64_t out[2])
{
    const char *p = value.p, *end = value.p + value.n;
    uint32_t depth = 0;
    if (value.n == 0 || (*p != '{' && *p != '[')) { agenti_hash_scalar(out, value, seed); return 1; }
    agenti_hash_open(&x[0], *p++, seed);
    while ((p += agenti_json_space(p, (size_t)(end - p))) < end) {
        if (*p == '{' || *p == '[') {
            if (++depth > AGENTI_J_DEPTH) return 0;
            agenti_hash_open(&x[depth], *p++, seed);
        } else if (*p == '}' || *p == ']') {
            p++;
            if (depth-- == 0) break;
            agenti_hash_member(&x[depth], x[depth + 1].h);
        } else p = agenti_hash_token(&x[depth], p, end, seed);
    }
    out[0] = x[0].h[0];
    out[1] = x[0].h[1];
    return 1;
}
AGENTI_FN int agenti_chars_equal(agent_str a, agent_str b)
{
    size_t i = 0, j = 0;
    uint32_t c = 0, d = 0;
    if (a.n == b.n && memcmp(a.p, b.p, a.n) == 0) return 1;
    while (i < a.n && j < b.n && c == d) {
        i += agenti_json_char(a.p + i, a.n - i, &c);
        j += agenti_json_char(b.p + j, b.n - j, &d);
    }
    return c == d && i == a.n && j == b.n;
}
AGENTI_FN int agenti_json_equal(agent_json_level *x, agent_str a, agent_str b)
{
    uint64_t h[2], g[2];
    if (a.n == 0 || b.n == 0) return a.n == b.n;
    if (agenti_is_number(a)) return agenti_is_number(b) && agenti_num_compare(a, b) == 0;
    if (a.p[0] != b.p[0]) return 0;
    if (a.p[0] == '"') return agenti_chars_equal(agenti_unquoted(a), agenti_unquoted(b));
    if (a.p[0] != '{' && a.p[0] != '[') return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
    return agenti_json_hash(x, a, 0, h) && agenti_json_hash(x, b, 0, g) && h[0] == g[0] && h[1] == g[1];
}
#endif
