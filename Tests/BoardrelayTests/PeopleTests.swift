import Foundation
import RelayClient
import RelayServer
import RelaySystem
import Testing

@testable import boardrelay
@testable import RelayConsole

/// A teacher copies a command: it does what was meant, or says that it does not.
@Suite("commands that are given a name, or a channel that nobody is in")
struct PeopleTests {
    private func person(_ user: String, _ names: String...) -> People.Person {
        .init(user: user, names: names, hereFor: .seconds(754))
    }

    @Test("an id comes before a name; one who has the name is meant, of two nobody; who is like it is told")
    func addressees() {
        let people = [
            person("k3v9", "Anna"), person("q7f2", "Ben", "Benjamin"), person("r1", "Anna Lena"), person("zora"), person("é", "ben"),
        ]
        func found(_ word: String, known: Bool = false) -> Addressee { Addressee(word, isKnownID: known, among: people) }
        #expect(found("k3v9", known: true) == .id && found("zora", known: true) == .id)
        // Somebody came in under an id that is what somebody else is called.
        #expect(found("anna", known: true) == .contested([people[0]]) && found("ben", known: true) == .contested([people[1], people[4]]))
        #expect(found("Anna") == .person(people[0]) && found("anna") == .person(people[0]))
        #expect(found("benjamin") == .person(people[1]))
        #expect(found("ben") == .several([people[1], people[4]]))
        #expect(found("annna") == .nobody(similar: [people[0]]))
        #expect(found("lena") == .nobody(similar: [people[2]]))
        #expect(found("k3v8") == .nobody(similar: [people[0]]))
        #expect(found("sora") == .nobody(similar: [people[3]]))
        #expect(found("x") == .nobody(similar: []))
        let pupils = (0..<50).map { person("pupil\($0)") }
        #expect(Addressee("pupil", isKnownID: false, among: pupils) == .nobody(similar: Array(pupils.prefix(10))))
    }

    /// An open relay, on which people draw as they do by the page: with a name of their own.
    private func withClass(
        _ people: [(user: String, name: String, board: String)], _ body: (_ url: String) async throws -> Void
    ) async throws {
        let relay = try await WhiteboardRelay.start(.init(port: 0))
        var clients: [WhiteboardClient] = []
        do {
            for person in people {
                let client = try await WhiteboardClient.connect(to: relay.address, as: person.user)
                clients.append(client)
                try await client.presence(of: .message(person.board)).set(["name": person.name])
                try await client.subscribe(person.board)
                _ = try await client.join(person.board)
            }
            try await body("\(relay.address)")
        } catch {
            for client in clients { await client.close() }
            await relay.stop()
            throw error
        }
        for client in clients { await client.close() }
        await relay.stop()
    }

    private let pupils = [(user: "k3v9", name: "Anna\u{1B}[2J", board: "board"), ("q7f2", "Ben", "board"), ("r1", "Ben", "green-dove-149")]

