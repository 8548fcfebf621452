import Dispatch
import RelayConsole
import RelayIO

/// Keys that are pressed at the terminal on standard input: each comes as it is pressed, and is not shown.
final class Keyboard: Sendable {
    private let queue = DispatchQueue(label: "boardrelay.keyboard")
    private struct Sources {
        var keys: (any DispatchSourceRead)?
        var stops: [any DispatchSourceSignal] = []
        var returns: (any DispatchSourceTimer)?
    }

    private let sources = Mutex(Sources())
    /// Left by each source that hears signals.
    private let hearing = DispatchGroup()
    private let pressed: @Sendable (Character) -> Void
    /// How the terminal was found, to which every end of the process takes it back.
    private static let found = Mutex<termios?>(nil)
    /// How often a relay in the background looks whether it has the terminal again: no signal says so after `bg` and `fg`.
    private static let lookInterval = DispatchTimeInterval.milliseconds(500)
    /// What `pressed` is told before Ctrl-Z stops the process.
    private static let ctrlZ: Character = "\u{1A}"

    /// - Returns: `nil` where nobody sits at a terminal, or this process stands in its background.
    init?(_ pressed: @escaping @Sendable (Character) -> Void) {
        var settings = termios()
        guard Console.errorsAreTerminal, Self.isInForeground, tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        self.pressed = pressed
        Self.found.withLock { [settings] in $0 = settings }
        atexit { Keyboard.restore() }
        // In the background a read fails instead of stopping the relay.
        signal(SIGTTIN, SIG_IGN)
        signal(SIGTSTP, SIG_IGN)
        on(SIGTSTP) { $0.stop() }
        on(SIGCONT) { $0.listen() }
        listen()
    }

    /// Returns when Ctrl-Z is heard: before, it does nothing.
    func ready() async { await withCheckedContinuation { continuation in hearing.notify(queue: queue) { continuation.resume() } } }

    private func on(_ number: Int32, _ act: @escaping @Sendable (Keyboard) -> Void) {
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { @Sendable [weak self] in if let self { act(self) } }
        hearing.enter()
        source.setRegistrationHandler { @Sendable [hearing] in hearing.leave() }
        source.activate()
        sources.withLock { $0.stops.append(source) }
    }

    /// The terminal is as it was found.
    func close() {
        sources.withLock { sources in
            sources.keys?.cancel()
            sources.returns?.cancel()
            for source in sources.stops { source.cancel() }
        }
        Self.restore()
    }

    private static func restore() {
        found.withLock { found in
            if var settings = found, isInForeground { tcsetattr(STDIN_FILENO, TCSANOW, &settings) }
        }
    }

    /// Or of a terminal that has neither: there is no job control then.
    private static var isInForeground: Bool {
        let group = tcgetpgrp(STDIN_FILENO)
        return isatty(STDIN_FILENO) == 1 && (group == getpgrp() || group < 0 && errno == ENOTTY)
    }

    /// Ctrl-Z: the shell gets its terminal back before this process stands still.
    private func stop() {
        pressed(Self.ctrlZ)
        Self.restore()
        kill(getpid(), SIGSTOP)
    }

    private func listen() {
        guard Self.isInForeground, var settings = Self.found.withLock({ $0 }) else { return awaitReturn() }
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: queue)
        source.setEventHandler { @Sendable [weak self] in self?.readKeys() }
        source.activate()
        sources.withLock { sources in
            sources.returns?.cancel()
            sources.returns = nil
            sources.keys?.cancel()
            sources.keys = source
        }
    }

    /// Keys are read again when this process has the terminal again.
    private func awaitReturn() {
        sources.withLock { sources in
            sources.keys?.cancel()
            guard sources.returns == nil else { return }
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + Self.lookInterval, repeating: Self.lookInterval)
            timer.setEventHandler { @Sendable [weak self] in if Self.isInForeground { self?.listen() } }
            timer.activate()
            sources.returns = timer
        }
    }

    private func readKeys() {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        for byte in bytes.prefix(max(count, 0)) { pressed(Character(Unicode.Scalar(byte))) }
        guard count <= 0 else { return }
        // At its end the terminal is gone. Else this process stood in its background, and may have come back since.
        if count == 0 { sources.withLock { $0.keys?.cancel() } } else { awaitReturn() }
    }
}
