"""Moderators."""

import time

from bounds import EARLY
from context import check, presence_of
from guests import guest, host_key, join_key, mint, stranger
from http_checks import Failed, need
from relay_client import Ended, PATIENCE, RETAIN, RelayError, encode_packet
from steps import BEGINNING, board_request, caught_up, shown


@check("[AC10] who is made a reader only looks on, at once and when it comes back; an editor is made of who had less", relay="access")
def roles_set(ctx):
    name, user = ctx.name("c"), ctx.name("user")
    host, watcher = guest(ctx, host_key(ctx)), guest(ctx, join_key(ctx))
    client = guest(ctx, join_key(ctx), user)
    for one in (client, watcher):
        one.request("join", channel=name)
    watcher.request("subscribeTopic", channel=name, topic="t")
    flow = client.request("joinTopic", channel=name, topic="t")["flow"]
    mark, seen, hosts = client.mark(), watcher.mark(), host.mark()
    host.request("setRole", user=user, role="reader")
    event = client.wait_for("accessChanged", since=mark)
    need(event["role"] == "reader" and event["by"] == host.identity.user, f"{event}")
    client.sync()
    need([e["flow"] for e in client.since(mark, "error")] == [flow], f"{client.since(mark)}")
    watcher.wait_for("flowClosed", since=seen)
    ctx.refused("notPermitted", client.publish(name, b"x"))
    ctx.refused("notPermitted", lambda: client.request("joinTopic", channel=name, topic="t"))
    client.request("subscribe", channel=name)
    client.drop()
    back = ctx.resume(client)
    need(back.checker.welcome["resumed"] and back.checker.access == {"role": "reader"}, f"{back.checker.welcome}")
    ctx.refused("notPermitted", back.publish(name, b"x"))
    need(back.request("renew", **mint(ctx, user, role="editor", grants={name: ["clear", "subscribe"]}))["access"]["role"] == "reader",
         "renewed out of it")
    mark = back.mark()
    host.request("setRole", user=user)
    need(back.wait_for("accessChanged", since=mark)["role"] == "editor", "its own again")
    back.publish(name, b"x").wait()
    host.request("setRole", user=user)
    reader = guest(ctx, role="reader")
    host.request("setRole", user=reader.identity.user, role="editor")
    reader.publish(name, b"x").wait()
    other = guest(ctx, host_key(ctx))
    for whom in (other, host):
        ctx.refused("notPermitted", lambda: host.request("setRole", user=whom.identity.user, role="reader"))
    ctx.refused("badRequest", lambda: host.request("setRole", user=user, role="moderator"))
    host.sync()
    need(not host.since(hosts, "accessChanged") and len(back.since(mark, "accessChanged")) == 1, "told who is not concerned, or again")


@check("[AC20 AC2 AC6] a join code lets newcomers in with the join key's role, who are told the key; it ends when the host says so",
       relay="access")
