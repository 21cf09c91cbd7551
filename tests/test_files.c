/* Files that a host hands in: what each becomes in both wire formats, what is refused, what the table gives back; base64. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "host.h"

static agent_str str(const char *p) { agent_str s; s.p = p; s.n = p ? strlen(p) : 0; return s; }

/* ---- base64 ---- */
static void test_vectors(void)                               /* RFC 4648 section 10                                     */
{
    static const char *const rows[][2] = {
        { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" }
    };
    static const char *const bad[] = {
        "A", "AB", "ABC", "A===", "====", "=", "AB=C", "A=BC", "=ABC", "AB==AB==", "ABCD=", "ABCD==", "AB C", "ABC\n", "AB\r\nAAAA=", "AB-_", "AB*=", "AB.=", "ABC\x80", "\xFF\xFF\xFF\xFF"
    };
    agenti_pool pool;
    agenti_buf b;
    size_t i;
    agenti_pool_child(&pool, NULL, 0);
    agenti_buf_init(&b, &pool);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        b.n = 0;
        agenti_base64_to(&b, str(rows[i][0]));
        CHECK_CASE(strcmp(b.p, rows[i][1]) == 0 && agenti_base64_ok(str(rows[i][1])), rows[i][1]);
        b.n = 0;
        agenti_base64_from(&b, str(rows[i][1]));
        CHECK_CASE(strcmp(b.p, rows[i][0]) == 0, rows[i][0]);
    }
    for (i = 0; i < sizeof bad / sizeof *bad; i++) CHECK_CASE(!agenti_base64_ok(str(bad[i])), bad[i]);
    agenti_buf_free(&b);
    CHECK(pool.now == 0);
}
static void test_round_trips(void)                           /* every length to 300, every byte at every place of three  */
{
    char bytes[600];
    agenti_pool pool;
    agenti_buf b, c;
    size_t n, from, i;
    for (i = 0; i < sizeof bytes; i++) bytes[i] = (char)(unsigned char)(i * 7 + i / 256);
    agenti_pool_child(&pool, NULL, 0);
    agenti_buf_init(&b, &pool);
    agenti_buf_init(&c, &pool);
    for (n = 0; n <= 300; n++) for (from = 0; from < 256; from += n < 4 ? 1 : 85) {
        agent_str s = agenti_str(bytes + from, n);
        b.n = c.n = 0;
        agenti_base64_to(&b, s);
        agenti_base64_from(&c, agenti_str(b.p, b.n));
        CHECK(b.n == (n + 2) / 3 * 4 && agenti_base64_ok(agenti_str(b.p, b.n)) && c.n == n && memcmp(c.p, s.p, n) == 0 && c.p[n] == 0);
    }
    agenti_buf_free(&b);
    agenti_buf_free(&c);
}

