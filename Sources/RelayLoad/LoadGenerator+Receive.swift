import RelayConsole
import RelayIO
import RelaySystem
import RelayWire

extension LoadGenerator {
    /// Reads whole frames where they lie: nothing is allocated for a delivery.
    ///
    /// - Returns: how many bytes they had.
    mutating func receive(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Int {
        var start = 0
        let reader = links[index].member
        let counts = !load.members[reader].stalls
        while bytes.count - start >= Limits.frameHeadBytes {
            let length = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self)))
            guard length >= 2, length <= Limits.frameBodyBytesMax + 2 else {
                failure = failure ?? "the relay sent a frame of \(length) bytes"
                close(index)
                return start
            }
            let end = start + 4 + length
            guard end <= bytes.count else { break }
            let flags = FrameFlags(rawValue: bytes[start + 5]), body = start + Limits.frameHeadBytes
            switch FrameType(rawValue: bytes[start + 4]) {
            case .packet:
                let payload = body + 8 + (flags.contains(.slot) ? 4 : 0) + (flags.contains(.senderTime) ? 4 : 0)
                guard payload + Stamp.bytes <= end else { break }
                // Its place in its flow, which losses are told by.
                let number = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: body + 4, as: UInt32.self))
                delivered(bytes, payload, number: number, to: reader, counts: counts)
            case .deliver:
                var payload = body + 24
                if flags.contains(.customType), payload < end { payload += 1 + Int(bytes[payload]) }
                if flags.contains(.key), payload < end { payload += 1 + Int(bytes[payload]) }
                if flags.contains(.part) { payload += 4 }
                guard payload + Stamp.bytes <= end else { break }
                links[index].lastOffset = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: body + 8, as: UInt64.self))
                delivered(
                    bytes, payload, number: bytes.loadUnaligned(fromByteOffset: payload + 12, as: UInt32.self), to: reader, counts: counts)
            case .accepted, .stored, .userNamed, .flowOpened, .flowClosed, .presence, .topics, .pong: break
            case let type?: receiveRare(type, UnsafeRawBufferPointer(rebasing: bytes[body..<end]), index)
            case nil: break
            }
            start = end
            guard !links[index].isClosed else { break }
        }
        return start
    }

    @inline(__always)
    private mutating func delivered(_ bytes: UnsafeRawBufferPointer, _ payload: Int, number: UInt32, to reader: Int, counts: Bool) {
        let source = Int(bytes.loadUnaligned(fromByteOffset: payload + 8, as: UInt32.self))
        guard tally.deliver(number, of: source, to: reader), counts else { return }
        let due = bytes.loadUnaligned(fromByteOffset: payload, as: UInt64.self)
        guard due >= measuresFrom else { return }
        let passed = readAt > due ? readAt - due : 0
        if due < splitsAt { latency.add(passed) } else { latencyAfter.add(passed) }
    }

    private mutating func receiveRare(_ type: FrameType, _ body: UnsafeRawBufferPointer, _ index: Int) {
        let reader = links[index].member
        do throws(WireError) {
            switch type {
            case .ping: links[index].append(Frame(.pong, body: Array(body)).bytes)
            case .welcome, .answer, .restored: try answered(type, body, index)
            case .lost:
                for range in try LostFrame(body: body).ranges {
                    if let source = sourceOfFlow[range.flow] { tally.report(range.first, range.last, of: source, to: reader) }
                }
            case .gap:
                let gap = try decode(Gap.self, body)
                tally.report(gap.to - gap.from + 1, to: reader)
            case .caughtUp: caughtUp(index)
            case .packetsDropped:
                let notice = try decode(PacketsDroppedNotice.self, body)
                guard let source = sourceOfFlow[notice.flow] else { return }
                refused(notice.total - dropsTold[source], of: source, code: ErrorCode.rateLimited)
                dropsTold[source] = notice.total
            case .error: try refusedRequest(decode(ErrorBody.self, body), index)
            case .closing: links[index].farewell = try decode(CloseNotice.self, body).code.rawValue
            default: break
            }
        } catch {
            failure = failure ?? "the relay sent a \(type.name) that cannot be read: \(error.text)"
        }
    }

    private func decode<Value: JSONObject>(_ type: Value.Type, _ body: UnsafeRawBufferPointer) throws(WireError) -> Value {
        try JSONBody.decode(type, from: body, bytesMax: Limits.frameBodyBytesMax)
    }

    private mutating func refused(_ count: UInt64, of source: Int, code: ErrorCode) {
        tally.refused(count, of: source)
        refusals[code.rawValue, default: 0] += count
    }

    private mutating func refusedRequest(_ error: ErrorBody, _ index: Int) {
        let member = links[index].member
        if error.number != nil, let source = load.sources.firstIndex(where: { $0.member == member && $0.lane == .message }) {
            refused(1, of: source, code: error.code)
        } else if let flow = error.flow, let source = sourceOfFlow[flow] {
            refused(1, of: source, code: error.code)
        } else {
            failure = failure ?? "\(error.text) (\(error.name))"
        }
    }

    // MARK: - Coming in

    /// What a member was told when it came.
    private mutating func answered(_ type: FrameType, _ body: UnsafeRawBufferPointer, _ index: Int) throws(WireError) {
        switch type {
        case .welcome:
            let welcome = try decode(Welcome.self, body)
            links[index].resumeToken = welcome.resumeToken
            if stall.isMeant(member: links[index].member), stall.cameBackAt != nil { stall.resumed(welcome) }
        case .restored:
            let restored = try decode(SubscribeAnswer.self, body)
            if restored.kind == .message {
                links[index].messageChannel = restored
                if let missed = restored.missed { tally.report(missed.to - missed.from + 1, to: links[index].member) }
            }
            return
        default:
            switch try decode(RequestID.self, body).id {
            case Entering.subscribe:
                let answer = try decode(SubscribeAnswer.self, body)
                links[index].messageChannel = answer
                links[index].lastOffset = answer.head ?? 0
            case Entering.joinTopic:
                let answer = try decode(JoinTopicAnswer.self, body), member = links[index].member
                guard let source = load.sources.firstIndex(where: { $0.member == member && $0.lane == .stream }) else { return }
                flowOfSource[source] = answer.flow
                sourceOfFlow[answer.flow] = source
            default: break
            }
        }
        if case .entering(let answers) = links[index].state { links[index].state = answers > 1 ? .entering(answers - 1) : .ready }
    }

    /// Connects every member, some at a time.
    ///
    /// - Returns: seconds until the last one was in.
    @discardableResult
    package mutating func enterAll(upTo count: Int? = nil) throws -> Double {
        let count = count ?? load.members.count
        let begin = Self.now(), first = links.count
        var ready = first
        while ready < count {
            while links.count < count, links.count - ready < Self.enteringMax { try enter(links.count) }
            poll(nanoseconds: 20_000_000)
            if let failure { throw Failure("the load cannot come in: \(Printable.escaped(failure))") }
            while ready < links.count, links[ready].state == .ready { ready += 1 }
            guard Self.now() < begin + 60_000_000_000 else {
                throw Failure("only \(ready) of \(count) connections were let in within 60 s")
            }
        }
        return Double(Self.now() - begin) / 1e9
    }

    private mutating func enter(_ member: Int) throws {
        let role = load.members[member]
        let frames = try Entering.frames(
            identities[member], member: role, publishesPackets: load.sources.contains { $0.member == member && $0.lane == .stream },
            presenceTimeoutMs: role.stalls ? StallOutcome.presenceTimeoutMs : nil)
        links.append(try link(member, frames, index: links.count))
    }

    mutating func link(_ member: Int, _ frames: (bytes: [UInt8], answers: Int), index: Int) throws(SocketAddress.Failure) -> LoadLink {
        let socket = try PolledSocket(
            connectingTo: target, from: origins.isEmpty ? nil : origins[member % origins.count],
            receiveBufferBytes: load.members[member].stalls ? StallOutcome.receiveBufferBytes : nil)
        let code = poller.add(socket.descriptor, token: UInt32(index), for: [.reading, .writing])
        guard code == 0 else { throw SocketAddress.Failure("a connection cannot be watched", code: code) }
        var link = LoadLink(socket, member: member, answers: frames.answers)
        link.append(frames.bytes)
        return link
    }
}
