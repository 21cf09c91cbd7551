/* Conversations: what the host may ask of them, their options, tools, queue and message table. The loop is the next part. */
enum agenti_session_state {
    AGENTI_S_IDLE,
    AGENTI_S_TAKE, AGENTI_S_MEND, AGENTI_S_MEND_ADD, AGENTI_S_MENDED, /* calls that have no results                     */
    AGENTI_S_USER_ADD, AGENTI_S_USER_END,                             /* the run's own message                          */
    AGENTI_S_STEP, AGENTI_S_SEND, AGENTI_S_ANSWER,                    /* one model call                                 */
    AGENTI_S_JUDGE, AGENTI_S_RETRY_SAY, AGENTI_S_RETRY,
    AGENTI_S_PARTS, AGENTI_S_MODEL_END,
    AGENTI_S_TOOLS, AGENTI_S_RESULTS_ADD, AGENTI_S_RESULTS_END,       /* its calls                                      */
    AGENTI_S_STEP_END, AGENTI_S_FAULT, AGENTI_S_NEXT,
    AGENTI_S_RETURN, AGENTI_S_RUN_END
};
typedef struct agenti_item {                  /* a submitted message that waits                                         */
    struct agenti_item *next, *prev;
    agenti_msg *msg;                          /* NULL: go on with what is there                                         */
    uint32_t num;
    uint8_t lane;
    uint8_t news;                             /* AGENTI_ITEM_: what QUEUED is to say of it                              */
    uint8_t told, back, on;                   /* QUEUED said that it waits; a cancel gives it back; it came at a STEP_END: the run goes on */
} agenti_item;
enum { AGENTI_ITEM_ADDED = 1, AGENTI_ITEM_MOVED = 2, AGENTI_ITEM_GONE = 4 };
/* Why a run or a tool is stopped: by the host, by the time of the step or run, by the tool's own time.                 */
enum { AGENTI_STOPPED_NOT, AGENTI_STOPPED_CANCEL, AGENTI_STOPPED_TIME, AGENTI_STOPPED_LATE };
typedef struct agenti_toolset { agenti_tool *p; size_t n; } agenti_toolset;
typedef struct agenti_loader {
    agenti_buf line;                          /* the one that has not ended                                             */
    uint64_t at;                              /* where it begins                                                        */
    agenti_text state, options, new_options;  /* of the last complete save; of one that is not complete                 */
    size_t sealed, drop;                      /* messages of complete saves; from here on they go when the next is complete */
    uint8_t head, drops;
    uint8_t torn;                             /* something came behind the last complete save                           */
} agenti_loader;
typedef struct agenti_session {
    agenti_ready ready;
    agent_engine *e;
    agenti_peer *peer;
    agenti_conn *conn;                        /* while the answer is awaited                                            */
    agenti_item *first, *last, *item;         /* the queue; the run's item while it is delivered                        */
    agenti_item *untold;                      /* before it there is none that QUEUED has to tell of                     */
    int state, why, finish;
    uint32_t steps, order;                    /* of this run; of calls done                                             */
    uint32_t flags, max_steps, parallel;
    uint8_t running;                          /* between RUN_START and RUN_END                                          */
    uint8_t cancel, cancelling, closed;       /* cancel: an agent_stop_when that was asked for; cancelling: AGENTI_STOPPED_, all ends but what closes */
    uint8_t stop_step, tools_may_end;         /* stops behind this step; cancelling lets what runs run                  */
    uint8_t notes;                            /* before the next step a note asks the model to go on                    */
    uint8_t going_on;                         /* the retry is another step, behind what was shown                       */
    uint8_t retry_now, retry_stop;            /* the host says so                                                       */
    uint8_t end_run;                          /* a tool asks for it                                                     */
    uint8_t checkpoint;                       /* CHECKPOINT is to come                                                  */
    uint8_t news;                             /* kept or lost members are to be told                                    */
    uint8_t new_tools, old_log, choice_spent, fresh, closing, failed;   /* fresh: not an idle connection; closing: the last step */
    agenti_pool pool;
    agent_id id;
    void *user;
    uint32_t model;                           /* counts changes of the model: reasoning goes back to its own only       */
    uint32_t dialect, key_count;              /* of the request that is under way                                       */
    uint8_t stateful, went_on;                /* its answer will be kept by the provider; it goes on from one that is   */
    uint8_t key_asked, key_spent;             /* in this step, after a 401: another key was asked for; it was tried     */
    agenti_toolset tools, next_tools;         /* next: from the next step on                                            */
    agenti_text tools_json;                   /* tools as the wire format wants them: a droppable cache                 */
    agenti_table table;
    agenti_nums nums;
    uint64_t seq;
    agenti_log log;
    uint32_t items;
    agenti_timer timer;
    uint32_t max_retries, retry_ms, retry_cap_ms, hint_cap_ms, tool_ms, grace_ms, step_ms, run_ms, run_tokens, stop_finish;
    uint32_t attempt;                         /* retries in a row                                                       */
    uint64_t retry_at, step_until, run_until; /* retry_at also: until when the provider asks to wait, over hint_cap_ms   */
    agent_num cut;                            /* the first message that is no more, for MSG_CUT                         */
    agent_usage usage, spent;                 /* of this run; of this step's attempts that failed                       */
    agent_id drain;                           /* of the last answer                                                     */
    agenti_loader *load;                      /* while a saved session comes in                                         */
    uint8_t torn;                             /* a WARNING is to tell that its end was left out                         */
    uint8_t quiet;                            /* an item is in the queue that QUEUED does not tell of: its run is to begin at once */
    uint32_t left_out, told_out;              /* WARNINGs to come; options that one was given for                        */
    /* of an import */
    const agenti_wire *imported;              /* its wire format; NULL: there was none                                  */
    agenti_kept *kept; uint32_t kept_n;       /* members of the body that go back to that format                        */
    agenti_text system_raw, lost;             /* its system messages as they came; a member that goes back nowhere      */
    agenti_toolset foreign;                   /* tools as it has them, where the peer speaks another format             */
    uint32_t export_left;                     /* WARNINGs to come: AGENTI_BITs of what an export left out               */
    agenti_answer answer;
    agenti_text options[AGENTI_OPT_COUNT];
} agenti_session;

