"""Rows of the fault table in which the journal lacks something: what the relay, `check` and `repair` make of it."""

import json
import subprocess

from daemon import PATIENCE
from scene import BOARD, FileLimit, Row, contents, must, must_fail, value, write

BOARDS = {"drawing": {"first": "one", "second": "two"}, "empty": {}}


def fill(scene, folder, boards):
    """Two segments, the first with k0…k4, the second with k5…k9, and boards that have records of both times; the start number."""
    daemon = scene.start(folder)
    writer = daemon.client("anna")
    for number in range(5):
        write(writer, f"k{number}", value(number))
    if boards:
        writer.retain("drawing", "first", "one")
        writer.retain("empty", "gone", "three")
        writer.retain("empty", "gone")
    # A failure ends the segment.
    limit = FileLimit(scene, daemon)
    limit.fill()
    must_fail(writer, "k5", value(5))
    limit.free()
    scene.until_stored(writer, "k5", value(5))
    for number in range(6, 10):
        write(writer, f"k{number}", value(number))
    if boards:
        writer.retain("drawing", "second", "two")
    start = writer.checker.welcome["start"]
    must(daemon.stop() == 0, "SIGTERM does not end it with 0")
    return start


def tool(scene, *words):
    """What the program says, and its exit code."""
    return subprocess.run([scene.binary, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE, check=False)


def objects(text):
    """Lines of JSON."""
    return [json.loads(line) for line in text.splitlines()]


def must_show(scene, folder, keys, boards, start):
    """A relay on a saved folder has these keys and boards, takes changes, and has a higher start number."""
    daemon = scene.start(folder)
    reader = daemon.client("reader")
    must(reader.checker.welcome["start"] > start, f"start number {reader.checker.welcome['start']} after {start}")
    major, values = reader.all_metadata(**BOARD)
    must(values == {f"k{number}": value(number) for number in keys}, f"saved are the keys {sorted(values)}")
    for channel, records in (BOARDS if boards else {}).items():
        mark = reader.mark()
        reader.request("subscribe", channel=channel, since={"beginning": True})
        reader.wait_for("caughtUp", since=mark)
        shown = {e["key"]: e["payload"] for e in reader.since(mark, "deliver")}
        must(shown == records, f"saved of {channel}: {shown}")
        must(reader.retain(channel, "later", "four") > 0, f"{channel} takes nothing")
    must(write(reader, "later", "five") == major + 1, "no change is taken")
    must(daemon.stop() == 0, "SIGTERM does not end it with 0")


def loss(lose, keys, refusal):
    """With and without boards.

    lose: takes the sorted segments and damages what is lost. keys: those of k0…k9 that are saved. refusal: why no relay starts.
    """
    def check(scene):
        for boards in (False, True):
            folder, saved = scene.base / f"data-{boards}", scene.base / f"saved-{boards}"
            start = fill(scene, folder, boards)
            segments = sorted(folder.glob("journal-*.log"))
            must(len(segments) == 2, f"segments: {segments}")
            must(tool(scene, "check", folder).returncode == 0, "something is wrong with a whole folder")
            sound = {file: file.read_bytes() for file in segments}
            lose(segments)
            before, everything = contents(folder), contents(folder, without=())
            found = tool(scene, "check", "--json", folder)
            must(found.returncode == 1 and contents(folder, without=()) == everything, f"check: {found}")
            verdict = objects(found.stdout)[-1]
            must(not verdict["starts"] and refusal in verdict["reason"], f"check says {verdict}")
            must("boardrelay repair" in found.stderr, f"check does not say what to do: {found.stderr}")
            scene.start_refused(refusal, f"'boardrelay check {folder}'", f"'boardrelay repair {folder} --to", folder=folder)
            must(contents(folder) == before, "the relay has changed something")
            repaired = tool(scene, "repair", "--json", folder, "--to", saved)
            must(contents(folder) == before, "repair has changed something")
            if keys or boards:
                must(repaired.returncode == 0, f"repair: {repaired}")
                channels = {o["channel"] for o in objects(repaired.stdout) if o["type"] == "saved"}
                must(channels == (set(BOARDS) if boards else set()), f"saved are {channels}")
                must(tool(scene, "check", saved).returncode == 0, "something is wrong with what was saved")
                must_show(scene, saved, keys, boards, start)
            else:
                must(repaired.returncode == 1 and "nothing can be saved" in repaired.stderr and not saved.exists(), f"repair: {repaired}")
            for file, data in sound.items():
                file.write_bytes(data)
            scene.must_have_board(folder)
    return check


def remove(segments):
    """What a careless copy leaves out."""
    for segment in segments:
        segment.unlink()


def empty(segments):
    """What some file systems leave of files that were never synced."""
    for segment in segments:
        segment.write_bytes(b"")


def damaged_anchor(scene):
    """It is put back, or the rest is saved."""
    start = fill(scene, scene.data, True)
    anchor = scene.data / "journal.anchor"
    sound = anchor.read_bytes()
    anchor.write_bytes(sound[:30] + bytes([sound[30] ^ 1]) + sound[31:])
    before = contents(scene.data)
    scene.start_refused("journal.anchor is damaged", "boardrelay check", "boardrelay repair")
    must(contents(scene.data) == before, "something in the folder was changed")
    repaired = tool(scene, "repair", scene.data, "--to", scene.base / "saved")
    must(repaired.returncode == 0, f"repair: {repaired}")
    must_show(scene, scene.base / "saved", range(10), True, start)
    anchor.write_bytes(sound)
    scene.must_have_board()


START = "refused"
NOBODY = ("—", "—")

ROWS = [
    Row("the journal is missing", *NOBODY, START, "all is there; `repair` saves boards", loss(remove, (), "is missing or empty")),
    Row("the journal's files are empty", *NOBODY, START, "all is there; `repair` saves boards", loss(empty, (), "is missing or empty")),
    Row("the journal's first file is missing", *NOBODY, START, "all is there; `repair` saves boards, and what other files have",
        loss(lambda segments: remove(segments[:1]), range(5, 10), "is missing or empty")),
    Row("the journal's last file is missing", *NOBODY, START, "all is there; `repair` saves boards, and what other files have",
        loss(lambda segments: remove(segments[1:]), range(5), "is missing or empty")),
    Row("`journal.anchor` is damaged", *NOBODY, START, "all is there; `repair` saves it", damaged_anchor),
]
