import Foundation

@testable import RelayIO

/// A port of this machine that is taken, and on which nobody listens.
struct UnheardPort {
    let number: UInt16
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, SocketConstants.stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (descriptor, size) = (descriptor, length)
        let failed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) != 0 || getsockname(descriptor, $0, &length) != 0
            }
        }
        guard !failed else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        number = UInt16(bigEndian: address.sin_port)
    }

    func release() { close(descriptor) }
}
