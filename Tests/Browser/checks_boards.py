"""How one goes from board to board: over the same link, with a list of boards, and with copies of them."""

from selenium.webdriver.common.keys import Keys

import accessibility
from browser import until
from checks_drawing import line
from checks_edit import keys
from stage import check


def listed(page):
    """Where the list of boards has come: its names."""
    until(lambda: page.ask("return document.getElementById('show-boards') !== null"), f"{page.who} has the list")
    page.click("#more")
    page.click("#show-boards")
    until(lambda: page.is_shown("#boards"), "the list is shown")
    return page.ask("return [...document.querySelectorAll('#boards-list .card')].map(card => card.dataset.board)")


def is_on(page, board):
    until(lambda: page.ask("return window.whiteboard.board") == board, lambda: f"{page.who} is on {board}")
    page.board = board
    until(lambda: page.state()[1] is not None, f"{page.who} has read {board}")
    assert page.ask("return location.hash") == f"#/b/{board}", page.ask("return location.hash")


def go(page, board):
    page.ask("location.hash = arguments[0]", f"/b/{board}")
    is_on(page, board)


def begin(page, title):
    """A new board by the list's button."""
    listed(page)
    page.click("#begin-board")
    until(lambda: page.is_shown("#board-name"), "a name is asked for")
    field = page.find("#board-name")
    field.clear()
    field.send_keys(title)
    page.click("#board-yes")


def copy(page, board, title, button):
    """A copy of a board of the list."""
    listed(page)
    page.ask("document.querySelector(`[data-board=\"${arguments[0]}\"] + .copy`).click()", board)
    until(lambda: page.is_shown("#board-name"), "a name is asked for")
    field = page.find("#board-name")
    field.clear()
    field.send_keys(title)
    page.click(button)


