/* Requests of Gemini generateContent, as programs have them, into messages, tools and options. Names are taken in both forms that the
 * provider takes, thoughtSignature and thought_signature. */
#ifndef AGENT_NO_IMPORT
AGENTI_FN int agenti_gemini_import(agenti_import *, agent_str body);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_IMPORT_GEMINI
static agent_str agenti_igm_get(agenti_import *im, agent_str object, const char *camel, const char *snake)
{
    agent_str v = agenti_im_get(im, object, camel);
    return v.p ? v : agenti_im_get(im, object, snake);
}

/* ---- parts ---- */
static int agenti_igm_text(agenti_import *im, agenti_msg *m, agent_str part, int model)
{
    static const char *const keys[] = { "text", NULL }, *const model_keys[] = { "text", "thoughtSignature", "thought_signature", NULL };
    static const char *const thought_keys[] = { "text", "thought", "thoughtSignature", "thought_signature", NULL };
    agent_str signature = agenti_igm_get(im, part, "thoughtSignature", "thought_signature");
    int thinks = model && agenti_eq(agenti_im_get(im, part, "thought"), "true");
    if (!agenti_im_words(im, m, thinks ? AGENT_PART_REASONING : AGENT_PART_TEXT, agenti_im_get(im, part, "text"))) return 0;
    if (model && agenti_nonempty(signature) && !agenti_im_text(im, &m->parts[m->n - 1].data, signature)) return 0;
    return agenti_im_more(im, &m->parts[m->n - 1].more, part, thinks ? thought_keys : model ? model_keys : keys);
}
/* -1: no memory; 0: it is none that can be read, and nothing was added                                                  */
static int agenti_igm_file(agenti_import *im, agenti_msg *m, agent_str part, int model)
{
    static const char *const keys[] = { "inlineData", "inline_data", "fileData", "file_data", NULL };
    static const char *const model_keys[] = { "inlineData", "inline_data", "fileData", "file_data", "thoughtSignature", "thought_signature", NULL };
    static const char *const inner[] = { "mimeType", "mime_type", "data", "fileUri", "file_uri", NULL };
    agent_str data = agenti_igm_get(im, part, "inlineData", "inline_data"), file = agenti_igm_get(im, part, "fileData", "file_data"), mime;
    agent_str signature = agenti_igm_get(im, part, "thoughtSignature", "thought_signature");
    agenti_part *p;
    int rc;
    mime = agenti_igm_get(im, data.n ? data : file, "mimeType", "mime_type");
    rc = data.n ? agenti_im_data(im, m, AGENT_PART_FILE, agenti_im_get(im, data, "data"), mime)
       : agenti_im_url(im, m, AGENT_PART_FILE, agenti_igm_get(im, file, "fileUri", "file_uri"));
    if (rc <= 0) return rc;
    p = &m->parts[m->n - 1];
    if (data.n == 0 && agenti_is_string(mime)) {
        if (!agenti_im_text(im, &p->mime, mime)) return -1;
        if (p->mime.n > 6 && agenti_ieq(agenti_str(p->mime.p, 6), "image/")) p->kind = AGENT_PART_IMAGE;
        if (p->mime.n > 6 && agenti_ieq(agenti_str(p->mime.p, 6), "audio/")) p->kind = AGENT_PART_AUDIO;
    }
    if (model && agenti_nonempty(signature) && !agenti_im_text(im, &p->data, signature)) return -1;
    return agenti_im_more(im, &p->more, part, model ? model_keys : keys) && agenti_im_more(im, &p->inner, data.n ? data : file, inner) ? 1 : -1;
}
static int agenti_igm_call(agenti_import *im, agenti_msg *m, agent_str part, agent_str call)
{
    static const char *const keys[] = { "functionCall", "function_call", "thoughtSignature", "thought_signature", NULL };
    static const char *const inner[] = { "id", "name", "args", NULL };
    agent_str signature = agenti_igm_get(im, part, "thoughtSignature", "thought_signature");
    agenti_part *p = agenti_im_call(im, m, agenti_im_get(im, call, "id"), agenti_im_get(im, call, "name"), agenti_im_get(im, call, "args"), part);
    if (p == NULL || (agenti_nonempty(signature) && !agenti_im_text(im, &p->data, signature))) return 0;
    return agenti_im_more(im, &p->more, part, keys) && agenti_im_more(im, &p->inner, call, inner);
}
/* {"output": TEXT} and {"error": TEXT} are what a result's text becomes; any other response is the text, as JSON.       */
static int agenti_igm_result(agenti_import *im, agent_str part, agent_str result)
{
    static const char *const keys[] = { "functionResponse", "function_response", NULL }, *const inner[] = { "id", "name", "response", NULL };
    static const char *const with[] = { "id", "name", NULL };
    agent_str response = agenti_im_get(im, result, "response"), text = agenti_im_get(im, response, "output"), error = agenti_im_get(im, response, "error");
    int one = agenti_im_count(response) == 1, plain = one && (agenti_nonempty(text) || agenti_nonempty(error));
    agenti_part *p = agenti_im_result(im, agenti_im_get(im, result, "id"), agenti_im_get(im, result, "name"));
    if (p == NULL) return agenti_im_fail(im, part.p, "contents: a functionResponse without its functionCall before it");
    if (one && agenti_is_string(error)) p->flags |= AGENT_PART_ERROR;
    if (!plain) p->flags |= AGENTI_PART_CONTENT;
    if (response.n && !agenti_im_text(im, &p->text, !plain ? response : agenti_nonempty(text) ? text : error)) return 0;
    return agenti_im_more(im, &p->more, part, keys) && agenti_im_more(im, &p->inner, result, plain ? inner : with);
}

