import RelayPrimitives

/// Files that stay in the folder until a copy has them, although nothing else needs them any more.
struct FileHold {
    /// Not copied yet.
    private var held: Set<String> = []
    /// Of them, those that would be gone, with their sizes.
    private var unneeded: [String: Int] = [:]

    init() {}

    init(_ files: some Sequence<String>) { held = Set(files) }

    func keeps(_ file: String) -> Bool { held.contains(file) }

    /// Of files that would be gone.
    var unneededBytes: Int { unneeded.values.reduce(0, +) }
    var hasUnneeded: Bool { !unneeded.isEmpty }

    /// Nothing needs the file any more, which is held.
    mutating func giveUp(_ file: String, byteCount: Int) { unneeded[file] = byteCount }

    /// - Returns: whether the file is to go now.
    mutating func release(_ file: String) -> Bool {
        held.remove(file)
        return unneeded.removeValue(forKey: file) != nil
    }

    /// - Returns: the files that are to go now.
    mutating func releaseAll() -> [String] {
        defer { self = FileHold() }
        return unneeded.keys.inOrder()
    }
}
