"""Checks of a session: login, resumption, its end, pings."""

import re

from links import Violation
from peer.constants import CODES, INTEGER_MAX, LIMIT_FIELDS
from peer.errors import RelayError
from peer.shapes import ACCESS_NOTICE_MS, is_int, must_be_access, must_have_shape


class SessionChecks:
    """Checks of a session: login, resumption, its end, pings."""

    def on_welcome(self, event):
        """SE6, SE9, HB2."""
        request = self.next_request(event, "welcome")
        if self.welcome or request.kind != "login":
            raise Violation("SE6", f"unexpected {event}")
        fields = event.fields
        asked = request.fields
        self.seen = (asked.get("resume") or {}).get("seen") or {}
        wanted = asked.get("presenceTimeoutMs") or 10_000
        if fields["version"] != 1 or fields["user"] != (asked.get("user") or self.identity.user):
            raise Violation("SE6", f"welcome of another: {event}")
        if "secret" in fields and (fields["secret"] != self.identity.secret or not asked.get("code")):
            raise Violation("AC17", f"a secret that is not the user's, or that nobody asked for: {event}")
        if set(fields["capabilities"]) - set(asked.get("capabilities") or []):
            raise Violation("SE3", f"asked for {asked.get('capabilities')}: {event}")
        if not re.fullmatch("[0-9a-f]{32}", fields["relay"]):
            raise Violation("SE6", f"no public id: {event}")
        if self.previous and fields["resumed"] and self.previous.welcome["relay"] != fields["relay"]:
            raise Violation("SE6", f"another relay resumes: {event}")
        if fields["presenceTimeoutMs"] != wanted or fields["heartbeatMs"] != min(5_000, wanted // 2):
            raise Violation("HB2", f"asked for {wanted}: {event}")
        for key in LIMIT_FIELDS:
            if not is_int(fields["limits"].get(key), INTEGER_MAX):
                raise Violation("SE6", f"limits without {key}")
        if fields.get("lastEnd") is not None:
            must_have_shape("lastEnd", fields["lastEnd"])
        self.check_memory(fields, asked.get("lastNumber") or 0)
        must_be_access(fields["access"])
        self.welcome, self.handle, self.access = fields, fields["handle"], fields["access"]
        self.begin_credit(fields)
        self.check_resumption(fields, asked)
        request.reply.succeed(fields)

    def check_memory(self, fields, sent):
        """MS9: what the relay remembers of the instance; `forgotten` is told to who has sent something."""
        accepted, remembered = max(self.identity.accepted, default=0), fields["lastNumber"]
        if remembered > sent:
            raise Violation("MS9", f"number {remembered} of this instance was accepted, and {sent} was its last")
        if "forgotten" in fields:
            if not fields["forgotten"] or not sent:
                raise Violation("MS9", f"forgotten, and the last number was {sent}")
            self.identity.forgotten = max(self.identity.forgotten, sent)
        elif remembered < accepted:
            raise Violation("MS9", f"{accepted} was accepted, {remembered} is remembered, and nothing is said to be forgotten")

    def check_resumption(self, fields, asked):
        """SE9, SE10: only who asked resumes, and the token is a new one."""
        token = (asked.get("resume") or {}).get("token")
        if not fields["resumed"]:
            self.offsets, self.epochs, self.names = {}, {}, {}
            return
        if token is None:
            raise Violation("SE9", "resumed without having asked")
        if fields["resumeToken"] == token:
            raise Violation("SE9", "resumed without a new resumeToken")
        self.restoring = True
        if self.previous:
            self.own_flows = dict(self.previous.own_flows)
            self.earlier_directs = set(self.previous.directs) | self.previous.earlier_directs

    def on_restored(self, event):
        """SE9: after a resuming welcome, per channel in order of name."""
        if not self.restoring:
            raise Violation("SE9", f"{event} is not directly after a resuming welcome")
        if self.last_restored:
            self.must_be_complete(self.last_restored)
            if event["channel"] < self.last_restored.name:
                raise Violation("SE9", f"restored {event['channel']} after {self.last_restored.name}")
        seen = self.seen.get(event["channel"]) if event["kind"] == "message" else None
        since = None
        if seen == []:
            since = {"beginning": True}
        elif seen is not None:
            epoch = {"start": seen[1], "incarnation": seen[2]}
            since = {"epoch": epoch, "offset": seen[0], "own": seen[3:] == [1]}
            if epoch == event["epoch"] and seen[0] >= event["head"]:
                since = None
        channel = self.enter(event.fields, event, since)
        self.check_since(event, since)
        self.last_restored = channel
        before = self.previous and self.previous.find(channel.kind, channel.name)
        if self.previous and not before:
            raise Violation("SE9", f"{channel.name} restored, but the session was not in it")
        if before:
            channel.selections = before.selections

    def end_of_restoring(self, event):
        """The first frame that cannot belong to a resumption ends it."""
        self.restoring = False
        if self.last_restored:
            self.must_be_complete(self.last_restored)
        if not self.previous or event.name == "closing":
            return
        was = {(c.kind, c.name) for c in self.previous.channels.values()}
        now = {(c.kind, c.name) for c in self.channels.values()}
        if was != now:
            raise Violation("SE9", f"restored {sorted(now)} instead of {sorted(was)}")

    @staticmethod
    def must_be_complete(channel):
        """CH4, SE9: the snapshots of a channel follow its answer or `restored`, before the next one."""
        if channel.snapshot_wanted or channel.metadata_wanted or channel.locks_wanted or (
                channel.kind == "stream" and channel.topics_state in ("wanted", "more")):
            raise Violation("CH4", f"the snapshots did not follow the entry into {channel.kind} {channel.name}")

    def on_closing(self, event):
        """ER2, ER3."""
        self.must_be_code(event, "ER3", 200, 399)
        self.closed = True

    def on_error(self, event):
        """ER1, JS5: finds what was refused."""
        self.must_be_code(event, "ER3", 100, 199)
        if event["retry"] not in ("now", "later", "reconnect", "never"):
            raise Violation("ER5", f"{event}")
        keys = [key for key in ("id", "number", "flow") if event.get(key) is not None]
        if len(keys) > 1:
            raise Violation("ER1", f"error answers {keys}: {event}")
        problem = RelayError(event.fields)
        if "id" in keys:
            self.next_request(event, "error").reply.fail(problem)
        elif "number" in keys:
            self.refused_number(event, problem)
        elif self.raw and self.raw[0].matches(event):
            self.forget(self.raw.popleft()).reply.fail(problem)
        elif keys and event["flow"] not in self.own_flows and event["code"] != 111:
            raise Violation("ER1", f"an error for a flow that is not ours: {event}")
        elif keys and event["name"] == "notPermitted":  # AC7: it is closed
            self.ended_flows[event["flow"]] = self.own_flows.pop(event["flow"])

    def answer_renew(self, event, _):
        """AC8: the new access."""
        must_be_access(event["access"])
        self.access = event["access"]

    def on_accessChanged(self, event):
        """AC10: what there is from here on, told as AC4 has it."""
        access = {key: event[key] for key in ("role", "grants", "untilMs") if event.get(key) is not None}
        must_be_access(access)
        if ("untilMs" in access) != (self.access.get("untilMs") is not None):
            raise Violation("AC10", f"{event}: the end is that of the credential: {self.access}")
        self.access = access

    def on_modeChanged(self, event):
        """AC11: of a channel that one is in, and only what is news."""
        channel = self.channel(event["channel"], None, "AC11")
        if (event["mode"] in channel.modes) == event["on"]:
            raise Violation("AC11", f"{channel.name} was so already: {event}")
        channel.modes ^= {event["mode"]}

    def on_joinCodeEnded(self, event):
        """AC20: of a code that there is."""
        if not self.has_join_code:
            raise Violation("AC20", f"{event} without a code")
        self.has_join_code = False

    def on_accessExpiring(self, event):
        """AC8: not before its time, and only to who has an end."""
        if event["inMs"] > ACCESS_NOTICE_MS or self.access.get("untilMs") is None:
            raise Violation("AC8", f"{event} with {self.access}")

    def on_removed(self, event):
        """AC7: out of the channel."""
        self.must_be_code(event, "ER3", 100, 199)
        channel = self.channel(event["channel"], None, "AC7")
        self.exit(channel.kind, channel.name)
        if channel.kind == "stream":
            self.end_own_flows(channel.name)

    def must_be_code(self, event, rule, low, high):
        """Number and name belong together; unknown numbers are ignored (FR6)."""
        code = event["code"]
        if not low <= code <= high:
            raise Violation(rule, f"code {code} in {event.name}")
        if code not in CODES:
            self.odd("FR6", f"unknown code in {event}")
        elif CODES[code] != event["name"]:
            raise Violation("ER4", f"{code} is {CODES[code]}, not {event['name']}")

    def on_ping(self, event):
        """HB1."""
        if len(event["bytes"]) > 8:
            raise Violation("HB1", f"a ping of {len(event['bytes'])} bytes")

    def on_pong(self, event):
        """HB1: the same bytes, in the order of the pings."""
        if not self.pings or self.pings[0].fields != event["bytes"]:
            raise Violation("HB1", f"{event} answers no ping")
        self.pings.popleft().reply.succeed(event)
