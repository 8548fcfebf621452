import Glibc

/// The fuzzers by name. Each takes bytes from outside, and judges what its decoder makes of them besides that it does not trap: a broken
/// property is a trap as well.
///
/// It returns whether the input is worth keeping.
private let fuzzers: [String: @Sendable (UnsafeRawBufferPointer) -> Bool] = [
    "backups": backups, "boards": boards, "drawings": drawings, "frames": frames, "http": http, "journal": journal, "nats": nats,
    "requests": requests, "tokens": tokens, "websocket": webSocket,
]

private let chosen: @Sendable (UnsafeRawBufferPointer) -> Bool = {
    guard let name = getenv("FUZZER"), let fuzzer = fuzzers[String(cString: name)] else {
        fatalError("FUZZER names one of \(fuzzers.keys.sorted().joined(separator: ", "))")
    }
    return fuzzer
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    chosen(UnsafeRawBufferPointer(start: start, count: count)) ? 0 : -1
}

/// A property that holds for every input.
func must(_ holds: Bool, _ text: @autoclosure () -> String) {
    if !holds { fatalError(text()) }
}

/// Takes the front off an input.
struct Input {
    private(set) var rest: UnsafeRawBufferPointer.SubSequence

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    mutating func byte() -> UInt8? { rest.popFirst() }

    /// A kind, a length in two bytes, and as many bytes as there are of it.
    mutating func piece() -> (kind: UInt8, bytes: [UInt8])? {
        guard let kind = byte(), let high = byte(), let low = byte() else { return nil }
        let bytes = Array(rest.prefix(Int(high) << 8 | Int(low)))
        rest = rest.dropFirst(bytes.count)
        return (kind, bytes)
    }
}
