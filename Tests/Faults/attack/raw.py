"""Links of attackers: raw frames over a socket, as fast as it goes, with nothing of what a client owes (docs/protocol.md).

Whoever has an address comes through the proxy that the relay trusts, on a WebSocket: for the relay that is another machine.
"""

import collections
import json
import pathlib
import selectors
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from daemon import PATIENCE, relay_client  # noqa: E402

CODES, FRAME_NAMES, encode_changes, encode_publish = (
    relay_client.CODES, relay_client.FRAME_NAMES, relay_client.encode_changes, relay_client.encode_publish)
frame, json_body = relay_client.frame, relay_client.json_body

UPGRADE = ("GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX-Forwarded-For: {address}\r\n\r\n")
MESSAGE_BYTES = 60_000
LIFE_SECONDS = 3  # between two signs of life: the relay asks after 5 [HB2]


def request(name, number, **fields):
    """The frame of a JSON request."""
    return frame(name, json_body({"id": number, **fields}))


def texts(name, number, items, **fields):
    """The frame of a request with texts (JS6): items are (key, text)."""
    head = json_body({"id": number, **fields, "items": [{"key": key, "bytes": len(text)} for key, text in items]})
    return frame(name, struct.pack(">H", len(head)) + head + b"".join(text for _, text in items))


def publish(number, channel, payload, **more):
    """The frame of a `publish`."""
    flags, body = encode_publish(number, channel, payload, **more)
    return frame("publish", body, flags)


def message(data):
    """A WebSocket message; a mask of zeros changes nothing, and costs nothing."""
    size = len(data)
    head = struct.pack(">BB", 0x82, 0x80 | size) if size < 126 else (
        struct.pack(">BBH", 0x82, 0xFE, size) if size < 65_536 else struct.pack(">BBQ", 0x82, 0xFF, size))
    return head + bytes(4) + data


class Ended(Exception):
    """The relay has closed the connection; the code's name, if it told one."""


class Link:
    """One connection, logged in or not. `codes` counts what errors came, `bytes` all that was read."""

    def __init__(self, port, address=None, patience=PATIENCE):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=patience)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.is_websocket, self.is_upgraded = address is not None, address is None
        self.buffer, self.codes, self.bytes, self.closing = bytearray(), collections.Counter(), 0, None
        self.waiting = collections.deque()
        if address:
            self.socket.sendall(UPGRADE.format(port=port, address=address).encode())

    # -- writing ------------------------------------------------------------------------------------------------------

    def pack(self, frames):
        """The bytes of frames, as this link carries them."""
        if not self.is_websocket:
            return b"".join(frames)
        out, part = bytearray(), bytearray()
        for one in frames:
            if part and len(part) + len(one) > MESSAGE_BYTES:
                out += message(bytes(part))
                part.clear()
            part += one
        return bytes(out + message(bytes(part))) if part else bytes(out)

    def write(self, *frames):
        """All of them, at once."""
        self.socket.sendall(self.pack(frames))

    def login(self, user, dice, key, **more):
        """Sends it; the answer is not waited for."""
        self.write(request("login", 1, versions=[1], user=user, instance=f"{dice.getrandbits(64):016x}",
                           secret=f"{dice.getrandbits(128):032x}", key=key, **more))

    def must_be_in(self):
        """Waits for `welcome`; `Ended` says why it does not come."""
        name, _, body = self.until("welcome", "error")
        if name == "error":
            raise Ended(json.loads(body)["name"])

    # -- reading ------------------------------------------------------------------------------------------------------

    def feed(self, data):
        """Whole frames of what was read, as (name, flags, body)."""
        self.bytes += len(data)
        self.buffer += data
        return list(self._relay_frames())

    def _relay_frames(self):
        if not self.is_upgraded:
            head, mark, rest = bytes(self.buffer).partition(b"\r\n\r\n")
            if not mark:
                return
            if not head.startswith(b"HTTP/1.1 101"):
                raise Ended(head[:12].decode("latin-1"))
            self.buffer, self.is_upgraded = bytearray(rest), True
        for piece in self._pieces():
            at = 0
            while at < len(piece):
                size = int.from_bytes(piece[at:at + 4], "big")
                yield self._note(FRAME_NAMES.get(piece[at + 4]), piece[at + 5], bytes(piece[at + 6:at + 4 + size]))
                at += 4 + size

    def _pieces(self):
        """Runs of whole frames."""
        at, buffer = 0, self.buffer
        while len(buffer) - at >= 4:
            if self.is_websocket:
                size, start = buffer[at + 1], 2
                if size >= 126:
                    start = 4 if size == 126 else 10
                    if len(buffer) - at < start:
                        break
                    size = int.from_bytes(buffer[at + 2:at + start], "big")
                end = at + start + size
                is_content = buffer[at] & 0x0F < 0x8
            else:
                start, end, is_content = 0, at + 4 + int.from_bytes(buffer[at:at + 4], "big"), True
            if len(buffer) < end:
                break
            if is_content:
                yield bytes(buffer[at + start:end])
            at = end
        del buffer[:at]

    def _note(self, name, flags, body):
        if name == "error":
            self.codes[CODES.get(json.loads(body)["code"], "?")] += 1
        elif name == "closing":
            self.closing = json.loads(body)["name"]
        elif name == "ping":
            self.write(frame("pong", body))
        return name, flags, body

    def read(self):
        """What comes next: whole frames, perhaps none."""
        data = self.socket.recv(1 << 18)
        if not data:
            raise Ended(self.closing or "nothing was told")
        return self.feed(data)

    def until(self, *names):
        """The first frame of one of these names; what came before is gone, and what came behind waits here."""
        while True:
            while self.waiting:
                one = self.waiting.popleft()
                if one[0] in names:
                    return one
            self.waiting += self.read()

    def answered(self, count):
        """Reads until so many requests were answered or refused; the refusals among them."""
        before = self.codes.total()
        for _ in range(count):
            self.until("answer", "error", "metadataPage", "accepted")
        return self.codes.total() - before

    def close(self):
        self.socket.close()


def reset(link):
    """Ends it at once, whatever is queued in either direction."""
    link.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    link.close()


class Crowd:
    """Many links that a thread reads and keeps alive while something else goes on. `ended` counts those that the relay ended."""

    def __init__(self, links):
        self.links, self.ended = list(links), 0
        self.selector = selectors.DefaultSelector()
        for link in self.links:
            self.selector.register(link.socket, selectors.EVENT_READ, link)
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        ping = frame("ping")
        next_sign = time.monotonic() + LIFE_SECONDS
        while not self.is_over.is_set():
            for entry, _ in self.selector.select(0.2):
                self._read(entry.data)
            if time.monotonic() >= next_sign:
                next_sign = time.monotonic() + LIFE_SECONDS
                for entry in list(self.selector.get_map().values()):
                    try:
                        entry.data.write(ping)
                    except OSError:
                        self._gone(entry.data)

    def _read(self, link):
        try:
            data = link.socket.recv(1 << 18)
            link.bytes += len(data)
        except OSError:
            data = b""
        if not data:
            self._gone(link)

    def _gone(self, link):
        self.ended += 1
        self.selector.unregister(link.socket)

    def close(self):
        self.is_over.set()
        self.thread.join(PATIENCE)
        self.selector.close()
        for link in self.links:
            link.close()
