"""The owner is cut off from all servers of the log."""

import contextlib
import time

from stage import need, until
from writers import CHANNEL

TALK = "talk"
PACE = 0.05  # seconds between two messages of who talks: below the rate of messages


def cut(space, arguments):
    """The first relay, in some ways. It follows afterwards, and owns the space again."""
    ways = list(space.cuts().items())
    for what, (begin, heal) in space.dice.sample(ways, min(len(ways), arguments.cuts)):
        space.hand_to(space.nodes[0])
        cut_off(space, what, begin, heal)
        space.until_follows(space.nodes[0])
    space.hand_to(space.nodes[0])
    space.writers.all_stored_since(time.monotonic())


def cut_off(space, what, begin, heal):
    """Two who stay with the owner talk: messages go on for a while, and end before another relay serves. Records that one of them has
    seen must be on the board in the end."""
    old = space.nodes[0]
    processes = len(old.runs)
    witness, talker = (space.client(old, user, heartbeat=False) for user in ("witness", "talker"))
    for channel in (CHANNEL, TALK):
        witness.request("subscribe", channel=channel)
    talker.publish(TALK, "before").wait()
    witness.wait_for("deliver", lambda event: event["payload"] == "before")

    def another_serves():
        with contextlib.suppress(Exception):  # its connection ends while it talks
            talker.publish(TALK, "more")
        time.sleep(PACE)
        return any(node.owns for node in space.nodes[1:])

    def act():
        begin()
        until(another_serves, f"another relay serves while {what}")
        mark = witness.mark()
        with contextlib.suppress(Exception):
            talker.publish(TALK, "late")
        until(lambda: witness.over, "the connection to the relay that is cut off ends")
        need(witness.violation is None, f"the connection was left before: {witness.violation}")
        heard = witness.since(mark, "deliver")
        need(not heard, f"the relay that is cut off has told of {len(heard)} messages and records behind its time: {heard[:3]}")
        space.shown |= {event["key"] for event in witness.since(0, "deliver") if event["key"]}
        until(lambda: not old.owns, "the relay that is cut off stands by")
        heal()

    space.round(f"owner cut off: {what}", act)
    need(len(old.runs) == processes, f"the relay that was cut off ended: {old.runs[0][-3:]}")
