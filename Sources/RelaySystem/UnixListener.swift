internal import Dispatch
import RelayIO

/// A Unix socket that answers one line with one line, one caller at a time, or with a stream on a thread of its own.
package final class UnixListener: @unchecked Sendable {
    package enum Answer: Sendable {
        case line(String)
        /// Called once, on that thread. `send` waits for the caller to take the bytes.
        ///
        /// - Parameter send: says whether it was possible: the caller may have gone, or taken nothing for `streamSeconds`.
        case stream(@Sendable (_ send: ([UInt8]) -> Bool) -> Void)
    }

    // Safe: `isClosed` is touched on `queue` only; the rest never changes.
    private let descriptor: Int32
    private let path: String
    /// The socket's own file: another relay's may stand under its path by the end.
    private let file: (device: dev_t, number: ino_t)
    private let queue = DispatchQueue(label: "boardrelay.control")
    private let source: any DispatchSourceRead
    private var isClosed = false

    private static let lineBytesMax = 4096
    private static let patienceSeconds = 2
    /// A relay with much to do, on a machine with much to do, answers late.
    private static let answerSeconds = 12
    /// Within which the other end of a stream takes, or sends, something.
    package static let streamSeconds = 60

    /// The folder in which a service keeps its socket; only root and what root starts as a service make it.
    package static let systemFolder = "/run/boardrelay/"

    /// Makes the socket, readable and writable for this user only. A missing folder is made with mode 0700.
    ///
    /// A file left by a relay that is gone is replaced; one on which somebody answers is an error.
    ///
    /// - Parameter isForGroup: the group of this process may ask, too.
    package init(
        path: String, isForGroup: Bool = false, answer: @escaping @Sendable (String) -> Answer
    ) throws(SocketAddress.Failure) {
        try Self.prepareFolder(of: path)
        if (try? Self.query(path: path, line: "status")) != nil {
            throw SocketAddress.Failure("control socket \(path): another relay answers on it")
        }
        unlink(path)
        descriptor = try Self.withAddress(path) { (address, length) throws(SocketAddress.Failure) in
            let descriptor = socket(AF_UNIX, SocketConstants.stream, 0)
            guard descriptor >= 0 else { throw SocketAddress.Failure("control socket", code: errno) }
            keepFromBlocking(descriptor)
            guard bind(descriptor, address, length) == 0, chmod(path, isForGroup ? 0o660 : 0o600) == 0, listen(descriptor, 16) == 0 else {
                let code = errno
                systemClose(descriptor)
                throw SocketAddress.Failure("control socket \(path)", code: code)
            }
            return descriptor
        }
        self.path = path
        var info = stat()
        _ = lstat(path, &info)
        file = (info.st_dev, info.st_ino)
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { @Sendable [descriptor] in
            while true {
                let peer = accept(descriptor, nil, nil)
                guard peer >= 0 else { return }
                Self.serve(peer, answer)
            }
        }
        source.setCancelHandler { @Sendable [descriptor] in systemClose(descriptor) }
        source.activate()
    }

    /// Stops answering and removes the socket, unless its place was taken. Calling again does nothing.
    package func close() {
        queue.sync {
            guard !isClosed else { return }
            isClosed = true
            source.cancel()
            var info = stat()
            if lstat(path, &info) == 0, (info.st_dev, info.st_ino) == file { unlink(path) }
        }
    }

    private static func serve(_ peer: Int32, _ answer: (String) -> Answer) {
        setPatience(peer, seconds: patienceSeconds)
        // Whoever asked may have gone.
        guard SocketConstants.quiet(peer) == 0 else { return systemClose(peer) }
        guard let line = readAll(peer, untilLine: true, bytesMax: lineBytesMax) else { return systemClose(peer) }
        switch answer(line) {
        case .line(let text):
            writeAll(peer, text + "\n")
            systemClose(peer)
        case .stream(let body):
            SystemThread.detach {
                setPatience(peer, seconds: streamSeconds)
                body { writeAll(peer, $0) }
                systemClose(peer)
            }
        }
    }

    /// Asks: one line out, everything until the end in.
    package static func query(path: String, line: String) throws(SocketAddress.Failure) -> String {
        let descriptor = try asked(path, line, patience: answerSeconds)
        defer { systemClose(descriptor) }
        guard let answer = readAll(descriptor, untilLine: false, bytesMax: 64 << 20), !answer.isEmpty else {
            throw SocketAddress.Failure("no answer on \(path)")
        }
        return answer
    }

    /// Asks, and hands over the answer piece by piece.
    package static func query(path: String, line: String, take: ([UInt8]) throws -> Void) throws {
        let descriptor = try asked(path, line, patience: streamSeconds)
        defer { systemClose(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SocketAddress.Failure("no answer on \(path)", code: errno) }
            if count == 0 { return }
            try take(Array(buffer[..<count]))
        }
    }

    private static func asked(_ path: String, _ line: String, patience: Int) throws(SocketAddress.Failure) -> Int32 {
        try checkOwner(of: path)
        return try withAddress(path) { (address, length) throws(SocketAddress.Failure) in
            let descriptor = socket(AF_UNIX, SocketConstants.stream, 0)
            guard descriptor >= 0 else { throw SocketAddress.Failure("control socket", code: errno) }
            setPatience(descriptor, seconds: patience)
            SocketConstants.quiet(descriptor)
            guard connect(descriptor, address, length) == 0 else {
                let code = errno
                systemClose(descriptor)
                throw SocketAddress.Failure("no relay answers on \(path)", code: code)
            }
            writeAll(descriptor, line + "\n")
            return descriptor
        }
    }

    /// A socket that somebody else has put in the place of ours would tell what it likes.
    ///
    /// - Throws: when it is another user's, and not a service's. Root may ask anybody's, but not in a folder that is told from others by
    ///   its name alone.
    private static func checkOwner(of path: String) throws(SocketAddress.Failure) {
        var info = stat()
        guard lstat(path, &info) == 0 else { throw SocketAddress.Failure("no relay answers on \(path)", code: errno) }
        let isNamedByUser = path.hasPrefix("/tmp/boardrelay-"), isOfService = path.hasPrefix(systemFolder)
        guard info.st_uid == geteuid() || isOfService || (!isNamedByUser && (info.st_uid == 0 || geteuid() == 0)) else {
            throw SocketAddress.Failure("\(path) is another user's")
        }
    }

    // MARK: - System calls

    private static func withAddress<Result>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SocketAddress.Failure) -> Result
    ) throws(SocketAddress.Failure) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let capacity = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard bytes.count <= capacity else {
            throw SocketAddress.Failure("a socket's path has at most \(capacity) bytes, this one has \(bytes.count): \(path)")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        do {
            return try withUnsafePointer(to: address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { try body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
            }
        } catch let failure as SocketAddress.Failure {
            throw failure
        } catch {
            preconditionFailure("\(error)")
        }
    }

    private static func prepareFolder(of path: String) throws(SocketAddress.Failure) {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
        let folder = String(path[..<slash])
        if mkdir(folder, 0o700) == 0 { return }
        let code = errno
        guard code == EEXIST else { throw SocketAddress.Failure("folder \(folder)", code: code) }
        var info = stat()
        guard lstat(folder, &info) == 0 else { throw SocketAddress.Failure("folder \(folder)", code: errno) }
        if info.st_mode & S_IFMT == S_IFLNK {
            // A link's own bits say nothing; whose it is does, and so does all that is asked of a folder below.
            guard info.st_uid == getuid() || info.st_uid == 0 else { throw SocketAddress.Failure("link \(folder) belongs to another user") }
            guard stat(folder, &info) == 0 else { throw SocketAddress.Failure("folder \(folder)", code: errno) }
        }
        guard info.st_mode & S_IFMT == S_IFDIR else { throw SocketAddress.Failure("\(folder) is no folder") }
        // A folder that others could have made for us is not trusted; one that the system keeps for us is.
        let writableByOthers = info.st_mode & 0o022 != 0 && info.st_mode & S_ISVTX == 0
        guard !writableByOthers, info.st_uid == getuid() || info.st_uid == 0 else {
            throw SocketAddress.Failure("folder \(folder) belongs to another user or is writable for others")
        }
    }

    private static func setPatience(_ descriptor: Int32, seconds: Int) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    private static func readAll(_ descriptor: Int32, untilLine: Bool, bytesMax: Int) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count < bytesMax {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return nil }
            if count == 0 { break }
            bytes.append(contentsOf: buffer[..<count])
            if untilLine, let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return String(decoding: bytes[..<end], as: UTF8.self) }
        }
        return untilLine ? nil : String(decoding: bytes, as: UTF8.self)
    }

    private static func writeAll(_ descriptor: Int32, _ text: String) { writeAll(descriptor, Array(text.utf8)) }

    @discardableResult
    private static func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, SocketConstants.sendFlags) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }
}
