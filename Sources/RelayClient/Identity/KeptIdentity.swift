import RelayIO
import RelayPrimitives
import RelayWire

/// Who a client is: read from where it is kept before the first login, and kept after it.
final class KeptIdentity: Sendable {
    enum Who: Sendable {
        case user(Name)
        /// One more device of the user who has offered this code.
        case code(String)

        var machineIdentity: ClientIdentity {
            switch self {
            case .user(let name): .user(name, secret: nil)
            case .code(let code): .code(code)
            }
        }
    }

    private let who: Who
    private let address: RelayAddress
    private let relayID: String?
    private let secret: ClientSecret
    private let device: ClientDevice
    private let found = Mutex<(secret: String?, device: String)?>(nil)
    private let kept = Mutex<Result<Void, RelayError>?>(nil)

    init(_ who: Who, _ invitation: Invitation, _ options: ClientOptions) {
        self.who = who
        address = invitation.addresses[0]
        relayID = invitation.relayID
        (secret, device) = (options.secret, options.device)
    }

    /// The same for all calls that begin at one time: what was read first counts.
    ///
    /// - Throws: `badRequest` for digits of an option that are none; `secretNotKept`.
    func read() throws(RelayError) -> (secret: String?, device: String) {
        if let found = found.withLock({ $0 }) { return found }
        let read: (secret: String?, device: String)
        switch who {
        case .user(let user):
            read = (
                try secret.digits(for: user, at: address, relayID: relayID),
                try device.digits(for: user, at: address, relayID: relayID, beside: secret)
            )
        case .code: read = (nil, try device.drawn())
        }
        return found.withLock { found in
            if let found { return found }
            found = read
            return read
        }
    }

    /// Keeps what a relay has told: its public id, under which the identity is found at another address, too; of a code also whose it was.
    ///
    /// - Throws: `secretNotKept`; each time, if it was once.
    func keep(user: Name, secret digits: String?, device: String, relayID: String?) throws(RelayError) {
        let result = kept.withLock { kept in
            if let kept { return kept }
            let result = Result { () throws(RelayError) in try write(user, digits, device, relayID) }
            kept = result
            return result
        }
        try result.get()
    }

    private func write(_ user: Name, _ digits: String?, _ deviceDigits: String, _ relayID: String?) throws(RelayError) {
        func keep(at relayID: String?, replaces: Bool) throws(RelayError) {
            if let digits { try secret.keep(digits, for: user, at: address, relayID: relayID, replaces: replaces) }
            try device.keep(deviceDigits, for: user, at: address, relayID: relayID, beside: secret, replaces: replaces)
        }
        let isNew = if case .code = who { true } else { false }
        if isNew { try keep(at: nil, replaces: true) }
        // What was kept of the user for this id stays: anybody may claim it.
        if let relayID { try keep(at: relayID, replaces: isNew) }
    }
}
