import RelayPrimitives
import RelayWire

// Requests are answered in turns: what one client asks for delays nobody else. [DL12]

extension Hub {
    // MARK: - Turns

    /// What is done from here on is charged to its address.
    mutating func pays(_ connection: Connection.Index) { accounts.payer = connections[connection].peer.address }

    /// Whose turn it is when a connection has its own; this machine's, if there is no such connection.
    package mutating func address(of id: ConnectionID) -> AddressKey { connections.has(id) ? connections[id.place].peer.address : .local }

    /// Frames handled so far, of all connections: what many small ones cost is not in their bytes. [DL10]
    package var framesHandled: UInt64 { mutating get { work.frames } }

    /// Whether a frame that asks for something is handled now; else it waits, with all that follows it, or is refused.
    mutating func hasTurn(_ head: FrameHead, _ body: UnsafeRawBufferPointer, _ connection: Connection.Index) -> Bool {
        guard let wait = whatFor(connection) else { return true }
        do throws(WireError) {
            try hold(connection, for: wait)
        } catch {
            refuseWait(error, head, body, connection)
        }
        return false
    }

    /// Whether a set of changes is handled now: it is as much work as a frame for each. Else it waits, with all that follows it.
    ///
    /// - Throws: `busy`.
    mutating func hasTurnForChanges(_ connection: Connection.Index) throws(WireError) -> Bool {
        if isTurn(of: connection) { return true }
        try hold(connection, for: .turn)
        return false
    }

    private mutating func hold(_ connection: Connection.Index, for wait: Connection.Wait) throws(WireError) {
        try checkHeld()
        connections[connection].input = .held(for: wait)
        work.heldOne()
        if wait == .turn { waitForTurn(connection) }
    }

    /// The changes of a set are looked at. What they cost is no request's.
    mutating func handle(changes: Int, of connection: Connection.Index) {
        work.handles(changes: changes, &connections[connection].share, of: connections[connection].peer.address)
    }

    /// It costs its user what a request costs. [RT6]
    private mutating func refuseWait(_ busy: WireError, _ head: FrameHead, _ body: UnsafeRawBufferPointer, _ connection: Connection.Index) {
        charging(connection, bytes: 0) { hub in
            var error = busy
            do throws(WireError) {
                if let session = hub.connections[connection].session { try hub.spendRequest(session, connection) }
            } catch let overRate { error = overRate }
            hub.refuse(connection, error, head, body)
        }
    }

    /// What the next request of a connection would have to wait for.
    private mutating func whatFor(_ connection: Connection.Index) -> Connection.Wait? {
        if outbox.load(of: connection).reliable > configuration.requestBacklogBytes { return .reader }
        return isTurn(of: connection) ? nil : .turn
    }

    mutating func isTurn(of connection: Connection.Index) -> Bool {
        work.has(&connections[connection].share, of: connections[connection].peer.address)
    }

    /// - Throws: `busy`.
    func checkHeld() throws(WireError) { try accounts.heldFrames.checkWaiting("frames wait", of: accounts.payer) }

    /// What a request has cost: its own bytes, what it has queued for its own connection, and whom and what it has made the relay look at.
    mutating func charging(_ connection: Connection.Index, bytes: Int, _ handle: (inout Hub) -> Void) {
        let before = outbox.load(of: connection).reliable, reached = outbox.counts.receiversReached
        // What a deadline or the disk has made the relay look at is nobody's request.
        _ = work.takeLooked()
        handle(&self)
        let looked = outbox.counts.receiversReached - reached + work.takeLooked()
        let queued = max(0, outbox.load(of: connection).reliable - before)
        let cost = bytes * WorkAccount.readFactor + queued + looked * WorkAccount.lookedBytes
        work.charge(cost, &connections[connection].share, of: connections[connection].peer.address)
    }

    mutating func waitForTurn(_ connection: Connection.Index) {
        work.wait(connections[connection].id, of: connections[connection].peer.address)
    }

    /// Others have been read and written to: frames that waited for that are handled.
    package mutating func answerWaiting(at now: Now) {
        enter(now)
        for _ in 0..<work.begin() {
            guard let id = work.next() else { break }
            // What was handled before may have ended it.
            guard connections.has(id), connections[id.place].input == .held(for: .turn) else { continue }
            if whatFor(id.place) == .turn { waitForTurn(id.place) } else { goOn(id.place) }
        }
        leave()
    }

    /// Its reader has taken something.
    @inline(__always)
    mutating func readerTook(_ connection: Connection.Index) {
        if connections[connection].isHeld { heldReaderTook(connection) }
    }

    private mutating func heldReaderTook(_ connection: Connection.Index) {
        guard connections[connection].isOpen else { return }
        // Nothing can be heard of it meanwhile.
        if connections[connection].isPaused { connections[connection].lastHeard = now.instant }
        guard connections[connection].input == .held(for: .reader),
            outbox.load(of: connection).reliable <= configuration.requestBacklogBytes
        else { return }
        connections[connection].input = .held(for: .turn)
        waitForTurn(connection)
    }

