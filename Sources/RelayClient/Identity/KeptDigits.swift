import RelayIO

/// Random bits as hexadecimal digits, in a file that only this account may read.
struct KeptDigits {
    var path: String
    var count: Int
    /// For people: "a client secret".
    var what: String

    /// - Parameter first: what stands there at first; `nil`: what is drawn.
    /// - Throws: `secretNotKept`, when the file cannot be read or made, or holds something else.
    func readOrDraw(first: () -> String? = { nil }) throws(RelayError) -> String {
        let bytes = try inFile { () throws(PrivateFile.Failure) in
            try PrivateFile.readOrCreate(path, bytesMax: 64) { Array(((first() ?? Self.draw(count)) + "\n").utf8) }
        }
        let digits = bytes.prefix(count)
        guard Self.areHexadecimal(digits, count: count) else {
            throw RelayError(.secretNotKept, "\(path) does not hold \(what): remove it, and a new one is drawn")
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// - Throws: `secretNotKept`, when the file cannot be written, or holds something else.
    func keep(_ digits: String, replaces: Bool) throws(RelayError) {
        guard replaces else {
            _ = try readOrDraw { digits }
            return
        }
        try inFile { () throws(PrivateFile.Failure) in try PrivateFile.replace(path, content: Array((digits + "\n").utf8)) }
    }

    private func inFile<Value>(_ body: () throws(PrivateFile.Failure) -> Value) throws(RelayError) -> Value {
        do throws(PrivateFile.Failure) {
            return try body()
        } catch {
            throw RelayError(.secretNotKept, "\(what) cannot be kept: \(error)")
        }
    }

    static func areHexadecimal(_ bytes: some Collection<UInt8>, count: Int) -> Bool {
        bytes.count == count && bytes.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    static func draw(_ count: Int) -> String {
        var digits = ""
        while digits.utf8.count < count {
            let word = String(SystemEntropy.word(), radix: 16)
            digits += String(repeating: "0", count: 16 - word.utf8.count) + word
        }
        return String(digits.prefix(count))
    }
}
