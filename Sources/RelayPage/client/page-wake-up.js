// A page that comes back to the foreground.

/** Tells a client when a page comes back to the foreground or to a network. @param {RelayClient} client @returns {() => void} ends it */
export function wakeUpWithPage(client) {
  const wake = () => document.visibilityState === 'visible' && client.wakeUp()
  const sources = [[document, 'visibilitychange'], [window, 'pageshow'], [window, 'online']]
  for (const [source, type] of sources) source.addEventListener(type, wake)
  return () => sources.forEach(([source, type]) => source.removeEventListener(type, wake))
}
