import RelayPrimitives
import RelayWire
import Testing

@Suite struct FrameTests {
    @Test("[FR2] a frame decodes the same wherever it is cut", arguments: FrameVector.all)
    func cuts(vector: FrameVector) throws {
        for cut in 0...vector.bytes.count {
            let read = try frames(in: [vector.bytes[..<cut], vector.bytes[cut...]])
            #expect(read.frames == [vector.frame] && read.pending == 0, "cut at \(cut)")
            #expect(try frames(in: [vector.bytes[..<cut]]).frames.count == (cut < vector.bytes.count ? 0 : 1), "only \(cut) bytes")
        }
    }

    @Test("[FR2] all frames decode the same byte by byte, in one piece and in random pieces")
    func stream() throws {
        let stream = FrameVector.all.flatMap(\.bytes)
        let expected = FrameVector.all.map(\.frame)
        #expect(try frames(in: stream.indices.map { stream[$0...$0] }).frames == expected)
        #expect(try frames(in: [stream[...]]).frames == expected)
        for seed in UInt64(1)...20 {
            var generator = SplitMix64(seed: seed)
            var pieces: [ArraySlice<UInt8>] = []
            var start = 0
            while start < stream.count {
                let end = min(stream.count, start + Int.random(in: 0...300, using: &generator))
                pieces.append(stream[start..<end])
                start = end
            }
            #expect(try frames(in: pieces).frames == expected, "seed \(seed)")
        }
    }

    @Test("[FR2] a reader that has read more than it keeps goes on where it was")
    func longStream() throws {
        let frame = Frame(.deliver, body: [UInt8](repeating: 7, count: 50_000))
        var reader = FrameReader()
        var count = 0
        for _ in 0..<20 {
            // A frame and a half at a time, so that something is always left over.
            reader.append(frame.bytes + frame.bytes[..<25_003])
            reader.append(frame.bytes[25_003...])
            while let next = try reader.next() {
                #expect(next == frame)
                count += 1
            }
        }
        #expect(count == 40 && reader.pendingBytes == 0)
    }

    @Test("[FR1] the length counts type, flags and body, big-endian")
    func layout() {
        #expect(Frame(type: 0x91, flags: 0x07, body: [1, 2, 3]).bytes == [0, 0, 0, 5, 0x91, 0x07, 1, 2, 3])
        #expect(Frame(type: 0x03).bytes == [0, 0, 0, 2, 3, 0])
        #expect(Array(Frame(type: 0, body: [UInt8](repeating: 0, count: 0x1_0000)).bytes[..<4]) == [0, 1, 0, 2])
    }

    @Test("[FR3] a body of 81,920 bytes passes")
    func largest() throws {
        let frame = Frame(type: 0x90, body: [UInt8](repeating: 1, count: Limits.frameBodyBytesMax))
        let bytes = frame.bytes
        #expect(Limits.frameBodyBytesMax == 81_920)
        #expect(try frames(in: [bytes[..<6], bytes[6...]]).frames == [frame])
    }

    @Test(
        "[FR3] a length over the limit or below 2 is refused from its four bytes, before any body",
        arguments: [
            (81_923, ErrorCode.frameTooLarge), (0x00FF_FFFF, .frameTooLarge), (0x8000_0000, .frameTooLarge), (.max, .frameTooLarge),
            (0, .protocolError), (1, .protocolError),
        ] as [(UInt32, ErrorCode)])
    func lengthBombs(length: UInt32, code: ErrorCode) throws {
        var head: [UInt8] = []
        head.append(bigEndian: length)
        for cut in 0..<4 {
            #expect(head[..<cut].withUnsafeBytes { FrameHead.read($0) } == .incomplete)
            #expect(try frames(in: [head[..<cut]]).frames.isEmpty)
        }
        #expect(head.withUnsafeBytes { FrameHead.read($0) } == .invalid(length: length))
        #expect(try refusal { _ = try frames(in: [head[...]]) } == code)
        // Good frames before it are still read.
        var reader = FrameReader()
        reader.append(Frame(.ping).bytes + head)
        #expect(try reader.next() == Frame(.ping))
        #expect(try refusal { _ = try reader.next() } == code)
        #expect(try refusal { _ = try reader.next() } == code)
    }

    @Test("[FR3] the refusal of a long frame tells what is allowed and what was announced")
    func lengthErrors() {
        let long = FrameHead.lengthError(81_923)
        #expect(long.limit == 81_920 && long.actual == 81_921)
        let short = FrameHead.lengthError(1)
        #expect(short.limit == 2 && short.actual == 1)
    }

    @Test("[FR5] every legal length begins with a zero byte")
    func firstByte() {
        #expect(UInt32(Limits.frameBodyBytesMax + 2) < 1 << 24)
        #expect(FrameVector.all.allSatisfy { $0.bytes[0] == 0 })
        for noise in ["GET / HTTP/1.1\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", "SSH-2.0-"] {
            guard case .invalid = Array(noise.utf8).withUnsafeBytes({ FrameHead.read($0) }) else {
                Issue.record("\(noise) is taken for a frame")
                continue
            }
        }
    }
}
