"""Links break and relays end in the middle of drawing; nothing that was drawn is lost, and the page tells the truth about it."""

import time

from browser import until
from checks_drawing import line, two_with_a_line
from stage import check


@check("the relay is killed and started again in the middle of drawing")
def relay_restarts(stage):
    stage.breaks_links = True
    relay, ada, ben = two_with_a_line(stage)
    pen = ada.pen()
    pen.down(150, 250)
    pen.move(*line(160, 255, 6))
    relay.kill()
    pen.move(*line(240, 280, 6))
    pen.up()
    ben.wait(link=lambda link: link in ("waiting", "connecting"))
    ada.wait(link=lambda link: link in ("waiting", "connecting"), unsent=1)
    ben.draw(*line(500, 250))
    ben.wait(unsent=1)
    assert (ada.elements(), ben.elements()) == (2, 2), "what is not sent yet is not shown"
    relay.start()
    for page in (ada, ben):
        page.wait("connected", unsent=0)
        page.must_have(3)
    ada.draw(*line(150, 350))
    cy = stage.page(relay, "Cy")
    cy.must_have(4)
    stage.settle(ada, ben, cy)


@check("who is cut off draws on, and comes back")
def cut_off(stage):
    stage.breaks_links = True
    _, ada, ben = two_with_a_line(stage)
    ada.cutter.cut()
    ada.wait(link=lambda link: link in ("waiting", "connecting"))
    ada.draw(*line(150, 250))
    ada.draw(*line(150, 350))
    ada.wait(unsent=2)
    # In words, too.
    until(lambda: "2" in ada.words("#status"), lambda: f"it says that 2 wait: {ada.words('#status')!r}")
    ben.draw(*line(500, 150))
    ben.wait("connected", unsent=0)
    assert ben.elements() == 2, "Ben sees what was not sent"
    ada.cutter.mend()
    ada.wait("connected", unsent=0)
    ben.must_have(4)
    stage.settle(ada, ben)
    assert ada.state()[2] == 0


@check("who is cut off moves one line thirty times, and each time is as quick as the first")
def thirty_moves(stage):
    stage.breaks_links = True
    relay, ada, ben = two_with_a_line(stage)
    ada.cutter.cut()
    ada.wait(link=lambda link: link in ("waiting", "connecting"))
    ada.press("v")
    took = []
    for n in range(30):
        began = time.monotonic()
        ada.draw((150 + 6 * n, 150), (153 + 6 * n, 151), (156 + 6 * n, 150), kind="mouse")
        ada.wait(unsent=n + 1)
        took.append(time.monotonic() - began)
    # Twice as much for each: the thirtieth took half a minute.
    assert sum(took[20:]) < 8 * sum(took[:10]), f"the moves took {[round(seconds, 2) for seconds in took]} s"
    ada.cutter.mend()
    ada.wait("connected", unsent=0)
    stage.settle(ada, ben)
    first = relay.records("lesson")[0]["points"][:2]
    assert first == [15000 + 30 * 600, 15000], f"the line begins at {first}"


@check("a network that is back is used at once")
def back_at_once(stage):
    stage.breaks_links = True
    page = stage.page(stage.relay(), "Ada")
    page.cutter.cut()
    # The dice have it wait for a while.
    until(lambda: page.ask("const {state, afterMs} = window.whiteboard.client.link; return state === 'waiting' && afterMs > 6000"),
          "a long wait")
    page.cutter.mend()
    page.ask("dispatchEvent(new Event('online'))")
    page.wait("connected", seconds=4)


@check("strokes that are not sent yet outlive a reload")
def reload_unsent(stage):
    stage.breaks_links = True
    relay, ada, ben = two_with_a_line(stage)
    ada.cutter.cut()
    ada.wait(link=lambda link: link in ("waiting", "connecting"))
    ada.draw(*line(150, 250))
    ada.draw(*line(150, 350))
    ada.wait(unsent=2)
    # The page itself can be had again, the relay not yet.
    ada.cutter.hold(b"GET /ws")
    ada.cutter.mend()
    ada.reload()
    until(lambda: ada.state()[2] == 2, lambda: f"two strokes wait after the reload: {ada.state()}")
    assert ben.elements() == 1, "they were sent before"
    ada.cutter.release(b"GET /ws")
    ada.wait("connected", unsent=0)
    ben.must_have(3)
    stage.settle(ada, ben)


