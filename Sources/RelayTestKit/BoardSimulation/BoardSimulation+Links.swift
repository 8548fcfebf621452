internal import RelayClientCore
internal import RelayCore
import RelayPrimitives
internal import RelayTesting

// What goes over links, and what apps and relay make of it.

extension BoardSimulation {
    func exchange(whole: Bool) throws {
        for app in apps {
            if let deadline = app.machine.nextDeadline, deadline <= moment { app.machine.deadline(at: moment) }
            try effects(app)
            if let attempt = app.opening {
                app.opening = nil
                if now < app.unreachableUntil {
                    app.machine.linkEnded(attempt: attempt, text: "refused", at: moment)
                } else {
                    app.connection = ConnectionLink(attempt: attempt, id: relay.open())
                    app.machine.linkOpened(attempt: attempt, at: moment)
                }
            }
            try move(app, whole ? .max : Int.random(in: 0...3_000, using: &random))
            while now >= app.readsFrom, let item = app.nextItem(at: moment) {
                trace?("\(app.name) reads \(item)")
                try app.read(item)
            }
            if now >= app.readsFrom { app.hasReadAll() }
            try effects(app)
        }
    }

    /// So many bytes in each direction.
    func move(_ app: BoardApp, _ bytes: Int) throws {
        guard var link = app.connection else { return }
        let out = Array(app.machine.gather().prefix(bytes))
        if !out.isEmpty {
            app.machine.wrote(out.count, at: moment)
            relay.send(out, from: link.id)
        }
        link.toClient += relay.takeBytes(link.id, limit: min(bytes, 64 * 1024))
        let coming = Array(link.toClient.prefix(bytes))
        link.toClient.removeFirst(coming.count)
        app.connection = link
        if !coming.isEmpty { coming.withUnsafeBytes { app.machine.received($0, attempt: link.attempt, at: moment) } }
        try effects(app)
        if relay.isClosing(link.id), link.toClient.isEmpty, app.connection?.attempt == link.attempt {
            app.connection = nil
            relay.cut(link.id)
            app.machine.linkEnded(attempt: link.attempt, text: "closed", at: moment)
        }
    }

    private func effects(_ app: BoardApp) throws {
        app.readable.tell(at: moment)
        for effect in app.machine.takeEffects() {
            switch effect {
            case .openLink(let attempt): app.opening = attempt
            case .goElsewhere: break
            case .closeLink(let attempt):
                if app.opening == attempt { app.opening = nil }
                if let link = app.connection, link.attempt == attempt {
                    app.connection = nil
                    relay.cut(link.id)
                }
            case .completed(let token, let result): try completed(app, token, result)
            }
        }
    }
}
