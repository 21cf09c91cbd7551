/* The same, recorded and played again: see HOST_RECORD in host.h. */
#define HOST_RECORD
#include "test_retry.c"
