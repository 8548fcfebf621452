// What a page pays for the module: served without comments, indentation and what the whiteboard does not use it is the same program,
// shown by running the other tests on it.
import assert from 'node:assert/strict'
import {spawnSync} from 'node:child_process'
import {cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {test} from 'node:test'
import {fileURLToPath} from 'node:url'
import {forWhiteboard, join as joinLines, squeeze, strip, styleOf, unsafeLines, withoutRegions} from './support/strip.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = 'Sources/RelayPage'
const file = `${folder}/relay-client.js`
const source = readFileSync(join(root, file), 'utf8')
const modules = readdirSync(join(root, folder)).filter(name => name.endsWith('.js') && name !== 'relay-client.js')

/** Uncompressed: index.html, the style, the modules and the client. */
const loadedBytesMax = 152_000

test('what is left out line by line is comments and blanks, and nothing else', () => {
  const text = '// a\nconst a = 1 // kept\n/** b */\n/**\n * c\n *\n */\nfunction f(/** @type {x} */ b) {\n  // d\n\n  return a // 1\n}\n'
  assert.equal(strip(text), 'const a = 1 // kept\nfunction f(/** @type {x} */ b) {\nreturn a // 1\n}\n')
  assert.deepEqual(unsafeLines(text), [])
  for (const unsafe of ['/** a */ f()', '/**\n * a */ f()', 'f() /* a\n */', 'f() /**\n*/', '/**', 'const a = `x\n// y`', "const a = 'x\\\n// y'"]) {
    assert.notDeepEqual(unsafeLines(unsafe), [], unsafe)
  }
  assert.deepEqual(unsafeLines(source), [])
})

test('regions are left out from mark to mark, and nothing else', () => {
  const text = 'a\n  // #region x\nb\n// c\n  // #endregion\nd\n\n// #region y\n// #endregion\n// #regional\ne\n'
  assert.equal(withoutRegions('a\n// #region x\nb\n// #endregion\nc'), 'a\nc')
  assert.equal(forWhiteboard(text.replace('// #regional\n', '')), 'a\nd\ne\n')
  const marks = [...source.matchAll(/^ *\/\/ #(region \w.*|endregion)$/gm)].map(([, mark]) => mark)
  assert.ok(marks.length > 20 && marks.every((mark, at) => mark.startsWith('region') === (at % 2 === 0)) && marks.length % 2 === 0, 'each begins behind the end of the one before')
  assert.equal(source.match(/#(end)?region/g).length, marks.length + 2, 'all are lines of their own, but for the two that the rule names')
  for (const name of modules) assert.doesNotMatch(readFileSync(join(root, folder, name), 'utf8'), /#region/, name)
})

/** Lines as they stand and as they are loaded; PageTests.swift has the same. */
const squeezed = [
  [String.raw`const {a, b} = c(d, [e])`, String.raw`const{a,b}=c(d,[e])`],
  [String.raw`x => !y && z ?? w`, String.raw`x=> !y&&z??w`],
  [String.raw`a + +b - -c`, String.raw`a+ +b- -c`],
  [String.raw`a ? .5 : b = !c`, String.raw`a? .5:b= !c`],
  [String.raw`1 .x`, String.raw`1 .x`],
  [String.raw`return 'a = b' + "c ( d"`, String.raw`return 'a = b'+"c ( d"`],
  ['f(`a = ${b + c}`, d)', 'f(`a = ${b + c}`,d)'],
  ['f(`a ${`b = c`} = d`, e)', 'f(`a ${`b = c`} = d`, e)'],
  [String.raw`a = b / c`, String.raw`a = b / c`],
  [String.raw`import {a, b} from './c.js'`, String.raw`import{a,b}from './c.js'`],
  [String.raw`f('/', a / b)`, String.raw`f('/', a / b)`],
  [String.raw`a = 'b\' = c'`, String.raw`a = 'b\' = c'`],
  [String.raw`async *pages (x) {`, String.raw`async*pages(x){`],
  [String.raw`let a  = b`, String.raw`let a  =b`],
]

/** Lines one below the other, as they are loaded; PageTests.swift has the same. */
const joined = [
  ['f(a,\nb,\n[\nc\n]\n)\nd', 'f(a,b,[c])\nd'],
  ['if(a){\nreturn\n}\nb\n(c)', 'if(a){return}\nb\n(c)'],
  ['a = b / c // {\n}', 'a = b / c // {\n}'],
  ["a='\\'('\n)", "a='\\'('\n)"],
  ['f(){', 'f(){'],
]

test('blanks and ends of lines that part no two tokens are left out, and in quotes none: all modules stay the same trees', () => {
  for (const [line, loaded] of squeezed) assert.equal(squeeze(line), loaded)
  for (const [lines, loaded] of joined) assert.equal(joinLines(lines.split('\n')), `${loaded}\n`)
  // Node's own parser says what a module is, without the places.
  const script = `const {parse} = require('internal/deps/acorn/acorn/dist/acorn')
    const tree = text => JSON.stringify(parse(text, {ecmaVersion: 'latest', sourceType: 'module'}), (key, value) => key === 'start' || key === 'end' ? undefined : value)
    for (const [name, ...texts] of JSON.parse(require('fs').readFileSync(0, 'utf8'))) console.log(name, new Set(texts.map(tree)).size)`
  const texts = modules.concat('relay-client.js').map(name => {
    const text = withoutRegions(readFileSync(join(root, folder, name), 'utf8'))
    return [name, text, strip(text), forWhiteboard(text)]
  })
  const compare = input => spawnSync(process.execPath, ['--expose-internals', '--eval', script], {input: JSON.stringify(input), encoding: 'utf8'}).stdout.trim()
  assert.equal(compare([['other', 'a = b + c', 'a = b - c']]), 'other 2')
  assert.deepEqual(compare(texts).split('\n'), texts.map(([name]) => `${name} 1`))
})

test('a style’s lines all end where a line’s end means nothing', () => {
  const styles = readdirSync(join(root, folder)).filter(name => name.endsWith('.css'))
  assert.ok(styles.length > 1)
  for (const name of styles) {
    const text = strip(readFileSync(join(root, folder, name), 'utf8'))
    assert.deepEqual(text.split('\n').filter(line => !/(^|[{},;])$/.test(line)), [], name)
    assert.equal(styleOf(text).includes('\n'), false)
  }
})

test(`all that the whiteboard loads has at most ${loadedBytesMax} bytes`, context => {
  const sizes = readdirSync(join(root, folder)).filter(name => /\.(js|css|html)$/.test(name) && !name.startsWith('status')).map(name => {
    const text = readFileSync(join(root, folder, name), 'utf8')
    return [name, Buffer.byteLength(name.endsWith('.js') ? forWhiteboard(text) : name.endsWith('.css') ? styleOf(text) : strip(text))]
  })
  const bytes = sizes.reduce((sum, [, size]) => sum + size, 0)
  context.diagnostic(`${sizes.map(words => words.join(' ')).join(', ')}: ${bytes} bytes`)
  assert.ok(bytes <= loadedBytesMax, `${bytes} bytes`)
})

/** The module stripped by a rule, with the tests that need no relay, in a folder of their own. @returns what node says of them */
function runOn(text, client) {
  const place = mkdtempSync(join(tmpdir(), 'relay-served-'))
  try {
    for (const part of [folder, 'Tests/Page', 'docs/vectors']) cpSync(join(root, part), join(place, part), {recursive: true})
    writeFileSync(join(place, file), text)
    for (const name of modules) writeFileSync(join(place, folder, name), forWhiteboard(readFileSync(join(root, folder, name), 'utf8')))
    // The relay's side of the tests speaks all of the protocol.
    writeFileSync(join(place, folder, 'whole-client.js'), source)
    const codec = join(place, 'Tests/Page/support/codec.mjs')
    writeFileSync(codec, readFileSync(codec, 'utf8').replace('/relay-client.js', '/whole-client.js'))
    const tests = ['vectors', 'machine-link', 'machine-messages', 'machine-session', 'machine-moderation', 'outbox', 'hostile', 'page-format', 'page-parts', 'page-identity', 'page-session'].map(name => `Tests/Page/${name}.test.mjs`)
    // A runner of its own, not a part of this one.
    const {NODE_TEST_CONTEXT, ...env} = process.env
    const {status, stdout} = spawnSync(process.execPath, ['--test', '--test-reporter=tap', ...tests], {cwd: place, timeout: 600_000, encoding: 'utf8', env: {...env, RELAY_CLIENT: client}})
    assert.equal(status, 0, stdout)
    const count = what => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(stdout)?.[1])
    return {passed: count('pass'), skipped: [...stdout.matchAll(/^ok .*# SKIP (.*)$/gm)].map(([, why]) => why)}
  } finally {
    rmSync(place, {recursive: true, force: true})
  }
}

test('without comments and indentation it is the same program', () => {
  assert.ok(runOn(strip(source), 'whole').passed >= 95)
})

test('as the whiteboard loads it, it does the rest as before', context => {
  const text = forWhiteboard(source)
  const bytes = Buffer.byteLength(text)
  context.diagnostic(`relay-client.js: ${bytes} bytes for the whiteboard, ${Buffer.byteLength(source)} as it stands here`)
  const {passed, skipped} = runOn(text, 'whiteboard')
  assert.ok(passed >= 85, `${passed} ran`)
  assert.ok(skipped.length <= 20 && skipped.every(why => why.startsWith('the whiteboard has no ') || /isn.t|SVG|export|boardrelay/.test(why)), skipped.join('; '))
})

test('nothing that the whiteboard uses stands in a region, and what is left names nothing that does', async () => {
  const kept = strip(withoutRegions(source))
  const pages = modules.filter(name => !name.startsWith('status')).map(name => strip(readFileSync(join(root, folder, name), 'utf8')))
  for (const [, names] of pages.join('\n').matchAll(/import \{([^}]*)\} from '\.\/relay-client\.js'/g)) {
    for (const name of names.split(',').map(name => name.trim().split(' ')[0])) assert.ok(new RegExp(`^export (async )?(function|class|const) ${name}\\b`, 'm').test(kept), name)
  }
  const called = [...pages.join('\n').matchAll(/\b(?:client|stream|presence|board\(\w[\w.]*\)|(?:presence|metadata)\(\{[^}]*\}\))\??\.(\w+)/g)].map(([, name]) => name)
  const methods = text => new Set([...text.matchAll(/^(?:static |async |get |\*)*(\w+)\(.*\{$/gm)].map(([, name]) => name))
  assert.ok(new Set(called).size > 15, `${[...new Set(called)]}`)
  for (const name of called) if (methods(strip(source)).has(name)) assert.ok(methods(kept).has(name), name)
  const clients = await Promise.all([strip(source), kept].map(text => import(`data:text/javascript,${encodeURIComponent(text)}`)))
  const [whole, left] = clients.map(({RelayClient}) => {
    const client = Object.create(RelayClient.prototype)
    return [client, client.presence({message: 'b'}), client.metadata({message: 'b'}), client.board('b')].map(object => Object.getPrototypeOf(object))
  })
  whole.forEach((prototype, at) => called.filter(name => prototype.hasOwnProperty(name)).forEach(name => assert.ok(name in left[at] || (at > 0 && name in left[0]), name)))
  const gone = (find, ...also) => [...find(strip(source))].filter(name => !find(kept).has(name) && !also.includes(name))
  assert.ok(gone(methods).length > 30)
  // `get` and `freeze` are others' methods, too.
  for (const name of gone(methods, 'get', 'freeze')) assert.ok(!new RegExp(`\\.${name}\\(`).test(kept), name)
  // Names of blocks within methods may be those of fields elsewhere.
  const topLevel = text => new Set([...text.matchAll(/^(?:export )?(?:async )?(?:function|const|class) (\w+)/gm)].map(([, name]) => name))
  const goneValues = [...topLevel(source)].filter(name => !topLevel(withoutRegions(source)).has(name))
  assert.ok(goneValues.includes('Locks') && goneValues.includes('bodyShapes'))
  for (const name of goneValues) assert.ok(!new RegExp(`(?<![.\\w])${name}\\b`).test(kept.replace(/'[^'\n]*'/g, '')), name)
})

test('it needs nothing else, and no secure context', () => {
  const code = strip(source)
  assert.doesNotMatch(code, /^import\b|\bimport\(|\brequire\(|https?:\/\/(?!192\.168)/m)
  assert.doesNotMatch(code, /crypto\.subtle|randomUUID|serviceWorker|navigator\.(locks|storage|clipboard)/)
  assert.ok([...code].every(character => character !== '\t'))
})
