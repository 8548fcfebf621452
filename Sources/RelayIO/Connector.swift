/// Makes a TCP connection to a host: its addresses have their turns as `AddressRace` says, and the first that connects wins.
package enum Connector {
    /// A cancelled attempt ends within this time.
    private static let patienceNanoseconds: UInt64 = 250_000_000

    /// Blocks: to be called on a queue that has nothing else to do.
    ///
    /// - Parameters:
    ///   - timeoutMilliseconds: for all addresses together, once the resolver has told them.
    ///   - isCancelled: asked at least every 250 ms.
    /// - Returns: a connected descriptor, the caller's now.
    /// - Throws: why each address failed; the text names them. `ECANCELED` when it was cancelled. An address that wants TLS is refused.
    package static func connect(
        to address: RelayAddress, timeoutMilliseconds: Int, isCancelled: () -> Bool = { false }
    ) throws(SocketAddress.Failure) -> Int32 {
        guard address.protection == .plain else { throw SocketAddress.Failure("\(address) wants TLS, which is not spoken here") }
        let targets = try SocketAddress.resolve(host: address.host, port: address.port)
        return try connect(toFirstOf: targets, timeoutMilliseconds: timeoutMilliseconds, isCancelled: isCancelled)
    }

    static func connect(
        toFirstOf targets: [SocketAddress], timeoutMilliseconds: Int, isCancelled: () -> Bool = { false }
    ) throws(SocketAddress.Failure) -> Int32 {
        let end = SystemClock.monotonicNanoseconds() + UInt64(timeoutMilliseconds) * 1_000_000
        var race = AddressRace(targets, end: end) { $0.family == $1.family }
        var attempts: [Attempt] = [], failures: [SocketAddress.Failure] = []
        defer { for attempt in attempts { systemClose(attempt.descriptor) } }
        while !isCancelled() {
            let now = SystemClock.monotonicNanoseconds()
            switch race.step(at: now) {
            case .begin(let target):
                do throws(SocketAddress.Failure) {
                    attempts.append(try Attempt(target))
                } catch {
                    failures.append(error)
                    race.failed()
                }
            case .wait(let moment):
                for index in ready(attempts, nanoseconds: min(moment - now, patienceNanoseconds)).reversed() {
                    let attempt = attempts.remove(at: index), code = socketError(attempt.descriptor)
                    guard code != 0 else { return attempt.descriptor }
                    systemClose(attempt.descriptor)
                    failures.append(attempt.failure(code))
                    race.failed()
                }
            case .over:
                throw summary(failures + attempts.map { $0.failure(ETIMEDOUT) }, untried: race.untriedCount, timeoutMilliseconds)
            }
        }
        throw SocketAddress.Failure("the attempt to connect", code: ECANCELED)
    }

    /// One address that is being tried.
    private struct Attempt {
        let target: SocketAddress
        let descriptor: Int32

        init(_ target: SocketAddress) throws(SocketAddress.Failure) {
            self.target = target
            descriptor = socket(target.family, SocketConstants.stream, 0)
            guard descriptor >= 0 else { throw SocketAddress.Failure("a socket for \(target)", code: errno) }
            keepFromBlocking(descriptor)
            guard target.withPointer({ systemConnect(descriptor, $0, $1) }) == 0 || errno == EINPROGRESS else {
                let code = errno
                systemClose(descriptor)
                throw failure(code)
            }
        }

        func failure(_ code: Int32) -> SocketAddress.Failure { SocketAddress.Failure("cannot connect to \(target)", code: code) }
    }

    /// Waits until one of them has connected or failed, or the time is over.
    private static func ready(_ attempts: [Attempt], nanoseconds: UInt64) -> [Int] {
        var pollers = attempts.map { pollfd(fd: $0.descriptor, events: Int16(POLLOUT), revents: 0) }
        guard poll(&pollers, .init(pollers.count), Int32((nanoseconds + 999_999) / 1_000_000)) > 0 else { return [] }
        return pollers.indices.filter { pollers[$0].revents != 0 }
    }

    private static func summary(_ failures: [SocketAddress.Failure], untried: Int, _ timeoutMilliseconds: Int) -> SocketAddress.Failure {
        var reasons = failures.map(\.description)
        if untried > 0 { reasons.append("addresses without a turn within \(timeoutMilliseconds) ms: \(untried)") }
        var failure = SocketAddress.Failure(reasons.isEmpty ? "the host has no address" : reasons.joined(separator: "; "))
        failure.code = failures.first?.code ?? ETIMEDOUT
        return failure
    }

    private static func socketError(_ descriptor: Int32) -> Int32 {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        return code
    }
}
