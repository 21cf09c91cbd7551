#!/bin/sh
# extract_example.sh manual NAME FILE: the code between `---8<--- NAME` and `--->8---` in a comment of FILE.
# extract_example.sh markdown FILE:    the first block ```c of FILE.
case $1 in
manual)
    awk -v name="$2" '
        $0 ~ /---8<---/ && $NF == name { on = 1; next }
        on && /--->8---/ { exit }
        on { sub(/^ \* ?/, ""); sub(/^  /, ""); print }' "$3" ;;
markdown)
    awk '/^```c$/ && !on { on = 1; next }
         on && /^```/ { exit }
         on { print }' "$2" ;;
*) echo "usage: extract_example.sh manual NAME FILE | markdown FILE" >&2; exit 2 ;;
esac
