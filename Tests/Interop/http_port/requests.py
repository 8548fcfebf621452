"""Checks of requests and of refusals."""

import time

from links import BINARY, open_websocket, upgrade_request
from http_port.site import FIELDS, HEAD_BYTES, KEY, LARGE, REQUESTS, SCRIPT, check, need
from http_port.web_sockets import RELAY_PING


TRAVERSALS = [
    "/..", "/../etc/passwd", "/./", "/a/..", "/a/./b", f"/..{SCRIPT}", f"{SCRIPT}/..", "//..", "/%2e%2e/etc/passwd", "/%2E%2E/x", "/.%2e/x", "/%2e./x", "/%2e",
    "/a%2f..%2fb", "/%2f", "/a%2Fb", "/%5c..%5cb", "/a%5Cb", "/..\\b", "/a\\b", "/%252e%252e/x", "/%25%32%65", "/a%25b", "/%c0%ae%c0%ae/x", "/%c0%af", "/%e0%80%ae",
    "/%f0%80%80%ae", "/%fc%80%80%80%80%ae", "/%ff", "/%80", "/%ed%a0%80", "/%00", f"{SCRIPT}%00.html", "/%0d%0aX:%20y", "/%0a", "/%7f", "/%1b", "/%", "/%2", "/%zz", "/%u002e",
    "/a?%zz", "/a?%", "/a#b", "/a\x00b", "/a\x7fb", "/a\xe9b", "/a\"b", "/a<b>", "/a{b}", "/a|b", "/a^b", "/a`b",
    "*", "a", "relay-client.js", "http://127.0.0.1/", "127.0.0.1:80", "?"]
NOTHINGS = ["/etc/passwd", "//etc/passwd", "/...", "/..;/x", "/%ef%bc%8e%ef%bc%8e/x", "/RELAY-CLIENT.JS", f"{SCRIPT}/", f"/{SCRIPT}",
            f"{SCRIPT};a=b", "/~root", "/.git/config",
            "/index.php", "/cgi-bin/", "/%F0%9F%98%80", "/a%20b"]
SAME = [SCRIPT, "/relay%2Dclient.js", "/%72elay-client.j%73", f"{SCRIPT}?", f"{SCRIPT}?../..", f"{SCRIPT}?a=%2e%2e%2f%5c",
        f"{SCRIPT}?%00?/"]


@check("[HT5] no path leads out of the table of paths, in whatever it is encoded; one byte in two spellings is one path")
def paths(site):
    for target in TRAVERSALS:
        got = site.get(target)
        need(got.status == 400 and got.closes, f"{target!r}: {got}")
    for target in NOTHINGS:
        got = site.get(target)
        need(got.status == 404 and not got.closes, f"{target!r}: {got}")
    whole = site.get(SCRIPT)
    need(whole.status == 200 and len(whole.body) > 1_000, f"{whole}")
    for target in SAME:
        need(site.get(target).body == whole.body, f"{target!r} is another file")


