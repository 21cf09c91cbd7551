/* Numbers from and to text: JSON's grammar, no locale, no floating-point arithmetic (so neither the rounding mode nor an x87
 * can spoil a result), exact. */
AGENTI_FN size_t agenti_num_prefix(const char *p, size_t n);        /* length of the longest JSON number at p, or 0    */
AGENTI_FN int    agenti_int(agent_str, int64_t *out);               /* a plain integer in range: 1                     */
AGENTI_FN int    agenti_count(agent_str, int64_t *out);             /* any number, toward 0, clamped to 0 .. 2^63-1 */
AGENTI_FN int    agenti_double(agent_str, double *out);             /* nearest, ties to even; 0: no number, or overflow */
AGENTI_FN int    agenti_num_compare(agent_str, agent_str);          /* < 0, 0, > 0, exact; what is no number is 0       */
AGENTI_FN int    agenti_num_whole(agent_str);                       /* a number without a fraction, as 1.50e1           */
AGENTI_FN int    agenti_num_divides(agent_str by, agent_str);       /* is the second a multiple of the first, exactly? by: to 18 digits */
/* Equal numbers have equal normal forms: 1 if negative, and the digits without zeros at either end, whose first stands for 10^(*point - 1).
 * Returns how many digits there are, at most cap of them in out; 0: zero, or no number.                                */
AGENTI_FN size_t agenti_num_normal(agent_str, int *neg, int64_t *point, char *out, size_t cap);
AGENTI_FN size_t agenti_u64_text(uint64_t v, char *out20);          /* length; no NUL                                  */
AGENTI_FN size_t agenti_i64_text(int64_t v, char *out21);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_NUM
typedef struct agenti_dec {              /* a decimal: 0.d0d1d2... * 10^point, read where it stands in the text           */
    const char *p;                       /* d0, not 0                                                                   */
    size_t n;                            /* digits; 0: the number is zero                                               */
    size_t dot;                          /* the point stands before this digit; (size_t)-1: not after d0                */
    int64_t point;
    int neg;
} agenti_dec;

static size_t agenti_digits(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] >= '0' && p[i] <= '9') i++;
    return i;
}
AGENTI_FN size_t agenti_num_prefix(const char *p, size_t n)
{
    size_t i = n > 0 && p[0] == '-', k;
    k = i < n && p[i] == '0' ? 1 : agenti_digits(p + i, n - i);
    if (k == 0) return 0;
    i += k;
    if (i < n && p[i] == '.') {
        k = agenti_digits(p + i + 1, n - i - 1);
        if (k == 0) return i;
        i += 1 + k;
    }
    if (i < n && (p[i] == 'e' || p[i] == 'E')) {
        size_t at = i + 1;
        if (at < n && (p[at] == '+' || p[at] == '-')) at++;
        k = agenti_digits(p + at, n - at);
        if (k > 0) i = at + k;
    }
    return i;
}
AGENTI_FN int agenti_int(agent_str t, int64_t *out)
{
    size_t neg = t.n > 0 && t.p[0] == '-', i;
    uint64_t v = 0, max = (uint64_t)INT64_MAX + neg;
    if (t.n == neg || agenti_digits(t.p + neg, t.n - neg) != t.n - neg) return 0;
    if (t.p[neg] == '0' && t.n > neg + 1) return 0;
    if (t.n - neg > 19) return 0;
    for (i = neg; i < t.n; i++) v = v * 10 + (uint64_t)(t.p[i] - '0');          /* < 10^19 < 2^64                       */
    if (v > max) return 0;
    *out = neg && v > 0 ? -(int64_t)(v - 1) - 1 : (int64_t)v;
    return 1;
}

