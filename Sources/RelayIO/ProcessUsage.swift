/// What the process of a relay has used since it began, all threads together.
public struct ProcessUsage: Codable, Sendable, Hashable {
    /// In the program itself.
    public var userSeconds: Double
    /// In the system, for it: above all in calls that read and write.
    public var systemSeconds: Double
    /// In memory now; on systems other than Linux the most that it ever was.
    public var residentBytes: Int
    /// When this was so, by a clock of the machine that counts from anywhere: two of them tell how long there was to use it.
    public var clockSeconds: Double

    /// Of this process, now.
    package init() {
        clockSeconds = Double(SystemClock.monotonicNanoseconds()) / 1e9
        let usage = SystemProcess.usage()
        userSeconds = usage.userSeconds
        systemSeconds = usage.systemSeconds
        residentBytes = usage.residentBytes
    }
}
