"""One person's page: opened over a link of its own, drawn on with a pen, asked what it shows."""

import hashlib

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.pointer_input import PointerInput
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import PATIENCE, until
from cutter import Cutter
from tools import HOST

FRAME_SECONDS = 0.016
PRESSURE = 0.6


# Draws records on a canvas as the board layer's, where the window is, and compares the two.
AT_ONCE = """const [records, done] = arguments
    ;(async () => {
      const [{Records}, {drawElement, loadKinds}] = [await import('/page/records.js'), await import('/page/kinds/index.js')]
      await loadKinds()
      const kept = new Records(() => {})
      records.forEach((record, at) => kept.received({isRetained: true, key: record.id, offset: at + 1, sender: 'x',
        customType: record.points ? 'stroke' : 'text', payload: JSON.stringify(record)}))
      kept.flush()
      const board = document.getElementById('board')
      // With room around it: near where a line is cut off an engine smooths it otherwise.
      const edge = 200
      const canvas = Object.assign(document.createElement('canvas'), {width: board.width + 2 * edge, height: board.height + 2 * edge})
      const context = canvas.getContext('2d')
      context.lineCap = context.lineJoin = 'round'
      const {x, y, scale} = window.whiteboard.view
      const zoom = scale * devicePixelRatio
      context.setTransform(zoom, 0, 0, zoom, edge - Math.round(x * zoom), edge - Math.round(y * zoom))
      for (const element of kept.ordered) drawElement(context, element)
      // As it is seen, on paper: of a pixel that nearly nothing covers the colour says nothing.
      const [shown, wanted] = [[board, 0], [canvas, -edge]].map(([layer, corner]) => {
        const paper = Object.assign(document.createElement('canvas'), {width: board.width, height: board.height})
        const context = paper.getContext('2d', {willReadFrequently: true})
        context.fillStyle = '#fff'
        context.fillRect(0, 0, board.width, board.height)
        context.drawImage(layer, corner, corner)
        return context.getImageData(0, 0, board.width, board.height).data
      })
      const found = [0, 0, 0]
      for (let at = 0; at < shown.length; at += 4) {
        const off = Math.max(...[0, 1, 2, 3].map(channel => Math.abs(shown[at + channel] - wanted[at + channel])))
        found[0] += off > 0
        found[1] = Math.max(found[1], off)
        found[2] += wanted[at] + wanted[at + 1] + wanted[at + 2] < 765
      }
      done(found)
    })()"""