static int64_t agenti_dec_exponent(const char *p, size_t n)                     /* clamped: no text has 10^17 digits    */
{
    size_t i = n > 0 && (p[0] == '-' || p[0] == '+');
    int64_t e = 0;
    for (; i < n; i++) if (e < INT64_C(100000000000000000)) e = e * 10 + (p[i] - '0');
    return n > 0 && p[0] == '-' ? -e : e;
}
static int agenti_dec_read(agent_str t, agenti_dec *d)
{
    size_t whole, frac = 0, at, zeros = 0;
    if (t.n == 0 || agenti_num_prefix(t.p, t.n) != t.n) return 0;
    AGENTI_TOUCH(t.n);
    d->neg = t.p[0] == '-';
    d->p = t.p + d->neg;
    whole = agenti_digits(d->p, t.n - (size_t)d->neg);
    at = (size_t)d->neg + whole;
    if (at < t.n && t.p[at] == '.') { frac = agenti_digits(t.p + at + 1, t.n - at - 1); at += 1 + frac; }
    d->point = at < t.n ? agenti_dec_exponent(t.p + at + 1, t.n - at - 1) : 0;
    d->dot = frac > 0 ? whole : (size_t)-1;
    if (d->p[0] == '0') {                                                       /* 0.00ddd                              */
        while (zeros < frac && d->p[2 + zeros] == '0') zeros++;
        d->p += frac > 0 ? 2 + zeros : 1;
        d->n = frac - zeros;
        d->dot = (size_t)-1;
        d->point -= (int64_t)zeros;
    } else {
        d->n = whole + frac;
        d->point += (int64_t)whole;
    }
    return 1;
}
static unsigned agenti_dec_digit(const agenti_dec *d, size_t i)
{
    return i < d->n ? (unsigned)(d->p[i + (i >= d->dot)] - '0') : 0;
}
AGENTI_FN int agenti_count(agent_str t, int64_t *out)
{
    agenti_dec d;
    size_t i;
    int64_t v = 0, digit;
    if (!agenti_dec_read(t, &d)) return 0;
    *out = 0;
    if (d.neg || d.n == 0 || d.point <= 0) return 1;
    *out = INT64_MAX;
    if (d.point > 19) return 1;
    for (i = 0; i < (size_t)d.point; i++) {
        digit = (int64_t)agenti_dec_digit(&d, i);
        if (v > (INT64_MAX - digit) / 10) return 1;
        v = v * 10 + digit;
    }
    *out = v;
    return 1;
}

static size_t agenti_dec_significant(const agenti_dec *d)                       /* digits without the zeros at the end  */
{
    size_t n = d->n;
    while (n > 0 && agenti_dec_digit(d, n - 1) == 0) n--;
    return n;
}
AGENTI_FN int agenti_num_compare(agent_str s, agent_str t)
{
    agenti_dec a, b;
    size_t i, n;
    int less;
    if (!agenti_dec_read(s, &a) || !agenti_dec_read(t, &b)) return 0;
    if (a.n == 0 || b.n == 0) return a.n ? (a.neg ? -1 : 1) : b.n ? (b.neg ? 1 : -1) : 0;
    less = a.neg ? 1 : -1;
    if (a.neg != b.neg) return -less;
    if (a.point != b.point) return a.point < b.point ? less : -less;
    n = a.n > b.n ? a.n : b.n;
    for (i = 0; i < n; i++)
        if (agenti_dec_digit(&a, i) != agenti_dec_digit(&b, i)) return agenti_dec_digit(&a, i) < agenti_dec_digit(&b, i) ? less : -less;
    return 0;
}
AGENTI_FN int agenti_num_whole(agent_str t)
{
    agenti_dec d;
    size_t n;
    if (!agenti_dec_read(t, &d)) return 0;
    n = agenti_dec_significant(&d);
    return n == 0 || (d.point > 0 && (uint64_t)d.point >= n);
}
AGENTI_FN int agenti_num_divides(agent_str by, agent_str t)
{
    agenti_dec d, v;
    size_t n, m, i;
    uint64_t div = 0, rest = 0;
    int64_t zeros;
    if (!agenti_dec_read(by, &d) || !agenti_dec_read(t, &v)) return 0;
    n = agenti_dec_significant(&d);
    m = agenti_dec_significant(&v);
    if (m == 0) return 1;
    if (n == 0 || n > 18) return 0;
    for (i = 0; i < n; i++) div = div * 10 + agenti_dec_digit(&d, i);
    zeros = (v.point - (int64_t)m) - (d.point - (int64_t)n);   /* both are whole numbers times a power of ten, of the lowest digit's place */
    if (zeros < 0) return 0;
    for (i = 0; i < m; i++) rest = (rest * 10 + agenti_dec_digit(&v, i)) % div;
    for (; zeros > 0 && zeros <= 64; zeros--) rest = rest * 10 % div;
    while (zeros > 0 && div % 2 == 0) div /= 2;                /* more tens than 2s and 5s: what else is in it decides  */
    while (zeros > 0 && div % 5 == 0) div /= 5;
    return rest % div == 0;
}
AGENTI_FN size_t agenti_num_normal(agent_str t, int *neg, int64_t *point, char *out, size_t cap)
{
    agenti_dec d;
    size_t n, i;
    *neg = 0;
    *point = 0;
    if (!agenti_dec_read(t, &d) || d.n == 0) return 0;
    n = agenti_dec_significant(&d);
    *neg = d.neg;
    *point = d.point;
    for (i = 0; i < n && i < cap; i++) out[i] = (char)('0' + agenti_dec_digit(&d, i));
    return n;
}

