"""One filler for each bound of the share table (docs/operations.md, Memory): a participant with a key, from many addresses.

A filler goes on until what its bound counts no longer grows, and leaves it there. Where an attack does the same, it is that attack.
"""

import contextlib
import socket
import subprocess
import time
from dataclasses import dataclass, field

import catchers
import frames
import metadata
import queues
import selections
import states
from raw import Ended, encode_changes, frame, publish, relay_client, request, texts
from stage import MIB

PART = 64  # the table's shares are multiples of a 64th
RETAIN = relay_client.RETAIN
QUICK = ("--message-rate", "100000")  # what would take minutes by one user's rate takes seconds
ROUNDS_WITHOUT_GROWTH = 3
SMALL_WINDOW = 4_096  # of a socket, so that little waits in the system
KEY = "k" * 55
WINDOW = 256  # numbers that are remembered of a client object [MS9]
LINGER_SECONDS = 2.5  # behind its end a session is known for 2 s more
AWAY_MS = 300_000  # sessions that nobody hears of stay so long


@dataclass
class Fill:
    """What fills a bound. `parts`: of the memory, in 64ths; `told`: the figure of the account; `options`: of `serve`."""
    what: str
    parts: float
    told: str
    run: object
    options: tuple = field(default=())


def held_of(stage, told):
    """A figure of the account at this moment, in bytes."""
    status = stage.watch.look()
    return {**status["census"], **status.get("journal", {})}[told]


def until_full(stage, told, bound, step):
    """Takes steps until the bound is reached, or no step changes anything."""
    most, idle, number = 0, 0, 0
    while most < bound * 0.98 and idle < ROUNDS_WITHOUT_GROWTH:
        step(number)
        number += 1
        now = held_of(stage, told)
        idle = 0 if now > most else idle + 1
        most = max(most, now)


def small(links):
    """Their sockets take little of what they are sent."""
    for link in links:
        link.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_WINDOW)
    return links


def answered(links, count):
    """Reads the answers of all that are still there."""
    for link in links:
        with contextlib.suppress(Ended, OSError):
            link.answered(count)


# -- sessions --------------------------------------------------------------------------------------------------------------

def stays(stage, bound):
    """Sessions that are in as many channels as they may, and have nothing there."""
    channels = [f"c{number}" for number in range(50)]

    def step(_):
        links = stage.links(100, presenceTimeoutMs=AWAY_MS)
        for link in links:
            link.write(*(request("subscribe", 2 + n, channel=name, features=["messages"]) for n, name in enumerate(channels)),
                       *(request("join", 60 + n, channel=f"s{n // 2 % 40}" if n % 2 else name, features=[])
                         for n, name in enumerate(channels)))
        answered(links, 2 * len(channels))
        kept.extend(links)

    kept = []
    until_full(stage, "sessionMemoryBytes", bound, step)


# -- queues ----------------------------------------------------------------------------------------------------------------