    // MARK: - Reading

    mutating func pauseReading(_ connection: Connection.Index) {
        guard !connections[connection].isPaused else { return }
        connections[connection].isPaused = true
        effects.append(.pauseReading(connections[connection].id))
    }

    private mutating func resumeReading(_ connection: Connection.Index) {
        guard connections[connection].isPaused else { return }
        connections[connection].isPaused = false
        effects.append(.resumeReading(connections[connection].id))
    }

    // MARK: - Frames that wait

    /// Takes what follows a frame that waits. Pings are answered, and pongs heard, at once.
    mutating func hold(_ bytes: UnsafeRawBufferPointer, of connection: Connection.Index) {
        if connections[connection].held.bytes.isEmpty { connections[connection].held.since = now.instant }
        var rest = bytes
        while !rest.isEmpty, connections[connection].isHeld {
            switch heldHead(connection) {
            case .incomplete: append(&rest, upTo: Limits.frameHeadBytes, of: connection)
            case .head(let head): append(&rest, upTo: head.frameBytes, of: connection)
            case .invalid(let length):
                let error = FrameHead.lengthError(length)
                return close(connection, error.code, error.text)
            }
            handleIfPing(connection)
        }
        let count = connections[connection].held.count
        // Long before others would be refused for what waits.
        let isMuch = accounts.heldFrames.used > configuration.heldBytesMax / 2
        if isMuch || count > configuration.heldBytesPerConnection { pauseReading(connection) }
        let isForSpace = connections[connection].input == .held(for: .space)
        guard connections[connection].state == .greeting, !isForSpace, count > Limits.bytesBeforeLoginMax else { return }
        close(connection, .frameTooLarge, "at most \(Limits.bytesBeforeLoginMax) bytes may come before login, not \(count)")
    }

    /// Before login it is little, and of few connections.
    private mutating func countHeld(_ bytes: Int, of connection: Connection.Index) {
        if connections[connection].session != nil { accounts.heldFrames.hold(bytes, connections[connection].peer.address) }
    }

    private func heldHead(_ connection: Connection.Index) -> FrameHead.Reading {
        let whole = connections[connection].held.whole
        return connections[connection].held.bytes.withUnsafeBytes { FrameHead.read(UnsafeRawBufferPointer(rebasing: $0[whole...])) }
    }

    private mutating func append(_ rest: inout UnsafeRawBufferPointer, upTo count: Int, of connection: Connection.Index) {
        let wanted = min(rest.count, connections[connection].held.whole + count - connections[connection].held.bytes.count)
        connections[connection].held.bytes.append(contentsOf: rest[..<wanted])
        rest = UnsafeRawBufferPointer(rebasing: rest[wanted...])
        countHeld(wanted, of: connection)
    }

    /// The last frame that waits, if it is whole: a ping or pong does not.
    private mutating func handleIfPing(_ connection: Connection.Index) {
        let whole = connections[connection].held.whole
        guard case .head(let head) = heldHead(connection), connections[connection].held.bytes.count == whole + head.frameBytes
        else { return }
        let type = FrameType(rawValue: head.type)
        guard type == .ping || type == .pong else { return connections[connection].held.whole += head.frameBytes }
        let body = Array(connections[connection].held.bytes[(whole + Limits.frameHeadBytes)...])
        connections[connection].held.bytes.removeLast(head.frameBytes)
        countHeld(-head.frameBytes, of: connection)
        if type == .ping { body.withUnsafeBytes { ping(head, $0, connection) } } else { pong(head, connection) }
    }

    mutating func discardHeld(_ connection: Connection.Index) {
        countHeld(-connections[connection].held.count, of: connection)
        connections[connection].held = HeldInput()
        connections[connection].input = .handled
    }

    /// The frame that waited is handled, and what came behind it, up to the next one that has to wait.
    mutating func goOn(_ connection: Connection.Index) {
        // Taken out, so that a handler may end the connection while its frame is read.
        var held = connections[connection].held
        let isJudgedAgain = connections[connection].input == .held(for: .author) || held.isJudgedAgain
        discardHeld(connection)
        connections[connection].input = isJudgedAgain ? .judgedAgain : .catchingUp
        pays(connection)
        if let session = connections[connection].session { forgive(now.instant - held.since, sessions[session].person) }
        let left = held.bytes.withUnsafeBytes { bytes in
            handleFrames(UnsafeRawBufferPointer(rebasing: bytes[held.from...]), from: connection).map { left in
                if !connections[connection].isHeld { keep(left, of: connection) }
                return left.count
            }
        }
        guard let left else { return }
        guard connections[connection].isHeld else {
            connections[connection].input = .handled
            return resumeReading(connection)
        }
        held.from = held.bytes.count - left
        held.since = now.instant
        held.isJudgedAgain = false
        held.letGoOfWhatIsDone()
        connections[connection].held = held
        countHeld(left, of: connection)
        if left <= configuration.heldBytesPerConnection, connections[connection].input != .held(for: .author) { resumeReading(connection) }
    }
}
