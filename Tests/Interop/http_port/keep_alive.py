"""Checks of many requests on one connection."""

import posixpath
import re
import time

from links import open_websocket
from http_port.site import LARGE, LASTING, PATIENCE, PIPELINED_BYTES, REQUESTS, REVALIDATED, SCRIPT, check, need

# Paths that a module imports.
IMPORTED = re.compile(r"""^\s*(?:import|export)\b[^'"()]*['"](\.{0,2}/[^'"]+)['"]""", flags=re.M)


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
    # More than any buffer between us takes: the last of them is still being written when the rest comes. How many of them still wait then
    # is the kernel's affair, so with all of them the rest is below the bound, or by itself above it.
    files = site.request(LARGE) * 60
    for rest, last in ((PIPELINED_BYTES - 1_000 - len(files), 404), (PIPELINED_BYTES + 1_000, 400)):
        with site.connect(buffer=2_048) as connection:
            connection.send(files)
            time.sleep(0.3)
            room = rest
            need(room > 0, "the files alone are too many")
            while room > 0:
                data = site.request("/nothing", X="x" * min(3_000, max(0, room - len(site.request("/nothing", X="")))))
                connection.send(data)
                room -= len(data)
            connection.sock.settimeout(PATIENCE)
            statuses = []
            while not statuses or statuses[-1] == 200:
                statuses.append(connection.answer().status)
            need(statuses[-1] == last, f"{rest} bytes behind them: {len(statuses)} answers, the last {statuses[-1]}")


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
    for value, status in ((tag, 304), (f"W/{tag}", 304), (f'"x", {tag}', 304), (f'"a,b" , W/{tag},"z"', 304), ("*", 304), ('"x"', 200),
    (tag.strip('"'), 200),
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
    need(first.fields["cache-control"] == REVALIDATED, f"{first.fields}")
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
        need(got.fields["cache-control"] == LASTING, f"{path}: {got.fields}")
        need(site.get(path, If_None_Match=got.fields["etag"]).status == 304, f"{path} is not the same twice")
        plain = site.get(re.sub("^/~[^/]*", "", path))
        need(plain.body == got.body and plain.fields["cache-control"] == REVALIDATED, f"{path}: {plain.fields}")
        need(site.get(path[:2] + "-" + path[2:]).status == 404, f"{path}: another tag")
        names = IMPORTED.findall(got.body.decode()) if path.endswith(".js") else []
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
