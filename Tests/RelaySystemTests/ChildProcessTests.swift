import Foundation
import RelayIO
import RelaySystem
import Testing

@Suite struct ChildProcessTests {
    /// Runs it in a shell to its end.
    private func shell(_ script: String, environment: [String: String]? = nil) throws -> (end: ChildProcess.End, output: String) {
        let output = Pipe()
        let process = try ChildProcess(
            "/bin/sh", ["-c", script], environment: environment, output: .descriptor(output.fileHandleForWriting.fileDescriptor))
        try output.fileHandleForWriting.close()
        var text = Data()
        while let part = try output.fileHandleForReading.read(upToCount: 4096), !part.isEmpty { text += part }
        return (process.wait(), String(decoding: text, as: UTF8.self))
    }

    @Test("a program has its words, its environment and nothing else, and its end is told")
    func words() async throws {
        let run = try shell("echo \"$GREETING, $0\" there; exit 7", environment: ["GREETING": "hello"])
        #expect(run.end == .exited(7) && run.output == "hello, /bin/sh there\n")
        let killed = try ChildProcess("/bin/sh", ["-c", "kill -TERM $$; sleep 60"])
        #expect(await killed.waitUntilEnd() == .signalled(SIGTERM))
        #expect(killed.wait() == .signalled(SIGTERM))
        // Its number may be another's now.
        killed.signal(SIGKILL)
    }

    @Test("a program has three descriptors, however many this process has open, and no signal is blocked or ignored")
    func descriptors() throws {
        SystemDescriptors.raise()
        // More than a directory's buffer has entries.
        let many = (0..<1_500).map { _ in dup(1) }
        defer { for descriptor in many where descriptor >= 0 { close(descriptor) } }
        #expect(many.allSatisfy { $0 >= 0 })
        let run = try shell(
            "for fd in 0 1 2 3 9 100 1000; do [ -e /dev/fd/$fd ] && echo $fd; done; grep -E 'SigBlk|SigIgn' /proc/self/status 2>/dev/null; true"
        )
        let lines = run.output.split(separator: "\n")
        #expect(lines.filter { !$0.hasPrefix("Sig") } == ["0", "1", "2"])
        // Those above 31 are the C library's own.
        for line in lines where line.hasPrefix("Sig") {
            #expect(UInt64(line.dropFirst(8), radix: 16).map { $0 & 0x7FFF_FFFF } == 0, "\(line)")
        }
    }

    @Test("what cannot be started is named")
    func missing() {
        let error = #expect(throws: SocketAddress.Failure.self) { _ = try ChildProcess("/nowhere/at-all", []) }
        #expect(error?.description.hasPrefix("cannot start /nowhere/at-all: ") == true)
    }

    @Test("a child that waits for its input ends by a signal of ours")
    func signal() throws {
        let input = Pipe()
        let process = try ChildProcess("/bin/cat", [], input: .descriptor(input.fileHandleForReading.fileDescriptor))
        process.signal(SIGINT)
        #expect(process.wait() == .signalled(SIGINT))
        try input.fileHandleForWriting.close()
    }
}
