"""History. That nothing is missing, double or out of order is judged by the checker and the ledger of each check."""

import threading
import time

from bounds import READER_BUFFER
from context import check, outcomes, payloads
from http_checks import need
from relay_client import ECHO, NO_HISTORY, Timeout
from steps import BEGINNING, caught_up, each_second, kept_offsets


def fill(ctx, name, count, payload=lambda n: f"{n}", meanwhile=lambda: None):
    """`count` messages in order, by as many users as the rate asks for: at most a second's worth of each."""
    most, told, tick = ctx.limit("messages per user and channel"), [], each_second(meanwhile)
    for begin in range(0, count, most):
        client, replies = ctx.client(), []
        for n in range(begin, min(begin + most, count)):
            tick()
            replies.append(client.publish(name, payload(n)))
        for reply in replies:
            tick()
            told.append(reply.wait())
        client.logout()
    return told


def big_board(ctx, count=200, size=32_768):
    """The name of a channel whose history is larger than what a connection takes at once."""
    name = ctx.name("big")
    fill(ctx, name, count, lambda n: n.to_bytes(4, "big") + bytes(size - 4))
    return name


def slow_joiner(ctx, name, **more):
    """A reader that has stopped reading in the middle of catching up."""
    # It says nothing either until it reads on, which a busy machine may put off beyond the 10 s of a login that asks for nothing.
    reader = ctx.client(receive_buffer=READER_BUFFER, login={"presenceTimeoutMs": 300_000})
    for kind, fields in more.get("before", ()):
        reader.request(kind, **fields)
    reader.sync()
    reader.pause()
    reader.send("pong", b"")
    reply = reader.start_request("subscribe", channel=name, features=more.get("features", ["messages"]), since=BEGINNING)
    return reader, reply


@check("[CH3 CH4 CH6 HI2 MS4] joining from the beginning while others publish: all once, in order, then live", slow=True)
def late_joiners(ctx):
    name, senders = ctx.name("c"), [ctx.client() for _ in range(4)]
    each = ctx.limit("messages per user and channel") - 10
    fill(ctx, name, 300, lambda n: bytes(4_000))
    def draw(sender):
        for n in range(3 * each):
            sender.publish(name, bytes(2_000)).wait()
            time.sleep(1 / each)
    threads = [threading.Thread(target=draw, args=(sender,)) for sender in senders]
    for thread in threads:
        thread.start()
    readers = []
    while any(thread.is_alive() for thread in threads):
        reader = ctx.client()
        readers.append(reader)
        answer = reader.request("subscribe", channel=name, since=BEGINNING)
        need(answer["recovered"] and answer["after"] == 0, f"{answer}")
        time.sleep(0.3)
    for thread in threads:
        thread.join()
    want = list(range(1, 300 + 4 * 3 * each + 1))
    kept = want[-1] - 1_000
    for reader in readers:
        reader.sync()
        caught_up(reader)
        got = kept_offsets(reader)
        need(len(reader.since(0, "caughtUp")) == 1, "caughtUp comes once")
        need(got == want or kept > 0 and got == [o for o in want if o > reader.checker.spans[-1].low],
             f"{len(got)} of {len(want)}, {got[:3]}…{got[-3:]}")


