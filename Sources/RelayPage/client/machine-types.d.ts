// The types that only the client's own modules use.
import type {Outbox} from './outbox.js'
import type {Places} from './places.js'
import type {Credential, ReaderLimits} from './types.js'

/** Of the protocol: two channels have one name. */
export type ChannelID = {kind: 'message' | 'stream', channel: string}

export interface MachineSettings {
  user?: string
  code?: string
  instance: string
  secret?: string
  device?: string
  onlyDevice?: boolean
  acceptsRelay?: (relay: string) => boolean
  credential?: Credential
  presenceTimeoutMs?: number
  readerLimits?: ReaderLimits
  description?: string
  connectTimeoutMs?: number
  unsentCountMax?: number
  unsentBytesMax?: number
  random?: () => number
  outbox?: Outbox
  /** Those to which the client may link up. [SE17] */
  places?: Places
}

/** How the client waits for an answer. */
export interface AskHow {
  /** Added to the timeout, in milliseconds. */
  more?: number
  /** Cancellation ends the waiting only. */
  handsOver?: boolean
  /** Called in the one order of what happens. */
  settled?: (result: object) => void
  /** Called when a resumption has done what is asked, before the answer. */
  began?: () => void
  /** Called with what an answer brings that nobody waits for any more. */
  late?: (value: any) => void
  /** Behind the request's body. */
  texts?: Uint8Array[]
}
