import RelayPrimitives

/// A folder on a disk, as the system shows it and as a crash may leave it.
///
/// Whatever was changed and not synced has versions: the first is on the disk for certain, the last is what is read,
/// and a crash leaves any of them. The unit is a sector of 512 bytes, a file's size, or a name in the folder, each for
/// itself. A sync that works leaves one version of what was changed since the last one. A sync that fails leaves all
/// of them, and the system takes what it could not write for written: only what is changed anew is written by the next.
package struct SimulatedDisk: Sendable {
    package static let sectorBytes = 512

    /// Something that a crash may take back.
    struct Versioned<Value: Sendable>: Sendable {
        private(set) var versions: [Value]
        private(set) var isDirty = false

        init(_ durable: Value) { versions = [durable] }

        var current: Value { versions[versions.count - 1] }

        mutating func change(_ value: Value) {
            versions.append(value)
            isDirty = true
        }

        mutating func synced(works: Bool) {
            guard isDirty else { return }
            isDirty = false
            if works { versions.removeFirst(versions.count - 1) }
        }

        func afterCrash(_ crash: inout Crash) -> Value {
            versions.count == 1 ? versions[0] : versions[crash.choose(versions.count)]
        }
    }

    struct File: Sendable {
        var size = Versioned(0)
        var sectors: [Versioned<[UInt8]>] = []
    }

    /// Which of the versions a crash leaves.
    package enum Crash: Sendable {
        /// Only what is certain.
        case takesAll
        /// Everything, as if nothing had happened but the end of the program.
        case takesNothing
        case takesSome(SplitMix64)

        package init(seed: UInt64) { self = .takesSome(SplitMix64(seed: seed)) }

        mutating func choose(_ count: Int) -> Int {
            switch self {
            case .takesAll: return 0
            case .takesNothing: return count - 1
            case .takesSome(var generator):
                defer { self = .takesSome(generator) }
                return Int.random(in: 0..<count, using: &generator)
            }
        }
    }

    private var names: [String: Versioned<Int?>] = [:]
    private var files: [Int: File] = [:]
    private var fileNumber = 0

    package init() {}

    // MARK: - As the system shows it

    package var list: [String] { names.compactMap { $0.value.current == nil ? nil : $0.key }.sorted() }

    package var byteCount: Int { list.reduce(0) { $0 + (size(of: $1) ?? 0) } }

    package func size(of name: String) -> Int? { file(name).flatMap { files[$0]?.size.current } }

    package func read(_ name: String, at offset: Int, count: Int) -> [UInt8]? {
        guard let number = file(name), let file = files[number] else { return nil }
        let end = min(offset + count, file.size.current)
        guard offset < end else { return [] }
        var bytes: [UInt8] = []
        for sector in offset / Self.sectorBytes...(end - 1) / Self.sectorBytes {
            let start = sector * Self.sectorBytes
            let range = max(offset - start, 0)..<min(end - start, Self.sectorBytes)
            bytes += file.sectors[sector].current[range]
        }
        return bytes
    }

    package func contents(_ name: String) -> [UInt8]? { read(name, at: 0, count: .max / 2) }

    private func file(_ name: String) -> Int? { names[name]?.current ?? nil }

    // MARK: - Changes

    package mutating func create(_ name: String) {
        fileNumber += 1
        files[fileNumber] = File()
        names[name, default: Versioned(nil)].change(fileNumber)
    }

    package mutating func write(_ bytes: some Collection<UInt8>, to name: String, at offset: Int) {
        guard let number = file(name), !bytes.isEmpty else { return }
        var file = files[number] ?? File()
        files[number] = nil
        grow(&file, to: offset + bytes.count)
        var rest = bytes[...]
        var place = offset
        while !rest.isEmpty {
            let sector = place / Self.sectorBytes
            let start = place % Self.sectorBytes
            let part = rest.prefix(Self.sectorBytes - start)
            var content = file.sectors[sector].current
            content.replaceSubrange(start..<(start + part.count), with: part)
            file.sectors[sector].change(content)
            place += part.count
            rest = rest.dropFirst(part.count)
        }
        files[number] = file
    }

    package mutating func truncate(_ name: String, to byteCount: Int) {
        guard let number = file(name), var file = files[number] else { return }
        grow(&file, to: byteCount)
        file.size.change(byteCount)
        for sector in byteCount / Self.sectorBytes..<file.sectors.count {
            let kept = max(byteCount - sector * Self.sectorBytes, 0)
            let content = file.sectors[sector].current.prefix(kept)
            file.sectors[sector].change(content + [UInt8](repeating: 0, count: Self.sectorBytes - kept))
        }
        files[number] = file
    }

    private func grow(_ file: inout File, to byteCount: Int) {
        while file.sectors.count * Self.sectorBytes < byteCount {
            file.sectors.append(Versioned([UInt8](repeating: 0, count: Self.sectorBytes)))
        }
        if byteCount > file.size.current { file.size.change(byteCount) }
    }

    package mutating func rename(_ name: String, to newName: String) {
        guard let number = file(name) else { return }
        names[name]?.change(nil)
        names[newName, default: Versioned(nil)].change(number)
    }

    package mutating func remove(_ name: String) { names[name]?.change(nil) }

    package mutating func sync(_ name: String, works: Bool) {
        guard let number = file(name) else { return }
        files[number]?.size.synced(works: works)
        for sector in files[number]?.sectors.indices ?? 0..<0 { files[number]?.sectors[sector].synced(works: works) }
    }

    package mutating func syncFolder(works: Bool) {
        for name in names.keys { names[name]?.synced(works: works) }
        names = names.filter { $0.value.versions != [nil] }
        let numbers = Set(names.values.flatMap { $0.versions.compactMap { $0 } })
        files = files.filter { numbers.contains($0.key) }
    }

    // MARK: - Crashes

    /// Whether every crash leaves the same.
    package var isSettled: Bool {
        names.values.allSatisfy { $0.versions.count == 1 }
            && files.values.allSatisfy { $0.size.versions.count == 1 && $0.sectors.allSatisfy { $0.versions.count == 1 } }
    }

    /// What is there when the machine has started again.
    package func afterCrash(_ crash: Crash) -> SimulatedDisk {
        var crash = crash
        var disk = SimulatedDisk()
        for name in names.keys.sorted() {
            guard let number = names[name]?.afterCrash(&crash), let file = files[number] else { continue }
            let size = file.size.afterCrash(&crash)
            var sectors: [Versioned<[UInt8]>] = []
            for start in stride(from: 0, to: size, by: Self.sectorBytes) {
                let kept = min(size - start, Self.sectorBytes)
                // What is behind a file's end reads as zeros, should the file grow again.
                let zeros = [UInt8](repeating: 0, count: Self.sectorBytes - kept)
                sectors.append(Versioned(file.sectors[start / Self.sectorBytes].afterCrash(&crash).prefix(kept) + zeros))
            }
            disk.fileNumber += 1
            disk.names[name] = Versioned(disk.fileNumber)
            disk.files[disk.fileNumber] = File(size: Versioned(size), sectors: sectors)
        }
        return disk
    }
}
