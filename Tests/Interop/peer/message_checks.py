"""Checks of messages and boards."""

import time

from links import Violation
from peer.constants import CLOCK_TOLERANCE_MS, CODES, INTEGER_MAX, KEY, NUMBERS_REMEMBERED, PART, RETAIN
from peer.fields import must_be_name
from peer.memory import Span
from peer.shapes import must_have_shape


class MessageChecks:
    """Checks of messages and boards."""

    def on_accepted(self, event):
        """MS1, MS3, CH5."""
        pending = self.in_hand = self.publishes.pop(event["number"], None)
        if pending is None:
            raise Violation("MS3", f"{event} for no publish of ours")
        if pending in self.raw:
            self.raw.remove(pending)
        name, number, identity = pending.fields["channel"], event["number"], self.identity
        self.last_accepted = None
        self.check_held_up(pending, event)
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
        if name and not known and pending.fields.get("changes"):
            self.changes_accepted(name, number, event["offset"], pending.fields)
        elif name and not known:
            self.ledger.accepted(identity, name, event["offset"], dict(pending.fields, number=number))
        pending.reply.succeed(event["offset"])

    def changes_accepted(self, name, number, last, fields):
        """BL11: consecutive offsets, in the order given; `last` is that of the last change."""
        first = last - len(fields["changes"]) + 1
        self.identity.sets[number] = first
        for offset, change in enumerate(fields["changes"], first):
            key, payload, custom_type = [*change, *(b"", None)[len(change) - 1:]][:3]
            payload = payload if isinstance(payload, str) else bytes(payload)
            own = {"key": key, "payload": payload, "customType": custom_type, "part": None, "number": number}
            self.ledger.accepted(self.identity, name, offset, {**fields, **own})

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
            self.check_credit(publish, event)
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
        if event["code"] == 116 and above < NUMBERS_REMEMBERED and number > self.identity.forgotten:
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
        for offset in range(self.identity.sets.get(number, event["offset"]), event["offset"] + 1):
            self.ledger.stored(name, offset)

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
        if part and not 0 <= part[0] <= part[1] or part and part[1] < 2:
            raise Violation("BL8", f"part {part}")
        if part and part[0] == 0 and (event["payload"] or event["customType"] or event.flags != KEY | PART):
            raise Violation("BL8", f"the end of a drawing that is not whole: {event}, flags {event.flags:#04x}")

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
        return {channel.name: [channel.span.high if channel.catching_up or channel.span.drawing else self.offsets[channel.name],
                               self.epochs[channel.name]["start"], self.epochs[channel.name]["incarnation"],
                               *([1] if channel.span.fresh and channel.catching_up else [])]
                for channel in self.channels.values() if channel.kind == "message" and channel.span}

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
