import RelayCore
import RelayWire
import Testing

@Suite struct TablesTests {
    @Test("the table of frame types is that of the code: value, name, who sends it")
    func frameTypes() throws {
        let rows = try Document.protocol().table("Frame types").map { "\($0[0]) \(Document.plain($0[1])) \($0[2])" }
        let types = FrameType.allCases.sorted { $0.rawValue < $1.rawValue }.map { type in
            let sender =
                switch type.sender {
                case .client: "C"
                case .relay: "R"
                case .either: "C, R"
                }
            let digits = String(type.rawValue, radix: 16, uppercase: true)
            return "0x\(digits.count == 1 ? "0" : "")\(digits) \(type.name) \(sender)"
        }
        #expect(rows == types, "\(rows.difference(from: types))")
    }

    @Test("the table of codes is that of the code, in its order")
    func codes() throws {
        let rows = try Document.protocol().table("Codes")
        let found = rows.map { "\($0[0]) \(Document.plain($0[1])) \($0[2])" }
        let expected = ErrorCode.all.map { "\($0.code.rawValue) \($0.name) \($0.code.retry)" }
        #expect(found == expected, "\(found.difference(from: expected))")
        for row in rows { #expect(row.count == 4 && !row[3].isEmpty, "\(row)") }
    }

    @Test("the table of limits has the numbers of the code")
    func limits() throws {
        let rows = try Document.protocol().table("Limits")
        #expect(rows.count >= 30, "only \(rows.count) rows found: the document is not read rightly")
        #expect(Set(rows.map { $0[0] }).count == rows.count, "a limit stands twice")
        let numbers = LimitsTable.numbers
        for row in rows {
            guard let expected = numbers[row[0]] else {
                Issue.record("row \"\(row[0])\" belongs to no constant: name it in `LimitsTable`")
                continue
            }
            #expect(Document.numbers(in: row[1]) == expected, "\(row[0])")
        }
    }

    @Test("a limit is bold exactly when it is a default that an operator may change")
    func bold() throws {
        for row in try Document.protocol().table("Limits") {
            #expect(row[1].contains("**") == LimitsTable.tunable.keys.contains(row[0]), "\(row[0])")
        }
    }

    @Test("codes that the table of limits names are codes")
    func limitCodes() throws {
        let names = Set(ErrorCode.all.map(\.name) + FrameType.allCases.map(\.name))
        for row in try Document.protocol().table("Limits") {
            let marked = row[2].matches(of: /`([A-Za-z]+)`/).map { String($0.output.1) }
            for word in marked where word != "failed" { #expect(names.contains(word), "\(row[0]): \(word)") }
        }
    }
}
