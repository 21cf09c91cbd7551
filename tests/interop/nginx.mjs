// nginx as a reverse proxy that buffers, and compresses for who asks: what comes through it is what comes without it.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { chat as talk, conversation, cut, fixtures, formats, mock, prompts, wasCut } from './aimock.mjs'
import { chat as ask, errors, fetched, routes, torture } from './torture.mjs'
import { B, check, freePort, joined, lines, serve, skip } from './tools.mjs'

const nginx = process.env.NGINX, folder = `${B}/interop/nginx.d`
/** All files are below `folder`, so that it runs for any user: temporary ones for each module that this nginx was built with. */
function config(port, upstreams) {
    const built = spawnSync(nginx, ['-V'], { encoding: 'utf8' }).stderr
    const temporary = [...built.matchAll(/--http-([a-z-]+)-temp-path/g)].map(found => found[1].replaceAll('-', '_'))
        .filter(module => !built.includes(`--without-http_${module}_module`))
    return `
daemon off;
master_process off;
pid "${folder}/pid";
error_log "${folder}/error.log";
events { worker_connections 64; }
http {
    access_log off;
    ${temporary.map(module => `${module}_temp_path "${folder}/${module}";`).join('\n    ')}
    client_max_body_size 8m;
    proxy_http_version 1.1;
    proxy_buffering on;
    gzip on;
    gzip_types text/event-stream application/json;
    gzip_min_length 1;
    gzip_proxied any;
    server {
        listen 127.0.0.1:${port};
        ${Object.entries(upstreams).map(([name, to]) => `location /${name}/ { proxy_pass http://127.0.0.1:${to}/; }`).join('\n        ')}
    }
}
`
}
async function proxy(upstreams) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    return serve(port => {
        writeFileSync(`${folder}/nginx.conf`, config(port, upstreams))
        return [nginx, ['-p', folder, '-c', `${folder}/nginx.conf`]]
    })
}
// Those that nginx passes on; 1xx answers, long heads and impossible chunks it does not.
const odd = ['sse', 'bytewise', 'trailers', 'earlyclose', 'clshort', 'eofbody', 'errhtml', 'splitcrlf', 'comments', 'redirect',
    'garbageafter', 'gzip']
/** nginx frames anew: it keeps the connection, drops trailers, and knows nothing of how its upstream's connection ended. */
const reframed = wanted => wanted.error ? wanted : { ...wanted, trailers: {}, keep: true }

export async function group() {
    const server = await mock(5), strange = torture ? await torture() : null
    const front = await proxy({ mock: server.port, gone: await freePort(), ...strange ? { torture: strange.port } : {} })
    for (const format of formats) {
        const through = async prompt => joined(await talk(format, front.port, prompt, '/mock/v1'))
        for (const prompt of [...prompts, 'tell a story'])
            check(`nginx, aimock ${format}: ${prompt}`, await through(prompt), conversation(format, prompt))
        for (const prompt of ['stop short', 'hang up'])
            check(`nginx, aimock ${format}: cut off (${prompt})`,
                cut(await through(prompt), fixtures.find(f => f.match.userMessage === prompt).response.content), wasCut)
        for (const prompt of ['too fast', 'wrong key', 'fall over'])
            check(`nginx, aimock ${format}: ${prompt}`, await through(prompt), joined(await talk(format, server.port, prompt)))
    }
    check('nginx: nobody behind it', errors(await ask(front.port, 'gone', { input: 'one\n' })), [['server', 502, undefined]])
    if (strange) {
        for (const route of odd) check(`nginx, torture ${route}`, await fetched(front.port, `torture/${route}`), reframed(routes[route].fetch))
        const zipped = await lines(`${B}/interop-drive`, ['fetch', '--header', 'Accept-Encoding: gzip', `http://127.0.0.1:${front.port}/torture/sse`])
        check('nginx: it would compress if it were asked', zipped[0]?.headers?.['content-encoding'], 'gzip')
        await strange.stop()
    } else skip('torture through nginx', `${odd.length} routes: the server is not in SHARED`)
    await front.stop()
    await server.stop()
}
