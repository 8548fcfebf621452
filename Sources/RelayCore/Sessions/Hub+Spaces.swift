import RelayWire

/// Whose logins a hub takes. Several relays in one process, the *spaces*, share a port: a door's hub reads the first frames. [SE16]
package enum RelayPart: Sendable, Equatable {
    /// A relay by itself.
    case whole
    case space(String)
    /// Lets nobody in: who names one of these spaces is handed over to its hub, and told where the others are served.
    ///
    /// - Parameter knowsAll: whether there are no others.
    case door(to: Set<String>, elsewhere: [String: Whereabouts] = [:], knowsAll: Bool = true)
}

/// Where another relay serves a space. [SE17]
package enum Whereabouts: Sendable, Equatable {
    case unknown
    /// An address for clients, as `RelayAddress` has it.
    case at(String)
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
        case .door(let spaces, let elsewhere, let knowsAll):
            let isOnly = spaces.count + elsewhere.count == 1 && knowsAll
            let name = space ?? (isOnly ? spaces.first ?? elsewhere.keys.first : nil)
            if let name, spaces.contains(name) {
                connections[connection].input = .held(for: .space)
                effects.append(.handOver(connections[connection].id, to: name))
                return false
            }
            switch name.flatMap({ elsewhere[$0] }) {
            case .at(let address):
                close(connection, .moved, "this relay stands by: \(address) serves", address: address)
                return false
            case .unknown:
                close(connection, .shuttingDown, "this relay stands by: another one will serve")
                return false
            case nil where !knowsAll:
                close(connection, .shuttingDown, "this relay does not know yet which spaces there are")
                return false
            case nil: break
            }
            let several = "this relay has several spaces: the name of one belongs behind its address, as in /school-a"
            let isNone = spaces.isEmpty && elsewhere.isEmpty
            problem = isNone ? "this relay has no space yet" : space == nil ? several : "this relay has no such space"
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
