import RelayPrimitives
import RelayWire

/// What the log has of wrong keys and tokens: one line a minute and address, and how many were left out.
struct WrongCredentials {
    private struct Entry {
        /// When the address may have its next line.
        var until: Instant
        var leftOut = 0
    }

    /// `nil`: of all other addresses.
    private var entries = [AddressKey?: Entry]()

    static let lineEvery = Duration.seconds(60)
    /// Those beyond it share one entry: an attacker with many addresses takes no memory for each.
    static let addressesMax = 1_000

    var isEmpty: Bool { entries.isEmpty }

    /// When `takeLeftOut` is wanted next.
    var next: Instant? { entries.values.map(\.until).min() }

    /// Counts one.
    ///
    /// - Returns: whether it has a line of its own.
    mutating func note(_ address: AddressKey, at now: Instant) -> Bool {
        let address = entries[address] != nil || entries.count < Self.addressesMax ? address : nil
        guard entries[address] == nil else {
            entries[address]!.leftOut += 1
            return false
        }
        entries[address] = Entry(until: now + Self.lineEvery)
        return true
    }

    /// How many were left out of each address whose minute is over, in order of the addresses. That is a line, and begins another minute.
    mutating func takeLeftOut(at now: Instant) -> [(address: String, count: Int)] {
        var taken: [(address: String, count: Int)] = []
        for (address, entry) in entries where entry.until <= now {
            if entry.leftOut > 0 { taken.append((address?.description ?? "other addresses", entry.leftOut)) }
            entries[address] = entry.leftOut > 0 ? Entry(until: now + Self.lineEvery) : nil
        }
        return taken.inOrder { $0.address < $1.address }
    }
}

extension Hub {
    /// - Parameters:
    ///   - code: what it is refused with. A login without a credential, or with a token that was right once, guesses nothing.
    mutating func noteWrongCredential(_ code: ErrorCode, from peer: Peer, _ what: String) {
        counters.credentialsWrong += 1
        guard let kind = Self.guessed(code) else { return }
        _ = accounts.guesses.take(peer.address, at: now.instant)
        let isFirst = wrongCredentials.isEmpty
        guard wrongCredentials.note(peer.address, at: now.instant) else { return }
        log(.warning, "wrong \(kind) from \(peer), \(what)")
        if isFirst { setWrongCredentialSweep() }
    }

    private static func guessed(_ code: ErrorCode) -> String? {
        switch code {
        case .keyWrong: "key"
        case .tokenInvalid: "token"
        case .codeWrong: "code"
        default: nil
        }
    }

    mutating func sweepWrongCredentials() {
        for (address, count) in wrongCredentials.takeLeftOut(at: now.instant) {
            let what = count == 1 ? "key, token or code" : "keys, tokens or codes"
            log(.warning, "\(count) more wrong \(what) from \(address) in the last minute")
        }
        setWrongCredentialSweep()
    }

    private mutating func setWrongCredentialSweep() {
        if let next = wrongCredentials.next { deadlines.set(.wrongCredentialSweep, at: next) }
    }
}
