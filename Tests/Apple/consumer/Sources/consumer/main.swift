// A relay in this process, one message from Ben's app to Anna's.
import RelayClient
import RelayRTM
import RelayServer

let relay = try await WhiteboardRelay.start(.init(port: 0, storage: .inMemory, access: .open))
var options = ClientOptions()
options.secret = .inMemory
let anna = try await WhiteboardClient.connect(to: relay.address, as: "anna", options: options)
try await anna.subscribe("lesson")

let config = RTMClientConfig(host: relay.address.host, port: relay.address.port, userId: "ben")
config.secret = .inMemory
let ben = try RTMClientKit(config, delegate: nil)
if let refusal = await ben.login(nil).1 { throw refusal }
if let refusal = await ben.publish(channelName: "lesson", message: "hello", option: nil).1 { throw refusal }

for await event in anna.events {
    guard case .message(let message) = event, case .text(let text) = message.payload else { continue }
    print("\(message.sender): \(text)")
    break
}
_ = await ben.logout()
await anna.close()
await relay.stop()
