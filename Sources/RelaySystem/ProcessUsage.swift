/// What the process of a relay has used since it began, all threads together.
package struct ProcessUsage: Sendable {
    /// In the program itself.
    package var userMicroseconds = 0
    /// In the system, for it: above all in calls that read and write.
    package var systemMicroseconds = 0
    /// In memory now; on systems other than Linux the most that it ever was.
    package var residentBytes = 0
    /// When this was so, by a clock of the machine that counts from anywhere: two of them tell how long there was to use it.
    package var clockMicroseconds = 0

    package init() {}
}
