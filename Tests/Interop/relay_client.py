"""A strict, blocking client for the relay protocol, version 1 (docs/protocol.md).

It was written from the document alone and trusts nothing: every frame of the relay passes a
`Checker` that knows what the session did so far and raises `Violation` (with the id of the rule)
when the relay breaks one. Standard library only.

    identity = Identity("anna")
    client = Client("127.0.0.1", 7000, identity)
    client.login()
    client.request("subscribe", channel="lesson")
    offset = client.publish("lesson", "hello").wait()
    event = client.wait_for("deliver")

One thread per client reads; `events` is the one ordered list of everything that came. `transport="websocket"` carries the
same frames on a WebSocket (links.py).
"""

import json
import os
import random
import secrets
import select
import socket
import struct
import sys
import threading
import time
from collections import OrderedDict, deque

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from links import TCPLink, Violation, open_websocket  # noqa: E402

# ------------------------------------------------------------------------------------------------
# Constants of the protocol
# ------------------------------------------------------------------------------------------------

FRAME_TYPES = {
    "login": 0x01, "logout": 0x02, "ping": 0x03, "pong": 0x04, "renew": 0x05,
    "setRole": 0x06, "freezeChannel": 0x07, "endSession": 0x08, "banUser": 0x09, "unbanUser": 0x0A, "getBans": 0x0B,
    "forgetUser": 0x0C, "status": 0x0D,
    "publish": 0x10, "publishPacket": 0x11, "direct": 0x12, "directReceived": 0x13,
    "subscribe": 0x20, "unsubscribe": 0x21, "join": 0x22, "leave": 0x23,
    "joinTopic": 0x24, "leaveTopic": 0x25, "subscribeTopic": 0x26, "unsubscribeTopic": 0x27,
    "subscribedUsers": 0x28, "who": 0x29, "where": 0x2A,
    "setStates": 0x2B, "removeStates": 0x2C, "getStates": 0x2D, "history": 0x2E,
    "setMetadata": 0x30, "updateMetadata": 0x31, "removeMetadata": 0x32, "getMetadata": 0x33,
    "subscribeUserMetadata": 0x34, "unsubscribeUserMetadata": 0x35,
    "setLock": 0x38, "acquireLock": 0x39, "releaseLock": 0x3A, "revokeLock": 0x3B, "removeLock": 0x3C,
    "getLocks": 0x3D, "clear": 0x40, "undoClear": 0x41, "boards": 0x42, "removeBoard": 0x43,
    "welcome": 0x80, "answer": 0x81, "error": 0x82, "closing": 0x83, "restored": 0x84,
    "metadataPage": 0x85,
    "deliver": 0x90, "packet": 0x91, "directDeliver": 0x92, "accepted": 0x93, "confirmed": 0x94,
    "historyItem": 0x95, "stored": 0x96, "notStored": 0x97,
    "userNamed": 0xA0, "flowOpened": 0xA1, "flowClosed": 0xA2, "lost": 0xA3, "packetsDropped": 0xA4,
    "presence": 0xB0, "topics": 0xB1, "metadata": 0xB2, "locks": 0xB3,
    "gap": 0xB4, "caughtUp": 0xB5, "cleared": 0xB6, "reset": 0xB7, "accessExpiring": 0xB8, "removed": 0xB9,
    "accessChanged": 0xBA, "channelFrozen": 0xBB,
}
FRAME_NAMES = {number: name for name, number in FRAME_TYPES.items()}

CODES = {
    100: "badRequest", 101: "unknownFrame", 102: "loginRequired", 103: "alreadyLoggedIn",
    104: "badName", 105: "badText", 106: "tooLarge", 107: "rateLimited", 108: "notSubscribed",
    109: "notJoined", 110: "topicNotJoined", 111: "unknownFlow", 112: "limitReached",
    113: "channelFull", 114: "userOffline", 115: "unconfirmed", 116: "outcomeUnknown",
    117: "notSupported", 118: "relayFull", 119: "notPresent", 120: "revisionMismatch",
    121: "itemNotFound", 122: "storageFull", 123: "storageFailed", 124: "busy", 125: "lockNotFound",
    126: "lockHeld", 127: "lockNotHeld", 128: "notAccepted", 129: "boardFull", 130: "quotaReached",
    131: "boardNotFound", 132: "nothingToUndo", 133: "partMissing",
    134: "tokenInvalid", 135: "tokenExpired", 136: "keyWrong", 137: "credentialRequired", 138: "userIDTaken",
    139: "notPermitted", 140: "notBanned",
    200: "shuttingDown", 201: "slowConsumer", 202: "heartbeatTimeout", 203: "loginTimeout",
    204: "tooManyConnections", 205: "accessExpired", 206: "tooManySessions",
    300: "protocolError", 301: "versionNotSupported", 302: "replaced", 303: "abuse",
    304: "loggedOut", 305: "frameTooLarge", 306: "notRelayProtocol", 307: "credentialsWrong", 308: "keyChanged",
    309: "endedByModerator", 310: "banned",
}

# Requests whose answer waits until they are durable (SG1).
CHANGES = {"setMetadata", "updateMetadata", "removeMetadata",
           "setLock", "acquireLock", "releaseLock", "revokeLock", "removeLock",
           "setRole", "freezeChannel", "banUser", "unbanUser"}  # AC15
# Those of boards wait, too (BL6, BL9), for a storage of their own.
BOARD_CHANGES = {"clear", "undoClear", "removeBoard"}
# These wait until the disk has nothing of it any more (AC14).
ERASURES = {"forgetUser", "removeBoard"}

TEXT, CUSTOM_TYPE, KEY, PART, ECHO, RETAIN, NO_HISTORY = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40
SLOT, SENDER_TIME = 0x02, 0x04

RELAY_JSON = {"welcome", "answer", "error", "closing", "restored", "flowOpened", "flowClosed",
              "packetsDropped", "presence", "topics", "locks", "gap", "caughtUp",
              "notStored", "cleared", "reset", "accessExpiring", "removed", "accessChanged", "channelFrozen"}
RELAY_TEXTS = {"metadataPage", "metadata"}
ALLOWED_FLAGS = {"deliver": TEXT | CUSTOM_TYPE | KEY | PART | RETAIN,
                 "packet": TEXT | SLOT | SENDER_TIME, "directDeliver": TEXT | CUSTOM_TYPE,
                 "historyItem": TEXT | CUSTOM_TYPE | KEY | PART | RETAIN}

# How long anything is waited for, in seconds. It ends a run that hangs, and judges nothing: a machine may have much else to do.
PATIENCE = 300.0

BODY_MAX = 81_920
INTEGER_MAX = 2**53 - 1
JSON_DEPTH_MAX = 8
NAME_MAX = 64
MEMBERS_MAX = 100
RANGES_MAX = 4_096
SNAPSHOT_BYTES = 12 * 1024
HISTORY_ITEMS_MAX = 100
HISTORY_BYTES_MAX = 512 * 1024
NUMBERS_REMEMBERED = 256
CLOCK_TOLERANCE_MS = 24 * 3600 * 1000

LIMIT_FIELDS = ("messageBytesMax", "largeMessageBytesMax", "messagesPerSecond", "packetBytesMax", "packetsPerSecond",
                "directMessagesPerSecond", "requestsPerSecond", "subscribedChannelsMax",
                "joinedChannelsMax", "publishedTopicsMax", "subscribedTopicsMax", "unansweredMax")


# ------------------------------------------------------------------------------------------------
# Errors
# ------------------------------------------------------------------------------------------------

class RelayError(Exception):
    """The relay refused something with an `error` frame."""

    def __init__(self, fields):
        super().__init__(f"{fields['code']} {fields['name']}: {fields['text']}")
        self.fields = fields
        self.code, self.name, self.text = fields["code"], fields["name"], fields["text"]


class Ended(Exception):
    """The connection is over; `closing` holds the relay's reason, if it gave one."""

    def __init__(self, closing):
        super().__init__(f"connection ended: {closing or 'without closing'}")
        self.closing = closing


class Timeout(Exception):
    """What was waited for did not come."""


# ------------------------------------------------------------------------------------------------
# Reading and writing bytes
# ------------------------------------------------------------------------------------------------

def frame(kind, body=b"", flags=0):
    """One whole frame: FR1."""
    number = FRAME_TYPES[kind] if isinstance(kind, str) else kind
    return struct.pack(">IBB", len(body) + 2, number, flags) + body


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


# ------------------------------------------------------------------------------------------------
# Strict JSON (JS1 to JS4)
# ------------------------------------------------------------------------------------------------

def _integer(text):
    value = int(text)
    if abs(value) > INTEGER_MAX:
        raise Violation("JS3", f"number out of range: {text}")
    return value


def _no_number(text):
    raise Violation("JS3", f"not an integer: {text}")


def _object(pairs):
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Violation("JS2", f"a key stands twice: {[k for k, _ in pairs]}")
    return fields


def _check_value(value, depth):
    if isinstance(value, str):
        if any(0xD800 <= ord(c) <= 0xDFFF for c in value):
            raise Violation("JS4", f"half a surrogate pair in {value!r}")
    elif isinstance(value, (dict, list)):
        if depth > JSON_DEPTH_MAX:
            raise Violation("JS4", "nested too deep")
        for item in value.items() if isinstance(value, dict) else value:
            for part in item if isinstance(value, dict) else (item,):
                _check_value(part, depth + 1)


def parse_json(body):
    """The object of a JSON body, by JS1 to JS4."""
    try:
        fields = json.loads(body.decode("utf-8"), parse_int=_integer, parse_float=_no_number,
                            parse_constant=_no_number, object_pairs_hook=_object)
    except (UnicodeDecodeError, json.JSONDecodeError) as problem:
        raise Violation("JS1", f"{problem}: {body[:120]!r}") from problem
    if not isinstance(fields, dict):
        raise Violation("JS1", f"the body is no object: {body[:120]!r}")
    _check_value(fields, 1)
    return fields


# ------------------------------------------------------------------------------------------------
# Shapes of JSON bodies
# ------------------------------------------------------------------------------------------------

def _is_int(value, top):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= top


def _is_texts(value):
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_states(value):
    return (isinstance(value, dict) and all(is_name(k) and isinstance(v, str) for k, v in value.items()))


SHAPE_TESTS = {
    "u32": lambda v: _is_int(v, 2**32 - 1),
    "u53": lambda v: _is_int(v, INTEGER_MAX),
    "bool": lambda v: isinstance(v, bool),
    "true": lambda v: isinstance(v, bool),
    "text": lambda v: isinstance(v, str),
    "name": is_name,
    "texts": _is_texts,
    "names": lambda v: isinstance(v, list) and all(is_name(item) for item in v),
    "states": _is_states,
    "object": lambda v: isinstance(v, dict),
    "objects": lambda v: isinstance(v, list) and all(isinstance(item, dict) for item in v),
    "any": lambda v: v is not None,
    "kind": lambda v: v in ("message", "stream"),
}

CHANNEL_SHAPE = "kind:kind channel:name handle:u32 features:texts quiet:bool epoch?:object head?:u53 frozen?:true"
SINCE_SHAPE = " recovered?:bool missed?:object reset?:bool after?:u53"

SHAPES = {
    "welcome": "id:u32 version:u32 user:name handle:u32 resumeToken:text resumed:bool lastEnd?:object "
               "start:any heartbeatMs:u32 presenceTimeoutMs:u32 access:object limits:object",
    "error": "id?:u32 number?:u53 flow?:u32 code:u32 name:text text:text limit?:u53 actual?:u53 "
             "retryAfterMs?:u53",
    "closing": "code:u32 name:text text:text",
    "answer": "id:u32",
    "restored": CHANNEL_SHAPE + SINCE_SHAPE,
    "flowOpened": "flow:u32 channel:u32 topic:name user:name meta?:text next:u32 from?:u32",
    "flowClosed": "flow:u32 last:u32",
    "packetsDropped": "flow:u32 dropped:u53 total:u53",
    "presence": "channel:u32 event:text",
    "topics": "channel:u32 event:text publishers:objects more?:bool",
    "member": "user:name states:states",
    "publisher": "topic:name user:name meta?:text",
    "failed": "user:text code:u32 name:text",
    "range": "from:u53 to:u53",
    "epoch": "start:u53 incarnation:u53",
    "lastEnd": "code:u32 name:text text:text",
    "presence snapshot": "members:objects total:u53",
    "presence join": "user:name states:states",
    "presence leave": "user:name",
    "presence timeout": "user:name",
    "presence stateChanged": "user:name states:states removed?:names",
    "presence interval": "joined?:objects changed?:objects left?:names timedOut?:names",
    "answer logout": "id:u32",
    "answer subscribe": "id:u32 " + CHANNEL_SHAPE + SINCE_SHAPE,
    "answer join": "id:u32 " + CHANNEL_SHAPE,
    "answer unsubscribe": "id:u32",
    "answer leave": "id:u32",
    "answer joinTopic": "id:u32 flow:u32 next:u32",
    "answer leaveTopic": "id:u32 flow:u32 last:u32",
    "answer subscribeTopic": "id:u32 all:bool succeeded:names failed:objects",
    "answer unsubscribeTopic": "id:u32 all:bool succeeded:names failed:objects",
    "answer subscribedUsers": "id:u32 all:bool users:names next?:name",
    "answer who": "id:u32 total:u53 members:objects next?:name",
    "answer where": "id:u32 channels:objects next?:object",
    "answer setStates": "id:u32",
    "answer removeStates": "id:u32",
    "answer getStates": "id:u32 states:states",
    "place": "kind:kind channel:name",
    "answer history": "id:u32 epoch?:object head:u53 count:u32 floor:u53 next?:u53",
    "gap": "channel:u32 from:u53 to:u53",
    "caughtUp": "channel:u32 head:u53",
}
SHAPE_RULES = {"welcome": "SE6", "error": "ER1", "closing": "ER2", "restored": "SE9", "flowOpened": "ST9",
               "flowClosed": "ST10", "packetsDropped": "RT4", "topics": "ST11", "member": "PR2", "answer history": "HI6", "gap": "HI4", "caughtUp": "HI2"}


