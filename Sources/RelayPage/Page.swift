internal import CResources

/// The whiteboard, the status page and the client in JavaScript, as files of the program, exactly as they are written.
package enum Page {
    /// One of them.
    package struct File: Sendable {
        /// As in the address.
        package let path: String
        package let mediaType: String
        package let bytes: [UInt8]
        /// Whether pages of other origins may load it: the client and its modules.
        package let isForAll: Bool
    }

    /// The commit that a packaged build was made from; `nil` in a plain one.
    package static let commit = resource_commit().map { String(cString: $0) }

    /// For the relay's table of paths, made once from the list of files in `resources.c`, in its order.
    package static let files: [File] = (0..<resource_files_count()).compactMap { index in
        guard let file = resource_file_at(index)?.pointee else { preconditionFailure("no file \(index) in resources.c") }
        let name = String(cString: file.name)
        guard let mediaType = mediaTypes[name.drop { $0 != "." }] else { return nil }
        return File(
            path: pages[name] ?? "/\(name)", mediaType: mediaType, bytes: Array(UnsafeBufferPointer(start: file.bytes, count: file.count)),
            isForAll: name.hasPrefix("relay-client.") || name.hasPrefix("client/"))
    }

    /// Addresses that people type. All other files are served under their names.
    private static let pages = ["page/index.html": "/", "page/status.html": "/status"]
    /// By the end of the name; other files are not served. No type is registered for declarations of TypeScript.
    private static let mediaTypes: [Substring: String] = [
        ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
        ".d.ts": "text/plain; charset=utf-8",
    ]
}
