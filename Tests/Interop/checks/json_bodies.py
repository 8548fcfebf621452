"""JSON bodies."""

import json

from context import check, outcomes, raw_request
from http_checks import Failed, need
from relay_client import RelayError, Timeout

JS1_BAD = ['', '[]', '"x"', '1', 'null', '{', '{"id":1', '{"id":1,"user":"a"}}', '{"id":1,"user":"a"}{}',
           '{"id":1,"user":"a",}', "{'id':1}", '{"id":1,"user":"a"} x', '{"id":1,"user":"a\nb"}',
           '{"id":1,"user":"a\\x"}', '{"id":1 "user":"a"}', '{"id":1,,"user":"a"}', '{id:1,"user":"a"}',
           '{"id":1,"user":"a","x":NaN}', '{"id":1,"user":"a","x":Infinity}', '{"id":1,"user":"a","x":tru}',
           '{"id":1,"user":"a","x":[1,]}', '{"id":1,"user":"a"}/**/', '\ufeff{"id":1,"user":"a"}',
           '{"id":1,"user":"a","x":"\\u12"}', '{"id":1,"user":"a"}\x00', '{"id":1,"user":"a","x":+1}']
JS2_BAD = ['{"id":1,"id":1,"user":"a"}', '{"id":1,"user":"a","user":"b"}', '{"id":1,"\\u0069d":1,"user":"a"}',
           '{"id":1,"user":"a","x":{"y":1,"y":2}}', '{"id":1,"user":"a","x":[{"y":1,"\\u0079":2}]}']
JS3_BAD = ['{"id":1,"user":"a","x":%s}' % n for n in
           ("1.0", "1.5", "1e3", "1E0", "01", "-01", "9007199254740992", "-9007199254740992", "1" * 400, "-", ".5")]
JS4_BAD = ['{"id":1,"user":"a","x":"\\ud800"}', '{"id":1,"user":"a","x":"\\udc00\\ud800"}',
           '{"id":1,"user":"a","x":"\\ud800x"}', '{"id":1,"user":"a","\\udfff":1}',
           '{"id":1,"user":"a","x":' + "[" * 8 + "]" * 8 + "}", '{"id":1,"user":"a","x":' + '{"y":' * 7 + "{}" + "}" * 8]
JSON_GOOD = [' \t\r\n{ "id" : 1 , "user" : "a" }\n', '{"id":1,"user":"a","x":9007199254740991}',
             '{"id":1,"user":"a","x":-9007199254740991}', '{"id":1,"user":"a","x":"\\ud83d\\ude00"}',
             '{"id":1,"user":"a","x":' + "[" * 7 + "]" * 7 + "}", '{"id":1,"user":"\\u0061"}',
             '{"\\u0069d":1,"user":"a"}', '{"id":1,"user":"a","x":{"y":1},"z":{"y":1}}', '{"id":1,"user":"a","":0}',
             '{"id":1,"user":"a","x":[true,false,null,{},[],"",0]}', '{"id":1,"user":"a","x":"\\"\\\\\\/\\b\\f\\n\\r\\t"}',
             '{"id":1,"user":"a","x":"\U0001f600\u2028\ufeff"}']


def all_refused(ctx, bodies, codes="badRequest"):
    """Each body as a `where` must be refused, and the connection live."""
    client = ctx.client()
    for body in bodies:
        try:
            ctx.refused(codes, raw_request(client, "where", body, id=1))
        except (Failed, Timeout) as problem:
            raise Failed(f"{body!r:.90}: {problem}") from problem
    ctx.lives(client)


@check("[JS1 FR7] what is not one JSON object is badRequest")
def js1(ctx):
    all_refused(ctx, JS1_BAD)


