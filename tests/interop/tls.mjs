// build/chat-tls against the TLS of others: node's (OpenSSL), nginx, openssl s_server; and through a proxy. Certificates are made here, for
// a day, by the openssl program.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createPlain } from 'node:http'
import { connect, createServer as createTcp } from 'node:net'
import { createServer } from 'node:tls'
import { desk } from './aimock.mjs'
import { B, check, freePort, joined, lines, serve, skip, start, wait } from './tools.mjs'

const folder = `${B}/interop/tls.d`
export const openssl = spawnSync('openssl', ['version']).status === 0

// ---- certificates ----
function make(...args) {
    const done = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8' })
    if (done.status !== 0) throw new Error(`openssl ${args.join(' ')}: ${done.stderr}`)
}
const key = name => make('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', `${name}.key`)
function authority(name) {
    key(name)
    make('req', '-x509', '-new', '-key', `${name}.key`, '-subj', `/CN=${name}`, '-days', '2', '-out', `${name}.pem`)
}
/** An openssl ca with dates of its own: `from` and `to` as YYMMDDHHMMSSZ. */
function certificate(name, names, { by = 'ca', from, to } = {}) {
    key(name)
    make('req', '-new', '-key', `${name}.key`, '-subj', `/CN=${name}`, '-out', `${name}.csr`)
    writeFileSync(`${folder}/${name}.ext`, `subjectAltName=${names}\nextendedKeyUsage=serverAuth,clientAuth\n`)
    if (!from) return make('x509', '-req', '-in', `${name}.csr`, '-CA', `${by}.pem`, '-CAkey', `${by}.key`, '-CAcreateserial', '-days', '1', '-extfile', `${name}.ext`, '-out', `${name}.pem`)
    writeFileSync(`${folder}/${name}.db`, '')
    writeFileSync(`${folder}/${name}.serial`, '77\n')
    writeFileSync(`${folder}/${name}.cnf`, `[ca]\ndefault_ca=d\n[d]\ndatabase=${name}.db\nserial=${name}.serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n`)
    make('ca', '-batch', '-config', `${name}.cnf`, '-cert', `${by}.pem`, '-keyfile', `${by}.key`, '-in', `${name}.csr`, '-startdate', from, '-enddate', to,
        '-extfile', `${name}.ext`, '-notext', '-out', `${name}.pem`)
}
function certificates() {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    authority('ca')
    authority('stranger')
    certificate('good', 'DNS:localhost,DNS:model.test,IP:127.0.0.1')
    certificate('named', 'DNS:localhost')
    certificate('other', 'DNS:other.test,IP:127.0.0.2')
    certificate('unknown', 'DNS:localhost', { by: 'stranger' })
    certificate('expired', 'DNS:localhost', { from: '200101000000Z', to: '210101000000Z' })
    certificate('early', 'DNS:localhost', { from: '480101000000Z', to: '490101000000Z' })
    key('own')
    make('req', '-x509', '-new', '-key', 'own.key', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '1', '-out', 'own.pem')
}
const pair = name => ({ key: readFileSync(`${folder}/${name}.key`), cert: readFileSync(`${folder}/${name}.pem`) })

