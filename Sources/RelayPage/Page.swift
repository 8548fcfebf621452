/// The whiteboard and the client in JavaScript, as files of the program.
package enum Page {
    /// One of them.
    package struct File: Sendable {
        /// As in the address.
        package let path: String
        package let mediaType: String
        package let bytes: [UInt8]
    }

    /// For the relay's table of paths, made once.
    package static let files: [File] = [
        File(path: "/relay-client.js", mediaType: script, bytes: PackageResources.relay_client_js),
        File(path: "/page/relay-client.js", mediaType: script, bytes: SourceText.withoutComments(PackageResources.relay_client_js)),
    ]

    private static let script = "text/javascript; charset=utf-8"
}
