// What TypeScript makes of the client: its declarations are what the modules really have, the examples and the guide are right by
// them, and what is wrong is an error.
import assert from 'node:assert/strict'
import {cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {after, test} from 'node:test'
import {fileURLToPath} from 'node:url'
import * as client from '../../Sources/RelayPage/relay-client.js'
import {everything, optionCalls, optionsOf} from './support/surface.mjs'
import {faults, skip, typescript} from './support/typescript.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const source = join(root, 'Sources/RelayPage')
const folder = mkdtempSync(join(tmpdir(), 'relay-types-'))
after(() => rmSync(folder, {recursive: true, force: true}))

// MARK: Declarations and modules

/** What is there for the client's own modules, by class; it is in no declaration. */
const inner = {
  RelayClient: 'Channel Newest Picture act all append ask carryOut closeLink codes contentsOf deadline goOn handles held heldBytes '
    + 'identify keepUser left leftTopics links lockUses machine nextReceipt noted open passed reach read readers receipts renewByItself request '
    + 'restore start subscribe take teller token told transport unreadProblems userContents',
  Channel: 'read state',
  Board: 'change channel client complete',
  Batch: 'changes',
  Presence: 'channel place request',
  Metadata: 'cell client follow place unfollow user write',
  PersonMetadata: 'cell client place user write',
  Lock: 'channel client giveBack kept place request settle use',
  Topic: 'channel client enter hold letGo request',
  Publisher: 'topic',
  Person: 'client',
  Moderation: 'client decide setMode tells',
  Events: 'close cursor ended release shell',
  Latest: 'cell ended make release version',
  Receipt: 'asked promises',
  StoredReceipt: 'asked promises',
}

const sorted = names => [...new Set(names)].sort()

/** The names that an object has, itself and from its classes. */
function membersOf(object) {
  const names = []
  for (let at = object; at && at !== Object.prototype && at !== Error.prototype; at = Object.getPrototypeOf(at)) {
    names.push(...Object.getOwnPropertyNames(at))
  }
  return sorted(names.filter(name => !['constructor', 'stack', 'message'].includes(name)))
}

let declarations
/** The declarations, as the compiler reads them, once. */
const declared = () => declarations ??= readDeclarations()

function readDeclarations() {
  const ts = typescript()
  const file = join(source, 'relay-client.d.ts')
  const program = ts.createProgram([file], {strict: true, lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'], types: []})
  const checker = program.getTypeChecker()
  const names = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)))
  const symbols = new Map(names.map(symbol => [symbol.name, symbol]))
  const types = new Map(names.map(symbol => [symbol.name, checker.getDeclaredTypeOfSymbol(symbol)]))
  /** The names and types of its members. */
  const members = name => checker.getPropertiesOfType(types.get(name))
    .filter(({name, declarations: [{parent}]}) => !name.startsWith('__@') && parent.name?.text !== 'Error')
  const optionsOfSignature = ([{parameters}]) => {
    const options = parameters.find(({name}) => name === 'options')
    return options && checker.getTypeOfSymbolAtLocation(options, options.valueDeclaration)
  }
  /** The names of the options that a call has; `undefined` without any. */
  const options = (type, call) => {
    const made = checker.getTypeOfSymbolAtLocation(symbols.get(type), symbols.get(type).valueDeclaration)
    const method = checker.getPropertyOfType(call === 'withClient' ? made : types.get(type), call)
    const signatures = call === 'constructor' ? made.getConstructSignatures()
      : checker.getTypeOfSymbolAtLocation(method, method.valueDeclaration).getCallSignatures()
    const found = optionsOfSignature(signatures)
    return found && sorted(checker.getPropertiesOfType(checker.getNonNullableType(found)).map(({name}) => name))
  }
  return {ts, checker, symbols, members, options}
}

test('what is declared is exported, and what is exported is declared', {skip}, () => {
  const {ts, checker, symbols} = declared()
  const values = [...symbols.values()].filter(({flags}) => flags & ts.SymbolFlags.Value)
  assert.deepEqual(values.map(({name}) => name).sort(), Object.keys(client).sort())
  const {valueDeclaration} = symbols.get('ErrorCode')
  const codes = checker.getTypeOfSymbolAtLocation(symbols.get('ErrorCode'), valueDeclaration).getProperties()
      .map(code => [code.name, checker.getTypeOfSymbolAtLocation(code, valueDeclaration).value])
  assert.deepEqual(Object.fromEntries(codes), {...client.ErrorCode})
})

