#!/usr/bin/env python3
"""What a relay's port does with HTTP and with WebSockets that break rules, against docs/protocol.md: sockets and bytes, no
library between.

    http_checks.py --binary PATH       starts a daemon with keys, and with an operators' token if it takes one
    http_checks.py --port N            looks at one that runs

interop.py runs the same checks beside its own. Each gets a `Site`: where the relay is and what is known of it.
"""

import argparse
import base64
import json
import os
import pathlib
import posixpath
import re
import secrets
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from links import (  # noqa: E402
    BINARY, CLOSE, CONTINUATION, FRAME_MAX, PING, PONG, TEXT_FRAME, Violation, WebSocketLink, accept_of, open_websocket, parse_head,
    read_head, upgrade_request)

PATIENCE = 300.0  # ends a run that hangs, and judges nothing
READING_SECONDS = 30
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
SCRIPT = "/relay-client.js"
# The largest file that is served.
LARGE = "/client/client.js"
HEAD_BYTES, FIELDS, HEAD_SECONDS, REQUESTS, PIPELINED_BYTES = 8_192, 64, 10, 100, 8_192
NOISE = "Zq9Zq9"  # stands in bad requests, and in no answer


class Failed(Exception):
    """A check did not see what the document says."""


def need(condition, message):
    """Fails the check unless the condition holds."""
    if not condition:
        raise Failed(message)