// ---- a model ----
const event = value => `data: ${JSON.stringify(value)}\n\n`
const story = event({ choices: [{ delta: { content: 'Grüße, ' } }] }) + event({ choices: [{ delta: { content: 'Welt.' } }] })
    + event({ choices: [{ delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 3, completion_tokens: 2 } }) + 'data: [DONE]\n\n'
const head = more => `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n${more}\r\n\r\n`
const told = `${head(`Content-Length: ${Buffer.byteLength(story)}`)}${story}`
/** Answers each request of a connection by `tell(socket)`, TLS or not. */
function speak(server, tell) {
    const seen = { connections: 0, requests: 0, alpn: [], names: [] }
    server.on('tlsClientError', () => {}).on(server.setSecureContext ? 'secureConnection' : 'connection', socket => {
        let bytes = Buffer.alloc(0)
        seen.connections++
        seen.alpn.push(socket.alpnProtocol)
        seen.names.push(socket.servername)
        socket.setNoDelay(true).on('error', () => {}).on('data', more => {
            bytes = Buffer.concat([bytes, more])
            const end = bytes.indexOf('\r\n\r\n'), length = /content-length: (\d+)/i.exec(bytes.toString('latin1'))
            if (end < 0 || bytes.length < end + 4 + Number(length?.[1] ?? 0)) return
            bytes = Buffer.alloc(0)
            seen.requests++
            tell(socket, seen.requests)
        })
    })
    return new Promise(done => server.listen(0, '127.0.0.1', () => done({ port: server.address().port, seen, stop: () => server.close() })))
}
const whole = socket => socket.write(told)
async function slowly(socket) {               // a record a byte
    for (const byte of Buffer.from(told)) { socket.write(Buffer.from([byte])); await new Promise(setImmediate) }
}
const ask = (base, { ca = 'ca', program = 'chat-tls', env = {}, ...options } = {}) => lines(`${B}/${program}`, ['--json', '--set', 'max_retries=0', '--base-url', base, '--model', 'm'],
    { cwd: desk, input: 'hello\n', ...options, env: { PATH: process.env.PATH, OPENAI_API_KEY: 'sk-secret-1', SSL_CERT_FILE: `${folder}/${ca}.pem`, ...env } })
const wrong = all => [all.find(line => line.ev === 'error')?.message, all.at(-1).exit]

async function goodOnes() {
    const plain = await speak(createTcp(), whole), secure = await speak(createServer({ ...pair('good'), ALPNProtocols: ['http/1.1'] }), whole)
    const bytes = await speak(createServer(pair('good')), slowly)
    const wanted = joined(await ask(`http://127.0.0.1:${plain.port}/v1`, { program: 'chat' }))
    check('tls: plain, to compare with', wanted.some(line => line.text === 'Grüße, Welt.'), true)
    check('tls: the same over TLS, by name', joined(await ask(`https://localhost:${secure.port}/v1`)), wanted)
    check('tls: ALPN and SNI', [secure.seen.alpn, secure.seen.names], [['http/1.1'], ['localhost']])
    check('tls: the same over TLS, by address', joined(await ask(`https://127.0.0.1:${secure.port}/v1`)), wanted)
    check('tls: no SNI for an address', secure.seen.names[1], false)
    check('tls: the same, a record a byte', joined(await ask(`https://localhost:${bytes.port}/v1`)), wanted)
    const before = secure.seen.connections
    const twice = await ask(`https://localhost:${secure.port}/v1`, { input: 'hello\nand again\n' })
    check('tls: kept alive', [twice.filter(line => line.ev === 'run_end').length, twice.at(-1).exit, secure.seen.connections - before], [2, 0, 1])
    const big = await speak(createServer(pair('good')), whole)
    check('tls: a request of a megabyte', (await ask(`https://localhost:${big.port}/v1`, { input: `${'long '.repeat(200000)}\n` })).at(-1).exit, 0)
    for (const server of [plain, secure, bytes, big]) server.stop()
}
async function badCertificates() {
    const cases = {
        named: ['https://127.0.0.1', 'the certificate is for another host'], other: ['https://localhost', 'the certificate is for another host'],
        unknown: ['https://localhost', 'the certificate is not signed by an authority that is trusted'], own: ['https://localhost', 'the certificate is not signed by an authority that is trusted'],
        expired: ['https://localhost', 'the certificate has expired'], early: ['https://localhost', 'the certificate is not valid yet'],
    }
    for (const [name, [base, why]] of Object.entries(cases)) {
        const server = await speak(createServer(pair(name)), whole)
        check(`tls: certificate ${name}`, wrong(await ask(`${base}:${server.port}/v1`)), [why, 1])
        check(`tls: certificate ${name}, no request was sent`, server.seen.requests, 0)
        server.stop()
    }
    const server = await speak(createServer(pair('good')), whole)
    check('tls: no authorities', wrong(await ask(`https://localhost:${server.port}/v1`, { ca: 'nobody' })), ['certificates of authorities are needed', 1])
    server.stop()
}
async function refusals() {
    const asks = await speak(createServer({ ...pair('good'), ca: readFileSync(`${folder}/ca.pem`), requestCert: true, rejectUnauthorized: true, maxVersion: 'TLSv1.2' }), whole)
    check('tls: a client certificate is wanted', (await ask(`https://localhost:${asks.port}/v1`)).at(-1).exit, 1)
    check('tls: a client certificate is wanted, no request was sent', asks.seen.requests, 0)
    const old = await speak(createServer({ ...pair('good'), minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }), whole)
    check('tls: TLS 1.1 only', (await ask(`https://localhost:${old.port}/v1`)).at(-1).exit, 1)
    const none = await speak(createTcp(), whole)
    check('tls: no TLS at all', (await ask(`https://localhost:${none.port}/v1`, { seconds: 5 })).at(-1).exit !== 0, true)
    for (const server of [asks, old, none]) server.stop()
}
/** A wire that is cut after so many bytes of ciphertext from the server, without TLS's leave. */
async function wire(to, most) {
    let past = 0
    const server = createTcp(client => {
        const up = connect(to, '127.0.0.1')
        client.on('error', () => up.destroy()).pipe(up)
        up.on('error', () => client.destroy()).on('data', bytes => {
            past += bytes.length
            client.write(past > most ? bytes.subarray(0, Math.max(0, bytes.length - (past - most))) : bytes)
            if (past >= most) { client.end(); up.destroy() }
        })
    })
    await new Promise(done => server.listen(0, '127.0.0.1', done))
    return { port: server.address().port, stop: () => server.close() }
}
async function cuts() {
    const open = socket => socket.write(`${head('Connection: close')}${story.slice(0, story.indexOf('data: [DONE]'))}`)       // until close: only close_notify tells its end
    const unfinished = socket => socket.write(`${head('Connection: close')}${story.slice(0, story.indexOf('\n\n') + 2)}`)
    const loose = await speak(createServer(pair('good')), socket => { unfinished(socket); setTimeout(() => socket.end(), 50) })
    check('tls: an answer that ends too early, by close_notify', wrong(await ask(`https://localhost:${loose.port}/v1`)), ['the answer ended without a terminal signal', 1])
    const fine = await speak(createServer(pair('good')), socket => { open(socket); setTimeout(() => socket.end(), 50) })
    check('tls: an answer until close_notify', (await ask(`https://localhost:${fine.port}/v1`)).at(-1).exit, 0)
    const silent = await speak(createServer(pair('good')), unfinished)
    for (const most of [1, 300, 2000]) {
        const cutter = await wire(silent.port, most)
        const [why, exit] = wrong(await ask(`https://localhost:${cutter.port}/v1`, { seconds: 10 }))
        if (most < 2000) check(`tls: cut after ${most} bytes`, [/cut|close_notify|TLS/.test(why ?? ''), exit], [true, 1])
        cutter.stop()
    }
    const after = await speak(createServer(pair('good')), socket => { unfinished(socket); setTimeout(() => socket.destroy(), 100) })
    check('tls: cut in mid-answer, without close_notify', wrong(await ask(`https://localhost:${after.port}/v1`)), ['the connection was cut: it ended without TLS\'s close_notify', 1])
    for (const server of [loose, fine, silent, after]) server.stop()
}
async function others() {
    const port = await freePort()
    const server = start('openssl', ['s_server', '-quiet', '-accept', `127.0.0.1:${port}`, '-cert', 'good.pem', '-key', 'good.key'], { cwd: folder })
    await wait(300)
    server.stdin.write(told)                  // for whoever connects
    check('tls: openssl s_server', joined(await ask(`https://localhost:${port}/v1`)).some(line => line.text === 'Grüße, Welt.'), true)
    server.kill('SIGKILL')
    await server.ended
}
async function behindNginx() {
    const model = await speak(createTcp(), whole)
    mkdirSync(`${folder}/nginx`, { recursive: true })
    const server = await serve(port => {
        writeFileSync(`${folder}/nginx.conf`, `daemon off;\nmaster_process off;\npid "${folder}/nginx/pid";\nerror_log "${folder}/nginx/error.log";\nevents {}\nhttp {\n  access_log off;\n`
            + `  client_body_temp_path "${folder}/nginx/b"; proxy_temp_path "${folder}/nginx/p"; fastcgi_temp_path "${folder}/nginx/f"; uwsgi_temp_path "${folder}/nginx/u"; scgi_temp_path "${folder}/nginx/s";\n`
            + `  server { listen 127.0.0.1:${port} ssl; ssl_certificate "${folder}/good.pem"; ssl_certificate_key "${folder}/good.key"; location / { proxy_pass http://127.0.0.1:${model.port}; } }\n}\n`)
        return [process.env.NGINX, ['-p', folder, '-c', `${folder}/nginx.conf`]]
    })
    const all = await ask(`https://localhost:${server.port}/v1`, { input: 'hello\nand again\n' })
    check('tls: nginx, kept alive', [all.filter(line => line.ev === 'run_end').length, all.at(-1).exit], [2, 0])
    await server.stop()
    model.stop()
}
// ---- proxies ----
async function proxies() {
    const secure = await speak(createServer(pair('good')), whole), plain = await speak(createTcp(), whole)
    const seen = []
    let status = 200
    const proxy = createPlain().on('connect', (request, client) => {
        seen.push([request.url, request.headers['proxy-authorization']])
        if (status !== 200) return client.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`)
        const up = connect(request.url.endsWith(':443') ? secure.port : plain.port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'))
        client.on('error', () => up.destroy()).pipe(up)
        up.on('error', () => client.destroy()).pipe(client)
    })
    await new Promise(done => proxy.listen(0, '127.0.0.1', done))
    const at = `127.0.0.1:${proxy.address().port}`
    const good = all => [all.some(line => line.text), all.at(-1).exit]
    check('proxy: https by CONNECT', good(await ask('https://model.test/v1', { env: { https_proxy: `http://${at}` } })), [true, 0])
    check('proxy: what it is asked', seen.pop(), ['model.test:443', undefined])
    check('proxy: http too', good(await ask('http://model.test:8080/v1', { env: { http_proxy: at } })), [true, 0])
    check('proxy: HTTP_PROXY is not heeded', (await ask('http://model.test:8080/v1', { env: { HTTP_PROXY: at } })).at(-1).exit, 1)
    seen.length = 0
    const login = await ask('https://model.test/v1', { env: { ALL_PROXY: `http://me:p%40ss@${at}` } })
    check('proxy: with a password', [good(login), seen.pop()], [[true, 0], ['model.test:443', `Basic ${Buffer.from('me:p@ss').toString('base64')}`]])
    check('proxy: the password is not shown', JSON.stringify(login).includes('p@ss') || JSON.stringify(login).includes('p%40ss'), false)
    for (status of [403, 407]) check(`proxy: it refuses with ${status}`, wrong(await ask('https://model.test/v1', { env: { https_proxy: `http://${at}` } })), [`the proxy refused: ${status} No`, 1])
    status = 200
    seen.length = 0
    for (const list of ['model.test', '.test', '*', 'a.test, model.test:443'])
        check(`proxy: no_proxy ${list}`, [(await ask('https://model.test/v1', { env: { https_proxy: `http://${at}`, no_proxy: list } })).at(-1).exit, seen.length], [1, 0])
    check('proxy: no_proxy of others', good(await ask('https://model.test/v1', { env: { https_proxy: `http://${at}`, no_proxy: 'el.test,model.test:80' } })), [true, 0])
    check('proxy: this machine is not behind it', good(await ask(`https://localhost:${secure.port}/v1`, { env: { https_proxy: 'http://127.0.0.1:1' } })), [true, 0])
    check('proxy: another kind', wrong(await ask('https://model.test/v1', { env: { https_proxy: 'socks5://127.0.0.1:1' } })), ['the proxy\'s URL is none of http://[USER:PASSWORD@]HOST[:PORT]', 1])
    proxy.close()
    secure.stop()
    plain.stop()
}
async function inside() {
    if (!existsSync(`${B}/interop-tls-inside`)) return skip('tls inside', 'this mbedTLS has no certificates for tests')
    const all = await lines(`${B}/interop-tls-inside`, [])
    check('tls: the part alone, cut and changed at each byte', [/^tls_inside: \d+ passed, 0 failed$/.test(all[0]?.unreadable), all.at(-1).exit], [true, 0])
}
export async function group() {
    certificates()
    await inside()
    await goodOnes()
    await badCertificates()
    await refusals()
    await cuts()
    await others()
    if (process.env.NGINX) await behindNginx(); else skip('tls behind nginx', 'nginx is not installed')
    await proxies()
    await wait(0)
}
