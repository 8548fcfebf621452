/// Rows in columns that are as wide as their widest cell; numbers to the right.
package struct Table {
    package enum Alignment { case left, right }

    private let columns: [(title: String, alignment: Alignment)]
    private var rows: [[String]] = []

    package init(_ columns: (String, Alignment)...) { self.columns = columns }

    package var isEmpty: Bool { rows.isEmpty }

    /// Cells are escaped here.
    package mutating func add(_ cells: String...) {
        precondition(cells.count == columns.count, "a row has as many cells as there are columns")
        rows.append(cells.map { Printable.escaped($0) })
    }

    package var lines: [String] {
        let widths = columns.indices.map { column in
            max(columns[column].title.count, rows.map { $0[column].count }.max() ?? 0)
        }
        return ([columns.map(\.title)] + rows).map { cells in
            var line = ""
            for (column, cell) in cells.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                line += (column > 0 ? "  " : "") + (columns[column].alignment == .left ? cell + padding : padding + cell)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
