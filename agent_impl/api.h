/* ---- 1 words ------------------------------------------------------------------------------------------------- */
typedef struct agent_engine agent_engine;
typedef uint32_t agent_id;       /* HANDLE of a peer, session or connection of one engine: kind|generation|slot, < 2^31; 0: none.
                                    A dead one stays dead until its slot was used 8,191 times more                    */
typedef uint32_t agent_num;      /* NUMBER inside one session: run, step, msg, part, call, need; from 1, never reused */
typedef struct agent_str {       /* a view. p is never NULL in an event; NUL-terminated except in `text`              */
  const char *p;
  size_t n;
} agent_str;
#define AGENT_CSTR ((size_t)-1)  /* as a length argument: p is a C string                                             */
#define AGENT_OFF 0xFFFFFFFFu    /* as a limit: none (0 is the default)                                               */

/* The allocator hook. p NULL: allocate new_size; new_size 0: free and return NULL; else resize. old_size is what was asked
 * for. Memory must be aligned for any type. NULL for new_size > 0 means refused: the engine goes on (see "Memory").   */
typedef void *(*agent_alloc_fn)(void *ctx, void *p, size_t old_size, size_t new_size);

/* Takes text that the engine writes, in pieces; it must not call the engine.                                          */
typedef void (*agent_sink_fn)(void *ctx, const void *p, size_t n);

#define AGENT_CODES(X) /* the table of the manual's chapter 11 */ \
  X(OK, 0, "done") \
  X(LATE, 1, "already answered or withdrawn; nothing changed") \
  X(MORE, 2, "call again") \
  X(E_ARG, -1, "bad argument") \
  X(E_STALE, -2, "the id is dead or of another kind") \
  X(E_STATE, -3, "not now") \
  X(E_FULL, -4, "no room: drain agent_next first") \
  X(E_NOMEM, -5, "the allocator refused; nothing changed") \
  X(E_LIMIT, -6, "over a limit") \
  X(E_SYNTAX, -7, "the bytes break the format (codecs)") \
  X(E_FORMAT, -8, "no saved session, or one of a newer version")
enum agent_code {
#define AGENTI_X(n, v, t) AGENT_##n = v,
  AGENT_CODES(AGENTI_X)
#undef AGENTI_X
  AGENT_CODE_END = -99
};

/* ---- 2 engine ------------------------------------------------------------------------------------------------ */
typedef struct agent_limits {    /* 0: default, AGENT_OFF: none                                                       */
  uint32_t recv;                 /* unparsed bytes kept per connection; at least 512                    default 64 KiB */
  uint32_t piece;                /* a TEXT, REASONING or INPUT delta is at most this long; at least 16  default  8 KiB */
  uint32_t item;                 /* one SSE event, whole answer, call's arguments or tool output        default  8 MiB */
  uint32_t head;                 /* status line and headers of an answer, and its trailers              default 64 KiB */
  uint32_t depth;                /* JSON nesting, at most 64                                            default 64     */
  uint32_t sessions, conns, peers;   /* at most 65,535 each; conns full: an idle connection is closed and its CLOSE awaited,
                                    without one the run ends with an ERROR of fault LIMIT               default 65,535 */
  uint32_t calls_per_step;       /* tool calls in one answer; AGENT_OFF only for peers that are trusted: with it a hostile answer costs
                                    the square of its calls                                             default 128    */
  uint32_t scan_per_next;        /* bytes parsed by one agent_next without an event                     default 64 KiB */
} agent_limits;
typedef struct agent_provider {  /* a row of the provider table; a row of desc.providers wins over a built-in one     */
  const char *name;              /* "openai"                                                                          */
  const char *url;               /* base URL; NULL: agent_peer_desc.url is required                                   */
  const char *wire;              /* wire format: "openai-chat"                                                        */
  const char *auth;              /* "bearer", "none", the name of the header that takes the key, or "sign": a SIGN need hands each request to
                                    the host, which signs it (AWS SigV4)                                              */
  const char *key_env;           /* the variable where hosts usually find the key, or NULL; the engine never reads it */
  uint32_t dialect;              /* AGENT_DIALECT_ bits                                                               */
  const char *models;            /* the path of its list of models behind the base URL, "=/path" for one of the host itself; NULL: none */
  const char *headers;           /* "Name: value\n" lines that it wants, or NULL; a header that the host gives goes before */
} agent_provider;
#ifndef AGENT_NO_PROVIDERS
/* The i-th row of the table that is built in, from 0; NULL past the last.                                             */
AGENTDEF const agent_provider *agent_provider_at(size_t i);
#endif
enum { /* dialect switches of OpenAI chat, the last one of Anthropic */
  AGENT_DIALECT_NO_STREAM_OPTIONS = 1,       /* stream_options is refused (wire: B6)                                  */
  AGENT_DIALECT_MAX_COMPLETION_TOKENS = 2,   /* the limit is called max_completion_tokens                             */
  AGENT_DIALECT_REASONING_CONTENT = 4,       /* assistant messages carry reasoning_content, "" if there was none (D1: DeepSeek, Kimi, GLM) */
  AGENT_DIALECT_NO_FORCED_CHOICE = 8,        /* tool_choice is auto or none: others are refused (C26: DeepSeek)       */
  AGENT_DIALECT_MISTRAL = 16,                /* tool ids of nine letters and digits (C20), tool_choice any, random_seed, and after tool
                                                results an assistant message before the user's                       */
  AGENT_DIALECT_UNSIGNED_THINKING = 32,      /* thinking goes back also without a signature (D3: DeepSeek, MiniMax, Kimi) */
  AGENT_DIALECT_THINKING_TYPE = 64,          /* thinking is switched by thinking: {type: enabled or disabled} (Z.ai, Kimi, DeepSeek) */
  AGENT_DIALECT_ENABLE_THINKING = 128,       /* thinking is switched by enable_thinking and thinking_budget (Alibaba)   */
  AGENT_DIALECT_TOP_K = 256                  /* top_k is taken, which OpenAI refuses                                    */
};
typedef struct agent_desc {
  uint32_t flags;                            /* none yet, 0                                                           */
  size_t mem_limit;                          /* bytes of the whole engine; 0: none                                    */
  agent_alloc_fn alloc; void *alloc_ctx;     /* NULL: malloc, unless AGENT_NO_MALLOC                                  */
  void *block; size_t block_size;            /* fixed-block mode instead: no other memory is used                     */
  uint64_t seed;                             /* of the jitter between retries: give each process another              */
  const agent_provider *providers; size_t provider_count;   /* borrowed until agent_close                             */
  agent_sink_fn record; void *record_ctx;    /* the flight recorder (the end of chapter 7): lines of JSON, a line a call that changes something
                                    and an event; without keys. Called from within every such call. NULL: none          */
  agent_limits limits;
} agent_desc;
#define AGENT_ABI 1u
/* Opens an engine. OK, E_ARG (desc NULL, a limit out of range, block too small, another ABI, record in a build without it), E_NOMEM. Use the macro: it hands over
 * the version and sizes this translation unit was compiled with. desc itself is copied.                              */
AGENTDEF int agent_open_abi(agent_engine **out, const agent_desc *desc, uint32_t abi, size_t event_size);
#define agent_open(out, desc) agent_open_abi((out), (desc), AGENT_ABI, sizeof(agent_event))
/* Frees everything, also what the last event points to. No events: the host drops its own streams. NULL is fine.     */
AGENTDEF void agent_close(agent_engine *);
AGENTDEF const char *agent_code_text(int code);          /* the table above; static text, never NULL                   */
/* Why the last call on this engine returned a negative code or 0; static text, never NULL, never secret.             */
AGENTDEF const char *agent_last(const agent_engine *);
/* Bytes held now and at most: id 0 the engine, else a session. OK, E_STALE. Either pointer may be NULL.              */
AGENTDEF int agent_memory(const agent_engine *, agent_id engine_or_session, size_t *now, size_t *peak);

