"""leases: who holds many locks comes and goes, and each time the clocks of all of them begin anew.

A clock that was over stood in the table for 300 s: with 12,500 locks a minute of it filled the memory.
"""

import random

from raw import Link, request, reset
from stage import ATTACKER, KEYS

CHANNELS, LOCKS, TTL_MS = 6, 32, 300_000
TIMES, AWAY_MS = 150, 300_000
DEADLINES_MAX = 10_000  # twice those that count, and some


def attack(stage):
    user = stage.name()

    def come():
        link = Link(stage.relay.port, ATTACKER)
        link.login(user, random.Random(stage.seed), KEYS["join"], presenceTimeoutMs=AWAY_MS)
        link.must_be_in()
        return link

    link = come()
    held = [{"kind": "message", "channel": f"c{channel}", "lock": f"l{lock}"} for channel in range(CHANNELS) for lock in range(LOCKS)]
    link.write(*(request("setLock", 2 + 2 * n, ttlMs=TTL_MS, **one) for n, one in enumerate(held)),
               *(request("acquireLock", 3 + 2 * n, **one) for n, one in enumerate(held)))  # its burst of requests [RT6]
    link.answered(2 * len(held))
    with stage.window():
        for _ in range(TIMES * (5 if stage.is_long else 1)):
            reset(link)
            link = come()
        census = stage.watch.look()["census"]
    stage.figures["locks, deadlines"] = [census["locks"], census["deadlines"]]
    stage.at_least("locks that it held", census["locks"], CHANNELS * LOCKS)
    stage.at_most("deadlines that they left", census["deadlines"], DEADLINES_MAX)
    link.close()
