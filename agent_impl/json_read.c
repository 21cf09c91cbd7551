/* JSON in: a strict check, then views of what was checked. Strings are scanned 16 bytes at a time with SSE2, 8 with plain words;
 * the byte-wise twins of both scanners are what tests compare them with. AGENTI_NO_SIMD leaves SSE2 out. */
typedef struct agenti_field { const char *key; int8_t up; } agenti_field;   /* a member of the object in row `up`; -1: the root */

AGENTI_FN size_t agenti_json_plain(const char *p, size_t n);        /* length up to the first '"', '\' or control      */
AGENTI_FN size_t agenti_json_plain_bytes(const char *p, size_t n);
AGENTI_FN size_t agenti_json_marks(const char *p, size_t n);        /* length up to the first of " [ ] { }             */
AGENTI_FN size_t agenti_json_marks_bytes(const char *p, size_t n);
/* p behind a string's opening quote: the length up to the closing one; or NO: a control byte comes before it, CUT: the end does. Escapes
 * are passed over, and not checked. The 16 bytes before p may be read if `back`. */
enum { AGENTI_JSON_ESCAPED = 1, AGENTI_JSON_HIGH = 2 /* bytes that are not ASCII */ };
#define AGENTI_JSON_NO ((size_t)-1)
#define AGENTI_JSON_CUT ((size_t)-2)
AGENTI_FN size_t agenti_json_word(const char *p, size_t n, int back, int *marks);
AGENTI_FN size_t agenti_json_word_bytes(const char *p, size_t n, int *marks);
/* The same, if it is short and plain: 16 bytes from p on may be read. NO: it is not, or cannot be told here. Its marks: ESCAPED never. */
AGENTI_FN size_t agenti_json_brief(const char *p, int *marks);
AGENTI_FN size_t agenti_json_few_blanks(const char *p);      /* of the first 16 bytes; 16: maybe more                   */
AGENTI_FN int    agenti_bytes_same(const char *p, const char *q, size_t n);  /* n >= 16                                 */
AGENTI_FN size_t agenti_json_blanks(const char *p, size_t n, int back);      /* length of the spaces, and nothing but spaces */
/* Unescapes over itself valid UTF-8 with valid escapes, none of a surrogate: the length of the text. */
AGENTI_FN size_t agenti_json_unescape(char *p, size_t n);
/* p at a backslash: length of the escape and its UTF-16 unit, or 0: bad or cut. */
AGENTI_FN size_t agenti_json_escape(const char *p, size_t n, uint32_t *unit);
AGENTI_FN size_t agenti_json_space(const char *p, size_t n);        /* length of the blanks                            */
/* Length of the value at p, not checked; 0: hopeless. Never looks past n. */
AGENTI_FN size_t agenti_json_skip(const char *p, size_t n);
AGENTI_FN size_t agenti_json_box(const char *p, size_t n);          /* the same of an object or array, at its bracket  */
AGENTI_FN size_t agenti_json_box_bytes(const char *p, size_t n);
/* Is a raw string (without its quotes) this text once unescaped? */
AGENTI_FN int    agenti_json_same(agent_str raw, agent_str text);
/* One pass over the object `json`; out[i]: the raw value of row i, or {NULL,0}. Of duplicate keys the last wins, with all that is in
 * it. n <= 64, a row stands after the row it refers to, keys of one object are distinct; only objects are descended into. */
AGENTI_FN void   agenti_json_pick(agent_str json, const agenti_field *table, int n, agent_str *out);
/* The text of a raw string that lies in memory of ours: a view, unescaped in place, or where it grows in the arena; always valid
 * UTF-8. *high carries a high surrogate escape at the end over to the next string of the stream; high NULL: it becomes U+FFFD. Not a
 * string: out is the value as written and *high stays. 0: no memory, nothing changed. */
AGENTI_FN int    agenti_json_string(agent_str value, uint16_t *high, agenti_arena *, agent_str *out);
/* The check is a loop over tokens and what may come next; one bit a level says whether it is an object. */
enum { AGENTI_J_VALUE, AGENTI_J_FIRST /* a value or ] */, AGENTI_J_KEY, AGENTI_J_KEY1 /* a key or } */, AGENTI_J_NEXT };
enum { AGENTI_J_DEPTH = 64 };
typedef struct agenti_jcheck {
    uint64_t objects;                    /* the lowest bit: the innermost level                                         */
    uint32_t depth, limit;
    int state, code;
    const char *why;                     /* set: it failed                                                              */
} agenti_jcheck;
/* at: not a blank, before end. Returns what comes after the token, or sets why and returns where. A key is taken with its colon. */
AGENTI_FN const char *agenti_json_token(agenti_jcheck *, const char *at, const char *end);
#ifdef AGENT_NO_CODECS
AGENTI_FN int agent_json_check(const char *p, size_t n, uint32_t depth, agent_json_error *err);
AGENTI_FN agent_str agent_json_get(agent_str json, const char *path);
AGENTI_FN int agent_json_each(agent_str json, size_t *pos, agent_str *key, agent_str *value);
AGENTI_FN int agent_json_is(agent_str value, const char *literal);
AGENTI_FN int64_t agent_json_int(agent_str value, int64_t otherwise);
AGENTI_FN double agent_json_num(agent_str value, double otherwise);
#endif

