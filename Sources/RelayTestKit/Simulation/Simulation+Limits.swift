internal import RelayCore
import RelayPrimitives
internal import RelayTesting
internal import RelayWire

// Readers that say what they take of packets, and change their mind. [DL11]

extension ModelClient {
    /// What it takes, since when, and what has come since.
    struct Taking {
        var limits: ReaderLimits
        var since: Instant
        /// Packets, and their bytes.
        var received = (0, 0)
        /// What waited then.
        var before = (0, 0)

        mutating func begin(at now: Instant) { (since, received, before) = (now, (0, 0), (0, 0)) }

        func allowed(_ rate: Int, most: Int, _ before: Int, at now: Instant) -> Int {
            let time = Int((now - since).nanoseconds / 1_000_000)
            // At one instant, on credit, and since.
            return before + max(rate / 4, most) + rate + (rate * (time + 1) + 999) / 1_000
        }
    }

    func checkLimits(at now: Instant) throws {
        guard let taking else { return }
        if let rate = taking.limits.packetsPerSecond {
            let allowed = taking.allowed(rate, most: 1, taking.before.0, at: now)
            guard taking.received.0 <= allowed else {
                throw BrokenPromise("[DL11] \(user) got \(taking.received.0) packets, \(allowed) at most with \(rate) a second")
            }
        }
        if let rate = taking.limits.bytesPerSecond {
            let allowed = taking.allowed(rate, most: PacketFrame.frameBytesMax(payload: 1_024), taking.before.1, at: now)
            guard taking.received.1 <= allowed else {
                throw BrokenPromise("[DL11] \(user) got \(taking.received.1) bytes of packets, \(allowed) at most with \(rate) a second")
            }
        }
    }
}

extension Simulation {
    /// Some of the readers.
    func limitsAtLogin() -> ReaderLimits? { limitDice.chance(1, in: 2) ? drawLimits() : nil }

    private func drawLimits() -> ReaderLimits {
        ReaderLimits(
            packetsPerSecond: limitDice.chance(4, in: 5) ? Int.random(in: 1...2, using: &limitDice) : nil,
            bytesPerSecond: limitDice.chance(1, in: 3) ? Int.random(in: 1_024...5_000, using: &limitDice) : nil,
            waitingBytes: limitDice.chance(1, in: 4) ? 16_384 : nil)
    }

    /// A reader changes its mind.
    func limit(_ client: ModelClient) {
        guard let connection = client.connection, driver.isOpen(connection), !driver.isClosing(connection) else { return }
        let limits = limitDice.chance(1, in: 4) ? ReaderLimits() : drawLimits()
        request(client, .setReaderLimits, SetReaderLimitsRequest(id: client.requestID + 1, limits: limits))
        takesOnly(client, limits)
    }

    func takesOnly(_ client: ModelClient, _ limits: ReaderLimits) {
        done.limitsSet += 1
        let bytes = client.connection.flatMap { driver.hub.load(of: $0)?.packets } ?? 0
        client.taking = ModelClient.Taking(limits: limits, since: driver.now.instant, before: (client.dueCount, bytes))
    }
}
