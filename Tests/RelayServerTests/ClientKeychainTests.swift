import Foundation
import RelayClient
import RelayClientCore
import RelayIO
import RelayWire
import Testing

/// Which item of the Keychain a secret is, and what becomes of each answer. Apple's own is only type-checked.
@Suite struct ClientKeychainTests {
    /// Keeps items as Apple's does; answers that are set come first.
    private final class Items: Keychain {
        let items = Mutex<[String: [UInt8]]>([:])
        let answers = Mutex<[KeychainAnswer]>([])

        init(_ items: [String: String] = [:], answers: [KeychainAnswer] = []) {
            self.items.withLock { $0 = items.mapValues { Array($0.utf8) } }
            self.answers.withLock { $0 = answers }
        }

        subscript(name: String) -> String? { items.withLock { $0[name] }.map { String(decoding: $0, as: UTF8.self) } }
        var names: [String] { items.withLock { $0.keys.sorted() } }

        private func answer() -> KeychainAnswer? { answers.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        func read(_ name: String) -> KeychainAnswer { answer() ?? items.withLock { $0[name].map { .done($0) } ?? .isNot } }
        func add(_ name: String, _ content: [UInt8]) -> KeychainAnswer {
            answer() ?? items.withLock { items in
                guard items[name] == nil else { return .isThere }
                items[name] = content
                return .done()
            }
        }
        func update(_ name: String, _ content: [UInt8]) -> KeychainAnswer {
            answer() ?? items.withLock { items in
                guard items[name] != nil else { return .isNot }
                items[name] = content
                return .done()
            }
        }
    }

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("boardrelay-keychain-\(UUID().uuidString)").path
    /// No file of this account is for such a relay.
    private let relay = RelayAddress(host: "\(UUID().uuidString).local")
    private let own = String(repeating: "0a", count: 16), other = String(repeating: "1b", count: 16)

    private func digits(_ items: Items) -> KeptDigits {
        KeptDigits(name: "relay/1/ann", folder: folder, count: 32, what: "a client secret", keychain: items)
    }

    @Test("a user has one item for each relay and one for its device; the relay's id takes over from its address, and is never replaced")
    func names() throws {
        let items = Items(), ann = try Name("ann"), address = "\(relay.host.lowercased())/7420"
        func secret(_ user: Name, _ id: String? = nil, at place: RelayAddress? = nil) throws -> String {
            try ClientSecret.kept().digits(for: user, at: place ?? relay, relayID: id, keychain: items)
        }
        let first = try secret(ann)
        #expect(try secret(ann) == first && first.utf8.count == 32)
        #expect(items["\(address)/ann"] == first)
        #expect(try secret(Name("Ann")) != first)
        #expect(try secret(ann, "0a1b") == first, "what was kept for the address goes on")
        #expect(try secret(ann, "0a1b", at: RelayAddress(host: "elsewhere.local")) == first)
        try ClientSecret.kept().keep(other, for: ann, at: relay, relayID: "0a1b", replaces: false, keychain: items)
        #expect(items["relay/0a1b/ann"] == first)
        try ClientSecret.kept().keep(other, for: ann, at: relay, relayID: "0a1b", replaces: true, keychain: items)
        #expect(items["relay/0a1b/ann"] == other)

        let device = try ClientDevice.kept.digits(for: ann, at: relay, relayID: nil, beside: .kept(), keychain: items)
        #expect(items["\(address)/ann_device"] == device && device.utf8.count == 16)
        #expect(try ClientDevice.kept.digits(for: ann, at: relay, relayID: nil, beside: .digits(own), keychain: items) == device)
        #expect(items.names == ["\(address)/%41nn", "\(address)/ann", "\(address)/ann_device", "relay/0a1b/ann"])

        let inFolder = ClientSecret.kept(folder: URL(fileURLWithPath: folder))
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try inFolder.digits(for: ann, at: relay, keychain: items) != first, "a folder means files")
        #expect(items.names.count == 4)
    }

    @Test("an installation has one user id, in the Keychain or in the app's folder; it is a name that a relay takes")
    func installation() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let items = Items(), own = URL(fileURLWithPath: folder)
        let user = try ClientSecret.user(folder: own, keychain: items).readOrDraw()
        #expect(try WhiteboardClient.keptUserID(folder: own) == user && items.names.isEmpty)
        #expect(try Name(user).text.utf8.count == 32)
        let signed = try ClientSecret.user(folder: nil, keychain: Items(["_user": other])).readOrDraw()
        #expect(signed == other)
    }

    @Test("an item that another process makes at the same moment counts; one that is there and cannot be read is told")
    func race() throws {
        #expect(try digits(Items(["relay/1/ann": own], answers: [.isNot])).readOrDraw() == own)
        let hidden = #expect(throws: RelayError.self) { try digits(Items(answers: [.isNot, .isThere, .isNot, .isThere])).readOrDraw() }
        #expect(hidden?.code == .secretNotKept && hidden?.text.contains("relay/1/ann") == true)
        let items = Items(["relay/1/ann": own], answers: [.isNot])
        try digits(items).keep(other, replaces: true)
        #expect(items["relay/1/ann"] == other)
    }

    @Test("an item that holds something else is told, and stands; each other failure has the system's number")
    func failures() throws {
        let items = Items(["relay/1/ann": "not a secret"])
        let damaged = #expect(throws: RelayError.self) { try digits(items).readOrDraw() }
        #expect(damaged?.code == .secretNotKept && damaged?.text.contains("relay/1/ann") == true)
        #expect(items["relay/1/ann"] == "not a secret")
        for answers: [KeychainAnswer] in [[.failed(-25308)], [.isNot, .failed(-25308)]] {
            let locked = #expect(throws: RelayError.self) { try digits(Items(answers: answers)).readOrDraw() }
            #expect(locked?.code == .secretNotKept && locked?.text.contains("OSStatus -25308") == true)
            #expect(throws: RelayError.self) { try digits(Items(answers: answers)).keep(own, replaces: true) }
        }
        #expect(!FileManager.default.fileExists(atPath: folder), "no failure writes a file")
    }

    @Test("a program that has no part in the Keychain has a file; when it gets one, the Keychain has what the file has")
    func entitlement() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try digits(Items(answers: [.notEntitled])).readOrDraw()
        #expect(try digits(Items(answers: [.notEntitled])).readOrDraw() == first)
        #expect(try digits(Items(answers: [.isNot, .notEntitled])).readOrDraw() == first)
        try digits(Items(answers: [.notEntitled])).keep(own, replaces: true)
        let file = URL(fileURLWithPath: "\(folder)/relay/1/ann")
        #expect(try String(contentsOf: file, encoding: .utf8) == own + "\n")
        let signed = Items()
        #expect(try digits(signed).readOrDraw { other } == own)
        #expect(signed["relay/1/ann"] == own)
    }
}
