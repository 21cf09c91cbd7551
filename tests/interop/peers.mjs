// peers.mjs GROUP…: runs the groups of `make interop`, a line a check. run.sh starts it and says where things are:
// B, SHARED, AIMOCK (the folder of the package), NGINX (the program), TLS (build/chat-tls is there), SDKS (where the
// official SDKs are), SCHEMAS (the tests of the JSON Schema suite), AJV (its folder); what is empty is not to be had.
import * as aimock from './aimock.mjs'
import * as formats from './formats.mjs'
import * as nginx from './nginx.mjs'
import * as retries from './retries.mjs'
import * as schema from './schema.mjs'
import * as sdks from './sdks.mjs'
import * as tenSteps from './ten_steps.mjs'
import * as tls from './tls.mjs'
import * as torture from './torture.mjs'
import { skip, sum } from './tools.mjs'

const { AIMOCK, AJV, NGINX, SCHEMAS, SDKS, SHARED, TLS } = process.env
const groups = {
    aimock: { lacks: !AIMOCK && 'the package could not be installed', run: aimock.group },
    formats: { lacks: !AIMOCK && 'aimock is not there', run: formats.group },
    retries: { lacks: !AIMOCK && 'aimock is not there', run: retries.group },
    schema: { lacks: !SCHEMAS && !AJV && 'neither the official suite nor ajv could be had', run: schema.group },
    sdks: { lacks: !AIMOCK ? 'aimock is not there' : !SDKS && 'the SDKs could not be installed', run: sdks.group },
    ten_steps: { lacks: !AIMOCK && 'aimock is not there', run: tenSteps.group },
    torture: { lacks: !torture.torture && `${Object.keys(torture.routes).length} routes: their server is not in ${SHARED}`, run: torture.group },
    tls: { lacks: !TLS ? 'mbedTLS\'s headers are not installed' : !tls.openssl && 'there is no openssl', run: tls.group },
    nginx: { lacks: !NGINX ? 'nginx is not installed' : !AIMOCK && 'aimock is not there', run: nginx.group },
}
const named = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(groups)
aimock.makeDesk()
for (const name of named) {
    const group = groups[name]
    if (!group) { sum.failed++; console.log(`FAIL ${name}: no such group; there are ${Object.keys(groups).join(', ')}`); continue }
    if (group.lacks) { skip(name, group.lacks); continue }
    try { await group.run() } catch (error) { sum.failed++; console.log(`FAIL ${name}: ${error.stack}`) }
}
console.log(`${sum.passed} passed, ${sum.failed} failed${sum.skipped ? `, ${sum.skipped} skipped` : ''}`)
process.exit(sum.failed ? 1 : 0)
