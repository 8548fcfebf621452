// Several addresses of one client: in which order they are tried, when without a pause, and where a relay says that another serves. [SE17]
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {ErrorCode} from '../../Sources/RelayPage/client/errors.js'
import {Limits} from '../../Sources/RelayPage/client/limits.js'
import {Places} from '../../Sources/RelayPage/client/places.js'
import {RelayClient} from '../../Sources/RelayPage/relay-client.js'
import {Dice} from './support/dice.mjs'
import {MachineDriver} from './support/machine-driver.mjs'
import {MemoryStorage} from './support/memory-storage.mjs'

const hostsOf = address => new Places(address).list.map(({host}) => host)
const closing = (code, address) => ({type: 'closing', body: {code, name: 'x', text: 'x', address}})
const moved = address => closing(ErrorCode.moved, address)

/** A machine that links up with one of its places after the other, on a clock moved by hand. */
class Traveller extends MachineDriver {
  constructor(address, settings) {
    const places = new Places(address)
    super({places, random: () => 0.999, ...settings})
    this.places = places
  }

  get host() {
    return this.places.list[0].hostname
  }

  /** Goes on as soon as the machine wants to: where to, and after how long. */
  next() {
    assert.equal(this.machine.state, 'waiting')
    const pauseMs = this.machine.nextDeadline - this.now
    this.advanceTo(this.machine.nextDeadline)
    this.open()
    return [this.host, pauseMs]
  }

  /** The same after the attempt has failed. */
  fails() {
    this.cut('nobody there')
    return this.next()
  }

  /** The same after the relay has closed. */
  closes(...closing) {
    this.feed(closing[0])
    return this.next()
  }

  /** A session that the client takes for a good one. */
  staysGood(welcome) {
    this.logIn(welcome)
    for (let second = 0; second < Limits.linkGoodAfterMs / 1_000; second++) {
      this.advance(1_000)
      this.pong()
      this.feed({type: 'pong', payload: Uint8Array.of(1)})
    }
  }
}

const three = 'relay://a:1/#key=k&also=b:2&also=c:3'
function connecting(address = three, settings = undefined) {
  const client = new Traveller(address, settings)
  client.connect()
  return client
}

// MARK: Addresses

test('[SE17] behind `#` an address names others, as the first is protected, however it is written and wherever it stands', () => {
  const told = {
    'http://192.168.1.5:7420/#key=abc': ['192.168.1.5:7420'],
    'http://192.168.1.5:7420/#key=abc&also=192.168.1.6:7420&also=relay.local:80': ['192.168.1.5:7420', '192.168.1.6:7420', 'relay.local'],
    'relay://a:1#also=relay://b:2&also=http://c:3&also=ws://d:4&also=[fd00:0::1]:5': ['a:1', 'b:2', 'c:3', 'd:4', '[fd00::1]:5'],
    'relays://a:1/#also=relays://b:443&also=https://c&also=wss%3A%2F%2Fd%3A4&also=e:5': ['a:1', 'b', 'c', 'd:4', 'e:5'],
    'http://a:1/#/b/lesson?k=x&also=b:2': ['a:1', 'b:2'],
    'http://a:1/#?also=b:2': ['a:1', 'b:2'],
    'http://a:1/#also=&alsox=c:3&token=a.b-c': ['a:1'],
    'http://a:1/?also=b:2': ['a:1'],
    'relay://a:1#also=A:1&also=b:2&also=relay://b:2/': ['a:1', 'b:2'],
  }
  for (const [address, hosts] of Object.entries(told)) {
    assert.deepEqual(hostsOf(address), hosts, address)
    assert.deepEqual(hostsOf(new URL(address)), hosts, address)
  }
})

test('[SE17] an address that is protected in another way than the first, or is none, is an error that says so', () => {
  const wrong = {
    'wss://a:1#also=relay://b:2': /^a:1 and b:2 are not protected in the same way: all addresses of a client are$/,
    'relay://a:1#also=c:3&also=https://b:2': /^a:1 and b:2 are not protected in the same way/,
    'relay://a:1#also=mailto://b': /not protected in the same way/,
    'relay://a:1#also=b:70000': /^also=b:70000 is no address of a relay$/,
    'relay://a:1#also=a%20b:1': /^also=a b:1 is no address of a relay$/,
  }
  for (const [address, message] of Object.entries(wrong)) {
    assert.throws(() => new RelayClient(address, 'alice'), {name: 'TypeError', message})
  }
})

/** Replaces WebSockets: `opened` gets each one. */
function playSockets(opened) {
  globalThis.WebSocket = class {
    bufferedAmount = 0
    constructor(url) {
      queueMicrotask(() => opened(String(url), this))
    }
    send() {}
    close() {}
  }
}

