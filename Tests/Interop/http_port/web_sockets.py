"""Checks of WebSockets that break rules."""

import struct
import time
from concurrent.futures import ThreadPoolExecutor

from links import BINARY, CLOSE, CONTINUATION, FRAME_MAX, PING, PONG, TEXT_FRAME, WebSocketLink, open_websocket, upgrade_request
from http_port.site import KEY, check, need


RELAY_PING = bytes.fromhex("0000000403000102")


def masked(first, payload=b"", size=None, mask=b"\x00" * 4):
    """A frame by its first byte; `size`: its length field as bytes, with the bit of the mask."""
    return bytes([first]) + (size or bytes([0x80 | len(payload)])) + mask + payload


def broken_streams():
    """(what is wrong, bytes, code of the close that answers)."""
    end, ping = 0x80, RELAY_PING
    half = ping[:5]
    return [
        ("no mask", bytes([end | BINARY, len(ping)]) + ping, 1002),
        *((f"reserved bit {bit:#x}", masked(end | bit | BINARY, ping), 1002) for bit in (0x40, 0x20, 0x10)),
        *((f"opcode {code}", masked(end | code, ping), 1002) for code in (3, 4, 5, 6, 7, 0xB, 0xC, 0xD, 0xE, 0xF)),
        ("text", masked(end | TEXT_FRAME, b"hello"), 1003),
        ("8 bytes in 16 bits", masked(end | BINARY, ping, struct.pack(">BH", 0xFE, 8)), 1002),
        ("8 bytes in 64 bits", masked(end | BINARY, ping, struct.pack(">BQ", 0xFF, 8)), 1002),
        ("65,535 bytes in 64 bits", masked(end | BINARY, b"", struct.pack(">BQ", 0xFF, 65_535)), 1002),
        ("a ping in parts", masked(PING, b"x"), 1002),
        ("a ping of 126 bytes", masked(end | PING, bytes(126), struct.pack(">BH", 0xFE, 126)), 1002),
        ("a fragment of nothing", masked(end | CONTINUATION, ping), 1002),
        ("a message in a message", masked(BINARY, ping) + masked(end | BINARY, ping), 1002),
        ("text in a message", masked(BINARY, ping) + masked(end | TEXT_FRAME, ping), (1002, 1003)),
        ("81,927 bytes", masked(end | BINARY, b"", struct.pack(">BQ", 0xFF, FRAME_MAX + 1)), 1009),
        ("2⁶³ bytes", masked(end | BINARY, b"", struct.pack(">BQ", 0xFF, 1 << 63)), (1002, 1009)),
        ("2⁶² bytes", masked(end | BINARY, b"", struct.pack(">BQ", 0xFF, 1 << 62)), 1009),
        ("81,927 bytes in fragments", masked(BINARY, ping) + masked(CONTINUATION, b"", struct.pack(">BQ", 0xFF, FRAME_MAX + 1 - len(ping))),
         1009),
        ("an empty message", masked(end | BINARY), 1002),
        ("empty fragments", masked(BINARY) + masked(CONTINUATION) + masked(end | CONTINUATION), 1002),
        ("half a frame", masked(end | BINARY, half), 1002), ("one and a half", masked(end | BINARY, ping + half), 1002),
        ("half a length", masked(end | BINARY, ping[:3]), 1002),
        ("half a frame in fragments", masked(BINARY, ping) + masked(end | CONTINUATION, half), 1002),
        *((f"close {code}", masked(end | CLOSE, struct.pack(">H", code) + b"bye"), code)
          for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 4000, 4302, 4999)),
        *((f"close {code}", masked(end | CLOSE, struct.pack(">H", code)), 1002)
          for code in (0, 1, 999, 1004, 1005, 1006, 1015, 1016, 2000, 2999, 5000, 65_535)),
        ("half a code", masked(end | CLOSE, b"\x03"), 1002), ("a reason that is no UTF-8", masked(end | CLOSE, b"\x03\xe8\xff"), 1007),
        ("a reason cut in a character", masked(end | CLOSE, b"\x03\xe8\xe2\x82"), 1007),
        ("a close without a code", masked(end | CLOSE), None)]


def read_websocket(connection, rest=b""):
    """[(opcode, payload)] of all frames until the connection ends."""
    data = rest
    while True:
        try:
            part = connection.sock.recv(65_536)
        except ConnectionResetError:
            part = b""
        if not part:
            break
        data += part
    frames, at = [], 0
    while at < len(data):
        need(data[at] & 0x70 == 0 and data[at + 1] < 126, f"{data[at:at + 40].hex()}")
        end = at + 2 + data[at + 1]
        need(end <= len(data), f"a frame is cut: {data[at:].hex()}")
        frames.append((data[at] & 0x0F, data[at + 2:end]))
        at = end
    return frames


@check("[WS4 WS5 WS6 WS7] a WebSocket that breaks a rule ends with the code that says which, and with nothing behind it")
def broken_websockets(site):
    def one(what, data, codes):
        for cut in (len(data), 1, site.dice.randrange(1, len(data) + 1)):
            with site.connect() as connection:
                connection.send(upgrade_request(site.name, KEY))
                need(connection.answer().status == 101, "no upgrade")
                connection.send(data[:cut])
                if cut < len(data):
                    time.sleep(0.002)
                    connection.send(data[cut:])
                frames = read_websocket(connection, connection.rest)
                need(frames and frames[-1][0] == CLOSE, f"{what}, cut at {cut}: {frames}")
                payload = frames[-1][1]
                code = int.from_bytes(payload[:2], "big") if payload else None
                need(code in (codes if isinstance(codes, tuple) else (codes,)),
                     f"{what}, cut at {cut}: closed with {code}, wanted {codes}: {frames}")
                need(all(frame == (BINARY, bytes.fromhex("0000000404000102")) for frame in frames[:-1]), f"{what}: {frames}")

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(one, *row) for row in broken_streams()]:
            done.result()


@check("[WS6] pings stand between fragments too; the last of them is answered, pongs are not")
def pings(site):
    with site.connect() as connection:
        link, rest = open_websocket(connection.sock, site.name, site.dice)
        need(isinstance(link, WebSocketLink) and not rest, f"{rest!r}")
        for _ in range(20):
            parts = [link.frame(BINARY, RELAY_PING[:3], False), link.ping(), link.frame(PONG, b"unasked"), link.ping(),
                     link.frame(CONTINUATION, b"", False),
                     link.frame(CONTINUATION, RELAY_PING[3:] + RELAY_PING), link.ping()]
            if site.dice.random() < 0.5:
                connection.send(b"".join(parts))
            else:
                for part in parts:
                    connection.send(part)
            got = b""
            while len(got) < 16 or link.pings_answered < link.pings_sent:
                data = connection.sock.recv(65_536)
                need(data, f"it ended after {got!r}")
                got += b"".join(link.decode(data))
            need(got == bytes.fromhex("0000000404000102") * 2, f"{got.hex()}")
        connection.send(link.goodbye(1001, "bis später".encode()))
        while data := connection.sock.recv(4_096):
            list(link.decode(data))
        link.judge_end(None)
