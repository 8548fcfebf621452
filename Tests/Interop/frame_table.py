"""The table of frames (docs/vectors/frame-types.json) against this client's codec."""

import json
import os
import struct

from http_checks import need
from peer.constants import ALLOWED_FLAGS, CUSTOM_TYPE, EXTENSIONS, FRAME_TYPES, KEY, PART, RELAY_JSON, RELAY_TEXTS, SENDER_TIME, SLOT
from peer.events import BINARY_DECODERS, decode
from peer.fields import encode_changes, encode_direct, encode_packet, encode_publish
from peer.shapes import SHAPES

# Shapes that this client looks at in parts, or under another name.
NAMES = {"publisher": "topicPublisher", "failed": "failure", "lastEnd": "ending", "status sessions": "sessionCounts",
         "status channels": "channelCounts", "status counters": "counters", "status address": "statusAddress", "status sample": "statusSample",
         "status user": "statusUser"}
KINDS = {"u16": "u32", "true": "bool", "[text]": "texts", "[name]": "names", "{text}": "states"}
VALUES = {"u8": 1, "u16": 2, "u32": 3, "u64": 4, "text8": "lesson", "rest": b"end"}


def table_agrees(program):
    """Numbers, flags, fields of binary bodies and shapes of JSON bodies are those of the table."""
    with open(os.path.join(program.document.folder, "vectors", "frame-types.json"), encoding="utf-8") as file:
        table = json.load(file)
    rows = {row["name"]: row for row in table["frames"]}
    numbers = {name: int(row["number"], 16) for name, row in rows.items()}
    need(numbers == FRAME_TYPES, f"frame types differ: {set(numbers.items()) ^ set(FRAME_TYPES.items())}")
    relay = {body: {name for name, row in rows.items() if row["from"] == "relay" and row["body"] == body}
             for body in ("json", "texts", "binary")}
    need(relay["json"] == RELAY_JSON and relay["texts"] == RELAY_TEXTS, "frames with JSON differ")
    need(relay["binary"] == set(BINARY_DECODERS) - {"ping", "pong"}, "binary frames differ")
    for name in relay["binary"]:
        received(name, rows[name])
    sent(rows)
    shapes_agree(table["shapes"], rows)


def received(name, row):
    """A frame of the relay made from its row is decoded to these fields, with each flag and without any."""
    need(sum(row["flags"].values()) - EXTENSIONS == ALLOWED_FLAGS.get(name, 0), f"flags of {name} differ")
    for flags in {0, ALLOWED_FLAGS.get(name, 0)}:
        body, told = made(row, flags)
        event = decode(FRAME_TYPES[name], flags, body)
        found = {key: value for key, value in event.fields.items() if value is not None}
        need(found == told, f"{name} with flags {flags:#x}: {told} is read as {found}")


def made(row, flags):
    """(body, fields as this client tells them) of a frame of the relay."""
    body, told = b"", {}
    for field in row["fields"]:
        if "flag" in field and not flags & row["flags"][field["flag"]]:
            continue
        name, kind = field["name"], field["type"]
        if kind == "ranges":
            body += struct.pack(">III", 5, 6, 7)
            told["ranges"] = [(5, 6, 7)]
            continue
        value = 1 if name == "count" else VALUES[kind]
        data = value.encode() if isinstance(value, str) else value
        body += data if kind == "rest" else bytes([len(data)]) + data if kind == "text8" else value.to_bytes(int(kind[1:]) // 8, "big")
        told[name] = value
    told.pop("count", None)
    if "part" in told:
        told["part"] = (told["part"], told.pop("parts"))
    elif flags & 1 and "payload" in told or row["name"] == "userNamed":
        last = "payload" if "payload" in told else "user"
        told[last] = told[last].decode()
    return body, told


def sent(rows):
    """Frames of this client with every field are those that the table lays out."""
    everything = {"publish": encode_publish(4, "lesson", b"end", "lesson", "lesson", (2, 2)),
                  "direct": encode_direct(4, "lesson", b"end", "lesson"),
                  "publishPacket": encode_packet(3, b"end", 3, 3), "publishChanges": (0, encode_changes(4, "lesson", (2, 2), []) + b"end"),
                  "directReceived": (0, struct.pack(">Q", 4))}
    names = {name for name, row in rows.items() if row["from"] == "client" and row["body"] == "binary"}
    need(set(everything) == names, "binary frames differ")
    for name, (flags, body) in everything.items():
        need(made(rows[name], flags)[0] == body, f"{name}: the table has {made(rows[name], flags)[0].hex()}, this client {body.hex()}")
    flags = rows["publish"]["flags"] | rows["publishPacket"]["flags"]
    known = {"customType": CUSTOM_TYPE, "key": KEY, "part": PART, "slot": SLOT, "senderTime": SENDER_TIME}
    need({name: flags[name] for name in known} == known, "flags differ")


def shapes_agree(shapes, rows):
    """Each shape has the fields of the table, and asks for those that must be there."""
    # Each event of `presence` has a shape: what one of them needs is optional for all.
    events = [word for name, text in SHAPES.items() if name.startswith("presence ") for word in text.split()]
    presence = SHAPES["presence"] + "".join(" " + word.replace("?", "").replace(":", "?:") for word in events)
    for name, text in {**SHAPES, "presence": presence}.items():
        if name.startswith("presence "):
            continue
        kind, _, request = name.partition(" ")
        known = NAMES.get(name, name)
        fields = shapes.get(known) or (rows[request]["answer"] if kind == "answer" and request else rows[known]["fields"])
        told = {field["name"] + ("?" if field.get("optional") else ""): field["type"] for field in fields}
        found = dict(word.split(":") for word in text.split())
        need(set(told) == set(found), f"{name}: {sorted(set(told) ^ set(found))} differ")
        for key in told:
            need(is_same(told[key], found[key]), f"{name}: {key} is {told[key]} in the table, {found[key]} here")
    missing = {f"answer {name}" for name, row in rows.items() if "answer" in row} | RELAY_JSON | RELAY_TEXTS
    need(missing <= set(SHAPES), f"no shape of {sorted(missing - set(SHAPES))}")


def is_same(told, found):
    """Whether a kind of this client is a type of the table."""
    if KINDS.get(told, told) == KINDS.get(found, found) or found == "any":
        return True
    if found == "object":
        return told[0] not in "[u" and told not in ("text", "name", "bool", "kind")
    return found == "objects" and told[0] == "["