@check("[CH5 CH6 HI1 HI2] since a position: recovered, or missed below what 1,000 messages keep")
def since(ctx):
    name, most = ctx.name("c"), ctx.limit("kept messages per channel")
    count = most + 20
    fill(ctx, name, count)
    a = ctx.client()
    epoch = a.request("subscribe", channel=name, features=[])["epoch"]

    def ask(**since):
        mark = a.mark()
        answer = a.request("subscribe", channel=name, features=["messages"], since=since)
        head = caught_up(a, mark)["head"]
        need(head == count == answer["head"], f"{head}: {answer}")
        need(kept_offsets(a, mark) == list(range(answer["after"] + 1, count + 1)), f"{kept_offsets(a, mark)[:5]}")
        return tuple(answer.get(key) for key in ("recovered", "missed", "reset", "after"))
    cases = [({"epoch": epoch, "offset": count}, (True, None, None, count)),
             ({"epoch": epoch, "offset": count - 1}, (True, None, None, count - 1)),
             ({"epoch": epoch, "offset": 20}, (True, None, None, 20)),
             ({"epoch": epoch, "offset": 19}, (False, {"from": 20, "to": 20}, None, 20)),
             ({"epoch": epoch, "offset": 0}, (False, {"from": 1, "to": 20}, None, 20)),
             ({"epoch": epoch, "offset": count + 1}, (False, {"from": 1, "to": 20}, True, 20)),
             ({"epoch": dict(epoch, incarnation=epoch["incarnation"] + 1), "offset": 500}, (False, {"from": 1, "to": 20}, True, 20)),
             ({"epoch": dict(epoch, start=epoch["start"] - 1), "offset": count}, (False, {"from": 1, "to": 20}, True, 20)),
             ({"beginning": True}, (False, {"from": 1, "to": 20}, None, 20))]
    for asked, want in cases:
        got = ask(**asked)
        need(got == want, f"since {asked}: {got}, wanted {want}")
    for wrong in ({}, {"beginning": False}, {"epoch": epoch}, {"offset": 1}, {"epoch": {}, "offset": 1}, "x", 1,
                  {"epoch": epoch, "offset": -1}, {"epoch": dict(epoch, start="x"), "offset": 1}):
        ctx.refused("badRequest", lambda: a.request("subscribe", channel=name, since=wrong), id=...)
    answer = a.request("subscribe", channel=name, features=["presence"], since=BEGINNING)
    need("recovered" not in answer and "after" not in answer, f"without messages: {answer}")


@check("[HI1 HI6] 8 MiB of frames are kept, the oldest go first; a page has at most 512 KiB", slow=True)
def kept_bytes(ctx):
    size, most = ctx.limit("message payload + custom type"), ctx.limit("kept bytes per channel")
    kept = most // (30 + size)
    name = big_board(ctx, kept + 15, size)
    reader = ctx.client()
    answer, items = reader.all_history(name)
    need(answer["floor"] == 15 and [i["offset"] for i in items] == list(range(16, kept + 16)), f"{answer}, {len(items)}")
    sizes = [page[1]["count"] for page in reader.checker.pages]
    need(2 <= max(sizes) <= 16, f"pages of {sizes}")
    answer = reader.request("subscribe", channel=name, since=BEGINNING)
    need(answer["after"] == 15 and answer["missed"] == {"from": 1, "to": 15}, f"{answer}")
    caught_up(reader)


@check("[DL12] 60 pages of history asked for at once, 30 MB: none is refused, all come in order, and a ping behind them is answered before",
       slow=True)
def asked_at_once(ctx):
    name = big_board(ctx, 20)
    reader, other = ctx.client(receive_buffer=READER_BUFFER, login={"presenceTimeoutMs": 300_000}), ctx.client()
    reader.sync()
    reader.pause()
    pages = [reader.start_request("history", channel=name) for _ in range(60)]
    pong = reader.ping()
    # All of them have come to the relay: what another one asks for is answered meanwhile.
    other.request("subscribe", channel=name)
    other.sync()
    reader.unpause()
    pong.wait()
    need(not pages[-1].done.is_set(), "the ping waited for all that was asked for before it")
    need(all(page.wait()["head"] == 20 for page in pages), "another answer")
    need(len(reader.since(0, "historyItem")) >= 60 * 15, "not all items came")


