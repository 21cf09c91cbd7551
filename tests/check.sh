#!/bin/sh
# The rules of the house, one gate each. check.sh [GATE…]: all, or those named. Prints `ok` or `FAIL` a gate, then
# `check: N passed, M failed[, K skipped]`. Called by `make check`, which builds $B/amalgamate first.
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
JOBS=${JOBS:-2}
GCC=${GCC:-gcc} GXX=${GXX:-g++} CLANG=${CLANG:-clang} CLANGXX=${CLANGXX:-clang++}
AMALGAMATE="$B/amalgamate ${AMALGAMATE_FLAGS:-}"
LC_ALL=C
export LC_ALL B

WALL="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-qual -Wcast-align -Wdouble-promotion
 -Wfloat-equal -Wswitch-enum -Wvla -Wformat=2 -Werror"
PROTOTYPES="-Wstrict-prototypes -Wmissing-prototypes"
EVERYTHING="-Weverything -Wno-unknown-warning-option -Wno-padded -Wno-unsafe-buffer-usage -Wno-covered-switch-default
 -Wno-declaration-after-statement -Werror"
EVERYTHING_CXX="$EVERYTHING -Wno-old-style-cast -Wno-zero-as-null-pointer-constant -Wno-c++98-compat -Wno-c++98-compat-pedantic"

# The long one first, so that it does not run alone at the end.
GATES="lean regenerated prefixes split sources recursion macros exports undefined nomalloc allocator frames
 wall_gcc_c99 wall_gcc_c11 wall_gcc_c2x wall_gxx_11 wall_gxx_20 wall_clang_c99 wall_clang_c11 wall_clang_c2x wall_clangxx_11 wall_clangxx_20
 no_exceptions aliasing m32 poison units examples size tls compile_time"

# What a gate writes is shown when it fails; `note` is shown always. Exit code 77 is a skip.
note() { echo "$*" >>"$D.note"; }
skip() { note "$*"; exit 77; }
need() { command -v "$1" >/dev/null 2>&1 || skip "$1 is not installed"; }

# Units to compile: $D.impl.c, $D.plain.c, $D.static.c, $D.decl.c (suffix given)
units() {
    printf '#define AGENT_IMPLEMENTATION\n#include "agent.h"\n' >"$D.impl.$1"
    printf '#include "agent.h"\n' >"$D.plain.$1"
    printf '#define AGENT_STATIC\n#define AGENT_IMPLEMENTATION\n#include "agent.h"\n' >"$D.static.$1"
    printf '#define AGENT_STATIC\n#include "agent.h"\n' >"$D.decl.$1"
    printf '#include "agent.h"\n#include "agent.h"\n#define AGENT_IMPLEMENTATION\n#include "agent.h"\n#include "agent.h"\n' >"$D.twice.$1"
}
# wall SUFFIX COMPILER FLAGS…: every way of including, no warnings. Included twice, the same code is not compiled once more.
wall() {
    suffix=$1
    shift
    units "$suffix"
    for way in impl plain static decl twice; do
        quiet=
        # gcc cannot be told in the header that a static function without a body may stay so
        [ $way = decl ] && quiet=-Wno-unused-function
        [ $way = twice ] && quiet=-fsyntax-only
        echo "-- $way: $*"
        "$@" $quiet -I. -c "$D.$way.$suffix" -o "$D.$way.o" || exit 1
    done
}

