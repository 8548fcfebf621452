"""What the page is made of: nothing from elsewhere, little in all, and a client that reads the protocol as all others do."""

import base64
import contextlib
import http.client
import http.server
import pathlib
import re
import threading

from browser import until
from checks_drawing import line
from pictures import size_of
from relay import ROOT
from stage import check
from tools import HOST

TOTAL_BYTES_MAX = 400_000


@check("plain http in a LAN is enough; the key leaves the address")
def insecure(stage):
    relay = stage.relay()
    page = stage.page(relay, "Ada")
    assert page.ask("return isSecureContext") is False
    assert page.ask("return location.host") == f"{HOST}:{page.cutter.port}"
    key = relay.keys["join"]
    assert key not in page.ask("return location.href"), "the key stays in the address"
    assert "relay" in page.ask("return JSON.parse(localStorage.getItem('whiteboard.person'))"), "the key is kept without its relay"
    assert key not in page.ask("return JSON.stringify({...sessionStorage})"), "the key is kept twice"
    page.reload()
    page.wait("connected")
    assert key not in page.ask("return document.documentElement.outerHTML"), "the key is in the document"


@check("everybody who opens the address that the relay prints is on one board; another one is made in the menu")
def printed(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada", board=None, key="host"), stage.page(relay, "Ben", board=None)
    ada.draw(*line(150, 150))
    ada.must_have(1)
    assert [page.ask("return location.hash") for page in (ada, ben)] == ["#/b/board"] * 2
    ben.must_have(1)
    assert ada.ask("return document.getElementById('title').value") == "Board"
    ada.click("#more")
    ada.click("#new-board")
    until(lambda: ada.ask("return window.whiteboard.board") != "board", "Ada is on another board")
    ada.must_have(0)
    name = ada.ask("return location.hash")
    assert re.fullmatch(r"#/b/[a-z]+-[a-z]+-\d{3}", name), name
    assert ben.elements() == 1, "the board that was there has changed"


# Paths of what was loaded until the board stood there, or in all.
LOADED = """
  const [read] = performance.getEntriesByName('whiteboard-read')
  const entries = performance.getEntriesByType('resource').filter(({startTime}) => arguments[0] || startTime < read.startTime)
  return entries.map(({name}) => new URL(name).pathname.replace(/^[/]~[^/]*/, ''))
"""


@check("all that a page loads is small, and from here")
def weight(stage):
    page = stage.page(stage.relay(), "Ada")
    until(lambda: "/page/svg-document.js" in page.ask(LOADED, True), "what can be wanted without a relay comes by itself")
    paths = sorted({"/", *page.ask(LOADED, False)} - {"/ws"})
    assert len(paths) > 3, f"only {paths}"
    late = {f"/page/{name}.js" for name in (
        "devices", "endings", "explain", "host", "invite", "panels", "people", "qr", "svg-document", "tools/select", "words/later/en", "writing")}
    assert not late & set(paths), f"loaded before the first drawing: {late & set(paths)}"
    sizes = {}
    for path in paths:
        connection = http.client.HTTPConnection("127.0.0.1", page.cutter.port, timeout=10)
        connection.request("GET", path, headers={"Host": f"{HOST}:{page.cutter.port}", "Accept-Encoding": "identity"})
        answer = connection.getresponse()
        assert answer.status == 200, f"{path}: {answer.status}"
        policy = answer.getheader("Content-Security-Policy") or ""
        assert policy.startswith("default-src 'none'") and "unsafe" not in policy, f"{path}: {policy!r}"
        sizes[path] = len(answer.read())
        connection.close()
    total = sum(sizes.values())
    assert total <= TOTAL_BYTES_MAX, f"{total} bytes: {sizes}"


@check("[HT6] a page that is loaded again asks the relay for no module that it has")
def again(stage):
    page = stage.page(stage.relay(), "Ada")
    kept = set(page.ask(LOADED, False)) - {"/ws"}
    page.cutter.asked.clear()
    page.reload()
    page.wait("connected")
    until(lambda: page.state()[1] is not None, "the board is read")
    asked = {re.sub("^/~[^/]*", "", path) for path in page.cutter.asked}
    # Of a page that is reloaded WebKit asks for its own script and style.
    assert {"/", "/ws"} <= asked and len(kept) > 50 and kept & asked <= {"/page/app.js", "/page/board.css"}, kept & asked


@contextlib.contextmanager
def app(files):
    """An app's own server, of another origin than any relay; its origin."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            kind, text = files.get(self.path, ("text/plain", ""))
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://{HOST}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def client_files():
    """The client as an app has it beside itself: the one address and its modules."""
    folder = pathlib.Path(ROOT) / "Sources" / "RelayPage"
    modules = [folder / "relay-client.js", *sorted((folder / "client").iterdir())]
    return {f"/{file.relative_to(folder)}": ("text/javascript", file.read_text(encoding="utf-8")) for file in modules}


@check("[HT6, HT8, AC1] an app of another origin loads the client from the relay or has it beside itself, and connects if allowed")
def guide(stage):
    text = (pathlib.Path(ROOT) / "docs" / "javascript.md").read_text(encoding="utf-8")
    first = re.search(r"```js\n(.*?)```", text, re.DOTALL).group(1)
    icon = {"/favicon.ico": ("image/png", "")}
    files = {}
    stage.breaks_links = True
    with app(files) as origin:
        refused = "connectFailed: the WebSocket was closed with 1006"
        for options, is_own, wanted in (("--allow-origin", origin), True, "connected"), (
                ("--allow-origin", origin), False, "connected"), ((), False, refused):
            relay = stage.relay(*options)
            page = stage.visitor(relay, "Ada")
            files.clear()
            files.update(icon, **client_files() if is_own else {})
            # As it is printed, and as a link to a board.
            address = page.address().replace("/b/lesson?k=", "key=") if options else page.address()
            code = first.replace("http://192.168.1.5:7420/#key=c4tnapx5e2qzt6mlw7rbd3kvfy", address)
            assert code != first, "the page begins with another address"
            if not is_own:
                code = code.replace("'./relay-client.js'", f"'{page.address().split('/#')[0]}/relay-client.js'")
                assert "'./" not in code, "the client is the relay's"
            files["/"] = "text/html", "<!doctype html><title>app</title><link rel=icon href=data:,><script>showLink = state => {}; import('./app.js').catch(error => { problem = String(error) })</script>"
            files["/app.js"] = "text/javascript", code.replace("const client =", "const client = window.client =")
            page.browser.go(page.driver, origin)
            until(lambda: page.ask("return window.problem ?? window.client?.link.state") == wanted,
                  lambda: f"it is told {wanted}: {page.ask('return window.problem ?? window.client?.link.state')}")
            # What it asked of whom is another page's matter.
            page.driver.get("about:blank")


def rows(name):
    text = (pathlib.Path(ROOT) / "docs" / "vectors" / name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.split("\n") if line and not line.startswith("#")]


@check("[FR1, FR2, JS1] the client in a browser reads and writes docs/vectors")
def vectors(stage):
    page = stage.page(stage.relay(), "Ada")
    frames, boards = rows("frames.tsv"), rows("board.tsv")
    assert len(frames) >= 140 and len(boards) >= 60
    script = (pathlib.Path(__file__).parent / "vectors.js").read_text(encoding="utf-8")
    found = page.driver.execute_async_script(script, frames, boards)
    assert found["rows"] == len(frames) + len(boards) and not found["wrong"], f"{len(found['wrong'])} wrong: {found['wrong'][:3]}"


# What a page hands to the browser to be kept: the name and the content, taken where it would leave the page.
TAKE_DOWNLOADS = """
  window.taken = []
  const blobs = new Map(), make = URL.createObjectURL.bind(URL)
  URL.createObjectURL = blob => { const address = make(blob); blobs.set(address, blob); return address }
  HTMLAnchorElement.prototype.click = function () { window.taken.push([this.download, blobs.get(this.href)]) }
"""
READ_DOWNLOAD = """
  const done = arguments[0], [name, blob] = window.taken.shift()
  const reader = new FileReader()
  reader.onload = () => done([name, reader.result])
  reader.readAsDataURL(blob)
"""


@check("what is exported is the board: SVG as the relay's, PNG with all of it")
def exports(stage):
    relay = stage.relay()
    page = stage.page(relay, "Ada")
    page.draw(*line(150, 150))
    page.draw(*line(500, 400))
    stage.settle(page)
    page.ask(TAKE_DOWNLOADS)

    def exported(button):
        page.click("#more")
        page.click(button)
        until(lambda: page.ask("return window.taken.length"), f"{button} hands over a file")
        name, url = page.driver.execute_async_script(READ_DOWNLOAD)
        return name, base64.b64decode(url.split(",", 1)[1])
    name, svg = exported("#export-svg")
    assert name.endswith(".svg") and svg.decode() == relay.export("lesson"), f"{name} is not what the relay exports"
    name, png = exported("#export-png")
    width, height = size_of(png)
    # Both strokes and what is around them, whatever the window shows.
    assert name.endswith(".png") and width >= 480 and height >= 300, f"{name} is {width} by {height}"
