/// How hard a symbol would be to read: of eight masks the one with the lowest sum is taken. [7.8.3.1]
enum QRPenalty {
    static func total(_ matrix: QRMatrix) -> Int {
        let lines = rows(matrix)
        return lines.reduce(0) { $0 + runs($1) + finders($1) } + blocks(matrix) + balance(matrix)
    }

    /// All rows and all columns.
    private static func rows(_ matrix: QRMatrix) -> [[Bool]] {
        let range = 0..<matrix.size
        return range.map { row in range.map { matrix[row, $0] } } + range.map { column in range.map { matrix[$0, column] } }
    }

    /// Five of a colour in a line cost 3, each further one 1 more.
    static func runs(_ line: [Bool]) -> Int {
        var penalty = 0, length = 0
        for index in line.indices {
            length = index > 0 && line[index] == line[index - 1] ? length + 1 : 1
            if length == 5 { penalty += 3 } else if length > 5 { penalty += 1 }
        }
        return penalty
    }

    /// Each square of two by two in one colour costs 3.
    static func blocks(_ matrix: QRMatrix) -> Int {
        var penalty = 0
        for row in 1..<matrix.size {
            for column in 1..<matrix.size {
                let colour = matrix[row, column]
                if matrix[row - 1, column] == colour, matrix[row, column - 1] == colour, matrix[row - 1, column - 1] == colour {
                    penalty += 3
                }
            }
        }
        return penalty
    }

    private static let finder = [true, false, true, true, true, false, true]

    /// What looks like a finder pattern, with four light modules before or behind it, costs 40. Outside the symbol all is light.
    static func finders(_ line: [Bool]) -> Int {
        var penalty = 0
        for start in 0..<max(0, line.count - 6) where line[start..<(start + 7)].elementsEqual(finder) {
            let before = line[max(0, start - 4)..<start], behind = line[(start + 7)..<min(line.count, start + 11)]
            if !before.contains(true) || !behind.contains(true) { penalty += 40 }
        }
        return penalty
    }

    /// Each 5 % by which dark and light differ from half costs 10.
    static func balance(_ matrix: QRMatrix) -> Int {
        let dark = matrix.dark.count { $0 }, all = matrix.dark.count
        return abs(dark * 20 - all * 10) / all * 10
    }
}
