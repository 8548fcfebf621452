"""Messages."""

import struct

from context import check, payloads
from http_checks import need
from relay_client import ECHO, NO_HISTORY, RETAIN, TEXT, encode_publish, text8
from steps import board_request


@check("[MS1 MS9] a number sent again has its offset and is not delivered again; a refused one is not used up")
def numbers(ctx):
    client, reader, name = ctx.client(), ctx.client(), ctx.name("c")
    for each in (client, reader):
        each.request("subscribe", channel=name)
    need(client.publish(name, "ten", number=10, extra=ECHO).wait() == 1, "the first offset")
    for _ in range(3):
        need(client.publish(name, "ten", number=10, extra=ECHO).wait() == 1, "the same number has another offset")
    ctx.refused("badName", client.publish("*", b"", number=11), number=11)
    need(client.publish(name, "eleven", number=11).wait() == 2, "what was sent again took an offset")
    ctx.refused("outcomeUnknown", client.direct(client.identity.user, b"", number=11), number=11)
    need(client.publish(name, "far", number=1_000).wait() == 3, "another offset")
    for number in (9, 12):
        ctx.refused("notAccepted", client.publish(name, "passed", number=number), number=number)
    ctx.refused("notAccepted", client.publish(name, "passed", number=999), number=999)
    need(client.publish(name, "ten", number=10).wait() == 1, "it is not remembered beside a passed one")
    for number in (0, 2**53, 2**64 - 1):
        ctx.refused("badRequest", client.raw("publish", encode_publish(number, name, b"")[1], number=number))
    need(client.publish(name, "last", number=ctx.limit("integers, numbers, offsets")).wait() == 4, "another offset")
    for each in (client, reader):
        each.sync()
    need(payloads(client) == ["ten"] and payloads(reader) == ["ten", "eleven", "far", "last"],
         f"{payloads(client)}, {payloads(reader)}")


@check("[MS10 SE3] behind a refusal the same channel takes nothing before goOn, over links as well; other channels do")
def behind_refused(ctx):
    client, name, other = ctx.client(login={"capabilities": ["goOn"]}), ctx.name("c"), ctx.name("d")
    most = ctx.limit("message payload + custom type")
    refused = client.publish(name, b"x" * (most + 1))
    behind = [client.publish(name, b"") for _ in range(2)]
    client.publish(other, b"").wait()
    number = ctx.refused("tooLarge", refused, number=..., limit=most, actual=most + 1)["number"]
    for reply in behind:
        ctx.refused("behindRefused", reply, number=..., retry="now")
    client.request("goOn", channel=name, number=number - 1)
    client.request("goOn", channel=other, number=number)
    ctx.refused("behindRefused", client.publish(name, b""), number=...)
    client.drop()
    again = ctx.resume(client, login={"capabilities": ["goOn"]})
    ctx.refused("behindRefused", again.publish(name, b""), number=...)
    again.request("goOn", channel=name, number=number)
    need(again.publish(name, b"").wait() == 1, "it did not go on, or something refused has an offset")
    again.request("goOn", channel=name, number=1)
    ctx.refused("badName", lambda: again.request("goOn", channel="*", number=1), id=...)


@check("[MS10] of 65 channels the first goes on; without the capability none is held up; the refused number may be sent again")
def held_up_channels(ctx):
    client, most = ctx.client(login={"capabilities": ["goOn"]}), ctx.limit("message payload + custom type")
    names = [ctx.name("c") for _ in range(ctx.limit("channels held up of an instance") + 1)]
    for name in names:
        ctx.refused("tooLarge", client.publish(name, b"x" * (most + 1)), number=..., limit=most, actual=most + 1)
    client.checker.held_up.pop(names[0])
    client.publish(names[0], b"").wait()
    ctx.refused("behindRefused", client.publish(names[1], b""), number=...)
    plain, name = ctx.client(), ctx.name("d")
    ctx.refused("tooLarge", plain.publish(name, b"x" * (most + 1)), number=..., limit=most, actual=most + 1)
    plain.publish(name, b"").wait()
    again, name = ctx.client(login={"capabilities": ["goOn"]}), ctx.name("e")
    ctx.refused("tooLarge", again.publish(name, b"x" * (most + 1), number=7), number=7, limit=most, actual=most + 1)
    ctx.refused("behindRefused", again.publish(name, b"", number=8), number=8)
    for number in (7, 8):
        again.publish(name, b"", number=number).wait()


