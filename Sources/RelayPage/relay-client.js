// A client of a whiteboard relay: docs/protocol.md as ES modules, without dependencies and without a build step.
// docs/javascript.md shows how to use it. It needs no secure context: plain http in a LAN is enough.
//
//     import {RelayClient} from 'http://192.168.1.5:7420/relay-client.js'
//     const client = await RelayClient.connect('http://192.168.1.5:7420/#key=…', 'alice')
//     client.on('message', ({sender, payload}) => console.log(sender, payload))
//     await client.subscribe('lesson')
//     client.send('hello', {to: 'lesson'})
//
// This file is the one address of the client. `client/client.js` is what apps call, `client/machine.js` is pure: it has no
// clock, socket or dice of its own. Names and behaviour are those of the Swift client (Sources/RelayClient). [XY1] names a
// rule of docs/protocol.md.
export {Access} from './client/access.js'
export {RelayClient} from './client/client.js'
export {ErrorCode, RelayError} from './client/errors.js'
export {decodeFrame, encodeFrame, FrameReader} from './client/frames.js'
export {readJSON} from './client/json.js'
export {Limits} from './client/limits.js'
export {credentialOf, webSocketTransport} from './client/links.js'
export {ClientMachine} from './client/machine.js'
export {Outbox} from './client/outbox.js'
export {wakeUpWithPage} from './client/page-wake-up.js'
export {Receipt, StoredReceipt} from './client/receipts.js'
export {checkedName} from './client/text.js'
export * from './client/types.js'
