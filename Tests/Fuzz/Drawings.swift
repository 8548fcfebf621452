import BoardFormat

private let types = [BoardWords.stroke, BoardWords.text, BoardWords.title, BoardWords.erase, BoardWords.move, BoardWords.image]

/// By the first byte a message of a board, a packet of points, a saved board, a recording, an exported board, or a
/// recorded lesson.
func drawings(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.first else { return false }
    let content = Array(bytes.dropFirst())
    switch first {
    case 0..<5, 9: message(types[min(Int(first), 5)], content)
    case 5:
        guard let packet = try? PointPacket.decode(content) else { break }
        let again = (try? packet.payloads())?.first.flatMap { try? PointPacket.decode($0) }
        must(again?.points.first == packet.points.first && again?.id == packet.id, "\(packet) comes back as \(String(describing: again))")
    case 6:
        guard let board = try? SavedBoard(json: content) else { break }
        must((try? SavedBoard(json: board.json)) == board, "\(board) does not come back")
    case 7: if let recording = try? Recording(ndjson: content) { _ = try? ReplayPlan(recording.boards, ReplayPlan.Options(idPrefix: "a")) }
    case 10:
        guard let lesson = try? RecordedLesson(ndjson: content) else { break }
        let lines = lesson.events.flatMap { $0.line(board: lesson.board) + [UInt8(ascii: "\n")] }
        must((try? RecordedLesson(ndjson: lines)) == lesson, "\(lesson) does not come back")
        _ = ReplayPlan.lesson(lesson, ReplayPlan.Options(idPrefix: ""))
    case 8:
        let readings = [[content], content.map { [$0] }].map(ExportReading.init)
        must(readings[0] == readings[1], "\(readings[0]) in one piece, byte by byte \(readings[1])")
        var picture = WhiteboardPicture()
        for record in readings[0].records { picture.add(record) }
        _ = BoardSVG.document(picture)
    default: return false
    }
    return true
}

/// What was read is drawn, and comes back from its encoder.
private func message(_ type: String, _ payload: [UInt8]) {
    guard let found = try? BoardMessage.decode(customType: type, payload: payload) else { return }
    do {
        let again = try BoardMessage.decode(customType: type, payload: found.encoded())
        must(again == found, "\(found) comes back as \(String(describing: again))")
    } catch {
        guard case BoardError.tooLarge = error else { fatalError("\(found) cannot be written: \(error)") }
    }
    var picture = WhiteboardPicture()
    picture.add(WhiteboardRecord(key: "a", customType: type, payload: .text(String(decoding: payload, as: UTF8.self))))
    _ = BoardSVG.document(picture)
}

private struct ExportReading: Equatable {
    var records: [WhiteboardRecord] = []
    var problem: BoardExportError?

    init(_ pieces: [[UInt8]]) {
        var reader = BoardExportReader(recordBytesMax: 200)
        do throws(BoardExportError) {
            for piece in pieces { try reader.read(piece, into: &records) }
            try reader.finish()
        } catch {
            problem = error
        }
    }
}
