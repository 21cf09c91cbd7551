/* Answers of Bedrock's InvokeModel, Anthropic's events in frames: what fuzz_bedrock_converse.c says.
 * seeds: frames json prefix 3 */
#define FUZZ_WIRE "bedrock-invoke"
#define FUZZ_FRAMES 1
#include "fuzz_chat.c"
