// Peers: http_parser, a line splitter and one JSON library each, put together the way a careful C or C++ program would. Built with
// what is installed: PEER_<NAME> says which. A line is parsed where it lies, in the read buffer, unless it straddles two pieces.
#include "bench.h"
#include <http_parser.h>
#include <cstdlib>
#include <cstring>
#include <new>
#ifdef PEER_SIMDJSON
#include <simdjson.h>
#endif
#ifdef PEER_YAJL
#include <yajl/yajl_parse.h>
#endif
#ifdef PEER_JANSSON
#include <jansson.h>
#endif
#ifdef PEER_CJSON
#include <cjson/cJSON.h>
#endif

namespace {

const size_t PADDING = 64;               // bytes behind what is parsed that may be read

void *counted(size_t n) { bench_allocs++; return malloc(n); }

// ---- framing, the same for all
// J::json(const char *p, size_t n, size_t room): one payload; room bytes from p on may be read. 0: it is wrong.
template <class J> struct Peer {
    const bench_work *w;
    bench_sink *sink;
    J j;
    const char *failed;
    char *rest;                          // a line that straddles
    size_t rest_n, rest_cap;
    const char *limit;                   // end of what may be read behind the body piece
    bool over;

    Peer(const bench_work *work, bench_sink *s)
        : w(work), sink(s), j(work, s), failed(nullptr), rest(nullptr), rest_n(0), rest_cap(0), limit(nullptr), over(false) {}
    ~Peer() { free(rest); }
    Peer(const Peer &) = delete;
    Peer &operator=(const Peer &) = delete;

    void line(const char *p, size_t n, size_t room)
    {
        if (n && p[n - 1] == '\r') n--;
        if (n < 6 || memcmp(p, "data:", 5) != 0) return;
        size_t skip = p[5] == ' ' ? 6 : 5;
        p += skip;
        n -= skip;
        if (n == 6 && memcmp(p, "[DONE]", 6) == 0) return;
        if (!j.json(p, n, room - skip)) failed = "JSON";
    }
    bool keep(const char *p, size_t n)
    {
        if (rest_cap < rest_n + n + PADDING) {
            size_t cap = (rest_n + n + PADDING) * 2;
            bench_allocs++;
            char *q = static_cast<char *>(realloc(rest, cap));
            if (q == nullptr) { failed = "memory"; return false; }
            rest = q;
            rest_cap = cap;
        }
        memcpy(rest + rest_n, p, n);
        rest_n += n;
        return true;
    }
    void body(const char *p, size_t n)
    {
        const char *end = p + n;
        while (p < end && !failed) {
            const char *lf = static_cast<const char *>(memchr(p, '\n', static_cast<size_t>(end - p)));
            if (lf == nullptr) { keep(p, static_cast<size_t>(end - p)); return; }
            if (rest_n == 0) line(p, static_cast<size_t>(lf - p), static_cast<size_t>(limit - p));
            else if (keep(p, static_cast<size_t>(lf - p))) {
                line(rest, rest_n, rest_cap);
                rest_n = 0;
            }
            p = lf + 1;
        }
    }
    static int on_body(http_parser *h, const char *p, size_t n)
    {
        Peer *self = static_cast<Peer *>(h->data);
        self->body(p, n);
        return self->failed != nullptr;
    }
    static int on_end(http_parser *h)
    {
        static_cast<Peer *>(h->data)->over = true;
        return 0;
    }
    static void run(const bench_work *w, size_t feed, bench_sink *sink)
    {
        Peer peer(w, sink);
        http_parser h;
        http_parser_settings settings;
        http_parser_init(&h, HTTP_RESPONSE);
        http_parser_settings_init(&settings);
        h.data = &peer;
        settings.on_body = on_body;
        settings.on_message_complete = on_end;
        const size_t cap = 65536;
        char *buf = static_cast<char *>(counted(cap + PADDING));
        size_t at = 0, i = 0;
        if (buf == nullptr) { sink->failed = "memory"; return; }
        memset(buf, 0, cap + PADDING);
        while (at < w->n && !peer.failed) {
            size_t end = bench_feed_end(w, feed, at, &i), n = end - at > cap ? cap : end - at;
            memcpy(buf, w->p + at, n);   // what read() would do
            peer.limit = buf + cap + PADDING;
            if (http_parser_execute(&h, &settings, buf, n) != n && !peer.failed) peer.failed = "HTTP";
            at += n;
        }
        if (!peer.failed && !peer.over) peer.failed = "the answer did not end";
        sink->failed = peer.failed;
        free(buf);
    }
};

// ---- simdjson, on demand: reads only what it is asked for
#ifdef PEER_SIMDJSON
namespace od = simdjson::ondemand;
struct Simdjson {
    od::parser parser;
    const bench_work *w;
    bench_sink *s;
    Simdjson(const bench_work *work, bench_sink *sink) : w(work), s(sink) {}

