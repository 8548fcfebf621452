import Foundation
@testable import RelayIO
@testable import RelaySystem
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite struct ServiceManagerTests {
    @Test("a service manager is told on its socket, in whole datagrams, that the process reads, waits, serves and ends")
    func told() throws {
        let name = FileManager.default.temporaryDirectory.appending(path: "notify-\(UUID().uuidString.prefix(8))").path
        let descriptor = try #require(Self.bound(name))
        defer {
            close(descriptor)
            unlink(name)
        }
        let manager = try #require(ServiceManager(socket: name))
        manager.tellReading()
        manager.tellWaiting("Waits for /srv/board")
        manager.tellReady()
        manager.tellStopping()
        #expect(Self.next(descriptor) == "EXTEND_TIMEOUT_USEC=60000000")
        #expect(Self.next(descriptor) == "READY=1\nSTATUS=Waits for /srv/board", "its start is over for whoever waits for that")
        #expect(Self.next(descriptor) == "READY=1\nSTATUS=")
        #expect(Self.next(descriptor) == "STOPPING=1")
    }

    @Test("without one, or with an address that is none, nobody is told; one that is gone or has too long a name holds nothing up")
    func nobody() {
        for socket in [nil, "", "/", "@", "relative", "vsock:2:1"] as [String?] { #expect(ServiceManager(socket: socket) == nil) }
        ServiceManager(socket: "/nowhere/notify")?.tellReady()
        ServiceManager(socket: "/" + String(repeating: "x", count: 200))?.tellReady()
    }

    private static func bound(_ name: String) -> Int32? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(name.utf8)) }
        let descriptor = socket(AF_UNIX, SocketConstants.datagram, 0)
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        return result == 0 ? descriptor : nil
    }

    private static func next(_ descriptor: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }
}
