internal import RelayPrimitives

extension DNSMessage {
    /// Largest datagram. (RFC 6762 §17)
    package static let bytesMax = 9_000
    /// A datagram with more is ignored: nobody has so much to ask or to say at once.
    package static let questionsMax = 64, recordsMax = 512

    /// Reads a datagram. Records that are not of the class Internet are left out.
    ///
    /// - Returns: `nil` for what is torn, is over a bound, or is neither a plain query nor a success. (RFC 6762 §18.3, §18.11)
    /// - Complexity: for each name at most 255 bytes and 32 pointers, whatever it says.
    package init?(_ bytes: [UInt8]) {
        guard (12...Self.bytesMax).contains(bytes.count) else { return nil }
        var reader = Reader(bytes: bytes)
        let head = (0..<6).map { _ in reader.number(2) ?? 0 }
        guard head[1] & 0x780F == 0, head[2] <= Self.questionsMax, head[3...].reduce(0, +) <= Self.recordsMax else { return nil }
        (id, isResponse) = (UInt16(head[0]), head[1] & 0x8000 != 0)
        for _ in 0..<head[2] {
            guard let name = reader.name(), let type = reader.number(2), let kind = reader.number(2) else { return nil }
            guard [1, 255].contains(kind & 0x7FFF) else { continue }
            questions.append(Question(name, UInt16(type)))
            questions[questions.count - 1].wantsUnicast = kind & 0x8000 != 0
        }
        guard let answers = reader.records(head[3]), let authorities = reader.records(head[4]), let additionals = reader.records(head[5])
        else { return nil }
        (self.answers, self.authorities, self.additionals) = (answers, authorities, additionals)
    }

    /// As a datagram. It is short without pointers, and plain resolvers do not know them everywhere. (RFC 6762 §18.14)
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func append(_ name: DNSName?, _ words: Int...) {
            bytes += name?.bytes ?? []
            for word in words { bytes.append(bigEndian: UInt16(word)) }
        }
        append(nil, Int(id), isResponse ? 0x8400 : 0, questions.count, answers.count, authorities.count, additionals.count)
        for question in questions { append(question.name, Int(question.type), question.wantsUnicast ? 0x8001 : 1) }
        for record in answers + authorities + additionals {
            append(record.name, Int(record.type), record.isUnique ? 0x8001 : 1)
            bytes.append(bigEndian: record.seconds)
            append(nil, record.data.count)
            bytes += record.data
        }
        return bytes
    }
}

private struct Reader {
    let bytes: [UInt8]
    var at = 0
    private static let pointersMax = 32

    mutating func number(_ size: Int) -> Int? {
        guard bytes.count - at >= size else { return nil }
        defer { at += size }
        return bytes[at..<at + size].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Pointers lead backwards only. Labels between them make the name longer, so that it ends.
    mutating func name() -> DNSName? {
        var name: [UInt8] = [], place = at, pointers = 0
        while place < bytes.count {
            let length = Int(bytes[place])
            switch length {
            case 0:
                if pointers == 0 { at = place + 1 }
                return DNSName(bytes: name + [0])
            case 1...63:
                guard place + length < bytes.count, name.count + length < 254 else { return nil }
                name += bytes[place...place + length]
                place += length + 1
            case 192...255:
                guard place + 1 < bytes.count, pointers < Self.pointersMax else { return nil }
                if pointers == 0 { at = place + 2 }
                let target = (length & 63) << 8 | Int(bytes[place + 1])
                guard target < place else { return nil }
                (place, pointers) = (target, pointers + 1)
            default: return nil
            }
        }
        return nil
    }

    mutating func records(_ count: Int) -> [DNSRecord]? {
        var records: [DNSRecord] = []
        for _ in 0..<count {
            guard let name = name(), let type = number(2), let kind = number(2), let seconds = number(4), let size = number(2),
                let data = data(size, of: UInt16(type))
            else { return nil }
            guard kind & 0x7FFF == 1 else { continue }
            records.append(DNSRecord(name, UInt16(type), seconds: UInt32(seconds), isUnique: kind & 0x8000 != 0, data))
        }
        return records
    }

    private mutating func data(_ size: Int, of type: UInt16) -> [UInt8]? {
        let end = at + size
        guard end <= bytes.count else { return nil }
        defer { at = end }
        guard type == DNSType.ptr || type == DNSType.srv else { return Array(bytes[at..<end]) }
        let head = bytes[at..<end].prefix(type == DNSType.srv ? 6 : 0)
        at += head.count
        guard let name = name(), at == end else { return nil }
        return head + name.bytes
    }
}
