/* Counting checks. A test program includes this, CHECKs, and returns test_end("name"). */
#ifndef TEST_H
#define TEST_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned test_passed, test_failed, test_skipped;
#define CHECK(x) ((x) ? (void)test_passed++ : (test_failed++, (void)fprintf(stderr, "%s:%d: FAIL %s\n", __FILE__, __LINE__, #x)))
/* The same with the name of a case. */
#define CHECK_CASE(x, name) ((x) ? (void)test_passed++ : (test_failed++, (void)fprintf(stderr, "%s:%d: FAIL %s [%s]\n", __FILE__, __LINE__, #x, (name))))
/* The last line of every test program: the makefile adds these up. */
static int test_end(const char *name)
{
    printf("%s: %u passed, %u failed", name, test_passed, test_failed);
    if (test_skipped) printf(", %u skipped", test_skipped);
    putchar('\n');
    return test_failed != 0;
}
#endif
