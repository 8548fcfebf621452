// A program for Node over TCP. docs/javascript.md links to this file.
import {randomBytes} from 'node:crypto'
import {existsSync, readFileSync, writeFileSync} from 'node:fs'
import {connect} from 'node:net'
import {RelayClient} from './relay-client.js'

const file = new URL('bob.secret', import.meta.url)
if (!existsSync(file)) writeFileSync(file, randomBytes(16).toString('hex'), {mode: 0o600})
const secret = readFileSync(file, 'utf8')

const overTCP = ({opened, received, ended}) => {
  const socket = connect(7420, '192.168.1.5')
  socket.on('connect', opened)
  socket.on('data', received)
  socket.on('error', error => ended(error.message))
  socket.on('close', () => ended('the connection is closed'))
  return {
    send: bytes => socket.write(bytes), get bufferedBytes() { return socket.writableLength }, close: () => socket.destroy(),
    pause: () => socket.pause(), resume: () => socket.resume(),
  }
}

await RelayClient.withClient(overTCP, 'bob', {credential: {key: 'c4tnapx5e2qzt6mlw7rbd3kvfy'}, secret}, async client => {
  await client.channel('lesson').send('hello from Node').accepted
})
