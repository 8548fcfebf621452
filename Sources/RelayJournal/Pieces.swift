/// Bytes for one write, as arrays that stand one behind the other. A large value is the array it came in: nothing copies it.
package struct Pieces: Sendable {
    package private(set) var arrays: [[UInt8]] = []
    /// Of all arrays, in bytes.
    package private(set) var count = 0
    /// The last array was made here, and small things may be added to it.
    private var isOpen = false

    /// From this size on an array is shared. Below it a copy costs less than one more piece of a write.
    static let sharedBytesMin = 4_096

    package init() {}

    package init(_ bytes: [UInt8]) { append(bytes) }

    package var isEmpty: Bool { count == 0 }

    package mutating func append(_ bytes: [UInt8]) {
        count += bytes.count
        if bytes.count >= Self.sharedBytesMin {
            arrays.append(bytes)
            isOpen = false
        } else if isOpen {
            arrays[arrays.count - 1] += bytes
        } else {
            arrays.append(bytes)
            isOpen = true
        }
    }

    /// One array with all of it: a copy, unless there is only one.
    package var joined: [UInt8] { arrays.count == 1 ? arrays[0] : Array(arrays.joined()) }
}
