/* Answers in Anthropic messages format: what fuzz_chat.c says.
 * seeds: chat sse http prefix 3 */
#define FUZZ_WIRE "anthropic"
#include "fuzz_chat.c"
