"""Delivery."""

import threading
import time

from bounds import EARLY, READER_BUFFER
from context import check, payloads
from http_checks import need
from steps import kept_offsets, each_second, wait_offline


@check("[DL1] messages and packets of one sender come in the order sent, across both lanes")
def both_lanes(ctx):
    publisher, subscriber, channel, flow = ctx.stream()
    subscriber.request("subscribe", channel=channel)
    sent = []
    for n in range(50):
        for payload in (f"m{n}", b"p%d" % n, b"q%d" % n):
            sent.append(payload)
            publisher.publish(channel, payload) if isinstance(payload, str) else publisher.packet(flow, payload)
    publisher.sync()
    subscriber.sync()
    need(payloads(subscriber) == sent, f"another order: {payloads(subscriber)[:9]}…")


@check("[DL1 MS4] two senders at once: every subscriber sees the same order")
def same_order(ctx):
    name = ctx.name("c")
    readers = [ctx.client() for _ in range(3)]
    senders = [ctx.client() for _ in range(3)]
    for client in readers:
        client.request("subscribe", channel=name)
    threads = [threading.Thread(target=lambda s=s: [s.publish(name, f"{n}") for n in range(50)]) for s in senders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in senders + readers:
        client.sync()
    orders = [[(e["publisher"], e["payload"]) for e in client.since(0, "deliver")] for client in readers]
    need(orders[0] == orders[1] == orders[2] and len(orders[0]) == 150, "different orders")
    for handle in {publisher for publisher, _ in orders[0]}:
        need([p for h, p in orders[0] if h == handle] == [str(n) for n in range(50)], "a sender's order changed")


def publish_big(client, channels, count, size, meanwhile=lambda: None):
    """`count` messages of `size` bytes to each channel, with at most 100 unanswered (MS3)."""
    waiting, tick = [], each_second(meanwhile)

    def answered(replies):
        for reply in replies:
            tick()
            reply.wait()
    for _ in range(count):
        for channel in channels:
            tick()
            waiting.append(client.publish(channel, bytes(size)))
            if len(waiting) >= 100:
                answered(waiting[:50])
                del waiting[:50]
    answered(waiting)


BIG_MESSAGES = 28  # in each of two channels: 1.75 MiB


def shed_scene(ctx):
    """(publisher, paused reader, stream channel): the reader's connection is full of messages, of less than may wait for long (DL8)."""
    publisher, reader = ctx.client(), ctx.client(receive_buffer=READER_BUFFER, login={"presenceTimeoutMs": 300_000})
    channels, stream = [ctx.name("big"), ctx.name("big")], ctx.name("s")
    for channel in channels:
        reader.request("subscribe", channel=channel, features=["messages"])
    publisher.request("join", channel=stream)
    reader.request("join", channel=stream)
    for topic in ("low", "normal", "highest", "cursor", "short"):
        reader.request("subscribeTopic", channel=stream, topic=topic)
    reader.sync()
    flows = {}
    for topic, more in (("low", {"priority": "low"}), ("normal", {}), ("highest", {"priority": "highest"}),
                        ("cursor", {}), ("short", {"lifetimeMs": 50})):
        flows[topic] = publisher.request("joinTopic", channel=stream, topic=topic, **more)["flow"]
    reader.sync()
    reader.pause()
    publish_big(publisher, channels, BIG_MESSAGES, 32_768, meanwhile=reader.ping)
    return publisher, reader, stream, flows


def leave_all(publisher, reader, stream, flows):
    """Leaves all topics, so that the checker of the reader accounts for every sequence (ST10, DL7)."""
    last = {topic: publisher.request("leaveTopic", channel=stream, topic=topic)["last"] for topic in flows}
    reader.sync()
    need(len(reader.since(0, "flowClosed")) == len(flows), "not every flow was closed")
    return last


@check("[DL4 DL5 DL6 DL7] a slow reader loses packets by priority and slot, and is told which", slow=True)
def shedding(ctx):
    publisher, reader, stream, flows = shed_scene(ctx)
    ctx.limit("packets queued for a reader")
    for topic in ("low", "normal"):
        publisher.packets(flows[topic], [bytes(1000)] * 100)
    for n in range(100):
        publisher.packet(flows["cursor"], bytes(1000), slot=1)
    publisher.packets(flows["highest"], [bytes(1000)] * 100)
    publisher.sync()
    reader.unpause()
    last = leave_all(publisher, reader, stream, flows)
    lost = {topic: reader.flow(flows[topic]).lost.total() for topic in flows}
    need(last["low"] == last["normal"] == last["cursor"] == last["highest"] == 100, f"last {last}")
    notices = reader.since(0, "lost")
    if not any(e["reason"] == 2 for e in notices):
        need(any(e["reason"] == 1 for e in notices), f"no slowReader notice among {len(notices)}; lost {lost}")
        need(lost["highest"] == 0, f"highest priority was shed: {lost}")
        need(reader.flow(flows["cursor"]).received.count(100, 100) == 1, f"the newest of a slot was shed: {lost}")
        need(lost["low"] >= lost["normal"] and lost["cursor"] > 0, f"another order: {lost}")
    else:
        ctx.notes.append(f"DL5: packets also expired, so the order of shedding was not judged: {lost}")
    big = [e["offset"] for e in reader.since(0, "deliver")]
    need(len(big) == 2 * BIG_MESSAGES, f"{len(big)} of {2 * BIG_MESSAGES} messages: messages are never shed")


@check("[DL4 DL6] packets older than their lifetime are shed as expired", slow=True)
def expiry(ctx):
    publisher, reader, stream, flows = shed_scene(ctx)
    publisher.packets(flows["short"], [bytes(100)] * 50)
    publisher.packets(flows["normal"], [bytes(100)] * 50)
    publisher.sync()
    time.sleep(0.4)
    reader.unpause()
    leave_all(publisher, reader, stream, flows)
    short, normal = (reader.flow(flows[topic]) for topic in ("short", "normal"))
    need(short.lost.total() == 50, f"of 50 packets with 50 ms {short.lost.total()} expired")
    need(all(e["reason"] == 2 for e in reader.since(0, "lost")), f"{reader.since(0, 'lost')}")
    lost, came = normal.lost.total(), normal.received.total()
    need(lost + came == 50, f"{lost} of 50 packets with 1 s expired, {came} came")


READER_LIMITS = {"packetsPerSecond": "packets a second that a reader takes",
                 "bytesPerSecond": "bytes of packet frames a second that a reader takes",
                 "waitingBytes": "bytes of packets that wait for a reader by its choice"}


@check("[DL11] a reader's limits pass from their least to their most, at login and later; others are badRequest with the limit")
def reader_limit_bounds(ctx):
    client, fresh = ctx.client(), ctx.connect()
    for field, row in READER_LIMITS.items():
        low, high = ctx.limit(row), ctx.limit(row, 1)
        for good in (low, high):
            need(client.request("setReaderLimits", **{field: good}).keys() == {"id"}, "more than the id in the answer")
            ctx.client(login={"readerLimits": {field: good}})
        for bad, limit in ((low - 1, low), (high + 1, high)):
            ctx.refused("badRequest", lambda: client.request("setReaderLimits", **{field: bad}), id=..., limit=limit)
            ctx.refused("badRequest", lambda: fresh.login(readerLimits={field: bad}), id=..., limit=limit)
    client.request("setReaderLimits")


@check("[DL11 DL7] a reader that takes 20 packets a second gets no more, the newest of slots, every message, and is told the rest",
       slow=True)
def reader_limits(ctx):
    rate, began = 20, time.monotonic()
    reader, channel, publishers = ctx.client(login={"readerLimits": {"packetsPerSecond": rate}}), ctx.name("c"), {}
    reader.request("join", channel=channel)
    reader.request("subscribe", channel=channel, features=["messages"])
    reader.request("subscribeTopic", channel=channel, topic="t")
    for _ in range(3):
        publisher = ctx.client()
        publisher.request("join", channel=channel)
        publishers[publisher.request("joinTopic", channel=channel, topic="t")["flow"]] = publisher
    for n in range(90):
        for flow, publisher in publishers.items():
            publisher.packet(flow, b"%d" % n, slot=1)
        if n % 30 == 0:
            publisher.publish(channel, f"m{n}").wait()
        time.sleep(0.02)
    time.sleep(1)
    reader.sync()
    came, took = len(reader.since(0, "packet")), time.monotonic() - began
    need(came <= rate * took + rate // 4 + rate, f"{came} packets in {took:.1f} s")
    last = {flow: publisher.request("leaveTopic", channel=channel, topic="t")["last"] for flow, publisher in publishers.items()}
    reader.sync()
    notices = reader.since(0, "lost")
    need(any(e["reason"] == 4 for e in notices), f"no readerLimit among {len(notices)} notices")
    for flow in publishers:
        known = reader.flow(flow)
        need(last[flow] == 90 and known.received.total() + known.lost.total() == 90, f"{last}")
        if not any(e["reason"] == 2 for e in notices):
            need(known.received.count(90, 90) == 1, f"the newest of flow {flow} did not come")
    need([e["payload"] for e in reader.since(0, "deliver")] == ["m0", "m30", "m60"], "not every message")


def stuffed_reader(ctx, count):
    """(publisher, paused reader, channels): `count` channels the reader subscribes."""
    publisher, reader = ctx.client(), ctx.client(receive_buffer=READER_BUFFER, login={"presenceTimeoutMs": 300_000})
    channels = [ctx.name("big") for _ in range(count)]
    for channel in channels:
        reader.request("subscribe", channel=channel, features=["messages"])
    reader.pause()
    reader.ping()  # wakes the thread, so that it comes to the pause
    return publisher, reader, channels


def closed_as_slow(ctx, reader):
    """The resumed session of a reader that was closed. A busy machine may not read `closing` before the relay gives up
    the link, so it is the next `welcome` that must tell why (SE6)."""
    reader.unpause()
    closing = reader.wait_closed()
    need(closing is None or closing["name"] == "slowConsumer", f"wanted slowConsumer, got {closing}")
    back = ctx.resume(reader)
    need(back.checker.welcome["resumed"], "not resumed")
    end = back.checker.welcome.get("lastEnd")
    need(end is not None and end["name"] == "slowConsumer" and end["code"] == 201, f"lastEnd {end}")
    ctx.tracker.proved.add("slowConsumer")
    return back


@check("[DL2 DL8] over 8 MiB in a queue: closed with slowConsumer, away, resumable; others are not delayed", slow=True)
def slow_consumer(ctx):
    publisher, reader, channels = stuffed_reader(ctx, 8)
    other, probe = ctx.client(), ctx.client()
    ctx.limit("other frames queued for a reader")
    other.request("subscribe", channel=channels[0], features=["messages"])
    publish_big(publisher, channels, 60, 32_768, meanwhile=reader.ping)
    other.sync()
    need(len(other.since(0, "deliver")) == 60, "a slow reader delayed another")
    wait_offline(probe, reader.identity.user, meanwhile=reader.ping)
    back = closed_as_slow(ctx, reader)
    back.sync()
    need(len(reader.since(0, "deliver")) < 480, "nothing was discarded")
    need(len(back.since(0, "restored")) == 8, "not all channels were restored")
    back.wait_for("caughtUp", lambda e: len(back.since(0, "caughtUp")) == 8)
    back.sync()
    for channel in channels:
        offsets = [offset for client in (reader, back) for offset in kept_offsets(client, 0, channel)]
        need(offsets == list(range(1, 61)), f"{channel}: {len(offsets)} of 60")


@check("[DL8] over 2 MiB in a queue for 10 s: closed with slowConsumer, not sooner", slow=True)
def slow_for_long(ctx):
    publisher, reader, channels = stuffed_reader(ctx, 4)
    probe = ctx.client()
    begin = time.monotonic()
    publish_big(publisher, channels, 60, 32_768, meanwhile=reader.ping)
    wait_offline(probe, reader.identity.user, meanwhile=reader.ping)
    need(time.monotonic() - begin >= 10 - EARLY, f"closed after {time.monotonic() - begin:.1f} s")
    closed_as_slow(ctx, reader).sync()
