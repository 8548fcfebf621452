// What a session has, over breaks: positions, flows, snapshots, what is asked again.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {encodeFrame as encode} from '../../Sources/RelayPage/client/frames.js'
import {bob, deliver, flowOpened, MachineDriver, packet, plain, record} from './support/machine-driver.mjs'

const restored = more => ({type: 'restored', body: {kind: 'message', channel: 'lesson', handle: 7, features: ['messages', 'presence'],
    quiet: false, epoch: {start: 1000, incarnation: 1}, head: 0, ...more}})
const caughtUp = head => ({type: 'caughtUp', body: {channel: 7, head}})
const texts = events => events.map(({type, payload, messages}) => type === 'message' ? payload : type === 'board'
    ? messages.map(({payload}) => payload) : type)

test('[SE9] a resumption tells the newest offset seen, and what is caught up comes once', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe({head: 5})
  driver.feed(bob, deliver(6, 'six'), deliver(8, 'eight'))
  assert.deepEqual(texts(driver.events()).slice(-2), ['six', 'eight'])
  const login = driver.comeBack()
  assert.deepEqual(plain(login.resume), {token: 'f'.repeat(32), seen: {lesson: [8, 1000, 1]}})
  driver.feed(restored({head: 10, recovered: true, after: 8}), bob, deliver(9, 'nine'), deliver(10, 'ten'), caughtUp(10))
  driver.pong()
  assert.deepEqual(texts(driver.events()).slice(-3), ['nine', 'ten', 'caughtUp'])
  assert.deepEqual(plain(driver.comeBack().resume.seen), {lesson: [10, 1000, 1]})
})

test('[SE9, HI4, CH6] what was missed is told once, whether in the answer or by gap, and reset voids what was held', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe({head: 5})
  driver.comeBack()
  driver.feed(restored({head: 20, recovered: false, missed: {from: 6, to: 10}, after: 10}),
      {type: 'gap', body: {channel: 7, from: 11, to: 12}})
  driver.pong()
  const missed = () => driver.events('messagesMissed').map(({extent}) => plain(extent))
  assert.deepEqual(missed(), [{from: 6, to: 10}, {from: 11, to: 12}])
  driver.comeBack()
  driver.feed(restored({head: 20, recovered: false, missed: {from: 11, to: 15}, after: 15}))
  assert.deepEqual(missed(), [{from: 13, to: 15}])
  driver.comeBack()
  driver.feed(restored({head: 20, recovered: false, missed: {from: 11, to: 15}, after: 15}))
  assert.deepEqual(missed(), [], 'it was told')
  driver.feed({type: 'reset', body: {channel: 7, epoch: {start: 1000, incarnation: 2}, head: 9}})
  assert.deepEqual(missed(), ['reset'])
  assert.deepEqual(plain(driver.machine.messages.positions.get('lesson')), {epoch: {start: 1000, incarnation: 2}, offset: 0})
})

test('[MS3, HI7] an own message counts as seen, but for one that was accepted while the client catches up', () => {
  const driver = new MachineDriver()
  const seen = () => driver.machine.messages.positions.get('lesson').offset
  driver.logIn()
  driver.subscribe({head: 5})
  for (const name of ['a', 'b', 'c']) driver.send(name)
  driver.send('echo', {echo: true})
  driver.feed(bob, {type: 'accepted', number: 1, offset: 6})
  assert.equal(seen(), 6)
  driver.feed({type: 'catchingUp', body: {channel: 7, after: 6}}, {type: 'accepted', number: 2, offset: 8})
  assert.equal(seen(), 6)
  // What the app asks anew goes on where it is.
  driver.request('again', 'subscribe', {channel: 'lesson', features: ['messages'], quiet: false})
  driver.answer({...restored({head: 8}).body})
  assert.equal(seen(), 6)
  driver.feed(record(7, 'k', 'x'), caughtUp(8), {type: 'accepted', number: 3, offset: 9}, {type: 'accepted', number: 4, offset: 10})
  assert.equal(seen(), 9)
  driver.feed(deliver(10, 'echo'))
  assert.equal(seen(), 10)
  assert.deepEqual(driver.events('caughtUp'), [])
})

