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
 *   AGENT_NO_GEMINI_INTERACTIONS, AGENT_NO_BEDROCK, AGENT_NO_OLLAMA, AGENT_NO_COHERE, AGENT_NO_IMPORT
 *                         [I]  leaves a wire format out, or agent_import and agent_export; what each saves is in the manual's chapter 14
 *   AGENT_MBEDTLS         [A]  TLS for the host's sockets, on mbedTLS: the manual's chapter 15
 *   AGENT_ASSERT(x)       [I]  checks of the engine's own logic, never of a peer's bytes; default: nothing
 */
#if defined AGENT_NO_OPENAI_CHAT || defined AGENT_NO_OPENAI_RESPONSES || defined AGENT_NO_OPENAI_COMPLETIONS || defined AGENT_NO_ANTHROPIC \
    || defined AGENT_NO_GEMINI || defined AGENT_NO_GEMINI_INTERACTIONS || defined AGENT_NO_BEDROCK || defined AGENT_NO_OLLAMA || defined AGENT_NO_COHERE \
    || defined AGENT_NO_IMPORT || defined AGENT_NO_SHORTCUT || defined AGENT_NO_SPLIT || defined AGENT_NO_THINK || defined AGENT_NO_RETRY_HINT \
    || defined AGENT_NO_HTTP1 || defined AGENT_NO_SIGN || defined AGENT_NO_MODELS || defined AGENT_NO_DECODE || defined AGENT_NO_PRINT \
    || defined AGENT_NO_PROVIDERS || defined AGENT_NO_CODECS || defined AGENT_NO_WORDS \
    || defined AGENT_NO_FAULT_WORDS || defined AGENT_NO_OPENAI_REPLAY || defined AGENT_NO_MENDING || defined AGENT_NO_FILES || defined AGENT_NO_SAVE
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
