import Foundation
import RelayServer
import Testing

@Suite("backup and restore") struct BackupCommandTests {
    private static func withRelay(_ body: (_ folder: String, _ url: String, _ control: [String]) async throws -> Void) async throws {
        let folder = ServeTests.folder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let options = WhiteboardRelay.Options(
            port: 0, storage: .folder(folder + "/data"), access: .keys(), controlSocket: folder + "/c.sock")
        try await BoardrelayTests.withRelay(options) { relay in
            try await body(folder, "\(relay.address)#key=\(relay.keys!.host)", ["--control", folder + "/c.sock"])
        }
    }

    @Test("[SG4] what backup writes while the relay runs, restore makes a folder of, on which a relay starts; through a pipe as well")
    func whole() async throws {
        try await Self.withRelay { folder, url, control in
            for words in [["pub", "lesson", "ink", "--retain", "--record", "title"], ["meta", "set", "lesson", "k", "v"]] {
                #expect(try await Tool.run(words, url: url).code == 0)
            }
            let file = folder + "/b.tar", target = folder + "/new"
            let saved = try await Tool.run(["backup", "--to", file, "--json"] + control)
            #expect(saved.code == 0 && saved.errors.contains("files saved; the backup has"), "\(saved.errors)")
            let size = try FileManager.default.attributesOfItem(atPath: file)
            #expect(size[.posixPermissions] as? Int == 0o600)
            #expect(try saved.object()["bytes"] as? Int == size[.size] as? Int && saved.object()["file"] as? String == file)
            let restored = try await Tool.run("restore", file, "--data-dir", target, "--json")
            #expect(restored.code == 0 && restored.errors.contains("that boardrelay 0.1.0 saved on "), "\(restored.errors)")
            let told = try restored.object()
            #expect(try told["files"] as? Int == saved.object()["files"] as? Int && told["relay"] as? String == "0.1.0")
            let check = try await Tool.run("check", target)
            #expect(check.code == 0 && check.output.contains("A relay starts on \(target)."), "\(check.output)")
            let again = try await WhiteboardRelay.start(.init(port: 0, storage: .folder(target), access: .keys()))
            let there = "\(again.address)#key=\(again.keys!.host)"
            #expect(there.hasSuffix(url.suffix(26)))
            #expect(try await Tool.run("board", "ls", "--json", url: there).object()["records"] as? Int == 1)
            await again.stop()
            let piped = try await Tool.run("restore", "-", "--data-dir", folder + "/piped", input: Data(contentsOf: URL(filePath: file)))
            #expect(piped.code == 0)
            #expect(try await Tool.run(["backup", "--to", "-"] + control).output.hasPrefix("journal-0000000000000001.log"))
        }
    }

    @Test("nothing is left of a backup or a folder that did not become whole, and what is wrong is said")
    func refused() async throws {
        try await Self.withRelay { folder, _, control in
            let names = { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
            let before = try names()
            let nowhere = try await Tool.run(["backup", "--to", folder + "/none/b.tar"] + control)
            #expect(nowhere.code == 1 && nowhere.errors.contains("cannot be written: No such file or directory"))
            let unasked = try await Tool.run("backup", "--to", folder + "/b.tar", "--control", folder + "/d.sock")
            #expect(unasked.code == 1 && unasked.errors.contains("no relay answers"))
            for words in [["backup"], ["backup", "--to", "-", "--json"], ["restore", "x"], ["restore", "--data-dir", folder + "/new"]] {
                #expect(try await Tool.run(words + (words[0] == "backup" ? control : [])).code == 2)
            }
            #expect(try await Tool.run("backup", "--to", "x", "--url", "relay://192.0.2.1").code == 2)
            #expect(try await Tool.run("restore", folder + "/none.tar", "--data-dir", folder + "/new").code == 2)
            #expect(try names() == before)
            #expect(try await Tool.run(["backup", "--to", folder + "/b.tar"] + control).code == 0)
            var bytes = try Data(contentsOf: URL(filePath: folder + "/b.tar"))
            let cut = try await Tool.run("restore", "-", "--data-dir", folder + "/new", input: bytes.dropLast(600))
            #expect(cut.code == 1 && cut.errors.contains("the backup ends early, after \(bytes.count - 600) bytes"))
            bytes[520] ^= 1
            let changed = try await Tool.run("restore", "-", "--data-dir", folder + "/new", input: bytes)
            #expect(changed.code == 1 && changed.errors.contains("is not what was saved"))
            #expect(try await Tool.run("restore", folder + "/b.tar", "--data-dir", folder).errors.contains("is not empty"))
            #expect(try names() == (before + ["b.tar"]).sorted())
        }
    }

    @Test("Ctrl-C leaves nothing of what restore has begun")
    func interrupted() async throws {
        let folder = ServeTests.folder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        mkfifo(folder + "/pipe", 0o600)
        let restore = try Running(["restore", folder + "/pipe", "--data-dir", folder + "/new"])
        // Opening waits for the other end: then restore reads.
        let pipe = try FileHandle(forWritingTo: URL(filePath: folder + "/pipe"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["new.draft", "pipe"])
        restore.signal(SIGINT)
        #expect(await restore.end().code == 130)
        try pipe.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["pipe"])
    }
}
