"""The document."""

import os
import re
import threading

from bounds import TRANSPORTS
from relay_client import FRAME_NAMES


class Document:
    """The three tables and the rule ids of protocol.md."""

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "protocol.md"), encoding="utf-8") as file:
            text = file.read()
        self.frames = {row[1].strip("`"): (int(row[0], 16), row[2], re.findall(r"`(\w+)`", row[4]))
                       for row in self.table(text, "Frame types")}
        self.limits = {row[0]: [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", row[1])]
                       for row in self.table(text, "Limits")}
        self.codes = {row[1].strip("`"): int(row[0]) for row in self.table(text, "Codes")}
        self.rules = set(re.findall(r"^\* \*\*([A-Z]{2}\d+)\*\*", text, flags=re.M))

    @staticmethod
    def table(text, title):
        """The cells of the first table under a heading, without its head."""
        section = re.split(r"^## ", text.split(f"\n## {title}\n", 1)[1], maxsplit=1, flags=re.M)[0]
        rows, begun = [], False
        for line in section.splitlines():
            if line.startswith("|"):
                begun = True
                rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
            elif begun:
                break
        return [row + [""] * 5 for row in rows[2:]]


class Tracker:
    """What was seen on all connections: frame types, codes that a check asked for, limits used."""

    def __init__(self):
        self.lock = threading.Lock()
        self.sent_types, self.received_types = set(), set()
        self.proved, self.limits_used = set(), set()
        self.met = {transport: set() for transport in TRANSPORTS}  # names of frames and codes

    def on(self, transport):
        """What notes for a connection on it."""
        return Watcher(self, self.met[transport])


class Watcher:
    """Notes what one connection sends and receives."""

    def __init__(self, tracker, met):
        self.tracker, self.met = tracker, met

    def sent(self, number):
        """A frame left."""
        name = FRAME_NAMES.get(number, number)
        self.tracker.sent_types.add(name)
        self.met.add(name)

    def received(self, event):
        """A frame came."""
        self.tracker.received_types.add(event.name)
        self.met.add(event.name)
        if event.name in ("error", "closing"):
            self.met.add(event["name"])
