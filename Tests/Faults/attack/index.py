"""H3c: a board of records that have one byte each: what the relay remembers of each, to find it in its file.

450 bytes for a record of 66.
"""

from board_reads import fill

STAGE = {"bounds_memory": True}


def attack(stage):
    with stage.window():
        fill(stage, 2_000_000 if stage.is_long else 260_000)
    stage.figures["bytes of memory a record"] = stage.grown() // max(1, stage.figures["records of the board"])
    stage.grown_in_account()
