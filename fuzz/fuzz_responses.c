/* Answers in OpenAI responses format: what fuzz_chat.c says.
 * seeds: chat sse http prefix 3 */
#define FUZZ_WIRE "openai-responses"
#include "fuzz_chat.c"
