import RelayPrimitives
import RelayWire
import Testing

@Suite struct JSONBodyTests {
    private struct Anything: JSONObject {
        mutating func fields(_ json: inout JSONFields) {}
    }

    private struct Number: JSONObject {
        var n = 0

        mutating func fields(_ json: inout JSONFields) { json("n", &n) }
    }

    /// The strict check alone, and with the decoder behind it: what the check passes the decoder must read.
    private func problem(_ bytes: [UInt8]) throws -> ErrorCode? {
        let checked = try refusal { try bytes.withUnsafeBytes { try JSONScanner.check($0) } }
        let decoded = try refusal { _ = try bytes.withUnsafeBytes { try JSONBody.decode(Anything.self, from: $0) } }
        #expect(checked == decoded, "the check says \(checked?.name ?? "yes"), the decoder \(decoded?.name ?? "yes")")
        return checked
    }

    private func problem(_ text: String) throws -> ErrorCode? { try problem(Array(text.utf8)) }

    @Test(
        "[JS1] one object with any white space around it passes",
        arguments: [
            "{}", " \t\r\n{ \t\r\n} \t\r\n", #"{"":""}"#, #"{"a":[]}"#, #"{"a" : [ 1 , "2" , true , false , null , {} ] , "b" : {} }"#,
            #"{"a":"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"}"#, "{\"a\":\"\u{7F}é名😀\u{FEFF}\"}",
        ])
    func good(text: String) throws {
        #expect(try problem(text) == nil)
    }

    @Test(
        "[JS1] what is not one JSON object is badRequest",
        arguments: [
            "", " ", "[]", "1", "\"a\"", "null", "true", "{", "}", "{}{}", "{} x", "{}\u{0}", "{},", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
            "{,}",
            "{a:1}", "{'a':1}", "{\"a\":1 \"b\":2}", "{\"a\":[1,]}", "{\"a\":[,1]}", "{\"a\":[1 2]}", "{\"a\":[1}", "{\"a\":tru}",
            "{\"a\":True}",
            "{\"a\":nul", "{\"a\":NaN}", "{\"a\":Infinity}", "{\"a\":undefined}", "{\"a\":1/*c*/}", "//c\n{}", "{\"a\":\"", "{\"a\":\"\\",
            "{\"a\":\"\\u00",
            "{\"a\":\"\\x\"}", "{\"a\":\"\\u00g0\"}", "{\"a\":\"\\U0041\"}", "\u{A0}{}", "\u{C}{}", "\u{B}{}",
        ])
    func bad(text: String) throws {
        #expect(try problem(text) == .badRequest)
    }

    @Test("[JS1] every proper beginning of a body is badRequest")
    func beginnings() throws {
        let whole = Array(#"{"a":[-12,"\u0041\n",true,null,{"b":{}}]}"#.utf8)
        #expect(try problem(whole) == nil)
        for cut in 0..<whole.count { #expect(try problem(Array(whole[..<cut])) == .badRequest, "\(cut) bytes") }
    }

    @Test("[JS1] control characters stand in a string only as escapes", arguments: UInt8(0)...0x1F)
    func controls(byte: UInt8) throws {
        #expect(try problem(Array("{\"a\":\"".utf8) + [byte] + Array("\"}".utf8)) == .badRequest)
        #expect(try problem(Array("{\"".utf8) + [byte] + Array("\":1}".utf8)) == .badRequest)
        let escape = "\\u00" + [byte].hex
        #expect(try problem("{\"a\":\"\(escape)\"}") == nil)
    }

    @Test("[JS1] a byte-order mark and other encodings than UTF-8 are refused")
    func encodings() throws {
        #expect(try problem([0xEF, 0xBB, 0xBF] + Array("{}".utf8)) == .badRequest)
        let text = #"{"a":1}"#
        let little = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        #expect(try problem(little) == .badRequest)
        #expect(try problem(big) == .badRequest)
        #expect(try problem([0xFF, 0xFE] + little) == .badText)
        #expect(try problem([0xFE, 0xFF] + big) == .badText)
        #expect(try problem(text.unicodeScalars.flatMap { [0, 0, 0, UInt8($0.value)] }) == .badRequest)
    }

    @Test("[JS1] a body that is not well-formed UTF-8 is badText, wherever the bytes stand")
    func invalidUTF8() throws {
        for bad: [UInt8] in [[0x80], [0xC0, 0x80], [0xC3], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF]] {
            #expect(try problem(Array("{\"a\":\"".utf8) + bad + Array("\"}".utf8)) == .badText)
            #expect(try problem(Array("{\"".utf8) + bad + Array("\":1}".utf8)) == .badText)
            #expect(try problem(Array("{}".utf8) + bad) == .badText)
        }
    }

    @Test("[JS1] 16,384 bytes pass, one more is tooLarge with both numbers")
    func sizes() throws {
        func body(_ count: Int) -> [UInt8] { Array("{\"a\":\"".utf8) + [UInt8](repeating: 0x61, count: count - 8) + Array("\"}".utf8) }
        #expect(body(100).count == 100 && Limits.jsonBodyBytesMax == 16_384)
        #expect(try problem(body(16_384)) == nil)
        #expect(try problem(body(16_385)) == .tooLarge)
        #expect(try problem([UInt8](repeating: 0x20, count: 16_383) + Array("{}".utf8)) == .tooLarge)
        do {
            try body(16_385).withUnsafeBytes { try JSONScanner.check($0) }
        } catch {
            #expect((error as? WireError)?.limit == 16_384 && (error as? WireError)?.actual == 16_385)
        }
        // From the relay a client takes whole frames.
        #expect(try refusal { try body(81_920).withUnsafeBytes { try JSONScanner.check($0, bytesMax: Limits.frameBodyBytesMax) } } == nil)
        #expect(
            try refusal { try body(81_921).withUnsafeBytes { try JSONScanner.check($0, bytesMax: Limits.frameBodyBytesMax) } } == .tooLarge)
    }

