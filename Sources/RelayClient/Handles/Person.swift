/// Another user: what is sent to them, and known of them.
public struct Person: Sendable {
    let client: WhiteboardClient
    let id: Name

    /// The user's id.
    public var user: String { id.text }

    /// What is kept of the user: small texts by key. `contents()` brings changes while it is followed.
    public var metadata: Metadata { Metadata(client: client, owner: .user(id)) }

    /// Sends a message to this user alone, on whichever device is there.
    ///
    /// - Parameter payload: with `customType` at most 32,768 bytes.
    /// - Throws: `tooLarge`, `unsentFull`, `clientClosed`; nothing was sent then.
    @discardableResult
    public func send(_ payload: Payload, customType: String? = nil) throws(RelayError) -> DirectReceipt {
        let receipt = client.nextReceipt()
        let pending = try client.core.send { (readable, token, now) throws(RelayError) in
            try readable.machine.send(payload, toUser: user, customType: customType, token: token, at: now)
        }
        return DirectReceipt(fate: Fate(client, id: receipt, accepted: pending) { Problem(subject: .direct, error: $0) })
    }

    /// The channels in which the user is seen.
    ///
    /// - Throws: why the relay was not reached.
    public func channels(call: CallOptions = .init()) async throws(RelayError) -> [String] {
        try await client.places(of: id, call).filter { $0.kind == .message }.map(\.channel.text)
    }
}

extension WhiteboardClient {
    /// Message and stream channels in which a user is seen.
    package func places(of user: Name, _ call: CallOptions = .init()) async throws(RelayError) -> [ChannelID] {
        var found: [ChannelID] = []
        var next: ChannelID?
        repeat {
            guard case .channels(let channels, let following) = try await core.ask(.whereIs(user, after: next), call) else {
                throw .wrongAnswer
            }
            found += channels
            next = following
        } while next != nil
        return found
    }
}