def join_code(ctx):
    name, host = ctx.name("c"), guest(ctx, host_key(ctx))
    ctx.refused("notPermitted", lambda: guest(ctx, join_key(ctx)).request("offerJoinCode", channel=name))
    ctx.refused("badName", lambda: host.request("offerJoinCode", channel="*"))
    code = host.request("offerJoinCode", channel=name)["code"]
    need(host.request("offerJoinCode", channel=name)["code"] == code, "another code, asked for again")

    def come(text, **more):
        return ctx.connect().start_login(joinCode=text, **more)

    for text in (code, f" {code[:3]}-{code[3:].lower()}"):
        welcome = come(text).wait()
        need(welcome["joinKey"] == join_key(ctx)["key"] and welcome["channel"] == name, f"{welcome}")
        need(welcome["access"]["role"] == "editor" and welcome.get("secret") is None, f"{welcome}")
    for credential in ({"key": "k" * 26}, {"token": "t"}):
        ctx.refused("badRequest", stranger(ctx, credential).start_login(joinCode=code), id=...)
    ctx.refused("badRequest", come(code, code="0" * 10, user=None, secret=None), id=...)
    began, mark = time.monotonic(), host.mark()
    late = [come(text) for text in (code[:5], code[:5] + "L")]
    for reply in late:
        ctx.refused("codeWrong", reply, id=..., limit=ctx.limit("wrong join codes in a minute of a relay"), actual=...)
    need(time.monotonic() - began >= 1 - EARLY, "a wrong code is answered at once")
    elsewhere = ctx.name("d")
    other = host.request("offerJoinCode", channel=elsewhere)["code"]
    ctx.refused("codeWrong", come(code), id=...)
    need(come(other).wait()["channel"] == elsewhere, "where the new code leads")
    host.request("withdrawJoinCode")
    host.request("withdrawJoinCode")
    ctx.refused("codeWrong", come(other), id=...)
    host.sync()
    need(not host.since(mark, "joinCodeEnded"), "told of what it has asked for")
    last = host.request("offerJoinCode", channel=name)["code"]
    host.request("renew", **mint(ctx, host.identity.user, role="editor"))
    need(host.wait_for("joinCodeEnded", since=mark)["reason"] == "notPermitted", "its session may invite nobody any more")
    ctx.refused("codeWrong", come(last), id=...)


@check("[AC11 BL10] in a channel that is open for editing an editor changes what others drew, until it is closed", relay="access")
def open_editing(ctx):
    name, other, host, editor = ctx.name("c"), ctx.name("d"), guest(ctx, host_key(ctx)), guest(ctx, join_key(ctx))
    editor.request("subscribe", channel=name)
    for channel in (name, other):
        host.retain(channel, "a", b"host's")
    ctx.refused("badRequest", lambda: host.request("setMode", channel=name, mode="melted", on=True))
    host.request("setMode", channel=name, mode="openEditing", on=True)
    event = editor.wait_for("modeChanged")
    need((event["mode"], event["on"], event["by"]) == ("openEditing", True, host.identity.user), f"{event}")
    editor.retain(name, "a", b"editor's")
    ctx.refused("notPermitted", editor.publish(other, b"x", key="a", extra=RETAIN))
    need(editor.request("subscribe", channel=name)["modes"] == ["openEditing"], "who comes in is not told")
    host.retain(name, "a", b"host's")
    host.request("setMode", channel=name, mode="openEditing", on=False)
    ctx.refused("notPermitted", editor.publish(name, b"x", key="a", extra=RETAIN))


@check("[AC11] in a frozen channel all but moderators look on, in both kinds; those inside are told, those who come, too", relay="access")
def frozen(ctx):
    name = ctx.name("c")
    host, client, late = guest(ctx, host_key(ctx)), guest(ctx, join_key(ctx)), guest(ctx, join_key(ctx))
    for one in (host, client):
        one.request("subscribe", channel=name)
        one.request("join", channel=name)
    client.publish(name, b"x").wait()
    flow = client.request("joinTopic", channel=name, topic="t")["flow"]
    own = host.request("joinTopic", channel=name, topic="t")["flow"]
    host.request("setLock", kind="message", channel=name, lock="pen")
    host.request("acquireLock", kind="message", channel=name, lock="pen")
    wait = client.start_request("acquireLock", kind="message", channel=name, lock="pen", waitMs=20_000)
    client.sync()
    mark, hosts = client.mark(), host.mark()
    host.request("setMode", channel=name, mode="frozen", on=True)
    ctx.refused("notPermitted", wait)
    client.sync()
    need([e["on"] for e in client.since(mark, "modeChanged")] == [True, True], f"{client.since(mark)}")
    need({e["by"] for e in client.since(mark, "modeChanged")} == {host.identity.user}, "by whom")
    need([e["flow"] for e in client.since(mark, "error") if e.get("flow")] == [flow], f"{client.since(mark, 'error')}")
    ctx.refused("notPermitted", client.publish(name, b"x"))
    ctx.refused("notPermitted", client.start_texts("setMetadata", [("k", "v")], kind="stream", channel=name))
    ctx.refused("notPermitted", lambda: client.request("joinTopic", channel=name, topic="t"))
    client.request("setStates", kind="message", channel=name, states={"a": "b"})
    host.publish(name, b"still").wait()
    host.packet(own, b"still")
    client.wait_for("deliver", since=mark)
    need(late.request("subscribe", channel=name).get("modes") == late.request("join", channel=name).get("modes") == ["frozen"],
         "not told")
    client.publish(ctx.name("another"), b"x").wait()
    client.drop()
    back = ctx.resume(client)
    back.sync()
    need([e.get("modes") for e in back.since(0, "restored")] == [["frozen"]] * 2, f"{back.since(0, 'restored')}")
    mark = back.mark()
    for _ in range(2):
        host.request("setMode", channel=name, mode="frozen", on=False)
    back.publish(name, b"x").wait()
    need([e["on"] for e in back.since(mark, "modeChanged")] == [False, False], "told again, or not")
    need(len(host.since(hosts, "modeChanged")) == 4, "a moderator inside is told as others are")
    need("modes" not in back.request("subscribe", channel=name), "not any more")


