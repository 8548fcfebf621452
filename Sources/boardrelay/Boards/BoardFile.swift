import Foundation
import RelayBoard

/// Where an exported board goes: a file, which is there as a whole or not at all, or standard output.
struct BoardFile {
    private let path: String?
    private let temporary: String?
    private let handle: FileHandle?
    private(set) var bytes = 0

    /// - Parameter path: `nil` or `-` for standard output.
    /// - Throws: `Failure` that names the path.
    init(path: String?) throws(Failure) {
        guard let path, path != "-" else {
            self.path = nil
            temporary = nil
            handle = nil
            return
        }
        self.path = path
        let temporary = "\(path).\(ProcessInfo.processInfo.processIdentifier).part"
        self.temporary = temporary
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Failure("\(Printable.quoted(path)) cannot be written: \(String(cString: strerror(errno)))") }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Whole lines.
    mutating func write(_ lines: [UInt8]) throws {
        bytes += lines.count
        guard let handle else { return try Console.print(String(decoding: lines.dropLast(), as: UTF8.self)) }
        do {
            try handle.write(contentsOf: Data(lines))
        } catch {
            throw failure("\(error.localizedDescription)")
        }
    }

    /// All is written: the file takes its name.
    func finish() throws {
        guard let handle, let temporary, let path else { return }
        do {
            try handle.synchronize()
            try handle.close()
        } catch {
            throw failure("\(error.localizedDescription)")
        }
        guard rename(temporary, path) == 0 else { throw failure(String(cString: strerror(errno))) }
    }

    /// Something went wrong: nothing is left.
    func abandon() {
        if let temporary { unlink(temporary) }
    }

    private func failure(_ problem: String) -> Failure {
        abandon()
        return Failure("\(Printable.quoted(path ?? "standard output")) cannot be written: \(problem)")
    }
}
