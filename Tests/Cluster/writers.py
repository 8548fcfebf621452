"""Who draws through a balancer: records that are told stored, when, and what is on the board in the end."""

import collections
import json
import subprocess
import threading
import time

from stage import PATIENCE, NamedClient, Wrong, need, until
from links import Violation
from relay_client import Identity

CHANNEL = "lesson"
REPLAYED, RESUMED = "replayed", "resumed"
PACE = 0.03   # seconds between two records of one writer: below the rate of messages
AGAIN = 0.05  # seconds until a writer that has lost its connection tries again
# What a connection breaks that ends in the middle, and who answers in place of a relay that is gone.
CUT = {"WS1", "WS6", "WS8", "FR1", "HT1", "HT6"}


class Writer(threading.Thread):
    """Stores one record after the other under keys of its own; one without an answer is sent again, with its key, until it is stored."""

    proof, cut = {}, CUT  # what lets it in, and what may end a connection
    client = NamedClient

    def __init__(self, name, where):
        super().__init__(daemon=True)
        self.user, self.where = name, where
        self.identity = Identity(name, **self.proof)
        self.stored = []  # (when it was told, key)
        self.lost = 0     # connections that broke
        self.is_over, self.problem = threading.Event(), None
        self.start()

    def run(self):
        client = None
        number = 1
        while not self.is_over.is_set():
            try:
                if client is None:
                    client = self.client(identity=self.identity, **self.place())
                    client.login(timeout=PATIENCE)
                client.retain(CHANNEL, f"{self.user}-{number}", f"stroke {number} of {self.user}")
                self.stored.append((time.monotonic(), f"{self.user}-{number}"))
                number += 1
                time.sleep(PACE)
            except Exception as problem:  # whatever a dying relay does to it; a broken rule is told in the end
                if isinstance(problem, Violation) and problem.rule not in self.cut:
                    self.problem = problem
                    return
                self.lost += 1
                if client:
                    client.drop()
                client = None
                time.sleep(AGAIN)
        if client:
            client.drop()

    def place(self):
        """Where the next connection leads."""
        return self.where

    def since(self, moment):
        """When something was first told stored behind a moment, or None."""
        return next((when for when, _ in self.stored[:] if when > moment), None)

    def silence(self, moment):
        """Seconds without a word between what was told before a moment and behind it."""
        return self.since(moment) - max(when for when, _ in self.stored[:] if when <= moment)


def read_board(where, identity=None, channel=CHANNEL, client=NamedClient):
    """(key, payload) of each record, in the order in which a reader gets them."""
    reader = client(identity=identity or Identity("reader"), **where)
    reader.login()
    mark = reader.mark()
    reader.request("subscribe", channel=channel, since={"beginning": True})
    reader.wait_for("caughtUp", since=mark)
    board = [(event["key"], event["payload"]) for event in reader.since(mark, "deliver")]
    reader.logout()
    return board


class Writers:
    """Several, which draw at once."""

    def __init__(self, wheres, kind=Writer):
        self.all = [kind(f"writer{number}", where) for number, where in enumerate(wheres)]
        self.all_stored_since(time.monotonic())

    def all_stored_since(self, moment):
        """Returns when each has stored something behind a moment."""
        until(lambda: all(writer.since(moment) or writer.problem for writer in self.all), "each writer stores something")
        for writer in self.all:
            need(writer.problem is None, f"{writer.user}: {writer.problem}")

    def silences(self, moment):
        return [writer.silence(moment) for writer in self.all]

    def end(self):
        for writer in self.all:
            writer.is_over.set()
        for writer in self.all:
            writer.join(PATIENCE)

    def judge(self, where):
        """Holds the board against what was told stored. Returns how many records that are, and connections that broke."""
        self.judge_board(read_board(where))
        return sum(len(writer.stored) for writer in self.all), sum(writer.lost for writer in self.all)

    def judge_board(self, board):
        """The same of a board that was read."""
        board = collections.Counter(key for key, _ in board)
        told = [key for writer in self.all for _, key in writer.stored]
        missing, twice = set(told) - set(board), [key for key, count in board.items() if count > 1]
        # The last of each writer may be there without its answer.
        strange = len(set(board) - set(told))
        need(not missing, f"{len(missing)} of {len(told)} records that were told stored are missing: {sorted(missing)[:5]}")
        need(not twice and len(told) == len(set(told)), f"{len(twice)} records are there twice: {twice[:5]}")
        need(strange <= len(self.all), f"{strange} records are there that nobody was told of")


class Replay:
    """A recorded lesson, drawn by the Swift client beside the writers; it judges its boards itself."""

    def __init__(self, binary, recording, port, speed, *options, channel=REPLAYED):
        self.process = subprocess.Popen(
            [str(binary), "replay", str(recording), "--channel", channel, "--speed", str(speed), "--retain", "--verify", "--json",
             "--url", f"relay://127.0.0.1:{port}", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = ""
        while "Drawing " not in said:
            line = self.process.stderr.readline()
            if not line:
                raise Wrong(f"the replay does not begin: {said[-500:]}")
            said += line

    @property
    def draws(self):
        return self.process.poll() is None

    def judge(self):
        """Returns how many strokes it drew."""
        try:
            output, errors = self.process.communicate(timeout=4 * PATIENCE)
        except subprocess.TimeoutExpired:
            raise Wrong(f"the replay has not ended after {4 * PATIENCE:.0f} s") from None
        need(output.strip(), f"the replay says nothing: {errors[-500:]}")
        summary = json.loads(output.strip().splitlines()[-1])
        boards, messages = summary.get("boards") or {}, summary["messages"]
        need(boards.get("equal"), f"the replay's boards differ: {boards}")
        need(messages["accepted"] == messages["sent"] and not messages["refused"], f"the replay's messages: {messages}")
        return summary["strokes"]

    def end(self):
        self.process.kill()
        self.process.wait()
