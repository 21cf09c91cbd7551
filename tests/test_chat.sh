#!/bin/sh
# build/chat against build/scripted-model, end to end: exact output and exit codes.
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
. tests/chat.sh
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

# ---- lines while a run is going on ----
cat >"$tmp/talk.c" <<'END'
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
static char seen[1 << 20];
static size_t seen_n, past;
static int out;
/* talk tty|pipe [WAIT SEND]... -- PROGRAM ARGUMENTS: when WAIT was shown, behind what was waited for before, SEND is typed; `!COMMAND` is
 * run instead. Then stdin ends. Shows all that the program does. */
static int more(int ms)              /* 0: its output has ended                                                         */
{
    struct pollfd p;
    ssize_t n;
    p.fd = out; p.events = POLLIN;
    if (poll(&p, 1, ms) != 1 || seen_n == sizeof seen - 1) { fputs(seen, stdout); puts("talk: it says nothing more"); exit(97); }
    n = read(out, seen + seen_n, sizeof seen - 1 - seen_n);
    if (n > 0) seen_n += (size_t)n;
    return n > 0;
}
int main(int argc, char **argv)
{
    int tty = strcmp(argv[1], "tty") == 0, in[2], up[2], status = 0, i, master = -1;
    const char *at;
    pid_t pid;
    if (tty) {
        if ((master = posix_openpt(O_RDWR | O_NOCTTY)) < 0 || grantpt(master) || unlockpt(master)) return 99;
        fcntl(master, F_SETFD, FD_CLOEXEC);
    } else if (pipe(in) || pipe(up)) return 99;
    if ((pid = fork()) == 0) {
        setsid();
        if (tty) in[0] = up[1] = open(ptsname(master), O_RDWR);          /* the terminal of this session               */
        dup2(in[0], 0); dup2(up[1], 1); dup2(up[1], 2);
        for (i = 3; i < 32; i++) close(i);
        for (i = 2; strcmp(argv[i], "--"); i++) {}
        execv(argv[i + 1], argv + i + 1);
        _exit(127);
    }
    if (!tty) { close(in[0]); close(up[1]); }
    out = tty ? master : up[0];
    for (i = 2; strcmp(argv[i], "--"); i += 2) {
        while ((at = strstr(seen + past, argv[i])) == NULL) if (!more(20000)) { printf("%s\ntalk: never said: %s\n", seen, argv[i]); exit(97); }
        past = (size_t)(at - seen) + strlen(argv[i]);
        if (argv[i + 1][0] == '!') { if (system(argv[i + 1] + 1)) return 99; }
        else if (write(tty ? master : in[1], argv[i + 1], strlen(argv[i + 1])) < 0) return 99;
    }
    if (!tty) close(in[1]);
    else if (write(master, "\004", 1) < 0) return 99;
    while (more(20000)) {}
    while (waitpid(pid, &status, 0) < 0) {}
    printf("%sexit %d\n", seen, WIFEXITED(status) ? WEXITSTATUS(status) : 98);
    return 0;
}
END
${CC:-cc} "$tmp/talk.c" -o "$tmp/talk" 2>"$tmp/err" || { cat "$tmp/err"; check "the driver compiles" yes no; }
live_set=                       # options of chat
live() {                        # SCRIPT [WAIT SEND]...: $found, what is not about connections
    desk
    start_model "$1"
    shift
    found=$(cd "$tmp/desk" && "$tmp/talk" pipe "$@" -- "$B/chat" --json --live --yes --set retry_ms=1 $live_set --base-url "$url" 2>&1)
    found=$(say "$found" | joined)
}
tty() {                         # the same on a terminal, without its codes
    desk
    start_model "$1"
    shift
    found=$(cd "$tmp/desk" && TERM=xterm "$tmp/talk" tty "$@" -- "$B/chat" --yes $live_set --base-url "$url" 2>&1)
    found=$(say "$found" | tr -d '\r\004\010' | sed "s/$(printf '\033')\[[0-9;]*[A-Za-z]//g; s/$(printf '\033')[78]//g; s/\^[CD]//g")
}
kinds() { say "$found" | sed -n 's/^{"ev":"\([a-z_]*\)".*/\1/p' | tr '\n' ' '; }
# lines of kinds, without the braces
only() { say "$found" | grep -E "^\{\"ev\":\"($1)\"" | sed 's/^{"ev"://; s/}$//; s/,"lane":"queue"//'; }
text_ok='turn
text ok'
# A command that ends when the file `go` is there, and takes it away
hold='call run c1 {"command":"until [ -e go ]; do sleep 0.02; done; rm go"}'
go="!touch $tmp/desk/go"

