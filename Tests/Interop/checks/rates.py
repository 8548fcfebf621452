"""Rates."""

import time

from context import check, outcomes
from http_checks import need
from relay_client import PATIENCE, Identity, encode_direct, frame
from steps import given_at_most, until_refused

# Twice the time: for what of it the relay did not handle what had come, a rate allows as much more (DL12).
FORGIVEN = 2


@check("[RT1 RT2 ER5] of 61 messages at one instant 60 pass, the last is rateLimited with limit and retryAfterMs")
def message_rate(ctx):
    client, name, most = ctx.client(), ctx.name("c"), ctx.limit("messages per user and channel")
    passed, refused = until_refused(most, most, lambda count: client.publish_many(name, [b""] * count))
    fields = ctx.refused("rateLimited", refused, number=..., limit=most, retry="later", retryAfterMs=...)
    need(1 <= fields["retryAfterMs"] <= 1000, f"{fields}")
    need(ctx.client().request("subscribe", channel=name)["head"] == passed, "a refused message has an offset")
    client.publish(ctx.name("other"), b"").wait()
    time.sleep(fields["retryAfterMs"] / 1000 + 0.05)
    client.publish(name, b"").wait()


@check("[RT8] who sends only while fewer are unanswered than the credit is never refused, and what has grown is told")
def credit(ctx):
    client, name = ctx.client(), ctx.name("c")
    most, replies = ctx.limit("messages per user and channel"), []
    while len(replies) < 3 * most:
        room = client.wait_for_credit(name)
        replies += client.publish_many(name, [b""] * min(room, 3 * most - len(replies)))
    for reply in replies:
        reply.wait()


@check("[RT3 RT8] a login right behind another one tells when the whole credit is there; then it is")
def credit_after_login(ctx):
    client, name = ctx.client(), ctx.name("c")
    most = ctx.limit("messages per user and channel")
    for reply in client.publish_many(name, [b""] * most):
        reply.wait()
    client.drop()
    again = ctx.resume(client)
    after = again.checker.welcome["publishAfterMs"]
    need(0 < after <= 1000, f"{after}")
    time.sleep(after / 1000 + 0.01)
    for reply in again.publish_many(name, [b""] * most):
        reply.wait()


@check("[RT1 RT4] of 201 packets at one instant 200 pass; packetsDropped tells of the one")
def packet_rate(ctx):
    publisher, subscriber, channel, _ = ctx.stream()
    most = ctx.limit("packets per user and topic")
    count = most + 1
    while True:
        topic, begin = ctx.name("t"), time.monotonic()
        subscriber.request("subscribeTopic", channel=channel, topic=topic)
        flow = publisher.request("joinTopic", channel=channel, topic=topic)["flow"]
        publisher.packets(flow, [b""] * count)
        last = publisher.request("leaveTopic", channel=channel, topic=topic)["last"]
        need(most <= last <= given_at_most(most, most, begin), f"{last} of {count} passed")
        subscriber.wait_for("flowClosed", lambda e, flow=flow: e["flow"] == flow)
        need(subscriber.flow(flow).received.total() + subscriber.flow(flow).lost.total() == last, "another count came")
        if last < count:
            break
        count *= 2  # to read them took as long as to fill the bucket again
    dropped = publisher.wait_for("packetsDropped", lambda e: e["flow"] == flow and e["total"] == count - last)
    need(dropped["total"] == count - last, f"{last} of {count} passed, {dropped}")


@check("[RT4] delivered = accepted = sent - dropped; notices at most one each second", slow=True)
def dropped_accounting(ctx):
    publisher, subscriber, channel, flow = ctx.stream()
    sent, begin = 0, time.monotonic()
    for _ in range(25):
        publisher.packets(flow, [b"x" * 20] * 120)
        sent += 120
        time.sleep(0.1)
    publisher.sync()
    own = publisher.checker.own_flows[flow]
    most = 200 * (1 + FORGIVEN * (time.monotonic() - begin))
    last = publisher.request("leaveTopic", channel=channel, topic="t")["last"]
    if last < sent:
        publisher.wait_for("packetsDropped", lambda e: e["flow"] == flow and e["total"] >= sent - last)
    publisher.sync()
    subscriber.wait_for("flowClosed", lambda e: e["flow"] == flow)
    received = subscriber.flow(flow).received.total() + subscriber.flow(flow).lost.total()
    need(received == last == sent - own.dropped, f"sent {sent}, dropped {own.dropped}, last {last}, received {received}")
    need(200 <= last <= most, f"{last} of {sent} passed, at most {most} may")
    # Late they may come, each by itself, and none before its time; the last one ends the flow.
    times = [at - begin for at in own.notices]
    need(all(at >= count for count, at in enumerate(times[:-1])), f"notices after {times} s")