class Site:
    """A relay as seen from here."""

    def __init__(self, host, port, dice, keys=(), operator_token=None):
        self.host, self.port, self.dice = host, port, dice
        self.keys, self.operator_token = [key for key in keys if key], operator_token
        self.notes = []

    @property
    def name(self):
        """What stands in `Host`."""
        return f"{self.host}:{self.port}"

    def connect(self, host=None, buffer=None):
        """A connection; `buffer`: SO_RCVBUF, and segments as a LAN has: with loopback's the relay's kernel takes 2 MB."""
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1_400)
        sock.settimeout(PATIENCE)
        sock.connect((host or self.host, self.port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return Connection(sock)

    def request(self, path="/nothing", method="GET", version="1.1", host=None, **fields):
        """The bytes of a request; None for a field takes it away."""
        all_fields = {"Host": host or self.name, **{name.replace("_", "-"): value for name, value in fields.items()}}
        lines = "".join(f"{name}: {value}\r\n" for name, value in all_fields.items() if value is not None)
        return f"{method} {path} HTTP/{version}\r\n{lines}\r\n".encode("latin-1")

    def ask(self, data, method="GET", host=None):
        """The answer to these bytes on a connection of their own."""
        with self.connect(host) as connection:
            connection.send(data)
            answer = connection.answer(method)
            if answer.closes:
                connection.must_end()
            return answer

    def get(self, path, **fields):
        """The answer to a good request."""
        return self.ask(self.request(path, **fields))

    def other_address(self):
        """An address of this machine that is not loopback and on which the relay listens; or None."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("198.51.100.1", 9))  # sends nothing
                address = probe.getsockname()[0]
                self.connect(address).close()
            except OSError:
                self.notes.append("HT9: it listens on no address but loopback")
                return None
        return address


class Answer:
    """Status, fields and body."""

    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    @property
    def closes(self):
        """Whether it is the last of its connection."""
        return "close" in self.fields.get("connection", "").lower()

    def __repr__(self):
        return f"{self.status} {self.fields} {self.body[:120]!r}"


class Connection:
    """One connection, and what came on it that was not read yet."""

    def __init__(self, sock):
        self.sock, self.rest = sock, b""

    def send(self, data):
        """All of it; a relay that has refused already may not take it all."""
        try:
            self.sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def answer(self, method="GET", size=65_536):
        """The next answer, read in pieces of `size`. [HT6]"""
        head, body = read_head(self.sock, self.rest)
        need(head, "the connection ended without an answer")
        status, fields = parse_head(head)
        need("transfer-encoding" not in fields, f"{fields}")
        length = 0
        if status not in (101, 304):
            need(fields.get("content-length", "").isdigit(), f"no Content-Length in {head!r}")
            length = 0 if method == "HEAD" else int(fields["content-length"])
        caching = None if status == 101 else "no-cache" if status in (200, 304) and "etag" in fields else "no-store"
        need(fields.get("cache-control") == caching, f"HT6: Cache-Control {fields.get('cache-control')} in {head!r}")
        parts, missing = [body[:length]], length - len(body)
        while missing > 0:
            part = self.sock.recv(min(size, missing))
            need(part, f"the body ends {missing} bytes early")
            parts.append(part)
            missing -= len(part)
        self.rest = body[length:]
        whole = b"".join(parts)
        need(NOISE.encode() not in head + whole, f"what was sent stands in the answer: {head + whole[:200]!r}")
        return Answer(status, fields, whole)

    def must_end(self):
        """Nothing more may come."""
        try:
            rest = self.rest or self.sock.recv(4_096)
        except ConnectionResetError:
            return  # we had sent more than it wanted
        need(not rest, f"something follows: {rest[:80]!r}")

    def close(self):
        """The end."""
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


CHECKS = []


def check(name, slow=False, relay="main"):
    """Registers a check: of the relay of interop.py that it wants."""
    def register(function):
        CHECKS.append((name, function, slow, relay))
        return function
    return register


# ------------------------------------------------------------------------------------------------
# Requests
# ------------------------------------------------------------------------------------------------

TRAVERSALS = [
    "/..", "/../etc/passwd", "/./", "/a/..", "/a/./b", f"/..{SCRIPT}", f"{SCRIPT}/..", "//..", "/%2e%2e/etc/passwd", "/%2E%2E/x", "/.%2e/x", "/%2e./x", "/%2e",
    "/a%2f..%2fb", "/%2f", "/a%2Fb", "/%5c..%5cb", "/a%5Cb", "/..\\b", "/a\\b", "/%252e%252e/x", "/%25%32%65", "/a%25b", "/%c0%ae%c0%ae/x", "/%c0%af", "/%e0%80%ae",
    "/%f0%80%80%ae", "/%fc%80%80%80%80%ae", "/%ff", "/%80", "/%ed%a0%80", "/%00", f"{SCRIPT}%00.html", "/%0d%0aX:%20y", "/%0a", "/%7f", "/%1b", "/%", "/%2", "/%zz", "/%u002e",
    "/a?%zz", "/a?%", "/a#b", "/a\x00b", "/a\x7fb", "/a\xe9b", "/a\"b", "/a<b>", "/a{b}", "/a|b", "/a^b", "/a`b",
    "*", "a", "relay-client.js", "http://127.0.0.1/", "127.0.0.1:80", "?"]
NOTHINGS = ["/etc/passwd", "//etc/passwd", "/...", "/..;/x", "/%ef%bc%8e%ef%bc%8e/x", "/RELAY-CLIENT.JS", f"{SCRIPT}/", f"/{SCRIPT}", f"{SCRIPT};a=b", "/~root", "/.git/config",
            "/index.php", "/cgi-bin/", "/%F0%9F%98%80", "/a%20b"]
SAME = [SCRIPT, "/relay%2Dclient.js", "/%72elay-client.j%73", f"{SCRIPT}?", f"{SCRIPT}?../..", f"{SCRIPT}?a=%2e%2e%2f%5c", f"{SCRIPT}?%00?/"]


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
        (b"\x16\x03\x01\x02\x00\x01\x00", 400), (b"SSH-2.0-x\r\n", 400), (b"\xff" * 64, 400), (b"\x01", 400), (b"\r\n" + good, 400), (b" " + good, 400),
        (b"GET  /nothing HTTP/1.1\r\n" + tail, 400), (b"GET /nothing\r\n" + tail, 400), (b"GET /nothing HTTP/1.1 \r\n" + tail, 400), (b"GET\t/nothing\tHTTP/1.1\r\n" + tail, 400),
        (b"GET /nothing http/1.1\r\n" + tail, 400), (b"GET /nothing HTTP/1.10\r\n" + tail, 400), (b"GET /nothing HTTP/2.0\r\n" + tail, 505), (b"GET /nothing HTTP/0.9\r\n" + tail, 505),
        (b"GET /nothing HTTP/1.2\r\n" + tail, 505), (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        (good.replace(b"\r\n", b"\n"), 400), (line[:-2] + b"\r" + tail, 400), (line + host[:-2] + b"\n\r\n", 400), (line + host + b"X: a\rb\r\n\r\n", 400),
        (line + host + b"X: a\r\n b\r\n\r\n", 400), (line + b" " + tail, 400), (line + host + b"X : a\r\n\r\n", 400), (line + host + b"X\ta: b\r\n\r\n", 400),
        (line + host + b": a\r\n\r\n", 400), (line + host + b"X\r\n\r\n", 400), (line + host + b"X(y: a\r\n\r\n", 400), (line + host + b"X: a\x00b\r\n\r\n", 400),
        (line + host + b"X: a\x7f\r\n\r\n", 400), (line + b"\r\n", 400), (line + host + tail, 400), (line + b"Host: \r\n\r\n", 400), (line + b"Host: a b\r\n\r\n", 400),
        (line + b"Host: a,b\r\n\r\n", 400), (line + b"Host: a:b\r\n\r\n", 400), (line + b"Host: [::1\r\n\r\n", 400), (line + b"Host: u@127.0.0.1\r\n\r\n", 400),
        (b"GET /nothing HTTP/1.0\r\n\r\n", 400),
        (site.request(method="POST"), 405), (site.request(method="OPTIONS"), 405), (site.request(method="get"), 405), (site.request(method="DELETE", path=SCRIPT), 405),
        (site.request(Content_Length="5") + b"hello", 413), (site.request(Content_Length="99999999999999999999"), 413), (site.request(Content_Length="-0"), 400),
        (site.request(Content_Length="+0"), 400), (site.request(Content_Length="0x0"), 400), (site.request(Content_Length="0, 0"), 400), (site.request(Content_Length=""), 400),
        (line + host + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n", 400), (site.request(Transfer_Encoding="chunked") + b"0\r\n\r\n", 501),
        (site.request(Transfer_Encoding="identity"), 501), (site.request(Transfer_Encoding="chunked", Content_Length="0"), 400), (site.request(Expect="a-pony"), 417),
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


# ------------------------------------------------------------------------------------------------
# Time
# ------------------------------------------------------------------------------------------------

def seconds_until_end(connection, began):
    """(seconds from then, what came until the connection ended)."""
    data = b""
    while True:
        part = connection.sock.recv(65_536)
        if not part:
            return time.monotonic() - began, data
        data += part


@check("[HT3] a head that comes byte by byte has 10 s; who asks for nothing more is closed without a word; who asks on, lives", slow=True)
def slow_heads(site):
    def trickle(begin):
        with site.connect() as connection:
            data, began = begin + site.request("/nothing", X="x" * 100), time.monotonic()
            connection.send(data[:len(begin) + 1])
            for _ in range(len(begin) // 40):
                connection.answer()
            for at in range(len(begin) + 1, len(data)):
                if select.select([connection.sock], [], [], 1)[0]:
                    break
                connection.send(data[at:at + 1])
            after, got = time.monotonic() - began, connection.answer()
            need(got.status == 408 and got.closes, f"{got}")
            need(after >= HEAD_SECONDS - 1, f"408 after {after:.1f} s")
            connection.must_end()

    def idle():
        with site.connect() as connection:
            began = time.monotonic()
            connection.send(site.request())
            connection.answer()
            after, data = seconds_until_end(connection, began)
            need(not data, f"it said {data!r}")
            need(after >= HEAD_SECONDS - 1, f"closed after {after:.1f} s")

    def busy():
        with site.connect() as connection:
            end = time.monotonic() + HEAD_SECONDS + 5
            while time.monotonic() < end:
                connection.send(site.request())
                need(connection.answer().status == 404, "another answer")
                time.sleep(3)

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(trickle, b""), pool.submit(trickle, site.request()), pool.submit(idle), pool.submit(busy)]:
            done.result()


@check("[HT3] who has not taken an answer after 30 s is closed without a word, who takes it before gets all of it", slow=True)
def stuck_readers(site):
    count, whole = 60, len(site.get(LARGE).body)  # more than any buffer between us takes
    with site.connect(buffer=2_048) as late, site.connect(buffer=2_048) as in_time:
        for connection in (late, in_time):
            connection.send(site.request(LARGE) * count)
        began = time.monotonic()
        time.sleep(READING_SECONDS / 2)
        for n in range(count):
            need(len(in_time.answer().body) == whole, f"answer {n}")
        time.sleep(max(0, began + READING_SECONDS + 10 - time.monotonic()))
        took, data = 0, True
        try:
            while data:
                data = late.sock.recv(1 << 20)
                took += len(data)
        except ConnectionResetError:
            pass
        need(took < (count - 1) * whole, "all of it came, after all")


@check("[HT3] who shuts down writing behind a request gets the whole answer, then the end; and of requests before it each its own")
def half_closed(site):
    whole = len(site.get(LARGE).body)
    for count in (1, 3):
        with site.connect(buffer=2_048) as connection:
            connection.send(site.request(LARGE) * count)
            connection.sock.shutdown(socket.SHUT_WR)
            for n in range(count):
                need(len(connection.answer(size=4_096).body) == whole, f"answer {n} of {count}")
            connection.must_end()


@check("[SE4 WS1] the time to log in begins with the WebSocket, however long pages were read before", slow=True)
def login_after_pages(site):
    with site.connect() as connection:
        connection.send(site.request())
        connection.answer()
        time.sleep(HEAD_SECONDS / 2)
        began = time.monotonic()
        connection.send(upgrade_request(site.name, KEY))
        need(connection.answer().status == 101, "no upgrade")
        after, data = seconds_until_end(connection, began)
        need(b"loginTimeout" in data and struct.pack(">H", 4203) in data, f"{data!r}")
        need(after >= HEAD_SECONDS - 1, f"closed {after:.1f} s after the upgrade")


# ------------------------------------------------------------------------------------------------
# One connection, many requests
# ------------------------------------------------------------------------------------------------

@check("[HT4] a connection answers 100 requests, and the last says that it is; HTTP/1.0 and `close` end it at once")
def keep_alive(site):
    with site.connect() as connection:
        for n in range(1, REQUESTS + 1):
            connection.send(site.request(SCRIPT if n % 7 == 0 else "/nothing", method="HEAD" if n % 2 else "GET"))
            got = connection.answer("HEAD" if n % 2 else "GET")
            need(got.status == (200 if n % 7 == 0 else 404) and got.closes == (n == REQUESTS), f"answer {n}: {got}")
        connection.send(site.request())
        connection.must_end()
    for data in (site.request(version="1.0"), site.request(version="1.0", Connection="keep-alive"), site.request(Connection="close"),
                 site.request(Connection="keep-alive, Close")):
        got = site.ask(data)
        need(got.closes, f"{data!r}: {got}")


@check("[HT4] requests sent together are answered in their order; of those behind one that cannot be written 8,192 bytes may wait")
def pipelined(site):
    order = [("HEAD", SCRIPT, 200), ("GET", "/nothing", 404), ("GET", SCRIPT, 200), ("HEAD", "/nothing", 404)] * 6
    with site.connect() as connection:
        connection.send(b"".join(site.request(path, method=method) for method, path, _ in order))
        for method, path, status in order:
            got = connection.answer(method)
            need(got.status == status and bool(got.body) == (method == "GET"), f"{method} {path}: {got}")
    for size, last in ((PIPELINED_BYTES - 1_000, 404), (PIPELINED_BYTES + 1_000, 400)):
        with site.connect(buffer=2_048) as connection:
            # More than any buffer between us takes: the last of them is still being written when the rest comes.
            count = 60
            connection.send(site.request(LARGE) * count)
            time.sleep(0.3)
            room = size - (count - 1) * len(site.request(LARGE))
            need(room > 0, "the files alone are too many")
            while room > 0:
                data = site.request("/nothing", X="x" * min(3_000, max(0, room - len(site.request("/nothing", X="")))))
                connection.send(data)
                room -= len(data)
            connection.sock.settimeout(PATIENCE)
            statuses = []
            while not statuses or statuses[-1] == 200:
                statuses.append(connection.answer().status)
            need(statuses[-1] == last, f"{size} bytes behind: {len(statuses)} answers, the last {statuses[-1]}")


@check("[HT6] HEAD is GET without its body; If-None-Match that names the tag is answered by 304")
def conditions(site):
    whole = site.get(SCRIPT)
    tag = whole.fields["etag"]
    need(tag.startswith('"') and tag.endswith('"') and "javascript" in whole.fields["content-type"], f"{whole}")
    head = site.ask(site.request(SCRIPT, method="HEAD"), "HEAD")
    same = [name for name in whole.fields if name != "date" and whole.fields[name] != head.fields.get(name)]
    need(head.status == 200 and not head.body and not same, f"HEAD differs in {same}: {head}")
    missing = site.ask(site.request("/nothing", method="HEAD"), "HEAD")
    need(missing.fields["content-length"] == str(len(site.get("/nothing").body)), f"{missing}")
    for value, status in ((tag, 304), (f"W/{tag}", 304), (f'"x", {tag}', 304), (f'"a,b" , W/{tag},"z"', 304), ("*", 304), ('"x"', 200), (tag.strip('"'), 200),
                          (tag.lower() if tag != tag.lower() else '"y"', 200), ("", 200)):
        for method in ("GET", "HEAD"):
            with site.connect() as connection:
                connection.send(site.request(SCRIPT, method=method, If_None_Match=value) + site.request())
                got = connection.answer(method)
                need(got.status == status and (status == 200 or got.fields["etag"] == tag), f"{method} with {value!r}: {got}")
                need(connection.answer().status == 404, "the next answer is another")


KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


@check("[HT5 HT6] the whiteboard and all files that it names are there, and nothing in it that its policy keeps out")
def page(site):
    first = site.get("/")
    need(first.status == 200 and first.fields["content-type"] == "text/html; charset=utf-8", f"{first}")
    text = first.body.decode()
    need(not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", text), "a script or style stands in the page itself")
    seen, todo = set(), [posixpath.join("/", name) for name in re.findall(r'<(?:script|link)[^>]*\b(?:src|href)="([^"]+)"', text)]
    while todo:
        path = todo.pop()
        if path in seen or path.startswith("/data:"):
            continue
        seen.add(path)
        got = site.get(path)
        need(got.status == 200 and got.fields["content-type"] == KINDS[posixpath.splitext(path)[1]], f"{path}: {got}")
        need(site.get(path, If_None_Match=got.fields["etag"]).status == 304, f"{path} is not the same twice")
        names = re.findall(r"""^\s*(?:import|export)\b[^'"()]*['"](\.{0,2}/[^'"]+)['"]""", got.body.decode(), flags=re.M) if path.endswith(".js") else []
        todo += [posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) for name in names]
    need(len(seen) > 2, f"it names {seen} only")


@check("[HT4] 30 readers that stop in the middle of a file keep nobody waiting, and get the rest when they read on")
def stalled_readers(site):
    want, stalled = site.get(LARGE).body, []
    for _ in range(30):
        connection = site.connect(buffer=2_048)
        connection.send(site.request(LARGE) * 20)
        connection.rest = connection.sock.recv(1_000)
        stalled.append(connection)
    # Others are answered before any of these reads on.
    for _ in range(20):
        need(site.get(LARGE).body == want, "another file")
    with site.connect() as connection:
        link, _ = open_websocket(connection.sock, site.name, site.dice)
        connection.send(link.encode(bytes.fromhex("0000000403000102")))
        data = b""
        while not data:
            data = b"".join(link.decode(connection.sock.recv(4_096)))
        need(data == bytes.fromhex("0000000404000102"), f"{data!r}")
    for connection in stalled:
        for n in range(20):
            need(connection.answer().body == want, f"answer {n} of a reader that had stopped")
        connection.close()


# ------------------------------------------------------------------------------------------------
# Who asks, and by which name
# ------------------------------------------------------------------------------------------------

@check("[HT7] a name that is not the relay's gets 421 and its addresses, without keys, whatever is asked for", relay="access")
def hosts(site):
    wrong = ["evil.example", f"evil.example:{site.port}", site.host, f"{site.host}:{site.port ^ 1}", f"{site.host}.evil.example:{site.port}", f"127.1:{site.port}",
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
    right = [site.name, f"localhost:{site.port}", f"LocalHost:{site.port}", f"localhost.:{site.port}", f"127.0.0.1:{site.port}", f"127.9.9.9:{site.port}", f"[::1]:{site.port}",
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
        ({"Sec_WebSocket_Key": None}, 400), ({"Sec_WebSocket_Key": ""}, 400), ({"Sec_WebSocket_Key": "short"}, 400), ({"Sec_WebSocket_Key": KEY[:-2]}, 400),
        ({"Sec_WebSocket_Key": base64.b64encode(bytes(17)).decode()}, 400), ({"Sec_WebSocket_Key": "-" * 22 + "=="}, 400), ({"Sec_WebSocket_Key": KEY + ", " + KEY}, 400),
        ({"Sec_WebSocket_Version": "12"}, 426), ({"Sec_WebSocket_Version": "8, 13"}, 426), ({"Sec_WebSocket_Version": "013"}, 426),
        ({"Upgrade": None}, 400), ({"Upgrade": "h2c"}, 400), ({"Upgrade": None, "Sec_WebSocket_Key": None}, 426), ({"Connection": None}, 400), ({"Connection": "close"}, 400),
        ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403), ({"Origin": ""}, 403), ({"Origin": f"https://{host}"}, 403), ({"Origin": f"http://{site.host}"}, 403),
        ({"Origin": f"http://{site.host}:{site.port ^ 1}"}, 403), ({"Origin": f"http://localhost:{site.port}"}, 403), ({"Origin": f"{own}.evil.example"}, 403),
        ({"Origin": f"{own}/"}, 403), ({"Origin": f"http://x@{host}"}, 403), ({"Origin": f"{own} {own}"}, 403), ({"Origin": f"{own}, {own}"}, 403), ({"Origin": f"file://{host}"}, 403)]
    requests = [(upgrade_request(host, KEY, **fields), status) for fields, status in rows]
    requests += [(twice(f"Origin: {own}\r\nOrigin: {own}"), 403), (twice(f"Sec-WebSocket-Key: {KEY}"), 400), (twice("Sec-WebSocket-Version: 13"), 426),
                 (good.replace(b"GET", b"POST"), 405), (good.replace(b"GET", b"HEAD"), 400), (good.replace(b"HTTP/1.1", b"HTTP/1.0"), 400)]
    for data, status in requests:
        method = "HEAD" if data.startswith(b"HEAD") else "GET"
        got = site.ask(data, method)
        need(got.status == status and got.closes, f"wanted {status} for {data!r}: {got}")
        need(status != 426 or got.fields.get("sec-websocket-version") == "13", f"{got}")
    for data in (good, upgrade_request(host, KEY, Origin=own), upgrade_request(host, KEY, Upgrade="WEBSOCKET", Connection="x,UPGRADE"),
                 upgrade_request(host, KEY, Sec_WebSocket_Protocol="x, y"), upgrade_request(f"localhost:{site.port}", KEY, Origin=f"http://LOCALHOST:{site.port}")):
        got = site.ask(data)
        need(got.status == 101 and got.fields["sec-websocket-accept"] == accept_of(KEY), f"{data!r}: {got}")
        need(not {"sec-websocket-protocol", "sec-websocket-extensions", "content-length"} & set(got.fields), f"{got}")
    with site.connect(buffer=2_048) as connection:
        connection.send(site.request(LARGE) * 40 + good)
        statuses = []
        while not statuses or statuses[-1] == 200:
            statuses.append(connection.answer().status)
        need(statuses[-1] == 400, f"an upgrade behind 40 files that were not answered: {statuses}")
        connection.must_end()


FORWARDING = {"X_Forwarded_For": "127.0.0.1", "Forwarded": "for=127.0.0.1", "X_Real_IP": "127.0.0.1", "X_Forwarded_Proto": "http", "X_Forwarded_Host": "localhost", "Via": "1.1 proxy",
              "X_Client_IP": "127.0.0.1", "Forwarded_For": "127.0.0.1"}


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
                   ({}, {"X_Forwarded_For": "127.0.0.1"}, {"Authorization": "Bearer wrong"}, {"host": f"localhost:{site.port}"}, {"host": f"{other}:{site.port}"})]
        # As a proxy on this machine hands it on, one that adds no field of its own.
        wanted.append((None, {"host": f"{socket.gethostname().split('.')[0]}:{site.port}"}, 401))
        if site.operator_token:
            right = f"Bearer {site.operator_token}"
            wanted += [(place, {"Authorization": value, **more}, 200) for place in everywhere for value in (right, right.replace("Bearer", "bearer"))
                       for more in ({}, {"X_Forwarded_For": "203.0.113.9"})]
            wanted += [(place, {"Authorization": value}, 401) for place in everywhere
                       for value in (right + "x", right[:-1], right.replace("Bearer ", "Bearer  "), right.replace("Bearer", "Basic"), site.operator_token)]
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


