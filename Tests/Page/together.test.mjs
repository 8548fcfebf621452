// Being on a board together: who follows whom, whose hand came first, and what pages believe of what others tell.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {Live} from '../../Sources/RelayPage/page/live.js'
import {circleOf, handsOf, isView, Together} from '../../Sources/RelayPage/page/together.js'
import './support/english.mjs'

const people = states => new Map(Object.entries(states))

/** A page of `me`, with what it told the relay and its person. */
function scene(members = {}, {mayModerate = false} = {}) {
  const [told, notices, views, signals] = [[], [], [], []]
  globalThis.setTimeout = () => 1
  const element = tag => ({
    tag, dataset: {}, children: [], listeners: {}, style: {}, remove() {}, before() {},
    addEventListener(type, run) { this.listeners[type] = run },
    append(...children) { this.children.push(...children) },
    setAttribute() {},
    get firstChild() { return this.children[0] ??= element() },
    get lastChild() { return this.children.at(-1) ?? this.firstChild },
  })
  const elements = new Map()
  const toasts = {...element(), append: ({children: [text, action]}) => notices.push({text: text.textContent, run: action?.onclick})}
  Object.defineProperty(toasts, 'children', {value: []})
  globalThis.document = {
    hidden: false, createElement: element, createElementNS: (_, tag) => element(tag),
    getElementById: id => id === 'toasts' ? toasts : elements.get(id) ?? elements.set(id, element()).get(id),
  }
  const canvas = {
    stage: {...element(), clientWidth: 1_000, clientHeight: 500}, view: {x: 0, y: 0, scale: 1}, window: [0, 0, 100_000.4, 50_000],
    show([left, top, right, bottom], scale) { this.view = {x: (left + right) / 200, y: (top + bottom) / 200, scale} },
  }
  const session = {
    user: 'me', members: people({me: {}, ...members}), names: new Map([['ada', 'Ada'], ['ben', 'Ben']]), mayModerate, mayDraw: true,
    tell: states => told.push(states), sendView: view => views.push(view), signal: (...what) => signals.push(what),
  }
  const live = new Live(() => {})
  const tools = {pointers: new Map(), tool: 'pen', at: () => []}
  const together = new Together({session, canvas, live, tools, changed() {}})
  const cursor = (publisher, body) => live.packet(
    {topic: 'cursors', publisher, device: 'a', payload: JSON.stringify({v: 1, ...body})}, () => false, 0)
  const hear = (customType, body, sender = 'ada') => session.heard({customType, sender, payload: JSON.stringify({v: 1, ...body})})
  together.show()
  return {session, together, canvas, tools, told, views, signals, cursor, hear, live, texts: () => notices.splice(0), notices}
}

test('hands stand in the order in which they were raised; a new one comes behind those that it sees', () => {
  const members = people({b: {hand: '2'}, a: {hand: '2'}, c: {hand: '1'}, d: {hand: ''}, e: {}, f: {hand: 'x'}, g: {hand: '-1'}})
  assert.deepEqual(handsOf(members), ['c', 'a', 'b'])
  const {together, told, session} = scene({ada: {hand: '7'}, ben: {hand: '3'}})
  together.raise()
  session.members.set('me', {hand: '8'})
  together.raise()
  assert.deepEqual(told, [{hand: '8'}, {hand: ''}])
})

test('a circle of those who follow each other is found, and one of them is out of it', () => {
  const members = people({a: {follows: 'b'}, b: {follows: 'c'}, c: {follows: 'a'}, d: {follows: 'a'}, e: {follows: 'nobody'}})
  assert.deepEqual(['a', 'c', 'd', 'e'].map(user => circleOf(members, user).join('')), ['abc', 'cab', '', ''])
  const {together, session} = scene({ada: {follows: 'me'}, zoe: {}})
  together.follow('ada')
  session.members.set('me', {follows: 'ada'})
  together.show()
  assert.equal(together.leader, 'ada', 'the lowest id is out of it, and that is the other')
  together.follow('zoe')
  Object.assign(session, {members: people({me: {follows: 'zoe'}, zoe: {follows: 'me'}})})
  together.show()
  assert.equal(together.leader, undefined)
})

