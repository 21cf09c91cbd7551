// A conversation of ten steps: three prompts to one session of chat, images and documents with the first, thoughts and tools on the way.
// Every request body is compared, member by member, with what the documentation of its format asks for:
//   https://platform.openai.com/docs/api-reference/chat/create, https://docs.anthropic.com/en/api/messages
import { pathToFileURL } from 'node:url'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { B, check, lines, tap } from './tools.mjs'
import { formats } from './aimock.mjs'

const desk = `${B}/interop/ten_steps`                         // where chat and its tools work

const files = {
    'dot.png': Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64'),
    'note.txt': Buffer.from('Zeile „eins“\n\tand two\n'),
    'paper.pdf': Buffer.from('%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n'),
}
const url = 'https://pictures.test/cat.jpg?size=1&q="x"'
const prompts = ['What do these show? 🤔', 'Now write it down.', 'And check what you wrote, please.']
const call = (id, name, args) => ({ id, name, arguments: args })
/** What the model says: run by run, a step each. Beside thinking, what calls tools begins with a thought: aimock insists on it. */
const runs = [
    [{ reasoning: 'Four files ½ 🧠', content: 'I look.', toolCalls: [call('c1', 'list', {}), call('c2', 'read_file', { path: 'note.txt' })] },
        { reasoning: 'More is\n"needed"', toolCalls: [call('c3', 'search', { pattern: 'two' })] },
        { reasoning: 'Last look', content: 'Twice more.', toolCalls: [call('c4', 'list', { path: 'sub' }), call('c5', 'read_file', { path: 'lost' })] },
        { content: 'A dot, a cat, a note and a paper.' }],
    [{ reasoning: 'To write …', toolCalls: [call('c6', 'write', { path: 'out/seen.md', content: '# Seen\n\ta dot\n\\ "quoted" 😀\n' })] },
        { reasoning: 'Is it there?', toolCalls: [call('c7', 'read_file', { path: 'out/seen.md' })] },
        { reasoning: 'Good', content: 'Written.' }],
    [{ reasoning: 'All at once', toolCalls: [call('c8', 'run', { command: 'cat out/seen.md' }), call('c9', 'list', { path: 'out' }), call('c10', 'edit',
        { path: 'out/seen.md', old: 'a dot', new: 'a point' })] },
        { reasoning: '…', content: 'One more.', toolCalls: [call('c11', 'run', { command: 'exit 3' })] },
        { reasoning: 'Done', content: 'It is as it should be.' }],
].map((run, r) => run.map((step, s) => ({ ...step, ...step.reasoning && { reasoningSignature: Buffer.from(`signed ${r}.${s}`).toString('base64') } })))
const steps = runs.flat()

