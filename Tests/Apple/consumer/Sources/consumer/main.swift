// A relay in this process, one message from Ben's app to Anna's.
import RelayClient
import RelayRTM
import RelayServer

let relay = try await WhiteboardRelay.start(.init(port: 0, storage: .inMemory, access: .open))
var options = ClientOptions()
options.secret = .inMemory
let anna = try WhiteboardClient(Invitation(relay.address), user: "anna", options: options)
let lesson = try anna.channel("lesson")
let messages = lesson.messages()
try await lesson.open()

let config = RTMClientConfig(host: relay.address.host, port: relay.address.port, userId: "ben")
config.secret = .inMemory
let ben = try RTMClientKit(config, delegate: nil)
if let refusal = await ben.login(nil).1 { throw refusal }
if let refusal = await ben.publish(channelName: "lesson", message: "hello", option: nil).1 { throw refusal }

for try await case .message(let message) in messages {
    print("\(message.sender): \(message.payload.text ?? "bytes")")
    break
}
_ = await ben.logout()
await anna.close()
await relay.stop()
