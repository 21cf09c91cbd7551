// What the groups of peers.mjs share: checks, programs, servers, a wire tap.
import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'
import { isDeepStrictEqual } from 'node:util'

export const B = process.env.B, SHARED = process.env.SHARED
export const sum = { passed: 0, failed: 0, skipped: 0 }

export function check(name, found, wanted) {
    const good = isDeepStrictEqual(found, wanted)
    good ? sum.passed++ : sum.failed++
    console.log(`${good ? 'ok  ' : 'FAIL'} ${name}`)
    if (!good) console.log(`--- wanted\n${shown(wanted)}\n--- found\n${shown(found)}`)
}
const shown = value => [].concat(value).map(v => JSON.stringify(v)).join('\n')
export function skip(group, why) {
    sum.skipped++
    console.log(`skip ${group}: ${why}`)
}

// ---- programs: every child is ended, by its id, when this process ends ----
const children = new Set()
process.on('exit', () => { for (const child of children) child.kill('SIGKILL') })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))

export function start(program, args, options = {}) {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], ...options })
    children.add(child)
    child.out = child.err = ''
    child.stdout.setEncoding('utf8').on('data', text => { child.out += text })
    child.stderr.setEncoding('utf8').on('data', text => { child.err += text })
    child.stdin.on('error', () => {})
    child.ended = new Promise(done => {
        child.on('error', error => { child.err += error })
        child.on('close', (code, signal) => { children.delete(child); done(code ?? signal ?? 'not started') })
    })
    return child
}
/** Runs a program to its end and gives its lines, with the exit code as the last. interrupt: SIGINT after so many ms. */
export async function lines(program, args, { input = '', interrupt, seconds = 20, ...options } = {}) {
    const child = start(program, args, options)
    const guard = setTimeout(() => child.kill('SIGKILL'), seconds * 1000)
    const soon = interrupt && setTimeout(() => child.kill('SIGINT'), interrupt)
    child.stdin.end(input)
    const code = await child.ended
    clearTimeout(guard)
    clearTimeout(soon)
    if (child.err) console.log(child.err.trimEnd())
    return [...child.out.split('\n').filter(Boolean).map(parsed), { exit: code }]
}
function parsed(line) {
    try { return JSON.parse(line) } catch { return { unreadable: line } }
}
/**
 * Lines in a form that does not depend on how the stream was cut: neighbouring texts are one, the pieces of a call's arguments are
 * compared with the arguments and left out, and so are offsets and ids of requests, which nobody promises.
 */
export function joined(all) {
    const result = [], inputs = {}
    for (const { offset, request_id, ...line } of all) {
        const last = result.at(-1)
        if (line.ev === 'tool_input') inputs[line.id] = (inputs[line.id] ?? '') + (line.text ?? '')
        else if (['text', 'reasoning'].includes(line.ev) && last?.ev === line.ev) last.text += line.text
        else result.push(line)
        if (line.ev === 'tool_call' && !isDeepStrictEqual(parsed(inputs[line.id] || '{}'), line.args))
            result.push({ differs: inputs[line.id] })
    }
    return result
}

// ---- servers, on loopback and a free port ----
export const wait = ms => new Promise(done => setTimeout(done, ms))
export function freePort() {
    return new Promise((done, bad) => {
        const server = createServer().on('error', bad).listen(0, '127.0.0.1', () => {
            const { port } = server.address()
            server.close(() => done(port))
        })
    })
}
export function answers(port) {
    return new Promise(done => {
        const socket = connect(port, '127.0.0.1', () => { socket.destroy(); done(true) }).on('error', () => done(false))
    })
}
/** command(port): program, arguments. Somebody else may take the port first, so there are three tries. */
export async function serve(command) {
    let said = ''
    for (let tries = 0; tries < 3; tries++) {
        const port = await freePort(), [program, args, options] = await command(port), server = start(program, args, options)
        let over = false
        server.ended.then(() => { over = true })
        for (let i = 0; i < 100 && !over; i++, await wait(50)) if (await answers(port) && !over) return { port, stop: () => stop(server) }
        await stop(server)
        said = server.err
    }
    throw new Error(`it does not start: ${said}`)
}
async function stop(child) {
    const guard = setTimeout(() => child.kill('SIGKILL'), 3000)
    child.kill('SIGTERM')
    await child.ended
    clearTimeout(guard)
}
/** Stands before a server, passes on all bytes, and keeps what clients sent, a list for each connection. */
export async function tap(to) {
    const connections = []
    const server = createServer(client => {
        const sent = [], up = connect(to, '127.0.0.1')
        connections.push(sent)
        client.on('data', bytes => sent.push(bytes)).on('error', () => up.destroy()).pipe(up)
        up.on('error', () => client.destroy()).pipe(client)
    })
    await new Promise(done => server.listen(0, '127.0.0.1', done))
    return { port: server.address().port, connections, requests: () => connections.flatMap(requests), stop: () => server.close() }
}
function requests(sent) {
    let bytes = Buffer.concat(sent)
    const all = []
    while (bytes.length) {
        const end = bytes.indexOf('\r\n\r\n'), [line, ...heads] = bytes.subarray(0, end).toString().split('\r\n')
        const headers = Object.fromEntries(heads.map(h => [h.slice(0, h.indexOf(':')).toLowerCase(), h.slice(h.indexOf(':') + 1).trim()]))
        const next = end + 4 + Number(headers['content-length'])
        all.push({ line, headers, body: JSON.parse(bytes.subarray(end + 4, next)) })
        bytes = bytes.subarray(next)
    }
    return all
}
