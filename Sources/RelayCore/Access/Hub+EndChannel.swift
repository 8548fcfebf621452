import RelayPrimitives
internal import RelayStorage
import RelayWire

// A moderator ends the channels of a name: everybody is out, and what they kept is gone. [AC19]

extension Hub {
    /// `endChannel`: board, metadata and locks of both kinds in one record, so that a crash leaves all of it or nothing. A name without any
    /// of these needs no disk.
    mutating func endChannel(_ body: UnsafeRawBufferPointer, _ session: Session.Index, _ connection: Connection.Index) throws(WireError) {
        let request = try decode(EndChannelRequest.self, body)
        try requireModerator(session)
        try checkReason(request.reason)
        let name = request.channel
        let board = boards[named: name] == nil ? nil : try board(name)
        if isKept(name) {
            try checkStorage()
            try checkErasures()
        }
        let change = ModerationChange.endChannel(name, reason: request.reason ?? "")
        let decision = Decision(change: change, by: (sessions[session].user!, sessionName(connection)))
        let head = channels[named: ChannelID(kind: .message, channel: name)].map { channels[$0].head } ?? 0
        var (entries, subjects) = ([JournalEntry](), [UnrevealedChange.Subject.moderation(decision)])
        if let board {
            let (entry, transition) = dropping(board, by: session, from: nil)
            entries.append(entry)
            subjects.append(.board(transition))
        }
        let ofBoard = entries
        if let board { entries += endingEntries(board) }
        for kind in ChannelKind.allCases { take(ChannelID(kind: kind, channel: name), &entries, &subjects) }
        subjects.append(.channelGone(name, head: head))
        guard !entries.isEmpty else {
            answer(connection, EmptyAnswer(id: request.id))
            if ChannelKind.allCases.contains(where: { channels[named: ChannelID(kind: $0, channel: name)] != nil }) {
                for subject in subjects { reveal(subject) }
            }
            return
        }
        // A relay without a disk keeps boards alone in what stands for one.
        store(
            configuration.isJournaled ? entries : ofBoard, .together(subjects), requester(connection, request.id, .whenErased(nil)),
            erasing: ErasureMark())
    }

    /// Whether anything of the name stands on the disk.
    private func isKept(_ name: Name) -> Bool {
        guard boards[named: name] == nil else { return true }
        return ChannelKind.allCases.contains { kind in
            guard let channel = channels[named: ChannelID(kind: kind, channel: name)] else { return false }
            return channels[channel].metadata != nil || !channels[channel].locks.isEmpty
        }
    }

    /// Takes metadata and locks of a channel away.
    private mutating func take(_ id: ChannelID, _ entries: inout [JournalEntry], _ subjects: inout [UnrevealedChange.Subject]) {
        guard let channel = channels[named: id] else { return }
        if let book = channels[channel].metadata {
            // Without conditions nothing is refused.
            let change = try! metadata[book].applied.removing(nil, .init())
            entries += StoredForm.forgetting(.channel(id), change)
            if let change {
                applyMetadata(book, change)
                subjects.append(.metadata(book, change))
            }
        }
        for lock in locksOf(id) where locks[lock].applied != nil {
            let transition = removing(lock)
            entries.append(StoredForm.entry(id, locks[lock].name!, nil))
            subjects.append(.lock(lock, transition))
        }
    }

    // MARK: - Durable

    /// Everybody is out of both channels. Nobody hears of anybody else's leaving, and `removed` comes last.
    mutating func emptyChannels(_ name: Name, _ reason: String) {
        let text = reason.isEmpty ? "a moderator has ended channel \(name)" : reason
        for kind in ChannelKind.allCases {
            guard let channel = channels[named: ChannelID(kind: kind, channel: name)] else { continue }
            let notice = RemovedNotice(channel: channels[channel].handle, code: .channelEnded, text: text)
            stopTelling(channel)
            work.look(at: channels[channel].inside.count)
            for session in channels[channel].inside.inOrder() {
                let membership = membership(of: session, inside: channel)
                let (isTold, wasLent) = (!memberships[membership].heldOver, memberships[membership].lent != nil)
                removeFromChannel(membership, .leave)
                if wasLent { endLockWaits(session) }
                if isTold, let connection = outbox.connection(of: session) { enqueueJSON(connection, .removed, notice) }
            }
        }
    }

    private mutating func stopTelling(_ channel: Channel.Index) {
        channels[channel].messageReceivers = []
        channels[channel].presenceReceivers = []
        channels[channel].topicReceivers = []
        channels[channel].metadataReceivers = []
        channels[channel].lockReceivers = []
        for flow in channels[channel].topics.values.joined() {
            for receiver in flows[flow].receivers { countReceiving(-1, membership(of: receiver, inside: channel)) }
            (flows[flow].receivers, flows[flow].meantFrom) = ([], [:])
        }
    }

    /// The places of the channels are free, unless what came behind the request has begun them anew.
    ///
    /// - Parameter head: of the message channel then.
    mutating func forgetChannels(_ name: Name, head: UInt64) {
        for kind in ChannelKind.allCases {
            let id = ChannelID(kind: kind, channel: name)
            if let channel = channels[named: id], let book = channels[channel].metadata { forgetEmptyMetadata(book) }
            guard let channel = channels[named: id] else { continue }
            forgetHistory(of: channel, through: head)
            if channels[channel].board == nil { endChannelIfUnused(channel, lingers: false) }
        }
    }
}
