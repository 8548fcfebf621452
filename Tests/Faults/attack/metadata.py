"""H2: sets of metadata with a thousand tiny items each, and the next start.

What counted 3 bytes an item took 280, and seconds of a processor at each start. All of it is within what all may hold; whoever asks
for more is refused, and nobody else is.
"""

import string

from raw import request, texts
from stage import MEMORY_FACTOR, MEMORY_SLACK, ask, counted, memory_of, told_codes

ITEMS, ITEMS_IN_ONE = 1_000, 500  # in a set, and in a request: its head has 16 KiB
SETS_OF_USER = 10  # with its burst of metadata calls [RT7]
LETTERS = string.digits + string.ascii_letters
STAGE = {"bounds_memory": True}


def attack(stage):
    links, codes = stage.links(200 if stage.is_long else 60), []
    keys = [f"{a}{b}" for a in LETTERS for b in LETTERS][:ITEMS]
    halves = [[(key, b"") for key in keys[first:first + ITEMS_IN_ONE]] for first in range(0, ITEMS, ITEMS_IN_ONE)]
    with stage.window():
        for index, link in enumerate(links):
            link.write(*(texts("setMetadata", 2 + 2 * number + half, items, kind="message", channel=f"set {index} {number}")
                         for number in range(SETS_OF_USER) for half, items in enumerate(halves)))
        for link in links:
            link.answered(2 * SETS_OF_USER)
            codes.append(link.codes)
        census = stage.watch.look()["census"]
    for link in links:
        link.close()
    stage.figures["sets of metadata"] = census["metadataSets"]
    stage.figures["bytes as counted"] = census["metadataBytes"]
    told_codes(stage, codes)
    stage.grown_in_account()


def after(stage):
    """The next start."""
    stage.exactly("exit code of the relay", stage.relay.stop(), 0)
    again = stage.start("attacked")
    stage.figures["processor seconds of the next start"] = round(again.seconds_of_processor(), 1)
    grown = memory_of(again)[1] - stage.idle
    stage.at_most("bytes of memory behind the next start, beside an idle relay, by what it counts", grown,
                  int(counted(ask(again, "status")) * MEMORY_FACTOR) + MEMORY_SLACK)
    link = stage.link_to(again)
    link.write(request("barrier", 2))
    stage.exactly("refusals behind the next start", link.answered(1), 0)
    link.close()
