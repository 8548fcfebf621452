"""H4: a reader begins a board of tiny records anew 380 times.

Only the last of its reads is wanted. What is stored for others meanwhile takes turns with it: no editor is refused, and no more records
wait than without the attack. What the reads hold is within the queue of one reader.
"""

import string
import time

from raw import Ended, encode_changes, frame, publish, relay_client, request, reset
from stage import MIB

CHANGES, PARTS_PER_SECOND = 64, 55  # in one part, and of one user's rate
WRITERS, SUBSCRIBES, SECONDS = 20, 380, 0.7
LETTERS = string.digits + string.ascii_letters
WAITING_MAX = 10  # of one who writes 5 a second


def attack(stage):
    fill(stage, 600_000 if stage.is_long else 60_000)
    filled, link = stage.grown(), stage.link()
    with stage.window():
        for number in range(SUBSCRIBES):
            link.write(request("subscribe", 2 + number, channel="tiny", features=["messages"], since={"beginning": True}))
            time.sleep(SECONDS / SUBSCRIBES)  # each begins a read before the next one comes
        editor(stage)
        deadline = time.monotonic() + 60
        try:
            while time.monotonic() < deadline and not link.until("caughtUp"):
                pass
        except Ended as ended:
            stage.exactly("the reader is cut off", str(ended), "not at all")
    stage.figures["MiB that the reader got"] = round(link.bytes / MIB, 1)
    reset(link)
    stage.at_most("bytes of memory beside an idle relay, and its records in a file", stage.grown() - filled, 32 * MIB)


def fill(stage, records):
    """A board whose records have one byte each; how many there are."""
    links, each, accepted = stage.links(WRITERS), records // WRITERS // CHANGES, 0
    for first in range(0, each, PARTS_PER_SECOND):
        for index, link in enumerate(links):
            link.write(*(frame("publishChanges", encode_changes(1 + part, "tiny", (1, 1), changes(index, part)))
                         for part in range(first, min(each, first + PARTS_PER_SECOND))))
        for link in links:
            parts = min(each, first + PARTS_PER_SECOND) - first
            accepted += parts - link.answered(parts)
        if each > PARTS_PER_SECOND:
            time.sleep(1)
    for link in links:
        link.write(request("barrier", 2))
        link.answered(1)
        link.close()
    deadline = time.monotonic() + 60
    while stage.watch.look()["census"]["boardRecords"] < accepted * CHANGES and time.monotonic() < deadline:
        time.sleep(0.1)  # they are on their way to the board's file
    stage.figures["records of the board"] = stage.watch.last["census"]["boardRecords"]
    return accepted * CHANGES


def changes(writer, part):
    """Keys as short as they can be: what a block holds was counted by what stands in its records."""
    for number in range(part * CHANGES * WRITERS + writer * CHANGES, part * CHANGES * WRITERS + (writer + 1) * CHANGES):
        key = ""
        while number or not key:
            number, digit = divmod(number, len(LETTERS))
            key += LETTERS[digit]
        yield key, b"x"


def editor(stage):
    """Somebody draws on the same board meanwhile."""
    link = stage.link(address="203.0.113.9")
    link.write(*(publish(1 + n, "tiny", b"ink", key=f"ink {n}", extra=relay_client.RETAIN) for n in range(30)))
    for _ in range(30):
        if link.until("stored", "error", "notStored")[0] != "stored":
            break
    stage.exactly(f"refusals of an editor of that board {dict(link.codes) or ''}", link.codes.total(), 0)
    link.close()