#if !defined AGENTI_SPLIT || defined AGENTI_PART_JSON_READ
#if defined __SSE2__ && defined __GNUC__ && !defined AGENTI_NO_SIMD
#include <emmintrin.h>
#define AGENTI_SSE2 1
#endif

AGENTI_FN size_t agenti_json_plain_bytes(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && (unsigned char)p[i] >= 0x20 && p[i] != '"' && p[i] != '\\') i++;
    return i;
}
AGENTI_FN size_t agenti_json_marks_bytes(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] != '"' && (p[i] | 0x20) != '{' && (p[i] | 0x20) != '}') i++;
    return i;
}
#ifdef AGENTI_SSE2
static __m128i agenti_load16(const char *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }
static size_t agenti_first(int mask) { return (size_t)__builtin_ctz((unsigned)mask); }
#endif
/* Words: a byte of w is below 20 (or 01: zero) if (w - 20...) & ~w & 80... is not 0; a borrow only reaches bytes over a true one, so "any"
 * is exact in either byte order, and which one is for the bytes to say. */
#define AGENTI_ONES UINT64_C(0x0101010101010101)
static uint64_t agenti_load8(const char *p) { uint64_t w; memcpy(&w, p, 8); return w; }
static uint64_t agenti_below(uint64_t w, unsigned limit) { return (w - AGENTI_ONES * limit) & ~w & AGENTI_ONES * 0x80; }

AGENTI_FN size_t agenti_json_plain(const char *p, size_t n)
{
    size_t i = 0;
    uint64_t w;
#ifdef AGENTI_SSE2
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1F);
    for (; n - i >= 16; i += 16) {
        __m128i v = agenti_load16(p + i), hit = _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash));
        int mask = _mm_movemask_epi8(_mm_or_si128(hit, _mm_cmpeq_epi8(_mm_min_epu8(v, control), v)));
        if (mask) return i + agenti_first(mask);
    }
#endif
    for (; n - i >= 8; i += 8) {
        w = agenti_load8(p + i);
        if (agenti_below(w, 0x20) | agenti_below(w ^ AGENTI_ONES * '"', 1) | agenti_below(w ^ AGENTI_ONES * '\\', 1)) break;
    }
    return i + agenti_json_plain_bytes(p + i, n - i);
}
static size_t agenti_json_word_from(const char *p, size_t i, size_t n, int *marks)
{
    for (; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        if (c == '"') return i;
        if (c == '\\') {
            *marks |= AGENTI_JSON_ESCAPED;
            if (++i == n) break;
            c = (unsigned char)p[i];
        }
        if (c < 0x20) return AGENTI_JSON_NO;
        if (c >= 0x80) *marks |= AGENTI_JSON_HIGH;
    }
    return AGENTI_JSON_CUT;
}
AGENTI_FN size_t agenti_json_word_bytes(const char *p, size_t n, int *marks)
{
    *marks = 0;
    return agenti_json_word_from(p, 0, n, marks);
}
AGENTI_FN size_t agenti_json_word(const char *p, size_t n, int back, int *marks)
{
    size_t i = 0;
#ifdef AGENTI_SSE2
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1F);
    const size_t least = back ? 1 : 16;
    *marks = 0;
    while (n - i >= least) {
        size_t over = n - i < 16 ? 16 - (n - i) : 0, k;      /* so many bytes are looked at again                       */
        __m128i v = agenti_load16(p + i - over), hit = _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash));
        int mask = _mm_movemask_epi8(_mm_or_si128(hit, _mm_cmpeq_epi8(_mm_min_epu8(v, control), v))) >> over;
        k = mask ? agenti_first(mask) : 16 - over;
        if ((_mm_movemask_epi8(v) >> over) & ((1 << k) - 1)) *marks |= AGENTI_JSON_HIGH;
        i += k;
        if (mask == 0) continue;
        if (p[i] == '"') return i;
        if (p[i] != '\\') return AGENTI_JSON_NO;
        if (n - i < 2) return AGENTI_JSON_CUT;
        if ((unsigned char)p[i + 1] < 0x20) return AGENTI_JSON_NO;
        *marks |= (unsigned char)p[i + 1] >= 0x80 ? AGENTI_JSON_ESCAPED | AGENTI_JSON_HIGH : AGENTI_JSON_ESCAPED;
        i += 2;
    }
#else
    (void)back;
    *marks = 0;
    for (; n - i >= 8; i += 8) {
        uint64_t w = agenti_load8(p + i);
        if (agenti_below(w, 0x20) | agenti_below(w ^ AGENTI_ONES * '"', 1) | agenti_below(w ^ AGENTI_ONES * '\\', 1)) break;
        if (w & AGENTI_ONES * 0x80) *marks |= AGENTI_JSON_HIGH;
    }
#endif
    return agenti_json_word_from(p, i, n, marks);
}
AGENTI_FN size_t agenti_json_brief(const char *p, int *marks)
{
#ifdef AGENTI_SSE2
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1F), v = agenti_load16(p);
    int mask = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)),
                                              _mm_cmpeq_epi8(_mm_min_epu8(v, control), v)));
    size_t k;
    if (mask == 0 || p[k = agenti_first(mask)] != '"') return AGENTI_JSON_NO;
    *marks = _mm_movemask_epi8(v) & ((1 << k) - 1) ? AGENTI_JSON_HIGH : 0;
    return k;
