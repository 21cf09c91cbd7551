/* Requests of Anthropic messages, as programs have them, into messages, tools and options. */
#ifndef AGENT_NO_IMPORT
AGENTI_FN int agenti_anthropic_import(agenti_import *, agent_str body);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_IMPORT_ANTHROPIC
/* ---- blocks ---- */
/* A mark of the short form is a flag; any other one stays as it came.                                                  */
static int agenti_ian_more(agenti_import *im, agenti_part *p, agent_str block, const char *const *known)
{
    agent_str mark = agenti_im_get(im, block, "cache_control");
    if (agenti_is_object(mark) && agent_json_is(agenti_im_get(im, mark, "type"), "ephemeral") && agenti_im_count(mark) == 1) {
        static const char *const text_keys[] = { "type", "text", "cache_control", NULL };
        static const char *const keys[] = { "type", "source", "title", "cache_control", NULL };
        p->flags |= AGENT_PART_CACHE;
        return agenti_im_more(im, &p->more, block, p->kind == AGENT_PART_TEXT ? text_keys : keys);
    }
    return agenti_im_more(im, &p->more, block, known);
}
/* An image or a document. 0: its source is of another kind; -1: no memory                                              */
static int agenti_ian_file(agenti_import *im, agenti_msg *m, agent_str source, int kind)
{
    agent_str type = agenti_im_get(im, source, "type"), data = agenti_im_get(im, source, "data");
    agenti_part *p;
    if (agent_json_is(type, "url") && agenti_im_count(source) == 2) {
        agent_str url = agenti_im_get(im, source, "url");
        if (!agenti_nonempty(url) || (url.n > 6 && agenti_ieq(agenti_str(url.p + 1, 5), "data:"))) return 0;
        return agenti_im_url(im, m, kind, url);
    }
    if (agenti_im_count(source) != 3) return 0;
    if (agent_json_is(type, "base64")) return agenti_im_data(im, m, kind, data, agenti_im_get(im, source, "media_type"));
    if (kind != AGENT_PART_FILE || !agent_json_is(type, "text") || !agenti_nonempty(data)) return 0;
    if (!agent_json_is(agenti_im_get(im, source, "media_type"), "text/plain")) return 0;
    p = agenti_im_part(im, m, AGENT_PART_FILE);
    return p && agenti_im_text(im, &p->text, data) && agenti_text_set(&p->mime, im->pool, NULL, agenti_cstr("text/plain")) ? 1 : -1;
}
static int agenti_ian_user_block(agenti_import *im, agenti_msg *m, agent_str block, agent_str type)
{
    static const char *const text_keys[] = { "type", "text", NULL }, *const keys[] = { "type", "source", "title", NULL };
    agent_str text = agenti_im_get(im, block, "text"), title = agenti_im_get(im, block, "title");
    int image = agent_json_is(type, "image"), rc = 0;
    if (agent_json_is(type, "text") && agenti_is_string(text))
        return agenti_im_words(im, m, AGENT_PART_TEXT, text) && agenti_ian_more(im, &m->parts[m->n - 1], block, text_keys);
    if (image || agent_json_is(type, "document"))
        rc = agenti_ian_file(im, m, agenti_im_get(im, block, "source"), image ? AGENT_PART_IMAGE : AGENT_PART_FILE);
    if (rc < 0) return 0;
    if (rc == 0) return agenti_im_other(im, m, block, type);
    m->parts[m->n - 1].kind = image ? AGENT_PART_IMAGE : AGENT_PART_FILE;
    if (!image && agenti_nonempty(title) && !agenti_im_text(im, &m->parts[m->n - 1].name, title)) return 0;
    return agenti_ian_more(im, &m->parts[m->n - 1], block, keys);
}
static int agenti_ian_result(agenti_import *im, agent_str block)
{
    static const char *const keys[] = { "type", "tool_use_id", "content", "is_error", NULL }, *const with[] = { "type", "tool_use_id", "is_error", NULL };
    static const char *const not_error[] = { "type", "tool_use_id", "content", NULL }, *const not_error_with[] = { "type", "tool_use_id", NULL };
    agent_str content = agenti_im_get(im, block, "content");
    int fails = agenti_eq(agenti_im_get(im, block, "is_error"), "true"), plain = agenti_nonempty(content);
    agenti_part *p = agenti_im_result(im, agenti_im_get(im, block, "tool_use_id"), agenti_cstr("\"\""));
    if (p == NULL) return agenti_im_fail(im, block.p, "messages: a tool_result without its tool_use before it");
    if (fails) p->flags |= AGENT_PART_ERROR;
    if (!plain) p->flags |= AGENTI_PART_CONTENT;
    return agenti_im_result_text(im, p, content)
        && agenti_im_more(im, &p->more, block, plain ? fails ? keys : not_error : fails ? with : not_error_with);
}
/* Citations are kept as JSON objects with commas between.                                                              */
static int agenti_ian_text(agenti_import *im, agenti_msg *m, agent_str block, agent_str text)
{
    static const char *const keys[] = { "type", "text", "citations", NULL };
    agent_str cited = agenti_im_get(im, block, "citations");
    agenti_part *p;
    if (!agenti_im_words(im, m, AGENT_PART_TEXT, text)) return 0;
    p = &m->parts[m->n - 1];
    if (agenti_is_array(cited)) {
        cited = agenti_trim(agenti_str(cited.p + 1, cited.n - 2));
        if (cited.n && !agenti_im_raw(im, &p->data, cited)) return 0;
    }
    return agenti_im_more(im, &p->more, block, keys);
}
static int agenti_ian_model_block(agenti_import *im, agenti_msg *m, agent_str block, agent_str type)
{
    static const char *const call_keys[] = { "type", "id", "name", "input", NULL }, *const keys[] = { "type", "thinking", "signature", NULL };
    agent_str text = agent_json_get(block, agent_json_is(type, "thinking") ? "thinking" : "text");
    agenti_part *p;
    if (agent_json_is(type, "text") && agenti_is_string(text)) return agenti_ian_text(im, m, block, text);
    if (agent_json_is(type, "tool_use")) {
        p = agenti_im_call(im, m, agenti_im_get(im, block, "id"), agenti_im_get(im, block, "name"), agenti_im_get(im, block, "input"), block);
        return p && agenti_im_more(im, &p->more, block, call_keys);
    }
    if (!agent_json_is(type, "thinking") || !agenti_is_string(text)) return agenti_im_other(im, m, block, type);
    if (!agenti_im_words(im, m, AGENT_PART_REASONING, text)) return 0;
    p = &m->parts[m->n - 1];
    return agenti_im_more(im, &p->more, block, keys)
        && (!agenti_is_string(agenti_im_get(im, block, "signature")) || agenti_im_text(im, &p->data, agenti_im_get(im, block, "signature")));
}

