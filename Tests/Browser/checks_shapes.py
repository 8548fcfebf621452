"""Shapes, erasers that cut, a laser, and colours of one's own."""

import math

import accessibility
import checks_hands as hands
from browser import until
from checks_texts import daylight
from stage import check

# How long a hand holds still that means a shape, and then some.
HOLD_MS = 800
SHAPES = ("line", "arrow", "rectangle", "ellipse")


def choose(page, tool, shown):
    """A tool whose group's button shows another one: its second press shows them all."""
    page.click(f"#tool-{shown}")
    if tool == shown:
        return
    if not page.is_shown(".flyout"):
        page.click(f"#tool-{shown}")
    until(lambda: page.is_shown(".flyout"), "the group's tools are shown")
    page.click(f".flyout [data-tool={tool}]")


@check("shapes are seen while they are drawn, are shapes in the end, and look the same everywhere")
def shapes(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ben.must_follow()
    for number, shape in enumerate(SHAPES):
        choose(ada, shape, SHAPES[max(0, number - 1)])
        hand = ada.pen("mouse")
        x = 120 + 190 * number
        hand.down(x, 200)
        hand.move((x + 60, 240), (x + 120, 320))
        ben.wait(live=1)
        assert ben.elements() == number, "an unfinished shape is on the board"
        hand.move((x + 140, 300))
        hand.up()
        ben.must_have(number + 1)
        ben.wait(live=0)
    kept = {record["shape"]: len(record["points"]) // 2 for record in relay.records("lesson")}
    assert kept == {"line": 2, "arrow": 5, "rectangle": 5, "ellipse": 65}, f"the relay has {kept}"
    stage.settle(ada, ben)
    stage.picture(ben, "shapes")
    ada.press("z", control=True)
    ben.must_have(3)


@check("the shapes' button opens them all, on a phone of 320 px too, and the board looks well with them")
def flyout(stage):
    relay = stage.relay()
    wrong = []
    for dark in (False, True):
        page = stage.page(relay, f"Ada by {'night' if dark else 'day'}", dark=dark)
        page.browser.enter(page.window)
        page.browser.set_dark(dark)
        for width, height in ((320, 640), (1280, 720)):
            page.resize(width, height)
            page.press("r")
            page.click("#tool-rectangle")
            until(lambda: page.is_shown(".flyout"), "all shapes are shown")
            left, right = page.ask("const {left, right} = document.querySelector('.flyout').getBoundingClientRect(); return [left, right]")
            assert left >= 0 and right <= page.ask("return innerWidth"), f"the shapes lie from {left} to {right} of {width}"
            place = f"shapes-{'dark' if dark else 'light'}-{width}"
            stage.picture(page, place)
            wrong += [f"{place}: {fault}" for fault in accessibility.faults(page)]
            page.click(".flyout [data-tool=arrow]")
        daylight(page)
    assert not wrong, f"{len(wrong)} faults: " + "; ".join(wrong[:12])


@check("[BL11] an area eraser leaves the rest of a line, for everybody, and undo brings the line back")
def area(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ada.draw((200, 200), *((200 + n * 20, 200 + n % 2 * 6) for n in range(1, 20)))
    ada.press("h")
    ada.draw((200, 300), (400, 300), (580, 300))
    ada.press("r")
    ada.draw((220, 380), (300, 420), (560, 480), kind="mouse")
    ben.must_have(3)
    stage.settle(ada, ben)
    before = ben.svg()
    choose(ada, "area-eraser", "eraser")
    hand = ada.pen("mouse")
    hand.down(390, 160)
    hand.move(*((390, y) for y in range(170, 431, 20)))
    stage.picture(ada, "area-eraser")
    assert ben.svg() == before, "what an eraser goes over is gone before it is lifted"
    hand.up()
    ben.must_have(5)
    stage.settle(ada, ben)
    stage.picture(ben, "area-erased")
    assert not [record for record in relay.records("lesson") if "shape" in record], "a shape that was cut is called one"
    ada.press("z", control=True)
    ben.must_have(3)
    stage.settle(ada, ben)
    assert ben.svg() == before, "undo does not bring back what was there"


# How many pixels of the layer above the board are not empty.
MOVING = """const live = document.getElementById('live'), {width, height} = live
    const context = Object.assign(document.createElement('canvas'), {width, height}).getContext('2d', {willReadFrequently: true})
    context.drawImage(live, 0, 0)
    return new Uint32Array(context.getImageData(0, 0, width, height).data.buffer).filter(Boolean).length"""


@check("a laser is seen by others with its author's name, and fades; nothing of it stays")
def laser(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ben.must_follow()
    ada.press("k")
    hand = ada.pen("mouse")
    hand.down(200, 200)
    hand.move(*((200 + n * 10, 200 + (n % 8) * 10) for n in range(1, 30)))
    until(lambda: ben.ask(MOVING) > 100, "Ben sees the laser")
    stage.picture(ben, "laser")
    assert ben.words("#cursors").strip() == "Ada", f"whose laser it is, is told as {ben.words('#cursors')!r}"
    hand.up()
    for page in ada, ben:
        until(lambda: page.ask(MOVING) == 0, f"{page.who} sees the laser no more")
    assert ada.elements() == ben.elements() == 0, "a laser has left something"
    assert not ada.is_usable("#undo"), "a laser can be undone"


@check("any colour can be picked; the last ones are there after a reload, and are to be made out in both themes")
def colors(stage):
    relay = stage.relay()
    page = stage.page(relay, "Ada", size=(360, 740))
    wrong = []
    for color in ("#ffffff", "#fff3a3", "#0a0b0c", "#12ab9f"):
        page.click("#style")
        until(lambda: page.ask("return document.querySelector('#own-color') !== null"), "other colours have come")
        # The picker itself is the browser's.
        page.ask("""const input = document.querySelector('#own-color')
            input.value = arguments[0]
            input.dispatchEvent(new Event('change'))""", color)
        page.click("#style")
    page.draw((100, 200), (200, 260), (300, 220))
    page.must_have(1)
    page.wait(unsent=0)
    assert relay.records("lesson")[0]["color"] == "#12AB9FFF", f"the stroke is {relay.records('lesson')[0]['color']}"
    page.reload()
    page.wait("connected")
    page.must_have(1)
    # One engine alone changes its colours under a page.
    for dark in (False, True) if page.browser.name == "chromium" else (False,):
        page.browser.enter(page.window)
        page.browser.set_dark(dark)
        for width, height in ((320, 640), (1280, 720)):
            page.resize(width, height)
            page.click("#style")
            until(lambda: page.is_shown("#own-color"), "the colours are shown")
            place = f"colors-{'dark' if dark else 'light'}-{width}"
            stage.picture(page, place)
            wrong += [f"{place}: {fault}" for fault in accessibility.faults(page)]
            page.click("#style")
    daylight(page)
    found = page.ask("""const buttons = [...document.querySelectorAll('#own-colors button')]
        return buttons.map(({dataset, ariaPressed}) => [dataset.color, ariaPressed])""")
    assert found == [["#12AB9FFF", "true"], ["#0A0B0CFF", "false"], ["#FFF3A3FF", "false"]], f"kept are {found}"
    assert not wrong, f"{len(wrong)} faults: " + "; ".join(wrong[:12])


@check("a line that is held still at its end becomes the shape that was meant, and undo gives the ink back")
def held(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    until(lambda: ada.ask("return performance.getEntriesByType('resource').some(({name}) => name.endsWith('/page/recognise.js'))"),
          "what recognises shapes has come")
    around = [(300 + 90 * math.cos(n / 20 * math.pi), 300 + 70 * math.sin(n / 20 * math.pi)) for n in range(41)]
    ring = [part for x, y in around[1:] for part in (("p1", "move", x, y), 16)]
    hands.play(ada, ("p1", "down", *around[0]), *ring, HOLD_MS)
    stage.picture(ada, "held")
    hands.play(ada, ("p1", "up", *around[-1]))
    ben.must_have(1)
    stage.settle(ada, ben)
    assert relay.records("lesson")[0].get("shape") == "ellipse", f"the relay has {relay.records('lesson')}"
    ada.press("z", control=True)
    until(lambda: "shape" not in relay.records("lesson")[0], "undo gives the ink back")
    stage.settle(ada, ben)
    hands.play(ada, ("p1", "down", *around[0]), *ring, HOLD_MS, ("p1", "move", 500, 300), 16, ("p1", "up", 520, 320))
    ben.must_have(2)
    stage.settle(ada, ben)
    assert not [record for record in relay.records("lesson") if "shape" in record], "who goes on drawing gets a shape"