gate_regenerated() {
    if ! $AMALGAMATE agent_impl >"$D.h"; then exit 1; fi
    if ! cmp "$D.h" agent.h; then
        echo "agent.h is not what agent_impl/ makes. Edit agent_impl/, never agent.h; then run: make agent.h"
        exit 1
    fi
    sed '1d;$d' agent_impl/license.h | cmp - LICENSE || { echo "agent_impl/license.h holds LICENSE, word for word"; exit 1; }
}
gate_prefixes() {
    need "$GCC"
    for part in CONFIG API $($AMALGAMATE --list agent_impl); do
        $AMALGAMATE --upto "$part" agent_impl >"$D.$part.c" || exit 1
        echo "-- up to $part"
        $GCC -std=c99 -fsyntax-only -Wall -Werror "$D.$part.c" || { echo "$part uses a part that comes after it"; exit 1; }
    done
}
gate_split() {
    need "$GCC"
    mkdir -p "$B/split"
    rm -f "$B"/split/*
    set --
    for part in $($AMALGAMATE --list agent_impl); do
        $AMALGAMATE --upto "$part" agent_impl >"$B/split/$part.h" || exit 1
        printf '#define AGENTI_SPLIT\n#define AGENTI_PART_%s\n#include "%s.h"\n' "$part" "$part" >"$B/split/$part.c"
        echo "-- $part alone"
        $GCC -std=c99 -O1 -Wall -Wextra -Wmissing-prototypes -Werror -c "$B/split/$part.c" -o "$B/split/$part.o" || exit 1
        set -- "$@" "$B/split/$part.o"
    done
    if [ -f examples/hello.c ]; then source=examples/hello.c; else
        source=$B/split/main.c
        printf '#include <stdio.h>\n#include "agent.h"\nint main(void) { puts(agent_code_text(0)); return 0; }\n' >"$source"
    fi
    # AGENT_IMPLEMENTED: the code is elsewhere, in the objects
    $GCC -DAGENT_IMPLEMENTED -I. "$source" "$@" -o "$B/split/program" || exit 1
    "$B/split/program" >"$B/split/out" || exit 1
    grep -q . "$B/split/out" || { echo "the program of parts says nothing"; exit 1; }
}
# Comments removed, so that words in them do not count
code_of() { sed 's/^[[:space:]]*#[[:space:]]*include.*//' "$1" | $GCC -fpreprocessed -dD -E -P -w -xc - ; }
gate_sources() {
    need "$GCC"
    bad=0
    complain() { # what, pattern, file
        if grep -nE -- "$2" "$D.code"; then echo "^ $3: $1"; bad=1; fi
    }
    for part in $(awk '!/^#/ && NF { print $2 }' agent_impl/MANIFEST); do
        f=agent_impl/$part
        [ -f "$f" ] || continue
        # the compiler's own names are not ours
        code_of "$f" | sed -E 's/\b(__(cplusplus|GNUC|GNUC_MINOR|clang|attribute|SSE2|ARM_NEON|ARM_NEON__|BYTE_ORDER|ORDER_[A-Z]+_ENDIAN|SIZEOF_INT128|x86_64|aarch64)(__)?|__builtin_[a-z_]+|_MSC_VER|_M_[A-Z0-9]+|_WIN32|_Static_assert)\b/COMPILER/g' >"$D.code"
        complain "not from libc here" '(^|[^A-Za-z0-9_.>])(printf|fprintf|s?n?printf|vs?n?printf|puts|putchar|fopen|fread|fwrite|fputs|exit|abort|assert|strto[a-z]+|ato[filq]+|setlocale|localeconv|time|clock|clock_gettime|gettimeofday|gmtime|localtime|rand|srand|random|getenv|is(digit|alpha|alnum|space|upper|lower|xdigit|print|punct)|to(lower|upper)|str(cpy|cat|ncpy|ncat|cmp|ncmp|chr|rchr|str|dup|tok|error|spn|cspn|casecmp)|qsort|bsearch|malloc|calloc|alloca|setjmp|longjmp|signal)[[:space:]]*\(' "$f"
        complain "two underscores are reserved in C++" '(^|[^A-Za-z0-9_])[A-Za-z0-9_]*[A-Za-z0-9]__[A-Za-z0-9_]*' "$f"
        complain "a leading underscore and a capital are reserved" '(^|[^A-Za-z0-9_])_[A-Z]' "$f"
        complain "_t is for POSIX" '(^|[^A-Za-z0-9_])agenti?_[A-Za-z0-9_]*_t([^A-Za-z0-9_]|$)' "$f"
        complain "errno is a global" '(^|[^A-Za-z0-9_])errno([^A-Za-z0-9_]|$)' "$f"
        grep -nE '^[[:space:]]*#[[:space:]]*include' "$f" | grep -vE '<((string|stddef|stdint|stdlib|emmintrin|arm_neon)\.h|mbedtls/[a-z0-9_]+\.h|psa/crypto\.h)>' && { echo "^ $f: this header is not for here"; bad=1; }
        grep -nE '[[:space:]]+$' "$f" && { echo "^ $f: blanks at the end of a line"; bad=1; }
        grep -n "$(printf '\t')" "$f" && { echo "^ $f: a tab"; bad=1; }
        LC_ALL=C grep -n '[^ -~]' "$f" && { echo "^ $f: not ASCII"; bad=1; }
        case $f in *api.h) width=180 ;; *) width=160 ;; esac
        awk -v w=$width 'length($0) > w { print FILENAME ":" FNR ": " length($0) " columns"; bad = 1 } END { exit bad }' "$f" || bad=1
    done
    [ $bad -eq 0 ]
}
# A call graph without inlining; leaves are taken away until none is left: what stays calls itself.
gate_recursion() {
    need "$GCC"
    mkdir -p "$D.d"
    cp agent.h "$D.d/"
    printf 'int x;\n' >"$D.d/probe.c"
    printf '#define AGENT_IMPLEMENTATION\n#include "agent.h"\n' >"$D.d/impl.c"
    (cd "$D.d" && $GCC -fcallgraph-info -c probe.c -o probe.o 2>/dev/null) || skip "$GCC has no -fcallgraph-info"
    (cd "$D.d" && $GCC -O0 -fcallgraph-info -c impl.c -o impl.o) || exit 1
    ci=$D.d/impl.ci
    [ -f "$ci" ] || ci=$(ls "$D.d"/*impl*.ci | head -n 1)
    [ -f "$ci" ] || exit 1
    awk '/^edge:/ {
            match($0, /sourcename: "[^"]*"/); from = substr($0, RSTART + 13, RLENGTH - 14)
            match($0, /targetname: "[^"]*"/); to = substr($0, RSTART + 13, RLENGTH - 14)
            if (to != "__indirect_call") { key = from SUBSEP to; if (!(key in edge)) { edge[key] = 1; out[from]++ } }
        }
        END {
            do {
                again = 0
                for (key in edge) {
                    split(key, e, SUBSEP)
                    if (out[e[2]] == 0) { delete edge[key]; out[e[1]]--; again = 1 }
                }
            } while (again)
            # the same from the other side: what only calls a cycle is no part of it
            for (key in edge) { split(key, e, SUBSEP); in_[e[2]]++ }
            do {
                again = 0
                for (key in edge) {
                    split(key, e, SUBSEP)
                    if (in_[e[1]] == 0) { delete edge[key]; in_[e[2]]--; again = 1 }
                }
            } while (again)
            for (key in edge) { split(key, e, SUBSEP); print "recursion: " e[1] " calls " e[2]; n++ }
            exit n > 0
        }' "$ci"
}
gate_macros() {
    need "$GCC"
    bad=0
    for lang in c c++; do
        printf '#include <stddef.h>\n#include <stdint.h>\n' | $GCC -x $lang -dM -E - | awk '{ print $2 }' | sed 's/(.*//' | sort >"$D.before"
        printf '#include "agent.h"\n' | $GCC -x $lang -I. -dM -E - | awk '{ print $2 }' | sed 's/(.*//' | sort >"$D.after"
        comm -13 "$D.before" "$D.after" | grep -vE '^(AGENT_|AGENTDEF$|agent_)' && { echo "^ $lang: macros without a prefix, or private ones, leak"; bad=1; }
        { printf '#include <string.h>\n#include <stdlib.h>\n'; grep -hE '^#[ ]*include <' agent.h | grep -vE 'arm_neon|mbedtls' | sort -u; } | $GCC -x $lang -dM -E - | awk '{ print $2 }' | sed 's/(.*//' | sort >"$D.before"
        printf '#define AGENT_IMPLEMENTATION\n#include "agent.h"\n' | $GCC -x $lang -I. -dM -E - | awk '{ print $2 }' | sed 's/(.*//' | sort >"$D.after"
        comm -13 "$D.before" "$D.after" | grep -vE '^(AGENT_|AGENTI_|AGENTDEF$|agent_)' && { echo "^ $lang: macros without a prefix leak from the implementation"; bad=1; }
    done
    [ $bad -eq 0 ]
}
# Objects as programs get them, for gcc and clang: $D.<compiler>.<level>.o
object() { # compiler, level
    "$1" -std=c99 $2 -fno-pic -fno-pie -Wframe-larger-than=512 -I. -c "$D.impl.c" -o "$D.$(basename "$1")$2.o" 2>"$D.$(basename "$1")$2.err"
}
# Several gates look at the same ones: made once, before all gates.
WANT_OBJECTS=" exports undefined frames size "
objects() {
    for cc in "$GCC" "$CLANG"; do
        command -v "$cc" >/dev/null 2>&1 || continue
        for level in -Os -O2; do
            o=$B/check/objects.$(basename "$cc")$level
            [ -s "$o.o" ] || { cat "$o.err"; echo "^ $o.o: does not compile"; exit 1; }
        done
    done
}
gate_exports() {
    need nm
    need size
    objects
    for o in "$B"/check/objects.*-O?.o; do
        nm -g --defined-only "$o" | awk '{ print $NF }' | grep -vE '^agent_' && { echo "^ $o: exported without the prefix agent_"; exit 1; }
        nm "$o" | grep -E ' [dDbBcCsSgG] ' && { echo "^ $o: writable data"; exit 1; }
        size -A "$o" | awk '/^\.(data|bss|tdata|tbss)/ && $2 > 0 { print; bad = 1 } END { exit bad }' || { echo "^ $o: data is not empty"; exit 1; }
    done
}
# bcmp: what clang makes of a memcmp whose sign nobody asks for
# malloc: what clang makes of realloc(NULL, n)
gate_undefined() {
    need nm
    objects
    for o in "$B"/check/objects.*-O?.o; do
        nm -u "$o" | awk '{ print $NF }' | grep -vxE 'memcpy|memmove|memset|memcmp|memchr|strlen|realloc|malloc|free|bcmp' && { echo "^ $o: needs more than it may"; exit 1; }
    done
    return 0
}
gate_nomalloc() {
    need nm
    units c
    flags="-std=c99 -Wall -Wextra -Werror -DAGENT_NO_MALLOC -I. -c"
    $GCC $flags -Os -fno-pic -fno-pie "$D.impl.c" -o "$D.gcc-Os.o" || exit 1
    $GCC $flags -O2 -ffreestanding "$D.impl.c" -o "$D.free-O2.o" || exit 1
    if command -v "$CLANG" >/dev/null 2>&1; then $CLANG $flags -Os -fno-pic -fno-pie "$D.impl.c" -o "$D.clang-Os.o" || exit 1; fi
    for o in "$D".*-O?.o; do
        nm -u "$o" | awk '{ print $NF }' | grep -vxE 'memcpy|memmove|memset|memcmp|memchr|strlen|bcmp' && { echo "^ $o: needs an allocator in spite of AGENT_NO_MALLOC"; exit 1; }
    done
    return 0
}
gate_allocator() {
    cat >"$D.c" <<'END'
#include <stddef.h>
static void *mine(void *ctx, void *p, size_t old_size, size_t new_size);
static void gone(void *ctx, void *p, size_t old_size);
#define AGENT_REALLOC(ctx, p, old_size, new_size) mine(ctx, p, old_size, new_size)
#define AGENT_FREE(ctx, p, old_size) gone(ctx, p, old_size)
#define AGENT_IMPLEMENTATION
#include "agent.h"
static void *mine(void *ctx, void *p, size_t old_size, size_t new_size) { (void)ctx; (void)p; (void)old_size; (void)new_size; return NULL; }
static void gone(void *ctx, void *p, size_t old_size) { (void)ctx; (void)p; (void)old_size; }
END
    $GCC -std=c99 -O2 -Wall -Wextra -Werror -I. -c "$D.c" -o "$D.o" || exit 1
    nm -u "$D.o" | grep -E ' (realloc|free|malloc)$' && { echo "AGENT_REALLOC and AGENT_FREE are not used everywhere"; exit 1; }
    units c
    if $GCC -std=c99 -DAGENT_FREE=free -I. -fsyntax-only "$D.impl.c" 2>"$D.err"; then echo "AGENT_FREE alone must be refused"; exit 1; fi
    grep -q 'both' "$D.err"
}
gate_frames() {
    objects
    ! grep -h . "$B"/check/objects.*-O?.err
}

gate_wall_gcc_c99() { need "$GCC"; wall c $GCC -std=c99 -O2 $WALL $PROTOTYPES; }
gate_wall_gcc_c11() { need "$GCC"; wall c $GCC -std=c11 -Os $WALL $PROTOTYPES; }
gate_wall_gcc_c2x() { need "$GCC"; wall c $GCC -std=c2x $WALL $PROTOTYPES; }
gate_wall_gxx_11() { need "$GXX"; wall cc $GXX -std=c++11 -O2 $WALL; }
gate_wall_gxx_20() { need "$GXX"; wall cc $GXX -std=c++20 $WALL; }
gate_wall_clang_c99() { need "$CLANG"; wall c $CLANG -std=c99 -O2 $EVERYTHING; wall c $CLANG -std=c99 $WALL $PROTOTYPES; }
gate_wall_clang_c11() { need "$CLANG"; wall c $CLANG -std=c11 $EVERYTHING; }
gate_wall_clang_c2x() { need "$CLANG"; wall c $CLANG -std=c2x $EVERYTHING; }
gate_wall_clangxx_11() { need "$CLANGXX"; wall cc $CLANGXX -std=c++11 $EVERYTHING_CXX; }
gate_wall_clangxx_20() { need "$CLANGXX"; wall cc $CLANGXX -std=c++20 $EVERYTHING_CXX; }
gate_no_exceptions() {
    need "$GXX"
    wall cc $GXX -std=c++11 -fno-exceptions -fno-rtti $WALL
    if command -v "$CLANGXX" >/dev/null 2>&1; then wall cc $CLANGXX -std=c++11 -fno-exceptions -fno-rtti -Wall -Wextra -Werror; fi
}
gate_aliasing() { need "$GCC"; units c; $GCC -std=c99 -O2 -fstrict-aliasing -Wstrict-aliasing=2 -Wall -Werror -I. -c "$D.impl.c" -o "$D.o"; }
gate_m32() {
    need "$GCC"
    printf '#include <stdlib.h>\nint main(void) { return 0; }\n' >"$D.probe.c"
    $GCC -m32 "$D.probe.c" -o "$D.probe" 2>/dev/null || skip "no 32-bit libraries (gcc-multilib)"
    wall c $GCC -m32 -std=c99 -O2 $WALL $PROTOTYPES -Wframe-larger-than=512
    printf '#include <cstdlib>\n' >"$D.probe.cc"
    if $GXX -m32 -fsyntax-only "$D.probe.cc" 2>/dev/null; then wall cc $GXX -m32 -std=c++11 $WALL; fi
}
# Names that Windows' headers and others' utility headers define, and libc names that the implementation must not know.
gate_poison() {
    need "$GCC"
    {
        printf '#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n#include <stdlib.h>\n#include <stdio.h>\n#include <time.h>\n#include <locale.h>\n#include <ctype.h>\n'
        printf '#ifdef __SSE2__\n#include <emmintrin.h>\n#endif\n'
        for name in small near far interface ERROR IN OUT OPTIONAL CONST VOID BOOL TRUE FALSE INT CHAR DELETE IGNORE INFINITE \
            NO_ERROR STRICT UNKNOWN DIFFERENCE pascal cdecl huge hyper environ unix linux bool true false OK FAIL NONE Bool Status None Success; do
            printf '#undef %s\n#define %s @poisoned %s@\n' "$name" "$name" "$name"
        done
        for name in min max major minor makedev assert check verify require likely unlikely countof index rindex bcopy bzero send recv; do
            printf '#undef %s\n#define %s(x, y) @poisoned %s@\n' "$name" "$name" "$name"
        done
        for name in printf fprintf sprintf snprintf vsnprintf malloc calloc strtod strtol strtoul atoi strcpy strcat strncpy strcmp strchr strstr \
            strdup setlocale localeconv rand srand isdigit isalpha isspace tolower toupper abort exit getenv fopen fwrite stdout stderr stdin errno alloca; do
            printf '#undef %s\n#pragma GCC poison %s\n' "$name" "$name"
        done
    } >"$D.prelude"
    for way in impl plain static; do
        case $way in
        impl) head='#define AGENT_IMPLEMENTATION' ;;
        plain) head= ;;
        static) head='#define AGENT_IMPLEMENTATION
