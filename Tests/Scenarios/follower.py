"""What the client in Python knows of the channels that it follows: positions, parts, boards. [HI2 BL3 BL8]"""

import hashlib

from peer.constants import RETAIN

MARK_BYTES = 16


def described(payload):
    return {"size": len(payload), "sha256": hashlib.sha256(payload).hexdigest(), "mark": payload[:MARK_BYTES].decode("ascii", "replace")}


class Channel:
    """A message channel. `tell` prints a line."""

    def __init__(self, name, since, tell, fault):
        self.name, self.since, self.tell, self.fault = name, since, tell, fault
        self.epoch, self.position = None, None
        self.state, self.is_reading = "outside", since == "beginning"
        self.told_missed = 0
        self.part = None  # of a record: [offset, bytes so far]
        self.forget_board()

    def forget_board(self):
        self.records, self.cleared_at, self.read_through, self.held = {}, 0, 0, []

    # -- where it stands -------------------------------------------------------------------------

    def request(self):
        """`since` of a `subscribe`."""
        if self.position is not None:
            since = {"epoch": self.epoch, "offset": self.position, **({"own": True} if self.is_reading else {})}
        else:
            since = {"beginning": True} if self.since == "beginning" else None
        return {"channel": self.name, "features": ["messages"], "since": since}

    def seen(self):
        """Its entry in `seen` of a resumption; None: it is not named."""
        if self.position is None:
            return [] if self.since == "beginning" else None
        offset = max(0, self.position - 1) if self.fault == "seen-off-by-one" else self.position
        return [offset, self.epoch["start"], self.epoch["incarnation"], *([1] if self.is_reading else [])]

    def stand(self, answer, is_restored):
        """The answer to `subscribe`, or `restored`."""
        if answer.get("reset"):
            self.reset()
        if answer.get("missed"):
            self.miss(answer["missed"]["from"], answer["missed"]["to"])
        if answer["epoch"] != self.epoch:
            self.part, self.told_missed = None, 0
        self.epoch = answer["epoch"]
        if "after" in answer and answer["after"] is not None:
            self.state, self.position = "catching up", answer["after"]
        else:
            if self.state == "catching up" and is_restored:
                self.come_to_end(answer["head"])
            self.state, self.position = "live", max(answer["head"], self.position or 0)

    def on_reset(self, fields):
        self.epoch = fields["epoch"]
        self.reset()
        self.state, self.position = "catching up", 0

    def reset(self):
        self.forget_board()
        self.part, self.told_missed, self.is_reading = None, 0, True
        self.tell("reset", channel=self.name)

    def miss(self, first, last):
        if last > self.told_missed:
            self.tell("missed", **{"channel": self.name, "from": max(first, self.told_missed + 1), "to": last})
            self.told_missed = last

    def on_catching_up(self):
        if self.state == "live":
            self.state = "behind"

    def on_caught_up(self, head):
        self.state, self.position, self.part = "live", max(head, self.position), None
        self.come_to_end(head)

    def come_to_end(self, head):
        """Own records that settled meanwhile count if they are above what was read. [BL3]"""
        if self.is_reading:
            self.is_reading, self.read_through = False, 0 if self.fault == "own-behind-reading" else head
            for change in self.held:
                self.put_own(*change)
            self.held = []

    # -- what comes ------------------------------------------------------------------------------

    def deliver(self, user, event):
        payload = event["payload"].encode() if isinstance(event["payload"], str) else bytes(event["payload"])
        offset, key, is_record = event["offset"], event["key"], bool(event.flags & RETAIN)
        if event["part"]:
            number, count = event["part"]
            if number == 1:
                self.part = [offset, b""]
            if self.part is None or self.part[0] != offset:
                return
            self.part[1] += payload
            if number < count:
                return
            payload, self.part = self.part[1], None
        self.position = offset
        epoch = [self.epoch["start"], self.epoch["incarnation"]]
        self.tell("message", channel=self.name, user=user, offset=offset, epoch=epoch, **({"key": key} if is_record else {}),
                  **described(payload))
        if is_record:
            self.put(key, offset, payload)

    def cleared(self, offset):
        self.position = offset
        if self.fault != "ignore-cleared":
            self.cleared_at = offset
            self.tell("cleared", channel=self.name, offset=offset)

    def own_accepted(self, offset):
        if self.state == "live" and offset > self.position:
            self.position = offset

    # -- its board -------------------------------------------------------------------------------

    def put(self, key, offset, payload):
        if offset > max(self.cleared_at, self.records.get(key, (0,))[0]):
            self.records[key] = (offset, hashlib.sha256(payload).hexdigest() if payload else None)

    def put_own(self, key, offset, payload):
        """Of one's own, stored."""
        if self.is_reading:
            self.held.append((key, offset, payload))
        elif offset > self.read_through:
            self.put(key, offset, payload)

    def board(self):
        return [{"key": key, "offset": offset, "sha256": digest} for key, (offset, digest) in sorted(self.records.items())
                if digest is not None and offset > self.cleared_at]
