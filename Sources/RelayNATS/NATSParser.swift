/// What a server sends.
enum NATSOperation: Equatable {
    /// JSON.
    case info([UInt8])
    case message(NATSMessage)
    case ping, pong, ok
    /// `-ERR`, without its quotes.
    case error(String)
}

/// Reads a server's bytes, cut anywhere.
///
///     INFO {json}⏎    PING⏎    PONG⏎    +OK⏎    -ERR 'text'⏎
///     MSG subject subscription [reply] bytes⏎ payload ⏎
///     HMSG subject subscription [reply] headerBytes allBytes⏎ header payload ⏎
///
/// Stricter than servers need it: capitals, one space between words, CR LF at each end. Behind an error it reads nothing any more.
struct NATSParser {
    /// The line of a message whose payload is being read.
    private struct Head {
        var subject: String
        var subscription: UInt64
        var reply: String?
        var headerBytes: Int?
        var bytes: Int
    }

    /// Of a message with its header, without the end of the line. The server's `max_payload` decides; before INFO none is allowed.
    var messageBytesMax = 0

    private var head: Head?
    /// The line or the message that is being read, as far as it has come, with its end.
    private var bytes: [UInt8] = []

    /// Reads on.
    ///
    /// - Parameter position: where to begin; afterwards what was read ends there.
    /// - Returns: what is whole first; `nil` when all bytes are read.
    /// - Throws: `lineTooLong`, `headerTooLarge`, `payloadTooLarge`, `badLine` or `badHeader`.
    mutating func next(_ input: UnsafeRawBufferPointer, _ position: inout Int) throws(NATSError) -> NATSOperation? {
        while position < input.count {
            if let head {
                let missing = head.bytes + 2 - bytes.count
                let end = min(input.count, position + missing)
                bytes.append(contentsOf: input[position..<end])
                position = end
                guard bytes.count == head.bytes + 2 else { return nil }
                return .message(try message(head))
            }
            let end = input[position...].firstIndex(of: 0x0A).map { $0 + 1 } ?? input.count
            // No more than it takes to see that it is too long.
            bytes.append(contentsOf: input[position..<min(end, position + NATSLimits.infoBytesMax + 3)])
            position = end
            let limit = bytes.starts(with: "INFO ".utf8) ? NATSLimits.infoBytesMax : NATSLimits.lineBytesMax
            let isWhole = bytes.last == 0x0A
            guard bytes.count <= limit + (isWhole ? 2 : 1) else { throw .lineTooLong(limit: limit) }
            if isWhole, let whole = try endLine() { return whole }
        }
        return nil
    }

    private mutating func endLine() throws(NATSError) -> NATSOperation? {
        let line = Array(bytes.dropLast(2))
        guard bytes.count >= 2, bytes[bytes.count - 2] == 0x0D, line.isPrintable else { throw .badLine(bytes.excerpt) }
        bytes.removeAll(keepingCapacity: true)
        switch String(decoding: line.prefix { $0 != 0x20 }, as: UTF8.self) {
        case "MSG": head = try head(line, hasHeader: false)
        case "HMSG": head = try head(line, hasHeader: true)
        case "INFO" where line.count > 5: return .info(Array(line[5...]))
        case "PING" where line.count == 4: return .ping
        case "PONG" where line.count == 4: return .pong
        case "+OK" where line.count == 3: return .ok
        case "-ERR" where line.count > 5:
            return .error(String(decoding: line[5...].filter { $0 != UInt8(ascii: "'") }, as: UTF8.self))
        default: throw .badLine(line.excerpt)
        }
        return nil
    }

    private func head(_ line: [UInt8], hasHeader: Bool) throws(NATSError) -> Head {
        let words = line.split(separator: 0x20, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
        let least = hasHeader ? 5 : 4
        guard least...(least + 1) ~= words.count, words.allSatisfy({ !$0.isEmpty }), let subscription = decimal(words[2]),
            let bytes = decimal(words[words.count - 1]), let headerBytes = hasHeader ? decimal(words[words.count - 2]) : 0,
            headerBytes <= bytes
        else { throw .badLine(line.excerpt) }
        guard headerBytes <= NATSLimits.headerBytesMax else {
            throw .headerTooLarge(limit: NATSLimits.headerBytesMax, actual: headerBytes)
        }
        guard bytes <= messageBytesMax else { throw .payloadTooLarge(limit: messageBytesMax, actual: bytes) }
        return Head(
            subject: words[1], subscription: subscription, reply: words.count > least ? words[3] : nil,
            headerBytes: hasHeader ? Int(headerBytes) : nil, bytes: Int(bytes))
    }

    private mutating func message(_ head: Head) throws(NATSError) -> NATSMessage {
        guard bytes.suffix(2) == [0x0D, 0x0A] else { throw .badLine("no end of line behind \(head.bytes) bytes") }
        let headerBytes = head.headerBytes ?? 0
        let message = NATSMessage(
            subject: head.subject, subscription: head.subscription, reply: head.reply,
            header: head.headerBytes == nil ? nil : try NATSHeader(Array(bytes[..<headerBytes])),
            payload: Array(bytes[headerBytes..<head.bytes]))
        self.head = nil
        bytes.removeAll(keepingCapacity: head.bytes <= NATSLimits.answerBytesMax)
        return message
    }
}
