#!/usr/bin/env python3
"""conform_llama.py REPLAY FOLDER: recorded answers of a llama-server (FOLDER/*.http, the request in *.meta.json) through REPLAY, whole and
cut in three ways, against what this program reads in the same bytes. Without the folder: how many would be there. Prints two lines
`conform llama-server …: N passed, M failed[, K skipped]`; exit code 1 if any failed."""
import json, pathlib, subprocess, sys

KNOWN = 17
FORMATS = {"/v1/chat/completions": "openai-chat", "/v1/messages": "anthropic", "/v1/responses": "openai-responses"}
SPLITS = ["1", "7", "random:3"]
KINDS = {"invalid_request_error": "invalid_request", "exceed_context_size_error": "context_overflow", "server_error": "server"}
REASONS = {"stop": "stop", "length": "length", "tool_calls": "tool-calls", "end_turn": "stop", "max_tokens": "length", "tool_use": "tool-calls",
           "completed": "stop"}


# ---- what the bytes say ----
def http(raw):
    """Status and body."""
    head, _, rest = raw.partition(b"\r\n\r\n")
    if b"chunked" not in head.lower():
        return int(head.split()[1]), rest
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        n = int(size, 16)
        body, rest = body + rest[:n], rest[n + 2:]
    return int(head.split()[1]), body


def objects(body):
    """The JSON of an answer: of each event of a stream, or of the whole."""
    if body.lstrip().startswith(b"{"):
        return [json.loads(body)]
    data = [line[5:] for line in body.decode().splitlines() if line.startswith("data:")]
    return [json.loads(d) for d in data if d.strip() != "[DONE]"]


class Answer:
    def __init__(self):
        self.lines, self.calls, self.finish, self.usage = [], {}, None, {}

    def text(self, kind, text):
        if not text:
            return
        if self.lines and self.lines[-1]["ev"] == kind:
            self.lines[-1]["text"] += text
        else:
            self.lines.append({"ev": kind, "text": text})

    def call(self, key, part):
        call = self.calls.setdefault(key, {"id": "", "name": "", "args": ""})
        for name in call:
            call[name] += part.get(name) or ""

    def counted(self, **counts):
        self.usage.update({name: n for name, n in counts.items() if n is not None})

    def all(self):
        calls = [{"ev": "tool_call", **call, "args": json.loads(call["args"] or "{}")} for call in self.calls.values()]
        reason = "tool-calls" if calls and self.finish == "completed" else REASONS.get(self.finish)
        end = {"ev": "finish", "reason": reason, "raw": self.finish} if self.finish else None
        if end and self.usage:
            end["usage"] = self.usage
        return self.lines + calls + ([end] if end else [])


def chat(answer, o):
    for choice in o.get("choices", []):
        delta = choice.get("delta") or choice.get("message") or {}
        answer.text("reasoning", delta.get("reasoning_content"))
        answer.text("text", delta.get("content"))
        for call in delta.get("tool_calls", []):
            function = call.get("function", {})
            answer.call(call["index"], {"id": call.get("id"), "name": function.get("name"), "args": function.get("arguments")})
        answer.finish = choice.get("finish_reason") or answer.finish
    usage = o.get("usage")
    if usage:
        answer.counted(input=usage["prompt_tokens"], output=usage["completion_tokens"],
                       cached=usage.get("prompt_tokens_details", {}).get("cached_tokens"))


def messages(answer, o):
    delta, block = o.get("delta", {}), o.get("content_block", {})
    usage = o.get("message", {}).get("usage") or o.get("usage") or {}
    answer.text("reasoning", delta.get("thinking"))
    answer.text("text", delta.get("text"))
    if block.get("type") == "tool_use":
        answer.call(o["index"], {"id": block["id"], "name": block["name"]})
    if "partial_json" in delta:
        answer.call(o["index"], {"args": delta["partial_json"]})
    answer.finish = delta.get("stop_reason") or answer.finish
    if "input_tokens" in usage:
        cached = usage.get("cache_read_input_tokens")
        answer.counted(input=usage["input_tokens"] + (cached or 0), cached=cached)
    answer.counted(output=usage.get("output_tokens"))


def responses(answer, o):
    item, response, delta = o.get("item", {}), o.get("response", {}), o.get("delta")
    if o["type"] == "response.reasoning_text.delta":
        answer.text("reasoning", delta)
    elif o["type"] == "response.output_text.delta":
        answer.text("text", delta)
    elif o["type"] == "response.output_item.done" and item["type"] == "function_call":
        answer.call(item["id"], {"id": item["call_id"], "name": item["name"], "args": item["arguments"]})
    elif o["type"] == "response.completed":
        answer.finish, usage = response["status"], response["usage"]
        answer.counted(input=usage["input_tokens"], output=usage["output_tokens"],
                       cached=usage.get("input_tokens_details", {}).get("cached_tokens"),
                       reasoning=usage.get("output_tokens_details", {}).get("reasoning_tokens"))


READERS = {"openai-chat": chat, "anthropic": messages, "openai-responses": responses}


def expected(form, raw):
    status, body = http(raw)
    answer = Answer()
    for o in objects(body):
        if "error" in o:
            error = o["error"]
            return answer.lines + [{"ev": "error", "kind": KINDS[error["type"]], "message": error["message"], "http_status": error["code"]}]
        READERS[form](answer, o)
    assert status == 200
    return answer.all()


# ---- what the engine says ----
def joined(out):
    """Lines without what is not compared: neighbouring texts are one; pieces of arguments, and offsets, are left out."""
    lines = []
    for line in map(json.loads, out.splitlines()):
        if line["ev"] == "tool_input":
            continue
        if line["ev"] == "error":
            line = {name: line.get(name) for name in ("ev", "kind", "message", "http_status")}
        if lines and line["ev"] in ("text", "reasoning") and lines[-1]["ev"] == line["ev"]:
            lines[-1]["text"] += line["text"]
        else:
            lines.append(line)
    return lines


def replay(program, form, path, *more):
    return subprocess.run([program, "--layer", "http", "--format", form, *more, str(path)], capture_output=True, timeout=60)


def main(program, folder):
    counts = {"": [0, 0], " splits": [0, 0]}
    skipped = 0

    def judge(what, good, why):
        counts[what][not good] += 1
        if not good:
            print("FAIL", why)

    for meta in sorted(folder.glob("*.meta.json")):
        form = FORMATS[json.loads(meta.read_text())["path"]]
        path = meta.with_name(meta.name.replace(".meta.json", ".http"))
        whole = replay(program, form, path)
        if whole.returncode == 2 and b"is not in this build" in whole.stderr:
            print(f"skip {path.name}: {form} is not in this build")
            skipped += 1
            continue
        found = joined(whole.stdout) if whole.returncode == 0 else whole.stderr.decode()
        wanted = expected(form, path.read_bytes())
        judge("", found == wanted, f"{path.name}\n--- wanted\n{json.dumps(wanted)}\n--- found\n{json.dumps(found)}")
        cuts = [s for s in SPLITS if replay(program, form, path, "--split", s).stdout != whole.stdout]
        judge(" splits", not cuts, f"{path.name} differs with --split {', '.join(cuts)}")
    if sum(counts[""]) + skipped < KNOWN:
        skipped = KNOWN - sum(counts[""])
    for what, (passed, failed) in counts.items():
        print(f"conform llama-server{what}: {passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if counts[""][1] + counts[" splits"][1] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
