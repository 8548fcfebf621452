internal import Dispatch
#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
import RelayIO

#if os(Linux)
    internal import CEpoll
#endif

/// A program in a process of its own.
///
/// Foundation's `Process` is not used: it looks for descriptors to close by copying whole directory entries out of what readdir(3)
/// gives, past its end when some 1,350 are open, and this process dies of that where its memory ends there
/// (`findMaximumOpenFromProcSelfFD`, seen with Swift 6.3 on Linux).
package final class ChildProcess: @unchecked Sendable {
    // Safe: `end` is behind its lock; the rest never changes.
    package let identifier: Int32
    private let end = Mutex<End?>(nil)
    private let ended = DispatchGroup()

    /// How it ended: by itself, or by a signal.
    package enum End: Sendable, Equatable {
        case exited(Int32)
        case signalled(Int32)
    }

    /// What it has as its input, output or errors.
    package enum Stream: Sendable {
        /// Nothing comes out of it, and what goes in is gone.
        case null
        /// A descriptor of this process, which keeps it: whoever reads a pipe to its end closes the end that was given away.
        case descriptor(Int32)
    }

    /// Starts it: no descriptor but these three is open in it, and no signal is blocked or ignored.
    ///
    /// - Parameters:
    ///   - program: its path.
    ///   - words: its arguments, without its name.
    ///   - environment: this process's if `nil`.
    /// - Throws: when there is no such program, or the system has no process for it; the text names the program.
    package init(
        _ program: String, _ words: [String], environment: [String: String]? = nil, input: Stream = .null, output: Stream = .null,
        errors: Stream = .null
    ) throws(SocketAddress.Failure) {
        let arguments = CStrings([program] + words)
        let variables = CStrings((environment ?? ProcessInfo.processInfo.environment).map { "\($0.key)=\($0.value)" })
        var identifier: pid_t = 0
        let settings = SpawnSettings([input, output, errors])
        let code = posix_spawn(&identifier, program, &settings.actions, &settings.attributes, arguments.pointers, variables.pointers)
        guard code == 0 else { throw SocketAddress.Failure("cannot start \(program)", code: code) }
        self.identifier = identifier
        ended.enter()
        SystemThread.detach { [self] in reap() }
    }

    private func reap() {
        // Seen first and buried then, so that no signal goes to a number that is another's by now.
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        end.withLock { end in
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7F
            end = signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
        }
        ended.leave()
    }

    /// Sends it a signal, unless it has ended.
    package func signal(_ number: Int32) { end.withLock { if $0 == nil { kill(identifier, number) } } }

    /// Blocks until it has ended.
    package func wait() -> End {
        ended.wait()
        return end.withLock { $0! }
    }

    /// Suspends until it has ended.
    package func waitUntilEnd() async -> End {
        await withCheckedContinuation { continuation in
            ended.notify(queue: .global()) { [self] in continuation.resume(returning: end.withLock { $0! }) }
        }
    }
}

/// What posix_spawn(3) is to do in the child.
private final class SpawnSettings {
    #if canImport(Glibc)
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
    #else
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
    #endif

    /// - Parameter streams: for descriptors 0, 1 and 2.
    init(_ streams: [ChildProcess.Stream]) {
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        for (number, stream) in streams.enumerated() {
            switch stream {
            case .null: posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
            case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
            }
        }
        // Threads of Dispatch block signals, which a child would inherit.
        var none = sigset_t(), all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        #if canImport(Glibc)
            posix_spawn_file_actions_addclosefrom_np(&actions, 3)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        #else
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_CLOEXEC_DEFAULT))
        #endif
    }

    deinit {
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
    }
}

/// Strings as C has them, with a null pointer behind the last.
private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ texts: [String]) {
        count = texts.count
        pointers = .allocate(capacity: count + 1)
        for (index, text) in texts.enumerated() { (pointers + index).initialize(to: strdup(text)) }
        (pointers + count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { free(pointers[index]) }
        pointers.deallocate()
    }
}
