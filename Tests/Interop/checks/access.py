"""The relay that is not open."""

import time

try:
    import jwt
except ImportError:
    jwt = None

from context import check
from guests import everything_but, guest, host_key, join_key, mint, refusal_of, stranger
from http_checks import need
from relay_client import RETAIN, encode_packet
from steps import board_request, shown


@check("[AC1 AC4] who has a key or a token comes in, with the rights that it gives", relay="access")
def credentials(ctx):
    ctx.notes += [] if jwt else ["tokens made without PyJWT, which is not there"]
    need(guest(ctx, join_key(ctx)).checker.access == {"role": "editor"}, "the join key")
    need(guest(ctx, host_key(ctx)).checker.access == {"role": "moderator"}, "the host key")
    access = guest(ctx, role="reader").checker.access
    need(access["role"] == "reader" and 3_590_000 < access["untilMs"] <= 3_605_000 and not access.get("grants"), f"{access}")
    grants = {"board-*": ["subscribe", "presence"], "lesson": ["publish"]}
    access = guest(ctx, grants=grants).checker.access
    need(access.get("role") is None and {k: set(v) for k, v in access["grants"].items()} == {k: set(v) for k, v in grants.items()},
         f"{access}")


@check("[AC1] nobody else comes in: no credential, a wrong one, one that is over, another's", relay="access")
def wrong_credentials(ctx):
    user, good = ctx.name("user"), mint(ctx, "ann", role="editor")["token"]
    late, other = mint(ctx, user, seconds=-60, role="editor"), mint(ctx, ctx.name("other"), role="editor")
    rows = [("credentialRequired", {}), ("keyWrong", {"key": "0" * 26}), ("keyWrong", {"key": ctx.program.keys[0].upper()}),
            ("keyWrong", {"key": "é" * 64}),
            ("tokenExpired", late), ("tokenInvalid", other), ("tokenInvalid", {"token": ""}), ("tokenInvalid", {"token": "a.b.c"}),
            ("tokenInvalid", {"token": good[:-2]}), ("tokenInvalid", {"token": "x" * 3_073}), ("tokenInvalid", mint(ctx, user)),
            ("tokenInvalid", mint(ctx, user, role="king")), ("tokenInvalid", mint(ctx, user, role="editor", aud="another relay")),
            ("tokenInvalid", mint(ctx, user, role="editor", nbf=int(time.time()) + 60))]
    # Each answer waits (AC2). So few wait side by side that a slow machine is done within the time to log in (SE4).
    for some in (rows[at:at + 4] for at in range(0, len(rows), 4)):
        begun = [(code, credential, stranger(ctx, credential, user)) for code, credential in some]
        replies = [(code, credential, client, client.start_login()) for code, credential, client in begun]
        for code, credential, client, reply in replies:
            fields = ctx.refused(code, reply, id=1)
            need(not any(len(v) > 9 and v in fields["text"] for v in credential.values()), f"repeats what it was given: {fields}")
            ctx.lives(client)
    for wrong, limit in (({"key": ""}, 128), ({"key": "x" * 129}, 128), ({**join_key(ctx), "token": good}, None)):
        client = stranger(ctx, wrong)
        ctx.refused("badRequest", client.login, id=1, limit=limit)
        client.identity.credential = join_key(ctx)
        client.login()


@check("[AC2] wrong credentials are answered after 1, 2 and 4 s more, and the third is the last", relay="access", slow=True)
def slow_answers(ctx):
    client, begin = stranger(ctx, {"key": "wrong"}), time.monotonic()
    replies = [client.start_login() for _ in range(4)]
    client.ping().wait()
    for reply in replies[:3]:
        ctx.refused("keyWrong", reply, id=...)
    ctx.closed(client, "credentialsWrong")
    names = [e.name for e in client.since(0, "pong", "error", "closing")]
    need(names == ["pong"] + ["error"] * 3 + ["closing"], f"a ping waited, too: {names}")
    for at, answer in zip((1, 3, 7), client.since(0, "error")):
        need(answer.at - begin >= at - 0.05, f"answered after {answer.at - begin:.2f} s, not {at}")


