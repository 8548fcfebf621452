// Links over TCP, on which the relay's frames are the same bytes as in a WebSocket's messages, and a proxy that cuts them.
import {connect, createServer} from 'node:net'
import {once} from 'node:events'

/** A transport of the client over TCP. `port` may be a function. */
export const tcpTransport = port => ({opened, received, ended}) => {
  const socket = connect(typeof port === 'function' ? port() : port, '127.0.0.1')
  socket.setNoDelay()
  socket.on('connect', opened)
  socket.on('data', bytes => received(bytes))
  socket.on('error', () => {})
  socket.on('close', () => ended('the connection is closed'))
  return {send: bytes => socket.write(bytes), get bufferedBytes() { return socket.writableLength }, close: () => socket.destroy()}
}

/** Stands between clients and a relay, and cuts links where its dice say: after so many bytes, both ways together. */
export class CutProxy {
  constructor(dice, target) {
    Object.assign(this, {dice, target, cuts: 0, cutsLeft: 0, links: new Set()})
    this.server = createServer(client => this.accept(client))
  }

  static async start(dice, target) {
    const proxy = new CutProxy(dice, target)
    proxy.server.listen(0, '127.0.0.1')
    await once(proxy.server, 'listening')
    proxy.port = proxy.server.address().port
    return proxy
  }

  accept(client) {
    const relay = connect(this.target(), '127.0.0.1')
    const link = {client, relay, bytesLeft: this.drawBytes()}
    this.links.add(link)
    const sever = () => {
      this.links.delete(link)
      client.destroy()
      relay.destroy()
    }
    link.sever = sever
    for (const [from, to] of [[client, relay], [relay, client]]) {
      from.on('error', sever)
      from.on('close', sever)
      from.on('data', bytes => {
        if (this.holds && from === relay) return
        const passed = bytes.subarray(0, link.bytesLeft)
        link.bytesLeft -= passed.length
        if (passed.length === bytes.length) return to.write(bytes)
        this.cuts++
        this.cutsLeft--
        // What is passed on still arrives, cut off in the middle of a frame or not.
        return to.end(passed, sever)
      })
    }
  }

  drawBytes() {
    return this.cutsLeft > 0 ? 200 + this.dice.below(6_000) : Infinity
  }

  /** From now on each link is cut after a random number of bytes, until so many were cut. */
  cut(count) {
    this.cutsLeft = count
    for (const link of this.links) link.bytesLeft = this.drawBytes()
  }

  cutAll() {
    for (const link of this.links) link.sever()
  }

  end() {
    this.cutAll()
    this.server.close()
  }
}
