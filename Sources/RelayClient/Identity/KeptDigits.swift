import RelayIO

/// Random bits as hexadecimal digits, in the Keychain or in a file that only this account may read.
package struct KeptDigits {
    /// Of the item in the Keychain, and of the file in its folder.
    var name: String
    var folder: String
    var count: Int
    /// For people: "a client secret".
    var what: String
    /// `nil`: in the file. A program that has no part in the Keychain has a file, too.
    var keychain: (any Keychain)?

    package init(name: String, folder: String, count: Int, what: String, keychain: (any Keychain)?) {
        (self.name, self.folder, self.count, self.what, self.keychain) = (name, folder, count, what, keychain)
    }

    private var path: String { "\(folder)/\(name)" }

    /// - Parameter first: what stands there at first; `nil`: what is drawn.
    /// - Throws: `secretNotKept`, when the file or item cannot be read or made, or holds something else.
    package func readOrDraw(first: () -> String? = { nil }) throws(RelayError) -> String {
        guard let keychain else { return try readOrDrawInFile(first: first) }
        // Again, where another process of the app made the item in between.
        for _ in 1...2 {
            switch keychain.read(name) {
            case .done(let bytes): return try checked(bytes, in: "the Keychain's item boardrelay, \(name),")
            case .isNot: break
            case let answer: return try otherwise(answer) { () throws(RelayError) in try readOrDrawInFile(first: first) }
            }
            // A program that was signed since then goes on as the user that it was.
            let digits = try inFile { () throws(PrivateFile.Failure) in try PrivateFile.read(path, bytesMax: 64) }
                .map { bytes throws(RelayError) in try checked(bytes, in: path) } ?? first() ?? Self.draw(count)
            switch keychain.add(name, Array(digits.utf8)) {
            case .done: return digits
            case .isThere: continue
            case let answer: return try otherwise(answer) { () throws(RelayError) in try readOrDrawInFile(first: first) }
            }
        }
        throw RelayError(.secretNotKept, "\(what) cannot be kept: the Keychain has the item \(name) and does not show it")
    }

    /// - Throws: `secretNotKept`, when the file or item cannot be written, or holds something else.
    package func keep(_ digits: String, replaces: Bool) throws(RelayError) {
        guard replaces else {
            _ = try readOrDraw { digits }
            return
        }
        guard let keychain else { return try replaceFile(digits) }
        var answer = keychain.update(name, Array(digits.utf8))
        if answer == .isNot { answer = keychain.add(name, Array(digits.utf8)) }
        if answer == .isThere { answer = keychain.update(name, Array(digits.utf8)) }
        guard case .done = answer else { return try otherwise(answer) { () throws(RelayError) in try replaceFile(digits) } }
    }

    /// Where the Keychain has not done it.
    private func otherwise<Value>(_ answer: KeychainAnswer, _ inFile: () throws(RelayError) -> Value) throws(RelayError) -> Value {
        switch answer {
        case .notEntitled: return try inFile()
        case .failed(let status): throw RelayError(.secretNotKept, "\(what) cannot be kept: the Keychain says OSStatus \(status)")
        case .done, .isThere, .isNot: throw RelayError(.secretNotKept, "\(what) cannot be kept: the Keychain says \(answer)")
        }
    }

    // MARK: - In the file

    private func readOrDrawInFile(first: () -> String?) throws(RelayError) -> String {
        let bytes = try inFile { () throws(PrivateFile.Failure) in
            try PrivateFile.readOrCreate(path, bytesMax: 64) { Array(((first() ?? Self.draw(count)) + "\n").utf8) }
        }
        return try checked(bytes, in: path)
    }

    private func replaceFile(_ digits: String) throws(RelayError) {
        try inFile { () throws(PrivateFile.Failure) in try PrivateFile.replace(path, content: Array((digits + "\n").utf8)) }
    }

    private func checked(_ bytes: [UInt8], in place: String) throws(RelayError) -> String {
        let digits = bytes.prefix(count)
        guard Self.areHexadecimal(digits, count: count) else {
            throw RelayError(.secretNotKept, "\(place) does not hold \(what): remove it, and a new one is drawn")
        }
        return String(decoding: digits, as: UTF8.self)
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
