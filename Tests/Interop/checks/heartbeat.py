"""Heartbeat."""

import time

from bounds import EARLY
from context import at_once, check, presence_of
from http_checks import need
from relay_client import encode_publish, frame


@check("[HB1] pings of 0…8 bytes are answered with the same bytes, 9 are badRequest")
def pings(ctx):
    client = ctx.client()
    for size in range(ctx.limit("ping") + 1):
        client.ping(bytes(range(size))).wait()
    ctx.refused("badRequest", client.raw("ping", bytes(9)))
    ctx.lives(client)


@check("[HB1] a pong of 9 bytes is badRequest (body of the tables: 0…8 bytes)")
def long_pong(ctx):
    client = ctx.client()
    ctx.refused("badRequest", at_once(client, client.raw("pong", bytes(9))))
    ctx.lives(client)


@check("[HB2 HB3 PR5] a silent client is pinged, closed with heartbeatTimeout, away, then timed out", slow=True)
def heartbeat_timeout(ctx):
    channel, watcher, begins = ctx.name("c"), ctx.client(), []
    watcher.request("subscribe", channel=channel)
    # Of the first the interval is 5 s, and there is time to come back; of the second it is half of the shortest timeout.
    silent = [ctx.client(login={"presenceTimeoutMs": time_away}, auto_pong=False, heartbeat=False)
              for time_away in (ctx.limit("presence timeout", 1), ctx.limit("presence timeout"))]
    for client in silent:
        begins.append(time.monotonic())
        client.request("subscribe", channel=channel)
    joined = watcher.wait_for("presence", lambda e: e.get("user") == silent[1].identity.user)
    mark = joined.index + 1
    for client, begin, interval in zip(silent, begins, (5, 2.5)):
        after = client.wait_for("ping").at - begin
        need(after >= interval - EARLY, f"pinged after {after:.1f} s, not {interval}")
        ctx.closed_after(client, "heartbeatTimeout", begin, 2 * interval)
    back = ctx.resume(silent[0])
    need(back.checker.welcome["resumed"], "not resumed")
    end = back.checker.welcome.get("lastEnd")
    need(end and end["name"] == "heartbeatTimeout", f"lastEnd {end}")
    event = watcher.wait_for("presence", since=mark)
    need((event["event"], event["user"]) == ("timeout", silent[1].identity.user), f"{event}")
    need(event.at - begins[1] >= 10 - EARLY, f"timeout after {event.at - begins[1]:.1f} s")
    late = ctx.connect(silent[1].identity)
    late.login(token=silent[1].checker.welcome["resumeToken"])
    need(late.checker.welcome["resumed"] is False, "resumed after its timeout")
    need(len(presence_of(watcher, mark)) == 1, f"{presence_of(watcher, mark)}")


@check("[HB2] bytes of an incomplete frame are a sign of life", slow=True)
def slow_sender(ctx):
    begin = time.monotonic()
    client = ctx.client(auto_pong=False, heartbeat=False)
    number = client.identity.next_number()
    flags, body = encode_publish(number, ctx.name("c"), b"0123456789")
    data, longest = frame("publish", body, flags), 0
    for at in range(7):
        client.send_bytes(data[at:at + 1])
        begin, before = time.monotonic(), begin
        longest = max(longest, begin - before)
        time.sleep(1.0)
    longest = max(longest, time.monotonic() - begin)
    if longest < 5 - EARLY:
        need(not client.since(0, "ping"), "pinged, though bytes came")
    else:
        ctx.notes.append(f"HB2: {longest:.1f} s lay between two bytes, the interval is 5 s: pings were not judged")
    reply = client.expect_number("publish", number)
    client.send_bytes(data[7:])
    reply.wait()


@check("[HB2] a client that answers pings stays", slow=True)
def answers_pings(ctx):
    begin = time.monotonic()
    client = ctx.client(login={"presenceTimeoutMs": 5000}, heartbeat=False)
    client.wait_for("ping", lambda e: len(client.since(0, "ping")) >= 3)
    for count, ping in enumerate(client.since(0, "ping"), 1):
        need(ping.at - begin >= count * 2.5 - EARLY, f"ping {count} after {ping.at - begin:.1f} s")
    ctx.lives(client)
