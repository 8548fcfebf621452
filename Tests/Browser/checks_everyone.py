"""The page for everyone: by keys alone, for who hears it, in forced colours, from right to left, on 320 px."""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

import accessibility
from browser import until
from pictures import text
from stage import check

# `region` is a practice and no rule of WCAG: the dock and the panels stand in no landmark.
AXE = """const done = arguments[0]
  axe.run(document, {resultTypes: ['violations'], rules: {region: {enabled: false}}}).then(({violations}) =>
    done(violations.map(({id, nodes}) => `${id}: ${nodes.slice(0, 3).map(({target}) => target.join(' ')).join(', ')}`)),
    error => done([String(error)]))"""
LISTED = "return [...document.querySelectorAll('#texts button')].map(({textContent}) => textContent)"
SAID = "return [...document.querySelectorAll('.unseen[role=status]')].map(({textContent}) => textContent).join()"
FOCUSED = "const {id, tagName} = document.activeElement; return id || tagName.toLowerCase()"


def keys(page, *pressed):
    """Pressed one after the other, wherever the focus is."""
    for key in pressed:
        ActionChains(page.driver, duration=0).send_keys(key).perform()


def focused(page):
    return page.ask(FOCUSED)


def tab_to(page, wanted, back=False):
    """Goes on by Tab until the control is reached."""
    for _ in range(80):
        if focused(page) == wanted:
            return
        chain = ActionChains(page.driver, duration=0)
        (chain.key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT) if back else chain.send_keys(Keys.TAB)).perform()
    raise AssertionError(f"Tab does not reach {wanted}; the focus is at {focused(page)}")


def ready(page):
    until(lambda: page.ask("return document.querySelector('#skip') !== null && document.querySelector('#menu button') !== null"),
          "what comes late is there")


def notes(relay, *placed):
    """Sticky notes that an app writes, each as (x, y, words)."""
    client = relay.client("ben")
    client.request("subscribe", channel="lesson", features=["presence"])
    client.request("setStates", kind="message", channel="lesson", states={"name": "Ben"})
    for number, (x, y, words) in enumerate(placed, 1):
        content = {"color": "#1B1B1BFF", "id": f"note-{number}", "paper": "#FFE680FF", "size": 2600, "text": words, "v": 1, "width": 16000,
                   "x": x * 100, "y": y * 100, "z": number}
        client.retain("lesson", content["id"], text(content), custom_type="text")