    static void text(simdjson::simdjson_result<od::value> v, uint64_t *sum)
    {
        std::string_view t;
        if (v.get_string().get(t) == simdjson::SUCCESS) bench_put(sum, t.data(), t.size());
    }
    void calls(simdjson::simdjson_result<od::value> v)
    {
        od::array calls;
        if (v.get_array().get(calls) != simdjson::SUCCESS) return;
        for (auto call : calls) text(call["function"]["arguments"], &s->args);
    }
    bool openai(od::document &doc)
    {
        od::array choices;
        if (doc["choices"].get_array().get(choices) != simdjson::SUCCESS) return false;
        for (auto choice : choices) {
            od::object delta;
            if (choice["delta"].get_object().get(delta) != simdjson::SUCCESS) return false;
            for (auto field : delta) {
                od::raw_json_string key;
                if (field.key().get(key) != simdjson::SUCCESS) return false;
                if (key == "content") text(field.value(), &s->text);
                else if (key == "reasoning_content") text(field.value(), &s->reasoning);
                else if (key == "tool_calls") calls(field.value());
            }
            bool none;
            if (choice["finish_reason"].is_null().get(none) != simdjson::SUCCESS) return false;
        }
        od::object usage;
        if (doc["usage"].get_object().get(usage) != simdjson::SUCCESS) return true;
        return usage["completion_tokens"].get_int64().get(s->output) == simdjson::SUCCESS;
    }
    bool delta(od::document &doc)
    {
        od::object d;
        if (doc["delta"].get_object().get(d) != simdjson::SUCCESS) return false;
        for (auto field : d) {
            od::raw_json_string key;
            if (field.key().get(key) != simdjson::SUCCESS) return false;
            if (key == "text") text(field.value(), &s->text);
            else if (key == "thinking") text(field.value(), &s->reasoning);
            else if (key == "partial_json") text(field.value(), &s->args);
        }
        return true;
    }
    bool anthropic(od::document &doc)
    {
        std::string_view type;
        if (doc["type"].get_string().get(type) != simdjson::SUCCESS) return false;
        if (type == "content_block_delta") {
            int64_t index;
            return doc["index"].get_int64().get(index) == simdjson::SUCCESS && delta(doc);
        }
        if (type == "message_delta") return doc["usage"]["output_tokens"].get_int64().get(s->output) == simdjson::SUCCESS;
        return true;
    }
    bool json(const char *p, size_t n, size_t room)
    {
        od::document doc;
        if (parser.iterate(p, n, room).get(doc) != simdjson::SUCCESS) return false;
        return w->anthropic ? anthropic(doc) : openai(doc);
    }
};
#endif

// ---- yajl: a callback for each value
#ifdef PEER_YAJL
struct Yajl {
    enum { DEPTH = 16, KEY = 24 };
    const bench_work *w;
    bench_sink *s;
    unsigned depth;
    char keys[DEPTH][KEY];               // the key that is open at each depth
    Yajl(const bench_work *work, bench_sink *sink) : w(work), s(sink), depth(0) { memset(keys, 0, sizeof keys); }

