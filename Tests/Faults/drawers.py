"""Who draws on boards, and who decides on roles, bans and modes, while a relay is killed or loses power."""

import time

from books import BoardState, Broken, Change, Record, Rules
from daemon import Identity, RelayError, relay_client
from players import KEYS, VALUE_MAX, Writing

ALL = "drawn by all"
SET_BYTES = 32_000  # of a change set in one part (BL11)
DAY = 24 * 3600 * 1000


class Storing:
    """Sees what comes to a client: the replies of its publishes are done with `stored`, or a refusal."""

    def __init__(self, watcher):
        self.watcher, self.replies = watcher, {}

    def sent(self, _):
        pass

    def received(self, event):
        """Of its client."""
        reply = self.replies.pop(event.get("number"), None) if event.name in ("stored", "notStored", "error") else None
        if reply is not None and event.name == "stored":
            reply.succeed(event.fields)
        elif reply is not None:
            reply.fail(RelayError(event.fields))
        if self.watcher:
            self.watcher.received(event)


class Accepted(Record):
    """A record whose offset is known when it was accepted, stored or not."""

    @property
    def offset(self):
        return self.accepted.get(self.change.number)


class Drawer(Writing):
    """A board of its own. A change is answered when it is durable: by `stored`, or for a clear, an undo and the end by the answer.

    sizes: least and most bytes of a payload. with_ends: it also removes the whole board.
    """

    def __init__(self, number, sizes=(10, VALUE_MAX), with_ends=False):
        super().__init__(f"drawer {number:02}", BoardState())
        self.channel, self.sizes, self.with_ends = f"drawn {number:02}", sizes, with_ends

    def watched_by(self, watcher):
        self.storing = Storing(watcher)
        return self.storing

    def has_room(self):
        """None beside an undo or an end: what comes behind them may be refused."""
        self.settle()
        return super().has_room() and not any(change.what in ("undoClear", "removeBoard") for change in self.flying)

    def settle(self):
        """An undo may be told to wait until the clear stands in the board's file (BL6)."""
        last = self.ledger.changes[-1] if self.ledger.changes else None
        if last and last.what == "undoClear" and last.refusal and last.refusal.name == "busy":
            self.ledger.take_back()

    def room(self, channel):
        """Publishes that the relay takes now."""
        return self.client.checker.credit_of(channel) - self.client.checker.unanswered.get(channel, 0)

    def act(self):
        """Sends one change, if the rate lets it."""
        dice, now = self.rng.random(), self.ledger.now
        if self.rng.random() < 0.15 and self.room(ALL) > 0:
            self.contend()
        elif dice < 0.05 and now.is_there:
            self.ask("clear", now.with_clear)
        elif dice < 0.20 and now.cleared and not self.flying:
            self.ask("undoClear", now.with_undo)
        elif dice < 0.22 and self.with_ends and now.is_there and not self.flying:
            self.ask("removeBoard", lambda _: now.with_end())
        elif self.room(self.channel) < 4:
            time.sleep(0.005)
        elif dice < 0.40 and now.records:
            self.publish([(self.rng.choice(now.records).key, None)])
        elif dice < 0.50:
            keys = self.rng.sample(KEYS + ["m", "n"], self.rng.randint(1, SET_BYTES // max(self.sizes)))
            self.publish([(key, self.payload() if self.rng.random() < 0.7 else None) for key in keys], is_set=True)
        elif dice < 0.56:
            self.draw(self.rng.choice(KEYS), [self.payload() for _ in range(self.rng.randint(2, 4))])
        else:
            self.publish([(self.rng.choice(KEYS), self.payload())])

    def payload(self):
        return self.value(max(self.sizes), min(self.sizes)).encode()

    def ask(self, kind, state):
        change = Change(kind, self.client.start_request(kind, channel=self.channel))
        self.sent(change, state(change))

    def publish(self, changes, is_set=False):
        """One change, or a set of them (BL11)."""
        types = [self.rng.choice((None, "stroke")) if payload else None for _, payload in changes]
        rows = [(key, payload or b"", custom_type) for (key, payload), custom_type in zip(changes, types)]
        if is_set:
            self.store("publishChanges", rows)
            self.client.change(self.channel, rows)
        else:
            self.store("publish", rows)
            key, payload, custom_type = rows[0]
            self.retain(self.channel, payload, custom_type=custom_type, key=key)

    def draw(self, key, parts):
        """A record in parts (BL8)."""
        for part, payload in enumerate(parts, 1):
            if part == len(parts):
                self.store("drawing", [(key, b"".join(parts), None)])
            self.retain(self.channel, payload, key=key, part=(part, len(parts)))

    def contend(self):
        """A record of the board of all, or a removal."""
        change = self.next_change("publish")
        payload = self.payload() if self.rng.random() < 0.75 else b""
        record = Accepted(self.rng.choice(KEYS), payload, None, self.user, change)
        record.accepted = self.client.identity.accepted
        self.shared.add(self.shared.board.attempts, (record, change))
        self.fly(change)
        self.retain(ALL, payload, key=record.key)

    def retain(self, channel, payload, **more):
        self.client.publish(channel, payload, extra=relay_client.RETAIN, **more)

    def next_change(self, what):
        """The one that is published next: it is answered by `stored`."""
        number = self.client.identity.number + 1
        reply = self.storing.replies[number] = relay_client.Reply()
        return Change(what, reply, number)

    def store(self, what, rows):
        """What is published next changes the board."""
        change = self.next_change(what)
        records = [(key, Record(key, payload, custom_type, self.user, change, len(rows) - 1 - place) if payload else None)
                   for place, (key, payload, custom_type) in enumerate(rows)]
        self.sent(change, self.ledger.now.with_changes(change, records))

    def find(self, reader, _, base):
        """What a reader gets from the beginning; who was there before must come to the same by what changed since."""
        fresh, position = read(reader, self.channel, {"beginning": True}, {})
        if base.position:
            epoch, offset, known = base.position
            reader.request("unsubscribe", channel=self.channel)
            back, _ = read(reader, self.channel, {"epoch": epoch, "offset": offset}, known)
            if back != fresh:
                raise Broken(f"{self.channel}: who comes back to {offset} has {back}, who is new {fresh}")
        found = BoardState(sorted(fresh.values(), key=lambda record: record.offset), position[1])
        found.position = (*position, fresh)
        return found


def read(reader, channel, since, known):
    """({key: record}, (epoch, offset)) of a board, for who has what is known of it up to `since`."""
    mark, records, payload = reader.mark(), dict(known), b""
    answer = reader.request("subscribe", channel=channel, features=["messages"], quiet=True, since=since)
    if answer.get("reset"):
        records = {}
    handle = answer["handle"]
    reader.wait_for("caughtUp", lambda event: event["channel"] == handle, since=mark)
    for event in reader.since(mark, "deliver", "cleared"):
        if event["channel"] != handle:
            continue
        if event.name == "cleared":
            records = {}
            continue
        key, part, payload = event["key"], event["part"], payload + event["payload"]
        if part and part[0] < part[1]:
            continue
        records.pop(key, None)
        if payload:
            user = reader.checker.names[event["publisher"]]
            records[key] = Record(key, payload, event["customType"], user, offset=event["offset"])
        payload = b""
    return records, (reader.checker.epochs[channel], reader.checker.offsets[channel])


class Moderator(Writing):
    """Roles, bans and modes of users and channels of its own."""

    def __init__(self, number):
        super().__init__(f"moderator {number}", Rules())
        self.pupils = {name: Identity(name) for name in (f"pupil {number}{n}" for n in range(3))}
        self.banned = [f"banned {number}{n}" for n in range(4)]
        self.channels = [f"class {number}{n}" for n in range(3)]

    def act(self):
        """Sends one decision."""
        now, dice = self.ledger.now, self.rng.random()
        if dice < 0.35:
            user, role = self.rng.choice(sorted(self.pupils)), self.rng.choice((None, "reader", "coeditor"))
            self.decide("setRole", now.having("roles", user, role), user=user, role=role)
        elif dice < 0.7:
            user, for_ms = self.rng.choice(self.banned), self.rng.choice((None, DAY))
            if user in now.decided["bans"] and self.rng.random() < 0.7:
                self.decide("unbanUser", now.having("bans", user, None), user=user)
            else:
                self.decide("banUser", now.having("bans", user, (self.user, for_ms is not None)), user=user, forMs=for_ms)
        else:
            channel, mode, is_on = self.rng.choice(self.channels), self.rng.choice(("frozen", "openEditing")), self.rng.random() < 0.5
            modes = set(now.decided["modes"].get(channel, ())) - {mode} | ({mode} if is_on else set())
            self.decide("setMode", now.having("modes", channel, tuple(sorted(modes)) or None), channel=channel, mode=mode, on=is_on)
        time.sleep(0.005)  # 200 requests a second (RT6)

    def decide(self, kind, state, **fields):
        self.sent(Change(kind, self.client.start_request(kind, **fields)), state)

    def find(self, reader, come_in, _):
        """What the host is told of bans, everybody of modes, and each pupil of its role."""
        roles, modes, bans, after = {}, {}, {}, None
        for name, identity in self.pupils.items():
            client = come_in(identity)
            role = client.checker.welcome["access"]["role"]
            client.logout()
            if role != "editor":
                roles[name] = role
        for channel in self.channels:
            answer = reader.request("subscribe", channel=channel, features=[], quiet=True)
            if answer.get("modes"):
                modes[channel] = tuple(sorted(answer["modes"]))
        while True:
            page = reader.request("getBans", after=after)
            bans.update({ban["user"]: (ban["by"], ban.get("until") is not None) for ban in page["bans"]})
            after = page.get("next")
            if after is None:
                break
        found = Rules(roles=roles, modes=modes, bans={user: ban for user, ban in bans.items() if user in self.banned})
        found.others = set(bans) - set(self.banned)
        return found
