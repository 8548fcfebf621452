"""Checks of channels: coming in, catching up, topics, leaving."""

import time

from links import Violation
from peer.constants import (
    CLOCK_TOLERANCE_MS, CODES, HISTORY_BYTES_MAX, HISTORY_ITEMS_MAX, INTEGER_MAX, MEMBERS_MAX)
from peer.fields import must_be_name
from peer.memory import Channel, OwnFlow, Selection, Span
from peer.shapes import must_be_sorted, must_have_shape


class ChannelChecks:
    """Checks of channels: coming in, catching up, topics, leaving."""

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
            channel.span = Span(channel.name, fields.get("after") or 0, fields["head"], fresh,
                                getattr(self.in_hand, "durable", frozenset()))
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

    def on_catchingUp(self, event):
        """HI7: one that was live is not any more."""
        channel = self.channel(event["channel"], "message", "CH9")
        if not channel.span or channel.is_catching_up:
            raise Violation("HI7", f"{event}, and it is not live")
        channel.behind = True
        channel.span.caught_up_at = INTEGER_MAX  # until `caughtUp` says where

    def on_caughtUp(self, event):
        """HI2: from here on it is live."""
        channel = self.catching_up(event)
        if event["head"] < max(channel.span.high, self.offsets.get(channel.name, 0)):
            raise Violation("HI2", f"{event}, but {self.offsets.get(channel.name, 0)} is known")
        channel.span.high = self.offsets[channel.name] = channel.span.caught_up_at = event["head"]
        channel.catching_up = channel.behind = False
        for request in self.requests:
            request.behind_caught_up.discard(channel.name)

    def catching_up(self, event):
        """The channel of a frame that only comes while one catches up, behind the snapshots (HI2)."""
        channel = self.channel(event["channel"], "message", "CH9")
        if not channel.is_catching_up:
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
