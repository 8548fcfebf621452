import RelayIO

/// Files that a command is given.
package enum FileContents {
    /// Larger ones are no recording and no message; without a bound `-f /dev/zero` would take all memory.
    package static let bytesMax = 256 * 1024 * 1024

    /// - Parameter path: `-` for standard input.
    /// - Throws: `Failure` that names the path.
    package static func read(_ path: String) throws(Failure) -> [UInt8] {
        var contents: [UInt8] = []
        do {
            try pieces(path) { piece in
                contents.append(contentsOf: piece)
                guard contents.count <= bytesMax else { throw Failure("\(name(path)) has more than \(Printable.size(bytesMax))") }
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure("\(name(path)): \(error)")
        }
        return contents
    }

    private static func name(_ path: String) -> String { path == "-" ? "standard input" : Printable.quoted(path) }

    /// Hands over a file of any size piece by piece.
    ///
    /// - Throws: `Failure` that names the path; what `take` throws.
    package static func pieces(_ path: String, _ take: ([UInt8]) throws -> Void) throws {
        let name = name(path)
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure("\(name) cannot be opened: \(String(cString: strerror(errno)))", exitCode: .usage) }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let count = RelayIO.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure("\(name) cannot be read: \(String(cString: strerror(errno)))") }
            if count == 0 { return }
            try take(Array(buffer[..<count]))
        }
    }
}
