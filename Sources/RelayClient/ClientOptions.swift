@_exported import RelayRights
@_exported import RelayClientCore
@_exported import RelayWire
@_exported import RelayIO

/// How a client behaves.
public struct ClientOptions: Sendable {
    /// How long others still see this user after its link broke, 5…300 s; the relay's default (10 s) if `nil`.
    public var presenceTimeout: Duration?
    /// What shows the relay that the user id is used by the one it belongs to.
    public var secret = ClientSecret.kept()
    /// Which of the user's devices this is. A second client of the same user and device ends the first.
    public var device = ClientDevice.kept
    /// Whether the user has no other device: each login ends those that are there (`replaced`).
    public var onlyDevice = false
    /// What lets it in, in place of the invitation's.
    public var credential: Credential?
    /// Gives a token at each login, and before one ends, in place of `credential`. Where it throws, the client tries again later.
    public var token: (@Sendable () async throws -> String)?
    /// What it takes of packets, as on bad Wi-Fi: it gets the newest of each slot, and every message. `setReaderLimits` changes it.
    public var readerLimits = ReaderLimits()
    /// What the client calls itself to operators, at most 64 bytes.
    public var description: String? = "RelayClient"
    /// Time for one attempt to link up and log in.
    public var connectTimeout = Duration.seconds(10)
    /// Time for a call, until its answer; then it is `timedOut`. Where a call waits in line, that time comes on top; a call that reads
    /// pages has it for each page.
    public var requestTimeout = Duration.seconds(15)
    /// What a call does while there is no link.
    public var offline = Offline.wait
    /// Whether `connect` waits until the relay is reached, instead of throwing `connectFailed` when an attempt fails: while iOS asks the
    /// user for the local network, and for a relay that starts later.
    public var waitsForConnectivity = false
    /// Messages, packets and requests that may wait to be sent; one more is `unsentFull`.
    package var unsentCountMax = 10_000
    /// Bytes of payload that may wait to be sent; one more is `unsentFull`.
    public var unsentBytesMax = 16 * 1024 * 1024
    /// How long a reader that takes nothing may hold the relay back: tests on busy machines want more.
    package var readerPatience = Duration.seconds(10)

    /// What a call does while there is no link to the relay.
    public enum Offline: Sendable {
        /// It waits for one, within its time.
        case wait
        /// It is `notConnected` at once.
        case fail
    }

    /// The defaults.
    public init() {}

    func settings(_ identity: ClientIdentity, _ invitation: Invitation) -> ClientSettings {
        var settings = ClientSettings(identity: identity, instance: SystemEntropy.word(), seed: SystemEntropy.word())
        settings.onlyDevice = onlyDevice
        settings.credential = credential ?? invitation.credential
        settings.relayID = invitation.relayID
        settings.space = invitation.space
        settings.addresses = invitation.addresses.count
        settings.presenceTimeout = presenceTimeout
        settings.readerLimits = readerLimits
        settings.description = description
        settings.connectTimeout = connectTimeout
        settings.waitsForConnectivity = waitsForConnectivity
        settings.renewsTokens = token != nil
        settings.readerPatience = readerPatience
        settings.unsentCountMax = unsentCountMax
        settings.unsentBytesMax = unsentBytesMax
        return settings
    }
}

/// How one call behaves, in place of what the client's options say.
///
/// Where a call says that it throws why the relay was not reached, that is `timedOut`, `cancelled`, `notConnected`, `unsentFull`,
/// `clientClosed`, `rateLimited`, or why the client was let in no more; of the first call also `connectFailed`, `secretNotKept`, and
/// `badRequest` for digits of an option.
public struct CallOptions: Sendable {
    /// Time until its answer; `nil`: `ClientOptions.requestTimeout`.
    public var timeout: Duration?
    /// What it does while there is no link; `nil`: `ClientOptions.offline`.
    public var offline: ClientOptions.Offline?

    /// As the client's options say, but for what is given.
    public init(timeout: Duration? = nil, offline: ClientOptions.Offline? = nil) { (self.timeout, self.offline) = (timeout, offline) }
}

/// What waits to be sent.
public struct Unsent: Sendable, Equatable {
    /// Messages, direct ones and large drawings among them.
    public var messages: Int
    /// Packets of topics.
    public var packets: Int
    /// Of payloads; those of large drawings and of `unstored` messages are held as long, and counted.
    public var bytes: Int
    /// Records that were accepted and are not told stored; the client holds them to send them again after a break.
    public var unstored: Int

    package init(messages: Int = 0, packets: Int = 0, bytes: Int = 0, unstored: Int = 0) {
        (self.messages, self.packets, self.bytes, self.unstored) = (messages, packets, bytes, unstored)
    }
}