#else
    uint64_t w = agenti_load8(p);
    size_t k = 0;
    if (agenti_below(w, 0x20) | agenti_below(w ^ AGENTI_ONES * '\\', 1) | (w & AGENTI_ONES * 0x80)) return AGENTI_JSON_NO;
    while (k < 8 && p[k] != '"') k++;
    *marks = 0;
    return k < 8 ? k : AGENTI_JSON_NO;
#endif
}
AGENTI_FN size_t agenti_json_few_blanks(const char *p)
{
#ifdef AGENTI_SSE2
    unsigned mask = 0xFFFFu ^ (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(agenti_load16(p), _mm_set1_epi8(' ')));
    return agenti_first((int)(mask | 0x10000u));
#else
    return agenti_json_blanks(p, 16, 0);
#endif
}
AGENTI_FN int agenti_bytes_same(const char *p, const char *q, size_t n)
{
#ifdef AGENTI_SSE2
    __m128i all = _mm_cmpeq_epi8(agenti_load16(p + n - 16), agenti_load16(q + n - 16));
    size_t i = 0;
    for (; n - i > 32; i += 32)
        all = _mm_and_si128(all, _mm_and_si128(_mm_cmpeq_epi8(agenti_load16(p + i), agenti_load16(q + i)),
                                               _mm_cmpeq_epi8(agenti_load16(p + i + 16), agenti_load16(q + i + 16))));
    for (; n - i > 16; i += 16) all = _mm_and_si128(all, _mm_cmpeq_epi8(agenti_load16(p + i), agenti_load16(q + i)));
    return _mm_movemask_epi8(all) == 0xFFFF;
#else
    return memcmp(p, q, n) == 0;
#endif
}
AGENTI_FN size_t agenti_json_blanks(const char *p, size_t n, int back)
{
    size_t i = 0;
#ifdef AGENTI_SSE2
    const __m128i blank = _mm_set1_epi8(' ');
    const size_t least = back ? 1 : 16;
    while (n - i >= least) {
        size_t over = n - i < 16 ? 16 - (n - i) : 0;
        unsigned mask = ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(agenti_load16(p + i - over), blank)) >> over;
        size_t k = agenti_first((int)mask);                  /* the mask's upper half is all ones                       */
        if (k < 16 - over) return i + k;
        i += 16 - over;
    }
#else
    (void)back;
#endif
    while (i < n && p[i] == ' ') i++;
    return i;
}
/* The same as agenti_json_plain; most strings end in the first 16 bytes.                                               */
static size_t agenti_json_short(const char *p, size_t n)
{
#ifdef AGENTI_SSE2
    if (n >= 16) {
        __m128i v = agenti_load16(p), hit = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
        int mask = _mm_movemask_epi8(_mm_or_si128(hit, _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1F)), v)));
        if (mask) return agenti_first(mask);
    }
#endif
    return agenti_json_plain(p, n);
}
AGENTI_FN size_t agenti_json_marks(const char *p, size_t n)
{
    size_t i = 0;
    uint64_t w, low;
#ifdef AGENTI_SSE2
    const __m128i quote = _mm_set1_epi8('"'), bit = _mm_set1_epi8(0x20), open = _mm_set1_epi8('{'), shut = _mm_set1_epi8('}');
    for (; n - i >= 16; i += 16) {
        __m128i v = agenti_load16(p + i), fold = _mm_or_si128(v, bit);      /* [ and { differ in one bit, ] and } too  */
        __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(fold, open), _mm_cmpeq_epi8(fold, shut));
        int mask = _mm_movemask_epi8(_mm_or_si128(hit, _mm_cmpeq_epi8(v, quote)));
        if (mask) return i + agenti_first(mask);
    }
