#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import RelayClientCore

/// `localizedDescription`, which apps show, is the sentence.
extension RelayError: LocalizedError {
    /// The same as `text`.
    public var errorDescription: String? { text }
}
