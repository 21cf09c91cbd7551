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
 *   MSG_CUT     this message and all behind it are no more (agent_message_cut, agent_regenerate)
 *   CHECKPOINT  of sessions with AGENT_S_CHECKPOINTS: nothing is under way, before each request and after each run
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
 *   TOOL_CANCEL stop it, by a cancel or for lack of time: agent_tool_done still counts for u.tool.timeout_ms, then what it printed so far is kept
 *               and the call is over
 *   TOOL_RESULT how a call ended: u.tool.status (AGENT_DONE_), text: what the model is told (when empty, "(no output)"). Every TOOL_CALL
 *               gets exactly one. BY_PROVIDER: text is the result as the provider's JSON; NOT_RUN and empty when none came with this answer
 *   NEED_DONE   a need is over: answered or withdrawn
 *   STEP_END    u.end: finish, raw (the provider's word), usage of this call, outcome, model (as the answer names it), request_id, and
 *               headers: the rate-limit lines of the answer's head as they came, for agent_http_header: "x-ratelimit-remaining-tokens: 99\n"
 *   ERROR       u.error and text. What follows is told by u.error.scope: RUN_END, or RETRY_WAIT. decode-only: instead of STEP_END
 *   RETRY_WAIT  the request is made again at u.retry.at_ms of the host's clock (attempt of max; fault: why)
 *   RETRY_GO    now, or by agent_retry; another answer begins in the same step, or after an answer that broke off another step
 *   WARNING     text: something odd that did no harm; name: more about it
 *   RUN_END     u.end: outcome, finish of the last step, steps, usage of all, why it ends, and waits: for whom
 *   QUEUED      u.queued: an item waits behind a run (ADDED), goes into the table (DELIVERED), is given back by a cancel (RETURNED), has another
 *               place or lane (MOVED). text: its parts that are text joined; the first one alone when there is no memory to join them
 *
 * A run:  RUN_START MSG_ADD MSG_END ( STEP_START OPEN|SEND MSG_ADD ( TEXT_* | REASONING_* | FILE_* | INPUT_* )* TOOL_CALL* MSG_END
 *         ( TOOL_RUN | TOOL_RESULT )* MSG_ADD MSG_END STEP_END )* ERROR? RUN_END. After OPEN|SEND and before MSG_ADD there may be
 *         ( ERROR RETRY_WAIT RETRY_GO OPEN|SEND )*. Parts may be open side by side. Whatever happens, every START
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
 * Time comes in by agent_tick alone; call it before agent_next. agent_deadline says when to come back. What silence brings about (an answer that
 * does not come, a tool that does not end) happens only when an agent_next at that time has found nothing to do: a host that slept gets to
 * feed first what has come meanwhile.
 *
 * Deadlines    connect_ms, first_ms, idle_ms of the peer: a fault TIMEOUT, which is retried. tool_ms, or a tool's own: TOOL_CANCEL, grace_ms, then
 *              an error for the model. step_ms, run_ms: what runs is cut, the run is LIMITED.
 * Retries      of RATE, OVERLOADED, SERVER, TRANSPORT, TIMEOUT, PROTOCOL and 408, 409, when nothing of the answer was shown. They wait as long as the
 *              provider says, else 2, 4, 8, 16 s and up to a quarter more. AUTH, QUOTA, CONTEXT, FILTER and 400 never are. When something was
 *              shown, the run fails, or with AGENT_S_GO_ON goes on behind what is there. agent_retry forces or forbids. Attempts count in
 *              a row; an answer sets them back. Tokens of failed attempts count in STEP_END.
 * Stop         agent_cancel works in every state, also twice: partial text, thoughts and usage stay, running tools get TOOL_CANCEL and grace_ms, what
 *              waits in the queue is given back, one RUN_END says CANCELLED. agent_stop waits for the step, or for the tools that run.
 * End          a run ends when the model calls nothing, or by what agent_session_desc says of steps, tokens, tools and finish reasons: STEP_END has
 *              why. A message submitted there as AGENT_STEER, or nothing (n 0), lets it go on. tool_choice, once obeyed, is auto again.
 * Queue        a message submitted during a run waits: AGENT_QUEUE for a run of its own, AGENT_STEER for the next request, AGENT_STORE for the end.
 *              In the order of their lane; agent_queue_at shows, agent_queue_cancel takes back, agent_queue_move reorders.
 * Table        agent_message_cut drops the last messages, agent_regenerate the last answer to ask again. Calls that are left without results get them,
 *              with a WARNING, before the next message.
 *
 * Save         agent_save appends what is new since a mark, at any moment; agent_load takes the whole into a new session, which goes on. Lines of
 *              JSON; members that are 0 or empty are left out, unknown ones are passed over, a higher number in the first line is refused:
 *                {"agent.h":1}       the version. Later in a file: all before it is void when the next state line has come
 *                {"keep":N}          messages behind number N are no more
 *                {"options":{...}}   all that agent_session_set can set, and what an import has left
 *                {"msg":{...}}       a message that is complete: id, run, role, flags, parts (agent_part's fields, kind and flags as numbers)
 *                {"state":{...}}     ends a save: what is in the lines before it counts from here on. at: what comes next; queue; nums: the last
 *                                    numbers given out; answer: of the step that is going on; times in ms that are left
 *              An append that was torn (no disk, kill -9) loses itself alone. What was in flight counts as interrupted, see agent_load.
 *
 * Record       With desc.record the engine writes a flight record, for bug reports: lines of JSON, numbers that are 0 left out. All that an engine
 *              does follows from them: `rerun FILE` (examples/rerun.c) makes the calls again and compares every line. `chat --record FILE` writes one.
 *                {"agent_record":1,"version":...}   the first line; behind it seed, mem_limit, block_size, what was set of limits, providers
 *                {"call":"say","id":S,...,"rc":N}   a call that changes something; id: its peer, session or connection; then its arguments, texts as
 *                                    strings or, where they are no UTF-8, {"base64":...}; rc: what it returned (agent_recv_buf: the room). Of
 *                                    agent_feed the bytes that were taken, of what was sent its length. "of": the number of a call of the model
 *                {"next":{...}}      an agent_next and its event, as agent_event_json has it; 0: there was none
 *                {"refused":N}       the host's allocator has refused the Nth request since agent_open; inside a call a member of its line
 *              Stars stand for keys, for values of the host's header lines whose names tell that they are secret, and for either of four bytes and
 *              more wherever a text quotes it, also the key before. What cannot be seen: a key that is quoted otherwise than it was given (escaped in
 *              JSON, in base64), the first three bytes of one that comes in pieces, a second header's or former key in pieces, a secret of other
 *              names or in texts. What users and models say is in it. A key that is a common word ("data") stars that word, and rerun then finds a difference.
 *              Events of a record with desc.block, mem_limit or refusals are the same only where pointers have the same size. The recorder needs
 *              no memory (a key that is replaced is kept until the next one is) and calls the sink with pieces of a line, of which the last one
 *              ends in a line feed; a line of a call is begun before the call is made. A host that crashes leaves all but the last line.
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
 * Requests in and out. agent_import takes a conversation in as a program has it: a request body, or its list of messages, of openai-chat,
 * openai-responses, anthropic or gemini. agent_export gives the body that a conversation makes in any wire format that requests are made of:
 *
 *   agent_json_error why; agent_str body;
 *   if (agent_import(e, s, "openai-chat", json, AGENT_CSTR, &why) != AGENT_OK) fprintf(stderr, "%s at byte %zu\n", why.why, why.offset);
 *   else if (agent_export(e, s, "anthropic", &body) == AGENT_OK) fwrite(body.p, 1, body.n, stdout);
 *
 * What neither table nor options have a place for goes back to the format that it came from, in requests and in exports: thoughts with their
 * signatures, blocks that only the provider knows, other members of the body, of messages and of blocks. To other formats go texts, files,
 * calls, results, functions and options; thoughts, as those of another model, do not. Then:
 *   - System and developer messages before all others are the option `system`; others stay where they are (AGENT_MSG_SYSTEM): OpenAI's formats
 *     have them there too, to others they go as the user's.
 *   - Results stand behind their calls, in the order of these, and before what else the user says there. A call without its result is refused
 *     unless nothing comes behind it, a result without its call too (OpenAI Responses keeps it as it is: the provider may have the call stored).
 *   - A tool that only its provider knows is a raw one (AGENT_TF_RAW). Imported tools have no `user`; agent_session_tools replaces them.
 *   - An option that is set by hand takes back what the import said of it, also when that said more (an object): a WARNING names it.
 *   - The model is the session's if the format is the peer's, else it goes back to its own format only.
 *   - `stream` sets or clears AGENT_S_NO_STREAM.
 *
 * ==== 9 DECODE-ONLY, CODECS ALONE ===============================================================================================
 * agent_decode makes a connection that is already open and only decodes: bytes of answers in, output events, STEP_END or ERROR out; for
 * proxies, log viewers, tests. Without an engine: agent_json_*, agent_schema_*, agent_sse_*, agent_lines_*, agent_http_* are structs of the
 * caller's that never allocate (section 8 of the declarations). Arguments against a tool's schema, and what to tell the model:
 *
 *   agent_schema_init(&x, schema, arguments);
 *   while (agent_schema_next(&x, &err) == AGENT_MORE) { agent_schema_text(&err, line, sizeof line); puts(line); }
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
 *   SERVER 5xx, errors inside a stream | PROTOCOL bytes that are not what was promised | TRANSPORT broken or cut connections | TIMEOUT | FILTER
 *   LIMIT one of agent_limits | NOMEM
 * u.error.retryable says whether the same request may succeed later, retry_after_ms what the provider hinted (in headers, body or words), name
 * its own code, request_id its id of the request, offset where in the body (of HTTP's own faults: in the bytes of the connection). Retries:
 * chapter 7. Text of the provider is shown with the key that was sent, should it be in there, starred out, and so are values of the host's
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
 * See "configuration" below: each macro, and where it must be defined. What each AGENT_NO_ saves, code and constants, gcc 12 -Os x86-64, KB:
 *   formats    OPENAI_CHAT 26 | OPENAI_RESPONSES 27 | OPENAI_COMPLETIONS 2 | ANTHROPIC 20 | GEMINI 25 | GEMINI_INTERACTIONS 10 | BEDROCK 16
 *              OLLAMA 5 | COHERE 9
 *   functions  IMPORT 41 | SAVE 19 | RECORD 18 | HTTP1 9 | SCHEMA 14 | PROVIDERS 5 | PRINT 4 | MODELS 3 | CODECS 2 | DECODE 1 | SIGN 1
 *   abilities  WORDS 7 | SHORTCUT 7 | FILES 5 | RETRY_HINT 4 | FAULT_WORDS 3 | OPENAI_REPLAY 3 | SPLIT 3 | MENDING 2 | THINK 1
 * All of it is 323 KB; with one format and none of the others, 84 (OpenAI chat) to 86 (Anthropic), of which 76 are code: sessions, retries,
 * deadlines, queues and tools stay in each build.
 *
 * ==== 15 TLS ====================================================================================================================
 * AGENT_MBEDTLS adds a part on mbedTLS (2.28; 3.x is provided for and not tested; link -lmbedtls -lmbedx509 -lmbedcrypto): section 9 of the
 * declarations. One agent_tls_config for the program, one agent_tls for each socket whose u.open.tls is set. When the socket is connected:
 * agent_opened with AGENT_VIA_BYTES, then in turn
 *    socket --> agent_tls_feed --> agent_tls_pump <--> the engine's connection          agent_tls_send_buf, agent_tls_send_ack --> socket
 * agent_tls_pump tells the engine of the end: agent_eof after close_notify, agent_failed for a cut, a bad certificate and all else, with words.
 * There is no way to switch the checks off. examples/host_posix.h does all of it in forty lines; `make chat-tls` builds chat with it.
 *
 * ==== 16 VERSIONS ===============================================================================================================
 * Source compatible within a major version. The ABI is promised only through the version and sizes that agent_open hands over.
 */