@check("[HI1 HI2] a message with noHistory reaches who is there, also behind what one catches up; nobody later")
def no_history(ctx):
    a, there, name = ctx.client(), ctx.client(), ctx.name("c")
    there.request("subscribe", channel=name)
    sent = [a.publish(name, f"{n}", extra=NO_HISTORY if n % 3 == 1 else 0).wait() for n in range(9)]
    need(sent == list(range(1, 10)), "it takes an offset")
    there.sync()
    need(payloads(there) == [f"{n}" for n in range(9)], "it is not delivered")
    late = ctx.client()
    answer = late.request("subscribe", channel=name, since=BEGINNING)
    caught_up(late)
    need(answer["recovered"] and kept_offsets(late) == [1, 3, 4, 6, 7, 9], f"{answer}, {kept_offsets(late)}")
    need([i["offset"] for i in late.all_history(name)[1]] == [1, 3, 4, 6, 7, 9], "history shows it")
    there.drop()
    a.publish(name, "unseen", extra=NO_HISTORY).wait()
    back = ctx.resume(there)
    need(caught_up(back)["head"] == 10, "another head")
    restored = back.wait_for("restored")
    need(restored["recovered"] and restored["after"] == 9 and kept_offsets(back) == [], f"{restored}")
    big = big_board(ctx)
    reader, reply = slow_joiner(ctx, big)
    a.sync()
    probe = ctx.client()
    while probe.request("who", kind="message", channel=big)["total"] == 0:
        time.sleep(0.01)
    a.publish(big, "passing", extra=NO_HISTORY).wait()
    a.publish(big, "staying").wait()
    reader.unpause()
    reply.wait()
    caught_up(reader)
    reader.sync()
    need(payloads(reader)[-2:] == ["passing", "staying"], f"{payloads(reader)[-2:]!r:.80}")


