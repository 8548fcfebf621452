#!/usr/bin/env python3
"""10,000 connections of garbage, and 500 that send one byte every five seconds, while 30 users draw: among the 30 nothing
is lost, refused or ended, and nobody is seen to leave. [SE4, SE5, FR5, HT1, HT3, WS5]

Users log in with a key, from the same address as the garbage, every other one on a WebSocket. Each sends messages and packets that are
numbered, and judges what comes of all others. The garbage has a process of its own: relay frames, HTTP and WebSockets that are none, or end
in the middle. Each piece has its answer, unless it was turned away because too many others held the line.

    python3 Tests/Faults/flood.py [--garbage 10000] [--slow 500] [--users 30] [--seconds 20]
"""

import argparse
import asyncio
import collections
import json
import multiprocessing
import os
import pathlib
import random
import resource
import struct
import sys
import tempfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from daemon import Daemon, find_binary, relay_client  # noqa: E402

import links  # noqa: E402  (of Tests/Interop, to which relay_client has shown the way)

# The relay ends each piece of garbage after 10 s at the latest. On a busy machine it is later.
PATIENCE = 40
MESSAGES_PER_SECOND = 1
PACKETS_PER_SECOND = 4
UPGRADE = b"GET /ws HTTP/1.1\r\nHost: localhost:PORT\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" \
          b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

# What is sent, and how the relay may answer: the name of a `closing`, a status of HTTP, the code of a WebSocket's close.
GARBAGE = [
    (b"", "loginTimeout"), (b"\x00", "loginTimeout"), (b"\x00\x00\x00", "loginTimeout"),
    (b"\x00\x00\x00\x06\x01\x00{\"i\"", "loginTimeout"),
    (b"\x00\x00\x0f\x00\x01\x00" + b" " * 2000, "loginTimeout"), (b"\x00\x00\x00\x01\x01", "protocolError"),
    (b"\x00\xff\xff\xff\x01\x00", "frameTooLarge"),
    (b"\x00\x00\x00\x02\x10\x00" * 50, "loginTimeout"), (b"\x00\x00\x00\x02\x10\x00" * 3000, "frameTooLarge"),
    (b"GET / HTTP/1.1\r\nHost: board\r\n\r\n", "421"), (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "400"), (b"\xff" * 4096, "400"),
    (b"SSH-2.0-OpenSSH_9.6\r\n", "400"), (b"GET /" + b"x" * 9000, "414"), (b"POST / HTTP/1.1\r\n", "405"),
    (b"GET /relay-client.js HTT", "408"),
    (UPGRADE + b"\x82\x04GET ", "1002"), (UPGRADE + b"\x82\x84\x00\x00\x00\x00GET ", "notRelayProtocol"),
    (UPGRADE + b"\x82\x84\x00\x00\x00\x00\x00\x00", "loginTimeout"),
    (UPGRADE, "loginTimeout"),
]
# Of who has not logged in the relay keeps 2,000; those that have begun a request are closed without a word.
TURNED_AWAY = ("tooManyConnections", "nothing")


def outcome(data):
    """How it was answered."""
    if data.startswith(b"HTTP/1.1 101"):
        data = data.partition(b"\r\n\r\n")[2]
        code = data[-2:] if data[-4:-2] == b"\x88\x02" else data[data.rfind(b"\x88") + 2:][:2]
        code = int.from_bytes(code, "big")
        return relay_client.CODES.get(code - 4000, str(code)) if data else "nothing"
    if data.startswith(b"HTTP/1.1 "):
        return data[9:12].decode()
    closing = [body for kind, _, body in relay_client.Splitter().feed(data) if relay_client.FRAME_NAMES.get(kind) == "closing"]
    return json.loads(closing[-1])["name"] if closing else "nothing"


