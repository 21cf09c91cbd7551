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
chat() { "$B/chat" --json --set max_retries=0 --base-url "$url" "$@" </dev/null >"$tmp/out" 2>"$tmp/err"; code=$?; found="$(joined <"$tmp/out")
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

# ---- each tool, in a directory of its own ----
here=$(pwd)
case $B in /*) ;; *) B=$here/$B ;; esac
desk() {                        # a fresh $tmp/desk
    rm -rf "$tmp/desk" "$tmp/outside"
    mkdir -p "$tmp/desk/sub" "$tmp/outside"
    echo secret >"$tmp/outside/secret"
    printf 'one\ntwo\nthree\nfour\nfive\n' >"$tmp/desk/five.txt"
    printf 'two (of it)\n' >"$tmp/desk/sub/b.txt"
    printf 'two\0two\n' >"$tmp/desk/sub/binary"
    ln -s ../outside "$tmp/desk/out"
    ln -s ../outside/new "$tmp/desk/dangling"
}
at_desk() {                     # CALL ARGUMENTS: $result is its tool_result from "is_error" on
    start_model "turn
call $1
turn always
text ok"
    shift
    found=$(cd "$tmp/desk" && "$B/chat" --json --base-url "$url" --prompt hi "$@" </dev/null 2>"$tmp/err"; echo "exit $?")
    result=$(say "$found" | sed -n 's/.*"tool_result".*"is_error":\(.*\),"text":"\(.*\)"}$/\1 \2/p')
    [ "$(say "$found" | tail -n 1)" = "exit 0" ] || result="$result, $(say "$found" | tail -n 1)"
}
tool() { at_desk "$2" --yes; check "$1" "$3" "$result"; }    # NAME CALL WANTED
outside='true only files below the working directory can be used'
desk
tool "list" 'list c {}' 'false dangling (link)\nfive.txt (24)\nout (link)\nsub/\n'
tool "list: a directory" 'list c {"path":"sub"}' 'false b.txt (12)\nbinary (8)\n'
tool "list: not there" 'list c {"path":"nope"}' 'true No such file or directory'
tool "list: a file" 'list c {"path":"five.txt"}' 'true Not a directory'
tool "list: above" 'list c {"path":".."}' "$outside"
tool "list: through a link" 'list c {"path":"out"}' "$outside"
tool "list: no string" 'list c {"path":[]}' 'true path has to be a string'
mkdir "$tmp/desk/empty"
tool "list: an empty directory" 'list c {"path":"empty"}' 'false [nothing is in this directory]'
(cd "$tmp/desk/empty" && i=1000 && while [ $i -lt 2003 ]; do : >$i; i=$((i + 1)); done)
tool "list: too many" 'list c {"path":"empty"}' "false $(i=1000; while [ $i -lt 2000 ]; do printf '%s (0)\\n' $i; i=$((i + 1)); done)[3 more entries are not shown]\\n"

desk
tool "read_file" 'read_file c {"path":"five.txt"}' 'false one\ntwo\nthree\nfour\nfive\n'
tool "read_file: some lines" 'read_file c {"path":"five.txt","offset":2,"limit":2}' 'false two\nthree\n[10 bytes more; the next line is offset 4]'
tool "read_file: the last lines" 'read_file c {"path":"./sub/../five.txt","offset":5}' 'false five\n'
tool "read_file: behind the end" 'read_file c {"path":"five.txt","offset":6}' 'true the file has only 5 lines'
tool "read_file: offset 0" 'read_file c {"path":"five.txt","offset":0}' 'true offset has to be a whole number from 1'
tool "read_file: no number" 'read_file c {"path":"five.txt","limit":"2"}' 'true limit has to be a whole number from 1'
tool "read_file: binary" 'read_file c {"path":"sub/binary"}' 'true this is no text file'
tool "read_file: a directory" 'read_file c {"path":"sub"}' 'true this is a directory'
tool "read_file: through a link" 'read_file c {"path":"out/secret"}' "$outside"
tool "read_file: no path" 'read_file c {}' 'true path has to be a string'
tool "read_file: a NUL" 'read_file c {"path":"five.txt\u0000x"}' 'true path must not hold a NUL'
: >"$tmp/desk/empty"
tool "read_file: nothing in it" 'read_file c {"path":"empty"}' 'false '
awk 'BEGIN { for (i = 0; i < 1000; i++) printf "%0127d\n", i }' >"$tmp/desk/big"
at_desk 'read_file c {"path":"big"}'
check "read_file: a big one" '[62464 bytes more; the next line is offset 513]' "$(say "$result" | sed 's/.*\\n//')"

tool "search: plain" 'search c {"pattern":"two"}' 'false five.txt:2: two\nsub/b.txt:1: two (of it)\n'
tool "search: below" 'search c {"pattern":"two","path":"sub"}' 'false sub/b.txt:1: two (of it)\n'
tool "search: one file" 'search c {"pattern":"two","path":"five.txt"}' 'false five.txt:2: two\n'
tool "search: a regular expression" 'search c {"pattern":"^f(ou|x)r$"}' 'false five.txt:4: four\n'
tool "search: no regular expression" 'search c {"pattern":"two ("}' 'false sub/b.txt:1: two (of it)\n'
tool "search: both" 'search c {"pattern":"(of it)"}' 'false sub/b.txt:1: two (of it)\n'
tool "search: too large an expression" 'search c {"pattern":"((a{1,255}){1,255}){1,255}"}' 'false no line matches\n'
tool "search: nothing" 'search c {"pattern":"seven"}' 'false no line matches\n'
tool "search: links are not followed" 'search c {"pattern":"secret"}' 'false no line matches\n'
tool "search: above" 'search c {"pattern":"secret","path":"../outside"}' "$outside"
tool "search: no pattern" 'search c {"path":"sub"}' 'true pattern has to be a string'
tool "search: an empty pattern" 'search c {"pattern":""}' 'true pattern must not be empty'
at_desk 'search c {"pattern":"^0","path":"big"}'
check "search: many" '202 [only the first of 1000 lines are shown]' \
    "$(say "$result" | sed 's/\\n/\
/g' | wc -l | tr -d ' ') $(say "$result" | sed 's/\\n$//; s/.*\\n//')"

desk
tool "write: a new file" 'write c {"path":"new/er/n.txt","content":"a\nb\n"}' 'false created, 2 lines'
check "write: it is there" 'a
b' "$(cat "$tmp/desk/new/er/n.txt")"
chmod 750 "$tmp/desk/five.txt"
tool "write: over a file" 'write c {"path":"five.txt","content":"one\n2\nthree\nfour\nfive\n"}' 'false written at line 2: 1 line out, 1 line in'
check "write: what it was, and its mode" '2 -rwxr-x---' "$(sed -n 2p "$tmp/desk/five.txt") $(ls -l "$tmp/desk/five.txt" | cut -c 1-10)"
tool "write: the same" 'write c {"path":"new/er/n.txt","content":"a\nb\n"}' 'false written as it was'
tool "write: nothing" 'write c {"path":"new/er/n.txt","content":""}' 'false written at line 1: 2 lines out, 0 lines in'
check "write: no file is left over" 'n.txt' "$(ls -A "$tmp/desk/new/er")"
tool "write: a directory" 'write c {"path":"sub","content":""}' 'true this is a directory'
tool "write: a directory that is not there" 'write c {"path":"x/","content":""}' 'true path has to name a file'
tool "write: no content" 'write c {"path":"x"}' 'true content has to be a string'
tool "write: no path" 'write c {"path":"","content":"x"}' 'true path must not be empty'
tool "write: a file as a directory" 'write c {"path":"five.txt/x","content":"x"}' 'true Not a directory'
for path in ../outside/x out/x out/sub/x "$tmp/outside/x" sub/../../outside/x; do
    tool "write: $path" "write c {\"path\":\"$path\",\"content\":\"x\"}" "$outside"
done
for path in dangling nope/../../outside/x; do
    tool "write: $path" "write c {\"path\":\"$path\",\"content\":\"x\"}" 'true No such file or directory'
done
check "write: nothing came outside" secret "$(ls -A "$tmp/outside")"

desk
tool "edit" 'edit c {"path":"five.txt","old":"two\nthree","new":"2\n2.5\n3"}' 'false edited at line 2: 2 lines out, 3 lines in'
check "edit: it did" 'one 2 2.5 3 four five' "$(tr '\n' ' ' <"$tmp/desk/five.txt" | sed 's/ $//')"
tool "edit: to nothing" 'edit c {"path":"five.txt","old":"2.5\n","new":""}' 'false edited at line 3: 1 line out, 0 lines in'
tool "edit: not there" 'edit c {"path":"five.txt","old":"Two","new":"x"}' 'true old is not in the file; it has to be there exactly, with all blanks and line ends'
tool "edit: twice there" 'edit c {"path":"five.txt","old":"f","new":"x"}' \
    'true old is in the file more than once, so add text around it; it begins in lines 4, 5'
tool "edit: nothing new" 'edit c {"path":"five.txt","old":"four","new":"four"}' 'true old and new are the same'
tool "edit: an empty old" 'edit c {"path":"five.txt","old":"","new":"x"}' 'true old must not be empty'
tool "edit: no new" 'edit c {"path":"five.txt","old":"one"}' 'true new has to be a string'
tool "edit: no file" 'edit c {"path":"nope","old":"one","new":"x"}' 'true No such file or directory'
tool "edit: binary" 'edit c {"path":"sub/binary","old":"two","new":"x"}' 'true this is no text file'
tool "edit: outside" 'edit c {"path":"out/secret","old":"secret","new":"x"}' "$outside"
check "edit: nothing else changed" 'one 2 3 four five secret' "$(cat "$tmp/desk/five.txt" "$tmp/outside/secret" | tr '\n' ' ' | sed 's/ $//')"

tool "run" 'run c {"command":"echo hello"}' 'false hello\n'
tool "run: an empty command" 'run c {"command":""}' 'true command must not be empty'
tool "run: no command" 'run c {}' 'true command has to be a string'
tool "run: a signal" 'run c {"command":"kill -9 $$"}' 'true \n[killed by signal 9]'
tool "run: no input" 'run c {"command":"cat"}' 'false '
at_desk 'run c {"command":"yes | head -c 100000; exit 4"}' --yes
check "run: too much output" '65536 bytes; true, [34464 bytes more are not shown]\n[exit code 4]' \
    "$(say "$result" | sed 's/\\n\[.*//; s/^true //; s/\\n/n/g' | tr -d '\n' | wc -c | tr -d ' ') bytes; $(say "$result" | sed 's/ .*//'), $(say "$result" | sed 's/.*y\\n\\n//')"

desk
for call in 'write c {"path":"x","content":"x"}' 'edit c {"path":"five.txt","old":"two","new":"x"}' 'run c {"command":"touch x"}'; do
    at_desk "$call"
    check "nobody to ask: $call" 'true The host declined to run this tool.' "$result"
done
check "nobody asked, nothing done" 'dangling five.txt out sub two' "$(ls "$tmp/desk" | tr '\n' ' ')$(sed -n 2p "$tmp/desk/five.txt")"

# ---- questions: stdin is a terminal ----
cat >"$tmp/ask.c" <<'END'
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)      /* ask ANSWERS PROGRAM ARGUMENTS: the program with a terminal on stdin, the answers typed ahead */
{
    int tty = posix_openpt(O_RDWR | O_NOCTTY), status = 0, in;
    pid_t pid;
    if (argc < 3 || tty < 0 || grantpt(tty) || unlockpt(tty) || (in = open(ptsname(tty), O_RDWR | O_NOCTTY)) < 0) return 99;
    if (write(tty, argv[1], strlen(argv[1])) < 0) return 99;
    pid = fork();
    if (pid == 0) { dup2(in, 0); close(in); close(tty); execv(argv[2], argv + 2); _exit(127); }
    while (waitpid(pid, &status, 0) < 0) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
END
asked() {                       # NAME ANSWERS CALLS WANTED: what was asked and shown
    desk
    start_model "turn
$3
turn always
text ok"
    found=$(cd "$tmp/desk" && "$tmp/ask" "$2" "$B/chat" --base-url "$url" --prompt hi 2>&1; echo "exit $?")
    check "$1" "$4" "$found"
}
if ${CC:-cc} "$tmp/ask.c" -o "$tmp/ask" 2>"$tmp/err" && "$tmp/ask" '' /bin/sh -c 'test -t 0'; then
two_writes='call write c1 {"path":"a","content":"1\n2\n"}
call edit c2 {"path":"five.txt","old":"two\nthree","new":"2"}
call run c3 {"command":"echo here"}'
asked "questions: yes" 'y
Yes
y
' "$two_writes" '[write a]
[edit five.txt]
[run echo here]
a new file, 2 lines
+1
+2
write `a`? [y]es, [n]o, [a]lways:   write: ok, 16 bytes: created, 2 lines
@@ -2,2 +2,1 @@
-two
-three
+2
edit `five.txt`? [y]es, [n]o, [a]lways:   edit: ok, 40 bytes: edited at line 2: 2 lines out, 1 line in
run `echo here`? [y]es, [n]o, [a]lways:   run: ok, 5 bytes: here
ok
[done, 2 steps]
exit 0'
check "questions: yes, done" '1 2 one 2 four five' "$(cat "$tmp/desk/a" "$tmp/desk/five.txt" | tr '\n' ' ' | sed 's/ $//')"
asked "questions: no" 'n

x
' "$two_writes" '[write a]
[edit five.txt]
[run echo here]
a new file, 2 lines
+1
+2
write `a`? [y]es, [n]o, [a]lways:   write: error, 29 bytes: The user does not allow this.
@@ -2,2 +2,1 @@
-two
-three
+2
edit `five.txt`? [y]es, [n]o, [a]lways:   edit: error, 29 bytes: The user does not allow this.
run `echo here`? [y]es, [n]o, [a]lways:   run: error, 29 bytes: The user does not allow this.
ok
[done, 2 steps]
exit 0'
check "questions: no, nothing done" '24 dangling five.txt out sub' "$(wc -c <"$tmp/desk/five.txt" | tr -d ' ') $(ls "$tmp/desk" | tr '\n' ' ' | sed 's/ $//')"
asked "questions: always" 'a
n
' 'call write c1 {"path":"a","content":"1\n"}
call write c2 {"path":"b","content":"1\n"}
call run c3 {"command":"echo here"}' '[write a]
[write b]
[run echo here]
a new file, 1 line
+1
write `a`? [y]es, [n]o, [a]lways:   write: ok, 15 bytes: created, 1 line
  write: ok, 15 bytes: created, 1 line
run `echo here`? [y]es, [n]o, [a]lways:   run: error, 29 bytes: The user does not allow this.
ok
[done, 2 steps]
exit 0'
asked "no question about what cannot work" '' 'call edit c1 {"path":"five.txt","old":"f","new":"1"}
call write c2 {"path":"out/x","content":"1"}
call run c3 {}' '[edit five.txt]
[write out/x]
[run]
  edit: error, 81 bytes: old is in the file more than once, so add text around it; it begins in lines 4, 5
  write: error, 50 bytes: only files below the working directory can be used
  run: error, 26 bytes: command has to be a string
ok
[done, 2 steps]
exit 0'
asked "the end of stdin is a no" "$(printf '\004')" 'call run c {"command":"echo \u001b[2J"}' '[run echo ?[2J]
run `echo ?[2J`? [y]es, [n]o, [a]lways:   run: error, 29 bytes: The user does not allow this.
ok
[done, 2 steps]
exit 0'
else
    echo "test_chat: skipped 7, there is no pseudo terminal here"
fi

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
