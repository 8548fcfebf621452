import RelayPrimitives
import RelayWire

/// The newest publishes of one client object and their outcomes, so that the relay accepts a repeated publish once. [MS9]
struct PublishWindow {
    struct Accepted {
        var number: UInt64
        var offset: UInt64
        /// Id of the board that keeps it, or 0.
        var board: UInt64 = 0
    }

    /// One that the journal has.
    struct Remembered {
        var place: UInt8
        var accepted: Accepted
    }

    /// In its channel; at most one of each channel.
    struct RefusedPublish {
        var channel: Name
        var number: UInt64
    }

    enum Judgement {
        case new
        /// Accepted before, at this offset.
        case accepted(Accepted)
        /// Refused, or never sent: higher numbers were accepted.
        case passed
        /// Older than what is remembered.
        case forgotten
    }

    /// The highest accepted, of publishes and direct messages. [MS1]
    private(set) var lastNumber: UInt64 = 0
    /// By number, a ring once it is full.
    private var accepted: [Accepted] = []
    private var start = 0
    /// The outcome of numbers up to here may be unknown; of retained messages, which the journal has, up to there.
    private var forgotten: UInt64 = 0
    private var forgottenRetained: UInt64 = 0
    /// Drawings that come in parts. [BL8]
    var drafts: [Draft] = []
    /// A change set that comes in parts. [BL11]
    @OutOfLine var staged: StagedChanges?
    /// Where a publish was refused, and what was sent behind it is refused, too. [MS10]
    @OutOfLine var refused: [RefusedPublish]?
    /// Whether a deadline is set that looks for drawings that stay incomplete.
    var watchesDrafts = false
    /// Retained messages so far: where the next one is remembered in the journal. [BL2]
    private(set) var retained = 0

    var isEmpty: Bool { lastNumber == 0 }

    /// Memory of the numbers that are remembered, with the room behind the last one.
    var numberBytes: Int { accepted.count * Footprint.rememberedPublish }
    /// Memory of all of it.
    var bytes: Int { numberBytes + (refused?.count ?? 0) * 128 + drafts.count * 512 }

    func judge(_ number: UInt64, isRetained: Bool) -> Judgement {
        let unknownThrough = isRetained ? forgottenRetained : forgotten
        if number > lastNumber { return number > unknownThrough ? .new : .forgotten }
        var low = 0
        var high = accepted.count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].number < number { low = middle + 1 } else { high = middle }
        }
        if low < accepted.count, self[low].number == number { return .accepted(self[low]) }
        return number > unknownThrough ? .passed : .forgotten
    }

    /// Whether the outcome of all numbers up to this one may be unknown.
    func hasForgotten(through number: UInt64) -> Bool { number > 0 && number <= forgotten }

    /// Publishes of these numbers may have been accepted: nobody knows.
    mutating func forget(through number: UInt64, alsoRetained: Bool) {
        forgotten = max(forgotten, number)
        if alsoRetained { forgottenRetained = max(forgottenRetained, number) }
    }

    private subscript(index: Int) -> Accepted { accepted[(start + index) % accepted.count] }

    mutating func accept(_ number: UInt64, offset: UInt64, board: UInt64 = 0, limit: Int) {
        lastNumber = number
        // It was sent again.
        if refused != nil { endRefused { $0.number == number } }
        if accepted.count < limit {
            accepted.append(Accepted(number: number, offset: offset, board: board))
        } else {
            forgotten = max(forgotten, accepted[start].number)
            forgottenRetained = max(forgottenRetained, accepted[start].number)
            accepted[start] = Accepted(number: number, offset: offset, board: board)
            start = (start + 1) % accepted.count
        }
    }

    /// The disk refused the message: the window handles it like a number that the client skipped. [BL2]
    mutating func takeBack(_ number: UInt64) {
        let left = (0..<accepted.count).map { self[$0] }.filter { $0.number != number }
        accepted = left
        start = 0
    }

    /// A retained one was accepted.
    ///
    /// - Returns: its place in the journal, of `places`.
    mutating func nextPlace(of places: Int) -> UInt8 {
        defer { retained += 1 }
        return UInt8(retained % places)
    }

    /// Places of the journal that are in use.
    func places(of places: Int) -> Int { min(retained, places) }

    /// What was durable when the relay ended.
    ///
    /// - Parameter places: of the journal; the next one is that behind the newest's.
    mutating func restore(_ kept: [Remembered], places: Int) {
        let ordered = kept.inOrder { $0.accepted.number < $1.accepted.number }
        accepted = ordered.map(\.accepted)
        lastNumber = accepted.last?.number ?? 0
        // The relay no longer knows numbers of messages that were not retained.
        forgotten = lastNumber
        guard let newest = ordered.last?.place else { return }
        // At the last place one round looks like two: then what is older than all of these is not known of.
        let hasGoneRound = Int(newest) == places - 1 || ordered.contains { $0.place > newest }
        retained = Int(newest) + 1 + (hasGoneRound ? places : 0)
        forgottenRetained = hasGoneRound ? accepted[0].number : 0
    }

    func draft(_ channel: Name, _ key: Name, isRetained: Bool) -> Int? {
        drafts.firstIndex { $0.channel == channel && $0.key == key && $0.isRetained == isRetained }
    }

    mutating func takeDraft(_ channel: Name, _ key: Name, isRetained: Bool) -> Draft? {
        draft(channel, key, isRetained: isRetained).map { drafts.remove(at: $0) }
    }

    // MARK: - Refused ones

    /// The first one in its channel counts. Of more channels than are remembered the oldest is forgotten.
    mutating func refuse(_ number: UInt64, in channel: Name) {
        var known = refused ?? []
        guard !known.contains(where: { $0.channel == channel }) else { return }
        if known.count == Limits.refusedChannelsMax { known.removeFirst() }
        known.append(RefusedPublish(channel: channel, number: number))
        refused = known
    }

    /// The client has heard of the refusal of this number.
    mutating func goOn(behind number: UInt64, in channel: Name) {
        if refused != nil { endRefused { $0.channel == channel && $0.number <= number } }
    }

    private mutating func endRefused(where isMeant: (RefusedPublish) -> Bool) {
        let left = refused?.filter { !isMeant($0) } ?? []
        refused = left.isEmpty ? nil : left
    }

    /// A number above this one was never accepted. Direct messages have no others. [MS1]
    var highestKnown: UInt64 { max(lastNumber, forgotten) }

    /// A direct message: it is not sent again.
    mutating func passDirect(_ number: UInt64) { lastNumber = number }
}
