/* Answers in Bedrock Converse format: what fuzz_chat.c says. The input is lines of tests/frames.h, or bytes as they are.
 * seeds: frames json prefix 3 */
#define FUZZ_WIRE "bedrock-converse"
#define FUZZ_FRAMES 0
#include "fuzz_chat.c"
