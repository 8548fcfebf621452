"""The page and the status page in every language: chosen, remembered, and with room for each word in the smallest window."""

import re

from selenium.webdriver.common.keys import Keys

from browser import until
from stage import check
from tools import HOST

# The smallest phone.
SMALL = (320, 640)
# By the name of each language: what begins its page's title, and the title of its status page.
WORDS = """const [done] = arguments
    import('/page/words/index.js').then(async ({languages, wordsOf}) => done(await Promise.all(Object.keys(languages).map(async name =>
      [name, (await wordsOf(name))['app.title'].split('}')[1], (await wordsOf(name, 'status/')).title]))))"""
# Buttons and choices whose words do not fit, or that are not in the window.
CUT = """return [...document.querySelectorAll('button, select, .row')]
    .filter(element => element.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) && element.getClientRects().length > 0)
    .filter(element => {
      const {left, right} = element.getBoundingClientRect()
      return element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1 || left < 0 || right > innerWidth
    }).map(element => element.id + ': ' + element.textContent)"""


def choose(page, name):
    page.ask("""const select = document.querySelector('#language')
        select.value = arguments[0]
        select.dispatchEvent(new Event('change'))""", name)
    until(lambda: page.ask("return document.documentElement.lang") == name, f"the page is in {name}")


@check("the page is in every language, remembers which, and cuts no label in a small window")
def languages(stage):
    page = stage.page(stage.relay(), "Ada", key="host", size=SMALL)
    wrong = []

    def see(name, what):
        wrong.extend(f"{name}, {what}: {fault}" for fault in page.ask(CUT))
        if page.ask("return innerWidth") != SMALL[0] and page.browser.name == "chromium":
            wrong.append(f"{name}, {what}: the page is too wide")
        stage.picture(page, f"{name}-{what}")
    names = page.driver.execute_async_script(WORDS)
    assert len(names) >= 10, names
    for name, title, _ in names:
        page.click("#more")
        until(lambda: page.is_shown("#language"), "the menu is shown")
        choose(page, name)
        until(lambda: page.ask("return document.title").endswith(title), f"{name}: the title ends with{title}")
        until(lambda: not page.is_shown("#menu"), "the menu closes")
        see(name, "page")
        for button, panel in (("#more", "#menu"), ("#people", "#people-panel"), ("#style", "#style-panel")):
            page.click(button)
            until(lambda: page.is_shown(panel), f"{panel} is shown")
            see(name, panel[1:])
            page.press(Keys.ESCAPE)
        for opener, dialog in (("#clear", "#clear-dialog"), ("#end-board", "#end-board-dialog"), ("#leave", "#leave-dialog")):
            page.click("#more")
            page.click(opener)
            until(lambda: page.is_shown("dialog"), f"{dialog} is shown")
            see(name, dialog[1:])
            page.press(Keys.ESCAPE)
            until(lambda: not page.is_shown("dialog"), f"Escape closes {dialog}")
        page.click("#invite")
        until(lambda: page.is_shown("#join-code output"), "the invitation is shown")
        see(name, "invite")
        page.press(Keys.ESCAPE)
        until(lambda: not page.is_shown("dialog"), "Escape closes the invitation")
    page.reload()
    until(lambda: page.ask("return document.documentElement.lang") == names[-1][0], "the language is remembered")
    assert not wrong, f"{len(wrong)} faults: " + "; ".join(wrong[:12])


@check("the status page is in every language")
def status(stage):
    relay = stage.relay()
    page = stage.page(relay, "Ada", key="host", size=SMALL)
    names = page.driver.execute_async_script(WORDS)
    page.browser.go(page.driver, f"http://{HOST}:{page.cutter.port}/status#key={relay.keys['host']}")
    until(lambda: page.ask("return document.documentElement.dataset.link") == "connected", "the status page is connected")
    wrong = []
    for name, _, title in names:
        until(lambda: page.is_shown("#language"), "a language can be chosen")
        choose(page, name)
        until(lambda: page.ask("return document.title") == title, f"{name}: the title is {title}")
        until(lambda: page.ask("return document.querySelector('#uptime').textContent") != "–", "the relay has told its state")
        wrong.extend(f"{name}: {fault}" for fault in page.ask(CUT))
        over = page.ask("const {scrollWidth, clientWidth} = document.documentElement; return scrollWidth - clientWidth")
        if over > 0:
            wrong.append(f"{name}: {over} px are beside the window")
        stage.picture(page, f"{name}-status")
    assert not wrong, f"{len(wrong)} faults: " + "; ".join(wrong[:12])


@check("a new board has a title in the language of whoever makes it, the same for all, and an address of plain letters")
def proposed(stage):
    relay = stage.relay()
    ada = stage.page(relay, "Ada", key="host")
    title = "return document.getElementById('title').value"
    for name, letters in (("en", "[A-Za-z]+"), ("pl", "[A-Za-zżźćńółęąśŻŹĆŁŚ]+"), ("uk", "[А-яІіЇїЄє]+"), ("ar", "[\u0620-\u064a]+")):
        before = ada.ask("return window.whiteboard.board")
        ada.click("#more")
        until(lambda: ada.is_shown("#language"), "the menu is shown")
        choose(ada, name)
        ada.click("#more")
        ada.click("#new-board")
        until(lambda: ada.ask("return window.whiteboard.board") != before, f"{name}: another board")
        ada.board = ada.ask("return window.whiteboard.board")
        assert re.fullmatch(r"[a-z]+-[a-z]+-\d{3}", ada.board) and ada.ask("return location.hash") == f"#/b/{ada.board}", ada.board
        wanted = re.compile(f"{letters} {letters} {ada.board[-3:]}")
        until(lambda: wanted.fullmatch(ada.ask(title)), lambda: f"{name}: a title, and not {ada.ask(title)}")
        ben = stage.page(relay, f"Ben {name}", board=ada.board)
        until(lambda: ben.ask(title) == ada.ask(title), lambda: f"{name}: Ben sees {ben.ask(title)}")
        stage.picture(ada, f"{name}-new-board")
        ada.click("#invite")
        until(lambda: ada.is_shown("#qr img"), "the invitation has a code")
        link = ada.ask("return document.getElementById('address').value")
        assert f"/#/b/{ada.board}?k=" in link, link
        ada.click("#invite-close")
