"""Metadata and locks."""

import time

from context import check
from http_checks import need
from relay_client import json_body
from steps import until_refused


@check("[MD1 MD2 MD3 MD9] metadata is set, replaced and read; revisions are those of the last change; three owners of one name")
def metadata_set(ctx):
    client, name = ctx.client(), ctx.name("c")
    owners = [{"kind": "message", "channel": name}, {"kind": "stream", "channel": name}, {"user": name}]
    for n, owner in enumerate(owners):
        need(client.all_metadata(**owner) == (0, {}), "never written is not 0")
        need(client.texts("setMetadata", [("a", f"é{n}"), ("b", "")], **owner) == 1, "the first revision")
        need(client.texts("setMetadata", [("b", "2")], **owner) == 2, "the second")
    for n, owner in enumerate(owners):
        need(client.all_metadata(**owner) == (2, {"a": f"é{n}", "b": "2"}), f"{owner}")
    page = client.request("getMetadata", **owners[0])
    need([i["revision"] for i in page["items"]] == [1, 2], f"{page}")
    need(client.request("removeMetadata", **owners[0])["majorRevision"] == 3, "removing all")
    need(client.all_metadata(**owners[0]) == (3, {}), "the revision does not survive")


@check("[MD4 JS6] 65,536 bytes pass, one more is tooLarge; 1,000 items pass over pages; bad bodies are refused")
def metadata_limits(ctx):
    client, owner = ctx.client(), {"kind": "message", "channel": ctx.name("c")}
    most = ctx.limit("metadata of a set, keys and values")
    client.texts("setMetadata", [("k", "x" * (most - 1))], **owner)
    ctx.refused("tooLarge", lambda: client.texts("setMetadata", [("k", "x" * most)], **owner), limit=most, actual=most + 1)
    ctx.refused("tooLarge", lambda: client.texts("setMetadata", [("l", "")], **owner), limit=most, actual=most + 1)
    need(client.all_metadata(**owner) == (1, {"k": "x" * (most - 1)}), "what was refused changed something")
    many, other = ctx.limit("items of a set of metadata"), {"user": ctx.name("u")}
    for n in range(0, many, 100):
        client.texts("setMetadata", [(f"key {n + m}", str(m)) for m in range(100)], **other)
    ctx.refused("limitReached", lambda: client.texts("setMetadata", [("more", "")], **other), limit=many, actual=many + 1)
    need(len(client.all_metadata(**other)[1]) == many, "pages")
    head = json_body({"id": 9001, **owner, "items": [{"key": "a", "bytes": 2}]})
    for body in (b"", b"\x00", b"\xff\xff{}", len(head).to_bytes(2, "big") + head + b"x",
                 len(head).to_bytes(2, "big") + head + b"xyz"):
        ctx.refused("badRequest", lambda body=body: client.raw("setMetadata", body).wait()
                    if len(body) < len(head) else client.raw("setMetadata", body, id=9001).wait())
    ctx.refused("badText", lambda: client.raw("setMetadata", len(head).to_bytes(2, "big") + head + b"\xc3\x28", id=9001).wait())


@check("[MD5 MD6] conditions on item, set and lock; update and remove want what exists; nothing changes otherwise")
def metadata_conditions(ctx):
    a, b, owner = ctx.client(), ctx.client(), {"kind": "stream", "channel": ctx.name("c")}
    need(a.texts("setMetadata", [("a", "1", 0)], majorRevision=0, **owner) == 1, "new")
    ctx.refused("revisionMismatch", lambda: b.texts("setMetadata", [("a", "2", 7)], **owner), limit=7, actual=1)
    ctx.refused("revisionMismatch", lambda: b.texts("setMetadata", [("b", "2")], majorRevision=0, **owner), limit=0, actual=1)
    ctx.refused("itemNotFound", lambda: a.texts("updateMetadata", [("a", "2"), ("b", "2")], **owner))
    ctx.refused("itemNotFound", lambda: a.request("removeMetadata", items=[{"key": "a"}, {"key": "b"}], **owner))
    ctx.refused("lockNotFound", lambda: a.texts("setMetadata", [("a", "2")], lock="pen", **owner))
    a.request("setLock", lock="pen", **owner)
    ctx.refused("lockNotHeld", lambda: a.texts("setMetadata", [("a", "2")], lock="pen", **owner))
    b.request("acquireLock", lock="pen", **owner)
    ctx.refused("lockNotHeld", lambda: a.texts("setMetadata", [("a", "2")], lock="pen", **owner))
    need(b.texts("updateMetadata", [("a", "2", 1)], lock="pen", majorRevision=1, **owner) == 2, "all conditions hold")
    need(a.all_metadata(**owner) == (2, {"a": "2"}), "something else was written")


