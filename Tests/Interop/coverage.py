"""What only all checks together show, and the tables of the document."""

import os
import pathlib
import re

import links
import relay_client
from context import CHECKS
from http_checks import need
from relay_client import CODES, FRAME_NAMES, FRAME_TYPES, Splitter, decode, parse_json


def tables_agree(program):
    """The client's constants are those of the document."""
    frames = {name: number for name, (number, _, _) in program.document.frames.items()}
    need(frames == FRAME_TYPES, f"frame types differ: {set(frames.items()) ^ set(FRAME_TYPES.items())}")
    codes = {number: name for name, number in program.document.codes.items()}
    need(codes == CODES, f"codes differ: {set(codes.items()) ^ set(CODES.items())}")


def vectors_decode(program):
    """Each row of vectors/frames.tsv is one whole frame that this client can read."""
    with open(os.path.join(program.document.folder, "vectors", "frames.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    for row in rows:
        try:
            data = bytes.fromhex(row[1])
        except ValueError:
            need(row is rows[0], f"no hex in {row}")
            continue
        vector_decodes(row, data)


def vector_decodes(row, data):
    """One row."""
    splitter = Splitter()
    frames = splitter.feed(data)
    need(len(frames) == 1 and not splitter.buffer, f"{row[0]}: {len(frames)} frames")
    number, flags, body = frames[0]
    kind = FRAME_NAMES.get(number)
    if kind is None or number < 0x80 and kind not in ("ping", "pong"):
        if number in (0x30, 0x31):
            body = body[2:2 + int.from_bytes(body[:2], "big")]
        if 0x20 <= number < 0x80 or number in (1, 2, 5):
            parse_json(body)
        return
    decode(number, flags, body)


def frames_covered(program):
    """Every frame type of the table was sent or received, as its column "from" says."""
    tracker = program.tracker
    missing = []
    for name, (_, sender, _) in program.document.frames.items():
        missing += [f"{name} (sent)"] if "C" in sender and name not in tracker.sent_types else []
        missing += [f"{name} (received)"] if "R" in sender and name not in tracker.received_types else []
    need(not missing, f"not seen: {', '.join(missing)}")


def codes_covered(program):
    """Every code of the table was caused by a check that wanted it; a relay with TLS is that of Tests/TLS/check.py, several of one space
    are those of Tests/Cluster/cluster.py."""
    missing = sorted(set(program.document.codes) - program.tracker.proved - {"tlsRequired", "moved"})
    need(not missing, f"not caused: {', '.join(missing)}")


# Rules that no client sees broken from outside, and why.
UNJUDGED = {"HT10": "whom the log names", "NM2": "what people read is no matter of the relay", "HB4": "a host that sleeps",
            "DL3": "shown by what SE9 tells", "DL9": "memory of the relay", "SE15": "memory of the relay", "DL10": "turns of reading",
            "SE17": "Tests/Cluster/cluster.py",
            **dict.fromkeys(("TL1", "TL2", "TL3", "TL4", "TL5"), "Tests/TLS/check.py")}


def rules_covered(program):
    """Every rule of the document stands in the title of a check, or the checker names it, or it is told why not."""
    named = {rule for entry in CHECKS for rule in re.findall(r"\b[A-Z]{2}\d+\b", entry[0].split("]")[0])}
    folder = pathlib.Path(relay_client.__file__).parent
    for file in [pathlib.Path(links.__file__), *sorted((folder / "peer").glob("*.py"))]:
        named |= set(re.findall(r'"([A-Z]{2}\d+)"', file.read_text(encoding="utf-8")))
    missing = program.document.rules - named - set(UNJUDGED)
    need(not missing, f"no check and no violation names {sorted(missing)}")
    need(named <= program.document.rules, f"no rules of the document: {sorted(named - program.document.rules)}")
    need(not set(UNJUDGED) & named, f"judged after all: {sorted(set(UNJUDGED) & named)}")