@check("a small lesson is given with keys alone, and the focus is never lost")
def by_keys(stage):
    relay = stage.relay()
    page = stage.visitor(relay, "", key="host")
    page.load()
    until(lambda: page.is_shown("#welcome"), "a name is asked for")
    until(lambda: focused(page) == "name", "the focus is in the field")
    keys(page, *"Ada", Keys.ENTER)
    page.wait("connected")
    ready(page)
    tab_to(page, "skip")
    stage.picture(page, "keys-skip")
    keys(page, Keys.ENTER)
    assert focused(page) == "board", focused(page)
    tab_to(page, "style")
    keys(page, Keys.ENTER)
    until(lambda: page.is_shown("#style-panel"), "the colours are shown")
    keys(page, Keys.TAB, Keys.TAB, Keys.ENTER)
    color = page.ask("return document.activeElement.dataset.color")
    keys(page, Keys.ESCAPE)
    assert focused(page) == "style", focused(page)
    keys(page, Keys.ESCAPE)
    assert focused(page) == "board", focused(page)
    keys(page, "n", Keys.ENTER)
    until(lambda: focused(page) == "words", "a note is being written")
    keys(page, *"hello", Keys.ESCAPE)
    until(lambda: page.elements() == 1 and focused(page) == "board", lambda: f"the board has the note, and the focus: {focused(page)}")
    until(lambda: page.ask(LISTED) == ["Sticky note: hello"], lambda: f"it is listed: {page.ask(LISTED)}")
    before = page.svg()
    assert color[:7].lower() in before.lower(), f"{color} is not the note's: {before}"
    keys(page, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    until(lambda: page.svg() != before, "arrows move it")
    keys(page, Keys.ENTER)
    until(lambda: focused(page) == "words", "Enter goes on with it")
    keys(page, *" you", Keys.ESCAPE)
    until(lambda: page.ask(LISTED) == ["Sticky note: hello you"], "it has the new words")
    stage.picture(page, "keys-note")
    for _ in range(3):
        ActionChains(page.driver, duration=0).key_down(Keys.CONTROL).send_keys("z").key_up(Keys.CONTROL).perform()
    until(lambda: page.elements() == 0, "all is undone")
    for tool in "lro":
        keys(page, tool, Keys.ENTER)
    until(lambda: page.elements() == 3, lambda: f"three shapes are there: {page.elements()}")
    keys(page, '.')
    said = page.ask(SAID)
    assert "of 3" in said, said
    keys(page, Keys.DELETE)
    until(lambda: page.elements() == 2, "what is selected is removed")
    tab_to(page, "invite")
    keys(page, Keys.ENTER)
    until(lambda: page.is_shown("#invite-dialog"), "the invitation is shown")
    keys(page, Keys.ESCAPE)
    until(lambda: focused(page) == "invite", lambda: f"the focus is back: {focused(page)}")
    tab_to(page, "more")
    keys(page, Keys.ENTER)
    until(lambda: page.is_shown("#menu"), "the menu is shown")
    tab_to(page, "zoom-fit")
    keys(page, Keys.ENTER)
    until(lambda: focused(page) == "more", lambda: f"the focus is at the menu's button: {focused(page)}")


@check("who hears the page reads all texts in their order, is told what others write, and goes to a text by keys")
def heard(stage):
    relay = stage.relay()
    page = stage.page(relay, "Ada", key="host")
    ready(page)
    notes(relay, (500, 300, "third"), (500, 100, "second"), (150, 110, "first"))
    until(lambda: page.ask(LISTED) == [f"Sticky note: {word}" for word in ("first", "second", "third")],
          lambda: f"they are listed: {page.ask(LISTED)}")
    until(lambda: "Ben wrote" in page.ask(SAID) or "new texts, by Ben" in page.ask(SAID), lambda: f"it is told: {page.ask(SAID)}")
    page.ask("document.querySelector('#texts button').focus()")
    keys(page, Keys.ARROW_DOWN)
    stage.picture(page, "texts-list")
    wrong = accessibility.faults(page) + page.driver.execute_async_script(AXE)
    keys(page, Keys.ENTER)
    until(lambda: focused(page) == "board", "the board has the keys")
    keys(page, Keys.ENTER)
    until(lambda: focused(page) == "words" and page.ask("return document.activeElement.value") == "second", "that text is changed")
    keys(page, Keys.ESCAPE)
    assert not wrong, "; ".join(wrong)


@check("no rule of axe finds anything, with each panel open, in both themes and on 320 px")
def axe(stage):
    relay = stage.relay()
    notes(relay, (100, 200, "hello"))
    page = stage.page(relay, "Ada", key="host")
    ready(page)
    wrong = []

    def see(what):
        wrong.extend(f"{what}: {fault}" for fault in accessibility.faults(page) + page.driver.execute_async_script(AXE))
        stage.picture(page, f"everyone-{what}")
    widths = ((320, 900), (1280, 900)) if page.browser.name == "chromium" else ((1280, 900),)
    for dark in (False, True) if page.browser.name == "chromium" else (False,):
        page.browser.set_dark(dark)
        for size in widths:
            page.resize(*size)
            name = f"{size[0]}-{'dark' if dark else 'light'}"
            see(name)
            for button, panel in (("#style", "#style-panel"), ("#people", "#people-panel"), ("#more", "#menu")):
                page.click(button)
                until(lambda: page.is_shown(panel), f"{panel} is shown")
                see(f"{name}-{panel[1:]}")
                page.press(Keys.ESCAPE)
            page.ask("document.querySelector('#texts button').focus()")
            see(f"{name}-texts")
            page.ask("document.activeElement.blur()")
    assert not wrong, f"{len(wrong)} faults: " + "; ".join(wrong[:12])


@check("in a page from right to left all stands on the other side, and the drawing as it was")
def mirrored(stage):
    relay = stage.relay()
    notes(relay, (300, 200, "hello, world!"), (300, 400, "مرحبا بكم!"))
    page = stage.page(relay, "Ada", key="host", size=(1280, 900))
    ready(page)
    page.must_have(2)
    boxes = """return ['#status', '#more', '#zoom', '#undo'].map(id => {
        const {left, right} = document.querySelector(id).getBoundingClientRect(); return [left, right].map(Math.round)})"""
    before, drawn = page.ask(boxes), page.layer()
    page.ask("document.documentElement.dir = 'rtl'")
    after = page.ask(boxes)
    mirror = [[1280 - right, 1280 - left] for left, right in before]
    assert all(abs(one - other) <= 2 for found, wanted in zip(after, mirror) for one, other in zip(found, wanted)), f"{after}, not {mirror}"
    page.ask("window.dispatchEvent(new Event('resize')); const {view} = window.whiteboard; window.whiteboard.view = {...view, scale: 2}")
    page.show(0, 0)
    assert page.layer() == drawn, "the drawing is another one"
    wrong = accessibility.faults(page)
    for button in "#people", "#more", "#style":
        page.click(button)
        wrong += accessibility.faults(page)
        stage.picture(page, f"rtl-{button[1:]}")
        page.press(Keys.ESCAPE)
    page.resize(360, 640)
    wrong += accessibility.faults(page)
    stage.picture(page, "rtl-phone")
    assert not wrong, "; ".join(wrong)


@check("in forced colours each control and its state is seen, and the ink stays", only="chromium")
def forced(stage):
    page = stage.page(stage.relay(), "Ada", key="host")
    ready(page)
    page.draw((150, 150), (300, 200))
    page.must_have(1)
    stage.settle(page)
    drawn = page.layer()
    for scheme in "light", "dark":
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "forced-colors", "value": "active"}, {"name": "prefers-color-scheme", "value": scheme}]})
        assert page.ask("return matchMedia('(forced-colors: active)').matches")
        color = "const style = one => getComputedStyle(document.querySelector(one)); "
        on, off = page.ask(
            color + "return ['true', 'false'].map(is => style(`#tools [aria-pressed=${is}]`).backgroundColor)")
        assert on != off, f"the chosen tool is as the others: {on}"
        assert page.ask(color + "return style('#dock').borderTopWidth") == "1px"
        if scheme == "light":
            assert page.layer() == drawn, "the ink is another one"
        page.click("#style")
        stage.picture(page, f"forced-{scheme}")
        page.press(Keys.ESCAPE)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@check("shortcuts of one key are switched off in the menu, for all tabs and reloads, and what has Ctrl or Alt still works")