#endif
    for (; n - i >= 8; i += 8) {
        w = agenti_load8(p + i);
        low = w | AGENTI_ONES * 0x20;
        w = agenti_below(w ^ AGENTI_ONES * '"', 1);
        if (w | agenti_below(low ^ AGENTI_ONES * '{', 1) | agenti_below(low ^ AGENTI_ONES * '}', 1)) break;
    }
    return i + agenti_json_marks_bytes(p + i, n - i);
}
AGENTI_FN size_t agenti_json_space(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && (unsigned char)p[i] <= ' ' && (p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t')) i++;
    return i;
}
static const char *agenti_json_past(const char *at, const char *end)            /* blanks; most often there are none     */
{
    return at < end && (unsigned char)*at <= ' ' ? at + agenti_json_space(at, (size_t)(end - at)) : at;
}
static int agenti_json_hex(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c = agenti_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
AGENTI_FN size_t agenti_json_escape(const char *p, size_t n, uint32_t *unit)
{
    size_t i;
    int digit;
    if (n < 2) return 0;
    switch (p[1]) {
    case '"': case '\\': case '/': *unit = (uint32_t)p[1]; return 2;
    case 'b': *unit = '\b'; return 2;
    case 'f': *unit = '\f'; return 2;
    case 'n': *unit = '\n'; return 2;
    case 'r': *unit = '\r'; return 2;
    case 't': *unit = '\t'; return 2;
    case 'u': break;
    default: return 0;
    }
    if (n < 6) return 0;
    for (*unit = 0, i = 2; i < 6; i++) {
        digit = agenti_json_hex(p[i]);
        if (digit < 0) return 0;
        *unit = *unit << 4 | (uint32_t)digit;
    }
    return 6;
}

/* The check */
static const char *agenti_json_fail(agenti_jcheck *c, const char *at, const char *why)
{
    c->code = AGENT_E_SYNTAX;
    c->why = why;
    return at;
}
static const char *agenti_json_unexpected(agenti_jcheck *c, const char *at, const char *end)
{
    const char *why = AGENTI_WHY("expected a value");
    if (c->state == AGENTI_J_FIRST) why = AGENTI_WHY("expected a value or ']'");
    else if (c->state == AGENTI_J_KEY) why = AGENTI_WHY("expected a key");
    else if (c->state == AGENTI_J_KEY1) why = AGENTI_WHY("expected a key or '}'");
    else if (c->state == AGENTI_J_NEXT && c->depth == 0) why = AGENTI_WHY("expected the end");
    else if (c->state == AGENTI_J_NEXT) why = c->objects & 1 ? AGENTI_WHY("expected ',' or '}'") : AGENTI_WHY("expected ',' or ']'");
    else if (end - at >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) why = AGENTI_WHY("expected a value, not a byte order mark");
    return agenti_json_fail(c, at, why);
}
static const char *agenti_json_check_string(agenti_jcheck *c, const char *at, const char *end)      /* at: after the quote */
{
    uint32_t unit;
    size_t k;
    for (;;) {
        at += agenti_json_short(at, (size_t)(end - at));
        if (at == end) return agenti_json_fail(c, at, "expected '\"' at the end of a string");
        if (*at == '"') return at + 1;
        if (*at != '\\') return agenti_json_fail(c, at, AGENTI_WHY("expected no control character in a string"));
        k = agenti_json_escape(at, (size_t)(end - at), &unit);
        if (k == 0) return agenti_json_fail(c, at, AGENTI_WHY("expected an escape of JSON"));
        at += k;
    }
}
static const char *agenti_json_check_scalar(agenti_jcheck *c, const char *at, const char *end)
{
    const char *word = *at == 't' ? "true" : *at == 'n' ? "null" : "false";
    size_t n = (size_t)(end - at), k;
    if (*at == '"') return agenti_json_check_string(c, at + 1, end);
    if (*at == '-' || (*at >= '0' && *at <= '9')) {
        k = agenti_num_prefix(at, n);
        if (k == 0) return agenti_json_fail(c, at + 1, AGENTI_WHY("expected a digit"));
        at += k;
        if (at == end || (*at != '.' && (*at | 0x20) != 'e' && (*at < '0' || *at > '9'))) return at;
        return agenti_json_fail(c, at, *at >= '0' && *at <= '9' ? AGENTI_WHY("expected no leading zero") : AGENTI_WHY("expected a digit after this"));
    }
    k = word[0] == 'f' ? 5 : 4;
    if (n >= k && memcmp(at, word, 4) == 0 && (k == 4 || at[4] == 'e')) return at + k;
    return agenti_json_unexpected(c, at, end);
}
static const char *agenti_json_check_key(agenti_jcheck *c, const char *at, const char *end)
{
    at = agenti_json_check_string(c, at + 1, end);
    if (c->why) return at;
    at = agenti_json_past(at, end);
    if (at == end || *at != ':') return agenti_json_fail(c, at, AGENTI_WHY("expected ':'"));
    c->state = AGENTI_J_VALUE;
    return at + 1;
}
static const char *agenti_json_check_open(agenti_jcheck *c, const char *at)
{
    int object = *at == '{';
    if (c->depth == c->limit) {
        agenti_json_fail(c, at, AGENTI_WHY("nested too deep"));
        c->code = AGENT_E_LIMIT;
        return at;
    }
    c->depth++;
    c->objects = c->objects << 1 | (uint64_t)object;
    c->state = object ? AGENTI_J_KEY1 : AGENTI_J_FIRST;
    return at + 1;
}
static const char *agenti_json_check_shut(agenti_jcheck *c, const char *at)
{
    c->depth--;
    c->objects >>= 1;
    c->state = AGENTI_J_NEXT;
    return at + 1;
}
static const char *agenti_json_check_next(agenti_jcheck *c, const char *at, const char *end)     /* after a value       */
{
    int object = (int)(c->objects & 1);
    if (c->depth > 0 && *at == ',') { c->state = object ? AGENTI_J_KEY : AGENTI_J_VALUE; return at + 1; }
    if (c->depth > 0 && *at == (object ? '}' : ']')) return agenti_json_check_shut(c, at);
    return agenti_json_unexpected(c, at, end);
}
AGENTI_FN const char *agenti_json_token(agenti_jcheck *c, const char *at, const char *end)
{
    if (c->state == AGENTI_J_NEXT) return agenti_json_check_next(c, at, end);
    if (c->state == AGENTI_J_KEY || c->state == AGENTI_J_KEY1) {
        if (*at == '"') return agenti_json_check_key(c, at, end);
        if (*at == '}' && c->state == AGENTI_J_KEY1) return agenti_json_check_shut(c, at);
        return agenti_json_unexpected(c, at, end);
    }
    if (*at == '{' || *at == '[') return agenti_json_check_open(c, at);
    if (*at == ']' && c->state == AGENTI_J_FIRST) return agenti_json_check_shut(c, at);
    at = agenti_json_check_scalar(c, at, end);
    c->state = AGENTI_J_NEXT;
    return at;
}
/* At a key: members without blanks and escapes, the commonest, as far as their values are strings. Where the check has to go on: at a key
 * again, at a value or behind one.                                                                                     */
static const char *agenti_json_check_members(agenti_jcheck *c, const char *at, const char *end)
{
    const char *q;
    for (;;) {
        q = at + 1 + agenti_json_short(at + 1, (size_t)(end - at) - 1);
        if (end - q < 3 || q[0] != '"' || q[1] != ':') return at;
        if (q[2] != '"') { c->state = AGENTI_J_VALUE; return q + 2; }
        q += 3;
        q += agenti_json_short(q, (size_t)(end - q));
        if (end - q < 3 || *q != '"') return at;
        if (q[1] != ',' || q[2] != '"') { c->state = AGENTI_J_NEXT; return q + 1; }
        c->state = AGENTI_J_KEY;
        at = q + 2;
    }
}
AGENTI_CODEC int agent_json_check(const char *p, size_t n, uint32_t depth, agent_json_error *err)
{
    agent_str t = n == AGENT_CSTR ? agenti_cstr(p) : agenti_str(p, n);
    const char *at = t.p, *end = t.p + t.n;
    agenti_jcheck c;
    int key;
    memset(&c, 0, sizeof c);
    c.limit = depth == 0 || depth > AGENTI_J_DEPTH ? (uint32_t)AGENTI_J_DEPTH : depth;
    AGENTI_TOUCH(t.n);
    for (;;) {
        at = agenti_json_past(at, end);
        if (at == end) break;
        key = *at == '"' && (c.state == AGENTI_J_KEY || c.state == AGENTI_J_KEY1);
        if (key) at = agenti_json_check_members(&c, at, end);
        if (key && c.state != AGENTI_J_KEY && c.state != AGENTI_J_KEY1) continue;
        at = agenti_json_token(&c, at, end);
        if (c.why) break;
    }
    if (c.why == NULL && (c.depth > 0 || c.state != AGENTI_J_NEXT)) agenti_json_unexpected(&c, at, end);
    if (err) {
        err->offset = c.why ? (size_t)(at - t.p) : 0;
        err->why = c.why ? c.why : "";
    }
    return c.code;
}

/* Views */
static size_t agenti_json_skip_string(const char *p, size_t n)                  /* p at the quote; 0: no end            */
{
    size_t i = 1;
    while (i < n) {
        i += agenti_json_short(p + i, n - i);
        if (i >= n) return 0;
        if (p[i] == '"') return i + 1;
        i += p[i] == '\\' ? 2 : 1;
    }
    return 0;
}
AGENTI_FN size_t agenti_json_box_bytes(const char *p, size_t n)
{
    size_t i = 1, depth = 1, k;
    while (i < n) {
        i += agenti_json_marks(p + i, n - i);
        if (i == n) return 0;
        if (p[i] == '"') {
            k = agenti_json_skip_string(p + i, n - i);
            if (k == 0) return 0;
            i += k;
            continue;
        }
        depth = p[i] == '[' || p[i] == '{' ? depth + 1 : depth - 1;
        i++;
        if (depth == 0) return i;
    }
    return 0;
}
#ifdef AGENTI_SSE2
/* The bytes up to `to`, or one more behind a backslash; stops behind the end of the box. in: all ones inside a string.  */
static size_t agenti_json_box_step(const char *p, size_t i, size_t to, unsigned *in, size_t *depth)
{
    for (; i < to && *depth; i++) {
        if (p[i] == '"') *in = ~*in;
        else if (*in) i += p[i] == '\\';
        else if ((p[i] | 0x20) == '{') ++*depth;
        else if ((p[i] | 0x20) == '}') --*depth;
    }
    return i;
}
/* 16 bytes at once: which are inside strings is the parity of the quotes before them, as long as no backslash is there. */
AGENTI_FN size_t agenti_json_box(const char *p, size_t n)
{
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), bit = _mm_set1_epi8(0x20), open = _mm_set1_epi8('{'), shut = _mm_set1_epi8('}');
    size_t i = 1, depth = 1;
    unsigned in = 0, q, opens, boxes;
    if (n < 32) return agenti_json_box_bytes(p, n);
    while (i < n && n - i >= 16) {
        __m128i v = agenti_load16(p + i), fold = _mm_or_si128(v, bit);
        if (_mm_movemask_epi8(_mm_cmpeq_epi8(v, slash))) {
            i = agenti_json_box_step(p, i, i + 16, &in, &depth);
            if (depth == 0) return i;
            continue;
        }
        q = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, quote));
        q ^= q << 1;
        q ^= q << 2;
        q ^= q << 4;
        q ^= q << 8 ^ in;
        opens = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(fold, open));
        boxes = (opens | (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(fold, shut))) & ~q;
        for (; boxes; boxes &= boxes - 1) {
            depth += (opens & boxes & (0u - boxes)) ? 1 : (size_t)-1;
            if (depth == 0) return i + agenti_first((int)boxes) + 1;
        }
        in = 0u - (q >> 15 & 1);
        i += 16;
    }
    i = agenti_json_box_step(p, i, n, &in, &depth);
    return depth ? 0 : i;
}
#else
AGENTI_FN size_t agenti_json_box(const char *p, size_t n) { return agenti_json_box_bytes(p, n); }
#endif
AGENTI_FN size_t agenti_json_skip(const char *p, size_t n)
{
    size_t i = 0;
    if (n == 0) return 0;
    if (p[0] == '"') return agenti_json_skip_string(p, n);
    if (p[0] == '{' || p[0] == '[') return agenti_json_box(p, n);
    while (i < n && (unsigned char)p[i] > ' ' && p[i] != ',' && p[i] != ']' && p[i] != '}' && p[i] != ':' && p[i] != '"') i++;
    return i;
}
static agent_str agenti_json_none(void) { agent_str s; s.p = NULL; s.n = 0; return s; }
static agent_str agenti_json_view(const char *p, size_t n) { agent_str s; s.p = p; s.n = n; return s; }
static agent_str agenti_json_inside(agent_str value, int *string)               /* a string without its quotes          */
{
    *string = value.n > 0 && value.p[0] == '"';
    if (!*string) return value;
    value.p++;
    value.n--;
    if (value.n > 0 && value.p[value.n - 1] == '"') value.n--;
    return value;
}
AGENTI_CODEC int agent_json_each(agent_str json, size_t *pos, agent_str *key, agent_str *value)
{
    const char *at, *end;
    size_t k;
    if (key) *key = agenti_json_none();
    if (*pos >= json.n) return 0;
    at = json.p + *pos;
    end = json.p + json.n;
    at = agenti_json_past(at, end);
    if (at == end || (*pos == 0 ? *at != '{' && *at != '[' : *at != ',')) return 0;
    at++;
    at = agenti_json_past(at, end);
    k = agenti_json_skip(at, (size_t)(end - at));
    if (k > 0 && *at == '"') {           /* only a key stands before a colon                                            */
        const char *after = agenti_json_past(at + k, end);
        if (after < end && *after == ':') {
            if (key) *key = agenti_json_view(at + 1, k - 2);
            at = after + 1;
            at = agenti_json_past(at, end);
            k = agenti_json_skip(at, (size_t)(end - at));
        }
    }
    if (k == 0) return 0;
    if (value) *value = agenti_json_view(at, k);
    AGENTI_TOUCH((size_t)(at + k - json.p) - *pos);
    *pos = (size_t)(at + k - json.p);
    return 1;
}
static agent_str agenti_json_find(agent_str object, agent_str key)              /* the last of that key                 */
{
    agent_str found = agenti_json_none(), k, v;
    size_t pos = 0;
    if (object.n == 0 || object.p[0] != '{') return found;
    while (agent_json_each(object, &pos, &k, &v)) if (k.p && agenti_json_same(k, key)) found = v;
    return found;
}
static agent_str agenti_json_item(agent_str array, const char *index, size_t n)
{
    agent_str v;
    size_t pos = 0, i = 0, at;
    if (array.n == 0 || array.p[0] != '[' || n == 0) return agenti_json_none();
    for (at = 0; at < n; at++) {
        if (index[at] < '0' || index[at] > '9' || i > ((size_t)-1 - 9) / 10) return agenti_json_none();
        i = i * 10 + (size_t)(index[at] - '0');
    }
    while (agent_json_each(array, &pos, NULL, &v)) if (i-- == 0) return v;
    return agenti_json_none();
}
static agent_str agenti_json_step(agent_str v, const char **path, int key)      /* one part of a path, past it          */
{
    const char *p = *path;
    size_t n = 0;
    if (key) {
        while (p[n] && p[n] != '.' && p[n] != '[') n++;
        *path = p + n;
        return agenti_json_find(v, agenti_str(p, n));
    }
    while (p[n] && p[n] != ']') n++;
    if (p[0] != '[' || p[n] == 0) return agenti_json_none();
    *path = p + n + 1;
    return agenti_json_item(v, p + 1, n - 1);
}
AGENTI_CODEC agent_str agent_json_get(agent_str json, const char *path)
{
    size_t k = json.n ? agenti_json_space(json.p, json.n) : 0;
    int key = *path != '[';              /* a key comes first and after a dot                                           */
    agent_str v = json;
    if (k > 0) { v.p += k; v.n -= k; }
    v.n = v.n ? agenti_json_skip(v.p, v.n) : 0;
    if (v.n == 0) return agenti_json_none();
    if (*path == 0) return v;
    for (;;) {
        v = agenti_json_step(v, &path, key);
        if (v.p == NULL || *path == 0) return v;
        key = *path == '.';
        if (key) path++;
    }
}

