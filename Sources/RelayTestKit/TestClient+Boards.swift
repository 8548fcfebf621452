internal import RelayTesting
package import RelayWire

// Boards, as tests write them down.

extension TestClient {
    /// Publishes a retained message under the next number, without reading what comes.
    package func retain(_ channel: String, _ key: String, _ payload: [UInt8], customType: String? = nil, flags: FrameFlags = []) {
        number += 1
        driver.send(
            .publish(number: number, channel: channel, customType: customType, key: key, flags: flags.union(.retain), payload: payload),
            from: id)
    }

    package func part(_ channel: String, _ key: String, _ part: UInt16, of parts: UInt16, _ payload: [UInt8], flags: FrameFlags = .retain) {
        number += 1
        driver.send(.publish(number: number, channel: channel, key: key, part: (part, parts), flags: flags, payload: payload), from: id)
    }

    /// A part of a change set under the next number: `a=hi` writes a record, `a` removes one.
    package func changes(_ channel: String, _ changes: [String], part: (UInt16, UInt16) = (1, 1)) {
        var bytes: [UInt8] = []
        for change in changes {
            let sides = change.split(separator: "=", maxSplits: 1).map(String.init)
            bytes.append(change: sides[0], customType: nil, isText: true, payload: sides.count == 2 ? Array(sides[1].utf8) : [])
        }
        number += 1
        driver.send(.publishChanges(number: number, channel: channel, part: part, changes: bytes), from: id)
    }

    /// What has come of a board, in words: `5 a=hi` a record, `5 a=hi 2/3` a part of one, `6 a gone`, `7 plain` a message, `8 cleared`,
    /// `gap 1…3`, `caughtUp 7`, `reset 7`, `accepted 3 at 5`, `stored 3 at 5`, `notStored 3 storageFailed`, `error 3 boardFull`,
    /// `error 3 boardFull at 2` of a change set.
    package func board() -> [String] {
        let waiting = others + frames()
        others = []
        return waiting.compactMap(Self.words)
    }

    private static func words(_ frame: Frame) -> String? {
        switch FrameType(rawValue: frame.type) {
        case .deliver?: return delivered(frame)
        case .gap?:
            let gap = decode(Gap.self, frame.body)
            return "gap \(gap.from)…\(gap.to)"
        case .catchingUp?: return "catchingUp \(decode(CatchingUp.self, frame.body).after)"
        case .caughtUp?: return "caughtUp \(decode(CaughtUp.self, frame.body).head)"
        case .reset?: return "reset \(decode(ChannelReset.self, frame.body).head)"
        case .cleared?: return "\(decode(Cleared.self, frame.body).offset) cleared"
        case .accepted?: return "accepted \(pair(frame))"
        case .stored?: return "stored \(pair(frame))"
        case .notStored?:
            let notice = decode(NotStored.self, frame.body)
            return "notStored \(notice.number) \(notice.name)"
        case .error?:
            let error = decode(ErrorBody.self, frame.body)
            return "error \(error.number.map { "\($0)" } ?? "-") \(error.name)" + (error.change.map { " at \($0)" } ?? "")
        default: return nil
        }
    }

    private static func delivered(_ frame: Frame) -> String {
        frame.body.withUnsafeBytes { body in
            let deliver = try! DeliverFrame(flags: frame.flags, body: body)
            let payload = String(decoding: deliver.payload, as: UTF8.self)
            guard deliver.flags.contains(.retain) else { return "\(deliver.offset) \(payload)" }
            let key = String(decoding: deliver.key, as: UTF8.self)
            guard !deliver.payload.isEmpty else { return "\(deliver.offset) \(key) gone" }
            return "\(deliver.offset) \(key)=\(payload)" + (deliver.flags.contains(.part) ? " \(deliver.part)/\(deliver.parts)" : "")
        }
    }

    private static func pair(_ frame: Frame) -> String {
        frame.body.withUnsafeBytes { body in
            var reader = ByteReader(body)
            return "\(reader.integer(UInt64.self)!) at \(reader.integer(UInt64.self)!)"
        }
    }
}
