// SHARED/suites/http/torture.js: a server with 19 odd ways to answer. Each is fetched through the HTTP codec alone, whole and by
// single bytes, and then met by chat, which can make no answer of a model of any and has to say why, twice on one session.
import { existsSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { desk } from './aimock.mjs'
import { B, SHARED, check, lines, serve } from './tools.mjs'

const script = `${SHARED}/suites/http/torture.js`
export const torture = existsSync(script) ? () => serve(port => [process.execPath, [script, `${port}`]]) : null

const event = i => `data: {"i":${i},"t":"zürich 😀"}\n\n`
const whole = (body, more) => ({ interim: [], status: 200, body, trailers: {}, keep: true, exit: 0, ...more })
const broken = (body, more) => ({ interim: [], error: true, body, exit: 1, ...more })
const failed = (kind, http_status, code) => [kind, http_status, code]
const ended = failed('transport', 200, undefined)            // no sign of a model's end, or of the body's

// What each route sends, and what RFC 9112 makes of it. chat: kind, status and code of the error.
export const routes = {
    sse:          { fetch: whole([0, 1, 2, 3, 4].map(event).join('')), chat: ended },
    bytewise:     { fetch: whole([0, 1, 2].map(event).join('')), chat: ended },                // a byte a chunk, a chunk byte by byte
    trailers:     { fetch: whole('abc', { trailers: { 'x-t': '1' } }), chat: ended },
    continue100:  { fetch: whole('ok', { interim: [100, 103] }), chat: ended },
    earlyclose:   { fetch: broken(event(0)), chat: ended },                                     // no last chunk (8)
    rst:          { fetch: broken(event(0)), chat: ended },
    clshort:      { fetch: broken('short'), chat: ended },                                      // 5 of 50 bytes (8)
    eofbody:      { fetch: whole('until eof', { keep: false }), chat: ended },                  // no length: until close (6.3)
    errhtml:      { fetch: whole('<html>bad</html', { status: 502, keep: false }), chat: failed('server', 502, undefined) },
    errearly:     { fetch: whole('', { status: 413, keep: false }), chat: failed('context_overflow', 413, undefined) },
    stall:        { fetch: broken(event(0)) },
    splitcrlf:    { fetch: whole('hello'), chat: ended },
    comments:     { fetch: whole(': keepalive\n\n'.repeat(3) + event(1)), chat: ended },
    redirect:     { fetch: whole('', { status: 307 }), chat: failed('protocol', 307, 'redirect') },
    garbageafter: { fetch: whole('ok'), chat: ended },                                          // the rest is nobody's answer (6.3)
    gzip:         { fetch: whole(new TextDecoder().decode(gzipSync(event(0)))), chat: failed('protocol', 200, undefined) },
    bigheaders:   { fetch: broken(''), chat: failed('protocol', undefined, 'limit') },           // 104 KB, over the limit of 64
    endlesshead:  { fetch: broken(''), chat: failed('protocol', undefined, 'limit') },
    hugechunk:    { fetch: broken('data'), chat: ended },                                       // 4 of 2^64 - 16 bytes
}

export async function fetched(port, route, ...options) {
    const all = await lines(`${B}/interop-drive`, ['fetch', '--wait', '2000', ...options, `http://127.0.0.1:${port}/${route}`])
    const one = name => all.find(line => line.ev === name) ?? {}
    const interim = all.filter(line => line.ev === 'http_interim').map(line => line.status), { exit } = all.at(-1)
    return one('http_error').message ? { interim, error: true, body: one('http_error').body, exit }
        : { interim, status: one('http').status, body: one('http').body, trailers: one('end').trailers, keep: one('end').keep_alive, exit }
}
export const chat = (port, route, options) => lines(`${B}/chat`, ['--json', '--set', 'max_retries=0', '--base-url', `http://127.0.0.1:${port}/${route}`],
    { cwd: desk, env: { ...process.env, OPENAI_API_KEY: 'key-1' }, ...options })
export const errors = all => all.filter(line => line.ev === 'error').map(line => failed(line.kind, line.http_status, line.code))
const runs = all => [errors(all), all.filter(line => line.ev === 'run_end').map(line => line.reason), all.at(-1).exit]

export async function group() {
    const server = await torture()
    for (const [route, wanted] of Object.entries(routes)) {
        check(`torture ${route}`, await fetched(server.port, route), wanted.fetch)
        check(`torture ${route}, byte by byte`, await fetched(server.port, route, '--read', '1'), wanted.fetch)
        if (wanted.chat) check(`torture ${route}, chat`, runs(await chat(server.port, route, { input: 'one\ntwo\n' })),
            [[wanted.chat, wanted.chat], ['failed', 'failed'], 1])
    }
    check('torture errearly, chat with a long message', runs(await chat(server.port, 'errearly', { input: `${'long '.repeat(190000)}\n` })),
        [[routes.errearly.chat], ['failed'], 1])
    check('torture stall, chat is interrupted', runs(await chat(server.port, 'stall', { input: 'one\n', interrupt: 500 })), [[], ['cancelled'], 130])
    await server.stop()
}