/* ---- 3 peers: whoever is at the other end -------------------------------------------------------------------- */
typedef struct agent_peer_desc {
  const char *provider;          /* a row's name: "openai", "openai-compatible", ...                                    */
  const char *url;               /* base URL instead of the row's: http or https, host, IPv4 or [IPv6], port, path prefix, query. No
                                    secret: it is shown in u.open.url                                                 */
  const char *auth;              /* instead of the row's (see agent_provider); NULL: the row's                          */
  const char *key;               /* NULL: a CREDENTIAL need asks for it when it is wanted; "": none is sent. Copied, wiped at close, shown by
                                    agent_open_header only                                                              */
  const char *headers;           /* extra "Name: value\n" lines; one that the engine would write itself replaces it. Values of names
                                    with auth, key, token, secret or cookie in them are starred out of errors as the key is */
  const char *body_json;         /* an object whose members go into every request body and replace the engine's       */
  uint32_t dialect_on, dialect_off;
  /* Milliseconds, 0: default, AGENT_OFF: no limit. What runs out of time is a fault TIMEOUT                          */
  uint32_t connect_ms;           /* from OPEN (or SIGN) until agent_opened                                 default 30 s */
  uint32_t first_ms;             /* from there until the answer's first content (five times that when the answer comes in one piece). Comments
                                    and pings are none                                                     default 120 s */
  uint32_t idle_ms;              /* between contents                                                       default 90 s */
  void *user;                    /* comes back in events of no session                                                */
} agent_peer_desc;
/* 0: see agent_last (unknown provider, bad URL, a header with CR, LF or NUL, body_json no object, limit, memory).     */
AGENTDEF agent_id agent_peer_open(agent_engine *, const agent_peer_desc *);
/* Closes idle connections (their CLOSE comes) and frees the peer. OK, E_STALE, E_STATE while a session uses it.        */
AGENTDEF int agent_peer_close(agent_engine *, agent_id peer);
/* Replaces the key for all later requests of all its sessions, at any time; n as in agent_say; "" sends none. It is also the answer to a
 * CREDENTIAL. valid_ms: how long it is good from now, 0: not known; when that is over, and once when a request is answered by status
 * 401, CREDENTIAL asks for the next one. OK, E_ARG, E_STALE, E_NOMEM                                                  */
AGENTDEF int agent_peer_key(agent_engine *, agent_id peer, const char *key, size_t n, uint64_t valid_ms);

#ifndef AGENT_NO_MODELS
/* Asks what models there are, by an exchange of its own. MODELS comes, or an ERROR of scope PEER: exactly one of them, unless the peer is
 * closed before. OK, E_STALE, E_STATE (the provider has no list), E_NOMEM.                                            */
AGENTDEF int agent_models(agent_engine *, agent_id peer);
#endif

/* ---- 4 sessions ---------------------------------------------------------------------------------------------- */
enum {
  AGENT_TF_SERIAL = 1,           /* never beside another tool of the same step                                        */
  AGENT_TF_STRICT = 4,           /* the model's arguments are to fit the schema exactly, which has to be of the provider's strict kind:
                                    every property required, additionalProperties false (OpenAI structured outputs)   */
  AGENT_TF_ENDS_RUN = 8,         /* the run ends after the step in which it was called and did not fail               */
  AGENT_TF_REPLAY_SAFE = 16,     /* may run again when a saved session is loaded that was left while it ran; else it counts as interrupted */
  AGENT_TF_RAW = 2               /* schema is the whole declaration, an object as the provider wants it, for tools that it defines or
                                    runs itself: {"type":"web_search_20250305","name":"web_search"}. What the provider runs comes as
                                    TOOL_CALL and TOOL_RESULT only; what it leaves to the host is a TOOL_RUN under this name       */
};
typedef struct agent_tool {
  const char *name;              /* as the model calls it; 1 to 64 of [A-Za-z0-9_-]                                   */
  const char *description;       /* NULL: none. Not used with RAW                                                     */
  const char *schema;            /* JSON Schema of the arguments, an object; NULL: {"type":"object"}                  */
  uint32_t flags;                /* AGENT_TF_                                                                         */
  uint32_t timeout_ms;           /* until it has to be done; 0: agent_session_desc.tool_ms, AGENT_OFF: any time       */
  void *user;                    /* comes back in u.tool.user                                                         */
} agent_tool;
enum {
  AGENT_S_NO_STREAM = 1,         /* ask for the answer in one piece; the events are the same                          */
#ifndef AGENT_NO_THINK
  AGENT_S_THINK_TAGS = 2,        /* <think>...</think> at the start of an answer's text is reasoning: for hosts of open models that pass
                                    the tags on                                                                      */
  AGENT_S_THINK_OPEN = 4,        /* the same, and the opening tag is not there: the model's template has written it   */
#endif
  AGENT_S_GO_ON = 16,            /* an answer that breaks off after something of it was shown is kept, and the run goes on: a message of role
                                    user (AGENT_MSG_NOTE) asks for the rest, within max_retries. Else the run FAILs    */
  AGENT_S_CHECKPOINTS = 32,      /* CHECKPOINT events tell when a save loses nothing                                  */
  AGENT_S_THOUGHTS_TOLD = 8      /* a complete answer of reasoning alone, without text and calls, is told once more as its text: some
                                    hosts put all that a model says into the wrong field (vLLM and Azure, wire: B22, B23)      */
};
typedef struct agent_session_desc {
  uint32_t flags;                /* AGENT_S_                                                                          */
  agent_id peer;
  const char *model;             /* required                                                                          */
  const char *system;            /* NULL or "": none                                                                  */
  const agent_tool *tools; size_t tool_count;    /* copied                                                            */
  size_t mem_limit;              /* bytes of this session; 0: none but the engine's                                   */
  uint32_t max_tokens;           /* per answer; 0, AGENT_OFF: the provider's default (Anthropic has none: 8192)       */
  uint32_t max_steps;            /* model calls of a run, the last of them with tools off          default 50
                                    (1: with tools on; if it calls any, the run is LIMITED)                           */
  uint32_t parallel_tools;       /* TOOL_RUNs open at the same time                                default no limit   */
  /* Retries: of what u.error.retryable says, when nothing of the answer was shown                                    */
  uint32_t max_retries;          /* in a row; AGENT_OFF: none                                      default 4          */
  uint32_t retry_ms, retry_cap_ms;   /* the first wait, doubled each time up to the cap, and up to a quarter of it more by
                                    chance (desc.seed)                                             default 2 s, 30 s  */
  uint32_t hint_cap_ms;          /* the longest wait a provider may ask for: asks it for more, the run ends (AGENT_WHY_HINT). AGENT_OFF:
                                    any                                                            default 60 s       */
  /* Milliseconds, AGENT_OFF: no limit                                                                                */
  uint32_t tool_ms;              /* from TOOL_RUN until agent_tool_done: then TOOL_CANCEL, and an error for the model   default 120 s */
  uint32_t grace_ms;             /* from TOOL_CANCEL on a tool may still end by itself; AGENT_OFF: not at all           default 250 ms */
  uint32_t step_ms, run_ms;      /* a step with its tools; a run. Then what runs is cut as by a cancel, and the run is LIMITED   default no limit */
  /* A run ends after the step in which one of these, max_steps or AGENT_TF_ENDS_RUN comes true, unless the host goes on: see STEP_END */
  uint32_t max_run_tokens;       /* input and output of its steps, as the provider counts them     default no limit   */
  uint32_t stop_finish;          /* bits 1 << AGENT_FINISH_: such an answer ends it, though its calls could be gone on with   default none */
  void *user;                    /* comes back in every event of the session                                          */
} agent_session_desc;
/* 0: see agent_last. Strings are copied.                                                                             */
AGENTDEF agent_id agent_session_open(agent_engine *, const agent_session_desc *);
/* Frees the session at the next agent_next, without events but the CLOSE of its connection. OK, E_STALE.             */
AGENTDEF int agent_session_close(agent_engine *, agent_id s);
/* Sets an option for the requests that are built later; n as in agent_say; an empty value takes the option back.
 *   "model" "system"                                  text
 *   "max_tokens" "temperature" "top_p" "seed" "frequency_penalty" "presence_penalty"     a JSON number, sent as written
 *   "stop"                                            a JSON string or array of strings
 *   "tool_choice"                                     auto, none, required, or a tool's name; a forced choice holds for one step
 *   "parallel_tool_calls"                             true or false
 *   "reasoning_effort"                                off, minimal, low, medium, high, max: told in the provider's words, or in the
 *                                                     nearest that it has; other words are sent as they are
 *   "thinking_budget"                                 tokens, 0: no thinking, adaptive: the model decides (Anthropic)
 *   "prompt_cache"                                    5m or 1h: how long the provider is asked to keep what it has read (Anthropic
 *                                                     cache_control; others cache by themselves and are not asked)
 *   "response_format"                                  json, or a JSON Schema (an object) that the answer's text has to fit
 *   "service_tier" "prompt_cache_key" "user"          text, as the provider takes it; user stands for the end user (Anthropic: user_id)
 *   "top_k"                                           a JSON number
 *   "stateful"                                        true: the provider keeps its answers, and only what is new since the last
 *                                                     whole one is sent (Responses, Gemini Interactions); false: all is
 * What a provider does not take is left out of its requests with a WARNING that names the option.
 * OK, E_ARG (unknown key, wrong form), E_STALE, E_NOMEM.                                                             */