def single_keys(stage):
    import checks_edit
    page = stage.page(stage.relay(), "Ada", key="host")
    ready(page)

    def tool():
        return page.ask("return document.documentElement.dataset.tool")

    def switch(is_on):
        page.click("#more")
        until(lambda: page.is_shown("#single-keys"), "the row is in the menu")
        page.click("#single-keys")
        until(lambda: page.ask("return document.querySelector('#single-keys').ariaChecked") == is_on, f"it says {is_on}")
        stage.picture(page, f"single-keys-{is_on}")
        page.press(Keys.ESCAPE)
        page.ask("document.getElementById('board').focus()")
    keys(page, "r", Keys.ENTER)
    page.must_have(1)
    assert "(P)" in page.ask("return document.querySelector('#tool-pen').title")
    switch("false")
    for again in False, True:
        if again:
            page.reload()
            page.wait("connected")
            ready(page)
            page.ask("document.getElementById('board').focus()")
        keys(page, Keys.ESCAPE)
        before = tool()
        for key in "pvlk137[]+-0fi.,":
            keys(page, key)
        assert tool() == before and not page.is_shown("dialog"), f"{tool()}, not {before}"
        assert page.ask("return document.querySelector('#zoom-level').textContent").startswith("100"), "the view is another one"
        assert "(P)" not in page.ask("return document.querySelector('#tool-pen').title")
    checks_edit.keys(page, Keys.PAGE_DOWN, held=(Keys.ALT,))
    until(lambda: "1 of 1" in page.ask(SAID), lambda: f"Alt selects: {page.ask(SAID)}")
    keys(page, Keys.DELETE)
    page.must_have(0)
    page.press("z", control=True)
    page.must_have(1)
    switch("true")
    keys(page, "p")
    assert tool() == "pen", tool()
    keys(page, ".")
    assert tool() == "select", tool()


