/// A small seeded generator: the same numbers from the same seed on every machine. Never for secrets. (Steele, Lea, Flood 2014)
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in 0..<bound, each as likely as the next (to within bound / 2⁶⁴).
    package mutating func below(_ bound: UInt64) -> UInt64 { next().multipliedFullWidth(by: bound).high }

    /// True `one` time in `many`.
    package mutating func chance(_ one: Int, in many: Int) -> Bool { Int.random(in: 0..<many, using: &self) < one }
}
