/// A code that one device shows and that is typed on another one: for one more device of the user, once (`WhiteboardClient.handOver`), or
/// for newcomers, instead of the join key (`Moderation.offerJoinCode`).
public struct OfferedCode: Equatable, Sendable {
    /// 10 digits and capital letters, none of them I, L, O or U; for newcomers six capital letters, none of them a vowel or L. Small
    /// letters, spaces and hyphens are taken as well.
    public var code: String
    /// How long the code could be used when the relay answered. It may end earlier: with the session that offered it, with its next code,
    /// and as `handOver` and `joinCodes` say.
    public var validFor: Duration

    package init(code: String, validFor: Duration) { (self.code, self.validFor) = (code, validFor) }
}
