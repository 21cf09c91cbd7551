// JSON Schema: the official suite (Debian's json-schema-test-suite: drafts 4, 6, 7) for all schemas that are made of what agent_schema_* knows, and
// ajv, draft 7 and 2020-12, for schemas and values that are made up here: both must find the same. What is left out is counted by its reason.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { B, check } from './tools.mjs'

const { AJV, SCHEMAS } = process.env
const ours = pairs => [...spawnSync(`${B}/interop-schema`, { input: pairs.map(([schema, value]) => JSON.stringify({ schema, value }) + '\n').join(''), maxBuffer: 1 << 28 }).stdout.toString()]

// ---- the official suite ----
const unknown = ['contains', 'uniqueItems', 'dependencies', '$id', 'id', 'format', 'contentMediaType', 'contentEncoding']
/** Why a group is left out, or nothing. */
function reason(file, group) {
    const text = JSON.stringify(group.schema)
    if (group.description === 'ref overrides any sibling keywords') return 'what stands beside $ref counts, as from 2019-09 on'
    if (/"(https?|urn):/.test(text)) return 'references elsewhere'
    return unknown.find(key => text.includes(`"${key}":`))
}
function suite(draft) {
    const left = {}, cases = []
    for (const file of readdirSync(`${SCHEMAS}/${draft}`).filter(f => f.endsWith('.json')).sort())
        for (const group of JSON.parse(readFileSync(`${SCHEMAS}/${draft}/${file}`))) {
            const why = reason(file, group)
            if (why) left[why] = (left[why] ?? 0) + group.tests.length
            else for (const test of group.tests) cases.push({ name: `${file}: ${group.description}: ${test.description}`, schema: group.schema, value: test.data, valid: test.valid })
        }
    const found = ours(cases.map(c => [c.schema, c.value]))
    check(`schema: the suite of ${draft}: ${cases.length} cases`, cases.filter((c, i) => found[i] !== (c.valid ? '1' : '0')).map(c => c.name), [])
    check(`schema: … are most of it`, cases.length > 250, true)
    console.log(`     left out of ${draft}: ${Object.entries(left).map(([why, n]) => `${n} ${why}`).join(', ')}`)
}
// ---- ajv ----
let state = 1
const chance = n => { state = (Math.imul(state, 1103515245) + 12345) >>> 0; return (state >>> 8) % n }
const one = list => list[chance(list.length)]
const scalar = () => one([null, true, false, 0, 1, 2, -1, 1.5, 3, 1e3, '', 'a', 'ab', 'b-1', '\u{1F600}', 'a b', 'abc'])
const key = () => one(['a', 'b', 'c', 'x-a', 'x-b', 'a b'])
function value(depth) {
    if (depth === 0 || chance(3) === 0) return scalar()
    if (chance(2)) return Array.from({ length: chance(4) }, () => value(depth - 1))
    return Object.fromEntries(Array.from({ length: chance(4) }, () => [key(), value(depth - 1)]))
}
const list = (depth, draft) => Array.from({ length: 1 + chance(3) }, () => schema(depth, draft))
const members = (depth, draft) => Object.fromEntries(Array.from({ length: 1 + chance(3) }, () => [key(), schema(depth, draft)]))
/** A few keywords. */
function schema(depth, draft) {
    if (chance(12) === 0) return chance(2) === 1
    const s = {}, sub = depth > 0
    const ways = [
        () => { s.type = one(['string', 'number', 'integer', 'boolean', 'null', 'array', 'object', ['string', 'null'], ['object', 'array', 'number']]) },
        () => { s.enum = [...new Set([scalar(), scalar(), 7])] }, () => { s.const = value(1) }, () => { s.minimum = one([0, 1, 1.5]) }, () => { s.maximum = one([1, 2]) },
        () => { s.exclusiveMinimum = one([0, 1]) }, () => { s.exclusiveMaximum = one([1, 3]) }, () => { s.multipleOf = one([1, 0.5, 2]) },
        () => { s.minLength = 1 + chance(2) }, () => { s.maxLength = chance(3) }, () => { s.pattern = one(['^a', 'b$', '^[a-z]*$', '\\d', '(a|b)+', '^.{1,2}$', '[^a]']) },
        () => { s.minItems = chance(3) }, () => { s.maxItems = chance(3) }, () => { s.minProperties = chance(3) }, () => { s.maxProperties = chance(3) },
        () => { s.required = [...new Set([key(), key()])] }, () => sub && (s.allOf = list(depth - 1, draft)), () => sub && (s.anyOf = list(depth - 1, draft)),
        () => sub && (s.oneOf = list(depth - 1, draft)), () => sub && (s.not = schema(depth - 1, draft)), () => sub && (s.properties = members(depth - 1, draft)),
        () => sub && (s.additionalProperties = schema(depth - 1, draft)), () => sub && (s.patternProperties = { '^x-': schema(depth - 1, draft), 'b$': schema(depth - 1, draft) }),
        () => sub && (s.propertyNames = schema(0, draft)), () => sub && (s.items = schema(depth - 1, draft)),
        () => sub && (draft === '7' ? (s.items = list(depth - 1, draft), chance(2) && (s.additionalItems = schema(depth - 1, draft))) : (s.prefixItems = list(depth - 1, draft))),
        () => sub && (s.if = schema(depth - 1, draft), s.then = schema(depth - 1, draft), chance(2) && (s.else = schema(depth - 1, draft))),
        () => { s.format = 'date'; s['x-own'] = 1 }, () => { s.$ref = one(['#/$defs/p', '#/$defs/q~1r']); if (draft === '7') for (const k in s) if (k !== '$ref') delete s[k] }]
    for (let i = 0; i < 1 + chance(3); i++) if (!('$ref' in s) || draft !== '7') one(ways)()
    return s
}
function against(draft, Ajv, count) {
    const ajv = new Ajv({ strict: false, validateFormats: false, logger: false, unicodeRegExp: true })
    const cases = []
    let stumbled = 0
    for (let i = 0; i < count; i++) {
        const root = schema(3, draft), s = typeof root === 'boolean' || (draft === '7' && root.$ref) ? { allOf: [root] } : root
        s.$defs = { p: schema(0, draft), 'q/r': { type: ['string', 'array', 'object'], items: { $ref: '#/$defs/p' } } }
        if (JSON.stringify(s.$defs.p).includes('$ref')) s.$defs.p = { type: 'number' }
        const validate = ajv.compile(s)
        for (let k = 0; k < 4; k++) {
            const v = value(3)
            try { cases.push({ s, v, valid: validate(v) }) } catch { stumbled++ }                   // its own code breaks on some of draft 2020-12
        }
    }
    const found = ours(cases.map(c => [c.s, c.v])), fit = cases.filter(c => c.valid).length
    check(`schema: as ajv finds, ${draft}: ${cases.length} values`, cases.filter((c, i) => found[i] !== (c.valid ? '1' : '0')).slice(0, 5), [])
    check(`schema: … of which ${fit} fit`, fit > cases.length / 10 && fit < cases.length * 0.9 && stumbled < count / 10, true)
}
export async function group() {
    if (SCHEMAS) for (const draft of ['draft4', 'draft6', 'draft7']) suite(draft)
    if (AJV) {
        const require = createRequire(`${AJV}/package.json`)
        against('7', require('ajv').default, 3000)
        against('2020-12', require('ajv/dist/2020').default, 3000)
    }
}
