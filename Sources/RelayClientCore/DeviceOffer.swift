/// A code with which one more device becomes one of this user's, once.
public struct DeviceOffer: Equatable, Sendable {
    /// 10 digits and capital letters, none of them I, L, O or U. Small letters, spaces and hyphens are taken as well.
    public var code: String
    /// How long it can be used, from now on, if it is not replaced by another one and the client that offered it keeps its session.
    public var validFor: Duration

    package init(code: String, validFor: Duration) { (self.code, self.validFor) = (code, validFor) }
}