def bad_requests(site):
    """(bytes, statuses): each a rule of the table of refusals."""
    good, line = site.request(), b"GET /nothing HTTP/1.1\r\n"
    host = f"Host: {site.name}\r\n".encode()
    tail = host + b"\r\n"
    return [
        (b"\x16\x03\x01\x02\x00\x01\x00", 400), (b"SSH-2.0-x\r\n", 400), (b"\xff" * 64, 400), (b"\x01", 400), (b"\r\n" + good, 400),
        (b" " + good, 400),
        (b"GET  /nothing HTTP/1.1\r\n" + tail, 400), (b"GET /nothing\r\n" + tail, 400), (b"GET /nothing HTTP/1.1 \r\n" + tail, 400),
        (b"GET\t/nothing\tHTTP/1.1\r\n" + tail, 400),
        (b"GET /nothing http/1.1\r\n" + tail, 400), (b"GET /nothing HTTP/1.10\r\n" + tail, 400), (b"GET /nothing HTTP/2.0\r\n" + tail, 505),
        (b"GET /nothing HTTP/0.9\r\n" + tail, 505),
        (b"GET /nothing HTTP/1.2\r\n" + tail, 505), (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        (good.replace(b"\r\n", b"\n"), 400), (line[:-2] + b"\r" + tail, 400), (line + host[:-2] + b"\n\r\n", 400),
        (line + host + b"X: a\rb\r\n\r\n", 400),
        (line + host + b"X: a\r\n b\r\n\r\n", 400), (line + b" " + tail, 400), (line + host + b"X : a\r\n\r\n", 400),
        (line + host + b"X\ta: b\r\n\r\n", 400),
        (line + host + b": a\r\n\r\n", 400), (line + host + b"X\r\n\r\n", 400), (line + host + b"X(y: a\r\n\r\n", 400),
        (line + host + b"X: a\x00b\r\n\r\n", 400),
        (line + host + b"X: a\x7f\r\n\r\n", 400), (line + b"\r\n", 400), (line + host + tail, 400), (line + b"Host: \r\n\r\n", 400),
        (line + b"Host: a b\r\n\r\n", 400),
        (line + b"Host: a,b\r\n\r\n", 400), (line + b"Host: a:b\r\n\r\n", 400), (line + b"Host: [::1\r\n\r\n", 400),
        (line + b"Host: u@127.0.0.1\r\n\r\n", 400),
        (b"GET /nothing HTTP/1.0\r\n\r\n", 400),
        (site.request(method="POST"), 405), (site.request(method="OPTIONS"), 405), (site.request(method="get"), 405),
        (site.request(method="DELETE", path=SCRIPT), 405),
        (site.request(Content_Length="5") + b"hello", 413), (site.request(Content_Length="99999999999999999999"), 413),
        (site.request(Content_Length="-0"), 400),
        (site.request(Content_Length="+0"), 400), (site.request(Content_Length="0x0"), 400), (site.request(Content_Length="0, 0"), 400),
        (site.request(Content_Length=""), 400),
        (line + host + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n", 400),
        (site.request(Transfer_Encoding="chunked") + b"0\r\n\r\n", 501),
        (site.request(Transfer_Encoding="identity"), 501), (site.request(Transfer_Encoding="chunked", Content_Length="0"), 400),
        (site.request(Expect="a-pony"), 417),
        (site.request("/ws"), 426)]


@check("[HT1 HT4] what two readers could understand differently is refused with its status, and is the last of its connection")
def refusals(site):
    for data, status in bad_requests(site):
        # A good request behind it: whoever reads on answers it.
        with site.connect() as connection:
            connection.send(data + site.request(SCRIPT))
            got = connection.answer()
            need(got.status == status and got.closes, f"wanted {status} for {data[:80]!r}: {got}")
            if status == 405:
                need(got.fields.get("allow", "").replace(" ", "") == "GET,HEAD", f"Allow: {got}")
            connection.must_end()
    for fields in ({"Content_Length": "0"}, {"Expect": "100-continue"}, {"X_High": "\xe9\xff"}, {"X_Empty": ""}, {"x_tab": "a\tb"}):
        got = site.get("/nothing", **fields)
        need(got.status == 404, f"{fields}: {got}")


@check("[HT2] a head of 8,192 bytes and 64 fields passes; one more is refused, and so is a cookie of a megabyte")
def head_sizes(site):
    size = len(site.request("/nothing", X=""))
    for more, status in ((0, 404), (1, 431)):
        got = site.get("/nothing", X="x" * (HEAD_BYTES - size + more))
        need(got.status == status, f"a head of {HEAD_BYTES + more} bytes: {got}")
    for count, status in ((FIELDS, 404), (FIELDS + 1, 431)):
        got = site.get("/nothing", **{f"X_{n}": "" for n in range(count - 1)})
        need(got.status == status, f"{count} fields: {got}")
    got = site.get("/nothing", Cookie="x" * 1_048_576)
    need(got.status == 431 and got.closes, f"{got}")
    got = site.get("/" + "x" * 1_048_576)
    need(got.status == 414 and got.closes, f"{got}")


@check("[HT1] a request may be cut at every byte, and read byte by byte")
def cut_requests(site):
    data = site.request(SCRIPT, method="HEAD", X_Cut="1, 2", Accept="*/*")
    want = site.ask(data, "HEAD").fields["etag"]
    connection = site.connect()
    for cut in range(1, len(data)):
        if cut % (REQUESTS - 1) == 0:
            connection.close()
            connection = site.connect()
        connection.send(data[:cut])
        time.sleep(0.001)
        connection.send(data[cut:])
        got = connection.answer("HEAD")
        need(got.status == 200 and got.fields["etag"] == want, f"cut at {cut}: {got}")
    for byte in data:
        connection.send(bytes([byte]))
    need(connection.answer("HEAD").fields["etag"] == want, "byte by byte")
    connection.close()


@check("[WS1 WS7 FR2] an upgrade may be cut at every byte, and so may what a client says behind it")
def cut_upgrades(site):
    data, want = upgrade_request(site.name, KEY), bytes.fromhex("0000000404000102")
    for cut in range(1, len(data)):
        with site.connect() as connection:
            connection.send(data[:cut])
            time.sleep(0.001)
            connection.send(data[cut:])
            need(connection.answer().status == 101, f"cut at {cut}")
    with site.connect() as connection:
        link, got = open_websocket(connection.sock, site.name, site.dice)
        for count in range(1, 4):
            message = link.frame(BINARY, RELAY_PING * count)
            for cut in range(len(message)):
                connection.send(message[:cut])
                time.sleep(0.001)
                connection.send(message[cut:])
                while len(got) < len(want) * count:
                    part = connection.sock.recv(4_096)
                    need(part, f"it ended: {count} frames cut at {cut}")
                    got += b"".join(link.decode(part))
                need(got == want * count, f"{count} frames cut at {cut}: {got.hex()}")
                got = b""


@check("[HT1] a reader that takes an answer byte by byte gets all of it")
def byte_by_byte(site):
    want = site.get(LARGE).body
    with site.connect(buffer=2_048) as connection:
        connection.send(site.request(LARGE))
        need(connection.answer(size=1).body == want, "another file")
