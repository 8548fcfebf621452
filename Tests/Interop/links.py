"""What carries relay frames: TCP as they are, or a WebSocket (RFC 6455), written from docs/protocol.md and the RFC alone.

A link turns relay bytes into what is written to the socket, and what was read from it back into relay bytes. The one of WebSocket
does what a client may: it cuts messages into fragments, joins frames in one message, pings in between. It takes from the relay
only what the relay may do.
"""

import base64
import hashlib
import os
import struct
from collections import deque

FRAME_MAX = 81_926
MESSAGE_MAX = FRAME_MAX
RELAY_MESSAGE_MAX = 65_536
CONTROL_MAX = 125
CLOSE_CODE_BASE = 4_000
CONTINUATION, TEXT_FRAME, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
HEAD_MAX = 16_384
HARMLESS_FIELDS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
                               "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "referrer-policy": "no-referrer", "x-content-type-options": "nosniff"}


class Violation(Exception):
    """The relay broke a rule of the document."""

    def __init__(self, rule, message):
        super().__init__(f"{rule}: {message}")
        self.rule = rule


def is_frame_length(length):
    """FR3: what may stand in the first four bytes of a frame."""
    return 2 <= length <= FRAME_MAX - 4


class TCPLink:
    """Bytes are bytes."""

    name = "tcp"
    pings_sent = pings_answered = 0
    has_said_close = False

    def encode(self, data):
        """What is written."""
        return data

    def decode(self, data):
        """What was read."""
        yield data

    def answers(self):
        """What is to be written by itself."""
        return b""

    def judge_end(self, closing):
        """The connection has ended."""


