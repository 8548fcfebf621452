import RelayWire

// Requests to their handlers, and answers.

extension Hub {
    /// A frame with a JSON body, now or when it is its turn. [DL12]
    mutating func handleInTurn(
        _ type: FrameType, _ head: FrameHead, _ body: UnsafeRawBufferPointer, _ connection: Connection.Index,
        _ handle: (inout Hub) throws(WireError) -> Void
    ) {
        guard hasTurn(head, body, connection) else { return }
        charging(connection, bytes: body.count) { hub in
            do throws(WireError) {
                guard head.flags == 0 else { throw WireError(.badRequest, "the flags of a JSON frame are 0") }
                try handle(&hub)
            } catch {
                let id = hub.requestID(of: type, body)
                if let id, hub.mustWait(error, of: type) { return hub.answerInOrder(hub.requester(connection, id, .refusal(error))) }
                hub.refuse(connection, error, id: id)
            }
        }
        keepBounds()
    }

    /// One switch: request to handler.
    mutating func carryOut(
        _ type: FrameType, _ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index
    ) throws(WireError) {
        switch type {
        case .logout: try logout(body, session, connection)
        case .renew: try renew(body, session, connection)
        case .subscribe: try subscribe(body, session, connection)
        case .unsubscribe: try leaveChannel(.message, body, session, connection)
        case .join: try join(body, session, connection)
        case .leave: try leaveChannel(.stream, body, session, connection)
        case .joinTopic: try joinTopic(body, session, connection)
        case .leaveTopic: try leaveTopic(body, session, connection)
        case .subscribeTopic: try subscribeTopic(body, session, connection)
        case .unsubscribeTopic: try unsubscribeTopic(body, session, connection)
        case .subscribedUsers: try subscribedUsers(body, session, connection)
        case .who: try who(body, session, connection)
        case .whereIs: try whereIs(body, session, connection)
        case .setStates: try setStates(body, session, connection)
        case .removeStates: try removeStates(body, session, connection)
        case .getStates: try getStates(body, session, connection)
        case .history: try history(body, session, connection)
        case .barrier: try barrier(body, session, connection)
        case .cancel: try cancel(body, session, connection)
        case .goOn: try goOn(body, session, connection)
        case .offerDevice: try offerDevice(body, session, connection)
        case .offerJoinCode: try offerJoinCode(body, session, connection)
        case .withdrawJoinCode: try withdrawJoinCode(body, session, connection)
        case .setReaderLimits: try setReaderLimits(body, connection)
        case .setMetadata: try writeMetadata(body, mustExist: false, session, connection)
        case .updateMetadata: try writeMetadata(body, mustExist: true, session, connection)
        case .removeMetadata: try removeMetadata(body, session, connection)
        case .getMetadata: try getMetadata(body, session, connection)
        case .subscribeUserMetadata: try subscribeUserMetadata(body, session, connection)
        case .unsubscribeUserMetadata: try unsubscribeUserMetadata(body, session, connection)
        case .setLock: try setLock(body, session, connection)
        case .acquireLock: try acquireLock(body, session, connection)
        case .releaseLock: try releaseLock(body, session, connection)
        case .revokeLock: try revokeLock(body, session, connection)
        case .removeLock: try removeLock(body, session, connection)
        case .getLocks: try getLocks(body, session, connection)
        case .clear: try clear(body, session, connection)
        case .undoClear: try undoClear(body, session, connection)
        case .boards: try listBoards(body, session, connection)
        case .removeBoard: try removeBoard(body, session, connection)
        case .setRole: try setRole(body, session, connection)
        case .setMode: try setMode(body, session, connection)
        case .endSession: try endSession(body, session, connection)
        case .banUser: try banUser(body, session, connection)
        case .unbanUser: try unbanUser(body, session, connection)
        case .getBans: try getBans(body, session, connection)
        case .forgetUser: try forgetUser(body, session, connection)
        case .endChannel: try endChannel(body, session, connection)
        case .removeRecords: try removeRecords(body, session, connection)
        case .status: try status(body, session, connection)
        default: preconditionFailure("\(type.name) is no request")
        }
    }

    /// The id of a request, if it can be read, also of a type that is not known.
    private func requestID(of type: FrameType?, _ body: UnsafeRawBufferPointer) -> UInt32? {
        let isText = type == .setMetadata || type == .updateMetadata
        guard let json = isText ? try? TextBody.read(body).head : body,
            let id = try? JSONBody.decode(RequestID.self, from: json, anyKeys: true).id, id > 0
        else { return nil }
        return id
    }

    /// Refuses a frame that nothing is done with, and names what it names. [ER1]
    mutating func refuse(_ connection: Connection.Index, _ error: WireError, _ head: FrameHead, _ whole: UnsafeRawBufferPointer) {
        let type = FrameType(rawValue: head.type)
        var (flags, body) = (head.flags, whole)
        if type?.isBinary == true { _ = try? Extensions.take(from: &body, &flags) }
        switch type {
        case .publish?, .publishChanges?, .direct?: refuse(connection, error, number: Self.publishNumber(body))
        case .publishPacket?: refuse(connection, error, flow: PublishPacketFrame.flow(of: body))
        default: refuse(connection, error, id: requestID(of: type, body))
        }
    }

    /// Decodes a request and checks its id.
    func decode<T: JSONObject>(_ type: T.Type, _ body: UnsafeRawBufferPointer) throws(WireError) -> T {
        var json = try Self.request(body)
        return try json.decode(type)
    }

    private static func request(_ body: UnsafeRawBufferPointer) throws(WireError) -> JSONFields {
        var json = try JSONFields(reading: body)
        guard try json.decode(RequestID.self).id > 0 else { throw WireError(.badRequest, "field id is within 1…4294967295") }
        return json
    }

    // MARK: - Answers

    mutating func answer(_ connection: Connection.Index, _ value: some JSONObject) { enqueueJSON(connection, .answer, value) }

    // Never hot, and called in fifty places.
    @inline(never)
    mutating func refuse(
        _ connection: Connection.Index, _ error: WireError, id: UInt32? = nil, number: UInt64? = nil, flow: UInt32? = nil,
        credit: UInt32? = nil
    ) {
        guard connections[connection].isOpen else { return }
        counters.refusals[error.code.name, default: 0] += 1
        enqueueJSON(connection, .error, ErrorBody(error, id: id, number: number, flow: flow, credit: credit))
    }
}
