import RelayPrimitives

/// A short secret that a log carries: sealed under a secret that all nodes of a space have, and the log's servers have not.
///
///     0        1        17          17 + n
///     form u8  nonce 16 ciphertext  tag 32
///
/// Encrypt, then authenticate, from HMAC-SHA-256 (RFC 2104) alone; keys are used for one purpose each:
///
///     encryption key      HMAC(secret, "boardrelay sealed text 1: encryption")
///     authentication key  HMAC(secret, "boardrelay sealed text 1: authentication")
///     ciphertext          text XOR HMAC(encryption key, nonce ‖ 0 u32) ‖ HMAC(encryption key, nonce ‖ 1 u32) ‖ …
///     tag                 HMAC(authentication key, context length u16 ‖ context ‖ form ‖ nonce ‖ ciphertext)
///
/// HMAC under a key that nobody knows is a pseudorandom function, so its values for numbers that are never used twice are a key stream
/// (counter mode). A nonce is drawn for each text: of 2^32 texts under one secret two have the same with a probability of 2^-65. The tag
/// is checked before anything is decrypted, and binds a text to where it belongs, the *context*. What it hides is not how long it is.
package enum SealedText {
    package static let nonceBytes = 16
    package static let bytesMax = 4096
    private static let form: UInt8 = 1
    private static let headBytes = 1 + nonceBytes

    /// - Parameters:
    ///   - text: at most 4,047 bytes.
    ///   - secret: at least 32 bytes that nobody can guess.
    ///   - context: what it is, and where it belongs.
    ///   - nonce: 16 bytes, drawn for this text.
    package static func seal(_ text: [UInt8], secret: [UInt8], context: String, nonce: [UInt8]) -> [UInt8] {
        precondition(nonce.count == nonceBytes, "a nonce of \(nonce.count) bytes")
        precondition(text.count <= bytesMax - headBytes - HMACSHA256.codeBytes, "a text of \(text.count) bytes")
        var sealed = [form] + nonce
        sealed += combined(text, secret, nonce)
        return sealed + tag(sealed, secret, context)
    }

    /// - Returns: `nil` for what was not sealed under this secret, for this context.
    package static func open(_ sealed: [UInt8], secret: [UInt8], context: String) -> [UInt8]? {
        guard sealed.count >= headBytes + HMACSHA256.codeBytes, sealed.count <= bytesMax, sealed[0] == form else { return nil }
        let body = Array(sealed.dropLast(HMACSHA256.codeBytes))
        guard isEqualInConstantTime(tag(body, secret, context), Array(sealed.suffix(HMACSHA256.codeBytes))) else { return nil }
        return combined(Array(body[headBytes...]), secret, Array(body[1..<headBytes]))
    }

    private static func key(_ purpose: String, _ secret: [UInt8]) -> [UInt8] {
        HMACSHA256.authenticate(Array("boardrelay sealed text 1: \(purpose)".utf8), key: secret)
    }

    private static func combined(_ text: [UInt8], _ secret: [UInt8], _ nonce: [UInt8]) -> [UInt8] {
        let key = key("encryption", secret)
        var combined = text
        for begin in stride(from: 0, to: text.count, by: HMACSHA256.codeBytes) {
            var block = nonce
            block.append(bigEndian: UInt32(begin / HMACSHA256.codeBytes))
            let stream = HMACSHA256.authenticate(block, key: key)
            for index in begin..<min(begin + stream.count, text.count) { combined[index] ^= stream[index - begin] }
        }
        return combined
    }

    private static func tag(_ body: [UInt8], _ secret: [UInt8], _ context: String) -> [UInt8] {
        var message: [UInt8] = []
        message.append(bigEndian: UInt16(context.utf8.count))
        message += Array(context.utf8) + body
        return HMACSHA256.authenticate(message, key: key("authentication", secret))
    }
}
