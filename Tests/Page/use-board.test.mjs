// The hook of docs/examples/use-board.ts runs, on as much of React as it uses: nothing here has seen React itself.
import assert from 'node:assert/strict'
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {test} from 'node:test'
import {pathToFileURL} from 'node:url'
import {onDaemon} from './support/on-daemon.mjs'
import {skip, typescript} from './support/typescript.mjs'
import {within} from './support/watcher.mjs'

const react = `
  let slots = [], at = 0, draw = () => {}
  export function useState(first) {
    const slot = slots[at] ??= {value: first}
    at++
    return [slot.value, next => {
      slot.value = typeof next === 'function' ? next(slot.value) : next
      draw()
    }]
  }
  export function useEffect(effect, dependencies) {
    const slot = slots[at] ??= {}
    at++
    if (slot.dependencies?.every((one, index) => Object.is(one, dependencies[index]))) return
    slot.end?.()
    Object.assign(slot, {dependencies, effect})
    slot.end = effect()
    // As in React's strict mode: each effect ends and begins again when its component comes.
    if (!slot.isOld) slot.end()
    if (!slot.isOld) slot.end = effect()
    slot.isOld = true
  }
  /** Shows a component from now on: what it gave last, and a call that takes it away. */
  export function shown(component) {
    const now = {looks: new Set()}
    slots = []
    draw = () => {
      at = 0
      now.value = component()
      for (const look of now.looks) look()
    }
    const effects = () => slots.filter(({end}) => end)
    now.remove = () => effects().forEach(({end}) => end())
    draw()
    return now
  }`

const title = 'the hook shows the board, own records and those of others; the channel is left with its component'
if (skip) test(title, {skip})
else onDaemon('use-board.test.mjs')({}, title, async ({connect}) => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-hook-'))
  try {
    const ts = typescript()
    const place = join(folder, 'node_modules/react')
    mkdirSync(place, {recursive: true})
    writeFileSync(join(place, 'package.json'), '{"type": "module", "exports": "./index.js"}')
    writeFileSync(join(place, 'index.js'), react)
    const hook = readFileSync(new URL('../../docs/examples/use-board.ts', import.meta.url), 'utf8')
    const compilerOptions = {target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext}
    writeFileSync(join(folder, 'use-board.mjs'), ts.transpileModule(hook, {compilerOptions}).outputText)
    const {useBoard} = await import(pathToFileURL(join(folder, 'use-board.mjs')))
    const {shown} = await import(pathToFileURL(join(place, 'index.js')))
    const [ann, ben] = [await connect('ann'), await connect('ben', {key: 'join'})]
    const there = ben.channel('lesson')
    await there.open()
    const now = shown(() => useBoard(ann, 'lesson'))
    const until = (isWanted, what) => within(new Promise(resolve => {
      const look = () => isWanted(now.value) && resolve()
      now.looks.add(look)
      look()
    }), what)
    await until(({progress}) => progress === 1, 'the board was read')
    const before = now.value.records
    await there.board.put('s1', 'of ben').stored
    await until(({records}) => records.get('s1')?.payload === 'of ben', "ben's record")
    assert.equal(before.size, 0, 'what React has does not change')
    await now.value.board.put('s2', 'of ann').stored
    await until(({records}) => records.get('s2')?.isPending === undefined && records.has('s2'), 'the own record, stored')
    assert.equal(now.value.error, undefined)
    assert.deepEqual(ann.openChannels.map(({name}) => name), ['lesson'])
    now.remove()
    await ann.upToDate()
    assert.deepEqual(ann.openChannels, [])
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
})
