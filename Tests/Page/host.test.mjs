// What a host's buttons do. The document is played: dialogs answer what the test says.
import assert from 'node:assert/strict'
import {test} from 'node:test'
import {Host} from '../../Sources/RelayPage/page/host.js'
import './support/english.mjs'
import {ErrorCode, RelayError} from '../../Sources/RelayPage/relay-client.js'

/** A page of somebody, and what was asked of the relay and told. */
function scene({mayModerate = true} = {}) {
  // Notices go after a while.
  globalThis.setTimeout = () => {}
  let refusal
  const [elements, asked, notices, dialogs, answers] = [new Map(), [], [], [], []]
  const element = tag => ({
    tag, dataset: {}, children: [], addEventListener() {}, remove() {},
    append(...children) { this.children.push(...children) },
    showModal() {
      dialogs.push(this.id)
      this.returnValue = answers.shift() ?? ''
      queueMicrotask(this.onclose)
    },
  })
  const toasts = {...element(), append: ({children: [text, action]}) => notices.push({text: text.textContent, undo: action?.onclick})}
  globalThis.document = {
    createElement: element, body: element(),
    getElementById: id => id === 'toasts' ? toasts : elements.get(id) ?? elements.set(id, element()).get(id),
  }
  const moderation = new Proxy({}, {get: (_, call) => async (...of) => {
    asked.push([call, ...of])
    if (refusal) throw refusal
    return 3
  }})
  const session = {
    board: 'lesson', mayModerate, isFrozen: false, isOpen: false, records: {isReading: false}}
  const host = new Host(session, () => moderation)
  host.show()
  const take = () => asked.splice(0)
  const manage = async (...list) => {
    answers.push(...list)
    await host.manage('ada', 'Ada')
    return take()
  }
  return {session, host, take, manage, notices, dialogs, $: id => document.getElementById(id),
    refuse: code => { refusal = new RelayError(code, 'no') }}
}

test('[AC11] the bar pauses and goes on, and opens and ends the free-for-all; it shows how things are', async () => {
  const {session, host, take, $} = scene()
  assert.equal($('host').hidden, false)
  for (const [button, mode, on, off] of [['pause', 'isFrozen', 'freeze', 'unfreeze'], ['free', 'isOpen', 'openEditing', 'closeEditing']]) {
    await $(button).onclick()
    session[mode] = true
    host.show()
    assert.equal($(button).ariaPressed, true)
    await $(button).onclick()
    assert.deepEqual(take(), [[on, 'lesson'], [off, 'lesson']])
  }
})

test('[AC11] guests have no bar, and are told of a free-for-all that begins or ends, not of one that is there', () => {
  const {session, host, notices, $} = scene({mayModerate: false})
  assert.equal($('host').hidden, true)
  const become = (isOpen, isReading = false) => {
    Object.assign(session, {isOpen, records: {isReading}})
    host.show()
    return notices.splice(0).length
  }
  assert.deepEqual([become(true, true), become(true), become(false), become(false), become(true)], [0, 0, 1, 0, 1])
})

test('[AC10, AC12, AC13, AC18] each choice about a person does one thing; what cannot be taken back is asked for twice', async () => {
  const {manage, notices, dialogs, refuse, take} = scene()
  const cases = [
    [['person-draw'], ['setRole', 'editor', {of: 'ada'}]], [['person-view'], ['setRole', 'reader', {of: 'ada'}]],
    [['person-edit'], ['setRole', 'coeditor', {of: 'ada'}]], [['person-remove'], ['endSession', {of: 'ada'}]],
    [['person-take-back', 'remove-no']], [['person-take-back', 'remove-yes'], ['removeRecords', {of: 'ada', from: 'lesson'}]],
    [['person-ban', 'ban-no']], [['person-ban', 'ban-yes'], ['ban', 'ada', {for: 86_400_000}]], [['person-close']], [['']],
  ]
  for (const [list, ...calls] of cases) assert.deepEqual(await manage(...list), calls, list.join())
  assert.deepEqual(dialogs.length, cases.reduce((sum, [list]) => sum + list.length, 0))
  await notices.find(({undo}) => undo).undo()
  assert.deepEqual(take(), [['unban', 'ada']])
  notices.splice(0)
  refuse(ErrorCode.notPermitted)
  await manage('person-ban', 'ban-yes')
  assert.match(notices.map(({text}) => text).join(), /^This person is a host as well/)
})
