"""One scenario: a relay, two to five client programs, and what happens to them, all by one seed."""

import base64
import hashlib
import json
import pathlib
import random
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Faults"))
from daemon import Daemon
from judge import MARK_BYTES, Judge
from program import Broken, Program
from proxy import DOWN, UP, Proxy

BOARD, TALK, TOPIC = "board", "talk", "pen"
PRESENCE_TIMEOUT_MS = 5_000
PRESENCE_TIMEOUT = PRESENCE_TIMEOUT_MS / 1000
KEYS = [f"k{n}" for n in range(24)]
# How long things may take when nothing is in their way.
BEGINNING, SETTLING, ANSWER = 30, 60, 30
LAST_RUSH = 0.3
RECORD_MAX, DRAWING_MAX = 4_000, 200_000
ACTIONS = {"message": 30, "record": 16, "packets": 14, "remove": 5, "draw": 4, "changes": 5, "barrier": 6,
           "clear": 1, "undoClear": 1, "rush": 5}
ALWAYS = {"message", "record", "barrier"}
TROUBLES = {"cut": 10, "short absence": 4, "long absence": 1, "relay killed": 2, "relay stopped": 1, "deaf": 10, "stall": 3, "dribble": 3}


class Trace:
    """All that was said and done, one JSON object a line."""

    def __init__(self, path):
        self.file, self.began = path.open("w", encoding="utf-8"), time.monotonic()

    def note(self, kind, who, what):
        at = round(time.monotonic() - self.began, 4)
        self.file.write(json.dumps({"at": at, "kind": kind, "who": who, "what": what}) + "\n")


class Client:
    """A client program behind a proxy of its own."""

    def __init__(self, scenario, user, key=None):
        self.scenario, self.user, self.key = scenario, user, key
        self.proxy = Proxy(random.Random(scenario.rng.random()))
        self.proxy.target = scenario.daemon.port
        self.proxy.delay = scenario.rng.choice((0, 0.005, 0.02, 0.05))
        self.secret = f"{scenario.rng.getrandbits(128):032x}"
        self.heals_at, self.heal = 0, None
        self.is_subscribed = False
        self.program = Program(scenario.command, user, scenario.judge.take, scenario.errors)
        fields = {"address": f"127.0.0.1:{self.proxy.port}", "user": user, "secret": self.secret,
                  "presenceTimeoutMs": PRESENCE_TIMEOUT_MS}
        self.do("start", **fields, **({"key": key} if key else {}))

    def do(self, what, payloads=(), writes=None, **fields):
        self.scenario.number += 1
        command = {"do": what, "id": f"{self.user}-{self.scenario.number}", **fields}
        deed = self.scenario.judge.command(self.user, command, payloads, writes)
        self.program.send(command)
        return deed

    def follow(self):
        """Everything of the two channels; the board from its beginning."""
        self.is_subscribed = True
        deeds = [self.do("subscribe", channel=BOARD, since="beginning"), self.do("subscribe", channel=TALK, since="now")]
        self.do("joinTopic", channel=TALK, topic=TOPIC)
        self.do("subscribeTopic", channel=TALK, topic=TOPIC)
        return deeds

    def end(self):
        ended = self.program.end()
        self.proxy.close()
        return ended


