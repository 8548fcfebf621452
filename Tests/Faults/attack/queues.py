"""queues: readers that take nothing of whole drawings."""

import time

from raw import publish, request
from stage import told_codes

DRAWING, READERS = bytes(32_000), 40
STAGE = {"bounds_memory": True}


def attack(stage):
    readers, writers = stage.links(READERS), stage.links(10 if stage.is_long else 4)
    for link in readers:
        link.write(request("subscribe", 2, channel="crowd", features=["messages"]))
        link.answered(1)
    with stage.window():
        for number in range(1, 301 if stage.is_long else 61):
            for link in writers:
                link.write(publish(number, "crowd", DRAWING))
            for link in writers:
                link.answered(1)
            time.sleep(1 / 50)  # of one user's rate
        census = stage.watch.look()["census"]
    stage.figures["slow readers that were closed"] = census["counters"]["closes"].get("slowConsumer", 0)
    told_codes(stage, [link.codes for link in writers])
    stage.grown_in_account()
    for link in readers + writers:
        link.close()