@check("[AC12] a session is ended with a reason, others see a leave, it resumes nothing and comes in again", relay="access")
def ended(ctx):
    name, host, client = ctx.name("c"), guest(ctx, host_key(ctx)), guest(ctx, join_key(ctx))
    for one in (host, client):
        one.request("subscribe", channel=name)
    mark, user = host.mark(), client.identity.user
    longest = ctx.limit("reason of an `endSession` or `endChannel`")
    ctx.refused("tooLarge", lambda: host.request("endSession", user=user, reason="x" * (longest + 1)), limit=256, actual=257)
    host.request("endSession", user=user, reason="See you tomorrow – 明日")
    need(ctx.closed(client, "endedByModerator")["text"] == "See you tomorrow – 明日", "the reason")
    host.sync()
    need(presence_of(host, mark, "leave", "timeout") == [("leave", user)], f"{presence_of(host, mark)}")
    ctx.refused("userOffline", lambda: host.request("endSession", user=user))
    back = ctx.connect(client.identity)
    need(back.login(token=client.checker.welcome["resumeToken"])["resumed"] is False, "resumed")


@check("[AC13] neither the id nor the client's secret comes in any more, nor goes on by a renewal, until the ban is over", relay="access")
def bans(ctx):
    host, client = guest(ctx, host_key(ctx)), guest(ctx, join_key(ctx))
    user, secret = client.identity.user, client.identity.secret
    ctx.refused("badRequest", lambda: host.request("banUser", user=user, forMs=ctx.limit("time of a ban") - 1), limit=1_000, actual=999)
    ctx.refused("badRequest", lambda: host.request("banUser", user=user, forMs=ctx.limit("time of a ban", 1) + 1))
    host.request("banUser", user=user)
    ctx.closed(client, "banned")
    for who, credential, identity in (
            (user, join_key(ctx), {"secret": secret}), (user, host_key(ctx), {}), (user, mint(ctx, user, role="editor"), {}),
            (ctx.name("other"), join_key(ctx), {"secret": secret})):
        one = stranger(ctx, credential, who, **identity)
        try:
            one.login()
            raise Failed(f"{who} came in")
        except (RelayError, Ended):
            ctx.closed(one, "banned")
    ctx.refused("keyWrong", stranger(ctx, {"key": "0" * 26}, user, secret=secret).login, id=1)
    found = [ban for ban in host.request("getBans")["bans"] if ban["user"] == user]
    need(len(found) == 1 and found[0]["by"] == host.identity.user and found[0].get("until") is None, f"{found}")
    host.request("unbanUser", user=user)
    ctx.refused("notBanned", lambda: host.request("unbanUser", user=user))
    back = ctx.client(identity=client.identity)
    users = sorted(ctx.name("many") for _ in range(3))
    for one in users:
        host.request("banUser", user=one, forMs=60_000)
    page, after = [], None
    while True:
        answer = host.request("getBans", limit=1, **({"after": after} if after else {}))
        page += [ban["user"] for ban in answer["bans"]]
        after = answer.get("next")
        if after is None:
            break
    need([one for one in page if one in users] == users, f"{page}")
    for one in (host.identity.user, guest(ctx, host_key(ctx)).identity.user):
        ctx.refused("notPermitted", lambda: host.request("banUser", user=one))
    host.request("banUser", user=back.identity.user, forMs=1_000)
    ctx.closed(back, "banned")
    time.sleep(1.2)
    ctx.client(identity=client.identity)


