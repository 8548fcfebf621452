/// Whether two byte strings are the same, in a time that tells their lengths but not where they differ.
///
/// For what a peer sends as a proof: a code, a digest of a secret. A comparison that stops at the first difference would tell
/// a guesser how much of the guess is right.
// Not inlined, so that no caller's knowledge of the bytes can shorten the loop.
@inline(never)
public func isEqualInConstantTime(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    var difference: UInt8 = 0
    for index in a.indices { difference |= a[index] ^ b[index] }
    return difference == 0
}