AGENTI_FN agenti_session *agenti_session_get(const agent_engine *, agent_id);
AGENTI_FN void agenti_session_free(agenti_session *);                 /* its handle is gone already                     */
AGENTI_FN const char *agenti_option_key(int option);
AGENTI_FN void agenti_tools_swap(agenti_session *);                   /* takes the next tools                           */
AGENTI_FN agenti_part *agenti_result_find(const agenti_session *, agent_num call);            /* of this step, or NULL  */
AGENTI_FN void agenti_result_done(agenti_session *, agenti_part *r, int status);
AGENTI_FN void agenti_run_fill(const agenti_session *, const agenti_part *r, agent_event *);   /* what TOOL_RUN says    */
AGENTI_FN const agenti_part *agenti_call_of(const agenti_session *, const agenti_part *r);
AGENTI_FN void agenti_item_free(agenti_session *, agenti_item *);
AGENTI_FN void agenti_item_unlink(agenti_session *, agenti_item *);            /* takes it out of the queue              */
AGENTI_FN void agenti_loader_free(agenti_session *);
AGENTI_FN int  agenti_session_set(agenti_session *, const char *key, agent_str value);        /* agent_session_set      */
AGENTI_FN size_t agenti_msg_find(const agenti_session *, agent_num msg);      /* its place; table.n: there is none     */
AGENTI_FN int  agenti_lane_good(int lane);
AGENTI_FN int  agenti_calls_open(const agenti_session *);     /* the last message's calls have no results yet            */
AGENTI_FN int  agenti_enqueue(agenti_session *, agenti_msg *, int lane);        /* takes the message. > 0: its item, else a code */
AGENTI_FN int  agenti_stale_session(agent_engine *);
AGENTI_FN int  agenti_no_memory(agent_engine *);
AGENTI_FN void agenti_toolset_free(agenti_session *, agenti_toolset *);
AGENTI_FN void agenti_kept_free(agenti_session *);                     /* all that an import left, but messages and options */
/* What of it goes into a request of that format, beside the peer's own members: an object in b, or nothing. b->bad: no memory */
AGENTI_FN void agenti_kept_out(const agenti_session *, const agenti_wire *, agenti_buf *);
enum { AGENTI_MODEL_IMPORT = 0x7FFFFFFF };   /* agenti_msg.model: made by the model of an import of a format that the peer does not speak */
AGENTI_FN void agenti_waits_end(agenti_session *);      /* the user speaks: no result will come for what the provider runs */

/* What the public calls of the same names do; the calls themselves are in record.c.                                     */
AGENTI_FN int agenti_do_session_tools(agent_engine *e, agent_id id, const agent_tool *tools, size_t n);
AGENTI_FN int agenti_do_session_set(agent_engine *e, agent_id id, const char *key, const char *value, size_t n);
AGENTI_FN agent_id agenti_do_session_open(agent_engine *e, const agent_session_desc *d);
AGENTI_FN int agenti_do_session_close(agent_engine *e, agent_id id);
AGENTI_FN int agenti_do_stop(agent_engine *e, agent_id id, int when);
AGENTI_FN int agenti_do_cancel(agent_engine *e, agent_id id);
AGENTI_FN int agenti_do_submit(agent_engine *e, agent_id id, const agent_part *parts, size_t n, int lane);
AGENTI_FN int agenti_do_say(agent_engine *e, agent_id id, const char *text, size_t n);
AGENTI_FN int agenti_do_message_add(agent_engine *e, agent_id id, int role, const agent_part *parts, size_t n);
AGENTI_FN int agenti_do_tool_append(agent_engine *e, agent_id id, agent_num call, const char *out, size_t n);
AGENTI_FN int agenti_do_tool_done(agent_engine *e, agent_id id, agent_num call, int status);
AGENTI_FN int agenti_do_tool_result(agent_engine *e, agent_id id, agent_num call, const char *out, size_t n);
AGENTI_FN int agenti_do_tool_update(agent_engine *e, agent_id id, agent_num call, const char *title, size_t n);
AGENTI_FN int agenti_do_decline(agent_engine *e, const agent_event *need);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_SESSION
AGENTI_FN agenti_session *agenti_session_get(const agent_engine *e, agent_id id) { return (agenti_session *)agenti_id_get(e, id, AGENTI_SESSION); }
AGENTI_FN int agenti_stale_session(agent_engine *e) { return agenti_say(e, AGENT_E_STALE, "no such session"); }
AGENTI_FN int agenti_no_memory(agent_engine *e) { return agenti_say(e, AGENT_E_NOMEM, "out of memory"); }