@check("[AC13] who is spared as a moderator is asked again when it renews as less", relay="access")
def ban_at_renewal(ctx):
    name, user = ctx.name("c"), ctx.name("teacher")
    host, pupil = guest(ctx, host_key(ctx)), guest(ctx, join_key(ctx))
    teacher = stranger(ctx, mint(ctx, user, role="moderator"), user, secret=pupil.identity.secret)
    teacher.login()
    for one in (host, teacher):
        one.request("subscribe", channel=name)
    host.request("banUser", user=pupil.identity.user)
    ctx.closed(pupil, "banned")
    ctx.lives(teacher)
    mark = host.mark()
    teacher.start_request("renew", **mint(ctx, user, role="editor"))
    ctx.closed(teacher, "banned")
    host.sync()
    need(presence_of(host, mark) == [("leave", user)], f"{presence_of(host, mark)}")
    host.request("unbanUser", user=pupil.identity.user)


@check("[AC14 AC15] what is kept of a user is forgotten, not its ban; nothing of it is told twice", relay="access")
def forgotten(ctx):
    host, client = guest(ctx, host_key(ctx)), guest(ctx, join_key(ctx))
    user = client.identity.user
    client.texts("setMetadata", [("name", "Anna")], user=user)
    host.request("subscribeUserMetadata", user=user)
    client.logout()
    host.request("setRole", user=user, role="reader")
    host.request("banUser", user=user)
    mark = host.mark()
    told = host.request("forgetUser", user=user)
    need((told["metadata"], told["role"], told["banned"], told["records"]) == (1, True, True, 0), f"{told}")
    told = host.request("forgetUser", user=user)
    need((told["metadata"], told["role"], told["banned"]) == (0, False, True), f"{told}")
    host.sync()
    changes = host.since(mark, "metadata")
    need(len(changes) == 1 and changes[0]["removed"] == ["name"], f"{changes}")
    need(any(ban["user"] == user for ban in host.request("getBans")["bans"]), "the ban went, too")
    host.request("unbanUser", user=user)
    other = guest(ctx, join_key(ctx), user)
    need(other.identity.secret != client.identity.secret and other.checker.access == {"role": "editor"}, f"{other.checker.access}")


@check("[AC14 BL1] with its records what a user drew goes from boards, live and read anew; what others drew stays", relay="access")
def forgotten_with_records(ctx):
    name, host, client, other = ctx.name("c"), guest(ctx, host_key(ctx)), guest(ctx, join_key(ctx)), guest(ctx, join_key(ctx))
    host.request("subscribe", channel=name)
    for author, key in ((client, "s1"), (other, "s2"), (client, "s3")):
        author.retain(name, key, key)
    host.sync()
    mark = host.mark()
    told = host.request("forgetUser", user=client.identity.user, withRecords=True)
    need((told["records"], told["boards"], told["keptBytes"], told["here"]) == (2, 1, 0, True), f"{told}")
    caught_up(host, mark)
    gone = [(event["offset"], event["key"], len(event["payload"])) for event in host.since(mark, "deliver")]
    need(gone == [(4, "s1", 0), (5, "s3", 0)], f"{gone}")
    for offset, key, _ in gone:
        host.checker.ledger.removed(name, offset, host.identity.user, key)
    fresh = guest(ctx, join_key(ctx))
    fresh.request("subscribe", channel=name, since=BEGINNING)
    caught_up(fresh)
    need(shown(fresh) == [("s2", "s2")], f"{shown(fresh)}")


