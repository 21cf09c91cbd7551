/* Recorded requests of other programs (SHARED/fixtures/_requests): in, and out again in the same format. What comes out must be the same
 * JSON, but for the rules of tests/README.md ("Requests in and out"), each of which is counted. argv[1]: SHARED, default ../shared. */
#define AGENT_IMPLEMENTATION
#include "agent.h"
#include "test.h"
#include <dirent.h>

/* ---- JSON as a tree ---- */
typedef struct node {
    char kind;                                /* { [ " or the first character of what is written                        */
    char *key, *text;                         /* of a member; a string decoded, anything else as written                */
    struct node **kid;
    size_t n, cap;
} node;
static char *text_of(agent_str v)
{
    size_t n = agent_json_text(v, NULL, 0);
    char *p = (char *)malloc(n + 1);
    if (p == NULL) exit(2);
    agent_json_text(v, p, n + 1);
    return p;
}
static char *word(const char *s)
{
    char *p = (char *)malloc(strlen(s) + 1);
    if (p == NULL) exit(2);
    return strcpy(p, s);
}
static void add(node *to, node *kid)
{
    if (to->n == to->cap) to->kid = (node **)realloc(to->kid, (to->cap = to->cap * 2 + 4) * sizeof *to->kid);
    if (to->kid == NULL) exit(2);
    to->kid[to->n++] = kid;
}
static node *parse(agent_str v)
{
    node *x = (node *)calloc(1, sizeof *x), *kid;
    agent_str key, value;
    size_t pos = 0;
    if (x == NULL) exit(2);
    x->kind = v.p[0];
    if (x->kind != '{' && x->kind != '[') { x->text = text_of(v); return x; }
    while (agent_json_each(v, &pos, &key, &value)) {
        kid = parse(value);
        if (x->kind == '{') {
            agent_str quoted = key;
            quoted.p--;
            quoted.n += 2;
            kid->key = text_of(quoted);
        }
        add(x, kid);
    }
    return x;
}
static void drop(node *x)
{
    size_t i;
    for (i = 0; i < x->n; i++) drop(x->kid[i]);
    free(x->kid);
    free(x->key);
    free(x->text);
    free(x);
}
static node *get(const node *x, const char *key)
{
    size_t i;
    for (i = x && x->kind == '{' ? x->n : 0; i-- > 0;) if (strcmp(x->kid[i]->key, key) == 0) return x->kid[i];
    return NULL;
}
static int is(const node *x, const char *text) { return x && x->kind == '"' && strcmp(x->text, text) == 0; }
static void take(node *x, size_t i)           /* out of the list, not freed                                             */
{
    memmove(x->kid + i, x->kid + i + 1, (--x->n - i) * sizeof *x->kid);
}
static int lose(node *x, const char *key)
{
    size_t i;
    for (i = 0; x && i < x->n; i++) if (x->kind == '{' && strcmp(x->kid[i]->key, key) == 0) {
        drop(x->kid[i]);
        take(x, i);
        return 1;
    }
    return 0;
}
static node *make(const char *json, const char *key)
{
    agent_str s;
    node *x;
    s.p = json;
    s.n = strlen(json);
    x = parse(s);
    if (key) x->key = word(key);
    return x;
}
/* The first difference, by its path; "" when there is none. Order of members does not count.                           */
static int differ(const node *a, const node *b, char *path, size_t at)
{
    size_t i;
    if (at > 900) return 1;
    if (a->kind != b->kind || a->n != b->n || (a->text && strcmp(a->text, b->text) != 0)) {
        sprintf(path + at, ": %.60s (%u) and %.60s (%u)", a->text ? a->text : "list", (unsigned)a->n, b->text ? b->text : "list", (unsigned)b->n);
        for (i = 0; a->kind == '{' && i < a->n; i++) if (!get(b, a->kid[i]->key)) sprintf(path + strlen(path), " -%.40s", a->kid[i]->key);
        for (i = 0; b->kind == '{' && i < b->n; i++) if (!get(a, b->kid[i]->key)) sprintf(path + strlen(path), " +%.40s", b->kid[i]->key);
        return 1;
    }
    for (i = 0; i < a->n; i++) {
        const node *other = a->kind == '{' ? get(b, a->kid[i]->key) : b->kid[i];
        if (a->kind == '{') sprintf(path + at, ".%.60s", a->kid[i]->key); else sprintf(path + at, "[%u]", (unsigned)i);
        if (other == NULL) { strcat(path, ": is not there"); return 1; }
        if (differ(a->kid[i], other, path, strlen(path))) return 1;
    }
    path[at] = 0;
    return 0;
}

