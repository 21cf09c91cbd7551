#!/bin/sh
# run.sh DIR NAME COMMAND…: runs one test program; its output goes to DIR/NAME.log, the counts to DIR/NAME.sum
# ("passed failed skipped seconds"). A program that crashes, hangs, fails without saying where or says nothing is one failure.
# A program that prints no counts at all passes when it exits with 0.
dir=$1 name=$2
shift 2
mkdir -p "$dir"
log=$dir/$name.log sum=$dir/$name.sum
rm -f "$sum"
limit=
command -v timeout >/dev/null 2>&1 && limit="timeout -k 5 ${TEST_TIMEOUT:-600}"
start=$(date +%s)
$limit "$@" >"$log" 2>&1 </dev/null
code=$?
seconds=$(($(date +%s) - start))
# All lines `name: N passed, M failed[, K skipped]`; without any, the last line `N passed, M failed`.
counts=$(LC_ALL=C awk '
    { sub(/\r$/, "") }
    /^[A-Za-z][A-Za-z0-9_. -]*: [0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?/ {
        sub(/^[^:]*: /, ""); n++; p += $1; f += $3; s += $5; next }
    /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ { m++; lp = $1; lf = $3; ls = $5 }
    END { if (n) print p + 0, f + 0, s + 0; else if (m) print lp + 0, lf + 0, ls + 0 }' "$log")
said=$counts
if [ -z "$said" ]; then
    if [ $code -eq 0 ]; then counts="1 0 0"; else counts="0 1 0"; fi
fi
set -- $counts
passed=$1 failed=$2 skipped=$3
note=
[ $code -ne 0 ] && note=" (exit code $code)"
if [ $code -ne 0 ] && [ -n "$said" ]; then
    # With code 1 a program says that checks failed; anything else broke it.
    if [ "$failed" -eq 0 ] || [ $code -ne 1 ]; then failed=$((failed + 1)); fi
fi
if [ "$failed" -gt 0 ]; then
    {
        echo "---- $name: last lines of $log"
        tail -n 25 "$log"
    } >&2
fi
[ "$skipped" -gt 0 ] && note=", $skipped skipped$note"
echo "$name: $passed passed, $failed failed$note"
echo "$passed $failed $skipped $seconds" >"$sum"