@check("[AC2] a right login is answered at once, and what was held back with it", relay="access")
def right_after_wrong(ctx):
    client = stranger(ctx, {"key": "wrong"})
    # A ping is answered at once: its answer comes last only if none before it is held back.
    wrong = [client.start_login() for _ in range(2)]
    client.identity.credential = join_key(ctx)
    right = client.start_login()
    client.ping().wait()
    right.wait()
    for reply in wrong:
        ctx.refused("keyWrong", reply, id=...)
    names = [e.name for e in client.since(0, "pong", "error", "welcome")]
    need(names == ["error"] * 2 + ["welcome", "pong"], f"{names}")


@check("[AC3] a user id is its client's, while it is there and after it; with a token for it another gets it", relay="access")
def user_ids(ctx):
    key, user = join_key(ctx), ctx.name("user")
    ctx.refused("badRequest", lambda: stranger(ctx, key, user).login(secret=None), id=1)
    first = guest(ctx, key, user)
    mark = first.mark()
    ctx.refused("userIDTaken", stranger(ctx, key, user).login, id=1)
    ctx.refused("userIDTaken", stranger(ctx, host_key(ctx), user).login, id=1)
    first.sync()
    need([e.name for e in first.since(mark)] in (["pong"], ["ping", "pong"]), f"it noticed: {first.since(mark)}")
    first.logout()
    ctx.refused("userIDTaken", stranger(ctx, key, user).login, id=1)
    ctx.client(identity=first.identity).logout()
    bearer = guest(ctx, user=user, role="editor")
    bearer.logout()
    ctx.refused("userIDTaken", stranger(ctx, key, user, secret=first.identity.secret).login, id=1)
    bearer.identity.credential = key
    ctx.client(identity=bearer.identity)
    plain = ctx.name("user")
    stranger(ctx, mint(ctx, plain, role="reader"), plain).login(secret=None)


def needing_rights(ctx, name, other):
    """(rights or None for a moderator's, what to send, kind of right: channel or everywhere), on a channel of this name."""
    place = {"kind": "message", "channel": name}
    lock = {**place, "lock": "pen"}

    def ask(request, /, **fields):
        return lambda client: client.start_request(request, **fields)

    def set_items(**owner):
        return lambda client: client.start_texts("setMetadata", [("k", "v")], **owner)
    return [
        (["subscribe"], ask("subscribe", channel=name, features=["messages"]), "channel"),
        (["subscribe"], ask("join", channel=name, features=[]), "channel"),
        (["subscribe"], ask("history", channel=name), "channel"), (["subscribe"], ask("getMetadata", **place), "channel"),
        (["subscribe"], ask("getLocks", **place), "channel"),
        (["presence", "subscribe"], ask("subscribe", channel=name, features=["presence"]), "channel"),
        (["presence", "subscribe"], ask("join", channel=name, features=["presence"]), "channel"),
        (["presence"], ask("who", **place), "channel"),
        (["presence"], ask("setStates", **place, states={"a": "b"}), "channel"), (["presence"], ask("removeStates", **place), "channel"),
        (["presence"], ask("getStates", **place, user=other), "channel"),
        (["publish"], lambda client: client.publish(name, b"x"), "channel"),
        (["publish"], lambda client: client.publish(name, b"x", key="drawn", extra=RETAIN), "channel"),
        (["stream"], ask("joinTopic", channel=name, topic="t"), "channel"),
        (["metadata"], set_items(**place), "channel"), (["metadata"], ask("removeMetadata", **place), "channel"),
        (["metadata"], lambda client: client.start_texts("updateMetadata", [("k", "v")], **place), "channel"),
        (["lock"], ask("setLock", **lock), "channel"), (["lock"], ask("acquireLock", **lock), "channel"),
        (["lock"], ask("releaseLock", **lock), "channel"), (["lock"], ask("removeLock", **place, lock="free"), "channel"),
        (["clear"], ask("clear", channel=name), "channel"), (["clear"], ask("undoClear", channel=name), "channel"),
        (["direct"], lambda client: client.direct(other, b"x"), "everywhere"),
        (["metadata"], lambda client: client.start_texts("setMetadata", [("k", "v")], user=client.identity.user), "everywhere"),
        (["metadata"], ask("getMetadata", user=other), "everywhere"),
        (["metadata"], ask("subscribeUserMetadata", user=other), "everywhere"),
        (None, ask("revokeLock", **lock, owner=other), "everywhere"), (None, set_items(user=other), "everywhere"),
        (None, ask("setRole", user=other + "-x", role="reader"), "everywhere"),
        (None, ask("setMode", channel=name, mode="frozen", on=False), "everywhere"),
        (None, ask("endSession", user=other + "-x"), "everywhere"), (None, ask("banUser", user=other + "-x", forMs=1_000), "everywhere"),
        (None, ask("unbanUser", user=other + "-x"), "everywhere"), (None, ask("getBans"), "everywhere"),
        (None, ask("forgetUser", user=other + "-x"), "everywhere"), (None, ask("status", after=other), "everywhere"),
        (None, ask("removeRecords", channel=name, user=other), "everywhere"), (None, ask("endChannel", channel=name), "everywhere"),
        (None, ask("removeMetadata", user=other), "everywhere"), (["clear"], ask("removeBoard", channel=name), "channel"),
    ]


