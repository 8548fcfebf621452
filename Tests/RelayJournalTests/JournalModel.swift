import RelayStorage

/// What must be in a journal, and what may be.
struct JournalModel {
    typealias Values = [[UInt8]: [UInt8]]

    private(set) var durable: Values = [:]
    private(set) var durableSequence: UInt64 = 0
    /// Written or being written, reported to nobody as durable: a crash leaves any number of them, from the first on.
    private(set) var pending: [JournalRecord] = []

    mutating func submitted(_ records: [JournalRecord]) { pending += records }
    mutating func accepted() { settle(pending.count) }
    mutating func gaveUp() { pending = [] }

    /// A journal was opened and shows so many of the pending records: from now on they stay, and the others stay away.
    mutating func settle(_ count: Int) {
        durable = Self.applying(pending.prefix(count), to: durable)
        durableSequence = pending.prefix(count).last?.sequence ?? durableSequence
        pending = []
    }

    /// How many of the pending records an opened journal shows. Its last sequence says which state it claims to be.
    func recovered(_ entries: [JournalEntry], lastSequence: UInt64) throws(Broken) -> Int {
        let count = pending.prefix { $0.sequence <= lastSequence }.count
        let expected = count == 0 ? durableSequence : pending[count - 1].sequence
        guard lastSequence == expected else { throw Broken("last sequence \(lastSequence), expected \(expected)") }
        var found: Values = [:]
        for entry in entries {
            guard let value = entry.value, found.updateValue(value, forKey: entry.key) == nil else {
                throw Broken("a key twice, or without a value")
            }
        }
        let values = Self.applying(pending.prefix(count), to: durable)
        guard found == values else {
            let keys = Set(found.keys).union(values.keys).filter { found[$0] != values[$0] }
            let one = keys.min { $0.lexicographicallyPrecedes($1) } ?? []
            throw Broken(
                "\(keys.count) keys differ at sequence \(lastSequence) (durable \(durableSequence)); \(String(decoding: one, as: UTF8.self)): "
                    + "\(found[one]?.prefix(12).description ?? "absent"), expected \(values[one]?.prefix(12).description ?? "absent")")
        }
        return count
    }

    static func applying(_ records: some Sequence<JournalRecord>, to values: Values) -> Values {
        var values = values
        for record in records { for entry in record.entries { values[entry.key] = entry.value } }
        return values
    }
}

/// A promise that was not kept.
struct Broken: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}