AGENTDEF int agent_session_set(agent_engine *, agent_id s, const char *key, const char *value, size_t n);
/* Replaces the tools, from the next step on. OK, E_ARG, E_STALE, E_NOMEM.                                            */
AGENTDEF int agent_session_tools(agent_engine *, agent_id s, const agent_tool *, size_t n);

enum agent_part_kind { AGENT_PART_TEXT, AGENT_PART_IMAGE, AGENT_PART_AUDIO, AGENT_PART_FILE /* PDF, plain text ... */, AGENT_PART_REASONING,
  AGENT_PART_CALL, AGENT_PART_RESULT,
  AGENT_PART_OTHER               /* a block of the provider's own: text is its JSON, name its type; goes back to the same model */ };
enum {
  AGENT_PART_CUT = 1,            /* truncated: a limit, a cancel or an error came first                               */
  AGENT_PART_ERROR = 2,          /* RESULT: the tool failed, was refused or not run                                   */
  AGENT_PART_INVALID = 4,        /* CALL: text is no JSON object                                                      */
  AGENT_PART_REFUSAL = 8,        /* TEXT: the model refuses (OpenAI `refusal`)                                        */
  AGENT_PART_BASE64 = 16,        /* IMAGE, AUDIO, FILE: text is base64 (RFC 4648 section 4, padded, no line breaks). In: else it is the
                                    file's bytes. Out: set, but for plain text, which is kept as it is                */
  AGENT_PART_CACHE = 32          /* of a user message: a prompt cache mark behind it (Anthropic, four in a request)   */
};
typedef struct agent_part {      /* in: kind, flags, text, name, mime, uri (and for AGENT_MODEL, AGENT_TOOLS messages wire_id, data); out: all */
  uint16_t kind, flags;
  agent_num id, call;            /* call: CALL and RESULT                                                             */
  agent_str text;                /* text, reasoning, arguments as JSON, tool output, or the contents of a file        */
  agent_str name;                /* CALL: the tool. IMAGE, AUDIO, FILE: the file's name, if it has one                */
  agent_str mime;                /* IMAGE, AUDIO, FILE: its media type; needed with text. image/ and audio/ settle the kind */
  agent_str uri;                 /* IMAGE, AUDIO, FILE: where the provider finds it, instead of text. A data: URL is taken apart */
  agent_str wire_id;             /* CALL and RESULT: the provider's id of the call                                    */
  agent_str data;                /* what the provider wants back with it, as it came: a signature, citations          */
} agent_part;
enum agent_role { AGENT_USER, AGENT_MODEL, AGENT_TOOLS };
enum { AGENT_MSG_NOTE = 2 };     /* of an AGENT_USER message: the engine's own words to the model                     */
enum { AGENT_MSG_SYSTEM = 64 };  /* of an AGENT_USER message: an import had it as a system or developer message among the others. It goes
                                    back as such to formats that have those (OpenAI's), to others as the user's       */
typedef struct agent_msg {
  agent_num id, run;             /* run 0: added by the host                                                          */
  uint8_t role, flags;           /* AGENT_PART_CUT, AGENT_MSG_SYSTEM, AGENT_MSG_NOTE                                  */
  uint32_t part_count;           /* 0: AGENT_MODEL, cut before its first part; not sent                                */
} agent_msg;

enum agent_lane {
  AGENT_QUEUE = 0,               /* a run of its own, after the current one                                           */
  AGENT_STEER = 1,               /* into the current run, before its next request; a run that would end goes on. Idle: as QUEUE */
  AGENT_STORE = 2,               /* into the table without a run, when the session is idle                            */
  AGENT_NOW = 4                  /* as QUEUE, but E_STATE if the session is busy                                      */
};
/* Submits a user message of one text part. n: bytes, or AGENT_CSTR. Invalid UTF-8 is replaced. > 0: the item's number; the message
 * stands in the queue until its run starts. E_ARG (empty), E_STALE, E_NOMEM, E_LIMIT.                                */
AGENTDEF int agent_say(agent_engine *, agent_id s, const char *text, size_t n);
/* The same with parts (TEXT, IMAGE, AUDIO, FILE) and a lane. What a provider does not take of them is named in brackets instead, with a
 * WARNING. E_ARG also: no MIME type, text and uri, bad base64. n 0: go on with what is there: idle, when the last message is the user's or
 * tool results; AGENT_STEER at a STEP_END whose u.end.why would end the run behind tool results (else E_STATE). Calls that have no results,
 * as in a table that was cut, get them before the message, with a WARNING.                                            */
AGENTDEF int agent_submit(agent_engine *, agent_id s, const agent_part *, size_t n, int lane);
/* 1: a run is going on, or something waits for one, also right behind a load; 0: it is idle. E_STALE.                 */
AGENTDEF int agent_busy(const agent_engine *, agent_id s);
/* Stops the run: unparsed bytes are dropped, open parts and calls end, what was shown stays, one RUN_END follows. Items that wait
 * come back as QUEUED before it; what is said after the cancel is not meant. In an idle session, or twice: nothing happens. OK, E_STALE.                                   */
AGENTDEF int agent_cancel(agent_engine *, agent_id s);
enum agent_stop_when {
  AGENT_STOP_STEP = 1,           /* when this step is over, with its tools; a wait for a retry ends at once           */
  AGENT_STOP_TOOLS = 2,          /* when the tools that run are done: no other starts, an answer is cut               */
  AGENT_STOP_NOW = 3             /* agent_cancel                                                                      */
};
/* The same, gently: a later call can only hasten it. Running tools get TOOL_CANCEL (NOW) and grace_ms. OK, E_ARG, E_STALE. */
AGENTDEF int agent_stop(agent_engine *, agent_id s, int when);
enum agent_retry_what { AGENT_RETRY_NOW, AGENT_RETRY_STOP };
/* NOW: ends the wait of RETRY_WAIT; also between an ERROR of scope RUN and its RUN_END, of any fault: the run goes on with another step.
 * STOP: no more retries, the fault stands. OK, E_ARG, E_STALE, LATE (nothing waits).                                  */
