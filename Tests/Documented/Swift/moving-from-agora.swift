import RelayRTM

@main enum Main {
    @MainActor static func main() async throws {
        try await Relay.run { client, lesson in
            guard let config = AgoraRtmClientConfig(address: Relay.printed, userId: "anna") else {
                throw Relay.Wrong("no address: \(Relay.printed)")
            }
            let kit = try AgoraRtmClientKit(config, delegate: nil)
            try Relay.expect(await kit.login("").1 == nil, "login")
            try Relay.expect(await kit.subscribe(channelName: "lesson", option: nil).1 == nil, "subscribe")
            try Relay.expect(await kit.publish(channelName: "lesson", message: "hello", option: nil).1 == nil, "publish")
            kit.destroy()
            try await fragment1(client: client, lesson: lesson)
            // Its clear takes away what it has drawn.
            try await lesson.upToDate()
            try Relay.expect(try await lesson.board.records().isEmpty, "records")
        }
    }
}