@check("[MS9] of 256 accepted numbers each is remembered; one below them is outcomeUnknown; again costs no rate")
def numbers_remembered(ctx):
    client, most = ctx.client(), ctx.limit("messages per user and channel")
    remembered = ctx.limit("remembered numbers per instance")
    numbers = [2 * n for n in range(1, remembered + 2)]
    offsets = {}
    for begin in range(0, len(numbers), most):
        name = ctx.name("c")  # the rate is one of each channel
        for number in numbers[begin:begin + most]:
            offsets[number] = (name, client.publish(name, f"{number}", number=number).wait())
    mark = client.mark()
    replies = [(number, client.publish(offsets[number][0], f"{number}", number=number)) for number in numbers[1:]]
    for number, reply in replies:
        need(reply.wait() == offsets[number][1], f"{number} has another offset")
    need(client.since(mark, "error") == [], "to send again costs")
    ctx.refused("outcomeUnknown", client.publish(offsets[2][0], "2", number=2), number=2)
    ctx.refused("notAccepted", client.publish(offsets[4][0], "5", number=5), number=5)


@check("[MS1 MS9 SE8] numbers count across connections and sessions of one instance; another one begins anew")
def numbers_across(ctx):
    client, reader, name = ctx.client(), ctx.client(), ctx.name("c")
    reader.request("subscribe", channel=name)
    client.publish(name, "a", number=20).wait()
    client.drop()
    back = ctx.resume(client)
    need(back.publish(name, "a", number=20).wait() == 1, "a resumed session forgot its numbers")
    back.publish(name, "b", number=22).wait()
    back.logout()
    again = ctx.client(identity=client.identity)
    need([again.publish(name, p, number=n).wait() for p, n in (("a", 20), ("b", 22))] == [1, 2], "a new session forgot")
    ctx.refused("notAccepted", again.publish(name, "c", number=21), number=21)
    again.drop()
    other = ctx.client(user=client.identity.user)
    need(other.publish(name, "d", number=1).wait() == 3, "another instance has the old numbers")
    reader.sync()
    need(payloads(reader) == ["a", "b", "d"], f"{payloads(reader)}")


@check("[MS9 SE2 SE6] a relay that has forgotten an instance says so: what it sent before is outcomeUnknown, what is higher is new")
def forgotten(ctx):
    client, reader, name = ctx.client(), ctx.client(), ctx.name("c")
    reader.request("subscribe", channel=name)
    client.publish(name, "a", number=7).wait()
    client.logout()
    for index in range(ctx.limit("remembered instances per device") + 1):
        other = ctx.client(user=client.identity.user)
        other.publish(name, f"other {index}").wait()
        other.logout()
    again = ctx.client(identity=client.identity)
    need(again.checker.welcome.get("forgotten") is True and again.checker.welcome["lastNumber"] == 0, f"{again.checker.welcome}")
    for number in (1, 7):
        ctx.refused("outcomeUnknown", again.publish(name, "a", number=number), number=number)
    ctx.refused("outcomeUnknown", again.direct(client.identity.user, b"", number=7), number=7)
    again.publish(name, "b", number=8).wait()
    again.logout()
    back = ctx.client(identity=client.identity)
    need("forgotten" not in back.checker.welcome and back.checker.welcome["lastNumber"] == 8, f"{back.checker.welcome}")
    ctx.refused("outcomeUnknown", back.publish(name, "a", number=7), number=7)
    reader.sync()
    need(payloads(reader)[0] == "a" and payloads(reader)[-1] == "b" and payloads(reader).count("a") == 1, f"{payloads(reader)}")


@check("[SE11 MS9] what a broken connection left unanswered is sent again: accepted once, delivered once, in order")
def sent_again(ctx):
    client, reader, name = ctx.client(), ctx.client(), ctx.name("c")
    reader.request("subscribe", channel=name)
    sent = []
    for cut in (1, 7, 13):
        replies = []
        for n in range(cut):
            number = client.identity.next_number()
            sent.append(number)
            replies.append((number, client.publish(name, f"{number}", number=number)))
        client.drop()  # some are answered, some are read, some are lost
        client = ctx.resume(client)
        for number, reply in replies:
            if reply.problem is not None:
                client.publish(name, f"{number}", number=number).wait()
    reader.sync()
    need(payloads(reader) == [f"{n}" for n in sent], f"{payloads(reader)}")
    need([e["offset"] for e in reader.since(0, "deliver")] == list(range(1, len(sent) + 1)), "offsets with holes")


@check("[MS2] payload and custom type of 32,768 bytes pass, 32,769 are tooLarge with limit and size")
def message_sizes(ctx):
    client, name, most = ctx.client(), ctx.name("c"), ctx.limit("message payload + custom type")
    client.request("subscribe", channel=name)
    client.publish(name, bytes(most), extra=ECHO).wait()
    client.publish(name, "x" * (most - 4), custom_type="type", extra=ECHO).wait()
    ctx.refused("tooLarge", client.publish(name, bytes(most + 1)), number=..., limit=most, actual=most + 1)
    ctx.refused("tooLarge", client.publish(name, bytes(most - 3), custom_type="type"), limit=most, actual=most + 1)
    client.sync()
    need([len(p) for p in payloads(client)] == [most, most - 4], "other payloads")


