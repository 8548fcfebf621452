import RelayGateway
import RelayIO
import RelayWire

/// What the engine knows of a link whose first byte was not 0: a browser's, while it reads pages and when it is a WebSocket.
///
/// Touched on the engine's queue only.
final class WebLink {
    enum Stage: Equatable {
        /// Asks for pages and numbers, one after the other.
        case requests
        /// A relay connection, whose frames come in messages.
        case webSocket
        /// The last frame is in the outlet, or was. The hub still has the connection.
        case saidClose
        /// As `saidClose`, and the hub was told that the connection is gone.
        case left
    }

    var gateway: Gateway
    var outlet = WebSocketOutlet()
    let end: RemoteEnd
    private(set) var stage = Stage.requests
    /// Why the hub has ended it.
    var closeCode: ErrorCode?
    /// When it ends unless something happens before: `SystemClock.monotonicNanoseconds`. Of a WebSocket the hub keeps the time.
    var deadline: UInt64
    private var waiting = Gateway.Waiting.request

    /// Answers, as they are: heads, and bodies that are files' own arrays. They go before what the outlet has.
    private var pieces: [[UInt8]] = []
    private var written = 0

    /// Time for a peer that has asked for nothing, and for one that has asked and does not read, in nanoseconds. [HT3]
    static let idle: UInt64 = 10_000_000_000
    static let reading: UInt64 = 30_000_000_000

    /// - Parameter isProtected: by TLS of the relay's own.
    init(_ end: RemoteEnd, isProtected: Bool, now: UInt64) {
        self.end = end
        gateway = Gateway(isProtected: isProtected)
        deadline = now + Self.idle
    }

    /// A WebSocket that another engine has begun, between two messages of this side.
    init(_ end: RemoteEnd, continuing gateway: Gateway) {
        self.end = end
        self.gateway = gateway
        stage = .webSocket
        waiting = .webSocket
        deadline = .max
    }

    /// Whether nothing waits to be written but what the hub has.
    var hasSaidAll: Bool { !hasPieces && !outlet.hasFront && outlet.announcedBytes == 0 }

    func upgraded() { stage = .webSocket }

    /// - Parameter frame: the last one that the peer gets; `nil` if it gets none.
    func sayClose(_ frame: [UInt8]?) {
        stage = .saidClose
        if let frame { outlet.enqueueClose(frame) }
    }

    func left() { stage = .left }

    /// Sets the time of what is waited for, when that is another thing than before.
    func noteWaiting(now: UInt64) {
        guard gateway.waiting != waiting else { return }
        waiting = gateway.waiting
        switch waiting {
        case .head: deadline = now + UInt64(GatewayLimits.headMilliseconds) * 1_000_000
        case .request: deadline = now + Self.idle
        // Behind the last answer no request is awaited, but the peer must read that answer, too.
        case .answer, .ended: deadline = now + Self.reading
        case .webSocket: deadline = .max
        }
    }

    /// Sets the time in which the peer must read an answer: each answer has its own. [HT3]
    func noteAnswer(now: UInt64) {
        waiting = gateway.waiting
        deadline = now + Self.reading
    }

    // MARK: - Answers

    var hasPieces: Bool { !pieces.isEmpty }

    /// An answer is being written, or spaces are asked for it.
    var isAnswering: Bool { hasPieces || gateway.waiting == .answer }

    func append(_ answer: Gateway.Answer) {
        append(answer.head)
        if !answer.body.isEmpty { append(answer.body) }
    }

    func append(_ piece: [UInt8]) { pieces.append(piece) }

    /// The bytes to write next.
    func withNextPiece<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        pieces[0].withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[written...])) }
    }

    func wrote(_ bytes: Int) {
        written += bytes
        guard written == pieces[0].count else { return }
        pieces.removeFirst()
        written = 0
    }
}
