"""H5: one address logs in under new user ids, until the relay forgets whose the id of an absent user is.

New ids of an address have a rate. With --long it is as many as the relay remembers: hers, which owns a record, is not among those that
it forgets; nobody else gets it, and her record is as it was.
"""

import random

from raw import Ended, Link, publish, relay_client, request
from stage import ATTACKER, KEYS

IDS, IDS_LONG = 3_000, 100_200
TOGETHER = 100
ABSENT, RECORD = "absent anna", b"by anna"


def attack(stage):
    draw(stage)
    count, taken = IDS_LONG if stage.is_long else IDS, 0
    with stage.window():
        for _ in range(0, count, TOGETHER):
            taken += sum(come_and_go(stage))
    stage.figures["new ids that one address got"] = taken
    stage.at_most(f"new ids of {count:,} that one address got at once", taken, count // 2)
    link = Link(stage.relay.port, ATTACKER)
    link.login(ABSENT, stage.dice, KEYS["join"])
    try:
        name, _, _ = link.until("welcome", "error")
    except Ended as ended:
        name = str(ended)
    if name == "welcome":
        link.write(publish(1, "hers", b"by another", key="k", extra=relay_client.RETAIN))
        link.until("stored", "error")
    stage.exactly("logins of another under an absent user's id", int(name == "welcome"), 0)
    link.close()
    stage.exactly("her record", record(stage).decode(), RECORD.decode())


def draw(stage):
    """She writes a record, and leaves."""
    link = stage.link(ABSENT, address="203.0.113.7")
    link.write(publish(1, "hers", RECORD, key="k", extra=relay_client.RETAIN))
    link.until("stored")
    link.write(request("logout", 2))
    link.until("closing")
    link.close()


def come_and_go(stage):
    """Logs in and out side by side; whether each got its id."""
    links = []
    for _ in range(TOGETHER):
        link = Link(stage.relay.port, ATTACKER)
        link.write(request("login", 1, versions=[1], user=stage.name(), instance=f"{stage.dice.getrandbits(64):016x}",
                           secret=f"{stage.dice.getrandbits(128):032x}", key=KEYS["join"]), request("logout", 2))
        links.append(link)
    for link in links:
        try:
            yield link.until("welcome", "error")[0] == "welcome"
        except (Ended, OSError):
            yield False
        link.close()


def record(stage):
    """What stands on her board, as somebody else reads it."""
    link = Link(stage.relay.port, "203.0.113.9")
    link.login("reader", random.Random(1), KEYS["host"])
    link.until("welcome")
    link.write(request("subscribe", 2, channel="hers", features=["messages"], since={"beginning": True}))
    _, _, body = link.until("deliver")
    link.close()
    return body[24 + 1 + body[24]:]
