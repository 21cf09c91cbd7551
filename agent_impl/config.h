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
 *   AGENT_ASSERT(x)       [I]  checks of the engine's own logic, never of a peer's bytes; default: nothing
 */
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