test('[SE16, SE17] a client links up at one address after the other, with the path of the first, and fails when all have', async () => {
  const urls = []
  playSockets((url, socket) => {
    urls.push(url)
    socket.onclose({code: 1006, reason: ''})
  })
  const client = new RelayClient('https://a:1/relay/school-a#key=k&also=b:2&also=c', 'ann')
  await assert.rejects(client.connect(), {name: 'connectFailed'})
  assert.deepEqual(urls, ['wss://a:1/relay/ws', 'wss://b:2/relay/ws', 'wss://c/relay/ws'])
  await client.close()
})

test('[SE17] what is kept is kept under the first address', () => {
  const storage = new MemoryStorage()
  assert.match(new RelayClient('http://a:1/school#also=b:2', 'ann', {storage}).device, /^[0-9a-f]{16}$/)
  assert.deepEqual([...storage.items.keys()], ['boardrelay.secret.a:1/school.ann'])
})

test('a transport of the app’s own is asked for each link, whatever the relay says of other addresses', () => {
  const driver = new MachineDriver({random: () => 0.999})
  driver.connect()
  driver.feed(moved('relay://a:1'))
  assert.equal(driver.result('connect'), 'moved')
  const pauses = []
  for (let round = 0; round < 3; round++) {
    pauses.push(driver.machine.nextDeadline - driver.now)
    driver.advanceTo(driver.machine.nextDeadline)
    driver.open()
    driver.feed(moved('relay://a:1'))
  }
  assert.deepEqual(pauses, [0, 499, 999])
})

// MARK: One after the other

test('[SE17, ER3] an attempt that fails leads to the next address at once; when all have failed the client pauses, longer each time', () => {
  const client = connecting()
  assert.equal(client.host, 'a')
  for (const pauseMs of [499, 999, 1_998]) {
    assert.deepEqual([client.fails(), client.fails(), client.fails()], [['b', 0], ['c', 0], ['a', pauseMs]])
  }
})

test('[ER3] a client with one address pauses as ever, and who waits is told of each failure', () => {
  const client = connecting('relay://a:1')
  client.cut('nobody there')
  assert.equal(client.result('connect'), 'connectFailed')
  const pauses = [client.next()[1]]
  for (let round = 0; round < 3; round++) pauses.push(client.closes(moved('relay://b:2'))[1])
  assert.deepEqual(pauses, [0, 499, 999, 1_998])
})

test('who waits for a connection is told of no failure before the last address has failed', () => {
  const client = connecting()
  client.fails()
  client.fails()
  assert.equal(client.result('connect'), undefined)
  client.cut('nobody there')
  assert.equal(client.result('connect'), 'connectFailed')
  client.next()
  client.machine.connect(client.watch('again'), client.now)
  client.fails()
  client.logIn()
  assert.equal(client.result('again'), 'done')
})

for (const code of [200, 204, 206, 299]) {
  test(`[SE17] closed with ${code} before it was let in, a client tries the next address at once`, () => {
    const client = connecting()
    assert.deepEqual([client.closes(closing(code)), client.closes(closing(code))], [['b', 0], ['c', 0]])
    assert.deepEqual(client.closes(closing(code)), ['a', 499])
  })
}

test('[SE17] one that does not answer in time, and one that is no relay, lead to the next address; a code that says stay away ends all', () => {
  const client = connecting()
  client.advance(9_999)
  assert.equal(client.machine.state, 'connecting')
  client.advance(1)
  assert.equal(client.host, 'b')
  client.open()
  client.feed({type: 'accepted', number: 7, offset: 1}, {type: 'login', body: {}})
  assert.deepEqual(client.next(), ['c', 0])
  client.feed(closing(300))
  assert.equal(client.machine.state, 'closed')
})

test('[SE17, SE9] the address that let in last is tried first, and then each of the others', () => {
  const client = connecting()
  client.fails()
  client.staysGood()
  assert.deepEqual(client.fails(), ['b', 0])
  assert.deepEqual([client.fails(), client.fails(), client.fails()], [['c', 0], ['a', 0], ['b', 499]])
  client.staysGood()
  assert.deepEqual(client.closes(closing(200)), ['b', 0])
  assert.deepEqual(client.closes(closing(200)), ['c', 0])
})

test('[SE17, HB3] a session that was not good for 15 s is paused after, where it broke', () => {
  const client = connecting()
  client.fails()
  client.logIn()
  assert.deepEqual(client.fails(), ['b', 499])
  client.logIn()
  assert.deepEqual(client.fails(), ['b', 999])
  assert.deepEqual(client.fails(), ['c', 0])
})

test('[SE17, HB3] a relay that falls silent is left for the next address', () => {
  const client = new Traveller(three)
  client.open()
  client.staysGood()
  client.advance(11_000)
  assert.deepEqual([client.machine.state, client.host], ['connecting', 'b'])
})

