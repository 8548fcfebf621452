/// Sends every message back as it came, for the fuzzing client of the tests. Nothing that serves people starts it.
struct WebSocketEcho: Equatable, Sendable {
    private var message: [UInt8] = []

    init() {}

    mutating func take(_ bytes: UnsafeRawBufferPointer) { message += bytes }

    /// The whole message in one frame.
    mutating func endMessage(isText: Bool) -> [UInt8] {
        defer { message = [] }
        return WebSocketFrame.bytes(isText ? .text : .binary, message)
    }
}
