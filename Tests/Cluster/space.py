"""Relays of one space, the servers of its log, and those who draw there."""

import importlib.util
import itertools
import json
import os
import random
import signal
import time
import urllib.error
import urllib.request

import nats
from stage import ROOT, NamedClient, Relay, free_ports, need, run, until
from relay_client import Identity
from writers import Writer, Writers

NAME = "board.test"
SPACE = "lesson"
LOGIN = ("relay", "of the lesson's log")
# What ends the waiting for a take-over: T₂, its jitter, an election, on a busy machine.
TAKE_OVER = 60.0


def load_links():
    """The proxy of Tests/Scenarios, by its path: the one of Tests/TLS has its name."""
    spec = importlib.util.spec_from_file_location("scenario_proxy", ROOT / "Tests/Scenarios/proxy.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


links = load_links()


def where(relay):
    return {"name": NAME, "port": relay.port}


class Roamer(Writer):
    """A writer that tries one relay after the other, and leaves one that says nothing."""

    cut = Writer.cut | {"HB3"}

    def __init__(self, name, ports):
        self.ports, self.turns = ports, itertools.count()
        super().__init__(name, None)

    def place(self):
        return {"name": NAME, "port": self.ports[next(self.turns) % len(self.ports)]}

    def longest(self, began):
        """The most seconds between two words of `stored`, from the last one before a moment on."""
        told = [when for when, _ in self.stored[:]]
        return max(later - when for when, later in zip(told, told[1:]) if later > began)


class Node(Relay):
    """A relay of the space."""

    def __init__(self, binary, port, folder, *options):
        self.binary, self.folder = binary, folder
        super().__init__(binary, port, folder, *options)

    def page(self, path):
        """What it answers, whatever the status; nothing while it does not."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}", timeout=2) as answer:
                return answer.read().decode().strip()
        except urllib.error.HTTPError as refused:
            return refused.read().decode().strip()
        except (OSError, ValueError):
            return None

    @property
    def owns(self):
        return self.page("readyz") == "ready"

    def part(self):
        """Its part in the space, as `status` tells; nothing while it does not answer."""
        asked = run(self.binary, "status", "--json", "--data-dir", self.folder)
        return json.loads(asked.stdout)["space"] if asked.returncode == 0 else {}


class Space:
    """The relays, the servers and the writers."""

    def __init__(self, stage, arguments):
        self.stage, self.binary, self.dice = stage, arguments.binary, random.Random(arguments.seed)
        self.nodes, self.people, self.writers, self.waited = [], {}, None, {}
        self.free, self.ports = free_ports(8), []  # for relays, and of those that have come
        self.shown = set()  # keys of records that witnesses have seen

    def begin(self, server, sync="always"):
        """Three servers and three relays, of which one owns the space. The first relay's links to the log can be cut."""
        stage = self.stage
        # The relays read the certificate's root where OpenSSL looks for those of the system.
        os.environ["SSL_CERT_FILE"] = str(stage.folder / "root.pem")
        self.servers = nats.servers(server, stage.folder, 3, """
            tls { cert_file: "%s/server.pem", key_file: "%s/server.key" }
            allow_non_tls: true
            authorization { user: %s, password: "%s" }""" % (stage.folder, stage.folder, *LOGIN), sync)
        for server in self.servers:
            server.start()
            stage.things.callback(self.end_server, server)
        for server in self.servers:
            until(server.is_ready, f"server {server.name}")
        self.links = [links.Proxy(self.dice) for _ in self.servers]
        for link, server in zip(self.links, self.servers):
            link.target = server.port
            stage.things.callback(link.close)
        login, secret = stage.folder / "login", stage.folder / "secret"
        login.write_text(":".join(LOGIN) + "\n")
        secret.write_bytes(self.dice.randbytes(64))
        secret.chmod(0o600)
        self.options = ("--log-login-file", login, "--log-secret-file", secret, "--space", SPACE, "--log-level", "debug")
        self.join("data0", self.links)
        self.join("data1")
        self.join("data2")
        first = self.owner()
        # Those that were let in; some may have ended.
        came = [one for one in self.servers[0].ask("connz?state=all&auth=1")["connections"] if one.get("authorized_user")]
        by_tls = [one.get("tls_version") for one in came]
        need(by_tls and all(by_tls), f"TLS of the relays' connections to the first server: {by_tls}")
        # The first owner's: at each node it lets in.
        self.key = (first.folder / "join.key").read_text().strip()
        self.proof = {"credential": {"key": self.key}}

    def join(self, folder, places=None):
        """Another relay."""
        # Two by TLS, one in the clear.
        ways = ("tls://localhost", "tls://localhost", "nats://127.0.0.1")
        log = ",".join(f"{way}:{place.port}" for way, place in zip(ways, places or self.servers))
        node = Node(self.binary, self.free.pop(), self.stage.folder / folder, "--log", log, *self.options)
        self.ports.append(node.port)
        self.nodes.append(self.stage.keep(node))
        return node

    def draw(self):
        """From now on writers store records."""
        Roamer.proof = self.proof
        self.writers = self.stage.keep(Writers([self.ports] * 3, Roamer))

    @staticmethod
    def end_server(server):
        if server.process.poll() is None:
            server.process.send_signal(signal.SIGCONT)
            server.kill()

    def owner(self, other_than=None):
        """The relay that serves, and no other one does."""
        found = []

        def one():
            found[:] = [node for node in self.nodes if node is not other_than and node.owns]
            return len(found) == 1

        until(one, "one relay serves", TAKE_OVER)
        return found[0]

    def leader(self):
        for server in self.servers:
            for account in (server.ask("jsz?streams=true&accounts=true") or {}).get("account_details", []):
                for stream in account.get("stream_detail", []):
                    if stream["name"] == f"space-{SPACE}" and stream.get("cluster", {}).get("leader") == server.name:
                        return server
        return None

    def hand_to(self, node):
        """It owns the space when no other relay is there; then they come back."""
        others = sorted((other for other in self.nodes if other is not node), key=lambda other: other.owns)
        for other in others:
            other.hold()
        until(lambda: node.owns, "the only relay serves", TAKE_OVER)
        for other in others:
            other.go_on()

    def until_follows(self, node):
        """It has all that the log has now."""
        end = self.owner().part()["position"]

        def follows():
            part = node.part()
            return part.get("role") == "standby" and part["storedPosition"] >= end

        until(follows, f"the relay follows to entry {end}")

    def client(self, node, user, **more):
        """Somebody who stays with one relay."""
        client = NamedClient(identity=self.people.setdefault(user, Identity(user, **self.proof)), **where(node), **more)
        client.login()
        return client

    def round(self, what, act):
        """Something happens while all draw; behind it all draw again."""
        self.writers.all_stored_since(time.monotonic())
        time.sleep(self.dice.uniform(0.1, 0.5))
        began = time.monotonic()
        act()
        self.owner()
        self.writers.all_stored_since(time.monotonic())
        self.waited.setdefault(what, []).append(max(writer.longest(began) for writer in self.writers.all))
        print(f"     {what}: {self.waited[what][-1]:.2f} s", flush=True)