test('[SE9] a link that ends between the last of what was kept and caughtUp: the next one says that all has come', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.request('a', 'subscribe', {channel: 'lesson', features: ['messages'], quiet: false, since: {beginning: true}})
  driver.answer({...restored({head: 1, recovered: true, after: 0}).body})
  driver.feed(bob, deliver(1, 'one'))
  assert.deepEqual({...plain(driver.comeBack({resumed: true}).resume.seen)}, {lesson: [1, 1000, 1, 1]})
  driver.feed(restored({head: 1}))
  assert.deepEqual(driver.events('caughtUp').map(({head}) => head), [1])
  assert.deepEqual({...plain(driver.comeBack({resumed: true}).resume.seen)}, {lesson: [1, 1000, 1]})
})

test('[BL3] a board comes in batches with progress, then live; coming back before its end asks for own records, too', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe({since: {beginning: true}, head: 400, recovered: true, after: 0})
  driver.feed(bob)
  const frames = Array.from({length: 300}, (_, index) => record(index + 1, `k${index}`, 'x'))
  driver.feed(...frames.slice(0, 2))
  assert.deepEqual(driver.events('board').map(({messages, progress}) => [messages.length, progress]), [[1, 1 / 400], [1, 2 / 400]])
  driver.feedBytes(Buffer.concat(frames.slice(2).map(frame => Buffer.from(encode(frame)))))
  assert.deepEqual(driver.events('board').map(({messages}) => messages.length), [256, 42])
  const login = driver.comeBack()
  assert.deepEqual(plain(login.resume.seen), {lesson: [300, 1000, 1, 1]})
  driver.feed(restored({head: 410, recovered: true, after: 300}), bob, record(401, 'k', 'y'), deliver(402, 'plain'), caughtUp(410),
      record(411, 'k', 'z'))
  assert.deepEqual(texts(driver.events().filter(({type}) => type !== 'link')), [['y'], 'plain', 'caughtUp', 'z'])
  assert.deepEqual(plain(driver.comeBack().resume.seen), {lesson: [411, 1000, 1]})
})

for (const hasMore of [true, false]) {
  test(`[BL3, MS9] an own record answered behind the reading that it is missing from: caughtUp says so first (more had to come: ${hasMore})`, () => {
    const driver = new MachineDriver()
    driver.logIn()
    driver.subscribe({since: {beginning: true}, head: 4, recovered: true, after: 0})
    driver.feed(bob, record(4, 'read', 'x'))
    driver.retain('own')
    driver.sent()
    assert.deepEqual(plain(driver.comeBack().resume.seen), {lesson: [4, 1000, 1, 1]})
    driver.events()
    // It was accepted at 5, and removed by somebody else.
    driver.feed(restored({head: 9, ...hasMore ? {recovered: true, after: 4} : {}}), ...hasMore ? [caughtUp(9)] : [])
    driver.pong()
    assert.deepEqual([driver.events('caughtUp').map(({head}) => head), driver.state('own')], [[9], [undefined, undefined]])
    driver.feed({type: 'accepted', number: 1, offset: 5}, {type: 'stored', number: 1, offset: 5})
    assert.deepEqual([driver.state('own'), driver.events()], [[5, 5], []])
    assert.deepEqual(plain(driver.machine.messages.positions.get('lesson')), {epoch: {start: 1000, incarnation: 1}, offset: 9})
  })
}

test('[BL3, BL5, BL8] a new session goes on behind what was seen; after a restart of the relay under another epoch as well', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe({head: 4})
  driver.feed(bob, record(5, 'big', 'a', {part: 1, parts: 2, retain: false}))
  driver.comeBack({resumed: false, start: 1001})
  const [asked] = driver.sent().filter(({type}) => type === 'subscribe')
  assert.deepEqual(plain(asked.body), {id: asked.body.id, channel: 'lesson', features: ['messages', 'presence'], quiet: false,
      since: {epoch: {start: 1000, incarnation: 1}, offset: 5}})
  driver.feed({type: 'answer', body: {id: asked.body.id, kind: 'message', channel: 'lesson', handle: 3, features: ['messages', 'presence'],
      quiet: false,
    epoch: {start: 1001, incarnation: 1}, head: 6, recovered: false, after: 5}}, bob, {...deliver(6, 'six'), channel: 3},
    {...caughtUp(6), body: {channel: 3, head: 6}})
  const events = driver.events()
  assert.deepEqual(texts(events).slice(-2), ['six', 'caughtUp'])
  // The drawing of whose parts the new relay knows nothing.
  assert.deepEqual(events.filter(({type}) => type === 'messagesMissed').map(({extent}) => plain(extent)), [{from: 5, to: 5}])
  // A board that was being read goes on to be read.
  driver.feed({type: 'reset', body: {channel: 3, epoch: {start: 1001, incarnation: 2}, head: 9}})
  driver.comeBack({resumed: false, start: 1002})
  assert.deepEqual(plain(driver.sent().find(({type}) => type === 'subscribe').body.since),
      {epoch: {start: 1001, incarnation: 2}, offset: 0, own: true})
})

