import Dispatch
import RelayIO

/// Lines of standard input as they come, without their ends; read by a thread of its own, at most 64 ahead of what is `taken`.
package struct InputLines: Sendable {
    private static let ahead = 64
    /// Longer ones are no message; without a bound a file without line ends would take all memory.
    package static let bytesMax = 8 << 20

    package let all: AsyncThrowingStream<[UInt8], any Error>
    private let told: AsyncThrowingStream<[UInt8], any Error>.Continuation
    /// Begins at 0: one that has less at its end than at its beginning is a fault to Dispatch.
    private let room = DispatchSemaphore(value: 0)

    package init() {
        let (lines, told) = AsyncThrowingStream.makeStream(of: [UInt8].self)
        (all, self.told) = (lines, told)
        for _ in 0..<Self.ahead { room.signal() }
        SystemThread.detach { [room] in
            var rest: [UInt8] = []
            func tell(_ line: [UInt8]) {
                room.wait()
                told.yield(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
            }
            do {
                try FileContents.pieces("-") { piece in
                    rest += piece
                    var begin = 0
                    while let end = rest[begin...].firstIndex(of: UInt8(ascii: "\n")) {
                        tell(Array(rest[begin..<end]))
                        begin = end + 1
                    }
                    rest.removeFirst(begin)
                    guard rest.count <= Self.bytesMax else { throw Failure("a line has more than \(Printable.size(Self.bytesMax))") }
                }
                if !rest.isEmpty { tell(rest) }
                told.finish()
            } catch {
                told.finish(throwing: error)
            }
        }
    }

    /// Nobody wants more: what is read is over.
    package func end() { told.finish() }

    /// One line more may be read.
    package func taken() { room.signal() }
}