class WebSocketLink:
    """Frames of RFC 6455. `dice` says where messages and fragments end."""

    name = "websocket"

    def __init__(self, dice):
        self.dice = dice
        # Sending: where in a relay frame we are, and what of a message is sent.
        self.length, self.missing, self.is_lost = bytearray(), 0, False
        self.is_in_message, self.message_size = False, 0
        self.pings, self.pings_sent, self.pings_answered = deque(), 0, 0
        self.said_close = None
        # Receiving.
        self.buffer, self.message = bytearray(), None
        self.close = None
        self._answers = bytearray()

    # -- sending --------------------------------------------------------------------------------

    @property
    def has_said_close(self):
        """Nothing may be sent any more."""
        return self.said_close is not None

    def encode(self, data):
        """Messages, the last of them without its end where a relay frame is not whole. [WS7]"""
        if self.has_said_close:
            raise BrokenPipeError("the WebSocket is closed")
        out, part, is_whole = bytearray(), bytearray(), True
        for piece, is_whole in self._pieces(bytes(data)):
            # A frame of which more is to come begins a message: how much that is may not be known yet.
            if part and (not is_whole or self.message_size + len(part) + len(piece) > MESSAGE_MAX):
                out += self._message(bytes(part), True)
                part.clear()
            part += piece
            if is_whole and self.dice.random() < 0.2:
                out += self._message(bytes(part), True)
                part.clear()
        if part:
            out += self._message(bytes(part), is_whole)
        return bytes(out)

    def _pieces(self, data):
        """(bytes, whether a relay frame ends with them); of what has no frames all that is left."""
        at = 0
        while at < len(data):
            start = at
            while not self.is_lost and self.missing == 0 and at < len(data):
                self.length.append(data[at])
                at += 1
                if len(self.length) == 4:
                    self.missing = int.from_bytes(self.length, "big")
                    self.is_lost = not is_frame_length(self.missing)
                    self.length.clear()
            if self.is_lost:
                yield data[start:], True
                return
            taken = min(self.missing, len(data) - at)
            self.missing -= taken
            at += taken
            yield data[start:at], self.missing == 0 and not self.length

    def _message(self, data, is_last):
        """One message or the part of one, in as many fragments as the dice say, with pings between them."""
        cuts = []
        if self.dice.random() < 0.15:
            cuts = sorted(self.dice.randrange(len(data) + 1) for _ in range(self.dice.choice((1, 1, 3))))
        out = bytearray()
        for start, end in zip([0] + cuts, cuts + [len(data)]):
            if start and self.dice.random() < 0.5:
                out += self.ping()
            is_end = is_last and end == len(data) and (not cuts or start == cuts[-1])
            out += self.frame(CONTINUATION if self.is_in_message else BINARY, data[start:end], is_end)
            self.is_in_message = not is_end
            if is_end:
                break
        self.message_size = 0 if not self.is_in_message else self.message_size + len(data)
        return out

    def frame(self, opcode, payload, is_end=True):
        """One masked frame. [WS5]"""
        size = len(payload)
        if size < 126:
            head = struct.pack(">BB", is_end << 7 | opcode, 0x80 | size)
        elif size < 65_536:
            head = struct.pack(">BBH", is_end << 7 | opcode, 0x80 | 126, size)
        else:
            head = struct.pack(">BBQ", is_end << 7 | opcode, 0x80 | 127, size)
        mask = self.dice.getrandbits(32).to_bytes(4, "big")
        key = (mask * (size // 4 + 1))[:size]
        return head + mask + (int.from_bytes(payload, "big") ^ int.from_bytes(key, "big")).to_bytes(size, "big")

    def ping(self):
        """A ping that no other is like."""
        self.pings_sent += 1
        data = struct.pack(">I", self.pings_sent) + bytes(self.dice.choice((0, 4, CONTROL_MAX - 4)))
        self.pings.append(data)
        return self.frame(PING, data)

    def goodbye(self, code, reason=b""):
        """The client's close."""
        self.said_close = code
        return self.frame(CLOSE, struct.pack(">H", code) + reason)

    # -- receiving ------------------------------------------------------------------------------

    def decode(self, data):
        """The relay bytes of each message, when it is whole."""
        self.buffer += data
        while True:
            taken = self._next()
            if taken is None:
                return
            opcode, payload = taken
            if opcode == BINARY:
                yield payload

    def _next(self):
        """(opcode, payload) of the next message or control frame; None if it is not whole."""
        while True:
            if self.close is not None and self.buffer:
                raise Violation("WS9", f"bytes behind the close: {bytes(self.buffer[:32]).hex()}")
            head = self._head()
            if head is None:
                return None
            is_end, opcode, start, size = head
            if len(self.buffer) < start + size:
                return None
            payload = bytes(self.buffer[start:start + size])
            del self.buffer[:start + size]
            if opcode >= 0x8:
                self._control(opcode, payload)
                return opcode, payload
            self.message = payload if self.message is None else self.message + payload
            if is_end:
                whole, self.message = self.message, None
                must_be_frames(whole)
                return BINARY, whole

    def _head(self):
        """(whether it ends a message, opcode, where the payload begins, its size)."""
        buffer = self.buffer
        if len(buffer) < 2:
            return None
        is_end, opcode, size = bool(buffer[0] & 0x80), buffer[0] & 0x0F, buffer[1] & 0x7F
        shown = bytes(buffer[:16]).hex()
        if buffer[0] & 0x70:
            raise Violation("WS3", f"a reserved bit without an extension: {shown}")
        if buffer[1] & 0x80:
            raise Violation("WS5", f"the relay masks: {shown}")
        if opcode == TEXT_FRAME:
            raise Violation("WS6", f"a message of text: {shown}")
        if opcode not in (CONTINUATION, BINARY, CLOSE, PING, PONG):
            raise Violation("WS5", f"opcode {opcode}: {shown}")
        if opcode == PING:
            raise Violation("WS9", f"the relay pings by WebSocket: {shown}")
        if opcode >= 0x8 and (not is_end or size > CONTROL_MAX):
            raise Violation("WS5", f"a control frame in parts, or of more than {CONTROL_MAX} bytes: {shown}")
        if opcode >= 0x8 and self.message is not None:
            raise Violation("WS9", f"a control frame in the middle of a message: {shown}")
        if opcode < 0x8 and (opcode == CONTINUATION) != (self.message is not None):
            raise Violation("WS5", f"fragments are out of order: {shown}")
        start = 2
        if size >= 126:
            start = 4 if size == 126 else 10
            if len(buffer) < start:
                return None
            size = int.from_bytes(buffer[2:start], "big")
            if size < (126 if start == 4 else 65_536):
                raise Violation("WS5", f"a length in more bytes than it wants: {shown}")
        if size + len(self.message or b"") > FRAME_MAX:
            raise Violation("WS9", f"a message of over {size} bytes")
        return is_end, opcode, start, size

    def _control(self, opcode, payload):
        if opcode == PONG:
            if payload not in self.pings:
                raise Violation("WS6", f"a pong that no ping waits for: {payload.hex()}")
            while self.pings.popleft() != payload:
                pass
            self.pings_answered = int.from_bytes(payload[:4], "big")
        else:
            if len(payload) < 2:
                raise Violation("WS8", f"a close without a code: {payload.hex()}")
            try:
                self.close = (int.from_bytes(payload[:2], "big"), payload[2:].decode("utf-8"))
            except UnicodeDecodeError as problem:
                raise Violation("WS8", f"a reason that is not UTF-8: {payload.hex()}") from problem
            if not self.has_said_close:
                self.said_close = self.close[0]
                self._answers += self.frame(CLOSE, payload[:2])

    def answers(self):
        """The answer to a close."""
        answers, self._answers = bytes(self._answers), bytearray()
        return answers

    def judge_end(self, closing):
        """The connection has ended in order. [WS6, WS8]"""
        if self.close is None:
            if closing or self.has_said_close:
                raise Violation("WS8" if closing else "WS6", "the WebSocket ended without a close")
            return
        wanted = [(CLOSE_CODE_BASE + closing["code"], closing["name"])] if closing else []
        if self.said_close is not None and self.said_close < CLOSE_CODE_BASE:
            wanted.append((self.said_close, ""))
        if self.close not in wanted:
            raise Violation("WS8", f"closed with {self.close}, wanted {wanted or 'a closing before'}")


def must_be_frames(message):
    """WS7, WS9: whole relay frames; over 64 KiB a single one."""
    at = count = 0
    while at < len(message):
        length = int.from_bytes(message[at:at + 4], "big")
        at += 4 + length
        count += 1
        if not is_frame_length(length) or at > len(message):
            raise Violation("WS7", f"a message of {len(message)} bytes ends in a frame: {message[:32].hex()}")
    if count == 0:
        raise Violation("WS7", "an empty message")
    if len(message) > RELAY_MESSAGE_MAX and count > 1:
        raise Violation("WS9", f"a message of {len(message)} bytes with {count} frames")


# ------------------------------------------------------------------------------------------------
# From HTTP to WebSocket
# ------------------------------------------------------------------------------------------------

def read_head(sock, begun=b""):
    """(head, what came behind it) of an answer; the head is all there was where it is not whole."""
    data = bytearray(begun)
    while b"\r\n\r\n" not in data and len(data) < HEAD_MAX and (not data or data[0]):
        more = sock.recv(4_096)
        if not more:
            return bytes(data), b""
        data += more
    head, mark, rest = bytes(data).partition(b"\r\n\r\n")
    return head + mark, rest


def parse_head(head):
    """(status, {name: value}) of an answer's head; a field that stands twice is a violation."""
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ", 2)
    if len(words) < 3 or words[0] != "HTTP/1.1" or not words[1].isdigit() or not head.endswith(b"\r\n\r\n"):
        raise Violation("HT1", f"no head of an answer: {head[:200]!r}")
    fields = {}
    for line in lines[1:-2]:
        name, mark, value = line.partition(":")
        if not mark or not name or name != name.strip() or name.lower() in fields:
            raise Violation("HT1", f"the field {line!r} in {head!r}")
        fields[name.lower()] = value.strip()
    for name, value in HARMLESS_FIELDS.items():
        if fields.get(name) != value:
            raise Violation("HT6", f"{name}: {fields.get(name)!r} in {lines[0]}")
    if "date" not in fields:
        raise Violation("HT6", f"no Date in {lines[0]}")
    return int(words[1]), fields


def accept_of(key):
    """What answers a key. [RFC 6455 §1.3]"""
    return base64.b64encode(hashlib.sha1(key.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()).decode()


def upgrade_request(host, key, **more):
    """The head of a good request under /ws; `more` are fields, `_` for `-`, None takes one away."""
    fields = {"Host": host, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": key, "Sec-WebSocket-Version": "13"}
    fields.update({name.replace("_", "-"): value for name, value in more.items()})
    return b"GET /ws HTTP/1.1\r\n" + b"".join(f"{n}: {v}\r\n".encode() for n, v in fields.items() if v is not None) + b"\r\n"


def open_websocket(sock, host, dice, **fields):
    """(link, bytes that came behind the answer) on a connection: the handshake, in one of the ways in which a client may do it.

    Where the relay turned the connection away before it had said what it speaks, the link is that of TCP, and the bytes are its
    farewell."""
    key = base64.b64encode(os.urandom(16)).decode()
    offer = dice.choice((None, "boardrelay.v1", "other, boardrelay.v1"))
    more = {"Sec_WebSocket_Protocol": offer, "Origin": dice.choice((None, f"http://{host}")),
            "Sec_WebSocket_Extensions": dice.choice((None, "permessage-deflate; client_max_window_bits")),
            "Connection": dice.choice(("Upgrade", "keep-alive, Upgrade")), "Upgrade": dice.choice(("websocket", "WebSocket")), **fields}
    begun = b""
    try:
        if dice.random() < 0.1:
            # Behind a page, as browsers do it that have a connection left. [WS1]
            sock.sendall(f"HEAD /nothing HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            head, begun = read_head(sock)
            if head[:1] == b"\x00":
                return TCPLink(), head + begun
            if parse_head(head)[0] != 404:
                raise Violation("HT5", f"HEAD of nothing: {head!r}")
        sock.sendall(upgrade_request(host, key, **more))
    except (BrokenPipeError, ConnectionResetError):
        pass  # the farewell may have come before
    head, rest = read_head(sock, begun)
    if not head:
        # A relay that ends takes connections for a moment still. Who did not expect that fails by this.
        raise ConnectionResetError("the connection ended without an answer")
    if head[:1] == b"\x00":
        return TCPLink(), head + rest
    status, fields = parse_head(head)
    if status != 101:
        raise Violation("WS1", f"the upgrade was refused: {head!r} {rest!r}")
    if fields.get("upgrade", "").lower() != "websocket" or fields.get("connection", "").lower() != "upgrade":
        raise Violation("WS1", f"{head!r}")
    if fields.get("sec-websocket-accept") != accept_of(key):
        raise Violation("WS1", f"Sec-WebSocket-Accept of {key}: {head!r}")
    if fields.get("sec-websocket-protocol") != (None if offer is None else "boardrelay.v1"):
        raise Violation("WS2", f"offered {offer}: {head!r}")
    if "sec-websocket-extensions" in fields or "cache-control" in fields:
        raise Violation("WS3", f"{head!r}")
    return WebSocketLink(dice), rest
