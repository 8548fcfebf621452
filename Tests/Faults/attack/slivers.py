"""slivers: a byte each of a thousand frames, and then large ones, which together are too much.

Nobody of them has a key. Each one that was closed closed the next, in a call within a call, until the stack was full. Of an innocent's
frame that has not come whole nothing goes.
"""

from raw import Ended, Link, message, publish
from stage import ATTACKER

SLIVERS, LARGE, LARGE_BYTES = 1_500, 40, 32_000  # beyond a 64th of the memory
STAGE = {"bounds_memory": True}


def attack(stage):
    innocent = stage.link(address="203.0.113.9")
    whole = publish(1, "slow line", bytes(30_000))
    innocent.socket.sendall(message(whole)[:20_000])
    slivers = [Link(stage.relay.port) for _ in range(SLIVERS)]
    with stage.window():
        for link in slivers:
            link.socket.sendall(b"\0")
        stage.settle(1)
        large = stage.links(4 * LARGE if stage.is_long else LARGE, ATTACKER)
        part = message(publish(1, "c", bytes(LARGE_BYTES)))[:-1]
        for link in large:
            link.socket.sendall(part)
        stage.settle()
    stage.figures["bytes that have not come whole"] = stage.watch.look()["census"]["unfinishedBytes"]
    stage.at_most("bytes that have not come whole", stage.figures["bytes that have not come whole"], stage.memory // 64)
    try:
        innocent.socket.sendall(message(whole)[20_000:])
        told = innocent.until("accepted", "error")[0]
    except (Ended, OSError) as problem:
        told = str(problem)
    stage.exactly("what an innocent's frame comes to that came slowly", told, "accepted")
    for link in slivers + large + [innocent]:
        link.close()
