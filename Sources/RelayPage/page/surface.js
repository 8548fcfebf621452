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
  const context = prepared(canvas)
  context.setTransform(like.getTransform())
  return context
}
