#!/bin/sh
# The examples as clients: each is run, what it prints is compared. curl is built and run where libcurl is. B, CC, CFLAGS: see run.sh.
cd "$(dirname "$0")/.." || exit 1
B=${B:-build} CC=${CC:-cc} CFLAGS=${CFLAGS:--O1 -g}
tmp=$(mktemp -d) || exit 1
passed=0 failed=0 skipped=0 model=
stop_model() {
    [ -n "$model" ] || return 0
    kill "$model" 2>/dev/null
    wait "$model" 2>/dev/null
    model=
}
trap 'stop_model; rm -rf "$tmp"' EXIT
check() {                       # NAME WANTED FOUND
    if [ "$2" = "$3" ]; then passed=$((passed + 1)); return; fi
    failed=$((failed + 1))
    printf 'FAIL %s\n--- wanted\n%s\n--- found\n%s\n' "$1" "$2" "$3"
}
start_model() {                 # SCRIPT: $url is where it listens
    : >"$tmp/address"
    "$B/scripted-model" --script "$1" >"$tmp/address" &
    model=$!
    until grep -q listening "$tmp/address"; do
        kill -0 "$model" 2>/dev/null || { echo "scripted-model did not start"; return 1; }
        sleep 0.05
    done
    url=http://$(sed 's/listening on //' "$tmp/address")/v1
}

check hello "Hello there.; exit 0" "$("$B/hello" 2>&1); exit $?"
# the two tools run side by side: what they print comes in any order
check threads 'Both ran.
call 1: sh {"command":"echo one; echo two"}
call 2: sh {"command":"echo three; exit 3"}
call 3: sh {"command":"echo started; sleep 1000"}
result 1: ok
result 2: error
result 3: cancelled' "$("$B/tools-threads" 2>&1 | LC_ALL=C sort)"

# TEST_QUICK: with the code that is compiled already
parts=
if [ -n "$TEST_QUICK" ] && [ -f "$B/parts_0.o" ]; then parts="-DAGENTI_SPLIT $(echo "$B"/parts_*.o)"; fi
if printf '#include <curl/curl.h>\n' | $CC -E -xc - >/dev/null 2>&1 && $CC $CFLAGS -I. examples/curl.c $parts -o "$B/curl" -lcurl 2>"$tmp/log"; then
    start_model 'bytes 7
turn
text "By way of curl."
turn
error 400 "Slow down"
turn
whole
chunked off
text "Until the end."
turn
text half
cut'
    check "curl: a stream" "By way of curl.; exit 0" "$("$B/curl" "$url" m hi 2>&1); exit $?"
    found=$("$B/curl" "$url" m hi 2>&1)
    check "curl: an error's exit code" 1 $?
    case $found in *"Slow down"*) found=yes ;; esac
    check "curl: an error" yes "$found"
    check "curl: a whole answer" "Until the end.; exit 0" "$("$B/curl" "$url" m hi 2>&1); exit $?"
    "$B/curl" "$url" m hi >"$tmp/out" 2>"$tmp/err"
    check "curl: a cut" "1 half" "$? $(cat "$tmp/out")"
    stop_model
    "$B/curl" "$url" m hi >/dev/null 2>&1
    check "curl: nobody there" 1 $?
else
    skipped=6
    cat "$tmp/log" 2>/dev/null
fi
printf 'test_clients: %s passed, %s failed' $passed $failed
[ $skipped -gt 0 ] && printf ', %s skipped' $skipped
echo
[ $failed -eq 0 ]
