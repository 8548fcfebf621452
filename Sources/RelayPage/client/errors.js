// Errors: their codes, their names, and what they say.

/** What went wrong, by name: compare `error.code` with these, never texts. */
export const ErrorCode = Object.freeze({
  // The request is refused; the connection lives.
  badRequest: 100, unknownFrame: 101, loginRequired: 102, alreadyLoggedIn: 103, badName: 104, badText: 105,
  tooLarge: 106, rateLimited: 107, notSubscribed: 108, notJoined: 109, topicNotJoined: 110, unknownFlow: 111,
  limitReached: 112, channelFull: 113, userOffline: 114, unconfirmed: 115, outcomeUnknown: 116, notSupported: 117,
  relayFull: 118, notPresent: 119, revisionMismatch: 120, itemNotFound: 121, storageFull: 122, storageFailed: 123,
  busy: 124, lockNotFound: 125, lockHeld: 126, lockNotHeld: 127, notAccepted: 128, boardFull: 129, quotaReached: 130,
  boardNotFound: 131, nothingToUndo: 132, partMissing: 133, tokenInvalid: 134, tokenExpired: 135, keyWrong: 136,
  credentialRequired: 137, userIDTaken: 138, notPermitted: 139, notBanned: 140, cancelled: 141, behindRefused: 142,
  codeWrong: 143, channelEnded: 144, boardInUse: 145,
  // The connection ends; the client comes back.
  shuttingDown: 200, slowConsumer: 201, heartbeatTimeout: 202, loginTimeout: 203, tooManyConnections: 204,
  accessExpired: 205, tooManySessions: 206, moved: 207,
  // The connection ends; the client stays away.
  protocolError: 300, versionNotSupported: 301, replaced: 302, abuse: 303, loggedOut: 304, frameTooLarge: 305,
  notRelayProtocol: 306, credentialsWrong: 307, keyChanged: 308, endedByModerator: 309, banned: 310,
  tlsRequired: 311, spaceUnknown: 312,
  // The client's own, never on the wire.
  connectFailed: 900, timedOut: 901, unsentFull: 902, clientClosed: 903, relayFault: 904, notConnected: 905, tooSlow: 906, lockLost: 907,
  otherRelay: 908,
})

const codeNames = new Map(Object.entries(ErrorCode).map(([name, code]) => [code, name]))

/** Whether asking again may help, of the client's own errors: the relay says it of its own. [ER5] */
const ownRetries = new Map(['connectFailed', 'timedOut', 'unsentFull', 'notConnected'].map(name => [ErrorCode[name], 'later']))

/** Why something did not happen: `tooLarge: a packet has at most 1024 bytes, not 1025`. */
export class RelayError extends Error {
  /**
   * @param {number} code one of `ErrorCode`, or of a newer relay
   * @param {string} text one sentence for people
   * @param {{limit?: number, actual?: number, retry?: string, retryAfterMs?: number, change?: number, outcome?: string}} [values]
   */
  constructor(code, text, {limit, actual, retry, retryAfterMs, change, outcome} = {}) {
    super(text)
    /** For programs. */
    this.code = code
    /** The code's name in docs/protocol.md. */
    this.name = codeNames.get(code) ?? `code ${code}`
    /** The bound that was passed, and the value that was found. */
    this.limit = limit
    this.actual = actual
    /** Whether asking again may help: `now`, `later`, `reconnect` or `never`. */
    this.retry = ['now', 'later', 'reconnect'].includes(retry) ? retry : ownRetries.get(code) ?? 'never'
    /** How long to wait before the same can succeed. */
    this.retryAfterMs = retryAfterMs
    /**
     * Whether it has happened, of a call that ended before its answer: `nothingHappened` where it was never sent, `unknown` where it was.
     *
     * @type {'nothingHappened'|'unknown'|undefined}
     */
    this.outcome = outcome ?? (code === ErrorCode.outcomeUnknown ? 'unknown' : undefined)
    /** Of a change set, the index of the change that was refused. @type {number|undefined} */
    this.changeIndex = change === undefined ? undefined : change - 1
  }
}

export const problem = (name, text, values) => new RelayError(ErrorCode[name], text, values)
export const fault = text => problem('protocolError', text)
export const tooLarge = (what, limit, actual) => problem('tooLarge', `${what} at most ${limit} bytes, not ${actual}`, {limit, actual})
export const outcomeUnknown = what => problem('outcomeUnknown', `the link ended before ${what} was answered: it may have happened or not`)
export const clientClosed = () => problem('clientClosed', 'the client is closed')

/** Whether a relay says that something is over which it was asked to end. */
export const isOverAlready = ({code}) => [ErrorCode.notSubscribed, ErrorCode.notJoined, ErrorCode.topicNotJoined].includes(code)
