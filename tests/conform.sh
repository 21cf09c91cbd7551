#!/bin/sh
# conform.sh [SHARED]: the recorded answers of SHARED/fixtures through build/replay, against what other decoders make of them
# (SHARED/expected), and each of them cut in five ways, which must give the same bytes. A difference passes only if tests/README.md
# lists its path under "Differences from the expectations" and it is still there. Prints two lines `conform …: N passed, M failed`
# a format, and two for the recordings of a llama-server (conform_llama.py).
shared=${1:-../shared}
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
formats='openai-chat:340 anthropic-messages:105 openai-responses:155 gemini:79 gemini-interactions:23 ollama:21 ollama-generate:2 cohere-v2:32 cohere-v1:1 bedrock-converse:53 bedrock-invoke:10'       # and how many recordings there are
# They need python3, and say so of themselves where the folder is missing.
conform_llama() {
    if command -v python3 >/dev/null 2>&1; then python3 tests/conform_llama.py "$B/replay" "$shared/suites/llama_server"; else
        echo "conform llama-server: 0 passed, 0 failed, 17 skipped"
        echo "conform llama-server splits: 0 passed, 0 failed, 17 skipped"
    fi
}
if [ ! -f "$shared/fixtures/INDEX.tsv" ] || ! command -v python3 >/dev/null 2>&1; then
    echo "conform: $shared or python3 is not there"
    for format in $formats; do
        echo "conform ${format%:*}: 0 passed, 0 failed, ${format#*:} skipped"
        echo "conform ${format%:*} splits: 0 passed, 0 failed, ${format#*:} skipped"
    done
    conform_llama
    exit
fi
rm -rf "$B/conform"
mkdir -p "$B/conform"

# Stands in for replay: shows its output, and notes whether it is the same for every cut.
cat >"$B/conform/replay" <<'END'
#!/bin/sh
t=$CONFORM_DIR/$$
cat >"$t.in"
"$CONFORM_REPLAY" "$@" <"$t.in" >"$t.out" || exit 1
for split in 1 7 random:1 random:2; do
    "$CONFORM_REPLAY" "$@" --split $split <"$t.in" >"$t.cut" 2>&1
    cmp -s "$t.out" "$t.cut" || { echo "differs --split $split $* $t.in" >>"$CONFORM_DIR/splits"; cat "$t.out"; exit 0; }
done
echo same >>"$CONFORM_DIR/splits"
cat "$t.out"
rm -f "$t.in" "$t.out" "$t.cut"
END
chmod +x "$B/conform/replay"
CONFORM_REPLAY=$(cd "$B" && pwd)/replay
export CONFORM_REPLAY

# All recordings of format $1. 0: nothing failed.
conform_format() {
    dir=$B/conform/$1
    mkdir -p "$dir"
    : >"$dir/splits"
    : >"$dir/fails"
    CONFORM_DIR=$(cd "$dir" && pwd)
    export CONFORM_DIR
    total=$(awk -F '\t' -v format="$1" '$2 == format' "$shared/fixtures/INDEX.tsv" | wc -l | tr -d ' ')
    python3 "$shared/tools/compare.py" --index "$shared/fixtures/INDEX.tsv" --fixtures "$shared/fixtures" --expected "$shared/expected" \
        --format "$1" --fails "$dir/fails" -q \
        --actual-cmd "$shared/tools/replay-fixture $CONFORM_DIR/../replay {format} {status} {convention} {kind} {file}" >"$dir/summary" 2>&1
    cat "$dir/summary"
    # TOTAL pass P fail F skip S
    judged=$(awk '$1 == "TOTAL" { print $3 + $5 }' "$dir/summary")
    skipped=$(awk '$1 == "TOTAL" { print $7 + 0 }' "$dir/summary")
    if [ -z "$judged" ] || [ $((judged + skipped)) -ne "$total" ]; then
        echo "FAIL compare.py judged ${judged:-0} of $total"
        echo "conform $1: 0 passed, $total failed"
        return 1
    fi

    sed -n '/^## Differences from the expectations/,$s/^| `\([^`]*\)` |.*/\1/p' tests/README.md | grep "^$1/" | sort >"$dir/listed"
    cut -f 1 "$dir/fails" | sed '/^$/d' | sort >"$dir/differ"
    failed=0
    while IFS= read -r line; do
        path=$(printf '%s' "$line" | cut -f 1)
        [ -n "$path" ] || continue
        if grep -Fqx -- "$path" "$dir/listed"; then echo "differs, as tests/README.md explains: $path"
        else
            failed=$((failed + 1))
            echo "FAIL $line"
        fi
    done <"$dir/fails"
    for path in $(cat "$dir/listed"); do
        if ! grep -Fqx -- "$path" "$dir/differ"; then
            failed=$((failed + 1))
            echo "FAIL $path is listed as a difference in tests/README.md and is none"
        fi
    done
    passed=$((judged - failed))
    [ $passed -ge 0 ] || passed=0
    if [ "$skipped" -gt 0 ]; then more=", $skipped skipped"; else more=; fi
    echo "conform $1: $passed passed, $failed failed$more"

    same=$(grep -c '^same$' "$dir/splits")
    grep '^differs' "$dir/splits"
    echo "conform $1 splits: $same passed, $((judged - same)) failed"
    [ $failed -eq 0 ] && [ "$same" -eq "$judged" ]
}
rc=0
for format in $formats; do conform_format "${format%:*}" || rc=1; done
conform_llama || rc=1
exit $rc
