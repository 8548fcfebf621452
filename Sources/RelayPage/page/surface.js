// Canvases to draw on.

/** A canvas's context whose lines end round. */
export function prepared(canvas) {
  const context = canvas.getContext('2d')
  context.lineCap = context.lineJoin = 'round'
  return context
}

/** An empty layer as another one is; one is kept for all. */
export function scratch(like) {
  const {width, height} = like.canvas
  const canvas = scratch.canvas ??= document.createElement('canvas')
  // This empties it, too.
  Object.assign(canvas, {width, height})
  const context = themed(prepared(canvas))
  context.isThemed = like.isThemed
  context.setTransform(like.getTransform())
  return context
}

export const darkness = globalThis.matchMedia?.('(prefers-color-scheme:dark)') ?? {matches: false}

/** Light for dark, and dark for light: as `invert(1) hue-rotate(180deg)` does. */
export function turned(color) {
  const [red, green, blue] = [1, 3, 5].map(at => 255 - parseInt(color.slice(at, at + 2), 16))
  const light = 2 * (0.213 * red + 0.715 * green + 0.072 * blue)
  return '#' + [red, green, blue].map(part => Math.round(Math.max(0, Math.min(255, light - part))).toString(16).padStart(2, '0')).join('')
    + color.slice(7)
}

/** A context of the screen. In the dark theme it turns the colours of what is drawn; pictures stay as they are. */
export function themed(context) {
  context.isThemed = true
  for (const name of ['fillStyle', 'strokeStyle']) {
    const {get, set} = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(context), name) ?? {}
    if (!set || Object.hasOwn(context, name)) continue
    const isTurned = color => context.isThemed && darkness.matches && /^#[\dA-F]{6}/i.test(color)
    Object.defineProperty(context, name, {get, set: color => set.call(context, isTurned(color) ? turned(color) : color)})
  }
  return context
}
