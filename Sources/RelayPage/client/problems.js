// What becomes of problems: what readers get of an event, and what nobody reads.
import {ErrorCode, RelayError} from './errors.js'
import {Limits} from './limits.js'
/** @import {ClientEvent, Problem} from './types.js' */

/** Why the client drops packets of its own. */
const drops = {
  overRate: ['rateLimited', 'they came faster than the relay lets them'], linkDown: ['notConnected', 'the link was down for too long'],
  topicNotJoined: ['topicNotJoined', 'the topic was left'], closed: ['clientClosed', 'the client was closed'],
}

/** How a join code ends, and whether another one may be had. [AC20] */
const ends = {
  expired: ['codeWrong', 'the join code has expired', 'now'],
  wrongTries: ['rateLimited', 'the join code has ended: too many wrong tries', 'now'],
  keyChanged: ['keyChanged', 'the join code has ended: the key is another one', 'now'],
  notPermitted: ['notPermitted', 'the join code has ended: this client may not offer one any more'],
}

/**
 * @param {ClientEvent} event
 * @param {boolean} renewsItself whether the app gives tokens when it is asked
 * @returns {Problem|undefined} what a reader of problems gets of it
 */
export function problemOf(event, renewsItself) {
  const problem = (subject, [name, text, retry], more = {}) => (
    {type: 'refused', subject, ...more, error: new RelayError(ErrorCode[name], text, {retry})})
  switch (event.type) {
    case 'refused': return event
    case 'packetsDropped': {
      const {channel, topic, reason, dropped: count} = event
      const [name, text] = drops[reason]
      return problem('packets', [name, `packets were dropped: ${text}`, name === 'rateLimited' ? 'later' : undefined],
          {channel, topic, count})
    }
    case 'joinCodeEnded': {
      const {reason} = event
      return problem('joinCode', Object.hasOwn(ends, reason) ? ends[reason] : ['codeWrong', `the join code has ended: ${reason}`, 'now'])
    }
    case 'accessExpiring':
      return renewsItself ? undefined : problem('token', ['accessExpired', `the token ends in ${event.inMs} ms: renew it`, 'now'])
  }
  return undefined
}

/** Those that nobody reads: kept for their first reader, and logged. */
export class UnreadProblems {
  /** The newest, until somebody has read them. @type {Problem[]|undefined} */
  kept = []
  /** The number of earlier ones. */
  omitted = 0
  loggedAt = -Infinity

  /** @param {Problem} problem */
  add(problem, now) {
    const {kept} = this
    const isOne = ({subject, channel, topic, error}) => subject === 'packets' && channel === problem.channel && topic === problem.topic
      && error.code === problem.error.code
    const known = problem.subject === 'packets' && kept?.find(isOne)
    // A pen that is too fast pushes no refusal out.
    if (known) known.count += problem.count
    else kept?.push(problem)
    if (kept?.length > Limits.problemsKept) this.omitted += kept.splice(0, 1).length
    if (now - this.loggedAt < Limits.problemsLoggedEveryMs) return
    this.loggedAt = now
    const {subject, error} = problem
    console.warn(`whiteboard relay: a problem that nobody reads (problems()): ${subject}, ${error.name}: ${error.message}`)
  }

  /** All of them, for their reader. @returns {Problem[]} */
  take() {
    const omitted = this.omitted > 0 ? [{type: 'refused', subject: 'omitted', omitted: this.omitted}] : []
    const taken = [...omitted, ...this.kept ?? []]
    Object.assign(this, {kept: undefined, omitted: 0})
    return taken
  }
}
