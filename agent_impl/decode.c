/* The decode-only door: answers of one wire format without session, tools or policy. */
AGENTI_FN int agenti_decode_pump(agenti_decode *);        /* its answer is over: 1 an event was made                    */

/* What the public calls of the same names do; the calls themselves are in record.c.                                     */
#ifndef AGENT_NO_DECODE
AGENTI_FN agent_id agenti_do_decode(agent_engine *e, const char *wire, int via, void *user);
#endif

#if !defined AGENTI_SPLIT || defined AGENTI_PART_DECODE
#ifdef AGENT_NO_DECODE
AGENTI_FN int agenti_decode_pump(agenti_decode *d) { (void)d; return 0; }
#else
static void agenti_decode_begin(agenti_decode *d, const agenti_wire *wire, agenti_exchange *x, void *user)
{
    agent_engine *e = d->c->e;
    agenti_answer_start(&d->answer, e, &e->pool, wire, 0);
    d->answer.nums = &d->nums;
    memset(x, 0, sizeof *x);
    x->user = user;
    x->seq = &d->seq;
    x->nums = &d->nums;
    x->ready = &d->ready;
    x->answer = &d->answer;
}
AGENTI_FN agent_id agenti_do_decode(agent_engine *e, const char *wire, int via, void *user)
{
    const agenti_wire *w = agenti_wire_find(agenti_cstr(wire));
    agenti_exchange x;
    agenti_conn *c;
    if (w == NULL) { e->last = "unknown wire format"; return 0; }
    if (!agenti_via_ok(via)) { e->last = "via is neither bytes nor HTTP"; return 0; }
    if ((c = agenti_conn_new(e, NULL)) == NULL) return 0;
    c->decode = (agenti_decode *)agenti_get(&e->pool, sizeof *c->decode);
    if (c->decode == NULL) { agenti_conn_free(c); e->last = "out of memory"; return 0; }
    c->decode->c = c;
    c->decode->ready.owner = c->decode;
    c->decode->ready.kind = AGENTI_CONN;
    c->user = user;
    c->via = via;
    c->state = AGENTI_CONN_OPEN;
    c->message_over = 1;
    agenti_decode_begin(c->decode, w, &x, user);
    agenti_conn_again(c, &x);
    return c->id;
}
/* Ends what is open, says how it went, then waits for the next answer of the stream.                                   */
AGENTI_FN int agenti_decode_pump(agenti_decode *d)
{
    agenti_conn *c = d->c;
    agenti_answer *a = &d->answer;
    const agenti_wire *wire = a->d.wire;
    agenti_exchange x;
    if (!c->over) return 0;
    if (agenti_answer_close(a, agenti_answer_cut(a))) {}
    else if (!d->said) {
        d->said = 1;
        if (a->d.fault.fault) agenti_answer_error(a, AGENT_SCOPE_CONN); else agenti_answer_step_end(a);
    } else {
        d->said = 0;
        d->answers++;
        if (c->via == AGENT_VIA_HTTP || c->http.error || !c->got_head || (a->d.fault.fault == AGENT_FAULT_TRANSPORT && !c->message_over)
            || ((c->eof || c->failed) && c->r == c->w)) {
            agenti_conn_drain(c);             /* there is no next answer, or where it begins is not known               */
            return 0;
        }
        agenti_answer_free(a);
        agenti_decode_begin(d, wire, &x, c->user);
        agenti_conn_again(c, &x);
        return 0;
    }
    agenti_conn_sign(c, &c->e->ev);
    return 1;
}
#endif
#endif