/* ---- messages ---- */
/* Results stand before all else of a user's message: what comes behind them begins a message of its own.               */
static int agenti_ian_blocks(agenti_import *im, agent_str item, agent_str content, int model, int flags)
{
    static const char *const keys[] = { "role", "content", NULL };
    agenti_msg *m = model ? agenti_im_msg(im, AGENT_MODEL, item) : NULL;
    agent_str block, type;
    size_t pos = 0;
    if ((model && m == NULL) || !agenti_im_strict(im, item, keys)) return 0;
    while (agent_json_each(content, &pos, NULL, &block)) {
        type = agenti_im_get(im, block, "type");
        if (!agenti_nonempty(type)) return agenti_im_fail(im, block.p, "messages: a block without a type");
        if (!model && agent_json_is(type, "tool_result")) {
            if (!agenti_ian_result(im, block)) return 0;
            continue;
        }
        if (m == NULL) {
            if ((m = agenti_im_msg(im, AGENT_USER, item)) == NULL) return 0;
            m->flags = (uint8_t)flags;
        }
        if (model ? !agenti_ian_model_block(im, m, block, type) : !agenti_ian_user_block(im, m, block, type)) return 0;
    }
    return 1;
}
static int agenti_ian_message(agenti_import *im, agent_str item)
{
    static const char *const keys[] = { "role", "content", NULL };
    agent_str role = agenti_im_get(im, item, "role"), content = agenti_im_get(im, item, "content");
    int model = agent_json_is(role, "assistant"), system = agent_json_is(role, "system");
    agenti_msg *m;
    if (!agenti_is_object(item)) return agenti_im_fail(im, item.p, "messages: an element is no object");
    if (!model && !system && !agent_json_is(role, "user"))
        return agenti_im_fail(im, role.n ? role.p : item.p, "messages: role is none of user, assistant, system");
    if (agenti_is_array(content)) return agenti_ian_blocks(im, item, content, model, system ? AGENT_MSG_SYSTEM : 0);
    if (!agenti_is_string(content)) return agenti_im_fail(im, content.n ? content.p : item.p, "messages: content is no text and no list of blocks");
    if ((m = agenti_im_msg(im, model ? AGENT_MODEL : AGENT_USER, item)) == NULL || !agenti_im_strict(im, item, keys)) return 0;
    m->flags = system ? AGENT_MSG_SYSTEM : 0;
    return agenti_im_words(im, m, AGENT_PART_TEXT, content);
}

