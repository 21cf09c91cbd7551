/* When to come back: every form of a hint, in headers, in bodies, in words. Unix ms 1,764,504,000,000 is 2025-11-30T12:00:00Z. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"

static const uint64_t NOON = 1764504000000u;
static void test_headers(void)
{
    static const struct { const char *headers; int64_t ms; } rows[] = {
        { "", -1 }, { "content-type: text/plain\n", -1 }, { "retry-after: 7\n", 7000 }, { "retry-after: 1.5\n", 1500 }, { "retry-after: 0\n", 0 },
        { "retry-after-ms: 250.7\nretry-after: 9\n", 250 }, { "retry-after: soon\n", -1 }, { "retry-after: -4\n", -1 }, { "retry-after: 2m\n", 120000 },
        { "retry-after: Sun, 30 Nov 2025 12:00:30 GMT\n", 30000 }, { "retry-after: Sunday, 30-Nov-25 12:00:30 GMT\n", 30000 },
        { "retry-after: Sun Nov 30 12:00:30 2025\n", 30000 }, { "retry-after: Sun, 30 Nov 2025 11:00:00 GMT\n", 0 },
        { "retry-after: 2025-11-30T12:01:00Z\n", 60000 }, { "retry-after: 2025-11-30T12:01:00.9Z\n", 60000 },
        { "retry-after: 2025-11-30T13:01:00+01:00\n", 60000 }, { "retry-after: 2025-11-30T11:31:00-00:30\n", 60000 },
        { "retry-after: 2025-13-30T12:01:00Z\n", -1 }, { "retry-after: 2025-11-30T12:01\n", -1 },
        { "x-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 1m12.5s\n", 72500 },
        { "x-ratelimit-remaining-tokens: 5\nx-ratelimit-reset-tokens: 1m12.5s\n", -1 },
        { "x-ratelimit-remaining-requests: 0\nx-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-requests: 20ms\nx-ratelimit-reset-tokens: 6m0s\n", 360000 },
        { "anthropic-ratelimit-tokens-remaining: 0\nanthropic-ratelimit-tokens-reset: 2025-11-30T12:00:10Z\n", 10000 },
        { "x-ratelimit-remaining: 0\nx-ratelimit-reset: 1764504002500\n", 2500 }, { "x-ratelimit-remaining: 0\nx-ratelimit-reset: 1764504002\n", 2000 },
        { "x-ratelimit-remaining: 0\n", -1 }, { "ratelimit-remaining: 0\nratelimit-reset: 12\n", 12000 },
        { "retry-after: 3\nx-ratelimit-remaining: 0\nx-ratelimit-reset: 60s\n", 3000 }        /* what is said plainly counts */
    };
    agent_str h;
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        h.p = rows[i].headers;
        h.n = strlen(h.p);
        CHECK_CASE(agenti_retry_headers(h, NOON) == rows[i].ms, h.p);
    }
    h = agenti_cstr("date: Sun, 30 Nov 2025 12:00:00 GMT\nretry-after: Sun, 30 Nov 2025 12:00:05 GMT\n");
    CHECK(agenti_retry_headers(h, 0) == 5000);       /* without a clock the answer's own Date is now                     */
    h = agenti_cstr("retry-after: Sun, 30 Nov 2025 12:00:05 GMT\n");
    CHECK(agenti_retry_headers(h, 0) == -1);
}
static void test_body_and_words(void)
{
    static const struct { const char *body; int64_t ms; } bodies[] = {
        { "{\"error\":{\"code\":429,\"details\":[{\"@type\":\"x\"},{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"34.4s\"}]}}", 34400 },
        { "[{\"error\":{\"details\":[{\"retryDelay\":\"2s\"}]}}]", 2000 }, { "{\"error\":{\"details\":[{\"retryDelay\":\"?\"}]}}", -1 },
        { "{\"error\":{\"details\":{}}}", -1 }, { "{\"retry_after\":1.5}", 1500 }, { "{}", -1 }, { "[]", -1 }, { "\"later\"", -1 }
    };
    static const struct { const char *text; int64_t ms; } words[] = {
        { "Rate limit reached. Please try again in 1.242s. Visit", 1242 }, { "Please Try Again In 1h2m3s.", 3723000 },
        { "Please retry in 34.4s", 34400 }, { "try again in 20 seconds", 20000 }, { "try again in 3 minutes, please", 180000 },
        { "try again in 6ms", 6 }, { "try again later", -1 }, { "try again in a while", -1 }, { "try again in 5 apples", -1 }, { "", -1 },
        { "try again in ", -1 }, { "try again in 1", -1 }
    };
    size_t i;
    for (i = 0; i < sizeof bodies / sizeof *bodies; i++) CHECK_CASE(agenti_retry_body(agenti_cstr(bodies[i].body)) == bodies[i].ms, bodies[i].body);
    for (i = 0; i < sizeof words / sizeof *words; i++) CHECK_CASE(agenti_retry_words(agenti_cstr(words[i].text)) == words[i].ms, words[i].text);
}
/* Every prefix and every changed byte of hints: no crash, no overflow, at worst another time.                           */
static void test_odd(void)
{
    static const char hint[] = "x-ratelimit-remaining-a: 0\nx-ratelimit-reset-a: 1h2m3.5s\ndate: Sun, 30 Nov 2025 12:00:00 GMT\nretry-after: 2025-11-30T12:01:00+01:00\n";
    char text[sizeof hint], many[2000];
    agent_str h;
    size_t i;
    int c;
    for (i = 0; i < sizeof hint; i++) {
        for (c = 0; c < 256; c++) {
            memcpy(text, hint, sizeof hint);
            text[i] = (char)c;
            CHECK_CASE(agenti_retry_headers(agenti_str(text, sizeof hint - 1), 0) >= -1, hint + i);
        }
        CHECK(agenti_retry_headers(agenti_str(hint, i), NOON) >= -1 && agenti_retry_words(agenti_str(hint, i)) >= -1);
    }
    CHECK(agenti_retry_headers(agenti_cstr("retry-after: 999999999999999999999999999999\n"), NOON) == -1);
    CHECK(agenti_retry_words(agenti_cstr("try again in 99999999999999999999999999d")) == -1);
    h = agenti_cstr("retry-after: soon\nx-ratelimit-remaining: 0\nx-ratelimit-reset: 2s\n");
    CHECK(agenti_retry_headers(h, NOON) == 2000);    /* what cannot be read hides nothing                                */
    memcpy(many, "try again in ", 13);
    memcpy(many + 13, "9d", 2);
    for (i = 15; i + 10 < sizeof many; i += 10) memcpy(many + i, "999999999d", 10);
    CHECK(agenti_retry_words(agenti_str(many, i)) > 0);      /* a sum that would overflow                                */
}
int main(void)
{
    test_headers();
    test_body_and_words();
    test_odd();
    return test_end("retry_hint");
}
