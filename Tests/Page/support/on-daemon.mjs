// Tests on a daemon of their own.
import {test} from 'node:test'
import {RelayClient} from '../../../Sources/RelayPage/relay-client.js'
import {Daemon, skip} from './daemon.mjs'
import {Dice} from './dice.mjs'
import {CutProxy, tcpTransport} from './links.mjs'
import {Watcher} from './watcher.mjs'

const seed = Number(process.env.BOARDRELAY_PAGE_SEED ?? Math.floor(Math.random() * 2 ** 48))

/** Makes the tests of a file: each on a daemon of its own, with what it opened closed at its end, and its seed told. */
export const onDaemon = file => (setup, name, body) => {
  test(name, {skip, timeout: 600_000}, async () => {
    const daemon = await Daemon.start(setup)
    const opened = []
    const connect = async (user, {port = () => daemon.port, key = 'host', ...options} = {}) => {
      const client = new RelayClient(tcpTransport(port), user, {credential: {key: daemon.keys[key]}, ...options})
      opened.push(() => client.close())
      const seen = new Watcher(client)
      await client.connect()
      return Object.assign(client, {seen})
    }
    const proxy = async dice => {
      const found = await CutProxy.start(dice, () => daemon.port)
      opened.push(() => found.end())
      return found
    }
    try {
      await body({daemon, connect, proxy, dice: new Dice(seed)})
    } catch (error) {
      error.message = `replay: BOARDRELAY_PAGE_SEED=${seed} node --test Tests/Page/${file}\n${error.message}`
      throw error
    } finally {
      for (const close of opened) await close()
      await daemon.end()
    }
  })
}
