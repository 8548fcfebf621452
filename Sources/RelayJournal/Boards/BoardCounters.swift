/// What a store has done since it was made.
package struct BoardCounters: Equatable, Sendable {
    /// To boards' files; those of compactions not counted.
    package var writes = 0
    package var fsyncs = 0
    package var checkpoints = 0
    package var loads = 0
    package var unloads = 0
    package var compactions = 0
    package var failures = 0
    package var lastError: String?

    package init() {}
}
