"""H1: a reader asks for large answers at once, and reads none of them.

400 `join` into a channel with many publishers, 300 `subscribe` and `subscribeUserMetadata` of a large set, 300 `history`: a few KB each.
Then one, or ten, that read ask on for as long as they may. Not more than a share waits for any of them, and who comes in with 50
channels is served.
"""

import threading
import time

from raw import Ended, publish, request, reset, texts
from stage import MIB, metric

SHARE, BACKLOG = 64 * 1024, MIB  # of one turn, and behind which requests wait [DL12]
PUBLISHED_TOPICS = 8  # by one publisher, at most
META = "\x01" * 256  # the largest in JSON
SET_BYTES = 65_536


def attack(stage):
    publishers = stage.links(800 if stage.is_long else 100)
    with stage.crowd(publishers):
        fill(stage, publishers, 1 if stage.is_long else PUBLISHED_TOPICS)
        targets = {
            "join": (400, {"channel": "stage"}, ()),
            "subscribe": (300, {"channel": "set", "features": ["metadata"]}, ()),
            "subscribeUserMetadata": (300, {"user": publishers[0].user}, ()),
            "history": (300, {"channel": "kept"}, ()),
        }
        sizes = {name: settled(stage, name, fields) for name, (_, fields, _) in targets.items()}
        with stage.window():
            for name, (count, fields, _) in targets.items():
                burst(stage, name, count, fields, sizes[name])
            # Whoever has more than a reader's bound is closed before anybody can look.
            closed = metric(stage.relay, "boardrelay_closes_total", "slowConsumer")
            stage.exactly("readers closed because too much was queued for them", closed, 0)
            newcomer(stage)
            sustained(stage, 10 if stage.is_long else 1, 30 if stage.is_long else 4)
    stage.at_most("bytes of memory beside an idle relay", stage.grown(), 32 * MIB)


def fill(stage, publishers, topics):
    """A channel with many publishers, sets of metadata as large as they may be, and a history."""
    for link in publishers:
        link.write(request("join", 2, channel="stage", features=[]),
                   *(request("joinTopic", 3 + n, channel="stage", topic=f"topic {n}", meta=META) for n in range(topics)))
    writer = stage.link("writer")
    writer.write(texts("setMetadata", 2, [("k", b"x" * (SET_BYTES - 1))], kind="message", channel="set"),
                 *(publish(1 + n, "kept", bytes(32_000)) for n in range(17)))
    writer.answered(18)
    host = stage.link("host", key="attack-host-0123456789")
    host.write(texts("setMetadata", 2, [("k", b"x" * (SET_BYTES - 1))], user=publishers[0].user))
    host.answered(1)
    for link in (writer, host):
        link.close()


def settled(stage, name, fields):
    """The same as soon as it grows no longer: publishers wait for their turns."""
    size, before = measured(stage, name, fields), None
    while size != before:
        time.sleep(0.2)
        size, before = measured(stage, name, fields), size
    return size


def measured(stage, name, fields):
    """Bytes of one answer with all that comes behind it."""
    link = stage.link()
    link.bytes = 0
    link.write(request(name, 2, **fields), request("barrier", 3))
    link.answered(2)
    link.write(request("barrier", 4))
    link.answered(1)
    link.close()
    return link.bytes


def burst(stage, name, count, fields, size):
    """All at once; nothing is read."""
    link = stage.link()
    link.write(*(request(name, 2 + n, **fields) for n in range(count)))
    stage.settle()
    stage.at_most(f"bytes queued for one who asks {count} times for {name} of {size:,}", stage.queued_most(link.user),
                  BACKLOG + SHARE + size)
    reset(link)


def newcomer(stage):
    """Comes in with 50 channels of each kind, from another address."""
    link = stage.link(address="203.0.113.9")
    link.write(*(request("subscribe", 2 + n, channel=f"lesson {n}") for n in range(50)),
               *(request("join", 52 + n, channel=f"lesson {n}") for n in range(50)))
    link.answered(100)
    stage.exactly(f"refusals of one who comes in with 100 channels {dict(link.codes) or ''}", link.codes.total(), 0)
    link.close()


def sustained(stage, count, seconds):
    """Some who read what they get, as fast as they may ask."""
    end = time.monotonic() + seconds

    def ask():
        link, number = stage.link(), 2
        try:
            while time.monotonic() < end:
                link.write(*(request("join", number + n, channel="stage") for n in range(20)))
                number += 20
                link.answered(20)
        except (Ended, OSError):
            pass
        link.close()

    threads = [threading.Thread(target=ask) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
