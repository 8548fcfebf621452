// docs/vectors through the browser's own copy of the client. Run as the body of a function: the rows.
// Answers with what is wrong, and how many rows were looked at.
const [frames, boards, done] = arguments
const wrong = []
const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
const fromHex = digits => Uint8Array.from(digits.match(/../g) ?? [], pair => parseInt(pair, 16))
const textOf = bytes => new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes)
const sorted = value => JSON.stringify(value, (_, part) => part && typeof part === 'object' && !Array.isArray(part)
  ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => a < b ? -1 : 1)) : part)

/** A frame as the third column of frames.tsv tells it. */
function meaning(frame) {
  if (frame.texts) return `head=${sorted(frame.body)} payload="${frame.texts.map(textOf).join('')}"`
  if (frame.body) return sorted(frame.body)
  const {type, code, text, payload, ranges, echo, retain, noHistory, part, parts, ...fields} = frame
  if (fields.extensions) fields.extensions = {toString: () => `hex:${hex(frame.extensions)}`}
  const words = Object.entries(fields).map(([name, value]) => `${name}=${typeof value === 'string' ? JSON.stringify(value) : value}`)
  if (part !== undefined) words.push(`part=${part}/${parts}`)
  if (ranges) words.push(`ranges=${ranges.map(({flow, first, last}) => `${flow}:${first}-${last}`).join()}`)
  words.push(...Object.entries({echo, retain, noHistory}).filter(([, isSet]) => isSet).map(([name]) => name))
  if (payload) words.push(`payload=${text ? JSON.stringify(textOf(payload)) : `hex:${hex(payload)}`}`)
  return words.join(' ')
}

const expect = (found, wanted, what) => {
  if (found !== wanted) wrong.push(`${what}: ${String(found).slice(0, 200)}, not ${String(wanted).slice(0, 200)}`)
}

Promise.all([import('/client/frames.js'), import('/client/json.js')]).then(([{decodeFrame, encodeFrame, FrameReader}, {readJSON}]) => {
  for (const [name, digits, told] of frames) {
    const frame = decodeFrame(fromHex(digits))
    expect(frame.type, name.split('.')[0], name)
    expect(meaning(frame), told, name)
    expect(hex(encodeFrame(frame)), digits, name)
  }
  // The same in one stream, however it is cut.
  const all = fromHex(frames.map(([, digits]) => digits).join(''))
  for (const size of [1, 7, 1000, all.length]) {
    const reader = new FrameReader()
    const found = []
    for (let at = 0; at < all.length; at += size) {
      reader.push(all.slice(at, at + size))
      for (let frame; (frame = reader.next());) found.push(meaning(frame))
    }
    expect(found.join('\n'), frames.map(([,, told]) => told).join('\n'), `in pieces of ${size}`)
  }
  for (const [name,, reader, payload] of boards) {
    let isRead = true
    try { readJSON(new TextEncoder().encode(payload)) } catch { isRead = false }
    expect(isRead, reader !== 'badJSON', name)
  }
  done({wrong, rows: frames.length + boards.length})
}).catch(error => done({wrong: [`${error}\n${error?.stack}`], rows: 0}))
