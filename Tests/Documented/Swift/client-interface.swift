import RelayClient

/// What the apps on the page have of their own.
@MainActor final class Pad {
    var onPoint: (Payload) -> Void = { _ in }
    var onStroke: (_ key: String, Payload) -> Void = { _, _ in }
    var onErase: (_ key: String) -> Void = { _ in } { didSet { show("ready") } }
}

@MainActor let pad = Pad()
/// What was shown, in order.
@MainActor private var shown: [String] = []
@MainActor private var waiting: [(what: String, CheckedContinuation<Void, Never>)] = []

@MainActor private func show(_ what: String) {
    shown.append(what)
    for (_, waiter) in waiting.filter({ $0.what == what }) { waiter.resume() }
    waiting.removeAll { $0.what == what }
}

@MainActor private func until(_ what: String) async {
    if !shown.contains(what) { await withCheckedContinuation { waiting.append((what, $0)) } }
}

@MainActor func drawStroke(_ key: String, _ stroke: Payload?) { show("\(key) \(stroke?.text ?? "none")") }
@MainActor func drawLive(_ user: String, _ point: Payload) { show("\(user) \(point.text ?? "")") }
@MainActor func showError(_ error: RelayError) { fatalError("\(error)") }
@MainActor func showSent(_ offset: UInt64) { show("sent") }
@MainActor func showLink(_ link: LinkState) { if link.isConnected { show("connected") } }
@MainActor func showPeople(_ names: [String]) { if names.contains("Ann") { show("Ann") } }
@MainActor func showTitle(_ title: String?) { if let title { show(title) } }
@MainActor func showBoard(_ records: Int, _ changed: Int) { show("\(records) on the board") }
func expectEqual<Value: Equatable>(_ left: Value, _ right: Value) { precondition(left == right, "\(left) is not \(right)") }

@main enum Main {
    @MainActor static func main() async throws {
        try await twoClients()
        try await Relay.run { client, lesson in
            let here = try client.channel("lesson"), points = try here.topic("points"), packets = points.packets()
            try await here.open([.messages, .presence, .metadata])
            try await points.follow()
            let app = Task { try await drawingApp(Relay.printed) }
            let wall = Task { try await dashboard(Relay.printed) }
            try await bot(Relay.printed)
            try await here.presence.set(["name": "Ann"])
            _ = try await here.metadata.set(["title": "Autumn"])
            for what in ["sent", "connected", "Ann", "Autumn", "0 on the board", "ready"] { await until(what) }
            let pen = try await points.startPublishing()
            // A pen that moves: the app may begin to follow later.
            let moving = Task {
                while !Task.isCancelled {
                    try pen.send("1,1")
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            await until("host 1,1")
            moving.cancel()
            pad.onPoint("2,2")
            for try await case .packet(let packet) in packets {
                try Relay.expect(packet.payload == "2,2" && packet.publisher == "alice-7f3a", "\(packet)")
                break
            }
            pad.onStroke("s1", "0,0 10,20")
            for what in ["s1 0,0 10,20", "1 on the board"] { await until(what) }
            pad.onErase("s1")
            await until("s1 none")
            app.cancel()
            wall.cancel()
            _ = try await (app.value, wall.value)
        }
    }
}
