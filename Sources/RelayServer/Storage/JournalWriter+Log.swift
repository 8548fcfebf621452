internal import Dispatch
import RelayCluster
internal import RelayCore
import RelayJournal
import RelayStorage
import RelaySystem

// The folder of a space with a log: who has it follows the log, or owns the space, and is read anew with each.

@available(macOS 15, iOS 18, *)
extension JournalWriter {
    static func isOfLog(_ key: [UInt8]) -> Bool { [LogPlace.key, LoggedKeys.key, LoggedAddress.key].contains(key) }

    /// The folder is of no log any more.
    func leaveLog(_ opened: inout Opened) throws(RelayServerError) {
        let own = opened.entries.filter { Self.isOfLog($0.key) }
        do throws(JournalError) {
            try journal?.amend(own.map { JournalEntry(key: $0.key, value: nil) })
        } catch {
            throw RelayServerError(text: "\(error)")
        }
        opened.entries.removeAll { Self.isOfLog($0.key) }
    }

    /// What the folder has of the log.
    ///
    /// - Throws: when it has something that the log lacks: it has served without it.
    static func place(in opened: Opened) throws(RelayServerError) -> LogPlace {
        let last = opened.report.lastSequence
        guard let value = opened.entries.first(where: { $0.key == LogPlace.key })?.value else {
            return last == 0 && opened.start == 0 ? LogPlace() : LogPlace(start: opened.start, sequence: last)
        }
        guard let place = LogPlace(encoded: value) else { throw RelayServerError(text: "the folder's place in the log is damaged") }
        guard place.sequence == last else {
            throw RelayServerError(
                text: "the folder has changes up to \(last), and the log those up to \(place.sequence): it has served without the log. "
                    + "It wants a copy of another node's folder")
        }
        return place
    }

    /// Stores what the log tells, or has taken. Told to the node when it is durable.
    nonisolated func store(_ records: [JournalRecord], _ place: LogPlace) {
        executor.queue.async { [self] in assumeIsolated { $0.storeNow(records, place) } }
    }

    private func storeNow(_ records: [JournalRecord], _ place: LogPlace) {
        guard let journal, !hasFailed else { return }
        // The machine sees to their order; whoever wrote the log may not have.
        guard records.first.map({ $0.sequence > journal.lastSequence }) ?? true, records.allSatisfy({ $0.entries.count < 65_535 }) else {
            return failed(.failed("the log has change \(records[0].sequence) behind change \(journal.lastSequence)"))
        }
        if logWall != nil { logWall = max(logWall!, Self.newestWall(of: records)) }
        var batch = records
        // A crash may cut the batch behind any record.
        for index in batch.indices.dropLast() {
            var partial = lastPlace
            (partial.sequence, partial.isPartial) = (batch[index].sequence, true)
            batch[index].entries.append(JournalEntry(key: LogPlace.key, value: partial.encoded))
        }
        lastPlace = place
        store(batch, with: JournalEntry(key: LogPlace.key, value: place.encoded)) { [log] in log?.stored(through: place.position) }
        wake()
    }

    /// Time passes for a follower as the owner's changes say: its own clock may be ahead of what the log will still tell.
    private static func newestWall(of records: [JournalRecord]) -> UInt64 {
        var newest: UInt64 = 0
        for entry in records.lazy.flatMap(\.entries) {
            guard let board = StoredChange.board(entry.key), let value = entry.value,
                let decoded = value.withUnsafeBytes({ StoredChange.decode($0, board: board, keepsPayload: false) })
            else { continue }
            newest = max(newest, decoded.change.wallMilliseconds)
        }
        return newest
    }

    /// From now on the folder is a follower's; what is stored next is the log's.
    nonisolated func beginFollowing() {
        executor.queue.async { [self] in assumeIsolated { $0.readAgain(asFollower: true) { _ in } } }
    }

    /// From now on it is that of a hub.
    ///
    /// - Parameter start: number of the ownership, which also stands in the anchor then.
    nonisolated func beginServing(start: UInt32, _ tell: @escaping @Sendable (Result<Opened, RelayServerError>) -> Void) {
        executor.queue.async { [self] in
            assumeIsolated { writer in
                writer.readAgain(asFollower: false) { result in
                    tell(
                        result.flatMap { opened in
                            do throws(RelayServerError) { try writer.note(start: start) } catch { return .failure(error) }
                            var opened = opened
                            opened.sealedKeys = opened.entries.first { $0.key == LoggedKeys.key }?.value
                            opened.entries.removeAll { Self.isOfLog($0.key) }
                            return .success(opened)
                        })
                }
            }
        }
    }

    func followAgain() { readAgain(asFollower: true) { [log] in if case .success = $0 { log?.diskRecovered() } } }

    func readAgain(asFollower: Bool, _ tell: (Result<Opened, RelayServerError>) -> Void) {
        // What has failed is read again when it has recovered.
        guard !hasFailed, let storage else { return tell(.failure(RelayServerError(text: "the data folder cannot be used"))) }
        shut()
        logWall = asFollower ? 0 : nil
        do throws(RelayServerError) {
            let opened = try read(storage)
            for line in opened.report.lines + opened.boardLines { log?.say(line) }
            tell(.success(opened))
        } catch {
            // Nothing is open that could recover: the folder is at fault, and the operator is told.
            log?.diskFailed(error.text)
            tell(.failure(error))
        }
    }

    /// Ends what is read and written, without the folder's lock, which stays.
    func shut() {
        if case .underWay = copying { copying = .failed("the relay has another part in its space now") }
        boards?.close()
        journal?.close()
        (boards, journal, hasFailed) = (nil, nil, false)
        tell = { _ in }
        intake.withLock { intake in
            (intake.reads, intake.authorReads, intake.erasures, intake.searches) = ([], [], [], [])
        }
    }
}
