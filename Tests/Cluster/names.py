"""Two relays with folders and keys of their own behind one address, told apart by host name."""

import base64
import hashlib
import json
import os
import socket
import ssl
import subprocess

from stage import NamedClient, Relay, Stage, free_ports, need, run, until
from relay_client import Ended, Identity, RelayError

NAMES = ("north.test", "south.test")
EXAMPLES = ("north.example", "south.example")
PATIENCE = 10


class Named:
    """A relay that has a name."""

    def __init__(self, stage, name, port, *options):
        self.name, self.folder = name, stage.folder / name
        self.relay = stage.keep(Relay(stage.binary, port, self.folder, "--host-name", name, *options))
        until(self.relay.serves.is_set, f"the relay {name} serves")
        self.key = (self.folder / "join.key").read_text().strip()


def both(stage, address, options=lambda name: ()):
    """(the two, what stands in an example's file for where they listen, at an address, and what must)."""
    relays = [Named(stage, name, port, *options(name)) for name, port in zip(NAMES, free_ports(2))]
    return relays, [(f"{address}:{there}", f"127.0.0.1:{one.relay.port}") for there, one in zip((7431, 7432), relays)]


def status_of(sock, host):
    """How the page is answered, and whether it is one."""
    with sock:
        sock.settimeout(PATIENCE)
        sock.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: sock.recv(65_536), b""))
    return int(answer.split(b" ", 2)[1]), b"<!doctype html>" in answer.lower()


def page(stage, name, port):
    """The page by the front."""
    plain = socket.create_connection(("127.0.0.1", port), PATIENCE)
    return status_of(stage.trust.wrap_socket(plain, server_hostname=name), f"{name}:{port}")


def by_host_name(arguments):
    """By Caddy, as docs/examples has it."""
    with Stage(arguments.binary, *NAMES) as stage:
        relays, ports = both(stage, "127.0.0.1", lambda name: ("--trusted-proxy", "127.0.0.1"))
        port = stage.caddy("names-Caddyfile", list(zip(EXAMPLES, NAMES)), *ports)

        def client(name, key, user="anna"):
            one = NamedClient(name, port, Identity(user, credential={"key": key}), stage.trust, transport="websocket")
            try:
                one.login()
                return one, None
            except (Ended, RelayError) as problem:
                return None, problem.closing["name"] if isinstance(problem, Ended) else problem.name

        for one, other in (relays, relays[::-1]):
            need(page(stage, one.name, port) == (200, True), f"the page of {one.name}: {page(stage, one.name, port)}")
            # So it was not the other one that has answered.
            direct = socket.create_connection(("127.0.0.1", other.relay.port), PATIENCE)
            need(status_of(direct, one.name)[0] == 421, f"{other.name} answers for {one.name}")
            need(client(one.name, other.key)[1] == "keyWrong", f"the key of {other.name} lets in at {one.name}")
            inside, refused = client(one.name, one.key)
            need(inside, f"{one.name} refuses its key: {refused}")
            inside.retain("lesson", "title", f"of {one.name}")
            inside.logout()
        for one in relays:
            reader, _ = client(one.name, one.key, "reader")
            mark = reader.mark()
            reader.request("subscribe", channel="lesson", since={"beginning": True})
            reader.wait_for("caughtUp", since=mark)
            board = [event["payload"] for event in reader.since(mark, "deliver")]
            need([text if isinstance(text, str) else text.decode() for text in board] == [f"of {one.name}"], f"{one.name}: {board}")
            reader.logout()
        relays[0].relay.end()
        need(page(stage, NAMES[0], port)[0] == 502, "a relay that has ended answers")
        need(page(stage, NAMES[1], port) == (200, True), "the end of one relay ends the other's page")
    return []


def pin_of(name, port):
    """The pin of the key that is shown to who asks for a name."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(socket.create_connection(("127.0.0.1", port), PATIENCE), server_hostname=name) as sock:
        shown = sock.getpeercert(binary_form=True)

    def openssl(*words, data):
        return subprocess.run(["openssl", *words], input=data, capture_output=True, check=True).stdout

    key = openssl("pkey", "-pubin", "-outform", "der", data=openssl("x509", "-inform", "der", "-pubkey", "-noout", data=shown))
    return base64.urlsafe_b64encode(hashlib.sha256(key).digest()[:16]).decode().rstrip("=")


def by_name_of_tls(arguments):
    """By HAProxy, which reads the name and passes the relays' own TLS on; the clients are commands in Swift."""
    pins = {}
    with Stage(arguments.binary, *NAMES) as stage:
        def tls(name):
            made = run(stage.binary, "tls", "new", "--json", "--output", stage.folder / f"tls-{name}", "--name", name)
            need(made.returncode == 0, f"tls new: {made.stderr}")
            pins[name] = json.loads(made.stdout)["pin"]
            return ("--tls-certificate", stage.folder / f"tls-{name}/tls-certificate.pem",
                    "--tls-key", stage.folder / f"tls-{name}/tls-key.pem")

        relays, ports = both(stage, "192.168.1.5", tls)
        port = stage.haproxy("names-haproxy.cfg", *zip(EXAMPLES, NAMES), *ports)
        hosts = stage.folder / "hosts"
        hosts.write_text(open("/etc/hosts").read() + "".join(f"\n127.0.0.1 {name}" for name in NAMES) + "\n")

        def command(host, pin, key, *words):
            """Names that only this command's process knows."""
            return run("unshare", "-m" if os.geteuid() == 0 else "-rm", "bash", "-c",
                       'mount --bind "$1" /etc/hosts && shift && exec "$@"', "-", hosts, stage.binary, *words, "--key", key,
                       "--timeout", "20s", "--url", f"relays://{host}:{port}/#pin={pin}")

        need(pins[NAMES[0]] != pins[NAMES[1]], "two relays have one pin")
        for one, other in (relays, relays[::-1]):
            need(pin_of(one.name, port) == pins[one.name], f"{one.name} shows another pin")
            done = command(one.name, pins[one.name], one.key, "pub", "lesson", f"of {one.name}")
            need(done.returncode == 0, f"{one.name} with its pin and key: {done.stderr}")
            wrong = command(one.name, pins[other.name], one.key, "pub", "lesson", "x")
            need(wrong.returncode == 1 and "pin" in wrong.stderr, f"{one.name} with the other's pin: {wrong}")
            wrong = command(one.name, pins[one.name], other.key, "pub", "lesson", "x")
            need(wrong.returncode == 1 and "keyWrong" in wrong.stderr, f"{one.name} with the other's key: {wrong}")
            nameless = command("127.0.0.1", pins[one.name], one.key, "pub", "lesson", "x")
            need(nameless.returncode != 0, "who asks for no name comes in")
        for one in relays:
            told = command(one.name, pins[one.name], one.key, "history", "lesson")
            need(told.returncode == 0 and f"of {one.name}" in told.stdout and len(told.stdout.splitlines()) == 1, f"{one.name}: {told}")
    return []
