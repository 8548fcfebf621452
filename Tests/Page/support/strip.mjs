// What a relay leaves out of a module when it serves it, as a few lines in any language can at run time.

/**
 * A line that begins with `//`, and every line of a block comment that begins a line, is left out, as are empty lines; of
 * other lines the blanks that they begin with. It is the same program as long as `unsafeLines` finds nothing.
 */
export function strip(/** @type {string} */ text) {
  let isInComment = false
  const kept = text.split('\n').map(line => line.trimStart()).filter(line => {
    const isComment = isInComment || line.startsWith('/**')
    isInComment = isComment && !line.includes('*/')
    return line && !isComment && !line.startsWith('//')
  })
  return kept.join('\n') + '\n'
}

/** Without the lines from one that begins with `// #region` up to the next that begins with `// #endregion`. */
export function withoutRegions(/** @type {string} */ text) {
  let isInRegion = false
  return text.split('\n').filter(line => {
    const mark = line.trimStart()
    if (mark.startsWith('// #region')) isInRegion = true
    const isKept = !isInRegion
    if (mark.startsWith('// #endregion')) isInRegion = false
    return isKept
  }).join('\n')
}

/** The client as the whiteboard loads it. */
export const forWhiteboard = text => strip(withoutRegions(text))

/**
 * Lines of a module that could make `strip` another program of it: a block comment that goes on in the line of its end, or
 * begins behind code and does not end there; a string or template that goes over the end of its line.
 */
export function unsafeLines(/** @type {string} */ text) {
  const unsafe = []
  let isInComment = false
  for (const line of text.split('\n').map(line => line.trim())) {
    if (isInComment || line.startsWith('/**')) {
      isInComment = !line.includes('*/')
      if (!isInComment && line.indexOf('*/') !== line.length - 2) unsafe.push(line)
    } else if (!line.startsWith('//')) {
      const code = line.replace(/\/\*\* .*? \*\//g, '')
      if (/\/\*|\\$|\\`/.test(code) || (code.match(/`/g)?.length ?? 0) % 2 === 1) unsafe.push(line)
    }
  }
  return isInComment ? [...unsafe, 'a comment without an end'] : unsafe
}
