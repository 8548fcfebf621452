// What an app may not do: each line is an error of the compiler, or this file is one. It alone reads it: see types.test.mjs.
import {Channel, ErrorCode, Events, RelayClient, RelayError} from '../../../Sources/RelayPage/relay-client.js'
import type {ClientOptions} from '../../../Sources/RelayPage/relay-client.js'

const client = new RelayClient('https://board.school/#key=abc', 'ann')
const lesson = client.channel('lesson')
const {board, presence, metadata} = lesson
const pen = lesson.lock('pen')
const points = lesson.topic('points')

/** Options that there are not. */
export async function options() {
  // @ts-expect-error
  lesson.send('x', {key: 's1', retain: true})
  // @ts-expect-error
  board.put('s1', 'x', {custmType: 'stroke'})
  // @ts-expect-error
  board.put('s1', 'x', {signal: new AbortController().signal})
  // @ts-expect-error
  board.remove('s1', {customType: 'stroke'})
  // @ts-expect-error
  await lesson.open({part: ['messages']})
  // @ts-expect-error
  await pen.acquire({waitMs: 5})
  // @ts-expect-error
  await metadata.removeAll({revisions: {title: 1}})
  // @ts-expect-error
  await client.close({timeout: 5})
  // @ts-expect-error
  new RelayClient('https://board.school/', 'ann', {storge: localStorage})
  // @ts-expect-error
  const limits: ClientOptions = {readerLimits: {packets: 20}}
  // @ts-expect-error
  client.channel('lesson', {parts: ['messages']})

  return limits
}

/** Values that options and calls do not take. */
export async function values() {
  // @ts-expect-error
  await lesson.open({parts: ['message']})
  // @ts-expect-error
  await lesson.open({from: 'bord'})
  // @ts-expect-error
  await client.connect({offline: 'yes'})
  // @ts-expect-error
  await client.connect({timeout: '5s'})
  // @ts-expect-error
  await points.startPublishing({priority: 'hihg'})
  // @ts-expect-error
  await client.renew({keey: 'k'})
  // @ts-expect-error
  await presence.set({count: 5})
  // @ts-expect-error
  await metadata.set('title')
  // @ts-expect-error
  await client.moderation.setRole('moderator', {of: 'bob'})
  // @ts-expect-error
  await client.moderation.setRole('reader')
  // @ts-expect-error
  await client.moderation.forget({})
  // @ts-expect-error
  lesson.rights?.has('strem')
  // @ts-expect-error
  new RelayClient('https://board.school/')
}

/** Payloads of the wrong type. */
export async function payloads() {
  // @ts-expect-error
  lesson.send({hello: 'world'})
  // @ts-expect-error
  board.put('s1', 5)
  // @ts-expect-error
  board.put('s1')
  // @ts-expect-error
  board.batch(batch => batch.put('s1', [1, 2, 3]))
  const publisher = await points.startPublishing()
  // @ts-expect-error
  publisher.send({x: 1, y: 2})
  // @ts-expect-error
  client.person('bob').send(undefined)
}

/** Names that there are not, or not there. */
export async function names() {
  // @ts-expect-error
  board.putt('s1', 'x')
  // @ts-expect-error
  lesson.put('s1', 'x')
  // @ts-expect-error
  await metadata.follow()
  // @ts-expect-error
  await lesson.send('x').stored
  // @ts-expect-error
  client.machine.send()
  // @ts-expect-error
  new RelayError(ErrorCode.toolarge, 'x')
  // @ts-expect-error
  new Channel(client)
  // @ts-expect-error
  new Events()
}

/** What may not be there, and what may not be changed. */
export async function states() {
  // @ts-expect-error
  client.access.rights('lesson')
  for await (const {records} of board.pictures()) {
    // @ts-expect-error
    records.get('s1').payload
    // @ts-expect-error
    records.set('s1', {key: 's1', author: 'ann'})
  }
  for await (const event of client.events()) {
    // @ts-expect-error
    const text: string = event.payload
    // @ts-expect-error
    if (event.type === 'mesage') return text
  }
  // @ts-expect-error
  client.user = 'bob'
}
