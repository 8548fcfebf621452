import RelayWire

extension ReplayPlan {
    /// Who sends what of a recorded lesson.
    package struct Cast: Equatable, Sendable {
        /// All records and messages, in their order: what many wrote is in one order only where one writes it.
        package var board: ReplayPlan
        /// The packets of each device that sent some, in the order in which they began.
        package var pens: [ReplayPlan]
    }

    /// Records of one change set at a lesson's start, and their bytes.
    static let startRecordsMax = 512
    static let startBytesMax = 1_048_576

    /// Plans a lesson for a board that is empty.
    package static func lesson(_ lesson: RecordedLesson, _ options: Options) -> Cast {
        var board = ReplayPlan(isLesson: true)
        board.topics = []
        var pens: [ReplayPlan] = []
        var places: [[String]: Int] = [:]
        var pencil = Pencil(options)
        var last = 0
        var changes: [Change] = []
        for event in lesson.events {
            // What is unfinished goes before time passes, or anything else happens.
            if event.at > last || event.change == nil { board.write(&changes, at: pencil.leaving) }
            pencil.pause(milliseconds: event.at - last)
            last = event.at
            switch event.kind {
            case .record, .removal:
                changes += [event.change].compactMap { $0 }
                let isWhole = event.at == 0 ? changes.isFullStart : !event.more || changes.count == Limits.changesMax
                if isWhole { board.write(&changes, at: pencil.leaving) }
            case .clear, .reset: board.add(.clear, at: pencil.leaving)
            case .message(let payload, let customType, let key, _):
                board.add(.message(payload, customType: customType, key: key), at: pencil.leaving)
            case .paper(let paper): board.add(.paper(paper), at: pencil.leaving)
            case .packet(let payload, let topic, let by, let device):
                let place = places[[by, device]] ?? pens.count
                if place == pens.count {
                    places[[by, device]] = place
                    pens.append(ReplayPlan(isLesson: true))
                    pens[place].topics = []
                }
                pens[place].topics.insert(topic)
                pens[place].add(.packet(payload, topic: topic), at: pencil.leaving)
            case .begin, .left, .broken, .missed, .end: break
            }
        }
        board.write(&changes, at: pencil.leaving)
        return Cast(board: board, pens: pens)
    }

    /// Adds what waits, in change sets; what is too large for one goes by itself.
    private mutating func write(_ changes: inout [Change], at: Duration) {
        var set: [Change] = []
        for change in changes {
            keys.insert(change.key)
            let isLarge = change.bytes > BoardLimits.messageBytesMax
            if isLarge, !set.isEmpty {
                add(.changes(set), at: at)
                set = []
            }
            set.append(change)
            guard isLarge else { continue }
            add(.changes(set), at: at)
            set = []
        }
        if !set.isEmpty { add(.changes(set), at: at) }
        changes = []
    }

    private mutating func add(_ step: LessonStep, at: Duration) {
        var lane = Lane.message
        if case .packet = step { lane = .packet }
        steps.append(Step(at: at, lane: lane, stroke: lane == .packet ? steps.count : messages, lesson: step))
        if lane == .message { messages += 1 }
    }
}

extension ReplayPlan.Change {
    /// Of custom type and payload.
    package var bytes: Int { record.map { $0.payload.count + ($0.customType?.utf8.count ?? 0) } ?? 0 }
}

extension [ReplayPlan.Change] {
    /// Whether no more of what stood at the start goes along with these.
    fileprivate var isFullStart: Bool {
        count >= ReplayPlan.startRecordsMax || reduce(0) { $0 + $1.bytes } >= ReplayPlan.startBytesMax
    }
}

extension LessonEvent {
    /// What becomes of a key by it.
    fileprivate var change: ReplayPlan.Change? {
        switch kind {
        case .record(let record, _): ReplayPlan.Change(record)
        case .removal(let key, _): ReplayPlan.Change(removing: key)
        default: nil
        }
    }
}

extension ReplayPlan.Step {
    /// Whether it changes records that later steps of a lesson may change again.
    package var isOfBoard: Bool { if case .changes? = lesson { true } else { false } }

    /// What a reader of the board's messages and live points gets of it, in this order.
    package var arriving: [[UInt8]] {
        switch lesson {
        case nil: [payload]
        case .changes(let changes)?: changes.map { $0.record?.payload.bytes ?? [] }
        case .message(let payload, _, _)?: [payload.bytes]
        case .packet(let payload, let topic)?: topic == BoardWords.pointsTopic ? [payload.bytes] : []
        case .clear?, .paper?: []
        }
    }
}
