internal import RelayClientCore
internal import RelayCore
internal import RelayTesting
internal import RelayWire

// The end of a run: links and disk are well again, and what all apps show is held against what they were told.

extension BoardSimulation {
    func settle() throws {
        diskFailsUntil = 0
        relay.holdsFiles = false
        for app in apps {
            app.readsFrom = 0
            app.unreachableUntil = 0
        }
        for _ in 0..<600 {
            relay.writeFiles()
            persist()
            relay.readFiles(now: true)
            try exchange(whole: true)
            relay.advance(.milliseconds(100))
        }
        try awaitErasures()
        // One who has seen nothing of it all.
        addApp()
        for _ in 0..<50 {
            persist()
            relay.readFiles(now: true)
            try exchange(whole: true)
            relay.advance(.milliseconds(100))
        }
        try judge()
        try endChannel()
    }

    private func judge() throws {
        for app in apps {
            guard app.machine.linkState.isConnected else { throw BrokenPromise("\(app.name) has not come back: \(app.machine.linkState)") }
            guard app.waiting.isEmpty else { throw BrokenPromise("[BL2] \(app.name) was never told about \(app.waiting)") }
            guard app.machine.drawingsUnfinished == 0 else {
                throw BrokenPromise("[BL8] \(app.name) holds \(app.machine.drawingsUnfinished) drawings that will not be whole")
            }
            if !mayReset, app.resets > 0 { throw BrokenPromise("[BL4] \(app.name) was reset, and nothing had failed") }
            done.resets += app.resets
            done.batches += app.batches
            done.drawings += app.drawings
            done.missed += app.missed.values.reduce(0) { $0 + $1.count }
        }
        for app in apps { try judgePicture(app) }
        let last = apps[apps.count - 1].shown
        for app in apps where app.shown != last {
            throw BrokenPromise("[BL3] \(app.name) shows another board: \(difference(app.shown, last))")
        }
        if !isUnsure {
            let truth = truth(seen: last)
            guard last == truth else { throw BrokenPromise("[BL1, BL2, BL6] the board is not what was stored: \(difference(last, truth))") }
            try judgeAuthors()
        }
        try judgePlain()
        try judgeRemovals()
    }

    /// What is newest is what its changes have painted, and is whole once all has come.
    private func judgePicture(_ app: BoardApp) throws {
        let picture = app.picture
        guard picture.isComplete else { throw BrokenPromise("\(app.name) is never told that it has the whole board") }
        let records = Dictionary(uniqueKeysWithValues: picture.records.map { record in
            (record.key, BoardApp.Record(offset: record.offset!, payload: record.payload!.digest))
        })
        guard records == app.shown else {
            throw BrokenPromise("\(app.name) has another picture than its changes: \(difference(records, app.shown))")
        }
    }

    func difference(_ left: [String: BoardApp.Record], _ right: [String: BoardApp.Record]) -> String {
        Set(left.keys).union(right.keys).sorted().filter { left[$0] != right[$0] }
            .map { "\($0): \(left[$0].map { "\($0)" } ?? "-") and \(right[$0].map { "\($0)" } ?? "-")" }.joined(separator: ", ")
    }

    /// What was told to be stored, one after the other.
    func truth(seen: [String: BoardApp.Record]) -> [String: BoardApp.Record] {
        var board: [String: BoardApp.Record] = [:]
        var cleared: [(key: String, record: BoardApp.Record)] = []
        var changed: Set<String> = []
        var authors: [UInt64: BoardApp] = [:]
        var waiting = removals.filter(\.isDurable).sorted { $0.through < $1.through }[...]
        func remove(through offset: UInt64) {
            while let removal = waiting.first, removal.through < offset {
                waiting.removeFirst()
                board = board.filter { authors[$0.value.payload] !== removal.app }
                for old in cleared where authors[old.record.payload] === removal.app { changed.insert(old.key) }
            }
        }
        for offset in facts.keys.sorted() {
            remove(through: offset)
            switch facts[offset]! {
            case .record(let key, let payload, let app):
                if let payload { authors[payload] = app }
                board[key] = payload.map { BoardApp.Record(offset: offset, payload: $0) }
                changed.insert(key)
            case .clear:
                cleared = board.map { (key: $0.key, record: $0.value) }.sorted { $0.record.offset < $1.record.offset }
                board = [:]
                changed = []
            case .undo(let records):
                // Which number each takes is told: one that has changed takes one or none, as the file was written anew or not.
                for old in cleared where !changed.contains(old.key) {
                    let told = seen[old.key]?.offset ?? 0
                    let taken = told > offset - records && told <= offset ? told : offset
                    board[old.key] = BoardApp.Record(offset: taken, payload: old.record.payload)
                }
                cleared = []
            }
        }
        remove(through: .max)
        return board
    }

    /// No record of another's was replaced or removed by an app that may change only its own. [BL10]
    private func judgeAuthors() throws {
        var authors: [String: BoardApp] = [:]
        var cleared: [String: BoardApp] = [:]
        var waiting = removals.sorted { $0.through < $1.through }[...]
        for offset in facts.keys.sorted() {
            // What was another's may be anybody's from then on.
            while let removal = waiting.first, removal.through < offset {
                waiting.removeFirst()
                authors = authors.filter { $0.value !== removal.app }
                cleared = cleared.filter { $0.value !== removal.app }
            }
            switch facts[offset]! {
            case .record(let key, let payload, let app):
                if app.isEditor, let author = authors[key], author !== app {
                    throw BrokenPromise("[BL10] \(app.name), an editor, wrote \(key) of \(author.name) at \(offset)")
                }
                authors[key] = payload == nil ? nil : app
                cleared[key] = nil
            case .clear: (authors, cleared) = ([:], authors)
            case .undo:
                authors.merge(cleared) { now, _ in now }
                cleared = [:]
            }
        }
    }

    /// Of what is not kept for good nothing is missing untold either, in the numbering that is there now. [HI4, BL3]
    private func judgePlain() throws {
        guard let epoch = relay.hub.epoch(of: Self.channel) else { return }
        for app in apps.dropLast() where app.plain[epoch] != nil {
            let first = app.plain[epoch]!.min()!
            for message in plain where message.epoch == epoch && message.app !== app && message.offset > first {
                guard
                    app.plain[epoch]!.contains(message.offset)
                        || app.missed[epoch]?.contains(where: { $0.contains(message.offset) }) == true
                else {
                    throw BrokenPromise("[HI2, HI4, BL3] \(app.name) never got message \(message.offset) and was not told")
                }
            }
        }
    }
}
