extension LoadGenerator {
    /// A connection for which more waits gets nothing new.
    private static let unwrittenBytesMax = 1 << 20
    private static let windowBatchBytes = 64 * 1024
    private static let windowBatchMessages = 256
    /// Sends between two looks at what has come.
    private static let sendsPerTurn = 128

    /// What is due, and no more than there is time for between two looks.
    ///
    /// - Returns: nanoseconds until the next one is due.
    mutating func send(_ schedule: inout Schedule, since begin: UInt64) -> UInt64 {
        for _ in 0..<Self.sendsPerTurn {
            guard let next = schedule.next else { return .max }
            let due = begin + next.at, now = Self.now()
            guard due <= now else { return due - now }
            schedule.advance()
            if due >= measuresFrom { lag.add(now - due) }
            lagMax = max(lagMax, now - due)
            if templates[next.source]!.payloadBytes != max(Stamp.bytes, next.bytes) {
                templates[next.source] = PublishTemplate(load.sources[next.source], flow: flowOfSource[next.source], bytes: next.bytes)
            }
            let link = load.sources[next.source].member
            guard !links[link].isClosed, links[link].unwritten < Self.unwrittenBytesMax else {
                skipped += 1
                continue
            }
            publish(next.source, due: due)
            if !links[link].isBlocked { flush(link) }
        }
        return 0
    }

    /// Sends up to so many messages ahead of the mean reader.
    mutating func sendWindow(_ window: Int) {
        let readers = UInt64(load.members.indices.reduce(0) { $0 + (load.expects($1, 0) ? 1 : 0) })
        let gone = tally.reported + tally.refused * readers
        for source in load.sources.indices {
            let link = load.sources[source].member
            guard !links[link].isClosed, links[link].unwritten == 0 else { continue }
            var count = 0
            while count < Self.windowBatchMessages, links[link].unwritten < Self.windowBatchBytes,
                tally.sent * readers < tally.delivered + gone + UInt64(window) * readers
            {
                publish(source, due: Self.now())
                count += 1
            }
            if count > 0 { flush(link) }
        }
    }

    package mutating func publish(_ source: Int, due: UInt64) {
        let number = tally.send(source), link = load.sources[source].member
        templates[source]!.with(due, source, number) { links[link].append($0) }
    }

    package mutating func prepareTemplates() {
        for number in load.sources.indices {
            templates[number] = PublishTemplate(load.sources[number], flow: flowOfSource[number], bytes: load.sources[number].bytes)
        }
    }

    package mutating func flush(_ index: Int) {
        let wasBlocked = links[index].isBlocked
        switch links[index].flush() {
        case .all: links[index].isBlocked = false
        case .blocked: links[index].isBlocked = true
        case .failed: return close(index)
        }
        if links[index].isBlocked != wasBlocked { rearm(index) }
    }
}
