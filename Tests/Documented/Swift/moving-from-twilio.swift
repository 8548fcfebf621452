import RelayClient

@main enum Main {
    @MainActor static func main() async throws {
        try await Relay.run { client, stream, address in
            try await fragment1(client: client, stream: stream, address: address)
            let room = try await DrawingRoom("lesson", at: Invitation(Relay.printed), as: "carol-77aa")
            var shown: [Payload?] = []
            room.showStroke = { _, stroke in shown.append(stroke) }
            room.showProblem = { fatalError("\($0)") }
            try await room.enter(name: "Carol")
            try room.penMoved("10,20")
            await room.finished([1, 2, 3], key: "s1")
            await room.erased(key: "s1")
            try Relay.expect(shown.first == .bytes([1, 2, 3]) && shown.last == .some(nil), "the stroke is shown, then erased: \(shown)")
        }
    }
}
