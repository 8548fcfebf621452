import RelayPrimitives
internal import RelayStorage
import RelayWire

// Drawings in parts: which part follows, and what happens to incomplete drawings. [BL8]

extension Hub {
    /// Whether a part is the expected next one.
    ///
    /// - Returns: what the drawing takes on a board with it, in bytes.
    /// - Throws: `limitReached`, `partMissing`, `badRequest`, `tooLarge`.
    func checkPart(_ frame: PublishFrame, _ key: Name, _ channel: Name, _ session: Session.Index) throws(WireError) -> Int {
        let isRetained = frame.flags.contains(.retain)
        let known = sessions[session].window.draft(channel, key, isRetained: isRetained)
        guard frame.part > 1 else {
            let drafts = sessions[session].window.drafts
            let others = drafts.indices.count { $0 != known && isAlive(drafts[$0]) }
            guard others < configuration.draftsMax else {
                throw WireError(
                    .limitReached, "at most \(configuration.draftsMax) drawings of a client come in parts at once",
                    limit: configuration.draftsMax,
                    actual: others + 1)
            }
            return Self.headBytes(frame, key) + frame.payload.count
        }
        guard let draft = known.map({ [sessions] in sessions[session].window.drafts[$0] }), isThere(draft) else {
            throw WireError(.partMissing, "part \(frame.part) of \(frame.parts) comes without the parts before it")
        }
        guard frame.extensions.isEmpty else { throw WireError(.badRequest, "of a drawing in parts part 1 has the extensions") }
        let isLate = !isAlive(draft)
        let isSame = draft.parts == frame.parts && draft.flags == frame.flags && frame.customType.elementsEqual(draft.customType)
        guard !isLate, isSame, draft.next == frame.part else {
            throw WireError(
                .partMissing,
                "part \(frame.part) of \(frame.parts) does not follow: \(isLate ? "the parts before it are forgotten" : "part \(draft.next) of \(draft.parts) does")"
            )
        }
        let bytes = draft.bytes + frame.payload.count
        let drawn = bytes - key.text.utf8.count - draft.extensions.count - BoardSummary.recordOverheadBytes
        let limit = configuration.limits.largeMessageBytesMax
        guard drawn <= limit else {
            throw WireError(.tooLarge, "a drawing in parts has at most \(limit) bytes, not \(drawn)", limit: limit, actual: drawn)
        }
        return bytes
    }

    private static func headBytes(_ frame: PublishFrame, _ key: Name) -> Int {
        key.text.utf8.count + frame.customType.count + frame.extensions.count + BoardSummary.recordOverheadBytes
    }

    /// The board that has its parts is there still, and is not another one of the same name.
    private func isThere(_ draft: Draft) -> Bool {
        !draft.isRetained || boards[named: draft.channel].map { [boards] in boards[$0].id } == draft.board
    }

    private func isAlive(_ draft: Draft) -> Bool {
        isThere(draft) && now.instant - draft.lastAt <= .milliseconds(Limits.partTimeoutMilliseconds)
    }

    /// Takes a drawing out of the unfinished ones, with one more part. Part 1 begins it again.
    mutating func advanced(_ frame: PublishFrame, _ key: Name, _ channel: Name, board: UInt64, _ session: Session.Index) -> Draft {
        let begun = sessions[session].window.takeDraft(channel, key, isRetained: frame.flags.contains(.retain))
        var draft: Draft
        if let begun, frame.part > 1 {
            draft = begun
        } else {
            // Those of records that came to nothing: nobody was shown them.
            let late = sessions[session].window.drafts.filter { $0.isRetained && !isAlive($0) }.map(\.upload)
            sessions[session].window.drafts.removeAll { late.contains($0.upload) }
            draft = Draft(
                channel: channel, board: board, key: key, upload: nextSequence, next: 1, parts: frame.parts, flags: frame.flags,
                customType: Array(frame.customType), extensions: Array(frame.extensions), bytes: Self.headBytes(frame, key),
                lastAt: now.instant)
        }
        draft.bytes += frame.payload.count
        draft.lastAt = now.instant
        draft.next += 1
        return draft
    }

    // MARK: - Parts that are messages

    /// A part that is a message was accepted.
    mutating func follow(_ frame: PublishFrame, _ key: Name, _ channel: Name, _ session: Session.Index) {
        let draft = advanced(frame, key, channel, board: 0, session)
        guard frame.part < frame.parts else { return }
        sessions[session].window.drafts.append(draft)
        watchParts(of: session)
    }

    mutating func watchParts(of session: Session.Index) {
        let messages = sessions[session].window.drafts.filter { !$0.isRetained }
        let lastAt = messages.map(\.lastAt) + (sessions[session].window.staged.map { [$0.lastAt] } ?? [])
        guard !sessions[session].window.watchesDrafts, let first = lastAt.min() else { return }
        sessions[session].window.watchesDrafts = true
        let end = first + .milliseconds(Limits.partTimeoutMilliseconds)
        deadlines.set(.partsEnd(session: session, generation: sessions[session].generation), at: end + .milliseconds(1))
    }

    mutating func partsDeadline(_ session: Session.Index) {
        sessions[session].window.watchesDrafts = false
        endParts(of: session, onlyLate: true)
        watchParts(of: session)
    }

    /// The hub forgets an incomplete change set. Readers that have the beginning of a drawing learn that its rest will not come, by a
    /// message like its parts, with part 0.
    ///
    /// - Parameter onlyLate: only drawings and sets whose next part is overdue.
    mutating func endParts(of session: Session.Index, onlyLate: Bool = false) {
        endStaged(of: session, onlyLate: onlyLate)
        let over = sessions[session].window.drafts.filter { !$0.isRetained && !(onlyLate && isAlive($0)) }
        guard !over.isEmpty else { return }
        sessions[session].window.drafts.removeAll { draft in over.contains { $0.upload == draft.upload } }
        for draft in over {
            guard let channel = channels[named: ChannelID(kind: .message, channel: draft.channel)] else { continue }
            counters.drawingsEnded += 1
            let end = Frame.publish(
                number: 1, channel: draft.channel.text, key: draft.key.text, part: (0, draft.parts),
                flags: draft.flags.intersection(.noHistory), payload: [])
            let offset = takeOffset(channel)
            end.body.withUnsafeBytes { body in
                handOn(try! PublishFrame(flags: end.flags, body: body), channel, session, offset: offset, board: nil)
            }
        }
    }
}
