// What is asked again: chat, with its retries on, against aimock. A refusal with a wait, one until a date (from a server before aimock, which
// has no dates), and a stream that is cut, with go_on and without. And a chat that is killed while a tool runs: another one goes on from its file.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { cut, desk, formats, mock, wasCut } from './aimock.mjs'
import { B, check, joined, lines, start, tap, wait } from './tools.mjs'

const models = { 'openai-compatible': 'gpt-5-mini', anthropic: 'claude-sonnet-4-6' }
const told = 'A sentence that has a beginning, a middle, and an end that nobody reads.'
const refusal = { message: 'Slow down, please.', type: 'rate_limit_error', code: 'rate_limit_exceeded' }
const chat = async (format, port, prompt, ...set) => joined(await lines(`${B}/chat`, ['--json', '--set', 'retry_ms=1', ...set.flatMap(s => ['--set', s]),
    '--provider', format, '--model', models[format], '--base-url', `http://127.0.0.1:${port}/v1`, '--prompt', prompt],
    { cwd: desk, env: { ...process.env, OPENAI_API_KEY: 'key-1', ANTHROPIC_API_KEY: 'key-2' } }))
const kinds = all => all.map(l => l.ev ?? 'exit').join(' ')
const of = (all, ...kinds) => all.filter(l => kinds.includes(l.ev))

