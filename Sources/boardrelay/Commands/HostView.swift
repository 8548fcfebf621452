import RelayConsole
import RelayIO

/// The host's address on the terminal, alone and for a moment: others may look on, as at a projector.
///
/// It stands on the terminal's other screen, so that nothing of it stays, not even above the first row. What is said meanwhile comes behind it.
final class HostView: Sendable {
    private struct Showing {
        var waiting: [String] = []
        var timer: Task<Void, any Error>
    }

    private let showing = Lock<Showing?>(nil)

    /// For so long it can be read, if no key takes it away before.
    static let time = Duration.seconds(30)
    /// So many lines wait behind it; one more takes it away.
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
            for line in shown.waiting { Console.note(line) }
            showing = nil
            return true
        }
    }

    /// One line for people, now or behind the address.
    @Sendable func note(_ line: String) {
        let isOver = showing.withLock { showing in
            guard showing != nil else {
                Console.note(line)
                return false
            }
            showing!.waiting.append(line)
            return showing!.waiting.count > Self.waitingMax
        }
        if isOver { hide() }
    }
}
