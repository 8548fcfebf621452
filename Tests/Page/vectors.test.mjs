// docs/vectors through the browser's client: every frame decoded, encoded and told as the files say, and the session played.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {decodeFrame, encodeFrame, FrameReader} from '../../Sources/RelayPage/client/frames.js'
import {readJSON} from '../../Sources/RelayPage/client/json.js'
import {ClientMachine} from '../../Sources/RelayPage/client/machine.js'
import {RelayError} from '../../Sources/RelayPage/relay-client.js'
import {fromHex, hex, rows, vectorLines} from './support/vectors.mjs'
import {MachineDriver, plain} from './support/machine-driver.mjs'

const frames = rows('frames.tsv')

/** A frame as the third column of frames.tsv tells it. */
function meaning(frame) {
  const payloadText = ({payload, text}) => text ? JSON.stringify(Buffer.from(payload).toString()) : `hex:${hex(payload)}`
  if (frame.texts) return `head=${sortedJSON(frame.body)} payload="${frame.texts.map(text => Buffer.from(text).toString()).join('')}"`
  if (frame.body) return sortedJSON(frame.body)
  const words = []
  const {type, code, text, payload, ranges, echo, retain, noHistory, part, parts, ...fields} = frame
  if (fields.extensions) fields.extensions = {toString: () => `hex:${hex(frame.extensions)}`}
  for (const [name, value] of Object.entries(fields)) words.push(`${name}=${typeof value === 'string' ? JSON.stringify(value) : value}`)
  if (part !== undefined) words.push(`part=${part}/${parts}`)
  if (ranges) words.push(`ranges=${ranges.map(({flow, first, last}) => `${flow}:${first}-${last}`).join()}`)
  for (const [name, isSet] of Object.entries({echo, retain, noHistory})) if (isSet) words.push(name)
  if (payload) words.push(`payload=${payloadText(frame)}`)
  return words.join(' ')
}

const sortedJSON = value => JSON.stringify(value, (_, part) => part && typeof part === 'object' && !Array.isArray(part)
  ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => a < b ? -1 : 1)) : part)

test('[FR1, FR8, JS6] every row of frames.tsv is decoded to its meaning, and encoded to the same bytes', () => {
  assert.ok(frames.length >= 160, `only ${frames.length} rows`)
  for (const [name, digits, told] of frames) {
    const frame = decodeFrame(fromHex(digits))
    assert.equal(frame.type, name.split('.')[0], name)
    assert.equal(meaning(frame), told, name)
    assert.equal(hex(encodeFrame(frame)), digits, name)
  }
})

test('[FR2] frames are the same however they are cut and joined', () => {
  const all = fromHex(frames.map(([, digits]) => digits).join(''))
  const told = frames.map(([,, text]) => text)
  for (const size of [1, 2, 3, 5, 7, 64, 1000, all.length]) {
    const reader = new FrameReader()
    const found = []
    for (let at = 0; at < all.length; at += size) {
      reader.push(all.slice(at, at + size))
      for (let frame; (frame = reader.next());) found.push(meaning(frame))
    }
    assert.deepEqual(found, told, `in pieces of ${size}`)
  }
})

