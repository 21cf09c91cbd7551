/* Answers in Gemini generateContent format, as events and as an array: what fuzz_chat.c says.
 * seeds: chat sse http json prefix 3 */
#define FUZZ_WIRE "gemini"
#include "fuzz_chat.c"
