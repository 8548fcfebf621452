"""frames: whole frames with hostile bodies, from sessions with either key and from links that have not logged in.

Requests of `docs/vectors/frames.tsv` are cut, stretched, flipped, mixed with each other and filled with numbers at the edge of what fits,
under lengths that hold. The relay is best one that was built with a sanitizer: `--binary .build-address/debug/boardrelay`.
"""

import collections
import contextlib
import itertools
import re
import selectors
import signal
import struct
import time

from raw import PATIENCE, Ended, Link, frame
from stage import KEYS, ask, told_codes
from daemon import ROOT

FRAMES, FRAMES_LONG = 40_000, 1_000_000
LINKS, TOGETHER = 40, 40
# Most frames are to reach their handlers, and sessions that end to be forgotten soon.
STAGE = {"options": ("--message-rate", "1000", "--metadata-rate", "200")}
PRESENCE_TIMEOUT = 5_000
NUMBERS = [b"0", b"-1", b"1", b"65536", b"4294967295", b"4294967296", b"9007199254740991", b"9007199254740992", b"18446744073709551616",
           b"1e400", b"-0", b"00"]
VALUES = [b"null", b"true", b'""', b'"x"', b"[]", b"{}", b"[[[[[[[[[]]]]]]]]]", b'"\\ud800"', b'"\\u0000"', b'"' + b"x" * 300 + b'"',
          b'"\xff"']
REPORT_LINES = 40
SESSION_ENDS = ("logout", "endSession", "banUser", "forgetUser")
ENDS_EVERY = 50  # a frame that may end sessions, in place of any other
HELD = ("connections", "sessionsPresent", "sessionsAway", "heldBytes", "unfinishedBytes", "queuedBytes", "pinnedBytes",
        "queueMemoryBytes", "sessionMemoryBytes", "stagedBytes")


class Hostile:
    """Bodies that a seed repeats."""

    def __init__(self, dice):
        self.dice = dice
        rows = [line.split("\t") for line in (ROOT / "docs/vectors/frames.tsv").read_text().splitlines() if not line.startswith("#")]
        sent = [(name, bytes.fromhex(digits)) for name, digits, _ in rows if int(digits[8:10], 16) < 0x80]
        self.rows = [data for name, data in sent if name.partition(".")[0] not in SESSION_ENDS]
        self.ends = [data for name, data in sent if name.partition(".")[0] in SESSION_ENDS]

    def frame(self):
        """A whole one."""
        dice = self.dice
        row = dice.choice(self.rows if dice.randrange(ENDS_EVERY) else self.ends)
        kind, flags, body = row[4], row[5], row[6:].replace(b"lesson", b"room %d" % dice.randrange(10))
        for _ in range(dice.randrange(4)):
            body = dice.choice((self.cut, self.flipped, self.stretched, self.renumbered, self.revalued, self.mixed))(body)
        luck = dice.randrange(40)
        if luck == 0:
            kind = dice.randrange(256)
        elif luck == 1:
            flags = dice.randrange(256)
        elif luck == 2:
            body = dice.randbytes(dice.choice((0, 1, 7, 80, 700)))
        elif luck == 3 and not dice.randrange(50):
            body += dice.randbytes(1) * dice.choice((16_384, 40_000, 81_920 - len(body)))
        return struct.pack(">IBB", len(body) + 2, kind, flags) + body

    def cut(self, body):
        return body[:self.dice.randrange(len(body) + 1)]

    def flipped(self, body):
        if not body:
            return body
        at = self.dice.randrange(len(body))
        return body[:at] + bytes([body[at] ^ 1 << self.dice.randrange(8)]) + body[at + 1:]

    def stretched(self, body):
        at = self.dice.randrange(len(body) + 1)
        return body[:at] + self.dice.choice((body[at:at + 9], b"\xff" * 4, b"\0" * 8, b'"', b"{", b",")) + body[at:]

    def renumbered(self, body):
        return self.replaced(body, rb"\b\d+\b", NUMBERS)

    def revalued(self, body):
        return self.replaced(body, rb'(?<=:)("[^"]*"|\d+|true|false|\[[^\]]*\])', VALUES)

    def replaced(self, body, pattern, values):
        places = list(re.finditer(pattern, body))
        if not places:
            return body
        place = self.dice.choice(places)
        return body[:place.start()] + self.dice.choice(values) + body[place.end():]

    def mixed(self, body):
        other = self.dice.choice(self.rows)[6:]
        return body[:self.dice.randrange(len(body) + 1)] + other[self.dice.randrange(len(other) + 1):]


