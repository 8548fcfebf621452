import RelayStorage

// What a change does to the index: the definition of each kind.

extension BoardIndex {
    mutating func apply(_ placed: PlacedChange, _ settings: BoardSettings) {
        let change = placed.change
        switch change.kind {
        case .create:
            liveFileBytes += placed.place.count - (creation?.count ?? 0)
            creation = placed.place
        case .put(let put): self.put(put, placed, settings)
        case .remove(let key): remove(key, placed, settings)
        case .part(let upload, let number, _):
            if number == 1 { discard(upload) }
            var staged = uploads[upload] ?? Upload()
            let old = staged.parts.updateValue(Part(place: placed.place, payloadBytes: placed.payloadBytes), forKey: number)
            liveFileBytes += placed.place.count - (old?.place.count ?? 0)
            staged.wallMilliseconds = change.wallMilliseconds
            staged.author = self.number(of: change.author)
            uploads[upload] = staged
        case .clear: clear(placed)
        case .undo(let clear, let count): undo(clear, count, change, settings)
        case .drop: break
        }
        entries.sweep()
    }

    private mutating func put(_ put: BoardPut, _ placed: PlacedChange, _ settings: BoardSettings) {
        var found: [Part]?
        if let upload = put.upload {
            let staged = uploads[upload]?.parts ?? [:]
            // A damaged record may ask for thousands.
            let parts = staged.count < put.parts ? [] : (1...put.parts).compactMap { staged[$0] }
            guard parts.count == put.parts else {
                // Only damage does that. The record before it was superseded all the same.
                incompleteRecords += 1
                discard(upload)
                return remove(put.key, placed, settings)
            }
            for number in 1...put.parts { uploads[upload]?.parts[number] = nil }
            discard(upload)
            found = parts
        }
        leave(put.key)
        var record = BoardEntries.Entry(
            .record, at: placed.change.offset, placed.place, sequence: placed.change.sequence, author: number(of: placed.change.author),
            headBytes: put.key.count + (put.customType?.count ?? 0) + put.extensions.count,
            payloadBytes: found.map { $0.reduce(0) { $0 + $1.payloadBytes } } ?? placed.payloadBytes)
        if let found {
            record.hasParts = true
            parts[placed.place.start] = found
        }
        append(record, put.key)
        // The parts were counted when they came.
        liveFileBytes += placed.place.count
    }

    private mutating func append(_ record: BoardEntries.Entry, _ key: [UInt8]) {
        entries.append(record, key: key)
        count(record, 1)
    }

    private mutating func remove(_ key: [UInt8], _ placed: PlacedChange, _ settings: BoardSettings) {
        leave(key)
        entries.append(
            BoardEntries.Entry(
                .marker, at: placed.change.offset, placed.place, sequence: placed.change.wallMilliseconds, headBytes: key.count),
            key: key)
        markerOffsets.append(placed.change.offset)
        markers += 1
        liveFileBytes += placed.place.count
        while markers > settings.markersMax { dropOldestMarker() }
    }

    /// What the key has is superseded.
    private mutating func leave(_ key: [UInt8]) {
        if let index = cleared?.entries[key] { cleared!.entries[index].isChanged = true }
        if let index = entries[key] { kill(index) }
    }

    mutating func kill(_ index: Int) {
        let entry = entries[index]
        switch entry.kind {
        case .dead: return
        case .record:
            count(entry, -1)
            letGo(entry)
        case .marker:
            markers -= 1
            liveFileBytes -= entry.place.count
        case .clear: liveFileBytes -= entry.place.count
        }
        entries.kill(index)
    }

    private mutating func clear(_ placed: PlacedChange) {
        expireCleared()
        // Their places in the file are still wanted.
        var taken = Cleared(
            offset: placed.change.offset, wallMilliseconds: placed.change.wallMilliseconds, entries: entries, records: records)
        entries = BoardEntries()
        for index in taken.entries.indices {
            let entry = taken.entries[index]
            switch entry.kind {
            case .dead: break
            case .record: count(entry, -1)
            case .marker, .clear:
                liveFileBytes -= entry.place.count
                taken.entries.kill(index)
            }
        }
        taken.entries.sweep()
        cleared = taken
        entries.append(BoardEntries.Entry(.clear, at: placed.change.offset, placed.place), key: nil)
        liveFileBytes += placed.place.count
        clearOffset = placed.change.offset
        markerOffsets = []
        firstMarker = 0
        markers = 0
        // Whoever is below is told of the clear.
        markerFloor = 0
    }

    private mutating func undo(_ clear: UInt64, _ count: UInt64, _ change: StoredChange, _ settings: BoardSettings) {
        guard let cleared, cleared.offset == clear, count <= change.offset, Int(clamping: count) >= cleared.records,
            change.wallMilliseconds <= cleared.wallMilliseconds + settings.undoMilliseconds + settings.undoGraceMilliseconds
        else { return }
        self.cleared = nil
        var offset = change.offset - count
        for old in cleared.entries.records {
            offset += 1
            guard !old.isChanged else {
                letGo(old)
                continue
            }
            var record = old
            record.offset = offset
            append(record, cleared.entries.key(of: old))
        }
    }
}
