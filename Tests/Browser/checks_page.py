"""What the page is made of: nothing from elsewhere, little in all, and a client that reads the protocol as all others do."""

import http.client
import pathlib

from relay import ROOT
from stage import check
from tools import HOST

TOTAL_BYTES_MAX = 150_000


@check("plain http in a LAN is enough; the key leaves the address")
def insecure(stage):
    relay = stage.relay()
    page = stage.page(relay, "Ada")
    assert page.ask("return isSecureContext") is False
    assert page.ask("return location.host") == f"{HOST}:{page.cutter.port}"
    key = relay.keys["join"]
    assert key not in page.ask("return location.href"), "the key stays in the address"
    assert key not in page.ask("return JSON.stringify({...localStorage})"), "the key is kept for good"
    page.reload()
    page.wait("connected")
    assert key not in page.ask("return document.documentElement.outerHTML"), "the key is in the document"


@check("all that a page loads is small, and from here")
def weight(stage):
    page = stage.page(stage.relay(), "Ada")
    paths = sorted({"/", *page.ask("return performance.getEntriesByType('resource').map(entry => new URL(entry.name).pathname)")} - {"/ws"})
    assert len(paths) > 3, f"only {paths}"
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


def rows(name):
    text = (pathlib.Path(ROOT) / "docs" / "vectors" / name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.split("\n") if line and not line.startswith("#")]


@check("[FR1, FR2, JS1] the page's own copy of the client reads and writes docs/vectors")
def vectors(stage):
    page = stage.page(stage.relay(), "Ada")
    frames, boards = rows("frames.tsv"), rows("board.tsv")
    assert len(frames) >= 140 and len(boards) >= 60
    script = (pathlib.Path(__file__).parent / "vectors.js").read_text(encoding="utf-8")
    for address in ("/page/relay-client.js", "/relay-client.js"):
        found = page.driver.execute_async_script(script, address, frames, boards)
        assert found["rows"] == len(frames) + len(boards) and not found["wrong"], f"{address}: {len(found['wrong'])} wrong: {found['wrong'][:3]}"
