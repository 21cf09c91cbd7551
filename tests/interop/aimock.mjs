// aimock: a mock of the providers' APIs, by other people. The conversations are those of aimock.json.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { B, check, joined, lines, tap } from './tools.mjs'

export const fixtures = JSON.parse(readFileSync(new URL('aimock.json', import.meta.url))).fixtures
export const formats = ['openai-compatible', 'anthropic']
const models = { 'openai-compatible': 'gpt-5-mini', anthropic: 'claude-sonnet-4-6' }
const raw = {
    'openai-compatible': { stop: 'stop', length: 'length', 'tool-calls': 'tool_calls' },
    anthropic: { stop: 'end_turn', length: 'max_tokens', 'tool-calls': 'tool_use' },
}
export const desk = `${B}/interop/desk`                      // where chat and its tools work
const results = {                                            // of the tools of chat
    'look around': [
        { name: 'list', is_error: false, text: 'grüße.txt (21)\nsub/\n' },
        { name: 'read_file', is_error: false, text: 'Grüß Gott 👋\n[4 bytes more; the next line is offset 2]' },
        { name: 'read_file', is_error: true, text: 'No such file or directory' }],
    'only calls': [
        { name: 'list', is_error: false, text: 'grüße.txt (21)\nsub/\n' },
        { name: 'list', is_error: false, text: '[nothing is in this directory]' }],
}
const story = 'Once upon a time 🐉 there was a stream, and it was long. '.repeat(700)

/** A server in this process, since it is a library: it takes a free port and ends with us. Strict: it refuses what no fixture is for. */
export async function mock(chunkSize) {
    const { LLMock } = await import(pathToFileURL(`${process.env.AIMOCK}/dist/index.js`))
    const server = new LLMock({ host: '127.0.0.1', port: 0, chunkSize, strict: true, logLevel: 'warn' })
    server.loadFixtureFile(new URL('aimock.json', import.meta.url).pathname)
    server.onMessage('tell a story', { content: story, usage: { prompt_tokens: 5, completion_tokens: 9000 } })
    await server.start()
    return server
}
export function makeDesk() {
    rmSync(desk, { recursive: true, force: true })
    mkdirSync(`${desk}/sub`, { recursive: true })
    writeFileSync(`${desk}/grüße.txt`, 'Grüß Gott 👋\ntwo\n')
}
export const chat = (format, port, prompt, path = '/v1') => lines(`${B}/chat`, ['--json', '--set', 'max_retries=0', '--yes', '--provider', format, '--model', models[format],
    '--base-url', `http://127.0.0.1:${port}${path}`, '--prompt', prompt],
    { cwd: desk, env: { ...process.env, OPENAI_API_KEY: 'key-1', ANTHROPIC_API_KEY: 'key-2' } })
const whole = (format, port, prompt, ...more) => lines(`${B}/interop-drive`, ['run', '--provider', format, '--model', models[format], ...more,
    `http://127.0.0.1:${port}/v1`, prompt])

// ---- what must come ----
const said = (prompt, turn) => fixtures.filter(f => f.match.userMessage === prompt)[turn].response
function step(format, number, answer, outputs = []) {
    const calls = answer.toolCalls ?? [], reason = calls.length ? 'tool-calls' : answer.finishReason ?? 'stop'
    return [
        { ev: 'step_start', step: number },
        ...(format === 'anthropic' ? answer.redactedThinking ?? [] : []).map(data =>
            ({ ev: 'custom', type: 'redacted_thinking', value: { type: 'redacted_thinking', data } })),
        ...answer.reasoning ? [{ ev: 'reasoning', text: answer.reasoning }] : [],
        ...answer.content ? [{ ev: 'text', text: answer.content }] : [],
        ...calls.map(call => ({ ev: 'tool_call', id: call.id, name: call.name, args: call.arguments })),
        ...calls.map((call, i) => ({ ev: 'tool_result', id: call.id, ...outputs[i] })),
        { ev: 'finish', reason, raw: raw[format][reason],
            usage: { input: answer.usage.prompt_tokens, output: answer.usage.completion_tokens } },
    ]
}
const run = (steps, reason, exit) => [{ ev: 'run_start', run: 1 }, ...steps.flat(),
    { ev: 'run_end', reason, steps: steps.length }, { exit }]