/* Text. lead: a high surrogate that waits for its other half. */
static uint32_t agenti_json_unit(agenti_stage *s, uint32_t lead, uint32_t unit)
{
    char out[4];
    if (lead && unit >= 0xDC00 && unit <= 0xDFFF) {
        agenti_stage_add(s, out, agenti_utf8_put(out, 0x10000 + ((lead - 0xD800) << 10) + (unit - 0xDC00)));
        return 0;
    }
    if (lead) agenti_stage_add(s, "\xEF\xBF\xBD", 3);
    if (unit >= 0xD800 && unit <= 0xDBFF) return unit;
    agenti_stage_add(s, out, agenti_utf8_put(out, unit));
    return 0;
}
/* Into a sink that may write over raw: nothing goes there before it was read. */
static uint32_t agenti_json_decode(agenti_sink *to, agent_str raw, uint32_t lead)
{
    agenti_stage s;
    uint32_t unit;
    size_t k;
    agenti_stage_to(&s, to);
    while (raw.n > 0) {
        if (raw.p[0] == '\\') {
            k = agenti_json_escape(raw.p, raw.n, &unit);
            if (k == 0) { k = 1; unit = '\\'; }              /* not checked before: stays                            */
            lead = agenti_json_unit(&s, lead, unit);
        } else {
            const char *slash = (const char *)memchr(raw.p, '\\', raw.n);
            k = slash ? (size_t)(slash - raw.p) : raw.n;
            if (lead) agenti_stage_add(&s, "\xEF\xBF\xBD", 3);
            lead = 0;
            agenti_stage_text(&s, raw.p, k);
        }
        raw.p += k;
        raw.n -= k;
    }
    agenti_stage_flush(&s);
    return lead;
}
AGENTI_FN size_t agenti_json_unescape(char *p, size_t n)
{
    size_t i = 0, to = 0, k;
    uint32_t unit;
    while (i < n) {
        if (p[i] != '\\' && n - i <= 32) {   /* short ones byte by byte                                                */
            p[to++] = p[i];
            k = 1;
        } else if (p[i] != '\\') {
            const char *slash = (const char *)memchr(p + i, '\\', n - i);
            k = slash ? (size_t)(slash - p) - i : n - i;
            memmove(p + to, p + i, k);
            to += k;
        } else {
            k = agenti_json_escape(p + i, n - i, &unit);
            if (k == 0) break;
            to += agenti_utf8_put(p + to, unit);
        }
        i += k;
    }
    AGENTI_TOUCH(n);
    return to;
}
static void agenti_json_decode_all(agenti_sink *s, agent_str raw)
{
    if (agenti_json_decode(s, raw, 0)) agenti_sink_add(s, "\xEF\xBF\xBD", 3);
}
AGENTI_FN int agenti_json_same(agent_str raw, agent_str text)
{
    agenti_sink s;
    if (raw.n == 0 || text.n == 0) return raw.n == text.n;
    if (raw.n == text.n && memcmp(raw.p, text.p, raw.n) == 0) return memchr(raw.p, '\\', raw.n) == NULL;
    if (raw.n / 6 > text.n) return 0;    /* a byte takes 6 at most                                                      */
    if (raw.p[0] != text.p[0] && raw.p[0] != '\\' && (raw.p[0] & 0x80) == 0) return 0;
    agenti_sink_want(&s, text);
    agenti_json_decode_all(&s, raw);
    return !s.differs && s.n == text.n;
}
AGENTI_CODEC size_t agent_json_text(agent_str value, char *buf, size_t cap)
{
    agenti_sink s;
    int string;
    agent_str raw = agenti_json_inside(value, &string);
    agenti_sink_to(&s, buf, cap);
    if (string) agenti_json_decode_all(&s, raw);
    else agenti_sink_text(&s, raw.p, raw.n);
    return agenti_sink_end(&s);
}
AGENTI_CODEC int agent_json_is(agent_str value, const char *literal)
{
    int string;
    agent_str raw = agenti_json_inside(value, &string);
    return string && agenti_json_same(raw, agenti_cstr(literal));
}
AGENTI_CODEC int64_t agent_json_int(agent_str value, int64_t otherwise)
{
    int64_t v;
    return agenti_int(value, &v) ? v : otherwise;
}
AGENTI_CODEC double agent_json_num(agent_str value, double otherwise)
{
    double v;
    return agenti_double(value, &v) ? v : otherwise;
}
AGENTI_CODEC int agent_json_bool(agent_str value, int otherwise)
{
    if (value.n == 4 && memcmp(value.p, "true", 4) == 0) return 1;
    if (value.n == 5 && memcmp(value.p, "false", 5) == 0) return 0;
    return otherwise;
}

