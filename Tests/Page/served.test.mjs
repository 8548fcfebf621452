// What a page pays for the module: served without comments and indentation it is the same program, shown by running the other
// tests on it, which begin with the vectors.
import assert from 'node:assert/strict'
import {spawnSync} from 'node:child_process'
import {cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {test} from 'node:test'
import {fileURLToPath} from 'node:url'
import {strip, unsafeLines} from './support/strip.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const file = 'Sources/RelayPage/relay-client.js'
const source = readFileSync(join(root, file), 'utf8')

/** The page of the whiteboard may weigh 150 KB in all. */
const servedBytesMax = 100_000

test('what is left out line by line is comments and blanks, and nothing else', () => {
  const text = '// a\nconst a = 1 // kept\n/** b */\n/**\n * c\n *\n */\nfunction f(/** @type {x} */ b) {\n  // d\n\n  return a // 1\n}\n'
  assert.equal(strip(text), 'const a = 1 // kept\nfunction f(/** @type {x} */ b) {\nreturn a // 1\n}\n')
  assert.deepEqual(unsafeLines(text), [])
  for (const unsafe of ['/** a */ f()', '/**\n * a */ f()', 'f() /* a\n */', 'f() /**\n*/', '/**', 'const a = `x\n// y`', "const a = 'x\\\n// y'"]) {
    assert.notDeepEqual(unsafeLines(unsafe), [], unsafe)
  }
  assert.deepEqual(unsafeLines(source), [])
})

test(`without comments and indentation it is the same program, of at most ${servedBytesMax} bytes`, async context => {
  const text = strip(source)
  const bytes = Buffer.byteLength(text)
  context.diagnostic(`relay-client.js: ${bytes} bytes as it is served, ${Buffer.byteLength(source)} as it stands here`)
  assert.ok(bytes <= servedBytesMax, `${bytes} bytes`)
  const folder = mkdtempSync(join(tmpdir(), 'relay-served-'))
  try {
    for (const part of ['Sources/RelayPage', 'Tests/Page', 'docs/vectors']) cpSync(join(root, part), join(folder, part), {recursive: true})
    writeFileSync(join(folder, file), text)
    const tests = ['vectors', 'machine-link', 'machine-messages', 'machine-session', 'machine-moderation', 'outbox', 'hostile'].map(name => `Tests/Page/${name}.test.mjs`)
    // A runner of its own, not a part of this one.
    const {NODE_TEST_CONTEXT, ...env} = process.env
    const {status, stdout} = spawnSync(process.execPath, ['--test', '--test-reporter=tap', ...tests], {cwd: folder, timeout: 120_000, encoding: 'utf8', env})
    assert.equal(status, 0, stdout)
    assert.ok(Number(/^# pass (\d+)$/m.exec(stdout)?.[1]) >= 80, 'all of them ran')
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
})

test('it needs nothing else, and no secure context', () => {
  const code = strip(source)
  assert.doesNotMatch(code, /^import\b|\bimport\(|\brequire\(|https?:\/\/(?!192\.168)/m)
  assert.doesNotMatch(code, /crypto\.subtle|randomUUID|serviceWorker|navigator\.(locks|storage|clipboard)/)
  assert.ok([...code].every(character => character !== '\t'))
})