AGENTDEF int agent_retry(agent_engine *, agent_id s, int what);
/* The queue as it is, from 0: what was submitted and is not in the table yet. OK, E_STALE, E_ARG (past the last).       */
typedef struct agent_item { uint32_t item; int lane; uint32_t part_count; /* 0: go on */ } agent_item;
AGENTDEF int agent_queue_at(const agent_engine *, agent_id s, size_t i, agent_item *out);
AGENTDEF int agent_queue_part(const agent_engine *, agent_id s, uint32_t item, size_t i, agent_part *out);      /* lives like an event */
/* Takes an item back: QUEUED (RETURNED) comes. OK, LATE (it is in the table, or back), E_STALE, E_ARG (no such item was ever). */
AGENTDEF int agent_queue_cancel(agent_engine *, agent_id s, uint32_t item);
/* Puts an item before another one (0: at the end) and into a lane: QUEUED (MOVED) comes. OK, LATE, E_STALE, E_ARG.      */
AGENTDEF int agent_queue_move(agent_engine *, agent_id s, uint32_t item, int lane, uint32_t before);
/* Stores a message without a run (import). A CALL needs wire_id and name, a RESULT the wire_id of a CALL in the message before it.
 * > 0: its number. E_ARG, E_STALE, E_STATE (a run is going on), E_NOMEM, E_LIMIT.                                             */
AGENTDEF int agent_message_add(agent_engine *, agent_id s, int role, const agent_part *, size_t n);
/* Drops a message and all after it; MSG_CUT comes. Their numbers are not used again. > 0: how many went. E_STALE, E_STATE (a run is going on,
 * or something waits), E_ARG (no such message).                                                                        */
AGENTDEF int agent_message_cut(agent_engine *, agent_id s, agent_num msg);
/* Asks again: drops what came after the user's last message, and submits without a new one. Then the same as agent_submit with n 0. E_STATE
 * also: the user has said nothing.                                                                                     */
AGENTDEF int agent_regenerate(agent_engine *, agent_id s);
struct agent_json_error;         /* chapter 8                                                                         */
/* Takes a conversation in that a program has as a request body of a wire format: "openai-chat", "openai-responses", "anthropic" (also
 * "bedrock-invoke") or "gemini", or as its bare list of messages. json: n bytes or AGENT_CSTR, copied. All or nothing, for a session
 * without messages. The messages become the table; system prompt, tools and options become the session's, what the body does not say
 * stays as it was. What a session has no place for is kept and goes back to the same format, in requests as in agent_export: other
 * members of the body, of messages and of blocks, and blocks of unknown kinds (AGENT_PART_OTHER). A member that says more than an option
 * can is kept beside it, until that option is set anew. Is the format not that of the session's peer, the model stays the session's, and
 * a WARNING names each member of the body that the peer's format has no place for.
 * Order: system messages at the start are the prompt; results go behind their calls. A conversation may end with the model's words, or
 * with calls that wait for agent_message_add. What is not JSON text of that form is refused: err (may be NULL) says where and why.
 * OK, E_ARG (unknown format, or the JSON is no request of it), E_SYNTAX (no JSON), E_LIMIT (limits.depth, limits.item for a message,
 * limits.calls_per_step, 256 members, 65,536 tools), E_STATE (a run is going on, or there are messages), E_STALE, E_NOMEM.            */
AGENTDEF int agent_import(agent_engine *, agent_id s, const char *wire, const char *json, size_t n, struct agent_json_error *err);
/* The request body that the conversation makes in a wire format, the peer's or another one that requests are made of. *out lives like an
 * event. In the peer's format it is what the next run would send, but for what that adds to the table. In others the model's name is the
 * session's, unless an import of that format had one. What has no place there is a WARNING each.
 * OK, E_ARG (unknown format), E_STATE (a run is going on), E_STALE, E_NOMEM.                                         */
AGENTDEF int agent_export(agent_engine *, agent_id s, const char *wire, agent_str *out);
AGENTDEF size_t agent_messages(const agent_engine *, agent_id s);                          /* 0 also when stale        */
/* Views into the table live as an event's do. OK, E_STALE, E_ARG (no such message or part).                          */
AGENTDEF int agent_message(const agent_engine *, agent_id s, size_t i, agent_msg *out);
AGENTDEF int agent_message_part(const agent_engine *, agent_id s, agent_num msg, size_t i, agent_part *out);

/* ---- 5 events ------------------------------------------------------------------------------------------------ */
#define AGENT_EVENTS(X) /* N: a need, F: a fact; what each carries: the manual's chapter 4 */ \
  /* io     */ X(OPEN, N) X(SIGN, N) X(SEND, F) X(CLOSE, F) \
  /* peer   */ X(CREDENTIAL, N) X(MODELS, F) \
  /* run    */ X(RUN_START, F) X(RUN_END, F) X(STEP_START, F) X(STEP_END, F) \
  /* store  */ X(MSG_ADD, F) X(MSG_END, F) X(MSG_CUT, F) X(CHECKPOINT, F) \
  /* output */ X(TEXT_START, F) X(TEXT_DELTA, F) X(TEXT_END, F) X(REASONING_START, F) X(REASONING_DELTA, F) X(REASONING_END, F) \
               X(INPUT_START, F) X(INPUT_DELTA, F) X(INPUT_END, F) X(FILE_START, F) X(FILE_DELTA, F) X(FILE_END, F) \
               X(SOURCE, F) X(CUSTOM, F) \
  /* tools  */ X(TOOL_CALL, F) X(TOOL_RUN, N) X(TOOL_UPDATE, F) X(TOOL_CANCEL, F) X(TOOL_RESULT, F) X(NEED_DONE, F) \
  /* course */ X(RETRY_WAIT, F) X(RETRY_GO, F) X(QUEUED, F) \
  /* trouble*/ X(WARNING, F) X(ERROR, F)
enum agent_event_type { AGENT_EV_NONE,
#define AGENTI_X(n, k) AGENT_EV_##n,
  AGENT_EVENTS(AGENTI_X)
#undef AGENTI_X
  AGENT_EV_COUNT };
enum {
  AGENT_EVF_NEED = 1,            /* must be answered; agent_decline is the safe no                                    */
  AGENT_EVF_CUT = 2,             /* *_END, TOOL_RESULT: truncated                                                     */
  AGENT_EVF_SALVAGED = 4         /* INPUT_END, TOOL_CALL: text is no JSON object; the call is never run               */
};
enum agent_outcome { AGENT_COMPLETED, AGENT_CANCELLED, AGENT_FAILED, AGENT_LIMITED };
enum agent_why {                 /* why a run ends                                                                    */
  AGENT_WHY_NONE,                /* STEP_END: it goes on                                                              */
  AGENT_WHY_ANSWERED,            /* the model has answered and calls nothing                              COMPLETED   */
  AGENT_WHY_TOOL,                /* AGENT_TF_ENDS_RUN, or AGENT_DONE_END_RUN                               COMPLETED   */
  AGENT_WHY_FINISH,              /* stop_finish                                                           COMPLETED   */
  AGENT_WHY_STEPS,               /* max_steps                                                             LIMITED     */
  AGENT_WHY_TOKENS,              /* max_run_tokens                                                        LIMITED     */
  AGENT_WHY_TIME,                /* step_ms, run_ms                                                       LIMITED     */
  AGENT_WHY_CANCEL,              /* agent_cancel, agent_stop                                              CANCELLED   */
  AGENT_WHY_ERROR,               /* see ERROR                                                             FAILED      */
  AGENT_WHY_HINT                 /* the provider asks to wait longer than hint_cap_ms: until u.end.at_ms   FAILED      */
};
enum agent_waits {               /* for whom the session waits after RUN_END                                          */
  AGENT_WAITS_NOBODY,            /* what is in the queue comes next                                                   */
  AGENT_WAITS_USER,              /* for the next message                                                              */
  AGENT_WAITS_HOST,              /* to mend what failed, or to lift a limit, and go on: agent_submit with n 0, agent_regenerate */
  AGENT_WAITS_CLOCK              /* for u.end.at_ms                                                                   */
};
enum agent_finish { AGENT_FINISH_NONE, AGENT_FINISH_STOP, AGENT_FINISH_LENGTH, AGENT_FINISH_TOOLS, AGENT_FINISH_FILTER, AGENT_FINISH_ERROR,
  AGENT_FINISH_OTHER };
