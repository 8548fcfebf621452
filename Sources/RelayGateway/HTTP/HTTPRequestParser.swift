/// Reads the heads of requests from a stream of bytes, as strictly as RFC 9112 allows. [HT1, HT2]
///
/// A line is judged when its end has come, a byte that ends no line rightly at once; where the bytes were cut means
/// nothing. After a refusal it reads nothing any more: what follows cannot be trusted to be a request.
package struct HTTPRequestParser: Sendable {
    private enum Part { case requestLine, fields }

    private var part = Part.requestLine
    /// The line that is being read, without its end.
    private var line: [UInt8] = []
    private var endsWithCR = false
    private var methodIsRead = false
    private var headBytes = 0
    private var request: HTTPRequest?
    /// Of the head that is being read, or was refused: what a HEAD gets has no body, a refusal neither.
    package private(set) var method: HTTPRequest.Method?

    package init() {}

    /// Whether a head has begun and is not whole: the time during which the caller's timer runs. [HT3]
    package var isInHead: Bool { headBytes > 0 }

    /// Reads on.
    ///
    /// - Parameter position: where to begin; afterwards what was read ends there.
    /// - Returns: a request as soon as one is whole, with what follows it unread; `nil` when all bytes are read.
    package mutating func next(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws(HTTPRefusal) -> HTTPRequest? {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if headBytes == 0 { method = nil }
            headBytes += 1
            guard headBytes <= GatewayLimits.headBytesMax else { throw part == .requestLine ? .targetTooLong : .headTooLarge }
            if endsWithCR {
                guard byte == 0x0A else { throw .bareCR }
                endsWithCR = false
                if let whole = try endLine() { return whole }
                continue
            }
            switch byte {
            case 0x0A: throw .bareLF
            case 0x0D: endsWithCR = true
            default:
                if part == .requestLine, !methodIsRead { try checkMethod(byte) }
                line.append(byte)
            }
        }
        return nil
    }

    /// Noise is refused at its first byte that is in no method, not when its head would have been too long.
    private mutating func checkMethod(_ byte: UInt8) throws(HTTPRefusal) {
        if isTokenByte(byte), line.count < GatewayLimits.methodBytesMax { return }
        guard byte == 0x20, !line.isEmpty else {
            // A handshake of TLS: content type 22, version 3.x.
            throw line.isEmpty && byte == 0x16 ? .tls : .notHTTP
        }
        methodIsRead = true
    }

    private mutating func endLine() throws(HTTPRefusal) -> HTTPRequest? {
        defer { line.removeAll(keepingCapacity: true) }
        switch part {
        case .requestLine:
            method = line.starts(with: "HEAD ".utf8) ? .head : .get
            request = try Self.requestLine(line[...])
            part = .fields
            return nil
        case .fields:
            if line.isEmpty { return try endHead() }
            try field()
            return nil
        }
    }

    private static func requestLine(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> HTTPRequest {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else { throw .requestLine }
        let version = Array(parts[2])
        // HTTP-version = "HTTP" "/" DIGIT "." DIGIT
        func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        guard version.count == 8, version.starts(with: "HTTP/".utf8), isDigit(version[5]), version[6] == UInt8(ascii: "."),
            isDigit(version[7])
        else {
            throw .requestLine
        }
        guard version[5] == UInt8(ascii: "1"), let minor = HTTPRequest.Version(rawValue: version[7] - UInt8(ascii: "0")) else {
            throw .version
        }
        guard let method = HTTPRequest.Method(rawValue: String(decoding: parts[0], as: UTF8.self)) else { throw .method }
        return HTTPRequest(method: method, version: minor, target: try RequestTarget(parts[1]))
    }

    private mutating func field() throws(HTTPRefusal) {
        guard request!.fields.count < GatewayLimits.fieldsMax else { throw .tooManyFields }
        guard line[0] != 0x20, line[0] != 0x09 else { throw .folded }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { throw .fieldName }
        let name = line[..<colon]
        guard name.allSatisfy(isTokenByte) else {
            throw name.last == 0x20 || name.last == 0x09 ? .spaceBeforeColon : .fieldName
        }
        let value = trimmed(line[(colon + 1)...])
        for byte in value where byte < 0x20 && byte != 0x09 || byte == 0x7F { throw .fieldValue }
        request!.fields.append(HTTPRequest.Field(name: name.map(lowercased), value: Array(value)))
    }

    private mutating func endHead() throws(HTTPRefusal) -> HTTPRequest {
        let whole = request!
        request = nil
        part = .requestLine
        methodIsRead = false
        headBytes = 0
        try Self.checkBody(whole)
        switch whole.values("host").count {
        case 0: throw .hostMissing
        case 1: break
        default: throw .hostTwice
        }
        // Of a request without a body there is nothing to go on with, so `100-continue` is met. [RFC 9110 §10.1.1]
        for expectation in whole.list("expect") where !expectation.lazy.map(lowercased).elementsEqual("100-continue".utf8) {
            throw .expectation
        }
        return whole
    }

    /// A body is refused and never passed over: where two readers differ about its end, the second request is somebody
    /// else's. [RFC 9112 §11.2]
    private static func checkBody(_ request: HTTPRequest) throws(HTTPRefusal) {
        let lengths = request.values("content-length")
        if !request.values("transfer-encoding").isEmpty { throw lengths.isEmpty ? .transferEncoding : .lengthAndEncoding }
        guard let length = lengths.first else { return }
        guard lengths.count == 1 else { throw .contentLengthTwice }
        guard !length.isEmpty, length.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { throw .contentLength }
        guard length.allSatisfy({ $0 == UInt8(ascii: "0") }) else { throw .body }
    }
}
