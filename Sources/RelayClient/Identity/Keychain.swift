/// What the system keeps for an app under names, for as long as the device is not erased: the Keychain of Apple's systems.
package protocol Keychain: Sendable {
    func read(_ name: String) -> KeychainAnswer
    func add(_ name: String, _ content: [UInt8]) -> KeychainAnswer
    func update(_ name: String, _ content: [UInt8]) -> KeychainAnswer
}

package enum KeychainAnswer: Equatable, Sendable {
    /// With what the item holds, where it was read.
    case done([UInt8] = [])
    /// There is an item of that name: another process of the app was faster.
    case isThere
    case isNot
    /// The program has no part in the Keychain. On macOS only apps with a provisioning profile do: commands and unsigned programs do not.
    case notEntitled
    /// The system's number for anything else, such as a device that was not unlocked yet since it started.
    case failed(Int32)
}

/// The system's, if it has one.
package let systemKeychain: (any Keychain)? = {
    #if canImport(Security)
        DataProtectionKeychain()
    #else
        nil
    #endif
}()