enum agent_by { AGENT_BY_HOST, AGENT_BY_PROVIDER };           /* who runs a call                                        */
enum agent_done { AGENT_DONE_OK, AGENT_DONE_ERROR, AGENT_DONE_CANCELLED, AGENT_DONE_NOT_RUN, AGENT_DONE_INTERRUPTED /* by a load */,
  AGENT_DONE_END_RUN = 64        /* for agent_tool_done, beside OK or ERROR: the run is to end after this step        */ };
enum agent_queue_op { AGENT_QUEUED_ADDED, AGENT_QUEUED_DELIVERED, AGENT_QUEUED_RETURNED, AGENT_QUEUED_MOVED };
enum agent_conn_kind { AGENT_CONN_HTTP };
enum agent_wanted { AGENT_KEY_MISSING, AGENT_KEY_EXPIRED, AGENT_KEY_REFUSED };   /* why a key is asked for                */
enum agent_fail { AGENT_FAIL_NONE, AGENT_FAIL_REFUSED, AGENT_FAIL_NAME, AGENT_FAIL_TLS, AGENT_FAIL_RESET, AGENT_FAIL_HOST };
enum agent_scope { AGENT_SCOPE_RUN /* RUN_END follows */, AGENT_SCOPE_ATTEMPT /* RETRY_WAIT follows */,
  AGENT_SCOPE_STEP /* RETRY_WAIT and another step follow */, AGENT_SCOPE_CONN /* decode-only */, AGENT_SCOPE_PEER /* agent_models */ };
enum agent_fault { AGENT_FAULT_NONE, AGENT_FAULT_AUTH, AGENT_FAULT_RATE, AGENT_FAULT_QUOTA, AGENT_FAULT_OVERLOADED, AGENT_FAULT_CONTEXT,
  AGENT_FAULT_REQUEST, AGENT_FAULT_SERVER, AGENT_FAULT_PROTOCOL, AGENT_FAULT_TRANSPORT, AGENT_FAULT_TIMEOUT, AGENT_FAULT_FILTER,
  AGENT_FAULT_LIMIT, AGENT_FAULT_NOMEM };

/* Tokens; -1: not told. input has cached and cache_write in it, output has reasoning in it.                          */
typedef struct agent_usage { int64_t input, cached, cache_write, output, reasoning; } agent_usage;

typedef struct agent_event {
  uint64_t seq;                  /* counts the session's events (a decode-only connection's own), from 1; 0 for other io */
  uint64_t at_ms;                /* the last agent_tick                                                               */
  uint16_t type, flags;          /* AGENT_EV_, AGENT_EVF_                                                             */
  agent_id session, peer, conn;  /* 0: does not apply                                                                 */
  agent_num run, step, msg, part, call, need;
  void *user;                    /* the session's, else the peer's or the decoder's                                   */
  agent_str text;                /* the payload                                                                       */
  agent_str name;                /* tool, model, the provider's own error code ...                                      */
  union {
    struct { agent_str host, method, url; uint16_t port; uint8_t kind, tls; uint64_t body_len;
             uint32_t timeout_ms; } open; /* timeout_ms: connect_ms */                                      /* OPEN SIGN */
    struct { int why; } credential; /* AGENT_KEY_ */                                                        /* CREDENTIAL */
    struct { void *user; int why; } io;                                                                     /* SEND CLOSE */
    struct { int outcome, finish; uint32_t steps; agent_str raw; const agent_usage *usage;
             agent_str model, request_id, headers /* the three: of STEP_END, empty when not told */;
             int why, waits; uint64_t at_ms; } end; /* waits, at_ms: of RUN_END */                          /* RUN_END STEP_END */
    struct { int role; } msg;                                                                               /* MSG_*    */
    struct { agent_str wire_id, title; void *user; int status; uint16_t by;
             uint32_t timeout_ms; } tool; /* user: from TOOL_RUN on; timeout_ms: of TOOL_RUN; of TOOL_CANCEL the grace   TOOL_* INPUT_* */
    struct { uint16_t kind; agent_str mime, uri; } file; /* FILE_*; kind: AGENT_PART_; mime of contents, else uri      */
    struct { int fault, http_status, scope, retryable; uint64_t offset; int64_t retry_after_ms; agent_str request_id; } error;   /* ERROR */
    struct { uint32_t attempt, max; uint64_t at_ms; int fault, http_status; } retry; /* attempt: from 1      RETRY_WAIT RETRY_GO */
    struct { uint32_t item; int op, lane; } queued;                                                         /* QUEUED   */
  } u;
} agent_event;

/* ---- 6 the pump ---------------------------------------------------------------------------------------------- */
/* The only function that parses and makes events. The event and all it points to live until the next agent_next or agent_close.
 * NULL: nothing now; agent_deadline() <= now means call again soon.                                                  */
AGENTDEF const agent_event *agent_next(agent_engine *);
/* Tells the time: mono_ms of any steady clock, wall_ms Unix time (0: unknown). OK, E_ARG (mono runs backwards; nothing changed). */
AGENTDEF int agent_tick(agent_engine *, uint64_t mono_ms, uint64_t wall_ms);
AGENTDEF uint64_t agent_deadline(const agent_engine *);      /* mono_ms when agent_next has to be called; UINT64_MAX: none */

/* Connections. OPEN is answered by agent_opened or agent_failed; every OPEN ends in one CLOSE, and the id with it.    */
enum { AGENT_VIA_BYTES = 0 /* a raw stream: TCP, TLS, pipe */, AGENT_VIA_HTTP = 1 /* the host speaks HTTP; one exchange */ };
enum { AGENT_WANT_READ = 1, AGENT_WANT_WRITE = 2 };
/* user comes back in CLOSE and SEND. OK, E_STALE, E_STATE (opened before, or withdrawn: its CLOSE comes), E_ARG.      */
AGENTDEF int agent_opened(agent_engine *, agent_id conn, int via, void *user);
/* The stream broke or never came to be; detail (may be NULL) is shown in the ERROR. Also after agent_opened. OK, E_STALE */
AGENTDEF int agent_failed(agent_engine *, agent_id conn, int why, const char *detail, size_t n);
/* The peer ended the stream cleanly (VIA_HTTP: the exchange is complete). OK, E_STALE, E_STATE (not opened).          */
AGENTDEF int agent_eof(agent_engine *, agent_id conn);
/* VIA_HTTP: status and header lines of the answer, before its body; a status line and blank lines among them are passed over.
 * OK, E_STALE, E_STATE (VIA_BYTES, twice, or after body bytes), E_ARG (status), E_NOMEM, E_LIMIT (limits.head).      */
