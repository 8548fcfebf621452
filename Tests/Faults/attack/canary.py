"""Two pairs who exchange 60 messages a second, one pair on the relay under attack, one on another on the same machine: the control.

Each of two sends 30 messages and 5 records a second, whatever the relay does, and never more than 128 unanswered. Both pairs live in one
process, so what the machine does to one it does to the other. How long a message takes is read off one clock, from the moment at which
it was due to the moment at which the other one has it; of a record until `stored`.
"""

import collections
import json
import random
import selectors
import struct
import time

from raw import Ended, Link, frame, publish, request, relay_client

ADDRESS = "203.0.113.5"
MESSAGES_PER_SECOND, RECORDS_PER_SECOND = 30, 5
UNANSWERED_MAX = 128
FORGIVEN_SECONDS = 0.5  # what this process itself is late: it makes up for no more
DRAIN_SECONDS = 60
STRANGE = {"lost", "gap", "reset", "removed", "notStored", "packetsDropped"}


class One:
    """One of a pair. What it learns stands in `report`, which the pair shares."""

    def __init__(self, port, name, key, seed, report):
        self.name, self.report = name, report
        self.link = Link(port, ADDRESS)
        self.link.login(name, random.Random(f"{seed}/{name}"), key)
        self.link.until("welcome")
        self.link.write(request("subscribe", 2, channel="pair", features=["messages"]))
        if self.link.until("answer", "error")[0] == "error":
            raise SystemExit(f"{name} cannot come in: {self.link.codes}")
        self.number, self.unanswered, self.unstored = 0, {}, {}
        self.due = {"message": 0.0, "record": 0.0}
        self.is_in = True

    def start(self, now, dice):
        self.due = {"message": now + dice.uniform(0, 1 / MESSAGES_PER_SECOND), "record": now + dice.uniform(0, 1 / RECORDS_PER_SECOND)}

    def send_due(self, now):
        for what, rate in (("message", MESSAGES_PER_SECOND), ("record", RECORDS_PER_SECOND)):
            while self.is_in and self.due[what] <= now and len(self.unanswered) < UNANSWERED_MAX:
                due = self.due[what]
                self.due[what] += 1 / rate
                if due < now - FORGIVEN_SECONDS and not self.unanswered:
                    self.report["skipped"] += 1
                else:
                    self.send(what, due)

    def send(self, what, due):
        self.number += 1
        payload = struct.pack(">dQ", due, self.number) + bytes(100)
        if what == "message":
            data = publish(self.number, "pair", payload)
        else:
            data = publish(self.number, "pair board", payload, key=f"{self.name} {self.number % 10}",
                           extra=relay_client.RETAIN)
            self.unstored[self.number] = due
            self.report["unstoredMax"] = max(self.report["unstoredMax"], len(self.unstored))
        self.unanswered[self.number] = what
        self.report["sent"] += what == "message"
        self._write(data)

    def _write(self, data):
        try:
            self.link.write(data)
        except OSError as problem:
            self.ended(str(problem))

    def read(self):
        try:
            for name, flags, body in self.link.read():
                self.take(name, flags, body)
        except (Ended, OSError) as problem:
            self.ended(self.link.closing or str(problem))

    def take(self, name, flags, body):
        now = time.monotonic()
        if name == "deliver":
            due = struct.unpack_from(">d", body, 24)[0]
            self.report["messages"].append((due, now - due))
        elif name == "accepted":
            self.unanswered.pop(int.from_bytes(body[:8], "big"), None)
        elif name == "stored":
            due = self.unstored.pop(int.from_bytes(body[:8], "big"), None)
            if due is not None:
                self.report["records"].append((due, now - due))
        elif name == "error":
            told = json.loads(body)
            self.report["refusals"][told["name"]] += 1
            what = self.unanswered.pop(told.get("number"), None)
            self.unstored.pop(told.get("number"), None)
            self.report["sent"] -= what == "message"
        elif name == "ping":
            self._write(frame("pong", body))
        elif name in STRANGE:
            self.report["strange"][name] += 1
            if name == "notStored":
                self.unstored.pop(json.loads(body)["number"], None)

    def ended(self, why):
        if self.is_in:
            self.is_in = False
            self.report["ended"].append(f"{self.name}: {why}")

    @property
    def is_waiting(self):
        return self.is_in and bool(self.unanswered or self.unstored)


def new_report():
    return {"sent": 0, "skipped": 0, "unstoredMax": 0, "messages": [], "records": [], "refusals": collections.Counter(),
            "strange": collections.Counter(), "ended": []}


def run(pipe, ports, key, seed):
    """A process: a pair on each port, until something comes through the pipe; then the reports go there."""
    dice, selector = random.Random(f"{seed}/canary"), selectors.DefaultSelector()
    reports, everybody = [new_report() for _ in ports], []
    for port, report in zip(ports, reports):
        everybody += [One(port, name, key, seed, report) for name in ("canary a", "canary b")]
    for one in everybody:
        selector.register(one.link.socket, selectors.EVENT_READ, one)
        one.start(time.monotonic(), dice)
    selector.register(pipe, selectors.EVENT_READ, None)
    pipe.send("in")
    end = None
    while end is None or (time.monotonic() < end and is_something_missing(reports, everybody)):
        now = time.monotonic()
        if end is None:
            for one in everybody:
                one.send_due(now)
        soonest = min((min(one.due.values()) for one in everybody if one.is_in), default=now + 1) if end is None else now + 0.1
        for entry, _ in selector.select(max(0.0005, min(0.1, soonest - time.monotonic()))):
            if entry.data is None:
                pipe.recv()
                selector.unregister(pipe)
                end = time.monotonic() + DRAIN_SECONDS
            else:
                entry.data.read()
                if not entry.data.is_in:
                    selector.unregister(entry.data.link.socket)
    for report in reports:
        report["missing"] = report["sent"] - len(report["messages"])
    pipe.send(reports)


def is_something_missing(reports, everybody):
    """Whether an answer or a message is still to come."""
    return any(one.is_waiting for one in everybody) or any(
        not report["ended"] and len(report["messages"]) < report["sent"] for report in reports)