test('[SE9] a subscription whose answer was lost goes on from where the app is: the login names the channel', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe({head: 5})
  // A new session, whose answer to the subscription goes with the link.
  driver.comeBack({resumed: false})
  assert.ok(driver.sentTypes().includes('subscribe lesson'))
  assert.deepEqual(plain(driver.comeBack({resumed: true}).resume.seen), {lesson: [5, 1000, 1]})
  driver.feed(restored({handle: 8, head: 9, recovered: true, after: 5}), bob)
  driver.pong()
  assert.ok(!driver.sentTypes().includes('subscribe lesson'))
  driver.events()
  driver.feed({...deliver(9, 'nine'), channel: 8}, {...deliver(10, 'ten'), channel: 8})
  assert.deepEqual(texts(driver.events()), ['nine', 'ten'])
})

test('[FR9] what a later version puts in front of a frame is passed over; what must be known, or is no block, ends the link', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe()
  driver.feed(...[bob, deliver(1, 'one')].map(frame => ({...frame, extensions: [0, 7, 0, 1, 255, 0, 9, 0, 0]})))
  assert.deepEqual(texts(driver.events('message')), ['one'])
  for (const extensions of [[0x80, 7, 0, 0], [0, 7, 0, 1], [0, 7, 0], [0, 7, 3, 253, ...new Uint8Array(1_021)]]) {
    driver.feed({...deliver(2, 'two'), extensions})
    assert.equal(driver.machine.state, 'waiting')
    driver.comeBack()
  }
})

for (const wasHeard of [false, true]) {
  test(`[SE11] a subscription that the app waits for is asked again; where it was to begin, the login says; heard: ${wasHeard}`, () => {
    const driver = new MachineDriver()
    driver.logIn()
    driver.request('a', 'subscribe', {channel: 'lesson', features: ['messages'], quiet: false, since: {beginning: true}})
    assert.deepEqual({...plain(driver.comeBack({resumed: true}).resume.seen)}, {lesson: []})
    if (wasHeard) driver.feed(restored({head: 3, recovered: true, after: 0}), bob, deliver(1, 'one'))
    // Once more, before the relay has restored all: now it goes on where it is.
    const seen = plain(driver.comeBack({resumed: true}).resume.seen)
    assert.deepEqual({...seen}, {lesson: wasHeard ? [1, 1000, 1, 1] : []})
    if (wasHeard) driver.feed(restored({head: 3, recovered: true, after: 1}), bob, deliver(2, 'two'))
    driver.pong()
    const again = driver.sent().find(({type}) => type === 'subscribe').body
    assert.deepEqual([driver.result('a'), again.since?.beginning], [undefined, wasHeard ? undefined : true])
    driver.feed({type: 'answer', body: {...restored({head: 3, ...wasHeard ? {} : {recovered: true, after: 0}}).body, id: again.id}})
    if (!wasHeard) driver.feed(bob, deliver(1, 'one'), deliver(2, 'two'))
    driver.feed(deliver(3, 'three'), {type: 'caughtUp', body: {channel: 7, head: 3}})
    assert.deepEqual([driver.result('a'), texts(driver.events('message'))], ['done', ['one', 'two', 'three']])
  })
}

test('[SE11] a question that was not answered is asked again, resumed or not; at the end of the client its outcome is unknown', () => {
  for (const resumed of [true, false]) {
    const driver = new MachineDriver()
    driver.logIn()
    driver.request('question', 'who', {kind: 'message', channel: 'lesson'})
    driver.comeBack({resumed})
    if (resumed) driver.pong()
    assert.deepEqual([driver.sentTypes(), driver.result('question')], [['who lesson'], undefined])
    driver.cut()
    driver.close()
    assert.equal(driver.result('question'), 'outcomeUnknown')
  }
})

