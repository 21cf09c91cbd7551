#!/bin/sh
# Conversations in files: chat --session, /save, /load, and kill -9 at any moment.
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
. tests/chat.sh
keep=$tmp/keep.jsonl
kept() { OPENAI_API_KEY=sk-never-in-a-file chat --yes --session "$keep" "$@"; }
two_steps='turn
text "I look."
call read_file c1 {"path":"LICENSE"}
call run c2 {"command":"echo once >>'$tmp'/ran; sleep 0.3"}
turn
text "All is read."'
ended='{"ev":"text","text":"All is read."}
{"ev":"finish","reason":"stop","raw":"stop"}
{"ev":"run_end","reason":"done","steps":2}
exit 0'
rm -f "$tmp/ran"
start_model "$two_steps
turn
when \"and now\"
text \"Now.\""
kept --prompt hi
check "session: a run" "$ended" "$(say "$found" | tail -n 4)"
check "session: its file is the user's alone" "-rw-------" "$(ls -l "$keep" | cut -c 1-10)"
kept --prompt "and now"
check "session: goes on" '{"ev":"loaded","messages":4,"busy":false}
{"ev":"run_start","run":2}
{"ev":"step_start","step":1}
{"ev":"text","text":"Now."}' "$(say "$found" | head -n 4)"
check "session: no key is in it, and no file is left over" "0 keep.jsonl" "$(grep -c never-in-a-file "$keep") $(cd "$tmp" && ls -d keep*)"
cp "$keep" "$tmp/whole.jsonl"
# What is behind the last whole append is left out; what is no session is named, and stays as it is.
head -c $(($(wc -c <"$keep") - 20)) "$tmp/whole.jsonl" >"$keep"
kept --prompt "and now"
check "session: the end is torn" 'loaded 1' "$(say "$found" | sed -n '1s/.*"ev":"\([a-z]*\)".*/\1/p') $(say "$found" | grep -c '"ev":"warning"')"
sed 's/"role":1/"role":9/' "$tmp/whole.jsonl" >"$keep"
cp "$keep" "$tmp/spoiled.jsonl"
kept --prompt "and now"
check "session: no session" "exit 1 same" "$(say "$found" | tail -n 1) $(cmp "$keep" "$tmp/spoiled.jsonl" && echo same)"
check "session: … is named" 1 "$(grep -c "$keep" "$tmp/err")"
sed '1s/.*/{"agent.h":99}/' "$tmp/whole.jsonl" >"$keep"
kept --prompt "and now"
check "session: a newer version" "exit 1 newer" "$(say "$found" | tail -n 1) $(grep -o newer "$tmp/err")"
kept_dir=$keep
keep=$tmp/no/such/place
kept --prompt hi
check "session: a place that is not there" "exit 1" "$(say "$found" | tail -n 1)"
keep=$kept_dir

# Killed after each line of output in turn: who goes on ends it, and the command never runs twice.
start_model "$two_steps"
kept_at() {                     # N: kills it behind N lines of output
    start_model "delay 2
piece 3
$two_steps
turn always
when \"ead\"
text \"All is read.\"
turn always
text \"All is read.\""
    rm -f "$keep" "$tmp/ran"
    mkfifo "$tmp/pipe"
    OPENAI_API_KEY=sk-never-in-a-file "$B/chat" --json --yes --base-url "$url" --session "$keep" --prompt hi </dev/null >"$tmp/pipe" 2>"$tmp/err" &
    pid=$!
    awk -v n="$1" '{ if (NR == n) exit }' <"$tmp/pipe"
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    rm -f "$tmp/pipe"
    kept --set max_retries=3
    case $found in *'"busy":false'*'exit 0') kept --prompt again ;; esac
    ran=$([ -f "$tmp/ran" ] && grep -c once "$tmp/ran" || echo 0)
    last=$(say "$found" | tail -n 4 | head -n 1)
    check "session: killed behind line $1" '{"ev":"text","text":"All is read."} 1' "$last $([ "$ran" -le 1 ] && echo 1)"
    check "session: … and all is well in the file" "1 0" "$(grep -c '"text":"hi"' "$keep") $(grep -c never-in-a-file "$keep")"
}
for n in 1 2 3 5 8 12 16 20 23 24 25 26 27 28 29 30; do kept_at $n; done

# In a terminal's commands: a copy, another conversation, and back.
start_model 'turn always
text "Yes."'
found=$(printf 'one\n/save %s\ntwo\n/load %s\nthree\n/load %s\n/save\n/load\n' "$tmp/copy.jsonl" "$tmp/copy.jsonl" "$tmp/not-there" | "$B/chat" --base-url "$url" 2>&1; echo "exit $?")
check "save and load" "Yes.
[done, 1 step]
[2 messages are in $tmp/copy.jsonl]
Yes.
[done, 1 step]
[loaded 2 messages]
Yes.
[done, 1 step]
chat: No such file or directory
chat: /save wants a file
chat: /load wants a file
exit 1" "$found"
found=$(printf '/load %s\nfour\n' "$tmp/copy.jsonl" | "$B/chat" --base-url "$url" --session "$tmp/other.jsonl" 2>&1; echo "exit $?")
check "load into a session's file" "4" "$(grep -c '^{"msg":' "$tmp/other.jsonl")"
# Two of them on one file
mkfifo "$tmp/pipe"
"$B/chat" --base-url "$url" --session "$tmp/other.jsonl" <"$tmp/pipe" >"$tmp/first" 2>&1 &
pid=$!
exec 9>"$tmp/pipe"
until grep -q loaded "$tmp/first"; do sleep 0.05; done
found=$("$B/chat" --base-url "$url" --session "$tmp/other.jsonl" --prompt hi 2>&1 </dev/null; echo "exit $?")
exec 9>&-
wait "$pid"
rm -f "$tmp/pipe"
check "one chat at a time" "chat: $tmp/other.jsonl: another program has it
exit 1" "$found"

echo "test_chat_session: $passed passed, $failed failed"
[ $failed -eq 0 ]