export function conversation(format, prompt, outputs = results[prompt]) {
    const first = prompt === 'tell a story' ? { content: story, usage: { prompt_tokens: 5, completion_tokens: 9000 } } : said(prompt, 0)
    const steps = [step(format, 1, first, outputs)]
    if (first.toolCalls) steps.push(step(format, 2, said(prompt, 1)))
    return run(steps, 'done', 0)
}
function failure(format, prompt, kind, more) {
    const { error, status } = said(prompt, 0), code = format === 'anthropic' ? error.type : error.code ?? error.type
    return run([[{ ev: 'step_start', step: 1 }, { ev: 'error', kind, code, message: error.message, http_status: status, ...more }]], 'failed', 1)
}
/** A stream that was cut: some text, exactly as far as it came, then one error. */
export function cut(found, content) {
    const text = found[2]?.text ?? '', error = found[3] ?? {}
    return [text !== '' && text.length < content.length && content.startsWith(text), error.ev, error.kind, error.retryable, ...found.slice(4)]
}
export const wasCut = [true, 'error', 'transport', true, { ev: 'run_end', reason: 'failed', steps: 1 }, { exit: 1 }]
export const prompts = ['greet', 'ponder', 'look around', 'only calls', 'go on and on']

// ---- what the requests must hold ----
const json = value => JSON.stringify(value)
function openaiRequest({ line, headers, body }) {
    return { line, key: headers.authorization, type: headers['content-type'], length: headers['content-length'] > 0,
        model: body.model, stream: body.stream, usage: body.stream_options?.include_usage, roles: body.messages.map(m => m.role).join(' '),
        tools: body.tools.map(t => [t.type, t.function.name, typeof t.function.description, t.function.parameters.type].join(' ')) }
}
function anthropicRequest({ line, headers, body }) {
    return { line, key: headers['x-api-key'], version: headers['anthropic-version'], type: headers['content-type'],
        length: headers['content-length'] > 0, model: body.model, stream: body.stream, limit: body.max_tokens > 0,
        system: [].concat(body.system).length, roles: body.messages.map(m => m.role).join(' '),
        tools: body.tools.map(t => [t.name, typeof t.description, t.input_schema.type].join(' ')) }
}
const tools = ['list', 'read_file', 'search', 'write', 'edit', 'run']
const wantedRequest = {
    'openai-compatible': roles => ({ line: 'POST /v1/chat/completions HTTP/1.1', key: 'Bearer key-1', type: 'application/json', length: true,
        model: models['openai-compatible'], stream: true, usage: true, roles, tools: tools.map(name => `function ${name} string object`) }),
    anthropic: roles => ({ line: 'POST /v1/messages HTTP/1.1', key: 'key-2', version: '2023-06-01', type: 'application/json', length: true,
        model: models.anthropic, stream: true, limit: true, system: 1, roles, tools: tools.map(name => `${name} string object`) }),
}
function openaiHistory() {           // the model's message and the results, as the second request has to tell them
    const answer = said('look around', 0)
    return [
        { role: 'assistant', content: answer.content, tool_calls: answer.toolCalls.map(call =>
            ({ id: call.id, type: 'function', function: { name: call.name, arguments: json(call.arguments) } })) },
        ...answer.toolCalls.map((call, i) => ({ role: 'tool', tool_call_id: call.id, content: results['look around'][i].text })),
    ]
}
function anthropicHistory() {
    const answer = said('look around', 0)
    return [
        { role: 'assistant', content: [
            ...answer.redactedThinking.map(data => ({ type: 'redacted_thinking', data })),
            { type: 'thinking', thinking: answer.reasoning, signature: answer.reasoningSignature },
            { type: 'text', text: answer.content },
            ...answer.toolCalls.map(call => ({ type: 'tool_use', id: call.id, name: call.name, input: call.arguments }))] },
        { role: 'user', content: answer.toolCalls.map((call, i) => {
            const { text, is_error } = results['look around'][i]
            return { type: 'tool_result', tool_use_id: call.id, content: text, ...is_error ? { is_error } : {} }
        }) },
    ]
}

