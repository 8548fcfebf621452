import RelayClient
import RelayWire

/// How a command prints what it reads from a channel.
package enum PrintForm {
    case text, json, raw

    package init(_ arguments: Arguments) throws(UsageError) {
        try arguments.exclude("--raw", "--json")
        self = arguments.flag("--json") ? .json : arguments.flag("--raw") ? .raw : .text
    }

    /// Where it belongs: with `--raw` standard output has payloads alone.
    package func print(_ event: ClientEvent) throws {
        switch self {
        case .text: try Console.print(EventText.line(event))
        case .json: try Console.print(EventJSON.object(event).line)
        case .raw: Console.note(EventText.line(event))
        }
    }

    /// A message, packet or direct message.
    package func print(message event: ClientEvent) throws {
        guard self == .raw else { return try print(event) }
        try Self.printPayload(of: event)
    }

    /// What was sent and nothing else. That a record was removed is no payload, and is said beside it.
    private static func printPayload(of event: ClientEvent) throws {
        let payload: Payload
        switch event {
        case .message(let message) where message.isRemoval: return Console.note(EventText.line(event))
        case .message(let message): payload = message.payload
        case .packet(let packet): payload = packet.payload
        case .direct(let direct): payload = direct.payload
        default: preconditionFailure("no event that comes one by one with a payload: \(event)")
        }
        // Into a pipe as it is; a terminal must not be changed by what others sent.
        switch payload {
        case _ where !Console.outputIsTerminal: try Console.print(raw: payload.bytes)
        case .text(let text): try Console.print(Printable.escaped(text))
        case .bytes(let bytes): try Console.print(Printable.escaped(String(decoding: bytes, as: UTF8.self)))
        }
    }
}
