"""Checks of requests and their answers, of metadata and locks."""

import re

from links import Violation
from peer.constants import BOARD_CHANGES, CHANGES, ERASURES, STATUS_ADDRESSES_MAX
from peer.memory import Metadata
from peer.shapes import LOCK_EVENTS, must_be_sorted, must_have_shape


class RequestChecks:
    """Checks of requests and their answers, of metadata and locks."""

    def next_request(self, event, what):
        """JS5: answers come in the order of the requests, but for what `may_be_overtaken`."""
        request = next((r for r in self.requests if r.id == event.get("id")), None)
        if request is None:
            raise Violation("JS5", f"{what} without a request: {event}")
        for earlier in self.requests:
            if earlier is request:
                break
            if not self.may_be_overtaken(earlier, request, what):
                rule = "SG1" if earlier.kind in CHANGES else "JS5"
                raise Violation(rule, f"{what} for {event.get('id')}, the next one is {earlier.id}")
        self.requests.remove(request)
        self.in_hand = request
        if request in self.raw:
            self.raw.remove(request)
        return request

    @staticmethod
    def may_be_overtaken(earlier, later, what):
        """A wait ends when it ends (LK4, HI8); a change is answered when it is durable, and refused at once
        if it is, but no change is answered before an earlier one (SG1)."""
        if earlier.kind == "renew" or earlier.kind == "login" and what == "error":  # AC2: a wrong one is answered late
            return True
        if earlier.kind == "barrier" or earlier.kind == "acquireLock" and (earlier.fields or {}).get("waitMs"):
            return True
        if earlier.kind in BOARD_CHANGES or earlier.kind in ERASURES:
            return True
        return earlier.kind in CHANGES and (what == "error" or later.kind not in CHANGES)

    def forget(self, pending):
        """Takes what was answered without a reference out of the other lists."""
        if pending in self.requests:
            self.requests.remove(pending)
        self.publishes.pop(pending.number, None)
        self.directs.pop(pending.number, None)
        return pending

    def on_answer(self, event):
        """JS5 and the rules of each request."""
        request = self.next_request(event, "answer")
        for channel in self.channels.values():
            self.must_be_complete(channel)
        if request.kind == "login":
            raise Violation("SE6", "login answered by answer")
        must_have_shape("answer " + request.kind, event.fields)
        getattr(self, "answer_" + request.kind)(event, request.fields or {})
        request.reply.succeed(event.fields)

    def answer_plain(self, event, asked):
        """Answers that say nothing more than that it is done."""

    answer_setMetadata = answer_updateMetadata = answer_removeMetadata = answer_plain
    answer_setLock = answer_releaseLock = answer_revokeLock = answer_removeLock = answer_plain
    answer_setRole = answer_setMode = answer_endSession = answer_plain
    answer_banUser = answer_unbanUser = answer_forgetUser = answer_removeRecords = answer_endChannel = answer_plain
    answer_undoClear = answer_removeBoard = answer_cancel = answer_setReaderLimits = answer_plain

    def answer_withdrawJoinCode(self, event, asked):
        """AC20: there is none any more."""
        self.has_join_code = False

    def answer_offerJoinCode(self, event, asked):
        """AC20: letters that are no word."""
        if not re.fullmatch("[BCDFGHJKMNPQRSTVWXYZ]{6}", event["code"]) or not 0 < event["validMs"] <= 1_800_000:
            raise Violation("AC20", f"{event}")
        self.has_join_code = True

    def answer_offerDevice(self, event, asked):
        """AC17: of letters that cannot be mistaken, and not good for long."""
        if not re.fullmatch("[0-9A-HJKMNP-TV-Z]{10}", event["code"]) or not 0 < event["validMs"] <= 120_000:
            raise Violation("AC17", f"{event}")

    def answer_barrier(self, event, asked):
        """HI8: behind `caughtUp` of what caught up when it was asked."""
        late = [c.name for c in self.channels.values() if c.name in self.in_hand.behind_caught_up and c.is_catching_up]
        if late:
            raise Violation("HI8", f"{asked} answered, and {late} still catch up")

    @staticmethod
    def answer_getBans(event, asked):
        """AC13: in order of user ids, behind `after`."""
        for ban in event["bans"]:
            must_have_shape("ban", ban)
        users = [ban["user"] for ban in event["bans"]]
        must_be_sorted(users, "getBans")
        if users and users[0] <= (asked.get("after") or ""):
            raise Violation("AC13", f"not behind {asked['after']}: {users}")
        if event.get("next") is not None and (not users or event["next"] != users[-1]):
            raise Violation("AC13", f"next is not the last one: {event}")

    def answer_status(self, event, asked):
        """AC16: what is counted never shrinks; users in order of their ids, behind `after`."""
        for part in ("sessions", "channels", "counters"):
            must_have_shape("status " + part, event[part])
        for address in event["addresses"]:
            must_have_shape("status address", address)
        held = [address["memoryBytes"] for address in event["addresses"]]
        if held != sorted(held, reverse=True) or len(held) > (0 if asked.get("after") else STATUS_ADDRESSES_MAX):
            raise Violation("AC16", f"addresses are the ten that hold most, where users begin: {held}")
        for user in event["users"]:
            must_have_shape("status user", user)
            is_served = user["peer"] or user["queuedBytes"] or user["backlogMs"]
            if user["away"] and is_served or user["queuedPacketBytes"] > user["queuedBytes"]:
                raise Violation("AC16", f"this cannot be: {user}")
        for sample in event.get("hour") or []:
            must_have_shape("status sample", sample)
        if (event.get("hour") is not None) != bool(asked.get("hour")) or len(event.get("hour") or []) > 60:
            raise Violation("AC16", f"the last hour is told to who asks for it, in 60 samples at most: {asked}: {event.fields}")
        users = [user["user"] for user in event["users"]]
        if users and asked.get("hour"):
            raise Violation("AC16", f"users beside the last hour: {users}")
        if users != sorted(users):
            raise Violation("AC16", f"not in order: {users}")
        if users and users[0] <= (asked.get("after") or "") or len(set(users)) > (asked.get("limit") or 100):
            raise Violation("AC16", f"not the page that was asked for: {asked}: {users}")
        if event.get("next") is not None and (not users or event["next"] != users[-1]):
            raise Violation("AC16", f"next is not the last one: {event.fields}")
        if (event.get("known") is None) != (asked.get("user") is None) or asked.get("user") in users and not event["known"]:
            raise Violation("AC16", f"known is told of the user that was asked about, and of no other: {asked}: {event.fields}")
        if any(user["sessionMs"] > event["uptimeMs"] for user in event["users"]):
            raise Violation("AC16", f"here for longer than the relay: {event.fields}")
        now = dict(event["counters"], uptimeMs=event["uptimeMs"])
        if any(now[name] < value for name, value in self.last_status.items()):
            raise Violation("AC16", f"counters shrink: {self.last_status}, {now}")
        self.last_status = now

    def answer_subscribeUserMetadata(self, event, asked):
        """MD8: a snapshot follows."""
        self.users_metadata[asked["user"]] = Metadata()

    def answer_unsubscribeUserMetadata(self, event, asked):
        """MD8."""
        self.users_metadata.pop(asked["user"], None)

    def answer_acquireLock(self, event, asked):
        """LK3: greater than every earlier one that this client knows of."""
        self.must_grow(event["fencing"], event)

    @staticmethod
    def answer_getLocks(event, _):
        """LK9."""
        for lock in event["locks"]:
            must_have_shape("lock", lock)
        must_be_sorted([lock["lock"] for lock in event["locks"]], "getLocks")

    def must_grow(self, fencing, event):
        """LK3; the answer and the event tell the same acquisition."""
        if fencing < self.fencing:
            raise Violation("LK3", f"fencing {fencing} after {self.fencing}: {event}")
        self.fencing = fencing

    def on_metadataPage(self, event):
        """MD9."""
        request = self.next_request(event, "metadataPage")
        if request.kind != "getMetadata":
            raise Violation("MD9", f"{event} answers {request.kind}")
        keys = [item["key"] for item in event["items"]]
        must_be_sorted(keys, "metadataPage")
        if keys and request.fields.get("after") and keys[0] <= request.fields["after"]:
            raise Violation("MD9", f"{keys[0]} is not behind {request.fields['after']}")
        request.reply.succeed(event.fields)

    def on_metadata(self, event):
        """MD7, MD8."""
        if (event.get("channel") is None) == (event.get("user") is None):
            raise Violation("MD7", f"neither of a channel nor of a user: {event}")
        if event["event"] not in ("snapshot", "changed"):
            return self.odd("FR6", f"unknown event: {event}")
        if event.get("user") is not None:
            if event["user"] not in self.users_metadata:
                raise Violation("MD8", f"nobody subscribed to it: {event}")
            return self.users_metadata[event["user"]].take(event)
        channel = self.channel(event["channel"], None, "CH9")
        if "metadata" not in channel.features:
            raise Violation("MD7", f"{event} without the feature metadata")
        if (event["event"] == "snapshot") != (channel.metadata_wanted or channel.metadata.going_on is not None):
            raise Violation("MD7", f"the snapshot comes once and first: {event}")
        channel.metadata_wanted = False
        return channel.metadata.take(event)

    def on_locks(self, event):
        """LK8."""
        channel = self.channel(event["channel"], None, "CH9")
        if "locks" not in channel.features:
            raise Violation("LK8", f"{event} without the feature locks")
        kind = event["event"]
        if kind not in LOCK_EVENTS:
            return self.odd("FR6", f"unknown event: {event}")
        for lock in event["locks"]:
            must_have_shape("lock", lock)
            if (lock.get("owner") is None) != (lock.get("fencing") is None):
                raise Violation("LK8", f"owner and fencing go together: {event}")
        if (kind == "snapshot") != channel.locks_wanted or (kind != "snapshot" and len(event["locks"]) != 1):
            raise Violation("LK8", f"the snapshot comes once and first, the rest one by one: {event}")
        if kind == "snapshot":
            channel.locks_wanted = False
            must_be_sorted([lock["lock"] for lock in event["locks"]], "locks")
            channel.locks = {lock["lock"]: lock for lock in event["locks"]}
            return None
        lock = event["locks"][0]
        before = channel.locks.get(lock["lock"])
        if (before is None) != (kind == "set") and not (kind == "set" and before):
            raise Violation("LK8", f"{kind} of {before}: {event}")
        if kind == "acquired":
            if before.get("owner") not in (None, lock["owner"]):
                raise Violation("LK3", f"acquired from under {before['owner']}: {event}")
            self.must_grow(lock["fencing"], event)
        if kind in ("released", "revoked", "expired") and (lock.get("owner") or before.get("owner") != event.get("user")):
            raise Violation("LK8", f"{kind} of {before}: {event}")
        if kind == "removed":
            del channel.locks[lock["lock"]]
        else:
            channel.locks[lock["lock"]] = lock
        return None

    answer_logout = answer_setStates = answer_removeStates = answer_getStates = answer_plain
