/* Events as people who compare agents want them: one JSON object a line, {"ev":"text","text":"…"}. Neighbouring texts are one text
 * in pieces; every line stands for itself. Include it after agent.h.
 *
 *   text, reasoning {text}                tool_call {id, name, args | args_raw, args_error}    finish {reason, usage}
 *   error {kind, code, status, retryable, retry_after_ms, message}                             warning, source {text, name}
 *   run_start {run}   step_start {step}   tool_result {id, name, is_error, text}               run_end {reason, steps, usage} */
#ifndef VOCABULARY_H
#define VOCABULARY_H
#include <stdio.h>
#include <stdlib.h>

typedef struct vocabulary { FILE *out; int bad; } vocabulary;     /* bad: this step had its error; no finish follows    */

static const char *vocabulary_kind(int fault)
{
    switch (fault) {
    case AGENT_FAULT_AUTH:       return "auth";
    case AGENT_FAULT_RATE: case AGENT_FAULT_QUOTA: return "rate_limit";
    case AGENT_FAULT_OVERLOADED: return "overloaded";
    case AGENT_FAULT_CONTEXT:    return "context_overflow";
    case AGENT_FAULT_REQUEST:    return "invalid_request";
    case AGENT_FAULT_SERVER:     return "server";
    case AGENT_FAULT_PROTOCOL:   return "protocol";
    case AGENT_FAULT_TRANSPORT:  return "transport";
    case AGENT_FAULT_TIMEOUT:    return "timeout";
    case AGENT_FAULT_FILTER:     return "content_filter";
    case AGENT_FAULT_LIMIT:      return "limit";
    default:                     return "nomem";
    }
}
static const char *vocabulary_finish(int finish)
{
    switch (finish) {
    case AGENT_FINISH_STOP:   return "stop";
    case AGENT_FINISH_LENGTH: return "length";
    case AGENT_FINISH_TOOLS:  return "tool-calls";
    case AGENT_FINISH_FILTER: return "content-filter";
    case AGENT_FINISH_ERROR:  return "error";
    default:                  return "other";
    }
}
static const char *vocabulary_outcome(int outcome)
{
    switch (outcome) {
    case AGENT_COMPLETED: return "done";
    case AGENT_CANCELLED: return "cancelled";
    case AGENT_LIMITED:   return "limit";
    default:              return "failed";
    }
}
static void vocabulary_string(FILE *out, const char *name, agent_str s)        /* ,"name":"s"                           */
{
    size_t n = agent_json_quote(s.p, s.n, NULL, 0);
    char *text = (char *)malloc(n + 1);
    if (text == NULL) abort();
    agent_json_quote(s.p, s.n, text, n + 1);
    fprintf(out, ",\"%s\":", name);
    fwrite(text, 1, n, out);
    free(text);
}
/* JSON as it is but on one line: a line end in valid JSON is a blank between tokens.                                  */
static void vocabulary_raw(FILE *out, const char *name, agent_str json)
{
    size_t i;
    fprintf(out, ",\"%s\":", name);
    for (i = 0; i < json.n; i++) putc(json.p[i] == '\n' || json.p[i] == '\r' ? ' ' : json.p[i], out);
}
static void vocabulary_count(FILE *out, const char *name, int64_t n, int *first)
{
    if (n < 0) return;
    fprintf(out, "%s\"%s\":%lld", *first ? "" : ",", name, (long long)n);
    *first = 0;
}
static void vocabulary_usage(FILE *out, const agent_usage *u)
{
    int first = 1;
    if (u == NULL || (u->input < 0 && u->output < 0)) return;
    fputs(",\"usage\":{", out);
    vocabulary_count(out, "input", u->input, &first);
    vocabulary_count(out, "cached", u->cached, &first);
    vocabulary_count(out, "cache_write", u->cache_write, &first);
    vocabulary_count(out, "output", u->output, &first);
    vocabulary_count(out, "reasoning", u->reasoning, &first);
    putc('}', out);
}
static void vocabulary_call(FILE *out, const agent_event *ev)
{
    vocabulary_string(out, "id", ev->u.tool.wire_id);
    vocabulary_string(out, "name", ev->name);
    if (ev->flags & AGENT_EVF_SALVAGED) {
        vocabulary_string(out, "args_raw", ev->text);
        fputs(",\"args_error\":true", out);
    } else vocabulary_raw(out, "args", ev->text);
}
static void vocabulary_error(FILE *out, const agent_event *ev)
{
    fprintf(out, ",\"kind\":\"%s\"", vocabulary_kind(ev->u.error.fault));
    if (ev->name.n) vocabulary_string(out, "code", ev->name);
    if (ev->u.error.http_status) fprintf(out, ",\"status\":%d", ev->u.error.http_status);
    fprintf(out, ",\"retryable\":%s", ev->u.error.retryable ? "true" : "false");
    if (ev->u.error.retry_after_ms >= 0) fprintf(out, ",\"retry_after_ms\":%lld", (long long)ev->u.error.retry_after_ms);
    vocabulary_string(out, "message", ev->text);
}
static const char *vocabulary_name(const agent_event *ev)    /* NULL: this event has no line                           */
{
    switch (ev->type) {
    case AGENT_EV_RUN_START:       return "run_start";
    case AGENT_EV_RUN_END:         return "run_end";
    case AGENT_EV_STEP_START:      return "step_start";
    case AGENT_EV_STEP_END:        return "finish";
    case AGENT_EV_TEXT_DELTA:      return "text";
    case AGENT_EV_REASONING_DELTA: return "reasoning";
    case AGENT_EV_TOOL_CALL:       return "tool_call";
    case AGENT_EV_TOOL_RESULT:     return "tool_result";
    case AGENT_EV_SOURCE:          return "source";
    case AGENT_EV_WARNING:         return "warning";
    case AGENT_EV_ERROR:           return "error";
    default:                       return NULL;
    }
}
static void vocabulary_event(vocabulary *v, const agent_event *ev)
{
    const char *name = vocabulary_name(ev);
    FILE *out = v->out;
    if (ev->type == AGENT_EV_STEP_START) v->bad = 0;
    if (ev->type == AGENT_EV_ERROR) v->bad = 1;
    if (name == NULL || (ev->type == AGENT_EV_STEP_END && v->bad)) return;
    fprintf(out, "{\"ev\":\"%s\"", name);
    switch (ev->type) {
    case AGENT_EV_RUN_START:  fprintf(out, ",\"run\":%u", (unsigned)ev->run); break;
    case AGENT_EV_STEP_START: fprintf(out, ",\"step\":%u", (unsigned)ev->step); break;
    case AGENT_EV_STEP_END:
        fprintf(out, ",\"reason\":\"%s\"", vocabulary_finish(ev->u.end.finish));
        vocabulary_usage(out, ev->u.end.usage);
        break;
    case AGENT_EV_RUN_END:
        fprintf(out, ",\"reason\":\"%s\",\"steps\":%u", vocabulary_outcome(ev->u.end.outcome), (unsigned)ev->u.end.steps);
        vocabulary_usage(out, ev->u.end.usage);
        break;
    case AGENT_EV_TOOL_CALL:  vocabulary_call(out, ev); break;
    case AGENT_EV_TOOL_RESULT:
        vocabulary_string(out, "id", ev->u.tool.wire_id);
        vocabulary_string(out, "name", ev->name);
        fprintf(out, ",\"is_error\":%s", ev->u.tool.status == AGENT_DONE_OK ? "false" : "true");
        vocabulary_string(out, "text", ev->text);
        break;
    case AGENT_EV_ERROR:      vocabulary_error(out, ev); break;
    case AGENT_EV_SOURCE: case AGENT_EV_WARNING:
        if (ev->name.n) vocabulary_string(out, "name", ev->name);
        vocabulary_string(out, "text", ev->text);
        break;
    default:                  vocabulary_string(out, "text", ev->text);
    }
    fputs("}\n", out);
    fflush(out);
}
#endif
