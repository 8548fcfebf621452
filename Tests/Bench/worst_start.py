"""The start with the most that the limits admit: metadata up to its bound, and boards that the relay must read again.

Boards are read again at a start when the relay did not end orderly. So it is killed, while as many boards as are in use have changes
that only the journal holds. As many more were written to before them, and had to leave the memory.
"""

import time

from raw import publish, relay_client
from stage import MIB, ask
from worst_fills import PART, board_of, more_metadata, short, stored, writers

START_SECONDS = 10
RECORD_BYTES = 40  # of memory a record takes at least: so many records fill the share of indexes


def timed_start(stage):
    """Fills, kills, and starts: figures, and what is wrong with them."""
    with stage:
        part = stage.memory // PART
        more_metadata(stage, 16 * part)
        links, records = writers(stage, 16), min(500_000, 8 * part // 256)
        boards = 2 * max(1, 8 * part // RECORD_BYTES // records)
        for number in range(boards):
            board_of(stage, links, f"board {number}", records * 95 // 100, short)
        for number in range(boards):  # as many as fit are in use, and not yet synced
            links[0].write(publish(links[0].number, f"board {number}", b"x", key="last", extra=relay_client.RETAIN))
            links[0].number += 1
        links[0].answered(boards)
        stored(links[:1])
        stage.relay.kill()
        began = time.monotonic()
        again = stage.start("attacked")
        seconds = time.monotonic() - began
        found = ask(again, "status")["census"]
    problems = []
    if seconds > START_SECONDS:
        problems.append(f"the start took {seconds:.1f} s, at most {START_SECONDS} s may pass")
    if found["metadataBytes"] < 12 * part or found["boardRecords"] < boards * records * 3 // 4:
        problems.append(f"too little was there: {found['metadataBytes']:,} bytes of metadata, {found['boardRecords']:,} records")
    return {"bound": "start", "memoryMiB": stage.memory // MIB, "seconds": round(seconds, 2), "records": found["boardRecords"],
            "boards": found["boards"], "metadataBytes": found["metadataBytes"], "problems": problems}
