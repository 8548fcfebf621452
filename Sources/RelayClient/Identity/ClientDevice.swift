import RelayIO
import RelayWire

/// Which of a user's devices a client is: 64 random bits that the others in a channel see. A user may have 8 at once.
public enum ClientDevice: Sendable, Equatable {
    /// Drawn at the first use of a user id at a relay and kept beside its secret, so that an app that is started again is the same
    /// device; where `ClientOptions.secret` is `.digits`, in the platform's folder for application data. Drawn for this client object
    /// where no secret would be kept in a file, either: with `.inMemory`, and for a relay on a port of the system's choice.
    case kept
    /// Drawn for this client object, and gone with it.
    case inMemory
    /// 16 hexadecimal digits.
    case digits(String)

    private static let digitCount = 16

    /// - Throws: `badRequest` for digits that are not hexadecimal; `secretNotKept`, when the file cannot be read or made.
    func digits(for user: Name, at address: RelayAddress, relayID: String?, beside secret: ClientSecret) throws(RelayError) -> String {
        func file(_ relayID: String?) -> KeptDigits? { Self.file(of: user, at: address, relayID, beside: secret) }
        guard case .kept = self, let place = file(relayID) else { return try drawn() }
        return try place.readOrDraw { relayID == nil ? nil : try? file(nil)!.readOrDraw() }
    }

    /// Of a device that does not know yet whose it is.
    ///
    /// - Throws: `badRequest` for digits that are not hexadecimal.
    func drawn() throws(RelayError) -> String {
        guard case .digits(let digits) = self else { return KeptDigits.draw(Self.digitCount) }
        guard KeptDigits.areHexadecimal(digits.utf8, count: Self.digitCount) else {
            throw RelayError(
                .badRequest, "a device has \(Self.digitCount) hexadecimal digits, not \(digits.utf8.count) bytes", limit: Self.digitCount,
                actual: digits.utf8.count)
        }
        // As the relay tells it to others.
        return digits.lowercased()
    }

    /// Keeps what was drawn.
    ///
    /// - Parameter replaces: whether in place of what is kept there.
    /// - Throws: `secretNotKept`.
    func keep(
        _ digits: String, for user: Name, at address: RelayAddress, relayID: String?, beside secret: ClientSecret, replaces: Bool
    ) throws(RelayError) {
        guard case .kept = self, let file = Self.file(of: user, at: address, relayID, beside: secret) else { return }
        try file.keep(digits, replaces: replaces)
    }

    /// A name that no user's secret has: `_` stands for itself in none of them.
    private static func file(of user: Name, at address: RelayAddress, _ relayID: String?, beside secret: ClientSecret) -> KeptDigits? {
        guard address.isLasting, let folder = secret.folder else { return nil }
        return KeptDigits(
            path: ClientSecret.path(of: user, at: address, relayID, in: folder) + "_device", count: digitCount, what: "a device")
    }
}
