"""H3b: sessions set all states that they may, in channels in which they are not.

32 states of 64 bytes in 150 channels took a session 900 KB, of which none counted.
"""

import contextlib

from raw import request
from stage import told_codes

STATES, STATE_BYTES, CHANNELS = 32, 64, 150
STAGE = {"bounds_memory": True}


def attack(stage):
    links = stage.links(2_000 if stage.is_long else 200)
    states = {f"k{number:02}": "v" * (STATE_BYTES - 3) for number in range(STATES)}
    frames = [request("setStates", 2 + number, kind="message", channel=f"c{number}", states=states) for number in range(CHANNELS)]
    packed = links[0].pack(frames)
    with stage.crowd(links) if stage.is_long else contextlib.nullcontext():
        with stage.window():
            for link in links:
                link.socket.sendall(packed)
            if not stage.is_long:
                for link in links:
                    link.answered(CHANNELS)
            stage.watch.look()
    told_codes(stage, [link.codes for link in links])
    for link in links:
        link.close()
    stage.grown_in_account()