@check("[AC5 AC6] each request wants its right and no other, and is refused alike whether what it names is there or not", relay="access")
def refusal_table(ctx):
    host, name, other, nothing = guest(ctx, host_key(ctx)), ctx.name("c"), ctx.name("other"), ctx.name("nothing")
    place = {"kind": "message", "channel": name}
    resident = guest(ctx, host_key(ctx), other)
    resident.request("subscribe", channel=name)
    resident.request("setStates", **place, states={"a": "b"})
    resident.request("join", channel=name)
    resident.request("joinTopic", channel=name, topic="t")
    resident.texts("setMetadata", [("k", "v")], **place)
    resident.texts("setMetadata", [("k", "v")], user=other)
    for lock in ("pen", "free"):
        resident.request("setLock", lock=lock, **place)
    resident.request("acquireLock", lock="pen", **place)
    resident.retain(name, "k", b"v")
    there, absent = needing_rights(ctx, name, other), needing_rights(ctx, nothing, ctx.name("nobody"))
    for row, (rights, ask, scope) in enumerate(there):
        if rights is None:
            poor, rich = guest(ctx, role="editor", grants=everything_but()), host
        else:
            poor = guest(ctx, grants=everything_but(rights[0]))
            rich = guest(ctx, grants={name if scope == "channel" else "*": rights})
        seen, unseen = refusal_of(ask(poor)), refusal_of(absent[row][1](poor))
        need(seen is not None and seen["name"] == "notPermitted", f"row {row} without {rights}: {seen}")
        need(seen == unseen, f"row {row} without {rights}: {seen} for what is there, {unseen} for what is not")
        ctx.tracker.proved.add("notPermitted")
        got = refusal_of(ask(rich))
        need(got is None or got["name"] != "notPermitted", f"row {row} with {rights}: {got}")
        for client in (poor, rich):
            if client is not host:
                client.drop()


@check("[BL10] an editor changes its own records and nobody's, another's only who may clear; "
       "what is sent behind a refused one keeps its order",
       relay="access")
def own_records(ctx):
    name = ctx.name("c")
    host, a, b = guest(ctx, host_key(ctx)), guest(ctx, join_key(ctx)), guest(ctx, role="editor")
    host.request("subscribe", channel=name)
    a.retain(name, "a", b"1")
    a.retain(name, "gone", b"2")
    a.retain(name, "gone")
    host.sync()
    mark = host.mark()
    replies = [b.publish(name, b"x", key="a", extra=RETAIN), b.publish(name, b"plain"), b.publish(name, b"", key="a", extra=RETAIN),
               b.publish(name, b"b's", key="gone", extra=RETAIN), b.publish(name, b"x", key="a", part=(1, 2), extra=RETAIN)]
    for n in (0, 2, 4):
        ctx.refused("notPermitted", replies[n].wait)
    need(replies[3].wait() == replies[1].wait() + 1, "what was refused took an offset")
    a.retain(name, "a", b"own")
    host.retain(name, "a", b"host's")
    guest(ctx, role="coeditor").retain(name, "a", b"a coeditor's")
    ctx.refused("notPermitted", lambda: a.publish(name, b"", key="a", extra=RETAIN).wait())
    board_request(host, "clear", channel=name)
    a.retain(name, "gone", b"anybody's")
    board_request(host, "undoClear", channel=name)
    ctx.refused("notPermitted", lambda: b.publish(name, b"", key="a", extra=RETAIN).wait())
    ctx.refused("notPermitted", lambda: b.publish(name, b"", key="gone", extra=RETAIN).wait())
    host.sync()
    need(shown(host, mark)[:3] == [(None, b"plain"), ("gone", b"b's"), ("a", b"own")], f"{shown(host, mark)}")


