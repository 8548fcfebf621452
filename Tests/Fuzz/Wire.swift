import RelayWire

// Frames, and the bodies of frames.

/// Bytes of a stream. [FR2, FR3]
func frames(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let readings = [max(1, bytes.count), 1].map { StreamReading(bytes, pieceBytes: $0) }
    must(readings[0] == readings[1], "\(readings[0]) in one piece, byte by byte \(readings[1])")
    for frame in readings[0].frames { frame.body.withUnsafeBytes { read(frame, $0) } }
    return true
}

private struct StreamReading: Equatable {
    var frames: [Frame] = []
    var pendingBytes = 0
    var problem: WireError?

    init(_ bytes: UnsafeRawBufferPointer, pieceBytes: Int) {
        var reader = FrameReader()
        do throws(WireError) {
            for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
                reader.append(bytes[start..<min(bytes.count, start + pieceBytes)])
                while let frame = try reader.next() { frames.append(frame) }
                pendingBytes = reader.pendingBytes
            }
        } catch {
            problem = error
            pendingBytes = 0
        }
    }
}

/// Nothing of a body is lost or read twice, and where there is an encoder, the frame comes back from it.
private func read(_ frame: Frame, _ whole: UnsafeRawBufferPointer) {
    guard let type = FrameType(rawValue: frame.type) else { return }
    var (flags, body) = (frame.flags, whole)
    do {
        let extensions = type.isBinary ? try Extensions.take(from: &body, &flags) : UnsafeRawBufferPointer(rebasing: body[..<0])
        must(extensions.count + body.count == whole.count, "\(extensions.count) and \(body.count) bytes of \(whole.count)")
        guard let again = try decode(type, flags, body) else { return }
        let expected = Frame(type: frame.type, flags: flags, body: Array(body))
        must(again == expected, "\(expected) comes back as \(again)")
    } catch {}
}

/// - Returns: the frame from its encoder; `nil` if there is none, or the names are no text.
private func decode(_ type: FrameType, _ flags: UInt8, _ body: UnsafeRawBufferPointer) throws -> Frame? {
    /// Each field is there, with its length byte where it has one.
    func account(_ fixed: Int, _ fields: [(FrameFlags?, UnsafeRawBufferPointer)], _ payload: UnsafeRawBufferPointer) -> [String]? {
        let there = fields.filter { $0.0.map { FrameFlags(rawValue: flags).contains($0) } ?? true }.map(\.1)
        let bytes = there.reduce(fixed + payload.count) { $0 + 1 + $1.count }
        must(bytes == body.count, "\(type.name): fields of \(bytes) bytes in a body of \(body.count)")
        must(payload.reduce(0) { $0 &+ Int($1) } >= 0, "")
        return there.allSatisfy(isValidUTF8) ? there.map { String(decoding: $0, as: UTF8.self) } : nil
    }
    let has = FrameFlags(rawValue: flags)
    func bytes(_ flag: FrameFlags, _ count: Int) -> Int { has.contains(flag) ? count : 0 }
    switch type {
    case .publish:
        let found = try PublishFrame(flags: flags, body: body)
        let fields: [(FrameFlags?, UnsafeRawBufferPointer)] = [(nil, found.channel), (.customType, found.customType), (.key, found.key)]
        guard var texts = account(8 + bytes(.part, 4), fields, found.payload) else { return nil }
        let key = has.contains(.key) ? texts.removeLast() : nil
        return .publish(
            number: found.number, channel: texts[0], customType: has.contains(.customType) ? texts[1] : nil, key: key,
            part: has.contains(.part) ? (found.part, found.parts) : nil, flags: has, payload: found.payload)
    case .publishPacket:
        let found = try PublishPacketFrame(flags: flags, body: body)
        _ = account(4 + bytes(.slot, 4) + bytes(.senderTime, 4), [], found.payload)
        return .publishPacket(
            flow: found.flow, slot: has.contains(.slot) ? found.slot : nil, senderTime: has.contains(.senderTime) ? found.senderTime : nil,
            flags: has, payload: found.payload)
    case .direct:
        let found = try DirectFrame(flags: flags, body: body)
        guard let texts = account(8, [(nil, found.user), (.customType, found.customType)], found.payload) else { return nil }
        let type = has.contains(.customType) ? texts[1] : nil
        return .direct(number: found.number, user: texts[0], customType: type, flags: has, payload: found.payload)
    case .publishChanges:
        let found = try PublishChangesFrame(flags: flags, body: body)
        readChanges(found.changes)
        guard let texts = account(12, [(nil, found.channel)], found.changes) else { return nil }
        return .publishChanges(number: found.number, channel: texts[0], part: (found.part, found.parts), changes: found.changes)
    case .deliver:
        let found = try DeliverFrame(flags: flags, body: body)
        _ = account(24 + bytes(.part, 4), [(.customType, found.customType), (.key, found.key)], found.payload)
    case .packet:
        let found = try PacketFrame(flags: flags, body: body)
        _ = account(8 + bytes(.slot, 4) + bytes(.senderTime, 4), [], found.payload)
    case .directDeliver:
        let found = try DirectDeliverFrame(flags: flags, body: body)
        _ = account(16, [(nil, found.sender), (.customType, found.customType)], found.payload)
    case .historyItem:
        let found = try HistoryItemFrame(flags: flags, body: body)
        let fields: [(FrameFlags?, UnsafeRawBufferPointer)] = [(nil, found.publisher), (.customType, found.customType), (.key, found.key)]
        _ = account(20 + bytes(.part, 4), fields, found.payload)
    case .lost:
        let found = try LostFrame(body: body)
        let bytes = found.ranges.count * LostFrame.rangeBytes + LostFrame.fixedBytes
        must(bytes == body.count, "\(found.ranges.count) ranges in \(body.count) bytes")
    case .setMetadata, .updateMetadata: try readTexts(WriteMetadataRequest.self, body) { $0.items.map(\.bytes) }
    case .metadataPage: try readTexts(MetadataPageHead.self, body) { $0.items.map(\.bytes) }
    case .metadata: try readTexts(MetadataEventHead.self, body) { $0.items.map(\.bytes) }
    default: break
    }
    return nil
}

