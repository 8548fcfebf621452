import RelayRights
import RelayWire
import Testing

@Suite("roles and rights") struct RightsTests {
    @Test("a role has its rights and all of the role before it")
    func roles() {
        #expect(Role.reader.rights.words == ["subscribe", "presence"])
        #expect(Role.editor.rights.words == ["subscribe", "presence", "publish", "stream", "metadata", "lock", "direct"])
        #expect(Role.moderator.rights == .all && Role.coeditor.rights.union(.clear) == .all)
        #expect(Role.coeditor.rights == Role.editor.rights.union(.revise))
        #expect(Role.editor.rights.isSuperset(of: Role.reader.rights))
    }

    @Test("each right has one word and one bit of its own, and no other word is a right")
    func words() {
        #expect(Rights.words.count == 9 && Set(Rights.words.map(\.word)).count == 9)
        #expect(Rights.all.rawValue.nonzeroBitCount == 9)
        for (word, right) in Rights.words {
            #expect(right.rawValue.nonzeroBitCount == 1 && Rights(word: word) == right && right.words == [word])
        }
        for word in ["", "all", "Subscribe", "subscribe ", "publish\u{0}", "*"] { #expect(Rights(word: word) == nil, "\(word)") }
        for word in ["", "owner", "Reader", "editor "] { #expect(Role(word: word) == nil, "\(word)") }
        #expect(Role.allCases.allSatisfy { Role(word: $0.rawValue) == $0 })
    }

    @Test("rights on a channel are those of the role and of every pattern that matches; everywhere counts only *")
    func access() throws {
        let grants = try Grants(words: ["board-*": ["publish"], "board-7": ["lock", "clear"], "*": ["direct"], "hall": ["metadata"]])
        let access = Access(role: .reader, grants: grants)
        let rows: [(String, Rights)] = [
            ("board-7", [.publish, .lock, .clear]), ("board-", [.publish]), ("board-70", [.publish]), ("hall", [.metadata]), ("hal", []),
            ("hall2", []), ("Board-7", []),
        ]
        for (name, rights) in rows {
            #expect(access.rights(on: try Name(name)) == rights.union([.subscribe, .presence, .direct]), "\(name)")
            #expect(grants.rights(on: try Name(name)) == rights.union(.direct), "\(name)")
        }
        #expect(access.everywhere == [.subscribe, .presence, .direct] && grants.everywhere == .direct)
        #expect(Access(role: nil, grants: grants).everywhere == .direct && Access(role: nil).everywhere == [])
        #expect(try Access(role: nil).rights(on: Name("hall")) == [])
    }

    @Test("only the role makes a moderator, not even every right everywhere does")
    func moderators() throws {
        let every = try Grants(words: ["*": Rights.all.words])
        #expect(
            every.everywhere == .all && !Access(role: .editor, grants: every).isModerator && !Access(role: nil, grants: every).isModerator)
        #expect(Access(role: .moderator).isModerator)
    }

    @Test("64 patterns pass, one more is refused with both numbers; none stands twice; direct stands under * only")
    func grants() throws {
        func many(_ count: Int) -> [String: [String]] { Dictionary(uniqueKeysWithValues: (0..<count).map { ("b\($0)", ["lock"]) }) }
        #expect(try Grants(words: many(64)).entries.count == 64)
        #expect(refusal { () throws(WireError) in _ = try Grants(words: many(65)) } == Refusal(.limitReached, limit: 64, actual: 65))
        let entry = Grants.Entry(try ChannelPattern("a*"), .lock)
        #expect(refusal { () throws(WireError) in _ = try Grants([entry, entry]) } == Refusal(.badRequest))
        for pattern in ["a", "a*"] {
            #expect(
                refusal { () throws(WireError) in _ = try Grants(words: [pattern: ["lock", "direct"]]) } == Refusal(.badRequest),
                "\(pattern)")
        }
        #expect(refusal { () throws(WireError) in _ = try Grants(words: ["a": ["all"]]) } == Refusal(.badRequest))
        #expect(refusal { () throws(WireError) in _ = try Grants(words: ["a**": ["lock"]]) } == Refusal(.badName))
    }

    @Test("grants are the same in whatever order they are named, and come back as words")
    func order() throws {
        let words = ["b": ["lock"], "a*": ["stream", "publish"], "*": ["direct"], "a": []]
        let grants = try Grants(words: words)
        #expect(grants.entries.map(\.pattern.description) == ["*", "a", "a*", "b"])
        #expect(try Grants(grants.entries.reversed()) == grants)
        #expect(grants.words == ["b": ["lock"], "a*": ["publish", "stream"], "*": ["direct"], "a": []])
    }

    /// `nil` if there is none.
    private func refusal(_ work: () throws(WireError) -> Void) -> Refusal? {
        do throws(WireError) {
            try work()
            return nil
        } catch {
            return Refusal(error.code, limit: error.limit, actual: error.actual)
        }
    }

    private struct Refusal: Equatable {
        var code: ErrorCode
        var limit: UInt64?
        var actual: UInt64?

        init(_ code: ErrorCode, limit: UInt64? = nil, actual: UInt64? = nil) {
            self.code = code
            self.limit = limit
            self.actual = actual
        }
    }
}
