/// Times of a space's nodes, each by the node's own clock. The defaults are for NATS, which is without a leader for 5 to 8 s.
package struct ClusterSettings: Sendable {
    /// What an owner does when it cannot reach the log.
    package enum Orphan: Sendable {
        case stop
        /// It goes on with what is not durable.
        case serve
    }

    /// T₁: an owner serves so long after it has sent the newest entry that was taken.
    package var ownerLease = Duration.seconds(10)
    /// T₂: a standby waits so long after it has heard the newest entry, plus up to `standbyJitter`. It is longer than T₁ by more than
    /// clocks drift.
    package var standbyWait = Duration.seconds(13)
    package var standbyJitter = Duration.seconds(2)
    /// The same where the log says that nobody else owns the space.
    package var freeWait = Duration.milliseconds(200)
    /// An owner appends something at least so often. T₁ less this is how long an engine may be silent.
    package var beat = Duration.seconds(2)
    /// What is not answered is asked again after this.
    package var askAgain = Duration.seconds(1)
    package var orphan = Orphan.stop
    /// No ownership has a lower start number: of a log that is made anew none comes a second time. Unix seconds, say.
    package var startMin: UInt32 = 1
    /// Largest entry, and largest record that stands in several, in bytes: the hub's are below 50 MiB.
    package var entryBytesMax = LogEntry.bytesMax, recordBytesMax = 64 * 1024 * 1024

    package init() {}
}
