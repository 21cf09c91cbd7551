#!/bin/sh
# build/chat against build/scripted-model, end to end: exact output and exit codes. No check depends on how fast anything is.
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
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
chat() { "$B/chat" --json --base-url "$url" "$@" </dev/null >"$tmp/out" 2>"$tmp/err"; code=$?; found="$(joined <"$tmp/out")
exit $code"; }
run_one='{"ev":"run_start","run":1}
{"ev":"step_start","step":1}'

# ---- text, in all shapes ----
wanted="$run_one"'
{"ev":"text","text":"Grüße, \"world\".\nBye."}
{"ev":"finish","reason":"stop","raw":"stop","usage":{"input":7,"output":5,"cached":3,"reasoning":1}}
{"ev":"run_end","reason":"done","steps":1}
exit 0'
text='text "Gr\u00fc\u00dfe, \"world\".\nBye."
usage 7 5 3 1'
for how in "" "piece 1" "bytes 1" "bytes 2" "bytes 3" "bytes 7" "bytes 1
piece 2" "bytes 64" "chunked off" "chunked off
bytes 1" "whole" "whole
bytes 1" "whole
chunked off" "no-done" "close" "delay 1
piece 3"; do
    start_model "$how
turn
$text"
    chat --prompt hi
    check "text: $how" "$wanted" "$found"
done

# ---- reasoning and parallel tools ----
tools='turn
reasoning "hm, "
reasoning "yes"
text "Looking."
call read_file c1 {"path":"LICENSE-IS-NOT-HERE"}
call run c2 {"command":"echo out; echo err >&2; exit 3"}
call fly c3 {"to":"the moon"}
call run c4 {"command":
usage 10 20
turn
when "exit code 3"
text never
turn
text "Done."
usage 30 2'
wanted="$run_one"'
{"ev":"reasoning","text":"hm, yes"}
{"ev":"text","text":"Looking."}
{"ev":"tool_call","id":"c1","name":"read_file","args":{"path":"LICENSE-IS-NOT-HERE"}}
{"ev":"tool_call","id":"c2","name":"run","args":{"command":"echo out; echo err >&2; exit 3"}}
{"ev":"tool_call","id":"c3","name":"fly","args":{"to":"the moon"}}
{"ev":"tool_call","id":"c4","name":"run","args_raw":"{\"command\":","args_error":true}'
start_model "$tools"
chat --yes --prompt hi
check "tools: exit code" "exit 0" "$(say "$found" | tail -n 1)"
check "tools: the calls" "$wanted" "$(say "$found" | head -n 8)"
check "tools: a command's output" '{"ev":"tool_result","id":"c2","name":"run","is_error":true,"text":"out\nerr\n\n[exit code 3]"}' \
    "$(say "$found" | grep '"tool_result","id":"c2"')"
check "tools: a missing file" '{"ev":"tool_result","id":"c1","name":"read_file","is_error":true,"text":"No such file or directory"}' \
    "$(say "$found" | grep '"tool_result","id":"c1"')"
check "tools: one result each" 4 "$(say "$found" | grep -c '"tool_result"')"
check "tools: all errors" 4 "$(say "$found" | grep -c '"is_error":true')"
check "tools: the end" '{"ev":"step_start","step":2}
{"ev":"text","text":"Done."}
{"ev":"finish","reason":"stop","raw":"stop","usage":{"input":30,"output":2}}
{"ev":"run_end","reason":"done","steps":2}' "$(say "$found" | tail -n 5 | head -n 4)"
whole_found=$found
for how in "bytes 1" "args-in-pieces 5
piece 1" "whole"; do
    start_model "$how
$tools"
    chat --yes --prompt hi
    check "tools: $how" "$(say "$whole_found" | sort)" "$(say "$found" | sort)"
done
start_model 'turn
call run c1 {"command":"echo never"}
call read_file c2 {"path":"../x"}
call read_file c3 {"path":"tests"}
call read_file c4 {"path":7}
call read_file c5 {"path":"/etc/passwd"}
turn
when "below the working directory"
text ok'
chat --prompt hi
check "a command nobody allows" '{"ev":"tool_result","id":"c1","name":"run","is_error":true,"text":"The host declined to run this tool."}' \
    "$(say "$found" | grep '"tool_result","id":"c1"')"
check "files it must not read" 5 "$(say "$found" | grep -c '"is_error":true')"
check "… and the run goes on" "exit 0" "$(say "$found" | tail -n 1)"
start_model 'turn
call read_file c1 {"path":"agent_impl/agent.c"}
turn
when "AGENT_IMPLEMENTATION"
text "I see it."'
chat --prompt hi
check "a file it may read" '{"ev":"text","text":"I see it."}' "$(say "$found" | grep '"text","text"')"

# ---- errors ----
error() {                       # NAME SCRIPT LINES-BEHIND-THE-START
    start_model "$2"
    chat --prompt hi
    check "$1" "$run_one
$3
exit 1" "$found"
}
error "429" 'turn
retry-after 7
error 429 "Slow down" rate_limit_exceeded' '{"ev":"error","kind":"rate_limit","code":"rate_limit_exceeded","message":"Slow down","retryable":true,"http_status":429,"retry_after_ms":7000}
{"ev":"run_end","reason":"failed","steps":1}'
error "500" 'bytes 1
turn
error 500 "Broken"' '{"ev":"error","kind":"server","code":"scripted_error","message":"Broken","retryable":true,"http_status":500}
{"ev":"run_end","reason":"failed","steps":1}'
error "401" 'turn
error 401 "Who are you?"' '{"ev":"error","kind":"auth","code":"scripted_error","message":"Who are you?","retryable":false,"http_status":401}
{"ev":"run_end","reason":"failed","steps":1}'
error "an error in the stream" 'turn
text "half of "
error-in-stream "It broke"' '{"ev":"text","text":"half of "}
{"ev":"error","kind":"server","code":"scripted_error","message":"It broke","retryable":true,"http_status":200}
{"ev":"run_end","reason":"failed","steps":1}'
cut() { start_model "$1"; chat --prompt hi; check "a cut: $1" "exit 1 half of true" \
    "$(say "$found" | tail -n 1) $(say "$found" | sed -n 's/^{"ev":"text","text":"\(.*\)"}/\1/p')$(say "$found" | sed -n 's/^{"ev":"error","kind":"transport".*"retryable":\([a-z]*\).*/\1/p')"; }
cut 'turn
text "half of "
cut'
cut 'chunked off
turn
text "half of "
cut'
cut 'bytes 1
turn
text "half of "
cut'
error "no finish" 'turn
no-done
finish none' '{"ev":"error","kind":"transport","message":"the answer ended without a terminal signal","retryable":true,"http_status":200}
{"ev":"run_end","reason":"failed","steps":1}'
stop_model
chat --prompt hi
check "nobody there" "exit 1 transport" "$(say "$found" | tail -n 1) $(say "$found" | sed -n 's/.*"kind":"\([a-z]*\)".*/\1/p')"

# ---- cancel: once the text has begun ----
cancel() {                      # NAME SCRIPT WHAT-TO-WAIT-FOR ARGUMENTS: $found
    start_model "$2"
    : >"$tmp/out"
    name=$1 word=$3
    shift 3
    "$B/chat" --json --base-url "$url" --prompt hi "$@" </dev/null >"$tmp/out" 2>"$tmp/err" &
    chat_pid=$!
    until grep -q "$word" "$tmp/out" || ! kill -0 $chat_pid 2>/dev/null; do sleep 0.05; done
    kill -TERM $chat_pid        # a shell's background job ignores SIGINT
    wait $chat_pid
    code=$?
    check "$name" '{"ev":"run_end","reason":"cancelled","steps":1} exit 130' "$(tail -n 1 "$tmp/out") exit $code"
}
cancel "cancel in a slow stream" 'piece 1
delay 20
turn
text "1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"' '"ev":"text"'
cancel "cancel while a command runs" 'turn
call run c1 {"command":"echo begun; sleep 1000"}' '"ev":"tool_call"' --yes
check "a result for what was cancelled" 1 "$(grep -c '"tool_result","id":"c1","name":"run","is_error":true' "$tmp/out")"

# ---- prompts through a pipe ----
start_model 'turn
when one
text "Answer one."
turn
when two
text "Answer two."'
found=$(printf 'one\n\n   \ntwo' | "$B/chat" --base-url "$url" 2>&1; echo "exit $?")
check "prompts through a pipe" 'Answer one.
[done, 1 step]
Answer two.
[done, 1 step]
exit 0' "$found"
start_model 'turn
text "\u001b[31mred\u0007\u009b and\ttab"'
check "no control characters reach the terminal" '?[31mred?? and	tab
[done, 1 step]' "$("$B/chat" --base-url "$url" --prompt hi 2>&1 </dev/null)"

# ---- the demo ----
found=$("$B/chat" --yes --prompt 'What is in this directory?' 2>"$tmp/err" </dev/null; echo "exit $?")
check "the demo" "exit 0" "$(say "$found" | tail -n 1)"
check "the demo says what it is" 1 "$(grep -c 'this is the demo' "$tmp/err")"
mkdir "$tmp/bin" && cp "$B/chat" "$B/scripted-model" "$tmp/bin"
found=$("$tmp/bin/chat" --prompt hi 2>/dev/null </dev/null; echo "exit $?")
check "the demo without its script" "exit 0" "$(say "$found" | tail -n 1)"

# ---- wrong usage ----
wrong() {                       # EXIT-CODE WORD ARGUMENTS
    want=$1 word=$2
    shift 2
    "$B/chat" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    code=$?
    check "wrong usage: $*" "$want, 1 line with $word, nothing on stdout" \
        "$code, $(wc -l <"$tmp/err" | tr -d ' ') line with $(grep -o -- "$word" "$tmp/err" | head -n 1), $([ -s "$tmp/out" ] && echo something || echo nothing) on stdout"
}
wrong 2 nobody --provider nobody --prompt hi
wrong 2 gemini --provider gemini --prompt hi
wrong 2 TLS --base-url https://example.com/v1 --prompt hi
wrong 2 TLS --base-url HTTPS://example.com/v1 --prompt hi
wrong 2 --acp --acp x
wrong 2 --session --session x
wrong 2 --record --record x
wrong 2 --nothing --nothing
wrong 2 --prompt --prompt
wrong 2 empty --prompt ''
wrong 2 URL --base-url nonsense --prompt hi
found=$(OPENAI_API_KEY=k "$B/chat" --json --prompt hi 2>&1 </dev/null; echo "exit $?")
check "a provider behind TLS" "exit 1 TLS" "$(say "$found" | tail -n 1) $(say "$found" | grep -o TLS | head -n 1)"

# ---- scripts ----
bad() {                         # SCRIPT MESSAGE
    printf '%s' "$1" >"$tmp/bad.script"
    found=$("$B/scripted-model" "$tmp/bad.script" 2>&1; echo "exit $?")
    check "bad script: $1" "$tmp/bad.script:$2
exit 2" "$found"
}
bad 'turn
txt hi' '2: unknown directive: txt'
bad '# note

text hi' '3: before the first turn: text'
bad 'turn
piece 0' '2: no number that fits: 0'
bad 'turn
usage 1' '2: missing here: IN OUT'
bad 'turn
text "open' '2: a string without its end: "open'
bad 'turn
cut now' '2: too much on this line: now'
check "no script" "exit 2" "$("$B/scripted-model" /nonexistent.script 2>/dev/null; echo "exit $?")"

echo "test_chat: $passed passed, $failed failed"
[ $failed -eq 0 ]