async def garbage(port, count, slow, seconds, seed):
    """Opens them all as fast as it goes, and holds each until the relay ends it. Slow ones begin anew until the time is over."""
    dice = random.Random(seed)
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    opened = ended = refused = 0
    answers, faults = collections.Counter(), collections.Counter()
    limit = asyncio.Semaphore(1000)  # connects under way

    async def read_all(reader):
        data = b""
        try:
            while part := await reader.read(1 << 16):
                data += part
        except OSError:
            return None if not data else data  # we had sent more than it took
        return data

    def judge(content, wanted, data):
        got = "nothing" if data is None else outcome(data)
        answers[got] += 1
        if got not in (wanted, *TURNED_AWAY):
            faults[f"{content[:24]!r} was answered by {got}, not {wanted}"] += 1

    async def one(content, pace, wanted):
        nonlocal opened, ended, refused
        try:
            async with limit:
                reader, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 10)
        except (OSError, asyncio.TimeoutError):
            refused += 1
            return
        opened += 1
        try:
            if pace is None:
                writer.write(content.replace(b"PORT", str(port).encode()))
            closing = asyncio.ensure_future(read_all(reader))
            until = end if pace is not None else loop.time() + PATIENCE
            while loop.time() < until and not closing.done():
                if pace is not None:
                    writer.write(b"\x00")
                await asyncio.wait([closing], timeout=pace or 1)
            if closing.done():
                ended += 1
                judge(content, wanted, closing.result())
            else:
                closing.cancel()
        except OSError:
            ended += 1
        finally:
            writer.close()

    async def slow_one():
        while loop.time() < end:
            await one(b"", 5, "loginTimeout")
            await asyncio.sleep(0.1)

    slow_ones = [asyncio.ensure_future(slow_one()) for _ in range(slow)]
    pieces = [GARBAGE[n % len(GARBAGE)] for n in range(count)]
    dice.shuffle(pieces)
    await asyncio.gather(*(one(content, None, wanted) for content, wanted in pieces))
    await asyncio.gather(*slow_ones)
    return {"opened": opened, "ended": ended, "refused": refused, "answers": answers, "faults": faults}


def garbage_process(pipe, *arguments):
    pipe.send(asyncio.run(garbage(*arguments)))