# ------------------------------------------------------------------------------------------------
# WebSockets that break rules
# ------------------------------------------------------------------------------------------------

RELAY_PING = bytes.fromhex("0000000403000102")


def masked(first, payload=b"", size=None, mask=b"\x00" * 4):
    """A frame by its first byte; `size`: its length field as bytes, with the bit of the mask."""
    return bytes([first]) + (size or bytes([0x80 | len(payload)])) + mask + payload


def broken_streams():
    """(what is wrong, bytes, code of the close that answers)."""
    end, ping = 0x80, RELAY_PING
    half = ping[:5]
    return [
        ("no mask", bytes([end | BINARY, len(ping)]) + ping, 1002), *((f"reserved bit {bit:#x}", masked(end | bit | BINARY, ping), 1002) for bit in (0x40, 0x20, 0x10)),
        *((f"opcode {code}", masked(end | code, ping), 1002) for code in (3, 4, 5, 6, 7, 0xB, 0xC, 0xD, 0xE, 0xF)), ("text", masked(end | TEXT_FRAME, b"hello"), 1003),
        ("8 bytes in 16 bits", masked(end | BINARY, ping, struct.pack(">BH", 0xFE, 8)), 1002), ("8 bytes in 64 bits", masked(end | BINARY, ping, struct.pack(">BQ", 0xFF, 8)), 1002),
        ("65,535 bytes in 64 bits", masked(end | BINARY, b"", struct.pack(">BQ", 0xFF, 65_535)), 1002),
        ("a ping in parts", masked(PING, b"x"), 1002), ("a ping of 126 bytes", masked(end | PING, bytes(126), struct.pack(">BH", 0xFE, 126)), 1002),
        ("a fragment of nothing", masked(end | CONTINUATION, ping), 1002), ("a message in a message", masked(BINARY, ping) + masked(end | BINARY, ping), 1002),
        ("text in a message", masked(BINARY, ping) + masked(end | TEXT_FRAME, ping), (1002, 1003)),
        ("81,927 bytes", masked(end | BINARY, b"", struct.pack(">BQ", 0xFF, FRAME_MAX + 1)), 1009), ("2⁶³ bytes", masked(end | BINARY, b"", struct.pack(">BQ", 0xFF, 1 << 63)), (1002, 1009)),
        ("2⁶² bytes", masked(end | BINARY, b"", struct.pack(">BQ", 0xFF, 1 << 62)), 1009),
        ("81,927 bytes in fragments", masked(BINARY, ping) + masked(CONTINUATION, b"", struct.pack(">BQ", 0xFF, FRAME_MAX + 1 - len(ping))), 1009),
        ("an empty message", masked(end | BINARY), 1002), ("empty fragments", masked(BINARY) + masked(CONTINUATION) + masked(end | CONTINUATION), 1002),
        ("half a frame", masked(end | BINARY, half), 1002), ("one and a half", masked(end | BINARY, ping + half), 1002), ("half a length", masked(end | BINARY, ping[:3]), 1002),
        ("half a frame in fragments", masked(BINARY, ping) + masked(end | CONTINUATION, half), 1002),
        *((f"close {code}", masked(end | CLOSE, struct.pack(">H", code) + b"bye"), code) for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 4000, 4302, 4999)),
        *((f"close {code}", masked(end | CLOSE, struct.pack(">H", code)), 1002) for code in (0, 1, 999, 1004, 1005, 1006, 1015, 1016, 2000, 2999, 5000, 65_535)),
        ("half a code", masked(end | CLOSE, b"\x03"), 1002), ("a reason that is no UTF-8", masked(end | CLOSE, b"\x03\xe8\xff"), 1007),
        ("a reason cut in a character", masked(end | CLOSE, b"\x03\xe8\xe2\x82"), 1007), ("a close without a code", masked(end | CLOSE), None)]