/* ---- tools and options ---- */
static int agenti_ian_tools(agenti_import *im, agent_str tools)
{
    agent_str tool, type, name;
    size_t pos = 0;
    if (tools.n == 0 || agenti_eq(tools, "null")) return 1;
    if (!agenti_is_array(tools)) return agenti_im_fail(im, tools.p, "tools: no list");
    im->tools_given = 1;
    while (agent_json_each(tools, &pos, NULL, &tool)) {
        if (!agenti_is_object(tool)) return agenti_im_fail(im, tool.p, "tools: an element is no object");
        type = agenti_im_get(im, tool, "type");
        name = agenti_im_get(im, tool, "name");
        if (!agenti_nonempty(type) || agent_json_is(type, "custom")
            ? !agenti_im_tool(im, tool, name, agenti_im_get(im, tool, "description"), agenti_im_get(im, tool, "input_schema"))
            : !agenti_im_raw_tool(im, tool, agenti_nonempty(name) ? name : type)) return 0;
    }
    return 1;
}
static uint32_t agenti_ian_choice(agenti_import *im, agent_str v)
{
    agent_str type = agenti_im_get(im, v, "type"), name = agenti_im_get(im, v, "name");
    uint32_t options = 0;
    if (im->tool_n == 0) return 0;
    if (agent_json_is(type, "any")) options = agenti_im_word(im, AGENTI_OPT_TOOL_CHOICE, "required");
    else if (agent_json_is(type, "auto") || agent_json_is(type, "none")) options = agenti_im_string(im, AGENTI_OPT_TOOL_CHOICE, type);
    else if (agent_json_is(type, "tool") && !agent_json_is(name, "auto") && !agent_json_is(name, "none") && !agent_json_is(name, "required"))
        options = agenti_im_string(im, AGENTI_OPT_TOOL_CHOICE, name);
    return options | agenti_im_bool(im, AGENTI_OPT_PARALLEL, agenti_im_get(im, v, "disable_parallel_tool_use"), 1);
}
static uint32_t agenti_ian_thinking(agenti_import *im, agent_str v)
{
    agent_str type = agenti_im_get(im, v, "type");
    if (agent_json_is(type, "adaptive")) return agenti_im_word(im, AGENTI_OPT_THINKING, "adaptive");
    if (agent_json_is(type, "disabled")) return agenti_im_word(im, AGENTI_OPT_THINKING, "0");
    return agent_json_is(type, "enabled") ? agenti_im_number(im, AGENTI_OPT_THINKING, agenti_im_get(im, v, "budget_tokens")) : 0;
}
static uint32_t agenti_ian_take(agenti_import *im, agent_str key, agent_str v)
{
    if (agenti_eq(key, "messages") || agenti_eq(key, "tools")) return AGENTI_IM_TAKEN;
    if (agenti_eq(key, "system")) return AGENTI_BIT(AGENTI_OPT_SYSTEM);
    if (agenti_eq(key, "stream") && (agenti_eq(v, "true") || agenti_eq(v, "false"))) { im->stream = agenti_eq(v, "true"); return AGENTI_IM_TAKEN; }
    if (agenti_eq(key, "model")) return agenti_im_string(im, AGENTI_OPT_MODEL, v);
    if (agenti_eq(key, "max_tokens")) return agenti_im_number(im, AGENTI_OPT_MAX_TOKENS, v);
    if (agenti_eq(key, "temperature")) return agenti_im_number(im, AGENTI_OPT_TEMPERATURE, v);
    if (agenti_eq(key, "top_p")) return agenti_im_number(im, AGENTI_OPT_TOP_P, v);
    if (agenti_eq(key, "stop_sequences")) return agenti_im_stop(im, v);
    if (agenti_eq(key, "tool_choice")) return agenti_ian_choice(im, v);
    if (agenti_eq(key, "thinking")) return agenti_ian_thinking(im, v);
    if (agenti_eq(key, "output_config")) return agenti_im_string(im, AGENTI_OPT_EFFORT, agenti_im_get(im, v, "effort"));
    return 0;
}
AGENTI_FN int agenti_anthropic_import(agenti_import *im, agent_str body)
{
    int list = agenti_is_array(body);
    agent_str messages = list ? body : agenti_im_get(im, body, "messages"), system = agenti_im_get(im, body, "system"), item;
    size_t pos = 0;
    if (!agenti_is_array(messages)) return agenti_im_fail(im, messages.n ? messages.p : body.p, "messages: no list");
    if (!list && (!agenti_ian_tools(im, agenti_im_get(im, body, "tools")) || !agenti_im_system(im, system, NULL, 0))) return 0;
    while (!list && agenti_is_array(system) && agent_json_each(system, &pos, NULL, &item))
        if (!agenti_im_system(im, agenti_im_get(im, item, "text"), NULL, 0)) return 0;
    pos = 0;
    while (agent_json_each(messages, &pos, NULL, &item)) if (!agenti_ian_message(im, item)) return 0;
    return (list || agenti_im_members(im, body, agenti_ian_take)) && agenti_im_end(im);
}
#endif
#endif