@check("a network that swallows everything is found out")
def frozen(stage):
    stage.breaks_links = True
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ada.cutter.freeze()
    ada.draw(*line(150, 150))
    ada.wait(unsent=1)
    # Two heartbeats and what the dice add to them.
    ada.wait(link=lambda link: link in ("waiting", "connecting"))
    ada.cutter.thaw()
    ada.wait("connected", unsent=0)
    ben.must_have(1)
    stage.settle(ada, ben)


def second_tab(stage, relay, page, board="lesson", key=None):
    """Another tab of the browser of `page`, by an address without a key."""
    tab = stage.visitor(relay, f"{page.who}'s second tab", board, key=key, cutter=page.cutter)
    # The name is known there.
    tab.is_known = True
    return tab


@check("[SE8] tabs of one browser are one person, and none but the first needs a key")
def two_tabs(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    other = second_tab(stage, relay, ada).open()
    ada.draw(*line(150, 150))
    other.draw(*line(150, 300))
    stage.settle(ada, other, ben)
    assert ada.ask("return window.whiteboard.user") == other.ask("return window.whiteboard.user"), "they are two people"
    assert ada.ask("return window.whiteboard.client.device") != other.ask("return window.whiteboard.client.device"), "one device"
    assert ben.ask("return document.querySelectorAll('#people-list li').length") == 2, "the person is there once"
    assert "Ada" in other.words("#toasts"), f"it does not say who one is: {other.words('#toasts')!r}"
    # What one tab has drawn is the other's to erase.
    other.press("e")
    other.draw(*line(150, 150))
    ben.must_have(1)
    other.press("p")
    ada.press("z", control=True)
    stage.settle(ada, other, ben)
    ada.reload()
    ada.wait("connected")
    assert not ada.is_shown(".toast"), "a reload is no entry"


@check("who leaves a device leaves it in all tabs, and whoever comes next is somebody new without a key")
def leaves(stage):
    relay = stage.relay()
    ada = stage.page(relay, "Ada")
    other = second_tab(stage, relay, ada, "elsewhere").open()
    user = ada.ask("return window.whiteboard.user")
    ada.draw(*line(150, 150))
    stage.settle(ada)
    until(lambda: other.is_shown(".toast button"), "it asks whether one is somebody else")
    other.click(".toast button")
    stage.picture(other, "leave")
    other.browser.mark(other.driver)
    other.click("#leave-no")
    other.click("#more")
    other.click("#leave")
    other.leave_by("#leave-yes")
    for page in (ada, other):
        until(lambda page=page: page.is_shown("#welcome"), f"{page.who} is asked for a name")
    kept = ada.ask("return JSON.stringify([{...localStorage}, {...sessionStorage}])")
    for secret in (relay.keys["join"], user, "Ada"):
        assert secret not in kept, f"{secret} is still kept: {kept}"
    other.who = "Eve"
    other.introduce()
    until(lambda: other.is_shown("#key-dialog"), "it asks for the key")
    other.find("#key").send_keys(relay.keys["join"])
    other.click("#key-enter")
    other.wait("connected")
    assert other.ask("return window.whiteboard.user") != user
    third = second_tab(stage, relay, ada, "lesson").open()
    third.must_have(1)
    third.press("e")
    third.draw(*line(150, 150))
    stage.settle(third)
    assert third.elements() == 1, "what Ada drew is Eve's"


@check("another relay at the same address is shown the key once, gets no drawing, and starts fresh")
def another_relay(stage):
    stage.breaks_links = True
    relay, stranger = stage.relay(), stage.relay(auth="open")
    ada = stage.page(relay, "Ada")
    ada.draw(*line(150, 150))
    stage.settle(ada)
    user = ada.ask("return window.whiteboard.user")
    ada.cutter.cut()
    ada.wait(link=lambda link: link in ("waiting", "connecting"))
    ada.draw(*line(150, 250))
    ada.wait(unsent=1)
    ada.cutter.relay = stranger
    ada.cutter.mend()
    until(lambda: ada.is_shown("#other-relay"), "it says that the relay is another one")
    stage.picture(ada, "other-relay")
    assert ada.state()[2] == 1 and "One change" in ada.words("#other-relay"), ada.words("#other-relay")
    ada.cutter.relay = relay
    ada.reload()
    ada.wait("connected", unsent=0)
    ada.must_have(2)
    assert ada.ask("return window.whiteboard.user") == user, "the relay of before is not known any more"
    ada.cutter.cut()
    ada.cutter.relay = stranger
    ada.cutter.mend()
    until(lambda: ada.is_shown("#other-relay"), "it says so again")
    ada.leave_by("#start-fresh")
    ada.introduce()
    ada.wait("connected")
    ada.must_have(0)
    kept = ada.ask("return JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert user not in kept and relay.keys["join"] not in kept, kept


@check("a board of 2,000 strokes is there when somebody comes late")
def late_to_many(stage):
    relay = stage.relay("--message-rate", "5000")
    relay.draw_many("lesson", 2000)
    page = stage.page(relay, "Ada")
    page.must_have(2000)
    stage.settle(page)
    page.draw(*line(150, 150))
    stage.settle(page)
    assert page.elements() == 2001


# Another tab that is the same device, because this one slept when it asked.
TAKE_DEVICE = """
  const {user, client: {device}} = window.whiteboard, {credential} = JSON.parse(localStorage.getItem('whiteboard.person'))
  const options = {storage: localStorage, scope: location.host, device, credential}
  import('/relay-client.js').then(({RelayClient}) => {
    window.other = new RelayClient(location.origin + '/ws', user, options)
    window.other.connect().catch(() => {})
  })
  return device
"""


@check("[SE8] a tab that another has taken the place of goes on as one more device of the same person")
def replaced(stage):
    _, ada, ben = two_with_a_line(stage)
    user = ada.ask("return window.whiteboard.user")
    device = ada.ask(TAKE_DEVICE)
    until(lambda: ada.ask("return window.whiteboard.client.device") != device, "Ada has another device")
    ada.wait("connected")
    until(lambda: ada.state()[1] is not None, "Ada has read the board anew")
    assert ada.ask("return window.whiteboard.user") == user, "Ada is somebody else"
    assert not ada.is_shown("dialog"), "Ada is asked about it"
    ada.draw(*line(150, 250))
    ben.must_have(2)
    stage.settle(ada, ben)


@check("[AC17, SE8] another device is the same person with the code that a page shows; a code that was used makes somebody new")
def another_device(stage):
    relay, ada, ben = two_with_a_line(stage)
    ada.click("#people")
    ada.click("#another-device")
    until(lambda: ada.is_shown("#device-dialog #qr img"), "a QR code is shown")
    address = ada.ask("return document.querySelector('#address').value")
    assert ada.words("#device-code") in address, address
    stage.picture(ada, "another-device")
    over = ada.ask("const {scrollHeight, clientHeight} = document.querySelector('#device-dialog'); return scrollHeight - clientHeight")
    assert over <= 0, f"{over} px of it are out of sight"
    ada.click("#device-close")
    phone, late = stage.visitor(relay, "Ada's phone"), stage.visitor(relay, "Late")
    for page in (phone, late):
        page.address = lambda page=page: address.replace(f":{ada.cutter.port}/", f":{page.cutter.port}/")
    # Nobody asks for a name: it comes with the person.
    phone.is_known = True
    phone.open()
    users = [page.ask("return window.whiteboard.user") for page in (ada, phone)]
    assert users[0] == users[1], users
    assert "code=" not in phone.ask("return location.href")
    phone.draw(*line(150, 250))
    stage.settle(ada, phone, ben)
    assert ben.ask("return document.querySelectorAll('#people-list li').length") == 2, "the person is there once"
    phone.reload()
    phone.wait("connected")
    assert phone.ask("return window.whiteboard.user") == users[0], "after a reload it is somebody else"
    late.load()
    until(lambda: late.is_shown("#code-dialog"), "it is told that the code was used")
    late.click("#code-close")
    late.introduce()
    late.wait("connected")
    assert late.ask("return window.whiteboard.user") != users[0]
    stage.settle(ada, phone, ben, late)
