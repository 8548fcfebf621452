import Foundation
import RelayPrimitives
@testable import RelayServer
import RelaySystem
import Testing

@Suite struct BackupArchiveTests {
    private static let files: [(name: String, bytes: [UInt8])] = [
        ("journal-0000000000000001.log", [UInt8](repeating: 7, count: 700)), ("empty", []),
        ("board-1.log", [UInt8](repeating: 1, count: 512)),
    ]

    private static func archive(_ files: [(name: String, bytes: [UInt8])] = files) -> [UInt8] {
        var archive = BackupArchive(relay: "0.1.0", made: "Sun, 06 Nov 1994 08:49:37 GMT", seconds: 784_111_777)
        var bytes: [UInt8] = []
        for file in files {
            bytes += archive.begin(file.name, byteCount: file.bytes.count) + file.bytes
            archive.add(file.bytes)
            bytes += archive.end()
        }
        return bytes + archive.finish()
    }

    @discardableResult
    private static func read(_ bytes: [UInt8], piece: Int = .max) throws(RelayServerError) -> (files: [String: [UInt8]], BackupManifest) {
        var reader = BackupReader(relay: "0.1.0"), files: [String: [UInt8]] = [:], name = ""
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = min(piece, rest.count)
            try reader.read(Array(rest.prefix(count))) { (part) throws(RelayServerError) in
                switch part {
                case .begin(let file):
                    name = file
                    files[file] = []
                case .bytes(let bytes): files[name]! += bytes
                case .end: break
                }
            }
            rest = rest.dropFirst(count)
        }
        return (files, try reader.finish())
    }

    private static func refusal(_ bytes: [UInt8]) -> String {
        do throws(RelayServerError) {
            try read(bytes)
            return "no refusal"
        } catch { return error.text }
    }

    @Test("a backup is read as it was written, however its bytes come", arguments: [1, 511, 512, 513, .max])
    func pieces(piece: Int) throws {
        let (files, manifest) = try Self.read(Self.archive(), piece: piece)
        #expect(files == Dictionary(uniqueKeysWithValues: Self.files.map { ($0.name, $0.bytes) }))
        #expect(manifest.files.map(\.bytes) == [700, 0, 512] && manifest.head.relay == "0.1.0" && manifest.head.version == 1)
    }

    @Test("one that ends early anywhere, or in which any byte of a file or head is another, is refused")
    func damaged() throws {
        let archive = Self.archive(), manifest = try Self.read(archive).1
        for count in stride(from: 0, to: archive.count, by: 61) {
            #expect(Self.refusal(Array(archive.prefix(count))).contains("ends early, after \(count) bytes"))
        }
        for index in stride(from: 0, to: archive.count, by: 5) {
            var bytes = archive
            bytes[index] ^= 1
            // Only words for people may be others: nothing sums them.
            guard let found = try? Self.read(bytes).1 else { continue }
            #expect(found.files == manifest.files && found.head != manifest.head, "byte \(index)")
        }
        #expect(Self.refusal(archive + [1]).contains("byte \(archive.count) should be 0"))
        var bytes = archive
        bytes[600] ^= 1
        #expect(Self.refusal(bytes).contains("journal-0000000000000001.log is not what was saved: its SHA-256 is"))
        let first = 512 + 1024
        #expect(Self.refusal(Array(archive[first...])).contains("the backup has empty with 0 bytes where journal-"))
        #expect(Self.refusal([UInt8](repeating: 65, count: 600)) == "this is no backup: no file begins at 0")
        #expect(Self.refusal(Array(archive.prefix(first)) + [UInt8](repeating: 0, count: 1024)).contains("has no manifest.json"))
    }

    @Test(
        "no file leaves the folder, or is one of a process",
        arguments: ["../x", "/etc/passwd", "a/b", "a\\b", ".", "..", ".x", "", "lock", "control.sock", "a b", "a\u{1B}", "ä"])
    func names(name: String) {
        #expect(Self.refusal(Self.archive([(name, [1])])).contains("this is no backup"))
    }

    @Test("no file is there twice, and none is anything but a plain file")
    func kinds() {
        #expect(Self.refusal(Self.archive([("a", [1]), ("a", [1])])) == "this is no backup: it has a file \"a\"")
        for kind in "1235gx".utf8 {
            var bytes = Self.archive()
            // With the digit of the checksum that it changes.
            let sum = Int(String(decoding: bytes[148..<154], as: UTF8.self), radix: 8)! - Int(bytes[156]) + Int(kind)
            let digits = String(sum, radix: 8)
            bytes.replaceSubrange(148..<154, with: Array((String(repeating: "0", count: 6 - digits.count) + digits).utf8))
            #expect(TarHeader.read(Array(bytes[..<512])) == nil)
            bytes[156] = kind
            #expect(Self.refusal(bytes) == "this is no backup: no file begins at 0")
        }
    }

    @Test("one of a newer version is refused with both versions, whatever else it has")
    func newer() {
        let text = Array(#"{"boardrelayBackup":{"made":"later","relay":"3.0.0","version":2},"other":[]}"#.utf8)
        let head = TarHeader(name: "manifest.json", fileBytes: text.count).encoded()
        let zeros = [UInt8](repeating: 0, count: TarHeader.padding(text.count) + 1024)
        #expect(
            Self.refusal(head + text + zeros) == "the backup has format version 2, of boardrelay 3.0.0; boardrelay 0.1.0 knows versions "
                + "up to 1: restore it with boardrelay 3.0.0 or a newer one")
    }

    @Test("a head holds the longest file that its digits can tell")
    func longest() throws {
        let header = TarHeader(name: String(repeating: "n", count: 100), fileBytes: TarHeader.fileBytesMax, seconds: 5)
        #expect(TarHeader.fileBytesMax == 8 << 30 - 1 && TarHeader.read(header.encoded()) == header)
    }

    @Test("Python's tarfile reads what is written here, and what it writes is read here")
    func peer() async throws {
        try await withTemporaryPath { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try Data(Self.archive()).write(to: URL(filePath: path + "/ours.tar"))
            let script = """
                import hashlib, json, sys, tarfile
                with tarfile.open(sys.argv[1] + "/ours.tar", "r:") as ours, tarfile.open(sys.argv[1] + "/theirs.tar", "w", format=tarfile.USTAR_FORMAT) as theirs:
                    members = ours.getmembers()
                    manifest = json.load(ours.extractfile(members[-1]))
                    assert [m.name for m in members] == [f["name"] for f in manifest["files"]] + ["manifest.json"], members
                    for member, file in zip(members, manifest["files"]):
                        content = ours.extractfile(member).read()
                        assert (member.size, hashlib.sha256(content).hexdigest()) == (file["bytes"], file["sha256"]), file
                        assert member.isreg() and member.mode == 0o600 and member.mtime == 784111777, member
                    for member in members:
                        theirs.addfile(member, ours.extractfile(member))
                """
            let python = try ChildProcess("/usr/bin/env", ["python3", "-B", "-c", script, path])
            #expect(await python.waitUntilEnd() == .exited(0))
            let theirs = try [UInt8](Data(contentsOf: URL(filePath: path + "/theirs.tar")))
            #expect(theirs != Self.archive())
            #expect(try Self.read(theirs).files == Self.read(Self.archive()).files)
        }
    }
}
