"""What checks of several subjects do, and what they look at."""

import time

from context import outcomes
from http_checks import need
from relay_client import Ended, PATIENCE, RelayError, Timeout

BEGINNING = {"beginning": True}
FORGIVEN_SECONDS = 10


def kept_offsets(client, mark=0, name=None):
    """The offsets delivered from a mark on."""
    handle = client.checker.find("message", name).handle if name else None
    return [e["offset"] for e in client.since(mark, "deliver") if handle in (None, e["channel"])]


def caught_up(client, mark=0):
    """The next `caughtUp`."""
    return client.wait_for("caughtUp", since=mark)


def each_second(action):
    """Does it when it is called, but for a second after the last time: a reader that stops is not silent then, however slow this
    machine is (HB3)."""
    due = 0

    def act():
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + 1
            action()
    return act


def wait_offline(probe, user, meanwhile=lambda: None):
    """Sends direct messages until the user is offline."""
    begin = time.monotonic()
    while time.monotonic() - begin < PATIENCE:
        meanwhile()
        reply = probe.direct(user, b"probe")
        probe.sync()
        if reply.done.is_set() and isinstance(reply.problem, RelayError) and reply.problem.name == "userOffline":
            return
        time.sleep(0.25)
    raise Timeout(f"{user} is still connected")


def set_states(client, place, values):
    """setStates in a message channel."""
    return client.request("setStates", kind="message", states=values, **place)


def remove_states(client, place, keys):
    """removeStates in a message channel."""
    return client.request("removeStates", kind="message", keys=keys, **place)


def states_of(client, place, other):
    """getStates of another client's user in a message channel."""
    return client.request("getStates", kind="message", user=other.identity.user, **place)["states"]


def until_refused(rate, burst, send):
    """Sends one more than the burst at one instant, and again until one is refused: (how many passed, the first that was refused).

    A bucket is judged by what it gave, the burst at once and not more than it may, and by when it gives the next one."""
    began, replies, got = time.monotonic(), [], []
    while "rateLimited" not in got:
        need(time.monotonic() - began < PATIENCE, f"none of {len(got)} was refused")
        more = send(burst + 1)
        replies, got = replies + more, got + outcomes(more)
    passed, most = got.count("ok"), given_at_most(rate, burst, began)
    need(set(got) == {"ok", "rateLimited"} and got[:burst] == ["ok"] * burst, f"one of the burst was refused: {got[:burst]}")
    need(passed <= most, f"{passed} passed, at most {most:.0f} may")
    refused = replies[got.index("rateLimited")]
    need(0 < refused.problem.fields["retryAfterMs"] <= -(-1_000 // rate), f"{refused.problem.fields}")
    return passed, refused


def given_at_most(rate, burst, began):
    """What a bucket may have given by now, whatever the machine did: besides the burst its rate, as much for what of this time the relay
    did not handle what had come, and for so much of the time before (DL12)."""
    return burst + rate * (2 * (time.monotonic() - began) + FORGIVEN_SECONDS) + 1


def patiently(action):
    """Repeats an action until it works: the relay needs a moment to notice that others have gone."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return action()
        except (Ended, RelayError, OSError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def shown(client, mark=0):
    """What a reader was told of a channel's content, in order: (key, payload), or ("cleared", who)."""
    return [("cleared", e["user"]) if e.name == "cleared" else (e["key"], e["payload"])
            for e in client.since(mark, "deliver", "cleared")]


def board_request(client, kind, **fields):
    """`clear`, `undoClear` or `removeBoard`: again as long as the board is being written (BL6)."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return client.request(kind, **fields)
        except RelayError as problem:
            if problem.name != "busy" or time.monotonic() > deadline:
                raise
            need(problem.fields.get("retryAfterMs"), f"{problem.fields}")
            time.sleep(problem.fields["retryAfterMs"] / 1000)
