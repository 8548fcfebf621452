import RelayWire

/// The channels that a grant is for: one by its name, all whose names begin alike (`board-*`), or every one (`*`).
///
/// A `*` stands for any rest of a name, also for none: `board-*` means `board-` and `board-7`. No name holds one (NM1), so no
/// pattern is mistaken for a name.
package struct ChannelPattern: Hashable, Sendable, CustomStringConvertible {
    private enum Kind: Hashable { case exactly(Name), beginning(Name), every }

    private let kind: Kind

    /// - Throws: `badName` unless this is a name, a name and `*`, or `*`. What stands before the `*` has up to 64 bytes.
    package init(_ text: String) throws(WireError) {
        if text.utf8.elementsEqual("*".utf8) {
            kind = .every
        } else if text.utf8.last == UInt8(ascii: "*") {
            kind = .beginning(try Name(String(decoding: text.utf8.dropLast(), as: UTF8.self)))
        } else {
            kind = .exactly(try Name(text))
        }
    }

    /// Whether this is `*`, which is besides where rights stand that are no channel's.
    package var isEveryChannel: Bool { kind == .every }

    /// Whether the grant is for this channel, of either kind.
    package func matches(_ channel: Name) -> Bool {
        switch kind {
        case .exactly(let name): channel == name
        case .beginning(let beginning): channel.text.utf8.starts(with: beginning.text.utf8)
        case .every: true
        }
    }

    package var description: String {
        switch kind {
        case .exactly(let name): name.text
        case .beginning(let beginning): beginning.text + "*"
        case .every: "*"
        }
    }
}
