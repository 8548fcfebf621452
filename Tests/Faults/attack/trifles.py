"""low: what a refusal tells of the machine, and frames that cost their sender nothing."""

import json
import resource
import time

from raw import Ended, frame, relay_client, texts

FRAMES, TOGETHER = 20_000, 500
UNKNOWN_TYPE, UNKNOWN_FLOW = 0x7F, 1 << 30
BURST, PER_SECOND = 400, 200  # requests, and packets a second [RT1, RT6]


def attack(stage):
    path(stage)
    unknown = frame(UNKNOWN_TYPE, b"{}")
    flags, body = relay_client.encode_packet(UNKNOWN_FLOW, b"x")
    with stage.window():
        flood(stage, "unknownFrame", unknown)
        flood(stage, "unknownFlow", frame("publishPacket", body, flags))


def flood(stage, name, one):
    """Frames that mean nothing: how many of them were looked at."""
    link, began = stage.link(), time.monotonic()
    try:
        for _ in range(FRAMES // TOGETHER):
            link.write(*[one] * TOGETHER, frame("ping"))
            link.until("pong")
    except (Ended, OSError):
        pass
    took = time.monotonic() - began
    stage.at_most(f"{name} that one got in {took:.1f} s", link.codes[name], BURST + int(PER_SECOND * (took + 1)))
    link.close()


def path(stage):
    """A change that cannot be stored is refused without a word of where."""
    relay = stage.start("full")
    link = stage.link_to(relay)
    resource.prlimit(relay.pid, resource.RLIMIT_FSIZE, (32, resource.RLIM_INFINITY))
    link.write(texts("setMetadata", 2, [("k", b"x" * 20_000)], kind="message", channel="c"))
    _, _, body = link.until("error")
    told = json.loads(body)
    stage.exactly("a change on a full disk", told["name"], "storageFailed")
    stage.exactly(f"paths in {told['text']!r}", int("/" in told["text"] or "journal-" in told["text"]), 0)
    link.close()
