"""Checks of flows and packets."""

from links import Violation
from peer.constants import RANGES_MAX
from peer.memory import Flow
from peer.shapes import must_have_shape


class StreamChecks:
    """Checks of flows and packets."""

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
        if event["reason"] not in (1, 2, 3, 4) or not 1 <= len(event["ranges"]) <= RANGES_MAX:
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