def read_websocket(connection, rest=b""):
    """[(opcode, payload)] of all frames until the connection ends."""
    data = rest
    while True:
        try:
            part = connection.sock.recv(65_536)
        except ConnectionResetError:
            part = b""
        if not part:
            break
        data += part
    frames, at = [], 0
    while at < len(data):
        need(data[at] & 0x70 == 0 and data[at + 1] < 126, f"{data[at:at + 40].hex()}")
        end = at + 2 + data[at + 1]
        need(end <= len(data), f"a frame is cut: {data[at:].hex()}")
        frames.append((data[at] & 0x0F, data[at + 2:end]))
        at = end
    return frames


@check("[WS4 WS5 WS6 WS7] a WebSocket that breaks a rule ends with the code that says which, and with nothing behind it")
def broken_websockets(site):
    def one(what, data, codes):
        for cut in (len(data), 1, site.dice.randrange(1, len(data) + 1)):
            with site.connect() as connection:
                connection.send(upgrade_request(site.name, KEY))
                need(connection.answer().status == 101, "no upgrade")
                connection.send(data[:cut])
                if cut < len(data):
                    time.sleep(0.002)
                    connection.send(data[cut:])
                frames = read_websocket(connection, connection.rest)
                need(frames and frames[-1][0] == CLOSE, f"{what}, cut at {cut}: {frames}")
                payload = frames[-1][1]
                code = int.from_bytes(payload[:2], "big") if payload else None
                need(code in (codes if isinstance(codes, tuple) else (codes,)), f"{what}, cut at {cut}: closed with {code}, wanted {codes}: {frames}")
                need(all(frame == (BINARY, bytes.fromhex("0000000404000102")) for frame in frames[:-1]), f"{what}: {frames}")

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(one, *row) for row in broken_streams()]:
            done.result()