    bool at(unsigned d, const char *key) const { return strcmp(keys[d], key) == 0; }
    static int open(void *p)
    {
        Yajl *y = static_cast<Yajl *>(p);
        if (++y->depth >= DEPTH) return 0;
        y->keys[y->depth][0] = 0;
        return 1;
    }
    static int close(void *p) { static_cast<Yajl *>(p)->depth--; return 1; }
    static int key(void *p, const unsigned char *k, size_t n)
    {
        Yajl *y = static_cast<Yajl *>(p);
        if (n >= KEY) n = KEY - 1;
        memcpy(y->keys[y->depth], k, n);
        y->keys[y->depth][n] = 0;
        return 1;
    }
    static int string(void *p, const unsigned char *t, size_t n)
    {
        Yajl *y = static_cast<Yajl *>(p);
        const char *c = reinterpret_cast<const char *>(t);
        if (y->w->anthropic) {
            if (y->depth != 2 || !y->at(1, "delta")) return 1;
            if (y->at(2, "text")) bench_put(&y->s->text, c, n);
            else if (y->at(2, "thinking")) bench_put(&y->s->reasoning, c, n);
            else if (y->at(2, "partial_json")) bench_put(&y->s->args, c, n);
        } else if (y->depth == 4 && y->at(1, "choices") && y->at(3, "delta")) {
            if (y->at(4, "content")) bench_put(&y->s->text, c, n);
            else if (y->at(4, "reasoning_content")) bench_put(&y->s->reasoning, c, n);
        } else if (y->depth == 7 && y->at(4, "tool_calls") && y->at(6, "function") && y->at(7, "arguments"))
            bench_put(&y->s->args, c, n);
        return 1;
    }
    static int integer(void *p, long long v)
    {
        Yajl *y = static_cast<Yajl *>(p);
        const char *name = y->w->anthropic ? "output_tokens" : "completion_tokens";
        if (y->depth == 2 && y->at(1, "usage") && y->at(2, name)) y->s->output = v;
        return 1;
    }
    static void *get(void *, size_t n) { return counted(n); }
    static void *resize(void *, void *p, size_t n) { bench_allocs++; return realloc(p, n); }
    static void put(void *, void *p) { free(p); }

