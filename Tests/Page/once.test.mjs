// What a page loads late: once, and again where a broken link has kept it away.
import assert from 'node:assert/strict'
import {test} from 'node:test'
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
