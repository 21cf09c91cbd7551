/* The implementation for test programs: agent.h once more, its code in a few objects with external functions (AGENTI_SPLIT), so that
 * not every program compiles all of it. Which parts are in an object is said by -DAGENTI_PART_...: see the Makefile.
 * All bytes that are looked at or copied are counted; tests/touch.h shows the count. */
extern unsigned long long agenti_touched;
#define AGENTI_TOUCH(n) ((void)(agenti_touched += (n)))
#ifdef AGENTI_PART_BASE
unsigned long long agenti_touched;
#endif
#define AGENT_IMPLEMENTATION
#include "agent.h"