/* ---- the rules ---- */
enum { R_NULL, R_DEFAULTS, R_NO_TOOLS, R_ONE_TEXT, R_NO_CONTENT, R_JOINED, R_MADE_ID, R_SAME_SIDE, R_INPUT, R_NAMES, R_TOOL_LIST, R_STANDS_FOR,
       R_NOT_SENT, R_COUNT };
static const char *const rule_names[R_COUNT] = { "null", "defaults", "no tools", "one text", "no content", "texts joined", "made id", "same side",
    "input text", "names", "tool list", "stands for a signature", "not sent" };
static unsigned used[R_COUNT];
/* null: a member that is null is one that is not there. Not in arguments, schemas and what stays as it came.            */
static void no_nulls(node *x)
{
    size_t i;
    for (i = 0; x && x->kind == '{' && i < x->n; i++) if (x->kid[i]->kind == 'n') {
        drop(x->kid[i]);
        take(x, i--);
        used[R_NULL]++;
    }
}
static void no_nulls_in(node *list)
{
    size_t i;
    for (i = 0; list && list->kind == '[' && i < list->n; i++) no_nulls(list->kid[i]);
}
/* defaults: members that every request of ours has.                                                                    */
static void defaults(node *got, const node *want, const char *const *keys)
{
    for (; *keys; keys++) if (!get(want, *keys) && lose(got, *keys)) used[R_DEFAULTS]++;
}
static int is_text(const node *x, const char *type) { return x->n == 2 && is(get(x, "type"), type) && get(x, "text") && get(x, "text")->kind == '"'; }
static void to_string(node *message, const char *text)
{
    node *x = make("\"\"", "content");
    free(x->text);
    x->text = word(text);
    lose(message, "content");
    add(message, x);
}
/* one text: a list of one part of text is that text.                                                                   */
static void one_text(node *message, const char *type)
{
    node *content = get(message, "content");
    char *text;
    if (!content || content->kind != '[' || content->n != 1 || !is_text(content->kid[0], type)) return;
    text = word(get(content->kid[0], "text")->text);
    to_string(message, text);
    free(text);
    used[R_ONE_TEXT]++;
}
static void joined(node *message)             /* texts joined: those of an answer are one                               */
{
    node *content = get(message, "content");
    size_t i, n = 1;
    char *text;
    if (!content || content->kind != '[') return;
    for (i = 0; i < content->n; i++) {
        if (!is_text(content->kid[i], "text")) return;
        n += strlen(get(content->kid[i], "text")->text);
    }
    text = (char *)calloc(1, n);
    if (text == NULL) exit(2);
    for (i = 0; i < content->n; i++) strcat(text, get(content->kid[i], "text")->text);
    to_string(message, text);
    free(text);
    used[R_JOINED]++;
}
static void chat_rules(node *want, node *got)
{
    static const char *const keys[] = { "stream", "stream_options", NULL };
    node *w = get(want, "messages"), *g = get(got, "messages"), *calls, *others;
    size_t i, k;
    defaults(got, want, keys);
    no_nulls_in(w);
    no_nulls_in(g);
    for (i = 0; w && i < w->n; i++) {         /* not sent: an answer of nothing                                          */
        if (!is(get(w->kid[i], "role"), "assistant") || !is(get(w->kid[i], "content"), "") || w->kid[i]->n > 2) continue;
        drop(w->kid[i]);
        take(w, i--);
        used[R_NOT_SENT]++;
    }
    for (i = 0; w && i < w->n; i++) {
        node *m = w->kid[i];
        no_nulls_in(get(m, "reasoning_details"));
        if (is(get(m, "role"), "user")) one_text(m, "text");
        if (!is(get(m, "role"), "assistant")) continue;
        joined(m);
        if (get(m, "tool_calls") && is(get(m, "content"), "")) { lose(m, "content"); used[R_NO_CONTENT]++; }     /* no content: none beside calls */
        calls = get(m, "tool_calls");
        others = g && i < g->n ? get(g->kid[i], "tool_calls") : NULL;
        for (k = 0; calls && others && k < calls->n && k < others->n; k++) if (!get(calls->kid[k], "id") && lose(others->kid[k], "id")) {
            used[R_MADE_ID]++;                /* made id: a call without one gets one, and so does its result            */
            if (i + 1 + k < w->n && !get(w->kid[i + 1 + k], "tool_call_id")) lose(g->kid[i + 1 + k], "tool_call_id");
        }
    }
}
/* same side: neighbours of one role are one message, whose blocks stand one behind the other.                          */
static void same_side(node *list, const char *blocks)
{
    size_t i, k;
    for (i = 0; list && i + 1 < list->n;) {
        node *a = list->kid[i], *b = list->kid[i + 1], *to = get(a, blocks), *from = get(b, blocks);
        if (!get(a, "role") || !get(b, "role") || !is(get(a, "role"), get(b, "role")->text) || !to || !from) { i++; continue; }
        for (k = 0; k < from->n; k++) add(to, from->kid[k]);
        from->n = 0;
        drop(b);
        take(list, i + 1);
        used[R_SAME_SIDE]++;
    }
}
static void anthropic_rules(node *want, node *got)
{
    static const char *const keys[] = { "stream", "max_tokens", "model", NULL };
    node *list = get(want, "messages"), *block, *text;
    size_t i;
    defaults(got, want, keys);
    for (i = 0; list && i < list->n; i++) if ((text = get(list->kid[i], "content")) != NULL && text->kind == '"') {
        block = make("{\"type\":\"text\"}", NULL);           /* one text: a text is a list of one block                  */
        add(block, make("\"\"", "text"));
        free(block->kid[1]->text);
        block->kid[1]->text = word(text->text);
        lose(list->kid[i], "content");
        add(list->kid[i], make("[]", "content"));
        add(get(list->kid[i], "content"), block);
        used[R_ONE_TEXT]++;
    }
    same_side(list, "content");
}
static void responses_rules(node *want, node *got)
{
    static const char *const keys[] = { "stream", "store", "include", NULL };
    node *input = get(want, "input"), *message;
    size_t i;
    defaults(got, want, keys);
    if (input && input->kind == '"') {        /* input text: it is a user's message                                      */
        message = make("{\"role\":\"user\",\"content\":\"\"}", NULL);
        free(message->kid[1]->text);
        message->kid[1]->text = word(input->text);
        lose(want, "input");
        add(want, make("[]", "input"));
        add(get(want, "input"), message);
        used[R_INPUT]++;
    }
    input = get(want, "input");
    no_nulls_in(input);
    no_nulls_in(get(got, "input"));
    for (i = 0; input && i < input->n; i++) if (is(get(input->kid[i], "role"), "user")) one_text(input->kid[i], "input_text");
}
/* names: function_call is functionCall, where the provider takes both.                                                  */
static void camel(node *x, int deep)
{
    size_t i, k;
    for (i = 0; x && i < x->n; i++) {
        char *s = x->kid[i]->key;
        if (s && strchr(s, '_')) {
            for (k = 0; s[k]; k++) if (s[k] == '_' && s[k + 1] >= 'a' && s[k + 1] <= 'z') {
                memmove(s + k, s + k + 1, strlen(s + k));
                s[k] = (char)(s[k] - 'a' + 'A');
            }
            used[R_NAMES]++;
        }
        if (deep && x->kid[i]->kind == '{' && !(s && (strcmp(s, "args") == 0 || strcmp(s, "response") == 0))) camel(x->kid[i], 1);
        if (deep && x->kid[i]->kind == '[') camel(x->kid[i], 1);
    }
}
/* tool list: an object is a list of one, functions of all elements are one list, the first.                                */
static void gemini_tools(node *want)
{
    node *tools = get(want, "tools"), *all = NULL, *one;
    size_t i, k;
    if (tools == NULL) return;
    if (tools->kind == '{') {
        one = make("[]", "tools");
        for (i = 0; want->kid[i] != tools; i++) {}
        want->kid[i] = one;
        free(tools->key);
        tools->key = NULL;
        add(one, tools);
        tools = one;
        used[R_TOOL_LIST]++;
    }
    for (i = 0; i < tools->n; i++) {
        no_nulls(tools->kid[i]);
        if (get(tools->kid[i], "function_declarations")) camel(tools->kid[i], 0);
        one = get(tools->kid[i], "functionDeclarations");
        if (one && all == NULL) all = one;
        else if (one) {
            for (k = 0; k < one->n; k++) add(all, one->kid[k]);
            one->n = 0;
            lose(tools->kid[i], "functionDeclarations");
            used[R_TOOL_LIST]++;
        }
        if (tools->kid[i]->n == 0) { drop(tools->kid[i]); take(tools, i--); }
    }
    for (i = 1; i < tools->n; i++) if (get(tools->kid[i], "functionDeclarations")) {
        one = tools->kid[i];
        memmove(tools->kid + 1, tools->kid, i * sizeof *tools->kid);
        tools->kid[0] = one;
        used[R_TOOL_LIST]++;
    }
}
static void gemini_rules(node *want, node *got)
{
    node *w = get(want, "contents"), *g = get(got, "contents");
    size_t i, k;
    gemini_tools(want);
    for (i = 0; w && i < w->n; i++) {
        node *parts = get(w->kid[i], "parts");
        if (is(get(w->kid[i], "role"), "function")) { free(get(w->kid[i], "role")->text); get(w->kid[i], "role")->text = word("user"); used[R_NAMES]++; }
        camel(parts, 1);
        no_nulls_in(parts);
    }
    same_side(w, "parts");
    for (i = 0; g && i < g->n && w && i < w->n; i++) {
        node *parts = get(g->kid[i], "parts"), *others = get(w->kid[i], "parts");
        camel(parts, 1);
        for (k = 0; parts && k < parts->n && others && k < others->n; k++)                 /* stands for a signature: where newer models want one */
            if (is(get(parts->kid[k], "thoughtSignature"), "skip_thought_signature_validator") && !get(others->kid[k], "thoughtSignature")) {
                lose(parts->kid[k], "thoughtSignature");
                used[R_STANDS_FOR]++;
            }
    }
}

