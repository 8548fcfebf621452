/// A moment as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`. [RFC 9110 §5.6.7]
package enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// - Parameter wallMilliseconds: since 1970 in UTC; within the years 1970…9999, of others the text is of no use.
    package static func text(wallMilliseconds: UInt64) -> String {
        let seconds = wallMilliseconds / 1_000
        let (day, second) = (Int(seconds / 86_400), Int(seconds % 86_400))
        let date = civil(day)
        return "\(days[day % 7]), \(padded(date.day)) \(months[date.month - 1]) \(padded(date.year, 4)) "
            + "\(padded(second / 3_600)):\(padded(second / 60 % 60)):\(padded(second % 60)) GMT"
    }

    /// The date of a day since 1970 in the Gregorian calendar. Counted from 1 March 0000, so that a leap day ends a year.
    private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = shifted / 146_097, dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func padded(_ number: Int, _ count: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
