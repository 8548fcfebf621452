/// An answer before it is bytes.
package struct HTTPResponse: Equatable, Sendable {
    /// On every answer of this server, whatever it is: nothing but its own scripts and styles runs, nobody frames it, no
    /// address (which may hold a key) leaves with a link. [HT6]
    package static let securityFields: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
                + "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
        ),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
    ]

    /// How long a copy may be used.
    package enum Caching: String, Equatable, Sendable {
        /// Kept, and asked about each time: a newer relay has another page.
        case revalidated = "no-cache"
        /// Kept for good, without a question: a newer relay names it otherwise.
        case lasting = "public, max-age=31536000, immutable"
        /// Not kept at all.
        case never = "no-store"
    }

    /// One more field.
    package struct Field: Equatable, Sendable {
        package var name: String
        package var value: String
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Lets pages of any origin read the answer, a script's module for example. [Fetch standard, CORS protocol]
    package static let forAllOrigins = Field("Access-Control-Allow-Origin", "*")

    package var status: HTTPStatus
    package var mediaType: String?
    package var body: [UInt8]
    package var caching: Caching
    package var entityTag: EntityTag?
    /// Names and values of the program's own; of what a peer sent the host and path that were understood.
    package var fields: [Field] = []
    /// Why it is no answer to what was asked, for the counters.
    package var refusal: HTTPRefusal?

    package init(_ status: HTTPStatus, mediaType: String? = nil, body: [UInt8] = [], caching: Caching = .never, entityTag: EntityTag? = nil)
    {
        self.status = status
        self.mediaType = mediaType
        self.body = body
        self.caching = caching
        self.entityTag = entityTag
    }

    package static func text(_ status: HTTPStatus, _ text: String, mediaType: String = "text/plain; charset=utf-8") -> HTTPResponse {
        HTTPResponse(status, mediaType: mediaType, body: Array(text.utf8))
    }

    /// What a refused request gets.
    package init(_ refusal: HTTPRefusal) {
        let status = refusal.status
        self = .text(status, "\(status.rawValue) \(status.phrase): \(refusal.text)\n")
        self.refusal = refusal
        switch status {
        case .methodNotAllowed: fields.append(Field("Allow", "GET, HEAD"))
        // Both are required of the status. [RFC 9110 §15.5.22, RFC 6455 §4.4]
        case .upgradeRequired: fields += [Field("Upgrade", "websocket"), Field("Sec-WebSocket-Version", "13")]
        // [RFC 9110 §15.5.2]
        case .unauthorized: fields.append(Field("WWW-Authenticate", "Bearer realm=\"boardrelay\""))
        default: break
        }
    }

    /// The bytes before the body, empty line included.
    ///
    /// - Parameter closes: the connection ends behind this answer.
    package func head(wallMilliseconds: UInt64, closes: Bool) -> [UInt8] {
        var text = "HTTP/1.1 \(status.rawValue) \(status.phrase)\r\n"
        func add(_ name: String, _ value: String) { text += "\(name): \(value)\r\n" }
        add("Date", HTTPDate.text(wallMilliseconds: wallMilliseconds))
        if let mediaType { add("Content-Type", mediaType) }
        switch status {
        // Neither has a body, and a length would be that of another answer. [RFC 9110 §8.6]
        case .switchingProtocols, .notModified: break
        default: add("Content-Length", String(body.count))
        }
        for field in Self.securityFields { add(field.name, field.value) }
        if status != .switchingProtocols { add("Cache-Control", caching.rawValue) }
        if let entityTag { add("ETag", entityTag.text) }
        for field in fields { add(field.name, field.value) }
        if closes { add("Connection", status == .upgradeRequired ? "Upgrade, close" : "close") }
        text += "\r\n"
        return Array(text.utf8)
    }
}
