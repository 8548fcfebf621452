"""keyless: one address behind the proxy opens WebSockets and says nothing more.

It needs no key for it. It gets a quarter of the connections without a login, and whoever comes from elsewhere gets in.
"""

import pathlib

from raw import Link
from stage import ATTACKER, KEYS, what_refuses

LINKS, WITHOUT_LOGIN = 800, 2_000  # of all, as SE5 has it


def attack(stage):
    before, room = stage.watch.look()["census"]["connections"], descriptors_without_growing(stage.relay)
    with stage.window():
        links = [Link(stage.relay.port, ATTACKER) for _ in range(LINKS * (3 if stage.is_long else 1))]
        stage.settle()
        held = stage.watch.look()["census"]["connections"] - before
        stage.exactly("what refuses a newcomer from another address", what_refuses(stage, "203.0.113.9", KEYS["join"]), "nothing")
        stage.exactly("what refuses one of the same address", what_refuses(stage, ATTACKER, KEYS["join"]), "nothing")
    stage.figures["connections held without a key"] = held
    # While Linux enlarges a process' table of descriptors, whoever opens one waits for all processors.
    stage.exactly("descriptors that the relay has room for at once", descriptors_without_growing(stage.relay), room)
    stage.at_most("connections that one address holds without a key", held, WITHOUT_LOGIN // 4)
    for link in links:
        link.close()


def descriptors_without_growing(relay):
    lines = pathlib.Path(f"/proc/{relay.pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("FDSize:"))