test('a page tells its view only while somebody follows it: at once to each who comes, and as it moves', () => {
  const {together, session, views, texts} = scene({ada: {}})
  together.moved()
  assert.deepEqual(views, [])
  session.members = people({me: {}, ada: {follows: 'me'}})
  together.show()
  together.show()
  assert.deepEqual(views, [[0, 0, 100_000, 50_000]])
  assert.match(texts()[0].text, /^Ada follows you/)
  session.view = views[0]
  session.members = people({me: {}, ada: {follows: ''}})
  together.show()
  assert.equal(session.view, undefined)
})

test('who follows sees all that the other sees, not under a hand that draws; an own pan ends it, and so does a leave', () => {
  const {together, canvas, tools, cursor, told, session} = scene({ada: {}})
  cursor('ada', {view: [0, 0, 200_000, 50_000]})
  assert.equal(canvas.view.scale, 1, 'nobody is followed')
  together.follow('ada')
  cursor('ben', {view: [0, 0, 10, 10]})
  cursor('ada', {view: [0, 0, 10, 'x']})
  assert.equal(canvas.view.scale, 1)
  cursor('ada', {x: 5, y: 6, view: [0, 0, 200_000, 50_000]})
  assert.deepEqual(canvas.view, {x: 1_000, y: 250, scale: 0.5})
  tools.pointers.set(1, {})
  cursor('ada', {view: [0, 0, 400_000, 50_000]})
  assert.equal(canvas.view.scale, 0.5)
  tools.pointers.clear()
  together.catchUp()
  together.moved()
  assert.deepEqual([canvas.view.scale, together.leader], [0.25, 'ada'])
  canvas.view = {...canvas.view, x: 7}
  together.moved()
  assert.deepEqual([together.leader, told], [undefined, [{follows: 'ada'}, {follows: ''}]])
  together.follow('ada')
  session.members.delete('ada')
  together.show()
  assert.equal(together.leader, undefined)
})

test('everybody is brought where the host is, and can go back; who draws is asked', () => {
  const {canvas, tools, hear, together, signals, texts} = scene({ada: {}}, {mayModerate: true})
  together.bring()
  assert.deepEqual(signals, [['bring', {view: [0, 0, 100_000, 50_000]}]])
  texts()
  for (const view of [undefined, [0, 0, 0, 5], [0, 0, 1.5, 5], [0, 0, 2e9, 5]]) hear('bring', {view})
  assert.equal(canvas.view.scale, 1)
  hear('bring', {view: [0, 0, 200_000, 50_000]})
  assert.equal(canvas.view.scale, 0.5)
  const [{text, run}] = texts()
  assert.match(text, /^Ada has brought you here/)
  run()
  assert.equal(canvas.view.scale, 1)
  tools.pointers.set(1, {})
  hear('bring', {view: [0, 0, 200_000, 50_000]})
  assert.equal(canvas.view.scale, 1)
  texts()[0].run()
  assert.equal(canvas.view.scale, 0.5)
})

test('a host lowers hands; whoever has none up, or is not meant, hears nothing', () => {
  const {hear, told, session, together, signals} = scene({ada: {hand: '1'}, me: {}}, {mayModerate: true})
  hear('lowerHands', {users: ['me']})
  session.members.set('me', {hand: '2'})
  hear('lowerHands', {users: ['ada']})
  hear('lowerHands', {users: 'me'})
  session.heard({customType: 'lowerHands', sender: 'ada', payload: '{'})
  assert.deepEqual(told, [])
  hear('lowerHands', {users: ['ada', 'me']})
  together.lowerOf('ada')
  assert.deepEqual([told, signals], [[{hand: ''}], [['lowerHands', {users: ['ada']}]]])
})

test('who drew a thing is told with the time; of somebody who has left while this page was not here only the id is known', () => {
  const {together, texts} = scene()
  const at = Date.UTC(2020, 0, 2, 12)
  together.tellWho([{records: [{author: 'ada', at}, {author: 'ada', at: at - 1}]}])
  together.tellWho([{records: [{author: '0123456789abcdef'}, {author: 'me'}]}])
  together.tellWho([])
  const [one, other, ...more] = texts().map(({text}) => text)
  assert.match(one, /^By Ada, Jan 2, 2020/)
  assert.equal(other, 'By somebody who has left (01234567) and you')
  assert.deepEqual(more, [])
})

test('a view is a box of the board', () => {
  assert.deepEqual([[0, 0, 1, 1], [-5, -5, 0, 0]].map(isView), [true, true])
  const others = [undefined, 'abcd', [0, 0, 1], [1, 0, 1, 1], [0, 0, 1, NaN], [0, 0, 1, 1e10]]
  assert.deepEqual(others.filter(isView), [])
})
