package import RelayJournal
import RelayPrimitives

/// A folder for a journal that notes what is done to it, fails when told to, can be full, and can crash.
package final class SimulatedStorage: JournalStorage {
    package typealias Operation = StorageError.Operation

    package struct Call: Equatable, Sendable {
        package var operation: Operation
        package var name: String
        /// Of a write.
        package var bytes: Range<Int>?
    }

    /// Calls that do not work: of one operation or of all, counted from 1.
    package struct Fault: Equatable, Sendable {
        package var operation: Operation?
        package var numbers: ClosedRange<Int>

        package init(_ numbers: ClosedRange<Int>, of operation: Operation? = nil) {
            self.operation = operation
            self.numbers = numbers
        }
    }

    package static let noSpace: Int32 = 28
    package static let inputOutput: Int32 = 5
    private static let noSuchFile: Int32 = 2
    private static let exists: Int32 = 17

    package private(set) var disk: SimulatedDisk
    package private(set) var calls: [Call] = []
    package private(set) var failedCalls: [Call] = []
    package private(set) var isClosed = false
    package var faults: [Fault] = []
    /// Bytes of all files that there is space for.
    package var capacity = Int.max
    /// After each call that could have changed something.
    package var afterChange: ((SimulatedStorage) -> Void)?
    private var counts: [Operation: Int] = [:]
    /// How much a write that fails has written.
    private var generator: SplitMix64

    package init(_ disk: SimulatedDisk = SimulatedDisk(), seed: UInt64 = 1) {
        self.disk = disk
        generator = SplitMix64(seed: seed)
    }

    /// The same machine after the program's end: everything is as it was seen.
    package func restarted() -> SimulatedStorage { SimulatedStorage(disk, seed: generator.next()) }

    package func crashed(_ crash: SimulatedDisk.Crash) -> SimulatedStorage { SimulatedStorage(disk.afterCrash(crash)) }

    // MARK: - JournalStorage

    package func list() throws(StorageError) -> [String] {
        try begin(.list, "")
        return disk.list.reversed()
    }

    package func create(_ name: String) throws(StorageError) {
        try begin(.create, name)
        guard disk.size(of: name) == nil else { throw error(.create, name, Self.exists, "File exists") }
        guard disk.byteCount < capacity else { throw error(.create, name, Self.noSpace, "No space left on device") }
        disk.create(name)
        afterChange?(self)
    }

    package func write(_ pieces: Pieces, to name: String, at offset: Int) throws(StorageError) {
        let bytes = pieces.joined
        let call = Call(operation: .write, name: name, bytes: offset..<(offset + bytes.count))
        let size = try sizeOfPresent(name, .write)
        do throws(StorageError) {
            try begin(call)
        } catch {
            disk.write(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)), to: name, at: offset)
            afterChange?(self)
            throw error
        }
        let space = max(capacity - disk.byteCount, 0) + max(size - offset, 0)
        disk.write(bytes.prefix(space), to: name, at: offset)
        afterChange?(self)
        guard bytes.count <= space else { throw error(.write, name, Self.noSpace, "No space left on device") }
    }

    package func sync(_ name: String) throws(StorageError) {
        _ = try sizeOfPresent(name, .sync)
        do throws(StorageError) {
            try begin(.sync, name)
        } catch {
            disk.sync(name, works: false)
            afterChange?(self)
            throw error
        }
        disk.sync(name, works: true)
        afterChange?(self)
    }

    package func syncFolder() throws(StorageError) {
        do throws(StorageError) {
            try begin(.syncFolder, "")
        } catch {
            disk.syncFolder(works: false)
            afterChange?(self)
            throw error
        }
        disk.syncFolder(works: true)
        afterChange?(self)
    }

    package func truncate(_ name: String, to byteCount: Int) throws(StorageError) {
        _ = try sizeOfPresent(name, .truncate)
        try begin(.truncate, name)
        disk.truncate(name, to: byteCount)
        afterChange?(self)
    }

    package func rename(_ name: String, to newName: String) throws(StorageError) {
        _ = try sizeOfPresent(name, .rename)
        try begin(.rename, name)
        disk.rename(name, to: newName)
        afterChange?(self)
    }

    package func remove(_ name: String) throws(StorageError) {
        _ = try sizeOfPresent(name, .remove)
        try begin(.remove, name)
        disk.remove(name)
        afterChange?(self)
    }

    package func size(of name: String) throws(StorageError) -> Int {
        try begin(.size, name)
        return try sizeOfPresent(name, .size)
    }

    package func read(_ name: String, at offset: Int, count: Int) throws(StorageError) -> [UInt8] {
        try begin(.read, name)
        guard let bytes = disk.read(name, at: offset, count: count) else { throw error(.read, name, Self.noSuchFile, "No such file") }
        return bytes
    }

    package func close() { isClosed = true }

    // MARK: - Faults

    private func sizeOfPresent(_ name: String, _ operation: Operation) throws(StorageError) -> Int {
        guard let size = disk.size(of: name) else { throw error(operation, name, Self.noSuchFile, "No such file") }
        return size
    }

    private func begin(_ operation: Operation, _ name: String) throws(StorageError) {
        try begin(Call(operation: operation, name: name))
    }

    private func begin(_ call: Call) throws(StorageError) {
        precondition(!isClosed, "simulated storage: \(call.operation) after close")
        calls.append(call)
        counts[call.operation, default: 0] += 1
        let number = counts[call.operation, default: 0]
        let fails = faults.contains { fault in
            fault.operation.map { $0 == call.operation && fault.numbers.contains(number) } ?? fault.numbers.contains(calls.count)
        }
        guard fails else { return }
        failedCalls.append(call)
        throw error(call.operation, call.name, Self.inputOutput, "Input/output error")
    }

    private func error(_ operation: Operation, _ name: String, _ code: Int32, _ text: String) -> StorageError {
        StorageError(operation, path: "/simulated/\(name)", code: code, text: text)
    }
}
