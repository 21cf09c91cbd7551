/* What every part uses: libc's memory functions, linkage of private names, the smallest helpers.
 * A part is declarations, then definitions between AGENTI_PART guards: joined, all is one unit; with AGENTI_SPLIT each
 * part is built alone on the declarations of the parts before it. */
#include <string.h>
#if defined AGENTI_LEAN && defined __clang__
#pragma clang diagnostic push            /* until the end of the last part                                             */
#pragma clang diagnostic ignored "-Wunused-function"
#endif
#ifdef AGENTI_SPLIT
#define AGENTI_FN extern
#elif defined __GNUC__ && !defined __clang__
#define AGENTI_FN static __attribute__((unused))
#else
#define AGENTI_FN static
#endif
#ifdef AGENT_NO_CODECS                    /* what the engine itself needs of them stays, and is private                 */
#define AGENTI_CODEC AGENTI_FN
#else
#define AGENTI_CODEC AGENTDEF
#endif
#if defined __GNUC__ || defined __clang__
#define AGENTI_NOINLINE __attribute__((noinline))   /* keeps a large frame out of its caller                            */
#else
#define AGENTI_NOINLINE
#endif
#ifdef AGENT_NO_WORDS                     /* what is said to people: codes and faults say it as well                    */
#define AGENTI_WHY(text) ""
#else
#define AGENTI_WHY(text) text
#endif
#ifndef AGENT_ASSERT
#define AGENT_ASSERT(x) ((void)0)
#endif
#ifndef AGENTI_TOUCH                     /* a test hook: counts the bytes that are looked at or copied                  */
#define AGENTI_TOUCH(n) ((void)0)
#endif

AGENTI_FN agent_str agenti_str(const char *p, size_t n);
AGENTI_FN agent_str agenti_cstr(const char *p);                     /* NULL: empty                                     */
AGENTI_FN int agenti_eq(agent_str a, const char *b);                /* equal to a C string                             */
AGENTI_FN int agenti_same(agent_str a, agent_str b);
AGENTI_FN int agenti_ieq(agent_str a, const char *b);               /* the same, ASCII case folded                     */
AGENTI_FN int agenti_find(agent_str hay, const char *needle);       /* occurs, ASCII case folded; needle in lower case  */
AGENTI_FN char agenti_lower(char c);
AGENTI_FN agent_str agenti_trim(agent_str);                         /* without blanks and controls at both ends        */
AGENTI_FN int agenti_add(size_t a, size_t b, size_t *sum);          /* 0: overflow                                     */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_BASE
AGENTI_FN agent_str agenti_str(const char *p, size_t n) { agent_str s; s.p = p ? p : ""; s.n = p ? n : 0; return s; }
AGENTI_FN agent_str agenti_cstr(const char *p) { return agenti_str(p, p ? strlen(p) : 0); }
AGENTI_FN int agenti_eq(agent_str a, const char *b) { size_t n = strlen(b); return a.n == n && memcmp(a.p, b, n) == 0; }
AGENTI_FN int agenti_same(agent_str a, agent_str b) { return a.n == b.n && memcmp(a.p, b.p, a.n) == 0; }
AGENTI_FN char agenti_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }
AGENTI_FN int agenti_ieq(agent_str a, const char *b)
{
    size_t i;
    for (i = 0; i < a.n; i++) if (b[i] == 0 || agenti_lower(a.p[i]) != agenti_lower(b[i])) return 0;
    return b[i] == 0;
}
AGENTI_FN int agenti_find(agent_str hay, const char *needle)
{
    size_t n = strlen(needle), i, k;
    for (i = 0; n <= hay.n && i <= hay.n - n; i++) {
        for (k = 0; k < n && agenti_lower(hay.p[i + k]) == needle[k]; k++) {}
        if (k == n) return 1;
    }
    return 0;
}
AGENTI_FN agent_str agenti_trim(agent_str s)
{
    while (s.n && (unsigned char)s.p[0] <= ' ') { s.p++; s.n--; }
    while (s.n && (unsigned char)s.p[s.n - 1] <= ' ') s.n--;
    return s;
}
AGENTI_FN int agenti_add(size_t a, size_t b, size_t *sum) { *sum = a + b; return *sum >= a; }
#endif