test('the members of each class are those that are declared, and those that are for the modules alone', {skip}, () => {
  const {ts, members} = declared()
  for (const [name, object] of Object.entries(everything())) {
    const found = members(name)
    const hidden = inner[name]?.split(' ') ?? []
    const names = found.map(({name}) => name)
    assert.deepEqual(names.filter(one => hidden.includes(one)), [], `${name}: declared, and for the modules alone`)
    assert.deepEqual(sorted([...names, ...hidden]), membersOf(object), name)
    for (const {name: member, flags} of found) {
      const isMethod = Boolean(flags & ts.SymbolFlags.Method)
      assert.equal(typeof object[member] === 'function', isMethod, `${name}.${member}`)
    }
  }
})

test('the options of each call are those that are declared, and no call that has some is left out', {skip}, async () => {
  const {ts, members, options} = declared()
  const calls = optionCalls()
  for (const {name, call} of calls) {
    const {names} = await optionsOf(call)
    assert.deepEqual(options(...name.split('.')), sorted(names), name)
  }
  const known = new Set(calls.map(({name}) => name))
  for (const type of Object.keys(everything())) {
    for (const {name, flags} of members(type)) {
      if (!(flags & ts.SymbolFlags.Method) || ['Events', 'Latest'].includes(type)) continue
      assert.equal(options(type, name) !== undefined, known.has(`${type}.${name}`), `${type}.${name}`)
    }
  }
})

// MARK: Programs of apps

/** A file of the folder, and where it is. */
function written(name, text) {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

/** The client as an app has copied it. */
for (const name of ['relay-client.d.ts', 'relay-client.js']) cpSync(join(source, name), join(folder, name))
cpSync(join(source, 'client'), join(folder, 'client'), {recursive: true})

/** What the guide and its examples leave to the app, and what Node has. */
const appsOwn = () => written('own.d.ts', `
  declare function draw(...values: unknown[]): void
  ${['BoardError', 'Ban', 'Board', 'Code', 'Conflict', 'Error', 'Frozen', 'Link', 'Live', 'Locked', 'Members', 'Pen', 'People', 'Problem',
    'Progress', 'Sent', 'Stroke', 'Title', 'User'].map(name => `declare function show${name}(...values: unknown[]): void`).join('\n')}
  declare function drawLive(publisher: string, payload: string | Uint8Array): void
  declare function drawStroke(key: string, payload: string | Uint8Array | undefined): void
  declare function keepInvitation(key: string | undefined, channel: string | undefined): void
  declare function expectEqual(found: unknown, wanted: unknown): void
  declare const pad: {
    onpoint(point: string): void, onstroke(key: string, stroke: string): unknown, onerase(key: string): unknown
  }
  declare module 'node:crypto'
  declare module 'node:fs'
  declare module 'node:net' {
    export function connect(port: number, host: string): {
      on(event: 'connect' | 'close', done: () => void): void, on(event: 'data', done: (bytes: Uint8Array) => void): void
      on(event: 'error', done: (error: Error) => void): void
      write(bytes: Uint8Array): void, writableLength: number, destroy(): void, pause(): void, resume(): void
    }
  }
`)

/** As much of React's types as the hook uses: nothing here has seen React itself. */
const react = `declare module 'react' {
  export function useState<State>(first: State): [State, (next: State | ((before: State) => State)) => void]
  export function useEffect(effect: () => void | (() => void), dependencies?: readonly unknown[]): void
}`

/** Without types a function takes anything: these have the types that callers of the client in TypeScript give them. */
const typed = code => code
  .replace(/^(?=const (each|follow) = async)/m,
      '/** @type {<Value>(reader: AsyncIterable<Value>, show: (value: Value) => unknown) => Promise<void>} */\n')
  .replace(/^(?=const overTCP = )/m, "/** @type {import('./relay-client.js').Transport} */\n")

test('the guide and the examples are right by the declarations, strictly', {skip}, () => {
  const page = readFileSync(join(root, 'docs/javascript.md'), 'utf8')
  const guide = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code).join('\n')
  const examples = readdirSync(join(root, 'docs/examples')).filter(name => /\.m?js$/.test(name))
  assert.ok(guide.length > 3_000 && examples.length >= 6)
  const files = [written('guide.js', typed(guide)), written('react.d.ts', react)]
  for (const name of examples) files.push(written(name, typed(readFileSync(join(root, 'docs/examples', name), 'utf8'))))
  files.push(written('use-board.ts', readFileSync(join(root, 'docs/examples/use-board.ts'), 'utf8')))
  assert.deepEqual(faults(typescript(), [appsOwn(), ...files]), [])
})

test('what is right is no error, what is wrong is one: unknown options and calls, wrong values', {skip}, () => {
  const files = ['right.ts', 'wrong.ts'].map(name => {
    const text = readFileSync(join(root, 'Tests/Page/types', name), 'utf8')
    return written(name, text.replaceAll("'../../../Sources/RelayPage/relay-client.js'", "'./relay-client.js'"))
  })
  assert.deepEqual(faults(typescript(), files), [])
})
