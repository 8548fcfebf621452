"""Relays whose disk fails or is full of work."""

from bounds import NARROW_SESSIONS
from context import check, outcomes
from http_checks import need
from relay_client import Client, Ended, RETAIN
from steps import caught_up, patiently


# The first change on this relay: it is what finds the folder gone.
@check("[BL2 BL4] a record that cannot be stored is notStored; who was shown it gets reset; its number was passed over", relay="broken")
def not_stored(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("c")
    b.request("subscribe", channel=name)
    number = a.identity.next_number()
    a.publish(name, b"x", number=number, key="k", extra=RETAIN).wait()
    event = a.wait_for("notStored", lambda e: e["number"] == number)
    need(event["name"] == "storageFailed", f"{event}")
    reset = b.wait_for("reset")
    caught_up(b, reset.index)
    need(not b.since(reset.index, "deliver"), "something is there")
    ctx.refused(("notAccepted", "storageFailed"), a.publish(name, b"x", number=number, key="k", extra=RETAIN), number=...)
    ctx.refused("storageFailed", a.publish(name, b"y", key="k", extra=RETAIN), number=...)
    a.publish(name, "messages go on").wait()
    b.wait_for("deliver", lambda e: e["payload"] == "messages go on")


@check("[SG2] what cannot be stored is storageFailed and not shown; reading and messages go on", relay="broken")
def storage_failed(ctx):
    client, reader, channel = ctx.client(), ctx.client(), ctx.name("c")
    owner = {"kind": "message", "channel": channel}
    reader.request("subscribe", channel=channel, features=["messages", "metadata", "locks"])
    for _ in range(2):
        ctx.refused("storageFailed", lambda: client.texts("setMetadata", [("a", "lost")], **owner), id=...)
        ctx.refused("storageFailed", lambda: client.request("setLock", lock="pen", **owner), id=...)
    need(client.all_metadata(**owner) == (0, {}), "a set that was refused is there")
    need(client.request("getLocks", **owner)["locks"] == [], "a lock that was refused is there")
    client.publish(channel, "still here").wait()
    reader.wait_for("deliver")
    told = [event["event"] for event in reader.since(0, "metadata", "locks")]
    need(told == ["snapshot", "snapshot"], f"{told}")


class Joiner(Client):
    """Sends what is `held` as one segment."""

    held = None

    def _write(self, data):
        if self.held is None:
            super()._write(data)
        else:
            self.held += data

    def let_go(self):
        """All of it, now."""
        data, self.held = self.held, None
        with self.sending:
            self._write(data)


@check("[SG3] more changes than may wait are busy, with limit, size and when to come again", relay="narrow")
def busy(ctx):
    client, owner = ctx.client(kind=Joiner), {"user": ctx.name("u")}
    # What comes together is read before the first of it can be stored.
    client.held = b""
    replies = [client.start_texts("setMetadata", [(key, "x")], **owner) for key in ("a", "b")]
    client.let_go()
    need(outcomes(replies) == ["ok", "busy"], f"{outcomes(replies)}")
    fields = ctx.refused("busy", replies[1], id=..., limit=1, actual=..., retryAfterMs=...)
    need(fields["actual"] > 1 and fields["retryAfterMs"] > 0, f"{fields}")
    need(client.texts("setMetadata", [("c", "x")], **owner) == 2, "it does not work again")
    need(client.all_metadata(**owner) == (2, {"a": "x", "c": "x"}), "what was busy is there")


@check("[SE5] one session more than a relay holds is tooManySessions; who has one takes it up", relay="narrow")
def too_many_sessions(ctx):
    ctx.limit("sessions per relay")
    inside = []
    while True:
        client = ctx.connect()
        try:
            client.login()
        except Ended:
            ctx.closed(client, "tooManySessions")
            break
        inside.append(client)
        need(len(inside) <= NARROW_SESSIONS, "all came in")
    need(inside, "nobody came in")
    ctx.client(identity=inside[0].identity).logout()
    patiently(ctx.client)
