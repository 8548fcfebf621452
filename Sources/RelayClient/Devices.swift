import RelayIO
import RelayWire

// Several devices of one user. [SE8, AC17]

extension RelayClient {
    /// Makes a code with which one more device of this user comes in: that one calls `takeUp`.
    ///
    /// It can be used once, by whoever has it, for 2 minutes, while this client keeps its session. An earlier code of this client is void.
    ///
    /// - Returns: the code, to be shown to the user, and how long it is good for.
    /// - Throws: `notPermitted` if the client has no `secret` and the relay does not let everybody in; `rateLimited`; or why the relay was
    ///   not reached.
    public func offerDevice() async throws(RelayError) -> DeviceOffer {
        let answer = try await core.call { (machine, token, now) throws(RelayError) in try machine.offerDevice(token: token, at: now) }
        guard case .deviceOffer(let offer) = answer else { throw .wrongAnswer }
        return offer
    }

    /// Connects and logs in as one more device of the user who offered the code (`offerDevice`).
    ///
    ///     let client = try await RelayClient.takeUp(code: "3J7X Q0M9 TZ", at: address)
    ///     remember(client.user)    // from the next start on: RelayClient.connect(to: address, as: user)
    ///
    /// The user's secret and this device are kept where `options` say, in place of what was kept for this user at this relay. With
    /// `.digits` the app keeps `secret` itself; digits that the option has are passed over. Of a credential only a key goes along.
    ///
    /// - Throws: `codeWrong` for a code that is wrong, used or too old; the relay answers that after a pause. `limitReached` when
    ///   8 devices of the user are there. `secretNotKept`: the code is used nevertheless. And what `connect` throws.
    public static func takeUp(
        code: String, at address: RelayAddress, options: ClientOptions = .init()
    ) async throws(RelayError) -> RelayClient {
        let client = try await logIn(options.settings(.code(code), device: try options.device.drawn()), at: address)
        do throws(RelayError) {
            guard case .user(let user, let secret) = client.core.read({ $0.identity }) else { throw .wrongAnswer }
            if let secret { try options.secret.keep(secret, for: user, at: address) }
            try options.device.keep(client.device, for: user, at: address, beside: options.secret)
        } catch {
            await client.close()
            throw error
        }
        return client
    }

    /// What shows the relay that the user id is this client's, 32 hexadecimal digits: for an app that keeps it by itself, as
    /// `ClientSecret.digits`. `nil` behind `takeUp` at a relay that lets everybody in, if the other device had none.
    public var secret: String? { core.read { $0.identity.secret } }
}

extension ClientOptions {
    func settings(_ identity: ClientIdentity, device: String) -> ClientSettings {
        var settings = ClientSettings(identity: identity, instance: SystemEntropy.word(), seed: SystemEntropy.word())
        settings.device = device
        settings.onlyDevice = onlyDevice
        settings.credential = credential
        settings.presenceTimeout = presenceTimeout
        settings.readerLimits = readerLimits
        settings.description = description
        settings.connectTimeout = connectTimeout
        settings.callTimeout = requestTimeout
        settings.waitsForLink = offline == .wait
        settings.retriesFirstConnect = waitsForConnectivity
        settings.unsentCountMax = unsentCountMax
        settings.unsentBytesMax = unsentBytesMax
        settings.eventsCountMax = eventsCountMax
        settings.eventsBytesMax = eventsBytesMax
        return settings
    }
}
