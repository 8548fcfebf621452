"""What the checker remembers of a session."""

import threading

from links import Violation
from peer.constants import INTEGER_MAX


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
        # may be made to catch up: with a large record, with what came back (BL6, BL8), or with what was removed (AC14, AC18).
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
        """The relay has removed a record at a moderator's word (AC14, AC18)."""
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
                if fields.get("retain"):
                    continue
                if low <= offset <= high and not fields.get("noHistory"):
                    raise Violation("HI6", f"{offset} is not in the page {low}…{high} of {asked}: {sorted(came)}")
            elif fields.get("retain"):
                raise Violation("HI6", f"{offset} is a record: {item}")
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
        self.span, self.catching_up, self.was_catching_up, self.behind = None, False, False, False
        self.refresh(fields)

    @property
    def is_catching_up(self):
        """HI2, HI7."""
        return self.catching_up or self.behind

    def refresh(self, fields):
        """A new answer to `subscribe` or `join`, or `restored`."""
        self.features, self.quiet = set(fields["features"]), fields["quiet"]
        self.modes = set(fields.get("modes") or ())
        self.snapshot_wanted = "presence" in self.features
        self.metadata_wanted, self.locks_wanted = "metadata" in self.features, "locks" in self.features
        self.metadata, self.locks, self.metadata_more = Metadata(), {}, False
        self.members = None
