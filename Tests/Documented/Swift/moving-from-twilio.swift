import RelayClient

@main enum Main {
    @MainActor static func main() async throws {
        try await Relay.run { client, lesson in
            try await fragment2(client: client, lesson: lesson)
            let first = Task { try await fragment1(client: client, lesson: lesson) }
            let room = try DrawingRoom("lesson", at: Invitation(Relay.printed), as: "carol-77aa")
            let (shown, tell) = AsyncStream<Payload?>.makeStream(), (names, come) = AsyncStream<[String]>.makeStream()
            room.showStroke = { _, stroke in tell.yield(stroke) }
            room.showPeople = { come.yield($0) }
            room.showProblem = { fatalError("\($0)") }
            let entered = Task { try await room.enter(name: "Carol") }
            for await names in names where names.contains("Carol") && names.contains("Bob") { break }
            try room.penMoved("10,20")
            _ = try await room.finished([1, 2, 3], key: "s1").stored
            for await stroke in shown where stroke == .bytes([1, 2, 3]) { break }
            _ = try await room.erased(key: "s1").stored
            for await stroke in shown where stroke == nil { break }
            for task in [first, entered] {
                task.cancel()
                try await task.value
            }
        }
    }
}
