#!/usr/bin/env python3
"""A client of the relay, on the frames of Tests/Interop/peer, that Tests/Scenarios/README.md can drive."""

import argparse
import base64
import json
import os
import pathlib
import random
import secrets
import selectors
import socket
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Interop"))
from follower import Channel
from outbox import Job, Outbox, change_parts, message_parts
from peer.constants import CODES
from peer.events import Splitter, decode
from peer.fields import encode_packet, frame, json_body

PAUSE_FIRST, PAUSE_MAX, CONNECTING = 0.3, 5.0, 5.0
DIGITS = random.SystemRandom()


def say(what, **fields):
    print(json.dumps({"is": what, **fields}, separators=(",", ":")), flush=True)


class Client:
    """All state of one client; `run` is its loop."""

    def __init__(self, fault):
        self.fault = fault
        self.selector = selectors.DefaultSelector()
        os.set_blocking(0, False)
        self.selector.register(0, selectors.EVENT_READ, self.read_commands)
        self.input, self.is_over = b"", False
        self.instance, self.token, self.id = secrets.token_hex(8), None, 0
        self.socket, self.state, self.pause, self.tries_at = None, "down", PAUSE_FIRST, None
        self.outbox = Outbox(self.send, fault)
        self.channels, self.by_handle, self.users = {}, {}, {}
        self.requests = {}  # by id: (kind, fields, what to do with the answer or the error)
        self.repeatable = []  # what is asked again after a break
        self.topics, self.selections, self.flows, self.expected, self.closed = {}, {}, {}, {}, set()
        self.restored_channels, self.restored_flows, self.read_at, self.pinged = set(), set(), 0, False

    # -- the loop --------------------------------------------------------------------------------

    def run(self):
        while not self.is_over:
            waits = [self.outbox.flush()] if self.state == "live" else []
            waits.append(self.write())
            if self.socket is not None:
                waits.append(self.keep_alive())
            # Each of these may have found that the link is broken.
            if self.tries_at is not None:
                waits.append(self.tries_at - time.monotonic())
            waits = [max(0, wait) for wait in waits if wait is not None]
            for key, _ in self.selector.select(min(waits, default=None)):
                key.data()
            if self.tries_at is not None and time.monotonic() >= self.tries_at:
                self.tries_at = None
                self.connect()

    def read_commands(self):
        data = os.read(0, 1 << 20)
        self.is_over = not data
        *lines, self.input = (self.input + data).split(b"\n")
        for line in lines:
            command = json.loads(line)
            getattr(self, "do_" + command["do"])(command)

    # -- the link --------------------------------------------------------------------------------

    def connect(self):
        self.splitter, self.outgoing = Splitter(), bytearray()
        try:
            self.socket = socket.create_connection((self.host, self.port), timeout=CONNECTING)
        except OSError:
            return self.broken()
        self.socket.setblocking(False)
        self.selector.register(self.socket, selectors.EVENT_READ, self.read)
        self.state, self.read_at, self.pinged, self.heartbeat = "logging in", time.monotonic(), False, CONNECTING
        resume = None
        if self.token:
            seen = {name: channel.seen() for name, channel in self.channels.items() if channel.seen() is not None}
            resume = {"token": self.token, "seen": seen}
        self.request("login", self.welcomed, versions=[1], user=self.user, secret=self.secret, instance=self.instance, key=self.key,
                     lastNumber=self.outbox.number or None, presenceTimeoutMs=self.presence, client="scenarios", resume=resume)
        return None

    def broken(self):
        if self.socket is not None:
            try:
                self.selector.unregister(self.socket)
            except KeyError:
                pass
            self.socket.close()
            self.socket = None
        if self.state != "down":
            if self.state == "live":
                say("link", state="down")
            self.state, self.outbox.broke_at = "down", time.monotonic()
            requests, self.requests = self.requests, {}
            for kind, fields, then in requests.values():
                if kind == "barrier":
                    self.repeatable.append((kind, fields, then))
                elif kind in ("clear", "undoClear"):
                    then(None, None)
        self.tries_at = time.monotonic() + DIGITS.uniform(0.5, 1) * self.pause
        self.pause = min(2 * self.pause, PAUSE_MAX)

    def send(self, kind, body=b"", flags=0):
        if self.socket is not None:
            self.outgoing += frame(kind, body, flags)

    def write(self):
        """The seconds until it is tried again, or None."""
        while self.socket is not None and self.outgoing:
            try:
                del self.outgoing[:self.socket.send(self.outgoing)]
            except BlockingIOError:
                return 0.02
            except OSError:
                self.broken()
        return None

    def request(self, kind, then, **fields):
        self.id += 1
        self.requests[self.id] = (kind, fields, then)
        self.send(kind, json_body({"id": self.id, **fields}))

    def keep_alive(self):
        silent = time.monotonic() - self.read_at
        if silent > 2 * self.heartbeat:
            self.broken()
            return 0
        if silent > self.heartbeat and not self.pinged:
            self.pinged = True
            self.send("ping", b"alive")
        return self.heartbeat * (2 if self.pinged else 1) - silent

    def read(self):
        try:
            data = self.socket.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.broken()
            return
        self.read_at, self.pinged, link = time.monotonic(), False, self.socket
        for number, flags, body in self.splitter.feed(data):
            event = decode(number, flags, body)
            if event is not None:
                getattr(self, "on_" + event.name, lambda event: None)(event)
            if self.socket is not link:
                return

    # -- login and resumption --------------------------------------------------------------------

    def welcomed(self, welcome, error):
        if error is not None:
            self.broken()
            return
        self.token, self.heartbeat, self.pause = welcome["resumeToken"], welcome["heartbeatMs"] / 1000, PAUSE_FIRST
        self.resumed, self.forgotten = welcome["resumed"], welcome.get("forgotten", False)
        self.by_handle, self.users = {}, {welcome["handle"]: self.user}
        self.restored_channels, self.restored_flows = set(), set()
        say("link", state="up", resumed=self.resumed)
        if not self.resumed:
            self.flows, self.expected, self.closed, self.topics = {}, {}, set(), {place: None for place in self.topics}
        self.send("ping", b"restored")

    def on_pong(self, event):
        if event["bytes"] == b"restored":
            self.settled()

    def settled(self):
        """What the relay restored has come: what it did not name is asked for again, then what has no answer is sent again."""
        self.state = "live"
        for flow in self.flows.keys() - self.restored_flows if self.resumed else ():
            say("lost", flow=flow, first=self.expected[flow])
            del self.flows[flow], self.expected[flow]
        for name, channel in self.channels.items():
            if name not in self.restored_channels:
                self.subscribe(channel)
            elif channel.state == "outside":
                self.subscribe(channel)
        for channel in {channel for channel, _ in [*self.topics, *self.selections]}:
            if not self.resumed or channel not in self.joined:
                self.join(channel)
        for place, flow in self.topics.items():
            if flow is None:
                self.join_topic(place)
        for place, is_selected in self.selections.items():
            if not self.resumed or not is_selected:
                self.select(place)
        self.outbox.again(self.forgotten)
        repeatable, self.repeatable = self.repeatable, []
        for kind, fields, then in repeatable:
            self.request(kind, then, **fields)

    def on_restored(self, event):
        if event["kind"] == "message" and event["channel"] in self.channels:
            channel = self.channels[event["channel"]]
            self.by_handle[event["handle"]] = channel
            self.restored_channels.add(channel.name)
            channel.stand(event.fields, True)
            self.subscribed(channel)

    # -- answers ---------------------------------------------------------------------------------

    def on_welcome(self, event):
        self.on_answer(event)

    def on_answer(self, event):
        _, _, then = self.requests.pop(event["id"])
        then(event.fields, None)

    def on_error(self, event):
        if event.get("number") is not None:
            self.outbox.refused(event["number"], event["code"])
        elif event.get("id") is not None:
            _, _, then = self.requests.pop(event["id"])
            then(None, event.fields)

    def on_closing(self, event):
        if event["code"] < 300:
            return
        print(f"closed: {event.fields}", file=sys.stderr)
        self.is_over = True

    def on_accepted(self, event):
        part = self.outbox.sent.get(event["number"])
        self.outbox.accepted(event["number"], event["offset"])
        if part is not None and event["offset"] and part.job.channel in self.channels:
            self.channels[part.job.channel].own_accepted(event["offset"])

    def on_stored(self, event):
        self.outbox.stored(event["number"], event["offset"])

    def on_notStored(self, event):
        self.outbox.refused(event["number"], event["code"])

    def on_ping(self, event):
        self.send("pong", event["bytes"])

    # -- channels --------------------------------------------------------------------------------

    def on_userNamed(self, event):
        self.users[event["handle"]] = event["user"]

    def channel(self, event):
        return self.by_handle[event["channel"]]

    def on_deliver(self, event):
        if self.fault == "drop-deliver" and DIGITS.random() < 0.02:
            return
        self.channel(event).deliver(self.users[event["publisher"]], event)

    def on_gap(self, event):
        self.channel(event).miss(event["from"], event["to"])

    def on_catchingUp(self, event):
        self.channel(event).on_catching_up()

    def on_caughtUp(self, event):
        self.channel(event).on_caught_up(event["head"])

    def on_cleared(self, event):
        self.channel(event).cleared(event["offset"])

    def on_reset(self, event):
        self.channel(event).on_reset(event.fields)

    def subscribe(self, channel):
        def answered(answer, error):
            if error is not None:
                say("refused", id=channel.id, code=error["code"])
                return
            self.by_handle[answer["handle"]] = channel
            channel.stand(answer, False)
            self.subscribed(channel)
        self.request("subscribe", answered, **channel.request())

    def subscribed(self, channel):
        if channel.id is not None:
            say("done", id=channel.id)
            channel.id = None

    # -- streams ---------------------------------------------------------------------------------

    def join(self, channel):
        self.request("join", lambda answer, error: answer and self.joined.add(channel), channel=channel, features=[])

    def join_topic(self, place):
        def answered(answer, error):
            if answer:
                self.topics[place] = answer["flow"]
        self.request("joinTopic", answered, channel=place[0], topic=place[1])

    def select(self, place):
        def answered(answer, error):
            self.selections[place] = answer is not None
        self.request("subscribeTopic", answered, channel=place[0], topic=place[1])

    def on_flowOpened(self, event):
        flow = event["flow"]
        if flow in self.closed:
            return  # a resumption names it again
        self.restored_flows.add(flow)
        following = self.expected.get(flow, event.get("from") or event["next"])
        if following < event["next"] and event["user"] != self.user:
            say("lost", flow=flow, first=following, last=event["next"] - 1)
        self.flows[flow], self.expected[flow] = (event["topic"], event["user"]), max(following, event["next"])

    def on_flowClosed(self, event):
        self.flows.pop(event["flow"], None)
        self.expected.pop(event["flow"], None)
        self.closed.add(event["flow"])

    def on_packet(self, event):
        topic, user = self.flows[event["flow"]]
        self.expected[event["flow"]] = event["sequence"] + 1
        payload = event["payload"]
        say("packet", channel=self.stream, topic=topic, user=user, flow=event["flow"], sequence=event["sequence"],
            mark=payload[:16].decode("ascii", "replace"))

    def on_lost(self, event):
        for flow, first, last in event["ranges"]:
            say("lost", flow=flow, first=first, last=last)

    # -- commands --------------------------------------------------------------------------------

    def do_start(self, command):
        self.host, port = command["address"].rsplit(":", 1)
        self.port, self.user, self.secret, self.key = int(port), command["user"], command["secret"], command.get("key")
        self.presence, self.joined, self.stream = command["presenceTimeoutMs"], set(), None
        self.connect()

    def do_subscribe(self, command):
        channel = self.channels[command["channel"]] = Channel(command["channel"], command["since"], say, self.fault)
        channel.id = command["id"]
        if self.state == "live":
            self.subscribe(channel)

    def publish(self, command, parts, is_retained, changes):
        counts = "accepted" if self.fault == "own-not-stored" else "stored"

        def settle(outcome, value):
            if outcome == counts and command["channel"] in self.channels:
                for offset, (key, payload) in enumerate(changes, value - len(changes) + 1):
                    self.channels[command["channel"]].put_own(key, offset, payload)
            name = {"refused": "code", "unknown": None}.get(outcome, "offset")
            say(outcome, id=command["id"], **({name: value} if name else {}))
        self.outbox.add(Job(command["id"], command["channel"], parts, is_retained, settle))

    def do_publish(self, command):
        payload, key = base64.b64decode(command["payload"]), command.get("key")
        changes = [(key, payload)] if key is not None else []
        self.publish(command, message_parts(command["channel"], payload, key), key is not None, changes)

    def do_remove(self, command):
        self.publish(command, message_parts(command["channel"], b"", command["key"]), True, [(command["key"], b"")])

    def do_changes(self, command):
        changes = [(change["key"], base64.b64decode(change.get("payload", ""))) for change in command["changes"]]
        self.publish(command, change_parts(command["channel"], changes), True, changes)

    def ask(self, command, kind):
        def answered(answer, error):
            if answer is None:
                say(*(("refused",) if error else ("unknown",)), id=command["id"], **({"code": error["code"]} if error else {}))
            else:
                say("done", id=command["id"], **({"offset": answer["offset"]} if "offset" in answer else {}))
        fields = {"channel": command["channel"]}
        if self.state == "live":
            self.request(kind, answered, **fields)
        else:
            self.repeatable.append((kind, fields, answered))

    def do_clear(self, command):
        self.ask(command, "clear")

    def do_undoClear(self, command):
        self.ask(command, "undoClear")

    def do_barrier(self, command):
        self.ask(command, "barrier")

    def do_board(self, command):
        say("board", id=command["id"], channel=command["channel"], records=self.channels[command["channel"]].board())

    def do_joinTopic(self, command):
        self.enter(command, self.topics, self.join_topic)

    def do_subscribeTopic(self, command):
        self.enter(command, self.selections, self.select)

    def enter(self, command, places, then):
        place = (command["channel"], command["topic"])
        self.stream, places[place] = command["channel"], None
        if self.state == "live":
            self.join(command["channel"])
            then(place)

    def do_packet(self, command):
        flow = self.topics.get((command["channel"], command["topic"]))
        if self.state == "live" and flow is not None:
            flags, body = encode_packet(flow, base64.b64decode(command["payload"]), command.get("slot"))
            self.send("publishPacket", body, flags)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fault", help=argparse.SUPPRESS,
                        choices=("resend-new-number", "drop-deliver", "ignore-cleared", "seen-off-by-one"))
    Client(parser.parse_args().fault).run()


if __name__ == "__main__":
    main()
