import Foundation

@testable import RelayIO

/// What a relay is that was stopped: its port and its control socket take connections, and nothing answers.
struct SilentRelay {
    let port: UInt16
    private let descriptors: [Int32]

    /// - Parameter folder: where the control socket stands under the port's name.
    init(folder: String) throws {
        let link = try Self.open(AF_INET)
        var internet = sockaddr_in()
        internet.sin_family = sa_family_t(AF_INET)
        internet.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        try Self.listen(link, on: &internet)
        port = UInt16(bigEndian: internet.sin_port)

        let control = try Self.open(AF_UNIX)
        var unix = sockaddr_un()
        unix.sun_family = sa_family_t(AF_UNIX)
        let path = Array("\(folder)/boardrelay-\(port).sock".utf8)
        withUnsafeMutableBytes(of: &unix.sun_path) { $0.copyBytes(from: path.prefix($0.count - 1)) }
        try Self.listen(control, on: &unix)
        descriptors = [link, control]
    }

    func close() { for descriptor in descriptors { Foundation.close(descriptor) } }

    private static func open(_ family: Int32) throws -> Int32 {
        let descriptor = socket(family, SocketConstants.stream, 0)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        // A tool that runs meanwhile must not hold it open.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    /// The system takes connections as long as there is room in its queue.
    private static func listen<Address>(_ descriptor: Int32, on address: inout Address) throws {
        var length = socklen_t(MemoryLayout<Address>.size)
        let size = length
        let failed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) != 0 || Foundation.listen(descriptor, 64) != 0 || getsockname(descriptor, $0, &length) != 0
            }
        }
        guard !failed else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
}