private func readChanges(_ changes: UnsafeRawBufferPointer) {
    var rest = changes
    while !rest.isEmpty {
        let before = rest
        guard let change = try? EncodedChange.take(from: &rest) else { return }
        must(rest.count < before.count, "a change of no bytes")
        let type = change.flags.contains(.customType) ? change.customType : nil
        guard change.extensions.isEmpty, isValidUTF8(change.key), type.map(isValidUTF8) ?? true else { continue }
        var again: [UInt8] = []
        again.append(
            change: String(decoding: change.key, as: UTF8.self), customType: type.map { String(decoding: $0, as: UTF8.self) },
            isText: change.flags.contains(.text), payload: change.payload)
        must(again.count <= before.count - rest.count + 2, "\(before.count - rest.count) bytes of a change come back as \(again.count)")
    }
}

private func readTexts<Head: JSONObject>(_ type: Head.Type, _ body: UnsafeRawBufferPointer, _ sizes: (Head) -> [Int]) throws {
    let (head, rest) = try TextBody.read(body)
    let found = try JSONBody.decode(type, from: head)
    let texts = try TextBody.cut(rest, sizes(found))
    must(texts.reduce(0) { $0 + $1.count } == rest.count, "texts of another length than \(rest.count)")
    checkAgain(found, head)
}

// MARK: - JSON

/// The row of a vector, as far as the table of JSON bodies asks for it.
struct FrameVector {
    let name: String
    var typeName: String { name }
    var type: FrameType? { FrameType.allCases.first { $0.name == name } }
}

// Safe: types have no state, and nobody changes the table.
nonisolated(unsafe) private let bodyTypes: [UInt8: any JSONObject.Type] = {
    let types = FrameType.allCases.compactMap { type in FrameVector(name: type.name).bodyType.map { (type.rawValue, $0) } }
    return Dictionary(uniqueKeysWithValues: types)
}()

/// The type of a frame, and its JSON body: of all requests of clients, and of what relays send. [JS1–JS5]
func requests(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.first, let type = bodyTypes[first] else { return false }
    let body = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    func open<Body: JSONObject>(_ type: Body.Type) { if let found = try? JSONBody.decode(type, from: body) { checkAgain(found, body) } }
    open(type)
    _ = try? JSONBody.decode(RequestID.self, from: body, anyKeys: true)
    return true
}

/// What was read is written, and read again, as the same, and says nothing that did not stand there.
private func checkAgain<Body: JSONObject>(_ body: Body, _ bytes: UnsafeRawBufferPointer) {
    let written = JSONBody.encode(body)
    let rules = JSONRules.body(bytesMax: .max, anyKeys: false)
    guard let there = try? JSONValue(reading: Array(bytes), rules), let found = try? JSONValue(reading: written, rules) else {
        fatalError("\(String(decoding: written, as: UTF8.self)) is no JSON")
    }
    must(found.isPart(of: there), "\(there) is written as \(found)")
    let again = written.withUnsafeBytes { try? JSONBody.decode(Body.self, from: $0, bytesMax: .max) }
    must(again.map { JSONBody.encode($0) } == written, "\(String(decoding: written, as: UTF8.self)) is not read as it was written")
}

extension JSONValue {
    /// Whether the other one has all that this has, and perhaps more members of objects.
    fileprivate func isPart(of other: JSONValue) -> Bool {
        switch (self, other) {
        case (.object(let members), .object(let others)):
            members.allSatisfy { member in others.contains { $0.key == member.key && member.value.isPart(of: $0.value) } }
        case (.array(let elements), .array(let others)):
            elements.count == others.count && zip(elements, others).allSatisfy { $0.isPart(of: $1) }
        default: self == other
        }
    }
}
