// docs/swift.md links to this file.
import RelayClient

/// Most calls of the client library, once.
func makeCalls(_ client: RelayClient) async throws {
    try await client.subscribe("lesson", features: [.messages, .presence, .metadata], since: .beginning)
    try await client.presence(of: .message("lesson")).setStates(["name": "Alice"])
    let pens = try await client.join("lesson")
    try await pens.joinTopic("pen", lifetime: .milliseconds(300))
    try await pens.subscribeTopic("pen")
    try pens.send(.bytes([0, 10, 0, 20]), topic: "pen", slot: 1)
    let title = try client.metadata(of: .message("lesson"))
    let seen = try await title.get().majorRevision
    try await title.set(["title": "Autumn"], majorRevision: seen)
    let lock = try client.locks(of: .message("lesson"))
    try await lock.set("page-1")
    try await lock.acquire("page-1", wait: .seconds(5))
    try await lock.release("page-1")
    _ = try await client.send(.text("psst"), toUser: "bob").value
    if client.access?.role == .moderator { try await client.moderation.freeze("lesson") }
    try await client.board(of: "lesson").clear()
    for message in try await client.history(of: "lesson", backwards: true, limit: 50).messages {
        print(message.sender, message.payload.text ?? "bytes")
    }
}
