/// Places of one kind, which are few: how many are taken, and from which addresses. [SE5]
struct Places {
    enum Claimant {
        /// A moderator, or the relay itself.
        case trusted
        /// Who is there already.
        case inside(AddressKey)
        case newcomer(AddressKey)
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

    /// The number of parts of all places of a kind. The last part is for trusted sessions.
    static let keptPart = 16
    /// An address gets at most a third of what it leaves to others, which is a quarter of all.
    private static let leftPart = 3

    func held(from address: AddressKey) -> Int { held[address, default: 0] }

    /// - Parameters:
    ///   - max: of all places, with those that are kept.
    ///   - addressMin: what an address may have while there is any.
    ///   - freeing: places that are given back for this one, by address.
    /// - Returns: `nil` if there is a place.
    func refusal(_ claimant: Claimant, max: Int, kept: Int, addressMin: Int, freeing: [AddressKey] = []) -> Refusal? {
        let taken = taken - freeing.count, ordinary = max - kept
        let who: AddressKey
        var share: Int
        switch claimant {
        case .trusted: return taken < max ? nil : Refusal(limit: max, actual: taken + 1)
        // A client that was cut off comes back in spite of newcomers: it takes no place of others.
        case .inside(let address): (who, share) = (address, (ordinary + Self.leftPart) / (Self.leftPart + 1))
        case .newcomer(let address): (who, share) = (address, (ordinary - taken + Self.leftPart - 1) / Self.leftPart)
        }
        guard taken < ordinary else { return Refusal(limit: ordinary, actual: taken + 1) }
        share = Swift.max(addressMin, share)
        let held = held(from: who) - freeing.count { $0 == who }
        return who == .local || held < share ? nil : Refusal(limit: share, actual: held + 1, isOfAddress: true)
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
