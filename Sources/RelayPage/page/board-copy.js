// Boards besides the one where the page is: what stands on one, and a copy of one. It comes when it is wanted.
import {readRecord} from './kinds/index.js'
import {locked} from './kinds/edits.js'

/** What is copied goes in steps of so many records and letters, so that little waits at a time. */
const stepRecordsMax = 512
const stepLettersMax = 2_000_000

/** Why there is no copy; `word` says it. */
export class CopyFault extends Error {
  constructor(word) {
    super(word)
    this.word = word
  }
}

/**
 * All records of a board where the page is not, by key, as the relay has them now. Nobody is seen there.
 *
 * @returns {Promise<Map<string, object>>} messages @throws {RelayError}
 */
export async function readBoard(session, name) {
  while (session.inUse.has(name)) await session.inUse.get(name)
  const reading = read(session.client.channel(name))
  session.uses(name, reading)
  return await reading
}

async function read(channel) {
  const found = new Map()
  const received = message => {
    if (!message.isRetained) return
    if (message.isRemoval) found.delete(message.key)
    else found.set(message.key, message)
  }
  const events = channel.events()
  try {
    const opening = channel.open({parts: ['messages'], from: 'board', quiet: true, timeout: Infinity})
    // A refusal ends the reader as well.
    opening.catch(() => events.return())
    for await (const event of events) {
      if (event.type === 'message') received(event)
      if (event.type === 'board') event.messages.forEach(received)
      if (event.type === 'cleared' || event.extent === 'reset') found.clear()
      if (event.type === 'caughtUp') break
    }
    await opening
    return found
  } finally {
    await channel.leave({timeout: Infinity}).catch(() => {})
  }
}

/** Changes in steps, each within the bounds of `Writer.writeAll`. @param {{key, record}[]} changes */
export function steps(changes) {
  const found = []
  let letters = Infinity
  for (const change of changes) {
    letters += change.record.payload.length
    if (letters > stepLettersMax || found.at(-1).length === stepRecordsMax) {
      found.push([])
      letters = change.record.payload.length
    }
    found.at(-1).push(change)
  }
  return found
}

/** What a board becomes of records: the same ones; in a template all that can be protected is. */
export const copyOf = (records, isTemplate) => records.map(({key, customType, payload}) => {
  const record = {customType, payload}
  const isThing = isTemplate && customType !== 'title' && readRecord(customType, payload)
  return {key, record: isThing ? locked(record, true) ?? record : record}
})

/**
 * Copies a board to another name, with its paper.
 *
 * @param {{session, from: string, to: string, isTemplate?: boolean, progress: (done: number) => void, signal: AbortSignal}} how
 * @throws {CopyFault|RelayError} what was copied until then stays
 */
export async function copyBoard({session, from, to, isTemplate = false, progress, signal}) {
  const {client, records} = session
  if (to === session.board || (await readBoard(session, to)).size > 0) throw new CopyFault('boards.notEmpty')
  const isHere = from === session.board
  if (isHere && records.isReading) throw new CopyFault('boards.notRead')
  const source = isHere ? records.shown : [...(await readBoard(session, from)).values()]
  const all = steps(copyOf(source.sort((one, other) => (one.offset ?? Infinity) - (other.offset ?? Infinity)), isTemplate))
  const {items} = await client.channel(from).metadata.get()
  const paper = items.find(({key}) => key === 'paper')?.value
  if (paper !== undefined) await client.channel(to).metadata.set({paper})
  for (const [at, step] of all.entries()) {
    if (signal.aborted) throw new CopyFault('boards.stopped')
    progress(at / all.length)
    const sent = session.writeAll(step, to)
    // What was not taken for sending was told.
    if (sent.includes(undefined)) throw new CopyFault('boards.stopped')
    await Promise.all(sent)
  }
  progress(1)
}
