// The client as a package, as a bundler and a compiler find it: by its name, in a folder `node_modules`.
import assert from 'node:assert/strict'
import {spawnSync} from 'node:child_process'
import {cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {after, test} from 'node:test'
import {fileURLToPath} from 'node:url'
import * as client from '../../Sources/RelayPage/relay-client.js'
import {faults, skip, typescript} from './support/typescript.mjs'

const source = fileURLToPath(new URL('../../Sources/RelayPage', import.meta.url))
const parts = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
const folder = mkdtempSync(join(tmpdir(), 'relay-package-'))
after(() => rmSync(folder, {recursive: true, force: true}))

/** An app's folder that has the package: `link` as from a checkout, else the files that `npm pack` takes. */
function app(name, link) {
  const [home, place] = [join(folder, name), join(folder, name, 'node_modules', parts.name)]
  mkdirSync(join(home, 'node_modules'), {recursive: true})
  writeFileSync(join(home, 'package.json'), '{"type": "module"}')
  if (link) symlinkSync(source, place)
  else for (const file of ['package.json', ...parts.files]) cpSync(join(source, file), join(place, file), {recursive: true})
  return home
}

const run = (home, code) => {
  writeFileSync(join(home, 'app.js'), code)
  const {status, stdout, stderr} = spawnSync(process.execPath, ['app.js'], {cwd: home, encoding: 'utf8', timeout: 60_000})
  assert.equal(status, 0, stderr)
  return stdout.trim()
}

for (const [name, link] of [['linked', true], ['packed', false]]) {
  test(`${name}, the package is found by its name, has the whole client, and only that; nothing goes on when it was imported`, () => {
    const home = app(name, link)
    assert.equal(run(home, `import * as client from '${parts.name}'\nconsole.log(Object.keys(client).sort().join())`),
        Object.keys(client).sort().join())
    assert.equal(run(home, `console.log(await import('${parts.name}/client/machine.js').catch(({code}) => code))`),
        'ERR_PACKAGE_PATH_NOT_EXPORTED')
    // `sideEffects: false`: a bundler may leave it out.
    assert.equal(run(home, `const before = Object.getOwnPropertyNames(globalThis).join()
      await import('${parts.name}')
      console.log(before === Object.getOwnPropertyNames(globalThis).join())`), 'true')
  })

  test(`${name}, its types are found by its name, in the two ways in which compilers look`, {skip}, () => {
    const home = app(`${name}-types`, link)
    writeFileSync(join(home, 'app.ts'), `import {RelayClient} from '${parts.name}'
      const client = new RelayClient('http://10.0.0.1:7420/', 'ann')
      const reader = client.channel('lesson').board.pictures()
      export const size: Promise<number | undefined> = reader.next().then(({value}) => value?.records.size)
      // @ts-expect-error
      client.chanel('lesson')`)
    const ts = typescript()
    const ways = {NodeJs: ts.ModuleKind.ESNext, Node16: ts.ModuleKind.Node16}
    for (const [way, module] of Object.entries(ways)) {
      assert.deepEqual(faults(ts, [join(home, 'app.ts')], {moduleResolution: ts.ModuleResolutionKind[way], module}), [], way)
    }
  })
}

test('the package names files that are there, and says what it is', () => {
  const {exports: {'.': main}, files, sideEffects, type, license, types, version} = parts
  for (const file of [main.types, main.default, parts.main, types, ...files]) assert.ok(existsSync(join(source, file)), file)
  assert.deepEqual([type, sideEffects, license], ['module', false, 'MIT'])
  assert.match(version, /^\d+\.\d+\.\d+$/)
})
