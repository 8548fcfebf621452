"""M2: one address takes all channels, then all connections, and with --long all sessions.

Another address is served all the same, and so are the host, the control socket and health checks.
"""

from raw import Ended, Link, request
from stage import ATTACKER, KEYS, serves_others

CONNECTIONS, CHANNELS = 300, 300
CHANNELS_OF_USER, SESSIONS, AWAY_MS = 50, 20_000, 300_000
STAGE = {"options": ("--max-connections", str(CONNECTIONS), "--max-channels", str(CHANNELS))}


def attack(stage):
    with stage.window():
        channels(stage)
        connections(stage)
        if stage.is_long:
            sessions(stage)


def channels(stage):
    """As many as there may be, and some."""
    links = stage.links(2 * CHANNELS // CHANNELS_OF_USER, ATTACKER)
    for index, link in enumerate(links):
        link.write(*(request("subscribe", 2 + number, channel=f"mine {index} {number}", features=[]) for number in range(CHANNELS_OF_USER)))
        link.answered(CHANNELS_OF_USER)
    stage.figures["channels taken"] = stage.watch.look()["census"]["messageChannels"]
    serves_others(stage, "all channels")
    for link in links:
        link.close()


def connections(stage):
    """As many sessions with a connection as there may be, and some."""
    links = []
    for _ in range(CONNECTIONS + 50):
        link = come_in(stage)
        if link:
            links.append(link)
    stage.figures["connections taken"] = len(links)
    with stage.crowd(links):
        serves_others(stage, "all connections")


def come_in(stage, **login):
    """A link that is logged in; None if the relay has no place for it."""
    try:
        link = Link(stage.relay.port, ATTACKER)
        link.login(stage.name(), stage.dice, KEYS["join"], **login)
        if link.until("welcome", "error")[0] == "welcome":
            return link
        link.close()
    except (Ended, OSError):
        pass
    return None


def sessions(stage):
    """As many as there may be, all of them away."""
    taken = 0
    for _ in range(SESSIONS + 500):
        link = come_in(stage, presenceTimeoutMs=AWAY_MS)
        if link:
            taken += 1
            link.close()
    stage.figures["sessions taken"] = taken
    serves_others(stage, "all sessions")