test('[SE10, SE11] a new session has everything asked for again, in order; what is refused then is told', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.request('states', 'setStates', {kind: 'message', channel: 'lesson', states: {name: 'A'}})
  driver.answer()
  driver.subscribe()
  driver.hear()
  driver.request('join', 'joinTopic', {channel: 'lesson', topic: 'points', priority: 'normal', meta: ''})
  driver.answer({flow: 5, next: 1})
  driver.request('user', 'subscribeUserMetadata', {user: 'bob'})
  driver.answer()
  driver.request('change', 'clear', {channel: 'lesson'})
  driver.comeBack({resumed: false})
  assert.equal(driver.result('change'), 'outcomeUnknown')
  const asked = driver.sent().filter(({type}) => type !== 'ping')
  assert.deepEqual(asked.map(({type}) => type), ['setStates', 'subscribe', 'join', 'subscribeTopic', 'subscribeUserMetadata', 'joinTopic'])
  driver.events()
  for (const {body} of asked) driver.feed({type: 'error', body: {id: body.id, code: 139, name: 'notPermitted', text: 'no'}})
  assert.deepEqual(driver.events('refused').map(({subject}) => subject),
      ['states', 'channel', 'channel', 'subscribedTopic', 'userMetadata', 'publishedTopic'])
  driver.comeBack({resumed: false})
  assert.deepEqual(driver.sentTypes(), [])
})

test('[SE9] a resumption names what is there: the rest was left', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe()
  driver.subscribe({channel: 'other', handle: 8})
  driver.request('gone', 'unsubscribe', {channel: 'other'})
  driver.comeBack()
  driver.feed(restored({}))
  driver.pong()
  assert.deepEqual([...driver.machine.session.wanted.channels.keys()], ['lesson\nmessage'])
  assert.equal(driver.result('gone'), undefined)
})

test('[ST9, DL6, SE9] every packet of a flow comes once or stands in one range that was told', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.hear()
  // Told lost before its flow is opened.
  driver.feed({type: 'lost', reason: 1, ranges: [{flow: 20, first: 1, last: 2}]}, flowOpened(20, 1), packet(20, 3))
  driver.feed({type: 'lost', reason: 2, ranges: [{flow: 20, first: 5, last: 6}]}, packet(20, 4), packet(20, 7))
  driver.feed({type: 'lost', reason: 3, ranges: [{flow: 20, first: 9, last: 10}]},
      {type: 'lost', reason: 4, ranges: [{flow: 20, first: 11, last: 11}]},
      {type: 'lost', reason: 9, ranges: [{flow: 20, first: 12, last: 12}]})
  const told = () => driver.events('packetsLost').map(({reason, entries}) =>
      [reason, ...entries.map(({first, last}) => `${first}-${last}`)])
  assert.deepEqual(told(), [['slowReader', '1-2'], ['expired', '5-6'], ['catchingUp', '9-10'], ['readerLimit', '11-11'],
      ['other 9', '12-12']])
  const stream = {type: 'restored', body: {kind: 'stream', channel: 'lesson', handle: 9, features: [], quiet: false}}
  driver.comeBack()
  driver.feed(stream, flowOpened(21, 4, {from: 2}), {type: 'flowClosed', body: {flow: 21, last: 3}}, flowOpened(20, 15, {from: 1}))
  assert.deepEqual(told(), [['linkBroken', '2-3'], ['linkBroken', '8-8', '13-14']])
  driver.pong()
  driver.feed(packet(20, 15))
  driver.comeBack()
  driver.feed(stream, flowOpened(20, 17, {from: 1}))
  assert.deepEqual(told(), [['linkBroken', '16-16']], 'one alone')
  driver.pong()
  driver.feed({type: 'lost', reason: 1, ranges: [{flow: 20, first: 18, last: 19}]})
  assert.deepEqual(told(), [['slowReader', '18-19']])
  driver.comeBack()
  driver.feed(flowOpened(21, 4, {from: 2}), {type: 'flowClosed', body: {flow: 21, last: 3}})
  driver.pong()
  assert.deepEqual(told(), [['linkBroken', '17-17', '20-undefined']], 'a flow that is not named again has closed')
  assert.equal(driver.machine.flows.byHandle.size, 0)
})

