import RelayIO
import RelayWire

/// Which of a user's devices a client is: 64 random bits that the others in a channel see. A user may have 8 at once.
public enum ClientDevice: Sendable, Equatable {
    /// Drawn at the first use of a user id at a relay and kept beside the user's secret: an app that starts again is the same device. With
    /// `ClientSecret.digits` it is kept where `.kept()` would keep. With `ClientSecret.inMemory`, and on a port that the system chose, it
    /// is gone with this client object.
    case kept
    /// Drawn for this client object, and gone with it.
    case inMemory
    /// 16 hexadecimal digits.
    case digits(String)

    private static let digitCount = 16

    /// - Throws: `badRequest` for digits that are not hexadecimal; `secretNotKept`, when the file or item cannot be read or made.
    package func digits(
        for user: Name, at address: RelayAddress, relayID: String?, beside secret: ClientSecret,
        keychain: (any Keychain)? = systemKeychain
    ) throws(RelayError) -> String {
        func place(_ relayID: String?) -> KeptDigits? { Self.place(of: user, at: address, relayID, beside: secret, keychain) }
        guard case .kept = self, let named = place(relayID) else { return try drawn() }
        return try named.readOrDraw { relayID == nil ? nil : try? place(nil)!.readOrDraw() }
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
        guard case .kept = self, let place = Self.place(of: user, at: address, relayID, beside: secret, systemKeychain) else { return }
        try place.keep(digits, replaces: replaces)
    }

    private static func place(
        of user: Name, at address: RelayAddress, _ relayID: String?, beside secret: ClientSecret, _ keychain: (any Keychain)?
    ) -> KeptDigits? {
        address.isLasting ? secret.place(ofDevice: user, at: address, relayID, count: digitCount, keychain) : nil
    }
}
