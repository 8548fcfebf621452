// What somebody wants to see again: this board as it was written, or a recording from a file. It comes behind the first drawing.
import {loadKinds} from '../kinds/index.js'
import {ask, make, toast} from '../ui.js'
import {say} from '../words/index.js'
import {LessonFault, mustFit, readLesson, standingLesson} from './lesson.js'
import {Timeline} from './timeline.js'

const isRecording = ({name}) => /\.(ndjson|jsonl)$/i.test(name)
/** The page's other work has its turn. */
const pause = () => new Promise(resolve => setTimeout(resolve))

let player
let isOpening = false

/** Rows of the menu; and a recording that is dropped on the board is played. @param {{session, records, title: () => string}} parts */
export function replayRows(parts) {
  const play = load => open(load, parts)
  const playFile = file => play(() => readFile(file))
  const picker = make('input', {id: 'recording', type: 'file', accept: '.ndjson,.jsonl,application/x-ndjson', hidden: true})
  picker.onchange = () => {
    playFile(picker.files[0])
    // The same file may be chosen once more.
    picker.value = ''
  }
  document.body.append(picker)
  takeDrops(playFile)
  const playBoard = () => play(() => standingLesson(parts.session.board, parts.records.shown, parts.session.paper?.value))
  return {'replay-board': playBoard, 'replay-file': () => picker.click()}
}

async function readFile(file) {
  mustFit(file.size)
  toast(say('replay.opening'))
  return readLesson(new Uint8Array(await file.arrayBuffer()), pause)
}

async function open(load, {session, title}) {
  if (isOpening) return
  isOpening = true
  try {
    const [lesson, {Player}] = await Promise.all([Promise.resolve().then(load), import('./player.js'), loadKinds()])
    const timeline = await Timeline.of(lesson, pause)
    player?.close()
    const name = lesson.board === session.board ? title() : lesson.board
    player = new Player({timeline, session, title: name, closed: () => { player = undefined }})
  } catch (error) {
    tell(error)
  } finally {
    isOpening = false
  }
}

/** Its dialog keeps nobody from opening the next file, which takes its place. */
function tell(error) {
  document.getElementById('replay-fault')?.close()
  const {word, values, line} = error
  const fault = error instanceof LessonFault ? say(word, values) : error.name === 'NotReadableError' ? say('replay.unreadable') : undefined
  if (!fault) return toast(say('notice.notConnected'))
  return ask('replay-fault', say('replay.notPlayed'), line ? say('replay.line', {line, fault}) : fault, [['replay-done', say('close')]])
}

/** Before anybody else: what is no recording is left to others, unless a replay is shown. */
function takeDrops(playFile) {
  const on = (type, take) => addEventListener(type, event => {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    if (player || [...event.dataTransfer.items].some(({kind, type}) => kind === 'file' && !/^image|pdf$/.test(type))) {
      event.stopImmediatePropagation()
    }
    take?.(event)
  }, true)
  on('dragover')
  on('drop', event => {
    const file = [...event.dataTransfer.files].find(isRecording)
    if (!file) return
    event.stopImmediatePropagation()
    playFile(file)
  })
}
