/// All chunks, and memory kept ready for the next ones.
struct ChunkPool {
    private var chunks = Slab<Chunk>(vacant: Chunk(), release: { $0.base?.deallocate() })
    private let spare: Spare
    private var spareBytes = 0
    private let bytesMin: Int
    private let classes: Int
    /// Memory of all chunks in use, in bytes.
    private(set) var liveBytes = 0

    /// Free memory kept for reuse, in bytes.
    private static let spareBytesMax = 4 * 1024 * 1024

    init(bytesMin: Int, bytesMax: Int) {
        self.bytesMin = bytesMin
        var classes = 1
        while bytesMin << (classes - 1) < bytesMax { classes += 1 }
        self.classes = classes
        spare = Spare(classes: classes)
    }

    /// Memory kept ready, by size class. Its end frees the memory.
    private final class Spare {
        var lists: [[UnsafeMutableRawPointer]]

        init(classes: Int) { lists = Array(repeating: [], count: classes) }

        deinit {
            for list in lists { for pointer in list { pointer.deallocate() } }
        }
    }

    @inline(__always)
    func address(_ index: Chunk.Index) -> UnsafeMutablePointer<Chunk> { chunks.address(index) }

    @inline(__always)
    subscript(index: Chunk.Index) -> Chunk {
        unsafeAddress { UnsafePointer(chunks.address(index)) }
        unsafeMutableAddress { chunks.address(index) }
    }

    /// The largest size class.
    var lastClass: UInt8 { UInt8(classes - 1) }

    /// A chunk with room for at least `bytes` and one mark, of at least the given class.
    mutating func make(sizeClass wanted: UInt8, holding bytes: Int, feed: Feed.Index?, serial: UInt32) -> Chunk.Index {
        var sizeClass = Int(min(wanted, lastClass))
        while sizeClass < classes - 1, bytesMin << sizeClass < bytes + Int(Chunk.markBytes) { sizeClass += 1 }
        let capacity = max(bytesMin << sizeClass, bytes + Int(Chunk.markBytes))
        let base: UnsafeMutableRawPointer
        if capacity == bytesMin << sizeClass, let ready = spare.lists[sizeClass].popLast() {
            spareBytes -= capacity
            base = ready
        } else {
            base = .allocate(byteCount: capacity, alignment: 16)
        }
        liveBytes += capacity
        return chunks.insert(
            Chunk(base: base, sizeClass: UInt8(sizeClass), capacity: UInt32(capacity), feed: feed, serial: serial))
    }

    /// Gives the memory back. Nothing may refer to the chunk.
    mutating func discard(_ index: Chunk.Index) {
        let chunk = chunks[index]
        precondition(chunk.references == 0, "a chunk with \(chunk.references) references is discarded")
        let capacity = Int(chunk.capacity)
        liveBytes -= capacity
        if capacity == bytesMin << Int(chunk.sizeClass), spareBytes + capacity <= Self.spareBytesMax {
            spare.lists[Int(chunk.sizeClass)].append(chunk.base!)
            spareBytes += capacity
        } else {
            chunk.base!.deallocate()
        }
        chunks.remove(index)
    }
}
