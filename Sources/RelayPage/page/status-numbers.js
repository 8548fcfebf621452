// What the status page makes of the relay's answers: rates, an order, and numbers in the reader's language.
import {language, locale} from './words/index.js'

/** A queue that was not empty for less than this is one that was just being written to. */
export const slowMs = 250
export const lags = ({backlogMs}) => backlogMs >= slowMs
/** Of memory: a session with a few channels holds some thousand bytes. */
const muchBytes = 1_000_000
export const holdsMuch = ({memoryBytes}) => memoryBytes >= muchBytes
/** More users than this are counted, not listed. */
const usersMax = 1_000

/** One answer with the users of all its pages; of those beyond a thousand only that there are some. */
export async function readStatus(moderation) {
  const first = await moderation.status()
  const users = [...first.users]
  let {next} = first
  while (next !== undefined && users.length < usersMax) {
    const page = await moderation.status({after: next})
    users.push(...page.users)
    next = page.next
  }
  return {...first, users, isCut: next !== undefined}
}

const rateCounters = {
  'messages-in': ['messagesAccepted', 'directAccepted'], 'messages-out': ['messagesDelivered', 'directAccepted'], 'packets-in': ['packetsAccepted'],
  'packets-out': ['packetsQueued'], 'packets-lost': ['packetsShedSlow', 'packetsShedExpired', 'packetsShedReader', 'packetsShedCatchingUp', 'packetsDiscarded'], refusals: ['refusals'],
}

/** What happened per second between two answers of one run of the relay, by name; none if the earlier is of another. */
export function ratesBetween(before, now) {
  const seconds = (now.uptimeMs - before?.uptimeMs) / 1000
  if (!(seconds > 0)) return {}
  const sum = ({counters}, names) => names.reduce((all, name) => all + counters[name], 0)
  return Object.fromEntries(Object.entries(rateCounters).map(([rate, names]) => [rate, (sum(now, names) - sum(before, names)) / seconds]))
}

/**
 * Who lags comes first, the slowest on top; then who makes the relay hold most, as far as it is twice what others do; of equals who is
 * here, who is away last, both in the relay's order of ids.
 */
export function inOrder(users) {
  const lag = user => lags(user) ? user.backlogMs : 0
  const size = ({memoryBytes}) => Math.floor(Math.log2(1 + memoryBytes))
  return [...users].sort((one, other) => lag(other) - lag(one) || size(other) - size(one) || one.away - other.away)
}

/** How full a small bar is, 0…1: nothing at none, all at 8 MiB, where the relay lets a reader go. */
export const load = bytes => Math.min(1, Math.log2(1 + bytes / 1024) / 13)

const number = (value, digits, more) =>
  value.toLocaleString(locale, {minimumFractionDigits: digits, maximumFractionDigits: digits, ...more})
/** Arabic writes a kilobyte out, and needs more room for it than a table has. */
const display = () => language === 'ar' ? 'narrow' : 'short'
const amount = (value, unit, digits = 0) => number(value, digits, {style: 'unit', unit, unitDisplay: display()})

export function bytesText(bytes) {
  const power = bytes < 1_000 ? 1 : Math.min(3, Math.floor(Math.log10(bytes) / 3))
  return amount(bytes / 1_000 ** power, ['kilobyte', 'megabyte', 'gigabyte'][power - 1], bytes ? 1 : 0)
}

export const countText = count => number(count, 0)

/** A rate: with a decimal while it is small. */
export const rateText = rate => number(rate, rate > 0 && rate < 10 ? 1 : 0)

export function spanText(ms) {
  if (ms < 1_000) return amount(ms, 'millisecond')
  const seconds = Math.floor(ms / 1000)
  if (seconds < 60) return amount(ms / 1000, 'second', seconds < 10 ? 1 : 0)
  const units = [['day', 86_400], ['hour', 3_600], ['minute', 60], ['second', 1]]
  const at = units.findIndex(([, size]) => seconds >= size)
  const [[big, size], [small, part]] = units.slice(at)
  return `${amount(Math.floor(seconds / size), big)} ${amount(Math.floor(seconds % size / part), small)}`
}
