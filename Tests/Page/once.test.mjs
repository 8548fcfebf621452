// What a page loads late: once, and again where a broken link has kept it away.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {hearEarlyKeys} from '../../Sources/RelayPage/page/given.js'
import {beginAll, once} from '../../Sources/RelayPage/page/once.js'

/** Something to load that fails so many times, and is counted. */
function fickle(failures) {
  const load = async () => {
    load.times++
    if (load.times <= failures) throw new Error('no link')
    return load.times
  }
  load.times = 0
  return load
}
const turn = () => new Promise(resolve => setImmediate(resolve))

test('what has come is not asked for again, and who asks meanwhile waits for the same', async () => {
  const load = fickle(0)
  const get = once(load)
  assert.deepEqual(await Promise.all([get(), get()]), [1, 1])
  assert.deepEqual([await get(), load.times], [1, 1])
})

test('what a broken link kept away is asked for again, and whoever has waited for it is told', async () => {
  const load = fickle(2)
  const get = once(load)
  const told = await Promise.allSettled([get(), get()])
  assert.deepEqual([told.map(({status}) => status), load.times], [['rejected', 'rejected'], 1])
  await assert.rejects(get(), /no link/)
  assert.deepEqual([await get(), await get(), load.times], [3, 3, 3])
})

test('of all that comes late only what has failed begins again when the link is back', async () => {
  const loads = [fickle(0), fickle(1), fickle(3), fickle(0)]
  const all = loads.map(load => once(load))
  const times = async () => {
    beginAll(all)
    await turn()
    return loads.map(({times}) => times)
  }
  assert.deepEqual([await times(), await times(), await times(), await times(), await times()],
      [[1, 1, 1, 1], [1, 2, 2, 1], [1, 2, 3, 1], [1, 2, 4, 1], [1, 2, 4, 1]])
})

/** A page where keys are pressed on the board before, and after, who hears them has come. */
function keyboard(bring) {
  const board = {id: 'board', heard: [], dispatchEvent: event => press(event.key, event)}
  const kept = {addEventListener: globalThis.addEventListener, document: globalThis.document, KeyboardEvent: globalThis.KeyboardEvent}
  let hear
  const page = {isThere: false, failed: 0, board}
  Object.assign(globalThis, {addEventListener: (_, handle) => { hear = handle }, document: {body: {}}})
  globalThis.KeyboardEvent = class { constructor(type, event) { Object.assign(this, event) } }
  hearEarlyKeys(() => page.isThere, bring, () => page.failed++)
  function press(key, more = {}) {
    let isHeld = false
    hear({key, target: board, ...more, preventDefault() {}, stopImmediatePropagation: () => { isHeld = true }})
    if (!isHeld && page.isThere) board.heard.push(key)
    return isHeld
  }
  return Object.assign(page, {press, end: () => Object.assign(globalThis, kept)})
}

test('keys whose hearers have not come bring them, once, and are played in their order when they are there', async () => {
  let come
  let times = 0
  const page = keyboard(() => (times++, new Promise(resolve => { come = resolve })))
  try {
    assert.deepEqual([page.press('a', {ctrlKey: true}), page.press('p'), page.press('ArrowRight'), page.press('ArrowLeft', {altKey: true})],
        [true, false, true, false], 'a letter chooses a tool at once, and the browser goes back')
    assert.equal(page.press('Enter', {target: {id: 'name'}}), false, 'a field has its own keys')
    page.isThere = true
    assert.equal(page.press('.'), true, 'behind those that wait')
    come()
    await turn()
    assert.deepEqual([page.board.heard, times], [['a', 'ArrowRight', '.'], 1])
    assert.equal(page.press('Enter'), false)
  } finally {
    page.end()
  }
})

test('keys whose hearers do not come are told, and asked for again at the next press', async () => {
  const page = keyboard(() => Promise.reject(new Error('no link')))
  try {
    for (const times of [1, 2]) {
      page.press('Enter')
      await turn()
      assert.deepEqual([page.failed, page.board.heard], [times, []])
    }
  } finally {
    page.end()
  }
})
