internal import RelayPrimitives
import RelayWire

/// A backup as `restore` reads it. An input is a size of pieces, and parts of an archive, whose heads are put right: a file (kind 0: name,
/// zero, content), a head with bytes changed (1: place, then the bytes), a manifest (2), that of the files so far and the end (3), zeros
/// (4), or bytes as they stand (5). [SG4]
func backups(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var input = Input(bytes)
    guard let size = input.byte() else { return false }
    var parts = ArchiveParts()
    while let piece = input.piece() { guard parts.add(piece.kind, piece.bytes) else { return false } }
    let whole = read(parts.bytes, by: max(1, parts.bytes.count)), cut = read(parts.bytes, by: Int(size) + 1)
    must(whole == cut, "in pieces of \(Int(size) + 1) bytes it is \(cut), whole \(whole)")
    must(!parts.isRight || whole.manifest != nil, "a backup as it is written is refused: \(whole.problem)")
    if let manifest = whole.manifest { judge(manifest, whole.files) }
    return true
}

/// What is taken is what its manifest says, stays in the folder, and comes back from an archive that is made of it.
private func judge(_ manifest: BackupManifest, _ files: [Found]) {
    must(manifest.files.map(\.name) == files.map(\.name), "\(manifest): \(files)")
    must(manifest.files.map(\.bytes) == files.map(\.content.count), "\(manifest): \(files)")
    must(Set(files.map(\.name)).count == files.count, "a name twice in \(files)")
    for file in files {
        let isKept = !["lock", "control.sock", ""].contains(file.name)
        must(isKept && !file.name.contains("/") && !file.name.hasPrefix("."), "a file \(file.name)")
    }
    var parts = ArchiveParts()
    for file in files { parts.add(file.name, file.content) }
    parts.finish()
    let again = read(parts.bytes, by: 1_000)
    must(again.manifest?.files == manifest.files && again.files == files, "\(files) come back as \(again)")
}

private struct Found: Equatable {
    var name: String
    var content: [UInt8] = []
}

private struct Outcome: Equatable {
    var files: [Found] = []
    /// Once all is there.
    var manifest: BackupManifest?
    var problem = ""
}

private func read(_ archive: [UInt8], by size: Int) -> Outcome {
    var reader = BackupReader(relay: "1.0.0"), outcome = Outcome()
    do throws(RelayServerError) {
        for start in stride(from: 0, to: archive.count, by: size) {
            try reader.read(Array(archive[start..<min(start + size, archive.count)])) { part throws(RelayServerError) in
                switch part {
                case .begin(let name): outcome.files.append(Found(name: name))
                case .bytes(let bytes): outcome.files[outcome.files.count - 1].content += bytes
                case .end: break
                }
            }
        }
        outcome.manifest = try reader.finish()
    } catch {
        outcome.problem = error.text
        // Of a refused one it does not matter what came before.
        outcome.files = []
    }
    return outcome
}

private struct ArchiveParts {
    private(set) var bytes: [UInt8] = []
    private var archive = BackupArchive(relay: "1.0.0", made: "Sun, 06 Nov 1994 08:49:37 GMT", seconds: 784_111_777)
    /// Whether all of it is as a relay writes it, to its end.
    private(set) var isRight = false
    private var isPlain = true
    private var names: Set<String> = []

    /// - Returns: whether there is such a part.
    mutating func add(_ kind: UInt8, _ content: [UInt8]) -> Bool {
        isPlain = isPlain && !isRight && (kind == 0 || kind == 3)
        isRight = false
        switch kind {
        case 0:
            let end = content.firstIndex(of: 0) ?? content.endIndex
            let name = String(decoding: content[..<end], as: UTF8.self)
            guard name.utf8.count <= TarHeader.nameBytesMax, name != BackupManifest.file else { return false }
            isPlain = isPlain && BackupReader.isName(name) && names.insert(name).inserted
            add(name, Array(content[end...].dropFirst()))
        case 1:
            guard let place = content.first else { return false }
            var head = TarHeader(name: "name", fileBytes: 3).encoded()
            // The fields that are read stand in four places.
            let start = [0, 124, 148, 257][Int(place & 3)] + Int(place >> 2)
            for (offset, byte) in content.dropFirst().enumerated() where start + offset < head.count { head[start + offset] = byte }
            bytes += place & 3 == 2 ? head : head.summed
        case 2: bytes += TarHeader(name: BackupManifest.file, fileBytes: content.count).encoded() + content.padded
        case 3: finish()
        case 4: bytes += [UInt8](repeating: 0, count: content.count * 64)
        case 5: bytes += content
        default: return false
        }
        return true
    }

    mutating func add(_ name: String, _ content: [UInt8]) {
        bytes += archive.begin(name, byteCount: content.count)
        archive.add(content)
        bytes += content + archive.end()
    }

    mutating func finish() {
        bytes += archive.finish()
        isRight = isPlain
    }
}

extension [UInt8] {
    fileprivate var padded: [UInt8] { self + [UInt8](repeating: 0, count: TarHeader.padding(count)) }

    /// With the checksum of a head.
    fileprivate var summed: [UInt8] {
        var head = self
        let sum = enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element)) }
        let digits = String(sum, radix: 8)
        head.replaceSubrange(148..<156, with: Array((String(repeating: "0", count: 6 - digits.count) + digits).utf8) + [0, 32])
        return head
    }
}
