// docs/moving-from-twilio.md links to this file. The functions show… are the app's.
import {RelayClient} from './relay-client.js'

const client = await RelayClient.connect('http://192.168.1.5:7420/#key=c4tnapx5e2qzt6mlw7rbd3kvfy', 'alice-7f3a', {storage: localStorage})
client.on('packet', ({publisher, payload}) => showPen(publisher, payload))
const received = ({key, isRetained, isRemoval, payload}) => isRetained && showStroke(key, isRemoval ? undefined : payload)
client.on('message', received)
client.on('board', ({messages}) => messages.forEach(received))
client.on('cleared', () => showEmpty())
client.on('messagesMissed', ({extent}) => extent === 'reset' && showEmpty())
client.on('presence', ({channel, kind, members, member, user}) => {
  if (channel.kind !== 'message') return
  if (kind === 'snapshot') members.forEach(({user, states}) => showCome(user, states.name))
  if (kind === 'joined') showCome(member.user, member.states.name)
  if (kind === 'left' || kind === 'timedOut') showGone(user)
})

const pen = await client.join('lesson')
await pen.joinTopic('pen', {lifetimeMs: 300})
await pen.subscribeTopic('pen')
await client.presence({message: 'lesson'}).setStates({name: 'Alice'})
await client.subscribe('lesson', {since: 'beginning'})

pen.send('10,20', {topic: 'pen', slot: 1})
await client.sendLarge('0,0 10,20', {to: 'lesson', key: 's1', retain: true, echo: true}).stored.catch(showProblem)
await client.send({removing: 's0', from: 'lesson'}).accepted.then(() => showStroke('s0'), showProblem)   // notPermitted, if it is another's