SHAPES.update({
    "metadataPage": "id:u32 majorRevision:u53 items:objects next?:name",
    "metadata": "channel?:u32 user?:name event:text majorRevision:u53 items:objects removed?:names more?:bool",
    "item": "key:name bytes:u32 revision:u53 author?:name time?:u53",
    "locks": "channel:u32 event:text locks:objects user?:name",
    "lock": "lock:name ttlMs:u32 owner?:name fencing?:u53",
    "answer setMetadata": "id:u32 majorRevision:u53",
    "answer updateMetadata": "id:u32 majorRevision:u53",
    "answer removeMetadata": "id:u32 majorRevision:u53",
    "answer subscribeUserMetadata": "id:u32",
    "answer unsubscribeUserMetadata": "id:u32",
    "answer setLock": "id:u32",
    "answer acquireLock": "id:u32 fencing:u53",
    "answer releaseLock": "id:u32",
    "answer revokeLock": "id:u32",
    "answer removeLock": "id:u32",
    "answer getLocks": "id:u32 locks:objects",
})
SHAPES.update({
    "answer clear": "id:u32 offset:u53 records:u53",
    "answer undoClear": "id:u32 offset:u53 records:u53",
    "answer boards": "id:u32 boards:objects next?:name bytes:u53 bytesMax:u53",
    "answer removeBoard": "id:u32",
    "board": "channel:name records:u53 bytes:u53 changed:u53",
    "notStored": "number:u53 code:u32 name:text text:text",
    "cleared": "channel:u32 offset:u53 user:name time:u53",
    "reset": "channel:u32 epoch:object head:u53",
})
SHAPE_RULES.update({"answer clear": "BL6", "answer undoClear": "BL6", "answer boards": "BL9", "board": "BL9",
                    "notStored": "BL2", "cleared": "BL6", "reset": "BL4"})
SHAPE_RULES.update({"metadataPage": "MD9", "metadata": "MD7", "item": "MD1", "locks": "LK8", "lock": "LK8"})
SHAPES.update({
    "access": "role?:text grants?:object untilMs?:u53",
    "answer renew": "id:u32 access:object",
    "accessExpiring": "inMs:u53",
    "removed": "channel:u32 code:u32 name:text text:text",
})
SHAPE_RULES.update({"access": "AC4", "answer renew": "AC8", "accessExpiring": "AC8", "removed": "AC7"})
SHAPES.update({
    "answer setRole": "id:u32", "answer freezeChannel": "id:u32", "answer endSession": "id:u32", "answer banUser": "id:u32",
    "answer unbanUser": "id:u32", "answer forgetUser": "id:u32",
    "answer getBans": "id:u32 bans:objects next?:name",
    "ban": "user:name by:name time:u53 until?:u53",
    "answer status": "id:u32 uptimeMs:u53 connections:u53 sessions:object channels:object boards:u53 boardBytes:u53 queuedBytes:u53 "
                     "pinnedBytes:u53 counters:object storageFailure?:text known?:bool users:objects next?:name",
    "status sessions": "present:u53 away:u53",
    "status channels": "message:u53 stream:u53",
    "status counters": " ".join(name + ":u53" for name in (
        "messagesAccepted", "messagesDelivered", "messagesRecovered", "packetsAccepted", "packetsQueued", "packetsShedSlow", "packetsShedExpired",
        "packetsShedCatchingUp", "packetsDiscarded", "packetsDroppedRate", "directAccepted", "refusals")),
    "status user": "user:name client:text peer:text away:bool sessionMs:u53 queuedBytes:u53 queuedPacketBytes:u53 packetsLost:u53 backlogMs:u53",
    "accessChanged": "role?:text grants?:object untilMs?:u53 by:name",
    "channelFrozen": "channel:u32 frozen:bool by:name",
})
SHAPE_RULES.update({name: "AC16" for name in ("answer status", "status sessions", "status channels", "status counters", "status user")})
SHAPE_RULES.update({"answer getBans": "AC13", "ban": "AC13", "accessChanged": "AC10", "channelFrozen": "AC11"})
ROLES = ("reader", "editor", "moderator")
RIGHTS = ("subscribe", "presence", "publish", "stream", "metadata", "lock", "clear", "direct")
ACCESS_NOTICE_MS = 30_000
LOCK_EVENTS = ("snapshot", "set", "acquired", "released", "revoked", "expired", "removed")


def must_have_shape(name, fields):
    """Raises unless `fields` has the fields and types that the document gives for `name`."""
    rule = SHAPE_RULES.get(name, "PR2" if name.startswith("presence") else "JS5")
    for word in SHAPES[name].split():
        key, kind = word.split(":")
        value = fields.get(key.rstrip("?"))
        if value is None:
            if not key.endswith("?"):
                raise Violation(rule, f"{name} without {key}: {fields}")
        elif not SHAPE_TESTS[kind](value):
            raise Violation(rule, f"{name}: {key} is not {kind}: {value!r}")


def must_be_access(fields):
    """AC4: a role, or lists of rights by pattern, or both."""
    must_have_shape("access", fields)
    if fields.get("role") not in (None, *ROLES):
        raise Violation("AC4", f"no role: {fields}")
    for pattern, rights in (fields.get("grants") or {}).items():
        if not (is_name(pattern) or pattern == "*" or pattern.endswith("*") and is_name(pattern[:-1])):
            raise Violation("AC4", f"no pattern: {pattern!r}")
        if not _is_texts(rights) or not set(rights) <= set(RIGHTS) or len(set(rights)) < len(rights):
            raise Violation("AC4", f"no rights: {rights!r}")


def must_be_sorted(users, what):
    """Strictly rising by bytes: sorted and nobody twice (names are ASCII)."""
    if any(a >= b for a, b in zip(users, users[1:])):
        raise Violation("PR3", f"{what} not in order of user id: {users}")


# ------------------------------------------------------------------------------------------------
# Frames of the relay to events
# ------------------------------------------------------------------------------------------------

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
    "accepted": lambda f, _: {"number": f.number(8), "offset": f.number(8)},
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


# ------------------------------------------------------------------------------------------------
# What the checker remembers
# ------------------------------------------------------------------------------------------------

class Ranges:
    """A set of sequences kept as sorted, separate [first, last]."""

    def __init__(self):
        self.items = []

    def add(self, first, last):
        """Adds a range that does not overlap any other; neighbours grow together."""
        if self.items and self.items[-1][1] + 1 == first:
            self.items[-1][1] = last
            return
        self.items.append([first, last])
        if len(self.items) > 1 and self.items[-2][0] > first:
            self.items.sort()

    def count(self, first, last):
        """How many numbers of first…last are in the set."""
        return sum(max(0, min(b, last) - max(a, first) + 1) for a, b in self.items)

    def total(self):
        """How many numbers are in the set."""
        return sum(b - a + 1 for a, b in self.items)


class Flow:
    """One flow as its subscriber sees it."""

    def __init__(self, fields, own):
        self.flow, self.channel = fields["flow"], fields["channel"]
        self.topic, self.user, self.first = fields["topic"], fields["user"], fields["next"]
        self.own, self.open = own, True
        self.seen = self.first - 1
        self.received, self.lost = Ranges(), Ranges()

    def take_packet(self, sequence):
        """ST6, DL6, DL7: rising, nothing missing that `lost` has not named before."""
        if sequence <= self.seen:
            raise Violation("ST6", f"flow {self.flow}: sequence {sequence} after {self.seen}")
        if self.lost.count(sequence, sequence):
            raise Violation("DL6", f"flow {self.flow}: {sequence} came and was in lost")
        gap = sequence - 1 - self.seen
        if gap and not self.own and self.lost.count(self.seen + 1, sequence - 1) != gap:
            raise Violation("DL7", f"flow {self.flow}: {self.seen} then {sequence}, lost {self.lost.items}")
        self.seen = sequence
        self.received.add(sequence, sequence)

    def take_lost(self, first, last):
        """DL6: both ends included, never what came or was lost before."""
        if first > last or first < self.first:
            raise Violation("DL6", f"flow {self.flow}: lost {first}…{last}, opened with {self.first}")
        if self.lost.count(first, last) or self.received.count(first, last):
            raise Violation("DL6", f"flow {self.flow}: lost {first}…{last} overlaps "
                                   f"received {self.received.items} or lost {self.lost.items}")
        self.lost.add(first, last)

    def close(self, last):
        """ST10: all up to `last` was sent or reported."""
        if self.seen > last or self.first > last + 1:
            raise Violation("ST10", f"flow {self.flow} closed with last {last}, seen {self.seen}")
        told = self.received.count(self.first, last) + self.lost.count(self.first, last)
        if not self.own and told != last - self.first + 1:
            raise Violation("ST10", f"flow {self.flow}: {self.first}…{last} but {told} told of")
        self.open = False


class OwnFlow:
    """One flow that this client publishes."""

    def __init__(self, channel, topic, flow, following):
        self.channel, self.topic, self.flow, self.first = channel, topic, flow, following
        self.dropped, self.notices = 0, []

    def take_dropped(self, event):
        """RT4: the sum of `dropped` is `total`."""
        self.dropped += event["dropped"]
        if event["dropped"] == 0 or event["total"] != self.dropped:
            raise Violation("RT4", f"{event} but the sum is {self.dropped}")
        self.notices.append(event.at)


class Selection:
    """What of one topic is wanted."""

    def __init__(self):
        self.all, self.users = False, set()

    def has(self, user):
        """Does a flow of `user` belong to it?"""
        return self.all or user in self.users


class Metadata:
    """A set as it was told: MD2, MD7."""

    def __init__(self):
        self.revision, self.items, self.going_on = 0, {}, None

    def take(self, event):
        """A snapshot, or a change of the revision after the one before."""
        kind, revision = event["event"], event["majorRevision"]
        if self.going_on is not None:
            if self.going_on != (kind, revision):
                raise Violation("MD7", f"{event} instead of the rest of {self.going_on}")
        elif kind == "snapshot":
            self.items = {}
        elif revision != self.revision + 1:
            raise Violation("MD7", f"{event} after major revision {self.revision}")
        for key in event.get("removed") or ():
            if self.items.pop(key, None) is None:
                raise Violation("MD7", f"{key} was not there: {event}")
        for item in event["items"]:
            if item["revision"] > revision or (kind == "changed" and item["revision"] != revision):
                raise Violation("MD2", f"{item} in {event}")
            self.items[item["key"]] = item
        self.revision = revision
        self.going_on = (kind, revision) if event.get("more") else None


