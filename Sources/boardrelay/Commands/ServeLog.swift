import RelayConsole
import RelayCore
import RelayIO
import RelayWire

/// What a relay says while it runs. Where standard error is no terminal it is a log: every line has its time.
struct ServeLog: Sendable {
    /// Shared by its copies.
    let level: Mutex<LogLine.Level>
    var isTerminal = Console.errorsAreTerminal
    /// As JSON, one object a line, wherever standard error is.
    let isJSON: Bool
    var say: @Sendable (String) -> Void = Console.note

    init(
        level: LogLine.Level, isTerminal: Bool = Console.errorsAreTerminal, isJSON: Bool = false,
        say: @escaping @Sendable (String) -> Void = Console.note
    ) {
        (self.level, self.isTerminal, self.isJSON, self.say) = (Mutex(level), isTerminal, isJSON, say)
    }

    @Sendable func write(_ line: LogLine) {
        // A terminal may be projected: ids and addresses of people are not for all to see.
        let least = level.withLock { $0 }
        guard line.auditedAt == nil ? line.level >= least : !isTerminal else { return }
        write(line.auditedAt == nil ? line.level.rawValue : "audit", line.text, at: line.auditedAt, space: line.space)
    }

    /// For whoever has started it.
    @Sendable func note(_ text: String) {
        if isTerminal, !isJSON {
            say(Printable.escaped(text))
        } else {
            write(LogLine.Level.info.rawValue, text, at: nil)
        }
    }

    private func write(_ word: String, _ text: String, at time: UInt64?, space: String? = nil) {
        let time = Console.universalTime(wallMilliseconds: time ?? SystemClock.wallMilliseconds())
        if isJSON {
            let place: JSONValue = space.map { ["space": .string($0)] } ?? [:]
            say(JSONValue.object([["time": .string(time), "level": .string(word)], place, ["text": .string(text)]]).line)
        } else {
            say("\(word): \(time) \(space.map { "space \($0): " } ?? "")\(Printable.escaped(text))")
        }
    }
}
