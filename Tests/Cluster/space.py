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
AUTHORIZATION = 'authorization { user: %s, password: "%s" }' % LOGIN


def load_links():
    """The proxy of Tests/Scenarios, by its path: the one of Tests/TLS has its name."""
    spec = importlib.util.spec_from_file_location("scenario_proxy", ROOT / "Tests/Scenarios/proxy.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


links = load_links()


def where(relay):
    return {"name": NAME, "host": relay.host, "port": relay.port}


class Roamer(Writer):
    """A writer that tries one relay after the other, and leaves one that says nothing."""

    cut = Writer.cut | {"HB3"}

    def __init__(self, name, places):
        self.turns = itertools.count()
        super().__init__(name, places)

    def place(self):
        return self.where[next(self.turns) % len(self.where)]

    def longest(self, began):
        """The most seconds between two words of `stored`, from the last one before a moment on."""
        told = [when for when, _ in self.stored[:]]
        return max(later - when for when, later in zip(told, told[1:]) if later > began)


class Node(Relay):
    """A relay of the space."""

    def __init__(self, binary, *more, **others):
        self.binary = binary
        super().__init__(binary, *more, **others)

    def page(self, path):
        """What it answers, whatever the status; nothing while it does not."""
        try:
            with urllib.request.urlopen(f"http://{self.host}:{self.port}/{path}", timeout=2) as answer:
                return answer.read().decode().strip()
        except urllib.error.HTTPError as refused:
            return refused.read().decode().strip()
        except (OSError, ValueError):
            return None

    def figure(self, name):
        """Of /metrics."""
        [value] = [line.split()[1] for line in self.page("metrics").splitlines() if line.startswith(f"{name} ")]
        return float(value)

    @property
    def owns(self):
        return self.page("readyz") == "ready"

    def part(self):
        """Its part in the space, as `status` tells; nothing while it does not answer."""
        asked = run(self.binary, "status", "--json", "--data-dir", self.folder)
        return json.loads(asked.stdout)["space"] if asked.returncode == 0 else {}

    def part_once_told(self):
        told = {}
        until(lambda: told or told.update(self.part()) or told, "a relay tells its part in the space")
        return told


class Space:
    """The relays, the servers and the writers."""

    def __init__(self, stage, arguments):
        self.stage, self.binary, self.dice = stage, arguments.binary, random.Random(arguments.seed)
        self.nodes, self.people, self.writers, self.waited = [], {}, None, {}
        self.ports, self.places = free_ports(8), []  # for relays, and of those that have come
        self.shown = set()  # keys of records that witnesses have seen
        self.strokes = {}   # of each channel with a lesson

    def begin(self, server, sync="always"):
        """Three servers and three relays, of which one owns the space. The first relay's links to the log can be cut."""
        stage = self.stage
        # The relays read the certificate's root where OpenSSL looks for those of the system.
        os.environ["SSL_CERT_FILE"] = str(stage.folder / "root.pem")
        tls = f'tls {{ cert_file: "{stage.folder}/server.pem", key_file: "{stage.folder}/server.key" }}\nallow_non_tls: true\n'
        self.begin_servers(nats.servers(server, stage.folder, 3, tls + AUTHORIZATION, sync))
        self.links = [links.Proxy(self.dice) for _ in self.servers]
        for link, server in zip(self.links, self.servers):
            link.target = server.port
            stage.things.callback(link.close)
        # Two by TLS, one in the clear.
        by_links, self.log = (
            ",".join(f"{way}:{place.port}" for way, place in zip(("tls://localhost", "tls://localhost", "nats://127.0.0.1"), places))
            for places in (self.links, self.servers))
        self.join("data0", by_links)
        self.join("data1")
        self.join("data2")
        self.learn_key()
        self.standbys_send_to(self.owner())
        # Those that were let in; some may have ended.
        came = [one for one in self.servers[0].ask("connz?state=all&auth=1")["connections"] if one.get("authorized_user")]
        by_tls = [one.get("tls_version") for one in came]
        need(by_tls and all(by_tls), f"TLS of the relays' connections to the first server: {by_tls}")

    def begin_servers(self, servers):
        self.servers = servers
        for server in servers:
            server.start()
            self.stage.things.callback(self.end_server, server)
        for server in servers:
            until(server.is_ready, f"server {server.name}")
        login, secret = self.stage.folder / "login", self.stage.folder / "secret"
        login.write_text(":".join(LOGIN) + "\n")
        secret.write_bytes(self.dice.randbytes(64))
        secret.chmod(0o600)
        self.options = ("--log-login-file", login, "--log-secret-file", secret, "--space", SPACE, "--log-level", "debug")

    def join(self, folder, log=None, **more):
        """Another relay."""
        port = self.ports.pop()
        reached = f"relay://{more.get('host', '127.0.0.1')}:{port}"
        words = ("--log", log or self.log, "--reached-at", reached, *self.options)
        node = Node(self.binary, port, self.stage.folder / folder, *words, **more)
        self.places.append(where(node))
        self.nodes.append(self.stage.keep(node))
        return node

    def learn_key(self):
        """The first owner's: at each node it lets in."""
        self.key = (self.owner().folder / "join.key").read_text().strip()
        self.proof = {"credential": {"key": self.key}}

    def cuts(self):
        """What cuts the first relay off from the log, and what heals that. What is held then passes, with appends that are late."""
        def each(act):
            return lambda: [act(link) for link in self.links]

        heal = each(lambda link: link.heal())
        return {"links end": (each(lambda link: link.refuse(True)), heal),
                "nothing passes": (each(lambda link: link.hold(links.UP, links.DOWN)), heal),
                "no answer passes": (each(lambda link: link.hold(links.DOWN)), heal)}

    def draw(self):
        """From now on writers store records."""
        Roamer.proof = self.proof
        self.writers = self.stage.keep(Writers([self.places] * 3, Roamer))

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

        until(one, "one relay serves")
        return found[0]

    def leader(self):
        """The server that leads the log, as it says itself."""
        found = []

        def one():
            found[:] = [server for server in self.servers if self.leads(server)]
            return len(found) == 1

        until(one, "one server leads the log")
        return found[0]

    @staticmethod
    def leads(server):
        accounts = (server.ask("jsz?streams=true&accounts=true") or {}).get("account_details", [])
        streams = [stream for account in accounts for stream in account.get("stream_detail", [])]
        return any(stream["name"] == f"space-{SPACE}" and stream.get("cluster", {}).get("leader") == server.name for stream in streams)

    def hand_to(self, node):
        """It owns the space when no other relay is there; then they come back."""
        others = sorted((other for other in self.nodes if other is not node), key=lambda other: other.owns)
        for other in others:
            other.hold()
        until(lambda: node.owns, "the only relay serves")
        for other in others:
            other.go_on()

    def standbys_send_to(self, owner):
        """Whoever comes to a relay that stands by is told where the owner is, as soon as that relay knows."""
        def told(node):
            client = NamedClient(identity=Identity("lost", **self.proof), **where(node))
            client.start_login()
            until(lambda: client.over, "a relay that stands by sends away")
            [notice] = client.since(0, "closing")
            return notice.get("address")

        for node in self.nodes:
            until(lambda: node is owner or told(node) == f"relay://{owner.host}:{owner.port}", "a standby knows the owner")

    def until_follows(self, node):
        """It has all that the log has now. Returns where that ends."""
        end = self.owner().part_once_told()["position"]

        def follows():
            part = node.part()
            return part.get("role") == "standby" and part["storedPosition"] >= end

        until(follows, f"the relay follows to entry {end}")
        return end

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