/* ---- requests ---- */
typedef struct file {
    const char *what;
    int kind, flags;
    const char *text, *name, *mime, *uri;
    const char *anthropic, *openai;           /* the block behind the text "Look:"                                       */
    const char *kept;                         /* what the table gives back: its text, or its URI                         */
    int kept_kind;
} file;
#define AN_FILE(type, source, rest) "{\"type\":\"" type "\",\"source\":{" source "}" rest "}"
#define AN_B64(mime, data) "\"type\":\"base64\",\"media_type\":\"" mime "\",\"data\":\"" data "\""
#define AN_PLAIN(data) "\"type\":\"text\",\"media_type\":\"text/plain\",\"data\":\"" data "\""
#define AN_URL(url) "\"type\":\"url\",\"url\":\"" url "\""
#define OC_IMAGE(url) "{\"type\":\"image_url\",\"image_url\":{\"url\":\"" url "\"}}"
#define OC_FILE(name, url) "{\"type\":\"file\",\"file\":{\"filename\":\"" name "\",\"file_data\":\"" url "\"}}"
#define OC_SOUND(data, format) "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"" data "\",\"format\":\"" format "\"}}"
#define TEXT(t) "{\"type\":\"text\",\"text\":\"" t "\"}"
#define NOT_SENT(t) TEXT("[not sent: " t "]")
enum { IMG = AGENT_PART_IMAGE, SND = AGENT_PART_AUDIO, FIL = AGENT_PART_FILE, B64 = AGENT_PART_BASE64 };
static const file files[] = {
    { "png bytes", IMG, 0, "\x89PNG\r\n", NULL, "image/png", NULL, AN_FILE("image", AN_B64("image/png", "iVBORw0K"), ""), OC_IMAGE("data:image/png;base64,iVBORw0K"), "iVBORw0K", IMG },
    { "png as base64", IMG, B64, "iVBORw0K", NULL, "image/png", NULL, AN_FILE("image", AN_B64("image/png", "iVBORw0K"), ""), OC_IMAGE("data:image/png;base64,iVBORw0K"), "iVBORw0K", IMG },
    { "the type settles it", FIL, B64, "AAAA", "a.gif", "IMAGE/gif; x=y", NULL, AN_FILE("image", AN_B64("IMAGE/gif", "AAAA"), ""), OC_IMAGE("data:IMAGE/gif;base64,AAAA"), "AAAA", IMG },
    { "image by URL", IMG, 0, NULL, NULL, NULL, "https://a.test/\"x\"", AN_FILE("image", AN_URL("https://a.test/\\\"x\\\""), ""), OC_IMAGE("https://a.test/\\\"x\\\""), "https://a.test/\"x\"", IMG },
    { "data: URL", FIL, 0, NULL, NULL, NULL, "DATA:image/webp;name=a;base64,AAA=", AN_FILE("image", AN_B64("image/webp", "AAA="), ""), OC_IMAGE("data:image/webp;base64,AAA="), "AAA=", IMG },
    { "data: URL without type", IMG, 0, NULL, NULL, "image/png", "data:;base64,AAA=", AN_FILE("image", AN_B64("image/png", "AAA="), ""), OC_IMAGE("data:image/png;base64,AAA="), "AAA=", IMG },
    { "data: URL of a PDF", IMG, 0, NULL, NULL, NULL, "data:application/pdf;base64,JVBE", NULL, OC_IMAGE("data:application/pdf;base64,JVBE"), "JVBE", IMG },
    { "an image it does not take", IMG, 0, "BM", NULL, "image/bmp", NULL, NOT_SENT("an image, image/bmp"), OC_IMAGE("data:image/bmp;base64,Qk0="), "Qk0=", IMG },
    { "an image with a name", IMG, 0, "BM", "\"b\".bmp", "image/bmp", NULL, NOT_SENT("an image named \\\"b\\\".bmp, image/bmp"), OC_IMAGE("data:image/bmp;base64,Qk0="), "Qk0=", IMG },
    { "pdf", FIL, 0, "%PDF", "the \"tides\".pdf", "application/pdf", NULL, AN_FILE("document", AN_B64("application/pdf", "JVBERg=="), ",\"title\":\"the \\\"tides\\\".pdf\""),
      OC_FILE("the \\\"tides\\\".pdf", "data:application/pdf;base64,JVBERg=="), "JVBERg==", FIL },
    { "pdf without name", FIL, B64, "JVBE", NULL, "application/pdf", NULL, AN_FILE("document", AN_B64("application/pdf", "JVBE"), ""), OC_FILE("file", "data:application/pdf;base64,JVBE"), "JVBE", FIL },
    { "pdf by URL", FIL, 0, NULL, "t.pdf", "application/pdf", "https://a.test/t.pdf", AN_FILE("document", AN_URL("https://a.test/t.pdf"), ",\"title\":\"t.pdf\""),
      NOT_SENT("a file named t.pdf, application/pdf"), "https://a.test/t.pdf", FIL },
    { "plain text", FIL, 0, "Low\ntide \xFF", "t.txt", "text/plain; charset=utf-8", NULL, AN_FILE("document", AN_PLAIN("Low\\ntide \xEF\xBF\xBD"), ",\"title\":\"t.txt\""), TEXT("Low\\ntide \xEF\xBF\xBD"), "Low\ntide \xEF\xBF\xBD", FIL },
    { "markdown as base64", FIL, B64, "IyBU", NULL, "text/markdown", NULL, AN_FILE("document", AN_PLAIN("# T"), ""), TEXT("# T"), "# T", FIL },
    { "json", FIL, 0, "{\"a\":1}", NULL, "application/json", NULL, AN_FILE("document", AN_PLAIN("{\\\"a\\\":1}"), ""), TEXT("{\\\"a\\\":1}"), "{\"a\":1}", FIL },
    { "json as base64", FIL, B64, "W10=", NULL, "application/ld+json", NULL, AN_FILE("document", AN_PLAIN("[]"), ""), TEXT("[]"), "[]", FIL },
    { "data: URL of text", FIL, 0, NULL, NULL, NULL, "data:text/plain;charset=utf-8;base64,SGk=", AN_FILE("document", AN_PLAIN("Hi"), ""), TEXT("Hi"), "Hi", FIL },
    { "svg is an image", FIL, 0, "<svg", NULL, "image/svg+xml", NULL, NOT_SENT("an image, image/svg+xml"), OC_IMAGE("data:image/svg+xml;base64,PHN2Zw=="), "PHN2Zw==", IMG },
    { "wav", SND, 0, "RIFF", NULL, "audio/x-wav", NULL, NOT_SENT("audio, audio/x-wav"), OC_SOUND("UklGRg==", "wav"), "UklGRg==", SND },
    { "mp3", FIL, 0, "ID3", NULL, "audio/mpeg", NULL, NOT_SENT("audio, audio/mpeg"), OC_SOUND("SUQz", "mp3"), "SUQz", SND },
    { "ogg", SND, B64, "T2dn", "a.ogg", "audio/ogg", NULL, NOT_SENT("audio named a.ogg, audio/ogg"), NOT_SENT("audio named a.ogg, audio/ogg"), "T2dn", SND },
    { "audio by URL", SND, 0, NULL, NULL, NULL, "https://a.test/a.wav", NOT_SENT("audio"), NOT_SENT("audio"), "https://a.test/a.wav", SND },
    { "anything", FIL, 0, "\x01\x02", "x.bin", "application/octet-stream", NULL, NOT_SENT("a file named x.bin, application/octet-stream"), OC_FILE("x.bin", "data:application/octet-stream;base64,AQI="), "AQI=", FIL }
};
static agent_part part_of(const file *f)
{
    agent_part p;
    memset(&p, 0, sizeof p);
    p.kind = (uint16_t)f->kind;
    p.flags = (uint16_t)f->flags;
    p.text = str(f->text);
    p.name = str(f->name);
    p.mime = str(f->mime);
    p.uri = str(f->uri);
    return p;
}
static host *open_host(const agent_desc *d, int anthropic, agent_id *s)
{
    agent_session_desc sd;
    host *h = host_new(d, AGENT_VIA_HTTP, HOST_CUT_WHOLE);
    memset(&sd, 0, sizeof sd);
    *s = 0;
    if (h->e && (sd.peer = host_peer_of(h, anthropic ? "anthropic" : "openai-compatible")) != 0) *s = host_session(h, &sd);
    return h;
}
static void test_requests(int anthropic)
{
    static const host_answer an = { AN_BEGIN AN_SAY("A boat.") AN_END("end_turn"), 0, NULL, 0, 0 };
    size_t i, round;
    for (i = 0; i < sizeof files / sizeof *files; i++) {
        const file *f = &files[i];
        const char *want = anthropic ? f->anthropic : f->openai;
        agent_part p[2], out;
        agent_str got;
        agent_id s;
        host *h = open_host(NULL, anthropic, &s);
        h->name = f->what;
        memset(p, 0, sizeof p);
        p[0].text = str("Look:");
        p[1] = part_of(f);
        HOST_CHECK(h, agent_submit(h->e, s, p, 2, AGENT_QUEUE) > 0);
        for (round = 0; round < 2; round++) {                /* it is there in each later request, and told once         */
            if (anthropic) host_answers(h, &an, 1);
            host_run(h);
            got = agent_json_get(host_body(h, round), "messages[0].content[1]");
            if (want) CHECK_CASE(got.n == strlen(want) && memcmp(got.p, want, got.n) == 0, got.p ? got.p : f->what);
            HOST_CHECK(h, !want || h->count[AGENT_EV_WARNING] == (strstr(want, "[not sent") != NULL));
            agent_say(h->e, s, "And?", AGENT_CSTR);
        }
        HOST_CHECK(h, agent_message_part(h->e, s, 1, 1, &out) == AGENT_OK && out.kind == f->kept_kind && out.id && strcmp(out.uri.n ? out.uri.p : out.text.p, f->kept) == 0);
        HOST_CHECK(h, host_str_same(out.name, p[1].name) && (out.flags & AGENT_PART_BASE64) == (out.uri.n == 0 && agenti_base64_ok(str(f->kept)) && strcmp(f->kept, "# T") ? B64 : 0));
        host_bodies_check(h);
        host_free(h);
    }
}
/* One part alone: many hosts refuse lists, so text alone is a string; a file is always in a list. Flags of files mean nothing to texts. */
static void test_alone(void)
{
    agent_part p[2];
    agent_id s;
    host *h = open_host(NULL, 0, &s);
    memset(p, 0, sizeof p);
    p[0] = part_of(&files[0]);
    CHECK(agent_submit(h->e, s, p, 1, AGENT_QUEUE) > 0);
    p[0] = p[1];
    p[0].text = p[1].text = str("Hi!!");
    p[0].flags = p[1].flags = B64;
    CHECK(agent_submit(h->e, s, p, 1, AGENT_QUEUE) > 0 && agent_submit(h->e, s, p, 2, AGENT_QUEUE) > 0);
    host_run(h);
    CHECK(strstr(host_body(h, 0).p, "\"messages\":[{\"role\":\"user\",\"content\":[" OC_IMAGE("data:image/png;base64,iVBORw0K") "]}]"));
    CHECK(strstr(host_body(h, 2).p, "{\"role\":\"user\",\"content\":\"Hi!!\"}") && strstr(host_body(h, 2).p, "\"content\":[" TEXT("Hi!!") "," TEXT("Hi!!") "]"));
    host_bodies_check(h);
    host_free(h);
}

