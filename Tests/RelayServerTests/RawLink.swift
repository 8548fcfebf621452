import Dispatch
import Foundation
import RelayWire

@testable import RelayIO

/// A blocking socket that speaks frames: the plainest client there is.
final class RawLink: @unchecked Sendable {
    // Safe: each test uses a link from one task at a time; what sends in the background touches nothing but the descriptor, and has ended
    // before that is closed.
    private let descriptor: Int32
    private let background = DispatchGroup()
    private var sendsInBackground = false
    private var reader = FrameReader()
    private var isEnded = false

    init(_ address: RelayAddress) throws {
        let target = try SocketAddress.resolve(host: address.host, port: address.port)[0]
        descriptor = socket(target.family, SocketConstants.stream, 0)
        guard descriptor >= 0 else { throw SocketAddress.Failure("socket", code: errno) }
        SocketConstants.quiet(descriptor)
        var time = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        let fd = descriptor
        guard target.withPointer({ connect(fd, $0, $1) }) == 0 else {
            // An init that throws when everything is initialized runs `deinit`, which closes it.
            throw SocketAddress.Failure("connect to \(address)", code: errno)
        }
    }

    deinit { end(reset: false) }

    func setReceiveBuffer(bytes: Int32) {
        var bytes = bytes
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    func send(_ frame: Frame) throws { try send(raw: frame.bytes) }

    func send(raw bytes: [UInt8]) throws {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { sendto(descriptor, $0.baseAddress, $0.count, SocketConstants.sendFlags, nil, 0) }
            guard count > 0 else { throw SocketAddress.Failure("send", code: errno) }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Sends from a thread of its own, one behind the other, until there is none or the link ends.
    func sendInBackground(_ next: @escaping @Sendable () -> [UInt8]?) {
        sendsInBackground = true
        background.enter()
        Thread.detachNewThread { [self] in
            while let bytes = next(), (try? send(raw: bytes)) != nil {}
            background.leave()
        }
    }

    /// Everything up to the first frame of a type, that one included.
    func frames(until type: FrameType) throws -> [Frame] {
        var frames: [Frame] = []
        while true {
            while let frame = try reader.next() {
                frames.append(frame)
                if frame.type == type.rawValue { return frames }
            }
            guard try readMore() else { throw SocketAddress.Failure("the relay ended before \(type.name): \(frames)") }
        }
    }

    func framesUntilEnd() throws -> [Frame] {
        var frames: [Frame] = []
        repeat { while let frame = try reader.next() { frames.append(frame) } } while try readMore()
        return frames
    }

    func bytesUntilEnd() throws -> [UInt8] {
        var bytes: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { throw SocketAddress.Failure("receive", code: errno) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// The end of what it sends; it still reads.
    func sayNoMore() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Takes the head of an answer of HTTP, and nothing behind it.
    func waitForHead() throws {
        var head: [UInt8] = [], byte: UInt8 = 0
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard recv(descriptor, &byte, 1, 0) == 1 else { throw SocketAddress.Failure("receive", code: errno) }
            head.append(byte)
        }
    }

    func login(_ user: String, instance: String = "00000000000000aa") throws {
        try send(.json(.login, LoginRequest(id: 1, user: try Name(user), instance: instance)))
        _ = try frames(until: .welcome)
    }

    private func readMore() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw SocketAddress.Failure("receive", code: errno) }
        reader.append(buffer[..<count])
        return count > 0
    }

    /// Closes it: with an RST and whatever is under way thrown away, or with a FIN.
    func end(reset: Bool) {
        guard !isEnded else { return }
        isEnded = true
        // Its number may be another's at once.
        if sendsInBackground {
            shutdown(descriptor, Int32(SHUT_RDWR))
            background.wait()
        }
        if reset {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        close(descriptor)
    }
}

/// Open descriptors of this process whose socket is bound to a port: what a relay on it holds, whoever else is busy here.
func descriptors(boundTo port: UInt16) -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
    return names.compactMap { Int32($0) }.count { descriptor in
        var isSocket = false
        let address = SocketAddress { isSocket = getsockname(descriptor, $0, &$1) == 0 }
        return isSocket && (address.family == AF_INET || address.family == AF_INET6) && address.numeric.port == port
    }
}

/// Waits for something to become true. Its five minutes end a run that hangs, and judge nothing: a machine may have much else to do.
func eventually(_ what: String, _ condition: () async -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(300)
    while await !condition() {
        guard ContinuousClock.now < deadline else { throw SocketAddress.Failure("not within 5 minutes: \(what)") }
        try await Task.sleep(for: .milliseconds(5))
    }
}
