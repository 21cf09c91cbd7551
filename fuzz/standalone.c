/* A main for the fuzz targets that needs no fuzzer: runs LLVMFuzzerTestOneInput on every file named, and on every file in every
 * directory named, and prints how many there were. Any compiler; also useful under valgrind or a debugger, with one crasher. */
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifndef FUZZ_NAME
#define FUZZ_NAME "fuzz"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
static unsigned passed, failed;

static void run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    long size = -1;
    uint8_t *data;
    if (f && fseek(f, 0, SEEK_END) == 0) size = ftell(f);
    if (f == NULL || size < 0) {
        fprintf(stderr, "%s: cannot read\n", path);
        failed++;
        if (f) fclose(f);
        return;
    }
    rewind(f);
    data = (uint8_t *)malloc(size ? (size_t)size : 1);   /* exact, so that reading past the end is seen */
    if (data == NULL || fread(data, 1, (size_t)size, f) != (size_t)size) {
        fprintf(stderr, "%s: cannot read\n", path);
        failed++;
    } else {
        if (getenv("FUZZ_VERBOSE")) fprintf(stderr, "%s\n", path);
        LLVMFuzzerTestOneInput(data, (size_t)size);
        passed++;
    }
    free(data);
    fclose(f);
}

static void run_dir(const char *path, DIR *d)
{
    char name[2000];
    struct dirent *e;
    struct stat st;
    while ((e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.' || strlen(path) + strlen(e->d_name) + 2 > sizeof name) continue;
        sprintf(name, "%s/%s", path, e->d_name);
        if (stat(name, &st) == 0 && !S_ISDIR(st.st_mode)) run_file(name);
    }
    closedir(d);
}

int main(int argc, char **argv)
{
    static const uint8_t nothing[1];
    int i;
    LLVMFuzzerTestOneInput(nothing, 0);
    passed++;
    for (i = 1; i < argc; i++) {
        DIR *d = opendir(argv[i]);
        if (d) run_dir(argv[i], d);
        else run_file(argv[i]);
    }
    printf("%s: %u passed, %u failed\n", FUZZ_NAME, passed, failed);
    return failed != 0;
}