/* Nearest double. First 64-bit arithmetic with a bound of its error; when the bound reaches over the middle between two doubles, an
 * exact comparison with that middle decides: its decimal digits, lowest first, against those in the text. */
typedef struct agenti_approx { uint64_t f; int x; uint64_t err; } agenti_approx;    /* (f +- err) * 2^x, f >= 2^63     */

static uint64_t agenti_mul_high(uint64_t a, uint64_t b)
{
    uint64_t al = a & 0xFFFFFFFFu, ah = a >> 32, bl = b & 0xFFFFFFFFu, bh = b >> 32;
    uint64_t mid = ah * bl + (al * bl >> 32), low = al * bh + (mid & 0xFFFFFFFFu);
    return ah * bh + (mid >> 32) + (low >> 32);
}
static void agenti_approx_norm(agenti_approx *a)                                /* f > 0                                */
{
    int s;
    for (s = 32; s > 0; s /= 2) if (a->f >> (64 - s) == 0) { a->f <<= s; a->x -= s; a->err <<= s; }
}
/* times g * 2^gx, where g is at most half a unit wrong: err + 1/2 of g + 1 of the cut, below err + 2 */
static void agenti_approx_mul(agenti_approx *a, uint64_t g, int gx)
{
    a->f = agenti_mul_high(a->f, g);
    a->x += gx + 64;
    a->err += 2;
    agenti_approx_norm(a);
}
/* The exponent of 2 of 10^e as a 64-bit fraction: floor(e * log2(10)) - 63, for |e| <= 364. */
static int agenti_pow10_exp(int e) { return (int)((uint32_t)(e * 217706 + (2000 << 16)) >> 16) - 2000 - 63; }
static void agenti_approx_pow10(agenti_approx *a, int e)
{
    static const uint64_t big[25] = {    /* 10^-364, 10^-336 ... 10^308                                                  */
        UINT64_C(0xE1AFA13AFBD14D6E), UINT64_C(0xE3E27A444D8D98B8), UINT64_C(0xE61ACF033D1A45DF), UINT64_C(0xE858AD248F5C22CA),
        UINT64_C(0xEA9C227723EE8BCB), UINT64_C(0xECE53CEC4A314EBE), UINT64_C(0xEF340A98172AACE5), UINT64_C(0xF18899B1BC3F8CA2),
        UINT64_C(0xF3E2F893DEC3F126), UINT64_C(0xF64335BCF065D37D), UINT64_C(0xF8A95FCF88747D94), UINT64_C(0xFB158592BE068D2F),
        UINT64_C(0xFD87B5F28300CA0E), UINT64_C(0x8000000000000000), UINT64_C(0x813F3978F8940984), UINT64_C(0x82818F1281ED44A0),
        UINT64_C(0x83C7088E1AAB65DB), UINT64_C(0x850FADC09923329E), UINT64_C(0x865B86925B9BC5C2), UINT64_C(0x87AA9AFF79042287),
        UINT64_C(0x88FCF317F22241E2), UINT64_C(0x8A5296FFE33CC930), UINT64_C(0x8BAB8EEFB6409C1A), UINT64_C(0x8D07E33455637EB3),
        UINT64_C(0x8E679C2F5E44FF8F)
    };
    int k = (e + 364) / 28, r = (e + 364) % 28;
    agenti_approx p;
    p.f = 1;
    p.x = 0;
    p.err = 0;
    if (k != 13) agenti_approx_mul(a, big[k], agenti_pow10_exp(k * 28 - 364));
    if (r == 0) return;
    p.x = r;
    while (r-- > 0) p.f *= 5;            /* 5^27 < 2^63: exact                                                          */
    agenti_approx_norm(&p);
    agenti_approx_mul(a, p.f, p.x);
}

