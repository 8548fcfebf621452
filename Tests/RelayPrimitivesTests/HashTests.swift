import RelayPrimitives
import Testing

/// The two hashes as what the tests ask of both.
enum Hash: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case sha1 = "SHA1", sha256 = "SHA256"

    var testDescription: String { rawValue }
    var digestBytes: Int { self == .sha1 ? 20 : 32 }

    func callAsFunction(_ message: [UInt8]) -> [UInt8] { self == .sha1 ? SHA1.hash(message) : SHA256.hash(message) }

    /// The digest of a message that comes in these pieces.
    func callAsFunction(pieces: [ArraySlice<UInt8>]) -> [UInt8] {
        switch self {
        case .sha1:
            var hash = SHA1()
            for piece in pieces { piece.withUnsafeBytes { hash.update($0) } }
            return hash.finalize()
        case .sha256:
            var hash = SHA256()
            for piece in pieces { piece.withUnsafeBytes { hash.update($0) } }
            return hash.finalize()
        }
    }
}

@Suite("SHA-1 and SHA-256") struct HashTests {
    @Test("SHAVS short and long messages: 65 and 64 of each", arguments: Hash.allCases, [("ShortMsg", 65), ("LongMsg", 64)])
    func messages(hash: Hash, kind: (name: String, count: Int)) throws {
        let vectors = try ResponseFile("\(hash.rawValue)\(kind.name).rsp").groups
        #expect(vectors.count == kind.count)
        for vector in vectors {
            let bits = try #require(vector["Len"].flatMap { Int($0) })
            // Of no bits the file says `Msg = 00`.
            let message = Array(try ResponseFile.bytes(vector, "Msg").prefix(bits / 8))
            #expect(message.count * 8 == bits)
            #expect(hash(message).hex == vector["MD"], "\(bits) bits")
        }
    }

    /// SHAVS §6.4: each of 100 digests is the end of 1,000 hashes of the three before it, joined, and the seed of the next.
    @Test("SHAVS Monte Carlo: 100 digests, each of 1,000 hashes", arguments: Hash.allCases)
    func monteCarlo(hash: Hash) throws {
        var groups = try ResponseFile("\(hash.rawValue)Monte.rsp").groups[...]
        var seed = try ResponseFile.bytes(groups.removeFirst(), "Seed")
        #expect(seed.count == hash.digestBytes && groups.count == 100)
        for (count, vector) in groups.enumerated() {
            var last = [seed, seed, seed]
            for _ in 0..<1000 { last = [last[1], last[2], hash(last[0] + last[1] + last[2])] }
            seed = last[2]
            #expect(vector["COUNT"] == "\(count)" && vector["MD"] == seed.hex)
        }
    }

    /// One digest that no file of this folder has a part in. [FIPS 180-2 appendices A.1, B.1]
    @Test("the standard's own example")
    func example() {
        #expect(SHA1.hash(Array("abc".utf8)).hex == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(SHA256.hash(Array("abc".utf8)).hex == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test("every cut of a message of 0…130 bytes into two pieces gives the digest of the whole", arguments: Hash.allCases)
    func twoPieces(hash: Hash) {
        for count in 0...130 {
            let message = (0..<count).map { UInt8($0 &* 37 & 0xFF) }
            let whole = hash(message)
            #expect(whole.count == hash.digestBytes)
            for cut in 0...count where hash(pieces: [message[..<cut], message[cut...]]) != whole {
                Issue.record("\(count) bytes cut at \(cut)")
            }
        }
    }

    @Test("every cut of 130 bytes into three pieces, and pieces of every size, give the digest of the whole", arguments: Hash.allCases)
    func morePieces(hash: Hash) {
        let message = (0..<130).map { UInt8($0 * 5 & 0xFF) }
        let whole = hash(message)
        for first in 0...130 {
            for second in first...130 where hash(pieces: [message[..<first], message[first..<second], message[second...]]) != whole {
                Issue.record("cut at \(first) and \(second)")
            }
        }
        for size in 1...130 {
            let pieces = stride(from: 0, to: 130, by: size).map { message[$0..<min($0 + size, 130)] }
            #expect(hash(pieces: pieces) == whole, "pieces of \(size)")
        }
    }

    @Test("a copy goes on by itself")
    func copies() {
        var hash = SHA256()
        hash.update(Array("a".utf8))
        var other = hash
        hash.update(Array("bc".utf8))
        other.update(Array("b".utf8))
        #expect(hash.finalize() == SHA256.hash(Array("abc".utf8)))
        #expect(other.finalize() == SHA256.hash(Array("ab".utf8)))
    }
}
