"""authors: change sets of 4,096 keys that others wrote, whose authors the relay has to read.

Each set is refused as a whole, once, and nothing else is. What is stored for others meanwhile takes turns with the reading. (Each key was
a question, and each answer a turn of its own: `ChangeSetTests` counts the questions.)
"""

import json
import struct

from board_reads import WRITERS, changes, fill
from raw import encode_changes, frame, publish, relay_client

RECORDS = 9_000  # more than the relay reads authors of at once
SETS, PARTS, BURST = 3, 64, 58  # of one user's rate
STAGE = {"bounds_memory": True}
WAITING_MAX = 10


def attack(stage):
    fill(stage, RECORDS * (4 if stage.is_long else 1))
    links = stage.links(SETS * (4 if stage.is_long else 1))

    def parts(first, last):
        for number in range(first, last):
            keys = [(key, b"y") for key, _ in changes(number % WRITERS, number // WRITERS)]
            yield frame("publishChanges", encode_changes(number, "tiny", (number, PARTS), keys))

    with stage.window():
        for link in links:
            link.write(*parts(1, BURST + 1))
        for link in links:
            wait_for_credit(link, BURST, PARTS - BURST)
            link.write(*parts(BURST + 1, PARTS + 1))
            link.write(publish(PARTS + 1, "own", b"x", key=link.user, extra=relay_client.RETAIN))
        for link in links:
            link.answered(PARTS - BURST + 1)
        stage.settle(1)
    stage.exactly("sets that were refused, since others wrote their keys", sum(link.codes["notPermitted"] for link in links), len(links))
    stage.exactly("what else was refused", sum(link.codes.total() for link in links), len(links))
    for link in links:
        link.close()
    stage.grown_in_account()


def wait_for_credit(link, sent, more):
    """Until all that was sent is accepted, and the relay takes so many more. [RT8]"""
    credit = 0
    for _ in range(sent):
        credit, = struct.unpack_from(">I", link.until("accepted")[2], 16)
    while credit < more:
        credit = json.loads(link.until("credit")[2])["credit"]
