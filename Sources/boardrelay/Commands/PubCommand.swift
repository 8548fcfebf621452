import RelayClient
import RelayConsole
import RelayIO
import RelayWire

@available(macOS 15, iOS 18, *)
extension Command {
    static let pub = Command(
        name: "pub",
        summary: "sends messages and packets",
        arguments: [
            .init(name: "CHANNEL", isOptional: true, help: "Where to send; omitted with --to."),
            .init(
                name: "TEXT", isOptional: true,
                help: "What to send. Without TEXT, -m and -f: standard input without its last newline."
            ),
        ],
        options: [
            .value("-m", "--message", as: "TEXT", help: "Text to send; it may begin with a dash."),
            .value("-f", "--file", as: "FILE", help: "Sends this file, - for standard input: as text if it is UTF-8, else as bytes."),
            .flag("-l", "--lines", help: "Sends each line of standard input as it comes; blank lines are left out."),
            .value("--type", as: "TYPE", help: "Custom type of the message."),
            .value("--record", as: "KEY", help: "Key of the record to keep or remove; groups the parts of a large message."),
            .flag("--retain", help: "Keeps the message as the record of its key, and waits until it is on disk."),
            .flag("--remove", help: "Removes the record of the key, and waits until that is on disk."),
            .value(
                "--changes", as: "FILE",
                help: "Writes and removes many records together, all or none: a JSON object a line, - for standard input."),
            .flag("--large", help: "Sends a large message in parts; --record does, too."),
            .value("--topic", as: "TOPIC", help: "Sends a packet on this topic of the stream channel."),
            .value("--slot", as: "N", help: "Slot of the packet: a slow reader gets only the newest of each slot."),
            .value("--to", as: "USER", help: "Sends to this user alone, and waits until it has arrived."),
            .value("--timeout", as: "TIME", help: "Gives up after this time with exit code 124. Default: 30s, with --lines none."),
            .json, .url, .space, .user, .key, .keyFile, .token, .tokenFile,
        ],
        notes: [
            """
            A message has at most 32,768 bytes with its custom type, a packet 1,024. Larger ones are refused with exit code 1. With \
            --record or --large a message may have 8,388,608 bytes: pub sends it in parts, and it arrives as one. Empty standard input \
            is refused with exit code 2.
            """,
            """
            A line of --changes is {"key":"a","text":"…"} with "customType" if it has one and "base64" in place of "text" for bytes, or \
            {"key":"a","isRemoval":true}. A file has at most 4,096 changes of 32,768 bytes each, and 8,388,608 together. If the relay \
            refuses one, pub says which, and none is made.
            """,
        ],
        examples: [
            .init("boardrelay pub lesson hello", "A message to everybody on 'lesson'."),
            .init("date | boardrelay pub lesson", "What another program prints, as one message."),
            .init("boardrelay pub lesson -f drawing.bin --type drawing", "A file as one message."),
            .init(
                "boardrelay pub lesson --retain --record photo-1 -f photo.jpg",
                "A record of the board 'lesson', which replaces an earlier one."),
            .init("boardrelay pub lesson --remove --record photo-1", "Removes it again."),
            .init("boardrelay pub lesson --changes moved.jsonl", "Many records, written and removed as one."),
            .init("boardrelay pub lesson --topic cursor --slot 1 -m '10,20'", "A packet on topic 'cursor'."),
            .init("boardrelay pub --to alice 'your turn'", "A message to alice alone."),
        ],
        run: pub)

