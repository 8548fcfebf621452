// The client in JavaScript, driven by docs/scenarios.md: commands on standard input, lines on standard output.
import {createHash} from 'node:crypto'
import {createInterface} from 'node:readline'
import {ErrorCode, RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {example} from '../Page/support/examples.mjs'
import {NodeWebSocket} from '../Page/support/web-socket.mjs'

const {BoardRecords} = await example('board-records.js')
globalThis.WebSocket ??= NodeWebSocket

const say = (is, fields) => process.stdout.write(`${JSON.stringify({is, ...fields})}\n`)
const bytesOf = payload => typeof payload === 'string' ? Buffer.from(payload) : Buffer.from(payload)
const digest = payload => createHash('sha256').update(bytesOf(payload)).digest('hex')
const markOf = payload => bytesOf(payload).subarray(0, 16).toString('latin1')
const decoded = ({key, payload}) =>
  payload === undefined ? {key, isRemoval: true} : {key, payload: new Uint8Array(Buffer.from(payload, 'base64'))}

/** What became of a command. */
const failed = id => error => error.code === ErrorCode.outcomeUnknown ? say('unknown', {id}) : say('refused', {id, code: error.code ?? 0})

let client
const boards = new Map(), streams = new Map()

const message = ({channel, sender, offset, epoch, key, isRetained, payload}) => say('message', {
  channel, user: sender, offset, epoch: [epoch.start, epoch.incarnation], ...(isRetained && {key}), size: bytesOf(payload).length,
  sha256: digest(payload), mark: markOf(payload),
})

const events = {
  message,
  board: ({messages}) => messages.forEach(message),
  cleared: ({channel, offset}) => say('cleared', {channel, offset}),
  messagesMissed: ({channel, extent}) => extent === 'reset' ? say('reset', {channel}) : say('missed', {channel, ...extent}),
  packet: ({channel, topic, publisher, flow, sequence, payload}) =>
    say('packet', {channel, topic, user: publisher, flow, sequence, mark: markOf(payload)}),
  packetsLost: ({entries}) => {
    for (const {flow, first, last} of entries) say('lost', {flow, first, last})
  },
  link: ({state, resumed}) => {
    if (state === 'connected') say('link', {state: 'up', resumed})
    else if (state === 'waiting') say('link', {state: 'down'})
  },
}

/** Tells how far a record, or a change set, has come, and shows it on the own board. */
function follow({id, channel}, {accepted, stored}, changes) {
  accepted.then(offset => say('accepted', {id, offset}), () => {})
  stored.then(offset => {
    const first = offset - changes.length + 1
    changes.forEach(({key, payload}, at) => boards.get(channel)?.putOwn({key, payload, offset: first + at}))
    say('stored', {id, offset})
  }, failed(id))
}

const done = (id, promise) => promise.then(answer => say('done', {id, offset: answer?.offset}), failed(id))

const commands = {
  start({address, user, secret, key, presenceTimeoutMs}) {
    client = new RelayClient(`http://${address}/`, user, {secret, credential: key && {key}, presenceTimeoutMs, retriesFirstConnect: true})
    for (const [type, handle] of Object.entries(events)) client.on(type, handle)
    client.ready.catch(error => console.error(error))
  },
  subscribe({id, channel, since}) {
    if (since === 'beginning') boards.set(channel, new BoardRecords(client, channel, () => {}))
    done(id, client.subscribe(channel, {features: ['messages'], since: since === 'beginning' ? since : undefined}))
  },
  publish({id, channel, key, payload}) {
    const bytes = new Uint8Array(Buffer.from(payload, 'base64'))
    if (key !== undefined) return follow({id, channel}, client.sendLarge(bytes, {to: channel, key, retain: true}), [{key, payload: bytes}])
    return client.send(bytes, {to: channel}).value.then(({offset}) => say('accepted', {id, offset}), failed(id))
  },
  remove({id, channel, key}) {
    follow({id, channel}, client.send({removing: key, from: channel}), [{key}])
  },
  changes({id, channel, changes}) {
    const all = changes.map(decoded)
    follow({id, channel}, client.sendChanges(all, {to: channel}), all)
  },
  clear({id, channel}) { done(id, client.board(channel).clear()) },
  undoClear({id, channel}) { done(id, client.board(channel).undoClear()) },
  barrier({id, channel}) { done(id, client.barrier({channel})) },
  board({id, channel}) {
    const {records, clearedAt} = boards.get(channel)
    const held = [...records].filter(([, {offset, payload}]) => payload !== undefined && offset > clearedAt)
    say('board', {id, channel, records: held.map(([key, {offset, payload}]) => ({key, offset, sha256: digest(payload)}))})
  },
  joinTopic({channel, topic}) { joined(channel).then(stream => stream.joinTopic(topic)).catch(console.error) },
  subscribeTopic({channel, topic}) { joined(channel).then(stream => stream.subscribeTopic(topic)).catch(console.error) },
  packet({channel, topic, payload, slot}) {
    joined(channel).then(stream => stream.send(new Uint8Array(Buffer.from(payload, 'base64')), {topic, slot})).catch(() => {})
  },
}

function joined(channel) {
  if (!streams.has(channel)) streams.set(channel, client.join(channel, {features: []}))
  return streams.get(channel)
}

const lines = createInterface({input: process.stdin})
lines.on('line', line => {
  const command = JSON.parse(line)
  commands[command.do](command)
})
lines.on('close', () => process.exit(0))