# retries
live 'turn
drop
turn
error 429 "Slow down" busy
turn
error 529 "Too much"
turn
text "At last."' '' 'hi
'
check "retries" '"retry_wait","attempt":1,"max":4,"wait_ms":1,"kind":"transport"
"retry_go","attempt":1,"max":4,"kind":"transport"
"error","kind":"rate_limit","code":"busy","message":"Slow down","retryable":true,"scope":"attempt","http_status":429
"retry_wait","attempt":2,"max":4,"wait_ms":2,"kind":"rate_limit"
"retry_go","attempt":2,"max":4,"kind":"rate_limit"
"error","kind":"overloaded","code":"scripted_error","message":"Too much","retryable":true,"scope":"attempt","http_status":529
"retry_wait","attempt":3,"max":4,"wait_ms":4,"kind":"overloaded"
"retry_go","attempt":3,"max":4,"kind":"overloaded"
"text","text":"At last."
"run_end","reason":"done","steps":1' "$(only 'error|retry_wait|retry_go|text|run_end' | grep -v '"error","kind":"transport"')"
check "retries: each is an attempt" 3 "$(only error | grep -c '"scope":"attempt"')"
live_set='--set max_retries=2'
live 'turn always
error 503 "Closed"' '' 'hi
'
check "retries end" 'run_start step_start error retry_wait retry_go error retry_wait retry_go error run_end ' "$(kinds)"
check "retries end: the last one is the run's" '0 exit 1' "$(only error | tail -n 1 | grep -c scope) $(say "$found" | tail -n 1)"
live_set=
live 'turn
retry-after 1
error 429 "Slow down"
'"$text_ok" '' 'hi
'
check "a wait that the provider asks for" '"retry_wait","attempt":1,"max":4,"wait_ms":1000,"kind":"rate_limit"' "$(only retry_wait)"
live 'turn
retry-after-date 2
error 503 "Maintenance"
'"$text_ok" '' 'hi
'
wait_ms=$(only retry_wait | sed -n 's/.*"wait_ms":\([0-9]*\),.*/\1/p')
check "a wait until a date" 'in time exit 0' "$([ "${wait_ms:-9999}" -le 2000 ] && echo in time) $(say "$found" | tail -n 1)"
live 'turn
retry-after 3600
error 429 "Tomorrow"' '' 'hi
'
wait_ms=$(only run_end | sed -n 's/^"run_end","reason":"failed","steps":1,"why":"hint","wait_ms":\([0-9]*\)$/\1/p')
check "a wait that is too long" 'an hour exit 1' "$([ "${wait_ms:-0}" -gt 3500000 ] && [ "$wait_ms" -le 3600000 ] && echo an hour) $(say "$found" | tail -n 1)"
live 'turn
retry-after 50
error 429 "Slow down"
'"$text_ok" '' 'hi
' '"retry_wait"' '/retry now
'
check "/retry now" 'run_start step_start error retry_wait retry_go text finish run_end ' "$(kinds)"
live 'turn
retry-after 50
error 429 "Slow down"' '' 'hi
' '"retry_wait"' '/stop
'
check "/stop in a wait" '"run_end","reason":"cancelled","steps":1' "$(only run_end)"
broken='turn
text "half of "
cut
turn
when "broke off"
text "the rest"'
live "$broken" '' 'hi
'
check "a cut: as it is" '"text","text":"half of "
"run_end","reason":"failed","steps":1' "$(only 'text|run_end')"
live_set='--set go_on=yes'
live "$broken" '' 'hi
'
check "a cut: go_on" '"text","text":"half of "
"retry_wait","attempt":1,"max":4,"wait_ms":1,"kind":"transport"
"text","text":"the rest"
"run_end","reason":"done","steps":2' "$(only 'text|retry_wait|run_end')"
check "a cut: go_on, the step's error" 1 "$(only error | grep -c '"scope":"step"')"

