import RelayWire

// Bytes into frames, frames to their handlers.

extension Hub {
    /// Reads whole frames in place; what is left of an incomplete one is kept with the connection. [FR2]
    mutating func read(_ bytes: UnsafeRawBufferPointer, from connection: Connection.Index) {
        guard connections[connection].isOpen, !bytes.isEmpty else { return }
        connections[connection].lastHeard = now.instant
        if connections[connection].isHeld { return hold(bytes, of: connection) }
        if connections[connection].state == .greeting, !isRelayProtocol(connection, bytes) { return }
        pays(connection)
        var rest = bytes
        if !connections[connection].partial.isEmpty {
            guard let remaining = completePartial(connection, with: bytes) else { return }
            rest = remaining
        }
        if let left = handleFrames(rest, from: connection) { keep(left, of: connection) }
    }

    /// Handles frames as far as they are whole, and until one has to wait.
    ///
    /// - Returns: what is left; `nil` if the connection ended.
    mutating func handleFrames(_ bytes: UnsafeRawBufferPointer, from connection: Connection.Index) -> UnsafeRawBufferPointer? {
        var rest = bytes
        while connections[connection].isOpen {
            switch FrameHead.read(rest) {
            case .invalid(let length):
                let error = FrameHead.lengthError(length)
                close(connection, error.code, error.text)
                return nil
            case .head(let head) where rest.count >= head.frameBytes:
                guard countBeforeLogin(connection, frameBytes: head.frameBytes, isWhole: true) else { return nil }
                handleFrame(head, UnsafeRawBufferPointer(rebasing: rest[Limits.frameHeadBytes..<head.frameBytes]), from: connection)
                if connections[connection].isHeld {
                    countAgainLater(head, of: connection)
                    return rest
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[head.frameBytes...])
            case .incomplete: return rest
            case .head(let head):
                guard countBeforeLogin(connection, frameBytes: head.frameBytes, isWhole: false) else { return nil }
                return rest
            }
        }
        return nil
    }

    /// Bytes of an incomplete frame, or from one on that waits.
    mutating func keep(_ bytes: UnsafeRawBufferPointer, of connection: Connection.Index) {
        if connections[connection].isHeld { return hold(bytes, of: connection) }
        if !bytes.isEmpty { keepPartial(Array(bytes), since: now.instant, of: connection) }
    }

    /// What is no relay frame at all. [FR5]
    private mutating func isRelayProtocol(_ connection: Connection.Index, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard connections[connection].bytesBeforeLogin == 0, connections[connection].partial.isEmpty, bytes[0] != 0 else { return true }
        close(connection, .notRelayProtocol, "the first byte of a relay connection is 0, this one is \(bytes[0])")
        return false
    }

    /// Counts what a connection sends before it has logged in, announced bytes of an incomplete frame included. [SE4]
    ///
    /// - Returns: whether it may go on.
    private mutating func countBeforeLogin(_ connection: Connection.Index, frameBytes: Int, isWhole: Bool) -> Bool {
        guard connections[connection].state == .greeting else { return true }
        let bytes = connections[connection].bytesBeforeLogin + frameBytes
        if isWhole { connections[connection].bytesBeforeLogin = bytes }
        guard bytes > Limits.bytesBeforeLoginMax else { return true }
        close(connection, .frameTooLarge, "at most \(Limits.bytesBeforeLoginMax) bytes may come before login, not \(bytes)")
        return false
    }

    /// A login that waits is handled anew.
    private mutating func countAgainLater(_ head: FrameHead, of connection: Connection.Index) {
        if connections[connection].state == .greeting { connections[connection].bytesBeforeLogin -= head.frameBytes }
    }

    /// Adds to an incomplete frame what it lacks and handles it when it is whole.
    ///
    /// - Returns: the bytes behind it, or `nil` if it is still incomplete, has to wait, or the connection ended.
    private mutating func completePartial(_ connection: Connection.Index, with bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        // Taken out, so that the handler may end the connection while it reads the frame.
        let since = connections[connection].partialSince
        var partial = connections[connection].partial
        keepPartial([], since: since, of: connection)
        var rest = bytes
        func fill(to count: Int) -> Bool {
            let wanted = max(0, min(count - partial.count, rest.count))
            partial.append(contentsOf: rest[..<wanted])
            rest = UnsafeRawBufferPointer(rebasing: rest[wanted...])
            return partial.count >= count
        }
        guard fill(to: Limits.frameHeadBytes) else {
            // The length alone may already be wrong.
            if case .invalid(let length) = partial.withUnsafeBytes(FrameHead.read) {
                let error = FrameHead.lengthError(length)
                close(connection, error.code, error.text)
            } else {
                keepPartial(partial, since: since, of: connection)
            }
            return nil
        }
        switch partial.withUnsafeBytes(FrameHead.read) {
        case .incomplete:
            preconditionFailure("a head of \(partial.count) bytes is incomplete")
        case .invalid(let length):
            let error = FrameHead.lengthError(length)
            close(connection, error.code, error.text)
            return nil
        case .head(let head):
            let isWhole = fill(to: head.frameBytes)
            guard countBeforeLogin(connection, frameBytes: head.frameBytes, isWhole: isWhole) else { return nil }
            guard isWhole else {
                keepPartial(partial, since: since, of: connection)
                return nil
            }
            partial.withUnsafeBytes { whole in
                handleFrame(head, UnsafeRawBufferPointer(rebasing: whole[Limits.frameHeadBytes...]), from: connection)
                guard connections[connection].isHeld else { return }
                countAgainLater(head, of: connection)
                hold(whole, of: connection)
            }
            guard connections[connection].isHeld else { return rest }
            hold(rest, of: connection)
            return nil
        }
    }

