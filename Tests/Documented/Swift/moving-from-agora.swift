import RelayRTM

@main enum Main {
    @MainActor static func main() async throws {
        try await Relay.run { _, _ in
            guard let config = AgoraRtmClientConfig(address: Relay.printed, userId: "anna") else {
                throw Relay.Wrong("no address: \(Relay.printed)")
            }
            let kit = try AgoraRtmClientKit(config, delegate: nil)
            try Relay.expect(await kit.login("").1 == nil, "login")
            try Relay.expect(await kit.subscribe(channelName: "lesson", option: nil).1 == nil, "subscribe")
            try Relay.expect(await kit.publish(channelName: "lesson", message: "hello", option: nil).1 == nil, "publish")
            // As the page says: by the kit's own client, in place of its `subscribe`.
            guard let own = kit.relayClient else { throw Relay.Wrong("no client") }
            let drawings = try own.channel("drawings")
            try await drawings.open()
            try await fragment1(client: own, lesson: drawings)
            // Its clear takes away what it has drawn.
            try await drawings.upToDate()
            try Relay.expect(try await drawings.board.records().isEmpty, "records")
            kit.destroy()
        }
    }
}
