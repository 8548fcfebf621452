#if canImport(Security)
    internal import Foundation
    internal import Security

    /// Of macOS's two Keychains the one that iOS has, too: the other one asks people, and forgets who asked when a program is built again.
    struct DataProtectionKeychain: Keychain {
        private func item(_ name: String) -> [CFString: Any] {
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "boardrelay", kSecAttrAccount: name,
                kSecUseDataProtectionKeychain: true,
            ]
        }

        func read(_ name: String) -> KeychainAnswer {
            var found: CFTypeRef?
            let query = item(name).merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            return answer(status, content: (found as? Data).map(Array.init) ?? [])
        }

        func add(_ name: String, _ content: [UInt8]) -> KeychainAnswer {
            // An app in the background reconnects, too; and no other device may speak for this user.
            let made: [CFString: Any] = [
                kSecValueData: Data(content), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            return answer(SecItemAdd(item(name).merging(made) { $1 } as CFDictionary, nil))
        }

        func update(_ name: String, _ content: [UInt8]) -> KeychainAnswer {
            let change: [CFString: Any] = [kSecValueData: Data(content)]
            return answer(SecItemUpdate(item(name) as CFDictionary, change as CFDictionary))
        }

        private func answer(_ status: OSStatus, content: [UInt8] = []) -> KeychainAnswer {
            switch status {
            case errSecSuccess: .done(content)
            case errSecDuplicateItem: .isThere
            case errSecItemNotFound: .isNot
            case errSecMissingEntitlement: .notEntitled
            default: .failed(status)
            }
        }
    }
#endif
