#!/usr/bin/env python3
"""How quick the whiteboard page is in Chromium: how long who comes late waits for a board, and what a frame costs while ten draw.

    python3 Tests/Browser/figures.py --binary PATH [--only join|hands|frames] [--strokes 2000] [--joins 7] [--cold]
                                     [--seconds 15] [--rate 60] [--points 1] [--slowdown 6] [--runs 5]

One JSON line each on stdout. These are figures of one machine, for a note, and no test: nothing is judged here.
`--slowdown 6` gives a page a sixth of its processor; then a page that draws one square a frame is measured beside it.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import sys
import threading
import time

import tools
from browser import until
from pictures import Drawer, spiral
from relay import find_binary

# Put into the page before its first script: when the board was drawn first, and what each frame costs.
WATCH = """
  const watched = window.watched = {spans: [], costs: []}
  let drawn
  new MutationObserver(() => {
    if (drawn || document.documentElement?.dataset.boardOffset === undefined) return
    drawn = true
    // The frame in which it is drawn, and the one behind it: then it was shown.
    requestAnimationFrame(() => requestAnimationFrame(() => watched.drawnAfter = performance.now()))
  }).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ['data-board-offset']})
  const own = requestAnimationFrame.bind(window)
  window.requestAnimationFrame = run => own(time => {
    const began = performance.now()
    run(time)
    watched.cost = (watched.cost ?? 0) + performance.now() - began
  })
  window.watchFrames = () => {
    let last
    watched.cost = 0
    const frame = () => {
      const now = performance.now()
      // What the frame before this one has cost: that one's callbacks are behind this one's.
      if (last !== undefined) { watched.spans.push(now - last); watched.costs.push(watched.cost) }
      watched.cost = 0
      last = now
      own(frame)
    }
    own(frame)
  }
"""


def spread(values):
    """Median, 95th and 99th of 100, and the largest, in ms."""
    values = sorted(values)
    return {"p50": round(statistics.median(values), 2), "p95": round(values[int(len(values) * 0.95)], 2),
            "p99": round(values[int(len(values) * 0.99)], 2), "max": round(values[-1], 2)}


def join(stage, strokes, joins, is_cold):
    """From the beginning of the navigation, the page's own load with it, until the last of so many strokes was shown; ms. The browser
    has been here before and kept the page's modules, or, if it `is_cold`, keeps nothing."""
    relay = stage.relay("--message-rate", "5000")
    relay.draw_many("lesson", strokes)
    times = []
    for number in range(joins):
        if number == 0:
            page = watched(stage, relay, "Ada")
            page.driver.execute_cdp_cmd("Network.enable", {})
            page.driver.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": is_cold})
        else:
            page.reload()
        page.wait("connected")
        page.must_have(strokes)
        after = until(lambda: page.ask("return window.watched.drawnAfter"), "the board is drawn")
        # The first load waits for a name, which a person gives.
        if number > 0:
            times.append(after)
    return {"figure": "join-to-drawn", "isCold": is_cold, "strokes": strokes, "joins": len(times), "load": os.getloadavg()[0],
            "ms": spread(times)}


# Takes the paper along by 8 px a frame, and then goes over the board with the eraser; ms of each frame, and of each move of the hand.
HANDS = """const done = arguments[0]
  const spans = []
  let last
  const pan = () => {
    const now = performance.now()
    if (last !== undefined) spans.push(now - last)
    last = now
    if (spans.length < 120) {
      const {x, y, scale} = window.whiteboard.view
      window.whiteboard.view = {x, y: y + 8, scale}
      return requestAnimationFrame(pan)
    }
    window.whiteboard.view = {x: 0, y: 0, scale: 1}
    Element.prototype.setPointerCapture = () => {}
    document.getElementById('tool-eraser').click()
    const moves = []
    for (let at = 0; at <= 60; at++) {
      const began = performance.now()
      document.getElementById('stage').dispatchEvent(new PointerEvent(at === 0 ? 'pointerdown' : at === 60 ? 'pointercancel' : 'pointermove',
        {pointerId: 7, pointerType: 'mouse', buttons: 1, clientX: 30 + at * 15, clientY: 100 + at * 9, bubbles: true, cancelable: true}))
      moves.push(performance.now() - began)
    }
    return done([spans, moves])
  }
  window.whiteboard.view = {x: 0, y: 0, scale: 1}
  requestAnimationFrame(pan)"""


def hands(stage, strokes):
    """One pans a board of so many strokes, and sweeps over it with the eraser."""
    relay = stage.relay("--message-rate", "5000")
    relay.draw_many("lesson", strokes)
    page = stage.page(relay, "Ada", size=(1920, 1080))
    page.must_have(strokes)
    page.driver.set_script_timeout(300)
    spans, moves = page.driver.execute_async_script(HANDS)
    return {"figure": "hands", "strokes": strokes, "window": "1920x1080", "framesPerSecond": round(1000 * len(spans) / sum(spans), 1),
            "betweenFramesMs": spread(spans), "sweepMs": round(sum(moves), 1), "moveMs": spread(moves)}


