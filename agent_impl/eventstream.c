/* AWS event stream frames (application/vnd.amazon.eventstream): lengths, headers, payload, two CRC-32 checksums.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html */
enum { AGENTI_FRAME_PRELUDE = 12, AGENTI_FRAME_MIN = 16 };
typedef struct agenti_frame {                 /* views                                                                  */
    agent_str kind;                           /* :message-type: event, exception, error                                 */
    agent_str type;                           /* :event-type, :exception-type or :error-code                            */
    agent_str payload;                        /* of an error its :error-message, if it has no payload                   */
} agenti_frame;
AGENTI_FN uint32_t agenti_crc32(const char *p, size_t n);
/* The length of the frame that begins with these 12 bytes; 0: *why is wrong with them.                                 */
AGENTI_FN uint32_t agenti_frame_size(const char *prelude, const char **why);
/* Takes a whole frame apart. 0: *why is wrong with it.                                                                 */
AGENTI_FN int agenti_frame_parse(agent_str frame, agenti_frame *out, const char **why);

#if !defined AGENTI_SPLIT || defined AGENTI_PART_EVENTSTREAM
AGENTI_FN uint32_t agenti_crc32(const char *p, size_t n)     /* ISO-HDLC, as in gzip; four bits at a time               */
{
    static const uint32_t rows[16] = {
        0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u, 0x4DB26158u, 0x5005713Cu,
        0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu, 0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu
    };
    uint32_t c = 0xFFFFFFFFu;
    size_t i;
    for (i = 0; i < n; i++) {
        c ^= (unsigned char)p[i];
        c = c >> 4 ^ rows[c & 15];
        c = c >> 4 ^ rows[c & 15];
    }
    AGENTI_TOUCH(n);
    return c ^ 0xFFFFFFFFu;
}
static uint32_t agenti_be32(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}
AGENTI_FN uint32_t agenti_frame_size(const char *p, const char **why)
{
    uint32_t all = agenti_be32(p), headers = agenti_be32(p + 4);
    *why = "an event stream frame's prelude does not match its checksum";
    if (agenti_crc32(p, 8) != agenti_be32(p + 8)) return 0;
    *why = "an event stream frame is too short for its headers";
    return all < AGENTI_FRAME_MIN || headers > all - AGENTI_FRAME_MIN ? 0 : all;
}
/* The next header of s: its name and, for strings and bytes, its value. 0: it does not fit.                            */
static int agenti_frame_header(agent_str *s, agent_str *name, agent_str *value)
{
    static const uint8_t sizes[10] = { 0, 0, 1, 2, 4, 8, 0, 0, 8, 16 };        /* by type; 6 and 7 tell their own       */
    size_t n = (unsigned char)s->p[0], size;
    int type;
    if (n == 0 || s->n < n + 2) return 0;
    *name = agenti_str(s->p + 1, n);
    type = (unsigned char)s->p[n + 1];
    *s = agenti_str(s->p + n + 2, s->n - n - 2);
    *value = agenti_str(NULL, 0);
    if (type > 9) return 0;
    size = sizes[type];
    if (type == 6 || type == 7) {
        if (s->n < 2) return 0;
        size = (size_t)(unsigned char)s->p[0] << 8 | (unsigned char)s->p[1];
        *s = agenti_str(s->p + 2, s->n - 2);
        if (s->n >= size) *value = agenti_str(s->p, size);
    }
    if (s->n < size) return 0;
    *s = agenti_str(s->p + size, s->n - size);
    return 1;
}
AGENTI_FN int agenti_frame_parse(agent_str f, agenti_frame *out, const char **why)
{
    size_t headers;
    agent_str rest, name, value, message = agenti_str(NULL, 0);
    out->type = out->kind = out->payload = message;
    *why = "an event stream frame does not match its checksum";
    if (agenti_crc32(f.p, f.n - 4) != agenti_be32(f.p + f.n - 4)) return 0;
    headers = agenti_be32(f.p + 4);
    rest = agenti_str(f.p + AGENTI_FRAME_PRELUDE, headers);
    *why = "an event stream frame has a broken header";
    while (rest.n) {
        if (!agenti_frame_header(&rest, &name, &value)) return 0;
        if (agenti_eq(name, ":message-type")) out->kind = value;
        else if (agenti_eq(name, ":event-type") || agenti_eq(name, ":exception-type") || agenti_eq(name, ":error-code")) out->type = value;
        else if (agenti_eq(name, ":error-message")) message = value;
    }
    out->payload = agenti_str(f.p + AGENTI_FRAME_PRELUDE + headers, f.n - AGENTI_FRAME_MIN - headers);
    if (out->payload.n == 0) out->payload = message;
    return 1;
}
#endif