test('[SE17, ER5] a login that is refused for a time is tried again there, after it', () => {
  const client = connecting()
  client.fails()
  const {body: {id}} = client.sent().findLast(({type}) => type === 'login')
  client.feed({type: 'error', body: {id, code: 118, name: 'relayFull', text: 'no place', retry: 'later', retryAfterMs: 60_000}})
  assert.deepEqual(client.next(), ['b', 60_499])
  assert.deepEqual([client.fails(), client.fails(), client.fails()], [['c', 0], ['a', 0], ['b', 999]])
})

// MARK: Moved

test('[SE17] where the relay says that another serves the client goes at once, before it was let in and after', () => {
  const client = connecting()
  assert.deepEqual(client.closes(moved('relay://C:3')), ['c', 0])
  client.staysGood()
  assert.deepEqual(client.closes(moved('relay://a:1')), ['a', 0])
  assert.equal(client.result('connect'), 'done')
  assert.deepEqual(connecting('relays://a:443#also=b:2&also=https://c').closes(moved('relays://c:443')), ['c', 0])
})

test('[SE17] those that were passed on the way are tried before any is again', () => {
  const client = connecting(`${three}&also=d:4`)
  assert.deepEqual(client.closes(moved('relay://c:3')), ['c', 0])
  assert.deepEqual([client.fails(), client.fails(), client.fails()], [['b', 0], ['d', 0], ['a', 499]])
})

for (const address of ['relay://d:4', 'relay://c:4', 'relays://c:3', 'relay://a:1', 'relay://c:99999', undefined]) {
  test(`[SE17] ${address ?? 'no address'} of ‘moved’ is none of the others: the client tries the next of its own at once`, () => {
    assert.deepEqual(connecting().closes(moved(address)), ['b', 0])
    const live = connecting()
    live.staysGood()
    assert.deepEqual(live.closes(moved(address)), ['b', 0])
  })
}

test('[SE17] an address counts with ‘moved’ alone', () => {
  assert.deepEqual(connecting().closes(closing(200, 'relay://c:3')), ['b', 0])
  const live = connecting()
  live.staysGood()
  assert.deepEqual(live.closes(closing(200, 'relay://c:3')), ['a', 0])
})

test('[SE17] relays that send the client round and round do not keep it from pausing, whether they let in or not', () => {
  const [a, b] = ['relay://a:1', 'relay://b:2']
  const outside = connecting()
  assert.deepEqual([outside.closes(moved(b)), outside.closes(moved(a)), outside.closes(moved(b))], [['b', 0], ['a', 0], ['b', 499]])
  const inside = connecting()
  const sent = [b, a, b, a, b, a].map(address => {
    inside.logIn()
    return inside.closes(moved(address))[1]
  })
  assert.deepEqual(sent, [0, 0, 499, 0, 0, 999])
})

const seed = Number(process.env.BOARDRELAY_PAGE_SEED ?? Math.floor(Math.random() * 2 ** 48))

test('[SE17] whatever relays say, no more attempts in a row begin without a pause than there are addresses', context => {
  context.diagnostic(`BOARDRELAY_PAGE_SEED=${seed}`)
  const dice = new Dice(seed)
  for (let round = 0; round < 60; round++) {
    const count = 1 + dice.below(4)
    const address = Array.from({length: count - 1}, (_, at) => `also=h${at + 1}:1`).join('&')
    const client = connecting(`relay://h0:1#${address}`)
    for (let step = 0, row = 0; step < 40; step++) {
      if (dice.below(3) === 0) client.logIn()
      const [, pauseMs] = dice.below(3) === 0 ? client.fails()
        : client.closes(dice.below(4) === 0 ? closing(200) : moved(`relay://h${dice.below(count + 1)}:1`))
      row = pauseMs === 0 ? row + 1 : 0
      assert.ok(row <= count, `round ${round}: ${row} attempts without a pause, ${count} addresses`)
    }
  }
})

test('[SE17] an address that is no text, too long or of another form is a fault of the relay, as other malformed bodies are', () => {
  const at = letters => `relay://${'h'.repeat(letters - 'relay://:7420'.length)}:7420`
  for (const address of ['relay://192.168.1.5:7420', 'relays://[fd00::1]:7420', at(Limits.addressBytesMax)]) {
    const client = connecting()
    client.feed(moved(address))
    assert.equal(client.machine.linkState.reason.code, ErrorCode.moved, address)
  }
  const malformed = [7, {}, [at(20)], '', 'a:1', 'relay://a', 'relay://:1', 'http://a:1', 'relay://a:1/', 'relay://k@a:1', 'relay://a b:1',
    at(Limits.addressBytesMax + 1), `relay://${'é'.repeat(145)}:7420`]
  for (const address of malformed) {
    const client = connecting()
    client.feed(moved(address))
    const {kind, text} = client.machine.linkState.reason
    assert.deepEqual([kind, text], ['relayFault', 'closing.address has the wrong form'], `${address}`)
    assert.deepEqual(client.next(), ['b', 0])
  }
})