enum { AGENTI_BIG = 80 };                /* 2^54 * 5^1075 < 2^2560                                                     */
static int agenti_big_mul(uint32_t *big, int len, uint32_t by)
{
    uint64_t carry = 0;
    int i;
    for (i = 0; i < len; i++) { carry += (uint64_t)big[i] * by; big[i] = (uint32_t)carry; carry >>= 32; }
    if (carry && len < AGENTI_BIG) big[len++] = (uint32_t)carry;
    return len;
}
static uint32_t agenti_big_div(uint32_t *big, int *len)                         /* by 10^9; the rest                    */
{
    uint64_t rest = 0;
    int i;
    for (i = *len; i-- > 0;) { rest = rest << 32 | big[i]; big[i] = (uint32_t)(rest / 1000000000u); rest %= 1000000000u; }
    while (*len > 0 && big[*len - 1] == 0) --*len;
    return (uint32_t)rest;
}
/* d against m * 2^q: -1, 0, 1. m * 2^q is m * 5^-q * 10^q when q < 0. |d.point| is small here. */
static int agenti_dec_compare(const agenti_dec *d, uint64_t m, int q)
{
    uint32_t big[AGENTI_BIG], by, base = q < 0 ? 5 : 2, part;
    int len = 2, left = q < 0 ? -q : q, step, cmp = 0, at = (int)d->point - 1 - (q < 0 ? q : 0);    /* digit of the lowest place */
    size_t i;
    big[0] = (uint32_t)m;
    big[1] = (uint32_t)(m >> 32);
    for (; left > 0; left -= step) {
        for (step = 0, by = 1; step < 13 && step < left; step++) by *= base;
        len = agenti_big_mul(big, len, by);
    }
    for (i = at < 0 ? 0 : (size_t)at + 1; i < d->n && cmp == 0; i++) cmp = agenti_dec_digit(d, i) > 0;
    while (len > 0) {
        part = agenti_big_div(big, &len);
        for (step = 0; step < 9; step++, at--, part /= 10) {
            unsigned mine = at < 0 ? 0 : agenti_dec_digit(d, (size_t)at);
            if (mine != part % 10) cmp = mine > part % 10 ? 1 : -1;
        }
    }
    return at >= 0 ? 1 : cmp;            /* d0 stands over all that m * 2^q has                                         */
}
/* Does dropping `drop` low bits, 11 to 65, round up? 2: err is too large to tell. */
static int agenti_round_up(const agenti_approx *a, int drop)
{
    uint64_t half, rest;
    if (drop == 65) return 0 - a->f <= a->err ? 2 : 0;
    half = (uint64_t)1 << (drop - 1);
    rest = a->f & (half * 2 - 1);
    if ((rest > half ? rest - half : half - rest) <= a->err) return 2;
    return rest > half;
}
static uint64_t agenti_dec_bits(const agenti_dec *d, agenti_approx *a)          /* >= 0x7FF << 52: overflow             */
{
    int top, drop = 11, up;
    uint64_t m;
    agenti_approx_norm(a);
    agenti_approx_pow10(a, (int)d->point - (int)(d->n < 19 ? d->n : 19));
    top = a->x + 63;
    if (top > 1023) return (uint64_t)0x7FF << 52;
    if (top < -1022) drop += -1022 - top;
    if (drop > 65) return 0;
    m = drop < 64 ? a->f >> drop : 0;
    up = agenti_round_up(a, drop);
    if (up == 2) {
        up = agenti_dec_compare(d, m * 2 + 1, a->x + drop - 1);
        up = up > 0 || (up == 0 && (m & 1));
    }
    m += (uint64_t)up;
    return top < -1022 ? m : ((uint64_t)(top + 1022) << 52) + m;                /* m's own top bit adds the missing 1   */
}
AGENTI_FN int agenti_double(agent_str t, double *out)
{
    agenti_dec d;
    agenti_approx a;
    uint64_t bits = 0;
    size_t i;
    if (!agenti_dec_read(t, &d)) return 0;
    if (d.n > 0 && d.point > 310) return 0;
    if (d.n > 0 && d.point >= -330) {
        a.f = 0;
        a.x = 0;
        a.err = d.n > 19;
        for (i = 0; i < d.n && i < 19; i++) a.f = a.f * 10 + agenti_dec_digit(&d, i);
        bits = agenti_dec_bits(&d, &a);
    }
    if (bits >= (uint64_t)0x7FF << 52) return 0;
    bits |= (uint64_t)d.neg << 63;
    memcpy(out, &bits, sizeof *out);
    return 1;
}

AGENTI_FN size_t agenti_u64_text(uint64_t v, char *out)
{
    size_t n = 1, i;
    uint64_t rest = v;
    while (rest >= 10) { rest /= 10; n++; }
    for (i = n; i-- > 0; v /= 10) out[i] = (char)('0' + v % 10);
    return n;
}
AGENTI_FN size_t agenti_i64_text(int64_t v, char *out)
{
    if (v >= 0) return agenti_u64_text((uint64_t)v, out);
    out[0] = '-';
    return 1 + agenti_u64_text(0 - (uint64_t)v, out + 1);
}
#endif
