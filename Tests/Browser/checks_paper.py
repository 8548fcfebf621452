"""A board's paper; and what comes late to a page, whose link was broken meanwhile."""

import base64

from browser import until
from checks_drawing import line
from checks_page import READ_DOWNLOAD, TAKE_DOWNLOADS
from stage import check

PAPERS = ("dotted", "squared", "ruled", "blank")
LOOK = "return getComputedStyle(document.getElementById('stage')).backgroundImage"

# How many pixels of a screenshot are lines, and how many of these do not lie where the drawing's squares lie.
LINES = """const [url, done] = arguments
  const image = new Image()
  image.onload = () => {
    const {width, height} = image
    const context = Object.assign(document.createElement('canvas'), {width, height}).getContext('2d', {willReadFrequently: true})
    context.drawImage(image, 0, 0)
    const {x, scale} = window.whiteboard.view
    const row = context.getImageData(0, Math.round(height / 2) + 5, width, 1).data
    const row2 = context.getImageData(0, Math.round(height / 2) + 7, width, 1).data
    const isLine = at => [row, row2].every(({[4 * at]: red, [4 * at + 1]: green}) => Math.abs(red - arguments[2]) > 9)
    const found = []
    for (let at = 0; at < width; at++) if (isLine(at)) found.push(at)
    const step = 24 * 2 ** Math.max(0, Math.ceil(Math.log2(0.6 / scale)))
    const off = at => { const place = (at / scale + x) / step; return Math.abs(place - Math.round(place)) * step * scale }
    done([found.length, Math.max(...found.map(off)), width / step / scale])
  }
  image.src = url"""


def choose(page, name):
    page.click("#more")
    until(lambda: page.is_shown("#paper"), "the paper is in the menu")
    page.ask("""const select = document.getElementById('paper')
        select.value = arguments[0]
        select.dispatchEvent(new Event('change'))""", name)
    until(lambda: not page.is_shown("#menu"), "the menu closes")


@check("who may draw chooses the board's paper, and others see it at once; what is not known is dotted; readers have no choice")
def paper(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada", size=(1280, 800)), stage.page(relay, "Ben")
    until(lambda: ada.ask("return document.getElementById('paper') !== null"), "what comes late has come")
    until(lambda: "radial" in ben.ask(LOOK), "dotted at first")
    looks = {"dotted": ben.ask(LOOK)}
    for name in PAPERS[1:]:
        choose(ada, name)
        until(lambda: ben.ask("return document.getElementById('stage').dataset.paper") == name, f"Ben sees {name}")
        until(lambda: ben.ask(LOOK) not in looks.values(), "it looks so")
        looks[name] = ben.ask(LOOK)
    assert looks["blank"] == "none", looks
    relay.set_item("lesson", "paper", "graph")
    for page in (ada, ben):
        until(lambda: page.ask(LOOK) == looks["dotted"], "it is dotted again")
        assert page.ask("return document.getElementById('paper').value") == "dotted"
    relay.freeze("lesson")
    ada.wait(link="connected")
    until(lambda: ada.ask("return document.getElementById('paper').parentElement.hidden"), "who only watches has no choice")


@check("squares lie under the drawing at every zoom, in both themes; a picture that is saved has them")
def squares(stage):
    relay = stage.relay()
    relay.set_item("lesson", "paper", "squared")
    for dark in (False, True):
        page = stage.page(relay, "Night" if dark else "Day", size=(1280, 800), dark=dark)
        page.browser.enter(page.window)
        page.browser.set_dark(dark)
        until(lambda: "repeating" in page.ask(LOOK), "it is squared")
        page.draw(*line(150, 150))
        for scale in (1, 0.87, 3.3, 0.31):
            page.show(3_000 * (scale != 1), 2_500 * (scale != 1), scale)
            url = "data:image/png;base64," + page.driver.get_screenshot_as_base64()
            count, off, wanted = page.driver.execute_async_script(LINES.replace("arguments[2]", "23" if dark else "251"), url)
            assert abs(count - wanted) < 3 and off <= 1.01, f"{count} lines of {wanted:.0f}, {off:.2f} px off, at {scale}"
            stage.picture(page, f"squared-{'dark' if dark else 'light'}-{scale}")
        page.resize(320, 568)
        page.click("#more")
        stage.picture(page, f"paper-menu-{'dark' if dark else 'light'}-320")
    relay.set_item("lesson", "paper", "ruled")
    until(lambda: page.ask("return document.getElementById('stage').dataset.paper") == "ruled", "it is ruled")
    page.click("#more")
    page.resize(1280, 800)
    page.show(0, 0)
    stage.picture(page, "ruled")
    page.ask(TAKE_DOWNLOADS)
    page.click("#more")
    page.click("#export-png")
    until(lambda: page.ask("return window.taken.length"), "a picture is handed over")
    _, url = page.driver.execute_async_script(READ_DOWNLOAD)
    if stage.pictures:
        (stage.pictures / f"{page.browser.name}-ruled-export.png").write_bytes(base64.b64decode(url.split(",", 1)[1]))
    page.click("#more")
    page.click("#export-svg")
    until(lambda: page.ask("return window.taken.length"), "a drawing is handed over")
    _, url = page.driver.execute_async_script(READ_DOWNLOAD)
    assert base64.b64decode(url.split(",", 1)[1]).decode() == relay.export("lesson"), "SVG is as the relay exports it"


@check("what a broken link kept away comes when the link is back, and the bar tells who drew what is selected")
def comes_later(stage):
    relay = stage.relay()
    stage.breaks_links = True
    ada = stage.visitor(relay, "Ada", size=(320, 640))
    ada.cutter.hold(b"/page/edit-bar.js")
    ada.open()
    ada.cutter.cut()
    ada.wait(link=lambda link: link != "connected")
    assert ada.ask("return document.getElementById('edit-bar') === null"), "it was there before"
    ada.cutter.release(b"/page/edit-bar.js")
    ada.cutter.mend()
    ada.wait("connected")
    until(lambda: ada.ask("return document.getElementById('edit-bar') !== null"), "the bar comes with the link")
    ada.draw(*line(100, 250))
    ada.must_have(1)
    ada.press("a", control=True)
    ada.click("#edit-who")
    until(lambda: "By you" in ada.words("#toasts"), "it is told who drew it")
    left, right, width = ada.ask("""const {left, right} = document.getElementById('edit-bar').getBoundingClientRect()
        return [left, right, innerWidth]""")
    assert left >= 0 and right <= width, (left, right, width)
    stage.picture(ada, "edit-bar-320")
