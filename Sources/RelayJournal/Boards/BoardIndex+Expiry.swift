import RelayStorage

// What leaves the index by time, by its number, or because the summary knows that it is gone.

extension BoardIndex {
    /// - Returns: whether anything was there that is too old at this time.
    mutating func expire(at wall: UInt64, _ settings: BoardSettings) -> Bool {
        var hasChanged = false
        while let oldest = oldestMarker, oldest.wall.addingReportingOverflow(settings.markerMilliseconds).partialValue < wall {
            dropOldestMarker()
            hasChanged = true
        }
        if let cleared, cleared.wallMilliseconds + settings.undoMilliseconds + settings.undoGraceMilliseconds < wall {
            expireCleared()
            hasChanged = true
        }
        for (upload, staged) in uploads where staged.wallMilliseconds + settings.partsMilliseconds < wall {
            discard(upload)
            hasChanged = true
        }
        entries.sweep()
        return hasChanged
    }

    mutating func expireCleared() {
        for record in cleared?.entries.records ?? BoardEntries().records { letGo(record) }
        cleared = nil
    }

    /// The file was read; what the summary knows and the file does not tell is made good.
    mutating func settle(_ summary: BoardSummary) {
        if summary.clear?.offset != cleared?.offset { expireCleared() }
        while let oldest = oldestMarker, oldest.offset <= summary.markerFloor { dropOldestMarker() }
        markerFloor = max(markerFloor, summary.markerFloor)
        changes = [:]
    }

    private var oldestMarker: (offset: UInt64, wall: UInt64)? {
        mutating get {
            while firstMarker < markerOffsets.count {
                let offset = markerOffsets[firstMarker]
                let index = entries.position(above: offset) - 1
                if index >= 0, entries[index].offset == offset, entries[index].kind == .marker { return (offset, entries[index].sequence) }
                firstMarker += 1
            }
            return nil
        }
    }

    mutating func dropOldestMarker() {
        guard let offset = oldestMarker?.offset else { return }
        kill(entries.position(above: offset) - 1)
        firstMarker += 1
        if firstMarker > 1024, firstMarker > markerOffsets.count / 2 {
            markerOffsets.removeFirst(firstMarker)
            firstMarker = 0
        }
        markerFloor = offset
        cleared?.hasLostMarkers = true
    }

    mutating func discard(_ upload: UInt64) {
        guard let staged = uploads.removeValue(forKey: upload) else { return }
        liveFileBytes -= staged.parts.values.reduce(0) { $0 + $1.place.count }
    }
}
