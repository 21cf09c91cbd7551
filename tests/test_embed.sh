#!/bin/sh
# What a newcomer does: copies agent.h, pastes the example, compiles it with nothing but a C compiler, runs it.
cd "$(dirname "$0")/.." || exit 1
B=${B:-build} CC=${CC:-cc}
dir=$B/embed
rm -rf "$dir"
mkdir -p "$dir"
cp agent.h "$dir/"
passed=0 failed=0 skipped=0
pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); echo "FAIL $*"; }
skip() { skipped=$((skipped + 1)); echo "skipped: $*"; }

# try NAME FILE EXPECT: compiles, in a folder that holds agent.h and FILE only, and runs; the output has to contain EXPECT
try() {
    if [ ! -s "$dir/$2" ]; then fail "$1: there is no such example"; return; fi
    if ! (cd "$dir" && $CC -Wall -Wextra "$2" -o "$1" 2>"$1.err"); then fail "$1 does not compile"; cat "$dir/$1.err"; return; fi
    if [ -s "$dir/$1.err" ]; then fail "$1 compiles with warnings"; cat "$dir/$1.err"; else pass; fi
    if ! (cd "$dir" && "./$1" >"$1.out" 2>&1 </dev/null); then fail "$1 does not end with 0"; fi
    if grep -qF -- "$3" "$dir/$1.out"; then pass; else fail "$1 does not say '$3' but:"; head -n 5 "$dir/$1.out"; fi
}

sh tests/extract_example.sh manual hello.c agent.h >"$dir/manual_hello.c"
try manual_hello manual_hello.c "Hello there."
if [ -f README.md ]; then
    sh tests/extract_example.sh markdown README.md >"$dir/readme_hello.c"
    try readme_hello readme_hello.c "Hello there."
else fail "there is no README.md"; fi
if [ -f examples/hello.c ] && [ -f README.md ]; then
    # README shows examples/hello.c itself, from its first #define on
    sed -n '/^#define AGENT_IMPLEMENTATION/,$p' examples/hello.c >"$dir/a"
    sed -n '/^#define AGENT_IMPLEMENTATION/,$p' "$dir/readme_hello.c" >"$dir/b"
    if cmp -s "$dir/a" "$dir/b"; then pass; else fail "README.md and examples/hello.c differ"; fi
fi

# The .c/.h pair
cp agent_impl/agent.c "$dir/"
printf '#include "agent.h"\nint main(void) { return agent_code_text(AGENT_OK)[0] == 0; }\n' >"$dir/pair.c"
if (cd "$dir" && $CC -I. -Wall agent.c pair.c -o pair) && "$dir/pair"; then pass; else fail "agent.c and agent.h as a pair"; fi

# Every standard this compiler knows, with the implementation and without
printf '#define AGENT_IMPLEMENTATION\n#include "agent.h"\n' >"$dir/impl.c"
printf '#include "agent.h"\n' >"$dir/plain.c"
for std in c99 c11 c17 c2x; do
    printf 'int x;\n' >"$dir/probe.c"
    if ! $CC -std=$std -fsyntax-only "$dir/probe.c" 2>/dev/null; then skip "-std=$std"; continue; fi
    for way in impl plain; do
        if $CC -std=$std -Wall -Wextra -Wpedantic -Werror -I"$dir" -fsyntax-only "$dir/$way.c"; then pass; else fail "-std=$std, $way"; fi
    done
done
for std in c++11 c++14 c++17 c++20; do
    printf '#include <cstdlib>\nint x;\n' >"$dir/probe.cc"
    if ! $CC -x c++ -std=$std -fsyntax-only "$dir/probe.cc" 2>/dev/null; then skip "-std=$std"; continue; fi
    for way in impl plain; do
        if $CC -x c++ -std=$std -Wall -Wextra -Wpedantic -Werror -I"$dir" -fsyntax-only "$dir/$way.c"; then pass; else fail "-std=$std, $way"; fi
    done
done

if [ $skipped -gt 0 ]; then echo "test_embed: $passed passed, $failed failed, $skipped skipped"; else echo "test_embed: $passed passed, $failed failed"; fi
[ $failed -eq 0 ]