async function serve() {
    const server = await mock(4)
    server.on({ userMessage: 'be patient', sequenceIndex: 0 }, { error: refusal, status: 429, retryAfter: 1 })
    server.on({ userMessage: 'be patient' }, { content: 'Now it works.' })
    server.on({ userMessage: 'come later' }, { content: 'It is later.' })
    server.on({ userMessage: 'break off' }, { content: told }, { latency: 5, truncateAfterChunks: 9 })
    server.on({ userMessage: 'Your answer broke off' }, { content: 'And the rest of it.' })
    server.on({ userMessage: 'be killed', hasToolResult: false }, { content: 'Two at once.', toolCalls: [
        { id: 'call_1', name: 'list', arguments: { path: 'sub' } }, { id: 'call_2', name: 'run', arguments: { command: 'echo once >>ran; exec sleep 9' } }] })
    server.on({ userMessage: 'be killed', hasToolResult: true }, { content: 'It was broken off.' })
    return server
}
async function refusals(format, port) {
    const all = await chat(format, port, 'be patient'), code = format === 'anthropic' ? refusal.type : refusal.code
    check(`retries ${format}: 429, then an answer`, kinds(all), 'run_start step_start error retry_wait retry_go text finish run_end exit')
    check(`retries ${format}: 429, as it is told`, of(all, 'error', 'retry_wait', 'retry_go', 'text', 'run_end'), [
        { ev: 'error', kind: 'rate_limit', code, message: refusal.message, retryable: true, scope: 'attempt', http_status: 429, retry_after_ms: 1000 },
        { ev: 'retry_wait', attempt: 1, max: 4, wait_ms: 1000, kind: 'rate_limit' }, { ev: 'retry_go', attempt: 1, max: 4, kind: 'rate_limit' },
        { ev: 'text', text: 'Now it works.' }, { ev: 'run_end', reason: 'done', steps: 1 }])
}
/** Refuses the first request until a date, in one of the three forms of RFC 9110 5.6.7, and passes on the others. */
async function gate(to, form) {
    let refused, waited
    const server = createServer((client, answer) => {
        if (!refused) {
            const [day, date, month, year, time] = (refused = new Date(Date.now() + 2000)).toUTCString().split(/,? /)
            const long = { Sun: 'Sunday', Mon: 'Monday', Tue: 'Tuesday', Wed: 'Wednesday', Thu: 'Thursday', Fri: 'Friday', Sat: 'Saturday' }[day]
            answer.writeHead(503, { 'content-type': 'text/html', 'retry-after': [`${day}, ${date} ${month} ${year} ${time} GMT`,
                `${long}, ${date}-${month}-${year.slice(2)} ${time} GMT`, `${day} ${month} ${date.replace(/^0/, ' ')} ${time} ${year}`][form] })
            answer.end('<html>Maintenance</html>')
            client.resume()
            return
        }
        waited = Date.now() - Math.floor(refused / 1000) * 1000
        client.pipe(request({ port: to, host: '127.0.0.1', method: client.method, path: client.url, headers: client.headers }, up => {
            answer.writeHead(up.statusCode, up.headers)
            up.pipe(answer)
        }))
    })
    await new Promise(done => server.listen(0, '127.0.0.1', done))
    return { port: server.address().port, waited: () => waited, stop: () => { server.close(); server.closeAllConnections() } }
}
async function dates(format, port) {
    for (const form of format === 'anthropic' ? [0] : [0, 1, 2]) {
        const front = await gate(port, form), all = await chat(format, front.port, 'come later'), [wait] = of(all, 'retry_wait')
        check(`retries ${format}: 503 until a date, form ${form + 1}`, kinds(all), 'run_start step_start error retry_wait retry_go text finish run_end exit')
        check(`retries ${format}: … and not before, form ${form + 1}`, [wait?.kind, wait?.wait_ms > 0 && wait.wait_ms <= 2000, front.waited() > -50], ['server', true, true])
        front.stop()
    }
}
async function cuts(format, port) {
    check(`retries ${format}: a cut`, cut(await chat(format, port, 'break off'), told), wasCut)
    const wire = await tap(port), all = await chat(format, wire.port, 'break off', 'go_on=yes')
    check(`retries ${format}: a cut, with go_on`, kinds(all), 'run_start step_start text error retry_wait retry_go step_start text finish run_end exit')
    const [first, rest] = of(all, 'text'), [error] = of(all, 'error')
    check(`retries ${format}: … it goes on`, [first.text !== '' && told.startsWith(first.text), error.kind, error.scope, rest?.text, ...of(all, 'run_end')],
        [true, 'transport', 'step', 'And the rest of it.', { ev: 'run_end', reason: 'done', steps: 2 }])
    const said = content => typeof content === 'string' ? content : content.map(part => part.text).join('')
    check(`retries ${format}: … from what had come`, wire.requests()[1]?.body.messages.slice(-2).map(m => [m.role, m.role === 'user' || said(m.content)]),
        [['assistant', first.text], ['user', true]])
    wire.stop()
}
async function killed(format, port) {
    const place = `${B}/interop/killed`, file = `${place}/kept.jsonl`, ran = `${place}/ran`, wire = await tap(port)
    const args = ['--json', '--yes', '--session', file, '--provider', format, '--model', models[format], '--base-url', `http://127.0.0.1:${wire.port}/v1`]
    const options = { cwd: place, env: { ...process.env, OPENAI_API_KEY: 'key-1', ANTHROPIC_API_KEY: 'key-2' } }
    rmSync(place, { recursive: true, force: true })
    mkdirSync(`${place}/sub`, { recursive: true })
    const child = start(`${B}/chat`, [...args, '--prompt', 'be killed'], options)
    for (let i = 0; i < 200 && !(existsSync(ran) && child.out.includes('"call_1","name":"list","is_error"')); i++) await wait(50)
    child.kill('SIGKILL')
    check(`survives ${format}: killed while a tool runs`, await child.ended, 'SIGKILL')
    const all = joined(await lines(`${B}/chat`, args, options)), last = wire.requests().at(-1).body.messages
    check(`survives ${format}: another one goes on`, kinds(all), 'loaded tool_result finish step_start text finish run_end exit')
    check(`survives ${format}: … and says what became of the tool`, of(all, 'loaded', 'tool_result', 'text', 'run_end').map(({ text, ...l }) => ({ ...l, text: text?.slice(0, 12) })), [
        { ev: 'loaded', messages: 2, busy: true, text: undefined }, { ev: 'tool_result', id: 'call_2', name: 'run', is_error: true, text: '[Interrupted' },
        { ev: 'text', text: 'It was broke' }, { ev: 'run_end', reason: 'done', steps: 2, text: undefined }])
    check(`survives ${format}: … the model gets both results`, JSON.stringify(last).split('call_1').length + JSON.stringify(last).split('call_2').length, 6)
    check(`survives ${format}: … and it ran once`, [readFileSync(ran, 'utf8'), readFileSync(file, 'utf8').includes('key-')], ['once\n', false])
    wire.stop()
}
export async function group() {
    for (const format of formats) {
        const server = await serve()
        await refusals(format, server.port)
        await dates(format, server.port)
        await cuts(format, server.port)
        await killed(format, server.port)
        await server.stop()
    }
}
