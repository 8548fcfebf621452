import Foundation

@testable import RelayIO

/// A port that takes connections and answers nothing.
struct SilentPort {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        let any = try SocketAddress.resolve(host: "127.0.0.1", port: 0)[0]
        let descriptor = socket(any.family, SocketConstants.stream, 0)
        guard descriptor >= 0, any.withPointer({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, 64) == 0 else {
            throw SocketAddress.Failure("a silent port", code: errno)
        }
        port = SocketAddress { _ = getsockname(descriptor, $0, &$1) }.numeric.port
        self.descriptor = descriptor
    }

    /// Whoever is connected sees the link break.
    func close() { Foundation.close(descriptor) }
}