@check("[WS6] pings stand between fragments too; the last of them is answered, pongs are not")
def pings(site):
    with site.connect() as connection:
        link, rest = open_websocket(connection.sock, site.name, site.dice)
        need(isinstance(link, WebSocketLink) and not rest, f"{rest!r}")
        for _ in range(20):
            parts = [link.frame(BINARY, RELAY_PING[:3], False), link.ping(), link.frame(PONG, b"unasked"), link.ping(), link.frame(CONTINUATION, b"", False),
                     link.frame(CONTINUATION, RELAY_PING[3:] + RELAY_PING), link.ping()]
            if site.dice.random() < 0.5:
                connection.send(b"".join(parts))
            else:
                for part in parts:
                    connection.send(part)
            got = b""
            while len(got) < 16 or link.pings_answered < link.pings_sent:
                data = connection.sock.recv(65_536)
                need(data, f"it ended after {got!r}")
                got += b"".join(link.decode(data))
            need(got == bytes.fromhex("0000000404000102") * 2, f"{got.hex()}")
        connection.send(link.goodbye(1001, "bis später".encode()))
        while data := connection.sock.recv(4_096):
            list(link.decode(data))
        link.judge_end(None)


# ------------------------------------------------------------------------------------------------
# By itself
# ------------------------------------------------------------------------------------------------

