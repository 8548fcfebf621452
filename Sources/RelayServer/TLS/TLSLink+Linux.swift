#if os(Linux)
    internal import RelayCore
    import RelayIO

    /// A connection before the engine: TLS on one side, on the other a socket to the engine, with all in the clear.
    ///
    /// Touched on the front's queue only.
    final class TLSLink {
        enum Stage {
            /// Nothing came yet.
            case silent
            case shaking(TLSServerSession)
            case open(TLSServerSession, engine: StreamSocket)
            case ended
        }

        enum Step: Equatable {
            /// A socket tells when it goes on.
            case waits
            /// It has had its turn, and there is more.
            case again
            case over
        }

        let number: UInt64
        let peer: SocketAddress
        let address: AddressKey
        let outer: StreamSocket
        let descriptor: Int32
        private(set) var stage = Stage.silent
        /// When it ends if it is still at this stage: `SystemClock.monotonicNanoseconds`.
        var deadline: UInt64
        var isInLine = false
        /// Its engine's side has ended: it has a deadline.
        var isLeaving = false

        /// What one side has sent and the other does not take yet, a piece at most.
        private var toEngine: [UInt8] = []
        private var toPeer: [UInt8] = []
        private var peerHasEnded = false
        private var hasSaidAll = false

        /// Bytes moved each way before others have their turn.
        private static let stepBytesMax = 64 * 1024

        init(number: UInt64, outer: StreamSocket, descriptor: Int32, peer: SocketAddress, deadline: UInt64) {
            (self.number, self.outer, self.descriptor, self.peer, self.deadline) = (number, outer, descriptor, peer, deadline)
            address = AddressKey(RemoteEnd(peer).address)
        }

        /// The engine writes no more; what it has written may not be read yet, because the peer takes nothing.
        var engineHasEnded: Bool { if case .open(_, let engine) = stage { !engine.isDrainedByShortRead } else { false } }

        func begins(_ session: TLSServerSession) { stage = .shaking(session) }

        func opens(_ session: TLSServerSession, to engine: StreamSocket) { stage = .open(session, engine: engine) }

        /// Ends both sides. What came and was not read is read to nowhere: otherwise a reset overtakes what was written.
        func end(_ scratch: UnsafeMutableRawBufferPointer) {
            if case .open(_, let engine) = stage { engine.close() }
            // OpenSSL has the descriptor's number.
            stage = .ended
            for _ in 0..<64 { guard case .bytes = outer.read(into: scratch) else { break } }
            outer.close()
        }

        /// Leaves what came to whoever has another descriptor of the socket.
        func handOver() {
            stage = .ended
            outer.close()
        }

        /// Moves what can be moved.
        func step(_ scratch: UnsafeMutableRawBufferPointer) -> Step {
            guard case .open(let session, let engine) = stage else { return .over }
            let hears = hear(session, engine, scratch)
            guard hears != .over else { return .over }
            let says = say(session, engine, scratch)
            if says == .over || peerHasEnded && hasSaidAll { return .over }
            if hears == .again || says == .again { return .again }
            return .waits
        }

        /// From the peer to the engine.
        private func hear(_ session: TLSServerSession, _ engine: StreamSocket, _ scratch: UnsafeMutableRawBufferPointer) -> Step {
            var budget = Self.stepBytesMax
            toEngine = toEngine.withUnsafeBytes { write($0, to: engine) }
            while !peerHasEnded {
                guard budget > 0 else { return .again }
                guard toEngine.isEmpty else { return .waits }
                switch session.read(into: scratch) {
                case .done(let count):
                    budget -= count
                    toEngine = write(UnsafeRawBufferPointer(rebasing: scratch[..<count]), to: engine)
                case .wantsRead: return .waits
                case .wantsWrite:
                    outer.waitUntilWritable()
                    return .waits
                case .end:
                    peerHasEnded = true
                    engine.shutdownWriting()
                case .failed: return .over
                }
            }
            return .waits
        }

        /// - Returns: what is not taken yet. If the engine has closed, nobody wants it.
        private func write(_ bytes: UnsafeRawBufferPointer, to engine: StreamSocket) -> [UInt8] {
            var rest = bytes
            while !rest.isEmpty {
                switch engine.write(rest) {
                case .wrote(let count): rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                case .wouldBlock:
                    engine.waitUntilWritable()
                    return Array(rest)
                case .failed: return []
                }
            }
            return []
        }

        /// From the engine to the peer.
        private func say(_ session: TLSServerSession, _ engine: StreamSocket, _ scratch: UnsafeMutableRawBufferPointer) -> Step {
            var budget = Self.stepBytesMax
            guard let rest = toPeer.withUnsafeBytes({ write($0, to: session) }) else { return .over }
            toPeer = rest
            while !hasSaidAll {
                guard budget > 0 else { return .again }
                guard toPeer.isEmpty else { return .waits }
                switch engine.read(into: scratch) {
                case .bytes(let count):
                    budget -= count
                    guard let rest = write(UnsafeRawBufferPointer(rebasing: scratch[..<count]), to: session) else { return .over }
                    toPeer = rest
                case .wouldBlock: return .waits
                case .end, .failed:
                    hasSaidAll = true
                    session.end()
                    outer.shutdownWriting()
                }
            }
            return .waits
        }

        /// - Returns: what is not taken yet; `nil` if the connection broke.
        private func write(_ bytes: UnsafeRawBufferPointer, to session: TLSServerSession) -> [UInt8]? {
            var rest = bytes
            while !rest.isEmpty {
                switch session.write(rest) {
                case .done(let count): rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                case .wantsWrite:
                    outer.waitUntilWritable()
                    return Array(rest)
                case .wantsRead: return Array(rest)
                case .end, .failed: return nil
                }
            }
            return []
        }
    }
#endif