    bool json(const char *p, size_t n, size_t)
    {
        static const yajl_callbacks calls = { nullptr, nullptr, integer, nullptr, nullptr, string, open, key, close, open, close };
        yajl_alloc_funcs memory = { get, resize, put, nullptr };
        const unsigned char *u = reinterpret_cast<const unsigned char *>(p);
        depth = 0;
        yajl_handle h = yajl_alloc(&calls, &memory, this);
        bool good = h && yajl_parse(h, u, n) == yajl_status_ok && yajl_complete_parse(h) == yajl_status_ok;
        if (h) yajl_free(h);
        return good;
    }
};
#endif

// ---- trees: a document is built, asked and freed
#ifdef PEER_JANSSON
struct Jansson {
    typedef json_t *Node;
    static Node parse(const char *p, size_t n) { return json_loadb(p, n, 0, nullptr); }
    static void drop(Node v) { json_decref(v); }
    static Node get(Node v, const char *key) { return json_object_get(v, key); }
    static size_t count(Node v) { return json_array_size(v); }
    static Node item(Node v, size_t i) { return json_array_get(v, i); }
    static bool text(Node v, const char **p, size_t *n)
    {
        if (!json_is_string(v)) return false;
        *p = json_string_value(v);
        *n = json_string_length(v);
        return true;
    }
    static bool number(Node v, int64_t *to)
    {
        if (json_is_integer(v)) *to = json_integer_value(v);
        return json_is_integer(v);
    }
    static void memory() { json_set_alloc_funcs(counted, free); }
};
#endif
#ifdef PEER_CJSON
struct Cjson {
    typedef cJSON *Node;
    static Node parse(const char *p, size_t n) { return cJSON_ParseWithLength(p, n); }
    static void drop(Node v) { cJSON_Delete(v); }
    static Node get(Node v, const char *key) { return cJSON_GetObjectItemCaseSensitive(v, key); }
    static size_t count(Node v) { return static_cast<size_t>(cJSON_GetArraySize(v)); }
    static Node item(Node v, size_t i) { return cJSON_GetArrayItem(v, static_cast<int>(i)); }
    static bool text(Node v, const char **p, size_t *n)
    {
        if (!cJSON_IsString(v)) return false;
        *p = v->valuestring;
        *n = strlen(v->valuestring);
        return true;
    }
    static bool number(Node v, int64_t *to)
    {
        if (cJSON_IsNumber(v)) *to = static_cast<int64_t>(v->valuedouble);
        return cJSON_IsNumber(v);
    }
    static void memory()
    {
        cJSON_Hooks hooks = { counted, free };
        cJSON_InitHooks(&hooks);
    }
};
#endif
#if defined PEER_JANSSON || defined PEER_CJSON
template <class T> struct Tree {
    typedef typename T::Node Node;
    const bench_work *w;
    bench_sink *s;
    Tree(const bench_work *work, bench_sink *sink) : w(work), s(sink) { T::memory(); }

    static void text(Node v, uint64_t *sum)
    {
        const char *p;
        size_t n;
        if (v && T::text(v, &p, &n)) bench_put(sum, p, n);
    }
    void openai(Node doc)
    {
        Node choices = T::get(doc, "choices"), usage = T::get(doc, "usage");
        for (size_t i = 0, n = T::count(choices); i < n; i++) {
            Node delta = T::get(T::item(choices, i), "delta"), calls = T::get(delta, "tool_calls");
            text(T::get(delta, "content"), &s->text);
            text(T::get(delta, "reasoning_content"), &s->reasoning);
            if (calls == nullptr) continue;
            for (size_t k = 0, m = T::count(calls); k < m; k++)
                text(T::get(T::get(T::item(calls, k), "function"), "arguments"), &s->args);
        }
        if (usage) {
            Node tokens = T::get(usage, "completion_tokens");
            if (tokens) T::number(tokens, &s->output);
        }
    }
    void anthropic(Node doc)
    {
        const char *p;
        size_t n;
        Node delta = T::get(doc, "delta");
        if (!T::text(T::get(doc, "type"), &p, &n)) return;
        if (n == 19 && memcmp(p, "content_block_delta", n) == 0) {
            text(T::get(delta, "text"), &s->text);
            text(T::get(delta, "thinking"), &s->reasoning);
            text(T::get(delta, "partial_json"), &s->args);
        } else if (n == 13 && memcmp(p, "message_delta", n) == 0)
            T::number(T::get(T::get(doc, "usage"), "output_tokens"), &s->output);
    }
    bool json(const char *p, size_t n, size_t)
    {
        Node doc = T::parse(p, n);
        if (!doc) return false;
        if (w->anthropic) anthropic(doc); else openai(doc);
        T::drop(doc);
        return true;
    }
};
#endif

} // namespace

#ifdef PEER_SIMDJSON
// simdjson allocates with new.
void *operator new(std::size_t n) { void *p = counted(n); if (p == nullptr) abort(); return p; }
void *operator new[](std::size_t n) { void *p = counted(n); if (p == nullptr) abort(); return p; }
void *operator new(std::size_t n, const std::nothrow_t &) noexcept { return counted(n); }
void *operator new[](std::size_t n, const std::nothrow_t &) noexcept { return counted(n); }
void operator delete(void *p) noexcept { free(p); }
void operator delete[](void *p) noexcept { free(p); }
void operator delete(void *p, std::size_t) noexcept { free(p); }
void operator delete[](void *p, std::size_t) noexcept { free(p); }
#endif

bench_run *bench_peer(const char *name)
{
#ifdef PEER_SIMDJSON
    if (strcmp(name, "simdjson") == 0) return Peer<Simdjson>::run;
#endif
#ifdef PEER_YAJL
    if (strcmp(name, "yajl") == 0) return Peer<Yajl>::run;
#endif
#ifdef PEER_JANSSON
    if (strcmp(name, "jansson") == 0) return Peer<Tree<Jansson>>::run;
#endif
#ifdef PEER_CJSON
    if (strcmp(name, "cjson") == 0) return Peer<Tree<Cjson>>::run;
#endif
    (void)name;
    return nullptr;
}
