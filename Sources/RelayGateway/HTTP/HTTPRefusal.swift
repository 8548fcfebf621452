/// Why a request is not answered as it was meant. After each of them but `notFound` and `operatorOnly` the
/// connection is closed: what follows on it cannot be trusted to be a request.
package enum HTTPRefusal: String, Error, Hashable, Sendable, CaseIterable {
    // The raw value is the label `reason` of the metrics: never renamed.

    // What is no request.
    case notHTTP = "not_http", tls, requestLine = "request_line", version, bareLF = "bare_lf", bareCR = "bare_cr"
    // The target.
    case targetForm = "target_form", targetByte = "target_byte", percentEncoding = "percent_encoding", traversal
    case targetTooLong = "target_too_long"
    // The fields.
    case headTooLarge = "head_too_large", tooManyFields = "too_many_fields", folded, spaceBeforeColon = "space_before_colon"
    case fieldName = "field_name", fieldValue = "field_value"
    case hostMissing = "host_missing", hostTwice = "host_twice", hostInvalid = "host_invalid"
    // Methods and bodies.
    case method, contentLengthTwice = "content_length_twice", contentLength = "content_length", transferEncoding = "transfer_encoding"
    case lengthAndEncoding = "length_and_encoding", body, expectation
    // What was asked of this relay.
    case wrongHost = "wrong_host", foreignOrigin = "foreign_origin", notFound = "not_found", operatorOnly = "operator_only"
    // WebSocket.
    case upgradeRequired = "upgrade_required", webSocketUpgrade = "websocket_upgrade", webSocketKey = "websocket_key"
    case webSocketVersion = "websocket_version", pipelinedUpgrade = "pipelined_upgrade"
    case tlsRequired = "tls_required"
    // Bounds in time and number.
    case slowHead = "slow_head", pipelined

    package var status: HTTPStatus {
        switch self {
        case .notHTTP, .tls, .requestLine, .bareLF, .bareCR, .targetForm, .targetByte, .percentEncoding, .traversal, .folded,
            .spaceBeforeColon,
            .fieldName, .fieldValue, .hostMissing, .hostTwice, .hostInvalid, .contentLengthTwice, .contentLength, .lengthAndEncoding,
            .webSocketUpgrade, .webSocketKey, .pipelinedUpgrade, .pipelined:
            .badRequest
        case .tlsRequired: .permanentRedirect
        case .operatorOnly: .unauthorized
        case .foreignOrigin: .forbidden
        case .notFound: .notFound
        case .method: .methodNotAllowed
        case .slowHead: .requestTimeout
        case .body: .contentTooLarge
        case .targetTooLong: .uriTooLong
        case .expectation: .expectationFailed
        case .wrongHost: .misdirectedRequest
        case .upgradeRequired, .webSocketVersion: .upgradeRequired
        case .headTooLarge, .tooManyFields: .headTooLarge
        case .transferEncoding: .notImplemented
        case .version: .versionNotSupported
        }
    }

    /// One sentence for people. Nothing that the peer sent stands in it.
    package var text: String {
        switch self {
        case .notHTTP: "these bytes begin neither a relay frame nor an HTTP request"
        case .tls: "this port speaks HTTP without TLS: the address begins with http://"
        case .requestLine: "the first line is not: method, one space, target, one space, HTTP/1.1"
        case .version: "this server speaks HTTP/1.1"
        case .bareLF: "a line ends with LF alone"
        case .bareCR: "a CR stands alone"
        case .targetForm: "the target is not a path that begins with /"
        case .targetByte: "a byte of the target may stand in no address"
        case .percentEncoding: "a percent sign of the target does not begin a byte of text"
        case .traversal: "the path has a step that leads elsewhere, or a separator that is encoded"
        case .targetTooLong: "the first line is longer than \(GatewayLimits.headBytesMax) bytes"
        case .headTooLarge: "the head has more than \(GatewayLimits.headBytesMax) bytes"
        case .tooManyFields: "the head has more than \(GatewayLimits.fieldsMax) fields"
        case .folded: "a field goes on in the next line"
        case .spaceBeforeColon: "white space stands between the name of a field and its colon"
        case .fieldName: "a line is not: name, colon, value"
        case .fieldValue: "a byte of a field's value may not stand there"
        case .hostMissing: "there is no field Host"
        case .hostTwice: "there is more than one field Host"
        case .hostInvalid: "the field Host is not a name or address with a port"
        case .method: "only GET and HEAD are answered"
        case .contentLengthTwice: "there is more than one Content-Length"
        case .contentLength: "Content-Length is not a number"
        case .transferEncoding: "requests with a transfer coding are not read"
        case .lengthAndEncoding: "there are both Content-Length and Transfer-Encoding"
        case .body: "requests have no body here"
        case .expectation: "what is expected cannot be met"
        case .wrongHost: "this relay does not go by that name"
        case .foreignOrigin: "a page of another origin may not connect"
        case .notFound: "there is nothing under this path"
        case .operatorOnly: "this is for operators: from this machine, or with their token"
        case .upgradeRequired: "this path speaks WebSocket"
        case .webSocketUpgrade: "the request to upgrade is not one of RFC 6455"
        case .webSocketKey: "Sec-WebSocket-Key is not 16 bytes in base64, once"
        case .webSocketVersion: "only version 13 of WebSocket is spoken"
        case .pipelinedUpgrade: "an upgrade stands behind a request that was not answered yet"
        case .tlsRequired: "this relay wants TLS: the address begins with https://"
        case .slowHead: "the head took longer than \(GatewayLimits.headMilliseconds / 1_000) s"
        case .pipelined: "more than \(GatewayLimits.pipelinedBytesMax) bytes stand behind a request that was not answered yet"
        }
    }
}

/// The statuses that this server answers with, and their phrases. [RFC 9110 §15, RFC 6585]
package enum HTTPStatus: UInt16, Equatable, Sendable, CaseIterable {
    case switchingProtocols = 101, ok = 200, notModified = 304, permanentRedirect = 308
    case badRequest = 400, unauthorized = 401, forbidden = 403, notFound = 404, methodNotAllowed = 405, requestTimeout = 408
    case contentTooLarge = 413, uriTooLong = 414, expectationFailed = 417, misdirectedRequest = 421, upgradeRequired = 426
    case tooManyRequests = 429, headTooLarge = 431
    case internalServerError = 500, notImplemented = 501, serviceUnavailable = 503, versionNotSupported = 505

    package var phrase: String {
        switch self {
        case .switchingProtocols: "Switching Protocols"
        case .ok: "OK"
        case .notModified: "Not Modified"
        case .permanentRedirect: "Permanent Redirect"
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .requestTimeout: "Request Timeout"
        case .contentTooLarge: "Content Too Large"
        case .uriTooLong: "URI Too Long"
        case .expectationFailed: "Expectation Failed"
        case .misdirectedRequest: "Misdirected Request"
        case .upgradeRequired: "Upgrade Required"
        case .tooManyRequests: "Too Many Requests"
        case .headTooLarge: "Request Header Fields Too Large"
        case .internalServerError: "Internal Server Error"
        case .notImplemented: "Not Implemented"
        case .serviceUnavailable: "Service Unavailable"
        case .versionNotSupported: "HTTP Version Not Supported"
        }
    }
}
