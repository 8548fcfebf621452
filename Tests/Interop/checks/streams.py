"""Streams."""

from context import check, payloads
from http_checks import need
from relay_client import ECHO, encode_packet


@check("[ST1] topic requests without the channel joined are notJoined")
def not_joined(ctx):
    client, name = ctx.client(), ctx.name("c")
    client.request("subscribe", channel=name)
    for kind in ("joinTopic", "leaveTopic", "subscribeTopic", "unsubscribeTopic", "subscribedUsers"):
        ctx.refused("notJoined", lambda: client.request(kind, channel=name, topic="t"), id=...)


@check("[ST3] joinTopic: options, limits of meta and lifetime, the same flow when called again")
def join_topic(ctx):
    client, channel = ctx.client(), ctx.name("s")
    client.request("join", channel=channel)
    ask = lambda **fields: client.request("joinTopic", channel=channel, topic="t", **fields)
    for wrong in ({"qos": "x"}, {"qos": 1}, {"priority": "urgent"}, {"meta": 5}, {"lifetimeMs": "x"}):
        text = ctx.refused("badRequest", lambda: ask(**wrong), id=...)["text"]
        need(next(iter(wrong)) in text, f"{wrong}: {text!r}")
    low, high = ctx.limit("packet lifetime"), ctx.limit("packet lifetime", 1)
    ctx.refused("badRequest", lambda: ask(lifetimeMs=low - 1), limit=low)
    ctx.refused("badRequest", lambda: ask(lifetimeMs=high + 1), limit=high)
    most = ctx.limit("topic meta")
    ctx.refused("tooLarge", lambda: ask(meta="x" * (most + 1)), limit=most, actual=most + 1)
    flow = ask(meta="é" * (most // 2), qos="unordered", priority="highest", lifetimeMs=low)
    client.packets(flow["flow"], [b"x"] * 3)
    again = ask(meta="other", lifetimeMs=high)
    need((again["flow"], again["next"]) == (flow["flow"], 4), f"{flow}, {again}")


@check("[ST3] 8 topics per device and channel pass, one more is limitReached")
def most_topics(ctx):
    client, most = ctx.client(), ctx.limit("published topics per device and channel")
    for channel in (ctx.name("s"), ctx.name("s")):
        client.request("join", channel=channel)
        for n in range(most):
            client.request("joinTopic", channel=channel, topic=f"t{n}")
        ctx.refused("limitReached", lambda: client.request("joinTopic", channel=channel, topic="more"), limit=most)
        client.request("joinTopic", channel=channel, topic="t0")
        client.request("leaveTopic", channel=channel, topic="t0")
        client.request("joinTopic", channel=channel, topic="more")


@check("[ST4] leaveTopic tells the last sequence; not being in it is topicNotJoined")
def leave_topic(ctx):
    client, channel = ctx.client(), ctx.name("s")
    client.request("join", channel=channel)
    ctx.refused("topicNotJoined", lambda: client.request("leaveTopic", channel=channel, topic="t"), id=...)
    flow = client.request("joinTopic", channel=channel, topic="t")["flow"]
    need(client.request("leaveTopic", channel=channel, topic="t")["last"] == 0, "last is not 0")
    second = client.request("joinTopic", channel=channel, topic="t")["flow"]
    need(second != flow, "a flow handle was reused")
    client.packets(second, [b""] * 7)
    need(client.request("leaveTopic", channel=channel, topic="t")["last"] == 7, "last is not 7")
    ctx.refused("topicNotJoined", lambda: client.request("leaveTopic", channel=channel, topic="t"), id=...)


@check("[ST5] a flow that is not one's own, was left, or never was is unknownFlow with flow")
def unknown_flow(ctx):
    publisher, subscriber, channel, flow = ctx.stream()
    for client, number in ((subscriber, flow), (publisher, 0), (publisher, 2**32 - 1)):
        body = encode_packet(number, b"")[1]
        ctx.refused("unknownFlow", client.raw("publishPacket", body, flow=number), flow=number)
    publisher.request("leaveTopic", channel=channel, topic="t")
    ctx.refused("unknownFlow", publisher.raw("publishPacket", encode_packet(flow, b"")[1], flow=flow), flow=flow)


@check("[ST5 ST6] packets of 1,024 bytes pass, 1,025 are tooLarge with limit, size and flow and take no sequence")
def packet_sizes(ctx):
    publisher, subscriber, _, flow = ctx.stream()
    most = ctx.limit("packet payload")
    publisher.packet(flow, bytes(most), slot=0xFFFFFFFF, sender_time=7)
    body = encode_packet(flow, bytes(most + 1))[1]
    ctx.refused("tooLarge", publisher.raw("publishPacket", body, flow=flow), flow=flow, limit=most, actual=most + 1)
    publisher.packet(flow, "text ü", slot=0)
    publisher.packet(flow, "", sender_time=0)
    publisher.sync()
    subscriber.sync()
    got = [(e["sequence"], len(e["payload"]), e["slot"], e["senderTime"], e.flags) for e in subscriber.since(0, "packet")]
    need(got == [(1, most, 0xFFFFFFFF, 7, 6), (2, 6, 0, None, 3), (3, 0, None, 0, 5)], f"{got}")


@check("[ST7 ST8] selections: all, listed, failed entries, taken away one by one")
def selections(ctx):
    client, channel = ctx.client(), ctx.name("s")
    client.request("join", channel=channel)
    me = client.identity.user
    ask = lambda kind, **fields: client.request(kind, channel=channel, topic="t", **fields)
    need(ask("subscribedUsers")["users"] == [], "not empty at first")
    answer = ask("subscribeTopic", users=["u1", "b*d", me, "u2"])
    need(sorted(answer["succeeded"]) == sorted(["u1", "u2", me]) and answer["all"] is False, f"{answer}")
    need([(f["user"], f["code"], f["name"]) for f in answer["failed"]] == [("b*d", 104, "badName")], f"{answer}")
    need(sorted(ask("subscribedUsers")["users"]) == sorted(["u1", "u2", me]), "listed")
    answer = ask("unsubscribeTopic", users=["u1", "stranger"])
    need(answer["succeeded"] == ["u1"], f"{answer}")
    need([(f["user"], f["code"]) for f in answer["failed"]] == [("stranger", 108)], f"{answer}")
    need(ask("subscribeTopic")["all"] is True, "all")
    need(ask("subscribedUsers")["users"] == [], "nobody publishes")
    ask("joinTopic")
    need(ask("subscribedUsers")["users"] == [me], "with all those who publish")
    need(ask("unsubscribeTopic")["all"] is False, "all is left")
    need(ask("subscribedUsers")["users"] == [], "the listed are left")


@check("[ST7] unsubscribeTopic of a topic never selected: listed users fail with notSubscribed")
def unselected(ctx):
    client, channel = ctx.client(), ctx.name("s")
    client.request("join", channel=channel)
    answer = client.request("unsubscribeTopic", channel=channel, topic="t", users=["u"])
    need([f["name"] for f in answer["failed"]] == ["notSubscribed"], f"{answer}")


@check("[ST8] a selection lists 64 users, those beyond fail with limitReached")
def most_listed(ctx):
    client, channel, most = ctx.client(), ctx.name("s"), ctx.limit("listed users per topic selection")
    client.request("join", channel=channel)
    users = [f"u{n}" for n in range(most + 2)]
    answer = client.request("subscribeTopic", channel=channel, topic="t", users=users)
    need(sorted(answer["succeeded"]) == sorted(users[:most]), f"{answer}")
    need([(f["user"], f["code"]) for f in answer["failed"]] == [(u, 112) for u in users[most:]], f"{answer}")


@check("[ST7] 50 selected topics per channel pass, one more is limitReached")
def most_selected(ctx):
    client, channel = ctx.client(), ctx.name("s")
    most = ctx.limit("subscribed topics per channel and session")
    client.request("join", channel=channel)
    for n in range(most):
        client.request("subscribeTopic", channel=channel, topic=f"t{n}", users=["u"])
    ctx.refused("limitReached", lambda: client.request("subscribeTopic", channel=channel, topic="more"), limit=most)
    client.request("subscribeTopic", channel=channel, topic="t0")
    client.request("unsubscribeTopic", channel=channel, topic="t0")
    client.request("subscribeTopic", channel=channel, topic="more")


@check("[ST9] open flows are named before the answer with next, later ones before their first packet with 1")
def flows_opened(ctx):
    publisher, subscriber, channel = ctx.client(), ctx.client(), ctx.name("s")
    publisher.request("join", channel=channel)
    subscriber.request("join", channel=channel)
    early = publisher.request("joinTopic", channel=channel, topic="t", meta="m")["flow"]
    publisher.packets(early, [b"unseen"] * 4)
    publisher.sync()
    subscriber.request("subscribeTopic", channel=channel, topic="t")
    names = [e.name for e in subscriber.events]
    need(names[-2:] == ["flowOpened", "answer"], f"{names}")
    opened = subscriber.since(0, "flowOpened")[0]
    want = {"flow": early, "topic": "t", "user": publisher.identity.user, "meta": "m", "next": 5}
    need({k: opened[k] for k in want} == want, f"{opened}")
    third = ctx.client()
    third.request("join", channel=channel)
    late = third.request("joinTopic", channel=channel, topic="t")["flow"]
    third.packet(late, b"later")
    publisher.packet(early, b"seen")
    publisher.sync()
    third.sync()
    subscriber.sync()
    need(sorted(e["payload"] for e in subscriber.since(0, "packet")) == [b"later", b"seen"], "other packets")
    need([e["next"] for e in subscriber.since(0, "flowOpened")] == [5, 1], "other next")


@check("[ST9 ST10] widening a selection names only new flows; narrowing it stops packets without flowClosed")
def selection_changes(ctx):
    publisher, subscriber, channel = ctx.client(), ctx.client(), ctx.name("s")
    publisher.request("join", channel=channel)
    subscriber.request("join", channel=channel)
    flow = publisher.request("joinTopic", channel=channel, topic="t")["flow"]
    user = publisher.identity.user
    ask = lambda kind, **fields: subscriber.request(kind, channel=channel, topic="t", **fields)
    ask("subscribeTopic", users=[user])
    ask("subscribeTopic")
    ask("subscribeTopic", users=[user])
    need(len(subscriber.since(0, "flowOpened")) == 1, "named twice")
    publisher.packet(flow, b"1")
    ask("unsubscribeTopic", users=[user])
    publisher.packet(flow, b"2")
    publisher.sync()
    ask("unsubscribeTopic")
    publisher.packet(flow, b"3")
    publisher.sync()
    ask("subscribeTopic", users=[user])
    publisher.packet(flow, b"4")
    publisher.sync()
    subscriber.sync()
    need(payloads(subscriber)[-2:] == [b"2", b"4"], f"{payloads(subscriber)}")
    need([e["next"] for e in subscriber.since(0, "flowOpened")] == [1, 4], "other next")
    need(subscriber.since(0, "flowClosed") == [], "unsubscribeTopic closed a flow")


@check("[ST10 ST12] leaveTopic, leave, logout close flows with last, after all packets")
def flows_closed(ctx):
    channel, subscriber = ctx.name("s"), ctx.client()
    subscriber.request("join", channel=channel)
    subscriber.request("subscribeTopic", channel=channel, topic="t")
    for way in ("leaveTopic", "leave", "logout"):
        publisher = ctx.client()
        publisher.request("join", channel=channel)
        flow = publisher.request("joinTopic", channel=channel, topic="t")["flow"]
        publisher.packets(flow, [b"x"] * 6)
        fields = {"leaveTopic": {"channel": channel, "topic": "t"}, "leave": {"channel": channel}, "logout": {}}[way]
        publisher.request(way, **fields)
        closed = subscriber.wait_for("flowClosed", lambda e: e["flow"] == flow)
        need(closed["last"] == 6 and subscriber.flow(flow).received.total() == 6, f"{way}: {closed}")


@check("[ST11] topics: a snapshot after join, then who publishes what, with meta")
def topics(ctx):
    a, b, channel = ctx.client(), ctx.client(), ctx.name("s")
    a.request("join", channel=channel)
    a.request("joinTopic", channel=channel, topic="one", meta="m1")
    a.request("joinTopic", channel=channel, topic="two")
    b.request("join", channel=channel)
    b.sync()
    mine = a.identity.user
    snapshot = b.since(0, "topics")[0]
    known = {(p["topic"], p["user"]): p.get("meta") for p in snapshot["publishers"]}
    need(set(known) == {("one", mine), ("two", mine)} and known["one", mine] == "m1", f"{snapshot}")
    a.request("leaveTopic", channel=channel, topic="one")
    b.request("joinTopic", channel=channel, topic="two", meta="m2")
    a.request("leave", channel=channel)
    b.sync()
    told = [(e["event"], e["publishers"][0]["topic"], e["publishers"][0]["user"]) for e in b.since(0, "topics")[1:]]
    need(told == [("publisherLeft", "one", mine), ("publisherJoined", "two", b.identity.user),
                  ("publisherLeft", "two", mine)], f"{told}")
    seen = [(e["event"], e["publishers"][0]["user"]) for e in a.since(0, "topics")[1:]]
    need(("publisherJoined", b.identity.user) in seen, "a did not see b publish")


@check("[ST11] a topics snapshot too long for one frame goes on with more", slow=True)
def many_topics(ctx):
    channel, watcher = ctx.name("s"), ctx.client()
    publishers = [ctx.client() for _ in range(30)]
    for client in publishers:
        client.request("join", channel=channel, features=[])
        for n in range(8):
            client.request("joinTopic", channel=channel, topic=f"topic-{n}".ljust(64, "x"), meta="m" * 256)
    watcher.request("join", channel=channel)
    watcher.sync()
    need(len(next(iter(watcher.checker.channels.values())).publishers) == 240, "not all publishers are told")
    need(len(watcher.since(0, "topics")) > 1, "240 publishers came in one frame")


@check("[ST13] echo of packets goes to one's own selection only")
def packet_echo(ctx):
    client, channel = ctx.client(), ctx.name("s")
    client.request("join", channel=channel)
    flow = client.request("joinTopic", channel=channel, topic="t")["flow"]
    client.packet(flow, b"unselected", extra=ECHO)
    client.request("subscribeTopic", channel=channel, topic="t", users=[client.identity.user])
    client.packet(flow, b"silent")
    client.packet(flow, b"loud", extra=ECHO)
    client.sync()
    got = [(e["sequence"], e["payload"]) for e in client.since(0, "packet")]
    need(got == [(3, b"loud")], f"{got}")
    client.request("leaveTopic", channel=channel, topic="t")
    client.sync()
    need([e["last"] for e in client.since(0, "flowClosed")] == [3], f"{client.since(0, 'flowClosed')}")