// ---- the groups ----
async function pieces(size) {
    const server = await mock(size)
    for (const format of formats) for (const prompt of prompts)
        check(`aimock ${format}, pieces of ${size}: ${prompt}`, joined(await chat(format, server.port, prompt)), conversation(format, prompt))
    await server.stop()
}
async function trouble() {
    const server = await mock(20)
    for (const format of formats) {
        const talk = async prompt => joined(await chat(format, server.port, prompt))
        check(`aimock ${format}: 429 and Retry-After`, await talk('too fast'),
            failure(format, 'too fast', 'rate_limit', { retryable: true, retry_after_ms: 7000 }))
        check(`aimock ${format}: 401`, await talk('wrong key'), failure(format, 'wrong key', 'auth', { retryable: false }))
        check(`aimock ${format}: 500`, await talk('fall over'), failure(format, 'fall over', 'server', { retryable: true }))
        for (const prompt of ['stop short', 'hang up'])
            check(`aimock ${format}: cut off (${prompt})`, cut(await talk(prompt), said(prompt, 0).content), wasCut)
        check(`aimock ${format}: a long text`, joined(await talk('tell a story')), conversation(format, 'tell a story'))
    }
    await server.stop()
}
async function answersInOnePiece() {
    const server = await mock(20), wire = await tap(server.port)
    for (const format of formats) for (const prompt of prompts) {
        const outputs = (said(prompt, 0).toolCalls ?? []).map(call => ({ name: call.name, is_error: false, text: json(call.arguments) }))
        check(`aimock ${format}, not streamed: ${prompt}`, joined(await whole(format, wire.port, prompt)), conversation(format, prompt, outputs))
    }
    check('aimock: nobody asked for a stream', wire.requests().filter(r => r.body.stream).length, 0)
    const thinking = await whole('anthropic', wire.port, 'look around', '--set', 'thinking_budget=1024')
    check('aimock anthropic: thinking that was asked for goes back with its signature', thinking.at(-1), { exit: 0 })
    check('aimock anthropic: … in both requests', wire.requests().slice(-2).map(r => r.body.thinking),
        [1, 2].map(() => ({ type: 'enabled', budget_tokens: 1024 })))
    wire.stop()
    await server.stop()
}
async function requestsSeen() {
    const server = await mock(20)
    for (const format of formats) {
        const wire = await tap(server.port), openai = format !== 'anthropic'
        await chat(format, wire.port, 'look around')
        const all = wire.requests(), seen = all.map(openai ? openaiRequest : anthropicRequest)
        const roles = openai ? ['system user', 'system user assistant tool tool tool'] : ['user', 'user assistant user']
        check(`aimock ${format}: the first request`, seen[0], wantedRequest[format](roles[0]))
        check(`aimock ${format}: the second request`, seen[1], wantedRequest[format](roles[1]))
        check(`aimock ${format}: it tells the calls and results in order`, all[1]?.body.messages.slice(openai ? 2 : 1),
            openai ? openaiHistory() : anthropicHistory())
        check(`aimock ${format}: both on one connection`, [all.length, wire.connections.length], [2, 1])
        wire.stop()
    }
    const journal = await (await fetch(`${server.url}/__aimock/journal`)).json()
    check('aimock: its journal has four requests, answered', journal.map(e => `${e.path} ${e.response.status}`),
        ['/v1/chat/completions 200', '/v1/chat/completions 200', '/v1/messages 200', '/v1/messages 200'])
    for (const [i, format] of formats.entries())
        check(`aimock ${format}: its journal has read the results`,
            journal[2 * i + 1].body.messages.slice(-3).map(m => [m.role, m.tool_call_id, m.content]),
            said('look around', 0).toolCalls.map((call, k) => ['tool', call.id, results['look around'][k].text]))
    await server.stop()
}
export async function group() {
    for (const size of [1, 2, 3, 5, 7, 13, 20, 64]) await pieces(size)
    await trouble()
    await answersInOnePiece()
    await requestsSeen()
}
