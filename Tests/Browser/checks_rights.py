"""Who may do what, and how the page shows it."""

import accessibility
from browser import until
from checks_drawing import line
from stage import check
from tools import HOST


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


def decide(host, name, choice):
    """A host's choice about a person."""
    if not host.is_shown("#people-panel"):
        host.click("#people")
    host.click(f"#people-list button[aria-label='Decide about {name}']")
    host.click(choice)


def role(page, wanted):
    until(lambda: page.ask("return document.documentElement.dataset.role") == wanted, f"{page.who} is a {wanted}")


@check("[AC11] a host pauses drawing, and lets everybody change everything, from a bar that guests do not have; all see it")
def host_bar(stage):
    relay = stage.relay()
    host, ada, ben = stage.page(relay, "Host", key="host"), stage.page(relay, "Ada"), stage.page(relay, "Ben")
    assert not ada.is_shown("#host"), "a guest has a host's bar"
    ada.draw(*line(150, 150))
    stage.settle(host, ada, ben)
    host.click("#pause")
    role(ada, "reader")
    until(lambda: "paused" in ada.words("#reading") and "paused" in host.words("#reading"), "both are told")
    until(lambda: host.ask("return document.querySelector('#pause').ariaPressed") == "true", "the button is down")
    stage.picture(host, "paused-host")
    stage.picture(ada, "paused-guest")
    ada.draw(*line(300, 300))
    host.draw(*line(150, 300))
    ada.must_have(2)
    host.click("#pause")
    role(ada, "editor")
    until(lambda: not host.is_shown("#reading"), "it is over")
    ben.press("e")
    ben.draw(*line(160, 130, 8, 0, 8))
    assert "Only the host" in ben.words("#toasts"), "Ben has erased what Ada drew"
    host.click("#free")
    until(lambda: "Free-for-all" in ben.words("#toasts"), "Ben is told")
    stage.picture(host, "free-for-all-host")
    stage.picture(ben, "free-for-all-guest")
    ben.draw(*line(160, 130, 8, 0, 8))
    ada.must_have(1)
    host.click("#free")
    until(lambda: "is over" in ben.words("#toasts"), "Ben is told that it is over")
    stage.settle(host, ada, ben)


@check("[AC10, AC12] a host decides about one person: who draws, watches, changes everything, leaves, or is banned")
def host_person(stage):
    relay = stage.relay()
    host, ada = stage.page(relay, "Host", key="host"), stage.page(relay, "Ada")
    host.draw(*line(150, 150))
    stage.settle(host, ada)
    host.click("#people")
    wrong = accessibility.faults(host)
    host.click("#people-list button[aria-label='Decide about Ada']")
    stage.picture(host, "person")
    wrong += accessibility.faults(host)
    assert not wrong, "; ".join(wrong)
    host.click("#person-view")
    role(ada, "reader")
    decide(host, "Ada", "#person-draw")
    role(ada, "editor")
    decide(host, "Ada", "#person-edit")
    ada.press("e")
    until(lambda: (ada.draw(*line(160, 130, 8, 0, 8)), host.elements() == 0)[1], "Ada erases what the host drew")
    decide(host, "Ada", "#person-ban")
    stage.picture(host, "ban")
    host.click("#ban-yes")
    until(lambda: "closed this board to you" in ada.words("#ended-dialog"), "Ada is told")
    stage.picture(ada, "banned")
    host.click(".toast button")
    until(lambda: "can come back" in host.words("#toasts"), "the ban is taken back")
    ada.click("#ended-again")
    ada.wait("connected")
    decide(host, "Ada", "#person-remove")
    until(lambda: "has ended your visit" in ada.words("#ended-dialog"), "Ada is told that she was disconnected")
    ada.click("#ended-again")
    ada.wait("connected")
    stage.settle(host, ada)


@check("[AC18] a host removes what one person drew, and is asked before; what others drew stays")
def remove_drawings(stage):
    relay = stage.relay()
    host, ada, ben = stage.page(relay, "Host", key="host"), stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ada.draw(*line(150, 150))
    ben.draw(*line(150, 300))
    stage.settle(host, ada, ben)
    ben.click("#people")
    assert not ben.is_shown("#people-list button[aria-label^='Decide about']"), "a guest is offered to decide about others"
    for answer in ("#remove-no", "#remove-yes"):
        assert ben.elements() == 2, "it was removed without asking"
        decide(host, "Ada", "#person-take-back")
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
    until(lambda: "Ben" in ada.words("#people-panel"), "Ben is shown to Ada")
    assert len(ada.ask("return [...document.querySelectorAll('#people-panel li[data-user]')]")) == 2
    user = ben.ask("return window.whiteboard.user")
    pen = ben.pen()
    pen.down(400, 400)
    pen.move((420, 420))
    until(lambda: ada.is_shown(f"#cursors .cursor[data-user='{user}']"), "Ben's cursor is shown to Ada")
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