AGENTDEF int agent_http_head(agent_engine *, agent_id conn, int status, const char *header_lines, size_t n);
/* Copies bytes in. taken NULL: all or E_FULL; else as much as fits, E_FULL when that is nothing. OK, E_STALE, E_STATE, E_FULL, E_NOMEM */
AGENTDEF int agent_feed(agent_engine *, agent_id conn, const void *, size_t n, size_t *taken);
/* Room to read into, pinned until agent_recv_ack, whatever happens meanwhile; *cap says how much. CLOSE does not wait for a read that
 * is going on: end it, then give the room back, which is what the dead id is still good for. Before agent_close reads must have
 * ended. NULL: full, not open, or out of memory (agent_last).                                                         */
AGENTDEF void *agent_recv_buf(agent_engine *, agent_id conn, size_t *cap);
/* n bytes were put there; 0 gives the room back. OK, E_STALE, E_STATE (nothing reserved), E_ARG (n over cap).        */
AGENTDEF int agent_recv_ack(agent_engine *, agent_id conn, size_t n);
/* The next bytes to send; NULL: none. Const: the same until agent_send_ack. A piece is at least 4 KiB when it is first handed out,
 * unless fewer are left of the request; what is left of it after a part was acknowledged may be shorter.              */
AGENTDEF const void *agent_send_buf(const agent_engine *, agent_id conn, size_t *n);
/* n bytes of it went out. OK, E_STALE, E_ARG (n over what send_buf gave).                                            */
AGENTDEF int agent_send_ack(agent_engine *, agent_id conn, size_t n);
/* Starts the request's bytes over, before the first byte of its answer. OK, E_STALE, E_STATE.                        */
AGENTDEF int agent_send_rewind(agent_engine *, agent_id conn);
AGENTDEF int agent_wants(const agent_engine *, agent_id conn);                             /* AGENT_WANT_ bits; 0 stale */
/* Request headers for a host that speaks HTTP, i from 0; the only place that shows a key. NUL-terminated. OK, E_STALE, E_ARG (past the last) */
AGENTDEF int agent_open_header(const agent_engine *, agent_id conn, size_t i, agent_str *name, agent_str *value);

/* Answers. LATE: the need is gone, nothing changed.                                                                  */
#ifndef AGENT_NO_SIGN
/* Answers SIGN: "Name: value\n" lines that are added to the request's headers (Authorization, X-Amz-Date ...). What is signed: u.open.method
 * and url, the headers from agent_open_header, and the body, which until then agent_send_buf and agent_send_ack hand out as if it was
 * sent. OPEN, or SEND on an open connection, comes next. OK, LATE, E_STALE, E_ARG (no header lines), E_NOMEM.          */
AGENTDEF int agent_sign(agent_engine *, agent_id conn, const char *header_lines, size_t n);
#endif
AGENTDEF int agent_decline(agent_engine *, const agent_event *need);   /* no to any need, known or not; also for a copy of the event */
/* A line for people about what the tool does; comes back as TOOL_UPDATE. OK, LATE, E_STALE, E_NOMEM, E_STATE (not running yet) */
AGENTDEF int agent_tool_update(agent_engine *, agent_id s, agent_num call, const char *title, size_t n);
/* Adds output, any bytes: invalid UTF-8 is replaced, over limits.item it is cut. OK, LATE, E_STALE, E_NOMEM, E_STATE  */
AGENTDEF int agent_tool_append(agent_engine *, agent_id s, agent_num call, const char *out, size_t n);
AGENTDEF int agent_tool_done(agent_engine *, agent_id s, agent_num call, int status);      /* AGENT_DONE_OK or _ERROR, maybe | _END_RUN.
                                                      ERROR behind a TOOL_CANCEL of a cancel counts as CANCELLED */
AGENTDEF int agent_tool_result(agent_engine *, agent_id s, agent_num call, const char *out, size_t n);   /* append, then done(OK) */
/* The i-th open need of a session or peer again. OK, E_STALE (also past the last).                                   */
AGENTDEF int agent_pending(const agent_engine *, agent_id s_or_peer, size_t i, agent_event *out);

#ifndef AGENT_NO_DECODE
/* Decode-only: one answer in one wire format, no session, no policy. Feed it as a connection that is already open (VIA_BYTES: HTTP/1.1
 * bytes, one answer after the other; VIA_HTTP: a body, after agent_http_head or with status 200). It makes the output events,
 * STEP_END or ERROR with session 0 and conn set, and CLOSE after agent_eof. 0: see agent_last.                        */
AGENTDEF agent_id agent_decode(agent_engine *, const char *wire, int via, void *user);
#endif

/* ---- 7 print ------------------------------------------------------------------------------------------------- */
#ifndef AGENT_NO_SAVE
/* What is new of a session since the mark, as lines of JSON (the end of chapter 7) to be appended to what was written before: buf gets n
 * bytes. A zeroed mark: from the start. MORE: call again, and nothing else for this session before (else E_STATE: begin anew with a zeroed
 * mark). OK: all is there; n 0: nothing was new. Needs no memory. Allowed at any time; no key is in it. E_ARG (cap below 64), E_STALE. */
typedef struct agent_mark { uint64_t seq, options, state, off; agent_num msg; uint32_t line, piece; } agent_mark;
AGENTDEF int agent_save(agent_engine *, agent_id s, agent_mark *, void *buf, size_t cap, size_t *n);
/* Takes a saved session into one that was just opened, in pieces cut anywhere; n 0 ends it. Messages, queue, options, counters and the run that
 * was going on are those of the save; peer and tools are the session's own, by name. What was in flight counts as interrupted: a tool that ran
 * gets a result that says so, or runs again if it is AGENT_TF_REPLAY_SAFE; an answer that came is asked for again if nothing of it was shown,
 * else it broke off (AGENT_S_GO_ON). What was written behind the last complete save is left out, with a WARNING. E_FORMAT: agent_last says what
 * and at which byte; E_STATE: the session is not new; E_NOMEM, E_STALE. After an error the session is empty, and a load may begin anew.       */
AGENTDEF int agent_load(agent_engine *, agent_id s, const void *, size_t n);
#endif
#ifndef AGENT_NO_PRINT
/* One line of JSON, no newline, NUL-terminated if cap > 0; returns the length needed. No key is ever in an event.     */
AGENTDEF size_t agent_event_json(const agent_event *, char *buf, size_t cap);
/* Deep copy into buf (for another thread); returns the size needed, 0 when ev is NULL. buf aligned as for agent_event. */
AGENTDEF size_t agent_event_copy(const agent_event *ev, void *buf, size_t cap);
AGENTDEF const char *agent_event_name(int type);             /* "TEXT_DELTA"; "?" when unknown                          */
#endif

/* ---- 8 codecs alone: no engine, no allocation, no global state ------------------------------------------------ */
/* JSON over a view. RFC 8259; text handed to get/each/text should have passed agent_json_check, else results are unspecified
 * (never out of bounds). Of duplicate keys the last wins. depth: 1 to 64, anything else is 64.                       */
typedef struct agent_json_error { size_t offset; const char *why; } agent_json_error;
#ifndef AGENT_NO_CODECS
AGENTDEF int       agent_json_check(const char *p, size_t n, uint32_t depth, agent_json_error *err); /* OK, E_SYNTAX, E_LIMIT */
AGENTDEF agent_str agent_json_get (agent_str json, const char *path);      /* "a.b[2]"; "" the whole; {NULL,0} absent  */
/* 1, 0 at the end; *pos starts at 0. key: as written, without quotes; {NULL,0} in arrays */
AGENTDEF int       agent_json_each(agent_str json, size_t *pos, agent_str *key, agent_str *value);
/* A string unescaped, anything else as written, always valid UTF-8. Length needed; a NUL is added if it fits; when the text does not
 * fit, buf holds a whole prefix of it and a NUL.                                                                      */
