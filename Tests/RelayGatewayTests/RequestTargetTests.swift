import RelayGateway
import Testing

@Suite("Targets") struct RequestTargetTests {
    private func refusal(_ target: String) -> HTTPRefusal? {
        do throws(HTTPRefusal) {
            _ = try RequestTarget(ArraySlice(target.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "[HT5] a way up is refused in every encoding",
        arguments: [
            "/..", "/../", "/a/..", "/./a", "/.", "/%2e%2e/etc/passwd", "/%2E%2e", "/.%2e/", "/%2e./a", "/%2e", "/..%2fetc", "/..%2Fetc",
            "/a%2fb",
            "/%5c..%5c", "/..%5C", "/%252e%252e/", "/%25%32%65", "/a%00.html", "/%00", "/a%0d%0aSet-Cookie:x", "/%7f", "/%09",
        ])
    func traversal(target: String) { #expect(refusal(target) == .traversal) }

    @Test(
        "[HT5] text that is written longer than it has to be is no text",
        arguments: [
            // ".", "/" and "." once more as overlong forms; a surrogate; more than U+10FFFF; a cut scalar.
            "/%c0%ae%c0%ae/", "/%c0%af", "/%e0%80%ae", "/%f0%80%80%ae", "/%ed%a0%80", "/%f4%90%80%80", "/%e2%82",
        ])
    func overlong(target: String) { #expect(refusal(target) == .percentEncoding) }

    @Test(
        "[HT5] a raw byte that stands in no path is refused", arguments: ["/\\..\\a", "/a\"b", "/<a>", "/a|b", "/{a}", "/^", "/`", "/[a]"])
    func raw(target: String) { #expect(refusal(target) == .targetByte) }

    @Test("[HT5] dots in a name, other scripts and doubled slashes are a path like any other")
    func good() throws {
        for (target, path) in [
            ("/...", "/..."), ("/..a", "/..a"), ("/a..", "/a.."), ("/.well-known", "/.well-known"), ("//a//", "//a//"), ("/%41", "/A"),
            ("/%e2%82%ac", "/€"), ("/%EF%BC%8E%EF%BC%8E/", "/．．/"), ("/a;b=c,d:e@f!$&'()*+~_-", "/a;b=c,d:e@f!$&'()*+~_-"),
        ] {
            #expect(try RequestTarget(ArraySlice(target.utf8)).path == path)
        }
        let both = try RequestTarget(ArraySlice("/a?../%2f%00?b".utf8))
        #expect(both.path == "/a" && both.query == Array("../%2f%00?b".utf8))
        #expect(try RequestTarget(ArraySlice("/a?".utf8)).query == [])
    }

    @Test("[HT5] only what stands in the table is served, whole names alone")
    func routes() {
        for path in [
            "/relay-client", "/relay-client.js/", "/RELAY-CLIENT.JS", "//relay-client.js", "/x/relay-client.js", "//", "/index.html",
            "/．．/",
        ] {
            let connection = Connection()
            let encoded = path.utf8.map { $0 < 0x80 ? String(Character(Unicode.Scalar($0))) : "%" + [$0].hex }.joined()
            #expect(connection.answer(Connection.get(encoded))?.status == .notFound, "\(path)")
        }
        for path in ["/relay-client.js", "/relay-client.js?v=2", "/relay%2Dclient.js", "/%72elay-client.js"] {
            let connection = Connection()
            #expect(connection.answer(Connection.get(path))?.body == Connection.script.bytes, "\(path)")
        }
    }
}