def run(site):
    """All checks beside each other; the number of those that failed."""
    lock, failed = threading.Lock(), []

    def one(entry):
        name, function, _, _ = entry
        began, problem = time.monotonic(), None
        try:
            function(site)
        except (Failed, Violation, OSError) as caught:
            problem = f"{type(caught).__name__}: {caught}"
            failed.append(name)
        with lock:
            print(f"{'ok  ' if problem is None else 'FAIL'} {name} ({time.monotonic() - began:.1f} s)" + (f"\n     {problem}" if problem else ""), flush=True)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, sorted(CHECKS, key=lambda entry: not entry[2])))
    for note in site.notes:
        print(f"     note: {note}")
    print(f"{len(CHECKS) - len(failed)} passed, {len(failed)} failed")
    return len(failed)


def run_daemon(binary, dice):
    """The checks against a daemon with keys, on every address; it must end well."""
    with tempfile.TemporaryDirectory() as folder:
        words = [binary, "serve", "--in-memory", "--port", "0", "--auth", "key", "--control", os.path.join(folder, "control")]
        token = None
        if "--operator-token-file" in subprocess.run([binary, "serve", "--help"], capture_output=True, text=True, check=True).stdout:
            token, path = secrets.token_urlsafe(24), pathlib.Path(folder, "operators")
            path.touch(0o600)
            path.write_text(token + "\n")
            words += ["--operator-token-file", str(path)]
        with open(os.path.join(folder, "log"), "w+") as log:
            daemon = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
            try:
                line = daemon.stdout.readline()
                need("://" in line, f"it does not serve: {line}")
                port = int(line.strip().split("/")[2].rsplit(":", 1)[1])
                shown = subprocess.run([binary, "key", "show", "--json", "--control", os.path.join(folder, "control")], capture_output=True, text=True, check=True).stdout
                site = Site("127.0.0.1", port, dice, [json.loads(row)["key"] for row in shown.splitlines()], token)
                failed = run(site)
                faults = leftovers(site) + end(site, daemon)
            finally:
                daemon.kill()
                daemon.wait()
            log.seek(0)
            said = log.read()
            faults += ["a key or token stands in the log"] if any(secret in said for secret in [*site.keys, token or site.keys[0]]) else []
    for fault in faults:
        print(f"FAIL {fault}")
    return failed + len(faults)


