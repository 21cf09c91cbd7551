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
 *   Functions left out, whose declarations go where the macro is defined [I, or A]:
 *   AGENT_NO_IMPORT       agent_import, agent_export
 *   AGENT_NO_SAVE         agent_save, agent_load
 *   AGENT_NO_SCHEMA       agent_schema_*
 *   AGENT_NO_PRINT        agent_event_json, agent_event_copy, agent_event_name; and with them the recorder
 *   AGENT_NO_DECODE       agent_decode
 *   AGENT_NO_MODELS       agent_models
 *   AGENT_NO_SIGN         agent_sign: requests that are signed cannot be sent
 *   AGENT_NO_CODECS       agent_json_*, agent_sse_*, agent_lines_*, agent_http_*: private, what is not needed goes
 *   AGENT_NO_PROVIDERS    agent_provider_at and the table behind it: agent_desc.providers has the rows
 *   AGENT_NO_HTTP1        AGENT_VIA_BYTES: all HTTP is the host's (AGENT_VIA_HTTP)
 *   Abilities left out [I]:
 *   AGENT_NO_RECORD       the flight recorder: agent_open refuses desc.record
 *   AGENT_NO_FILES        files in messages: what a provider or a host hands in is a WARNING, or E_ARG
 *   AGENT_NO_THINK        <think> tags in text
 *   AGENT_NO_OPENAI_REPLAY   reasoning_details, opaque blocks and the like of OpenAI chat's hosts, which want them back
 *   AGENT_NO_MENDING      calls that a model wrote wrongly are not taken apart: several objects as one call's arguments, calls in a wrapper, in text
 *   AGENT_NO_RETRY_HINT   when a provider says to come back: backoff alone counts
 *   AGENT_NO_FAULT_WORDS  an error's kind by its code and words: the HTTP status alone counts
 *   AGENT_NO_WORDS        texts for people (agent_last, agent_code_text, ERROR and WARNING): they are empty, codes and faults stay
 *   AGENT_NO_SHORTCUT     the short way for events that repeat themselves: the same events, slower
 *   AGENT_NO_SPLIT        payloads longer than limits.piece come whole, not in pieces
 *   AGENT_MBEDTLS         [A]  TLS for the host's sockets, on mbedTLS: the manual's chapter 15
 *   AGENT_ASSERT(x)       [I]  checks of the engine's own logic, never of a peer's bytes; default: nothing
 */
#if defined AGENT_NO_OPENAI_CHAT || defined AGENT_NO_OPENAI_RESPONSES || defined AGENT_NO_OPENAI_COMPLETIONS || defined AGENT_NO_ANTHROPIC \
    || defined AGENT_NO_GEMINI || defined AGENT_NO_GEMINI_INTERACTIONS || defined AGENT_NO_BEDROCK || defined AGENT_NO_OLLAMA || defined AGENT_NO_COHERE \
    || defined AGENT_NO_IMPORT || defined AGENT_NO_SHORTCUT || defined AGENT_NO_SPLIT || defined AGENT_NO_THINK || defined AGENT_NO_RETRY_HINT \
    || defined AGENT_NO_HTTP1 || defined AGENT_NO_SIGN || defined AGENT_NO_MODELS || defined AGENT_NO_DECODE || defined AGENT_NO_PRINT \
    || defined AGENT_NO_PROVIDERS || defined AGENT_NO_CODECS || defined AGENT_NO_WORDS \
    || defined AGENT_NO_FAULT_WORDS || defined AGENT_NO_OPENAI_REPLAY || defined AGENT_NO_MENDING || defined AGENT_NO_FILES || defined AGENT_NO_SAVE \
    || defined AGENT_NO_SCHEMA || defined AGENT_NO_RECORD
#define AGENTI_LEAN                      /* helpers may be left over, which compilers warn of and drop                  */
#endif
#if defined AGENT_NO_PRINT && !defined AGENT_NO_RECORD      /* it writes events                                          */
#define AGENT_NO_RECORD
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
