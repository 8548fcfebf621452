// The client in JavaScript, driven by Tests/Scenarios/README.md: commands on standard input, lines on standard output.
import {createHash} from 'node:crypto'
import {createInterface} from 'node:readline'
import {ErrorCode, RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {NodeWebSocket} from '../Page/support/web-socket.mjs'

globalThis.WebSocket ??= NodeWebSocket

const say = (is, fields) => process.stdout.write(`${JSON.stringify({is, ...fields})}\n`)
const bytesOf = payload => typeof payload === 'string' ? Buffer.from(payload) : Buffer.from(payload)
const digest = payload => createHash('sha256').update(bytesOf(payload)).digest('hex')
const markOf = payload => bytesOf(payload).subarray(0, 16).toString('latin1')
const decoded = payload => new Uint8Array(Buffer.from(payload, 'base64'))

/** What became of a command. */
const failed = id => error => error.code === ErrorCode.outcomeUnknown ? say('unknown', {id}) : say('refused', {id, code: error.code ?? 0})

let client
/** By channel and topic, where packets are published. */
const publishers = new Map()
/** A scenario lasts as long as it lasts. */
const patient = {timeout: Infinity}

const message = ({channel, sender, offset, epoch, key, isRetained, payload}) => say('message', {
  channel, user: sender, offset, epoch: [epoch.start, epoch.incarnation], ...(isRetained && {key}), size: bytesOf(payload).length,
  sha256: digest(payload), mark: markOf(payload),
})

/** Own records are told by their receipts. */
const events = {
  message: event => event.isOwn || message(event),
  board: ({messages, isOwn}) => isOwn || messages.forEach(message),
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

async function tell() {
  for await (const event of client.events()) events[event.type]?.(event)
}

/** Tells how far a record, or a batch, has come. */
function follow(id, {accepted, stored}) {
  accepted.then(offset => say('accepted', {id, offset}), () => {})
  stored.then(offset => say('stored', {id, offset}), failed(id))
}

const done = (id, promise) => promise.then(answer => say('done', {id, offset: answer?.offset}), failed(id))

const commands = {
  start({address, user, secret, key, presenceTimeoutMs}) {
    client = new RelayClient(`http://${address}/`, user, {secret, credential: key && {key}, presenceTimeout: presenceTimeoutMs})
    tell()
    client.connect().catch(error => console.error(error))
  },
  subscribe({id, channel, since}) {
    done(id, client.channel(channel).open({parts: ['messages'], from: since === 'beginning' ? 'board' : 'now', ...patient}))
  },
  publish({id, channel, key, payload}) {
    const place = client.channel(channel)
    if (key !== undefined) return follow(id, place.board.put(key, decoded(payload)))
    return place.send(decoded(payload)).accepted.then(offset => say('accepted', {id, offset}), failed(id))
  },
  remove({id, channel, key}) {
    follow(id, client.channel(channel).board.remove(key))
  },
  changes({id, channel, changes}) {
    follow(id, client.channel(channel).board.batch(batch => {
      for (const {key, payload} of changes) {
        if (payload === undefined) batch.remove(key)
        else batch.put(key, decoded(payload))
      }
    }))
  },
  clear({id, channel}) { done(id, client.channel(channel).board.clear(patient)) },
  undoClear({id, channel}) { done(id, client.channel(channel).board.undoClear(patient)) },
  // What has come before is in the loop's hands: it takes it before this turn is over.
  barrier({id, channel}) { done(id, client.channel(channel).upToDate(patient).then(() => new Promise(setImmediate))) },
  async board({id, channel}) {
    const records = await client.channel(channel).board.records(patient)
    say('board', {id, channel, records: [...records.values()].map(({key, offset, payload}) => ({key, offset, sha256: digest(payload)}))})
  },
  joinTopic({channel, topic}) {
    const publisher = client.channel(channel).topic(topic).startPublishing(patient)
    publishers.set(`${channel} ${topic}`, publisher)
    publisher.catch(console.error)
  },
  subscribeTopic({channel, topic}) { client.channel(channel).topic(topic).follow(patient).catch(console.error) },
  packet({channel, topic, payload, slot}) {
    publishers.get(`${channel} ${topic}`)?.then(publisher => publisher.send(decoded(payload), {slot})).catch(() => {})
  },
}

const lines = createInterface({input: process.stdin})
lines.on('line', line => {
  const command = JSON.parse(line)
  commands[command.do](command)
})
lines.on('close', () => process.exit(0))