    private static func pub(_ arguments: Arguments) async throws -> ExitCode {
        for other in ["--to", "--type"] { try arguments.exclude("--topic", other) }
        for option in ["--record", "--retain", "--remove", "--large"] {
            for other in ["--topic", "--to"] { try arguments.exclude(option, other) }
        }
        for other in ["-m", "-f", "--type", "--retain", "--large"] { try arguments.exclude("--remove", other) }
        for other in ["-m", "-f", "--type", "--record", "--large", "--topic", "--to"] { try arguments.exclude("--changes", other) }
        for other in ["-m", "-f", "--record", "--retain", "--remove", "--large", "--changes"] { try arguments.exclude("--lines", other) }
        if let file = arguments.value("--changes") { return try await publish(changes: file, arguments) }
        let key = try arguments.name("--record")
        for option in ["--retain", "--remove"] where arguments.flag(option) && key == nil {
            throw UsageError("option \(option) wants --record")
        }
        if arguments.flag("--slot"), !arguments.flag("--topic") { throw UsageError("option --slot wants --topic") }
        let receiver = try arguments.name("--to")
        let texts = arguments.positional.dropFirst(receiver == nil ? 1 : 0)
        let givesText = ["-m", "-f", "--remove", "-l"].first { arguments.flag($0) }
        if receiver != nil, texts.count > (givesText == nil ? 1 : 0) { throw UsageError("CHANNEL and option --to exclude each other") }
        if let givesText, !texts.isEmpty { throw UsageError("TEXT and option \(givesText) exclude each other") }
        let channel = receiver == nil ? try arguments.channel() : ""
        let topic = try arguments.name("--topic")
        let slot = try arguments.integer("--slot", in: 0...Int(UInt32.max)).map { UInt32($0) }
        let user = try arguments.user()
        if arguments.flag("--lines") {
            return try await publishLines(
                arguments, to: receiver.map { .user($0) } ?? topic.map { .topic($0, slot) } ?? .channel, channel, user)
        }
        let timeout = try arguments.duration("--timeout") ?? .seconds(30)
        let payload = arguments.flag("--remove") ? .bytes([]) : try payload(arguments, text: texts.first)
        let address = try arguments.address()
        let code = try await withClient(arguments, as: user, timeout: timeout) { client in
            let result: JSONValue
            if let receiver {
                try await client.send(payload, toUser: receiver, customType: arguments.value("--type")).acknowledged()
                result = ["type": "confirmed", "user": .string(receiver), "bytes": .integer(payload.byteCount)]
            } else if let topic {
                try await sendPacket(payload, client: client, channel: channel, topic: topic, slot: slot)
                result = ["type": "sent", "channel": .string(channel), "topic": .string(topic), "bytes": .integer(payload.byteCount)]
            } else if key != nil || arguments.flag("--large") {
                result = try await sendRecord(payload, key: key, client: client, channel: channel, arguments)
            } else {
                let accepted = try await sendMessage(payload, to: channel, client: client, customType: arguments.value("--type"))
                result = [
                    "type": "accepted", "channel": .string(channel), "offset": .integer(Int(clamping: accepted)),
                    "bytes": .integer(payload.byteCount),
                ]
            }
            if arguments.flag("--json") {
                try Console.print(JSONValue.object([result, ["relay": .string("\(address)")]]).line)
            } else {
                noteChange("\(Printable.size(payload.byteCount)) sent to \(receiver ?? channel).", at: address)
            }
            return .ok
        }
        if code == .timedOut { Console.note("boardrelay pub: timed out; it may have been sent or not") }
        return code
    }

    private enum Target { case channel, topic(String, UInt32?), user(String) }

    /// Each line by itself, in their order. The first that is refused ends it; lines before it were sent.
    private static func publishLines(_ arguments: Arguments, to target: Target, _ channel: String, _ user: String) async throws -> ExitCode
    {
        let address = try arguments.address(), type = arguments.value("--type"), timeout = try arguments.duration("--timeout")
        var number = 0, sent = 0
        // Not where somebody types them.
        let progress = Console.inputIsTerminal ? nil : Progress()
        defer { progress?.end() }
        let code = try await withClient(arguments, as: user, timeout: timeout, tells: true) { client in
            var stream: StreamChannel?
            if case .topic(let topic, _) = target {
                stream = try await client.join(channel, features: [], quiet: false)
                try await stream!.joinTopic(topic)
            }
            let lines = InputLines()
            // Whoever ends the client, or the wait, ends the reading: input may never come.
            let end = Task {
                for await event in client.told { if case .link(.closed) = event { break } }
                lines.end()
            }
            defer { end.cancel() }
            for try await line in lines.all {
                lines.taken()
                number += 1
                guard !line.isEmpty else { continue }
                let payload = String(validating: line, as: UTF8.self).map { Payload.text($0) } ?? .bytes(line)
                do {
                    switch target {
                    case .channel: _ = try await client.send(payload, to: channel, customType: type).accepted
                    case .user(let user): try await client.send(payload, toUser: user, customType: type).acknowledged()
                    case .topic(let topic, let slot):
                        try stream!.send(payload, topic: topic, slot: slot)
                        // As fast as the relay takes them, by default.
                        try await Task.sleep(for: .milliseconds(5))
                    }
                } catch let error as RelayError {
                    throw Failure("line \(number): \(Failure(error)); \(sent) sent before it")
                }
                sent += 1
                progress?.show(Printable.count(sent, "line") + " sent")
            }
            if case .closed(let reason) = client.link, reason.code != .clientClosed { throw reason }
            if case .topic(let topic, _) = target { try await leave(topic, stream!, client) }
            return .ok
        }
        if code == .timedOut {
            Console.note("boardrelay pub: timed out; \(sent) lines were sent")
        } else if arguments.flag("--json") {
            let result: JSONValue = ["type": "lines", "sent": .integer(sent), "relay": .string("\(address)")]
            try Console.print(result.line)
        } else {
            noteChange("\(sent) line\(sent == 1 ? "" : "s") sent.", at: address)
        }
        return code
    }