/* Can the text be written over the raw string? Only a bad byte grows, and a U+FFFD for a lead that finds no other half, unless an
 * escape of 6 bytes makes room for it. */
static int agenti_json_shrinks(agent_str raw, uint32_t lead)
{
    uint32_t unit;
    return (lead == 0 || (raw.p[0] == '\\' && agenti_json_escape(raw.p, raw.n, &unit) == 6)) && agenti_utf8_valid(raw.p, raw.n) == raw.n;
}
AGENTI_FN int agenti_json_string(agent_str value, uint16_t *high, agenti_arena *arena, agent_str *out)
{
    int string, shrinks;
    uint32_t lead = high ? *high : 0;
    agent_str raw = agenti_json_inside(value, &string);
    char *to = (char *)(uintptr_t)raw.p;
    agenti_sink s;
    *out = raw;
    if (!string || raw.n == 0) return 1;
    shrinks = agenti_json_shrinks(raw, lead);
    if (shrinks && memchr(raw.p, '\\', raw.n) == NULL) return 1;
    agenti_sink_to(&s, to, raw.n);
    if (!shrinks) {                      /* measure, then write                                                         */
        agenti_sink_to(&s, NULL, 0);
        if (agenti_json_decode(&s, raw, lead) && high == NULL) agenti_sink_add(&s, "\xEF\xBF\xBD", 3);
        to = s.n == (size_t)-1 ? NULL : agenti_arena_get(arena, s.n);
        if (to == NULL) return 0;
        agenti_sink_to(&s, to, s.n);
    }
    lead = agenti_json_decode(&s, raw, lead);
    if (high) *high = (uint16_t)lead;
    else if (lead) agenti_sink_add(&s, "\xEF\xBF\xBD", 3);
    *out = agenti_json_view(to, s.n);
    return 1;
}