/* ---- contents ---- */
static int agenti_igm_other(agenti_import *im, agenti_msg *m, agent_str part)
{
    agent_str key = agenti_str(NULL, 0), value;
    size_t pos = 0;
    agenti_part *p;
    (void)agent_json_each(part, &pos, &key, &value);         /* its first member says what it is                        */
    if (!agenti_im_other(im, m, part, agenti_str(NULL, 0))) return 0;
    p = &m->parts[m->n - 1];
    return key.n == 0 || agenti_im_raw(im, &p->name, key);
}
static int agenti_igm_part(agenti_import *im, agenti_msg **m, agent_str content, agent_str part, int model)
{
    agent_str call = agenti_igm_get(im, part, "functionCall", "function_call"), result = agenti_igm_get(im, part, "functionResponse", "function_response");
    agent_str text = agenti_im_get(im, part, "text");
    int rc = 0;
    if (!agenti_is_object(part)) return agenti_im_fail(im, part.p, "contents: a part is no object");
    if (!model && agenti_is_object(result)) return agenti_igm_result(im, part, result);
    if (*m == NULL && (*m = model ? agenti_im_model(im, content) : agenti_im_msg(im, AGENT_USER, content)) == NULL) return 0;
    if (agenti_is_string(text)) return agenti_igm_text(im, *m, part, model);
    if (model && agenti_is_object(call)) return agenti_igm_call(im, *m, part, call);
    rc = agenti_igm_file(im, *m, part, model);
    return rc < 0 ? 0 : rc > 0 || agenti_igm_other(im, *m, part);
}
static int agenti_igm_content(agenti_import *im, agent_str content)
{
    static const char *const keys[] = { "role", "parts", NULL };
    agent_str role = agenti_im_get(im, content, "role"), parts = agenti_im_get(im, content, "parts"), part;
    int model = agent_json_is(role, "model");
    agenti_msg *m = NULL;
    size_t pos = 0;
    if (!agenti_is_object(content)) return agenti_im_fail(im, content.p, "contents: an element is no object");
    if (role.n && !model && !agent_json_is(role, "user") && !agent_json_is(role, "function") && !agenti_eq(role, "null"))
        return agenti_im_fail(im, role.p, "contents: role is none of user, model, function");
    if (!agenti_im_strict(im, content, keys)) return 0;
    if (agenti_is_object(parts)) return agenti_igm_part(im, &m, content, parts, model);      /* one that is no list       */
    if (!agenti_is_array(parts)) return agenti_im_fail(im, parts.n ? parts.p : content.p, "contents: parts is no list");
    while (agent_json_each(parts, &pos, NULL, &part)) if (!agenti_igm_part(im, &m, content, part, model)) return 0;
    return 1;
}

