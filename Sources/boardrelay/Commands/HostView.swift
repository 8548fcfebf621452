import RelayConsole
import RelayIO

/// The host's address on the terminal, alone and for a moment: others may look on, as at a projector.
///
/// It stands on the terminal's other screen, so that nothing of it stays, not even above the first row. What is said meanwhile comes
/// behind it.
final class HostView: Sendable {
    private struct Showing {
        var waiting: [Line] = []
        /// Lines that were too many.
        var leftOut = 0
        var timer: Task<Void, any Error>
    }

    private enum Line {
        case note(String)
        case output(String)

        func write() {
            switch self {
            case .note(let text): Console.note(text)
            // A reader of standard output that has gone misses nothing else.
            case .output(let text): try? Console.print(text)
            }
        }
    }

    /// Held while a line is written, which keeps the order: where the terminal stands still, the next line would wait for it anyway.
    private let showing = Mutex<Showing?>(nil)

    /// For so long it can be read, if no key takes it away before.
    static let time = Duration.seconds(30)
    /// So many lines wait behind it, the oldest.
    private static let waitingMax = 1_000
    private static let otherScreen = "\u{1B}[?1049h\u{1B}[H", ownScreen = "\u{1B}[?1049l"

    func show(_ line: String) {
        showing.withLock { showing in
            guard showing == nil else { return }
            Console.noteRaw(Self.otherScreen)
            Console.note(line)
            Console.note("Any key takes it away; it goes by itself after \(Printable.span(Self.time)).")
            showing = Showing(
                timer: Task { [weak self] in
                    try await Task.sleep(for: Self.time)
                    self?.hide()
                })
        }
    }

    /// - Returns: whether it was there.
    @discardableResult func hide() -> Bool {
        showing.withLock { showing in
            guard let shown = showing else { return false }
            shown.timer.cancel()
            Console.noteRaw(Self.ownScreen)
            shown.waiting.forEach { $0.write() }
            if shown.leftOut > 0 { Console.note("\(Printable.count(shown.leftOut, "line")) more came and are not shown.") }
            showing = nil
            return true
        }
    }

    /// One line for people, now or behind the address.
    @Sendable func note(_ line: String) { write(.note(line)) }

    /// One line of standard output, likewise.
    func print(_ line: String) { write(.output(line)) }

    private func write(_ line: Line) {
        showing.withLock { showing in
            guard showing != nil else { return line.write() }
            if showing!.waiting.count < Self.waitingMax { showing!.waiting.append(line) } else { showing!.leftOut += 1 }
        }
    }
}
