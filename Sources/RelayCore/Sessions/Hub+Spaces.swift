import RelayWire

/// Whose logins a hub takes. Several relays in one process, the *spaces*, share a port: a door's hub reads the first frames. [SE16]
package enum RelayPart: Sendable, Equatable {
    /// A relay by itself.
    case whole
    case space(String)
    /// Lets nobody in: who names one of these spaces is handed over to its hub. One that stands by leads nowhere for now, and sends nobody
    /// away for good.
    case door(to: Set<String>, standsBy: Bool = false)
}

/// A connection on its way to the hub of its space.
package struct HandedOver: Sendable {
    package var peer: Peer
    /// What it has sent, from its login on.
    package var bytes: [UInt8]
}

extension Hub {
    /// Whether a login is for this hub. At a door it waits, with what follows it, until it is handed over. [SE16]
    mutating func isForThis(_ space: String?, _ connection: Connection.Index) -> Bool {
        let problem: String
        switch configuration.part {
        case .whole:
            guard space != nil else { return true }
            problem = "this relay has no spaces"
        case .space(let own):
            guard let space, space != own else { return true }
            problem = "this is another space"
        case .door(let spaces, let standsBy):
            if standsBy, spaces.isEmpty {
                close(connection, .shuttingDown, "this relay stands by: another one serves")
                return false
            }
            if let name = space ?? (spaces.count == 1 ? spaces.first : nil), spaces.contains(name) {
                connections[connection].input = .held(for: .space)
                effects.append(.handOver(connections[connection].id, to: name))
                return false
            }
            let several = "this relay has several spaces: the name of one belongs behind its address, as in /school-a"
            problem = spaces.isEmpty ? "this relay has no space yet" : space == nil ? several : "this relay has no such space"
        }
        close(connection, .spaceUnknown, problem)
        return false
    }

    func isOnItsWay(_ id: ConnectionID) -> Bool { connections.has(id) && connections[id.place].input == .held(for: .space) }

    /// Takes out a connection whose login is for a space. What was queued for it must have been written.
    ///
    /// - Returns: `nil` if it has ended, or does not take what is queued for it.
    package mutating func handOver(_ id: ConnectionID, at now: Now) -> HandedOver? {
        guard isOnItsWay(id), outbox.load(of: id.place).reliable == 0 else { return nil }
        enter(now)
        let held = connections[id.place].held
        let handed = HandedOver(peer: connections[id.place].peer, bytes: Array(held.bytes[held.from...]))
        closed(id, .byHub)
        leave()
        return handed
    }
}