@check("[MD7 MD8 CH3 SE9] metadata events: snapshot, changes, one's own too; a user's set; both through a resumption")
def metadata_events(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("c")
    owner, user = {"kind": "message", "channel": name}, b.identity.user
    b.texts("setMetadata", [("a", "1")], recordUser=True, recordTime=True, **owner)
    a.request("subscribe", channel=name, features=["metadata"])
    a.request("subscribeUserMetadata", user=user)
    b.texts("setMetadata", [("name", "Bob")], user=user)
    a.texts("setMetadata", [("b", "x" * 60_000)], **owner)
    a.request("removeMetadata", items=[{"key": "a"}], **owner)
    a.sync()
    told = [(e.get("user"), e["event"], [i["key"] for i in e["items"]], e.get("removed")) for e in a.since(0, "metadata")]
    need(told == [(None, "snapshot", ["a"], None), (user, "snapshot", [], None), (user, "changed", ["name"], None),
                  (None, "changed", ["b"], None), (None, "changed", [], ["a"])], f"{told}")
    first = a.since(0, "metadata")[0]["items"][0]
    need(first["author"] == user and first["time"] > 0, f"{first}")
    a.drop()
    b.texts("setMetadata", [("name", "Robert")], user=user)
    b.texts("setMetadata", [("c", "y" * 5_000)], **owner)
    back = ctx.resume(a)
    back.sync()
    need(back.checker.users_metadata[user].items["name"]["value"] == "Robert", "the user's set after resuming")
    need(sorted(back.checker.find("message", name).metadata.items) == ["b", "c"], "the channel's set after resuming")
    back.request("unsubscribeUserMetadata", user=user)
    ctx.refused("notSubscribed", lambda: back.request("unsubscribeUserMetadata", user=user))
    b.texts("setMetadata", [("name", "B")], user=user)
    back.sync()


@check("[RT7] metadata calls have 10 a second with a burst of 20, those of channels and of users apart")
def metadata_rate(ctx):
    client, owner = ctx.client(), {"kind": "message", "channel": ctx.name("c")}
    rate, burst = (ctx.limit("metadata calls per user, of channels and of users", n) for n in (0, 1))
    _, refused = until_refused(
        rate, burst, lambda count: [client.start_texts("setMetadata", [("a", str(n))], **owner) for n in range(count)])
    ctx.refused("rateLimited", refused, id=..., limit=rate)
    client.texts("setMetadata", [("a", "1")], user=client.identity.user)


@check("[LK1 LK2 LK3 LK4 LK6 LK7 LK8 LK9 SE14] locks: set, acquired, released, revoked, removed, told to all; fencing grows")
def locks(ctx):
    a, b, where = ctx.client(), ctx.client(), {"kind": "message", "channel": ctx.name("c")}
    a.request("subscribe", channel=where["channel"], features=["locks"])
    ctx.refused("lockNotFound", lambda: a.request("acquireLock", lock="pen", **where))
    for ttl in (999, 300_001):
        ctx.refused("badRequest", lambda ttl=ttl: a.request("setLock", lock="pen", ttlMs=ttl, **where), actual=ttl)
    for n in range(ctx.limit("locks per channel")):
        a.request("setLock", lock=f"lock {n:02}", **where)
    ctx.refused("limitReached", lambda: a.request("setLock", lock="pen", **where), limit=32, actual=33)
    a.request("removeLock", lock="lock 31", **where)
    a.request("setLock", lock="pen", ttlMs=2_000, **where)
    first = a.request("acquireLock", lock="pen", **where)["fencing"]
    ctx.refused("lockHeld", lambda: b.request("acquireLock", lock="pen", **where))
    ctx.refused("lockNotHeld", lambda: b.request("releaseLock", lock="pen", **where))
    ctx.refused("lockNotHeld", lambda: b.request("revokeLock", lock="pen", owner=b.identity.user, **where))
    waiting = b.start_request("acquireLock", lock="pen", waitMs=60_000, **where)
    b.sync()
    a.request("releaseLock", lock="pen", **where)
    need(waiting.wait()["fencing"] > first, "fencing does not grow")
    a.request("revokeLock", lock="pen", owner=b.identity.user, **where)
    need(a.request("acquireLock", lock="pen", **where)["fencing"] > first, "again")
    short = b.start_request("acquireLock", lock="pen", waitMs=200, **where)
    need(b.request("getLocks", **where)["locks"][-1]["owner"] == a.identity.user, "getLocks while waiting")
    ctx.refused("lockHeld", short.wait)
    ended = b.start_request("acquireLock", lock="pen", waitMs=60_000, **where)
    b.request("cancel", request=ended.id)
    ctx.refused("cancelled", ended.wait)
    b.request("cancel", request=ended.id)
    a.request("releaseLock", lock="pen", **where)
    need(a.request("acquireLock", lock="pen", **where)["fencing"] > first, "who left the line got it")
    a.request("removeLock", lock="pen", **where)
    a.sync()
    told = [e["event"] for e in a.since(0, "locks")][33:]
    held = ["acquired", "released", "acquired", "revoked", "acquired", "released", "acquired"]
    need(told == ["removed", "set", *held, "removed"], f"{told}")


@check("[LK5] a lock whose owner has gone is free after its ttl, and not before", slow=True)
def lock_ttl(ctx):
    a, b, where = ctx.client(), ctx.client(), {"kind": "stream", "channel": ctx.name("c")}
    b.request("join", channel=where["channel"], features=["locks"])
    a.request("setLock", lock="pen", ttlMs=1_000, **where)
    a.request("acquireLock", lock="pen", **where)
    gone = time.monotonic()
    a.request("logout")
    event = b.wait_for("locks", lambda e: e["event"] == "expired")
    need(event["user"] == a.identity.user and event.at - gone >= 0.99, f"{event} after {event.at - gone:.2f} s")
