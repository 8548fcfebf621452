"""Texts, sticky notes and pictures: written, found where they are drawn, and never cut."""

from selenium.webdriver.common.keys import Keys

from browser import until
from stage import check


def texts(page):
    """What the relay has of its board's texts, in their order."""
    return [record for record in page.relay.records(page.board) if "size" in record]


def chosen(page):
    """How many things are chosen: their frame is all that the live layer shows."""
    return page.ask("""const live = document.getElementById('live')
        return new Uint32Array(live.getContext('2d').getImageData(0, 0, live.width, live.height).data.buffer).some(Boolean)""")


def write(page, words, *points, tool="text"):
    page.press("n" if tool == "note" else "t")
    page.draw(*points, kind="mouse")
    until(lambda: page.is_shown("#words"), "words are asked for", 5)
    page.find("#words").send_keys(words, Keys.ESCAPE)


@check("a text wraps, is found where it is drawn, and goes on by a double press")
def wraps(stage):
    relay = stage.relay()
    ada, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    write(ada, "W" * 20, (100, 150))
    ben.must_have(1)
    width = ada.ask("""return import('/page/kinds/index.js').then(({kindOf}) => {
        const element = {type: 'text', color: '#000000FF', size: 2600, x: 0, y: 0, text: 'W'.repeat(20)}
        return [kindOf('text').boxOf(element)[2], kindOf('text').documentBoxOf(element)[2]].map(place => place / 100)})""")
    assert width[0] > width[1] * 1.2, f"a text of W is no wider than guessed: {width}"
    ada.press("v")
    # Where a guess ends the letters go on.
    ada.draw((100 + width[0] - 8, 150), kind="mouse")
    until(lambda: chosen(ada), "the right end of a text is part of it", 5)
    # A drag makes a text that wraps.
    write(ada, "Ask Ada about ink", (100, 250), (150, 250), (220, 250))
    ben.must_have(2)
    stage.settle(ada, ben)
    assert texts(ada)[1]["width"] == 12000, texts(ada)
    stage.picture(ada, "texts-wrapped")
    ada.press("v")
    ada.draw((110, 250), kind="mouse")
    ada.draw((110, 250), kind="mouse")
    until(lambda: ada.is_shown("#words"), "a double press goes on with a text", 5)
    ada.find("#words").send_keys(" again", Keys.ESCAPE)
    stage.settle(ada, ben)
    assert texts(ada)[1]["text"] == "Ask Ada about ink again" and texts(ada)[1]["width"] == 12000, texts(ada)


@check("a text that is too long is kept to be shortened, and says so")
def too_long(stage):
    page = stage.page(stage.relay(), "Ada")
    page.press("t")
    page.draw((100, 150), kind="mouse")
    until(lambda: page.is_shown("#words"), "words are asked for", 5)
    page.ask("document.getElementById('words').value = 'é'.repeat(8193)")
    page.find("#words").send_keys(Keys.ESCAPE)
    until(lambda: "16,386 bytes" in page.words("#toasts") and "16,384" in page.words("#toasts"),
          lambda: f"the page says the limit and the size: {page.words('#toasts')!r}", 5)
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
    until(lambda: ada.is_shown("#papers"), "papers are to be chosen for a note", 5)
    stage.picture(ada, "texts-papers")
    ada.click("#papers [data-paper='A6D6FF']")
    until(lambda: "#A6D6FF" in ben.svg(), "the note has another paper", 10)
    ada.press("z", control=True)
    until(lambda: "#FFE680" in ben.svg(), "and its own again", 10)
    for dark in (False, True):
        page = stage.page(relay, f"Cyd {dark}", dark=dark)
        page.browser.enter(page.window)
        page.browser.set_dark(dark)
        page.must_have(1)
        for width in (1280, 320):
            page.resize(width, 700)
            page.press("n")
            page.draw((150, 200), kind="mouse")
            until(lambda: page.is_shown("#words"), "words are asked for", 5)
            page.find("#words").send_keys("Writing this note")
            stage.picture(page, f"texts-note-{'dark' if dark else 'light'}-{width}")
            page.ask("document.getElementById('words').value = ''")
            page.find("#words").send_keys(Keys.ESCAPE)
        page.browser.set_dark(False)
