"""held: requests that wait for their turn, and between them large frames that pass at once.

What waits is counted and bounded. What had passed was held behind it as long as anything waited.
"""

import time

from raw import frame, json_body, publish

LINKS, SECONDS = 25, 1.5
FILLER = "x" * 4_000  # a byte of a request counts 16 [DL12]
STAGE = {"bounds_memory": True}


def attack(stage):
    links = stage.links(4 * LINKS if stage.is_long else LINKS)
    slow = frame("who", json_body({"id": 7, "kind": "message", "channel": "none", "filler": FILLER}))
    packed = links[0].pack([slow, publish(1, "none", bytes(70_000))] * 4)
    waiting = {link: b"" for link in links}
    with stage.window():
        end = time.monotonic() + SECONDS * (6 if stage.is_long else 1)
        for link in links:
            link.socket.setblocking(False)
        while time.monotonic() < end:
            for link in links:
                flood(link, waiting, packed)
            time.sleep(0.001)
        stage.settle(1)
    stage.figures["frames that had to wait"] = stage.watch.look()["census"]["framesHeld"]
    for link in links:
        link.close()
    stage.grown_in_account()


def flood(link, waiting, packed):
    """What its socket takes, again and again."""
    try:
        rest = waiting[link] or packed
        waiting[link] = rest[link.socket.send(rest):]
    except BlockingIOError:
        pass
    except OSError:  # it was closed
        waiting[link] = b""
    try:
        link.socket.recv(1 << 18)
    except OSError:
        pass
