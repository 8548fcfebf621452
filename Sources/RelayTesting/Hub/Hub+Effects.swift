package import RelayCore

extension Hub {
    /// What the shell has to do.
    package mutating func takeEffects() -> [Effect] {
        var effects: [Effect] = []
        takeEffects(into: &effects)
        return effects
    }
}
