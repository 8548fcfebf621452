/// Error correction over GF(2⁸) with the polynomial x⁸ + x⁴ + x³ + x² + 1. [ISO/IEC 18004:2015, 7.5]
enum ReedSolomon {
    /// The coefficients of (x − α⁰)(x − α¹)…, the highest, which is 1, left out.
    static func generator(_ count: Int) -> [UInt8] {
        var product = [UInt8](repeating: 0, count: count)
        product[count - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<count {
            for index in 0..<count {
                product[index] = multiply(product[index], root)
                if index + 1 < count { product[index] ^= product[index + 1] }
            }
            root = multiply(root, 2)
        }
        return product
    }

    /// What is left of the data, shifted by as many codewords, after division by the generator.
    static func remainder(_ data: ArraySlice<UInt8>, by generator: [UInt8]) -> [UInt8] {
        var remainder = [UInt8](repeating: 0, count: generator.count)
        for byte in data {
            let factor = byte ^ remainder.removeFirst()
            remainder.append(0)
            for index in generator.indices { remainder[index] ^= multiply(generator[index], factor) }
        }
        return remainder
    }

    static func multiply(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product: UInt8 = 0
        for bit in stride(from: 7, through: 0, by: -1) {
            product = product << 1 ^ (product >> 7 == 1 ? 0x1D : 0)
            if right >> UInt8(bit) & 1 == 1 { product ^= left }
        }
        return product
    }
}
