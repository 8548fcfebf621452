internal import RelayCore
import RelayPrimitives
internal import RelayTesting
internal import RelayWire

// What is held against the bounds: at every moment, and in the end.

extension GreedSimulation {
    /// - Parameter flushed: readers were written to: who has not taken it all lags.
    func checkBounds(flushed: Bool = false) throws {
        usedMost = zip(usedMost, driver.hub.memoryHeld(by: greeds[0])).map { max($0, $1.used) }
        let hub = driver.hub.queueMemoryBytes
        guard hub <= configuration.queueBytesTotalMax else {
            throw BrokenPromise("[DL9] queues hold \(hub) bytes, at most \(configuration.queueBytesTotalMax) may be held")
        }
        // Within a call, too: a chunk, and what one request is answered with.
        let most = driver.hub.queueMemoryBytesMost
        guard most <= configuration.queueBytesTotalMax + 2 * configuration.chunkBytesMax else {
            throw BrokenPromise("[DL9] queues held \(most) bytes within a call, at most \(configuration.queueBytesTotalMax) may be held")
        }
        for link in links where driver.isOpen(link.id) && !driver.isClosing(link.id) {
            let bytes = driver.hub.reliableBytes(of: link.id)
            guard bytes <= configuration.reliableBacklogBytesHard else { throw BrokenPromise("[DL8] \(bytes) bytes wait for a reader") }
            guard driver.hub.workOverdrawn(by: link.id) <= driver.hub.workDearest else {
                throw BrokenPromise(
                    "[DL12] \(driver.hub.workOverdrawn(by: link.id)) bytes were had above a share, the dearest request was "
                        + "\(driver.hub.workDearest)")
            }
            guard flushed, let load = driver.hub.load(of: link.id) else { continue }
            guard load.packets <= configuration.packetBacklogBytesMax else {
                throw BrokenPromise("[DL4] \(load.packets) bytes of packets wait for a reader")
            }
            guard load.shared <= configuration.pinnedBytesPerSessionMax else {
                throw BrokenPromise("[DL9] a reader keeps \(load.shared) bytes of shared memory alive")
            }
        }
    }

    /// Addresses with more than a quarter leave a quarter of everything to others. [SE5, SE15, DL12, BL11, SG3, CH8]
    func checkShares() throws {
        let ofAddresses = greeds.map { [driver] in driver.hub.memoryHeld(by: $0) }
        for (kind, held) in ofAddresses[0].enumerated() {
            // What is let in last is not known before: a frame, or a change that takes a whole set of metadata away.
            let slack = held.what.hasPrefix("changes") ? Limits.metadataItemsMax * 512 : 2 * Limits.frameBodyBytesMax
            let above = ofAddresses.map { $0[kind].ofAddress }.filter { $0 > held.max / 4 }.reduce(0, +)
            guard held.used <= held.max + slack, above <= held.max / 4 * 3 + slack else {
                throw BrokenPromise(
                    "[SE15] addresses with more than a quarter hold \(above) bytes of \(held.what), all hold \(held.used) of at most "
                        + "\(held.max)")
            }
        }
        guard driver.hub.sessionMemory == driver.hub.recountedMemory() else {
            throw BrokenPromise("[SE15] \(driver.hub.sessionMemory) bytes are counted, sessions hold \(driver.hub.recountedMemory())")
        }
        let maxes = [
            "greeting": configuration.greetingsMax, "live": configuration.connectionsMax, "session": configuration.sessionsMax,
            "message": configuration.channelsMax, "stream": configuration.channelsMax,
        ]
        let held = driver.hub.placesHeld
        for (kind, max) in maxes where !isTrusted || kind == "greeting" {
            let count = greeds.map { held["\(kind) \($0)"] ?? 0 }.max()!
            guard count <= Swift.max(configuration.addressPlacesMin, max / 4 + 1) else {
                throw BrokenPromise("[SE5, CH8] one address holds \(count) places of kind \(kind), of \(max)")
            }
        }
    }

    /// The relay lets go all that it holds: what is free then had been allocated for it. Beyond what is counted there may be what has
    /// bounds of its own, as locks, boards and user ids, and, when all have left, the room of tables that were fuller once.
    ///
    /// - Parameter heap: bytes that are allocated.
    package func judgeHeap(_ heap: () -> Int) throws {
        try promising {
            let counted = driver.hub.countedMemory, parts = driver.hub.memoryHeld(by: greeds[0])
            let before = heap()
            driver.letGo()
            let allocated = before - heap()
            trace?("\(counted) bytes of memory are counted, \(allocated) are allocated; \(parts)")
            guard allocated <= counted + (links.isEmpty ? 768 : 128) * 1024 else {
                throw BrokenPromise(
                    "[SE15, MD4, HI1, SG3, BL11] \(counted) bytes of memory are counted, \(allocated) are allocated; \(parts)")
            }
        }
    }

    /// Everybody is gone, and with them what was held for them.
    func leave() throws {
        for link in links { driver.cut(link.id) }
        (pupils, greedy) = ([], [])
        driver.persist()
        for _ in 0..<20 {
            driver.nextTurn()
            driver.persist()
            driver.readFiles(now: true)
        }
        driver.advance(.seconds(1_300))
        driver.persist()
        driver.readFiles(now: true)
        let census = driver.hub.census()
        let kept = driver.hub.memoryHeld(by: greeds[0]).filter { $0.used > 0 }
        guard census.connections == 0, census.users == 0, kept.isEmpty, census.queueMemoryBytes == 0, census.historyBytes == 0,
            census.unfinishedBytes == 0
        else {
            throw BrokenPromise(
                "left behind: \(census.connections) connections, \(census.users) users, \(census.queueMemoryBytes) bytes of queues, "
                    + "\(census.historyBytes) of history, \(census.unfinishedBytes) of frames, \(kept)")
        }
    }
}
