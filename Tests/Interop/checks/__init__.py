"""The checks, in the order in which they are registered."""

from checks import (  # noqa: F401
    frames, names, json_bodies, sessions, heartbeat, channels, messages, history,
    streams, delivery, presence, direct, rates, small_relay, disks, boards, change_sets, board_use,
    access, moderation, rotation, metadata, http)
