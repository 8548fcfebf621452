#!/usr/bin/env python3
"""TLS of a relay's own, of nginx and of Caddy, before clients of other people's TLS.

    python3 Tests/TLS/check.py [--binary PATH] [CHECK …]

The relay is the daemon, with a certificate from a root that is made for this run. Each CHECK has a name; without one all run. Needs
openssl, node, nginx, caddy and testssl (Debian). The fronts listen on loopback.

Exit codes: 0 all is well, 1 something is not, 2 the command line is wrong.
"""

import argparse
import contextlib
import json
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "Tests/Interop"), str(ROOT / "Tests/Faults"), str(HERE)]
from daemon import find_binary  # noqa: E402
from links import TCPLink, open_websocket  # noqa: E402
from proxy import make_certificate  # noqa: E402
from relay_client import Client, Identity  # noqa: E402

PATIENCE = 60.0
SEVERE = ("LOW", "MEDIUM", "HIGH", "CRITICAL")
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def need(condition, message):
    if not condition:
        raise AssertionError(message)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def until_listens(port, process):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        need(process.poll() is None, f"it ended with {process.returncode}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError(f"nobody listens on port {port}")


class Stage:
    """A folder with a root and a certificate for localhost, and processes that end with it."""

    def __init__(self, binary):
        self.binary, self.processes = str(binary), []
        self.place = tempfile.TemporaryDirectory(prefix="tls-")
        self.folder = pathlib.Path(self.place.name)
        make_certificate(self.folder, ["localhost", "127.0.0.1"], False)
        self.certificate, self.key, self.root = (self.folder / name for name in ("server.pem", "server.key", "root.pem"))
        self.trust = ssl.create_default_context(cafile=str(self.root))

    def start(self, *words, port, **more):
        process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, **more)
        self.processes.append(process)
        until_listens(port, process)
        return process

    def relay(self, *options, tls=True, port=None):
        """Starts one; returns its port."""
        port = port or free_port()
        own = ["--tls-certificate", self.certificate, "--tls-key", self.key] if tls else []
        self.start(self.binary, "serve", "--in-memory", "--auth", "open", "--no-announce", "--host", "127.0.0.1", "--port", port, *own,
                   *options, port=port)
        return port

    def nginx(self, relay):
        """As docs/examples/nginx.conf has it, but for ports, files and the folder."""
        port, text = free_port(), (ROOT / "docs/examples/nginx.conf").read_text()
        for old, new in (("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"), ("board.example;", "localhost;"), ("7420", str(relay)),
                         ("/etc/ssl/board.example.pem", str(self.certificate)), ("/etc/ssl/board.example.key", str(self.key))):
            need(old in text, f"nginx.conf has no {old}")
            text = text.replace(old, new)
        (self.folder / "nginx.conf").write_text(
            f"pid {self.folder}/nginx.pid; daemon off; master_process off; error_log {self.folder}/error.log;\n"
            f"events {{}}\nhttp {{ access_log off; client_body_temp_path {self.folder}/body; proxy_temp_path {self.folder}/proxy;\n"
            f"fastcgi_temp_path {self.folder}/f; uwsgi_temp_path {self.folder}/u; scgi_temp_path {self.folder}/s;\n{text}}}\n")
        self.start("nginx", "-c", self.folder / "nginx.conf", port=port)
        return port

    def caddy(self, relay):
        """As docs/examples/Caddyfile has it, but for the address and the certificate."""
        port, text = free_port(), (ROOT / "docs/examples/Caddyfile").read_text()
        for old, new in (("board.example {", f"https://localhost:{port} {{\n    tls {self.certificate} {self.key}"), ("7420", str(relay))):
            need(old in text, f"Caddyfile has no {old}")
            text = text.replace(old, new)
        (self.folder / "Caddyfile").write_text("{\n    admin off\n    auto_https off\n    default_bind 127.0.0.1\n}\n" + text)
        self.start("caddy", "run", "--config", self.folder / "Caddyfile", "--adapter", "caddyfile", port=port,
                   env={**os.environ, "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder)})
        return port

    def end(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(PATIENCE)
        self.place.cleanup()


class TLSClient(Client):
    """The client that was written from the documents alone, with Python's ssl beneath."""

    trust = None

    def _connect(self, host, port, receive_buffer):
        plain = socket.create_connection((host, port), PATIENCE)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock = self.trust.wrap_socket(plain, server_hostname="localhost")
        link, early, name = TCPLink(), b"", f"localhost:{port}"
        if self.transport == "websocket":
            link, early = open_websocket(sock, name, self.dice, Origin=f"https://{name}")
        sock.settimeout(None)
        return sock, link, early


def swift(stage, port):
    """The command in Swift says a word to the relay at this port."""
    return subprocess.run([stage.binary, "pub", "lesson", "from Swift", "--url", f"relays://localhost:{port}"],
                          env={**os.environ, "SSL_CERT_FILE": str(stage.root)}, capture_output=True, text=True, timeout=PATIENCE,
                          stdin=subprocess.DEVNULL)


def talk(stage, port, transport, own=None):
    """Python and JavaScript by this front hear each other, and the command in Swift, where there is a port of the relay's own."""
    TLSClient.trust = stage.trust
    python = TLSClient("127.0.0.1", port, Identity("python"), transport=transport)
    python.login()
    python.request("subscribe", channel="lesson")
    environment = {**os.environ, "NODE_EXTRA_CA_CERTS": str(stage.root)}
    page = subprocess.Popen(["node", str(HERE / "client.mjs"), f"https://localhost:{port}/", "javascript", "from JavaScript"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    timer = threading.Timer(PATIENCE, page.kill)
    timer.start()
    need(page.stdout.readline() == "open\n", f"the client in JavaScript did not come in: {page.stderr.read() if page.poll() else ''}")
    if own:
        done = swift(stage, own)
        need(done.returncode == 0, f"pub: {done.stderr}")
        expected = "from Swift"
    else:
        python.publish("lesson", "from Python").wait()
        expected = "from Python"
    out, errors = page.communicate(timeout=PATIENCE)
    timer.cancel()
    need(page.returncode == 0 and out == expected + "\n", f"the client in JavaScript: {out!r} {errors!r}")
    python.wait_for("deliver", lambda event: event["payload"] in ("from JavaScript", b"from JavaScript"))
    python.logout()


@check
def own(stage):
    """The relay's own TLS: Swift, JavaScript and Python, by frames and by WebSockets."""
    port = stage.relay()
    talk(stage, port, "tcp", own=port)
    talk(stage, port, "websocket", own=port)
    talk(stage, port, "websocket")
    plain = Client("127.0.0.1", port, Identity("plain"))
    plain.ping()
    need(plain.wait_closed()["name"] == "tlsRequired", f"frames in the clear: {plain.closing}")


def behind(stage, front, refusal):
    """JavaScript and Python by WebSockets of a proxy as the docs have it; Swift beside it, and not by it, which it is told so."""
    words = ("--trusted-proxy", "127.0.0.1", "--host-name", "localhost")
    port = front(stage.relay(*words, tls=False))
    talk(stage, port, "websocket")
    done = swift(stage, port)
    need(done.returncode == 1 and refusal in done.stderr, f"Swift by the proxy: {done.stderr}")
    relay = stage.relay("--allow-plain", *words)
    talk(stage, front(relay), "websocket", own=relay)


@check
def nginx(stage):
    """nginx as the docs have it, before a relay without TLS, and one whose own TLS Swift apps use beside it."""
    behind(stage, stage.nginx, "an HTTP server answers, not a relay")


@check
def caddy(stage):
    """Caddy as the docs have it, before the same."""
    # It waits for the end of a request.
    behind(stage, stage.caddy, "could not be reached in time")


@check
def renewed(stage):
    """`tls new` again, then `reload`: new links see another certificate with the same key."""
    folder, port = stage.folder / "own", free_port()

    def new():
        done = subprocess.run([stage.binary, "tls", "new", "--json", "--output", str(folder)], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["pin"]

    def serial():
        text = ssl.get_server_certificate(("127.0.0.1", port), timeout=PATIENCE)
        done = subprocess.run(["openssl", "x509", "-noout", "-serial"], input=text, capture_output=True, text=True, check=True)
        return done.stdout

    pin = new()
    stage.start(stage.binary, "serve", "--in-memory", "--no-announce", "--host", "127.0.0.1", "--port", port, "--tls-certificate",
                folder / "tls-certificate.pem", "--tls-key", folder / "tls-key.pem", port=port)
    first = serial()
    need(new() == pin, "a renewal has another pin")
    need(serial() == first, "the certificate changed without reload")
    done = subprocess.run([stage.binary, "reload", "--port", str(port)], capture_output=True, text=True, timeout=PATIENCE)
    need(done.returncode == 0 and serial() != first, f"reload: {done.stdout}{done.stderr}")
    told = subprocess.run([stage.binary, "presence", "lesson", "--url", f"relay://127.0.0.1:{port}"], capture_output=True, text=True,
                          timeout=PATIENCE)
    need(told.returncode == 0, f"a command on the same machine: {told.stderr}")


@check
def slow(stage):
    """[TL5] Who says nothing, or half of a handshake, is closed after 10 s; meanwhile others come in."""
    port = stage.relay()
    links = [socket.create_connection(("127.0.0.1", port), PATIENCE) for _ in range(20)]
    began = time.monotonic()
    for link in links[10:]:
        link.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
    TLSClient.trust = stage.trust
    other = TLSClient("127.0.0.1", port, Identity("other"))
    other.login()
    for link in links:
        link.settimeout(PATIENCE)
        with contextlib.suppress(ConnectionResetError):
            need(link.recv(100) == b"", "it was answered")
        need(9.5 < time.monotonic() - began, f"closed after {time.monotonic() - began:.1f} s")
    need(time.monotonic() - began < 30, f"the last was closed after {time.monotonic() - began:.1f} s")
    other.request("subscribe", channel="lesson")
    other.logout()


def metrics(stage, port):
    with urllib.request.urlopen(f"https://localhost:{port}/metrics", timeout=PATIENCE, context=stage.trust) as answer:
        return answer.read().decode()


@check
def half(stage):
    """[HT3] Who shuts down writing behind a request, inside TLS and beneath it, gets the whole answer, then the end of TLS."""
    port, path = stage.relay(), "/page/words/later/uk.js"
    want = (ROOT / "Sources/RelayPage" / path[1:]).read_bytes()
    for says_so in (True, False):
        sock = socket.create_connection(("127.0.0.1", port), PATIENCE)
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls, answer = stage.trust.wrap_bio(incoming, outgoing, server_hostname="localhost"), b""

        def step(act, sock=sock, incoming=incoming, outgoing=outgoing):
            """What it gives, once enough has come for it."""
            while True:
                try:
                    return act()
                except ssl.SSLWantReadError:
                    if outgoing.pending:
                        sock.sendall(outgoing.read())
                    data = sock.recv(65_536)
                    if data:
                        incoming.write(data)
                    else:
                        incoming.write_eof()

        step(tls.do_handshake)
        tls.write(f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
        if says_so:
            with contextlib.suppress(ssl.SSLWantReadError):
                tls.unwrap()
        sock.sendall(outgoing.read())
        sock.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ssl.SSLZeroReturnError):
            while piece := step(lambda tls=tls: tls.read(65_536)):
                answer += piece
        need(answer.endswith(want), f"{len(answer)} bytes came, the file has {len(want)}")
        sock.close()


@check
def stalled(stage):
    """[DL8] A reader that takes nothing is closed, and nothing of it stays; another one gets all, in order."""
    TLSClient.trust = stage.trust
    port = stage.relay("--message-rate", "100000")
    slow, fast, writer = (TLSClient("127.0.0.1", port, Identity(user), heartbeat=False) for user in ("slow", "fast", "writer"))
    for client in (slow, fast, writer):
        client.login()
    for client in (slow, fast):
        client.request("subscribe", channel="lesson")
    slow.pause()
    texts = [f"{number} ".encode() + bytes(30_000) for number in range(400)]
    for text in texts:
        writer.publish("lesson", text).wait()
    for number, text in enumerate(texts):
        fast.wait_for("deliver", lambda event, text=text: event["payload"] == text)
    came = [event["payload"] for event in fast.events if event.name == "deliver"]
    need(came == texts, "not all in order")
    deadline = time.monotonic() + PATIENCE
    # This question's connection is the third.
    while 'boardrelay_tls_connections 3\n' not in (told := metrics(stage, port)):
        need(time.monotonic() < deadline, "the stalled reader is still there")
        time.sleep(0.1)
    need('boardrelay_closes_total{code="slowConsumer"} 1\n' in told, "it was closed for something else")


@check
def testssl(stage):
    """[TL3] testssl.sh finds nothing of LOW and above."""
    report = stage.folder / "testssl.json"
    subprocess.run(["testssl", "--quiet", "--color", "0", "--warnings", "off", "--protocols", "--server-preference", "--fs", "--vulnerable",
                    "--jsonfile", str(report), f"127.0.0.1:{stage.relay()}"],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=600)
    entries = json.loads(report.read_text())
    need(len(entries) > 30, f"it has looked at {len(entries)} things only")
    found = [entry for entry in entries if entry["severity"] in SEVERE]
    need(not found, f"{found}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=", ".join(function.__name__ for function in CHECKS))
    parser.add_argument("--binary", type=pathlib.Path)
    arguments = parser.parse_args()
    unknown = set(arguments.checks) - {function.__name__ for function in CHECKS}
    if unknown:
        parser.error(f"no such check: {', '.join(sorted(unknown))}")
    binary, failed = find_binary(arguments.binary), 0
    for function in CHECKS:
        if arguments.checks and function.__name__ not in arguments.checks:
            continue
        began, stage = time.monotonic(), Stage(binary)
        try:
            function(stage)
            result = "ok  "
        except Exception as problem:  # each check is judged by itself
            failed += 1
            result = f"FAIL {type(problem).__name__}: {problem}"
        finally:
            stage.end()
        print(f"{result} {function.__name__}: {function.__doc__} ({time.monotonic() - began:.1f} s)", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