test('[FR3, FR4, FR7] each frame that is cut short, too long, or has a flag that it does not define, is refused or says something else', () => {
  for (const [name, digits, told] of frames) {
    const bytes = fromHex(digits)
    const withLength = (body, flags = bytes[5]) => {
      const out = new Uint8Array(6 + body.length)
      new DataView(out.buffer).setUint32(0, body.length + 2)
      out.set([bytes[4], flags], 4)
      out.set(body, 6)
      return out
    }
    const body = bytes.subarray(6)
    for (let length = 0; length < body.length; length++) {
      let frame
      try {
        frame = decodeFrame(withLength(body.subarray(0, length)))
      } catch (error) {
        assert.ok(error instanceof RelayError, `${name} cut to ${length}: ${error.stack}`)
        continue
      }
      assert.notEqual(meaning(frame), told, `${name} cut to ${length}`)
    }
    for (let bit = 1; bit < 256; bit *= 2) {
      if (bytes[5] & bit) continue
      let frame
      try {
        frame = decodeFrame(withLength(body, bytes[5] | bit))
      } catch (error) {
        assert.ok(error instanceof RelayError, `${name} with flag ${bit}: ${error.stack}`)
        continue
      }
      assert.notEqual(meaning(frame), told, `${name} with flag ${bit}`)
    }
  }
  const flagged = frames.filter(([, digits]) => parseInt(digits.slice(8, 10), 16) >= 0x80 && digits.slice(10, 12) === '00').length
  assert.ok(flagged > 40)
})

test('[FR3] a length below 2 or above 80 KiB and 2 ends the stream', () => {
  for (const [digits, name] of [['00000001', 'protocolError'], ['00014003', 'frameTooLarge'], ['ffffffff', 'frameTooLarge']]) {
    const reader = new FrameReader()
    reader.push(fromHex(digits))
    assert.throws(() => reader.next(), {name})
  }
  const longest = new FrameReader()
  longest.push(fromHex('00014002'))
  assert.equal(longest.next(), undefined)
})

test('[JS1, JS2, JS3, JS4] JSON that the protocol does not allow is refused', () => {
  const wrong = ['', '[]', '1', '{', '{}x', '{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"a":1.5}', '{"a":1e3}', '{"a":01}', '{"a":-}',
      '{"a":9007199254740992}',
    '{"a":"\\ud800"}', '{"a":"\\udc00\\ud800"}', '{"é":1}', '{"a":tru}', '{a:1}', '{"a":1,}', '{"a":[1,]}', '{"a":"\n"}', '{"a":"\\x"}', '\ufeff{}',
    '{"a":[[[[[[[[1]]]]]]]]}', '{"a":1]', '{"a" 1}']
  for (const text of wrong) assert.throws(() => readJSON(Buffer.from(text)), RelayError, text)
  assert.throws(() => readJSON(Uint8Array.of(0x7b, 0xff, 0x7d)), {name: 'badText'})
  const text = ' { "a" : [ 1 , -9007199254740991, "\\ud83d\\ude00é\\n", {}, true, null ] , "b":null,' +
    '"constructor":{"toString":"x"},"z":[[[[[[[]]]]]]] } '
  const right = plain(readJSON(Buffer.from(text)))
  assert.deepEqual(right, {a: [1, -9007199254740991, '😀é\n', {}, true, null], constructor: {toString: 'x'}, z: [[[[[[[]]]]]]]})
  assert.equal(readJSON(Buffer.from('{}')).toString, undefined)
})

test('[SE1, MS3, ST6, DM2] the session of session.txt is played by two machines, frame by frame', () => {
  const drivers = {}
  const pings = {A: [], B: []}
  let lines = 0
  for (const [who, direction, digits] of vectorLines('session.txt')) {
    const frame = decodeFrame(fromHex(digits))
    const driver = drivers[who] ??= new MachineDriver({
      user: {A: 'alice', B: 'bob'}[who], instance: {A: '00000000000000aa', B: '00000000000000bb'}[who], credential: undefined,
          description: undefined,
      secret: who === 'A' ? '000102030405060708090a0b0c0d0e0f' : undefined,
    })
    lines++
    if (direction === '<') {
      driver.feed(frame)
      continue
    }
    play(driver, frame)
    // The machine's own pings, which measure the way to the relay, are no part of the session.
    const sent = driver.sent().filter(({type}) => type !== 'ping' || !pings[who].push(1))
    assert.deepEqual(sent.map(meaning), frame.type === 'ping' ? [] : [meaning(frame)], `line ${lines}, ${frame.type}`)
  }
  assert.equal(lines, vectorLines('session.txt').length)
  const {A, B} = drivers
  assert.deepEqual(A.takeLinks(), ['connecting', 'connected', 'closed'])
  assert.deepEqual(B.takeLinks(), ['connecting', 'connected'])
  const toldB = B.events()
  assert.deepEqual(toldB.filter(({type}) => type === 'message')
      .map(({sender, payload, customType, offset}) => [sender, payload, customType, offset]), [['alice', 'hi', 'greeting', 1]])
  assert.deepEqual(toldB.filter(({type}) => type === 'packet').map(({sequence, slot, payload}) => [sequence, slot, hex(payload)]),
      [[1, undefined, '010203'], [2, 1, '04']])
  assert.deepEqual(toldB.filter(({type}) => type === 'direct').map(({sender, payload}) => [sender, hex(payload)]), [['alice', '09']])
  assert.deepEqual(toldB.filter(({type}) => type === 'refused').map(({error}) => error.name), ['unknownFlow'])
  assert.equal(B.machine.flows.byHandle.size, 0)
  assert.deepEqual(A.outcomes('greeting').accepted, {value: 1})
})

