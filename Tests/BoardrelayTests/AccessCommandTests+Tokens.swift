import Foundation
import RelayCore
import RelayIO
import RelayRights
import RelayServer
import RelayWire
import Testing

@testable import boardrelay
@testable import RelayConsole

/// `token`, and what is refused as a mistake.
extension AccessCommandTests {
    // MARK: - token

    @Test("what token create makes token check reads, and nothing else")
    func tokens() async throws {
        try await withFolder {
            let secret = try write(String(repeating: "k", count: 40), "secret"),
                other = try write(String(repeating: "o", count: 40), "other")
            let began = Date()
            let made = try await run(
                "token", "create", "--secret-file", secret, "--user", "ann", "--role", "reader", "--grant", "board-*=publish,stream",
                "--grant", "lesson=clear",
                "--expires-in", "2h", "--audience", "school")
            #expect(made.code == 0 && made.errors == "" && made.lines.count == 1 && made.output.split(separator: ".").count == 3)
            func check(_ words: String..., token: String = made.output) async throws -> Tool.Result {
                try await Tool.run(["token", "check"] + words, environment: surroundings, input: Data(token.utf8))
            }
            let text = try await check("--secret-file", secret, "--audience", "school", "--user", "ann")
            #expect(
                text.code == 0
                    && text.lines.prefix(4) == [
                        "user     ann", "role     reader", "grant    board-*: publish, stream", "grant    lesson: clear",
                    ], "\(text)")
            let object = try await check("--secret-file", "a=\(other)", "--secret-file", "b=\(secret)", "--audience", "school", "--json")
            #expect(object.code == 1 && object.errors.contains("no kid"), "\(object.errors)")
            let json = try await check("--secret-file", secret, "--audience", "school", "--json").object()
            #expect(json["user"] as? String == "ann" && json["role"] as? String == "reader")
            // 2 h, of which as much is over as this took; and the 5 s by which clocks may differ.
            let passed = Int(Date().timeIntervalSince(began)) + 2
            #expect((7_200 - passed...7_205).contains(json["expiresInSeconds"] as? Int ?? 0), "after \(passed) s")
            #expect(json["grants"] as? [String: [String]] == ["board-*": ["publish", "stream"], "lesson": ["clear"]])

            for (words, problem) in [
                (["--secret-file", other, "--audience", "school"], "the signature is not that of the relay's secret (tokenInvalid)"),
                (["--secret-file", secret], "claim aud names an audience, and this relay has none (tokenInvalid)"),
                (["--secret-file", secret, "--audience", "home"], "claim aud does not name this relay (tokenInvalid)"),
                (["--secret-file", secret, "--audience", "school", "--user", "bob"], "the token is for user ann, not bob"),
            ] {
                let result = try await Tool.run(["token", "check"] + words, input: Data(made.output.utf8))
                #expect(result.code == 1 && result.output == "" && result.errors.contains(problem), "\(words): \(result.errors)")
            }
        }
    }

    @Test("a secret of random bytes that end in that of a line end is taken whole; the line end of a text is not meant")
    func secrets() async throws {
        try await withFolder {
            try Data([UInt8](repeating: 200, count: 31) + [0x0A]).write(to: URL(filePath: path("random")))
            let made = try await run("token", "create", "--secret-file", path("random"), "--user", "ann", "--role", "editor")
            #expect(made.code == 0, "\(made.errors)")
            let plain = try write(String(repeating: "t", count: 32), "plain"),
                edited = try write(String(repeating: "t", count: 32) + "\n", "edited")
            let token = try await run("token", "create", "--secret-file", plain, "--user", "ann", "--role", "editor").output
            #expect(try await run("token", "check", "--secret-file", edited, input: token).code == 0)
            let short = try await run("token", "create", "--secret-file", write("short\n", "short"), "--user", "ann", "--role", "editor")
            #expect(short.code == 1 && short.errors.contains("\(path("short")): a token secret has 32…1024 bytes, this one has 5"))
        }
    }

    // MARK: - Mistakes

    /// `SECRET` is a file with a secret.
    @Test(
        "mistakes with keys and tokens end with 2 and say what is wrong",
        arguments: [
            (["key"], "ACTION is missing"),
            (["key", "draw"], "ACTION is one of show, rotate, code, not \"draw\""),
            (["key", "show", "guest"], "WHICH is one of join, host, not \"guest\""),
            (["key", "show", "join", "host"], "unexpected argument \"host\""),
            (["key", "show", "--end-sessions"], "option --end-sessions is for rotate"),
            (["key", "code", "--end-sessions"], "option --end-sessions is for rotate"),
            (["key", "code", "join"], "code takes no WHICH"),
            (["key", "code", "--board", "a/b"], "option --board takes no \""),
            (["key", "show", "--board", "lesson"], "option --board is for code"),
            (["key", "show", "--port", "1", "--control", "x"], "options --control and --port exclude each other"),
            (["token"], "ACTION is missing"),
            (["token", "make"], "ACTION is one of create, check, not \"make\""),
            (["token", "create", "--user", "ann", "--role", "editor"], "option --secret-file is missing"),
            (["token", "create", "--secret-file", "SECRET", "--role", "editor"], "option --user is missing"),
            (["token", "create", "--secret-file", "SECRET", "--user", "a/b", "--role", "editor"], "option --user takes no \""),
            (["token", "create", "--secret-file", "SECRET", "--user", "ann"], "--role or --grant is missing"),
            (
                ["token", "create", "--secret-file", "SECRET", "--user", "ann", "--role", "king"],
                "option --role wants one of reader, editor, coeditor, moderator, not \"king\""
            ),
            (["token", "create", "--secret-file", "SECRET", "--user", "ann", "--grant", "lesson"], "option --grant wants PATTERN=RIGHT"),
            (["token", "create", "--secret-file", "SECRET", "--user", "ann", "--grant", "lesson="], "option --grant names no right"),
            (
                ["token", "create", "--secret-file", "SECRET", "--user", "ann", "--grant", "lesson=fly"],
                "grants name a right that there is not"
            ),
            (
                ["token", "create", "--secret-file", "SECRET", "--user", "ann", "--grant", "a*b=publish"],
                "a pattern of grants is no channel's name"
            ),
            (["token", "create", "--secret-file", "SECRET", "--user", "ann", "--grant", "lesson=direct"], "under another pattern than *"),
            (
                ["token", "create", "--secret-file", "SECRET", "--user", "ann", "--role", "editor", "--expires-in", "1ms"],
                "option --expires-in is at least 1s"
            ),
            (
                ["token", "create", "--secret-file", "a=SECRET", "--secret-file", "b=SECRET", "--user", "ann", "--role", "editor"],
                "create signs with one secret: --secret-file stands 2 times"
            ),
            (["token", "check", "--secret-file", "SECRET"], "no token on standard input"),
            (["serve", "--auth", "token"], "--auth token wants what signs tokens: option --token-secret-file"),
            (["serve", "--auth", "open", "--token-secret-file", "SECRET"], "option --token-secret-file does not go with --auth open"),
            (["serve", "--auth", "token", "--token-secret-file", "SECRET", "--pupils", "view"], "option --pupils goes with --auth key"),
            (["serve", "--pupils", "dance"], "option --pupils wants one of draw, view, revise, not \"dance\""),
            (["serve", "--token-audience", "school"], "option --token-audience goes with --token-secret-file"),
            (["sub", "lesson", "--key", "k", "--token-file", "t"], "options --key and --token-file exclude each other"),
            (["sub", "lesson", "--key", "k", "--url", "ftp://x/#key=SECRETISH"], "not \"ftp://x/\""),
        ] as [([String], String)])
    func usage(words: [String], problem: String) async throws {
        try await withFolder {
            let secret = try write(String(repeating: "k", count: 32), "secret")
            let result = try await Tool.run(words.map { $0.replacing(/SECRET$/, with: secret) }, environment: surroundings)
            #expect(result.code == 2 && result.output == "" && result.errors.contains(problem), "\(result)")
        }
    }

    @Test("several secrets without ids are told, as a wrong setting of serve with exit code 2, else 1")
    func secretsWithoutIDs() async throws {
        try await withFolder {
            let secret = try write(String(repeating: "k", count: 32), "secret")
            for (words, code) in [
                (["serve", "--port", "0", "--token-secret-file", secret, "--token-secret-file", secret], 2),
                (["token", "check", "--secret-file", secret, "--secret-file", secret], 1),
            ] as [([String], Int32)] {
                let result = try await Tool.run(words, environment: surroundings)
                #expect(result.code == code && result.errors.contains("of several token secrets each has an id"), "\(result.errors)")
            }
        }
    }
}
