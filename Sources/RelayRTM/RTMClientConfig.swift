import RelayClient

/// Where the relay is, and who this client is. The one object that differs from hosted RTM: a relay instead of an app id.
public final class RTMClientConfig {
    /// A name or an address of the machine that runs the relay.
    public var host: String
    /// Its port.
    public var port: UInt16
    /// The relay's key: what stands behind `#key=` in the address that it shows. With a key, tokens given to `login`, `join` and
    /// `renewToken` are passed over: they are the hosted service's. `nil` for a relay that takes signed tokens, or lets everybody in.
    public var key: String?
    /// 1…64 bytes of ASCII, one for each running instance of the app.
    public var userId: String
    /// Seconds after which others see `remoteConnectionTimeout` when this client's link is gone, 5…300.
    public var presenceTimeout: UInt32 = 10
    /// Where the secret is kept that makes the user id this client's own.
    public var secret = ClientSecret.kept()

    /// The relay on a host.
    public init(host: String, port: UInt16 = RelayAddress.defaultPort, key: String? = nil, userId: String) {
        self.host = host
        self.port = port
        self.key = key
        self.userId = userId
    }

    /// The relay by an address that it shows, with its key: `http://192.168.1.5:7420/#key=…`.
    ///
    /// - Returns: `nil` for what is no such address.
    public convenience init?(address: String, userId: String) {
        guard let invitation = try? Invitation(address) else { return nil }
        self.init(host: invitation.addresses[0].host, port: invitation.addresses[0].port, userId: userId)
        if case .key(let key) = invitation.credential { self.key = key }
    }

    var settings: RTMSettings {
        RTMSettings(
            address: RelayAddress(host: host, port: port), user: userId, key: key, presenceTimeout: .seconds(Int64(presenceTimeout)),
            secret: secret)
    }
}

/// A config as it was when the client was made.
struct RTMSettings: Sendable {
    var address: RelayAddress
    var user: String
    var key: String?
    var presenceTimeout: Duration
    var secret: ClientSecret

    /// A secret in memory lives as long as the kit, over all its logins.
    var keptByKit: RTMSettings {
        var settings = self
        if secret == .inMemory { settings.secret = .digits(ClientSecret.drawn()) }
        return settings
    }

    func options(token: String?) -> ClientOptions {
        var options = ClientOptions()
        options.presenceTimeout = presenceTimeout
        options.secret = secret
        options.onlyDevice = true
        options.credential = credential(token: token)
        options.description = "RelayRTM"
        return options
    }

    /// The key where there is one, else the token.
    func credential(token: String?) -> Credential? {
        if let key { return .key(key) }
        guard let token, !token.isEmpty else { return nil }
        return .token(token)
    }
}
