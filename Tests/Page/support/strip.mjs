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

/** Whether a line has no regular expression, comment or escape, and no slash in templates that may lie in each other. */
const isPlain = line => !line.includes('\\')
  && (!line.includes('/') || (!hasManyTemplates(line) && !line.replace(/'[^']*'|"[^"]*"|`[^`]*`/g, '').includes('/')))
const hasManyTemplates = line => line.split('`').length > 3

const alone = '()[]{},;:'
const operators = '=<>*?&|!+-%.'

/**
 * A line of a script without blanks that mean nothing: outside quotes, beside a bracket, a separator or an operator, unless an
 * operator stands on both sides. So no two tokens become one: brackets and separators are tokens by themselves, an operator and a
 * name have no character in common, and a point counts only as what keeps a blank (`1 .x`, `a ? .5 : b`). A line that this could
 * misread stays as it is: with a slash outside quotes, as of a regular expression or comment, an escape, or templates that may lie in each other.
 */
export function squeeze(/** @type {string} */ line) {
  if (!isPlain(line) || hasManyTemplates(line)) return line
  let quote = ''
  return [...line].filter((character, at, all) => {
    if (quote || '"\'`'.includes(character)) {
      quote = quote === character ? '' : quote || character
      return true
    }
    const [before = ' ', after = ' '] = [all[at - 1], all[at + 1]]
    if (character !== ' ' || before === ' ' || after === ' ' || (operators.includes(before) && operators.includes(after))) return true
    return ![before, after].some(side => side !== '.' && (alone + operators).includes(side))
  }).join('')
}

/**
 * Without the ends of lines that mean nothing: behind an open bracket or a comma, and before a closing bracket, where a missing
 * semicolon is put in without it.
 */
export function join(/** @type {string[]} */ lines) {
  const goesOn = (line, next) => isPlain(line) && (/[([{,]$/.test(line) || /^[)\]}]/.test(next))
  return lines.map((line, at) => at + 1 === lines.length || goesOn(line, lines[at + 1]) ? line : `${line}\n`).join('') + '\n'
}

/** A script as the whiteboard loads it. */
export const forWhiteboard = text => join(strip(withoutRegions(text)).trimEnd().split('\n').map(squeeze))

/** A style as a browser loads it: all of its lines end behind a bracket, a comma or a semicolon. */
export const styleOf = text => strip(text).replaceAll('\n', '')

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
