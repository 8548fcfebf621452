#!/usr/bin/env python3
"""How quick the whiteboard page is in Chromium: how long who comes late waits for a board, and what a frame costs while ten draw.

    python3 Tests/Browser/figures.py --binary PATH [--strokes 2000] [--joins 7] [--seconds 15] [--rate 60]

One JSON line each on stdout. These are figures of one machine, for a note, and no test: nothing is judged here.
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


def join(stage, strokes, joins):
    """From the beginning of the navigation until the last of so many strokes was shown; ms."""
    relay = stage.relay("--message-rate", "5000")
    relay.draw_many("lesson", strokes)
    times = []
    for number in range(joins):
        if number == 0:
            page = watched(stage, relay, "Ada")
        else:
            page.reload()
        page.wait("connected")
        page.must_have(strokes)
        after = until(lambda: page.ask("return window.watched.drawnAfter"), "the board is drawn")
        # The first load waits for a name, which a person gives.
        if number > 0:
            times.append(after)
    return {"figure": "join-to-drawn", "strokes": strokes, "joins": len(times), "ms": spread(times)}


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


def frames(stage, seconds, rate):
    """Ten draw at the rate of a screen, each packet with a point or two; every 2 s each has finished a line."""
    relay = stage.relay("--message-rate", "5000")
    drawers = [Drawer(relay, "lesson", number) for number in range(10)]
    stage.clients += drawers
    page = watched(stage, relay, "Ada", size=(1920, 1080))
    ends = threading.Event()
    sent = [0]

    def draw():
        lines = {}
        due, turn = time.monotonic(), 0
        while not ends.is_set():
            for drawer in drawers:
                if turn % (2 * rate) == 0 or drawer not in lines:
                    if drawer in lines:
                        drawer.finish(*lines[drawer])
                    x, y = 120 + drawer.number % 5 * 340, 180 + drawer.number // 5 * 380
                    lines[drawer] = drawer.new_id(), spiral(x + 40, y + 60, 2 * rate / 16, 90)
                name, places = lines[drawer]
                first = turn % (2 * rate)
                drawer.points_of(name, places[first:first + 1], first)
                sent[0] += 1
            turn += 1
            due += 1 / rate
            time.sleep(max(0, due - time.monotonic()))

    thread = threading.Thread(target=draw, daemon=True)
    thread.start()
    page.wait(live=lambda live: live >= 10)
    page.ask("window.watchFrames()")
    began, before = time.monotonic(), sent[0]
    time.sleep(seconds)
    seen = page.ask("return window.watched")
    took, count = time.monotonic() - began, sent[0] - before
    elements = page.elements()
    ends.set()
    thread.join()
    spans = seen["spans"]
    return {"figure": "frames", "drawers": 10, "packetsPerSecond": round(count / took), "window": "1920x1080", "frames": len(spans),
            "framesPerSecond": round(len(spans) / took, 1),
            "betweenFramesMs": spread(spans), "scriptPerFrameMs": spread(seen["costs"]), "over33Ms": sum(span > 33.4 for span in spans),
            "linesFinished": elements}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", help="boardrelay; a build of this tree if not given")
    parser.add_argument("--strokes", type=int, default=2000)
    parser.add_argument("--joins", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--rate", type=int, default=60)
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
        for measure in (lambda place: join(place, options.strokes, options.joins),
                        lambda place: hands(place, options.strokes),
                        lambda place: frames(place, options.seconds, options.rate)):
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
