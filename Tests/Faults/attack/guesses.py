"""M3: keys are guessed on fifty connections at a time, and no answer is waited for.

A right key among them comes in at once, so nobody waits for the answer to a wrong one. Each guess is counted, the address is logged, and
further tries of that address are judged late; a right key comes in all the same.
"""

import json
import time

from raw import Ended, Link, request
from stage import ATTACKER, http

TOGETHER, SECONDS = 50, 4
DELAY_SECONDS, ATONCE = 2, 20  # by which a try may be late, and how many wrong ones nobody minds [AC2]


def attack(stage):
    began, judged = time.monotonic(), 0
    with stage.window():
        while time.monotonic() - began < SECONDS * (5 if stage.is_long else 1):
            judged += guess(stage)
        took = time.monotonic() - began
        came_in = time.monotonic()
        stage.link().close()
    stage.figures["seconds in which a right key came in"] = round(time.monotonic() - came_in, 2)
    stage.figures["guesses judged a second"] = round(judged / took)
    stage.at_most("guesses judged of one address", judged, int(TOGETHER * (took / DELAY_SECONDS + 1)) + ATONCE)
    stage.at_least("guesses in /metrics", counted(stage), judged)
    if stage.is_long:
        time.sleep(65)
        stage.at_least("lines of the log that count guesses", sum("more wrong" in line for line in stage.relay.log), 1)
    stage.at_least("lines of the log that name the address",
                   sum("wrong key" in line and ATTACKER in line for line in stage.relay.log), 1)


def guess(stage):
    """One guess on each of so many connections; how many were judged: what comes behind it is refused then."""
    links, judged = [], 0
    for _ in range(TOGETHER):
        link = Link(stage.relay.port, ATTACKER)
        link.write(request("login", 1, versions=[1], user=stage.name(), instance=f"{stage.dice.getrandbits(64):016x}",
                           secret=f"{stage.dice.getrandbits(128):032x}", key=f"guess {stage.dice.getrandbits(64):x}"),
                   request("barrier", 2))
        links.append(link)
    for link in links:
        try:
            judged += json.loads(link.until("error")[2])["name"] == "loginRequired"
        except (Ended, OSError):
            pass
        link.close()
    return judged


def counted(stage):
    """By the counter of wrong credentials; without one, what was answered."""
    lines = http(stage.relay, "/metrics")[1].splitlines()
    found = [line for line in lines if line.startswith("boardrelay_credentials_wrong_total ")] or [
        line for line in lines if line.startswith("boardrelay_refusals_total") and '"keyWrong"' in line]
    return sum(int(line.rsplit(" ", 1)[1]) for line in found)
