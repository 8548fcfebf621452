import RelayWire

/// One part of a large drawing as it came. [BL8]
struct ReceivedPart: Sendable {
    var sender: String
    var key: String
    var isRetained: Bool
    var isText: Bool
    var customType: String?
    var offset: UInt64
    var wallMilliseconds: UInt64
    var part: UInt16
    var parts: UInt16
    var bytes: [UInt8]
}

/// The large drawings of one channel whose last part has not come. [BL8]
///
/// Those that are not retained are told apart by publisher and key, a retained one by its offset, which its parts share.
struct PartialDrawings: Sendable {
    struct Drawing: Sendable {
        var head: ReceivedPart
        var bytes: [UInt8]
        var customTypeBytes: Int
        /// The part that comes next.
        var next: UInt16 = 2
        /// Of the newest part.
        var offset: UInt64

        init(_ part: ReceivedPart) {
            bytes = part.bytes
            offset = part.offset
            customTypeBytes = part.customType?.utf8.count ?? 0
            head = part
            head.bytes = []
        }

        func isSame(_ part: ReceivedPart) -> Bool {
            guard head.isRetained == part.isRetained else { return false }
            return head.isRetained ? head.offset == part.offset : head.sender == part.sender && head.key == part.key
        }

        func isContinued(by part: ReceivedPart) -> Bool {
            part.part == next && part.parts == head.parts && part.isText == head.isText && part.customType == head.customType
                && part.key == head.key
                && part.sender == head.sender
        }
    }

    enum Outcome { case waiting, whole(Drawing), broken }

    /// Oldest first, by their newest part.
    private(set) var drawings: [Drawing] = []
    private(set) var bytes = 0

    var isEmpty: Bool { drawings.isEmpty }

    /// - Parameter bytesMax: of one drawing, payload and custom type.
    /// - Returns: what it makes, and the drawings that were given up for the bound on all.
    mutating func add(_ part: ReceivedPart, bytesMax: Int) -> (Outcome, givenUp: [Drawing]) {
        var drawing: Drawing?
        if let index = drawings.firstIndex(where: { $0.isSame(part) }) { drawing = remove(at: index) }
        if part.part == 1 {
            drawing = Drawing(part)
        } else {
            guard drawing?.isContinued(by: part) == true else { return (.broken, []) }
            drawing!.bytes += part.bytes
            drawing!.next += part.part == part.parts ? 0 : 1
            drawing!.offset = part.offset
        }
        guard drawing!.bytes.count + drawing!.customTypeBytes <= bytesMax else { return (.broken, []) }
        if part.part == part.parts { return (.whole(drawing!), []) }
        drawings.append(drawing!)
        bytes += drawing!.bytes.count
        var givenUp: [Drawing] = []
        while drawings.count > ClientLimits.partialDrawingsMax || bytes > bytesMax * ClientLimits.partialDrawingsBytesFactor {
            givenUp.append(remove(at: 0))
        }
        return (.waiting, givenUp)
    }

    /// Drawings that can no longer be completed.
    mutating func remove(where isOver: (Drawing) -> Bool) -> [Drawing] {
        let over = drawings.filter(isOver)
        guard !over.isEmpty else { return [] }
        drawings.removeAll(where: isOver)
        bytes -= over.reduce(0) { $0 + $1.bytes.count }
        return over
    }

    private mutating func remove(at index: Int) -> Drawing {
        let drawing = drawings.remove(at: index)
        bytes -= drawing.bytes.count
        return drawing
    }
}
