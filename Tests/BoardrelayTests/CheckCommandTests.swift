import Foundation
import RelayServer
import Testing

@testable import RelayConsole
@testable import boardrelay

@Suite("check and repair")
struct CheckCommandTests {
    /// A folder in which a relay with keys has stored a board and an item, and has ended.
    private static func stored(_ body: (_ folder: String, _ keys: AccessKeys, _ start: Int) async throws -> Void) async throws {
        let folder = ServeTests.folder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let data = folder + "/data"
        let server = try await WhiteboardRelay.start(.init(port: 0, storage: .folder(data), access: .keys()))
        let keys = try #require(server.keys), url = "\(server.address)"
        for words in [["pub", "lesson", "ink", "--retain", "--record", "title"], ["meta", "set", "lesson", "k", "v"]] {
            #expect(try await Tool.run(words + ["--key", keys.host], url: url).code == 0)
        }
        let running = try await Tool.run("check", data)
        #expect(running.code == 1 && running.output.isEmpty)
        #expect(running.errors.contains("is in use by pid \(getpid()): end that relay first"))
        await server.stop()
        let whole = try await Tool.run("check", "--json", data)
        let start = try #require(try whole.objects().last?["start"] as? Int)
        try await body(data, keys, start)
    }

    private static func files(_ folder: String) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: folder + "/" + $0))) })
    }

    @Test("[SG4] check says what is in a folder and that nothing is wrong with it, and changes nothing")
    func whole() async throws {
        try await Self.stored { folder, _, start in
            let before = try Self.files(folder)
            let text = try await Tool.run("check", folder), json = try await Tool.run("check", folder, "--json")
            #expect(try Self.files(folder) == before)
            #expect(text.code == 0 && json.code == 0 && text.errors.isEmpty && json.errors.isEmpty)
            #expect(text.output.contains("A relay starts on \(folder).") && text.output.contains("lesson, 2 whole changes"))
            let objects = try json.objects()
            #expect(objects.compactMap { $0["type"] as? String } == ["segment", "anchor", "board", "key", "key", "folder"])
            #expect(objects.dropLast().allSatisfy { $0["state"] as? String == "whole" })
            #expect(objects.last?["starts"] as? Bool == true && objects.last?["isWrong"] as? Bool == false && start > 0)
        }
    }

    @Test("[SG4] repair saves a board without its journal, and the keys; its relay goes on with a higher start number")
    func boardAlone() async throws {
        try await Self.stored { folder, keys, start in
            for file in try Self.files(folder).keys where file.hasPrefix("journal-") {
                try FileManager.default.removeItem(atPath: folder + "/" + file)
            }
            let before = try Self.files(folder), target = folder + "-saved"
            let check = try await Tool.run("check", folder)
            #expect(check.code == 1 && check.output.contains("A relay does not start on \(folder): journal-0000000000000001.log"))
            #expect(check.errors.contains("'boardrelay repair \(folder) --to NEWFOLDER'"))
            await #expect(throws: RelayServerError.self) { try await WhiteboardRelay.start(.init(port: 0, storage: .folder(folder))) }
            let repair = try await Tool.run("repair", folder, "--to", target + "/", "--json")
            #expect(repair.code == 0 && repair.errors.isEmpty)
            #expect(try Self.files(folder) == before)
            let last = try #require(try repair.objects().last)
            #expect(last["type"] as? String == "repaired" && last["boards"] as? Int == 1 && last["keys"] as? [String] == ["join", "host"])
            #expect(last["start"] as? Int == start)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/..").sorted() == ["data", "data-saved"])
            let server = try await WhiteboardRelay.start(.init(port: 0, storage: .folder(target), access: .keys()))
            #expect(server.keys == keys)
            let words = ["sub", "lesson", "--since", "beginning", "--until-now", "--json", "--key", keys.join]
            #expect(try await Tool.run(words, url: "\(server.address)").output.contains("\"text\":\"ink\""))
            await server.stop()
            let again = try await Tool.run("check", target, "--json")
            #expect(try again.code == 0 && (again.objects().last?["start"] as? Int ?? 0) > start)
        }
    }

    @Test("[SG4] what is damaged is told, and left out of what is saved")
    func damaged() async throws {
        try await Self.stored { folder, _, _ in
            let board = try #require(try Self.files(folder).keys.first { $0.hasPrefix("board-") }), path = folder + "/" + board
            var bytes = try Data(contentsOf: URL(filePath: path))
            bytes[bytes.count - 1] ^= 1
            try bytes.write(to: URL(filePath: path))
            try Data("short".utf8).write(to: URL(filePath: folder + "/join.key"))
            let check = try await Tool.run("check", folder, "--json")
            #expect(check.code == 1)
            let damaged = try check.objects().filter { $0["state"] as? String == "damaged" }
            #expect(damaged.compactMap { $0["file"] as? String } == [board, "join.key"])
            let damage = try #require(damaged.first?["damage"] as? [[String: Int]])
            #expect(damage.count == 1 && damage[0]["offset"]! + damage[0]["bytes"]! == bytes.count)
            let text = try await Tool.run("check", folder)
            #expect(text.output.contains("A relay starts on \(folder), without what is damaged or missing."))
            let repair = try await Tool.run("repair", folder, "--to", folder + "-saved")
            #expect(repair.code == 0 && repair.output.contains("saved lesson: 0 records") && repair.output.contains("and the host key."))
        }
    }

    @Test("repair writes into nothing that is there, nor into the folder itself, and says when nothing can be saved")
    func refused() async throws {
        try await Self.stored { folder, _, _ in
            func refusal(_ source: String, _ target: String) async throws -> String {
                let result = try await Tool.run("repair", source, "--to", target)
                #expect(result.code == 1)
                return result.errors
            }
            let above = folder + "/.."
            #expect(try await refusal(folder, folder).contains("is not empty"))
            #expect(try await refusal(folder, folder + "/new").contains("is in \(folder)"))
            try Data().write(to: URL(filePath: above + "/file"))
            #expect(try await refusal(folder, above + "/file").contains("is no folder"))
            try FileManager.default.createDirectory(atPath: above + "/empty", withIntermediateDirectories: false)
            #expect(try await refusal(above + "/empty", above + "/new").contains("nothing can be saved"))
            #expect(try await Tool.run("repair", folder, "--to", above + "/empty").code == 0)
            try FileManager.default.createDirectory(atPath: above + "/half.draft", withIntermediateDirectories: false)
            try Data().write(to: URL(filePath: above + "/half.draft/journal-0000000000000001.log"))
            #expect(try await refusal(folder, above + "/half").contains("half.draft is what a repair has left"))
            #expect(try await Tool.run("check", above + "/file").code == 2)
            #expect(try await Tool.run("check", above + "/none").code == 2)
            #expect(try await Tool.run("repair", folder).code == 2)
            #expect(try await Tool.run("check").code == 2)
        }
    }
}
