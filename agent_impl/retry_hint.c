/* When a provider says to come back: delays, dates and durations in headers, bodies and words. All in ms from now; -1: not told. */
AGENTI_FN int64_t agenti_retry_headers(agent_str headers, uint64_t wall_ms);         /* wall_ms 0: the Date header is now    */
AGENTI_FN int64_t agenti_retry_body(agent_str body);                                 /* of checked JSON                      */
AGENTI_FN int64_t agenti_retry_words(agent_str text);                                /* "... try again in 1m12.5s"           */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_RETRY_HINT
#ifdef AGENT_NO_RETRY_HINT
AGENTI_FN int64_t agenti_retry_headers(agent_str headers, uint64_t wall_ms) { (void)headers; (void)wall_ms; return -1; }
AGENTI_FN int64_t agenti_retry_body(agent_str body) { (void)body; return -1; }
AGENTI_FN int64_t agenti_retry_words(agent_str text) { (void)text; return -1; }
#else
/* Days since 1970-01-01 of a date of the Gregorian calendar.                                                          */
static int64_t agenti_days(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1 - 719468;
}
/* HTTP-date, RFC 9110 5.6.7, its three forms told apart by what their words are. -1: none of them. Unix ms.            */
static int64_t agenti_http_date(agent_str s)
{
    static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    int64_t day = -1, month = -1, year = -1, clock = -1, v;
    size_t i = 0, from;
    while (i < s.n) {
        char c = agenti_lower(s.p[i]);
        from = i;
        if (c >= '0' && c <= '9') {
            for (v = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9' && i - from < 5; i++) v = v * 10 + (s.p[i] - '0');
            if (i < s.n && s.p[i] == ':' && i + 5 < s.n && clock < 0) {
                const char *t = s.p + i;
                clock = v * 3600 + ((t[1] - '0') * 10 + (t[2] - '0')) * 60 + (t[4] - '0') * 10 + (t[5] - '0');
                i += 6;
            } else if (i - from == 4) year = v;
            else if (day < 0) day = v;
            else if (i - from == 2 && year < 0) year = v + (v < 70 ? 2000 : 1900);
        } else if (c >= 'a' && c <= 'z') {
            while (i < s.n && agenti_lower(s.p[i]) >= 'a' && agenti_lower(s.p[i]) <= 'z') i++;
            for (v = 0; i - from == 3 && v < 12; v++)
                if (agenti_lower(s.p[from]) == months[3 * v] && agenti_lower(s.p[from + 1]) == months[3 * v + 1]
                    && agenti_lower(s.p[from + 2]) == months[3 * v + 2]) month = v + 1;
        } else i++;
    }
    if (day < 1 || day > 31 || month < 1 || year < 1970 || clock < 0 || clock > 86400) return -1;
    return (agenti_days(year, month, day) * 86400 + clock) * 1000;
}
/* n digits; -1: they are none.                                                                                         */
static int64_t agenti_date_digits(const char *p, int n)
{
    int64_t v = 0;
    while (n-- > 0) {
        if (*p < '0' || *p > '9') return -1;
        v = v * 10 + (*p++ - '0');
    }
    return v;
}
/* RFC 3339, 2026-11-30T12:00:00.5Z or +01:00 at the end; the fraction is passed over. -1: it is none. Unix ms.         */
static int64_t agenti_rfc3339(agent_str s)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd";
    int64_t f[6], zone = 0;
    static const uint8_t at[6] = { 0, 5, 8, 11, 14, 17 };
    size_t i;
    if (s.n < sizeof form) return -1;
    for (i = 0; i < sizeof form - 1; i++)
        if (form[i] == 'd' ? s.p[i] < '0' || s.p[i] > '9' : s.p[i] != form[i] && !(i == 10 && (s.p[i] == 't' || s.p[i] == ' '))) return -1;
    for (i = 0; i < 6; i++) f[i] = agenti_date_digits(s.p + at[i], i ? 2 : 4);
    for (i = sizeof form - 1; i < s.n && (s.p[i] == '.' || (s.p[i] >= '0' && s.p[i] <= '9')); i++) {}
    if (i < s.n && (s.p[i] == '+' || s.p[i] == '-')) {
        if (s.n - i < 6 || agenti_date_digits(s.p + i + 1, 2) < 0 || agenti_date_digits(s.p + i + 4, 2) < 0) return -1;
        zone = (agenti_date_digits(s.p + i + 1, 2) * 60 + agenti_date_digits(s.p + i + 4, 2)) * (s.p[i] == '-' ? -60 : 60);
    }
    if (f[1] < 1 || f[1] > 12 || f[2] < 1 || f[2] > 31) return -1;
    return (agenti_days(f[0], f[1], f[2]) * 86400 + f[3] * 3600 + f[4] * 60 + f[5] - zone) * 1000;
}
/* A unit in ms; 0: it is none.                                                                                         */
static int64_t agenti_unit(agent_str word)
{
    static const struct { const char *word; int64_t ms; } rows[] = {
        { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }, { "d", 86400000 }, { "sec", 1000 }, { "secs", 1000 }, { "second", 1000 },
        { "seconds", 1000 }, { "min", 60000 }, { "mins", 60000 }, { "minute", 60000 }, { "minutes", 60000 }, { "hour", 3600000 },
        { "hours", 3600000 }, { "day", 86400000 }, { "days", 86400000 }, { "milliseconds", 1 }
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (agenti_ieq(word, rows[i].word)) return rows[i].ms;
    return 0;
}
/* Numbers with units at the front of s: 1h2m3.5s, 250ms, 20 seconds. -1: there is none.                                */
static int64_t agenti_duration(agent_str s)
{
    int64_t sum = -1, unit;
    size_t i, k;
    while (s.n && s.p[0] >= '0' && s.p[0] <= '9') {
        double v;
        for (i = 0; i < s.n && i < 16 && ((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] == '.' && i + 1 < s.n && s.p[i + 1] >= '0' && s.p[i + 1] <= '9')); i++) {}
        v = agent_json_num(agenti_str(s.p, i), -1.0);
        if (i < s.n && s.p[i] == ' ') i++;
        for (k = i; k < s.n && agenti_lower(s.p[k]) >= 'a' && agenti_lower(s.p[k]) <= 'z'; k++) {}
        unit = agenti_unit(agenti_str(s.p + i, k - i));
        if (unit == 0 || v < 0.0 || v > 1e9 || sum > 1000000000000) break;       /* 31 years will do                     */
        sum = (sum < 0 ? 0 : sum) + (int64_t)(v * (double)unit + 0.5);
        s = agenti_str(s.p + k, s.n - k);
    }
    return sum;
}
/* What a hint says in any of its forms. now < 0: not known.                                                            */
static int64_t agenti_moment(agent_str s, int64_t now)
{
    double v = agent_json_num(s, -1.0);
    int64_t ms = -1, when;
    if (v >= 0.0 && v < 1e9) return (int64_t)(v * 1000.0 + 0.5);                       /* seconds                              */
    if (v < 0.0 && (ms = agenti_duration(s)) >= 0) return ms;
    when = v >= 1e15 ? -1 : v >= 1e11 ? (int64_t)v : v >= 1e9 ? (int64_t)(v * 1000.0 + 0.5) : agenti_rfc3339(s);       /* a Unix time */
    if (v < 0.0 && when < 0) when = agenti_http_date(s);
    if (when < 0 || now <= 0) return -1;
    return when > now ? when - now : 0;
}
/* A limit of which nothing remains tells when it is set back: x-ratelimit-remaining-tokens and x-ratelimit-reset-tokens. */
static int64_t agenti_retry_reset(agent_str headers, int64_t now)
{
    static const char remaining[] = "remaining";
    enum { LINES = 32, LEN = sizeof remaining - 1 };
    agent_str rest = headers, v;
    int64_t most = -1, ms;
    char name[80];
    size_t n, i, at;
    int lines = 0;
    while (rest.n && lines < LINES) {
        const char *end = (const char *)memchr(rest.p, '\n', rest.n), *colon;
        n = end ? (size_t)(end - rest.p) : rest.n;
        colon = (const char *)memchr(rest.p, ':', n);
        at = colon ? (size_t)(colon - rest.p) : 0;
        for (i = 0; i + LEN <= at && memcmp(rest.p + i, remaining, LEN) != 0; i++) {}
        if (at && at < sizeof name && i + LEN <= at && agenti_find(agenti_str(rest.p, i), "ratelimit")
            && agenti_eq(agenti_trim(agenti_str(colon + 1, n - at - 1)), "0")) {
            memcpy(name, rest.p, i);
            memcpy(name + i, "reset", 5);
            memcpy(name + i + 5, rest.p + i + LEN, at - i - LEN);
            name[i + 5 + at - i - LEN] = 0;
            lines++;
            if (agent_http_header(headers, name, &v) && (ms = agenti_moment(v, now)) > most) most = ms;
        }
        n += end != NULL;
        rest = agenti_str(rest.p + n, rest.n - n);
    }
    return most;
}
AGENTI_FN int64_t agenti_retry_headers(agent_str headers, uint64_t wall_ms)
{
    agent_str v;
    int64_t now = wall_ms ? (int64_t)wall_ms : -1, told;
    double ms;
    if (wall_ms == 0 && agent_http_header(headers, "date", &v)) now = agenti_http_date(v);
    if (agent_http_header(headers, "retry-after-ms", &v) && (ms = agent_json_num(v, -1.0)) >= 0.0 && ms < 1e12) return (int64_t)ms;
    if (agent_http_header(headers, "retry-after", &v) && (told = agenti_moment(v, now)) >= 0) return told;
    return agenti_retry_reset(headers, now);
}
/* Google's RetryInfo (https://cloud.google.com/apis/design/errors), and members that say it plainly.                   */
AGENTI_FN int64_t agenti_retry_body(agent_str body)
{
    agent_str error = body.n && body.p[0] == '[' ? agent_json_get(body, "[0].error") : agent_json_get(body, "error"), list, item, v;
    int64_t ms = -1;
    size_t pos = 0;
    if (error.p == NULL) error = body;
    list = agent_json_get(error, "details");
    while (ms < 0 && list.n && list.p[0] == '[' && agent_json_each(list, &pos, NULL, &item)) {
        v = agent_json_get(item, "retryDelay");
        if (v.n > 2 && v.p[0] == '"') ms = agenti_duration(agenti_str(v.p + 1, v.n - 2));
    }
    v = agent_json_get(error, "retry_after");
    if (ms < 0 && v.n) ms = agenti_moment(v, -1);
    return ms;
}
AGENTI_FN int64_t agenti_retry_words(agent_str text)
{
    static const char *const phrases[] = { "try again in ", "retry in ", "retry after ", "please wait " };
    size_t i, k, n;
    int64_t ms;
    if (text.n > 4096) text.n = 4096;
    for (i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        n = strlen(phrases[i]);
        for (k = 0; k + n < text.n; k++) {
            if (!agenti_ieq(agenti_str(text.p + k, n), phrases[i])) continue;
            if ((ms = agenti_duration(agenti_str(text.p + k + n, text.n - k - n))) >= 0) return ms;
        }
    }
    return -1;
}
#endif
#endif
