import RelayWire

/// A `barrier` that is not answered. [HI8]
struct Barrier {
    var request: UInt32
    /// Memberships that catch up.
    var waitsFor: [Membership.Index]
}

extension Hub {
    /// Everything accepted before it stands in the queue already, but for what comes by catching up. [HI8]
    mutating func barrier(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(BarrierRequest.self, body)
        var waitsFor = connections[connection].catchUps.map { [catchUps] in catchUps[$0].membership }
        if let channel = request.channel {
            let membership = try inside(ChannelID(kind: .message, channel: channel), session)
            waitsFor.removeAll { $0 != membership }
        }
        guard !waitsFor.isEmpty else { return answer(connection, EmptyAnswer(id: request.id)) }
        let count = connections[connection].barriers.count
        guard count < Limits.barriersMax else {
            throw WireError(
                .limitReached, "at most \(Limits.barriersMax) barriers of a connection wait", limit: Limits.barriersMax, actual: count + 1)
        }
        connections[connection].barriers.append(Barrier(request: request.id, waitsFor: waitsFor))
    }

    /// A membership is live again, or has ended: no barrier waits for it any more.
    mutating func passBarriers(of membership: Membership.Index) {
        guard let connection = outbox.connection(of: memberships[membership].session) else { return }
        for index in connections[connection].barriers.indices {
            connections[connection].barriers[index].waitsFor.removeFirst(of: membership)
        }
        while let passed = connections[connection].barriers.firstIndex(where: { $0.waitsFor.isEmpty }) {
            answer(connection, EmptyAnswer(id: connections[connection].barriers.remove(at: passed).request))
        }
    }

    /// Withdraws what waits; what was done meanwhile is answered as it would have been. [SE14]
    mutating func cancel(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(CancelRequest.self, body)
        if stopBarrier(request.request, connection) || stopLockWait(request.request, session, connection) {
            refuse(connection, WireError(.cancelled, "withdrawn by its client"), id: request.request)
        }
        answer(connection, EmptyAnswer(id: request.id))
    }

    /// - Returns: whether it waited.
    private mutating func stopBarrier(_ request: UInt32, _ connection: Connection.Index) -> Bool {
        guard let index = connections[connection].barriers.firstIndex(where: { $0.request == request }) else { return false }
        connections[connection].barriers.remove(at: index)
        return true
    }
}
