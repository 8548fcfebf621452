extension QRCode {
    /// Light modules around the symbol, without which it is not found. [ISO/IEC 18004:2015, 6.3.8]
    package static let quietZone = 4

    /// The code as lines for a terminal, two modules in each character, without line ends.
    ///
    /// Black on white by numbers of the 256 colours that no theme changes (16 and 231), because a camera finds no light symbol
    /// on dark, and `▀` in a dark theme is one.
    package var terminalLines: [String] {
        let range = -Self.quietZone..<(size + Self.quietZone)
        func isDark(_ row: Int, _ column: Int) -> Bool { (0..<size).contains(row) && (0..<size).contains(column) && self[row, column] }
        return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
            let blocks = range.map { column -> Character in
                switch (isDark(row, column), isDark(row + 1, column)) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            return "\u{1B}[38;5;16;48;5;231m\(String(blocks))\u{1B}[0m"
        }
    }
}