/* ---- tools ---- */
AGENTI_FN void agenti_toolset_free(agenti_session *s, agenti_toolset *t)
{
    size_t i;
    for (i = 0; i < t->n; i++) {
        agenti_text_free(&t->p[i].name, &s->e->graves);
        agenti_text_free(&t->p[i].description, &s->e->graves);
        agenti_text_free(&t->p[i].schema, &s->e->graves);
        agenti_text_free(&t->p[i].raw, &s->e->graves);
    }
    agenti_put(&s->pool, t->p, t->n * sizeof *t->p);
    t->p = NULL;
    t->n = 0;
}
static const char *agenti_tool_check(const agent_engine *e, const agent_tool *t)
{
    agent_str name = agenti_cstr(t->name), schema = agenti_cstr(t->schema);
    size_t i;
    if (name.n < 1 || name.n > 64) return "a tool's name has 1 to 64 characters";
    for (i = 0; i < name.n; i++) {
        char c = agenti_lower(name.p[i]);
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-')) return "a tool's name has only A-Z a-z 0-9 _ -";
    }
    if (schema.n == 0 && (t->flags & AGENT_TF_RAW)) return "a raw tool has its declaration in schema";
    if (schema.n && (agent_json_check(schema.p, schema.n, e->lim.depth, NULL) != AGENT_OK || agenti_trim(schema).p[0] != '{'))
        return "a tool's schema is no JSON object";
    return NULL;
}
static int agenti_tool_copy(agenti_session *s, agenti_tool *to, const agent_tool *t)
{
    agenti_blob **graves = &s->e->graves;
    to->flags = t->flags;
    to->user = t->user;
    to->timeout_ms = t->timeout_ms;
    return agenti_text_set(&to->name, &s->pool, graves, agenti_cstr(t->name))
        && (t->description == NULL || (agenti_text_set(&to->description, &s->pool, graves, agenti_cstr(t->description))
                                       && agenti_text_repair(&to->description, &s->pool, graves)))
        && agenti_text_set(&to->schema, &s->pool, graves, agenti_trim(agenti_cstr(t->schema && *t->schema ? t->schema : "{\"type\":\"object\"}")));
}
AGENTI_FN int agenti_do_session_tools(agent_engine *e, agent_id id, const agent_tool *tools, size_t n)
{
    agenti_session *s = agenti_session_get(e, id);
    agenti_toolset set;
    const char *why;
    size_t i, k;
    if (s == NULL) return agenti_stale_session(e);
    if (n > 65536 || (n && tools == NULL)) return agenti_say(e, AGENT_E_ARG, "no tools, or too many");
    for (i = 0; i < n; i++) {
        if ((why = agenti_tool_check(e, &tools[i])) != NULL) return agenti_say(e, AGENT_E_ARG, why);
        for (k = 0; k < i; k++) if (agenti_eq(agenti_cstr(tools[i].name), tools[k].name)) return agenti_say(e, AGENT_E_ARG, "two tools have one name");
    }
    set.n = n;
    set.p = n ? (agenti_tool *)agenti_get(&s->pool, n * sizeof *set.p) : NULL;
    if (n && set.p == NULL) return agenti_no_memory(e);
    for (i = 0; i < n; i++) if (!agenti_tool_copy(s, &set.p[i], &tools[i])) {
        agenti_toolset_free(s, &set);
        return agenti_no_memory(e);
    }
    agenti_toolset_free(s, &s->next_tools);
    agenti_toolset_free(s, &s->foreign);
    s->next_tools = set;
    s->new_tools = 1;
    return AGENT_OK;
}
AGENTI_FN void agenti_tools_swap(agenti_session *s)
{
    if (!s->new_tools) return;
    s->new_tools = 0;
    agenti_toolset_free(s, &s->tools);
    s->tools = s->next_tools;
    memset(&s->next_tools, 0, sizeof s->next_tools);
    agenti_text_free(&s->tools_json, &s->e->graves);
}

/* ---- what an import left ---- */
AGENTI_FN void agenti_kept_free(agenti_session *s)
{
    uint32_t i;
    for (i = 0; i < s->kept_n; i++) {
        agenti_text_free(&s->kept[i].key, &s->e->graves);
        agenti_text_free(&s->kept[i].value, &s->e->graves);
    }
    agenti_put(&s->pool, s->kept, s->kept_n * sizeof *s->kept);
    s->kept = NULL;
    s->kept_n = 0;
    agenti_text_free(&s->system_raw, &s->e->graves);
    agenti_text_free(&s->lost, &s->e->graves);
    agenti_toolset_free(s, &s->foreign);
}
/* An option is set anew: what said the same goes. More than that may be in an object.                                   */
static void agenti_kept_drop_option(agenti_session *s, int option)
{
    uint32_t i;
    if (option == AGENTI_OPT_SYSTEM) agenti_text_free(&s->system_raw, &s->e->graves);
    for (i = 0; i < s->kept_n; i++) {
        agenti_kept *k = &s->kept[i];
        if (k->gone || !(k->options & AGENTI_BIT(option))) continue;
        k->gone = 1;
        k->told = !agenti_is_object(agenti_text_view(&k->value));
        agenti_text_free(&k->value, &s->e->graves);
        if (k->told) continue;
        s->news = 1;
        agenti_wake(&s->e->sessions, &s->ready);
    }
}
AGENTI_FN void agenti_kept_out(const agenti_session *s, const agenti_wire *w, agenti_buf *b)
{
    agent_str own = w == s->peer->wire ? agenti_text_view(&s->peer->extra) : agenti_str(NULL, 0), key, value;
    size_t pos = 0;
    uint32_t i;
    int given;
    for (i = 0; s->imported == w && i < s->kept_n; i++) {
        const agenti_kept *k = &s->kept[i];
        for (pos = 0, given = 0; own.n && agent_json_each(own, &pos, &key, &value);) given |= agenti_same(key, agenti_text_view(&k->key));
        if (k->gone || given) continue;       /* the peer's wins                                                         */
        agenti_buf_str(b, b->n ? ",\"" : "{\"");
        agenti_buf_add(b, k->key.p, k->key.n);
        agenti_buf_str(b, "\":");
        agenti_buf_add(b, k->value.p, k->value.n);
    }
    for (pos = 0; own.n && agent_json_each(own, &pos, &key, &value);) {
        agenti_buf_str(b, b->n ? ",\"" : "{\"");
        agenti_buf_add(b, key.p, key.n);
        agenti_buf_str(b, "\":");
        agenti_buf_add(b, value.p, value.n);
    }
    if (b->n) agenti_buf_str(b, "}");
}

