"""history: messages of one byte, as many as channels keep."""

from raw import publish
from stage import told_codes

CHANNELS_OF_LINK, BURST = 40, 60
STAGE = {"bounds_memory": True, "options": ("--max-channels", "20000")}


def attack(stage):
    links = stage.links(400 if stage.is_long else 40)
    with stage.window():
        for turn in range(30 if stage.is_long else 4):
            for index, link in enumerate(links):
                first = turn * BURST
                link.write(*(publish(1 + first + n, f"mine {index} {n % CHANNELS_OF_LINK}", b"x") for n in range(BURST)))
            for link in links:
                link.answered(BURST)
        census = stage.watch.look()["census"]
    stage.figures["messages kept"] = census["historyMessages"]
    told_codes(stage, [link.codes for link in links])
    stage.grown_in_account()
    for link in links:
        link.close()
