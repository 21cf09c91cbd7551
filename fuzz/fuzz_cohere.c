/* Answers of Cohere, of both versions: what fuzz_chat.c says.
 * seeds: chat sse http prefix 3 */
#define FUZZ_WIRE (opt[2] & 64 ? "cohere-v1" : "cohere-v2")
#include "fuzz_chat.c"
