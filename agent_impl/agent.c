#define AGENT_IMPLEMENTATION
#include "agent.h"
