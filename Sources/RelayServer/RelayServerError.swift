/// Why a relay did not start.
public struct RelayServerError: Error, CustomStringConvertible, Sendable, Equatable {
    package var text: String
    /// One sentence for people, with the address or path it is about.
    public var description: String { text }
    /// Of a control socket: whether no relay is there at all.
    package var nobodyAnswers = false
    /// Of a control socket: whether this user may not ask there.
    package var isForbidden = false
    /// Whether another process listens there.
    package var isAddressInUse = false

    package init(text: String, nobodyAnswers: Bool = false) {
        self.text = text
        self.nobodyAnswers = nobodyAnswers
    }
}