@check("[RT1 DM1] of 61 direct messages at one instant 60 pass")
def direct_rate(ctx):
    a, b, most = ctx.client(), ctx.client(), ctx.limit("direct messages per user")

    def send(count):
        data, replies = bytearray(), []
        for _ in range(count):
            number = a.identity.next_number()
            flags, body = encode_direct(number, b.identity.user, b"")
            data += frame("direct", body, flags)
            replies.append(a.expect_number("direct", number))
        a.send_bytes(data)
        return replies
    ctx.refused("rateLimited", until_refused(most, most, send)[1], number=..., limit=most, retryAfterMs=...)


@check("[RT3] to reconnect resets no rate")
def rate_outlives(ctx):
    client, name, most = ctx.client(), ctx.name("c"), ctx.limit("messages per user and channel")
    began = time.monotonic()
    first = outcomes(client.publish_many(name, [b""] * most)).count("ok")
    client.logout()
    again = ctx.client(user=client.identity.user)
    second = outcomes(again.publish_many(name, [b""] * most)).count("ok")
    passed = time.monotonic() - began
    need(first + second <= most * (1 + FORGIVEN * passed) + 1, f"{first} and {second} of {most} passed in {passed:.2f} s")
    if FORGIVEN * passed >= 1:
        ctx.notes.append(f"RT3: to reconnect took {passed:.1f} s, in which the bucket was full again")


@check("[RT5] ten times a rate for ten seconds is closed with abuse", slow=True)
def abuse(ctx):
    publisher, _, _, flow = ctx.stream()
    begin, sent = time.monotonic(), 0
    try:
        while time.monotonic() - begin < PATIENCE and not publisher.over:
            due = int((time.monotonic() - begin + 0.1) * 2_600)
            publisher.packets(flow, [b""] * (due - sent))
            sent = due
            time.sleep(0.05)
    except OSError:
        pass
    ctx.closed_after(publisher, "abuse", begin, 9.5)


@check("[RT6] a burst of 400 requests passes, more are rateLimited with id")
def request_rate(ctx):
    client = ctx.client()
    rate, burst = ctx.limit("requests per user"), ctx.limit("requests per user", 1)
    began = time.monotonic()
    replies = [client.start_request("where", user="u") for _ in range(burst + 150)]
    got = outcomes(replies)
    most = burst + FORGIVEN * rate * (time.monotonic() - began) + 1
    need(burst - 1 <= got.count("ok") <= most, f"{got.count('ok')} passed, {most:.0f} might")
    need(set(got[:burst - 1]) == {"ok"}, "one within the burst was refused")
    refused = [r for r, outcome in zip(replies, got) if outcome != "ok"]
    if not refused:
        ctx.notes.append("RT6: the machine was too slow to exceed the rate of requests")
        return
    ctx.refused("rateLimited", refused[0], id=..., retryAfterMs=...)


@check("[RT9] a user makes so many channels at one instant, the next is rateLimited; one that is there costs nothing")
def new_channels(ctx):
    rate, burst = ctx.limit("new channels of a user"), ctx.limit("new channels of a user", 1)
    user, secret, began = ctx.name("user"), f"{ctx.dice.getrandbits(128):032x}", time.monotonic()
    # Behind a proxy, so that it has an address wherever this runs.
    clients = [ctx.client(identity=Identity(user, secret=secret, device=f"{device:016x}"), transport="websocket",
                          upgrade={"Via": "1.1 proxy"}) for device in range(3)]
    got, results = [], []
    # Fewer than the burst of requests. Each connection's answers are awaited: the relay keeps no order between two.
    for client, joins, subscribes in zip(clients, (100, 100, 20), (50, 50, 20)):
        sent = [client.start_request(kind, channel=ctx.name("new"), features=[])
                for kind, count in (("join", joins), ("subscribe", subscribes)) for _ in range(count)]
        got, results = got + sent, results + outcomes(sent)
    passed = results.count("ok")
    need(burst <= passed <= burst + FORGIVEN * rate * (time.monotonic() - began) + 1, f"{passed} of {len(results)} were made")
    need(results[:burst] == ["ok"] * burst, f"one of the first was refused: {results[:burst]}")
    if "rateLimited" not in results:
        ctx.notes.append("RT9: the machine was too slow to exceed the rate of new channels")
        return
    ctx.refused("rateLimited", got[results.index("rateLimited")], id=..., limit=rate, retry="later", retryAfterMs=...)
    there = ctx.name("there")
    ctx.client(transport="tcp").request("subscribe", channel=there, features=[])
    need(outcomes([clients[2].start_request("subscribe", channel=there, features=[])]) == ["ok"], "one that is there cost")
