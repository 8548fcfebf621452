// One user in a browser's place, by a WebSocket: says a word in the channel `lesson`, and prints the first word of somebody else.
//
//     NODE_EXTRA_CA_CERTS=ROOT node client.mjs https://HOST:PORT/ USER WORD
import {randomBytes} from 'node:crypto'
import {RelayClient} from '../../Sources/RelayPage/client/whole.js'
import {NodeWebSocket} from '../Page/support/web-socket.mjs'

globalThis.WebSocket = NodeWebSocket
const [, , address, user, word] = process.argv
await RelayClient.withClient(address, user, {secret: randomBytes(16).toString('hex')}, async client => {
  const channel = client.channel('lesson'), messages = channel.messages()
  await channel.open({from: 'now'})
  console.log('open')
  for await (const message of messages) {
    if (message.sender === user) continue
    console.log(message.text ?? String(message.payload))
    break
  }
  await channel.send(word).accepted
})
