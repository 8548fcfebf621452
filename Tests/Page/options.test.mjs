// Options: a name that a call does not have is an error that names the nearest one, whatever the call. [docs/client-interface.md, rule 5]
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {everything, optionCalls, optionsOf} from './support/surface.mjs'

for (const {name, call} of optionCalls()) {
  test(`${name}: an unknown option is an error that names the nearest, and so is what is no object`, async () => {
    const {names, error} = await optionsOf(call)
    assert.equal(error?.name, 'TypeError', `${error}`)
    assert.ok(names.length > 0)
    for (const known of names) {
      const wrong = `${known}X`
      await assert.rejects(async () => call({[wrong]: undefined}), {name: 'TypeError', message: new RegExp(
          `^(new )?\\w+ has no option ${wrong}; the nearest is ${known}$`)})
    }
    for (const wrong of [null, 'now', 5, []]) {
      await assert.rejects(async () => call(wrong), {name: 'TypeError', message: /^(new )?\w+: options are an object$/})
    }
  })
}

test('a message that is to be kept under a key is a record: `send` says that it has no such options', () => {
  const {Channel: lesson} = everything()
  const message = 'send has no option key; the nearest is echo'
  assert.throws(() => lesson.send('x', {key: 's1', retain: true}), {name: 'TypeError', message})
})

test('calls that have no options say so', async () => {
  const {RelayClient: client, Board: board, Batch: batch} = everything()
  const calls = {
    remove: [options => board.remove('s1', options), options => batch.remove('s1', options)],
    batch: [options => board.batch(changes => changes.put('s1', 'x'), options)],
  }
  for (const [name, made] of Object.entries(calls)) {
    for (const call of made) assert.throws(() => call({customType: 'stroke'}), {name: 'TypeError', message: `${name} has no options`})
  }
  await client.close()
})

test('what an option holds by name is checked as well: a credential, limits of a reader, a position', async () => {
  const {RelayClient: client, Channel: lesson} = everything()
  const made = options => new RelayClient(() => {}, 'alice', options)
  const wrong = {
    'credential has no option keey; the nearest is key': [() => made({credential: {keey: 'k'}}), () => client.renew({keey: 'k'})],
    'credential has no option jointCode; the nearest is joinCode': [() => made({credential: {jointCode: 'ABCDEF'}})],
    'credential: options are an object': [() => made({credential: 'k'}), () => client.renew(null)],
    'readerLimits has no option packets; the nearest is packetsPerSecond': [() => made({readerLimits: {packets: 1}})],
    'setReaderLimits has no option packets; the nearest is packetsPerSecond': [() => client.setReaderLimits({packets: 1})],
    "open: from is 'board', 'now' or a position, not bord": [() => lesson.open({from: 'bord'})],
    'from has no option offst; the nearest is offset': [() => lesson.open({from: {epoch: {start: 1, incarnation: 1}, offst: 5}})],
  }
  for (const [message, calls] of Object.entries(wrong)) {
    for (const call of calls) await assert.rejects(async () => call(), {name: 'TypeError', message})
  }
  await client.close()
})