/* ---- refusals: nothing changes ---- */
static const file wrong[] = {
    { "no type", IMG, 0, "x", NULL, NULL, NULL, NULL, NULL, NULL, 0 }, { "text and URI", IMG, 0, "x", NULL, "image/png", "https://a.test", NULL, NULL, NULL, 0 },
    { "neither", IMG, 0, NULL, NULL, "image/png", NULL, NULL, NULL, NULL, 0 }, { "data: URL and text", IMG, 0, "x", NULL, "image/png", "data:image/png;base64,AAAA", NULL, NULL, NULL, 0 },
    { "half of base64", IMG, B64, "AAA", NULL, "image/png", NULL, NULL, NULL, NULL, 0 }, { "padding inside", FIL, B64, "AA==AAAA", NULL, "text/plain", NULL, NULL, NULL, NULL, 0 },
    { "line breaks", IMG, B64, "AAAA\nAAAA===", NULL, "image/png", NULL, NULL, NULL, NULL, 0 }, { "for URLs", IMG, B64, "AA-_", NULL, "image/png", NULL, NULL, NULL, NULL, 0 },
    { "data: in percents", FIL, 0, NULL, NULL, NULL, "data:text/plain,Hi%20there", NULL, NULL, NULL, 0 }, { "data: without comma", IMG, 0, NULL, NULL, NULL, "data:image/png;base64", NULL, NULL, NULL, 0 },
    { "data: with nothing", IMG, 0, NULL, NULL, NULL, "data:image/png;base64,", NULL, NULL, NULL, 0 }, { "data: broken", IMG, 0, NULL, NULL, NULL, "data:image/png;base64,A", NULL, NULL, NULL, 0 },
    { "data: no type", IMG, 0, NULL, NULL, NULL, "data:;base64,AAAA", NULL, NULL, NULL, 0 }, { "data: alone", IMG, 0, NULL, NULL, NULL, "data:", NULL, NULL, NULL, 0 },
    { "no slash", IMG, 0, "x", NULL, "png", NULL, NULL, NULL, NULL, 0 }, { "two slashes", IMG, 0, "x", NULL, "a/b/c", NULL, NULL, NULL, NULL, 0 },
    { "a quote in the type", IMG, 0, "x", NULL, "image/\"png", NULL, NULL, NULL, NULL, 0 }, { "a blank in the type", IMG, 0, "x", NULL, "image/ png", NULL, NULL, NULL, NULL, 0 },
    { "a byte in the type", IMG, 0, "x", NULL, "image/p\xFFg", NULL, NULL, NULL, NULL, 0 }, { "a comma in the type", IMG, 0, NULL, NULL, "image/a,b", "https://a.test", NULL, NULL, NULL, 0 },
    { "parameters only", IMG, 0, "x", NULL, ";charset=utf-8", NULL, NULL, NULL, NULL, 0 }
};
static void test_refusals(void)
{
    size_t i, now, later;
    agent_id s;
    host *h = open_host(NULL, 0, &s);
    agent_part p[2];
    agent_memory(h->e, s, &now, NULL);
    memset(p, 0, sizeof p);
    p[0].text = str("Look:");
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        p[1] = part_of(&wrong[i]);
        CHECK_CASE(agent_submit(h->e, s, p, 2, AGENT_QUEUE) == AGENT_E_ARG && *agent_last(h->e), wrong[i].what);
        CHECK_CASE(agent_message_add(h->e, s, AGENT_USER, p, 2) == AGENT_E_ARG, wrong[i].what);
    }
    p[1] = part_of(&files[0]);
    CHECK(agent_message_add(h->e, s, AGENT_MODEL, p, 2) == AGENT_E_ARG);       /* files are the user's                    */
    agent_memory(h->e, s, &later, NULL);
    CHECK(host_next(h) == NULL && agent_messages(h->e, s) <= 1 && later >= now);
    host_free(h);
}
/* limits.item is of what is kept: base64 is a third longer than the bytes, text is as long as it is.                   */
static void test_limit(void)
{
    static char big[1001];
    static const struct { const char *mime; int flags; size_t n; int rc; } rows[] = {
        { "image/png", 0, 750, 1 }, { "image/png", 0, 751, AGENT_E_LIMIT }, { "image/png", B64, 1000, 1 }, { "text/plain", 0, 1000, 1 }, { "text/plain", 0, 1001, AGENT_E_LIMIT }
    };
    agent_desc d;
    agent_part p[2];
    agent_id s;
    host *h;
    size_t i;
    memset(&d, 0, sizeof d);
    memset(big, 'A', sizeof big);
    d.limits.item = 1000;
    h = open_host(&d, 0, &s);
    for (i = 0; i < 5; i++) {
        int rc;
        memset(p, 0, sizeof p);
        p[0].kind = FIL;
        p[0].mime = str(rows[i].mime);
        p[0].flags = (uint16_t)rows[i].flags;
        p[0].text.p = big;
        p[0].text.n = rows[i].n;
        rc = agent_submit(h->e, s, p, 1, AGENT_QUEUE);
        CHECK(rows[i].rc == 1 ? rc > 0 : rc == rows[i].rc);
        p[1].text = str("and a word");
        CHECK(agent_submit(h->e, s, p, 2, AGENT_QUEUE) == AGENT_E_LIMIT);       /* of all parts together                  */
    }
    host_free(h);
}
static void test_memory(int anthropic)                       /* each allocation refused: nothing changes, or it is a fault */
{
    static const host_answer an = { AN_BEGIN AN_SAY("A boat.") AN_END("end_turn"), 0, NULL, 0, 0 };
    agent_part p[sizeof files / sizeof *files];
    size_t i, n = sizeof files / sizeof *files;
    long at, calls = 1000000;
    for (i = 0; i < n; i++) p[i] = part_of(&files[i]);
    for (at = 0; at < calls + 2; at++) {
        host_heap heap;
        agent_desc d;
        agent_id s;
        host *h;
        int rc;
        memset(&heap, 0, sizeof heap);
        memset(&d, 0, sizeof d);
        d.alloc = host_alloc;
        d.alloc_ctx = &heap;
        h = open_host(&d, anthropic, &s);
        h->quiet = h->check.light = 1;
        if (anthropic) host_answers(h, &an, 1);
        heap.calls = 0;
        heap.fail_at = at;
        rc = agent_submit(h->e, s, p, n, AGENT_QUEUE);
        CHECK(rc > 0 || rc == AGENT_E_NOMEM);
        host_pump(h);
        if (at == 0) { calls = heap.calls; CHECK(calls > 60); }
        heap.fail_at = 0;
        if (anthropic) host_answers(h, &an, 1);
        agent_say(h->e, s, "Go on", AGENT_CSTR);
        host_run(h);
        CHECK(h->outcome == AGENT_COMPLETED);
        host_bodies_check(h);
        host_over_check(h);
        host_free(h);
        CHECK(heap.live == 0 && heap.bytes == 0);
    }
}
int main(void)
{
    int anthropic;
    test_vectors();
    test_round_trips();
    for (anthropic = 0; anthropic < 2; anthropic++) { test_requests(anthropic); test_memory(anthropic); }
    test_alone();
    test_refusals();
    test_limit();
    return test_end("files");
}
