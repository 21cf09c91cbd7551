/* agent.h 0.1.0 - generated from agent_impl/: edit there, then run `make agent.h` */

/* An agent engine in one C header: feed it bytes, pull events, answer tool calls. It opens no socket, reads no clock, starts no
 * thread and needs nothing but libc's memory and string functions; the host owns the rest.
 *
 *   0 Do this | 1 What it is, and is not | 2 Sixty seconds | 3 The pump | 4 Events | 5 Bytes in and out | 6 Tools | 7 Time, cancel, queue
 *   8 Providers and options | 9 Decode-only, codecs alone | 10 Memory | 11 Errors | 12 Limits | 13 Threads | 14 Compile-time options
 *   15 Versions; then the map of the implementation. Every function, field and code is explained where it is declared.
 *
 * ==== 0 DO THIS =================================================================================================================
 * In exactly one file of the program:
 *
 *   #define AGENT_IMPLEMENTATION
 *   #include "agent.h"
 *
 * Everywhere else only the second line. C99 or C++11 and later. Then: agent_open an engine, agent_peer_open the endpoint, agent_session_open
 * a conversation, agent_say something, and pull events with agent_next until it returns NULL; carry bytes as they ask; come back when the
 * host has news or agent_deadline is reached.
 *
 * ==== 1 WHAT IT IS, AND IS NOT ==================================================================================================
 * It is the part of an agent between a byte stream and a user interface: HTTP/1.1, server-sent events, JSON, a provider's wire format, the
 * message table, the loop that asks the model, hands out its tool calls and goes on with their results. It is no HTTP client (no sockets,
 * TLS, proxies, DNS), no prompt, no tool and no interface. This version speaks OpenAI chat completions, OpenAI Responses, Anthropic messages,
 * Gemini generateContent and Interactions, Ollama chat and generate, Cohere v2, Bedrock Converse and InvokeModel (Claude), and OpenAI's older
 * completions; it understands answers of Cohere v1.
 *
 *   engine      one pump: allocator, peers, sessions, connections. One thread at a time; as many engines as you like
 *   peer        who is at the other end: an endpoint with its key
 *   session     one conversation with a peer
 *   connection  one byte stream that the host opened for the engine, or one HTTP exchange that the host does
 *   run         from a submit until the session is idle again; exactly one RUN_END
 *   step        one model call and its tools; a run is one or more steps
 *   need        an event that the host must answer; it ends in exactly one NEED_DONE
 *
 * ==== 2 SIXTY SECONDS ===========================================================================================================
 * Offline: the program plays the network with canned bytes.
 *
 *   ---8<--- hello.c
 *   #define AGENT_IMPLEMENTATION
 *   #include "agent.h"
 *   #include <stdio.h>
 *   int main(void)
 *   {
 *       static const char answer[] =
 *           "data: {\"choices\":[{\"delta\":{\"content\":\"Hello there.\"},\"finish_reason\":\"stop\"}]}\n\n";
 *       agent_desc d = AGENT_ZERO; agent_peer_desc p = AGENT_ZERO; agent_session_desc s = AGENT_ZERO;
 *       agent_engine *e; const agent_event *ev;
 *       if (agent_open(&e, &d) != AGENT_OK) return 1;
 *       p.provider = "openai";
 *       s.peer = agent_peer_open(e, &p); s.model = "any";
 *       agent_say(e, agent_session_open(e, &s), "Hi!", AGENT_CSTR);
 *       while ((ev = agent_next(e)) != NULL) {
 *           if (ev->type == AGENT_EV_OPEN) {
 *               agent_opened(e, ev->conn, AGENT_VIA_HTTP, NULL);
 *               agent_feed(e, ev->conn, answer, sizeof answer - 1, NULL);
 *               agent_eof(e, ev->conn);
 *           } else if (ev->type == AGENT_EV_TEXT_DELTA) fwrite(ev->text.p, 1, ev->text.n, stdout);
 *           else if (ev->type == AGENT_EV_RUN_END) puts("");
 *           else if (ev->flags & AGENT_EVF_NEED) agent_decline(e, ev);
 *       }
 *       agent_close(e);
 *       return 0;
 *   }
 *   --->8---
 *
 * Real hosts: examples/chat.c (poll, a terminal), examples/curl.c (libcurl), examples/tools_threads.c, tests/clients/poll.c.
 *
 * ==== 3 THE PUMP ================================================================================================================
 *
 *    socket --> agent_recv_buf/_ack, agent_feed --+                     +--> agent_next --> events
 *    socket <-- agent_send_buf/_ack <-------------+       engine        +<-- agent_say, agent_tool_result, agent_cancel ...
 *    clock  --> agent_tick                        +---------------------+--> agent_deadline --> how long to sleep
 *
 * Only agent_next parses, watches the clock and makes events; every other call stores and returns, so nothing re-enters and nothing is
 * called back. An event, and every byte it or an accessor points to, lives until the next agent_next or agent_close: no other call moves or
 * frees it. Order: what sessions have to say, then bytes, one event a connection in turn. After limits.scan_per_next bytes without an event
 * agent_next returns NULL with agent_deadline() <= now: a frame is never blocked. The same bytes make the same events however they are cut.
 *
 * ==== 4 EVENTS ==================================================================================================================
 * `text` is the payload; run, step, msg, part, call and need are numbers that count up inside the session.
 *
 *   OPEN        need. Open a stream to u.open.host:port (tls: with TLS), or do the HTTP request: method, url, agent_open_header, body_len
 *               bytes from agent_send_buf. Answer agent_opened or agent_failed
 *   SIGN        need, of peers with auth "sign", before OPEN or SEND: the request as it will be sent (u.open, agent_open_header, its body from
 *               agent_send_buf), to be signed by agent_sign
 *   SEND        a connection that was kept alive has a new request: bytes wait in agent_send_buf
 *   CLOSE       drop the stream; the only place to free it. u.io.user is what agent_opened was given. Exactly one for every OPEN. A read that
 *               is going on into agent_recv_buf is ended first, then agent_recv_ack gives the room back
 *   CREDENTIAL  need, of a peer and all its sessions: its key is missing, too old, or refused (u.credential.why; text: the provider's words).
 *               name: the variable where one is usually found. Answer agent_peer_key; declined, it goes on with what there is
 *   MODELS      of a peer, after agent_models. text: a JSON array of {"id", "name", "context", "output"}: what agent_session_desc.model takes,
 *               a name for people, the most tokens of a prompt and of an answer; id always, the others where the provider tells them
 *   RUN_START   a submitted message begins its run
 *   MSG_ADD, MSG_END     a message enters the table (u.msg.role); it is complete
 *   STEP_START  a model call begins; name: the model
 *   TEXT_START, TEXT_DELTA, TEXT_END                  text of the model; END has the whole of it. Deltas joined equal it
 *   REASONING_START, REASONING_DELTA, REASONING_END   thoughts, the same way
 *   INPUT_START, INPUT_DELTA, INPUT_END               arguments of a tool call while they stream; name: the tool. Empty ones: no delta, END has {}
 *   FILE_START, FILE_DELTA, FILE_END                  a file that the model made: u.file.kind (AGENT_PART_), mime and base64 in the deltas, or uri
 *   SOURCE      the model cites or its provider has found text (a URL), titled name
 *   CUSTOM      what only the provider understands (text: its JSON, name: its type). With a part: a block of the message, as redacted thinking
 *               or compaction; it goes back as it came, to the same model. Without: news beside the message (stop_details, container,
 *               context_management)
 *   TOOL_CALL   the call is complete: name, text (arguments, JSON), u.tool.wire_id. SALVAGED: text is no object, the call is not run.
 *               u.tool.by AGENT_BY_PROVIDER: the provider runs it, no INPUT events come before and no TOOL_RUN after it
 *   TOOL_RUN    need. Run it; answer agent_tool_append, agent_tool_done or agent_tool_result, now or any time later
 *   TOOL_UPDATE what agent_tool_update said, as u.tool.title
 *   TOOL_CANCEL stop it; what it printed so far is kept, the call is over for the engine
 *   TOOL_RESULT how a call ended: u.tool.status (AGENT_DONE_), text: what the model is told (when empty, "(no output)"). Every TOOL_CALL
 *               gets exactly one. BY_PROVIDER: text is the result as the provider's JSON; NOT_RUN and empty when none came with this answer
 *   NEED_DONE   a need is over: answered or withdrawn
 *   STEP_END    u.end: finish, raw (the provider's word), usage of this call, outcome, model (as the answer names it), request_id, and
 *               headers: the rate-limit lines of the answer's head as they came, for agent_http_header: "x-ratelimit-remaining-tokens: 99\n"
 *   ERROR       u.error and text; RUN_END follows. decode-only: instead of STEP_END
 *   WARNING     text: something odd that did no harm; name: more about it
 *   RUN_END     u.end: outcome, finish of the last step, steps, usage of all
 *   QUEUED      u.queued: an item waits behind a run (ADDED), its run begins (DELIVERED), a cancel gives it back (RETURNED). text: its parts
 *               that are text joined; the first one alone when there is no memory to join them
 *
 * A run:  RUN_START MSG_ADD MSG_END ( STEP_START OPEN|SEND MSG_ADD ( TEXT_* | REASONING_* | FILE_* | INPUT_* )* TOOL_CALL* MSG_END
 *         ( TOOL_RUN | TOOL_RESULT )* MSG_ADD MSG_END STEP_END )* ERROR? RUN_END. Parts may be open side by side. Whatever happens, every START
 *         has its END, every TOOL_CALL its TOOL_RESULT, every run its one RUN_END; closing them needs no memory. What becomes of a connection
 *         does not hold up the run: NEED_DONE of an OPEN, and CLOSE, may come after RUN_END, with that run's number.
 * How a step ends: the calls that are there decide, not the label. No finish reason and no [DONE] is a TRANSPORT error; no text and no call
 *         is an error unless tool results came before; an unknown reason with content is complete, with a WARNING. finish LENGTH or FILTER:
 *         no call of the answer is run, TOOL_CALL is not raised, the model is told when it is asked again. A turn that the provider pauses
 *         (Anthropic pause_turn) goes on: the next step sends the same history again.
 *
 * ==== 5 BYTES IN AND OUT ========================================================================================================
 * VIA_BYTES: the host carries raw bytes (TCP, TLS, a pipe), the engine speaks HTTP/1.1 and keeps connections alive; one that died while idle
 * is opened anew without a word. VIA_HTTP: the host's library speaks HTTP (libcurl, fetch): it takes URL, headers and body and hands in
 * agent_http_head, body bytes, and agent_eof at the end; it must not decode to anything but the plain body, nor follow redirects with the key.
 * In: agent_recv_buf reserves room in the engine's buffer, pinned until agent_recv_ack, so that recv or io_uring writes into it; or agent_feed
 * copies. AGENT_E_FULL is back-pressure: drain agent_next and offer the same bytes again. Out: agent_send_buf, agent_send_ack; agent_send_rewind
 * starts over as long as no byte of the answer came. agent_eof and agent_failed end a stream after the bytes that are there are read.
 * Answers are sniffed: a JSON text on a stream request, an HTML page, compressed bytes are told apart. A redirect is an ERROR (code "redirect")
 * that says where to. When an answer is over but its message is not read to the end, the connection drains for at most one second.
 *
 * ==== 6 TOOLS ===================================================================================================================
 * Declared in agent_session_desc.tools. The engine checks that the tool exists and that its arguments are a JSON object; what fails that gets an
 * error result for that call alone. TOOL_RUNs are raised together (parallel_tools limits them; AGENT_TF_SERIAL tools run alone), results come
 * in any order and are stored and sent in call order. A late answer is AGENT_LATE and changes nothing. After the last result the next step
 * begins by itself. The last step of max_steps runs with tools switched off (tool_choice none) and asks for a summary; the run is LIMITED.
 * Tools that the provider defines or runs itself are declared as its own JSON (AGENT_TF_RAW).
 *
 * ==== 7 TIME, CANCEL, QUEUE =====================================================================================================
 * Time comes in by agent_tick alone; call it before agent_next. agent_deadline says when to come back. agent_cancel works in every state, also
 * twice: partial text stays in the table, running tools get TOOL_CANCEL, RUN_END says CANCELLED. A message submitted during a run waits.
 *
 * ==== 8 PROVIDERS AND OPTIONS ===================================================================================================
 * What each drops, by letter, of the options of agent_session_set and AGENT_TF_STRICT: not sent, with a WARNING of that name.
 *   name                   wire format         base URL                                               key in                    drops
 *   openai                 openai-chat         https://api.openai.com/v1                              OPENAI_API_KEY            A
 *   openai-responses       openai-responses    https://api.openai.com/v1                              OPENAI_API_KEY            B
 *   openai-completions     openai-completions  https://api.openai.com/v1                              OPENAI_API_KEY            C
 *   azure                  openai-chat         agent_peer_desc.url                                    AZURE_OPENAI_API_KEY      A
 *   azure-responses        openai-responses    agent_peer_desc.url                                    AZURE_OPENAI_API_KEY      B
 *   copilot                openai-chat         https://api.githubcopilot.com                          GITHUB_COPILOT_TOKEN      A
 *   copilot-responses      openai-responses    https://api.githubcopilot.com                          GITHUB_COPILOT_TOKEN      B
 *   github-models          openai-chat         https://models.github.ai/inference                     GITHUB_TOKEN              A
 *   anthropic              anthropic           https://api.anthropic.com/v1                           ANTHROPIC_API_KEY         D
 *   vertex-anthropic       vertex-anthropic    agent_peer_desc.url                                    the host knows            E
 *   vertex                 gemini              agent_peer_desc.url                                    the host knows            F
 *   gemini                 gemini              https://generativelanguage.googleapis.com/v1beta       GEMINI_API_KEY            F
 *   gemini-interactions    gemini-interactions https://generativelanguage.googleapis.com/v1beta       GEMINI_API_KEY            G
 *   amazon-bedrock         bedrock-converse    agent_peer_desc.url                                    AWS_BEARER_TOKEN_BEDROCK  H
 *   amazon-bedrock-invoke  bedrock-invoke      agent_peer_desc.url                                    AWS_BEARER_TOKEN_BEDROCK  E
 *   cohere                 cohere-v2           https://api.cohere.com/v2                              COHERE_API_KEY            I
 *   deepseek               openai-chat         https://api.deepseek.com/v1                            DEEPSEEK_API_KEY          J
 *   kimi                   openai-chat         https://api.moonshot.ai/v1                             MOONSHOT_API_KEY          A
 *   mistral                openai-chat         https://api.mistral.ai/v1                              MISTRAL_API_KEY           K
 *   xai                    openai-chat         https://api.x.ai/v1                                    XAI_API_KEY               A
 *   openrouter             openai-chat         https://openrouter.ai/api/v1                           OPENROUTER_API_KEY        L
 *   groq                   openai-chat         https://api.groq.com/openai/v1                         GROQ_API_KEY              A
 *   huggingface            openai-chat         https://router.huggingface.co/v1                       HF_TOKEN                  L
 *   novita                 openai-chat         https://api.novita.ai/openai/v1                        NOVITA_API_KEY            L
 *   together               openai-chat         https://api.together.xyz/v1                            TOGETHER_API_KEY          L
 *   fireworks              openai-chat         https://api.fireworks.ai/inference/v1                  FIREWORKS_API_KEY         L
 *   deepinfra              openai-chat         https://api.deepinfra.com/v1/openai                    DEEPINFRA_API_KEY         L
 *   cerebras               openai-chat         https://api.cerebras.ai/v1                             CEREBRAS_API_KEY          A
 *   perplexity             openai-chat         https://api.perplexity.ai                              PERPLEXITY_API_KEY        A
 *   alibaba                openai-chat         https://dashscope-intl.aliyuncs.com/compatible-mode/v1 DASHSCOPE_API_KEY         M
 *   zai                    openai-chat         https://api.z.ai/api/paas/v4                           ZAI_API_KEY               A
 *   minimax                anthropic           https://api.minimax.io/anthropic/v1                    MINIMAX_API_KEY           D
 *   minimax-chat           openai-chat         https://api.minimax.io/v1                              MINIMAX_API_KEY           A
 *   venice                 openai-chat         https://api.venice.ai/api/v1                           VENICE_API_KEY            L
 *   vercel                 openai-chat         https://ai-gateway.vercel.sh/v1                        AI_GATEWAY_API_KEY        A
 *   orcarouter             openai-chat         https://api.orcarouter.ai/v1                           ORCAROUTER_API_KEY        A
 *   requesty               openai-chat         https://router.requesty.ai/v1                          REQUESTY_API_KEY          A
 *   trustedrouter          openai-chat         https://api.trustedrouter.com/v1                       TRUSTEDROUTER_API_KEY     A
 *   ollama                 openai-chat         http://127.0.0.1:11434/v1                              none                      L
 *   ollama-native          ollama              http://127.0.0.1:11434/api                             none                      N
 *   ollama-generate        ollama-generate     http://127.0.0.1:11434/api                             none                      N
 *   ollama-cloud           ollama              https://ollama.com/api                                 OLLAMA_API_KEY            N
 *   llama.cpp              openai-chat         http://127.0.0.1:8080/v1                               LLAMA_API_KEY             L
 *   vllm                   openai-chat         http://127.0.0.1:8000/v1                               VLLM_API_KEY              L
 *   lm-studio              openai-chat         http://127.0.0.1:1234/v1                               LM_API_TOKEN              L
 *   openai-compatible      openai-chat         agent_peer_desc.url                                    OPENAI_API_KEY            A
 *   anthropic-compatible   anthropic           agent_peer_desc.url                                    ANTHROPIC_API_KEY         D
 *   A: top_k thinking_budget stateful
 *   B: top_k seed frequency_penalty presence_penalty stop thinking_budget
 *   C: top_k tool_choice parallel_tool_calls reasoning_effort thinking_budget response_format service_tier prompt_cache_key stateful
 *   D: seed frequency_penalty presence_penalty prompt_cache_key stateful
 *   E: seed frequency_penalty presence_penalty service_tier prompt_cache_key stateful
 *   F: parallel_tool_calls service_tier prompt_cache_key user stateful strict
 *   G: top_k frequency_penalty presence_penalty parallel_tool_calls thinking_budget service_tier prompt_cache_key user strict
 *   H: seed frequency_penalty presence_penalty parallel_tool_calls prompt_cache_key user stateful
 *   I: parallel_tool_calls service_tier prompt_cache_key user stateful
 *   J: top_k tool_choice thinking_budget stateful
 *   K: top_k thinking_budget service_tier prompt_cache_key user stateful
 *   L: thinking_budget stateful
 *   M: stateful
 *   N: tool_choice parallel_tool_calls service_tier prompt_cache_key user stateful strict
 * Wire formats, for rows and for agent_decode: openai-chat openai-responses openai-completions anthropic gemini gemini-interactions ollama
 * ollama-generate cohere-v2 cohere-v1 (answers only) bedrock-converse bedrock-invoke vertex-anthropic. Base URLs without a row's own:
 *   azure         https://RESOURCE.openai.azure.com/openai/v1, or .../openai/deployments/NAME?api-version=DATE
 *   vertex        https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION/publishers/google, for vertex-anthropic
 *                 .../publishers/anthropic; the key is an OAuth token, which expires: CREDENTIAL
 *   amazon-bedrock   https://bedrock-runtime.REGION.amazonaws.com; with agent_peer_desc.auth "sign" in place of a bearer key: SIGN (SigV4)
 * Hosts add rows with agent_desc.providers; the engine never reads the environment. A base URL may end in a slash, have a path prefix and a
 * query; the format's path is added unless it ends so. Options of a session: agent_session_set. Members that the engine does not know go into
 * every request with agent_peer_desc.body_json. What a provider cannot take is left out with a WARNING: options it has no place for (name: the
 * option), or not beside others (Anthropic takes neither temperature nor top_p nor a forced tool_choice beside thinking, and max_tokens
 * above the budget only: it is raised), files (their name and type stand in the text instead), reasoning of another model.
 *
 *   files in user messages      OpenAI chat                              Anthropic
 *   image                       data, URL                                data (JPEG, PNG, GIF, WebP), URL
 *   PDF                         data                                     data, URL
 *   plain text, JSON, XML       as text                                  as a text document
 *   audio                       data (WAV, MP3)                          left out
 *   other files                 data                                     URL
 *
 * ==== 9 DECODE-ONLY, CODECS ALONE ===============================================================================================
 * agent_decode makes a connection that is already open and only decodes: bytes of answers in, output events, STEP_END or ERROR out; for
 * proxies, log viewers, tests. Without an engine: agent_json_*, agent_sse_*, agent_lines_*, agent_http_* are small structs of the caller's
 * that never allocate (section 8 of the declarations).
 *
 * ==== 10 MEMORY =================================================================================================================
 * All memory comes through desc.alloc, or out of desc.block (no malloc at all). mem_limit caps the engine and each session; agent_memory tells
 * what is held and the peak. When memory is refused the call returns AGENT_E_NOMEM and nothing has changed, or, inside agent_next, the run that
 * needed it ends with an ERROR of fault NOMEM; the engine and its other sessions go on. Text is stored once, in the message table; a request
 * is a list of pieces of which only what is new since the last step is written. In steady state a streamed event allocates nothing.
 *
 * ==== 11 ERRORS =================================================================================================================
 * Misuse by the host is a negative code (AGENT_CODES below is the table) and changes nothing; agent_last says why. What a peer does is an ERROR
 * event, never fatal to the engine:
 *   AUTH 401, 403 | RATE 429 | QUOTA 429 that waiting does not mend | OVERLOADED 529 | CONTEXT the prompt is too long | REQUEST other 4xx
 *   SERVER 5xx, errors inside a stream | PROTOCOL bytes that are not what was promised | TRANSPORT broken or cut connections | FILTER
 *   LIMIT one of agent_limits | NOMEM
 * u.error.retryable says whether the same request may succeed later, retry_after_ms what the provider hinted (in headers, body or words), name
 * its own code, request_id its id of the request, offset where in the body (of HTTP's own faults: in the bytes of the connection). The engine
 * does not retry. Text of the provider is shown with the key that was sent, should it be in there, starred out, and so are values of the host's
 * header lines whose names tell that they are secret. A key in the URL's query is not: OPEN shows the URL. After a status 401 to a key the
 * host is asked for another one, once a step, and what is still refused then is the ERROR.
 *
 * ==== 12 LIMITS =================================================================================================================
 * agent_limits, each 0 for its default: recv 64 KiB | piece 8 KiB | item 8 MiB | head 64 KiB | depth 64 | sessions, conns, peers 65,535 |
 * calls_per_step 128 | scan_per_next 64 KiB. Fixed: an error body is read up to 64 KiB, an error's text is kept up to 2 KiB, a finish
 * reason up to 31 bytes, agent_failed's detail up to 512 bytes; interim (1xx) answers up to 1,000 for one request.
 *
 * ==== 13 THREADS ================================================================================================================
 * There is no global state. An engine is used by one thread at a time; different engines run in parallel. Tools on other threads send their
 * output to the engine's thread by a mailbox of the host's: calls are answered by number, no pointer is kept (examples/tools_threads.c).
 *
 * ==== 14 COMPILE-TIME OPTIONS ===================================================================================================
 * See "configuration" below: each macro, and where it must be defined.
 *
 * ==== 15 VERSIONS ===============================================================================================================
 * Source compatible within a major version. The ABI is promised only through the version and sizes that agent_open hands over.
 */

/* ---- map of the implementation --------------------------------------------------------------------------------
 * Each part uses only those above it. Search for "==== file" to get there.
 *
 *   base.c             linkage, views, the smallest helpers
 *   mem.c              allocator hook, limits, fixed block, blobs
 *   buf.c              growing byte buffers
 *   url.c              base URLs taken apart and joined
 *   utf8.c             checking and repairing text
 *   num.c              numbers from and to text, without locale
 *   base64.c           base64 from and to bytes
 *   json_read.c        strict checking, views, picking members in one pass
 *   json_write.c       quoting and writing
 *   json_partial.c     completing a prefix, for showing
 *   json_split.c       a long JSON text as several short ones
 *   http1.c            HTTP/1.1 answers in, header lines out
 *   sse.c              server-sent events
 *   lines.c            lines (NDJSON)
 *   json_values.c      the values of an array that is still coming
 *   eventstream.c      AWS event stream frames
 *   message.c          the message table: texts, parts, messages
 *   wire.c             what a wire format is: ops out of answers, the makings of a request
 *   retry_hint.c       when a provider says to come back
 *   wire_error.c       what a failed answer means
 *   import.c           a conversation that is read out of a request body
 *   wire_openai_replay.c what hosts of OpenAI chat want back of an answer
 *   import_openai_chat.c requests of OpenAI chat read
 *   wire_openai_chat.c OpenAI chat completions
 *   import_anthropic.c requests of Anthropic messages read
 *   wire_anthropic.c   Anthropic messages
 *   import_openai_responses.c requests of OpenAI responses read
 *   wire_openai_responses.c OpenAI responses
 *   import_gemini.c    requests of Gemini read
 *   wire_gemini.c      Gemini generateContent
 *   wire_gemini_interactions.c Gemini Interactions
 *   wire_bedrock_converse.c Bedrock Converse
 *   wire_ollama.c      Ollama chat and generate
 *   wire_cohere.c      Cohere chat
 *   wire_openai_completions.c OpenAI text completions
 *   providers.c        wire formats and providers by name
 *   engine.c           handles, who has work, the one event
 *   intake.c           messages that a host hands in: checked and copied
 *   shortcut.c         events that repeat themselves but for a string
 *   think.c            <think> tags in text
 *   answer.c           one answer: what its body is, its framing, how it ended
 *   output.c           from ops to parts and events
 *   request.c          requests as lists of pieces, serialised once
 *   peer.c             endpoints: URL, key, headers
 *   conn.c             connections: bytes in and out, HTTP, reuse
 *   decode.c           the decode-only door
 *   models.c           what models a provider has
 *   session.c          conversations, as the host sees them
 *   loop.c             runs and steps
 *   convert.c          requests in, and out in any wire format
 *   pump.c             open, close, time, agent_next
 *   print.c            events as JSON and as copies
 */

#ifndef AGENT_SINGLE_HEADER_INCLUDED
#define AGENT_SINGLE_HEADER_INCLUDED
#include <stddef.h>
#include <stdint.h>

/* ---- configuration -------------------------------------------------------------------------------------------
 * Define these before including the header. [I]: only where AGENT_IMPLEMENTATION is defined. [A]: everywhere.
 *
 *   AGENT_IMPLEMENTATION  [I]  this translation unit gets the code; exactly one per program
 *   AGENT_STATIC          [A]  all functions are static: several private copies may live in one program; each unit that calls
 *                              them needs AGENT_IMPLEMENTATION
 *   AGENTDEF              [A]  linkage of the public functions; default `extern`, with AGENT_STATIC `static`
 *   AGENT_REALLOC(ctx,p,old_size,new_size), AGENT_FREE(ctx,p,old_size)
 *                         [I]  the default allocator; both or none. ctx is desc.alloc_ctx
 *   AGENT_NO_MALLOC       [I]  there is no default allocator: desc.alloc or desc.block is required, <stdlib.h> is not used
 *   AGENT_NO_OPENAI_CHAT, AGENT_NO_OPENAI_RESPONSES, AGENT_NO_OPENAI_COMPLETIONS, AGENT_NO_ANTHROPIC, AGENT_NO_GEMINI,
 *   AGENT_NO_GEMINI_INTERACTIONS, AGENT_NO_BEDROCK, AGENT_NO_OLLAMA, AGENT_NO_COHERE
 *                         [I]  leaves a wire format out; what each saves is in the manual's chapter 14
 *   AGENT_ASSERT(x)       [I]  checks of the engine's own logic, never of a peer's bytes; default: nothing
 */
#if defined AGENT_NO_OPENAI_CHAT || defined AGENT_NO_OPENAI_RESPONSES || defined AGENT_NO_OPENAI_COMPLETIONS || defined AGENT_NO_ANTHROPIC \
    || defined AGENT_NO_GEMINI || defined AGENT_NO_GEMINI_INTERACTIONS || defined AGENT_NO_BEDROCK || defined AGENT_NO_OLLAMA || defined AGENT_NO_COHERE
#define AGENTI_LEAN                      /* helpers may be left over, which compilers warn of and drop                  */
#endif
#ifdef __cplusplus
extern "C" {
#define AGENT_ZERO {}
#else
#define AGENT_ZERO {0}
#endif
#ifndef AGENTDEF
#ifdef AGENT_STATIC
#define AGENTDEF static
#else
#define AGENTDEF extern
#endif
#endif

#define AGENT_VERSION "0.1.0"
#define AGENT_VERSION_NUM 100            /* major * 10000 + minor * 100 + patch                                       */

#if defined AGENT_STATIC && defined __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
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
  X(E_SYNTAX, -7, "the bytes break the format (codecs)")
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
/* The i-th row of the table that is built in, from 0; NULL past the last.                                             */
AGENTDEF const agent_provider *agent_provider_at(size_t i);
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
  uint64_t seed;                             /* for whatever will need chance; nothing does yet                       */
  const agent_provider *providers; size_t provider_count;   /* borrowed until agent_close                             */
  agent_limits limits;
} agent_desc;
#define AGENT_ABI 1u
/* Opens an engine. OK, E_ARG (desc NULL, a limit out of range, block too small, another ABI), E_NOMEM. Use the macro: it hands over
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

/* Asks what models there are, by an exchange of its own. MODELS comes, or an ERROR of scope PEER: exactly one of them, unless the peer is
 * closed before. OK, E_STALE, E_STATE (the provider has no list), E_NOMEM.                                            */
AGENTDEF int agent_models(agent_engine *, agent_id peer);

/* ---- 4 sessions ---------------------------------------------------------------------------------------------- */
enum {
  AGENT_TF_SERIAL = 1,           /* never beside another tool of the same step                                        */
  AGENT_TF_STRICT = 4,           /* the model's arguments are to fit the schema exactly, which has to be of the provider's strict kind:
                                    every property required, additionalProperties false (OpenAI structured outputs)   */
  AGENT_TF_RAW = 2               /* schema is the whole declaration, an object as the provider wants it, for tools that it defines or
                                    runs itself: {"type":"web_search_20250305","name":"web_search"}. What the provider runs comes as
                                    TOOL_CALL and TOOL_RESULT only; what it leaves to the host is a TOOL_RUN under this name       */
};
typedef struct agent_tool {
  const char *name;              /* as the model calls it; 1 to 64 of [A-Za-z0-9_-]                                   */
  const char *description;       /* NULL: none. Not used with RAW                                                     */
  const char *schema;            /* JSON Schema of the arguments, an object; NULL: {"type":"object"}                  */
  uint32_t flags;                /* AGENT_TF_                                                                         */
  void *user;                    /* comes back in u.tool.user                                                         */
} agent_tool;
enum {
  AGENT_S_NO_STREAM = 1,         /* ask for the answer in one piece; the events are the same                          */
  AGENT_S_THINK_TAGS = 2,        /* <think>...</think> at the start of an answer's text is reasoning: for hosts of open models that pass
                                    the tags on                                                                      */
  AGENT_S_THINK_OPEN = 4,        /* the same, and the opening tag is not there: the model's template has written it   */
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
enum { AGENT_MSG_SYSTEM = 64 };  /* of an AGENT_USER message: an import had it as a system or developer message among the others. It goes
                                    back as such to formats that have those (OpenAI's), to others as the user's       */
typedef struct agent_msg {
  agent_num id, run;             /* run 0: added by the host                                                          */
  uint8_t role, flags;           /* AGENT_PART_CUT, AGENT_MSG_SYSTEM                                                  */
  uint32_t part_count;           /* 0: AGENT_MODEL, cut before its first part; not sent                                */
} agent_msg;

enum agent_lane {
  AGENT_QUEUE = 0,               /* a run of its own, after the current one                                           */
  AGENT_NOW = 1                  /* E_STATE if the session is busy                                                    */
};
/* Submits a user message of one text part. n: bytes, or AGENT_CSTR. Invalid UTF-8 is replaced. > 0: the item's number; the message
 * stands in the queue until its run starts. E_ARG (empty), E_STALE, E_NOMEM, E_LIMIT.                                */
AGENTDEF int agent_say(agent_engine *, agent_id s, const char *text, size_t n);
/* The same with parts (TEXT, IMAGE, AUDIO, FILE) and a lane. What a provider does not take of them is named in brackets instead, with a
 * WARNING. E_ARG also: no MIME type, text and uri, bad base64. n 0: go on with what is there; the last message must be the user's or tool results
 * (else E_STATE).                                                                                                    */
AGENTDEF int agent_submit(agent_engine *, agent_id s, const agent_part *, size_t n, int lane);
/* Stops the run: unparsed bytes are dropped, open parts and calls end, what was shown stays, one RUN_END follows. Items that wait
 * come back as QUEUED before it; what is said after the cancel is not meant. In an idle session, or twice: nothing happens. OK, E_STALE.                                   */
AGENTDEF int agent_cancel(agent_engine *, agent_id s);
/* Stores a message without a run (import). A CALL needs wire_id and name, a RESULT the wire_id of a CALL in the message before it.
 * > 0: its number. E_ARG, E_STALE, E_STATE (a run is going on), E_NOMEM, E_LIMIT.                                             */
AGENTDEF int agent_message_add(agent_engine *, agent_id s, int role, const agent_part *, size_t n);
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
  /* store  */ X(MSG_ADD, F) X(MSG_END, F) \
  /* output */ X(TEXT_START, F) X(TEXT_DELTA, F) X(TEXT_END, F) X(REASONING_START, F) X(REASONING_DELTA, F) X(REASONING_END, F) \
               X(INPUT_START, F) X(INPUT_DELTA, F) X(INPUT_END, F) X(FILE_START, F) X(FILE_DELTA, F) X(FILE_END, F) \
               X(SOURCE, F) X(CUSTOM, F) \
  /* tools  */ X(TOOL_CALL, F) X(TOOL_RUN, N) X(TOOL_UPDATE, F) X(TOOL_CANCEL, F) X(TOOL_RESULT, F) X(NEED_DONE, F) \
  /* course */ X(QUEUED, F) \
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
enum agent_finish { AGENT_FINISH_NONE, AGENT_FINISH_STOP, AGENT_FINISH_LENGTH, AGENT_FINISH_TOOLS, AGENT_FINISH_FILTER, AGENT_FINISH_ERROR,
  AGENT_FINISH_OTHER };
enum agent_by { AGENT_BY_HOST, AGENT_BY_PROVIDER };           /* who runs a call                                        */
enum agent_done { AGENT_DONE_OK, AGENT_DONE_ERROR, AGENT_DONE_CANCELLED, AGENT_DONE_NOT_RUN };
enum agent_queue_op { AGENT_QUEUED_ADDED, AGENT_QUEUED_DELIVERED, AGENT_QUEUED_RETURNED };
enum agent_conn_kind { AGENT_CONN_HTTP };
enum agent_wanted { AGENT_KEY_MISSING, AGENT_KEY_EXPIRED, AGENT_KEY_REFUSED };   /* why a key is asked for                */
enum agent_fail { AGENT_FAIL_NONE, AGENT_FAIL_REFUSED, AGENT_FAIL_NAME, AGENT_FAIL_TLS, AGENT_FAIL_RESET, AGENT_FAIL_HOST };
enum agent_scope { AGENT_SCOPE_RUN, AGENT_SCOPE_CONN /* decode-only */, AGENT_SCOPE_PEER /* agent_models */ };
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
    struct { agent_str host, method, url; uint16_t port; uint8_t kind, tls; uint64_t body_len; } open;      /* OPEN SIGN */
    struct { int why; } credential; /* AGENT_KEY_ */                                                        /* CREDENTIAL */
    struct { void *user; int why; } io;                                                                     /* SEND CLOSE */
    struct { int outcome, finish; uint32_t steps; agent_str raw; const agent_usage *usage;
             agent_str model, request_id, headers /* the three: of STEP_END, empty when not told */; } end; /* RUN_END STEP_END */
    struct { int role; } msg;                                                                               /* MSG_*    */
    struct { agent_str wire_id, title; void *user; int status; uint16_t by; } tool; /* TOOL_* INPUT_*; user: from TOOL_RUN on */
    struct { uint16_t kind; agent_str mime, uri; } file; /* FILE_*; kind: AGENT_PART_; mime of contents, else uri      */
    struct { int fault, http_status, scope, retryable; uint64_t offset; int64_t retry_after_ms; agent_str request_id; } error;   /* ERROR */
    struct { uint32_t item; int op; } queued;                                                               /* QUEUED   */
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
/* user comes back in CLOSE and SEND. OK, E_STALE, E_STATE (opened before), E_ARG.                                    */
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
/* Answers SIGN: "Name: value\n" lines that are added to the request's headers (Authorization, X-Amz-Date ...). What is signed: u.open.method
 * and url, the headers from agent_open_header, and the body, which until then agent_send_buf and agent_send_ack hand out as if it was
 * sent. OPEN, or SEND on an open connection, comes next. OK, LATE, E_STALE, E_ARG (no header lines), E_NOMEM.          */
AGENTDEF int agent_sign(agent_engine *, agent_id conn, const char *header_lines, size_t n);
AGENTDEF int agent_decline(agent_engine *, const agent_event *need);   /* no to any need, known or not; also for a copy of the event */
/* A line for people about what the tool does; comes back as TOOL_UPDATE. OK, LATE, E_STALE, E_NOMEM, E_STATE (not running yet) */
AGENTDEF int agent_tool_update(agent_engine *, agent_id s, agent_num call, const char *title, size_t n);
/* Adds output, any bytes: invalid UTF-8 is replaced, over limits.item it is cut. OK, LATE, E_STALE, E_NOMEM, E_STATE  */
AGENTDEF int agent_tool_append(agent_engine *, agent_id s, agent_num call, const char *out, size_t n);
AGENTDEF int agent_tool_done(agent_engine *, agent_id s, agent_num call, int status);      /* AGENT_DONE_OK or _ERROR  */
AGENTDEF int agent_tool_result(agent_engine *, agent_id s, agent_num call, const char *out, size_t n);   /* append, then done(OK) */
/* The i-th open need of a session or peer again. OK, E_STALE (also past the last).                                   */
AGENTDEF int agent_pending(const agent_engine *, agent_id s_or_peer, size_t i, agent_event *out);

/* Decode-only: one answer in one wire format, no session, no policy. Feed it as a connection that is already open (VIA_BYTES: HTTP/1.1
 * bytes, one answer after the other; VIA_HTTP: a body, after agent_http_head or with status 200). It makes the output events,
 * STEP_END or ERROR with session 0 and conn set, and CLOSE after agent_eof. 0: see agent_last.                        */
AGENTDEF agent_id agent_decode(agent_engine *, const char *wire, int via, void *user);

/* ---- 7 print ------------------------------------------------------------------------------------------------- */
/* One line of JSON, no newline, NUL-terminated if cap > 0; returns the length needed. No key is ever in an event.     */
AGENTDEF size_t agent_event_json(const agent_event *, char *buf, size_t cap);
/* Deep copy into buf (for another thread); returns the size needed, 0 when ev is NULL. buf aligned as for agent_event. */
AGENTDEF size_t agent_event_copy(const agent_event *ev, void *buf, size_t cap);
AGENTDEF const char *agent_event_name(int type);             /* "TEXT_DELTA"; "?" when unknown                          */

/* ---- 8 codecs alone: no engine, no allocation, no global state ------------------------------------------------ */
/* JSON over a view. RFC 8259; text handed to get/each/text should have passed agent_json_check, else results are unspecified
 * (never out of bounds). Of duplicate keys the last wins. depth: 1 to 64, anything else is 64.                       */
typedef struct agent_json_error { size_t offset; const char *why; } agent_json_error;
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

/* Lines that end in LF or CRLF (NDJSON), given without their end and without a BOM at the start of the stream. Empty lines are passed
 * over. Same calling rules.                                                                                           */
typedef struct agent_lines { char *buf; size_t cap, len; uint64_t offset; uint8_t fresh, skip; } agent_lines;
AGENTDEF void agent_lines_init(agent_lines *, void *buf, size_t cap);
AGENTDEF int  agent_lines_next(agent_lines *, const char *in, size_t n, size_t *used, agent_str *line);
AGENTDEF void agent_lines_skip(agent_lines *);
AGENTDEF int  agent_lines_end(agent_lines *, agent_str *line);              /* an unfinished last line. OK, MORE (none)   */

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
AGENTDEF int  agent_http_header(agent_str headers, const char *name, agent_str *value);      /* the first of that name: 1, or 0 */
/* One "name: value\r\n" line. Length needed, written if it fits, with a NUL if that fits too; 0: the name is no token, or a control
 * character (CR, LF) is in the value.                                                                                 */
AGENTDEF size_t agent_http_write_header(const char *name, const char *value, char *buf, size_t cap);
#if defined AGENT_STATIC && defined __GNUC__
#pragma GCC diagnostic pop
#endif
#ifdef __cplusplus
}
#endif
#endif /* AGENT_SINGLE_HEADER_INCLUDED */

/* ---- implementation, once per program ------------------------------------------------------------------------- */
#if defined AGENT_IMPLEMENTATION && !defined AGENT_IMPLEMENTED
#define AGENT_IMPLEMENTED
#include <string.h>
#if !defined AGENT_NO_MALLOC && !defined AGENT_REALLOC
#include <stdlib.h>
#endif
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* ==== base.c: linkage, views, the smallest helpers ================================================================ */
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
#if defined __GNUC__ || defined __clang__
#define AGENTI_NOINLINE __attribute__((noinline))   /* keeps a large frame out of its caller                            */
#else
#define AGENTI_NOINLINE
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

/* ==== mem.c: allocator hook, limits, fixed block, blobs =========================================================== */
/* Memory: one allocator hook, hard limits per owner, a fixed-block heap, blobs that can be freed later. */
#if !defined AGENT_NO_MALLOC && !defined AGENT_REALLOC
#include <stdlib.h>
#endif
#if defined AGENT_REALLOC != defined AGENT_FREE
#error "define both AGENT_REALLOC and AGENT_FREE, or none"
#endif

typedef struct agenti_heap {             /* fixed-block mode: first fit over address-ordered free chunks, merged on free */
    struct agenti_chunk *free;
    size_t size;
} agenti_heap;
typedef struct agenti_pool {             /* who pays: the engine, or a session whose parent is the engine               */
    struct agenti_pool *up;
    agent_alloc_fn alloc; void *ctx;     /* of the topmost pool                                                         */
    agenti_heap heap;                    /* heap.size > 0: fixed-block mode                                             */
    size_t now, peak, limit;             /* limit 0: none                                                               */
    size_t buried;                       /* its blobs in the graveyard                                                  */
} agenti_pool;
typedef struct agenti_blob {             /* bytes that an event may point to; header in front, data behind it           */
    struct agenti_blob *next;            /* in the graveyard                                                            */
    agenti_pool *pool;
    size_t cap;
} agenti_blob;

AGENTI_FN void  agenti_pool_child(agenti_pool *, agenti_pool *up, size_t limit);
AGENTI_FN int   agenti_heap_init(agenti_heap *, void *block, size_t size);       /* 0: block too small                  */
AGENTI_FN void *agenti_get(agenti_pool *, size_t n);                             /* zeroed; NULL: refused               */
AGENTI_FN void *agenti_resize(agenti_pool *, void *p, size_t old_n, size_t n);   /* NULL: refused, p stays              */
AGENTI_FN void  agenti_put(agenti_pool *, void *p, size_t n);
AGENTI_FN char *agenti_blob_get(agenti_pool *, size_t n);                        /* n bytes of data                     */
AGENTI_FN char *agenti_blob_resize(agenti_pool *, char *data, size_t n);         /* NULL: refused, data stays           */
AGENTI_FN void  agenti_blob_put(char *data);                                     /* NULL is fine                        */
AGENTI_FN void  agenti_blob_bury(agenti_blob **graves, char *data);              /* frees at agenti_bury_all            */
AGENTI_FN void  agenti_bury_all(agenti_blob **graves);
AGENTI_FN void  agenti_bury_pool(agenti_blob **graves, const agenti_pool *);    /* only those of a pool that goes: mostly the last buried */
AGENTI_FN size_t agenti_blob_cap(const char *data);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_MEM
typedef struct agenti_chunk { size_t size; struct agenti_chunk *next; } agenti_chunk;   /* free or used; size with header */
#define AGENTI_ALIGN (2 * sizeof(void *) > 16 ? 2 * sizeof(void *) : (size_t)16)
#define AGENTI_HEAD AGENTI_ALIGN         /* room in front of what a used chunk holds                                    */

AGENTI_FN int agenti_heap_init(agenti_heap *h, void *block, size_t size)
{
    size_t pad = (AGENTI_ALIGN - (size_t)((uintptr_t)block % AGENTI_ALIGN)) % AGENTI_ALIGN;
    memset(h, 0, sizeof *h);
    if (block == NULL || size < pad + 4 * AGENTI_ALIGN) return 0;
    size = (size - pad) / AGENTI_ALIGN * AGENTI_ALIGN;
    h->free = (agenti_chunk *)(void *)((char *)block + pad);
    h->free->size = size;
    h->free->next = NULL;
    h->size = size;
    return 1;
}
static void *agenti_heap_get(agenti_heap *h, size_t n)
{
    agenti_chunk **at, *c, *rest;
    if (n > h->size) return NULL;
    n = (n + AGENTI_HEAD + AGENTI_ALIGN - 1) / AGENTI_ALIGN * AGENTI_ALIGN;
    for (at = &h->free; (c = *at) != NULL && c->size < n; at = &c->next) {}
    if (c == NULL) return NULL;
    if (c->size - n >= 2 * AGENTI_ALIGN) {
        rest = (agenti_chunk *)(void *)((char *)c + n);
        rest->size = c->size - n;
        rest->next = c->next;
        c->size = n;
        *at = rest;
    } else *at = c->next;
    return (char *)c + AGENTI_HEAD;
}
static void agenti_heap_put(agenti_heap *h, void *p)
{
    agenti_chunk *c = (agenti_chunk *)(void *)((char *)p - AGENTI_HEAD), *before = NULL, **at;
    for (at = &h->free; *at != NULL && *at < c; at = &(*at)->next) before = *at;
    c->next = *at;
    *at = c;
    if (c->next && (char *)c + c->size == (char *)c->next) { c->size += c->next->size; c->next = c->next->next; }
    if (before && (char *)before + before->size == (char *)c) { before->size += c->size; before->next = c->next; }
}
static void *agenti_heap_fn(agenti_heap *h, void *p, size_t old_n, size_t n)
{
    void *q;
    if (n == 0) { if (p) agenti_heap_put(h, p); return NULL; }
    q = agenti_heap_get(h, n);
    if (q && p) { memcpy(q, p, old_n < n ? old_n : n); agenti_heap_put(h, p); }
    return q;
}
static void *agenti_raw(agenti_pool *top, void *p, size_t old_n, size_t n)
{
    if (top->heap.size) return agenti_heap_fn(&top->heap, p, old_n, n);
    if (top->alloc) return top->alloc(top->ctx, p, old_n, n);
#ifdef AGENT_REALLOC
    if (n == 0) { AGENT_FREE(top->ctx, p, old_n); return NULL; }
    return AGENT_REALLOC(top->ctx, p, old_n, n);
#elif !defined AGENT_NO_MALLOC
    if (n == 0) { free(p); return NULL; }
    return realloc(p, n);
#else
    return NULL;
#endif
}
AGENTI_FN void agenti_pool_child(agenti_pool *pool, agenti_pool *up, size_t limit)
{
    memset(pool, 0, sizeof *pool);
    pool->up = up;
    pool->limit = limit;
}
AGENTI_FN void *agenti_resize(agenti_pool *pool, void *p, size_t old_n, size_t n)
{
    agenti_pool *o, *top = pool;
    void *q;
    for (o = pool; o; o = o->up) {
        top = o;
        if (n > old_n && o->limit && (n - old_n > o->limit || o->now > o->limit - (n - old_n))) return NULL;
    }
    q = agenti_raw(top, p, old_n, n);
    if (q == NULL && n > 0) return NULL;
    for (o = pool; o; o = o->up) {
        o->now = o->now - old_n + n;
        if (o->now > o->peak) o->peak = o->now;
    }
    return q;
}
AGENTI_FN void *agenti_get(agenti_pool *pool, size_t n)
{
    void *p = agenti_resize(pool, NULL, 0, n);
    if (p) memset(p, 0, n);
    return p;
}
AGENTI_FN void agenti_put(agenti_pool *pool, void *p, size_t n) { if (p) (void)agenti_resize(pool, p, n, 0); }

static agenti_blob *agenti_blob_of(const char *data) { return (agenti_blob *)(uintptr_t)data - 1; }
AGENTI_FN char *agenti_blob_resize(agenti_pool *pool, char *data, size_t n)
{
    size_t all;
    agenti_blob *b = data ? agenti_blob_of(data) : NULL;
    if (!agenti_add(n, sizeof *b, &all)) return NULL;
    b = (agenti_blob *)agenti_resize(pool, b, b ? b->cap + sizeof *b : 0, all);
    if (b == NULL) return NULL;
    b->next = NULL;
    b->pool = pool;
    b->cap = n;
    return (char *)(b + 1);
}
AGENTI_FN char *agenti_blob_get(agenti_pool *pool, size_t n) { return agenti_blob_resize(pool, NULL, n); }
AGENTI_FN size_t agenti_blob_cap(const char *data) { return data ? agenti_blob_of(data)->cap : 0; }
AGENTI_FN void agenti_blob_put(char *data)
{
    agenti_blob *b = data ? agenti_blob_of(data) : NULL;
    if (b) agenti_put(b->pool, b, b->cap + sizeof *b);
}
AGENTI_FN void agenti_blob_bury(agenti_blob **graves, char *data)
{
    if (data == NULL) return;
    agenti_blob_of(data)->pool->buried++;
    agenti_blob_of(data)->next = *graves;
    *graves = agenti_blob_of(data);
}
static void agenti_bury_first(agenti_blob **graves)
{
    agenti_blob *b = *graves;
    *graves = b->next;
    b->pool->buried--;
    agenti_put(b->pool, b, b->cap + sizeof *b);
}
AGENTI_FN void agenti_bury_all(agenti_blob **graves) { while (*graves) agenti_bury_first(graves); }
AGENTI_FN void agenti_bury_pool(agenti_blob **graves, const agenti_pool *pool)
{
    while (pool->buried) {
        AGENTI_TOUCH(sizeof **graves);
        if ((*graves)->pool == pool) agenti_bury_first(graves);
        else graves = &(*graves)->next;
    }
}
#endif

/* ==== buf.c: growing byte buffers ================================================================================= */
/* Growing bytes: a buffer that may move, an arena whose pieces stay where they are.
 * A buffer: after the allocator refused once, `bad` stays set and appends do nothing: check at the end. */
typedef struct agenti_buf { agenti_pool *pool; char *p; size_t n, cap; int bad; } agenti_buf;

AGENTI_FN void agenti_buf_init(agenti_buf *, agenti_pool *);
AGENTI_FN int  agenti_buf_room(agenti_buf *, size_t n);             /* n more bytes, and one for a NUL; 0: refused      */
AGENTI_FN void agenti_buf_add(agenti_buf *, const char *p, size_t n);
AGENTI_FN void agenti_buf_str(agenti_buf *, const char *cstr);
AGENTI_FN void agenti_buf_free(agenti_buf *);                       /* may be used again                                */

typedef struct agenti_arena_block { struct agenti_arena_block *next; size_t n, cap; } agenti_arena_block;
typedef struct agenti_arena { agenti_pool *pool; agenti_arena_block *top; } agenti_arena;
AGENTI_FN char *agenti_arena_get(agenti_arena *, size_t n);         /* stays until reset; NULL: refused                */
AGENTI_FN void  agenti_arena_reset(agenti_arena *);                 /* keeps one small block: no allocation in steady state */
AGENTI_FN void  agenti_arena_free(agenti_arena *);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_BUF
AGENTI_FN void agenti_buf_init(agenti_buf *b, agenti_pool *pool) { memset(b, 0, sizeof *b); b->pool = pool; }
AGENTI_FN int agenti_buf_room(agenti_buf *b, size_t n)
{
    size_t need, cap;
    char *p;
    if (b->bad || !agenti_add(b->n, n, &need) || !agenti_add(need, 1, &need)) { b->bad = 1; return 0; }
    if (need <= b->cap) return 1;
    cap = b->cap < 32 ? 32 : b->cap;
    while (cap < need) cap = cap > (size_t)-1 / 2 ? need : cap * 2;
    p = (char *)agenti_resize(b->pool, b->p, b->cap, cap);
    if (p == NULL && cap > need) { cap = need; p = (char *)agenti_resize(b->pool, b->p, b->cap, cap); }
    if (p == NULL) { b->bad = 1; return 0; }
    b->p = p;
    b->cap = cap;
    return 1;
}
AGENTI_FN void agenti_buf_add(agenti_buf *b, const char *p, size_t n)
{
    if (n == 0 || !agenti_buf_room(b, n)) return;
    memcpy(b->p + b->n, p, n);
    AGENTI_TOUCH(n);
    b->n += n;
    b->p[b->n] = 0;
}
AGENTI_FN void agenti_buf_str(agenti_buf *b, const char *cstr) { agenti_buf_add(b, cstr, strlen(cstr)); }
AGENTI_FN void agenti_buf_free(agenti_buf *b)
{
    agenti_pool *pool = b->pool;
    agenti_put(pool, b->p, b->cap);
    agenti_buf_init(b, pool);
}

enum { AGENTI_ARENA_BLOCK = 1024 };
AGENTI_FN char *agenti_arena_get(agenti_arena *a, size_t n)
{
    agenti_arena_block *b = a->top;
    char *p;
    if (b == NULL || n > b->cap - b->n) {
        size_t cap = n > AGENTI_ARENA_BLOCK ? n : (size_t)AGENTI_ARENA_BLOCK, all;
        if (!agenti_add(cap, sizeof *b, &all)) return NULL;
        b = (agenti_arena_block *)agenti_resize(a->pool, NULL, 0, all);
        if (b == NULL) return NULL;
        b->next = a->top;
        b->n = 0;
        b->cap = cap;
        a->top = b;
    }
    p = (char *)(b + 1) + b->n;
    b->n += n;
    return p;
}
static void agenti_arena_drop(agenti_arena *a, size_t keep_cap)
{
    agenti_arena_block *b, *next, *keep = NULL;
    for (b = a->top; b; b = next) {
        next = b->next;
        if (keep == NULL && b->cap <= keep_cap) { keep = b; b->n = 0; b->next = NULL; }
        else agenti_put(a->pool, b, b->cap + sizeof *b);
    }
    a->top = keep;
}
AGENTI_FN void agenti_arena_reset(agenti_arena *a) { agenti_arena_drop(a, AGENTI_ARENA_BLOCK); }
AGENTI_FN void agenti_arena_free(agenti_arena *a) { agenti_arena_drop(a, 0); }
#endif

/* ==== url.c: base URLs taken apart and joined ===================================================================== */
/* Base URLs: taken apart into views, and joined with an endpoint's path to a request target. RFC 3986, only what a base URL
 * of an API needs: http and https, no user, no fragment; a query is kept and joined behind the path. */
typedef struct agenti_url {              /* views into the URL                                                          */
    agent_str host;                      /* without the brackets of an IPv6 address                                     */
    agent_str authority;                 /* what the Host header says: with the port unless it is the scheme's own      */
    agent_str path;                      /* as written; may be empty                                                    */
    agent_str query;                     /* without the question mark; n 0: none                                        */
    uint16_t port; uint8_t tls;
} agenti_url;

AGENTI_FN int agenti_url_parse(agent_str url, agenti_url *out, const char **why);   /* 0: refused, *why is static text  */
/* Appends prefix + path + queries; path begins with '/' and may have a query. A base that ends in the path already does not get
 * it twice. 0: no memory, or a path that agenti_http_path_ok refuses.                                                  */
AGENTI_FN int agenti_url_join(agenti_buf *, const agenti_url *, const char *path);
/* The path with {model} replaced, percent-encoded but for RFC 3986's unreserved characters.                             */
AGENTI_FN void agenti_url_expand(agenti_buf *, const char *path, agent_str model);
AGENTI_FN int agenti_http_path_ok(const char *target);   /* begins with '/', nothing that could break a request line    */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_URL
static int agenti_url_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_' || c == '~';
}
static int agenti_url_hex(char c) { return (c >= '0' && c <= '9') || (agenti_lower(c) >= 'a' && agenti_lower(c) <= 'f'); }
static const char *agenti_url_chars(agent_str u)             /* what no URL may have anywhere; NULL: fine               */
{
    size_t i;
    for (i = 0; i < u.n; i++) {
        unsigned char c = (unsigned char)u.p[i];
        if (c <= ' ' || c == 127) return "the URL has a space or control character";
        if (c > 127) return "the URL has a character that is not ASCII";
        if (c == '#') return "the URL has a fragment";
        if (memchr("\"<>\\^`{|}", c, 9)) return "the URL has a character that must be percent-encoded";
    }
    return NULL;
}
static const char *agenti_url_name(agent_str host)           /* a name or an IPv4 address                               */
{
    size_t i;
    if (host.n == 0) return "the URL has no host";
    if (host.n > 255) return "the URL's host is too long";
    for (i = 0; i < host.n; i++) {
        if (!agenti_url_name_char(host.p[i])) return "the URL's host has a character that no host has";
        if (host.p[i] == '.' && (i == 0 || host.p[i - 1] == '.')) return "the URL's host has an empty label";
    }
    return NULL;
}
static const char *agenti_url_ipv6(agent_str host)           /* its characters only: who connects reads the address     */
{
    size_t i, colons = 0;
    for (i = 0; i < host.n; i++) {
        if (host.p[i] == ':') colons++;
        else if (host.p[i] != '.' && !agenti_url_hex(host.p[i])) return "the URL's IPv6 address has a strange character";
    }
    return colons < 2 || colons > 8 || host.n > 45 ? "the URL's IPv6 address is none" : NULL;
}
static const char *agenti_url_port(agent_str digits, uint16_t *port)
{
    uint32_t v = 0;
    size_t i;
    if (digits.n == 0 || digits.n > 5 || digits.p[0] == '0') return "the URL's port is not 1 to 65535";
    for (i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9') return "the URL's port is no number";
        v = v * 10 + (uint32_t)(digits.p[i] - '0');
    }
    if (v > 65535) return "the URL's port is not 1 to 65535";
    *port = (uint16_t)v;
    return NULL;
}
static const char *agenti_url_authority(agent_str a, agenti_url *out)
{
    uint16_t own = out->tls ? 443 : 80;
    size_t host_n;                                           /* with brackets                                           */
    const char *why, *end;
    out->port = own;
    if (a.n && memchr(a.p, '@', a.n)) return "the URL has a user or password in it";
    if (a.n && a.p[0] == '[') {
        end = (const char *)memchr(a.p, ']', a.n);
        if (end == NULL) return "the URL's IPv6 address has no closing bracket";
        host_n = (size_t)(end - a.p) + 1;
        out->host = agenti_str(a.p + 1, host_n - 2);
        why = agenti_url_ipv6(out->host);
    } else {
        end = a.n ? (const char *)memchr(a.p, ':', a.n) : NULL;
        host_n = end ? (size_t)(end - a.p) : a.n;
        out->host = agenti_str(a.p, host_n);
        why = agenti_url_name(out->host);
    }
    if (why == NULL && host_n < a.n) {
        if (a.p[host_n] != ':') return "the URL goes on behind its IPv6 address";
        why = agenti_url_port(agenti_str(a.p + host_n + 1, a.n - host_n - 1), &out->port);
    }
    out->authority = agenti_str(a.p, out->port == own ? host_n : a.n);
    return why;
}
AGENTI_FN int agenti_url_parse(agent_str url, agenti_url *out, const char **why)
{
    size_t at, end, query;
    memset(out, 0, sizeof *out);
    *why = agenti_url_chars(url);
    if (*why) return 0;
    if (url.n >= 7 && agenti_ieq(agenti_str(url.p, 7), "http://")) at = 7;
    else if (url.n >= 8 && agenti_ieq(agenti_str(url.p, 8), "https://")) { at = 8; out->tls = 1; }
    else { *why = "the URL begins with neither http:// nor https://"; return 0; }
    for (end = at; end < url.n && url.p[end] != '/' && url.p[end] != '?'; end++) {}
    for (query = end; query < url.n && url.p[query] != '?'; query++) {}
    out->path = agenti_str(url.p + end, query - end);
    out->query = agenti_str(url.p + query, 0);
    if (query < url.n) out->query = agenti_str(url.p + query + 1, url.n - query - 1);
    *why = agenti_url_authority(agenti_str(url.p + at, end - at), out);
    return *why == NULL;
}
AGENTI_FN void agenti_url_expand(agenti_buf *b, const char *path, agent_str model)
{
    static const char hole[] = "{model}", hex[] = "0123456789ABCDEF";
    size_t i, n = strlen(path), at = 0;
    char c[3];
    while (at + sizeof hole - 1 <= n && memcmp(path + at, hole, sizeof hole - 1) != 0) at++;
    if (at + sizeof hole - 1 > n) { agenti_buf_add(b, path, n); return; }
    agenti_buf_add(b, path, at);
    for (i = 0; i < model.n; i++) {
        unsigned char u = (unsigned char)model.p[i];
        c[0] = '%';
        c[1] = hex[u >> 4];
        c[2] = hex[u & 15];
        if (agenti_url_name_char(model.p[i])) agenti_buf_add(b, model.p + i, 1); else agenti_buf_add(b, c, 3);
    }
    agenti_buf_str(b, path + at + sizeof hole - 1);
}
AGENTI_FN int agenti_http_path_ok(const char *target)
{
    const char *p;
    for (p = target; *p; p++) if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 127 || *p == '#') return 0;
    return target[0] == '/';
}
AGENTI_FN int agenti_url_join(agenti_buf *b, const agenti_url *u, const char *path)
{
    size_t n, prefix = u->path.n, all;
    if (!agenti_http_path_ok(path)) return 0;
    all = strlen(path);
    for (n = 0; n < all && path[n] != '?'; n++) {}           /* the path without its query                              */
    while (prefix && u->path.p[prefix - 1] == '/') prefix--;
    agenti_buf_add(b, u->path.p, prefix);
    if (prefix < n || memcmp(u->path.p + prefix - n, path, n) != 0) agenti_buf_add(b, path, n);
    agenti_buf_add(b, path + n, all - n);
    if (u->query.n) {
        agenti_buf_str(b, n < all ? "&" : "?");
        agenti_buf_add(b, u->query.p, u->query.n);
    }
    return !b->bad;
}
#endif

/* ==== utf8.c: checking and repairing text ========================================================================= */
/* UTF-8: checking, cutting, repairing; and a sink, so that a text is written once for a growing buffer and a caller's.
 * Repair follows Unicode and WHATWG: one U+FFFD per maximal bad subpart. */
typedef struct agenti_sink {
    agenti_buf *grow;                    /* either appends here,                                                        */
    const char *want;                    /* or compares with `cap` bytes here,                                          */
    char *p;                             /* or writes what fits here                                                    */
    size_t cap, n;                       /* n: length needed, (size_t)-1 when that is more than memory can hold         */
    size_t cut;                          /* how much of p stays, with a NUL, when not all fits                          */
    int differs;
} agenti_sink;

AGENTI_FN size_t agenti_utf8_valid(const char *p, size_t n);        /* length of the valid prefix                      */
AGENTI_FN size_t agenti_utf8_bad(const char *p, size_t n);          /* at an invalid place: the maximal bad subpart, 1 to 3 */
AGENTI_FN size_t agenti_utf8_put(char *out4, uint32_t cp);          /* a surrogate or > 10FFFF becomes U+FFFD          */
AGENTI_FN int    agenti_utf8_repair(agenti_buf *, const char *p, size_t n);     /* appends; 0: no memory               */
AGENTI_FN size_t agenti_utf8_cut(const char *p, size_t n, size_t max);          /* of valid text: longest whole prefix <= max */
AGENTI_FN size_t agenti_utf8_tail(const char *p, size_t n);         /* length of a sequence that the end cut, or 0     */
AGENTI_FN void   agenti_sink_to(agenti_sink *, char *p, size_t cap);
AGENTI_FN void   agenti_sink_grow(agenti_sink *, agenti_buf *);
AGENTI_FN void   agenti_sink_want(agenti_sink *, agent_str);
AGENTI_FN void   agenti_sink_add(agenti_sink *, const char *p, size_t n);       /* a valid piece; may overlap what p holds */
AGENTI_FN void   agenti_sink_text(agenti_sink *, const char *p, size_t n);      /* any bytes, repaired                 */
AGENTI_FN size_t agenti_sink_end(agenti_sink *);                    /* adds the NUL; length needed                     */
/* Short pieces gathered before they go to a sink: JSON is full of quotes and line ends. Flush at the end. */
typedef struct agenti_stage { agenti_sink *to; size_t n; char p[256]; } agenti_stage;
AGENTI_FN void   agenti_stage_to(agenti_stage *, agenti_sink *);
AGENTI_FN void   agenti_stage_add(agenti_stage *, const char *p, size_t n);     /* a valid piece of at most 8 bytes    */
AGENTI_FN void   agenti_stage_text(agenti_stage *, const char *p, size_t n);    /* any bytes, repaired                 */
AGENTI_FN void   agenti_stage_flush(agenti_stage *);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_UTF8
/* What follows the lead byte c: how many bytes (0: c is no lead), and the range of the first of them. That range is what keeps
 * overlong forms, surrogates and everything over 10FFFF out. */
static size_t agenti_utf8_lead(unsigned c, unsigned *lo, unsigned *hi)
{
    *lo = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
    *hi = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    return c < 0xC2 || c > 0xF4 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
}
/* How many bytes of p form a sequence or the beginning of one, at least 1; *whole: it is a whole one. n > 0. */
static size_t agenti_utf8_look(const char *p, size_t n, int *whole)
{
    const unsigned char *u = (const unsigned char *)p;
    unsigned lo, hi;
    size_t more, k;
    *whole = u[0] < 0x80;
    if (u[0] < 0x80) return 1;
    more = agenti_utf8_lead(u[0], &lo, &hi);
    for (k = 1; k <= more && k < n && u[k] >= lo && u[k] <= hi; k++) { lo = 0x80; hi = 0xBF; }
    *whole = more > 0 && k == more + 1;
    return k;
}
AGENTI_FN size_t agenti_utf8_valid(const char *p, size_t n)
{
    size_t i = 0, k;
    uint64_t w;
    int whole;
    while (i < n) {
        for (; n - i >= 8; i += 8) {
            memcpy(&w, p + i, 8);
            if (w & UINT64_C(0x8080808080808080)) break;
        }
        while (i < n && (unsigned char)p[i] < 0x80) i++;
        while (i < n && (unsigned char)p[i] >= 0x80) {
            k = agenti_utf8_look(p + i, n - i, &whole);
            if (!whole) return i;
            i += k;
        }
    }
    return n;
}
AGENTI_FN size_t agenti_utf8_bad(const char *p, size_t n)
{
    int whole;
    size_t k = n ? agenti_utf8_look(p, n, &whole) : 0;
    return k < 3 ? k : 3;
}
AGENTI_FN size_t agenti_utf8_tail(const char *p, size_t n)
{
    size_t k;
    int whole;
    for (k = 1; k <= 3 && k <= n; k++) {
        if (((unsigned char)p[n - k] & 0xC0) == 0x80) continue;
        return (unsigned char)p[n - k] >= 0xC2 && agenti_utf8_look(p + n - k, k, &whole) == k && !whole ? k : 0;
    }
    return 0;
}
AGENTI_FN size_t agenti_utf8_put(char *out, uint32_t cp)
{
    if (cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF)) cp = 0xFFFD;
    if (cp < 0x80) { out[0] = (char)cp; return 1; }
    if (cp < 0x800) { out[0] = (char)(0xC0 | cp >> 6); out[1] = (char)(0x80 | (cp & 63)); return 2; }
    if (cp < 0x10000) {
        out[0] = (char)(0xE0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 63));
        out[2] = (char)(0x80 | (cp & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 63));
    out[2] = (char)(0x80 | (cp >> 6 & 63));
    out[3] = (char)(0x80 | (cp & 63));
    return 4;
}
AGENTI_FN size_t agenti_utf8_cut(const char *p, size_t n, size_t max)
{
    size_t k = max, back;
    if (n <= max) return n;
    for (back = 0; back < 3 && k > 0 && ((unsigned char)p[k] & 0xC0) == 0x80; back++) k--;
    return k;
}
AGENTI_FN int agenti_utf8_repair(agenti_buf *b, const char *p, size_t n)
{
    agenti_sink s;
    agenti_sink_grow(&s, b);
    agenti_sink_text(&s, p, n);
    return !b->bad;
}

AGENTI_FN void agenti_sink_to(agenti_sink *s, char *p, size_t cap)
{
    memset(s, 0, sizeof *s);
    s->p = p;
    s->cap = p ? cap : 0;
}
AGENTI_FN void agenti_sink_grow(agenti_sink *s, agenti_buf *b) { agenti_sink_to(s, NULL, 0); s->grow = b; }
AGENTI_FN void agenti_sink_want(agenti_sink *s, agent_str t) { agenti_sink_to(s, NULL, 0); s->want = t.p; s->cap = t.n; }
AGENTI_FN void agenti_sink_add(agenti_sink *s, const char *p, size_t n)
{
    size_t room = s->n < s->cap ? s->cap - s->n : 0;
    if (n == 0) return;
    if (s->grow) agenti_buf_add(s->grow, p, n);
    else if (s->want) s->differs |= n > room || memcmp(s->want + s->n, p, n) != 0;
    else if (n < room) {
        memmove(s->p + s->n, p, n);
        s->cut = s->n + n;
    } else if (room > 0) {
        s->cut = s->n + agenti_utf8_cut(p, n, room - 1);
        memmove(s->p + s->n, p, agenti_utf8_cut(p, n, room));
    }
    if (!agenti_add(s->n, n, &s->n)) s->n = (size_t)-1;
}
AGENTI_FN void agenti_sink_text(agenti_sink *s, const char *p, size_t n)
{
    size_t k;
    AGENTI_TOUCH(n);
    while (n > 0) {
        k = agenti_utf8_valid(p, n);
        agenti_sink_add(s, p, k);
        p += k;
        n -= k;
        if (n == 0) break;
        agenti_sink_add(s, "\xEF\xBF\xBD", 3);
        k = agenti_utf8_bad(p, n);
        p += k;
        n -= k;
    }
}
AGENTI_FN size_t agenti_sink_end(agenti_sink *s)
{
    if (s->n < s->cap) s->p[s->n] = 0;
    else if (s->n > s->cap && s->cap > 0) s->p[s->cut] = 0;
    return s->n;
}

AGENTI_FN void agenti_stage_to(agenti_stage *s, agenti_sink *to) { s->to = to; s->n = 0; }
AGENTI_FN void agenti_stage_flush(agenti_stage *s)
{
    agenti_sink_add(s->to, s->p, s->n);
    s->n = 0;
}
AGENTI_FN void agenti_stage_add(agenti_stage *s, const char *p, size_t n)
{
    if (n > sizeof s->p - s->n) agenti_stage_flush(s);
    memcpy(s->p + s->n, p, n);
    s->n += n;
}
AGENTI_FN void agenti_stage_text(agenti_stage *s, const char *p, size_t n)
{
    if (n > sizeof s->p - s->n) agenti_stage_flush(s);
    if (n <= sizeof s->p && agenti_utf8_valid(p, n) == n) {
        memcpy(s->p + s->n, p, n);
        s->n += n;
        AGENTI_TOUCH(n);
        return;
    }
    agenti_stage_flush(s);
    agenti_sink_text(s->to, p, n);
}
#endif

/* ==== num.c: numbers from and to text, without locale ============================================================= */
/* Numbers from and to text: JSON's grammar, no locale, no floating-point arithmetic (so neither the rounding mode nor an x87
 * can spoil a result), exact. */
AGENTI_FN size_t agenti_num_prefix(const char *p, size_t n);        /* length of the longest JSON number at p, or 0    */
AGENTI_FN int    agenti_int(agent_str, int64_t *out);               /* a plain integer in range: 1                     */
AGENTI_FN int    agenti_count(agent_str, int64_t *out);             /* any number, toward 0, clamped to 0 .. 2^63-1 */
AGENTI_FN int    agenti_double(agent_str, double *out);             /* nearest, ties to even; 0: no number, or overflow */
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

/* ==== base64.c: base64 from and to bytes ========================================================================== */
/* Base64, RFC 4648 section 4: how files stand in JSON. */
AGENTI_FN int  agenti_base64_ok(agent_str);                         /* the standard alphabet, padded, no line breaks   */
AGENTI_FN void agenti_base64_to(agenti_buf *, agent_str bytes);
AGENTI_FN void agenti_base64_from(agenti_buf *, agent_str text);    /* of text that is ok                              */
AGENTI_FN size_t agenti_base64_bytes(agent_str text, char *to);     /* the same; to may be where the text is. Length   */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_BASE64
static int agenti_base64_value(char c)                              /* -1: not of the alphabet                         */
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}
AGENTI_FN int agenti_base64_ok(agent_str s)
{
    size_t i, n = s.n;
    if (n % 4) return 0;
    if (n && s.p[n - 1] == '=') n--;
    if (n && n < s.n && s.p[n - 1] == '=') n--;
    for (i = 0; i < n; i++) if (agenti_base64_value(s.p[i]) < 0) return 0;
    AGENTI_TOUCH(s.n);
    return 1;
}
AGENTI_FN void agenti_base64_to(agenti_buf *b, agent_str s)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t i, k;
    char *to;
    if (s.n / 3 >= (size_t)-1 / 4 - 1) { b->bad = 1; return; }
    if (!agenti_buf_room(b, (s.n + 2) / 3 * 4)) return;
    to = b->p + b->n;
    for (i = 0; i < s.n; i += 3) {
        uint32_t v = 0;
        size_t left = s.n - i < 3 ? s.n - i : 3;
        for (k = 0; k < 3; k++) v = v << 8 | (k < left ? (unsigned char)s.p[i + k] : 0u);
        for (k = 0; k < 4; k++) *to++ = k <= left ? letters[v >> (18 - 6 * k) & 63] : '=';
    }
    AGENTI_TOUCH(s.n);
    b->n = (size_t)(to - b->p);
    b->p[b->n] = 0;
}
AGENTI_FN size_t agenti_base64_bytes(agent_str s, char *to)
{
    size_t i, k, n = 0;
    while (s.n && s.p[s.n - 1] == '=') s.n--;
    for (i = 0; i < s.n; i += 4) {
        uint32_t v = 0;
        size_t left = s.n - i < 4 ? s.n - i : 4;
        for (k = 0; k < 4; k++) v = v << 6 | (k < left ? (uint32_t)agenti_base64_value(s.p[i + k]) : 0u);
        for (k = 0; k + 1 < left; k++) to[n++] = (char)(unsigned char)(v >> (16 - 8 * k) & 255u);
    }
    AGENTI_TOUCH(s.n);
    return n;
}
AGENTI_FN void agenti_base64_from(agenti_buf *b, agent_str s)
{
    if (!agenti_buf_room(b, s.n / 4 * 3)) return;
    b->n += agenti_base64_bytes(s, b->p + b->n);
    b->p[b->n] = 0;
}
#endif

/* ==== json_read.c: strict checking, views, picking members in one pass ============================================ */
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
    const char *why = "expected a value";
    if (c->state == AGENTI_J_FIRST) why = "expected a value or ']'";
    else if (c->state == AGENTI_J_KEY) why = "expected a key";
    else if (c->state == AGENTI_J_KEY1) why = "expected a key or '}'";
    else if (c->state == AGENTI_J_NEXT && c->depth == 0) why = "expected the end";
    else if (c->state == AGENTI_J_NEXT) why = c->objects & 1 ? "expected ',' or '}'" : "expected ',' or ']'";
    else if (end - at >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) why = "expected a value, not a byte order mark";
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
        if (*at != '\\') return agenti_json_fail(c, at, "expected no control character in a string");
        k = agenti_json_escape(at, (size_t)(end - at), &unit);
        if (k == 0) return agenti_json_fail(c, at, "expected an escape of JSON");
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
        if (k == 0) return agenti_json_fail(c, at + 1, "expected a digit");
        at += k;
        if (at == end || (*at != '.' && (*at | 0x20) != 'e' && (*at < '0' || *at > '9'))) return at;
        return agenti_json_fail(c, at, *at >= '0' && *at <= '9' ? "expected no leading zero" : "expected a digit after this");
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
    if (at == end || *at != ':') return agenti_json_fail(c, at, "expected ':'");
    c->state = AGENTI_J_VALUE;
    return at + 1;
}
static const char *agenti_json_check_open(agenti_jcheck *c, const char *at)
{
    int object = *at == '{';
    if (c->depth == c->limit) {
        agenti_json_fail(c, at, "nested too deep");
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
AGENTDEF int agent_json_check(const char *p, size_t n, uint32_t depth, agent_json_error *err)
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
AGENTDEF int agent_json_each(agent_str json, size_t *pos, agent_str *key, agent_str *value)
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
AGENTDEF agent_str agent_json_get(agent_str json, const char *path)
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
        if (p[i] != '\\') {
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
AGENTDEF size_t agent_json_text(agent_str value, char *buf, size_t cap)
{
    agenti_sink s;
    int string;
    agent_str raw = agenti_json_inside(value, &string);
    agenti_sink_to(&s, buf, cap);
    if (string) agenti_json_decode_all(&s, raw);
    else agenti_sink_text(&s, raw.p, raw.n);
    return agenti_sink_end(&s);
}
AGENTDEF int agent_json_is(agent_str value, const char *literal)
{
    int string;
    agent_str raw = agenti_json_inside(value, &string);
    return string && agenti_json_same(raw, agenti_cstr(literal));
}
AGENTDEF int64_t agent_json_int(agent_str value, int64_t otherwise)
{
    int64_t v;
    return agenti_int(value, &v) ? v : otherwise;
}
AGENTDEF double agent_json_num(agent_str value, double otherwise)
{
    double v;
    return agenti_double(value, &v) ? v : otherwise;
}
AGENTDEF int agent_json_bool(agent_str value, int otherwise)
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
    uint64_t first, boxes;               /* boxes: rows that others refer to                                            */
    int n, row, from, to;                /* rows that refer to `row` are in from .. to - 1                              */
} agenti_picker;

static uint64_t agenti_pick_bit(char c) { return (uint64_t)1 << ((unsigned char)c & 63); }
static void agenti_pick_enter(agenti_picker *k, int row)
{
    int i;
    k->row = row;
    k->first = 0;
    k->to = k->from = row + 1;
    for (i = row + 1; i < k->n; i++) if (k->table[i].up == row) {
        if (k->first == 0) k->from = i;
        k->first |= agenti_pick_bit(k->table[i].key[0]);
        k->to = i + 1;
    }
}
static int agenti_pick_equal(const char *raw, size_t n, const char *key)
{
    size_t i = 0;
    while (i < n && key[i] && key[i] == raw[i]) i++;
    return i == n && key[i] == 0;
}
static int agenti_pick_row(const agenti_picker *k, agent_str raw, int plain)    /* -1: none; plain: no escape in raw    */
{
    char first = raw.n ? raw.p[0] : 0;
    int i;
    if (plain && !(k->first & agenti_pick_bit(first))) return -1;
    for (i = k->from; i < k->to; i++) {
        if (k->table[i].up != k->row || (plain && k->table[i].key[0] != first)) continue;
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
            agenti_pick_enter(k, row);
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
    agenti_pick_enter(k, k->table[row].up);
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
    k.boxes = 0;
    for (i = 0; i < n; i++) { out[i] = agenti_json_none(); if (table[i].up >= 0) k.boxes |= (uint64_t)1 << table[i].up; }
    agenti_pick_enter(&k, -1);
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

/* ==== json_write.c: quoting and writing =========================================================================== */
/* JSON out. A comma is written where the last byte shows that a value stands before. */
AGENTI_FN void agenti_json_comma(agenti_buf *);                     /* unless first in the text, the object or the array */
AGENTI_FN void agenti_json_quote_to(agenti_buf *, agent_str);       /* a string, always valid UTF-8                    */
AGENTI_FN void agenti_json_quote_more(agenti_buf *, agent_str);     /* goes on in the string that was quoted last      */
AGENTI_FN void agenti_json_key(agenti_buf *, const char *key);      /* [,]"key":                                       */
AGENTI_FN void agenti_json_member(agenti_buf *, const char *key, agent_str raw);   /* the key and JSON as it is; empty: null */
AGENTI_FN void agenti_json_member_str(agenti_buf *, const char *key, agent_str text);
AGENTI_FN void agenti_json_member_int(agenti_buf *, const char *key, int64_t);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_JSON_WRITE
static void agenti_json_quote_char(agenti_stage *s, unsigned char c)
{
    static const char hex[] = "0123456789abcdef", low[] = "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu";
    char out[6];
    out[0] = '\\';
    out[1] = c < 0x20 ? low[c] : (char)c;
    out[2] = out[3] = '0';
    out[4] = hex[c >> 4];
    out[5] = hex[c & 15];
    agenti_stage_add(s, out, out[1] == 'u' ? 6 : 2);
}
static void agenti_json_quote_sink(agenti_sink *to, const char *p, size_t n, int opens)
{
    agenti_stage s;
    size_t k;
    agenti_stage_to(&s, to);
    if (opens) agenti_stage_add(&s, "\"", 1);
    while (n > 0) {
        k = agenti_json_plain(p, n);
        if (k > 0) agenti_stage_text(&s, p, k);
        p += k;
        n -= k;
        if (n == 0) break;
        agenti_json_quote_char(&s, (unsigned char)*p++);
        n--;
    }
    agenti_stage_add(&s, "\"", 1);
    agenti_stage_flush(&s);
}
AGENTDEF size_t agent_json_quote(const char *p, size_t n, char *buf, size_t cap)
{
    agent_str t = n == AGENT_CSTR ? agenti_cstr(p) : agenti_str(p, n);
    agenti_sink s;
    agenti_sink_to(&s, buf, cap);
    agenti_json_quote_sink(&s, t.p, t.n, 1);
    return agenti_sink_end(&s);
}
AGENTI_FN void agenti_json_quote_to(agenti_buf *b, agent_str t)
{
    agenti_sink s;
    agenti_sink_grow(&s, b);
    agenti_json_quote_sink(&s, t.p, t.n, 1);
}
AGENTI_FN void agenti_json_quote_more(agenti_buf *b, agent_str t)
{
    agenti_sink s;
    if (b->n == 0) return;
    b->n--;
    agenti_sink_grow(&s, b);
    agenti_json_quote_sink(&s, t.p, t.n, 0);
}
AGENTI_FN void agenti_json_comma(agenti_buf *b)
{
    char last = b->n ? b->p[b->n - 1] : ',';
    if (last != ',' && last != ':' && last != '[' && last != '{') agenti_buf_add(b, ",", 1);
}
AGENTI_FN void agenti_json_key(agenti_buf *b, const char *key)
{
    agenti_json_comma(b);
    agenti_json_quote_to(b, agenti_cstr(key));
    agenti_buf_add(b, ":", 1);
}
AGENTI_FN void agenti_json_member(agenti_buf *b, const char *key, agent_str raw)
{
    agenti_json_key(b, key);
    if (raw.n > 0) agenti_buf_add(b, raw.p, raw.n);
    else agenti_buf_add(b, "null", 4);
}
AGENTI_FN void agenti_json_member_str(agenti_buf *b, const char *key, agent_str text)
{
    agenti_json_key(b, key);
    agenti_json_quote_to(b, text);
}
AGENTI_FN void agenti_json_member_int(agenti_buf *b, const char *key, int64_t v)
{
    char text[21];
    agenti_json_member(b, key, agenti_str(text, agenti_i64_text(v, text)));
}
#endif

/* ==== json_partial.c: completing a prefix, for showing ============================================================ */
/* A prefix of a JSON text, completed. Kept is what is certain: an unfinished string or literal is completed; an unfinished number
 * loses its last, open part; an unfinished escape, UTF-8 sequence or key is dropped, and so is all from the first error on, from
 * the 65th level on, and what follows the value. */
#if !defined AGENTI_SPLIT || defined AGENTI_PART_JSON_PARTIAL
typedef struct agenti_repair {
    agenti_jcheck c;
    const char *safe;                    /* up to here, with `tail` and the closing brackets, it is JSON                */
    const char *tail;
} agenti_repair;

/* A string up to its quote, its first error or the end; *whole: the quote was there. at: after the first quote. */
static const char *agenti_repair_string(const char *at, const char *end, int *whole)
{
    uint32_t unit;
    size_t k;
    *whole = 0;
    for (;;) {
        const char *from = at;
        at += agenti_json_plain(at, (size_t)(end - at));
        if (at == end) return at - agenti_utf8_tail(from, (size_t)(at - from));
        if (*at == '"') { *whole = 1; return at + 1; }
        k = *at == '\\' ? agenti_json_escape(at, (size_t)(end - at), &unit) : 0;
        if (k == 0) return at;
        at += k;
    }
}
static const char *agenti_repair_literal(agenti_repair *r, const char *at, const char *end)     /* NULL: nothing more   */
{
    const char *word = *at == 't' ? "true" : *at == 'f' ? "false" : *at == 'n' ? "null" : "";
    size_t k = 0;
    while (word[k] && at + k < end && at[k] == word[k]) k++;
    if (k == 0 || (word[k] && at + k < end)) return NULL;
    r->safe = at + k;
    r->tail = word + k;
    return word[k] ? NULL : r->safe;
}
static const char *agenti_repair_scalar(agenti_repair *r, const char *at, const char *end)
{
    size_t k;
    int whole;
    r->c.state = AGENTI_J_NEXT;
    if (*at == '"') {
        r->safe = agenti_repair_string(at + 1, end, &whole);
        r->tail = whole ? "" : "\"";
        return whole ? r->safe : NULL;
    }
    k = agenti_num_prefix(at, (size_t)(end - at));
    if (k == 0) return agenti_repair_literal(r, at, end);
    r->safe = at + k;
    r->tail = "";
    return r->safe;
}
static const char *agenti_repair_token(agenti_repair *r, const char *at, const char *end)
{
    int opens = *at == '{' || *at == '[', first = r->c.state == AGENTI_J_FIRST;
    if ((r->c.state == AGENTI_J_VALUE || first) && !opens && !(first && *at == ']')) return agenti_repair_scalar(r, at, end);
    opens = opens && (r->c.state == AGENTI_J_VALUE || first);
    at = agenti_json_token(&r->c, at, end);
    if (r->c.why) return NULL;
    if (opens || r->c.state == AGENTI_J_NEXT) { r->safe = at; r->tail = ""; }
    return at;
}
AGENTDEF size_t agent_json_repair(const char *p, size_t n, char *buf, size_t cap, int *parses)
{
    agent_str t = n == AGENT_CSTR ? agenti_cstr(p) : agenti_str(p, n);
    const char *at = t.p, *end = t.p + t.n;
    agenti_repair r;
    agenti_sink s;
    memset(&r, 0, sizeof r);
    r.c.limit = AGENTI_J_DEPTH;
    r.safe = t.p;
    r.tail = "";
    AGENTI_TOUCH(t.n);
    while (at) {
        at += agenti_json_space(at, (size_t)(end - at));
        if (at == end) break;
        at = agenti_repair_token(&r, at, end);
    }
    agenti_sink_to(&s, buf, cap);
    agenti_sink_add(&s, t.p, (size_t)(r.safe - t.p));
    agenti_sink_add(&s, r.tail, strlen(r.tail));
    for (; r.c.depth > 0; r.c.depth--, r.c.objects >>= 1) agenti_sink_add(&s, r.c.objects & 1 ? "}" : "]", 1);
    if (parses) *parses = s.n > 0;
    return agenti_sink_end(&s);
}
#endif

/* ==== json_split.c: a long JSON text as several short ones ======================================================== */
/* A long JSON text as several short ones. Where a piece ends inside the string of a member that may come in parts, the text so far
 * is closed up to a document of its own, and the next one begins with the same path and the members that tell whose string it
 * is; in an element of an array, and where the rule says so in the document, one of those must have come before, else the text is
 * held. So a wire format reads an answer of any length with the code that reads a short one, and little of it is held. Bytes are
 * only looked at once; whether the text is JSON is for its reader to check. */
enum { AGENTI_SPLIT_DEPTH = 64 };
typedef struct agenti_split_rule {            /* keys, NULL-terminated                                                  */
    const char *const *parts;                 /* of strings that may come in parts                                      */
    const char *const *route;                 /* of members that are repeated                                           */
    const char *const *owner;                 /* of members one of which an array's element needs                       */
    int owned;                                /* the document needs one as well                                         */
    const char *const *held;                  /* below these nothing is cut                                             */
} agenti_split_rule;
typedef struct agenti_split {
    agenti_buf text, next;                    /* the document being gathered; the beginning of the one after it         */
    const agenti_split_rule *rule;
    size_t most;                              /* a longer path is not repeated: no cuts then                            */
    uint64_t total;                           /* bytes added                                                            */
    size_t at;                                /* bytes of text looked at                                                */
    size_t string_at, escape_at;              /* the open string's quote; the open escape's backslash                   */
    uint32_t depth;
    uint64_t owned;                           /* a bit a level: a member that tells whose it is has come                */
    uint8_t in_string, is_key, escape, wants_key;    /* escape: bytes of it still to come                               */
    uint8_t lost;                             /* too deep, or the path too long: no more cuts                           */
    uint8_t kind[AGENTI_SPLIT_DEPTH];         /* '{' or '['                                                             */
    size_t open_at[AGENTI_SPLIT_DEPTH], key_at[AGENTI_SPLIT_DEPTH];       /* key_at 0: no key yet                       */
} agenti_split;

AGENTI_FN void agenti_split_init(agenti_split *, agenti_pool *, const agenti_split_rule *, size_t most);
AGENTI_FN void agenti_split_free(agenti_split *);
AGENTI_FN int  agenti_split_add(agenti_split *, const char *p, size_t n);      /* 0: no memory                          */
/* 1: text is a document now, and once it was read agenti_split_swap goes on; 0: it cannot be cut here; -1: no memory   */
AGENTI_FN int  agenti_split_cut(agenti_split *);
AGENTI_FN void agenti_split_swap(agenti_split *);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_JSON_SPLIT
AGENTI_FN void agenti_split_init(agenti_split *s, agenti_pool *pool, const agenti_split_rule *rule, size_t most)
{
    memset(s, 0, sizeof *s);
    agenti_buf_init(&s->text, pool);
    agenti_buf_init(&s->next, pool);
    s->rule = rule;
    s->most = most;
}
AGENTI_FN void agenti_split_free(agenti_split *s)
{
    agenti_buf_free(&s->text);
    agenti_buf_free(&s->next);
}
static int agenti_split_listed(agent_str key, const char *const *list)         /* key without quotes                    */
{
    for (; *list; list++) if (agenti_eq(key, *list)) return 1;
    return 0;
}
static void agenti_split_string_ends(agenti_split *s)
{
    agent_str key = agenti_str(s->text.p + s->string_at + 1, s->at - s->string_at - 1);
    s->in_string = 0;
    if (s->is_key && s->depth && agenti_split_listed(key, s->rule->owner)) s->owned |= (uint64_t)1 << (s->depth - 1);
}
static size_t agenti_split_string(agenti_split *s, const char *p, size_t n)    /* inside a string: bytes looked at      */
{
    size_t k;
    if (s->escape) {
        if (s->escape == 1 && s->escape_at + 1 == s->at && *p == 'u') s->escape = 5;
        s->escape--;
        return 1;
    }
    k = agenti_json_plain(p, n);
    if (k) return k;
    if (*p == '"') agenti_split_string_ends(s);
    else if (*p == '\\') {
        s->escape = 1;
        s->escape_at = s->at;
    }
    return 1;
}
static void agenti_split_mark(agenti_split *s, char c)       /* outside of strings                                      */
{
    if (c == '"') {
        s->in_string = 1;
        s->string_at = s->at;
        s->is_key = s->wants_key;
        if (s->is_key && s->depth) s->key_at[s->depth - 1] = s->at;
    } else if (c == '{' || c == '[') {
        if (s->depth == AGENTI_SPLIT_DEPTH) { s->lost = 1; return; }
        s->kind[s->depth] = (uint8_t)c;
        s->owned &= ~((uint64_t)1 << s->depth);
        s->key_at[s->depth] = 0;
        s->open_at[s->depth++] = s->at;
        s->wants_key = c == '{';
    } else if (c == '}' || c == ']') {
        if (s->depth) s->depth--;
        s->wants_key = 0;
    } else if (c == ',') s->wants_key = s->depth && s->kind[s->depth - 1] == '{';
    else if (c == ':') s->wants_key = 0;
}
AGENTI_FN int agenti_split_add(agenti_split *s, const char *p, size_t n)
{
    agenti_buf_add(&s->text, p, n);
    if (s->text.bad) return 0;
    s->total += n;
    AGENTI_TOUCH(s->lost ? 0 : s->text.n - s->at);
    while (s->at < s->text.n && !s->lost) {
        const char *q = s->text.p + s->at;
        if (s->in_string) s->at += agenti_split_string(s, q, s->text.n - s->at);
        else { agenti_split_mark(s, *q); s->at++; }
    }
    return 1;
}
static agent_str agenti_split_key(const agenti_split *s, uint32_t level)       /* with its quotes                       */
{
    const char *p = s->text.p + s->key_at[level];
    return agenti_str(p, agenti_json_skip(p, s->text.n - s->key_at[level]));
}
/* One level of the path: an array opens; an object opens, repeats its members that route, and comes to its open key.   */
static void agenti_split_level(agenti_split *s, uint32_t level)
{
    size_t from = s->open_at[level], to = s->key_at[level], pos = 0;
    agent_str open, key, value;
    s->open_at[level] = s->next.n;
    agenti_buf_add(&s->next, s->kind[level] == '{' ? "{" : "[", 1);
    if (s->kind[level] != '{') return;
    key = agenti_split_key(s, level);
    open = agenti_str(s->text.p + from, to - from);
    while (agent_json_each(open, &pos, &key, &value)) {
        if (!agenti_split_listed(key, s->rule->route)) continue;
        agenti_buf_add(&s->next, key.p - 1, key.n + 2);
        agenti_buf_add(&s->next, ":", 1);
        agenti_buf_add(&s->next, value.p, value.n);
        agenti_buf_add(&s->next, ",", 1);
    }
    key = agenti_split_key(s, level);
    s->key_at[level] = s->next.n;
    agenti_buf_add(&s->next, key.p, key.n);
    agenti_buf_add(&s->next, ":", 1);
}
/* Whether the open string is one that may come in parts, and the path says whose it is.                                */
static int agenti_split_may(const agenti_split *s)
{
    agent_str key = agenti_str(NULL, 0);
    uint32_t i;
    if (s->lost || !s->in_string || s->is_key || s->depth == 0 || s->kind[s->depth - 1] != '{') return 0;
    for (i = 0; i < s->depth; i++) {
        int needs = i ? s->kind[i - 1] == '[' : s->rule->owned;
        if (needs && !(s->owned & (uint64_t)1 << i)) return 0;
        if (s->kind[i] != '{') continue;
        if (s->key_at[i] == 0) return 0;      /* broken JSON: a value without a key                                     */
        key = agenti_split_key(s, i);
        if (key.n < 2) return 0;
        key = agenti_str(key.p + 1, key.n - 2);
        if (agenti_split_listed(key, s->rule->held)) return 0;
    }
    return agenti_split_listed(key, s->rule->parts);
}
AGENTI_FN int agenti_split_cut(agenti_split *s)
{
    size_t end = s->escape ? s->escape_at : s->text.n, inner = s->string_at + 1;
    uint32_t i;
    if (!agenti_split_may(s) || end <= inner) return 0;
    end -= agenti_utf8_tail(s->text.p + inner, end - inner);
    if (end <= inner) return 0;
    s->next.n = 0;
    for (i = 0; i < s->depth; i++) agenti_split_level(s, i);
    if (s->next.n > s->most) { s->lost = 1; return 0; }
    s->string_at = s->next.n;
    agenti_buf_add(&s->next, "\"", 1);
    if (s->escape) s->escape_at = s->next.n;
    agenti_buf_add(&s->next, s->text.p + end, s->text.n - end);
    s->text.n = end;
    agenti_buf_add(&s->text, "\"", 1);
    for (i = s->depth; i-- > 0;) agenti_buf_add(&s->text, s->kind[i] == '{' ? "}" : "]", 1);
    return s->text.bad || s->next.bad ? -1 : 1;
}
AGENTI_FN void agenti_split_swap(agenti_split *s)
{
    agenti_buf was = s->text;
    s->text = s->next;
    s->next = was;
    s->next.n = 0;
    s->at = s->text.n;
}
#endif

/* ==== http1.c: HTTP/1.1 answers in, header lines out ============================================================== */
/* HTTP/1.1 answers, RFC 9110 and 9112, and header lines out. As strict as clients in wide use: line ends are CRLF, one framing that
 * cannot be read in two ways, no folded headers. Head and trailers are gathered line by line in buf and normalised in place;
 * a body is never copied. */
AGENTI_FN int agenti_http_token(const char *p, size_t n);                    /* RFC 9110 5.6.2; not empty               */
/* In a chunked body: the commonest way to the next body bytes, if it is short enough to lie in p. Returns what is used up to the end of
 * the body bytes, which are the last *body ones, or 0: nothing changed, agent_http_next knows.                         */
AGENTI_FN size_t agenti_http_run(agent_http *, const char *p, size_t n, size_t *body);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_HTTP1
enum { /* agent_http.state: what comes next */
    AGENTI_H1_START, AGENTI_H1_START_LF, AGENTI_H1_STATUS, AGENTI_H1_HEADER,
    AGENTI_H1_BODY, AGENTI_H1_END,
    AGENTI_H1_SIZE_FIRST, AGENTI_H1_SIZE, AGENTI_H1_EXT_FIRST, AGENTI_H1_EXT, AGENTI_H1_VALUE_FIRST, AGENTI_H1_VALUE,
    AGENTI_H1_QUOTED, AGENTI_H1_ESCAPED, AGENTI_H1_AFTER_QUOTE, AGENTI_H1_SIZE_LF,
    AGENTI_H1_DATA, AGENTI_H1_DATA_CR, AGENTI_H1_DATA_LF, AGENTI_H1_TRAILER,
    AGENTI_H1_CLOSED, AGENTI_H1_BROKEN
};
enum { /* agent_http.seen: what the head says about framing and the connection */
    AGENTI_H1_HAS_LENGTH = 1, AGENTI_H1_HAS_CODING = 2, AGENTI_H1_IS_CHUNKED = 4, AGENTI_H1_OTHER_CODING = 8,
    AGENTI_H1_SAYS_CLOSE = 16, AGENTI_H1_SAYS_KEEP = 32
};
enum { AGENTI_H1_GO = 99 };              /* a step is done, no event: take the next one                                 */
enum { AGENTI_H1_INTERIM_MAX = 1000, AGENTI_H1_EXTRA_MAX = 16384 };
typedef struct agenti_h1_in { const char *p; size_t n; } agenti_h1_in;

static void agenti_h1_used(agent_http *h, agenti_h1_in *c, size_t k) { c->p += k; c->n -= k; h->offset += k; }
static int agenti_h1_fail(agent_http *h, const char *why, size_t back)       /* back: how far before h->offset          */
{
    h->error = why;
    h->offset -= back;
    h->state = AGENTI_H1_BROKEN;
    return AGENT_E_SYNTAX;
}
AGENTDEF void agent_http_init(agent_http *h, void *buf, size_t cap)
{
    memset(h, 0, sizeof *h);
    h->buf = (char *)buf;
    h->cap = buf ? cap : 0;
}
AGENTDEF void agent_http_expect(agent_http *h, int head_request) { h->head_request = head_request != 0; }

/* ---- characters ---- */
static int agenti_h1_is_token(char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return 1;
    return c != 0 && memchr("!#$%&'*+-.^_`|~", c, 15) != NULL;
}
static int agenti_h1_is_field(char c)    /* in a field value or reason: HTAB, SP, visible, obs-text                     */
{
    unsigned char u = (unsigned char)c;
    return u == '\t' || (u >= ' ' && u != 127);
}
static int agenti_h1_is_space(char c) { return c == ' ' || c == '\t'; }
static int agenti_h1_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : -1; }
static int agenti_h1_hex(char c)
{
    unsigned digit = (unsigned)(unsigned char)c - '0', letter = ((unsigned)(unsigned char)c | 0x20) - 'a';
    return digit < 10 ? (int)digit : letter < 6 ? (int)letter + 10 : -1;
}
AGENTI_FN int agenti_http_token(const char *p, size_t n)
{
    size_t i;
    for (i = 0; i < n; i++) if (!agenti_h1_is_token(p[i])) return 0;
    return n > 0;
}
static agent_str agenti_h1_trim(const char *p, size_t n)
{
    while (n && agenti_h1_is_space(p[0])) { p++; n--; }
    while (n && agenti_h1_is_space(p[n - 1])) n--;
    return agenti_str(p, n);
}
/* The next element of a comma-separated list, trimmed, maybe empty; 0: no more. *pos starts at 0.                     */
static int agenti_h1_list(agent_str v, size_t *pos, agent_str *item)
{
    size_t at = *pos, end = at;
    if (at > v.n) return 0;
    while (end < v.n && v.p[end] != ',') end++;
    *item = agenti_h1_trim(v.p + at, end - at);
    *pos = end + 1;
    return 1;
}

/* ---- lines of head and trailers ---- */
static void agenti_h1_block(agent_http *h) { h->len = h->line = h->raw = h->reason_len = 0; }    /* begins a new one    */
/* What must not wait for the line's end: bytes of another protocol may never bring one.                               */
static int agenti_h1_early(agent_http *h)
{
    static const char version[] = "HTTP/1.";
    size_t i, n = h->len - h->line;
    const char *p = h->buf + h->line;
    if (h->state == AGENTI_H1_STATUS) {
        for (i = 0; i < n && i < 7; i++)
            if (p[i] != version[i]) return agenti_h1_fail(h, "the answer does not begin with HTTP/1.", n - i);
    } else if (n && agenti_h1_is_space(p[0])) return agenti_h1_fail(h, "a header line begins with a blank", n);
    return AGENTI_H1_GO;
}
/* Gathers a line. GO: it is complete, from h->line on, with its LF. All bytes of head or trailers count against cap.  */
static int agenti_h1_gather(agent_http *h, agenti_h1_in *c)
{
    const char *lf = (const char *)memchr(c->p, '\n', c->n);
    size_t want = lf ? (size_t)(lf - c->p) + 1 : c->n, room = h->cap - h->raw, k = want < room ? want : room;
    int rc;
    if (k) memcpy(h->buf + h->len, c->p, k);
    AGENTI_TOUCH(want);
    h->len += k;
    h->raw += k;
    agenti_h1_used(h, c, k);
    if (k == 0) return AGENT_E_FULL;
    rc = agenti_h1_early(h);
    if (rc != AGENTI_H1_GO) return rc;
    if (k < want) return AGENT_E_FULL;
    if (lf == NULL) return AGENT_MORE;
    return AGENTI_H1_GO;
}
/* Whether the line's bytes from i on are a field value and CRLF; GO or E_SYNTAX.                                      */
static int agenti_h1_tail(agent_http *h, size_t i)
{
    const char *p = h->buf + h->line;
    size_t n = h->len - h->line;
    while (agenti_h1_is_field(p[i])) i++;                    /* stops at the LF at the latest                           */
    if (p[i] == '\r' && p[i + 1] == '\n') return AGENTI_H1_GO;
    if (p[i] == '\n') return agenti_h1_fail(h, "a line of the head ends in LF without CR", n - i);
    if (p[i] == '\r') return agenti_h1_fail(h, "a CR without LF in the head", n - i);
    return agenti_h1_fail(h, "a control character in the head", n - i);
}
static int agenti_h1_status(agent_http *h)
{
    const char *p = h->buf + h->line;
    size_t n = h->len - h->line, i;
    int rc, v = 0;
    if (p[7] != '0' && p[7] != '1') return agenti_h1_fail(h, "the version is neither HTTP/1.0 nor HTTP/1.1", n - 7);
    if (p[8] != ' ') return agenti_h1_fail(h, "no space behind the version", n - 8);
    for (i = 9; i < 12; i++) {
        int d = agenti_h1_digit(p[i]);
        if (d < 0 || (i == 9 && d == 0)) return agenti_h1_fail(h, "the status is no number from 100 to 999", n - i);
        v = v * 10 + d;
    }
    if (p[12] != ' ' && p[12] != '\r' && p[12] != '\n') return agenti_h1_fail(h, "no space behind the status", n - 12);
    rc = agenti_h1_tail(h, 12);
    if (rc != AGENTI_H1_GO) return rc;
    h->minor = p[7] == '1';
    h->status = v;
    h->seen = 0;
    h->reason_len = n - 14 - (p[12] == ' ');
    memmove(h->buf, p + n - 2 - h->reason_len, h->reason_len);
    h->len = h->line = h->reason_len;
    h->state = AGENTI_H1_HEADER;
    return AGENTI_H1_GO;
}
/* Content-Length: digits, or the same number several times (RFC 9110 8.6). NULL: fine.                                */
static const char *agenti_h1_length(agent_http *h, agent_str value)
{
    agent_str item;
    size_t pos = 0, i;
    while (agenti_h1_list(value, &pos, &item)) {
        uint64_t v = 0;
        if (item.n == 0) return "a Content-Length without a number";
        for (i = 0; i < item.n; i++) {
            int d = agenti_h1_digit(item.p[i]);
            if (d < 0) return "a Content-Length that is no number";
            if (v > ((uint64_t)-1 - (uint64_t)d) / 10) return "a Content-Length over 64 bits";
            v = v * 10 + (uint64_t)d;
        }
        if (h->seen & AGENTI_H1_HAS_LENGTH && v != h->left) return "two Content-Lengths that differ";
        h->seen |= AGENTI_H1_HAS_LENGTH;
        h->left = v;
    }
    return NULL;
}
static void agenti_h1_coding(agent_http *h, agent_str value)
{
    agent_str item;
    size_t pos = 0;
    while (agenti_h1_list(value, &pos, &item)) {
        if (agenti_ieq(item, "chunked") && !(h->seen & AGENTI_H1_HAS_CODING)) h->seen |= AGENTI_H1_IS_CHUNKED;
        else h->seen |= AGENTI_H1_OTHER_CODING;
        h->seen |= AGENTI_H1_HAS_CODING;
    }
}
static void agenti_h1_connection(agent_http *h, agent_str value)
{
    agent_str item;
    size_t pos = 0;
    while (agenti_h1_list(value, &pos, &item)) {
        if (agenti_ieq(item, "close")) h->seen |= AGENTI_H1_SAYS_CLOSE;
        if (agenti_ieq(item, "keep-alive")) h->seen |= AGENTI_H1_SAYS_KEEP;
    }
}
static const char *agenti_h1_known(agent_http *h, agent_str name, agent_str value)   /* NULL: fine                      */
{
    if (agenti_eq(name, "content-length")) return agenti_h1_length(h, value);
    if (agenti_eq(name, "transfer-encoding")) agenti_h1_coding(h, value);
    else if (agenti_eq(name, "connection")) agenti_h1_connection(h, value);
    return NULL;
}
/* Checks a header line and writes it as "name: value\n" over itself: with CRLF it was at least as long.              */
static int agenti_h1_header(agent_http *h)
{
    char *p = h->buf + h->line;
    size_t n = h->len - h->line, k, i;
    agent_str v;
    const char *why;
    int rc;
    for (k = 0; agenti_h1_is_token(p[k]); k++) p[k] = agenti_lower(p[k]);
    if (p[k] == '\r' || p[k] == '\n') return agenti_h1_fail(h, "a header line without a colon", n - k);
    if (p[k] != ':') return agenti_h1_fail(h, "a character that no header name has", n - k);
    if (k == 0) return agenti_h1_fail(h, "a header without a name", n);
    rc = agenti_h1_tail(h, k + 1);
    if (rc != AGENTI_H1_GO) return rc;
    v = agenti_h1_trim(p + k + 1, n - k - 3);
    why = h->state == AGENTI_H1_HEADER ? agenti_h1_known(h, agenti_str(p, k), v) : NULL;
    if (why) { i = (size_t)(v.p - p); return agenti_h1_fail(h, why, n - i); }
    memmove(p + k + 2, v.p, v.n);
    p[k + 1] = ' ';
    p[k + 2 + v.n] = '\n';
    h->line += k + 3 + v.n;
    h->len = h->line;
    return AGENTI_H1_GO;
}

/* ---- the head is complete ---- */
static int agenti_h1_keep_alive(const agent_http *h)
{
    if (h->framing == AGENT_HTTP_UNTIL_CLOSE || h->seen & AGENTI_H1_SAYS_CLOSE) return 0;
    if (h->minor == 0 && h->seen & AGENTI_H1_HAS_CODING) return 0;           /* RFC 9112 6.1: its framing is faulty     */
    return h->minor == 1 || h->seen & AGENTI_H1_SAYS_KEEP;
}
static int agenti_h1_framing(agent_http *h)
{
    int bodiless = h->head_request || h->status == 204 || h->status == 304;
    h->framing = AGENT_HTTP_UNTIL_CLOSE;
    h->state = AGENTI_H1_BODY;
    if (bodiless) {
        h->framing = AGENT_HTTP_NO_BODY;
        h->state = AGENTI_H1_END;
    } else if (h->seen & AGENTI_H1_HAS_CODING) {
        if (h->seen & AGENTI_H1_OTHER_CODING) return agenti_h1_fail(h, "a Transfer-Encoding other than chunked", 0);
        if (h->seen & AGENTI_H1_HAS_LENGTH) return agenti_h1_fail(h, "both Transfer-Encoding and Content-Length", 0);
        h->framing = AGENT_HTTP_CHUNKED;
        h->state = AGENTI_H1_SIZE_FIRST;
    } else if (h->seen & AGENTI_H1_HAS_LENGTH) {
        h->framing = AGENT_HTTP_LENGTH;
        if (h->left == 0) h->state = AGENTI_H1_END;
    }
    h->keep_alive = agenti_h1_keep_alive(h) ? 1 : 0;
    h->head_request = 0;
    h->interim = 0;
    h->extra = 0;
    return AGENTI_H1_GO;
}
static int agenti_h1_interim(agent_http *h)
{
    if (h->status == 101) return agenti_h1_fail(h, "status 101, but no other protocol was asked for", 0);
    if (++h->interim > AGENTI_H1_INTERIM_MAX) return agenti_h1_fail(h, "too many interim answers", 0);
    h->framing = AGENT_HTTP_NO_BODY;
    h->keep_alive = 1;
    h->state = AGENTI_H1_START;
    return AGENTI_H1_GO;
}
static void agenti_h1_event(const agent_http *h, int kind, agent_http_event *out)
{
    out->kind = kind;
    out->status = h->status;
    out->framing = h->framing;
    out->keep_alive = h->keep_alive;
    out->reason = agenti_str(h->buf, h->reason_len);
    out->headers = agenti_str(h->buf ? h->buf + h->reason_len : NULL, h->line - h->reason_len);
    out->body = agenti_str(NULL, 0);
}
static int agenti_h1_head_done(agent_http *h, agent_http_event *out)
{
    int interim = h->status < 200, rc = interim ? agenti_h1_interim(h) : agenti_h1_framing(h);
    if (rc != AGENTI_H1_GO) return rc;
    agenti_h1_event(h, interim ? AGENT_HTTP_INTERIM : AGENT_HTTP_HEAD, out);
    agenti_h1_block(h);
    return AGENT_OK;
}
static int agenti_h1_start(agent_http *h, agenti_h1_in *c)   /* one empty line before the status line is forgiven       */
{
    if (h->state == AGENTI_H1_START) h->state = *c->p == '\r' ? AGENTI_H1_START_LF : AGENTI_H1_STATUS;
    else if (*c->p != '\n') return agenti_h1_fail(h, "a CR without LF before the answer", 0);
    else h->state = AGENTI_H1_STATUS;
    if (*c->p == '\r' || *c->p == '\n') agenti_h1_used(h, c, 1);
    return AGENTI_H1_GO;
}
static int agenti_h1_line(agent_http *h, agenti_h1_in *c, agent_http_event *out)     /* of head or trailers             */
{
    int rc = agenti_h1_gather(h, c);
    if (rc != AGENTI_H1_GO) return rc;
    if (h->state == AGENTI_H1_STATUS) return agenti_h1_status(h);
    if (h->len - h->line != 2 || h->buf[h->line] != '\r') return agenti_h1_header(h);
    h->len = h->line;
    if (h->state == AGENTI_H1_HEADER) return agenti_h1_head_done(h, out);
    h->state = AGENTI_H1_END;
    return AGENTI_H1_GO;
}

/* ---- bodies ---- */
static int agenti_h1_body(agent_http *h, agenti_h1_in *c, agent_http_event *out)
{
    size_t n = c->n;
    int bounded = h->framing != AGENT_HTTP_UNTIL_CLOSE;
    if (bounded && n > h->left) n = (size_t)h->left;
    agenti_h1_event(h, AGENT_HTTP_BODY, out);
    out->body = agenti_str(c->p, n);
    agenti_h1_used(h, c, n);
    if (bounded) h->left -= n;
    if (bounded && h->left == 0) h->state = h->framing == AGENT_HTTP_CHUNKED ? AGENTI_H1_DATA_CR : AGENTI_H1_END;
    return AGENT_OK;
}
static int agenti_h1_size(agent_http *h, char b)             /* a byte in a chunk's size: the next state, or BROKEN     */
{
    int d = agenti_h1_hex(b), first = h->state == AGENTI_H1_SIZE_FIRST;
    if (d >= 0) {
        if (first) h->left = 0;
        if (h->left > (uint64_t)-1 / 16) { h->error = "a chunk size over 64 bits"; return AGENTI_H1_BROKEN; }
        h->left = h->left * 16 + (uint64_t)d;
        return AGENTI_H1_SIZE;
    }
    if (!first && b == '\r') return AGENTI_H1_SIZE_LF;
    if (!first && b == ';') return AGENTI_H1_EXT_FIRST;
    h->error = "a chunk size that is no hexadecimal number";
    return AGENTI_H1_BROKEN;
}
/* A byte in a chunk extension: name, or name=token, or name="quoted"; several behind each other.                      */
static int agenti_h1_extension(agent_http *h, char b)
{
    int s = h->state, token = agenti_h1_is_token(b);
    if (s == AGENTI_H1_QUOTED && b == '"') return AGENTI_H1_AFTER_QUOTE;
    if (s == AGENTI_H1_QUOTED && b == '\\') return AGENTI_H1_ESCAPED;
    if ((s == AGENTI_H1_QUOTED || s == AGENTI_H1_ESCAPED) && agenti_h1_is_field(b)) return AGENTI_H1_QUOTED;
    if ((s == AGENTI_H1_EXT_FIRST || s == AGENTI_H1_EXT) && token) return AGENTI_H1_EXT;
    if ((s == AGENTI_H1_VALUE_FIRST || s == AGENTI_H1_VALUE) && token) return AGENTI_H1_VALUE;
    if (s == AGENTI_H1_EXT && b == '=') return AGENTI_H1_VALUE_FIRST;
    if (s == AGENTI_H1_VALUE_FIRST && b == '"') return AGENTI_H1_QUOTED;
    if (s == AGENTI_H1_EXT || s == AGENTI_H1_VALUE || s == AGENTI_H1_AFTER_QUOTE) {
        if (b == ';') return AGENTI_H1_EXT_FIRST;
        if (b == '\r') return AGENTI_H1_SIZE_LF;
    }
    h->error = "a chunk extension that is not well-formed";
    return AGENTI_H1_BROKEN;
}
/* Framing may not outweigh the body for long: each chunk allows some bytes around it.                                 */
static int agenti_h1_sized(agent_http *h)
{
    uint32_t allowed = h->left > AGENTI_H1_EXTRA_MAX ? (uint32_t)AGENTI_H1_EXTRA_MAX : 16 + 2 * (uint32_t)h->left;
    h->extra = h->extra > allowed ? h->extra - allowed : 0;
    return h->left ? AGENTI_H1_DATA : AGENTI_H1_TRAILER;
}
static int agenti_h1_chunk_byte(agent_http *h, char b)
{
    int s = h->state;
    if (s == AGENTI_H1_DATA_CR && b == '\r') return AGENTI_H1_DATA_LF;
    if (s == AGENTI_H1_DATA_LF && b == '\n') return AGENTI_H1_SIZE_FIRST;
    h->error = "a chunk's data does not end in CRLF";
    if (s == AGENTI_H1_DATA_CR || s == AGENTI_H1_DATA_LF) return AGENTI_H1_BROKEN;
    h->error = "a chunk size line does not end in CRLF";
    if (s == AGENTI_H1_SIZE_LF) return b == '\n' ? agenti_h1_sized(h) : AGENTI_H1_BROKEN;
    h->error = "chunk sizes and extensions too long for the data";
    if (++h->extra > AGENTI_H1_EXTRA_MAX) return AGENTI_H1_BROKEN;
    return s == AGENTI_H1_SIZE_FIRST || s == AGENTI_H1_SIZE ? agenti_h1_size(h, b) : agenti_h1_extension(h, b);
}
/* The commonest bytes between the data of two chunks, whole in the input: a size without extensions. 0: not such, nothing changed. */
static int agenti_h1_plain_size(agent_http *h, agenti_h1_in *c)
{
    enum { MOST = 7 };                       /* digits                                                                  */
    const char *p = c->p;
    size_t i = h->state == AGENTI_H1_DATA_CR ? 2 : 0, first = i;
    uint32_t v = 0;
    int d;
    if (c->n < MOST + 4 || (i && (p[0] != '\r' || p[1] != '\n'))) return 0;
    for (; i < first + MOST && (d = agenti_h1_hex(p[i])) >= 0; i++) v = v * 16 + (uint32_t)d;
    if (i == first || p[i] != '\r' || p[i + 1] != '\n' || h->extra > AGENTI_H1_EXTRA_MAX - (MOST + 1)) return 0;
    h->extra += (uint32_t)(i - first) + 1;
    h->left = v;
    h->state = (uint8_t)agenti_h1_sized(h);
    AGENTI_TOUCH(i + 2);
    agenti_h1_used(h, c, i + 2);
    return 1;
}
static int agenti_h1_chunk(agent_http *h, agenti_h1_in *c)   /* all between the data of two chunks                      */
{
    int s = h->state;
    size_t i;
    if ((s == AGENTI_H1_DATA_CR || s == AGENTI_H1_SIZE_FIRST) && agenti_h1_plain_size(h, c)) return AGENTI_H1_GO;
    for (i = 0; i < c->n && s != AGENTI_H1_DATA && s != AGENTI_H1_TRAILER; i++) {
        s = agenti_h1_chunk_byte(h, c->p[i]);
        if (s == AGENTI_H1_BROKEN) break;
        h->state = (uint8_t)s;
    }
    AGENTI_TOUCH(i);
    agenti_h1_used(h, c, i);
    if (s == AGENTI_H1_BROKEN) return agenti_h1_fail(h, h->error, 0);
    h->error = NULL;
    return AGENTI_H1_GO;
}

AGENTI_FN size_t agenti_http_run(agent_http *h, const char *p, size_t n, size_t *body)
{
    agenti_h1_in c;
    size_t k;
    c.p = p;
    c.n = n;
    *body = 0;
    if (h->state == AGENTI_H1_DATA_CR || h->state == AGENTI_H1_SIZE_FIRST) (void)agenti_h1_plain_size(h, &c);
    if (h->state != AGENTI_H1_DATA || c.n == 0) return n - c.n;
    k = c.n < h->left ? c.n : (size_t)h->left;
    *body = k;
    agenti_h1_used(h, &c, k);
    h->left -= k;
    if (h->left == 0) h->state = AGENTI_H1_DATA_CR;
    return n - c.n;
}

/* ---- the reader ---- */
static int agenti_h1_end(agent_http *h, agent_http_event *out)
{
    h->reason_len = 0;
    agenti_h1_event(h, AGENT_HTTP_END, out);
    h->state = h->keep_alive ? AGENTI_H1_START : AGENTI_H1_CLOSED;
    agenti_h1_block(h);
    return AGENT_OK;
}
static int agenti_h1_step(agent_http *h, agenti_h1_in *c, agent_http_event *out)
{
    int s = h->state;
    if (s == AGENTI_H1_BROKEN) return AGENT_E_SYNTAX;
    if (s == AGENTI_H1_END) return agenti_h1_end(h, out);
    if (c->n == 0) return AGENT_MORE;
    if (s == AGENTI_H1_START || s == AGENTI_H1_START_LF) return agenti_h1_start(h, c);
    if (s == AGENTI_H1_STATUS || s == AGENTI_H1_HEADER || s == AGENTI_H1_TRAILER) return agenti_h1_line(h, c, out);
    if (s == AGENTI_H1_BODY || s == AGENTI_H1_DATA) return agenti_h1_body(h, c, out);
    if (s == AGENTI_H1_CLOSED) return agenti_h1_fail(h, "bytes behind an answer that ends the connection", 0);
    return agenti_h1_chunk(h, c);
}
AGENTDEF int agent_http_next(agent_http *h, const char *in, size_t n, size_t *used, agent_http_event *out)
{
    agenti_h1_in c;
    int rc;
    c.p = in;
    c.n = n;
    memset(out, 0, sizeof *out);
    do rc = agenti_h1_step(h, &c, out); while (rc == AGENTI_H1_GO);
    *used = n - c.n;
    return rc;
}
AGENTDEF int agent_http_eof(agent_http *h, agent_http_event *out)
{
    int s = h->state;
    memset(out, 0, sizeof *out);
    if (s == AGENTI_H1_BROKEN) return AGENT_E_SYNTAX;
    if (s == AGENTI_H1_END || (s == AGENTI_H1_BODY && h->framing == AGENT_HTTP_UNTIL_CLOSE)) {
        h->keep_alive = 0;
        return agenti_h1_end(h, out);
    }
    if (s == AGENTI_H1_CLOSED || (s <= AGENTI_H1_STATUS && h->len == 0 && h->interim == 0)) return AGENT_MORE;
    if (s <= AGENTI_H1_HEADER) return agenti_h1_fail(h, "the connection ended in the head", 0);
    return agenti_h1_fail(h, "the connection ended in the body", 0);
}

/* ---- header lines ---- */
AGENTDEF int agent_http_header(agent_str headers, const char *name, agent_str *value)
{
    const char *p = headers.p, *end = p ? p + headers.n : p;
    *value = agenti_str(NULL, 0);
    while (p != end) {
        const char *lf = (const char *)memchr(p, '\n', (size_t)(end - p)), *stop = lf ? lf : end;
        const char *colon = stop > p ? (const char *)memchr(p, ':', (size_t)(stop - p)) : NULL;
        if (colon && agenti_ieq(agenti_str(p, (size_t)(colon - p)), name)) {
            if (stop[-1] == '\r') stop--;                    /* a block that a host wrote                               */
            *value = agenti_h1_trim(colon + 1, (size_t)(stop - colon) - 1);
            return 1;
        }
        p = lf ? lf + 1 : end;
    }
    return 0;
}
AGENTDEF size_t agent_http_write_header(const char *name, const char *value, char *buf, size_t cap)
{
    size_t n = strlen(name), v = strlen(value), all = n + v + 4, i;
    if (!agenti_http_token(name, n)) return 0;
    for (i = 0; i < v; i++) if (!agenti_h1_is_field(value[i])) return 0;
    if (all > cap) return all;
    memcpy(buf, name, n);
    memcpy(buf + n, ": ", 2);
    memcpy(buf + n + 2, value, v);
    memcpy(buf + n + 2 + v, "\r\n", 2);
    if (all < cap) buf[all] = 0;
    return all;
}
#endif

/* ==== sse.c: server-sent events =================================================================================== */
/* Server-sent events, WHATWG HTML 9.2.5-9.2.6, over any cut of the bytes.
 * buf holds four regions one behind the other: last id, event type, data, and the line that the input broke off in. The first
 * two have room of their own (cap >= len), so that setting them again moves nothing: hostile input stays linear.
 * Within one call the type and the data line of an event are views into the input; they are copied only when the call ends
 * before the event does, or when more data comes. All or nothing: when buf is too small, the call goes back to the last
 * place in the input that all state before it is safe in buf. */
AGENTI_FN int agenti_sse_fresh(const agent_sse *);           /* nothing of an event was read: all its state is in s->cr, but an id */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_SSE
enum { AGENTI_SSE_FIELD_MOST = 8192 };       /* of AGENT_SSE_BOUNDED                                                    */
enum { AGENTI_SSE_DATA = 1, AGENTI_SSE_ERROR = 2 };          /* what the event has so far: in buf (state) or as a view  */
typedef struct agenti_sse_call {         /* one call: the input, and what is not in buf yet                             */
    const char *in;
    size_t safe;                         /* all before this is safe                                                     */
    agent_str type, data;
    uint8_t has_type, has;               /* AGENTI_SSE_ bits                                                            */
} agenti_sse_call;
typedef struct agenti_sse_line { agent_str name, value; int in_buf; } agenti_sse_line;

AGENTDEF void agent_sse_init(agent_sse *s, void *buf, size_t cap, uint32_t flags)
{
    memset(s, 0, sizeof *s);
    s->buf = (char *)buf;
    s->cap = buf ? cap : 0;
    s->flags = flags;
}

/* ---- finding line ends ---- */
static size_t agenti_sse_either(const char *p, size_t n)     /* the first LF or CR, or n                                */
{
    const uint64_t ones = (uint64_t)-1 / 255, high = ones * 128;
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        uint64_t w, lf, cr;
        memcpy(&w, p + i, 8);
        lf = w ^ ones * '\n';
        cr = w ^ ones * '\r';
        if (((lf - ones) & ~lf & high) | ((cr - ones) & ~cr & high)) break;
    }
    while (i < n && p[i] != '\n' && p[i] != '\r') i++;
    return i;
}
/* memchr is the fastest, but twice over the same bytes; a stream with CRs that no LF follows could make it look at the same
 * far LF for each line, so such a stream is read by words.                                                            */
static size_t agenti_sse_line_end(agent_sse *s, const char *p, size_t n)
{
    const char *lf, *cr;
    size_t len;
    if (p[0] == '\n' || p[0] == '\r') return 0;
    if (s->lone_cr) {
        len = agenti_sse_either(p, n);
        AGENTI_TOUCH(len);
        return len;
    }
    lf = (const char *)memchr(p, '\n', n);
    len = lf ? (size_t)(lf - p) : n;
    AGENTI_TOUCH(2 * len);
    cr = (const char *)memchr(p, '\r', len);
    if (cr && (size_t)(cr - p) + 1 < n && cr[1] != '\n') s->lone_cr = 1;
    return cr ? (size_t)(cr - p) : len;
}

/* ---- keeping in buf ---- */
enum { AGENTI_SSE_ID, AGENTI_SSE_TYPE };
static size_t agenti_sse_data_at(const agent_sse *s) { return s->id_cap + s->type_cap; }
/* How much a region has to grow to hold n bytes: in steps that double when something would have to move.              */
static size_t agenti_sse_growth(const agent_sse *s, int which, size_t n)
{
    size_t cap = which == AGENTI_SSE_ID ? s->id_cap : s->type_cap;
    size_t behind = s->data_len + (which == AGENTI_SSE_ID ? s->type_cap : 0);
    if (n <= cap) return 0;
    return behind && n < 2 * cap ? cap : n - cap;
}
static int agenti_sse_keep(agent_sse *s, int which, agent_str v, int in_buf)   /* 0: no room, nothing changed           */
{
    size_t at = which == AGENTI_SSE_ID ? 0 : s->id_cap, grow = agenti_sse_growth(s, which, v.n);
    size_t *cap = which == AGENTI_SSE_ID ? &s->id_cap : &s->type_cap;
    if (grow > s->cap - s->len) return 0;
    if (grow) {
        char *from = s->buf + at + *cap;
        memmove(from + grow, from, s->len - at - *cap);
        AGENTI_TOUCH(s->len - at - *cap);
        if (in_buf) v.p += grow;
        s->len += grow;
        *cap += grow;
    }
    if (v.n) memcpy(s->buf + at, v.p, v.n);
    AGENTI_TOUCH(v.n);
    if (which == AGENTI_SSE_ID) s->id_len = v.n;
    else s->type_len = v.n;
    return 1;
}
static void agenti_sse_add(agent_sse *s, agent_str v)        /* one more line of data; there is room, v is not in buf   */
{
    char *to = s->buf + s->len;
    size_t sep = s->state & AGENTI_SSE_DATA ? 1 : 0;
    if (sep) *to = '\n';
    if (v.n) memcpy(to + sep, v.p, v.n);
    AGENTI_TOUCH(v.n);
    s->data_len += sep + v.n;
    s->len += sep + v.n;
    s->state |= AGENTI_SSE_DATA;
}
/* Moves the views into buf and leaves room for `more`. 0: no room, nothing changed.                                   */
static int agenti_sse_spill(agent_sse *s, agenti_sse_call *c, size_t more)
{
    size_t need = more + (c->has & AGENTI_SSE_DATA ? c->data.n + 1 : 0);     /* all lie in the input: no overflow       */
    size_t grow = c->has_type ? agenti_sse_growth(s, AGENTI_SSE_TYPE, c->type.n) : 0, room = s->cap - s->len;
    if (grow > room || need > room - grow) return 0;
    if (c->has_type) (void)agenti_sse_keep(s, AGENTI_SSE_TYPE, c->type, 0);
    if (c->has & AGENTI_SSE_DATA) agenti_sse_add(s, c->data);
    s->state |= c->has;
    c->has_type = c->has = 0;
    return 1;
}
/* The line in buf is data: it closes up with the data before it. Its name was longer than the separator.              */
static void agenti_sse_close_up(agent_sse *s, agent_str v)
{
    char *to = s->buf + agenti_sse_data_at(s) + s->data_len;
    size_t sep = s->state & AGENTI_SSE_DATA ? 1 : 0;
    memmove(to + sep, v.p, v.n);
    AGENTI_TOUCH(v.n);
    if (sep) *to = '\n';
    s->data_len += sep + v.n;
    s->state |= AGENTI_SSE_DATA;
}

/* ---- fields ---- */
static agenti_sse_line agenti_sse_split(const char *p, size_t n, int in_buf)
{
    agenti_sse_line l;
    const char *colon = (const char *)memchr(p, ':', n);     /* names are short: this stops early or at the line's end  */
    size_t k = colon ? (size_t)(colon - p) : n;
    l.name = agenti_str(p, k);
    if (colon) k++;
    if (colon && k < n && p[k] == ' ') k++;
    l.value = agenti_str(p + k, n - k);
    l.in_buf = in_buf;
    return l;
}
static int agenti_sse_too_long(const agent_sse *s, size_t value_n) { return (s->flags & AGENT_SSE_BOUNDED) && value_n > AGENTI_SSE_FIELD_MOST; }
static int agenti_sse_is_data(const agent_sse *s, const agenti_sse_line *l, int *error)
{
    *error = 0;
    if (agenti_eq(l->name, "data")) return 1;
    *error = (s->flags & AGENT_SSE_ERROR_FIELD) && l->value.n && l->value.p[0] == '{' && agenti_eq(l->name, "error")
        && !agenti_sse_too_long(s, l->value.n);
    return *error;
}
/* Whether the beginning of a line can become a field that matters: else its rest needs no room.                       */
static int agenti_sse_matters(const agent_sse *s, const char *p, size_t n)
{
    static const char *const names[] = { "data:", "event:", "id:", "error:" };
    size_t i, k, len, count = s->flags & AGENT_SSE_ERROR_FIELD ? 4 : 3;
    for (i = 0; i < count; i++) {
        if (i == 2 && (s->flags & AGENT_SSE_BOUNDED)) continue;
        len = strlen(names[i]);
        k = n < len ? n : len;
        if (memcmp(p, names[i], k) == 0) return 1;
    }
    return 0;
}
static int agenti_sse_data(agent_sse *s, agenti_sse_call *c, const agenti_sse_line *l, int error)
{
    if (l->in_buf) agenti_sse_close_up(s, l->value);
    else if ((s->state | c->has) & AGENTI_SSE_DATA) {
        if (!agenti_sse_spill(s, c, l->value.n + 1)) return 0;
        agenti_sse_add(s, l->value);
    } else {
        c->data = l->value;
        c->has |= AGENTI_SSE_DATA;
        if (error) c->has |= AGENTI_SSE_ERROR;
        return 1;
    }
    if (error) s->state |= AGENTI_SSE_ERROR;
    return 1;
}
static int agenti_sse_field(agent_sse *s, agenti_sse_call *c, const agenti_sse_line *l)      /* 0: no room              */
{
    int error;
    if (agenti_sse_is_data(s, l, &error)) return agenti_sse_data(s, c, l, error);
    if (agenti_sse_too_long(s, l->value.n)) return 1;
    if (agenti_eq(l->name, "event")) {
        if (l->in_buf) return agenti_sse_keep(s, AGENTI_SSE_TYPE, l->value, 1);
        c->type = l->value;
        c->has_type = 1;
    } else if (!(s->flags & AGENT_SSE_BOUNDED) && agenti_eq(l->name, "id") && (l->value.n == 0 || memchr(l->value.p, 0, l->value.n) == NULL))
        return agenti_sse_keep(s, AGENTI_SSE_ID, l->value, l->in_buf);
    return 1;
}
/* The line in buf is complete. 0: no room.                                                                            */
static int agenti_sse_buffered(agent_sse *s, agenti_sse_call *c)
{
    agenti_sse_line l = agenti_sse_split(s->buf + s->len - s->line_len, s->line_len, 1);
    if (!agenti_sse_field(s, c, &l)) return 0;
    s->line_len = 0;
    s->len = agenti_sse_data_at(s) + s->data_len;
    return 1;
}
/* A line of n > 0 bytes, or the last n bytes of the line in buf. 0: no room.                                          */
static int agenti_sse_take(agent_sse *s, agenti_sse_call *c, size_t at, size_t n)
{
    agenti_sse_line l;
    if (s->line_len) {
        if (n > s->cap - s->len) return 0;
        if (n) memcpy(s->buf + s->len, c->in + at, n);
        AGENTI_TOUCH(n);
        s->len += n;
        s->line_len += n;
        c->safe = at + n;                                    /* a line end, or all of it again after E_FULL             */
        return agenti_sse_buffered(s, c);
    }
    l = agenti_sse_split(c->in + at, n, 0);
    return agenti_sse_field(s, c, &l);
}

/* ---- events ---- */
static void agenti_sse_forget(agent_sse *s)                  /* the event; the line in buf, too; not the id             */
{
    s->type_len = s->type_cap = s->data_len = s->line_len = 0;
    s->id_cap = s->len = s->id_len;
    s->state = 0;
    s->open = 0;
}
static int agenti_sse_blank(agent_sse *s, agenti_sse_call *c, agent_sse_event *out)  /* 1: an event                     */
{
    uint32_t all = s->state | c->has;
    int event = (all & AGENTI_SSE_DATA) != 0 && !s->skip;
    const char *buf = s->buf ? s->buf : "";
    if (event) {
        out->data = c->has & AGENTI_SSE_DATA ? c->data : agenti_str(buf + agenti_sse_data_at(s), s->data_len);
        out->event = c->has_type ? c->type : agenti_str(buf + s->id_cap, s->type_len);
        if (all & AGENTI_SSE_ERROR) out->event = agenti_cstr("error");
        else if (out->event.n == 0) out->event = agenti_cstr("message");
        out->id = agenti_str(buf, s->id_len);
    }
    agenti_sse_forget(s);
    c->has_type = c->has = 0;
    s->skip = 0;
    return event;
}

/* ---- the reader ---- */
static size_t agenti_sse_lead(agent_sse *s, const char *in, size_t n)        /* a BOM first of all, the LF of a CRLF    */
{
    static const char bom[] = "\xEF\xBB\xBF";
    size_t at = 0;
    for (; s->bom < 3 && at < n; at++) {
        if (in[at] == bom[s->bom]) { s->bom++; continue; }
        s->ignore = s->bom > 0;                              /* a line with half a BOM is no field                      */
        s->bom = 3;
        break;
    }
    if (s->cr && at < n) {
        if (in[at] == '\n') at++;
        s->cr = 0;
    }
    return at;
}
static int agenti_sse_stop(agent_sse *s, size_t at, size_t *used, int code)
{
    *used = at;
    s->offset += at;
    if (code == AGENT_E_FULL) s->open = 1;
    return code;
}
/* The input ends inside an event, in a line of which n bytes came. 0: no room.                                        */
static int agenti_sse_rest(agent_sse *s, agenti_sse_call *c, size_t at, size_t n)
{
    size_t len = s->line_len + n, i, k = 0;
    char head[8];                                            /* the line's beginning                                    */
    for (i = 0; i < 6 && i < len; i++)
        head[k++] = i < s->line_len ? s->buf[s->len - s->line_len + i] : c->in[at + i - s->line_len];
    if (len > 7 && memcmp(head, "data:", 5) != 0 && agenti_sse_too_long(s, len - 7)) k = 0;      /* it has no use any more */
    if (n && (s->ignore || s->skip || k == 0 || !agenti_sse_matters(s, head, k))) {
        if (!agenti_sse_spill(s, c, 0)) return 0;
        s->len -= s->line_len;
        s->line_len = 0;
        s->ignore = 1;
        return 1;
    }
    if (!agenti_sse_spill(s, c, n)) return 0;
    if (n) memcpy(s->buf + s->len, c->in + at, n);
    AGENTI_TOUCH(n);
    s->len += n;
    s->line_len += n;
    return 1;
}
/* The line from `at` on, n bytes without its end. OK: an event; MORE: go on; E_FULL.                                  */
static int agenti_sse_line_done(agent_sse *s, agenti_sse_call *c, size_t at, size_t n, agent_sse_event *out)
{
    if (n == 0 && s->line_len == 0 && !s->ignore) return agenti_sse_blank(s, c, out) ? AGENT_OK : AGENT_MORE;
    if (!s->ignore && !s->skip && !agenti_sse_take(s, c, at, n)) return AGENT_E_FULL;
    s->ignore = 0;
    s->open = 1;
    return AGENT_MORE;
}
AGENTI_FN int agenti_sse_fresh(const agent_sse *s) { return !(s->skip | s->ignore | s->open) && s->bom == 3 && s->len == s->id_cap; }
/* The commonest event, whole in the input: one data line, maybe a type before it, LFs. Its length, or 0: not such a one, nothing
 * changed; a stream with CRs is not tried again.                                                                      */
static size_t agenti_sse_quick(agent_sse *s, const char *in, size_t n, agent_sse_event *out)
{
    const char *p = in, *end, *lf;
    if (n < 8 || s->slow | s->cr || !agenti_sse_fresh(s)) return 0;
    end = in + n;
    out->event = agenti_str("message", 7);
    if (n > 16 && memcmp(p, "event: ", 7) == 0) {
        lf = (const char *)memchr(p, '\n', n);
        if (lf == NULL || lf == p + 7 || agenti_sse_too_long(s, (size_t)(lf - p) - 7)) return 0;
        out->event = agenti_str(p + 7, (size_t)(lf - p) - 7);
        p = lf + 1;
    }
    if (end - p < 8 || memcmp(p, "data: ", 6) != 0) return 0;
    lf = (const char *)memchr(p, '\n', (size_t)(end - p));
    AGENTI_TOUCH((size_t)((lf ? lf : end) - in));
    if (lf == NULL || end - lf < 2 || lf[1] != '\n') return 0;
    AGENTI_TOUCH((size_t)(lf - in));
    if (memchr(in, '\r', (size_t)(lf - in))) { s->slow = 1; return 0; }
    out->data = agenti_str(p + 6, (size_t)(lf - p) - 6);
    out->id = agenti_str(s->buf, s->id_len);
    return (size_t)(lf - in) + 2;
}
AGENTDEF int agent_sse_next(agent_sse *s, const char *in, size_t n, size_t *used, agent_sse_event *out)
{
    agenti_sse_call c;
    size_t at, len;
    int rc;
    at = agenti_sse_quick(s, in, n, out);
    if (at) {
        out->offset = s->offset + at;
        return agenti_sse_stop(s, at, used, AGENT_OK);
    }
    memset(&c, 0, sizeof c);
    memset(out, 0, sizeof *out);
    c.in = in;
    at = c.safe = agenti_sse_lead(s, in, n);
    while (at < n) {
        len = agenti_sse_line_end(s, in + at, n - at);
        if (len == n - at) break;
        rc = agenti_sse_line_done(s, &c, at, len, out);
        if (rc == AGENT_E_FULL) return agenti_sse_stop(s, c.safe, used, rc);
        at += len + 1;
        s->cr = in[at - 1] == '\r';
        if (rc == AGENT_OK) {
            out->offset = s->offset + at;
            return agenti_sse_stop(s, at, used, rc);
        }
        if (s->cr && at < n) {
            if (in[at] == '\n') at++;
            s->cr = 0;
        }
        if (!(c.has_type | c.has)) c.safe = at;
    }
    if (!agenti_sse_rest(s, &c, at, n - at)) return agenti_sse_stop(s, c.safe, used, AGENT_E_FULL);
    return agenti_sse_stop(s, n, used, AGENT_MORE);
}
/* The open line's value, if it is data and has any yet: its length.                                                    */
static size_t agenti_sse_open_value(const agent_sse *s)
{
    const char *line;
    if (s->line_len <= 6) return 0;
    line = s->buf + s->len - s->line_len;
    return memcmp(line, "data:", 5) == 0 ? s->line_len - (line[5] == ' ' ? 6 : 5) : 0;
}
AGENTDEF size_t agent_sse_pending(const agent_sse *s) { return s->skip ? 0 : s->data_len + agenti_sse_open_value(s); }
AGENTDEF size_t agent_sse_take(agent_sse *s, char *to)
{
    size_t value = agenti_sse_open_value(s), n;
    if (s->skip) return 0;
    if (value) {                             /* what comes goes on in this line, without a line feed before it         */
        agenti_sse_close_up(s, agenti_str(s->buf + s->len - value, value));
        s->state &= (uint8_t)~AGENTI_SSE_DATA;
    }
    n = s->data_len;
    if (n) memcpy(to, s->buf + agenti_sse_data_at(s), n);
    AGENTI_TOUCH(n);
    if (value) memcpy(s->buf + agenti_sse_data_at(s), "data: ", 6);
    else memmove(s->buf + agenti_sse_data_at(s), s->buf + s->len - s->line_len, s->line_len);
    s->line_len = value ? 6 : s->line_len;
    s->data_len = 0;
    s->len = agenti_sse_data_at(s) + s->line_len;
    s->open = 1;
    return n;
}
AGENTDEF void agent_sse_skip(agent_sse *s)
{
    if (!s->open && s->len == s->id_cap && !s->ignore) return;
    if (s->line_len) s->ignore = 1;
    agenti_sse_forget(s);
    s->skip = 1;
}
AGENTDEF int agent_sse_end(agent_sse *s, agent_sse_event *out)
{
    agenti_sse_call c;
    memset(&c, 0, sizeof c);
    memset(out, 0, sizeof *out);
    if (s->line_len && !s->skip && !agenti_sse_buffered(s, &c)) return AGENT_E_FULL;
    s->ignore = 0;
    if (!agenti_sse_blank(s, &c, out)) return AGENT_MORE;
    out->offset = s->offset;
    return AGENT_OK;
}
#endif

/* ==== lines.c: lines (NDJSON) ===================================================================================== */
/* Lines: in place where a line lies whole in the input, through the buffer where it straddles calls. */
#if !defined AGENTI_SPLIT || defined AGENTI_PART_LINES
enum { AGENTI_LINES_READING = 1, AGENTI_LINES_DROPPING = 2 };            /* agent_lines.skip                            */

AGENTDEF void agent_lines_init(agent_lines *l, void *buf, size_t cap)
{
    memset(l, 0, sizeof *l);
    l->buf = (char *)buf;
    l->cap = buf ? cap : 0;
    l->fresh = 1;
}
/* What is left of a line without CR and, at the very start of the stream, without BOM. */
static agent_str agenti_lines_trim(agent_lines *l, const char *p, size_t n)
{
    if (l->fresh && n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) { p += 3; n -= 3; }
    l->fresh = 0;
    if (n && p[n - 1] == '\r') n--;
    return agenti_str(p, n);
}
static int agenti_lines_keep(agent_lines *l, const char *p, size_t n)    /* 0: buf is too small, nothing changed        */
{
    l->skip = AGENTI_LINES_READING;
    if (n > l->cap - l->len) return 0;
    if (n) memcpy(l->buf + l->len, p, n);
    AGENTI_TOUCH(n);
    l->len += n;
    return 1;
}
static int agenti_lines_rest(agent_lines *l, const char *in, size_t n, size_t *used)    /* the input ends in a line     */
{
    if (n && l->skip != AGENTI_LINES_DROPPING && !agenti_lines_keep(l, in, n)) return AGENT_E_FULL;
    *used += n;
    l->offset += n;
    return AGENT_MORE;
}
AGENTDEF int agent_lines_next(agent_lines *l, const char *in, size_t n, size_t *used, agent_str *line)
{
    const char *lf;
    size_t len;
    *used = 0;
    *line = agenti_str(NULL, 0);
    while (*used < n) {
        const char *p = in + *used;
        lf = (const char *)memchr(p, '\n', n - *used);
        len = lf ? (size_t)(lf - p) : n - *used;
        AGENTI_TOUCH(len);
        if (lf == NULL) return agenti_lines_rest(l, p, len, used);
        if (l->skip == AGENTI_LINES_DROPPING) l->fresh = 0;
        else if (l->len == 0) *line = agenti_lines_trim(l, p, len);
        else if (!agenti_lines_keep(l, p, len)) return AGENT_E_FULL;
        else *line = agenti_lines_trim(l, l->buf, l->len);
        l->len = 0;
        l->skip = 0;
        *used += len + 1;
        l->offset += len + 1;
        if (line->n) return AGENT_OK;
    }
    return AGENT_MORE;
}
AGENTDEF void agent_lines_skip(agent_lines *l)
{
    l->len = 0;
    if (l->skip) l->skip = AGENTI_LINES_DROPPING;
}
AGENTDEF int agent_lines_end(agent_lines *l, agent_str *line)
{
    *line = agenti_str(NULL, 0);
    if (l->len) *line = agenti_lines_trim(l, l->buf, l->len);
    l->len = 0;
    l->skip = 0;
    return line->n ? AGENT_OK : AGENT_MORE;
}
#endif

/* ==== json_values.c: the values of an array that is still coming ================================================== */
/* JSON values out of one array that is still coming, told apart by their brackets and strings alone: what they hold is checked later. */
typedef struct agenti_values { uint32_t depth; uint8_t in_string, escaped, begun, plain; } agenti_values;   /* begun: in a value; plain: a number or word */
/* Reads on. 1: a value ends after *used bytes, which begin in it or before it; 0: all of it is used. *from: where the value, or what
 * there is of it, begins.                                                                                               */
AGENTI_FN int agenti_values_next(agenti_values *, const char *p, size_t n, size_t *used, size_t *from);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_JSON_VALUES
/* depth 0: before the array; 1: between its values, or in one that is no object, array or string.                      */
static int agenti_values_char(agenti_values *v, char c)      /* 1: the value is complete with it                        */
{
    if (v->in_string) {
        if (v->escaped) v->escaped = 0;
        else if (c == '\\') v->escaped = 1;
        else if (c == '"') { v->in_string = 0; return v->depth == 1; }
        return 0;
    }
    if (c == '"') v->in_string = 1;
    else if (c == '{' || c == '[') v->depth++;
    else if ((c == '}' || c == ']') && v->depth > 1) return --v->depth == 1;
    return 0;
}
AGENTI_FN int agenti_values_next(agenti_values *v, const char *p, size_t n, size_t *used, size_t *from)
{
    size_t i;
    *from = v->begun ? 0 : n;
    for (i = 0; i < n; i++) {
        char c = p[i];
        if (!v->begun) {
            if (v->depth == 0) { v->depth = c == '['; continue; }
            if (c == ',' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
            v->begun = 1;
            v->plain = c != '{' && c != '[' && c != '"';
            *from = i;
        } else if (v->plain && (c == ',' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
            v->begun = 0;
            *used = i;
            AGENTI_TOUCH(i);
            return 1;
        }
        if (!agenti_values_char(v, c)) continue;
        v->begun = 0;
        *used = i + 1;
        AGENTI_TOUCH(i);
        return 1;
    }
    AGENTI_TOUCH(n);
    *used = n;
    return 0;
}
#endif

/* ==== eventstream.c: AWS event stream frames ====================================================================== */
/* AWS event stream frames (application/vnd.amazon.eventstream): lengths, headers, payload, two CRC-32 checksums.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html */
enum { AGENTI_FRAME_PRELUDE = 12, AGENTI_FRAME_MIN = 16 };
typedef struct agenti_frame {                 /* views                                                                  */
    agent_str kind;                           /* :message-type: event, exception, error                                 */
    agent_str type;                           /* :event-type, :exception-type or :error-code                            */
    agent_str payload;                        /* of an error its :error-message, if it has no payload                   */
} agenti_frame;
AGENTI_FN uint32_t agenti_crc32(const char *p, size_t n);
/* The length of the frame that begins with these 12 bytes; 0: *why is wrong with them.                                 */
AGENTI_FN uint32_t agenti_frame_size(const char *prelude, const char **why);
/* Takes a whole frame apart. 0: *why is wrong with it.                                                                 */
AGENTI_FN int agenti_frame_parse(agent_str frame, agenti_frame *out, const char **why);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_EVENTSTREAM
AGENTI_FN uint32_t agenti_crc32(const char *p, size_t n)     /* ISO-HDLC, as in gzip; four bits at a time               */
{
    static const uint32_t rows[16] = {
        0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u, 0x4DB26158u, 0x5005713Cu,
        0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu, 0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu
    };
    uint32_t c = 0xFFFFFFFFu;
    size_t i;
    for (i = 0; i < n; i++) {
        c ^= (unsigned char)p[i];
        c = c >> 4 ^ rows[c & 15];
        c = c >> 4 ^ rows[c & 15];
    }
    AGENTI_TOUCH(n);
    return c ^ 0xFFFFFFFFu;
}
static uint32_t agenti_be32(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}
AGENTI_FN uint32_t agenti_frame_size(const char *p, const char **why)
{
    uint32_t all = agenti_be32(p), headers = agenti_be32(p + 4);
    *why = "an event stream frame's prelude does not match its checksum";
    if (agenti_crc32(p, 8) != agenti_be32(p + 8)) return 0;
    *why = "an event stream frame is too short for its headers";
    return all < AGENTI_FRAME_MIN || headers > all - AGENTI_FRAME_MIN ? 0 : all;
}
/* The next header of s: its name and, for strings and bytes, its value. 0: it does not fit.                            */
static int agenti_frame_header(agent_str *s, agent_str *name, agent_str *value)
{
    static const uint8_t sizes[10] = { 0, 0, 1, 2, 4, 8, 0, 0, 8, 16 };        /* by type; 6 and 7 tell their own       */
    size_t n = (unsigned char)s->p[0], size;
    int type;
    if (n == 0 || s->n < n + 2) return 0;
    *name = agenti_str(s->p + 1, n);
    type = (unsigned char)s->p[n + 1];
    *s = agenti_str(s->p + n + 2, s->n - n - 2);
    *value = agenti_str(NULL, 0);
    if (type > 9) return 0;
    size = sizes[type];
    if (type == 6 || type == 7) {
        if (s->n < 2) return 0;
        size = (size_t)(unsigned char)s->p[0] << 8 | (unsigned char)s->p[1];
        *s = agenti_str(s->p + 2, s->n - 2);
        if (s->n >= size) *value = agenti_str(s->p, size);
    }
    if (s->n < size) return 0;
    *s = agenti_str(s->p + size, s->n - size);
    return 1;
}
AGENTI_FN int agenti_frame_parse(agent_str f, agenti_frame *out, const char **why)
{
    size_t headers;
    agent_str rest, name, value, message = agenti_str(NULL, 0);
    out->type = out->kind = out->payload = message;
    *why = "an event stream frame does not match its checksum";
    if (agenti_crc32(f.p, f.n - 4) != agenti_be32(f.p + f.n - 4)) return 0;
    headers = agenti_be32(f.p + 4);
    rest = agenti_str(f.p + AGENTI_FRAME_PRELUDE, headers);
    *why = "an event stream frame has a broken header";
    while (rest.n) {
        if (!agenti_frame_header(&rest, &name, &value)) return 0;
        if (agenti_eq(name, ":message-type")) out->kind = value;
        else if (agenti_eq(name, ":event-type") || agenti_eq(name, ":exception-type") || agenti_eq(name, ":error-code")) out->type = value;
        else if (agenti_eq(name, ":error-message")) message = value;
    }
    out->payload = agenti_str(f.p + AGENTI_FRAME_PRELUDE + headers, f.n - AGENTI_FRAME_MIN - headers);
    if (out->payload.n == 0) out->payload = message;
    return 1;
}
#endif

/* ==== message.c: the message table: texts, parts, messages ======================================================== */
/* The message table: what the model is shown. A part holds its text once, as clean UTF-8; events and the host view it there. */
typedef struct agenti_text { char *p; size_t n; int borrowed; } agenti_text;   /* NUL-terminated blob, or a static string */

enum agenti_call_state {                 /* of a RESULT part: how far its call is                                       */
    AGENTI_CALL_NEW, AGENTI_CALL_WAITING, AGENTI_CALL_RUNNING, AGENTI_CALL_DONE, AGENTI_CALL_SETTLED
};
typedef struct agenti_part {
    uint16_t kind, flags;                /* agent_part's                                                                */
    agent_num id, call, need;
    agenti_text text, name, wire_id, title;
    agenti_text data;                    /* what the provider wants back with it, as it came: a signature               */
    agenti_text mime, uri;               /* of IMAGE, AUDIO, FILE                                                       */
    agenti_text more, inner;             /* of an import: JSON members that no field holds, of the block and of the object in it */
    size_t shown;                        /* bytes of text that deltas have shown                                        */
    uint32_t key;                        /* RESULT: index of its CALL in the message before. OTHER: next of agenti_msg.waits */
    uint32_t tool, order;                /* RESULT: index of the tool; when it was done                                 */
    uint8_t started, called;             /* INPUT_START, TOOL_CALL was shown                                            */
    uint8_t looked;                      /* TEXT: for marks that do not belong there                                    */
    uint8_t state, status, retitled, cancelled;   /* RESULT                                                             */
} agenti_part;
enum { AGENTI_PART_RESENT = 0x100,          /* in flags: the host resends arguments from the start                          */
       AGENTI_PART_APART = 0x200,           /* wire_id is the provider's id, `_` and a number: another call had it before   */
       AGENTI_PART_CONTENT = 0x400,         /* more has the content as well, in the import's own form                       */
       AGENTI_MSG_CONTENT = 0x20,           /* in agenti_msg.flags: the same of a message                                   */
       AGENTI_MSG_DEVELOPER = 0x80 };       /* beside AGENT_MSG_SYSTEM: its role was developer                              */
typedef struct agenti_msg {
    const void *wire;                    /* the wire format that `more` and `inner` are of; NULL: no import             */
    agenti_text more;                    /* of an import: JSON members that no field holds                              */
    agenti_text answer_id;               /* of the model: the provider keeps it under this id, all of it                */
    agent_num id, run;
    uint8_t role, flags, ended;
    uint32_t model;                      /* which of the session's models made it                                       */
    uint32_t waits;                      /* 1 + index of the last call that the provider runs and that has no result; 0: none */
    uint32_t n, cap;
    agenti_part *parts;
} agenti_msg;
typedef struct agenti_table { agenti_pool *pool; agenti_msg **msgs; size_t n, cap; } agenti_table;
typedef struct agenti_nums { agent_num run, step, msg, part, call, need; } agenti_nums;  /* the last one given out      */

AGENTI_FN int  agenti_text_set(agenti_text *, agenti_pool *, agenti_blob **graves, agent_str);    /* 0: refused, unchanged */
AGENTI_FN void agenti_text_static(agenti_text *, agenti_blob **graves, const char *);
AGENTI_FN int  agenti_text_add(agenti_text *, agenti_pool *, agenti_blob **graves, agent_str);    /* 0: refused, unchanged */
AGENTI_FN void agenti_text_free(agenti_text *, agenti_blob **graves);     /* graves NULL: at once                       */
AGENTI_FN agent_str agenti_text_view(const agenti_text *);
AGENTI_FN int  agenti_text_repair(agenti_text *, agenti_pool *, agenti_blob **graves);            /* valid UTF-8; 0: refused */
AGENTI_FN void agenti_text_scrub(agenti_text *);                          /* the same without memory: '?' for bad bytes   */
AGENTI_FN agenti_msg *agenti_msg_new(agenti_pool *, int role);
AGENTI_FN void agenti_msg_free(agenti_pool *, agenti_msg *, agenti_blob **graves);
AGENTI_FN agenti_part *agenti_part_new(agenti_pool *, agenti_msg *, int kind);                   /* moves the other parts */
AGENTI_FN int  agenti_table_room(agenti_table *, size_t more);            /* 0: refused                                 */
AGENTI_FN void agenti_table_add(agenti_table *, agenti_msg *);            /* after agenti_table_room                    */
AGENTI_FN void agenti_table_free(agenti_table *, agenti_blob **graves);
AGENTI_FN void agenti_part_view(const agenti_part *, agent_part *out);
AGENTI_FN agent_str agenti_wire_id(const agenti_part *);                 /* of a call or result, as the provider gave it   */
AGENTI_FN int  agenti_is_media(int kind);                                /* IMAGE, AUDIO, FILE                          */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_MESSAGE
AGENTI_FN void agenti_text_free(agenti_text *t, agenti_blob **graves)
{
    if (!t->borrowed) { if (graves) agenti_blob_bury(graves, t->p); else agenti_blob_put(t->p); }
    memset(t, 0, sizeof *t);
}
AGENTI_FN int agenti_text_set(agenti_text *t, agenti_pool *pool, agenti_blob **graves, agent_str s)
{
    size_t n;
    char *p;
    if (!agenti_add(s.n, 1, &n) || (p = agenti_blob_get(pool, n)) == NULL) return 0;
    memcpy(p, s.p, s.n);
    AGENTI_TOUCH(s.n);
    p[s.n] = 0;
    agenti_text_free(t, graves);
    t->p = p;
    t->n = s.n;
    return 1;
}
AGENTI_FN void agenti_text_static(agenti_text *t, agenti_blob **graves, const char *s)
{
    agenti_text_free(t, graves);
    t->p = (char *)(uintptr_t)s;
    t->n = strlen(s);
    t->borrowed = 1;
}
AGENTI_FN int agenti_text_add(agenti_text *t, agenti_pool *pool, agenti_blob **graves, agent_str s)
{
    size_t need, cap = t->borrowed ? 0 : agenti_blob_cap(t->p);
    char *p;
    if (!agenti_add(t->n, s.n, &need) || !agenti_add(need, 1, &need)) return 0;
    if (need > cap) {
        if (cap < 32) cap = 32;
        while (cap < need) cap = cap > (size_t)-1 / 2 ? need : cap * 2;
        p = agenti_blob_get(pool, cap);
        if (p == NULL && cap > need) p = agenti_blob_get(pool, need);
        if (p == NULL) return 0;
        if (t->n) memcpy(p, t->p, t->n);
        AGENTI_TOUCH(t->n);
        if (!t->borrowed) { if (graves) agenti_blob_bury(graves, t->p); else agenti_blob_put(t->p); }
        t->p = p;
        t->borrowed = 0;
    }
    memcpy(t->p + t->n, s.p, s.n);
    AGENTI_TOUCH(s.n);
    t->n += s.n;
    t->p[t->n] = 0;
    return 1;
}
AGENTI_FN agent_str agenti_text_view(const agenti_text *t) { return agenti_str(t->p, t->n); }
AGENTI_FN int agenti_text_repair(agenti_text *t, agenti_pool *pool, agenti_blob **graves)
{
    agenti_buf b;
    int ok;
    if (t->borrowed || agenti_utf8_valid(t->p ? t->p : "", t->n) == t->n) return 1;
    agenti_buf_init(&b, pool);
    ok = agenti_utf8_repair(&b, t->p, t->n) && agenti_text_set(t, pool, graves, agenti_str(b.p, b.n));
    agenti_buf_free(&b);
    return ok;
}
AGENTI_FN void agenti_text_scrub(agenti_text *t)
{
    size_t at = 0, k;
    if (t->borrowed || t->n == 0) return;
    while ((at += agenti_utf8_valid(t->p + at, t->n - at)) < t->n)
        for (k = agenti_utf8_bad(t->p + at, t->n - at); k > 0; k--) t->p[at++] = '?';
}
AGENTI_FN agenti_msg *agenti_msg_new(agenti_pool *pool, int role)
{
    agenti_msg *m = (agenti_msg *)agenti_get(pool, sizeof *m);
    if (m) m->role = (uint8_t)role;
    return m;
}
AGENTI_FN void agenti_msg_free(agenti_pool *pool, agenti_msg *m, agenti_blob **graves)
{
    uint32_t i;
    if (m == NULL) return;
    for (i = 0; i < m->n; i++) {
        agenti_part *p = &m->parts[i];
        agenti_text_free(&p->text, graves);
        agenti_text_free(&p->name, graves);
        agenti_text_free(&p->wire_id, graves);
        agenti_text_free(&p->title, graves);
        agenti_text_free(&p->data, graves);
        agenti_text_free(&p->mime, graves);
        agenti_text_free(&p->uri, graves);
        agenti_text_free(&p->more, graves);
        agenti_text_free(&p->inner, graves);
    }
    agenti_text_free(&m->more, graves);
    agenti_text_free(&m->answer_id, graves);
    agenti_put(pool, m->parts, m->cap * sizeof *m->parts);
    agenti_put(pool, m, sizeof *m);
}
AGENTI_FN agenti_part *agenti_part_new(agenti_pool *pool, agenti_msg *m, int kind)
{
    agenti_part *p;
    if (m->n == m->cap) {
        uint32_t cap = m->cap ? m->cap * 2 : 1;
        if (cap > 0x1000000u) return NULL;
        p = (agenti_part *)agenti_resize(pool, m->parts, m->cap * sizeof *p, cap * sizeof *p);
        if (p == NULL) return NULL;
        m->parts = p;
        m->cap = cap;
    }
    p = &m->parts[m->n++];
    memset(p, 0, sizeof *p);
    p->kind = (uint16_t)kind;
    return p;
}
AGENTI_FN int agenti_table_room(agenti_table *t, size_t more)
{
    size_t cap = t->cap ? t->cap : 4;
    agenti_msg **p;
    if (t->cap - t->n >= more) return 1;
    while (cap - t->n < more) cap *= 2;
    if (cap > (size_t)-1 / sizeof *p / 2) return 0;
    p = (agenti_msg **)agenti_resize(t->pool, t->msgs, t->cap * sizeof *p, cap * sizeof *p);
    if (p == NULL) return 0;
    t->msgs = p;
    t->cap = cap;
    return 1;
}
AGENTI_FN void agenti_table_add(agenti_table *t, agenti_msg *m) { t->msgs[t->n++] = m; }
AGENTI_FN void agenti_table_free(agenti_table *t, agenti_blob **graves)
{
    size_t i;
    for (i = 0; i < t->n; i++) agenti_msg_free(t->pool, t->msgs[i], graves);
    agenti_put(t->pool, t->msgs, t->cap * sizeof *t->msgs);
    t->msgs = NULL;
    t->n = t->cap = 0;
}
AGENTI_FN agent_str agenti_wire_id(const agenti_part *p)
{
    agent_str id = agenti_text_view(&p->wire_id);
    while ((p->flags & AGENTI_PART_APART) && id.n && id.p[id.n - 1] != '_') id.n--;
    if ((p->flags & AGENTI_PART_APART) && id.n) id.n--;
    return id;
}
AGENTI_FN int agenti_is_media(int kind) { return kind == AGENT_PART_IMAGE || kind == AGENT_PART_AUDIO || kind == AGENT_PART_FILE; }
AGENTI_FN void agenti_part_view(const agenti_part *p, agent_part *out)
{
    out->kind = p->kind;
    out->flags = (uint16_t)(p->flags & 0xFF);
    out->id = p->id;
    out->call = p->call;
    out->text = agenti_text_view(&p->text);
    out->name = agenti_text_view(&p->name);
    out->wire_id = agenti_text_view(&p->wire_id);
    out->data = agenti_text_view(&p->data);
    out->mime = agenti_text_view(&p->mime);
    out->uri = agenti_text_view(&p->uri);
}
#endif

/* ==== wire.c: what a wire format is: ops out of answers, the makings of a request ================================= */
/* What a wire format is to the rest: a few functions, the request they write and the answer they take apart.
 * A wire format turns payloads into ops; the answer part turns ops into events. It knows no session and no loop. */
enum { AGENTI_RAW_QUIET = 1,                 /* flags of RAW: another op says what the block is                         */
       AGENTI_DATA_CALL = 1,                  /* of DATA                                                                */
       AGENTI_ARGS_WHOLE = 1 };               /* of ARGS: all of them, what came before included                        */
enum agenti_op_kind {
    AGENTI_OP_TEXT, AGENTI_OP_REASONING,      /* a: clean UTF-8 to append to stream `key`                               */
    AGENTI_OP_END,                            /* stream `key` is over                                                   */
    AGENTI_OP_CALL,                           /* a tool call begins: a wire id (may be empty), b name (may come later)  */
    AGENTI_OP_NAME,                           /* b: the name of call `key`                                              */
    AGENTI_OP_ARGS,                           /* a: arguments of call `key`, appended (or resent from the start)        */
    AGENTI_OP_DATA,                           /* a: appended to what goes back with stream `key`, or call with AGENTI_DATA_CALL */
    AGENTI_OP_FILE,                           /* a: base64 to append to the file of stream `key`; flags: an agent_part_kind */
    AGENTI_OP_MIME, AGENTI_OP_URI,            /* a: what its FILE_START says, before any of its OP_FILE                 */
    AGENTI_OP_RAW,                            /* a: a block as JSON that goes back as it is, b: its type                */
    AGENTI_OP_RAN,                            /* the block before is a call that the provider runs: a wire id, b name, c input */
    AGENTI_OP_RESULT,                         /* the block before is the result of one: a wire id, c its content; flags: AGENT_PART_ERROR */
    AGENTI_OP_SOURCE,                         /* a: URL, b: title                                                       */
    AGENTI_OP_NEWS,                           /* a: JSON that is no part of the message, b: what it is                   */
    AGENTI_OP_MODELS,                         /* a: a list of models, JSON                                              */
    AGENTI_OP_WARNING                         /* a: text, static                                                        */
};
typedef struct agenti_op { uint8_t kind, flags; uint32_t key; agent_str a, b, c; } agenti_op;
typedef struct agenti_lane {                  /* what a wire format keeps of one stream of an answer: a call, a block     */
    agenti_text id;                           /* its id; or the block as it came                                        */
    agenti_text more;                         /* JSON that later pieces add to the block                                */
    int64_t index;
    uint32_t key;                             /* of its ops                                                             */
    uint8_t has_index, named, cited, kind;
    uint8_t call;                             /* its text is arguments of a call                                        */
    uint8_t whole;                            /* they came complete with its start                                      */
    uint16_t high;                            /* half of a surrogate pair, waiting for the next piece                   */
    int64_t sub;                              /* which part of it is open                                               */
} agenti_lane;

typedef struct agenti_fault {                 /* how an answer failed; fault NONE: it did not                           */
    int fault, http_status, retryable;
    int64_t retry_after_ms;                   /* -1: not told                                                           */
    uint64_t offset;                          /* in the bytes of the answer's body                                      */
    agenti_text code, text;                   /* the provider's own code; what and why                                  */
} agenti_fault;

struct agenti_wire;
struct agenti_import;
typedef struct agenti_decoder {               /* a wire format's view of an answer                                      */
    agenti_pool *pool;
    agenti_blob **graves;
    const struct agenti_wire *wire;
    uint32_t dialect, depth_limit, call_limit, item_limit;
    agenti_op *ops; uint32_t op_n, op_cap, op_at;
    agenti_arena arena;                       /* what ops point to and is not in the input                              */
    agenti_lane *lanes; uint32_t lane_n, lane_cap;
    uint32_t call_n, last_call;               /* calls in the answer; the lane of the last one                          */
    uint32_t stream, streams;                 /* key of the open text stream; keys given out (0: none)                  */
    uint8_t stream_kind;                      /* of the open stream                                                     */
    uint8_t stream_data; int64_t stream_index;       /* something goes back with it; the index that its host gave it    */
    uint8_t started, done, sourced;           /* the message began; its terminal signal came; sources were given        */
    uint8_t paused;                           /* the provider wants the same history again, to go on with it            */
    uint8_t partial;                          /* what is being read is a piece of a payload, and not its last           */
    int64_t past;                             /* parts of the answer with an index below it are over                    */
    uint32_t bad;                             /* payloads that are no JSON                                              */
    uint16_t high_text;                       /* the same of the open text stream                                       */
    int finish;                               /* AGENT_FINISH_NONE: not told                                            */
    char finish_raw[32];
    agent_usage usage; int has_usage;
    int64_t uncached;                         /* prompt tokens beside the cached ones, where a format tells them apart  */
    agenti_text id, model;                    /* the provider's id of the answer, and the model that gave it            */
    agenti_text request_id;                   /* its id of the request                                                  */
    agenti_fault fault;
} agenti_decoder;

enum { AGENTI_OPT_MODEL, AGENTI_OPT_SYSTEM, AGENTI_OPT_MAX_TOKENS, AGENTI_OPT_TEMPERATURE, AGENTI_OPT_TOP_P, AGENTI_OPT_SEED,
       AGENTI_OPT_FREQUENCY, AGENTI_OPT_PRESENCE, AGENTI_OPT_STOP, AGENTI_OPT_TOOL_CHOICE, AGENTI_OPT_PARALLEL,
       AGENTI_OPT_EFFORT, AGENTI_OPT_THINKING, AGENTI_OPT_CACHE, AGENTI_OPT_STATEFUL,
       AGENTI_OPT_FORMAT, AGENTI_OPT_TIER, AGENTI_OPT_CACHE_KEY, AGENTI_OPT_TOP_K, AGENTI_OPT_USER, AGENTI_OPT_COUNT,
       /* beside options */
       AGENTI_LEFT_REASONING = AGENTI_OPT_COUNT, AGENTI_LEFT_MEDIA, AGENTI_LEFT_MARK, AGENTI_LEFT_TOOLS, AGENTI_LEFT_STRICT, AGENTI_LEFT_COUNT };
#define AGENTI_BIT(n) (1u << (n))
typedef struct agenti_tool {
    agenti_text name, description, schema;
    agenti_text raw;                          /* of an import: the declaration as it came, in the format of the request; or none */
    uint32_t flags; void *user;
} agenti_tool;
typedef struct agenti_request {               /* what a request is made of, beside the messages                         */
    const agenti_text *options;               /* AGENTI_OPT_COUNT of them                                               */
    const agenti_tool *tools; size_t tool_count;
    agent_str extra;                          /* an object whose members go in, and replace ours                        */
    agent_str system_raw;                     /* the system messages of an import, as they came; they stand for the option */
    const struct agenti_wire *wire;           /* the format that is written                                             */
    uint32_t dialect;
    int stream, tools_off, choice_off;        /* choice_off: a forced tool_choice was used                              */
    int stateful;                             /* the provider is to keep its answers                                    */
    agent_str previous;                       /* its id of the one that it goes on from; only what came after is sent   */
    uint32_t model;                           /* whose reasoning may go back                                            */
    int state;                                /* the wire format's own, from one message to the next; 0 before the first */
    uint32_t left_out;                        /* AGENTI_BITs of AGENTI_OPT_ and AGENTI_LEFT_: what was asked for and is not sent */
    const char *note;                         /* the engine's words to the model, as the last user message; or NULL     */
    const agenti_msg *before;                 /* the message before the one that is written, or NULL                    */
} agenti_request;
enum agenti_framing {                         /* how the events of a streamed answer are framed                         */
    AGENTI_FRAMING_SSE,
    AGENTI_FRAMING_ARRAY,                     /* SSE, or the values of one JSON array                                   */
    AGENTI_FRAMING_LINES,                     /* a JSON text a line                                                     */
    AGENTI_FRAMING_FRAMES,                    /* AWS event stream; an event's name is its type                          */
    AGENTI_FRAMING_BYTES                      /* the same, and the event is base64 in the member `bytes`                */
};
typedef struct agenti_wire {
    const char *name;                         /* "openai-chat"                                                          */
    const char *path, *whole_path;            /* behind the base URL; {model} is replaced. whole: of answers that are not streamed, NULL: path */
    int framing;
    const char *header, *header_value;        /* one more header line, or NULL                                          */
    uint32_t lacks;                           /* AGENTI_BITs of the AGENTI_OPT_ and AGENTI_LEFT_ that have no place in its requests */
    /* The body is head, system (NULL: in the head), messages, tail, tools, end. Messages write what separates them. head NULL: answers
     * are understood, requests not made.                                                                               */
    void (*head)(agenti_buf *, agenti_request *);
    void (*system)(agenti_buf *, agenti_request *, agent_str text);
    void (*message)(agenti_buf *, agenti_request *, const agenti_msg *);         /* nothing: not sent                   */
    void (*tail)(agenti_buf *, const agenti_request *);
    void (*tools)(agenti_buf *, const agenti_request *);
    void (*end)(agenti_buf *, const agenti_request *);
    /* answers; 0: no memory                                                                                            */
    int (*event)(agenti_decoder *, agent_str event, agent_str data);             /* one streamed payload                */
    int (*whole)(agenti_decoder *, agent_str body);                              /* an answer in one piece, checked JSON */
    const char *noise;                                                           /* "key": of values that are never read, a blank between; or NULL */
    agenti_split_rule stream_rule, whole_rule;                                   /* how a long payload is read in pieces */
    /* A request body, or the list of its messages, checked JSON, into messages, tools and options. 0: see agenti_import. NULL: not understood */
    int (*import)(struct agenti_import *, agent_str body);
    const char *previous;                     /* the member that names the answer to go on from, where the provider keeps answers; or NULL */
} agenti_wire;

/* A mark of a model's own way to call tools, which its host should have read (wire-quirks B26). NULL: the text has none. */
AGENTI_FN const char *agenti_call_mark(agent_str text);
AGENTI_FN void agenti_decoder_init(agenti_decoder *, agenti_pool *, agenti_blob **graves, const agenti_wire *);
AGENTI_FN void agenti_decoder_free(agenti_decoder *);
AGENTI_FN agenti_op *agenti_op_add(agenti_decoder *, int kind, uint32_t key);    /* NULL: no memory                     */
AGENTI_FN agenti_lane *agenti_lane_new(agenti_decoder *);                        /* NULL: no memory                     */
AGENTI_FN void agenti_lane_free(agenti_decoder *, agenti_lane *);                /* its texts; it stays in the list     */
AGENTI_FN agenti_lane *agenti_lane_at(agenti_decoder *, agent_str index);        /* the newest of that index, a JSON number; NULL: none */
AGENTI_FN void agenti_lane_forget(agenti_decoder *, agenti_lane *);              /* takes it out of the list            */
AGENTI_FN int  agenti_is_object(agent_str);                      /* of checked JSON                                     */
AGENTI_FN int  agenti_is_string(agent_str);
AGENTI_FN int  agenti_is_array(agent_str);
AGENTI_FN int  agenti_is_objects(agent_str);                     /* JSON objects with commas between; checks them       */
AGENTI_FN int  agenti_nonempty(agent_str);                       /* a string, and not ""                                */
/* Appends a JSON string to the open stream of that kind, closing one of another kind first. Others than strings: nothing.
 * 0: no memory                                                                                                         */
AGENTI_FN int  agenti_stream_add(agenti_decoder *, int kind, agent_str value, int flags);
/* data:TYPE[;name=value]...;base64,DATA. 0: it is not of that form, and stays a URL.                                   */
AGENTI_FN int  agenti_data_split(agent_str url, agent_str *type, agent_str *data);
/* A file: a JSON string that is a URL or a data: URL, or base64 of a known type (mime not NULL). Other values: nothing. 0: no memory */
AGENTI_FN int  agenti_file_add(agenti_decoder *, int kind, agent_str value, const char *mime);
AGENTI_FN int  agenti_stream_end(agenti_decoder *);
AGENTI_FN int  agenti_decoder_end(agenti_decoder *);             /* the answer is over: ends what is open. 0: no memory  */
AGENTI_FN void agenti_finish_set(agenti_decoder *, int finish, agent_str raw);
AGENTI_FN int  agenti_raw_of(agenti_decoder *, agent_str value, agent_str *out);         /* as written, but clean UTF-8 */
/* "" for what is no string; value stays as it is, so it may be of JSON that is kept as it came. 0: no memory             */
AGENTI_FN int  agenti_string_of(agenti_decoder *, agent_str value, agent_str *out);
/* What was put together, moved to where ops may point; frees the buffer. 0: no memory                                   */
AGENTI_FN int  agenti_made(agenti_decoder *, agenti_buf *, agent_str *out);
/* OpenAI's own wrapper for calls side by side may leak as a call of that name; what is meant are the calls in its arguments (wire-quirks
 * C22). 1: there were some, and they are ops; -1: there are none, 0: no memory. args live as long as ops.               */
AGENTI_FN int  agenti_wrapper_calls(agenti_decoder *, agent_str id, agent_str args);
AGENTI_FN int  agenti_source_add(agenti_decoder *, agent_str url, agent_str title);      /* JSON strings. 0: no memory   */
AGENTI_FN int  agenti_news_add(agenti_decoder *, agent_str value, const char *name);     /* null and nothing: no news. 0: no memory */
AGENTI_FN int  agenti_payload_bad(agenti_decoder *);             /* it is no JSON: a warning. 0: no memory               */
AGENTI_FN int  agenti_too_many(agenti_decoder *);                /* calls: a fault. 1                                    */
/* The model that the answer names, the first time that it does. 0: no memory                                           */
AGENTI_FN int  agenti_model_set(agenti_decoder *, agent_str value);
/* A message, by the format's own function. Blocks in a user's message that another format's import left are named, not sent. */
AGENTI_FN void agenti_message_out(agenti_buf *, agenti_request *, const agenti_msg *);
/* Members that an import of the same format had beside ours: `,` and them.                  */
AGENTI_FN void agenti_more_out(agenti_buf *, const agenti_request *, const agenti_msg *, const agenti_text *more);
AGENTI_FN int  agenti_own_content(const agenti_request *, const agenti_msg *, const agenti_part *);   /* does `more` have the part's content?  */
/* What stands for a file that a provider does not take, as a JSON string; and the WARNING that goes with it.            */
AGENTI_FN void agenti_media_left_out(agenti_buf *, agenti_request *, const agenti_part *);
AGENTI_FN void agenti_media_left_more(agenti_buf *, agenti_request *, const agenti_part *);     /* the same, in the string that was quoted last */
AGENTI_FN void agenti_data_url_out(agenti_buf *, const agenti_part *);           /* its URI, or data:...;base64,..., as a JSON string */
/* A tool's name as providers take it: A-Z a-z 0-9 _ -, at most 64; a model may have made up another.                   */
AGENTI_FN void agenti_tool_name_out(agenti_buf *, agent_str name);
/* What all formats' requests share: members that the host gave replace ours and stand at the end.                      */
AGENTI_FN int  agenti_replaced(const agenti_request *, const char *key);
AGENTI_FN void agenti_option_out(agenti_buf *, const agenti_request *, const char *key, int option);
AGENTI_FN void agenti_extra_out(agenti_buf *, const agenti_request *);
AGENTI_FN void agenti_stops_out(agenti_buf *, const agenti_request *, const char *key);        /* the option `stop`, always a list */
/* The member `tools`: raw ones as they are; others are `open`, name, description, the schema in a member of that name, and `strict` where the
 * tool is, else `loose`.                                                                                               */
AGENTI_FN void agenti_tools_list(agenti_buf *, const agenti_request *, const char *open, const char *schema, const char *strict, const char *loose);
/* The option reasoning_effort: off, minimal, low, medium, high, max in a format's own words; other words as they are.    */
AGENTI_FN agent_str agenti_effort(const agenti_request *, const char *const *words);
AGENTI_FN agent_str agenti_format_schema(const agenti_request *);        /* of the option response_format; "": any JSON, or not asked for */
/* Tools as many formats want them: {type: function, function: {name, description, parameters}}.                        */
AGENTI_FN void agenti_functions_out(agenti_buf *, const agenti_request *);
/* The name of the call that a result answers; "": there is none. *at 0 before the first result of a message.            */
AGENTI_FN agent_str agenti_result_name(const agenti_request *, const agenti_part *result, uint32_t *at);
AGENTI_FN const agenti_part *agenti_result_call(const agenti_request *, const agenti_part *result, uint32_t *at);      /* the call; or NULL */
/* Formats without messages: the texts of the conversation one behind the other, in the open string of the member `prompt`. */
AGENTI_FN void agenti_prompt_text(agenti_buf *, agent_str);
AGENTI_FN void agenti_prompt_message(agenti_buf *, agenti_request *, const agenti_msg *);
/* Sets the fault, once: a second one changes nothing. text is copied; without memory a static word stands for it.      */
AGENTI_FN void agenti_fault_set(agenti_decoder *, int fault, int retryable, const char *code, agent_str text);
AGENTI_FN void agenti_fault_free(agenti_fault *, agenti_blob **graves);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE
AGENTI_FN const char *agenti_call_mark(agent_str text)
{
    static const char *const marks[] = { "</tool_call>", "<|tool_call", "]<]minimax[>[", "<|python_tag|>", "[TOOL_CALLS]" };
    const char *p, *end = text.p + text.n;
    size_t i, n;
    for (p = text.p; p < end; p++) {
        if (*p != '<' && *p != ']' && *p != '[') continue;
        for (i = 0; i < sizeof marks / sizeof *marks; i++) {
            n = strlen(marks[i]);
            if ((size_t)(end - p) >= n && memcmp(p, marks[i], n) == 0) return marks[i];
        }
    }
    AGENTI_TOUCH(text.n);
    return NULL;
}
AGENTI_FN void agenti_decoder_init(agenti_decoder *d, agenti_pool *pool, agenti_blob **graves, const agenti_wire *wire)
{
    memset(d, 0, sizeof *d);
    d->pool = pool;
    d->graves = graves;
    d->wire = wire;
    d->arena.pool = pool;
    d->usage.input = d->usage.cached = d->usage.cache_write = d->usage.output = d->usage.reasoning = -1;
    d->fault.retry_after_ms = -1;
    d->uncached = -1;
}
AGENTI_FN void agenti_lane_free(agenti_decoder *d, agenti_lane *l)
{
    agenti_text_free(&l->id, d->graves);
    agenti_text_free(&l->more, d->graves);
}
AGENTI_FN agenti_lane *agenti_lane_at(agenti_decoder *d, agent_str index)
{
    int64_t n;
    uint32_t i;
    if (index.n == 0 || !agenti_int(index, &n)) return NULL;
    for (i = d->lane_n; i-- > 0;) if (d->lanes[i].has_index && d->lanes[i].index == n) return &d->lanes[i];
    return NULL;
}
AGENTI_FN void agenti_lane_forget(agenti_decoder *d, agenti_lane *l)
{
    agenti_lane_free(d, l);
    memmove(l, l + 1, (size_t)(d->lanes + --d->lane_n - l) * sizeof *l);
}
AGENTI_FN void agenti_decoder_free(agenti_decoder *d)
{
    uint32_t i;
    for (i = 0; i < d->lane_n; i++) agenti_lane_free(d, &d->lanes[i]);
    agenti_put(d->pool, d->lanes, d->lane_cap * sizeof *d->lanes);
    agenti_put(d->pool, d->ops, d->op_cap * sizeof *d->ops);
    agenti_arena_free(&d->arena);
    agenti_text_free(&d->id, d->graves);
    agenti_text_free(&d->model, d->graves);
    agenti_text_free(&d->request_id, d->graves);
    agenti_fault_free(&d->fault, d->graves);
    memset(d, 0, sizeof *d);
}
AGENTI_FN agenti_op *agenti_op_add(agenti_decoder *d, int kind, uint32_t key)
{
    agenti_op *op;
    if (d->op_n == d->op_cap) {
        uint32_t cap = d->op_cap ? d->op_cap * 2 : 8;
        op = (agenti_op *)agenti_resize(d->pool, d->ops, d->op_cap * sizeof *op, cap * sizeof *op);
        if (op == NULL) return NULL;
        d->ops = op;
        d->op_cap = cap;
    }
    op = &d->ops[d->op_n++];
    memset(op, 0, sizeof *op);
    op->kind = (uint8_t)kind;
    op->key = key;
    op->a.p = op->b.p = op->c.p = "";        /* the pointers alone: copying a view just written waits for the writes    */
    if (kind == AGENTI_OP_CALL) d->call_n++;
    return op;
}
AGENTI_FN int agenti_is_object(agent_str v) { return v.n && v.p[0] == '{'; }
AGENTI_FN int agenti_is_string(agent_str v) { return v.n && v.p[0] == '"'; }
AGENTI_FN int agenti_is_array(agent_str v) { return v.n && v.p[0] == '['; }
AGENTI_FN int agenti_is_objects(agent_str s)
{
    size_t n;
    for (s = agenti_trim(s); s.n; s = agenti_trim(agenti_str(s.p + 1, s.n - 1))) {
        n = agenti_json_skip(s.p, s.n);
        if (s.p[0] != '{' || n < 2 || agent_json_check(s.p, n, 0, NULL) != AGENT_OK) return 0;
        s = agenti_trim(agenti_str(s.p + n, s.n - n));
        if (s.n == 0) return 1;
        if (s.p[0] != ',') return 0;
    }
    return 0;
}
AGENTI_FN int agenti_nonempty(agent_str v) { return agenti_is_string(v) && v.n > 2; }
AGENTI_FN agenti_lane *agenti_lane_new(agenti_decoder *d)
{
    agenti_lane *l;
    if (d->lane_n == d->lane_cap) {
        uint32_t cap = d->lane_cap ? d->lane_cap * 2 : 4;
        l = (agenti_lane *)agenti_resize(d->pool, d->lanes, d->lane_cap * sizeof *l, cap * sizeof *l);
        if (l == NULL) return NULL;
        d->lanes = l;
        d->lane_cap = cap;
    }
    l = &d->lanes[d->lane_n++];
    memset(l, 0, sizeof *l);
    return l;
}
AGENTI_FN int agenti_stream_end(agenti_decoder *d)
{
    agenti_op *op;
    if (d->stream == 0) return 1;
    if (d->high_text) {                      /* the other half of the pair never came                                  */
        d->high_text = 0;
        if ((op = agenti_op_add(d, d->stream_kind, d->stream)) == NULL) return 0;
        op->a = agenti_cstr("\xEF\xBF\xBD");
    }
    if (agenti_op_add(d, AGENTI_OP_END, d->stream) == NULL) return 0;
    d->stream = 0;
    return 1;
}
AGENTI_FN int agenti_decoder_end(agenti_decoder *d)
{
    agenti_op *op;
    uint32_t i;
    for (i = 0; i < d->lane_n; i++) {         /* arguments that end in half a pair                                      */
        if (d->lanes[i].high == 0 || !d->lanes[i].call) continue;
        d->lanes[i].high = 0;
        if ((op = agenti_op_add(d, AGENTI_OP_ARGS, d->lanes[i].key)) == NULL) return 0;
        op->a = agenti_cstr("\xEF\xBF\xBD");
    }
    return agenti_stream_end(d);
}
AGENTI_FN int agenti_stream_add(agenti_decoder *d, int kind, agent_str value, int flags)
{
    agenti_op *op;
    agent_str text;
    if (value.n < 2 || value.p[0] != '"' || value.p[1] == '"') return 1;
    if (d->stream && d->stream_kind != kind && !agenti_stream_end(d)) return 0;
    if (!agenti_json_string(value, &d->high_text, &d->arena, &text)) return 0;
    if (d->stream == 0) {
        d->stream = ++d->streams;
        d->stream_kind = (uint8_t)kind;
        d->stream_data = 0;
    }
    if ((op = agenti_op_add(d, kind, d->stream)) == NULL) return 0;
    op->a = text;
    op->flags = (uint8_t)flags;
    return 1;
}
AGENTI_FN int agenti_raw_of(agenti_decoder *d, agent_str v, agent_str *out)
{
    agenti_buf b;
    char *p = NULL;
    *out = v;
    if (agenti_utf8_valid(v.p, v.n) == v.n) return 1;
    agenti_buf_init(&b, d->pool);
    if (agenti_utf8_repair(&b, v.p, v.n) && (p = agenti_arena_get(&d->arena, b.n)) != NULL) {
        memcpy(p, b.p, b.n);
        *out = agenti_str(p, b.n);
    }
    agenti_buf_free(&b);
    return p != NULL;
}
AGENTI_FN int agenti_string_of(agenti_decoder *d, agent_str v, agent_str *out)
{
    char *p;
    *out = agenti_str(NULL, 0);
    if (!agenti_nonempty(v)) return 1;
    AGENTI_TOUCH(v.n);
    if (memchr(v.p, '\\', v.n)) {            /* strings are decoded in place                                           */
        if ((p = agenti_arena_get(&d->arena, v.n)) == NULL) return 0;
        memcpy(p, v.p, v.n);
        v = agenti_str(p, v.n);
    }
    return agenti_json_string(v, NULL, &d->arena, out);
}
AGENTI_FN int agenti_made(agenti_decoder *d, agenti_buf *b, agent_str *out)
{
    char *p = b->bad ? NULL : agenti_arena_get(&d->arena, b->n + 1);
    if (p && b->n) memcpy(p, b->p, b->n);
    *out = agenti_str(p, b->n);
    agenti_buf_free(b);
    return p != NULL;
}
/* One of the calls that a wrapper holds: {"recipient_name": "functions.NAME", "parameters": {}}.                        */
static int agenti_unwrap(agenti_decoder *d, agent_str id, uint32_t n, agent_str use)
{
    static const char before[] = "functions.";
    enum { BEFORE = sizeof before - 1, KEYS = 0x10000000 };           /* no key of a wire format's                      */
    char number[24] = ":";
    agent_str name, args = agent_json_get(use, "parameters");
    agenti_buf b;
    agenti_op *op;
    uint32_t key = KEYS | ++d->streams;
    if (!agenti_string_of(d, agent_json_get(use, "recipient_name"), &name)) return 0;
    if (name.n > BEFORE && memcmp(name.p, before, BEFORE) == 0) name = agenti_str(name.p + BEFORE, name.n - BEFORE);
    agenti_buf_init(&b, d->pool);
    agenti_buf_add(&b, id.p, id.n);
    if (id.n) agenti_buf_add(&b, number, 1 + agenti_u64_text(n, number + 1));
    if (!agenti_made(d, &b, &id) || (op = agenti_op_add(d, AGENTI_OP_CALL, key)) == NULL) return 0;
    op->a = id;
    op->b = name;
    if (args.n == 0) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, key)) == NULL) return 0;
    op->a = args;
    return 1;
}
AGENTI_FN int agenti_wrapper_calls(agenti_decoder *d, agent_str id, agent_str args)
{
    agent_str uses = agenti_str(NULL, 0), use;
    size_t pos = 0;
    uint32_t n = 0;
    if (agent_json_check(args.p, args.n, d->depth_limit, NULL) == AGENT_OK) uses = agent_json_get(args, "tool_uses");
    if (!agenti_nonempty(agent_json_get(uses, "[0].recipient_name"))) return -1;
    while (agent_json_each(uses, &pos, NULL, &use)) {
        if (d->call_n >= d->call_limit) return agenti_too_many(d);
        if (!agenti_unwrap(d, id, n++, use)) return 0;
    }
    return 1;
}
AGENTI_FN int agenti_source_add(agenti_decoder *d, agent_str url, agent_str title)
{
    agenti_op *op;
    agent_str u, t;
    char *name;
    if (!agenti_nonempty(url)) return 1;
    if (!agenti_string_of(d, url, &u) || !agenti_string_of(d, title, &t)) return 0;
    if (t.n) {                                           /* an event's name ends in NUL                                 */
        if ((name = agenti_arena_get(&d->arena, t.n + 1)) == NULL) return 0;
        memcpy(name, t.p, t.n);
        name[t.n] = 0;
        t.p = name;
    }
    if ((op = agenti_op_add(d, AGENTI_OP_SOURCE, 0)) == NULL) return 0;
    op->a = u;
    op->b = t;
    return 1;
}
AGENTI_FN int agenti_news_add(agenti_decoder *d, agent_str value, const char *name)
{
    agenti_op *op;
    if (value.n == 0 || agenti_eq(value, "null")) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_NEWS, 0)) == NULL || !agenti_raw_of(d, value, &op->a)) return 0;
    op->b = agenti_cstr(name);
    return 1;
}
AGENTI_FN int agenti_too_many(agenti_decoder *d)
{
    agenti_fault_set(d, AGENT_FAULT_LIMIT, 0, "", agenti_cstr("more tool calls in one answer than limits.calls_per_step"));
    return 1;
}
AGENTI_FN int agenti_payload_bad(agenti_decoder *d)
{
    agenti_op *op = agenti_op_add(d, AGENTI_OP_WARNING, 0);
    d->bad++;
    if (op) op->a = agenti_cstr("a payload that is no JSON was passed over");
    return op != NULL;
}
AGENTI_FN int agenti_model_set(agenti_decoder *d, agent_str value)
{
    agent_str name;
    if (d->model.n || !agenti_nonempty(value)) return 1;
    return agenti_string_of(d, value, &name) && agenti_text_set(&d->model, d->pool, d->graves, name);
}
AGENTI_FN int agenti_data_split(agent_str url, agent_str *type, agent_str *data)
{
    static const char coded[] = ";base64";
    enum { CODED = sizeof coded - 1 };
    const char *comma = (const char *)memchr(url.p, ',', url.n), *end;
    size_t n = comma ? (size_t)(comma - url.p) - 5 : 0;
    if (n <= CODED || !agenti_ieq(agenti_str(comma - CODED, CODED), coded)) return 0;
    *type = agenti_str(url.p + 5, n - CODED);
    *data = agenti_str(comma + 1, url.n - n - 6);
    if ((end = (const char *)memchr(type->p, ';', type->n)) != NULL) type->n = (size_t)(end - type->p);
    return type->n && agenti_base64_ok(*data);
}
AGENTI_FN int agenti_file_add(agenti_decoder *d, int kind, agent_str value, const char *mime)
{
    static const char scheme[] = "data:";
    agent_str text, data, type = agenti_cstr(mime);
    agenti_op *op;
    uint32_t key;
    if (!agenti_nonempty(value)) return 1;
    if (!agenti_json_string(value, NULL, &d->arena, &text)) return 0;
    if (mime == NULL && text.n > 5 && agenti_ieq(agenti_str(text.p, 5), scheme) && agenti_data_split(text, &type, &data)) {
        text = data;
        mime = scheme;                        /* it has contents                                                        */
    }
    key = ++d->streams;
    if (!agenti_stream_end(d) || (op = agenti_op_add(d, mime ? AGENTI_OP_MIME : AGENTI_OP_URI, key)) == NULL) return 0;
    op->a = mime ? type : text;
    op->flags = (uint8_t)kind;
    if (mime) {
        if ((op = agenti_op_add(d, AGENTI_OP_FILE, key)) == NULL) return 0;
        op->a = text;
    }
    return agenti_op_add(d, AGENTI_OP_END, key) != NULL;
}
AGENTI_FN void agenti_more_out(agenti_buf *b, const agenti_request *r, const agenti_msg *m, const agenti_text *more)
{
    if (more->n == 0 || m->wire != (const void *)r->wire) return;
    agenti_json_comma(b);
    agenti_buf_add(b, more->p, more->n);
}
AGENTI_FN int agenti_own_content(const agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    return (p->flags & AGENTI_PART_CONTENT) && m->wire == (const void *)r->wire;
}
AGENTI_FN void agenti_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    static const char word[] = "[not sent: a block of another provider]";
    agenti_msg with = *m;
    uint32_t i = 0;
    while (i < m->n && m->parts[i].kind != AGENT_PART_OTHER) i++;
    if (m->role != AGENT_USER || i == m->n || m->wire == (const void *)r->wire) { r->wire->message(b, r, m); return; }
    with.parts = (agenti_part *)agenti_get(b->pool, m->n * sizeof *with.parts);
    if (with.parts == NULL) { b->bad = 1; return; }
    memcpy(with.parts, m->parts, m->n * sizeof *with.parts);
    for (; i < m->n; i++) if (m->parts[i].kind == AGENT_PART_OTHER) {
        agenti_part *p = &with.parts[i];
        memset(p, 0, sizeof *p);
        p->kind = AGENT_PART_TEXT;
        p->text.p = (char *)(uintptr_t)word;
        p->text.n = sizeof word - 1;
    }
    r->left_out |= AGENTI_BIT(AGENTI_LEFT_MEDIA);
    r->wire->message(b, r, &with);
    agenti_put(b->pool, with.parts, m->n * sizeof *with.parts);
}
AGENTI_FN void agenti_media_left_out(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    agenti_buf_str(b, "\"\"");
    agenti_media_left_more(b, r, p);
}
AGENTI_FN void agenti_media_left_more(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    const char *what = p->kind == AGENT_PART_IMAGE ? "[not sent: an image" : p->kind == AGENT_PART_AUDIO ? "[not sent: audio" : "[not sent: a file";
    r->left_out |= AGENTI_BIT(AGENTI_LEFT_MEDIA);
    agenti_json_quote_more(b, agenti_cstr(what));
    if (p->name.n) {
        agenti_json_quote_more(b, agenti_cstr(" named "));
        agenti_json_quote_more(b, agenti_text_view(&p->name));
    }
    if (p->mime.n) {
        agenti_json_quote_more(b, agenti_cstr(", "));
        agenti_json_quote_more(b, agenti_text_view(&p->mime));
    }
    agenti_json_quote_more(b, agenti_cstr("]"));
}
AGENTI_FN void agenti_data_url_out(agenti_buf *b, const agenti_part *p)
{
    if (p->uri.n) { agenti_json_quote_to(b, agenti_text_view(&p->uri)); return; }
    agenti_buf_str(b, "\"data:");
    agenti_buf_add(b, p->mime.p, p->mime.n);
    agenti_buf_str(b, ";base64,");
    agenti_buf_add(b, p->text.p, p->text.n);
    agenti_buf_str(b, "\"");
}
AGENTI_FN void agenti_tool_name_out(agenti_buf *b, agent_str name)
{
    char out[64];
    size_t i, n = name.n < sizeof out ? name.n : sizeof out;
    for (i = 0; i < n; i++) {
        char c = agenti_lower(name.p[i]);
        out[i] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ? name.p[i] : '_';
    }
    agenti_json_member_str(b, "name", agenti_str(out, n));
}
AGENTI_FN int agenti_replaced(const agenti_request *r, const char *key) { return r->extra.n && agent_json_get(r->extra, key).p != NULL; }
AGENTI_FN void agenti_option_out(agenti_buf *b, const agenti_request *r, const char *key, int option)
{
    if (r->options[option].n && !agenti_replaced(r, key)) agenti_json_member(b, key, agenti_text_view(&r->options[option]));
}
AGENTI_FN void agenti_extra_out(agenti_buf *b, const agenti_request *r)
{
    agent_str key, value;
    size_t pos = 0;
    while (r->extra.n && agent_json_each(r->extra, &pos, &key, &value)) {
        if (r->tools_off && agenti_eq(key, "tool_choice")) continue;      /* it is "none" now                           */
        agenti_buf_str(b, ",\"");
        agenti_buf_add(b, key.p, key.n);
        agenti_buf_str(b, "\":");
        agenti_buf_add(b, value.p, value.n);
    }
    agenti_buf_str(b, "}");
}
AGENTI_FN void agenti_stops_out(agenti_buf *b, const agenti_request *r, const char *key)
{
    agent_str stop = agenti_text_view(&r->options[AGENTI_OPT_STOP]);
    if (stop.n == 0 || agenti_replaced(r, key)) return;
    agenti_json_key(b, key);
    if (stop.p[0] != '[') agenti_buf_str(b, "[");
    agenti_buf_add(b, stop.p, stop.n);
    if (stop.p[0] != '[') agenti_buf_str(b, "]");
}
AGENTI_FN agent_str agenti_effort(const agenti_request *r, const char *const *words)
{
    static const char *const scale[] = { "off", "minimal", "low", "medium", "high", "max" };
    agent_str effort = agenti_text_view(&r->options[AGENTI_OPT_EFFORT]);
    size_t i;
    for (i = 0; i < sizeof scale / sizeof *scale; i++) if (agenti_eq(effort, scale[i])) return agenti_cstr(words[i]);
    return effort;
}
AGENTI_FN agent_str agenti_format_schema(const agenti_request *r)
{
    agent_str format = agenti_text_view(&r->options[AGENTI_OPT_FORMAT]);
    return agenti_is_object(format) ? format : agenti_str(NULL, 0);
}
AGENTI_FN void agenti_tools_list(agenti_buf *b, const agenti_request *r, const char *open, const char *schema, const char *strict, const char *loose)
{
    size_t i;
    if (r->tool_count == 0 || agenti_replaced(r, "tools")) return;
    agenti_buf_str(b, ",\"tools\":[");
    for (i = 0; i < r->tool_count; i++) {
        const agenti_tool *t = &r->tools[i];
        if (i) agenti_buf_str(b, ",");
        const agenti_text *raw = t->flags & AGENT_TF_RAW ? &t->schema : &t->raw;
        if (raw->n) { agenti_buf_add(b, raw->p, raw->n); continue; }
        agenti_buf_str(b, open);
        agenti_json_member_str(b, "name", agenti_text_view(&t->name));
        if (t->description.n) agenti_json_member_str(b, "description", agenti_text_view(&t->description));
        agenti_json_member(b, schema, agenti_text_view(&t->schema));
        agenti_buf_str(b, t->flags & AGENT_TF_STRICT ? strict : loose);
    }
    agenti_buf_str(b, "]");
}
AGENTI_FN void agenti_functions_out(agenti_buf *b, const agenti_request *r)
{
    agenti_tools_list(b, r, "{\"type\":\"function\",\"function\":{", "parameters", "}}", "}}");
}
AGENTI_FN const agenti_part *agenti_result_call(const agenti_request *r, const agenti_part *result, uint32_t *at)
{
    while (r->before && *at < r->before->n) {  /* results stand in the order of their calls                              */
        const agenti_part *p = &r->before->parts[(*at)++];
        if (p->kind == AGENT_PART_CALL && p->wire_id.n == result->wire_id.n && memcmp(p->wire_id.p, result->wire_id.p, p->wire_id.n) == 0) return p;
    }
    return NULL;
}
AGENTI_FN agent_str agenti_result_name(const agenti_request *r, const agenti_part *result, uint32_t *at)
{
    const agenti_part *p = agenti_result_call(r, result, at);
    return p ? agenti_text_view(&p->name) : agenti_str(NULL, 0);
}
AGENTI_FN void agenti_prompt_text(agenti_buf *b, agent_str text)
{
    agenti_buf_str(b, "\"");
    agenti_json_quote_more(b, text);          /* takes that quote away, and adds one                                    */
    if (!b->bad) b->n--;
}
AGENTI_FN void agenti_prompt_message(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i;
    if (agenti_replaced(r, "prompt")) return;
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        if (p->kind == AGENT_PART_TEXT || (agenti_is_media(p->kind) && p->text.n && !(p->flags & AGENT_PART_BASE64)))
            agenti_prompt_text(b, agenti_text_view(&p->text));
        else if (agenti_is_media(p->kind) && m->role == AGENT_USER) {
            agenti_buf_str(b, "\"");
            agenti_media_left_more(b, r, p);
            if (!b->bad) b->n--;
        }
    }
}
AGENTI_FN void agenti_finish_set(agenti_decoder *d, int finish, agent_str raw)
{
    size_t n = raw.n < sizeof d->finish_raw - 1 ? raw.n : sizeof d->finish_raw - 1;
    n = agenti_utf8_valid(raw.p, n);
    memcpy(d->finish_raw, raw.p, n);
    d->finish_raw[n] = 0;
    d->finish = finish;
}
AGENTI_FN void agenti_fault_set(agenti_decoder *d, int fault, int retryable, const char *code, agent_str text)
{
    enum { MOST = 2048 };
    if (d->fault.fault) return;
    d->fault.fault = fault;
    d->fault.retryable = retryable;
    agenti_text_static(&d->fault.code, d->graves, code);
    if (agenti_trim(text).n == 0) text = agenti_cstr("the provider tells no more");
    if (text.n > MOST) text.n = MOST;
    if (agenti_text_set(&d->fault.text, d->pool, d->graves, text)) {
        if (!agenti_text_repair(&d->fault.text, d->pool, d->graves)) agenti_text_scrub(&d->fault.text);
    } else agenti_text_static(&d->fault.text, d->graves, "no memory for the message");
}
AGENTI_FN void agenti_fault_free(agenti_fault *f, agenti_blob **graves)
{
    agenti_text_free(&f->code, graves);
    agenti_text_free(&f->text, graves);
    memset(f, 0, sizeof *f);
    f->retry_after_ms = -1;
}
#endif

/* ==== retry_hint.c: when a provider says to come back ============================================================= */
/* When a provider says to come back: delays, dates and durations in headers, bodies and words. All in ms from now; -1: not told. */
AGENTI_FN int64_t agenti_retry_headers(agent_str headers, uint64_t wall_ms);         /* wall_ms 0: the Date header is now    */
AGENTI_FN int64_t agenti_retry_body(agent_str body);                                 /* of checked JSON                      */
AGENTI_FN int64_t agenti_retry_words(agent_str text);                                /* "... try again in 1m12.5s"           */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_RETRY_HINT
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

/* ==== wire_error.c: what a failed answer means ==================================================================== */
/* What a failed answer means: any shape of error body, the HTTP status, hints when to come back.
 * Kinds and phrases: reference tables of the providers' documentation; the provider's own words are kept beside. */
/* error: the `error` member of a streamed payload, or the payload itself. status 0: take it from the object.           */
AGENTI_FN void agenti_fault_object(agenti_decoder *, agent_str error, int status);
/* An error with a name of its own, as exceptions of event streams have; said: JSON with a message, or words.           */
AGENTI_FN void agenti_fault_named(agenti_decoder *, agent_str name, agent_str said);
/* A whole answer with an error status. headers: "name: value\n" lines; wall_ms 0: unknown.                            */
AGENTI_FN void agenti_fault_answer(agenti_decoder *, int status, agent_str headers, agent_str body, uint64_t wall_ms);
/* The dialect bit of a member that a refusal names, which should be there if it is not and the other way round; 0: it names none (B6) */
AGENTI_FN uint32_t agenti_fault_switch(const agenti_fault *);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_ERROR
typedef struct agenti_word { const char *word; int16_t fault, retryable; } agenti_word;

/* Codes and types, by part of the word; the first that is found counts.                                               */
static const agenti_word agenti_fault_codes[] = {
    { "context_length", AGENT_FAULT_CONTEXT, 0 }, { "context_window", AGENT_FAULT_CONTEXT, 0 },
    { "too_many_prompt_tokens", AGENT_FAULT_CONTEXT, 0 }, { "exceed_context_size", AGENT_FAULT_CONTEXT, 0 },
    { "insufficient_quota", AGENT_FAULT_QUOTA, 0 }, { "billing", AGENT_FAULT_QUOTA, 0 }, { "usage_not_included", AGENT_FAULT_QUOTA, 0 },
    { "free_tier_limit", AGENT_FAULT_QUOTA, 0 }, { "quota_exceeded", AGENT_FAULT_QUOTA, 0 },
    { "overloaded", AGENT_FAULT_OVERLOADED, 1 },
    { "rate_limit", AGENT_FAULT_RATE, 1 }, { "too_many_requests", AGENT_FAULT_RATE, 1 },
    { "perday", AGENT_FAULT_QUOTA, 0 }, { "perminute", AGENT_FAULT_RATE, 1 }, { "api_key_invalid", AGENT_FAULT_AUTH, 0 },      /* Google */
    { "resource_exhausted", AGENT_FAULT_RATE, 1 }, { "unauthenticated", AGENT_FAULT_AUTH, 0 }, { "unavailable", AGENT_FAULT_SERVER, 1 },
    { "authentication", AGENT_FAULT_AUTH, 0 }, { "invalid_api_key", AGENT_FAULT_AUTH, 0 }, { "permission", AGENT_FAULT_AUTH, 0 },
    { "unauthorized", AGENT_FAULT_AUTH, 0 }, { "content_filter", AGENT_FAULT_FILTER, 0 },
    { "server_error", AGENT_FAULT_SERVER, 1 }, { "internal", AGENT_FAULT_SERVER, 1 },
    { "throttling", AGENT_FAULT_RATE, 1 }, { "accessdenied", AGENT_FAULT_AUTH, 0 }, { "validationexception", AGENT_FAULT_REQUEST, 0 },
    { "invalid_request", AGENT_FAULT_REQUEST, 0 }, { "not_found", AGENT_FAULT_REQUEST, 0 }, { "bad_request", AGENT_FAULT_REQUEST, 0 },
    { "tool_use_failed", AGENT_FAULT_REQUEST, 0 }, { "invalid_prompt", AGENT_FAULT_REQUEST, 0 }, { "invalid_image", AGENT_FAULT_REQUEST, 0 }
};
/* A prompt that is too long has no code with many hosts.                                                               */
static const char *const agenti_context_words[] = {
    "prompt is too long", "input is too long for requested model", "input tokens exceeded", "exceeds the context window",
    "exceeds the maximum number of tokens", "maximum prompt length is", "reduce the length of the messages", "maximum context length",
    "exceeds the available context size", "greater than the context length", "context window exceeds limit",
    "exceeded model token limit", "max context length", "too many tokens", "context length exceeded", "context_length_exceeded", "too_many_prompt_tokens",
    "request entity too large", "longer than the maximum model length"
};
static const char *const agenti_quota_words[] = { "quota exceeded", "exceeded your current quota", "insufficient balance" };

static const agenti_word *agenti_fault_code(agent_str code)
{
    size_t i;
    for (i = 0; i < sizeof agenti_fault_codes / sizeof *agenti_fault_codes; i++)
        if (agenti_find(code, agenti_fault_codes[i].word)) return &agenti_fault_codes[i];
    return NULL;
}
static int agenti_any_word(agent_str text, const char *const *words, size_t n)
{
    size_t i;
    for (i = 0; i < n; i++) if (agenti_find(text, words[i])) return 1;
    return 0;
}
static agenti_word agenti_fault_status(int status)
{
    agenti_word w = { "", AGENT_FAULT_SERVER, 1 };
    if (status == 401 || status == 403) { w.fault = AGENT_FAULT_AUTH; w.retryable = 0; }
    else if (status == 429) w.fault = AGENT_FAULT_RATE;
    else if (status == 529) w.fault = AGENT_FAULT_OVERLOADED;
    else if (status == 413) { w.fault = AGENT_FAULT_CONTEXT; w.retryable = 0; }
    else if (status >= 400 && status < 500) { w.fault = AGENT_FAULT_REQUEST; w.retryable = status == 408 || status == 409; }
    return w;
}
static void agenti_fault_code_set(agenti_decoder *d, agent_str code)
{
    if (code.n > 200) code.n = 200;
    if (code.n && agenti_text_set(&d->fault.code, d->pool, d->graves, code)) agenti_text_scrub(&d->fault.code);
}
/* code and type: what the provider calls it; text: its message, at most a few KiB.                                    */
static AGENTI_NOINLINE void agenti_fault_classify(agenti_decoder *d, int status, agent_str code, agent_str type, agent_str text)
{
    const agenti_word *by_code = agenti_fault_code(code);
    agenti_word w = agenti_fault_status(status);
    if (by_code == NULL) by_code = agenti_fault_code(type);
    if (text.n > 4096) text.n = 4096;
    if (by_code && (by_code->fault == AGENT_FAULT_CONTEXT || by_code->fault == AGENT_FAULT_QUOTA)) w = *by_code;
    else if (w.fault != AGENT_FAULT_RATE && !(by_code && by_code->fault == AGENT_FAULT_RATE)     /* "too many tokens" a minute */
             && agenti_any_word(text, agenti_context_words, sizeof agenti_context_words / sizeof *agenti_context_words)) {
        w.fault = AGENT_FAULT_CONTEXT;
        w.retryable = 0;
    } else if (status < 500 && !(by_code && by_code->fault == AGENT_FAULT_RATE)
               && agenti_any_word(text, agenti_quota_words, sizeof agenti_quota_words / sizeof *agenti_quota_words)) {
        w.fault = AGENT_FAULT_QUOTA;
        w.retryable = 0;
    } else if (by_code && (status == 0 || (by_code->fault == AGENT_FAULT_OVERLOADED && status >= 500)
                          || (by_code->fault == AGENT_FAULT_AUTH && status == 400))) w = *by_code;
    d->fault.http_status = status;
    agenti_fault_set(d, w.fault, w.retryable, "", text);
    agenti_fault_code_set(d, code.n ? code : type);
}
/* A member as text: a string decoded, a number as written; null, objects and lists: empty.                            */
static agent_str agenti_member_text(agenti_decoder *d, agent_str v)
{
    agent_str s = agenti_str(NULL, 0);
    if (v.n == 0 || v.p[0] == '{' || v.p[0] == '[' || agenti_eq(v, "null")) return s;
    if (!agenti_json_string(v, NULL, &d->arena, &s)) return agenti_str(NULL, 0);
    return s;
}
enum { AGENTI_ERR_MESSAGE, AGENTI_ERR_CODE, AGENTI_ERR_TYPE, AGENTI_ERR_STATUS, AGENTI_ERR_ERROR, AGENTI_ERR_DETAIL, AGENTI_ERR_RAW_STATUS,
       AGENTI_ERR_STATUS_CODE, AGENTI_ERR_REQUEST_ID, AGENTI_ERR_FAILED, AGENTI_ERR_DETAILS, AGENTI_ERR_FIELDS };
static const agenti_field agenti_error_fields[AGENTI_ERR_FIELDS] = {
    { "message", -1 }, { "code", -1 }, { "type", -1 }, { "status", -1 }, { "error", -1 }, { "detail", -1 }, { "raw_status_code", -1 },
    { "status_code", -1 }, { "request_id", -1 }, { "failed_generation", -1 }, { "details", -1 }
};
static int agenti_status_of(agent_str v)
{
    int64_t n = agent_json_int(v, 0);
    return n >= 400 && n <= 599 ? (int)n : 0;
}
/* {"detail": "..."} or {"detail": [{"msg": "..."}]} (FastAPI)                                                             */
static AGENTI_NOINLINE agent_str agenti_detail_text(agenti_decoder *d, agent_str detail)
{
    agent_str s;
    if (detail.n && detail.p[0] == '[') return agenti_member_text(d, agent_json_get(detail, "[0].msg"));
    s = agenti_member_text(d, detail);
    return s.n || detail.n == 0 || detail.p[0] != '{' ? s : agenti_member_text(d, agent_json_get(detail, "message"));
}
/* A copy, since strings are decoded in place.                                                                          */
static agent_str agenti_first_bytes(agenti_decoder *d, agent_str error)
{
    size_t n = error.n < 200 ? error.n : 200;
    char *p = agenti_arena_get(&d->arena, n);
    if (p == NULL) return agenti_str(NULL, 0);
    memcpy(p, error.p, n);
    return agenti_str(p, n);
}
/* Groq tells beside the message what the model wrote instead of a call (A10): both are the text.                       */
static AGENTI_NOINLINE agent_str agenti_failed_text(agenti_decoder *d, agent_str text, agent_str wrote)
{
    static const char between[] = "\nfailed_generation: ";
    size_t n = text.n + sizeof between - 1;
    char *p;
    if (wrote.n == 0 || (p = agenti_arena_get(&d->arena, n + wrote.n)) == NULL) return text;
    memcpy(p, text.p, text.n);
    memcpy(p + text.n, between, sizeof between - 1);
    memcpy(p + n, wrote.p, wrote.n);
    AGENTI_TOUCH(n + wrote.n);
    return agenti_str(p, n + wrote.n);
}
/* Google tells in a list what the status leaves open (G13, G14): why, as in API_KEY_INVALID, and which quota it was, that of a day or one
 * that a little waiting helps with. As a JSON string.                                                                  */
static agent_str agenti_details_word(agent_str list)
{
    agent_str item, one, v, word = agenti_str(NULL, 0);
    size_t pos = 0, at;
    while (list.n && list.p[0] == '[' && agent_json_each(list, &pos, NULL, &item)) {
        v = agent_json_get(item, "violations");
        for (at = 0; v.n && v.p[0] == '[' && agent_json_each(v, &at, NULL, &one);) {
            agent_str id = agent_json_get(one, "quotaId");
            if (agenti_nonempty(id)) word = id;
            if (agenti_find(id, "perday")) return id;
        }
        v = agent_json_get(item, "reason");
        if (word.n == 0 && agenti_nonempty(v)) word = v;
        if (word.n == 0 && agenti_nonempty(agent_json_get(item, "retryDelay"))) word = agenti_cstr("\"rate_limit\"");
    }
    return word;
}
/* The members of an error object; those of `error` in it go before.                                                    */
static AGENTI_NOINLINE void agenti_error_pick(agent_str error, agent_str *in)
{
    agent_str out[AGENTI_ERR_FIELDS];
    int i;
    memset(out, 0, sizeof out);
    agenti_json_pick(error, agenti_error_fields, AGENTI_ERR_FIELDS, in);
    if (in[AGENTI_ERR_ERROR].n && in[AGENTI_ERR_ERROR].p[0] == '{') {                /* the object stands one level down */
        memcpy(out, in, sizeof out);
        agenti_json_pick(out[AGENTI_ERR_ERROR], agenti_error_fields, AGENTI_ERR_FIELDS, in);
    }
    for (i = 0; i < AGENTI_ERR_FIELDS; i++) if (in[i].p == NULL) in[i] = agenti_str(out[i].p, out[i].n);
}
AGENTI_FN void agenti_fault_object(agenti_decoder *d, agent_str error, int status)
{
    static const uint8_t statuses[] = { AGENTI_ERR_CODE, AGENTI_ERR_STATUS_CODE, AGENTI_ERR_STATUS, AGENTI_ERR_RAW_STATUS };
    agent_str in[AGENTI_ERR_FIELDS], text, code, type, id;
    size_t i;
    if (error.n && error.p[0] == '[') error = agent_json_get(error, "[0]");          /* Vertex wraps it               */
    if (error.n == 0 || error.p[0] != '{') {
        agenti_fault_classify(d, status, agenti_str(NULL, 0), agenti_str(NULL, 0), agenti_member_text(d, error));
        return;
    }
    agenti_error_pick(error, in);
    for (i = 0; i < sizeof statuses && status == 0; i++) status = agenti_status_of(in[statuses[i]]);
    text = in[AGENTI_ERR_ERROR].n && in[AGENTI_ERR_ERROR].p[0] == '"' ? agenti_member_text(d, in[AGENTI_ERR_ERROR])
                                                                      : agenti_member_text(d, in[AGENTI_ERR_MESSAGE]);
    if (text.n == 0) text = agenti_member_text(d, in[AGENTI_ERR_MESSAGE]);
    if (text.n == 0) text = agenti_detail_text(d, in[AGENTI_ERR_DETAIL]);
    if (text.n == 0) text = agenti_member_text(d, agent_json_get(error, "Message"));          /* AWS                    */
    if (text.n == 0) text = agenti_first_bytes(d, error);
    text = agenti_failed_text(d, text, agenti_member_text(d, in[AGENTI_ERR_FAILED]));
    code = agenti_member_text(d, in[AGENTI_ERR_CODE]);
    type = agenti_member_text(d, in[AGENTI_ERR_TYPE]);
    if (type.n == 0) type = agenti_member_text(d, in[AGENTI_ERR_STATUS]);
    id = agenti_details_word(in[AGENTI_ERR_DETAILS]);
    if (id.n) type = agenti_member_text(d, id);
    if (id.n && !agenti_eq(id, "\"rate_limit\"")) code = type;
    id = agenti_member_text(d, in[AGENTI_ERR_REQUEST_ID]);
    if (d->request_id.n == 0 && id.n && id.n < 200 && agenti_text_set(&d->request_id, d->pool, d->graves, id)) agenti_text_scrub(&d->request_id);
    agenti_fault_classify(d, status, code, type, text);
}
AGENTI_FN void agenti_fault_named(agenti_decoder *d, agent_str name, agent_str said)
{
    agent_str text = agenti_str(NULL, 0);
    if (agenti_is_object(said) && agent_json_check(said.p, said.n, d->depth_limit, NULL) == AGENT_OK)
        text = agenti_member_text(d, agent_json_get(said, "message"));
    agenti_fault_classify(d, 0, name, name, text.n ? text : said);
}
/* A body that says nothing readable.                                                                                   */
static const char *agenti_body_word(agent_str headers, agent_str body)
{
    agent_str v;
    if (body.n == 0) return "the answer has an error status and no body";
    if (agent_http_header(headers, "content-encoding", &v) && v.n && !agenti_ieq(v, "identity")) return "the answer has an error status and a compressed body";
    if (body.p[0] == '\x1F') return "the answer has an error status and a compressed body";
    return body.p[0] == '<' ? "the answer has an error status and an HTML page" : NULL;
}
AGENTI_FN uint32_t agenti_fault_switch(const agenti_fault *f)
{
    static const struct { const char *word; uint32_t bit; } rows[] = {
        { "stream_options", AGENT_DIALECT_NO_STREAM_OPTIONS }, { "max_completion_tokens", AGENT_DIALECT_MAX_COMPLETION_TOKENS }
    };
    size_t i;
    if (f->http_status != 400 && f->http_status != 422) return 0;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (agenti_find(agenti_text_view(&f->text), rows[i].word)) return rows[i].bit;
    return 0;
}
AGENTI_FN void agenti_fault_answer(agenti_decoder *d, int status, agent_str headers, agent_str body, uint64_t wall_ms)
{
    agent_str v, none = agenti_str(NULL, 0);
    int64_t told = -1;
    const char *word;
    body = agenti_trim(body);
    word = agenti_body_word(headers, body);
    if (body.n == 0 && status == 400) agenti_fault_set(d, AGENT_FAULT_CONTEXT, 0, "", agenti_cstr("status 400 without a body: the request is too long"));
    else if (word) agenti_fault_classify(d, status, none, none, agenti_cstr(word));
    else if ((body.p[0] == '{' || body.p[0] == '[' || body.p[0] == '"') && agent_json_check(body.p, body.n, d->depth_limit, NULL) == AGENT_OK) {
        told = agenti_retry_body(body);       /* before its strings are decoded in place                                */
        agenti_fault_object(d, body, status);
    } else agenti_fault_classify(d, status, none, none, agenti_str(body.p, body.n < 200 ? body.n : 200));
    d->fault.http_status = status;
    d->fault.retry_after_ms = agenti_retry_headers(headers, wall_ms);
    if (d->fault.retry_after_ms < 0) d->fault.retry_after_ms = told;
    if (d->fault.code.n == 0 && agent_http_header(headers, "x-amzn-errortype", &v)) {        /* NAME[:where it is told] */
        const char *colon = (const char *)memchr(v.p, ':', v.n);
        agenti_fault_code_set(d, agenti_str(v.p, colon ? (size_t)(colon - v.p) : v.n));
    }
    if (d->fault.retry_after_ms < 0 && d->fault.fault == AGENT_FAULT_RATE) d->fault.retry_after_ms = agenti_retry_words(agenti_text_view(&d->fault.text));
    if (agent_http_header(headers, "x-should-retry", &v)) {
        if (agenti_eq(v, "true")) d->fault.retryable = 1;
        if (agenti_eq(v, "false")) d->fault.retryable = 0;
    }
}
#endif

/* ==== import.c: a conversation that is read out of a request body ================================================= */
/* A conversation that is read out of a request body: what the importers of the wire formats put together, outside of any session.
 * Whatever a table, an option or a tool has no field for is kept as it came, and goes back to the same format. */
typedef struct agenti_kept {                  /* a member of the body as it came                                        */
    agenti_text key, value;                   /* key: as written; value: JSON                                           */
    uint32_t options;                         /* AGENTI_BITs of the options that say the same, as far as they can       */
    uint8_t gone, told;                       /* one of them was set anew; a WARNING named it                           */
} agenti_kept;
typedef struct agenti_import {
    agenti_pool *pool;
    const agenti_wire *wire;
    uint32_t dialect, call_limit;
    int foreign;                              /* the session speaks another format: its model is another                */
    size_t item_limit;
    agenti_arena arena;
    agenti_table table;
    agenti_msg *msg;                          /* the last of the table, while parts of the model go into it             */
    agenti_msg *calls, *results;              /* a message with calls, and the one behind it with their results          */
    uint32_t missing, next;                   /* results that did not come; where the next one is likely to be          */
    uint32_t made, call_n;                    /* calls so far, for ids of those without one; in the open message        */
    const char *calls_at;                     /* where these calls are                                                  */
    agenti_text options[AGENTI_OPT_COUNT];
    uint32_t given;                           /* AGENTI_BITs of those                                                   */
    agenti_tool *tools; uint32_t tool_n, tool_cap; int tools_given;
    agenti_kept *kept; uint32_t kept_n, kept_cap;
    agenti_buf system, system_raw;            /* texts of the system messages; they as they came                        */
    uint32_t systems; int system_plain;
    agenti_text lost;                         /* the key of the first member that goes back nowhere                     */
    int streams;                              /* what the request will say                                              */
    int stream;                               /* -1: not told                                                           */
    const char *at, *why;                     /* what is wrong where; why NULL after a failure: no memory               */
    int limit;                                /* it is a limit                                                          */
} agenti_import;
enum { AGENTI_IM_MEMBERS = 256 };             /* of a body that may be kept                                             */
#define AGENTI_IM_TAKEN 0x80000000u           /* a member that is no option, and read elsewhere                         */

AGENTI_FN void agenti_import_free(agenti_import *);
AGENTI_FN int  agenti_im_fail(agenti_import *, const char *at, const char *why);                /* 0                    */
/* A JSON string as text, anything else as written; both are valid UTF-8. 0: no memory                                  */
AGENTI_FN int  agenti_im_text(agenti_import *, agenti_text *to, agent_str value);
AGENTI_FN int  agenti_im_raw(agenti_import *, agenti_text *to, agent_str value);                /* JSON as it is. 0: no memory */
AGENTI_FN int  agenti_im_wrap(agenti_import *, agenti_text *to, const char *open, agent_str members);      /* open members } */
/* Members of an object that are not in `known` (NULL ends it) nor null, behind what is there. 0: no memory             */
AGENTI_FN int  agenti_im_more(agenti_import *, agenti_text *to, agent_str object, const char *const *known);
AGENTI_FN int  agenti_im_strict(agenti_import *, agent_str object, const char *const *known);   /* others are lost, and told. 0: no memory */
/* A new message at the end; NULL: see why. Of the model, it stays open for more parts until another one begins.        */
AGENTI_FN agenti_msg  *agenti_im_msg(agenti_import *, int role, agent_str at);
AGENTI_FN agenti_msg  *agenti_im_model(agenti_import *, agent_str at);                          /* the open one, or a new one */
AGENTI_FN agenti_part *agenti_im_part(agenti_import *, agenti_msg *, int kind);                 /* NULL: no memory      */
/* A part whose text is a JSON string. 0: no memory                                                                     */
AGENTI_FN int  agenti_im_words(agenti_import *, agenti_msg *, int kind, agent_str value);
AGENTI_FN int  agenti_im_other(agenti_import *, agenti_msg *, agent_str block, agent_str type); /* a block that stays as it came */
/* A call; id and name are JSON strings, args JSON or a string of it. NULL: see why                                     */
AGENTI_FN agenti_part *agenti_im_call(agenti_import *, agenti_msg *, agent_str id, agent_str name, agent_str args, agent_str at);
AGENTI_FN int  agenti_im_input(agenti_import *, agenti_part *, agent_str input);     /* of a tool of free text: {"input": it}. 0: no memory */
/* A result's text: a string, or those of a list of blocks, where other blocks are named. 0: no memory                   */
AGENTI_FN int  agenti_im_result_text(agenti_import *, agenti_part *, agent_str content);
/* The place for the result of the call of that id, else of that name, else the next one; JSON strings. NULL: none waits for it, or no memory */
AGENTI_FN agenti_part *agenti_im_result(agenti_import *, agent_str id, agent_str name);
/* A file: a URL or data: URL, both as a JSON string. 0: it is neither, and nothing was added; -1: no memory             */
AGENTI_FN int  agenti_im_url(agenti_import *, agenti_msg *, int kind, agent_str url);
/* A file: base64 and its media type, JSON strings. 0: they are not, and nothing was added; -1: no memory                */
AGENTI_FN int  agenti_im_data(agenti_import *, agenti_msg *, int kind, agent_str data, agent_str mime);
/* Options: what they take of a value; 0: it has another form. A bit otherwise.                                          */
AGENTI_FN uint32_t agenti_im_number(agenti_import *, int option, agent_str value);
AGENTI_FN uint32_t agenti_im_string(agenti_import *, int option, agent_str value);
AGENTI_FN uint32_t agenti_im_word(agenti_import *, int option, const char *word);
AGENTI_FN uint32_t agenti_im_bool(agenti_import *, int option, agent_str value, int reversed);
AGENTI_FN uint32_t agenti_im_stop(agenti_import *, agent_str value);
/* A system message's text, behind a blank line if it is not the first; NULL `raw`: none stands for it in the messages. 0: no memory */
AGENTI_FN int  agenti_im_system(agenti_import *, agent_str text, const agent_str *raw, int plain);
/* A tool: a function with its declaration, or (schema none) one of the provider's own. 0: see why                      */
AGENTI_FN int  agenti_im_tool(agenti_import *, agent_str raw, agent_str name, agent_str description, agent_str schema);
AGENTI_FN int  agenti_im_raw_tool(agenti_import *, agent_str raw, agent_str name);
/* All members of the body but those that are read elsewhere: what `take` makes options of, and what it does not. 0: see why */
AGENTI_FN int  agenti_im_members(agenti_import *, agent_str body, uint32_t (*take)(agenti_import *, agent_str key, agent_str value));
AGENTI_FN int  agenti_im_end(agenti_import *);     /* the body is read: are all calls answered? What need not be kept goes. 0: see why */
AGENTI_FN int  agenti_im_count(agent_str object);  /* its members, up to 64                                             */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_IMPORT
AGENTI_FN int agenti_im_fail(agenti_import *im, const char *at, const char *why)
{
    if (im->why == NULL) {
        im->at = at;
        im->why = why;
    }
    return 0;
}
static void agenti_tool_drop(agenti_tool *t)
{
    agenti_text_free(&t->name, NULL);
    agenti_text_free(&t->description, NULL);
    agenti_text_free(&t->schema, NULL);
    agenti_text_free(&t->raw, NULL);
}
static void agenti_kept_drop(agenti_kept *k)
{
    agenti_text_free(&k->key, NULL);
    agenti_text_free(&k->value, NULL);
}
AGENTI_FN void agenti_import_free(agenti_import *im)
{
    uint32_t i;
    agenti_table_free(&im->table, NULL);
    for (i = 0; i < AGENTI_OPT_COUNT; i++) agenti_text_free(&im->options[i], NULL);
    for (i = 0; i < im->tool_n; i++) agenti_tool_drop(&im->tools[i]);
    agenti_put(im->pool, im->tools, im->tool_cap * sizeof *im->tools);
    for (i = 0; i < im->kept_n; i++) agenti_kept_drop(&im->kept[i]);
    agenti_put(im->pool, im->kept, im->kept_cap * sizeof *im->kept);
    agenti_text_free(&im->lost, NULL);
    agenti_buf_free(&im->system);
    agenti_buf_free(&im->system_raw);
    agenti_arena_free(&im->arena);
}

/* ---- texts ---- */
AGENTI_FN int agenti_im_raw(agenti_import *im, agenti_text *to, agent_str value)
{
    return agenti_text_set(to, im->pool, NULL, value) && agenti_text_repair(to, im->pool, NULL);
}
AGENTI_FN int agenti_im_text(agenti_import *im, agenti_text *to, agent_str value)
{
    agent_str text;
    int ok;
    if (!agenti_is_string(value)) return agenti_im_raw(im, to, value);
    if (!agenti_text_set(to, im->pool, NULL, value)) return 0;
    if (!agenti_json_string(agenti_text_view(to), NULL, &im->arena, &text)) return 0;     /* in place, mostly           */
    if (text.p >= to->p && text.p <= to->p + to->n) {
        memmove(to->p, text.p, text.n);
        AGENTI_TOUCH(text.n);
        to->n = text.n;
        to->p[to->n] = 0;
        return 1;
    }
    ok = agenti_text_set(to, im->pool, NULL, text);
    agenti_arena_reset(&im->arena);
    return ok;
}
static int agenti_im_known(agent_str key, const char *const *known)
{
    for (; *known; known++) if (agenti_eq(key, *known)) return 1;
    return 0;
}
AGENTI_FN int agenti_im_more(agenti_import *im, agenti_text *to, agent_str object, const char *const *known)
{
    agenti_buf b;
    agent_str key, value;
    size_t pos = 0;
    int ok = 1;
    agenti_buf_init(&b, im->pool);
    agenti_buf_add(&b, to->p, to->n);
    while (agent_json_each(object, &pos, &key, &value)) {
        if (agenti_im_known(key, known) || agenti_eq(value, "null")) continue;
        agenti_buf_str(&b, b.n ? ",\"" : "\"");
        agenti_buf_add(&b, key.p, key.n);
        agenti_buf_str(&b, "\":");
        agenti_buf_add(&b, value.p, value.n);
    }
    if (b.n > to->n) ok = !b.bad && agenti_im_raw(im, to, agenti_str(b.p, b.n));
    ok = ok && !b.bad;
    agenti_buf_free(&b);
    return ok;
}
AGENTI_FN int agenti_im_strict(agenti_import *im, agent_str object, const char *const *known)
{
    agent_str key, value;
    size_t pos = 0;
    while (im->lost.n == 0 && agent_json_each(object, &pos, &key, &value))
        if (!agenti_im_known(key, known) && !agenti_eq(value, "null")) return agenti_im_raw(im, &im->lost, key);
    return 1;
}
AGENTI_FN int agenti_im_wrap(agenti_import *im, agenti_text *to, const char *open, agent_str members)
{
    return agenti_text_set(to, im->pool, NULL, agenti_cstr(open)) && agenti_text_add(to, im->pool, NULL, members)
        && agenti_text_add(to, im->pool, NULL, agenti_cstr("}"));
}
AGENTI_FN int agenti_im_count(agent_str object)
{
    agent_str key, value;
    size_t pos = 0;
    int n = 0;
    while (n < 64 && agenti_is_object(object) && agent_json_each(object, &pos, &key, &value)) n++;
    return n;
}

/* ---- messages ---- */
/* The model's message is over: if it has calls, a place for the results comes behind it.                               */
static int agenti_im_close(agenti_import *im)
{
    agenti_msg *m = im->msg, *results;
    uint32_t i, calls = 0;
    im->msg = NULL;
    for (i = 0; m && i < m->n; i++) calls += m->parts[i].kind == AGENT_PART_CALL;
    if (calls == 0) return 1;
    if (!agenti_table_room(&im->table, 1) || (results = agenti_msg_new(im->pool, AGENT_TOOLS)) == NULL) return 0;
    results->ended = 1;
    results->wire = im->wire;
    agenti_table_add(&im->table, results);
    for (i = 0; i < m->n; i++) {
        agenti_part *r;
        if (m->parts[i].kind != AGENT_PART_CALL) continue;
        if ((r = agenti_part_new(im->pool, results, AGENT_PART_RESULT)) == NULL) return 0;
        r->key = i;
        r->flags = m->parts[i].flags & AGENTI_PART_APART;
        if (!agenti_text_set(&r->wire_id, im->pool, NULL, agenti_text_view(&m->parts[i].wire_id))) return 0;
    }
    im->calls = m;
    im->results = results;
    im->missing = calls;
    im->next = 0;
    return 1;
}
AGENTI_FN agenti_msg *agenti_im_msg(agenti_import *im, int role, agent_str at)
{
    agenti_msg *m;
    if (at.n > im->item_limit) {
        im->limit = 1;
        (void)agenti_im_fail(im, at.p, "a message is longer than limits.item");
        return NULL;
    }
    if (!agenti_im_close(im)) return NULL;
    if (role == AGENT_MODEL && im->missing) { (void)agenti_im_fail(im, im->calls_at, "a call without its result"); return NULL; }
    if (!agenti_table_room(&im->table, 1) || (m = agenti_msg_new(im->pool, role)) == NULL) return NULL;
    m->ended = 1;
    m->wire = im->wire;
    agenti_table_add(&im->table, m);
    if (role == AGENT_MODEL) im->msg = m;
    im->call_n = 0;
    return m;
}
AGENTI_FN agenti_msg *agenti_im_model(agenti_import *im, agent_str at) { return im->msg ? im->msg : agenti_im_msg(im, AGENT_MODEL, at); }
AGENTI_FN agenti_part *agenti_im_part(agenti_import *im, agenti_msg *m, int kind) { return agenti_part_new(im->pool, m, kind); }
AGENTI_FN int agenti_im_words(agenti_import *im, agenti_msg *m, int kind, agent_str value)
{
    agenti_part *p = agenti_im_part(im, m, kind);
    return p && agenti_im_text(im, &p->text, value);
}
AGENTI_FN int agenti_im_other(agenti_import *im, agenti_msg *m, agent_str block, agent_str type)
{
    agenti_part *p = agenti_im_part(im, m, AGENT_PART_OTHER);
    return p && agenti_im_raw(im, &p->text, block) && (type.n == 0 || agenti_im_text(im, &p->name, type));
}
static int agenti_im_has_id(const agenti_msg *m, uint32_t n, agent_str id)       /* one of the first n parts             */
{
    uint32_t i;
    for (i = 0; i < n; i++) if (m->parts[i].kind == AGENT_PART_CALL && agenti_same(agenti_text_view(&m->parts[i].wire_id), id)) return 1;
    return 0;
}
/* Two calls of one message may have one id: the later one gets a number, which agenti_wire_id takes off again.         */
static int agenti_im_id(agenti_import *im, const agenti_msg *m, agenti_part *p)
{
    uint32_t at = (uint32_t)(p - m->parts), n = at;
    char number[24] = "_";
    agent_str id = agenti_text_view(&p->wire_id);
    agenti_buf b;
    int ok;
    if (!agenti_im_has_id(m, at, id)) return 1;
    agenti_buf_init(&b, im->pool);
    agenti_buf_add(&b, id.p, id.n);
    do {
        b.n = id.n;
        agenti_buf_add(&b, number, 1 + agenti_u64_text(n++, number + 1));
    } while (!b.bad && agenti_im_has_id(m, at, agenti_str(b.p, b.n)));
    ok = !b.bad && agenti_text_set(&p->wire_id, im->pool, NULL, agenti_str(b.p, b.n));
    agenti_buf_free(&b);
    p->flags |= AGENTI_PART_APART;
    return ok;
}
static int agenti_im_call_fill(agenti_import *im, agenti_msg *m, agenti_part *p, agent_str id, agent_str name, agent_str args)
{
    char made[40] = "call_local_";            /* as for an answer: an id that no provider makes                          */
    agent_str text;
    if (!agenti_im_text(im, &p->name, name)) return 0;
    if (agenti_nonempty(id) ? !agenti_im_text(im, &p->wire_id, id) || !agenti_im_id(im, m, p)
        : !agenti_text_set(&p->wire_id, im->pool, NULL, agenti_str(made, 11 + agenti_u64_text(im->made, made + 11)))) return 0;
    if (args.n && !agenti_eq(args, "null") && !agenti_im_text(im, &p->text, args)) return 0;
    text = agenti_trim(agenti_text_view(&p->text));
    if (text.n == 0) return agenti_text_set(&p->text, im->pool, NULL, agenti_cstr("{}"));
    if (text.p[0] != '{' || agent_json_check(p->text.p, p->text.n, 64, NULL) != AGENT_OK) p->flags |= AGENT_PART_INVALID;
    return 1;
}
AGENTI_FN agenti_part *agenti_im_call(agenti_import *im, agenti_msg *m, agent_str id, agent_str name, agent_str args, agent_str at)
{
    agenti_part *p;
    if (!agenti_nonempty(name)) { (void)agenti_im_fail(im, at.p, "a call without a name"); return NULL; }
    if (im->call_n >= im->call_limit) {
        im->limit = 1;
        (void)agenti_im_fail(im, at.p, "more calls in one message than limits.calls_per_step");
        return NULL;
    }
    if (im->call_n++ == 0) im->calls_at = at.p;
    im->made++;
    p = agenti_im_part(im, m, AGENT_PART_CALL);
    return p && agenti_im_call_fill(im, m, p, id, name, args) ? p : NULL;
}
AGENTI_FN int agenti_im_input(agenti_import *im, agenti_part *p, agent_str input)
{
    agenti_text raw;
    int ok;
    memset(&raw, 0, sizeof raw);
    ok = agenti_im_raw(im, &raw, agenti_is_string(input) ? input : agenti_cstr("\"\"")) && agenti_im_wrap(im, &p->text, "{\"input\":", agenti_text_view(&raw));
    agenti_text_free(&raw, NULL);
    return ok;
}
AGENTI_FN int agenti_im_result_text(agenti_import *im, agenti_part *p, agent_str content)
{
    agent_str part, text;
    agenti_text words;
    size_t pos = 0;
    int ok = 1;
    if (agenti_is_string(content)) return agenti_im_text(im, &p->text, content);
    if (!agenti_is_array(content)) return content.n == 0 || agenti_eq(content, "null") || agenti_im_raw(im, &p->text, content);
    while (ok && agent_json_each(content, &pos, NULL, &part)) {
        text = agent_json_get(part, "text");
        memset(&words, 0, sizeof words);
        if (agenti_is_string(part)) text = part;
        else if (!agenti_is_string(text)) text = agenti_cstr("\"[a block that is no text]\"");
        ok = agenti_im_text(im, &words, text) && agenti_text_add(&p->text, im->pool, NULL, agenti_text_view(&words));
        agenti_text_free(&words, NULL);
    }
    return ok;
}
static int agenti_im_fits(const agenti_import *im, const agenti_part *r, agent_str id, agent_str name)
{
    if (r->state == AGENTI_CALL_SETTLED) return 0;
    if (id.n) return agenti_same(agenti_wire_id(r), id);
    return name.n == 0 || agenti_same(agenti_text_view(&im->calls->parts[r->key].name), name);
}
AGENTI_FN agenti_part *agenti_im_result(agenti_import *im, agent_str id, agent_str name)
{
    agenti_text text;
    agent_str key = agenti_str(NULL, 0), none = key;
    agenti_part *r;
    uint32_t i, n;
    if (!agenti_im_close(im) || im->missing == 0) return NULL;
    memset(&text, 0, sizeof text);
    if (!agenti_im_text(im, &text, agenti_nonempty(id) ? id : name)) { agenti_text_free(&text, NULL); return NULL; }
    key = agenti_text_view(&text);
    n = im->results->n;
    for (i = 0; i < n; i++) {
        r = &im->results->parts[(im->next + i) % n];
        if (agenti_nonempty(id) ? key.n && agenti_im_fits(im, r, key, none) : agenti_im_fits(im, r, none, key)) break;
    }
    agenti_text_free(&text, NULL);
    if (i == n) return NULL;
    im->next = (im->next + i + 1) % n;
    im->missing--;
    r->state = AGENTI_CALL_SETTLED;
    return r;
}

/* ---- files ---- */
static int agenti_im_kind(int kind, agent_str mime)
{
    if (mime.n > 6 && agenti_ieq(agenti_str(mime.p, 6), "image/")) return AGENT_PART_IMAGE;
    return mime.n > 6 && agenti_ieq(agenti_str(mime.p, 6), "audio/") ? (int)AGENT_PART_AUDIO : kind;
}
static int agenti_im_type(agent_str mime)                                       /* a media type that may go into a URL  */
{
    size_t i, slash = 0;
    for (i = 0; i < mime.n; i++) {
        unsigned char c = (unsigned char)mime.p[i];
        if (c <= ' ' || c >= 0x7F || c == '"' || c == ',' || c == ';' || c == '\\') return 0;
        slash += c == '/';
    }
    return slash == 1 && mime.n < 128;
}
/* -1: no memory; 0: that is no file, and the part is taken back.                                                       */
static int agenti_im_file(agenti_import *im, agenti_msg *m, int kind, agent_str data, agent_str mime)
{
    agenti_part *p;
    if (!agenti_im_type(mime) || data.n == 0 || !agenti_base64_ok(data)) return 0;
    if ((p = agenti_im_part(im, m, agenti_im_kind(kind, mime))) == NULL) return -1;
    p->flags = AGENT_PART_BASE64;
    return agenti_text_set(&p->text, im->pool, NULL, data) && agenti_text_set(&p->mime, im->pool, NULL, mime) ? 1 : -1;
}
AGENTI_FN int agenti_im_url(agenti_import *im, agenti_msg *m, int kind, agent_str url)
{
    agenti_text text;
    agent_str type, data;
    agenti_part *p;
    int rc = 0;
    if (!agenti_nonempty(url)) return 0;
    memset(&text, 0, sizeof text);
    if (!agenti_im_text(im, &text, url)) { agenti_text_free(&text, NULL); return -1; }
    if (text.n > 5 && agenti_ieq(agenti_str(text.p, 5), "data:")) {
        if (agenti_data_split(agenti_text_view(&text), &type, &data) && type.n + data.n + 13 == text.n) rc = agenti_im_file(im, m, kind, data, type);
        agenti_text_free(&text, NULL);
        return rc;
    }
    if (text.n == 0 || (p = agenti_im_part(im, m, kind)) == NULL) {
        rc = text.n ? -1 : 0;
        agenti_text_free(&text, NULL);
        return rc;
    }
    p->uri = text;
    return 1;
}
AGENTI_FN int agenti_im_data(agenti_import *im, agenti_msg *m, int kind, agent_str data, agent_str mime)
{
    agenti_text type, text;
    int rc = -1;
    if (!agenti_nonempty(data) || !agenti_nonempty(mime)) return 0;
    memset(&type, 0, sizeof type);
    memset(&text, 0, sizeof text);
    if (agenti_im_text(im, &type, mime) && agenti_im_text(im, &text, data))
        rc = agenti_im_file(im, m, kind, agenti_text_view(&text), agenti_text_view(&type));
    agenti_text_free(&type, NULL);
    agenti_text_free(&text, NULL);
    return rc;
}

/* ---- options ---- */
static uint32_t agenti_im_set(agenti_import *im, int option, agent_str value)
{
    if (!agenti_im_text(im, &im->options[option], value)) { im->system.bad = 1; return 0; }
    im->given |= AGENTI_BIT(option);
    return AGENTI_BIT(option);
}
AGENTI_FN uint32_t agenti_im_number(agenti_import *im, int option, agent_str v)
{
    return v.n && (v.p[0] == '-' || (v.p[0] >= '0' && v.p[0] <= '9')) ? agenti_im_set(im, option, v) : 0;
}
AGENTI_FN uint32_t agenti_im_string(agenti_import *im, int option, agent_str v) { return agenti_nonempty(v) ? agenti_im_set(im, option, v) : 0; }
AGENTI_FN uint32_t agenti_im_word(agenti_import *im, int option, const char *word) { return agenti_im_set(im, option, agenti_cstr(word)); }
AGENTI_FN uint32_t agenti_im_bool(agenti_import *im, int option, agent_str v, int reversed)
{
    int yes = agenti_eq(v, "true");
    return yes || agenti_eq(v, "false") ? agenti_im_word(im, option, yes != reversed ? "true" : "false") : 0;
}
AGENTI_FN uint32_t agenti_im_stop(agenti_import *im, agent_str v)
{
    agent_str item;
    size_t pos = 0;
    if (!agenti_is_array(v) && !agenti_is_string(v)) return 0;
    while (agenti_is_array(v) && agent_json_each(v, &pos, NULL, &item)) if (!agenti_is_string(item)) return 0;
    if (!agenti_im_raw(im, &im->options[AGENTI_OPT_STOP], v)) { im->system.bad = 1; return 0; }
    im->given |= AGENTI_BIT(AGENTI_OPT_STOP);
    return AGENTI_BIT(AGENTI_OPT_STOP);
}
AGENTI_FN int agenti_im_system(agenti_import *im, agent_str text, const agent_str *raw, int plain)
{
    agenti_text words;
    memset(&words, 0, sizeof words);
    if (agenti_nonempty(text)) {
        if (!agenti_im_text(im, &words, text)) im->system.bad = 1;
        if (im->system.n && words.n) agenti_buf_str(&im->system, "\n\n");
        agenti_buf_add(&im->system, words.p, words.n);
        agenti_text_free(&words, NULL);
    }
    if (raw) {
        im->system_plain = plain && im->systems++ == 0;
        if (im->system_raw.n) agenti_buf_str(&im->system_raw, ",");
        agenti_buf_add(&im->system_raw, raw->p, raw->n);
    }
    return !im->system.bad && !im->system_raw.bad;
}

/* ---- tools ---- */
static int agenti_im_name_ok(agent_str name)
{
    size_t i;
    for (i = 0; i < name.n; i++) {
        char c = agenti_lower(name.p[i]);
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-')) return 0;
    }
    return name.n > 0 && name.n <= 64;
}
static agenti_tool *agenti_im_tool_new(agenti_import *im, agent_str name)
{
    agenti_tool *t;
    if (im->tool_n == im->tool_cap) {
        uint32_t cap = im->tool_cap ? im->tool_cap * 2 : 4;
        if (cap > 65536) { im->limit = 1; (void)agenti_im_fail(im, name.p, "too many tools"); return NULL; }
        t = (agenti_tool *)agenti_resize(im->pool, im->tools, im->tool_cap * sizeof *t, cap * sizeof *t);
        if (t == NULL) return NULL;
        im->tools = t;
        im->tool_cap = cap;
    }
    t = &im->tools[im->tool_n++];
    memset(t, 0, sizeof *t);
    return agenti_im_text(im, &t->name, name) ? t : NULL;
}
AGENTI_FN int agenti_im_tool(agenti_import *im, agent_str raw, agent_str name, agent_str description, agent_str schema)
{
    agenti_tool *t = agenti_im_tool_new(im, name);
    if (t == NULL) return 0;
    if (!agenti_is_string(name) || !agenti_im_name_ok(agenti_text_view(&t->name)))
        return agenti_im_fail(im, name.n ? name.p : raw.p, "tools: a name has 1 to 64 of A-Z a-z 0-9 _ -");
    if (agenti_nonempty(description) && !agenti_im_text(im, &t->description, description)) return 0;
    return agenti_im_raw(im, &t->schema, agenti_is_object(schema) ? schema : agenti_cstr("{\"type\":\"object\"}")) && agenti_im_raw(im, &t->raw, raw);
}
AGENTI_FN int agenti_im_raw_tool(agenti_import *im, agent_str raw, agent_str name)
{
    agenti_tool *t = agenti_im_tool_new(im, name);
    size_t i;
    if (t == NULL || !agenti_im_raw(im, &t->schema, raw)) return 0;
    t->flags = AGENT_TF_RAW;
    if (t->name.n > 64) t->name.n = 64;
    for (i = 0; i < t->name.n; i++) if (!agenti_im_name_ok(agenti_str(t->name.p + i, 1))) t->name.p[i] = '_';
    if (t->name.n) t->name.p[t->name.n] = 0;
    return t->name.n || agenti_text_set(&t->name, im->pool, NULL, agenti_cstr("tool"));
}

/* ---- the body ---- */
static agenti_kept *agenti_im_kept(agenti_import *im, agent_str key)
{
    agenti_kept *k;
    uint32_t i;
    for (i = 0; i < im->kept_n; i++) if (agenti_same(agenti_text_view(&im->kept[i].key), key)) return &im->kept[i];     /* the last one counts */
    if (im->kept_n == im->kept_cap) {
        uint32_t cap = im->kept_cap ? im->kept_cap * 2 : 8;
        if (cap > AGENTI_IM_MEMBERS) { im->limit = 1; (void)agenti_im_fail(im, key.p, "more members than an import takes"); return NULL; }
        k = (agenti_kept *)agenti_resize(im->pool, im->kept, im->kept_cap * sizeof *k, cap * sizeof *k);
        if (k == NULL) return NULL;
        im->kept = k;
        im->kept_cap = cap;
    }
    k = &im->kept[im->kept_n++];
    memset(k, 0, sizeof *k);
    return agenti_im_raw(im, &k->key, key) ? k : NULL;
}
AGENTI_FN int agenti_im_members(agenti_import *im, agent_str body, uint32_t (*take)(agenti_import *, agent_str key, agent_str value))
{
    agent_str key, value;
    size_t pos = 0;
    agenti_kept *k;
    while (agent_json_each(body, &pos, &key, &value)) {
        uint32_t options;
        if (agenti_eq(value, "null")) continue;
        options = take(im, key, value);
        if (im->system.bad) return 0;
        if (options == AGENTI_IM_TAKEN) continue;
        if ((k = agenti_im_kept(im, key)) == NULL || !agenti_im_raw(im, &k->value, value)) return 0;
        k->options = options;
    }
    return 1;
}
/* Are two JSON texts the same but for blanks?                                                                          */
static int agenti_im_alike(agent_str a, agent_str b)
{
    size_t i = 0, k = 0, n;
    AGENTI_TOUCH(a.n);
    for (;;) {
        i += agenti_json_space(a.p + i, a.n - i);
        k += agenti_json_space(b.p + k, b.n - k);
        if (i == a.n || k == b.n) return i == a.n && k == b.n;
        n = a.p[i] == '"' ? agenti_json_skip(a.p + i, a.n - i) : 1;
        if (n == 0 || n > b.n - k || memcmp(a.p + i, b.p + k, n) != 0) return 0;
        i += n;
        k += n;
    }
}
/* A request without messages, as it would be made of what was read: what it says just as the body did need not be kept. */
static int agenti_im_settle(agenti_import *im)
{
    agenti_request r;
    agenti_buf b;
    agent_str key, value;
    size_t pos = 0;
    uint32_t i;
    int ok;
    memset(&r, 0, sizeof r);
    r.options = im->options;
    r.tools = im->tools;
    r.tool_count = im->tool_n;
    r.wire = im->wire;
    r.dialect = im->dialect;
    r.stream = im->streams;
    r.system_raw = agenti_str(im->system_raw.p, im->system_raw.n);
    agenti_buf_init(&b, im->pool);
    im->wire->head(&b, &r);
    im->wire->tail(&b, &r);
    im->wire->tools(&b, &r);
    im->wire->end(&b, &r);
    ok = !b.bad;
    while (ok && agent_json_each(agenti_str(b.p, b.n), &pos, &key, &value)) {
        for (i = 0; i < im->kept_n && !agenti_same(agenti_text_view(&im->kept[i].key), key); i++) {}
        if (i == im->kept_n || (im->foreign && agenti_eq(key, "model")) || !agenti_im_alike(agenti_text_view(&im->kept[i].value), value)) continue;
        agenti_kept_drop(&im->kept[i]);
        memmove(&im->kept[i], &im->kept[i + 1], (--im->kept_n - i) * sizeof *im->kept);
    }
    agenti_buf_free(&b);
    return ok;
}
/* The last message may have calls whose results are still to come; any other call has its result.                      */
AGENTI_FN int agenti_im_end(agenti_import *im)
{
    agent_str system = agenti_str(im->system.p, im->system.n);
    if (!agenti_im_close(im)) return 0;
    if (im->stream >= 0) im->streams = im->stream;
    if (im->missing) {
        if (im->missing < im->results->n || im->table.msgs[im->table.n - 1] != im->results)
            return agenti_im_fail(im, im->calls_at, "a call without its result");
        agenti_msg_free(im->pool, im->results, NULL);
        im->table.n--;
        im->missing = 0;
    }
    if (im->system.bad || im->system_raw.bad) return 0;
    if (im->systems == 1 && im->system_plain) im->system_raw.n = 0;
    if (system.n && agenti_im_set(im, AGENTI_OPT_SYSTEM, system) == 0) return 0;
    return agenti_im_settle(im);
}
#endif

/* ==== wire_openai_replay.c: what hosts of OpenAI chat want back of an answer ====================================== */
/* What hosts of OpenAI chat want back of an answer, and in which member: OpenRouter `reasoning_details` (wire-quirks D4), Copilot
 * `reasoning_opaque` (D13), Gemini's compatible endpoint `extra_content` of calls (D12), DeepSeek and its like `reasoning_content` (D1).
 * A reasoning part's data is `[` and what came beside its text, as JSON objects with commas between. */
#ifndef AGENT_NO_OPENAI_CHAT
AGENTI_FN int  agenti_details_add(agenti_decoder *, agent_str list);             /* of a delta, with their text. 0: no memory */
AGENTI_FN int  agenti_details_text(agent_str list);                              /* has one of them text?               */
AGENTI_FN int  agenti_opaque_add(agenti_decoder *, agent_str value);             /* a JSON string. 0: no memory         */
AGENTI_FN void agenti_reasoning_out(agenti_buf *, agenti_request *, const agenti_msg *);      /* members of an assistant message */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_OPENAI_REPLAY
/* Keeps a fragment with the reasoning that is open, or with an empty one.                                              */
static int agenti_detail_keep(agenti_decoder *d, const char *open, agent_str members)
{
    agenti_op *op;
    char *p;
    size_t n = strlen(open);
    if (d->stream && d->stream_kind != AGENTI_OP_REASONING && !agenti_stream_end(d)) return 0;
    if (d->stream == 0) {
        d->stream = ++d->streams;
        d->stream_kind = AGENTI_OP_REASONING;
        d->stream_data = 0;
        if (agenti_op_add(d, AGENTI_OP_REASONING, d->stream) == NULL) return 0;
    }
    if ((p = agenti_arena_get(&d->arena, members.n + n + 2)) == NULL || (op = agenti_op_add(d, AGENTI_OP_DATA, d->stream)) == NULL) return 0;
    p[0] = d->stream_data ? ',' : '[';
    memcpy(p + 1, open, n);
    memcpy(p + 1 + n, members.p, members.n);
    p[1 + n + members.n] = '}';
    op->a = agenti_str(p, members.n + n + 2);
    AGENTI_TOUCH(members.n);
    d->stream_data = 1;
    return 1;
}
/* An object's members without the text: what stands in the part already.                                               */
static int agenti_detail_fragment(agenti_decoder *d, agent_str item)
{
    agent_str key, value, out;
    size_t pos = 0, n = 0;
    char *p = agenti_arena_get(&d->arena, item.n);
    if (p == NULL) return 0;
    while (agent_json_each(item, &pos, &key, &value)) {
        if (agenti_eq(key, "text") || agenti_eq(key, "summary") || agenti_eq(value, "null")) continue;
        if (n) p[n++] = ',';
        p[n++] = '"';
        memcpy(p + n, key.p, key.n);
        n += key.n;
        p[n++] = '"';
        p[n++] = ':';
        memcpy(p + n, value.p, value.n);
        n += value.n;
    }
    return agenti_raw_of(d, agenti_str(p, n), &out) && agenti_detail_keep(d, "{", out);
}
static agent_str agenti_detail_words(agent_str item)         /* its text or summary                                     */
{
    agent_str text = agent_json_get(item, "text");
    return agenti_nonempty(text) ? text : agent_json_get(item, "summary");
}
AGENTI_FN int agenti_details_text(agent_str list)
{
    agent_str item;
    size_t pos = 0;
    while (agent_json_each(list, &pos, NULL, &item)) if (agenti_is_object(item) && agenti_nonempty(agenti_detail_words(item))) return 1;
    return 0;
}
/* Fragments of one index are one thought; each but the first brings nothing but text, or the signature at last.        */
AGENTI_FN AGENTI_NOINLINE int agenti_details_add(agenti_decoder *d, agent_str list)
{
    agent_str item, words;
    size_t pos = 0;
    int64_t index;
    while (agent_json_each(list, &pos, NULL, &item)) {
        if (!agenti_is_object(item)) continue;
        words = agenti_detail_words(item);
        index = agent_json_int(agent_json_get(item, "index"), 0);
        if (d->stream && d->stream_kind == AGENTI_OP_REASONING && d->stream_data && index != d->stream_index && !agenti_stream_end(d)) return 0;
        if (d->stream == 0 || d->stream_kind != AGENTI_OP_REASONING || !d->stream_data || agenti_nonempty(agent_json_get(item, "signature"))
            || agenti_nonempty(agent_json_get(item, "data"))) {
            if (!agenti_detail_fragment(d, item)) return 0;
            d->stream_index = index;
        }
        if (!agenti_stream_add(d, AGENTI_OP_REASONING, words, 0)) return 0;
    }
    return 1;
}
AGENTI_FN int agenti_opaque_add(agenti_decoder *d, agent_str value)
{
    agent_str raw;
    return !agenti_nonempty(value) || (agenti_raw_of(d, value, &raw) && agenti_detail_keep(d, "{\"reasoning_opaque\":", raw));
}

/* ---- back again ---- */
typedef struct agenti_detail { agent_str type, id, format, index, signature; } agenti_detail;       /* the last of each that came */
static void agenti_detail_take(agenti_detail *t, agent_str item)
{
    static const char *const keys[] = { "type", "id", "format", "index", "signature" };
    agent_str *to[5], v;
    int i;
    to[0] = &t->type; to[1] = &t->id; to[2] = &t->format; to[3] = &t->index; to[4] = &t->signature;
    for (i = 0; i < 5; i++) if ((v = agent_json_get(item, keys[i])).n) *to[i] = v;
}
static void agenti_detail_out(agenti_buf *b, const agenti_detail *t, agent_str text)
{
    agenti_buf_str(b, "{");
    if (t->type.n) agenti_json_member(b, "type", t->type);
    agenti_json_member_str(b, agent_json_is(t->type, "reasoning.summary") ? "summary" : "text", text);
    if (t->signature.n) agenti_json_member(b, "signature", t->signature);
    if (t->id.n) agenti_json_member(b, "id", t->id);
    if (t->format.n) agenti_json_member(b, "format", t->format);
    if (t->index.n) agenti_json_member(b, "index", t->index);
    agenti_buf_str(b, "}");
}
/* The details of one part. list: its fragments.                                                                        */
static AGENTI_NOINLINE void agenti_details_out(agenti_buf *b, agent_str list, agent_str text)
{
    agenti_detail t;
    agent_str item;
    size_t pos = 0;
    memset(&t, 0, sizeof t);
    while (agent_json_each(list, &pos, NULL, &item)) if (agent_json_get(item, "data").n == 0) agenti_detail_take(&t, item);
    if (text.n || t.signature.n) {
        agenti_json_comma(b);
        agenti_detail_out(b, &t, text);
    }
    pos = 0;
    while (agent_json_each(list, &pos, NULL, &item)) if (agent_json_get(item, "data").n) {
        agenti_json_comma(b);
        agenti_buf_add(b, item.p, item.n);
    }
}
static void agenti_reasoning_texts_out(agenti_buf *b, const agenti_msg *m, const char *key)
{
    uint32_t i;
    agenti_json_member_str(b, key, agenti_str(NULL, 0));
    for (i = 0; i < m->n; i++) if (m->parts[i].kind == AGENT_PART_REASONING) agenti_json_quote_more(b, agenti_text_view(&m->parts[i].text));
}
/* reasoning_details of all parts are one list; an opaque one has its text beside.                                      */
static void agenti_reasoning_data_out(agenti_buf *b, const agenti_msg *m)
{
    agenti_buf list;
    agent_str opaque = agenti_str(NULL, 0), v;
    uint32_t i;
    int open = 0;
    agenti_buf_init(&list, b->pool);
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        if (p->kind != AGENT_PART_REASONING || p->data.n == 0) continue;
        list.n = 0;
        agenti_buf_add(&list, p->data.p, p->data.n);
        agenti_buf_str(&list, "]");
        if (list.bad || agent_json_check(list.p, list.n, 0, NULL) != AGENT_OK) continue;       /* a host's own data      */
        v = agent_json_get(agenti_str(list.p, list.n), "[0].reasoning_opaque");
        if (v.n) {
            opaque = agenti_str(p->data.p + (v.p - list.p), v.n);
            continue;
        }
        agenti_buf_str(b, open ? "" : ",\"reasoning_details\":[");
        open = 1;
        agenti_details_out(b, agenti_str(list.p, list.n), agenti_text_view(&p->text));
    }
    b->bad |= list.bad;
    agenti_buf_free(&list);
    if (open) agenti_buf_str(b, "]");
    if (opaque.n == 0) return;
    agenti_json_member(b, "reasoning_opaque", opaque);
    agenti_reasoning_texts_out(b, m, "reasoning_text");
}
AGENTI_FN AGENTI_NOINLINE void agenti_reasoning_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    int own = m->model == r->model, has = 0, data = 0;
    uint32_t i;
    for (i = 0; i < m->n; i++) if (m->parts[i].kind == AGENT_PART_REASONING) {
        has = 1;
        data |= m->parts[i].data.n > 0;
    }
    if (!own && (data || (has && (r->dialect & AGENT_DIALECT_REASONING_CONTENT)))) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING);
    if (own && data) agenti_reasoning_data_out(b, m);
    if (!(r->dialect & AGENT_DIALECT_REASONING_CONTENT)) return;
    if (own) agenti_reasoning_texts_out(b, m, "reasoning_content");
    else agenti_json_member_str(b, "reasoning_content", agenti_str(NULL, 0));
}
#endif
#endif

/* ==== import_openai_chat.c: requests of OpenAI chat read ========================================================== */
/* Requests of OpenAI chat, as programs have them, into messages, tools and options. */
AGENTI_FN int agenti_openai_chat_import(agenti_import *, agent_str body);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_IMPORT_OPENAI_CHAT
/* ---- parts ---- */
static int agenti_ioc_audio(agenti_import *im, agenti_msg *m, agent_str audio)
{
    agent_str format = agent_json_get(audio, "format");
    if (agent_json_is(format, "wav")) return agenti_im_data(im, m, AGENT_PART_AUDIO, agent_json_get(audio, "data"), agenti_cstr("\"audio/wav\""));
    return agent_json_is(format, "mp3") ? agenti_im_data(im, m, AGENT_PART_AUDIO, agent_json_get(audio, "data"), agenti_cstr("\"audio/mpeg\"")) : 0;
}
/* A part of a user's message. What has no other place of it goes with it: outside (`more`), and inside of the object in it. */
static int agenti_ioc_part(agenti_import *im, agenti_msg *m, agent_str part)
{
    static const char *const text_keys[] = { "type", "text", NULL }, *const keys[] = { "type", "image_url", "input_audio", "file", NULL };
    static const char *const inner_keys[] = { "url", "data", "format", "filename", "file_data", NULL };
    agent_str type = agent_json_get(part, "type"), text = agent_json_get(part, "text"), object = agenti_str(NULL, 0);
    agenti_part *p;
    int rc = 0;
    if (agent_json_is(type, "text") && agenti_is_string(text))
        return agenti_im_words(im, m, AGENT_PART_TEXT, text) && agenti_im_more(im, &m->parts[m->n - 1].more, part, text_keys);
    if (agent_json_is(type, "image_url")) {
        object = agent_json_get(part, "image_url");
        if (agenti_is_object(object)) rc = agenti_im_url(im, m, AGENT_PART_IMAGE, agent_json_get(object, "url"));
    } else if (agent_json_is(type, "input_audio")) rc = agenti_ioc_audio(im, m, object = agent_json_get(part, "input_audio"));
    else if (agent_json_is(type, "file")) {
        agent_str data;
        object = agent_json_get(part, "file");
        data = agent_json_get(object, "file_data");
        if (agenti_nonempty(data) && data.n > 6 && agenti_ieq(agenti_str(data.p + 1, 5), "data:")) rc = agenti_im_url(im, m, AGENT_PART_FILE, data);
    }
    if (rc < 0) return 0;
    if (rc > 0 && agent_json_is(type, "image_url") && m->parts[m->n - 1].kind != AGENT_PART_IMAGE) m->parts[m->n - 1].kind = AGENT_PART_IMAGE;
    if (rc > 0 && agent_json_is(type, "file")) m->parts[m->n - 1].kind = AGENT_PART_FILE;
    if (rc == 0) return agenti_im_other(im, m, part, agenti_is_string(type) ? type : agenti_cstr("\"?\""));
    p = &m->parts[m->n - 1];
    if (p->kind == AGENT_PART_FILE && agenti_nonempty(agent_json_get(object, "filename")) && !agenti_im_text(im, &p->name, agent_json_get(object, "filename")))
        return 0;
    return agenti_im_more(im, &p->more, part, keys) && agenti_im_more(im, &p->inner, object, inner_keys);
}
static int agenti_ioc_content(agenti_import *im, agenti_msg *m, agent_str content, agent_str at)
{
    agent_str part;
    size_t pos = 0;
    if (agenti_is_string(content)) return agenti_im_words(im, m, AGENT_PART_TEXT, content);
    if (!agenti_is_array(content)) return agenti_im_fail(im, content.n ? content.p : at.p, "messages: content is no text and no list of parts");
    while (agent_json_each(content, &pos, NULL, &part)) if (!agenti_ioc_part(im, m, part)) return 0;
    return 1;
}

/* ---- messages ---- */
/* Those at the start are the system prompt.                                                                            */
static int agenti_ioc_system(agenti_import *im, agent_str item, agent_str role, agent_str content)
{
    static const char *const keys[] = { "role", "content", NULL };
    int plain = agenti_is_string(content) && agent_json_is(role, "system") && agenti_im_count(item) == 2;
    agenti_msg *m;
    agent_str part;
    size_t pos = 0;
    if (im->table.n == 0) {
        while (agenti_is_array(content) && agent_json_each(content, &pos, NULL, &part))
            if (!agenti_im_system(im, agent_json_get(part, "text"), NULL, 0)) return 0;
        return agenti_im_system(im, agenti_is_string(content) ? content : agenti_str(NULL, 0), &item, plain && agenti_nonempty(content));
    }
    if ((m = agenti_im_msg(im, AGENT_USER, item)) == NULL) return 0;
    m->flags = (uint8_t)(agent_json_is(role, "developer") ? AGENT_MSG_SYSTEM | AGENTI_MSG_DEVELOPER : AGENT_MSG_SYSTEM);
    return agenti_im_more(im, &m->more, item, keys) && agenti_ioc_content(im, m, content, item);
}
static int agenti_ioc_user(agenti_import *im, agent_str item, agent_str content)
{
    static const char *const keys[] = { "role", "content", NULL };
    agenti_msg *m = agenti_im_msg(im, AGENT_USER, item);
    return m && agenti_im_more(im, &m->more, item, keys) && agenti_ioc_content(im, m, content, item);
}
/* Members of a reasoning detail that stand beside its text, as an object behind the `[` of a reasoning part's data.     */
static int agenti_ioc_detail(agenti_import *im, agenti_msg *m, agent_str detail)
{
    static const char *const keys[] = { "text", "summary", NULL };
    agent_str text = agent_json_get(detail, "text");
    agenti_part *p = agenti_im_part(im, m, AGENT_PART_REASONING);
    agenti_text members;
    int ok;
    if (p == NULL) return 0;
    memset(&members, 0, sizeof members);
    if (!agenti_is_string(text)) text = agent_json_get(detail, "summary");
    if (agenti_is_string(text) && !agenti_im_text(im, &p->text, text)) return 0;
    ok = agenti_im_more(im, &members, detail, keys) && agenti_im_wrap(im, &p->data, "[{", agenti_text_view(&members));
    agenti_text_free(&members, NULL);
    return ok;
}
static int agenti_ioc_opaque(agenti_import *im, agenti_msg *m, agent_str opaque)
{
    agenti_part *p = &m->parts[m->n - 1];
    agenti_text raw;
    int ok;
    memset(&raw, 0, sizeof raw);
    ok = agenti_im_raw(im, &raw, opaque) && agenti_im_wrap(im, &p->data, "[{\"reasoning_opaque\":", agenti_text_view(&raw));
    agenti_text_free(&raw, NULL);
    return ok;
}
/* The same thoughts may stand in several members: they are shown once, and those that are not written back otherwise stay as they are. */
static int agenti_ioc_reasoning(agenti_import *im, agenti_msg *m, agent_str item)
{
    static const char *const words[] = { "reasoning_content", "reasoning", "reasoning_text" };
    agent_str details = agent_json_get(item, "reasoning_details"), opaque = agent_json_get(item, "reasoning_opaque"), v;
    size_t pos = 0;
    int i;
    if (agenti_is_array(details)) {
        while (agent_json_each(details, &pos, NULL, &v)) if (agenti_is_object(v) && !agenti_ioc_detail(im, m, v)) return 0;
    } else for (i = 0; i < 3; i++) {
        if (!agenti_nonempty(v = agent_json_get(item, words[i]))) continue;
        if (!agenti_im_words(im, m, AGENT_PART_REASONING, v)) return 0;
        break;
    }
    if (!agenti_nonempty(opaque) || agenti_is_array(details)) return 1;
    if (m->n == 0 && agenti_im_part(im, m, AGENT_PART_REASONING) == NULL) return 0;
    return agenti_ioc_opaque(im, m, opaque);
}
/* Texts and refusals of a list; what else is in it makes the list stay as it came.                                      */
static int agenti_ioc_answer(agenti_import *im, agenti_msg *m, agent_str content)
{
    agent_str part, text;
    size_t pos = 0;
    int plain = 1;
    if (agenti_nonempty(content)) return agenti_im_words(im, m, AGENT_PART_TEXT, content);
    if (!agenti_is_array(content)) return 1;
    while (agent_json_each(content, &pos, NULL, &part)) {
        int refuses = agent_json_is(agent_json_get(part, "type"), "refusal");
        text = agent_json_get(part, refuses ? "refusal" : "text");
        plain = plain && !refuses && agent_json_is(agent_json_get(part, "type"), "text") && agenti_is_string(text) && agenti_im_count(part) == 2;
        if (!agenti_is_string(text)) continue;
        if (!agenti_im_words(im, m, AGENT_PART_TEXT, text)) return 0;
        if (refuses) m->parts[m->n - 1].flags |= AGENT_PART_REFUSAL;
    }
    if (!plain) m->flags |= AGENTI_MSG_CONTENT;
    return 1;
}
static int agenti_ioc_call(agenti_import *im, agenti_msg *m, agent_str call)
{
    static const char *const keys[] = { "id", "type", "function", "extra_content", NULL }, *const inner[] = { "name", "arguments", NULL };
    static const char *const custom_keys[] = { "id", NULL };
    agent_str function = agent_json_get(call, "function"), extra = agent_json_get(call, "extra_content"), custom = agent_json_get(call, "custom");
    int own = !agenti_is_object(function) && agenti_is_object(custom);
    agenti_part *p;
    if (!agenti_is_object(call)) return agenti_im_fail(im, call.p, "messages: a call is no object");
    if (own) {                                /* a tool of free text                                                    */
        p = agenti_im_call(im, m, agent_json_get(call, "id"), agent_json_get(custom, "name"), agenti_str(NULL, 0), call);
        if (p == NULL) return 0;
        p->flags |= AGENTI_PART_CONTENT;
        return agenti_im_input(im, p, agent_json_get(custom, "input")) && agenti_im_more(im, &p->more, call, custom_keys);
    }
    p = agenti_im_call(im, m, agent_json_get(call, "id"), agent_json_get(function, "name"), agent_json_get(function, "arguments"), call);
    if (p == NULL || (agenti_is_object(extra) && !agenti_im_raw(im, &p->data, extra))) return 0;
    return agenti_im_more(im, &p->more, call, keys) && agenti_im_more(im, &p->inner, function, inner);
}
static int agenti_ioc_assistant(agenti_import *im, agent_str item, agent_str content)
{
    static const char *const keys[] = { "role", "content", "tool_calls", "function_call", "reasoning_details", "reasoning_opaque", "reasoning_content", NULL };
    static const char *const own[] = { "role", "content", "tool_calls", "function_call", "reasoning_details", NULL };
    static const char *const with[] = { "role", "tool_calls", "function_call", "reasoning_details", NULL };
    static const char *const opaque[] = { "role", "content", "tool_calls", "function_call", "reasoning_opaque", "reasoning_text", NULL };
    agent_str calls = agent_json_get(item, "tool_calls"), call = agent_json_get(item, "function_call"), refusal = agent_json_get(item, "refusal");
    const char *const *known = im->dialect & AGENT_DIALECT_REASONING_CONTENT ? keys : own;
    agenti_msg *m = agenti_im_msg(im, AGENT_MODEL, item);
    size_t pos = 0;
    if (m == NULL || !agenti_ioc_reasoning(im, m, item) || !agenti_ioc_answer(im, m, content)) return 0;
    if (agenti_nonempty(agent_json_get(item, "reasoning_opaque")) && !agenti_is_array(agent_json_get(item, "reasoning_details"))) known = opaque;
    if (m->flags & AGENTI_MSG_CONTENT) known = with;
    if (!agenti_im_more(im, &m->more, item, known)) return 0;
    if (agenti_nonempty(refusal)) {           /* the member itself goes back: a text stands for it in other formats     */
        if (!agenti_im_words(im, m, AGENT_PART_TEXT, refusal)) return 0;
        m->parts[m->n - 1].flags |= AGENT_PART_REFUSAL | AGENTI_PART_CONTENT;
    }
    if (!agenti_is_array(calls)) return !agenti_is_object(call) || agenti_im_call(im, m, agenti_str(NULL, 0), agent_json_get(call, "name"), agent_json_get(call, "arguments"), call);
    while (agent_json_each(calls, &pos, NULL, &call)) if (!agenti_ioc_call(im, m, call)) return 0;
    return 1;
}
/* The result of a call: a text, or texts in a list.                                                                     */
static int agenti_ioc_result(agenti_import *im, agent_str item, agent_str content)
{
    static const char *const keys[] = { "role", "tool_call_id", "content", NULL }, *const with[] = { "role", "tool_call_id", NULL };
    agent_str id = agent_json_get(item, "tool_call_id"), name = agent_json_get(item, "name");
    agenti_part *p = agenti_im_result(im, id, agenti_is_string(name) ? name : agenti_cstr("\"\""));
    if (p == NULL) return agenti_im_fail(im, item.p, "messages: a result without its call before it");
    if (!agenti_im_result_text(im, p, content)) return 0;
    if (agenti_nonempty(content)) return agenti_im_more(im, &p->more, item, keys);
    p->flags |= AGENTI_PART_CONTENT;
    return agenti_im_more(im, &p->more, item, with);
}
static int agenti_ioc_message(agenti_import *im, agent_str item)
{
    agent_str role = agent_json_get(item, "role"), content = agent_json_get(item, "content");
    if (!agenti_is_object(item)) return agenti_im_fail(im, item.p, "messages: an element is no object");
    if (agent_json_is(role, "system") || agent_json_is(role, "developer")) return agenti_ioc_system(im, item, role, content);
    if (agent_json_is(role, "user")) return agenti_ioc_user(im, item, content);
    if (agent_json_is(role, "assistant")) return agenti_ioc_assistant(im, item, content);
    if (agent_json_is(role, "tool") || agent_json_is(role, "function")) return agenti_ioc_result(im, item, content);
    return agenti_im_fail(im, role.n ? role.p : item.p, "messages: role is none of system, developer, user, assistant, tool, function");
}

/* ---- tools and options ---- */
static int agenti_ioc_tools(agenti_import *im, agent_str tools)
{
    agent_str tool, f, type;
    size_t pos = 0;
    if (tools.n == 0 || agenti_eq(tools, "null")) return 1;
    if (!agenti_is_array(tools)) return agenti_im_fail(im, tools.p, "tools: no list");
    im->tools_given = 1;
    while (agent_json_each(tools, &pos, NULL, &tool)) {
        f = agent_json_get(tool, "function");
        type = agent_json_get(tool, "type");
        if (!agenti_is_object(tool)) return agenti_im_fail(im, tool.p, "tools: an element is no object");
        if (agenti_is_object(f) ? !agenti_im_tool(im, tool, agent_json_get(f, "name"), agent_json_get(f, "description"), agent_json_get(f, "parameters"))
            : !agenti_im_raw_tool(im, tool, agenti_is_string(agent_json_get(tool, "custom.name")) ? agent_json_get(tool, "custom.name") : type)) return 0;
    }
    return 1;
}
static uint32_t agenti_ioc_choice(agenti_import *im, agent_str v)
{
    agent_str name = agent_json_get(v, "function.name");
    if (im->tool_n == 0) return 0;
    if (agent_json_is(v, "any")) return agenti_im_word(im, AGENTI_OPT_TOOL_CHOICE, "required");
    if (agent_json_is(v, "auto") || agent_json_is(v, "none") || agent_json_is(v, "required")) return agenti_im_string(im, AGENTI_OPT_TOOL_CHOICE, v);
    if (agent_json_is(name, "auto") || agent_json_is(name, "none") || agent_json_is(name, "required")) return 0;
    return agenti_is_object(v) ? agenti_im_string(im, AGENTI_OPT_TOOL_CHOICE, name) : 0;
}
static uint32_t agenti_ioc_take(agenti_import *im, agent_str key, agent_str v)
{
    static const struct { const char *key; int option; } numbers[] = {
        { "max_tokens", AGENTI_OPT_MAX_TOKENS }, { "max_completion_tokens", AGENTI_OPT_MAX_TOKENS }, { "seed", AGENTI_OPT_SEED },
        { "random_seed", AGENTI_OPT_SEED }, { "temperature", AGENTI_OPT_TEMPERATURE }, { "top_p", AGENTI_OPT_TOP_P },
        { "frequency_penalty", AGENTI_OPT_FREQUENCY }, { "presence_penalty", AGENTI_OPT_PRESENCE }
    };
    size_t i;
    if (agenti_eq(key, "messages") || agenti_eq(key, "tools")) return AGENTI_IM_TAKEN;
    if (agenti_eq(key, "stream") && (agenti_eq(v, "true") || agenti_eq(v, "false"))) { im->stream = agenti_eq(v, "true"); return AGENTI_IM_TAKEN; }
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++) if (agenti_eq(key, numbers[i].key)) {
        uint32_t option = agenti_im_number(im, numbers[i].option, v);
        return option && i < 4 ? AGENTI_IM_TAKEN : option;    /* two names of one thing: the peer's dialect has one of them */
    }
    if (agenti_eq(key, "model")) return agenti_im_string(im, AGENTI_OPT_MODEL, v);
    if (agenti_eq(key, "stop")) return agenti_im_stop(im, v);
    if (agenti_eq(key, "tool_choice")) return agenti_ioc_choice(im, v);
    if (agenti_eq(key, "parallel_tool_calls")) return im->tool_n ? agenti_im_bool(im, AGENTI_OPT_PARALLEL, v, 0) : 0;
    if (agenti_eq(key, "reasoning_effort")) return agenti_im_string(im, AGENTI_OPT_EFFORT, v);
    if (agenti_eq(key, "reasoning") && im->foreign) return agenti_im_string(im, AGENTI_OPT_EFFORT, agent_json_get(v, "effort"));     /* OpenRouter */
    return 0;
}
AGENTI_FN int agenti_openai_chat_import(agenti_import *im, agent_str body)
{
    agent_str messages = agenti_is_array(body) ? body : agent_json_get(body, "messages"), item;
    size_t pos = 0;
    if (!agenti_is_array(messages)) return agenti_im_fail(im, messages.n ? messages.p : body.p, "messages: no list");
    if (body.p != messages.p && !agenti_ioc_tools(im, agent_json_get(body, "tools"))) return 0;
    while (agent_json_each(messages, &pos, NULL, &item)) if (!agenti_ioc_message(im, item)) return 0;
    return (body.p == messages.p || agenti_im_members(im, body, agenti_ioc_take)) && agenti_im_end(im);
}
#endif

/* ==== wire_openai_chat.c: OpenAI chat completions ================================================================= */
/* OpenAI chat completions and what speaks it: https://platform.openai.com/docs/api-reference/chat
 * Answers: chunks `chat.completion.chunk`, whole answers `chat.completion`. Requests: POST .../chat/completions. */
#ifndef AGENT_NO_OPENAI_CHAT
AGENTI_FN const agenti_wire *agenti_openai_chat(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_OPENAI_CHAT
/* ---- answers ---- */
enum { AGENTI_OC_ERROR, AGENTI_OC_USAGE, AGENTI_OC_CHOICES, AGENTI_OC_GROQ, AGENTI_OC_GROQ_USAGE, AGENTI_OC_RESULTS, AGENTI_OC_CITATIONS,
       AGENTI_OC_MODEL, AGENTI_OC_FIELDS };
static const agenti_field agenti_oc_chunk[AGENTI_OC_FIELDS] = {
    { "error", -1 }, { "usage", -1 }, { "choices", -1 }, { "x_groq", -1 }, { "usage", AGENTI_OC_GROQ }, { "search_results", -1 },
    { "citations", -1 }, { "model", -1 }
};
enum { AGENTI_OD_CONTENT, AGENTI_OD_REASONING_CONTENT, AGENTI_OD_REASONING, AGENTI_OD_REASONING_TEXT, AGENTI_OD_DETAILS, AGENTI_OD_REFUSAL,
       AGENTI_OD_CALLS, AGENTI_OD_FUNCTION, AGENTI_OD_ANNOTATIONS, AGENTI_OD_IMAGES, AGENTI_OD_OPAQUE, AGENTI_OD_FIELDS };
enum { AGENTI_OI_INDEX = AGENTI_OD_FIELDS + 1, AGENTI_OI_FINISH, AGENTI_OI_USAGE, AGENTI_OI_MESSAGE, AGENTI_OI_FIELDS };
#define AGENTI_OC_DELTA_ROWS(up) { "content", up }, { "reasoning_content", up }, { "reasoning", up }, { "reasoning_text", up }, \
    { "reasoning_details", up }, { "refusal", up }, { "tool_calls", up }, { "function_call", up }, { "annotations", up }, \
    { "images", up }, { "reasoning_opaque", up }
/* Row 0 is the delta itself, so its members are rows 1 to AGENTI_OD_FIELDS.                                            */
static const agenti_field agenti_oc_choice[AGENTI_OI_FIELDS] = {
    { "delta", -1 }, AGENTI_OC_DELTA_ROWS(0), { "index", -1 }, { "finish_reason", -1 }, { "usage", -1 }, { "message", -1 }
};
static const agenti_field agenti_oc_message[AGENTI_OD_FIELDS] = { AGENTI_OC_DELTA_ROWS(-1) };
enum { AGENTI_OT_ID, AGENTI_OT_INDEX, AGENTI_OT_FUNCTION, AGENTI_OT_NAME, AGENTI_OT_ARGUMENTS, AGENTI_OT_EXTRA, AGENTI_OT_FIELDS };
static const agenti_field agenti_oc_call[AGENTI_OT_FIELDS] = {
    { "id", -1 }, { "index", -1 }, { "function", -1 }, { "name", AGENTI_OT_FUNCTION }, { "arguments", AGENTI_OT_FUNCTION },
    { "extra_content", -1 }
};
enum { AGENTI_OC_SOURCED = 1, AGENTI_OC_REFUSED = 2 };        /* agenti_decoder.sourced                                   */
enum { AGENTI_OC_MOVED = 1,                   /* agenti_lane.kind: it took an index that another call had               */
       AGENTI_OC_WRAPPER = 2 };               /* it holds calls, and shows when it is over                              */

static const char agenti_oc_wrapper[] = "multi_tool_use.parallel";

static int64_t agenti_first_count(const agent_str *f, int a, int b, int c, int d)
{
    int64_t n;
    if (agenti_count(f[a], &n) || agenti_count(f[b], &n) || agenti_count(f[c], &n) || agenti_count(f[d], &n)) return n;
    return -1;
}
/* Totals replace, they are never added; what is not told stays -1 (wire-quirks B3-B5, B19-B21).                        */
static AGENTI_NOINLINE void agenti_oc_usage(agenti_decoder *d, agent_str usage)
{
    enum { PROMPT, COMPLETION, TOTAL, IN_DETAILS, CACHED, WRITTEN, OUT_DETAILS, REASONING, HIT, CACHED_TOP, CACHED_NUM, WRITTEN_TOP,
           IN_DETAIL, CACHED_DETAIL, REASONING_TOP, FIELDS };
    static const agenti_field rows[FIELDS] = {
        { "prompt_tokens", -1 }, { "completion_tokens", -1 }, { "total_tokens", -1 },
        { "prompt_tokens_details", -1 }, { "cached_tokens", IN_DETAILS }, { "cache_write_tokens", IN_DETAILS },
        { "completion_tokens_details", -1 }, { "reasoning_tokens", OUT_DETAILS },
        { "prompt_cache_hit_tokens", -1 }, { "cached_tokens", -1 }, { "num_cached_tokens", -1 }, { "cache_creation_input_tokens", -1 },
        { "prompt_token_details", -1 }, { "cached_tokens", IN_DETAIL }, { "reasoning_tokens", -1 }
    };
    agent_str f[FIELDS];
    agent_usage u;
    int64_t total;
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, rows, FIELDS, f);
    u.input = agenti_first_count(f, PROMPT, PROMPT, PROMPT, PROMPT);
    u.output = agenti_first_count(f, COMPLETION, COMPLETION, COMPLETION, COMPLETION);
    u.cached = agenti_first_count(f, CACHED, HIT, CACHED_TOP, CACHED_NUM);
    if (u.cached < 0) u.cached = agenti_first_count(f, CACHED_DETAIL, CACHED_DETAIL, CACHED_DETAIL, CACHED_DETAIL);
    u.cache_write = agenti_first_count(f, WRITTEN, WRITTEN_TOP, WRITTEN_TOP, WRITTEN_TOP);
    u.reasoning = agenti_first_count(f, REASONING, REASONING_TOP, REASONING_TOP, REASONING_TOP);
    total = agenti_first_count(f, TOTAL, TOTAL, TOTAL, TOTAL);
    if (u.input >= 0 && u.output >= 0 && u.reasoning > 0 && total >= u.input && total - u.input >= u.output
        && total - u.input - u.output == u.reasoning)
        u.output += u.reasoning;             /* xAI, Copilot: completion_tokens leaves reasoning out                    */
    if (u.input < 0 && u.output < 0) return;
    d->usage = u;
    d->has_usage = 1;
}
static int agenti_oc_finish_of(agent_str raw)
{
    static const struct { const char *word; int finish; } rows[] = {
        { "stop", AGENT_FINISH_STOP }, { "eos", AGENT_FINISH_STOP }, { "end_turn", AGENT_FINISH_STOP },
        { "length", AGENT_FINISH_LENGTH }, { "model_length", AGENT_FINISH_LENGTH }, { "max_tokens", AGENT_FINISH_LENGTH },
        { "content_filter", AGENT_FINISH_FILTER }, { "refusal", AGENT_FINISH_FILTER },
        { "tool_calls", AGENT_FINISH_TOOLS }, { "function_call", AGENT_FINISH_TOOLS },
        { "error", AGENT_FINISH_ERROR }, { "insufficient_system_resource", AGENT_FINISH_ERROR }
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (agenti_eq(raw, rows[i].word)) return rows[i].finish;
    return AGENT_FINISH_OTHER;
}
/* The first real reason counts; null and "" are none (B10, B11). A refusal ends with "stop" (B18).                     */
static int agenti_oc_finish(agenti_decoder *d, agent_str value)
{
    agent_str raw;
    int finish;
    if (!agenti_nonempty(value) || d->finish != AGENT_FINISH_NONE) return 1;
    if (!agenti_json_string(value, NULL, &d->arena, &raw)) return 0;
    finish = agenti_oc_finish_of(raw);
    if (finish == AGENT_FINISH_STOP && (d->sourced & AGENTI_OC_REFUSED)) finish = AGENT_FINISH_FILTER;
    agenti_finish_set(d, finish, raw);
    return 1;
}

/* Which call a delta belongs to: its id wins over its index, a new id is a new call even at a known index, and without both it is
 * the last one, unless a name begins another (C1-C11). A call that took the index of another may go on at its own. Returns
 * lane_n for a new call.                                                                                               */
static uint32_t agenti_oc_route(const agenti_decoder *d, agent_str id, int has_index, int64_t index, int has_name)
{
    uint32_t i;
    if (id.n) {
        for (i = d->lane_n; i-- > 0;) {
            const agenti_lane *c = &d->lanes[i];
            if (c->id.n != id.n || memcmp(c->id.p, id.p, id.n) != 0) continue;
            if (has_name && has_index && c->has_index && c->index != index) continue;       /* another call with its id (C23) */
            return i;
        }
        for (i = 0; has_index && i < d->lane_n; i++)     /* the id comes late: the call at this index has none yet       */
            if (d->lanes[i].has_index && d->lanes[i].index == index && d->lanes[i].id.n == 0) return i;
        return d->lane_n;
    }
    if (has_index) {
        for (i = d->lane_n; i-- > 0;) if (d->lanes[i].has_index && d->lanes[i].index == index) return i;
        return d->lane_n && !has_name && (d->lanes[d->last_call].kind & AGENTI_OC_MOVED) ? d->last_call : d->lane_n;
    }
    return d->lane_n == 0 || has_name ? d->lane_n : d->last_call;
}
static int agenti_oc_wrapper_add(agenti_decoder *d, agenti_lane *c, agent_str text)
{
    if (text.n <= d->item_limit - c->more.n) return agenti_text_add(&c->more, d->pool, d->graves, text);
    agenti_fault_set(d, AGENT_FAULT_LIMIT, 0, "", agenti_cstr("a call's arguments are longer than limits.item"));
    return 1;
}
static int agenti_oc_begin(agenti_decoder *d, uint32_t at, agent_str id, agent_str name)
{
    agenti_op *op;
    if (!agenti_stream_end(d) || agenti_lane_new(d) == NULL) return 0;
    d->lanes[at].named = name.n > 0;
    d->lanes[at].call = !agenti_eq(name, agenti_oc_wrapper);
    if (!d->lanes[at].call) { d->lanes[at].kind = AGENTI_OC_WRAPPER; return 1; }
    if ((op = agenti_op_add(d, AGENTI_OP_CALL, at)) == NULL) return 0;
    op->a = id;
    op->b = name;
    return 1;
}
/* The answer ends: the calls that wrappers hold; one that holds none is a call like any other. 0: no memory             */
static int agenti_oc_wrappers_end(agenti_decoder *d)
{
    uint32_t i;
    for (i = 0; i < d->lane_n; i++) {
        agent_str id = agenti_text_view(&d->lanes[i].id), args = agenti_text_view(&d->lanes[i].more);     /* live as long as the lane */
        agenti_op *op;
        int rc;
        if (!(d->lanes[i].kind & AGENTI_OC_WRAPPER)) continue;
        d->lanes[i].kind = 0;
        if ((rc = agenti_wrapper_calls(d, id, args)) == 0) return 0;
        if (rc > 0) continue;
        if ((op = agenti_op_add(d, AGENTI_OP_CALL, i)) == NULL) return 0;
        op->a = id;
        op->b = agenti_cstr(agenti_oc_wrapper);
        if ((op = agenti_op_add(d, AGENTI_OP_ARGS, i)) == NULL) return 0;
        op->a = args;
    }
    return 1;
}
static int agenti_oc_args(agenti_decoder *d, uint32_t call, agent_str args)
{
    agenti_lane *c = &d->lanes[call];
    agenti_op *op;
    agent_str text;
    if (args.n == 0 || agenti_eq(args, "null") || agenti_eq(args, "\"\"")) return 1;
    if (agenti_is_string(args) ? !agenti_json_string(args, &c->high, &d->arena, &text) : !agenti_raw_of(d, args, &text)) return 0;
    if (c->kind & AGENTI_OC_WRAPPER) return agenti_oc_wrapper_add(d, c, text);
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, call)) == NULL) return 0;
    op->a = text;
    return 1;
}
static int agenti_oc_call_delta(agenti_decoder *d, agent_str id, int has_index, int64_t index, agent_str name_value, agent_str args)
{
    agent_str name = agenti_str(NULL, 0);
    agenti_lane *c;
    agenti_op *op;
    uint32_t at;
    if (agenti_nonempty(name_value) && !agenti_json_string(name_value, NULL, &d->arena, &name)) return 0;
    at = agenti_oc_route(d, id, has_index, index, name.n > 0);
    if (at == d->lane_n && at >= d->call_limit) return agenti_too_many(d);
    if (at == d->lane_n) {
        if (!agenti_oc_begin(d, at, id, name)) return 0;
    } else if (d->lanes[at].call && ((name.n && !d->lanes[at].named) || (id.n && d->lanes[at].id.n == 0))) {
        if ((op = agenti_op_add(d, AGENTI_OP_NAME, at)) == NULL) return 0;
        op->a = id;
        op->b = name;
        if (name.n) d->lanes[at].named = 1;
    }
    c = &d->lanes[at];
    c->key = at;
    if (id.n && c->id.n == 0 && !agenti_text_set(&c->id, d->pool, d->graves, id)) return 0;
    if (has_index) {                                     /* the newest call owns the index                              */
        uint32_t i;
        for (i = 0; i < d->lane_n; i++) if (i != at && d->lanes[i].has_index && d->lanes[i].index == index) {
            d->lanes[i].has_index = 0;
            c->kind |= AGENTI_OC_MOVED;
        }
        c->has_index = 1;
        c->index = index;
    }
    d->last_call = at;
    return agenti_oc_args(d, at, args);
}
/* A signature of the call: it goes back with it.                                                                       */
static int agenti_oc_extra(agenti_decoder *d, agent_str extra)
{
    agenti_lane *c;
    agenti_op *op;
    if (!agenti_is_object(extra) || d->lane_n == 0) return 1;
    c = &d->lanes[d->last_call];
    if (c->cited) return 1;
    c->cited = 1;
    if ((op = agenti_op_add(d, AGENTI_OP_DATA, d->last_call)) == NULL) return 0;
    op->flags = AGENTI_DATA_CALL;
    return agenti_raw_of(d, extra, &op->a);
}
static AGENTI_NOINLINE int agenti_oc_calls(agenti_decoder *d, agent_str calls)
{
    agent_str f[AGENTI_OT_FIELDS], item, id;
    int64_t index = 0;
    size_t pos = 0;
    while (agent_json_each(calls, &pos, NULL, &item)) {
        int has_index;
        if (!agenti_is_object(item)) continue;
        agenti_json_pick(item, agenti_oc_call, AGENTI_OT_FIELDS, f);
        has_index = f[AGENTI_OT_INDEX].n && agenti_int(f[AGENTI_OT_INDEX], &index);
        id = agenti_str(NULL, 0);
        if (agenti_nonempty(f[AGENTI_OT_ID]) && !agenti_json_string(f[AGENTI_OT_ID], NULL, &d->arena, &id)) return 0;
        if (!agenti_oc_call_delta(d, id, has_index, has_index ? index : 0, f[AGENTI_OT_NAME], f[AGENTI_OT_ARGUMENTS])) return 0;
        if (!agenti_oc_extra(d, f[AGENTI_OT_EXTRA])) return 0;
    }
    return 1;
}
/* The form before tools: one call, neither id nor index.                                                               */
static int agenti_oc_function(agenti_decoder *d, agent_str call)
{
    static const agenti_field rows[2] = { { "name", -1 }, { "arguments", -1 } };
    agent_str f[2];
    agenti_json_pick(call, rows, 2, f);
    if (!agenti_nonempty(f[0]) && !agenti_nonempty(f[1])) return 1;      /* an empty object is no call                   */
    return agenti_oc_call_delta(d, agenti_str(NULL, 0), 1, -1, f[0], f[1]);
}

/* Mistral: content is a list of {type: text}, {type: thinking, thinking: [{text}]} (B8).                               */
static int agenti_oc_content_part(agenti_decoder *d, agent_str part)
{
    agent_str thinking, item;
    size_t pos = 0;
    if (agent_json_is(agent_json_get(part, "type"), "thinking")) {
        thinking = agent_json_get(part, "thinking");
        if (agenti_is_string(thinking)) return agenti_stream_add(d, AGENTI_OP_REASONING, thinking, 0);
        while (agent_json_each(thinking, &pos, NULL, &item))
            if (!agenti_stream_add(d, AGENTI_OP_REASONING, agent_json_get(item, "text"), 0)) return 0;
        return 1;
    }
    return agenti_stream_add(d, AGENTI_OP_TEXT, agent_json_get(part, "text"), 0);
}
static int agenti_oc_content(agenti_decoder *d, agent_str content)
{
    agent_str part;
    size_t pos = 0;
    if (!agenti_is_array(content)) return agenti_stream_add(d, AGENTI_OP_TEXT, content, 0);
    while (agent_json_each(content, &pos, NULL, &part)) if (agenti_is_object(part) && !agenti_oc_content_part(d, part)) return 0;
    return 1;
}
/* The same thoughts may stand in up to four fields: read one that has any (B25), the details first, for they go back.   */
static int agenti_oc_reasoning(agenti_decoder *d, const agent_str *f)
{
    int i, details = agenti_is_array(f[AGENTI_OD_DETAILS]), has = details && agenti_details_text(f[AGENTI_OD_DETAILS]);
    for (i = AGENTI_OD_REASONING_CONTENT; i <= AGENTI_OD_REASONING_TEXT && !has; i++)
        if (agenti_nonempty(f[i])) {
            if (!agenti_stream_add(d, AGENTI_OP_REASONING, f[i], 0)) return 0;
            break;
        }
    if (details && !agenti_details_add(d, f[AGENTI_OD_DETAILS])) return 0;
    return agenti_opaque_add(d, f[AGENTI_OD_OPAQUE]);
}
static int agenti_oc_annotations(agenti_decoder *d, agent_str list)
{
    agent_str item;
    size_t pos = 0;
    while (agent_json_each(list, &pos, NULL, &item))
        if (!agenti_source_add(d, agent_json_get(item, "url_citation.url"), agent_json_get(item, "url_citation.title"))) return 0;
    return 1;
}
/* OpenRouter: images that the model made, as data: URLs.                                                               */
static int agenti_oc_images(agenti_decoder *d, agent_str list)
{
    agent_str item;
    size_t pos = 0;
    while (agent_json_each(list, &pos, NULL, &item))
        if (!agenti_file_add(d, AGENT_PART_IMAGE, agent_json_get(item, "image_url.url"), NULL)) return 0;
    return 1;
}
/* Perplexity repeats its lists on every chunk: once is enough (B15). `search_results` are objects with a title, `citations` URLs. */
static int agenti_oc_sources(agenti_decoder *d, agent_str list)
{
    agent_str item;
    size_t pos = 0;
    if (!agenti_is_array(list) || (d->sourced & AGENTI_OC_SOURCED)) return 1;
    while (agent_json_each(list, &pos, NULL, &item)) {
        agent_str title = agent_json_get(item, "title");
        if (agenti_is_object(item)) item = agent_json_get(item, "url");
        if (!agenti_source_add(d, item, title)) return 0;
    }
    if (pos) d->sourced |= AGENTI_OC_SOURCED;
    return 1;
}
static int agenti_oc_delta(agenti_decoder *d, const agent_str *f)
{
    if (!agenti_oc_reasoning(d, f) || !agenti_oc_content(d, f[AGENTI_OD_CONTENT])) return 0;
    if (agenti_nonempty(f[AGENTI_OD_REFUSAL])) d->sourced |= AGENTI_OC_REFUSED;
    if (!agenti_stream_add(d, AGENTI_OP_TEXT, f[AGENTI_OD_REFUSAL], AGENT_PART_REFUSAL)) return 0;
    if (agenti_is_array(f[AGENTI_OD_ANNOTATIONS]) && !agenti_oc_annotations(d, f[AGENTI_OD_ANNOTATIONS])) return 0;
    if (agenti_is_array(f[AGENTI_OD_IMAGES]) && !agenti_oc_images(d, f[AGENTI_OD_IMAGES])) return 0;
    if (agenti_is_array(f[AGENTI_OD_CALLS])) return agenti_oc_calls(d, f[AGENTI_OD_CALLS]);
    if (agenti_is_object(f[AGENTI_OD_FUNCTION])) return agenti_oc_function(d, f[AGENTI_OD_FUNCTION]);
    return 1;
}
/* Perplexity sends both members: a whole answer is in `message`, a chunk's news in `delta`.                              */
static AGENTI_NOINLINE int agenti_oc_one_choice(agenti_decoder *d, agent_str choice, int whole)
{
    agent_str f[AGENTI_OI_FIELDS];
    int64_t index;
    agenti_json_pick(choice, agenti_oc_choice, AGENTI_OI_FIELDS, f);
    if (f[AGENTI_OI_INDEX].n && agenti_int(f[AGENTI_OI_INDEX], &index) && index != 0) return 1;
    agenti_oc_usage(d, f[AGENTI_OI_USAGE]);
    if (!agenti_is_object(f[0]) || (whole && agenti_is_object(f[AGENTI_OI_MESSAGE])))
        agenti_json_pick(f[AGENTI_OI_MESSAGE], agenti_oc_message, AGENTI_OD_FIELDS, f + 1);
    if (!agenti_oc_delta(d, f + 1)) return 0;
    return agenti_oc_finish(d, f[AGENTI_OI_FINISH]) && (d->finish == AGENT_FINISH_NONE || agenti_oc_wrappers_end(d));
}
/* A checked object: a chunk or a whole answer. *known: it had a member that belongs to one.                            */
static int agenti_oc_object(agenti_decoder *d, agent_str json, int whole, int *known)
{
    agent_str f[AGENTI_OC_FIELDS], choice;
    size_t pos = 0;
    agenti_json_pick(json, agenti_oc_chunk, AGENTI_OC_FIELDS, f);
    agenti_oc_usage(d, f[AGENTI_OC_GROQ_USAGE]);
    agenti_oc_usage(d, f[AGENTI_OC_USAGE]);
    if (!agenti_model_set(d, f[AGENTI_OC_MODEL])) return 0;
    *known = f[AGENTI_OC_CHOICES].n || f[AGENTI_OC_USAGE].n;
    if (f[AGENTI_OC_ERROR].n && !agenti_eq(f[AGENTI_OC_ERROR], "null")) {
        *known = 1;
        agenti_fault_object(d, json, 0);
        return 1;
    }
    if (!agenti_oc_sources(d, f[AGENTI_OC_RESULTS]) || !agenti_oc_sources(d, f[AGENTI_OC_CITATIONS])) return 0;
    if (!agenti_is_array(f[AGENTI_OC_CHOICES])) return 1;
    while (agent_json_each(f[AGENTI_OC_CHOICES], &pos, NULL, &choice))
        if (agenti_is_object(choice) && !agenti_oc_one_choice(d, choice, whole)) return 0;
    return 1;
}
/* A payload that is no JSON: two frames may be glued because a newline was lost; what follows the glue is read (A12).   */
static int agenti_oc_broken(agenti_decoder *d, agent_str data)
{
    size_t i;
    int known;
    if (!agenti_payload_bad(d)) return 0;
    for (i = 1; i + 7 <= data.n; i++) {
        agent_str rest = agenti_str(data.p + i + 6, data.n - i - 6);
        if (data.p[i] != 'd' || memcmp(data.p + i, "data: {", 7) != 0) continue;
        if (agent_json_check(rest.p, rest.n, d->depth_limit, NULL) == AGENT_OK) return agenti_oc_object(d, rest, 0, &known);
        return 1;
    }
    return 1;
}
static int agenti_oc_event(agenti_decoder *d, agent_str event, agent_str data)
{
    int known;
    data = agenti_trim(data);
    if (data.n == 0 || data.p[0] == ':') return 1;       /* a gateway wrapped a comment again (A2)                      */
    if (agenti_eq(data, "[DONE]")) { d->done = 1; return agenti_oc_wrappers_end(d); }
    if (data.p[0] != '{' || agent_json_check(data.p, data.n, d->depth_limit, NULL) != AGENT_OK) {
        if (!agenti_eq(event, "error")) return agenti_oc_broken(d, data);
        agenti_fault_set(d, AGENT_FAULT_SERVER, 1, "", data);
        return 1;
    }
    if (!agenti_eq(event, "error")) return agenti_oc_object(d, data, 0, &known);
    agenti_fault_object(d, data, 0);
    return 1;
}
static int agenti_oc_whole(agenti_decoder *d, agent_str body)
{
    int known = 0;
    if (agenti_is_object(body) && !agenti_oc_object(d, body, 1, &known)) return 0;
    if (known) d->done = 1;
    else if (agent_json_get(body, "message").p || agent_json_get(body, "detail").p || agent_json_get(body, "code").p)
        agenti_fault_object(d, body, 0);
    if (!known && !d->fault.fault) agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr("the answer is no chat completion"));
    return 1;
}

/* ---- requests ---- */
static void agenti_oc_limits(agenti_buf *b, const agenti_request *r)
{
    const char *limit = r->dialect & AGENT_DIALECT_MAX_COMPLETION_TOKENS ? "max_completion_tokens" : "max_tokens";
    agenti_option_out(b, r, limit, AGENTI_OPT_MAX_TOKENS);
    agenti_option_out(b, r, "temperature", AGENTI_OPT_TEMPERATURE);
    agenti_option_out(b, r, "top_p", AGENTI_OPT_TOP_P);
    agenti_option_out(b, r, r->dialect & AGENT_DIALECT_MISTRAL ? "random_seed" : "seed", AGENTI_OPT_SEED);
    agenti_option_out(b, r, "frequency_penalty", AGENTI_OPT_FREQUENCY);
    agenti_option_out(b, r, "presence_penalty", AGENTI_OPT_PRESENCE);
    agenti_option_out(b, r, "stop", AGENTI_OPT_STOP);
    if (r->dialect & AGENT_DIALECT_TOP_K) agenti_option_out(b, r, "top_k", AGENTI_OPT_TOP_K);
}
/* How thinking is asked for is each host's own: a word, a switch, a switch and a budget.                                */
static void agenti_oc_thinking_out(agenti_buf *b, const agenti_request *r)
{
    static const char *const words[] = { "none", "minimal", "low", "medium", "high", "xhigh" };
    static const char *const switched[] = { "", "low", "low", "medium", "high", "max" };
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]), given = agenti_text_view(&r->options[AGENTI_OPT_EFFORT]), effort;
    int off = agenti_eq(budget, "0") || agenti_eq(given, "off");
    effort = agenti_effort(r, r->dialect & AGENT_DIALECT_THINKING_TYPE ? switched : words);
    if (budget.n + given.n == 0) return;
    if ((r->dialect & AGENT_DIALECT_THINKING_TYPE) && !agenti_replaced(r, "thinking"))
        agenti_json_member(b, "thinking", agenti_cstr(off ? "{\"type\":\"disabled\"}" : "{\"type\":\"enabled\"}"));
    if (r->dialect & AGENT_DIALECT_ENABLE_THINKING) {
        if (!agenti_replaced(r, "enable_thinking")) agenti_json_member(b, "enable_thinking", agenti_cstr(off ? "false" : "true"));
        if (!off && budget.n && !agenti_eq(budget, "adaptive")) agenti_option_out(b, r, "thinking_budget", AGENTI_OPT_THINKING);
    } else if (effort.n && !agenti_replaced(r, "reasoning_effort")) agenti_json_member_str(b, "reasoning_effort", effort);
}
/* Any JSON, or what fits a schema.                                                                                     */
static void agenti_oc_format_out(agenti_buf *b, const agenti_request *r)
{
    agent_str schema = agenti_format_schema(r);
    if (r->options[AGENTI_OPT_FORMAT].n == 0 || agenti_replaced(r, "response_format")) return;
    if (schema.n == 0) { agenti_json_member(b, "response_format", agenti_cstr("{\"type\":\"json_object\"}")); return; }
    agenti_buf_str(b, ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"answer\",\"strict\":true");
    agenti_json_member(b, "schema", schema);
    agenti_buf_str(b, "}}");
}
static void agenti_oc_words_out(agenti_buf *b, agenti_request *r)
{
    static const struct { const char *key; int option; } rows[] = {
        { "service_tier", AGENTI_OPT_TIER }, { "prompt_cache_key", AGENTI_OPT_CACHE_KEY }, { "user", AGENTI_OPT_USER }
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (r->options[rows[i].option].n == 0 || agenti_replaced(r, rows[i].key)) continue;
        if (r->dialect & AGENT_DIALECT_MISTRAL) r->left_out |= AGENTI_BIT(rows[i].option);       /* it refuses what it does not know */
        else agenti_json_member_str(b, rows[i].key, agenti_text_view(&r->options[rows[i].option]));
    }
}
/* What only some hosts take.                                                                                           */
static void agenti_oc_left(agenti_request *r)
{
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]);
    int switches = (r->dialect & AGENT_DIALECT_THINKING_TYPE) && (agenti_eq(budget, "0") || agenti_eq(budget, "adaptive"));
    if (budget.n && !switches && !(r->dialect & AGENT_DIALECT_ENABLE_THINKING)) r->left_out |= AGENTI_BIT(AGENTI_OPT_THINKING);
    if (r->options[AGENTI_OPT_TOP_K].n && !(r->dialect & AGENT_DIALECT_TOP_K)) r->left_out |= AGENTI_BIT(AGENTI_OPT_TOP_K);
}
static int agenti_oc_forces(const agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    return choice.n && !r->choice_off && !agenti_eq(choice, "auto") && !agenti_eq(choice, "none");
}
static void agenti_oc_head(agenti_buf *b, agenti_request *r)
{
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "model")) agenti_json_member_str(b, "model", agenti_text_view(&r->options[AGENTI_OPT_MODEL]));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    if (r->stream && !(r->dialect & AGENT_DIALECT_NO_STREAM_OPTIONS) && !agenti_replaced(r, "stream_options"))
        agenti_json_member(b, "stream_options", agenti_cstr("{\"include_usage\":true}"));
    agenti_oc_limits(b, r);
    agenti_oc_thinking_out(b, r);
    agenti_oc_format_out(b, r);
    agenti_oc_words_out(b, r);
    agenti_oc_left(r);
    if (agenti_oc_forces(r) && ((r->dialect & AGENT_DIALECT_NO_FORCED_CHOICE)
        || ((r->dialect & AGENT_DIALECT_MISTRAL) && !agenti_eq(agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]), "required"))))
        r->left_out |= AGENTI_BIT(AGENTI_OPT_TOOL_CHOICE);               /* Mistral: any tool instead of that one          */
    agenti_buf_str(b, ",\"messages\":[");
}
enum { AGENTI_OC_BEGUN = 1, AGENTI_OC_AFTER_TOOLS };               /* r->state: messages stand there; the last one has tool results */
static void agenti_oc_comma(agenti_buf *b, agenti_request *r)
{
    if (r->state) agenti_buf_str(b, ",");
    else r->state = AGENTI_OC_BEGUN;
}
static void agenti_oc_system(agenti_buf *b, agenti_request *r, agent_str text)
{
    agenti_oc_comma(b, r);
    if (r->system_raw.n) { agenti_buf_add(b, r->system_raw.p, r->system_raw.n); return; }
    agenti_buf_str(b, "{\"role\":\"system\"");
    agenti_json_member_str(b, "content", text);
    agenti_buf_str(b, "}");
}
static const char *agenti_oc_audio_format(agent_str mime)                       /* NULL: not taken                      */
{
    if (agenti_ieq(mime, "audio/wav") || agenti_ieq(mime, "audio/x-wav") || agenti_ieq(mime, "audio/wave")) return "wav";
    return agenti_ieq(mime, "audio/mpeg") || agenti_ieq(mime, "audio/mp3") ? "mp3" : NULL;
}
static void agenti_oc_audio_out(agenti_buf *b, const agenti_request *r, const agenti_msg *m, const agenti_part *p, const char *format)
{
    agenti_buf_str(b, "\"input_audio\",\"input_audio\":{");
    agenti_json_member_str(b, "data", agenti_text_view(&p->text));
    agenti_json_member_str(b, "format", agenti_cstr(format));
    agenti_more_out(b, r, m, &p->inner);
    agenti_buf_str(b, "}");
}
static void agenti_oc_file_out(agenti_buf *b, const agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    agenti_buf_str(b, "\"file\",\"file\":{");
    if (p->name.n || m->wire != (const void *)r->wire) agenti_json_member_str(b, "filename", p->name.n ? agenti_text_view(&p->name) : agenti_cstr("file"));
    agenti_json_key(b, "file_data");
    agenti_data_url_out(b, p);
    agenti_more_out(b, r, m, &p->inner);
    agenti_buf_str(b, "}");
}
/* Images by data and by URL, PDFs and the like by data, audio of two formats; plain text is text.                      */
static void agenti_oc_user_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    const char *format = p->kind == AGENT_PART_AUDIO && p->text.n ? agenti_oc_audio_format(agenti_text_view(&p->mime)) : NULL;
    if (p->kind == AGENT_PART_OTHER) { agenti_buf_add(b, p->text.p, p->text.n); return; }
    agenti_buf_str(b, "{\"type\":");
    if (p->kind == AGENT_PART_IMAGE) {
        agenti_buf_str(b, "\"image_url\",\"image_url\":{\"url\":");
        agenti_data_url_out(b, p);
        agenti_more_out(b, r, m, &p->inner);
        agenti_buf_str(b, "}");
    } else if (format) agenti_oc_audio_out(b, r, m, p, format);
    else if (p->kind == AGENT_PART_FILE && (p->flags & AGENT_PART_BASE64)) agenti_oc_file_out(b, r, m, p);
    else {
        agenti_buf_str(b, "\"text\",\"text\":");
        if (p->text.n && !(p->flags & AGENT_PART_BASE64)) agenti_json_quote_to(b, agenti_text_view(&p->text));
        else if (p->kind == AGENT_PART_TEXT) agenti_buf_str(b, "\"\"");
        else agenti_media_left_out(b, r, p);
    }
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static void agenti_oc_user_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    int developer = (m->flags & AGENTI_MSG_DEVELOPER) && m->wire == (const void *)r->wire;
    uint32_t i;
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "role", agenti_cstr(developer ? "developer" : m->flags & AGENT_MSG_SYSTEM ? "system" : "user"));
    if (m->n == 1 && m->parts[0].kind == AGENT_PART_TEXT && m->parts[0].more.n == 0)                        /* many hosts refuse lists             */
        agenti_json_member_str(b, "content", agenti_text_view(&m->parts[0].text));
    else {
        agenti_buf_str(b, ",\"content\":[");
        for (i = 0; i < m->n; i++) {
            if (i) agenti_buf_str(b, ",");
            agenti_oc_user_part(b, r, m, &m->parts[i]);
        }
        agenti_buf_str(b, "]");
    }
    agenti_more_out(b, r, m, &m->more);
    agenti_buf_str(b, "}");
}
/* Mistral takes nine letters and digits: any other id becomes such a one, always the same.                             */
static void agenti_oc_id_out(agenti_buf *b, const agenti_request *r, const char *key, agent_str id)
{
    static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    uint64_t hash = 14695981039346656037u;    /* FNV-1a                                                                 */
    char made[9];
    size_t i, fits = 0;
    for (i = 0; i < id.n; i++) {
        char c = agenti_lower(id.p[i]);
        fits += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        hash = (hash ^ (unsigned char)id.p[i]) * 1099511628211u;
    }
    for (i = 0; i < sizeof made; i++, hash /= 62) made[i] = letters[hash % 62];
    if ((r->dialect & AGENT_DIALECT_MISTRAL) && (id.n != sizeof made || fits != sizeof made)) id = agenti_str(made, sizeof made);
    agenti_json_member_str(b, key, id);
}
static void agenti_oc_model_call(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int usable = p->text.n && !(p->flags & AGENT_PART_INVALID);      /* broken JSON is never sent back (C18)            */
    agent_str extra = agenti_text_view(&p->data);
    agenti_buf_str(b, "{");
    agenti_oc_id_out(b, r, "id", agenti_wire_id(p));
    if (agenti_own_content(r, m, p)) { agenti_more_out(b, r, m, &p->more); agenti_buf_str(b, "}"); return; }
    agenti_buf_str(b, ",\"type\":\"function\",\"function\":{");
    agenti_tool_name_out(b, agenti_text_view(&p->name));
    agenti_json_member_str(b, "arguments", usable ? agenti_text_view(&p->text) : agenti_cstr("{}"));
    agenti_more_out(b, r, m, &p->inner);
    agenti_buf_str(b, "}");
    if (m->model == r->model && agenti_is_object(extra) && agent_json_check(extra.p, extra.n, 0, NULL) == AGENT_OK)
        agenti_json_member(b, "extra_content", extra);
    else if (p->data.n) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING);
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
/* Its content, unless that goes back in the form that an import had.                                                   */
static void agenti_oc_content_out(agenti_buf *b, const agenti_request *r, const agenti_msg *m, uint32_t texts)
{
    uint32_t i;
    if ((m->flags & AGENTI_MSG_CONTENT) && m->wire == (const void *)r->wire) return;
    agenti_json_key(b, "content");
    agenti_buf_str(b, texts ? "\"\"" : "null");
    for (i = 0; i < m->n; i++)
        if (m->parts[i].kind == AGENT_PART_TEXT && !agenti_own_content(r, m, &m->parts[i])) agenti_json_quote_more(b, agenti_text_view(&m->parts[i].text));
}
static AGENTI_NOINLINE void agenti_oc_model_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, texts = 0, calls = 0;
    for (i = 0; i < m->n; i++) {
        texts += m->parts[i].kind == AGENT_PART_TEXT && m->parts[i].text.n > 0 && !agenti_own_content(r, m, &m->parts[i]);
        calls += m->parts[i].kind == AGENT_PART_CALL;
    }
    if (texts + calls == 0 && (m->more.n == 0 || m->wire != (const void *)r->wire)) return;
    agenti_oc_comma(b, r);
    agenti_buf_str(b, "{\"role\":\"assistant\"");
    agenti_oc_content_out(b, r, m, texts);
    agenti_reasoning_out(b, r, m);
    if (calls) agenti_buf_str(b, ",\"tool_calls\":[");
    for (i = 0; i < m->n; i++) if (m->parts[i].kind == AGENT_PART_CALL) {
        if (b->n && b->p[b->n - 1] != '[') agenti_buf_str(b, ",");
        agenti_oc_model_call(b, r, m, &m->parts[i]);
    }
    if (calls) agenti_buf_str(b, "]");
    agenti_more_out(b, r, m, &m->more);
    agenti_buf_str(b, "}");
    r->state = AGENTI_OC_BEGUN;
}
static void agenti_oc_tools_msg(agenti_buf *b, const agenti_request *r, const agenti_msg *m)
{
    uint32_t i;
    for (i = 0; i < m->n; i++) {
        agent_str text = agenti_text_view(&m->parts[i].text);
        agenti_buf_str(b, i ? ",{\"role\":\"tool\"" : "{\"role\":\"tool\"");
        agenti_oc_id_out(b, r, "tool_call_id", agenti_wire_id(&m->parts[i]));
        if (!agenti_own_content(r, m, &m->parts[i])) agenti_json_member_str(b, "content", text.n ? text : agenti_cstr("(no output)"));
        agenti_more_out(b, r, m, &m->parts[i].more);
        agenti_buf_str(b, "}");
    }
}
/* Mistral refuses a user message right after tool results.                                                             */
static void agenti_oc_between(agenti_buf *b, const agenti_request *r)
{
    if ((r->dialect & AGENT_DIALECT_MISTRAL) && r->state == AGENTI_OC_AFTER_TOOLS)
        agenti_buf_str(b, "{\"role\":\"assistant\",\"content\":\"Done.\"},");
}
static void agenti_oc_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    if (m->role == AGENT_MODEL) { agenti_oc_model_msg(b, r, m); return; }
    agenti_oc_comma(b, r);
    if (m->role == AGENT_USER) {
        agenti_oc_between(b, r);
        agenti_oc_user_msg(b, r, m);
    } else agenti_oc_tools_msg(b, r, m);
    r->state = m->role == AGENT_TOOLS ? AGENTI_OC_AFTER_TOOLS : AGENTI_OC_BEGUN;
}
static void agenti_oc_tail(agenti_buf *b, const agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    if (r->note) {
        agenti_buf_str(b, ",");
        agenti_oc_between(b, r);
        agenti_buf_str(b, "{\"role\":\"user\"");
        agenti_json_member_str(b, "content", agenti_cstr(r->note));
        agenti_buf_str(b, "}");
    }
    agenti_buf_str(b, "]");
    if (r->tool_count == 0 && !agenti_replaced(r, "tools")) return;
    if (r->tools_off) agenti_json_member(b, "tool_choice", agenti_cstr("\"none\""));
    else if (choice.n && !r->choice_off && !agenti_replaced(r, "tool_choice")
             && !(agenti_oc_forces(r) && (r->dialect & AGENT_DIALECT_NO_FORCED_CHOICE))) {
        if (agenti_oc_forces(r) && (r->dialect & AGENT_DIALECT_MISTRAL)) agenti_json_member_str(b, "tool_choice", agenti_cstr("any"));
        else if (agenti_eq(choice, "auto") || agenti_eq(choice, "none") || agenti_eq(choice, "required"))
            agenti_json_member_str(b, "tool_choice", choice);
        else {
            agenti_buf_str(b, ",\"tool_choice\":{\"type\":\"function\",\"function\":{");
            agenti_json_member_str(b, "name", choice);
            agenti_buf_str(b, "}}");
        }
    }
    agenti_option_out(b, r, "parallel_tool_calls", AGENTI_OPT_PARALLEL);
}
static const char *const agenti_oc_parts[] = {
    "content", "text", "thinking", "summary", "reasoning_content", "reasoning", "reasoning_text", "refusal", "arguments", NULL
};
static const char *const agenti_oc_routing[] = { "index", "id", "type", NULL };
static const char *const agenti_oc_owner[] = { "index", "id", NULL };
static const char *const agenti_oc_held[] = { "message", NULL };      /* of a stream: a delta beside it may come later  */
static const char *const agenti_oc_none[] = { NULL };
static void agenti_oc_tools_out(agenti_buf *b, const agenti_request *r)
{
    agenti_tools_list(b, r, "{\"type\":\"function\",\"function\":{", "parameters", ",\"strict\":true}}", "}}");
}
static const agenti_wire agenti_openai_chat_wire = {
    "openai-chat", "/chat/completions", NULL, AGENTI_FRAMING_SSE, NULL, NULL, 0,
    agenti_oc_head, agenti_oc_system, agenti_oc_message_out, agenti_oc_tail, agenti_oc_tools_out,
    agenti_extra_out, agenti_oc_event, agenti_oc_whole, "\"obfuscation\":",
    { agenti_oc_parts, agenti_oc_routing, agenti_oc_owner, 0, agenti_oc_held }, { agenti_oc_parts, agenti_oc_routing, agenti_oc_owner, 0, agenti_oc_none },
    agenti_openai_chat_import, NULL
};
AGENTI_FN const agenti_wire *agenti_openai_chat(void) { return &agenti_openai_chat_wire; }
#endif
#endif

/* ==== import_anthropic.c: requests of Anthropic messages read ===================================================== */
/* Requests of Anthropic messages, as programs have them, into messages, tools and options. */
AGENTI_FN int agenti_anthropic_import(agenti_import *, agent_str body);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_IMPORT_ANTHROPIC
/* ---- blocks ---- */
/* A mark of the short form is a flag; any other one stays as it came.                                                  */
static int agenti_ian_more(agenti_import *im, agenti_part *p, agent_str block, const char *const *known)
{
    agent_str mark = agent_json_get(block, "cache_control");
    if (agenti_is_object(mark) && agent_json_is(agent_json_get(mark, "type"), "ephemeral") && agenti_im_count(mark) == 1) {
        static const char *const text_keys[] = { "type", "text", "cache_control", NULL };
        static const char *const keys[] = { "type", "source", "title", "cache_control", NULL };
        p->flags |= AGENT_PART_CACHE;
        return agenti_im_more(im, &p->more, block, p->kind == AGENT_PART_TEXT ? text_keys : keys);
    }
    return agenti_im_more(im, &p->more, block, known);
}
/* An image or a document. 0: its source is of another kind; -1: no memory                                              */
static int agenti_ian_file(agenti_import *im, agenti_msg *m, agent_str source, int kind)
{
    agent_str type = agent_json_get(source, "type"), data = agent_json_get(source, "data");
    agenti_part *p;
    if (agent_json_is(type, "url") && agenti_im_count(source) == 2) {
        agent_str url = agent_json_get(source, "url");
        if (!agenti_nonempty(url) || (url.n > 6 && agenti_ieq(agenti_str(url.p + 1, 5), "data:"))) return 0;
        return agenti_im_url(im, m, kind, url);
    }
    if (agenti_im_count(source) != 3) return 0;
    if (agent_json_is(type, "base64")) return agenti_im_data(im, m, kind, data, agent_json_get(source, "media_type"));
    if (kind != AGENT_PART_FILE || !agent_json_is(type, "text") || !agenti_nonempty(data) || !agent_json_is(agent_json_get(source, "media_type"), "text/plain"))
        return 0;
    p = agenti_im_part(im, m, AGENT_PART_FILE);
    return p && agenti_im_text(im, &p->text, data) && agenti_text_set(&p->mime, im->pool, NULL, agenti_cstr("text/plain")) ? 1 : -1;
}
static int agenti_ian_user_block(agenti_import *im, agenti_msg *m, agent_str block, agent_str type)
{
    static const char *const text_keys[] = { "type", "text", NULL }, *const keys[] = { "type", "source", "title", NULL };
    agent_str text = agent_json_get(block, "text"), title = agent_json_get(block, "title");
    int image = agent_json_is(type, "image"), rc = 0;
    if (agent_json_is(type, "text") && agenti_is_string(text))
        return agenti_im_words(im, m, AGENT_PART_TEXT, text) && agenti_ian_more(im, &m->parts[m->n - 1], block, text_keys);
    if (image || agent_json_is(type, "document"))
        rc = agenti_ian_file(im, m, agent_json_get(block, "source"), image ? AGENT_PART_IMAGE : AGENT_PART_FILE);
    if (rc < 0) return 0;
    if (rc == 0) return agenti_im_other(im, m, block, type);
    m->parts[m->n - 1].kind = image ? AGENT_PART_IMAGE : AGENT_PART_FILE;
    if (!image && agenti_nonempty(title) && !agenti_im_text(im, &m->parts[m->n - 1].name, title)) return 0;
    return agenti_ian_more(im, &m->parts[m->n - 1], block, keys);
}
static int agenti_ian_result(agenti_import *im, agent_str block)
{
    static const char *const keys[] = { "type", "tool_use_id", "content", "is_error", NULL }, *const with[] = { "type", "tool_use_id", "is_error", NULL };
    static const char *const not_error[] = { "type", "tool_use_id", "content", NULL }, *const not_error_with[] = { "type", "tool_use_id", NULL };
    agent_str content = agent_json_get(block, "content");
    int fails = agenti_eq(agent_json_get(block, "is_error"), "true"), plain = agenti_nonempty(content);
    agenti_part *p = agenti_im_result(im, agent_json_get(block, "tool_use_id"), agenti_cstr("\"\""));
    if (p == NULL) return agenti_im_fail(im, block.p, "messages: a tool_result without its tool_use before it");
    if (fails) p->flags |= AGENT_PART_ERROR;
    if (!plain) p->flags |= AGENTI_PART_CONTENT;
    return agenti_im_result_text(im, p, content)
        && agenti_im_more(im, &p->more, block, plain ? fails ? keys : not_error : fails ? with : not_error_with);
}
/* Citations are kept as JSON objects with commas between.                                                              */
static int agenti_ian_text(agenti_import *im, agenti_msg *m, agent_str block, agent_str text)
{
    static const char *const keys[] = { "type", "text", "citations", NULL };
    agent_str cited = agent_json_get(block, "citations");
    agenti_part *p;
    if (!agenti_im_words(im, m, AGENT_PART_TEXT, text)) return 0;
    p = &m->parts[m->n - 1];
    if (agenti_is_array(cited)) {
        cited = agenti_trim(agenti_str(cited.p + 1, cited.n - 2));
        if (cited.n && !agenti_im_raw(im, &p->data, cited)) return 0;
    }
    return agenti_im_more(im, &p->more, block, keys);
}
static int agenti_ian_model_block(agenti_import *im, agenti_msg *m, agent_str block, agent_str type)
{
    static const char *const call_keys[] = { "type", "id", "name", "input", NULL }, *const keys[] = { "type", "thinking", "signature", NULL };
    agent_str text = agent_json_get(block, agent_json_is(type, "thinking") ? "thinking" : "text");
    agenti_part *p;
    if (agent_json_is(type, "text") && agenti_is_string(text)) return agenti_ian_text(im, m, block, text);
    if (agent_json_is(type, "tool_use")) {
        p = agenti_im_call(im, m, agent_json_get(block, "id"), agent_json_get(block, "name"), agent_json_get(block, "input"), block);
        return p && agenti_im_more(im, &p->more, block, call_keys);
    }
    if (!agent_json_is(type, "thinking") || !agenti_is_string(text)) return agenti_im_other(im, m, block, type);
    if (!agenti_im_words(im, m, AGENT_PART_REASONING, text)) return 0;
    p = &m->parts[m->n - 1];
    return agenti_im_more(im, &p->more, block, keys)
        && (!agenti_is_string(agent_json_get(block, "signature")) || agenti_im_text(im, &p->data, agent_json_get(block, "signature")));
}

/* ---- messages ---- */
/* Results stand before all else of a user's message: what comes behind them begins a message of its own.               */
static int agenti_ian_blocks(agenti_import *im, agent_str item, agent_str content, int model, int flags)
{
    static const char *const keys[] = { "role", "content", NULL };
    agenti_msg *m = model ? agenti_im_msg(im, AGENT_MODEL, item) : NULL;
    agent_str block, type;
    size_t pos = 0;
    if ((model && m == NULL) || !agenti_im_strict(im, item, keys)) return 0;
    while (agent_json_each(content, &pos, NULL, &block)) {
        type = agent_json_get(block, "type");
        if (!agenti_nonempty(type)) return agenti_im_fail(im, block.p, "messages: a block without a type");
        if (!model && agent_json_is(type, "tool_result")) {
            if (!agenti_ian_result(im, block)) return 0;
            continue;
        }
        if (m == NULL) {
            if ((m = agenti_im_msg(im, AGENT_USER, item)) == NULL) return 0;
            m->flags = (uint8_t)flags;
        }
        if (model ? !agenti_ian_model_block(im, m, block, type) : !agenti_ian_user_block(im, m, block, type)) return 0;
    }
    return 1;
}
static int agenti_ian_message(agenti_import *im, agent_str item)
{
    static const char *const keys[] = { "role", "content", NULL };
    agent_str role = agent_json_get(item, "role"), content = agent_json_get(item, "content");
    int model = agent_json_is(role, "assistant"), system = agent_json_is(role, "system");
    agenti_msg *m;
    if (!agenti_is_object(item)) return agenti_im_fail(im, item.p, "messages: an element is no object");
    if (!model && !system && !agent_json_is(role, "user")) return agenti_im_fail(im, role.n ? role.p : item.p, "messages: role is none of user, assistant, system");
    if (agenti_is_array(content)) return agenti_ian_blocks(im, item, content, model, system ? AGENT_MSG_SYSTEM : 0);
    if (!agenti_is_string(content)) return agenti_im_fail(im, content.n ? content.p : item.p, "messages: content is no text and no list of blocks");
    if ((m = agenti_im_msg(im, model ? AGENT_MODEL : AGENT_USER, item)) == NULL || !agenti_im_strict(im, item, keys)) return 0;
    m->flags = system ? AGENT_MSG_SYSTEM : 0;
    return agenti_im_words(im, m, AGENT_PART_TEXT, content);
}

/* ---- tools and options ---- */
static int agenti_ian_tools(agenti_import *im, agent_str tools)
{
    agent_str tool, type, name;
    size_t pos = 0;
    if (tools.n == 0 || agenti_eq(tools, "null")) return 1;
    if (!agenti_is_array(tools)) return agenti_im_fail(im, tools.p, "tools: no list");
    im->tools_given = 1;
    while (agent_json_each(tools, &pos, NULL, &tool)) {
        if (!agenti_is_object(tool)) return agenti_im_fail(im, tool.p, "tools: an element is no object");
        type = agent_json_get(tool, "type");
        name = agent_json_get(tool, "name");
        if (!agenti_nonempty(type) || agent_json_is(type, "custom")
            ? !agenti_im_tool(im, tool, name, agent_json_get(tool, "description"), agent_json_get(tool, "input_schema"))
            : !agenti_im_raw_tool(im, tool, agenti_nonempty(name) ? name : type)) return 0;
    }
    return 1;
}
static uint32_t agenti_ian_choice(agenti_import *im, agent_str v)
{
    agent_str type = agent_json_get(v, "type"), name = agent_json_get(v, "name");
    uint32_t options = 0;
    if (im->tool_n == 0) return 0;
    if (agent_json_is(type, "any")) options = agenti_im_word(im, AGENTI_OPT_TOOL_CHOICE, "required");
    else if (agent_json_is(type, "auto") || agent_json_is(type, "none")) options = agenti_im_string(im, AGENTI_OPT_TOOL_CHOICE, type);
    else if (agent_json_is(type, "tool") && !agent_json_is(name, "auto") && !agent_json_is(name, "none") && !agent_json_is(name, "required"))
        options = agenti_im_string(im, AGENTI_OPT_TOOL_CHOICE, name);
    return options | agenti_im_bool(im, AGENTI_OPT_PARALLEL, agent_json_get(v, "disable_parallel_tool_use"), 1);
}
static uint32_t agenti_ian_thinking(agenti_import *im, agent_str v)
{
    agent_str type = agent_json_get(v, "type");
    if (agent_json_is(type, "adaptive")) return agenti_im_word(im, AGENTI_OPT_THINKING, "adaptive");
    if (agent_json_is(type, "disabled")) return agenti_im_word(im, AGENTI_OPT_THINKING, "0");
    return agent_json_is(type, "enabled") ? agenti_im_number(im, AGENTI_OPT_THINKING, agent_json_get(v, "budget_tokens")) : 0;
}
static uint32_t agenti_ian_take(agenti_import *im, agent_str key, agent_str v)
{
    if (agenti_eq(key, "messages") || agenti_eq(key, "tools")) return AGENTI_IM_TAKEN;
    if (agenti_eq(key, "system")) return AGENTI_BIT(AGENTI_OPT_SYSTEM);
    if (agenti_eq(key, "stream") && (agenti_eq(v, "true") || agenti_eq(v, "false"))) { im->stream = agenti_eq(v, "true"); return AGENTI_IM_TAKEN; }
    if (agenti_eq(key, "model")) return agenti_im_string(im, AGENTI_OPT_MODEL, v);
    if (agenti_eq(key, "max_tokens")) return agenti_im_number(im, AGENTI_OPT_MAX_TOKENS, v);
    if (agenti_eq(key, "temperature")) return agenti_im_number(im, AGENTI_OPT_TEMPERATURE, v);
    if (agenti_eq(key, "top_p")) return agenti_im_number(im, AGENTI_OPT_TOP_P, v);
    if (agenti_eq(key, "stop_sequences")) return agenti_im_stop(im, v);
    if (agenti_eq(key, "tool_choice")) return agenti_ian_choice(im, v);
    if (agenti_eq(key, "thinking")) return agenti_ian_thinking(im, v);
    if (agenti_eq(key, "output_config")) return agenti_im_string(im, AGENTI_OPT_EFFORT, agent_json_get(v, "effort"));
    return 0;
}
AGENTI_FN int agenti_anthropic_import(agenti_import *im, agent_str body)
{
    int list = agenti_is_array(body);
    agent_str messages = list ? body : agent_json_get(body, "messages"), system = agent_json_get(body, "system"), item;
    size_t pos = 0;
    if (!agenti_is_array(messages)) return agenti_im_fail(im, messages.n ? messages.p : body.p, "messages: no list");
    if (!list && (!agenti_ian_tools(im, agent_json_get(body, "tools")) || !agenti_im_system(im, system, NULL, 0))) return 0;
    while (!list && agenti_is_array(system) && agent_json_each(system, &pos, NULL, &item))
        if (!agenti_im_system(im, agent_json_get(item, "text"), NULL, 0)) return 0;
    pos = 0;
    while (agent_json_each(messages, &pos, NULL, &item)) if (!agenti_ian_message(im, item)) return 0;
    return (list || agenti_im_members(im, body, agenti_ian_take)) && agenti_im_end(im);
}
#endif

/* ==== wire_anthropic.c: Anthropic messages ======================================================================== */
/* Anthropic messages: https://docs.anthropic.com/en/api/messages and /messages-streaming. Blocks are told apart by their index, and
 * several may be open at a time. Thinking with its signature, and kinds of blocks that are not known here, go back as they came. */
#ifndef AGENT_NO_ANTHROPIC
AGENTI_FN const agenti_wire *agenti_anthropic(void);
AGENTI_FN const agenti_wire *agenti_anthropic_invoke(void);          /* the same behind Bedrock's InvokeModel           */
AGENTI_FN const agenti_wire *agenti_anthropic_vertex(void);          /* the same behind Vertex AI                       */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_ANTHROPIC
/* ---- answers ---- */
/* agenti_lane.kind. A lane is an open block; named: its part was begun.                                                */
enum { AGENTI_AB_TEXT = 1, AGENTI_AB_THINKING, AGENTI_AB_CALL, AGENTI_AB_OTHER };
enum { AGENTI_AE_TYPE, AGENTI_AE_INDEX, AGENTI_AE_MESSAGE, AGENTI_AE_BLOCK, AGENTI_AE_DELTA, AGENTI_AE_USAGE, AGENTI_AE_ERROR,
       AGENTI_AE_CONTEXT, AGENTI_AE_FIELDS };
static const agenti_field agenti_an_event_rows[AGENTI_AE_FIELDS] = {
    { "type", -1 }, { "index", -1 }, { "message", -1 }, { "content_block", -1 }, { "delta", -1 }, { "usage", -1 }, { "error", -1 },
    { "context_management", -1 }
};
enum { AGENTI_AK_TYPE, AGENTI_AK_ID, AGENTI_AK_NAME, AGENTI_AK_TEXT, AGENTI_AK_THINKING, AGENTI_AK_SIGNATURE, AGENTI_AK_INPUT,
       AGENTI_AK_JSON, AGENTI_AK_CONTENT, AGENTI_AK_CITATION, AGENTI_AK_CITATIONS, AGENTI_AK_FIELDS };
static const agenti_field agenti_an_block_rows[AGENTI_AK_FIELDS] = {          /* of a block, and of a delta             */
    { "type", -1 }, { "id", -1 }, { "name", -1 }, { "text", -1 }, { "thinking", -1 }, { "signature", -1 }, { "input", -1 },
    { "partial_json", -1 }, { "content", -1 }, { "citation", -1 }, { "citations", -1 }
};
enum { AGENTI_AM_ID, AGENTI_AM_USAGE, AGENTI_AM_CONTENT, AGENTI_AM_MODEL, AGENTI_AM_STOP, AGENTI_AM_DETAILS, AGENTI_AM_CONTAINER,
       AGENTI_AM_CONTEXT, AGENTI_AM_FIELDS };
static const agenti_field agenti_an_message_rows[AGENTI_AM_FIELDS] = {         /* of a message, and of message_delta    */
    { "id", -1 }, { "usage", -1 }, { "content", -1 }, { "model", -1 }, { "stop_reason", -1 }, { "stop_details", -1 }, { "container", -1 },
    { "context_management", -1 }
};

static int64_t agenti_an_sum(int64_t a, int64_t b)           /* unknown counts as 0, if one is known                    */
{
    if (a < 0 || b <= 0) return a < 0 ? b : a;
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}
enum { AGENTI_AU_INPUT, AGENTI_AU_OUTPUT, AGENTI_AU_TYPE, AGENTI_AU_READ, AGENTI_AU_WRITTEN, AGENTI_AU_ITERATIONS, AGENTI_AU_DETAILS,
       AGENTI_AU_THINKING, AGENTI_AU_FIELDS };
static const agenti_field agenti_an_usage_rows[AGENTI_AU_FIELDS] = {
    { "input_tokens", -1 }, { "output_tokens", -1 }, { "type", -1 }, { "cache_read_input_tokens", -1 },
    { "cache_creation_input_tokens", -1 }, { "iterations", -1 }, { "output_tokens_details", -1 }, { "thinking_tokens", AGENTI_AU_DETAILS }
};
static void agenti_an_count(agent_str v, int64_t *to) { if (v.n) (void)agenti_count(v, to); }
/* Compaction is billed, but not in the totals beside the list; what another model did is billed apart (E8).            */
static void agenti_an_iterations(agenti_decoder *d, agent_str list)
{
    agent_str item, f[AGENTI_AU_READ];
    int64_t input = -1, output = -1, n;
    size_t pos = 0;
    while (agent_json_each(list, &pos, NULL, &item)) {
        if (!agenti_is_object(item)) continue;
        agenti_json_pick(item, agenti_an_usage_rows, AGENTI_AU_READ, f);
        if (agent_json_is(f[AGENTI_AU_TYPE], "fallback_message")) return;
        if (!agent_json_is(f[AGENTI_AU_TYPE], "message") && !agent_json_is(f[AGENTI_AU_TYPE], "compaction")) continue;
        n = -1;
        agenti_an_count(f[AGENTI_AU_INPUT], &n);
        input = agenti_an_sum(input, n);
        n = -1;
        agenti_an_count(f[AGENTI_AU_OUTPUT], &n);
        output = agenti_an_sum(output, n);
    }
    if (input >= 0) d->uncached = input;
    if (output >= 0) d->usage.output = output;
}
/* Totals of the whole answer; a later one replaces an earlier one (E8). Their input_tokens leaves cached tokens out.   */
static AGENTI_NOINLINE void agenti_an_usage(agenti_decoder *d, agent_str usage)
{
    agent_str f[AGENTI_AU_FIELDS];
    agent_usage *u = &d->usage;
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, agenti_an_usage_rows, AGENTI_AU_FIELDS, f);
    agenti_an_count(f[AGENTI_AU_INPUT], &d->uncached);
    agenti_an_count(f[AGENTI_AU_OUTPUT], &u->output);
    agenti_an_count(f[AGENTI_AU_READ], &u->cached);
    agenti_an_count(f[AGENTI_AU_WRITTEN], &u->cache_write);
    agenti_an_count(f[AGENTI_AU_THINKING], &u->reasoning);
    if (agenti_is_array(f[AGENTI_AU_ITERATIONS])) agenti_an_iterations(d, f[AGENTI_AU_ITERATIONS]);
    if (d->uncached >= 0) u->input = agenti_an_sum(agenti_an_sum(d->uncached, u->cached), u->cache_write);
    d->has_usage = 1;
}
static int agenti_an_stop(agenti_decoder *d, agent_str value)
{
    static const struct { const char *word; int finish; } rows[] = {
        { "end_turn", AGENT_FINISH_STOP }, { "stop_sequence", AGENT_FINISH_STOP }, { "pause_turn", AGENT_FINISH_STOP },
        { "tool_use", AGENT_FINISH_TOOLS }, { "max_tokens", AGENT_FINISH_LENGTH },
        { "model_context_window_exceeded", AGENT_FINISH_LENGTH }, { "refusal", AGENT_FINISH_FILTER }
    };
    agent_str raw;
    size_t i;
    int finish = AGENT_FINISH_OTHER;
    if (!agenti_nonempty(value)) return 1;
    if (!agenti_json_string(value, NULL, &d->arena, &raw)) return 0;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (agenti_eq(raw, rows[i].word)) finish = rows[i].finish;
    agenti_finish_set(d, finish, raw);
    d->paused = (uint8_t)agenti_eq(raw, "pause_turn");
    return 1;
}
/* How the message ends, and what is told beside it: why it was refused, what was cleared, which container ran code.     */
static int agenti_an_ending(agenti_decoder *d, const agent_str *f)
{
    return agenti_an_stop(d, f[AGENTI_AM_STOP]) && agenti_news_add(d, f[AGENTI_AM_DETAILS], "stop_details")
        && agenti_news_add(d, f[AGENTI_AM_CONTAINER], "container") && agenti_news_add(d, f[AGENTI_AM_CONTEXT], "context_management");
}
/* A piece of a block as an op; an empty one only when it opens the block.                                              */
static int agenti_an_add(agenti_decoder *d, agenti_lane *l, int kind, agent_str value, int opens)
{
    agenti_op *op;
    agent_str text = agenti_str(NULL, 0);
    uint16_t *high = kind == AGENTI_OP_DATA ? NULL : &l->high;
    if (agenti_nonempty(value)) {
        if (!agenti_json_string(value, high, &d->arena, &text)) return 0;
    } else if (!opens) return 1;
    if ((op = agenti_op_add(d, kind, l->key)) == NULL) return 0;
    op->a = text;
    if (kind == AGENTI_OP_TEXT) l->named = 1;
    return 1;
}
/* A citation is a source, and goes back with its text as it came (E6): the part's data is the list without brackets.   */
static int agenti_an_cite(agenti_decoder *d, agenti_lane *l, agent_str citation)
{
    agenti_op *op;
    if (!agenti_is_object(citation)) return 1;
    if (!l->named && !agenti_an_add(d, l, AGENTI_OP_TEXT, agenti_str(NULL, 0), 1)) return 0;
    if (l->cited) {
        if ((op = agenti_op_add(d, AGENTI_OP_DATA, l->key)) == NULL) return 0;
        op->a = agenti_cstr(",");
    }
    l->cited = 1;
    if ((op = agenti_op_add(d, AGENTI_OP_DATA, l->key)) == NULL || !agenti_raw_of(d, citation, &op->a)) return 0;
    return agenti_source_add(d, agent_json_get(citation, "url"), agent_json_get(citation, "title"));
}
static int agenti_an_text_start(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    agent_str item;
    size_t pos = 0;
    l->kind = AGENTI_AB_TEXT;
    if (!agenti_an_add(d, l, AGENTI_OP_TEXT, f[AGENTI_AK_TEXT], 0)) return 0;
    while (agenti_is_array(f[AGENTI_AK_CITATIONS]) && agent_json_each(f[AGENTI_AK_CITATIONS], &pos, NULL, &item))
        if (!agenti_an_cite(d, l, item)) return 0;
    return 1;
}
static int agenti_an_call_start(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    agenti_op *op;
    agent_str id, name, input = f[AGENTI_AK_INPUT];
    if (!agenti_string_of(d, f[AGENTI_AK_ID], &id) || !agenti_string_of(d, f[AGENTI_AK_NAME], &name)) return 0;
    if ((op = agenti_op_add(d, AGENTI_OP_CALL, l->key)) == NULL) return 0;
    op->a = id;
    op->b = name;
    if (!agenti_is_object(input) || agenti_trim(agenti_str(input.p + 1, input.n - 2)).n == 0) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, l->key)) == NULL) return 0;
    l->whole = 1;                             /* complete at once: deltas repeat it (E4)                                */
    return agenti_raw_of(d, input, &op->a);
}
/* Blocks that only the provider understands are kept as they came. Deltas fill their member `input`, as JSON in pieces, or
 * `content`, a string in pieces: lane.more is the text of its value.                                                   */
static int agenti_an_keep(agenti_decoder *d, agenti_lane *l, agent_str block)
{
    agent_str raw;
    l->kind = AGENTI_AB_OTHER;
    return agenti_raw_of(d, block, &raw) && agenti_text_set(&l->id, d->pool, d->graves, raw);
}
static int agenti_an_keep_more(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    agent_str json = f[AGENTI_AK_JSON], content = f[AGENTI_AK_CONTENT], text;
    size_t later = l->more.n != 0;            /* the first piece brings the opening quote, no piece the closing one     */
    if (l->more.n + json.n + content.n > d->item_limit) {
        agenti_fault_set(d, AGENT_FAULT_LIMIT, 0, "", agenti_cstr("a block of the answer is longer than limits.item"));
        return 1;
    }
    if (agenti_nonempty(json))
        return agenti_json_string(json, &l->high, &d->arena, &text) && agenti_text_add(&l->more, d->pool, d->graves, text);
    if (!agenti_is_string(content)) return 1;
    l->named = 1;
    return agenti_raw_of(d, content, &text)
        && agenti_text_add(&l->more, d->pool, d->graves, agenti_str(text.p + later, text.n - 1 - later));
}
static int agenti_type_ends(agent_str type, const char *with)                    /* clean text                          */
{
    size_t n = strlen(with);
    return type.n > n && memcmp(type.p + type.n - n, with, n) == 0;
}
/* Pages that a search or fetch found are sources.                                                                      */
static int agenti_an_pages(agenti_decoder *d, agent_str content)
{
    agent_str item;
    size_t pos = 0;
    if (agenti_is_object(content)) return agenti_source_add(d, agent_json_get(content, "url"), agent_json_get(content, "content.title"));
    while (agenti_is_array(content) && agent_json_each(content, &pos, NULL, &item))
        if (agenti_is_object(item) && !agenti_source_add(d, agent_json_get(item, "url"), agent_json_get(item, "title"))) return 0;
    return 1;
}
/* What a kept block is to the host: a call that the provider runs, the result of one, or nothing but itself (E5).       */
static int agenti_an_meaning(agenti_decoder *d, agent_str block, agent_str type)
{
    agenti_op *raw = &d->ops[d->op_n - 1], *op;
    agent_str content = agent_json_get(block, "content"), of;
    if (agenti_eq(type, "fallback")) {         /* another model goes on (E12)                                           */
        of = agent_json_get(block, "to.model");
        if (agenti_nonempty(of)) agenti_text_free(&d->model, d->graves);
        return agenti_model_set(d, of);
    }
    if (!agenti_type_ends(type, "_tool_use") && !agenti_type_ends(type, "_tool_result")) return 1;
    raw->flags = AGENTI_RAW_QUIET;
    if (agenti_type_ends(type, "_tool_use")) {
        if ((op = agenti_op_add(d, AGENTI_OP_RAN, 0)) == NULL) return 0;
        op->c = agent_json_get(block, "input");
        if (op->c.n == 0) op->c = agenti_cstr("{}");
        return agenti_string_of(d, agent_json_get(block, "id"), &op->a) && agenti_string_of(d, agent_json_get(block, "name"), &op->b);
    }
    if ((op = agenti_op_add(d, AGENTI_OP_RESULT, 0)) == NULL) return 0;
    op->c = content;
    if (!agenti_string_of(d, agent_json_get(block, "tool_use_id"), &op->a) || !agenti_string_of(d, agent_json_get(content, "type"), &of)) return 0;
    if (agenti_type_ends(of, "_error") || agenti_eq(agent_json_get(block, "is_error"), "true")) op->flags = AGENT_PART_ERROR;
    return agenti_an_pages(d, content);
}
static int agenti_an_kept(agenti_decoder *d, agenti_lane *l)
{
    agent_str block = agenti_text_view(&l->id), more, old;
    agenti_op *op;
    char *p;
    size_t at;
    if (l->named && !agenti_text_add(&l->more, d->pool, d->graves, agenti_cstr("\""))) return 0;
    more = agenti_text_view(&l->more);
    old = agent_json_get(block, l->named ? "content" : "input");
    if (old.p == NULL || more.n == 0 || agent_json_check(more.p, more.n, d->depth_limit, NULL) != AGENT_OK) more = old;
    if ((p = agenti_arena_get(&d->arena, block.n - old.n + more.n)) == NULL) return 0;
    if ((op = agenti_op_add(d, AGENTI_OP_RAW, 0)) == NULL) return 0;
    op->a = agenti_str(p, block.n - old.n + more.n);
    at = old.p ? (size_t)(old.p - block.p) : block.n;
    memcpy(p, block.p, at);
    if (more.n) memcpy(p + at, more.p, more.n);
    memcpy(p + at + more.n, block.p + at + old.n, block.n - at - old.n);
    AGENTI_TOUCH(op->a.n);
    block = op->a;
    return agenti_string_of(d, agent_json_get(block, "type"), &op->b) && agenti_an_meaning(d, block, op->b);
}
static AGENTI_NOINLINE int agenti_an_block_start(agenti_decoder *d, agent_str block, agent_str index)
{
    agent_str f[AGENTI_AK_FIELDS];
    agenti_lane *l = agenti_lane_at(d, index);
    int64_t n;
    if (l) agenti_lane_forget(d, l);            /* a block that was never stopped loses its index                         */
    if (d->lane_n >= d->call_limit) return agenti_too_many(d);
    if ((l = agenti_lane_new(d)) == NULL) return 0;
    l->key = ++d->streams;
    if (index.n && agenti_int(index, &n)) { l->has_index = 1; l->index = n; }
    agenti_json_pick(block, agenti_an_block_rows, AGENTI_AK_FIELDS, f);
    if (agent_json_is(f[AGENTI_AK_TYPE], "text")) return agenti_an_text_start(d, l, f);
    if (agent_json_is(f[AGENTI_AK_TYPE], "thinking")) {
        l->kind = AGENTI_AB_THINKING;         /* also without text: it may have a signature only                        */
        return agenti_an_add(d, l, AGENTI_OP_REASONING, f[AGENTI_AK_THINKING], 1)
            && agenti_an_add(d, l, AGENTI_OP_DATA, f[AGENTI_AK_SIGNATURE], 0);
    }
    if (agent_json_is(f[AGENTI_AK_TYPE], "tool_use")) {
        l->kind = AGENTI_AB_CALL;
        return agenti_an_call_start(d, l, f);
    }
    return agenti_an_keep(d, l, block);
}
static AGENTI_NOINLINE int agenti_an_block_delta(agenti_decoder *d, agent_str delta, agent_str index)
{
    agent_str f[AGENTI_AK_FIELDS];
    agenti_lane *l = agenti_lane_at(d, index);
    if (l == NULL) return 1;
    agenti_json_pick(delta, agenti_an_block_rows, AGENTI_AK_FIELDS, f);
    if (l->kind == AGENTI_AB_TEXT)
        return agenti_an_add(d, l, AGENTI_OP_TEXT, f[AGENTI_AK_TEXT], 0) && agenti_an_cite(d, l, f[AGENTI_AK_CITATION]);
    if (l->kind == AGENTI_AB_CALL) return l->whole || agenti_an_add(d, l, AGENTI_OP_ARGS, f[AGENTI_AK_JSON], 0);
    if (l->kind == AGENTI_AB_OTHER) return agenti_an_keep_more(d, l, f);
    return agenti_an_add(d, l, AGENTI_OP_REASONING, f[AGENTI_AK_THINKING], 0)
        && agenti_an_add(d, l, AGENTI_OP_DATA, f[AGENTI_AK_SIGNATURE], 0);
}
static int agenti_an_block_stop(agenti_decoder *d, agenti_lane *l)
{
    int kind, ok = 1;
    uint32_t key;
    if (l == NULL) return 1;
    kind = l->kind == AGENTI_AB_CALL ? AGENTI_OP_ARGS : l->kind == AGENTI_AB_TEXT ? AGENTI_OP_TEXT : AGENTI_OP_REASONING;
    key = l->key;
    if (l->kind == AGENTI_AB_OTHER) ok = agenti_an_kept(d, l);
    else if (l->high) {                       /* the other half of a pair never came                                    */
        agenti_op *op = agenti_op_add(d, kind, key);
        if (op) op->a = agenti_cstr("\xEF\xBF\xBD");
        ok = op != NULL;
    }
    if (l->kind == AGENTI_AB_TEXT || l->kind == AGENTI_AB_THINKING) ok = ok && agenti_op_add(d, AGENTI_OP_END, key) != NULL;
    agenti_lane_forget(d, l);
    return ok;
}
static int agenti_an_blocks(agenti_decoder *d, agent_str list)        /* blocks that came whole                         */
{
    agent_str block;
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &block)) {
        if (!agenti_is_object(block)) continue;
        if (!agenti_an_block_start(d, block, agenti_str(NULL, 0)) || !agenti_an_block_stop(d, &d->lanes[d->lane_n - 1])) return 0;
    }
    return 1;
}
/* A second message_start with the same id is a resend; with another id two streams were spliced (E7).                  */
static AGENTI_NOINLINE int agenti_an_message(agenti_decoder *d, agent_str message)
{
    agent_str f[AGENTI_AM_FIELDS], id;
    if (!agenti_is_object(message)) return 1;
    agenti_json_pick(message, agenti_an_message_rows, AGENTI_AM_FIELDS, f);
    if (!agenti_string_of(d, f[AGENTI_AM_ID], &id)) return 0;
    if (d->started) {
        if (id.n != d->id.n || (id.n && memcmp(id.p, d->id.p, id.n) != 0))
            agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr("a second message begins inside the first"));
        return 1;
    }
    d->started = 1;
    if (id.n && !agenti_text_set(&d->id, d->pool, d->graves, id)) return 0;
    agenti_an_usage(d, f[AGENTI_AM_USAGE]);
    return agenti_model_set(d, f[AGENTI_AM_MODEL]) && agenti_an_blocks(d, f[AGENTI_AM_CONTENT]) && agenti_an_ending(d, f);
}
/* context_management stands beside the delta (E9).                                                                     */
static AGENTI_NOINLINE int agenti_an_message_delta(agenti_decoder *d, agent_str delta, agent_str usage, agent_str context)
{
    agent_str f[AGENTI_AM_FIELDS];
    agenti_an_usage(d, usage);
    memset(f, 0, sizeof f);
    if (agenti_is_object(delta)) agenti_json_pick(delta, agenti_an_message_rows, AGENTI_AM_FIELDS, f);
    if (context.n) f[AGENTI_AM_CONTEXT] = context;
    return agenti_an_ending(d, f);
}
static AGENTI_NOINLINE int agenti_an_object(agenti_decoder *d, agent_str json)
{
    agent_str f[AGENTI_AE_FIELDS], type;
    agenti_json_pick(json, agenti_an_event_rows, AGENTI_AE_FIELDS, f);
    type = f[AGENTI_AE_TYPE];
    if (agent_json_is(type, "content_block_delta") || (type.n == 0 && f[AGENTI_AE_DELTA].n))     /* its type may come after a cut */
        return agenti_an_block_delta(d, f[AGENTI_AE_DELTA], f[AGENTI_AE_INDEX]);
    if (agent_json_is(type, "content_block_start"))
        return !agenti_is_object(f[AGENTI_AE_BLOCK]) || agenti_an_block_start(d, f[AGENTI_AE_BLOCK], f[AGENTI_AE_INDEX]);
    if (agent_json_is(type, "content_block_stop")) return agenti_an_block_stop(d, agenti_lane_at(d, f[AGENTI_AE_INDEX]));
    if (agent_json_is(type, "message_start")) return agenti_an_message(d, f[AGENTI_AE_MESSAGE]);
    if (agent_json_is(type, "message_delta")) return agenti_an_message_delta(d, f[AGENTI_AE_DELTA], f[AGENTI_AE_USAGE], f[AGENTI_AE_CONTEXT]);
    if (agent_json_is(type, "message_stop")) {
        d->done = 1;
        while (d->lane_n) if (!agenti_an_block_stop(d, &d->lanes[0])) return 0;
    } else if (agent_json_is(type, "error") || (f[AGENTI_AE_ERROR].n && !agenti_eq(f[AGENTI_AE_ERROR], "null")))
        agenti_fault_object(d, json, 0);
    return 1;
}
static int agenti_an_event(agenti_decoder *d, agent_str event, agent_str data)
{
    data = agenti_trim(data);
    if (data.n == 0 || data.p[0] == ':') return 1;
    if (agenti_eq(data, "[DONE]")) { d->done = d->finish != AGENT_FINISH_NONE; return 1; }
    if (data.p[0] != '{' || agent_json_check(data.p, data.n, d->depth_limit, NULL) != AGENT_OK) {
        if (!agenti_eq(event, "error")) return agenti_payload_bad(d);
        agenti_fault_set(d, AGENT_FAULT_SERVER, 1, "", data);
        return 1;
    }
    return agenti_an_object(d, data);
}
static int agenti_an_whole(agenti_decoder *d, agent_str body)
{
    if (!agenti_is_object(body) || !agent_json_is(agent_json_get(body, "type"), "message")) {
        if (agenti_is_object(body) && agenti_is_object(agent_json_get(body, "error"))) agenti_fault_object(d, body, 0);
        else agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr("the answer is no message"));
        return 1;
    }
    d->started = 0;
    d->done = 1;
    return agenti_an_message(d, body);
}

/* ---- requests ---- */
static int agenti_an_thinks(const agenti_request *r)
{
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]);
    if (agenti_replaced(r, "thinking")) return !agent_json_is(agent_json_get(r->extra, "thinking.type"), "disabled");
    return budget.n && !agenti_eq(budget, "0");
}
/* A budget of 0 switches thinking off; effort goes its own way.                                                        */
static void agenti_an_thinking_out(agenti_buf *b, agenti_request *r)
{
    static const char *const words[] = { "", "low", "low", "medium", "high", "max" };
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]), effort = agenti_effort(r, words), schema = agenti_format_schema(r);
    if (r->options[AGENTI_OPT_FORMAT].n && schema.n == 0) r->left_out |= AGENTI_BIT(AGENTI_OPT_FORMAT);
    if (budget.n == 0 && agenti_eq(agenti_text_view(&r->options[AGENTI_OPT_EFFORT]), "off") && !agenti_replaced(r, "thinking"))
        agenti_json_member(b, "thinking", agenti_cstr("{\"type\":\"disabled\"}"));
    if (budget.n && !agenti_replaced(r, "thinking")) {
        int adaptive = agenti_eq(budget, "adaptive");
        agenti_buf_str(b, ",\"thinking\":{\"type\":");
        agenti_buf_str(b, adaptive ? "\"adaptive\"" : agenti_an_thinks(r) ? "\"enabled\"" : "\"disabled\"");
        if (!adaptive && agenti_an_thinks(r)) agenti_json_member(b, "budget_tokens", budget);
        agenti_buf_str(b, "}");
    }
    if ((effort.n == 0 && schema.n == 0) || agenti_replaced(r, "output_config")) return;
    agenti_buf_str(b, ",\"output_config\":{");
    if (effort.n) agenti_json_member_str(b, "effort", effort);
    if (schema.n) {
        agenti_json_key(b, "format");
        agenti_buf_str(b, "{\"type\":\"json_schema\"");
        agenti_json_member(b, "schema", schema);
        agenti_buf_str(b, "}");
    }
    agenti_buf_str(b, "}");
}
/* A choice that forces a call is refused beside thinking.                                                              */
static int agenti_an_forces(agent_str choice) { return choice.n && !agenti_eq(choice, "auto") && !agenti_eq(choice, "none"); }
static agent_str agenti_an_wanted(const agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    return agenti_an_forces(choice) && agenti_an_thinks(r) ? agenti_str(NULL, 0) : choice;
}
/* What is answered and what is thought share max_tokens, so it has to be above the budget.                             */
static void agenti_an_limit_out(agenti_buf *b, const agenti_request *r)
{
    agent_str limit = agenti_text_view(&r->options[AGENTI_OPT_MAX_TOKENS]);
    int64_t most = 0, budget = 0;
    char number[24];
    if (agenti_replaced(r, "max_tokens")) return;
    if (limit.n == 0) limit = agenti_cstr("8192");
    if (agenti_an_thinks(r) && agenti_int(limit, &most) && agenti_int(agenti_text_view(&r->options[AGENTI_OPT_THINKING]), &budget)
        && most > 0 && budget >= most && budget <= INT64_MAX - most) limit = agenti_str(number, agenti_i64_text(most + budget, number));
    agenti_json_member(b, "max_tokens", limit);
}
/* Thinking is refused beside a temperature and the like.                                                               */
static void agenti_an_sampling_out(agenti_buf *b, agenti_request *r)
{
    static const int options[] = { AGENTI_OPT_TEMPERATURE, AGENTI_OPT_TOP_P, AGENTI_OPT_TOP_K };
    static const char *const keys[] = { "temperature", "top_p", "top_k" };
    int i;
    for (i = 0; i < 3; i++) {
        if (agenti_an_thinks(r) && r->options[options[i]].n && !agenti_replaced(r, keys[i])) r->left_out |= AGENTI_BIT(options[i]);
        else agenti_option_out(b, r, keys[i], options[i]);
    }
}
static void agenti_an_mark_out(agenti_buf *b, const agenti_request *r)
{
    int hour = agenti_eq(agenti_text_view(&r->options[AGENTI_OPT_CACHE]), "1h");
    agenti_buf_str(b, hour ? ",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}" : ",\"cache_control\":{\"type\":\"ephemeral\"}");
}
/* Four marks are taken: with the option prompt_cache one stands behind the system text, and the provider sets one at the end. */
enum { AGENTI_AN_MARKS = 4, AGENTI_AN_MARK = 4 };         /* r->state: its two lower bits, then the marks in messages   */
static void agenti_an_part_mark(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    int most = r->options[AGENTI_OPT_CACHE].n ? AGENTI_AN_MARKS - 2 : (int)AGENTI_AN_MARKS;
    if (!(p->flags & AGENT_PART_CACHE)) return;
    if (r->state / AGENTI_AN_MARK >= most) { r->left_out |= AGENTI_BIT(AGENTI_LEFT_MARK); return; }
    r->state += AGENTI_AN_MARK;
    agenti_an_mark_out(b, r);
}
static void agenti_an_head_rest(agenti_buf *b, agenti_request *r)
{
    agent_str system = agenti_text_view(&r->options[AGENTI_OPT_SYSTEM]);
    agenti_an_limit_out(b, r);
    agenti_an_sampling_out(b, r);
    if (r->options[AGENTI_OPT_TOOL_CHOICE].n && agenti_an_wanted(r).n == 0) r->left_out |= AGENTI_BIT(AGENTI_OPT_TOOL_CHOICE);
    agenti_stops_out(b, r, "stop_sequences");
    agenti_an_thinking_out(b, r);
    if (r->options[AGENTI_OPT_TIER].n && !agenti_replaced(r, "service_tier") && !(r->wire->lacks & AGENTI_BIT(AGENTI_OPT_TIER)))
        agenti_json_member_str(b, "service_tier", agenti_text_view(&r->options[AGENTI_OPT_TIER]));
    if (r->options[AGENTI_OPT_USER].n && !agenti_replaced(r, "metadata")) {
        agenti_buf_str(b, ",\"metadata\":{");
        agenti_json_member_str(b, "user_id", agenti_text_view(&r->options[AGENTI_OPT_USER]));
        agenti_buf_str(b, "}");
    }
    if (system.n && !agenti_replaced(r, "system")) {
        agenti_buf_str(b, ",\"system\":[{\"type\":\"text\"");
        agenti_json_member_str(b, "text", system);
        if (r->options[AGENTI_OPT_CACHE].n) agenti_an_mark_out(b, r);
        agenti_buf_str(b, "}]");
    }
    agenti_buf_str(b, ",\"messages\":[");
}
static void agenti_an_head(agenti_buf *b, agenti_request *r)
{
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "model")) agenti_json_member_str(b, "model", agenti_text_view(&r->options[AGENTI_OPT_MODEL]));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    if (r->options[AGENTI_OPT_CACHE].n && !agenti_replaced(r, "cache_control")) agenti_an_mark_out(b, r);
    agenti_an_head_rest(b, r);
}
/* Behind Bedrock the path says which model, and whether it streams; and no mark stands beside the messages.             */
static void agenti_an_invoke_head(agenti_buf *b, agenti_request *r)
{
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "anthropic_version")) agenti_json_member_str(b, "anthropic_version", agenti_cstr("bedrock-2023-05-31"));
    agenti_an_head_rest(b, r);
}
/* Behind Vertex the path says which model; whether it streams, body and path both.                                     */
static void agenti_an_vertex_head(agenti_buf *b, agenti_request *r)
{
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "anthropic_version")) agenti_json_member_str(b, "anthropic_version", agenti_cstr("vertex-2023-10-16"));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    if (r->options[AGENTI_OPT_CACHE].n && !agenti_replaced(r, "cache_control")) agenti_an_mark_out(b, r);
    agenti_an_head_rest(b, r);
}
/* Roles alternate: blocks of the same side go into one message. r->state: 0 none, else 1 + the side whose message is open: user, model,
 * or system as an import has it among the others.                                                                      */
static void agenti_an_open(agenti_buf *b, agenti_request *r, int model)
{
    static const char *const roles[] = { "user", "assistant", "system" };
    int side = r->state % AGENTI_AN_MARK;
    if (side == 1 + model) { agenti_buf_str(b, ","); return; }
    if (side) agenti_buf_str(b, "]},");
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "role", agenti_cstr(roles[model]));
    agenti_buf_str(b, ",\"content\":[");
    r->state += 1 + model - side;
}
static int agenti_an_text_open(agenti_buf *b, agenti_request *r, agent_str text, int model)           /* 0: not sent    */
{
    if (agenti_trim(text).n == 0) return 0;   /* empty and blank blocks are refused (E14)                               */
    agenti_an_open(b, r, model);
    agenti_buf_str(b, "{\"type\":\"text\"");
    agenti_json_member_str(b, "text", text);
    return 1;
}
static void agenti_an_model_text(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p, agent_str citations)
{
    if (!agenti_an_text_open(b, r, agenti_text_view(&p->text), 1)) return;
    if (agenti_is_objects(citations)) {
        agenti_buf_str(b, ",\"citations\":[");
        agenti_buf_add(b, citations.p, citations.n);
        agenti_buf_str(b, "]");
    }
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static void agenti_an_source_out(agenti_buf *b, const agenti_part *p, const char *type)
{
    agenti_buf_str(b, ",\"source\":{");
    agenti_json_member_str(b, "type", agenti_cstr(p->uri.n ? "url" : type));
    if (p->uri.n) agenti_json_member_str(b, "url", agenti_text_view(&p->uri));
    else {
        agenti_json_member_str(b, "media_type", agenti_eq(agenti_cstr(type), "text") ? agenti_cstr("text/plain") : agenti_text_view(&p->mime));
        agenti_json_member_str(b, "data", agenti_text_view(&p->text));
    }
    agenti_buf_str(b, "}");
    if (p->name.n && p->kind == AGENT_PART_FILE) agenti_json_member_str(b, "title", agenti_text_view(&p->name));
}
/* Images of four types, PDFs and plain text; by URL whatever it is.                                                    */
static const char *agenti_an_source(const agenti_part *p)                       /* the kind of its source; NULL: not taken */
{
    static const char *const images[] = { "image/jpeg", "image/png", "image/gif", "image/webp" };
    agent_str mime = agenti_text_view(&p->mime);
    size_t i;
    if (p->kind == AGENT_PART_AUDIO) return NULL;
    if (p->uri.n) return "url";
    if (p->kind == AGENT_PART_FILE) return !(p->flags & AGENT_PART_BASE64) ? "text" : agenti_ieq(mime, "application/pdf") ? "base64" : NULL;
    for (i = 0; i < 4; i++) if (agenti_ieq(mime, images[i])) return "base64";
    return NULL;
}
static void agenti_an_user_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    const char *source = p->kind == AGENT_PART_TEXT ? NULL : agenti_an_source(p);
    int side = (m->flags & AGENT_MSG_SYSTEM) && m->wire == (const void *)r->wire ? 2 : 0;
    if (p->kind == AGENT_PART_OTHER) {
        agenti_an_open(b, r, side);
        agenti_buf_add(b, p->text.p, p->text.n);
        return;
    }
    if (p->kind == AGENT_PART_TEXT) {
        if (!agenti_an_text_open(b, r, agenti_text_view(&p->text), side)) return;
    } else {
        agenti_an_open(b, r, side);
        agenti_buf_str(b, source == NULL ? "{\"type\":\"text\",\"text\":" : p->kind == AGENT_PART_IMAGE ? "{\"type\":\"image\"" : "{\"type\":\"document\"");
        if (source) agenti_an_source_out(b, p, source); else agenti_media_left_out(b, r, p);
    }
    agenti_an_part_mark(b, r, p);
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
/* Ids of calls are A-Z a-z 0-9 _ -; those of other providers may hold more (C21).                                      */
static void agenti_an_id_out(agenti_buf *b, const char *key, agent_str id)
{
    static const char hex[] = "0123456789abcdef";
    uint32_t hash = 2166136261u;              /* FNV-1a: ids that differ stay apart                                     */
    size_t i, start;
    int changed = 0;
    agenti_json_key(b, key);
    agenti_buf_str(b, "\"");
    start = b->n;
    agenti_buf_add(b, id.p, id.n);
    for (i = start; i < b->n; i++) {
        char c = agenti_lower(b->p[i]);
        hash = (hash ^ (unsigned char)b->p[i]) * 16777619u;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-') continue;
        b->p[i] = '_';
        changed = 1;
    }
    for (i = 0; changed && i < 8; i++) agenti_buf_add(b, hex + (hash >> (28 - 4 * i) & 15), 1);
    agenti_buf_str(b, "\"");
}
static void agenti_an_model_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int keeps = p->kind == AGENT_PART_REASONING || p->kind == AGENT_PART_OTHER;
    int good = m->model == r->model && !(p->flags & AGENT_PART_CUT);
    if (p->kind == AGENT_PART_TEXT) {
        agenti_an_model_text(b, r, m, p, good ? agenti_text_view(&p->data) : agenti_str(NULL, 0));
        return;
    }
    if (agenti_is_media(p->kind)) return;     /* no model of this format makes files                                    */
    if (keeps && !good) { if (m->model != r->model) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING); return; }
    if (p->kind == AGENT_PART_REASONING && p->data.n == 0 && !(r->dialect & AGENT_DIALECT_UNSIGNED_THINKING)) return;
    agenti_an_open(b, r, 1);
    if (p->kind == AGENT_PART_OTHER) { agenti_buf_add(b, p->text.p, p->text.n); return; }
    if (p->kind == AGENT_PART_REASONING) {
        agenti_buf_str(b, "{\"type\":\"thinking\"");
        agenti_json_member_str(b, "thinking", agenti_text_view(&p->text));
        if (p->data.n) agenti_json_member_str(b, "signature", agenti_text_view(&p->data));
    } else {
        int usable = p->text.n && !(p->flags & AGENT_PART_INVALID);
        agenti_buf_str(b, "{\"type\":\"tool_use\"");
        agenti_an_id_out(b, "id", agenti_text_view(&p->wire_id));
        agenti_tool_name_out(b, agenti_text_view(&p->name));
        agenti_json_member(b, "input", usable ? agenti_text_view(&p->text) : agenti_cstr("{}"));
    }
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static void agenti_an_result_out(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    agent_str text = agenti_text_view(&p->text);
    agenti_an_open(b, r, 0);
    agenti_buf_str(b, "{\"type\":\"tool_result\"");
    agenti_an_id_out(b, "tool_use_id", agenti_text_view(&p->wire_id));
    if (!agenti_own_content(r, m, p)) agenti_json_member_str(b, "content", agenti_trim(text).n ? text : agenti_cstr("(no output)"));
    if (p->flags & AGENT_PART_ERROR) agenti_buf_str(b, ",\"is_error\":true");
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static void agenti_an_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i;
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        if (m->role == AGENT_USER) agenti_an_user_part(b, r, m, p);
        else if (m->role == AGENT_TOOLS) agenti_an_result_out(b, r, m, p);
        else agenti_an_model_part(b, r, m, p);
    }
}
static void agenti_an_choice(agenti_buf *b, const agenti_request *r)
{
    agent_str choice = agenti_an_wanted(r), parallel = agenti_text_view(&r->options[AGENTI_OPT_PARALLEL]);
    if (r->tools_off) { agenti_json_member(b, "tool_choice", agenti_cstr("{\"type\":\"none\"}")); return; }
    if (agenti_replaced(r, "tool_choice") || (!agenti_eq(parallel, "false") && (choice.n == 0 || r->choice_off))) return;
    agenti_buf_str(b, ",\"tool_choice\":{\"type\":");
    if (choice.n == 0 || r->choice_off || agenti_eq(choice, "auto")) agenti_buf_str(b, "\"auto\"");
    else if (agenti_eq(choice, "none")) agenti_buf_str(b, "\"none\"");
    else if (agenti_eq(choice, "required")) agenti_buf_str(b, "\"any\"");
    else {
        agenti_buf_str(b, "\"tool\"");
        agenti_json_member_str(b, "name", choice);
    }
    if (agenti_eq(parallel, "false")) agenti_buf_str(b, ",\"disable_parallel_tool_use\":true");
    agenti_buf_str(b, "}");
}
static void agenti_an_tail(agenti_buf *b, const agenti_request *r)
{
    agenti_request with = *r;
    if (r->note && agenti_an_text_open(b, &with, agenti_cstr(r->note), 0)) agenti_buf_str(b, "}");
    agenti_buf_str(b, with.state % AGENTI_AN_MARK ? "]}]" : "]");
    if (r->tool_count || agenti_replaced(r, "tools")) agenti_an_choice(b, r);
}
static void agenti_an_tools_out(agenti_buf *b, const agenti_request *r)
{
    agenti_tools_list(b, r, "{", "input_schema", ",\"strict\":true}", "}");
}
static const char *const agenti_an_parts[] = { "text", "thinking", "partial_json", NULL };
static const char *const agenti_an_routing[] = { "type", "index", NULL };
static const char *const agenti_an_owner[] = { "index", NULL };
static const char *const agenti_an_held[] = { "content_block", "message", NULL };       /* each begins something         */
static const char *const agenti_an_none[] = { NULL };
#define AGENTI_AN_ROW(name, path, whole_path, framing, header, value, lacks, head) { name, path, whole_path, framing, header, value, \
    lacks | AGENTI_BIT(AGENTI_OPT_SEED) | AGENTI_BIT(AGENTI_OPT_FREQUENCY) | AGENTI_BIT(AGENTI_OPT_PRESENCE) | AGENTI_BIT(AGENTI_OPT_CACHE_KEY), \
    head, NULL, agenti_an_message_out, agenti_an_tail, agenti_an_tools_out, agenti_extra_out, agenti_an_event, agenti_an_whole, NULL, \
    { agenti_an_parts, agenti_an_routing, agenti_an_owner, 1, agenti_an_held }, \
    { agenti_an_parts, agenti_an_routing, agenti_an_owner, 1, agenti_an_none }, agenti_anthropic_import, NULL }
static const agenti_wire agenti_anthropic_wires[3] = {
    AGENTI_AN_ROW("anthropic", "/messages", NULL, AGENTI_FRAMING_SSE, "anthropic-version", "2023-06-01", 0, agenti_an_head),
    AGENTI_AN_ROW("bedrock-invoke", "/model/{model}/invoke-with-response-stream", "/model/{model}/invoke", AGENTI_FRAMING_BYTES, NULL, NULL,
                  AGENTI_BIT(AGENTI_OPT_TIER), agenti_an_invoke_head),
    AGENTI_AN_ROW("vertex-anthropic", "/models/{model}:streamRawPredict", "/models/{model}:rawPredict", AGENTI_FRAMING_SSE, NULL, NULL,
                  AGENTI_BIT(AGENTI_OPT_TIER), agenti_an_vertex_head)
};
AGENTI_FN const agenti_wire *agenti_anthropic(void) { return &agenti_anthropic_wires[0]; }
AGENTI_FN const agenti_wire *agenti_anthropic_invoke(void) { return &agenti_anthropic_wires[1]; }
AGENTI_FN const agenti_wire *agenti_anthropic_vertex(void) { return &agenti_anthropic_wires[2]; }
#endif
#endif

/* ==== import_openai_responses.c: requests of OpenAI responses read ================================================ */
/* Requests of OpenAI responses, as programs have them, into messages, tools and options. */
AGENTI_FN int agenti_openai_responses_import(agenti_import *, agent_str body);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_IMPORT_OPENAI_RESPONSES
static const char *const agenti_irs_said_keys[] = { "role", "content", NULL };

/* ---- messages ---- */
static int agenti_irs_part(agenti_import *im, agenti_msg *m, agent_str part)
{
    static const char *const text_keys[] = { "type", "text", NULL };
    static const char *const keys[] = { "type", "image_url", "filename", "file_url", "file_data", NULL };
    agent_str type = agent_json_get(part, "type"), text = agent_json_get(part, "text"), data = agent_json_get(part, "file_data"), name;
    int image = agent_json_is(type, "input_image"), rc = 0;
    agenti_part *p;
    if (agent_json_is(type, "input_text") && agenti_is_string(text))
        return agenti_im_words(im, m, AGENT_PART_TEXT, text) && agenti_im_more(im, &m->parts[m->n - 1].more, part, text_keys);
    if (image) rc = agenti_im_url(im, m, AGENT_PART_IMAGE, agent_json_get(part, "image_url"));
    else if (agent_json_is(type, "input_file") && agenti_nonempty(data)) {
        if (data.n > 6 && agenti_ieq(agenti_str(data.p + 1, 5), "data:")) rc = agenti_im_url(im, m, AGENT_PART_FILE, data);
    } else if (agent_json_is(type, "input_file")) rc = agenti_im_url(im, m, AGENT_PART_FILE, agent_json_get(part, "file_url"));
    if (rc < 0) return 0;
    if (rc == 0) return agenti_im_other(im, m, part, agenti_is_string(type) ? type : agenti_cstr("\"?\""));
    p = &m->parts[m->n - 1];
    p->kind = image ? AGENT_PART_IMAGE : AGENT_PART_FILE;
    name = agent_json_get(part, "filename");
    return (!agenti_nonempty(name) || agenti_im_text(im, &p->name, name)) && agenti_im_more(im, &p->more, part, keys);
}
static int agenti_irs_said(agenti_import *im, agent_str item, agent_str content, int flags)
{
    agenti_msg *m = agenti_im_msg(im, AGENT_USER, item);
    agent_str part;
    size_t pos = 0;
    if (m == NULL || !agenti_im_more(im, &m->more, item, agenti_irs_said_keys)) return 0;
    m->flags = (uint8_t)flags;
    if (agenti_is_string(content)) return agenti_im_words(im, m, AGENT_PART_TEXT, content);
    if (!agenti_is_array(content)) return agenti_im_fail(im, content.n ? content.p : item.p, "input: content is no text and no list of parts");
    while (agent_json_each(content, &pos, NULL, &part)) if (!agenti_irs_part(im, m, part)) return 0;
    return 1;
}
/* Those at the start belong to the system prompt.                                                                      */
static int agenti_irs_system(agenti_import *im, agent_str item, agent_str content, int developer)
{
    agent_str part;
    size_t pos = 0;
    if (im->table.n) return agenti_irs_said(im, item, content, developer ? AGENT_MSG_SYSTEM | AGENTI_MSG_DEVELOPER : AGENT_MSG_SYSTEM);
    while (agenti_is_array(content) && agent_json_each(content, &pos, NULL, &part))
        if (!agenti_im_system(im, agent_json_get(part, "text"), NULL, 0)) return 0;
    return agenti_im_system(im, agenti_is_string(content) ? content : agenti_str(NULL, 0), &item, 0);
}
/* The texts of a list of parts, one behind the other. 0: no memory                                                     */
static int agenti_irs_texts(agenti_import *im, agenti_text *to, agent_str list, const char *between)
{
    agenti_text words;
    agent_str part, text;
    size_t pos = 0;
    int ok = 1;
    while (ok && agenti_is_array(list) && agent_json_each(list, &pos, NULL, &part)) {
        text = agent_json_get(part, agent_json_is(agent_json_get(part, "type"), "refusal") ? "refusal" : "text");
        if (!agenti_nonempty(text)) continue;
        memset(&words, 0, sizeof words);
        ok = agenti_im_text(im, &words, text) && (to->n == 0 || agenti_text_add(to, im->pool, NULL, agenti_cstr(between)))
            && agenti_text_add(to, im->pool, NULL, agenti_text_view(&words));
        agenti_text_free(&words, NULL);
    }
    return ok;
}
static int agenti_irs_answer(agenti_import *im, agent_str item, agent_str content)
{
    static const char *const keys[] = { "role", "content", "phase", NULL }, *const role[] = { "role", NULL };
    agenti_msg *m = agenti_im_model(im, item);
    agent_str phase = agent_json_get(item, "phase");
    agenti_text raw;
    agenti_part *p;
    int ok;
    if (m == NULL || (p = agenti_im_part(im, m, AGENT_PART_TEXT)) == NULL) return 0;
    if (!agenti_is_string(content)) {         /* a list stays as it came                                                 */
        p->flags |= AGENTI_PART_CONTENT;
        if (agent_json_is(agent_json_get(content, "[0].type"), "refusal")) p->flags |= AGENT_PART_REFUSAL;
        return agenti_irs_texts(im, &p->text, content, "") && agenti_im_more(im, &p->more, item, role);
    }
    if (!agenti_im_text(im, &p->text, content) || !agenti_im_more(im, &p->more, item, keys)) return 0;
    if (!agenti_is_string(phase)) return 1;
    memset(&raw, 0, sizeof raw);
    ok = agenti_im_raw(im, &raw, phase) && agenti_im_wrap(im, &p->data, "{\"phase\":", agenti_text_view(&raw));
    agenti_text_free(&raw, NULL);
    return ok;
}

/* ---- items ---- */
static int agenti_irs_thought(agenti_import *im, agent_str item)
{
    agenti_msg *m = agenti_im_model(im, item);
    agenti_part *p = m ? agenti_im_part(im, m, AGENT_PART_REASONING) : NULL;
    if (p == NULL) return 0;
    p->flags |= AGENTI_PART_CONTENT;
    return agenti_irs_texts(im, &p->text, agent_json_get(item, "summary"), "\n\n") && agenti_irs_texts(im, &p->text, agent_json_get(item, "content"), "\n\n")
        && agenti_im_raw(im, &p->data, item);
}
static int agenti_irs_call(agenti_import *im, agent_str item, int custom)
{
    static const char *const keys[] = { "type", "call_id", "name", "arguments", NULL }, *const custom_keys[] = { "type", "call_id", "name", "input", NULL };
    agenti_msg *m = agenti_im_model(im, item);
    agenti_part *p = m ? agenti_im_call(im, m, agent_json_get(item, "call_id"), agent_json_get(item, "name"), agent_json_get(item, "arguments"), item) : NULL;
    if (p == NULL) return 0;
    if (!custom) return agenti_im_more(im, &p->more, item, keys);
    return agenti_text_set(&p->data, im->pool, NULL, agenti_cstr("{\"type\":\"custom_tool_call\"}"))
        && agenti_im_input(im, p, agent_json_get(item, "input")) && agenti_im_more(im, &p->more, item, custom_keys);
}
/* A tool that the provider defines and the host runs: the item goes back as it came.                                    */
static int agenti_irs_host_call(agenti_import *im, agent_str item, const char *name, const char *input)
{
    agenti_msg *m = agenti_im_model(im, item);
    agenti_text quoted;
    agenti_part *p;
    memset(&quoted, 0, sizeof quoted);
    if (m == NULL || !agenti_text_set(&quoted, im->pool, NULL, agenti_cstr(name))) return 0;
    p = agenti_im_call(im, m, agent_json_get(item, "call_id"), agenti_text_view(&quoted), agent_json_get(item, input), item);
    agenti_text_free(&quoted, NULL);
    return p && agenti_im_raw(im, &p->data, item);
}
static int agenti_irs_hosted(agenti_import *im, agent_str item, agent_str type, int *done)
{
    static const struct { const char *type, *name, *input; } rows[] = {
        { "shell_call", "\"shell\"", "action" }, { "tool_search_call", "\"tool_search\"", "arguments" },
        { "local_shell_call", "\"local_shell\"", "action" }, { "apply_patch_call", "\"apply_patch\"", "operation" },
        { "computer_call", "\"computer\"", "action" }
    };
    size_t i = 0, n = sizeof rows / sizeof *rows;
    while (i < n && !agent_json_is(type, rows[i].type)) i++;
    *done = i < n && agenti_nonempty(agent_json_get(item, "call_id")) && !agent_json_is(agent_json_get(item, "execution"), "server")
        && !agent_json_is(agent_json_get(item, "environment.type"), "container_reference");
    return !*done || agenti_irs_host_call(im, item, rows[i].name, rows[i].input);
}
static int agenti_irs_result(agenti_import *im, agent_str item, agent_str type, int *done)
{
    static const char *const keys[] = { "type", "call_id", "output", NULL }, *const with[] = { "type", "call_id", NULL };
    agent_str id = agent_json_get(item, "call_id"), output = agent_json_get(item, "output");
    int plain = agenti_nonempty(output) && (agent_json_is(type, "function_call_output") || agent_json_is(type, "custom_tool_call_output"));
    agenti_part *p;
    *done = 0;
    if (type.n < 9 || memcmp(type.p + type.n - 8, "_output\"", 8) != 0 || !agenti_nonempty(id)) return 1;
    if ((p = agenti_im_result(im, id, agenti_cstr("\"\""))) == NULL) return 1;   /* of a call that the provider has stored    */
    *done = 1;
    if (!plain) p->flags |= AGENTI_PART_CONTENT;
    return agenti_im_result_text(im, p, output) && agenti_im_more(im, &p->more, item, plain ? keys : with);
}
static int agenti_irs_item(agenti_import *im, agent_str item)
{
    agent_str type = agent_json_get(item, "type"), role = agent_json_get(item, "role"), content = agent_json_get(item, "content");
    agenti_msg *m;
    int done = 0, message = type.n == 0 || agent_json_is(type, "message");
    if (!agenti_is_object(item)) return agenti_im_fail(im, item.p, "input: an element is no object");
    if (message && agent_json_is(role, "user")) return agenti_irs_said(im, item, content, 0);
    if (message && agent_json_is(role, "assistant")) return agenti_irs_answer(im, item, content);
    if (message && (agent_json_is(role, "system") || agent_json_is(role, "developer"))) return agenti_irs_system(im, item, content, agent_json_is(role, "developer"));
    if (message) return agenti_im_fail(im, role.n ? role.p : item.p, "input: role is none of user, assistant, system, developer");
    if (agent_json_is(type, "reasoning")) return agenti_irs_thought(im, item);
    if (agent_json_is(type, "function_call")) return agenti_irs_call(im, item, 0);
    if (agent_json_is(type, "custom_tool_call")) return agenti_irs_call(im, item, 1);
    if (!agenti_irs_hosted(im, item, type, &done) || (!done && !agenti_irs_result(im, item, type, &done))) return 0;
    if (done) return 1;
    m = agenti_im_model(im, item);
    return m && agenti_im_other(im, m, item, type);
}

/* ---- tools and options ---- */
static int agenti_irs_tools(agenti_import *im, agent_str tools)
{
    agent_str tool, name, type;
    size_t pos = 0;
    if (tools.n == 0 || agenti_eq(tools, "null")) return 1;
    if (!agenti_is_array(tools)) return agenti_im_fail(im, tools.p, "tools: no list");
    im->tools_given = 1;
    while (agent_json_each(tools, &pos, NULL, &tool)) {
        if (!agenti_is_object(tool)) return agenti_im_fail(im, tool.p, "tools: an element is no object");
        type = agent_json_get(tool, "type");
        name = agent_json_get(tool, "name");
        if (agent_json_is(type, "function")
            ? !agenti_im_tool(im, tool, name, agent_json_get(tool, "description"), agent_json_get(tool, "parameters"))
            : !agenti_im_raw_tool(im, tool, agenti_nonempty(name) ? name : type)) return 0;
    }
    return 1;
}
static uint32_t agenti_irs_choice(agenti_import *im, agent_str v)
{
    agent_str name = agent_json_get(v, "name");
    if (im->tool_n == 0) return 0;
    if (agent_json_is(v, "auto") || agent_json_is(v, "none") || agent_json_is(v, "required")) return agenti_im_string(im, AGENTI_OPT_TOOL_CHOICE, v);
    if (!agent_json_is(agent_json_get(v, "type"), "function") || agent_json_is(name, "auto") || agent_json_is(name, "none") || agent_json_is(name, "required"))
        return 0;
    return agenti_im_string(im, AGENTI_OPT_TOOL_CHOICE, name);
}
static uint32_t agenti_irs_take(agenti_import *im, agent_str key, agent_str v)
{
    if (agenti_eq(key, "input") || agenti_eq(key, "tools")) return AGENTI_IM_TAKEN;
    if (agenti_eq(key, "stream") && (agenti_eq(v, "true") || agenti_eq(v, "false"))) { im->stream = agenti_eq(v, "true"); return AGENTI_IM_TAKEN; }
    if (agenti_eq(key, "instructions")) return AGENTI_BIT(AGENTI_OPT_SYSTEM);
    if (agenti_eq(key, "model")) return agenti_im_string(im, AGENTI_OPT_MODEL, v);
    if (agenti_eq(key, "max_output_tokens")) return agenti_im_number(im, AGENTI_OPT_MAX_TOKENS, v);
    if (agenti_eq(key, "temperature")) return agenti_im_number(im, AGENTI_OPT_TEMPERATURE, v);
    if (agenti_eq(key, "top_p")) return agenti_im_number(im, AGENTI_OPT_TOP_P, v);
    if (agenti_eq(key, "tool_choice")) return agenti_irs_choice(im, v);
    if (agenti_eq(key, "parallel_tool_calls")) return im->tool_n ? agenti_im_bool(im, AGENTI_OPT_PARALLEL, v, 0) : 0;
    if (agenti_eq(key, "reasoning")) return agenti_im_string(im, AGENTI_OPT_EFFORT, agent_json_get(v, "effort"));
    return 0;
}
AGENTI_FN int agenti_openai_responses_import(agenti_import *im, agent_str body)
{
    int list = agenti_is_array(body);
    agent_str input = list ? body : agent_json_get(body, "input"), item;
    agenti_msg *m;
    size_t pos = 0;
    if (!list && (!agenti_irs_tools(im, agent_json_get(body, "tools")) || !agenti_im_system(im, agent_json_get(body, "instructions"), NULL, 0))) return 0;
    if (agenti_is_string(input)) {
        if ((m = agenti_im_msg(im, AGENT_USER, input)) == NULL || !agenti_im_words(im, m, AGENT_PART_TEXT, input)) return 0;
    } else if (!agenti_is_array(input)) return agenti_im_fail(im, input.n ? input.p : body.p, "input: no text and no list");
    else while (agent_json_each(input, &pos, NULL, &item)) if (!agenti_irs_item(im, item)) return 0;
    return (list || agenti_im_members(im, body, agenti_irs_take)) && agenti_im_end(im);
}
#endif

/* ==== wire_openai_responses.c: OpenAI responses =================================================================== */
/* OpenAI responses and what speaks it: https://platform.openai.com/docs/api-reference/responses and /responses-streaming
 * An answer is a list of items. Open ones are told apart by output_index; the event that ends an item has it whole, and so has the last
 * event all of them. Items that only the provider understands, and thoughts, go back as they came. */
#ifndef AGENT_NO_OPENAI_RESPONSES
AGENTI_FN const agenti_wire *agenti_openai_responses(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_OPENAI_RESPONSES
/* ---- answers ---- */
/* agenti_lane.kind. A lane is an open item. id: its id as JSON. more: a message's phase as JSON, or the arguments that a call began with.
 * key 0: no part of it is open. named: text was shown; of a call, id and name are known. whole: it is being read from an event in pieces.
 * cited: its sources were shown; of a call, arguments were. sub: the open part, 2 * its index, + 1: a refusal, or raw thoughts; of a call,
 * 1: pieces of its arguments are encrypted. */
enum { AGENTI_RL_MESSAGE = 1, AGENTI_RL_REASONING, AGENTI_RL_CALL, AGENTI_RL_CUSTOM,
       AGENTI_RL_WRAPPER,                     /* several calls in one: nothing is shown before its end                  */
       AGENTI_RL_SEARCH,                      /* a call that the provider runs and whose result has no id; id: its own  */
       AGENTI_RL_PIECES };                    /* an item that is cut inside of its member `result`; more: what has come */
enum { AGENTI_RS_STREAMED = 1, AGENTI_RS_REFUSED = 2 };      /* agenti_decoder.sourced: an item ended in an event of its own */
enum { AGENTI_RE_TYPE, AGENTI_RE_INDEX, AGENTI_RE_ITEM_ID, AGENTI_RE_CONTENT, AGENTI_RE_SUMMARY, AGENTI_RE_DELTA, AGENTI_RE_TEXT,
       AGENTI_RE_REFUSAL, AGENTI_RE_ARGUMENTS, AGENTI_RE_INPUT, AGENTI_RE_ITEM, AGENTI_RE_RESPONSE, AGENTI_RE_ANNOTATION, AGENTI_RE_ERROR,
       AGENTI_RE_OBJECT, AGENTI_RE_OUTPUT, AGENTI_RE_CHOICES, AGENTI_RE_FIELDS };
static const agenti_field agenti_rs_event_fields[AGENTI_RE_FIELDS] = {
    { "type", -1 }, { "output_index", -1 }, { "item_id", -1 }, { "content_index", -1 }, { "summary_index", -1 }, { "delta", -1 }, { "text", -1 },
    { "refusal", -1 }, { "arguments", -1 }, { "input", -1 }, { "item", -1 }, { "response", -1 }, { "annotation", -1 }, { "error", -1 },
    { "object", -1 }, { "output", -1 }, { "choices", -1 }
};
enum { AGENTI_RI_TYPE, AGENTI_RI_ID, AGENTI_RI_CALL_ID, AGENTI_RI_NAME, AGENTI_RI_NAMESPACE, AGENTI_RI_CALLER, AGENTI_RI_ARGUMENTS,
       AGENTI_RI_INPUT, AGENTI_RI_CONTENT, AGENTI_RI_SUMMARY, AGENTI_RI_ENCRYPTED, AGENTI_RI_PHASE, AGENTI_RI_FIELDS };
static const agenti_field agenti_rs_item_fields[AGENTI_RI_FIELDS] = {
    { "type", -1 }, { "id", -1 }, { "call_id", -1 }, { "name", -1 }, { "namespace", -1 }, { "caller", -1 }, { "arguments", -1 },
    { "input", -1 }, { "content", -1 }, { "summary", -1 }, { "encrypted_content", -1 }, { "phase", -1 }
};
enum { AGENTI_RR_ID, AGENTI_RR_MODEL, AGENTI_RR_STATUS, AGENTI_RR_ERROR, AGENTI_RR_DETAILS, AGENTI_RR_REASON, AGENTI_RR_USAGE, AGENTI_RR_OUTPUT,
       AGENTI_RR_OBJECT, AGENTI_RR_FIELDS };
static const agenti_field agenti_rs_response_fields[AGENTI_RR_FIELDS] = {
    { "id", -1 }, { "model", -1 }, { "status", -1 }, { "error", -1 }, { "incomplete_details", -1 }, { "reason", AGENTI_RR_DETAILS },
    { "usage", -1 }, { "output", -1 }, { "object", -1 }
};
/* What an event is. PIECE: its member is more of an item; DONE: the member is all of what such pieces gave.             */
enum { AGENTI_RA_PIECE = 1, AGENTI_RA_DONE, AGENTI_RA_ADDED, AGENTI_RA_ITEM, AGENTI_RA_CITE, AGENTI_RA_OVER, AGENTI_RA_ERROR };
typedef struct agenti_rs_event_row { const char *type; uint8_t act, lane, odd, member; } agenti_rs_event_row;
static const agenti_rs_event_row agenti_rs_events[] = {
    { "response.output_text.delta", AGENTI_RA_PIECE, AGENTI_RL_MESSAGE, 0, AGENTI_RE_DELTA },
    { "response.reasoning_summary_text.delta", AGENTI_RA_PIECE, AGENTI_RL_REASONING, 0, AGENTI_RE_DELTA },
    { "response.reasoning_text.delta", AGENTI_RA_PIECE, AGENTI_RL_REASONING, 1, AGENTI_RE_DELTA },
    { "response.function_call_arguments.delta", AGENTI_RA_PIECE, AGENTI_RL_CALL, 0, AGENTI_RE_DELTA },
    { "response.custom_tool_call_input.delta", AGENTI_RA_PIECE, AGENTI_RL_CUSTOM, 0, AGENTI_RE_DELTA },
    { "response.refusal.delta", AGENTI_RA_PIECE, AGENTI_RL_MESSAGE, 1, AGENTI_RE_DELTA },
    { "response.output_text.done", AGENTI_RA_DONE, AGENTI_RL_MESSAGE, 0, AGENTI_RE_TEXT },
    { "response.reasoning_summary_text.done", AGENTI_RA_DONE, AGENTI_RL_REASONING, 0, AGENTI_RE_TEXT },
    { "response.reasoning_text.done", AGENTI_RA_DONE, AGENTI_RL_REASONING, 1, AGENTI_RE_TEXT },
    { "response.function_call_arguments.done", AGENTI_RA_DONE, AGENTI_RL_CALL, 0, AGENTI_RE_ARGUMENTS },
    { "response.custom_tool_call_input.done", AGENTI_RA_DONE, AGENTI_RL_CUSTOM, 0, AGENTI_RE_INPUT },
    { "response.refusal.done", AGENTI_RA_DONE, AGENTI_RL_MESSAGE, 1, AGENTI_RE_REFUSAL },
    { "response.output_item.added", AGENTI_RA_ADDED, 0, 0, 0 },
    { "response.output_item.done", AGENTI_RA_ITEM, 0, 0, 0 },
    { "response.output_text.annotation.added", AGENTI_RA_CITE, AGENTI_RL_MESSAGE, 0, 0 },
    { "response.completed", AGENTI_RA_OVER, 0, 0, 0 },
    { "response.incomplete", AGENTI_RA_OVER, 0, 0, 0 },
    { "response.failed", AGENTI_RA_OVER, 0, 0, 0 },
    { "response.cancelled", AGENTI_RA_OVER, 0, 0, 0 },
    { "response.done", AGENTI_RA_OVER, 0, 0, 0 },
    { "error", AGENTI_RA_ERROR, 0, 0, 0 }
};
/* Items that stand for tools which the provider defines. Who runs a call: the provider, and then call and result stand in one item
 * (BOTH), or apart (RAN, RESULT); or the host (HOST), whose answer is an item of type `answer`.                         */
enum { AGENTI_RT_BOTH = 1, AGENTI_RT_RAN, AGENTI_RT_RESULT, AGENTI_RT_HOST };
enum { AGENTI_RF_TEXT = 1, AGENTI_RF_STATUS, AGENTI_RF_LIST, AGENTI_RF_OBJECT, AGENTI_RF_TOOLS };      /* the form of the host's answer */
typedef struct agenti_rs_tool { const char *type, *name, *input, *result, *answer; uint8_t by, form; } agenti_rs_tool;
static const agenti_rs_tool agenti_rs_tools[] = {
    { "web_search_call", "web_search", "action", "action.sources", NULL, AGENTI_RT_BOTH, 0 },
    { "file_search_call", "file_search", "queries", "results", NULL, AGENTI_RT_BOTH, 0 },
    { "code_interpreter_call", "code_interpreter", "code", "outputs", NULL, AGENTI_RT_BOTH, 0 },
    { "image_generation_call", "image_generation", "revised_prompt", NULL, NULL, AGENTI_RT_BOTH, 0 },
    { "mcp_call", NULL, "arguments", "output", NULL, AGENTI_RT_BOTH, 0 },
    { "mcp_list_tools", "mcp_list_tools", "server_label", "tools", NULL, AGENTI_RT_BOTH, 0 },
    { "program", "program", "code", NULL, NULL, AGENTI_RT_RAN, 0 },
    { "program_output", "program", NULL, "result", NULL, AGENTI_RT_RESULT, 0 },
    { "shell_call_output", "shell", NULL, "output", NULL, AGENTI_RT_RESULT, 0 },
    { "tool_search_output", "tool_search", NULL, "tools", NULL, AGENTI_RT_RESULT, 0 },
    { "shell_call", "shell", "action", NULL, "shell_call_output", AGENTI_RT_HOST, AGENTI_RF_LIST },
    { "tool_search_call", "tool_search", "arguments", NULL, "tool_search_output", AGENTI_RT_HOST, AGENTI_RF_TOOLS },
    { "local_shell_call", "local_shell", "action", NULL, "local_shell_call_output", AGENTI_RT_HOST, AGENTI_RF_TEXT },
    { "apply_patch_call", "apply_patch", "operation", NULL, "apply_patch_call_output", AGENTI_RT_HOST, AGENTI_RF_STATUS },
    { "computer_call", "computer", "action", NULL, "computer_call_output", AGENTI_RT_HOST, AGENTI_RF_OBJECT },
    { "custom_tool_call", NULL, "input", NULL, "custom_tool_call_output", AGENTI_RT_BOTH, AGENTI_RF_TEXT }
};
static const agenti_rs_tool *agenti_rs_tool_of(agent_str type)                 /* a JSON string                          */
{
    size_t i;
    for (i = 0; i < sizeof agenti_rs_tools / sizeof *agenti_rs_tools; i++)
        if (agent_json_is(type, agenti_rs_tools[i].type)) return &agenti_rs_tools[i];
    return NULL;
}

/* A JSON value of an item that also goes back as it came: strings are decoded in place, so it is copied. 0: no memory   */
static int agenti_rs_copy(agenti_decoder *d, agent_str *v)
{
    char *p;
    if (v->n == 0 || memchr(v->p, '\\', v->n) == NULL) return 1;
    if ((p = agenti_arena_get(&d->arena, v->n)) == NULL) return 0;
    memcpy(p, v->p, v->n);
    AGENTI_TOUCH(v->n);
    v->p = p;
    return 1;
}
static int agenti_rs_op(agenti_decoder *d, int kind, uint32_t key, agent_str text, int flags)
{
    agenti_op *op = agenti_op_add(d, kind, key);
    if (op == NULL) return 0;
    op->a = text;
    op->flags = (uint8_t)flags;
    return 1;
}

/* ---- usage and the end ---- */
static int64_t agenti_rs_count(agent_str v)
{
    int64_t n;
    return v.n && agenti_count(v, &n) ? n : -1;
}
/* Totals replace. Some hosts leave reasoning out of the output, which their total shows (wire-quirks B19).              */
static AGENTI_NOINLINE void agenti_rs_usage(agenti_decoder *d, agent_str usage)
{
    enum { INPUT, OUTPUT, TOTAL, IN_DETAILS, CACHED, WRITTEN, OUT_DETAILS, REASONING, FIELDS };
    static const agenti_field rows[FIELDS] = {
        { "input_tokens", -1 }, { "output_tokens", -1 }, { "total_tokens", -1 }, { "input_tokens_details", -1 }, { "cached_tokens", IN_DETAILS },
        { "cache_write_tokens", IN_DETAILS }, { "output_tokens_details", -1 }, { "reasoning_tokens", OUT_DETAILS }
    };
    agent_str f[FIELDS];
    agent_usage u;
    int64_t total;
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, rows, FIELDS, f);
    u.input = agenti_rs_count(f[INPUT]);
    u.output = agenti_rs_count(f[OUTPUT]);
    u.cached = agenti_rs_count(f[CACHED]);
    u.cache_write = agenti_rs_count(f[WRITTEN]);
    u.reasoning = agenti_rs_count(f[REASONING]);
    total = agenti_rs_count(f[TOTAL]);
    if (u.input >= 0 && u.output >= 0 && u.reasoning > 0 && total >= u.input && total - u.input >= u.output
        && total - u.input - u.output == u.reasoning) u.output += u.reasoning;
    if (u.input < 0 && u.output < 0) return;
    d->usage = u;
    d->has_usage = 1;
}
/* status: completed and the like; reason: why it is incomplete (F11). A response that was cancelled runs no calls.      */
static int agenti_rs_finish(agenti_decoder *d, agent_str status, agent_str reason)
{
    agent_str raw;
    int finish = AGENT_FINISH_OTHER;
    if (!agenti_string_of(d, reason, &raw)) return 0;
    if (!agenti_eq(status, "incomplete") || raw.n == 0) raw = status;
    if (agenti_eq(raw, "completed")) finish = d->sourced & AGENTI_RS_REFUSED ? AGENT_FINISH_FILTER : AGENT_FINISH_STOP;
    else if (agenti_eq(raw, "max_output_tokens")) finish = AGENT_FINISH_LENGTH;
    else if (agenti_eq(raw, "content_filter")) finish = AGENT_FINISH_FILTER;
    else if (agenti_eq(status, "cancelled") && d->call_n) finish = AGENT_FINISH_ERROR;
    agenti_finish_set(d, finish, raw);
    return 1;
}

/* ---- lanes ---- */
static void agenti_rs_forget(agenti_decoder *d, agenti_lane *l)
{
    agenti_lane_free(d, l);
    memmove(l, l + 1, (size_t)(d->lanes + --d->lane_n - l) * sizeof *l);
}
/* The open item that an event is about: by output_index, since ids change within an item (F1), else by id, else the last one. NULL: none */
static agenti_lane *agenti_rs_lane(agenti_decoder *d, agent_str index, agent_str id)
{
    int64_t n;
    uint32_t i;
    if (index.n && agenti_int(index, &n)) {
        for (i = d->lane_n; i-- > 0;) if (d->lanes[i].has_index && d->lanes[i].index == n) return &d->lanes[i];
        return NULL;
    }
    for (i = d->lane_n; i-- > 0;) {
        agenti_lane *l = &d->lanes[i];
        if (l->kind > AGENTI_RL_WRAPPER) continue;
        if (!agenti_nonempty(id) || (l->id.n == id.n && memcmp(l->id.p, id.p, id.n) == 0)) return l;
    }
    return NULL;
}
/* *out NULL: too many are open, which is a fault. 0: no memory                                                          */
static int agenti_rs_begin(agenti_decoder *d, int kind, agent_str index, agent_str id, agenti_lane **out)
{
    agenti_lane *l;
    int64_t n;
    *out = NULL;
    if (d->lane_n >= d->call_limit) return agenti_too_many(d);
    if ((l = agenti_lane_new(d)) == NULL) return 0;
    l->kind = (uint8_t)kind;
    if (index.n && agenti_int(index, &n)) { l->has_index = 1; l->index = n; }
    if (agenti_nonempty(id) && !agenti_text_set(&l->id, d->pool, d->graves, id)) return 0;
    *out = l;
    return 1;
}
static int agenti_rs_half(agenti_decoder *d, agenti_lane *l, int kind)         /* the other half of a pair never came    */
{
    if (l->high == 0) return 1;
    l->high = 0;
    return agenti_rs_op(d, kind, l->key, agenti_cstr("\xEF\xBF\xBD"), 0);
}
/* A part of a message is over; its phase goes back with it (F9).                                                        */
static int agenti_rs_part_end(agenti_decoder *d, agenti_lane *l)
{
    agent_str data;
    agenti_buf b;
    uint32_t key = l->key;
    if (key == 0) return 1;
    if (!agenti_rs_half(d, l, l->kind == AGENTI_RL_REASONING ? AGENTI_OP_REASONING : AGENTI_OP_TEXT)) return 0;
    if (l->kind == AGENTI_RL_MESSAGE && l->more.n) {
        agenti_buf_init(&b, d->pool);
        agenti_buf_str(&b, "{");
        agenti_json_member(&b, "phase", agenti_text_view(&l->more));
        agenti_buf_str(&b, "}");
        if (!agenti_made(d, &b, &data) || !agenti_rs_op(d, AGENTI_OP_DATA, key, data, 0)) return 0;
    }
    l->key = 0;
    return agenti_rs_op(d, AGENTI_OP_END, key, agenti_str(NULL, 0), 0);
}
static int agenti_rs_text(agenti_decoder *d, agenti_lane *l, int64_t sub, agent_str value)
{
    agent_str text;
    int refuses = l->kind == AGENTI_RL_MESSAGE && (sub & 1);
    if (!agenti_nonempty(value)) return 1;
    if (l->key && l->sub != sub && !agenti_rs_part_end(d, l)) return 0;
    if (!agenti_json_string(value, &l->high, &d->arena, &text)) return 0;
    if (l->key == 0) l->key = ++d->streams;
    l->sub = sub;
    l->named = 1;
    if (refuses) d->sourced |= AGENTI_RS_REFUSED;
    return agenti_rs_op(d, l->kind == AGENTI_RL_REASONING ? AGENTI_OP_REASONING : AGENTI_OP_TEXT, l->key, text, refuses ? AGENT_PART_REFUSAL : 0);
}
/* Pages have a URL; of files the provider's id stands for it.                                                           */
static int agenti_rs_cite(agenti_decoder *d, agent_str annotation)
{
    agent_str url = agent_json_get(annotation, "url"), title = agent_json_get(annotation, "title");
    if (!agenti_nonempty(url)) url = agent_json_get(annotation, "file_id");
    if (!agenti_nonempty(title)) title = agent_json_get(annotation, "filename");
    return !agenti_is_object(annotation) || agenti_source_add(d, url, title);
}

/* ---- calls ---- */
static int agenti_rs_wraps(const agent_str *f)
{
    return agent_json_is(f[AGENTI_RI_NAME], "multi_tool_use.parallel") || agent_json_is(f[AGENTI_RI_NAME], "parallel");
}
static int agenti_rs_kind(const agent_str *f)                 /* of an item; 0: one without a lane                       */
{
    agent_str type = f[AGENTI_RI_TYPE];
    if (agent_json_is(type, "message")) return AGENTI_RL_MESSAGE;
    if (agent_json_is(type, "reasoning")) return AGENTI_RL_REASONING;
    if (agent_json_is(type, "function_call")) return agenti_rs_wraps(f) ? AGENTI_RL_WRAPPER : AGENTI_RL_CALL;
    if (!agent_json_is(type, "custom_tool_call")) return 0;
    /* xAI's search is a custom tool in its answers, and it runs it itself                                               */
    return f[AGENTI_RI_CALL_ID].n > 9 && memcmp(f[AGENTI_RI_CALL_ID].p, "\"xs_call_", 9) == 0 ? 0 : AGENTI_RL_CUSTOM;
}
/* CALL, or NAME of one whose arguments came before. call_id links it to its result, the item's own id does not (D9).    */
static int agenti_rs_call_named(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    agenti_op *op;
    agent_str id, name;
    if (l->named) return 1;
    if (!agenti_string_of(d, f[agenti_nonempty(f[AGENTI_RI_CALL_ID]) ? AGENTI_RI_CALL_ID : AGENTI_RI_ID], &id)) return 0;
    if (!agenti_string_of(d, f[AGENTI_RI_NAME], &name)) return 0;
    l->named = name.n > 0;
    if ((op = agenti_op_add(d, l->key ? AGENTI_OP_NAME : AGENTI_OP_CALL, l->key ? l->key : d->streams + 1)) == NULL) return 0;
    if (l->key == 0) l->key = ++d->streams;
    l->call = 1;
    op->a = id;
    op->b = name;
    return 1;
}
/* A custom tool's input is text; for the host it is {"input": text}. Its pieces stay escaped, as they are in JSON.      */
static int agenti_rs_custom_piece(agenti_decoder *d, agenti_lane *l, agent_str value)
{
    agenti_buf b;
    agent_str text;
    if (!agenti_nonempty(value)) return 1;
    if (!agenti_raw_of(d, value, &value)) return 0;
    agenti_buf_init(&b, d->pool);
    if (!l->cited) agenti_buf_str(&b, "{\"input\":\"");
    agenti_buf_add(&b, value.p + 1, value.n - 2);
    l->cited = 1;
    return agenti_made(d, &b, &text) && agenti_rs_op(d, AGENTI_OP_ARGS, l->key, text, 0);
}
static int agenti_rs_args_piece(agenti_decoder *d, agenti_lane *l, agent_str value)
{
    agent_str text;
    if (value.n == 0 || agenti_eq(value, "null") || agenti_eq(value, "\"\"")) return 1;
    if (agenti_is_string(value) ? !agenti_json_string(value, &l->high, &d->arena, &text) : !agenti_raw_of(d, value, &text)) return 0;
    l->cited = 1;
    return agenti_rs_op(d, AGENTI_OP_ARGS, l->key, text, 0);
}
/* What a call began with counts if nothing else comes; what comes may go on from it, but not from what is complete (F4). */
static int agenti_rs_seed(agenti_decoder *d, agenti_lane *l, int all)
{
    agent_str seed = agenti_text_view(&l->more), text;
    char *p;
    if (seed.n == 0) return 1;
    if ((p = agenti_arena_get(&d->arena, seed.n)) == NULL) return 0;
    memcpy(p, seed.p, seed.n);
    seed.p = p;
    agenti_text_free(&l->more, d->graves);
    if (!agenti_string_of(d, seed, &text)) return 0;
    if (!all && agent_json_check(text.p, text.n, d->depth_limit, NULL) == AGENT_OK) return 1;
    return l->kind == AGENTI_RL_CUSTOM ? agenti_rs_custom_piece(d, l, seed) : agenti_rs_args_piece(d, l, seed);
}
/* Copilot encrypts the pieces of arguments, not their end (F2).                                                         */
static int agenti_rs_encrypted(agenti_lane *l, agent_str value)
{
    agent_str inner = agenti_trim(agenti_str(value.p + 1, value.n - 2));
    if (!l->cited && l->more.n == 0 && l->kind == AGENTI_RL_CALL && inner.n && inner.p[0] != '{' && inner.p[0] != '\\') l->sub = 1;
    return l->sub == 1;
}
static int agenti_rs_call_piece(agenti_decoder *d, agenti_lane *l, agent_str value)
{
    if (!agenti_nonempty(value)) return 1;
    if (agenti_rs_encrypted(l, value)) return l->more.n || agenti_text_set(&l->more, d->pool, d->graves, value);
    if (!agenti_rs_seed(d, l, 0)) return 0;
    return l->kind == AGENTI_RL_CUSTOM ? agenti_rs_custom_piece(d, l, value) : agenti_rs_args_piece(d, l, value);
}
/* All of the arguments: what pieces have not given of them is new.                                                      */
static int agenti_rs_call_all(agenti_decoder *d, agenti_lane *l, agent_str value)
{
    agent_str text = value;
    agenti_buf b;
    if (value.n == 0 || agenti_eq(value, "null") || agenti_eq(value, "\"\"")) return 1;
    if (l->kind == AGENTI_RL_CUSTOM && l->cited) return 1;   /* escaped in another way it would be another text         */
    if (l->kind == AGENTI_RL_CUSTOM) {
        if (!agenti_raw_of(d, value, &value)) return 0;
        agenti_buf_init(&b, d->pool);
        agenti_buf_str(&b, "{");
        agenti_json_member(&b, "input", value);
        agenti_buf_str(&b, "}");
        if (!agenti_made(d, &b, &text)) return 0;
    } else if (agenti_is_string(value) ? !agenti_string_of(d, value, &text) : !agenti_raw_of(d, value, &text)) return 0;
    l->high = 0;
    l->whole = 1;
    l->cited = 1;
    agenti_text_free(&l->more, d->graves);
    return agenti_rs_op(d, AGENTI_OP_ARGS, l->key, text, AGENTI_ARGS_WHOLE);
}
/* What of a call has no other place, as an object: the item's id, and who called it.                                    */
static int agenti_rs_call_data(agenti_decoder *d, const agenti_lane *l, const agent_str *f)
{
    static const uint8_t kept[] = { AGENTI_RI_ID, AGENTI_RI_NAMESPACE, AGENTI_RI_CALLER };
    agenti_buf b;
    agent_str data;
    size_t i;
    agenti_buf_init(&b, d->pool);
    agenti_buf_str(&b, l->kind == AGENTI_RL_CUSTOM ? "{\"type\":\"custom_tool_call\"" : "{");
    for (i = 0; i < sizeof kept; i++)
        if (f[kept[i]].n && !agenti_eq(f[kept[i]], "null")) agenti_json_member(&b, agenti_rs_item_fields[kept[i]].key, f[kept[i]]);
    agenti_buf_str(&b, "}");
    return agenti_made(d, &b, &data) && (data.n == 2 || agenti_rs_op(d, AGENTI_OP_DATA, l->key, data, AGENTI_DATA_CALL));
}
static int agenti_rs_wrapper_end(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    agent_str text, id;
    int rc;
    if (!agenti_string_of(d, f[AGENTI_RI_CALL_ID], &id) || !agenti_string_of(d, f[AGENTI_RI_ARGUMENTS], &text)) return 0;
    rc = id.n ? agenti_wrapper_calls(d, id, text) : -1;
    if (rc >= 0) return rc;
    l->kind = AGENTI_RL_CALL;                                /* a call like any other                                   */
    return agenti_rs_call_named(d, l, f) && agenti_rs_call_all(d, l, f[AGENTI_RI_ARGUMENTS]) && agenti_rs_call_data(d, l, f);
}
static int agenti_rs_call_end(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    if (l->kind == AGENTI_RL_WRAPPER) return agenti_rs_wrapper_end(d, l, f);
    return agenti_rs_call_named(d, l, f) && agenti_rs_call_all(d, l, f[l->kind == AGENTI_RL_CUSTOM ? AGENTI_RI_INPUT : AGENTI_RI_ARGUMENTS])
        && agenti_rs_call_data(d, l, f);
}
/* An item is over, with an event of its own or without.                                                                 */
static int agenti_rs_close(agenti_decoder *d, agenti_lane *l)
{
    int ok = 1;
    if (l->kind == AGENTI_RL_MESSAGE || l->kind == AGENTI_RL_REASONING) ok = agenti_rs_part_end(d, l);
    else if (l->call && !l->cited) ok = agenti_rs_seed(d, l, 1);
    if (ok && l->call) ok = agenti_rs_half(d, l, AGENTI_OP_ARGS);
    if (ok && l->kind == AGENTI_RL_CUSTOM && l->cited && !l->whole) ok = agenti_rs_op(d, AGENTI_OP_ARGS, l->key, agenti_cstr("\"}"), 0);
    agenti_rs_forget(d, l);
    return ok;
}

/* ---- items that are whole ---- */
/* The parts of a message. Where a long one comes in pieces, the first part goes on in the open one.                     */
static int agenti_rs_content(agenti_decoder *d, agenti_lane *l, agent_str list, int shows)
{
    int64_t sub = l->whole ? l->sub & ~(int64_t)1 : 0;
    int cites = !l->cited;
    agent_str part, item;
    size_t pos = 0, at;
    for (; agenti_is_array(list) && agent_json_each(list, &pos, NULL, &part); sub += 2) {
        agent_str notes = agent_json_get(part, "annotations");
        int refuses = agent_json_is(agent_json_get(part, "type"), "refusal");
        if (!agenti_is_object(part)) continue;
        for (at = 0; cites && agenti_is_array(notes) && agent_json_each(notes, &at, NULL, &item);) if (!agenti_rs_cite(d, item)) return 0;
        if (shows && !agenti_rs_text(d, l, sub + refuses, agent_json_get(part, refuses ? "refusal" : "text"))) return 0;
    }
    return 1;
}
static int agenti_rs_message(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    if (agenti_nonempty(f[AGENTI_RI_PHASE]) && !agenti_text_set(&l->more, d->pool, d->graves, f[AGENTI_RI_PHASE])) return 0;
    return agenti_rs_content(d, l, f[AGENTI_RI_CONTENT], !l->named || l->whole);
}
static int agenti_rs_thoughts(agenti_decoder *d, agenti_lane *l, agent_str list, int odd)
{
    agent_str part, text;
    int64_t sub = odd;
    size_t pos = 0;
    for (; agenti_is_array(list) && agent_json_each(list, &pos, NULL, &part); sub += 2) {
        text = agent_json_get(part, "text");
        if (!agenti_rs_copy(d, &text) || !agenti_rs_text(d, l, sub, text)) return 0;
    }
    return 1;
}
/* The item goes back as it came, if the provider can read it without having stored it: it needs its encrypted contents, or, of open
 * models, the thoughts themselves (D7).                                                                                */
static int agenti_rs_reasoning(agenti_decoder *d, agenti_lane *l, agent_str item, const agent_str *f)
{
    size_t pos = 0;
    agent_str part;
    int stays = agenti_nonempty(f[AGENTI_RI_ENCRYPTED]);
    if (!stays) stays = agenti_is_array(f[AGENTI_RI_CONTENT]) && agent_json_each(f[AGENTI_RI_CONTENT], &pos, NULL, &part);
    if (!l->named && (!agenti_rs_thoughts(d, l, f[AGENTI_RI_SUMMARY], 0) || !agenti_rs_thoughts(d, l, f[AGENTI_RI_CONTENT], 1))) return 0;
    if (!stays) return 1;
    if (l->key == 0) {                        /* there are none to show (F6)                                            */
        l->key = ++d->streams;
        if (!agenti_rs_op(d, AGENTI_OP_REASONING, l->key, agenti_str(NULL, 0), 0)) return 0;
    }
    return agenti_rs_half(d, l, AGENTI_OP_REASONING) && agenti_rs_op(d, AGENTI_OP_DATA, l->key, item, 0);
}
/* The input of a provider's tool as a JSON object. 0: no memory                                                         */
static int agenti_rs_input(agenti_decoder *d, agent_str item, const char *key, agent_str *out)
{
    agent_str v = agent_json_get(item, key);
    agenti_buf b;
    *out = agenti_cstr("{}");
    if (v.n == 0 || agenti_eq(v, "null")) return 1;
    if (agenti_is_object(v)) { *out = v; return 1; }
    if (agenti_is_string(v)) {                               /* it may hold JSON                                        */
        if (!agenti_string_of(d, v, out)) return 0;
        if (agenti_is_object(*out) && agent_json_check(out->p, out->n, d->depth_limit, NULL) == AGENT_OK) return 1;
    }
    agenti_buf_init(&b, d->pool);
    agenti_buf_str(&b, "{");
    agenti_json_member(&b, key, v);
    agenti_buf_str(&b, "}");
    return agenti_made(d, &b, out);
}
/* A tool that the provider defines and the host runs: its input is the call's, and the item goes back as it came.       */
static int agenti_rs_host_call(agenti_decoder *d, const agenti_rs_tool *t, agent_str item, const agent_str *f)
{
    uint32_t key = ++d->streams;
    agent_str input;
    agenti_op *op = agenti_op_add(d, AGENTI_OP_CALL, key);
    if (op == NULL || !agenti_string_of(d, f[agenti_nonempty(f[AGENTI_RI_CALL_ID]) ? AGENTI_RI_CALL_ID : AGENTI_RI_ID], &op->a)) return 0;
    op->b = agenti_cstr(t->name);
    return agenti_rs_input(d, item, t->input, &input) && agenti_rs_op(d, AGENTI_OP_ARGS, key, input, 0)
        && agenti_rs_op(d, AGENTI_OP_DATA, key, item, AGENTI_DATA_CALL);
}
static int agenti_rs_image(agenti_decoder *d, agent_str item)
{
    agent_str v, format = agent_json_get(item, "output_format");
    uint32_t key = ++d->streams;
    agenti_op *op;
    if (!agenti_string_of(d, agent_json_get(item, "result"), &v)) return 0;
    if (v.n == 0 || !agenti_base64_ok(v)) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_MIME, key)) == NULL) return 0;
    op->a = agenti_cstr(agent_json_is(format, "webp") ? "image/webp" : agent_json_is(format, "jpeg") ? "image/jpeg" : "image/png");
    op->flags = AGENT_PART_IMAGE;
    return agenti_rs_op(d, AGENTI_OP_FILE, key, v, 0) && agenti_rs_op(d, AGENTI_OP_END, key, agenti_str(NULL, 0), 0);
}
/* The id that a result names, or that of the search before it.                                                          */
static int agenti_rs_result_id(agenti_decoder *d, const agent_str *f, agent_str *out)
{
    agent_str id = f[AGENTI_RI_CALL_ID];
    uint32_t i;
    if (!agenti_nonempty(id)) id = f[AGENTI_RI_ID];
    if (agenti_nonempty(f[AGENTI_RI_CALL_ID]) || !agent_json_is(f[AGENTI_RI_TYPE], "tool_search_output")) return agenti_string_of(d, id, out);
    for (i = 0; i < d->lane_n && d->lanes[i].kind != AGENTI_RL_SEARCH; i++) {}
    if (i < d->lane_n) {
        char *p = agenti_arena_get(&d->arena, d->lanes[i].id.n);
        if (p == NULL) return 0;
        id = agenti_str(p, d->lanes[i].id.n);
        memcpy(p, d->lanes[i].id.p, id.n);
        agenti_rs_forget(d, &d->lanes[i]);
    }
    return agenti_string_of(d, id, out);
}
static int agenti_rs_result(agenti_decoder *d, const agenti_rs_tool *t, agent_str item, agent_str id)
{
    agent_str error = agent_json_get(item, "error"), c = t->result ? agent_json_get(item, t->result) : agenti_str(NULL, 0);
    int failed = agent_json_is(agent_json_get(item, "status"), "failed") || (error.n && !agenti_eq(error, "null"));
    agenti_op *op = agenti_op_add(d, AGENTI_OP_RESULT, 0);
    if (op == NULL) return 0;
    op->a = id;
    if (error.n && !agenti_eq(error, "null")) c = error;
    op->c = agenti_str(c.p, agenti_eq(c, "null") ? 0 : c.n);
    op->flags = failed ? AGENT_PART_ERROR : 0;
    return 1;
}
static int agenti_rs_ran(agenti_decoder *d, const agenti_rs_tool *t, int by, agent_str item, const agent_str *f, agent_str *id)
{
    agenti_op *op = agenti_op_add(d, AGENTI_OP_RAN, 0);
    int named = agenti_nonempty(f[AGENTI_RI_CALL_ID]);
    agenti_lane *l;
    if (op == NULL || !agenti_string_of(d, f[named ? AGENTI_RI_CALL_ID : AGENTI_RI_ID], id)) return 0;
    op->a = *id;
    op->b = agenti_cstr(t->name);
    if (t->name == NULL && !agenti_string_of(d, f[AGENTI_RI_NAME], &op->b)) return 0;
    if (!agenti_rs_input(d, item, t->input, &op->c)) return 0;
    return named || by == AGENTI_RT_BOTH || agenti_rs_begin(d, AGENTI_RL_SEARCH, agenti_str(NULL, 0), f[AGENTI_RI_ID], &l);
}

static int agenti_rs_by(const agenti_rs_tool *t, agent_str item)                /* who runs the call of an item          */
{
    if (t->by != AGENTI_RT_HOST) return t->by;
    if (agent_json_is(agent_json_get(item, "execution"), "server")) return AGENTI_RT_RAN;
    return agent_json_is(agent_json_get(item, "environment.type"), "container_reference") ? AGENTI_RT_RAN : AGENTI_RT_HOST;
}
/* An item that goes back as it came, and what it is to the host.                                                        */
static int agenti_rs_other(agenti_decoder *d, agent_str item, const agent_str *f)
{
    const agenti_rs_tool *t = agenti_rs_tool_of(f[AGENTI_RI_TYPE]);
    int by = t ? agenti_rs_by(t, item) : 0;
    agent_str id;
    agenti_op *op;
    if (by == AGENTI_RT_HOST) return agenti_rs_host_call(d, t, item, f);
    if ((op = agenti_op_add(d, AGENTI_OP_RAW, 0)) == NULL || !agenti_string_of(d, f[AGENTI_RI_TYPE], &op->b)) return 0;
    op->a = item;
    if (t == NULL) return 1;
    op->flags = AGENTI_RAW_QUIET;
    if (by == AGENTI_RT_RESULT) return agenti_rs_result_id(d, f, &id) && agenti_rs_result(d, t, item, id);
    if (!agenti_rs_ran(d, t, by, item, f, &id)) return 0;
    if (by == AGENTI_RT_BOTH && !agenti_rs_result(d, t, item, id)) return 0;
    return !agent_json_is(f[AGENTI_RI_TYPE], "image_generation_call") || agenti_rs_image(d, item);
}
/* An item that is whole: what is new in it beside what events before showed. goes_on: a piece of it is still to come.   */
static AGENTI_NOINLINE int agenti_rs_item(agenti_decoder *d, agenti_lane *l, agent_str item, const agent_str *f, int goes_on)
{
    int kind = agenti_rs_kind(f), ok, shows;
    if (kind == 0) return agenti_rs_other(d, item, f);
    if (l == NULL && !agenti_rs_begin(d, kind, agenti_str(NULL, 0), f[AGENTI_RI_ID], &l)) return 0;
    if (l == NULL) return 1;
    shows = !l->named || l->whole;
    ok = kind == AGENTI_RL_MESSAGE ? agenti_rs_message(d, l, f) : kind == AGENTI_RL_REASONING ? agenti_rs_reasoning(d, l, item, f)
       : agenti_rs_call_end(d, l, f);
    if (kind == AGENTI_RL_MESSAGE) l->whole = (uint8_t)(goes_on && shows);
    return ok && (goes_on || agenti_rs_close(d, l));
}
/* Clean bytes, so that all that is kept of an item is clean.                                                            */
static int agenti_rs_item_of(agenti_decoder *d, agent_str *item, agent_str *f)
{
    if (!agenti_raw_of(d, *item, item)) return 0;
    agenti_json_pick(*item, agenti_rs_item_fields, AGENTI_RI_FIELDS, f);
    return 1;
}
static AGENTI_NOINLINE int agenti_rs_item_added(agenti_decoder *d, agent_str item, agent_str index)
{
    agent_str f[AGENTI_RI_FIELDS], seed;
    agenti_lane *l;
    int kind;
    if (!agenti_is_object(item)) return 1;
    if (!agenti_rs_item_of(d, &item, f)) return 0;
    l = index.n ? agenti_rs_lane(d, index, f[AGENTI_RI_ID]) : NULL;
    if (l && l->id.n && l->id.n == f[AGENTI_RI_ID].n && memcmp(l->id.p, f[AGENTI_RI_ID].p, l->id.n) == 0) return 1;      /* resent */
    if (l && !agenti_rs_close(d, l)) return 0;               /* one that never ended loses its index                    */
    if ((kind = agenti_rs_kind(f)) == 0) return 1;
    if (!agenti_rs_begin(d, kind, index, f[AGENTI_RI_ID], &l)) return 0;
    if (l == NULL || kind == AGENTI_RL_REASONING || kind == AGENTI_RL_WRAPPER) return 1;
    if (kind != AGENTI_RL_MESSAGE && !agenti_rs_call_named(d, l, f)) return 0;
    seed = f[kind == AGENTI_RL_MESSAGE ? AGENTI_RI_PHASE : kind == AGENTI_RL_CUSTOM ? AGENTI_RI_INPUT : AGENTI_RI_ARGUMENTS];
    return !agenti_nonempty(seed) || agenti_text_set(&l->more, d->pool, d->graves, seed);
}
/* The end of an item counts also when nothing of it came before, and once (F3).                                         */
static AGENTI_NOINLINE int agenti_rs_item_done(agenti_decoder *d, agent_str item, agent_str index)
{
    agent_str f[AGENTI_RI_FIELDS];
    agenti_lane *l;
    int64_t n = -1;
    if (!agenti_is_object(item)) return 1;
    if (!agenti_rs_item_of(d, &item, f)) return 0;
    if (index.n && !agenti_int(index, &n)) n = -1;
    l = agenti_rs_lane(d, index, f[AGENTI_RI_ID]);
    if (l == NULL && n >= 0 && n < d->past) return 1;
    if (n >= d->past && n < INT64_MAX) d->past = n + 1;
    d->sourced |= AGENTI_RS_STREAMED;
    if (l && l->kind != agenti_rs_kind(f)) {
        if (n < 0) l = NULL;
        else if (!agenti_rs_close(d, l)) return 0;
        else l = NULL;
    }
    return agenti_rs_item(d, l, item, f, 0);
}
/* An item out of pieces, each of which has the path to the cut again and goes on there. *item: all of it, or empty.     */
static int agenti_rs_joined(agenti_decoder *d, agenti_lane *l, agent_str *item, int goes_on)
{
    agent_str v = agent_json_get(*item, "result"), more;
    const char *from = item->p, *to = item->p + item->n;
    char *p;
    if (!agenti_is_string(v)) l->cited = 1;   /* it is another `result` that is cut: the item is lost                   */
    else {
        if (l->more.n) from = v.p + 1;
        if (goes_on) to = v.p + v.n - 1;
        if (!l->cited && !agenti_text_add(&l->more, d->pool, d->graves, agenti_str(from, (size_t)(to - from)))) return 0;
    }
    *item = agenti_str(NULL, 0);
    if (goes_on) return 1;
    if (!l->cited) {
        more = agenti_text_view(&l->more);
        if ((p = agenti_arena_get(&d->arena, more.n)) == NULL) return 0;
        memcpy(p, more.p, more.n);
        AGENTI_TOUCH(more.n);
        *item = agenti_str(p, more.n);
    }
    agenti_rs_forget(d, l);
    return 1;
}
/* A response's list of items, if no item had an event of its own. Pieces of a long list: the first item goes on where the last ended. */
static AGENTI_NOINLINE int agenti_rs_listed(agenti_decoder *d, agent_str item, int first, int goes_on)
{
    agent_str f[AGENTI_RI_FIELDS], none = agenti_str(NULL, 0);
    agenti_lane *l = NULL;
    uint32_t i;
    int kind;
    if (!agenti_is_object(item)) return 1;
    for (i = 0; first && i < d->lane_n && l == NULL; i++) if (d->lanes[i].whole) l = &d->lanes[i];
    if (l == NULL && goes_on && !agent_json_is(agent_json_get(item, "type"), "message")) {
        if (!agenti_rs_begin(d, AGENTI_RL_PIECES, none, none, &l)) return 0;
        if (l) l->whole = 1;
    }
    if (l && l->kind == AGENTI_RL_PIECES) {
        if (!agenti_rs_joined(d, l, &item, goes_on)) return 0;
        if (item.n == 0) return 1;
        l = NULL;
    }
    if (!agenti_rs_item_of(d, &item, f)) return 0;
    kind = agenti_rs_kind(f);
    for (i = 0; kind && i < d->lane_n && l == NULL; i++) if (d->lanes[i].kind == kind) l = &d->lanes[i];
    return agenti_rs_item(d, l, item, f, goes_on);
}
static int agenti_rs_output(agenti_decoder *d, agent_str list)
{
    agent_str item = agenti_str(NULL, 0), next = item;
    size_t pos = 0;
    int first = 1, more = agenti_is_array(list) && agent_json_each(list, &pos, NULL, &item);
    while (more) {
        more = agent_json_each(list, &pos, NULL, &next);
        if (!agenti_rs_listed(d, item, first, !more && d->partial)) return 0;
        item = next;
        first = 0;
    }
    return 1;
}

/* ---- events ---- */
/* over: how the event says that the response ended; empty: it goes on.                                                  */
static AGENTI_NOINLINE int agenti_rs_response(agenti_decoder *d, agent_str response, agent_str over)
{
    agent_str f[AGENTI_RR_FIELDS], status, id;
    if (!agenti_is_object(response)) response = agenti_cstr("{}");
    agenti_json_pick(response, agenti_rs_response_fields, AGENTI_RR_FIELDS, f);
    agenti_rs_usage(d, f[AGENTI_RR_USAGE]);
    if (!agenti_model_set(d, f[AGENTI_RR_MODEL]) || !agenti_string_of(d, f[AGENTI_RR_STATUS], &status)) return 0;
    if (d->id.n == 0 && (!agenti_string_of(d, f[AGENTI_RR_ID], &id) || (id.n && !agenti_text_set(&d->id, d->pool, d->graves, id)))) return 0;
    if (!(d->sourced & AGENTI_RS_STREAMED) && !agenti_rs_output(d, f[AGENTI_RR_OUTPUT])) return 0;
    if (over.n == 0 || d->partial) return 1;
    if ((agenti_eq(over, "completed") || agenti_eq(over, "done")) && status.n && !agenti_eq(status, "in_progress")) over = status;
    if (agenti_eq(over, "failed")) {
        if (agenti_is_object(f[AGENTI_RR_ERROR])) agenti_fault_object(d, f[AGENTI_RR_ERROR], 0);
        else agenti_fault_set(d, AGENT_FAULT_SERVER, 1, "", agenti_cstr("the response failed"));
        return 1;
    }
    while (d->lane_n) if (!agenti_rs_close(d, &d->lanes[0])) return 0;
    d->done = 1;
    return agenti_rs_finish(d, over, f[AGENTI_RR_REASON]);
}
/* More of an item, or all of a part of it, which counts if nothing of it came before.                                   */
static int agenti_rs_piece(agenti_decoder *d, const agent_str *f, const agenti_rs_event_row *row)
{
    agenti_lane *l = agenti_rs_lane(d, f[AGENTI_RE_INDEX], f[AGENTI_RE_ITEM_ID]);
    agent_str index = f[AGENTI_RE_CONTENT].n ? f[AGENTI_RE_CONTENT] : f[AGENTI_RE_SUMMARY];
    int64_t sub;
    int all = row->act == AGENTI_RA_DONE;
    if (row->lane >= AGENTI_RL_CALL && (l == NULL || l->kind != row->lane)) return 1;        /* nobody knows whose they are; its end has them */
    if (l && l->kind != row->lane) {          /* a host that counts all as one                                          */
        if (!agenti_rs_close(d, l)) return 0;
        l = NULL;
    }
    if (l == NULL && !agenti_rs_begin(d, row->lane, f[AGENTI_RE_INDEX], f[AGENTI_RE_ITEM_ID], &l)) return 0;
    if (l == NULL) return 1;
    if (row->lane >= AGENTI_RL_CALL) return all ? agenti_rs_call_all(d, l, f[row->member]) : agenti_rs_call_piece(d, l, f[row->member]);
    sub = index.n && agenti_int(index, &sub) && sub >= 0 && sub < INT64_MAX / 2 ? 2 * sub : l->sub & ~(int64_t)1;
    sub += row->odd;
    if (all && l->key && l->sub == sub && !l->whole) return 1;
    l->whole = (uint8_t)(all && d->partial);
    return agenti_rs_text(d, l, sub, f[row->member]);
}
static int agenti_rs_annotation(agenti_decoder *d, const agent_str *f)
{
    agenti_lane *l = agenti_rs_lane(d, f[AGENTI_RE_INDEX], f[AGENTI_RE_ITEM_ID]);
    if (l && l->kind == AGENTI_RL_MESSAGE) l->cited = 1;
    return agenti_rs_cite(d, f[AGENTI_RE_ANNOTATION]);
}
static int agenti_rs_mismatch(agenti_decoder *d)                                /* F10                                   */
{
    agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr("the answer is a chat completion and no response: the URL may be of another wire format"));
    return 1;
}
static AGENTI_NOINLINE int agenti_rs_object(agenti_decoder *d, agent_str json)
{
    agent_str f[AGENTI_RE_FIELDS], type;
    const agenti_rs_event_row *row = agenti_rs_events;
    size_t i, n = sizeof agenti_rs_events / sizeof *agenti_rs_events;
    agenti_json_pick(json, agenti_rs_event_fields, AGENTI_RE_FIELDS, f);
    type = f[AGENTI_RE_TYPE];
    for (i = 0; i < n && !agent_json_is(type, row->type); i++) row++;
    if (i < n) {
        switch (row->act) {
        case AGENTI_RA_PIECE: case AGENTI_RA_DONE: return agenti_rs_piece(d, f, row);
        case AGENTI_RA_ADDED: return agenti_rs_item_added(d, f[AGENTI_RE_ITEM], f[AGENTI_RE_INDEX]);
        case AGENTI_RA_ITEM: return agenti_rs_item_done(d, f[AGENTI_RE_ITEM], f[AGENTI_RE_INDEX]);
        case AGENTI_RA_CITE: return agenti_rs_annotation(d, f);
        case AGENTI_RA_OVER: return agenti_rs_response(d, f[AGENTI_RE_RESPONSE], agenti_cstr(row->type + sizeof "response." - 1));
        default: break;
        }
    }
    if (i < n || (f[AGENTI_RE_ERROR].n && !agenti_eq(f[AGENTI_RE_ERROR], "null"))) {
        agenti_fault_object(d, json, 0);
        return 1;
    }
    if (agenti_is_object(f[AGENTI_RE_RESPONSE])) return agenti_rs_response(d, f[AGENTI_RE_RESPONSE], agenti_str(NULL, 0));
    if (d->partial && agenti_is_array(f[AGENTI_RE_OUTPUT])) return agenti_rs_response(d, json, agenti_str(NULL, 0));    /* of a whole answer */
    return f[AGENTI_RE_CHOICES].n == 0 || type.n || agenti_rs_mismatch(d);
}
static int agenti_rs_event(agenti_decoder *d, agent_str event, agent_str data)
{
    data = agenti_trim(data);
    if (data.n == 0 || data.p[0] == ':') return 1;
    if (agenti_eq(data, "[DONE]")) {                         /* some hosts send it, then also without the event before   */
        while (d->lane_n) if (!agenti_rs_close(d, &d->lanes[0])) return 0;
        d->done = (uint8_t)(d->streams > 0);
        return 1;
    }
    if (data.p[0] != '{' || agent_json_check(data.p, data.n, d->depth_limit, NULL) != AGENT_OK) {
        if (!agenti_eq(event, "error")) return agenti_payload_bad(d);
        agenti_fault_set(d, AGENT_FAULT_SERVER, 1, "", data);
        return 1;
    }
    return agenti_rs_object(d, data);
}
static int agenti_rs_whole(agenti_decoder *d, agent_str body)
{
    agent_str error, status = agent_json_get(body, "status");
    if (!agenti_is_object(body)) body = agenti_cstr("{}");
    error = agent_json_get(body, "error");
    if (agenti_is_array(agent_json_get(body, "output"))) {
        if (!agenti_string_of(d, status, &status)) return 0;
        return agenti_rs_response(d, body, status.n ? status : agenti_cstr("completed"));
    }
    if (agenti_is_array(agent_json_get(body, "choices"))) return agenti_rs_mismatch(d);
    if ((error.n && !agenti_eq(error, "null")) || agent_json_get(body, "detail").p || agent_json_get(body, "message").p) agenti_fault_object(d, body, 0);
    else agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr("the answer is no response"));
    return 1;
}

/* ---- requests ---- */
/* Models before reasoning, whose requests may not ask for encrypted thoughts.                                           */
static int agenti_rs_thinks(const agenti_request *r)
{
    static const char *const words[] = { "gpt-3", "gpt-4", "chatgpt-", "gpt-5-chat" };
    agent_str model = agenti_text_view(&r->options[AGENTI_OPT_MODEL]);
    size_t i;
    for (i = 0; i < sizeof words / sizeof *words; i++) if (agenti_find(model, words[i])) return 0;
    return 1;
}
/* Unless the host wants it, nothing is stored at the provider: the history is sent as it is, thoughts with it in encrypted form (D7). */
static void agenti_rs_words_out(agenti_buf *b, const agenti_request *r)
{
    static const struct { const char *key; int option; } rows[] = {
        { "service_tier", AGENTI_OPT_TIER }, { "prompt_cache_key", AGENTI_OPT_CACHE_KEY }, { "safety_identifier", AGENTI_OPT_USER }
    };
    agent_str schema = agenti_format_schema(r);
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        agent_str word = agenti_text_view(&r->options[rows[i].option]);
        if (word.n && !agenti_replaced(r, rows[i].key)) agenti_json_member_str(b, rows[i].key, word);
    }
    if (r->options[AGENTI_OPT_FORMAT].n == 0 || agenti_replaced(r, "text")) return;
    if (schema.n == 0) { agenti_json_member(b, "text", agenti_cstr("{\"format\":{\"type\":\"json_object\"}}")); return; }
    agenti_buf_str(b, ",\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"answer\",\"strict\":true");
    agenti_json_member(b, "schema", schema);
    agenti_buf_str(b, "}}");
}
static void agenti_rs_head(agenti_buf *b, agenti_request *r)
{
    static const char *const words[] = { "none", "minimal", "low", "medium", "high", "xhigh" };
    agent_str system = agenti_text_view(&r->options[AGENTI_OPT_SYSTEM]), effort = agenti_effort(r, words);
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "model")) agenti_json_member_str(b, "model", agenti_text_view(&r->options[AGENTI_OPT_MODEL]));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    if (!agenti_replaced(r, "store")) agenti_json_member(b, "store", agenti_cstr(r->stateful ? "true" : "false"));
    if (r->previous.n) agenti_json_member_str(b, "previous_response_id", r->previous);
    if (!r->stateful && agenti_rs_thinks(r) && !agenti_replaced(r, "include"))
        agenti_json_member(b, "include", agenti_cstr("[\"reasoning.encrypted_content\"]"));
    agenti_option_out(b, r, "max_output_tokens", AGENTI_OPT_MAX_TOKENS);
    agenti_option_out(b, r, "temperature", AGENTI_OPT_TEMPERATURE);
    agenti_option_out(b, r, "top_p", AGENTI_OPT_TOP_P);
    if (effort.n && !agenti_replaced(r, "reasoning")) {
        agenti_buf_str(b, ",\"reasoning\":{");
        agenti_json_member_str(b, "effort", effort);
        agenti_buf_str(b, "}");
    }
    agenti_rs_words_out(b, r);
    if (system.n && r->system_raw.n == 0 && !agenti_replaced(r, "instructions")) agenti_json_member_str(b, "instructions", system);
    agenti_buf_str(b, ",\"input\":[");
}
static void agenti_rs_comma(agenti_buf *b, agenti_request *r)
{
    if (r->state) agenti_buf_str(b, ",");
    r->state = 1;
}
/* The system prompt stands in the head, unless an import had it among the messages.                                     */
static void agenti_rs_system(agenti_buf *b, agenti_request *r, agent_str text)
{
    (void)text;
    if (r->system_raw.n == 0) return;
    agenti_rs_comma(b, r);
    agenti_buf_add(b, r->system_raw.p, r->system_raw.n);
}
/* Images by data and by URL, PDFs and the like the same; plain text is text.                                            */
static void agenti_rs_user_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int plain = p->kind == AGENT_PART_TEXT || (p->text.n && !(p->flags & AGENT_PART_BASE64));
    if (p->kind == AGENT_PART_OTHER) { agenti_buf_add(b, p->text.p, p->text.n); return; }
    agenti_buf_str(b, "{\"type\":");
    if (p->kind == AGENT_PART_IMAGE) {
        agenti_buf_str(b, "\"input_image\",\"image_url\":");
        agenti_data_url_out(b, p);
    } else if (p->kind == AGENT_PART_FILE && !plain) {
        agenti_buf_str(b, "\"input_file\"");
        if (p->name.n || (p->uri.n == 0 && m->wire != (const void *)r->wire)) agenti_json_member_str(b, "filename", p->name.n ? agenti_text_view(&p->name) : agenti_cstr("file"));
        agenti_buf_str(b, p->uri.n ? ",\"file_url\":" : ",\"file_data\":");
        agenti_data_url_out(b, p);
    } else {
        agenti_buf_str(b, "\"input_text\",\"text\":");
        if (plain) agenti_json_quote_to(b, agenti_text_view(&p->text)); else agenti_media_left_out(b, r, p);
    }
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static void agenti_rs_user_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    int developer = (m->flags & AGENTI_MSG_DEVELOPER) && m->wire == (const void *)r->wire;
    uint32_t i;
    agenti_rs_comma(b, r);
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "role", agenti_cstr(developer ? "developer" : m->flags & AGENT_MSG_SYSTEM ? "system" : "user"));
    if (m->n == 1 && m->parts[0].kind == AGENT_PART_TEXT && m->parts[0].more.n == 0) agenti_json_member_str(b, "content", agenti_text_view(&m->parts[0].text));
    else {
        agenti_buf_str(b, ",\"content\":[");
        for (i = 0; i < m->n; i++) {
            if (i) agenti_buf_str(b, ",");
            agenti_rs_user_part(b, r, m, &m->parts[i]);
        }
        agenti_buf_str(b, "]");
    }
    agenti_more_out(b, r, m, &m->more);
    agenti_buf_str(b, "}");
}
/* What the same model gave with a part, if it is an object; else empty.                                                 */
static agent_str agenti_rs_data(const agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    agent_str data = agenti_text_view(&p->data);
    if (m == NULL || m->model != r->model || !agenti_is_object(data)) return agenti_str(NULL, 0);
    return agent_json_check(data.p, data.n, 64, NULL) == AGENT_OK ? data : agenti_str(NULL, 0);
}
static void agenti_rs_text_out(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    agent_str phase = agent_json_get(agenti_rs_data(r, m, p), "phase");
    agenti_rs_comma(b, r);
    agenti_buf_str(b, "{\"role\":\"assistant\"");
    if (agenti_is_string(phase)) agenti_json_member(b, "phase", phase);
    if (!agenti_own_content(r, m, p)) agenti_json_member_str(b, "content", agenti_text_view(&p->text));
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
/* Members of an item that go back. Some hosts give ids that are longer than what they take.                             */
static void agenti_rs_members(agenti_buf *b, agent_str data, const char *const *keys, size_t n)
{
    enum { LONGEST = 64 };
    size_t i;
    for (i = 0; i < n; i++) {
        agent_str v = agent_json_get(data, keys[i]);
        if (v.n == 0 || agenti_eq(v, "null") || agenti_eq(v, "\"\"") || (agenti_eq(agenti_cstr(keys[i]), "id") && v.n > LONGEST + 2)) continue;
        agenti_json_member(b, keys[i], v);
    }
}
static void agenti_rs_reasoning_out(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    static const char *const keys[] = { "id", "summary", "content", "encrypted_content" };
    agent_str data = agenti_rs_data(r, m, p);
    if (data.n == 0) return;
    agenti_rs_comma(b, r);
    if (agenti_own_content(r, m, p)) { agenti_buf_add(b, data.p, data.n); return; }
    agenti_buf_str(b, "{\"type\":\"reasoning\"");
    agenti_rs_members(b, data, keys, 4);
    if (!agenti_is_array(agent_json_get(data, "summary"))) agenti_json_member(b, "summary", agenti_cstr("[]"));
    agenti_buf_str(b, "}");
}
/* Broken JSON is never sent back. The item's own id is left out: nothing is stored under it.                            */
static void agenti_rs_call_out(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    static const char *const keys[] = { "namespace", "caller" };
    agent_str data = agenti_rs_data(r, m, p);
    const agenti_rs_tool *t = agenti_rs_tool_of(agent_json_get(data, "type"));
    agent_str args = p->text.n && !(p->flags & AGENT_PART_INVALID) ? agenti_text_view(&p->text) : agenti_cstr("{}"), input;
    agenti_rs_comma(b, r);
    if (t && t->by == AGENTI_RT_HOST) { agenti_buf_add(b, data.p, data.n); return; }
    agenti_buf_str(b, t ? "{\"type\":\"custom_tool_call\"" : "{\"type\":\"function_call\"");
    agenti_json_member_str(b, "call_id", agenti_wire_id(p));
    agenti_tool_name_out(b, agenti_text_view(&p->name));
    input = agent_json_get(args, "input");
    if (t) agenti_json_member(b, "input", agenti_is_string(input) ? input : agenti_cstr("\"\""));
    else agenti_json_member_str(b, "arguments", args);
    agenti_rs_members(b, data, keys, 2);
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static int agenti_rs_sent(const agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    if (p->kind == AGENT_PART_OTHER) return m->model == r->model && !(p->flags & AGENT_PART_CUT);
    return p->kind == AGENT_PART_CALL || (p->kind == AGENT_PART_TEXT && (p->text.n || agenti_own_content(r, m, p)));
}
/* Thoughts stand before what they led to, and go with it or not at all (D8).                                            */
static void agenti_rs_model_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, n = m->n;
    while (n && !agenti_rs_sent(r, m, &m->parts[n - 1])) n--;
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        int keeps = p->kind == AGENT_PART_REASONING || p->kind == AGENT_PART_OTHER;
        if (keeps && m->model != r->model) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING);
        else if (p->kind == AGENT_PART_REASONING && i < n && !(p->flags & AGENT_PART_CUT)) agenti_rs_reasoning_out(b, r, m, p);
        else if (p->kind == AGENT_PART_REASONING || !agenti_rs_sent(r, m, p)) continue;
        else if (p->kind == AGENT_PART_TEXT) agenti_rs_text_out(b, r, m, p);
        else if (p->kind == AGENT_PART_CALL) agenti_rs_call_out(b, r, m, p);
        else {
            agenti_rs_comma(b, r);
            agenti_buf_add(b, p->text.p, p->text.n);
        }
    }
}
/* What the host answers to a tool of the provider's: its JSON if it is of the right form, else text in that form.        */
static void agenti_rs_answer_out(agenti_buf *b, const agenti_rs_tool *t, agent_str text, int failed)
{
    int json = text.n && agent_json_check(text.p, text.n, 64, NULL) == AGENT_OK;
    if (t->form == AGENTI_RF_STATUS) agenti_json_member(b, "status", agenti_cstr(failed ? "\"failed\"" : "\"completed\""));
    if (t->form == AGENTI_RF_TOOLS) {
        agenti_buf_str(b, ",\"execution\":\"client\",\"status\":\"completed\"");
        agenti_json_member(b, "tools", json && agenti_is_array(text) ? text : agenti_cstr("[]"));
    } else if (t->form == AGENTI_RF_LIST && !(json && agenti_is_array(text))) {
        agenti_buf_str(b, ",\"output\":[{");
        agenti_json_member_str(b, "stdout", text);
        agenti_buf_str(b, ",\"stderr\":\"\",\"outcome\":{\"type\":\"exit\",\"exit_code\":");
        agenti_buf_str(b, failed ? "1}}]" : "0}}]");
    } else if (t->form == AGENTI_RF_OBJECT && !(json && agenti_is_object(text))) {
        agenti_buf_str(b, ",\"output\":{\"type\":\"computer_screenshot\"");
        agenti_json_member_str(b, "image_url", text);
        agenti_buf_str(b, "}");
    } else if (t->form == AGENTI_RF_LIST || t->form == AGENTI_RF_OBJECT) agenti_json_member(b, "output", text);
    else agenti_json_member_str(b, "output", text);
}
static void agenti_rs_tools_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, at = 0;
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i], *call = agenti_result_call(r, p, &at);
        agent_str text = agenti_text_view(&p->text);
        const agenti_rs_tool *t = call ? agenti_rs_tool_of(agent_json_get(agenti_rs_data(r, r->before, call), "type")) : NULL;
        agenti_rs_comma(b, r);
        agenti_buf_str(b, "{");
        agenti_json_member_str(b, "type", agenti_cstr(t ? t->answer : "function_call_output"));
        agenti_json_member_str(b, "call_id", agenti_wire_id(p));
        if (agenti_own_content(r, m, p)) {}
        else if (t) agenti_rs_answer_out(b, t, text, (p->flags & AGENT_PART_ERROR) != 0);
        else agenti_json_member_str(b, "output", text.n ? text : agenti_cstr("(no output)"));
        agenti_more_out(b, r, m, &p->more);
        agenti_buf_str(b, "}");
    }
}
static void agenti_rs_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    if (m->role == AGENT_USER) agenti_rs_user_msg(b, r, m);
    else if (m->role == AGENT_TOOLS) agenti_rs_tools_msg(b, r, m);
    else agenti_rs_model_msg(b, r, m);
}
/* A tool that the provider defines is chosen by its type, and by its name if its declaration has one.                   */
static void agenti_rs_choice_out(agenti_buf *b, const agenti_request *r, agent_str choice)
{
    agent_str raw = agenti_str(NULL, 0), type, name;
    size_t i;
    for (i = 0; i < r->tool_count; i++) {
        const agenti_tool *t = &r->tools[i];
        if ((t->flags & AGENT_TF_RAW) && t->name.n == choice.n && memcmp(t->name.p, choice.p, choice.n) == 0) raw = agenti_text_view(&t->schema);
    }
    type = agent_json_get(raw, "type");
    name = agent_json_get(raw, "name");
    agenti_buf_str(b, ",\"tool_choice\":{");
    agenti_json_member(b, "type", type.n ? type : agenti_cstr("\"function\""));
    if (raw.n == 0) agenti_json_member_str(b, "name", choice);
    else if (name.n) agenti_json_member(b, "name", name);
    agenti_buf_str(b, "}");
}
static void agenti_rs_tail(agenti_buf *b, const agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    if (r->note) {
        agenti_buf_str(b, r->state ? ",{\"role\":\"user\"" : "{\"role\":\"user\"");
        agenti_json_member_str(b, "content", agenti_cstr(r->note));
        agenti_buf_str(b, "}");
    }
    agenti_buf_str(b, "]");
    if (r->tool_count == 0 && !agenti_replaced(r, "tools")) return;
    if (r->tools_off) agenti_json_member(b, "tool_choice", agenti_cstr("\"none\""));
    else if (choice.n && !r->choice_off && !agenti_replaced(r, "tool_choice")) {
        if (agenti_eq(choice, "auto") || agenti_eq(choice, "none") || agenti_eq(choice, "required"))
            agenti_json_member_str(b, "tool_choice", choice);
        else agenti_rs_choice_out(b, r, choice);
    }
    agenti_option_out(b, r, "parallel_tool_calls", AGENTI_OPT_PARALLEL);
}
/* strict: else a schema has to be of OpenAI's strict kind.                                                             */
static void agenti_rs_tools_out(agenti_buf *b, const agenti_request *r)
{
    agenti_tools_list(b, r, "{\"type\":\"function\"", "parameters", ",\"strict\":true}", ",\"strict\":false}");
}
/* Texts of messages are read in pieces: their parts have annotations before the text, and what goes back as it came has not. Images are put
 * together again; in a stream the list of all items at its end mostly repeats them, and then they need not be held.     */
static const char *const agenti_rs_stream_parts[] = { "delta", "text", "result", "partial_image_b64", NULL };
static const char *const agenti_rs_whole_parts[] = { "text", "result", NULL };
static const char *const agenti_rs_routing[] = { "type", "id", "status", "model", "error", "incomplete_details", "output_index", "content_index",
    "summary_index", "item_id", "call_id", "name", "object", NULL };
static const char *const agenti_rs_owner[] = { "id", "annotations", "output_index", "sequence_number", NULL };
static const char *const agenti_rs_held[] = { "item", "part", NULL };
static const char *const agenti_rs_none[] = { NULL };
static const agenti_wire agenti_openai_responses_wire = {
    "openai-responses", "/responses", NULL, AGENTI_FRAMING_SSE, NULL, NULL,
    AGENTI_BIT(AGENTI_OPT_SEED) | AGENTI_BIT(AGENTI_OPT_FREQUENCY) | AGENTI_BIT(AGENTI_OPT_PRESENCE) | AGENTI_BIT(AGENTI_OPT_STOP)
        | AGENTI_BIT(AGENTI_OPT_THINKING) | AGENTI_BIT(AGENTI_OPT_TOP_K),
    agenti_rs_head, agenti_rs_system, agenti_rs_message_out, agenti_rs_tail, agenti_rs_tools_out, agenti_extra_out, agenti_rs_event, agenti_rs_whole,
    "\"obfuscation\": \"sequence_number\":", { agenti_rs_stream_parts, agenti_rs_routing, agenti_rs_owner, 1, agenti_rs_held },
    { agenti_rs_whole_parts, agenti_rs_routing, agenti_rs_owner, 0, agenti_rs_none },
    agenti_openai_responses_import, "previous_response_id"
};
AGENTI_FN const agenti_wire *agenti_openai_responses(void) { return &agenti_openai_responses_wire; }
#endif
#endif

/* ==== import_gemini.c: requests of Gemini read ==================================================================== */
/* Requests of Gemini generateContent, as programs have them, into messages, tools and options. Names are taken in both forms that the
 * provider takes, thoughtSignature and thought_signature. */
AGENTI_FN int agenti_gemini_import(agenti_import *, agent_str body);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_IMPORT_GEMINI
static agent_str agenti_igm_get(agent_str object, const char *camel, const char *snake)
{
    agent_str v = agent_json_get(object, camel);
    return v.p ? v : agent_json_get(object, snake);
}

/* ---- parts ---- */
static int agenti_igm_text(agenti_import *im, agenti_msg *m, agent_str part, int model)
{
    static const char *const keys[] = { "text", NULL }, *const model_keys[] = { "text", "thoughtSignature", "thought_signature", NULL };
    static const char *const thought_keys[] = { "text", "thought", "thoughtSignature", "thought_signature", NULL };
    agent_str signature = agenti_igm_get(part, "thoughtSignature", "thought_signature");
    int thinks = model && agenti_eq(agent_json_get(part, "thought"), "true");
    if (!agenti_im_words(im, m, thinks ? AGENT_PART_REASONING : AGENT_PART_TEXT, agent_json_get(part, "text"))) return 0;
    if (model && agenti_nonempty(signature) && !agenti_im_text(im, &m->parts[m->n - 1].data, signature)) return 0;
    return agenti_im_more(im, &m->parts[m->n - 1].more, part, thinks ? thought_keys : model ? model_keys : keys);
}
/* -1: no memory; 0: it is none that can be read, and nothing was added                                                  */
static int agenti_igm_file(agenti_import *im, agenti_msg *m, agent_str part, int model)
{
    static const char *const keys[] = { "inlineData", "inline_data", "fileData", "file_data", NULL };
    static const char *const model_keys[] = { "inlineData", "inline_data", "fileData", "file_data", "thoughtSignature", "thought_signature", NULL };
    static const char *const inner[] = { "mimeType", "mime_type", "data", "fileUri", "file_uri", NULL };
    agent_str data = agenti_igm_get(part, "inlineData", "inline_data"), file = agenti_igm_get(part, "fileData", "file_data"), mime;
    agent_str signature = agenti_igm_get(part, "thoughtSignature", "thought_signature");
    agenti_part *p;
    int rc;
    mime = agenti_igm_get(data.n ? data : file, "mimeType", "mime_type");
    rc = data.n ? agenti_im_data(im, m, AGENT_PART_FILE, agent_json_get(data, "data"), mime)
       : agenti_im_url(im, m, AGENT_PART_FILE, agenti_igm_get(file, "fileUri", "file_uri"));
    if (rc <= 0) return rc;
    p = &m->parts[m->n - 1];
    if (data.n == 0 && agenti_is_string(mime)) {
        if (!agenti_im_text(im, &p->mime, mime)) return -1;
        if (p->mime.n > 6 && agenti_ieq(agenti_str(p->mime.p, 6), "image/")) p->kind = AGENT_PART_IMAGE;
        if (p->mime.n > 6 && agenti_ieq(agenti_str(p->mime.p, 6), "audio/")) p->kind = AGENT_PART_AUDIO;
    }
    if (model && agenti_nonempty(signature) && !agenti_im_text(im, &p->data, signature)) return -1;
    return agenti_im_more(im, &p->more, part, model ? model_keys : keys) && agenti_im_more(im, &p->inner, data.n ? data : file, inner) ? 1 : -1;
}
static int agenti_igm_call(agenti_import *im, agenti_msg *m, agent_str part, agent_str call)
{
    static const char *const keys[] = { "functionCall", "function_call", "thoughtSignature", "thought_signature", NULL };
    static const char *const inner[] = { "id", "name", "args", NULL };
    agent_str signature = agenti_igm_get(part, "thoughtSignature", "thought_signature");
    agenti_part *p = agenti_im_call(im, m, agent_json_get(call, "id"), agent_json_get(call, "name"), agent_json_get(call, "args"), part);
    if (p == NULL || (agenti_nonempty(signature) && !agenti_im_text(im, &p->data, signature))) return 0;
    return agenti_im_more(im, &p->more, part, keys) && agenti_im_more(im, &p->inner, call, inner);
}
/* {"output": TEXT} and {"error": TEXT} are what a result's text becomes; any other response is the text, as JSON.       */
static int agenti_igm_result(agenti_import *im, agent_str part, agent_str result)
{
    static const char *const keys[] = { "functionResponse", "function_response", NULL }, *const inner[] = { "id", "name", "response", NULL };
    static const char *const with[] = { "id", "name", NULL };
    agent_str response = agent_json_get(result, "response"), text = agent_json_get(response, "output"), error = agent_json_get(response, "error");
    int one = agenti_im_count(response) == 1, plain = one && (agenti_nonempty(text) || agenti_nonempty(error));
    agenti_part *p = agenti_im_result(im, agent_json_get(result, "id"), agent_json_get(result, "name"));
    if (p == NULL) return agenti_im_fail(im, part.p, "contents: a functionResponse without its functionCall before it");
    if (one && agenti_is_string(error)) p->flags |= AGENT_PART_ERROR;
    if (!plain) p->flags |= AGENTI_PART_CONTENT;
    if (response.n && !agenti_im_text(im, &p->text, !plain ? response : agenti_nonempty(text) ? text : error)) return 0;
    return agenti_im_more(im, &p->more, part, keys) && agenti_im_more(im, &p->inner, result, plain ? inner : with);
}

/* ---- contents ---- */
static int agenti_igm_other(agenti_import *im, agenti_msg *m, agent_str part)
{
    agent_str key = agenti_str(NULL, 0), value;
    size_t pos = 0;
    agenti_part *p;
    (void)agent_json_each(part, &pos, &key, &value);         /* its first member says what it is                        */
    if (!agenti_im_other(im, m, part, agenti_str(NULL, 0))) return 0;
    p = &m->parts[m->n - 1];
    return key.n == 0 || agenti_im_raw(im, &p->name, key);
}
static int agenti_igm_part(agenti_import *im, agenti_msg **m, agent_str content, agent_str part, int model)
{
    agent_str call = agenti_igm_get(part, "functionCall", "function_call"), result = agenti_igm_get(part, "functionResponse", "function_response");
    agent_str text = agent_json_get(part, "text");
    int rc = 0;
    if (!agenti_is_object(part)) return agenti_im_fail(im, part.p, "contents: a part is no object");
    if (!model && agenti_is_object(result)) return agenti_igm_result(im, part, result);
    if (*m == NULL && (*m = model ? agenti_im_model(im, content) : agenti_im_msg(im, AGENT_USER, content)) == NULL) return 0;
    if (agenti_is_string(text)) return agenti_igm_text(im, *m, part, model);
    if (model && agenti_is_object(call)) return agenti_igm_call(im, *m, part, call);
    rc = agenti_igm_file(im, *m, part, model);
    return rc < 0 ? 0 : rc > 0 || agenti_igm_other(im, *m, part);
}
static int agenti_igm_content(agenti_import *im, agent_str content)
{
    static const char *const keys[] = { "role", "parts", NULL };
    agent_str role = agent_json_get(content, "role"), parts = agent_json_get(content, "parts"), part;
    int model = agent_json_is(role, "model");
    agenti_msg *m = NULL;
    size_t pos = 0;
    if (!agenti_is_object(content)) return agenti_im_fail(im, content.p, "contents: an element is no object");
    if (role.n && !model && !agent_json_is(role, "user") && !agent_json_is(role, "function") && !agenti_eq(role, "null"))
        return agenti_im_fail(im, role.p, "contents: role is none of user, model, function");
    if (!agenti_im_strict(im, content, keys)) return 0;
    if (agenti_is_object(parts)) return agenti_igm_part(im, &m, content, parts, model);      /* one that is no list       */
    if (!agenti_is_array(parts)) return agenti_im_fail(im, parts.n ? parts.p : content.p, "contents: parts is no list");
    while (agent_json_each(parts, &pos, NULL, &part)) if (!agenti_igm_part(im, &m, content, part, model)) return 0;
    return 1;
}

/* ---- tools and options ---- */
/* Types of this format's schemas are words in capitals; those of JSON Schema are not.                                   */
static void agenti_igm_types(agenti_text *schema)
{
    char *p = schema->p;
    size_t n = schema->n, i = 0, k;
    AGENTI_TOUCH(n);
    while (i < n) {
        agent_str word;
        if (p[i] != '"') { i++; continue; }
        k = agenti_json_skip(p + i, n - i);
        if (k < 2) return;
        word = agenti_str(p + i, k);
        i += k;
        k = i + agenti_json_space(p + i, n - i);
        if (!agenti_eq(word, "\"type\"") || k == n || p[k] != ':') continue;
        k++;
        k += agenti_json_space(p + k, n - k);
        if (k == n || p[k] != '"') continue;
        for (i = k + 1; i < n && p[i] != '"'; i++) p[i] = agenti_lower(p[i]);
        i++;
    }
}
static int agenti_igm_function(agenti_import *im, agent_str f)
{
    agent_str parameters = agent_json_get(f, "parameters"), schema = agenti_igm_get(f, "parametersJsonSchema", "parameters_json_schema");
    if (!agenti_is_object(f)) return agenti_im_fail(im, f.p, "tools: a declaration is no object");
    if (!agenti_im_tool(im, f, agent_json_get(f, "name"), agent_json_get(f, "description"), agenti_is_object(parameters) ? parameters : schema)) return 0;
    if (agenti_is_object(parameters)) agenti_igm_types(&im->tools[im->tool_n - 1].schema);
    return 1;
}
/* What stands beside functions in an element is one of its own.                                                         */
static int agenti_igm_rest(agenti_import *im, agent_str tool)
{
    static const char *const keys[] = { "functionDeclarations", "function_declarations", NULL };
    agent_str key, value, name = agenti_str(NULL, 0);
    agenti_text rest, quoted;
    size_t pos = 0;
    int ok, left = 0;
    while (agent_json_each(tool, &pos, &key, &value))
        if (!agenti_eq(value, "null") && !agenti_eq(key, keys[0]) && !agenti_eq(key, keys[1])) { left++; if (name.n == 0) name = agenti_str(key.p - 1, key.n + 2); }
    if (left == 0) return 1;
    memset(&rest, 0, sizeof rest);
    memset(&quoted, 0, sizeof quoted);
    ok = agenti_im_more(im, &rest, tool, keys) && agenti_im_wrap(im, &quoted, "{", agenti_text_view(&rest))
        && agenti_im_raw_tool(im, agenti_text_view(&quoted), name);
    agenti_text_free(&rest, NULL);
    agenti_text_free(&quoted, NULL);
    return ok;
}
static int agenti_igm_tool(agenti_import *im, agent_str tool)
{
    agent_str list = agenti_igm_get(tool, "functionDeclarations", "function_declarations"), f;
    size_t pos = 0;
    if (!agenti_is_object(tool)) return agenti_im_fail(im, tool.p, "tools: an element is no object");
    if (agenti_is_object(list) && !agenti_igm_function(im, list)) return 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &f)) if (!agenti_igm_function(im, f)) return 0;
    return agenti_igm_rest(im, tool);
}
static int agenti_igm_tools(agenti_import *im, agent_str tools)
{
    agent_str tool;
    size_t pos = 0;
    if (tools.n == 0 || agenti_eq(tools, "null")) return 1;
    im->tools_given = 1;
    if (agenti_is_object(tools)) return agenti_igm_tool(im, tools);
    if (!agenti_is_array(tools)) return agenti_im_fail(im, tools.p, "tools: no list");
    while (agent_json_each(tools, &pos, NULL, &tool)) if (!agenti_igm_tool(im, tool)) return 0;
    return 1;
}
static uint32_t agenti_igm_choice(agenti_import *im, agent_str v)
{
    agent_str config = agenti_igm_get(v, "functionCallingConfig", "function_calling_config"), mode = agent_json_get(config, "mode"), first, name;
    size_t pos = 0;
    if (im->tool_n == 0) return 0;
    if (agent_json_is(mode, "AUTO")) return agenti_im_word(im, AGENTI_OPT_TOOL_CHOICE, "auto");
    if (agent_json_is(mode, "NONE")) return agenti_im_word(im, AGENTI_OPT_TOOL_CHOICE, "none");
    if (!agent_json_is(mode, "ANY")) return 0;
    config = agenti_igm_get(config, "allowedFunctionNames", "allowed_function_names");
    if (!agenti_is_array(config) || !agent_json_each(config, &pos, NULL, &first)) return agenti_im_word(im, AGENTI_OPT_TOOL_CHOICE, "required");
    if (agent_json_each(config, &pos, NULL, &name) || agent_json_is(first, "auto") || agent_json_is(first, "none") || agent_json_is(first, "required"))
        return agenti_im_word(im, AGENTI_OPT_TOOL_CHOICE, "required");
    return agenti_im_string(im, AGENTI_OPT_TOOL_CHOICE, first);
}
static uint32_t agenti_igm_thinking(agenti_import *im, agent_str v)
{
    agent_str budget = agenti_igm_get(v, "thinkingBudget", "thinking_budget");
    uint32_t options = agenti_im_string(im, AGENTI_OPT_EFFORT, agenti_igm_get(v, "thinkingLevel", "thinking_level"));
    return options | (agenti_eq(budget, "-1") ? agenti_im_word(im, AGENTI_OPT_THINKING, "adaptive") : agenti_im_number(im, AGENTI_OPT_THINKING, budget));
}
static uint32_t agenti_igm_config(agenti_import *im, agent_str v)
{
    static const struct { const char *camel, *snake; int option; } rows[] = {
        { "maxOutputTokens", "max_output_tokens", AGENTI_OPT_MAX_TOKENS }, { "temperature", "temperature", AGENTI_OPT_TEMPERATURE },
        { "topP", "top_p", AGENTI_OPT_TOP_P }, { "seed", "seed", AGENTI_OPT_SEED }, { "frequencyPenalty", "frequency_penalty", AGENTI_OPT_FREQUENCY },
        { "presencePenalty", "presence_penalty", AGENTI_OPT_PRESENCE }
    };
    uint32_t options = 0;
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) options |= agenti_im_number(im, rows[i].option, agenti_igm_get(v, rows[i].camel, rows[i].snake));
    options |= agenti_im_stop(im, agenti_igm_get(v, "stopSequences", "stop_sequences"));
    return options | agenti_igm_thinking(im, agenti_igm_get(v, "thinkingConfig", "thinking_config"));
}
static uint32_t agenti_igm_take(agenti_import *im, agent_str key, agent_str v)
{
    if (agenti_eq(key, "contents") || agenti_eq(key, "tools")) return AGENTI_IM_TAKEN;
    if (agenti_eq(key, "systemInstruction") || agenti_eq(key, "system_instruction")) return AGENTI_BIT(AGENTI_OPT_SYSTEM);
    if (agenti_eq(key, "generationConfig") || agenti_eq(key, "generation_config")) return agenti_igm_config(im, v);
    if (agenti_eq(key, "toolConfig") || agenti_eq(key, "tool_config")) return agenti_igm_choice(im, v);
    if (agenti_eq(key, "model")) return agenti_im_string(im, AGENTI_OPT_MODEL, v);
    return 0;
}
static int agenti_igm_system(agenti_import *im, agent_str system)
{
    agent_str parts = agent_json_get(system, "parts"), part;
    size_t pos = 0;
    if (agenti_is_string(system)) return agenti_im_system(im, system, NULL, 0);
    if (agenti_is_object(parts)) return agenti_im_system(im, agent_json_get(parts, "text"), NULL, 0);
    while (agenti_is_array(parts) && agent_json_each(parts, &pos, NULL, &part)) if (!agenti_im_system(im, agent_json_get(part, "text"), NULL, 0)) return 0;
    return 1;
}
AGENTI_FN int agenti_gemini_import(agenti_import *im, agent_str body)
{
    int list = agenti_is_array(body);
    agent_str contents = list ? body : agent_json_get(body, "contents"), item;
    size_t pos = 0;
    if (!agenti_is_array(contents)) return agenti_im_fail(im, contents.n ? contents.p : body.p, "contents: no list");
    if (!list && !agenti_igm_tools(im, agent_json_get(body, "tools"))) return 0;
    if (!list && !agenti_igm_system(im, agenti_igm_get(body, "systemInstruction", "system_instruction"))) return 0;
    while (agent_json_each(contents, &pos, NULL, &item)) if (!agenti_igm_content(im, item)) return 0;
    return (list || agenti_im_members(im, body, agenti_igm_take)) && agenti_im_end(im);
}
#endif

/* ==== wire_gemini.c: Gemini generateContent ======================================================================= */
/* Gemini generateContent: https://ai.google.dev/api/generate-content, also of Vertex AI. Each payload is a slice of the answer: its parts are
 * increments, its counts are totals. Nothing but the end of the body ends an answer. */
#ifndef AGENT_NO_GEMINI
AGENTI_FN const agenti_wire *agenti_gemini(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_GEMINI
/* ---- answers ---- */
enum { AGENTI_GR_ERROR, AGENTI_GR_CANDIDATES, AGENTI_GR_USAGE, AGENTI_GR_FEEDBACK, AGENTI_GR_BLOCKED, AGENTI_GR_MODEL, AGENTI_GR_ID, AGENTI_GR_FIELDS };
static const agenti_field agenti_gm_response[AGENTI_GR_FIELDS] = {
    { "error", -1 }, { "candidates", -1 }, { "usageMetadata", -1 }, { "promptFeedback", -1 }, { "blockReason", AGENTI_GR_FEEDBACK },
    { "modelVersion", -1 }, { "responseId", -1 }
};
enum { AGENTI_GC_INDEX, AGENTI_GC_CONTENT, AGENTI_GC_PARTS, AGENTI_GC_FINISH, AGENTI_GC_MESSAGE, AGENTI_GC_GROUNDING, AGENTI_GC_CHUNKS,
       AGENTI_GC_FETCHED, AGENTI_GC_PAGES, AGENTI_GC_CITED, AGENTI_GC_CITATIONS, AGENTI_GC_QUOTED, AGENTI_GC_FIELDS };
static const agenti_field agenti_gm_candidate[AGENTI_GC_FIELDS] = {
    { "index", -1 }, { "content", -1 }, { "parts", AGENTI_GC_CONTENT }, { "finishReason", -1 }, { "finishMessage", -1 },
    { "groundingMetadata", -1 }, { "groundingChunks", AGENTI_GC_GROUNDING }, { "urlContextMetadata", -1 }, { "urlMetadata", AGENTI_GC_FETCHED },
    { "citationMetadata", -1 }, { "citations", AGENTI_GC_CITED }, { "citationSources", AGENTI_GC_CITED }
};
enum { AGENTI_GP_TEXT, AGENTI_GP_THOUGHT, AGENTI_GP_SIGNATURE, AGENTI_GP_CALL, AGENTI_GP_DATA, AGENTI_GP_FILE, AGENTI_GP_CODE, AGENTI_GP_OUTCOME,
       AGENTI_GP_RUN, AGENTI_GP_RAN, AGENTI_GP_FIELDS };
static const agenti_field agenti_gm_part[AGENTI_GP_FIELDS] = {
    { "text", -1 }, { "thought", -1 }, { "thoughtSignature", -1 }, { "functionCall", -1 }, { "inlineData", -1 }, { "fileData", -1 },
    { "executableCode", -1 }, { "codeExecutionResult", -1 }, { "toolCall", -1 }, { "toolResponse", -1 }
};
enum { AGENTI_GF_ID, AGENTI_GF_NAME, AGENTI_GF_ARGS, AGENTI_GF_PARTIAL, AGENTI_GF_MORE, AGENTI_GF_FIELDS };
static const agenti_field agenti_gm_call_rows[AGENTI_GF_FIELDS] = {
    { "id", -1 }, { "name", -1 }, { "args", -1 }, { "partialArgs", -1 }, { "willContinue", -1 }
};
enum { AGENTI_GA_PATH, AGENTI_GA_STRING, AGENTI_GA_NUMBER, AGENTI_GA_BOOL, AGENTI_GA_NULL, AGENTI_GA_FIELDS };
static const agenti_field agenti_gm_arg_rows[AGENTI_GA_FIELDS] = {
    { "jsonPath", -1 }, { "stringValue", -1 }, { "numberValue", -1 }, { "boolValue", -1 }, { "nullValue", -1 }
};
enum { AGENTI_GM_SIGNED = 1 };                /* agenti_decoder.sourced: the open stream has its signature              */
/* agenti_lane.kind. CALL: the call whose arguments come in pieces, at most one: id is its id, more the path of the value written last, named: that
 * is a string, not closed yet; cited: its pieces make no JSON. SOURCE: index is a hash of a URL that was given.
 * agenti_decoder.last_call counts the programs that the model wrote: their results have no id.                         */
enum { AGENTI_GL_CALL = 1, AGENTI_GL_SOURCE };

static void agenti_gm_count(agent_str v, int64_t *to) { if (v.n) (void)agenti_count(v, to); }
static int64_t agenti_gm_sum(int64_t a, int64_t b)            /* unknown counts as 0, if one is known                    */
{
    if (a < 0 || b <= 0) return a < 0 ? b : a;
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}
/* Totals, each count on its own: a later one replaces it. Prompts of tools are input, thoughts output; both stand beside the count that
 * they belong to. A heartbeat has no counts (G9).                                                                      */
static AGENTI_NOINLINE void agenti_gm_usage(agenti_decoder *d, agent_str usage)
{
    enum { PROMPT, TOOLS, CACHED, TEXT, THOUGHTS, FIELDS };
    static const agenti_field rows[FIELDS] = {
        { "promptTokenCount", -1 }, { "toolUsePromptTokenCount", -1 }, { "cachedContentTokenCount", -1 }, { "candidatesTokenCount", -1 },
        { "thoughtsTokenCount", -1 }
    };
    agent_str f[FIELDS];
    agent_usage *u = &d->usage;
    int64_t tools = u->input < 0 || d->uncached < 0 ? u->input : u->input - d->uncached;
    int64_t text = u->output < 0 || u->reasoning < 0 ? u->output : u->output - u->reasoning;
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, rows, FIELDS, f);
    agenti_gm_count(f[PROMPT], &d->uncached);
    agenti_gm_count(f[TOOLS], &tools);
    agenti_gm_count(f[CACHED], &u->cached);
    agenti_gm_count(f[TEXT], &text);
    agenti_gm_count(f[THOUGHTS], &u->reasoning);
    u->input = agenti_gm_sum(d->uncached, tools);
    u->output = agenti_gm_sum(text, u->reasoning);
    if (u->input >= 0 || u->output >= 0) d->has_usage = 1;
}
static int agenti_gm_finish_of(agent_str raw)
{
    static const struct { const char *word; int finish; } rows[] = {
        { "STOP", AGENT_FINISH_STOP }, { "MAX_TOKENS", AGENT_FINISH_LENGTH }, { "SAFETY", AGENT_FINISH_FILTER },
        { "RECITATION", AGENT_FINISH_FILTER }, { "BLOCKLIST", AGENT_FINISH_FILTER }, { "PROHIBITED_CONTENT", AGENT_FINISH_FILTER },
        { "SPII", AGENT_FINISH_FILTER }, { "LANGUAGE", AGENT_FINISH_FILTER }, { "MODEL_ARMOR", AGENT_FINISH_FILTER },
        { "IMAGE_SAFETY", AGENT_FINISH_FILTER }, { "IMAGE_PROHIBITED_CONTENT", AGENT_FINISH_FILTER }, { "IMAGE_RECITATION", AGENT_FINISH_FILTER },
        { "MALFORMED_FUNCTION_CALL", AGENT_FINISH_ERROR }, { "UNEXPECTED_TOOL_CALL", AGENT_FINISH_ERROR },
        { "TOO_MANY_TOOL_CALLS", AGENT_FINISH_ERROR }, { "MISSING_THOUGHT_SIGNATURE", AGENT_FINISH_ERROR },
        { "MALFORMED_RESPONSE", AGENT_FINISH_ERROR }
    };
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (agenti_eq(raw, rows[i].word)) return rows[i].finish;
    return AGENT_FINISH_OTHER;
}
/* The last reason counts: proxies send one early, before the text (G4). What went wrong is told beside it (G5).        */
static int agenti_gm_finish(agenti_decoder *d, agent_str value, agent_str message)
{
    agent_str raw;
    int finish;
    if (!agenti_nonempty(value)) return 1;
    if (!agenti_string_of(d, value, &raw)) return 0;
    finish = agenti_gm_finish_of(raw);
    agenti_finish_set(d, finish, raw);
    return finish == AGENT_FINISH_STOP || agenti_news_add(d, message, "finishMessage");
}

/* ---- texts and files ---- */
static int agenti_gm_data(agenti_decoder *d, uint32_t key, int flags, agent_str value)
{
    agenti_op *op;
    if (!agenti_nonempty(value)) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_DATA, key)) == NULL) return 0;
    op->flags = (uint8_t)flags;
    return agenti_string_of(d, value, &op->a);
}
static int agenti_gm_open(agenti_decoder *d, int kind)
{
    if (!agenti_stream_end(d)) return 0;
    d->stream = ++d->streams;
    d->stream_kind = (uint8_t)kind;
    return agenti_op_add(d, kind, d->stream) != NULL;
}
/* A signature goes with the text that it came with: one with an empty text to the text before it (D11), a second one to a part of its own. */
static int agenti_gm_text(agenti_decoder *d, const agent_str *f)
{
    int kind = agenti_eq(f[AGENTI_GP_THOUGHT], "true") ? AGENTI_OP_REASONING : AGENTI_OP_TEXT;
    int has_text = agenti_nonempty(f[AGENTI_GP_TEXT]), is_signed = agenti_nonempty(f[AGENTI_GP_SIGNATURE]);
    if (!has_text && !is_signed) return 1;
    if (d->stream && (d->stream_kind != kind || (is_signed && (d->sourced & AGENTI_GM_SIGNED))) && !agenti_stream_end(d)) return 0;
    if (d->stream == 0) d->sourced &= (uint8_t)~AGENTI_GM_SIGNED;
    if (has_text ? !agenti_stream_add(d, kind, f[AGENTI_GP_TEXT], 0) : d->stream == 0 && !agenti_gm_open(d, kind)) return 0;
    if (is_signed) d->sourced |= AGENTI_GM_SIGNED;
    return agenti_gm_data(d, d->stream, 0, f[AGENTI_GP_SIGNATURE]);
}
static int agenti_gm_kind(agent_str mime)                     /* a part's kind                                          */
{
    if (mime.n > 6 && agenti_ieq(agenti_str(mime.p, 6), "image/")) return AGENT_PART_IMAGE;
    return mime.n > 6 && agenti_ieq(agenti_str(mime.p, 6), "audio/") ? AGENT_PART_AUDIO : AGENT_PART_FILE;
}
/* {mimeType, data} or {mimeType, fileUri}                                                                              */
static int agenti_gm_file(agenti_decoder *d, agent_str file, agent_str signature)
{
    enum { MIME, DATA, URI, FIELDS };
    static const agenti_field rows[FIELDS] = { { "mimeType", -1 }, { "data", -1 }, { "fileUri", -1 } };
    agent_str f[FIELDS], mime;
    uint32_t had = d->op_n, key;
    char *type;                               /* in the arena: the op views it                                          */
    agenti_json_pick(file, rows, FIELDS, f);
    if (!agenti_string_of(d, f[MIME], &mime)) return 0;
    if (mime.n == 0) mime = agenti_cstr("application/octet-stream");
    if ((type = agenti_arena_get(&d->arena, mime.n + 1)) == NULL) return 0;
    memcpy(type, mime.p, mime.n);
    type[mime.n] = 0;
    if (f[DATA].n ? !agenti_file_add(d, agenti_gm_kind(mime), f[DATA], type) : !agenti_file_add(d, agenti_gm_kind(mime), f[URI], NULL)) return 0;
    if (d->op_n == had || !agenti_nonempty(signature)) return 1;
    key = d->ops[--d->op_n].key;              /* its END comes after the signature                                      */
    return agenti_gm_data(d, key, 0, signature) && agenti_op_add(d, AGENTI_OP_END, key) != NULL;
}

/* ---- arguments in pieces ---- */
/* "$.a['b'][0]" as the JSON array ["a","b",0]. 0: it is no such path, or too deep.                                      */
static int agenti_gm_path_name(agenti_buf *b, agent_str path, size_t *at)      /* ["b"] or ['b'], at its quote          */
{
    char quote = path.p[(*at)++];
    size_t from = *at;
    agenti_json_quote_to(b, agenti_str("", 0));
    for (; *at < path.n && path.p[*at] != quote; from = *at) {
        while (*at < path.n && path.p[*at] != quote && path.p[*at] != '\\') ++*at;
        agenti_json_quote_more(b, agenti_str(path.p + from, *at - from));
        if (*at == path.n || path.p[*at] == quote) break;
        if (path.n - *at < 2 || !memchr("'\"\\/", path.p[*at + 1], 4)) return 0;         /* no other escape is known     */
        agenti_json_quote_more(b, agenti_str(path.p + *at + 1, 1));
        *at += 2;
    }
    if (path.n - *at < 2 || path.p[*at + 1] != ']') return 0;
    *at += 2;
    return 1;
}
static int agenti_gm_path_step(agenti_buf *b, agent_str path, size_t *at)
{
    size_t from = *at + 1;
    char c = path.p[(*at)++];
    int64_t index;
    if (c == '.') {
        while (*at < path.n && path.p[*at] != '.' && path.p[*at] != '[') ++*at;
        agenti_json_quote_to(b, agenti_str(path.p + from, *at - from));
        return *at > from;
    }
    if (c != '[' || *at == path.n) return 0;
    if (path.p[*at] == '"' || path.p[*at] == '\'') return agenti_gm_path_name(b, path, at);
    while (*at < path.n && path.p[*at] != ']') ++*at;
    agenti_buf_add(b, path.p + from, *at - from);
    return (*at)++ < path.n && agenti_int(agenti_str(path.p + from, *at - 1 - from), &index) && index >= 0;
}
static AGENTI_NOINLINE int agenti_gm_path(agenti_buf *b, agent_str path, uint32_t most)
{
    size_t at = 1;
    uint32_t depth = 0;
    if (path.n < 2 || path.p[0] != '$') return 0;
    agenti_buf_str(b, "[");
    while (at < path.n) {
        if (depth++ == most) return 0;
        agenti_json_comma(b);
        if (!agenti_gm_path_step(b, path, &at)) return 0;
    }
    agenti_buf_str(b, "]");
    AGENTI_TOUCH(path.n);
    return 1;
}
/* Ends what is open below a place of the path: its containers, the innermost first.                                    */
static void agenti_gm_shut(agenti_buf *b, agent_str path, size_t pos)
{
    uint64_t objects = 0;
    uint32_t n = 0;
    agent_str step;
    while (path.n && agent_json_each(path, &pos, NULL, &step)) objects |= (uint64_t)agenti_is_string(step) << n++;
    while (n-- > 0) agenti_buf_str(b, objects >> n & 1 ? "}" : "]");
}
static int agenti_gm_next_index(agent_str was, agent_str now)
{
    int64_t a, b;
    return agenti_int(was, &a) && agenti_int(now, &b) && a == b - 1;
}
/* From the value at one place on to the one at another: what stands between them in the text. 0: it does not come after it in any. */
static int agenti_gm_move(agenti_buf *b, agent_str was, agent_str now)
{
    size_t at_was = 0, at_now = 0;
    agent_str x = agenti_str(NULL, 0), y = x;
    int same = 1;
    while (same) {
        int more = agent_json_each(was, &at_was, NULL, &x);
        if (!agent_json_each(now, &at_now, NULL, &y) || (was.n && !more)) return 0;        /* one lies in the other       */
        same = was.n && x.n == y.n && memcmp(x.p, y.p, x.n) == 0;
    }
    if (was.n) {
        if (agenti_is_string(x) ? !agenti_is_string(y) : !agenti_gm_next_index(x, y)) return 0;
        agenti_gm_shut(b, was, at_was);
        agenti_buf_str(b, ",");
    } else if (!agenti_is_string(y)) return 0;
    else agenti_buf_str(b, "{");
    for (;;) {
        if (agenti_is_string(y)) {
            agenti_buf_add(b, y.p, y.n);
            agenti_buf_str(b, ":");
        }
        if (!agent_json_each(now, &at_now, NULL, &y)) return 1;
        if (!agenti_is_string(y) && !agenti_eq(y, "0")) return 0;
        agenti_buf_str(b, agenti_is_string(y) ? "{" : "[");
    }
}
static int agenti_gm_args(agenti_decoder *d, uint32_t key, agent_str text)                /* copies it                  */
{
    agenti_op *op;
    char *p;
    if (text.n == 0) return 1;
    if ((p = agenti_arena_get(&d->arena, text.n)) == NULL || (op = agenti_op_add(d, AGENTI_OP_ARGS, key)) == NULL) return 0;
    memcpy(p, text.p, text.n);
    op->a = agenti_str(p, text.n);
    return 1;
}
/* A value at a path, as it continues the text of the arguments; strings stay open for more. 0: it cannot.              */
static AGENTI_NOINLINE int agenti_gm_piece(agenti_decoder *d, agenti_lane *l, const agent_str *f, agent_str path, agenti_buf *b)
{
    agent_str value, was = agenti_text_view(&l->more);
    int same = was.n == path.n && memcmp(was.p, path.p, was.n) == 0, i;
    for (i = AGENTI_GA_STRING; i < AGENTI_GA_NULL && f[i].n == 0; i++) {}
    value = i == AGENTI_GA_NULL ? agenti_cstr("null") : f[i];
    if (!same || !l->named) {
        if (l->named) agenti_buf_str(b, "\"");
        if (!agenti_gm_move(b, was, path)) return 0;
        if (agenti_is_string(value)) agenti_buf_str(b, "\"");
    } else if (!agenti_is_string(value)) return 0;
    l->named = (uint8_t)agenti_is_string(value);
    if (l->named) value = agenti_str(value.p + 1, value.n - 2);
    if (!agenti_raw_of(d, value, &value)) { b->bad = 1; return 0; }
    agenti_buf_add(b, value.p, value.n);
    return 1;
}
/* What makes no JSON spoils the call: its text is left open, so that nobody takes it for arguments.                    */
static AGENTI_NOINLINE int agenti_gm_arg(agenti_decoder *d, agenti_lane *l, agent_str arg)
{
    agent_str f[AGENTI_GA_FIELDS], at;
    agenti_buf path, b;
    int ok, can;
    agenti_json_pick(arg, agenti_gm_arg_rows, AGENTI_GA_FIELDS, f);
    if (f[AGENTI_GA_STRING].n + f[AGENTI_GA_NUMBER].n + f[AGENTI_GA_BOOL].n + f[AGENTI_GA_NULL].n == 0) return 1;
    if (!agenti_string_of(d, f[AGENTI_GA_PATH], &at)) return 0;
    agenti_buf_init(&path, d->pool);
    agenti_buf_init(&b, d->pool);
    can = agenti_gm_path(&path, at, d->depth_limit) && !path.bad && agenti_gm_piece(d, l, f, agenti_str(path.p, path.n), &b);
    ok = !path.bad && !b.bad;
    if (ok && can) ok = agenti_gm_args(d, l->key, agenti_str(b.p, b.n)) && agenti_text_set(&l->more, d->pool, d->graves, agenti_str(path.p, path.n));
    else if (ok) {
        l->cited = 1;
        if (l->more.n == 0) ok = agenti_gm_args(d, l->key, agenti_cstr("{"));
    }
    agenti_buf_free(&path);
    agenti_buf_free(&b);
    return ok;
}
static agenti_lane *agenti_gm_lane(agenti_decoder *d)         /* of the call whose arguments are still coming           */
{
    uint32_t i;
    for (i = 0; i < d->lane_n; i++) if (d->lanes[i].kind == AGENTI_GL_CALL) return &d->lanes[i];
    return NULL;
}
static AGENTI_NOINLINE int agenti_gm_call_end(agenti_decoder *d, agenti_lane *l)
{
    agenti_buf b;
    int ok;
    if (l == NULL) return 1;
    agenti_buf_init(&b, d->pool);
    if (!l->cited) {
        if (l->named) agenti_buf_str(&b, "\"");
        agenti_gm_shut(&b, agenti_text_view(&l->more), 0);
    }
    ok = !b.bad && agenti_gm_args(d, l->key, agenti_str(b.p, b.n));
    agenti_buf_free(&b);
    agenti_lane_free(d, l);
    memmove(l, l + 1, (size_t)(d->lanes + --d->lane_n - l) * sizeof *l);
    return ok;
}

/* ---- calls ---- */
/* A call with its arguments, which may be missing (G1).                                                                */
static int agenti_gm_call_start(agenti_decoder *d, const agent_str *f, agent_str id)
{
    uint32_t key = d->call_n;
    agenti_op *op;
    agent_str name, args = f[AGENTI_GF_ARGS];
    if (!agenti_string_of(d, f[AGENTI_GF_NAME], &name)) return 0;
    if (!agenti_stream_end(d) || (op = agenti_op_add(d, AGENTI_OP_CALL, key)) == NULL) return 0;
    op->a = id;
    op->b = name;
    if (!agenti_is_object(args) && !agenti_nonempty(args)) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, key)) == NULL) return 0;
    return agenti_is_object(args) ? agenti_raw_of(d, args, &op->a) : agenti_string_of(d, args, &op->a);
}
static int agenti_gm_partial(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    agent_str arg;
    size_t pos = 0;
    while (agenti_is_array(f[AGENTI_GF_PARTIAL]) && agent_json_each(f[AGENTI_GF_PARTIAL], &pos, NULL, &arg))
        if (agenti_is_object(arg) && !l->cited && !agenti_gm_arg(d, l, arg)) return 0;
    return agenti_eq(f[AGENTI_GF_MORE], "true") || agenti_gm_call_end(d, l);
}
/* Vertex may send arguments in pieces: a name begins a call, parts without one go on with it, until one does not say that more comes;
 * that last one may be missing (G8).                                                                                   */
static AGENTI_NOINLINE int agenti_gm_call(agenti_decoder *d, agent_str call, agent_str signature)
{
    agent_str f[AGENTI_GF_FIELDS], id;
    agenti_lane *l = agenti_gm_lane(d);
    uint32_t key = d->call_n;
    int pieces;
    agenti_json_pick(call, agenti_gm_call_rows, AGENTI_GF_FIELDS, f);
    pieces = agenti_eq(f[AGENTI_GF_MORE], "true") || agenti_is_array(f[AGENTI_GF_PARTIAL]);
    if (!agenti_string_of(d, f[AGENTI_GF_ID], &id)) return 0;
    if (l && (!agenti_nonempty(f[AGENTI_GF_NAME]) || (id.n && id.n == l->id.n && memcmp(id.p, l->id.p, id.n) == 0)))
        return agenti_gm_data(d, l->key, AGENTI_DATA_CALL, signature) && agenti_gm_partial(d, l, f);
    if (!agenti_nonempty(f[AGENTI_GF_NAME]) && f[AGENTI_GF_ARGS].n == 0 && !pieces) return 1;      /* the end of none        */
    if (!agenti_gm_call_end(d, l)) return 0;
    if (d->call_n >= d->call_limit) return agenti_too_many(d);
    if (!agenti_gm_call_start(d, f, id) || !agenti_gm_data(d, key, AGENTI_DATA_CALL, signature)) return 0;
    if (!pieces) return 1;
    if ((l = agenti_lane_new(d)) == NULL) return 0;
    l->kind = AGENTI_GL_CALL;
    l->key = key;
    l->cited = (uint8_t)agenti_is_object(f[AGENTI_GF_ARGS]);           /* they are there already                                 */
    return (id.n == 0 || agenti_text_set(&l->id, d->pool, d->graves, id)) && agenti_gm_partial(d, l, f);
}
/* What the provider runs goes back as it came, with its signature. Calls and results have an id, or follow each other (G12). */
static int agenti_gm_raw(agenti_decoder *d, agent_str part, agent_str type, int flags)
{
    agenti_op *op;
    if (!agenti_stream_end(d) || (op = agenti_op_add(d, AGENTI_OP_RAW, 0)) == NULL) return 0;
    op->flags = (uint8_t)flags;
    return agenti_raw_of(d, part, &op->a) && agenti_raw_of(d, type, &op->b);
}
static int agenti_gm_run_id(agenti_decoder *d, agent_str id, agent_str *out)
{
    static const char made[] = "code_";
    char *p;
    if (!agenti_string_of(d, id, out) || out->n) return out->n > 0;
    if ((p = agenti_arena_get(&d->arena, 32)) == NULL) return 0;
    memcpy(p, made, sizeof made - 1);
    *out = agenti_str(p, sizeof made - 1 + agenti_u64_text(d->last_call, p + sizeof made - 1));
    return 1;
}
static int agenti_gm_run(agenti_decoder *d, agent_str call, agent_str args)
{
    agenti_op *op = agenti_op_add(d, AGENTI_OP_RAN, 0);
    agent_str name = agent_json_get(call, "toolType");
    if (op == NULL) return 0;
    d->last_call++;
    op->b = agenti_cstr("code_execution");
    op->c = agenti_is_object(args) ? args : agenti_cstr("{}");
    return agenti_gm_run_id(d, agent_json_get(call, "id"), &op->a) && (!agenti_nonempty(name) || agenti_string_of(d, name, &op->b));
}
static int agenti_gm_ran(agenti_decoder *d, agent_str result, agent_str content)
{
    agenti_op *op = agenti_op_add(d, AGENTI_OP_RESULT, 0);
    agent_str outcome = agent_json_get(result, "outcome");
    if (op == NULL) return 0;
    op->c = content.n ? content : agenti_cstr("{}");
    if (agenti_nonempty(outcome) && !agent_json_is(outcome, "OUTCOME_OK")) op->flags = AGENT_PART_ERROR;
    return agenti_gm_run_id(d, agent_json_get(result, "id"), &op->a);
}
static int agenti_gm_kept(agenti_decoder *d, agent_str part, int row)
{
    const char *type = agenti_gm_part[row].key;
    agent_str of;
    if (!agenti_gm_raw(d, part, agenti_cstr(type), AGENTI_RAW_QUIET)) return 0;
    of = agent_json_get(d->ops[d->op_n - 1].a, type);
    if (row == AGENTI_GP_CODE) return agenti_gm_run(d, of, of);
    if (row == AGENTI_GP_RUN) return agenti_gm_run(d, of, agent_json_get(of, "args"));
    return agenti_gm_ran(d, of, row == AGENTI_GP_OUTCOME ? of : agent_json_get(of, "response"));
}
/* Text; or a kind of part that is not known here, a picture of a thought among them.                                   */
static int agenti_gm_other(agenti_decoder *d, agent_str part, const agent_str *f)
{
    agent_str key, value;
    size_t pos = 0;
    while (!agenti_is_string(f[AGENTI_GP_TEXT]) && agent_json_each(part, &pos, &key, &value))
        if (!agenti_eq(value, "null") && !agenti_eq(key, "text") && !agenti_eq(key, "thought") && !agenti_eq(key, "thoughtSignature"))
            return agenti_gm_raw(d, part, key, 0);
    return agenti_gm_text(d, f);
}
static AGENTI_NOINLINE int agenti_gm_one_part(agenti_decoder *d, agent_str part)
{
    agent_str f[AGENTI_GP_FIELDS], file;
    int row;
    agenti_json_pick(part, agenti_gm_part, AGENTI_GP_FIELDS, f);
    if (agenti_is_object(f[AGENTI_GP_CALL])) return agenti_gm_call(d, f[AGENTI_GP_CALL], f[AGENTI_GP_SIGNATURE]);
    file = f[agenti_is_object(f[AGENTI_GP_DATA]) ? AGENTI_GP_DATA : AGENTI_GP_FILE];
    if (agenti_is_object(file) && !agenti_eq(f[AGENTI_GP_THOUGHT], "true")) return agenti_gm_file(d, file, f[AGENTI_GP_SIGNATURE]);
    for (row = AGENTI_GP_CODE; row <= AGENTI_GP_RAN; row++) if (agenti_is_object(f[row])) return agenti_gm_kept(d, part, row);
    return agenti_gm_other(d, part, f);
}

/* ---- sources ---- */
/* Lists come again and again: a URL is given once (G11), as far as a short memory of them goes.                        */
static int agenti_gm_source(agenti_decoder *d, agent_str url, agent_str title)
{
    enum { MOST = 64 };
    uint64_t hash = UINT64_C(14695981039346656037);
    agenti_lane *l;
    uint32_t i;
    size_t k;
    if (!agenti_nonempty(url)) return 1;
    for (k = 0; k < url.n; k++) hash = (hash ^ (unsigned char)url.p[k]) * UINT64_C(1099511628211);
    AGENTI_TOUCH(url.n);
    for (i = 0; i < d->lane_n; i++) if (d->lanes[i].kind == AGENTI_GL_SOURCE && d->lanes[i].index == (int64_t)(hash >> 1)) return 1;
    if (d->lane_n < MOST) {
        if ((l = agenti_lane_new(d)) == NULL) return 0;
        l->kind = AGENTI_GL_SOURCE;
        l->index = (int64_t)(hash >> 1);
    }
    return agenti_source_add(d, url, title);
}
static AGENTI_NOINLINE int agenti_gm_sources(agenti_decoder *d, agent_str list)
{
    enum { URL, TITLE, FETCHED, WEB, WEB_URL, WEB_TITLE, FOUND, FOUND_URL, FOUND_TITLE, PLACE, PLACE_URL, PLACE_TITLE, FIELDS };
    static const agenti_field rows[FIELDS] = {
        { "uri", -1 }, { "title", -1 }, { "retrievedUrl", -1 }, { "web", -1 }, { "uri", WEB }, { "title", WEB },
        { "retrievedContext", -1 }, { "uri", FOUND }, { "title", FOUND }, { "maps", -1 }, { "uri", PLACE }, { "title", PLACE }
    };
    agent_str f[FIELDS], item;
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &item)) {
        if (!agenti_is_object(item)) continue;
        agenti_json_pick(item, rows, FIELDS, f);
        if (!agenti_gm_source(d, f[URL], f[TITLE]) || !agenti_gm_source(d, f[FETCHED], f[TITLE]) || !agenti_gm_source(d, f[WEB_URL], f[WEB_TITLE])
            || !agenti_gm_source(d, f[FOUND_URL], f[FOUND_TITLE]) || !agenti_gm_source(d, f[PLACE_URL], f[PLACE_TITLE])) return 0;
    }
    return 1;
}

/* ---- slices ---- */
static AGENTI_NOINLINE int agenti_gm_one_candidate(agenti_decoder *d, agent_str candidate)
{
    agent_str f[AGENTI_GC_FIELDS], part;
    int64_t index;
    size_t pos = 0;
    agenti_json_pick(candidate, agenti_gm_candidate, AGENTI_GC_FIELDS, f);
    if (f[AGENTI_GC_INDEX].n && agenti_int(f[AGENTI_GC_INDEX], &index) && index != 0) return 1;
    while (agenti_is_array(f[AGENTI_GC_PARTS]) && agent_json_each(f[AGENTI_GC_PARTS], &pos, NULL, &part))
        if (agenti_is_object(part) && !agenti_gm_one_part(d, part)) return 0;
    if (agenti_is_object(f[AGENTI_GC_GROUNDING]) && f[AGENTI_GC_GROUNDING].n > 2
        && !agenti_news_add(d, f[AGENTI_GC_GROUNDING], "groundingMetadata")) return 0;
    if (!agenti_gm_sources(d, f[AGENTI_GC_CHUNKS]) || !agenti_gm_sources(d, f[AGENTI_GC_PAGES]) || !agenti_gm_sources(d, f[AGENTI_GC_CITATIONS])
        || !agenti_gm_sources(d, f[AGENTI_GC_QUOTED])) return 0;
    if (agenti_nonempty(f[AGENTI_GC_FINISH]) && !agenti_gm_call_end(d, agenti_gm_lane(d))) return 0;
    return agenti_gm_finish(d, f[AGENTI_GC_FINISH], f[AGENTI_GC_MESSAGE]);
}
/* A blocked prompt has no candidates (G6).                                                                             */
static int agenti_gm_blocked(agenti_decoder *d, agent_str feedback, agent_str reason)
{
    agent_str raw;
    if (!agenti_nonempty(reason) || d->finish != AGENT_FINISH_NONE) return 1;
    if (!agenti_news_add(d, feedback, "promptFeedback") || !agenti_string_of(d, reason, &raw)) return 0;
    agenti_finish_set(d, AGENT_FINISH_FILTER, raw);
    return 1;
}
/* A checked object. *known: it had a member that belongs to an answer.                                                 */
static int agenti_gm_object(agenti_decoder *d, agent_str json, int *known)
{
    agent_str f[AGENTI_GR_FIELDS], item;
    size_t pos = 0;
    agenti_json_pick(json, agenti_gm_response, AGENTI_GR_FIELDS, f);
    *known = 1;
    if (f[AGENTI_GR_ERROR].n && !agenti_eq(f[AGENTI_GR_ERROR], "null")) { agenti_fault_object(d, json, 0); return 1; }
    *known = f[AGENTI_GR_CANDIDATES].n || f[AGENTI_GR_USAGE].n || f[AGENTI_GR_FEEDBACK].n;
    agenti_gm_usage(d, f[AGENTI_GR_USAGE]);
    if (!agenti_model_set(d, f[AGENTI_GR_MODEL])) return 0;
    if (d->id.n == 0 && agenti_nonempty(f[AGENTI_GR_ID])
        && (!agenti_string_of(d, f[AGENTI_GR_ID], &item) || !agenti_text_set(&d->id, d->pool, d->graves, item))) return 0;
    while (agenti_is_array(f[AGENTI_GR_CANDIDATES]) && agent_json_each(f[AGENTI_GR_CANDIDATES], &pos, NULL, &item))
        if (agenti_is_object(item) && !agenti_gm_one_candidate(d, item)) return 0;
    return agenti_gm_blocked(d, f[AGENTI_GR_FEEDBACK], f[AGENTI_GR_BLOCKED]);
}
static int agenti_gm_event(agenti_decoder *d, agent_str event, agent_str data)
{
    agent_str item;
    size_t pos = 0;
    int known;
    (void)event;
    data = agenti_trim(data);
    if (data.n == 0 || data.p[0] == ':') return 1;
    if (agenti_eq(data, "[DONE]")) { d->done = 1; return 1; }            /* of proxies                                   */
    if ((data.p[0] != '{' && data.p[0] != '[') || agent_json_check(data.p, data.n, d->depth_limit, NULL) != AGENT_OK) return agenti_payload_bad(d);
    if (agenti_is_object(data)) return agenti_gm_object(d, data, &known);
    while (!d->fault.fault && agent_json_each(data, &pos, NULL, &item)) if (agenti_is_object(item) && !agenti_gm_object(d, item, &known)) return 0;
    return 1;
}
static int agenti_gm_whole(agenti_decoder *d, agent_str body)
{
    int known = 0;
    if (agenti_is_object(body) && !agenti_gm_object(d, body, &known)) return 0;
    if (!known) agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr("the answer is none of generateContent"));
    d->done = 1;
    return agenti_gm_call_end(d, agenti_gm_lane(d));
}

/* ---- requests ---- */
static agent_str agenti_gm_model(const agenti_request *r) { return agenti_text_view(&r->options[AGENTI_OPT_MODEL]); }
static int agenti_gm_is_gemma(const agenti_request *r) { return agenti_find(agenti_gm_model(r), "gemma"); }    /* takes no systemInstruction */
/* A level and a budget exclude each other.                                                                             */
static void agenti_gm_thinking_out(agenti_buf *b, agenti_request *r)
{
    static const char *const words[] = { "", "minimal", "low", "medium", "high", "high" };
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]), level = agenti_effort(r, words);
    if (budget.n == 0 && agenti_eq(agenti_text_view(&r->options[AGENTI_OPT_EFFORT]), "off")) budget = agenti_cstr("0");
    if (budget.n == 0 && level.n == 0) return;
    if (budget.n && level.n) r->left_out |= AGENTI_BIT(AGENTI_OPT_THINKING);
    agenti_json_key(b, "thinkingConfig");
    agenti_buf_str(b, "{");
    if (level.n) agenti_json_member_str(b, "thinkingLevel", level);
    else agenti_json_member(b, "thinkingBudget", agenti_eq(budget, "adaptive") ? agenti_cstr("-1") : budget);
    if (level.n || !agenti_eq(budget, "0")) agenti_buf_str(b, ",\"includeThoughts\":true");
    agenti_buf_str(b, "}");
}
static void agenti_gm_config_out(agenti_buf *b, agenti_request *r)
{
    static const struct { const char *key; int option; } rows[] = {
        { "maxOutputTokens", AGENTI_OPT_MAX_TOKENS }, { "temperature", AGENTI_OPT_TEMPERATURE }, { "topP", AGENTI_OPT_TOP_P },
        { "seed", AGENTI_OPT_SEED }, { "frequencyPenalty", AGENTI_OPT_FREQUENCY }, { "presencePenalty", AGENTI_OPT_PRESENCE },
        { "topK", AGENTI_OPT_TOP_K }
    };
    agent_str stop = agenti_text_view(&r->options[AGENTI_OPT_STOP]);
    size_t start = b->n, empty, i;
    if (agenti_replaced(r, "generationConfig") || agenti_replaced(r, "generation_config")) return;
    agenti_json_key(b, "generationConfig");
    agenti_buf_str(b, "{");
    empty = b->n;
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        if (r->options[rows[i].option].n) agenti_json_member(b, rows[i].key, agenti_text_view(&r->options[rows[i].option]));
    if (stop.n) {
        agenti_json_key(b, "stopSequences");
        if (stop.p[0] != '[') agenti_buf_str(b, "[");
        agenti_buf_add(b, stop.p, stop.n);
        if (stop.p[0] != '[') agenti_buf_str(b, "]");
    }
    agenti_gm_thinking_out(b, r);
    if (r->options[AGENTI_OPT_FORMAT].n) agenti_json_member_str(b, "responseMimeType", agenti_cstr("application/json"));
    if (agenti_format_schema(r).n) agenti_json_member(b, "responseJsonSchema", agenti_format_schema(r));
    if (b->n == empty) b->n = start; else agenti_buf_str(b, "}");
}
static void agenti_gm_head(agenti_buf *b, agenti_request *r)
{
    agent_str system = agenti_text_view(&r->options[AGENTI_OPT_SYSTEM]);
    agenti_buf_str(b, "{");
    if (system.n && !agenti_gm_is_gemma(r) && !agenti_replaced(r, "systemInstruction") && !agenti_replaced(r, "system_instruction")) {
        agenti_buf_str(b, "\"systemInstruction\":{\"parts\":[{\"text\":");
        agenti_json_quote_to(b, system);
        agenti_buf_str(b, "}]}");
    }
    agenti_gm_config_out(b, r);
    agenti_json_key(b, "contents");
    agenti_buf_str(b, "[");
}
/* Roles alternate: parts of one side go into one content. r->state: 0 none, else 1 + the side whose content is open.    */
static void agenti_gm_side(agenti_buf *b, agenti_request *r, int model)
{
    if (r->state == 1 + model) { agenti_buf_str(b, ","); return; }
    if (r->state) agenti_buf_str(b, "]},");
    agenti_buf_str(b, model ? "{\"role\":\"model\",\"parts\":[" : "{\"role\":\"user\",\"parts\":[");
    r->state = 1 + model;
}
static void agenti_gm_text_out(agenti_buf *b, agenti_request *r, agent_str text)
{
    agenti_gm_side(b, r, 0);
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "text", text);
    agenti_buf_str(b, "}");
}
static void agenti_gm_system(agenti_buf *b, agenti_request *r, agent_str text) 
{
    if (agenti_gm_is_gemma(r) && !agenti_replaced(r, "systemInstruction") && !agenti_replaced(r, "system_instruction")) agenti_gm_text_out(b, r, text);
}
/* Five types of images, sound, video and PDFs; by URI whatever it is.                                                  */
static int agenti_gm_takes(const agenti_part *p)
{
    static const char *const types[] = { "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf" };
    agent_str mime = agenti_text_view(&p->mime);
    size_t i;
    if (p->uri.n || p->kind == AGENT_PART_AUDIO) return 1;
    for (i = 0; i < sizeof types / sizeof *types; i++) if (agenti_ieq(mime, types[i])) return 1;
    return mime.n > 6 && agenti_ieq(agenti_str(mime.p, 6), "video/");
}
static void agenti_gm_media_out(agenti_buf *b, const agenti_request *r, const agenti_msg *m, const agenti_part *p)      /* a member */
{
    agenti_json_key(b, p->uri.n ? "fileData" : "inlineData");
    agenti_buf_str(b, "{");
    if (p->mime.n) agenti_json_member_str(b, "mimeType", agenti_text_view(&p->mime));
    agenti_json_member_str(b, p->uri.n ? "fileUri" : "data", agenti_text_view(p->uri.n ? &p->uri : &p->text));
    agenti_more_out(b, r, m, &p->inner);
    agenti_buf_str(b, "}");
}
static void agenti_gm_user_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int plain = p->kind == AGENT_PART_TEXT || (p->kind == AGENT_PART_FILE && p->text.n && !(p->flags & AGENT_PART_BASE64));
    agenti_gm_side(b, r, 0);
    if (p->kind == AGENT_PART_OTHER) { agenti_buf_add(b, p->text.p, p->text.n); return; }
    agenti_buf_str(b, "{");
    if (plain) agenti_json_member_str(b, "text", agenti_text_view(&p->text));
    else if (m->wire == (const void *)r->wire || agenti_gm_takes(p)) agenti_gm_media_out(b, r, m, p);
    else {
        agenti_json_key(b, "text");
        agenti_media_left_out(b, r, p);
    }
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
/* The id of a call, unless the provider gave none.                                                                     */
static void agenti_gm_id_out(agenti_buf *b, agent_str id)
{
    static const char made[] = "call_local_";
    if (id.n < sizeof made || memcmp(id.p, made, sizeof made - 1) != 0) agenti_json_member_str(b, "id", id);
}
/* Newer models refuse a step whose first call has no signature, as those of another model or of an import; this word stands for one (D10). */
static const char *agenti_gm_no_signature(const agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    static const char *const old[] = { "gemini-1", "gemini-2", "gemma" };
    const agenti_part *q = m->parts;
    size_t i;
    while (q->kind != AGENT_PART_CALL) q++;
    for (i = 0; i < sizeof old / sizeof *old; i++) if (agenti_find(agenti_gm_model(r), old[i])) return "";
    return q == p ? "skip_thought_signature_validator" : "";
}
static void agenti_gm_model_call(agenti_buf *b, const agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int usable = p->text.n && !(p->flags & AGENT_PART_INVALID);
    agenti_buf_str(b, "\"functionCall\":{");
    agenti_gm_id_out(b, agenti_wire_id(p));
    agenti_tool_name_out(b, agenti_text_view(&p->name));
    agenti_json_member(b, "args", usable ? agenti_text_view(&p->text) : agenti_cstr("{}"));
    agenti_more_out(b, r, m, &p->inner);
    agenti_buf_str(b, "}");
}
static void agenti_gm_model_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int same = m->model == r->model, good = same && !(p->flags & AGENT_PART_CUT);
    agent_str signature = good ? agenti_text_view(&p->data) : agenti_str(NULL, 0);
    if ((p->kind == AGENT_PART_REASONING || p->kind == AGENT_PART_OTHER) && !good) {
        if (!same) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING);
        return;
    }
    if (p->text.n == 0 && signature.n == 0 && p->kind != AGENT_PART_CALL && p->uri.n == 0) return;
    if (agenti_is_media(p->kind) && m->wire != (const void *)r->wire && !agenti_gm_takes(p)) return;
    agenti_gm_side(b, r, 1);
    if (p->kind == AGENT_PART_OTHER) { agenti_buf_add(b, p->text.p, p->text.n); return; }
    agenti_buf_str(b, "{");
    if (p->kind == AGENT_PART_CALL) {
        agenti_gm_model_call(b, r, m, p);
        if (signature.n == 0) signature = agenti_cstr(agenti_gm_no_signature(r, m, p));
    } else if (agenti_is_media(p->kind)) agenti_gm_media_out(b, r, m, p);
    else agenti_json_member_str(b, "text", agenti_text_view(&p->text));
    if (p->kind == AGENT_PART_REASONING) agenti_buf_str(b, ",\"thought\":true");
    if (signature.n) agenti_json_member_str(b, "thoughtSignature", signature);
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static agent_str agenti_gm_name_of(const agenti_msg *before, const agenti_part *result)
{
    agent_str id = agenti_text_view(&result->wire_id);
    uint32_t n = before ? before->n : 0, i, k;
    for (k = 0; k < n; k++) {                 /* mostly at its place                                                    */
        const agenti_part *p = &before->parts[i = (result->key + k) % n];
        if (p->kind == AGENT_PART_CALL && p->wire_id.n == id.n && memcmp(p->wire_id.p, id.p, id.n) == 0) return agenti_text_view(&before->parts[i].name);
    }
    return agenti_cstr("unknown");
}
/* The response is an object of the provider's, whose numbers are doubles: the tool's output is a text in it, so digits survive. */
static void agenti_gm_result_out(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    agent_str text = agenti_text_view(&p->text);
    agenti_gm_side(b, r, 0);
    agenti_buf_str(b, "{\"functionResponse\":{");
    agenti_gm_id_out(b, agenti_wire_id(p));
    agenti_tool_name_out(b, agenti_gm_name_of(r->before, p));
    if (!agenti_own_content(r, m, p)) {
        agenti_buf_str(b, ",\"response\":{");
        agenti_json_member_str(b, p->flags & AGENT_PART_ERROR ? "error" : "output", text.n ? text : agenti_cstr("(no output)"));
        agenti_buf_str(b, "}");
    }
    agenti_more_out(b, r, m, &p->inner);
    agenti_buf_str(b, "}");
    agenti_more_out(b, r, m, &p->more);
    agenti_buf_str(b, "}");
}
static void agenti_gm_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i;
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        if (m->role == AGENT_USER) agenti_gm_user_part(b, r, m, p);
        else if (m->role == AGENT_TOOLS) agenti_gm_result_out(b, r, m, p);
        else agenti_gm_model_part(b, r, m, p);
    }
}

/* ---- tools ---- */
/* A schema as the provider takes it, a part of OpenAPI's: it refuses a request with a word that is not on its list. Dropped: all words but these
 * and `items`, `properties`, `anyOf`; formats but a few; enums of other things than strings. Rewritten: `oneOf` to anyOf, `const` to an
 * enum, a list of types to anyOf and nullable, a schema true or false to that of a string; an array without items gets them. */
static int agenti_gm_listed(agent_str word, const char *const *list)
{
    for (; *list; list++) if (agenti_eq(word, *list)) return 1;
    return 0;
}
static void agenti_gm_enum_out(agenti_buf *b, agent_str list)
{
    agent_str item;
    size_t pos = 0, n = 0;
    while (agent_json_each(list, &pos, NULL, &item)) {
        if (!agenti_is_string(item) && !agenti_eq(item, "null")) return;
        n += (size_t)agenti_nonempty(item);
    }
    if (n == 0) return;
    agenti_json_key(b, "enum");
    agenti_buf_str(b, "[");
    for (pos = 0; agent_json_each(list, &pos, NULL, &item);) {
        if (!agenti_nonempty(item)) continue;             /* "" is refused                                              */
        agenti_json_comma(b);
        agenti_buf_add(b, item.p, item.n);
    }
    agenti_buf_str(b, "]");
}
static void agenti_gm_types_out(agenti_buf *b, agent_str list)
{
    agent_str item, last = agenti_cstr("\"null\"");
    size_t pos = 0, n = 0, null = 0;
    while (agent_json_each(list, &pos, NULL, &item)) {
        if (agent_json_is(item, "null")) null = 1;
        else if (agenti_is_string(item)) { n++; last = item; }
    }
    if (n < 2) agenti_json_member(b, "type", last);
    else {
        agenti_json_key(b, "anyOf");
        agenti_buf_str(b, "[");
        for (pos = 0; agent_json_each(list, &pos, NULL, &item);) {
            if (!agenti_is_string(item) || agent_json_is(item, "null")) continue;
            agenti_json_comma(b);
            agenti_buf_str(b, "{");
            agenti_json_member(b, "type", item);
            if (agent_json_is(item, "array")) agenti_buf_str(b, ",\"items\":{\"type\":\"string\"}");
            agenti_buf_str(b, "}");
        }
        agenti_buf_str(b, "]");
    }
    if (null && n) agenti_json_member(b, "nullable", agenti_cstr("true"));
}
static void agenti_gm_word_out(agenti_buf *b, agent_str key, agent_str value)
{
    static const char *const kept[] = {
        "title", "description", "nullable", "maxItems", "minItems", "required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern",
        "example", "propertyOrdering", "default", "minimum", "maximum", NULL
    };
    static const char *const formats[] = { "\"enum\"", "\"date-time\"", "\"float\"", "\"double\"", "\"int32\"", "\"int64\"", NULL };
    int is_type = agenti_eq(key, "type");
    if (is_type && agenti_is_array(value)) agenti_gm_types_out(b, value);
    else if (agenti_eq(key, "enum")) agenti_gm_enum_out(b, value);
    else if (agenti_eq(key, "const") && agenti_nonempty(value)) {
        agenti_json_key(b, "enum");
        agenti_buf_str(b, "[");
        agenti_buf_add(b, value.p, value.n);
        agenti_buf_str(b, "]");
    } else if (is_type || agenti_gm_listed(key, kept) || (agenti_eq(key, "format") && agenti_gm_listed(value, formats))) {
        agenti_json_comma(b);
        agenti_buf_add(b, key.p - 1, key.n + 2);
        agenti_buf_str(b, ":");
        agenti_buf_add(b, value.p, value.n);
    }
}
enum { AGENTI_GS_SCHEMA, AGENTI_GS_NAMES, AGENTI_GS_LIST, AGENTI_GS_KIND = 3, AGENTI_GS_ARRAY = 4, AGENTI_GS_ITEMS = 8 };   /* of a level */
/* A member at s.p[*at]. Returns the level that it opens, or -1: it is written or dropped.                               */
static int agenti_gm_member_out(agenti_buf *b, agent_str s, size_t *at, uint8_t *level, int deeper)
{
    agent_str key, value;
    key.n = agenti_json_skip(s.p + *at, s.n - *at) - 2;
    key.p = s.p + *at + 1;
    *at += key.n + 2;
    *at += agenti_json_space(s.p + *at, s.n - *at) + 1;
    *at += agenti_json_space(s.p + *at, s.n - *at);
    value.p = s.p + *at;
    if (*level == AGENTI_GS_NAMES) {
        agenti_json_comma(b);
        agenti_buf_add(b, key.p - 1, key.n + 2);
        agenti_buf_str(b, ":");
        if (deeper && *value.p == '{') return AGENTI_GS_SCHEMA;
        agenti_buf_str(b, "{\"type\":\"string\"}");
    } else if (deeper && *value.p == '{' && (agenti_eq(key, "properties") || agenti_eq(key, "items"))) {
        agenti_json_key(b, agenti_eq(key, "items") ? "items" : "properties");
        if (agenti_eq(key, "properties")) return AGENTI_GS_NAMES;
        *level |= AGENTI_GS_ITEMS;
        return AGENTI_GS_SCHEMA;
    } else if (deeper && *value.p == '[' && (agenti_eq(key, "anyOf") || agenti_eq(key, "oneOf"))) {
        agenti_json_key(b, "anyOf");
        return AGENTI_GS_LIST;
    }
    value.n = agenti_json_skip(value.p, s.n - *at);
    *at += value.n;
    if (*level == AGENTI_GS_NAMES) return -1;
    if (agenti_eq(key, "type") && agent_json_is(value, "array")) *level |= AGENTI_GS_ARRAY;
    agenti_gm_word_out(b, key, value);
    return -1;
}
static void agenti_gm_schema_out(agenti_buf *b, agent_str s)                   /* a checked object                      */
{
    enum { MOST = 64 };
    uint8_t level[MOST];
    size_t at = 0;
    uint32_t depth = 0;
    int opens = AGENTI_GS_SCHEMA;
    AGENTI_TOUCH(s.n);
    at = agenti_json_space(s.p, s.n);
    do {
        char c = s.p[at];
        if (opens >= 0) {
            level[depth++] = (uint8_t)opens;
            agenti_buf_add(b, s.p + at++, 1);
            opens = -1;
        } else if (c == '}' || c == ']') {
            if ((level[--depth] & (AGENTI_GS_ARRAY | AGENTI_GS_ITEMS)) == AGENTI_GS_ARRAY) agenti_buf_str(b, ",\"items\":{\"type\":\"string\"}");
            agenti_buf_add(b, s.p + at++, 1);
        } else if (c == ',') at++;
        else if (level[depth - 1] == AGENTI_GS_LIST) {
            if (c == '{' && depth < MOST) {
                agenti_json_comma(b);
                opens = AGENTI_GS_SCHEMA;
            } else at += agenti_json_skip(s.p + at, s.n - at);
        } else opens = agenti_gm_member_out(b, s, &at, &level[depth - 1], depth < MOST);
        at += agenti_json_space(s.p + at, s.n - at);
    } while (depth && at < s.n);
}
/* Without parameters there is no schema; one that refers to others goes into the member that takes all of JSON Schema.  */
static void agenti_gm_function_out(agenti_buf *b, const agenti_tool *t)
{
    agent_str schema = agenti_text_view(&t->schema), properties = agent_json_get(schema, "properties");
    agenti_json_comma(b);
    if (t->raw.n) { agenti_buf_add(b, t->raw.p, t->raw.n); return; }
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "name", agenti_text_view(&t->name));
    if (t->description.n) agenti_json_member_str(b, "description", agenti_text_view(&t->description));
    if (agenti_find(schema, "\"$ref\"")) agenti_json_member(b, "parametersJsonSchema", schema);
    else if (agenti_is_object(properties) && agenti_trim(agenti_str(properties.p + 1, properties.n - 2)).n) {
        agenti_json_key(b, "parameters");
        agenti_gm_schema_out(b, schema);
    }
    agenti_buf_str(b, "}");
}
static size_t agenti_gm_functions(const agenti_request *r)
{
    size_t i, n = 0;
    for (i = 0; i < r->tool_count; i++) n += !(r->tools[i].flags & AGENT_TF_RAW);
    return n;
}
static void agenti_gm_choice(agenti_buf *b, const agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    int forced = choice.n && !agenti_eq(choice, "auto") && !agenti_eq(choice, "none");
    if (agenti_replaced(r, "toolConfig") || agenti_replaced(r, "tool_config") || (!r->tools_off && (choice.n == 0 || r->choice_off))) return;
    agenti_buf_str(b, ",\"toolConfig\":{\"functionCallingConfig\":{\"mode\":");
    agenti_buf_str(b, r->tools_off || agenti_eq(choice, "none") ? "\"NONE\"" : forced ? "\"ANY\"" : "\"AUTO\"");
    if (!r->tools_off && forced && !agenti_eq(choice, "required")) {
        agenti_buf_str(b, ",\"allowedFunctionNames\":[");
        agenti_json_quote_to(b, choice);
        agenti_buf_str(b, "]");
    }
    agenti_buf_str(b, "}}");
}
/* A choice is refused where there are no functions.                                                                    */
static void agenti_gm_tail(agenti_buf *b, const agenti_request *r)
{
    agenti_request with = *r;
    if (r->note) agenti_gm_text_out(b, &with, agenti_cstr(r->note));
    agenti_buf_str(b, with.state ? "]}]" : "]");
    if (agenti_gm_functions(r) || agenti_replaced(r, "tools")) agenti_gm_choice(b, r);
}
static void agenti_gm_tools_out(agenti_buf *b, const agenti_request *r)
{
    size_t i;
    if (r->tool_count == 0 || agenti_replaced(r, "tools")) return;
    agenti_buf_str(b, ",\"tools\":[");
    if (agenti_gm_functions(r)) {
        agenti_buf_str(b, "{\"functionDeclarations\":[");
        for (i = 0; i < r->tool_count; i++) if (!(r->tools[i].flags & AGENT_TF_RAW)) agenti_gm_function_out(b, &r->tools[i]);
        agenti_buf_str(b, "]}");
    }
    for (i = 0; i < r->tool_count; i++) {
        if (!(r->tools[i].flags & AGENT_TF_RAW)) continue;
        agenti_json_comma(b);
        agenti_buf_add(b, r->tools[i].schema.p, r->tools[i].schema.n);
    }
    agenti_buf_str(b, "]");
}
static const char *const agenti_gm_none[] = { NULL };        /* whose thought a text is may stand behind it: no cuts     */
static const agenti_wire agenti_gemini_wire = {
    "gemini", "/models/{model}:streamGenerateContent?alt=sse", "/models/{model}:generateContent", AGENTI_FRAMING_ARRAY, NULL, NULL,
    AGENTI_BIT(AGENTI_OPT_PARALLEL) | AGENTI_BIT(AGENTI_OPT_TIER) | AGENTI_BIT(AGENTI_OPT_CACHE_KEY) | AGENTI_BIT(AGENTI_OPT_USER)
        | AGENTI_BIT(AGENTI_LEFT_STRICT),
    agenti_gm_head, agenti_gm_system, agenti_gm_message_out, agenti_gm_tail, agenti_gm_tools_out, agenti_extra_out, agenti_gm_event,
    agenti_gm_whole, NULL,
    { agenti_gm_none, agenti_gm_none, agenti_gm_none, 0, agenti_gm_none }, { agenti_gm_none, agenti_gm_none, agenti_gm_none, 0, agenti_gm_none },
    agenti_gemini_import, NULL
};
AGENTI_FN const agenti_wire *agenti_gemini(void) { return &agenti_gemini_wire; }
#endif
#endif

/* ==== wire_gemini_interactions.c: Gemini Interactions ============================================================= */
/* Gemini Interactions: https://ai.google.dev/api/interactions-api as of revision 2026-05-20. An answer is a list of steps, told apart by their
 * index. Nothing is stored at the provider unless the host says so: each request has the whole conversation, thoughts with their signatures. */
#ifndef AGENT_NO_GEMINI_INTERACTIONS
AGENTI_FN const agenti_wire *agenti_gemini_interactions(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_GEMINI_INTERACTIONS
/* ---- answers ---- */
/* agenti_lane.kind. A lane is an open step; named: its part was begun. id: a step of another kind, as it began; more: what came to it. */
enum { AGENTI_IS_NONE, AGENTI_IS_TEXT, AGENTI_IS_THOUGHT, AGENTI_IS_CALL, AGENTI_IS_OTHER };
enum { AGENTI_IE_TYPE, AGENTI_IE_INDEX, AGENTI_IE_STEP, AGENTI_IE_DELTA, AGENTI_IE_INTERACTION, AGENTI_IE_STATUS, AGENTI_IE_ERROR, AGENTI_IE_FIELDS };
static const agenti_field agenti_gi_event_rows[AGENTI_IE_FIELDS] = {
    { "event_type", -1 }, { "index", -1 }, { "step", -1 }, { "delta", -1 }, { "interaction", -1 }, { "status", -1 }, { "error", -1 }
};
enum { AGENTI_IK_TYPE, AGENTI_IK_ID, AGENTI_IK_NAME, AGENTI_IK_ARGS, AGENTI_IK_SIGNATURE, AGENTI_IK_SUMMARY, AGENTI_IK_CONTENT, AGENTI_IK_TEXT,
       AGENTI_IK_FIELDS };
static const agenti_field agenti_gi_step_rows[AGENTI_IK_FIELDS] = {           /* of a step, and of a delta              */
    { "type", -1 }, { "id", -1 }, { "name", -1 }, { "arguments", -1 }, { "signature", -1 }, { "summary", -1 }, { "content", -1 }, { "text", -1 }
};
enum { AGENTI_II_ID, AGENTI_II_MODEL, AGENTI_II_STATUS, AGENTI_II_USAGE, AGENTI_II_STEPS, AGENTI_II_ERROR, AGENTI_II_FIELDS };
static const agenti_field agenti_gi_interaction_rows[AGENTI_II_FIELDS] = {
    { "id", -1 }, { "model", -1 }, { "status", -1 }, { "usage", -1 }, { "steps", -1 }, { "error", -1 }
};

static int64_t agenti_gi_sum(agent_str a, agent_str b)        /* -1: neither is known                                   */
{
    int64_t x = -1, y = -1;
    if (a.n) (void)agenti_count(a, &x);
    if (b.n) (void)agenti_count(b, &y);
    if (x < 0 || y < 0) return x < 0 ? y : x;
    return x > INT64_MAX - y ? INT64_MAX : x + y;
}
/* What tools use of the prompt is input, thoughts are output; both are counted beside.                                 */
static void agenti_gi_usage(agenti_decoder *d, agent_str usage)
{
    enum { INPUT, TOOLS, CACHED, OUTPUT, THOUGHTS, FIELDS };
    static const agenti_field rows[FIELDS] = {
        { "total_input_tokens", -1 }, { "total_tool_use_tokens", -1 }, { "total_cached_tokens", -1 }, { "total_output_tokens", -1 },
        { "total_thought_tokens", -1 }
    };
    agent_str f[FIELDS], none = agenti_str(NULL, 0);
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, rows, FIELDS, f);
    d->usage.input = agenti_gi_sum(f[INPUT], f[TOOLS]);
    d->usage.cached = agenti_gi_sum(f[CACHED], none);
    d->usage.output = agenti_gi_sum(f[OUTPUT], f[THOUGHTS]);
    d->usage.reasoning = agenti_gi_sum(f[THOUGHTS], none);
    d->has_usage = 1;
}
static int agenti_gi_finish(agenti_decoder *d, agent_str status)
{
    static const struct { const char *word; int finish; } rows[] = {
        { "completed", AGENT_FINISH_STOP }, { "requires_action", AGENT_FINISH_TOOLS }, { "incomplete", AGENT_FINISH_LENGTH },
        { "failed", AGENT_FINISH_ERROR }
    };
    agent_str raw;
    size_t i;
    int finish = AGENT_FINISH_OTHER;
    if (!agenti_nonempty(status) || agent_json_is(status, "in_progress")) return 1;
    if (!agenti_string_of(d, status, &raw)) return 0;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (agenti_eq(raw, rows[i].word)) finish = rows[i].finish;
    agenti_finish_set(d, finish, raw);
    return 1;
}

/* ---- steps ---- */
/* A string as an op, begun by an empty one if `opens`.                                                                 */
static int agenti_gi_add(agenti_decoder *d, agenti_lane *l, int kind, agent_str value, int opens)
{
    agenti_op *op;
    agent_str text = agenti_str(NULL, 0);
    if (agenti_nonempty(value)) {
        if (!agenti_json_string(value, &l->high, &d->arena, &text)) return 0;
    } else if (!opens) return 1;
    if ((op = agenti_op_add(d, kind, l->key)) == NULL) return 0;
    op->a = text;
    l->named = 1;
    return 1;
}
static int agenti_gi_signature(agenti_decoder *d, agenti_lane *l, agent_str value)
{
    agenti_op *op;
    if (!agenti_nonempty(value)) return 1;
    if (!l->named && !agenti_gi_add(d, l, AGENTI_OP_REASONING, agenti_str(NULL, 0), 1)) return 0;
    if ((op = agenti_op_add(d, AGENTI_OP_DATA, l->key)) == NULL) return 0;
    op->flags = l->kind == AGENTI_IS_CALL ? AGENTI_DATA_CALL : 0;
    return agenti_string_of(d, value, &op->a);
}
/* Ends the text of a step; it may go on as another part.                                                               */
static int agenti_gi_text_end(agenti_decoder *d, agenti_lane *l)
{
    agenti_op *op;
    if (l->named && l->high) {                /* the other half of a pair never came                                    */
        l->high = 0;
        if ((op = agenti_op_add(d, l->kind == AGENTI_IS_TEXT ? AGENTI_OP_TEXT : AGENTI_OP_REASONING, l->key)) == NULL) return 0;
        op->a = agenti_cstr("\xEF\xBF\xBD");
    }
    if (l->named && agenti_op_add(d, AGENTI_OP_END, l->key) == NULL) return 0;
    l->key = ++d->streams;
    l->named = 0;
    return 1;
}
enum { AGENTI_IC_TYPE, AGENTI_IC_TEXT, AGENTI_IC_ANNOTATIONS, AGENTI_IC_DATA, AGENTI_IC_MIME, AGENTI_IC_URI, AGENTI_IC_FIELDS };
static const agenti_field agenti_gi_content_rows[AGENTI_IC_FIELDS] = {
    { "type", -1 }, { "text", -1 }, { "annotations", -1 }, { "data", -1 }, { "mime_type", -1 }, { "uri", -1 }
};
static int agenti_gi_file(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    int kind = agent_json_is(f[AGENTI_IC_TYPE], "image") ? AGENT_PART_IMAGE : agent_json_is(f[AGENTI_IC_TYPE], "audio") ? AGENT_PART_AUDIO : AGENT_PART_FILE;
    agent_str mime;
    char *type;                               /* in the arena: the op views it                                          */
    if (!agenti_gi_text_end(d, l)) return 0;
    if (!agenti_nonempty(f[AGENTI_IC_DATA])) return agenti_file_add(d, kind, f[AGENTI_IC_URI], NULL);
    if (!agenti_string_of(d, f[AGENTI_IC_MIME], &mime)) return 0;
    if (mime.n == 0) mime = agenti_cstr(kind == AGENT_PART_IMAGE ? "image/png" : kind == AGENT_PART_AUDIO ? "audio/wav" : "application/octet-stream");
    if ((type = agenti_arena_get(&d->arena, mime.n + 1)) == NULL) return 0;
    memcpy(type, mime.p, mime.n);
    type[mime.n] = 0;
    return agenti_file_add(d, kind, f[AGENTI_IC_DATA], type);
}
static int agenti_gi_pages(agenti_decoder *d, agent_str list)            /* objects with a URL                          */
{
    agent_str item;
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &item))
        if (agenti_is_object(item) && !agenti_source_add(d, agent_json_get(item, "url"), agent_json_get(item, "title"))) return 0;
    return 1;
}
/* A piece of what the model says: text, which has sources, or a file.                                                  */
static AGENTI_NOINLINE int agenti_gi_content(agenti_decoder *d, agenti_lane *l, agent_str content)
{
    agent_str f[AGENTI_IC_FIELDS];
    agenti_json_pick(content, agenti_gi_content_rows, AGENTI_IC_FIELDS, f);
    if (!agenti_gi_add(d, l, AGENTI_OP_TEXT, f[AGENTI_IC_TEXT], 0) || !agenti_gi_pages(d, f[AGENTI_IC_ANNOTATIONS])) return 0;
    return (!agenti_nonempty(f[AGENTI_IC_DATA]) && !agenti_nonempty(f[AGENTI_IC_URI])) || agenti_gi_file(d, l, f);
}
/* A list of contents, or of the summaries of a thought.                                                                */
static int agenti_gi_contents(agenti_decoder *d, agenti_lane *l, agent_str list)
{
    agent_str item;
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &item)) {
        if (!agenti_is_object(item)) continue;
        if (l->kind == AGENTI_IS_TEXT ? !agenti_gi_content(d, l, item) : !agenti_gi_add(d, l, AGENTI_OP_REASONING, agent_json_get(item, "text"), 0)) return 0;
    }
    return 1;
}
/* The object that a stream begins a call with is empty, and deltas bring a string (G15); else arguments come whole.     */
static int agenti_gi_args(agenti_decoder *d, agenti_lane *l, agent_str args)
{
    agenti_op *op;
    if (l->whole) return 1;
    if (!agenti_is_object(args)) return agenti_gi_add(d, l, AGENTI_OP_ARGS, args, 0);
    if (agenti_trim(agenti_str(args.p + 1, args.n - 2)).n == 0) return 1;
    l->whole = 1;
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, l->key)) == NULL) return 0;
    return agenti_raw_of(d, args, &op->a);
}
static int agenti_gi_call_start(agenti_decoder *d, agenti_lane *l, const agent_str *f)
{
    agenti_op *op;
    agent_str id, name;
    l->kind = AGENTI_IS_CALL;
    l->call = l->named = 1;
    if (!agenti_string_of(d, f[AGENTI_IK_ID], &id) || !agenti_string_of(d, f[AGENTI_IK_NAME], &name)) return 0;
    if ((op = agenti_op_add(d, AGENTI_OP_CALL, l->key)) == NULL) return 0;
    op->a = id;
    op->b = name;
    return agenti_gi_args(d, l, f[AGENTI_IK_ARGS]) && agenti_gi_signature(d, l, f[AGENTI_IK_SIGNATURE]);
}
/* Steps of other kinds are kept as they come: what a delta brings are members of the step.                             */
static int agenti_gi_more(agenti_decoder *d, agenti_lane *l, agent_str delta)
{
    agent_str key, value, raw;
    size_t pos = 0;
    if (!agenti_raw_of(d, delta, &raw)) return 0;
    while (agent_json_each(raw, &pos, &key, &value)) {
        if (agenti_eq(key, "type")) continue;
        if (!agenti_text_add(&l->more, d->pool, d->graves, agenti_cstr(",")) || !agenti_text_add(&l->more, d->pool, d->graves, agenti_str(key.p - 1, key.n + 2))
            || !agenti_text_add(&l->more, d->pool, d->graves, agenti_cstr(":")) || !agenti_text_add(&l->more, d->pool, d->graves, value)) return 0;
    }
    return 1;
}
static int agenti_gi_is_empty(agent_str v) { return agenti_eq(v, "\"\"") || agenti_eq(v, "{}") || agenti_eq(v, "[]") || agenti_eq(v, "null"); }
/* The step with what came to it; members that it began with empty give way.                                            */
static int agenti_gi_joined(agenti_decoder *d, const agenti_lane *l, agent_str *out)
{
    agent_str step = agenti_text_view(&l->id), key, value;
    size_t pos = 0, n = 0;
    char *p = agenti_arena_get(&d->arena, step.n + l->more.n + 1);       /* each member with the comma before it          */
    if (p == NULL) return 0;
    while (agent_json_each(step, &pos, &key, &value)) {
        if (l->more.n && agenti_gi_is_empty(value)) continue;
        p[n++] = ',';
        memcpy(p + n, key.p - 1, key.n + 2);
        n += key.n + 2;
        p[n++] = ':';
        memcpy(p + n, value.p, value.n);
        n += value.n;
    }
    if (l->more.n) memcpy(p + n, l->more.p, l->more.n);
    n += l->more.n;
    AGENTI_TOUCH(n);
    p[0] = '{';                               /* in the place of the first comma: a step has a type                     */
    p[n++] = '}';
    *out = agenti_str(p, n);
    return 1;
}
static int agenti_gi_ends(agent_str *type, const char *with)                     /* and takes it off                    */
{
    size_t n = strlen(with);
    if (type->n <= n || memcmp(type->p + type->n - n, with, n) != 0) return 0;
    type->n -= n;
    return 1;
}
static int agenti_gi_kept(agenti_decoder *d, agenti_lane *l)
{
    agent_str step, type, name;
    agenti_op *op = agenti_op_add(d, AGENTI_OP_RAW, 0);
    int result = 0;
    if (op == NULL || !agenti_gi_joined(d, l, &op->a) || !agenti_string_of(d, agent_json_get(op->a, "type"), &op->b)) return 0;
    step = op->a;
    type = op->b;
    if (!agenti_gi_ends(&type, "_call") && !(result = agenti_gi_ends(&type, "_result"))) return 1;
    op->flags = AGENTI_RAW_QUIET;
    if ((op = agenti_op_add(d, result ? AGENTI_OP_RESULT : AGENTI_OP_RAN, 0)) == NULL) return 0;
    op->b = type;
    name = agent_json_get(step, "name");
    op->c = agent_json_get(step, result ? "result" : "arguments");
    if (op->c.n == 0) op->c = agenti_cstr("{}");
    if (result && agenti_eq(agent_json_get(step, "is_error"), "true")) op->flags = AGENT_PART_ERROR;
    if (!agenti_string_of(d, agent_json_get(step, result ? "call_id" : "id"), &op->a)) return 0;
    if (agenti_nonempty(name) && !agenti_string_of(d, name, &op->b)) return 0;
    return !result || agenti_gi_pages(d, op->c);
}
static int agenti_gi_step_stop(agenti_decoder *d, agenti_lane *l)
{
    agenti_op *op;
    int ok = 1;
    if (l == NULL) return 1;
    if (l->kind == AGENTI_IS_OTHER) ok = agenti_gi_kept(d, l);
    else if (l->kind == AGENTI_IS_TEXT || l->kind == AGENTI_IS_THOUGHT) ok = agenti_gi_text_end(d, l);
    else if (l->kind == AGENTI_IS_CALL && l->high) {
        op = agenti_op_add(d, AGENTI_OP_ARGS, l->key);
        if (op) op->a = agenti_cstr("\xEF\xBF\xBD");
        ok = op != NULL;
    }
    agenti_lane_forget(d, l);
    return ok;
}
static AGENTI_NOINLINE int agenti_gi_step_start(agenti_decoder *d, agent_str step, agent_str index)
{
    agent_str f[AGENTI_IK_FIELDS], raw;
    agenti_lane *l = agenti_lane_at(d, index);
    int64_t n;
    if (l && !agenti_gi_step_stop(d, l)) return 0;           /* its end was lost                                        */
    if (d->lane_n >= d->call_limit) return agenti_too_many(d);
    if ((l = agenti_lane_new(d)) == NULL) return 0;
    l->key = ++d->streams;
    if (index.n && agenti_int(index, &n)) { l->has_index = 1; l->index = n; }
    agenti_json_pick(step, agenti_gi_step_rows, AGENTI_IK_FIELDS, f);
    if (agent_json_is(f[AGENTI_IK_TYPE], "function_call")) return agenti_gi_call_start(d, l, f);
    if (agent_json_is(f[AGENTI_IK_TYPE], "thought")) {
        l->kind = AGENTI_IS_THOUGHT;
        return agenti_gi_contents(d, l, f[AGENTI_IK_SUMMARY]) && agenti_gi_signature(d, l, f[AGENTI_IK_SIGNATURE]);
    }
    if (agent_json_is(f[AGENTI_IK_TYPE], "model_output")) {
        l->kind = AGENTI_IS_TEXT;
        return agenti_gi_contents(d, l, f[AGENTI_IK_CONTENT]);
    }
    if (!agenti_nonempty(f[AGENTI_IK_TYPE]) || agent_json_is(f[AGENTI_IK_TYPE], "user_input")
        || agent_json_is(f[AGENTI_IK_TYPE], "function_result")) return 1;       /* what was sent                         */
    l->kind = AGENTI_IS_OTHER;
    return agenti_raw_of(d, step, &raw) && agenti_text_set(&l->id, d->pool, d->graves, raw);
}
static AGENTI_NOINLINE int agenti_gi_step_delta(agenti_decoder *d, agent_str delta, agent_str index)
{
    agent_str f[AGENTI_IK_FIELDS];
    agenti_lane *l = agenti_lane_at(d, index);
    if (l == NULL || l->kind == AGENTI_IS_NONE || !agenti_is_object(delta)) return 1;
    if (l->kind == AGENTI_IS_TEXT) return agenti_gi_content(d, l, delta);
    if (l->kind == AGENTI_IS_OTHER) return agenti_gi_more(d, l, delta);
    agenti_json_pick(delta, agenti_gi_step_rows, AGENTI_IK_FIELDS, f);
    if (l->kind == AGENTI_IS_CALL) return agenti_gi_args(d, l, f[AGENTI_IK_ARGS]) && agenti_gi_signature(d, l, f[AGENTI_IK_SIGNATURE]);
    if (agenti_is_object(f[AGENTI_IK_CONTENT])) f[AGENTI_IK_TEXT] = agent_json_get(f[AGENTI_IK_CONTENT], "text");
    return agenti_gi_add(d, l, AGENTI_OP_REASONING, f[AGENTI_IK_TEXT], 0) && agenti_gi_signature(d, l, f[AGENTI_IK_SIGNATURE]);
}
static int agenti_gi_steps(agenti_decoder *d, agent_str list)        /* steps that came whole                           */
{
    agent_str step;
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &step)) {
        if (!agenti_is_object(step)) continue;
        if (!agenti_gi_step_start(d, step, agenti_str(NULL, 0))) return 0;
        if (d->fault.fault) return 1;
        if (!agenti_gi_step_stop(d, &d->lanes[d->lane_n - 1])) return 0;
    }
    return 1;
}

/* ---- the interaction ---- */
/* Without storage it has the id "" (G15). *known: it is one.                                                           */
static AGENTI_NOINLINE int agenti_gi_interaction(agenti_decoder *d, agent_str json, int whole, int *known)
{
    agent_str f[AGENTI_II_FIELDS], id;
    agenti_json_pick(json, agenti_gi_interaction_rows, AGENTI_II_FIELDS, f);
    *known = f[AGENTI_II_STATUS].n || f[AGENTI_II_STEPS].n;
    if (!agenti_model_set(d, f[AGENTI_II_MODEL]) || !agenti_string_of(d, f[AGENTI_II_ID], &id)) return 0;
    if (id.n && d->id.n == 0 && !agenti_text_set(&d->id, d->pool, d->graves, id)) return 0;
    agenti_gi_usage(d, f[AGENTI_II_USAGE]);
    if (whole && !agenti_gi_steps(d, f[AGENTI_II_STEPS])) return 0;
    if (agenti_is_object(f[AGENTI_II_ERROR])) { *known = 1; agenti_fault_object(d, json, 0); return 1; }
    return agenti_gi_finish(d, f[AGENTI_II_STATUS]);
}
static AGENTI_NOINLINE int agenti_gi_object(agenti_decoder *d, agent_str json)
{
    agent_str f[AGENTI_IE_FIELDS], type;
    int known;
    agenti_json_pick(json, agenti_gi_event_rows, AGENTI_IE_FIELDS, f);
    type = f[AGENTI_IE_TYPE];
    if (agent_json_is(type, "step.delta") || (type.n == 0 && f[AGENTI_IE_DELTA].n))      /* its type may come after a cut */
        return agenti_gi_step_delta(d, f[AGENTI_IE_DELTA], f[AGENTI_IE_INDEX]);
    if (agent_json_is(type, "step.start")) return !agenti_is_object(f[AGENTI_IE_STEP]) || agenti_gi_step_start(d, f[AGENTI_IE_STEP], f[AGENTI_IE_INDEX]);
    if (agent_json_is(type, "step.stop")) return agenti_gi_step_stop(d, agenti_lane_at(d, f[AGENTI_IE_INDEX]));
    if (agent_json_is(type, "error") || agenti_is_object(f[AGENTI_IE_ERROR])) { agenti_fault_object(d, json, 0); return 1; }
    if (agenti_is_object(f[AGENTI_IE_INTERACTION])) {
        if (!agenti_gi_interaction(d, f[AGENTI_IE_INTERACTION], 0, &known)) return 0;
        if (d->finish != AGENT_FINISH_NONE && !agent_json_is(type, "interaction.created")) d->done = 1;
        return 1;
    }
    return agenti_gi_finish(d, f[AGENTI_IE_STATUS]);          /* interaction.status_update                              */
}
static int agenti_gi_event(agenti_decoder *d, agent_str event, agent_str data)
{
    data = agenti_trim(data);
    if (data.n == 0 || data.p[0] == ':') return 1;
    if (agenti_eq(data, "[DONE]")) { d->done = 1; return 1; }
    if (agenti_is_object(data) && agent_json_check(data.p, data.n, d->depth_limit, NULL) == AGENT_OK) {
        if (!agenti_eq(event, "error")) return agenti_gi_object(d, data);
        agenti_fault_object(d, data, 0);
    } else if (agenti_eq(event, "error")) agenti_fault_set(d, AGENT_FAULT_SERVER, 1, "", data);
    else return agenti_payload_bad(d);
    return 1;
}
static int agenti_gi_whole(agenti_decoder *d, agent_str body)
{
    int known = 0;
    if (agenti_is_object(body) && !agenti_gi_interaction(d, body, 1, &known)) return 0;
    if (!known) agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr("the answer is no interaction"));
    d->done = 1;
    return 1;
}

/* ---- requests ---- */
static size_t agenti_gi_functions(const agenti_request *r)
{
    size_t i, n = 0;
    for (i = 0; i < r->tool_count; i++) n += !(r->tools[i].flags & AGENT_TF_RAW);
    return n;
}
/* A choice is refused where there are no functions.                                                                    */
static void agenti_gi_choice(agenti_buf *b, const agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    if (agenti_gi_functions(r) == 0 && !agenti_replaced(r, "tools")) return;
    if (r->tools_off) agenti_json_member_str(b, "tool_choice", agenti_cstr("none"));
    else if (choice.n == 0 || r->choice_off) return;
    else if (agenti_eq(choice, "required")) agenti_json_member_str(b, "tool_choice", agenti_cstr("any"));
    else if (agenti_eq(choice, "auto") || agenti_eq(choice, "none")) agenti_json_member_str(b, "tool_choice", choice);
    else {
        agenti_json_key(b, "tool_choice");
        agenti_buf_str(b, "{\"allowed_tools\":{\"mode\":\"any\",\"tools\":[");
        agenti_json_quote_to(b, choice);
        agenti_buf_str(b, "]}}");
    }
}
static void agenti_gi_config_out(agenti_buf *b, const agenti_request *r)
{
    static const char *const words[] = { "minimal", "minimal", "low", "medium", "high", "high" };        /* it cannot be off */
    static const struct { const char *key; int option; } rows[] = {
        { "max_output_tokens", AGENTI_OPT_MAX_TOKENS }, { "temperature", AGENTI_OPT_TEMPERATURE }, { "top_p", AGENTI_OPT_TOP_P },
        { "seed", AGENTI_OPT_SEED }
    };
    size_t start = b->n, empty, i;
    if (agenti_replaced(r, "generation_config")) return;
    agenti_json_key(b, "generation_config");
    agenti_buf_str(b, "{");
    empty = b->n;
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        if (r->options[rows[i].option].n) agenti_json_member(b, rows[i].key, agenti_text_view(&r->options[rows[i].option]));
    agenti_stops_out(b, r, "stop_sequences");
    if (r->options[AGENTI_OPT_EFFORT].n) {
        agenti_json_member_str(b, "thinking_level", agenti_effort(r, words));
        agenti_json_member_str(b, "thinking_summaries", agenti_cstr("auto"));
    }
    agenti_gi_choice(b, r);
    if (b->n == empty) b->n = start; else agenti_buf_str(b, "}");
}
static void agenti_gi_head(agenti_buf *b, agenti_request *r)
{
    agent_str system = agenti_text_view(&r->options[AGENTI_OPT_SYSTEM]);
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "model") && !agenti_replaced(r, "agent"))
        agenti_json_member_str(b, "model", agenti_text_view(&r->options[AGENTI_OPT_MODEL]));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    if (!agenti_replaced(r, "store")) agenti_json_member(b, "store", agenti_cstr(r->stateful ? "true" : "false"));
    if (r->previous.n) agenti_json_member_str(b, "previous_interaction_id", r->previous);
    if (system.n && !agenti_replaced(r, "system_instruction")) agenti_json_member_str(b, "system_instruction", system);
    agenti_gi_config_out(b, r);
    if (agenti_format_schema(r).n && !agenti_replaced(r, "response_format")) {
        agenti_buf_str(b, ",\"response_format\":{\"type\":\"text\",\"mime_type\":\"application/json\"");
        agenti_json_member(b, "schema", agenti_format_schema(r));
        agenti_buf_str(b, "}");
    } else if (r->options[AGENTI_OPT_FORMAT].n) agenti_json_member(b, "response_format", agenti_cstr("{\"type\":\"text\",\"mime_type\":\"application/json\"}"));
    agenti_json_key(b, "input");
    agenti_buf_str(b, "[");
}
/* Contents of one side go into one step. r->state: 0 none, 1 and 2 a step of the user's or the model's contents is open, 3 none is open. */
enum { AGENTI_GI_USER = 1, AGENTI_GI_MODEL, AGENTI_GI_STEP };
static void agenti_gi_open(agenti_buf *b, agenti_request *r, int what)
{
    int same = r->state == what && what != AGENTI_GI_STEP;
    if (!same && (r->state == AGENTI_GI_USER || r->state == AGENTI_GI_MODEL)) agenti_buf_str(b, "]}");
    if (r->state) agenti_buf_str(b, ",");
    if (!same && what == AGENTI_GI_USER) agenti_buf_str(b, "{\"type\":\"user_input\",\"content\":[");
    if (!same && what == AGENTI_GI_MODEL) agenti_buf_str(b, "{\"type\":\"model_output\",\"content\":[");
    r->state = what;
}
static void agenti_gi_text_out(agenti_buf *b, agenti_request *r, int what, agent_str text)
{
    if (text.n == 0) return;
    agenti_gi_open(b, r, what);
    agenti_buf_str(b, "{\"type\":\"text\"");
    agenti_json_member_str(b, "text", text);
    agenti_buf_str(b, "}");
}
/* The type of a file's content; NULL: it is not taken. Five types of images, sound, video and PDFs; by URI whatever it is. */
static const char *agenti_gi_media(const agenti_part *p)
{
    static const char *const images[] = { "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif" };
    agent_str mime = agenti_text_view(&p->mime);
    size_t i;
    if (p->kind == AGENT_PART_AUDIO) return "audio";
    if (mime.n > 6 && agenti_ieq(agenti_str(mime.p, 6), "video/")) return "video";
    if (p->kind == AGENT_PART_FILE) return p->uri.n || agenti_ieq(mime, "application/pdf") ? "document" : NULL;
    for (i = 0; i < sizeof images / sizeof *images; i++) if (agenti_ieq(mime, images[i])) return "image";
    return p->uri.n ? "image" : NULL;
}
static void agenti_gi_media_out(agenti_buf *b, agenti_request *r, int what, const agenti_part *p)
{
    const char *type = agenti_gi_media(p);
    agenti_gi_open(b, r, what);
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "type", agenti_cstr(type ? type : "text"));
    if (type == NULL) {
        agenti_json_key(b, "text");
        agenti_media_left_out(b, r, p);
    } else {
        if (p->mime.n) agenti_json_member_str(b, "mime_type", agenti_text_view(&p->mime));
        agenti_json_member_str(b, p->uri.n ? "uri" : "data", agenti_text_view(p->uri.n ? &p->uri : &p->text));
    }
    agenti_buf_str(b, "}");
}
static void agenti_gi_user_part(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    int plain = p->kind == AGENT_PART_TEXT || (p->kind == AGENT_PART_FILE && p->text.n && !(p->flags & AGENT_PART_BASE64));
    if (plain) agenti_gi_text_out(b, r, AGENTI_GI_USER, agenti_text_view(&p->text));
    else agenti_gi_media_out(b, r, AGENTI_GI_USER, p);
}
static void agenti_gi_thought_out(agenti_buf *b, const agenti_part *p)
{
    agenti_buf_str(b, "{\"type\":\"thought\"");
    agenti_json_member_str(b, "signature", agenti_text_view(&p->data));
    if (p->text.n) {
        agenti_buf_str(b, ",\"summary\":[{\"type\":\"text\"");
        agenti_json_member_str(b, "text", agenti_text_view(&p->text));
        agenti_buf_str(b, "}]");
    }
    agenti_buf_str(b, "}");
}
static void agenti_gi_call_out(agenti_buf *b, const agenti_part *p, int same)
{
    int usable = p->text.n && !(p->flags & AGENT_PART_INVALID);
    agenti_buf_str(b, "{\"type\":\"function_call\"");
    agenti_json_member_str(b, "id", agenti_wire_id(p));
    agenti_tool_name_out(b, agenti_text_view(&p->name));
    agenti_json_member(b, "arguments", usable ? agenti_text_view(&p->text) : agenti_cstr("{}"));
    if (same && p->data.n) agenti_json_member_str(b, "signature", agenti_text_view(&p->data));
    agenti_buf_str(b, "}");
}
static void agenti_gi_model_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int same = m->model == r->model, keeps = p->kind == AGENT_PART_REASONING || p->kind == AGENT_PART_OTHER;
    if (keeps && (!same || (p->flags & AGENT_PART_CUT))) {
        if (!same) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING);
        return;
    }
    if (p->kind == AGENT_PART_TEXT) { agenti_gi_text_out(b, r, AGENTI_GI_MODEL, agenti_text_view(&p->text)); return; }
    if (agenti_is_media(p->kind)) {
        if (agenti_gi_media(p)) agenti_gi_media_out(b, r, AGENTI_GI_MODEL, p);
        return;
    }
    if (p->kind == AGENT_PART_REASONING && p->data.n == 0) return;         /* unsigned thoughts are nothing to the model  */
    agenti_gi_open(b, r, AGENTI_GI_STEP);
    if (p->kind == AGENT_PART_OTHER) agenti_buf_add(b, p->text.p, p->text.n);
    else if (p->kind == AGENT_PART_REASONING) agenti_gi_thought_out(b, p);
    else agenti_gi_call_out(b, p, same);
}
static void agenti_gi_result_out(agenti_buf *b, agenti_request *r, const agenti_part *p, uint32_t *at)
{
    agent_str text = agenti_text_view(&p->text), name = agenti_result_name(r, p, at);
    agenti_gi_open(b, r, AGENTI_GI_STEP);
    agenti_buf_str(b, "{\"type\":\"function_result\"");
    agenti_json_member_str(b, "call_id", agenti_wire_id(p));
    if (name.n) agenti_tool_name_out(b, name);
    agenti_json_member_str(b, "result", text.n ? text : agenti_cstr("(no output)"));
    if (p->flags & AGENT_PART_ERROR) agenti_buf_str(b, ",\"is_error\":true");
    agenti_buf_str(b, "}");
}
static void agenti_gi_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, at = 0;
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        if (m->role == AGENT_USER) agenti_gi_user_part(b, r, p);
        else if (m->role == AGENT_TOOLS) agenti_gi_result_out(b, r, p, &at);
        else agenti_gi_model_part(b, r, m, p);
    }
}
static void agenti_gi_tail(agenti_buf *b, const agenti_request *r)
{
    agenti_request with = *r;
    if (r->note) agenti_gi_text_out(b, &with, AGENTI_GI_USER, agenti_cstr(r->note));
    agenti_buf_str(b, with.state == AGENTI_GI_USER || with.state == AGENTI_GI_MODEL ? "]}]" : "]");
}
static void agenti_gi_tools_out(agenti_buf *b, const agenti_request *r)
{
    agenti_tools_list(b, r, "{\"type\":\"function\"", "parameters", "}", "}");
}
static const char *const agenti_gi_parts[] = { "text", NULL };
static const char *const agenti_gi_routing[] = { "event_type", "type", "index", NULL };
static const char *const agenti_gi_owner[] = { "index", NULL };
static const char *const agenti_gi_held[] = { "step", "interaction", "arguments", "result", "annotations", NULL };       /* read as they are  */
static const char *const agenti_gi_none[] = { NULL };
static const agenti_wire agenti_gemini_interactions_wire = {
    "gemini-interactions", "/interactions", NULL, AGENTI_FRAMING_SSE, "api-revision", "2026-05-20",
    AGENTI_BIT(AGENTI_OPT_FREQUENCY) | AGENTI_BIT(AGENTI_OPT_PRESENCE) | AGENTI_BIT(AGENTI_OPT_PARALLEL) | AGENTI_BIT(AGENTI_OPT_THINKING)
        | AGENTI_BIT(AGENTI_OPT_TIER) | AGENTI_BIT(AGENTI_OPT_CACHE_KEY) | AGENTI_BIT(AGENTI_OPT_TOP_K) | AGENTI_BIT(AGENTI_OPT_USER)
        | AGENTI_BIT(AGENTI_LEFT_STRICT),
    agenti_gi_head, NULL, agenti_gi_message_out, agenti_gi_tail, agenti_gi_tools_out, agenti_extra_out, agenti_gi_event, agenti_gi_whole, NULL,
    { agenti_gi_parts, agenti_gi_routing, agenti_gi_owner, 1, agenti_gi_held },
    { agenti_gi_none, agenti_gi_none, agenti_gi_none, 0, agenti_gi_none },
    NULL, "previous_interaction_id"
};
AGENTI_FN const agenti_wire *agenti_gemini_interactions(void) { return &agenti_gemini_interactions_wire; }
#endif
#endif

/* ==== wire_bedrock_converse.c: Bedrock Converse =================================================================== */
/* Bedrock Converse: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html and API_runtime_Converse.
 * Blocks are told apart by their index and by what is in them: only calls are started, texts and thoughts begin with their first delta.
 * Redacted thoughts, and what the provider runs itself, go back as they came. */
#ifndef AGENT_NO_BEDROCK
AGENTI_FN const agenti_wire *agenti_bedrock_converse(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_BEDROCK_CONVERSE
/* What images and documents are called here; images stand first.                                                       */
enum { AGENTI_BC_IMAGES = 4, AGENTI_BC_TXT = 11, AGENTI_BC_FORMATS = 13 };
static const struct { const char *format, *mime; } agenti_bc_formats[AGENTI_BC_FORMATS] = {
    { "png", "image/png" }, { "jpeg", "image/jpeg" }, { "gif", "image/gif" }, { "webp", "image/webp" },
    { "pdf", "application/pdf" }, { "csv", "text/csv" }, { "doc", "application/msword" }, { "xls", "application/vnd.ms-excel" },
    { "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document" },
    { "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" },
    { "html", "text/html" }, { "txt", "text/plain" }, { "md", "text/markdown" }
};

/* ---- answers ---- */
/* agenti_lane.kind: a lane is an open block. id: its start as it came; more: what deltas add to it; whole: the row of an image's format. */
enum { AGENTI_BB_TEXT = 1, AGENTI_BB_REASONING, AGENTI_BB_REDACTED, AGENTI_BB_CALL, AGENTI_BB_RAN, AGENTI_BB_RESULT, AGENTI_BB_IMAGE };
enum { AGENTI_BC_STOPPED = 1, AGENTI_BC_COUNTED = 2 };        /* agenti_decoder.sourced: messageStop, metadata came      */
enum { AGENTI_BE_INDEX, AGENTI_BE_START, AGENTI_BE_DELTA, AGENTI_BE_STOP, AGENTI_BE_MORE, AGENTI_BE_USAGE, AGENTI_BE_TRACE, AGENTI_BE_METRICS,
       AGENTI_BE_FIELDS };
static const agenti_field agenti_bc_event_rows[AGENTI_BE_FIELDS] = {          /* of all events, and of a whole answer   */
    { "contentBlockIndex", -1 }, { "start", -1 }, { "delta", -1 }, { "stopReason", -1 }, { "additionalModelResponseFields", -1 },
    { "usage", -1 }, { "trace", -1 }, { "metrics", -1 }
};
enum { AGENTI_BK_TEXT, AGENTI_BK_CALL, AGENTI_BK_RESULT, AGENTI_BK_REASONING, AGENTI_BK_R_TEXT, AGENTI_BK_R_SIGNATURE, AGENTI_BK_R_REDACTED,
       AGENTI_BK_R_WHOLE, AGENTI_BK_CITATION, AGENTI_BK_CITED, AGENTI_BK_IMAGE, AGENTI_BK_FIELDS };
static const agenti_field agenti_bc_block_rows[AGENTI_BK_FIELDS] = {          /* of a start, a delta and a whole block  */
    { "text", -1 }, { "toolUse", -1 }, { "toolResult", -1 }, { "reasoningContent", -1 }, { "text", AGENTI_BK_REASONING },
    { "signature", AGENTI_BK_REASONING }, { "redactedContent", AGENTI_BK_REASONING }, { "reasoningText", AGENTI_BK_REASONING },
    { "citation", -1 }, { "citationsContent", -1 }, { "image", -1 }
};

static int64_t agenti_bc_sum(int64_t a, int64_t b) { return b <= 0 ? a : a > INT64_MAX - b ? INT64_MAX : a + b; }
/* inputTokens leaves cached tokens out.                                                                                */
static AGENTI_NOINLINE void agenti_bc_usage(agenti_decoder *d, agent_str usage)
{
    enum { INPUT, OUTPUT, READ, WRITTEN, FIELDS };
    static const agenti_field rows[FIELDS] = {
        { "inputTokens", -1 }, { "outputTokens", -1 }, { "cacheReadInputTokens", -1 }, { "cacheWriteInputTokens", -1 }
    };
    agent_str f[FIELDS];
    agent_usage *u = &d->usage;
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, rows, FIELDS, f);
    if (f[READ].n) (void)agenti_count(f[READ], &u->cached);
    if (f[WRITTEN].n) (void)agenti_count(f[WRITTEN], &u->cache_write);
    if (f[OUTPUT].n) (void)agenti_count(f[OUTPUT], &u->output);
    if (f[INPUT].n && agenti_count(f[INPUT], &u->input)) u->input = agenti_bc_sum(agenti_bc_sum(u->input, u->cached), u->cache_write);
    d->has_usage = 1;
}
static int agenti_bc_reason(agenti_decoder *d, agent_str value)
{
    static const struct { const char *word; int finish; } rows[] = {
        { "end_turn", AGENT_FINISH_STOP }, { "stop_sequence", AGENT_FINISH_STOP }, { "tool_use", AGENT_FINISH_TOOLS },
        { "max_tokens", AGENT_FINISH_LENGTH }, { "model_context_window_exceeded", AGENT_FINISH_LENGTH },
        { "guardrail_intervened", AGENT_FINISH_FILTER }, { "content_filtered", AGENT_FINISH_FILTER },
        { "malformed_tool_use", AGENT_FINISH_ERROR }, { "malformed_model_output", AGENT_FINISH_ERROR }
    };
    agent_str raw;
    size_t i;
    int finish = AGENT_FINISH_OTHER;
    if (!agenti_json_string(value, NULL, &d->arena, &raw)) return 0;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (agenti_eq(raw, rows[i].word)) finish = rows[i].finish;
    agenti_finish_set(d, finish, raw);
    return 1;
}

/* ---- blocks ---- */
/* The open block of a kind at an index: another kind at the same index is another block (H11). NULL: none.             */
static agenti_lane *agenti_bc_find(agenti_decoder *d, int64_t index, int kind)
{
    uint32_t i;
    for (i = d->lane_n; i-- > 0;) if (d->lanes[i].index == index && d->lanes[i].kind == kind) return &d->lanes[i];
    return NULL;
}
/* That block, or a new one. *l NULL: there are too many. 0: no memory                                                   */
static int agenti_bc_open(agenti_decoder *d, int64_t index, int kind, agenti_lane **l)
{
    if ((*l = agenti_bc_find(d, index, kind)) != NULL) return 1;
    if (d->lane_n >= d->call_limit) return agenti_too_many(d);
    if ((*l = agenti_lane_new(d)) == NULL) return 0;
    (*l)->key = ++d->streams;
    (*l)->index = index;
    (*l)->kind = (uint8_t)kind;
    return 1;
}
/* A piece of text or thoughts, which opens its block unless it is empty (H5); or of the signature of thoughts, which may not be shown. */
static int agenti_bc_add(agenti_decoder *d, int64_t index, int op_kind, agent_str value)
{
    agenti_lane *l;
    agenti_op *op;
    agent_str text;
    if (!agenti_nonempty(value)) return 1;
    if (!agenti_bc_open(d, index, op_kind == AGENTI_OP_TEXT ? AGENTI_BB_TEXT : AGENTI_BB_REASONING, &l)) return 0;
    if (l == NULL) return 1;
    if (op_kind == AGENTI_OP_DATA && !l->named && agenti_op_add(d, AGENTI_OP_REASONING, l->key) == NULL) return 0;
    l->named = 1;                             /* its part was begun                                                     */
    if (!agenti_json_string(value, op_kind == AGENTI_OP_DATA ? NULL : &l->high, &d->arena, &text)) return 0;
    if ((op = agenti_op_add(d, op_kind, l->key)) == NULL) return 0;
    op->a = text;
    return 1;
}
/* Redacted thoughts are bytes in pieces, each in base64 of its own (H9).                                               */
static int agenti_bc_redacted(agenti_decoder *d, int64_t index, agent_str value)
{
    agenti_lane *l;
    agent_str code;
    if (!agenti_nonempty(value)) return 1;
    if (!agenti_json_string(value, NULL, &d->arena, &code)) return 0;
    if (!agenti_base64_ok(code)) return 1;
    if (!agenti_bc_open(d, index, AGENTI_BB_REDACTED, &l)) return 0;
    if (l == NULL) return 1;
    code.n = agenti_base64_bytes(code, (char *)(uintptr_t)code.p);
    return agenti_text_add(&l->more, d->pool, d->graves, code);
}
static int agenti_bc_reasoning(agenti_decoder *d, int64_t index, const agent_str *f)
{
    agent_str whole = f[AGENTI_BK_R_WHOLE], text = f[AGENTI_BK_R_TEXT], signature = f[AGENTI_BK_R_SIGNATURE];
    if (agenti_is_object(whole)) {            /* both before one is decoded, in place                                   */
        text = agent_json_get(whole, "text");
        signature = agent_json_get(whole, "signature");
    }
    return agenti_bc_add(d, index, AGENTI_OP_REASONING, text) && agenti_bc_add(d, index, AGENTI_OP_DATA, signature)
        && agenti_bc_redacted(d, index, f[AGENTI_BK_R_REDACTED]);
}
/* Arguments of a call: a string in pieces, or an object at once. Those of a call that the provider runs are kept.       */
static int agenti_bc_args(agenti_decoder *d, int64_t index, agent_str value)
{
    agenti_lane *ran = agenti_bc_find(d, index, AGENTI_BB_RAN), *l = ran ? ran : agenti_bc_find(d, index, AGENTI_BB_CALL);
    agenti_op *op;
    agent_str text = value;
    if (l == NULL || (!agenti_nonempty(value) && !agenti_is_object(value)) || agenti_eq(value, "{}")) return 1;
    if (agenti_is_object(value) ? !agenti_raw_of(d, value, &text) : !agenti_json_string(value, &l->high, &d->arena, &text)) return 0;
    if (ran) return agenti_text_add(&ran->more, d->pool, d->graves, text);
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, l->key)) == NULL) return 0;
    op->a = text;
    return 1;
}
/* What the provider runs is kept, until it is complete: its start, as it came, and what deltas bring.                  */
static int agenti_bc_keep(agenti_decoder *d, int64_t index, int kind, agent_str start)
{
    agenti_lane *l;
    agent_str raw;
    if (!agenti_bc_open(d, index, kind, &l)) return 0;
    return l == NULL || (agenti_raw_of(d, start, &raw) && agenti_text_set(&l->id, d->pool, d->graves, raw));
}
static int agenti_bc_call(agenti_decoder *d, int64_t index, agent_str use)
{
    agenti_lane *l;
    agenti_op *op;
    if (agent_json_is(agent_json_get(use, "type"), "server_tool_use")) return agenti_bc_keep(d, index, AGENTI_BB_RAN, use);
    if (!agenti_bc_open(d, index, AGENTI_BB_CALL, &l)) return 0;
    if (l == NULL) return 1;
    l->call = 1;
    if ((op = agenti_op_add(d, AGENTI_OP_CALL, l->key)) == NULL) return 0;
    return agenti_string_of(d, agent_json_get(use, "toolUseId"), &op->a) && agenti_string_of(d, agent_json_get(use, "name"), &op->b)
        && agenti_bc_args(d, index, agent_json_get(use, "input"));
}
/* Contents of a result, each an object, gathered as the members of an array.                                           */
static int agenti_bc_contents(agenti_decoder *d, int64_t index, agent_str list)
{
    agenti_lane *l = agenti_bc_find(d, index, AGENTI_BB_RESULT);
    agent_str item, raw;
    size_t pos = 0;
    while (l && agenti_is_array(list) && agent_json_each(list, &pos, NULL, &item))
        if (!agenti_raw_of(d, item, &raw) || !agenti_text_add(&l->more, d->pool, d->graves, agenti_cstr(l->more.n ? "," : "["))
            || !agenti_text_add(&l->more, d->pool, d->graves, raw)) return 0;
    return 1;
}
/* A page is a source; places in documents have no address, and are shown as they came.                                 */
static int agenti_bc_cite(agenti_decoder *d, agent_str citation)
{
    agent_str url, title;
    if (!agenti_is_object(citation)) return 1;
    url = agent_json_get(citation, "location.web.url");
    title = agent_json_get(citation, "title");
    if (!agenti_nonempty(title)) title = agent_json_get(citation, "location.web.domain");
    return agenti_nonempty(url) ? agenti_source_add(d, url, title) : agenti_news_add(d, citation, "citation");
}
static int agenti_bc_cited(agenti_decoder *d, int64_t index, agent_str cited)
{
    agent_str item, texts = agent_json_get(cited, "content"), list = agent_json_get(cited, "citations");
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &item)) if (!agenti_bc_cite(d, item)) return 0;
    pos = 0;
    while (agenti_is_array(texts) && agent_json_each(texts, &pos, NULL, &item))
        if (!agenti_bc_add(d, index, AGENTI_OP_TEXT, agent_json_get(item, "text"))) return 0;
    return 1;
}
static uint8_t agenti_bc_image_row(agent_str image)
{
    uint8_t i = AGENTI_BC_IMAGES;
    while (i > 0 && !agent_json_is(agent_json_get(image, "format"), agenti_bc_formats[i - 1].format)) i--;
    return i > 0 ? (uint8_t)(i - 1) : 0;
}
/* An image: of a stream its format stands in the block's start.                                                        */
static int agenti_bc_image(agenti_decoder *d, int64_t index, agent_str image)
{
    agenti_lane *l = agenti_bc_find(d, index, AGENTI_BB_IMAGE);
    if (!agenti_is_object(image)) return 1;
    return agenti_file_add(d, AGENT_PART_IMAGE, agent_json_get(image, "source.bytes"), agenti_bc_formats[l ? l->whole : agenti_bc_image_row(image)].mime);
}

/* ---- the end of a block ---- */
static int agenti_bc_raw(agenti_decoder *d, const agenti_buf *b, int flags, const char *name)        /* 0: no memory     */
{
    agenti_op *op;
    char *p = b->bad ? NULL : agenti_arena_get(&d->arena, b->n);
    if (p == NULL || (op = agenti_op_add(d, AGENTI_OP_RAW, 0)) == NULL) return 0;
    memcpy(p, b->p, b->n);
    AGENTI_TOUCH(b->n);
    op->a = agenti_str(p, b->n);
    op->b = agenti_cstr(name);
    op->flags = (uint8_t)flags;
    return 1;
}
static int agenti_bc_redacted_end(agenti_decoder *d, const agenti_lane *l)
{
    agenti_buf b;
    int ok;
    agenti_buf_init(&b, d->pool);
    agenti_buf_str(&b, "{\"reasoningContent\":{\"redactedContent\":\"");
    agenti_base64_to(&b, agenti_text_view(&l->more));
    agenti_buf_str(&b, "\"}}");
    ok = agenti_bc_raw(d, &b, 0, "reasoningContent");
    agenti_buf_free(&b);
    return ok;
}
/* The start of a kept block with the member that deltas brought.                                                       */
static void agenti_bc_fill(agenti_buf *b, const agenti_lane *l, const char *member, uint32_t depth)
{
    agent_str start = agenti_text_view(&l->id), more = agenti_text_view(&l->more), old = agent_json_get(start, member), key, value;
    size_t pos = 0;
    if (more.n == 0 || agent_json_check(more.p, more.n, depth, NULL) != AGENT_OK) more = old;
    if (more.n == 0) more = agenti_cstr(l->kind == AGENTI_BB_RAN ? "{}" : "[]");
    agenti_buf_str(b, l->kind == AGENTI_BB_RAN ? "{\"toolUse\":{" : "{\"toolResult\":{");
    while (agent_json_each(start, &pos, &key, &value)) {
        if (value.p == old.p) continue;
        agenti_json_comma(b);
        agenti_buf_add(b, key.p - 1, key.n + 2);
        agenti_buf_str(b, ":");
        agenti_buf_add(b, value.p, value.n);
    }
    agenti_json_member(b, member, more);
    agenti_buf_str(b, "}}");
}
/* A call that the provider runs, or its result: the block as it goes back, and what it is to the host (H10).            */
static int agenti_bc_kept(agenti_decoder *d, agenti_lane *l)
{
    int ran = l->kind == AGENTI_BB_RAN, ok;
    const char *name = ran ? "toolUse" : "toolResult", *member = ran ? "input" : "content";
    agent_str block;
    agenti_op *op;
    agenti_buf b;
    if (!ran && l->more.n && !agenti_text_add(&l->more, d->pool, d->graves, agenti_cstr("]"))) return 0;
    agenti_buf_init(&b, d->pool);
    agenti_bc_fill(&b, l, member, d->depth_limit);
    ok = agenti_bc_raw(d, &b, AGENTI_RAW_QUIET, name);
    agenti_buf_free(&b);
    if (!ok) return 0;
    block = agent_json_get(d->ops[d->op_n - 1].a, name);
    if ((op = agenti_op_add(d, ran ? AGENTI_OP_RAN : AGENTI_OP_RESULT, 0)) == NULL) return 0;
    op->c = agent_json_get(block, member);
    if (agent_json_is(agent_json_get(block, "status"), "error")) op->flags = AGENT_PART_ERROR;
    return agenti_string_of(d, agent_json_get(block, "toolUseId"), &op->a) && (!ran || agenti_string_of(d, agent_json_get(block, "name"), &op->b));
}
static int agenti_bc_end_lane(agenti_decoder *d, agenti_lane *l)
{
    agenti_op *op;
    if (l->kind == AGENTI_BB_REDACTED) return agenti_bc_redacted_end(d, l);
    if (l->kind == AGENTI_BB_RAN || l->kind == AGENTI_BB_RESULT) return agenti_bc_kept(d, l);
    if (l->high) {                            /* the other half of a pair never came                                    */
        int kind = l->kind == AGENTI_BB_CALL ? AGENTI_OP_ARGS : l->kind == AGENTI_BB_TEXT ? AGENTI_OP_TEXT : AGENTI_OP_REASONING;
        if ((op = agenti_op_add(d, kind, l->key)) == NULL) return 0;
        op->a = agenti_cstr("\xEF\xBF\xBD");
    }
    return l->kind > AGENTI_BB_REASONING || agenti_op_add(d, AGENTI_OP_END, l->key) != NULL;
}
/* Ends what is open at an index, or everything.                                                                        */
static int agenti_bc_end(agenti_decoder *d, int64_t index, int all)
{
    uint32_t i = 0;
    while (i < d->lane_n) {
        agenti_lane *l = &d->lanes[i];
        if (!all && l->index != index) { i++; continue; }
        if (!agenti_bc_end_lane(d, l)) return 0;
        agenti_lane_free(d, l);
        memmove(l, l + 1, (--d->lane_n - i) * sizeof *l);
    }
    return 1;
}

/* ---- events ---- */
/* A start, of a stream; or a whole block. Another block at the index is over.                                          */
static AGENTI_NOINLINE int agenti_bc_start(agenti_decoder *d, int64_t index, agent_str start)
{
    agent_str f[AGENTI_BK_FIELDS], image;
    agenti_lane *l;
    agenti_json_pick(start, agenti_bc_block_rows, AGENTI_BK_FIELDS, f);
    if (!agenti_bc_end(d, index, 0)) return 0;
    if (agenti_is_object(f[AGENTI_BK_CALL])) return agenti_bc_call(d, index, f[AGENTI_BK_CALL]);
    if (agenti_is_object(f[AGENTI_BK_RESULT])) return agenti_bc_keep(d, index, AGENTI_BB_RESULT, f[AGENTI_BK_RESULT]);
    image = f[AGENTI_BK_IMAGE];
    if (!agenti_is_object(image)) return 1;
    if (!agenti_bc_open(d, index, AGENTI_BB_IMAGE, &l)) return 0;
    if (l) l->whole = agenti_bc_image_row(image);
    return 1;
}
static AGENTI_NOINLINE int agenti_bc_delta(agenti_decoder *d, int64_t index, agent_str delta)
{
    agent_str f[AGENTI_BK_FIELDS];
    agenti_json_pick(delta, agenti_bc_block_rows, AGENTI_BK_FIELDS, f);
    if (agenti_is_object(f[AGENTI_BK_REASONING])) return agenti_bc_reasoning(d, index, f);
    if (agenti_is_object(f[AGENTI_BK_CALL])) return agenti_bc_args(d, index, agent_json_get(f[AGENTI_BK_CALL], "input"));
    return agenti_bc_add(d, index, AGENTI_OP_TEXT, f[AGENTI_BK_TEXT]) && agenti_bc_contents(d, index, f[AGENTI_BK_RESULT])
        && agenti_bc_cite(d, f[AGENTI_BK_CITATION]) && agenti_bc_image(d, index, f[AGENTI_BK_IMAGE]);
}
/* What ends the stream, in either order (H6), or stands beside a whole message.                                        */
static int agenti_bc_ending(agenti_decoder *d, const agent_str *f)
{
    if (agenti_is_string(f[AGENTI_BE_STOP])) {
        d->sourced |= AGENTI_BC_STOPPED;
        if (!agenti_bc_end(d, 0, 1) || !agenti_bc_reason(d, f[AGENTI_BE_STOP])) return 0;
    }
    if (f[AGENTI_BE_USAGE].n || f[AGENTI_BE_METRICS].n) d->sourced |= AGENTI_BC_COUNTED;
    agenti_bc_usage(d, f[AGENTI_BE_USAGE]);
    d->done = d->sourced == (AGENTI_BC_STOPPED | AGENTI_BC_COUNTED);
    return agenti_news_add(d, f[AGENTI_BE_MORE], "additionalModelResponseFields") && agenti_news_add(d, f[AGENTI_BE_TRACE], "trace");
}
static int agenti_bc_event(agenti_decoder *d, agent_str event, agent_str data)
{
    agent_str f[AGENTI_BE_FIELDS];
    int64_t index = -1;
    data = agenti_trim(data);
    if (data.n == 0) return 1;
    if (data.p[0] != '{' || agent_json_check(data.p, data.n, d->depth_limit, NULL) != AGENT_OK) return agenti_payload_bad(d);
    agenti_json_pick(data, agenti_bc_event_rows, AGENTI_BE_FIELDS, f);
    if (f[AGENTI_BE_INDEX].n) (void)agenti_int(f[AGENTI_BE_INDEX], &index);
    if (agenti_is_object(f[AGENTI_BE_DELTA])) return agenti_bc_delta(d, index, f[AGENTI_BE_DELTA]);
    if (agenti_is_object(f[AGENTI_BE_START])) return agenti_bc_start(d, index, f[AGENTI_BE_START]);
    return agenti_eq(event, "contentBlockStop") ? agenti_bc_end(d, index, 0) : agenti_bc_ending(d, f);
}
static AGENTI_NOINLINE int agenti_bc_block(agenti_decoder *d, agent_str block)
{
    agent_str f[AGENTI_BK_FIELDS], key, value;
    agenti_op *op;
    size_t pos = 0;
    agenti_json_pick(block, agenti_bc_block_rows, AGENTI_BK_FIELDS, f);
    if (agenti_is_object(f[AGENTI_BK_CALL]) || agenti_is_object(f[AGENTI_BK_RESULT])) return agenti_bc_start(d, 0, block);
    if (agenti_is_object(f[AGENTI_BK_REASONING])) return agenti_bc_reasoning(d, 0, f);
    if (agenti_is_object(f[AGENTI_BK_CITED])) return agenti_bc_cited(d, 0, f[AGENTI_BK_CITED]);
    if (agenti_is_object(f[AGENTI_BK_IMAGE])) return agenti_bc_image(d, 0, f[AGENTI_BK_IMAGE]);
    if (agenti_is_string(f[AGENTI_BK_TEXT])) return agenti_bc_add(d, 0, AGENTI_OP_TEXT, f[AGENTI_BK_TEXT]);
    if (!agent_json_each(block, &pos, &key, &value)) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_RAW, 0)) == NULL || !agenti_raw_of(d, block, &op->a)) return 0;
    return agenti_string_of(d, agenti_str(key.p - 1, key.n + 2), &op->b);                /* a kind that is not known here */
}
static int agenti_bc_whole(agenti_decoder *d, agent_str body)
{
    agent_str f[AGENTI_BE_FIELDS], list, block;
    size_t pos = 0;
    list = agenti_is_object(body) ? agent_json_get(body, "output.message.content") : body;
    if (!agenti_is_object(body) || !agenti_is_array(list)) {
        if (agenti_is_object(body) && agenti_is_string(agent_json_get(body, "message"))) agenti_fault_object(d, body, 0);
        else agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr("the answer is no message"));
        return 1;
    }
    agenti_json_pick(body, agenti_bc_event_rows, AGENTI_BE_FIELDS, f);                   /* before strings are decoded in place */
    while (agent_json_each(list, &pos, NULL, &block))
        if (agenti_is_object(block) && (!agenti_bc_block(d, block) || !agenti_bc_end(d, 0, 1))) return 0;
    if (!agenti_bc_ending(d, f)) return 0;
    d->done = 1;
    return 1;
}

/* ---- requests ---- */
enum { AGENTI_BC_SIDE = 3, AGENTI_BC_TOOLS = 4, AGENTI_BC_MARK = 8, AGENTI_BC_MARKS = 4 };      /* r->state: the side whose message is open,
                                                                     whether there were calls, the cache points of messages */
static const char *const agenti_bc_fields_key = "additionalModelRequestFields";

/* Thinking has no place of its own: each maker's models read another member of additionalModelRequestFields.           */
enum { AGENTI_BC_CLAUDE, AGENTI_BC_NOVA, AGENTI_BC_GPT, AGENTI_BC_QWEN };
static int agenti_bc_maker(const agenti_request *r)
{
    agent_str model = agenti_text_view(&r->options[AGENTI_OPT_MODEL]);
    return agenti_find(model, "amazon.nova") ? AGENTI_BC_NOVA : agenti_find(model, "openai.") ? AGENTI_BC_GPT
         : agenti_find(model, "qwen.") ? AGENTI_BC_QWEN : AGENTI_BC_CLAUDE;
}
static int agenti_bc_thinks(const agenti_request *r)
{
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]), type;
    if (agenti_replaced(r, agenti_bc_fields_key)) {
        type = agent_json_get(r->extra, "additionalModelRequestFields.thinking.type");
        return type.n && !agent_json_is(type, "disabled");
    }
    return budget.n && !agenti_eq(budget, "0") && agenti_bc_maker(r) == AGENTI_BC_CLAUDE;
}
static void agenti_bc_budget_out(agenti_buf *b, const agenti_request *r)
{
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]);
    int adaptive = agenti_eq(budget, "adaptive");
    agenti_json_key(b, "thinking");
    agenti_buf_str(b, adaptive ? "{\"type\":\"adaptive\"" : agenti_bc_thinks(r) ? "{\"type\":\"enabled\"" : "{\"type\":\"disabled\"");
    if (!adaptive && agenti_bc_thinks(r)) agenti_json_member(b, "budget_tokens", budget);
    agenti_buf_str(b, "}");
}
static void agenti_bc_effort_out(agenti_buf *b, int maker, agent_str effort)
{
    static const char *const before[] = { "{", "{\"type\":\"enabled\"" }, *const keys[] = { "output_config", "reasoningConfig" },
        *const words[] = { "effort", "maxReasoningEffort" };
    if (maker == AGENTI_BC_GPT) agenti_json_member_str(b, "reasoning_effort", effort);
    else if (maker == AGENTI_BC_QWEN) agenti_json_member_str(b, "reasoning_config", effort);
    else {
        agenti_json_key(b, keys[maker]);
        agenti_buf_str(b, before[maker]);
        agenti_json_member_str(b, words[maker], effort);
        agenti_buf_str(b, "}");
    }
}
/* An object that is left out when nothing is in it: where it begins, then its end.                                     */
static size_t agenti_bc_object(agenti_buf *b, const char *key)
{
    size_t at = b->n;
    agenti_json_key(b, key);
    agenti_buf_str(b, "{");
    return at;
}
static void agenti_bc_object_end(agenti_buf *b, size_t at)
{
    if (!b->bad && b->p[b->n - 1] == '{') b->n = at; else agenti_buf_str(b, "}");
}
static void agenti_bc_fields_out(agenti_buf *b, agenti_request *r)
{
    static const char *const claude[] = { "", "low", "low", "medium", "high", "max" }, *const others[] = { "", "low", "low", "medium", "high", "high" };
    int maker = agenti_bc_maker(r), budget = r->options[AGENTI_OPT_THINKING].n != 0;
    agent_str effort = agenti_effort(r, maker == AGENTI_BC_CLAUDE ? claude : others);
    size_t at;
    if (agenti_replaced(r, agenti_bc_fields_key)) return;
    at = agenti_bc_object(b, agenti_bc_fields_key);
    if (budget && maker == AGENTI_BC_CLAUDE) agenti_bc_budget_out(b, r);
    if (budget && maker != AGENTI_BC_CLAUDE) r->left_out |= AGENTI_BIT(AGENTI_OPT_THINKING);
    if (!budget && maker == AGENTI_BC_CLAUDE && agenti_eq(agenti_text_view(&r->options[AGENTI_OPT_EFFORT]), "off"))
        agenti_json_member(b, "thinking", agenti_cstr("{\"type\":\"disabled\"}"));
    if (effort.n) agenti_bc_effort_out(b, maker, effort);
    if (r->options[AGENTI_OPT_TOP_K].n) {
        if (maker == AGENTI_BC_CLAUDE && !agenti_bc_thinks(r)) agenti_json_member(b, "top_k", agenti_text_view(&r->options[AGENTI_OPT_TOP_K]));
        else r->left_out |= AGENTI_BIT(AGENTI_OPT_TOP_K);
    }
    agenti_bc_object_end(b, at);
}
/* What is answered and what is thought share maxTokens, so it has to be above the budget; without it the model's most is taken. */
static void agenti_bc_limit_out(agenti_buf *b, const agenti_request *r)
{
    agent_str limit = agenti_text_view(&r->options[AGENTI_OPT_MAX_TOKENS]);
    int64_t most = 0, budget = 0;
    char number[24];
    if (limit.n == 0) return;
    if (agenti_bc_thinks(r) && agenti_int(limit, &most) && agenti_int(agenti_text_view(&r->options[AGENTI_OPT_THINKING]), &budget)
        && most > 0 && budget >= most && budget <= INT64_MAX - most) limit = agenti_str(number, agenti_i64_text(most + budget, number));
    agenti_json_member(b, "maxTokens", limit);
}
static void agenti_bc_config_out(agenti_buf *b, agenti_request *r)
{
    static const int options[] = { AGENTI_OPT_TEMPERATURE, AGENTI_OPT_TOP_P };
    static const char *const keys[] = { "temperature", "topP" };
    size_t at;
    int i;
    if (agenti_replaced(r, "inferenceConfig")) return;
    at = agenti_bc_object(b, "inferenceConfig");
    agenti_bc_limit_out(b, r);
    for (i = 0; i < 2; i++) {
        if (r->options[options[i]].n == 0) continue;
        if (agenti_bc_thinks(r)) r->left_out |= AGENTI_BIT(options[i]);         /* thinking is refused beside them       */
        else agenti_json_member(b, keys[i], agenti_text_view(&r->options[options[i]]));
    }
    agenti_stops_out(b, r, "stopSequences");
    agenti_bc_object_end(b, at);
}
/* "none" has no word here, and a choice that forces a call is refused beside thinking.                                 */
static agent_str agenti_bc_wanted(const agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    return agenti_eq(choice, "none") || (agenti_bc_thinks(r) && !agenti_eq(choice, "auto")) ? agenti_str(NULL, 0) : choice;
}
static void agenti_bc_point_out(agenti_buf *b, const agenti_request *r)
{
    int hour = agenti_eq(agenti_text_view(&r->options[AGENTI_OPT_CACHE]), "1h");
    agenti_buf_str(b, hour ? ",{\"cachePoint\":{\"type\":\"default\",\"ttl\":\"1h\"}}" : ",{\"cachePoint\":{\"type\":\"default\"}}");
}
/* A schema goes as the text of its JSON.                                                                               */
static void agenti_bc_words_out(agenti_buf *b, agenti_request *r)
{
    agent_str schema = agenti_format_schema(r);
    if (r->options[AGENTI_OPT_TIER].n && !agenti_replaced(r, "serviceTier")) {
        agenti_json_key(b, "serviceTier");
        agenti_buf_str(b, "{");
        agenti_json_member_str(b, "type", agenti_text_view(&r->options[AGENTI_OPT_TIER]));
        agenti_buf_str(b, "}");
    }
    if (r->options[AGENTI_OPT_FORMAT].n && schema.n == 0) r->left_out |= AGENTI_BIT(AGENTI_OPT_FORMAT);
    if (schema.n == 0 || agenti_replaced(r, "outputConfig")) return;
    agenti_json_key(b, "outputConfig");
    agenti_buf_str(b, "{\"textFormat\":{\"type\":\"json_schema\",\"structure\":{\"jsonSchema\":{\"name\":\"answer\"");
    agenti_json_member_str(b, "schema", schema);
    agenti_buf_str(b, "}}}}");
}
static void agenti_bc_head(agenti_buf *b, agenti_request *r)
{
    agent_str system = agenti_text_view(&r->options[AGENTI_OPT_SYSTEM]);
    agenti_buf_str(b, "{");
    agenti_bc_config_out(b, r);
    agenti_bc_fields_out(b, r);
    agenti_bc_words_out(b, r);
    if (r->options[AGENTI_OPT_TOOL_CHOICE].n && agenti_bc_wanted(r).n == 0) r->left_out |= AGENTI_BIT(AGENTI_OPT_TOOL_CHOICE);
    if (system.n && !agenti_replaced(r, "system")) {
        agenti_json_key(b, "system");
        agenti_buf_str(b, "[{");
        agenti_json_member_str(b, "text", system);
        agenti_buf_str(b, "}");
        if (r->options[AGENTI_OPT_CACHE].n) agenti_bc_point_out(b, r);
        agenti_buf_str(b, "]");
    }
    agenti_json_key(b, "messages");
    agenti_buf_str(b, "[");
}
/* Roles alternate: blocks of the same side go into one message.                                                        */
static void agenti_bc_side(agenti_buf *b, agenti_request *r, int model)
{
    int side = r->state & AGENTI_BC_SIDE;
    if (side == 1 + model) { agenti_buf_str(b, ","); return; }
    if (side) agenti_buf_str(b, "]},");
    agenti_buf_str(b, model ? "{\"role\":\"assistant\",\"content\":[" : "{\"role\":\"user\",\"content\":[");
    r->state += 1 + model - side;
}
static int agenti_bc_text_out(agenti_buf *b, agenti_request *r, agent_str text, int model)           /* 0: not sent    */
{
    if (agenti_trim(text).n == 0) return 0;   /* blank texts are refused                                                */
    agenti_bc_side(b, r, model);
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "text", text);
    agenti_buf_str(b, "}");
    return 1;
}
/* Names of documents: letters, digits, single blanks, -()[]; no two alike, so the part's number is in it.               */
static void agenti_bc_name_out(agenti_buf *b, const agenti_part *p)
{
    agent_str name = p->name.n ? agenti_text_view(&p->name) : agenti_cstr("document");
    char out[128], c;
    size_t i, n = name.n < 96 ? name.n : 96;
    for (i = 0; i < n; i++) {
        c = agenti_lower(name.p[i]);
        out[i] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '(' || c == ')' || c == '[' || c == ']' ? name.p[i] : '-';
    }
    out[n++] = ' ';
    out[n++] = '(';
    n += agenti_u64_text(p->id, out + n);
    out[n++] = ')';
    agenti_json_member_str(b, "name", agenti_str(out, n));
}
static int agenti_bc_format(const agenti_part *p)             /* its row in the table; -1: not taken                    */
{
    int i = p->kind == AGENT_PART_FILE ? AGENTI_BC_IMAGES : 0, end = p->kind == AGENT_PART_FILE ? AGENTI_BC_FORMATS : AGENTI_BC_IMAGES;
    if (p->kind == AGENT_PART_AUDIO || (p->uri.n && !agenti_find(agenti_str(p->uri.p, p->uri.n < 5 ? p->uri.n : 5), "s3://"))) return -1;
    while (i < end && !agenti_ieq(agenti_text_view(&p->mime), agenti_bc_formats[i].mime)) i++;
    if (i < end) return i;
    return p->kind == AGENT_PART_FILE && !p->uri.n && !(p->flags & AGENT_PART_BASE64) ? AGENTI_BC_TXT : -1;
}
static void agenti_bc_media_out(agenti_buf *b, const agenti_part *p, int format)
{
    agenti_json_key(b, p->kind == AGENT_PART_IMAGE ? "image" : "document");
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "format", agenti_cstr(agenti_bc_formats[format].format));
    if (p->kind == AGENT_PART_FILE) agenti_bc_name_out(b, p);
    agenti_json_key(b, "source");
    agenti_buf_str(b, p->uri.n ? "{\"s3Location\":{\"uri\":" : "{\"bytes\":\"");
    if (p->uri.n) agenti_json_quote_to(b, agenti_text_view(&p->uri));
    else if (p->flags & AGENT_PART_BASE64) agenti_buf_add(b, p->text.p, p->text.n);
    else agenti_base64_to(b, agenti_text_view(&p->text));
    agenti_buf_str(b, p->uri.n ? "}}}" : "\"}}");
}
static void agenti_bc_mark(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    int most = r->options[AGENTI_OPT_CACHE].n ? AGENTI_BC_MARKS - 2 : (int)AGENTI_BC_MARKS;
    if (!(p->flags & AGENT_PART_CACHE)) return;
    if (r->state / AGENTI_BC_MARK >= most) { r->left_out |= AGENTI_BIT(AGENTI_LEFT_MARK); return; }
    r->state += AGENTI_BC_MARK;
    agenti_bc_point_out(b, r);
}
static void agenti_bc_user_part(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    int format = agenti_is_media(p->kind) ? agenti_bc_format(p) : -1;
    if (!agenti_is_media(p->kind)) {
        if (!agenti_bc_text_out(b, r, agenti_text_view(&p->text), 0)) return;
    } else {
        agenti_bc_side(b, r, 0);
        agenti_buf_str(b, format < 0 ? "{\"text\":" : "{");
        if (format < 0) agenti_media_left_out(b, r, p); else agenti_bc_media_out(b, p, format);
        agenti_buf_str(b, "}");
    }
    agenti_bc_mark(b, r, p);
}
/* A message with a document needs a text.                                                                              */
static void agenti_bc_user_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, texts = 0, files = 0;
    for (i = 0; i < m->n; i++) {
        texts += m->parts[i].kind == AGENT_PART_TEXT && agenti_trim(agenti_text_view(&m->parts[i].text)).n;
        files += m->parts[i].kind == AGENT_PART_FILE;
    }
    if (files && !texts) (void)agenti_bc_text_out(b, r, agenti_cstr("See the document."), 0);
    for (i = 0; i < m->n; i++) agenti_bc_user_part(b, r, &m->parts[i]);
}
/* Ids of calls are at most 64 of A-Z a-z 0-9 _ -; those of other providers may hold more, and differ at their end.     */
static void agenti_bc_id_out(agenti_buf *b, agent_str id)
{
    char out[64];
    size_t i, skip = id.n > sizeof out ? id.n - sizeof out : 0;
    for (i = 0; i < id.n - skip; i++) {
        char c = agenti_lower(id.p[skip + i]);
        out[i] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ? id.p[skip + i] : '_';
    }
    agenti_json_member_str(b, "toolUseId", agenti_str(out, i));
}
static void agenti_bc_call_out(agenti_buf *b, const agenti_part *p)
{
    int usable = p->text.n && !(p->flags & AGENT_PART_INVALID);
    agenti_buf_str(b, "{\"toolUse\":{");
    agenti_bc_id_out(b, agenti_text_view(&p->wire_id));
    agenti_tool_name_out(b, agenti_text_view(&p->name));
    agenti_json_member(b, "input", usable ? agenti_text_view(&p->text) : agenti_cstr("{}"));
    agenti_buf_str(b, "}}");
}
static void agenti_bc_model_part(agenti_buf *b, agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    int good = m->model == r->model && !(p->flags & AGENT_PART_CUT);
    if (p->kind == AGENT_PART_TEXT) { (void)agenti_bc_text_out(b, r, agenti_text_view(&p->text), 1); return; }
    if (agenti_is_media(p->kind)) return;     /* files that a model made are not taken back                             */
    if (p->kind != AGENT_PART_CALL && !good) { if (m->model != r->model) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING); return; }
    if (p->kind == AGENT_PART_REASONING && p->data.n == 0) return;             /* unsigned thoughts are not taken back  */
    agenti_bc_side(b, r, 1);
    if (p->kind == AGENT_PART_CALL || agenti_find(agenti_text_view(&p->name), "tool")) r->state |= AGENTI_BC_TOOLS;
    if (p->kind == AGENT_PART_OTHER) agenti_buf_add(b, p->text.p, p->text.n);
    else if (p->kind == AGENT_PART_CALL) agenti_bc_call_out(b, p);
    else {
        agenti_buf_str(b, "{\"reasoningContent\":{\"reasoningText\":{");
        agenti_json_member_str(b, "text", agenti_text_view(&p->text));
        agenti_json_member_str(b, "signature", agenti_text_view(&p->data));
        agenti_buf_str(b, "}}}");
    }
}
static void agenti_bc_result_out(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    agent_str text = agenti_text_view(&p->text);
    agenti_bc_side(b, r, 0);
    r->state |= AGENTI_BC_TOOLS;
    agenti_buf_str(b, "{\"toolResult\":{");
    agenti_bc_id_out(b, agenti_text_view(&p->wire_id));
    agenti_buf_str(b, ",\"content\":[{");
    agenti_json_member_str(b, "text", agenti_trim(text).n ? text : agenti_cstr("(no output)"));
    agenti_buf_str(b, p->flags & AGENT_PART_ERROR ? "}],\"status\":\"error\"}}" : "}]}}");
}
static void agenti_bc_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i;
    if (m->role == AGENT_USER) { agenti_bc_user_msg(b, r, m); return; }
    for (i = 0; i < m->n; i++) {
        if (m->role == AGENT_TOOLS) agenti_bc_result_out(b, r, &m->parts[i]);
        else agenti_bc_model_part(b, r, m, &m->parts[i]);
    }
}
static int agenti_bc_has_tools(const agenti_request *r) { return r->tool_count && !agenti_replaced(r, "toolConfig"); }
static void agenti_bc_tail(agenti_buf *b, const agenti_request *r)
{
    agenti_request with = *r;
    if (r->note) (void)agenti_bc_text_out(b, &with, agenti_cstr(r->note), 0);
    if (r->options[AGENTI_OPT_CACHE].n && (with.state & AGENTI_BC_SIDE) == 1) agenti_bc_point_out(b, r);
    agenti_buf_str(b, with.state & AGENTI_BC_SIDE ? "]}]" : "]");
    if (agenti_bc_has_tools(r)) agenti_buf_str(b, ",\"toolConfig\":{");
}
static void agenti_bc_tools_out(agenti_buf *b, const agenti_request *r)
{
    size_t i;
    if (!agenti_bc_has_tools(r)) return;
    agenti_buf_str(b, "\"tools\":[");
    for (i = 0; i < r->tool_count; i++) {
        const agenti_tool *t = &r->tools[i];
        if (i) agenti_buf_str(b, ",");
        if (t->flags & AGENT_TF_RAW) { agenti_buf_add(b, t->schema.p, t->schema.n); continue; }
        agenti_buf_str(b, "{\"toolSpec\":{");
        agenti_json_member_str(b, "name", agenti_text_view(&t->name));
        if (t->description.n) agenti_json_member_str(b, "description", agenti_text_view(&t->description));
        agenti_json_key(b, "inputSchema");
        agenti_buf_str(b, "{");
        agenti_json_member(b, "json", agenti_text_view(&t->schema));
        agenti_buf_str(b, t->flags & AGENT_TF_STRICT ? "},\"strict\":true}}" : "}}}");
    }
    agenti_buf_str(b, "]");
}
/* A history with calls is refused without tools (H12), so there is one when there is none.                              */
static void agenti_bc_end_out(agenti_buf *b, const agenti_request *r)
{
    agent_str choice = agenti_bc_wanted(r);
    if (agenti_bc_has_tools(r)) {
        if (choice.n && !r->choice_off && !r->tools_off) {
            agenti_buf_str(b, ",\"toolChoice\":");
            if (agenti_eq(choice, "auto")) agenti_buf_str(b, "{\"auto\":{}}");
            else if (agenti_eq(choice, "required")) agenti_buf_str(b, "{\"any\":{}}");
            else {
                agenti_buf_str(b, "{\"tool\":{");
                agenti_json_member_str(b, "name", choice);
                agenti_buf_str(b, "}}");
            }
        }
        agenti_buf_str(b, "}");
    } else if ((r->state & AGENTI_BC_TOOLS) && !agenti_replaced(r, "toolConfig"))
        agenti_buf_str(b, ",\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"none\",\"description\":\"There are no tools.\","
                          "\"inputSchema\":{\"json\":{\"type\":\"object\"}}}}]}");
    agenti_extra_out(b, r);
}
static const char *const agenti_bc_parts[] = { "text", "signature", "input", NULL };
static const char *const agenti_bc_routing[] = { "contentBlockIndex", NULL };
static const char *const agenti_bc_held[] = { "start", "toolResult", "citation", "output", NULL };
static const agenti_wire agenti_bedrock_converse_wire = {
    "bedrock-converse", "/model/{model}/converse-stream", "/model/{model}/converse", AGENTI_FRAMING_FRAMES, NULL, NULL,
    AGENTI_BIT(AGENTI_OPT_SEED) | AGENTI_BIT(AGENTI_OPT_FREQUENCY) | AGENTI_BIT(AGENTI_OPT_PRESENCE) | AGENTI_BIT(AGENTI_OPT_PARALLEL)
        | AGENTI_BIT(AGENTI_OPT_CACHE_KEY) | AGENTI_BIT(AGENTI_OPT_USER),
    agenti_bc_head, NULL, agenti_bc_message_out, agenti_bc_tail, agenti_bc_tools_out, agenti_bc_end_out, agenti_bc_event, agenti_bc_whole, NULL,
    { agenti_bc_parts, agenti_bc_routing, agenti_bc_routing, 1, agenti_bc_held },
    { agenti_bc_parts, agenti_bc_routing, agenti_bc_routing, 1, agenti_bc_held },             /* nothing of a whole answer is owned */
    NULL, NULL
};
AGENTI_FN const agenti_wire *agenti_bedrock_converse(void) { return &agenti_bedrock_converse_wire; }
#endif
#endif

/* ==== wire_ollama.c: Ollama chat and generate ===================================================================== */
/* Ollama's own API: https://github.com/ollama/ollama/blob/main/docs/api.md. An event is a line of JSON. /api/chat answers with a
 * `message`, /api/generate with the members of one; both are read alike. Calls come whole, their arguments are objects. */
#ifndef AGENT_NO_OLLAMA
AGENTI_FN const agenti_wire *agenti_ollama(void);
AGENTI_FN const agenti_wire *agenti_ollama_generate(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_OLLAMA
/* ---- answers ---- */
enum { AGENTI_OL_ERROR, AGENTI_OL_MODEL, AGENTI_OL_MESSAGE, AGENTI_OL_THINKING, AGENTI_OL_CONTENT, AGENTI_OL_CALLS, AGENTI_OL_THOUGHTS,
       AGENTI_OL_RESPONSE, AGENTI_OL_ROOT_CALLS, AGENTI_OL_DONE, AGENTI_OL_REASON, AGENTI_OL_INPUT, AGENTI_OL_OUTPUT, AGENTI_OL_FIELDS };
static const agenti_field agenti_ol_rows[AGENTI_OL_FIELDS] = {
    { "error", -1 }, { "model", -1 }, { "message", -1 }, { "thinking", AGENTI_OL_MESSAGE }, { "content", AGENTI_OL_MESSAGE },
    { "tool_calls", AGENTI_OL_MESSAGE }, { "thinking", -1 }, { "response", -1 }, { "tool_calls", -1 }, { "done", -1 }, { "done_reason", -1 },
    { "prompt_eval_count", -1 }, { "eval_count", -1 }
};
/* Old versions leave the count of the prompt out, or say 0, when all of it was cached.                                 */
static void agenti_ol_usage(agenti_decoder *d, const agent_str *f)
{
    int64_t n;
    if (agenti_count(f[AGENTI_OL_INPUT], &n) && n > 0) { d->usage.input = n; d->has_usage = 1; }
    if (agenti_count(f[AGENTI_OL_OUTPUT], &n)) { d->usage.output = n; d->has_usage = 1; }
}
/* Without a reason, as old versions end, it is not known why (H2: it is `stop` after calls too).                        */
static int agenti_ol_done(agenti_decoder *d, const agent_str *f)
{
    agent_str raw;
    d->done = 1;
    if (!agenti_nonempty(f[AGENTI_OL_REASON])) return 1;
    if (!agenti_json_string(f[AGENTI_OL_REASON], NULL, &d->arena, &raw)) return 0;
    agenti_finish_set(d, agenti_eq(raw, "stop") ? AGENT_FINISH_STOP : agenti_eq(raw, "length") ? AGENT_FINISH_LENGTH : AGENT_FINISH_OTHER, raw);
    return 1;
}
/* Old versions give no ids, and "" for arguments when there are none (H1).                                             */
static AGENTI_NOINLINE int agenti_ol_call(agenti_decoder *d, agent_str call)
{
    enum { ID, FUNCTION, NAME, ARGUMENTS, FIELDS };
    static const agenti_field rows[FIELDS] = { { "id", -1 }, { "function", -1 }, { "name", FUNCTION }, { "arguments", FUNCTION } };
    agent_str f[FIELDS], args;
    agenti_op *op;
    uint32_t key = d->call_n;
    if (!agenti_is_object(call)) return 1;
    agenti_json_pick(call, rows, FIELDS, f);
    args = f[ARGUMENTS];
    if (!agenti_is_object(f[FUNCTION])) return 1;
    if (key >= d->call_limit) return agenti_too_many(d);
    if (!agenti_stream_end(d) || (op = agenti_op_add(d, AGENTI_OP_CALL, key)) == NULL) return 0;
    if (!agenti_string_of(d, f[ID], &op->a) || !agenti_string_of(d, f[NAME], &op->b)) return 0;
    if (args.n == 0 || agenti_eq(args, "null") || agenti_eq(args, "\"\"")) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, key)) == NULL) return 0;
    return agenti_is_string(args) ? agenti_string_of(d, args, &op->a) : agenti_raw_of(d, args, &op->a);
}
static int agenti_ol_calls(agenti_decoder *d, agent_str list)
{
    agent_str call;
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &call)) if (!agenti_ol_call(d, call)) return 0;
    return 1;
}
/* A line or a whole answer. Thoughts come before the text, though the text may stand before them.                       */
static int agenti_ol_object(agenti_decoder *d, agent_str json, int *known)
{
    agent_str f[AGENTI_OL_FIELDS];
    agenti_json_pick(json, agenti_ol_rows, AGENTI_OL_FIELDS, f);
    *known = agenti_is_object(f[AGENTI_OL_MESSAGE]) || f[AGENTI_OL_RESPONSE].n || f[AGENTI_OL_DONE].n;
    if (f[AGENTI_OL_ERROR].n && !agenti_eq(f[AGENTI_OL_ERROR], "null") && !agenti_eq(f[AGENTI_OL_ERROR], "\"\"")) {
        *known = 1;
        agenti_fault_object(d, json, 0);
        return 1;
    }
    if (!agenti_model_set(d, f[AGENTI_OL_MODEL])) return 0;
    if (!agenti_stream_add(d, AGENTI_OP_REASONING, f[AGENTI_OL_THINKING], 0) || !agenti_stream_add(d, AGENTI_OP_REASONING, f[AGENTI_OL_THOUGHTS], 0)
        || !agenti_stream_add(d, AGENTI_OP_TEXT, f[AGENTI_OL_CONTENT], 0) || !agenti_stream_add(d, AGENTI_OP_TEXT, f[AGENTI_OL_RESPONSE], 0)
        || !agenti_ol_calls(d, f[AGENTI_OL_CALLS]) || !agenti_ol_calls(d, f[AGENTI_OL_ROOT_CALLS])) return 0;
    agenti_ol_usage(d, f);
    return !agenti_eq(f[AGENTI_OL_DONE], "true") || agenti_ol_done(d, f);
}
static int agenti_ol_event(agenti_decoder *d, agent_str event, agent_str data)
{
    int known;
    (void)event;                              /* lines have none; who sends them as server-sent events names none        */
    data = agenti_trim(data);
    if (data.n == 0) return 1;
    if (agenti_eq(data, "[DONE]")) { d->done = d->finish != AGENT_FINISH_NONE; return 1; }
    if (data.p[0] != '{' || agent_json_check(data.p, data.n, d->depth_limit, NULL) != AGENT_OK) return agenti_payload_bad(d);
    return agenti_ol_object(d, data, &known);
}
static int agenti_ol_whole(agenti_decoder *d, agent_str body)
{
    int known = 0;
    if (agenti_is_object(body) && !agenti_ol_object(d, body, &known)) return 0;
    d->done = 1;
    if (!known) agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr("the answer is none of Ollama's"));
    return 1;
}

/* ---- requests ---- */
/* An effort is a level of thinking, a budget only tells whether to think.                                              */
static void agenti_ol_think_out(agenti_buf *b, const agenti_request *r)
{
    static const char *const words[] = { "none", "low", "low", "medium", "high", "max" };
    agent_str effort = agenti_effort(r, words), budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]);
    if (agenti_replaced(r, "think")) return;
    if (agenti_eq(effort, "none")) agenti_json_member(b, "think", agenti_cstr("false"));
    else if (effort.n) agenti_json_member_str(b, "think", effort);
    else if (budget.n) agenti_json_member(b, "think", agenti_cstr(agenti_eq(budget, "0") ? "false" : "true"));
}
static void agenti_ol_options_out(agenti_buf *b, const agenti_request *r)
{
    static const struct { const char *key; int option; } rows[] = {
        { "num_predict", AGENTI_OPT_MAX_TOKENS }, { "temperature", AGENTI_OPT_TEMPERATURE }, { "top_p", AGENTI_OPT_TOP_P },
        { "seed", AGENTI_OPT_SEED }, { "frequency_penalty", AGENTI_OPT_FREQUENCY }, { "presence_penalty", AGENTI_OPT_PRESENCE },
        { "top_k", AGENTI_OPT_TOP_K }
    };
    size_t i;
    if (agenti_replaced(r, "options")) return;
    agenti_buf_str(b, ",\"options\":{");
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        if (r->options[rows[i].option].n) agenti_json_member(b, rows[i].key, agenti_text_view(&r->options[rows[i].option]));
    agenti_stops_out(b, r, "stop");
    agenti_buf_str(b, "}");
}
static void agenti_ol_settings_out(agenti_buf *b, const agenti_request *r)
{
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "model")) agenti_json_member_str(b, "model", agenti_text_view(&r->options[AGENTI_OPT_MODEL]));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    agenti_ol_think_out(b, r);
    if (r->options[AGENTI_OPT_FORMAT].n && !agenti_replaced(r, "format"))
        agenti_json_member(b, "format", agenti_format_schema(r).n ? agenti_format_schema(r) : agenti_cstr("\"json\""));
    agenti_ol_options_out(b, r);
}
static void agenti_ol_head(agenti_buf *b, agenti_request *r)
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    if (choice.n && !agenti_eq(choice, "auto")) r->left_out |= AGENTI_BIT(AGENTI_OPT_TOOL_CHOICE);
    agenti_ol_settings_out(b, r);
    agenti_buf_str(b, ",\"messages\":[");
}
static void agenti_ol_open(agenti_buf *b, agenti_request *r, const char *role)
{
    agenti_buf_str(b, r->state ? ",{" : "{");
    r->state = 1;
    agenti_json_member_str(b, "role", agenti_cstr(role));
}
static void agenti_ol_system(agenti_buf *b, agenti_request *r, agent_str text)
{
    agenti_ol_open(b, r, "system");
    agenti_json_member_str(b, "content", text);
    agenti_buf_str(b, "}");
}
static int agenti_ol_is_image(const agenti_part *p) { return p->kind == AGENT_PART_IMAGE && (p->flags & AGENT_PART_BASE64) && p->text.n; }
/* A message has one text, and images beside it, by data only.                                                          */
static void agenti_ol_user_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, texts = 0, images = 0;
    agenti_ol_open(b, r, "user");
    agenti_json_member_str(b, "content", agenti_str(NULL, 0));
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        if (agenti_ol_is_image(p)) { images++; continue; }
        if (texts++) agenti_json_quote_more(b, agenti_cstr("\n\n"));
        if (p->text.n && !(p->flags & AGENT_PART_BASE64)) agenti_json_quote_more(b, agenti_text_view(&p->text));
        else agenti_media_left_more(b, r, p);
    }
    if (images) agenti_buf_str(b, ",\"images\":[");
    for (i = 0; i < m->n; i++) if (agenti_ol_is_image(&m->parts[i])) {
        agenti_json_comma(b);
        agenti_json_quote_to(b, agenti_text_view(&m->parts[i].text));
    }
    agenti_buf_str(b, images ? "]}" : "}");
}
static void agenti_ol_call_out(agenti_buf *b, const agenti_part *p)
{
    int usable = p->text.n && !(p->flags & AGENT_PART_INVALID);
    agenti_json_comma(b);
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "id", agenti_wire_id(p));
    agenti_buf_str(b, ",\"function\":{");
    agenti_tool_name_out(b, agenti_text_view(&p->name));
    agenti_json_member(b, "arguments", usable ? agenti_text_view(&p->text) : agenti_cstr("{}"));
    agenti_buf_str(b, "}}");
}
/* The parts of a kind as one string.                                                                                   */
static void agenti_ol_joined(agenti_buf *b, const char *key, const agenti_msg *m, int kind)
{
    uint32_t i;
    agenti_json_member_str(b, key, agenti_str(NULL, 0));
    for (i = 0; i < m->n; i++) if (m->parts[i].kind == kind) agenti_json_quote_more(b, agenti_text_view(&m->parts[i].text));
}
static void agenti_ol_model_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, texts = 0, calls = 0, thoughts = 0;
    for (i = 0; i < m->n; i++) {
        texts += m->parts[i].kind == AGENT_PART_TEXT && m->parts[i].text.n > 0;
        calls += m->parts[i].kind == AGENT_PART_CALL;
        thoughts += m->parts[i].kind == AGENT_PART_REASONING && m->parts[i].text.n > 0;
    }
    if (thoughts && m->model != r->model) { r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING); thoughts = 0; }
    if (texts + calls == 0) return;
    agenti_ol_open(b, r, "assistant");
    agenti_ol_joined(b, "content", m, AGENT_PART_TEXT);
    if (thoughts) agenti_ol_joined(b, "thinking", m, AGENT_PART_REASONING);
    if (calls) agenti_buf_str(b, ",\"tool_calls\":[");
    for (i = 0; i < m->n; i++) if (m->parts[i].kind == AGENT_PART_CALL) agenti_ol_call_out(b, &m->parts[i]);
    agenti_buf_str(b, calls ? "]}" : "}");
}
/* Old versions match a result by the tool's name, new ones by the id.                                                  */
static void agenti_ol_tools_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, at = 0;
    for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        agenti_ol_open(b, r, "tool");
        agenti_json_member_str(b, "tool_name", agenti_result_name(r, p, &at));
        agenti_json_member_str(b, "tool_call_id", agenti_wire_id(p));
        agenti_json_member_str(b, "content", p->text.n ? agenti_text_view(&p->text) : agenti_cstr("(no output)"));
        agenti_buf_str(b, "}");
    }
}
static void agenti_ol_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    if (m->role == AGENT_MODEL) agenti_ol_model_msg(b, r, m);
    else if (m->role == AGENT_USER) agenti_ol_user_msg(b, r, m);
    else agenti_ol_tools_msg(b, r, m);
}
/* No choice of tools can be told, so the words alone must do when no more calls are wanted.                             */
static void agenti_ol_tail(agenti_buf *b, const agenti_request *r)
{
    if (r->note) {
        agenti_buf_str(b, ",{\"role\":\"user\"");
        agenti_json_member_str(b, "content", agenti_cstr(r->note));
        agenti_buf_str(b, "}");
    }
    agenti_buf_str(b, "]");
}
/* /api/generate: what was said is one text; templates and images of its own are the host's, by members of its own.      */
static void agenti_og_head(agenti_buf *b, agenti_request *r)
{
    agent_str system = agenti_text_view(&r->options[AGENTI_OPT_SYSTEM]);
    if (r->tool_count) r->left_out |= AGENTI_BIT(AGENTI_LEFT_TOOLS);
    agenti_ol_settings_out(b, r);
    if (system.n && !agenti_replaced(r, "system")) agenti_json_member_str(b, "system", system);
    if (!agenti_replaced(r, "prompt")) agenti_buf_str(b, ",\"prompt\":\"");
}
static void agenti_og_tail(agenti_buf *b, const agenti_request *r)
{
    if (!agenti_replaced(r, "prompt")) agenti_buf_str(b, "\"");
}
static void agenti_og_tools(agenti_buf *b, const agenti_request *r) { (void)b; (void)r; }

/* Lines are short, and what stands last in one may come first, so nothing is cut.                                      */
#define AGENTI_OL_LACKS (AGENTI_BIT(AGENTI_OPT_PARALLEL) | AGENTI_BIT(AGENTI_OPT_TIER) | AGENTI_BIT(AGENTI_OPT_CACHE_KEY) | AGENTI_BIT(AGENTI_OPT_USER) \
    | AGENTI_BIT(AGENTI_LEFT_STRICT))
static const char *const agenti_ol_none[] = { NULL };
static const agenti_wire agenti_ollama_wire = {
    "ollama", "/chat", NULL, AGENTI_FRAMING_LINES, NULL, NULL, AGENTI_OL_LACKS,
    agenti_ol_head, agenti_ol_system, agenti_ol_message_out, agenti_ol_tail, agenti_functions_out, agenti_extra_out,
    agenti_ol_event, agenti_ol_whole, NULL,
    { agenti_ol_none, agenti_ol_none, agenti_ol_none, 0, agenti_ol_none }, { agenti_ol_none, agenti_ol_none, agenti_ol_none, 0, agenti_ol_none },
    NULL, NULL
};
static const agenti_wire agenti_ollama_generate_wire = {
    "ollama-generate", "/generate", NULL, AGENTI_FRAMING_LINES, NULL, NULL, AGENTI_OL_LACKS | AGENTI_BIT(AGENTI_OPT_TOOL_CHOICE),
    agenti_og_head, NULL, agenti_prompt_message, agenti_og_tail, agenti_og_tools, agenti_extra_out,
    agenti_ol_event, agenti_ol_whole, NULL,
    { agenti_ol_none, agenti_ol_none, agenti_ol_none, 0, agenti_ol_none }, { agenti_ol_none, agenti_ol_none, agenti_ol_none, 0, agenti_ol_none },
    NULL, NULL
};
AGENTI_FN const agenti_wire *agenti_ollama(void) { return &agenti_ollama_wire; }
AGENTI_FN const agenti_wire *agenti_ollama_generate(void) { return &agenti_ollama_generate_wire; }
#endif
#endif

/* ==== wire_cohere.c: Cohere chat ================================================================================== */
/* Cohere chat, version 2: https://docs.cohere.com/reference/chat and /chat-stream. An event is told by what is in it: `delta.message`
 * has a piece of a member of the `message` that a whole answer has. Answers of version 1, a line of JSON an event, are understood. */
#ifndef AGENT_NO_COHERE
AGENTI_FN const agenti_wire *agenti_cohere(void);
AGENTI_FN const agenti_wire *agenti_cohere_v1(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_COHERE
/* ---- answers ---- */
enum { AGENTI_CO_PLAN = 1 };                  /* agenti_decoder.sourced: the open stream is a plan for calls            */
static const char agenti_co_plan[] = "tool_plan";             /* agenti_part.data of one: it goes back as such          */

/* Counts of tokens, not of what is billed (H15).                                                                       */
static AGENTI_NOINLINE void agenti_co_usage(agenti_decoder *d, agent_str usage)
{
    enum { TOKENS, INPUT, OUTPUT, REASONING, CACHED, FIELDS };
    static const agenti_field rows[FIELDS] = {
        { "tokens", -1 }, { "input_tokens", TOKENS }, { "output_tokens", TOKENS }, { "reasoning_tokens", TOKENS }, { "cached_tokens", -1 }
    };
    agent_str f[FIELDS];
    int64_t n;
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, rows, FIELDS, f);
    if (agenti_count(f[INPUT], &n)) { d->usage.input = n; d->has_usage = 1; }
    if (agenti_count(f[OUTPUT], &n)) { d->usage.output = n; d->has_usage = 1; }
    if (agenti_count(f[REASONING], &n)) d->usage.reasoning = n;
    if (agenti_count(f[CACHED], &n)) d->usage.cached = n;
}
static int agenti_co_finish(agenti_decoder *d, agent_str value)
{
    static const struct { const char *word; int finish; } rows[] = {
        { "COMPLETE", AGENT_FINISH_STOP }, { "STOP_SEQUENCE", AGENT_FINISH_STOP }, { "MAX_TOKENS", AGENT_FINISH_LENGTH },
        { "ERROR_LIMIT", AGENT_FINISH_LENGTH }, { "TOOL_CALL", AGENT_FINISH_TOOLS }, { "ERROR", AGENT_FINISH_ERROR },
        { "TIMEOUT", AGENT_FINISH_ERROR }, { "ERROR_TOXIC", AGENT_FINISH_FILTER }
    };
    agent_str raw;
    size_t i;
    int finish = AGENT_FINISH_OTHER;
    if (!agenti_nonempty(value) || d->finish != AGENT_FINISH_NONE) return 1;
    if (!agenti_json_string(value, NULL, &d->arena, &raw)) return 0;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) if (agenti_eq(raw, rows[i].word)) finish = rows[i].finish;
    agenti_finish_set(d, finish, raw);
    return 1;
}
/* A piece of text, of thoughts or of a plan; a plan is a stream of its own, and says so for its way back (H14).          */
static int agenti_co_add(agenti_decoder *d, int kind, agent_str value, int plan)
{
    uint32_t before = d->streams;
    agenti_op *op;
    if (!agenti_nonempty(value)) return 1;
    if (d->sourced != plan && !agenti_stream_end(d)) return 0;
    d->sourced = (uint8_t)plan;
    if (!agenti_stream_add(d, kind, value, 0)) return 0;
    if (!plan || d->streams == before) return 1;
    if ((op = agenti_op_add(d, AGENTI_OP_DATA, d->stream)) == NULL) return 0;
    op->a = agenti_cstr(agenti_co_plan);
    return 1;
}
static int agenti_co_block(agenti_decoder *d, agent_str block)
{
    agent_str key, value;
    size_t pos = 0;
    while (agenti_is_object(block) && agent_json_each(block, &pos, &key, &value)) {
        if (agenti_eq(key, "text") && !agenti_co_add(d, AGENTI_OP_TEXT, value, 0)) return 0;
        if (agenti_eq(key, "thinking") && !agenti_co_add(d, AGENTI_OP_REASONING, value, 0)) return 0;
    }
    return 1;
}
/* Which call: the one of this id, or a new one if it has an id or a name, else the one of this index, else the last. lane_n: new. */
static uint32_t agenti_co_route(const agenti_decoder *d, agent_str id, int named, int has_index, int64_t index)
{
    uint32_t i;
    for (i = d->lane_n; id.n && i-- > 0;) if (d->lanes[i].id.n == id.n && memcmp(d->lanes[i].id.p, id.p, id.n) == 0) return i;
    if (id.n || named || d->lane_n == 0) return d->lane_n;
    for (i = d->lane_n; has_index && i-- > 0;) if (d->lanes[i].has_index && d->lanes[i].index == index) return i;
    return d->lane_n - 1;
}
static int agenti_co_call_new(agenti_decoder *d, agent_str id, agent_str name, int has_index, int64_t index)
{
    agenti_lane *l;
    agenti_op *op;
    if (!agenti_stream_end(d) || (l = agenti_lane_new(d)) == NULL) return 0;
    l->call = 1;
    l->key = d->lane_n - 1;
    l->has_index = (uint8_t)has_index;
    l->index = index;
    if (id.n && !agenti_text_set(&l->id, d->pool, d->graves, id)) return 0;
    if ((op = agenti_op_add(d, AGENTI_OP_CALL, l->key)) == NULL) return 0;
    op->a = id;
    return agenti_string_of(d, name, &op->b);
}
/* No arguments are "", or the string "null" (H14).                                                                     */
static int agenti_co_args(agenti_decoder *d, agenti_lane *l, agent_str args)
{
    agenti_op *op;
    agent_str text;
    if (args.n == 0 || agenti_eq(args, "null") || agenti_eq(args, "\"\"") || (!l->whole && agenti_eq(args, "\"null\""))) return 1;
    l->whole = 1;                             /* not the first piece any more                                           */
    if (agenti_is_string(args) ? !agenti_json_string(args, &l->high, &d->arena, &text) : !agenti_raw_of(d, args, &text)) return 0;
    if ((op = agenti_op_add(d, AGENTI_OP_ARGS, l->key)) == NULL) return 0;
    op->a = text;
    return 1;
}
static AGENTI_NOINLINE int agenti_co_call(agenti_decoder *d, agent_str call, int has_index, int64_t index)
{
    enum { ID, FUNCTION, NAME, ARGUMENTS, FIELDS };
    static const agenti_field rows[FIELDS] = { { "id", -1 }, { "function", -1 }, { "name", FUNCTION }, { "arguments", FUNCTION } };
    agent_str f[FIELDS], id;
    uint32_t at;
    if (!agenti_is_object(call)) return 1;
    agenti_json_pick(call, rows, FIELDS, f);
    if (!agenti_string_of(d, f[ID], &id)) return 0;
    at = agenti_co_route(d, id, agenti_nonempty(f[NAME]), has_index, index);
    if (at == d->lane_n && at >= d->call_limit) return agenti_too_many(d);
    if (at == d->lane_n && !agenti_co_call_new(d, id, f[NAME], has_index, index)) return 0;
    return agenti_co_args(d, &d->lanes[at], f[ARGUMENTS]);
}
/* Where in the text what is taken from which documents or results; those with a URL are sources.                        */
static int agenti_co_cite(agenti_decoder *d, agent_str citation)
{
    agent_str list = agent_json_get(citation, "sources"), item, from;
    size_t pos = 0;
    if (!agenti_is_object(citation)) return 1;
    if (!agenti_news_add(d, citation, "citation")) return 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &item)) {
        if (!agenti_is_object(item)) continue;
        from = agent_json_get(item, "document");
        if (!agenti_is_object(from)) from = agent_json_get(item, "tool_output");
        if (agenti_is_object(from) && !agenti_source_add(d, agent_json_get(from, "url"), agent_json_get(from, "title"))) return 0;
    }
    return 1;
}
/* One member of a message: an event has one object, a whole answer a list of them.                                     */
static int agenti_co_member(agenti_decoder *d, agent_str key, agent_str value, int has_index, int64_t index)
{
    int list = agenti_is_array(value), kind = agenti_eq(key, "content") ? 1 : agenti_eq(key, "tool_calls") ? 2 : agenti_eq(key, "citations") ? 3 : 0;
    agent_str item = value;
    size_t pos = 0;
    if (agenti_eq(key, "tool_plan")) return agenti_co_add(d, AGENTI_OP_REASONING, value, AGENTI_CO_PLAN);
    if (kind == 1 && agenti_is_string(value)) return agenti_co_add(d, AGENTI_OP_TEXT, value, 0);
    while (kind && (!list || agent_json_each(value, &pos, NULL, &item))) {
        if (kind == 1 && !agenti_co_block(d, item)) return 0;
        if (kind == 2 && !agenti_co_call(d, item, has_index, index)) return 0;
        if (kind == 3 && !agenti_co_cite(d, item)) return 0;
        if (!list) break;
    }
    return 1;
}
enum { AGENTI_CE_TYPE, AGENTI_CE_INDEX, AGENTI_CE_DELTA, AGENTI_CE_DELTA_MESSAGE, AGENTI_CE_DELTA_FINISH, AGENTI_CE_DELTA_USAGE, AGENTI_CE_DELTA_ERROR,
       AGENTI_CE_MESSAGE, AGENTI_CE_FINISH, AGENTI_CE_USAGE, AGENTI_CE_ERROR, AGENTI_CE_FIELDS };
static const agenti_field agenti_co_rows[AGENTI_CE_FIELDS] = {
    { "type", -1 }, { "index", -1 }, { "delta", -1 }, { "message", AGENTI_CE_DELTA }, { "finish_reason", AGENTI_CE_DELTA },
    { "usage", AGENTI_CE_DELTA }, { "error", AGENTI_CE_DELTA }, { "message", -1 }, { "finish_reason", -1 }, { "usage", -1 }, { "error", -1 }
};
/* What message-end says; `error` has words where the finish reason is ERROR.                                           */
static int agenti_co_end(agenti_decoder *d, const agent_str *f)
{
    agent_str text;
    agenti_co_usage(d, f[AGENTI_CE_DELTA_USAGE]);
    agenti_co_usage(d, f[AGENTI_CE_USAGE]);
    if (!agenti_co_finish(d, f[AGENTI_CE_DELTA_FINISH]) || !agenti_co_finish(d, f[AGENTI_CE_FINISH])) return 0;
    if (!agenti_nonempty(f[AGENTI_CE_DELTA_ERROR])) return 1;
    if (!agenti_json_string(f[AGENTI_CE_DELTA_ERROR], NULL, &d->arena, &text)) return 0;
    agenti_fault_set(d, AGENT_FAULT_SERVER, 1, "", text);
    return 1;
}
/* An event or a whole answer. Members of the message are taken in their order, so it may be cut anywhere.                */
static AGENTI_NOINLINE int agenti_co_object(agenti_decoder *d, agent_str json, int *known)
{
    agent_str f[AGENTI_CE_FIELDS], message, key, value;
    size_t pos = 0;
    int64_t index = 0;
    int has_index;
    agenti_json_pick(json, agenti_co_rows, AGENTI_CE_FIELDS, f);
    message = f[agenti_is_object(f[AGENTI_CE_DELTA]) ? AGENTI_CE_DELTA_MESSAGE : AGENTI_CE_MESSAGE];
    *known = agenti_is_object(message) || agenti_is_string(f[AGENTI_CE_FINISH]) || f[AGENTI_CE_TYPE].n > 0;
    if ((f[AGENTI_CE_ERROR].n && !agenti_eq(f[AGENTI_CE_ERROR], "null")) || (!*known && agenti_is_string(message))) {
        *known = 1;
        agenti_fault_object(d, json, 0);
        return 1;
    }
    has_index = f[AGENTI_CE_INDEX].n && agenti_int(f[AGENTI_CE_INDEX], &index);
    while (agenti_is_object(message) && agent_json_each(message, &pos, &key, &value))
        if (!agenti_co_member(d, key, value, has_index, index)) return 0;
    if (agent_json_is(f[AGENTI_CE_TYPE], "content-end") && !agenti_stream_end(d)) return 0;
    if (!agenti_co_end(d, f)) return 0;
    if (agent_json_is(f[AGENTI_CE_TYPE], "message-end") && message.n == 0) d->done = 1;      /* else it may be cut, and go on */
    return 1;
}
/* 1: it is an object, *data, 0: there is nothing to read in it (any more), -1: no memory                                */
static int agenti_co_payload(agenti_decoder *d, agent_str *data)
{
    *data = agenti_trim(*data);
    if (data->n == 0 || data->p[0] == ':') return 0;
    if (agenti_eq(*data, "[DONE]")) { d->done = d->finish != AGENT_FINISH_NONE; return 0; }
    if (data->p[0] == '{' && agent_json_check(data->p, data->n, d->depth_limit, NULL) == AGENT_OK) return 1;
    return agenti_payload_bad(d) ? 0 : -1;
}
static int agenti_co_event(agenti_decoder *d, agent_str event, agent_str data)
{
    int known, rc = agenti_co_payload(d, &data);
    if (rc <= 0) return rc == 0;
    if (!agenti_eq(event, "error")) return agenti_co_object(d, data, &known);
    agenti_fault_object(d, data, 0);
    return 1;
}
static int agenti_co_whole(agenti_decoder *d, agent_str body)
{
    int known = 0;
    if (agenti_is_object(body) && !agenti_co_object(d, body, &known)) return 0;
    d->done = 1;
    if (!known) agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr("the answer is none of Cohere's"));
    return 1;
}

/* ---- answers of version 1 ---- */
enum { AGENTI_C1_TYPE, AGENTI_C1_TEXT, AGENTI_C1_CALLS, AGENTI_C1_CITATIONS, AGENTI_C1_FINISH, AGENTI_C1_META, AGENTI_C1_RESPONSE,
       AGENTI_C1_RESPONSE_META, AGENTI_C1_MESSAGE, AGENTI_C1_ERROR, AGENTI_C1_FIELDS };
static const agenti_field agenti_c1_rows[AGENTI_C1_FIELDS] = {
    { "event_type", -1 }, { "text", -1 }, { "tool_calls", -1 }, { "citations", -1 }, { "finish_reason", -1 }, { "meta", -1 }, { "response", -1 },
    { "meta", AGENTI_C1_RESPONSE }, { "message", -1 }, { "error", -1 }
};
static int agenti_c1_calls(agenti_decoder *d, agent_str list)                  /* they have no ids                      */
{
    agent_str call;
    size_t pos = 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &call)) {
        if (!agenti_is_object(call)) continue;
        if (d->lane_n >= d->call_limit) return agenti_too_many(d);
        if (!agenti_co_call_new(d, agenti_str(NULL, 0), agent_json_get(call, "name"), 0, 0)) return 0;
        if (!agenti_co_args(d, &d->lanes[d->lane_n - 1], agent_json_get(call, "parameters"))) return 0;
    }
    return 1;
}
/* The text that comes with calls is a plan; once it was streamed, the event with the calls repeats it. The last event repeats all. */
static int agenti_c1_text(agenti_decoder *d, const agent_str *f)
{
    int chunk = agent_json_is(f[AGENTI_C1_TYPE], "tool-calls-chunk"), calls = agenti_is_array(f[AGENTI_C1_CALLS]) && f[AGENTI_C1_CALLS].n > 2;
    if (!chunk && !calls) return agenti_co_add(d, AGENTI_OP_TEXT, f[AGENTI_C1_TEXT], 0);
    if (!chunk && d->sourced == AGENTI_CO_PLAN) return 1;
    return agenti_co_add(d, AGENTI_OP_REASONING, f[AGENTI_C1_TEXT], AGENTI_CO_PLAN);
}
static AGENTI_NOINLINE int agenti_c1_object(agenti_decoder *d, agent_str json, int *known)
{
    agent_str f[AGENTI_C1_FIELDS], item;
    size_t pos = 0;
    agenti_json_pick(json, agenti_c1_rows, AGENTI_C1_FIELDS, f);
    *known = f[AGENTI_C1_TYPE].n || agenti_is_string(f[AGENTI_C1_TEXT]) || agenti_is_string(f[AGENTI_C1_FINISH]);
    if ((f[AGENTI_C1_ERROR].n && !agenti_eq(f[AGENTI_C1_ERROR], "null")) || (!*known && agenti_is_string(f[AGENTI_C1_MESSAGE]))) {
        *known = 1;
        agenti_fault_object(d, json, 0);
        return 1;
    }
    if (!agenti_c1_text(d, f) || !agenti_c1_calls(d, f[AGENTI_C1_CALLS])) return 0;
    while (agenti_is_array(f[AGENTI_C1_CITATIONS]) && agent_json_each(f[AGENTI_C1_CITATIONS], &pos, NULL, &item))
        if (!agenti_co_cite(d, item)) return 0;
    agenti_co_usage(d, f[AGENTI_C1_META]);
    agenti_co_usage(d, f[AGENTI_C1_RESPONSE_META]);
    if (agent_json_is(f[AGENTI_C1_TYPE], "stream-end")) d->done = 1;
    return agenti_co_finish(d, f[AGENTI_C1_FINISH]);
}
static int agenti_c1_event(agenti_decoder *d, agent_str event, agent_str data)
{
    int known, rc = agenti_co_payload(d, &data);
    (void)event;
    return rc <= 0 ? rc == 0 : agenti_c1_object(d, data, &known);
}
static int agenti_c1_whole(agenti_decoder *d, agent_str body)
{
    int known = 0;
    if (agenti_is_object(body) && !agenti_c1_object(d, body, &known)) return 0;
    d->done = 1;
    if (!known) agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr("the answer is none of Cohere's"));
    return 1;
}

/* ---- requests ---- */
static void agenti_co_thinking_out(agenti_buf *b, const agenti_request *r)
{
    agent_str budget = agenti_text_view(&r->options[AGENTI_OPT_THINKING]), effort = agenti_text_view(&r->options[AGENTI_OPT_EFFORT]);
    if (budget.n == 0 && effort.n) budget = agenti_cstr(agenti_eq(effort, "off") || agenti_eq(effort, "none") ? "0" : "adaptive");     /* on or off */
    if (budget.n == 0 || agenti_replaced(r, "thinking")) return;
    agenti_buf_str(b, ",\"thinking\":{\"type\":");
    agenti_buf_str(b, agenti_eq(budget, "0") ? "\"disabled\"" : "\"enabled\"");
    if (!agenti_eq(budget, "0") && !agenti_eq(budget, "adaptive")) agenti_json_member(b, "token_budget", budget);
    agenti_buf_str(b, "}");
}
static void agenti_co_format_out(agenti_buf *b, const agenti_request *r)
{
    size_t i;
    uint32_t strict = 0;
    for (i = 0; i < r->tool_count; i++) strict |= r->tools[i].flags & AGENT_TF_STRICT;
    if (strict && !agenti_replaced(r, "strict_tools")) agenti_json_member(b, "strict_tools", agenti_cstr("true"));       /* one for all */
    if (r->options[AGENTI_OPT_FORMAT].n == 0 || agenti_replaced(r, "response_format")) return;
    agenti_buf_str(b, ",\"response_format\":{\"type\":\"json_object\"");
    if (agenti_format_schema(r).n) agenti_json_member(b, "json_schema", agenti_format_schema(r));
    agenti_buf_str(b, "}");
}
/* A call can be forced or forbidden. A certain tool can only be forced if it is the only one.                           */
static const char *agenti_co_choice(const agenti_request *r)                   /* "": none was made; NULL: it cannot be told */
{
    agent_str choice = agenti_text_view(&r->options[AGENTI_OPT_TOOL_CHOICE]);
    if (r->tools_off || agenti_eq(choice, "none")) return "NONE";
    if (choice.n == 0 || agenti_eq(choice, "auto")) return "";
    return agenti_eq(choice, "required") || r->tool_count == 1 ? "REQUIRED" : NULL;
}
static void agenti_co_head(agenti_buf *b, agenti_request *r)
{
    if (agenti_co_choice(r) == NULL) r->left_out |= AGENTI_BIT(AGENTI_OPT_TOOL_CHOICE);
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "model")) agenti_json_member_str(b, "model", agenti_text_view(&r->options[AGENTI_OPT_MODEL]));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    agenti_option_out(b, r, "max_tokens", AGENTI_OPT_MAX_TOKENS);
    agenti_option_out(b, r, "temperature", AGENTI_OPT_TEMPERATURE);
    agenti_option_out(b, r, "p", AGENTI_OPT_TOP_P);
    agenti_option_out(b, r, "k", AGENTI_OPT_TOP_K);
    agenti_option_out(b, r, "seed", AGENTI_OPT_SEED);
    agenti_option_out(b, r, "frequency_penalty", AGENTI_OPT_FREQUENCY);
    agenti_option_out(b, r, "presence_penalty", AGENTI_OPT_PRESENCE);
    agenti_stops_out(b, r, "stop_sequences");
    agenti_co_thinking_out(b, r);
    agenti_co_format_out(b, r);
    agenti_buf_str(b, ",\"messages\":[");
}
static void agenti_co_open(agenti_buf *b, agenti_request *r, const char *role)
{
    agenti_buf_str(b, r->state ? ",{" : "{");
    r->state = 1;
    agenti_json_member_str(b, "role", agenti_cstr(role));
}
static void agenti_co_system(agenti_buf *b, agenti_request *r, agent_str text)
{
    agenti_co_open(b, r, "system");
    agenti_json_member_str(b, "content", text);
    agenti_buf_str(b, "}");
}
/* Texts, plain text, and images by data or by URL.                                                                     */
static void agenti_co_user_part(agenti_buf *b, agenti_request *r, const agenti_part *p)
{
    agenti_json_comma(b);
    agenti_buf_str(b, "{\"type\":");
    if (p->kind == AGENT_PART_IMAGE) {
        agenti_buf_str(b, "\"image_url\",\"image_url\":{\"url\":");
        agenti_data_url_out(b, p);
        agenti_buf_str(b, "}");
    } else {
        agenti_buf_str(b, "\"text\",\"text\":");
        if (p->text.n && !(p->flags & AGENT_PART_BASE64)) agenti_json_quote_to(b, agenti_text_view(&p->text));
        else agenti_media_left_out(b, r, p);
    }
    agenti_buf_str(b, "}");
}
static void agenti_co_user_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i;
    agenti_co_open(b, r, "user");
    if (m->n == 1 && m->parts[0].kind == AGENT_PART_TEXT) agenti_json_member_str(b, "content", agenti_text_view(&m->parts[0].text));
    else {
        agenti_buf_str(b, ",\"content\":[");
        for (i = 0; i < m->n; i++) agenti_co_user_part(b, r, &m->parts[i]);
        agenti_buf_str(b, "]");
    }
    agenti_buf_str(b, "}");
}
/* What a part of the model is in a request: a block of `content`, a plan, a call, or nothing.                           */
enum { AGENTI_CM_NONE, AGENTI_CM_BLOCK, AGENTI_CM_PLAN, AGENTI_CM_CALL, AGENTI_CM_COUNT };
static int agenti_co_part_is(const agenti_request *r, const agenti_msg *m, const agenti_part *p)
{
    if (p->kind == AGENT_PART_CALL) return AGENTI_CM_CALL;
    if (p->text.n == 0) return AGENTI_CM_NONE;
    if (p->kind == AGENT_PART_TEXT) return AGENTI_CM_BLOCK;
    if (p->kind != AGENT_PART_REASONING || m->model != r->model) return AGENTI_CM_NONE;
    return agenti_eq(agenti_text_view(&p->data), agenti_co_plan) ? AGENTI_CM_PLAN : AGENTI_CM_BLOCK;
}
static void agenti_co_model_part(agenti_buf *b, const agenti_part *p)
{
    int usable = p->text.n && !(p->flags & AGENT_PART_INVALID), thought = p->kind == AGENT_PART_REASONING;
    agenti_json_comma(b);
    if (p->kind != AGENT_PART_CALL) {
        agenti_buf_str(b, thought ? "{\"type\":\"thinking\"" : "{\"type\":\"text\"");
        agenti_json_member_str(b, thought ? "thinking" : "text", agenti_text_view(&p->text));
        agenti_buf_str(b, "}");
        return;
    }
    agenti_buf_str(b, "{");
    agenti_json_member_str(b, "id", agenti_wire_id(p));
    agenti_buf_str(b, ",\"type\":\"function\",\"function\":{");
    agenti_tool_name_out(b, agenti_text_view(&p->name));
    agenti_json_member_str(b, "arguments", usable ? agenti_text_view(&p->text) : agenti_cstr("{}"));
    agenti_buf_str(b, "}}");
}
/* The parts of one kind, as a list, a plan as a string.                                                                */
static void agenti_co_parts_out(agenti_buf *b, const agenti_request *r, const agenti_msg *m, const char *key, int kind)
{
    uint32_t i;
    agenti_json_key(b, key);
    agenti_buf_str(b, kind == AGENTI_CM_PLAN ? "\"\"" : "[");
    for (i = 0; i < m->n; i++) {
        if (agenti_co_part_is(r, m, &m->parts[i]) != kind) continue;
        if (kind == AGENTI_CM_PLAN) agenti_json_quote_more(b, agenti_text_view(&m->parts[i].text));
        else agenti_co_model_part(b, &m->parts[i]);
    }
    if (kind != AGENTI_CM_PLAN) agenti_buf_str(b, "]");
}
static void agenti_co_model_msg(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i, has[AGENTI_CM_COUNT] = { 0, 0, 0, 0 };
    for (i = 0; i < m->n; i++) {
        has[agenti_co_part_is(r, m, &m->parts[i])]++;
        if (m->parts[i].kind == AGENT_PART_REASONING && m->model != r->model) r->left_out |= AGENTI_BIT(AGENTI_LEFT_REASONING);
    }
    if (has[AGENTI_CM_BLOCK] + has[AGENTI_CM_CALL] == 0) return;
    agenti_co_open(b, r, "assistant");
    if (has[AGENTI_CM_BLOCK]) agenti_co_parts_out(b, r, m, "content", AGENTI_CM_BLOCK);
    if (has[AGENTI_CM_PLAN] && has[AGENTI_CM_CALL]) agenti_co_parts_out(b, r, m, "tool_plan", AGENTI_CM_PLAN);
    if (has[AGENTI_CM_CALL]) agenti_co_parts_out(b, r, m, "tool_calls", AGENTI_CM_CALL);
    agenti_buf_str(b, "}");
}
static void agenti_co_message_out(agenti_buf *b, agenti_request *r, const agenti_msg *m)
{
    uint32_t i;
    if (m->role == AGENT_MODEL) agenti_co_model_msg(b, r, m);
    else if (m->role == AGENT_USER) agenti_co_user_msg(b, r, m);
    else for (i = 0; i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        agenti_co_open(b, r, "tool");
        agenti_json_member_str(b, "tool_call_id", agenti_wire_id(p));
        agenti_json_member_str(b, "content", p->text.n ? agenti_text_view(&p->text) : agenti_cstr("(no output)"));
        agenti_buf_str(b, "}");
    }
}
static void agenti_co_tail(agenti_buf *b, const agenti_request *r)
{
    const char *choice = agenti_co_choice(r);
    if (r->note) {
        agenti_buf_str(b, ",{\"role\":\"user\"");
        agenti_json_member_str(b, "content", agenti_cstr(r->note));
        agenti_buf_str(b, "}");
    }
    agenti_buf_str(b, "]");
    if ((r->tool_count == 0 && !agenti_replaced(r, "tools")) || choice == NULL || *choice == 0) return;
    if (r->tools_off || (!agenti_replaced(r, "tool_choice") && (!r->choice_off || *choice == 'N')))
        agenti_json_member_str(b, "tool_choice", agenti_cstr(choice));
}
/* Only texts are cut: a block, a plan. Arguments are not, since "null" is none; nor what citations quote.               */
static const char *const agenti_co_parts[] = { "text", "thinking", "tool_plan", NULL };
static const char *const agenti_co_routing[] = { "type", "index", NULL };
static const char *const agenti_co_owner[] = { "type", NULL };
static const char *const agenti_co_held[] = { "tool_calls", "citations", NULL };
static const char *const agenti_co_none[] = { NULL };
static const agenti_wire agenti_cohere_wire = {
    "cohere-v2", "/chat", NULL, AGENTI_FRAMING_SSE, NULL, NULL, AGENTI_BIT(AGENTI_OPT_PARALLEL) | AGENTI_BIT(AGENTI_OPT_TIER)
        | AGENTI_BIT(AGENTI_OPT_CACHE_KEY) | AGENTI_BIT(AGENTI_OPT_USER),
    agenti_co_head, agenti_co_system, agenti_co_message_out, agenti_co_tail, agenti_functions_out, agenti_extra_out,
    agenti_co_event, agenti_co_whole, NULL,
    { agenti_co_parts, agenti_co_routing, agenti_co_owner, 0, agenti_co_held }, { agenti_co_parts, agenti_co_routing, agenti_co_owner, 0, agenti_co_held },
    NULL, NULL
};
static const agenti_wire agenti_cohere_v1_wire = {
    "cohere-v1", "/chat", NULL, AGENTI_FRAMING_LINES, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, agenti_c1_event, agenti_c1_whole, NULL,
    { agenti_co_none, agenti_co_none, agenti_co_none, 0, agenti_co_none }, { agenti_co_none, agenti_co_none, agenti_co_none, 0, agenti_co_none },
    NULL, NULL
};
AGENTI_FN const agenti_wire *agenti_cohere(void) { return &agenti_cohere_wire; }
AGENTI_FN const agenti_wire *agenti_cohere_v1(void) { return &agenti_cohere_v1_wire; }
#endif
#endif

/* ==== wire_openai_completions.c: OpenAI text completions ========================================================== */
/* OpenAI completions, the form before chat: https://platform.openai.com/docs/api-reference/completions. A text goes on: no messages, no
 * tools. Answers: `text_completion`, streamed or whole. */
#ifndef AGENT_NO_OPENAI_COMPLETIONS
AGENTI_FN const agenti_wire *agenti_openai_completions(void);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_WIRE_OPENAI_COMPLETIONS
/* ---- answers ---- */
static AGENTI_NOINLINE void agenti_ot_usage(agenti_decoder *d, agent_str usage)
{
    enum { AT_INPUT, AT_OUTPUT, AT_IN_DETAILS, AT_CACHED, AT_OUT_DETAILS, AT_REASONING, AT_FIELDS };
    static const agenti_field rows[AT_FIELDS] = {
        { "prompt_tokens", -1 }, { "completion_tokens", -1 }, { "prompt_tokens_details", -1 }, { "cached_tokens", AT_IN_DETAILS },
        { "completion_tokens_details", -1 }, { "reasoning_tokens", AT_OUT_DETAILS }
    };
    agent_str f[AT_FIELDS];
    int64_t n;
    if (!agenti_is_object(usage)) return;
    agenti_json_pick(usage, rows, AT_FIELDS, f);
    if (agenti_count(f[AT_INPUT], &n)) { d->usage.input = n; d->has_usage = 1; }
    if (agenti_count(f[AT_OUTPUT], &n)) { d->usage.output = n; d->has_usage = 1; }
    if (agenti_count(f[AT_CACHED], &n)) d->usage.cached = n;
    if (agenti_count(f[AT_REASONING], &n)) d->usage.reasoning = n;
}
/* The first real reason counts; null and "" are none.                                                                  */
static int agenti_ot_finish(agenti_decoder *d, agent_str value)
{
    agent_str raw;
    int finish;
    if (!agenti_nonempty(value) || d->finish != AGENT_FINISH_NONE) return 1;
    if (!agenti_json_string(value, NULL, &d->arena, &raw)) return 0;
    finish = agenti_eq(raw, "stop") ? AGENT_FINISH_STOP : agenti_eq(raw, "length") ? AGENT_FINISH_LENGTH :
        agenti_eq(raw, "content_filter") ? AGENT_FINISH_FILTER : AGENT_FINISH_OTHER;
    agenti_finish_set(d, finish, raw);
    return 1;
}
/* Of several choices the first one counts.                                                                             */
static AGENTI_NOINLINE int agenti_ot_choice(agenti_decoder *d, agent_str choice)
{
    enum { AT_TEXT, AT_INDEX, AT_FINISH, AT_FIELDS };
    static const agenti_field rows[AT_FIELDS] = { { "text", -1 }, { "index", -1 }, { "finish_reason", -1 } };
    agent_str f[AT_FIELDS];
    int64_t index;
    if (!agenti_is_object(choice)) return 1;
    agenti_json_pick(choice, rows, AT_FIELDS, f);
    if (f[AT_INDEX].n && agenti_int(f[AT_INDEX], &index) && index != 0) return 1;
    return agenti_stream_add(d, AGENTI_OP_TEXT, f[AT_TEXT], 0) && agenti_ot_finish(d, f[AT_FINISH]);
}
static int agenti_ot_object(agenti_decoder *d, agent_str json, int *known)
{
    enum { AT_ERROR, AT_USAGE, AT_CHOICES, AT_MODEL, AT_FIELDS };
    static const agenti_field rows[AT_FIELDS] = { { "error", -1 }, { "usage", -1 }, { "choices", -1 }, { "model", -1 } };
    agent_str f[AT_FIELDS], choice;
    size_t pos = 0;
    agenti_json_pick(json, rows, AT_FIELDS, f);
    *known = f[AT_CHOICES].n || f[AT_USAGE].n;
    if (f[AT_ERROR].n && !agenti_eq(f[AT_ERROR], "null")) {
        *known = 1;
        agenti_fault_object(d, json, 0);
        return 1;
    }
    agenti_ot_usage(d, f[AT_USAGE]);
    if (!agenti_model_set(d, f[AT_MODEL])) return 0;
    while (agenti_is_array(f[AT_CHOICES]) && agent_json_each(f[AT_CHOICES], &pos, NULL, &choice)) if (!agenti_ot_choice(d, choice)) return 0;
    return 1;
}
static int agenti_ot_event(agenti_decoder *d, agent_str event, agent_str data)
{
    int known;
    data = agenti_trim(data);
    if (data.n == 0 || data.p[0] == ':') return 1;
    if (agenti_eq(data, "[DONE]")) { d->done = 1; return 1; }
    if (data.p[0] != '{' || agent_json_check(data.p, data.n, d->depth_limit, NULL) != AGENT_OK) {
        if (!agenti_eq(event, "error")) return agenti_payload_bad(d);
        agenti_fault_set(d, AGENT_FAULT_SERVER, 1, "", data);
        return 1;
    }
    if (!agenti_eq(event, "error")) return agenti_ot_object(d, data, &known);
    agenti_fault_object(d, data, 0);
    return 1;
}
static int agenti_ot_whole(agenti_decoder *d, agent_str body)
{
    int known = 0;
    if (agenti_is_object(body) && !agenti_ot_object(d, body, &known)) return 0;
    d->done = 1;
    if (!known) agenti_fault_set(d, AGENT_FAULT_PROTOCOL, 0, "", agenti_cstr("the answer is no text completion"));
    return 1;
}

/* ---- requests ---- */
static void agenti_ot_head(agenti_buf *b, agenti_request *r)
{
    agent_str system = agenti_text_view(&r->options[AGENTI_OPT_SYSTEM]);
    if (r->tool_count) r->left_out |= AGENTI_BIT(AGENTI_LEFT_TOOLS);
    agenti_buf_str(b, "{");
    if (!agenti_replaced(r, "model")) agenti_json_member_str(b, "model", agenti_text_view(&r->options[AGENTI_OPT_MODEL]));
    agenti_json_member(b, "stream", agenti_cstr(r->stream ? "true" : "false"));
    if (r->stream && !(r->dialect & AGENT_DIALECT_NO_STREAM_OPTIONS) && !agenti_replaced(r, "stream_options"))
        agenti_json_member(b, "stream_options", agenti_cstr("{\"include_usage\":true}"));
    agenti_option_out(b, r, "max_tokens", AGENTI_OPT_MAX_TOKENS);
    agenti_option_out(b, r, "temperature", AGENTI_OPT_TEMPERATURE);
    agenti_option_out(b, r, "top_p", AGENTI_OPT_TOP_P);
    agenti_option_out(b, r, "seed", AGENTI_OPT_SEED);
    agenti_option_out(b, r, "frequency_penalty", AGENTI_OPT_FREQUENCY);
    agenti_option_out(b, r, "presence_penalty", AGENTI_OPT_PRESENCE);
    agenti_option_out(b, r, "stop", AGENTI_OPT_STOP);
    if (r->options[AGENTI_OPT_USER].n && !agenti_replaced(r, "user")) agenti_json_member_str(b, "user", agenti_text_view(&r->options[AGENTI_OPT_USER]));
    if (agenti_replaced(r, "prompt")) return;
    agenti_buf_str(b, ",\"prompt\":\"");
    agenti_prompt_text(b, system);
}
static void agenti_ot_tail(agenti_buf *b, const agenti_request *r)
{
    if (!agenti_replaced(r, "prompt")) agenti_buf_str(b, "\"");
}
static void agenti_ot_tools(agenti_buf *b, const agenti_request *r) { (void)b; (void)r; }
static const char *const agenti_ot_parts[] = { "text", NULL };
static const char *const agenti_ot_owner[] = { "index", NULL };
static const char *const agenti_ot_held[] = { "logprobs", NULL };
static const agenti_wire agenti_openai_completions_wire = {
    "openai-completions", "/completions", NULL, AGENTI_FRAMING_SSE, NULL, NULL,
    AGENTI_BIT(AGENTI_OPT_TOOL_CHOICE) | AGENTI_BIT(AGENTI_OPT_PARALLEL) | AGENTI_BIT(AGENTI_OPT_EFFORT) | AGENTI_BIT(AGENTI_OPT_THINKING)
        | AGENTI_BIT(AGENTI_OPT_FORMAT) | AGENTI_BIT(AGENTI_OPT_TIER) | AGENTI_BIT(AGENTI_OPT_CACHE_KEY) | AGENTI_BIT(AGENTI_OPT_TOP_K),
    agenti_ot_head, NULL, agenti_prompt_message, agenti_ot_tail, agenti_ot_tools, agenti_extra_out, agenti_ot_event, agenti_ot_whole, NULL,
    { agenti_ot_parts, agenti_ot_owner, agenti_ot_owner, 0, agenti_ot_held }, { agenti_ot_parts, agenti_ot_owner, agenti_ot_owner, 0, agenti_ot_held },
    NULL, NULL
};
AGENTI_FN const agenti_wire *agenti_openai_completions(void) { return &agenti_openai_completions_wire; }
#endif
#endif

/* ==== providers.c: wire formats and providers by name ============================================================= */
/* Who speaks what: the wire formats by name, and the table of providers. A host's own rows win. */
AGENTI_FN const agenti_wire *agenti_wire_find(agent_str name);                                  /* NULL: unknown        */
AGENTI_FN const agent_provider *agenti_provider_find(const agent_provider *rows, size_t n, agent_str name);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_PROVIDERS
/* What Copilot wants to know of who asks; a host sends its own names.                                                  */
#define AGENTI_COPILOT "Copilot-Integration-Id: vscode-chat\nEditor-Version: agent.h/" AGENT_VERSION "\n"
static const agent_provider agenti_providers[] = {
    { "openai", "https://api.openai.com/v1", "openai-chat", "bearer", "OPENAI_API_KEY", AGENT_DIALECT_MAX_COMPLETION_TOKENS, "/models", NULL },
    { "openai-responses", "https://api.openai.com/v1", "openai-responses", "bearer", "OPENAI_API_KEY", 0, "/models", NULL },
    { "openai-completions", "https://api.openai.com/v1", "openai-completions", "bearer", "OPENAI_API_KEY", 0, "/models", NULL },
    /* .../openai/v1, or .../openai/deployments/NAME?api-version=DATE */
    { "azure", NULL, "openai-chat", "api-key", "AZURE_OPENAI_API_KEY", AGENT_DIALECT_MAX_COMPLETION_TOKENS, "=/openai/v1/models", NULL },
    { "azure-responses", NULL, "openai-responses", "api-key", "AZURE_OPENAI_API_KEY", 0, "=/openai/v1/models", NULL },
    { "copilot", "https://api.githubcopilot.com", "openai-chat", "bearer", "GITHUB_COPILOT_TOKEN", 0, "/models", AGENTI_COPILOT },
    { "copilot-responses", "https://api.githubcopilot.com", "openai-responses", "bearer", "GITHUB_COPILOT_TOKEN", 0, "/models", AGENTI_COPILOT },
    { "github-models", "https://models.github.ai/inference", "openai-chat", "bearer", "GITHUB_TOKEN", 0, "=/catalog/models", NULL },
    { "anthropic", "https://api.anthropic.com/v1", "anthropic", "x-api-key", "ANTHROPIC_API_KEY", 0, "/models?limit=1000", NULL },
    /* Vertex: https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION/publishers/{anthropic or google} */
    { "vertex-anthropic", NULL, "vertex-anthropic", "bearer", NULL, 0, NULL, NULL },
    { "vertex", NULL, "gemini", "bearer", NULL, 0, NULL, NULL },
    { "gemini", "https://generativelanguage.googleapis.com/v1beta", "gemini", "x-goog-api-key", "GEMINI_API_KEY", 0, "/models?pageSize=1000", NULL },
    { "gemini-interactions", "https://generativelanguage.googleapis.com/v1beta", "gemini-interactions", "x-goog-api-key", "GEMINI_API_KEY",
      0, "/models?pageSize=1000", NULL },
    /* Bedrock: https://bedrock-runtime.REGION.amazonaws.com; its lists are at another host */
    { "amazon-bedrock", NULL, "bedrock-converse", "bearer", "AWS_BEARER_TOKEN_BEDROCK", 0, NULL, NULL },
    { "amazon-bedrock-invoke", NULL, "bedrock-invoke", "bearer", "AWS_BEARER_TOKEN_BEDROCK", 0, NULL, NULL },
    { "cohere", "https://api.cohere.com/v2", "cohere-v2", "bearer", "COHERE_API_KEY", 0, "=/v1/models?page_size=1000", NULL },
    { "deepseek", "https://api.deepseek.com/v1", "openai-chat", "bearer", "DEEPSEEK_API_KEY",
      AGENT_DIALECT_REASONING_CONTENT | AGENT_DIALECT_NO_FORCED_CHOICE | AGENT_DIALECT_THINKING_TYPE, "/models", NULL },
    { "kimi", "https://api.moonshot.ai/v1", "openai-chat", "bearer", "MOONSHOT_API_KEY",
      AGENT_DIALECT_REASONING_CONTENT | AGENT_DIALECT_THINKING_TYPE, "/models", NULL },
    { "mistral", "https://api.mistral.ai/v1", "openai-chat", "bearer", "MISTRAL_API_KEY",
      AGENT_DIALECT_MISTRAL | AGENT_DIALECT_NO_STREAM_OPTIONS, "/models", NULL },
    { "xai", "https://api.x.ai/v1", "openai-chat", "bearer", "XAI_API_KEY", 0, "/models", NULL },
    { "openrouter", "https://openrouter.ai/api/v1", "openai-chat", "bearer", "OPENROUTER_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "groq", "https://api.groq.com/openai/v1", "openai-chat", "bearer", "GROQ_API_KEY", AGENT_DIALECT_MAX_COMPLETION_TOKENS, "/models", NULL },
    { "huggingface", "https://router.huggingface.co/v1", "openai-chat", "bearer", "HF_TOKEN", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "novita", "https://api.novita.ai/openai/v1", "openai-chat", "bearer", "NOVITA_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "together", "https://api.together.xyz/v1", "openai-chat", "bearer", "TOGETHER_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "fireworks", "https://api.fireworks.ai/inference/v1", "openai-chat", "bearer", "FIREWORKS_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "deepinfra", "https://api.deepinfra.com/v1/openai", "openai-chat", "bearer", "DEEPINFRA_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "cerebras", "https://api.cerebras.ai/v1", "openai-chat", "bearer", "CEREBRAS_API_KEY", AGENT_DIALECT_MAX_COMPLETION_TOKENS, "/models", NULL },
    { "perplexity", "https://api.perplexity.ai", "openai-chat", "bearer", "PERPLEXITY_API_KEY", 0, NULL, NULL },
    { "alibaba", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "openai-chat", "bearer", "DASHSCOPE_API_KEY",
      AGENT_DIALECT_ENABLE_THINKING | AGENT_DIALECT_TOP_K, "/models", NULL },
    { "zai", "https://api.z.ai/api/paas/v4", "openai-chat", "bearer", "ZAI_API_KEY",
      AGENT_DIALECT_REASONING_CONTENT | AGENT_DIALECT_THINKING_TYPE, "/models", NULL },
    /* MiniMax recommends its Anthropic form: in the other one thoughts stand in the text, between <think> tags */
    { "minimax", "https://api.minimax.io/anthropic/v1", "anthropic", "bearer", "MINIMAX_API_KEY", AGENT_DIALECT_UNSIGNED_THINKING, NULL, NULL },
    { "minimax-chat", "https://api.minimax.io/v1", "openai-chat", "bearer", "MINIMAX_API_KEY", 0, "/models", NULL },
    { "venice", "https://api.venice.ai/api/v1", "openai-chat", "bearer", "VENICE_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "vercel", "https://ai-gateway.vercel.sh/v1", "openai-chat", "bearer", "AI_GATEWAY_API_KEY", 0, "/models", NULL },
    { "orcarouter", "https://api.orcarouter.ai/v1", "openai-chat", "bearer", "ORCAROUTER_API_KEY", 0, "/models", NULL },
    { "requesty", "https://router.requesty.ai/v1", "openai-chat", "bearer", "REQUESTY_API_KEY", 0, "/models", NULL },
    { "trustedrouter", "https://api.trustedrouter.com/v1", "openai-chat", "bearer", "TRUSTEDROUTER_API_KEY", 0, "/models", NULL },
    { "ollama", "http://127.0.0.1:11434/v1", "openai-chat", "none", NULL, AGENT_DIALECT_TOP_K, "/models", NULL },
    { "ollama-native", "http://127.0.0.1:11434/api", "ollama", "none", NULL, 0, "/tags", NULL },
    { "ollama-generate", "http://127.0.0.1:11434/api", "ollama-generate", "none", NULL, 0, "/tags", NULL },
    { "ollama-cloud", "https://ollama.com/api", "ollama", "bearer", "OLLAMA_API_KEY", 0, "/tags", NULL },
    /* Local servers: a key only if they were started with one */
    { "llama.cpp", "http://127.0.0.1:8080/v1", "openai-chat", "bearer", "LLAMA_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "vllm", "http://127.0.0.1:8000/v1", "openai-chat", "bearer", "VLLM_API_KEY", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "lm-studio", "http://127.0.0.1:1234/v1", "openai-chat", "bearer", "LM_API_TOKEN", AGENT_DIALECT_TOP_K, "/models", NULL },
    { "openai-compatible", NULL, "openai-chat", "bearer", "OPENAI_API_KEY", 0, "/models", NULL },
    { "anthropic-compatible", NULL, "anthropic", "x-api-key", "ANTHROPIC_API_KEY", 0, "/models", NULL }
};
AGENTDEF const agent_provider *agent_provider_at(size_t i) { return i < sizeof agenti_providers / sizeof *agenti_providers ? &agenti_providers[i] : NULL; }
AGENTI_FN const agenti_wire *agenti_wire_find(agent_str name)
{
    static const agenti_wire *(*const wires[])(void) = {
#ifndef AGENT_NO_OPENAI_CHAT
        agenti_openai_chat,
#endif
#ifndef AGENT_NO_ANTHROPIC
        agenti_anthropic, agenti_anthropic_invoke, agenti_anthropic_vertex,
#endif
#ifndef AGENT_NO_GEMINI
        agenti_gemini,
#endif
#ifndef AGENT_NO_GEMINI_INTERACTIONS
        agenti_gemini_interactions,
#endif
#ifndef AGENT_NO_BEDROCK
        agenti_bedrock_converse,
#endif
#ifndef AGENT_NO_OLLAMA
        agenti_ollama, agenti_ollama_generate,
#endif
#ifndef AGENT_NO_COHERE
        agenti_cohere, agenti_cohere_v1,
#endif
#ifndef AGENT_NO_OPENAI_COMPLETIONS
        agenti_openai_completions,
#endif
#ifndef AGENT_NO_OPENAI_RESPONSES
        agenti_openai_responses,
#endif
        NULL
    };
    size_t i;
    for (i = 0; wires[i]; i++) if (agenti_eq(name, wires[i]()->name)) return wires[i]();
    return NULL;
}
AGENTI_FN const agent_provider *agenti_provider_find(const agent_provider *rows, size_t n, agent_str name)
{
    size_t i;
    for (i = 0; i < n; i++) if (rows[i].name && agenti_eq(name, rows[i].name)) return &rows[i];
    for (i = 0; i < sizeof agenti_providers / sizeof *agenti_providers; i++)
        if (agenti_eq(name, agenti_providers[i].name)) return &agenti_providers[i];
    return NULL;
}
#endif

/* ==== engine.c: handles, who has work, the one event ============================================================== */
/* The engine's own state: handles, who has work, the one event that is out. */
enum agenti_kind { AGENTI_PEER = 1, AGENTI_SESSION = 2, AGENTI_CONN = 3, AGENTI_LISTING = 4 /* has no handle */ };
typedef struct agenti_ready {                 /* a link of a FIFO of those that have work                               */
    struct agenti_ready *next, *prev;         /* both NULL: not in it                                                   */
    void *owner;
    int kind;                                 /* of the owner, an agenti_kind; in the sessions' ring a CONN is a decoder, a PEER has a question */
} agenti_ready;
typedef struct agenti_slot { void *p; uint16_t gen; } agenti_slot;
typedef struct agenti_slots { agenti_slot *p; uint32_t n, cap, hint, live; } agenti_slots;

struct agenti_conn;
struct agent_engine {
    agenti_pool pool;                         /* first: copied in when the engine is made                               */
    agent_limits lim;                         /* defaults filled in                                                     */
    const agent_provider *rows; size_t row_count;
    uint64_t now, wall, seed;
    agenti_slots slots[4];                    /* by agenti_kind                                                         */
    agenti_ready sessions, conns;             /* heads of rings                                                         */
    struct agenti_conn *drain_first, *drain_last;    /* answers that are over but not read to their end, oldest first   */
    struct agenti_conn *pinned_first, *pinned_last;  /* closed, but the host still reads into their buffers             */
    agenti_blob *graves;
    const char *last;
    agent_event ev;
    agent_usage ev_usage;
    char ev_raw[32];
    size_t scanned;                           /* by this agent_next                                                     */
    int no_shortcut;                          /* for tests: every event is read in full                                 */
};

AGENTI_FN int      agenti_say(agent_engine *, int code, const char *why);        /* sets agent_last, returns code        */
AGENTI_FN agent_id agenti_id_new(agent_engine *, int kind, void *p);             /* 0: no memory or over the limit       */
AGENTI_FN void     agenti_id_free(agent_engine *, agent_id);
AGENTI_FN void    *agenti_id_get(const agent_engine *, agent_id, int kind);      /* NULL: stale                          */
AGENTI_FN void     agenti_wake(agenti_ready *head, agenti_ready *);              /* at the end, unless it is in          */
AGENTI_FN void     agenti_sleep(agenti_ready *);
AGENTI_FN agent_event *agenti_event(agent_engine *, int type);                   /* e->ev, cleared                       */
AGENTI_FN size_t   agenti_len(const char *p, size_t n);                          /* n, or strlen for AGENT_CSTR          */
AGENTI_FN uint32_t agenti_limit(uint32_t given, uint32_t otherwise);             /* 0 resolved; AGENT_OFF is the largest */
AGENTI_FN size_t   agenti_mem_limit(size_t given);                               /* AGENT_OFF is none, as 0 is           */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_ENGINE
AGENTI_FN int agenti_say(agent_engine *e, int code, const char *why) { e->last = why; return code; }
AGENTI_FN size_t agenti_len(const char *p, size_t n) { return p == NULL ? 0 : n == AGENT_CSTR ? strlen(p) : n; }
AGENTI_FN uint32_t agenti_limit(uint32_t given, uint32_t otherwise) { return given ? given : otherwise; }
AGENTI_FN size_t agenti_mem_limit(size_t given) { return given == AGENT_OFF ? 0 : given; }

AGENTI_FN agent_id agenti_id_new(agent_engine *e, int kind, void *p)
{
    agenti_slots *s = &e->slots[kind];
    uint32_t most = kind == AGENTI_PEER ? e->lim.peers : kind == AGENTI_SESSION ? e->lim.sessions : e->lim.conns, i;
    if (s->live >= most) { e->last = "over the limit of peers, sessions or connections"; return 0; }
    for (i = s->hint; i < s->n && s->p[i].p; i++) {}
    if (i == s->cap) {
        uint32_t cap = s->cap ? s->cap * 2 : 4;
        agenti_slot *q;
        if (cap > 65536) cap = 65536;
        q = i == 65536 ? NULL : (agenti_slot *)agenti_resize(&e->pool, s->p, s->cap * sizeof *q, cap * sizeof *q);
        if (q == NULL) { e->last = "out of memory"; return 0; }
        memset(q + s->cap, 0, (cap - s->cap) * sizeof *q);
        s->p = q;
        s->cap = cap;
    }
    if (i == s->n) s->n++;
    s->p[i].p = p;
    s->p[i].gen = (uint16_t)((s->p[i].gen + 1) & 0x1FFF);
    if (s->p[i].gen == 0) s->p[i].gen = 1;
    s->hint = i + 1;
    s->live++;
    return ((uint32_t)kind << 29) | ((uint32_t)s->p[i].gen << 16) | i;
}
AGENTI_FN void *agenti_id_get(const agent_engine *e, agent_id id, int kind)
{
    const agenti_slots *s = &e->slots[kind];
    uint32_t i = id & 0xFFFFu;
    if (id >> 29 != (uint32_t)kind || i >= s->n || s->p[i].gen != ((id >> 16) & 0x1FFFu)) return NULL;
    return s->p[i].p;
}
AGENTI_FN void agenti_id_free(agent_engine *e, agent_id id)
{
    agenti_slots *s = &e->slots[id >> 29];
    uint32_t i = id & 0xFFFFu;
    s->p[i].p = NULL;
    s->live--;
    if (i < s->hint) s->hint = i;
}
AGENTI_FN void agenti_wake(agenti_ready *head, agenti_ready *r)
{
    if (r->next) return;
    r->next = head;
    r->prev = head->prev;
    head->prev->next = r;
    head->prev = r;
}
AGENTI_FN void agenti_sleep(agenti_ready *r)
{
    if (r->next == NULL) return;
    r->prev->next = r->next;
    r->next->prev = r->prev;
    r->next = r->prev = NULL;
}
AGENTI_FN agent_event *agenti_event(agent_engine *e, int type)
{
    agent_event *ev = &e->ev;
    memset(ev, 0, sizeof *ev);
    ev->type = (uint16_t)type;
    ev->at_ms = e->now;
    ev->text.p = ev->name.p = "";
    return ev;
}
AGENTDEF const char *agent_code_text(int code)
{
    switch (code) {
#define AGENTI_X(n, v, t) case v: return t;
    AGENT_CODES(AGENTI_X)
#undef AGENTI_X
    default: return "unknown code";
    }
}
AGENTDEF const char *agent_last(const agent_engine *e) { return e && e->last ? e->last : ""; }
#endif

/* ==== intake.c: messages that a host hands in: checked and copied ================================================= */
/* Messages that a host hands in: checked and copied, files brought into the one form that wire formats know:
 * base64 of a media type or a URI; plain text stays text. */
/* before: the message that will stand before it, or NULL. NULL: *rc and agent_last say why.                            */
AGENTI_FN agenti_msg *agenti_msg_from(agent_engine *, agenti_pool *, const agenti_msg *before, int role, const agent_part *, size_t n, int *rc);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_INTAKE
/* ---- files ---- */
static int agenti_begins(agent_str s, const char *with)                         /* ASCII case folded                    */
{
    size_t n = strlen(with);
    return s.n >= n && agenti_ieq(agenti_str(s.p, n), with);
}
static int agenti_ends(agent_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && agenti_ieq(agenti_str(s.p + s.n - n, n), with);
}
static int agenti_is_text_type(agent_str mime)
{
    return agenti_begins(mime, "text/") || agenti_ieq(mime, "application/json") || agenti_ieq(mime, "application/xml")
        || agenti_ends(mime, "+json") || agenti_ends(mime, "+xml");
}
static int agenti_is_type(agent_str mime)
{
    size_t i, slash = 0;
    for (i = 0; i < mime.n; i++) {
        unsigned char c = (unsigned char)mime.p[i];
        if (c <= ' ' || c >= 0x7F || c == '"' || c == ',' || c == '\\') return 0;
        slash += c == '/';
    }
    return slash == 1 && mime.n < 128;
}
/* data:[type][;name=value]...;base64,DATA (RFC 2397). 0: it is not of that form.                                       */
static int agenti_data_url(agent_part *p)
{
    const char *comma = (const char *)memchr(p->uri.p, ',', p->uri.n);
    agent_str head;
    if (comma == NULL) return 0;
    head = agenti_str(p->uri.p + 5, (size_t)(comma - p->uri.p) - 5);
    if (!agenti_ends(head, ";base64")) return 0;
    if (head.n > 7) p->mime = agenti_str(head.p, head.n - 7);
    p->text = agenti_str(comma + 1, p->uri.n - (size_t)(comma + 1 - p->uri.p));
    p->uri = agenti_str(NULL, 0);
    p->flags |= AGENT_PART_BASE64;
    return 1;
}
static const char *agenti_media_check(agent_part *p)
{
    const char *end;
    if (agenti_begins(p->uri, "data:") && (p->text.n || !agenti_data_url(p))) return "a data: URL is base64, and alone";
    end = (const char *)memchr(p->mime.p, ';', p->mime.n);  /* its parameters                                            */
    if (end) p->mime = agenti_trim(agenti_str(p->mime.p, (size_t)(end - p->mime.p)));
    if (p->uri.n ? p->text.n != 0 : p->text.n == 0) return "a file has contents or a URI";
    if ((p->mime.n || p->text.n) && !agenti_is_type(p->mime)) return "a file's contents need a MIME type";
    if ((p->flags & AGENT_PART_BASE64) && !agenti_base64_ok(p->text)) return "that is no base64";
    if (agenti_begins(p->mime, "image/")) p->kind = AGENT_PART_IMAGE;
    else if (agenti_begins(p->mime, "audio/")) p->kind = AGENT_PART_AUDIO;
    return NULL;
}
static int agenti_is_plain(const agent_part *p) { return p->kind == AGENT_PART_FILE && agenti_is_text_type(p->mime); }
static int agenti_media_copy(agent_engine *e, agenti_pool *pool, agenti_part *q, const agent_part *p)
{
    int coded = (p->flags & AGENT_PART_BASE64) != 0, plain = agenti_is_plain(p), ok;
    agenti_buf b;
    q->flags = (uint16_t)(plain || p->text.n == 0 ? q->flags & ~AGENT_PART_BASE64 : q->flags | AGENT_PART_BASE64);
    if (p->uri.n && (!agenti_text_set(&q->uri, pool, &e->graves, p->uri) || !agenti_text_repair(&q->uri, pool, &e->graves))) return 0;
    if (p->mime.n && !agenti_text_set(&q->mime, pool, &e->graves, p->mime)) return 0;
    if (coded == !plain) return agenti_text_set(&q->text, pool, &e->graves, p->text);
    agenti_buf_init(&b, pool);
    if (plain) agenti_base64_from(&b, p->text); else agenti_base64_to(&b, p->text);
    ok = !b.bad && agenti_text_set(&q->text, pool, &e->graves, agenti_str(b.p, b.n));
    agenti_buf_free(&b);
    return ok;
}

/* ---- parts ---- */
static int agenti_calls(const agenti_msg *m, agent_str id)                      /* has it a call of this id?            */
{
    uint32_t i;
    for (i = 0; m && i < m->n; i++)
        if (m->parts[i].kind == AGENT_PART_CALL && m->parts[i].wire_id.n == id.n && memcmp(m->parts[i].wire_id.p, id.p, id.n) == 0) return 1;
    return 0;
}
/* Why the part cannot stand there, or NULL. A file's views are brought into order.                                     */
static const char *agenti_part_check(const agenti_msg *before, int role, agent_part *p)
{
    if (role == AGENT_USER && agenti_is_media(p->kind)) return agenti_media_check(p);
    if (role == AGENT_USER) return p->kind == AGENT_PART_TEXT ? p->text.n ? NULL : "an empty part" : "a user message has texts and files";
    if (role == AGENT_TOOLS) {
        if (p->kind != AGENT_PART_RESULT) return "a tools message has results";
        return agenti_calls(before, p->wire_id) ? NULL : "a result without its call in the message before";
    }
    if (p->kind == AGENT_PART_CALL) return p->wire_id.n && p->name.n ? NULL : "a call needs wire_id and name";
    return p->kind == AGENT_PART_TEXT || p->kind == AGENT_PART_REASONING ? NULL : "a part of this kind does not belong there";
}
static int agenti_view_copy(agent_engine *e, agenti_pool *pool, agenti_text *to, agent_str from)
{
    return from.n == 0 || (agenti_text_set(to, pool, &e->graves, from) && agenti_text_repair(to, pool, &e->graves));
}
static int agenti_part_copy(agent_engine *e, agenti_pool *pool, agenti_msg *m, const agent_part *p)
{
    agenti_part *q = agenti_part_new(pool, m, p->kind);
    if (q == NULL) return 0;
    q->flags = (uint16_t)(p->flags & (agenti_is_media(q->kind) ? 0xFF : 0xFF & ~AGENT_PART_BASE64));
    if (agenti_is_media(q->kind) && !agenti_media_copy(e, pool, q, p)) return 0;
    if (!agenti_is_media(q->kind) && !agenti_text_set(&q->text, pool, &e->graves, p->text)) return 0;
    if (!agenti_text_repair(&q->text, pool, &e->graves) || !agenti_view_copy(e, pool, &q->name, p->name)) return 0;
    if (!agenti_view_copy(e, pool, &q->wire_id, p->wire_id) || !agenti_view_copy(e, pool, &q->data, p->data)) return 0;
    if (q->kind == AGENT_PART_CALL && (q->text.n == 0 || q->text.p[0] != '{' || agent_json_check(q->text.p, q->text.n, e->lim.depth, NULL) != AGENT_OK))
        q->flags |= AGENT_PART_INVALID;
    return 1;
}
/* A host's part whose views may be those of a zeroed one.                                                              */
static agent_part agenti_part_given(const agent_part *p)
{
    agent_part q = *p;
    q.text = agenti_str(p->text.p, p->text.n);
    q.name = agenti_str(p->name.p, p->name.n);
    q.mime = agenti_str(p->mime.p, p->mime.n);
    q.uri = agenti_str(p->uri.p, p->uri.n);
    q.wire_id = agenti_str(p->wire_id.p, p->wire_id.n);
    q.data = agenti_str(p->data.p, p->data.n);
    return q;
}
/* The room that a part takes: bytes become base64.                                                                     */
static size_t agenti_part_size(const agent_part *p)
{
    int grows = agenti_is_media(p->kind) && !(p->flags & AGENT_PART_BASE64) && !agenti_is_plain(p);
    return grows && p->text.n < (size_t)-1 / 2 ? (p->text.n + 2) / 3 * 4 : p->text.n;
}
AGENTI_FN agenti_msg *agenti_msg_from(agent_engine *e, agenti_pool *pool, const agenti_msg *before, int role, const agent_part *parts, size_t n, int *rc)
{
    agenti_msg *m;
    agent_part part;
    const char *why;
    size_t i, left = e->lim.item, size;
    *rc = AGENT_E_ARG;
    for (i = 0; i < n; i++) {
        part = agenti_part_given(&parts[i]);
        if ((why = agenti_part_check(before, role, &part)) != NULL) { e->last = why; return NULL; }
        if ((size = agenti_part_size(&part)) > left || part.uri.n > left - size) {
            *rc = agenti_say(e, AGENT_E_LIMIT, "the message is longer than limits.item");
            return NULL;
        }
        left -= size + part.uri.n;
    }
    *rc = agenti_say(e, AGENT_E_NOMEM, "out of memory");
    if ((m = agenti_msg_new(pool, role)) == NULL) return NULL;
    for (i = 0; i < n; i++) {
        part = agenti_part_given(&parts[i]);
        (void)agenti_part_check(before, role, &part);
        if (!agenti_part_copy(e, pool, m, &part)) { agenti_msg_free(pool, m, &e->graves); return NULL; }
    }
    m->ended = 1;
    return m;
}
#endif

/* ==== shortcut.c: events that repeat themselves but for a string ================================================== */
/* Streams repeat themselves: an event is often one before it with another text. The bytes of such events are kept as templates, and where the
 * next one is the same but for its holes, its op is made without reading the rest again. Holes are the text itself; the values of
 * members that the wire format never reads (OpenAI pads its events with `obfuscation`); blanks before the last brace (Anthropic's
 * padding). This is exact: the same bytes around a string that is not empty, read in the same state, do the same; the state is known
 * to be the same because an event is learnt only if it made one op and changed nothing else, and an event that is read in full and
 * changes anything of the decoder's state makes all be forgotten. */
enum {
    AGENTI_SHORTCUT_MOST = 2048, AGENTI_SHORTCUT_TYPE = 32, AGENTI_SHORTCUT_LANES = 16, AGENTI_SHORTCUT_TEMPLATES = 4, AGENTI_SHORTCUT_HOLES = 6,
    AGENTI_SHORTCUT_MISSES = 16, AGENTI_SHORTCUT_REST = 256       /* after so many misses in a row so many events are not looked at */
};
enum agenti_hole_kind { AGENTI_HOLE_TEXT, AGENTI_HOLE_UNREAD /* a string or a number */, AGENTI_HOLE_BLANKS };
typedef struct agenti_hole { uint16_t at; uint8_t kind; } agenti_hole;
typedef struct agenti_template {
    agenti_buf text;                          /* an event, without what is in its holes; n 0: nothing is learnt         */
    size_t lead, end;                         /* where its payload begins and ends; lead 0: there is nothing around it  */
    agenti_hole holes[AGENTI_SHORTCUT_HOLES]; /* in the payload, in their order                                         */
    uint32_t hole_n;
    uint8_t cr, cr_after;                     /* SSE's state before and after it                                        */
    uint8_t type_n; char type[AGENTI_SHORTCUT_TYPE];
    agenti_op op;
} agenti_template;
typedef struct agenti_shortcut {
    agenti_template t[AGENTI_SHORTCUT_TEMPLATES];
    agenti_buf was;                           /* the decoder and its lanes before an event                              */
    uint32_t last, next;                      /* which one fitted; where the next one goes                              */
    uint32_t misses, rest;                    /* events read in full, in a row; how many more will be, unseen           */
    int off;
} agenti_shortcut;
typedef struct agenti_around { agent_str raw; uint8_t cr, cr_after; } agenti_around;     /* an event with its lines; raw.n 0: not in one piece */

AGENTI_FN void agenti_shortcut_init(agenti_shortcut *, agenti_pool *);
AGENTI_FN void agenti_shortcut_free(agenti_shortcut *);
AGENTI_FN void agenti_shortcut_forget(agenti_shortcut *);     /* the decoder's state may be another one                 */
/* The event at p, from its first line to the blank one, if it is like one before and its payload is not longer than `most`: makes its op.
 * cr: SSE's state, before and after. Returns its length, 0: read it otherwise; *ok 0: no memory. *cut: p is the beginning of such an
 * event.                                                                                                               */
AGENTI_FN size_t agenti_shortcut_lines(agenti_shortcut *, agenti_decoder *, const char *p, size_t n, size_t most, uint8_t *cr, int *cut, int *ok);
/* Reads an event by the wire format, or shorter. 0: no memory                                                          */
AGENTI_FN int  agenti_shortcut_event(agenti_shortcut *, agenti_decoder *, agent_str type, agent_str data, const agenti_around *);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_SHORTCUT
AGENTI_FN void agenti_shortcut_init(agenti_shortcut *s, agenti_pool *pool)
{
    uint32_t i;
    memset(s, 0, sizeof *s);
    agenti_buf_init(&s->was, pool);
    for (i = 0; i < AGENTI_SHORTCUT_TEMPLATES; i++) agenti_buf_init(&s->t[i].text, pool);
}
AGENTI_FN void agenti_shortcut_free(agenti_shortcut *s)
{
    uint32_t i;
    agenti_buf_free(&s->was);
    for (i = 0; i < AGENTI_SHORTCUT_TEMPLATES; i++) agenti_buf_free(&s->t[i].text);
}
AGENTI_FN void agenti_shortcut_forget(agenti_shortcut *s)
{
    uint32_t i;
    for (i = 0; i < AGENTI_SHORTCUT_TEMPLATES; i++) s->t[i].text.n = s->t[i].lead = 0;
    s->next = 0;
}

/* ---- an event that is like a template ---- */
/* A string's inside: valid escapes; for a text also valid UTF-8, and no \u of surrogates, whose halves have a memory of their own. */
static AGENTI_NOINLINE int agenti_hole_inside(const char *p, size_t n, int text, int marks)
{
    const char *q;
    size_t i, k;
    uint32_t unit;
    if (text && (marks & AGENTI_JSON_HIGH) && agenti_utf8_valid(p, n) != n) return 0;
    if (!(marks & AGENTI_JSON_ESCAPED)) return 1;
    for (i = 0; (q = (const char *)memchr(p + i, '\\', n - i)) != NULL; i = (size_t)(q - p) + k) {
        k = agenti_json_escape(q, n - (size_t)(q - p), &unit);
        if (k == 0 || (text && unit >= 0xD800 && unit <= 0xDFFF)) return 0;
    }
    return 1;
}
/* A string that may stand in a hole, at its quote: its length, 0, or CUT: it goes on behind p. A text is not empty.     */
static size_t agenti_hole_string(const char *p, size_t n, int back, int text, int *marks)
{
    size_t len;
    if (n == 0) return AGENTI_JSON_CUT;
    if (p[0] != '"') return 0;
    len = agenti_json_word(p + 1, n - 1, back, marks);
    if (len >= AGENTI_JSON_CUT) return len == AGENTI_JSON_CUT ? len : 0;
    if (text && len == 0) return 0;
    return *marks == 0 || agenti_hole_inside(p + 1, len, text, *marks) ? len + 2 : 0;
}
static size_t agenti_hole_unread(const char *p, size_t n, int back)      /* a number may go on: what follows the hole ends it     */
{
    int marks;
    return n == 0 || p[0] == '"' ? agenti_hole_string(p, n, back, 0, &marks) : agenti_num_prefix(p, n);
}
static int agenti_template_same(const char *p, const char *q, size_t n)        /* short pieces are the commonest        */
{
    uint32_t a, b, c, d;
    if (n > 8) return memcmp(p, q, n) == 0;
    if (n < 4) return n == 0 || (p[0] == q[0] && p[n / 2] == q[n / 2] && p[n - 1] == q[n - 1]);
    memcpy(&a, p, 4);
    memcpy(&b, q, 4);
    memcpy(&c, p + n - 4, 4);
    memcpy(&d, q + n - 4, 4);
    return ((a ^ b) | (c ^ d)) == 0;
}
typedef struct agenti_hit { agent_str text; int marks; } agenti_hit;           /* what is in the hole, without quotes   */
/* p as the template between two places of its text: the length read, 0, or CUT: it is the beginning of such a one.      */
static size_t agenti_template_read(const agenti_template *t, agent_str p, size_t from, size_t to, agenti_hit *hit)
{
    size_t at = 0, k, noted;
    uint32_t i;
    for (i = 0;; i++) {
        k = (i < t->hole_n ? t->holes[i].at : to) - from;
        if (k > p.n - at) return agenti_template_same(p.p + at, t->text.p + from, p.n - at) ? AGENTI_JSON_CUT : 0;
        if (!agenti_template_same(p.p + at, t->text.p + from, k)) return 0;
        at += k;
        from += k;
        if (i == t->hole_n) break;
        noted = at;
        if (t->holes[i].kind == AGENTI_HOLE_BLANKS) {
            at += agenti_json_blanks(p.p + at, p.n - at, at >= 16);
            continue;
        }
        if (t->holes[i].kind == AGENTI_HOLE_UNREAD) k = agenti_hole_unread(p.p + at, p.n - at, at >= 16);
        else k = agenti_hole_string(p.p + at, p.n - at, at >= 16, 1, &hit->marks);
        if (k == 0 || k == AGENTI_JSON_CUT) return k;
        at += k;
        if (t->holes[i].kind == AGENTI_HOLE_TEXT) { hit->text.p = p.p + noted + 1; hit->text.n = k - 2; }
    }
    return at;
}
static int agenti_template_op(const agenti_template *t, agenti_decoder *d, const agenti_hit *hit)
{
    agenti_op *op = agenti_op_add(d, t->op.kind, t->op.key);
    if (op == NULL) return 0;
    op->flags = t->op.flags;
    op->a.p = hit->text.p;
    op->a.n = hit->text.n;
    if (hit->marks & AGENTI_JSON_ESCAPED) op->a.n = agenti_json_unescape((char *)(uintptr_t)op->a.p, op->a.n);
    return 1;
}
AGENTI_FN size_t agenti_shortcut_lines(agenti_shortcut *s, agenti_decoder *d, const char *p, size_t n, size_t most, uint8_t *cr, int *cut, int *ok)
{
    agent_str all = agenti_str(p, n);
    agenti_hit hit;
    uint32_t k, i;
    size_t len;
    if (s->off || d->op_n) return 0;
    for (k = 0; k < AGENTI_SHORTCUT_TEMPLATES; k++) {
        const agenti_template *t = &s->t[i = (s->last + k) % AGENTI_SHORTCUT_TEMPLATES];
        if (t->lead == 0 || t->cr != *cr) continue;
        len = agenti_template_read(t, all, 0, t->text.n, &hit);
        if (len == AGENTI_JSON_CUT) {
            AGENTI_TOUCH(n);
            *cut = 1;
            return 0;
        }
        if (len == 0 || len - (t->lead + t->text.n - t->end) > most) continue;
        AGENTI_TOUCH(len);
        s->last = i;
        s->misses = 0;
        *ok = agenti_template_op(t, d, &hit);
        *cr = t->cr_after;
        return len;
    }
    return 0;
}
/* The payload alone. 1: it was like one before, and its op is made; 0: it was not; -1: no memory                       */
static int agenti_shortcut_data(agenti_shortcut *s, agenti_decoder *d, agent_str type, agent_str data)
{
    agenti_hit hit;
    uint32_t i;
    for (i = 0; i < AGENTI_SHORTCUT_TEMPLATES; i++) {
        const agenti_template *t = &s->t[i];
        if (t->text.n == 0 || t->type_n != type.n || memcmp(t->type, type.p, type.n) != 0) continue;
        if (agenti_template_read(t, data, t->lead, t->end, &hit) != data.n) continue;
        AGENTI_TOUCH(data.n);
        s->misses = 0;
        return agenti_template_op(t, d, &hit) ? 1 : -1;
    }
    return 0;
}

/* ---- learning ---- */
static void agenti_state_keep(agenti_buf *b, const agenti_decoder *d)
{
    b->n = 0;
    agenti_buf_add(b, (const char *)d, sizeof *d);
    agenti_buf_add(b, (const char *)d->lanes, d->lane_n * sizeof *d->lanes);
}
/* Whether an event changed nothing but the ops. What is compared byte by byte was cleared when it was made.            */
static int agenti_state_same(const agenti_buf *b, const agenti_decoder *d)
{
    agenti_decoder *was = (agenti_decoder *)(void *)b->p;
    was->ops = d->ops;
    was->op_n = d->op_n;
    was->op_cap = d->op_cap;
    was->op_at = d->op_at;
    was->arena = d->arena;
    return memcmp(was, d, sizeof *d) == 0 && (d->lane_n == 0 || memcmp(b->p + sizeof *d, d->lanes, d->lane_n * sizeof *d->lanes) == 0);
}
/* The length of the value at p of a member that is never read. `to` bytes of the template are written, and end in its key, which with both
 * quotes and colon stands nowhere else in JSON than where it is a key.                                                 */
static size_t agenti_template_unread(const agenti_template *t, const char *key, size_t to, const char *p, size_t n)
{
    size_t len;
    if (t->hole_n > AGENTI_SHORTCUT_HOLES - 3) return 0;     /* one is for the text, one for blanks                     */
    if (key == NULL || to == t->lead || t->text.p[to - 1] != ':') return 0;
    for (; *key; key += len + (key[len] == ' ')) {
        for (len = 0; key[len] && key[len] != ' '; len++) {}
        if (to - t->lead >= len && memcmp(t->text.p + to - len, key, len) == 0) return agenti_hole_unread(p, n, 0);
    }
    return 0;
}
/* Takes out of an event what belongs in holes; `at`: the quote of its text. 0: it is no template.                      */
static int agenti_template_cut(agenti_template *t, const char *key, size_t at)
{
    size_t end = t->end, from = t->lead, to = from, last = end, blanks, stop, k;
    char *p = t->text.p;
    const char *colon;
    int marks, kind;
    while (last > at && p[last - 1] == ' ') last--;
    for (blanks = --last; blanks > at && p[blanks - 1] == ' '; blanks--) {}
    for (t->hole_n = 0; from < end; from += k) {
        stop = from < at ? at : from < blanks ? blanks : end;
        colon = key ? (const char *)memchr(p + from, ':', stop - from) : NULL;
        if (colon) stop = (size_t)(colon - p) + 1;
        memmove(p + to, p + from, stop - from);
        to += stop - from;
        from = stop;
        k = last - blanks;
        kind = from == at ? AGENTI_HOLE_TEXT : from == blanks ? AGENTI_HOLE_BLANKS : AGENTI_HOLE_UNREAD;
        if (kind == AGENTI_HOLE_TEXT && (k = agenti_hole_string(p + from, end - from, 0, 1, &marks)) == 0) return 0;
        if (kind == AGENTI_HOLE_UNREAD && (from == end || (k = agenti_template_unread(t, key, to, p + from, end - from)) == 0)) { k = 0; continue; }
        t->holes[t->hole_n].at = (uint16_t)to;
        t->holes[t->hole_n++].kind = (uint8_t)kind;
    }
    memmove(p + to, p + end, t->text.n - end);
    t->text.n -= end - to;
    t->end = to;
    return 1;
}
/* An event was read and changed nothing: it is a template if its one op is a text that was decoded in place.           */
static int agenti_template_learn(agenti_template *t, const agenti_decoder *d, agent_str type, agent_str data)
{
    const agenti_op *op = d->ops;
    size_t at;
    if (d->op_n != 1 || (op->kind != AGENTI_OP_TEXT && op->kind != AGENTI_OP_REASONING && op->kind != AGENTI_OP_ARGS)) return 0;
    if (op->a.p <= data.p || op->a.p >= data.p + data.n) return 0;
    at = t->lead + (size_t)(op->a.p - data.p) - 1;
    if (t->text.p[at] != '"' || !agenti_template_cut(t, d->wire->noise, at)) return 0;
    memcpy(t->type, type.p, type.n);
    t->type_n = (uint8_t)type.n;
    t->op = *op;
    return 1;
}
/* A copy of the event, made before it is read, for that is done in place.                                              */
static int agenti_template_copy(agenti_template *t, agent_str data, const agenti_around *around)
{
    agent_str all = around->raw.n ? around->raw : data;
    t->text.n = 0;
    agenti_buf_add(&t->text, all.p, all.n);
    t->lead = (size_t)(data.p - all.p);
    t->end = t->lead + data.n;
    t->cr = around->cr;
    t->cr_after = around->cr_after;
    return !t->text.bad;
}
/* Whether this event is to be learnt.                                                                                  */
static int agenti_shortcut_eager(agenti_shortcut *s, const agenti_decoder *d, agent_str type, agent_str data, const agenti_around *around)
{
    if (++s->misses >= AGENTI_SHORTCUT_MISSES) {             /* try some later                                          */
        s->rest = AGENTI_SHORTCUT_REST;
        s->misses -= 4;
    }
    if (s->rest || data.n > AGENTI_SHORTCUT_MOST || around->raw.n > AGENTI_SHORTCUT_MOST) return 0;
    return type.n <= AGENTI_SHORTCUT_TYPE && d->lane_n <= AGENTI_SHORTCUT_LANES;
}
static int agenti_shortcut_read(agenti_shortcut *s, agenti_decoder *d, agent_str type, agent_str data)     /* and learn   */
{
    agenti_template *t = &s->t[s->next];
    int ok = d->wire->event(d, type, data);
    if (!ok) { agenti_shortcut_forget(s); return 0; }
    if (!agenti_state_same(&s->was, d)) { agenti_shortcut_forget(s); return 1; }
    if (!agenti_template_learn(t, d, type, data)) { t->text.n = t->lead = 0; return 1; }
    s->next = (s->next + 1) % AGENTI_SHORTCUT_TEMPLATES;
    return 1;
}
AGENTI_FN int agenti_shortcut_event(agenti_shortcut *s, agenti_decoder *d, agent_str type, agent_str data, const agenti_around *around)
{
    int rc;
    if (s->off || s->rest) {
        s->rest -= s->rest > 0;
        return d->wire->event(d, type, data);
    }
    rc = d->op_n || around->raw.n ? 0 : agenti_shortcut_data(s, d, type, data);         /* agenti_shortcut_lines saw the others */
    if (rc != 0) return rc > 0;
    if (d->op_n == 0 && agenti_shortcut_eager(s, d, type, data, around)) {
        agenti_state_keep(&s->was, d);
        if (!s->was.bad && agenti_template_copy(&s->t[s->next], data, around)) return agenti_shortcut_read(s, d, type, data);
        agenti_shortcut_free(s);                             /* no memory for it                                        */
        s->off = 1;
    }
    agenti_shortcut_forget(s);
    return d->wire->event(d, type, data);
}
#endif

/* ==== think.c: <think> tags in text =============================================================================== */
/* <think>...</think> in an answer's text, as some hosts of open models pass it on: thoughts and text told apart, however the tags are cut.
 * Only at the start of the text: later on a tag is text like any other. */
enum agenti_think_state {
    AGENTI_THINK_OFF,                         /* all is text                                                            */
    AGENTI_THINK_LEAD,                        /* nothing but blanks and a part of the opening tag, held back            */
    AGENTI_THINK_IN,                          /* thoughts; a part of the closing tag is held back                       */
    AGENTI_THINK_AFTER                        /* newlines behind the closing tag are dropped                            */
};
typedef struct agenti_think {
    uint8_t state, held_n, matched;           /* matched: bytes of the tag                                              */
    char held[32];                            /* LEAD: blanks, then what matched                                        */
} agenti_think;
enum { AGENTI_THINK_NONE, AGENTI_THINK_TEXT, AGENTI_THINK_THOUGHT };

AGENTI_FN void agenti_think_start(agenti_think *, int open);        /* open: the opening tag is not there               */
/* Takes the next piece from the front of `rest`. What it is, and *out: a view into rest or the state, until the next call. */
AGENTI_FN int  agenti_think_next(agenti_think *, agent_str *rest, agent_str *out);
AGENTI_FN int  agenti_think_end(agenti_think *, agent_str *out);    /* the text is over: what was held back             */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_THINK
static const char agenti_think_opens[] = "<think>", agenti_think_closes[] = "</think>";

AGENTI_FN void agenti_think_start(agenti_think *t, int open)
{
    memset(t, 0, sizeof *t);
    t->state = open ? AGENTI_THINK_IN : AGENTI_THINK_LEAD;
}
static void agenti_think_drop(agent_str *s, size_t n) { *s = agenti_str(s->p + n, s->n - n); }
/* Holds back what may be the opening tag. When it is none, what was held is text.                                      */
static int agenti_think_lead(agenti_think *t, agent_str *rest, agent_str *out)
{
    while (rest->n) {
        char c = rest->p[0];
        int blank = t->matched == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r');
        int holds = t->held_n < sizeof t->held && (blank || c == agenti_think_opens[t->matched]);
        if (!holds) {
            t->state = AGENTI_THINK_OFF;
            *out = agenti_str(t->held, t->held_n);
            return t->held_n ? AGENTI_THINK_TEXT : AGENTI_THINK_NONE;
        }
        t->held[t->held_n++] = c;
        t->matched = (uint8_t)(t->matched + !blank);
        agenti_think_drop(rest, 1);
        if (t->matched < sizeof agenti_think_opens - 1) continue;
        agenti_think_start(t, 1);
        break;
    }
    return AGENTI_THINK_NONE;
}
/* Gives thoughts up to what may be the closing tag. '<' stands only at its front, so what does not match is over at once. */
static int agenti_think_in(agenti_think *t, agent_str *rest, agent_str *out)
{
    const char *p;
    size_t n;
    while (rest->n) {
        if (t->matched == 0) {
            p = (const char *)memchr(rest->p, '<', rest->n);
            n = p ? (size_t)(p - rest->p) : rest->n;
            AGENTI_TOUCH(n);
            *out = agenti_str(rest->p, n);
            agenti_think_drop(rest, n);
            if (n) return AGENTI_THINK_THOUGHT;
        }
        if (rest->p[0] != agenti_think_closes[t->matched]) {
            *out = agenti_str(agenti_think_closes, t->matched);
            t->matched = 0;
            return AGENTI_THINK_THOUGHT;
        }
        t->matched++;
        agenti_think_drop(rest, 1);
        if (t->matched < sizeof agenti_think_closes - 1) continue;
        t->matched = 0;
        t->state = AGENTI_THINK_AFTER;
        break;
    }
    return AGENTI_THINK_NONE;
}
AGENTI_FN int agenti_think_next(agenti_think *t, agent_str *rest, agent_str *out)
{
    int kind = AGENTI_THINK_NONE;
    while (rest->n && kind == AGENTI_THINK_NONE) {
        if (t->state == AGENTI_THINK_LEAD) kind = agenti_think_lead(t, rest, out);
        else if (t->state == AGENTI_THINK_IN) kind = agenti_think_in(t, rest, out);
        else if (t->state == AGENTI_THINK_AFTER && (rest->p[0] == '\n' || rest->p[0] == '\r')) agenti_think_drop(rest, 1);
        else {
            t->state = AGENTI_THINK_OFF;
            *out = *rest;
            rest->n = 0;
            kind = AGENTI_THINK_TEXT;
        }
    }
    return kind;
}
AGENTI_FN int agenti_think_end(agenti_think *t, agent_str *out)
{
    int state = t->state;
    *out = state == AGENTI_THINK_LEAD ? agenti_str(t->held, t->held_n) : agenti_str(agenti_think_closes, t->matched);
    t->state = AGENTI_THINK_OFF;
    if (out->n == 0 || (state != AGENTI_THINK_LEAD && state != AGENTI_THINK_IN)) return AGENTI_THINK_NONE;
    return state == AGENTI_THINK_LEAD ? AGENTI_THINK_TEXT : AGENTI_THINK_THOUGHT;
}
#endif

/* ==== answer.c: one answer: what its body is, its framing, how it ended =========================================== */
/* One answer: what its body is, its framing, how it ended. Knows no connection and no loop. */
enum agenti_mode {
    AGENTI_MODE_SNIFF,                        /* nothing but blanks so far                                              */
    AGENTI_MODE_SSE,
    AGENTI_MODE_ARRAY,                        /* the values of a JSON array                                             */
    AGENTI_MODE_LINES,
    AGENTI_MODE_FRAMES,
    AGENTI_MODE_WHOLE,                        /* one JSON text, held until its end                                      */
    AGENTI_MODE_ERROR,                        /* the body of an error status, held                                      */
    AGENTI_MODE_OVER                          /* nothing more is read                                                   */
};
enum { AGENTI_OPEN_STREAM, AGENTI_OPEN_CALL, AGENTI_OPEN_RAN };               /* RAN: a call that the provider runs      */
typedef struct agenti_open { uint32_t key, part; int kind; } agenti_open;     /* part: its index in the message         */
typedef struct agenti_answer {
    agent_engine *e;
    agenti_pool *pool;                        /* the session's, or the engine's                                         */
    agenti_decoder d;
    agenti_table *table;                      /* where messages go; NULL: decode-only, they are the answer's own        */
    agenti_nums *nums;
    agent_num run;
    uint32_t model;
    agenti_msg *msg, *results;                /* of the model; the results of its calls, not in the table yet           */
    agenti_open *open; uint32_t open_n, open_cap;    /* parts that are open, in their order                             */
    agent_sse sse;
    agenti_buf hold;                          /* what framing keeps: a straddling event, or the whole body              */
    agenti_values values;
    agenti_shortcut shortcut;
    agenti_split *split;                      /* a payload longer than limits.piece is being read; NULL: none           */
    agenti_buf todo; size_t todo_at;          /* its bytes that split has not seen                                      */
    agenti_text split_type;                   /* the event's type                                                       */
    agenti_text headers;                      /* of an error status: its hints                                          */
    agenti_text limits;                       /* rate-limit lines of the head                                           */
    agenti_think think;
    agenti_op think_op; uint32_t think_key;   /* the piece that is being shown; the stream whose text may begin with tags */
    uint8_t think_shows;                      /* think_op is not done                                                   */
    uint64_t offset;                          /* bytes of the body seen                                                 */
    uint64_t mark;                            /* where the event that is being read began                               */
    uint32_t events;                          /* payloads seen                                                          */
    size_t waits;                             /* bytes that the last feed left, to see the whole of an event in one piece */
    int status;
    uint8_t waited;                           /* this event was held back before                                        */
    uint8_t mode, started, ending;            /* ending: the body is complete                                           */
    uint8_t plain;                            /* the content type is neither JSON nor an event stream                   */
    uint8_t json;                             /* it is JSON: one text                                                   */
    uint8_t held;                             /* the event in hold was read: its ops may point there                    */
    uint8_t split_last, split_shown, split_bad;      /* todo ends the payload; text is being read; it is no JSON        */
} agenti_answer;

AGENTI_FN void agenti_answer_start(agenti_answer *, agent_engine *, agenti_pool *, const agenti_wire *, uint32_t dialect);
AGENTI_FN void agenti_answer_free(agenti_answer *);           /* not the messages that went into a table                */
/* The head of the answer. 0: no memory.                                                                                */
AGENTI_FN int  agenti_answer_head(agenti_answer *, int status, agent_str headers);
/* Reads body bytes, in place, until ops wait, the answer is over or all is used. 0: no memory. The beginning of an event that is like
 * one before is left, once, and a->waits says so: it comes again with what follows, or without if nothing follows.      */
AGENTI_FN int  agenti_answer_feed(agenti_answer *, const char *p, size_t n, size_t *used);
AGENTI_FN void agenti_answer_end(agenti_answer *);            /* the body is complete: agenti_answer_work goes on       */
/* What is to be done without further bytes, when no ops wait: 1 something was done, -1 nothing is to do, 0 no memory   */
AGENTI_FN int  agenti_answer_work(agenti_answer *);
AGENTI_FN int  agenti_answer_over(const agenti_answer *);     /* no body byte can change it                             */
AGENTI_FN void agenti_answer_verdict(agenti_answer *);        /* after the last op: a finish or a fault is set          */
AGENTI_FN void agenti_answer_drop(agenti_answer *);           /* forgets ops that wait                                  */
AGENTI_FN int  agenti_answer_cut(const agenti_answer *);      /* it broke off, so its calls must not run                */
AGENTI_FN void agenti_answer_fault(agenti_answer *, int fault, int retryable, const char *text);     /* ends it, unless it has failed */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_ANSWER
AGENTI_FN void agenti_answer_start(agenti_answer *a, agent_engine *e, agenti_pool *pool, const agenti_wire *wire, uint32_t dialect)
{
    memset(a, 0, sizeof *a);
    a->e = e;
    a->pool = pool;
    agenti_decoder_init(&a->d, pool, &e->graves, wire);
    a->d.dialect = dialect;
    a->d.depth_limit = e->lim.depth;
    a->d.call_limit = e->lim.calls_per_step;
    a->d.item_limit = e->lim.item;
    agenti_buf_init(&a->hold, pool);
    agenti_buf_init(&a->todo, pool);
    agenti_shortcut_init(&a->shortcut, pool);
    a->shortcut.off = e->no_shortcut;
    agent_sse_init(&a->sse, NULL, 0, AGENT_SSE_ERROR_FIELD | AGENT_SSE_BOUNDED);
    a->status = 200;
}
static void agenti_split_drop(agenti_answer *a)
{
    if (a->split == NULL) return;
    agenti_split_free(a->split);
    agenti_put(a->pool, a->split, sizeof *a->split);
    a->split = NULL;
    agenti_buf_free(&a->todo);
    agenti_text_free(&a->split_type, &a->e->graves);
    a->todo_at = 0;
    a->split_last = a->split_shown = a->split_bad = 0;
}
AGENTI_FN void agenti_answer_free(agenti_answer *a)
{
    if (a->e == NULL) return;
    agenti_split_drop(a);
    if (a->table == NULL) {
        agenti_msg_free(a->pool, a->msg, &a->e->graves);
        agenti_msg_free(a->pool, a->results, &a->e->graves);
    }
    agenti_shortcut_free(&a->shortcut);
    agenti_decoder_free(&a->d);
    agenti_put(a->pool, a->open, a->open_cap * sizeof *a->open);
    agenti_buf_free(&a->hold);
    agenti_text_free(&a->headers, &a->e->graves);
    agenti_text_free(&a->limits, &a->e->graves);
    a->e = NULL;
}

/* ---- the body ---- */
/* For faults: how much is read of an event depends on how the bytes were cut, so a long one is named by its beginning.  */
static uint64_t agenti_where(const agenti_answer *a) { return a->split ? a->mark : a->offset; }
AGENTI_FN void agenti_answer_fault(agenti_answer *a, int fault, int retryable, const char *text)
{
    agenti_fault_set(&a->d, fault, retryable, "", agenti_cstr(text));
    if (a->d.fault.http_status == 0 && a->started) a->d.fault.http_status = a->status;
    a->d.fault.offset = agenti_where(a);
    a->mode = AGENTI_MODE_OVER;
}
static int agenti_redirect(agenti_answer *a, agent_str headers)
{
    agent_str where = agenti_str(NULL, 0);
    agenti_buf b;
    agenti_buf_init(&b, a->pool);
    agent_http_header(headers, "location", &where);
    agenti_buf_str(&b, "the host is redirected to ");
    agenti_buf_add(&b, where.p, where.n < 1024 ? where.n : 1024);
    agenti_fault_set(&a->d, AGENT_FAULT_PROTOCOL, 0, "redirect", b.bad ? agenti_cstr("the host is redirected") : agenti_str(b.p, b.n));
    a->d.fault.http_status = a->status;
    a->mode = AGENTI_MODE_OVER;
    agenti_buf_free(&b);
    return 1;
}
/* What STEP_END tells of the head. 0: no memory.                                                                       */
static int agenti_head_keep(agenti_answer *a, agent_str headers)
{
    static const char *const ids[] = { "x-request-id", "request-id", "x-amzn-requestid", "apim-request-id", "cf-ray" };
    agent_str v = agenti_str(NULL, 0);
    size_t i, n;
    int ok = 1;
    for (i = 0; i < sizeof ids / sizeof *ids && !agent_http_header(headers, ids[i], &v); i++) {}
    if (v.n && !agenti_text_set(&a->d.request_id, a->pool, &a->e->graves, v)) return 0;
    while (ok && headers.n) {
        const char *end = (const char *)memchr(headers.p, '\n', headers.n), *colon;
        n = end ? (size_t)(end - headers.p) + 1 : headers.n;
        colon = (const char *)memchr(headers.p, ':', n);
        if (colon && agenti_find(agenti_str(headers.p, (size_t)(colon - headers.p)), "ratelimit"))
            ok = agenti_text_add(&a->limits, a->pool, &a->e->graves, agenti_str(headers.p, n));
        headers = agenti_str(headers.p + n, headers.n - n);
    }
    if (!agenti_text_repair(&a->limits, a->pool, &a->e->graves)) agenti_text_scrub(&a->limits);
    if (!agenti_text_repair(&a->d.request_id, a->pool, &a->e->graves)) agenti_text_scrub(&a->d.request_id);
    return ok;
}
AGENTI_FN int agenti_answer_head(agenti_answer *a, int status, agent_str headers)
{
    agent_str v;
    a->status = status;
    a->started = 1;
    if (!agenti_head_keep(a, headers)) return 0;
    if (status >= 400) {
        a->mode = AGENTI_MODE_ERROR;
        return agenti_text_set(&a->headers, a->pool, &a->e->graves, headers);
    }
    if (agent_http_header(headers, "content-encoding", &v) && v.n && !agenti_ieq(v, "identity")) {
        agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, "the answer is compressed (Content-Encoding), which was not asked for");
        return 1;
    }
    if (status >= 300) return agenti_redirect(a, headers);
    if (agent_http_header(headers, "content-type", &v) && v.n)
        a->plain = !agenti_find(v, "event-stream") && !agenti_find(v, "json") && !agenti_find(v, "octet-stream") && !agenti_find(v, "eventstream");
    a->json = v.n && agenti_find(v, "json") && !agenti_find(v, "ndjson") && !agenti_find(v, "stream+json");
    return 1;
}
/* The first byte that is no blank tells what the body is: hosts that were asked for a stream may send one JSON text, an error page or
 * something compressed (wire-quirks A16, A19, A20).                                                                    */
static void agenti_sniff(agenti_answer *a, const char *p, size_t n, size_t *used)
{
    int framing = a->d.wire->framing;
    size_t i = 0;
    while (i < n && (p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t' || p[i] == '\xEF' || p[i] == '\xBB' || p[i] == '\xBF')) i++;
    AGENTI_TOUCH(i);
    *used = i;
    a->offset += i;
    if (i == n) return;
    if (framing == AGENTI_FRAMING_LINES && !a->json && p[i] == '{') a->mode = AGENTI_MODE_LINES;
    else if (framing == AGENTI_FRAMING_ARRAY && p[i] == '[') a->mode = AGENTI_MODE_ARRAY;
    else if (p[i] == '{' || p[i] == '[') a->mode = AGENTI_MODE_WHOLE;
    else if (p[i] == '<') agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, "an HTML page instead of an answer");
    else if (p[i] == '\x1F') agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, "the body is compressed without saying so (it starts with 1F)");
    else a->mode = framing >= AGENTI_FRAMING_FRAMES ? AGENTI_MODE_FRAMES : AGENTI_MODE_SSE;       /* a frame begins with 0 or 1 */
}
/* More room for what straddles. It stays small: long data is taken out of it, and nothing else may be long.             */
static int agenti_sse_grow(agenti_answer *a)
{
    size_t more = (a->sse.cap < 256 ? 256 : 2 * a->sse.cap) - a->sse.len;
    a->hold.n = a->sse.len;
    if (!agenti_buf_room(&a->hold, a->sse.cap - a->sse.len + more)) return 0;
    a->sse.buf = a->hold.p;
    a->sse.cap = a->hold.cap - 1;
    return 1;
}
/* One payload, or one of the documents that a long one is split into: then `around` is NULL.                            */
static int agenti_payload(agenti_answer *a, agent_str type, agent_str data, const agenti_around *around)
{
    uint32_t bad = a->d.bad;
    a->events++;
    if (around == NULL) agenti_shortcut_forget(&a->shortcut);
    if (around ? !agenti_shortcut_event(&a->shortcut, &a->d, type, data, around) : !a->d.wire->event(&a->d, type, data)) return 0;
    a->split_bad |= a->d.bad != bad;
    if (a->d.fault.fault || a->d.bad != bad) a->d.fault.offset = agenti_where(a);
    if (a->d.fault.fault && a->d.fault.http_status == 0) a->d.fault.http_status = a->status;
    if (!a->d.fault.fault && !a->d.done) return 1;
    a->mode = AGENTI_MODE_OVER;
    return agenti_decoder_end(&a->d);
}
static int agenti_whole(agenti_answer *a, agent_str body)
{
    agent_json_error err;
    if (agent_json_check(body.p, body.n, a->d.depth_limit, &err) != AGENT_OK) {
        agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, err.why);
        a->d.fault.offset = err.offset;
        return 1;
    }
    if (!a->d.wire->whole(&a->d, body)) return 0;
    if (a->d.fault.fault && a->d.fault.http_status == 0) a->d.fault.http_status = a->status;
    a->mode = AGENTI_MODE_OVER;
    return agenti_decoder_end(&a->d);
}

/* ---- payloads longer than limits.piece ---- */
static int agenti_split_begin(agenti_answer *a)
{
    enum { MOST = 1024 };                     /* a path up to a piece, or this, is repeated before each piece           */
    if (a->split) return 1;
    a->split = (agenti_split *)agenti_get(a->pool, sizeof *a->split);
    if (a->split == NULL) return 0;
    agenti_split_init(a->split, a->pool, a->mode == AGENTI_MODE_WHOLE ? &a->d.wire->whole_rule : &a->d.wire->stream_rule,
                      a->e->lim.piece > MOST ? a->e->lim.piece : (uint32_t)MOST);
    return 1;
}
static int agenti_todo(agenti_answer *a, const char *p, size_t n)
{
    if (!agenti_split_begin(a)) return 0;
    agenti_buf_add(&a->todo, p, n);
    return !a->todo.bad;
}
static int agenti_split_last_read(agenti_answer *a)
{
    agent_str text = agenti_str(a->split->text.p, a->split->text.n);
    a->split_shown = 1;
    if (a->split_bad) return 1;
    return a->mode == AGENTI_MODE_WHOLE ? agenti_whole(a, text) : agenti_payload(a, agenti_text_view(&a->split_type), text, NULL);
}
/* Looks for a place to cut at each multiple of limits.piece, so cuts depend on the payload alone.                      */
static int agenti_split_work(agenti_answer *a)
{
    agenti_split *s = a->split;
    size_t piece = a->e->lim.piece, n;
    int rc;
    if (a->split_shown) {                     /* the document was read: on to the next                                  */
        a->split_shown = 0;
        if (a->split_last && a->todo_at == a->todo.n) { agenti_split_drop(a); a->mark = a->offset; return 1; }
        agenti_split_swap(s);
    }
    while (a->todo_at < a->todo.n) {
        n = piece - (size_t)(s->total % piece);
        if (n > a->todo.n - a->todo_at) n = a->todo.n - a->todo_at;
        if (s->text.n > a->e->lim.item && s->total % piece == 0) {
            agenti_answer_fault(a, AGENT_FAULT_LIMIT, 0, "a part of the answer that must be held whole is longer than limits.item");
            return 1;
        }
        if (!agenti_split_add(s, a->todo.p + a->todo_at, n)) return 0;
        a->todo_at += n;
        if (s->total % piece || (a->split_last && a->todo_at == a->todo.n) || a->split_bad) continue;
        if ((rc = agenti_split_cut(s)) < 0) return 0;
        if (rc == 0) continue;
        a->split_shown = a->d.partial = 1;
        rc = agenti_payload(a, agenti_str(NULL, 0), agenti_str(s->text.p, s->text.n), NULL);         /* the type may come last */
        a->d.partial = 0;
        return rc;
    }
    if (a->split_last) return agenti_split_last_read(a);
    a->todo.n = a->todo_at = 0;
    return 1;
}
static int agenti_split_waits(const agenti_answer *a) { return a->split && (a->split_shown || a->split_last || a->todo_at < a->todo.n); }

/* ---- framing ---- */
/* An event, or what was left of one that is being read in pieces. around NULL: what stands around it is not known.      */
static int agenti_framed(agenti_answer *a, agent_str type, agent_str data, const agenti_around *around)
{
    if (a->split == NULL && data.n <= a->e->lim.piece) {
        if (data.n <= a->e->lim.item) return agenti_payload(a, type, data, around);
        agenti_answer_fault(a, AGENT_FAULT_LIMIT, 0, "an event of the answer is longer than limits.item");
        return 1;
    }
    a->split_last = 1;
    return agenti_todo(a, data.p, data.n) && agenti_text_set(&a->split_type, a->pool, &a->e->graves, type);
}
/* What has come of an event that is longer than a piece already.                                                       */
static int agenti_sse_long(agenti_answer *a)
{
    size_t n = agent_sse_pending(&a->sse);
    if (n <= a->e->lim.piece && (a->split == NULL || n == 0)) return 1;
    if (!agenti_split_begin(a) || !agenti_buf_room(&a->todo, n)) return 0;
    a->todo.n += agent_sse_take(&a->sse, a->todo.p + a->todo.n);
    return 1;
}
/* An event that is like one before: its length, 0: it is not, or held back.                                             */
static size_t agenti_feed_like(agenti_answer *a, const char *p, size_t n, int *ok)
{
    enum { LEAST = 16, MOST = 2048 };         /* what is held back                                                      */
    size_t most = a->e->lim.piece < a->e->lim.item ? a->e->lim.piece : a->e->lim.item, k;
    int cut = 0;
    if (a->split || !agenti_sse_fresh(&a->sse)) return 0;
    k = agenti_shortcut_lines(&a->shortcut, &a->d, p, n, most, &a->sse.cr, &cut, ok);
    if (k == 0) {
        if (cut && !a->waited && n >= LEAST && n <= MOST && n <= a->e->lim.recv / 4) { a->waits = n; a->waited = 1; }
        return 0;
    }
    a->waited = 0;
    a->sse.offset += k;
    a->offset += k;
    a->mark = a->offset;
    a->events++;
    return k;
}
static int agenti_feed_event(agenti_answer *a, const char *p, size_t n, size_t *used, int *ok)
{
    agent_sse_event ev;
    agenti_around around;
    int fresh = agenti_sse_fresh(&a->sse), rc;
    around.cr = a->sse.cr;
    rc = agent_sse_next(&a->sse, p, n, used, &ev);
    a->offset += *used;
    around.cr_after = a->sse.cr;
    around.raw = agenti_str(p, fresh && rc == AGENT_OK && ev.data.p >= p && ev.data.p < p + *used ? *used : 0);
    if (rc == AGENT_E_FULL) *ok = agenti_sse_grow(a);
    if (rc == AGENT_OK) { a->waited = 0; *ok = agenti_framed(a, ev.event, ev.data, &around); }
    if (rc == AGENT_OK && *ok && a->split == NULL) a->mark = a->offset;
    return rc;
}
static int agenti_feed_sse(agenti_answer *a, const char *p, size_t n, size_t *used)
{
    size_t k;
    int rc = AGENT_OK, ok = 1;
    *used = a->waits = 0;
    while (rc != AGENT_MORE && a->mode == AGENTI_MODE_SSE && a->d.op_n == 0 && !agenti_split_waits(a)) {
        if ((k = agenti_feed_like(a, p + *used, n - *used, &ok)) != 0 || a->waits) { *used += k; return ok; }
        rc = agenti_feed_event(a, p + *used, n - *used, &k, &ok);
        *used += k;
        if (!ok) return 0;
    }
    return rc != AGENT_MORE || agenti_sse_long(a);
}
/* ---- lines, arrays, frames: an event lies whole in the input, or is put together in hold ---- */
/* More of an event, its end or not. A long one is read in pieces.                                                      */
static int agenti_more(agenti_answer *a, const char *p, size_t n, int ends)
{
    agent_str type = agenti_str(NULL, 0);
    int ok = 1;
    a->offset += n;
    if (a->held) { a->held = 0; a->hold.n = 0; }
    if (a->split == NULL && a->hold.n == 0 && ends) ok = agenti_framed(a, type, agenti_str(p, n), NULL);
    else if (a->split) {
        a->split_last = (uint8_t)ends;
        ok = agenti_todo(a, p, n);
    } else {
        agenti_buf_add(&a->hold, p, n);
        if (a->hold.bad) return 0;
        if (ends) { a->held = 1; ok = agenti_framed(a, type, agenti_str(a->hold.p, a->hold.n), NULL); }
        else if (a->hold.n > a->e->lim.piece) { ok = agenti_todo(a, a->hold.p, a->hold.n); a->hold.n = 0; }
    }
    if (ends && a->split == NULL) a->mark = a->offset;
    return ok;
}
static int agenti_may_feed(const agenti_answer *a, int mode) { return a->mode == mode && a->d.op_n == 0 && !agenti_split_waits(a); }
static int agenti_feed_lines(agenti_answer *a, const char *p, size_t n, size_t *used)
{
    int ok = 1;
    *used = 0;
    while (ok && *used < n && agenti_may_feed(a, AGENTI_MODE_LINES)) {
        const char *from = p + *used, *end = (const char *)memchr(from, '\n', n - *used);
        size_t k = end ? (size_t)(end - from) : n - *used;
        AGENTI_TOUCH(k);
        ok = agenti_more(a, from, k, end != NULL);
        a->offset += end != NULL;
        if (end && a->split == NULL) a->mark = a->offset;
        *used += k + (end != NULL);
    }
    return ok;
}
static int agenti_feed_array(agenti_answer *a, const char *p, size_t n, size_t *used)
{
    int ok = 1, ends;
    *used = 0;
    while (ok && *used < n && agenti_may_feed(a, AGENTI_MODE_ARRAY)) {
        size_t k, from;
        ends = agenti_values_next(&a->values, p + *used, n - *used, &k, &from);
        a->offset += from;
        if (from < k || ends) ok = agenti_more(a, p + *used + from, k - from, ends);
        *used += k;
    }
    return ok;
}
static int agenti_frame_wrong(agenti_answer *a, int fault, const char *why)
{
    agenti_answer_fault(a, fault, 0, why);
    a->d.fault.offset = a->mark;
    return 1;
}
/* An exception ends the answer, whatever the wire format.                                                              */
static int agenti_frame_failed(agenti_answer *a, const agenti_frame *f)
{
    a->events++;
    agenti_fault_named(&a->d, f->type, f->payload);
    a->d.fault.http_status = a->status;
    a->d.fault.offset = a->offset;
    a->mode = AGENTI_MODE_OVER;
    return agenti_decoder_end(&a->d);
}
/* The event inside of a frame that wraps it as {"bytes":"base64"}, decoded in place; without that member the payload stays. 0: no memory */
static int agenti_frame_unwrap(agenti_answer *a, agent_str *data)
{
    agent_str code = agenti_str(NULL, 0);
    if (agent_json_check(data->p, data->n, a->d.depth_limit, NULL) == AGENT_OK) code = agent_json_get(*data, "bytes");
    if (!agenti_is_string(code)) return 1;
    if (!agenti_json_string(code, NULL, &a->d.arena, data)) return 0;
    if (agenti_base64_ok(*data)) data->n = agenti_base64_bytes(*data, (char *)(uintptr_t)data->p);
    return 1;
}
static int agenti_frame_event(agenti_answer *a, agent_str bytes)
{
    agenti_frame f;
    const char *why;
    if (!agenti_frame_parse(bytes, &f, &why)) return agenti_frame_wrong(a, AGENT_FAULT_PROTOCOL, why);
    if (agenti_eq(f.kind, "exception") || agenti_eq(f.kind, "error")) return agenti_frame_failed(a, &f);
    if (a->d.wire->framing == AGENTI_FRAMING_BYTES && !agenti_frame_unwrap(a, &f.payload)) return 0;
    if (!agenti_framed(a, f.type, f.payload, NULL)) return 0;
    if (a->split == NULL) a->mark = a->offset;
    return 1;
}
/* Bytes of a frame into hold until `size` are there.                                                                   */
static int agenti_frame_hold(agenti_answer *a, size_t size, const char *p, size_t n, size_t *used)
{
    size_t k = size - a->hold.n < n - *used ? size - a->hold.n : n - *used;
    agenti_buf_add(&a->hold, p + *used, k);
    a->offset += k;
    *used += k;
    return !a->hold.bad;
}
/* A frame is taken in place, else put together in hold: first what tells its length.                                    */
static int agenti_feed_frames(agenti_answer *a, const char *p, size_t n, size_t *used)
{
    const char *why = "";
    size_t size;
    int ok = 1;
    *used = 0;
    while (ok && *used < n && agenti_may_feed(a, AGENTI_MODE_FRAMES)) {
        if (a->held) { a->held = 0; a->hold.n = 0; }
        if (a->hold.n < AGENTI_FRAME_PRELUDE && (a->hold.n || n - *used < AGENTI_FRAME_PRELUDE)) {
            if (!agenti_frame_hold(a, AGENTI_FRAME_PRELUDE, p, n, used)) return 0;
            if (a->hold.n < AGENTI_FRAME_PRELUDE) break;
        }
        size = agenti_frame_size(a->hold.n ? a->hold.p : p + *used, &why);
        if (size == 0) return agenti_frame_wrong(a, AGENT_FAULT_PROTOCOL, why);
        if (size > a->e->lim.item) return agenti_frame_wrong(a, AGENT_FAULT_LIMIT, "an event stream frame is longer than limits.item");
        if (a->hold.n == 0 && n - *used >= size) {
            a->offset += size;
            *used += size;
            ok = agenti_frame_event(a, agenti_str(p + *used - size, size));
        } else {
            if (!agenti_frame_hold(a, size, p, n, used)) return 0;
            a->held = a->hold.n == size;
            if (a->held) ok = agenti_frame_event(a, agenti_str(a->hold.p, size));
        }
    }
    return ok;
}
static int agenti_feed_whole(agenti_answer *a, const char *p, size_t n)
{
    int ok;
    a->offset += n;
    if (a->split) return agenti_todo(a, p, n);
    agenti_buf_add(&a->hold, p, n);
    if (a->e->lim.item < a->e->lim.piece && a->hold.n > a->e->lim.item) {       /* else it is read in pieces before     */
        agenti_answer_fault(a, AGENT_FAULT_LIMIT, 0, "the answer is longer than limits.item");
        a->d.fault.offset = a->e->lim.item;
        return !a->hold.bad;
    }
    if (a->hold.n <= a->e->lim.piece) return !a->hold.bad;
    ok = !a->hold.bad && agenti_todo(a, a->hold.p, a->hold.n);
    agenti_buf_free(&a->hold);
    return ok;
}
static int agenti_feed_error(agenti_answer *a, const char *p, size_t n)
{
    enum { MOST = 65536 };                    /* an error body's rest is not worth its memory                           */
    size_t k = MOST - a->hold.n < n ? MOST - a->hold.n : n;
    a->offset += n;
    agenti_buf_add(&a->hold, p, k);
    return !a->hold.bad;
}
static int agenti_feed_any(agenti_answer *a, const char *p, size_t n, size_t *used)
{
    size_t k = 0;
    int ok = 1;
    *used = 0;
    if (n && a->mode == AGENTI_MODE_SNIFF) agenti_sniff(a, p, n, used);
    p += *used;
    n -= *used;
    if (n == 0) return 1;
    if (a->mode == AGENTI_MODE_SSE) ok = agenti_feed_sse(a, p, n, &k);
    else {
        k = n;
        if (a->mode == AGENTI_MODE_LINES) ok = agenti_feed_lines(a, p, n, &k);
        else if (a->mode == AGENTI_MODE_ARRAY) ok = agenti_feed_array(a, p, n, &k);
        else if (a->mode == AGENTI_MODE_FRAMES) ok = agenti_feed_frames(a, p, n, &k);
        else if (a->mode == AGENTI_MODE_WHOLE) ok = agenti_feed_whole(a, p, n);
        else if (a->mode == AGENTI_MODE_ERROR) ok = agenti_feed_error(a, p, n);
    }
    *used += k;
    return ok;
}
AGENTI_FN int agenti_answer_feed(agenti_answer *a, const char *p, size_t n, size_t *used)
{
    return n && a->mode == AGENTI_MODE_SSE ? agenti_feed_sse(a, p, n, used) : agenti_feed_any(a, p, n, used);
}
AGENTI_FN void agenti_answer_end(agenti_answer *a) { a->ending = 1; }
static int agenti_end_work(agenti_answer *a)
{
    agent_sse_event ev;
    int rc;
    if (a->mode == AGENTI_MODE_WHOLE && a->split) { a->split_last = 1; return 1; }
    if (a->mode == AGENTI_MODE_WHOLE) return agenti_whole(a, agenti_str(a->hold.p, a->hold.n));
    if (a->mode == AGENTI_MODE_ERROR)
        agenti_fault_answer(&a->d, a->status, agenti_text_view(&a->headers), agenti_str(a->hold.p, a->hold.n), a->e->wall);
    if (a->mode == AGENTI_MODE_SSE) {         /* an unfinished last event counts (wire-quirks A13)                      */
        rc = agent_sse_end(&a->sse, &ev);
        if (rc == AGENT_E_FULL) return agenti_sse_grow(a);
        if (rc == AGENT_OK) return agenti_framed(a, ev.event, ev.data, NULL);
    }
    if (a->mode == AGENTI_MODE_LINES && (a->split || (a->hold.n && !a->held))) return agenti_more(a, "", 0, 1);
    a->mode = AGENTI_MODE_OVER;
    return agenti_decoder_end(&a->d);
}
AGENTI_FN int agenti_answer_work(agenti_answer *a)
{
    if (a->mode == AGENTI_MODE_OVER) return -1;
    if (agenti_split_waits(a)) return agenti_split_work(a);
    return a->ending ? agenti_end_work(a) : -1;
}
AGENTI_FN int agenti_answer_over(const agenti_answer *a) { return a->mode == AGENTI_MODE_OVER; }
AGENTI_FN void agenti_answer_verdict(agenti_answer *a)
{
    agenti_decoder *d = &a->d;
    agenti_split_drop(a);
    agenti_shortcut_free(&a->shortcut);
    agenti_buf_free(&a->hold);
    if (d->fault.fault) return;
    if (!d->done && d->finish == AGENT_FINISH_NONE) {
        uint64_t at = d->fault.offset;
        if (d->bad) {
            agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, "a payload is no JSON, and nothing after it ends the answer");
            d->fault.offset = at;
        } else if (a->events == 0 && a->plain) agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, "the answer is neither JSON nor an event stream");
        else agenti_answer_fault(a, AGENT_FAULT_TRANSPORT, 1, "the answer ended without a terminal signal");
        return;
    }
    if (d->call_n && d->finish != AGENT_FINISH_LENGTH && d->finish != AGENT_FINISH_FILTER && d->finish != AGENT_FINISH_ERROR)
        d->finish = AGENT_FINISH_TOOLS;
    else if (d->finish == AGENT_FINISH_NONE || (d->finish == AGENT_FINISH_TOOLS && d->call_n == 0)) d->finish = AGENT_FINISH_OTHER;
}
AGENTI_FN int agenti_answer_cut(const agenti_answer *a)
{
    int f = a->d.finish;
    return a->d.fault.fault || f == AGENT_FINISH_LENGTH || f == AGENT_FINISH_FILTER || f == AGENT_FINISH_ERROR;
}
AGENTI_FN void agenti_answer_drop(agenti_answer *a)
{
    a->d.op_n = a->d.op_at = 0;
    agenti_arena_reset(&a->d.arena);
    a->think_shows = 0;                       /* its text was an op's                                                   */
    a->mode = AGENTI_MODE_OVER;
}
#endif

/* ==== output.c: from ops to parts and events ====================================================================== */
/* From a wire format's ops to parts of messages and to events. Several parts may be open at the same time. */
/* The next event that waiting ops make: 1, 0 none, -1 no memory, -2 over calls_per_step.                               */
AGENTI_FN int  agenti_answer_event(agenti_answer *);
/* Ends open parts, one event a call; cut: they were not finished. Needs no memory. 0: all are closed.                  */
AGENTI_FN int  agenti_answer_close(agenti_answer *, int cut);
/* An answer without text: its thoughts become its text as well. 1: TEXT_START was made, 0: there are none, -1: no memory */
AGENTI_FN int  agenti_answer_thoughts_told(agenti_answer *);
AGENTI_FN agent_event *agenti_answer_error(agenti_answer *, int scope);      /* ERROR: the fault                        */
AGENTI_FN agent_event *agenti_answer_step_end(agenti_answer *);              /* STEP_END: finish and usage              */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_OUTPUT
enum { AGENTI_OP_APPLIED = 0x80 };            /* in op.flags: its text is in the part, deltas may be left to show        */

static agent_event *agenti_part_event(agenti_answer *a, int type, const agenti_part *p)
{
    agent_event *ev = agenti_event(a->e, type);
    ev->msg = a->msg->id;
    ev->part = p->id;
    ev->call = p->call;
    if (p->kind == AGENT_PART_CALL) {
        ev->name = agenti_text_view(&p->name);
        ev->u.tool.wire_id = agenti_text_view(&p->wire_id);
        ev->u.tool.title = agenti_str(NULL, 0);
    } else if (agenti_is_media(p->kind)) {
        ev->u.file.kind = p->kind;
        ev->u.file.mime = agenti_text_view(&p->mime);
        ev->u.file.uri = agenti_text_view(&p->uri);
    }
    return ev;
}
/* The START of a part's kind; DELTA and END follow it in the list of events.                                           */
static int agenti_part_start(const agenti_part *p)
{
    return p->kind == AGENT_PART_TEXT ? AGENT_EV_TEXT_START : p->kind == AGENT_PART_REASONING ? AGENT_EV_REASONING_START : AGENT_EV_FILE_START;
}
/* The next delta of a part, at most limits.piece long and never inside a UTF-8 sequence. 0: all is shown, 2: it was the last one. */
static int agenti_part_delta(agenti_answer *a, agenti_part *p, int type)
{
    size_t n = p->text.n - p->shown;
    if (n == 0) return 0;
    if (n > a->e->lim.piece) n = agenti_utf8_cut(p->text.p + p->shown, n, a->e->lim.piece);
    agenti_part_event(a, type, p)->text = agenti_str(p->text.p + p->shown, n);
    p->shown += n;
    return p->shown == p->text.n ? 2 : 1;
}
/* 1: MSG_ADD was made, 0: the message is there, -1: no memory.                                                         */
static int agenti_need_msg(agenti_answer *a)
{
    agent_event *ev;
    if (a->msg) return 0;
    if (a->table && !agenti_table_room(a->table, 2)) return -1;      /* and room for the results                        */
    a->msg = agenti_msg_new(a->pool, AGENT_MODEL);
    if (a->msg == NULL) return -1;
    a->msg->id = ++a->nums->msg;
    a->msg->run = a->run;
    a->msg->model = a->model;
    if (a->table == NULL) return 0;
    agenti_table_add(a->table, a->msg);
    ev = agenti_event(a->e, AGENT_EV_MSG_ADD);
    ev->msg = a->msg->id;
    ev->u.msg.role = AGENT_MODEL;
    return 1;
}
static agenti_part *agenti_part_find(const agenti_answer *a, int kind, uint32_t key)
{
    uint32_t i;
    for (i = a->open_n; i-- > 0;) if (a->open[i].key == key && a->open[i].kind == kind) return &a->msg->parts[a->open[i].part];
    return NULL;
}
static int agenti_open_room(agenti_answer *a)
{
    uint32_t cap = a->open_cap ? a->open_cap * 2 : 2;
    agenti_open *o;
    if (a->open_n < a->open_cap) return 1;
    o = (agenti_open *)agenti_resize(a->pool, a->open, a->open_cap * sizeof *o, cap * sizeof *o);
    if (o == NULL) return 0;
    a->open = o;
    a->open_cap = cap;
    return 1;
}
static void agenti_open_add(agenti_answer *a, int kind, uint32_t key, uint32_t part)
{
    agenti_open *o = &a->open[a->open_n++];
    o->key = key;
    o->kind = kind == AGENT_PART_CALL ? AGENTI_OPEN_CALL : kind == AGENT_PART_OTHER ? AGENTI_OPEN_RAN : AGENTI_OPEN_STREAM;
    o->part = part;
}
/* A new part of the message, open; the room in the list of open ones is made first.                                    */
static agenti_part *agenti_part_open(agenti_answer *a, int kind, uint32_t key)
{
    agenti_part *p = agenti_open_room(a) ? agenti_part_new(a->pool, a->msg, kind) : NULL;
    if (p) agenti_open_add(a, kind, key, a->msg->n - 1);
    return p;
}
static void agenti_part_close(agenti_answer *a, const agenti_part *p)
{
    uint32_t i, at = (uint32_t)(p - a->msg->parts);
    for (i = 0; i < a->open_n && a->open[i].part != at; i++) {}
    if (i == a->open_n) return;
    a->open_n--;
    memmove(a->open + i, a->open + i + 1, (a->open_n - i) * sizeof *a->open);
}
static int agenti_apply_text(agenti_answer *a, agenti_op *op)
{
    agenti_part *p = agenti_part_find(a, AGENTI_OPEN_STREAM, op->key);
    int rc;
    if (p == NULL) {
        if ((rc = agenti_need_msg(a)) != 0) return rc;
        if ((p = agenti_part_open(a, op->kind == AGENTI_OP_TEXT ? AGENT_PART_TEXT : AGENT_PART_REASONING, op->key)) == NULL) return -1;
        p->id = ++a->nums->part;
        p->flags = op->flags;
        agenti_part_event(a, agenti_part_start(p), p);
        return 1;
    }
    if (!(op->flags & AGENTI_OP_APPLIED)) {
        if (!agenti_text_add(&p->text, a->pool, &a->e->graves, op->a)) return -1;
        op->flags |= AGENTI_OP_APPLIED;
    }
    return agenti_part_delta(a, p, agenti_part_start(p) + 1);
}
/* MIME or URI begin a file, FILE adds to it.                                                                           */
static int agenti_apply_file(agenti_answer *a, agenti_op *op)
{
    agenti_part *p = agenti_part_find(a, AGENTI_OPEN_STREAM, op->key);
    int rc;
    if (op->kind == AGENTI_OP_FILE) return p ? agenti_apply_text(a, op) : 0;
    if (p) return 0;
    if ((rc = agenti_need_msg(a)) != 0) return rc;
    if ((p = agenti_part_open(a, op->flags, op->key)) == NULL) return -1;
    if (!agenti_text_set(op->kind == AGENTI_OP_MIME ? &p->mime : &p->uri, a->pool, &a->e->graves, op->a)) {
        a->msg->n--;
        a->open_n--;
        return -1;
    }
    if (op->kind == AGENTI_OP_MIME) p->flags = AGENT_PART_BASE64;
    p->id = ++a->nums->part;
    agenti_part_event(a, AGENT_EV_FILE_START, p);
    return 1;
}
static int agenti_mark_event(agenti_answer *a, agenti_part *p)
{
    const char *mark = agenti_call_mark(agenti_text_view(&p->text));
    agent_event *ev;
    p->looked = 1;
    if (mark == NULL) return 0;
    ev = agenti_part_event(a, AGENT_EV_WARNING, p);
    ev->text = agenti_cstr("the text holds a mark of the model's own tool calls; nothing of it is run");
    ev->name = agenti_cstr(mark);
    return 1;
}
static int agenti_close_text(agenti_answer *a, agenti_part *p, int cut)
{
    agent_event *ev;
    if (agenti_part_delta(a, p, agenti_part_start(p) + 1)) return 1;          /* what a cancel left unshown              */
    if (p->kind == AGENT_PART_TEXT && !p->looked && agenti_mark_event(a, p)) return 1;
    agenti_part_close(a, p);
    if (cut) p->flags |= AGENT_PART_CUT;
    ev = agenti_part_event(a, agenti_part_start(p) + 2, p);
    ev->text = agenti_text_view(&p->text);
    if (cut) ev->flags = AGENT_EVF_CUT;
    return 1;
}
/* ---- text that may begin with <think> ---- */
enum { AGENTI_THOUGHT_KEY = 0x40000000 };     /* the stream of thoughts beside the stream of their text                  */
static void agenti_think_set(agenti_answer *a, int kind, agent_str text)
{
    memset(&a->think_op, 0, sizeof a->think_op);
    a->think_op.kind = (uint8_t)(kind == AGENTI_THINK_THOUGHT ? AGENTI_OP_REASONING : AGENTI_OP_TEXT);
    a->think_op.key = kind == AGENTI_THINK_THOUGHT ? a->think_key | AGENTI_THOUGHT_KEY : a->think_key;
    a->think_op.a = text;
    a->think_shows = 1;
}
/* Shows the piece in think_op; before text the thoughts end. 0: it is shown.                                           */
static int agenti_think_show(agenti_answer *a)
{
    agenti_part *p = a->think_op.kind == AGENTI_OP_TEXT ? agenti_part_find(a, AGENTI_OPEN_STREAM, a->think_key | AGENTI_THOUGHT_KEY) : NULL;
    int rc = p ? agenti_close_text(a, p, 0) : agenti_apply_text(a, &a->think_op);
    if (rc == 0) a->think_shows = 0;
    return rc == 2 ? 1 : rc;                  /* think_op is done, not the decoder's                                    */
}
static int agenti_has_tags(const agenti_answer *a, const agenti_op *op)
{
    if (a->think_key ? a->think_key != op->key : (op->flags & AGENT_PART_REFUSAL) != 0) return 0;
    return a->think_shows || a->think.state != AGENTI_THINK_OFF;
}
static int agenti_apply_think(agenti_answer *a, agenti_op *op)
{
    agent_str out;
    int kind, rc;
    a->think_key = op->key;
    for (;;) {
        if (a->think_shows && (rc = agenti_think_show(a)) != 0) return rc;
        if ((kind = agenti_think_next(&a->think, &op->a, &out)) == AGENTI_THINK_NONE) return 0;
        agenti_think_set(a, kind, out);
    }
}
/* The text is over: what was held back, then the end of its thoughts. 0: all is shown.                                 */
static int agenti_think_close(agenti_answer *a, int cut)
{
    agenti_part *p;
    agent_str out;
    int kind, rc;
    if (a->think_key == 0) return 0;
    if (!a->think_shows && (kind = agenti_think_end(&a->think, &out)) != AGENTI_THINK_NONE) agenti_think_set(a, kind, out);
    if (a->think_shows && (rc = agenti_think_show(a)) != 0) return rc;
    if ((p = agenti_part_find(a, AGENTI_OPEN_STREAM, a->think_key | AGENTI_THOUGHT_KEY)) != NULL) return agenti_close_text(a, p, cut);
    a->think_key = 0;
    return 0;
}
static int agenti_apply_end(agenti_answer *a, const agenti_op *op)
{
    agenti_part *p;
    int rc = a->think_key == op->key ? agenti_think_close(a, 0) : 0;
    if (rc) return rc;
    return (p = agenti_part_find(a, AGENTI_OPEN_STREAM, op->key)) != NULL ? agenti_close_text(a, p, 0) : 0;
}

/* ---- calls ---- */
static int agenti_id_taken(const agenti_answer *a, const agenti_part *r, agent_str id)
{
    uint32_t i;
    for (i = 0; i < a->results->n; i++) {
        const agenti_part *q = &a->results->parts[i];
        if (q != r && q->wire_id.n == id.n && memcmp(q->wire_id.p, id.p, id.n) == 0) return 1;
    }
    return 0;
}
/* A call and its result change their id together or not at all: a pair that does not match spoils every later request. An id that
 * another call of the answer has gets a number (wire-quirks C23); agenti_wire_id takes it off again.                   */
static int agenti_call_id(agenti_answer *a, agenti_part *p, agenti_part *r, agent_str id)
{
    agenti_blob **graves = &a->e->graves;
    agenti_text of_call, of_result;
    agenti_buf b;
    char number[24];
    uint32_t n = a->results->n;
    int apart = 0, ok;
    memset(&of_call, 0, sizeof of_call);
    memset(&of_result, 0, sizeof of_result);
    agenti_buf_init(&b, a->pool);
    agenti_buf_add(&b, id.p, id.n);
    while (!b.bad && agenti_id_taken(a, r, agenti_str(b.p, b.n))) {
        apart = 1;
        b.n = id.n;
        agenti_buf_str(&b, "_");
        agenti_buf_add(&b, number, agenti_u64_text(n++, number));
    }
    ok = !b.bad && agenti_text_set(&of_call, a->pool, graves, agenti_str(b.p, b.n)) && agenti_text_set(&of_result, a->pool, graves, agenti_str(b.p, b.n));
    agenti_buf_free(&b);
    if (!ok) { agenti_text_free(&of_call, NULL); return 0; }
    agenti_text_free(&p->wire_id, graves);
    agenti_text_free(&r->wire_id, graves);
    p->wire_id = of_call;
    r->wire_id = of_result;
    p->flags = (uint16_t)(apart ? p->flags | AGENTI_PART_APART : p->flags & ~AGENTI_PART_APART);
    r->flags = (uint16_t)(apart ? r->flags | AGENTI_PART_APART : r->flags & ~AGENTI_PART_APART);
    return 1;
}
static int agenti_call_ids(agenti_answer *a, agenti_part *p, agenti_part *r, agent_str id, agent_str name)
{
    if (id.n && !agenti_call_id(a, p, r, id)) return 0;
    return name.n == 0 || agenti_text_set(&p->name, a->pool, &a->e->graves, name);
}
/* A call and the place of its result come to be together, so that closing never needs memory.                          */
static int agenti_call_add(agenti_answer *a, const agenti_op *op)
{
    char made[40] = "call_local_";            /* an id that no provider makes                                           */
    agenti_part *p, *r;
    agent_str id = op->a;
    int rc;
    if ((rc = agenti_need_msg(a)) != 0) return rc;
    if (a->results == NULL && (a->results = agenti_msg_new(a->pool, AGENT_TOOLS)) == NULL) return -1;
    if (a->results->n >= a->e->lim.calls_per_step) return -2;
    if ((r = agenti_part_new(a->pool, a->results, AGENT_PART_RESULT)) == NULL) return -1;
    r->call = a->nums->call + 1;
    if ((p = agenti_part_open(a, AGENT_PART_CALL, op->key)) == NULL) { a->results->n--; return -1; }
    p->call = r->call;
    r->key = a->msg->n - 1;
    if (id.n == 0) id = agenti_str(made, 11 + agenti_u64_text(p->call, made + 11));
    if (!agenti_call_ids(a, p, r, id, op->b)) {
        agenti_text_free(&p->wire_id, &a->e->graves);
        agenti_text_free(&r->wire_id, &a->e->graves);
        a->msg->n--;
        a->open_n--;
        a->results->n--;
        return -1;
    }
    if (op->a.n == 0) {                       /* our own id is sent as it is                                            */
        p->flags &= (uint16_t)~AGENTI_PART_APART;
        r->flags &= (uint16_t)~AGENTI_PART_APART;
    }
    a->nums->call++;
    p->id = ++a->nums->part;
    r->id = ++a->nums->part;
    return 0;
}
static int agenti_apply_call(agenti_answer *a, const agenti_op *op)
{
    int rc = agenti_call_add(a, op);
    if (rc < 0 && a->results && a->results->n == 0) {        /* no message without parts                                */
        agenti_msg_free(a->pool, a->results, &a->e->graves);
        a->results = NULL;
    }
    return rc;
}
static agenti_part *agenti_result_of(const agenti_answer *a, const agenti_part *call)
{
    uint32_t lo = 0, hi = a->results->n;      /* their numbers rise                                                     */
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (a->results->parts[mid].call <= call->call) lo = mid; else hi = mid;
    }
    return &a->results->parts[lo];
}
/* INPUT_START once the name is known, then what has come of the arguments.                                             */
static int agenti_show_call(agenti_answer *a, agenti_part *p)
{
    if (p->name.n == 0) return 0;
    if (!p->started) {
        p->started = 1;
        agenti_part_event(a, AGENT_EV_INPUT_START, p);
        return 1;
    }
    return agenti_part_delta(a, p, AGENT_EV_INPUT_DELTA);
}
/* Arguments are appended, unless a host resends what it sent, from the start: all of it and more, or the same complete object
 * again (wire-quirks C12-C14).                                                                                         */
static int agenti_args_add(agenti_answer *a, agenti_part *p, agent_str s)
{
    size_t have = p->text.n;
    AGENTI_TOUCH(s.n);
    if (have >= 2 && s.n >= have && memcmp(s.p, p->text.p, have) == 0) {
        if (s.n == have) {
            if ((p->flags & AGENTI_PART_RESENT) || agent_json_check(s.p, s.n, a->e->lim.depth, NULL) == AGENT_OK) return 1;
        } else {
            p->flags |= AGENTI_PART_RESENT;
            s.p += have;
            s.n -= have;
        }
    }
    if (s.n > a->e->lim.item - have) { p->flags |= AGENT_PART_CUT | AGENT_PART_INVALID; return 1; }
    return agenti_text_add(&p->text, a->pool, &a->e->graves, s);
}
/* All of the arguments: what was not shown yet is new. Where they are told otherwise than they came, what came counts.  */
static int agenti_args_set(agenti_answer *a, agenti_part *p, agent_str s)
{
    size_t have = p->text.n;
    AGENTI_TOUCH(s.n);
    if (s.n > a->e->lim.item) { p->flags |= AGENT_PART_CUT | AGENT_PART_INVALID; return 1; }
    if (have >= s.n || (have && memcmp(s.p, p->text.p, have) != 0)) return 1;
    return agenti_text_add(&p->text, a->pool, &a->e->graves, agenti_str(s.p + have, s.n - have));
}
static int agenti_apply_input(agenti_answer *a, agenti_op *op)
{
    agenti_part *p = agenti_part_find(a, AGENTI_OPEN_CALL, op->key);
    int rc;
    if (op->kind == AGENTI_OP_CALL && p == NULL) {
        if ((rc = agenti_apply_call(a, op)) != 0) return rc;
        p = agenti_part_find(a, AGENTI_OPEN_CALL, op->key);
    }
    if (p == NULL) return 0;
    if (!(op->flags & AGENTI_OP_APPLIED)) {
        op->flags |= AGENTI_OP_APPLIED;
        if (op->kind == AGENTI_OP_NAME && !agenti_call_ids(a, p, agenti_result_of(a, p), op->a, op->b)) return -1;
        if (op->kind == AGENTI_OP_ARGS && !(op->flags & AGENTI_ARGS_WHOLE ? agenti_args_set(a, p, op->a) : agenti_args_add(a, p, op->a))) return -1;
    }
    return agenti_show_call(a, p);
}
static int agenti_apply_data(agenti_answer *a, const agenti_op *op)
{
    agenti_part *p = agenti_part_find(a, op->flags & AGENTI_DATA_CALL ? AGENTI_OPEN_CALL : AGENTI_OPEN_STREAM, op->key);
    if (p && op->a.n > a->e->lim.item - p->data.n) {
        agenti_answer_fault(a, AGENT_FAULT_LIMIT, 0, "what goes back with a part is longer than limits.item");
        return 0;
    }
    return p == NULL || agenti_text_add(&p->data, a->pool, &a->e->graves, op->a) ? 0 : -1;
}
static int agenti_custom_event(agenti_answer *a, const agenti_part *p)
{
    agent_event *ev = agenti_part_event(a, AGENT_EV_CUSTOM, p);
    ev->text = agenti_text_view(&p->text);
    ev->name = agenti_text_view(&p->name);
    return 1;
}
/* A block that only the provider understands: kept as it came, shown as CUSTOM.                                        */
static int agenti_apply_raw(agenti_answer *a, agenti_op *op)
{
    agenti_part *p;
    int rc;
    if (op->flags & AGENTI_OP_APPLIED) return 0;
    if ((rc = agenti_need_msg(a)) != 0) return rc;
    if ((p = agenti_part_new(a->pool, a->msg, AGENT_PART_OTHER)) == NULL) return -1;
    if (!agenti_text_set(&p->text, a->pool, &a->e->graves, op->a) || !agenti_text_set(&p->name, a->pool, &a->e->graves, op->b)) {
        agenti_text_free(&p->text, &a->e->graves);
        a->msg->n--;
        return -1;
    }
    p->id = ++a->nums->part;
    if (op->flags & AGENTI_RAW_QUIET) { op->flags |= AGENTI_OP_APPLIED; return 0; }
    op->flags |= AGENTI_OP_APPLIED;
    return agenti_custom_event(a, p);
}
/* Calls that the provider runs are parts of kind OTHER, open until their result comes: `title` is the tool.            */
static agent_event *agenti_ran_event(agenti_answer *a, int type, const agenti_part *call, const agenti_part *p)
{
    agent_event *ev = agenti_part_event(a, type, p);
    ev->call = call->call;
    ev->name = agenti_text_view(&call->title);
    ev->u.tool.wire_id = agenti_text_view(&call->wire_id);
    ev->u.tool.title = agenti_str(NULL, 0);
    ev->u.tool.by = AGENT_BY_PROVIDER;
    return ev;
}
/* The calls since the user spoke that wait for a result, as they may beyond a pause and the results of the host's calls. With an id
 * that it has, the first such call has got it: 1. Else how many there are.                                             */
static uint32_t agenti_waiting(const agenti_answer *a, const agent_str *id)
{
    size_t i = a->table ? a->table->n : 0;
    uint32_t n = 0, *at;
    while (i-- > 0 && a->table->msgs[i]->role != AGENT_USER) {
        agenti_msg *m = a->table->msgs[i];
        for (at = &m->waits; *at; at = &m->parts[*at - 1].key, n++) {
            const agenti_part *p = &m->parts[*at - 1];
            if (id == NULL || p->wire_id.n != id->n || memcmp(p->wire_id.p, id->p, id->n) != 0) continue;
            *at = p->key;
            return 1;
        }
    }
    return id ? 0 : n;
}
static uint32_t agenti_ran_open(const agenti_answer *a)
{
    uint32_t i, n = 0;
    for (i = 0; i < a->open_n; i++) n += a->open[i].kind == AGENTI_OPEN_RAN;
    return n;
}
static int agenti_apply_ran(agenti_answer *a, agenti_op *op)
{
    agenti_part *p = &a->msg->parts[a->msg->n - 1];
    if (op->flags & AGENTI_OP_APPLIED) return 0;
    p->flags = AGENT_PART_CUT;                /* nobody waits for its result yet: it would not be sent                   */
    if (agenti_ran_open(a) + agenti_waiting(a, NULL) >= a->e->lim.calls_per_step) return -2;
    if (!agenti_open_room(a)) return -1;
    if (!agenti_text_set(&p->wire_id, a->pool, &a->e->graves, op->a) || !agenti_text_set(&p->title, a->pool, &a->e->graves, op->b)) return -1;
    op->flags |= AGENTI_OP_APPLIED;
    p->flags = 0;
    p->call = ++a->nums->call;
    agenti_open_add(a, AGENT_PART_OTHER, 0, a->msg->n - 1);
    agenti_ran_event(a, AGENT_EV_TOOL_CALL, p, p)->text = op->c;
    return 1;
}
/* The result of a call of this answer; of one before a pause it was said that none came.                               */
static int agenti_apply_result(agenti_answer *a, agenti_op *op)
{
    agenti_part *p = &a->msg->parts[a->msg->n - 1], *call;
    uint32_t i;
    agent_event *ev;
    if (op->flags & AGENTI_OP_APPLIED) return 0;
    op->flags |= AGENTI_OP_APPLIED;
    for (i = 0; i < a->open_n; i++) {
        call = &a->msg->parts[a->open[i].part];
        if (a->open[i].kind != AGENTI_OPEN_RAN || call->wire_id.n != op->a.n || memcmp(call->wire_id.p, op->a.p, op->a.n) != 0) continue;
        agenti_part_close(a, call);
        ev = agenti_ran_event(a, AGENT_EV_TOOL_RESULT, call, p);
        ev->text = op->c;
        ev->u.tool.status = op->flags & AGENT_PART_ERROR ? AGENT_DONE_ERROR : AGENT_DONE_OK;
        return 1;
    }
    if (!agenti_waiting(a, &op->a)) p->flags |= AGENT_PART_CUT;      /* without its call it would be refused           */
    return agenti_custom_event(a, p);
}
static int agenti_apply_news(agenti_answer *a, agenti_op *op)
{
    agent_event *ev;
    if (op->flags & AGENTI_OP_APPLIED) return 0;
    op->flags |= AGENTI_OP_APPLIED;
    ev = agenti_event(a->e, op->kind == AGENTI_OP_SOURCE ? AGENT_EV_SOURCE : op->kind == AGENTI_OP_NEWS ? AGENT_EV_CUSTOM
                          : op->kind == AGENTI_OP_MODELS ? AGENT_EV_MODELS : AGENT_EV_WARNING);
    ev->text = op->a;
    ev->name = op->b;
    return 1;
}
static int agenti_apply(agenti_answer *a, agenti_op *op)      /* as agenti_answer_event, or 2: an event, and the op is done */
{
    switch (op->kind) {
    case AGENTI_OP_TEXT:
        return agenti_has_tags(a, op) ? agenti_apply_think(a, op) : agenti_apply_text(a, op);
    case AGENTI_OP_REASONING: return agenti_apply_text(a, op);
    case AGENTI_OP_MIME: case AGENTI_OP_URI: case AGENTI_OP_FILE: return agenti_apply_file(a, op);
    case AGENTI_OP_CALL: case AGENTI_OP_NAME: case AGENTI_OP_ARGS: return agenti_apply_input(a, op);
    case AGENTI_OP_DATA: return agenti_apply_data(a, op);
    case AGENTI_OP_RAW: return agenti_apply_raw(a, op);
    case AGENTI_OP_RAN: return agenti_apply_ran(a, op);
    case AGENTI_OP_RESULT: return agenti_apply_result(a, op);
    case AGENTI_OP_END: return agenti_apply_end(a, op);
    default: return agenti_apply_news(a, op);
    }
}
AGENTI_FN int agenti_answer_event(agenti_answer *a)
{
    agenti_decoder *d = &a->d;
    int rc = 0;
    while (d->op_at < d->op_n && (rc = agenti_apply(a, &d->ops[d->op_at])) == 0) d->op_at++;
    if (rc == 2) { d->op_at++; rc = 1; }      /* events view the part, not the op                                       */
    if (d->op_n && d->op_at == d->op_n) {
        d->op_n = d->op_at = 0;
        if (d->arena.top) agenti_arena_reset(&d->arena);
    }
    return rc;
}
/* Objects one behind the other in the arguments are as many calls (wire-quirks C17). The length of the first one; 0: they are none. */
static size_t agenti_objects(const agenti_answer *a, agent_str s, uint32_t *count)
{
    enum { MOST = 1024 };
    size_t first = 0, n;
    for (*count = 0; s.n; ++*count) {
        if (s.p[0] != '{' || (n = agenti_json_skip(s.p, s.n)) < 2 || agent_json_check(s.p, n, a->e->lim.depth, NULL) != AGENT_OK) return 0;
        if (*count == 0) first = n;
        s = agenti_trim(agenti_str(s.p + n, s.n - n));
    }
    return *count > 1 && *count <= MOST && *count <= a->e->lim.calls_per_step - a->results->n + 1 ? first : 0;
}
/* Takes back the last call that was added: nothing of it was shown.                                                     */
static void agenti_call_undo(agenti_answer *a)
{
    agenti_part *p = &a->msg->parts[--a->msg->n], *r = &a->results->parts[--a->results->n];
    agenti_text_free(&p->wire_id, &a->e->graves);
    agenti_text_free(&p->name, &a->e->graves);
    agenti_text_free(&p->text, &a->e->graves);
    agenti_text_free(&r->wire_id, &a->e->graves);
    a->open_n--;
    a->nums->call--;
    a->nums->part -= 2;
}
/* The first object stays with the call at `at`, the others become calls of the same name that close after it. 0: no memory, and the
 * call stays as it was.                                                                                                */
static int agenti_call_split(agenti_answer *a, uint32_t at, size_t first)
{
    agent_str all = agenti_text_view(&a->msg->parts[at].text), rest = agenti_trim(agenti_str(all.p + first, all.n - first));
    agenti_op op;
    uint32_t added = 0;
    size_t n;
    int ok = 1;
    memset(&op, 0, sizeof op);
    while (ok && rest.n) {
        n = agenti_json_skip(rest.p, rest.n);
        op.a = agenti_text_view(&a->msg->parts[at].wire_id);
        op.b = agenti_text_view(&a->msg->parts[at].name);
        op.key = 0x20000000u + a->results->n;        /* no key of a wire format's                                       */
        if ((ok = agenti_call_add(a, &op) == 0) == 0) break;
        added++;
        a->msg->parts[a->msg->n - 1].flags = 0;      /* the id's number stays: the call is our own                      */
        a->results->parts[a->results->n - 1].flags = 0;
        ok = agenti_text_set(&a->msg->parts[a->msg->n - 1].text, a->pool, &a->e->graves, agenti_str(rest.p, n));
        rest = agenti_trim(agenti_str(rest.p + n, rest.n - n));
    }
    ok = ok && agenti_text_set(&a->msg->parts[at].text, a->pool, &a->e->graves, agenti_str(all.p, first));
    while (!ok && added-- > 0) agenti_call_undo(a);
    return ok;
}
static int agenti_close_call(agenti_answer *a, agenti_part *p, int cut)
{
    uint32_t at, count;
    size_t first;
    agent_event *ev;
    if (p->name.n == 0) agenti_text_static(&p->name, &a->e->graves, "unknown");
    if (agenti_show_call(a, p)) return 1;
    agenti_part_close(a, p);
    if (p->text.n == 0) agenti_text_static(&p->text, &a->e->graves, "{}");
    if (p->text.p[0] != '{' || agent_json_check(p->text.p, p->text.n, a->e->lim.depth, NULL) != AGENT_OK) p->flags |= AGENT_PART_INVALID;
    if (cut) p->flags |= AGENT_PART_CUT;
    ev = agenti_part_event(a, AGENT_EV_INPUT_END, p);
    ev->text = agenti_text_view(&p->text);
    at = (uint32_t)(p - a->msg->parts);
    first = p->flags == AGENT_PART_INVALID ? agenti_objects(a, ev->text, &count) : 0;
    if (first && agenti_call_split(a, at, first)) a->msg->parts[at].flags = 0;
    p = &a->msg->parts[at];
    ev->flags = (uint16_t)((p->flags & AGENT_PART_INVALID ? AGENT_EVF_SALVAGED : 0) | (p->flags & AGENT_PART_CUT ? AGENT_EVF_CUT : 0));
    return 1;
}
static int agenti_close_ran(agenti_answer *a, agenti_part *p)                  /* its result comes after a pause, or never */
{
    agenti_part_close(a, p);
    p->key = a->msg->waits;
    a->msg->waits = (uint32_t)(p - a->msg->parts) + 1;
    agenti_ran_event(a, AGENT_EV_TOOL_RESULT, p, p)->u.tool.status = AGENT_DONE_NOT_RUN;
    return 1;
}
AGENTI_FN int agenti_answer_close(agenti_answer *a, int cut)
{
    agent_event *ev;
    uint32_t i;
    int rc = a->think_key ? agenti_think_close(a, cut) : 0;
    if (rc > 0) return 1;
    if (rc < 0) a->think_shows = 0;           /* no memory: what was held back is lost                                  */
    if (a->open_n) {
        agenti_part *p = &a->msg->parts[a->open[0].part];
        if (p->kind == AGENT_PART_CALL) return agenti_close_call(a, p, cut);
        return a->open[0].kind == AGENTI_OPEN_RAN ? agenti_close_ran(a, p) : agenti_close_text(a, p, cut);
    }
    for (i = 0; a->results && !cut && i < a->results->n; i++) {
        agenti_part *p = &a->msg->parts[a->results->parts[i].key];
        if (p->called) continue;
        p->called = 1;
        ev = agenti_part_event(a, AGENT_EV_TOOL_CALL, p);
        ev->text = agenti_text_view(&p->text);
        if (p->flags & AGENT_PART_INVALID) ev->flags = AGENT_EVF_SALVAGED;
        return 1;
    }
    return 0;
}
AGENTI_FN int agenti_answer_thoughts_told(agenti_answer *a)
{
    enum { KEY = 0x08000000 };                /* of no other stream                                                     */
    uint32_t i, n = a->msg ? a->msg->n : 0;
    agenti_part *p;
    int any = 0;
    for (i = 0; i < n; i++) any |= a->msg->parts[i].kind == AGENT_PART_REASONING && a->msg->parts[i].text.n;
    if (!any) return 0;
    if ((p = agenti_part_open(a, AGENT_PART_TEXT, KEY)) == NULL) return -1;
    for (i = 0; i < n; i++) {
        const agenti_part *thought = &a->msg->parts[i];
        if (thought->kind != AGENT_PART_REASONING || agenti_text_add(&p->text, a->pool, &a->e->graves, agenti_text_view(&thought->text))) continue;
        agenti_text_free(&p->text, &a->e->graves);
        a->msg->n--;
        a->open_n--;
        return -1;
    }
    p->id = ++a->nums->part;
    agenti_part_event(a, AGENT_EV_TEXT_START, p);
    return 1;
}
AGENTI_FN agent_event *agenti_answer_error(agenti_answer *a, int scope)
{
    const agenti_fault *f = &a->d.fault;
    agent_event *ev = agenti_event(a->e, AGENT_EV_ERROR);
    ev->text = agenti_text_view(&f->text);
    ev->name = agenti_text_view(&f->code);
    ev->u.error.fault = f->fault;
    ev->u.error.http_status = f->http_status;
    ev->u.error.scope = scope;
    ev->u.error.retryable = f->retryable;
    ev->u.error.offset = f->offset;
    ev->u.error.retry_after_ms = f->retry_after_ms;
    ev->u.error.request_id = agenti_text_view(&a->d.request_id);
    return ev;
}
AGENTI_FN agent_event *agenti_answer_step_end(agenti_answer *a)
{
    agent_event *ev = agenti_event(a->e, AGENT_EV_STEP_END);
    a->e->ev_usage = a->d.usage;
    memcpy(a->e->ev_raw, a->d.finish_raw, sizeof a->e->ev_raw);
    ev->u.end.finish = a->d.fault.fault ? AGENT_FINISH_ERROR : a->d.finish;
    ev->u.end.raw = agenti_cstr(a->e->ev_raw);
    ev->u.end.usage = &a->e->ev_usage;
    ev->u.end.model = agenti_text_view(&a->d.model);
    ev->u.end.request_id = agenti_text_view(&a->d.request_id);
    ev->u.end.headers = agenti_text_view(&a->limits);
    return ev;
}
#endif

/* ==== request.c: requests as lists of pieces, serialised once ===================================================== */
/* Requests as lists of pieces: what was serialised once is pointed to, only the small rest is written anew. */
typedef struct agenti_block { struct agenti_block *next; size_t n, cap; } agenti_block;
typedef struct agenti_log {                   /* the serialised messages of a session, one after the other: a droppable cache */
    agenti_pool *pool;
    agenti_block *first, *last;
    size_t total, msgs;                       /* bytes; messages of the table that are in                               */
    int state;                                /* the wire format's                                                      */
} agenti_log;
typedef struct agenti_piece { const char *p; size_t n; } agenti_piece;
typedef struct agenti_out {                   /* the bytes of one request                                               */
    agenti_pool *pool;
    agenti_buf head, text;                    /* the HTTP head, piece 0; head and tail of the body                      */
    agenti_piece *pieces; size_t piece_n, piece_cap;
    uint64_t body_len;
    char *stage; size_t stage_cap, stage_n;   /* small pieces are put together here                                     */
    size_t text_at;                           /* bytes of text that are in pieces                                       */
    size_t at, off;                           /* the next piece, and the byte in it                                     */
    size_t sent;                              /* of stage, or of the piece that is handed out                           */
    int direct;                               /* pieces[at] + off is handed out, not stage                              */
} agenti_out;
enum { AGENTI_SEND_MIN = 4096, AGENTI_BLOCK_MIN = 512, AGENTI_BLOCK_MAX = 65536 };

AGENTI_FN int  agenti_log_add(agenti_log *, const agenti_buf *);              /* 0: refused, unchanged                  */
AGENTI_FN void agenti_log_free(agenti_log *);
AGENTI_FN void agenti_out_init(agenti_out *, agenti_pool *);
AGENTI_FN void agenti_out_free(agenti_out *);                                 /* wipes the head: it has a key            */
/* Body pieces in order; p NULL: what was added to out->text since the last such call. 0: refused                       */
AGENTI_FN int  agenti_out_piece(agenti_out *, const char *p, size_t n);
AGENTI_FN int  agenti_out_log(agenti_out *, const agenti_log *);
AGENTI_FN int  agenti_out_ready(agenti_out *, int grows);                     /* when text and head are written; grows: the head will. 0: refused */
AGENTI_FN void agenti_out_head(agenti_out *);                                 /* the head has grown                      */
AGENTI_FN void agenti_out_start(agenti_out *, int with_head);                 /* also to start over                     */
AGENTI_FN const char *agenti_out_bytes(const agenti_out *, size_t *n);        /* NULL: all is sent                      */
AGENTI_FN int  agenti_out_sent(agenti_out *, size_t n);                       /* 0: n is too much                       */
AGENTI_FN void agenti_wipe(char *p, size_t n);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_REQUEST
AGENTI_FN void agenti_wipe(char *p, size_t n)
{
    volatile char *v = p;
    while (n--) *v++ = 0;
}
static agenti_block *agenti_block_new(agenti_log *log, size_t n)
{
    size_t cap = log->total, all;
    agenti_block *b;
    if (cap < AGENTI_BLOCK_MIN) cap = AGENTI_BLOCK_MIN;
    if (cap > AGENTI_BLOCK_MAX) cap = AGENTI_BLOCK_MAX;
    if (log->first && cap < AGENTI_SEND_MIN) cap = AGENTI_SEND_MIN;
    if (cap < n) cap = n;
    if (!agenti_add(cap, sizeof *b, &all) || (b = (agenti_block *)agenti_resize(log->pool, NULL, 0, all)) == NULL) return NULL;
    b->next = NULL;
    b->n = 0;
    b->cap = cap;
    return b;
}
static void agenti_block_fill(agenti_log *log, agenti_block *b, const char *p, size_t n)
{
    memcpy((char *)(b + 1) + b->n, p, n);
    AGENTI_TOUCH(n);
    b->n += n;
    log->total += n;
}
AGENTI_FN int agenti_log_add(agenti_log *log, const agenti_buf *b)
{
    size_t room = log->last ? log->last->cap - log->last->n : 0, here = room < b->n ? room : b->n;
    agenti_block *more;
    if (b->bad) return 0;
    if (here < b->n) {                        /* the rest goes into a new block; it is there before anything changes    */
        if ((more = agenti_block_new(log, b->n - here)) == NULL) return 0;
        if (log->last) log->last->next = more; else log->first = more;
        if (here) agenti_block_fill(log, log->last, b->p, here);
        log->last = more;
    }
    if (b->n > 0) agenti_block_fill(log, log->last, b->p + (here < b->n ? here : 0), here < b->n ? b->n - here : here);
    return 1;
}
AGENTI_FN void agenti_log_free(agenti_log *log)
{
    agenti_block *b, *next;
    for (b = log->first; b; b = next) {
        next = b->next;
        agenti_put(log->pool, b, b->cap + sizeof *b);
    }
    log->first = log->last = NULL;
    log->total = log->msgs = 0;
    log->state = 0;
}
AGENTI_FN void agenti_out_init(agenti_out *o, agenti_pool *pool)
{
    memset(o, 0, sizeof *o);
    o->pool = pool;
    agenti_buf_init(&o->head, pool);
    agenti_buf_init(&o->text, pool);
}
AGENTI_FN void agenti_out_free(agenti_out *o)
{
    agenti_pool *pool = o->pool;
    if (pool == NULL) return;
    if (o->head.p) agenti_wipe(o->head.p, o->head.n);
    if (o->stage) agenti_wipe(o->stage, o->stage_cap);
    agenti_buf_free(&o->head);
    agenti_buf_free(&o->text);
    agenti_put(pool, o->pieces, o->piece_cap * sizeof *o->pieces);
    agenti_put(pool, o->stage, o->stage_cap);
    agenti_out_init(o, pool);
}
AGENTI_FN int agenti_out_piece(agenti_out *o, const char *p, size_t n)
{
    agenti_piece *q;
    if (o->piece_cap - o->piece_n < 2) {
        size_t cap = o->piece_cap ? o->piece_cap * 2 : 8;
        q = (agenti_piece *)agenti_resize(o->pool, o->pieces, o->piece_cap * sizeof *q, cap * sizeof *q);
        if (q == NULL) return 0;
        o->pieces = q;
        o->piece_cap = cap;
    }
    if (o->piece_n == 0) { o->pieces[0].p = NULL; o->pieces[0].n = 0; o->piece_n = 1; }       /* the HTTP head's place  */
    if (p == NULL) {
        n = o->text.n - o->text_at;
        o->text_at = o->text.n;
    }
    if (n == 0) return 1;
    o->pieces[o->piece_n].p = p;
    o->pieces[o->piece_n++].n = n;
    o->body_len += n;
    return 1;
}
AGENTI_FN int agenti_out_log(agenti_out *o, const agenti_log *log)
{
    const agenti_block *b;
    for (b = log->first; b; b = b->next) if (!agenti_out_piece(o, (const char *)(b + 1), b->n)) return 0;
    return 1;
}
AGENTI_FN void agenti_out_head(agenti_out *o)
{
    o->pieces[0].p = o->head.p;
    o->pieces[0].n = o->head.n;
}
AGENTI_FN int agenti_out_ready(agenti_out *o, int grows)
{
    size_t i, at = 0;
    uint64_t all = o->body_len + o->head.n;
    if (o->text.bad || o->head.bad) return 0;
    agenti_out_head(o);
    for (i = 1; i < o->piece_n; i++) if (o->pieces[i].p == NULL) { o->pieces[i].p = o->text.p + at; at += o->pieces[i].n; }
    o->stage_cap = !grows && all < 2 * AGENTI_SEND_MIN ? (size_t)all : 2 * AGENTI_SEND_MIN;
    o->stage = (char *)agenti_resize(o->pool, NULL, 0, o->stage_cap);
    if (o->stage == NULL) { o->stage_cap = 0; return 0; }
    return 1;
}
/* Hands out a long piece as it is; short ones are put together, and a long one gives what makes them long enough, or all of itself
 * when a short rest would stay. So a step copies at most 8 KiB of what was serialised before.                           */
static void agenti_out_next(agenti_out *o)
{
    o->sent = o->stage_n = 0;
    o->direct = 0;
    while (o->at < o->piece_n && o->stage_n < AGENTI_SEND_MIN) {
        const agenti_piece *p = &o->pieces[o->at];
        size_t left = p->n - o->off, take = left;
        if (left >= AGENTI_SEND_MIN) {
            if (o->stage_n == 0) { o->direct = 1; return; }
            take = AGENTI_SEND_MIN - o->stage_n;
            if (left - take < AGENTI_SEND_MIN && left <= o->stage_cap - o->stage_n) take = left;
        }
        memcpy(o->stage + o->stage_n, p->p + o->off, take);
        AGENTI_TOUCH(take);
        o->stage_n += take;
        o->off += take;
        if (o->off == p->n) { o->at++; o->off = 0; }
    }
}
AGENTI_FN void agenti_out_start(agenti_out *o, int with_head)
{
    o->at = with_head ? 0 : 1;
    o->off = 0;
    agenti_out_next(o);
}
AGENTI_FN const char *agenti_out_bytes(const agenti_out *o, size_t *n)
{
    if (o->direct) {
        *n = o->pieces[o->at].n - o->off - o->sent;
        return o->pieces[o->at].p + o->off + o->sent;
    }
    *n = o->stage_n - o->sent;
    return *n ? o->stage + o->sent : NULL;
}
AGENTI_FN int agenti_out_sent(agenti_out *o, size_t n)
{
    size_t had;
    if (agenti_out_bytes(o, &had) == NULL || n > had) return n == 0;
    o->sent += n;
    if (n < had) return 1;
    if (o->direct) { o->at++; o->off = 0; }
    agenti_out_next(o);
    return 1;
}
#endif

/* ==== peer.c: endpoints: URL, key, headers ======================================================================== */
/* Whoever is at the other end: its address, key, headers and dialect, and its connections that wait to be used again. */
struct agenti_conn;
typedef struct agenti_waiter {                /* who waits for the key beside sessions                                  */
    agenti_ready ready;
    struct agenti_waiter *next;
} agenti_waiter;
typedef struct agenti_peer {
    agent_id id;
    agent_engine *e;
    const agent_provider *row;
    const agenti_wire *wire;
    agenti_ready ready;                       /* in the sessions' ring: it has to say something of its key              */
    agenti_text base, host, headers, extra;   /* base: what url points into                                             */
    agenti_text auth;
    agenti_url url;
    char *key; size_t key_n;
    uint64_t key_until;                       /* it is good so long; 0: not known                                       */
    uint32_t key_count;                       /* keys so far: an answer may be to an older one                          */
    int key_state, key_why;
    agenti_text key_text;                     /* what the provider said of it                                           */
    agent_num need;                           /* of CREDENTIAL, the last one                                            */
    uint8_t wants_key, keyless, signs;        /* keyless: the host has none to give                                     */
    uint8_t need_over;                        /* NEED_DONE is to come                                                   */
    uint32_t dialect, sessions;
    uint32_t switched;                        /* bits of dialect that a refusal has changed, which it does once         */
    void *user;
    agenti_waiter *listings;
    struct agenti_conn *idle;                 /* the one used last comes first                                          */
} agenti_peer;

enum { AGENTI_KEY_THERE, AGENTI_KEY_ASK, AGENTI_KEY_ASKED };

AGENTI_FN agenti_peer *agenti_peer_get(const agent_engine *, agent_id);
AGENTI_FN int  agenti_peer_key_there(agenti_peer *);          /* 0: the host is asked for it, and all sessions are woken then */
AGENTI_FN void agenti_peer_key_ask(agenti_peer *, int why, agent_str text);
AGENTI_FN void agenti_peer_key_fill(const agenti_peer *, agent_event *);         /* what CREDENTIAL says                 */
AGENTI_FN int  agenti_peer_key_declined(agenti_peer *, agent_num need);          /* OK or LATE                           */
AGENTI_FN int  agenti_peer_pump(agenti_peer *);               /* 1: an event was made                                   */
AGENTI_FN int  agenti_headers_good(agent_str lines);          /* lines of Name: value that may go into a request        */
AGENTI_FN void agenti_peer_free(agenti_peer *);
/* The request's header lines, "name\0value\0" each, without Host and Content-Length. 0: no memory                      */
AGENTI_FN int  agenti_peer_headers(const agenti_peer *, agenti_buf *, int stream);
AGENTI_FN int  agenti_header_line(agent_str *lines, agent_str *name, agent_str *value);     /* 1, 0 at the end, -1 a line that is none */
AGENTI_FN int  agenti_header_given(const agenti_peer *, const char *name);      /* by the host, for all requests        */
/* Stars over the key and the like, should they stand there; lines: the headers that were sent, which may be older than the peer's */
AGENTI_FN void agenti_peer_hide(const agenti_peer *, const agenti_buf *lines, agenti_text *);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_PEER
AGENTI_FN agenti_peer *agenti_peer_get(const agent_engine *e, agent_id id) { return (agenti_peer *)agenti_id_get(e, id, AGENTI_PEER); }
static void agenti_key_drop(agenti_peer *p)
{
    if (p->key) agenti_wipe(p->key, p->key_n);
    agenti_put(&p->e->pool, p->key, p->key_n + 1);
    p->key = NULL;
    p->key_n = 0;
}
/* ---- asking for a key: one question for all sessions ---- */
AGENTI_FN void agenti_peer_key_ask(agenti_peer *p, int why, agent_str text)
{
    agenti_text_free(&p->key_text, &p->e->graves);
    (void)agenti_text_set(&p->key_text, &p->e->pool, &p->e->graves, text);      /* without memory it says less           */
    p->key_why = why;
    p->key_state = AGENTI_KEY_ASK;
    agenti_wake(&p->e->sessions, &p->ready);
}
AGENTI_FN int agenti_peer_key_there(agenti_peer *p)
{
    if (p->key_state == AGENTI_KEY_THERE && p->wants_key) {
        if (p->key == NULL && !p->keyless) agenti_peer_key_ask(p, AGENT_KEY_MISSING, agenti_str(NULL, 0));
        else if (p->key_until && p->e->now >= p->key_until) agenti_peer_key_ask(p, AGENT_KEY_EXPIRED, agenti_str(NULL, 0));
    }
    return p->key_state == AGENTI_KEY_THERE;
}
static void agenti_peer_key_answered(agenti_peer *p)
{
    agent_engine *e = p->e;
    agenti_waiter *w;
    uint32_t i;
    if (p->key_state == AGENTI_KEY_THERE) return;
    p->need_over = p->key_state == AGENTI_KEY_ASKED;
    p->key_state = AGENTI_KEY_THERE;
    agenti_text_free(&p->key_text, &e->graves);
    if (p->need_over) agenti_wake(&e->sessions, &p->ready);
    for (i = 0; i < e->slots[AGENTI_SESSION].n; i++)          /* a session begins with its link                          */
        if (e->slots[AGENTI_SESSION].p[i].p) agenti_wake(&e->sessions, (agenti_ready *)e->slots[AGENTI_SESSION].p[i].p);
    for (w = p->listings; w; w = w->next) agenti_wake(&e->sessions, &w->ready);
}
AGENTI_FN int agenti_peer_key_declined(agenti_peer *p, agent_num need)
{
    if (p->key_state != AGENTI_KEY_ASKED || p->need != need) return AGENT_LATE;
    p->keyless = p->key == NULL;
    p->key_until = 0;                         /* what there is has to do                                                */
    agenti_peer_key_answered(p);
    return AGENT_OK;
}
AGENTI_FN void agenti_peer_key_fill(const agenti_peer *p, agent_event *ev)
{
    ev->flags = AGENT_EVF_NEED;
    ev->peer = p->id;
    ev->user = p->user;
    ev->need = p->need;
    ev->text = agenti_text_view(&p->key_text);
    ev->name = agenti_cstr(p->row->key_env);
    ev->u.credential.why = p->key_why;
}
AGENTI_FN int agenti_peer_pump(agenti_peer *p)
{
    agent_event *ev;
    if (p->need_over) {
        p->need_over = 0;
        ev = agenti_event(p->e, AGENT_EV_NEED_DONE);
        ev->peer = p->id;
        ev->user = p->user;
        ev->need = p->need;
        return 1;
    }
    if (p->key_state != AGENTI_KEY_ASK) return 0;
    p->key_state = AGENTI_KEY_ASKED;
    p->need++;
    agenti_peer_key_fill(p, agenti_event(p->e, AGENT_EV_CREDENTIAL));
    return 1;
}
AGENTI_FN void agenti_peer_free(agenti_peer *p)
{
    agenti_blob **graves = &p->e->graves;
    agenti_key_drop(p);
    agenti_sleep(&p->ready);
    agenti_text_free(&p->auth, graves);
    agenti_text_free(&p->key_text, graves);
    agenti_text_free(&p->base, graves);
    agenti_text_free(&p->host, graves);
    if (p->headers.p) agenti_wipe(p->headers.p, p->headers.n);
    agenti_text_free(&p->headers, graves);
    agenti_text_free(&p->extra, graves);
    if (p->id) agenti_id_free(p->e, p->id);
    agenti_put(&p->e->pool, p, sizeof *p);
}
/* The next "Name: value" of host-given lines; 0 at the end, -1 when a line is none.                                    */
AGENTI_FN int agenti_header_line(agent_str *lines, agent_str *name, agent_str *value)
{
    const char *end, *colon;
    size_t n;
    while (lines->n && (lines->p[0] == '\n' || lines->p[0] == '\r')) { lines->p++; lines->n--; }
    if (lines->n == 0) return 0;
    end = (const char *)memchr(lines->p, '\n', lines->n);
    n = end ? (size_t)(end - lines->p) : lines->n;
    *value = agenti_str(lines->p, n);
    lines->p += n;
    lines->n -= n;
    colon = (const char *)memchr(value->p, ':', value->n);
    if (colon == NULL || colon == value->p) return -1;
    *name = agenti_str(value->p, (size_t)(colon - value->p));
    *value = agenti_trim(agenti_str(colon + 1, value->n - name->n - 1));
    return 1;
}
static int agenti_header_named(const agenti_peer *p, agent_str name)
{
    agent_str lines = agenti_text_view(&p->headers), n, v;
    size_t i;
    while (agenti_header_line(&lines, &n, &v) > 0) {
        for (i = 0; i < n.n && i < name.n && agenti_lower(n.p[i]) == agenti_lower(name.p[i]); i++) {}
        if (i == n.n && i == name.n) return 1;
    }
    return 0;
}
AGENTI_FN int agenti_header_given(const agenti_peer *p, const char *name) { return agenti_header_named(p, agenti_cstr(name)); }
static void agenti_header_put(agenti_buf *b, agent_str name, const char *prefix, agent_str value)
{
    agenti_buf_add(b, name.p, name.n);
    agenti_buf_add(b, "", 1);
    agenti_buf_str(b, prefix);
    agenti_buf_add(b, value.p, value.n);
    agenti_buf_add(b, "", 1);
}
/* Room for all lines at once: a buffer that grows would leave the key behind in freed memory.                          */
static int agenti_headers_room(const agenti_peer *p, agenti_buf *b, const char *auth)
{
    agent_str row[4];
    size_t n = 512, i;
    row[0] = agenti_cstr(auth);
    row[1] = agenti_cstr(p->wire->header);
    row[2] = agenti_cstr(p->wire->header_value);
    row[3] = agenti_cstr(p->row->headers);
    for (i = 0; i < 4; i++) if (!agenti_add(n, row[i].n, &n)) return 0;
    return agenti_add(n, p->key_n, &n) && agenti_add(n, p->headers.n, &n) && agenti_buf_room(b, n);
}
AGENTI_FN int agenti_peer_headers(const agenti_peer *p, agenti_buf *b, int stream)
{
    agent_str lines = agenti_text_view(&p->headers), own = agenti_cstr(p->row->headers), n, v;
    int bearer = agenti_eq(agenti_text_view(&p->auth), "bearer");
    const char *auth = bearer ? "authorization" : p->auth.p;
    if (!agenti_headers_room(p, b, auth)) return 0;
    if (!agenti_header_given(p, "content-type")) agenti_header_put(b, agenti_cstr("content-type"), "", agenti_cstr("application/json"));
    if (!agenti_header_given(p, "accept"))
        agenti_header_put(b, agenti_cstr("accept"), "", agenti_cstr(!stream ? "application/json"
                          : p->wire->framing >= AGENTI_FRAMING_FRAMES ? "application/vnd.amazon.eventstream, application/json"
                                                                      : "text/event-stream, application/json"));
    if (!agenti_header_given(p, "accept-encoding")) agenti_header_put(b, agenti_cstr("accept-encoding"), "", agenti_cstr("identity"));
    if (!agenti_header_given(p, "user-agent")) agenti_header_put(b, agenti_cstr("user-agent"), "", agenti_cstr("agent.h/" AGENT_VERSION));
    if (p->key_n && p->wants_key)
        agenti_header_put(b, agenti_cstr(auth), bearer ? "Bearer " : "", agenti_str(p->key, p->key_n));
    if (p->wire->header && !agenti_header_given(p, p->wire->header))
        agenti_header_put(b, agenti_cstr(p->wire->header), "", agenti_cstr(p->wire->header_value));
    while (agenti_header_line(&own, &n, &v) > 0) if (!agenti_header_named(p, n)) agenti_header_put(b, n, "", v);
    while (agenti_header_line(&lines, &n, &v) > 0) agenti_header_put(b, n, "", v);
    return !b->bad;
}
static void agenti_star(agenti_text *t, agent_str secret)
{
    size_t i;
    if (secret.n < 4 || t->borrowed) return;
    for (i = 0; t->n >= secret.n && i <= t->n - secret.n; i++)
        if (memcmp(t->p + i, secret.p, secret.n) == 0) memset(t->p + i, '*', secret.n);
    for (i = t->n < secret.n ? t->n : secret.n - 1; i >= 4; i--)        /* the text was cut in the middle of it          */
        if (memcmp(t->p + t->n - i, secret.p, i) == 0) { memset(t->p + t->n - i, '*', i); return; }
}
static int agenti_header_secret(const agenti_peer *p, agent_str name)
{
    static const char *const words[] = { "auth", "key", "token", "secret", "cookie" };
    size_t i;
    if (p->auth.n && agenti_ieq(name, p->auth.p)) return 1;
    for (i = 0; i < sizeof words / sizeof *words; i++) if (agenti_find(name, words[i])) return 1;
    return 0;
}
/* Providers quote a wrong key back to us: it must not reach an event.                                                  */
AGENTI_FN void agenti_peer_hide(const agenti_peer *p, const agenti_buf *lines, agenti_text *t)
{
    const char *at = lines->p, *end = at ? at + lines->n : at;
    while (at < end) {
        agent_str name = agenti_cstr(at), value = agenti_cstr(at + name.n + 1);
        const char *space = (const char *)memchr(value.p, ' ', value.n);       /* as in "Bearer key"                    */
        at += name.n + value.n + 2;
        if (!agenti_header_secret(p, name)) continue;
        agenti_star(t, value);
        if (space) agenti_star(t, agenti_cstr(space + 1));
    }
}
static int agenti_bad_value(const char *p, size_t n) { return memchr(p, '\r', n) || memchr(p, '\n', n) || memchr(p, 0, n); }
AGENTDEF int agent_peer_key(agent_engine *e, agent_id id, const char *key, size_t n, uint64_t valid_ms)
{
    agenti_peer *p = agenti_peer_get(e, id);
    char *copy;
    if (p == NULL) return agenti_say(e, AGENT_E_STALE, "no such peer");
    n = agenti_len(key, n);
    if (n && agenti_bad_value(key, n)) return agenti_say(e, AGENT_E_ARG, "the key has CR, LF or NUL in it");
    if ((copy = (char *)agenti_get(&e->pool, n + 1)) == NULL) return agenti_say(e, AGENT_E_NOMEM, "out of memory");
    if (n) memcpy(copy, key, n);
    agenti_key_drop(p);
    p->key = copy;
    p->key_n = n;
    p->key_count++;
    p->key_until = valid_ms == 0 ? 0 : valid_ms > UINT64_MAX - e->now ? UINT64_MAX : e->now + valid_ms;
    agenti_peer_key_answered(p);
    return AGENT_OK;
}
AGENTI_FN int agenti_headers_good(agent_str lines)
{
    agent_str n, v;
    int rc;
    while ((rc = agenti_header_line(&lines, &n, &v)) > 0) {
        size_t i;
        for (i = 0; i < v.n; i++) if ((unsigned char)v.p[i] < ' ' && v.p[i] != '\t') return 0;
        if (!agenti_http_token(n.p, n.n) || agenti_ieq(n, "content-length") || agenti_ieq(n, "transfer-encoding")) return 0;
    }
    return rc == 0;
}
/* NULL, or why it cannot be. Everything that needs memory comes later.                                                 */
static const char *agenti_peer_check(const agent_engine *e, const agent_peer_desc *d, agenti_peer *p)
{
    const char *why = NULL;
    agent_str extra = agenti_cstr(d->body_json), base;
    p->row = agenti_provider_find(e->rows, e->row_count, agenti_cstr(d->provider));
    if (p->row == NULL) return "unknown provider";
    if (!agenti_headers_good(agenti_cstr(p->row->headers))) return "headers of the provider must be lines of Name: value";
    if (d->auth && !agenti_http_token(d->auth, strlen(d->auth))) return "auth is no header's name";
    if ((p->wire = agenti_wire_find(agenti_cstr(p->row->wire))) == NULL) return "the provider's wire format is unknown, or left out of this build";
    if (p->wire->head == NULL) return "this wire format is for answers only";
    base = agenti_cstr(d->url ? d->url : p->row->url);
    if (base.n == 0) return "this provider needs a url";
    if (!agenti_url_parse(base, &p->url, &why)) return why;
    if (!agenti_headers_good(agenti_cstr(d->headers))) return "headers must be lines of Name: value, and the length is the engine's to tell";
    if (extra.n) {
        if (agent_json_check(extra.p, extra.n, e->lim.depth, NULL) != AGENT_OK || agenti_trim(extra).p[0] != '{') return "body_json is no JSON object";
        if (agent_json_get(extra, "messages").p || agent_json_get(extra, "stream").p) return "body_json cannot replace messages or stream";
    }
    return NULL;
}
static int agenti_peer_fill(agenti_peer *p, const agent_peer_desc *d)
{
    agenti_pool *pool = &p->e->pool;
    agenti_blob **graves = &p->e->graves;
    const char *why;
    return agenti_text_set(&p->base, pool, graves, agenti_cstr(d->url ? d->url : p->row->url))
        && agenti_url_parse(agenti_text_view(&p->base), &p->url, &why)
        && agenti_text_set(&p->host, pool, graves, p->url.host)
        && agenti_text_set(&p->headers, pool, graves, agenti_cstr(d->headers))
        && agenti_text_set(&p->auth, pool, graves, agenti_cstr(d->auth ? d->auth : p->row->auth))
        && agenti_text_set(&p->extra, pool, graves, agenti_trim(agenti_cstr(d->body_json)));
}
static int agenti_peer_wants_key(const agenti_peer *p)
{
    agent_str auth = agenti_text_view(&p->auth);
    if (auth.n == 0 || p->signs || agenti_eq(auth, "none")) return 0;
    return !agenti_header_given(p, agenti_eq(auth, "bearer") ? "authorization" : auth.p);
}
AGENTDEF agent_id agent_peer_open(agent_engine *e, const agent_peer_desc *d)
{
    agenti_peer *p;
    const char *why;
    agent_id id;
    if (d == NULL) { e->last = "no description"; return 0; }
    if ((p = (agenti_peer *)agenti_get(&e->pool, sizeof *p)) == NULL) { e->last = "out of memory"; return 0; }
    p->e = e;
    p->user = d->user;
    if ((why = agenti_peer_check(e, d, p)) != NULL) { e->last = why; agenti_peer_free(p); return 0; }
    p->dialect = (p->row->dialect | d->dialect_on) & ~d->dialect_off;
    e->last = "out of memory";
    if (!agenti_peer_fill(p, d) || (p->id = agenti_id_new(e, AGENTI_PEER, p)) == 0) { agenti_peer_free(p); return 0; }
    id = p->id;
    p->ready.owner = p;
    p->ready.kind = AGENTI_PEER;
    p->signs = (uint8_t)agenti_eq(agenti_text_view(&p->auth), "sign");
    p->wants_key = (uint8_t)agenti_peer_wants_key(p);
    if (d->key && agent_peer_key(e, id, d->key, AGENT_CSTR, 0) != AGENT_OK) { agenti_peer_free(p); return 0; }
    return id;
}
#endif

/* ==== conn.c: connections: bytes in and out, HTTP, reuse ========================================================== */
/* Connections: one byte stream each. Bytes in are read in place by HTTP and the answer; bytes out are a request's pieces. */
enum agenti_conn_state {
    AGENTI_CONN_NEW,                          /* OPEN is to come                                                        */
    AGENTI_CONN_OPENING,                      /* the host was asked                                                     */
    AGENTI_CONN_OPEN,                         /* an exchange is going on                                                */
    AGENTI_CONN_DRAIN,                        /* its answer is over; the rest of the message is read and dropped        */
    AGENTI_CONN_IDLE,                         /* may be used again                                                      */
    AGENTI_CONN_CLOSING,                      /* CLOSE is to come                                                       */
    AGENTI_CONN_GONE                          /* CLOSE was made; only the host's reservation is left                    */
};
typedef struct agenti_exchange {              /* whose request this is, as far as events need it                        */
    agent_id session;
    void *user;
    uint64_t *seq;                            /* counts its events                                                      */
    agenti_nums *nums;
    agenti_ready *ready;                      /* woken when the answer is over                                          */
    agenti_answer *answer;
} agenti_exchange;
typedef struct agenti_decode {                /* the owner of a decode-only connection's answers                        */
    agenti_ready ready;
    struct agenti_conn *c;
    agenti_answer answer;
    agenti_nums nums;
    uint64_t seq;
    uint32_t answers;                         /* that are over                                                          */
    uint8_t said;                             /* STEP_END or ERROR of this answer was shown                             */
} agenti_decode;
typedef struct agenti_conn {
    agenti_ready ready;
    agent_engine *e;
    agenti_peer *peer;                        /* NULL: decode-only                                                      */
    agenti_decode *decode;
    agent_id id;
    agenti_exchange x;                        /* x.answer NULL: none                                                    */
    agent_num need, run, step;
    void *user;
    agenti_text detail;                       /* of agent_failed                                                        */
    char *in; size_t cap, r, w, reserved;
    size_t span, span_n;                      /* body bytes in `in` that HTTP has passed and the answer has not read    */
    agent_http http;
    agenti_buf head;                          /* HTTP's                                                                 */
    agenti_out out;
    agenti_buf lines;                         /* header lines for agent_open_header, "name\0value\0"                    */
    const char *method;                       /* and URL, of the request                                                */
    agenti_text url;
    uint64_t drain_until;
    struct agenti_conn *next, *prev;          /* draining, idle at the peer, or pinned                                  */
    int state, via, why;
    uint8_t sign;                             /* AGENTI_SIGN_                                                           */
    agenti_ready *waiter;                     /* woken when it drains no more, or is gone                               */
    uint8_t need_open, need_over, send;       /* the SIGN or OPEN need waits; NEED_DONE, SEND are to come               */
    uint8_t eof, failed;                      /* told by the host                                                       */
    uint8_t more;                             /* HTTP may have something to say without further bytes                   */
    uint8_t got_byte, got_head, message_over, over;   /* of this exchange; over: its owner knows                         */
    uint8_t skip_message;                     /* the rest of the last message comes before this exchange's              */
    uint8_t reused, stale, doubled;
    uint8_t unopened;                         /* closing, and OPEN never came: no CLOSE comes                           */
} agenti_conn;
enum { AGENTI_DRAIN_MS = 1000 };
enum { AGENTI_SIGN_NONE, AGENTI_SIGN_ASK, AGENTI_SIGN_ASKED };         /* the request is to be signed before it is sent          */

AGENTI_FN agenti_conn *agenti_conn_get(const agent_engine *, agent_id);
AGENTI_FN agenti_conn *agenti_conn_new(agent_engine *, agenti_peer *);         /* NULL: no memory, or agent_last         */
AGENTI_FN void agenti_conn_free(agenti_conn *);                                /* pins it while a reservation is out      */
AGENTI_FN void agenti_conn_unpin(agenti_conn *);                               /* the reservation came back              */
AGENTI_FN agenti_conn *agenti_conn_reuse(agenti_peer *);                       /* an idle one, no longer idle            */
AGENTI_FN agenti_conn *agenti_conn_leaving(agent_engine *);                    /* one whose CLOSE will make room, or NULL */
AGENTI_FN int  agenti_conn_head_write(agenti_conn *, const char *method, const char *path);    /* when body and header lines are written. 0: no memory */
AGENTI_FN void agenti_conn_begin(agenti_conn *, const agenti_exchange *, agent_num run, agent_num step);
AGENTI_FN void agenti_conn_again(agenti_conn *, const agenti_exchange *);      /* decode-only: the next answer           */
AGENTI_FN void agenti_conn_abort(agenti_conn *);                               /* its owner wants no more of it          */
AGENTI_FN void agenti_conn_drain(agenti_conn *);                               /* the answer is over, its bytes may not be */
AGENTI_FN void agenti_conn_orphan(agenti_conn *);                              /* its peer goes                          */
AGENTI_FN void agenti_conn_time(agent_engine *);                               /* closes what drained too long           */
AGENTI_FN void agenti_conn_open_fill(const agenti_conn *, agent_event *);      /* what OPEN says                         */
AGENTI_FN agent_event *agenti_conn_sign(agenti_conn *, agent_event *);         /* whose event it is                      */
AGENTI_FN int  agenti_conn_pump(agenti_conn *);                                /* 1: an event was made, -1: it is freed  */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_CONN
AGENTI_FN agenti_conn *agenti_conn_get(const agent_engine *e, agent_id id) { return (agenti_conn *)agenti_id_get(e, id, AGENTI_CONN); }
AGENTI_FN agenti_conn *agenti_conn_new(agent_engine *e, agenti_peer *peer)
{
    agenti_conn *c = (agenti_conn *)agenti_get(&e->pool, sizeof *c);
    if (c == NULL) { e->last = "out of memory"; return NULL; }
    c->e = e;
    c->peer = peer;
    c->ready.owner = c;
    agenti_buf_init(&c->head, &e->pool);
    agenti_buf_init(&c->lines, &e->pool);
    agenti_out_init(&c->out, &e->pool);
    agent_http_init(&c->http, NULL, 0);
    if ((c->id = agenti_id_new(e, AGENTI_CONN, c)) == 0) { agenti_put(&e->pool, c, sizeof *c); return NULL; }
    return c;
}
static void agenti_conn_unlink(agenti_conn *c)
{
    agent_engine *e = c->e;
    if (c->state == AGENTI_CONN_DRAIN && c->peer) {
        if (c->prev) c->prev->next = c->next; else e->drain_first = c->next;
        if (c->next) c->next->prev = c->prev; else e->drain_last = c->prev;
    } else if (c->state == AGENTI_CONN_IDLE) {
        if (c->prev) c->prev->next = c->next; else c->peer->idle = c->next;
        if (c->next) c->next->prev = c->prev;
    } else if (c->state == AGENTI_CONN_GONE) {
        if (c->prev) c->prev->next = c->next; else e->pinned_first = c->next;
        if (c->next) c->next->prev = c->prev; else e->pinned_last = c->prev;
    }
    c->next = c->prev = NULL;
}
/* A read may still be going on: the buffer, and what finds it by the dead id, wait for agent_recv_ack.                  */
static void agenti_conn_pin(agenti_conn *c)
{
    c->state = AGENTI_CONN_GONE;
    c->prev = c->e->pinned_last;
    if (c->prev) c->prev->next = c; else c->e->pinned_first = c;
    c->e->pinned_last = c;
}
static agenti_conn *agenti_conn_pinned(const agent_engine *e, agent_id id)
{
    agenti_conn *c = e->pinned_first;         /* reads mostly end in the order of the CLOSEs                            */
    while (c && c->id != id) c = c->next;
    return c;
}
AGENTI_FN void agenti_conn_unpin(agenti_conn *c)
{
    agenti_conn_unlink(c);
    agenti_blob_put(c->in);
    agenti_put(&c->e->pool, c, sizeof *c);
}
static void agenti_conn_state_set(agenti_conn *c, int state)
{
    agenti_conn_unlink(c);
    if (c->waiter) { agenti_wake(&c->e->sessions, c->waiter); c->waiter = NULL; }
    c->state = state;
    agenti_wake(&c->e->conns, &c->ready);
}
static void agenti_conn_request_drop(agenti_conn *c)
{
    agenti_out_free(&c->out);
    if (c->lines.p) agenti_wipe(c->lines.p, c->lines.n);
    agenti_buf_free(&c->lines);
}
AGENTI_FN void agenti_conn_free(agenti_conn *c)
{
    agent_engine *e = c->e;
    agenti_conn_unlink(c);
    agenti_sleep(&c->ready);
    if (c->waiter) agenti_wake(&e->sessions, c->waiter);
    agenti_conn_request_drop(c);
    if (c->decode) {
        agenti_sleep(&c->decode->ready);
        agenti_answer_free(&c->decode->answer);
        agenti_put(&e->pool, c->decode, sizeof *c->decode);
    }
    agenti_buf_free(&c->head);
    agenti_text_free(&c->detail, &e->graves);
    agenti_text_free(&c->url, &e->graves);
    agenti_id_free(e, c->id);
    if (c->reserved) { agenti_conn_pin(c); return; }
    agenti_blob_bury(&e->graves, c->in);
    agenti_put(&e->pool, c, sizeof *c);
}
AGENTI_FN agenti_conn *agenti_conn_reuse(agenti_peer *p)
{
    agenti_conn *c = p->idle;
    while (c && (c->eof || c->failed || c->r < c->w)) c = c->next;        /* that one is to close                         */
    if (c) agenti_conn_state_set(c, AGENTI_CONN_OPEN);
    return c;
}
/* Under limits.conns one that closes already is waited for, else one has to go that is of no more use, or idle.         */
AGENTI_FN agenti_conn *agenti_conn_leaving(agent_engine *e)
{
    agenti_conn *idle = NULL, *c;
    uint32_t i;
    for (i = 0; i < e->slots[AGENTI_CONN].n; i++) {
        c = (agenti_conn *)e->slots[AGENTI_CONN].p[i].p;
        if (c == NULL) continue;
        if (c->state == AGENTI_CONN_CLOSING && c->waiter == NULL) return c;
        if (c->state == AGENTI_CONN_IDLE || (c->state == AGENTI_CONN_DRAIN && c->peer && c->via == AGENT_VIA_HTTP)) idle = c;
    }
    if (idle) agenti_conn_state_set(idle, AGENTI_CONN_CLOSING);
    return idle;
}
static void agenti_http_line(agenti_buf *b, agent_str name, agent_str value)
{
    agenti_buf_add(b, name.p, name.n);
    agenti_buf_str(b, ": ");
    agenti_buf_add(b, value.p, value.n);
    agenti_buf_str(b, "\r\n");
}
static int agenti_target(agenti_buf *b, const agenti_url *u, const char *path)         /* "=/path" stands for the host's own    */
{
    agenti_url root = *u;
    if (path[0] != '=') return agenti_url_join(b, u, path);
    root.path.n = 0;
    return agenti_url_join(b, &root, path + 1);
}
/* Request line and headers, RFC 9112 section 3; the URL for hosts that speak HTTP.                                      */
AGENTI_FN int agenti_conn_head_write(agenti_conn *c, const char *method, const char *path)
{
    const agenti_url *u = &c->peer->url;
    agenti_buf *b = &c->out.head, url;
    agent_str name, value;
    char number[24];
    size_t i;
    int ok;
    c->method = method;
    agenti_buf_init(&url, &c->e->pool);
    agenti_buf_str(&url, u->tls ? "https://" : "http://");
    agenti_buf_add(&url, u->authority.p, u->authority.n);
    ok = agenti_target(&url, u, path);
    (void)agenti_buf_room(b, 2 * url.n + 2 * c->lines.n + 128);       /* all of it: the key is not left behind by growing */
    agenti_buf_str(b, method);
    agenti_buf_str(b, " ");
    ok = ok && agenti_target(b, u, path);
    agenti_buf_str(b, " HTTP/1.1\r\n");
    if (!agenti_header_given(c->peer, "host")) agenti_http_line(b, agenti_cstr("host"), u->authority);
    for (i = 0; agent_open_header(c->e, c->id, i, &name, &value) == AGENT_OK; i++) agenti_http_line(b, name, value);
    if (c->out.body_len) agenti_http_line(b, agenti_cstr("content-length"), agenti_str(number, agenti_u64_text(c->out.body_len, number)));
    agenti_buf_str(b, "\r\n");
    ok = ok && !url.bad && agenti_text_set(&c->url, &c->e->pool, &c->e->graves, agenti_str(url.p, url.n));
    agenti_buf_free(&url);
    return ok;
}
AGENTI_FN void agenti_conn_begin(agenti_conn *c, const agenti_exchange *x, agent_num run, agent_num step)
{
    c->x = *x;
    c->run = run;
    c->step = step;
    c->got_byte = c->got_head = c->message_over = c->over = c->stale = 0;
    agent_http_expect(&c->http, 0);
    c->sign = c->peer->signs ? AGENTI_SIGN_ASK : AGENTI_SIGN_NONE;
    if (c->state == AGENTI_CONN_OPEN) {       /* used again                                                             */
        c->reused = 1;
        c->send = !c->sign;
        if (!c->sign) agenti_out_start(&c->out, 1);
    }
    agenti_wake(&c->e->conns, &c->ready);
}
AGENTI_FN void agenti_conn_again(agenti_conn *c, const agenti_exchange *x)
{
    c->x = *x;
    c->skip_message = !c->message_over;
    c->got_byte = c->got_head = c->message_over = c->over = 0;
    c->span_n = 0;
    if (!c->skip_message) agent_http_expect(&c->http, 0);
    agenti_wake(&c->e->conns, &c->ready);
}
/* Its owner may be gone before the CLOSE: only what the event shows of it stays.                                       */
static void agenti_conn_forget(agenti_conn *c)
{
    c->x.answer = NULL;
    c->x.ready = NULL;
    c->x.seq = NULL;
    c->x.nums = NULL;
    c->span_n = 0;
    c->send = c->sign = 0;
    agenti_conn_request_drop(c);
}
AGENTI_FN void agenti_conn_abort(agenti_conn *c)
{
    agenti_conn_forget(c);
    if (c->state == AGENTI_CONN_NEW && !c->need_open && !c->need_over) { agenti_conn_free(c); return; }
    c->unopened = c->state == AGENTI_CONN_NEW;
    if (c->need_open) { c->need_open = 0; c->need_over = 1; }
    agenti_conn_state_set(c, AGENTI_CONN_CLOSING);
}
AGENTI_FN void agenti_conn_drain(agenti_conn *c)
{
    size_t left;
    int all_sent = c->out.pool == NULL || agenti_out_bytes(&c->out, &left) == NULL;
    int last = c->http.framing == AGENT_HTTP_UNTIL_CLOSE || (c->peer && !c->http.keep_alive);         /* nothing follows     */
    agenti_conn_forget(c);
    if (c->eof || c->failed || c->http.error || !all_sent || (c->via == AGENT_VIA_BYTES && !c->message_over && last)) {
        agenti_conn_state_set(c, AGENTI_CONN_CLOSING);
        return;
    }
    agenti_conn_state_set(c, AGENTI_CONN_DRAIN);
    if (c->peer == NULL) return;
    c->drain_until = c->e->now + AGENTI_DRAIN_MS;
    c->prev = c->e->drain_last;
    if (c->prev) c->prev->next = c; else c->e->drain_first = c;
    c->e->drain_last = c;
}
AGENTI_FN void agenti_conn_orphan(agenti_conn *c)
{
    if (c->state != AGENTI_CONN_CLOSING) agenti_conn_state_set(c, AGENTI_CONN_CLOSING);
    if (c->x.session == 0) c->x.user = c->peer->user;
    c->peer = NULL;
}
AGENTI_FN void agenti_conn_time(agent_engine *e)
{
    while (e->drain_first && e->drain_first->drain_until <= e->now) agenti_conn_state_set(e->drain_first, AGENTI_CONN_CLOSING);
}
static void agenti_conn_idle(agenti_conn *c)
{
    agenti_conn_state_set(c, AGENTI_CONN_IDLE);
    memset(&c->x, 0, sizeof c->x);
    c->run = c->step = 0;
    c->next = c->peer->idle;
    if (c->next) c->next->prev = c;
    c->peer->idle = c;
}

/* ---- bytes in ---- */
static size_t agenti_conn_base(const agenti_conn *c) { return c->span_n ? c->span : c->r; }
/* Moves what is unread to the front. Ops that wait may point into the buffer, and the host into its reservation.        */
static void agenti_conn_pack(agenti_conn *c)
{
    size_t base = agenti_conn_base(c);
    if (c->reserved || base == 0 || (c->x.answer && c->x.answer->d.op_n)) return;
    if (c->w > base) { memmove(c->in, c->in + base, c->w - base); AGENTI_TOUCH(c->w - base); }
    c->w -= base;
    c->r -= base;
    c->span -= c->span_n ? base : c->span;
}
/* Makes the room behind w at least n if the limit allows it. 0: no memory.                                              */
static int agenti_conn_room(agenti_conn *c, size_t n)
{
    size_t cap = c->cap, most = c->e->lim.recv;
    char *p;
    if (c->cap - c->w < n) agenti_conn_pack(c);
    if (c->cap - c->w >= n || c->cap >= most || c->reserved || (c->x.answer && c->x.answer->d.op_n)) return 1;
    if (cap < 1024) cap = most < 1024 ? most : 1024;
    while (cap < most && cap - c->w < n) cap = cap > most / 2 ? most : cap * 2;
    p = agenti_blob_resize(&c->e->pool, c->in, cap);
    if (p == NULL) return 0;
    c->in = p;
    c->cap = cap;
    return 1;
}
static const char *agenti_conn_may_read(const agenti_conn *c)
{
    if (c->state != AGENTI_CONN_OPEN && c->state != AGENTI_CONN_DRAIN && c->state != AGENTI_CONN_IDLE) return "the connection is not open";
    if (c->eof || c->failed) return "the stream has ended";
    return NULL;
}
AGENTDEF int agent_feed(agent_engine *e, agent_id id, const void *p, size_t n, size_t *taken)
{
    agenti_conn *c = agenti_conn_get(e, id);
    const char *why;
    size_t room;
    if (taken) *taken = 0;
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if ((why = agenti_conn_may_read(c)) != NULL) return agenti_say(e, AGENT_E_STATE, why);
    if (c->reserved) return agenti_say(e, AGENT_E_STATE, "a reservation is open");
    if (n == 0) return AGENT_OK;
    if (!agenti_conn_room(c, n)) return agenti_say(e, AGENT_E_NOMEM, "out of memory");
    room = c->cap - c->w;
    if (n > room) {
        if (taken == NULL || room == 0) return agenti_say(e, AGENT_E_FULL, "the connection's buffer is full: drain agent_next");
        n = room;
    }
    memcpy(c->in + c->w, p, n);
    AGENTI_TOUCH(n);
    c->w += n;
    if (taken) *taken = n;
    agenti_wake(&e->conns, &c->ready);
    return AGENT_OK;
}
AGENTDEF void *agent_recv_buf(agent_engine *e, agent_id id, size_t *cap)
{
    agenti_conn *c = agenti_conn_get(e, id);
    size_t want;
    *cap = 0;
    if (c == NULL) { e->last = "no such connection"; return NULL; }
    if ((e->last = agenti_conn_may_read(c)) != NULL) return NULL;
    if (c->reserved) { *cap = c->reserved; return c->in + c->w; }
    want = c->w - agenti_conn_base(c);        /* mostly the beginning of an event that waits for its end                */
    want = c->doubled ? c->cap * 2 - c->w : want < 2048 ? 4096 - want : 4096;
    if (!agenti_conn_room(c, want) && c->cap == c->w) { e->last = "out of memory"; return NULL; }
    if (c->cap == c->w) { e->last = "the connection's buffer is full: drain agent_next"; return NULL; }
    c->reserved = *cap = c->cap - c->w;
    return c->in + c->w;
}
AGENTDEF int agent_recv_ack(agent_engine *e, agent_id id, size_t n)
{
    agenti_conn *c = agenti_conn_get(e, id);
    if (c == NULL) c = agenti_conn_pinned(e, id);
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (c->reserved == 0) return agenti_say(e, AGENT_E_STATE, "nothing is reserved");
    if (n > c->reserved) return agenti_say(e, AGENT_E_ARG, "more than was reserved");
    if (c->state == AGENTI_CONN_GONE) { agenti_conn_unpin(c); return AGENT_OK; }
    c->doubled = n == c->reserved && c->cap < c->e->lim.recv;
    c->reserved = 0;
    c->w += n;
    if (n) agenti_wake(&e->conns, &c->ready);
    return AGENT_OK;
}
AGENTDEF int agent_eof(agent_engine *e, agent_id id)
{
    agenti_conn *c = agenti_conn_get(e, id);
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (c->state < AGENTI_CONN_OPEN) return agenti_say(e, AGENT_E_STATE, "the connection is not open");
    c->eof = 1;
    agenti_wake(&e->conns, &c->ready);
    return AGENT_OK;
}
AGENTDEF int agent_failed(agent_engine *e, agent_id id, int why, const char *detail, size_t n)
{
    agenti_conn *c = agenti_conn_get(e, id);
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (c->state == AGENTI_CONN_CLOSING || c->eof || c->failed) return AGENT_OK;
    n = agenti_len(detail, n);
    if (n > 512) n = 512;
    if (n && agenti_text_set(&c->detail, &e->pool, &e->graves, agenti_str(detail, n))) agenti_text_scrub(&c->detail);
    c->failed = 1;
    c->why = why;
    if (c->need_open) { c->need_open = 0; c->need_over = 1; }
    agenti_wake(&e->conns, &c->ready);
    return AGENT_OK;
}
AGENTDEF int agent_opened(agent_engine *e, agent_id id, int via, void *user)
{
    agenti_conn *c = agenti_conn_get(e, id);
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (c->state != AGENTI_CONN_OPENING || c->failed) return agenti_say(e, AGENT_E_STATE, "the connection is not waiting to be opened");
    if (via != AGENT_VIA_BYTES && via != AGENT_VIA_HTTP) return agenti_say(e, AGENT_E_ARG, "via is neither bytes nor HTTP");
    c->via = via;
    c->user = user;
    c->need_open = 0;
    c->need_over = 1;
    agenti_conn_state_set(c, AGENTI_CONN_OPEN);
    agenti_out_start(&c->out, via == AGENT_VIA_BYTES);
    return AGENT_OK;
}
AGENTDEF int agent_http_head(agent_engine *e, agent_id id, int status, const char *lines, size_t n)
{
    agenti_conn *c = agenti_conn_get(e, id);
    agent_str rest, name, value;
    agenti_buf *b;
    int rc;
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (c->via != AGENT_VIA_HTTP || c->state < AGENTI_CONN_OPEN || c->got_head) return agenti_say(e, AGENT_E_STATE, "no answer's head is awaited");
    if (c->got_byte || c->r < c->w) return agenti_say(e, AGENT_E_STATE, "the body has begun");
    if (status < 200 || status > 999) return agenti_say(e, AGENT_E_ARG, "no final HTTP status");
    n = agenti_len(lines, n);
    if (n > e->lim.head) return agenti_say(e, AGENT_E_LIMIT, "the head is longer than limits.head");
    b = &c->head;
    b->n = 0;
    rest = agenti_str(lines, n);
    while ((rc = agenti_header_line(&rest, &name, &value)) != 0) {
        size_t i;
        if (rc < 0) continue;                 /* a status line                                                          */
        for (i = 0; i < name.n; i++) { char k = agenti_lower(name.p[i]); agenti_buf_add(b, &k, 1); }
        agenti_buf_add(b, ": ", 2);
        agenti_buf_add(b, value.p, value.n);
        agenti_buf_add(b, "\n", 1);
    }
    if (b->bad) { agenti_buf_free(b); return agenti_say(e, AGENT_E_NOMEM, "out of memory"); }
    c->got_head = 1;
    c->http.status = status;
    agenti_wake(&e->conns, &c->ready);
    return AGENT_OK;
}

/* ---- bytes out ---- */
static int agenti_conn_sends(const agenti_conn *c)           /* to the peer, or to the host that signs it               */
{
    return c && !c->failed && c->out.stage && (c->sign ? c->sign == AGENTI_SIGN_ASKED : c->state == AGENTI_CONN_OPEN);
}
AGENTDEF const void *agent_send_buf(const agent_engine *e, agent_id id, size_t *n)
{
    const agenti_conn *c = agenti_conn_get(e, id);
    *n = 0;
    return agenti_conn_sends(c) ? agenti_out_bytes(&c->out, n) : NULL;
}
AGENTDEF int agent_send_ack(agent_engine *e, agent_id id, size_t n)
{
    agenti_conn *c = agenti_conn_get(e, id);
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (n == 0) return AGENT_OK;
    if (!agenti_conn_sends(c) || !agenti_out_sent(&c->out, n)) return agenti_say(e, AGENT_E_ARG, "more than agent_send_buf gave");
    return AGENT_OK;
}
AGENTDEF int agent_send_rewind(agent_engine *e, agent_id id)
{
    agenti_conn *c = agenti_conn_get(e, id);
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (!agenti_conn_sends(c) || c->got_head || c->got_byte) return agenti_say(e, AGENT_E_STATE, "the answer has begun");
    agenti_out_start(&c->out, !c->sign && c->via == AGENT_VIA_BYTES);
    return AGENT_OK;
}
AGENTDEF int agent_wants(const agent_engine *e, agent_id id)
{
    const agenti_conn *c = agenti_conn_get(e, id);
    size_t n;
    int wants = 0;
    if (c == NULL) return 0;
    if (agenti_conn_may_read(c) == NULL && (c->reserved || c->w - agenti_conn_base(c) < e->lim.recv)) wants |= AGENT_WANT_READ;
    if (!c->sign && agenti_conn_sends(c) && agenti_out_bytes(&c->out, &n)) wants |= AGENT_WANT_WRITE;
    return wants;
}
AGENTDEF int agent_open_header(const agent_engine *e, agent_id id, size_t i, agent_str *name, agent_str *value)
{
    const agenti_conn *c = agenti_conn_get(e, id);
    const char *p, *end;
    if (c == NULL) return AGENT_E_STALE;
    p = c->lines.p;
    end = p ? p + c->lines.n : p;
    while (p < end) {
        *name = agenti_cstr(p);
        *value = agenti_cstr(p + name->n + 1);
        if (i-- == 0) return AGENT_OK;
        p += name->n + value->n + 2;
    }
    return AGENT_E_ARG;
}

/* Two blocks as one, for what holds secrets: nothing of it is left behind in freed memory. 0: no memory                 */
static int agenti_secret_join(agenti_buf *to, size_t cut, const agenti_buf *more, const char *end)
{
    agenti_buf b;
    size_t n;
    agenti_buf_init(&b, to->pool);
    if (!agenti_add(to->n, more->n + 8, &n) || !agenti_buf_room(&b, n)) return 0;
    agenti_buf_add(&b, to->p, to->n - cut);
    agenti_buf_add(&b, more->p, more->n);
    agenti_buf_str(&b, end);
    if (to->p) agenti_wipe(to->p, to->n);
    agenti_buf_free(to);
    *to = b;
    return 1;
}
/* The lines as agent_open_header and as HTTP have them. 0: no memory                                                    */
static int agenti_sign_lines(agenti_conn *c, agent_str lines)
{
    agenti_buf pairs, http;
    agent_str name, value;
    int ok;
    agenti_buf_init(&pairs, &c->e->pool);
    agenti_buf_init(&http, &c->e->pool);
    ok = agenti_buf_room(&pairs, lines.n + 2) && agenti_buf_room(&http, lines.n * 2 + 4);
    while (ok && agenti_header_line(&lines, &name, &value) > 0) {
        agenti_buf_add(&pairs, name.p, name.n);
        agenti_buf_add(&pairs, "", 1);
        agenti_buf_add(&pairs, value.p, value.n);
        agenti_buf_add(&pairs, "", 1);
        agenti_buf_add(&http, name.p, name.n);
        agenti_buf_str(&http, ": ");
        agenti_buf_add(&http, value.p, value.n);
        agenti_buf_str(&http, "\r\n");
    }
    ok = ok && !pairs.bad && !http.bad && agenti_secret_join(&c->out.head, 2, &http, "\r\n") && agenti_secret_join(&c->lines, 0, &pairs, "");
    if (pairs.p) agenti_wipe(pairs.p, pairs.n);
    if (http.p) agenti_wipe(http.p, http.n);
    agenti_buf_free(&pairs);
    agenti_buf_free(&http);
    return ok;
}
AGENTDEF int agent_sign(agent_engine *e, agent_id id, const char *lines, size_t n)
{
    agenti_conn *c = agenti_conn_get(e, id);
    if (c == NULL) return agenti_say(e, AGENT_E_STALE, "no such connection");
    if (c->sign != AGENTI_SIGN_ASKED || !c->need_open) return AGENT_LATE;
    n = agenti_len(lines, n);
    if (n > e->lim.head || !agenti_headers_good(agenti_str(lines, n))) return agenti_say(e, AGENT_E_ARG, "no lines of Name: value");
    if (!agenti_sign_lines(c, agenti_str(lines, n))) return agenti_say(e, AGENT_E_NOMEM, "out of memory");
    c->sign = AGENTI_SIGN_NONE;
    c->need_open = 0;
    c->need_over = 1;
    c->send = c->reused;
    agenti_out_head(&c->out);
    agenti_out_start(&c->out, c->via == AGENT_VIA_BYTES);
    agenti_wake(&e->conns, &c->ready);
    return AGENT_OK;
}

/* ---- events ---- */
AGENTI_FN agent_event *agenti_conn_sign(agenti_conn *c, agent_event *ev)
{
    ev->conn = c->id;
    ev->session = c->x.session;
    ev->peer = c->peer ? c->peer->id : 0;
    ev->user = c->x.session ? c->x.user : c->peer ? c->peer->user : c->x.user;
    ev->run = c->run;
    ev->step = c->step;
    if (c->x.seq) ev->seq = ++*c->x.seq;
    return ev;
}
AGENTI_FN void agenti_conn_open_fill(const agenti_conn *c, agent_event *ev)
{
    ev->flags = AGENT_EVF_NEED;
    ev->need = c->need;
    ev->u.open.host = agenti_text_view(&c->peer->host);
    ev->u.open.method = agenti_cstr(c->method);
    ev->u.open.url = agenti_text_view(&c->url);
    ev->u.open.port = c->peer->url.port;
    ev->u.open.kind = AGENT_CONN_HTTP;
    ev->u.open.tls = c->peer->url.tls;
    ev->u.open.body_len = c->out.body_len;
}
static int agenti_conn_open_event(agenti_conn *c)
{
    c->need = ++c->x.nums->need;
    c->need_open = 1;
    agenti_conn_open_fill(c, agenti_conn_sign(c, agenti_event(c->e, c->sign ? AGENT_EV_SIGN : AGENT_EV_OPEN)));
    if (c->sign) {
        c->sign = AGENTI_SIGN_ASKED;
        agenti_out_start(&c->out, 0);
    } else c->state = AGENTI_CONN_OPENING;
    return 1;
}
static int agenti_conn_close_event(agenti_conn *c)
{
    agent_event *ev = agenti_conn_sign(c, agenti_event(c->e, AGENT_EV_CLOSE));
    ev->u.io.user = c->user;
    ev->u.io.why = c->why;
    agenti_conn_free(c);
    return 1;
}
static int agenti_conn_small_event(agenti_conn *c, int type)
{
    agent_event *ev = agenti_conn_sign(c, agenti_event(c->e, type));
    ev->need = type == AGENT_EV_NEED_DONE ? c->need : 0;
    if (type == AGENT_EV_SEND) ev->u.io.user = c->user;
    return 1;
}

/* ---- the answer ---- */
static void agenti_conn_nomem(agenti_conn *c)
{
    agenti_answer_drop(c->x.answer);
    agenti_answer_fault(c->x.answer, AGENT_FAULT_NOMEM, 0, "out of memory");
}
static void agenti_conn_syntax(agenti_conn *c)
{
    agenti_answer *a = c->x.answer;
    agenti_answer_fault(a, AGENT_FAULT_PROTOCOL, 0, c->http.error ? c->http.error : "no HTTP/1.1 answer");
    a->d.fault.offset = c->http.offset;
}
static int agenti_conn_head_grow(agenti_conn *c)
{
    size_t most = c->e->lim.head, more = c->http.cap < 512 ? 512 : c->http.cap;
    c->head.n = c->http.len;
    if (c->http.cap >= most) {
        agenti_answer_fault(c->x.answer, AGENT_FAULT_LIMIT, 0, "the head of the answer is longer than limits.head");
        return 1;
    }
    if (!agenti_buf_room(&c->head, c->http.cap - c->http.len + more)) return 0;
    c->http.buf = c->head.p;
    c->http.cap = c->head.cap - 1 < most ? c->head.cap - 1 : most;
    return 1;
}
/* Unread bytes that this agent_next may still look at.                                                                 */
static size_t agenti_conn_share(const agenti_conn *c)
{
    size_t n = c->w - c->r, scanned = c->e->scanned, most = c->e->lim.scan_per_next;
    return scanned >= most ? 0 : n < most - scanned ? n : most - scanned;
}
/* One step of HTTP/1.1: a head, a run of body bytes, an end. 0: no memory.                                              */
static int agenti_conn_http(agenti_conn *c)
{
    agent_http_event ev;
    size_t used;
    int rc;
    if (!c->skip_message && (used = agenti_http_run(&c->http, c->in + c->r, agenti_conn_share(c), &c->span_n)) != 0) {
        c->more = 1;
        c->e->scanned += used;
        c->r += used;
        c->span = c->r - c->span_n;
        return 1;
    }
    rc = agent_http_next(&c->http, c->in + c->r, agenti_conn_share(c), &used, &ev);
    if (used) c->got_byte = 1;
    c->more = rc == AGENT_OK;
    c->e->scanned += used;
    c->r += used;
    if (rc == AGENT_E_SYNTAX) { agenti_conn_syntax(c); return 1; }
    if (rc == AGENT_E_FULL) return agenti_conn_head_grow(c);
    if (rc != AGENT_OK) return 1;
    if (c->skip_message) {                    /* what the last answer left unread                                       */
        if (ev.kind != AGENT_HTTP_END) return 1;
        c->skip_message = c->got_byte = 0;
        agent_http_expect(&c->http, 0);
        return 1;
    }
    if (ev.kind == AGENT_HTTP_HEAD) { c->got_head = 1; return agenti_answer_head(c->x.answer, ev.status, ev.headers); }
    if (ev.kind == AGENT_HTTP_BODY) {
        c->span = (size_t)(ev.body.p - c->in);
        c->span_n = ev.body.n;
    } else if (ev.kind == AGENT_HTTP_END) {
        c->message_over = 1;
        agenti_answer_end(c->x.answer);
    }
    return 1;
}
/* The same, with body bytes that wait: those that come are joined to them, over the framing between.                    */
static int agenti_conn_http_join(agenti_conn *c)
{
    size_t at = c->span, n = c->span_n;
    int ok;
    c->span_n = 0;
    ok = agenti_conn_http(c);
    if (n == 0) return ok;
    if (c->span_n) {
        memmove(c->in + c->span - n, c->in + at, n);
        AGENTI_TOUCH(n);
        at = c->span - n;
    }
    c->span = at;
    c->span_n += n;
    return ok;
}
/* Reads more of the answer: 1 something was done, 0 no memory, -1 nothing is there.                                     */
static int agenti_conn_bytes(agenti_conn *c)
{
    agenti_answer *a = c->x.answer;
    size_t used;
    int ok;
    if (c->via == AGENT_VIA_HTTP) {
        if (c->got_head && !a->started) return agenti_answer_head(a, c->http.status, agenti_str(c->head.p, c->head.n));
        if (c->r == c->w || (c->w - c->r == a->waits && !c->eof && !c->failed)) return -1;
        c->got_byte = 1;
        ok = agenti_answer_feed(a, c->in + c->r, agenti_conn_share(c), &used);
        c->e->scanned += used;
        c->r += used;
        return ok;
    }
    if (c->span_n == a->waits) {               /* none, or it waits for what follows                                     */
        if (c->r < c->w || c->more) {
            ok = agenti_conn_http_join(c);
            if (!ok || c->span_n == 0 || (c->span_n == a->waits && !a->ending)) return ok;
        } else if (c->span_n == 0 || (!c->eof && !c->failed)) return -1;
    }
    ok = agenti_answer_feed(a, c->in + c->span, c->span_n, &used);
    c->span += used;
    c->span_n -= used;
    return ok;
}
/* The stream ended while the answer was not over.                                                                      */
static void agenti_conn_ended(agenti_conn *c)
{
    agenti_answer *a = c->x.answer;
    agent_http_event ev;
    int rc;
    if (c->failed && c->sign) {
        agenti_answer_fault(a, AGENT_FAULT_AUTH, 0, c->detail.n ? c->detail.p : "the host did not sign the request");
        return;
    }
    if (c->reused && !c->got_byte && !c->got_head) {          /* it was stale: its owner sends again, on a new one      */
        c->stale = 1;
        agenti_answer_drop(a);
        return;
    }
    if (c->failed) {
        agenti_answer_fault(a, AGENT_FAULT_TRANSPORT, 1, c->detail.n ? c->detail.p : "the connection failed");
        return;
    }
    rc = c->via == AGENT_VIA_HTTP ? AGENT_OK : agent_http_eof(&c->http, &ev);
    if (rc == AGENT_OK) {
        c->message_over = 1;
        agenti_answer_end(a);
        return;
    }
    agenti_answer_fault(a, AGENT_FAULT_TRANSPORT, 1, rc == AGENT_MORE ? "the connection was closed before an answer" : c->http.error);
    a->d.fault.offset = c->http.offset;
}
static void agenti_conn_over(agenti_conn *c)
{
    agenti_answer_verdict(c->x.answer);
    c->over = 1;
    agenti_wake(&c->e->sessions, c->x.ready);
}
/* One turn of an open exchange: 1 an event was made, 0 nothing more can be done now, 2 go on.                           */
static int agenti_conn_exchange(agenti_conn *c)
{
    agenti_answer *a = c->x.answer;
    int rc;
    do {
        rc = a->d.op_n ? agenti_answer_event(a) : 0;
        if (rc == 1) { agenti_conn_sign(c, &c->e->ev); return 1; }
        if (rc == -1) { agenti_conn_nomem(c); return 2; }
        if (rc == -2) {
            agenti_answer_drop(a);
            agenti_answer_fault(a, AGENT_FAULT_LIMIT, 0, "more tool calls in one answer than limits.calls_per_step");
            return 2;
        }
        if (agenti_answer_over(a)) { agenti_conn_over(c); return 0; }
        if (c->e->scanned >= c->e->lim.scan_per_next) { agenti_wake(&c->e->conns, &c->ready); return 0; }
        rc = agenti_answer_work(a);
        if (rc < 0 && c->state == AGENTI_CONN_OPEN) rc = agenti_conn_bytes(c);
        if (rc == 0) agenti_conn_nomem(c);
    } while (rc >= 0);
    agenti_conn_pack(c);
    if (!c->eof && !c->failed) return 0;
    if (c->decode && c->decode->answers && (c->skip_message || !c->got_byte)) {                /* no further answer came             */
        agenti_conn_drain(c);
        return 2;
    }
    agenti_conn_ended(c);
    return 2;
}
/* Reads what is left of a message and drops it. 0: nothing more can be done now, 2 go on.                               */
static int agenti_conn_draining(agenti_conn *c)
{
    agent_http_event ev;
    size_t used = 0;
    int rc = AGENT_MORE;
    if (c->e->scanned >= c->e->lim.scan_per_next) { agenti_wake(&c->e->conns, &c->ready); return 0; }
    if (c->via == AGENT_VIA_HTTP || c->peer == NULL) c->r = c->w;       /* nothing that follows is of use               */
    else if (!c->message_over && (c->r < c->w || c->more)) {
        rc = agent_http_next(&c->http, c->in + c->r, agenti_conn_share(c), &used, &ev);
        c->r += used;
        c->e->scanned += used;
        c->more = rc == AGENT_OK;
        if (rc == AGENT_OK && ev.kind == AGENT_HTTP_END) c->message_over = 1;
    }
    if (c->r == c->w) agenti_conn_pack(c);
    if (c->message_over && c->peer && c->via == AGENT_VIA_BYTES && c->http.keep_alive) agenti_conn_idle(c);       /* closes if more is there */
    else if ((rc != AGENT_OK && rc != AGENT_MORE) || ((c->eof || c->failed) && c->r == c->w)
        || (c->message_over && c->peer && c->via == AGENT_VIA_BYTES)) agenti_conn_state_set(c, AGENTI_CONN_CLOSING);
    else return rc == AGENT_OK || c->r < c->w ? 2 : 0;
    return 2;
}
AGENTI_FN int agenti_conn_pump(agenti_conn *c)
{
    int rc = 2;
    while (rc == 2) {
        if (c->need_over) {
            c->need_over = 0;                 /* of a closed session nothing comes but CLOSE                             */
            if (agenti_id_get(c->e, c->x.session, AGENTI_SESSION)) return agenti_conn_small_event(c, AGENT_EV_NEED_DONE);
        }
        if (c->sign == AGENTI_SIGN_ASK || (c->state == AGENTI_CONN_NEW && !c->sign)) return agenti_conn_open_event(c);
        if (c->send) { c->send = 0; return agenti_conn_small_event(c, AGENT_EV_SEND); }
        switch (c->state) {
        case AGENTI_CONN_NEW: case AGENTI_CONN_OPENING: case AGENTI_CONN_OPEN: rc = c->x.answer && !c->over ? agenti_conn_exchange(c) : 0; break;
        case AGENTI_CONN_DRAIN: rc = agenti_conn_draining(c); break;
        case AGENTI_CONN_IDLE:
            rc = 0;
            if (c->eof || c->failed || c->r < c->w) agenti_conn_state_set(c, AGENTI_CONN_CLOSING);
            if (c->state == AGENTI_CONN_CLOSING) rc = 2;
            break;
        default:
            if (!c->unopened) return agenti_conn_close_event(c);
            agenti_conn_free(c);
            return -1;
        }
    }
    return rc;
}
#endif

/* ==== decode.c: the decode-only door ============================================================================== */
/* The decode-only door: answers of one wire format without session, tools or policy. */
AGENTI_FN int agenti_decode_pump(agenti_decode *);        /* its answer is over: 1 an event was made                    */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_DECODE
static void agenti_decode_begin(agenti_decode *d, const agenti_wire *wire, agenti_exchange *x, void *user)
{
    agent_engine *e = d->c->e;
    agenti_answer_start(&d->answer, e, &e->pool, wire, 0);
    d->answer.nums = &d->nums;
    memset(x, 0, sizeof *x);
    x->user = user;
    x->seq = &d->seq;
    x->nums = &d->nums;
    x->ready = &d->ready;
    x->answer = &d->answer;
}
AGENTDEF agent_id agent_decode(agent_engine *e, const char *wire, int via, void *user)
{
    const agenti_wire *w = agenti_wire_find(agenti_cstr(wire));
    agenti_exchange x;
    agenti_conn *c;
    if (w == NULL) { e->last = "unknown wire format"; return 0; }
    if (via != AGENT_VIA_BYTES && via != AGENT_VIA_HTTP) { e->last = "via is neither bytes nor HTTP"; return 0; }
    if ((c = agenti_conn_new(e, NULL)) == NULL) return 0;
    c->decode = (agenti_decode *)agenti_get(&e->pool, sizeof *c->decode);
    if (c->decode == NULL) { agenti_conn_free(c); e->last = "out of memory"; return 0; }
    c->decode->c = c;
    c->decode->ready.owner = c->decode;
    c->decode->ready.kind = AGENTI_CONN;
    c->user = user;
    c->via = via;
    c->state = AGENTI_CONN_OPEN;
    c->message_over = 1;
    agenti_decode_begin(c->decode, w, &x, user);
    agenti_conn_again(c, &x);
    return c->id;
}
/* Ends what is open, says how it went, then waits for the next answer of the stream.                                   */
AGENTI_FN int agenti_decode_pump(agenti_decode *d)
{
    agenti_conn *c = d->c;
    agenti_answer *a = &d->answer;
    const agenti_wire *wire = a->d.wire;
    agenti_exchange x;
    if (!c->over) return 0;
    if (agenti_answer_close(a, agenti_answer_cut(a))) {}
    else if (!d->said) {
        d->said = 1;
        if (a->d.fault.fault) agenti_answer_error(a, AGENT_SCOPE_CONN); else agenti_answer_step_end(a);
    } else {
        d->said = 0;
        d->answers++;
        if (c->via == AGENT_VIA_HTTP || c->http.error || !c->got_head || (a->d.fault.fault == AGENT_FAULT_TRANSPORT && !c->message_over)
            || ((c->eof || c->failed) && c->r == c->w)) {
            agenti_conn_drain(c);             /* there is no next answer, or where it begins is not known               */
            return 0;
        }
        agenti_answer_free(a);
        agenti_decode_begin(d, wire, &x, c->user);
        agenti_conn_again(c, &x);
        return 0;
    }
    agenti_conn_sign(c, &c->e->ev);
    return 1;
}
#endif

/* ==== models.c: what models a provider has ======================================================================== */
/* What models a provider has: one GET of its list, one MODELS event. The lists differ in shape; what is common is told in one. */
enum agenti_listing_state { AGENTI_LISTING_SEND, AGENTI_LISTING_ANSWER, AGENTI_LISTING_END };
typedef struct agenti_listing {
    agenti_waiter waits;                      /* first: at its peer                                                     */
    agenti_peer *peer;
    agenti_conn *conn;
    agenti_answer answer;
    agenti_nums nums;
    int state;
    uint8_t fresh;                            /* not an idle connection                                                 */
} agenti_listing;

AGENTI_FN int  agenti_listing_pump(agenti_listing *);         /* 1: an event was made                                   */
AGENTI_FN void agenti_listings_drop(agenti_peer *);           /* its peer goes, without events                          */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_MODELS
/* ---- the answer, in any shape ---- */
enum { AGENTI_ML_ID, AGENTI_ML_MODEL, AGENTI_ML_NAME, AGENTI_ML_DISPLAY, AGENTI_ML_SHOWN, AGENTI_ML_CONTEXT, AGENTI_ML_WINDOW, AGENTI_ML_MOST, AGENTI_ML_LEN,
       AGENTI_ML_INPUT, AGENTI_ML_OUTPUT, AGENTI_ML_COMPLETION, AGENTI_ML_OUT_LIMIT, AGENTI_ML_TOP, AGENTI_ML_TOP_OUT, AGENTI_ML_LIMITS, AGENTI_ML_LIMITS_IN,
       AGENTI_ML_LIMITS_OUT, AGENTI_ML_CAN, AGENTI_ML_CAN_LIMITS, AGENTI_ML_CAN_IN, AGENTI_ML_CAN_OUT, AGENTI_ML_FIELDS };
static const agenti_field agenti_models_fields[AGENTI_ML_FIELDS] = {
    { "id", -1 }, { "model", -1 }, { "name", -1 }, { "display_name", -1 }, { "displayName", -1 },
    { "context_length", -1 }, { "context_window", -1 }, { "max_context_length", -1 }, { "max_model_len", -1 }, { "inputTokenLimit", -1 },
    { "max_output_tokens", -1 }, { "max_completion_tokens", -1 }, { "outputTokenLimit", -1 },
    { "top_provider", -1 }, { "max_completion_tokens", AGENTI_ML_TOP },                               /* OpenRouter     */
    { "limits", -1 }, { "max_input_tokens", AGENTI_ML_LIMITS }, { "max_output_tokens", AGENTI_ML_LIMITS },               /* GitHub Models */
    { "capabilities", -1 }, { "limits", AGENTI_ML_CAN }, { "max_context_window_tokens", AGENTI_ML_CAN_LIMITS },           /* Copilot       */
    { "max_output_tokens", AGENTI_ML_CAN_LIMITS }
};
static agent_str agenti_models_first(const agent_str *f, const uint8_t *which, size_t n)      /* a string that is not empty      */
{
    size_t i;
    for (i = 0; i < n; i++) if (agenti_nonempty(f[which[i]])) return f[which[i]];
    return agenti_str(NULL, 0);
}
static void agenti_models_count(agenti_buf *b, const char *key, const agent_str *f, const uint8_t *which, size_t n)
{
    int64_t v;
    size_t i;
    for (i = 0; i < n; i++) if (f[which[i]].n && agenti_count(f[which[i]], &v) && v > 0) { agenti_json_member_int(b, key, v); return; }
}
/* JSON strings go over as they are written.                                                                            */
static AGENTI_NOINLINE void agenti_models_one(agenti_buf *b, agent_str model)
{
    static const uint8_t ids[] = { AGENTI_ML_ID, AGENTI_ML_MODEL, AGENTI_ML_NAME }, names[] = { AGENTI_ML_DISPLAY, AGENTI_ML_SHOWN, AGENTI_ML_NAME };
    static const uint8_t context[] = { AGENTI_ML_CONTEXT, AGENTI_ML_WINDOW, AGENTI_ML_MOST, AGENTI_ML_LEN, AGENTI_ML_INPUT, AGENTI_ML_LIMITS_IN,
                                       AGENTI_ML_CAN_IN };
    static const uint8_t output[] = { AGENTI_ML_OUTPUT, AGENTI_ML_COMPLETION, AGENTI_ML_OUT_LIMIT, AGENTI_ML_TOP_OUT, AGENTI_ML_LIMITS_OUT, AGENTI_ML_CAN_OUT };
    static const char kind[] = "\"models/";
    enum { KIND = sizeof kind - 1 };
    agent_str f[AGENTI_ML_FIELDS], id, name;
    agenti_json_pick(model, agenti_models_fields, AGENTI_ML_FIELDS, f);
    id = agenti_models_first(f, ids, sizeof ids);
    name = agenti_models_first(f, names, sizeof names);
    if (id.n == 0) return;
    agenti_buf_str(b, b->n > 1 ? ",{\"id\":" : "{\"id\":");
    if (id.n > KIND && memcmp(id.p, kind, KIND) == 0) {                              /* Gemini: a resource's name         */
        agenti_buf_str(b, "\"");
        agenti_buf_add(b, id.p + KIND, id.n - KIND);
    } else agenti_buf_add(b, id.p, id.n);
    if (name.n && name.p != id.p) agenti_json_member(b, "name", name);
    agenti_models_count(b, "context", f, context, sizeof context);
    agenti_models_count(b, "output", f, output, sizeof output);
    agenti_buf_str(b, "}");
}
static agent_str agenti_models_list(agent_str body)
{
    agent_str list = body;
    if (agenti_is_object(body)) list = agent_json_get(body, "data");
    if (!agenti_is_array(list)) list = agent_json_get(body, "models");
    return list;
}
static int agenti_models_goes_on(agent_str body)
{
    return agenti_is_object(body) && (agenti_eq(agent_json_get(body, "has_more"), "true") || agenti_nonempty(agent_json_get(body, "nextPageToken"))
        || agenti_nonempty(agent_json_get(body, "next_page_token")));
}
static int agenti_models_whole(agenti_decoder *d, agent_str body)
{
    agent_str list, item;
    agenti_buf b;
    agenti_op *op;
    size_t pos = 0;
    if (!agenti_raw_of(d, agenti_trim(body), &body)) return 0;
    list = agenti_models_list(body);
    if (!agenti_is_array(list)) {
        agenti_fault_object(d, body, 0);      /* an error at status 200, or not what was asked for                      */
        return 1;
    }
    agenti_buf_init(&b, d->pool);
    agenti_buf_str(&b, "[");
    while (agent_json_each(list, &pos, NULL, &item)) if (agenti_is_object(item)) agenti_models_one(&b, item);
    agenti_buf_str(&b, "]");
    if (agenti_models_goes_on(body)) {
        if ((op = agenti_op_add(d, AGENTI_OP_WARNING, 0)) == NULL) { agenti_buf_free(&b); return 0; }
        op->a = agenti_cstr("the list of models goes on: only its beginning is told");
    }
    if ((op = agenti_op_add(d, AGENTI_OP_MODELS, 0)) == NULL) { agenti_buf_free(&b); return 0; }
    d->done = 1;
    d->finish = AGENT_FINISH_STOP;
    return agenti_made(d, &b, &op->a);
}
static int agenti_models_event(agenti_decoder *d, agent_str event, agent_str data)
{
    (void)event;
    if (agent_json_check(data.p, data.n, d->depth_limit, NULL) == AGENT_OK) return agenti_models_whole(d, data);
    return agenti_payload_bad(d);
}
static const char *const agenti_models_none[] = { NULL };
static const agenti_wire agenti_models_wire = {
    "models", "", NULL, AGENTI_FRAMING_SSE, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, agenti_models_event, agenti_models_whole, NULL,
    { agenti_models_none, agenti_models_none, agenti_models_none, 0, agenti_models_none },
    { agenti_models_none, agenti_models_none, agenti_models_none, 0, agenti_models_none }, NULL, NULL
};

/* ---- the request ---- */
AGENTDEF int agent_models(agent_engine *e, agent_id peer)
{
    agenti_peer *p = agenti_peer_get(e, peer);
    agenti_listing *l;
    if (p == NULL) return agenti_say(e, AGENT_E_STALE, "no such peer");
    if (p->row->models == NULL) return agenti_say(e, AGENT_E_STATE, "this provider has no list of models");
    if ((l = (agenti_listing *)agenti_get(&e->pool, sizeof *l)) == NULL) return agenti_say(e, AGENT_E_NOMEM, "out of memory");
    l->peer = p;
    l->waits.ready.owner = l;
    l->waits.ready.kind = AGENTI_LISTING;
    l->waits.next = p->listings;
    p->listings = &l->waits;
    agenti_answer_start(&l->answer, e, &e->pool, &agenti_models_wire, 0);
    l->answer.nums = &l->nums;
    agenti_wake(&e->sessions, &l->waits.ready);
    return AGENT_OK;
}
static void agenti_listing_free(agenti_listing *l)
{
    agent_engine *e = l->peer->e;
    agenti_waiter **at = &l->peer->listings;
    while (*at != &l->waits) at = &(*at)->next;
    *at = l->waits.next;
    agenti_sleep(&l->waits.ready);
    agenti_answer_free(&l->answer);
    agenti_put(&e->pool, l, sizeof *l);
}
AGENTI_FN void agenti_listings_drop(agenti_peer *p)
{
    while (p->listings) {
        agenti_listing *l = (agenti_listing *)p->listings->ready.owner;
        if (l->conn) agenti_conn_abort(l->conn);
        agenti_listing_free(l);
    }
}
static int agenti_listing_write(agenti_listing *l)
{
    agenti_conn *c = l->conn;
    const char *path = l->peer->row->models;
    return agenti_out_piece(&c->out, NULL, 0) && agenti_peer_headers(l->peer, &c->lines, 0) && agenti_conn_head_write(c, "GET", path)
        && agenti_out_ready(&c->out, l->peer->signs);
}
static int agenti_listing_send(agenti_listing *l)
{
    agent_engine *e = l->peer->e;
    agenti_exchange x;
    if (!agenti_peer_key_there(l->peer)) return 0;
    l->state = AGENTI_LISTING_END;
    l->conn = l->fresh ? NULL : agenti_conn_reuse(l->peer);
    if (l->conn == NULL) l->conn = agenti_conn_new(e, l->peer);
    if (l->conn == NULL || !agenti_listing_write(l)) {
        int full = l->conn == NULL && e->slots[AGENTI_CONN].live >= e->lim.conns;
        if (l->conn) agenti_conn_abort(l->conn);
        l->conn = NULL;
        agenti_answer_fault(&l->answer, full ? AGENT_FAULT_LIMIT : AGENT_FAULT_NOMEM, 0, full ? e->last : "out of memory for the request");
        return 2;
    }
    memset(&x, 0, sizeof x);
    x.user = l->peer->user;
    x.nums = &l->nums;
    x.ready = &l->waits.ready;
    x.answer = &l->answer;
    l->state = AGENTI_LISTING_ANSWER;
    agenti_conn_begin(l->conn, &x, 0, 0);
    return 0;
}
static int agenti_listing_wait(agenti_listing *l)
{
    agenti_conn *c = l->conn;
    if (!c->over) return 0;
    l->conn = NULL;
    if (c->stale) {                           /* an idle connection that the peer had closed: once more, on a new one   */
        agenti_conn_abort(c);
        agenti_answer_free(&l->answer);
        agenti_answer_start(&l->answer, l->peer->e, &l->peer->e->pool, &agenti_models_wire, 0);
        l->answer.nums = &l->nums;
        l->fresh = 1;
        l->state = AGENTI_LISTING_SEND;
        return 2;
    }
    agenti_peer_hide(l->peer, &c->lines, &l->answer.d.fault.text);
    agenti_peer_hide(l->peer, &c->lines, &l->answer.d.fault.code);
    agenti_peer_hide(l->peer, &c->lines, &l->answer.d.request_id);
    if (l->answer.d.fault.fault && l->answer.d.fault.http_status < 300) agenti_conn_abort(c); else agenti_conn_drain(c);
    l->state = AGENTI_LISTING_END;
    return 2;
}
static int agenti_listing_end(agenti_listing *l)
{
    agent_event *ev;
    agenti_peer *p = l->peer;
    if (l->answer.d.fault.fault == AGENT_FAULT_NONE) { agenti_listing_free(l); return -1; }
    ev = agenti_answer_error(&l->answer, AGENT_SCOPE_PEER);
    ev->peer = p->id;
    ev->user = p->user;
    agenti_listing_free(l);                   /* what the event points to lives until the next agent_next               */
    return 1;
}
AGENTI_FN int agenti_listing_pump(agenti_listing *l)
{
    int rc = 2;
    while (rc == 2) {
        if (l->state == AGENTI_LISTING_SEND) rc = agenti_listing_send(l);
        else rc = l->state == AGENTI_LISTING_ANSWER ? agenti_listing_wait(l) : agenti_listing_end(l);
    }
    return rc;
}
#endif

/* ==== session.c: conversations, as the host sees them ============================================================= */
/* Conversations: what the host may ask of them, their options, tools, queue and message table. The loop is the next part. */
enum agenti_session_state {
    AGENTI_S_IDLE,
    AGENTI_S_TAKE, AGENTI_S_USER_ADD, AGENTI_S_USER_END,              /* the run's own message                          */
    AGENTI_S_STEP, AGENTI_S_SEND, AGENTI_S_ANSWER,                    /* one model call                                 */
    AGENTI_S_JUDGE, AGENTI_S_PARTS, AGENTI_S_MODEL_END,
    AGENTI_S_TOOLS, AGENTI_S_RESULTS_ADD, AGENTI_S_RESULTS_END,       /* its calls                                      */
    AGENTI_S_STEP_END, AGENTI_S_FAULT, AGENTI_S_NEXT,
    AGENTI_S_RETURN, AGENTI_S_RUN_END
};
typedef struct agenti_item {                  /* a submitted message that waits                                         */
    struct agenti_item *next;
    agenti_msg *msg;                          /* NULL: go on with what is there                                         */
    uint32_t num;
    uint8_t told, back;                       /* QUEUED said that it waits; a cancel sends it back                      */
} agenti_item;
typedef struct agenti_toolset { agenti_tool *p; size_t n; } agenti_toolset;
typedef struct agenti_session {
    agenti_ready ready;
    agent_engine *e;
    agenti_pool pool;
    agenti_peer *peer;
    agent_id id;
    void *user;
    uint32_t flags, max_steps, parallel;
    uint32_t model;                           /* counts changes of the model: reasoning goes back to its own only       */
    uint32_t dialect, key_count;              /* of the request that is under way                                       */
    uint8_t stateful, went_on;                /* its answer will be kept by the provider; it goes on from one that is   */
    uint8_t key_asked, key_spent;             /* in this step, after a 401: another key was asked for; it was tried     */
    agenti_text options[AGENTI_OPT_COUNT];
    agenti_toolset tools, next_tools;         /* next: from the next step on                                            */
    agenti_text tools_json;                   /* tools as the wire format wants them: a droppable cache                 */
    agenti_table table;
    agenti_nums nums;
    uint64_t seq;
    agenti_log log;
    agenti_item *first, *last, *item;         /* the queue; the run's item while it is delivered                        */
    agenti_item *untold;                      /* the first one that waits and was not shown yet                         */
    uint32_t items;
    int state, outcome, finish;
    uint32_t steps, order;                    /* of this run; of calls done                                             */
    agent_usage usage;                        /* of this run                                                            */
    agenti_answer answer;
    agenti_conn *conn;                        /* while the answer is awaited                                            */
    agent_id drain;                           /* of the last answer                                                     */
    uint8_t running;                          /* between RUN_START and RUN_END                                          */
    uint8_t cancel, cancelling, closed;       /* cancel: asked for                                                      */
    uint32_t left_out, told_out;              /* WARNINGs to come; options that one was given for                        */
    /* of an import */
    const agenti_wire *imported;              /* its wire format; NULL: there was none                                  */
    agenti_kept *kept; uint32_t kept_n;       /* members of the body that go back to that format                        */
    agenti_text system_raw, lost;             /* its system messages as they came; a member that goes back nowhere      */
    agenti_toolset foreign;                   /* tools as it has them, where the peer speaks another format             */
    uint32_t export_left;                     /* WARNINGs to come: AGENTI_BITs of what an export left out               */
    uint8_t news;                             /* kept or lost members are to be told                                    */
    uint8_t new_tools, old_log, choice_spent, fresh, closing, failed;   /* fresh: not an idle connection; closing: the last step */
} agenti_session;

AGENTI_FN agenti_session *agenti_session_get(const agent_engine *, agent_id);
AGENTI_FN void agenti_session_free(agenti_session *);                 /* its handle is gone already                     */
AGENTI_FN const char *agenti_option_key(int option);
AGENTI_FN void agenti_tools_swap(agenti_session *);                   /* takes the next tools                           */
AGENTI_FN agenti_part *agenti_result_find(const agenti_session *, agent_num call);            /* of this step, or NULL  */
AGENTI_FN void agenti_result_done(agenti_session *, agenti_part *r, int status);
AGENTI_FN void agenti_run_fill(const agenti_session *, const agenti_part *r, agent_event *);   /* what TOOL_RUN says    */
AGENTI_FN const agenti_part *agenti_call_of(const agenti_session *, const agenti_part *r);
AGENTI_FN void agenti_item_free(agenti_session *, agenti_item *);
AGENTI_FN int  agenti_stale_session(agent_engine *);
AGENTI_FN int  agenti_no_memory(agent_engine *);
AGENTI_FN void agenti_toolset_free(agenti_session *, agenti_toolset *);
AGENTI_FN void agenti_kept_free(agenti_session *);                     /* all that an import left, but messages and options */
/* What of it goes into a request of that format, beside the peer's own members: an object in b, or nothing. b->bad: no memory */
AGENTI_FN void agenti_kept_out(const agenti_session *, const agenti_wire *, agenti_buf *);
enum { AGENTI_MODEL_IMPORT = 0x7FFFFFFF };   /* agenti_msg.model: made by the model of an import of a format that the peer does not speak */
AGENTI_FN void agenti_waits_end(agenti_session *);      /* the user speaks: no result will come for what the provider runs */

#if !defined AGENTI_SPLIT || defined AGENTI_PART_SESSION
AGENTI_FN agenti_session *agenti_session_get(const agent_engine *e, agent_id id) { return (agenti_session *)agenti_id_get(e, id, AGENTI_SESSION); }
AGENTI_FN int agenti_stale_session(agent_engine *e) { return agenti_say(e, AGENT_E_STALE, "no such session"); }
AGENTI_FN int agenti_no_memory(agent_engine *e) { return agenti_say(e, AGENT_E_NOMEM, "out of memory"); }

/* ---- tools ---- */
AGENTI_FN void agenti_toolset_free(agenti_session *s, agenti_toolset *t)
{
    size_t i;
    for (i = 0; i < t->n; i++) {
        agenti_text_free(&t->p[i].name, &s->e->graves);
        agenti_text_free(&t->p[i].description, &s->e->graves);
        agenti_text_free(&t->p[i].schema, &s->e->graves);
        agenti_text_free(&t->p[i].raw, &s->e->graves);
    }
    agenti_put(&s->pool, t->p, t->n * sizeof *t->p);
    t->p = NULL;
    t->n = 0;
}
static const char *agenti_tool_check(const agent_engine *e, const agent_tool *t)
{
    agent_str name = agenti_cstr(t->name), schema = agenti_cstr(t->schema);
    size_t i;
    if (name.n < 1 || name.n > 64) return "a tool's name has 1 to 64 characters";
    for (i = 0; i < name.n; i++) {
        char c = agenti_lower(name.p[i]);
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-')) return "a tool's name has only A-Z a-z 0-9 _ -";
    }
    if (schema.n == 0 && (t->flags & AGENT_TF_RAW)) return "a raw tool has its declaration in schema";
    if (schema.n && (agent_json_check(schema.p, schema.n, e->lim.depth, NULL) != AGENT_OK || agenti_trim(schema).p[0] != '{'))
        return "a tool's schema is no JSON object";
    return NULL;
}
static int agenti_tool_copy(agenti_session *s, agenti_tool *to, const agent_tool *t)
{
    agenti_blob **graves = &s->e->graves;
    to->flags = t->flags;
    to->user = t->user;
    return agenti_text_set(&to->name, &s->pool, graves, agenti_cstr(t->name))
        && (t->description == NULL || (agenti_text_set(&to->description, &s->pool, graves, agenti_cstr(t->description))
                                       && agenti_text_repair(&to->description, &s->pool, graves)))
        && agenti_text_set(&to->schema, &s->pool, graves, agenti_trim(agenti_cstr(t->schema && *t->schema ? t->schema : "{\"type\":\"object\"}")));
}
AGENTDEF int agent_session_tools(agent_engine *e, agent_id id, const agent_tool *tools, size_t n)
{
    agenti_session *s = agenti_session_get(e, id);
    agenti_toolset set;
    const char *why;
    size_t i, k;
    if (s == NULL) return agenti_stale_session(e);
    if (n > 65536 || (n && tools == NULL)) return agenti_say(e, AGENT_E_ARG, "no tools, or too many");
    for (i = 0; i < n; i++) {
        if ((why = agenti_tool_check(e, &tools[i])) != NULL) return agenti_say(e, AGENT_E_ARG, why);
        for (k = 0; k < i; k++) if (agenti_eq(agenti_cstr(tools[i].name), tools[k].name)) return agenti_say(e, AGENT_E_ARG, "two tools have one name");
    }
    set.n = n;
    set.p = n ? (agenti_tool *)agenti_get(&s->pool, n * sizeof *set.p) : NULL;
    if (n && set.p == NULL) return agenti_no_memory(e);
    for (i = 0; i < n; i++) if (!agenti_tool_copy(s, &set.p[i], &tools[i])) {
        agenti_toolset_free(s, &set);
        return agenti_no_memory(e);
    }
    agenti_toolset_free(s, &s->next_tools);
    agenti_toolset_free(s, &s->foreign);
    s->next_tools = set;
    s->new_tools = 1;
    return AGENT_OK;
}
AGENTI_FN void agenti_tools_swap(agenti_session *s)
{
    if (!s->new_tools) return;
    s->new_tools = 0;
    agenti_toolset_free(s, &s->tools);
    s->tools = s->next_tools;
    memset(&s->next_tools, 0, sizeof s->next_tools);
    agenti_text_free(&s->tools_json, &s->e->graves);
}

/* ---- what an import left ---- */
AGENTI_FN void agenti_kept_free(agenti_session *s)
{
    uint32_t i;
    for (i = 0; i < s->kept_n; i++) {
        agenti_text_free(&s->kept[i].key, &s->e->graves);
        agenti_text_free(&s->kept[i].value, &s->e->graves);
    }
    agenti_put(&s->pool, s->kept, s->kept_n * sizeof *s->kept);
    s->kept = NULL;
    s->kept_n = 0;
    agenti_text_free(&s->system_raw, &s->e->graves);
    agenti_text_free(&s->lost, &s->e->graves);
    agenti_toolset_free(s, &s->foreign);
}
/* An option is set anew: what said the same goes. More than that may be in an object.                                   */
static void agenti_kept_drop_option(agenti_session *s, int option)
{
    uint32_t i;
    if (option == AGENTI_OPT_SYSTEM) agenti_text_free(&s->system_raw, &s->e->graves);
    for (i = 0; i < s->kept_n; i++) {
        agenti_kept *k = &s->kept[i];
        if (k->gone || !(k->options & AGENTI_BIT(option))) continue;
        k->gone = 1;
        k->told = !agenti_is_object(agenti_text_view(&k->value));
        agenti_text_free(&k->value, &s->e->graves);
        if (k->told) continue;
        s->news = 1;
        agenti_wake(&s->e->sessions, &s->ready);
    }
}
AGENTI_FN void agenti_kept_out(const agenti_session *s, const agenti_wire *w, agenti_buf *b)
{
    agent_str own = w == s->peer->wire ? agenti_text_view(&s->peer->extra) : agenti_str(NULL, 0), key, value;
    size_t pos = 0;
    uint32_t i;
    for (i = 0; s->imported == w && i < s->kept_n; i++) {
        const agenti_kept *k = &s->kept[i];
        if (k->gone) continue;
        for (pos = 0; own.n && agent_json_each(own, &pos, &key, &value);) if (agenti_same(key, agenti_text_view(&k->key))) break;
        if (own.n && pos && agenti_same(key, agenti_text_view(&k->key))) continue;           /* the peer's wins           */
        agenti_buf_str(b, b->n ? ",\"" : "{\"");
        agenti_buf_add(b, k->key.p, k->key.n);
        agenti_buf_str(b, "\":");
        agenti_buf_add(b, k->value.p, k->value.n);
    }
    for (pos = 0; own.n && agent_json_each(own, &pos, &key, &value);) {
        agenti_buf_str(b, b->n ? ",\"" : "{\"");
        agenti_buf_add(b, key.p, key.n);
        agenti_buf_str(b, "\":");
        agenti_buf_add(b, value.p, value.n);
    }
    if (b->n) agenti_buf_str(b, "}");
}

/* ---- options ---- */
enum { AGENTI_FORM_TEXT, AGENTI_FORM_NUMBER, AGENTI_FORM_STOP, AGENTI_FORM_BOOL, AGENTI_FORM_BUDGET, AGENTI_FORM_TTL, AGENTI_FORM_SCHEMA };
static const struct { const char *key; int option, form; } agenti_option_rows[] = {
    { "model", AGENTI_OPT_MODEL, AGENTI_FORM_TEXT }, { "system", AGENTI_OPT_SYSTEM, AGENTI_FORM_TEXT },
    { "max_tokens", AGENTI_OPT_MAX_TOKENS, AGENTI_FORM_NUMBER }, { "temperature", AGENTI_OPT_TEMPERATURE, AGENTI_FORM_NUMBER },
    { "top_p", AGENTI_OPT_TOP_P, AGENTI_FORM_NUMBER }, { "seed", AGENTI_OPT_SEED, AGENTI_FORM_NUMBER },
    { "frequency_penalty", AGENTI_OPT_FREQUENCY, AGENTI_FORM_NUMBER }, { "presence_penalty", AGENTI_OPT_PRESENCE, AGENTI_FORM_NUMBER },
    { "stop", AGENTI_OPT_STOP, AGENTI_FORM_STOP }, { "tool_choice", AGENTI_OPT_TOOL_CHOICE, AGENTI_FORM_TEXT },
    { "parallel_tool_calls", AGENTI_OPT_PARALLEL, AGENTI_FORM_BOOL },
    { "reasoning_effort", AGENTI_OPT_EFFORT, AGENTI_FORM_TEXT }, { "thinking_budget", AGENTI_OPT_THINKING, AGENTI_FORM_BUDGET },
    { "prompt_cache", AGENTI_OPT_CACHE, AGENTI_FORM_TTL }, { "stateful", AGENTI_OPT_STATEFUL, AGENTI_FORM_BOOL },
    { "response_format", AGENTI_OPT_FORMAT, AGENTI_FORM_SCHEMA }, { "service_tier", AGENTI_OPT_TIER, AGENTI_FORM_TEXT },
    { "prompt_cache_key", AGENTI_OPT_CACHE_KEY, AGENTI_FORM_TEXT }, { "top_k", AGENTI_OPT_TOP_K, AGENTI_FORM_NUMBER },
    { "user", AGENTI_OPT_USER, AGENTI_FORM_TEXT }
};
AGENTI_FN const char *agenti_option_key(int option)
{
    size_t i = 0;
    while (agenti_option_rows[i].option != option) i++;
    return agenti_option_rows[i].key;
}
static int agenti_form_ok(int form, agent_str v)
{
    agent_str item;
    size_t pos = 0;
    if (form == AGENTI_FORM_TEXT || v.n == 0) return 1;
    if (form == AGENTI_FORM_TTL) return agenti_eq(v, "5m") || agenti_eq(v, "1h");
    if (form == AGENTI_FORM_BUDGET && agenti_eq(v, "adaptive")) return 1;
    if (form == AGENTI_FORM_SCHEMA) return agenti_eq(v, "json") || (agenti_is_object(v) && agent_json_check(v.p, v.n, 0, NULL) == AGENT_OK);
    if (agent_json_check(v.p, v.n, 2, NULL) != AGENT_OK) return 0;
    if (form == AGENTI_FORM_BOOL) return agenti_eq(v, "true") || agenti_eq(v, "false");
    if (form == AGENTI_FORM_NUMBER || form == AGENTI_FORM_BUDGET) return v.p[0] == '-' || (v.p[0] >= '0' && v.p[0] <= '9');
    if (v.p[0] != '[') return v.p[0] == '"';
    while (agent_json_each(v, &pos, NULL, &item)) if (item.p[0] != '"') return 0;
    return 1;
}
static int agenti_option_set(agenti_session *s, int option, int form, agent_str v)
{
    agent_engine *e = s->e;
    if (form != AGENTI_FORM_TEXT) v = agenti_trim(v);
    if (!agenti_form_ok(form, v)) return agenti_say(e, AGENT_E_ARG, "the option's value has the wrong form");
    if (option == AGENTI_OPT_MODEL && v.n == 0) return agenti_say(e, AGENT_E_ARG, "a session needs a model");
    if (option == AGENTI_OPT_MODEL && s->options[option].n == v.n && memcmp(s->options[option].p, v.p, v.n) == 0) return AGENT_OK;
    if (!agenti_text_set(&s->options[option], &s->pool, &e->graves, v)) return agenti_no_memory(e);
    if (!agenti_text_repair(&s->options[option], &s->pool, &e->graves)) agenti_text_scrub(&s->options[option]);
    if (option == AGENTI_OPT_SYSTEM || option == AGENTI_OPT_MODEL || option == AGENTI_OPT_CACHE) s->old_log = 1;
    if (option == AGENTI_OPT_MODEL) s->model++;
    agenti_kept_drop_option(s, option);
    s->told_out &= ~AGENTI_BIT(option);
    if (option == AGENTI_OPT_TOOL_CHOICE) s->choice_spent = 0;
    return AGENT_OK;
}
AGENTDEF int agent_session_set(agent_engine *e, agent_id id, const char *key, const char *value, size_t n)
{
    agenti_session *s = agenti_session_get(e, id);
    size_t i;
    if (s == NULL) return agenti_stale_session(e);
    for (i = 0; i < sizeof agenti_option_rows / sizeof *agenti_option_rows; i++)
        if (agenti_eq(agenti_cstr(key), agenti_option_rows[i].key))
            return agenti_option_set(s, agenti_option_rows[i].option, agenti_option_rows[i].form, agenti_str(value, agenti_len(value, n)));
    return agenti_say(e, AGENT_E_ARG, "no such option");
}

/* ---- life ---- */
AGENTI_FN void agenti_item_free(agenti_session *s, agenti_item *it)
{
    if (it == NULL) return;
    agenti_msg_free(&s->pool, it->msg, &s->e->graves);
    agenti_put(&s->pool, it, sizeof *it);
}
AGENTI_FN void agenti_session_free(agenti_session *s)
{
    agent_engine *e = s->e;
    agenti_conn *drain = agenti_conn_get(e, s->drain);
    agenti_item *it;
    int i;
    agenti_sleep(&s->ready);
    if (drain && drain->waiter == &s->ready) drain->waiter = NULL;
    if (s->conn) agenti_conn_abort(s->conn);
    if (s->answer.results && s->state != AGENTI_S_IDLE && s->state <= AGENTI_S_RESULTS_ADD)
        agenti_msg_free(&s->pool, s->answer.results, &e->graves);    /* not in the table yet                            */
    agenti_answer_free(&s->answer);
    agenti_item_free(s, s->item);
    while ((it = s->first) != NULL) { s->first = it->next; agenti_item_free(s, it); }
    for (i = 0; i < AGENTI_OPT_COUNT; i++) agenti_text_free(&s->options[i], &e->graves);
    agenti_toolset_free(s, &s->tools);
    agenti_toolset_free(s, &s->next_tools);
    agenti_kept_free(s);
    agenti_text_free(&s->tools_json, &e->graves);
    agenti_table_free(&s->table, &e->graves);
    agenti_log_free(&s->log);
    agenti_bury_pool(&e->graves, &s->pool);   /* the last event may lie in others                                       */
    s->peer->sessions--;
    agenti_put(&e->pool, s, sizeof *s);
}
static agenti_session *agenti_session_new(agent_engine *e, const agent_session_desc *d, agenti_peer *peer)
{
    agenti_session *s = (agenti_session *)agenti_get(&e->pool, sizeof *s);
    if (s == NULL) return NULL;
    s->e = e;
    s->ready.owner = s;
    s->ready.kind = AGENTI_SESSION;
    agenti_pool_child(&s->pool, &e->pool, agenti_mem_limit(d->mem_limit));
    s->table.pool = s->log.pool = &s->pool;
    s->peer = peer;
    s->user = d->user;
    s->flags = d->flags;
    s->max_steps = agenti_limit(d->max_steps, 50);
    s->parallel = agenti_limit(d->parallel_tools, AGENT_OFF);
    peer->sessions++;
    return s;
}
static int agenti_session_fill(agenti_session *s, const agent_session_desc *d)
{
    char number[24];
    size_t n = d->max_tokens && d->max_tokens != AGENT_OFF ? agenti_u64_text(d->max_tokens, number) : 0;
    int rc = agenti_option_set(s, AGENTI_OPT_MODEL, AGENTI_FORM_TEXT, agenti_cstr(d->model));
    if (rc == AGENT_OK && d->system) rc = agenti_option_set(s, AGENTI_OPT_SYSTEM, AGENTI_FORM_TEXT, agenti_cstr(d->system));
    if (rc == AGENT_OK && n) rc = agenti_option_set(s, AGENTI_OPT_MAX_TOKENS, AGENTI_FORM_NUMBER, agenti_str(number, n));
    return rc;
}
AGENTDEF agent_id agent_session_open(agent_engine *e, const agent_session_desc *d)
{
    agenti_peer *peer = d ? agenti_peer_get(e, d->peer) : NULL;
    agenti_session *s;
    agent_id id;
    if (peer == NULL) { e->last = "no such peer"; return 0; }
    if ((s = agenti_session_new(e, d, peer)) == NULL) { e->last = "out of memory"; return 0; }
    if (agenti_session_fill(s, d) != AGENT_OK || (s->id = agenti_id_new(e, AGENTI_SESSION, s)) == 0) { agenti_session_free(s); return 0; }
    id = s->id;
    if (agent_session_tools(e, id, d->tools, d->tool_count) != AGENT_OK) {
        agenti_id_free(e, id);
        agenti_session_free(s);
        return 0;
    }
    return id;
}
AGENTDEF int agent_session_close(agent_engine *e, agent_id id)
{
    agenti_session *s = agenti_session_get(e, id);
    if (s == NULL) return agenti_stale_session(e);
    s->closed = 1;
    agenti_id_free(e, id);
    agenti_wake(&e->sessions, &s->ready);
    return AGENT_OK;
}
AGENTDEF int agent_cancel(agent_engine *e, agent_id id)
{
    agenti_session *s = agenti_session_get(e, id);
    agenti_item *it;
    if (s == NULL) return agenti_stale_session(e);
    if (s->state == AGENTI_S_IDLE && s->first == NULL) return AGENT_OK;
    for (it = s->first; it; it = it->next) it->back = 1;      /* what is said from now on stays                          */
    s->cancel = 1;
    agenti_wake(&e->sessions, &s->ready);
    return AGENT_OK;
}

/* ---- messages from the host ---- */
/* A call without its result would be refused, so it is not sent any more.                                              */
AGENTI_FN void agenti_waits_end(agenti_session *s)
{
    size_t i;
    for (i = s->table.n; i-- > 0 && s->table.msgs[i]->role != AGENT_USER;) {
        agenti_msg *m = s->table.msgs[i];
        for (; m->waits; s->old_log = 1) {
            agenti_part *p = &m->parts[m->waits - 1];
            p->flags |= AGENT_PART_CUT;
            m->waits = p->key;
        }
    }
}
static const agenti_msg *agenti_last_msg(const agenti_session *s) { return s->table.n ? s->table.msgs[s->table.n - 1] : NULL; }
static int agenti_calls_open(const agenti_session *s)         /* the last message's calls have no results yet            */
{
    const agenti_msg *m = agenti_last_msg(s);
    uint32_t i;
    for (i = 0; m && m->role == AGENT_MODEL && i < m->n; i++) if (m->parts[i].kind == AGENT_PART_CALL) return 1;
    return 0;
}
static int agenti_enqueue(agenti_session *s, agenti_msg *m)
{
    agenti_item *it = (agenti_item *)agenti_get(&s->pool, sizeof *it);
    if (it == NULL) { agenti_msg_free(&s->pool, m, &s->e->graves); return agenti_no_memory(s->e); }
    it->msg = m;
    it->num = ++s->items;
    if (s->untold == NULL && (s->state != AGENTI_S_IDLE || s->first)) s->untold = it;
    if (s->last) s->last->next = it; else s->first = it;
    s->last = it;
    agenti_wake(&s->e->sessions, &s->ready);
    return (int)it->num;
}
AGENTDEF int agent_submit(agent_engine *e, agent_id id, const agent_part *parts, size_t n, int lane)
{
    agenti_session *s = agenti_session_get(e, id);
    agenti_msg *m = NULL;
    int rc;
    if (s == NULL) return agenti_stale_session(e);
    if (lane != AGENT_QUEUE && lane != AGENT_NOW) return agenti_say(e, AGENT_E_ARG, "no such lane");
    if (lane == AGENT_NOW && (s->state != AGENTI_S_IDLE || s->first)) return agenti_say(e, AGENT_E_STATE, "a run is going on");
    if (s->state == AGENTI_S_IDLE && agenti_calls_open(s)) return agenti_say(e, AGENT_E_STATE, "the last message has calls without results");
    if (n == 0 && (s->state != AGENTI_S_IDLE || s->first || s->table.n == 0 || s->table.msgs[s->table.n - 1]->role == AGENT_MODEL))
        return agenti_say(e, AGENT_E_STATE, "there is nothing to go on with");
    if (n && (m = agenti_msg_from(e, &s->pool, agenti_last_msg(s), AGENT_USER, parts, n, &rc)) == NULL) return rc;
    return agenti_enqueue(s, m);
}
AGENTDEF int agent_say(agent_engine *e, agent_id id, const char *text, size_t n)
{
    agent_part p;
    memset(&p, 0, sizeof p);
    p.kind = AGENT_PART_TEXT;
    p.text = agenti_str(text, agenti_len(text, n));
    return agent_submit(e, id, &p, 1, AGENT_QUEUE);
}
/* Every call of the message before must have its result, in call order.                                                */
static int agenti_results_match(agenti_session *s, agenti_msg *m)
{
    const agenti_msg *calls = s->table.msgs[s->table.n - 1];
    uint32_t i, k = 0;
    for (i = 0; i < calls->n; i++) {
        const agenti_part *c = &calls->parts[i];
        if (c->kind != AGENT_PART_CALL) continue;
        if (k == m->n || m->parts[k].wire_id.n != c->wire_id.n || memcmp(m->parts[k].wire_id.p, c->wire_id.p, c->wire_id.n) != 0) return 0;
        m->parts[k].state = AGENTI_CALL_SETTLED;
        m->parts[k++].call = c->call;
    }
    return k == m->n;
}
AGENTDEF int agent_message_add(agent_engine *e, agent_id id, int role, const agent_part *parts, size_t n)
{
    agenti_session *s = agenti_session_get(e, id);
    agenti_msg *m;
    uint32_t i;
    int rc;
    if (s == NULL) return agenti_stale_session(e);
    if (s->state != AGENTI_S_IDLE || s->first) return agenti_say(e, AGENT_E_STATE, "a run is going on");
    if (n == 0 || role < AGENT_USER || role > AGENT_TOOLS) return agenti_say(e, AGENT_E_ARG, "no such role, or no parts");
    if (agenti_calls_open(s) != (role == AGENT_TOOLS)) return agenti_say(e, AGENT_E_ARG, "calls are followed by their results, and only they are");
    if (!agenti_table_room(&s->table, 1)) return agenti_no_memory(e);
    if ((m = agenti_msg_from(e, &s->pool, agenti_last_msg(s), role, parts, n, &rc)) == NULL) return rc;
    if (role == AGENT_TOOLS && !agenti_results_match(s, m)) {
        agenti_msg_free(&s->pool, m, &e->graves);
        return agenti_say(e, AGENT_E_ARG, "the results are not those of the calls before, in their order");
    }
    for (i = 0; i < m->n; i++) {
        m->parts[i].id = ++s->nums.part;
        if (m->parts[i].kind == AGENT_PART_CALL) m->parts[i].call = ++s->nums.call;
    }
    m->id = ++s->nums.msg;
    m->model = s->model;
    if (role == AGENT_USER) agenti_waits_end(s);
    agenti_table_add(&s->table, m);
    return (int)m->id;
}
AGENTDEF size_t agent_messages(const agent_engine *e, agent_id id)
{
    const agenti_session *s = agenti_session_get(e, id);
    return s ? s->table.n : 0;
}
AGENTDEF int agent_message(const agent_engine *e, agent_id id, size_t i, agent_msg *out)
{
    const agenti_session *s = agenti_session_get(e, id);
    const agenti_msg *m;
    if (s == NULL) return AGENT_E_STALE;
    if (i >= s->table.n) return AGENT_E_ARG;
    m = s->table.msgs[i];
    out->id = m->id;
    out->run = m->run;
    out->role = m->role;
    out->flags = (uint8_t)(m->flags & (AGENT_PART_CUT | AGENT_MSG_SYSTEM));
    out->part_count = m->n;
    return AGENT_OK;
}
AGENTDEF int agent_message_part(const agent_engine *e, agent_id id, agent_num msg, size_t i, agent_part *out)
{
    const agenti_session *s = agenti_session_get(e, id);
    size_t lo = 0, hi;
    if (s == NULL) return AGENT_E_STALE;
    for (hi = s->table.n; lo < hi;) {         /* ids rise                                                               */
        size_t mid = lo + (hi - lo) / 2;
        if (s->table.msgs[mid]->id < msg) lo = mid + 1; else hi = mid;
    }
    if (lo == s->table.n || s->table.msgs[lo]->id != msg || i >= s->table.msgs[lo]->n) return AGENT_E_ARG;
    agenti_part_view(&s->table.msgs[lo]->parts[i], out);
    return AGENT_OK;
}

/* ---- answers to tool runs ---- */
AGENTI_FN agenti_part *agenti_result_find(const agenti_session *s, agent_num call)
{
    agenti_msg *m = s->answer.results;
    uint32_t i;
    if (s->state < AGENTI_S_STEP || s->state > AGENTI_S_RESULTS_END) return NULL;
    for (i = 0; m && i < m->n; i++) if (m->parts[i].call == call) return &m->parts[i];
    return NULL;
}
AGENTI_FN const agenti_part *agenti_call_of(const agenti_session *s, const agenti_part *r)
{
    return &s->answer.msg->parts[r->key];
}
AGENTI_FN void agenti_result_done(agenti_session *s, agenti_part *r, int status)
{
    r->state = AGENTI_CALL_DONE;
    r->status = (uint8_t)status;
    r->order = ++s->order;
    if (status != AGENT_DONE_OK) r->flags |= AGENT_PART_ERROR;
    agenti_wake(&s->e->sessions, &s->ready);
}
AGENTI_FN void agenti_run_fill(const agenti_session *s, const agenti_part *r, agent_event *ev)
{
    const agenti_part *p = agenti_call_of(s, r);
    ev->flags = AGENT_EVF_NEED;
    ev->need = r->need;
    ev->msg = s->answer.msg->id;
    ev->part = p->id;
    ev->call = r->call;
    ev->text = agenti_text_view(&p->text);
    ev->name = agenti_text_view(&p->name);
    ev->u.tool.wire_id = agenti_text_view(&p->wire_id);
    ev->u.tool.title = agenti_str(NULL, 0);
    ev->u.tool.user = r->tool < s->tools.n ? s->tools.p[r->tool].user : NULL;        /* an unknown tool is nobody's     */
}
/* AGENT_OK: *out is a call that runs.                                                                                  */
static int agenti_running(agent_engine *e, agent_id id, agent_num call, agenti_session **s, agenti_part **out)
{
    *s = agenti_session_get(e, id);
    if (*s == NULL) return agenti_stale_session(e);
    *out = agenti_result_find(*s, call);
    if (*out == NULL) return call && call <= (*s)->nums.call ? AGENT_LATE : agenti_say(e, AGENT_E_STALE, "no such call");
    if ((*out)->state < AGENTI_CALL_RUNNING) return agenti_say(e, AGENT_E_STATE, "the call was not given to the host yet");
    return (*out)->state == AGENTI_CALL_RUNNING && !(*s)->cancel ? AGENT_OK : AGENT_LATE;
}
AGENTDEF int agent_tool_append(agent_engine *e, agent_id id, agent_num call, const char *out, size_t n)
{
    agenti_session *s;
    agenti_part *r;
    int rc = agenti_running(e, id, call, &s, &r);
    if (rc != AGENT_OK) return rc;
    n = agenti_len(out, n);
    if (n > e->lim.item - r->text.n) {
        n = e->lim.item - r->text.n;
        r->flags |= AGENT_PART_CUT;
    }
    return n == 0 || agenti_text_add(&r->text, &s->pool, &e->graves, agenti_str(out, n)) ? AGENT_OK : agenti_no_memory(e);
}
AGENTDEF int agent_tool_done(agent_engine *e, agent_id id, agent_num call, int status)
{
    agenti_session *s;
    agenti_part *r;
    int rc = agenti_running(e, id, call, &s, &r);
    if (rc != AGENT_OK) return rc;
    if (status != AGENT_DONE_OK && status != AGENT_DONE_ERROR) return agenti_say(e, AGENT_E_ARG, "a tool ends OK or with an error");
    if (!agenti_text_repair(&r->text, &s->pool, &e->graves)) return agenti_no_memory(e);
    agenti_result_done(s, r, status);
    return AGENT_OK;
}
AGENTDEF int agent_tool_result(agent_engine *e, agent_id id, agent_num call, const char *out, size_t n)
{
    int rc = agent_tool_append(e, id, call, out, n);
    return rc == AGENT_OK ? agent_tool_done(e, id, call, AGENT_DONE_OK) : rc;
}
AGENTDEF int agent_tool_update(agent_engine *e, agent_id id, agent_num call, const char *title, size_t n)
{
    agenti_session *s;
    agenti_part *r;
    int rc = agenti_running(e, id, call, &s, &r);
    if (rc != AGENT_OK) return rc;
    if (!agenti_text_set(&r->title, &s->pool, &e->graves, agenti_str(title, agenti_len(title, n)))) return agenti_no_memory(e);
    if (!agenti_text_repair(&r->title, &s->pool, &e->graves)) agenti_text_scrub(&r->title);
    r->retitled = 1;
    agenti_wake(&e->sessions, &s->ready);
    return AGENT_OK;
}
AGENTDEF int agent_decline(agent_engine *e, const agent_event *need)
{
    static const char detail[] = "the host declined";
    const agenti_conn *c;
    agenti_session *s;
    agenti_peer *p;
    agenti_part *r;
    int rc = AGENT_LATE;
    if (need == NULL) return agenti_say(e, AGENT_E_ARG, "no event");
    if (need->type == AGENT_EV_OPEN || need->type == AGENT_EV_SIGN) {
        c = agenti_conn_get(e, need->conn);
        if (c && c->need_open && c->need == need->need) rc = agent_failed(e, need->conn, AGENT_FAIL_HOST, detail, AGENT_CSTR);
    } else if (need->type == AGENT_EV_CREDENTIAL && (p = agenti_peer_get(e, need->peer)) != NULL) rc = agenti_peer_key_declined(p, need->need);
    else if (need->type == AGENT_EV_TOOL_RUN && (rc = agenti_running(e, need->session, need->call, &s, &r)) == AGENT_OK) {
        agenti_text_static(&r->text, &e->graves, "The host declined to run this tool.");
        agenti_result_done(s, r, AGENT_DONE_ERROR);
    }
    return rc == AGENT_E_STALE ? AGENT_LATE : rc;
}
AGENTDEF int agent_pending(const agent_engine *e, agent_id id, size_t i, agent_event *out)
{
    const agenti_session *s = agenti_session_get(e, id);
    const agenti_peer *p = agenti_peer_get(e, id);
    const agenti_msg *m;
    uint32_t k;
    if (s == NULL && (p == NULL || p->key_state != AGENTI_KEY_ASKED || i)) return AGENT_E_STALE;
    memset(out, 0, sizeof *out);
    if (s == NULL) {
        out->type = AGENT_EV_CREDENTIAL;
        out->at_ms = e->now;
        agenti_peer_key_fill(p, out);
        return AGENT_OK;
    }
    out->session = id;
    out->peer = s->peer->id;
    out->user = s->user;
    out->at_ms = e->now;
    out->run = s->nums.run;
    out->step = s->steps;
    out->text = out->name = agenti_str(NULL, 0);
    if (s->conn && s->conn->need_open && i-- == 0) {
        out->type = s->conn->sign ? AGENT_EV_SIGN : AGENT_EV_OPEN;
        out->conn = s->conn->id;
        agenti_conn_open_fill(s->conn, out);
        return AGENT_OK;
    }
    m = s->state == AGENTI_S_TOOLS ? s->answer.results : NULL;
    for (k = 0; m && k < m->n; k++) if (m->parts[k].state == AGENTI_CALL_RUNNING && i-- == 0) {
        out->type = AGENT_EV_TOOL_RUN;
        agenti_run_fill(s, &m->parts[k], out);
        return AGENT_OK;
    }
    return AGENT_E_STALE;
}
#endif

/* ==== loop.c: runs and steps ====================================================================================== */
/* The loop: a run is one or more steps, a step is one model call and its tools. Every state makes at most one event and moves on,
 * so a run can stop between any two of them. What closes brackets needs no memory. */
enum { AGENTI_PUMP_GONE = -1, AGENTI_PUMP_NONE, AGENTI_PUMP_EVENT,       /* GONE: the session is freed               */
       AGENTI_AGAIN };                        /* inside: a state made no event, go on with the next one                 */
AGENTI_FN int agenti_session_pump(agenti_session *);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_LOOP
static agent_event *agenti_sign(agenti_session *s, agent_event *ev)
{
    ev->session = s->id;
    ev->peer = s->peer->id;
    ev->user = s->user;
    ev->run = s->nums.run;
    ev->step = s->steps;
    ev->seq = ++s->seq;
    return ev;
}
static agent_event *agenti_session_event(agenti_session *s, int type) { return agenti_sign(s, agenti_event(s->e, type)); }
static int agenti_msg_event(agenti_session *s, int type, const agenti_msg *m)
{
    agent_event *ev = agenti_session_event(s, type);
    ev->msg = m->id;
    ev->u.msg.role = m->role;
    return AGENTI_PUMP_EVENT;
}
/* All texts as one, for as long as the event; when there is no memory for that, the first one.                         */
static agent_str agenti_msg_text(agenti_session *s, const agenti_msg *m)
{
    size_t n = 1;
    uint32_t i;
    char *p = NULL;
    uint32_t texts = 0, first = 0;
    for (i = m->n; i-- > 0;) if (m->parts[i].kind == AGENT_PART_TEXT) {
        texts++;
        first = i;
        if (!agenti_add(n, m->parts[i].text.n, &n)) return agenti_str(NULL, 0);
    }
    if (texts > 1) p = agenti_blob_get(&s->pool, n);
    if (p == NULL) return texts ? agenti_text_view(&m->parts[first].text) : agenti_str(NULL, 0);
    for (i = 0, n = 0; i < m->n; i++) if (m->parts[i].kind == AGENT_PART_TEXT) {
        memcpy(p + n, m->parts[i].text.p, m->parts[i].text.n);
        n += m->parts[i].text.n;
    }
    AGENTI_TOUCH(n);
    p[n] = 0;
    agenti_blob_bury(&s->e->graves, p);
    return agenti_str(p, n);
}
static int agenti_queued_event(agenti_session *s, const agenti_item *it, int op)
{
    agent_event *ev = agenti_session_event(s, AGENT_EV_QUEUED);
    if (!s->running) ev->run = ev->step = 0;
    ev->u.queued.item = it->num;
    ev->u.queued.op = op;
    if (it->msg) ev->text = agenti_msg_text(s, it->msg);
    return AGENTI_PUMP_EVENT;
}
static void agenti_run_fault(agenti_session *s, int fault, int retryable, const char *why)
{
    agenti_answer_fault(&s->answer, fault, retryable, why);
    s->answer.d.fault.http_status = 0;
}

/* ---- the request ---- */
static void agenti_request_of(agenti_session *s, agenti_request *r)
{
    size_t i;
    int option;
    memset(r, 0, sizeof *r);
    r->options = s->options;
    r->tools = s->tools.p;
    r->tool_count = s->tools.n;
    r->extra = agenti_text_view(&s->peer->extra);
    r->dialect = s->dialect = s->peer->dialect;
    s->key_count = s->peer->key_count;
    r->system_raw = s->imported == s->peer->wire ? agenti_text_view(&s->system_raw) : agenti_str(NULL, 0);
    r->wire = s->peer->wire;
    r->model = s->model;
    r->stream = !(s->flags & AGENT_S_NO_STREAM);
    for (option = 0; option < AGENTI_OPT_COUNT; option++)
        if (s->options[option].n && (s->peer->wire->lacks & AGENTI_BIT(option))) r->left_out |= AGENTI_BIT(option);
    for (i = 0; i < s->tools.n; i++)
        if (s->tools.p[i].flags & AGENT_TF_STRICT) r->left_out |= s->peer->wire->lacks & AGENTI_BIT(AGENTI_LEFT_STRICT);
    r->stateful = agenti_eq(agenti_text_view(&s->options[AGENTI_OPT_STATEFUL]), "true");
    if (r->stateful && s->peer->wire->previous == NULL) { r->stateful = 0; r->left_out |= AGENTI_BIT(AGENTI_OPT_STATEFUL); }
    r->tools_off = s->closing;
    r->choice_off = s->choice_spent;
    if (s->closing) r->note = "The limit of steps is reached. Call no more tools. Say in text what is done, what remains and what should come next.";
}
/* Where the provider keeps its answers: the messages behind the last one that it has whole. 1: it goes on from that one. */
static size_t agenti_kept_answer(const agenti_session *s)    /* its place in the table, from 1; 0: there is none        */
{
    size_t i = s->table.n;
    while (i > 0) {
        const agenti_msg *m = s->table.msgs[i - 1];
        if (m->answer_id.n && m->model == s->model) return i;
        i--;
    }
    return 0;
}
static void agenti_news_out(agenti_session *s, agenti_request *r, agenti_buf *b, size_t from)
{
    size_t i;
    r->state = 0;
    for (i = from; i < s->table.n; i++) {
        r->before = s->table.msgs[i - 1];
        agenti_message_out(b, r, s->table.msgs[i]);
    }
}
/* Serialises what is new in the table. 0: no memory; what was there stays good.                                        */
static int agenti_log_sync(agenti_session *s, agenti_request *r)
{
    const agenti_wire *w = s->peer->wire;
    agenti_buf b;
    int ok = 1;
    if (s->old_log) { agenti_log_free(&s->log); s->old_log = 0; }
    r->state = s->log.state;
    agenti_buf_init(&b, &s->pool);
    if (w->system && s->log.total == 0 && s->log.msgs == 0 && (s->options[AGENTI_OPT_SYSTEM].n || r->system_raw.n)) {
        w->system(&b, r, agenti_text_view(&s->options[AGENTI_OPT_SYSTEM]));
        ok = agenti_log_add(&s->log, &b);
        if (ok) s->log.state = r->state;
    }
    while (ok && s->log.msgs < s->table.n) {
        b.n = 0;
        r->before = s->log.msgs ? s->table.msgs[s->log.msgs - 1] : NULL;
        agenti_message_out(&b, r, s->table.msgs[s->log.msgs]);
        ok = agenti_log_add(&s->log, &b);
        if (!ok) break;
        s->log.msgs++;
        s->log.state = r->state;
    }
    agenti_buf_free(&b);
    return ok;
}
static int agenti_tools_sync(agenti_session *s, const agenti_request *r)
{
    agenti_buf b;
    int ok;
    if (s->tools_json.p || s->tools.n == 0) return 1;
    agenti_buf_init(&b, &s->pool);
    s->peer->wire->tools(&b, r);
    ok = !b.bad && agenti_text_set(&s->tools_json, &s->pool, &s->e->graves, agenti_str(b.p, b.n));
    agenti_buf_free(&b);
    return ok;
}
static int agenti_head_write(agenti_session *s, agenti_conn *c, int whole)
{
    const agenti_wire *w = s->peer->wire;
    agenti_buf path;
    int ok;
    agenti_buf_init(&path, &s->e->pool);
    agenti_url_expand(&path, whole && w->whole_path ? w->whole_path : w->path, agenti_text_view(&s->options[AGENTI_OPT_MODEL]));
    ok = !path.bad && agenti_conn_head_write(c, "POST", path.p);
    agenti_buf_free(&path);
    return ok;
}
static int agenti_request_body(agenti_session *s, agenti_conn *c, agent_str extra)
{
    const agenti_wire *w = s->peer->wire;
    agenti_out *o = &c->out;
    agenti_request r;
    size_t from;
    agenti_request_of(s, &r);
    if (extra.n) r.extra = extra;
    from = r.stateful && !agenti_replaced(&r, w->previous) ? agenti_kept_answer(s) : 0;
    if (from) r.previous = agenti_text_view(&s->table.msgs[from - 1]->answer_id);
    s->went_on = from > 0;
    s->stateful = (uint8_t)r.stateful;
    if ((!from && !agenti_log_sync(s, &r)) || !agenti_tools_sync(s, &r)) return 0;
    w->head(&o->text, &r);
    if (from) agenti_news_out(s, &r, &o->text, from);
    s->left_out = (s->left_out & ~(AGENTI_BIT(AGENTI_OPT_COUNT) - 1)) | (r.left_out & ~s->told_out);
    if (!agenti_out_piece(o, NULL, 0) || (!from && !agenti_out_log(o, &s->log))) return 0;
    w->tail(&o->text, &r);
    if (!agenti_out_piece(o, NULL, 0)) return 0;
    if (s->tools_json.n && !agenti_out_piece(o, s->tools_json.p, s->tools_json.n)) return 0;
    w->end(&o->text, &r);
    if (!agenti_out_piece(o, NULL, 0)) return 0;
    return agenti_peer_headers(s->peer, &c->lines, r.stream) && agenti_head_write(s, c, !r.stream) && agenti_out_ready(o, s->peer->signs);
}
static int agenti_request_write(agenti_session *s, agenti_conn *c)
{
    agenti_buf extra;
    int ok;
    agenti_buf_init(&extra, &s->pool);
    if (s->imported == s->peer->wire && s->kept_n) agenti_kept_out(s, s->peer->wire, &extra);
    ok = !extra.bad && agenti_request_body(s, c, agenti_str(extra.p, extra.n));
    agenti_buf_free(&extra);
    return ok;
}
static int agenti_step_send(agenti_session *s)
{
    agenti_conn *c = agenti_conn_get(s->e, s->drain);
    agenti_exchange x;
    if (s->cancelling) { s->state = AGENTI_S_PARTS; return AGENTI_AGAIN; }
    if (!agenti_peer_key_there(s->peer)) return AGENTI_PUMP_NONE;
    if (c && c->state == AGENTI_CONN_DRAIN && c->via == AGENT_VIA_BYTES && !s->fresh) c->waiter = &s->ready;
    if (c && c->waiter == &s->ready) return AGENTI_PUMP_NONE;
    s->drain = 0;
    c = s->fresh ? NULL : agenti_conn_reuse(s->peer);
    if (c == NULL && (c = agenti_conn_new(s->e, s->peer)) == NULL) {
        int full = s->e->slots[AGENTI_CONN].live >= s->e->lim.conns;
        if (full && (c = agenti_conn_leaving(s->e)) != NULL) {
            c->waiter = &s->ready;
            s->drain = c->id;
            return AGENTI_PUMP_NONE;
        }
        agenti_run_fault(s, full ? AGENT_FAULT_LIMIT : AGENT_FAULT_NOMEM, 0, s->e->last);
        s->state = AGENTI_S_PARTS;
        return AGENTI_AGAIN;
    }
    s->fresh = 0;
    if (!agenti_request_write(s, c)) {
        agenti_conn_abort(c);
        agenti_run_fault(s, AGENT_FAULT_NOMEM, 0, "out of memory for the request");
        s->state = AGENTI_S_PARTS;
        return AGENTI_AGAIN;
    }
    memset(&x, 0, sizeof x);
    x.session = s->id;
    x.user = s->user;
    x.seq = &s->seq;
    x.nums = &s->nums;
    x.ready = &s->ready;
    x.answer = &s->answer;
    s->conn = c;
    s->state = AGENTI_S_ANSWER;
    agenti_conn_begin(c, &x, s->nums.run, s->steps);
    return AGENTI_AGAIN;
}
/* One WARNING for each thing that was asked for and is not in the request, or not in what agent_export gave.            */
static int agenti_left_event(agenti_session *s, int bit)
{
    static const char *const why[] = {
        "reasoning of another model was left out of the request", "a file that the provider does not take was left out of the request",
        "there are more prompt cache marks than the provider takes", "tools were left out of the request: this format has none",
        "a tool is sent without its flag STRICT: this format has none"
    };
    agent_event *ev = agenti_session_event(s, AGENT_EV_WARNING);
    if (bit < AGENTI_OPT_COUNT) {
        ev->text = agenti_cstr("the provider does not take this option, or not beside the others: it was not sent");
        ev->name = agenti_cstr(agenti_option_key(bit));
    } else ev->text = agenti_cstr(why[bit - AGENTI_OPT_COUNT]);
    if (bit == AGENTI_LEFT_STRICT) ev->name = agenti_cstr("strict");
    return AGENTI_PUMP_EVENT;
}
static int agenti_lowest(uint32_t bits)
{
    int bit = 0;
    while (!(bits & AGENTI_BIT(bit))) bit++;
    return bit;
}
static int agenti_left_out(agenti_session *s)
{
    int bit = agenti_lowest(s->left_out);
    s->left_out &= ~AGENTI_BIT(bit);
    if (bit < AGENTI_OPT_COUNT || bit >= AGENTI_LEFT_TOOLS) s->told_out |= AGENTI_BIT(bit);
    return agenti_left_event(s, bit);
}
/* What of an import goes nowhere, or not into the peer's requests, and what of an export was left out.                   */
static int agenti_import_news(agenti_session *s)
{
    agent_event *ev;
    uint32_t i;
    int bit;
    if (s->export_left) {
        bit = agenti_lowest(s->export_left);
        s->export_left &= ~AGENTI_BIT(bit);
        (void)agenti_left_event(s, bit);
        s->e->ev.run = s->running ? s->nums.run : 0;
        s->e->ev.step = s->running ? s->steps : 0;
        return AGENTI_PUMP_EVENT;
    }
    for (i = 0; i < s->kept_n && s->kept[i].told; i++) {}
    if (i == s->kept_n && s->lost.n == 0) { s->news = 0; return AGENTI_AGAIN; }
    ev = agenti_session_event(s, AGENT_EV_WARNING);
    if (!s->running) ev->run = ev->step = 0;
    if (i == s->kept_n) {
        ev->text = agenti_cstr("a member of the import's messages has no place, and goes back nowhere");
        ev->name = agenti_text_view(&s->lost);
        agenti_text_free(&s->lost, &s->e->graves);
        return AGENTI_PUMP_EVENT;
    }
    s->kept[i].told = 1;
    ev->name = agenti_text_view(&s->kept[i].key);
    ev->text = agenti_cstr(s->kept[i].gone ? "an option was set anew: this member of the import has gone, with all that was in it"
                         : "a member of the import that only its own format has: it is not in requests of others");
    return AGENTI_PUMP_EVENT;
}
static void agenti_answer_begin(agenti_session *s)
{
    agenti_answer_free(&s->answer);
    agenti_answer_start(&s->answer, s->e, &s->pool, s->peer->wire, s->peer->dialect);
    s->answer.table = &s->table;
    s->answer.nums = &s->nums;
    s->answer.run = s->nums.run;
    s->answer.model = s->model;
    if (s->flags & (AGENT_S_THINK_TAGS | AGENT_S_THINK_OPEN)) agenti_think_start(&s->answer.think, (s->flags & AGENT_S_THINK_OPEN) != 0);
}
static int agenti_answer_wait(agenti_session *s)
{
    agenti_conn *c = s->conn;
    agent_str choice = agenti_text_view(&s->options[AGENTI_OPT_TOOL_CHOICE]);
    if (s->left_out) return agenti_left_out(s);
    if (!c->over) return AGENTI_PUMP_NONE;
    s->conn = NULL;
    if (c->stale) {                           /* an idle connection that the peer had closed: once more, on a new one   */
        agenti_conn_abort(c);
        agenti_answer_begin(s);
        s->fresh = 1;
        s->state = AGENTI_S_SEND;
        return AGENTI_AGAIN;
    }
    agenti_peer_hide(s->peer, &c->lines, &s->answer.d.fault.text);
    agenti_peer_hide(s->peer, &c->lines, &s->answer.d.fault.code);
    agenti_peer_hide(s->peer, &c->lines, &s->answer.d.request_id);
    agenti_peer_hide(s->peer, &c->lines, &s->answer.limits);
    if (choice.n && !agenti_eq(choice, "auto") && !agenti_eq(choice, "none")) s->choice_spent = 1;
    if (c->state == AGENTI_CONN_NEW || s->answer.d.fault.fault == AGENT_FAULT_PROTOCOL || s->answer.d.fault.fault == AGENT_FAULT_LIMIT
        || s->answer.d.fault.fault == AGENT_FAULT_NOMEM) agenti_conn_abort(c);
    else { s->drain = c->id; agenti_conn_drain(c); }
    s->state = AGENTI_S_JUDGE;
    return AGENTI_AGAIN;
}

/* ---- the answer's worth ---- */
static int agenti_goes_on(const agenti_session *s)            /* after results or a pause: there may be nothing to add  */
{
    size_t n = s->table.n - (s->answer.msg ? 1 : 0);
    return n > 0 && s->table.msgs[n - 1]->role != AGENT_USER;
}
static void agenti_count_add(int64_t *to, int64_t n)
{
    if (n >= 0) *to = *to < 0 ? n : *to > INT64_MAX - n ? INT64_MAX : *to + n;
}
static void agenti_usage_take(agenti_session *s)
{
    const agent_usage *u = &s->answer.d.usage;
    agenti_count_add(&s->usage.input, u->input);
    agenti_count_add(&s->usage.cached, u->cached);
    agenti_count_add(&s->usage.cache_write, u->cache_write);
    agenti_count_add(&s->usage.output, u->output);
    agenti_count_add(&s->usage.reasoning, u->reasoning);
}
/* A provider refuses how the request was written, and says which member it is: once more, the other way. 1: a WARNING says so */
static int agenti_switch(agenti_session *s)
{
    agenti_peer *p = s->peer;
    uint32_t bit = s->answer.msg ? 0 : agenti_fault_switch(&s->answer.d.fault);
    if (bit == 0) return 0;
    if (!((p->dialect ^ s->dialect) & bit)) { /* else another session has done it meanwhile                             */
        if (p->switched & bit) return 0;
        p->switched |= bit;
        p->dialect ^= bit;
    }
    agenti_answer_begin(s);
    s->state = AGENTI_S_SEND;
    agenti_session_event(s, AGENT_EV_WARNING)->text = agenti_cstr("the provider refuses a member of the request; it is asked again in its other dialect");
    s->e->ev.name = agenti_cstr(bit == AGENT_DIALECT_NO_STREAM_OPTIONS ? "stream_options" : "max_tokens");
    return 1;
}
/* Status 401: the key is asked for, once a step, and the request is made again with another one. 0: the fault stands.   */
static int agenti_key_again(agenti_session *s, int *rc)
{
    const agenti_fault *f = &s->answer.d.fault;
    agenti_peer *p = s->peer;
    if (f->fault != AGENT_FAULT_AUTH || f->http_status != 401 || s->answer.msg || !p->wants_key || s->key_spent) return 0;
    *rc = AGENTI_PUMP_NONE;
    if (p->key_state != AGENTI_KEY_THERE) { s->key_asked = 1; return 1; }          /* also by another session             */
    if (p->key_count != s->key_count) {
        s->key_spent = 1;
        agenti_answer_begin(s);
        s->state = AGENTI_S_SEND;
        *rc = AGENTI_AGAIN;
        return 1;
    }
    if (s->key_asked || p->key_n == 0) return 0;             /* the host declined, or has none                          */
    s->key_asked = 1;
    agenti_peer_key_ask(p, AGENT_KEY_REFUSED, agenti_text_view(&f->text));
    return 1;
}
/* The provider does not know the answer any more that it was to go on from: all of the conversation, then.              */
static int agenti_forgotten(agenti_session *s)
{
    const agenti_fault *f = &s->answer.d.fault;
    size_t i;
    if (!s->went_on || s->answer.msg || f->fault != AGENT_FAULT_REQUEST) return 0;
    if (f->http_status != 404 && !agenti_find(agenti_text_view(&f->code), "previous") && !agenti_find(agenti_text_view(&f->text), "previous")) return 0;
    for (i = 0; i < s->table.n; i++) agenti_text_free(&s->table.msgs[i]->answer_id, &s->e->graves);
    agenti_answer_begin(s);
    s->state = AGENTI_S_SEND;
    agenti_session_event(s, AGENT_EV_WARNING)->text = agenti_cstr("the provider has forgotten its last answer: all of the conversation is sent again");
    return 1;
}
static int agenti_has_content(const agenti_msg *m)
{
    uint32_t i;
    for (i = 0; m && i < m->n; i++) {
        const agenti_part *p = &m->parts[i];
        if (p->kind == AGENT_PART_CALL || agenti_is_media(p->kind) || (p->kind == AGENT_PART_TEXT && p->text.n)) return 1;
    }
    return 0;
}
static int agenti_judge(agenti_session *s)
{
    agenti_decoder *d = &s->answer.d;
    int content = agenti_has_content(s->answer.msg), told = 0, rc;
    if (agenti_switch(s) || agenti_forgotten(s)) return AGENTI_PUMP_EVENT;
    if (agenti_key_again(s, &rc)) return rc;
    if (!content && (s->flags & AGENT_S_THOUGHTS_TOLD) && !d->fault.fault && (d->finish == AGENT_FINISH_STOP || d->finish == AGENT_FINISH_OTHER)) {
        if ((told = agenti_answer_thoughts_told(&s->answer)) > 0) { agenti_sign(s, &s->e->ev); return AGENTI_PUMP_EVENT; }
        if (told < 0) agenti_run_fault(s, AGENT_FAULT_NOMEM, 0, "out of memory for the answer");
    }
    s->state = AGENTI_S_PARTS;
    s->finish = d->fault.fault ? AGENT_FINISH_ERROR : d->finish;
    agenti_usage_take(s);
    if (d->fault.fault) return AGENTI_AGAIN;
    if (d->finish == AGENT_FINISH_FILTER) agenti_run_fault(s, AGENT_FAULT_FILTER, 0, "the provider's content filter stopped the answer");
    else if (d->finish == AGENT_FINISH_ERROR) agenti_run_fault(s, AGENT_FAULT_SERVER, 1, "the provider ended the answer with an error");
    else if (!content && !d->paused && !agenti_goes_on(s)) agenti_run_fault(s, AGENT_FAULT_PROTOCOL, 1, "an answer without text and without tool calls");
    else if (d->finish == AGENT_FINISH_OTHER && content) {
        agent_event *ev = agenti_session_event(s, AGENT_EV_WARNING);
        memcpy(s->e->ev_raw, d->finish_raw, sizeof s->e->ev_raw);
        ev->text = agenti_cstr("the finish reason is unknown or does not fit; the answer is taken as complete");
        ev->name = agenti_cstr(s->e->ev_raw);
        return AGENTI_PUMP_EVENT;
    }
    return AGENTI_AGAIN;
}
static int agenti_close_parts(agenti_session *s)
{
    if (agenti_answer_close(&s->answer, s->cancelling || agenti_answer_cut(&s->answer))) {
        agenti_sign(s, &s->e->ev);
        return AGENTI_PUMP_EVENT;
    }
    s->state = AGENTI_S_MODEL_END;
    return AGENTI_AGAIN;
}

/* ---- tools ---- */
static int agenti_tool_find(const agenti_session *s, const agenti_part *call)
{
    size_t i;
    for (i = 0; i < s->tools.n; i++)
        if (s->tools.p[i].name.n == call->name.n && memcmp(s->tools.p[i].name.p, call->name.p, call->name.n) == 0) return (int)i;
    return -1;
}
static void agenti_tool_unknown(agenti_session *s, const agenti_part *call, agenti_part *r)
{
    agenti_buf b;
    size_t i;
    agenti_buf_init(&b, &s->pool);
    agenti_buf_str(&b, "There is no tool named ");
    agenti_buf_add(&b, call->name.p, call->name.n);
    agenti_buf_str(&b, s->tools.n ? ". The tools are: " : ". There are no tools.");
    for (i = 0; i < s->tools.n; i++) {
        if (i) agenti_buf_str(&b, ", ");
        agenti_buf_add(&b, s->tools.p[i].name.p, s->tools.p[i].name.n);
    }
    if (b.bad || !agenti_text_set(&r->text, &s->pool, &s->e->graves, agenti_str(b.p, b.n)))
        agenti_text_static(&r->text, &s->e->graves, "There is no tool of this name.");
    agenti_buf_free(&b);
}
/* Decides about each call on its own: a bad one never takes its neighbours along.                                      */
static void agenti_tool_sort(agenti_session *s, agenti_part *r)
{
    const agenti_part *call = agenti_call_of(s, r);
    const char *why = NULL;
    int tool = agenti_tool_find(s, call), status = AGENT_DONE_ERROR;
    r->tool = tool < 0 ? AGENT_OFF : (uint32_t)tool;
    if (!call->called) {
        status = s->cancelling ? AGENT_DONE_CANCELLED : AGENT_DONE_NOT_RUN;
        why = s->cancelling ? "Cancelled before the call was complete."
            : s->finish != AGENT_FINISH_LENGTH ? "Not run: the answer broke off."
            : "Not run: the answer was cut off by its length limit. Send the call again, complete, in smaller pieces if it is long.";
    } else if (s->closing) {
        status = AGENT_DONE_NOT_RUN;
        why = "Not run: the limit of steps is reached.";
    } else if (call->flags & AGENT_PART_INVALID) why = "Not run: the arguments are not a JSON object.";
    else if (tool < 0) agenti_tool_unknown(s, call, r);
    else {
        r->state = AGENTI_CALL_WAITING;
        return;
    }
    if (why) agenti_text_static(&r->text, &s->e->graves, why);
    agenti_result_done(s, r, status);
    if (!call->called) r->state = AGENTI_CALL_SETTLED;       /* no TOOL_CALL was shown, so no TOOL_RESULT is            */
}
/* Whole and kept by the provider: the next request may go on from it. Without memory for the id more is sent, no more. */
static void agenti_answer_keep(agenti_session *s)
{
    agent_str id = agenti_text_view(&s->answer.d.id);
    if (!s->stateful || s->cancelling || s->answer.d.paused || agenti_answer_cut(&s->answer)) return;
    (void)agenti_text_set(&s->answer.msg->answer_id, &s->pool, &s->e->graves, id);
}
static int agenti_model_end(agenti_session *s)
{
    agenti_msg *results = s->answer.results;
    uint32_t i;
    for (i = 0; results && i < results->n; i++) agenti_tool_sort(s, &results->parts[i]);
    s->state = results ? AGENTI_S_TOOLS : AGENTI_S_STEP_END;
    if (s->answer.msg == NULL) return AGENTI_AGAIN;
    s->answer.msg->ended = 1;
    agenti_answer_keep(s);
    if (s->cancelling || agenti_answer_cut(&s->answer)) s->answer.msg->flags = AGENT_PART_CUT;
    return agenti_msg_event(s, AGENT_EV_MSG_END, s->answer.msg);
}
static agent_event *agenti_result_event(agenti_session *s, int type, const agenti_part *r)
{
    agent_event *ev = agenti_session_event(s, type);
    agenti_run_fill(s, r, ev);
    ev->flags = 0;
    ev->need = 0;
    ev->text = agenti_str(NULL, 0);
    ev->u.tool.title = agenti_text_view(&r->title);
    ev->u.tool.status = r->status;
    return ev;
}
static int agenti_tool_report(agenti_session *s, agenti_part *r)
{
    agent_event *ev;
    if (r->need) {
        ev = agenti_result_event(s, AGENT_EV_NEED_DONE, r);
        ev->need = r->need;
        memset(&ev->u, 0, sizeof ev->u);      /* what the union holds does not apply                                    */
        r->need = 0;
        return AGENTI_PUMP_EVENT;
    }
    r->state = AGENTI_CALL_SETTLED;
    ev = agenti_result_event(s, AGENT_EV_TOOL_RESULT, r);
    ev->text = agenti_text_view(&r->text);
    if (r->flags & AGENT_PART_CUT) ev->flags = AGENT_EVF_CUT;
    return AGENTI_PUMP_EVENT;
}
static int agenti_tool_start(agenti_session *s, agenti_part *r)
{
    agent_event *ev = agenti_session_event(s, AGENT_EV_TOOL_RUN);
    r->state = AGENTI_CALL_RUNNING;
    r->need = ++s->nums.need;
    agenti_run_fill(s, r, ev);
    return AGENTI_PUMP_EVENT;
}
/* A cancel: the host is told to stop what runs, then every call ends with what it has printed so far.                  */
static int agenti_tool_cancel(agenti_session *s, agenti_part *r)
{
    if (r->state == AGENTI_CALL_RUNNING && !r->cancelled) {
        r->cancelled = 1;
        agenti_result_event(s, AGENT_EV_TOOL_CANCEL, r);
        return AGENTI_PUMP_EVENT;
    }
    if (r->state == AGENTI_CALL_WAITING || r->state == AGENTI_CALL_RUNNING) {
        agenti_text_scrub(&r->text);
        if (r->text.n == 0) agenti_text_static(&r->text, &s->e->graves, "Cancelled by the user.");
        agenti_result_done(s, r, AGENT_DONE_CANCELLED);
        return AGENTI_AGAIN;
    }
    return AGENTI_PUMP_NONE;
}
static int agenti_tools(agenti_session *s)
{
    agenti_msg *m = s->answer.results;
    agenti_part *first = NULL, *waiting = NULL;
    uint32_t i, open = 0, running = 0, serial = 0;
    for (i = 0; i < m->n; i++) {
        agenti_part *r = &m->parts[i];
        int rc = s->cancelling ? agenti_tool_cancel(s, r) : AGENTI_PUMP_NONE;
        if (rc == AGENTI_PUMP_EVENT) return rc;
        if (r->retitled && r->state == AGENTI_CALL_RUNNING) {
            r->retitled = 0;
            agenti_result_event(s, AGENT_EV_TOOL_UPDATE, r);
            return AGENTI_PUMP_EVENT;
        }
        open += r->state != AGENTI_CALL_SETTLED;
        if (r->state == AGENTI_CALL_DONE && (first == NULL || r->order < first->order)) first = r;
        if (r->state == AGENTI_CALL_WAITING && waiting == NULL) waiting = r;
        if (r->state == AGENTI_CALL_RUNNING) {
            running++;
            serial |= s->tools.p[r->tool].flags & AGENT_TF_SERIAL;
        }
    }
    if (first) return agenti_tool_report(s, first);
    if (open == 0) { s->state = AGENTI_S_RESULTS_ADD; return AGENTI_AGAIN; }
    if (waiting == NULL || running >= s->parallel || serial) return AGENTI_PUMP_NONE;
    if (running && (s->tools.p[waiting->tool].flags & AGENT_TF_SERIAL)) return AGENTI_PUMP_NONE;
    return agenti_tool_start(s, waiting);
}
static int agenti_results_add(agenti_session *s)
{
    agenti_msg *m = s->answer.results;
    s->state = AGENTI_S_RESULTS_END;
    m->id = ++s->nums.msg;
    m->run = s->nums.run;
    m->ended = 1;
    agenti_table_add(&s->table, m);           /* the room was made with the model's message                             */
    return agenti_msg_event(s, AGENT_EV_MSG_ADD, m);
}

/* ---- the course of a run ---- */
static int agenti_run_start(agenti_session *s)
{
    agenti_item *it = s->first;
    if (it == NULL) return AGENTI_PUMP_NONE;
    s->first = it->next;
    if (s->first == NULL) s->last = NULL;
    s->item = it;
    s->running = 1;
    s->nums.run++;
    s->steps = s->order = 0;
    s->outcome = AGENT_COMPLETED;
    s->finish = AGENT_FINISH_NONE;
    s->closing = s->failed = s->cancelling = 0;
    s->usage.input = s->usage.cached = s->usage.cache_write = s->usage.output = s->usage.reasoning = -1;
    agenti_answer_begin(s);
    s->state = AGENTI_S_TAKE;
    agenti_session_event(s, AGENT_EV_RUN_START);
    return AGENTI_PUMP_EVENT;
}
static int agenti_take(agenti_session *s)
{
    s->state = AGENTI_S_USER_ADD;
    return s->item->told ? agenti_queued_event(s, s->item, AGENT_QUEUED_DELIVERED) : AGENTI_AGAIN;
}
static int agenti_user_add(agenti_session *s)
{
    agenti_msg *m = s->item->msg;
    uint32_t i;
    if (m && !agenti_table_room(&s->table, 1)) {              /* the message goes back to the host                      */
        agenti_run_fault(s, AGENT_FAULT_NOMEM, 0, "out of memory for the message");
        s->state = AGENTI_S_FAULT;
        return agenti_queued_event(s, s->item, AGENT_QUEUED_RETURNED);
    }
    s->state = m ? AGENTI_S_USER_END : AGENTI_S_STEP;
    s->item->msg = NULL;
    agenti_item_free(s, s->item);
    s->item = NULL;
    if (m == NULL) return AGENTI_AGAIN;
    m->id = ++s->nums.msg;
    m->run = s->nums.run;
    for (i = 0; i < m->n; i++) m->parts[i].id = ++s->nums.part;
    agenti_waits_end(s);
    agenti_table_add(&s->table, m);
    return agenti_msg_event(s, AGENT_EV_MSG_ADD, m);
}
static int agenti_step_start(agenti_session *s)
{
    if (s->cancelling) { s->state = AGENTI_S_RETURN; return AGENTI_AGAIN; }
    s->steps++;
    s->nums.step++;
    s->key_asked = s->key_spent = 0;
    s->closing = s->max_steps > 1 && s->steps == s->max_steps;
    if (s->closing && s->table.msgs[s->table.n - 1]->role == AGENT_MODEL) agenti_waits_end(s);     /* the note is the user's */
    agenti_tools_swap(s);
    agenti_answer_begin(s);
    s->state = AGENTI_S_SEND;
    agenti_session_event(s, AGENT_EV_STEP_START)->name = agenti_text_view(&s->options[AGENTI_OPT_MODEL]);
    return AGENTI_PUMP_EVENT;
}
static int agenti_step_end(agenti_session *s)
{
    agent_event *ev = agenti_sign(s, agenti_answer_step_end(&s->answer));
    s->state = AGENTI_S_FAULT;
    if (s->cancelling) ev->u.end.outcome = AGENT_CANCELLED;
    else if (s->answer.d.fault.fault) ev->u.end.outcome = AGENT_FAILED;
    if (s->cancelling && !s->answer.d.finish) ev->u.end.finish = AGENT_FINISH_NONE;
    ev->u.end.steps = s->steps;
    return AGENTI_PUMP_EVENT;
}
static int agenti_fault_state(agenti_session *s)
{
    s->state = AGENTI_S_NEXT;
    agenti_item_free(s, s->item);
    s->item = NULL;
    if (s->answer.d.fault.fault == AGENT_FAULT_NONE || s->cancelling) return AGENTI_AGAIN;
    s->failed = 1;
    agenti_sign(s, agenti_answer_error(&s->answer, AGENT_SCOPE_RUN));
    return AGENTI_PUMP_EVENT;
}
static int agenti_next_step(agenti_session *s)
{
    s->state = AGENTI_S_RETURN;
    if (s->failed) s->outcome = AGENT_FAILED;                /* ERROR was shown: no cancel changes that                 */
    else if (s->cancelling) s->outcome = AGENT_CANCELLED;
    else if (s->closing) s->outcome = AGENT_LIMITED;
    else if (s->answer.results == NULL && !s->answer.d.paused) s->outcome = AGENT_COMPLETED;
    else if (s->steps >= s->max_steps) s->outcome = AGENT_LIMITED;
    else s->state = AGENTI_S_STEP;
    return AGENTI_AGAIN;
}
/* After a cancel what waited then goes back to the host.                                                               */
static int agenti_return(agenti_session *s)
{
    agenti_item *it = s->first;
    if (it == NULL || !it->back) {
        s->state = s->running ? AGENTI_S_RUN_END : AGENTI_S_IDLE;
        s->cancelling = s->cancelling && s->running;
        return AGENTI_AGAIN;
    }
    s->first = it->next;
    if (s->first == NULL) s->last = NULL;
    agenti_queued_event(s, it, AGENT_QUEUED_RETURNED);
    agenti_item_free(s, it);
    return AGENTI_PUMP_EVENT;
}
static int agenti_run_end(agenti_session *s)
{
    agent_event *ev = agenti_session_event(s, AGENT_EV_RUN_END);
    s->state = AGENTI_S_IDLE;
    s->running = s->cancelling = 0;
    s->e->ev_usage = s->usage;
    memcpy(s->e->ev_raw, s->answer.d.finish_raw, sizeof s->e->ev_raw);
    ev->u.end.outcome = s->outcome;
    ev->u.end.finish = s->finish;
    ev->u.end.steps = s->steps;
    ev->u.end.raw = agenti_cstr(s->e->ev_raw);
    ev->u.end.usage = &s->e->ev_usage;
    ev->u.end.model = ev->u.end.request_id = ev->u.end.headers = agenti_str(NULL, 0);
    agenti_answer_begin(s);                   /* lets go of what the answer held                                        */
    return AGENTI_PUMP_EVENT;
}
static void agenti_cancel_take(agenti_session *s)
{
    s->cancel = 0;
    s->cancelling = 1;
    if (s->state == AGENTI_S_IDLE) { s->state = AGENTI_S_RETURN; return; }
    if (!s->failed) s->outcome = AGENT_CANCELLED;
    if (s->state != AGENTI_S_ANSWER && s->state != AGENTI_S_JUDGE) return;
    if (s->conn) agenti_conn_abort(s->conn);
    s->conn = NULL;
    agenti_answer_drop(&s->answer);
    agenti_usage_take(s);
    s->finish = s->answer.d.finish;
    s->state = AGENTI_S_PARTS;
}
static int agenti_turn(agenti_session *s)
{
    switch (s->state) {
    case AGENTI_S_IDLE: return agenti_run_start(s);
    case AGENTI_S_TAKE: return agenti_take(s);
    case AGENTI_S_USER_ADD: return agenti_user_add(s);
    case AGENTI_S_USER_END:
        s->state = AGENTI_S_STEP;
        return agenti_msg_event(s, AGENT_EV_MSG_END, s->table.msgs[s->table.n - 1]);
    case AGENTI_S_STEP: return agenti_step_start(s);
    case AGENTI_S_SEND: return agenti_step_send(s);
    case AGENTI_S_ANSWER: return agenti_answer_wait(s);
    case AGENTI_S_JUDGE: return agenti_judge(s);
    case AGENTI_S_PARTS: return agenti_close_parts(s);
    case AGENTI_S_MODEL_END: return agenti_model_end(s);
    case AGENTI_S_TOOLS: return agenti_tools(s);
    case AGENTI_S_RESULTS_ADD: return agenti_results_add(s);
    case AGENTI_S_RESULTS_END:
        s->state = AGENTI_S_STEP_END;
        return agenti_msg_event(s, AGENT_EV_MSG_END, s->answer.results);
    case AGENTI_S_STEP_END: return agenti_step_end(s);
    case AGENTI_S_FAULT: return agenti_fault_state(s);
    case AGENTI_S_NEXT: return agenti_next_step(s);
    case AGENTI_S_RETURN: return agenti_return(s);
    default: return agenti_run_end(s);
    }
}
static int agenti_queue_news(agenti_session *s)
{
    agenti_item *it = s->untold;
    s->untold = it->next;                     /* whatever came behind it waits as well                                  */
    it->told = 1;
    return agenti_queued_event(s, it, AGENT_QUEUED_ADDED);
}
AGENTI_FN int agenti_session_pump(agenti_session *s)
{
    int rc = AGENTI_AGAIN;
    if (s->closed) { agenti_session_free(s); return AGENTI_PUMP_GONE; }
    if (s->untold) return agenti_queue_news(s);              /* before any item leaves the queue                        */
    if (s->news || s->export_left) {
        rc = agenti_import_news(s);
        if (rc != AGENTI_AGAIN) return rc;
    }
    if (s->cancel) agenti_cancel_take(s);
    while (rc == AGENTI_AGAIN) rc = agenti_turn(s);
    return rc;
}
#endif

/* ==== convert.c: requests in, and out in any wire format ========================================================== */
/* Conversations in and out of a session: a request body of any format becomes its table, and its table such a body. */
#if !defined AGENTI_SPLIT || defined AGENTI_PART_CONVERT
/* ---- in ---- */
/* What is wrong is said where the caller sees it; a failure without a reason is the allocator's.                       */
static int agenti_import_fault(agent_engine *e, const agenti_import *im, agent_str json, agent_json_error *err)
{
    if (im->why == NULL) return agenti_say(e, AGENT_E_NOMEM, "out of memory");
    if (err) {
        err->offset = im->at >= json.p && im->at <= json.p + json.n ? (size_t)(im->at - json.p) : 0;
        err->why = im->why;
    }
    return agenti_say(e, im->limit ? AGENT_E_LIMIT : AGENT_E_ARG, im->why);
}
/* The tools of another format that the peer's requests can have: functions, not as they were declared.                 */
static int agenti_tools_convert(agenti_session *s, const agenti_import *im, agenti_toolset *to)
{
    uint32_t i;
    to->p = im->tool_n ? (agenti_tool *)agenti_get(&s->pool, im->tool_n * sizeof *to->p) : NULL;
    to->n = to->p ? im->tool_n : 0;
    if (im->tool_n && to->p == NULL) return 0;
    for (i = 0, to->n = 0; i < im->tool_n; i++) {
        const agenti_tool *t = &im->tools[i];
        agenti_tool *q = &to->p[to->n];
        if (t->flags & AGENT_TF_RAW) continue;
        to->n++;
        if (!agenti_text_set(&q->name, &s->pool, NULL, agenti_text_view(&t->name)) || !agenti_text_set(&q->schema, &s->pool, NULL, agenti_text_view(&t->schema))
            || (t->description.n && !agenti_text_set(&q->description, &s->pool, NULL, agenti_text_view(&t->description)))) return 0;
    }
    if (to->n == im->tool_n) return 1;
    if (to->n == 0) {
        agenti_put(&s->pool, to->p, im->tool_n * sizeof *to->p);
        to->p = NULL;
        return 1;
    }
    {   /* the size of the list is what it is freed with */
        agenti_tool *p = (agenti_tool *)agenti_resize(&s->pool, to->p, im->tool_n * sizeof *p, to->n * sizeof *p);
        if (p) to->p = p;
        return p != NULL;
    }
}
/* Lists of an import are as long as they have to be, no memory is needed then.                                         */
static int agenti_import_trim(agenti_import *im)
{
    agenti_tool *t = im->tools;
    agenti_kept *k = im->kept;
    if (im->tool_n < im->tool_cap && im->tool_n) {
        if ((t = (agenti_tool *)agenti_resize(im->pool, t, im->tool_cap * sizeof *t, im->tool_n * sizeof *t)) == NULL) return 0;
        im->tools = t;
        im->tool_cap = im->tool_n;
    }
    if (im->kept_n < im->kept_cap && im->kept_n) {
        if ((k = (agenti_kept *)agenti_resize(im->pool, k, im->kept_cap * sizeof *k, im->kept_n * sizeof *k)) == NULL) return 0;
        im->kept = k;
        im->kept_cap = im->kept_n;
    }
    return 1;
}
static void agenti_import_number(agenti_session *s, uint32_t model)
{
    size_t i;
    uint32_t k;
    for (i = 0; i < s->table.n; i++) {
        agenti_msg *m = s->table.msgs[i];
        m->id = ++s->nums.msg;
        m->model = model;
        for (k = 0; k < m->n; k++) {
            agenti_part *p = &m->parts[k];
            p->id = ++s->nums.part;
            if (p->kind == AGENT_PART_CALL) p->call = ++s->nums.call;
            if (p->kind == AGENT_PART_RESULT && i) p->call = s->table.msgs[i - 1]->parts[p->key].call;
        }
    }
}
/* All that was read becomes the session's; nothing can fail any more.                                                  */
static void agenti_import_commit(agenti_session *s, agenti_import *im, agenti_toolset *converted, agenti_text *system_raw)
{
    agenti_blob **graves = &s->e->graves;
    uint32_t own = !im->foreign, i;
    agenti_kept_free(s);
    for (i = 0; i < AGENTI_OPT_COUNT; i++) {
        if (!(im->given & AGENTI_BIT(i)) || (i == AGENTI_OPT_MODEL && !own)) continue;
        if (i == AGENTI_OPT_MODEL && !agenti_same(agenti_text_view(&s->options[i]), agenti_text_view(&im->options[i]))) s->model++;
        agenti_text_free(&s->options[i], graves);
        s->options[i] = im->options[i];
        memset(&im->options[i], 0, sizeof im->options[i]);
        s->told_out &= ~AGENTI_BIT(i);
        if (i == AGENTI_OPT_TOOL_CHOICE) s->choice_spent = 0;
    }
    if (im->tools_given) {
        agenti_toolset all;
        all.p = im->tool_n ? im->tools : NULL;
        all.n = im->tool_n;
        if (im->tool_n) { im->tools = NULL; im->tool_n = im->tool_cap = 0; }
        agenti_toolset_free(s, &s->next_tools);
        s->next_tools = own ? all : *converted;
        if (!own) s->foreign = all;
        memset(converted, 0, sizeof *converted);
        s->new_tools = 1;
    }
    agenti_table_free(&s->table, graves);
    s->table = im->table;
    memset(&im->table, 0, sizeof im->table);
    im->table.pool = im->pool;
    agenti_import_number(s, own ? s->model : (uint32_t)AGENTI_MODEL_IMPORT);
    if (im->kept_n) {
        s->kept = im->kept;
        s->kept_n = im->kept_n;
        im->kept = NULL;
        im->kept_n = im->kept_cap = 0;
    }
    s->system_raw = *system_raw;
    s->lost = im->lost;
    memset(&im->lost, 0, sizeof im->lost);
    memset(system_raw, 0, sizeof *system_raw);
    for (i = 0; i < s->kept_n; i++) {
        if (!own && agenti_eq(agenti_text_view(&s->kept[i].key), "model")) s->kept[i].options = AGENTI_IM_TAKEN;      /* no option of this session's */
        s->kept[i].told = own || s->kept[i].options != 0;
    }
    s->imported = im->wire;
    s->old_log = 1;
    s->news = 1;
    if (im->stream >= 0) s->flags = im->stream ? s->flags & ~(uint32_t)AGENT_S_NO_STREAM : s->flags | AGENT_S_NO_STREAM;
    agenti_wake(&s->e->sessions, &s->ready);
}
static int agenti_import_take(agenti_session *s, agenti_import *im, agent_str json)
{
    agenti_toolset converted;
    agenti_text system_raw;
    int ok;
    memset(&converted, 0, sizeof converted);
    memset(&system_raw, 0, sizeof system_raw);
    ok = im->wire->import(im, json) && agenti_import_trim(im) && (!im->foreign || agenti_tools_convert(s, im, &converted));
    if (ok && im->system_raw.n) ok = agenti_text_set(&system_raw, &s->pool, NULL, agenti_str(im->system_raw.p, im->system_raw.n))
        && agenti_text_repair(&system_raw, &s->pool, NULL);
    if (ok) agenti_import_commit(s, im, &converted, &system_raw);
    agenti_text_free(&system_raw, NULL);
    agenti_toolset_free(s, &converted);
    return ok;
}
static AGENTI_NOINLINE int agenti_import_run(agenti_session *s, const agenti_wire *w, agent_str json, agent_json_error *err)
{
    agenti_import *im = (agenti_import *)agenti_get(&s->pool, sizeof *im);
    agent_engine *e = s->e;
    int rc = AGENT_OK;
    if (im == NULL) return agenti_no_memory(e);
    im->pool = im->table.pool = im->arena.pool = &s->pool;
    im->wire = w;
    im->foreign = w != s->peer->wire;
    im->dialect = im->foreign ? 0 : s->peer->dialect;
    im->call_limit = e->lim.calls_per_step;
    im->item_limit = e->lim.item;
    im->stream = -1;
    im->streams = !(s->flags & AGENT_S_NO_STREAM);
    agenti_buf_init(&im->system, &s->pool);
    agenti_buf_init(&im->system_raw, &s->pool);
    if (!agenti_import_take(s, im, json)) rc = agenti_import_fault(e, im, json, err);
    agenti_import_free(im);
    agenti_put(&s->pool, im, sizeof *im);
    return rc;
}
AGENTDEF int agent_import(agent_engine *e, agent_id id, const char *wire, const char *json, size_t n, agent_json_error *err)
{
    agenti_session *s = agenti_session_get(e, id);
    const agenti_wire *w = agenti_wire_find(agenti_cstr(wire));
    agent_json_error none;
    agent_str body;
    int rc;
    if (err == NULL) err = &none;
    err->offset = 0;
    err->why = "";
    if (s == NULL) return agenti_stale_session(e);
    if (s->state != AGENTI_S_IDLE || s->first) return agenti_say(e, AGENT_E_STATE, "a run is going on");
    if (s->table.n) return agenti_say(e, AGENT_E_STATE, "the session has messages");
    if (w == NULL || w->import == NULL) return agenti_say(e, AGENT_E_ARG, err->why = "requests of this wire format are not read");
    body = agenti_str(json, agenti_len(json, n));
    AGENTI_TOUCH(body.n);
    if ((rc = agent_json_check(body.p, body.n, e->lim.depth, err)) != AGENT_OK) return agenti_say(e, rc, err->why);
    body = agenti_trim(body);
    rc = agenti_is_object(body) || agenti_is_array(body) ? agenti_import_run(s, w, body, err)
       : agenti_say(e, AGENT_E_ARG, err->why = "a request is an object, or a list of messages");
    if (rc == AGENT_E_NOMEM) err->why = "out of memory";
    if (rc != AGENT_OK && rc != AGENT_E_NOMEM) err->offset += (size_t)(body.p - json);
    return rc;
}

/* ---- out ---- */
/* Tools for another format than the peer's: what the provider defines stays out, functions are not as an import declared them. */
static int agenti_export_tools(agenti_session *s, agenti_request *r, agenti_tool **made, size_t *cap)
{
    const agenti_toolset *set = s->new_tools ? &s->next_tools : &s->tools;
    size_t i;
    *made = NULL;
    *cap = 0;
    if (r->wire == s->imported && s->foreign.n) set = &s->foreign;
    r->tools = set->p;
    r->tool_count = set->n;
    if (r->wire == s->peer->wire || set == &s->foreign || set->n == 0) return 1;
    if ((*made = (agenti_tool *)agenti_get(&s->pool, set->n * sizeof **made)) == NULL) return 0;
    *cap = set->n;
    for (i = 0, r->tool_count = 0; i < set->n; i++) {
        if (set->p[i].flags & AGENT_TF_RAW) { r->left_out |= AGENTI_BIT(AGENTI_LEFT_TOOLS); continue; }
        (*made)[r->tool_count] = set->p[i];
        memset(&(*made)[r->tool_count++].raw, 0, sizeof (*made)->raw);
    }
    r->tools = *made;
    return 1;
}
static void agenti_export_request(agenti_session *s, const agenti_wire *w, agenti_request *r)
{
    int option, own = w == s->peer->wire;
    memset(r, 0, sizeof *r);
    r->wire = w;
    r->options = s->options;
    r->dialect = own ? s->peer->dialect : 0;
    r->model = own ? s->model : w == s->imported ? (uint32_t)AGENTI_MODEL_IMPORT : (uint32_t)AGENTI_MODEL_IMPORT + 1;
    r->stream = !(s->flags & AGENT_S_NO_STREAM);
    r->choice_off = s->choice_spent;
    r->system_raw = w == s->imported ? agenti_text_view(&s->system_raw) : agenti_str(NULL, 0);
    for (option = 0; option < AGENTI_OPT_COUNT; option++)
        if (s->options[option].n && (w->lacks & AGENTI_BIT(option))) r->left_out |= AGENTI_BIT(option);
}
static int agenti_export_body(agenti_session *s, agenti_request *r, agenti_buf *b)
{
    const agenti_wire *w = r->wire;
    size_t i;
    w->head(b, r);
    if (w->system && (s->options[AGENTI_OPT_SYSTEM].n || r->system_raw.n)) w->system(b, r, agenti_text_view(&s->options[AGENTI_OPT_SYSTEM]));
    for (i = 0; i < s->table.n; i++) {
        r->before = i ? s->table.msgs[i - 1] : NULL;
        agenti_message_out(b, r, s->table.msgs[i]);
    }
    w->tail(b, r);
    if (r->tool_count) w->tools(b, r);
    w->end(b, r);
    return !b->bad;
}
/* What an export of that format leaves out of what another format's import kept is told again.                          */
static void agenti_export_told(agenti_session *s, const agenti_request *r)
{
    uint32_t i;
    s->export_left |= r->left_out;
    for (i = 0; s->imported && s->imported != r->wire && i < s->kept_n; i++) if (!s->kept[i].gone && s->kept[i].options == 0) {
        s->kept[i].told = 0;
        s->news = 1;
    }
    if (s->export_left || s->news) agenti_wake(&s->e->sessions, &s->ready);
}
static AGENTI_NOINLINE int agenti_export_run(agenti_session *s, const agenti_wire *w, agent_str *out)
{
    agenti_request r;
    agenti_buf extra, b;
    agenti_tool *made;
    agenti_text text;
    size_t cap;
    int ok;
    agenti_export_request(s, w, &r);
    agenti_buf_init(&extra, &s->pool);
    agenti_buf_init(&b, &s->pool);
    memset(&text, 0, sizeof text);
    agenti_kept_out(s, w, &extra);
    ok = agenti_export_tools(s, &r, &made, &cap) && !extra.bad;
    r.extra = agenti_str(extra.p, extra.n);
    ok = ok && agenti_export_body(s, &r, &b) && agenti_text_set(&text, &s->pool, &s->e->graves, agenti_str(b.p, b.n));
    agenti_buf_free(&extra);
    agenti_buf_free(&b);
    agenti_put(&s->pool, made, cap * sizeof *made);
    if (!ok) return agenti_no_memory(s->e);
    agenti_export_told(s, &r);
    *out = agenti_text_view(&text);
    agenti_text_free(&text, &s->e->graves);   /* at the next agent_next                                                  */
    return AGENT_OK;
}
AGENTDEF int agent_export(agent_engine *e, agent_id id, const char *wire, agent_str *out)
{
    agenti_session *s = agenti_session_get(e, id);
    const agenti_wire *w = agenti_wire_find(agenti_cstr(wire));
    if (s == NULL) return agenti_stale_session(e);
    if (out == NULL || w == NULL || w->head == NULL) return agenti_say(e, AGENT_E_ARG, "no requests are made in this wire format");
    if (s->state != AGENTI_S_IDLE || s->first) return agenti_say(e, AGENT_E_STATE, "a run is going on");
    return agenti_export_run(s, w, out);
}
#endif

/* ==== pump.c: open, close, time, agent_next ======================================================================= */
/* The engine from outside: open, close, time, and the one function that parses and makes events. */
#if !defined AGENTI_SPLIT || defined AGENTI_PART_PUMP
static int agenti_limits_fill(agent_limits *l)
{
    l->recv = agenti_limit(l->recv, 65536);
    l->piece = agenti_limit(l->piece, 8192);
    l->item = agenti_limit(l->item, 8u << 20);
    l->head = agenti_limit(l->head, 65536);
    l->depth = agenti_limit(l->depth, 64);
    l->calls_per_step = agenti_limit(l->calls_per_step, 128);
    l->scan_per_next = agenti_limit(l->scan_per_next, 65536);
    if (l->sessions == 0 || l->sessions == AGENT_OFF) l->sessions = 65535;
    if (l->conns == 0 || l->conns == AGENT_OFF) l->conns = 65535;
    if (l->peers == 0 || l->peers == AGENT_OFF) l->peers = 65535;
    if (l->depth == AGENT_OFF) l->depth = 64;
    return l->recv >= 512 && l->piece >= 16 && l->depth <= 64 && l->sessions <= 65535 && l->conns <= 65535 && l->peers <= 65535;
}
AGENTDEF int agent_open_abi(agent_engine **out, const agent_desc *d, uint32_t abi, size_t event_size)
{
    agenti_pool pool;
    agent_limits lim;
    agent_engine *e;
    if (out) *out = NULL;
    if (out == NULL || d == NULL || abi != AGENT_ABI || event_size != sizeof(agent_event)) return AGENT_E_ARG;
    lim = d->limits;
    if (!agenti_limits_fill(&lim)) return AGENT_E_ARG;
    agenti_pool_child(&pool, NULL, agenti_mem_limit(d->mem_limit));
    pool.alloc = d->alloc;
    pool.ctx = d->alloc_ctx;
    if (d->block && !agenti_heap_init(&pool.heap, d->block, d->block_size)) return AGENT_E_ARG;
#if defined AGENT_NO_MALLOC && !defined AGENT_REALLOC
    if (d->block == NULL && d->alloc == NULL) return AGENT_E_ARG;
#endif
    if ((e = (agent_engine *)agenti_get(&pool, sizeof *e)) == NULL) return AGENT_E_NOMEM;
    e->pool = pool;
    e->lim = lim;
    e->rows = d->providers;
    e->row_count = d->provider_count;
    e->seed = d->seed;
    e->sessions.next = e->sessions.prev = &e->sessions;
    e->conns.next = e->conns.prev = &e->conns;
    *out = e;
    return AGENT_OK;
}
AGENTDEF void agent_close(agent_engine *e)
{
    agenti_pool pool;
    uint32_t i, kind;
    if (e == NULL) return;
    agenti_bury_all(&e->graves);              /* what the last event points to is nobody's any more                      */
    while (e->sessions.next != &e->sessions) {                /* closed sessions have no handle any more                */
        agenti_ready *r = e->sessions.next;
        agenti_sleep(r);
        if (r->kind == AGENTI_SESSION && ((agenti_session *)r->owner)->closed) agenti_session_free((agenti_session *)r->owner);
    }
    for (i = 0; i < e->slots[AGENTI_SESSION].n; i++)
        if (e->slots[AGENTI_SESSION].p[i].p) agenti_session_free((agenti_session *)e->slots[AGENTI_SESSION].p[i].p);
    for (i = 0; i < e->slots[AGENTI_PEER].n; i++)
        if (e->slots[AGENTI_PEER].p[i].p) agenti_listings_drop((agenti_peer *)e->slots[AGENTI_PEER].p[i].p);
    for (i = 0; i < e->slots[AGENTI_CONN].n; i++)
        if (e->slots[AGENTI_CONN].p[i].p) agenti_conn_free((agenti_conn *)e->slots[AGENTI_CONN].p[i].p);
    while (e->pinned_first) agenti_conn_unpin(e->pinned_first);
    for (i = 0; i < e->slots[AGENTI_PEER].n; i++)
        if (e->slots[AGENTI_PEER].p[i].p) agenti_peer_free((agenti_peer *)e->slots[AGENTI_PEER].p[i].p);
    agenti_bury_all(&e->graves);
    for (kind = 1; kind < 4; kind++) agenti_put(&e->pool, e->slots[kind].p, e->slots[kind].cap * sizeof *e->slots[kind].p);
    pool = e->pool;
    agenti_put(&pool, e, sizeof *e);
}
/* Its connections lose it: idle and draining ones close.                                                               */
AGENTDEF int agent_peer_close(agent_engine *e, agent_id id)
{
    agenti_peer *p = agenti_peer_get(e, id);
    uint32_t i;
    if (p == NULL) return agenti_say(e, AGENT_E_STALE, "no such peer");
    if (p->sessions) return agenti_say(e, AGENT_E_STATE, "sessions use this peer");
    agenti_listings_drop(p);
    for (i = 0; i < e->slots[AGENTI_CONN].n; i++) {
        agenti_conn *c = (agenti_conn *)e->slots[AGENTI_CONN].p[i].p;
        if (c && c->peer == p) agenti_conn_orphan(c);
    }
    agenti_peer_free(p);
    return AGENT_OK;
}
AGENTDEF int agent_tick(agent_engine *e, uint64_t mono_ms, uint64_t wall_ms)
{
    if (mono_ms < e->now) return agenti_say(e, AGENT_E_ARG, "the monotonic clock runs backwards");
    e->now = mono_ms;
    e->wall = wall_ms;
    return AGENT_OK;
}
AGENTDEF uint64_t agent_deadline(const agent_engine *e)
{
    if (e->sessions.next != &e->sessions || e->conns.next != &e->conns) return e->now;
    return e->drain_first ? e->drain_first->drain_until : UINT64_MAX;
}
AGENTDEF int agent_memory(const agent_engine *e, agent_id id, size_t *now, size_t *peak)
{
    const agenti_session *s = id ? agenti_session_get(e, id) : NULL;
    const agenti_pool *pool = s ? &s->pool : &e->pool;
    if (id && s == NULL) return AGENT_E_STALE;
    if (now) *now = pool->now;
    if (peak) *peak = pool->peak;
    return AGENT_OK;
}
/* One turn of whoever has work; it goes to the end of its ring first, so that all get their turn.                      */
static int agenti_pump_session(agent_engine *e)
{
    agenti_ready *r = e->sessions.next;
    int rc;
    agenti_sleep(r);
    agenti_wake(&e->sessions, r);
    if (r->kind == AGENTI_SESSION) rc = agenti_session_pump((agenti_session *)r->owner);
    else if (r->kind == AGENTI_LISTING) rc = agenti_listing_pump((agenti_listing *)r->owner);
    else rc = r->kind == AGENTI_PEER ? agenti_peer_pump((agenti_peer *)r->owner) : agenti_decode_pump((agenti_decode *)r->owner);
    if (rc == AGENTI_PUMP_NONE) agenti_sleep(r);
    return rc == AGENTI_PUMP_EVENT;
}
static int agenti_pump_conn(agent_engine *e)
{
    agenti_ready *r = e->conns.next;
    int rc;
    if (r->next != &e->conns) {               /* not alone                                                              */
        agenti_sleep(r);
        agenti_wake(&e->conns, r);
    }
    if ((rc = agenti_conn_pump((agenti_conn *)r->owner)) != 0) return rc > 0;
    if (e->scanned < e->lim.scan_per_next) agenti_sleep(r);
    return 0;
}
AGENTDEF const agent_event *agent_next(agent_engine *e)
{
    agenti_bury_all(&e->graves);
    e->scanned = 0;
    agenti_conn_time(e);
    for (;;) {
        if (e->sessions.next != &e->sessions) {
            if (agenti_pump_session(e)) return &e->ev;
        } else if (e->conns.next == &e->conns || e->scanned >= e->lim.scan_per_next) return NULL;
        else if (agenti_pump_conn(e)) return &e->ev;
    }
}
#endif

/* ==== print.c: events as JSON and as copies ======================================================================= */
/* Events as text and as copies. The JSON of an event is for logs, tests and bug reports: its members are the event's fields. */
#if !defined AGENTI_SPLIT || defined AGENTI_PART_PRINT
typedef struct agenti_print { char *p; size_t n, cap; } agenti_print;         /* counts on when the room is used up     */

AGENTDEF const char *agent_event_name(int type)
{
    switch (type) {
#define AGENTI_X(n, k) case AGENT_EV_##n: return #n;
    AGENT_EVENTS(AGENTI_X)
#undef AGENTI_X
    default: return "?";
    }
}
static void agenti_print_add(agenti_print *o, const char *p, size_t n)
{
    if (o->n < o->cap) memcpy(o->p + o->n, p, n < o->cap - o->n ? n : o->cap - o->n);
    o->n += n;
}
static void agenti_print_cstr(agenti_print *o, const char *p) { agenti_print_add(o, p, strlen(p)); }
static void agenti_print_key(agenti_print *o, const char *key)
{
    agenti_print_cstr(o, o->n > 1 ? ",\"" : "\"");
    agenti_print_cstr(o, key);
    agenti_print_cstr(o, "\":");
}
static void agenti_print_str(agenti_print *o, const char *key, agent_str s)
{
    size_t room = o->n < o->cap ? o->cap - o->n : 0;
    agenti_print_key(o, key);
    room = o->n < o->cap ? o->cap - o->n : 0;
    o->n += agent_json_quote(s.p, s.n, room ? o->p + o->n : NULL, room);
}
static void agenti_print_some(agenti_print *o, const char *key, agent_str s) { if (s.n) agenti_print_str(o, key, s); }
static void agenti_print_i64(agenti_print *o, const char *key, int64_t v)
{
    char number[24];
    agenti_print_key(o, key);
    agenti_print_add(o, number, agenti_i64_text(v, number));
}
static void agenti_print_num(agenti_print *o, const char *key, uint64_t v)    /* 0: left out                            */
{
    char number[24];
    if (v == 0) return;
    agenti_print_key(o, key);
    agenti_print_add(o, number, agenti_u64_text(v, number));
}
static void agenti_print_usage(agenti_print *o, const agent_usage *u)
{
    if (u == NULL) return;
    if (u->input >= 0) agenti_print_i64(o, "input", u->input);
    if (u->cached >= 0) agenti_print_i64(o, "cached", u->cached);
    if (u->cache_write >= 0) agenti_print_i64(o, "cache_write", u->cache_write);
    if (u->output >= 0) agenti_print_i64(o, "output", u->output);
    if (u->reasoning >= 0) agenti_print_i64(o, "reasoning", u->reasoning);
}
static void agenti_print_end(agenti_print *o, const agent_event *ev)
{
    agenti_print_i64(o, "outcome", ev->u.end.outcome);
    agenti_print_i64(o, "finish", ev->u.end.finish);
    agenti_print_num(o, "steps", ev->u.end.steps);
    agenti_print_some(o, "raw", ev->u.end.raw);
    agenti_print_some(o, "model", ev->u.end.model);
    agenti_print_some(o, "request_id", ev->u.end.request_id);
    agenti_print_some(o, "headers", ev->u.end.headers);
    agenti_print_usage(o, ev->u.end.usage);
}
static void agenti_print_tool(agenti_print *o, const agent_event *ev)
{
    agenti_print_num(o, "by", ev->u.tool.by);
    agenti_print_some(o, "wire_id", ev->u.tool.wire_id);
    agenti_print_some(o, "title", ev->u.tool.title);
    if (ev->type == AGENT_EV_TOOL_RESULT) agenti_print_i64(o, "status", ev->u.tool.status);
}
static void agenti_print_open(agenti_print *o, const agent_event *ev)
{
    agenti_print_str(o, "method", ev->u.open.method);
    agenti_print_str(o, "url", ev->u.open.url);
    agenti_print_str(o, "host", ev->u.open.host);
    agenti_print_num(o, "port", ev->u.open.port);
    agenti_print_num(o, "tls", ev->u.open.tls);
    agenti_print_num(o, "body_len", ev->u.open.body_len);
}
static void agenti_print_error(agenti_print *o, const agent_event *ev)
{
    agenti_print_i64(o, "fault", ev->u.error.fault);
    agenti_print_num(o, "http_status", (uint64_t)(ev->u.error.http_status > 0 ? ev->u.error.http_status : 0));
    agenti_print_i64(o, "retryable", ev->u.error.retryable);
    agenti_print_num(o, "offset", ev->u.error.offset);
    if (ev->u.error.retry_after_ms >= 0) agenti_print_i64(o, "retry_after_ms", ev->u.error.retry_after_ms);
    agenti_print_some(o, "request_id", ev->u.error.request_id);
}
static void agenti_print_more(agenti_print *o, const agent_event *ev)         /* what the type adds                     */
{
    switch (ev->type) {
    case AGENT_EV_OPEN: case AGENT_EV_SIGN: agenti_print_open(o, ev); break;
    case AGENT_EV_CREDENTIAL: agenti_print_i64(o, "why", ev->u.credential.why); break;
    case AGENT_EV_CLOSE: agenti_print_i64(o, "why", ev->u.io.why); break;
    case AGENT_EV_RUN_END: case AGENT_EV_STEP_END: agenti_print_end(o, ev); break;
    case AGENT_EV_FILE_START: case AGENT_EV_FILE_DELTA: case AGENT_EV_FILE_END:
        agenti_print_num(o, "kind", ev->u.file.kind);
        agenti_print_some(o, "mime", ev->u.file.mime);
        agenti_print_some(o, "uri", ev->u.file.uri);
        break;
    case AGENT_EV_MSG_ADD: case AGENT_EV_MSG_END: agenti_print_i64(o, "role", ev->u.msg.role); break;
    case AGENT_EV_INPUT_START: case AGENT_EV_INPUT_DELTA: case AGENT_EV_INPUT_END: case AGENT_EV_TOOL_CALL: case AGENT_EV_TOOL_RUN:
    case AGENT_EV_TOOL_UPDATE: case AGENT_EV_TOOL_CANCEL: case AGENT_EV_TOOL_RESULT: agenti_print_tool(o, ev); break;
    case AGENT_EV_QUEUED:
        agenti_print_num(o, "item", ev->u.queued.item);
        agenti_print_i64(o, "op", ev->u.queued.op);
        break;
    case AGENT_EV_ERROR: agenti_print_error(o, ev); break;
    default: break;
    }
}
AGENTDEF size_t agent_event_json(const agent_event *ev, char *buf, size_t cap)
{
    agenti_print o;
    o.p = buf;
    o.n = 0;
    o.cap = cap;
    agenti_print_cstr(&o, "{");
    agenti_print_str(&o, "ev", agenti_cstr(agent_event_name(ev->type)));
    agenti_print_num(&o, "seq", ev->seq);
    agenti_print_num(&o, "flags", ev->flags);
    agenti_print_num(&o, "session", ev->session);
    if (ev->session == 0 && ev->conn == 0) agenti_print_num(&o, "peer", ev->peer);
    agenti_print_num(&o, "conn", ev->conn);
    agenti_print_num(&o, "run", ev->run);
    agenti_print_num(&o, "step", ev->step);
    agenti_print_num(&o, "msg", ev->msg);
    agenti_print_num(&o, "part", ev->part);
    agenti_print_num(&o, "call", ev->call);
    agenti_print_num(&o, "need", ev->need);
    agenti_print_some(&o, "name", ev->name);
    agenti_print_some(&o, "text", ev->text);
    agenti_print_more(&o, ev);
    agenti_print_cstr(&o, "}");
    if (cap) buf[o.n < cap ? o.n : cap - 1] = 0;
    return o.n;
}

/* ---- copies ---- */
static void agenti_copy_str(char *base, size_t *at, size_t cap, agent_str *s, agent_str from)
{
    if (base && *at + from.n + 1 <= cap) {
        memcpy(base + *at, from.p, from.n);
        base[*at + from.n] = 0;
        s->p = base + *at;
    }
    *at += from.n + 1;
}
/* The views of an event by type, in one place. to NULL: only counts.                                                   */
static size_t agenti_copy_strs(const agent_event *ev, agent_event *to, size_t cap)
{
    agent_event none;
    char *base = (char *)to;
    size_t at = sizeof *ev;
    if (to == NULL) to = &none;
    agenti_copy_str(base, &at, cap, &to->text, ev->text);
    agenti_copy_str(base, &at, cap, &to->name, ev->name);
    switch (ev->type) {
    case AGENT_EV_OPEN: case AGENT_EV_SIGN:
        agenti_copy_str(base, &at, cap, &to->u.open.host, ev->u.open.host);
        agenti_copy_str(base, &at, cap, &to->u.open.method, ev->u.open.method);
        agenti_copy_str(base, &at, cap, &to->u.open.url, ev->u.open.url);
        break;
    case AGENT_EV_RUN_END: case AGENT_EV_STEP_END:
        agenti_copy_str(base, &at, cap, &to->u.end.raw, ev->u.end.raw);
        agenti_copy_str(base, &at, cap, &to->u.end.model, ev->u.end.model);
        agenti_copy_str(base, &at, cap, &to->u.end.request_id, ev->u.end.request_id);
        agenti_copy_str(base, &at, cap, &to->u.end.headers, ev->u.end.headers);
        break;
    case AGENT_EV_ERROR: agenti_copy_str(base, &at, cap, &to->u.error.request_id, ev->u.error.request_id); break;
    case AGENT_EV_FILE_START: case AGENT_EV_FILE_DELTA: case AGENT_EV_FILE_END:
        agenti_copy_str(base, &at, cap, &to->u.file.mime, ev->u.file.mime);
        agenti_copy_str(base, &at, cap, &to->u.file.uri, ev->u.file.uri);
        break;
    case AGENT_EV_INPUT_START: case AGENT_EV_INPUT_DELTA: case AGENT_EV_INPUT_END: case AGENT_EV_TOOL_CALL: case AGENT_EV_TOOL_RUN:
    case AGENT_EV_TOOL_UPDATE: case AGENT_EV_TOOL_CANCEL: case AGENT_EV_TOOL_RESULT:
        agenti_copy_str(base, &at, cap, &to->u.tool.wire_id, ev->u.tool.wire_id);
        agenti_copy_str(base, &at, cap, &to->u.tool.title, ev->u.tool.title);
        break;
    default: break;
    }
    return at;
}
AGENTDEF size_t agent_event_copy(const agent_event *ev, void *buf, size_t cap)
{
    agent_event *to = (agent_event *)buf;
    size_t need, usage;
    int ends;
    if (ev == NULL) return 0;
    ends = (ev->type == AGENT_EV_RUN_END || ev->type == AGENT_EV_STEP_END) && ev->u.end.usage;
    usage = (agenti_copy_strs(ev, NULL, 0) + 7) / 8 * 8;
    need = usage + (ends ? sizeof(agent_usage) : 0);
    if (buf == NULL || cap < need) return need;
    *to = *ev;
    agenti_copy_strs(ev, to, cap);
    if (ends) {
        void *u = (char *)buf + usage;
        memcpy(u, ev->u.end.usage, sizeof(agent_usage));
        to->u.end.usage = (const agent_usage *)u;
    }
    return need;
}
#endif
#if defined AGENTI_LEAN && defined __clang__
#pragma clang diagnostic pop
#endif

#ifdef __cplusplus
}
#endif
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#endif /* AGENT_IMPLEMENTATION */

/* LICENCE
agent.h is available under either of two licences; choose the one you prefer.

------------------------------------------------------------------------------
ALTERNATIVE A - MIT No Attribution (MIT-0)

Copyright (c) 2026 agent.h contributors

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.

------------------------------------------------------------------------------
ALTERNATIVE B - Public Domain (www.unlicense.org)

This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute
this software, either in source code form or as a compiled binary, for any
purpose, commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this
software dedicate any and all copyright interest in the software to the public
domain. We make this dedication for the benefit of the public at large and to
the detriment of our heirs and successors. We intend this dedication to be an
overt act of relinquishment in perpetuity of all present and future rights to
this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN
ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

For more information, please refer to <https://unlicense.org/>
*/