    @Test("[AC11] freezing a channel that nobody is in says so, with the channels that people are in")
    func freeze() async throws {
        try await withClass(pupils) { url in
            let empty = try await Tool.run("channel", "freeze", "lesson", url: url)
            #expect(empty.code == 0 && empty.output == "")
            #expect(
                empty.errors == """
                    \(url): lesson is frozen.
                    Nobody is in lesson. People are in:
                      CHANNEL         PEOPLE
                      board                2
                      green-dove-149       1

                    """, "\(empty.errors)")
            let json = try await Tool.run("channel", "freeze", "lesson", "--json", url: url)
            #expect(
                json.output == #"{"type":"freeze","channel":"lesson","relay":"\#(url)","people":0,"#
                    + #""channelsInUse":[{"channel":"board","people":2},{"channel":"green-dove-149","people":1}]}"# + "\n")
            #expect(try await Tool.run("channel", "freeze", "board", url: url).errors == "\(url): board is frozen.\n")
            #expect(try await Tool.run("channel", "freeze", "board", "--json", url: url).object()["people"] as? Int == 2)
        }
        try await withClass([]) { url in
            let empty = try await Tool.run("channel", "freeze", "lesson", url: url)
            #expect(empty.errors == "\(url): lesson is frozen.\nNobody is in lesson, nor in any other channel.\n")
        }
    }

    @Test(
        "[AC13] where no terminal can ask, a name is refused with the id that it stands for, and nothing is done to anybody",
        arguments: ["ban", "end", "forget", "role"])
    func named(action: String) async throws {
        try await withClass(pupils) { url in
            func run(_ word: String) async throws -> Tool.Result {
                try await Tool.run(["user", action, word] + (action == "role" ? ["reader"] : []), url: url)
            }
            // As it is shown, so that it can be copied, and so that no terminal obeys it.
            let one = try await run("anna\u{1B}[2J")
            #expect(one.code == 2 && one.output == "" && one.errors.contains("Anna\\u{1B}[2J"), "\(one.errors)")
            for words in ["  k3v9", "HERE SINCE", "give the id, k3v9"] { #expect(one.errors.contains(words), "\(one.errors)") }
            #expect(!one.errors.contains("\u{1B}"))
            let two = try await run("Ben")
            #expect(two.code == 2)
            for words in ["2 people here have that name", "  q7f2", "  r1", "board\n", "green-dove-149\n"] {
                #expect(two.errors.contains(words), "\(two.errors)")
            }
            let none = try await run("Zoë")
            #expect(none.errors.contains("no names of people who have left"), "\(none.errors)")
            #expect(none.code == 1 && none.errors.contains(#""Zoë" is no user's id or name"#), "\(none.errors)")
            #expect(try await Tool.run("user", "bans", url: url).errors == "Nobody is banned.\n")
            #expect(try await Tool.run("status", "--url", url, "--json").output.contains(#""user":"q7f2""#), "nobody's session has ended")
        }
    }

    @Test("[AC13] an id that the relay does not know is told, with the ids of those whose name is like it; it is banned all the same")
    func unknown() async throws {
        try await withClass(pupils) { url in
            let banned = try await Tool.run("user", "ban", "anna", url: url)
            #expect(banned.code == 0 && banned.errors.contains(#"knows no user with the id "anna""#), "\(banned.errors)")
            #expect(banned.errors.contains("  k3v9  Anna\\u{1B}[2J  20"), "\(banned.errors)")
            #expect(banned.errors.hasSuffix("\(url): anna is banned, until 'boardrelay user unban anna'.\n"), "\(banned.errors)")
            let forgotten = try await Tool.run("user", "forget", "zed", url: url)
            #expect(forgotten.code == 0 && forgotten.errors.contains(": nothing, none was there. Stays: "), "\(forgotten.errors)")
            let json = try await Tool.run("user", "role", "bob", "reader", "--json", url: url)
            #expect(json.output == #"{"type":"role","user":"bob","known":false,"relay":"\#(url)","role":"reader"}"# + "\n")
            let known = try await Tool.run("user", "role", "q7f2", "reader", url: url)
            #expect(known.code == 0 && known.errors == "\(url): q7f2 is a reader.\n")
        }
    }

    /// - Parameter typed: waits at the keyboard until it is read.
    private func atTerminal(_ words: [String], url: String, typed: String) async throws -> (code: Int32, screen: String) {
        let environment = ["BOARDRELAY_URL": url, "BOARDRELAY_KEY": "", "BOARDRELAY_TOKEN": ""]
        let terminal = try PseudoTerminal(words, environment: environment)
        terminal.press(typed)
        let (end, text) = await terminal.end()
        guard case .exited(let code) = end else { throw PseudoTerminal.Failed(errno: EINTR) }
        // On a slow machine a line passes that says what is waited for.
        return (code, text.replacing("\r\n", with: "\n").replacing(/[^\r\n]*\r\x1B\[K/, with: ""))
    }

    @Test("[AC13] a terminal shows name, id and since when, and asks: yes does it to the id, anything else does nothing")
    func asked() async throws {
        try await withClass([(user: "k3v9", name: "Anna", board: "board")]) { url in
            let no = try await atTerminal(["user", "ban", "anna"], url: url, typed: "\n")
            #expect(no.code == 1 && no.screen.contains("Ban k3v9? [y/N]") && no.screen.contains("nothing was done"), "\(no.screen)")
            #expect(no.screen.firstMatch(of: /k3v9  Anna  20[0-9-]{8} [0-9:]{5} [+-][0-9:]{5} \([0-9]+:[0-9]{2}\)/) != nil, "\(no.screen)")
            #expect(try await Tool.run("user", "bans", url: url).errors == "Nobody is banned.\n")
            let yes = try await atTerminal(["user", "ban", "anna"], url: url, typed: "y\n")
            #expect(yes.code == 0 && yes.screen.contains("\(url): k3v9 is banned"), "\(yes.screen)")
            #expect(try await Tool.run("user", "bans", "--json", url: url).object()["user"] as? String == "k3v9")
            let unseen = try await atTerminal(["user", "ban", "bob"], url: url, typed: "n\n")
            #expect(unseen.code == 1 && unseen.screen.contains("Ban bob? [y/N]"), "\(unseen.screen)")
            #expect(try await Tool.run("user", "bans", "--json", url: url).lines.count == 1)
        }
    }

    @Test("on a terminal pub says what went where")
    func pub() async throws {
        try await withClass([]) { url in
            let sent = try await atTerminal(["pub", "lesson", "hello"], url: url, typed: "")
            #expect(sent.code == 0 && sent.screen == "\(url): 5 B sent to lesson.\n", "\(sent.screen)")
            let missing = try await atTerminal(["pub", "lesson"], url: url, typed: "")
            #expect(missing.code == 2 && missing.screen.contains("what to send is missing: TEXT"), "\(missing.screen)")
        }
    }
}