@check("a shape, a note and a picture are resized by keys alone, a run is one step back, and their size is told")
def resized(stage):
    import checks_edit
    import checks_texts
    relay = stage.relay()
    page = stage.page(relay, "Ada", key="host")
    ready(page)

    def arrows(*pressed, held=(Keys.CONTROL,)):
        checks_edit.keys(page, *pressed, held=held)

    def one():
        page.wait(unsent=0)
        return next(iter(relay.records("lesson")))

    def has(what, wanted):
        """Until the record is so, and then its size is told."""
        until(lambda: wanted(one()), lambda: f"{what} has another size: {one()}")
        until(lambda: page.ask(SAID).startswith(what) and " by " in page.ask(SAID), lambda: f"the size is told: {page.ask(SAID)}")

    def undone(before):
        page.press("z", control=True)
        until(lambda: one() == before, "one step back undoes the run")
        page.press("z", control=True)
        page.must_have(0)
    page.ask("document.getElementById('board').focus()")
    keys(page, "r", Keys.ENTER)
    page.must_have(1)
    before = one()
    arrows(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    arrows(Keys.ARROW_DOWN, held=(Keys.CONTROL, Keys.SHIFT))
    # Half of the line lies beside its points.
    has("Rectangle", lambda record: record["points"][2] - before["points"][2] in range(190, 211)
        and record["points"][5] - before["points"][5] in range(1050, 1101))
    stage.picture(page, "resized-by-keys")
    undone(before)
    keys(page, "n", Keys.ENTER)
    until(lambda: focused(page) == "words", "a note is being written")
    keys(page, *"hello", Keys.ESCAPE)
    page.must_have(1)
    before = one()
    arrows(*[Keys.ARROW_RIGHT] * 3, held=(Keys.CONTROL, Keys.SHIFT))
    has("Sticky note: hello", lambda record: record["width"] > before["width"] and record["size"] == before["size"])
    undone(before)
    checks_texts.give(page, width=160, height=80, at=(300, 300))
    page.must_have(1)
    page.ask("document.getElementById('board').focus()")
    keys(page, ".")
    before = one()
    arrows(Keys.ARROW_DOWN, held=(Keys.CONTROL, Keys.SHIFT))
    has("Picture", lambda record: record["height"] > before["height"] and record["width"] / record["height"] == before["width"] / before["height"])
    undone(before)


@check("a picture is described by keys and by hand, and whoever hears the page is told what it shows")
def described(stage):
    import checks_texts
    relay = stage.relay()
    page, ben = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    ready(page)
    ready(ben)
    checks_texts.give(page, width=160, height=80)
    page.must_have(1)
    until(lambda: ben.ask(LISTED) == ["Picture"], lambda: f"Ben's list has it: {ben.ask(LISTED)}")
    page.click("#edit-describe")
    until(lambda: page.is_shown("#describe"), "the page asks what it shows")
    wrong = accessibility.faults(page) + page.driver.execute_async_script(AXE)
    assert not wrong, "; ".join(wrong)
    # More bytes than the format has: the page says so, and keeps the words.
    page.ask("document.querySelector('#describe textarea').value = 'é'.repeat(512) + 'x'")
    page.click("#describe-yes")
    until(lambda: "1,025" in page.words("#describe p") and "1,024" in page.words("#describe p"),
          lambda: f"the limit is told: {page.words('#describe p')}")
    assert page.ask("return document.querySelector('#describe textarea').value.length") == 513, "the words are gone"
    stage.picture(page, "describe-too-long")
    page.ask("document.querySelector('#describe textarea').value = ''")
    keys(page, *"Four squares", Keys.ENTER)
    until(lambda: ben.ask(LISTED) == ["Picture: Four squares"], lambda: f"Ben hears it: {ben.ask(LISTED)}")
    until(lambda: "Ada wrote: Picture: Four squares" in ben.ask(SAID), lambda: f"it is told: {ben.ask(SAID)}")
    stage.settle(page, ben)
    assert "<title>Four squares</title></image>" in relay.export("lesson"), "the export does not say it"
    # By keys alone: selected, Enter, other words; then one step back.
    page.ask("document.getElementById('board').focus()")
    keys(page, Keys.ESCAPE, ".")
    until(lambda: "Picture: Four squares" in page.ask(SAID), lambda: f"it is selected: {page.ask(SAID)}")
    keys(page, Keys.ENTER)
    until(lambda: page.is_shown("#describe"), "Enter asks")
    stage.picture(page, "describe")
    keys(page, Keys.END, *" and more", Keys.ENTER)
    until(lambda: ben.ask(LISTED) == ["Picture: Four squares and more"], lambda: f"it has other words: {ben.ask(LISTED)}")
    assert focused(page) == "board", focused(page)
    page.press("z", control=True)
    until(lambda: ben.ask(LISTED) == ["Picture: Four squares"], "one step back")
    # Closed, or without words.
    keys(page, Keys.ENTER)
    keys(page, *"xyz", Keys.ESCAPE)
    until(lambda: not page.is_shown("#describe"), "it is closed")
    keys(page, Keys.ENTER)
    until(lambda: page.is_shown("#describe"), "Enter asks")
    page.ask("document.querySelector('#describe textarea').value = ''")
    page.click("#describe-yes")
    until(lambda: ben.ask(LISTED) == ["Picture"], lambda: f"it has no words: {ben.ask(LISTED)}")
