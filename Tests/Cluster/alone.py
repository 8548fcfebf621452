"""Nobody reaches the log, and the owner goes on alone."""

import signal

from stage import need, until
from relay_client import RelayError
from writers import CHANNEL


def alone(space, _):
    """With --orphan serve: what is not retained passes, what is durable is refused, and when the log is back the owner leaves first."""
    for node in space.nodes:
        node.words += ["--orphan", "serve"]
        ended = len(node.codes)
        node.signal(signal.SIGTERM)
        until(lambda: len(node.codes) > ended, "a relay ends")
    owner = space.owner()
    pen, eye = (space.client(owner, user) for user in ("pen", "eye"))
    for client in (pen, eye):
        client.request("subscribe", channel=CHANNEL)

    def act():
        for server in space.servers:
            server.kill()
        until(lambda: owner.page("readyz") == "alone", "the owner is alone")
        need(owner.part().get("role") == "alone", f"status says {owner.part()}")
        mark = eye.mark()
        pen.publish(CHANNEL, "not kept")
        until(lambda: any(event["payload"] == "not kept" for event in eye.since(mark, "deliver")), "what is not retained passes")
        for durable in (lambda: pen.retain(CHANNEL, "pen", "kept"),
                        lambda: pen.request("setLock", kind="message", channel=CHANNEL, lock="pen")):
            try:
                durable()
                need(False, "a relay that is alone has stored something")
            except RelayError as refusal:
                need(refusal.name == "storageFailed" and "alone" in refusal.text, f"{refusal}")
        for server in space.servers:
            server.start()
        until(lambda: pen.over and eye.over, "the relay that was alone ends its connections")
        space.owner()

    space.round("all servers: kill -9, the owner alone", act)
    for node in space.nodes:
        del node.words[-2:]