// ---- what each format asks for ----
const base64 = name => files[name].toString('base64')
const openai = {
    args: ['--set', 'reasoning_effort=high', '--set', 'temperature=0.5'],
    members: { reasoning_effort: 'high', temperature: 0.5, stream: true, stream_options: { include_usage: true } },
    first: { role: 'user', content: [
        { type: 'image_url', image_url: { url: `data:image/png;base64,${base64('dot.png')}` } },
        { type: 'image_url', image_url: { url } },
        { type: 'text', text: files['note.txt'].toString() },
        { type: 'file', file: { filename: 'paper.pdf', file_data: `data:application/pdf;base64,${base64('paper.pdf')}` } },
        { type: 'text', text: prompts[0] }] },
    user: text => [{ role: 'user', content: text }],
    model: step => [{ role: 'assistant', content: step.content ?? null, ...step.toolCalls && { tool_calls: step.toolCalls.map(c =>
        ({ id: c.id, type: 'function', function: { name: c.name, arguments: JSON.stringify(c.arguments) } })) } }],
    results: list => list.map(r => ({ role: 'tool', tool_call_id: r.id, content: r.text })),
    system: body => body.messages[0].role === 'system' && typeof body.messages[0].content === 'string',
    rest: body => body.messages.slice(1),
}
const anthropic = {
    args: ['--set', 'thinking_budget=2048', '--set', 'prompt_cache=1h'],
    members: { thinking: { type: 'enabled', budget_tokens: 2048 }, max_tokens: 8192, stream: true, cache_control: { type: 'ephemeral', ttl: '1h' } },
    first: { role: 'user', content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64('dot.png') } },
        { type: 'image', source: { type: 'url', url } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: files['note.txt'].toString() }, title: 'note.txt' },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: base64('paper.pdf') }, title: 'paper.pdf' },
        { type: 'text', text: prompts[0] }] },
    user: text => [{ role: 'user', content: [{ type: 'text', text }] }],
    model: step => [{ role: 'assistant', content: [
        ...step.reasoning ? [{ type: 'thinking', thinking: step.reasoning, signature: step.reasoningSignature }] : [],
        ...step.content ? [{ type: 'text', text: step.content }] : [],
        ...(step.toolCalls ?? []).map(c => ({ type: 'tool_use', id: c.id, name: c.name, input: c.arguments }))] }],
    results: list => [{ role: 'user', content: list.map(r =>
        ({ type: 'tool_result', tool_use_id: r.id, content: r.text || '(no output)', ...r.is_error && { is_error: true } })) }],
    system: body => body.system.length === 1 && body.system[0].cache_control.ttl === '1h' && typeof body.system[0].text === 'string',
    rest: body => body.messages,
}
/** The messages of each request, as they grow. results: what the tools said, by call. */
function histories(format, results) {
    const all = []
    let messages = []
    for (const [r, run] of runs.entries()) {
        messages = [...messages, ...r === 0 ? [format.first] : format.user(prompts[r])]
        for (const step of run) {
            all.push(messages)
            messages = [...messages, ...format.model(step)]
            if (step.toolCalls) messages = [...messages, ...format.results(step.toolCalls.map(c => ({ ...results[c.id], id: c.id })))]
        }
    }
    return all
}
async function conversation(name, format) {
    const { LLMock } = await import(pathToFileURL(`${process.env.AIMOCK}/dist/index.js`))
    const server = new LLMock({ host: '127.0.0.1', port: 0, chunkSize: 9, strict: true, logLevel: 'warn' })
    for (const [i, step] of steps.entries())
        server.on({ predicate: request => request.messages.filter(m => m.role === 'assistant').length === i }, step)
    await server.start()
    const wire = await tap(server.port)
    rmSync(desk, { recursive: true, force: true })
    mkdirSync(`${desk}/sub`, { recursive: true })
    for (const [file, bytes] of Object.entries(files)) writeFileSync(`${desk}/${file}`, bytes)
    const found = await lines(`${B}/chat`, ['--json', '--set', 'max_retries=0', '--yes', '--provider', name, '--model', name === 'anthropic' ? 'claude-sonnet-4-6' : 'gpt-5-mini',
        '--base-url', `http://127.0.0.1:${wire.port}/v1`, ...format.args, '--attach', 'dot.png', '--attach', url, '--attach', 'note.txt',
        '--attach', 'paper.pdf'], { input: prompts.join('\n') + '\n', cwd: desk, env: { ...process.env, OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' } })
    const requests = wire.requests().map(r => r.body), results = {}
    for (const line of found) if (line.ev === 'tool_result') results[line.id] = line
    const wanted = histories(format, results)
    check(`ten steps, ${name}: three runs of 4, 3 and 3 steps`, found.filter(l => l.ev === 'run_end' || 'exit' in l),
        [...[4, 3, 3].map(steps => ({ ev: 'run_end', reason: 'done', steps })), { exit: 0 }])
    check(`ten steps, ${name}: every thought and word is shown`, ['reasoning', 'text'].map(ev => found.filter(l => l.ev === ev).map(l => l.text).join('')),
        ['reasoning', 'content'].map(key => steps.map(s => s[key] ?? '').join('')))
    check(`ten steps, ${name}: tools that fail say so`, Object.values(results).filter(r => r.is_error).map(r => r.id), ['c5', 'c11'])
    for (const [i, body] of requests.entries()) {
        const { model, tools, messages, system, ...members } = body
        check(`ten steps, ${name}, request ${i + 1}: members`, members, format.members)
        check(`ten steps, ${name}, request ${i + 1}: system, model, tools`, [format.system(body), model, tools], [true, requests[0].model, requests[0].tools])
        check(`ten steps, ${name}, request ${i + 1}: messages`, format.rest(body), wanted[i])
    }
    check(`ten steps, ${name}: ten requests on one connection`, [requests.length, wire.connections.length], [10, 1])
    wire.stop()
    await server.stop()
}
export async function group() {
    for (const name of formats) await conversation(name, name === 'anthropic' ? anthropic : openai)
}
