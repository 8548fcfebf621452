import Foundation

/// Moments that a test goes through one by one, like the calls that may fail.
enum Moments {
    private static let triesAll = ProcessInfo.processInfo.environment["BOARDRELAY_SEEDS"] != nil
    private static let first = Int.random(in: 0..<3)

    /// Every third, from another one on at each run; all of them if `BOARDRELAY_SEEDS` is given. A failure prints its moment.
    static func isTried(_ moment: Int) -> Bool { triesAll || (moment + first) % 3 == 0 }
}