/* ---- tools and options ---- */
/* Types of this format's schemas are words in capitals; those of JSON Schema are not.                                   */
static void agenti_igm_types(agenti_text *schema)
{
    char *p = schema->p;
    size_t n = schema->n, i = 0, k;
    AGENTI_TOUCH(n);
    while (i < n) {
        agent_str word;
        if (p[i] != '"') { i++; continue; }
        k = agenti_json_skip(p + i, n - i);
        if (k < 2) return;
        word = agenti_str(p + i, k);
        i += k;
        k = i + agenti_json_space(p + i, n - i);
        if (!agenti_eq(word, "\"type\"") || k == n || p[k] != ':') continue;
        k++;
        k += agenti_json_space(p + k, n - k);
        if (k == n || p[k] != '"') continue;
        for (i = k + 1; i < n && p[i] != '"'; i++) p[i] = agenti_lower(p[i]);
        i++;
    }
}
static int agenti_igm_function(agenti_import *im, agent_str f)
{
    agent_str parameters = agenti_im_get(im, f, "parameters"), schema = agenti_igm_get(im, f, "parametersJsonSchema", "parameters_json_schema");
    if (!agenti_is_object(f)) return agenti_im_fail(im, f.p, "tools: a declaration is no object");
    if (!agenti_im_tool(im, f, agenti_im_get(im, f, "name"), agenti_im_get(im, f, "description"), agenti_is_object(parameters) ? parameters : schema)) return 0;
    if (agenti_is_object(parameters)) agenti_igm_types(&im->tools[im->tool_n - 1].schema);
    return 1;
}
/* What stands beside functions in an element is one of its own.                                                         */
static int agenti_igm_rest(agenti_import *im, agent_str tool)
{
    static const char *const keys[] = { "functionDeclarations", "function_declarations", NULL };
    agent_str key, value, name = agenti_str(NULL, 0);
    agenti_text rest, quoted;
    size_t pos = 0;
    int ok, left = 0;
    while (agent_json_each(tool, &pos, &key, &value)) {
        if (agenti_eq(value, "null") || agenti_eq(key, keys[0]) || agenti_eq(key, keys[1])) continue;
        if (left++ == 0) name = agenti_str(key.p - 1, key.n + 2);
    }
    if (left == 0) return 1;
    memset(&rest, 0, sizeof rest);
    memset(&quoted, 0, sizeof quoted);
    ok = agenti_im_more(im, &rest, tool, keys) && agenti_im_wrap(im, &quoted, "{", agenti_text_view(&rest))
        && agenti_im_raw_tool(im, agenti_text_view(&quoted), name);
    agenti_text_free(&rest, NULL);
    agenti_text_free(&quoted, NULL);
    return ok;
}
static int agenti_igm_tool(agenti_import *im, agent_str tool)
{
    agent_str list = agenti_igm_get(im, tool, "functionDeclarations", "function_declarations"), f;
    size_t pos = 0;
    if (!agenti_is_object(tool)) return agenti_im_fail(im, tool.p, "tools: an element is no object");
    if (agenti_is_object(list) && !agenti_igm_function(im, list)) return 0;
    while (agenti_is_array(list) && agent_json_each(list, &pos, NULL, &f)) if (!agenti_igm_function(im, f)) return 0;
    return agenti_igm_rest(im, tool);
}
static int agenti_igm_tools(agenti_import *im, agent_str tools)
{
    agent_str tool;
    size_t pos = 0;
    if (tools.n == 0 || agenti_eq(tools, "null")) return 1;
    im->tools_given = 1;
    if (agenti_is_object(tools)) return agenti_igm_tool(im, tools);
    if (!agenti_is_array(tools)) return agenti_im_fail(im, tools.p, "tools: no list");
    while (agent_json_each(tools, &pos, NULL, &tool)) if (!agenti_igm_tool(im, tool)) return 0;
    return 1;
}
static uint32_t agenti_igm_choice(agenti_import *im, agent_str v)
{
    agent_str config = agenti_igm_get(im, v, "functionCallingConfig", "function_calling_config"), mode = agenti_im_get(im, config, "mode"), first, name;
    size_t pos = 0;
    if (im->tool_n == 0) return 0;
    if (agent_json_is(mode, "AUTO")) return agenti_im_word(im, AGENTI_OPT_TOOL_CHOICE, "auto");
    if (agent_json_is(mode, "NONE")) return agenti_im_word(im, AGENTI_OPT_TOOL_CHOICE, "none");
    if (!agent_json_is(mode, "ANY")) return 0;
    config = agenti_igm_get(im, config, "allowedFunctionNames", "allowed_function_names");
    if (!agenti_is_array(config) || !agent_json_each(config, &pos, NULL, &first)) return agenti_im_word(im, AGENTI_OPT_TOOL_CHOICE, "required");
    if (agent_json_each(config, &pos, NULL, &name) || agent_json_is(first, "auto") || agent_json_is(first, "none") || agent_json_is(first, "required"))
        return agenti_im_word(im, AGENTI_OPT_TOOL_CHOICE, "required");
    return agenti_im_string(im, AGENTI_OPT_TOOL_CHOICE, first);
}
static uint32_t agenti_igm_thinking(agenti_import *im, agent_str v)
{
    agent_str budget = agenti_igm_get(im, v, "thinkingBudget", "thinking_budget");
    uint32_t options = agenti_im_string(im, AGENTI_OPT_EFFORT, agenti_igm_get(im, v, "thinkingLevel", "thinking_level"));
    return options | (agenti_eq(budget, "-1") ? agenti_im_word(im, AGENTI_OPT_THINKING, "adaptive") : agenti_im_number(im, AGENTI_OPT_THINKING, budget));
}
static uint32_t agenti_igm_config(agenti_import *im, agent_str v)
{
    static const struct { const char *camel, *snake; int option; } rows[] = {
        { "maxOutputTokens", "max_output_tokens", AGENTI_OPT_MAX_TOKENS }, { "temperature", "temperature", AGENTI_OPT_TEMPERATURE },
        { "topP", "top_p", AGENTI_OPT_TOP_P }, { "seed", "seed", AGENTI_OPT_SEED }, { "frequencyPenalty", "frequency_penalty", AGENTI_OPT_FREQUENCY },
        { "presencePenalty", "presence_penalty", AGENTI_OPT_PRESENCE }
    };
    uint32_t options = 0;
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) options |= agenti_im_number(im, rows[i].option, agenti_igm_get(im, v, rows[i].camel, rows[i].snake));
    options |= agenti_im_stop(im, agenti_igm_get(im, v, "stopSequences", "stop_sequences"));
    return options | agenti_igm_thinking(im, agenti_igm_get(im, v, "thinkingConfig", "thinking_config"));
}
static uint32_t agenti_igm_take(agenti_import *im, agent_str key, agent_str v)
{
    if (agenti_eq(key, "contents") || agenti_eq(key, "tools")) return AGENTI_IM_TAKEN;
    if (agenti_eq(key, "systemInstruction") || agenti_eq(key, "system_instruction")) return AGENTI_BIT(AGENTI_OPT_SYSTEM);
    if (agenti_eq(key, "generationConfig") || agenti_eq(key, "generation_config")) return agenti_igm_config(im, v);
    if (agenti_eq(key, "toolConfig") || agenti_eq(key, "tool_config")) return agenti_igm_choice(im, v);
    if (agenti_eq(key, "model")) return agenti_im_string(im, AGENTI_OPT_MODEL, v);
    return 0;
}
static int agenti_igm_system(agenti_import *im, agent_str system)
{
    agent_str parts = agenti_im_get(im, system, "parts"), part;
    size_t pos = 0;
    if (agenti_is_string(system)) return agenti_im_system(im, system, NULL, 0);
    if (agenti_is_object(parts)) return agenti_im_system(im, agenti_im_get(im, parts, "text"), NULL, 0);
    while (agenti_is_array(parts) && agent_json_each(parts, &pos, NULL, &part)) if (!agenti_im_system(im, agenti_im_get(im, part, "text"), NULL, 0)) return 0;
    return 1;
}
AGENTI_FN int agenti_gemini_import(agenti_import *im, agent_str body)
{
    int list = agenti_is_array(body);
    agent_str contents = list ? body : agenti_im_get(im, body, "contents"), item;
    size_t pos = 0;
    if (!agenti_is_array(contents)) return agenti_im_fail(im, contents.n ? contents.p : body.p, "contents: no list");
    if (!list && !agenti_igm_tools(im, agenti_im_get(im, body, "tools"))) return 0;
    if (!list && !agenti_igm_system(im, agenti_igm_get(im, body, "systemInstruction", "system_instruction"))) return 0;
    while (agent_json_each(contents, &pos, NULL, &item)) if (!agenti_igm_content(im, item)) return 0;
    return (list || agenti_im_members(im, body, agenti_igm_take)) && agenti_im_end(im);
}
#endif
#endif
