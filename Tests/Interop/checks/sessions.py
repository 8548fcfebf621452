"""Sessions."""

import time

from bounds import EARLY
from context import check, payloads, presence_of
from http_checks import Failed, need
from peer.replies import Identity
from relay_client import Ended, frame, json_body
from steps import caught_up, set_states, states_of


@check("[SE1 FR6] before login every frame but ping and pong is loginRequired")
def login_required(ctx):
    client = ctx.connect()
    client.ping(b"before").wait()
    client.send("pong", b"")
    replies = []
    for kind, (number, sender, _) in ctx.document.frames.items():
        if kind in ("login", "ping", "pong"):
            continue
        if number in (0x02, 0x05) or 0x20 <= number < 0x80:
            replies.append(client.raw(number, b'{"id":1}', id=1))
        else:
            replies.append(client.raw(number, b""))
    replies.append(client.raw(0x7F, b""))
    for reply in replies:
        ctx.refused("loginRequired", reply)
    client.login()


@check("[SE1] a second login is alreadyLoggedIn and changes nothing")
def second_login(ctx):
    client, channel = ctx.client(), ctx.name("c")
    client.request("subscribe", channel=channel)
    user = client.identity.user
    client.identity.user = ctx.name("other")
    ctx.refused("alreadyLoggedIn", client.login, id=...)
    client.identity.user = user
    need(client.request("where", user=user)["channels"] == [{"kind": "message", "channel": channel}], "it is gone")


BAD_LOGINS = [({"instance": "xyz"}, "instance"), ({"instance": "0" * 15}, "instance"), ({"instance": "0" * 17}, "instance"),
              ({"instance": "g" * 16}, "instance"), ({"instance": None}, "instance"),
              ({"device": "0" * 15}, "device"), ({"device": "g" * 16}, "device"),
              ({"user": 5}, "user"), ({"user": None}, "user"),
              ({"versions": 1}, "versions"), ({"versions": ["1"]}, "versions"), ({"versions": None}, "versions"),
              ({"version": 1, "versions": None}, "versions"), ({"capabilities": [1]}, "capabilities"), ({"resume": "x"}, "resume"),
              ({"resume": {"token": 5}}, "token"), ({"presenceTimeoutMs": "x"}, "presenceTimeoutMs")]


@check("[SE2] a login with a wrong field is badRequest and may be tried again")
def bad_logins(ctx):
    for wrong, name in BAD_LOGINS:
        client = ctx.connect()
        try:
            text = ctx.refused("badRequest", lambda: client.login(**wrong), id=1)["text"]
        except Failed as problem:
            raise Failed(f"{wrong}: {problem}") from problem
        need(name in text, f"{wrong}: no {name} in {text!r}")
        client.login()


