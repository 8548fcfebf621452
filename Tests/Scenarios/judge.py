"""Holds what client programs say against what they were told to do, line by line. Tests/Scenarios/README.md lists the promises."""

import threading

import boards
from program import Broken

MARK_BYTES = 16
PUBLISHED = {"publish", "remove", "changes"}
OUTCOMES = {"accepted", "stored", "refused", "unknown", "done"}


class Deed:
    """A command whose outcome its client tells. `writes`: by key the SHA-256 of what is written, None for a removal."""

    def __init__(self, command, user, order, life, writes=None):
        self.id, self.do, self.channel, self.user = command["id"], command["do"], command.get("channel"), user
        self.order, self.life, self.writes = order, life, writes
        self.is_plain = self.do == "publish" and "key" not in command
        self.outcome, self.accepted_at, self.offset = None, None, None

    @property
    def is_settled(self):
        return self.outcome in ("refused", "unknown", "stored", "done") or (self.outcome == "accepted" and self.is_plain)

    def __repr__(self):
        return f"{self.do} {self.id} of {self.user} in {self.channel} ({self.outcome}, offset {self.offset})"


class Reader:
    """What one client was told of one channel."""

    def __init__(self, user, channel, order):
        self.user, self.channel, self.since = user, channel, order
        self.subscribed_at = None
        self.missed, self.reset_at = [], -1
        self.begin()

    def begin(self):
        """From here on all may come again."""
        self.offset, self.seen, self.orders = 0, {}, {}