def leftovers(site):
    """Nobody is on it any more but who asks."""
    end, count = time.monotonic() + PATIENCE, -1
    while count != 1 and time.monotonic() < end:
        rows = dict(line.rsplit(" ", 1) for line in site.get("/metrics").body.decode().splitlines() if not line.startswith("#"))
        count = int(rows["boardrelay_connections"])
        time.sleep(0.1)
    return [] if count == 1 else [f"{count} connections are left"]


def end(site, daemon):
    """SIGTERM ends it in time whoever is on it: readers that have stopped, half a head, WebSockets that say nothing. [SE13, WS8]"""
    stalled = [site.connect(buffer=2_048) for _ in range(5)]
    for connection in stalled:
        connection.send(site.request(LARGE) * 20)
    half, done, sockets = site.connect(), site.connect(), [site.connect() for _ in range(5)]
    half.send(site.request()[:-2])
    done.send(site.request())
    done.answer()
    for connection in sockets:
        connection.send(upgrade_request(site.name, KEY))
        connection.answer()
    daemon.terminate()
    daemon.wait(PATIENCE)
    faults = [] if daemon.returncode == 0 else [f"the daemon ended with {daemon.returncode}"]
    for connection in sockets:
        frames = read_websocket(connection, connection.rest)
        if [opcode for opcode, _ in frames] != [BINARY, CLOSE] or frames[-1][1] != struct.pack(">H", 4200) + b"shuttingDown":
            faults.append(f"a WebSocket was told at the end {frames}")
    for connection in (half, done):
        if data := seconds_until_end(connection, 0)[1]:
            faults.append(f"who asked for pages was told at the end {data[:80]!r}")
    return faults


def main():
    """Reads the arguments and runs."""
    import random
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--binary")
    place.add_argument("--port", type=int)
    parser.add_argument("--keys", default="")
    parser.add_argument("--operator-token-file")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    given = parser.parse_args()
    print(f"seed {given.seed}")
    dice = random.Random(given.seed)
    if given.binary:
        sys.exit(1 if run_daemon(given.binary, dice) else 0)
    token = pathlib.Path(given.operator_token_file).read_text().strip() if given.operator_token_file else None
    sys.exit(1 if run(Site("127.0.0.1", given.port, dice, given.keys.split(","), token)) else 0)


if __name__ == "__main__":
    main()
