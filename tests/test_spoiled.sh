#!/bin/sh
# Spoiled copies of cases must fail: each line changes one thing that a case asks for, or a word of the runner's own, and run-cases has
# to notice. Needs build/run-cases, which the makefile builds first.
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
dir=$B/spoiled
rm -rf "$dir"
mkdir -p "$dir"
passed=0 failed=0
RUN_CASES_QUICK=1
export RUN_CASES_QUICK

spoil() { # what, case, sed script
    copy=$dir/$2.json
    sed "$3" "tests/cases/$2.json" >"$copy"
    if cmp -s "tests/cases/$2.json" "$copy"; then
        echo "FAIL $1 ($2): the sed script changes nothing"
        failed=$((failed + 1))
        return
    fi
    said=$("$B/run-cases" "$copy" 2>&1)
    code=$?
    case $code:$said in
    1:*"
FAIL $2"*"
0 passed, 1 failed") passed=$((passed + 1)) ;;
    *)
        echo "FAIL $1 ($2): exit code $code, $said"
        failed=$((failed + 1))
        ;;
    esac
}

spoil 'text'                B003 's/^   "text": "/&x/'
spoil 'text, one letter'    B004 's/^\(   "text": ".*\)."/\1"/'
spoil 'reasoning'           B066 's/^   "text": "wind/   "text": "Wind/'
spoil 'arguments'           B061 's/^    "pier": 4/    "pier": 5/'
spoil 'a call id'           B061 's/"id": "call_d1"/"id": "call_d2"/'
spoil 'a tool name'         B061 's/^   "name": "read_gauge"/   "name": "read_gauges"/'
spoil 'finish reason'       B003 's/"reason": "stop"/"reason": "length"/'
spoil 'usage'               B067 's/^\(    "[a-z]*": [0-9]*\)\([,]*\)$/\11\2/'
spoil 'usage key'           B067 's/^    "input"/    "inputs"/'
spoil 'raw arguments'       B032 's/"args_raw": "\[1,2\]"/"args_raw": "[1,3]"/'
spoil 'args_error'          B032 's/"args_error": true/"args_error": false/'
spoil 'error kind'          B013 's/"kind": "transport"/"kind": "server"/'
spoil 'retryable'           B013 's/"retryable": true/"retryable": false/'
spoil 'retry after'         B016 's/"retry_after_ms": 7000/"retry_after_ms": 9000/'
spoil 'clock'               B017 's/"clock_unix_ms": 17937935/"clock_unix_ms": 17937936/'
spoil 'event kind'          B003 's/"ev": "finish"/"ev": "error"/'
spoil 'unknown event'       B003 's/"ev": "finish"/"ev": "finished"/'
spoil 'event member'        B003 's/"reason": "stop"/"reasons": "stop"/'
spoil 'an event too many'   B003 's/"expect": \[/&{"ev":"reasoning","text":"Hm"},/'
spoil 'bytes'               B003 's/finish_reason\\":\\"stop/finish_reason\\":\\"length/'
spoil 'sse data'            B005 's/"data": "a"/"data": "b"/'
spoil 'sse event'           B002 's/"event": "message"/"event": "mess"/'
spoil 'sse id'              B005 's/"id": "41"/"id": "42"/'
spoil 'json value'          B025 's/"x🛶yé"/"x🛶ye"/'
spoil 'json text'           B031 's/\[7\]/[8]/'
spoil 'any of expected'     B026 's/"ev": "json/"ev": "http/'
spoil 'layer'               B003 's/"layer": "sse-body"/"layer": "body"/'
spoil 'format'              B003 's/"format": "openai-chat"/"format": "openai-chatty"/'
spoil 'end of the input'    B073 's/"eof": "clean"/"eof": "none"/'
spoil 'unknown end'         B003 's/"eof": "clean"/"eof": "gently"/'
spoil 'unknown key'         B003 's/"eof": "clean"/&, "mode": "fast"/'
spoil 'unknown input'       B003 's/"utf8": "/"utf-8": "/'
spoil 'broken JSON'         B003 's/"eof": "clean",/"eof": "clean"/'
spoil 'script: text'        B100 's/"text": "Hm"/"text": "Hmm"/'
spoil 'script: run_end'     B100 's/"reason": "done"/"reason": "failed"/'
spoil 'script: event'       B100 's/"ev": "text"/"ev": "reasoning"/'
spoil 'script: out_max'     B100 's/"n": 1/"n": 0/'
spoil 'script: out'         B100 's/"stream": true/"stream": false/'
spoil 'script: channel'     B100 's/"on": "llm"/"on": "stdio"/'
spoil 'script: action'      B100 's/"do": "run"/"do": "walk"/'
spoil 'script: host key'    B100 's/"do": "run"/&, "quickly": true/'
spoil 'script: step key'    B100 's/"end": true/&, "now": true/'
spoil 'script: unknown step' B100 's/"out_max"/"out_most"/'
spoil 'script: permission'  B105 's/"permission": "allow"/"permission": "perhaps"/'
spoil 'script: provider'    B105 's/"provider": "openai-chat"/"provider": "nobody"/'
spoil 'script: arguments'   B105 's/"pier": 1$/"pier": 2/'
spoil 'script: wire id'     B105 's/^   "id": "call_u2"/   "id": "call_u3"/'
spoil 'script: result id'   B105 's/"tool_call_id": "call_u1"/"tool_call_id": "call_u9"/'
spoil 'script: order'       L001 's/"content": "one"/"content": "three"/'
spoil 'script: ev_none'     L002 's/"ev_none": "tool_call"/"ev_none": "text"/'
spoil 'script: out_none'    L003 's/"role": "tool"$/"role": "user"/'
spoil 'script: is_error'    L004 's/"is_error": true/"is_error": false/'
spoil 'script: reset'       L005 's/"close": "reset"/"close": "softly"/'
spoil 'build: exit code'    B110 's/"expect_rc": 0/"expect_rc": 1/'
spoil 'build: a file'       B110 's/int main(void)/int main(void))/'
spoil 'build: no macro'     B108 's/#define @IMPL@/#define @IMPLEMENT@/'
spoil 'build: unknown key'  B110 's/"expect_rc": 0/&, "expect_text": ""/'

rm -rf "$dir"
echo "test_spoiled: $passed passed, $failed failed"
[ $failed -eq 0 ]
