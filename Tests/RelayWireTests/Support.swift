import RelayWire

/// The code of the `WireError` that the work throws; `nil` if it throws nothing.
func refusal(_ work: () throws -> Void) throws -> ErrorCode? {
    do {
        try work()
        return nil
    } catch let error as WireError {
        return error.code
    }
}

/// The whole frames in the pieces, which are given to one reader in turn, and how many bytes then wait for more.
func frames(in pieces: [ArraySlice<UInt8>]) throws -> (frames: [Frame], pending: Int) {
    var reader = FrameReader()
    var frames: [Frame] = []
    for piece in pieces {
        reader.append(piece)
        while let frame = try reader.next() { frames.append(frame) }
    }
    return (frames, reader.pendingBytes)
}

extension [UInt8] {
    /// `nil` for anything but pairs of hexadecimal digits.
    init?(hex: some StringProtocol) {
        let digits = hex.compactMap(\.hexDigitValue)
        guard digits.count == hex.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
