/* JSON values out of one array that is still coming, told apart by their brackets and strings alone: what they hold is checked later. */
typedef struct agenti_values { uint32_t depth; uint8_t in_string, escaped, begun, plain; } agenti_values;   /* begun: in a value; plain: a number or word */
/* Reads on. 1: a value ends after *used bytes, which begin in it or before it; 0: all of it is used. *from: where the value, or what
 * there is of it, begins.                                                                                               */
AGENTI_FN int agenti_values_next(agenti_values *, const char *p, size_t n, size_t *used, size_t *from);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_JSON_VALUES
/* depth 0: before the array; 1: between its values, or in one that is no object, array or string.                      */
static int agenti_values_char(agenti_values *v, char c)      /* 1: the value is complete with it                        */
{
    if (v->in_string) {
        if (v->escaped) v->escaped = 0;
        else if (c == '\\') v->escaped = 1;
        else if (c == '"') { v->in_string = 0; return v->depth == 1; }
        return 0;
    }
    if (c == '"') v->in_string = 1;
    else if (c == '{' || c == '[') v->depth++;
    else if ((c == '}' || c == ']') && v->depth > 1) return --v->depth == 1;
    return 0;
}
AGENTI_FN int agenti_values_next(agenti_values *v, const char *p, size_t n, size_t *used, size_t *from)
{
    size_t i;
    *from = v->begun ? 0 : n;
    for (i = 0; i < n; i++) {
        char c = p[i];
        if (!v->begun) {
            if (v->depth == 0) { v->depth = c == '['; continue; }
            if (c == ',' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
            v->begun = 1;
            v->plain = c != '{' && c != '[' && c != '"';
            *from = i;
        } else if (v->plain && (c == ',' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
            v->begun = 0;
            *used = i;
            AGENTI_TOUCH(i);
            return 1;
        }
        if (!agenti_values_char(v, c)) continue;
        v->begun = 0;
        *used = i + 1;
        AGENTI_TOUCH(i);
        return 1;
    }
    AGENTI_TOUCH(n);
    *used = n;
    return 0;
}
#endif
