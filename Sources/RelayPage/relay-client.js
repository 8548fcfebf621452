// A client of a whiteboard relay: docs/protocol.md as ES modules, without dependencies and without a build step.
// docs/javascript.md shows how to use it. It needs no secure context: plain http in a LAN is enough.
//
//     import {RelayClient} from 'http://192.168.1.5:7420/relay-client.js'
//     const client = new RelayClient('http://192.168.1.5:7420/#key=…', 'alice')
//     const lesson = client.channel('lesson')
//     lesson.send('hello')
//     await lesson.open()
//     for await (const {sender, payload} of lesson.messages()) console.log(sender, payload)
//
// This file is the one address of the client. `client/client.js` is what apps call, and `client/whole.js` adds what the whiteboard does
// without: `client/board-picture.js`, `client/board-reading.js`, `client/locks.js`, `client/moderation.js`, `client/newest.js`,
// `client/places.js`, `client/problems.js`. `client/machine.js` is pure: it has no clock, socket or dice of its own. `relay-client.d.ts`
// declares what is exported here, `client/types.d.ts` has the types that comments name. docs/client-interface.md has the rules of the
// surface. [XY1] names a rule of docs/protocol.md.
export {Access} from './client/access.js'
export {Person} from './client/channel.js'
export {ErrorCode, RelayError} from './client/errors.js'
export {Events} from './client/events.js'
export {Latest} from './client/latest.js'
export {credentialOf, webSocketTransport} from './client/links.js'
export {wakeUpWithPage} from './client/page-wake-up.js'
export {Receipt, StoredReceipt} from './client/receipts.js'
export {checkedName} from './client/text.js'
export {Channel, RelayClient} from './client/whole.js'
