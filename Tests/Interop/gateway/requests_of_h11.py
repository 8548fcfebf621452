"""Mutants of valid requests, and what h11 makes of them."""
import random

import h11

FIELDS = [
    b"", b"Accept: */*\r\n", b"Accept-Encoding: gzip, deflate, br\r\nAccept-Language: de,en;q=0.7\r\n", b"Connection: keep-alive\r\n",
    b"User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nCookie: a=b; c=\"d\"\r\n", b"If-None-Match: \"a\", W/\"b\"\r\nCache-Control: max-age=0\r\n",
    b"Content-Length: 0\r\n", b"X-Empty:\r\nX-Tab: \ta\tb \r\nX-High: \xc3\xa9\xff\r\n", b"Expect: 100-continue\r\n",
    b"Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n",
]
LINES = [b"GET / HTTP/1.1\r\nHost: 192.168.1.5:7420\r\n", b"HEAD /relay-client.js HTTP/1.1\r\nhost:localhost:7420\r\n",
         b"GET /a%20b/c.d?e=f%2F&g HTTP/1.1\r\nHOST: [fe80::1]:7420 \r\n", b"GET /metrics HTTP/1.0\r\nHost: board.local\r\n"]
# Forty of them.
VALID = [line + fields + b"\r\n" for line in LINES for fields in FIELDS]
TOKENS = [b"\r", b"\n", b"\r\n", b" ", b"\t", b":", b",", b"%2e", b"%", b"/", b"..", b"\0", b"HTTP/1.1", b"Content-Length: 1\r\n", b"\x0b",
          b"\x0c",
          b"Transfer-Encoding: chunked\r\n", b"Content-Length: 0\r\n", b"Host: b\r\n", b"\x7f", b"\x85", b"\xa0", b"\r\n\r\n", b"\r\n ", b"GET / HTTP/1.1\r\n"]


def mutant(dice: random.Random) -> bytes:
    text = bytearray(dice.choice(VALID))
    if dice.random() < 0.2:
        text += dice.choice(VALID)
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        place = dice.randrange(len(text))
        kind = dice.randrange(7)
        if kind == 0:
            text[place] = dice.randrange(256)
        elif kind == 1:
            del text[place:place + dice.choice([1, 1, 2, 10])]
        elif kind == 2:
            text[place:place] = dice.choice(TOKENS)
        elif kind == 3:
            text[place] ^= 1 << dice.randrange(8)
        elif kind == 4:
            end = place + dice.randrange(1, 20)
            text[place:place] = text[place:end]
        elif kind == 5:
            # A line twice, or elsewhere.
            lines = bytes(text).split(b"\r\n")
            lines.insert(dice.randrange(len(lines)), dice.choice(lines))
            text = bytearray(b"\r\n".join(lines))
        else:
            other = dice.choice(VALID)
            start = dice.randrange(len(other))
            text[place:place] = other[start:start + dice.randrange(1, 30)]
        if not text:
            return b""
    return bytes(text)


def reading(text: bytes) -> str:
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=100_000)
    try:
        connection.receive_data(text)
        request = connection.next_event()
        if not isinstance(request, h11.Request):
            return "-"
        fields = ",".join(f"{name.hex()}:{value.hex()}" for name, value in request.headers)
        if not isinstance(connection.next_event(), h11.EndOfMessage):
            return "-"
        rest = len(connection.trailing_data[0])
    except h11.RemoteProtocolError:
        return "-"
    minor = request.http_version.decode()[2:]
    return "\t".join([request.method.decode(), request.target.hex(), minor, fields, str(rest)])


def write(folder, seed, mutants):
    assert len(VALID) == 40
    dice = random.Random(seed)
    with open(folder / "http.txt", "w") as file:
        for text in VALID + [mutant(dice) for _ in range(mutants)]:
            file.write(f"{text.hex()}\t{reading(text)}\n")


def check(folder) -> str:
    line = (folder / "http.out").read_text().strip()
    accepted = int(line.split()[2])
    # All that are valid, and enough of the others that the comparison shows something.
    assert accepted > 40 + (int(line.split()[0]) - 40) // 20, line
    return "h11: " + line