/* Picking. `first` has a bit for the first letter of every key that is looked for in the object of `row`: most keys end there. */
typedef struct agenti_picker {
    const agenti_field *table;
    agent_str *out;
    uint64_t boxes;                      /* rows that others refer to                                                   */
    int n, row;                          /* row: the object that is open; its members' rows are behind it               */
    char first[64];                      /* of each row's key                                                           */
} agenti_picker;

static int agenti_pick_equal(const char *raw, size_t n, const char *key)
{
    size_t i = 0;
    while (i < n && key[i] && key[i] == raw[i]) i++;
    return i == n && key[i] == 0;
}
static int agenti_pick_row(const agenti_picker *k, agent_str raw, int plain)    /* -1: none; plain: no escape in raw    */
{
    int i;
    for (i = k->row + 1; i < k->n; i++) {
        if (plain) {
            const char *hit = (const char *)memchr(k->first + i, raw.n ? raw.p[0] : 0, (size_t)(k->n - i));
            if (hit == NULL) return -1;
            i = (int)(hit - k->first);
        }
        if (k->table[i].up != k->row) continue;
        if (plain ? agenti_pick_equal(raw.p, raw.n, k->table[i].key)
                  : agenti_json_same(raw, agenti_cstr(k->table[i].key))) return i;
    }
    return -1;
}
static void agenti_pick_forget(agenti_picker *k, int row)                       /* a duplicate: all that was found in it */
{
    uint64_t dead = (uint64_t)1 << row;
    int i;
    for (i = row + 1; i < k->n; i++) if (k->table[i].up >= 0 && (dead >> k->table[i].up & 1)) {
        dead |= (uint64_t)1 << i;
        k->out[i] = agenti_json_none();
    }
}
/* One member, at a key: returns what comes after it, or after the { of an object that is entered; NULL: hopeless. */
static const char *agenti_pick_member(agenti_picker *k, const char *at, const char *end)
{
    const char *key = at + 1;
    size_t n = agenti_json_short(key, (size_t)(end - key));
    int row, plain = n < (size_t)(end - key) && key[n] == '"';
    if (!plain) {
        n = agenti_json_skip_string(at, (size_t)(end - at));
        if (n == 0) return NULL;
        n -= 2;
    }
    at = agenti_json_past(key + n + 1, end);
    if (at == end || *at != ':') return NULL;
    at = agenti_json_past(at + 1, end);
    row = agenti_pick_row(k, agenti_json_view(key, n), plain);
    if (row >= 0 && (k->boxes >> row & 1)) {
        if (k->out[row].p) agenti_pick_forget(k, row);
        if (at < end && *at == '{') {
            k->out[row] = agenti_json_view(at, 0);
            k->row = row;
            return at + 1;
        }
    }
    n = agenti_json_skip(at, (size_t)(end - at));
    if (n == 0) return NULL;
    if (row >= 0) k->out[row] = agenti_json_view(at, n);
    return at + n;
}
static int agenti_pick_leave(agenti_picker *k, const char *at)                  /* 0: the root is done                  */
{
    int row = k->row;
    if (row < 0) return 0;
    k->out[row].n = (size_t)(at - k->out[row].p);
    k->row = k->table[row].up;
    return 1;
}
AGENTI_FN void agenti_json_pick(agent_str json, const agenti_field *table, int n, agent_str *out)
{
    agenti_picker k;
    const char *at, *end;
    int i;
    k.table = table;
    k.out = out;
    k.n = n;
    k.row = -1;
    k.boxes = 0;
    for (i = 0; i < n; i++) {
        out[i].p = NULL;
        out[i].n = 0;
        k.first[i] = table[i].key[0];
        if (table[i].up >= 0) k.boxes |= (uint64_t)1 << table[i].up;
    }
    AGENTI_TOUCH(json.n);
    if (json.n == 0) return;
    end = json.p + json.n;
    at = json.p + agenti_json_space(json.p, json.n);
    if (at == end || *at++ != '{') return;
    for (;;) {
        at = agenti_json_past(at, end);
        if (at == end) break;
        if (*at == '"') {
            at = agenti_pick_member(&k, at, end);
            if (at == NULL) break;
        } else if (*at == '}') {
            at++;
            if (!agenti_pick_leave(&k, at)) return;
        } else if (*at++ != ',') break;
    }
    for (; k.row >= 0; k.row = table[k.row].up) out[k.row] = agenti_json_none();                /* the text broke off   */
}
#endif
