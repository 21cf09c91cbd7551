/* Answers in OpenAI completions format: what fuzz_chat.c says.
 * seeds: chat sse http prefix 3 */
#define FUZZ_WIRE "openai-completions"
#include "fuzz_chat.c"
