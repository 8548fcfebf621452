"""A relay that comes late: with an empty folder, while the log has everything and when it does not; and with a copy of the owner's."""

import time

from space import LOGIN, SPACE, where
from stage import Wrong, need, run, until
from slow import SlowConsumers


def copy(space, _):
    """The relays that come follow, and each owns the space once."""
    own_once(space, space.join("late"))
    trim(space)
    empty = space.join("empty")
    until(lambda: empty.part().get("stopped"), "the relay that lacks entries says so")
    said = empty.part()["stopped"]
    need("wants a copy of another node's folder" in said, f"the relay that lacks entries says: {said}")
    need(empty.page("readyz") not in ("ready", "standby"), f"/readyz of a relay that has stopped for good says {empty.page('readyz')}")
    empty.end()
    space.nodes.remove(empty)
    space.places.remove(where(empty))
    archive, folder = space.stage.folder / "backup.tar", "copied"
    for words in (("backup", "--data-dir", space.owner().folder, "--to", archive),
                  ("restore", archive, "--data-dir", space.stage.folder / folder)):
        done = run(space.binary, *words)
        need(done.returncode == 0, f"boardrelay {words[0]}: {done.stderr}")
    own_once(space, space.join(folder))


def slow(space, _):
    """A relay with an empty folder comes while a consumer takes half a second to make."""
    link = space.stage.keep(SlowConsumers(space.servers[2].port, 0.5))
    late = space.join("slow", f"nats://127.0.0.1:{link.port}")
    try:
        space.until_follows(late)
    except Wrong as problem:
        raise Wrong(f"{problem}; it has asked for {link.asked} consumers") from None


def own_once(space, node):
    space.until_follows(node)
    space.hand_to(node)
    space.writers.all_stored_since(time.monotonic())


def trim(space):
    """The log, below what all relays have."""
    owner = space.owner()
    kept = min(space.until_follows(node) for node in space.nodes if node is not owner)
    answer = space.servers[0].request(f"$JS.API.STREAM.PURGE.space-{SPACE}", {"seq": kept}, *LOGIN)
    need(answer.get("success") and answer["purged"] > 0, f"the log is not trimmed: {answer}")
