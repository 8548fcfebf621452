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
        fileprivate init(_ path: String, _ mediaType: String, _ source: [UInt8]) {
            self.path = path
            self.mediaType = mediaType
            bytes = switch mediaType {
            case Page.script: SourceText.script(source)
            case Page.style: SourceText.style(source)
            default: SourceText.withoutComments(source)
            }
            isForAll = false
        }

        /// As it stands in its file, for everybody.
        fileprivate init(_ path: String, _ mediaType: String, whole source: [UInt8]) {
            self.path = path
            self.mediaType = mediaType
            bytes = source
            isForAll = true
        }
    }

    /// For the relay's table of paths, made once. The client stands there twice: for the whiteboard, which does not use all of it,
    /// and as others import it.
    package static let files: [File] = [
        File("/", page, PackageResources.index_html),
        File("/status", page, PackageResources.status_html),
        File("/relay-client.js", script, whole: PackageResources.relay_client_js),
        File("/page/relay-client.js", script, PackageResources.relay_client_js),
        File("/page/app.js", script, PackageResources.app_js),
        File("/page/board.css", style, PackageResources.board_css),
        File("/page/canvas.js", script, PackageResources.canvas_js),
        File("/page/format.js", script, PackageResources.format_js),
        File("/page/identity.js", script, PackageResources.identity_js),
        File("/page/ink.js", script, PackageResources.ink_js),
        File("/page/live.js", script, PackageResources.live_js),
        File("/page/names.js", script, PackageResources.names_js),
        File("/page/qr.js", script, PackageResources.qr_js),
        File("/page/records.js", script, PackageResources.records_js),
        File("/page/session.js", script, PackageResources.session_js),
        File("/page/status-numbers.js", script, PackageResources.status_numbers_js),
        File("/page/status.css", style, PackageResources.status_css),
        File("/page/status.js", script, PackageResources.status_js),
        File("/page/svg.js", script, PackageResources.svg_js),
        File("/page/tools.js", script, PackageResources.tools_js),
        File("/page/ui.js", script, PackageResources.ui_js),
        File("/page/undo.js", script, PackageResources.undo_js),
        File("/page/words.js", script, PackageResources.words_js),
        File("/page/writing.js", script, PackageResources.writing_js),
    ]

    private static let page = "text/html; charset=utf-8"
    private static let script = "text/javascript; charset=utf-8"
    private static let style = "text/css; charset=utf-8"
}
