"""Frames."""

import struct
import time

from context import at_once, check
from http_checks import need
from relay_client import (
    Client, ECHO, EXTENSIONS, Identity, encode_changes, encode_direct, encode_packet, encode_publish, extended, frame, json_body)


class Trickle(Client):
    """Sends every byte as a segment of its own."""

    def _write(self, data):
        for at in range(len(data)):
            self.socket.sendall(data[at:at + 1])


class Cutter(Client):
    """Sends each frame in two segments, cut at `cut`; on a WebSocket what is around it as well."""

    cut = 0

    def _write(self, data):
        cut = self.cut % len(data)
        if cut:
            self.socket.sendall(data[:cut])
            time.sleep(0.002)
        self.socket.sendall(data[cut:])


@check("[FR1 FR2] a session whose every byte is a segment of its own works")
def bytes_one_by_one(ctx):
    client, channel = ctx.client(kind=Trickle), ctx.name("cut")
    client.request("subscribe", channel=channel)
    client.publish(channel, "ünï", extra=ECHO, custom_type="a").wait()
    event = client.wait_for("deliver")
    need(event["payload"] == "ünï" and event["customType"] == "a", f"{event}")
    client.logout()


@check("[FR2] a frame may be cut in two at every byte")
def cut_everywhere(ctx):
    client, channel = ctx.client(kind=Cutter), ctx.name("cut")
    client.request("subscribe", channel=channel)
    size = len(frame("publish", encode_publish(1, channel, "payload")[1])) + (8 if client.transport == "websocket" else 0)
    for cut in range(size):
        client.cut = cut
        client.publish(channel, "payload", extra=ECHO).wait()
    client.cut = 0
    client.sync()
    need(len(client.since(0, "deliver")) == size, "not every cut frame was delivered")


@check("[FR2] frames joined in one segment are all read")
def joined_frames(ctx):
    client, channel = ctx.client(), ctx.name("joined")
    replies = client.publish_many(channel, [str(n) for n in range(50)])
    need([r.wait() for r in replies] == list(range(1, 51)), "not fifty offsets from 1")


@check("[FR3] a body of 81,920 bytes passes the head, whatever becomes of it")
def biggest_body(ctx):
    client, size = ctx.client(), ctx.limit("frame body")
    ctx.refused("unknownFrame", client.raw(0x7F, bytes(size)), id=None)
    flags, body = encode_publish(1, "c", b"")
    ctx.refused("tooLarge", client.raw("publish", body + bytes(size - len(body)), flags, number=1), number=1)
    ctx.lives(client)


@check("[FR3] a length bomb is refused on its head, before and after login")
def length_bomb(ctx):
    size = ctx.limit("frame body")
    for length in (size + 3, 0xFFFFFF):
        for client in (ctx.connect(), ctx.client()):
            client.send_bytes(struct.pack(">I", length))
            ctx.closed(client, "frameTooLarge")
    later = ctx.client()
    later.send_bytes(b"\x16\x03\x01\x02")
    ctx.closed(later, "frameTooLarge")


@check("[FR3] lengths 0 and 1 are protocolError")
def short_lengths(ctx):
    for length in (0, 1):
        for client in (ctx.connect(), ctx.client()):
            client.send_bytes(struct.pack(">I", length) + bytes(length))
            ctx.closed(client, "protocolError")


@check("[FR4] flags that a frame type does not define are badRequest, for every type")
def undefined_flags(ctx):
    client = ctx.client()
    for kind, (number, sender, _) in ctx.document.frames.items():
        if "C" not in sender or kind in ("login", "pong", "ping") or number in (0x10, 0x11, 0x12, 0x13, 0x14):
            continue
        for flags in (0x01, 0x80):
            ctx.refused("badRequest", client.raw(kind, json_body({"id": 7, "channel": "c"}), flags, id=7))
    for flags in (0x01, 0x80):
        ctx.refused("badRequest", client.raw("ping", b"", flags))
    ctx.refused("badRequest", client.raw("directReceived", bytes(8), 0x01))
    ctx.refused("badRequest", client.raw("direct", encode_direct(1, "c", b"")[1], 0x10, number=1))
    for flags in (0x08, 0x20, 0x40):
        ctx.refused("badRequest", client.raw("publishPacket", encode_packet(1, b"")[1], flags, flow=1))
    ctx.lives(client)


LATER = [(7, b"of a later version"), (0x7FFF, b"")]


@check("[FR9] extensions that nobody knows pass with messages, packets, direct messages and history, to the bound")
def extensions_pass(ctx):
    publisher, reader, channel, flow = ctx.stream()
    reader.request("subscribe", channel=channel)
    most = [(1, bytes(ctx.limit("extensions of a frame") - 4))]
    for number, entries in enumerate((LATER, most, []), 1):
        publisher.publish(channel, f"{number}", custom_type="t", extensions=entries).wait()
        got = reader.wait_for("deliver", lambda e: e["payload"] == f"{number}")
        need(got["extensions"] == entries, f"{got}")
    publisher.packet(flow, b"p", extensions=LATER)
    need(reader.wait_for("packet")["extensions"] == LATER, "not with the packet")
    reader.request("history", channel=channel)
    need([e["extensions"] for e in reader.since(0, "historyItem")] == [LATER, most, []], "not in the history")
    late = ctx.client()
    late.request("subscribe", channel=channel, since={"beginning": True})
    late.wait_for("caughtUp")
    need([e["extensions"] for e in late.since(0, "deliver")] == [LATER, most, []], "not for a late joiner")


