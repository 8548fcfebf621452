import RelayMonitoring

/// A relay's last hour, minute by minute: a ring of 60 samples, some 6 KB. Whoever has it notes what there is, six times a minute.
package struct LastHour {
    static let samplesMax = 60
    package static let notesPerSample = 6

    /// The newest last; only whole minutes.
    private(set) var samples: [StatusSample] = []
    private var notes = 0
    /// The most sessions, and the most of them that lag, since the last sample.
    private var most = (sessions: 0, lagging: 0)
    /// Of what only grows, the sums at the last sample.
    private var before = StatusSample()

    /// - Parameter now: of what only grows, sums since the start.
    mutating func note(_ now: StatusSample) {
        most = (max(most.sessions, now.sessions), max(most.lagging, now.lagging))
        notes += 1
        guard notes == Self.notesPerSample else { return }
        var sample = now
        (sample.sessions, sample.lagging) = most
        for sum in [
            \StatusSample.messagesIn, \.messagesOut, \.packetsIn, \.packetsOut, \.packetsLost, \.bytesIn, \.bytesOut,
        ] { sample[keyPath: sum] -= before[keyPath: sum] }
        if samples.count == Self.samplesMax { samples.removeFirst() }
        samples.append(sample)
        (before, notes, most) = (now, 0, (0, 0))
    }
}

/// What the hub is told for its last hour: bytes read from sockets and written to them so far, the process's memory, and what the data
/// folder's files take, if there is one.
package struct Measure: Hashable, Sendable {
    package var bytesIn = 0, bytesOut = 0, memoryBytes = 0
    package var diskBytes: Int?

    package init() {}
}
