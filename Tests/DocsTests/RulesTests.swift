import Testing

@Suite struct RulesTests {
    /// Rules that no test names, each with the reason. One that gets a test leaves this list.
    static let withoutTest: [String: String] = [:]

    @Test("every rule of the protocol is named by a test")
    func covered() throws {
        let rules = try Document.protocol().rules
        let named = try TestTitles.rules().values.reduce(into: Set()) { $0.formUnion($1) }
        #expect(rules.count >= 90, "only \(rules.count) rules found: the document is not read rightly")
        let missing = rules.filter { !named.contains($0) }
        for id in missing { print("rule \(id) has no test: \(Self.withoutTest[id] ?? "no reason given")") }
        #expect(Self.withoutTest.keys.filter { named.contains($0) }.isEmpty, "these have a test now: take them from the list")
        #expect(missing.filter { Self.withoutTest[$0] == nil } == [])
    }

    @Test("tests and the list of exceptions name only rules that there are")
    func known() throws {
        let rules = Set(try Document.protocol().rules)
        for (file, named) in try TestTitles.rules() {
            #expect(named.subtracting(rules).sorted() == [], "\(file)")
        }
        #expect(Set(Self.withoutTest.keys).subtracting(rules).sorted() == [])
    }

    @Test("no rule id stands twice, and each group counts from 1 without a hole")
    func ids() throws {
        let rules = try Document.protocol().rules
        #expect(Set(rules).count == rules.count)
        for (group, ids) in Dictionary(grouping: rules, by: { $0.prefix(2) }) {
            #expect(ids.compactMap { Int($0.dropFirst(2)) } == Array(1...ids.count), "\(group)")
        }
    }

    @Test("references to rules lead to rules")
    func references() throws {
        let document = try Document.protocol()
        let rules = Set(document.rules)
        let groups = Set(rules.map { $0.prefix(2) })
        let named = document.text.matches(of: /\b([A-Z]{2})[0-9]+\b/).filter { groups.contains($0.output.1) }.map { String($0.output.0) }
        #expect(Set(named).subtracting(rules).sorted() == [])
    }

    @Test("titles are found however their ids are separated, and nothing else is")
    func titles() {
        let mark = "\""
        #expect(
            TestTitles.rules(in: "@Test(\(mark)[" + "FR1] a\(mark))  check(\(mark)[" + "DL4 DL6] b\(mark)) '[" + "JS5, FR2] c'") == [
                "FR1", "DL4", "DL6", "JS5", "FR2",
            ])
        #expect(TestTitles.rules(in: "// [FR9] in a comment, \(mark)[fr1] small\(mark), \(mark)x [FR1] later\(mark)") == [])
    }

    @Test("the document has no TODO")
    func finished() throws {
        for word in ["TODO", "FIXME", "TBD", "XXX"] {
            #expect(try !Document.protocol().text.contains(word), "\(word)")
        }
    }
}