test("[SE9, ST13] of one's own packets those with an echo are lost with a link, and no others", () => {
  for (const echo of [false, true]) {
    const device = '00000000000000aa'
    const driver = new MachineDriver({device})
    driver.logIn()
    driver.publishIn()
    driver.feed(flowOpened(21, 1, {user: 'alice', device}))
    driver.machine.sendPacket({payload: 'p', channel: 'lesson', topic: 'points', echo}, driver.now)
    driver.sent()
    driver.comeBack()
    driver.feed({type: 'restored', body: {kind: 'stream', channel: 'lesson', handle: 9, features: [], quiet: false}},
        flowOpened(21, 2, {from: 1, user: 'alice', device}))
    driver.pong()
    driver.comeBack()
    driver.pong()
    const told = driver.events('packetsLost').map(({entries: [{first, last}]}) => [first, last])
    assert.deepEqual(told, echo ? [[1, 1], [2, undefined]] : [])
  }
})

test('[DM2] a direct message is acknowledged when the app says so, once it was read or not, and not over another link', () => {
  const driver = new MachineDriver()
  driver.logIn()
  const direct = delivery => ({type: 'directDeliver', delivery, time: 1, sender: 'bob', text: true, payload: Buffer.from('hi')})
  driver.feed(direct(3))
  driver.pong()
  const [first] = driver.events('direct')
  assert.equal(first.payload, 'hi')
  assert.deepEqual(driver.sentTypes(), [], 'reading acknowledges nothing')
  driver.machine.acknowledge(first.acknowledgement)
  assert.deepEqual(driver.sent().map(({type, delivery}) => [type, delivery]), [['directReceived', 3]])
  driver.feed(direct(4))
  driver.comeBack()
  const [second] = driver.events('direct')
  driver.machine.acknowledge(second.acknowledgement)
  assert.deepEqual(driver.sentTypes(), [])
})

test('[PR2, PR6, ST11] presence and topics become events', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe()
  driver.hear()
  driver.events()
  const presence = (event, more) => ({type: 'presence', body: {channel: 7, event, ...more}})
  driver.feed(
    presence('snapshot', {members: [{user: 'bob', states: {constructor: 'x'}}], total: 1}), presence('join', {user: 'eve', states: {}}),
    presence('stateChanged', {user: 'eve', states: {a: 'b'}, removed: ['c']}), presence('leave', {user: 'eve'}), presence('timeout', {user: 'bob'}),
    presence('interval', {joined: [{user: 'x', states: {}}], left: ['y']}), presence('snapshot', {channel: 99, members: []}), presence('futureEvent', {members: 'x'}))
  assert.deepEqual(driver.events().map(({kind, channel}) => `${kind} ${channel.kind} ${channel.channel}`),
    ['snapshot', 'joined', 'stateChanged', 'left', 'timedOut', 'interval'].map(kind => `${kind} message lesson`))
  const publishers = [{topic: 't', user: 'bob', device: 'd', meta: ''}]
  const topics = (event, more) => ({type: 'topics', body: {channel: 9, event, publishers, ...more}})
  driver.feed(topics('snapshot', {more: true}), topics('snapshot'), topics('snapshot'), topics('publisherJoined'), topics('publisherLeft'))
  assert.deepEqual(driver.events().map(({kind}) => kind), ['snapshot', 'joined', 'snapshot', 'joined', 'left'])
})

test('[LK8] locks become events', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe()
  driver.events()
  driver.feed({type: 'locks', body: {channel: 7, event: 'released', locks: [{lock: 'pen', ttlMs: 1}], user: 'bob'}})
  assert.deepEqual(driver.events().map(({kind, formerOwner}) => [kind, formerOwner]), [['released', 'bob']])
})

test('[MD7, MD8] changes of metadata are merged, over pages, and the whole set is told with them', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe({features: ['metadata']})
  driver.events()
  const change = (event, values, more = {}) => ({
    type: 'metadata', texts: Object.values(values).map(value => Buffer.from(value)),
    body: {channel: 7, event, majorRevision: 1, items: Object.entries(values)
        .map(([key, value]) => ({key, bytes: Buffer.from(value).length, revision: 1})), ...more},
  })
  driver.feed(change('snapshot', {a: 'é'}, {more: true}), change('snapshot', {b: '2'}))
  driver.feed(change('changed', {b: '3'}, {majorRevision: 2, removed: ['a']}),
      change('changed', {x: 'y'}, {channel: undefined, user: 'bob'}))
  const events = driver.events('metadata')
  assert.deepEqual(events.map(({isSnapshot, items}) => [isSnapshot, [...items.values()].map(({key, value}) => key + value)]),
      [[true, ['aé', 'b2']], [false, ['b3']]])
  assert.deepEqual(events[1].removed, ['a'])
})