class Ledger:
    """What all clients of one check have published and been told of: offset by offset, what a reader must have got.

    A checker sees one connection; holes only show beside what the publishers were answered (MS4, HI2)."""

    def __init__(self):
        self.lock = threading.Lock()
        self.messages = {}
        self.clears, self.durable = {}, {}
        # Channels whose numbering began anew, so that an offset does not name one message; those whose live readers
        # may be made to catch up: with a large record, with what came back (BL6, BL8), or with what was removed (AC14).
        self.renumbered, self.detours = set(), set()

    def cleared(self, channel, offset):
        """A `clear` has this offset, and is durable (BL6)."""
        with self.lock:
            self.clears.setdefault(channel, set()).add(offset)
            self.durable.setdefault(channel, set()).add(offset)

    def stored(self, channel, offset):
        """The retained message at this offset is durable (BL2)."""
        with self.lock:
            self.durable.setdefault(channel, set()).add(offset)

    def durable_in(self, channel):
        """The offsets that are known to be durable now."""
        with self.lock:
            return frozenset(self.durable.get(channel, ()))

    def successors(self, channel, offset, key):
        """Offsets above this one at which its key was written, removed or cleared."""
        later = {other for other, _, _, fields in self.of(channel)
                 if other > offset and fields.get("retain") and fields["key"] == key}
        return later | {other for other in self.clears.get(channel, ()) if other > offset}

    def accepted(self, identity, channel, offset, fields):
        """A publish has this offset."""
        if channel in self.renumbered or not offset:
            return
        with self.lock:
            known = self.messages.setdefault((channel, offset), (identity.instance, identity.user, fields))
        if known[0] != identity.instance or known[2].get("number") != fields.get("number"):
            raise Violation("CH5", f"offset {offset} of {channel} went to two messages")

    def removed(self, channel, offset, user, key):
        """The relay has removed a record at a moderator's word (AC14)."""
        with self.lock:
            self.messages[channel, offset] = (None, user, {"retain": True, "key": key, "payload": b"", "customType": None})

    def of(self, channel):
        """(offset, instance, user, fields) of a channel, rising."""
        with self.lock:
            return sorted(((offset, *rest) for (name, offset), rest in self.messages.items() if name == channel),
                          key=lambda entry: entry[0])

    def judge(self, checker):
        """Every stretch of every subscription, and every page of history, against what was published."""
        for span in checker.spans:
            if span.channel not in self.renumbered:
                self.judge_span(span, checker.identity)
        for page in checker.pages:
            if page[0]["channel"] not in self.renumbered:
                self.judge_page(page)

    def judge_span(self, span, identity):
        """MS4, MS6, HI1, HI2, HI4: each message once, no hole but those that are told."""
        for offset, instance, user, fields in self.of(span.channel):
            own = instance == identity.instance
            got = span.received.get(offset)
            if fields.get("retain"):
                self.judge_record(span, own, offset, user, fields, got)
                continue
            if got is None:
                if not span.low < offset <= span.high or span.is_in_gap(offset) or own and not fields.get("echo"):
                    continue
                if fields.get("noHistory") and offset <= span.entered_at:
                    continue
                raise Violation("HI2", f"{span.channel}: {offset} never came; the reader has {span}")
            if own and not fields.get("echo"):
                raise Violation("HI2", f"{span.channel}: own message {offset} without echo came")
            if fields.get("noHistory") and offset <= span.entered_at:
                raise Violation("HI1", f"{span.channel}: {offset} was not to be kept, and came")
            if got[0] != user or "payload" in fields and got[1:] != (fields["payload"], fields["customType"]):
                raise Violation("MS4", f"{span.channel}: {offset} came as {got[0]}: {got[1]!r:.40}, "
                                       f"{user} published {fields.get('payload')!r:.40}")

    def judge_record(self, span, own, offset, user, fields, got):
        """BL1, BL3: a record comes unless a newer one of its key, its removal or a clear took its place before the
        reader was there; what had lost its place, durably, when the reader asked never comes."""
        later = self.successors(span.channel, offset, fields["key"])
        removal, kept = not fields["payload"], offset <= span.entered_at
        if got is None:
            if not span.low < offset <= span.high or later and offset <= span.caught_up_at or span.fresh and removal and kept:
                return
            if own and not fields.get("echo") and not (span.fresh and offset in span.durable):
                return
            raise Violation("BL3", f"{span.channel}: record {offset} of {fields['key']} never came; the reader has {span}")
        if later & span.durable and kept:
            raise Violation("BL3", f"{span.channel}: {offset} of {fields['key']} came, superseded by {sorted(later)}")
        if span.fresh and removal and offset in span.durable:
            raise Violation("BL3", f"{span.channel}: {offset} removes {fields['key']}, which was never shown")
        if own and not fields.get("echo") and offset > span.caught_up_at:
            raise Violation("MS6", f"{span.channel}: own record {offset} without echo came live")
        if got[0] != user or fields.get("part") is None and got[1:] != (fields["payload"], fields["customType"]):
            raise Violation("MS4", f"{span.channel}: {offset} came as {got[0]}: {got[1]!r:.40}, "
                                   f"{user} published {fields['payload']!r:.40}")

    def judge_page(self, page):
        """HI6: what lies between the ends of a page is in it."""
        asked, answer, items = page
        low, high = answer["floor"] + 1, answer["head"]
        if asked.get("backwards"):
            high = min(high, asked["from"]) if asked.get("from") is not None else high
            low = items[-1]["offset"] if answer.get("next") is not None and items else low
        else:
            low = max(low, asked.get("from") or 0)
            high = items[-1]["offset"] if answer.get("next") is not None and items else high
        came = {item["offset"]: item for item in items}
        for offset, _, user, fields in self.of(asked["channel"]):
            item = came.get(offset)
            if item is None:
                if fields.get("retain") and self.successors(asked["channel"], offset, fields["key"]):
                    continue  # what lost its place is not kept (BL3)
                if low <= offset <= high and not fields.get("noHistory"):
                    raise Violation("HI6", f"{offset} is not in the page {low}…{high} of {asked}: {sorted(came)}")
            elif fields.get("noHistory"):
                raise Violation("HI1", f"{offset} was not to be kept: {item}")
            elif item["publisher"] != user or "payload" in fields and \
                    (item["payload"], item["customType"]) != (fields["payload"], fields["customType"]):
                raise Violation("HI6", f"{item} is not what {user} published")


class Span:
    """A stretch of one subscription in which nothing may be missing: what came above `low`, up to `high`."""

    def __init__(self, channel, low, head, fresh=False, durable=frozenset()):
        self.channel, self.low, self.high, self.entered_at = channel, low, low, head
        self.received, self.gaps, self.gap_high = {}, [], 0
        # fresh: from the beginning, or after `reset` (BL3); what was known to be durable when it was asked for.
        self.fresh, self.durable, self.caught_up_at, self.drawing = fresh, durable, INTEGER_MAX, None

    def is_in_gap(self, offset):
        """HI4: was it told that it will not come?"""
        return any(first <= offset <= last for first, last in self.gaps)

    def __repr__(self):
        return f"{self.low} < {sorted(self.received)[-5:]} of {len(self.received)} <= {self.high}, gaps {self.gaps}"


class Channel:
    """One channel this session is in."""

    def __init__(self, fields, entered):
        self.kind, self.name, self.handle = fields["kind"], fields["channel"], fields["handle"]
        self.entered = entered
        self.members, self.loose = None, False
        self.publishers, self.topics_state = {}, "wanted"
        self.selections = {}
        self.span, self.catching_up, self.was_catching_up = None, False, False
        self.refresh(fields)

    def refresh(self, fields):
        """A new answer to `subscribe` or `join`, or `restored`."""
        self.features, self.quiet = set(fields["features"]), fields["quiet"]
        self.frozen = fields.get("frozen") is True
        self.snapshot_wanted = "presence" in self.features
        self.metadata_wanted, self.locks_wanted = "metadata" in self.features, "locks" in self.features
        self.metadata, self.locks, self.metadata_more = Metadata(), {}, False
        self.members = None


# ------------------------------------------------------------------------------------------------
# The checker
# ------------------------------------------------------------------------------------------------

