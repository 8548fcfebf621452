extension RelayAddress {
    /// The host as certificates name it: without the zone of a local address and the dot of a full name. `nil` for what none names:
    /// whoever compares names may compare none with an empty one, and each below it with one that begins with a dot.
    var nameInCertificates: String? {
        let name = host.hasSuffix(".") ? host.dropLast() : host.prefix { $0 != "%" }
        guard let first = name.utf8.first, first != UInt8(ascii: "."), !name.utf8.contains(0) else { return nil }
        return String(name)
    }
}

/// Why no link protected by TLS was made, in words for people. Words of the peer are escaped.
enum TLSFailure {
    /// Host names that a text has at most.
    private static let namesMax = 4
    /// Characters that a text has of what came instead of TLS.
    private static let answerCharactersMax = 40

    static func wrongName(_ host: String, names: [String]) -> SocketAddress.Failure {
        var list = names.prefix(namesMax).joined(separator: ", ")
        if names.count > namesMax { list += " and \(names.count - namesMax) more" }
        return SocketAddress.Failure("the certificate is for \(list.isEmpty ? "no host name" : list), not for \(host)")
    }

    static func noName(_ host: String) -> SocketAddress.Failure {
        SocketAddress.Failure("no certificate can be for a host of this name: \"\(host)\"")
    }

    static func expired(_ host: String) -> SocketAddress.Failure {
        SocketAddress.Failure("the certificate of \(host) has expired, or one that it stands on, or the clock of this machine is wrong")
    }

    static func notYetValid(_ host: String) -> SocketAddress.Failure {
        SocketAddress.Failure(
            "the certificate of \(host) is not valid yet, or one that it stands on, or the clock of this machine is wrong")
    }

    static func unknownRoot(_ host: String) -> SocketAddress.Failure {
        SocketAddress.Failure(
            "the certificate of \(host) comes from no root that this system trusts: install its root, or give the pin of its key")
    }

    static func wrongCertificate(_ host: String, _ words: String) -> SocketAddress.Failure {
        SocketAddress.Failure("the certificate of \(host) is refused: \(words)")
    }

    static func wrongKey(_ host: String, expected: KeyPin, found: KeyPin?) -> SocketAddress.Failure {
        let key = found.map { "\($0)" } ?? "none that can be read"
        return SocketAddress.Failure("\(host) has another key than the pin says: expected \(expected), found \(key)")
    }

    /// - Parameter answer: the first bytes that came.
    static func noTLS(_ host: String, answer: some Collection<UInt8>) -> SocketAddress.Failure {
        let text = String(decoding: answer.prefix(answerCharactersMax).prefix { (0x20..<0x7F).contains($0) }, as: UTF8.self)
        return SocketAddress.Failure("\(host) does not speak TLS on this port" + (text.isEmpty ? "" : ": it answers \"\(text)…\""))
    }

    static func ended(_ host: String) -> SocketAddress.Failure {
        SocketAddress.Failure("\(host) ended the connection before TLS was agreed on")
    }

    static func timedOut(_ host: String) -> SocketAddress.Failure {
        SocketAddress.Failure("TLS was not agreed on with \(host)", code: ETIMEDOUT)
    }

    static func notAgreed(_ host: String, _ words: String) -> SocketAddress.Failure {
        SocketAddress.Failure("TLS was not agreed on with \(host): \(words)")
    }

    static func broken(_ host: String, _ words: String) -> SocketAddress.Failure {
        SocketAddress.Failure("the link of TLS with \(host) broke: \(words)")
    }

    static func asksWithoutReading(_ host: String, bytes: Int, max: Int) -> SocketAddress.Failure {
        SocketAddress.Failure("\(host) asks and does not read: \(bytes) bytes of TLS wait for it, \(max) may")
    }

    static func notThere(_ words: String) -> SocketAddress.Failure {
        SocketAddress.Failure("TLS needs OpenSSL 3, which this machine lacks: \(words)")
    }
}
