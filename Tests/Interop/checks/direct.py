"""Direct messages."""

import struct
import time

from bounds import EARLY
from context import at_once, check, outcomes
from http_checks import need
from steps import wait_offline


@check("[DM1 DM2 DM3] a direct message arrives as sent and is confirmed when its receiver has it")
def direct(ctx):
    a, b = ctx.client(), ctx.client(auto_received=False)
    reply = a.direct(b.identity.user, "hello ü", custom_type="t")
    event = b.wait_for("directDeliver")
    want = {"sender": a.identity.user, "payload": "hello ü", "customType": "t"}
    need({k: event[k] for k in want} == want, f"{event}")
    a.sync()
    need(not reply.done.is_set(), "confirmed before directReceived")
    b.confirm(event)
    reply.wait()
    b.confirm(event)
    b.send("directReceived", struct.pack(">Q", 2**60))
    b.sync()
    most = ctx.limit("message payload + custom type")
    a.direct(a.identity.user, bytes(most)).wait()
    ctx.refused("tooLarge", a.direct(a.identity.user, bytes(most + 1)), number=..., limit=most, actual=most + 1)
    need([len(e["payload"]) for e in a.since(0, "directDeliver")] == [most], "to oneself")


@check("[DM3] direct to a stranger and to one who is away is userOffline at once")
def user_offline(ctx):
    a, b = ctx.client(), ctx.client()
    ctx.refused("userOffline", a.direct(ctx.name("stranger"), b""), number=...)
    b.drop()
    wait_offline(a, b.identity.user)
    ctx.refused("userOffline", a.direct(b.identity.user, b""), number=...)
    back = ctx.resume(b)
    a.direct(back.identity.user, b"").wait()


@check("[DM4] no directReceived for 10 s is unconfirmed", slow=True)
def unconfirmed(ctx):
    a, b = ctx.client(), ctx.client(auto_received=False)
    begin = time.monotonic()
    reply = a.direct(b.identity.user, b"")
    b.wait_for("directDeliver")
    ctx.refused("unconfirmed", reply, number=...)
    need(time.monotonic() - begin >= 10 - EARLY, f"after {time.monotonic() - begin:.1f} s")
    b.confirm(b.since(0, "directDeliver")[0])
    ctx.lives(b)
    ctx.lives(a)


@check("[DM5 DM4] 128 direct messages wait, one more is limitReached; the receiver's end makes them unconfirmed", slow=True)
def most_waiting(ctx):
    a, b, most = ctx.client(), ctx.client(auto_received=False), ctx.limit("direct messages waiting for confirmation")
    replies, begin = [], time.monotonic()
    while len(replies) < most:
        for _ in range(min(50, most - len(replies))):
            replies.append(a.direct(b.identity.user, b""))
        time.sleep(1.0)
    more = at_once(a, a.direct(b.identity.user, b"")) if time.monotonic() - begin < 10 - EARLY else None
    if time.monotonic() - begin < 10 - EARLY:
        ctx.refused("limitReached", more, number=..., limit=most)
        need(not any(reply.done.is_set() for reply in replies), "one of them is done")
    else:
        ctx.notes.append("DM5: to send them took as long as they wait, so that their number was not judged")
    b.drop()
    need(set(outcomes(replies)) == {"unconfirmed"}, f"{set(outcomes(replies))}")
