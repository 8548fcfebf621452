import {RelayClient, wakeUpWithPage} from './relay-client.js'

const client = new RelayClient('http://192.168.1.5:7420/#key=c4tnapx5e2qzt6mlw7rbd3kvfy', 'alice-7f3a', {storage: localStorage})
wakeUpWithPage(client)
const lesson = client.channel('lesson')
const points = lesson.topic('points')
const each = async (reader, show) => {
  for await (const value of reader) show(value)
}
each(lesson.board.pictures(), ({records, changed}) => {
  for (const key of changed) drawStroke(key, records.get(key)?.payload)
})
each(points.packets(), ({type, publisher, payload}) => type === 'packet' && drawLive(publisher, payload)).catch(showError)
await lesson.open()
const pen = await points.startPublishing({lifetime: 300})
pad.onpoint = point => pen.send(point)
pad.onstroke = (key, stroke) => lesson.board.put(key, stroke, {customType: 'stroke'})
pad.onerase = key => lesson.board.remove(key)
each(client.problems(), ({error}) => showError(error))
