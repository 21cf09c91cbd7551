/* Requests of OpenAI chat, as programs have them, into messages, tools and options. */
#ifndef AGENT_NO_IMPORT
AGENTI_FN int agenti_openai_chat_import(agenti_import *, agent_str body);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_IMPORT_OPENAI_CHAT
/* ---- parts ---- */
static int agenti_ioc_audio(agenti_import *im, agenti_msg *m, agent_str audio)
{
    agent_str format = agenti_im_get(im, audio, "format");
    if (agent_json_is(format, "wav")) return agenti_im_data(im, m, AGENT_PART_AUDIO, agenti_im_get(im, audio, "data"), agenti_cstr("\"audio/wav\""));
    return agent_json_is(format, "mp3") ? agenti_im_data(im, m, AGENT_PART_AUDIO, agenti_im_get(im, audio, "data"), agenti_cstr("\"audio/mpeg\"")) : 0;
}
/* A part of a user's message. What has no other place of it goes with it: outside (`more`), and inside of the object in it. */
static int agenti_ioc_part(agenti_import *im, agenti_msg *m, agent_str part)
{
    static const char *const text_keys[] = { "type", "text", NULL }, *const keys[] = { "type", "image_url", "input_audio", "file", NULL };
    static const char *const inner_keys[] = { "url", "data", "format", "filename", "file_data", NULL };
    agent_str type = agenti_im_get(im, part, "type"), text = agenti_im_get(im, part, "text"), object = agenti_str(NULL, 0);
    agent_str name;
    agenti_part *p;
    int rc = 0;
    if (agent_json_is(type, "text") && agenti_is_string(text))
        return agenti_im_words(im, m, AGENT_PART_TEXT, text) && agenti_im_more(im, &m->parts[m->n - 1].more, part, text_keys);
    if (agent_json_is(type, "image_url")) {
        object = agenti_im_get(im, part, "image_url");
        if (agenti_is_object(object)) rc = agenti_im_url(im, m, AGENT_PART_IMAGE, agenti_im_get(im, object, "url"));
    } else if (agent_json_is(type, "input_audio")) rc = agenti_ioc_audio(im, m, object = agenti_im_get(im, part, "input_audio"));
    else if (agent_json_is(type, "file")) {
        agent_str data;
        object = agenti_im_get(im, part, "file");
        data = agenti_im_get(im, object, "file_data");
        if (agenti_nonempty(data) && data.n > 6 && agenti_ieq(agenti_str(data.p + 1, 5), "data:")) rc = agenti_im_url(im, m, AGENT_PART_FILE, data);
    }
    if (rc < 0) return 0;
    if (rc > 0 && agent_json_is(type, "image_url") && m->parts[m->n - 1].kind != AGENT_PART_IMAGE) m->parts[m->n - 1].kind = AGENT_PART_IMAGE;
    if (rc > 0 && agent_json_is(type, "file")) m->parts[m->n - 1].kind = AGENT_PART_FILE;
    if (rc == 0) return agenti_im_other(im, m, part, agenti_is_string(type) ? type : agenti_cstr("\"?\""));
    p = &m->parts[m->n - 1];
    name = agenti_im_get(im, object, "filename");
    if (p->kind == AGENT_PART_FILE && agenti_nonempty(name) && !agenti_im_text(im, &p->name, name)) return 0;
    return agenti_im_more(im, &p->more, part, keys) && agenti_im_more(im, &p->inner, object, inner_keys);
}
static int agenti_ioc_content(agenti_import *im, agenti_msg *m, agent_str content, agent_str at)
{
    agent_str part;
    size_t pos = 0;
    if (agenti_is_string(content)) return agenti_im_words(im, m, AGENT_PART_TEXT, content);
    if (!agenti_is_array(content)) return agenti_im_fail(im, content.n ? content.p : at.p, "messages: content is no text and no list of parts");
    while (agent_json_each(content, &pos, NULL, &part)) if (!agenti_ioc_part(im, m, part)) return 0;
    return 1;
}

