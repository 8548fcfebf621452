"""Who may do what, and how the page shows it."""

from browser import until
from checks_drawing import line
from stage import check


@check("a reader sees everything, and cannot draw")
def reader(stage):
    relay = stage.relay("--pupils", "view")
    host, pupil = stage.page(relay, "Host", key="host"), stage.page(relay, "Pupil")
    host.draw(*line(150, 150))
    stage.settle(host, pupil)
    roles = [page.ask("return document.documentElement.dataset.role") for page in (host, pupil)]
    assert roles == ["editor", "reader"], f"data-role: {roles}"
    pupil.draw(*line(300, 300))
    pupil.press("p")
    pupil.draw(*line(300, 400))
    pupil.press("z", control=True)
    host.draw(*line(150, 300))
    pupil.must_have(2)
    assert not pupil.is_usable("#tool-pen"), "a reader is offered a pen"
    stage.settle(host, pupil)


@check("only a host clears, and is asked before")
def clear(stage):
    relay = stage.relay()
    host, guest = stage.page(relay, "Host", key="host"), stage.page(relay, "Guest")
    guest.draw(*line(150, 150))
    host.draw(*line(150, 300))
    stage.settle(host, guest)
    guest.click("#more")
    assert not guest.is_usable("#clear"), "a guest is offered to clear the board"
    host.click("#more")
    host.click("#clear")
    host.click("#clear-no")
    host.click("#more")
    host.click("#clear")
    assert guest.elements() == 2, "it was cleared without asking"
    host.click("#clear-yes")
    guest.must_have(0)
    stage.settle(host, guest)
    assert guest.ink() == 0, "what was cleared is still drawn"
    guest.press("p")
    guest.draw(*line(300, 300))
    host.must_have(1)
    stage.settle(host, guest)


@check("[AC18] a host removes what one person drew, and is asked before; what others drew stays")
def remove_drawings(stage):
    relay = stage.relay()
    host, ada, ben = stage.page(relay, "Host", key="host"), stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ada.draw(*line(150, 150))
    ben.draw(*line(150, 300))
    stage.settle(host, ada, ben)
    button = "#people-list button[aria-label='Remove what Ada drew']"
    ben.click("#people")
    assert not ben.is_shown("#people-list button"), "a guest is offered to remove what others drew"
    for answer in ("#remove-no", "#remove-yes"):
        assert ben.elements() == 2, "it was removed without asking"
        host.click("#people")
        host.click(button)
        stage.picture(host, "remove-drawings")
        host.click(answer)
    for page in (host, ada, ben):
        page.must_have(1)
    stage.settle(host, ada, ben)


@check("[AC19] a host ends a board, and is asked before; everybody is told and begins anew, with nothing on it")
def end_board(stage):
    relay = stage.relay()
    host, ada = stage.page(relay, "Host", key="host"), stage.page(relay, "Ada")
    ada.draw(*line(150, 150))
    stage.settle(host, ada)
    ada.click("#more")
    assert not ada.is_shown("#end-board"), "a guest is offered to end the board"
    for answer in ("#end-no", "#end-yes"):
        assert ada.elements() == 1, "it was ended without asking"
        host.click("#more")
        host.click("#end-board")
        host.click(answer)
    for page in (host, ada):
        page.leave_by("#board-again")
        page.wait("connected")
        page.must_have(0)
    ada.draw(*line(150, 300))
    stage.settle(host, ada)
    host.must_have(1)


@check("who is here, by name, and who left")
def people(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ada.click("#people")
    until(lambda: "Ben" in ada.words("#people-panel"), "Ben is shown to Ada", 10)
    assert len(ada.ask("return [...document.querySelectorAll('#people-panel li[data-user]')]")) == 2
    user = ben.ask("return window.whiteboard.user")
    pen = ben.pen()
    pen.down(400, 400)
    pen.move((420, 420))
    until(lambda: ada.is_shown(f"#cursors .cursor[data-user='{user}']"), "Ben's cursor is shown to Ada", 10)
    assert "Ben" in ada.words(f"#cursors .cursor[data-user='{user}']"), "the cursor has no name"
    pen.up()
    ada.wait(unsent=0, live=0)


@check("a wrong key asks for another")
def wrong_key(stage):
    relay = stage.relay()
    page = stage.visitor(relay, "Ada", key=None)
    page.load()
    page.introduce()
    until(lambda: page.is_shown("#key-dialog"), "a key is asked for")
    page.find("#key").send_keys("this-is-not-the-key")
    page.click("#key-enter")
    until(lambda: page.words("#key-dialog p").startswith("That key does not open this board"),
          lambda: f"it is asked for again: {page.words('#key-dialog p')!r}")
    assert page.state()[0] != "connected", "it is connected with a wrong key"
    page.find("#key").send_keys(relay.keys["join"])
    page.click("#key-enter")
    page.wait("connected")
    page.draw(*line(150, 150))
    stage.settle(page)


@check("[AC11] a freeze tells nobody of what they have not tried")
def freeze_in_peace(stage):
    relay = stage.relay()
    ada = stage.page(relay, "Ada")
    ada.draw(*line(150, 150))
    stage.settle(ada)
    pen = ada.pen()
    pen.down(150, 300)
    pen.move(*line(160, 305, 4))
    relay.freeze("lesson")
    until(lambda: ada.is_shown("#reading"), "the page says that drawing has paused", 10)
    pen.move(*line(240, 330, 4))
    assert not ada.is_shown(".toast"), f"it was told: {ada.words('#toasts')!r}"
    # A button that stays down is the next check's too: one driver takes no second press of it.
    pen.up()
