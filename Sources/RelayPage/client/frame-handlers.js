// Which part of the machine takes which frame of the relay.

/**
 * By the type of the frame. `body` is the frame's JSON, or the frame itself if it has none.
 *
 * @type {Record<string, (machine: object, body: any, now: number, frame: object) => void>}
 */
export const frameHandlers = {
  ping: (machine, body) => machine.heartbeat.ping(body),
  pong: (machine, body, now) => machine.heartbeat.pong(body, now),
  welcome: (machine, body, now) => machine.session.welcome(body, now),
  restored: (machine, body) => machine.session.restored(body),
  answer: (machine, body) => machine.requests.answer(body),
  metadataPage: (machine, body, now, frame) => machine.requests.metadataPage(body, now, frame),
  historyItem: (machine, body) => machine.requests.historyItem(body),
  accepted: (machine, body, now) => machine.sent.accepted(body, now),
  stored: (machine, body) => machine.sent.stored(body),
  notStored: (machine, body) => machine.sent.notStored(body),
  credit: (machine, body) => machine.credits.told(body),
  confirmed: (machine, body, now) => machine.sent.confirmed(body, now),
  userNamed: (machine, body) => machine.messages.userNamed(body),
  deliver: (machine, body) => machine.messages.deliver(body),
  gap: (machine, body) => machine.messages.gap(body),
  catchingUp: (machine, body) => machine.messages.fellBehind(body),
  caughtUp: (machine, body) => machine.messages.caughtUp(body),
  cleared: (machine, body) => machine.messages.cleared(body),
  reset: (machine, body) => machine.messages.reset(body),
  directDeliver: (machine, body) => machine.channels.directDeliver(body),
  presence: (machine, body) => machine.channels.presence(body),
  topics: (machine, body) => machine.channels.topics(body),
  metadata: (machine, body, now, frame) => machine.channels.metadata(body, now, frame),
  locks: (machine, body) => machine.channels.locks(body),
  removed: (machine, body) => machine.channels.removed(body),
  accessChanged: (machine, body) => machine.channels.accessChanged(body),
  accessExpiring: (machine, body) => machine.channels.accessExpiring(body),
  joinCodeEnded: (machine, {reason}) => machine.unread.emit({type: 'joinCodeEnded', reason}),
  modeChanged: (machine, body) => machine.channels.modeChanged(body),
  flowOpened: (machine, body) => machine.flows.opened(body),
  flowClosed: (machine, body) => machine.flows.closedByRelay(body),
  packet: (machine, body) => machine.flows.packet(body),
  lost: (machine, body) => machine.flows.lost(body),
  packetsDropped: (machine, body) => machine.flows.packetsDropped(body),
  error: (machine, body, now) => machine.requests.refused(body, now),
  closing: (machine, {code, text, address}, now) => machine.end({kind: 'relayClosed', code, text}, now, address),
}
