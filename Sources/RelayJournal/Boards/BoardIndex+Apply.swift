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
        sweep()
    }

    private mutating func put(_ put: BoardPut, _ placed: PlacedChange, _ settings: BoardSettings) {
        var record = Record(
            key: put.key, author: number(of: placed.change.author), sequence: placed.change.sequence, place: placed.place,
            headBytes: put.key.count + (put.customType?.count ?? 0) + put.extensions.count, payloadBytes: placed.payloadBytes)
        if let upload = put.upload {
            let staged = uploads[upload]?.parts ?? [:]
            record.parts = put.parts == 0 ? [] : (1...put.parts).compactMap { staged[$0] }
            guard record.parts.count == put.parts else {
                // Only damage does that. The record before it was superseded all the same.
                incompleteRecords += 1
                discard(upload)
                return remove(put.key, placed, settings)
            }
            record.payloadBytes = record.parts.reduce(0) { $0 + $1.payloadBytes }
            liveFileBytes -= record.fileBytes - record.place.count
            for number in 1...put.parts { uploads[upload]?.parts[number] = nil }
            discard(upload)
        }
        leave(put.key)
        append(record, at: placed.change.offset)
        liveFileBytes += record.fileBytes
    }

    private mutating func append(_ record: Record, at offset: UInt64) {
        byKey[record.key] = entries.count
        entries.append(Entry(offset: offset, content: .record(record)))
        count(record, 1)
    }

    private mutating func remove(_ key: [UInt8], _ placed: PlacedChange, _ settings: BoardSettings) {
        leave(key)
        byKey[key] = entries.count
        entries.append(
            Entry(
                offset: placed.change.offset,
                content: .marker(key: key, wallMilliseconds: placed.change.wallMilliseconds, place: placed.place)))
        markerOffsets.append(placed.change.offset)
        markers += 1
        liveFileBytes += placed.place.count
        while markers > settings.markersMax { dropOldestMarker() }
    }

    /// What the key has is superseded.
    private mutating func leave(_ key: [UInt8]) {
        cleared?.unchanged[key] = nil
        guard let index = byKey.removeValue(forKey: key) else { return }
        kill(index)
    }

    mutating func kill(_ index: Int) {
        switch entries[index].content {
        case .dead: return
        case .record(let record):
            count(record, -1)
            liveFileBytes -= record.fileBytes
        case .marker(_, _, let place):
            markers -= 1
            liveFileBytes -= place.count
        case .clear(let place): liveFileBytes -= place.count
        }
        entries[index].content = .dead
        deadEntries += 1
    }

    private mutating func clear(_ placed: PlacedChange) {
        expireCleared()
        var taken = Cleared(offset: placed.change.offset, wallMilliseconds: placed.change.wallMilliseconds, records: [], unchanged: [:])
        for entry in entries {
            switch entry.content {
            case .dead: break
            case .record(let record):
                // Their place in the file is still wanted.
                taken.unchanged[record.key] = taken.records.count
                taken.records.append((entry.offset, record))
                count(record, -1)
            case .marker(_, _, let place), .clear(let place): liveFileBytes -= place.count
            }
        }
        cleared = taken
        entries = [Entry(offset: placed.change.offset, content: .clear(placed.place))]
        liveFileBytes += placed.place.count
        clearOffset = placed.change.offset
        deadEntries = 0
        byKey = [:]
        markerOffsets = []
        firstMarker = 0
        markers = 0
        // Whoever is below is told of the clear.
        markerFloor = 0
    }

    private mutating func undo(_ clear: UInt64, _ count: UInt64, _ change: BoardChange, _ settings: BoardSettings) {
        guard let cleared, cleared.offset == clear, count <= change.offset, Int(clamping: count) >= cleared.records.count,
            change.wallMilliseconds <= cleared.wallMilliseconds + settings.undoMilliseconds + settings.undoGraceMilliseconds
        else { return }
        self.cleared = nil
        for (number, old) in cleared.records.enumerated() {
            if cleared.unchanged[old.record.key] == number {
                append(old.record, at: change.offset - count + 1 + UInt64(number))
            } else {
                liveFileBytes -= old.record.fileBytes
            }
        }
    }
}