@check("a page goes to another board without being loaded, back and forward; what it had not sent arrives")
def changed(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ada.ask("window.marker = 'still here'")
    ada.draw(*line(150, 150))
    ada.must_have(1)
    stage.settle(ada, ben)
    ada.show(40, 30, 1.5)
    go(ada, "other")
    ada.must_have(0)
    assert ada.ask("return window.whiteboard.view") == {"x": 0, "y": 0, "scale": 1}
    assert not ada.is_usable("#undo"), "the steps back are those of the other board"
    assert ada.ask("return document.getElementById('title').value") == "Other"
    here = "return [...document.querySelectorAll('#people-list b')].map(({textContent}) => textContent).join()"
    until(lambda: "Ada" not in ben.ask(here), "Ada has left")
    ada.draw(*line(300, 150))
    ada.draw(*line(350, 150))
    ada.must_have(2)
    ada.wait(unsent=0)
    ada.driver.back()
    is_on(ada, "lesson")
    ada.must_have(1)
    view = ada.ask("return window.whiteboard.view")
    assert view == {"x": 40, "y": 30, "scale": 1.5}, view
    until(lambda: ada.is_usable("#undo"), "the steps back of this board are there")
    ben.draw(*line(500, 150))
    ada.must_have(2)
    ada.driver.forward()
    is_on(ada, "other")
    ada.must_have(2)
    stage.breaks_links = True
    ada.cutter.cut()
    ada.wait(link=lambda state: state != "connected")
    ada.draw(*line(450, 150))
    ada.wait(unsent=1)
    ada.driver.back()
    until(lambda: ada.ask("return window.whiteboard.board") == "lesson", "Ada is back")
    ada.must_have(0)
    ada.wait(unsent=1)
    ada.cutter.mend()
    ada.wait("connected", unsent=0)
    is_on(ada, "lesson")
    ada.must_have(2)
    assert len(relay.records("other")) == 3, "what waited when the page left has arrived"
    ada.driver.forward()
    is_on(ada, "other")
    ada.must_have(3)
    assert ada.ask("return window.marker") == "still here", "the page was loaded anew"
    stage.settle(ada)


@check("the list of boards has pictures, goes on after a reload, turns pages, and copies a board, also as a template")
def boards(stage):
    relay = stage.relay()
    ada = stage.page(relay, "Ada")
    ada.ask("window.marker = 'still here'")
    for y in (150, 250, 350):
        ada.draw(*line(150, y))
    ada.must_have(3)
    ada.wait(unsent=0)
    begin(ada, "Page two")
    is_on(ada, "page-two")
    keys(ada, Keys.PAGE_UP)
    is_on(ada, "lesson")
    keys(ada, Keys.PAGE_DOWN)
    is_on(ada, "page-two")
    keys(ada, Keys.PAGE_DOWN)
    until(lambda: ada.is_shown(".toast"), "this is the last page")
    copy(ada, "lesson", "Copy of it", "#copy-yes")
    is_on(ada, "copy-of-it")
    ada.must_have(3)
    ada.wait(unsent=0)
    assert relay.records("copy-of-it") == relay.records("lesson"), "the copy is another drawing"
    copy(ada, "lesson", "Background", "#copy-template")
    is_on(ada, "background")
    ada.must_have(3)
    ada.wait(unsent=0)
    locked = relay.records("background")
    assert [record.pop("locked", False) for record in locked] == [True] * 3 and locked == relay.records("lesson"), locked
    ada.press("v")
    ada.press("a", control=True)
    assert ada.ask("return document.querySelector('#edit-bar')?.hidden ?? true"), "what is protected was selected"
    copy(ada, "lesson", "Page two", "#copy-yes")
    is_on(ada, "page-two")
    ada.must_have(3)
    copy(ada, "lesson", "Background", "#copy-yes")
    until(lambda: "Background" in ada.words("#toasts"), "a board with something on it is no place for a copy")
    assert ada.ask("return window.marker") == "still here", "the page was loaded anew"
    ada.find("#boards-close").click()
    ada.reload()
    ada.wait("connected")
    until(lambda: ada.state()[1] is not None, "the board is read")
    # A copy stands behind what it is a copy of.
    assert listed(ada) == ["lesson", "background", "copy-of-it", "page-two"], listed(ada)
    pictures = ada.ask("""return Promise.all([...document.querySelectorAll('#boards-list img')].map(async image => {
      await image.decode()
      const canvas = Object.assign(document.createElement('canvas'), {width: image.naturalWidth, height: image.naturalHeight})
      const context = canvas.getContext('2d')
      context.drawImage(image, 0, 0)
      return context.getImageData(0, 0, canvas.width, canvas.height).data.some(part => part < 128)
    }))""")
    assert pictures == [True] * 4, f"all have ink in their pictures: {pictures}"
    for size, name in (((1280, 800), "boards-1280"), ((320, 640), "boards-320")):
        ada.resize(*size)
        stage.picture(ada, name)
        wide = ada.ask("const {scrollWidth, clientWidth} = document.getElementById('boards'); return [scrollWidth, clientWidth]")
        assert wide[0] <= wide[1], wide
        faults = accessibility.faults(ada)
        assert not faults, f"in the list at {size}: {faults}"
    # By keys alone: the board where one is has the focus, and Enter goes to the one before it.
    assert ada.ask("return document.activeElement.dataset.board") == "page-two"
    keys(ada, Keys.TAB, held=[Keys.SHIFT])
    keys(ada, Keys.TAB, held=[Keys.SHIFT])
    keys(ada, Keys.ENTER)
    is_on(ada, "copy-of-it")
    assert not ada.is_shown("#boards")


@check("a host sees all boards of the relay in the list; whoever leaves the device leaves no list")
def hosts(stage):
    relay = stage.relay()
    ada = stage.page(relay, "Ada", board="elsewhere")
    ada.draw(*line(150, 150))
    ada.wait(unsent=0)
    host = stage.page(relay, "Host", key="host", dark=True, size=(1280, 800))
    host.draw(*line(150, 150))
    host.must_have(1)
    listed(host)
    until(lambda: host.is_shown("#other-boards"), "boards of others are shown")
    assert host.ask("return [...document.querySelectorAll('#other-boards .card')].map(card => card.dataset.board)") == ["elsewhere"]
    host.browser.set_dark(True)
    stage.picture(host, "boards-dark")
    faults = accessibility.faults(host)
    assert not faults, f"in the dark list: {faults}"
    if stage.engine == "chromium":
        host.browser.set_dark(False)
    host.ask("document.querySelector('[data-board=elsewhere]').click()")
    is_on(host, "elsewhere")
    host.must_have(1)
    host.click("#more")
    host.click("#leave")
    host.leave_by("#leave-yes")
    assert host.ask("return localStorage.getItem('whiteboard.boards')") is None