class Judge:
    """One scenario. `note` writes the trace."""

    def __init__(self, note):
        self.note, self.lock = note, threading.Condition()
        self.problem, self.clock, self.life = None, 0, 0
        self.deeds, self.payloads, self.readers, self.flows = {}, {}, {}, {}
        self.places, self.shown, self.links, self.boards = {}, set(), {}, {}
        self.packets_seen = set()
        self.counts = {}

    # -- what the scenario does ------------------------------------------------------------------

    def command(self, user, command, payloads=(), writes=None):
        """Before it is sent. payloads: (mark, SHA-256, size, key) of what is in it."""
        with self.lock:
            self.clock += 1
            deed = Deed(command, user, self.clock, self.life, writes)
            self.deeds[deed.id] = deed
            for mark, digest, size, key in payloads:
                self.payloads[mark] = (deed, digest, size, key)
            if deed.do == "subscribe":
                self.readers[user, deed.channel] = Reader(user, deed.channel, self.clock)
            self.count(deed.do)
            self.note("command", user, {**command, "payload": f"{payloads[0][2]} bytes"} if "payload" in command else command)
            return deed

    def restarted(self):
        with self.lock:
            self.clock += 1
            self.life += 1

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def wait(self, test, seconds):
        """Whether it came true; raises what was broken meanwhile."""
        with self.lock:
            done = self.lock.wait_for(lambda: self.problem or test(), seconds)
            if self.problem:
                raise self.problem
            return done

    # -- what the programs say -------------------------------------------------------------------

    def take(self, program, line):
        with self.lock:
            self.clock += 1
            self.note("line", program.name, line)
            try:
                if self.problem is None:
                    getattr(self, f"on_{line['is']}", self.on_other)(program.name, line)
            except Broken as problem:
                self.problem = problem
            except (KeyError, TypeError, ValueError) as problem:
                self.problem = Broken(f"{program.name} printed a line with a field missing or wrong ({problem!r}): {str(line)[:300]}")
            self.lock.notify_all()

    def on_other(self, user, line):
        if line["is"] in OUTCOMES:
            return self.settle(user, line)
        if line["is"] == "ended":
            raise Broken(f"the program of {user} ended by itself with exit code {line['code']}")
        raise Broken(f"{user} printed a line that Tests/Scenarios/README.md does not have: {str(line)[:300]}")

    def settle(self, user, line):
        deed, outcome = self.deeds.get(line["id"]), line["is"]
        if deed is None or deed.user != user:
            raise Broken(f"{user} told an outcome of {line['id']}, which it was not told to do")
        if deed.is_settled and not (deed.outcome == "stored" and outcome == "accepted"):
            raise Broken(f"{user} told {outcome} of {deed}, whose outcome it had told")
        if deed.outcome == "stored":
            return
        if (outcome == "done") != (deed.do not in PUBLISHED) and outcome in ("done", "accepted", "stored"):
            raise Broken(f"{user} told {outcome} of {deed}")
        if outcome == "refused":
            int(line["code"])
            if deed.outcome is None and deed.id in self.shown:
                raise Broken(f"{deed} was refused, and a reader was shown it")
        deed.outcome = outcome
        if outcome in ("accepted", "stored") or (outcome == "done" and deed.do in ("clear", "undoClear")):
            deed.offset = int(line["offset"])
            deed.accepted_at = deed.accepted_at or self.clock
        self.count(outcome)
        if outcome == "done" and deed.do == "subscribe":
            self.readers[user, deed.channel].subscribed_at = self.clock
        if outcome == "done" and deed.do == "barrier":
            self.all_came(self.readers[user, deed.channel], deed)

    def all_came(self, reader, barrier):
        """What was accepted before a barrier was asked for has come, or was told to be missing."""
        for deed in self.deeds.values():
            if not deed.is_plain or deed.channel != reader.channel or deed.user == reader.user or deed.accepted_at is None:
                continue
            is_due = (reader.subscribed_at or self.clock) < deed.order and deed.accepted_at < barrier.order
            if not is_due or deed.life != self.life or deed.order < reader.reset_at or deed.id in reader.seen:
                continue
            if not any(first <= deed.offset <= last for first, last in reader.missed):
                raise Broken(f"{reader.user} was not told of {deed}, which was accepted before its barrier {barrier.id} was asked for")

    def on_link(self, user, line):
        self.links[user] = line["state"]
        if line["state"] == "up":
            self.count("resumed" if line["resumed"] else "began anew")
            if not line["resumed"]:
                self.flows[user] = {}

    def reader(self, user, line):
        reader = self.readers.get((user, line["channel"]))
        if reader is None:
            raise Broken(f"{user} was told of {line['channel']}, to which it is not subscribed")
        return reader

    def rise(self, reader, offset, what):
        if offset <= reader.offset:
            raise Broken(f"{reader.user} was given {what} at offset {offset} of {reader.channel} after offset {reader.offset}")
        reader.offset = offset

    def on_message(self, user, line):
        reader, offset, key, mark = self.reader(user, line), int(line["offset"]), line.get("key"), line["mark"]
        self.count("messages")
        self.rise(reader, offset, f"message {mark!r}")
        place = (reader.channel, *map(int, line["epoch"]), offset)
        said = self.places.setdefault(place, (mark, key))
        if said != (mark, key):
            raise Broken(f"offset {offset} of {reader.channel} in one epoch names {said} to one reader, and {(mark, key)} to {user}")
        if key is not None and int(line["size"]) == 0:
            if not any(deed.writes and deed.writes.get(key, 0) is None and deed.user == line["user"] for deed in self.deeds.values()):
                raise Broken(f"{user} was told that {line['user']} removed {key}, which it was not told to do")
            return
        if mark not in self.payloads:
            raise Broken(f"{user} was given a message with the mark {mark!r}, which nobody was told to send")
        deed, digest, size, wanted_key = self.payloads[mark]
        if (line["sha256"], line["size"]) != (digest, size):
            raise Broken(f"{user} was given {deed} with other bytes: {line['size']} instead of {size}, or of another SHA-256")
        if (line["user"], line["channel"], key) != (deed.user, deed.channel, wanted_key):
            raise Broken(f"{user} was given {deed} as a message of {line['user']} in {line['channel']} with key {key}")
        if deed.outcome == "refused" and deed.accepted_at is None:
            raise Broken(f"{user} was given {deed}, which was refused")
        self.shown.add(deed.id)
        self.once(reader, deed, mark)

    def once(self, reader, deed, mark):
        """Not twice, unless a `clear` was taken back; a sender's messages in their order."""
        name = deed.id if deed.is_plain else mark
        times = reader.seen[name] = reader.seen.get(name, 0) + 1
        if times > 1 and (deed.is_plain or times > 1 + self.undone(deed.channel)):
            raise Broken(f"{reader.user} was given {deed} {times} times")
        if deed.is_plain:
            if deed.order < reader.orders.get(deed.user, 0):
                raise Broken(f"{reader.user} was given {deed} behind what {deed.user} sent later")
            reader.orders[deed.user] = deed.order

    def undone(self, channel):
        return sum(deed.do == "undoClear" and deed.channel == channel and deed.outcome != "refused" for deed in self.deeds.values())

    def on_missed(self, user, line):
        self.count("missed")
        self.reader(user, line).missed.append((int(line["from"]), int(line["to"])))

    def on_reset(self, user, line):
        self.count("reset")
        reader = self.reader(user, line)
        reader.reset_at = self.clock
        reader.begin()

    def on_cleared(self, user, line):
        self.rise(self.reader(user, line), int(line["offset"]), "a clear")

    def on_packet(self, user, line):
        self.count("packets")
        flow = self.flows.setdefault(user, {}).setdefault(line["flow"], {"last": None, "lost": [], "order": 0, "came": set()})
        sequence, lost = int(line["sequence"]), flow["lost"]

        def is_lost(number):
            return any(first <= number <= last for first, last in lost)
        name = f"packet {sequence} of flow {line['flow']} of {line['user']}"
        if flow["last"] is not None and sequence <= flow["last"]:
            raise Broken(f"{user} was given {name} behind packet {flow['last']}")
        if is_lost(sequence):
            raise Broken(f"{user} was given {name}, which it was told was lost")
        for number in range(flow["last"] + 1 if flow["last"] is not None else sequence, sequence):
            if not is_lost(number):
                raise Broken(f"{user} was given {name}, and not told that packet {number} of that flow was lost")
        deed = self.payloads.get(line["mark"], [None])[0]
        if deed is None or (deed.user, deed.channel) != (line["user"], line["channel"]):
            raise Broken(f"{user} was given {name} with the mark {line['mark']!r}, which {line['user']} was not told to send")
        if deed.order <= flow["order"]:
            raise Broken(f"{user} was given {name} twice, or behind what {line['user']} sent later")
        flow["last"], flow["order"] = sequence, deed.order
        flow["came"].add(sequence)

    def on_lost(self, user, line):
        self.count("lost")
        if line.get("last") is None:
            # The flow has ended unseen; another may have its handle after a restart of the relay.
            self.flows.get(user, {}).pop(line["flow"], None)
            return
        first, last = int(line["first"]), int(line["last"])
        flow = self.flows.setdefault(user, {}).setdefault(line["flow"], {"last": None, "lost": [], "order": 0, "came": set()})
        came = [number for number in flow["came"] if first <= number <= last]
        if came:
            raise Broken(f"{user} was told that packets {first} to {last} of flow {line['flow']} were lost, and {came[0]} had come")
        flow["lost"].append((first, last))

    def on_board(self, user, line):
        deed = self.deeds[line["id"]]
        records = {record["key"]: (int(record["offset"]), record["sha256"]) for record in line["records"]}
        if len(records) != len(line["records"]):
            raise Broken(f"the board of {user} has a key twice")
        deed.outcome = "done"
        self.boards[deed.id] = records

    # -- the end ---------------------------------------------------------------------------------

    def unsettled(self):
        return [deed for deed in self.deeds.values() if not deed.is_settled and deed.do not in ("start", "packet", "joinTopic",
                                                                                               "subscribeTopic")]

    def judge_boards(self, channel, found):
        """found: by user the id of the `board` command that it answered."""
        with self.lock:
            deeds = [deed for deed in self.deeds.values() if deed.channel == channel]
            boards.must_be_equal(channel, {user: self.boards[id] for user, id in found.items()})
            boards.must_follow(channel, next(self.boards[id] for id in found.values()), deeds)
