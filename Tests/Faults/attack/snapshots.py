"""H1-join: publishers fill a channel, and are away: who joins it gets more at once than may wait for a reader.

Seven hundred publish in 8 topics each, with the largest text that JSON makes of 256 bytes: 9 MB. Whoever joins is served.
"""

from answers import META, PUBLISHED_TOPICS
from raw import Ended, request, reset
from stage import told_codes

PUBLISHERS, TOGETHER, AWAY_MS = 700, 25, 300_000


def attack(stage):
    codes = []
    try:
        fill(stage, codes)
    except Ended as ended:  # it is too large for attackers, too
        stage.figures["the last of them was closed"] = str(ended)
    told_codes(stage, codes)
    with stage.window():
        stage.exactly("what refuses one who joins the channel", what_refuses(stage), "nothing")


def fill(stage, codes):
    """Some at a time come in, publish, and are away."""
    for _ in range(0, PUBLISHERS, TOGETHER):
        links = stage.links(TOGETHER, presenceTimeoutMs=AWAY_MS)
        for link in links:
            link.write(request("join", 2, channel="stage", features=[]),
                       *(request("joinTopic", 3 + n, channel="stage", topic=f"topic {n}", meta=META) for n in range(PUBLISHED_TOPICS)))
            link.answered(1)
        for link in links:
            link.answered(PUBLISHED_TOPICS)
            codes.append(link.codes)
            reset(link)


def what_refuses(stage):
    """Joins it from another address, and reads all."""
    link = stage.link(address="203.0.113.9")
    link.bytes = 0
    link.write(request("join", 2, channel="stage"), request("barrier", 3))
    try:
        link.answered(2)
        return ", ".join(link.codes) or "nothing"
    except Ended as ended:
        return str(ended)
    finally:
        stage.figures["MiB of the snapshot"] = round(link.bytes / (1 << 20), 1)
        link.close()