@check("[JS1] a body that is not UTF-8 is badText or badRequest")
def js1_utf8(ctx):
    bodies = [b'{"id":1,"user":"a","x":"' + bad + b'"}'
              for bad in (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80")]
    all_refused(ctx, bodies, ("badText", "badRequest"))
    all_refused(ctx, [b'\xff\xfe{\x00}\x00', b'\xef\xbb\xbf{"id":1,"user":"a"}'], ("badText", "badRequest"))


@check("[JS1] 16,384 bytes of JSON pass, one more is tooLarge")
def js1_size(ctx):
    client, most = ctx.client(), ctx.limit("JSON body from a client")
    body = b'{"id":1,"user":"a","x":"'
    fit = body + b"x" * (most - len(body) - 2) + b'"}'
    client.raw("where", fit, id=1, fields={}).wait()
    ctx.refused("tooLarge", raw_request(client, "where", fit[:-2] + b'x"}', id=1))
    ctx.lives(client)


@check("[JS2] a key that stands twice is badRequest, at any depth, compared after unescaping")
def js2(ctx):
    all_refused(ctx, JS2_BAD)


@check("[JS3] numbers that are no integers within 2^53-1 are badRequest")
def js3(ctx):
    ctx.limit("integers, numbers, offsets")
    all_refused(ctx, JS3_BAD)


@check("[JS4] a ninth level and halves of surrogate pairs are badRequest")
def js4(ctx):
    ctx.limit("JSON depth")
    all_refused(ctx, JS4_BAD)


@check("[JS1 JS3 JS4] everything that JSON allows is read")
def js_good(ctx):
    client = ctx.client()
    for body in JSON_GOOD:
        try:
            client.raw("where", body.encode(), id=1, fields={}).wait()
        except RelayError as problem:
            raise Failed(f"{body!r:.90}: {problem}") from problem


@check("[JS5] an id is 1…2^32-1")
def js5_ids(ctx):
    client = ctx.client()
    client.request("where", id=2**32 - 1, user="a")
    for bad in ("0", "4294967296", "-1", '"1"', "null", "[1]", "true"):
        ctx.refused("badRequest", raw_request(client, "where", '{"id":%s,"user":"a"}' % bad))
    ctx.refused("badRequest", raw_request(client, "where", '{"user":"a"}'), id=None)
    ctx.lives(client)


@check("[JS5] answers and errors come in the order of the requests")
def js5_order(ctx):
    client, channel = ctx.client(), ctx.name("order")
    client.request("join", channel=channel)
    replies = []
    for n in range(40):
        replies += [client.start_request("where", user="a"), client.start_request("where", user="*"),
                    client.start_request("who", kind="stream", channel=channel),
                    client.start_request("joinTopic", channel=channel, topic=f"t{n % 4}"),
                    client.start_request("unsubscribe", channel=channel)]
    want = ["ok", "badName", "ok", "ok", "notSubscribed"] * 40
    need(outcomes(replies) == want, "other outcomes than asked for")


@check("[JS5] unknown fields are ignored and null means absent")
def js5_unknown(ctx):
    client = ctx.client()
    body = {"id": 1, "channel": ctx.name("c"), "features": None, "quiet": None, "since": None, "zzz": {"a": [1]}}
    fields = {"channel": body["channel"]}
    answer = client.raw("subscribe", json.dumps(body).encode(), id=1, fields=fields).wait()
    need(set(answer["features"]) == {"messages", "presence"} and answer["quiet"] is False, f"{answer}")


WRONG_FIELDS = [("subscribe", {}, "channel"), ("subscribe", {"channel": 5}, "channel"),
                ("subscribe", {"channel": "c", "features": "messages"}, "features"),
                ("subscribe", {"channel": "c", "features": [1]}, "features"),
                ("subscribe", {"channel": "c", "quiet": "yes"}, "quiet"),
                ("subscribe", {"channel": "c", "since": 5}, "since"),
                ("subscribe", {"channel": "c", "since": {"offset": 1}}, "since"),
                ("join", {"channel": ["c"]}, "channel"), ("join", {"channel": "c", "quiet": 1}, "quiet"),
                ("who", {"channel": "c"}, "kind"), ("who", {"kind": "other", "channel": "c"}, "kind"),
                ("who", {"kind": "message", "channel": "c", "limit": 0}, "limit"),
                ("who", {"kind": "message", "channel": "c", "limit": 101}, "limit"), ("where", {}, "user"),
                ("where", {"user": {}}, "user"), ("setStates", {"kind": "message", "channel": "c"}, "states"),
                ("setStates", {"kind": "message", "channel": "c", "states": {"k": 1}}, "states"),
                ("setStates", {"kind": "message", "channel": "c", "states": []}, "states"),
                ("removeStates", {"kind": "message", "channel": "c", "keys": "k"}, "keys"),
                ("getStates", {"kind": "message", "channel": "c"}, "user"), ("leave", {}, "channel"),
                ("unsubscribe", {"channel": False}, "channel")]


@check("[JS5] a wrong body is badRequest with the field's name in the text")
def js5_fields(ctx):
    client = ctx.client()
    for kind, fields, name in WRONG_FIELDS:
        try:
            text = ctx.refused("badRequest", lambda: client.request(kind, **fields), id=...)["text"]
        except Failed as problem:
            raise Failed(f"{kind} {fields}: {problem}") from problem
        need(name in text, f"{kind} {fields}: no {name} in {text!r}")
