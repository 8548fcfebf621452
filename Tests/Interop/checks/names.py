"""Names."""

import struct
import time

from context import check
from http_checks import Failed, need
from relay_client import Identity, text8

HOSTILE_NAMES = ["", "_x", " x", "a*b", "a/b", "a\\b", "é", "a\x7f", "a\nb", "a\x00b", "\t", "中", "😀",
                 "../x", "a\u202eb"]
FRIENDLY_NAMES = ["a b", "a_", "a ", "~", "-", "!x", "0", "'; DROP TABLE x", "<b>", "%s", "{}", '"', "A", "a"]


def naming_requests(name):
    """Every request that carries a name, as (kind, fields)."""
    state = {"kind": "message", "channel": "c"}
    return [
        ("subscribe", {"channel": name}), ("unsubscribe", {"channel": name}), ("join", {"channel": name}),
        ("leave", {"channel": name}), ("who", {"kind": "message", "channel": name}), ("where", {"user": name}),
        ("setStates", {"kind": "message", "channel": name, "states": {"k": "v"}}),
        ("setStates", {**state, "states": {name: "v"}}), ("removeStates", {**state, "keys": [name]}),
        ("getStates", {**state, "user": name}), ("getStates", {"kind": "stream", "channel": name, "user": "u"})]


@check("[NM1] hostile names are badName in every request, publish and direct")
def hostile_names(ctx):
    client = ctx.client()
    for name in HOSTILE_NAMES + ["x" * (ctx.limit("name") + 1)]:
        for kind, fields in naming_requests(name):
            try:
                ctx.refused("badName", lambda: client.request(kind, **fields), id=...)
            except Failed as problem:
                raise Failed(f"{kind} {fields}: {problem}") from problem
        ctx.refused("badName", client.publish(name, b""), number=...)
        ctx.refused("badName", client.direct(name, b""), number=...)
        time.sleep(len(HOSTILE_NAMES) / 200)


@check("[NM1] hostile names are badName in topics and logins")
def hostile_topics(ctx):
    client, channel = ctx.client(), ctx.name("names")
    client.request("join", channel=channel)
    for name in HOSTILE_NAMES + ["x" * 65]:
        for kind in ("joinTopic", "leaveTopic", "subscribeTopic", "unsubscribeTopic", "subscribedUsers"):
            ctx.refused("badName", lambda: client.request(kind, channel=channel, topic=name), id=...)
    for name in ("", "_x", "a/b", "x" * 65):
        client = ctx.connect(Identity(name))
        ctx.refused("badName", client.login, id=1)
        client.identity.user = ctx.name("user")
        client.login()


@check("[NM1] 64 bytes and odd but legal names pass, for users, channels, topics and state keys")
def friendly_names(ctx):
    longest = ctx.name("n").ljust(ctx.limit("name"), "x")
    client = ctx.client(user=longest)
    for name in [longest] + FRIENDLY_NAMES:
        need(client.request("subscribe", channel=name)["channel"] == name, name)
        client.request("join", channel=name)
        client.request("joinTopic", channel=name, topic=name)
        client.request("setStates", kind="stream", channel=name, states={name: "v"})
        need(client.request("getStates", kind="stream", channel=name, user=longest)["states"] == {name: "v"}, name)
        client.publish(name, b"").wait()
    places = client.request("where", user=longest)["channels"]
    need({p["channel"] for p in places} == {longest, *FRIENDLY_NAMES}, f"{places}")


@check("[NM1 MS8] names that are not UTF-8 are badName in hot frames")
def names_of_bytes(ctx):
    client = ctx.client()
    for name in (b"\xff", b"a\x80", b"\xc0\x80", b"\xed\xa0\x80"):
        body = struct.pack(">Q", 1) + text8(name)
        ctx.refused("badName", client.raw("publish", body, number=1), number=1)
        ctx.refused("badName", client.raw("direct", body, number=1), number=1)
