/* Requests of OpenAI responses, as programs have them, into messages, tools and options. */
#ifndef AGENT_NO_IMPORT
AGENTI_FN int agenti_openai_responses_import(agenti_import *, agent_str body);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_IMPORT_OPENAI_RESPONSES
static const char *const agenti_irs_said_keys[] = { "role", "content", NULL };

/* ---- messages ---- */
static int agenti_irs_part(agenti_import *im, agenti_msg *m, agent_str part)
{
    static const char *const text_keys[] = { "type", "text", NULL };
    static const char *const keys[] = { "type", "image_url", "filename", "file_url", "file_data", NULL };
    agent_str type = agenti_im_get(im, part, "type"), text = agenti_im_get(im, part, "text"), data = agenti_im_get(im, part, "file_data"), name;
    int image = agent_json_is(type, "input_image"), rc = 0;
    agenti_part *p;
    if (agent_json_is(type, "input_text") && agenti_is_string(text))
        return agenti_im_words(im, m, AGENT_PART_TEXT, text) && agenti_im_more(im, &m->parts[m->n - 1].more, part, text_keys);
    if (image) rc = agenti_im_url(im, m, AGENT_PART_IMAGE, agenti_im_get(im, part, "image_url"));
    else if (agent_json_is(type, "input_file") && agenti_nonempty(data)) {
        if (data.n > 6 && agenti_ieq(agenti_str(data.p + 1, 5), "data:")) rc = agenti_im_url(im, m, AGENT_PART_FILE, data);
    } else if (agent_json_is(type, "input_file")) rc = agenti_im_url(im, m, AGENT_PART_FILE, agenti_im_get(im, part, "file_url"));
    if (rc < 0) return 0;
    if (rc == 0) return agenti_im_other(im, m, part, agenti_is_string(type) ? type : agenti_cstr("\"?\""));
    p = &m->parts[m->n - 1];
    p->kind = image ? AGENT_PART_IMAGE : AGENT_PART_FILE;
    name = agenti_im_get(im, part, "filename");
    return (!agenti_nonempty(name) || agenti_im_text(im, &p->name, name)) && agenti_im_more(im, &p->more, part, keys);
}
static int agenti_irs_said(agenti_import *im, agent_str item, agent_str content, int system, int developer)
{
    agenti_msg *m = agenti_im_msg(im, AGENT_USER, item);
    agent_str part;
    size_t pos = 0;
    if (m == NULL || !agenti_im_more(im, &m->more, item, agenti_irs_said_keys)) return 0;
    if (system) m->flags |= AGENT_MSG_SYSTEM;
    if (developer) m->flags |= AGENTI_MSG_DEVELOPER;
    if (agenti_is_string(content)) return agenti_im_words(im, m, AGENT_PART_TEXT, content);
    if (!agenti_is_array(content)) return agenti_im_fail(im, content.n ? content.p : item.p, "input: content is no text and no list of parts");
    while (agent_json_each(content, &pos, NULL, &part)) if (!agenti_irs_part(im, m, part)) return 0;
    return 1;
}
/* Those at the start belong to the system prompt.                                                                      */
static int agenti_irs_system(agenti_import *im, agent_str item, agent_str content, int developer)
{
    agent_str part;
    size_t pos = 0;
    if (im->table.n) return agenti_irs_said(im, item, content, 1, developer);
    while (agenti_is_array(content) && agent_json_each(content, &pos, NULL, &part))
        if (!agenti_im_system(im, agenti_im_get(im, part, "text"), NULL, 0)) return 0;
    return agenti_im_system(im, agenti_is_string(content) ? content : agenti_str(NULL, 0), &item, 0);
}
/* The texts of a list of parts, one behind the other. 0: no memory                                                     */
static int agenti_irs_texts(agenti_import *im, agenti_text *to, agent_str list, const char *between)
{
    agenti_text words;
    agent_str part, text;
    size_t pos = 0;
    int ok = 1;
    while (ok && agenti_is_array(list) && agent_json_each(list, &pos, NULL, &part)) {
        text = agent_json_get(part, agent_json_is(agenti_im_get(im, part, "type"), "refusal") ? "refusal" : "text");
        if (!agenti_nonempty(text)) continue;
        memset(&words, 0, sizeof words);
        ok = agenti_im_text(im, &words, text) && (to->n == 0 || agenti_text_add(to, im->pool, NULL, agenti_cstr(between)))
            && agenti_text_add(to, im->pool, NULL, agenti_text_view(&words));
        agenti_text_free(&words, NULL);
    }
    return ok;
}
static int agenti_irs_answer(agenti_import *im, agent_str item, agent_str content)
{
    static const char *const keys[] = { "role", "content", "phase", NULL }, *const role[] = { "role", NULL };
    agenti_msg *m = agenti_im_model(im, item);
    agent_str phase = agenti_im_get(im, item, "phase");
    agenti_text raw;
    agenti_part *p;
    int ok;
    if (m == NULL || (p = agenti_im_part(im, m, AGENT_PART_TEXT)) == NULL) return 0;
    if (!agenti_is_string(content)) {         /* a list stays as it came                                                 */
        p->flags |= AGENTI_PART_CONTENT;
        if (agent_json_is(agent_json_get(content, "[0].type"), "refusal")) p->flags |= AGENT_PART_REFUSAL;
        return agenti_irs_texts(im, &p->text, content, "") && agenti_im_more(im, &p->more, item, role);
    }
    if (!agenti_im_text(im, &p->text, content) || !agenti_im_more(im, &p->more, item, keys)) return 0;
    if (!agenti_is_string(phase)) return 1;
    memset(&raw, 0, sizeof raw);
    ok = agenti_im_raw(im, &raw, phase) && agenti_im_wrap(im, &p->data, "{\"phase\":", agenti_text_view(&raw));
    agenti_text_free(&raw, NULL);
    return ok;
}

