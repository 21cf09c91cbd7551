# What the scripts of build/chat have in common: sourced in the project's folder, with $B. No check depends on how fast anything is.
tmp=$(mktemp -d) || exit 1
passed=0 failed=0 model=
unset OPENAI_API_KEY LLAMA_API_KEY
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
say() { printf '%s\n' "$1"; }        # echo would undo what is escaped
start_model() {                 # SCRIPT: $url is where it listens
    stop_model
    : >"$tmp/address"
    "$B/scripted-model" --script "$1" >"$tmp/address" &
    model=$!
    until grep -q listening "$tmp/address"; do
        kill -0 "$model" 2>/dev/null || { echo "scripted-model did not start"; return 1; }
        sleep 0.05
    done
    url=http://$(sed 's/listening on //' "$tmp/address")/v1
}
# Neighbouring texts are one text in pieces; offsets and the words of the connection are not promised.
joined() {
    awk '
        function flush() { if (kind != "") print "{\"ev\":\"" kind "\",\"text\":\"" all "\"}"; kind = ""; all = "" }
        match($0, /^\{"ev":"(text|reasoning)","text":"/) {
            split($0, q, "\""); if (q[4] != kind) flush(); kind = q[4]
            all = all substr($0, RLENGTH + 1, length($0) - RLENGTH - 2); next }
        /^\{"ev":"tool_input"/ { next }
        { flush(); gsub(/,"offset":[0-9]+/, ""); print }
        END { flush() }'
}
chat() { "$B/chat" --json --set max_retries=0 --base-url "$url" "$@" </dev/null >"$tmp/out" 2>"$tmp/err"; code=$?; found="$(joined <"$tmp/out")
exit $code"; }