class Sender:
    """One link at a time; when it ends, the next one."""

    def __init__(self, stage, hostile, selector):
        self.stage, self.hostile, self.selector = stage, hostile, selector
        self.codes, self.ends, self.read_by_relay, self.batch = collections.Counter(), collections.Counter(), 0, 0
        self.open()

    def open(self):
        dice = self.stage.dice
        self.link = Link(self.stage.relay.port, self.stage.address() if dice.randrange(2) else None)
        if dice.randrange(8):
            self.link.login(self.stage.name(), dice, KEYS[dice.choice(("join", "join", "host"))], presenceTimeoutMs=PRESENCE_TIMEOUT)
        self.selector.register(self.link.socket, selectors.EVENT_READ, self)
        self.send()

    def send(self):
        """So many frames, and a ping that tells when the relay has read them."""
        self.batch += 1
        self.token = struct.pack(">Q", self.batch)
        self.since = time.monotonic()
        with contextlib.suppress(OSError):  # it is read from all the same, and ends there
            self.link.write(*(self.hostile.frame() for _ in range(TOGETHER)), frame("ping", self.token))

    def read(self):
        try:
            for name, _, body in self.link.read():
                if name == "pong" and body == self.token:
                    self.read_by_relay += TOGETHER
                    self.send()
        except (Ended, OSError) as problem:
            self.ends[self.link.closing or str(problem) or type(problem).__name__] += 1
            self.close()
            self.open()

    def close(self):
        self.codes += self.link.codes
        self.selector.unregister(self.link.socket)
        self.link.close()


def attack(stage):
    selector, hostile = selectors.DefaultSelector(), Hostile(stage.dice)
    wanted, began = FRAMES_LONG if stage.is_long else FRAMES, time.monotonic()
    senders = []
    try:
        with stage.window():
            senders += [Sender(stage, hostile, selector) for _ in range(LINKS)]
            while (sent := sum(sender.read_by_relay for sender in senders)) < wanted and (ready := selector.select(PATIENCE)):
                for entry, _ in ready:
                    entry.data.read()
    finally:
        if stage.relay.process.poll() is not None:
            judge_log(stage)
    stage.figures["hostile frames that the relay read, a second"] = int(sent / (time.monotonic() - began))
    stage.at_least("hostile frames that the relay read", sent, wanted)
    for sender in senders:
        sender.close()
    told_codes(stage, [sender.codes for sender in senders])
    ends = sum((sender.ends for sender in senders), collections.Counter())
    stage.figures["links that ended"] = ", ".join(f"{why} {times:,}" for why, times in sorted(ends.items())) or 0


def after(stage):
    """What was held for them is given back, and nothing was wrong inside."""
    deadline = time.monotonic() + PATIENCE
    while any((census := ask(stage.relay, "status")["census"])[name] for name in HELD) and time.monotonic() < deadline:
        time.sleep(0.5)
    for name in HELD:
        stage.exactly(f"{name} without anybody", census[name], 0)
    stage.exactly("exit code of the relay after SIGINT", stage.relay.stop(signal.SIGINT), 0)
    judge_log(stage)


def judge_log(stage):
    """What a sanitizer or the program said of a fault, from its first line on."""
    lines = list(itertools.dropwhile(lambda line: "Sanitizer" not in line and "Fatal error" not in line, stage.relay.log))
    stage.exactly("\n".join(["lines of the relay on a fault", *lines[:REPORT_LINES]]), len(lines), 0)