#define AGENT_STATIC' ;;
        esac
        { cat "$D.prelude"; printf '%s\n#include "agent.h"\n' "$head"; } >"$D.c"
        $GCC -std=c99 -Wall -Werror -I. -fsyntax-only "$D.c" || exit 1
        # in C++ bool, true and false are the language's own
        grep -vE '^#(undef|define) (bool|true|false)( |$)' "$D.c" >"$D.cc"
        if command -v "$GXX" >/dev/null 2>&1; then $GXX -std=c++11 -Wall -Werror -I. -fsyntax-only "$D.cc" || exit 1; fi
    done
}
# One program: a unit with the implementation, one that only includes, and two with private copies; C and C++ mixed.
gate_units() {
    need "$GCC"
    printf '#define AGENT_IMPLEMENTATION\n#include "agent.h"\n' >"$D.a.c"
    for n in 1 2; do
        printf '#define AGENT_STATIC\n#define AGENT_IMPLEMENTATION\n#include "agent.h"\nconst char *copy%d(void);\nconst char *copy%d(void) { return agent_code_text(AGENT_E_NOMEM); }\n' $n $n >"$D.s$n.c"
    done
    cat >"$D.main.c" <<'END'
#include <string.h>
#include "agent.h"
#ifdef __cplusplus
extern "C" {
#endif
const char *copy1(void);
const char *copy2(void);
#ifdef __cplusplus
}
#endif
int main(void)
{
    const char *text = agent_code_text(AGENT_E_NOMEM);
    return strcmp(text, copy1()) != 0 || strcmp(text, copy2()) != 0 || *text == 0;
}
END
    for u in a s1 s2 main; do $GCC -std=c99 -Wall -Wextra -Werror -O1 -I. -c "$D.$u.c" -o "$D.$u.o" || exit 1; done
    $GCC "$D.a.o" "$D.s1.o" "$D.s2.o" "$D.main.o" -o "$D.program" && "$D.program" || exit 1
    $GCC -O1 -I. -c agent_impl/agent.c -o "$D.agent.o" && $GCC "$D.agent.o" "$D.s1.o" "$D.s2.o" "$D.main.o" -o "$D.program" && "$D.program" || exit 1
    if command -v "$GXX" >/dev/null 2>&1; then
        $GXX -x c++ -std=c++11 -Wall -Wextra -Werror -I. -c "$D.main.c" -o "$D.main.o" || exit 1
        $GXX "$D.a.o" "$D.s1.o" "$D.s2.o" "$D.main.o" -o "$D.program" && "$D.program" || exit 1
        $GXX -x c++ -std=c++11 -I. -c "$D.a.c" -o "$D.a.o" || exit 1
        $GCC -c -std=c99 -I. "$D.main.c" -o "$D.main.o" || exit 1
        $GXX "$D.a.o" "$D.s1.o" "$D.s2.o" "$D.main.o" -o "$D.program" && "$D.program" || exit 1
    fi
}
gate_examples() {
    set -- examples/*.c
    [ -f "$1" ] || skip "no examples yet"
    for f; do
        case $f in *curl*) continue ;; esac
        echo "-- $f"
        # their own code; that of the header has gates of its own
        $GCC -DAGENTI_SPLIT -O1 -Wall -Wextra -Wshadow -Werror -I. -c "$f" -o "$D.o" || exit 1
        $GCC -Wall -Wextra -Wshadow -Werror -I. -fsyntax-only "$f" || exit 1
    done
    if command -v "$CLANG" >/dev/null 2>&1; then
        for f; do
            case $f in *curl*) continue ;; esac
            $CLANG -Wall -Wextra -Werror -I. -fsyntax-only "$f" || exit 1
        done
    fi
}
gate_size() {
    need size
    objects
    for o in "$B"/check/objects.*-O?.o; do
        note "$(size -A "$o" | awk -v o="$(echo "$o" | sed 's/.*objects\.//; s/\.o$//')" '/^\.text/ { t += $2 } /^\.rodata/ { r += $2 } END { printf "%s: .text %d bytes, constants %d", o, t, r }')"
    done
}
# Each switch that leaves something out, alone, all together, and all but one format: no warnings; with FULL=1 what each saves.
gate_lean() {
    need size
    units c
    switches=$(grep -o 'AGENT_NO_[A-Z0-9_]*' agent_impl/config.h | sort -u | grep -v AGENT_NO_MALLOC)
    lean() { $GCC -std=c99 $WALL -Os -fno-pic -I. "$@" -c "$D.impl.c" -o "$D.o" || exit 1; bytes=$(size -A "$D.o" | awk '/^\.text/ || /^\.rodata/ { t += $2 } END { print t }'); }
    lean
    whole=$bytes all=
    for x in $switches; do
        all="$all -D$x"
        grep -q "[ |]${x#AGENT_NO_} [0-9]" agent_impl/manual.h || { echo "$x is not in the manual"; exit 1; }
        if [ "${FULL:-0}" != 0 ]; then lean "-D$x"; note "$x saves $((whole - bytes)) bytes"
        else $GCC -std=c99 $WALL "-D$x" -I. -fsyntax-only "$D.impl.c" || exit 1; fi
        if command -v "$CLANG" >/dev/null 2>&1; then $CLANG -std=c99 $EVERYTHING "-D$x" -I. -fsyntax-only "$D.impl.c" || exit 1; fi
    done
    lean $all
    note "all of them: $bytes of $whole bytes are left"
    if command -v "$CLANG" >/dev/null 2>&1; then $CLANG -std=c99 $EVERYTHING $all -I. -fsyntax-only "$D.impl.c" || exit 1; fi
    for x in OPENAI_CHAT ANTHROPIC; do
        lean $(echo "$all" | sed "s/ -DAGENT_NO_$x\\>//")
        note "only $x: $bytes bytes"
    done
    $GCC -std=c99 $WALL -g -I. $(echo "$all" | sed 's/ -DAGENT_NO_OPENAI_CHAT\>//') tests/lean.c -o "$D.lean" && "$D.lean" || exit 1
}
# The optional part on mbedTLS, under the walls of gcc and clang, its headers aside.
gate_tls() {
    printf '#include <mbedtls/ssl.h>\n' >"$D.probe.c"
    $GCC -E "$D.probe.c" >/dev/null 2>&1 || skip "mbedTLS's headers are not installed"
    units c
    $GCC -std=c99 $WALL $PROTOTYPES -O2 -Wframe-larger-than=512 -DAGENT_MBEDTLS -I. -c "$D.impl.c" -o "$D.o" || exit 1
    $GCC -std=c11 $WALL $PROTOTYPES -DAGENT_MBEDTLS -I. -fsyntax-only "$D.impl.c" || exit 1
    if command -v "$GXX" >/dev/null 2>&1; then $GXX -x c++ -std=c++11 $WALL -DAGENT_MBEDTLS -I. -fsyntax-only "$D.impl.c" || exit 1; fi
    $GCC -std=c99 -Os -fno-pic -DAGENT_MBEDTLS -I. -c "$D.impl.c" -o "$D.o" || exit 1
    nm -u "$D.o" | awk '{ print $NF }' | grep -vxE 'memcpy|memmove|memset|memcmp|memchr|strlen|realloc|free|bcmp|mbedtls_.*' && { echo "^ needs more than it may"; exit 1; }
    return 0
}
gate_compile_time() {
    need "$GCC"
    units c
    for way in impl plain; do
        for level in -O0 -O2; do
            t=$( { TIMEFORMAT=%U; export TIMEFORMAT; time -p $GCC -std=c99 $level -I. -c "$D.$way.c" -o "$D.o"; } 2>&1 | awk '/^user/ { print $2 }')
            note "$way $level: ${t:-?} s of CPU"
        done
    done
}

# ---- one gate in a process of its own, or all of them -------------------------------------------------------------------
mkdir -p "$B/check"
if [ "$1" = --gate ]; then
    D=$B/check/$2
    rm -rf "$D" "$D".*
    ("gate_$2") >"$D.log" 2>&1
    code=$?
    case $code in
    0) echo "ok $2" ;;
    77) echo "skip $2" ;;
    *) echo "FAIL $2" ;;
    esac >"$D.result"
    {
        cat "$D.result"
        [ -f "$D.note" ] && sed 's/^/     /' "$D.note"
        if [ $code -ne 0 ] && [ $code -ne 77 ]; then
            { grep -E 'error:|warning:|\^ |undefined|recursion|differ|: make |columns' "$D.log" || cat "$D.log"; } | head -n 12 | sed 's/^/     /'
            echo "     (all of it: $D.log)"
        fi
    } >"$D.said"
    cat "$D.said"
    exit 0
fi
if [ "$1" = --object ]; then
    D=$B/check/objects
    object "$2" "$3"
    exit 0
fi
[ $# -gt 0 ] && GATES=$*
rm -f "$B"/check/objects.*
for gate in $GATES; do
    case $WANT_OBJECTS in *" $gate "*) ;; *) continue ;; esac
    D=$B/check/objects
    units c
    for cc in "$GCC" "$CLANG"; do
        if command -v "$cc" >/dev/null 2>&1; then echo "$cc -Os"; echo "$cc -O2"; fi
    done | xargs -P "$JOBS" -n 2 sh tests/check.sh --object
    break
done
for gate in $GATES; do rm -f "$B/check/$gate.result"; done
echo $GATES | tr ' ' '\n' | xargs -P "$JOBS" -n 1 sh tests/check.sh --gate
passed=0 failed=0 skipped=0
for gate in $GATES; do
    case $(cat "$B/check/$gate.result" 2>/dev/null) in
    ok*) passed=$((passed + 1)) ;;
    skip*) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) ;;
    esac
done
[ $skipped -gt 0 ] && echo "check: $passed passed, $failed failed, $skipped skipped" || echo "check: $passed passed, $failed failed"
[ $failed -eq 0 ]
