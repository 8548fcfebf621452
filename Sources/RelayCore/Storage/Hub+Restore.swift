import RelayPrimitives
import RelayWire

// What a relay finds stored when it starts. [SG4]

extension Hub {
    /// Takes over one stored key and value; before any event, in order of keys.
    ///
    /// - Returns: whether it is one that this version knows.
    package mutating func restore(key: [UInt8], value: [UInt8]) -> Bool {
        guard let entry = StoredEntry(key: key, value: value) else { return false }
        do throws(WireError) {
            switch entry {
            case .start: break
            case .relay(let id): storage.relayID = id
            case .claim(let user, let claim): claims[user] = claim
            case .role(let user, let role): moderation.applied.apply(.role(user, role))
            case .mode(let channel, let mode): moderation.applied.apply(.mode(channel, mode, true))
            case .ban(let user, let ban): moderation.applied.apply(.ban(user, ban))
            case .erasure(let mark): erasure.marks.append(mark)
            case .publish(let user, let instance, let remembered): keptWindows.restore(remembered, of: user, instance)
            case .metadata(let owner, let majorRevision):
                let book = try bookFor(owner)
                metadata[book].applied.restore(majorRevision: majorRevision)
            case .item(let owner, let key, let item):
                let book = try bookFor(owner)
                metadata[book].applied.restore(key, item)
                storage.metadataBytes += key.text.utf8.count + item.value.count
            case .lock(let channel, let name, let state):
                let lock = try lockFor(name, channel)
                // Its owner's clock begins to run with `restored`.
                hold(state, lock)
            }
        } catch {
            log(.error, "a stored entry is left out: \(error.text)")
            return false
        }
        return true
    }

    /// All has been restored; times that run while nobody is there begin now.
    ///
    /// - Parameter sequence: of the last change in the journal.
    package mutating func restored(lastSequence sequence: UInt64, at now: Now) {
        enter(now)
        storage.sequence = max(storage.sequence, sequence)
        for index in metadata.indices where metadata[index].owner != nil {
            metadata[index].revealed = metadata[index].applied
            metadata[index].lastWritten = now.instant
            endMetadataIfUnused(index)
        }
        for index in locks.indices where locks[index].name != nil {
            locks[index].revealed = locks[index].applied
            locks[index].absence = ordinals.generation()
            if locks[index].applied?.owner != nil { setLockExpiry(index, after: locks[index].applied!.ttl) }
        }
        keptWindows.takeRestored(places: Self.placesMax, until: now.instant + .milliseconds(Limits.publishMemoryMilliseconds))
        setWindowSweep()
        setBoardExpiry()
        if !claims.isEmpty { sweepClaims() }
        moderation.revealed = moderation.applied
        sweepBans()
        if configuration.isJournaled { store([StoredForm.start(start), StoredForm.relay(storage.relayID)], .nothing, nil) }
        // What was removed before the end, and was still on the disk then.
        eraseAgain()
    }

    /// The start number that a stored entry tells, if it is the one that does.
    package static func storedStart(key: [UInt8], value: [UInt8]) -> UInt32? {
        guard case .start(let start)? = StoredEntry(key: key, value: value) else { return nil }
        return start
    }
}
