import RelayPrimitives
@testable import RelayGateway
import Testing

@Suite("QR codes") struct QRCodeTests {
    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) } }

    @Test("ISO/IEC 18004 annex I: the codewords of 01234567 in version 1-M")
    func standard() throws {
        let data = try #require([UInt8](hex: "10200c566180ec11ec11ec11ec11ec11"))
        let correction = try #require([UInt8](hex: "a524d4c1ed36c7872c55"))
        #expect(QRCode.interleaved(data, QRVersion(number: 1)) == data + correction)
    }

    @Test("the whole symbol of 01234567 in version 1-M with mask 2, as qrcode and segno draw it")
    func symbol() throws {
        let data = try #require([UInt8](hex: "10200c566180ec11ec11ec11ec11ec11"))
        let code = QRCode(QRVersion(number: 1), data: data, mask: 2)
        let lines = (0..<21).map { row in String((0..<21).map { code[row, $0] ? "#" : "." }) }
        #expect(
            lines.joined(separator: "\n") == """
                #######..#.##.#######
                #.....#..####.#.....#
                #.###.#.#.....#.###.#
                #.###.#.##....#.###.#
                #.###.#.#.###.#.###.#
                #.....#.#...#.#.....#
                #######.#.#.#.#######
                ........#..##........
                #.#####..#..#.#####..
                ...#.#.##.#.#..#.##..
                ..#...##.#.#.#..#####
                ....#....#.....####..
                ...######..#.#..#....
                ........#.#####..##..
                #######..##.#.##.....
                #.....#.#.#####...#.#
                #.###.#.#...#..#.##..
                #.###.#.##..#..#.....
                #.###.#.#.##.#..#.#..
                #.....#........##.##.
                #######.####.#..#.#..
                """)
    }

    /// Bytes, mask, and the first half of the SHA-256 of the modules, `1` for a dark one, row by row.
    @Test(
        "a symbol of each version, with each mask, as qrcode draws it",
        arguments: [
            (14, 0, "533b89b1da08205f1d7daaa90ba1400f"), (25, 1, "d325e26da66f6453507cb378a020713d"),
            (40, 2, "4a4824ce9792a2fbae338849cd744da2"), (62, 3, "5440d19e5514b0f9e880b0d17c91a8e4"),
            (83, 4, "7829cef3189f49645c55e0326f674cd0"), (104, 5, "a90c74edc8341e5dcae0bbc55fbd1edf"),
            (122, 6, "4daa617188f16da67d2517280e760047"), (151, 7, "0f5d692e24f30c8d76630c6a7244b3d1"),
            (178, 0, "bca9e3686204ae35919ce7779234f83e"), (213, 1, "e6ba1d8b9d833bd8c3f719828965c822"),
            (250, 2, "3fd8ab28d424ae093df340b26e0315e8"), (285, 3, "423af96fdf803492f755b74c5837eaa0"),
            (331, 4, "b5ed52130be40d24a9ec142d6f029d8a"),
        ])
    func symbols(count: Int, mask: Int, digest: String) throws {
        let code = try #require(QRCode(bytes(count), mask: mask))
        #expect(Array(SHA256.hash(modules(code)).prefix(16)).hex == digest)
    }

    @Test(
        "a symbol of level L of each version, as qrcode draws it",
        arguments: [
            (17, 0, "5177b26f606eef060ce63ba4f5beb83f"), (32, 1, "6c73f004c5cd1112522885d18881d0e9"),
            (53, 2, "cc7772a274ace694096a617c6742ea95"), (78, 3, "12e0c85822433a5ec121991c3664b1ab"),
            (106, 4, "ba1e405900e709e8b1dea7b506b5a8f6"), (134, 5, "15281af685677d944235bbea45402f93"),
            (154, 6, "5b8f32817c33b403fc2073fd3f7bd52e"), (192, 7, "60ce8c7ead69993b5aff583e86ca0114"),
            (230, 0, "f68eea1948d76f2973e9eaddbc969831"), (271, 1, "93ea7f840d02a35a2d17440b6e77ad35"),
            (321, 2, "ae68245d5af0988d8a69999ad5b71f99"), (367, 3, "34d71ba78652f9a6f40d0e16d0a59d77"),
            (425, 4, "577932972aa5edf6205636d8484377eb"),
        ])
    func lowSymbols(count: Int, mask: Int, digest: String) throws {
        let code = try #require(QRCode(bytes(count), level: .low, mask: mask))
        #expect(Array(SHA256.hash(modules(code)).prefix(16)).hex == digest)
    }

    private func modules(_ code: QRCode) -> [UInt8] {
        (0..<code.size * code.size).map { UInt8(ascii: code[$0 / code.size, $0 % code.size] ? "1" : "0") }
    }

    @Test("ISO/IEC 18004 annexes A and C: a generator, the format of level M with mask 5, the version 7")
    func codes() {
        // x⁷ + α⁸⁷x⁶ + α²²⁹x⁵ + α¹⁴⁶x⁴ + α¹⁴⁹x³ + α²³⁸x² + α¹⁰²x + α²¹
        func power(_ exponent: Int) -> UInt8 { (0..<exponent).reduce(1) { value, _ in ReedSolomon.multiply(value, 2) } }
        #expect(ReedSolomon.generator(7) == [87, 229, 146, 149, 238, 102, 21].map(power))
        #expect(QRMatrix.formatBits(.medium, mask: 5) == 0b1000000_11001110)
        #expect(QRMatrix.versionBits(7) == 0b000111_110010010100)
    }

    @Test("capacities of level M, as table 7 of ISO/IEC 18004 has them")
    func capacities() {
        #expect(QRVersion.all(.medium).map(\.bytesMax) == [14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331])
        #expect(QRVersion.all(.medium).map(\.codewords) == [26, 44, 70, 100, 134, 172, 196, 242, 292, 346, 404, 466, 532])
        for version in QRVersion.all(.medium) {
            #expect(QRCode(bytes(version.bytesMax))?.size == version.size)
            #expect(QRCode(bytes(version.bytesMax + 1))?.size == (version.number == 13 ? nil : version.size + 4))
        }
        #expect(QRCode([])?.size == 21 && QRCode.bytesMax == 331)
    }

    @Test("capacities of level L, for addresses that would not fit otherwise, as table 7 has them")
    func low() {
        #expect(QRVersion.all(.low).map(\.bytesMax) == [17, 32, 53, 78, 106, 134, 154, 192, 230, 271, 321, 367, 425])
        for version in QRVersion.all(.low) { #expect(QRCode(bytes(version.bytesMax), level: .low)?.size == version.size) }
        #expect(QRMatrix.formatBits(.low, mask: 0) == 0b1110111_11000100 && QRMatrix.formatBits(.low, mask: 7) == 0b1101001_01110110)
    }

    @Test("padding: a terminator of four bits or what is left, then 236 and 17 in turn")
    func padding() {
        let one = QRVersion(number: 1)
        #expect(QRCode.data([0x61], one).hex == "401610ec11ec11ec11ec11ec11ec11ec")
        #expect(QRCode.data(bytes(13), one).suffix(2) == [0xD0, 0xEC])
        #expect(QRCode.data(bytes(14), one).last == UInt8(ascii: "n") << 4)
    }

    @Test("the best of the eight masks is taken, and of equal ones the first")
    func masks() throws {
        for count in [1, 30, 120] {
            let all = try QRMatrix.masks.map { try #require(QRCode(bytes(count), mask: $0)) }
            #expect(Set(all.map(\.terminalLines)).count == 8)
            let best = try #require(QRCode(bytes(count)))
            #expect(best == all[best.mask])
        }
    }

    @Test("penalties: runs, squares and what looks like a finder")
    func penalties() throws {
        func line(_ text: String) -> [Bool] { text.map { $0 == "#" } }
        #expect(QRPenalty.runs(line("#####")) == 3 && QRPenalty.runs(line("####")) == 0 && QRPenalty.runs(line(".######.......")) == 4 + 5)
        #expect(QRPenalty.finders(line("#.###.#....")) == 40 && QRPenalty.finders(line("....#.###.#")) == 40)
        // The edge counts as light; with dark modules on both sides it is no finder.
        #expect(
            QRPenalty.finders(line("##.###.##")) == 0 && QRPenalty.finders(line("#...#.###.#...#")) == 0
                && QRPenalty.finders(line("#.....#.###.#..#")) == 40)
        #expect(QRPenalty.finders(line("#.###.#.###.#")) == 80)
    }

    @Test("on a terminal: dark on light in colours of its own, four light modules around, two modules in a character")
    func terminal() throws {
        let code = try #require(QRCode(Array("http://192.168.1.5:7420/#key=abc".utf8)))
        let lines = code.terminalLines
        #expect(lines.count == (code.size + 9) / 2)
        var modules: [[Bool]] = []
        for line in lines {
            #expect(line.hasPrefix("\u{1B}[38;5;16;48;5;231m") && line.hasSuffix("\u{1B}[0m"))
            let blocks = line.dropFirst("\u{1B}[38;5;16;48;5;231m".count).dropLast("\u{1B}[0m".count)
            #expect(blocks.count == code.size + 8 && blocks.allSatisfy { " ▀▄█".contains($0) })
            modules.append(blocks.map { "▀█".contains($0) })
            modules.append(blocks.map { "▄█".contains($0) })
        }
        for (row, line) in modules.enumerated() {
            for (column, isDark) in line.enumerated() {
                let inside = (4..<(4 + code.size)).contains(row) && (4..<(4 + code.size)).contains(column)
                #expect(isDark == (inside && code[row - 4, column - 4]))
            }
        }
        // The widest fits into 80 columns.
        #expect(try #require(QRCode(bytes(QRCode.bytesMax))).size + 8 <= 80)
    }
}