def slivers(stage, bound):
    """Readers of many channels that take nothing of messages of one byte, which come to the channels in turn."""
    channels, readers, writers = [f"c{number}" for number in range(48)], small(stage.links(bound * 5 // 2 // MIB)), stage.links(8)
    for link in readers:
        link.write(*(request("subscribe", 2 + n, channel=name, features=["messages"]) for n, name in enumerate(channels)))
    answered(readers, len(channels))

    def step(_):
        for _ in range(10):
            for link in writers:
                link.write(*(publish(1 + step.sent + n, name, b"x") for n, name in enumerate(channels)))
            step.sent += len(channels)
            answered(writers, len(channels))

    step.sent = 0
    until_full(stage, "queueMemoryBytes", bound, step)


# -- what channels keep ------------------------------------------------------------------------------------------------------

def history(stage, bound):
    """Messages of one byte, as many as channels keep."""
    links, burst = stage.links(40), 100

    def step(number):
        for index, link in enumerate(links):
            link.write(*(publish(1 + number * burst + n, f"mine {index} {n % 40}", b"x") for n in range(burst)))
        answered(links, burst)

    until_full(stage, "historyBytes", bound, step)


def gone(stage, bound):
    """Client objects that have published as often as is remembered, and are gone."""
    def step(_):
        links = stage.links(20)  # what those have that are still there counts, too
        packed = links[0].pack([publish(1 + n, "gone", b"x") for n in range(WINDOW)])
        for link in links:
            link.socket.sendall(packed)
        answered(links, WINDOW)
        for link in links:
            link.write(request("logout", 2))
            link.close()
        time.sleep(LINGER_SECONDS)

    until_full(stage, "publishMemoryBytes", bound, step)


def more_metadata(stage, bound):
    """Sets of a thousand tiny items, again and again where the disk was too slow for them."""
    metadata.attack(stage)
    halves = [[(f"{number:03}", b"") for number in range(first, first + 500)] for first in (0, 500)]

    def step(number):
        links = stage.links(30)
        for index, link in enumerate(links):
            link.write(*(texts("setMetadata", 2 + 2 * n + half, items, kind="message", channel=f"more {number} {index} {n}")
                         for n in range(5) for half, items in enumerate(halves)))
        answered(links, 10)
        for link in links:
            link.close()

    until_full(stage, "metadataBytes", bound, step)


# -- boards ------------------------------------------------------------------------------------------------------------------

def draw(stage, links, board, first, parts, key=str):
    """So many parts of 64 records of one byte from each link, with keys that nobody has."""
    for index, link in enumerate(links):
        start = first + index * parts * 64
        link.write(*(frame("publishChanges", encode_changes(link.number + part, board, (1, 1),
                                                            ((key(start + part * 64 + n), b"x") for n in range(64))))
                     for part in range(parts)))
        link.number += parts
    answered(links, parts)


def writers(stage, count):
    """Links that count what they publish."""
    links = stage.links(count)
    for link in links:
        link.number = 1
    return links


def stored(links):
    """All that was accepted is durable."""
    for link in links:
        with contextlib.suppress(Ended, OSError):
            link.write(request("barrier", 2))
            link.answered(1)


def board_of(stage, links, board, records, key=str):
    """A board of so many tiny records, or as many as it takes; what was too fast for the disk is sent again."""
    refused, first = 0, 0
    while first < records and refused < 20:
        before = sum(link.codes.total() for link in links)
        draw(stage, links, board, first, 8, key)
        stored(links)
        refused += sum(link.codes.total() for link in links) > before
        first += len(links) * 8 * 64


def indexes(stage, bound):
    """Boards of records of one byte, as many as are remembered at once."""
    links, records = writers(stage, 16), min(500_000, bound // 256)
    until_full(stage, "boardIndexBytes", bound, lambda number: board_of(stage, links, f"board {number}", records, short))


def short(number):
    """A key as short as it can be."""
    letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    text = letters[number % 62]
    while number := number // 62:
        text += letters[number % 62]
    return text


def authors(stage, bound):
    """Boards with long keys, on each of which somebody draws who may take away nothing of others'."""
    links, keys = writers(stage, 8), min(20_000, bound // 256) * 9 // 10

    def step(number):
        board_of(stage, links, f"board {number}", keys, lambda n: f"{n:06}{KEY}")
        guest = stage.link()
        guest.write(publish(1, f"board {number}", b"x", key="mine", extra=RETAIN))
        guest.answered(1)
        guest.close()

    until_full(stage, "authorMemoryBytes", bound, step)


def staged(stage, bound):
    """Parts as large as they may be, whose last part never comes."""
    parts_without_end(stage, bound, 200, bytes(32_000))


def staged_slivers(stage, bound):
    """Parts of one tiny change each, whose last part never comes."""
    parts_without_end(stage, bound, 4_000, b"x")


def parts_without_end(stage, bound, parts, payload):
    """So many from each of twenty links, and twenty more."""
    def step(_):
        links = stage.links(20, presenceTimeoutMs=AWAY_MS)
        for first in range(1, parts, 100):
            packed = links[0].pack([frame("publishChanges", encode_changes(part, "staged", (part, 65_535), [("k", payload)]))
                                    for part in range(first, first + 100)])
            for link in links:
                with contextlib.suppress(OSError):
                    link.socket.sendall(packed)
            answered(links, 100)

    until_full(stage, "stagedBytes", bound, step)


# -- what waits --------------------------------------------------------------------------------------------------------------

def disk(stage, bound):
    """Tiny changes of metadata, while each sync of the disk takes a second."""
    links = stage.links(200)
    words = ["strace", "-f", "-qq", "-o", "/dev/null", "-p", str(stage.relay.pid), "-e", "trace=fdatasync,fsync",
             "-e", "inject=fdatasync,fsync:delay_enter=1s"]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as tracer:
        try:
            time.sleep(1)

            def step(number):
                for index, link in enumerate(links):
                    link.write(*(texts("setMetadata", 2 + 40 * number + n, [("k", b"x")], kind="message", channel=f"c {index} {n % 10}")
                                 for n in range(40)))

            until_full(stage, "changesUnjournaledBytes", bound, step)
        finally:
            tracer.terminate()


def waiting(stage, bound):
    """Requests of readers that take nothing, behind more than a mebibyte of drawings."""
    # As many as fit into the share of queues with what a request waits behind.
    links = small([link for number in range(8) for link in stage.links(max(1, bound * 12 // MIB // 8), f"198.51.99.{number}")])
    names = {link.user for link in links}
    for link in links:
        link.write(request("subscribe", 2, channel="loud", features=["messages"]))
    answered(links, 1)
    writer, number = stage.link(), 0
    while min(one["queuedBytes"] for one in stage.watch.look()["census"]["sessions"] if one["user"] in names) < 1.05 * MIB:
        number += 1
        writer.write(publish(number, "loud", bytes(32_000)))
        writer.answered(1)
        time.sleep(1 / 60)  # of one user's rate
    frames_of_all = [request("getMetadata", 3 + n, kind="message", channel="c" * 60) for n in range(1_400)]

    def step(_):
        for link in links:
            with contextlib.suppress(OSError):
                link.socket.settimeout(0.2)
                link.write(*frames_of_all)
        stage.settle()

    until_full(stage, "heldBytes", bound, step)


def of(attack):
    """An attack as a filler."""
    return lambda stage, bound: attack.attack(stage)


FILLS = {
    "stays": Fill("sessions and their stays", 8, "sessionMemoryBytes", stays),
    "selections": Fill("sessions: users selected in topics", 8, "sessionMemoryBytes", of(selections)),
    "states": Fill("sessions: states", 8, "sessionMemoryBytes", of(states)),
    "metadata": Fill("metadata: tiny items", 16, "metadataBytes", more_metadata),
    "queues": Fill("queues: whole drawings", 16, "queueMemoryBytes", of(queues)),
    "slivers": Fill("queues: slivers of many channels", 16, "queueMemoryBytes", slivers),
    "history": Fill("history: messages of one byte", 8, "historyBytes", history, ("--max-channels", "20000")),
    "indexes": Fill("where records stand: records of one byte", 8, "boardIndexBytes", indexes, QUICK),
    "gone": Fill("publishes of client objects that are gone", 0.5, "publishMemoryBytes", gone, QUICK),
    "authors": Fill("authors of boards' keys", 0.5, "authorMemoryBytes", authors, QUICK),
    "staged": Fill("parts of change sets: as large as may be", 3, "stagedBytes", staged, QUICK),
    "staged-slivers": Fill("parts of change sets: one tiny change each", 3, "stagedBytes", staged_slivers, QUICK),
    "blocks": Fill("blocks of boards on their way to readers", 1, "blockMemoryBytes", of(catchers)),
    "held": Fill("frames that wait for a turn", 1, "heldBytes", waiting),
    "partial": Fill("frames that have not come whole", 1, "unfinishedBytes", of(frames)),
    "disk": Fill("changes that wait for the disk", 1, "changesUnjournaledBytes", disk, ("--metadata-rate", "1000")),
}
