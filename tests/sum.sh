#!/bin/sh
# sum.sh DIR NAME…: adds up DIR/NAME.sum; a missing one is a failure. The last line is `N passed, M failed`.
dir=$1
shift
passed=0 failed=0 skipped=0
for name; do
    if [ -f "$dir/$name.sum" ]; then
        read -r p f s t <"$dir/$name.sum"
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
        [ "$f" -gt 0 ] && echo "FAILED: $name, see $dir/$name.log"
    else
        echo "FAILED: $name was not built or not run"
        failed=$((failed + 1))
    fi
done
[ $skipped -gt 0 ] && echo "$skipped skipped: what they need is not here"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
