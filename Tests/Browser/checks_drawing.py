"""Drawing together: what one does, all see, and in the end all see the same."""

from selenium.webdriver.common.keys import Keys

from browser import until
from checks_hands import after_palms
from page import PRESSURE
from stage import check


def line(x, y, count=12, dx=12, dy=5):
    return [(x + n * dx, y + n * dy) for n in range(count)]


def two_with_a_line(stage):
    """A relay, and two who have seen what the first drew."""
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ada.draw(*line(150, 150))
    stage.settle(ada, ben)
    return relay, ada, ben


@check("two draw at once with pens, a third comes late")
def two_and_a_third(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    pens = [ada.pen(), ben.pen()]
    pens[0].down(200, 200)
    pens[1].down(500, 200)
    for step in range(1, 5):
        pens[0].move(*line(200 + step * 40, 200 + step * 10, 4, 10, 3))
        pens[1].move(*line(500 - step * 10, 200 + step * 40, 4, -3, 10))
    # Each sees the other's unfinished line besides its own.
    ada.wait(live=2)
    ben.wait(live=2)
    assert ada.elements() == ben.elements() == 0, "an unfinished line is on the board"
    pens[0].up()
    ada.must_have(1)
    ben.must_have(1)
    ben.wait(live=1)
    pens[1].up()
    stage.settle(ada, ben)
    assert ada.elements() == 2 and ada.ink() > 500, f"{ada.elements()} strokes, {ada.ink()} pixels"
    cy = stage.page(relay, "Cy")
    stage.settle(ada, ben, cy)
    assert cy.elements() == 2


@check("a pen's pressure makes the line wide")
def pressure(stage):
    relay = stage.relay()
    page = stage.page(relay, "Ada")
    page.draw(*line(200, 200), kind="pen")
    page.must_have(1)
    page.wait(unsent=0)
    stroke = relay.records("lesson")[0]
    assert "p" in stroke["cols"], f"no pressure is kept: cols {stroke['cols']}"
    at = stroke["cols"].index("p")
    first = stroke["points"][at]
    wanted = round(255 * PRESSURE)
    assert abs(first - wanted) <= 1, f"a pressure of {wanted} is kept as {first}"


@check("mouse and touch draw as well; a touch pans once a pen was seen")
def other_hands(stage):
    relay = stage.relay()
    page = stage.page(relay, "Ada")
    page.draw(*line(200, 200), kind="mouse")
    page.must_have(1)
    page.draw(*line(200, 300), kind="touch")
    page.must_have(2)
    page.draw(*line(200, 400), kind="pen")
    page.must_have(3)
    before = page.ask("return {...window.whiteboard.view}")
    after_palms(page)
    page.draw(*line(300, 300), kind="touch")
    until(lambda: page.ask("return {...window.whiteboard.view}") != before, "a touch after the pen has moved the view")
    assert page.elements() == 3, "a palm has drawn"
    page.wait(unsent=0)
    stage.settle(page)


@check("undo takes back what is one's own, redo brings it again")
def undo(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ada.draw(*line(150, 150))
    ada.draw(*line(150, 300))
    stage.settle(ada, ben)
    before = ada.svg()
    ben.draw(*line(500, 300))
    stage.settle(ada, ben)
    ada.press("z", control=True)
    ben.must_have(2)
    ada.press("z", control=True)
    ben.must_have(1)
    stage.settle(ada, ben)
    ada.press("z", control=True)
    ada.press("y", control=True)
    ada.press("y", control=True)
    ben.must_have(3)
    stage.settle(ada, ben)
    ben.press("z", control=True)
    ada.must_have(2)
    stage.settle(ada, ben)
    assert ada.svg() == before, "what was undone and done again is not what it was"


@check("eraser, text, move and title")
def tools(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ada.draw(*line(200, 200, 10, 15, 0))
    ada.draw(*line(200, 300, 10, 15, 0))
    ben.must_have(2)
    # The whole stroke goes, whose ever it is, where the eraser crosses it.
    ada.click("#tool-eraser")
    ada.draw(*line(270, 180, 6, 0, 8))
    ben.must_have(1)
    ada.click("#tool-text")
    ada.draw((420, 420), kind="mouse")
    until(lambda: ada.is_shown("#words"), "the text tool asks for words")
    ada.find("#words").send_keys("Ink & <paper>", Keys.ESCAPE)
    ben.must_have(2)
    stage.settle(ada, ben)
    assert "Ink &amp; &lt;paper&gt;" in ben.svg(), "the text is not in the SVG"
    before = ben.svg()
    ada.click("#tool-select")
    ada.draw(*line(270, 300, 12, 0, 10), kind="mouse")
    until(lambda: ben.svg() != before, "the stroke has moved")
    stage.settle(ada, ben)
    assert ben.elements() == 2
    ada.click("#title")
    ada.press("a", control=True)
    ada.press("The value of ink", Keys.ENTER)
    until(lambda: ben.find("#title").get_property("value") == "The value of ink", "the title is seen by others")


@check("[BL11] a thousand strokes that are moved, removed and brought back come to others all at once")
def a_thousand(stage):
    relay = stage.relay()
    relay.draw_many("lesson", 1000)
    host, ben = stage.page(relay, "Host", key="host"), stage.page(relay, "Ben")
    host.must_have(1000)
    ben.must_have(1000)
    ben.ask("""const {dataset} = document.documentElement
        window.offsets = []
        new MutationObserver(() => window.offsets.push(Number(dataset.boardOffset)))
          .observe(document.documentElement, {attributeFilter: ['data-board-offset']})""")
    host.press("v")
    host.draw((6, 72), (500, 300), (990, 600), kind="mouse")
    host.draw((21, 81), (60, 120), (81, 141), kind="mouse")
    stage.settle(host, ben)
    host.press(Keys.DELETE)
    # What is drawn behind it does not wait.
    host.press("p")
    host.draw(*line(200, 500))
    ben.must_have(1)
    stage.settle(host, ben)
    host.press("z", control=True)
    ben.must_have(0)
    host.press("z", control=True)
    ben.must_have(1000)
    stage.settle(host, ben)
    # Moved; removed, behind the stroke or before it; the stroke undone; brought back. Nothing between.
    seen = set(ben.ask("return window.offsets"))
    assert {2000, 4002} <= seen <= {2000, 2001, 3000, 3001, 3002, 4002}, f"parts of it were seen: {sorted(seen)}"


@check("colours, widths, markers and layers are the same everywhere", together=True)
def across_engines(stage):
    relay = stage.relay()
    pages = [stage.page(relay, f"{who} in {engine}", engine=engine) for engine in stage.engines for who in ("Ada", "Ben")]
    for number, page in enumerate(pages):
        page.draw(*line(120, 130 + number * 100))
        page.press("h")
        page.draw(*line(320, 130 + number * 100))
        page.press("p", str(2 + number), "]")
        page.draw(*line(520, 130 + number * 100, 16, 9, -4))
        page.draw((760, 130 + number * 100))
    # What lies above what shows where they cross: now, as it came, and to who comes late, drawn at once.
    for number, page in enumerate(pages):
        page.draw(*line(150 + number * 40, 120, 14, 3, 28))
        page.press("h")
        page.draw(*line(400 + number * 40, 120, 14, 3, 28))
    pages += [stage.page(relay, f"Cy in {engine}", engine=engine) for engine in stage.engines]
    for page in pages:
        page.must_have(24)
    stage.settle(*pages)


def crowd():
    """Records of each kind, over the borders of tiles: lines with and without pressure, markers, dots, texts that are wider than guessed."""
    texts = ("W" * 20 + "\njf", "\ufdfd\ufdfd g", "A\u030a\u0302\u0303\u0304\u0306q")
    for number in range(160):
        x, y = 300 + number * 7919 % 98000, 6000 + number * 6133 % 62000
        record = {"color": ("#1B1B1BFF", "#D92D2059", "#1F66E5FF", "#15924B80")[number % 4], "id": f"c{number:03}", "v": 1,
                  "z": number * 37 % 160}
        steps = [(900 - (number + at) * 31 % 1700, 700 - (number + at) * 53 % 1500) for at in range(9 if number % 10 else 0)]
        if number % 8 == 7:
            yield "text", record | {"size": 1200 + number % 5 * 900, "text": texts[number % 3], "x": x, "y": y}
        elif number % 3:
            yield "stroke", record | {"cols": "xy", "points": [x, y, *sum(steps, ())], "width": 150 + number % 6 * 500}
        else:
            pressed = [part for at, step in enumerate(steps) for part in (*step, -50 if at % 2 else 60)]
            yield "stroke", record | {"cols": "xyp", "points": [x, y, 100, *pressed], "width": 200 + number % 5 * 600}


@check("what stands in tiles is what one drawing of everything shows")
def in_tiles(stage):
    relay = stage.relay()
    records = list(crowd())
    relay.put("lesson", records)
    page = stage.page(relay, "Ada")
    page.must_have(len(records))
    for view in ((0, 0, 1), (-37, 21, 1), (150.4, -80.7, 1), (150.4, 300, 0.5), (-300, -200, 0.37), (200, 100, 1.7), (333.3, 222.2, 6)):
        page.show(*view)
        count, most, ink = page.unlike_at_once([record for _, record in records])
        assert ink > 5_000 and count < ink / 250, f"{count} of {ink} pixels are others, by up to {most} of 255, at {view}"
