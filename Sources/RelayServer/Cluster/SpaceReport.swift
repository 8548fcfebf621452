import RelayWire

/// A node's part in a space with a log, for `status`.
package struct SpaceReport: JSONObject, Sendable {
    package var space = ""
    /// `standby`, `owner`, `takingOver` and so on.
    package var role = ""
    /// Number of the newest ownership that this node knows of.
    package var start = 0
    /// The newest entry of the log that it has counted, and that its disk has.
    package var position = 0
    package var storedPosition = 0
    /// The server that it asks; `nil`: none answers.
    package var log: String?
    /// Entries that it has appended since its process began, and how long the last one took.
    package var appends = 0
    package var appendMicroseconds: Int?
    /// Changes that wait for the one that is under way.
    package var recordsWaiting = 0
    /// Why it does nothing any more, if so.
    package var stopped: String?

    package init() {}

    package mutating func fields(_ json: inout JSONFields) {
        json("appendMicroseconds", &appendMicroseconds)
        json("appends", &appends)
        json("log", &log)
        json("position", &position)
        json("recordsWaiting", &recordsWaiting)
        json("role", &role)
        json("space", &space)
        json("start", &start)
        json("stopped", &stopped)
        json("storedPosition", &storedPosition)
    }
}