/* ---- options ---- */
enum { AGENTI_FORM_TEXT, AGENTI_FORM_NUMBER, AGENTI_FORM_STOP, AGENTI_FORM_BOOL, AGENTI_FORM_BUDGET, AGENTI_FORM_TTL, AGENTI_FORM_SCHEMA };
static const struct { const char *key; int option, form; } agenti_option_rows[] = {
    { "model", AGENTI_OPT_MODEL, AGENTI_FORM_TEXT }, { "system", AGENTI_OPT_SYSTEM, AGENTI_FORM_TEXT },
    { "max_tokens", AGENTI_OPT_MAX_TOKENS, AGENTI_FORM_NUMBER }, { "temperature", AGENTI_OPT_TEMPERATURE, AGENTI_FORM_NUMBER },
    { "top_p", AGENTI_OPT_TOP_P, AGENTI_FORM_NUMBER }, { "seed", AGENTI_OPT_SEED, AGENTI_FORM_NUMBER },
    { "frequency_penalty", AGENTI_OPT_FREQUENCY, AGENTI_FORM_NUMBER }, { "presence_penalty", AGENTI_OPT_PRESENCE, AGENTI_FORM_NUMBER },
    { "stop", AGENTI_OPT_STOP, AGENTI_FORM_STOP }, { "tool_choice", AGENTI_OPT_TOOL_CHOICE, AGENTI_FORM_TEXT },
    { "parallel_tool_calls", AGENTI_OPT_PARALLEL, AGENTI_FORM_BOOL },
    { "reasoning_effort", AGENTI_OPT_EFFORT, AGENTI_FORM_TEXT }, { "thinking_budget", AGENTI_OPT_THINKING, AGENTI_FORM_BUDGET },
    { "prompt_cache", AGENTI_OPT_CACHE, AGENTI_FORM_TTL }, { "stateful", AGENTI_OPT_STATEFUL, AGENTI_FORM_BOOL },
    { "response_format", AGENTI_OPT_FORMAT, AGENTI_FORM_SCHEMA }, { "service_tier", AGENTI_OPT_TIER, AGENTI_FORM_TEXT },
    { "prompt_cache_key", AGENTI_OPT_CACHE_KEY, AGENTI_FORM_TEXT }, { "top_k", AGENTI_OPT_TOP_K, AGENTI_FORM_NUMBER },
    { "user", AGENTI_OPT_USER, AGENTI_FORM_TEXT }
};
AGENTI_FN const char *agenti_option_key(int option)
{
    size_t i = 0;
    while (agenti_option_rows[i].option != option) i++;
    return agenti_option_rows[i].key;
}
static int agenti_form_ok(int form, agent_str v)
{
    agent_str item;
    size_t pos = 0;
    if (form == AGENTI_FORM_TEXT || v.n == 0) return 1;
    if (form == AGENTI_FORM_TTL) return agenti_eq(v, "5m") || agenti_eq(v, "1h");
    if (form == AGENTI_FORM_BUDGET && agenti_eq(v, "adaptive")) return 1;
    if (form == AGENTI_FORM_SCHEMA) return agenti_eq(v, "json") || (agenti_is_object(v) && agent_json_check(v.p, v.n, 0, NULL) == AGENT_OK);
    if (agent_json_check(v.p, v.n, 2, NULL) != AGENT_OK) return 0;
    if (form == AGENTI_FORM_BOOL) return agenti_eq(v, "true") || agenti_eq(v, "false");
    if (form == AGENTI_FORM_NUMBER || form == AGENTI_FORM_BUDGET) return v.p[0] == '-' || (v.p[0] >= '0' && v.p[0] <= '9');
    if (v.p[0] != '[') return v.p[0] == '"';
    while (agent_json_each(v, &pos, NULL, &item)) if (item.p[0] != '"') return 0;
    return 1;
}
static int agenti_option_set(agenti_session *s, int option, int form, agent_str v)
{
    agent_engine *e = s->e;
    if (form != AGENTI_FORM_TEXT) v = agenti_trim(v);
    if (!agenti_form_ok(form, v)) return agenti_say(e, AGENT_E_ARG, "the option's value has the wrong form");
    if (option == AGENTI_OPT_MODEL && v.n == 0) return agenti_say(e, AGENT_E_ARG, "a session needs a model");
    if (option == AGENTI_OPT_MODEL && s->options[option].n == v.n && memcmp(s->options[option].p, v.p, v.n) == 0) return AGENT_OK;
    if (!agenti_text_set(&s->options[option], &s->pool, &e->graves, v)) return agenti_no_memory(e);
    if (!agenti_text_repair(&s->options[option], &s->pool, &e->graves)) agenti_text_scrub(&s->options[option]);
    if (option == AGENTI_OPT_SYSTEM || option == AGENTI_OPT_MODEL || option == AGENTI_OPT_CACHE) s->old_log = 1;
    if (option == AGENTI_OPT_MODEL) s->model++;
    agenti_kept_drop_option(s, option);
    s->told_out &= ~AGENTI_BIT(option);
    if (option == AGENTI_OPT_TOOL_CHOICE) s->choice_spent = 0;
    return AGENT_OK;
}
AGENTI_FN int agenti_session_set(agenti_session *s, const char *key, agent_str value)
{
    size_t i;
    for (i = 0; i < sizeof agenti_option_rows / sizeof *agenti_option_rows; i++)
        if (agenti_eq(agenti_cstr(key), agenti_option_rows[i].key))
            return agenti_option_set(s, agenti_option_rows[i].option, agenti_option_rows[i].form, value);
    return agenti_say(s->e, AGENT_E_ARG, "no such option");
}
AGENTI_FN int agenti_do_session_set(agent_engine *e, agent_id id, const char *key, const char *value, size_t n)
{
    agenti_session *s = agenti_session_get(e, id);
    return s ? agenti_session_set(s, key, agenti_str(value, agenti_len(value, n))) : agenti_stale_session(e);
}

