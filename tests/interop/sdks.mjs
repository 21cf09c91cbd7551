// The official SDKs as a second opinion: the request that chat makes, made by them, is the same (path, what authenticates, body), and what they
// make of the answer's stream is what our events say.
import { pathToFileURL } from 'node:url'
import { desk, mock } from './aimock.mjs'
import { B, check, joined, lines, tap } from './tools.mjs'

const load = async name => import(pathToFileURL(`${process.env.SDKS}/${name}`))
// Rules: Anthropic's SDK from 1.0 on gives the key as a bearer token and asks for version 2026-10-21; ours is the documented x-api-key with
// 2023-06-01, which the recorded answers are of. So the key is compared, not the header that has it, and that a version is asked for.
const some = all => ({ key: all.authorization ?? `Bearer ${all['x-api-key']}`, version: /^20\d\d-\d\d-\d\d$/.test(all['anthropic-version'] ?? ''), type: all['content-type'] })
const ours = async (provider, port, prompt) => joined(await lines(`${B}/chat`, ['--json', '--set', 'max_retries=0', '--yes', '--provider', provider, '--model', 'm',
    '--base-url', `http://127.0.0.1:${port}/v1`, '--prompt', prompt], { cwd: desk, env: { ...process.env, OPENAI_API_KEY: 'key-1', ANTHROPIC_API_KEY: 'key-1' } }))

/** How each SDK sends a body, and what it makes of the answer: text, and calls as [name, arguments]. */
async function kits(base) {
    const { default: OpenAI } = await load('openai/index.mjs'), { default: Anthropic } = await load('@anthropic-ai/sdk/index.mjs')
    const openai = new OpenAI({ apiKey: 'key-1', baseURL: `${base}/v1`, maxRetries: 0 }), anthropic = new Anthropic({ apiKey: 'key-1', baseURL: base, maxRetries: 0 })
    return {
        openai: async body => {
            const { message } = (await openai.chat.completions.stream(body).finalChatCompletion()).choices[0]
            return [message.content ?? '', (message.tool_calls ?? []).map(c => [c.function.name, JSON.parse(c.function.arguments)])]
        },
        'openai-responses': async body => {
            const { output } = await openai.responses.stream(body).finalResponse()
            return [output.flatMap(i => i.type === 'message' ? i.content.map(c => c.text) : []).join(''),
                output.filter(i => i.type === 'function_call').map(c => [c.name, JSON.parse(c.arguments)])]
        },
        anthropic: async body => {
            const { content } = await anthropic.messages.stream(body).finalMessage()
            return [content.filter(c => c.type === 'text').map(c => c.text).join(''), content.filter(c => c.type === 'tool_use').map(c => [c.name, c.input])]
        },
    }
}
async function opinions(provider, prompt) {
    const server = await mock(20), wire = await tap(server.port)
    const events = await ours(provider, wire.port, prompt), sent = wire.requests()
    wire.stop()
    await server.stop()
    const other = await mock(20), second = await tap(other.port), kit = (await kits(`http://127.0.0.1:${second.port}`))[provider]
    const told = []
    for (const { body } of sent) told.push(await kit(structuredClone(body)))
    second.requests().forEach((request, i) => {
        check(`sdks ${provider}: ${prompt}, request ${i + 1}`, [sent[i].line, some(sent[i].headers), sent[i].body], [request.line, some(request.headers), request.body])
    })
    check(`sdks ${provider}: ${prompt}, as many requests`, second.requests().length, sent.length)
    check(`sdks ${provider}: ${prompt}, the answers`, [events.filter(l => l.ev === 'text').map(l => l.text).join(''),
        events.filter(l => l.ev === 'tool_call').map(l => [l.name, l.args])], [told.map(t => t[0]).join(''), told.flatMap(t => t[1])])
    second.stop()
    await other.stop()
}
export async function group() {
    for (const provider of ['openai', 'openai-responses', 'anthropic']) for (const prompt of ['greet', 'only calls']) await opinions(provider, prompt)
}
