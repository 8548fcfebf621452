import RelayConsole
import RelayIO

/// A file that is there as a whole, durably, or not at all.
struct WholeFile {
    private let path: String
    private let temporary: String
    /// Open until all is written, or nothing is left.
    private var descriptor: Int32?

    /// - Throws: `Failure` that names the path.
    init(_ path: String, mode: mode_t) throws(Failure) {
        self.path = path
        temporary = Self.temporary(path)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Failure("\(Printable.quoted(path)) cannot be written: \(String(cString: strerror(errno)))") }
        self.descriptor = descriptor
    }

    /// Until it is whole.
    static func temporary(_ path: String) -> String { "\(path).\(getpid()).part" }

    mutating func write(_ bytes: [UInt8]) throws(Failure) {
        guard let descriptor else { return }
        guard bytes.withUnsafeBytes({ Descriptor.write($0, to: descriptor) }) else { throw failure() }
    }

    /// All is written: the file takes its name.
    mutating func finish() throws(Failure) {
        guard let descriptor else { return }
        guard FileDurability.sync(descriptor) == 0 else { throw failure() }
        self.descriptor = nil
        guard close(descriptor) == 0, rename(temporary, path) == 0 else { throw failure() }
        do throws(FileFailure) { try FileDurability.syncParent(of: path) } catch { throw Failure("\(error)") }
    }

    /// Something went wrong: nothing is left.
    mutating func abandon() {
        if let descriptor { close(descriptor) }
        descriptor = nil
        unlink(temporary)
    }

    private mutating func failure() -> Failure {
        let problem = String(cString: strerror(errno))
        abandon()
        return Failure("\(Printable.quoted(path)) cannot be written: \(problem)")
    }
}
