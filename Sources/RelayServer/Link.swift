internal import RelayCore
import RelayGateway
import RelayIO

/// A socket and how far it is: on its way from the first byte to the last. Kept in the engine's list, touched on its queue only.
@available(macOS 15, iOS 18, *)
struct Link {
    /// What it speaks: the first byte says it. [FR5]
    enum Speech {
        /// Nothing came yet.
        case unknown
        case relay
        case web(WebLink)
    }

    enum Stage: Equatable {
        case open
        /// Told goodbye. What still comes is read and thrown away, so that no reset destroys what is under way.
        case closing
        /// Everything is written and the writing side is shut: the peer gets a moment to read it and close.
        case saidAll
        /// Closed. Only its descriptor is still being released.
        case ended
    }

    /// Whose turn it is to read. [DL10]
    enum Reading: Equatable {
        /// The system tells when there is something.
        case awaited
        /// It stopped short of the end of what has come, and is read when those before it were.
        case inLine
        /// Its peer is held back: nothing is read.
        case paused
    }

    let id: ConnectionID
    let socket: StreamSocket
    let end: RemoteEnd
    /// By TLS of the relay's own: what is read here is in the clear.
    let isProtected: Bool
    var speech = Speech.unknown
    var reading = Reading.awaited
    /// Bytes to read at once. [DL10]
    var readRoom = Int32(Engine.readBudget)
    /// The socket takes nothing: it will tell.
    var isBlocked = false
    private(set) var stage = Stage.open

    init(id: ConnectionID, socket: StreamSocket, end: RemoteEnd, isProtected: Bool) {
        self.isProtected = isProtected
        self.id = id
        self.socket = socket
        self.end = end
    }

    /// The descriptor is usable: bytes may be read and written.
    var isUsable: Bool { stage != .ended }

    /// - Returns: whether it was open until now.
    mutating func beginClosing() -> Bool {
        guard stage == .open else { return false }
        stage = .closing
        return true
    }

    mutating func saidAll() { stage = .saidAll }
    mutating func ended() { stage = .ended }
}

extension ConnectionID {
    /// By which the handlers of sockets know it.
    var tag: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: index)) }

    init(tag: UInt64) { self.init(index: Int32(truncatingIfNeeded: tag), generation: UInt32(tag >> 32)) }
}
