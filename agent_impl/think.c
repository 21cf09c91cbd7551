/* <think>...</think> in an answer's text, as some hosts of open models pass it on: thoughts and text told apart, however the tags are cut.
 * Only at the start of the text: later on a tag is text like any other. */
enum agenti_think_state {
    AGENTI_THINK_OFF,                         /* all is text                                                            */
    AGENTI_THINK_LEAD,                        /* nothing but blanks and a part of the opening tag, held back            */
    AGENTI_THINK_IN,                          /* thoughts; a part of the closing tag is held back                       */
    AGENTI_THINK_AFTER                        /* newlines behind the closing tag are dropped                            */
};
typedef struct agenti_think {
    uint8_t state, held_n, matched;           /* matched: bytes of the tag                                              */
    char held[32];                            /* LEAD: blanks, then what matched                                        */
} agenti_think;
enum { AGENTI_THINK_NONE, AGENTI_THINK_TEXT, AGENTI_THINK_THOUGHT };

#ifndef AGENT_NO_THINK
AGENTI_FN void agenti_think_start(agenti_think *, int open);        /* open: the opening tag is not there               */
/* Takes the next piece from the front of `rest`. What it is, and *out: a view into rest or the state, until the next call. */
AGENTI_FN int  agenti_think_next(agenti_think *, agent_str *rest, agent_str *out);
AGENTI_FN int  agenti_think_end(agenti_think *, agent_str *out);    /* the text is over: what was held back             */
#endif

#if !defined AGENTI_SPLIT || defined AGENTI_PART_THINK
#ifndef AGENT_NO_THINK
static const char agenti_think_opens[] = "<think>", agenti_think_closes[] = "</think>";

AGENTI_FN void agenti_think_start(agenti_think *t, int open)
{
    memset(t, 0, sizeof *t);
    t->state = open ? AGENTI_THINK_IN : AGENTI_THINK_LEAD;
}
static void agenti_think_drop(agent_str *s, size_t n) { *s = agenti_str(s->p + n, s->n - n); }
/* Holds back what may be the opening tag. When it is none, what was held is text.                                      */
static int agenti_think_lead(agenti_think *t, agent_str *rest, agent_str *out)
{
    while (rest->n) {
        char c = rest->p[0];
        int blank = t->matched == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r');
        int holds = t->held_n < sizeof t->held && (blank || c == agenti_think_opens[t->matched]);
        if (!holds) {
            t->state = AGENTI_THINK_OFF;
            *out = agenti_str(t->held, t->held_n);
            return t->held_n ? AGENTI_THINK_TEXT : AGENTI_THINK_NONE;
        }
        t->held[t->held_n++] = c;
        t->matched = (uint8_t)(t->matched + !blank);
        agenti_think_drop(rest, 1);
        if (t->matched < sizeof agenti_think_opens - 1) continue;
        agenti_think_start(t, 1);
        break;
    }
    return AGENTI_THINK_NONE;
}
/* Gives thoughts up to what may be the closing tag. '<' stands only at its front, so what does not match is over at once. */
static int agenti_think_in(agenti_think *t, agent_str *rest, agent_str *out)
{
    const char *p;
    size_t n;
    while (rest->n) {
        if (t->matched == 0) {
            p = (const char *)memchr(rest->p, '<', rest->n);
            n = p ? (size_t)(p - rest->p) : rest->n;
            AGENTI_TOUCH(n);
            *out = agenti_str(rest->p, n);
            agenti_think_drop(rest, n);
            if (n) return AGENTI_THINK_THOUGHT;
        }
        if (rest->p[0] != agenti_think_closes[t->matched]) {
            *out = agenti_str(agenti_think_closes, t->matched);
            t->matched = 0;
            return AGENTI_THINK_THOUGHT;
        }
        t->matched++;
        agenti_think_drop(rest, 1);
        if (t->matched < sizeof agenti_think_closes - 1) continue;
        t->matched = 0;
        t->state = AGENTI_THINK_AFTER;
        break;
    }
    return AGENTI_THINK_NONE;
}
AGENTI_FN int agenti_think_next(agenti_think *t, agent_str *rest, agent_str *out)
{
    int kind = AGENTI_THINK_NONE;
    while (rest->n && kind == AGENTI_THINK_NONE) {
        if (t->state == AGENTI_THINK_LEAD) kind = agenti_think_lead(t, rest, out);
        else if (t->state == AGENTI_THINK_IN) kind = agenti_think_in(t, rest, out);
        else if (t->state == AGENTI_THINK_AFTER && (rest->p[0] == '\n' || rest->p[0] == '\r')) agenti_think_drop(rest, 1);
        else {
            t->state = AGENTI_THINK_OFF;
            *out = *rest;
            rest->n = 0;
            kind = AGENTI_THINK_TEXT;
        }
    }
    return kind;
}
AGENTI_FN int agenti_think_end(agenti_think *t, agent_str *out)
{
    int state = t->state;
    *out = state == AGENTI_THINK_LEAD ? agenti_str(t->held, t->held_n) : agenti_str(agenti_think_closes, t->matched);
    t->state = AGENTI_THINK_OFF;
    if (out->n == 0 || (state != AGENTI_THINK_LEAD && state != AGENTI_THINK_IN)) return AGENTI_THINK_NONE;
    return state == AGENTI_THINK_LEAD ? AGENTI_THINK_TEXT : AGENTI_THINK_THOUGHT;
}
#endif
#endif