@check("[AC6] what one has may be given back and left with no right; lists have what one may see", relay="access")
def without_rights(ctx):
    name, hidden, user = ctx.name("c"), ctx.name("hidden"), ctx.name("user")
    host, place = guest(ctx, host_key(ctx)), {"kind": "message", "channel": name}
    for board in (name, hidden):
        host.request("subscribe", channel=board)
        host.retain(board, "k", b"v")
    host.request("setLock", lock="pen", **place)
    client = guest(ctx, user=user, role="editor")
    client.request("subscribe", channel=name)
    client.request("acquireLock", lock="pen", **place)
    ctx.refused("notPermitted", lambda: guest(ctx, join_key(ctx)).request("removeLock", lock="pen", **place))
    client.request("renew", **mint(ctx, user, grants={name: ["subscribe", "presence"]}))
    client.request("releaseLock", lock="pen", **place)
    ctx.refused("notPermitted", lambda: client.request("acquireLock", lock="pen", **place))
    need([c["channel"] for c in client.request("where", user=host.identity.user)["channels"]] == [name],
         "where tells of what it may not see")
    boards = {b["channel"] for b in client.request("boards")["boards"]}
    need(boards == {name}, f"boards tells of {boards}")
    client.request("getMetadata", user=user)
    client.request("subscribeUserMetadata", user=user)
    client.request("unsubscribe", channel=name)
    ctx.refused("notSubscribed", lambda: client.request("unsubscribe", channel=name))
    client.logout()


@check("[AC7 AC8] who may no longer is out: channels are left, flows close, features end, and others see a leave", relay="access")
def fewer_rights(ctx):
    user, left, kept = ctx.name("user"), ctx.name("left"), ctx.name("kept")
    client, watcher = guest(ctx, user=user, role="editor"), guest(ctx, host_key(ctx))
    for name in (left, kept):
        watcher.request("subscribe", channel=name)
        client.request("subscribe", channel=name)
        watcher.request("join", channel=name)
        watcher.request("subscribeTopic", channel=name, topic="t")
        client.request("join", channel=name)
    flows = {name: client.request("joinTopic", channel=name, topic="t")["flow"] for name in (left, kept)}
    client.request("subscribeUserMetadata", user=watcher.identity.user)
    watcher.sync()
    mark, own = watcher.mark(), client.mark()
    ctx.refused("tokenInvalid", lambda: client.request("renew", **mint(ctx, ctx.name("other"), role="moderator")))
    ctx.refused("keyWrong", lambda: client.request("renew", key="wrong"))
    ctx.refused("badRequest", lambda: client.request("renew", key="a", token="b"))
    client.packet(flows[left], b"still")
    watcher.wait_for("packet", since=mark)
    answer = client.request("renew", **mint(ctx, user, grants={kept: ["subscribe"]}))
    need(answer["access"]["grants"] == {kept: ["subscribe"]} and answer["access"].get("role") is None, f"{answer}")
    client.sync()
    need(sorted(e["name"] for e in client.since(own, "removed")) == ["notPermitted"] * 2, f"{client.since(own, 'removed')}")
    closed = {e["flow"] for e in client.since(own, "error") if e.get("flow") is not None}
    need(closed == set(flows.values()), f"told of {closed} instead of {flows}")
    ctx.refused("unknownFlow", client.raw("publishPacket", encode_packet(flows[kept], b"x")[1], flow=flows[kept]))
    watcher.sync()
    need({e["event"] for e in watcher.since(mark, "presence")} == {"leave"} and len(watcher.since(mark, "presence")) == 2,
         f"{watcher.since(mark, 'presence')}")
    need({e["flow"] for e in watcher.since(mark, "flowClosed")} == set(flows.values()), f"{watcher.since(mark, 'flowClosed')}")
    own = client.mark()
    watcher.request("setStates", kind="message", channel=kept, states={"a": "b"})
    watcher.texts("setMetadata", [("k", "v")], user=watcher.identity.user)
    watcher.publish(kept, "is heard").wait()
    client.wait_for("deliver", since=own)
    need(not client.since(own, "presence", "metadata"), f"{client.since(own, 'presence', 'metadata')}")
    client.request("renew", **host_key(ctx))
    need(client.checker.access == {"role": "moderator"}, f"{client.checker.access}")
    client.request("subscribe", channel=left)


