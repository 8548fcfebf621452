internal import Dispatch
internal import RelayCore
import RelayGateway
internal import RelayPrimitives
import RelayIO

@available(macOS 15, iOS 18, *)
extension Engine {
    /// Writes what every link with something new can take.
    func flushAll() {
        unflushedBytes = 0
        let began = Self.now().instant
        written = .init()
        hub.beginFlush(at: Now(instant: began, wallMilliseconds: SystemClock.wallMilliseconds()))
        carryOutEffects()
        while let id = hub.nextDirty() { flush(id) }
        hub.endFlush()
        // Readers that catch up have asked for boards.
        carryOutEffects()
        submitChanges()
        if written.count > 0 {
            let end = Self.now().instant
            policy.flushed(written, busy: end - began, at: end)
        }
        // Readers that catch up go on behind what others have sent meanwhile, and others are told of a user who was closed for its
        // queue. [HI2]
        if hub.wantsTurn || hub.hasDirty, !anotherFlushIsSet {
            anotherFlushIsSet = true
            readiness?.perform(flushOn)
        }
    }

    /// A turn for waiting requests: `endTurn`, which follows, flushes.
    func flushTurn() { anotherFlushIsSet = false }

    /// Writes to one link until its queue is empty or the socket is full.
    func flush(_ id: ConnectionID) {
        guard let link = link(id), !link.isBlocked, link.isUsable else { return }
        if case .web(let web) = link.speech { return flushWeb(id, web) }
        while true {
            let now = Self.now()
            let count = hub.gather(id, into: scratch.vectors, limit: Self.bytesPerWrite, at: now)
            guard count > 0 else { break }
            guard let bytes = taken(write(link, count), by: link) else { return }
            guard hub.wrote(id, bytes: bytes, at: now) else { break }
        }
        if link.stage == .closing { finishClosing(id) }
    }

    /// - Returns: how many bytes the socket took; `nil` if it takes none now, or is at its end.
    func taken(_ writing: StreamSocket.Writing, by link: Link) -> Int? {
        switch writing {
        case .wrote(let bytes):
            written.add(bytes: bytes)
            traffic.written += bytes
            return bytes
        case .wouldBlock:
            links[Int(link.id.index)]!.isBlocked = true
            link.socket.waitUntilWritable()
        case .failed(let code): ended(link.id, .failed(errno: code))
        }
        return nil
    }

    func write(_ link: Link, _ count: Int) -> StreamSocket.Writing {
        // A process may be stopped in the middle of a turn. No system call has failed.
        if let ownership, isServing, !ownership.lease.mayAct(at: Self.now().instant) { return .failed(0) }
        // IOVector has the layout of iovec: a pointer and a count.
        return scratch.vectors.baseAddress!.withMemoryRebound(to: SystemVector.self, capacity: count) {
            link.socket.write($0, count: count)
        }
    }

    func becameWritable(_ id: ConnectionID) {
        guard takesTurn(), link(id) != nil else { return }
        links[Int(id.index)]!.isBlocked = false
        flush(id)
    }
}

/// Memory that a turn reads into and gathers with.
@available(macOS 15, iOS 18, *)
struct Scratch: ~Copyable {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: Engine.readBudget, alignment: 16)
    let vectors = UnsafeMutableBufferPointer<IOVector>.allocate(capacity: Engine.vectorsPerWrite)
    /// Heads of messages and control frames: a head has 10 bytes at most, a control frame 127.
    private let frontBytes = UnsafeMutableRawBufferPointer.allocate(byteCount: (WebSocketOutlet.pongsMax + 2) * 127 + 10, alignment: 16)

    /// A copy that stays where it is until the next one.
    func front(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        frontBytes.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(rebasing: frontBytes[..<bytes.count])
    }

    deinit {
        bytes.deallocate()
        frontBytes.deallocate()
        vectors.deallocate()
    }
}
