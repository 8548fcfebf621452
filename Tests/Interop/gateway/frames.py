"""Streams of frames, whole and damaged, and what the server of websockets makes of them."""
import codecs
import random

from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

TEXTS = ["", "a", "grüß dich", "€uro 🖋 \u0000", "\uffff\U0010ffff", "a" * 130]


def piece(dice: random.Random, size: int) -> bytes:
    return bytes(dice.randrange(256) for _ in range(size))


def message(dice: random.Random) -> list[Frame]:
    """One message in one to four fragments, with control frames between them."""
    if dice.random() < 0.5:
        opcode, data = Opcode.TEXT, "".join(dice.choice(TEXTS) for _ in range(dice.randrange(3))).encode()
    else:
        opcode, data = Opcode.BINARY, piece(dice, dice.choice([0, 1, 5, 125, 126, 127, 300]))
    cuts = sorted(dice.randrange(len(data) + 1) for _ in range(dice.choice([0, 0, 1, 3])))
    parts = [data[start:end] for start, end in zip([0] + cuts, cuts + [len(data)])]
    result = []
    for index, part in enumerate(parts):
        if dice.random() < 0.2:
            result.append(Frame(dice.choice([Opcode.PING, Opcode.PONG]), piece(dice, dice.choice([0, 1, 4, 125]))))
        result.append(Frame(opcode if index == 0 else Opcode.CONT, part, fin=index == len(parts) - 1))
    return result


def stream(dice: random.Random) -> bytes:
    all_frames = [frame for _ in range(dice.randrange(1, 4)) for frame in message(dice)]
    if dice.random() < 0.4:
        code = dice.choice([1000, 1001, 1011, 1014, 3000, 4302, 4999])
        all_frames.append(Frame(Opcode.CLOSE, dice.choice([b"", code.to_bytes(2, "big") + dice.choice(["", "bye", "grüß"]).encode()])))
    return b"".join(frame.serialize(mask=True) for frame in all_frames)


def damaged(dice: random.Random, data: bytes) -> bytes:
    data = bytearray(data)
    for _ in range(dice.choice([1, 1, 2])):
        place = dice.randrange(len(data))
        kind = dice.randrange(4)
        if kind == 0:
            data[place] = dice.randrange(256)
        elif kind == 1:
            data[place] ^= 1 << dice.randrange(8)
        elif kind == 2 and len(data) > 1:
            del data[place]
        else:
            data[place:place] = bytes([dice.randrange(256)])
    return bytes(data)


def reading(data: bytes, limit: int) -> tuple[list[str], str]:
    protocol = ServerProtocol(state=State.OPEN, max_size=limit)
    protocol.receive_data(data)
    items, parts, kind, utf8 = [], b"", "", None
    for frame in protocol.events_received():
        if frame.opcode == Opcode.PING:
            items.append("i" + bytes(frame.data).hex())
        elif frame.opcode == Opcode.PONG:
            items.append("o" + bytes(frame.data).hex())
        elif frame.opcode == Opcode.CLOSE:
            items.append("c" + (str(int.from_bytes(frame.data[:2], "big")) if frame.data else ""))
            return items, "-"
        else:
            if frame.opcode != Opcode.CONT:
                kind, parts = ("t" if frame.opcode == Opcode.TEXT else "b"), b""
                utf8 = codecs.getincrementaldecoder("utf-8")("strict")
            if kind == "t":
                # That text is text is for whoever asked for it: the protocol hands on bytes.
                try:
                    utf8.decode(bytes(frame.data), final=frame.fin)
                except UnicodeDecodeError:
                    return items, "1007"
            parts += frame.data
            if frame.fin:
                items.append(kind + parts.hex())
    if "incomplete fragmented message" in str(protocol.parser_exc):
        # A close between fragments, as RFC 6455 §5.4 allows every control frame to stand.
        return items, "close"
    failure = protocol.close_sent.code if protocol.parser_exc is not None and protocol.close_sent is not None else None
    return items, str(int(failure)) if failure else "-"


def write(folder, seed, mutants):
    dice = random.Random(seed)
    with open(folder / "frames.txt", "w") as file:
        for index in range(mutants // 5):
            # Far above every message: websockets counts control frames between fragments as parts of it.
            data, limit = stream(dice), 1 << 20
            if index % 4:
                data = damaged(dice, data)
            items, code = reading(data, limit)
            file.write(f"{limit}\t{data.hex()}\t{','.join(items)}\t{code}\n")


def check(folder) -> str:
    line = (folder / "frames.out").read_text().strip()
    words = line.split()
    # A quarter is not damaged; of the others many still are streams.
    assert int(words[2]) > int(words[0]) // 2, line
    return "websockets: " + line
