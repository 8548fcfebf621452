"""Pens with palms beside them, and fingers: what draws, what moves the view, and what goes again."""

import accessibility
from browser import until
from pictures import SIZES
from stage import check

# No driver has several pointers down at once in both engines. Steps without a pause between them come at one moment.
PLAY = """const [steps, done] = arguments
  Element.prototype.setPointerCapture = Element.prototype.releasePointerCapture = () => {}
  const next = () => {
    const step = steps.shift()
    if (!step) return done()
    if (typeof step === 'number') return setTimeout(next, step)
    const [who, what, clientX, clientY] = step
    const isDown = what !== 'up'
    document.elementFromPoint(clientX, clientY).dispatchEvent(new PointerEvent(`pointer${what}`, {
      bubbles: true, cancelable: true, composed: true, isPrimary: true, pointerId: 100 + who.codePointAt(0) * 10 + Number(who[1]),
      pointerType: {f: 'touch', p: 'pen'}[who[0]], pressure: isDown ? 0.5 : 0, button: what === 'move' ? -1 : 0, buttons: isDown ? 1 : 0,
      clientX, clientY}))
    next()
  }
  next()"""
# How long a touch behind a pen is a palm, and then some; how long behind its beginning a finger makes a pinch.
PALM_MS, PINCH_MS = 200, 300


def play(page, *steps):
    """Fingers `f1`, `f2`, … and a pen `p1`: (who, 'down', 'move' or 'up', x, y); a number is a pause in ms."""
    page.driver.execute_async_script(PLAY, steps)


def after_palms(page):
    """Until a touch is none of the hand that has held the pen."""
    play(page, PALM_MS)


def line(who, x, y, count=8):
    return [part for n in range(1, count) for part in ((who, "move", x + n * 12, y + n * 5), 16)]


@check("a pen draws though its palm was there first; what the palm drew goes, for others too")
def palm_first(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ben.must_follow()
    play(ada, ("f1", "down", 500, 500), *line("f1", 500, 500))
    ben.wait(live=1)
    play(ada, ("p1", "down", 200, 200), ("f1", "move", 610, 545), *line("p1", 200, 200))
    stage.picture(ada, "palm-and-pen")
    play(ada, ("p1", "up", 284, 235), ("f1", "up", 610, 545))
    ben.must_have(1)
    ben.wait(live=0)
    stage.settle(ada, ben)
    stroke = relay.records("lesson")[0]
    assert stroke["points"][:2] == [20000, 20000] and "p" in stroke["cols"], f"the palm's line is kept: {stroke}"
    # A palm that taps, shortly before the pen.
    play(ada, PALM_MS, ("f2", "down", 700, 300), ("f2", "up", 700, 300), ("p1", "down", 200, 400), *line("p1", 200, 400),
         ("p1", "up", 284, 435))
    ben.must_have(2)
    stage.settle(ada, ben)
    assert len(relay.records("lesson")) == 2


@check("a second finger makes a pinch at once, and later takes no line away")
def pinch(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    play(ada, ("f1", "down", 300, 300), ("f2", "down", 400, 300), ("f2", "move", 500, 300), ("f1", "up", 300, 300), ("f2", "up", 500, 300))
    scale = ada.ask("return window.whiteboard.view.scale")
    assert scale > 1.5, f"two fingers that part magnify to {scale}"
    ada.show(0, 0)
    play(ada, ("f1", "down", 300, 300), *line("f1", 300, 300), PINCH_MS, ("f2", "down", 500, 300), ("f2", "move", 600, 300),
         ("f1", "move", 410, 350), ("f1", "up", 410, 350), ("f2", "up", 600, 300))
    ben.must_have(1)
    assert ada.ask("return window.whiteboard.view") == {"x": 0, "y": 0, "scale": 1}, "the late finger has moved the view"
    stage.settle(ada, ben)


@check("whether only the pen draws is a switch that everybody sees, and it is kept")
def pen_mode(stage):
    relay = stage.relay()
    page = stage.page(relay, "Ada", size=SIZES[0])
    play(page, ("f1", "down", 200, 300), *line("f1", 200, 300), PINCH_MS, ("f1", "up", 290, 335))
    page.must_have(1)
    assert not page.is_shown("#pen-only"), "a switch is shown where there is no pen"
    play(page, ("p1", "down", 200, 400), *line("p1", 200, 400), ("p1", "up", 284, 435))
    page.must_have(2)
    assert page.ask("return document.querySelector('#pen-only').ariaChecked") == "true"
    assert "Fingers move the view" in page.words("#toasts"), f"it is told: {page.words('#toasts')!r}"
    # The switch does not come to where one begins to write.
    play(page, ("p1", "down", 40, 102), *line("p1", 40, 102), ("p1", "up", 124, 137))
    page.must_have(3)
    wrong = []
    for width, height in SIZES:
        page.resize(width, height)
        stage.picture(page, f"pen-mode-{width}")
        if width == SIZES[0][0]:
            # What the notice lies on for some seconds is no fault.
            page.click(".toast span")
        wrong += [f"{width}: {fault}" for fault in accessibility.faults(page)]
    assert not wrong, "; ".join(wrong)
    finger = ("f1", "down", 300, 300), *line("f1", 300, 300), PINCH_MS, ("f1", "up", 384, 335)
    play(page, PALM_MS, *finger)
    until(lambda: page.ask("return window.whiteboard.view.x") != 0, "the finger has moved the view")
    assert page.elements() == 3, "a finger has drawn"
    page.click("#pen-only")
    play(page, *finger)
    page.must_have(4)
    page.wait(unsent=0)
    page.reload()
    page.wait("connected")
    page.must_have(4)
    assert page.ask("return document.querySelector('#pen-only').ariaChecked") == "false", "the choice is forgotten"
    play(page, *finger)
    page.must_have(5)
    stage.picture(page, "pen-mode-off")
    stage.settle(page)