/* ---- a request ---- */
typedef struct format { const char *folder, *wire, *provider; void (*rules)(node *want, node *got); } format;
static const format formats[] = {
    { "openai-chat", "openai-chat", "openai-compatible", chat_rules }, { "openai-responses", "openai-responses", "openai-responses", responses_rules },
    { "anthropic-messages", "anthropic", "anthropic", anthropic_rules }, { "gemini", "gemini", "gemini", gemini_rules }
};
static agent_str body_of(char *p, size_t n)  /* some were recorded as a string                                          */
{
    agent_str s, inner;
    s.p = p;
    s.n = n;
    inner = agent_json_get(s, "string");
    if (inner.p && inner.p[0] == '"') {
        s.p = text_of(inner);
        s.n = strlen(s.p);
    }
    return s;
}
/* Of the same body twice the same comes out: what was once through is stable.                                           */
static char *through(const format *f, agent_str body, const char *name, unsigned *warnings)
{
    agent_desc d;
    agent_peer_desc p;
    agent_session_desc s;
    agent_engine *e;
    agent_json_error err;
    agent_str out;
    agent_id id;
    char *text = NULL;
    const agent_event *ev;
    memset(&d, 0, sizeof d);
    memset(&p, 0, sizeof p);
    memset(&s, 0, sizeof s);
    if (agent_open(&e, &d) != AGENT_OK) exit(2);
    p.provider = agent_json_get(body, "max_completion_tokens").p ? "openai" : f->provider;
    p.url = "http://model.test/v1";
    s.peer = agent_peer_open(e, &p);
    s.model = "model";
    id = agent_session_open(e, &s);
    if (agent_import(e, id, f->wire, body.p, body.n, &err) != AGENT_OK) fprintf(stderr, "%s: %u: %s\n", name, (unsigned)err.offset, err.why);
    else if (agent_export(e, id, f->wire, &out) == AGENT_OK) {
        text = (char *)malloc(out.n + 1);
        if (text == NULL) exit(2);
        memcpy(text, out.p, out.n + 1);
        while ((ev = agent_next(e)) != NULL) {
            if (ev->type == AGENT_EV_WARNING) { ++*warnings; fprintf(stderr, "%s: %s %s\n", name, ev->text.p, ev->name.p); }
        }
    }
    agent_close(e);
    return text;
}
static void request(const format *f, char *text, size_t n, const char *name)
{
    agent_str body = body_of(text, n), again;
    node *want, *got;
    char path[1600] = "", *out, *out2;
    unsigned warnings = 0;
    out = through(f, body, name, &warnings);
    if (out == NULL) { test_failed++; return; }
    again.p = out;
    again.n = strlen(out);
    if (agent_json_check(again.p, again.n, 0, NULL) != AGENT_OK) { test_failed++; fprintf(stderr, "%s: no JSON: %s\n", name, out); return; }
    out2 = through(f, again, name, &warnings);
    want = parse(body);
    got = parse(again);
    no_nulls(want);
    if (get(want, "tools") && get(want, "tools")->kind == '[' && get(want, "tools")->n == 0) { lose(want, "tools"); used[R_NO_TOOLS]++; }
    f->rules(want, got);
    if (differ(want, got, path, 0)) { test_failed++; fprintf(stderr, "%s/%s%s\n", f->folder, name, path); }
    else if (out2 == NULL || strcmp(out, out2) != 0) { test_failed++; fprintf(stderr, "%s/%s: not stable\n%s\n%s\n", f->folder, name, out, out2 ? out2 : ""); }
    else if (warnings) { test_failed++; fprintf(stderr, "%s/%s: warned\n", f->folder, name); }
    else test_passed++;
    drop(want);
    drop(got);
    free(out);
    free(out2);
    if (body.p != text) free((char *)(uintptr_t)body.p);
}
static unsigned folder(const format *f, const char *root)
{
    char path[1024];
    struct dirent *ent;
    unsigned found = 0;
    DIR *dir;
    sprintf(path, "%.800s/fixtures/_requests/%s", root, f->folder);
    dir = opendir(path);
    while (dir && (ent = readdir(dir)) != NULL) {
        FILE *file;
        char *p;
        long n;
        if (strstr(ent->d_name, ".json") == NULL) continue;
        sprintf(path, "%.600s/fixtures/_requests/%s/%.300s", root, f->folder, ent->d_name);
        if ((file = fopen(path, "rb")) == NULL) continue;
        fseek(file, 0, SEEK_END);
        n = ftell(file);
        rewind(file);
        p = (char *)calloc(1, (size_t)n + 1);
        if (p && fread(p, 1, (size_t)n, file) == (size_t)n) { request(f, p, (size_t)n, ent->d_name); found++; }
        free(p);
        fclose(file);
    }
    if (dir) closedir(dir);
    return found;
}
int main(int argc, char **argv)
{
    static const unsigned there[] = { 289, 79, 59, 67 };
    const char *root = argc > 1 ? argv[1] : "../shared";
    size_t i;
    for (i = 0; i < 4; i++) {
        unsigned before = test_passed, bad = test_failed, found = folder(&formats[i], root);
        printf("requests %s: %u recorded, %u the same but for the rules, %u not\n", formats[i].folder, found, test_passed - before, test_failed - bad);
        if (found == 0) test_skipped += there[i];
    }
    for (i = 0; i < R_COUNT; i++) if (used[i]) printf("rule %s: %u times\n", rule_names[i], used[i]);
    return test_end("conform_import");
}
