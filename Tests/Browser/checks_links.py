"""Links break and relays end in the middle of drawing; nothing that was drawn is lost, and the page tells the truth about it."""

from browser import until
from checks_drawing import line
from stage import check


@check("the relay is killed and started again in the middle of drawing")
def relay_restarts(stage):
    stage.breaks_links = True
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ada.draw(*line(150, 150))
    stage.settle(ada, ben)
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
        page.wait("connected", unsent=0, seconds=40)
        page.must_have(3)
    ada.draw(*line(150, 350))
    cy = stage.page(relay, "Cy")
    cy.must_have(4)
    stage.settle(ada, ben, cy)


@check("who is cut off draws on, and comes back")
def cut_off(stage):
    stage.breaks_links = True
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ada.draw(*line(150, 150))
    stage.settle(ada, ben)
    ada.cutter.cut()
    ada.wait(link=lambda link: link in ("waiting", "connecting"))
    ada.draw(*line(150, 250))
    ada.draw(*line(150, 350))
    ada.wait(unsent=2)
    # In words, too.
    until(lambda: "2" in ada.words("#status"), lambda: f"it says that 2 wait: {ada.words('#status')!r}", 3)
    ben.draw(*line(500, 150))
    ben.wait("connected", unsent=0)
    assert ben.elements() == 2, "Ben sees what was not sent"
    ada.cutter.mend()
    ada.wait("connected", unsent=0, seconds=40)
    ben.must_have(4)
    stage.settle(ada, ben)
    assert ada.state()[2] == 0


@check("who is cut off moves one line thirty times, and each time is as quick as the first")
def thirty_moves(stage):
    stage.breaks_links = True
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ada.draw(*line(150, 150))
    stage.settle(ada, ben)
    ada.cutter.cut()
    ada.wait(link=lambda link: link in ("waiting", "connecting"))
    ada.press("v")
    # Twice as much for each: the thirtieth took half a minute.
    for n in range(30):
        ada.draw((150 + 6 * n, 150), (153 + 6 * n, 151), (156 + 6 * n, 150), kind="mouse")
    ada.wait(unsent=30, seconds=5)
    ada.cutter.mend()
    ada.wait("connected", unsent=0, seconds=40)
    stage.settle(ada, ben)
    first = relay.records("lesson")[0]["points"][:2]
    assert first == [15000 + 30 * 600, 15000], f"the line begins at {first}"


@check("a network that is back is used at once")
def back_at_once(stage):
    stage.breaks_links = True
    page = stage.page(stage.relay(), "Ada")
    page.cutter.cut()
    # The dice have it wait for a while.
    until(lambda: page.ask("const {state, afterMs} = window.whiteboard.client.link; return state === 'waiting' && afterMs > 3000"),
          "a long wait", 60)
    page.cutter.mend()
    page.ask("dispatchEvent(new Event('online'))")
    page.wait("connected", seconds=1.5)


@check("strokes that are not sent yet outlive a reload")
def reload_unsent(stage):
    stage.breaks_links = True
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ada.draw(*line(150, 150))
    stage.settle(ada, ben)
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
    ada.wait("connected", unsent=0, seconds=40)
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
    ada.wait(link=lambda link: link in ("waiting", "connecting"), seconds=30)
    ada.cutter.thaw()
    ada.wait("connected", unsent=0, seconds=40)
    ben.must_have(1)
    stage.settle(ada, ben)


@check("two tabs of one browser are two people")
def two_tabs(stage):
    relay = stage.relay()
    ada = stage.page(relay, "Ada")
    # The name is known in the second one.
    other = stage.visitor(relay, "Ada's second tab", cutter=ada.cutter)
    other.is_known = True
    other.open()
    ada.draw(*line(150, 150))
    other.draw(*line(150, 300))
    stage.settle(ada, other)
    assert ada.elements() == 2
    assert ada.ask("return window.whiteboard.user") != other.ask("return window.whiteboard.user"), "both are the same user"


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


# Another tab that has the same id, because this one slept when it asked.
TAKE_ID = """
  const {user} = window.whiteboard, credential = JSON.parse(sessionStorage.getItem('whiteboard.credential'))
  const options = {storage: localStorage, scope: location.host, device: localStorage.getItem('whiteboard.device.' + user), credential}
  import('/relay-client.js').then(({RelayClient}) => {
    window.other = new RelayClient(location.origin + '/ws', user, options)
    window.other.connect().catch(() => {})
  })
  return user
"""


@check("[SE8] a tab whose id another has taken goes on as somebody else")
def replaced(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ada.draw(*line(150, 150))
    stage.settle(ada, ben)
    user = ada.ask(TAKE_ID)
    until(lambda: ada.ask("return window.whiteboard.user") != user, "Ada is somebody else", 20)
    ada.wait("connected", seconds=20)
    until(lambda: ada.state()[1] is not None, "Ada has read the board anew")
    assert not ada.is_shown("dialog"), "Ada is asked about it"
    ada.draw(*line(150, 250))
    ben.must_have(2)
    stage.settle(ada, ben)


@check("[AC17, SE8] another device is the same person with the code that a page shows; a code that was used makes somebody new")
def another_device(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ada.draw(*line(150, 150))
    stage.settle(ada, ben)
    ada.click("#people")
    ada.click("#another-device")
    until(lambda: ada.is_shown("#device-dialog #qr img"), "a QR code is shown", 5)
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
    until(lambda: late.is_shown("#code-dialog"), "it is told that the code was used", 10)
    late.click("#code-close")
    late.introduce()
    late.wait("connected")
    assert late.ask("return window.whiteboard.user") != users[0]
    stage.settle(ada, phone, ben, late)
