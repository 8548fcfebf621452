"""authors: change sets of 4,096 keys that others wrote, whose authors the relay has to read.

Each key was a question, and each answer a turn of its own. What is stored for others meanwhile takes turns with it.
"""

import time

from board_reads import changes, fill
from raw import encode_changes, frame, publish, relay_client

RECORDS = 9_000  # more than the relay reads authors of at once
SETS, PARTS, CHANGES, BURST = 3, 64, 64, 58  # of one user's rate
STAGE = {"bounds_memory": True}
WAITING_MAX = 10


def attack(stage):
    fill(stage, RECORDS * (4 if stage.is_long else 1))
    links = stage.links(SETS * (4 if stage.is_long else 1))

    def parts(first, last):
        for number in range(first, last):
            keys = [(key, b"y") for key, _ in changes(0, 0)] if number == PARTS else [
                (f"new {number} {at}", b"y") for at in range(CHANGES)]
            yield frame("publishChanges", encode_changes(number, "tiny", (number, PARTS), keys))

    with stage.window():
        for link in links:
            link.write(*parts(1, BURST + 1))
        time.sleep(0.2)
        for link in links:
            link.write(*parts(BURST + 1, PARTS + 1))
            link.write(publish(PARTS + 1, "own", b"x", key=link.user, extra=relay_client.RETAIN))
        for link in links:
            link.answered(PARTS + 1)
        stage.settle(1)
    stage.figures["sets that were refused, since others wrote one of the keys"] = sum(link.codes["notPermitted"] for link in links)
    stage.exactly("sets that were refused", sum(link.codes["notPermitted"] for link in links), len(links))
    for link in links:
        link.close()
    stage.grown_in_account()