class Scenario:
    """`run` raises `Broken`, or returns what was counted."""

    def __init__(self, command, seed, seconds, binary, folder):
        self.command, self.seed, self.seconds, self.binary, self.folder = command, seed, seconds, binary, folder
        self.rng = random.Random(seed)
        self.trace = Trace(folder / "trace.ndjson")
        self.errors = (folder / "errors.txt").open("w", encoding="utf-8")
        self.judge = Judge(self.trace.note)
        self.number, self.clients, self.daemon, self.starts_at = 0, [], None, 0
        self.logs = []
        has_keys = self.rng.random() < 0.3
        self.options = ["--max-history", str(self.rng.choice((5, 40, 1000, 1000)))]
        # Clients come through proxies, whose ports are not the relay's.
        self.options += ["--host-name", "127.0.0.1"]
        self.auth = "key" if has_keys else "open"
        self.actions = {name: weight for name, weight in ACTIONS.items() if name in ALWAYS or self.rng.random() < 0.8}
        self.troubles = {name: weight for name, weight in TROUBLES.items() if self.rng.random() < 0.6} or {"cut": 1}
        self.trouble_every = self.rng.uniform(0.1, 0.6)

    # -- the whole of it -------------------------------------------------------------------------

    def run(self):
        try:
            self.begin()
            self.happen()
            self.heal()
            self.compare()
            if self.rng.random() < 0.5:
                self.crash_once_more()
            for client in self.clients:
                if not client.end():
                    raise Broken(f"the program of {client.user} does not end with its input")
            self.judge.wait(lambda: True, 0)
            return self.judge.counts
        finally:
            for client in self.clients:
                client.program.kill()
                client.proxy.close()
            if self.daemon and self.daemon.process.returncode is None:
                self.daemon.kill()
            self.keep_log()
            (self.folder / "relay.log").write_text("\n".join(self.logs), encoding="utf-8")
            self.trace.file.close()
            self.errors.close()

    def start_relay(self):
        self.daemon = Daemon(self.binary, self.folder / "data", auth=self.auth, options=self.options)
        for client in self.clients:
            client.proxy.target = self.daemon.port

    def end_relay(self, by_kill):
        self.trace.note("trouble", "relay", "killed" if by_kill else "stopped")
        for client in self.clients:
            client.proxy.target = None
        self.judge.restarted()
        if by_kill:
            self.daemon.kill()
        else:
            self.daemon.stop()
        self.judge.count("kills" if by_kill else "stops")
        self.keep_log()

    def keep_log(self):
        if self.daemon:
            self.logs += ["", *self.daemon.log]
            self.daemon.log = []

    def keys(self):
        """Of the relay, by kind; none of an open one."""
        if self.auth == "open":
            return {}
        shown = subprocess.run([str(self.binary), "key", "show", "--json", "--data-dir", str(self.folder / "data")],
                               capture_output=True, text=True, check=True, timeout=ANSWER)
        return {key["kind"]: key["key"] for key in map(json.loads, shown.stdout.splitlines())}

    def begin(self):
        self.start_relay()
        keys = self.keys()
        deeds = []
        for n in range(self.rng.randint(2, 5)):
            # The first is a moderator; some of the others may not change what others drew.
            kind = "host" if n == 0 or self.rng.random() < 0.3 else "join"
            client = Client(self, f"u{n}", keys.get(kind))
            self.clients.append(client)
            if n < 2 or self.rng.random() < 0.8:
                deeds += client.follow()
        self.wait(deeds, BEGINNING)

    def wait(self, deeds, seconds):
        if not self.judge.wait(lambda: all(deed.is_settled for deed in deeds), seconds):
            deed = next(deed for deed in deeds if not deed.is_settled)
            raise Broken(f"{deed.user} told no outcome of {deed} within {seconds} s, and nothing was in its way")
        for deed in deeds:
            if deed.do in ("subscribe", "barrier", "board") and deed.outcome != "done":
                raise Broken(f"{deed} did not come to its end")

    def draw(self, weights):
        return self.rng.choices(list(weights), weights.values())[0]

    # -- the troubled time -----------------------------------------------------------------------

    def happen(self):
        now = time.monotonic()
        end, next_trouble = now + self.seconds, now + self.rng.uniform(0, self.trouble_every)
        while (now := time.monotonic()) < end:
            self.judge.wait(lambda: True, 0)
            self.mend(now)
            if now > next_trouble:
                next_trouble = now + self.rng.uniform(0, 2 * self.trouble_every)
                self.trouble(self.draw(self.troubles), self.rng.choice(self.clients), now)
            self.act(self.draw(self.actions), self.rng.choice(self.clients))
            time.sleep(self.rng.uniform(0, 0.06))

    def mend(self, now):
        """What has lasted long enough."""
        if self.starts_at and now > self.starts_at:
            self.starts_at = 0
            self.start_relay()
        for client in self.clients:
            if client.heals_at and now > client.heals_at:
                client.heals_at = 0
                # What was held back is lost, or comes late.
                if client.proxy.held and self.rng.random() < 0.6:
                    client.proxy.refuse(True)
                client.proxy.heal()

    def trouble(self, what, client, now):
        if what.startswith("relay"):
            if not self.starts_at:
                self.end_relay(what == "relay killed")
                self.starts_at = now + self.rng.uniform(0.01, 0.6)
            return
        if client.heals_at:
            return
        self.judge.count(what)
        detail = None
        lasts = self.rng.uniform(0.05, 1.2)
        if what == "cut":
            detail, lasts = client.proxy.cut(), 0
        elif what == "short absence":
            client.proxy.refuse(True)
        elif what == "long absence":
            client.proxy.refuse(True)
            lasts = PRESENCE_TIMEOUT + self.rng.uniform(0.5, 1.5)
        elif what == "deaf":
            client.proxy.hold(DOWN)
            self.rush(client)
        elif what == "stall":
            client.proxy.hold(*self.rng.choice(((UP, DOWN), (UP,))))
        elif what == "dribble":
            client.proxy.dribble(True)
        self.trace.note("trouble", client.user, [what, detail, round(lasts, 2)])
        client.heals_at = lasts and now + lasts

    # -- what clients do -------------------------------------------------------------------------

    def payload(self, size):
        """(mark, SHA-256, size, bytes): no two are alike."""
        self.number += 1
        mark = f"{self.seed % 10**6}.{self.number}".ljust(MARK_BYTES, ".")
        data = mark.encode() + self.rng.randbytes(size - MARK_BYTES)
        return mark, hashlib.sha256(data).hexdigest(), size, data

    def publish(self, client, size, channel, key=None):
        mark, digest, size, data = self.payload(size)
        fields = {"channel": channel, "payload": base64.b64encode(data).decode(), **({"key": key} if key else {})}
        client.do("publish", [(mark, digest, size, key)], {key: digest} if key else None, **fields)

    def act(self, what, client):
        if not client.is_subscribed and self.rng.random() < 0.05:
            client.follow()
        key = self.rng.choice(KEYS)
        if what == "message":
            self.publish(client, self.rng.choice((16, 40, 700, 9_000)), self.rng.choice((BOARD, TALK)))
        elif what == "record":
            self.publish(client, self.rng.randint(MARK_BYTES, RECORD_MAX), BOARD, key)
        elif what == "draw":
            self.publish(client, self.rng.randint(33_000, DRAWING_MAX), BOARD, key)
        elif what == "remove":
            client.do("remove", writes={key: None}, channel=BOARD, key=key)
        elif what == "changes":
            self.change(client)
        elif what == "packets" and client.is_subscribed:
            for _ in range(self.rng.randint(1, 6)):
                mark, digest, size, data = self.payload(self.rng.randint(MARK_BYTES, 200))
                slot = {"slot": self.rng.randint(1, 3)} if self.rng.random() < 0.5 else {}
                fields = {"channel": TALK, "topic": TOPIC, "payload": base64.b64encode(data).decode(), **slot}
                client.do("packet", [(mark, digest, size, None)], **fields)
        elif what == "barrier" and client.is_subscribed:
            client.do("barrier", channel=self.rng.choice((BOARD, TALK)))
        elif what in ("clear", "undoClear"):
            client.do(what, channel=BOARD)
        elif what == "rush":
            self.rush(client)

    def rush(self, first):
        """Several clients change one key at one instant: what one is told stored may be behind what another has done to it."""
        key = f"rush{self.number}"
        self.publish(first, 60, BOARD, key)
        for _ in range(self.rng.randint(1, 4)):
            client, dice = self.rng.choice(self.clients), self.rng.random()
            if dice < 0.3:
                self.publish(client, self.rng.randint(MARK_BYTES, 100), BOARD, key)
            elif dice < 0.95 or "clear" not in self.actions:
                client.do("remove", writes={key: None}, channel=BOARD, key=key)
            else:
                client.do("clear", channel=BOARD)

    def change(self, client):
        """A change set, in up to three parts."""
        count = self.rng.choice((2, 4, 8, 70, 150))
        keys = self.rng.sample(KEYS, min(count, 8)) + [f"many{n}" for n in range(count - 8)]
        changes, payloads, writes = [], [], {}
        for key in keys:
            if self.rng.random() < 0.15:
                changes.append({"key": key})
                writes[key] = None
                continue
            mark, writes[key], size, data = self.payload(self.rng.randint(MARK_BYTES, 300))
            payloads.append((mark, writes[key], size, key))
            changes.append({"key": key, "payload": base64.b64encode(data).decode()})
        client.do("changes", payloads, writes, channel=BOARD, changes=changes)

    # -- the end ---------------------------------------------------------------------------------

    def heal(self):
        """What is under way then is lost or late; all links heal, and every outcome is told."""
        for client in self.clients:
            client.proxy.hold(DOWN)
        for client in self.clients:
            self.rush(client)
        time.sleep(LAST_RUSH)
        for client in self.clients:
            client.proxy.refuse(self.rng.random() < 0.6)
        self.trace.note("trouble", "all", "healed")
        if self.starts_at:
            self.starts_at = 0
            self.start_relay()
        for client in self.clients:
            client.heals_at = client.proxy.delay = 0
            client.proxy.heal()
            if not client.is_subscribed:
                client.follow()
        if not self.judge.wait(lambda: not self.judge.unsettled(), SETTLING):
            deed = self.judge.unsettled()[0]
            raise Broken(f"{deed.user} told no outcome of {deed} within {SETTLING} s after its link was whole again")

    def compare(self, late="late"):
        """Every client, and one that comes last, has the same board, and it is the right one."""
        latecomer = Client(self, late, self.keys().get("host"))
        latecomer.proxy.delay = 0
        self.clients.append(latecomer)
        self.wait(latecomer.follow(), ANSWER)
        for channel in (BOARD, TALK):
            self.wait([client.do("barrier", channel=channel) for client in self.clients], ANSWER)
        asked = {client.user: client.do("board", channel=BOARD) for client in reversed(self.clients)}
        self.wait(list(asked.values()), ANSWER)
        self.judge.judge_boards(BOARD, {user: deed.id for user, deed in asked.items()})

    def crash_once_more(self):
        """What is stored is there after kill -9, with its offsets."""
        self.end_relay(True)
        self.start_relay()
        self.compare("last")