/* ---- items ---- */
static int agenti_irs_thought(agenti_import *im, agent_str item)
{
    agenti_msg *m = agenti_im_model(im, item);
    agenti_part *p = m ? agenti_im_part(im, m, AGENT_PART_REASONING) : NULL;
    if (p == NULL) return 0;
    p->flags |= AGENTI_PART_CONTENT;
    return agenti_irs_texts(im, &p->text, agenti_im_get(im, item, "summary"), "\n\n")
        && agenti_irs_texts(im, &p->text, agenti_im_get(im, item, "content"), "\n\n") && agenti_im_raw(im, &p->data, item);
}
static int agenti_irs_call(agenti_import *im, agent_str item, int custom)
{
    static const char *const keys[] = { "type", "call_id", "name", "arguments", NULL }, *const custom_keys[] = { "type", "call_id", "name", "input", NULL };
    agenti_msg *m = agenti_im_model(im, item);
    agent_str name = agenti_im_get(im, item, "name"), args = agenti_im_get(im, item, "arguments");
    agenti_part *p = m ? agenti_im_call(im, m, agenti_im_get(im, item, "call_id"), name, args, item) : NULL;
    if (p == NULL) return 0;
    if (!custom) return agenti_im_more(im, &p->more, item, keys);
    return agenti_text_set(&p->data, im->pool, NULL, agenti_cstr("{\"type\":\"custom_tool_call\"}"))
        && agenti_im_input(im, p, agenti_im_get(im, item, "input")) && agenti_im_more(im, &p->more, item, custom_keys);
}
/* A tool that the provider defines and the host runs: the item goes back as it came.                                    */
static int agenti_irs_host_call(agenti_import *im, agent_str item, const char *name, const char *input)
{
    agenti_msg *m = agenti_im_model(im, item);
    agenti_text quoted;
    agenti_part *p;
    memset(&quoted, 0, sizeof quoted);
    if (m == NULL || !agenti_text_set(&quoted, im->pool, NULL, agenti_cstr(name))) return 0;
    p = agenti_im_call(im, m, agenti_im_get(im, item, "call_id"), agenti_text_view(&quoted), agenti_im_get(im, item, input), item);
    agenti_text_free(&quoted, NULL);
    return p && agenti_im_raw(im, &p->data, item);
}
static int agenti_irs_hosted(agenti_import *im, agent_str item, agent_str type, int *done)
{
    static const struct { const char *type, *name, *input; } rows[] = {
        { "shell_call", "\"shell\"", "action" }, { "tool_search_call", "\"tool_search\"", "arguments" },
        { "local_shell_call", "\"local_shell\"", "action" }, { "apply_patch_call", "\"apply_patch\"", "operation" },
        { "computer_call", "\"computer\"", "action" }
    };
    size_t i = 0, n = sizeof rows / sizeof *rows;
    while (i < n && !agent_json_is(type, rows[i].type)) i++;
    *done = i < n && agenti_nonempty(agenti_im_get(im, item, "call_id")) && !agent_json_is(agenti_im_get(im, item, "execution"), "server")
        && !agent_json_is(agent_json_get(item, "environment.type"), "container_reference");
    return !*done || agenti_irs_host_call(im, item, rows[i].name, rows[i].input);
}
static int agenti_irs_result(agenti_import *im, agent_str item, agent_str type, int *done)
{
    static const char *const keys[] = { "type", "call_id", "output", NULL }, *const with[] = { "type", "call_id", NULL };
    agent_str id = agenti_im_get(im, item, "call_id"), output = agenti_im_get(im, item, "output");
    int plain = agenti_nonempty(output) && (agent_json_is(type, "function_call_output") || agent_json_is(type, "custom_tool_call_output"));
    agenti_part *p;
    *done = 0;
    if (type.n < 9 || memcmp(type.p + type.n - 8, "_output\"", 8) != 0 || !agenti_nonempty(id)) return 1;
    if ((p = agenti_im_result(im, id, agenti_cstr("\"\""))) == NULL) return 1;   /* of a call that the provider has stored    */
    *done = 1;
    if (!plain) p->flags |= AGENTI_PART_CONTENT;
    return agenti_im_result_text(im, p, output) && agenti_im_more(im, &p->more, item, plain ? keys : with);
}
static int agenti_irs_item(agenti_import *im, agent_str item)
{
    agent_str type = agenti_im_get(im, item, "type"), role = agenti_im_get(im, item, "role"), content = agenti_im_get(im, item, "content");
    agenti_msg *m;
    int done = 0, message = type.n == 0 || agent_json_is(type, "message");
    if (!agenti_is_object(item)) return agenti_im_fail(im, item.p, "input: an element is no object");
    if (message && agent_json_is(role, "user")) return agenti_irs_said(im, item, content, 0, 0);
    if (message && agent_json_is(role, "assistant")) return agenti_irs_answer(im, item, content);
    if (message && agent_json_is(role, "system")) return agenti_irs_system(im, item, content, 0);
    if (message && agent_json_is(role, "developer")) return agenti_irs_system(im, item, content, 1);
    if (message) return agenti_im_fail(im, role.n ? role.p : item.p, "input: role is none of user, assistant, system, developer");
    if (agent_json_is(type, "reasoning")) return agenti_irs_thought(im, item);
    if (agent_json_is(type, "function_call")) return agenti_irs_call(im, item, 0);
    if (agent_json_is(type, "custom_tool_call")) return agenti_irs_call(im, item, 1);
    if (!agenti_irs_hosted(im, item, type, &done) || (!done && !agenti_irs_result(im, item, type, &done))) return 0;
    if (done) return 1;
    m = agenti_im_model(im, item);
    return m && agenti_im_other(im, m, item, type);
}