class User:
    """Sends what is numbered, and judges what comes of the others."""

    def __init__(self, name, key, seed, is_on_websocket):
        self.name, self.key, self.is_on_websocket = name, key, is_on_websocket
        self.dice = random.Random(seed)
        self.number = self.request = 0
        self.messages, self.packets = {}, {}
        self.names, self.flows, self.own_flow = {}, {}, None
        self.faults, self.sent = [], [0, 0]
        self.is_settled = False

    async def enter(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        self.link = links.TCPLink()
        if self.is_on_websocket:
            self.writer.write(UPGRADE.replace(b"PORT", str(port).encode()))
            head = await self.reader.readuntil(b"\r\n\r\n")
            if links.parse_head(head)[0] != 101:
                raise SystemExit(f"{self.name} cannot come in: {head}")
            self.link = links.WebSocketLink(self.dice)
        self.splitter = relay_client.Splitter()
        self.ask("login", versions=[1], user=self.name, instance=f"{self.dice.getrandbits(64):016x}",
                 secret=f"{self.dice.getrandbits(128):032x}", key=self.key)
        await self.until(lambda event: event.name == "welcome")
        self.ask("subscribe", channel="lesson")
        self.ask("join", channel="lesson")
        self.ask("subscribeTopic", channel="lesson", topic="points")
        self.ask("joinTopic", channel="lesson", topic="points")
        answer = await self.until(lambda event: event.name == "answer" and event.get("flow") is not None)
        self.own_flow = answer["flow"]

    def ask(self, name, **fields):
        self.request += 1
        self.send(name, 0, relay_client.json_body({"id": self.request, **fields}))

    def send(self, name, flags, body):
        self.writer.write(self.link.encode(relay_client.frame(name, body, flags)))

    async def until(self, wanted):
        while True:
            for event in await self.read():
                if event.name in ("error", "closing"):
                    raise SystemExit(f"{self.name} cannot come in: {event}")
                self.note(event)
                if wanted(event):
                    return event

    async def read(self):
        data = await self.reader.read(1 << 18)
        if not data:
            self.faults.append("the link has ended")
            return []
        events = [relay_client.decode(*parts) for message in self.link.decode(data) for parts in self.splitter.feed(message)]
        if answers := self.link.answers():
            self.writer.write(answers)
        return events

    def note(self, event):
        if event.name == "userNamed":
            self.names[event["handle"]] = event["user"]
        elif event.name == "deliver":
            self.follow(self.messages, event["publisher"], event["payload"])
        elif event.name == "flowOpened":
            self.flows[event["flow"]] = event["user"]
        elif event.name == "packet":
            self.follow(self.packets, event["flow"], event["payload"])
        elif event.name in ("error", "closing", "lost", "packetsDropped", "gap", "reset"):
            self.faults.append(f"{event}")
        elif event.name == "presence" and self.is_settled and event["event"] != "snapshot":
            self.faults.append(f"{event}")
        elif event.name == "ping":
            self.send("pong", 0, b"")

    def follow(self, seen, sender, payload):
        number = struct.unpack(">Q", payload[:8])[0]
        if number != seen.get(sender, number - 1) + 1:
            self.faults.append(f"{number} of {sender} after {seen.get(sender)}")
        seen[sender] = number

    async def listen(self):
        while not self.faults:
            for event in await self.read():
                self.note(event)

    async def draw(self, end):
        loop = asyncio.get_running_loop()
        step = 0
        while loop.time() < end and not self.faults:
            content = struct.pack(">Q", step) + bytes(100)
            self.send("publishPacket", *relay_client.encode_packet(self.own_flow, content))
            self.sent[1] += 1
            if step % PACKETS_PER_SECOND == 0:
                self.number += 1
                self.send("publish", *relay_client.encode_publish(self.number, "lesson", struct.pack(">Q", self.number) + bytes(500)))
                self.sent[0] += 1
            step += 1
            await asyncio.sleep(self.dice.uniform(0.5, 1.5) * MESSAGES_PER_SECOND / PACKETS_PER_SECOND)


async def lesson(daemon, key, count, seconds, start_garbage):
    users = [User(f"user-{number}", key, number, number % 2 == 1) for number in range(count)]
    for user in users:
        await user.enter(daemon.port)
    await asyncio.sleep(6)  # presence is told by then, in intervals, too
    listening = [asyncio.ensure_future(user.listen()) for user in users]
    await asyncio.sleep(1)
    for user in users:
        user.is_settled = True
    end_of_garbage = start_garbage()
    loop = asyncio.get_running_loop()
    await asyncio.gather(*(user.draw(loop.time() + seconds) for user in users))
    garbage = await loop.run_in_executor(None, end_of_garbage)
    closes = daemon.status()["census"]["counters"]["closes"]
    refusals = await loop.run_in_executor(None, http_refusals, daemon.port)
    await asyncio.sleep(2)
    for task in listening:
        task.cancel()
    faults = [f"{user.name}: {fault}" for user in users for fault in user.faults]
    for user in users:
        missing = sum(1 for other in users if other is not user and user.messages.get(handle_of(user, other.name)) != other.number)
        if missing:
            faults.append(f"{user.name}: of {missing} others the last message has not come")
    return faults, [sum(user.sent[lane] for user in users) for lane in (0, 1)], closes, refusals, garbage


def http_refusals(port):
    """By reason, as `/metrics` tells."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    return {line.split('"')[1]: int(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("boardrelay_http_refusals_total{")}


def judge_garbage(count, closes, refusals, garbage):
    """What is wrong with how the garbage was answered: of both sides' books, too."""
    faults = [f"{times} times {what}" for what, times in garbage["faults"].items()]
    answers = garbage["answers"]
    if garbage["ended"] < count * 3 // 4:
        faults.append(f"there was less garbage than was meant: {garbage}")
    if missing := {wanted for _, wanted in GARBAGE} - set(answers):
        faults.append(f"nothing was answered by {sorted(missing)}")
    told = sum(times for answer, times in answers.items() if answer.isdigit() and int(answer) < 1000)
    if sum(refusals.values()) < told:
        faults.append(f"{told} refusals of HTTP came, the relay tells of {refusals}")
    for name in ("protocolError", "frameTooLarge", "notRelayProtocol", "loginTimeout", "tooManyConnections"):
        if closes.get(name, 0) < answers[name]:
            faults.append(f"{answers[name]} times {name} came, the relay tells of {closes}")
    return faults


def handle_of(user, name):
    return next((handle for handle, known in user.names.items() if known == name), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary")
    parser.add_argument("--garbage", type=int, default=10_000)
    parser.add_argument("--slow", type=int, default=500)
    parser.add_argument("--users", type=int, default=30)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    given = parser.parse_args()
    print(f"seed {given.seed}")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < given.garbage + given.slow + 100:
        raise SystemExit(f"{given.garbage + given.slow} connections want as many descriptors, this machine gives {hard}")
    key = "flood-" + os.urandom(16).hex()
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "join.key").write_text(key + "\n")
        os.chmod(pathlib.Path(folder, "join.key"), 0o600)
        with Daemon(find_binary(given.binary), folder, auth="key") as daemon:

            def start_garbage():
                context = multiprocessing.get_context("spawn")
                ours, theirs = context.Pipe(duplex=False)
                flood = context.Process(target=garbage_process,
                                        args=(theirs, daemon.port, given.garbage, given.slow, given.seconds, given.seed))
                flood.start()
                theirs.close()
                return lambda: (ours.recv(), flood.join())[0]

            faults, sent, closes, refusals, garbage = asyncio.run(lesson(daemon, key, given.users, given.seconds, start_garbage))
            code = daemon.stop()
            if code != 0:
                faults.append(f"the relay has ended with {code}")
            if any(key in line for line in daemon.log):
                faults.append("the key stands in the log")
    print(f"sent {sent[0]} messages and {sent[1]} packets by {given.users} users; the relay closed {closes} and refused {refusals}")
    counts = f"{garbage['opened']} opened, {garbage['ended']} ended, {garbage['refused']} not taken"
    print(f"garbage: {counts}, answered by {dict(garbage['answers'])}")
    faults += judge_garbage(given.garbage, closes, refusals, garbage)
    for fault in faults[:20]:
        print(f"FAIL {fault}")
    print("all came, of all" if not faults else f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