def shown_code(host, before=""):
    """The letters under Invite, once they are others than before."""
    until(lambda: host.words("#join-code output") not in ("", before), lambda: f"letters: {host.words('#invite-dialog')!r}")
    return host.words("#join-code output")


def type_code(page, code, *words):
    """Types letters where the page asks for a code or the key; then it says these words."""
    until(lambda: page.is_shown("#key-dialog"), f"{page.who} is asked for a code")
    page.find("#key").send_keys(code)
    page.click("#key-enter")
    for word in words:
        until(lambda: word in page.words("#key-dialog p"), lambda: f"{word}: {page.words('#key-dialog p')!r}")


def other(code):
    """Letters that are not the code."""
    return ("B" if code[0] != "B" else "C") + code[1:]


@check("[AC20] who has no camera types six letters, and draws on the host's board; letters that ended let nobody in")
def join_code(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada", key="host"), stage.visitor(relay, "Ben", board=None, key=None)
    ada.draw(*line(150, 150))
    ada.click("#invite")
    code = shown_code(ada)
    assert f"Open http://{HOST}:{ada.cutter.port} and type" in ada.words("#join-code"), ada.words("#join-code")
    stage.picture(ada, "join-code")
    ben.load()
    ben.introduce()
    until(lambda: ben.is_shown("#key-dialog"), "a code is asked for")
    stage.picture(ben, "type-code")
    type_code(ben, other(code), "That is not the code", "59 more tries")
    stage.picture(ben, "wrong-code")
    ben.find("#key").send_keys(code.lower())
    ben.leave_by("#key-enter")
    ben.wait("connected")
    ben.must_have(1)
    assert ben.ask("return location.hash") == "#/b/lesson"
    ben.draw(*line(500, 150))
    ben.reload()
    ben.wait("connected")
    ben.must_have(2)
    assert code.replace(" ", "") not in ben.ask("return JSON.stringify([{...localStorage}, {...sessionStorage}])"), "the letters are kept"
    # Another key, as somebody draws it who has lost one.
    relay.rotate("join")
    until(lambda: "the relay has a new key" in ada.words("#join-code"), lambda: f"told: {ada.words('#join-code')!r}")
    stage.picture(ada, "code-ended")
    cy = stage.visitor(relay, "Cy", board=None, key=None)
    cy.load()
    cy.introduce()
    type_code(cy, code, "That is not the code", "58 more tries")
    ada.click("#code-again")
    fresh = shown_code(ada, code)
    ada.click("#invite-close")
    type_code(cy, fresh, "57 more tries")
    ada.click("#invite")
    third = shown_code(ada, fresh)
    cy.find("#key").send_keys(third)
    cy.leave_by("#key-enter")
    cy.wait("connected")
    ada.click("#invite-close")
    stage.settle(ada, cy)


@check("[AC20] who is in already comes to another board by its letters, with the rights that they have")
def code_of_another_board(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada", key="host"), stage.page(relay, "Ben", board=None, key="host")
    ada.draw(*line(150, 150))
    ada.click("#invite")
    code = shown_code(ada)
    ben.click("#more")
    ben.click("#type-code")
    until(lambda: ben.is_shown("#code-dialog"), "letters are asked for")
    stage.picture(ben, "type-code-inside")
    ben.find("#code").send_keys(code)
    ben.click("#code-enter")
    ben.wait("connected")
    ben.must_have(1)
    assert ben.ask("return window.whiteboard.client.access.role") == "moderator", "the letters took the host's key"
    ada.click("#invite-close")


@check("[AC11] a freeze tells nobody of what they have not tried")
def freeze_in_peace(stage):
    relay = stage.relay()
    ada = stage.page(relay, "Ada")
    ada.draw(*line(150, 150))
    stage.settle(ada)
    # The first pen was told that fingers move the view now.
    before = ada.words("#toasts")
    pen = ada.pen()
    pen.down(150, 300)
    pen.move(*line(160, 305, 4))
    relay.freeze("lesson")
    until(lambda: ada.is_shown("#reading"), "the page says that drawing has paused")
    pen.move(*line(240, 330, 4))
    told = ada.words("#toasts")
    assert told in ("", before), f"it was told: {told!r}"
    # A button that stays down is the next check's too: one driver takes no second press of it.
    pen.up()
