import {RelayClient} from './relay-client.js'

await RelayClient.withClient('http://192.168.1.5:7420/#key=c4tnapx5e2qzt6mlw7rbd3kvfy', 'bot-1', {}, async bot => {
  showSent(await bot.channel('lesson').send('the bell rings').accepted)
})
