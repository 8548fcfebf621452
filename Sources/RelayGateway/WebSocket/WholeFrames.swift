import RelayWire

/// Whether a message holds whole relay frames: none is cut where a message ends, and none is empty. [WS7]
///
/// It looks at nothing but lengths. What is wrong with a length is said by whoever reads the frames, which are handed on
/// as they come; from then on this says nothing more.
struct WholeFrames: Equatable, Sendable {
    /// Bytes of the length field that have come, and their value.
    private var lengthBytes = 0
    private var length: UInt32 = 0
    /// Bytes that the frame lacks behind its length.
    private var missing = 0
    private var messageIsEmpty = true
    private var isLost = false

    init() {}

    mutating func take(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty, !isLost else { return }
        messageIsEmpty = false
        var index = 0
        while index < bytes.count {
            if missing > 0 {
                let taken = min(missing, bytes.count - index)
                missing -= taken
                index += taken
                continue
            }
            length = length << 8 | UInt32(bytes[index])
            lengthBytes += 1
            index += 1
            guard lengthBytes == 4 else { continue }
            guard length >= 2, length <= UInt32(Limits.frameBodyBytesMax + 2) else {
                isLost = true
                return
            }
            missing = Int(length)
            lengthBytes = 0
            length = 0
        }
    }

    /// - Returns: whether the message that ends here was whole frames.
    mutating func endMessage() -> Bool {
        defer { messageIsEmpty = true }
        return isLost || !messageIsEmpty && missing == 0 && lengthBytes == 0
    }
}