# limits
slow='delay 60000
turn
text "never ends"
text "never"'
for limit in step_ms run_ms; do
    live_set="--set $limit=50"
    live "$slow" '' 'hi
'
    check "$limit" '"run_end","reason":"limit","steps":1,"why":"time" exit 1' "$(only run_end) $(say "$found" | tail -n 1)"
done
live_set='--set tool_ms=50'
live 'turn
call run c1 {"command":"sleep 1000"}
'"$text_ok" '' 'hi
'
check "tool_ms" '1 "run_end","reason":"done","steps":2' "$(only tool_result | grep -c '"is_error":true') $(only run_end)"
calls='turn
usage 50 50
call list c1 {}
turn
call list c2 {}
'"$text_ok"
live_set='--set max_steps=1'
live "$calls" '' 'hi
' '"run_end"' '/go
' '"run_end"' '/go
'
check "max_steps and /go" '"run_end","reason":"limit","steps":1,"why":"steps"
"run_end","reason":"limit","steps":1,"why":"steps"
"run_end","reason":"done","steps":1' "$(only run_end)"
live_set='--set max_run_tokens=100'
live "$calls" '' 'hi
'
check "max_run_tokens" '"run_end","reason":"limit","steps":1,"why":"tokens"' "$(only run_end)"
live_set=