/* ---- messages ---- */
/* Those at the start are the system prompt.                                                                            */
static int agenti_ioc_system(agenti_import *im, agent_str item, agent_str role, agent_str content)
{
    static const char *const keys[] = { "role", "content", NULL };
    int plain = agenti_is_string(content) && agent_json_is(role, "system") && agenti_im_count(item) == 2;
    agenti_msg *m;
    agent_str part;
    size_t pos = 0;
    if (im->table.n == 0) {
        while (agenti_is_array(content) && agent_json_each(content, &pos, NULL, &part))
            if (!agenti_im_system(im, agenti_im_get(im, part, "text"), NULL, 0)) return 0;
        return agenti_im_system(im, agenti_is_string(content) ? content : agenti_str(NULL, 0), &item, plain && agenti_nonempty(content));
    }
    if ((m = agenti_im_msg(im, AGENT_USER, item)) == NULL) return 0;
    m->flags = AGENT_MSG_SYSTEM;
    if (agent_json_is(role, "developer")) m->flags |= AGENTI_MSG_DEVELOPER;
    return agenti_im_more(im, &m->more, item, keys) && agenti_ioc_content(im, m, content, item);
}
static int agenti_ioc_user(agenti_import *im, agent_str item, agent_str content)
{
    static const char *const keys[] = { "role", "content", NULL };
    agenti_msg *m = agenti_im_msg(im, AGENT_USER, item);
    return m && agenti_im_more(im, &m->more, item, keys) && agenti_ioc_content(im, m, content, item);
}
/* Members of a reasoning detail that stand beside its text, as an object behind the `[` of a reasoning part's data.     */
static int agenti_ioc_detail(agenti_import *im, agenti_msg *m, agent_str detail)
{
    static const char *const keys[] = { "text", "summary", NULL };
    agent_str text = agenti_im_get(im, detail, "text");
    agenti_part *p = agenti_im_part(im, m, AGENT_PART_REASONING);
    agenti_text members;
    int ok;
    if (p == NULL) return 0;
    memset(&members, 0, sizeof members);
    if (!agenti_is_string(text)) text = agenti_im_get(im, detail, "summary");
    if (agenti_is_string(text) && !agenti_im_text(im, &p->text, text)) return 0;
    ok = agenti_im_more(im, &members, detail, keys) && agenti_im_wrap(im, &p->data, "[{", agenti_text_view(&members));
    agenti_text_free(&members, NULL);
    return ok;
}
static int agenti_ioc_opaque(agenti_import *im, agenti_msg *m, agent_str opaque)
{
    agenti_part *p = &m->parts[m->n - 1];
    agenti_text raw;
    int ok;
    memset(&raw, 0, sizeof raw);
    ok = agenti_im_raw(im, &raw, opaque) && agenti_im_wrap(im, &p->data, "[{\"reasoning_opaque\":", agenti_text_view(&raw));
    agenti_text_free(&raw, NULL);
    return ok;
}
/* The same thoughts may stand in several members: they are shown once, and those that are not written back otherwise stay as they are. */
static int agenti_ioc_reasoning(agenti_import *im, agenti_msg *m, agent_str item)
{
    static const char *const words[] = { "reasoning_content", "reasoning", "reasoning_text" };
    agent_str details = agenti_im_get(im, item, "reasoning_details"), opaque = agenti_im_get(im, item, "reasoning_opaque"), v;
    size_t pos = 0;
    int i;
    if (agenti_is_array(details)) {
        while (agent_json_each(details, &pos, NULL, &v)) if (agenti_is_object(v) && !agenti_ioc_detail(im, m, v)) return 0;
    } else for (i = 0; i < 3; i++) {
        if (!agenti_nonempty(v = agenti_im_get(im, item, words[i]))) continue;
        if (!agenti_im_words(im, m, AGENT_PART_REASONING, v)) return 0;
        break;
    }
    if (!agenti_nonempty(opaque) || agenti_is_array(details)) return 1;
    if (m->n == 0 && agenti_im_part(im, m, AGENT_PART_REASONING) == NULL) return 0;
    return agenti_ioc_opaque(im, m, opaque);
}
/* Texts and refusals of a list; what else is in it makes the list stay as it came.                                      */
static int agenti_ioc_answer(agenti_import *im, agenti_msg *m, agent_str content)
{
    agent_str part, text;
    size_t pos = 0;
    int plain = 1;
    if (agenti_nonempty(content)) return agenti_im_words(im, m, AGENT_PART_TEXT, content);
    if (!agenti_is_array(content)) return 1;
    while (agent_json_each(content, &pos, NULL, &part)) {
        int refuses = agent_json_is(agenti_im_get(im, part, "type"), "refusal");
        text = agent_json_get(part, refuses ? "refusal" : "text");
        plain = plain && !refuses && agent_json_is(agenti_im_get(im, part, "type"), "text") && agenti_is_string(text) && agenti_im_count(part) == 2;
        if (!agenti_is_string(text)) continue;
        if (!agenti_im_words(im, m, AGENT_PART_TEXT, text)) return 0;
        if (refuses) m->parts[m->n - 1].flags |= AGENT_PART_REFUSAL;
    }
    if (!plain) m->flags |= AGENTI_MSG_CONTENT;
    return 1;
}
static int agenti_ioc_call(agenti_import *im, agenti_msg *m, agent_str call)
{
    static const char *const keys[] = { "id", "type", "function", "extra_content", NULL }, *const inner[] = { "name", "arguments", NULL };
    static const char *const custom_keys[] = { "id", NULL };
    agent_str function = agenti_im_get(im, call, "function"), extra = agenti_im_get(im, call, "extra_content"), custom = agenti_im_get(im, call, "custom");
    int own = !agenti_is_object(function) && agenti_is_object(custom);
    agenti_part *p;
    if (!agenti_is_object(call)) return agenti_im_fail(im, call.p, "messages: a call is no object");
    if (own) {                                /* a tool of free text                                                    */
        p = agenti_im_call(im, m, agenti_im_get(im, call, "id"), agenti_im_get(im, custom, "name"), agenti_str(NULL, 0), call);
        if (p == NULL) return 0;
        p->flags |= AGENTI_PART_CONTENT;
        return agenti_im_input(im, p, agenti_im_get(im, custom, "input")) && agenti_im_more(im, &p->more, call, custom_keys);
    }
    p = agenti_im_call(im, m, agenti_im_get(im, call, "id"), agenti_im_get(im, function, "name"), agenti_im_get(im, function, "arguments"), call);
    if (p == NULL || (agenti_is_object(extra) && !agenti_im_raw(im, &p->data, extra))) return 0;
    return agenti_im_more(im, &p->more, call, keys) && agenti_im_more(im, &p->inner, function, inner);
}
static int agenti_ioc_assistant(agenti_import *im, agent_str item, agent_str content)
{
    static const char *const keys[] = { "role", "content", "tool_calls", "function_call", "reasoning_details", "reasoning_opaque", "reasoning_content", NULL };
    static const char *const own[] = { "role", "content", "tool_calls", "function_call", "reasoning_details", NULL };
    static const char *const with[] = { "role", "tool_calls", "function_call", "reasoning_details", NULL };
    static const char *const opaque[] = { "role", "content", "tool_calls", "function_call", "reasoning_opaque", "reasoning_text", NULL };
    agent_str calls = agenti_im_get(im, item, "tool_calls"), call = agenti_im_get(im, item, "function_call"), refusal = agenti_im_get(im, item, "refusal");
    const char *const *known = im->dialect & AGENT_DIALECT_REASONING_CONTENT ? keys : own;
    agenti_msg *m = agenti_im_msg(im, AGENT_MODEL, item);
    size_t pos = 0;
    if (m == NULL || !agenti_ioc_reasoning(im, m, item) || !agenti_ioc_answer(im, m, content)) return 0;
    if (agenti_nonempty(agenti_im_get(im, item, "reasoning_opaque")) && !agenti_is_array(agenti_im_get(im, item, "reasoning_details"))) known = opaque;
    if (m->flags & AGENTI_MSG_CONTENT) known = with;
    if (!agenti_im_more(im, &m->more, item, known)) return 0;
    if (agenti_nonempty(refusal)) {           /* the member itself goes back: a text stands for it in other formats     */
        if (!agenti_im_words(im, m, AGENT_PART_TEXT, refusal)) return 0;
        m->parts[m->n - 1].flags |= AGENT_PART_REFUSAL;
        m->parts[m->n - 1].flags |= AGENTI_PART_CONTENT;
    }
    if (!agenti_is_array(calls) && agenti_is_object(call))
        return agenti_im_call(im, m, agenti_str(NULL, 0), agenti_im_get(im, call, "name"), agenti_im_get(im, call, "arguments"), call) != NULL;
    if (!agenti_is_array(calls)) return 1;
    while (agent_json_each(calls, &pos, NULL, &call)) if (!agenti_ioc_call(im, m, call)) return 0;
    return 1;
}
/* The result of a call: a text, or texts in a list.                                                                     */
static int agenti_ioc_result(agenti_import *im, agent_str item, agent_str content)
{
    static const char *const keys[] = { "role", "tool_call_id", "content", NULL }, *const with[] = { "role", "tool_call_id", NULL };
    agent_str id = agenti_im_get(im, item, "tool_call_id"), name = agenti_im_get(im, item, "name");
    agenti_part *p = agenti_im_result(im, id, agenti_is_string(name) ? name : agenti_cstr("\"\""));
    if (p == NULL) return agenti_im_fail(im, item.p, "messages: a result without its call before it");
    if (!agenti_im_result_text(im, p, content)) return 0;
    if (agenti_nonempty(content)) return agenti_im_more(im, &p->more, item, keys);
    p->flags |= AGENTI_PART_CONTENT;
    return agenti_im_more(im, &p->more, item, with);
}
static int agenti_ioc_message(agenti_import *im, agent_str item)
{
    agent_str role = agenti_im_get(im, item, "role"), content = agenti_im_get(im, item, "content");
    if (!agenti_is_object(item)) return agenti_im_fail(im, item.p, "messages: an element is no object");
    if (agent_json_is(role, "system") || agent_json_is(role, "developer")) return agenti_ioc_system(im, item, role, content);
    if (agent_json_is(role, "user")) return agenti_ioc_user(im, item, content);
    if (agent_json_is(role, "assistant")) return agenti_ioc_assistant(im, item, content);
    if (agent_json_is(role, "tool") || agent_json_is(role, "function")) return agenti_ioc_result(im, item, content);
    return agenti_im_fail(im, role.n ? role.p : item.p, "messages: role is none of system, developer, user, assistant, tool, function");
}

