"""Every dialog and the replay in every language on the smallest phone, and what moves for those who want nothing to move."""

from selenium.webdriver.common.keys import Keys

import checks_together as together
from browser import until
from checks_everyone import notes, ready
from checks_languages import WORDS, choose
from stage import check

SMALL = (320, 568)
# Those that a press opens: what is pressed one after the other, and the dialog.
PRESSED = ((["#rename"], "#welcome"), (["#show-boards"], "#boards"), (["#show-boards", "#begin-board"], "#new-board-dialog"),
           (["#show-boards", "#boards .copy"], "#copy-dialog"), (["#type-code"], "#code-dialog"), (["#clear"], "#clear-dialog"),
           (["#end-board"], "#end-dialog"), (["#leave"], "#leave-dialog"), (["#invite"], "#invite-dialog"),
           (["#another-device"], "#device-dialog"), (["#people-list .decide"], "#person-dialog"),
           (["#people-list .decide", "#person-take-back"], "#remove-dialog"), (["#people-list .decide", "#person-ban"], "#ban-dialog"),
           (["#replay-board"], "#replay"))
# Those that something else opens: the words of their title, text, field and buttons.
OTHERS = {"key-dialog": ("key.title", "key.needed", "key.label", "key.join"),
          "ended-dialog": ("end.title", "end.limitReached", "", "end.again"),
          "board-ended": ("boardEnded.title", "boardEnded.text", "", "boardEnded.again"),
          "other-relay": ("otherRelay.title", "otherRelay.text", "", "otherRelay.yes"),
          "replay-fault": ("replay.notPlayed", "replay.strokes", "", "close")}
ASK = """const [id, title, text, label, button, done] = arguments
    // The page's own modules, which know its language.
    const own = path => import(new URL(path, document.querySelector('script').src))
    Promise.all([own('ui.js'), own('words/index.js')]).then(([{ask, field}, {say}]) => {
      ask(id, say(title), say(text), [['yes', say(button)]], label ? [field({ariaLabel: say(label)})] : [])
      done()
    })"""
# What of the uppermost dialog does not fit, and how much was looked at.
LOOK = """const dialog = [...document.querySelectorAll('dialog[open]')].at(-1)
    const name = element => `${element.tagName.toLowerCase()}#${element.id} ${element.textContent.slice(0, 40)}`
    const isScrolled = element => element.closest('ul') !== null
    const ends = element => getComputedStyle(element).textOverflow === 'ellipsis'
    const all = [...dialog.querySelectorAll('*')].filter(element => element.getClientRects().length > 0 && element.checkVisibility())
    const worded = all.filter(element => [...element.childNodes].some(({nodeType, data}) => nodeType === 3 && data.trim()))
    const frame = dialog.getBoundingClientRect()
    const wrong = []
    for (const element of worded) {
      const {left, right} = element.getBoundingClientRect()
      if (!ends(element) && element.clientWidth && element.scrollWidth > element.clientWidth + 1) wrong.push(`${name(element)} is cut`)
      if (left < frame.left - 1 || right > frame.right + 1) wrong.push(`${name(element)} is beside the dialog`)
    }
    for (const element of [dialog, document.documentElement, ...all.filter(one => /auto|scroll/.test(getComputedStyle(one).overflowX))]) {
      if (element.scrollWidth > element.clientWidth) wrong.push(`${name(element)} scrolls sideways: ${element.scrollWidth} px in ${element.clientWidth}`)
    }
    const buttons = all.filter(element => element.matches('button, select, input, output')).map(element => [element, element.getBoundingClientRect()])
    for (const [at, [one, box]] of buttons.entries()) for (const [other, its] of buttons.slice(at + 1)) {
      if (Math.min(box.right, its.right) - Math.max(box.left, its.left) > 1 && Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top) > 1
          && !one.contains(other)) wrong.push(`${name(one)} and ${name(other)} overlap`)
    }
    return [worded.length, wrong]"""
CLOSE = """for (const dialog of [...document.querySelectorAll('dialog[open]')].reverse())
    dialog.close(dialog.id === 'welcome' ? 'start' : '')"""
# What leads to the dialog about Ben.
DECIDE = "document.querySelector('#people-list li button[aria-label*=Ben]:not([aria-pressed])')"


