"""catchers: readers of a board of tiny records who take nothing of it.

A block on its way to each of them took ten times what its records count, and was not counted as memory. Whoever reads elsewhere, and
who reads from the same address, gets all of the board.
"""

import socket

from board_reads import fill
from raw import request
from stage import ATTACKER

RECORDS, READERS = 9_000, 200
SMALL_WINDOW = 4_096  # of a socket, so that little waits in the system
STAGE = {"bounds_memory": True}


def attack(stage):
    records = fill(stage, RECORDS)
    readers = stage.links(4 * READERS if stage.is_long else READERS, ATTACKER)
    with stage.window():
        for link in readers:
            link.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_WINDOW)
            begin(link)
        stage.settle()
        held = stage.watch.look()["census"]["blockMemoryBytes"]
        for who, address in (("elsewhere", "203.0.113.9"), ("at the same address", ATTACKER)):
            link = stage.link(address=address)
            begin(link)
            stage.exactly(f"records that a reader {who} gets", count(link), records)
            link.close()
    stage.figures["bytes of blocks on their way"] = held
    # Whoever is the last to wait keeps its block.
    stage.at_least("bytes of blocks on their way, as they are counted", held, 1)
    stage.at_most("bytes of blocks on their way", held, stage.memory // 64)
    for link in readers:
        link.close()
    stage.grown_in_account()


def begin(link):
    """Wants all of the board."""
    link.write(request("subscribe", 2, channel="tiny", features=["messages"], since={"beginning": True}))


def count(link):
    """How many records come before the relay says that all have."""
    found = 0
    while link.until("deliver", "caughtUp")[0] == "deliver":
        found += 1
    return found
