// What the page says from its first moment on; words.js has the rest.

export const penTexts = {penOnly: 'Fingers move the view. Only the pen draws.', fingersToo: 'Let fingers draw'}

/** The state of the link in words; nothing where all is well. */
export function linkWords(state, unsent, secondsLeft) {
  const waiting = unsent > 0 ? ` · ${unsent} waiting` : ''
  if (state === 'connected') return ''
  if (state === 'waiting' && secondsLeft > 0) return `Trying again in ${secondsLeft} s${waiting}`
  return {connecting: 'Connecting…', waiting: 'Trying again…'}[state]?.concat(waiting) ?? `Not connected${waiting}`
}