    private static func publish(changes file: String, _ arguments: Arguments) async throws -> ExitCode {
        if arguments.positional.count > 1 { throw UsageError("TEXT and option --changes exclude each other") }
        let channel = try arguments.channel()
        let timeout = try arguments.duration("--timeout") ?? .seconds(30)
        let changes = try ChangeLines.read(try FileContents.read(file))
        let address = try arguments.address()
        let code = try await withClient(arguments, as: try arguments.user(), timeout: timeout) { client in
            let offset: UInt64
            do throws(RelayError) {
                offset = try await client.send(changes: changes, to: channel).stored
            } catch {
                guard let index = error.changeIndex else { throw error }
                throw Failure("change \(index + 1) (\(Printable.escaped(changes[index].key))): \(Failure(error)); none was made")
            }
            if arguments.flag("--json") {
                let result: JSONValue = [
                    "type": "stored", "channel": .string(channel), "changes": .integer(changes.count),
                    "offset": .integer(Int(clamping: offset)), "relay": .string("\(address)"),
                ]
                try Console.print(result.line)
            } else {
                noteChange("\(changes.count) change\(changes.count == 1 ? "" : "s") made in \(channel).", at: address)
            }
            return .ok
        }
        if code == .timedOut { Console.note("boardrelay pub: timed out; the changes may have been made or not") }
        return code
    }

    /// - Throws: a `Failure` with what helps, when it does not fit into one message.
    private static func sendMessage(
        _ payload: Payload, to channel: String, client: WhiteboardClient, customType: String?
    ) async throws -> UInt64 {
        do throws(RelayError) {
            return try await client.send(payload, to: channel, customType: customType).accepted
        } catch {
            // A custom type that is too long is too large as well.
            let bytes = payload.byteCount + (customType?.utf8.count ?? 0)
            guard error.code == .tooLarge, payload.byteCount > 0, error.actual == bytes else { throw error }
            throw Failure("\(Failure(error)); --large sends it in parts")
        }
    }

    /// A record, or what may need several messages.
    private static func sendRecord(_ payload: Payload, key: String?, client: WhiteboardClient, channel: String, _ arguments: Arguments)
        async throws -> JSONValue
    {
        let receipt =
            if let key, arguments.flag("--remove") {
                try client.send(removing: key, from: channel)
            } else {
                try client.sendLarge(
                    payload, to: channel, customType: arguments.value("--type"), key: key, retain: arguments.flag("--retain"))
            }
        return [
            "type": arguments.flag("--retain") || arguments.flag("--remove") ? "stored" : "accepted", "channel": .string(channel),
            "key": .optional(key), "offset": .integer(Int(clamping: try await receipt.stored)), "bytes": .integer(payload.byteCount),
        ]
    }

    /// A packet is not answered: leaving its topic is, and comes after it.
    private static func sendPacket(
        _ payload: Payload, client: WhiteboardClient, channel: String, topic: String, slot: UInt32?
    ) async throws {
        let stream = try await client.join(channel, features: [], quiet: false)
        try await stream.joinTopic(topic)
        try stream.send(payload, topic: topic, slot: slot)
        try await leave(topic, stream, client)
    }

    /// - Throws: `Failure` if packets were not passed on.
    private static func leave(_ topic: String, _ stream: StreamChannel, _ client: WhiteboardClient) async throws {
        try await stream.leaveTopic(topic)
        await client.close()
        for await event in client.told {
            switch event {
            case .refused(let refusal): throw Failure(refusal.error)
            case .packetsDropped(let dropped): throw Failure("a packet was not passed on (\(dropped.reason))")
            default: continue
            }
        }
    }

    private static func payload(_ arguments: Arguments, text: String?) throws -> Payload {
        try arguments.exclude("-m", "-f")
        if let text = text ?? arguments.value("-m") { return .text(text) }
        let path = arguments.value("-f")
        guard path != nil || !Console.inputIsTerminal else { throw missing }
        let data = try FileContents.read(path ?? "-")
        guard var read = String(validating: data, as: UTF8.self) else { return .bytes(data) }
        if path == nil {
            // A program that was started without an input has nothing to say: an empty message is sent on purpose only.
            if read.isEmpty { throw missing }
            // As a shell does with what a command prints.
            if read.last == "\n" || read.last == "\r\n" { read.removeLast() }
        }
        return .text(read)
    }

    private static let missing = UsageError("what to send is missing: TEXT, -m TEXT, -f FILE or standard input")
}
