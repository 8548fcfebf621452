"""Texts, sticky notes and pictures: written, found where they are drawn, and never cut."""

import base64

from selenium.webdriver.common.keys import Keys

from browser import until
from pictures import SIZES
from stage import check


def texts(page):
    """What the relay has of its board's texts, in their order."""
    return [record for record in page.relay.records(page.board) if "size" in record]


def chosen(page):
    """Whether anything is chosen: a frame is all that the live layer shows then."""
    return page.ask("""const live = document.getElementById('live')
        const copy = Object.assign(document.createElement('canvas'), {width: live.width, height: live.height})
        const context = copy.getContext('2d', {willReadFrequently: true})
        context.drawImage(live, 0, 0)
        return new Uint32Array(context.getImageData(0, 0, live.width, live.height).data.buffer).some(Boolean)""")


def daylight(page):
    """Leaves a window that can change its colours light, for the next check."""
    if page.browser.name == "chromium":
        page.browser.enter(page.window)
        page.browser.set_dark(False)


def write(page, words, *points, tool="text"):
    page.press("n" if tool == "note" else "t")
    page.draw(*points, kind="mouse")
    until(lambda: page.is_shown("#words"), "words are asked for")
    page.find("#words").send_keys(words, Keys.ESCAPE)


@check("a text wraps, is found where it is drawn, and goes on by a double press")
def wraps(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    write(ada, "W" * 20, (100, 150))
    ben.must_have(1)
    width = ada.ask("""return import(new URL('kinds/index.js', document.querySelector('script').src)).then(({kindOf}) => {
        const element = {type: 'text', color: '#000000FF', size: 2600, x: 0, y: 0, text: 'W'.repeat(20)}
        return [kindOf('text').boxOf(element)[2], kindOf('text').documentBoxOf(element)[2]].map(place => place / 100)})""")
    assert width[0] > width[1] * 1.2, f"a text of W is no wider than guessed: {width}"
    ada.press("v")
    # Where a guess ends the letters go on.
    ada.draw((100 + width[0] - 8, 150), kind="mouse")
    until(lambda: chosen(ada), "the right end of a text is part of it")
    # A drag makes a text that wraps.
    write(ada, "Ask Ada about ink", (100, 250), (150, 250), (220, 250))
    ben.must_have(2)
    stage.settle(ada, ben)
    assert texts(ada)[1]["width"] == 12000, texts(ada)
    stage.picture(ada, "texts-wrapped")
    ada.press("v")
    ada.draw((110, 250), kind="mouse")
    ada.draw((110, 250), kind="mouse")
    until(lambda: ada.is_shown("#words"), "a double press goes on with a text")
    ada.find("#words").send_keys(" again", Keys.ESCAPE)
    stage.settle(ada, ben)
    assert texts(ada)[1]["text"] == "Ask Ada about ink again" and texts(ada)[1]["width"] == 12000, texts(ada)


@check("a newcomer sees a text that lies far away")
def far(stage):
    relay = stage.relay()
    ada = stage.page(relay, "Ada")
    ada.show(9000, 9000)
    write(ada, "Over here", (300, 300))
    ada.wait(unsent=0)
    ben = stage.page(relay, "Ben")
    ben.must_have(1)
    until(lambda: ben.ask("return window.whiteboard.view.x") > 8000 and ben.ink(),
          lambda: f"Ben sees {ben.ask('return window.whiteboard.view')}")


@check("a text that is too long is kept to be shortened, and says so")
def too_long(stage):
    page = stage.page(stage.relay(), "Ada")
    page.press("t")
    page.draw((100, 150), kind="mouse")
    until(lambda: page.is_shown("#words"), "words are asked for")
    page.ask("document.getElementById('words').value = 'é'.repeat(8193)")
    page.find("#words").send_keys(Keys.ESCAPE)
    until(lambda: "16,386 bytes" in page.words("#toasts") and "16,384" in page.words("#toasts"),
          lambda: f"the page says the limit and the size: {page.words('#toasts')!r}")
    assert page.elements() == 0 and page.is_shown("#words")
    page.find("#words").send_keys(Keys.BACKSPACE, Keys.ESCAPE)
    page.must_have(1)
    page.wait(unsent=0)
    assert texts(page)[0]["text"] == "é" * 8192, "the text was cut"


@check("sticky notes are put on the board, grow, and change their paper")
def notes(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    write(ada, "What does ink weigh, and who has ever weighed any of it? Ask Ada, who has.", (300, 300), tool="note")
    ben.must_have(1)
    stage.settle(ada, ben)
    assert texts(ada)[0]["paper"] == "#FFE680FF", texts(ada)
    ada.press("v")
    ada.draw((300, 300), kind="mouse")
    ada.click("#style")
    until(lambda: ada.is_shown("#papers"), "papers are to be chosen for a note")
    stage.picture(ada, "texts-papers")
    ada.click("#papers [data-paper='A6D6FF']")
    until(lambda: "#A6D6FF" in ben.svg(), "the note has another paper")
    ada.press("z", control=True)
    until(lambda: "#FFE680" in ben.svg(), "and its own again")
    for dark in (True, False):
        page = stage.page(relay, f"Cyd {dark}", dark=dark)
        page.browser.enter(page.window)
        page.browser.set_dark(dark)
        page.must_have(1)
        for width, height in SIZES[0], SIZES[2]:
            page.resize(width, height)
            page.press("n")
            page.draw((150, 200), kind="mouse")
            until(lambda: page.is_shown("#words"), "words are asked for")
            page.find("#words").send_keys("Writing this note")
            stage.picture(page, f"texts-note-{'dark' if dark else 'light'}-{width}")
            page.ask("document.getElementById('words').value = ''")
            page.find("#words").send_keys(Keys.ESCAPE)
        daylight(page)


# Files as a person gives them: made in the page, then pasted or dropped.
GIVE = """const [what, kind, width, height, at, done] = arguments
  ;(async () => {
    const canvas = Object.assign(document.createElement('canvas'), {width, height})
    const context = canvas.getContext('2d')
    if (what === 'noise') {
      const image = context.createImageData(width, height)
      const noise = new Uint32Array(image.data.buffer)
      for (let at = 0, last = 1; at < noise.length; at++) noise[at] = (last = Math.imul(last, 1103515245) + 12345) | 0xff000000
      context.putImageData(image, 0, 0)
    } else ['#d92d20', '#15924b', '#1f66e5', '#e8730c'].forEach((color, at) => {
      context.fillStyle = color
      context.fillRect(at % 2 * width / 2, (at >> 1) * height / 2, width / 2, height / 2)
    })
    let bytes = new Uint8Array(await (await new Promise(made => canvas.toBlob(made, kind, 0.95))).arrayBuffer())
    // Lying on its side, as cameras write it, and with the place where it was taken.
    const exif = [0xff, 0xe1, 0, 40, ...'Exif\\0\\0MM\\0*'].map(byte => byte.charCodeAt?.() ?? byte)
      .concat([0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0], [...'SECR'].map(letter => letter.charCodeAt()), [0, 0])
    if (what === 'sideways') bytes = new Uint8Array([...bytes.slice(0, 2), ...exif, ...bytes.slice(2)])
    if (what === 'pdf') bytes = new TextEncoder().encode('%PDF-1.4\\n%%EOF')
    if (what === 'heic') bytes = new TextEncoder().encode('\\0\\0\\0\\x18ftypheic\\0\\0\\0\\0mif1heic')
    if (what === 'svg') bytes = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"/>')
    const data = new DataTransfer()
    data.items.add(new File([bytes], 'picture.png', {type: 'image/png'}))
    const [name, options] = at ? ['drop', {clientX: at[0], clientY: at[1], dataTransfer: data}] : ['paste', {clipboardData: data}]
    const make = at ? DragEvent : ClipboardEvent
    document.getElementById('stage').dispatchEvent(new make(name, {bubbles: true, cancelable: true, ...options}))
    done(bytes.length)
  })()"""


def give(page, what="squares", kind="image/png", width=400, height=200, at=None):
    """Pastes a file, or drops it at a place."""
    return page.driver.execute_async_script(GIVE, what, kind, width, height, at)


def pictures(page):
    """What the relay has of its board's pictures, with their files."""
    return [record | {"file": base64.b64decode(record["data"])} for record in page.relay.records(page.board) if "pixelWidth" in record]


def colors(page, *places):
    """What the board shows at places of the window."""
    return page.ask("""const board = document.getElementById('board')
        const copy = Object.assign(document.createElement('canvas'), {width: board.width, height: board.height})
        const context = copy.getContext('2d', {willReadFrequently: true})
        context.drawImage(board, 0, 0)
        return arguments[0].map(place => place.map(at => at * devicePixelRatio))
          .map(([x, y]) => [...context.getImageData(x, y, 1, 1).data.slice(0, 3)])""", places)


def is_near(found, *wanted):
    return all(abs(one - other) < 24 for color, like in zip(found, wanted) for one, other in zip(color, like))


THERE = "return Boolean(document.querySelector(arguments[0]))"
RED, GREEN, BLUE, ORANGE = (217, 45, 32), (21, 146, 75), (31, 102, 229), (232, 115, 12)


@check("pictures are pasted and dropped, encoded anew, and as they are in both themes")
def pasted(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    give(ada)
    ben.must_have(1)
    stage.settle(ada, ben)
    image = pictures(ada)[0]
    assert (image["type"], image["pixelWidth"], image["pixelHeight"], image["width"]) == ("image/png", 400, 200, 40000), image
    corners = (340, 280), (660, 280), (340, 420), (660, 420)
    until(lambda: is_near(colors(ben, *corners), RED, GREEN, BLUE, ORANGE), lambda: f"Ben sees it: {colors(ben, *corners)}")
    # What a camera writes besides is gone, and the picture stands upright.
    give(ada, "sideways", "image/jpeg", 400, 200, at=(120, 200))
    ben.must_have(2)
    stage.settle(ada, ben)
    upright = pictures(ada)[1]
    assert (upright["pixelWidth"], upright["pixelHeight"]) == (200, 400), f"it lies on its side: {upright['pixelWidth']} wide"
    assert b"Exif" not in upright["file"] and b"SECR" not in upright["file"], "the file tells more than the picture"
    middle = upright["x"] + upright["width"] / 2, upright["y"] + upright["height"] / 2
    assert abs(middle[0] - 12000) < 100 and abs(middle[1] - 20000) < 100, f"it was dropped at 120, 200, and lies around {middle}"
    stage.picture(ada, "pictures-light")
    dark = stage.page(relay, "Cyd", dark=True)
    dark.browser.enter(dark.window)
    dark.browser.set_dark(True)
    dark.must_have(2)
    until(lambda: not dark.is_shown("#hint"), "a board of pictures is not called empty")
    until(lambda: is_near(colors(dark, *corners), RED, GREEN, BLUE, ORANGE), lambda: f"in the dark: {colors(dark, *corners)}")
    stage.picture(dark, "pictures-dark")
    daylight(dark)


@check("what is pasted and dropped before its module has come waits for it")
def early(stage):
    page = stage.visitor(stage.relay(), "Ada")
    late = b"/page/tools/image.js", b"/page/editing.js"
    for module in late:
        page.cutter.hold(module)
    page.open()
    give(page)
    give(page, at=(120, 200))
    page.ask("""const clipboardData = new DataTransfer()
        clipboardData.setData('text/plain', 'Early words')
        document.body.dispatchEvent(new ClipboardEvent('paste', {bubbles: true, cancelable: true, clipboardData}))""")
    assert page.elements() == 0, "the modules were there before"
    for module in late:
        page.cutter.release(module)
    page.must_have(3)


@check("keys and a title that are given before their modules have come wait for them")
def early_keys(stage):
    relay = stage.relay()
    page = stage.visitor(relay, "Ada")
    late = b"/page/edit-bar.js", b"/page/everyone/index.js", b"/page/panels.js"
    for module in late:
        page.cutter.hold(module)
    page.open()
    page.draw((200, 200), (250, 200), (300, 200), kind="mouse")
    page.must_have(1)
    page.wait(unsent=0)
    before = relay.records("lesson")[0]["points"][0]
    page.click("#title")
    page.press("a", control=True)
    page.press("Ink", Keys.ENTER)
    page.press("a", control=True)
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert page.ask("return document.querySelector('#edit-bar, #menu button') === null"), "they were there"
    until(lambda: page.ask("return document.getElementById('title').value") == "Ink" and page.driver.title.startswith("Ink"),
          lambda: f"the title is {page.driver.title}")
    for module in late:
        page.cutter.release(module)
    until(lambda: relay.records("lesson")[0]["points"][0] == before + 200, lambda: f"it was at {before}: {relay.records('lesson')}")


@check("a large picture becomes smaller, and what is none is refused in words")
def refused(stage):
    page = stage.page(stage.relay(), "Ada")
    size = give(page, "noise", "image/png", 2600, 1300)
    page.must_have(1)
    page.wait(unsent=0)
    image = pictures(page)[0]
    assert size > 2**20 >= len(image["file"]) and max(image["pixelWidth"], image["pixelHeight"]) <= 2048, (size, len(image["file"]))
    # A file that is chosen, and one that a camera would take; no driver answers the window that asks for them.
    page.ask("HTMLInputElement.prototype.click = () => {}")
    page.press("c")
    until(lambda: page.ask(THERE, "#picture-file[capture=environment]"), "a camera is asked")
    page.press("b")
    until(lambda: page.ask(THERE, "#picture-file[multiple]"), "files are asked for")
    file = stage.folder / "picture.png"
    file.write_bytes(image["file"])
    page.find("#picture-file").send_keys(str(file))
    page.must_have(2)
    until(lambda: chosen(page), "what was inserted is chosen")
    for what, words in ("pdf", "does not draw PDF"), ("heic", "HEIC"), ("svg", "SVG"):
        give(page, what)
        until(lambda: words in page.words("#toasts"), lambda: f"{what}: {page.words('#toasts')!r}")
    assert page.elements() == 2


@check("a picture whose file is broken is a frame with a cross")
def broken(stage):
    relay = stage.relay()
    page, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    # Its head is in order; what follows is not.
    file = bytes.fromhex("89504e470d0a1a0a0000000d494844520000000200000001") + b"no picture" * 3
    ben.ask("""const [data] = arguments
        const image = {data, height: 20000, id: 'i1', pixelHeight: 1, pixelWidth: 2, type: 'image/png', v: 1, width: 20000,
          x: 30000, y: 20000, z: 1}
        window.whiteboard.client.channel(window.whiteboard.board).board.put('i1', JSON.stringify(image), {customType: 'image'})""",
             base64.b64encode(file).decode())
    page.must_have(1)
    middle, beside = (400, 300), (400, 230)
    until(lambda: is_near(colors(page, middle, beside), (138, 138, 153), (236, 236, 241)),
          lambda: f"it is crossed: {colors(page, middle, beside)}")
    stage.picture(page, "pictures-broken")