@check("every dialog, and the replay, has room for its words in every language on the smallest phone, and nothing scrolls sideways")
def dialogs(stage):
    relay = stage.relay()
    notes(relay, (100, 200, "hello"))
    page = stage.page(relay, "Ada", key="host", size=SMALL)
    ready(page)
    until(lambda: page.ask("return document.querySelectorAll('#people-list li').length") == 2, "Ben is there")
    seen, labels, wrong = 0, 0, []

    def see(name, selector):
        nonlocal seen, labels
        until(lambda: page.ask("return document.querySelector(arguments[0])?.open === true", selector), f"{name}: {selector} is open")
        if selector == "#invite-dialog":
            until(lambda: page.is_shown("#join-code output"), "the code is shown")
        count, faults = page.ask(LOOK)
        seen, labels = seen + (count > 0), labels + count
        wrong.extend(f"{name}, {selector}: {fault}" for fault in faults)
        stage.picture(page, f"small-{name}-{selector[1:]}")
        page.ask(CLOSE)
        until(lambda: page.ask("return document.querySelector('dialog[open]') === null"), f"{selector} closes")
    names = [name for name, *_ in page.driver.execute_async_script(WORDS)]
    for name in names:
        choose(page, name)
        until(lambda: page.ask(f"return {DECIDE} !== null"), "Ben can be decided about")
        page.ask(f"{DECIDE}.classList.add('decide')")
        for presses, selector in PRESSED:
            for pressed in presses:
                until(lambda: page.ask("return document.querySelector(arguments[0]) !== null", pressed), f"{name}: {pressed} is there")
                page.ask("document.querySelector(arguments[0]).click()", pressed)
            see(name, selector)
        for dialog, words in OTHERS.items():
            page.driver.execute_async_script(ASK, dialog, *words)
            see(name, f"#{dialog}")
    wanted = len(names) * (len(PRESSED) + len(OTHERS))
    assert seen == wanted >= 190 and labels > 3 * seen, f"{labels} labels of {seen} dialogs were looked at"
    assert not wrong, f"{len(wrong)} faults: " + "; ".join(wrong[:14])


@check("for those who want nothing to move, the laser, following, zoom and dialogs do not animate", only="chromium")
def still(stage):
    relay = stage.relay()
    page = stage.page(relay, "Ada", key="host")
    ben = stage.page(relay, "Ben")
    ready(page)
    # What the page has under way, and what it is told to begin with.
    motions = "return [...document.getAnimations()].map(motion => motion.transitionProperty ?? motion.animationName ?? 'script')"
    told = """return [...document.querySelectorAll('*')].flatMap(element => [null, '::before', '::after', '::backdrop'].flatMap(part => {
        const {animationName, transitionDuration, transitionProperty, scrollBehavior} = getComputedStyle(element, part)
        const lasts = transitionProperty !== 'none' && transitionDuration.split(',').some(time => parseFloat(time) > 0)
        return animationName !== 'none' || lasts || scrollBehavior === 'smooth' ? [`${element.tagName}#${element.id}${part ?? ''}`] : []
    }))"""
    # Something that would move, so that it is known that motion is seen.
    page.ask("""const cursor = document.createElement('div')
        cursor.className = 'cursor rests'
        cursor.append(document.createElement('b'))
        document.body.append(cursor)""")
    assert page.ask(told), "no motion is found where there is one"
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
    assert page.ask("return matchMedia('(prefers-reduced-motion: reduce)').matches")
    looked = 0

    def see(what):
        nonlocal looked
        found = page.ask(motions) + page.ask(told)
        assert not found, f"{what} moves: {found[:5]}"
        looked += 1
    see("the page")
    page.press("k")
    page.draw((150, 300), (300, 320), (350, 300), kind="mouse")
    see("the laser")
    before = page.ask("return window.whiteboard.view.scale")
    page.click("#zoom-in")
    assert page.ask("return window.whiteboard.view.scale") != before, "zoom is there at once"
    see("zoom")
    together.press_beside(page, "Ben", ".follow")
    until(lambda: "Ada follows you" in together.notices(ben), "Ben is told")
    until(lambda: abs(together.view(page)["x"] - together.view(ben)["x"]) < 2, "Ada sees what Ben sees")
    # The view of each moment at which it is drawn: where it was, where it goes, and nothing between.
    page.ask("""window.places = [window.whiteboard.view.x]
        const look = () => {
          const {x} = window.whiteboard.view
          if (x !== window.places.at(-1)) window.places.push(x)
          requestAnimationFrame(look)
        }
        look()""")
    ben.show(-4_000, -3_000)
    until(lambda: abs(together.view(page)["x"] + 4_000) < 2, "Ada sees what Ben sees")
    places = page.ask("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(window.places))))")
    assert len(places) == 2, f"the view glides: {places}"
    see("following")
    for opener in "#invite", "#clear":
        page.ask("document.querySelector(arguments[0]).click()", opener)
        until(lambda: page.is_shown("dialog"), f"{opener} opens a dialog")
        see(opener)
        page.press(Keys.ESCAPE)
        until(lambda: not page.is_shown("dialog"), "Escape closes it")
    assert looked == 6
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
