import Foundation
import RelayPrimitives
import RelayWire

@testable import RelayIO

/// Stands between clients and a relay: passes bytes on, cuts links where a seed says, or holds back what the relay sends.
///
/// Each link has two threads, one for each direction.
final class CutProxy: @unchecked Sendable {
    // Safe: what changes is in `state`, under its condition; descriptors are closed by the last of a link's two threads.
    private struct State {
        var dice: SplitMix64
        var cutsLeft = 0
        var cuts = 0
        var holds = false
        var isStopped = false
        var links: [Link] = []
    }

    private final class Link: @unchecked Sendable {
        // Safe: what changes does so under the proxy's condition.
        let client: Int32, relay: Int32
        /// Bytes, both ways together, after which it is cut.
        var bytesLeft = Int.max
        var isCut = false
        var threads = 2

        init(client: Int32, relay: Int32) {
            self.client = client
            self.relay = relay
        }
    }

    /// Where clients connect to.
    let address: RelayAddress
    private let listener: Int32
    private let target: RelayAddress
    private let receiveBuffer: Int?
    private let condition = NSCondition()
    private var state: State

    /// - Parameter receiveBuffer: what the proxy takes from the relay without passing it on, about, in bytes.
    init(to target: RelayAddress, seed: UInt64 = 0, receiveBuffer: Int? = nil) throws {
        self.target = target
        self.receiveBuffer = receiveBuffer
        state = State(dice: SplitMix64(seed: seed))
        let any = try SocketAddress.resolve(host: "127.0.0.1", port: 0)[0]
        let descriptor = socket(any.family, SocketConstants.stream, 0)
        guard descriptor >= 0, any.withPointer({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, 64) == 0 else {
            throw SocketAddress.Failure("proxy", code: errno)
        }
        listener = descriptor
        let bound = SocketAddress { _ = getsockname(descriptor, $0, &$1) }
        address = RelayAddress(host: "127.0.0.1", port: bound.numeric.port)
        Thread.detachNewThread { self.takeLinks() }
    }

    /// From now on each link is cut after a random number of bytes, until so many were cut.
    func cut(_ count: Int) {
        locked { state in
            state.cutsLeft = count
            for link in state.links { link.bytesLeft = drawBytes(&state) }
        }
    }

    var cuts: Int { locked { $0.cuts } }

    /// Passes on nothing that the relay sends, or all of it again.
    func hold(_ holds: Bool) { locked { $0.holds = holds } }

    /// Cuts every link there is; what was held back is gone.
    func cutAll() { locked { state in for link in state.links { sever(link) } } }

    func stop() {
        locked { state in
            state.isStopped = true
            for link in state.links { sever(link) }
        }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func locked<Result>(_ body: (inout State) -> Result) -> Result {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        return body(&state)
    }

    /// Enough for a login more often than not, so that something happens between two cuts.
    private func drawBytes(_ state: inout State) -> Int { state.cutsLeft > 0 ? 200 + Int(state.dice.below(6_000)) : .max }

    /// Both ends learn of it; with the lock held.
    private func sever(_ link: Link) {
        guard !link.isCut else { return }
        link.isCut = true
        shutdown(link.client, Int32(SHUT_RDWR))
        shutdown(link.relay, Int32(SHUT_RDWR))
    }

    private func takeLinks() {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0, !locked({ $0.isStopped }) else { break }
            SocketConstants.quiet(client)
            guard let relay = connectToRelay() else {
                close(client)
                continue
            }
            let link = Link(client: client, relay: relay)
            locked { state in
                link.bytesLeft = drawBytes(&state)
                state.links.append(link)
            }
            Thread.detachNewThread { self.pump(link, isFromRelay: false) }
            Thread.detachNewThread { self.pump(link, isFromRelay: true) }
        }
        close(listener)
    }

    private func connectToRelay() -> Int32? {
        guard let target = try? SocketAddress.resolve(host: target.host, port: target.port)[0] else { return nil }
        let relay = socket(target.family, SocketConstants.stream, 0)
        SocketConstants.quiet(relay)
        if var bytes = receiveBuffer.map(Int32.init) {
            setsockopt(relay, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
        }
        guard target.withPointer({ connect(relay, $0, $1) }) == 0 else {
            close(relay)
            return nil
        }
        return relay
    }

    private func pump(_ link: Link, isFromRelay: Bool) {
        let source = isFromRelay ? link.relay : link.client
        let target = isFromRelay ? link.client : link.relay
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            waitWhileHeld(link, isFromRelay)
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            waitWhileHeld(link, isFromRelay)
            let allowed = locked { state in
                let allowed = link.isCut ? 0 : min(count, link.bytesLeft)
                if link.bytesLeft != .max { link.bytesLeft -= allowed }
                return allowed
            }
            guard pass(buffer[..<allowed], to: target), allowed == count else {
                locked { state in
                    if allowed < count, !link.isCut {
                        state.cuts += 1
                        state.cutsLeft -= 1
                    }
                }
                break
            }
        }
        locked { state in
            sever(link)
            link.threads -= 1
            guard link.threads == 0 else { return }
            close(link.client)
            close(link.relay)
            state.links.removeAll { $0 === link }
        }
    }

    private func waitWhileHeld(_ link: Link, _ isFromRelay: Bool) {
        guard isFromRelay else { return }
        condition.lock()
        while state.holds, !link.isCut { condition.wait() }
        condition.unlock()
    }

    private func pass(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
        var bytes = bytes
        while !bytes.isEmpty {
            let sent = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, SocketConstants.sendFlags) }
            guard sent > 0 else { return false }
            bytes = bytes.dropFirst(sent)
        }
        return true
    }
}