/* ---- life ---- */
AGENTI_FN void agenti_item_free(agenti_session *s, agenti_item *it)
{
    if (it == NULL) return;
    agenti_msg_free(&s->pool, it->msg, &s->e->graves);
    agenti_put(&s->pool, it, sizeof *it);
}
AGENTI_FN void agenti_item_unlink(agenti_session *s, agenti_item *it)
{
    if (it->prev) it->prev->next = it->next; else s->first = it->next;
    if (it->next) it->next->prev = it->prev; else s->last = it->prev;
    if (s->untold == it) s->untold = it->next;
    it->next = it->prev = NULL;
}
AGENTI_FN void agenti_loader_free(agenti_session *s)
{
    agenti_loader *l = s->load;
    if (l == NULL) return;
    agenti_buf_free(&l->line);
    agenti_text_free(&l->state, &s->e->graves);
    agenti_text_free(&l->options, &s->e->graves);
    agenti_text_free(&l->new_options, &s->e->graves);
    agenti_put(&s->pool, l, sizeof *l);
    s->load = NULL;
}
AGENTI_FN void agenti_session_free(agenti_session *s)
{
    agent_engine *e = s->e;
    agenti_conn *drain = agenti_conn_get(e, s->drain);
    agenti_item *it;
    int i;
    agenti_sleep(&s->ready);
    agenti_timer_leave(e, &s->timer);
    if (drain && drain->waiter == &s->ready) drain->waiter = NULL;
    if (s->conn) agenti_conn_abort(s->conn);
    if (s->answer.results && !s->answer.results->ended)
        agenti_msg_free(&s->pool, s->answer.results, &e->graves);    /* not in the table yet                            */
    agenti_loader_free(s);
    agenti_answer_free(&s->answer);
    agenti_item_free(s, s->item);
    while ((it = s->first) != NULL) { s->first = it->next; agenti_item_free(s, it); }
    for (i = 0; i < AGENTI_OPT_COUNT; i++) agenti_text_free(&s->options[i], &e->graves);
    agenti_toolset_free(s, &s->tools);
    agenti_toolset_free(s, &s->next_tools);
    agenti_kept_free(s);
    agenti_text_free(&s->tools_json, &e->graves);
    agenti_table_free(&s->table, &e->graves);
    agenti_log_free(&s->log);
    agenti_bury_pool(&e->graves, &s->pool);   /* the last event may lie in others                                       */
    s->peer->sessions--;
    agenti_put(&e->pool, s, sizeof *s);
}
static agenti_session *agenti_session_new(agent_engine *e, const agent_session_desc *d, agenti_peer *peer)
{
    agenti_session *s = (agenti_session *)agenti_get(&e->pool, sizeof *s);
    if (s == NULL) return NULL;
    if (!agenti_timer_room(e)) { agenti_put(&e->pool, s, sizeof *s); return NULL; }
    s->e = e;
    s->ready.owner = s;
    s->ready.kind = AGENTI_SESSION;
    s->timer.ready = &s->ready;
    agenti_pool_child(&s->pool, &e->pool, agenti_mem_limit(d->mem_limit));
    s->table.pool = s->log.pool = &s->pool;
    s->peer = peer;
    s->user = d->user;
    s->flags = d->flags;
    s->max_steps = agenti_limit(d->max_steps, 50);
    s->parallel = agenti_limit(d->parallel_tools, AGENT_OFF);
    s->max_retries = d->max_retries == AGENT_OFF ? 0 : agenti_limit(d->max_retries, 4);
    s->retry_ms = agenti_limit(d->retry_ms, 2000);
    s->retry_cap_ms = agenti_limit(d->retry_cap_ms, 30000);
    s->hint_cap_ms = agenti_limit(d->hint_cap_ms, 60000);
    s->tool_ms = agenti_limit(d->tool_ms, 120000);
    s->grace_ms = d->grace_ms == AGENT_OFF ? 0 : agenti_limit(d->grace_ms, 250);
    s->step_ms = agenti_limit(d->step_ms, AGENT_OFF);
    s->run_ms = agenti_limit(d->run_ms, AGENT_OFF);
    s->run_tokens = agenti_limit(d->max_run_tokens, AGENT_OFF);
    s->stop_finish = d->stop_finish;
    peer->sessions++;
    return s;
}
static int agenti_session_fill(agenti_session *s, const agent_session_desc *d)
{
    char number[24];
    size_t n = d->max_tokens && d->max_tokens != AGENT_OFF ? agenti_u64_text(d->max_tokens, number) : 0;
    int rc = agenti_option_set(s, AGENTI_OPT_MODEL, AGENTI_FORM_TEXT, agenti_cstr(d->model));
    if (rc == AGENT_OK && d->system) rc = agenti_option_set(s, AGENTI_OPT_SYSTEM, AGENTI_FORM_TEXT, agenti_cstr(d->system));
    if (rc == AGENT_OK && n) rc = agenti_option_set(s, AGENTI_OPT_MAX_TOKENS, AGENTI_FORM_NUMBER, agenti_str(number, n));
    return rc;
}
AGENTI_FN agent_id agenti_do_session_open(agent_engine *e, const agent_session_desc *d)
{
    agenti_peer *peer = d ? agenti_peer_get(e, d->peer) : NULL;
    agenti_session *s;
    agent_id id;
    if (peer == NULL) { e->last = "no such peer"; return 0; }
    if ((s = agenti_session_new(e, d, peer)) == NULL) { e->last = "out of memory"; return 0; }
    if (agenti_session_fill(s, d) != AGENT_OK || (s->id = agenti_id_new(e, AGENTI_SESSION, s)) == 0) { agenti_session_free(s); return 0; }
    id = s->id;
    if (agenti_do_session_tools(e, id, d->tools, d->tool_count) != AGENT_OK) {
        agenti_id_free(e, id);
        agenti_session_free(s);
        return 0;
    }
    return id;
}
AGENTI_FN int agenti_do_session_close(agent_engine *e, agent_id id)
{
    agenti_session *s = agenti_session_get(e, id);
    if (s == NULL) return agenti_stale_session(e);
    s->closed = 1;
    agenti_id_free(e, id);
    agenti_wake(&e->sessions, &s->ready);
    return AGENT_OK;
}
AGENTI_FN int agenti_do_stop(agent_engine *e, agent_id id, int when)
{
    agenti_session *s = agenti_session_get(e, id);
    agenti_item *it;
    if (s == NULL) return agenti_stale_session(e);
    if (when < AGENT_STOP_STEP || when > AGENT_STOP_NOW) return agenti_say(e, AGENT_E_ARG, "no such way to stop");
    if (s->state == AGENTI_S_IDLE && s->first == NULL) return AGENT_OK;
    for (it = s->first; it; it = it->next) it->back = 1;      /* what is said from now on stays                          */
    if (s->cancel < when) s->cancel = (uint8_t)when;
    agenti_wake(&e->sessions, &s->ready);
    return AGENT_OK;
}
AGENTI_FN int agenti_do_cancel(agent_engine *e, agent_id id) { return agenti_do_stop(e, id, AGENT_STOP_NOW); }