@check("[AC18 BL6] a user's records go from one board, live, read anew and after an undone clear; what others drew, and other boards, stay",
       relay="access")
def records_removed(ctx):
    name, elsewhere = ctx.name("c"), ctx.name("c")
    host, client, other = guest(ctx, host_key(ctx)), guest(ctx, join_key(ctx)), guest(ctx, join_key(ctx))
    user = client.identity.user
    ctx.refused("boardNotFound", lambda: host.request("removeRecords", channel=name, user=user))
    client.retain(elsewhere, "s1", "s1")
    client.retain(name, "s0", "s0")
    host.request("clear", channel=name)
    host.request("subscribe", channel=name)
    for author, key in ((client, "s1"), (other, "s2"), (client, "s3")):
        author.retain(name, key, key)
    ctx.refused("notPermitted", lambda: client.request("removeRecords", channel=name, user=user))
    host.sync()
    mark = host.mark()
    answer = host.request("removeRecords", channel=name, user=user)
    need(answer["records"] == 3, f"{answer}")
    caught_up(host, mark)
    gone = [(event["offset"], event["key"], len(event["payload"])) for event in host.since(mark, "deliver")]
    need([key for _, key, _ in gone] == ["s0", "s1", "s3"] and not any(length for _, _, length in gone), f"{gone}")
    for offset, key, _ in gone:
        host.checker.ledger.removed(name, offset, host.identity.user, key)
    need(host.request("removeRecords", channel=name, user=user)["records"] == 0, "records that were gone")
    board_request(host, "undoClear", channel=name)
    client.retain(name, "s4", "s4")
    fresh = guest(ctx, join_key(ctx))
    for channel, expected in ((name, [("s2", "s2"), ("s4", "s4")]), (elsewhere, [("s1", "s1")])):
        mark = fresh.mark()
        fresh.request("subscribe", channel=channel, since=BEGINNING)
        caught_up(fresh, mark)
        need(shown(fresh, mark) == expected, f"{channel}: {shown(fresh, mark)}")


@check("[AC19] an ended channel is left by everybody, who are told why; what comes then has another epoch, and nothing of before",
       relay="access")
def channel_ended(ctx):
    name, host, client, away = ctx.name("c"), guest(ctx, host_key(ctx)), guest(ctx, join_key(ctx)), guest(ctx, join_key(ctx))
    first = client.request("subscribe", channel=name, features=["messages", "presence", "metadata", "locks"])
    for one in (host, client, away):
        one.request("join", channel=name)
    client.request("subscribeTopic", channel=name, topic="t")
    flow = host.request("joinTopic", channel=name, topic="t")["flow"]
    client.retain(name, "s1", "s1")
    client.texts("setMetadata", [("title", "Ink")], kind="message", channel=name)
    client.request("setLock", kind="stream", channel=name, lock="pen")
    ctx.refused("notPermitted", lambda: client.request("endChannel", channel=name))
    ctx.refused("tooLarge", lambda: host.request("endChannel", channel=name, reason="x" * 257), limit=256)
    away.drop()
    client.sync()
    mark, hosts = client.mark(), host.mark()
    host.request("endChannel", channel=name, reason="the lesson is over")
    client.sync()
    told = client.since(mark, "removed")
    need([(e["name"], e["text"]) for e in told] == [("channelEnded", "the lesson is over")] * 2, f"{told}")
    need(not client.since(mark, "presence", "topics", "metadata", "locks", "reset", "flowClosed"), f"{client.since(mark)}")
    need(len(host.since(hosts, "removed")) == 1, f"{host.since(hosts)}")
    ctx.tracker.proved.add("channelEnded")
    ctx.refused("unknownFlow", host.raw("publishPacket", encode_packet(flow, b"x")[1], flow=flow))
    back = ctx.resume(away)
    need(not back.since(0, "restored"), f"{back.since(0)}")
    again = client.request("subscribe", channel=name, since={"epoch": first["epoch"], "offset": 0})
    need(again["epoch"] != first["epoch"] and again["reset"] and again["head"] == 0, f"{again}")
    need(client.all_metadata(kind="message", channel=name) == (0, {}), "metadata stays")
    need(client.request("getLocks", kind="stream", channel=name)["locks"] == [], "a lock stays")
    need(all(board["channel"] != name for board in host.request("boards", after=name[:-1])["boards"]), "the board stays")
    host.request("endChannel", channel=ctx.name("none"))


