"""The small relay."""

import json

from bounds import SMALL_CHANNELS, SMALL_CONNECTIONS, SMALL_ENTRIES, SMALL_USERS
from context import check
from http_checks import need
from relay_client import ECHO
from steps import patiently


@check("[SE5] a newcomer to a full relay gets tooManyConnections; those inside notice nothing", relay="small")
def too_many_connections(ctx):
    ctx.limit("connections per relay")
    inside = [patiently(ctx.client) for _ in range(SMALL_CONNECTIONS)]
    for _ in range(3):
        ctx.closed(ctx.connect(), "tooManyConnections")
    for client in inside:
        need([e.name for e in client.events if e.name not in ("ping", "pong")] == ["welcome"], f"{client.events}")
        ctx.lives(client)
    inside[0].logout()
    patiently(ctx.client)


@check("[SE5 HT3] at the bound a connection that asks for pages makes room for a newcomer, and is told nothing", relay="small")
def pages_make_room(ctx):
    site = ctx.site()
    inside = [patiently(ctx.client) for _ in range(SMALL_CONNECTIONS - 1)]
    with site.connect() as page:
        page.send(site.request())
        page.answer()
        page.send(site.request()[:20])
        newcomer = ctx.client()
        page.must_end()
    for client in [*inside, newcomer]:
        need([e.name for e in client.events if e.name not in ("ping", "pong")] == ["welcome"], f"{client.events}")
        ctx.lives(client)
        client.logout()


@check("[ST2] one more user than a stream channel holds is channelFull", relay="small")
def channel_full(ctx):
    ctx.limit("devices per stream channel")
    clients = [patiently(ctx.client) for _ in range(SMALL_USERS + 1)]
    for client in clients[:-1]:
        client.request("join", channel="small-s1")
    ctx.refused("channelFull", lambda: clients[-1].request("join", channel="small-s1"), id=...)
    clients[0].request("join", channel="small-s1")
    clients[0].request("leave", channel="small-s1")
    clients[-1].request("join", channel="small-s1")
    ctx.refused("channelFull", lambda: clients[0].request("join", channel="small-s1"))
    for client in clients:
        client.logout()


@check("[ST2] one byte more of publishers' entries than a stream channel holds is channelFull; one that leaves makes room", relay="small")
def publishers_full(ctx):
    ctx.limit("entries of publishers in the `topics` of a channel")
    client = patiently(ctx.client)
    client.request("join", channel="small-s1")
    mark = client.mark()

    def publish(topic, meta_bytes):
        client.request("joinTopic", channel="small-s1", topic=topic, meta="m" * meta_bytes)
        told = next(e for e in client.since(mark, "topics") if e["publishers"][0]["topic"] == topic)
        return len(json.dumps(told["publishers"][0], separators=(",", ":")))
    first, second = publish("a", 256), publish("b", 256)
    left = SMALL_ENTRIES - first - second - (first - 256)
    wanted = {"limit": SMALL_ENTRIES, "actual": SMALL_ENTRIES + 1}
    ctx.refused("channelFull", lambda: publish("c", left + 1), **wanted)
    publish("c", left)
    ctx.refused("channelFull", lambda: publish("d", 0), actual=SMALL_ENTRIES + first - 256)
    client.request("leaveTopic", channel="small-s1", topic="a")
    publish("d", 0)
    client.logout()


@check("[CH8 CH2] one more channel than a relay holds is relayFull, for each kind; a stream channel ends", relay="small")
def relay_full(ctx):
    ctx.limit("channels of a kind per relay")
    client = patiently(ctx.client)
    for n in range(1, SMALL_CHANNELS + 1):
        client.request("subscribe", channel=f"small-m{n}")
        client.request("join", channel=f"small-s{n}")
    ctx.refused("relayFull", lambda: client.request("subscribe", channel="small-more"), id=...)
    ctx.refused("relayFull", lambda: client.request("join", channel="small-more"), id=...)
    ctx.refused("relayFull", client.publish("small-more", b""), number=...)
    client.publish("small-m1", b"").wait()
    client.request("leave", channel="small-s1")
    client.request("join", channel="small-more")
    client.logout()


@check("[MD4] one byte more than a relay's metadata may have is storageFull", relay="small")
def metadata_total(ctx):
    client, owner = ctx.client(), {"user": ctx.name("u")}
    ctx.refused("storageFull", lambda: client.texts("setMetadata", [("k", "x" * 1_000)], **owner), limit=1_512, actual=1_513)
    client.texts("setMetadata", [("k", "x" * 999)], **owner)
    client.request("removeMetadata", **owner)


@check("[SE13] at the end of a relay every connection gets shuttingDown, after all that was queued", relay="small")
def shutting_down(ctx):
    client, stranger = patiently(ctx.client), patiently(ctx.connect)
    client.request("subscribe", channel="small-m1", features=["messages"])
    client.publish("small-m1", "last words", extra=ECHO).wait()
    client.sync()
    ctx.program.say("READY-FOR-SHUTDOWN")
    ctx.closed(client, "shuttingDown")
    ctx.closed(stranger, "shuttingDown")