class Checker:
    """Knows the session so far and judges each frame of the relay by it."""

    def __init__(self, identity, previous=None, ledger=None):
        self.identity, self.previous, self.ledger = identity, previous, ledger or Ledger()
        self.spans, self.pages, self.items = [], [], []
        self.early_lost = {}
        self.seen = {}
        self.welcome = None
        self.access = None
        self.handle = None
        self.channels = {}
        self.offsets = dict(previous.offsets) if previous else {}
        self.epochs = dict(previous.epochs) if previous else {}
        self.names = dict(previous.names) if previous else {}
        self.named_at = {}
        self.flows = {}
        self.last_status = {}
        self.users_metadata = {user: Metadata() for user in previous.users_metadata} if previous else {}
        self.fencing = previous.fencing if previous else 0
        self.own_flows, self.ended_flows = {}, {}
        self.deliveries = set()
        self.last_accepted = None
        self.last_restored = None
        self.restoring = False
        self.closed = False
        self.requests = deque()
        self.publishes = OrderedDict()
        self.directs, self.earlier_directs = {}, set()
        self.pings = deque()
        self.raw = deque()
        self.in_hand = None  # what the frame at hand answers: fails with it, if the frame breaks a rule
        self.oddities = []

    # -- entry ----------------------------------------------------------------------------------

    def take(self, event):
        """Judges one event and updates what is known."""
        if self.closed:
            raise Violation("ER2", f"{event} after closing")
        if self.welcome is None and event.name not in ("welcome", "error", "closing", "ping", "pong"):
            raise Violation("SE6", f"{event} before welcome")
        if self.restoring and event.name not in ("restored", "presence", "topics", "flowOpened", "flowClosed",
                                                 "metadata", "locks"):
            self.end_of_restoring(event)
        if event.name in ("gap", "caughtUp", "cleared", "reset") and event["channel"] in self.channels:
            self.must_not_cut(self.channels[event["channel"]], event)
        getattr(self, "on_" + event.name)(event)
        if event.name not in ("accepted", "userNamed"):
            self.last_accepted = None

    def odd(self, rule, message):
        """Remembers what is strange, yet no clear break of a rule."""
        self.oddities.append(f"{rule}: {message}")

    def channel(self, handle, kind, rule):
        """The channel of a handle; nothing of a channel comes when one is not inside (CH9)."""
        channel = self.channels.get(handle)
        if channel is None or (kind and channel.kind != kind):
            raise Violation(rule, f"something of channel {handle}, where this session is not")
        return channel

    # -- session --------------------------------------------------------------------------------

    def on_welcome(self, event):
        """SE6, SE9, HB2."""
        request = self.next_request(event, "welcome")
        if self.welcome or request.kind != "login":
            raise Violation("SE6", f"unexpected {event}")
        fields = event.fields
        asked = request.fields
        self.seen = {entry[0]: entry[1:] for entry in (asked.get("resume") or {}).get("seen") or ()}
        wanted = asked.get("presenceTimeoutMs") or 10_000
        if fields["version"] != 1 or fields["user"] != asked["user"]:
            raise Violation("SE6", f"welcome of another: {event}")
        if fields["presenceTimeoutMs"] != wanted or fields["heartbeatMs"] != min(5_000, wanted // 2):
            raise Violation("HB2", f"asked for {wanted}: {event}")
        for key in LIMIT_FIELDS:
            if not _is_int(fields["limits"].get(key), INTEGER_MAX):
                raise Violation("SE6", f"limits without {key}")
        if fields.get("lastEnd") is not None:
            must_have_shape("lastEnd", fields["lastEnd"])
        must_be_access(fields["access"])
        self.welcome, self.handle, self.access = fields, fields["handle"], fields["access"]
        self.check_resumption(fields, asked)
        request.reply.succeed(fields)

    def check_resumption(self, fields, asked):
        """SE9, SE10: only who asked resumes, and the token is a new one."""
        token = (asked.get("resume") or {}).get("token")
        if not fields["resumed"]:
            self.offsets, self.epochs, self.names = {}, {}, {}
            return
        if token is None:
            raise Violation("SE9", "resumed without having asked")
        if fields["resumeToken"] == token:
            raise Violation("SE9", "resumed without a new resumeToken")
        self.restoring = True
        if self.previous:
            self.own_flows = dict(self.previous.own_flows)
            self.earlier_directs = set(self.previous.directs) | self.previous.earlier_directs

    def on_restored(self, event):
        """SE9: after a resuming welcome, per channel in order of name."""
        if not self.restoring:
            raise Violation("SE9", f"{event} is not directly after a resuming welcome")
        if self.last_restored:
            self.must_be_complete(self.last_restored)
            if event["channel"] < self.last_restored.name:
                raise Violation("SE9", f"restored {event['channel']} after {self.last_restored.name}")
        seen = self.seen.get(event["handle"]) if event["kind"] == "message" else None
        since = None
        if seen is not None:
            epoch = {"start": seen[1], "incarnation": seen[2]} if len(seen) > 2 else event["epoch"]
            since = {"epoch": epoch, "offset": seen[0], "own": seen[3:] == [1]}
            if epoch == event["epoch"] and seen[0] >= event["head"]:
                since = None
        channel = self.enter(event.fields, event, since)
        self.check_since(event, since)
        self.last_restored = channel
        before = self.previous and self.previous.find(channel.kind, channel.name)
        if self.previous and not before:
            raise Violation("SE9", f"{channel.name} restored, but the session was not in it")
        if before:
            channel.selections = before.selections

    def end_of_restoring(self, event):
        """The first frame that cannot belong to a resumption ends it."""
        self.restoring = False
        if self.last_restored:
            self.must_be_complete(self.last_restored)
        if not self.previous or event.name == "closing":
            return
        was = {(c.kind, c.name) for c in self.previous.channels.values()}
        now = {(c.kind, c.name) for c in self.channels.values()}
        if was != now:
            raise Violation("SE9", f"restored {sorted(now)} instead of {sorted(was)}")

    @staticmethod
    def must_be_complete(channel):
        """CH4, SE9: the snapshots of a channel follow its answer or `restored`, before the next one."""
        if channel.snapshot_wanted or channel.metadata_wanted or channel.locks_wanted or (channel.kind == "stream" and channel.topics_state in ("wanted", "more")):
            raise Violation("CH4", f"the snapshots did not follow the entry into {channel.kind} {channel.name}")

    def on_closing(self, event):
        """ER2, ER3."""
        self.must_be_code(event, "ER3", 200, 399)
        self.closed = True

    def on_error(self, event):
        """ER1, JS5: finds what was refused."""
        self.must_be_code(event, "ER3", 100, 199)
        keys = [key for key in ("id", "number", "flow") if event.get(key) is not None]
        if len(keys) > 1:
            raise Violation("ER1", f"error answers {keys}: {event}")
        problem = RelayError(event.fields)
        if "id" in keys:
            self.next_request(event, "error").reply.fail(problem)
        elif "number" in keys:
            self.refused_number(event, problem)
        elif self.raw and self.raw[0].matches(event):
            self.forget(self.raw.popleft()).reply.fail(problem)
        elif keys and event["flow"] not in self.own_flows and event["code"] != 111:
            raise Violation("ER1", f"an error for a flow that is not ours: {event}")
        elif keys and event["name"] == "notPermitted":  # AC7: it is closed
            self.ended_flows[event["flow"]] = self.own_flows.pop(event["flow"])

    def answer_renew(self, event, _):
        """AC8: the new access."""
        must_be_access(event["access"])
        self.access = event["access"]

    def on_accessChanged(self, event):
        """AC10: what there is from here on, told as AC4 has it."""
        access = {key: event[key] for key in ("role", "grants", "untilMs") if event.get(key) is not None}
        must_be_access(access)
        if ("untilMs" in access) != (self.access.get("untilMs") is not None):
            raise Violation("AC10", f"{event}: the end is that of the credential: {self.access}")
        self.access = access

    def on_channelFrozen(self, event):
        """AC11: of a channel that one is in, and only what is news."""
        channel = self.channel(event["channel"], None, "AC11")
        if channel.frozen == event["frozen"]:
            raise Violation("AC11", f"{channel.name} was so already: {event}")
        channel.frozen = event["frozen"]

    def on_accessExpiring(self, event):
        """AC8: not before its time, and only to who has an end."""
        if event["inMs"] > ACCESS_NOTICE_MS or self.access.get("untilMs") is None:
            raise Violation("AC8", f"{event} with {self.access}")

    def on_removed(self, event):
        """AC7: out of the channel."""
        self.must_be_code(event, "ER3", 100, 199)
        channel = self.channel(event["channel"], None, "AC7")
        self.exit(channel.kind, channel.name)
        if channel.kind == "stream":
            self.end_own_flows(channel.name)

    def must_be_code(self, event, rule, low, high):
        """Number and name belong together; unknown numbers are ignored (FR6)."""
        code = event["code"]
        if not low <= code <= high:
            raise Violation(rule, f"code {code} in {event.name}")
        if code not in CODES:
            self.odd("FR6", f"unknown code in {event}")
        elif CODES[code] != event["name"]:
            raise Violation("ER4", f"{code} is {CODES[code]}, not {event['name']}")

    def on_ping(self, event):
        """HB1."""
        if len(event["bytes"]) > 8:
            raise Violation("HB1", f"a ping of {len(event['bytes'])} bytes")

    def on_pong(self, event):
        """HB1: the same bytes, in the order of the pings."""
        if not self.pings or self.pings[0].fields != event["bytes"]:
            raise Violation("HB1", f"{event} answers no ping")
        self.pings.popleft().reply.succeed(event)

    # -- requests -------------------------------------------------------------------------------

    def next_request(self, event, what):
        """JS5: answers come in the order of the requests, but for what `may_be_overtaken`."""
        request = next((r for r in self.requests if r.id == event.get("id")), None)
        if request is None:
            raise Violation("JS5", f"{what} without a request: {event}")
        for earlier in self.requests:
            if earlier is request:
                break
            if not self.may_be_overtaken(earlier, request, what):
                rule = "SG1" if earlier.kind in CHANGES else "JS5"
                raise Violation(rule, f"{what} for {event.get('id')}, the next one is {earlier.id}")
        self.requests.remove(request)
        self.in_hand = request
        if request in self.raw:
            self.raw.remove(request)
        return request

    @staticmethod
    def may_be_overtaken(earlier, later, what):
        """A wait for a lock ends when it ends (LK4); a change is answered when it is durable, and refused at once
        if it is, but no change is answered before an earlier one (SG1)."""
        if earlier.kind == "renew" or earlier.kind == "login" and what == "error":  # AC2: a wrong one is answered late
            return True
        if earlier.kind == "acquireLock" and (earlier.fields or {}).get("waitMs"):
            return True
        if earlier.kind in BOARD_CHANGES or earlier.kind in ERASURES:
            return True
        return earlier.kind in CHANGES and (what == "error" or later.kind not in CHANGES)

    def forget(self, pending):
        """Takes what was answered without a reference out of the other lists."""
        if pending in self.requests:
            self.requests.remove(pending)
        self.publishes.pop(pending.number, None)
        self.directs.pop(pending.number, None)
        return pending

    def on_answer(self, event):
        """JS5 and the rules of each request."""
        request = self.next_request(event, "answer")
        for channel in self.channels.values():
            self.must_be_complete(channel)
        if request.kind == "login":
            raise Violation("SE6", "login answered by answer")
        must_have_shape("answer " + request.kind, event.fields)
        getattr(self, "answer_" + request.kind)(event, request.fields or {})
        request.reply.succeed(event.fields)

    def answer_plain(self, event, asked):
        """Answers that say nothing more than that it is done."""

    answer_setMetadata = answer_updateMetadata = answer_removeMetadata = answer_plain
    answer_setLock = answer_releaseLock = answer_revokeLock = answer_removeLock = answer_plain
    answer_setRole = answer_freezeChannel = answer_endSession = answer_plain
    answer_banUser = answer_unbanUser = answer_forgetUser = answer_plain

    @staticmethod
    def answer_getBans(event, asked):
        """AC13: in order of user ids, behind `after`."""
        for ban in event["bans"]:
            must_have_shape("ban", ban)
        users = [ban["user"] for ban in event["bans"]]
        must_be_sorted(users, "getBans")
        if users and users[0] <= (asked.get("after") or ""):
            raise Violation("AC13", f"not behind {asked['after']}: {users}")
        if event.get("next") is not None and (not users or event["next"] != users[-1]):
            raise Violation("AC13", f"next is not the last one: {event}")

    def answer_status(self, event, asked):
        """AC16: what is counted never shrinks; users in order of their ids, behind `after`."""
        for part in ("sessions", "channels", "counters"):
            must_have_shape("status " + part, event[part])
        for user in event["users"]:
            must_have_shape("status user", user)
            if user["away"] and (user["peer"] or user["queuedBytes"] or user["backlogMs"]) or user["queuedPacketBytes"] > user["queuedBytes"]:
                raise Violation("AC16", f"this cannot be: {user}")
        users = [user["user"] for user in event["users"]]
        must_be_sorted(users, "status")
        if users and users[0] <= (asked.get("after") or "") or len(users) > (asked.get("limit") or 100):
            raise Violation("AC16", f"not the page that was asked for: {asked}: {users}")
        if event.get("next") is not None and (not users or event["next"] != users[-1]):
            raise Violation("AC16", f"next is not the last one: {event.fields}")
        if (event.get("known") is None) != (asked.get("user") is None) or asked.get("user") in users and not event["known"]:
            raise Violation("AC16", f"known is told of the user that was asked about, and of no other: {asked}: {event.fields}")
        if any(user["sessionMs"] > event["uptimeMs"] for user in event["users"]):
            raise Violation("AC16", f"here for longer than the relay: {event.fields}")
        now = dict(event["counters"], uptimeMs=event["uptimeMs"])
        if any(now[name] < value for name, value in self.last_status.items()):
            raise Violation("AC16", f"counters shrink: {self.last_status}, {now}")
        self.last_status = now

    def answer_subscribeUserMetadata(self, event, asked):
        """MD8: a snapshot follows."""
        self.users_metadata[asked["user"]] = Metadata()

    def answer_unsubscribeUserMetadata(self, event, asked):
        """MD8."""
        self.users_metadata.pop(asked["user"], None)

    def answer_acquireLock(self, event, asked):
        """LK3: greater than every earlier one that this client knows of."""
        self.must_grow(event["fencing"], event)

    @staticmethod
    def answer_getLocks(event, _):
        """LK9."""
        for lock in event["locks"]:
            must_have_shape("lock", lock)
        must_be_sorted([lock["lock"] for lock in event["locks"]], "getLocks")

    def must_grow(self, fencing, event):
        """LK3; the answer and the event tell the same acquisition."""
        if fencing < self.fencing:
            raise Violation("LK3", f"fencing {fencing} after {self.fencing}: {event}")
        self.fencing = fencing

    def on_metadataPage(self, event):
        """MD9."""
        request = self.next_request(event, "metadataPage")
        if request.kind != "getMetadata":
            raise Violation("MD9", f"{event} answers {request.kind}")
        keys = [item["key"] for item in event["items"]]
        must_be_sorted(keys, "metadataPage")
        if keys and request.fields.get("after") and keys[0] <= request.fields["after"]:
            raise Violation("MD9", f"{keys[0]} is not behind {request.fields['after']}")
        request.reply.succeed(event.fields)

    def on_metadata(self, event):
        """MD7, MD8."""
        if (event.get("channel") is None) == (event.get("user") is None):
            raise Violation("MD7", f"neither of a channel nor of a user: {event}")
        if event["event"] not in ("snapshot", "changed"):
            return self.odd("FR6", f"unknown event: {event}")
        if event.get("user") is not None:
            if event["user"] not in self.users_metadata:
                raise Violation("MD8", f"nobody subscribed to it: {event}")
            return self.users_metadata[event["user"]].take(event)
        channel = self.channel(event["channel"], None, "CH9")
        if "metadata" not in channel.features:
            raise Violation("MD7", f"{event} without the feature metadata")
        if (event["event"] == "snapshot") != (channel.metadata_wanted or channel.metadata.going_on is not None):
            raise Violation("MD7", f"the snapshot comes once and first: {event}")
        channel.metadata_wanted = False
        return channel.metadata.take(event)

    def on_locks(self, event):
        """LK8."""
        channel = self.channel(event["channel"], None, "CH9")
        if "locks" not in channel.features:
            raise Violation("LK8", f"{event} without the feature locks")
        kind = event["event"]
        if kind not in LOCK_EVENTS:
            return self.odd("FR6", f"unknown event: {event}")
        for lock in event["locks"]:
            must_have_shape("lock", lock)
            if (lock.get("owner") is None) != (lock.get("fencing") is None):
                raise Violation("LK8", f"owner and fencing go together: {event}")
        if (kind == "snapshot") != channel.locks_wanted or (kind != "snapshot" and len(event["locks"]) != 1):
            raise Violation("LK8", f"the snapshot comes once and first, the rest one by one: {event}")
        if kind == "snapshot":
            channel.locks_wanted = False
            must_be_sorted([lock["lock"] for lock in event["locks"]], "locks")
            channel.locks = {lock["lock"]: lock for lock in event["locks"]}
            return None
        lock = event["locks"][0]
        before = channel.locks.get(lock["lock"])
        if (before is None) != (kind == "set") and not (kind == "set" and before):
            raise Violation("LK8", f"{kind} of {before}: {event}")
        if kind == "acquired":
            if before.get("owner") not in (None, lock["owner"]):
                raise Violation("LK3", f"acquired from under {before['owner']}: {event}")
            self.must_grow(lock["fencing"], event)
        if kind in ("released", "revoked", "expired") and (lock.get("owner") or before.get("owner") != event.get("user")):
            raise Violation("LK8", f"{kind} of {before}: {event}")
        if kind == "removed":
            del channel.locks[lock["lock"]]
        else:
            channel.locks[lock["lock"]] = lock
        return None

    answer_logout = answer_setStates = answer_removeStates = answer_getStates = answer_plain

    def answer_subscribe(self, event, asked):
        """CH4 to CH6."""
        self.check_entry(event, asked, "message", ("messages", "presence", "metadata", "locks"), ("messages", "presence"),
                         asked.get("since"))
        self.check_since(event, asked.get("since"))

    def answer_join(self, event, asked):
        """CH4; who is quiet publishes no topics (CH3)."""
        self.check_entry(event, asked, "stream", ("presence", "metadata", "locks"), ("presence",))
        if event["quiet"]:
            self.end_own_flows(asked["channel"])

    def check_entry(self, event, asked, kind, known, usual, since=None):
        """CH4: the answer repeats what was asked for."""
        fields = event.fields
        wanted = set(usual if asked.get("features") is None else asked["features"]) & set(known)
        if fields["kind"] != kind or fields["channel"] != asked.get("channel"):
            raise Violation("CH4", f"the answer tells another channel: {event}")
        if not set(fields["features"]) <= wanted or len(set(fields["features"])) != len(fields["features"]):
            raise Violation("CH4", f"granted {fields['features']}, asked {sorted(wanted)}")
        if fields["quiet"] != bool(asked.get("quiet")):
            raise Violation("CH4", f"quiet: {event}")
        self.enter(fields, event, since)

    def enter(self, fields, event, since=None):
        """The session is in a channel from here on."""
        channel = self.channels.get(fields["handle"])
        if channel is not None and (channel.kind, channel.name) != (fields["kind"], fields["channel"]):
            raise Violation("CH4", f"handle {fields['handle']} names two channels")
        old = self.find(fields["kind"], fields["channel"])
        if old is not None and old is not channel:
            raise Violation("CH4", f"{old.name} has two handles, {old.handle} and {fields['handle']}")
        if channel is None:
            channel = self.channels[fields["handle"]] = Channel(fields, event.index)
        else:
            channel.refresh(fields)
            channel.topics_state = "allowed"
        if channel.kind == "message":
            self.check_head(channel.name, fields)
            self.begin_span(channel, fields, since)
        return channel

    def begin_span(self, channel, fields, since):
        """CH4, HI2: where what is delivered begins; an answer without `since` lets it go on."""
        if "messages" not in channel.features:
            channel.span, channel.catching_up = None, False
        elif since is not None:
            fresh = bool(since.get("beginning") or since.get("own") or fields.get("reset"))
            channel.span = Span(channel.name, fields.get("after") or 0, fields["head"], fresh, getattr(self.in_hand, "durable", frozenset()))
            channel.catching_up = channel.was_catching_up = True
            self.spans.append(channel.span)
        elif channel.span is None:
            channel.span = Span(channel.name, fields["head"], fields["head"])
            channel.span.caught_up_at = fields["head"]
            self.spans.append(channel.span)
        elif not channel.catching_up:
            channel.span.high = fields["head"]  # one queue: all up to it has come

    def find(self, kind, name):
        """The channel of that kind and name this session is in, or None."""
        for channel in self.channels.values():
            if (channel.kind, channel.name) == (kind, name):
                return channel
        return None

    def check_head(self, name, fields):
        """CH5: the head is not below what was seen in the same epoch."""
        if fields.get("epoch") is None or fields.get("head") is None:
            raise Violation("CH4", f"a message channel without epoch or head: {fields}")
        must_have_shape("epoch", fields["epoch"])
        if self.epochs.get(name) != fields["epoch"]:
            if name in self.epochs:
                self.offsets.pop(name, None)
            self.epochs[name] = fields["epoch"]
        if fields["head"] < self.offsets.get(name, 0):
            raise Violation("CH5", f"head {fields['head']} of {name}, seen {self.offsets[name]}")
        self.offsets[name] = fields["head"]

    def check_since(self, event, since):
        """CH4, CH6, HI2."""
        recovered, missed, reset, after = (event.get(key) for key in ("recovered", "missed", "reset", "after"))
        if since is None or "messages" not in event["features"]:
            if (recovered, missed, reset, after) != (None, None, None, None):
                raise Violation("CH4", f"nobody asked for since: {event}")
            return
        if recovered is None or after is None or after > event["head"]:
            raise Violation("CH4", f"since {since}, and recovered or after is absent or after is above head: {event}")
        if since.get("beginning"):
            since = {"epoch": event["epoch"], "offset": 0}
        if not recovered and missed is None and not reset and after == since["offset"]:
            self.ledger.detours.add(event["channel"])  # BL3, BL5: a board; what is missing is told by `gap`
        elif since["epoch"] != event["epoch"] or since["offset"] > event["head"]:
            if recovered or not reset or missed != ({"from": 1, "to": after} if after else None):
                raise Violation("CH6", f"reset: since {since}: {event}")
        elif reset or recovered == bool(missed) or after < since["offset"]:
            raise Violation("CH6", f"since {since}: {event}")
        elif missed is None and after != since["offset"]:
            raise Violation("HI2", f"recovered from {since}, and it goes on above {after}: {event}")
        elif missed is not None and (missed != {"from": since["offset"] + 1, "to": after} or after == since["offset"]):
            raise Violation("CH6", f"missed: since {since}: {event}")

    def on_gap(self, event):
        """HI4."""
        channel = self.catching_up(event)
        span = channel.span
        if not max(span.high, span.gap_high) < event["from"] <= event["to"]:
            raise Violation("HI4", f"{event} after {span.high}, told up to {span.gap_high}")
        span.gaps.append((event["from"], event["to"]))
        span.gap_high = event["to"]  # records of its range still come (BL3)

    def on_caughtUp(self, event):
        """HI2: from here on it is live."""
        channel = self.catching_up(event)
        if event["head"] < max(channel.span.high, self.offsets.get(channel.name, 0)):
            raise Violation("HI2", f"{event}, but {self.offsets.get(channel.name, 0)} is known")
        channel.span.high = self.offsets[channel.name] = channel.span.caught_up_at = event["head"]
        channel.catching_up = False

    def catching_up(self, event):
        """The channel of a frame that only comes while one catches up, behind the snapshots (HI2)."""
        channel = self.channel(event["channel"], "message", "CH9")
        if not channel.catching_up and not (channel.span and channel.name in self.ledger.detours):
            raise Violation("HI2", f"{event}, and the session does not catch up")
        self.must_be_complete(channel)
        return channel

    def on_historyItem(self, event):
        """HI6: in the order asked for, for the request whose turn it is (JS5)."""
        request = next((r for r in self.requests if r.id == event["id"]), None)
        if request is None or request.kind != "history":
            raise Violation("HI6", f"{event} for no request for history")
        for earlier in self.requests:
            if earlier is request:
                break
            if not self.may_be_overtaken(earlier, request, "historyItem"):
                raise Violation("JS5", f"{event}, the next one is {earlier.id}")
        if self.items and self.items[-1]["id"] != event["id"]:
            raise Violation("HI6", f"{event} before the answer to {self.items[-1]['id']}")
        must_be_name(event["publisher"], "publisher")
        if event.flags & RETAIN:
            must_be_name(event["key"], "key of a record")
        if abs(event["time"] - time.time() * 1000) > CLOCK_TOLERANCE_MS:
            raise Violation("MS4", f"a strange time: {event['time']}")
        backwards, first = request.fields.get("backwards"), request.fields.get("from")
        bound = self.items[-1]["offset"] if self.items else None
        if bound is not None and (event["offset"] >= bound if backwards else event["offset"] <= bound) or event["offset"] == 0:
            raise Violation("HI6", f"{event} after {bound}, backwards: {backwards}")
        if first is not None and (event["offset"] > first if backwards else event["offset"] < first):
            raise Violation("HI6", f"{event}, asked for from {first}, backwards: {backwards}")
        self.items.append(event)

    def answer_history(self, event, asked):
        """HI6."""
        items, self.items = self.items, []
        if event.get("epoch") is None:
            if items or event["head"] or event["floor"] or event.get("next") is not None:
                raise Violation("HI6", f"no such channel, but {event}")
        else:
            must_have_shape("epoch", event["epoch"])
        most = asked.get("limit") or HISTORY_ITEMS_MAX
        if event["count"] != len(items) or len(items) > most:
            raise Violation("HI6", f"{len(items)} items came, asked for {most}: {event}")
        if len(items) > 1 and sum(6 + item.size for item in items) > HISTORY_BYTES_MAX:
            raise Violation("HI6", f"a page of {sum(6 + item.size for item in items)} bytes: {event}")
        offsets, following = [item["offset"] for item in items], event.get("next")
        if any(not event["floor"] < offset <= event["head"] for offset in offsets) or event["floor"] > event["head"]:
            raise Violation("HI6", f"items {offsets} outside of floor and head: {event}")
        if following is not None and (not items or not (following < offsets[-1] if asked.get("backwards") else following > offsets[-1])):
            raise Violation("HI6", f"next does not lead on from {offsets[-1:]}: {event}")
        self.pages.append((asked, event, items))

    def answer_unsubscribe(self, event, asked):
        """CH9."""
        self.exit("message", asked["channel"])

    def answer_leave(self, event, asked):
        """CH9, ST12."""
        self.exit("stream", asked["channel"])
        self.end_own_flows(asked["channel"])

    def end_own_flows(self, channel):
        """All topics of a channel are left."""
        for flow in [f for f in self.own_flows.values() if f.channel == channel]:
            self.ended_flows[flow.flow] = self.own_flows.pop(flow.flow)

    def exit(self, kind, name):
        """The session is out of the channel."""
        channel = self.find(kind, name)
        if channel is None:
            raise Violation("CH9", f"out of {name}, where this session was not")
        del self.channels[channel.handle]
        for flow in self.flows.values():
            if flow.channel == channel.handle:
                flow.open = False

    def answer_joinTopic(self, event, asked):
        """ST3."""
        own = self.own_flows.get(event["flow"])
        if own and (own.channel, own.topic) != (asked["channel"], asked["topic"]):
            raise Violation("ST3", f"flow {event['flow']} is already {own.channel}/{own.topic}")
        if own is None:
            if any((f.channel, f.topic) == (asked["channel"], asked["topic"]) for f in self.own_flows.values()):
                raise Violation("ST3", f"a second flow in one topic: {event}")
            if event["next"] != 1:
                raise Violation("ST6", f"a new flow begins with {event['next']}")
            flow = OwnFlow(asked["channel"], asked["topic"], event["flow"], event["next"])
            self.own_flows[flow.flow] = flow

    def answer_leaveTopic(self, event, asked):
        """ST4."""
        own = self.own_flows.pop(event["flow"], None)
        if own is None or (own.channel, own.topic) != (asked["channel"], asked["topic"]):
            raise Violation("ST4", f"left another flow: {event}")
        self.ended_flows[own.flow] = own

    def answer_subscribeTopic(self, event, asked):
        """ST7."""
        selection = self.selection(asked)
        users = self.check_users(event, asked)
        if users is None:
            selection.all = True
        else:
            selection.users |= set(event["succeeded"])
        if event["all"] != selection.all:
            raise Violation("ST7", f"all is {selection.all}: {event}")

    def answer_unsubscribeTopic(self, event, asked):
        """ST7, ST10."""
        channel = self.find("stream", asked["channel"])
        selection = self.selection(asked)
        if self.check_users(event, asked) is None:
            selection.all, selection.users = False, set()
        else:
            selection.users -= set(event["succeeded"])
        if event["all"] != selection.all:
            raise Violation("ST7", f"all is {selection.all}: {event}")
        for flow in self.flows.values():
            if flow.channel == channel.handle and flow.topic == asked["topic"] and not selection.has(flow.user):
                flow.open = False

    @staticmethod
    def check_users(event, asked):
        """ST7: each listed user succeeded or failed."""
        for entry in event["failed"]:
            must_have_shape("failed", entry)
            if CODES.get(entry["code"]) != entry["name"]:
                raise Violation("ER4", f"{entry}")
        users = asked.get("users")
        if users is not None:
            told = set(event["succeeded"]) | {entry["user"] for entry in event["failed"]}
            if told != set(users):
                raise Violation("ST7", f"asked for {users}: {event}")
        elif event["failed"]:
            raise Violation("ST7", f"nobody was listed: {event}")
        return users

    def selection(self, asked):
        """The selection of a topic."""
        channel = self.find("stream", asked["channel"])
        if channel is None:
            raise Violation("ST1", f"a topic answer without {asked['channel']} joined")
        return channel.selections.setdefault(asked["topic"], Selection())

    def answer_subscribedUsers(self, event, asked):
        """ST8."""
        selection = self.selection(asked)
        if event["all"] != selection.all:
            raise Violation("ST8", f"all is {selection.all}: {event}")
        if event["all"]:
            must_be_sorted(event["users"], "subscribedUsers")
        elif set(event["users"]) != selection.users or len(set(event["users"])) != len(event["users"]):
            raise Violation("ST8", f"listed {sorted(selection.users)}: {event}")

    @staticmethod
    def answer_who(event, asked):
        """PR4."""
        for member in event["members"]:
            must_have_shape("member", member)
        users = [member["user"] for member in event["members"]]
        must_be_sorted(users, "who")
        if len(users) > min(asked.get("limit") or MEMBERS_MAX, MEMBERS_MAX):
            raise Violation("PR4", f"{len(users)} members in a page")
        if users and asked.get("after") and users[0] <= asked["after"]:
            raise Violation("PR4", f"{users[0]} after {asked['after']}")
        if event["total"] < len(users):
            raise Violation("PR4", f"total {event['total']}, {len(users)} members")

    @staticmethod
    def answer_where(event, _):
        """PR4."""
        for place in event["channels"]:
            must_have_shape("place", place)

    # -- messages -------------------------------------------------------------------------------

    def on_accepted(self, event):
        """MS1, MS3, CH5."""
        pending = self.in_hand = self.publishes.pop(event["number"], None)
        if pending is None:
            raise Violation("MS3", f"{event} for no publish of ours")
        if pending in self.raw:
            self.raw.remove(pending)
        name, number, identity = pending.fields["channel"], event["number"], self.identity
        self.last_accepted = None
        known = number in identity.accepted
        if known:
            if identity.accepted[number] != event["offset"]:
                raise Violation("MS9", f"{event}, but it was accepted as {identity.accepted[number]}")
        elif number in identity.sent_before:
            pass  # it may have been accepted on the connection that broke, below what is known now
        else:
            if number <= max(identity.accepted, default=0):
                raise Violation("MS9", f"{event} after {max(identity.accepted)}")
            part = pending.fields.get("part") if pending.fields.get("retain") else None
            if part and part[0] < part[1]:
                if event["offset"]:
                    raise Violation("BL8", f"{event} for part {part}")
            else:
                self.must_rise(name, event["offset"])
                self.last_accepted = (pending, event)
        if pending.fields.get("retain"):
            identity.retained[number] = (name, identity.retained.get(number, ("", 0))[1] + 1)
        identity.accepted[number] = event["offset"]
        if name and not known:
            self.ledger.accepted(identity, name, event["offset"], dict(pending.fields, number=number))
        pending.reply.succeed(event["offset"])

    def must_rise(self, name, offset):
        """CH5, MS3, MS4: offsets of one channel rise at their places in the queue."""
        if name in self.ledger.renumbered:
            self.offsets[name] = offset
        if not self.offsets.get(name, 0) < offset <= INTEGER_MAX and name not in self.ledger.renumbered:
            raise Violation("CH5", f"offset {offset} of {name} after {self.offsets.get(name, 0)}")
        self.offsets[name] = offset

    def refused_number(self, event, problem):
        """MS3, DM3, DM4: an `error` with `number`."""
        number = event["number"]
        publish = self.publishes.pop(number, None)
        if publish is not None:
            self.check_refusal(event)
        pending = publish or self.directs.pop(number, None)
        if pending is None and number in self.earlier_directs:
            return
        if pending is None:
            raise Violation("ER1", f"{event} for no number of ours")
        if pending in self.raw:
            self.raw.remove(pending)
        pending.reply.fail(problem)

    def check_refusal(self, event):
        """MS9: `notAccepted` is a promise, and `outcomeUnknown` only for what is below all that is remembered."""
        accepted, number = self.identity.accepted, event["number"]
        above = sum(1 for other in accepted if other > number)
        if event["code"] == 128 and number in self.identity.not_stored:
            return
        if event["code"] == 128 and (number in accepted or not above):
            raise Violation("MS9", f"{event}, accepted are {sorted(accepted)[-5:]}")
        if event["code"] == 116 and above < NUMBERS_REMEMBERED:
            raise Violation("MS9", f"{event}, and only {above} above it were accepted")

    def on_stored(self, event):
        """BL2: for what was accepted, with its offset, once; again only for a number that was sent again."""
        number = event["number"]
        name, asked = self.identity.retained.get(number, ("", 0))
        if not asked and number in self.identity.sent_before:
            return  # accepted on the connection that broke
        if not asked:
            raise Violation("BL2", f"{event}, and that was not accepted as retained, or told before")
        if self.identity.accepted[number] != event["offset"]:
            raise Violation("BL2", f"{event}, accepted as {self.identity.accepted[number]}")
        self.identity.retained[number] = (name, asked - 1)
        self.identity.stored[number] = event["offset"]
        self.ledger.stored(name, event["offset"])

    def on_notStored(self, event):
        """BL2: gone; its number is one that was passed over."""
        number = event["number"]
        if number not in self.identity.retained or number in self.identity.stored:
            raise Violation("BL2", f"{event}, and that was not accepted as retained, or is stored")
        if event["code"] != 123 or event["name"] != CODES[123]:
            raise Violation("BL2", f"{event} is not storageFailed")
        self.ledger.renumbered.add(self.identity.retained.pop(number)[0])
        self.identity.accepted.pop(number, None)
        self.identity.not_stored.add(number)

    def on_cleared(self, event):
        """BL6: in the order of offsets."""
        channel = self.channel(event["channel"], "message", "CH9")
        if channel.span is None:
            raise Violation("BL6", f"{event} without the feature messages")
        if channel.catching_up:
            self.must_be_complete(channel)
        if event["offset"] <= channel.span.high:
            raise Violation("BL6", f"{event} after {channel.span.high}")
        channel.span.high = event["offset"]
        self.offsets[channel.name] = max(self.offsets.get(channel.name, 0), event["offset"])

    def on_reset(self, event):
        """BL4: another epoch; all that is kept follows, as from the beginning."""
        channel = self.channel(event["channel"], "message", "CH9")
        if channel.span is None:
            raise Violation("BL4", f"{event} without the feature messages")
        must_have_shape("epoch", event["epoch"])
        if event["epoch"] == self.epochs.get(channel.name):
            raise Violation("BL4", f"{event} in the epoch there was")
        self.ledger.renumbered.add(channel.name)
        self.epochs[channel.name], self.offsets[channel.name] = event["epoch"], event["head"]
        channel.span, channel.catching_up, channel.was_catching_up = Span(channel.name, 0, event["head"], True), True, True
        self.spans.append(channel.span)

    @staticmethod
    def must_not_cut(channel, event):
        """BL8: the parts of a record come one behind the other."""
        if channel.span and channel.span.drawing and event.name != "reset":
            raise Violation("BL8", f"{event} between the parts of {channel.span.drawing}")

    @staticmethod
    def take_part(span, event):
        """BL8: parts 1, 2, … of one record, nothing of the channel between them. True: not its first one."""
        is_record_part = event["part"] and event.flags & RETAIN
        under_way, wanted = span.drawing, None
        if is_record_part:
            same = (event["offset"], event["key"], event["publisher"], event["customType"], event["time"], event["part"][1])
            wanted = (same, event["part"][0])
        if under_way is None:
            if is_record_part and event["part"][0] != 1:
                raise Violation("BL8", f"{event} without the parts before it")
        elif wanted != under_way:
            raise Violation("BL8", f"{event}, the part that follows is {under_way}")
        if is_record_part:
            if not event["payload"]:
                raise Violation("BL8", f"a part without payload: {event}")
            number, count = event["part"]
            span.drawing = (same, number + 1) if number < count else None
        return under_way is not None

    @staticmethod
    def check_record(event):
        """MS7, BL1, BL8: retain and part have a key, a key has one of them."""
        part = event["part"]
        if (event["key"] is not None) != bool(event.flags & RETAIN or part):
            raise Violation("MS7", f"key, retain and part of {event}, flags {event.flags:#04x}")
        if event["key"] is not None:
            must_be_name(event["key"], "key")
        if part and not 1 <= part[0] <= part[1] or part and part[1] < 2:
            raise Violation("BL8", f"part {part}")

    def answer_clear(self, event, asked):
        """BL6: durable when it is answered."""
        self.ledger.cleared(asked["channel"], event["offset"])

    def answer_boards(self, event, asked):
        """BL9: in order of names, behind `after`, at most `limit`."""
        names = [board["channel"] for board in event["boards"]]
        for board in event["boards"]:
            must_have_shape("board", board)
        if any(a >= b for a, b in zip(names, names[1:])) or names and asked.get("after") and names[0] <= asked["after"]:
            raise Violation("BL9", f"not in order of names: {event}")
        if len(names) > (asked.get("limit") or 100) or event["bytes"] > event["bytesMax"]:
            raise Violation("BL9", f"too much: {event}")

    answer_undoClear = answer_removeBoard = answer_plain

    def on_deliver(self, event):
        """MS4 to MS6, CH9, BL3, BL8."""
        channel = self.channel(event["channel"], "message", "CH9")
        self.check_record(event)
        if "messages" not in channel.features:
            raise Violation("CH3", f"{event} without the feature messages")
        self.must_be_named(event["publisher"], channel)
        if abs(event["time"] - time.time() * 1000) > CLOCK_TOLERANCE_MS:
            raise Violation("MS4", f"a strange time: {event['time']}")
        span = channel.span
        if self.take_part(span, event):
            span.received[event["offset"]] = (self.names[event["publisher"]], event["payload"], event["customType"])
            span.high = event["offset"] if span.drawing is None else span.high
            return
        if event["offset"] <= span.high:
            raise Violation("MS4", f"{event} after {span.high}, catching up: {channel.catching_up}")
        if not event.flags & RETAIN and span.is_in_gap(event["offset"]):
            raise Violation("HI4", f"{event}, and {span.gaps} will not come")
        if channel.catching_up or channel.name in self.ledger.detours:
            self.must_be_complete(channel)
            self.offsets[channel.name] = max(self.offsets.get(channel.name, 0), event["offset"])
        elif event["publisher"] == self.handle:
            self.must_be_echo(event, channel)
        else:
            self.must_rise(channel.name, event["offset"])
        if span.drawing is None:
            span.high = event["offset"]  # a record in parts has come with the last of them
        span.received[event["offset"]] = (self.names[event["publisher"]], event["payload"], event["customType"])

    def seen_offsets(self):
        """SE2 `seen`: the last offset seen of each message channel with its epoch, and 1 while a board is read (BL3).
        Own offsets count when one is live (MS3)."""
        return [[handle, channel.span.high if channel.catching_up or channel.span.drawing else self.offsets[channel.name],
                 self.epochs[channel.name]["start"], self.epochs[channel.name]["incarnation"],
                 *([1] if channel.span.fresh and channel.catching_up else [])]
                for handle, channel in self.channels.items() if channel.kind == "message" and channel.span]

    def must_be_named(self, handle, channel):
        """MS5."""
        if handle not in self.names:
            raise Violation("MS5", f"deliver of publisher {handle}, whom no userNamed named")
        if self.named_at.get(handle, -1) < channel.entered:
            self.odd("MS5", f"userNamed of {self.names[handle]} came before {channel.name} was entered")

    def must_be_echo(self, event, channel):
        """MS6: one's own message comes directly after its accepted, with echo only."""
        if self.last_accepted is None:
            raise Violation("MS6", f"own message not directly after accepted: {event}")
        pending, accepted = self.last_accepted
        if not pending.fields["echo"] or pending.fields["channel"] != channel.name:
            raise Violation("MS6", f"own message without echo: {event}")
        if accepted["offset"] != event["offset"]:
            raise Violation("MS6", f"accepted {accepted['offset']}, delivered {event['offset']}")

    def on_userNamed(self, event):
        """MS5: a handle names one user."""
        must_be_name(event["user"], "userNamed")
        if (event["handle"] == self.handle) != (event["user"] == self.identity.user):
            raise Violation("MS5", f"{event}, but we are {self.handle}, {self.identity.user}")
        known = self.names.setdefault(event["handle"], event["user"])
        if known != event["user"]:
            raise Violation("MS5", f"handle {event['handle']} is {known} and {event['user']}")
        self.named_at[event["handle"]] = event.index

    def on_directDeliver(self, event):
        """DM2."""
        must_be_name(event["sender"], "sender")
        if event["delivery"] in self.deliveries:
            raise Violation("DM2", f"delivery {event['delivery']} came twice")
        self.deliveries.add(event["delivery"])

    def on_confirmed(self, event):
        """DM3."""
        pending = self.directs.pop(event["number"], None)
        if pending is None and event["number"] in self.earlier_directs:
            return  # sent on an earlier connection of this session
        if pending is None:
            raise Violation("DM3", f"{event} for no direct of ours")
        pending.reply.succeed(event)

    # -- streams --------------------------------------------------------------------------------

    def on_flowOpened(self, event):
        """ST9."""
        channel = self.channel(event["channel"], "stream", "ST9")
        if event["flow"] in self.flows:
            known = self.flows[event["flow"]]
            if known.open or known.user != event["user"] or event["next"] <= known.seen:
                raise Violation("ST9", f"opened twice: {event}")
        asked = self.is_selected(channel, event)
        if not asked:
            raise Violation("ST9", f"nobody selected it: {event}")
        if asked == "selected" and not self.restoring and event["next"] != 1:
            raise Violation("ST9", f"a later flow begins with {event['next']}: {event}")
        before = self.previous and self.restoring and self.previous.flows.get(event["flow"])
        if before and event["next"] <= before.seen:
            raise Violation("SE9", f"next {event['next']}, but {before.seen} was seen")
        if event["next"] == 0:
            raise Violation("ST6", f"sequences begin with 1: {event}")
        flow = self.flows[event["flow"]] = Flow(event.fields, event["user"] == self.identity.user)
        for first, last in self.early_lost.pop(event["flow"], ()):
            flow.take_lost(first, last)

    def is_selected(self, channel, event):
        """`asking` if a request for this topic is under way, `selected`, or nothing."""
        for request in self.requests:
            fields = request.fields or {}
            if (request.kind == "subscribeTopic" and fields.get("channel") == channel.name
                    and fields.get("topic") == event["topic"]
                    and (fields.get("users") is None or event["user"] in fields["users"])):
                return "asking"
        selection = channel.selections.get(event["topic"])
        return "selected" if selection and selection.has(event["user"]) else None

    def on_flowClosed(self, event):
        """ST10."""
        flow = self.flows.get(event["flow"])
        if flow is None or not flow.open:
            raise Violation("ST10", f"{event} of a flow that is not open here")
        self.channel(flow.channel, "stream", "ST10")
        flow.close(event["last"])

    def on_packet(self, event):
        """ST6, ST9, ST10."""
        flow = self.flows.get(event["flow"])
        if flow is None:
            raise Violation("ST9", f"{event} before flowOpened")
        if not flow.open:
            raise Violation("ST10", f"{event} of a flow that closed or left the selection")
        name = self.channels[flow.channel].name
        room = self.find("message", name)
        if room is not None and room.catching_up:
            raise Violation("HI5", f"{event} while {name} catches up")
        flow.take_packet(event["sequence"])

    def on_lost(self, event):
        """DL6."""
        if event["reason"] not in (1, 2, 3) or not 1 <= len(event["ranges"]) <= RANGES_MAX:
            raise Violation("DL6", f"reason {event['reason']}, {len(event['ranges'])} ranges")
        for number, first, last in event["ranges"]:
            flow = self.flows.get(number)
            if flow is None:  # its flowOpened comes behind it
                self.early_lost.setdefault(number, []).append((first, last))
                continue
            if flow.channel not in self.channels:
                raise Violation("DL6", f"lost of flow {number}, which is not ours")
            room = self.find("message", self.channels[flow.channel].name)
            if event["reason"] == 3 and (room is None or not room.was_catching_up):
                raise Violation("HI5", f"{event}, and {flow.topic} is of a channel that does not catch up")
            flow.take_lost(first, last)

    def on_packetsDropped(self, event):
        """RT4: the last notice may come with the flow's end."""
        own = self.own_flows.get(event["flow"]) or self.ended_flows.get(event["flow"])
        if own is None:
            raise Violation("RT4", f"{event} of a flow we do not publish")
        own.take_dropped(event)

    def on_topics(self, event):
        """ST11."""
        channel = self.channel(event["channel"], "stream", "ST11")
        for publisher in event["publishers"]:
            must_have_shape("publisher", publisher)
        if event["event"] == "snapshot":
            self.take_topics_snapshot(channel, event)
        elif channel.topics_state == "wanted":
            raise Violation("ST11", f"{event} before the snapshot")
        elif event["event"] in ("publisherJoined", "publisherLeft"):
            self.take_publisher(channel, event)
        else:
            self.odd("FR6", f"unknown event: {event}")

    @staticmethod
    def take_topics_snapshot(channel, event):
        """ST11: after join, after the presence snapshot, maybe in several frames."""
        if channel.topics_state == "told":
            raise Violation("ST11", f"a second snapshot: {event}")
        if channel.snapshot_wanted:
            raise Violation("CH4", f"topics before the presence snapshot: {event}")
        if channel.topics_state != "more":
            channel.publishers = {}
        for publisher in event["publishers"]:
            channel.publishers[publisher["topic"], publisher["user"]] = publisher.get("meta")
        channel.topics_state = "more" if event.get("more") else "told"

    @staticmethod
    def take_publisher(channel, event):
        """ST11: one publisher each, who was or was not there."""
        if len(event["publishers"]) != 1:
            raise Violation("ST11", f"not one publisher: {event}")
        entry = event["publishers"][0]
        key = entry["topic"], entry["user"]
        if (event["event"] == "publisherJoined") == (key in channel.publishers):
            raise Violation("ST11", f"{event}, known are {sorted(channel.publishers)}")
        if event["event"] == "publisherJoined":
            channel.publishers[key] = entry.get("meta")
        else:
            del channel.publishers[key]

    # -- presence -------------------------------------------------------------------------------

    def on_presence(self, event):
        """PR1, PR2."""
        channel = self.channel(event["channel"], None, "CH9")
        if "presence" not in channel.features:
            raise Violation("PR1", f"{event} without the feature presence")
        kind = event["event"]
        if "presence " + kind not in SHAPES:
            return self.odd("FR6", f"unknown event: {event}")
        must_have_shape("presence " + kind, event.fields)
        if (kind == "snapshot") != channel.snapshot_wanted:
            raise Violation("PR3", f"the snapshot comes once and first: {event}")
        if kind in ("join", "leave", "timeout") and event["user"] == self.identity.user:
            raise Violation("PR5", f"told to the user it speaks of: {event}")
        return getattr(self, "presence_" + kind)(channel, event)

    def presence_snapshot(self, channel, event):
        """PR3."""
        channel.snapshot_wanted = False
        for member in event["members"]:
            must_have_shape("member", member)
        users = [member["user"] for member in event["members"]]
        must_be_sorted(users, "snapshot")
        if len(users) > MEMBERS_MAX or event.size > SNAPSHOT_BYTES + 512 or event["total"] < len(users):
            raise Violation("PR3", f"{len(users)} of {event['total']} members in {event.size} bytes")
        complete = event["total"] == len(users)
        if (self.identity.user in users) == channel.quiet and (complete or channel.quiet):
            raise Violation("PR3", f"quiet is {channel.quiet}, members {users}")
        channel.members = {m["user"]: m["states"] for m in event["members"]} if complete else None
        channel.loose = channel.loose or event["total"] > 40

    @staticmethod
    def presence_join(channel, event):
        """PR5."""
        if channel.members is not None:
            if event["user"] in channel.members and not channel.loose:
                raise Violation("PR5", f"joined twice: {event}")
            channel.members[event["user"]] = event["states"]

    @staticmethod
    def presence_leave(channel, event):
        """PR5: each stay ends once."""
        if channel.members is not None:
            if event["user"] not in channel.members and not channel.loose:
                raise Violation("PR5", f"the stay had ended or never begun: {event}")
            channel.members.pop(event["user"], None)

    presence_timeout = presence_leave

    @staticmethod
    def presence_stateChanged(channel, event):
        """PR5, PR8: what changes nothing is not told."""
        if channel.members is None or channel.loose:
            return
        if event["user"] not in channel.members:
            raise Violation("PR5", f"states of nobody: {event}")
        before = channel.members[event["user"]]
        after = {**before, **event["states"]}
        for key in event.get("removed") or ():
            after.pop(key, None)
        if after == before:
            raise Violation("PR8", f"nothing changed: {event}")
        channel.members[event["user"]] = after

    @staticmethod
    def presence_interval(channel, event):
        """PR6: lists are absent when empty."""
        channel.loose = True
        lists = [event.get(key) for key in ("joined", "changed", "left", "timedOut")]
        if any(value == [] for value in lists) or not any(lists):
            raise Violation("PR6", f"an empty list: {event}")
        for member in (event.get("joined") or []) + (event.get("changed") or []):
            must_have_shape("member", member)
            if channel.members is not None:
                channel.members[member["user"]] = member["states"]
        for user in (event.get("left") or []) + (event.get("timedOut") or []):
            if channel.members is not None:
                channel.members.pop(user, None)


# ------------------------------------------------------------------------------------------------
# The client
# ------------------------------------------------------------------------------------------------

class Identity:
    """Who a client is: user id, instance, secret and the numbers it has used (MS1, SE2)."""

    def __init__(self, user, instance=None, secret=None, credential=None):
        self.user, self.credential = user, credential or {}  # {"key": …} or {"token": …} (AC1)
        self.instance = instance or secrets.token_hex(8)
        self.secret = secret or secrets.token_hex(16)
        self.number = 0
        self.retained, self.stored, self.not_stored = {}, {}, set()  # (channel, how often `stored` may come); offsets
        self.accepted, self.sent, self.sent_before = {}, set(), set()  # offsets by number; numbers, of earlier connections
        self.lock = threading.Lock()

    def next_number(self):
        """A number above all before."""
        with self.lock:
            self.number += 1
            return self.number


class Reply:
    """What comes back for one frame: a value, or an exception."""

    def __init__(self):
        self.done = threading.Event()
        self.value = self.problem = None

    def succeed(self, value):
        """It was accepted."""
        self.value = value
        self.done.set()

    def fail(self, problem):
        """It was refused or will never be answered."""
        self.problem = problem
        self.done.set()

    def wait(self, timeout=PATIENCE):
        """The value; raises RelayError, Ended, Violation or Timeout."""
        if not self.done.wait(timeout):
            raise Timeout("no answer")
        if self.problem is not None:
            raise self.problem
        return self.value


def publish_fields(channel, payload, custom_type, extra, key=None, part=None):
    """What is known of a publish when it is answered."""
    payload = payload if isinstance(payload, str) else bytes(payload)
    return {"channel": channel, "payload": payload, "customType": custom_type,
            "echo": bool(extra & ECHO), "noHistory": bool(extra & NO_HISTORY), "retain": bool(extra & RETAIN),
            "key": key, "part": part}


class Pending:
    """A frame that waits for its answer."""

    def __init__(self, kind, fields, id=None, number=None, flow=None):
        self.kind, self.fields, self.id, self.number, self.flow = kind, fields, id, number, flow
        self.reply = Reply()

    def matches(self, event):
        """Can this error, which has neither id nor number, answer it?"""
        return event.get("flow") is None or event["flow"] == self.flow


class Client:
    """One connection to the relay and, after `login`, its session.

    auto_pong, auto_received: answer `ping` and `directDeliver` by itself.
    heartbeat: ping a relay that has been silent for one interval, give up after two (HB3).
    receive_buffer: SO_RCVBUF, to be a slow reader.
    watcher: an object with sent(type) and received(event), for statistics.
    transport: "tcp" or "websocket"; `dice` says how the latter is used.
    """

    def __init__(self, host, port, identity=None, previous=None, auto_pong=True, auto_received=True,
                 heartbeat=True, receive_buffer=None, watcher=None, ledger=None, transport="tcp", dice=None):
        self.identity = identity or Identity("nobody")
        self.identity.sent_before |= self.identity.sent
        self.auto_pong, self.auto_received, self.heartbeat = auto_pong, auto_received, heartbeat
        self.watcher = watcher
        self.checker = Checker(self.identity, previous, ledger)
        self.events, self.closing, self.violation, self.over = [], None, None, False
        self.unknown_frames = []
        self.arrived = threading.Condition()
        self.sending = threading.Lock()
        self.reading = threading.Event()
        self.reading.set()
        self.next_id = 0
        self.transport, self.dice = transport, dice or random.Random()
        self.socket, self.link, self.early = self._connect(host, port, receive_buffer)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _connect(self, host, port, receive_buffer):
        """(socket, link, bytes that were read already)."""
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.settimeout(10)
        sock.connect((host, port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link, early = TCPLink(), b""
        if self.transport == "websocket":
            try:
                link, early = open_websocket(sock, f"{host}:{port}", self.dice)
            except BaseException:
                sock.close()
                raise
        sock.settimeout(None)
        return sock, link, early

    # -- reading --------------------------------------------------------------------------------

    def _read(self):
        """The reader thread: bytes to events until the end."""
        splitter = Splitter()
        try:
            data = self.early
            while True:
                for message in self.link.decode(data):
                    for number, flags, body in splitter.feed(message):
                        self._take(number, flags, body)
                self._answer()
                self.reading.wait()
                data = self._receive()
                if not data:
                    break
            self.link.judge_end(self.closing)
            if splitter.buffer:
                self.checker.odd("FR1", f"the connection ended inside a frame: {bytes(splitter.buffer[:32]).hex()}")
        except Violation as problem:
            self.violation = problem
        except (OSError, ValueError):
            pass
        except Exception as problem:  # a mistake of this client: show it, never hang
            self.violation = Violation("client", f"{type(problem).__name__}: {problem}")
        self._finish()

    def _receive(self):
        """The next bytes; keeps the heartbeat while nothing comes."""
        silent = 0
        while not select.select([self.socket], [], [], self._patience())[0]:
            silent += 1
            if silent == 2:
                raise Violation("HB3", "the relay was silent for two intervals and a ping")
            self.ping()
        return self.socket.recv(65_536)

    def _answer(self):
        """What the link says by itself: behind the relay's close it may find nobody."""
        with self.sending:
            answers = self.link.answers()
            try:
                if answers:
                    self._write(answers)
            except OSError:
                pass
        with self.arrived:
            self.arrived.notify_all()

    def _patience(self):
        """How long the relay may be silent before it is pinged, in seconds."""
        welcome = self.checker.welcome
        return welcome["heartbeatMs"] / 1000 if self.heartbeat and welcome else None

    def _take(self, number, flags, body):
        """One frame of the relay."""
        event = decode(number, flags, body)
        with self.arrived:
            if event is None:
                self.unknown_frames.append((number, flags, body))
                return
            event.index = len(self.events)
            self.checker.take(event)
            if self.watcher:
                self.watcher.received(event)
            self.events.append(event)
            if event.name == "closing":
                self.closing = event.fields
            self.arrived.notify_all()
        self._react(event)

    def _react(self, event):
        """What a client answers by itself."""
        try:
            if event.name == "ping" and self.auto_pong:
                self.send("pong", event["bytes"])
            elif event.name == "directDeliver" and self.auto_received:
                self.confirm(event)
        except OSError:
            pass

    def _finish(self):
        """Everything that still waits fails."""
        with self.arrived:
            self.over = True
            checker, end = self.checker, self.violation or Ended(self.closing)
            for pending in [*checker.requests, *checker.publishes.values(), *checker.directs.values(),
                            *checker.pings, *checker.raw, checker.in_hand]:
                if pending and not pending.reply.done.is_set():
                    pending.reply.fail(end)
            self.arrived.notify_all()
        self.socket.close()

    # -- sending --------------------------------------------------------------------------------

    def send_bytes(self, data):
        """Bytes as they are."""
        with self.sending:
            self._send(data)

    def _send(self, data):
        try:
            self._write(self.link.encode(data))
        except OSError:
            if not self.over and self.closing is None:
                time.sleep(0.05)  # the reason may still be on its way
            raise

    def _write(self, data):
        """What the link made of it, as it stands on the wire."""
        self.socket.sendall(data)

    def send(self, kind, body=b"", flags=0):
        """One frame that nobody waits for."""
        self._note(kind)
        self.send_bytes(frame(kind, body, flags))

    def _note(self, kind):
        if self.watcher:
            self.watcher.sent(FRAME_TYPES[kind] if isinstance(kind, str) else kind)

    def _submit(self, kind, flags, body, pending, *places):
        """Sends a frame whose answer is awaited; `places` remember it, in the order of the wire."""
        self._note(kind)
        with self.sending:
            with self.arrived:
                if self.over:
                    raise self.violation or Ended(self.closing)
                for remember in places:
                    remember(pending)
            try:
                self._send(frame(kind, body, flags))
            except OSError:
                pass  # the reader thread fails the reply
        return pending.reply

    def start_request(self, kind, /, id=None, **fields):
        """Sends a JSON request; the reply's value is the answer."""
        if id is None:
            self.next_id += 1
            id = self.next_id
        body = json_body({"id": id, **fields})
        pending = Pending(kind, fields, id=id)
        if kind == "undoClear":
            self.checker.ledger.detours.add(fields.get("channel"))
        if kind == "forgetUser" and fields.get("withRecords"):
            self.checker.ledger.detours.update(channel.name for channel in self.checker.channels.values())
        if kind == "subscribe":
            pending.durable = self.checker.ledger.durable_in(fields.get("channel"))
        return self._submit(kind, 0, body, pending, self.checker.requests.append)

    def request(self, kind, /, id=None, timeout=PATIENCE, **fields):
        """Sends a JSON request and waits for its answer."""
        return self.start_request(kind, id, **fields).wait(timeout)

    def start_texts(self, frame_type, items, /, **fields):
        """Sends `setMetadata` or `updateMetadata`: items are (key, value) or (key, value, revision)."""
        self.next_id += 1
        heads = [{"key": key, "bytes": len(value.encode()), **({"revision": rest[0]} if rest else {})}
                 for key, value, *rest in items]
        fields = {"items": heads, **fields}
        head = json_body({"id": self.next_id, **fields})
        body = len(head).to_bytes(2, "big") + head + b"".join(value.encode() for _, value, *_ in items)
        return self._submit(frame_type, 0, body, Pending(frame_type, fields, id=self.next_id), self.checker.requests.append)

    def history(self, channel, timeout=PATIENCE, **fields):
        """(answer, items) of one page of kept messages (HI6); `start` is `from`."""
        if "start" in fields:
            fields["from"] = fields.pop("start")
        mark = self.mark()
        answer = self.request("history", timeout=timeout, channel=channel, **fields)
        return answer, [e for e in self.since(mark, "historyItem") if e["id"] == answer["id"]]

    def all_history(self, channel, start=None, **fields):
        """All pages."""
        items = []
        while True:
            answer, page = self.history(channel, start=start, **fields)
            items += page
            start = answer.get("next")
            if start is None:
                return answer, items

    def texts(self, frame_type, items, /, timeout=PATIENCE, **fields):
        """Sends it and waits: the major revision."""
        return self.start_texts(frame_type, items, **fields).wait(timeout)["majorRevision"]

    def all_metadata(self, **owner):
        """(major revision, {key: value}) over all pages of getMetadata."""
        found, after = {}, None
        while True:
            page = self.request("getMetadata", after=after, **owner)
            found.update({item["key"]: item["value"] for item in page["items"]})
            after = page.get("next")
            if after is None:
                return page["majorRevision"], found

    def login(self, timeout=PATIENCE, token=None, seen=None, **more):
        """Logs in, with a token (and what was seen) as the resuming client; the answer is `welcome`."""
        return self.start_login(token, seen, **more).wait(timeout)

    def start_login(self, token=None, seen=None, **more):
        """Sends it."""
        fields = {"version": 1, "user": self.identity.user, "instance": self.identity.instance,
                  "secret": self.identity.secret, "client": "interop.py", **self.identity.credential,
                  "resume": None if token is None else {"token": token, **({} if seen is None else {"seen": seen})}, **more}
        return self.start_request("login", **fields)

    def publish(self, channel, payload=b"", number=None, custom_type=None, key=None, part=None, extra=0):
        """Publishes a message; the reply's value is its offset. `extra`: ECHO, RETAIN, NO_HISTORY."""
        number = number or self.identity.next_number()
        flags, body = encode_publish(number, channel, payload, custom_type, key, part, extra)
        if extra & RETAIN and part:
            self.checker.ledger.detours.add(channel)
        pending = Pending("publish", publish_fields(channel, payload, custom_type, extra, key, part), number=number)
        return self._submit("publish", flags, body, pending, self._remember_publish)

    def publish_many(self, channel, payloads, extra=0):
        """Publishes at one instant: all frames in one write. Returns the replies."""
        data, replies = bytearray(), []
        self._note("publish")
        with self.sending:
            with self.arrived:
                for payload in payloads:
                    number = self.identity.next_number()
                    flags, body = encode_publish(number, channel, payload, extra=extra)
                    pending = Pending("publish", publish_fields(channel, payload, None, extra), number=number)
                    self._remember_publish(pending)
                    replies.append(pending.reply)
                    data += frame("publish", body, flags)
            self._send(data)
        return replies

    def retain(self, channel, key, payload=b"", **more):
        """Publishes a record, or a removal, and waits until it is durable (BL2): its offset."""
        number = self.identity.next_number()
        mark = self.mark()
        offset = self.publish(channel, payload, number=number, key=key, extra=RETAIN | more.pop("extra", 0), **more).wait()
        self.wait_for("stored", lambda e: e["number"] == number, since=mark)
        return offset

    def draw(self, channel, key, pieces, extra=RETAIN, **more):
        """Publishes a drawing in parts (BL8): the offset of the last."""
        replies = [self.publish(channel, piece, key=key, part=(n, len(pieces)), extra=extra, **more)
                   for n, piece in enumerate(pieces, 1)]
        return [reply.wait() for reply in replies][-1]

    def expect_number(self, kind, number, channel=""):
        """Waits for the answer to a `publish` or `direct` whose bytes the caller sends by itself."""
        pending = Pending(kind, {"channel": channel, "echo": False}, number=number)
        with self.arrived:
            (self._remember_publish if kind == "publish" else self._remember_direct)(pending)
        return pending.reply

    def _remember_publish(self, pending):
        self.identity.sent.add(pending.number)
        self.checker.publishes[pending.number] = pending

    def _remember_direct(self, pending):
        self.checker.directs[pending.number] = pending

    def direct(self, user, payload=b"", number=None, custom_type=None):
        """Sends a direct message; the reply is done when it is confirmed."""
        number = number or self.identity.next_number()
        flags, body = encode_direct(number, user, payload, custom_type)
        return self._submit("direct", flags, body, Pending("direct", {}, number=number), self._remember_direct)

    def confirm(self, event):
        """The application has a direct message."""
        self.send("directReceived", struct.pack(">Q", event["delivery"]))

    def packet(self, flow, payload=b"", slot=None, sender_time=None, extra=0):
        """Publishes one packet; nothing answers it."""
        flags, body = encode_packet(flow, payload, slot, sender_time, extra)
        self.send("publishPacket", body, flags)

    def packets(self, flow, payloads, extra=0):
        """Publishes packets at one instant: all frames in one write."""
        data = bytearray()
        for payload in payloads:
            flags, body = encode_packet(flow, payload, extra=extra)
            data += frame("publishPacket", body, flags)
        self._note("publishPacket")
        self.send_bytes(data)

    def raw(self, kind, body, flags=0, id=None, number=None, flow=None, fields=None):
        """Sends a frame as it is. Its reply is the error that names `id`, `number` or `flow`, or the
        next one that names nothing; or the answer, should the relay take it."""
        pending = Pending(kind, fields, id=id, number=number, flow=flow)
        places = [self.checker.raw.append]
        if id is not None:
            places.append(self.checker.requests.append)
        if number is not None and kind == "publish":
            pending.fields = fields or {"channel": "", "echo": False}
            places.append(self._remember_publish)
        elif number is not None:
            places.append(self._remember_direct)
        return self._submit(kind, flags, body, pending, *places)

    def ping(self, data=None):
        """Sends a ping; the reply is done when its pong came."""
        data = secrets.token_bytes(8) if data is None else data
        return self._submit("ping", 0, data, Pending("ping", data), self.checker.pings.append)

    def sync(self, timeout=PATIENCE):
        """Waits until all that the relay had queued for this connection has come (one queue: DL1), and a pong of WebSocket."""
        if self.transport == "websocket" and self.dice.random() < 0.25:
            self._ping_link()
        self.ping().wait(timeout)
        with self.arrived:
            if not self.arrived.wait_for(lambda: self.over or self.link.pings_answered >= self.link.pings_sent, timeout):
                raise Violation("WS6", f"{self.link.pings_sent - self.link.pings_answered} pings without a pong")

    def _ping_link(self):
        """A ping of WebSocket, which may stand between the fragments of a message."""
        with self.sending:
            if isinstance(self.link, TCPLink) or self.link.has_said_close:
                return
            try:
                self._write(self.link.ping())
            except OSError:
                pass  # the reader thread tells

    # -- events ---------------------------------------------------------------------------------

    def mark(self):
        """The end of the list of events, to look at what comes from here."""
        with self.arrived:
            return len(self.events)

    def since(self, mark, *names):
        """Events from a mark on, of the given names."""
        with self.arrived:
            return [e for e in self.events[mark:] if not names or e.name in names]

    def wait_for(self, name, test=None, since=0, timeout=PATIENCE):
        """The first event of that name from `since` on that passes the test."""
        deadline, at = time.monotonic() + timeout, since
        with self.arrived:
            while True:
                while at < len(self.events):
                    event = self.events[at]
                    if event.name == name and (test is None or test(event)):
                        return event
                    at += 1
                if self.over:
                    raise self.violation or Ended(self.closing)
                left = deadline - time.monotonic()
                if left <= 0 or not self.arrived.wait(left):
                    raise Timeout(f"no {name}; the last events are {self.events[-4:]}")

    def wait_closed(self, timeout=PATIENCE):
        """Waits for the end of the connection; returns the fields of `closing` or None."""
        self.thread.join(timeout)
        if self.thread.is_alive():
            raise Timeout("the connection still lives")
        if self.violation:
            raise self.violation
        return self.closing

    def pause(self):
        """Stops reading: a slow reader."""
        self.reading.clear()

    def unpause(self):
        """Reads again."""
        self.reading.set()

    def flow(self, number):
        """What is known of a flow of others."""
        return self.checker.flows[number]

    # -- the end --------------------------------------------------------------------------------

    def drop(self):
        """Cuts the connection without a word, as a lost network does; a WebSocket half of the time as a page does that is left."""
        self.unpause()
        self._say_goodbye()
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.thread.join(5)

    def _say_goodbye(self):
        """Which ends the WebSocket, and with the same code. [WS6]"""
        if self.transport == "tcp" or self.over or self.dice.random() < 0.5:
            return
        with self.sending:
            if isinstance(self.link, TCPLink) or self.link.has_said_close:
                return
            try:
                self._write(self.link.goodbye(self.dice.choice((1000, 1001)), self.dice.choice((b"", b"gone"))))
            except OSError:
                return
        self.thread.join(2)

    def logout(self):
        """Ends the session; returns `closing`."""
        self.request("logout")
        return self.wait_closed()