@check("[AC16] a moderator sees who is there page by page, who lags, who holds how much, and counts what happens; others do not",
       relay="access")
def status_of_relay(ctx):
    name, host, pupil = ctx.name("c"), guest(ctx, host_key(ctx)), guest(ctx, join_key(ctx))
    host.request("subscribe", channel=name)
    ctx.refused("notPermitted", lambda: pupil.request("status"))
    for limit in (0, 101):
        ctx.refused("badRequest", lambda: host.request("status", limit=limit), limit=max(1, min(100, limit)))
    before = host.request("status")
    pupil.publish(name, b"x").wait()
    after = host.request("status")
    for counter in ("messagesAccepted", "messagesDelivered"):
        need(after["counters"][counter] > before["counters"][counter], f"{counter}: {before['counters']}, {after['counters']}")
    need(after["sessions"]["present"] >= 2 and after["connections"] >= 2, f"{after}")
    found, place = [], None
    while True:
        page = host.request("status", limit=1, **({"after": place} if place else {}))
        found += page["users"]
        place = page.get("next")
        if place is None:
            break
    need(host.request("status", hour=True)["users"] == [], "the last hour comes without users")
    users = [one["user"] for one in found]
    need(users == sorted(set(users)) and {host.identity.user, pupil.identity.user} <= set(users), f"{users}")
    there = next(one for one in found if one["user"] == pupil.identity.user)
    need(there["peer"] and not there["away"], f"{there}")
    pupil.request("join", channel=name)
    later = host.request("status")
    held = next(one for one in later["users"] if one["user"] == pupil.identity.user)["memoryBytes"]
    need(held > there["memoryBytes"] > 0, f"a stay in a channel is not told: {there}, then {held}")
    first = later["addresses"][0]
    need(first["sessions"] >= 2 and first["memoryBytes"] > held, f"both came from one address: {first}")
    need(host.request("status", user=pupil.identity.user)["known"] and not host.request("status", user=ctx.name("nobody"))["known"],
         "who is known")
    pupil.drop()
    deadline = time.monotonic() + PATIENCE
    while not (gone := next(one for one in host.request("status")["users"] if one["user"] == pupil.identity.user))["away"]:
        need(time.monotonic() < deadline, f"not away: {gone}")
        time.sleep(0.02)
    need(gone["peer"] == "", f"{gone}")


@check("[AC10 AC15] on an open relay a moderator is who was not made a reader by another")
def open_moderation(ctx):
    a, b = ctx.client(), ctx.client()
    ctx.refused("notPermitted", lambda: a.request("setRole", user=a.identity.user, role="reader"))
    mark = b.mark()
    a.request("setRole", user=b.identity.user, role="reader")
    need(b.wait_for("accessChanged", since=mark)["by"] == a.identity.user, "by whom")
    ctx.refused("notPermitted", lambda: b.request("setRole", user=a.identity.user, role="reader"))
    ctx.refused("notPermitted", b.publish(ctx.name("c"), b"x"))
    a.request("setRole", user=b.identity.user)
    b.publish(ctx.name("c"), b"x").wait()