@check("[HI2 MS6] catching up leaves out what this instance published, except with echo; another instance gets all")
def own_in_history(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("c")
    for n in range(4):
        a.publish(name, f"a{n}", extra=ECHO if n % 2 else 0).wait()
        b.publish(name, f"b{n}").wait()
    a.request("subscribe", channel=name, since=BEGINNING)
    caught_up(a)
    need(payloads(a) == ["b0", "a1", "b1", "b2", "a3", "b3"], f"{payloads(a)}")
    a.logout()
    other = ctx.client(user=a.identity.user)
    other.request("subscribe", channel=name, since=BEGINNING)
    caught_up(other)
    need(payloads(other) == [f"{who}{n}" for n in range(4) for who in "ab"], f"{payloads(other)}")


@check("[HI2 HI3] while one reader catches up, its other channels, presence and other readers go on", slow=True)
def meanwhile(ctx):
    name, side = big_board(ctx, 240), ctx.name("side")
    other, a = ctx.client(), ctx.client()
    other.request("subscribe", channel=name, features=["messages"])
    reader, reply = slow_joiner(ctx, name, features=["messages", "presence"],
                                before=[("subscribe", {"channel": side, "features": ["messages"]})])
    while a.request("who", kind="message", channel=name)["total"] < 2:
        time.sleep(0.01)
    mine = a.publish(name, "new").wait()
    other.wait_for("deliver", lambda e: e["offset"] == mine)
    a.publish(side, "aside").wait()
    a.request("setStates", kind="message", channel=name, states={"k": "v"})
    a.request("subscribe", channel=name, features=[])
    reader.unpause()
    reply.wait()
    end = caught_up(reader)
    aside = reader.wait_for("deliver", lambda e: e["payload"] == "aside")
    joined = reader.wait_for("presence", lambda e: e["event"] == "join")
    need(aside.index < end.index and joined.index < end.index, "other things waited for the history")
    need(kept_offsets(reader, name=name) == list(range(1, 242)), "not all came")


@check("[HI4] history that moves past a reader who catches up is told as a gap in its place", slow=True)
def history_moves_past(ctx):
    name = big_board(ctx, 240)
    reader, reply = slow_joiner(ctx, name)
    probe = ctx.client()
    while probe.request("who", kind="message", channel=name)["total"] == 0:
        time.sleep(0.01)
    fill(ctx, name, 300, lambda n: bytes(32_768), meanwhile=lambda: reader.send("pong", b""))
    reader.unpause()
    need(reply.wait()["after"] == 0, "nothing was missing when it came")
    need(caught_up(reader)["head"] == 540, "another head")
    gaps = reader.since(0, "gap")
    told = {offset for gap in gaps for offset in range(gap["from"], gap["to"] + 1)}
    got = kept_offsets(reader)
    need(gaps and len(got) + len(told) == 540 and set(got) | told == set(range(1, 541)),
         f"{len(got)} came, {[g.fields for g in gaps]}")


@check("[HI5 DL6 DL7] packets of the stream of that name are told as lost with reason 3 while one catches up", slow=True)
def packets_while_catching_up(ctx):
    name, publisher = big_board(ctx, 240), ctx.client()
    publisher.request("join", channel=name)
    flows = {topic: publisher.request("joinTopic", channel=name, topic=topic)["flow"] for topic in ("stays", "ends", "left")}
    before = [("join", {"channel": name, "features": []})] + [
        ("subscribeTopic", {"channel": name, "topic": topic}) for topic in (*flows, "opens")]
    reader, reply = slow_joiner(ctx, name, before=before)
    while publisher.request("who", kind="message", channel=name)["total"] == 0:
        time.sleep(0.01)
    for flow in flows.values():
        publisher.packets(flow, [b"x"] * 5)
    publisher.request("leaveTopic", channel=name, topic="ends")
    flows["opens"] = publisher.request("joinTopic", channel=name, topic="opens")["flow"]
    publisher.packets(flows["opens"], [b"y"] * 3)
    leaving = reader.start_request("unsubscribeTopic", channel=name, topic="left")
    publisher.sync()
    reader.unpause()
    reply.wait()
    leaving.wait()
    end = caught_up(reader)
    publisher.packet(flows["stays"], b"live")
    live = reader.wait_for("packet")
    need(live["payload"] == b"live" and live["sequence"] == 6 and live.index > end.index, f"{live}")
    lost = reader.since(0, "lost")
    need(all(e["reason"] == 3 and e.index < end.index for e in lost), f"{lost}")
    told = {number: reader.flow(number).lost.total() for number in flows.values()}
    need(told == {flows["stays"]: 5, flows["ends"]: 5, flows["left"]: 5, flows["opens"]: 3}, f"{told}")
    for topic in ("stays", "opens"):
        publisher.request("leaveTopic", channel=name, topic=topic)
    reader.wait_for("flowClosed", lambda e: e["flow"] == flows["opens"])


@check("[HI8 SE14] a barrier is answered behind caughtUp, at once in a channel that is live; at most 8 wait; one that waits is cancelled",
       slow=True)
def barriers(ctx):
    name, live, most = big_board(ctx, 240), ctx.name("live"), ctx.limit("barriers of a connection that wait")
    reader, _ = slow_joiner(ctx, name, before=[("subscribe", {"channel": live})])
    waiting = [reader.start_request("barrier", **({"channel": name} if n else {})) for n in range(most)]
    one_more = reader.start_request("barrier", channel=name)
    passed = reader.start_request("barrier", channel=live)
    cancel = reader.start_request("cancel", request=waiting[-1].id)
    reader.unpause()
    end = caught_up(reader)
    ctx.refused("limitReached", one_more.wait, limit=most, actual=most + 1)
    ctx.refused("cancelled", waiting.pop().wait)
    answered = {e["id"]: e.index for pending in (*waiting, passed, cancel) for e in [pending.wait()]
                for e in reader.since(0, "answer") if e["id"] == pending.id}
    need(all(answered[pending.id] > end.index for pending in waiting), f"{answered}, caught up at {end.index}")
    need(all(answered[pending.id] < end.index for pending in (passed, cancel)), f"{answered}, caught up at {end.index}")
    need(reader.request("barrier").keys() == {"id"}, "live, and more than the id in the answer")
    ctx.refused("notSubscribed", lambda: reader.request("barrier", channel=ctx.name("elsewhere")))


@check("[HI2 HI5 CH3] subscribing again lets catching up go on, with since it begins anew; unsubscribing ends it", slow=True)
def again_while_catching_up(ctx):
    name = big_board(ctx, 240)
    reader, reply = slow_joiner(ctx, name)
    again = reader.start_request("subscribe", channel=name, features=["messages", "presence"])
    reader.unpause()
    need("recovered" not in again.wait() and reply.wait()["after"] == 0, "since was not given")
    caught_up(reader)
    need(kept_offsets(reader) == list(range(1, 241)), "it did not go on")

    reader, reply = slow_joiner(ctx, name)
    anew = reader.start_request("subscribe", channel=name, features=["messages"], since=BEGINNING)
    reader.unpause()
    need(anew.wait()["after"] == 0, "it did not begin anew")
    caught_up(reader)
    reader.sync()
    got = kept_offsets(reader)
    need(got[-240:] == list(range(1, 241)) and len(reader.since(0, "caughtUp")) == 1, f"{len(got)}, {got[-240:][:3]}")

    publisher = ctx.client()
    publisher.request("join", channel=name)
    flow = publisher.request("joinTopic", channel=name, topic="t")["flow"]
    before = [("join", {"channel": name, "features": []}), ("subscribeTopic", {"channel": name, "topic": "t"})]
    for end in (("unsubscribe", {}), ("subscribe", {"features": []})):
        reader, reply = slow_joiner(ctx, name, before=before)
        while reader.identity.user not in [m["user"] for m in publisher.request("who", kind="message", channel=name)["members"]]:
            time.sleep(0.01)
        publisher.packets(flow, [b"lost"] * 4)
        publisher.sync()
        ended = reader.start_request(end[0], channel=name, **end[1])
        reader.unpause()
        ended.wait()
        mark = reader.mark()
        publisher.packet(flow, b"live")
        live = reader.wait_for("packet")
        need(reader.since(mark, "deliver", "caughtUp", "gap") == [], f"after {end}: {reader.since(mark)[:2]}")
        need(live["payload"] == b"live" and reader.flow(flow).lost.total() == 4, f"{live}, {reader.since(0, 'lost')}")


@check("[SE2 SE9 SE11 HI2] resuming with what was seen brings what was missed; what seen does not name goes on as it is", slow=True)
def resume_seen(ctx):
    name, quiet, a, reader = ctx.name("c"), ctx.name("d"), ctx.client(), ctx.client()
    for channel in (name, quiet):
        reader.request("subscribe", channel=channel)
    a.publish(name, "0").wait()
    reader.sync()
    epoch = [reader.checker.epochs[name][part] for part in ("start", "incarnation")]
    for seen in (True, False, {name: [1, *epoch]}, {name: [4, *epoch]}, {name: [10_000, *epoch]}, {name: []},
                 {"elsewhere": [1, *epoch]}, {}):
        reader.drop()
        last = a.publish(name, f"{a.checker.offsets.get(name)}").wait()
        reader = ctx.resume(reader, seen=seen)
        live = a.publish(name, "live").wait()
        reader.wait_for("deliver", lambda e: e["offset"] == live)
        need(reader.checker.welcome["resumed"], "not resumed")
        restored = {e["channel"]: e for e in reader.since(0, "restored")}
        ends = [e for e in reader.since(0, "caughtUp")]
        named = seen is True or ((seen or {}).get(name, [last]) or [0])[0] < last
        need(len(ends) == named and ("after" in restored[name].fields) == named, f"seen {seen}: {restored}, {ends}")
        need("recovered" not in restored[quiet].fields, f"{restored[quiet]}")
        if named:
            low = restored[name]["after"]
            need(kept_offsets(reader) == list(range(low + 1, live + 1)), f"seen {seen}: {kept_offsets(reader)}")
        else:
            need(payloads(reader) == ["live"], f"seen {seen}: {payloads(reader)}")
    for wrong in (1, "x", [1], {"a": 1}, {"a": [1]}, {"a": [1, 2]}, {"a": [1, -1, 1]}, {"a": [1, 2, 3, 0]}, {"a": [1, 2, 3, 1, 1]},
                  {"a": [1, 2**32, 1]}, {"a": [1, 1, 2**32]}, {"a": ["1", 1, 1]}):
        stranger = ctx.connect()
        ctx.refused("badRequest", lambda: stranger.login(token="0" * 32, seen=wrong), id=...)


@check("[SE9 HI2 MS4] a chain of cuts while catching up, publishers going on: every message once", slow=True)
def chain_of_cuts(ctx):
    name, a = big_board(ctx, 120), ctx.client()
    reader = ctx.client()
    reader.request("subscribe", channel=name, features=["messages"], since=BEGINNING)
    got, sent = [], 120
    for count in (1, 5, 20, 40, 60):
        try:
            reader.wait_for("deliver", lambda e: len(kept_offsets(reader)) >= count and e.index >= 0, timeout=2)
        except Timeout:
            pass
        reader.drop()
        got += kept_offsets(reader)
        sent = a.publish(name, f"{count}").wait()
        reader = ctx.resume(reader)
        need(reader.checker.welcome["resumed"], "not resumed")
    a.publish(name, "end").wait()
    reader.wait_for("deliver", lambda e: e["payload"] == "end")
    got += kept_offsets(reader)
    need(got == list(range(1, sent + 2)), f"{len(got)} of {sent + 1}: {got[:5]}…{got[-5:]}")


@check("[HI6] pages of history forwards, backwards, from an offset; limits; of what one is not in")
def history_pages(ctx):
    name, client = ctx.name("c"), ctx.client()
    answer, items = client.history(name)
    need(items == [] and (answer["head"], answer["floor"], answer["count"]) == (0, 0, 0) and "epoch" not in answer, f"{answer}")
    need(client.request("who", kind="message", channel=name)["total"] == 0, "to ask is to be in it")
    fill(ctx, name, 250)
    epoch = client.request("subscribe", channel=name, features=[])["epoch"]
    client.request("unsubscribe", channel=name)
    most = ctx.limit("messages per page of history")
    for fields, want, following in (
            ({}, range(1, 101), 101), ({"limit": 1}, range(1, 2), 2), ({"limit": most}, range(1, 101), 101),
            ({"start": 240}, range(240, 251), None), ({"start": 151}, range(151, 251), None),
            ({"start": 150}, range(150, 250), 250), ({"start": 251}, (), None), ({"start": 10_000}, (), None),
            ({"backwards": True}, range(250, 150, -1), 150), ({"backwards": True, "start": 100}, range(100, 0, -1), None),
            ({"backwards": True, "start": 7, "limit": 7}, range(7, 0, -1), None),
            ({"backwards": True, "start": 7, "limit": 6}, range(7, 1, -1), 1),
            ({"backwards": True, "start": 10_000, "limit": 2}, range(250, 248, -1), 248)):
        answer, items = client.history(name, **fields)
        need([i["offset"] for i in items] == list(want), f"{fields}: {[i['offset'] for i in items][:5]}")
        need(answer.get("next") == following and answer["epoch"] == epoch, f"{fields}: {answer}")
        need(all(i["payload"] == f"{i['offset'] - 1}" for i in items), "other payloads")
    for backwards in (False, True):
        offsets = [i["offset"] for i in client.all_history(name, backwards=backwards, limit=7)[1]]
        need(offsets == sorted(range(1, 251), reverse=backwards), f"backwards {backwards}: {len(offsets)}")
    for wrong in ({"limit": 0}, {"limit": most + 1}, {"from": -1}, {"backwards": 1}, {"limit": "x"}):
        ctx.refused("badRequest", lambda: client.request("history", channel=name, **wrong), id=...)
    ctx.refused("badName", lambda: client.request("history", channel="a/b"), id=...)
    replies = [client.start_request("history", channel=name, limit=3), client.start_request("who", kind="message", channel=name),
               client.start_request("history", channel=name, backwards=True, limit=3)]
    need(outcomes(replies) == ["ok"] * 3, "several at once")