/* ---- messages from the host ---- */
/* A call without its result would be refused, so it is not sent any more.                                              */
AGENTI_FN void agenti_waits_end(agenti_session *s)
{
    size_t i;
    for (i = s->table.n; i-- > 0 && s->table.msgs[i]->role != AGENT_USER;) {
        agenti_msg *m = s->table.msgs[i];
        for (; m->waits; s->old_log = 1) {
            agenti_part *p = &m->parts[m->waits - 1];
            p->flags |= AGENT_PART_CUT;
            m->waits = p->key;
        }
    }
}
static const agenti_msg *agenti_last_msg(const agenti_session *s) { return s->table.n ? s->table.msgs[s->table.n - 1] : NULL; }
AGENTI_FN int agenti_calls_open(const agenti_session *s)
{
    const agenti_msg *m = agenti_last_msg(s);
    uint32_t i;
    for (i = 0; m && m->role == AGENT_MODEL && i < m->n; i++) if (m->parts[i].kind == AGENT_PART_CALL) return 1;
    return 0;
}
AGENTI_FN int agenti_enqueue(agenti_session *s, agenti_msg *m, int lane)
{
    agenti_item *it = (agenti_item *)agenti_get(&s->pool, sizeof *it);
    if (it == NULL) { agenti_msg_free(&s->pool, m, &s->e->graves); return agenti_no_memory(s->e); }
    it->msg = m;
    it->num = ++s->items;
    it->lane = (uint8_t)lane;
    it->on = lane == AGENT_STEER && s->state == AGENTI_S_FAULT;
    it->news = s->state != AGENTI_S_IDLE || s->first ? AGENTI_ITEM_ADDED : 0;
    if (!it->news) s->quiet = 1;
    if (s->untold == NULL && it->news) s->untold = it;
    it->prev = s->last;
    if (s->last) s->last->next = it; else s->first = it;
    s->last = it;
    agenti_wake(&s->e->sessions, &s->ready);
    return (int)it->num;
}
AGENTI_FN int agenti_lane_good(int lane) { return lane == AGENT_QUEUE || lane == AGENT_STEER || lane == AGENT_STORE; }
static int agenti_may_go_on(const agenti_session *s, int lane)                /* without a message                       */
{
    const agenti_msg *m = agenti_last_msg(s);
    if (m == NULL || m->role == AGENT_MODEL || lane == AGENT_STORE) return 0;
    return lane == AGENT_STEER && s->state == AGENTI_S_FAULT ? 1 : s->state == AGENTI_S_IDLE && s->first == NULL;
}
AGENTI_FN int agenti_do_submit(agent_engine *e, agent_id id, const agent_part *parts, size_t n, int lane)
{
    agenti_session *s = agenti_session_get(e, id);
    agenti_msg *m = NULL;
    int rc;
    if (s == NULL) return agenti_stale_session(e);
    if (s->load) return agenti_say(e, AGENT_E_STATE, "a saved session is coming in");
    if (!agenti_lane_good(lane) && lane != AGENT_NOW) return agenti_say(e, AGENT_E_ARG, "no such lane");
    if (lane == AGENT_NOW && (s->state != AGENTI_S_IDLE || s->first)) return agenti_say(e, AGENT_E_STATE, "a run is going on");
    if (n == 0 && !agenti_may_go_on(s, lane)) return agenti_say(e, AGENT_E_STATE, "there is nothing to go on with");
    if (n && (m = agenti_msg_from(e, &s->pool, agenti_last_msg(s), AGENT_USER, parts, n, &rc)) == NULL) return rc;
    return agenti_enqueue(s, m, lane == AGENT_NOW ? AGENT_QUEUE : lane);
}
AGENTDEF int agent_busy(const agent_engine *e, agent_id id)
{
    const agenti_session *s = (const agenti_session *)agenti_id_get(e, id, AGENTI_SESSION);
    if (s == NULL) return AGENT_E_STALE;
    return s->state != AGENTI_S_IDLE || s->first != NULL;
}
AGENTI_FN int agenti_do_say(agent_engine *e, agent_id id, const char *text, size_t n)
{
    agent_part p;
    memset(&p, 0, sizeof p);
    p.kind = AGENT_PART_TEXT;
    p.text = agenti_str(text, agenti_len(text, n));
    return agenti_do_submit(e, id, &p, 1, AGENT_QUEUE);
}
/* Every call of the message before must have its result, in call order.                                                */
static int agenti_results_match(agenti_session *s, agenti_msg *m)
{
    const agenti_msg *calls = s->table.msgs[s->table.n - 1];
    uint32_t i, k = 0;
    for (i = 0; i < calls->n; i++) {
        const agenti_part *c = &calls->parts[i];
        if (c->kind != AGENT_PART_CALL) continue;
        if (k == m->n || m->parts[k].wire_id.n != c->wire_id.n || memcmp(m->parts[k].wire_id.p, c->wire_id.p, c->wire_id.n) != 0) return 0;
        m->parts[k].state = AGENTI_CALL_SETTLED;
        m->parts[k++].call = c->call;
    }
    return k == m->n;
}
AGENTI_FN int agenti_do_message_add(agent_engine *e, agent_id id, int role, const agent_part *parts, size_t n)
{
    agenti_session *s = agenti_session_get(e, id);
    agenti_msg *m;
    uint32_t i;
    int rc;
    if (s == NULL) return agenti_stale_session(e);
    if (s->state != AGENTI_S_IDLE || s->first || s->load) return agenti_say(e, AGENT_E_STATE, "a run is going on, or a load");
    if (n == 0 || role < AGENT_USER || role > AGENT_TOOLS) return agenti_say(e, AGENT_E_ARG, "no such role, or no parts");
    if (agenti_calls_open(s) != (role == AGENT_TOOLS)) return agenti_say(e, AGENT_E_ARG, "calls are followed by their results, and only they are");
    if (!agenti_table_room(&s->table, 1)) return agenti_no_memory(e);
    if ((m = agenti_msg_from(e, &s->pool, agenti_last_msg(s), role, parts, n, &rc)) == NULL) return rc;
    if (role == AGENT_TOOLS && !agenti_results_match(s, m)) {
        agenti_msg_free(&s->pool, m, &e->graves);
        return agenti_say(e, AGENT_E_ARG, "the results are not those of the calls before, in their order");
    }
    for (i = 0; i < m->n; i++) {
        m->parts[i].id = ++s->nums.part;
        if (m->parts[i].kind == AGENT_PART_CALL) m->parts[i].call = ++s->nums.call;
    }
    m->id = ++s->nums.msg;
    m->model = s->model;
    if (role == AGENT_USER) agenti_waits_end(s);
    agenti_table_add(&s->table, m);
    return (int)m->id;
}
AGENTDEF size_t agent_messages(const agent_engine *e, agent_id id)
{
    const agenti_session *s = agenti_session_get(e, id);
    return s ? s->table.n : 0;
}
AGENTDEF int agent_message(const agent_engine *e, agent_id id, size_t i, agent_msg *out)
{
    const agenti_session *s = agenti_session_get(e, id);
    const agenti_msg *m;
    if (s == NULL) return AGENT_E_STALE;
    if (i >= s->table.n) return AGENT_E_ARG;
    m = s->table.msgs[i];
    out->id = m->id;
    out->run = m->run;
    out->role = m->role;
    out->flags = (uint8_t)((m->flags & AGENT_PART_CUT) | (m->flags & AGENT_MSG_SYSTEM) | (m->flags & AGENT_MSG_NOTE));
    out->part_count = m->n;
    return AGENT_OK;
}
AGENTI_FN size_t agenti_msg_find(const agenti_session *s, agent_num msg)
{
    size_t lo = 0, hi = s->table.n;
    while (lo < hi) {                         /* ids rise                                                               */
        size_t mid = lo + (hi - lo) / 2;
        if (s->table.msgs[mid]->id < msg) lo = mid + 1; else hi = mid;
    }
    return lo < s->table.n && s->table.msgs[lo]->id == msg ? lo : s->table.n;
}
AGENTDEF int agent_message_part(const agent_engine *e, agent_id id, agent_num msg, size_t i, agent_part *out)
{
    const agenti_session *s = agenti_session_get(e, id);
    size_t at;
    if (s == NULL) return AGENT_E_STALE;
    at = agenti_msg_find(s, msg);
    if (at == s->table.n || i >= s->table.msgs[at]->n) return AGENT_E_ARG;
    agenti_part_view(&s->table.msgs[at]->parts[i], out);
    return AGENT_OK;
}

