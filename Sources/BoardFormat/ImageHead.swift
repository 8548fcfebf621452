/// The size that a picture's file tells in its head; nothing is decoded.
enum ImageHead {
    /// - Returns: `nil` for a file of another kind, and where its head tells no size.
    static func size(of file: [UInt8], _ kind: BoardImage.Kind) -> (width: Int, height: Int)? {
        switch kind {
        case .png: png(file)
        case .jpeg: jpeg(file)
        case .webp: webp(file)
        }
    }

    private static func png(_ file: [UInt8]) -> (width: Int, height: Int)? {
        guard file.count >= 24, file.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), file.has("IHDR", at: 12) else {
            return nil
        }
        return (file.big(16, bytes: 4), file.big(20, bytes: 4))
    }

    /// Segments are FF, a marker, and a length that counts itself; the one with the size comes before the picture.
    private static func jpeg(_ file: [UInt8]) -> (width: Int, height: Int)? {
        guard file.starts(with: [0xFF, 0xD8, 0xFF]) else { return nil }
        var place = 2
        while place + 9 <= file.count, file[place] == 0xFF {
            switch file[place + 1] {
            case 0xFF: place += 1
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF: return (file.big(place + 7, bytes: 2), file.big(place + 5, bytes: 2))
            case 0xD8...0xDA: return nil
            default: place += 2 + max(2, file.big(place + 2, bytes: 2))
            }
        }
        return nil
    }

    private static func webp(_ file: [UInt8]) -> (width: Int, height: Int)? {
        guard file.count >= 30 || (file.count >= 25 && file.has("VP8L", at: 12)), file.has("RIFF", at: 0), file.has("WEBP", at: 8) else {
            return nil
        }
        if file.has("VP8X", at: 12) { return (file.little(24, bytes: 3) + 1, file.little(27, bytes: 3) + 1) }
        if file.has("VP8L", at: 12), file[20] == 0x2F {
            let bits = file.little(21, bytes: 4)
            return ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        }
        guard file.has("VP8 ", at: 12), file[23...25].elementsEqual([0x9D, 0x01, 0x2A]) else { return nil }
        return (file.little(26, bytes: 2) & 0x3FFF, file.little(28, bytes: 2) & 0x3FFF)
    }
}

extension [UInt8] {
    fileprivate func has(_ word: StaticString, at place: Int) -> Bool {
        let word = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        return self[place..<place + word.count].elementsEqual(word)
    }

    fileprivate func big(_ place: Int, bytes: Int) -> Int { self[place..<place + bytes].reduce(0) { $0 << 8 | Int($1) } }

    fileprivate func little(_ place: Int, bytes: Int) -> Int { self[place..<place + bytes].reversed().reduce(0) { $0 << 8 | Int($1) } }
}
