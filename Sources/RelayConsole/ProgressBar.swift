/// One line that grows on a terminal.
package struct ProgressBar: Sendable, Equatable {
    package var done: Int
    package var total: Int
    /// What has been done, in words: `203 of 471 strokes`.
    package var words: String
    /// `nil` while nobody knows.
    package var remaining: Duration?

    package init(done: Int, total: Int, words: String, remaining: Duration?) {
        self.done = done
        self.total = total
        self.words = words
        self.remaining = remaining
    }

    /// Exactly as wide as asked, or less where there is nothing more to show.
    package func line(width: Int) -> String {
        let fraction = total > 0 ? min(max(Double(done) / Double(total), 0), 1) : 1
        let percent = "\(Int(fraction * 100))%"
        var tail = " " + String(repeating: " ", count: 4 - percent.count) + percent + "  " + words
        if let remaining { tail += "  " + Printable.clock(remaining) + " left" }
        let room = width - tail.count - 2
        guard room >= 5 else { return String(tail.drop { $0 == " " }.prefix(max(width, 0))) }
        let bar = min(room, 40)
        // Eighths of a cell, so that a long replay is seen to move.
        let eighths = Int(fraction * Double(bar * 8))
        let partial = eighths % 8 == 0 ? "" : String(Self.blocks[eighths % 8 - 1])
        let full = String(repeating: "█", count: eighths / 8) + partial
        return "▕" + full + String(repeating: " ", count: bar - full.count) + "▏" + tail
    }

    private static let blocks = Array("▏▎▍▌▋▊▉")
}