@check("[AC8] before a token ends its session is told, at its end closed; with another it goes on", relay="access")
def token_ends(ctx):
    name, told_user = ctx.name("c"), ctx.name("user")
    told = guest(ctx, mint(ctx, told_user, seconds=27, role="editor"), told_user)
    ending = guest(ctx, seconds=3, role="editor")
    ending.request("subscribe", channel=name)
    ctx.closed(ending, "accessExpired")
    ending.identity.credential = mint(ctx, ending.identity.user, seconds=-60, role="editor")
    ctx.refused("tokenExpired", stranger(ctx, ending.identity.credential, ending.identity.user).login, id=1)
    ending.identity.credential = mint(ctx, ending.identity.user, role="editor")
    back = ctx.resume(ending)
    need(back.checker.welcome["resumed"] and back.checker.welcome["lastEnd"]["name"] == "accessExpired", f"{back.checker.welcome}")
    told.wait_for("accessExpiring")
    answer = told.request("renew", **mint(ctx, told_user, role="reader"))
    need(answer["access"]["role"] == "reader" and answer["access"]["untilMs"] > 3_500_000, f"{answer}")
    need(len(told.since(0, "accessExpiring")) == 1, "told more than once")
    need("untilMs" not in told.request("renew", **join_key(ctx))["access"], "a key has no end")


@check("[AC9] a token in join adds what it gives in that channel, as long as it holds", relay="access")
def lent_rights(ctx):
    name, other, user = ctx.name("c"), ctx.name("other"), ctx.name("user")
    client = guest(ctx, user=user, grants={"nothing": ["subscribe"]})

    def lend(seconds=3600, whom=user, **claims):
        return mint(ctx, whom, seconds, **claims)["token"]
    ctx.refused("notPermitted", lambda: client.request("join", channel=name, features=[]))
    ctx.refused("tokenInvalid", lambda: client.request("join", channel=name, features=[], token=lend(whom=other, role="editor")))
    ctx.refused("tokenExpired", lambda: client.request("join", channel=name, features=[], token=lend(-60, role="editor")))
    ctx.refused("notPermitted", lambda: client.request("join", channel=name, features=[], token=lend(grants={other: ["subscribe"]})))
    client.request("join", channel=name, token=lend(role="editor"))
    client.request("joinTopic", channel=name, topic="t")
    ctx.refused("notPermitted", lambda: client.request("join", channel=other, features=[]))
    ctx.refused("notPermitted", client.publish(name, b"of another kind"))
    client.request("leave", channel=name)
    ctx.refused("notPermitted", lambda: client.request("join", channel=name, features=[]))
    handle = client.request("join", channel=name, token=lend(3, role="editor"))["handle"]
    need(client.wait_for("removed")["channel"] == handle, "it stays")
    ctx.lives(client)


@check("[AC1 AC8 AC9] an open relay looks at no credential, and everybody is a moderator")
def open_relay(ctx):
    for credential in ({"key": "any"}, {"token": "any"}, {}):
        client = guest(ctx, credential) if credential else ctx.client()
        need(client.checker.access == {"role": "moderator"}, f"{client.checker.access}")
        need(client.request("renew", token="any")["access"] == {"role": "moderator"}, "renewed")
        client.request("join", channel=ctx.name("c"), token="any")