/* ---- tools and options ---- */
static int agenti_irs_tools(agenti_import *im, agent_str tools)
{
    agent_str tool, name, type;
    size_t pos = 0;
    if (tools.n == 0 || agenti_eq(tools, "null")) return 1;
    if (!agenti_is_array(tools)) return agenti_im_fail(im, tools.p, "tools: no list");
    im->tools_given = 1;
    while (agent_json_each(tools, &pos, NULL, &tool)) {
        if (!agenti_is_object(tool)) return agenti_im_fail(im, tool.p, "tools: an element is no object");
        type = agenti_im_get(im, tool, "type");
        name = agenti_im_get(im, tool, "name");
        if (agent_json_is(type, "function")
            ? !agenti_im_tool(im, tool, name, agenti_im_get(im, tool, "description"), agenti_im_get(im, tool, "parameters"))
            : !agenti_im_raw_tool(im, tool, agenti_nonempty(name) ? name : type)) return 0;
    }
    return 1;
}
static uint32_t agenti_irs_choice(agenti_import *im, agent_str v)
{
    agent_str name = agenti_im_get(im, v, "name");
    if (im->tool_n == 0) return 0;
    if (agent_json_is(v, "auto") || agent_json_is(v, "none") || agent_json_is(v, "required")) return agenti_im_string(im, AGENTI_OPT_TOOL_CHOICE, v);
    if (!agent_json_is(agenti_im_get(im, v, "type"), "function")) return 0;
    if (agent_json_is(name, "auto") || agent_json_is(name, "none") || agent_json_is(name, "required")) return 0;
    return agenti_im_string(im, AGENTI_OPT_TOOL_CHOICE, name);
}
static uint32_t agenti_irs_take(agenti_import *im, agent_str key, agent_str v)
{
    if (agenti_eq(key, "input") || agenti_eq(key, "tools")) return AGENTI_IM_TAKEN;
    if (agenti_eq(key, "stream") && (agenti_eq(v, "true") || agenti_eq(v, "false"))) { im->stream = agenti_eq(v, "true"); return AGENTI_IM_TAKEN; }
    if (agenti_eq(key, "instructions")) return AGENTI_BIT(AGENTI_OPT_SYSTEM);
    if (agenti_eq(key, "model")) return agenti_im_string(im, AGENTI_OPT_MODEL, v);
    if (agenti_eq(key, "max_output_tokens")) return agenti_im_number(im, AGENTI_OPT_MAX_TOKENS, v);
    if (agenti_eq(key, "temperature")) return agenti_im_number(im, AGENTI_OPT_TEMPERATURE, v);
    if (agenti_eq(key, "top_p")) return agenti_im_number(im, AGENTI_OPT_TOP_P, v);
    if (agenti_eq(key, "tool_choice")) return agenti_irs_choice(im, v);
    if (agenti_eq(key, "parallel_tool_calls")) return im->tool_n ? agenti_im_bool(im, AGENTI_OPT_PARALLEL, v, 0) : 0;
    if (agenti_eq(key, "reasoning")) return agenti_im_string(im, AGENTI_OPT_EFFORT, agenti_im_get(im, v, "effort"));
    return 0;
}
AGENTI_FN int agenti_openai_responses_import(agenti_import *im, agent_str body)
{
    int list = agenti_is_array(body);
    agent_str input = list ? body : agenti_im_get(im, body, "input"), item;
    agenti_msg *m;
    size_t pos = 0;
    if (!list && (!agenti_irs_tools(im, agenti_im_get(im, body, "tools")) || !agenti_im_system(im, agenti_im_get(im, body, "instructions"), NULL, 0))) return 0;
    if (agenti_is_string(input)) {
        if ((m = agenti_im_msg(im, AGENT_USER, input)) == NULL || !agenti_im_words(im, m, AGENT_PART_TEXT, input)) return 0;
    } else if (!agenti_is_array(input)) return agenti_im_fail(im, input.n ? input.p : body.p, "input: no text and no list");
    else while (agent_json_each(input, &pos, NULL, &item)) if (!agenti_irs_item(im, item)) return 0;
    return (list || agenti_im_members(im, body, agenti_irs_take)) && agenti_im_end(im);
}
#endif
#endif
