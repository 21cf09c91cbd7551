#!/bin/sh
# The list of quirks in tests/README.md: each id has one row; a file that a row names (in backticks, from tests/) is there and says
# `wire-quirks ID`; a row without a file says whose matter it is, and then no test names it. With SHARED's catalogue at hand, its ids
# of sections A to E are all listed. Prints a line for each fault.
cd "$(dirname "$0")/.." || exit 1
LC_ALL=C
export LC_ALL
list=tests/README.md
catalogue=${SHARED:-../shared}/reference/wire-quirks.md

# "id what", one a row
rows() { sed -n '/^## Quirks/,/^## [^Q]/s/^| \([A-H][0-9][0-9]*\) | \(.*\) |$/\1 \2/p' "$list"; }
ids() { for n in $(awk "BEGIN { for (i = 1; i <= $2; i++) print i }"); do echo "$1$n"; done; }
# The ids that files name
named() {
    awk '{ while (match($0, /wire-quirks [A-H][0-9]+/)) { print substr($0, RSTART + 12, RLENGTH - 12); $0 = substr($0, RSTART + RLENGTH) } }' "$@" | sort -u
}
says() { # file, id
    awk -v id="$2" '{ t = $0; while ((i = index(t, "wire-quirks " id)) > 0) { t = substr(t, i + 12 + length(id)); if (t !~ /^[0-9]/) found = 1 } }
        END { exit !found }' "$1"
}
passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }

B=${B:-build}
mkdir -p "$B"
rows >"$B/quirks.rows"
while read -r id what; do
    files=$(printf '%s\n' "$what" | tr '`' '\n' | sed -n 'n;p')
    if [ -z "$files" ]; then
        case $what in
        host:?*|format:?*|later:?*) ok ;;
        *) bad "$id: neither a file nor host:, format: or later:" ;;
        esac
    fi
    for file in $files; do
        if [ ! -f "tests/$file" ]; then bad "$id: there is no tests/$file"
        elif says "tests/$file" "$id"; then ok
        else bad "$id: tests/$file does not say wire-quirks $id"
        fi
    done
done <"$B/quirks.rows"
for id in $(ids A 22) $(ids B 26) $(ids C 26) $(ids D 15) $(ids E 16) $(ids G 15) H1 H2 H3 H4 H14 H15 H16; do
    n=$(grep -c "^$id " "$B/quirks.rows")
    if [ "$n" -eq 1 ]; then ok; else bad "$id: $n rows"; fi
done
for id in $(named tests/*.c tests/cases/*.json tests/transcripts/*/*.md); do
    if grep -q "^$id .*\`" "$B/quirks.rows"; then ok; else bad "$id: a test names it, and the list has no file for it"; fi
done
skipped=
if [ -f "$catalogue" ]; then
    for id in $(sed -n 's/^\([A-E][0-9][0-9]*\) |.*/\1/p' "$catalogue"); do
        if grep -q "^$id " "$B/quirks.rows"; then ok; else bad "$id: is in the catalogue and not in the list"; fi
    done
else skipped=', 105 skipped'
fi

# The list must not be able to lie: spoiled rows are found. TEST_QUICK: this has run before.
if [ -z "$QUIRKS_SPOILED$TEST_QUICK" ]; then
    for spoil in 's/^| A3 | .*/| A3 | `transcripts\/openai-chat\/no-such-file.md` |/' 's/^| A3 | .*/| A3 | `transcripts\/openai-chat\/01-text.md` |/' \
        '/^| A3 | /d' 's/^| A3 | .*/| A3 | fine |/' 's/^| A3 | .*/| A3 | later: perhaps |/' 's/^| A3 | .*/&\
&/'; do
        rm -rf "$B/quirks"
        mkdir -p "$B/quirks/tests"
        cp -R tests/*.c tests/*.sh tests/cases tests/transcripts "$B/quirks/tests/"
        sed "$spoil" "$list" >"$B/quirks/tests/README.md"
        if cmp -s "$list" "$B/quirks/tests/README.md"; then bad "$spoil changes nothing"
        elif QUIRKS_SPOILED=1 B=build SHARED=none sh "$B/quirks/tests/test_quirks.sh" >/dev/null; then bad "$spoil is not noticed"
        else ok
        fi
    done
    rm -rf "$B/quirks"
fi
rm -f "$B/quirks.rows"
echo "test_quirks: $passed passed, $failed failed$skipped"
[ $failed -eq 0 ]
