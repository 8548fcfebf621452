"""Channels."""

from context import check, outcomes, payloads, presence_of
from http_checks import need


@check("[CH1] the message and the stream channel of one name are two")
def two_kinds(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("both")
    first = a.request("subscribe", channel=name)
    b.request("join", channel=name)
    members = [a.request("who", kind=kind, channel=name)["members"] for kind in ("message", "stream")]
    users = [[m["user"] for m in page] for page in members]
    need(users == [[a.identity.user], [b.identity.user]], f"{users}")
    a.request("setStates", kind="message", channel=name, states={"k": "v"})
    need(a.request("getStates", kind="stream", channel=name, user=a.identity.user)["states"] == {}, "states are shared")
    need(first["kind"] == "message", f"{first}")


@check("[CH2 MS3] publish alone makes a channel; its head is there for who subscribes later")
def channel_by_publish(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("c")
    need([a.publish(name, b"").wait() for _ in range(3)] == [1, 2, 3], "offsets do not count from 1")
    need(b.request("subscribe", channel=name)["head"] == 3, "another head")
    b.sync()
    need(b.since(0, "deliver") == [], "old messages are delivered")


@check("[CH3] features say what comes; unknown ones are ignored; calling again changes them")
def features(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("c")
    need(a.request("subscribe", channel=name, features=["messages", "zzz"])["features"] == ["messages"], "features")
    b.request("subscribe", channel=name, features=[])
    a.publish(name, "1").wait()
    b.sync()
    need(b.since(0, "deliver", "presence") == [], "something came without features")
    need(set(b.request("subscribe", channel=name)["features"]) == {"messages", "presence"}, "features again")
    snapshot = b.wait_for("presence")
    need([m["user"] for m in snapshot["members"]] == sorted([a.identity.user, b.identity.user]), f"{snapshot}")
    a.publish(name, "2").wait()
    b.sync()
    need(payloads(b) == ["2"], f"{payloads(b)}")
    b.request("subscribe", channel=name, features=["presence"])
    a.publish(name, "3").wait()
    b.sync()
    need(payloads(b) == ["2"] and len(b.since(0, "presence")) == 2, "again")


@check("[CH3 PR1] quiet: in no count, snapshot, event or query, yet it receives and publishes")
def quiet_member(ctx):
    seen, ghost, name = ctx.client(), ctx.client(), ctx.name("c")
    seen.request("subscribe", channel=name)
    seen.request("join", channel=name)
    mark = seen.mark()
    need(ghost.request("subscribe", channel=name, quiet=True)["quiet"], "quiet is not told")
    ghost.request("join", channel=name, quiet=True)
    need(seen.request("who", kind="message", channel=name)["total"] == 1, "counted by who")
    need(seen.request("who", kind="stream", channel=name)["total"] == 1, "counted by who")
    need(seen.request("where", user=ghost.identity.user)["channels"] == [], "found by where")
    ghost.publish(name, "boo").wait()
    seen.publish(name, "hi").wait()
    seen.sync()
    ghost.sync()
    need(payloads(seen) == ["boo"] and "hi" in payloads(ghost), "messages do not pass")
    need(presence_of(seen, mark) == [], f"seen: {presence_of(seen, mark)}")
    ctx.refused("notPresent", lambda: ghost.request("setStates", kind="message", channel=name, states={"k": "v"}))
    ctx.refused("notPresent", lambda: ghost.request("joinTopic", channel=name, topic="t"))
    ghost.request("subscribeTopic", channel=name, topic="t")
    ghost.request("subscribe", channel=name, quiet=False)
    event = seen.wait_for("presence", since=mark)
    need((event["event"], event["user"]) == ("join", ghost.identity.user), f"{event}")
    ghost.request("subscribe", channel=name, quiet=True)
    event = seen.wait_for("presence", lambda e: e["event"] == "leave", since=mark)
    need(event["user"] == ghost.identity.user, f"{event}")


@check("[CH4] the snapshots follow the answers; an own handle each")
def entry_order(ctx):
    client, name = ctx.client(), ctx.name("c")
    client.request("subscribe", channel=name)
    client.request("join", channel=name)
    client.sync()
    order = [(e.name, e.get("event") or e.get("kind")) for e in client.events[1:-1]]
    need(order == [("answer", "message"), ("presence", "snapshot"), ("answer", "stream"), ("presence", "snapshot"),
                   ("topics", "snapshot")], f"{order}")
    handles = {c.handle for c in client.checker.channels.values()}
    need(len(handles) == 2, f"{handles}")


@check("[CH7] 50 message channels and 100 stream channels pass, one more is limitReached with limit and count")
def most_channels(ctx):
    client = ctx.client()
    name = ctx.name("c")
    for kind, row in (("subscribe", "subscribed message channels per session"),
                      ("join", "joined stream channels per session")):
        most = ctx.limit(row)
        replies = [client.start_request(kind, channel=f"{name}-{n}", features=[]) for n in range(most)]
        need(set(outcomes(replies)) == {"ok"}, f"{kind}: {outcomes(replies)}")
        more = ctx.refused("limitReached", lambda: client.request(kind, channel=f"{name}-more"), limit=most, actual=...)
        need(more["actual"] in (most, most + 1), f"{more}")
        client.request(kind, channel=f"{name}-0", features=[])
        client.request("unsubscribe" if kind == "subscribe" else "leave", channel=f"{name}-0")
        client.request(kind, channel=f"{name}-more", features=[])


@check("[CH9] after unsubscribe and leave nothing comes; twice is notSubscribed, notJoined; others see leave")
def leaving(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("c")
    for client in (a, b):
        client.request("subscribe", channel=name)
        client.request("join", channel=name)
    mark = a.mark()
    b.request("unsubscribe", channel=name)
    b.request("leave", channel=name)
    end = b.mark()
    a.publish(name, "x").wait()
    a.request("setStates", kind="message", channel=name, states={"k": "v"})
    a.request("joinTopic", channel=name, topic="t")
    b.sync()
    need(b.since(end, "deliver", "presence", "topics") == [], f"{b.since(end)}")
    ctx.refused("notSubscribed", lambda: b.request("unsubscribe", channel=name), id=...)
    ctx.refused("notJoined", lambda: b.request("leave", channel=name), id=...)
    a.sync()
    gone = presence_of(a, mark, "leave")
    need(gone == [("leave", b.identity.user)] * 2, f"{gone}")
