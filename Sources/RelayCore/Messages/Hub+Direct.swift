import RelayPrimitives
internal import RelayRights
import RelayWire

/// A direct message that its receiver has not acknowledged yet. [DM3]
struct PendingDirect {
    var delivery: UInt64
    var number: UInt64
    /// Sessions.
    var sender: Session.Index
    /// Those that may still acknowledge it: the first one does for all.
    var receivers: [Session.Index]
    /// The client object that sent it: another one has other numbers.
    var instance: UInt64?
}

/// All of them, by delivery, and by whom they are for and from.
struct PendingDirects {
    private var directs = [UInt64: PendingDirect]()
    private var byReceiver = [Session.Index: Set<UInt64>]()
    private var bySender = [Session.Index: Set<UInt64>]()

    subscript(delivery: UInt64) -> PendingDirect? { directs[delivery] }

    mutating func add(_ direct: PendingDirect) {
        directs[direct.delivery] = direct
        for receiver in direct.receivers { byReceiver[receiver, default: []].insert(direct.delivery) }
        bySender[direct.sender, default: []].insert(direct.delivery)
    }

    mutating func remove(_ delivery: UInt64) -> PendingDirect? {
        guard let direct = directs.removeValue(forKey: delivery) else { return nil }
        for receiver in direct.receivers { Self.remove(delivery, of: receiver, &byReceiver) }
        Self.remove(delivery, of: direct.sender, &bySender)
        return direct
    }

    /// A receiver can no longer acknowledge direct messages.
    ///
    /// - Returns: the messages that no other receiver can acknowledge, in the order in which they were sent.
    mutating func remove(receiver: Session.Index) -> [PendingDirect] {
        guard let deliveries = byReceiver.removeValue(forKey: receiver) else { return [] }
        var failed: [PendingDirect] = []
        for delivery in deliveries.inOrder() {
            directs[delivery]!.receivers.removeFirst(of: receiver)
            if directs[delivery]!.receivers.isEmpty, let direct = remove(delivery) { failed.append(direct) }
        }
        return failed
    }

    mutating func remove(sender: Session.Index) {
        for delivery in bySender[sender] ?? [] { _ = remove(delivery) }
    }

    private static func remove(_ delivery: UInt64, of session: Session.Index, _ all: inout [Session.Index: Set<UInt64>]) {
        all[session]?.remove(delivery)
        if all[session]?.isEmpty == true { all[session] = nil }
    }
}

// Messages from one user to another. [DM1–DM5]

extension Hub {
    mutating func direct(_ head: FrameHead, _ whole: UnsafeRawBufferPointer, session: Session.Index, _ connection: Connection.Index) {
        var (flags, body) = (head.flags, whole)
        do throws(WireError) {
            let extensions = try Extensions.take(from: &body, &flags)
            var frame = try DirectFrame(flags: flags, body: body)
            frame.extensions = extensions
            try checkNumber(frame.number, session)
            try checkContent(frame.payload, frame.customType, flags: frame.flags)
            try requireEverywhere(.direct, session)
            let user = try Name(bytes: frame.user)
            guard sessions[session].directsPending < configuration.directPendingMax else {
                throw WireError(
                    .limitReached, "at most \(configuration.directPendingMax) direct messages wait for confirmation",
                    limit: configuration.directPendingMax, actual: sessions[session].directsPending + 1)
            }
            let rate = configuration.limits.directMessagesPerSecond
            if let wait = try spend(bucket(.direct, of: session), rate: rate, capacity: rate, connection, "direct messages") {
                throw .overRate("direct messages", rate: rate, wait: wait)
            }
            guard connections[connection].isOpen else { return }
            let receivers = people.sessions(of: user).filter { outbox.connection(of: $0) != nil }
            guard !receivers.isEmpty else { throw WireError(.userOffline, "user \(user) has no connection") }
            accept(frame, from: session, to: receivers)
        } catch {
            refuse(connection, error, number: Self.publishNumber(body))
        }
    }

