/* An agent engine in one C header: feed it bytes, pull events, answer tool calls. It opens no socket, reads no clock and
 * starts no thread; the host does.
 *
 * In exactly one file of the program:
 *
 *   #define AGENT_IMPLEMENTATION
 *   #include "agent.h"
 *
 * Everywhere else only the second line.
 */
