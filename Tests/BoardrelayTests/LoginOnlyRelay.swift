import Foundation
import RelayWire

@testable import RelayIO

/// A relay that answers the login of its first client, and nothing else that it asks.
struct LoginOnlyRelay {
    let port: UInt16
    private let listener: Int32
    private let heard: AsyncStream<FrameType>

    init() throws {
        let any = try SocketAddress.resolve(host: "127.0.0.1", port: 0)[0]
        let listener = socket(any.family, SocketConstants.stream, 0)
        guard listener >= 0, any.withPointer({ bind(listener, $0, $1) }) == 0, listen(listener, 1) == 0 else {
            throw SocketAddress.Failure("a relay that answers logins", code: errno)
        }
        _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
        port = SocketAddress { _ = getsockname(listener, $0, &$1) }.numeric.port
        self.listener = listener
        let (heard, hears) = AsyncStream.makeStream(of: FrameType.self)
        self.heard = heard
        Thread.detachNewThread {
            Self.serve(listener, hears)
            hears.finish()
        }
    }

    /// What its client has sent: all of it, if this has ended.
    func end() async -> [FrameType] {
        // One that never came is not waited for.
        shutdown(listener, Int32(SHUT_RDWR))
        var all: [FrameType] = []
        for await type in heard { all.append(type) }
        close(listener)
        return all
    }

    private static func serve(_ listener: Int32, _ hears: AsyncStream<FrameType>.Continuation) {
        let link = accept(listener, nil, nil)
        guard link >= 0 else { return }
        defer { close(link) }
        _ = fcntl(link, F_SETFD, FD_CLOEXEC)
        var reader = FrameReader(), buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(link, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            reader.append(buffer[..<count])
            while let frame = try? reader.next() {
                guard let type = FrameType(rawValue: frame.type) else { continue }
                hears.yield(type)
                guard type == .login, let answer = welcome(frame).map(\.bytes) else { continue }
                _ = answer.withUnsafeBytes { sendto(link, $0.baseAddress, $0.count, SocketConstants.sendFlags, nil, 0) }
            }
        }
    }

    private static func welcome(_ frame: Frame) -> Frame? {
        let login = try? frame.body.withUnsafeBytes {
            try JSONBody.decode(LoginRequest.self, from: $0, bytesMax: Limits.frameBodyBytesMax)
        }
        guard let login, let user = login.user else { return nil }
        let digits = String(repeating: "0", count: 32)
        return .json(
            .welcome,
            Welcome(
                id: login.id, relay: digits, user: user, handle: 1, resumeToken: digits, resumed: false, lastEnd: nil, start: 1,
                heartbeatMs: 5_000, presenceTimeoutMs: 10_000, access: AccessBody(role: "editor"), limits: ServerLimits()))
    }
}
