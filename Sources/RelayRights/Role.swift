/// What somebody is on every channel, and so may do there. The raw value is its word in tokens.
///
/// Moderators alone may besides revoke locks, freeze, ban, end sessions and change other users' metadata, which is nobody's right
/// by grant: see `Access.isModerator`.
public enum Role: String, CaseIterable, Comparable, Sendable {
    /// Looks on.
    case reader
    /// Draws.
    case editor
    /// Draws, and changes what others drew.
    case coeditor
    /// Leads.
    case moderator

    /// What the role may do on every channel.
    public var rights: Rights {
        switch self {
        case .reader: [.subscribe, .presence]
        case .editor: [.subscribe, .presence, .publish, .stream, .metadata, .lock, .direct]
        case .coeditor: Role.editor.rights.union(.revise)
        case .moderator: .all
        }
    }

    /// A role with more rights is greater.
    public static func < (left: Self, right: Self) -> Bool { allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)! }

    /// The role that a word names; `nil`: the word names none.
    package init?(word: String) {
        guard let role = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(word.utf8) }) else { return nil }
        self = role
    }
}
