#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@available(macOS 15, iOS 18, *)
extension WhiteboardRelay.Storage {
    /// Where a daemon keeps its data unless told otherwise: `$STATE_DIRECTORY` (which systemd sets; the first, if
    /// several), else `boardrelay/data` in the platform's folder for a user's application data: `$XDG_DATA_HOME` or
    /// `~/.local/share`; on Apple's systems `~/Library/Application Support`.
    public static var defaultFolder: String {
        let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        return defaultFolder(
            stateDirectory: ProcessInfo.processInfo.environment["STATE_DIRECTORY"],
            applicationData: (folders.first ?? FileManager.default.temporaryDirectory).path)
    }

    static func defaultFolder(stateDirectory: String?, applicationData: String) -> String {
        if let given = stateDirectory?.split(separator: ":").first { return String(given) }
        return applicationData + (applicationData.hasSuffix("/") ? "" : "/") + "boardrelay/data"
    }
}