    @Test(
        "[JS2] no key stands twice in one object, however it is written",
        arguments: [
            #"{"a":1,"a":2}"#, #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":3}"#, #"{"a":1,"\u0061":2}"#, #"{"\u0061":1,"\u0061":2}"#,
            #"{"":1,"":2}"#,
            #"{"/":1,"\/":2}"#, #"{"\n":1,"\u000a":2}"#,
            #"{"x":{"a":1,"a":2}}"#, #"{"x":[{"a":1,"\u0061":2}]}"#,
        ])
    func duplicates(text: String) throws {
        #expect(try problem(text) == .badRequest)
    }

    @Test(
        "[JS2] keys that differ, or stand in different objects, are no duplicates",
        arguments: [
            #"{"a":1,"A":2}"#, #"{"a":{"a":1},"b":{"a":1}}"#, #"{"x":[{"a":1},{"a":2}]}"#, #"{"a":1,"a ":2}"#, #"{"\\u0061":1,"a":2}"#,
        ])
    func noDuplicates(text: String) throws {
        #expect(try problem(text) == nil)
    }

    @Test("[JS2] keys that are canonically equal, or not ASCII at all, are refused before a decoder drops one of them")
    func canonicallyEqual() throws {
        let body = Array("{\"id\":1,\"kind\":\"message\",\"channel\":\"a\",\"states\":{\"\u{E9}\":\"1\",\"e\u{301}\":\"2\"}}".utf8)
        #expect(try refusal { _ = try body.withUnsafeBytes { try JSONBody.decode(SetStatesRequest.self, from: $0) } } == .badName)
        let escaped = Array(#"{"id":1,"\u00e9":1}"#.utf8)
        #expect(try refusal { _ = try escaped.withUnsafeBytes { try JSONBody.decode(RequestID.self, from: $0) } } == .badName)
        let ascii = Array(#"{"\u0069d":7,"new":1}"#.utf8)
        #expect(try ascii.withUnsafeBytes { try JSONBody.decode(RequestID.self, from: $0) }.id == 7)
    }

    @Test("[NM1, JS2] the Kelvin sign, which Swift's strings take for K, is no key beside K")
    func kelvin() throws {
        let body = Array("{\"id\":1,\"kind\":\"message\",\"channel\":\"a\",\"states\":{\"K\":\"1\",\"\u{212A}\":\"2\"}}".utf8)
        #expect(try refusal { _ = try body.withUnsafeBytes { try JSONBody.decode(SetStatesRequest.self, from: $0) } } == .badName)
    }

    @Test("[JS3] integers within ±(2⁵³−1) pass and keep their value")
    func integers() throws {
        let cases: [(String, Int)] = [
            ("0", 0), ("-0", 0), ("1", 1), ("-1", -1), ("10", 10), ("9007199254740991", 9_007_199_254_740_991),
            ("-9007199254740991", -9_007_199_254_740_991),
        ]
        for (text, value) in cases {
            #expect(try problem("{\"n\":\(text)}") == nil, "\(text)")
            #expect(try Array("{\"n\":\(text)}".utf8).withUnsafeBytes { try JSONBody.decode(Number.self, from: $0).n } == value, "\(text)")
        }
    }

    @Test(
        "[JS3] numbers with fraction, exponent, leading zero or plus, or beyond ±(2⁵³−1), are badRequest",
        arguments: [
            "1.0", "1.5", "0.0", "-0.0", "1.", ".5", "1e3", "1E3", "1e-3", "1e+3", "0e0", "01", "-01", "00", "+1", "-", "--1", "- 1",
            "0x10", "1_000",
            "9007199254740992", "-9007199254740992", "9007199254740993", "18446744073709551616", "99999999999999999",
            "184467440737095516170",
            "00000000000000000000001", "1a", "١",
        ])
    func badNumbers(text: String) throws {
        #expect(try problem("{\"n\":\(text)}") == .badRequest)
        #expect(try problem("{\"n\":[0,\(text)]}") == .badRequest)
    }

    @Test("[JS4] 8 levels pass and 9 are badRequest, of objects and of arrays")
    func depth() throws {
        func objects(_ depth: Int) -> String {
            String(repeating: "{\"a\":", count: depth - 1) + "{}" + String(repeating: "}", count: depth - 1)
        }
        func arrays(_ depth: Int) -> String {
            "{\"a\":" + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1) + "}"
        }
        #expect(Limits.jsonDepthMax == 8)
        #expect(try problem(objects(8)) == nil)
        #expect(try problem(objects(9)) == .badRequest)
        #expect(try problem(arrays(8)) == nil)
        #expect(try problem(arrays(9)) == .badRequest)
        // Depth is that of nesting, not a count of brackets.
        #expect(try problem("{\"a\":[" + [String](repeating: "[[[[[[]]]]]]", count: 9).joined(separator: ",") + "]}") == nil)
        // A bomb of brackets is refused at the ninth.
        #expect(try problem("{\"a\":" + String(repeating: "[", count: 16_000)) == .badRequest)
    }

    @Test(
        "[JS4] half a surrogate pair is badRequest, in keys and in values",
        arguments: [
            #"\uD800"#, #"\uDBFF"#, #"\uDC00"#, #"\uDFFF"#, #"\ud83d"#, #"\uD83Dx"#, #"\uD83D\n"#, #"\uD83D\u0041"#, #"\uD83D\uD83D"#,
            #"\uDE00\uD83D"#,
            #"\uD83D\uDE0"#, #"\uD83D\"#, #"\uD83D\u"#,
        ])
    func surrogates(text: String) throws {
        #expect(try problem("{\"a\":\"\(text)\"}") == .badRequest)
        #expect(try problem("{\"\(text)\":1}") == .badRequest)
    }

    @Test("[JS4] whole surrogate pairs are their scalars, from the first to the last")
    func pairs() throws {
        struct Text: JSONObject {
            var s = ""

            mutating func fields(_ json: inout JSONFields) { json("s", &s) }
        }
        for (escape, scalar) in [
            (#"\uD800\uDC00"#, "\u{10000}"), (#"\uDBFF\uDFFF"#, "\u{10FFFF}"), (#"\ud83d\ude00"#, "😀"),
            (#"\uD7FF\uE000"#, "\u{D7FF}\u{E000}"),
        ] {
            let decoded = try Array("{\"s\":\"\(escape)\"}".utf8).withUnsafeBytes { try JSONBody.decode(Text.self, from: $0).s }
            #expect(decoded == scalar)
        }
    }

    @Test("[JS5] a missing, wrong or null field is badRequest with its name; unknown fields are ignored")
    func fields() throws {
        let cases: [(String, String?)] = [
            (#"{"id":1,"user":"anna"}"#, nil), (#"{"id":1,"user":"anna","new":{"x":[1]}}"#, nil),
            (#"{"id":4294967295,"user":"anna"}"#, nil),
            (#"{"user":"anna"}"#, "id"), (#"{"id":1}"#, "user"), (#"{"id":"1","user":"anna"}"#, "id"),
            (#"{"id":true,"user":"anna"}"#, "id"), (#"{"id":null,"user":"anna"}"#, "id"),
            (#"{"id":1,"user":7}"#, "user"), (#"{"id":1,"user":["anna"]}"#, "user"),
        ]
        for (text, field) in cases {
            do {
                _ = try Array(text.utf8).withUnsafeBytes { try JSONBody.decode(WhereRequest.self, from: $0) }
                #expect(field == nil, "\(text)")
            } catch let error as WireError {
                #expect(error.code == .badRequest && field.map { error.text.contains("field \($0)") } == true, "\(text): \(error.text)")
            }
        }
    }

    @Test("[JS5] a number that its field cannot hold is badRequest with the field's name, whatever other numbers stand beside it")
    func fieldRange() throws {
        // An offset may be larger than any id, and stand before it.
        let cases: [(field: String, body: String)] = [
            ("id", #"{"id":-1,"channel":"a"}"#), ("id", #"{"id":4294967296,"channel":"a"}"#), ("id", #"{"id":1e3,"channel":"a"}"#),
            ("id", #"{"since":{"offset":99999999999,"epoch":{"start":1,"incarnation":1}},"id":4294967296,"channel":"a"}"#),
            ("since.offset", #"{"id":1,"channel":"a","since":{"offset":-1,"epoch":{"start":1,"incarnation":1}}}"#),
            ("since.offset", #"{"id":1,"channel":"a","since":{"offset":9007199254740992,"epoch":{"start":1,"incarnation":1}}}"#),
            ("since.epoch.start", #"{"new":-7,"id":1,"channel":"a","since":{"offset":99999999999,"epoch":{"start":-1,"incarnation":1}}}"#),
            ("since.epoch.incarnation", #"{"id":1,"channel":"a","since":{"offset":1,"epoch":{"start":1,"incarnation":4294967296}}}"#),
        ]
        for (field, body) in cases {
            do {
                _ = try Array(body.utf8).withUnsafeBytes { try JSONBody.decode(SubscribeRequest.self, from: $0) }
                Issue.record("taken: \(body)")
            } catch let error as WireError {
                #expect(
                    error.code == .badRequest && error.text.contains("field \(field)\(error.text.contains("byte") ? ":" : " ")"),
                    "\(body): \(error.text)")
            }
        }
    }

    @Test("[JS5] numbers at the ends of their fields pass")
    func fieldEnds() throws {
        let body = #"{"id":4294967295,"channel":"a","since":{"offset":9007199254740991,"epoch":{"start":4294967295,"incarnation":0}}}"#
        let request = try Array(body.utf8).withUnsafeBytes { try JSONBody.decode(SubscribeRequest.self, from: $0) }
        let since = ChannelPosition(epoch: Epoch(start: .max, incarnation: 0), offset: 9_007_199_254_740_991)
        #expect(request == SubscribeRequest(id: .max, channel: try Name("a"), since: .position(since)))
        let optional = Array(#"{"code":106,"name":"tooLarge","text":"","limit":0,"id":null}"#.utf8)
        let error = try optional.withUnsafeBytes { try JSONBody.decode(ErrorBody.self, from: $0) }
        #expect(error.limit == 0 && error.id == nil && error.actual == nil)
    }

    @Test("[JS5] an optional field may be null, which means absent")
    func nulls() throws {
        let body = Array(#"{"id":1,"channel":"a","features":null,"quiet":null,"since":null}"#.utf8)
        let request = try body.withUnsafeBytes { try JSONBody.decode(SubscribeRequest.self, from: $0) }
        #expect(request == SubscribeRequest(id: 1, channel: try Name("a")))
    }

    @Test("[JS1] random changes of a good body never trap, and the decoder reads what the check passes")
    func noise() throws {
        let bodies = FrameVector.json.map(\.frame.body)
        let alphabet = Array("{}[]\",:\\u0019-.etfn \u{0}é".utf8) + [0xFF]
        var generator = SplitMix64(seed: 7)
        for _ in 0..<4_000 {
            var body = bodies.randomElement(using: &generator)!
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                body[Int.random(in: body.indices, using: &generator)] = alphabet.randomElement(using: &generator)!
            }
            _ = try problem(body)
        }
    }
}