def watched(stage, relay, who, **more):
    """A page that is open, and watched from before its first script on."""
    page = stage.visitor(relay, who, **more)
    page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    return page.open()


# A page that does nothing but draw one square a frame.
SQUARE = """document.body.style.margin = 0
  const canvas = Object.assign(document.createElement('canvas'), {width: innerWidth, height: innerHeight})
  document.body.append(canvas)
  const context = canvas.getContext('2d')
  let at = 0
  const draw = () => {
    context.clearRect(0, 0, canvas.width, canvas.height)
    context.fillRect(at++ % canvas.width, 100, 50, 50)
    requestAnimationFrame(draw)
  }
  draw()"""


class Drawing:
    """Ten who draw, each so many packets a second, and each packet with so many points; every 2 s each has finished a line."""

    def __init__(self, stage, relay, rate, points):
        self.rate, self.points, self.sent = rate, points, 0
        self.drawers = [Drawer(relay, "lesson", number) for number in range(10)]
        stage.clients += self.drawers
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._draw, daemon=True)
        self.thread.start()

    def _draw(self):
        lines, due, turn = {}, time.monotonic(), 0
        while not self.is_over.is_set():
            for drawer in self.drawers:
                at = turn % (2 * self.rate)
                if at == 0:
                    if drawer in lines:
                        drawer.finish(*lines[drawer])
                    x, y = 120 + drawer.number % 5 * 340, 180 + drawer.number // 5 * 380
                    lines[drawer] = drawer.new_id(), spiral(x + 40, y + 60, 2 * self.rate * self.points / 16, 90)
                name, places = lines[drawer]
                first = at * self.points
                drawer.points_of(name, places[first:first + self.points], first)
                self.sent += 1
            turn += 1
            due += 1 / self.rate
            time.sleep(max(0, due - time.monotonic()))

    def end(self):
        self.is_over.set()
        self.thread.join()


def watch(page, drawing, seconds):
    """What frames cost for so many seconds."""
    page.ask("window.watched.spans = []; window.watched.costs = []; window.watchFrames()")
    began, before = time.monotonic(), drawing.sent
    time.sleep(seconds)
    seen = page.ask("return window.watched")
    took, spans = time.monotonic() - began, seen["spans"]
    return {"packetsPerSecond": round((drawing.sent - before) / took), "frames": len(spans), "framesPerSecond": round(len(spans) / took, 1),
            "betweenFramesMs": spread(spans), "scriptPerFrameMs": spread(seen["costs"]), "over33Ms": sum(span > 33.4 for span in spans)}


def frames(stage, seconds, rate, points, slowdown):
    """What a page shows while ten draw; slowed down, beside a page that draws a square."""
    relay = stage.relay("--message-rate", "5000")
    drawing = Drawing(stage, relay, rate, points)
    page = watched(stage, relay, "Ada", size=(1920, 1080))
    page.wait(live=lambda live: live >= 10)
    page.driver.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": slowdown})
    result = {"figure": "frames", "drawers": 10, "pointsPerPacket": points, "slowdown": slowdown, "window": "1920x1080",
              "load": os.getloadavg()[0], **watch(page, drawing, seconds), "linesFinished": page.elements()}
    if slowdown > 1:
        page.driver.get("about:blank")
        page.ask(SQUARE)
        square = watch(page, drawing, seconds / 2)["framesPerSecond"]
        result |= {"squareFramesPerSecond": square, "ofSquare": round(result["framesPerSecond"] / square, 2)}
        page.driver.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": 1})
    drawing.end()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", help="boardrelay; a build of this tree if not given")
    parser.add_argument("--strokes", type=int, default=2000)
    parser.add_argument("--joins", type=int, default=7)
    parser.add_argument("--cold", action="store_true", help="the browser that joins has kept nothing of the page")
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--rate", type=int, default=60, help="packets a second of each who draws")
    parser.add_argument("--points", type=int, default=1, help="points in each packet")
    parser.add_argument("--slowdown", type=float, default=1, help="how much slower the page's processor is while ten draw")
    parser.add_argument("--only", choices=("join", "hands", "frames"), help="one figure alone")
    parser.add_argument("--runs", type=int, default=1, help="how often each is measured")
    options = parser.parse_args()
    lacking = tools.missing(["chromium"])
    if lacking:
        print(f"this machine lacks {', '.join(lacking)}", file=sys.stderr)
        return 1
    import stage
    binary = pathlib.Path(find_binary(options.binary))
    screen = tools.Screen()
    browsers = stage.Browsers(screen)
    machine = {"cores": os.cpu_count(), "machine": platform.machine(), "system": platform.platform()}
    try:
        figures = {"join": lambda place: join(place, options.strokes, options.joins, options.cold),
                   "hands": lambda place: hands(place, options.strokes),
                   "frames": lambda place: frames(place, options.seconds, options.rate, options.points, options.slowdown)}
        for measure in [figure for name, figure in figures.items() if options.only in (None, name) for _ in range(options.runs)]:
            place = stage.Stage(binary, browsers, ["chromium"], None)
            try:
                print(json.dumps(measure(place) | machine), flush=True)
            finally:
                place.end()
    finally:
        browsers.end()
        screen.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
