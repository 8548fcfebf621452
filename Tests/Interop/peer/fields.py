"""Bytes of frames and their fields, written and read."""

import json
import struct

from links import Violation
from peer.constants import CRITICAL, CUSTOM_TYPE, EXTENSIONS, EXTENSION_BYTES_MAX, FRAME_TYPES, KEY, NAME_MAX, PART, SENDER_TIME, SLOT, TEXT


def frame(kind, body=b"", flags=0):
    """One whole frame: FR1."""
    number = FRAME_TYPES[kind] if isinstance(kind, str) else kind
    return struct.pack(">IBB", len(body) + 2, number, flags) + body


def extended(flags, body, *entries):
    """(flags, body) of a frame with extensions in front: (type, bytes) each. FR9."""
    data = b"".join(struct.pack(">HH", kind, len(value)) + value for kind, value in entries)
    return flags | EXTENSIONS, struct.pack(">H", len(data)) + data + body


def without_extensions(name, flags, body):
    """(flags, body, [(type, bytes)]) of a frame of the relay: FR9."""
    size, at, entries = int.from_bytes(body[:2], "big"), 2, []
    if len(body) < 2 + size or size > EXTENSION_BYTES_MAX:
        raise Violation("FR9", f"{name} has {len(body)} bytes and extensions of {size}")
    while at < 2 + size:
        kind, length = struct.unpack(">HH", body[at:at + 4])
        at += 4 + length
        if at > 2 + size:
            raise Violation("FR9", f"{name}: extension {kind} has {length} bytes")
        if kind & CRITICAL:
            raise Violation("FR9", f"{name}: nobody agreed on extension {kind:#x}")
        entries.append((kind, body[at - length:at]))
    return flags & ~EXTENSIONS, body[at:], entries


def text8(value):
    """`n u8, text` of FR8; bytes are passed as they are, for hostile tests."""
    data = value.encode() if isinstance(value, str) else value
    return bytes([len(data)]) + data


def json_body(fields):
    """A JSON body without the fields that are None."""
    return json.dumps({k: v for k, v in fields.items() if v is not None},
                      ensure_ascii=False, separators=(",", ":")).encode()


def payload_bytes(payload):
    """(bytes, text flag) of a payload: str is text, bytes are bytes."""
    return (payload.encode(), TEXT) if isinstance(payload, str) else (bytes(payload), 0)


def encode_publish(number, channel, payload, custom_type=None, key=None, part=None, extra=0):
    """(flags, body) of a `publish`."""
    data, flags = payload_bytes(payload)
    body = struct.pack(">Q", number) + text8(channel)
    if custom_type is not None:
        flags, body = flags | CUSTOM_TYPE, body + text8(custom_type)
    if key is not None:
        flags, body = flags | KEY, body + text8(key)
    if part is not None:
        flags, body = flags | PART, body + struct.pack(">HH", *part)
    return flags | extra, body + data


def encode_change(key, payload=b"", custom_type=None, extensions=()):
    """One change of a change set (BL11); without a payload the key is removed."""
    data, flags = payload_bytes(payload)
    body = text8(key) + data
    if custom_type is not None:
        flags, body = flags | CUSTOM_TYPE, text8(custom_type) + body
    if extensions:
        flags, body = extended(flags, body, *extensions)
    return struct.pack(">IB", len(body) + 1, flags) + body


def encode_changes(number, channel, part, changes):
    """The body of a `publishChanges`; changes are tuples for `encode_change`."""
    return struct.pack(">Q", number) + text8(channel) + struct.pack(">HH", *part) + b"".join(encode_change(*one) for one in changes)


def encode_packet(flow, payload, slot=None, sender_time=None, extra=0):
    """(flags, body) of a `publishPacket`."""
    data, flags = payload_bytes(payload)
    body = struct.pack(">I", flow)
    if slot is not None:
        flags, body = flags | SLOT, body + struct.pack(">I", slot)
    if sender_time is not None:
        flags, body = flags | SENDER_TIME, body + struct.pack(">I", sender_time)
    return flags | extra, body + data


def encode_direct(number, user, payload, custom_type=None):
    """(flags, body) of a `direct`."""
    data, flags = payload_bytes(payload)
    body = struct.pack(">Q", number) + text8(user)
    if custom_type is not None:
        flags, body = flags | CUSTOM_TYPE, body + text8(custom_type)
    return flags, body + data


class Fields:
    """Reads the fields of a binary body one after the other (FR7, FR8)."""

    def __init__(self, kind, body):
        self.kind, self.body, self.at = kind, body, 0

    def take(self, count):
        """The next `count` bytes."""
        if self.at + count > len(self.body):
            raise Violation("FR7", f"{self.kind} ends inside a field: {self.body.hex()}")
        self.at += count
        return self.body[self.at - count:self.at]

    def number(self, size):
        """An unsigned big-endian integer of `size` bytes."""
        return int.from_bytes(self.take(size), "big")

    def text(self):
        """`n u8, text`."""
        return decode_utf8(self.take(self.number(1)), f"{self.kind} text")

    def rest(self):
        """What is left of the body."""
        return self.take(len(self.body) - self.at)

    def end(self):
        """Nothing may be left."""
        if self.at != len(self.body):
            raise Violation("FR7", f"{self.kind} has {len(self.body) - self.at} bytes too many")


def decode_utf8(data, what):
    """UTF-8 or a violation."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise Violation("FR8", f"{what} is not UTF-8: {data[:80].hex()}") from problem


def is_name(text):
    """NM1."""
    return (isinstance(text, str) and 1 <= len(text) <= NAME_MAX and text[0] not in "_ "
            and all(0x20 <= ord(c) <= 0x7E and c not in "*/\\" for c in text))


def must_be_name(text, what):
    """Raises unless NM1 holds."""
    if not is_name(text):
        raise Violation("NM1", f"{what} is no name: {text!r}")
