"""What a client sends."""

import secrets
import struct
import time

from links import TCPLink, Violation
from peer.constants import FRAME_TYPES, INTEGER_MAX, PATIENCE, RETAIN
from peer.errors import Ended, RelayError, Timeout
from peer.fields import encode_changes, encode_direct, encode_packet, encode_publish, extended, frame, json_body
from peer.replies import Pending, publish_fields


class Sending:
    """Requests, messages and packets of a client, and its pings."""

    def send_bytes(self, data):
        """Bytes as they are."""
        with self.sending:
            self._send(data)

    def _send(self, data):
        try:
            self._write(self.link.encode(data))
        except OSError:
            if not self.over and self.closing is None:
                time.sleep(0.05)  # the reason may still be on its way
            raise

    def _write(self, data):
        """What the link made of it, as it stands on the wire."""
        self.socket.sendall(data)

    def send(self, kind, body=b"", flags=0):
        """One frame that nobody waits for."""
        self._note(kind)
        self.send_bytes(frame(kind, body, flags))

    def _note(self, kind):
        if self.watcher:
            self.watcher.sent(FRAME_TYPES[kind] if isinstance(kind, str) else kind)

    def _submit(self, kind, flags, body, pending, *places):
        """Sends a frame whose answer is awaited; `places` remember it, in the order of the wire."""
        self._note(kind)
        with self.sending:
            with self.arrived:
                if self.over:
                    raise self.violation or Ended(self.closing)
                for remember in places:
                    remember(pending)
            try:
                self._send(frame(kind, body, flags))
            except OSError:
                pass  # the reader thread fails the reply
        return pending.reply

    def start_request(self, kind, /, id=None, **fields):
        """Sends a JSON request; the reply's value is the answer."""
        if id is None:
            self.next_id += 1
            id = self.next_id
        body = json_body({"id": id, **fields})
        pending = Pending(kind, fields, id=id)
        if kind == "undoClear":
            self.checker.ledger.detours.add(fields.get("channel"))
        if kind == "forgetUser" and fields.get("withRecords"):
            self.checker.ledger.detours.update(channel.name for channel in self.checker.channels.values())
        if kind == "removeRecords":
            self.checker.ledger.detours.add(fields.get("channel"))
        if kind == "endChannel":
            self.checker.ledger.renumbered.add(fields.get("channel"))
        if kind == "barrier":
            pending.behind_caught_up = {channel.name for channel in self.checker.channels.values() if channel.is_catching_up
                                        and fields.get("channel") in (None, channel.name)}
        if kind == "subscribe":
            pending.durable = self.checker.ledger.durable_in(fields.get("channel"))
        return self._submit(kind, 0, body, pending, self.checker.requests.append)

    def request(self, kind, /, id=None, timeout=PATIENCE, **fields):
        """Sends a JSON request and waits for its answer."""
        return self.start_request(kind, id, **fields).wait(timeout)

    def start_texts(self, frame_type, items, /, **fields):
        """Sends `setMetadata` or `updateMetadata`: items are (key, value) or (key, value, revision)."""
        self.next_id += 1
        heads = [{"key": key, "bytes": len(value.encode()), **({"revision": rest[0]} if rest else {})}
                 for key, value, *rest in items]
        fields = {"items": heads, **fields}
        head = json_body({"id": self.next_id, **fields})
        body = len(head).to_bytes(2, "big") + head + b"".join(value.encode() for _, value, *_ in items)
        return self._submit(frame_type, 0, body, Pending(frame_type, fields, id=self.next_id), self.checker.requests.append)

    def history(self, channel, timeout=PATIENCE, **fields):
        """(answer, items) of one page of kept messages (HI6); `start` is `from`."""
        if "start" in fields:
            fields["from"] = fields.pop("start")
        mark = self.mark()
        answer = self.request("history", timeout=timeout, channel=channel, **fields)
        return answer, [e for e in self.since(mark, "historyItem") if e["id"] == answer["id"]]

    def all_history(self, channel, start=None, **fields):
        """All pages."""
        items = []
        while True:
            answer, page = self.history(channel, start=start, **fields)
            items += page
            start = answer.get("next")
            if start is None:
                return answer, items

    def texts(self, frame_type, items, /, timeout=PATIENCE, **fields):
        """Sends it and waits: the major revision."""
        return self.start_texts(frame_type, items, **fields).wait(timeout)["majorRevision"]

    def all_metadata(self, **owner):
        """(major revision, {key: value}) over all pages of getMetadata."""
        found, after = {}, None
        while True:
            page = self.request("getMetadata", after=after, **owner)
            found.update({item["key"]: item["value"] for item in page["items"]})
            after = page.get("next")
            if after is None:
                return page["majorRevision"], found

    def login(self, timeout=PATIENCE, token=None, seen=None, **more):
        """Logs in, with a token (and what was seen) as the resuming client; the answer is `welcome`."""
        return self.start_login(token, seen, **more).wait(timeout)

    def start_login(self, token=None, seen=None, **more):
        """Sends it."""
        numbers = [number for number in self.identity.sent | self.identity.sent_before if number <= INTEGER_MAX]
        fields = {"versions": [1], "user": self.identity.user, "instance": self.identity.instance, "device": self.identity.device,
                  "lastNumber": max(numbers, default=None), "secret": self.identity.secret, "client": "interop.py",
                  **self.identity.credential,
                  "resume": None if token is None else {"token": token, **({} if seen is None else {"seen": seen})}, **more}
        return self.start_request("login", **fields)

    def publish(self, channel, payload=b"", number=None, custom_type=None, key=None, part=None, extra=0, extensions=None):
        """Publishes a message; the reply's value is its offset. `extra`: ECHO, RETAIN, NO_HISTORY."""
        number = number or self.identity.next_number()
        flags, body = encode_publish(number, channel, payload, custom_type, key, part, extra)
        if extensions is not None:
            flags, body = extended(flags, body, *extensions)
        if extra & RETAIN and part:
            self.checker.ledger.detours.add(channel)
        pending = Pending("publish", publish_fields(channel, payload, custom_type, extra, key, part), number=number)
        return self._submit("publish", flags, body, pending, self._remember_publish)

    def publish_many(self, channel, payloads, extra=0):
        """Publishes at one instant: all frames in one write. Returns the replies."""
        data, replies = bytearray(), []
        self._note("publish")
        with self.sending:
            with self.arrived:
                for payload in payloads:
                    number = self.identity.next_number()
                    flags, body = encode_publish(number, channel, payload, extra=extra)
                    pending = Pending("publish", publish_fields(channel, payload, None, extra), number=number)
                    self._remember_publish(pending)
                    replies.append(pending.reply)
                    data += frame("publish", body, flags)
            self._send(data)
        return replies

    def retain(self, channel, key, payload=b"", **more):
        """Publishes a record, or a removal, and waits until it is durable (BL2): its offset."""
        number = self.identity.next_number()
        mark = self.mark()
        offset = self.publish(channel, payload, number=number, key=key, extra=RETAIN | more.pop("extra", 0), **more).wait()
        self.wait_for("stored", lambda e: e["number"] == number, since=mark)
        return offset

    def draw(self, channel, key, pieces, extra=RETAIN, **more):
        """Publishes a drawing in parts (BL8): the offset of the last."""
        replies = [self.publish(channel, piece, key=key, part=(n, len(pieces)), extra=extra, **more)
                   for n, piece in enumerate(pieces, 1)]
        return [reply.wait() for reply in replies][-1]

    def change(self, channel, changes, part=(1, 1), before=()):
        """Publishes one part of a change set (BL11), behind the changes of the parts before it; the reply's value is its offset."""
        number = self.identity.next_number()
        whole = [*before, *changes] if part[0] == part[1] else None
        fields = {**publish_fields(channel, b"", None, RETAIN, None, part), "changes": whole}
        self.checker.ledger.detours.add(channel)
        pending = Pending("publish", fields, number=number)
        return self._submit("publishChanges", 0, encode_changes(number, channel, part, changes), pending, self._remember_publish)

    def change_all(self, channel, changes):
        """Publishes a change set in as many parts as it takes, and waits until it is durable: the offset of the last change."""
        parts, mark = [changes[at:at + 64] for at in range(0, len(changes), 64)], self.mark()
        for n, piece in enumerate(parts, 1):
            offset = self.change_in_time(channel, piece, (n, len(parts)), changes[:64 * (n - 1)])
        number = self.identity.number
        self.wait_for("stored", lambda e: e["number"] == number, since=mark)
        return offset

    def change_in_time(self, *what):
        """As `change`, at the rate that the relay allows (RT2)."""
        while True:
            try:
                return self.change(*what).wait()
            except RelayError as problem:
                if problem.name != "rateLimited":
                    raise
                time.sleep(problem.fields["retryAfterMs"] / 1000)

    def expect_number(self, kind, number, channel=""):
        """Waits for the answer to a `publish` or `direct` whose bytes the caller sends by itself."""
        pending = Pending(kind, {"channel": channel, "echo": False}, number=number)
        with self.arrived:
            (self._remember_publish if kind == "publish" else self._remember_direct)(pending)
        return pending.reply

    def _remember_publish(self, pending):
        self.identity.sent.add(pending.number)
        self.checker.publishes[pending.number] = pending
        self.checker.will_publish(pending)

    def _remember_direct(self, pending):
        self.checker.directs[pending.number] = pending

    def direct(self, user, payload=b"", number=None, custom_type=None):
        """Sends a direct message; the reply is done when it is confirmed."""
        number = number or self.identity.next_number()
        flags, body = encode_direct(number, user, payload, custom_type)
        return self._submit("direct", flags, body, Pending("direct", {}, number=number), self._remember_direct)

    def confirm(self, event):
        """The application has a direct message."""
        self.send("directReceived", struct.pack(">Q", event["delivery"]))

    def packet(self, flow, payload=b"", slot=None, sender_time=None, extra=0, extensions=None):
        """Publishes one packet; nothing answers it."""
        flags, body = encode_packet(flow, payload, slot, sender_time, extra)
        if extensions is not None:
            flags, body = extended(flags, body, *extensions)
        self.send("publishPacket", body, flags)

    def packets(self, flow, payloads, extra=0):
        """Publishes packets at one instant: all frames in one write."""
        data = bytearray()
        for payload in payloads:
            flags, body = encode_packet(flow, payload, extra=extra)
            data += frame("publishPacket", body, flags)
        self._note("publishPacket")
        self.send_bytes(data)

    def raw(self, kind, body, flags=0, id=None, number=None, flow=None, fields=None):
        """Sends a frame as it is. Its reply is the error that names `id`, `number` or `flow`, or the
        next one that names nothing; or the answer, should the relay take it."""
        pending = Pending(kind, fields, id=id, number=number, flow=flow)
        places = [self.checker.raw.append]
        if id is not None:
            places.append(self.checker.requests.append)
        if number is not None and kind == "publish":
            pending.fields = fields or {"channel": "", "echo": False}
            places.append(self._remember_publish)
        elif number is not None:
            places.append(self._remember_direct)
        return self._submit(kind, flags, body, pending, *places)

    def ping(self, data=None):
        """Sends a ping; the reply is done when its pong came."""
        data = secrets.token_bytes(8) if data is None else data
        return self._submit("ping", 0, data, Pending("ping", data), self.checker.pings.append)

    def pings(self, count):
        """Sends so many pings in one write; nobody waits for their pongs."""
        datas = [secrets.token_bytes(8) for _ in range(count)]
        with self.sending:
            with self.arrived:
                self.checker.pings += [Pending("ping", data) for data in datas]
            self._send(b"".join(frame("ping", data, 0) for data in datas))

    def wait_for_credit(self, channel, timeout=PATIENCE):
        """How many publishes the relay takes there beside those that are not answered (RT8), once it is one at least."""
        checker = self.checker

        def room():
            return checker.credit_of(channel) - checker.unanswered.get(channel, 0)
        with self.arrived:
            if not self.arrived.wait_for(lambda: self.over or room() > 0, timeout):
                raise Timeout(f"no credit for {channel}")
            return max(0, room())

    def sync(self, timeout=PATIENCE):
        """Waits until all that the relay had queued for this connection has come (one queue: DL1), and a pong of WebSocket."""
        if self.transport == "websocket" and self.dice.random() < 0.25:
            self._ping_link()
        self.ping().wait(timeout)
        with self.arrived:
            if not self.arrived.wait_for(lambda: self.over or self.link.pings_answered >= self.link.pings_sent, timeout):
                raise Violation("WS6", f"{self.link.pings_sent - self.link.pings_answered} pings without a pong")

    def _ping_link(self):
        """A ping of WebSocket, which may stand between the fragments of a message."""
        with self.sending:
            if isinstance(self.link, TCPLink) or self.link.has_said_close:
                return
            try:
                self._write(self.link.ping())
            except OSError:
                pass  # the reader thread tells