/* ---- answers to tool runs ---- */
AGENTI_FN agenti_part *agenti_result_find(const agenti_session *s, agent_num call)
{
    agenti_msg *m = s->answer.results;
    uint32_t i;
    if (s->state < AGENTI_S_STEP || s->state > AGENTI_S_RESULTS_END) return NULL;
    for (i = 0; m && i < m->n; i++) if (m->parts[i].call == call) return &m->parts[i];
    return NULL;
}
AGENTI_FN const agenti_part *agenti_call_of(const agenti_session *s, const agenti_part *r)
{
    return &s->answer.msg->parts[r->key];
}
AGENTI_FN void agenti_result_done(agenti_session *s, agenti_part *r, int status)
{
    r->state = AGENTI_CALL_DONE;
    r->status = (uint8_t)status;
    r->order = ++s->order;
    if (status != AGENT_DONE_OK) r->flags |= AGENT_PART_ERROR;
    agenti_wake(&s->e->sessions, &s->ready);
}
AGENTI_FN void agenti_run_fill(const agenti_session *s, const agenti_part *r, agent_event *ev)
{
    const agenti_part *p = agenti_call_of(s, r);
    ev->flags = AGENT_EVF_NEED;
    ev->need = r->need;
    ev->msg = s->answer.msg->id;
    ev->part = p->id;
    ev->call = r->call;
    ev->text = agenti_text_view(&p->text);
    ev->name = agenti_text_view(&p->name);
    ev->u.tool.wire_id = agenti_text_view(&p->wire_id);
    ev->u.tool.title = agenti_str(NULL, 0);
    ev->u.tool.user = r->tool < s->tools.n ? s->tools.p[r->tool].user : NULL;        /* an unknown tool is nobody's     */
    ev->u.tool.timeout_ms = r->tool < s->tools.n ? agenti_limit(s->tools.p[r->tool].timeout_ms, s->tool_ms) : AGENT_OFF;
}
/* AGENT_OK: *out is a call that runs.                                                                                  */
static int agenti_running(agent_engine *e, agent_id id, agent_num call, agenti_session **s, agenti_part **out)
{
    *s = agenti_session_get(e, id);
    if (*s == NULL) return agenti_stale_session(e);
    *out = agenti_result_find(*s, call);
    if (*out == NULL) return call && call <= (*s)->nums.call ? AGENT_LATE : agenti_say(e, AGENT_E_STALE, "no such call");
    if ((*out)->state < AGENTI_CALL_RUNNING) return agenti_say(e, AGENT_E_STATE, "the call was not given to the host yet");
    if ((*out)->state != AGENTI_CALL_RUNNING) return AGENT_LATE;
    /* without grace it has ended, though that is still to be told                                                      */
    return (*s)->grace_ms == 0 && (*s)->cancel == AGENT_STOP_NOW ? AGENT_LATE : AGENT_OK;
}
AGENTI_FN int agenti_do_tool_append(agent_engine *e, agent_id id, agent_num call, const char *out, size_t n)
{
    agenti_session *s;
    agenti_part *r;
    int rc = agenti_running(e, id, call, &s, &r);
    if (rc != AGENT_OK) return rc;
    n = agenti_len(out, n);
    if (n > e->lim.item - r->text.n) {
        n = e->lim.item - r->text.n;
        r->flags |= AGENT_PART_CUT;
    }
    return n == 0 || agenti_text_add(&r->text, &s->pool, &e->graves, agenti_str(out, n)) ? AGENT_OK : agenti_no_memory(e);
}
AGENTI_FN int agenti_do_tool_done(agent_engine *e, agent_id id, agent_num call, int status)
{
    agenti_session *s;
    agenti_part *r;
    int rc = agenti_running(e, id, call, &s, &r), ends = status & AGENT_DONE_END_RUN;
    if (rc != AGENT_OK) return rc;
    status &= ~AGENT_DONE_END_RUN;
    if (status != AGENT_DONE_OK && status != AGENT_DONE_ERROR) return agenti_say(e, AGENT_E_ARG, "a tool ends OK or with an error");
    if (!agenti_text_repair(&r->text, &s->pool, &e->graves)) return agenti_no_memory(e);
    if (status == AGENT_DONE_ERROR && (r->stopped == AGENTI_STOPPED_CANCEL || r->stopped == AGENTI_STOPPED_TIME)) status = AGENT_DONE_CANCELLED;
    if (ends || (status == AGENT_DONE_OK && (s->tools.p[r->tool].flags & AGENT_TF_ENDS_RUN))) s->end_run = 1;
    agenti_result_done(s, r, status);
    return AGENT_OK;
}
AGENTI_FN int agenti_do_tool_result(agent_engine *e, agent_id id, agent_num call, const char *out, size_t n)
{
    int rc = agenti_do_tool_append(e, id, call, out, n);
    return rc == AGENT_OK ? agenti_do_tool_done(e, id, call, AGENT_DONE_OK) : rc;
}
AGENTI_FN int agenti_do_tool_update(agent_engine *e, agent_id id, agent_num call, const char *title, size_t n)
{
    agenti_session *s;
    agenti_part *r;
    int rc = agenti_running(e, id, call, &s, &r);
    if (rc != AGENT_OK) return rc;
    if (!agenti_text_set(&r->title, &s->pool, &e->graves, agenti_str(title, agenti_len(title, n)))) return agenti_no_memory(e);
    if (!agenti_text_repair(&r->title, &s->pool, &e->graves)) agenti_text_scrub(&r->title);
    r->retitled = 1;
    agenti_wake(&e->sessions, &s->ready);
    return AGENT_OK;
}
AGENTI_FN int agenti_do_decline(agent_engine *e, const agent_event *need)
{
    static const char detail[] = "the host declined";
    const agenti_conn *c;
    agenti_session *s;
    agenti_peer *p;
    agenti_part *r;
    int rc = AGENT_LATE;
    if (need == NULL) return agenti_say(e, AGENT_E_ARG, "no event");
    if (need->type == AGENT_EV_OPEN || need->type == AGENT_EV_SIGN) {
        c = agenti_conn_get(e, need->conn);
        if (c && c->need_open && c->need == need->need) rc = agenti_do_failed(e, need->conn, AGENT_FAIL_HOST, detail, AGENT_CSTR);
    } else if (need->type == AGENT_EV_CREDENTIAL && (p = agenti_peer_get(e, need->peer)) != NULL) rc = agenti_peer_key_declined(p, need->need);
    else if (need->type == AGENT_EV_TOOL_RUN && (rc = agenti_running(e, need->session, need->call, &s, &r)) == AGENT_OK) {
        agenti_text_static(&r->text, &e->graves, "The host declined to run this tool.");
        agenti_result_done(s, r, AGENT_DONE_ERROR);
    }
    return rc == AGENT_E_STALE ? AGENT_LATE : rc;
}
AGENTDEF int agent_pending(const agent_engine *e, agent_id id, size_t i, agent_event *out)
{
    const agenti_session *s = agenti_session_get(e, id);
    const agenti_peer *p = agenti_peer_get(e, id);
    const agenti_msg *m;
    uint32_t k;
    if (s == NULL && (p == NULL || p->key_state != AGENTI_KEY_ASKED || i)) return AGENT_E_STALE;
    memset(out, 0, sizeof *out);
    if (s == NULL) {
        out->type = AGENT_EV_CREDENTIAL;
        out->at_ms = e->now;
        agenti_peer_key_fill(p, out);
        return AGENT_OK;
    }
    out->session = id;
    out->peer = s->peer->id;
    out->user = s->user;
    out->at_ms = e->now;
    out->run = s->nums.run;
    out->step = s->steps;
    out->text = out->name = agenti_str(NULL, 0);
    if (s->conn && s->conn->need_open && i-- == 0) {
        out->type = s->conn->sign ? AGENT_EV_SIGN : AGENT_EV_OPEN;
        out->conn = s->conn->id;
        agenti_conn_open_fill(s->conn, out);
        return AGENT_OK;
    }
    m = s->state == AGENTI_S_TOOLS ? s->answer.results : NULL;
    for (k = 0; m && k < m->n; k++) if (m->parts[k].state == AGENTI_CALL_RUNNING && i-- == 0) {
        out->type = AGENT_EV_TOOL_RUN;
        agenti_run_fill(s, &m->parts[k], out);
        return AGENT_OK;
    }
    return AGENT_E_STALE;
}
#endif
