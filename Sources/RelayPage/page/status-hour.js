// The last hour on the status page: a chart for each thing, and all of it as a table.
import {bytesText, countText, rateText} from './status-numbers.js'
import {make} from './ui.js'
import {locale, say} from './words/index.js'

const perSecond = count => say('rate', {rate: rateText(count)})
const bytesPerSecond = bytes => say('rate', {rate: bytesText(bytes)})

/** Lines, each with its word and field: they look different without their colours, too. What happened in a minute is told per second. */
const charts = [
  {lines: [['sessions', 'sessions']], text: countText, min: 1},
  {lines: [['lagging', 'lagging']], text: countText, min: 1},
  {lines: [['messages.in', 'messagesIn'], ['messages.out', 'messagesOut']], text: perSecond, seconds: 60, min: 1},
  {lines: [['packets.in', 'packetsIn'], ['packets.out', 'packetsOut'], ['packets.lost', 'packetsLost']], text: perSecond, seconds: 60,
    min: 1},
  {lines: [['bytes.in', 'bytesIn'], ['bytes.out', 'bytesOut']], text: bytesPerSecond, seconds: 60, min: 1_000},
  {lines: [['memory', 'memoryBytes']], text: bytesText, min: 1_000},
  {lines: [['disk', 'diskBytes']], text: bytesText, min: 1_000},
]
const [width, height, minutes] = [240, 60, 60]

/** The next of 1, 2, 5, 10, 20 … */
export function roundUp(value) {
  const unit = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map(count => count * unit).find(round => round >= value)
}

/** A line of the newest minutes, which ends at the right edge; of one minute it is a point. */
export function path(values, top) {
  const x = at => width - (values.length - 1 - at) * width / (minutes - 1)
  const points = values.map((value, at) => `${x(at).toFixed(1)} ${(height - height * value / top).toFixed(1)}`)
  return points.length ? `M${points.join('L')}${points.length > 1 ? '' : 'h0'}` : ''
}

/** What is drawn of samples: charts with a round `top`, and lines of values; a relay without a folder has none of its disk. */
export const drawn = samples => charts.map(({lines, text, seconds = 1, min}) => {
  const found = lines.map(([word, field]) => ({word, values: samples.map(sample => sample[field] / seconds)}))
  return {text, top: roundUp(Math.max(min, ...found.flatMap(({values}) => values))), lines: found}
}).filter(({lines}) => lines[0].values.every(Number.isFinite))

/** When a sample ended, in the reader's language. */
const when = ago => new Intl.RelativeTimeFormat(locale, {numeric: 'auto', style: 'short'}).format(-ago, ago ? 'minute' : 'second')

function svg(size, paths, stretches) {
  const [image, ...lines] = ['svg', ...paths.map(() => 'path')].map(tag => document.createElementNS('http://www.w3.org/2000/svg', tag))
  image.setAttribute('viewBox', `0 0 ${size}`)
  image.setAttribute('preserveAspectRatio', stretches ? 'none' : 'xMidYMid')
  image.setAttribute('aria-hidden', true)
  paths.forEach(([name, d], at) => {
    lines[at].setAttribute('class', name)
    lines[at].setAttribute('d', d)
  })
  image.append(...lines)
  return image
}

function figure({text, top, lines}) {
  const names = lines.map(({word, values}, at) => make('span', {}, svg('24 8', [[`line${at}`, 'M1 4H23']]),
      `${say(word)} `, make('b', {textContent: text(values.at(-1))})))
  const plot = svg(`${width} ${height}`, lines.map(({values}, at) => [`line${at}`, path(values, top)]), true)
  return make('figure', {}, make('figcaption', {}, ...names),
      make('p', {className: 'note', textContent: `${countText(0)} – ${text(top)}`}), plot,
      make('p', {className: 'note times'}, make('span', {textContent: when(minutes)}), make('span', {textContent: when(0)})))
}

/** Charts and rows, in place of those before. */
export function showHour(samples, charts, head, body) {
  const all = drawn(samples)
  charts.replaceChildren(...samples.length ? all.map(figure) : [])
  const lines = all.flatMap(({text, lines}) => lines.map(line => ({...line, text})))
  head.replaceChildren(...['time', ...lines.map(({word}) => word)].map(word => make('th', {scope: 'col', textContent: say(word)})))
  body.replaceChildren(...samples.map((_, at) => make('tr', {},
      make('th', {scope: 'row', textContent: when(samples.length - 1 - at)}),
      ...lines.map(({values, text}) => make('td', {textContent: text(values[at])})))).reverse())
}