@check("[FR9 ER1] extensions that must be known, are too long or end in an entry are badRequest, with the number or flow")
def extensions_refused(ctx):
    client = ctx.client()
    most = ctx.limit("extensions of a frame")
    flags, message = encode_publish(5, "c", b"x")
    for block in (extended(0, b"", (0x8001, b""))[1], extended(0, b"", (1, b""), (0xFFFF, b"x"))[1]):
        ctx.refused("badRequest", client.raw("publish", block + message, flags | EXTENSIONS, number=5), number=5)
        ctx.refused("badRequest", client.raw("publishPacket", block + encode_packet(3, b"")[1], EXTENSIONS, flow=3), flow=3)
    ctx.refused("badRequest", client.raw("publish", extended(0, message, (1, bytes(most - 3)))[1], flags | EXTENSIONS), limit=most)
    for block in (b"", b"\0", b"\0\5", b"\0\3abc", b"\0\5\0\1\0\2x"):
        ctx.refused("badRequest", client.raw("directReceived", block, EXTENSIONS))
    ctx.lives(client)


@check("[FR4] flags of a pong are badRequest, like those of a ping")
def flags_of_pong(ctx):
    client = ctx.client()
    for flags in (0x01, 0x80):
        ctx.refused("badRequest", at_once(client, client.raw("pong", b"", flags)))
    ctx.lives(client)


HELLO = bytes.fromhex("16030100c8010000c40303") + bytes(range(64))
OTHERS = (b"GET / HTTP/1.1\r\nHost: relay\r\n\r\n", HELLO, b"SSH-2.0-x\r\n", b"\xff" * 40, b"\x01")


@check("[FR5 HT1] whoever begins with another byte than 0 is answered by HTTP: a request by what it asks for, noise by 400")
def other_protocols(ctx):
    site = ctx.site()
    for data, status, words in zip(OTHERS, (421, 400, 400, 400, 400), ("address", "http://", "first line", "neither", "neither")):
        got = site.ask(data)
        need(got.status == status and words.encode() in got.body, f"{data[:40]!r}: {got}")
    need(site.get("/nothing").status == 404, "a good request")


@check("[FR5 WS8] the first byte of a WebSocket's first message is 0 as well, otherwise notRelayProtocol and code 4306")
def other_protocols_on_a_websocket(ctx):
    for data in OTHERS:
        client = ctx.connect(transport="websocket")
        client.send_bytes(data)
        ctx.closed(client, "notRelayProtocol")
        need(client.link.close == (4306, "notRelayProtocol"), f"{client.link.close}")


@check("[WS8] each `closing` is followed by a close with 4,000 and its code, and nothing else closes with such a code")
def closing_codes(ctx):
    a = ctx.client(transport="websocket")
    again = ctx.client(identity=Identity(a.identity.user, secret=a.identity.secret), transport="websocket")
    ctx.closed(a, "replaced")
    need(a.link.close == (4302, "replaced"), f"{a.link.close}")
    again.logout()
    need(again.link.close == (4304, "loggedOut"), f"{again.link.close}")


@check("[FR6 ER1] unknown frame types and those only the relay sends are unknownFrame, with the id of a JSON body")
def unknown_frames(ctx):
    client = ctx.client()
    relay_only = [number for number, sender, _ in ctx.document.frames.values() if sender == "R"]
    for number in [0x00, 0x1A, 0x1E, 0x1F, 0x3F, 0x7F, 0xB2, 0xFF] + relay_only:
        ctx.refused("unknownFrame", client.raw(number, b'{"id":5}', id=5), id=5, number=None, flow=None)
        ctx.refused("unknownFrame", client.raw(number, b"no JSON"), id=None, number=None, flow=None)
    ctx.lives(client)


def truncations(ctx, client, kind, whole, flags, **reference):
    """Each body shorter than `whole` must be refused."""
    for size in range(len(whole)):
        ctx.refused("badRequest", client.raw(kind, whole[:size], flags, **reference))


@check("[FR7] hot bodies cut inside a field, at every byte, are badRequest and the connection lives")
def cut_bodies(ctx):
    client = ctx.client()
    number = client.identity.next_number
    flags, body = encode_publish(number(), "channel", b"", custom_type="type")
    truncations(ctx, client, "publish", body, flags, number=client.identity.number)
    flags, body = encode_direct(number(), "user", b"", custom_type="type")
    truncations(ctx, client, "direct", body, flags, number=client.identity.number)
    flags, body = encode_packet(9, b"", slot=1, sender_time=2)
    truncations(ctx, client, "publishPacket", body, flags, flow=9)
    body = encode_changes(number(), "channel", (1, 1), [("key", "payload", "type")])
    truncations(ctx, client, "publishChanges", body, 0, number=client.identity.number)
    truncations(ctx, client, "directReceived", bytes(8), 0)
    ctx.refused("badRequest", client.raw("directReceived", bytes(9)))
    ctx.lives(client)


@check("[FR7 FR8] a name length that reaches beyond the body is badRequest")
def long_name_length(ctx):
    client = ctx.client()
    body = struct.pack(">Q", 1) + b"\xffshort"
    ctx.refused("badRequest", client.raw("publish", body, number=1))
    ctx.refused("badRequest", client.raw("direct", body, number=1))
    ctx.lives(client)
