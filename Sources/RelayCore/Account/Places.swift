/// Places of one kind, which are few: how many are taken, and from which addresses. [SE5]
struct Places {
    enum Claimant {
        /// A moderator, or the relay itself.
        case trusted
        /// Who is there already, or on this machine.
        case inside
        case newcomer(AddressKey)

        init(_ address: AddressKey) { self = address == .local ? .inside : .newcomer(address) }
    }

    /// Why somebody gets none: the bound, and what would have been.
    struct Refusal {
        var limit: Int
        var actual: Int
        /// It is the bound of one address.
        var isOfAddress = false
    }

    private(set) var taken = 0
    /// Of addresses that have some.
    private(set) var held = [AddressKey: Int]()

    /// What all places of a kind are divided by: the last part is for who is trusted.
    static let keptPart = 16
    /// An address has a third of what it leaves to others, so a quarter at most.
    private static let leftPart = 3

    func held(from address: AddressKey) -> Int { held[address, default: 0] }

    /// - Parameters:
    ///   - max: of all places, with those that are kept.
    ///   - addressMin: what an address may have while there is any.
    ///   - freeing: places that are given back for this one.
    /// - Returns: `nil` if there is a place.
    func refusal(_ claimant: Claimant, max: Int, kept: Int, addressMin: Int, freeing: Int = 0) -> Refusal? {
        let taken = taken - freeing, ordinary = max - kept
        switch claimant {
        case .trusted: return taken < max ? nil : Refusal(limit: max, actual: taken + 1)
        case .inside: return taken < ordinary ? nil : Refusal(limit: ordinary, actual: taken + 1)
        case .newcomer(let address):
            guard taken < ordinary else { return Refusal(limit: ordinary, actual: taken + 1) }
            let held = held(from: address)
            let share = Swift.max(addressMin, (ordinary - taken + Self.leftPart - 1) / Self.leftPart)
            return held < share ? nil : Refusal(limit: share, actual: held + 1, isOfAddress: true)
        }
    }

    /// - Parameter address: `nil`: nobody's.
    mutating func take(_ address: AddressKey?) {
        taken += 1
        if let address { held[address, default: 0] += 1 }
    }

    mutating func giveBack(_ address: AddressKey?) {
        taken -= 1
        guard let address else { return }
        let left = held(from: address) - 1
        precondition(left >= 0, "\(address) gives back what it has not")
        held[address] = left > 0 ? left : nil
    }
}