@check("[SE2] a client description of 64 bytes passes, 65 are tooLarge; the secret may be absent")
def client_description(ctx):
    most = ctx.limit("client description")
    ctx.client(login={"client": "é" * (most // 2), "secret": None})
    client = ctx.connect()
    ctx.refused("tooLarge", lambda: client.login(client="x" * (most + 1)), id=1)


@check("[SE3] other versions are closed with versionNotSupported, which lists this one; of several the relay chooses")
def other_version(ctx):
    for versions in ([], [0], [2, 3], [4294967295]):
        client = ctx.connect()
        client.start_request("login", versions=versions, **{"user": 5, "of a later version": []})
        need(ctx.closed(client, "versionNotSupported")["versions"] == [1], "the list is not [1]")
    client = ctx.client(login={"versions": [7, 1, 2], "capabilities": ["of a later time", ""]})
    need(client.checker.welcome["capabilities"] == [], f"{client.checker.welcome}")
    client = ctx.client(login={"capabilities": ["of a later time", "goOn"]})
    need(client.checker.welcome["capabilities"] == ["goOn"], f"{client.checker.welcome}")


@check("[SE4] who does not log in for 10 s is closed with loginTimeout, pings or not", slow=True)
def login_timeout(ctx):
    begin = time.monotonic()
    silent, pinging = ctx.connect(), ctx.connect()
    try:
        for n in range(8):
            time.sleep(max(0, begin + 1.1 * (n + 1) - time.monotonic()))
            pinging.ping().wait()
    except Ended:
        pass
    for client in (silent, pinging):
        ctx.closed_after(client, "loginTimeout", begin, 10)


def login_of_size(identity, size):
    """A login frame of exactly `size` bytes, head included."""
    fields = {"id": 1, "versions": [1], "user": identity.user, "instance": identity.instance, "x": ""}
    fields["x"] = "x" * (size - 6 - len(json_body(fields)))
    return fields


@check("[SE4] 16,390 bytes before login pass, more are closed with frameTooLarge")
def bytes_before_login(ctx):
    most = ctx.limit("bytes before login")
    client = ctx.connect()
    fields = login_of_size(client.identity, most)
    client.raw("login", json_body(fields), id=1, fields=fields).wait()
    big = ctx.connect()
    fields = login_of_size(big.identity, most + 200)
    big.raw("login", json_body(fields), id=1, fields=fields)
    ctx.closed(big, "frameTooLarge")


@check("[SE4] many small frames without login are closed with frameTooLarge, too")
def pings_before_login(ctx):
    client = ctx.connect()
    size = len(frame("ping", bytes(8)))
    client.pings(ctx.limit("bytes before login") // size - 1)
    ctx.lives(client)
    client.ping()
    ctx.closed(client, "frameTooLarge")


WELCOME_LIMITS = {"messageBytesMax": "message payload + custom type", "messagesPerSecond": "messages per user and channel",
                  "packetBytesMax": "packet payload", "packetsPerSecond": "packets per user and topic",
                  "directMessagesPerSecond": "direct messages per user", "requestsPerSecond": "requests per user",
                  "subscribedChannelsMax": "subscribed message channels per session",
                  "joinedChannelsMax": "joined stream channels per session",
                  "publishedTopicsMax": "published topics per device and channel",
                  "subscribedTopicsMax": "subscribed topics per channel and session",
                  "unansweredMax": "direct messages waiting for confirmation"}


@check("[SE6] welcome tells the limits of the table, the same start and handle each time")
def welcome_fields(ctx):
    client = ctx.client()
    welcome = client.checker.welcome
    for field, row in WELCOME_LIMITS.items():
        need(welcome["limits"][field] == ctx.limit(row), f"{field}: {welcome['limits'][field]}")
    need(welcome["resumed"] is False and welcome.get("lastEnd") is None, f"{welcome}")
    need(ctx.client().checker.welcome["start"] == welcome["start"], "another start")


@check("[SE7 HB2] presence timeouts of 5,000…300,000 pass, others are badRequest with the limit")
def presence_timeouts(ctx):
    low, high = ctx.limit("presence timeout"), ctx.limit("presence timeout", 1)
    for good in (low, 10_000, 12_000, high):
        ctx.client(login={"presenceTimeoutMs": good})
    client = ctx.connect()
    ctx.refused("badRequest", lambda: client.login(presenceTimeoutMs=low - 1), id=..., limit=low)
    ctx.refused("badRequest", lambda: client.login(presenceTimeoutMs=high + 1), id=..., limit=high)


@check("[SE8] a newer login replaces; channels taken over stay unseen with states, the rest time out", slow=True)
def takeover(ctx):
    kept, left, stream = ctx.name("kept"), ctx.name("left"), ctx.name("stream")
    watcher, first = ctx.client(), ctx.client()
    for client in (watcher, first):
        client.request("subscribe", channel=kept)
        client.request("subscribe", channel=left)
        client.request("join", channel=stream)
    watcher.request("subscribeTopic", channel=stream, topic="t")
    first.request("setStates", kind="message", channel=kept, states={"color": "red"})
    flow = first.request("joinTopic", channel=stream, topic="t")["flow"]
    watcher.sync()
    mark = watcher.mark()
    user = first.identity.user
    began = time.monotonic()
    second = ctx.client(user=user)
    ctx.closed(first, "replaced")
    welcome = second.checker.welcome
    need(welcome["resumed"] is False, "nobody asked to resume")
    need(welcome.get("lastEnd") is None, f"{welcome}")
    watcher.wait_for("flowClosed", lambda e: e["flow"] == flow, since=mark)
    watcher.wait_for("topics", lambda e: e["event"] == "publisherLeft", since=mark)
    second.request("subscribe", channel=kept)
    second.request("join", channel=stream)
    answer = second.request("getStates", kind="message", channel=kept, user=user)
    need(answer["states"] == {"color": "red"}, f"{answer}")
    end = watcher.wait_for("presence", since=mark)
    need(end["event"] == "timeout" and end["user"] == user, f"{end}")
    need(end.at - began >= 10 - EARLY, f"seen after {end.at - began:.1f} s")
    watcher.sync()
    need(len(presence_of(watcher, mark)) == 1, f"{presence_of(watcher, mark)}")


@check("[SE8 PR1 PR5] a second device of a user is seen by nobody; the user leaves with the last one; onlyDevice replaces all others")
def two_devices(ctx):
    watcher, first, channel = ctx.client(), ctx.client(), ctx.name("c")
    user, secret = first.identity.user, first.identity.secret
    second, only = (Identity(user, secret=secret, credential=first.identity.credential, device=device * 16) for device in "ab")
    watcher.request("subscribe", channel=channel)
    first.request("subscribe", channel=channel)
    watcher.sync()
    mark = watcher.mark()
    other = ctx.client(identity=second)
    other.request("subscribe", channel=channel)
    first.request("unsubscribe", channel=channel)
    watcher.sync()
    need(presence_of(watcher, mark) == [], f"{presence_of(watcher, mark)}")
    last = ctx.client(identity=only, login={"onlyDevice": True})
    ctx.closed(first, "replaced")
    ctx.closed(other, "replaced")
    last.request("subscribe", channel=channel)
    last.request("unsubscribe", channel=channel)
    watcher.sync()
    need(presence_of(watcher, mark) == [("leave", user)], f"{presence_of(watcher, mark)}")


@check("[SE8] as many devices of a user as the table says have a session; one more is refused, a known one is not")
def most_devices(ctx):
    first, most = ctx.client(), ctx.limit("devices of a user with a session")
    known = first.identity

    def device(index):
        return Identity(known.user, secret=known.secret, credential=known.credential, device=f"{index:016x}")

    for index in range(1, most):
        ctx.client(identity=device(index))
    ctx.client(identity=device(1))
    ctx.refused("limitReached", ctx.connect(device(most)).start_login(), limit=most, actual=most + 1)


@check("[AC17 SE8 AC2] a code brings another device in as the same user, once, as a person types it; what is no code is refused late")
def offered_device(ctx):
    first = ctx.client()
    known = first.identity
    ctx.refused("badRequest", lambda: first.request("offerDevice", secret="0" * 32), id=...)
    void, code = (first.request("offerDevice", secret=known.secret)["code"] for _ in range(2))

    def device(digit):
        return ctx.connect(Identity(known.user, secret=known.secret, credential=known.credential, device=digit * 16))

    def come(client, code):
        return client.start_login(user=None, secret=None, code=code)

    began = time.monotonic()
    late = [come(device("d"), text) for text in (void, code[:9], code + "0", "")]
    welcome = come(device("c"), f"{code[:5]}-{code[5:].lower()}").wait()
    need(welcome["secret"] == known.secret and not welcome["resumed"], f"{welcome}")
    late.append(come(device("e"), code))
    for reply in late:
        ctx.refused("codeWrong", reply, id=...)
    need(time.monotonic() - began >= 1 - EARLY, "a wrong code is answered at once")
    with_user = ctx.connect()
    ctx.refused("badRequest", with_user.start_login(code=code), id=...)
    nobody = ctx.connect()
    ctx.refused("badRequest", nobody.start_login(user=None), id=...)
    first.sync()


@check("[SE8 PR5 PR8] states set between a takeover and coming in again reach the others")
def states_in_takeover(ctx):
    watcher, first, channel = ctx.client(), ctx.client(), ctx.name("c")
    watcher.request("subscribe", channel=channel)
    first.request("subscribe", channel=channel)
    set_states(first, {"channel": channel}, {"a": "1"})
    second = ctx.client(user=first.identity.user)
    set_states(second, {"channel": channel}, {"b": "2"})
    second.request("subscribe", channel=channel)
    watcher.sync()
    real = states_of(watcher, {"channel": channel}, second)
    believed = next(iter(watcher.checker.channels.values())).members[second.identity.user]
    need(believed == real, f"getStates tells {real}, the presence frames told {believed}")


def end_with_own_direct(ctx, end):
    """A client with an unanswered direct message to itself, whose connection ends: nothing after closing."""
    client = ctx.client(auto_received=False)
    client.direct(client.identity.user, b"")
    client.wait_for("directDeliver")
    end(client)
    client.wait_closed()


@check("[ER2 SE12 DM4] logout with a direct message to oneself under way: closing is the last frame")
def logout_with_direct(ctx):
    end_with_own_direct(ctx, lambda client: client.start_request("logout"))


@check("[ER2 SE8 DM4] replaced with a direct message to oneself under way: closing is the last frame")
def replaced_with_direct(ctx):
    end_with_own_direct(ctx, lambda client: ctx.client(user=client.identity.user))


def resume_scene(ctx):
    """(a, b, message channel, stream channel, b's flow): a and b in both, each selecting the other."""
    lesson, board = ctx.name("lesson"), ctx.name("board")
    a, b = ctx.client(), ctx.client()
    for client in (a, b):
        client.request("subscribe", channel=lesson)
        client.request("join", channel=board)
        client.request("subscribeTopic", channel=board, topic="pen")
    flow = b.request("joinTopic", channel=board, topic="pen", meta="blue")["flow"]
    a.request("joinTopic", channel=board, topic="pen")
    a.request("setStates", kind="stream", channel=board, states={"k": "v"})
    b.publish(lesson, "before").wait()
    b.packet(flow, b"before")
    b.sync()
    a.sync()
    b.sync()
    return a, b, lesson, board, flow


@check("[SE9] resuming restores channels, flows and selections, unseen, and tells what was missed")
def resume_session(ctx):
    a, b, lesson, board, flow = resume_scene(ctx)
    gone = b.request("joinTopic", channel=board, topic="other")["flow"]
    a.request("subscribeTopic", channel=board, topic="other", users=[b.identity.user])
    a.sync()
    mark = b.mark()
    a.drop()
    for n in range(3):
        b.publish(lesson, f"missed {n}").wait()
    b.packets(flow, [b"missed"] * 5)
    b.packets(gone, [b"unseen"] * 3)
    b.request("leaveTopic", channel=board, topic="other")
    seen = a.checker.offsets[lesson]
    back = ctx.resume(a)
    back.sync()
    need(back.checker.welcome["resumed"], "not resumed")
    restored = [e["channel"] for e in back.since(0, "restored")]
    need(restored == sorted([lesson, board]), f"restored {restored}")
    need(back.checker.offsets[lesson] - seen == 3, f"head {back.checker.offsets[lesson]}, seen {seen}")
    caught_up(back)
    need(payloads(back) == ["missed 0", "missed 1", "missed 2"], f"{payloads(back)}")
    opened = {e["flow"]: e for e in back.since(0, "flowOpened")}
    closed = {e["flow"]: e["last"] for e in back.since(0, "flowClosed")}
    need(opened[gone]["next"] == 4 and closed == {gone: 3}, f"closed while away: {opened.get(gone)}, {closed}")
    need(opened[flow]["next"] == 1 + 1 + 5 and opened[flow]["meta"] == "blue", f"{opened[flow]}")
    b.sync()
    need(presence_of(b, mark) == [], f"seen: {presence_of(b, mark)}")
    continue_session(a, back, b, board, lesson, flow)


def continue_session(a, back, b, board, lesson, flow):
    """After resuming, everything goes on as before."""
    mine = next(iter(a.checker.own_flows))
    back.packet(mine, b"again")
    b.wait_for("packet", lambda e: e["payload"] == b"again")
    b.packet(flow, b"later")
    b.publish(lesson, "later").wait()
    back.wait_for("packet", lambda e: e["payload"] == b"later" and e["sequence"] == 7)
    back.wait_for("deliver", lambda e: e["payload"] == "later")
    states = back.request("getStates", kind="stream", channel=board, user=a.identity.user)["states"]
    need(states == {"k": "v"}, f"{states}")
    need(back.request("subscribedUsers", channel=board, topic="pen")["all"], "the selection is gone")


@check("[SE9] resuming works while the old connection still lives, which is replaced")
def resume_over_living(ctx):
    a, b, lesson, *_ = resume_scene(ctx)
    mark = b.mark()
    back = ctx.resume(a)
    need(back.checker.welcome["resumed"], "not resumed")
    ctx.closed(a, "replaced")
    b.publish(lesson, "on").wait()
    back.wait_for("deliver")
    b.sync()
    need(presence_of(b, mark) == [], f"seen: {presence_of(b, mark)}")


@check("[SE9 CH3] quiet and features are restored, too; a chain of resumptions works")
def resume_features(ctx):
    a, channel = ctx.client(), ctx.name("q")
    a.request("subscribe", channel=channel, features=["messages"], quiet=True)
    a.request("join", channel=channel, features=[])
    for _ in range(3):
        a.drop()
        a = ctx.resume(a)
        a.sync()
        need(a.checker.welcome["resumed"], "not resumed")
        told = {e["kind"]: (e["features"], e["quiet"]) for e in a.since(0, "restored")}
        need(told == {"message": (["messages"], True), "stream": ([], False)}, f"{told}")


@check("[SE16] a relay without spaces closes a login that names one")
def space_of_none(ctx):
    client = ctx.connect()
    client.start_login(space="school-a")
    ctx.closed(client, "spaceUnknown")


@check("[SE17] a relay that stands by says where the one that serves is reached", relay="standby")
def moved(ctx):
    for space in (None, "main"):
        client = ctx.connect()
        client.start_login(**({"space": space} if space else {}))
        ctx.closed(client, "moved")
        [notice] = client.since(0, "closing")
        need(notice["address"] == "relay://192.0.2.7:7420", f"{notice}")
    client = ctx.connect()
    client.start_login(space="another")
    ctx.closed(client, "spaceUnknown")


@check("[SE10] a wrong or old token is no error: the session is new")
def wrong_tokens(ctx):
    client, channel = ctx.client(), ctx.name("c")
    old = client.checker.welcome["resumeToken"]
    client.request("subscribe", channel=channel)
    client.drop()
    client = ctx.resume(client)
    client.drop()
    for token in (old, "x", "", "0" * 32):
        fresh = ctx.connect(client.identity)
        fresh.login(token=token)
        need(fresh.checker.welcome["resumed"] is False, f"resumed with {token!r}")
        ctx.refused("notSubscribed", lambda: fresh.request("unsubscribe", channel=channel))
        fresh.drop()


@check("[SE10 SE12] a session that logged out cannot be resumed")
def resume_after_logout(ctx):
    client = ctx.client()
    client.logout()
    back = ctx.connect(client.identity)
    back.login(token=client.checker.welcome["resumeToken"])
    need(back.checker.welcome["resumed"] is False, "resumed after logout")


@check("[SE12 PR5] logout is answered, then loggedOut; others see leave")
def logout(ctx):
    watcher, client, channel = ctx.client(), ctx.client(), ctx.name("c")
    watcher.request("subscribe", channel=channel)
    client.request("subscribe", channel=channel)
    watcher.sync()
    mark = watcher.mark()
    client.request("logout")
    ctx.closed(client, "loggedOut")
    need([e.name for e in client.events[-2:]] == ["answer", "closing"], f"{client.events[-2:]}")
    event = watcher.wait_for("presence", since=mark)
    need((event["event"], event["user"]) == ("leave", client.identity.user), f"{event}")
