"""Checks of who asks, and by which name."""

import base64
import socket

from links import accept_of, upgrade_request
from http_port.site import KEY, LARGE, SCRIPT, check, need


@check("[HT7] a name that is not the relay's gets 421 and its addresses, without keys, whatever is asked for", relay="access")
def hosts(site):
    wrong = ["evil.example", f"evil.example:{site.port}", site.host, f"{site.host}:{site.port ^ 1}",
             f"{site.host}.evil.example:{site.port}", f"127.1:{site.port}",
             f"2130706433:{site.port}", f"0x7f.0.0.1:{site.port}", f"203.0.113.9:{site.port}", f"[2001:db8::1]:{site.port}", f"0.0.0.0:{site.port}", f"xlocalhost:{site.port}"]
    if "." in socket.gethostname():
        wrong.append(f"x{socket.gethostname()}:{site.port}")
    for host in wrong:
        for path in ("/", "/nothing", SCRIPT, "/metrics", "/healthz"):
            got = site.get(path, host=host)
            need(got.status == 421 and got.closes, f"{host} {path}: {got}")
            need(f":{site.port}/".encode() in got.body and b"key" not in got.body, f"{got.body!r}")
            need(not any(key.encode() in got.body for key in site.keys), "a key stands in it")
        got = site.ask(upgrade_request(host, KEY, Origin=f"http://{host}"))
        need(got.status == 421, f"an upgrade for {host}: {got}")
    right = [site.name, f"localhost:{site.port}", f"LocalHost:{site.port}", f"localhost.:{site.port}", f"127.0.0.1:{site.port}",
             f"127.9.9.9:{site.port}", f"[::1]:{site.port}",
             f"[0:0:0:0:0:0:0:1]:{site.port}", f"{socket.gethostname().split('.')[0]}:{site.port}"]
    if other := site.other_address():
        right.append(f"{other}:{site.port}")
    for host in right:
        got = site.get("/nothing", host=host)
        need(got.status == 404, f"{host}: {got}")
    need(site.keys, "there are no keys that could stand in it")


@check("[HT8 WS1 WS2 WS3] an upgrade that lacks something or comes from a foreign page is refused, with the status that says what")
def upgrades(site):
    host, own = site.name, f"http://{site.name}"
    need(accept_of(KEY) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "the example of RFC 6455")
    good = upgrade_request(host, KEY)
    twice = lambda line: good[:-2] + line.encode() + b"\r\n\r\n"  # noqa: E731
    rows = [
        ({"Sec_WebSocket_Key": None}, 400), ({"Sec_WebSocket_Key": ""}, 400), ({"Sec_WebSocket_Key": "short"}, 400),
        ({"Sec_WebSocket_Key": KEY[:-2]}, 400),
        ({"Sec_WebSocket_Key": base64.b64encode(bytes(17)).decode()}, 400), ({"Sec_WebSocket_Key": "-" * 22 + "=="}, 400),
        ({"Sec_WebSocket_Key": KEY + ", " + KEY}, 400),
        ({"Sec_WebSocket_Version": "12"}, 426), ({"Sec_WebSocket_Version": "8, 13"}, 426), ({"Sec_WebSocket_Version": "013"}, 426),
        ({"Upgrade": None}, 400), ({"Upgrade": "h2c"}, 400), ({"Upgrade": None, "Sec_WebSocket_Key": None}, 426),
        ({"Connection": None}, 400), ({"Connection": "close"}, 400),
        ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403), ({"Origin": ""}, 403), ({"Origin": f"https://{host}"}, 403),
        ({"Origin": f"http://{site.host}"}, 403),
        ({"Origin": f"http://{site.host}:{site.port ^ 1}"}, 403), ({"Origin": f"http://localhost:{site.port}"}, 403),
        ({"Origin": f"{own}.evil.example"}, 403),
        ({"Origin": f"{own}/"}, 403), ({"Origin": f"http://x@{host}"}, 403), ({"Origin": f"{own} {own}"}, 403),
        ({"Origin": f"{own}, {own}"}, 403), ({"Origin": f"file://{host}"}, 403)]
    requests = [(upgrade_request(host, KEY, **fields), status) for fields, status in rows]
    requests += [(twice(f"Origin: {own}\r\nOrigin: {own}"), 403), (twice(f"Sec-WebSocket-Key: {KEY}"), 400),
                 (twice("Sec-WebSocket-Version: 13"), 426),
                 (good.replace(b"GET", b"POST"), 405), (good.replace(b"GET", b"HEAD"), 400), (good.replace(b"HTTP/1.1", b"HTTP/1.0"), 400)]
    for data, status in requests:
        method = "HEAD" if data.startswith(b"HEAD") else "GET"
        got = site.ask(data, method)
        need(got.status == status and got.closes, f"wanted {status} for {data!r}: {got}")
        need(status != 426 or got.fields.get("sec-websocket-version") == "13", f"{got}")
    for data in (good, upgrade_request(host, KEY, Origin=own), upgrade_request(host, KEY, Upgrade="WEBSOCKET", Connection="x,UPGRADE"),
                 upgrade_request(host, KEY, Sec_WebSocket_Protocol="x, y"),
                 upgrade_request(f"localhost:{site.port}", KEY, Origin=f"http://LOCALHOST:{site.port}")):
        got = site.ask(data)
        need(got.status == 101 and got.fields["sec-websocket-accept"] == accept_of(KEY), f"{data!r}: {got}")
        need(not {"sec-websocket-protocol", "sec-websocket-extensions", "content-length"} & set(got.fields), f"{got}")
    with site.connect(buffer=2_048) as connection:
        connection.send(site.request(LARGE) * 90 + good)
        statuses = []
        while not statuses or statuses[-1] == 200:
            statuses.append(connection.answer().status)
        need(statuses[-1] == 400, f"an upgrade behind 90 files that were not answered: {statuses}")
        connection.must_end()


