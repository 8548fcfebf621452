import RelayPrimitives

/// What nobody reads is said once a minute, on stderr.
enum ClientLog {
    static func problem(_ problem: Problem) {
        let line = "whiteboard relay: a problem that nobody reads (problems()): \(problem.subject), \(problem.error)\n"
        _ = Descriptor.write(line, to: STDERR_FILENO)
    }
}
