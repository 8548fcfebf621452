// The table of frames is what the browser's codec reads and writes. docs/vectors/frame-types.json
import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {test} from 'node:test'
import {answerShapes, bodyShapes, eventNames, holds} from '../../Sources/RelayPage/client/body-shapes.js'
import {RelayError} from '../../Sources/RelayPage/client/errors.js'
import {layouts} from '../../Sources/RelayPage/client/frame-layouts.js'

const table = JSON.parse(readFileSync(new URL('../../docs/vectors/frame-types.json', import.meta.url), 'utf8'))
const rows = new Map(table.frames.map(row => [row.name, row]))

test('[FR4] frame types, kinds of bodies, fields and flags of the layouts are those of the table', () => {
  assert.deepEqual([...layouts.keys()].sort(), [...rows.keys()].sort())
  for (const [name, row] of rows) {
    const layout = layouts.get(name)
    assert.equal(layout.number, Number(row.number), name)
    assert.equal(layout.body, {binary: 'fields', raw: 'fields'}[row.body] ?? row.body, name)
    assert.equal(layout.allowed, Object.values(row.flags).reduce((all, flag) => all | flag, 0), name)
    for (const [flag, bit] of layout.flags) assert.equal(row.flags[flag], bit, `${name}: ${flag}`)
    if (row.body !== 'binary') continue
    // Here the count of `lost` belongs to its ranges, and changes are a payload.
    const line = (name, type, flag) => type === 'rest' ? 'the rest' : `${name} ${type} ${flag}`
    const fields = layout.fields.filter(({kind}) => kind !== 'extensions')
        .map(({name, kind, flag}) => line(name, wireType[kind] ?? kind, flag))
    const told = row.fields.filter(({name}) => name !== 'count').map(({name, type, flag}) => line(name, type, row.flags[flag] ?? 0))
    assert.deepEqual(fields, told, name)
  }
})

const wireType = {n: 'text8', s: 'text8', user: 'rest'}

/** A value of a type, at the end of what it may be. */
function sample(type, values, name) {
  if (type.startsWith('[')) return [sample(type.slice(1, -1))]
  if (type.startsWith('{')) return {a: sample(type.slice(1, -1))}
  switch (type) {
    case 'u16': return 65_535
    case 'u32': return 2 ** 32 - 1
    case 'u53': return Number.MAX_SAFE_INTEGER
    case 'bool': return true
    case 'text': return values?.[0] ?? (name === 'address' ? 'relay://[::1]:7420' : 'text')
    case 'name': return 'lesson'
    case 'kind': return 'stream'
    default: return whole(table.shapes[type])
  }
}
const whole = fields => Object.fromEntries(fields.map(({name, type, values}) => [name, sample(type, values, name)]))
const wrong = type => ['text', 'name', 'kind'].includes(type) ? 7 : 'text'

function checkShape(shape, fields, place) {
  const byName = new Map(fields.map(field => [field.name, field]))
  const body = whole(fields)
  holds(shape, body, place)
  // What a relay may leave out the client does not ask for.
  holds(shape, whole(fields.filter(field => !field.optional)), place)
  for (const name of shape.fields.map(field => field.replace('?', ''))) {
    const field = byName.get(name)
    assert.ok(field, `${place}: the table has no ${name}`)
    assert.throws(() => holds(shape, {...body, [name]: wrong(field.type)}, place), RelayError, `${place}: ${name} of another type`)
  }
}

test('[FR6, JS5] bodies and answers have the fields of the table, and their types', () => {
  for (const [name, shape] of Object.entries(bodyShapes)) checkShape(shape, rows.get(name).fields, name)
  for (const [name, shape] of Object.entries(answerShapes)) checkShape(shape, rows.get(name).answer, `answer to ${name}`)
  const looked = new Set(Object.keys(bodyShapes))
  const relays = table.frames.filter(({from, body}) => from === 'relay' && body !== 'binary').map(({name}) => name)
  assert.deepEqual(relays.filter(name => !looked.has(name)), [])
})

test('[FR6] names of events are those of the table', () => {
  const told = table.frames.map(({name, fields}) => [name, fields?.find(field => field.name === 'event')?.values])
      .filter(([, values]) => values)
  assert.deepEqual(Object.fromEntries(told), eventNames)
})