AGENTDEF size_t    agent_json_text(agent_str value, char *buf, size_t cap);
AGENTDEF int       agent_json_is  (agent_str value, const char *literal);  /* is it this string?                       */
AGENTDEF int64_t   agent_json_int (agent_str value, int64_t otherwise);    /* exact; otherwise: no integer, or out of range */
AGENTDEF double    agent_json_num (agent_str value, double otherwise);     /* nearest double; overflow: otherwise      */
AGENTDEF int       agent_json_bool(agent_str value, int otherwise);
AGENTDEF size_t    agent_json_quote(const char *p, size_t n, char *buf, size_t cap); /* with quotes; invalid UTF-8 becomes U+FFFD, one per maximal bad subpart */
/* Completes a prefix of a JSON text so that it parses: for showing, never for running. Length needed; *parses may be NULL. */
AGENTDEF size_t    agent_json_repair(const char *p, size_t n, char *buf, size_t cap, int *parses);
#endif

typedef struct agent_json_level { uint64_t h[2], key[2]; int object; } agent_json_level;     /* room that JSON values are compared in */
#ifndef AGENT_NO_SCHEMA
/* JSON Schema: does a value fit? The keywords that tools use, of draft 4 to 2020-12: type enum const, multipleOf minimum maximum
 * exclusiveMinimum exclusiveMaximum, minLength maxLength pattern, items prefixItems additionalItems minItems maxItems, properties
 * patternProperties additionalProperties propertyNames required minProperties maxProperties, allOf anyOf oneOf not if then else, $ref inside
 * the document (# and #/pointer), boolean schemas. Others are passed over, as are formats, references elsewhere, and patterns with
 * look-around, back references or \p or of over 512 steps. Numbers compare exactly, also 1e400; of enum and const two arrays or objects by
 * 128-bit hashes. Schema and value are texts that agent_json_check has passed; they are viewed, never copied. */
enum { AGENT_SCHEMA_DEPTH = 64, AGENT_PATTERN_STEPS = 512, AGENT_PATTERN_RANGES = 96, AGENT_PATTERN_GROUPS = 24 };
typedef struct agent_schema_frame {          /* this and the next three: room that agent_schema_next works in            */
  agent_str schema, value, list;
  size_t at, at_list, at_value, reach;
  uint32_t count, fits, best;
  uint16_t path; uint8_t doing, silent, ok, members, items, member;
} agent_schema_frame;
typedef struct agent_pattern_step { uint8_t op, no; int16_t to; uint32_t a; } agent_pattern_step;
typedef struct agent_pattern_group { uint16_t start, branch, jump; } agent_pattern_group;
typedef struct agent_pattern {
  const char *p; size_t n, at;
  uint32_t steps, ranges, groups; int ok;
  agent_pattern_step step[AGENT_PATTERN_STEPS];
  agent_pattern_group group[AGENT_PATTERN_GROUPS];
  uint32_t range[AGENT_PATTERN_RANGES][2], now[AGENT_PATTERN_STEPS / 32], next[AGENT_PATTERN_STEPS / 32];
  uint16_t list[AGENT_PATTERN_STEPS];
} agent_pattern;
typedef struct agent_schema {                /* about 17 KB: a host with a small stack keeps it elsewhere               */
  agent_str schema, value;
  size_t reach; uint32_t depth, work; int rc;
  uint16_t path_n; char path[256];
  agent_schema_frame frame[AGENT_SCHEMA_DEPTH];
  agent_json_level level[65];
  agent_pattern pattern;
} agent_schema;
typedef struct agent_schema_error {          /* views into schema, value and the agent_schema, until the next call      */
  agent_str path;                            /* where in the value: a.b[2]; "": all of it; cut after 255 bytes          */
  size_t offset;                             /* the byte of the value at which what is wrong starts                     */
  agent_str keyword;                         /* which one refuses it; "false": the schema false                         */
  agent_str want, got;                       /* JSON: the keyword's value (required: the name that is missing) and the value that it refuses */
} agent_schema_error;
AGENTDEF void agent_schema_init(agent_schema *, agent_str schema, agent_str value);
/* MORE: *out is the next thing that does not fit, call again. OK: that was all, and if none came the value fits. E_LIMIT: schemas within
 * schemas over AGENT_SCHEMA_DEPTH deep (a $ref to itself), or applied over 16 times for each byte of both texts: the rest is not known. The
 * time is linear in the value. Of anyOf and oneOf the branch that came furthest tells what is wrong with it, if one was meant. */
AGENTDEF int agent_schema_next(agent_schema *, agent_schema_error *out);
/* An error in words that a model can go by, as in "edits[0].line: has to be at least 1, and is 0". NUL-terminated if cap > 0; length needed. */
AGENTDEF size_t agent_schema_text(const agent_schema_error *, char *buf, size_t cap);
#endif

/* Server-sent events, WHATWG HTML 9.2.5-9.2.6. buf is the caller's: it keeps the last id and what straddles calls; where an event
 * with one data line lies whole in `in`, data is a view into `in`. Bytes pass as they are: repairing UTF-8 is the caller's. */
enum {
  AGENT_SSE_ERROR_FIELD = 1,     /* a field `error` is dispatched as event "error" (llama.cpp)                         */
  AGENT_SSE_BOUNDED = 2          /* ids, and other fields than data over 8 KiB, are passed over: with agent_sse_take buf stays small */
};
typedef struct agent_sse {
  char *buf; size_t cap;                     /* the caller may replace both by a larger buffer holding the same `len` bytes */
  size_t len;                                /* used bytes of buf                                                      */
  size_t id_len, id_cap, type_len, type_cap, data_len, line_len;     /* what buf holds: last id, event type, data, line so far */
  uint64_t offset;                           /* bytes consumed since init                                              */
  uint32_t flags, state; uint8_t bom, cr, skip, ignore, open, slow, lone_cr;
} agent_sse;
typedef struct agent_sse_event { agent_str event, data, id; uint64_t offset; } agent_sse_event;      /* offset: of the event's end */
#ifndef AGENT_NO_CODECS
AGENTDEF void agent_sse_init(agent_sse *, void *buf, size_t cap, uint32_t flags);
/* OK: *out is an event, its views live in `in` or buf until the next call; *used bytes are done, go on with the rest. event is
 * "message" where none is named. MORE: all of in is used. E_FULL: buf is too small, *used bytes are done, maybe none; enlarge buf and
 * go on with the rest, or agent_sse_skip; nothing is lost or repeated.                                                */
AGENTDEF int  agent_sse_next(agent_sse *, const char *in, size_t n, size_t *used, agent_sse_event *out);
/* An event of any length, in parts: how many bytes of the data of the event that is being read lie in buf, and takes them out into
 * `to`, which has that much room. What agent_sse_next gives at last is the rest. Returns the bytes taken.             */
AGENTDEF size_t agent_sse_pending(const agent_sse *);
AGENTDEF size_t agent_sse_take(agent_sse *, char *to);
AGENTDEF void agent_sse_skip(agent_sse *);                                  /* drops the event that is being read, to its end; keeps the id */
AGENTDEF int  agent_sse_end(agent_sse *, agent_sse_event *out);             /* not WHATWG: an unfinished last event. OK, MORE (none), E_FULL */
#endif

/* Lines that end in LF or CRLF (NDJSON), given without their end and without a BOM at the start of the stream. Empty lines are passed
 * over. Same calling rules.                                                                                           */
typedef struct agent_lines { char *buf; size_t cap, len; uint64_t offset; uint8_t fresh, skip; } agent_lines;
#ifndef AGENT_NO_CODECS
AGENTDEF void agent_lines_init(agent_lines *, void *buf, size_t cap);
AGENTDEF int  agent_lines_next(agent_lines *, const char *in, size_t n, size_t *used, agent_str *line);
AGENTDEF void agent_lines_skip(agent_lines *);
AGENTDEF int  agent_lines_end(agent_lines *, agent_str *line);              /* an unfinished last line. OK, MORE (none)   */
#endif

