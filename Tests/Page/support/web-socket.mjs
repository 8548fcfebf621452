// A WebSocket as pages have it, for Node 20, which has none: as much of RFC 6455 as a client and the relay say to each other.
import {createHash, randomBytes} from 'node:crypto'
import {connect} from 'node:net'
import {connect as connectTLS} from 'node:tls'

const binary = 2, close = 8, ping = 9, pong = 10

export class NodeWebSocket {
  input = Buffer.alloc(0)

  /** @param {string|URL} url @param {{origin?: string}} [page] the origin of the page that it plays */
  constructor(url, {origin} = {}) {
    const {protocol, hostname, port, host, pathname, search} = new URL(url)
    if (!/^wss?:$/.test(protocol)) throw new SyntaxError(`${protocol} is not spoken here`)
    const key = randomBytes(16).toString('base64')
    this.accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
    const isTLS = protocol === 'wss:'
    this.socket = isTLS ? connectTLS(Number(port || 443), hostname, {servername: hostname}) : connect(Number(port || 80), hostname)
    const head = [`GET ${pathname}${search} HTTP/1.1`, `Host: ${host}`, 'Connection: Upgrade', 'Upgrade: websocket',
        'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${key}`]
    if (origin) head.push(`Origin: ${origin}`)
    this.socket.on(isTLS ? 'secureConnect' : 'connect', () => this.socket.write(`${head.join('\r\n')}\r\n\r\n`))
    this.socket.on('data', bytes => {
      this.input = Buffer.concat([this.input, bytes])
      this.read()
    })
    this.socket.on('error', () => {})
    this.socket.on('close', () => this.onclose?.({code: this.code ?? 1006, reason: this.reason ?? ''}))
  }

  get bufferedAmount() { return this.socket.writableLength }
  send(bytes) { this.write(binary, bytes) }
  close() {
    this.write(close, Buffer.of(3, 232))
    this.socket.end()
  }

  read() {
    if (!this.isOpen) {
      const end = this.input.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = this.input.subarray(0, end).toString('latin1')
      this.input = this.input.subarray(end + 4)
      // As a browser: why it was refused, the page is not told.
      if (!/^HTTP\/1\.1 101 /.test(head) || !head.includes(this.accept)) return this.socket.destroy()
      this.isOpen = true
      this.onopen?.()
    }
    for (let payload; (payload = this.next()) !== undefined;) {
      // A page's message is an ArrayBuffer of its own.
      if (this.opcode === binary) this.onmessage?.({data: new Uint8Array(payload).buffer})
      else if (this.opcode === ping) this.write(pong, payload)
      else if (this.opcode === close) {
        if (payload.length >= 2) Object.assign(this, {code: payload.readUInt16BE(), reason: payload.subarray(2).toString()})
        this.socket.end()
      }
    }
  }

  /** The payload of the next whole frame; the relay cuts no message into fragments. */
  next() {
    const {input} = this
    if (input.length < 2) return undefined
    const short = input[1] & 127
    const start = short === 126 ? 4 : short === 127 ? 10 : 2
    if (input.length < start) return undefined
    const length = short === 126 ? input.readUInt16BE(2) : short === 127 ? Number(input.readBigUInt64BE(2)) : short
    if (input.length < start + length) return undefined
    this.opcode = input[0] & 15
    this.input = input.subarray(start + length)
    return input.subarray(start, start + length)
  }

  write(opcode, bytes) {
    if (this.socket.destroyed) return
    const mask = randomBytes(4)
    const head = bytes.length < 126 ? Buffer.of(128 | opcode, 128 | bytes.length) : Buffer.alloc(bytes.length < 65_536 ? 4 : 10)
    if (bytes.length >= 126) {
      head[0] = 128 | opcode
      head[1] = 128 | (bytes.length < 65_536 ? 126 : 127)
      if (bytes.length < 65_536) head.writeUInt16BE(bytes.length, 2)
      else head.writeBigUInt64BE(BigInt(bytes.length), 2)
    }
    this.socket.write(Buffer.concat([head, mask, Buffer.from(bytes).map((byte, at) => byte ^ mask[at % 4])]))
  }
}
