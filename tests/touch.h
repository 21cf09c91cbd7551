/* `touched`: how many bytes the implementation looked at or copied. Include it before agent.h. */
#ifndef TOUCH_H
#define TOUCH_H
#ifdef AGENTI_SPLIT                      /* tests/parts.c counts                                                        */
extern unsigned long long agenti_touched;
#define touched agenti_touched
#else
static unsigned long long touched;
#define AGENTI_TOUCH(n) ((void)(touched += (n)))
#endif
#endif
