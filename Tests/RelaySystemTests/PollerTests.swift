import Dispatch
import Testing

@testable import RelayIO
@testable import RelaySystem

@Suite("a poller, of which one thread waits")
struct PollerTests {
    /// A listener on a free port, and what it accepts.
    private final class Peer {
        let descriptor: Int32
        let address: SocketAddress

        init() throws {
            let listener = socket(AF_INET, SocketConstants.stream, 0)
            let free = try SocketAddress.resolve(host: "127.0.0.1", port: 0)[0]
            let bound = free.withPointer { systemBind(listener, $0, $1) }
            #expect(bound == 0 && listen(listener, 8) == 0)
            address = SocketAddress { getsockname(listener, $0, &$1) }
            descriptor = listener
        }

        deinit { systemClose(descriptor) }

        func accepted() -> Int32 { accept(descriptor, nil, nil) }
    }

    private static let patience: UInt64 = 10_000_000_000

    @Test("a connection is writable when it stands, readable when something came, and told by its own token")
    func readiness() throws {
        let peer = try Peer()
        let poller = try Poller()
        let socket = try PolledSocket(connectingTo: peer.address)
        defer { socket.close(resets: true) }
        #expect(poller.add(socket.descriptor, token: 7, for: [.reading, .writing]) == 0)
        #expect(poller.wait(nanoseconds: Self.patience) == 1)
        #expect(poller.event(0) == Readied(token: 7, isReadable: false, isWritable: true))
        poller.change(socket.descriptor, token: 7, to: [.reading])
        #expect(poller.wait(nanoseconds: 0) == 0)
        let other = peer.accepted()
        defer { systemClose(other) }
        #expect(send(other, "ab", 2, SocketConstants.sendFlags) == 2)
        #expect(poller.wait(nanoseconds: Self.patience) == 1)
        #expect(poller.event(0) == Readied(token: 7, isReadable: true, isWritable: false))
        // Told again as long as something is unread.
        #expect(poller.wait(nanoseconds: Self.patience) == 1)
        withUnsafeTemporaryAllocation(byteCount: 8, alignment: 1) { buffer in
            #expect(socket.read(into: buffer) == .bytes(2))
            #expect(socket.read(into: buffer) == .wouldBlock)
        }
        #expect(poller.wait(nanoseconds: 0) == 0)
    }

    @Test("it waits no shorter than it is told, and is over when nothing comes")
    func time() throws {
        let poller = try Poller()
        for nanoseconds in [200_000, 3_000_000] as [UInt64] {
            let begin = SystemClock.monotonicNanoseconds()
            #expect(poller.wait(nanoseconds: nanoseconds) == 0)
            #expect(SystemClock.monotonicNanoseconds() - begin >= nanoseconds)
        }
        #expect(poller.wait(nanoseconds: 0) == 0)
    }

    @Test("nothing is told of one that was removed; the end of a peer is readable")
    func ends() throws {
        let peer = try Peer()
        let poller = try Poller()
        let socket = try PolledSocket(connectingTo: peer.address, receiveBufferBytes: 64 * 1024)
        defer { socket.close(resets: false) }
        let other = peer.accepted()
        #expect(poller.add(socket.descriptor, token: 1, for: [.reading]) == 0)
        poller.remove(socket.descriptor)
        systemClose(other)
        #expect(poller.wait(nanoseconds: 0) == 0)
        #expect(poller.add(socket.descriptor, token: 2, for: [.reading]) == 0)
        #expect(poller.wait(nanoseconds: Self.patience) == 1)
        #expect(poller.event(0).token == 2 && poller.event(0).isReadable)
        withUnsafeTemporaryAllocation(byteCount: 8, alignment: 1) { buffer in #expect(socket.read(into: buffer) == .end) }
    }
}
