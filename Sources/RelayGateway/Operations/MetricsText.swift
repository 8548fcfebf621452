/// Numbers as Prometheus reads them: its text format, version 0.0.4.
///
///     # HELP boardrelay_messages_total Messages accepted.
///     # TYPE boardrelay_messages_total counter
///     boardrelay_messages_total{kind="retained"} 12
///
/// Names and labels are the program's own, and wrong ones a mistake of it; values of labels may be any text, though no label
/// here holds what a user has chosen.
package struct MetricsText: Sendable {
    package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    package enum Kind: String, Sendable { case counter, gauge, histogram }

    package struct Label: Sendable, Equatable {
        package var name: String
        package var value: String
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    private struct Family {
        var name: String
        var kind: Kind
        var help: String
        var samples: [Sample] = []
    }

    private struct Sample {
        /// Behind the family's name.
        var suffix: String
        var labels: [Label]
        var value: String
    }

    private var families: [Family] = []
    private var places: [String: Int] = [:]

    package init() {}

    /// The lines.
    package var text: String {
        var text = ""
        for family in families {
            text += "# HELP \(family.name) \(Self.escaped(family.help, quotes: false))\n# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples { Self.write(sample, of: family.name, to: &text) }
        }
        return text
    }

    /// Adds the samples of another part of the program, each with one more label if there is one. Metrics that this has not yet come last.
    package mutating func add(_ other: MetricsText, _ label: Label?) {
        for family in other.families {
            if places[family.name] == nil { begin(family.name, family.kind, family.help) }
            families[places[family.name]!].samples += family.samples.map { sample in
                Sample(suffix: sample.suffix, labels: (label.map { [$0] } ?? []) + sample.labels, value: sample.value)
            }
        }
    }

    /// Begins the samples of one metric: all of a family stand together, under one head.
    package mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        precondition(Self.isName(name, colons: true), "no name of a metric: \(name)")
        precondition(places.updateValue(families.count, forKey: name) == nil, "a metric stands twice: \(name)")
        families.append(Family(name: name, kind: kind, help: help))
    }

    package mutating func sample(_ value: some BinaryInteger, _ labels: [Label] = []) { add("", labels, "\(value)") }
    package mutating func sample(_ value: Double, _ labels: [Label] = []) { add("", labels, Self.number(value)) }

    /// A family with one sample.
    package mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: some BinaryInteger) {
        begin(name, kind, help)
        sample(value)
    }

    /// Cumulative buckets, `+Inf`, sum and count.
    package mutating func histogram(_ histogram: MetricHistogram, _ labels: [Label] = []) {
        precondition(families.last?.kind == .histogram, "\(families.last?.name ?? "nothing") is no histogram")
        var count: UInt64 = 0
        for (bound, inBucket) in zip(histogram.bounds, histogram.counts) {
            count += inBucket
            add("_bucket", labels + [Label("le", Self.number(bound))], "\(count)")
        }
        add("_bucket", labels + [Label("le", "+Inf")], "\(histogram.count)")
        add("_sum", labels, Self.number(histogram.sum))
        add("_count", labels, "\(histogram.count)")
    }

    private mutating func add(_ suffix: String, _ labels: [Label], _ value: String) {
        precondition(!families.isEmpty, "a sample without a metric")
        for label in labels {
            precondition(Self.isName(label.name, colons: false) && !label.name.hasPrefix("__"), "no name of a label: \(label.name)")
        }
        families[families.count - 1].samples.append(Sample(suffix: suffix, labels: labels, value: value))
    }

    private static func write(_ sample: Sample, of family: String, to text: inout String) {
        text += family + sample.suffix
        if !sample.labels.isEmpty {
            text += "{"
            for (index, label) in sample.labels.enumerated() {
                if index > 0 { text += "," }
                text += "\(label.name)=\"\(escaped(label.value, quotes: true))\""
            }
            text += "}"
        }
        text += " \(sample.value)\n"
    }

    static func isName(_ name: String, colons: Bool) -> Bool {
        for (index, byte) in name.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): continue
            case UInt8(ascii: "0")...UInt8(ascii: "9") where index > 0: continue
            case UInt8(ascii: ":") where colons: continue
            default: return false
            }
        }
        return !name.isEmpty
    }

    /// Help has no quotes around it, values of labels have.
    static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        // What is whole is written without a point, as counts are.
        return value == value.rounded() && value.magnitude < 1e15 ? "\(Int64(value))" : "\(value)"
    }
}

/// Values counted by size: what a distribution looks like without keeping the values.
package struct MetricHistogram: Sendable, Equatable {
    /// Upper bounds, rising; a value that is equal to one is below it.
    package let bounds: [Double]
    /// Values between a bound and the one before it; the last is for those above all bounds.
    package private(set) var counts: [UInt64]
    package private(set) var sum = 0.0

    package init(bounds: [Double]) {
        precondition(!bounds.isEmpty && zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "bounds rise: \(bounds)")
        self.bounds = bounds
        counts = [UInt64](repeating: 0, count: bounds.count + 1)
    }

    /// Of values that were counted elsewhere.
    package init(bounds: [Double], counts: [UInt64], sum: Double) {
        self.init(bounds: bounds)
        precondition(counts.count == bounds.count + 1, "\(counts.count) counts for \(bounds.count) bounds")
        self.counts = counts
        self.sum = sum
    }

    package var count: UInt64 { counts.reduce(0, +) }

    /// O(log bounds).
    package mutating func observe(_ value: Double) {
        var (low, high) = (0, bounds.count)
        while low < high {
            let middle = (low + high) / 2
            if value <= bounds[middle] { high = middle } else { low = middle + 1 }
        }
        counts[low] += 1
        sum += value
    }
}