test('[AC7] a channel that one may not be in any more is left, and told', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe()
  driver.hear()
  driver.request('t', 'joinTopic', {channel: 'lesson', topic: 'points'})
  driver.answer({flow: 5, next: 1})
  driver.events()
  driver.feed({type: 'packetsDropped', body: {flow: 5, dropped: 2, total: 2}},
      {type: 'error', body: {flow: 5, code: 139, name: 'notPermitted', text: 'no'}})
  driver.feed({type: 'removed', body: {channel: 7, code: 139, name: 'notPermitted', text: 'no'}})
  assert.deepEqual(driver.events().map(({type, subject, reason}) => [type, subject ?? reason]),
      [['packetsDropped', 'overRate'], ['refused', 'packet'], ['refused', 'channel']])
  assert.throws(() => driver.machine.sendPacket({payload: 'x', channel: 'lesson', topic: 'points'}, driver.now), {name: 'topicNotJoined'})
  assert.deepEqual([...driver.machine.session.wanted.channels.keys()], ['lesson\nstream'])
})

test('[BL8] parts are put together by publisher and key, those of a record by offset; what does not come to its end is told', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe({head: 10})
  driver.events()
  const part = (offset, number, of, text, more = {}) => record(offset, 'big', text, {part: number, parts: of, ...more})
  driver.feed(bob, {type: 'userNamed', handle: 3, user: 'eve'})
  // Two publishers' parts in between one another, as messages; text that is cut within a letter.
  const letters = Buffer.from('héllo')
  driver.feed(part(11, 1, 2, '', {retain: false, payload: letters.subarray(0, 2)}), part(12, 1, 2, 'x', {retain: false, publisher: 3}))
  driver.feed(part(13, 2, 2, '', {retain: false, payload: letters.subarray(2)}), part(14, 2, 2, 'y', {retain: false, publisher: 3}))
  assert.deepEqual(driver.events().map(({payload, offset, sender}) => [payload, offset, sender]), [['héllo', 13, 'bob'], ['xy', 14, 'eve']])
  // One that is not completed.
  driver.feed(part(15, 1, 2, 'a', {retain: false}), part(16, 0, 2, '', {retain: false}), part(17, 0, 3, '', {retain: false}))
  assert.deepEqual(driver.events().map(({type, extent}) => [type, extent]), [['messagesMissed', {from: 15, to: 15}]])
  assert.equal(driver.machine.messages.positions.get('lesson').offset, 17)
  // A record: seen only with its last part.
  driver.feed(part(20, 1, 3, 'a'), part(20, 2, 3, 'b'))
  assert.equal(driver.machine.messages.positions.get('lesson').offset, 19)
  driver.feed(part(20, 3, 3, 'c'))
  assert.deepEqual(driver.events().map(({payload, isRetained}) => [payload, isRetained]), [['abc', true]])
  assert.equal(driver.machine.messages.positions.get('lesson').offset, 20)
  // Text that is none is bytes as a whole.
  driver.feed(part(21, 1, 2, '', {payload: Uint8Array.of(0xff)}), part(21, 2, 2, '', {payload: Uint8Array.of(0xfe)}))
  assert.deepEqual([...driver.events()[0].payload], [0xff, 0xfe])
  // One that ends in the middle, and one whose beginning is missing.
  driver.feed(part(22, 1, 2, 'a'), deliver(23, 'x'), part(24, 2, 2, 'b'))
  assert.deepEqual(driver.events().map(({type, extent}) => extent ? extent.from : type), [22, 'message', 24])
  assert.equal(driver.machine.messages.drawingsDropped, 3)
})

test('[BL6] cleared is told in its place, and counts as seen', () => {
  const driver = new MachineDriver()
  driver.logIn()
  driver.subscribe({head: 3})
  driver.events()
  driver.feed(bob, record(4, 'a', ''), {type: 'cleared', body: {channel: 7, offset: 5, user: 'bob', time: 9}})
  const [removal, cleared] = driver.events()
  assert.deepEqual([removal.isRemoval, removal.key, removal.payload], [true, 'a', ''])
  assert.deepEqual(plain(cleared), {type: 'cleared', channel: 'lesson', offset: 5, user: 'bob', wallMilliseconds: 9})
  assert.equal(driver.machine.messages.positions.get('lesson').offset, 5)
})