@check("[MS2] a custom type has 1…32 bytes of UTF-8")
def custom_types(ctx):
    client, name, most = ctx.client(), ctx.name("c"), ctx.limit("custom type")
    client.request("subscribe", channel=name)
    for good in ("a", "x" * most, "é" * (most // 2)):
        client.publish(name, b"", custom_type=good, extra=ECHO).wait()
    client.sync()
    need([e["customType"] for e in client.since(0, "deliver")] == ["a", "x" * most, "é" * (most // 2)], "types")
    ctx.refused("tooLarge", client.publish(name, b"", custom_type="x" * (most + 1)), number=...)
    ctx.refused(("tooLarge", "badText", "badRequest"), client.publish(name, b"", custom_type=""), number=...)
    for bad in (b"\xff", b"\xc3", b"\xed\xa0\x80"):
        ctx.refused("badText", client.publish(name, b"", custom_type=bad), number=...)
        ctx.refused("badText", client.direct(client.identity.user, b"", custom_type=bad), number=...)


@check("[MS2 ST5] text that is not well-formed UTF-8 is badText in publish, direct and publishPacket")
def bad_texts(ctx):
    publisher, _, _, flow = ctx.stream()
    for bad in (b"\xff", b"a\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"):
        number = publisher.identity.next_number()
        body = struct.pack(">Q", number) + text8("c") + bad
        ctx.refused("badText", publisher.raw("publish", body, TEXT, number=number), number=number)
        ctx.refused("badText", publisher.raw("direct", body, TEXT, number=number), number=number)
        body = struct.pack(">I", flow) + bad
        ctx.refused("badText", publisher.raw("publishPacket", body, TEXT, flow=flow), flow=flow)
    publisher.publish(ctx.name("c"), bad).wait()


@check("[MS4] messages are delivered as published, in order, once, to each subscriber")
def delivery(ctx):
    a, b, c, name = ctx.client(), ctx.client(), ctx.client(), ctx.name("c")
    for client in (b, c):
        client.request("subscribe", channel=name)
    sent = ["", b"", "text ü", bytes(range(256)), b"\xff", "\x00", "😀" * 100] + [f"m{n}" for n in range(40)]
    for payload in sent:
        a.publish(name, payload, custom_type="t" if payload else None).wait()
    for client in (b, c):
        client.sync()
        need(payloads(client) == sent, "other payloads")
        need([e["offset"] for e in client.since(0, "deliver")] == list(range(1, len(sent) + 1)), "other offsets")
        kinds = [(bool(e.flags & TEXT), e["customType"]) for e in client.since(0, "deliver")]
        need(kinds == [(isinstance(p, str), "t" if p else None) for p in sent], "other flags")


@check("[MS5] userNamed comes before the first deliver, again after subscribing again, and for echoes")
def user_named(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("c")
    for _ in range(2):
        b.request("subscribe", channel=name)
        a.publish(name, "x").wait()
        b.publish(name, "y", extra=ECHO).wait()
        b.sync()
        b.request("unsubscribe", channel=name)
    names = {e["user"] for e in b.since(0, "userNamed")}
    need(names == {a.identity.user, b.identity.user}, f"{names}")


@check("[MS6] echo: directly after accepted; without it nothing; without the feature messages nothing")
def echo(ctx):
    client, name = ctx.client(), ctx.name("c")
    client.publish(name, "unsubscribed", extra=ECHO).wait()
    client.request("subscribe", channel=name, features=["presence"])
    client.publish(name, "no feature", extra=ECHO).wait()
    client.request("subscribe", channel=name)
    client.publish(name, "silent").wait()
    client.publish(name, "loud", extra=ECHO).wait()
    client.sync()
    need(payloads(client) == ["loud"], f"{payloads(client)}")


@check("[MS7] a key goes with retain or part, and they with a key; retain not with noHistory")
def record_flags(ctx):
    client, name = ctx.client(), ctx.name("c")
    for more in ({"key": "k"}, {"key": "k", "extra": RETAIN | NO_HISTORY}, {"part": (1, 2)}, {"extra": RETAIN},
                 {"part": (1, 2), "extra": RETAIN}, {"key": "k", "extra": NO_HISTORY}):
        ctx.refused("badRequest", client.publish(name, b"x", **more), number=...)
    for key in ("", "_k", " k", "a/b", "k" * 65):
        ctx.refused("badName", client.publish(name, b"x", key=key, extra=RETAIN), number=...)
    need(client.publish(name, b"").wait() == 1, "a refused message took an offset")
    ctx.refused("boardNotFound", lambda: board_request(client, "clear", channel=name), id=...)


@check("[MS7] retain is notSupported on a relay that keeps no boards", relay="narrow")
def no_boards(ctx):
    client, name = ctx.client(), ctx.name("c")
    ctx.refused("notSupported", client.publish(name, b"x", key="k", extra=RETAIN), number=...)
    need(client.publish(name, b"").wait() == 1, "a refused message took an offset")