/* HTTP/1.1 answers, RFC 9110 and 9112. buf keeps head and trailers: its size is their limit, or the caller enlarges it on E_FULL. */
enum agent_http_kind { AGENT_HTTP_NONE, AGENT_HTTP_INTERIM /* 1xx */, AGENT_HTTP_HEAD, AGENT_HTTP_BODY, AGENT_HTTP_END };
enum agent_http_framing { AGENT_HTTP_NO_BODY, AGENT_HTTP_LENGTH, AGENT_HTTP_CHUNKED, AGENT_HTTP_UNTIL_CLOSE };
typedef struct agent_http {
  char *buf; size_t cap, len;
  uint64_t offset;                           /* bytes consumed since init                                              */
  uint64_t left;                             /* of the body or chunk                                                   */
  const char *error;                         /* after E_SYNTAX: why; static                                            */
  size_t line, raw, reason_len;              /* start of the current line in buf; bytes of this head so far            */
  int status;
  uint32_t seen, interim, extra;             /* framing headers; 1xx answers so far; bytes around the chunks           */
  uint8_t state, framing, keep_alive, minor, head_request;
} agent_http;
typedef struct agent_http_event {
  int kind, status, framing, keep_alive;
  agent_str reason;                          /* HEAD, INTERIM                                                          */
  agent_str headers;                         /* HEAD, INTERIM: "name: value\n" lines, names in lower case, values trimmed; END: the trailers */
  agent_str body;                            /* BODY: a view into `in`                                                 */
} agent_http_event;
#ifndef AGENT_NO_CODECS
AGENTDEF int  agent_http_header(agent_str headers, const char *name, agent_str *value);      /* the first of that name: 1, or 0 */
#ifndef AGENT_NO_HTTP1
AGENTDEF void agent_http_init(agent_http *, void *buf, size_t cap);
AGENTDEF void agent_http_expect(agent_http *, int head_request);            /* for the next answer: was it a HEAD request? */
/* OK: *out is valid, its views live until the next call; call on, also with no bytes left, until MORE: all of in is used. E_FULL: head
 * or trailers do not fit in buf (every byte of them counts); it may be enlarged like that of agent_sse. E_SYNTAX: see error and offset
 * (of the byte since init), sticky. After END the next answer may follow, unless keep_alive is 0: then more bytes are an error.
 * Refused: folded headers, bare CR or LF, codings other than chunked, Transfer-Encoding with Content-Length, status 101, HTTP versions
 * but 1.0 and 1.1. A coded body (Content-Encoding) passes as it is.                                                   */
AGENTDEF int  agent_http_next(agent_http *, const char *in, size_t n, size_t *used, agent_http_event *out);
/* The peer closed. OK with END (a body until close), MORE (nothing was open), E_SYNTAX (cut).                         */
AGENTDEF int  agent_http_eof(agent_http *, agent_http_event *out);
/* One "name: value\r\n" line. Length needed, written if it fits, with a NUL if that fits too; 0: the name is no token, or a control
 * character (CR, LF) is in the value.                                                                                 */
AGENTDEF size_t agent_http_write_header(const char *name, const char *value, char *buf, size_t cap);
#endif
#endif

#ifdef AGENT_MBEDTLS
/* ---- 9 TLS: an optional part, on mbedTLS ----------------------------------------------------------------------- */
/* A filter between a socket and a connection of the engine: ciphertext on one side, plaintext on the other, no I/O of its own. TLS 1.2 or
 * later, the host's name sent (SNI) and always checked, ALPN http/1.1. mbedTLS takes its own memory by mbedtls_calloc. A config and its
 * connections are used by one thread at a time.                                                                       */
typedef struct agent_tls_config agent_tls_config;            /* authorities and keys, for many connections              */
typedef struct agent_tls agent_tls;                          /* one connection                                          */
typedef struct agent_tls_desc {
  const void *ca; size_t ca_n;               /* certificates of the authorities that are trusted, PEM or DER; required  */
  const void *cert; size_t cert_n;           /* the client's own certificate and its chain, PEM or DER; NULL: none      */
  const void *key; size_t key_n;             /* its private key, not encrypted                                          */
  int (*random)(void *ctx, unsigned char *out, size_t n);    /* cryptographic chance, 0 when it worked; NULL: mbedTLS's own */
  void *random_ctx;
  agent_alloc_fn alloc; void *alloc_ctx;     /* as in agent_desc                                                        */
} agent_tls_desc;
/* Copies what it needs. OK, E_ARG (*why says what is wrong, static text; why may be NULL), E_NOMEM.                   */
AGENTDEF int agent_tls_config_open(agent_tls_config **out, const agent_tls_desc *, const char **why);
AGENTDEF void agent_tls_config_close(agent_tls_config *);    /* NULL is fine; goes when its last connection is closed    */
/* host: the name or address as in u.open.host, which the certificate has to be for; of an address its iPAddress. OK, E_ARG (no host is an
 * error), E_NOMEM.                                                                                                     */
AGENTDEF int agent_tls_open(agent_tls **out, agent_tls_config *, const char *host);
AGENTDEF void agent_tls_close(agent_tls *);                  /* NULL is fine. Says nothing to the peer: see agent_tls_shutdown */
enum agent_tls_state { AGENT_TLS_HANDSHAKE, AGENT_TLS_OPEN, AGENT_TLS_CLOSED /* the peer said so: close_notify */, AGENT_TLS_FAILED };
AGENTDEF int agent_tls_state(const agent_tls *);
AGENTDEF const char *agent_tls_why(const agent_tls *);       /* FAILED: why, else ""; lives as long as the connection    */
/* The socket's side. Bytes that came: OK, E_FULL (call agent_tls_pump; with taken it takes what fits), E_STATE (after agent_tls_eof). */
AGENTDEF int agent_tls_feed(agent_tls *, const void *, size_t n, size_t *taken);
AGENTDEF void agent_tls_eof(agent_tls *);                    /* the socket ended: without close_notify before it, a cut  */
AGENTDEF const void *agent_tls_send_buf(const agent_tls *, size_t *n);         /* bytes for the socket; NULL: none; until the next call */
AGENTDEF int agent_tls_send_ack(agent_tls *, size_t n);      /* OK, E_ARG (n over what send_buf gave)                    */
AGENTDEF int agent_tls_wants(const agent_tls *);             /* AGENT_WANT_ bits for the socket                          */
AGENTDEF void agent_tls_shutdown(agent_tls *);               /* close_notify, for agent_tls_send_buf: before the socket is closed */
/* Moves plaintext both ways between it and a connection that agent_opened has opened with VIA_BYTES, and tells the engine how the stream ends
 * (agent_eof, agent_failed with AGENT_FAIL_TLS). Call it after bytes came, and when the engine may have something to send. OK; MORE: send what
 * agent_tls_send_buf has and call again; E_FULL: drain agent_next and call again; else what those calls return.       */
AGENTDEF int agent_tls_pump(agent_tls *, agent_engine *, agent_id conn);
/* The plaintext without an engine. read: OK with *n bytes, *n 0 when the peer has closed; MORE: feed it. write: OK with *taken bytes, MORE
 * (feed it: the handshake is not over), E_FULL (send first). Both E_STATE when it FAILED or, of write, is CLOSED.      */
AGENTDEF int agent_tls_read(agent_tls *, void *buf, size_t cap, size_t *n);
AGENTDEF int agent_tls_write(agent_tls *, const void *, size_t n, size_t *taken);
#endif