/* ---- tools and options ---- */
static int agenti_ioc_tools(agenti_import *im, agent_str tools)
{
    agent_str tool, f, type;
    size_t pos = 0;
    if (tools.n == 0 || agenti_eq(tools, "null")) return 1;
    if (!agenti_is_array(tools)) return agenti_im_fail(im, tools.p, "tools: no list");
    im->tools_given = 1;
    while (agent_json_each(tools, &pos, NULL, &tool)) {
        f = agenti_im_get(im, tool, "function");
        type = agenti_im_get(im, tool, "type");
        if (!agenti_is_object(tool)) return agenti_im_fail(im, tool.p, "tools: an element is no object");
        if (agenti_is_object(f)
            ? !agenti_im_tool(im, tool, agenti_im_get(im, f, "name"), agenti_im_get(im, f, "description"), agenti_im_get(im, f, "parameters"))
            : !agenti_im_raw_tool(im, tool, agenti_is_string(agent_json_get(tool, "custom.name")) ? agent_json_get(tool, "custom.name") : type)) return 0;
    }
    return 1;
}
static uint32_t agenti_ioc_choice(agenti_import *im, agent_str v)
{
    agent_str name = agent_json_get(v, "function.name");
    if (im->tool_n == 0) return 0;
    if (agent_json_is(v, "any")) return agenti_im_word(im, AGENTI_OPT_TOOL_CHOICE, "required");
    if (agent_json_is(v, "auto") || agent_json_is(v, "none") || agent_json_is(v, "required")) return agenti_im_string(im, AGENTI_OPT_TOOL_CHOICE, v);
    if (agent_json_is(name, "auto") || agent_json_is(name, "none") || agent_json_is(name, "required")) return 0;
    return agenti_is_object(v) ? agenti_im_string(im, AGENTI_OPT_TOOL_CHOICE, name) : 0;
}
static uint32_t agenti_ioc_take(agenti_import *im, agent_str key, agent_str v)
{
    static const struct { const char *key; int option; } numbers[] = {
        { "max_tokens", AGENTI_OPT_MAX_TOKENS }, { "max_completion_tokens", AGENTI_OPT_MAX_TOKENS }, { "seed", AGENTI_OPT_SEED },
        { "random_seed", AGENTI_OPT_SEED }, { "temperature", AGENTI_OPT_TEMPERATURE }, { "top_p", AGENTI_OPT_TOP_P },
        { "frequency_penalty", AGENTI_OPT_FREQUENCY }, { "presence_penalty", AGENTI_OPT_PRESENCE }
    };
    size_t i;
    if (agenti_eq(key, "messages") || agenti_eq(key, "tools")) return AGENTI_IM_TAKEN;
    if (agenti_eq(key, "stream") && (agenti_eq(v, "true") || agenti_eq(v, "false"))) { im->stream = agenti_eq(v, "true"); return AGENTI_IM_TAKEN; }
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++) if (agenti_eq(key, numbers[i].key)) {
        uint32_t option = agenti_im_number(im, numbers[i].option, v);
        return option && i < 4 ? AGENTI_IM_TAKEN : option;    /* two names of one thing: the peer's dialect has one of them */
    }
    if (agenti_eq(key, "model")) return agenti_im_string(im, AGENTI_OPT_MODEL, v);
    if (agenti_eq(key, "stop")) return agenti_im_stop(im, v);
    if (agenti_eq(key, "tool_choice")) return agenti_ioc_choice(im, v);
    if (agenti_eq(key, "parallel_tool_calls")) return im->tool_n ? agenti_im_bool(im, AGENTI_OPT_PARALLEL, v, 0) : 0;
    if (agenti_eq(key, "reasoning_effort")) return agenti_im_string(im, AGENTI_OPT_EFFORT, v);
    if (agenti_eq(key, "reasoning") && im->foreign) return agenti_im_string(im, AGENTI_OPT_EFFORT, agenti_im_get(im, v, "effort"));     /* OpenRouter */
    return 0;
}
AGENTI_FN int agenti_openai_chat_import(agenti_import *im, agent_str body)
{
    agent_str messages = agenti_is_array(body) ? body : agenti_im_get(im, body, "messages"), item;
    size_t pos = 0;
    if (!agenti_is_array(messages)) return agenti_im_fail(im, messages.n ? messages.p : body.p, "messages: no list");
    if (body.p != messages.p && !agenti_ioc_tools(im, agenti_im_get(im, body, "tools"))) return 0;
    while (agent_json_each(messages, &pos, NULL, &item)) if (!agenti_ioc_message(im, item)) return 0;
    return (body.p == messages.p || agenti_im_members(im, body, agenti_ioc_take)) && agenti_im_end(im);
}
#endif
#endif
