// The wire formats beside OpenAI chat and Anthropic against aimock: a text, calls that chat's tools answer, failures. What aimock leaves out
// of a format (thoughts, counts, ids of calls) is not looked at.
import { B, check, joined, lines } from './tools.mjs'
import { desk, fixtures, mock } from './aimock.mjs'

const providers = [['openai-responses', '/v1', 'gpt-5-mini'], ['gemini', '/v1beta', 'gemini-2.5-flash'],
    ['gemini-interactions', '/v1beta', 'gemini-2.5-flash'], ['cohere', '/v2', 'command-a-03-2025'], ['ollama-native', '/api', 'qwen3'],
    ['amazon-bedrock', '', 'anthropic.claude-sonnet-4-6'], ['amazon-bedrock-invoke', '', 'anthropic.claude-sonnet-4-6'],
    ['groq', '/v1', 'm'], ['mistral', '/v1', 'm'], ['deepseek', '/v1', 'm'], ['openrouter', '/v1', 'm'], ['minimax', '/v1', 'm'], ['vllm', '/v1', 'm']]
const keys = { OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k', COHERE_API_KEY: 'k', AWS_BEARER_TOKEN_BEDROCK: 'k', GROQ_API_KEY: 'k', MISTRAL_API_KEY: 'k', DEEPSEEK_API_KEY: 'k',
    OPENROUTER_API_KEY: 'k', MINIMAX_API_KEY: 'k' }
const kinds = { 'too fast': 'rate_limit', 'wrong key': 'auth', 'fall over': 'server' }
const answer = (prompt, turn) => fixtures.filter(f => f.match.userMessage === prompt)[turn].response
const chat = async ([provider, path, model], port, prompt) => joined(await lines(`${B}/chat`, ['--json', '--set', 'max_retries=0', '--yes', '--provider', provider,
    '--model', model, '--base-url', `http://127.0.0.1:${port}${path}`, '--prompt', prompt], { cwd: desk, env: { ...process.env, ...keys } }))
const text = all => all.filter(l => l.ev === 'text').map(l => l.text).join('')
const ends = all => all.filter(l => l.ev === 'run_end' || 'exit' in l)

async function talks(size) {
    const server = await mock(size)
    for (const provider of providers) {
        const name = `${provider[0]}, pieces of ${size}`, greeting = await chat(provider, server.port, 'greet')
        check(`formats ${name}: a text`, [text(greeting), ...ends(greeting)],
            [answer('greet', 0).content, { ev: 'run_end', reason: 'done', steps: 1 }, { exit: 0 }])
        const calls = await chat(provider, server.port, 'only calls')
        check(`formats ${name}: calls and their results`, [calls.filter(l => l.ev === 'tool_call').map(l => [l.name, l.args]),
            calls.filter(l => l.ev === 'tool_result').map(l => l.is_error), text(calls), ...ends(calls)],
            [answer('only calls', 0).toolCalls.map(c => [c.name, c.arguments]), [false, false], answer('only calls', 1).content,
                { ev: 'run_end', reason: 'done', steps: 2 }, { exit: 0 }])
    }
    await server.stop()
}
async function trouble() {
    const server = await mock(20)
    for (const provider of providers) for (const [prompt, kind] of Object.entries(kinds)) {
        const { error, status } = answer(prompt, 0), all = await chat(provider, server.port, prompt), fault = all.find(l => l.ev === 'error') ?? {}
        check(`formats ${provider[0]}: ${status}`, [fault.kind, fault.message, fault.http_status, ...ends(all)],
            [kind, error.message, status, { ev: 'run_end', reason: 'failed', steps: 1 }, { exit: 1 }])
    }
    await server.stop()
}
export async function group() {
    for (const size of [1, 7, 64]) await talks(size)
    await trouble()
}
