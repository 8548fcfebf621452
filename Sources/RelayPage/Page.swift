internal import CResources

/// The whiteboard, the status page and the client in JavaScript, as files of the program.
package enum Page {
    /// One of them.
    package struct File: Sendable {
        /// As in the address.
        package let path: String
        package let mediaType: String
        package let bytes: [UInt8]
        /// Whether it is for pages of others, too.
        package let isForAll: Bool

        /// As a browser loads it for the whiteboard.
        fileprivate init(_ path: String, _ mediaType: String, _ name: String) {
            self.path = path
            self.mediaType = mediaType
            let source = Page.source(name)
            bytes = switch mediaType {
            case Page.script: SourceText.script(source)
            case Page.style: SourceText.style(source)
            default: SourceText.withoutComments(source)
            }
            isForAll = false
        }

        /// As it stands in its file, for everybody.
        fileprivate init(_ path: String, _ mediaType: String, whole name: String) {
            self.path = path
            self.mediaType = mediaType
            bytes = Page.source(name)
            isForAll = true
        }
    }

    /// For the relay's table of paths, made once. The client stands there twice: for the whiteboard, which does not use all of it,
    /// and as others import it.
    package static let files: [File] = [
        File("/", page, "index.html"),
        File("/status", page, "status.html"),
        File("/relay-client.js", script, whole: "relay-client.js"),
        File("/page/relay-client.js", script, "relay-client.js"),
        File("/page/app.js", script, "app.js"),
        File("/page/board.css", style, "board.css"),
        File("/page/canvas.js", script, "canvas.js"),
        File("/page/format.js", script, "format.js"),
        File("/page/identity.js", script, "identity.js"),
        File("/page/ink.js", script, "ink.js"),
        File("/page/live.js", script, "live.js"),
        File("/page/names.js", script, "names.js"),
        File("/page/qr.js", script, "qr.js"),
        File("/page/records.js", script, "records.js"),
        File("/page/session.js", script, "session.js"),
        File("/page/status-numbers.js", script, "status-numbers.js"),
        File("/page/status.css", style, "status.css"),
        File("/page/status.js", script, "status.js"),
        File("/page/svg.js", script, "svg.js"),
        File("/page/tools.js", script, "tools.js"),
        File("/page/ui.js", script, "ui.js"),
        File("/page/undo.js", script, "undo.js"),
        File("/page/words.js", script, "words.js"),
        File("/page/writing.js", script, "writing.js"),
    ]

    /// What the compiler has put into the program.
    private static func source(_ name: String) -> [UInt8] {
        guard let file = resource_file_named(name)?.pointee else { preconditionFailure("no file \(name) in resources.c") }
        return Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }

    private static let page = "text/html; charset=utf-8"
    private static let script = "text/javascript; charset=utf-8"
    private static let style = "text/css; charset=utf-8"
}
