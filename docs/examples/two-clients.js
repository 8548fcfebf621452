import {RelayClient} from './relay-client.js'

const address = 'http://192.168.1.5:7420/#key=c4tnapx5e2qzt6mlw7rbd3kvfy'
await RelayClient.withClient(address, 'ann', {}, ann => RelayClient.withClient(address, 'ben', {}, async ben => {
  const [here, there] = [ann, ben].map(client => client.channel('lesson'))
  const changes = there.board.changes()
  await there.open({from: 'now'})
  await here.board.put('s1', '0,0 10,20').stored
  const {value: change} = await changes.next()
  expectEqual(change?.records?.map(({key, author}) => [key, author]), [['s1', 'ann']])
}))