# the queue
live "turn
$hold
turn
text Done.
turn
when two
text \"To two.\"
turn
when four
text \"To four.\"" '' 'one
' '"tool_call"' 'two
three
four
/queue move 4
/queue move 4 2
/queue drop 3
/queue
' '"op":"waits","lane":"queue","text":"two"' "$go"
check "the queue" '"queued","item":2,"op":"added","text":"two"
"queued","item":3,"op":"added","text":"three"
"queued","item":4,"op":"added","text":"four"
"queued","item":4,"op":"moved","text":"four"
"queued","item":4,"op":"moved","text":"four"
"queued","item":3,"op":"returned","text":"three"
"queued","item":4,"op":"waits","text":"four"
"queued","item":2,"op":"waits","text":"two"
"text","text":"Done."
"run_end","reason":"done","steps":2
"queued","item":4,"op":"delivered","text":"four"
"text","text":"To four."
"run_end","reason":"done","steps":1
"queued","item":2,"op":"delivered","text":"two"
"text","text":"To two."
"run_end","reason":"done","steps":1' "$(only 'queued|text|run_end')"
live "turn
$hold
turn
when shorter
text Short.
turn
text Never." '' 'one
' '"tool_call"' '/steer   be shorter  
two
' '"item":3,"op":"added"' "$go
" '"text":"Short."' '/stop now
'
check "/steer, and a line that is not for this run" '"queued","item":2,"op":"added","lane":"steer","text":"be shorter"
"queued","item":3,"op":"added","text":"two"
"queued","item":2,"op":"delivered","lane":"steer","text":"be shorter"
"text","text":"Short."' "$(only 'queued|text' | head -n 4)"
live "turn
$hold
turn
text Never." '' 'one
' '"tool_call"' 'two
/stop
/queue
' '"op":"waits"' "$go"
check "/stop" 'run_start step_start tool_call queued queued tool_result finish queued run_end ' "$(kinds)"
check "/stop: what comes back" '"queued","item":2,"op":"returned","text":"two"
"run_end","reason":"cancelled","steps":1' "$(only 'queued|run_end' | tail -n 2)"
live "turn
$hold
$(echo "$hold" | sed 's/c1/c2/; s/ go / go2 /; s/rm go/rm go2/')
turn
text Never." '' 'one
' '"tool_call","id":"c2"' '/stop tools
/queue
/steer x
' '"op":"added"' "$go; touch $tmp/desk/go2"
check "/stop tools: they end by themselves" '2 0' "$(only tool_result | grep -c .) $(only tool_result | grep -c '"is_error":true')"
check "/stop tools" '"run_end","reason":"cancelled","steps":1' "$(only run_end | head -n 1)"
live "turn
$hold
$text_ok" '' 'one
' '"tool_call"' 'two
/stop now
' '"run_end"' 'three
'
check "/stop now" '"tool_result","id":"c1","name":"run","is_error":true
"queued","item":2,"op":"returned","text":"two"
"run_end","reason":"cancelled","steps":1
"run_end","reason":"done","steps":1' "$(only 'tool_result|queued|run_end' | grep -v added | sed 's/,"text":"[^"]*interrupted[^"]*"//; s/,"text":"Cancelled[^"]*"//')"
live 'turn
text first
turn
text second' '' 'hi
' '"run_end"' '/retry
'
check "/retry when nothing is going on" '"text","text":"first"
"run_end","reason":"done","steps":1
"text","text":"second"
"run_end","reason":"done","steps":1' "$(only 'text|run_end')"
live "turn
$hold
$text_ok
turn
when /etc
text path" '' 'one
' '"tool_call"' '/retry
/go
/stop maybe
/queue drop
/queue drop 7
/queue move 1 2
/queue stir 1
/steer
/nothing
' 'no such command' "$go" '"run_end"' '/stop
/go
 /etc is what?
'
check "refused, in words" 'chat: nothing waits for a retry
chat: it is going on
chat: /stop, /stop tools or /stop now
chat: /queue, /queue drop NUMBER or /queue move NUMBER [BEFORE]
chat: no such item
chat: it does not wait any more
chat: /queue, /queue drop NUMBER or /queue move NUMBER [BEFORE]
chat: /steer wants words for the model
chat: there is no such command; /help lists them
chat: nothing is going on' "$(say "$found" | grep '^chat: ' | head -n 10)"
check "a slash that is for the model" '"text","text":"path"' "$(only text | tail -n 1)"
live "$text_ok" '' '/help
'
check "/help" '/help /steer /stop /queue /retry /go /model /save /load' "$(say "$found" | sed -n 's/^  \(\/[a-z]*\).*/\1/p' | tr '\n' ' ' | sed 's/ $//')"

# as text, through a pipe: a line each
start_model 'turn
retry-after 1
error 429 "Slow down" busy
turn
text "half of "
cut
turn
text "the rest"'
check "a retry without a terminal" '  Slow down (busy)
retrying in 1 s (rate limit, attempt 1 of 4)
half of 
  the connection ended in the body
retrying in 1 s (broken connection, attempt 2 of 4)
the rest
[done, 2 steps]
exit 0' "$("$B/chat" --set go_on=yes --set retry_ms=1 --base-url "$url" --prompt hi 2>&1 </dev/null; echo "exit $?")"
start_model 'turn
retry-after 3600
error 429 "Tomorrow"'
check "come back later" 'error: Tomorrow (scripted_error)
[failed: the provider wants no more before TIME, 1 step]
exit 1' "$({ "$B/chat" --base-url "$url" --prompt hi 2>&1 </dev/null; echo "exit $?"; } | sed 's/before \([0-9-]* \)*[0-9][0-9]:[0-9][0-9]:[0-9][0-9]/before TIME/')"
start_model "$calls"
check "a limit" '[list]
[limit: no more steps, 1 step, 50 tokens in, 50 out]
exit 1' "$({ "$B/chat" --set max_steps=1 --base-url "$url" --prompt hi 2>&1 </dev/null; echo "exit $?"; } | grep -v '^  list')"
start_model "$calls"
check "0 is no limit" 'exit 0' "$("$B/chat" --set run_ms=0 --set step_ms=0 --set tool_ms=0 --set max_steps=0 --base-url "$url" --prompt hi >/dev/null 2>&1 </dev/null; echo "exit $?")"

# on a terminal
if "$tmp/talk" tty -- /bin/sh -c 'test -t 0 && test -t 1' | grep -q 'exit 0'; then
tty 'turn
retry-after 3
error 429 "Slow down" busy
turn
text "At last."' '> ' 'hi
' 'At last.' ''
check "a countdown: it counts" 'yes' "$(n=$(say "$found" | grep -o 'retrying in [123] s' | sort -u | wc -l); [ "$n" -ge 2 ] && echo yes)"
check "a countdown: what can be done" 'yes' "$(say "$found" | grep -q 'retrying in 3 s (rate limit, attempt 1 of 4); /retry now, /stop$' && echo yes)"
check "a countdown: the end" 'At last.
[done, 1 step]
exit 0' "$(say "$found" | sed 's/^> exit/exit/; s/.*At last/At last/' | tail -n 3)"
tty 'turn
retry-after 50
error 429 "Slow down" busy
turn
text "At last."' '> ' 'hi
' '/stop' '/retry
' 'done' ''
check "/retry on a terminal" '1 1' "$(say "$found" | grep -c '^At last.') $(say "$found" | grep -c '^  Slow down (busy)$')"
tty "turn
$hold
turn
text Done.
turn
text Two." '> ' 'one
' '[run until' 'two
/queue
' '  2  two' "$go" 'Two.' ''
check "the queue on a terminal" '[2 waits: two]
  2  two
  run: ok, 0 bytes: 
Done.
[done, 2 steps]
[2 is sent: two]
Two.
[done, 1 step]' "$(say "$found" | grep -E '^\[[0-9d]|^  |^Done|^Two')"
tty "turn
$hold
text Never." '> ' 'one
' '[run until' 'two
' '[2 waits' "$(printf '\003')" '[cancelled' ''
check "Ctrl-C" '[2 waits: two]
[2 comes back: two]
[cancelled, 1 step]
exit 130' "$(say "$found" | sed 's/^> exit/exit/' | grep -E '^\[[0-9c]|^exit')"
tty 'turn
error 401 "Who are you?"' '> ' 'hi
' 'step' ''
check "a failure on a terminal" 'error: Who are you? (scripted_error)
[failed, 1 step; /retry asks again, /go goes on]' "$(say "$found" | grep -E '^error|^\[')"
else
    echo "test_chat: skipped 7, there is no pseudo terminal here"
fi

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

# ---- --record: made again it is the same, without the key, for its owner alone ----
start_model 'turn
text "I look, sk-test-key-1234."
call list c1 {}
turn
text "Done."
turn
text "I look, sk-test-key-1234."
call list c1 {}
turn
text "Done."'
for how in "" --json; do
    printf old >"$tmp/record"
    chmod 644 "$tmp/record"
    OPENAI_API_KEY=sk-test-key-1234 "$B/chat" $how --base-url "$url" --prompt hi --record "$tmp/record" >"$tmp/out" 2>"$tmp/err" </dev/null
    check "--record $how" "exit 0, the same, -rw-------, 0 keys" "exit $?, $("$B/rerun" "$tmp/record" | sed 's/:.*//'), $(ls -l "$tmp/record" | awk '{ print substr($1, 1, 10) }'), \
$(grep -c sk-test-key "$tmp/record") keys"
    sed 's/"ev":"STEP_START"/"ev":"STEP_STARS"/' "$tmp/record" >"$tmp/changed"
    found=$("$B/rerun" "$tmp/changed"; echo "exit $?")
    check "a changed record $how" "exit 1, line $(grep -n STEP_STARS "$tmp/changed" | head -n 1 | sed 's/:.*//')" \
        "$(say "$found" | tail -n 1), line $(say "$found" | sed -n '1s/.*changed:\([0-9]*\):.*/\1/p')"
done
stop_model

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
wrong 2 record --record /nonexistent/x --base-url http://127.0.0.1:1/v1 --prompt hi
wrong 2 --nothing --nothing
wrong 2 --prompt --prompt
wrong 2 empty --prompt ''
wrong 2 number --set max_retries=many
wrong 2 number --set step_ms=
wrong 2 number --set run_ms=4294967295
wrong 2 retry_msx --base-url http://127.0.0.1:1/v1 --set retry_msx=1
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
