import RelayPrimitives
import RelayWire

/// Packets that one reader will not get, by reason, until a notice tells it. [DL6]
struct LostRanges {
    /// By reason, in the order of `LostReason`.
    private var ranges = [[LostRange]](repeating: [], count: LostReason.allCases.count)

    var isEmpty: Bool { ranges.allSatisfy(\.isEmpty) }

    mutating func add(_ lost: [LostRange], _ reason: LostReason) { ranges[Int(reason.rawValue) - 1] += lost }

    mutating func add(_ lost: LostRange, _ reason: LostReason) { ranges[Int(reason.rawValue) - 1].append(lost) }

    /// One `lost` frame.
    struct Notice {
        let reason: LostReason
        let ranges: ArraySlice<LostRange>

        var head: FrameHead {
            FrameHead(type: FrameType.lost.rawValue, bodyBytes: LostFrame.fixedBytes + ranges.count * LostFrame.rangeBytes)
        }

        func write(to writer: inout ByteWriter) {
            writer.integer(reason.rawValue)
            writer.integer(UInt16(ranges.count))
            for range in ranges {
                writer.integer(range.flow)
                writer.integer(range.first)
                writer.integer(range.last)
            }
        }
    }

    /// As few notices as tell it all.
    var notices: [Notice] {
        var notices: [Notice] = []
        for reason in LostReason.allCases {
            var rest = ranges[Int(reason.rawValue) - 1].merged()[...]
            while !rest.isEmpty {
                notices.append(Notice(reason: reason, ranges: rest.prefix(Limits.lostRangesPerFrameMax)))
                rest = rest.dropFirst(Limits.lostRangesPerFrameMax)
            }
        }
        return notices
    }
}

extension [LostRange] {
    /// Sorted, with touching ranges of one flow joined: only numbers that follow each other directly, so that a range
    /// never contains a packet that was not meant for this reader.
    func merged() -> [LostRange] {
        var result: [LostRange] = []
        for range in inOrder({ ($0.flow, $0.first) < ($1.flow, $1.first) }) {
            if let last = result.last, last.flow == range.flow, last.last &+ 1 == range.first {
                result[result.count - 1].last = range.last
            } else {
                result.append(range)
            }
        }
        return result
    }
}
