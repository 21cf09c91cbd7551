/* Answers in Gemini Interactions format: what fuzz_chat.c says.
 * seeds: chat sse http prefix 3 */
#define FUZZ_WIRE "gemini-interactions"
#include "fuzz_chat.c"
