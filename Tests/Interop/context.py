"""Checks and what they work with."""

import itertools
import random

import http_checks
from bounds import EARLY, RUN, TRANSPORTS
from http_checks import Failed, need
from relay_client import Client, Identity, Ledger, RelayError, Reply

CHECKS = []


def check(name, slow=False, relay="main"):
    """Registers a check. `slow` ones get threads of their own from the start; those of another relay than
    the main one run one after the other against it."""
    def register(function):
        CHECKS.append((name, function, slow, relay))
        return function
    return register


class Context:
    """What one check needs: connections, fresh names, limits, and expectations."""

    names = itertools.count(1)

    def __init__(self, program, address, name=""):
        self.program, self.document, self.tracker = program, program.document, program.tracker
        self.host, self.port = address
        self.dice = random.Random(f"{program.seed} {name}")
        self.turn = self.dice.randrange(2)
        self.clients = []
        self.notes = []
        self.ledger = Ledger()

    # -- names and limits -----------------------------------------------------------------------

    def name(self, hint="x"):
        """A name nobody else uses."""
        return f"{hint}-{RUN}-{next(Context.names)}"

    def limit(self, row, place=0):
        """A number of the table "Limits"."""
        self.tracker.limits_used.add(row)
        return self.document.limits[row][place]

    # -- connections ----------------------------------------------------------------------------

    def connect(self, identity=None, kind=Client, **options):
        """A connection that has not logged in."""
        identity = identity or Identity(self.name("user"))
        transport = options.pop("transport", None) or self.next_transport()
        client = kind(self.host, self.port, identity, watcher=self.tracker.on(transport), ledger=self.ledger, transport=transport,
                      dice=random.Random(self.dice.getrandbits(64)), **options)
        self.clients.append(client)
        return client

    def next_transport(self):
        """Of two clients in a row one is on TCP and one on a WebSocket, unless one of them was asked for."""
        self.turn += 1
        return TRANSPORTS[self.turn % 2] if self.program.transport == "mixed" else self.program.transport

    def client(self, user=None, identity=None, kind=Client, login=None, **options):
        """A client that has logged in."""
        identity = identity or Identity(user or self.name("user"))
        client = self.connect(identity, kind, **options)
        client.login(**(login or {}))
        return client

    def resume(self, old, token=None, seen=True, login=None, **options):
        """The session of a dropped client on a new connection; it tells what it has seen unless `seen` is False."""
        client = self.connect(old.identity, previous=old.checker, **options)
        client.login(token=token or old.checker.welcome["resumeToken"],
                     seen=old.checker.seen_offsets() if seen is True else seen or None,
                     presenceTimeoutMs=old.checker.welcome["presenceTimeoutMs"], **(login or {}))
        return client

    def finish(self):
        """Closes all connections; the first violation of any of them fails the check."""
        for client in self.clients:
            client.drop()
        for client in self.clients:
            self.notes += client.checker.oddities
            self.notes += [f"FR6: a frame of unknown type {kind:#x}" for kind, _, _ in client.unknown_frames]
        for client in self.clients:
            if client.violation:
                raise client.violation
        for client in self.clients:
            self.ledger.judge(client.checker)

    def site(self):
        """The relay as the checks of HTTP see it."""
        return http_checks.Site(self.host, self.port, self.dice, self.program.keys)

    # -- expectations ---------------------------------------------------------------------------

    def refused(self, codes, what, **wanted):
        """`what` (a Reply or a call) must be refused with one of the codes; `wanted` names fields of the
        error: a value, ... for any, None for absent. Returns the fields."""
        codes = (codes,) if isinstance(codes, str) else codes
        try:
            value = what.wait() if isinstance(what, Reply) else what()
        except RelayError as problem:
            need(problem.name in codes, f"wanted {' or '.join(codes)}, got {problem.fields}")
            for key, value in wanted.items():
                got = problem.fields.get(key)
                fits = got is not None if value is ... else got == value
                need(fits, f"wanted {key} {'present' if value is ... else value}: {problem.fields}")
            if len(codes) == 1:
                self.tracker.proved.add(problem.name)
            return problem.fields
        raise Failed(f"wanted {' or '.join(codes)}, but it was accepted: {value!r}")

    def closed(self, client, code):
        """The relay must close the connection with that code."""
        closing = client.wait_closed()
        need(closing is not None, f"wanted closing {code}, but the connection ended without closing")
        need(closing["name"] == code, f"wanted closing {code}, got {closing}")
        self.tracker.proved.add(code)
        return closing

    def closed_after(self, client, code, begin, seconds):
        """The same, no sooner than so many seconds after a moment that lies before the relay's."""
        self.closed(client, code)
        after = client.since(0, "closing")[0].at - begin
        need(after >= seconds - EARLY, f"{code} after {after:.1f} s, not {seconds}")

    def lives(self, client):
        """The connection must be alive."""
        client.sync()

    # -- scenes ---------------------------------------------------------------------------------

    def stream(self, topic="t", **options):
        """(publisher, subscriber, channel, flow): both joined, the subscriber selected the topic."""
        channel = self.name("stream")
        publisher, subscriber = self.client(**options), self.client()
        publisher.request("join", channel=channel)
        subscriber.request("join", channel=channel)
        subscriber.request("subscribeTopic", channel=channel, topic=topic)
        flow = publisher.request("joinTopic", channel=channel, topic=topic)["flow"]
        return publisher, subscriber, channel, flow


def raw_request(client, kind, body, id=None, flags=0):
    """Sends the given JSON text as a request."""
    body = body.encode() if isinstance(body, str) else body
    return client.raw(kind, body, flags, id=id)


def at_once(client, reply):
    """The reply, which must be there when a later ping is answered."""
    client.sync()
    need(reply.done.is_set(), "it was taken without a word")
    return reply


def presence_of(client, mark=0, *kinds):
    """(event, user) of the presence frames from a mark on."""
    return [(e["event"], e.get("user")) for e in client.since(mark, "presence")
            if not kinds or e["event"] in kinds]


def payloads(client, mark=0):
    """The payloads of messages and packets in the order they came."""
    return [e["payload"] for e in client.since(mark, "deliver", "packet")]


def outcomes(replies):
    """For each reply `ok` or the name of the error."""
    result = []
    for reply in replies:
        try:
            reply.wait()
            result.append("ok")
        except RelayError as problem:
            result.append(problem.name)
    return result
