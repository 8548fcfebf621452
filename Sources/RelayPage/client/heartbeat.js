// Pings, and how a link is judged that has fallen silent. [HB1–HB4]
import {Limits} from './limits.js'

/** Watches whether the relay is still there. */
export class Heartbeat {
  constructor(machine) {
    this.machine = machine
    this.intervalMs = 5_000
    /** When the link last said anything. */
    this.lastHeard = 0
    /** Whether a ping was sent, and nothing has come since. */
    this.pingIsOut = false
    /** @type {number|undefined} */
    this.pingSentAt = undefined
    /** By when a link that may be dead must answer. @type {number|undefined} */
    this.probeBy = undefined
    /** The last measured time to the relay and back. @type {number|undefined} */
    this.roundTripMs = undefined
  }

  heard(now) {
    this.lastHeard = now
    this.probeBy = undefined
    this.pingIsOut = false
  }

  linkEnded() {
    this.pingSentAt = undefined
    this.probeBy = undefined
  }

  /** When `deadline` has something to do. */
  get nextDeadline() {
    // A link that is being probed is judged by that alone.
    const silence = this.probeBy ?? this.lastHeard + this.intervalMs * (this.pingIsOut ? 2 : 1)
    const roundTrip = this.pingSentAt === undefined ? Infinity : this.pingSentAt + this.intervalMs * Limits.roundTripEveryIntervals
    return Math.min(silence, roundTrip)
  }

  /** @returns {'silent'|undefined} whether the relay is given up */
  deadline(now) {
    const {intervalMs, lastHeard, pingSentAt} = this
    if (this.machine.isHeldBack) {
      // What it says waits unread; it still hears from this client.
      if (now >= lastHeard + intervalMs) {
        this.heard(now)
        this.sendPing(now)
        this.pingIsOut = false
      }
      return undefined
    }
    if (this.probeBy !== undefined) return now >= this.probeBy ? 'silent' : undefined
    if (this.pingIsOut && now >= lastHeard + intervalMs * 2) {
      // The host slept: the relay gets a chance to be heard before it is judged. [HB4]
      if (now - lastHeard - intervalMs * 2 <= Limits.latenessToleratedMs) return 'silent'
      this.probe(now)
    } else if (!this.pingIsOut && now >= lastHeard + intervalMs) {
      this.sendPing(now)
    } else if (now >= pingSentAt + intervalMs * Limits.roundTripEveryIntervals) {
      this.sendPing(now)
    }
    return undefined
  }

  probe(now) {
    this.probeBy = now + Limits.probeTimeoutMs
    this.sendPing(now)
  }

  sendPing(now) {
    this.pingSentAt = now
    this.pingIsOut = true
    const payload = new Uint8Array(8)
    new DataView(payload.buffer).setFloat64(0, now)
    this.machine.outbound.write({type: 'ping', payload})
  }

  ping({payload}) {
    this.machine.outbound.write({type: 'pong', payload})
  }

  pong({payload}, now) {
    if (payload.length !== 8) return
    const sent = new DataView(payload.buffer, payload.byteOffset).getFloat64(0)
    if (sent <= now) this.roundTripMs = now - sent
    if (!this.machine.session.awaitsRestoration) return
    this.machine.session.awaitsRestoration = false
    this.machine.session.restorationEnded()
  }
}
