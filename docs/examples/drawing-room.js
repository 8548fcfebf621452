// docs/moving-from-twilio.md links to this file. The functions show… are the app's.
import {RelayClient} from './relay-client.js'

const client = new RelayClient('http://192.168.1.5:7420/#key=c4tnapx5e2qzt6mlw7rbd3kvfy', 'alice-7f3a', {storage: localStorage})
const lesson = client.channel('lesson')
const each = async (reader, show) => {
  for await (const value of reader) show(value)
}
each(lesson.topic('pen').packets(), ({type, publisher, payload}) => type === 'packet' && showPen(publisher, payload)).catch(showProblem)
each(lesson.presence.members(), members => showPeople([...members.values()].map(({user, states}) => states.name ?? user)))
// Own strokes are among them, and go again if the relay refuses them.
each(lesson.board.pictures(), ({records, changed}) => {
  for (const key of changed) showStroke(key, records.get(key)?.payload)
})

await lesson.presence.set({name: 'Alice'})
await lesson.open()
const pen = await lesson.topic('pen').startPublishing({lifetime: 300})

pen.send('10,20', {slot: 1})
await lesson.board.put('s1', '0,0 10,20').stored.catch(showProblem)
await lesson.board.remove('s0').stored.catch(showProblem)   // notPermitted, if it is another's
