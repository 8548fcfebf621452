"""What is done with what is selected, what a board is drawn on, and how one goes from board to board."""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from browser import until
from checks_drawing import line
from stage import check

# What the clipboard's events do, without the clipboard that all programs of this machine share.
CLIPBOARD = """const [type, text] = arguments
  const clipboardData = new DataTransfer()
  if (text) clipboardData.setData('text/plain', text)
  document.dispatchEvent(new ClipboardEvent(type, {bubbles: true, cancelable: true, clipboardData}))
  return clipboardData.getData('text/plain')"""


def clip(page, kind, text=None):
    return page.ask(CLIPBOARD, kind, text)


def keys(page, *names, held=()):
    chain = ActionChains(page.driver, duration=0)
    for key in held:
        chain.key_down(key)
    chain.send_keys(*names)
    for key in held:
        chain.key_up(key)
    chain.perform()


def edited(page):
    """Where keys, clipboard and bar have come."""
    until(lambda: page.ask("return document.getElementById('edit-bar') !== null"), f"{page.who} can edit")


@check("what is selected is moved by keys, duplicated, resized, recoloured, protected, cut and pasted, for others too")
def selected(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    for y in (150, 300):
        ada.draw(*line(150, y))
    ada.must_have(2)
    edited(ada)
    ada.press("v")
    ada.press("a", control=True)
    until(lambda: ada.is_shown("#edit-duplicate"), "the bar is shown")
    stage.picture(ada, "selected")
    keys(ada, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    keys(ada, Keys.ARROW_DOWN, held=[Keys.SHIFT])
    ada.press("d", control=True)
    ada.must_have(4)
    stage.settle(ada, ben)
    begins = sorted(tuple(record["points"][:2]) for record in relay.records("lesson"))
    assert begins == sorted([(15200, 16100), (15200, 31100), (16800, 17700), (16800, 32700)]), begins
    ada.press("3")
    ada.wait(unsent=0)
    stage.settle(ada, ben)
    colors = [record["color"] for record in relay.records("lesson")]
    assert sorted(colors) == ["#1B1B1BFF"] * 2 + ["#D92D20FF"] * 2, colors
    # The copies are selected. Their text goes to Ben's page, which is another browser's as far as its storage goes.
    text = clip(ada, "copy")
    assert text.startswith('{"format":"board","records":['), text[:80]
    clip(ada, "cut")
    ada.must_have(2)
    edited(ben)
    clip(ben, "paste", text)
    ben.must_have(4)
    clip(ben, "paste", "Words from a letter")
    ben.must_have(5)
    stage.settle(ada, ben)
    assert "Words from a letter" in relay.export("lesson")
    # A guest selects what is the guest's own.
    ada.press("a", control=True)
    ada.click("#edit-protect")
    until(lambda: ada.ask("return document.querySelector('#edit-bar').hidden"), "what is protected is not selected any more")
    ada.press("a", control=True)
    assert ada.ask("return document.querySelector('#edit-bar').hidden"), "what is protected was selected"
    keys(ada, "L", held=[Keys.CONTROL, Keys.SHIFT])
    ada.click("#edit-unlock")
    ada.click("#edit-remove")
    ben.must_have(3)
    stage.settle(ada, ben)


@check("what is selected is resized by its handle; the bar fits a small window")
def resized(stage):
    relay = stage.relay()
    ada = stage.page(relay, "Ada", size=(360, 700))
    ada.draw(*[(100 + n * 10, 250 + n * 10) for n in range(11)], kind="mouse")
    ada.must_have(1)
    edited(ada)
    ada.press("v")
    ada.press("a", control=True)
    until(lambda: ada.is_shown("#edit-duplicate"), "the bar is shown")
    left, right = ada.ask("const {left, right} = document.getElementById('edit-bar').getBoundingClientRect(); return [left, right]")
    assert left >= 0 and right <= ada.ask("return innerWidth"), (left, right)
    sizes = ada.ask("return [...document.querySelectorAll('#edit-bar button')].filter(({hidden}) => !hidden)"
                    ".map(button => Math.min(button.offsetWidth, button.offsetHeight))")
    assert len(sizes) == 7 and min(sizes) >= 44, sizes
    stage.picture(ada, "selected-360")
    ada.draw((208, 358), (230, 360), (258, 358), kind="mouse")
    ada.wait(unsent=0)
    points = relay.records("lesson")[0]["points"]
    assert points[0] == 10024 or abs(points[0] - 10050) < 100, points[:2]
    across = sum(points[2::2])
    assert 14500 < across < 15500 and 9800 < sum(points[3::2]) < 10200, f"it is {across} wide: {points}"


@check("a page that is loaded again has the tool, its colour, the view and one's own steps back")
def remembered(stage):
    relay = stage.relay()
    ada = stage.page(relay, "Ada")
    ada.draw(*line(150, 150))
    ada.draw(*line(150, 300))
    ada.must_have(2)
    edited(ada)
    ada.press("h")
    ada.press("3")
    ada.show(40, 30, 1.5)
    ada.wait(unsent=0)
    ada.reload()
    ada.wait("connected")
    ada.must_have(2)
    assert ada.ask("return document.documentElement.dataset.tool") == "marker"
    assert ada.ask("return window.whiteboard.view") == {"x": 40, "y": 30, "scale": 1.5}
    assert "217, 45, 32" in ada.ask("return getComputedStyle(document.querySelector('#style i')).backgroundColor")
    until(lambda: ada.is_usable("#undo"), "there is something to undo")
    ada.click("#undo")
    ada.must_have(1)
    ada.click("#undo")
    ada.must_have(0)