/** Has a machine's app do what makes it send a frame. */
function play(driver, frame) {
  const {machine} = driver
  const {type, body} = frame
  const {id, ...fields} = body ?? {}
  const content = payload => frame.text ? Buffer.from(payload).toString() : payload
  switch (type) {
    case 'login': return driver.connect()
    case 'publish': return driver.send('greeting', {payload: content(frame.payload), channel: frame.channel, customType: frame.customType})
    case 'publishPacket':
      // That bob has no such flow is what the session shows: an app cannot say it.
      if (!machine.flows.ownTopics.has(frame.flow)) return machine.outbound.write(frame)
      return machine.sendPacket({payload: content(frame.payload), channel: 'lesson', topic: 'points', slot: frame.slot,
          senderTime: frame.senderTime}, driver.now)
    case 'direct': return driver.sendDirect('direct', {payload: content(frame.payload), user: frame.user, customType: frame.customType})
    case 'directReceived': return driver.acknowledge()
    case 'logout': return driver.close()
    case 'ping': return undefined
    default: {
      const asked = {...fields}
      if (type === 'subscribe' || type === 'join') {
        // An app's call names what the vector leaves to the relay's defaults: the frame is asked for as it stands.
        asked.features = undefined
        asked.quiet = undefined
      }
      driver.request('asked', type, asked)
      const found = [...machine.requests.byID.values()].at(-1)
      if (type === 'subscribe') found.request.body.features = ['messages', 'presence']
      if (type === 'join') found.request.body.features = ['presence']
      return undefined
    }
  }
}

// board.tsv is of the board format, which the client carries and does not read: what it says of JSON is held against its reader.
test('board.tsv: payloads go through the client as they are, and its JSON reader finds the same of them well-formed', () => {
  const boards = rows('board.tsv')
  assert.ok(boards.length >= 60, `only ${boards.length} rows`)
  for (const [name,, reader, payload] of boards) {
    const bytes = encodeFrame({type: 'publish', number: 1, channel: 'lesson', text: true, payload: new TextEncoder().encode(payload)})
    const frame = decodeFrame(bytes)
    assert.equal(Buffer.from(frame.payload).toString(), payload, name)
    const isJSON = reader !== 'badJSON'
    if (isJSON) assert.deepEqual(plain(readJSON(frame.payload)), withoutNull(JSON.parse(payload)), name)
    else assert.throws(() => readJSON(frame.payload), RelayError, name)
    if (reader === 'ok') assert.equal(sortedJSON(plain(readJSON(frame.payload))), payload.replaceAll('\\/', '/'), name)
  }
})

const withoutNull = value => Array.isArray(value) ? value.map(withoutNull)
  : value && typeof value === 'object' ? Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null)
      .map(([key, part]) => [key, withoutNull(part)])) : value
