"""H3c: sessions that are away, while flow after flow that they listen to opens and closes.

A resumption would tell of 256: they took a session 21 KB, of which none counted.
"""

import time

from raw import request, reset
from stage import told_codes

LISTENERS_OF_CHANNEL, CHANNELS = 990, 5  # a channel has 1,000 places [ST2]
FLOWS = 256  # that are told again [SE9]
BURST, PER_SECOND = 400, 200  # requests of a user [RT6]
AWAY_MS = 300_000
STAGE = {"bounds_memory": True}


def attack(stage):
    channels, codes = [f"c{number}" for number in range(CHANNELS)], []
    with stage.window():
        for channel in channels:
            listen(stage, channel, codes)
        before = stage.grown()
        publishers = stage.links(CHANNELS)
        for channel, link in zip(channels, publishers):
            link.write(request("join", 2, channel=channel, features=[]))
            link.answered(1)
        for flows in (BURST // 2 - 1, FLOWS - BURST // 2 + 1):
            for channel, link in zip(channels, publishers):
                link.write(*(request(name, 3 + number, channel=channel, topic="t")
                             for number in range(flows) for name in ("joinTopic", "leaveTopic")))
            for link in publishers:
                link.answered(2 * flows)
            time.sleep((2 * FLOWS - BURST) / PER_SECOND)
        stage.watch.look()
    told_codes(stage, codes + [link.codes for link in publishers])
    stage.figures["bytes of closed flows, a session"] = (stage.grown() - before) // (LISTENERS_OF_CHANNEL * CHANNELS)
    for link in publishers:
        link.close()
    stage.grown_in_account()


def listen(stage, channel, codes):
    """Sessions that listen, and then are away."""
    for _ in range(0, LISTENERS_OF_CHANNEL, 110):
        links = stage.links(110, presenceTimeoutMs=AWAY_MS)
        for link in links:
            link.write(request("join", 2, channel=channel, features=[]), request("subscribeTopic", 3, channel=channel, topic="t"))
        for link in links:
            link.answered(2)
            codes.append(link.codes)
            reset(link)