    private mutating func accept(_ frame: DirectFrame, from session: Session.Index, to receivers: [Session.Index]) {
        let delivery = ordinals.delivery()
        sessions[session].window.passDirect(frame.number)
        sessions[session].directsPending += 1
        holdOwn(Footprint.pendingDirect, session)
        counters.directAccepted += 1
        directs.add(
            PendingDirect(
                delivery: delivery, number: frame.number, sender: session, receivers: receivers, instance: sessions[session].instance))
        deadlines.set(.direct(delivery: delivery), at: now.instant + configuration.directTimeout)

        let wall = now.wallMilliseconds
        let sender = sessions[session].user!.text.utf8
        let hasType = frame.flags.contains(.customType)
        let head = FrameHead(
            type: FrameType.directDeliver.rawValue, flags: frame.flags.and(frame.extensions),
            bodyBytes: frame.extensions.count + 16 + 1 + sender.count + (hasType ? 1 + frame.customType.count : 0) + frame.payload.count)
        for link in receivers.compactMap({ outbox.connection(of: $0) }) {
            enqueuePrivate(link, head: head) { writer in
                writer.bytes(frame.extensions)
                writer.integer(delivery)
                writer.integer(wall)
                writer.integer(UInt8(sender.count))
                for byte in sender { writer.integer(byte) }
                if hasType { writer.shortBytes(frame.customType) }
                writer.bytes(frame.payload)
            }
        }
    }

    mutating func directReceived(_ head: FrameHead, _ whole: UnsafeRawBufferPointer, _ connection: Connection.Index) {
        var (flags, body) = (head.flags, whole)
        do throws(WireError) { _ = try Extensions.take(from: &body, &flags) } catch { return refuse(connection, error) }
        var reader = ByteReader(body)
        guard flags == 0, let delivery = reader.integer(UInt64.self), reader.rest.isEmpty else {
            return refuse(connection, WireError(.badRequest, "directReceived has no flags and a body of 8 bytes"))
        }
        guard let session = connections[connection].session, directs[delivery]?.receivers.contains(session) == true,
            let direct = directs.remove(delivery)
        else { return }
        counters.directConfirmed += 1
        settle(direct) { hub, connection in
            hub.enqueuePrivate(connection, head: FrameHead(type: FrameType.confirmed.rawValue, bodyBytes: 8)) { $0.integer(direct.number) }
        }
    }

    mutating func directDeadline(_ delivery: UInt64) {
        if let direct = directs.remove(delivery) { fail(direct, "not acknowledged within \(configuration.directTimeout)") }
    }

    /// A receiver's connection ends: what it has not acknowledged may have arrived or not. The last one's end is told.
    mutating func failDirects(to receiver: Session.Index) {
        for direct in directs.remove(receiver: receiver) { fail(direct, "the receiver's connection ended before it was acknowledged") }
    }

    /// Forgets the sender: its messages have no outcome to report.
    mutating func forgetDirects(from sender: Session.Index) { directs.remove(sender: sender) }

    private mutating func fail(_ direct: PendingDirect, _ text: String) {
        settle(direct) { hub, connection in hub.refuse(connection, WireError(.unconfirmed, text), number: direct.number) }
    }

    /// Tells the sender, if the client that sent it is there.
    private mutating func settle(_ direct: PendingDirect, _ tell: (inout Hub, Connection.Index) -> Void) {
        sessions[direct.sender].directsPending -= 1
        holdOwn(-Footprint.pendingDirect, direct.sender)
        if let connection = outbox.connection(of: direct.sender), sessions[direct.sender].instance == direct.instance {
            tell(&self, connection)
        }
    }

    /// Of a direct message. [MS1]
    private func checkNumber(_ number: UInt64, _ session: Session.Index) throws(WireError) {
        let last = sessions[session].window.highestKnown
        guard number > last else {
            throw WireError(.outcomeUnknown, "number \(number) is not above \(last), the last one that this instance has used")
        }
    }
}