class Page:
    """A window of a browser with the whiteboard in it."""

    def __init__(self, browser, relay, board, who, key="join", size=(1000, 700), cutter=None):
        self.browser, self.relay, self.board, self.who = browser, relay, board, who
        self.key, self.size = key, size
        self.is_known = False
        # With one of another page it is another tab of the same browser.
        self.cutter = cutter or Cutter(relay)
        self.window = browser.window()

    @property
    def driver(self):
        return self.browser.enter(self.window)

    def ask(self, script, *arguments):
        """Runs a script in the page; its answer."""
        return self.driver.execute_script(script, *arguments)

    # -- coming and going ------------------------------------------------------------------------

    def address(self):
        if self.board is None and self.key is None:
            # As a person types it.
            return f"http://{HOST}:{self.cutter.port}"
        if self.board is None:
            # As the relay prints it.
            return f"http://{HOST}:{self.cutter.port}/#key={self.relay.keys[self.key]}"
        key = f"?k={self.relay.keys[self.key]}" if self.key else ""
        return f"http://{HOST}:{self.cutter.port}/{self.relay.space}#/b/{self.board}{key}"

    def open(self):
        """Loads the page and comes in under the name of `who`."""
        self.load()
        if not self.is_known:
            self.introduce()
        self.wait("connected")
        until(lambda: self.state()[1] is not None, f"{self.who} has read the board")
        return self

    def load(self, is_awaited=True):
        """Loads the page, which then asks for a name. Several load at once where nobody waits for each."""
        driver = self.driver
        self.browser.resize(*self.size)
        if is_awaited or not self.browser.loads_alone:
            self.browser.load(self.cutter, lambda: driver.get(self.address()))
        else:
            driver.execute_script("location.href = arguments[0]", self.address())

    def introduce(self):
        """Gives the name that the page asks for on a first visit; nothing connects before."""
        until(lambda: self.is_shown("#welcome"), f"{self.who} is asked for a name")
        name = self.find("#name")
        name.clear()
        name.send_keys(self.who)
        self.click("#start")

    def reload(self):
        driver = self.driver
        self.browser.load(self.cutter, driver.refresh)

    def resize(self, width, height):
        self.browser.enter(self.window)
        self.size = (width, height)
        self.browser.resize(width, height)

    def close(self):
        self.browser.give_back(self.window)

    # -- what it says of itself ------------------------------------------------------------------

    def state(self):
        """What `<html>` carries: link, offset, unsent, live."""
        link, *counts = self.ask(
            "const {link, boardOffset, unsent, live} = document.documentElement.dataset; return [link, boardOffset, unsent, live]")
        return link, *(None if count in (None, "") else int(count) for count in counts)

    def wait(self, link=None, unsent=None, live=None, seconds=PATIENCE):
        """Until it says so; what is not given is not looked at."""
        wanted = {name: value for name, value in (("link", link), ("unsent", unsent), ("live", live)) if value is not None}

        def is_so():
            found = dict(zip(("link", "offset", "unsent", "live"), self.state()))
            return all(value(found[name]) if callable(value) else found[name] == value for name, value in wanted.items())
        until(is_so, lambda: f"{self.who}'s {' and '.join(wanted)} as wanted; link, offset, unsent and live are {self.state()}", seconds)

    def svg(self):
        """The text of its SVG export."""
        return self.driver.execute_async_script("window.whiteboard.svg().then(arguments[0])")

    def layer(self):
        """SHA-256 of the pixels of the board layer: a PNG of one engine is the same bytes for the same pixels."""
        self.show(0, 0)
        url = self.ask("return document.getElementById('board').toDataURL()")
        return hashlib.sha256(url.encode()).hexdigest()

    def unlike_at_once(self, records):
        """How many pixels are not as they are where these records are drawn at one go, how far off the worst is, and how many have ink."""
        return self.driver.execute_async_script(AT_ONCE, records)

    def show(self, x, y, scale=1):
        """The part of the board that the window shows; returns when it is drawn."""
        self.driver.execute_async_script("""const [view, done] = arguments
            const shown = window.whiteboard.view
            // What was drawn as it came is to be as what is drawn at once: nothing is drawn anew without need.
            if (['x', 'y', 'scale'].some(name => shown[name] !== view[name])) window.whiteboard.view = view
            requestAnimationFrame(() => requestAnimationFrame(() => done()))""", {"x": x, "y": y, "scale": scale})

    def ink(self):
        """How many pixels of the board layer are not as most of them are."""
        return self.ask("""const board = document.getElementById('board')
            const pixels = new Uint32Array(board.getContext('2d').getImageData(0, 0, board.width, board.height).data.buffer)
            const counts = new Map()
            for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1)
            return pixels.length - Math.max(...counts.values())""")

    def keyed(self):
        """What the records say that it has, by their keys."""
        return self.ask("""return Object.fromEntries(
            window.whiteboard.records.map(({key, customType, payload}) => [key, [customType, payload]]))""")

    def elements(self):
        """How many strokes and texts its board has."""
        return self.ask("return window.whiteboard.elements")

    def must_have(self, count):
        """Until its board has so many strokes and texts."""
        until(lambda: self.elements() == count, lambda: f"{self.who} has {count} strokes and texts; there are {self.elements()}")

    def must_follow(self):
        """Until it has what others draw at this moment, which is lost to who comes late: a board is read before."""
        until(lambda: self.driver.execute_async_script("""const done = arguments[0], {client, board} = window.whiteboard
            const follows = name => client.channel(board).topic(name).followed().then(({all}) => all)
            Promise.all(['points', 'cursors'].map(follows)).then(all => done(all.every(Boolean)), () => done(false))"""),
              f"{self.who} follows what others draw")

    # -- a hand ----------------------------------------------------------------------------------

    def pen(self, kind=None):
        """A pointer of this kind; the engine's best one if none is named."""
        kind = kind or self.browser.best_pointer
        return (Pointer if kind in self.browser.pointers else ScriptedPointer)(self, kind)

    def draw(self, *points, kind=None):
        """A whole stroke: places in the window, one a frame."""
        self.pen(kind).stroke(*points)

    def press(self, *keys, control=False):
        """Keys, to whatever has the focus."""
        chain = ActionChains(self.driver, duration=0)
        if control:
            chain.key_down(Keys.CONTROL)
        chain.send_keys(*keys)
        if control:
            chain.key_up(Keys.CONTROL)
        chain.perform()

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def words(self, selector):
        """The text that is shown there; the drivers' own idea of it differs."""
        return self.ask("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def click(self, selector):
        until(lambda: self.is_shown(selector), f"{self.who}: {selector} is shown")
        element = self.find(selector)
        # WebKit's driver clicks nothing that its panel has to be scrolled for.
        self.ask("arguments[0].scrollIntoView({block: 'nearest'})", element)
        element.click()

    def leave_by(self, selector):
        """Clicks what makes the page load itself anew; returns on the new one."""
        self.browser.mark(self.driver)
        self.click(selector)
        until(self.browser.is_marked_no_more, f"{self.who} has another page")

    def is_shown(self, selector):
        """Whether something of this kind can be seen. One question: what is found first may be gone at a second."""
        return self.ask("""return [...document.querySelectorAll(arguments[0])].some(element =>
            element.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) && element.getClientRects().length > 0)""", selector)

    def is_usable(self, selector):
        """Whether it is shown and not disabled."""
        return self.is_shown(selector) and self.ask("return document.querySelector(arguments[0])?.disabled === false", selector)


class Pointer:
    """A pointer that the driver moves. It can rest in the middle of a stroke while others draw."""

    def __init__(self, page, kind):
        self.page, self.kind = page, kind

    def down(self, x, y):
        pressure = {} if self.kind == "mouse" else {"pressure": PRESSURE}
        self._act(lambda hand: (hand.move_to_location(x, y), hand.pointer_down(**pressure)))

    def move(self, *points):
        self._act(lambda hand: self._go(hand, points))

    def up(self):
        self._act(lambda hand: hand.pointer_up(0))

    def stroke(self, first, *points):
        """All at once: a finger that is down is forgotten by the driver when its command ends."""
        pressure = {} if self.kind == "mouse" else {"pressure": PRESSURE}
        self._act(lambda hand: (hand.move_to_location(*first), hand.pointer_down(**pressure), self._go(hand, points), hand.pointer_up(0)))

    @staticmethod
    def _go(hand, points):
        for x, y in points:
            hand.move_to_location(x, y)
            hand.pause(FRAME_SECONDS)

    def _act(self, what):
        builder = ActionBuilder(self.page.driver, mouse=PointerInput(self.kind, f"{self.kind} in {self.page.window}"), duration=0)
        what(builder.pointer_action)
        builder.perform()


class ScriptedPointer:
    """One of a kind that the engine's driver cannot move: its events are made by a script, and so no pointer can be captured."""

    SEND = """const [kind, pressure, type, points, done] = arguments
        Element.prototype.setPointerCapture = Element.prototype.releasePointerCapture = () => {}
        const frame = () => {
          const point = points.shift()
          if (!point) return done()
          const [clientX, clientY] = point
          document.elementFromPoint(clientX, clientY).dispatchEvent(new PointerEvent(type, {
            bubbles: true, cancelable: true, composed: true, isPrimary: true, pointerId: 77, pointerType: kind, pressure: type === 'pointerup' ? 0 : pressure,
            button: type === 'pointermove' ? -1 : 0, buttons: type === 'pointerup' ? 0 : 1, clientX, clientY}))
          requestAnimationFrame(frame)
        }
        frame()"""

    def __init__(self, page, kind):
        self.page, self.kind, self.last = page, kind, None

    def down(self, x, y):
        self._send("pointerdown", (x, y))

    def move(self, *points):
        self._send("pointermove", *points)

    def up(self):
        self._send("pointerup", self.last)

    def stroke(self, first, *points):
        self.down(*first)
        if points:
            self.move(*points)
        self.up()

    def _send(self, type_, *points):
        self.last = points[-1]
        self.page.driver.execute_async_script(self.SEND, self.kind, PRESSURE, type_, points)

