/* Answers of Ollama, of chat and of generate: what fuzz_chat.c says.
 * seeds: chat sse http prefix 3 */
#define FUZZ_WIRE (opt[2] & 64 ? "ollama-generate" : "ollama")
#include "fuzz_chat.c"