    /// One switch: frame to handler.
    private mutating func handleFrame(_ head: FrameHead, _ body: UnsafeRawBufferPointer, from connection: Connection.Index) {
        work.handlesOne()
        guard let type = FrameType(rawValue: head.type) else { return handleUnknown(head, body, connection) }
        guard let session = connections[connection].session else { return handleBeforeLogin(type, head, body, connection) }
        switch type {
        case .publishPacket: return publishPacket(head, body, session: session, connection)
        case .publish: return publish(head, body, session: session, connection)
        case .publishChanges: return publishChanges(head, body, session: session, connection)
        case .direct: return direct(head, body, session: session, connection)
        case .ping: return ping(head, body, connection)
        case .pong: return pong(head, connection)
        case .login: return refuse(connection, WireError(.alreadyLoggedIn, "this connection is logged in already"), head, body)
        case .directReceived: return directReceived(head, body, connection)
        case .logout, .renew, .subscribe, .unsubscribe, .join, .leave, .joinTopic, .leaveTopic, .subscribeTopic, .unsubscribeTopic,
            .subscribedUsers, .who, .whereIs, .setStates, .removeStates, .getStates, .history, .barrier, .cancel, .setReaderLimits, .goOn,
            .offerDevice, .offerJoinCode, .withdrawJoinCode, .setMetadata, .updateMetadata, .removeMetadata, .getMetadata,
            .subscribeUserMetadata, .unsubscribeUserMetadata,
            .setLock, .acquireLock, .releaseLock, .revokeLock, .removeLock, .getLocks, .clear, .undoClear, .boards, .removeBoard,
            .setRole, .setMode, .endSession, .banUser, .unbanUser, .getBans, .forgetUser, .removeRecords, .endChannel,
            .status:
            return handleInTurn(type, head, body, connection) { hub throws(WireError) in
                try hub.spendRequest(session, connection)
                guard hub.connections[connection].isOpen else { return }
                try hub.carryOut(type, body, session, connection)
            }
        case .welcome, .answer, .error, .closing, .restored, .deliver, .packet, .directDeliver, .accepted, .confirmed, .userNamed,
            .flowOpened, .flowClosed, .lost, .packetsDropped, .presence, .topics, .metadataPage, .metadata, .locks, .historyItem, .gap,
            .catchingUp, .caughtUp, .stored, .notStored, .cleared, .reset, .accessExpiring, .removed, .accessChanged, .modeChanged, .credit,
            .joinCodeEnded:
            return handleUnknown(head, body, connection)
        }
    }

    private mutating func handleBeforeLogin(
        _ type: FrameType, _ head: FrameHead, _ body: UnsafeRawBufferPointer, _ connection: Connection.Index
    ) {
        switch type {
        case .ping: ping(head, body, connection)
        case .pong: pong(head, connection)
        case .login: handleInTurn(type, head, body, connection) { hub throws(WireError) in try hub.login(body, connection) }
        default: refuse(connection, WireError(.loginRequired, "\(type.name) before login"), head, body)
        }
    }

    /// Costs as much as a request. [RT6]
    private mutating func handleUnknown(_ head: FrameHead, _ body: UnsafeRawBufferPointer, _ connection: Connection.Index) {
        guard hasTurn(head, body, connection) else { return }
        charging(connection, bytes: 0) { hub in
            let session = hub.connections[connection].session
            do throws(WireError) {
                if let session { try hub.spendRequest(session, connection) }
                let code: ErrorCode = session == nil ? .loginRequired : .unknownFrame
                throw WireError(code, "no client sends a frame of type 0x\(String(head.type, radix: 16))")
            } catch {
                hub.refuse(connection, error, head, body)
            }
        }
    }
}
