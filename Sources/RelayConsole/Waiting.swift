import Dispatch
import RelayIO

/// Something that may take long and tells nothing meanwhile: after a second a terminal shows what it is, until it ends.
package final class Waiting: Sendable {
    private let isOver = Mutex(false)

    package init(_ words: String) {
        guard Console.errorsAreTerminal else { return }
        // Safe beside a thread that waits: Dispatch has others.
        DispatchQueue.global().asyncAfter(deadline: .now() + 1) { [self] in
            isOver.withLock { isOver in
                if !isOver { Console.pass(String("\(words) …".prefix(Console.columns - 1))) }
            }
        }
    }

    package func end() {
        isOver.withLock { isOver in
            guard !isOver else { return }
            isOver = true
            Console.endPassing()
        }
    }

    /// Does something while the words stand there.
    package static func during<Value>(_ words: String, _ body: () async throws -> Value) async rethrows -> Value {
        let waiting = Waiting(words)
        defer { waiting.end() }
        return try await body()
    }
}
