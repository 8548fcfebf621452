// What a page pays for the module. A relay that leaves comments and indentation away when it serves it (both stand on lines of
// their own, or at their beginning) serves the same program: shown by running the other tests on it.
import assert from 'node:assert/strict'
import {spawnSync} from 'node:child_process'
import {cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {test} from 'node:test'
import {fileURLToPath} from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const file = 'Sources/RelayPage/relay-client.js'
const source = readFileSync(join(root, file), 'utf8')

/** Lines that are not empty or comments, without what they begin with. */
export const served = text => text.split('\n').map(line => line.trimStart()).filter(line => line && !/^(\/\/|\/\*\*|\*)/.test(line)).join('\n') + '\n'

test('without comments and indentation it is the same program, of at most 98,000 bytes', () => {
  const text = served(source)
  assert.ok(text.length <= 98_000, `${text.length} bytes`)
  const folder = mkdtempSync(join(tmpdir(), 'relay-served-'))
  try {
    for (const part of ['Sources/RelayPage', 'Tests/Page', 'docs/vectors']) cpSync(join(root, part), join(folder, part), {recursive: true})
    writeFileSync(join(folder, file), text)
    const tests = ['vectors', 'machine-link', 'machine-messages', 'machine-session', 'outbox', 'hostile'].map(name => `Tests/Page/${name}.test.mjs`)
    // A runner of its own, not a part of this one.
    const {NODE_TEST_CONTEXT, ...env} = process.env
    const {status, stdout} = spawnSync(process.execPath, ['--test', '--test-reporter=tap', ...tests], {cwd: folder, timeout: 120_000, encoding: 'utf8', env})
    assert.equal(status, 0, stdout)
    assert.match(stdout, /^# pass [5-9]\d$/m)
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
})

test('it needs nothing else, and no secure context', () => {
  const code = served(source)
  assert.doesNotMatch(code, /^import\b|\bimport\(|\brequire\(|https?:\/\/(?!192\.168)/m)
  assert.doesNotMatch(code, /crypto\.subtle|randomUUID|serviceWorker|navigator\.(locks|storage|clipboard)/)
  assert.ok([...code].every(character => character !== '\t'))
})
