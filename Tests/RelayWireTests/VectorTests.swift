import RelayWire
import Testing

@Suite struct VectorTests {
    @Test("[FR1] the vectors have at least one frame of every type, each under a name of its own")
    func coverage() {
        let covered = Set(FrameVector.all.compactMap(\.type))
        let missing = FrameType.allCases.filter { !covered.contains($0) }
        #expect(missing.isEmpty, "no vector for \(missing.map(\.name))")
        #expect(Set(FrameVector.all.map(\.name)).count == FrameVector.all.count)
    }

    @Test("[FR1] a vector is one frame of the type it is named for, and encodes back to its bytes", arguments: FrameVector.all)
    func heads(vector: FrameVector) throws {
        let read = try frames(in: [vector.bytes[...]])
        #expect(read.frames == [vector.frame] && read.pending == 0)
        #expect(vector.type?.rawValue == vector.frame.type, "\(vector.name) is not type \(vector.frame.type)")
        #expect(vector.frame.bytes.hex == vector.bytes.hex)
    }

    @Test("[FR8] a binary body decodes to its meaning and encodes back to its bytes", arguments: FrameVector.binary)
    func binary(vector: FrameVector) throws {
        let type = try #require(vector.type)
        let body = try #require(try BinaryBody.decode(type, flags: vector.frame.flags, body: vector.frame.body))
        #expect(body.meaning == vector.meaning)
        if let encoded = body.encoded { #expect(encoded.bytes.hex == vector.bytes.hex) }
    }

    @Test("[FR8] the vectors try every encoder of a binary frame")
    func encoders() throws {
        var tried: Set<FrameType> = []
        for vector in FrameVector.binary {
            let type = try #require(vector.type)
            if try BinaryBody.decode(type, flags: vector.frame.flags, body: vector.frame.body)?.encoded != nil { tried.insert(type) }
        }
        #expect(tried == [
            .publish, .publishPacket, .publishChanges, .direct, .directReceived, .setMetadata, .updateMetadata, .metadataPage, .metadata,
        ])
    }

    @Test("[JS1, FR4] a JSON body is its meaning, passes every check and encodes back to its bytes", arguments: FrameVector.json)
    func json(vector: FrameVector) throws {
        #expect(String(decoding: vector.frame.body, as: UTF8.self) == vector.meaning)
        #expect(vector.frame.flags == 0)
        #expect(try Self.reencoded(vector) == vector.meaning)
    }

    @Test("[PR2, ST11, LK8] the vectors show every event of presence, topics and locks")
    func events() throws {
        struct Event: JSONObject {
            var event = ""

            mutating func fields(_ json: inout JSONFields) { json("event", &event) }
        }

        func events(_ type: FrameType) throws -> Set<String> {
            Set(try FrameVector.json.filter { $0.type == type }.map { vector in
                try vector.frame.body.withUnsafeBytes { try JSONBody.decode(Event.self, from: $0) }.event
            })
        }
        #expect(try events(.presence) == ["snapshot", "join", "leave", "timeout", "stateChanged", "interval"])
        #expect(try events(.locks) == Set(LocksEvent.Event.allCases.map(\.rawValue)))
        #expect(try events(.topics) == ["snapshot", "publisherJoined", "publisherLeft"])
    }

    /// The body decoded to the type that the frame's name stands for, and written again.
    private static func reencoded(_ vector: FrameVector) throws -> String {
        func through<T: JSONObject>(_ type: T.Type) throws -> String {
            let value = try vector.frame.body.withUnsafeBytes { try JSONBody.decode(type, from: $0, bytesMax: vector.bodyBytesMax) }
            return String(decoding: JSONBody.encode(value), as: UTF8.self)
        }
        guard let type = vector.bodyType else { return "no JSON frame is called \(vector.name)" }
        return try through(type)
    }
}
