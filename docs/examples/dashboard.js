import {RelayClient} from './relay-client.js'

const client = new RelayClient('http://192.168.1.5:7420/#key=c4tnapx5e2qzt6mlw7rbd3kvfy', 'wall-1')
const lesson = client.channel('lesson')
const follow = async (reader, show) => {
  for await (const value of reader) show(value)
}
follow(client.linkStates(), ({state}) => showLink(state))
follow(lesson.presence.members(), members => showPeople([...members.values()].map(({user, states}) => states.name ?? user)))
follow(lesson.metadata.contents(), ({items}) => showTitle(items.get('title')?.value))
follow(lesson.board.pictures(), ({records, changed}) => showBoard(records.size, changed.size))
follow(client.problems(), ({error}) => showError(error)).catch(showError)
await lesson.open({parts: ['messages', 'presence', 'metadata'], quiet: true})
