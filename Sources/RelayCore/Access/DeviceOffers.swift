import RelayPrimitives
import RelayWire

// One more device of a user: it comes with a code that another one was given. [AC17]

/// Codes that are open: at most one of each session, for `Limits.deviceCodeValid`.
struct DeviceOffers {
    struct Offer {
        var user: Name
        var secret: String?
        var until: Instant
        fileprivate var session: Session.Index
    }

    private var offers = [DeviceCode: Offer]()
    private var codes = [Session.Index: DeviceCode]()
    /// One deadline looks after all of them.
    fileprivate var endIsSet = false

    var count: Int { offers.count }

    /// An earlier code of the session is void.
    mutating func add(_ code: DeviceCode, of session: Session.Index, user: Name, secret: String?, until: Instant) {
        remove(of: session)
        offers[code] = Offer(user: user, secret: secret, until: until, session: session)
        codes[session] = code
    }

    /// What a code is for, if it is open.
    func find(_ text: String, at now: Instant) -> Offer? {
        DeviceCode(text).flatMap { offers[$0] }.flatMap { now < $0.until ? $0 : nil }
    }

    /// It was used, or the session with it has ended.
    mutating func remove(of session: Session.Index) {
        if let code = codes.removeValue(forKey: session) { offers[code] = nil }
    }

    mutating func remove(_ offer: Offer) { remove(of: offer.session) }

    /// Secrets are in memory no longer than the codes hold, and a second.
    ///
    /// - Returns: when the next one is over.
    fileprivate mutating func end(at now: Instant) -> Instant? {
        for offer in offers.values.filter({ $0.until <= now }) { remove(offer) }
        return offers.values.lazy.map(\.until).min()
    }
}

/// 50 bits, as 10 characters of Crockford's base 32: digits and capitals without I, L, O and U.
struct DeviceCode: Hashable {
    private let bits: UInt64

    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// - Parameter secret: without it nobody can guess the code.
    init(from secret: Entropy, number: UInt32) {
        bits = secret.word("device code", number) >> 14
    }

    /// As a person may have typed it: in small letters, with hyphens and spaces, with O for 0, I or L for 1.
    ///
    /// - Returns: `nil` for what is no code.
    init?(_ text: String) {
        var bits: UInt64 = 0, count = 0
        for byte in text.utf8 where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
            var letter = byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") ? byte - 32 : byte
            if letter == UInt8(ascii: "O") { letter = UInt8(ascii: "0") }
            if letter == UInt8(ascii: "I") || letter == UInt8(ascii: "L") { letter = UInt8(ascii: "1") }
            guard count < Limits.deviceCodeCharacters, let digit = Self.alphabet.firstIndex(of: letter) else { return nil }
            bits = bits << 5 | UInt64(digit)
            count += 1
        }
        guard count == Limits.deviceCodeCharacters else { return nil }
        self.bits = bits
    }

    var text: String {
        let digits = (0..<Limits.deviceCodeCharacters).map { Self.alphabet[Int(bits >> (45 - 5 * UInt64($0)) & 31)] }
        return String(decoding: digits, as: UTF8.self)
    }
}

extension Hub {
    private mutating func setOffersEnd(_ instant: Instant) {
        claims.offers.endIsSet = true
        deadlines.set(.deviceOffers, at: instant)
    }

    mutating func deviceOffersDeadline() {
        claims.offers.endIsSet = false
        if let next = claims.offers.end(at: now.instant) { setOffersEnd(max(next, now.instant + .seconds(1))) }
    }

    /// It was used.
    mutating func endOffer(_ offer: DeviceOffers.Offer) { claims.offers.remove(offer) }

    /// That of a session that ends.
    mutating func endOffer(of session: Session.Index) { claims.offers.remove(of: session) }

    mutating func offerDevice(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(OfferDeviceRequest.self, body)
        let digest = try request.secret.map { (digits) throws(WireError) in
            guard let secret = Entropy(hex: digits) else { throw WireError(.badRequest, "field secret has 32 hexadecimal digits") }
            return UserClaim.digest(of: secret)
        }
        guard digest == sessions[session].secretDigest else { throw WireError(.badRequest, "field secret is not that of the login") }
        guard digest != nil || accessRules.isOpen else {
            throw WireError(.notPermitted, "this login had no secret: another device needs a token of its own")
        }
        let code = DeviceCode(from: connections[connection].entropy, number: ordinals.offer())
        let valid = configuration.deviceCodeValid
        claims.offers.add(code, of: session, user: sessions[session].user!, secret: request.secret, until: now.instant + valid)
        if !claims.offers.endIsSet { setOffersEnd(now.instant + valid) }
        answer(connection, OfferDeviceAnswer(id: request.id, code: code.text, validMs: Int(valid.milliseconds)))
    }
}
