import Foundation

@testable import RelayIO

/// A port on which nobody listens, and which the system gives to nobody else who wants any: a relay that asks for it by number gets it.
final class ClosedPort: Sendable {
    let number: UInt16
    var address: RelayAddress { RelayAddress(host: "127.0.0.1", port: number) }
    private let descriptor: Int32

    init() throws {
        let socket = socket(AF_INET, SocketConstants.stream, 0)
        descriptor = socket
        var on: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var bound = sockaddr_in()
        bound.sin_family = sa_family_t(AF_INET)
        bound.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var bytes = socklen_t(MemoryLayout<sockaddr_in>.size)
        let outcome = withUnsafeMutableBytes(of: &bound) { raw in
            let address = raw.baseAddress!.assumingMemoryBound(to: sockaddr.self)
            return bind(socket, address, bytes) | getsockname(socket, address, &bytes)
        }
        number = UInt16(bigEndian: bound.sin_port)
        guard outcome == 0 else { throw SocketAddress.Failure("bind", code: errno) }
    }

    deinit { close(descriptor) }
}