FORWARDING = {"X_Forwarded_For": "127.0.0.1", "Forwarded": "for=127.0.0.1", "X_Real_IP": "127.0.0.1", "X_Forwarded_Proto": "http",
              "X_Forwarded_Host": "localhost", "Via": "1.1 proxy",
              "X_Client_IP": "127.0.0.1", "Forwarded_For": "127.0.0.1", "X_Forwarded_Ssl": "on", "X_Forwarded_Scheme": "https",
              "X_Forwarded_Prefix": "/board", "X_Forwarded_User": "anna"}


@check("[HT9] numbers for operators go to loopback, not through a proxy, and to who has their token")
def operators(site):
    other = site.other_address()
    everywhere = [None, other] if other else [None]
    for path in ("/metrics",):
        first = site.get(path)
        need(first.status == 200 and first.fields["cache-control"] == "no-store", f"{first}")
        need(not any(key.encode() in first.body for key in site.keys), "a key stands in it")
        wanted = [(None, {field: value}, 401) for field, value in FORWARDING.items()]
        wanted += [(None, {"Authorization": value}, 401) for value in ("Bearer wrong", "Bearer", "Basic eDp5", "", "Bearer " + "x" * 1_000)]
        wanted += [(place, fields, 401) for place in everywhere[1:] for fields in
                   ({}, {"X_Forwarded_For": "127.0.0.1"}, {"Authorization": "Bearer wrong"}, {"host": f"localhost:{site.port}"},
                   {"host": f"{other}:{site.port}"})]
        # As a proxy on this machine hands it on, one that adds no field of its own.
        wanted.append((None, {"host": f"{socket.gethostname().split('.')[0]}:{site.port}"}, 401))
        if site.operator_token:
            right = f"Bearer {site.operator_token}"
            wanted += [(place, {"Authorization": value, **more}, 200) for place in everywhere
                       for value in (right, right.replace("Bearer", "bearer"))
                       for more in ({}, {"X_Forwarded_For": "203.0.113.9"})]
            wanted += [(place, {"Authorization": value}, 401) for place in everywhere
                       for value in (right + "x", right[:-1], right.replace("Bearer ", "Bearer  "), right.replace("Bearer", "Basic"),
                       site.operator_token)]
        for place, fields, status in wanted:
            method = site.dice.choice(("GET", "HEAD"))
            with site.connect(place) as connection:
                connection.send(site.request(path, method=method, **fields) + site.request())
                got = connection.answer(method)
                need(got.status == status, f"wanted {status} for {path} from {place or 'loopback'} with {fields}: {got}")
                need(status == 200 or b"boardrelay_" not in got.body, f"{got}")
                need(connection.answer().status == 404, "the connection does not live")
    for path in ("/healthz", "/readyz"):
        for place in everywhere:
            for fields in ({}, {"X_Forwarded_For": "203.0.113.9"}, {"Authorization": "Bearer wrong"}):
                got = site.ask(site.request(path, **fields), host=place)
                need(got.status == 200, f"{path} from {place or 'loopback'} with {fields}: {got}")
