"""Frames of the relay, as events."""

import time

from links import Violation
from peer.constants import (
    ALLOWED_FLAGS, BODY_MAX, CUSTOM_TYPE, EXTENSIONS, FRAME_NAMES, KEY, PART, RELAY_JSON, RELAY_TEXTS, SENDER_TIME, SLOT, TEXT)
from peer.fields import Fields, decode_utf8, without_extensions
from peer.shapes import must_have_shape
from peer.strict_json import parse_json


class Event:
    """One frame of the relay: `name`, `fields`, its place in the one list and when it came."""

    __slots__ = ("index", "at", "name", "flags", "fields", "size")

    def __init__(self, name, flags, fields, size):
        self.index, self.at = -1, time.monotonic()
        self.name, self.flags, self.fields, self.size = name, flags, fields, size

    def __getitem__(self, key):
        return self.fields[key]

    def get(self, key, other=None):
        """A field that may be absent."""
        return self.fields.get(key, other)

    def __repr__(self):
        shown = {k: (v[:24] if isinstance(v, (bytes, str)) else v) for k, v in self.fields.items()}
        return f"<{self.index} {self.name} {shown}>"


def _decode_payload(fields, flags):
    data = fields.rest()
    return decode_utf8(data, f"{fields.kind} payload") if flags & TEXT else data


def _decode_custom_type(fields, flags):
    if not flags & CUSTOM_TYPE:
        return None
    value = fields.text()
    if not 1 <= len(value.encode()) <= 32:
        raise Violation("MS2", f"custom type of {len(value.encode())} bytes")
    return value


def _decode_deliver(fields, flags):
    event = {"channel": fields.number(4), "publisher": fields.number(4), "offset": fields.number(8),
             "time": fields.number(8), "customType": _decode_custom_type(fields, flags)}
    event["key"] = fields.text() if flags & KEY else None
    event["part"] = (fields.number(2), fields.number(2)) if flags & PART else None
    # A text in parts may be cut inside a character: its reader checks it as a whole (BL8).
    event["payload"] = fields.rest() if event["part"] else _decode_payload(fields, flags)
    return event


def _decode_packet(fields, flags):
    event = {"flow": fields.number(4), "sequence": fields.number(4)}
    event["slot"] = fields.number(4) if flags & SLOT else None
    event["senderTime"] = fields.number(4) if flags & SENDER_TIME else None
    event["payload"] = _decode_payload(fields, flags)
    return event


def _decode_direct_deliver(fields, flags):
    return {"delivery": fields.number(8), "time": fields.number(8), "sender": fields.text(),
            "customType": _decode_custom_type(fields, flags), "payload": _decode_payload(fields, flags)}


def _decode_history_item(fields, flags):
    event = {"id": fields.number(4), "offset": fields.number(8), "time": fields.number(8), "publisher": fields.text(),
             "customType": _decode_custom_type(fields, flags), "key": fields.text() if flags & KEY else None}
    event["part"] = (fields.number(2), fields.number(2)) if flags & PART else None
    event["payload"] = fields.rest() if event["part"] else _decode_payload(fields, flags)
    return event


def _decode_lost(fields, _):
    reason, count = fields.number(1), fields.number(2)
    ranges = [(fields.number(4), fields.number(4), fields.number(4)) for _ in range(count)]
    return {"reason": reason, "ranges": ranges}


def _decode_user_named(fields, _):
    return {"handle": fields.number(4), "user": decode_utf8(fields.rest(), "user id")}


def decode_texts(name, body):
    """JS6: the head, with each item's text as its `value`."""
    count = int.from_bytes(body[:2], "big")
    if len(body) < 2 + count:
        raise Violation("JS6", f"{name} ends inside its head")
    fields = parse_json(body[2:2 + count])
    must_have_shape(name, fields)
    rest = body[2 + count:]
    for item in fields["items"]:
        must_have_shape("item", item)
        if len(rest) < item["bytes"]:
            raise Violation("JS6", f"{name}: {item} is cut")
        item["value"] = decode_utf8(rest[:item["bytes"]], f"{name} {item['key']}")
        rest = rest[item["bytes"]:]
    if rest:
        raise Violation("JS6", f"{name}: {len(rest)} bytes too many")
    keys = [item["key"] for item in fields["items"]]
    if len(set(keys)) != len(keys):
        raise Violation("MD7", f"{name}: a key stands twice: {keys}")
    return fields


BINARY_DECODERS = {
    "deliver": _decode_deliver, "packet": _decode_packet, "directDeliver": _decode_direct_deliver,
    "historyItem": _decode_history_item,
    "accepted": lambda f, _: {"number": f.number(8), "offset": f.number(8), "credit": f.number(4)},
    "stored": lambda f, _: {"number": f.number(8), "offset": f.number(8)},
    "confirmed": lambda f, _: {"number": f.number(8)},
    "userNamed": _decode_user_named, "lost": _decode_lost,
    "ping": lambda f, _: {"bytes": f.rest()}, "pong": lambda f, _: {"bytes": f.rest()},
}


def decode(number, flags, body):
    """An `Event` from a frame of the relay, or None for a type this client does not know (FR6)."""
    name = FRAME_NAMES.get(number)
    if name is None:
        return None
    extensions = None
    if flags & EXTENSIONS and name in BINARY_DECODERS and name not in ("ping", "pong"):
        flags, body, extensions = without_extensions(name, flags, body)
    if flags & ~ALLOWED_FLAGS.get(name, 0):
        raise Violation("FR4", f"{name} with flags {flags:#04x}")
    if name in RELAY_JSON:
        fields = parse_json(body)
        must_have_shape(name, fields)
    elif name in RELAY_TEXTS:
        fields = decode_texts(name, body)
    elif name in BINARY_DECODERS:
        reader = Fields(name, body)
        fields = BINARY_DECODERS[name](reader, flags)
        reader.end()
        fields["extensions"] = extensions
    else:
        raise Violation("FR6", f"the relay sent {name}, which only clients send")
    return Event(name, flags, fields, len(body))


class Splitter:
    """Cuts the byte stream of the relay into frames (FR1 to FR3)."""

    def __init__(self):
        self.buffer = bytearray()

    def feed(self, data):
        """All whole frames as (type, flags, body)."""
        self.buffer += data
        frames, at = [], 0
        while len(self.buffer) - at >= 4:
            length = int.from_bytes(self.buffer[at:at + 4], "big")
            if not 2 <= length <= BODY_MAX + 2:
                raise Violation("FR3", f"a length of {length}: {bytes(self.buffer[at:at + 16]).hex()}")
            if len(self.buffer) - at < 4 + length:
                break
            body = bytes(self.buffer[at + 6:at + 4 + length])
            frames.append((self.buffer[at + 4], self.buffer[at + 5], body))
            at += 4 + length
        del self.buffer[:at]
        return frames
