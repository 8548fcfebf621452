// The client's modules as files: what the one address leads to, that nothing goes in a circle, and what a page pays for it all.
import assert from 'node:assert/strict'
import {readdirSync, readFileSync} from 'node:fs'
import {posix} from 'node:path'
import {test} from 'node:test'
import {languages} from '../../Sources/RelayPage/page/words/index.js'
import * as client from '../../Sources/RelayPage/relay-client.js'

const root = new URL('../../Sources/RelayPage/', import.meta.url)
const files = new Map(readdirSync(root, {recursive: true}).filter(name => /\.(js|css|html)$/.test(name))
    .map(name => [name, readFileSync(new URL(name, root), 'utf8')]))
const modules = [...files.keys()].filter(name => name.startsWith('client/'))

/** The files that a file names: imports of scripts, references of pages. */
function named(name) {
  const text = files.get(name)
  assert.ok(text !== undefined, `there is no ${name}`)
  if (name.endsWith('.html')) return [...text.matchAll(/(?:href|src)="\/([^"]+)"/g)].map(([, path]) => path)
  if (!name.endsWith('.js')) return []
  return [...text.matchAll(/^(?:import|export) .*? from '(.*)'$/gm)].map(([, path]) => posix.join(posix.dirname(name), path))
}

/** A file with all that a browser loads for it. */
function loaded(name, found = new Set()) {
  if (!found.has(name)) for (const other of named(found.add(name) && name)) loaded(other, found)
  return found
}

/** Uncompressed, each file as it is written. */
const loadedBytesMax = 400_000
/** What is imported while the page runs, before the board stands there: the words of one language, and a name for who has none. */
const soon = language => [`page/words/${language}.js`, `page/words/names/${language}.js`, ...loaded('page/new-person.js')]

for (const language of Object.keys(languages)) {
  test(`all that the whiteboard loads before the first drawing, in ${language}, has at most ${loadedBytesMax} bytes`, context => {
    const names = [...new Set([...loaded('page/index.html'), ...soon(language)])]
    // In index.html the relay writes `/~TAG` before each of their addresses. [HT6]
    const tags = named('page/index.html').length * '/~12345678'.length
    const bytes = names.reduce((sum, name) => sum + Buffer.byteLength(files.get(name)), tags)
    context.diagnostic(`${names.length} files, ${bytes} bytes`)
    assert.ok(names.includes('page/app.js') && names.includes('client/machine.js') && names.includes('page/board.css'))
    assert.ok(bytes <= loadedBytesMax, `${bytes} bytes`)
  })
}

test('what the whiteboard loads later is there, and is not loaded at first', () => {
  const first = loaded('page/index.html')
  const later = [...first].flatMap(name => [...files.get(name).matchAll(/\bimport\('(.*?)'\)/g)]
      .map(([, path]) => posix.join(posix.dirname(name), path)))
  const wanted = ['page/host.js', 'page/svg-document.js', 'page/explain.js', 'page/tools/select.js']
  assert.ok(wanted.every(name => later.includes(name)), `${later}`)
  const words = [...files.keys()].filter(name => /^page\/words\/.*\b[a-z]{2}\.js$/.test(name))
  assert.equal(words.length, 4 * Object.keys(languages).length)
  for (const name of [...later, ...words]) assert.ok(files.has(name) && !first.has(name), name)
})

test('the one address leads to every module of the client, and to no file besides', () => {
  assert.deepEqual([...loaded('relay-client.js')].sort(), ['relay-client.js', ...modules].sort())
})

test('who copies the client as docs/javascript.md says gets all its modules, and the types', () => {
  const [, pattern] = /grep -o '(.*?)'/.exec(readFileSync(new URL('../../docs/javascript.md', root), 'utf8'))
  const named = new RegExp(pattern.replaceAll('\\(', '(').replaceAll('\\|', '|').replaceAll('\\)', ')'), 'g')
  const found = ['page/index.html', 'relay-client.js'].flatMap(name => [...files.get(name).matchAll(named)].map(([whole]) => whole))
  assert.deepEqual([...new Set(found)].sort(), [...modules, 'client/types.d.ts'].sort())
})

test('no module of the client imports itself, over however many others', () => {
  const done = new Set()
  const visit = (name, path) => {
    assert.ok(!path.includes(name), `${[...path, name].join(' → ')}`)
    if (done.has(name)) return
    for (const other of named(name)) visit(other, [...path, name])
    done.add(name)
  }
  visit('relay-client.js', [])
  assert.ok(done.size > 30)
})

test('index.html names beforehand each module that the whiteboard loads, so that they come at once', () => {
  const hinted = [...files.get('page/index.html').matchAll(/<link rel="modulepreload" href="\/([^"]+)">/g)].map(([, path]) => path)
  assert.deepEqual(hinted, [...loaded('page/app.js')].filter(name => name !== 'page/app.js').sort())
})

test('the client needs nothing else, and no secure context', () => {
  for (const name of ['relay-client.js', ...modules]) {
    const code = files.get(name).replace(/^\s*(\/\/|\/?\*).*$/gm, '')
    assert.doesNotMatch(code, /\bimport\(|\brequire\(|https?:\/\//, name)
    assert.doesNotMatch(code, /crypto\.subtle|randomUUID|serviceWorker|navigator\.(locks|storage|clipboard)/, name)
    assert.ok(!code.includes('\t'), name)
  }
})

test('what the one address exports is what apps need', () => {
  assert.deepEqual(Object.keys(client).sort(), [
    'Access', 'Channel', 'ErrorCode', 'Events', 'Latest', 'Person', 'Receipt', 'RelayClient', 'RelayError', 'StoredReceipt',
    'checkedName', 'credentialOf', 'wakeUpWithPage', 'webSocketTransport',
  ])
})
