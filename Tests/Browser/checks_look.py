"""How the page looks to everybody: phones to wall displays, light and dark, alone and among ten who draw."""

from selenium.webdriver.common.keys import Keys

import accessibility
from browser import until
from pictures import NAMES, SIZES, ten_drawing
from stage import check


def look(stage, page, what, dark):
    """All sizes; what is wrong, each with where it was seen."""
    wrong = []
    for width, height in SIZES:
        page.resize(width, height)
        page.show(0, 0)
        place = f"{what}-{'dark' if dark else 'light'}-{width}x{height}"
        wrong += [f"{place}: {fault}" for fault in accessibility.faults(page)]
        wide = page.ask("return innerWidth")
        if wide != width:
            wrong.append(f"{place}: the page is {wide} px wide")
        stage.picture(page, place)
    return wrong


def looks(stage, relay, what, ready=lambda page: None):
    wrong = []
    for dark in (False, True):
        page = stage.page(relay, f"Ada by {'night' if dark else 'day'}", dark=dark)
        page.browser.enter(page.window)
        page.browser.set_dark(dark)
        ready(page)
        is_dark = page.ask("return matchMedia('(prefers-color-scheme: dark)').matches")
        assert is_dark is dark, f"dark is {is_dark}"
        wrong += look(stage, page, what, dark)
        if dark:
            continue
        wrong += [f"{what}, by keys: {fault}" for fault in accessibility.focus_faults(page)]
    assert not wrong, f"{len(wrong)} faults: " + "; ".join(wrong[:12])


@check("an empty board is well to see and to use")
def empty(stage):
    looks(stage, stage.relay(), "empty")


@check("a board of ten who draw is well to see and to use")
def ten(stage):
    relay = stage.relay()
    drawers = ten_drawing(stage, relay)

    def ready(page):
        page.must_have(len(NAMES))
        page.must_follow()
        # Who came late sees unfinished lines from their next points on.
        for number, drawer in enumerate(drawers):
            drawer.begin(70 + number % 4 * 75, 210 + number // 4 * 130)
        page.wait(live=lambda live: live >= len(NAMES))
        until(lambda: len(page.ask("return [...document.querySelectorAll('#cursors .cursor')]")) == len(NAMES), "all cursors are shown")
    looks(stage, relay, "ten", ready)


# Which bars share a place, by their names.
OVERLAPS = """const bars = [...document.querySelectorAll('.bar')].filter(bar => bar.checkVisibility() && bar.getClientRects().length > 0)
    const places = bars.map(bar => bar.getBoundingClientRect())
    return [bars.length, bars.flatMap((one, at) => bars.slice(at + 1).filter((other, more) => {
      const [a, b] = [places[at], places[at + 1 + more]]
      return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
    }).map(other => `${one.id} and ${other.id}`))]"""


@check("no bar lies on another at any width")
def bars(stage):
    page = stage.page(stage.relay(), "Ada", key="host")
    wrong = []
    until(lambda: page.is_shown("#pause"), "the host's bar is there")
    for width in (360, 720, 721, 768, 820, 834, 1101):
        page.resize(width, 900)
        count, found = page.ask(OVERLAPS)
        assert count > 3, f"{count} bars"
        wrong += [f"{width}: {pair}" for pair in found]
        stage.picture(page, f"bars-{width}")
    assert not wrong, "; ".join(wrong)


@check("dialogs, menus and panels are well to see and to use")
def panels(stage):
    relay = stage.relay()
    page = stage.visitor(relay, "Ada", key="host", size=SIZES[0])
    page.load()
    wrong = []

    def see(what):
        wrong.extend(f"{what}: {fault}" for fault in accessibility.faults(page))
        stage.picture(page, what)
    until(lambda: page.is_shown("#welcome"), "a name is asked for")
    see("welcome")
    page.introduce()
    page.wait("connected")
    for width, height in SIZES[0], SIZES[2]:
        page.resize(width, height)
        for button, panel in (("#style", "#style-panel"), ("#people", "#people-panel"), ("#more", "#menu")):
            page.click(button)
            until(lambda: page.is_shown(panel), f"{panel} is shown")
            see(f"{panel[1:]}-{width}")
            page.press(Keys.ESCAPE)
            until(lambda: not page.is_shown(panel), f"Escape closes {panel}")
        for opener, dialog in ((["#invite"], "#invite-dialog"), (["#more", "#clear"], "#clear-dialog")):
            for button in opener:
                page.click(button)
            until(lambda: page.is_shown(dialog), f"{dialog} is shown")
            see(f"{dialog[1:]}-{width}")
            page.press(Keys.ESCAPE)
            until(lambda: not page.is_shown(dialog), f"Escape closes {dialog}")
    assert not wrong, f"{len(wrong)} faults: " + "; ".join(wrong[:12])


@check("an invitation fits on a small laptop and a phone, with its last button")
def invitation(stage):
    page = stage.page(stage.relay(), "Ada", key="host")
    for width, height in ((1280, 657), (360, 640), (320, 568)):
        page.resize(width, height)
        page.click("#invite")
        until(lambda: page.is_shown("#join-code output") and page.is_shown("#invite-close"), "the invitation is shown")
        over = page.ask("const {scrollHeight, clientHeight} = document.querySelector('#invite-dialog'); return scrollHeight - clientHeight")
        assert over <= 0, f"{over} px are below the end of {width}x{height}"
        stage.picture(page, f"invitation-{width}")
        page.press(Keys.ESCAPE)
        until(lambda: not page.is_shown("#invite-dialog"), "Escape closes it")
        page.click("#invite")
        until(lambda: page.is_shown("#invite-close"), "it is shown again")
        page.ask("document.querySelector('#invite-dialog').close(); document.querySelector('#invite').click()")
        # The old one goes a moment after it has closed.
        until(lambda: page.is_shown("#invite-close") and page.ask("return document.querySelectorAll('#invite-dialog').length") == 1,
              "it is shown to who asks in the moment in which it closes")
        page.click("#invite-close")
        until(lambda: not page.is_shown("#invite-dialog"), "its button closes it")
