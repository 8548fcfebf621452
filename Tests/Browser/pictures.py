"""Ten people who draw at once, and what a page shows of them."""

import json
import math
import struct

SIZES = ((360, 740), (820, 1180), (1920, 1080))
NAMES = ("Green Otter", "Blue Heron", "Quiet Fox", "Amber Wren", "Silver Hare", "Bold Lynx", "Tiny Newt", "Calm Ibis", "Red Kite",
         "Old Badger")
COLORS = ("#1B1B1BFF", "#D64545FF", "#2F6FDEFF", "#1E8E5AFF", "#C77700FF", "#7A4FD0FF")


class Drawer:
    """Somebody who draws, over TCP as an app does: finished strokes, one that is not, a name and a cursor."""

    def __init__(self, relay, board, number):
        self.board, self.number, self.count = board, number, 0
        self.client = relay.client(f"drawer-{number}")
        ask = self.client.request
        ask("subscribe", channel=board, features=["presence"])
        ask("setStates", kind="message", channel=board, states={"name": NAMES[number]})
        ask("join", channel=board, features=[])
        self.points, self.cursors = (ask("joinTopic", channel=board, topic=topic)["flow"] for topic in ("points", "cursors"))

    def stroke(self, x, y, turns=1.5, radius=26):
        """A finished one, a spiral; returns when it is durable."""
        content = self._content(spiral(x, y, turns, radius))
        self.client.retain(self.board, content["id"], text(content | {"z": self.count * 16 + self.number}), custom_type="stroke")

    def begin(self, x, y, turns=1, radius=18):
        """One that is still being drawn: its points so far, and the pen's place."""
        places = spiral(x, y, turns, radius)
        self._packet(self.points, self._content(places) | {"first": 0})
        self._packet(self.cursors, {"v": 1, "x": places[-1][0], "y": places[-1][1]}, slot=1)

    def new_id(self):
        """For a line that is drawn with `points_of` and `finish`."""
        self.count += 1
        return f"drawn-{self.number}-{self.count}"

    def points_of(self, name, places, first):
        """The next places of a line, and the pen's at its end."""
        self._packet(self.points, self._content(places, name) | {"first": first})
        self._packet(self.cursors, {"v": 1, "x": places[-1][0], "y": places[-1][1]}, slot=1)

    def finish(self, name, places):
        """The whole line; returns when it is durable."""
        self.client.retain(self.board, name, text(self._content(places, name) | {"z": self.count * 16 + self.number}), custom_type="stroke")

    def _content(self, places, name=None):
        points = [part for before, place in zip([(0, 0), *places], places) for part in (place[0] - before[0], place[1] - before[1])]
        return {"id": name or self.new_id(), "color": COLORS[self.number % len(COLORS)], "width": 350, "cols": "xy", "points": points,
                "v": 1}

    def _packet(self, flow, content, slot=None):
        self.client.packet(flow, text(content), slot=slot)

    def end(self):
        self.client.drop()


def spiral(x, y, turns, radius):
    """Places in hundredths of a pixel."""
    steps = int(turns * 16)
    return [(round(100 * (x + radius * n / steps * math.cos(n / 16 * math.tau))),
             round(100 * (y + radius * n / steps * math.sin(n / 16 * math.tau))))
            for n in range(1, steps + 1)]


def text(content):
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def ten_drawing(stage, relay, board="lesson"):
    """Everybody has drawn something where even a phone sees it, and draws on."""
    drawers = [Drawer(relay, board, number) for number in range(len(NAMES))]
    stage.clients += drawers
    for number, drawer in enumerate(drawers):
        x, y = 60 + number % 4 * 75, 150 + number // 4 * 130
        drawer.stroke(x, y)
        drawer.begin(x + 10, y + 60)
    return drawers


def size_of(png):
    """Width and height of a picture."""
    return struct.unpack(">II", png[16:24])
