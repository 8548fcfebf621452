"""Checks of presence."""

from links import Violation
from peer.constants import MEMBERS_MAX, SNAPSHOT_BYTES
from peer.shapes import SHAPES, must_be_sorted, must_have_shape


class PresenceChecks:
    """Checks of presence."""

    def on_presence(self, event):
        """PR1, PR2."""
        channel = self.channel(event["channel"], None, "CH9")
        if "presence" not in channel.features:
            raise Violation("PR1", f"{event} without the feature presence")
        kind = event["event"]
        if "presence " + kind not in SHAPES:
            return self.odd("FR6", f"unknown event: {event}")
        must_have_shape("presence " + kind, event.fields)
        if (kind == "snapshot") != channel.snapshot_wanted:
            raise Violation("PR3", f"the snapshot comes once and first: {event}")
        if kind in ("join", "leave", "timeout") and event["user"] == self.identity.user:
            raise Violation("PR5", f"told to the user it speaks of: {event}")
        return getattr(self, "presence_" + kind)(channel, event)

    def presence_snapshot(self, channel, event):
        """PR3."""
        channel.snapshot_wanted = False
        for member in event["members"]:
            must_have_shape("member", member)
        users = [member["user"] for member in event["members"]]
        must_be_sorted(users, "snapshot")
        if len(users) > MEMBERS_MAX or event.size > SNAPSHOT_BYTES + 512 or event["total"] < len(users):
            raise Violation("PR3", f"{len(users)} of {event['total']} members in {event.size} bytes")
        complete = event["total"] == len(users)
        if (self.identity.user in users) == channel.quiet and (complete or channel.quiet):
            raise Violation("PR3", f"quiet is {channel.quiet}, members {users}")
        channel.members = {m["user"]: m["states"] for m in event["members"]} if complete else None
        channel.loose = channel.loose or event["total"] > 40

    @staticmethod
    def presence_join(channel, event):
        """PR5."""
        if channel.members is not None:
            if event["user"] in channel.members and not channel.loose:
                raise Violation("PR5", f"joined twice: {event}")
            channel.members[event["user"]] = event["states"]

    @staticmethod
    def presence_leave(channel, event):
        """PR5: each stay ends once."""
        if channel.members is not None:
            if event["user"] not in channel.members and not channel.loose:
                raise Violation("PR5", f"the stay had ended or never begun: {event}")
            channel.members.pop(event["user"], None)

    presence_timeout = presence_leave

    @staticmethod
    def presence_stateChanged(channel, event):
        """PR5, PR8: what changes nothing is not told."""
        if channel.members is None or channel.loose:
            return
        if event["user"] not in channel.members:
            raise Violation("PR5", f"states of nobody: {event}")
        before = channel.members[event["user"]]
        after = {**before, **event["states"]}
        for key in event.get("removed") or ():
            after.pop(key, None)
        if after == before:
            raise Violation("PR8", f"nothing changed: {event}")
        channel.members[event["user"]] = after

    @staticmethod
    def presence_interval(channel, event):
        """PR6: lists are absent when empty."""
        channel.loose = True
        lists = [event.get(key) for key in ("joined", "changed", "left", "timedOut")]
        if any(value == [] for value in lists) or not any(lists):
            raise Violation("PR6", f"an empty list: {event}")
        for member in (event.get("joined") or []) + (event.get("changed") or []):
            must_have_shape("member", member)
            if channel.members is not None:
                channel.members[member["user"]] = member["states"]
        for user in (event.get("left") or []) + (event.get("timedOut") or []):
            if channel.members is not None:
                channel.members.pop(user, None)
